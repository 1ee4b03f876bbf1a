//! Stretches of texts one behind the other, as a scan takes them.
//!
//! Between two stretches stand so many [`NOTHING`]s that a hit over them would have more edits than are
//! allowed: one more than that. A long text is cut into stretches, each of which owns the ends in its own
//! part and has in front of it the letters that a hit with such an end may have: the longest span of a hit,
//! less the one letter that it has in the part. So each end is found once, and with its true edits.

use super::codes::Codes;
use super::{End, NOTHING, OTHER, Rule};
use rayon::prelude::*;

/// Ends that a thread places in one go.
const RUN: usize = 1 << 12;

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The text's place among those of the stream.
    pub text: usize,
    /// Letters of the text before the stretch.
    pub from: usize,
    /// The ends in `after + 1 ..= to` are its own.
    pub after: usize,
    pub to: usize,
    /// Where it begins in the stream.
    at: usize,
}

impl Stretch {
    /// Letters of its own.
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

/// Makes codes of DNA those of a scan: codes of bases are below [`OTHER`], and all others are that.
pub fn plain_codes(codes: &mut [u8]) {
    codes.iter_mut().for_each(|code| *code = (*code).min(OTHER));
}

/// Codes for a scan, and where they come from.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub codes: Codes,
    pub stretches: Vec<Stretch>,
}

/// How long the seams between stretches must be.
#[derive(Clone, Copy, Debug)]
pub struct Seams {
    /// Letters in front of a stretch's own part.
    before: usize,
    /// [`NOTHING`]s between two stretches.
    between: usize,
}

impl Seams {
    /// The seams that serve all patterns whose lengths are these.
    pub fn new(lengths: impl Iterator<Item = usize> + Clone, rule: &Rule) -> Seams {
        let longest = |of: &dyn Fn(usize) -> usize| lengths.clone().map(of).max().unwrap_or(0);
        Seams {
            before: longest(&|len| rule.span_of(len)).saturating_sub(1),
            between: longest(&|len| rule.edits_of(len)) + 1,
        }
    }

    /// Letters before an end that a hit may reach over, but for its last.
    pub fn before(&self) -> usize {
        self.before
    }
}

impl Stream {
    /// Appends the part `own` of a text, with what stands in front of it. `codes` are those of the whole
    /// text; it does not matter here whether they are plain ones ([`plain_codes`]).
    pub fn push(&mut self, seams: &Seams, text: usize, codes: &[u8], own: std::ops::Range<usize>) {
        if !self.codes.is_empty() {
            self.codes.append(&vec![NOTHING; seams.between], NOTHING);
        }
        let from = own.start.saturating_sub(seams.before);
        let at = self.codes.len();
        self.stretches.push(Stretch { text, from, after: own.start, to: own.end, at });
        self.codes.append(&codes[from..own.end], OTHER);
    }

    /// Appends the part `own` of a text without its codes, for what takes these from the text itself.
    pub fn mark(&mut self, text: usize, own: std::ops::Range<usize>) {
        let std::ops::Range { start, end } = own;
        self.stretches.push(Stretch { text, from: start, after: start, to: end, at: 0 });
    }

    /// The ends of a scan in their texts: only those that a stretch owns, by text, pattern and end.
    pub fn place(&self, ends: &[End], patterns: &[Vec<u8>], rule: &Rule) -> Vec<TextEnd> {
        let place = |found: &End| {
            let End { pattern, end, edits } = *found;
            let behind = self.stretches.partition_point(|stretch| stretch.at < end as usize);
            let stretch = &self.stretches[behind.checked_sub(1)?];
            let end = stretch.from + end as usize - stretch.at;
            // Without gaps, a hit of few letters may lie over the start of its text.
            let fits = rule.indels || end >= patterns[pattern as usize].len();
            let own = stretch.after < end && end <= stretch.to;
            (own && fits).then_some(TextEnd { text: stretch.text, pattern, end, edits })
        };
        let mut placed: Vec<TextEnd> = ends.par_iter().with_min_len(RUN).filter_map(place).collect();
        placed.par_sort_unstable();
        placed
    }
}
