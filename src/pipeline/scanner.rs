//! Choice of a search's scan: CPU or GPU.

use super::{Reporter, device, estimate};
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::{Card, card_is_granted};
use crate::patterns::search::exact::{self, Exact};
use crate::patterns::search::gpu::{GpuScan, OnCard, ScanDevice, takes};
use crate::patterns::search::hits::HitOptions;
use crate::patterns::search::plain::PlainScan;
use crate::patterns::search::sites::PamSites;
use crate::patterns::search::sliced::SlicedScan;
use crate::patterns::search::{EndScan, MatchRule};
use crate::terms::error::EngineError;
use crate::terms::options::{DeviceChoice, SearchOptions};

/// Approximate number of cells (bases times rows) per second of a thread, for each byte of its vectors: 16 Gbp/s for a
/// pattern of 20 bases with 64 bytes.
const CELLS_PER_VECTOR_BYTE: u64 = 5_000_000_000;

/// Input of a search.
pub struct SearchWork<'a> {
    pub patterns: &'a [Vec<u8>],
    pub rule: &'a MatchRule,
    /// Whether hits are found from their PAMs, which leaves little work for a scan.
    pub from_pams: bool,
}

/// The search for hits from their PAMs, if it costs less than the scan of the requested device: `plain` is for
/// comparison, and a GPU scans.
pub fn sites(
    options: &SearchOptions,
    wanted: &HitOptions,
    patterns: &[Vec<u8>],
) -> Result<Option<PamSites>, EngineError> {
    let letters = || options.texts.iter().map(|path| estimate::letters(path)).sum::<Option<u64>>();
    let parts = options.part.map_or(1, |part| u64::from(part.of));
    let sites = |set| PamSites::new(set, wanted, patterns, letters().map(|letters| letters / parts));
    Ok(match &options.device {
        DeviceChoice::Plain | DeviceChoice::Gpu(_) => None,
        device @ (DeviceChoice::Cpu(_) | DeviceChoice::Auto) => sites(device::instruction_set(device)?),
    })
}

/// Whether a GPU would be no faster than the search from PAMs, so that none needs to be opened.
pub fn needs_no_device(options: &SearchOptions, sites: &PamSites) -> bool {
    !matches!(options.device, DeviceChoice::Auto) || sites.need_no_device(options.threads)
}

/// Opens the requested device.
pub fn open(
    options: &SearchOptions,
    work: &SearchWork,
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
            let remark = if work.from_pams {
                "searching at PAM sites".to_string()
            } else if exact::pays(work.patterns, work.rule) {
                "using a lookup table of the patterns".to_string()
            } else if is_little(options, work, set) {
                "too little work for a GPU".to_string()
            } else {
                match gpu(None, true) {
                    Ok(scan) => return Ok(scan),
                    Err(error) if card_is_granted() => return Err(device::with_remedy(error)),
                    Err(error) => error.to_string(),
                }
            };
            reporter.detail(&format!("scanning on the CPU: {remark}"));
            Box::new(Exact::on(set))
        }
    })
}

/// Whether the CPU finishes the work of a GPU before the GPU has started.
fn is_little(options: &SearchOptions, work: &SearchWork, set: InstructionSet) -> bool {
    let own = work.patterns.iter().filter(|pattern| takes(pattern, work.rule));
    let rows: u64 = own.map(|pattern| pattern.len() as u64).sum();
    let letters: Option<u64> = options.texts.iter().map(|path| estimate::letters(path)).sum();
    let parts = options.part.map_or(1, |part| u64::from(part.of));
    let letters = letters.map(|letters| letters / parts);
    let per_second = CELLS_PER_VECTOR_BYTE * set.lanes(1) as u64 * options.threads as u64;
    let start = per_second / 1000 * device::GPU_START_MS;
    rows == 0 || letters.is_some_and(|letters| letters.saturating_mul(rows) < start)
}
