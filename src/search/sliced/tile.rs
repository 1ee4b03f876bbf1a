//! A stretch of text, turned: a vector for each place in the chunks, with a bit for each chunk.
//!
//! First the bits of the codes are gathered, 64 letters of a chunk in a word; then blocks of 64 words are
//! transposed, as many side by side as a vector has words.

use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::search::NOTHING;
use crate::search::pattern::{ANY, CLASSES};
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

/// Letters of a chunk of a long text: with this, planes of all bases stay in a core's second cache.
const CHUNK: usize = 2048;
/// The overlap's share of a chunk is at most one in so many.
const OVERLAP: usize = 4;
/// Columns that are turned at a time: bits of a word.
pub const BLOCK: usize = 64;
/// Bits of a code: two of a base, one of [`crate::search::OTHER`], one of [`NOTHING`].
const CODE_BITS: usize = 4;
/// Words between the blocks' rows, so that they don't fall on the same lines of the cache.
const PAD: usize = 8;

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
    /// For a text of `len` letters, with `before` letters of overlap at least.
    pub fn new(lanes: usize, before: usize, len: usize, chunk: Option<usize>) -> Shape {
        let longest = CHUNK.max(OVERLAP * before);
        let columns = |chunk: usize| (before + chunk).next_multiple_of(BLOCK);
        let (chunk, columns) = match chunk {
            Some(chunk) => (chunk, columns(chunk)),
            None => {
                let columns = columns(len.div_ceil(lanes).clamp(BLOCK.max(before), longest));
                (columns - before, columns)
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
    /// By class; empty where no pattern has it.
    planes: Vec<Vec<Line>>,
    /// Where the first chunk begins in the text, and where the text ends.
    pub first: usize,
    pub end: usize,
    /// The bits of the codes before they are turned.
    words: [Vec<u64>; CODE_BITS],
}

impl Tile {
    /// The plane of a class that was asked for.
    #[inline(always)]
    pub fn plane<B: Pod>(&self, class: u8) -> &[B] {
        cast_slice(&self.planes[usize::from(class)])
    }
}

/// Fills a tile.
pub struct Fill<'a> {
    pub tile: &'a mut Tile,
    pub shape: &'a Shape,
    pub text: &'a [u8],
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
        tile.planes.resize(CLASSES, Vec::new());
        let lines = shape.columns * size_of::<S::B>() / size_of::<Line>();
        let (needed, stride) = (classes | 0b1_0001_0110, shape.lanes + PAD);
        for (class, plane) in tile.planes.iter_mut().enumerate() {
            plane.resize(if needed >> class & 1 == 1 { lines } else { 0 }, Line::zeroed());
        }
        for words in &mut tile.words {
            words.resize(shape.columns / BLOCK * stride, 0);
        }
        gather(simd, &mut tile.words, shape, stride, text, first);
        turn(simd, tile, shape, stride, classes);
    }
}

/// Gathers the bits of the codes, chunk by chunk.
#[inline(always)]
fn gather<S: Bits>(
    simd: S,
    words: &mut [Vec<u64>; CODE_BITS],
    shape: &Shape,
    stride: usize,
    text: &[u8],
    first: usize,
) {
    let [zeros, ones, others, nothings] = words;
    let mut padded = [NOTHING; BLOCK];
    for chunk in 0..shape.lanes {
        let start = first + chunk * shape.chunk;
        for block in 0..shape.columns / BLOCK {
            let from = (start + block * BLOCK).checked_sub(shape.before);
            let inside = from.and_then(|from| text.get(from..from + BLOCK)?.first_chunk::<BLOCK>());
            let letters = match inside {
                Some(letters) => letters,
                None => {
                    for (column, letter) in (block * BLOCK..).zip(&mut padded) {
                        let place = (start + column).checked_sub(shape.before);
                        *letter = place.and_then(|place| text.get(place)).copied().unwrap_or(NOTHING);
                    }
                    &padded
                }
            };
            let at = block * stride + chunk;
            zeros[at] = simd.bits_of::<0>(letters);
            ones[at] = simd.bits_of::<1>(letters);
            others[at] = simd.bits_of::<2>(letters);
            nothings[at] = if others[at] == 0 { 0 } else { simd.bits_of::<3>(letters) };
        }
    }
}

/// Transposes the words of each block, and makes the planes of them.
#[inline(always)]
fn turn<S: Bits>(simd: S, tile: &mut Tile, shape: &Shape, stride: usize, classes: u32) {
    let ones: S::B = all_ones();
    for block in 0..shape.columns / BLOCK {
        let words = |bit: usize| &tile.words[bit][block * stride..][..shape.lanes];
        // Not by `map`: what is in a closure may be compiled without the instruction set.
        let mut bits = [[S::B::zeroed(); BLOCK]; CODE_BITS];
        for (bit, columns) in bits.iter_mut().enumerate() {
            transpose(simd, words(bit), columns);
        }
        let [low, high, other, nothing] = &bits;
        let columns = block * BLOCK..(block + 1) * BLOCK;
        for class in (1..CLASSES).filter(|class| (classes >> class) & 1 == 1) {
            let plane: &mut [S::B] = cast_slice_mut(&mut tile.planes[class]);
            for (k, out) in plane[columns.clone()].iter_mut().enumerate() {
                if class == usize::from(ANY) {
                    *out = simd.and_not(ones, nothing[k]);
                    continue;
                }
                // Of the four bases, those of the class.
                let mut found = simd.and_not(ones, ones);
                for base in (0..4).filter(|base| class >> base & 1 == 1) {
                    let column = if base & 2 == 0 { simd.and_not(ones, high[k]) } else { high[k] };
                    let column =
                        if base & 1 == 0 { simd.and_not(column, low[k]) } else { simd.and(column, low[k]) };
                    found = simd.or(found, column);
                }
                *out = simd.and_not(found, other[k]);
            }
        }
    }
}

/// Makes 64 rows of bits columns, as many blocks side by side as a vector has words (Warren 2012, 7-3).
#[inline(always)]
fn transpose<S: Bits>(simd: S, words: &[u64], rows: &mut [S::B; BLOCK]) {
    if words.iter().all(|&word| word == 0) {
        return;
    }
    let lanes = words.len() / BLOCK;
    for (row, words) in rows.iter_mut().zip(words.chunks_exact(lanes)) {
        *row = bytemuck::pod_read_unaligned(cast_slice(words));
    }
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
fn splat<B: Pod>(word: u64) -> B {
    let line = Line([word; 8]);
    cast_slice(&[line])[0]
}

#[inline(always)]
pub fn all_ones<B: Pod>() -> B {
    splat(u64::MAX)
}
