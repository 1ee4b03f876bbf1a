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
const WORK: usize = 1 << 36;
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
        let letters = letters.min((WORK / swept).max(SHORTEST));
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
