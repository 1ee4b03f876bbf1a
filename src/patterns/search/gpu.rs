//! Scans on a GPU. In the same call, the CPU scans for the patterns that the device cannot: very long patterns, and
//! without gaps patterns of more than 32 bases. The CPU also takes over everything if the device fails and a fallback
//! is allowed. Many patterns without edits are looked up on the device ([`words`]) instead of swept.

pub mod words;

use super::codes::TextCodes;
use super::exact;
use super::room::EndCapacity;
use super::sliced::SlicedScan;
use super::{EndScan, MatchRule, PatternEnd, scan_some};
use crate::engine::gpu::Card;
use crate::patterns::scan::{ClassPattern, FoundEnd, ScanTuning, Scanner};
use crate::patterns::sliced::packed::PackedText;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::sync::{Arc, Mutex};
use words::{LookUp, WordsOnCard};

/// A device that scans; tests use one that fails.
pub trait ScanDevice: Sync {
    fn describe(&self) -> String;
    /// All ends of patterns that fit on the device, in any order; if there are more than `most`, more than `most` of
    /// them.
    fn scan(
        &self,
        text: &PackedText,
        patterns: &[ClassPattern],
        most: usize,
    ) -> Result<Vec<FoundEnd>, EngineError>;
    /// All ends without edits of the patterns that have words, in any order, and the patterns that have none. If there
    /// are more than `most` ends, more than `most` of them.
    fn look_up(&self, text: &PackedText, patterns: &[Vec<u8>], most: usize) -> Result<LookUp, EngineError>;
}

/// A GPU that sweeps patterns over texts, and looks them up.
pub struct OnCard {
    sweeps: Scanner,
    words: WordsOnCard,
}

impl OnCard {
    pub fn new(card: Arc<Card>) -> OnCard {
        OnCard { words: WordsOnCard::new(Arc::clone(&card)), sweeps: Scanner::new(card) }
    }

    pub fn tuned(self, tuning: ScanTuning) -> OnCard {
        OnCard { words: self.words.tuned(tuning.text), sweeps: self.sweeps.tuned(tuning) }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> std::time::Duration {
        self.sweeps.kernel_time() + self.words.kernel_time()
    }
}

impl ScanDevice for OnCard {
    fn describe(&self) -> String {
        self.sweeps.describe()
    }

    fn scan(
        &self,
        text: &PackedText,
        patterns: &[ClassPattern],
        most: usize,
    ) -> Result<Vec<FoundEnd>, EngineError> {
        self.sweeps.scan(text, patterns, most)
    }

    fn look_up(&self, text: &PackedText, patterns: &[Vec<u8>], most: usize) -> Result<LookUp, EngineError> {
        self.words.ends(text, patterns, most)
    }
}

/// Finds ends on a GPU.
pub struct GpuScan<D = OnCard> {
    device: D,
    cores: SlicedScan,
    /// Whether many patterns without edits are looked up.
    looks_up: bool,
    /// Record of a takeover by the CPU; `None` if the CPU must not take over.
    fallback: Option<Mutex<Fallback>>,
}

#[derive(Default)]
struct Fallback {
    lost: bool,
    notice: Option<String>,
}

impl<D: ScanDevice> GpuScan<D> {
    pub fn new(device: D, cores: SlicedScan, may_fall_back: bool) -> GpuScan<D> {
        GpuScan { device, cores, looks_up: true, fallback: may_fall_back.then(Mutex::default) }
    }

    /// Sweeps all patterns over the text, regardless of their number.
    pub fn sweeping(self) -> GpuScan<D> {
        GpuScan { looks_up: false, ..self }
    }

    /// The device that scans.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The ends of the patterns with the indices `chosen`, each reported with its own index.
    fn on_device(
        &self,
        text: &TextCodes,
        (patterns, chosen): (&[Vec<u8>], &[u32]),
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        let on_cores = || scan_some(&self.cores, text, (patterns, chosen), rule, room);
        if self.is_lost() {
            return on_cores();
        }
        let wanted = |&place: &u32| wanted(&patterns[place as usize], rule);
        match self.device.scan(text.planes(), &chosen.iter().map(wanted).collect::<Vec<_>>(), room.left()) {
            Ok(found) => {
                room.take(found.len());
                let end = |FoundEnd { pattern, end, edits }| PatternEnd {
                    pattern: chosen[pattern as usize],
                    end,
                    edits,
                };
                Ok(found.into_par_iter().map(end).collect())
            }
            Err(error) if self.fall_back(&error) => on_cores(),
            Err(error) => Err(error),
        }
    }

    /// The ends of patterns without edits that the device looks up, and the patterns that are left; `None` if the CPU
    /// has taken over.
    fn looked_up(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        room: &EndCapacity,
    ) -> Result<Option<LookUp>, EngineError> {
        if self.is_lost() {
            return Ok(None);
        }
        match self.device.look_up(text.planes(), patterns, room.left()) {
            Ok(found) => {
                room.take(found.ends.len());
                Ok(Some(found))
            }
            Err(error) if self.fall_back(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_lost(&self) -> bool {
        self.fallback.as_ref().is_some_and(|state| state.lock().is_ok_and(|state| state.lost))
    }

    /// Whether the CPU takes over from now on.
    fn fall_back(&self, error: &EngineError) -> bool {
        let Some(state) = &self.fallback else { return false };
        let Ok(mut state) = state.lock() else { return false };
        state.lost = true;
        state.notice = Some(format!("{}: {error}; continuing with the CPU", self.device.describe()));
        true
    }
}

/// Whether a device can scan for this pattern.
pub fn takes(pattern: &[u8], rule: &MatchRule) -> bool {
    wanted(pattern, rule).fits()
}

/// Converts a pattern for the device.
fn wanted<'a>(pattern: &'a [u8], rule: &MatchRule) -> ClassPattern<'a> {
    ClassPattern { classes: pattern, allowed: to_u32(rule.edits_of(pattern.len())), gaps: rule.indels }
}

impl<D: ScanDevice> EndScan for GpuScan<D> {
    fn scan_within(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        let pays = self.looks_up && exact::words_pay(patterns, rule);
        let looked_up = if pays { self.looked_up(text, patterns, room)? } else { None };
        let all = || LookUp { ends: Vec::new(), others: (0..to_u32(patterns.len())).collect() };
        let LookUp { mut ends, others: left } = looked_up.unwrap_or_else(all);
        let on_device = |place: &u32| takes(&patterns[*place as usize], rule);
        let (device, cores): (Vec<u32>, Vec<u32>) = left.into_iter().partition(on_device);
        ends.extend(self.on_device(text, (patterns, &device), rule, room)?);
        ends.extend(scan_some(&self.cores, text, (patterns, &cores), rule, room)?);
        ends.par_sort_unstable();
        Ok(ends)
    }

    fn is_on_device(&self) -> bool {
        true
    }

    fn take_notice(&self) -> Option<String> {
        self.fallback.as_ref()?.lock().ok()?.notice.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::simd::InstructionSet;
    use crate::patterns::search::plain::PlainScan;

    /// A device that is lost before its first answer.
    struct Lost;

    impl ScanDevice for Lost {
        fn describe(&self) -> String {
            "GPU of a test".to_string()
        }

        fn scan(&self, _: &PackedText, _: &[ClassPattern], _: usize) -> Result<Vec<FoundEnd>, EngineError> {
            Err(EngineError::Lost("pulled out".to_string()))
        }

        fn look_up(&self, _: &PackedText, _: &[Vec<u8>], _: usize) -> Result<LookUp, EngineError> {
            Err(EngineError::Lost("pulled out".to_string()))
        }
    }

    #[test]
    fn the_cores_take_over_where_they_may() {
        let text = TextCodes::of(&[0, 1, 2, 3, 0, 1, 2]);
        let few = vec![vec![1, 2, 4], vec![1; 2000], vec![31]];
        let many = vec![vec![1, 2, 4, 8, 1, 2]; 10];
        for (patterns, max_edits) in [(few, 1), (many, 0)] {
            cores_take_over(&text, &patterns, &MatchRule { max_edits, indels: true });
        }
    }

    fn cores_take_over(text: &TextCodes, patterns: &[Vec<u8>], rule: &MatchRule) {
        let scan = |may| GpuScan::new(Lost, SlicedScan::on(InstructionSet::best()), may);
        assert!(matches!(scan(false).scan(text, patterns, rule), Err(EngineError::Lost(_))));
        let scan = scan(true);
        let expected = PlainScan.scan(text, patterns, rule).unwrap();
        for round in 0..2 {
            assert_eq!(scan.scan(text, patterns, rule).unwrap(), expected);
            let notice = scan.take_notice();
            let told =
                notice.is_some_and(|text| text.contains("GPU of a test") && text.contains("pulled out"));
            assert_eq!(told, round == 0, "told once");
        }
    }
}
