//! Scans for many patterns with few mismatches and no gaps. With at most `k` mismatches, a pattern is cut into `k + 1`
//! pieces, so every hit contains at least one of them without a mismatch (Wu and Manber 1992). The pieces at all
//! positions of the text are looked up, and the rest of each pattern found is compared.
//!
//! A pattern is one word of its bases' low bits and one of their high bits, so each comparison with a candidate takes a
//! few operations. The candidates of a piece are stored back to back, and the compiler vectorizes the comparison.

use super::room::{EndCapacity, ThreadEnds};
use super::{MatchRule, PatternEnd, sliced};
use crate::engine::cpu::simd::{Bits, InstructionSet, Kernel, Simd};
use crate::patterns::sliced::packed::PackedText;
use crate::patterns::tables::BucketTable;
use crate::terms::casts::{low_u32, to_i32, to_u32, to_usize};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum length of a pattern in bases: the bits of half a word.
const MOST_LETTERS: usize = 32;
/// Maximum number of edits. With one edit a piece has at most 16 bases, whose bits fit in 32.
const MOST_EDITS: usize = 3;
/// Minimum length of a piece in bases.
const FEWEST_LETTERS: usize = 4;
/// Positions that a thread processes per task.
const STRETCH: usize = 1 << 14;
/// Positions per batch.
const BATCH: usize = 128;
/// Patterns compared per step.
const RUN: usize = 16;
/// Minimum and maximum number of hash bits.
const FEWEST_BITS: u32 = 8;
const MOST_BITS: u32 = 22;

/// Approximate nanoseconds on one core: for looking up a piece at a position, and for comparing a candidate pattern.
const OF_PIECE: f64 = 10.0;
const OF_PATTERN: f64 = 0.4;
/// Bytes of a pattern for each of its pieces: 8 for its bases and 4 for its number.
pub const BYTES: usize = 12;

/// Patterns of one length, indexed by their pieces.
#[derive(Debug)]
struct PieceIndex {
    len: usize,
    tables: Vec<PieceTable>,
}

/// Patterns indexed by one piece.
#[derive(Debug)]
struct PieceTable {
    key: PieceKey,
    /// The patterns, by the hash of the piece.
    patterns: BucketTable<u32>,
    /// The words of these patterns.
    words: Vec<u64>,
}

/// A piece of the words of patterns.
#[derive(Debug)]
struct PieceKey {
    /// Interval of the piece in the patterns.
    piece: Range<usize>,
    /// Right shift of the hash; `None` if the table is indexed by the piece itself.
    shift: Option<u32>,
}

/// Patterns indexed by their pieces, for a number of edits.
#[derive(Debug)]
pub struct PatternPieces {
    edits: usize,
    cuts: Vec<PieceIndex>,
    /// Number of all patterns, and the patterns that are in no table.
    count: usize,
    pub others: Vec<u32>,
}

/// The word of a pattern without ambiguous bases: the low bits below the high bits.
fn word_of(classes: &[u8]) -> Option<u64> {
    let bases = || {
        classes.iter().map(|class| (class.is_power_of_two() && *class < 16).then(|| class.trailing_zeros()))
    };
    let mut word = 0;
    for (at, base) in bases().enumerate() {
        let base = u64::from(base?);
        word |= (base & 1) << at | (base >> 1) << (MOST_LETTERS + at);
    }
    Some(word)
}

/// Whether patterns can be looked up under this rule.
pub fn takes(rule: &MatchRule) -> bool {
    !rule.indels && (1..=to_u32(MOST_EDITS)).contains(&rule.max_edits)
}

/// Whether patterns of this length can be cut into pieces.
fn fits(len: usize, edits: usize) -> bool {
    len <= MOST_LETTERS && len / (edits + 1) >= FEWEST_LETTERS
}

/// Cost of a text position with `count` patterns of a length: looking the patterns up, and sweeping them.
fn costs(set: InstructionSet, count: usize, len: usize, edits: usize) -> (f64, f64) {
    let pieces = (edits + 1) as f64;
    // Expected number of candidates per piece in a random text.
    let named = count as f64 / 4f64.powi(to_i32(len / (edits + 1)));
    (pieces * (OF_PIECE + named * OF_PATTERN), sliced::cost(set, count * len))
}

/// The lengths whose patterns are looked up rather than swept.
fn lengths(set: InstructionSet, patterns: &[Vec<u8>], rule: &MatchRule) -> [bool; MOST_LETTERS + 1] {
    let edits = rule.max_edits as usize;
    let mut counts = [0; MOST_LETTERS + 1];
    if !takes(rule) {
        return [false; MOST_LETTERS + 1];
    }
    for pattern in patterns.iter().filter(|pattern| fits(pattern.len(), edits)) {
        counts[pattern.len()] += 1;
    }
    let mut length = 0;
    counts.map(|count| {
        let (looked_up, swept) = costs(set, count, length, edits);
        length += 1;
        looked_up < swept
    })
}

/// Whether nearly all patterns would be looked up.
pub fn pays(set: InstructionSet, patterns: &[Vec<u8>], rule: &MatchRule) -> bool {
    let lengths = lengths(set, patterns, rule);
    let looked_up =
        |pattern: &&Vec<u8>| lengths.get(pattern.len()) == Some(&true) && word_of(pattern).is_some();
    let swept = patterns.len() - patterns.iter().filter(looked_up).count();
    swept * 64 < patterns.len()
}

impl PatternPieces {
    /// Indexes the patterns that cost less to look up, or with `all` every pattern that can be looked up; `None` if
    /// there are none. The rule must satisfy [`takes`].
    pub fn new(
        set: InstructionSet,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        all: bool,
    ) -> Option<PatternPieces> {
        let edits = rule.max_edits as usize;
        let lengths = match all && takes(rule) {
            true => std::array::from_fn(|len| fits(len, edits)),
            false => lengths(set, patterns, rule),
        };
        let mut own: Vec<Vec<(u64, u32)>> = vec![Vec::new(); MOST_LETTERS + 1];
        let mut others = Vec::new();
        for (number, pattern) in (0..).zip(patterns) {
            let word = (lengths.get(pattern.len()) == Some(&true)).then(|| word_of(pattern)).flatten();
            match word {
                Some(word) => own[pattern.len()].push((word, number)),
                None => others.push(number),
            }
        }
        let cuts = own.iter().enumerate().filter(|(_, words)| !words.is_empty());
        let cuts: Vec<PieceIndex> = cuts.map(|(len, words)| PieceIndex::new(len, words, edits)).collect();
        (!cuts.is_empty()).then_some(PatternPieces { edits, cuts, count: patterns.len(), others })
    }

    /// Whether this index was built from these patterns and this number of edits.
    pub fn is_of(&self, patterns: &[Vec<u8>], rule: &MatchRule) -> bool {
        let is_same = |cut: &PieceIndex| {
            let table = &cut.tables[0];
            table.words.par_iter().zip(&table.patterns.entries).all(|(&word, &number)| {
                let pattern = &patterns[number as usize];
                pattern.len() == cut.len && word_of(pattern) == Some(word)
            })
        };
        // Patterns in no table are read from the patterns of the call.
        self.count == patterns.len() && self.edits == rule.max_edits as usize && self.cuts.iter().all(is_same)
    }

    /// The ends of all indexed patterns, in any order.
    pub fn scan(&self, set: InstructionSet, text: &PackedText, room: &EndCapacity) -> Vec<PatternEnd> {
        let stretches = text.len().div_ceil(STRETCH);
        let look = |(cut, stretch): (&PieceIndex, usize)| {
            set.run(PieceLookup { cut, edits: self.edits, text, first: stretch * STRETCH, room })
        };
        let all =
            self.cuts.par_iter().flat_map(|cut| (0..stretches).into_par_iter().map(move |at| (cut, at)));
        all.flat_map_iter(look).collect()
    }
}

impl PieceIndex {
    fn new(len: usize, words: &[(u64, u32)], edits: usize) -> PieceIndex {
        let pieces = (0..=edits).map(|piece| piece * len / (edits + 1)..(piece + 1) * len / (edits + 1));
        PieceIndex { len, tables: pieces.map(|piece| PieceTable::new(piece, words)).collect() }
    }
}

impl PieceTable {
    fn new(piece: Range<usize>, words: &[(u64, u32)]) -> PieceTable {
        let wanted = (2 * words.len()).next_power_of_two().ilog2().clamp(FEWEST_BITS, MOST_BITS);
        let letters = to_u32(piece.len());
        let key = PieceKey { piece, shift: (wanted < 2 * letters).then(|| u32::BITS - wanted) };
        let mut patterns = BucketTable::new(1 << wanted.min(2 * letters), |call| {
            (0..).zip(words).for_each(|(at, &(word, _))| call(key.hash(word), at));
        });
        let (sorted, numbers) = patterns.entries.iter().map(|&at: &u32| words[at as usize]).unzip();
        patterns.entries = numbers;
        PieceTable { key, patterns, words: sorted }
    }
}

impl PieceKey {
    /// Mask of the piece in a word of bases.
    #[inline(always)]
    fn mask(&self) -> u32 {
        (u32::MAX >> (MOST_LETTERS - self.piece.len())) << self.piece.start
    }

    /// Index of the patterns that share the piece of a word; other patterns may have the same index.
    #[inline(always)]
    fn hash(&self, word: u64) -> usize {
        let mask = u64::from(self.mask());
        let piece = (word & mask) >> self.piece.start
            | (word >> MOST_LETTERS & mask) >> self.piece.start << self.piece.len();
        match self.shift {
            Some(shift) => (low_u32(piece).wrapping_mul(0x9e37_79b1) >> shift) as usize,
            None => to_usize(piece),
        }
    }
}

/// Looks up the pieces at the positions of a stretch.
struct PieceLookup<'a> {
    cut: &'a PieceIndex,
    edits: usize,
    text: &'a PackedText,
    first: usize,
    room: &'a EndCapacity,
}

impl Kernel for PieceLookup<'_> {
    type Output = Vec<PatternEnd>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<PatternEnd> {
        match self.edits {
            1 => self.within::<1, S>(simd),
            2 => self.within::<2, S>(simd),
            _ => self.within::<3, S>(simd),
        }
    }
}

impl PieceLookup<'_> {
    #[inline(always)]
    fn within<const EDITS: usize, S: Bits>(self, simd: S) -> Vec<PatternEnd> {
        let PieceLookup { cut, text, first, room, .. } = self;
        let mut ends = ThreadEnds::new(room);
        let places = (text.len() + 1).saturating_sub(first + cut.len).min(STRETCH);
        if ends.are_too_many() || places == 0 {
            return Vec::new();
        }
        let all = u32::MAX >> (MOST_LETTERS - cut.len);
        let mut near: [(u64, u32, Range<usize>); BATCH] = std::array::from_fn(|_| (0, 0, 0..0));
        for (number, table) in cut.tables.iter().enumerate() {
            let (mask, before) = (table.key.mask(), &cut.tables[..number]);
            for begin in (0..places).step_by(BATCH) {
                let batch = begin..places.min(begin + BATCH);
                for (at, named) in batch.clone().zip(&mut near) {
                    let window = text.window(first + at);
                    let word = window.low & u64::from(u32::MAX) | window.high << MOST_LETTERS;
                    let other = low_u32(window.other) & all;
                    let mut bucket = table.patterns.range(table.key.hash(word));
                    // No pattern has a piece with a character that is no base.
                    bucket.end = if other & mask == 0 { bucket.end } else { bucket.start };
                    simd.prefetch(bytemuck::cast_slice(&table.words[bucket.clone()]));
                    *named = (word, other, bucket);
                }
                for (at, (word, other, named)) in batch.zip(&near) {
                    let differ = |own: u64| {
                        let differ = own ^ word;
                        low_u32(differ | differ >> MOST_LETTERS) & all | other
                    };
                    let mut found = |place: usize| {
                        let differ = differ(table.words[place]);
                        // If several pieces have no mismatch, only the first reports the hit.
                        let is_first =
                            differ & mask == 0 && before.iter().all(|table| differ & table.key.mask() != 0);
                        if is_first && differ.count_ones() as usize <= EDITS {
                            let end = to_u32(first + at + cut.len);
                            ends.push(PatternEnd {
                                pattern: table.patterns.entries[place],
                                end,
                                edits: differ.count_ones(),
                            });
                        }
                    };
                    let (runs, rest) = table.words[named.clone()].as_chunks::<RUN>();
                    for (run, words) in runs.iter().enumerate() {
                        let more = words.map(|word| {
                            let mut differ = differ(word);
                            for _ in 0..EDITS {
                                differ &= differ.wrapping_sub(1);
                            }
                            differ
                        });
                        if more.iter().fold(false, |any, &more| any | (more == 0)) {
                            (0..RUN).for_each(|k| found(named.start + run * RUN + k));
                        }
                    }
                    (named.end - rest.len()..named.end).for_each(&mut found);
                }
                if ends.are_too_many() {
                    return ends.finish();
                }
            }
        }
        ends.finish()
    }
}
