//! Stretches of texts, concatenated as the input of a scan.
//!
//! Between two stretches there is one [`NOTHING`] more than the maximum number of edits, so that no hit can span them.
//! A long text is cut into stretches. Each stretch owns the ends in its own part, and starts with the bases before the
//! part that a hit with such an end may span: the longest span of a hit less the one base inside the part. So each end
//! is found once, with its true edits.

use super::codes::TextCodes;
use super::{MatchRule, NOTHING, OTHER, PatternEnd};
use rayon::prelude::*;

/// Ends that a thread maps to texts per task.
const RUN: usize = 1 << 12;

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStretch {
    /// Index of the text in the stream.
    pub text: usize,
    /// Offset of the stretch in the text.
    pub from: usize,
    /// The stretch owns the ends in `after + 1 ..= to`.
    pub after: usize,
    pub to: usize,
    /// Offset of the stretch in the stream.
    at: usize,
}

impl TextStretch {
    /// Number of bases that the stretch owns.
    pub fn own(&self) -> usize {
        self.to - self.after
    }
}

/// An end of a pattern in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextEnd {
    pub text: usize,
    pub pattern: u32,
    pub end: usize,
    pub edits: u32,
}

/// Converts DNA codes to codes for a scan: every code that is no base becomes [`OTHER`].
pub fn plain_codes(codes: &mut [u8]) {
    codes.iter_mut().for_each(|code| *code = (*code).min(OTHER));
}

/// Codes for a scan, and their origin.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub codes: TextCodes,
    pub stretches: Vec<TextStretch>,
}

/// Length of the overlap and the separators of stretches.
#[derive(Clone, Copy, Debug)]
pub struct Seams {
    /// Bases before the part that a stretch owns.
    before: usize,
    /// Number of [`NOTHING`]s between two stretches.
    between: usize,
}

impl Seams {
    /// The seams for patterns of these lengths.
    pub fn new(lengths: impl Iterator<Item = usize> + Clone, rule: &MatchRule) -> Seams {
        let longest = |of: &dyn Fn(usize) -> usize| lengths.clone().map(of).max().unwrap_or(0);
        Seams {
            before: longest(&|len| rule.span_of(len)).saturating_sub(1),
            between: longest(&|len| rule.edits_of(len)) + 1,
        }
    }

    /// Number of bases before its last one that a hit may span.
    pub fn before(&self) -> usize {
        self.before
    }
}

impl Stream {
    /// Appends the part `own` of a text, with the bases before it that it needs. `codes` are the codes of the whole
    /// text, plain ([`plain_codes`]) or not.
    pub fn push(&mut self, seams: &Seams, text: usize, codes: &[u8], own: std::ops::Range<usize>) {
        if !self.codes.is_empty() {
            self.codes.append(&vec![NOTHING; seams.between], NOTHING);
        }
        let from = own.start.saturating_sub(seams.before);
        let at = self.codes.len();
        self.stretches.push(TextStretch { text, from, after: own.start, to: own.end, at });
        self.codes.append(&codes[from..own.end], OTHER);
    }

    /// Appends the part `own` of a text without its codes, for searches that read the text directly.
    pub fn mark(&mut self, text: usize, own: std::ops::Range<usize>) {
        let std::ops::Range { start, end } = own;
        self.stretches.push(TextStretch { text, from: start, after: start, to: end, at: 0 });
    }

    /// Maps the ends of a scan to their texts: only ends that a stretch owns, sorted by text, pattern and end.
    pub fn place(&self, ends: &[PatternEnd], patterns: &[Vec<u8>], rule: &MatchRule) -> Vec<TextEnd> {
        let place = |found: &PatternEnd| {
            let PatternEnd { pattern, end, edits } = *found;
            let behind = self.stretches.partition_point(|stretch| stretch.at < end as usize);
            let stretch = &self.stretches[behind.checked_sub(1)?];
            let end = stretch.from + end as usize - stretch.at;
            // Without gaps, an end closer to the start of its text than the pattern's length is no hit.
            let fits = rule.indels || end >= patterns[pattern as usize].len();
            let own = stretch.after < end && end <= stretch.to;
            (own && fits).then_some(TextEnd { text: stretch.text, pattern, end, edits })
        };
        let mut placed: Vec<TextEnd> = ends.par_iter().with_min_len(RUN).filter_map(place).collect();
        placed.par_sort_unstable();
        placed
    }
}
