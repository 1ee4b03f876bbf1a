//! Looks up many patterns without edits on a GPU, by the same words as on the CPU (`search/exact`).

use crate::engine::gpu::Card;
use crate::patterns::scan::bases::{BaseEnd, BasePatterns, BaseScan, BaseWord, BaseWords};
use crate::patterns::search::PatternEnd;
use crate::patterns::search::exact::words::{Classes, Entered, PatternWord, entered};
use crate::patterns::sliced::packed::PackedText;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of bases of a text on the device.
const TEXT: usize = 1 << 30;
/// Minimum number of bases per part of a text.
const LEAST_TEXT: usize = 1 << 16;

/// Result of a lookup.
pub struct LookUp {
    pub ends: Vec<PatternEnd>,
    /// The patterns that have no words.
    pub others: Vec<u32>,
}

/// Looks patterns up on a GPU.
pub struct WordsOnCard {
    scan: BaseScan,
    /// Bases of a text on the device.
    text: usize,
    /// The patterns of the last call. All parts of a text have the same patterns.
    known: Mutex<Option<Arc<GpuPatterns>>>,
}

/// Patterns on the GPU.
struct GpuPatterns {
    classes: Classes,
    on_device: BasePatterns,
    others: Vec<u32>,
    longest: usize,
}

impl WordsOnCard {
    pub fn new(card: Arc<Card>) -> WordsOnCard {
        WordsOnCard { scan: BaseScan::new(card), text: TEXT, known: Mutex::default() }
    }

    /// Limits the bases of a text on the device to `text`.
    pub fn tuned(self, text: usize) -> WordsOnCard {
        WordsOnCard { text, ..self }
    }

    pub fn kernel_time(&self) -> Duration {
        self.scan.kernel_time()
    }

    fn known(&self, patterns: &[Vec<u8>]) -> Result<Arc<GpuPatterns>, EngineError> {
        let mut last = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| known.classes.are(patterns)) {
            return Ok(Arc::clone(known));
        }
        *last = None;
        let (entered, others) = entered(patterns);
        let words_of = |own: &Entered| {
            let mut words = Vec::new();
            own.for_each(patterns, |PatternWord { word, pattern, before }| {
                words.push(BaseWord { word, pattern, before });
            });
            BaseWords { letters: own.shape.letters, step: own.shape.step, words }
        };
        let words: Vec<BaseWords> = entered.iter().map(words_of).collect();
        let known = GpuPatterns {
            classes: Classes::of(patterns),
            on_device: self.scan.patterns(patterns, &words)?,
            others,
            longest: patterns.iter().map(Vec::len).max().unwrap_or(0),
        };
        Ok(Arc::clone(last.insert(Arc::new(known))))
    }

    /// All ends of the patterns that have words; if there are more than `most`, more than `most` of them.
    pub fn ends(&self, text: &PackedText, patterns: &[Vec<u8>], most: usize) -> Result<LookUp, EngineError> {
        let known = self.known(patterns)?;
        let mut ends = Vec::new();
        let (mut first, mut letters) = (0, self.text.max(1));
        while first < text.len() && ends.len() <= most {
            let end = text.len().min(first + letters);
            // A pattern that ends in a part may begin before it.
            let begin = (first + 1).saturating_sub(known.longest);
            match self.ends_in((text, begin..end), &known, most - ends.len()) {
                Err(EngineError::OutOfMemory(_)) if end - first > LEAST_TEXT => letters = (end - first) / 2,
                found => {
                    let own = found?.into_iter().filter(|found| found.end as usize > first - begin);
                    ends.extend(own.map(|BaseEnd { pattern, end }| PatternEnd {
                        pattern,
                        end: end + to_u32(begin),
                        edits: 0,
                    }));
                    first = end;
                }
            }
        }
        Ok(LookUp { ends, others: known.others.clone() })
    }

    fn ends_in(
        &self,
        (text, own): (&PackedText, Range<usize>),
        known: &GpuPatterns,
        most: usize,
    ) -> Result<Vec<BaseEnd>, EngineError> {
        let resident = self.scan.load(text, own)?;
        self.scan.ends(&resident, &known.on_device, most)
    }
}
