//! Exact scans for many patterns: words of the text are looked up among words of the patterns (Karp and Rabin 1987), at
//! a cost that hardly depends on the number of patterns. With a few mismatches, [`pieces`] of the patterns are looked
//! up.
//!
//! `words` chooses the words and stores them in tables of two levels. Each batch of positions passes through the stages together: the first level, the second
//! level for the positions that pass, and the comparison of the patterns, class by class. So the loads of one stage
//! overlap.

pub mod words;

use super::codes::TextCodes;
use super::pieces::{self, PatternPieces};
use super::room::{EndCapacity, ThreadEnds};
use super::sliced::SlicedScan;
use super::{EndScan, MatchRule, PatternEnd, scan_some};
use crate::engine::cpu::simd::{Bits, InstructionSet, Kernel, Simd};
use crate::patterns::search::pattern::matches;
use crate::patterns::sliced::packed::PackedText;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use words::{MOST_LETTERS, PatternWordTable, WordEntry, WordIndex, hash, shape_of};

/// Minimum number of patterns to look up; fewer are swept over the text. One core, 50 Mbp, m=20, AVX-512: looking up
/// takes 28 to 40 ms with 2 to 64 patterns, sweeping 57 ms with 4 and 90 with 8.
pub const WORTH: usize = 4;
/// Bases that a thread processes per task: a multiple of all steps.
const STRETCH: usize = 7 << 13;
/// Positions per batch.
const BATCH: usize = 512;

/// Finds ends without edits by looking up words, ends with a few mismatches by looking up pieces, and all others by
/// sweeping.
#[derive(Debug)]
pub struct Exact {
    set: InstructionSet,
    swept: SlicedScan,
    /// Minimum number of patterns to look up.
    worth: usize,
    /// Index of the patterns of the last call. All parts of a text have the same patterns.
    index: Mutex<Option<Arc<WordIndex>>>,
    /// Index of the same patterns by their pieces.
    pieces: Mutex<Option<Arc<PatternPieces>>>,
}

/// Whether nearly all patterns would be looked up.
pub fn pays(patterns: &[Vec<u8>], rule: &MatchRule) -> bool {
    words_pay(patterns, rule) || rule.max_edits > 0 && pieces::pays(InstructionSet::best(), patterns, rule)
}

/// Whether looking up words pays: for nearly all patterns, without edits.
pub fn words_pay(patterns: &[Vec<u8>], rule: &MatchRule) -> bool {
    let swept = || patterns.iter().filter(|classes| shape_of(classes).is_none()).take(WORTH).count();
    rule.max_edits == 0 && patterns.len() >= 2 * WORTH && swept() < WORTH
}

impl Exact {
    pub fn on(set: InstructionSet) -> Exact {
        Exact {
            set,
            swept: SlicedScan::on(set),
            worth: WORTH,
            index: Mutex::default(),
            pieces: Mutex::default(),
        }
    }

    /// Looks patterns up even if there are few: for tests, and to measure when it pays.
    pub fn always(set: InstructionSet) -> Exact {
        Exact { worth: 1, ..Exact::on(set) }
    }

    fn index(&self, patterns: &[Vec<u8>]) -> Arc<WordIndex> {
        let mut last = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(index) if index.classes.are(patterns) => Arc::clone(index),
            _ => Arc::clone(last.insert(Arc::new(WordIndex::new(patterns)))),
        }
    }

    /// The patterns by their pieces, if looking them up pays.
    fn pieces(&self, patterns: &[Vec<u8>], rule: &MatchRule) -> Option<Arc<PatternPieces>> {
        if !pieces::takes(rule) {
            return None;
        }
        let mut last = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pieces) = last.as_ref().filter(|pieces| pieces.is_of(patterns, rule)) {
            return Some(Arc::clone(pieces));
        }
        *last = PatternPieces::new(self.set, patterns, rule, self.worth == 1).map(Arc::new);
        last.clone()
    }
}

impl EndScan for Exact {
    fn scan_within(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        if let Some(pieces) = self.pieces(patterns, rule) {
            let mut ends = pieces.scan(self.set, text.planes(), room);
            ends.extend(scan_some(&self.swept, text, (patterns, &pieces.others), rule, room)?);
            ends.par_sort_unstable();
            return Ok(ends);
        }
        if rule.max_edits > 0 || patterns.len() < self.worth {
            return self.swept.scan_within(text, patterns, rule, room);
        }
        let index = self.index(patterns);
        if patterns.len() - index.others.len() < self.worth {
            return self.swept.scan_within(text, patterns, rule, room);
        }
        let look = |first: usize| self.set.run(WordLookup { index: &index, text, first, room });
        let stretches = text.len().div_ceil(STRETCH);
        let mut ends: Vec<PatternEnd> =
            (0..stretches).into_par_iter().flat_map_iter(|stretch| look(stretch * STRETCH)).collect();
        ends.extend(scan_some(&self.swept, text, (patterns, &index.others), rule, room)?);
        ends.par_sort_unstable();
        Ok(ends)
    }
}

/// Looks up the words that begin in a stretch.
struct WordLookup<'a> {
    index: &'a WordIndex,
    text: &'a TextCodes,
    first: usize,
    room: &'a EndCapacity,
}

impl Kernel for WordLookup<'_> {
    type Output = Vec<PatternEnd>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<PatternEnd> {
        let WordLookup { index, text, first, room } = self;
        let mut ends = ThreadEnds::new(room);
        if ends.are_too_many() {
            return Vec::new();
        }
        let mut found = |at: usize, entry: &WordEntry| {
            if ends.are_too_many() {
                return;
            }
            let classes = index.classes.get(entry.pattern);
            let letters = at
                .checked_sub(entry.before as usize)
                .and_then(|start| text.get(start..start + classes.len()));
            if let Some(letters) = letters
                && classes.iter().zip(letters).all(|(&class, &letter)| matches(class, letter))
            {
                let end = at - entry.before as usize + classes.len();
                ends.push(PatternEnd { pattern: entry.pattern, end: to_u32(end), edits: 0 });
            }
        };
        let own = first..text.len().min(first + STRETCH);
        for table in &index.tables {
            look_up(simd, table, text.planes(), own.clone(), &mut found);
        }
        ends.finish()
    }
}

/// Calls `call` with each position of a stretch whose word is in a table, and with its entries.
#[inline(always)]
fn look_up<S: Bits>(
    simd: S,
    table: &PatternWordTable,
    text: &PackedText,
    own: Range<usize>,
    mut call: impl FnMut(usize, &WordEntry),
) {
    let (letters, step) = (table.shape.letters, table.shape.step);
    const { assert!(MOST_LETTERS <= 25) };
    let mask = (1 << letters) - 1;
    let mut passed = [(0, 0); BATCH];
    let mut near: [&[WordEntry]; BATCH] = [&[]; BATCH];
    for begin in own.clone().step_by(BATCH * step) {
        let mut count = 0;
        for at in (begin..own.end.min(begin + BATCH * step)).step_by(step) {
            let [low, high, other] = text.short_window(at);
            let hash = hash(low & mask | (high & mask) << letters);
            passed[count] = (at, hash);
            count += table.may_have(hash) & usize::from(other & mask == 0);
        }
        for (&(_, hash), near) in passed[..count].iter().zip(&mut near) {
            *near = table.near(hash);
            simd.prefetch(bytemuck::cast_slice(near));
        }
        for (&(at, hash), near) in passed[..count].iter().zip(&near) {
            near.iter().filter(|entry| entry.hash == hash).for_each(|entry| call(at, entry));
        }
    }
}
