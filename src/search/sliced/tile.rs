//! A stretch of text, turned: a vector for each place in the chunks, with a bit for each chunk.
//!
//! First the bits of the codes are gathered, 64 letters of a chunk in a word, as the text has them packed or, where
//! letters are no bases, from the codes; then blocks of 64 words are
//! transposed, as many side by side as a vector has words.

use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::search::NOTHING;
use crate::search::codes::Codes;
use crate::search::pattern::{ANY, CLASSES};
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use std::array::from_fn;

/// Letters of a chunk of a long text: with this, planes of all bases stay in a core's second cache.
const CHUNK: usize = 2048;
/// The overlap's share of a chunk is at most one in so many.
const OVERLAP: usize = 4;
/// Columns that are turned at a time: bits of a word.
pub const BLOCK: usize = 64;
/// Bits of a code: two of a base, one of [`crate::search::OTHER`], one of [`NOTHING`].
const CODE_BITS: usize = 4;
const BASE_BITS: usize = 2;

/// As many bytes as the longest vector has, and aligned like it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line([u64; 8]);

/// How a tile lies over the text.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Chunks of a tile: bits of a vector.
    pub lanes: usize,
    /// Letters of a chunk.
    pub chunk: usize,
    /// Columns in front of each chunk: at least the overlap.
    pub before: usize,
    /// All columns.
    pub columns: usize,
}

impl Shape {
    /// For a text of `len` letters, with `before` letters of overlap at least. Where nothing else is asked for, each
    /// chunk begins where words of the text do.
    pub fn new(lanes: usize, before: usize, len: usize, chunk: Option<usize>) -> Shape {
        let longest = CHUNK.max(OVERLAP * before);
        let (chunk, columns) = match chunk {
            Some(chunk) => (chunk, (before + chunk).next_multiple_of(BLOCK)),
            None => {
                let before = before.next_multiple_of(BLOCK);
                // Tiles of one length: a short last one would take as long as the others.
                let tiles = len.div_ceil(lanes * longest).max(1);
                let chunk = len.div_ceil(lanes * tiles).clamp(BLOCK.max(before), longest);
                let chunk = chunk.next_multiple_of(BLOCK);
                (chunk, before + chunk)
            }
        };
        Shape { lanes, chunk, before: columns - chunk, columns }
    }

    /// Letters of a whole tile.
    pub fn letters(&self) -> usize {
        self.lanes * self.chunk
    }

    /// The chunk that a bit stands for: word by word first, then bit by bit.
    pub fn chunk_of(&self, word: usize, bit: usize) -> usize {
        bit * (self.lanes / BLOCK) + word
    }
}

/// The planes of a stretch of text. A plane has a vector for each column.
#[derive(Debug, Default)]
pub struct Tile {
    /// Of the four bases.
    bases: [Vec<Line>; 4],
    /// By class, of those that are no single base; empty where no pattern has it.
    planes: Vec<Vec<Line>>,
    /// Where the first chunk begins in the text, and where the text ends.
    pub first: usize,
    pub end: usize,
    words: Words,
}

/// The bits of codes before they are turned.
#[derive(Debug, Default)]
struct Words {
    /// For each group of chunks that share a vector's row, for each block, a word for each chunk of the
    /// group: its letters' bits of one place. So what is stored one after the other lies close together.
    bits: [Vec<u64>; CODE_BITS],
    /// Chunks of a group: words of a vector.
    group: usize,
    /// Whether a block has letters that are no base; else only the bits of bases are true.
    rare: Vec<bool>,
}

impl Tile {
    /// The plane of a class that was asked for.
    #[inline(always)]
    pub fn plane<B: Pod>(&self, class: u8) -> &[B] {
        match class {
            1 | 2 | 4 | 8 => cast_slice(&self.bases[class.trailing_zeros() as usize]),
            _ => cast_slice(&self.planes[usize::from(class)]),
        }
    }
}

/// Fills a tile.
pub struct Fill<'a> {
    pub tile: &'a mut Tile,
    pub shape: &'a Shape,
    pub text: &'a Codes,
    pub first: usize,
    /// The classes wanted, as bits.
    pub classes: u32,
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Fill { tile, shape, text, first, classes } = self;
        (tile.first, tile.end) = (first, text.len());
        let lines = shape.columns * size_of::<S::B>() / size_of::<Line>();
        tile.planes.resize(CLASSES, Vec::new());
        tile.bases.iter_mut().for_each(|plane| plane.resize(lines, Line::zeroed()));
        for (class, plane) in tile.planes.iter_mut().enumerate() {
            plane.resize(if classes >> class & 1 == 1 { lines } else { 0 }, Line::zeroed());
        }
        gather(simd, &mut tile.words, shape, text, first);
        turn(simd, tile, shape, classes);
    }
}

impl Words {
    fn reset(&mut self, shape: &Shape) {
        let blocks = shape.columns / BLOCK;
        self.group = shape.lanes / BLOCK;
        self.bits.iter_mut().for_each(|bits| bits.resize(blocks * shape.lanes, 0));
        self.rare.clear();
        self.rare.resize(blocks, false);
    }

    /// Where the words of a group begin.
    #[inline(always)]
    fn place(&self, group: usize, block: usize) -> usize {
        (group * self.rare.len() + block) * self.group
    }

    #[inline(always)]
    fn put<S: Bits>(&mut self, simd: S, block: usize, chunk: usize, letters: &[u8; BLOCK]) {
        let at = self.place(chunk / self.group, block) + chunk % self.group;
        self.bits[0][at] = simd.bits_of::<0>(letters);
        self.bits[1][at] = simd.bits_of::<1>(letters);
        // Letters that are nothing have this bit too.
        let others = simd.bits_of::<2>(letters);
        if others != 0 {
            self.put_rare(block, at, others, simd.bits_of::<3>(letters));
        }
    }

    /// The words of a chunk of bases.
    #[inline(always)]
    fn put_packed(&mut self, chunk: usize, (low, high): (&[u64], &[u64])) {
        let at = self.place(chunk / self.group, 0) + chunk % self.group;
        let end = self.place(chunk / self.group + 1, 0);
        let [lows, highs, ..] = &mut self.bits;
        let lows = lows[at..end].chunks_mut(self.group);
        let highs = highs[at..end].chunks_mut(self.group);
        for ((lows, highs), (&low, &high)) in lows.zip(highs).zip(low.iter().zip(high)) {
            (lows[0], highs[0]) = (low, high);
        }
    }

    #[cold]
    fn put_rare(&mut self, block: usize, at: usize, others: u64, nothings: u64) {
        if !self.rare[block] {
            self.rare[block] = true;
            for group in 0..BLOCK {
                let begin = self.place(group, block);
                for bits in &mut self.bits[BASE_BITS..] {
                    bits[begin..begin + self.group].fill(0);
                }
            }
        }
        self.bits[2][at] = others;
        self.bits[3][at] = nothings;
    }
}

/// Gathers the bits of the codes, chunk by chunk.
#[inline(always)]
fn gather<S: Bits>(simd: S, words: &mut Words, shape: &Shape, text: &Codes, first: usize) {
    words.reset(shape);
    for chunk in 0..shape.lanes {
        let start = first + chunk * shape.chunk;
        let from = start.checked_sub(shape.before).filter(|from| from + shape.columns <= text.len());
        if let Some(from) = from {
            let own = from..from + shape.columns;
            if let Some(packed) = text.words(own.clone()) {
                words.put_packed(chunk, packed);
                continue;
            }
            for (block, letters) in text[own].as_chunks::<BLOCK>().0.iter().enumerate() {
                words.put(simd, block, chunk, letters);
            }
            continue;
        }
        let is_behind = start >= text.len() + shape.before;
        for block in 0..shape.columns / BLOCK {
            let letter = |column: usize| {
                let place = (start + block * BLOCK + column).checked_sub(shape.before);
                place.and_then(|place| text.get(place)).copied().unwrap_or(NOTHING)
            };
            let letters = if is_behind { [NOTHING; BLOCK] } else { from_fn(letter) };
            words.put(simd, block, chunk, &letters);
        }
    }
}

/// Transposes the words of each block, and makes the planes of them.
#[inline(always)]
fn turn<S: Bits>(simd: S, tile: &mut Tile, shape: &Shape, classes: u32) {
    let ones: S::B = all_ones();
    let mut bits = [[S::B::zeroed(); BLOCK]; CODE_BITS];
    for block in 0..shape.columns / BLOCK {
        let used = if tile.words.rare[block] { CODE_BITS } else { BASE_BITS };
        for (bit, rows) in bits.iter_mut().enumerate() {
            match bit < used {
                true => transpose(simd, &tile.words, bit, block, rows),
                false => rows.fill(S::B::zeroed()),
            }
        }
        let [low, high, other, nothing] = &bits;
        let columns = block * BLOCK..(block + 1) * BLOCK;
        let [a, c, g, t] = &mut tile.bases;
        let [a, c, g, t]: [&mut [S::B]; 4] = [
            &mut cast_slice_mut(a)[columns.clone()],
            &mut cast_slice_mut(c)[columns.clone()],
            &mut cast_slice_mut(g)[columns.clone()],
            &mut cast_slice_mut(t)[columns.clone()],
        ];
        for k in 0..BLOCK {
            let (odd, base) = (simd.and_not(low[k], other[k]), simd.and_not(ones, other[k]));
            let even = simd.and_not(base, low[k]);
            a[k] = simd.and_not(even, high[k]);
            c[k] = simd.and_not(odd, high[k]);
            g[k] = simd.and(even, high[k]);
            t[k] = simd.and(odd, high[k]);
        }
        for class in (1..CLASSES).filter(|class| (classes >> class) & 1 == 1 && !class.is_power_of_two()) {
            let plane: &mut [S::B] = cast_slice_mut(&mut tile.planes[class]);
            let plane = &mut plane[columns.clone()];
            if class == usize::from(ANY) {
                for (out, &nothing) in plane.iter_mut().zip(nothing) {
                    *out = simd.and_not(ones, nothing);
                }
                continue;
            }
            plane.fill(S::B::zeroed());
            let bases: [&[S::B]; 4] = [a, c, g, t];
            for (_, column) in bases.into_iter().enumerate().filter(|(base, _)| class >> base & 1 == 1) {
                for (out, &column) in plane.iter_mut().zip(column) {
                    *out = simd.or(*out, column);
                }
            }
        }
    }
}

/// Makes 64 rows of bits columns, as many blocks side by side as a vector has words (Warren 2012, 7-3).
#[inline(always)]
fn transpose<S: Bits>(simd: S, words: &Words, bit: usize, block: usize, rows: &mut [S::B; BLOCK]) {
    for (group, row) in rows.iter_mut().enumerate() {
        let begin = words.place(group, block);
        *row = bytemuck::pod_read_unaligned(cast_slice(&words.bits[bit][begin..begin + words.group]));
    }
    turn_rows(simd, rows);
}

/// Makes 64 rows columns, in each block of 64 bits; twice gives the rows again.
#[inline(always)]
pub fn turn_rows<S: Bits>(simd: S, rows: &mut [S::B; BLOCK]) {
    exchange(simd, rows, 32, 0x0000_0000_ffff_ffff);
    exchange(simd, rows, 16, 0x0000_ffff_0000_ffff);
    exchange(simd, rows, 8, 0x00ff_00ff_00ff_00ff);
    exchange(simd, rows, 4, 0x0f0f_0f0f_0f0f_0f0f);
    exchange(simd, rows, 2, 0x3333_3333_3333_3333);
    exchange(simd, rows, 1, 0x5555_5555_5555_5555);
}

/// Exchanges the upper bits of each upper row with the lower bits of the row `step` below it.
#[inline(always)]
fn exchange<S: Bits>(simd: S, rows: &mut [S::B; BLOCK], step: usize, lower: u64) {
    let lower: S::B = splat(lower);
    for first in (0..BLOCK).step_by(2 * step) {
        for k in first..first + step {
            let (a, b) = (rows[k], rows[k + step]);
            let differ = simd.and(simd.xor(simd.shift_down(a, step as u32), b), lower);
            rows[k + step] = simd.xor(b, differ);
            rows[k] = simd.xor(a, simd.shift_up(differ, step as u32));
        }
    }
}

/// A vector of the same words.
#[inline(always)]
pub fn splat<B: Pod>(word: u64) -> B {
    let line = Line([word; 8]);
    cast_slice(&[line])[0]
}

#[inline(always)]
pub fn all_ones<B: Pod>() -> B {
    splat(u64::MAX)
}
