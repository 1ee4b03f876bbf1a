//! Sweeps patterns over a tile, with [`crate::patterns::sliced::myers`] or, without gaps, with
//! [`super::hamming`].

use super::hamming::{ADDENDS, sum, take_away};
use super::tile::PlaneTile;
use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::patterns::search::room::{EndCapacity, ThreadEnds};
use crate::patterns::search::{MatchRule, PatternEnd};
use crate::patterns::sliced::chunks::TextDivision;
use crate::patterns::sliced::myers::{self, COLUMNS, Nowhere, constant, step, width};
use crate::patterns::sliced::transpose::all_ones;
use crate::terms::casts::{to_i64, to_u32};
use bytemuck::{Zeroable, cast_slice};

/// Sweeps patterns over a tile.
pub struct TileSweep<'a> {
    pub tile: &'a PlaneTile,
    pub shape: &'a TextDivision,
    pub patterns: &'a [Vec<u8>],
    /// Index of the first pattern.
    pub first: u32,
    pub rule: &'a MatchRule,
    pub room: &'a EndCapacity,
}

impl Kernel for TileSweep<'_> {
    type Output = Vec<PatternEnd>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<PatternEnd> {
        let mut ends = ThreadEnds::new(self.room);
        for (place, pattern) in (self.first..).zip(self.patterns) {
            if ends.are_too_many() {
                break;
            }
            let mut found = SweepEnds {
                tile: self.tile,
                shape: self.shape,
                pattern: place,
                least: 0,
                edits: 0,
                ends: &mut ends,
            };
            match self.rule.indels {
                true => with_gaps(simd, &mut found, pattern, self.rule),
                false => without_gaps(simd, &mut found, pattern, self.rule),
            }
        }
        ends.finish()
    }
}

/// The ends found so far.
struct SweepEnds<'a, 'r> {
    tile: &'a PlaneTile,
    shape: &'a TextDivision,
    pattern: u32,
    /// Smallest possible end.
    least: usize,
    /// Difference between the edits of an end and its number.
    edits: i64,
    ends: &'a mut ThreadEnds<'r>,
}

impl SweepEnds<'_, '_> {
    /// Records the ends in `column`: `at` has a bit for each chunk that ends there, and `number` the bits of their
    /// numbers.
    #[cold]
    #[inline(never)]
    fn take(&mut self, column: usize, at: &[u64], number: &[u64]) {
        let Some(column) = column.checked_sub(self.shape.before) else { return };
        for (word, &bits) in at.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let place = self.tile.first + self.shape.chunk_of(word, bit) * self.shape.chunk + column;
                if (self.least..=self.tile.end).contains(&(place + 1)) {
                    let edits = to_u32(signed(number, at.len(), word, bit) + self.edits);
                    self.ends.push(PatternEnd { pattern: self.pattern, end: to_u32(place) + 1, edits });
                }
            }
        }
    }
}

/// The number of a chunk; its last bit is the sign.
fn signed(number: &[u64], words: usize, word: usize, bit: usize) -> i64 {
    let mut bits = number.chunks_exact(words).map(|bits| to_i64(bits[word] >> bit & 1));
    let sign = bits.next_back().unwrap_or(0);
    let low = bits.rev().fold(0, |value, bit| value << 1 | bit);
    low - (sign << (number.len() / words - 1))
}

#[inline(always)]
fn with_gaps<S: Bits>(simd: S, found: &mut SweepEnds, pattern: &[u8], rule: &MatchRule) {
    let allowed = to_i64(rule.edits_of(pattern.len()));
    let tile = found.tile;
    let rows: Vec<&[S::B]> = pattern.iter().map(|&class| tile.plane(class)).collect();
    let rows: Vec<&[[S::B; COLUMNS]]> = rows.iter().map(|row| row.as_chunks().0).collect();
    let mut state = myers::beginning::<S>(pattern.len());
    let most = to_i64(pattern.len()) - allowed - 1;
    let mut number = constant::<S>(most, width(-allowed - 1, most));
    let mut before = number.clone();
    found.edits = allowed + 1;
    let own = found.shape.before;
    // A text shorter than a hit's maximum span begins at the first column.
    let begin = own.saturating_sub(rule.span_of(pattern.len()) - 1) / COLUMNS * COLUMNS;
    for column in (begin..found.shape.columns).step_by(COLUMNS) {
        let matches = rows.iter().map(|row| &row[column / COLUMNS]);
        let (no_plus, minus) = myers::columns(simd, matches, &mut state, Nowhere);
        before.copy_from_slice(&number);
        let mut any = S::B::zeroed();
        let ones = all_ones();
        for k in 0..COLUMNS {
            step(simd, &mut number, simd.and_not(ones, no_plus[k]), minus[k]);
            any = simd.or(any, number[number.len() - 1]);
        }
        if simd.any(any) && column + COLUMNS > own {
            for k in 0..COLUMNS {
                step(simd, &mut before, simd.and_not(ones, no_plus[k]), minus[k]);
                let ends = before[before.len() - 1];
                if simd.any(ends) {
                    found.take(column + k, cast_slice(&[ends]), cast_slice(&before));
                }
            }
            if found.ends.are_too_many() {
                return;
            }
        }
    }
}

#[inline(always)]
fn without_gaps<S: Bits>(simd: S, found: &mut SweepEnds, pattern: &[u8], rule: &MatchRule) {
    let (len, allowed) = (pattern.len(), rule.edits_of(pattern.len()));
    let tile = found.tile;
    if len > tile.end {
        return;
    }
    let rows: Vec<&[S::B]> = pattern.iter().map(|&class| tile.plane(class)).collect();
    // The number is the mismatches minus the allowed edits minus one. It starts at its value without any match, and
    // each match lowers it by one.
    let most = to_i64(len) - to_i64(allowed) - 1;
    let width = width(-to_i64(allowed) - 1, most);
    let start = constant::<S>(most, width);
    let mut number = start.clone();
    (found.edits, found.least) = (to_i64(allowed) + 1, len);
    for column in found.shape.before..found.shape.columns {
        let begin = column + 1 - len;
        number.copy_from_slice(&start);
        for (group, rows) in rows.chunks(ADDENDS).enumerate() {
            let from = begin + group * ADDENDS;
            let mut bits = [S::B::zeroed(); ADDENDS];
            for ((k, row), bit) in rows.iter().enumerate().zip(&mut bits) {
                *bit = row[from + k];
            }
            take_away(simd, &mut number, sum(simd, bits));
        }
        let ends = number[width - 1];
        if simd.any(ends) {
            found.take(column, cast_slice(&[ends]), cast_slice(&number));
            if found.ends.are_too_many() {
                return;
            }
        }
    }
}
