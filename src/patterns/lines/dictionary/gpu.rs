//! Finds matching lines on a GPU: the device looks words up, and the host turns its bits into lines. If a text does not
//! fit on the device, the CPU searches it.

use super::Dictionary;
use super::words::GivenWords;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::Card;
use crate::patterns::lines::NEWLINE;
use crate::patterns::lines::select::{LineCollector, Span};
use crate::patterns::scan::dictionary::{WordList, WordScan, WordTuning};
use crate::terms::error::EngineError;
use crate::terms::options::{OccurrenceRule, WordPosition};
use memchr::memchr_iter;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Looks words up on a GPU.
pub struct GpuWordScan {
    scan: WordScan,
    rule: OccurrenceRule,
    words: GivenWords,
    /// Built for the first text that the device cannot search.
    cores: OnceLock<Dictionary>,
}

/// Result for one text.
pub enum TextLookup {
    /// One bit for each byte at which a word begins, starting at the lowest bit of the first element.
    Starts(Vec<u32>),
    /// The matching lines.
    Lines(Vec<Span>),
}

impl GpuWordScan {
    /// Returns an error if a device cannot search for these words: too many words, a word that is too long, or an empty
    /// word that may occur anywhere.
    pub fn new(card: Arc<Card>, words: GivenWords, rule: OccurrenceRule) -> Result<GpuWordScan, EngineError> {
        let words = if rule.any_case { words.folded() } else { words };
        let list = WordList { bytes: words.bytes(), starts: words.starts() };
        let scan = WordScan::new(card, list, rule)?;
        Ok(GpuWordScan { scan, rule, words, cores: OnceLock::new() })
    }

    pub fn tuned(self, tuning: WordTuning) -> GpuWordScan {
        GpuWordScan { scan: self.scan.tuned(tuning), ..self }
    }

    /// Searches a text of whole lines.
    pub fn find(&self, text: &[u8]) -> Result<TextLookup, EngineError> {
        match self.on_device(text) {
            Err(EngineError::Unsupported(_) | EngineError::OutOfMemory(_)) => {
                let made = || Dictionary::new(InstructionSet::best(), self.words.clone(), self.rule);
                Ok(TextLookup::Lines(self.cores.get_or_init(made).lines(text)))
            }
            found => found,
        }
    }

    fn on_device(&self, text: &[u8]) -> Result<TextLookup, EngineError> {
        let resident = self.scan.load(text)?;
        let bits = self.scan.bits(&resident)?;
        Ok(match self.rule.place {
            WordPosition::Anywhere => TextLookup::Starts(bits),
            WordPosition::Start | WordPosition::Line => TextLookup::Lines(named(text, &bits)),
        })
    }

    /// Matching lines in a piece of the text that consists of whole lines; offsets are relative to the piece.
    pub fn lines(&self, text: &[u8], piece: Range<usize>, found: &TextLookup) -> Vec<Span> {
        match found {
            TextLookup::Starts(bits) => holding(&text[piece.clone()], piece, bits),
            TextLookup::Lines(lines) => {
                let from = |place: usize| lines.partition_point(|line| line.start < place);
                let own = lines[from(piece.start)..from(piece.end)].iter();
                own.map(|line| Span { start: line.start - piece.start, end: line.end - piece.start })
                    .collect()
            }
        }
    }
}

/// The lines whose bits are set; there is one bit per line.
fn named(text: &[u8], bits: &[u32]) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (number, end) in memchr_iter(NEWLINE, text).chain([text.len()]).enumerate() {
        if bits.get(number / 32).is_some_and(|bits| bits >> (number % 32) & 1 == 1) {
            lines.push(Span { start, end });
        }
        start = end + 1;
    }
    lines
}

/// The lines of a piece that contain a set bit; there is one bit per byte of the text.
fn holding(letters: &[u8], piece: Range<usize>, bits: &[u32]) -> Vec<Span> {
    let mut finder = LineCollector::new(letters);
    if piece.is_empty() {
        return Vec::new();
    }
    let own = piece.start / 32..(piece.end - 1) / 32 + 1;
    for (at, &bits) in own.clone().zip(&bits[own]).filter(|&(_, &bits)| bits != 0) {
        let first = at * 32;
        let skipped = piece.start.saturating_sub(first);
        let behind = (first + 32).saturating_sub(piece.end);
        let own = bits << behind >> behind >> skipped;
        finder.take_word(first + skipped - piece.start, own);
    }
    finder.lines()
}
