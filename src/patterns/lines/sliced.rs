//! Finds ends with bit-sliced vectors: the text is cut into as many chunks as a vector has bits, and each bit operation
//! computes the same cell of every chunk.
//!
//! The bits of the bytes are gathered chunk by chunk in blocks of 64 bytes, and then transposed in blocks of 64
//! columns. The result is one vector for each column and each bit of a byte, with one bit per chunk. The planes of the
//! classes are computed from these vectors, and patterns are swept over the planes (`sweep.rs`). The ends are
//! transposed back, so that they come in text order.
//!
//! Chunks overlap by the length of the longest possible hit less one byte, so that every end is found. Each chunk
//! starts as if at the beginning of a line. An end found in its overlap is therefore a true end, which the previous
//! chunk also finds. Newlines pad the text on both sides.

use super::cubes::{BITS, Cube, cubes};
use super::pattern::{ByteClass, GrepPattern};
use super::select::{self, LineCollector, Span};
use super::sweep::PatternState;
use super::{NEWLINE, plain};
use crate::engine::cpu::simd::{Bits, InstructionSet, Kernel, Simd};
use crate::patterns::search::MatchRule;
use crate::patterns::sliced::chunks::TextDivision;
use crate::patterns::sliced::transpose::{BLOCK, all_ones, splat, transpose_rows};
use bytemuck::{Zeroable, cast_slice};
use std::array::from_fn;
use std::sync::{Mutex, PoisonError};

/// Prefetch distance in bytes.
const AHEAD: usize = 4096;
/// Index of the newline among the planes.
const NEWLINES: usize = 0;

/// Finds matching lines.
#[derive(Debug)]
pub struct SlicedLineScan {
    set: InstructionSet,
    rule: MatchRule,
    /// For each class that occurs, the newline first, the cubes that cover its bytes.
    planes: Vec<Vec<Cube>>,
    /// For each pattern, the indices of its planes.
    patterns: Vec<Vec<usize>>,
    /// Some pattern matches the empty substring, and therefore every line.
    every: bool,
    /// Maximum length of a hit less one, in bytes.
    before: usize,
    /// Bytes per chunk without its overlap; `None` chooses by the text length.
    chunk: Option<usize>,
    /// Buffers to reuse.
    spare: Mutex<Vec<TileBits>>,
}

/// The bits of a tile before they are transposed, and its ends after they are transposed back.
#[derive(Debug, Default)]
struct TileBits {
    /// Indexed by group of chunks that share a vector's row, then block, then bit of a byte, then chunk of the group.
    bits: Vec<u64>,
    /// Indexed by chunk, then block.
    ends: Vec<u64>,
}

impl SlicedLineScan {
    pub fn new(set: InstructionSet, patterns: &[GrepPattern], rule: MatchRule) -> SlicedLineScan {
        let mut classes: Vec<ByteClass> =
            patterns.iter().flat_map(|pattern| pattern.classes.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let place = |class: &ByteClass| classes.binary_search(class).unwrap_or(0) + NEWLINES + 1;
        let newline = vec![Cube { care: u8::MAX, value: NEWLINE }];
        let before =
            patterns.iter().map(|pattern| rule.span_of(pattern.classes.len()).saturating_sub(1)).max();
        SlicedLineScan {
            set,
            rule,
            planes: [newline].into_iter().chain(classes.iter().map(|&class| cubes(class))).collect(),
            patterns: patterns.iter().map(|pattern| pattern.classes.iter().map(place).collect()).collect(),
            every: patterns.iter().any(|pattern| plain::matches(b"", &pattern.classes, &rule)),
            before: before.unwrap_or(0),
            chunk: None,
            spare: Mutex::default(),
        }
    }

    /// Sets the chunk length, to test chunk boundaries.
    pub fn with_chunks(self, chunk: usize) -> SlicedLineScan {
        SlicedLineScan { chunk: Some(chunk), ..self }
    }

    /// The matching lines of `text`, in order.
    pub fn lines(&self, text: &[u8]) -> Vec<Span> {
        if self.every {
            return select::every(text);
        }
        let mut finder = LineCollector::new(text);
        if !self.patterns.is_empty() {
            let shape = TextDivision::new(self.set.lanes(1) * 8, self.before, text.len(), self.chunk);
            let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let mut words = spare().pop().unwrap_or_default();
            for first in (0..text.len()).step_by(shape.letters()) {
                let tile = TileScan { scan: self, words: &mut words, shape: &shape, text, first };
                if self.set.run(tile) {
                    words.places(&shape, first).for_each(|place| finder.take(place));
                }
            }
            spare().push(words);
        }
        finder.lines()
    }
}

impl TileBits {
    /// Offset of the words of a group.
    #[inline(always)]
    fn place(shape: &TextDivision, group: usize, block: usize, bit: usize) -> usize {
        ((group * (shape.columns / BLOCK) + block) * BITS + bit) * (shape.lanes / BLOCK)
    }

    /// Positions of the ends, chunk by chunk.
    fn places(&self, shape: &TextDivision, first: usize) -> impl Iterator<Item = usize> {
        let blocks = shape.columns / BLOCK;
        let (chunk, before) = (shape.chunk, shape.before);
        self.ends.iter().enumerate().flat_map(move |(word, &ends)| {
            let column = first + word / blocks * chunk + word % blocks * BLOCK;
            let next = |rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(ends).filter(|&ends| ends != 0), next)
                .map(move |rest| column + rest.trailing_zeros() as usize - before)
        })
    }
}

/// Scans one tile, and returns whether anything ends in it.
struct TileScan<'a> {
    scan: &'a SlicedLineScan,
    words: &'a mut TileBits,
    shape: &'a TextDivision,
    text: &'a [u8],
    first: usize,
}

impl Kernel for TileScan<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> bool {
        self.gather(simd);
        let scan = self.scan;
        let mut states: Vec<PatternState<S>> =
            scan.patterns.iter().map(|pattern| PatternState::new(pattern.len(), &scan.rule)).collect();
        let mut planes = vec![[S::B::zeroed(); BLOCK]; scan.planes.len()];
        // One extra row, for bits that do not matter.
        let mut bits = [[all_ones::<S::B>(); BLOCK]; BITS + 1];
        let mut found = false;
        for block in 0..self.shape.columns / BLOCK {
            self.transpose(simd, block, &mut bits);
            scan.planes.iter().zip(&mut planes).for_each(|(cubes, plane)| union(simd, cubes, &bits, plane));
            let mut ends = [S::B::zeroed(); BLOCK];
            for (pattern, state) in scan.patterns.iter().zip(&mut states) {
                state.sweep(simd, pattern, &planes, &planes[NEWLINES], &mut ends);
            }
            if any(simd, &ends) {
                if !found {
                    found = true;
                    self.words.ends.clear();
                    self.words.ends.resize(self.shape.columns / BLOCK * self.shape.lanes, 0);
                }
                self.put_ends(simd, block, &mut ends);
            }
        }
        found
    }
}

impl TileScan<'_> {
    /// Gathers the bits of the bytes, chunk by chunk.
    #[inline(always)]
    fn gather<S: Bits>(&mut self, simd: S) {
        let TileScan { words, shape, text, first, .. } = self;
        let (blocks, group) = (shape.columns / BLOCK, shape.lanes / BLOCK);
        words.bits.resize(blocks * shape.lanes * BITS, 0);
        for chunk in 0..shape.lanes {
            // Start of a chunk, less `before`.
            let start = *first + chunk * shape.chunk;
            let inside =
                start.checked_sub(shape.before).and_then(|from| text.get(from..from + shape.columns));
            let ahead = text.get(start + AHEAD..).unwrap_or_default();
            for block in 0..blocks {
                let at = TileBits::place(shape, chunk / group, block, 0) + chunk % group;
                let out = &mut words.bits[at..][..(BITS - 1) * group + 1];
                match inside.and_then(|letters| letters[block * BLOCK..].first_chunk::<BLOCK>()) {
                    Some(letters) => {
                        simd.prefetch(ahead.get(block * BLOCK..).unwrap_or_default());
                        put(simd, letters, out, group);
                    }
                    None => {
                        let letter = |column: usize| {
                            let place = (start + block * BLOCK + column).checked_sub(shape.before);
                            place.and_then(|place| text.get(place)).copied().unwrap_or(NEWLINE)
                        };
                        put(simd, &from_fn(letter), out, group);
                    }
                }
            }
        }
    }

    /// Transposes the words of a block.
    #[inline(always)]
    fn transpose<S: Bits>(&self, simd: S, block: usize, bits: &mut [[S::B; BLOCK]; BITS + 1]) {
        let words = self.shape.lanes / BLOCK;
        for (bit, rows) in bits[..BITS].iter_mut().enumerate() {
            for (group, row) in rows.iter_mut().enumerate() {
                let begin = TileBits::place(self.shape, group, block, bit);
                *row = bytemuck::pod_read_unaligned(cast_slice(&self.words.bits[begin..begin + words]));
            }
            transpose_rows(simd, rows);
        }
    }

    /// Transposes the ends of a block back.
    #[inline(always)]
    fn put_ends<S: Bits>(&mut self, simd: S, block: usize, ends: &mut [S::B; BLOCK]) {
        transpose_rows(simd, ends);
        let blocks = self.shape.columns / BLOCK;
        // A row contains the words of the chunks of a group.
        for (chunk, &word) in cast_slice::<S::B, u64>(&ends[..]).iter().enumerate() {
            self.words.ends[chunk * blocks + block] = word;
        }
    }
}

#[inline(always)]
fn any<S: Bits>(simd: S, vectors: &[S::B]) -> bool {
    simd.any(vectors.iter().fold(S::B::zeroed(), |any, &vector| simd.or(any, vector)))
}

/// Stores the bits of 64 bytes, one word per bit position, `step` words apart.
#[inline(always)]
fn put<S: Bits>(simd: S, letters: &[u8; BLOCK], words: &mut [u64], step: usize) {
    words[0] = simd.bits_of::<0>(letters);
    words[step] = simd.bits_of::<1>(letters);
    words[2 * step] = simd.bits_of::<2>(letters);
    words[3 * step] = simd.bits_of::<3>(letters);
    words[4 * step] = simd.bits_of::<4>(letters);
    words[5 * step] = simd.bits_of::<5>(letters);
    words[6 * step] = simd.bits_of::<6>(letters);
    words[7 * step] = simd.bits_of::<7>(letters);
}

/// Computes the plane of a class: the union of its cubes.
#[inline(always)]
fn union<S: Bits>(simd: S, cubes: &[Cube], bits: &[[S::B; BLOCK]; BITS + 1], plane: &mut [S::B; BLOCK]) {
    for (place, cube) in cubes.iter().enumerate() {
        // A bit that does not matter is read from the last row, which is all ones.
        let row = |bit: usize| &bits[if cube.care >> bit & 1 == 1 { bit } else { BITS }];
        let flip =
            |bit: usize| splat::<S::B>(if (cube.care & !cube.value) >> bit & 1 == 1 { u64::MAX } else { 0 });
        let (rows, flips): ([&[S::B; BLOCK]; BITS], [S::B; BITS]) = (from_fn(row), from_fn(flip));
        for k in 0..BLOCK {
            let mut has = simd.xor(rows[0][k], flips[0]);
            for bit in 1..BITS {
                has = simd.and(has, simd.xor(rows[bit][k], flips[bit]));
            }
            plane[k] = if place == 0 { has } else { simd.or(plane[k], has) };
        }
    }
}
