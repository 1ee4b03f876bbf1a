//! The recurrence in the lanes of vectors, for all kernels: a cell, and the decision on its directions.

use super::simd::{Lane, Vectors};
use crate::engine::Source;
use crate::engine::directions::{CELL_BITS, EXTEND_DELETION, EXTEND_INSERTION};

/// Operands of all cells in addition to their neighbors.
#[derive(Clone, Copy)]
pub struct Penalties<V> {
    /// The minimum of H: in local mode a score of 0.
    pub floor: V,
    /// Penalties of the first residue of a gap and of each further residue.
    pub first: V,
    pub extend: V,
}

/// H(i,j), and the gaps that leave the cell: E(i,j+1) and F(i+1,j).
pub struct Cell<V> {
    pub h: V,
    pub e: V,
    pub f: V,
    /// E and F of a gap that opens at this cell.
    opened: V,
}

/// The cell where `matched` = H(i-1,j-1) + s(q_i,t_j), `e` = E(i,j) and `f` = F(i,j).
#[inline(always)]
pub fn cell<T: Lane, S: Vectors<T>>(
    simd: S,
    penalties: &Penalties<S::V>,
    matched: S::V,
    e: S::V,
    f: S::V,
) -> Cell<S::V> {
    let h = simd.max(simd.max(simd.max(matched, penalties.floor), e), f);
    let opened = simd.sub(h, penalties.first);
    let longer = |gap: S::V| simd.max(opened, simd.sub(gap, penalties.extend));
    Cell { h, e: longer(e), f: longer(f), opened }
}

/// The direction codes in the highest bits of a lane.
#[derive(Clone, Copy)]
pub struct Codes<V> {
    none: V,
    diagonal: V,
    deletion: V,
    insertion: V,
    extend_deletion: V,
    extend_insertion: V,
}

impl<V: Copy> Codes<V> {
    #[inline(always)]
    pub fn new<T: Lane, S: Vectors<T, V = V>>(simd: S) -> Codes<V> {
        let code = |bits: u8| simd.splat(T::of((u32::from(bits) << (T::BITS - CELL_BITS)).cast_signed()));
        Codes {
            none: code(Source::Stop as u8),
            diagonal: code(Source::Diagonal as u8),
            deletion: code(Source::Deletion as u8),
            insertion: code(Source::Insertion as u8),
            extend_deletion: code(EXTEND_DELETION),
            extend_insertion: code(EXTEND_INSERTION),
        }
    }

    /// Shifts `bits` down by one cell and puts the directions of `cell` above them, given the operands of the cell.
    /// Ties are broken as in [`crate::engine::plain::decide`].
    #[inline(always)]
    pub fn decide<T: Lane, S: Vectors<T, V = V>>(
        &self,
        simd: S,
        bits: V,
        cell: &Cell<V>,
        [floor, matched, e]: [V; 3],
    ) -> V {
        let source = simd.select(simd.eq(cell.h, e), self.deletion, self.insertion);
        let source = simd.select(simd.eq(cell.h, matched), self.diagonal, source);
        let source = simd.select(simd.eq(cell.h, floor), self.none, source);
        // The extended gap scores more than a newly opened gap.
        let goes_on = simd.or(
            simd.select(simd.gt(cell.e, cell.opened), self.extend_deletion, self.none),
            simd.select(simd.gt(cell.f, cell.opened), self.extend_insertion, self.none),
        );
        simd.shift_and_or(bits, simd.or(source, goes_on))
    }
}
