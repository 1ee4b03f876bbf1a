//! Finds matching lines on a GPU: the device marks where patterns end, and the host turns these ends into lines. The
//! CPU searches for the patterns that the device cannot: those with more than [`MOST_ROWS`] classes or more than
//! [`MOST_EDITS`] edits.

use super::pattern::GrepPattern;
use super::plain;
use super::select::{self, LineCollector, Span};
use super::sliced::SlicedLineScan;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::Card;
pub use crate::patterns::scan::bitap::shader::{MOST_EDITS, MOST_ROWS};
use crate::patterns::scan::bitap::{Bitap, BitapTuning, BytePattern, Pending, TextEnds};
use crate::patterns::search::MatchRule;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::Arc;

/// Finds lines on a GPU.
pub struct GpuLineScan {
    device: Bitap,
    /// For the patterns that the device cannot search.
    cores: SlicedLineScan,
    /// Number of these patterns.
    left: usize,
    /// Some pattern matches the empty substring, and therefore every line.
    every: bool,
}

impl GpuLineScan {
    pub fn new(
        card: Arc<Card>,
        patterns: &[GrepPattern],
        rule: MatchRule,
    ) -> Result<GpuLineScan, EngineError> {
        let every = patterns.iter().any(|pattern| plain::matches(b"", &pattern.classes, &rule));
        // If every line matches, there is nothing to search for.
        let patterns = if every { &[] } else { patterns };
        let (own, left): (Vec<GrepPattern>, Vec<GrepPattern>) =
            patterns.iter().cloned().partition(|pattern| wanted(pattern, &rule).fits());
        let own: Vec<BytePattern> = own.iter().map(|pattern| wanted(pattern, &rule)).collect();
        let cores = SlicedLineScan::new(InstructionSet::best(), &left, rule);
        Ok(GpuLineScan { device: Bitap::new(card, &own)?, cores, left: left.len(), every })
    }

    pub fn tuned(self, tuning: BitapTuning) -> GpuLineScan {
        GpuLineScan { device: self.device.tuned(tuning), ..self }
    }

    /// The device that finds the ends.
    pub fn device(&self) -> &Bitap {
        &self.device
    }

    /// Number of patterns that the CPU searches for.
    pub fn left_to_cores(&self) -> usize {
        self.left
    }

    /// Begins the search of a text of whole lines.
    pub fn begin(&self, text: &[u8]) -> Result<Pending, EngineError> {
        self.device.begin(text)
    }

    /// Waits for the search of `text` to finish.
    pub fn finish(&self, text: &[u8], pending: Pending) -> Result<TextEnds, EngineError> {
        self.device.finish(text, pending)
    }

    /// Matching lines in a piece of the text that consists of whole lines; offsets are relative to the piece.
    pub fn lines(&self, text: &[u8], piece: Range<usize>, ends: &TextEnds) -> Vec<Span> {
        let letters = &text[piece.clone()];
        if self.every {
            return select::every(letters);
        }
        let mut finder = LineCollector::new(letters);
        ends.each(piece.clone(), |first, bits| finder.take_word(first - piece.start, bits));
        select::union(finder.lines(), self.cores.lines(letters))
    }
}

/// Converts a pattern for the device.
fn wanted(pattern: &GrepPattern, rule: &MatchRule) -> BytePattern {
    let rows: Vec<[u64; 4]> = pattern.classes.iter().map(|class| class.bits()).collect();
    BytePattern { edits: rule.edits_of(rows.len()), rows, gaps: rule.indels }
}
