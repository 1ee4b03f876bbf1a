//! Cuts of texts in GPU memory.

use super::polynomial::CARRIED;
use super::{CutRule, WindowHash};
use crate::engine::gpu::Card;
use crate::engine::gpu::layout::ResiduePacking;
use crate::patterns::scan::prints::{PrintRule, PrintScan, PrintText, PrintTuning};
use crate::terms::error::EngineError;
use std::sync::Arc;
use std::time::Duration;

/// Cuts texts on a GPU.
pub struct GpuCutter(PrintScan);

impl GpuCutter {
    pub fn new(card: Arc<Card>) -> GpuCutter {
        GpuCutter(PrintScan::new(card))
    }

    pub fn tuned(self, tuning: PrintTuning) -> GpuCutter {
        GpuCutter(self.0.tuned(tuning))
    }

    /// Total time in kernels, by the device's clock. Zero if the device has no clock.
    pub fn kernel_time(&self) -> Duration {
        self.0.kernel_time()
    }

    /// Uploads a text of codes, packed as an engine's targets.
    pub fn load(&self, codes: &[u8], letters: ResiduePacking) -> Result<PrintText, EngineError> {
        self.0.load(codes, letters)
    }

    /// The cuts of a text, as [`super::cuts`] gives them. The text is of the rule's alphabet.
    pub fn cuts(&self, text: &PrintText, rule: &CutRule) -> Result<Vec<usize>, EngineError> {
        let window = (rule.kind() == WindowHash::Rabin).then_some(rule.window());
        let tables = [*rule.entering(), CARRIED, *rule.leaving()];
        let cuts = self.0.cuts(text, &PrintRule { window, mask: rule.mask(), tables })?;
        Ok(cuts.into_iter().map(|cut| cut as usize).collect())
    }
}
