//! Opens the scan of a search: CPU or GPU.

use super::{Reporter, device, estimate};
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::{Card, card_is_granted};
use crate::patterns::search::EndScan;
use crate::patterns::search::exact::Exact;
use crate::patterns::search::gpu::{GpuScan, OnCard, ScanDevice};
use crate::patterns::search::plain::PlainScan;
use crate::patterns::search::plan::{SearchPlan, SearchWork};
use crate::patterns::search::sliced::SlicedScan;
use crate::terms::error::EngineError;
use crate::terms::options::{DeviceChoice, SearchOptions};

/// The machine and the work of a search.
pub fn work(options: &SearchOptions) -> Result<SearchWork<'_>, EngineError> {
    let letters: Option<u64> = options.texts.iter().map(|path| estimate::letters(path)).sum();
    let parts = options.part.map_or(1, |part| u64::from(part.of));
    Ok(SearchWork {
        device: &options.device,
        set: device::instruction_set(&options.device)?,
        threads: options.threads,
        letters: letters.map(|letters| letters / parts),
    })
}

/// Opens the requested device.
pub fn open(
    options: &SearchOptions,
    plan: &SearchPlan,
    reporter: &dyn Reporter,
) -> Result<Box<dyn EndScan>, EngineError> {
    let set = InstructionSet::best();
    let gpu = |name: Option<&str>, may_fall_back: bool| -> Result<Box<dyn EndScan>, EngineError> {
        let card = OnCard::new(Card::open(name, false)?);
        reporter.detail(&format!("scanning on {}", card.describe()));
        Ok(Box::new(GpuScan::new(card, SlicedScan::on(set), may_fall_back)))
    };
    Ok(match &options.device {
        DeviceChoice::Plain => Box::new(PlainScan),
        device @ DeviceChoice::Cpu(_) => Box::new(Exact::on(device::instruction_set(device)?)),
        DeviceChoice::Gpu(None) => gpu(None, false).map_err(device::with_remedy)?,
        DeviceChoice::Gpu(name) => gpu(name.as_deref(), false)?,
        DeviceChoice::Auto => {
            let remark = match plan.cpu {
                Some(reason) => reason.to_string(),
                None => match gpu(None, true) {
                    Ok(scan) => return Ok(scan),
                    Err(error) if card_is_granted() => return Err(device::with_remedy(error)),
                    Err(error) => error.to_string(),
                },
            };
            reporter.detail(&format!("scanning on the CPU: {remark}"));
            Box::new(Exact::on(set))
        }
    })
}
