//! Patterns swept over a tile.
//!
//! Myers (1999) keeps the differences between neighbouring cells, which are -1, 0 or 1; here each of them is
//! two vectors, with a bit for each chunk. In letters of the recurrence, with `v` the difference of a cell to
//! the one above it, `h` to the one before it, and `+` and `-` for where it is 1 and -1 (Hyyrö 2003):
//!
//! ```text
//! same    = matches | v- | h-                  D(i,j) = D(i-1,j-1), with v of column j-1 and h of row i-1
//! next h+ = v- | !(same | v+)                  next h- = same & v+
//! next v+ = h- | !(same | h+)                  next v- = same & h+
//! ```
//!
//! Kept as `v+`, `v-`, `h-` and `!h+`, these are 8 operations of two operands, or 5 of three, for a cell of
//! all chunks, whatever the number of edits. A few columns are done in one go, so that the differences of a
//! row stay in registers. At the last row, `D(m,j) - max_edits - 1` is kept as a number of a few bits,
//! again a vector for each: where it is negative there is an end.
//!
//! Without gaps, the letters that match are counted by adders of single bits: seven are added to three,
//! and these to the number.

use super::tile::{Shape, Tile, all_ones};
use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::search::room::{Ends, Room};
use crate::search::{End, Rule};
use bytemuck::{Zeroable, cast_slice};

/// Columns that are done in one go.
const COLUMNS: usize = 8;
/// Bits that are added to three in one go.
const ADDENDS: usize = 7;

/// Sweeps patterns over a tile.
pub struct Sweep<'a> {
    pub tile: &'a Tile,
    pub shape: &'a Shape,
    pub patterns: &'a [Vec<u8>],
    /// Place of the first pattern among all.
    pub first: u32,
    pub rule: &'a Rule,
    pub room: &'a Room,
}

impl Kernel for Sweep<'_> {
    type Output = Vec<End>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<End> {
        let mut ends = Ends::new(self.room);
        for (place, pattern) in (self.first..).zip(self.patterns) {
            if ends.are_too_many() {
                break;
            }
            let mut found = Found {
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
struct Found<'a, 'r> {
    tile: &'a Tile,
    shape: &'a Shape,
    pattern: u32,
    /// No end is before this one.
    least: usize,
    /// What the number of an end is less than its edits.
    edits: i64,
    ends: &'a mut Ends<'r>,
}

impl Found<'_, '_> {
    /// Takes the chunks that have an end in `column`, with the bits of their numbers.
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
                    let edits = (signed(number, at.len(), word, bit) + self.edits) as u32;
                    self.ends.push(End { pattern: self.pattern, end: place as u32 + 1, edits });
                }
            }
        }
    }
}

/// The number of a chunk; its last bit is the sign.
fn signed(number: &[u64], words: usize, word: usize, bit: usize) -> i64 {
    let mut bits = number.chunks_exact(words).map(|bits| (bits[word] >> bit & 1) as i64);
    let sign = bits.next_back().unwrap_or(0);
    let low = bits.rev().fold(0, |value, bit| value << 1 | bit);
    low - (sign << (number.len() / words - 1))
}

/// Bits of a number that is at least `least` and at most `most`.
pub fn width(least: i64, most: i64) -> usize {
    (1..64).find(|bits| -1 << (bits - 1) <= least && most < 1 << (bits - 1)).unwrap_or(64)
}

/// The same number in each chunk.
#[inline(always)]
pub fn constant<S: Bits>(value: i64, width: usize) -> Vec<S::B> {
    let (zero, ones): (S::B, S::B) = (S::B::zeroed(), all_ones());
    (0..width).map(|bit| if value >> bit & 1 == 1 { ones } else { zero }).collect()
}

/// Adds 1 where `plus` is and takes 1 where `minus` is; never both.
#[inline(always)]
pub fn step<S: Bits>(simd: S, number: &mut [S::B], plus: S::B, minus: S::B) {
    let [lowest, rest @ ..] = number else { return };
    let changes = simd.or(plus, minus);
    let mut carry = simd.and(*lowest, changes);
    *lowest = simd.xor(*lowest, changes);
    for bit in rest {
        let sum = simd.xor(simd.xor(*bit, minus), carry);
        carry = simd.majority(*bit, minus, carry);
        *bit = sum;
    }
}

#[inline(always)]
fn with_gaps<S: Bits>(simd: S, found: &mut Found, pattern: &[u8], rule: &Rule) {
    let allowed = rule.edits_of(pattern.len()) as i64;
    let tile = found.tile;
    let rows: Vec<&[S::B]> = pattern.iter().map(|&class| tile.plane(class)).collect();
    // Column 0: D(i,0) = i.
    let mut state: Vec<[S::B; 2]> = vec![[all_ones(), S::B::zeroed()]; pattern.len()];
    let most = pattern.len() as i64 - allowed - 1;
    let mut number = constant::<S>(most, width(-allowed - 1, most));
    let mut before = number.clone();
    found.edits = allowed + 1;
    let own = found.shape.before;
    // A text that is shorter than a hit may be begins with the columns.
    let begin = own.saturating_sub(rule.span_of(pattern.len()) - 1) / COLUMNS * COLUMNS;
    for column in (begin..found.shape.columns).step_by(COLUMNS) {
        let (no_plus, minus) = columns(simd, &rows, &mut state, column);
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

/// Does all rows of some columns; gives `!h+` and `h-` of the last row.
#[inline(always)]
fn columns<S: Bits>(
    simd: S,
    rows: &[&[S::B]],
    state: &mut [[S::B; 2]],
    column: usize,
) -> ([S::B; COLUMNS], [S::B; COLUMNS]) {
    // Row 0: D(0,j) = 0.
    let (mut no_plus, mut minus) = ([all_ones(); COLUMNS], [S::B::zeroed(); COLUMNS]);
    for (row, [v_plus, v_minus]) in rows.iter().zip(state) {
        let (mut above, mut below) = (*v_plus, *v_minus);
        for (k, &matches) in row[column..column + COLUMNS].iter().enumerate() {
            let same = simd.or(simd.or(matches, below), minus[k]);
            let next_no_plus = simd.and_not(simd.or(same, above), below);
            let next_minus = simd.and(same, above);
            above = simd.or(minus[k], simd.and_not(no_plus[k], same));
            below = simd.and_not(same, no_plus[k]);
            (no_plus[k], minus[k]) = (next_no_plus, next_minus);
        }
        (*v_plus, *v_minus) = (above, below);
    }
    (no_plus, minus)
}

#[inline(always)]
fn without_gaps<S: Bits>(simd: S, found: &mut Found, pattern: &[u8], rule: &Rule) {
    let (len, allowed) = (pattern.len(), rule.edits_of(pattern.len()));
    let tile = found.tile;
    if len > tile.end {
        return;
    }
    let rows: Vec<&[S::B]> = pattern.iter().map(|&class| tile.plane(class)).collect();
    // Mismatches less those allowed and one: what is needed of matches, less those there are.
    let most = len as i64 - allowed as i64 - 1;
    let width = width(-(allowed as i64) - 1, most);
    let start = constant::<S>(most, width);
    let mut number = start.clone();
    (found.edits, found.least) = (allowed as i64 + 1, len);
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

/// Sum and carry of three bits.
#[inline(always)]
fn add<S: Bits>(simd: S, a: S::B, b: S::B, c: S::B) -> (S::B, S::B) {
    (simd.xor(simd.xor(a, b), c), simd.majority(a, b, c))
}

/// The three bits of the sum of seven.
#[inline(always)]
fn sum<S: Bits>(simd: S, [a, b, c, d, e, f, g]: [S::B; ADDENDS]) -> [S::B; 3] {
    let (abc, abc_twos) = add(simd, a, b, c);
    let (def, def_twos) = add(simd, d, e, f);
    let (one, ones_twos) = add(simd, abc, def, g);
    let (two, four) = add(simd, abc_twos, def_twos, ones_twos);
    [one, two, four]
}

/// Takes a number of three bits from another, by adding the complement and one.
#[inline(always)]
fn take_away<S: Bits>(simd: S, number: &mut [S::B], bits: [S::B; 3]) {
    let ones: S::B = all_ones();
    let mut carry = ones;
    for (place, bit) in number.iter_mut().enumerate() {
        let minus = if place < bits.len() { simd.and_not(ones, bits[place]) } else { ones };
        let (sum, next) = add(simd, *bit, minus, carry);
        (*bit, carry) = (sum, next);
    }
}
