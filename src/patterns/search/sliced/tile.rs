//! A stretch of text, transposed: one vector for each position in the chunks, with one bit per chunk.
//!
//! First the words of the packed text are gathered, 64 bases of a chunk per word. Then blocks of 64 words are transposed,
//! for as many chunks together as a vector has words.

use crate::engine::cpu::simd::{Bits, Kernel, Simd};
use crate::patterns::search::pattern::{ANY, CLASSES};
use crate::patterns::sliced::chunks::TextDivision;
use crate::patterns::sliced::packed::{BasePlanes, PackedText};
use crate::patterns::sliced::transpose::{BLOCK, VectorBytes, all_ones, transpose_rows};
use crate::terms::casts::to_isize;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

/// Bits of a character: two of a base, and one that says whether it is no base.
const CODE_BITS: usize = 3;
const BASE_BITS: usize = 2;

/// The planes of a stretch of text. A plane has a vector for each column.
#[derive(Debug, Default)]
pub struct PlaneTile {
    /// Planes of the four bases.
    bases: [Vec<VectorBytes>; 4],
    /// Planes of the other classes, indexed by class; empty if no pattern has the class.
    planes: Vec<Vec<VectorBytes>>,
    /// Offset of the first chunk in the text, and the end of the text.
    pub first: usize,
    pub end: usize,
    words: CodeBits,
}

/// The bits of codes before they are transposed.
#[derive(Debug, Default)]
struct CodeBits {
    /// Indexed by group of chunks that share a vector's row, then block, then chunk of the group. Each word holds one
    /// bit of the codes of 64 bases. So words that are written consecutively are close in memory.
    bits: [Vec<u64>; CODE_BITS],
    /// Chunks per group: words of a vector.
    group: usize,
    /// Whether a block has characters that are no bases; if not, only the two bits of bases are valid.
    rare: Vec<bool>,
}

impl PlaneTile {
    /// The plane of a class that was requested.
    #[inline(always)]
    pub fn plane<B: Pod>(&self, class: u8) -> &[B] {
        match class {
            1 | 2 | 4 | 8 => cast_slice(&self.bases[class.trailing_zeros() as usize]),
            _ => cast_slice(&self.planes[usize::from(class)]),
        }
    }
}

/// Fills a tile.
pub struct TileFill<'a> {
    pub tile: &'a mut PlaneTile,
    pub shape: &'a TextDivision,
    pub text: &'a PackedText,
    pub first: usize,
    /// The requested classes, one bit each.
    pub classes: u32,
}

impl Kernel for TileFill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let TileFill { tile, shape, text, first, classes } = self;
        (tile.first, tile.end) = (first, text.len());
        let lines = shape.columns * size_of::<S::B>() / size_of::<VectorBytes>();
        tile.planes.resize(CLASSES, Vec::new());
        tile.bases.iter_mut().for_each(|plane| plane.resize(lines, VectorBytes::zeroed()));
        for (class, plane) in tile.planes.iter_mut().enumerate() {
            plane.resize(if classes >> class & 1 == 1 { lines } else { 0 }, VectorBytes::zeroed());
        }
        tile.words.gather(shape, text, first);
        make_planes(simd, tile, shape, classes);
    }
}

impl CodeBits {
    fn reset(&mut self, shape: &TextDivision) {
        let blocks = shape.columns / BLOCK;
        self.group = shape.lanes / BLOCK;
        self.bits.iter_mut().for_each(|bits| bits.resize(blocks * shape.lanes, 0));
        self.rare.clear();
        self.rare.resize(blocks, false);
    }

    /// Offset of the words of a group.
    #[inline(always)]
    fn place(&self, group: usize, block: usize) -> usize {
        (group * self.rare.len() + block) * self.group
    }

    /// Gathers the bits of the codes, chunk by chunk.
    #[inline(always)]
    fn gather(&mut self, shape: &TextDivision, text: &PackedText, first: usize) {
        self.reset(shape);
        let (group, blocks) = (self.group, self.rare.len());
        for chunk in 0..shape.lanes {
            let from = to_isize(first + chunk * shape.chunk) - to_isize(shape.before);
            let own = self.place(chunk / group, 0) + chunk % group;
            let [lows, highs, others] = &mut self.bits;
            text.for_each_window(from, blocks, |block, BasePlanes { low, high, other }| {
                let at = own + block * group;
                (lows[at], highs[at], others[at]) = (low, high, other);
                self.rare[block] |= other != 0;
            });
        }
    }
}

/// Transposes the words of each block, and computes the planes from them.
#[inline(always)]
fn make_planes<S: Bits>(simd: S, tile: &mut PlaneTile, shape: &TextDivision, classes: u32) {
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
        let [low, high, other] = &bits;
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
                // A character that matches nothing is no base, and has a low bit.
                for (out, (&low, &other)) in plane.iter_mut().zip(low.iter().zip(other)) {
                    *out = simd.and_not(ones, simd.and(low, other));
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

/// Transposes a block, for as many chunks together as a vector has words.
#[inline(always)]
fn transpose<S: Bits>(simd: S, words: &CodeBits, bit: usize, block: usize, rows: &mut [S::B; BLOCK]) {
    for (group, row) in rows.iter_mut().enumerate() {
        let begin = words.place(group, block);
        *row = bytemuck::pod_read_unaligned(cast_slice(&words.bits[bit][begin..begin + words.group]));
    }
    transpose_rows(simd, rows);
}
