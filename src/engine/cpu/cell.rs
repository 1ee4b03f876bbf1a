//! The recurrence in the lanes of vectors, for all kernels: a cell, and the decision on its directions. The number of
//! pieces of the gap costs is a constant, so that one piece costs no more than if there were no other.

#![allow(
    clippy::needless_range_loop,
    reason = "iterators over arrays of vectors stay in memory: chains of them cost affine gaps 74 % more instructions"
)]

use super::simd::{Lane, Vectors};
use crate::engine::CellSource;
use crate::engine::directions::{CellBits, Layer, cell_bits, extend_bits};
use crate::terms::casts::to_u8;

/// Operands of all cells in addition to their neighbors.
#[derive(Clone, Copy)]
pub struct Penalties<V, const PIECES: usize> {
    /// The minimum of H: in local mode a score of 0.
    pub floor: V,
    /// Penalties of the first residue of a gap and of each further residue, for each piece.
    pub first: [V; PIECES],
    pub extend: [V; PIECES],
}

impl<V: Copy, const PIECES: usize> Penalties<V, PIECES> {
    /// The gap of each piece that opens at a cell with this H.
    #[inline(always)]
    pub fn opened<T: Lane, S: Vectors<T, V = V>>(&self, simd: S, h: V) -> [V; PIECES] {
        let mut opened = self.first;
        for piece in 0..PIECES {
            opened[piece] = simd.sub(h, self.first[piece]);
        }
        opened
    }
}

/// H(i,j), and the gaps of each piece that leave the cell: E(i,j+1) and F(i+1,j).
pub struct Cell<V, const PIECES: usize> {
    pub h: V,
    pub e: [V; PIECES],
    pub f: [V; PIECES],
    /// E and F of a gap that opens at this cell.
    opened: [V; PIECES],
}

/// The cell where `matched` = H(i-1,j-1) + s(q_i,t_j), `e` = E(i,j) and `f` = F(i,j).
#[inline(always)]
pub fn cell<T: Lane, S: Vectors<T>, const PIECES: usize>(
    simd: S,
    penalties: &Penalties<S::V, PIECES>,
    matched: S::V,
    mut e: [S::V; PIECES],
    mut f: [S::V; PIECES],
) -> Cell<S::V, PIECES> {
    // In loops, since operations are not inlined into what an array's `map` calls.
    let mut h = simd.max(matched, penalties.floor);
    for piece in 0..PIECES {
        h = simd.max(h, e[piece]);
    }
    for piece in 0..PIECES {
        h = simd.max(h, f[piece]);
    }
    let opened = penalties.opened(simd, h);
    for piece in 0..PIECES {
        e[piece] = simd.max(opened[piece], simd.sub(e[piece], penalties.extend[piece]));
        f[piece] = simd.max(opened[piece], simd.sub(f[piece], penalties.extend[piece]));
    }
    Cell { h, e, f, opened }
}

/// The direction codes in the highest bits of a lane.
#[derive(Clone, Copy)]
pub struct DirectionCodes<V, const PIECES: usize> {
    none: V,
    diagonal: V,
    deletion: [V; PIECES],
    insertion: [V; PIECES],
    extend_deletion: [V; PIECES],
    extend_insertion: [V; PIECES],
}

impl<V: Copy, const PIECES: usize> DirectionCodes<V, PIECES> {
    #[inline(always)]
    pub fn new<T: Lane, S: Vectors<T, V = V>>(simd: S) -> DirectionCodes<V, PIECES> {
        let shift = T::BITS - cell_bits(PIECES);
        let code = |bits: CellBits| simd.splat(T::of((u32::from(bits) << shift).cast_signed()));
        let none = code(CellSource::Stop as CellBits);
        let none_of = [none; PIECES];
        let mut codes = DirectionCodes {
            none,
            diagonal: code(CellSource::Diagonal as CellBits),
            deletion: none_of,
            insertion: none_of,
            extend_deletion: none_of,
            extend_insertion: none_of,
        };
        for piece in 0..PIECES {
            let [extend_deletion, extend_insertion] = extend_bits(piece);
            let gap = |source: CellSource| Layer { source, piece: to_u8(piece) }.bits();
            codes.deletion[piece] = code(gap(CellSource::Deletion));
            codes.insertion[piece] = code(gap(CellSource::Insertion));
            codes.extend_deletion[piece] = code(extend_deletion);
            codes.extend_insertion[piece] = code(extend_insertion);
        }
        codes
    }

    /// Shifts `bits` down by one cell and puts the directions of `cell` above them, given the operands of the cell.
    /// Ties are broken as in [`crate::engine::recurrence::decide`].
    #[inline(always)]
    pub fn decide<T: Lane, S: Vectors<T, V = V>>(
        &self,
        simd: S,
        bits: V,
        cell: &Cell<V, PIECES>,
        operands: &Operands<V, PIECES>,
    ) -> V {
        let Operands { floor, matched, e, f } = operands;
        // From the last choice to the first.
        let mut source = self.insertion[PIECES - 1];
        for piece in (0..PIECES - 1).rev() {
            source = simd.select(simd.eq(cell.h, f[piece]), self.insertion[piece], source);
        }
        for piece in (0..PIECES).rev() {
            source = simd.select(simd.eq(cell.h, e[piece]), self.deletion[piece], source);
        }
        source = simd.select(simd.eq(cell.h, *matched), self.diagonal, source);
        source = simd.select(simd.eq(cell.h, *floor), self.none, source);
        for piece in 0..PIECES {
            // The extended gap scores more than a newly opened gap.
            let opened = cell.opened[piece];
            let goes_on = simd.or(
                simd.select(simd.gt(cell.e[piece], opened), self.extend_deletion[piece], self.none),
                simd.select(simd.gt(cell.f[piece], opened), self.extend_insertion[piece], self.none),
            );
            source = simd.or(source, goes_on);
        }
        simd.shift_and_or(self.shift_by_rest(simd, bits), source)
    }

    /// Shifts `bits` down by one cell.
    #[inline(always)]
    pub fn skip<T: Lane, S: Vectors<T, V = V>>(&self, simd: S, bits: V) -> V {
        simd.shift_and_or(self.shift_by_rest(simd, bits), self.none)
    }

    /// Shifts `bits` down by the bits of a cell that [`Vectors::shift_and_or`] does not shift by.
    #[inline(always)]
    fn shift_by_rest<T: Lane, S: Vectors<T, V = V>>(&self, simd: S, mut bits: V) -> V {
        for _ in 1..cell_bits(PIECES) / cell_bits(1) {
            bits = simd.shift_and_or(bits, self.none);
        }
        bits
    }
}

/// The operands of a cell: the minimum of H, H(i-1,j-1) + s(q_i,t_j), E(i,j) and F(i,j).
pub struct Operands<V, const PIECES: usize> {
    pub floor: V,
    pub matched: V,
    pub e: [V; PIECES],
    pub f: [V; PIECES],
}
