//! Decides how a search is computed: the limits of each pattern's edits, what finds the hits, and how texts are cut.
//!
//! | hits are found | by | if |
//! |---|---|---|
//! | from their PAMs | [`super::sites`] | there is a PAM, and it costs less than a scan by the CPU |
//! | by words of the text | [`super::exact`] | there are many patterns without edits |
//! | by pieces of patterns | [`super::pieces`] | there are many patterns with few mismatches and without gaps |
//! | by a sweep of a GPU | `super::gpu` | a GPU is named, or is faster than all of these on the CPU |
//! | by a sweep of the CPU | [`super::sliced`] | otherwise |

use super::batch::BatchRules;
use super::exact;
#[cfg(feature = "gpu")]
use super::gpu::takes;
use super::hits::HitOptions;
use super::pam::Pam;
use super::sites::PamSites;
use super::{MatchRule, sliced};
use crate::engine::GPU_START_MS;
use crate::engine::cpu::simd::InstructionSet;
use crate::terms::error::{Error, Result};
use crate::terms::options::{DeviceChoice, HitChoice, MOST_PAM_LETTERS, MaxEdits, PamChoice};
use std::fmt;

/// Maximum number of edits if single kinds are limited: the work grows with its cube.
const MOST_LIMITED: u32 = 32;
/// Bases of a batch per thread, and minimum and maximum of any batch.
const LETTERS: usize = 1 << 22;
pub const LEAST_LETTERS: usize = 1 << 24;
const MOST_LETTERS: usize = 1 << 27;
/// Maximum number of bases times patterns of a batch, unless the patterns are looked up or the batch would be shorter
/// than [`SHORTEST`].
const WORK: u64 = 1 << 36;
const SHORTEST: usize = 1 << 19;

impl HitOptions {
    /// The options for patterns of these lengths.
    ///
    /// # Errors
    /// [`Error::Usage`] if the PAM is invalid, or if the edits are too many for limits of single kinds.
    pub fn new(choice: &HitChoice, lengths: impl Iterator<Item = usize> + Clone) -> Result<HitOptions> {
        let (max_edits, rate) = match choice.max_edits {
            MaxEdits::Number(most) => (most, None),
            MaxEdits::Rate(rate) => (rate.edits_of(lengths.clone().max().unwrap_or(0)), Some(rate)),
        };
        let limits = choice.limits();
        if limits.is_some() && max_edits > MOST_LIMITED {
            return Err(Error::Usage(format!(
                "a pattern may have {max_edits} edits, but a limit of one kind of edits needs at most {MOST_LIMITED} \
                 in total; reduce the number of edits"
            )));
        }
        let HitChoice { indels, strands, every_end, best, first, .. } = *choice;
        let rule = MatchRule { max_edits, indels };
        let pam = choice.pam.as_ref().map(pam).transpose()?;
        let wanted = HitOptions { rule, rate, limits, pam, every_end, best, first, strands, before: 0 };
        Ok(wanted.reaching(lengths))
    }
}

fn pam(PamChoice { letters, side }: &PamChoice) -> Result<Pam> {
    let refused = |text: String| Error::Usage(format!("PAM: {text}"));
    if !(1..=MOST_PAM_LETTERS).contains(&letters.len()) {
        return Err(refused(format!("it has {} letters; give 1 to {MOST_PAM_LETTERS}", letters.len())));
    }
    Pam::new(letters, *side).map_err(|place| {
        refused(format!(
            "'{}' at position {place} is not an IUPAC code of DNA",
            letters[place].escape_ascii()
        ))
    })
}

/// The machine of a search, and its work.
pub struct SearchWork<'a> {
    pub device: &'a DeviceChoice,
    /// Of the CPU.
    pub set: InstructionSet,
    pub threads: usize,
    /// Bases of all texts, if known.
    pub letters: Option<u64>,
}

/// Why the CPU searches without a look at GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuReason {
    PamSites,
    LookUp,
    LittleWork,
}

impl fmt::Display for CpuReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CpuReason::PamSites => "searching at PAM sites",
            CpuReason::LookUp => "using a lookup table of the patterns",
            CpuReason::LittleWork => "too little work for a GPU",
        })
    }
}

/// How a search is computed.
pub struct SearchPlan {
    /// Finds hits from their PAMs; `None` if a scan does. If a GPU turns out to be the device, it scans.
    pub sites: Option<PamSites>,
    /// Set if the device is [`DeviceChoice::Auto`], and the CPU is as fast as any GPU.
    pub cpu: Option<CpuReason>,
    pub batches: BatchRules,
}

impl SearchPlan {
    /// Whether a GPU would take the place of the search from PAMs, if there is one.
    pub fn needs_device(&self, device: &DeviceChoice) -> bool {
        self.sites.is_some() && self.cpu.is_none() && matches!(device, DeviceChoice::Auto)
    }

    /// The plan of a search for oriented patterns.
    pub fn new(work: &SearchWork, wanted: &HitOptions, patterns: &[Vec<u8>]) -> SearchPlan {
        let rule = &wanted.rule;
        let is_auto = matches!(work.device, DeviceChoice::Auto);
        let sites = match work.device {
            DeviceChoice::Plain | DeviceChoice::Gpu(_) => None,
            DeviceChoice::Cpu(_) | DeviceChoice::Auto => PamSites::new(work.set, wanted, patterns),
        };
        let looks_up = match work.device {
            DeviceChoice::Plain => false,
            DeviceChoice::Gpu(_) => exact::words_pay(patterns, rule),
            DeviceChoice::Cpu(_) | DeviceChoice::Auto => exact::pays(patterns, rule),
        };
        let cpu = || match &sites {
            Some(sites) if sites.need_no_device(work.threads) => Some(CpuReason::PamSites),
            _ if looks_up => Some(CpuReason::LookUp),
            _ if work.is_little(patterns, rule) => Some(CpuReason::LittleWork),
            _ => None,
        };
        let cpu = if is_auto { cpu() } else { None };
        let swept = if sites.is_some() || looks_up { 1 } else { patterns.len().max(1) };
        let letters = (LETTERS * work.threads).clamp(LEAST_LETTERS, MOST_LETTERS);
        let of_work = usize::try_from(WORK / swept as u64).unwrap_or(usize::MAX);
        let letters = letters.min(of_work.max(SHORTEST));
        SearchPlan { sites, cpu, batches: BatchRules { letters, first: wanted.first } }
    }
}

impl SearchWork<'_> {
    /// Whether the CPU finishes the work of a GPU before the GPU has started.
    fn is_little(&self, patterns: &[Vec<u8>], rule: &MatchRule) -> bool {
        let own = patterns.iter().filter(|pattern| takes(pattern, rule));
        let rows = own.map(Vec::len).sum();
        let start = GPU_START_MS as f64 * 1e6 * self.threads as f64;
        rows == 0 || self.letters.is_some_and(|letters| letters as f64 * sliced::cost(self.set, rows) < start)
    }
}

/// Whether a GPU can scan for a pattern.
#[cfg(not(feature = "gpu"))]
fn takes(_: &[u8], _: &MatchRule) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::options::{PamSide, Rate};
    use crate::terms::random::Random;

    fn plan(device: &DeviceChoice, threads: usize, letters: Option<u64>, choice: &HitChoice) -> SearchPlan {
        let mut random = Random::new(5);
        let patterns: Vec<Vec<u8>> = (0..400).map(|_| random.letters(20, &[1, 2, 4, 8])).collect();
        let wanted = HitOptions::new(choice, patterns.iter().map(Vec::len)).unwrap();
        let work = SearchWork { device, set: InstructionSet::best(), threads, letters };
        SearchPlan::new(&work, &wanted, &patterns)
    }

    #[test]
    fn paths() {
        let edits = |most| HitChoice { max_edits: MaxEdits::Number(most), ..HitChoice::default() };
        let pam = PamChoice { letters: b"NGG".to_vec(), side: PamSide::Three };
        let guides = HitChoice { pam: Some(pam), ..edits(3) };
        let (auto, gpu, many) = (DeviceChoice::Auto, DeviceChoice::Gpu(None), Some(1 << 40));
        assert_eq!(plan(&auto, 2, many, &edits(0)).cpu, Some(CpuReason::LookUp));
        assert_eq!(
            plan(&auto, 2, None, &edits(3)).cpu,
            if cfg!(feature = "gpu") { None } else { Some(CpuReason::LittleWork) }
        );
        assert_eq!(plan(&auto, 2, Some(1000), &edits(3)).cpu, Some(CpuReason::LittleWork));
        // Many threads at PAM sites are as fast as a GPU. Few of them search there only if there is no GPU.
        assert_eq!(plan(&auto, 4096, many, &guides).cpu, Some(CpuReason::PamSites));
        let few = plan(&auto, 1, many, &guides);
        assert!(few.sites.is_some());
        assert_eq!(few.needs_device(&auto), cfg!(feature = "gpu"));
        let named = plan(&gpu, 4096, many, &guides);
        assert!(named.sites.is_none() && named.cpu.is_none());
    }

    #[test]
    fn limits_of_edits() {
        let rate = MaxEdits::Rate(Rate { millionths: 100_000 });
        let new = |choice: HitChoice| HitOptions::new(&choice, [9, 25].into_iter());
        let wanted = new(HitChoice { max_edits: rate, ..HitChoice::default() }).unwrap();
        assert_eq!((wanted.rule.max_edits, wanted.rule_of(9).max_edits, wanted.before), (2, 0, 26));
        let limited =
            |most, kinds| new(HitChoice { max_edits: MaxEdits::Number(most), kinds, ..HitChoice::default() });
        assert!(limited(40, [None; 4]).unwrap().limits.is_none());
        assert!(limited(2, [Some(2), None, None, Some(5)]).unwrap().limits.is_none());
        assert_eq!(
            limited(2, [Some(1), None, None, None]).unwrap().limits.map(|limits| limits.gaps),
            Some(2)
        );
        assert!(
            limited(40, [Some(1), None, None, None])
                .is_err_and(|error| error.to_string().contains("40 edits"))
        );
    }
}
