//! What crosses the edge between two cells or two blocks: H of the cell before it, and the gaps that enter the cell after
//! it.

use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The value of an impossible gap: far below any score, and far from overflow.
pub const IMPOSSIBLE: i32 = -(1 << 30);

/// H of a cell, and the gap of each piece of the gap costs that leaves it in one direction: E of the next column, or F of
/// the row below. A value may be a vector of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<V, const PIECES: usize> {
    pub h: V,
    pub gaps: [V; PIECES],
}

impl<const PIECES: usize> Carried<i32, PIECES> {
    /// The border of the matrix in local mode: H = 0, and no gap enters.
    pub const BORDER: Carried<i32, PIECES> = Carried { h: 0, gaps: [IMPOSSIBLE; PIECES] };
}

/// Bytes of a [`Carry`] on a device.
#[cfg(feature = "gpu")]
pub const CARRY_BYTES: u64 = size_of::<Carry>() as u64;
/// Bytes of the gap of a further piece on a device.
#[cfg(feature = "gpu")]
pub const GAP_BYTES: u64 = size_of::<i32>() as u64;

/// H of a cell, and the gap of the first piece that leaves it, as devices read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Carry {
    pub h: i32,
    pub gap: i32,
}

impl Carry {
    /// The border of the matrix in local mode.
    pub const BORDER: Carry = Carry { h: 0, gap: IMPOSSIBLE };
}

/// A stretch of an edge, or values that a device left.
#[derive(Clone, Copy, Debug, Default)]
pub struct EdgeSlice<'a> {
    pub carries: &'a [Carry],
    /// As in [`Edge`].
    pub further: &'a [i32],
}

impl EdgeSlice<'_> {
    /// The values in a range; none if it is not inside.
    pub fn cut(&self, range: Range<usize>) -> Edge {
        let each = self.further.len().checked_div(self.carries.len()).unwrap_or(0);
        let further = self.further.get(range.start * each..range.end * each).unwrap_or_default().to_vec();
        Edge { carries: self.carries.get(range).unwrap_or_default().to_vec(), further }
    }

    /// Number of values.
    #[cfg(feature = "gpu")]
    pub fn len(&self) -> usize {
        self.carries.len()
    }
}

/// The values along an edge: one for each column of a horizontal edge, or for each row of a vertical one.
///
/// Gaps of further pieces are stored apart from the rest, so that edges under affine gaps take 8 bytes per value, as
/// devices expect, and edges under two pieces 12.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    pub carries: Vec<Carry>,
    /// The gaps of the pieces after the first, those of each value in order; empty if gaps have one piece.
    pub further: Vec<i32>,
}

impl Edge {
    /// An edge of `len` equal values, for gaps of `pieces` pieces.
    pub fn filled(carry: Carry, len: usize, pieces: usize) -> Edge {
        Edge { carries: vec![carry; len], further: vec![carry.gap; len * (pieces - 1)] }
    }

    /// An empty edge with room for `len` values.
    pub fn with_capacity(len: usize, pieces: usize) -> Edge {
        Edge { carries: Vec::with_capacity(len), further: Vec::with_capacity(len * (pieces - 1)) }
    }

    /// Bytes of a value under gap costs of this number of pieces.
    pub fn value_bytes(pieces: usize) -> u64 {
        4 * (1 + pieces as u64)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.carries.len()
    }

    /// Number of gaps of further pieces in each value.
    fn each(&self) -> usize {
        self.further.len().checked_div(self.carries.len()).unwrap_or(0)
    }

    /// Whether the edge is the border of the matrix in local mode.
    pub fn is_empty(&self) -> bool {
        self.carries.is_empty()
    }

    /// H of a value, or `None` after the edge's end.
    pub fn h(&self, place: usize) -> Option<i32> {
        self.carries.get(place).map(|carry| carry.h)
    }

    /// A value, or `None` after the edge's end.
    pub fn get<const PIECES: usize>(&self, place: usize) -> Option<Carried<i32, PIECES>> {
        let Carry { h, gap } = *self.carries.get(place)?;
        let mut gaps = [IMPOSSIBLE; PIECES];
        gaps[0] = gap;
        for (piece, gap) in gaps.iter_mut().enumerate().skip(1) {
            *gap = self.further.get(place * (PIECES - 1) + piece - 1).copied().unwrap_or(IMPOSSIBLE);
        }
        Some(Carried { h, gaps })
    }

    /// The values of an edge of `len` columns or rows, which may be the border.
    pub fn values<const PIECES: usize>(&self, len: usize) -> Vec<Carried<i32, PIECES>> {
        (0..len).map(|place| self.get(place).unwrap_or(Carried::BORDER)).collect()
    }

    /// H of each value of an edge of `len` columns or rows, which may be the border.
    pub fn heights(&self, len: usize) -> Vec<i32> {
        match self.is_empty() {
            true => vec![Carry::BORDER.h; len],
            false => self.carries.iter().map(|carry| carry.h).collect(),
        }
    }

    /// The gap of a piece in each value of an edge of `len` columns or rows, which may be the border.
    pub fn gaps(&self, piece: usize, len: usize) -> Vec<i32> {
        match piece {
            _ if self.is_empty() => vec![IMPOSSIBLE; len],
            0 => self.carries.iter().map(|carry| carry.gap).collect(),
            _ => self.further.iter().skip(piece - 1).step_by(self.each().max(1)).copied().collect(),
        }
    }

    /// Appends a value.
    pub fn push<const PIECES: usize>(&mut self, Carried { h, gaps }: Carried<i32, PIECES>) {
        let mut gaps = gaps.into_iter();
        self.carries.push(Carry { h, gap: gaps.next().unwrap_or(IMPOSSIBLE) });
        self.further.extend(gaps);
    }

    /// The values in a range; all of the border if the edge is the border.
    pub fn cut(&self, range: Range<usize>) -> Edge {
        EdgeSlice { carries: &self.carries, further: &self.further }.cut(range)
    }

    /// Replaces the values from `first` on by those of `other`.
    pub fn put(&mut self, first: usize, other: &Edge) {
        self.carries[first..first + other.len()].copy_from_slice(&other.carries);
        let each = self.each();
        self.further[first * each..(first + other.len()) * each].copy_from_slice(&other.further);
    }

    /// The values before `place`, and those from there on.
    pub fn split_at(&self, place: usize) -> (Edge, Edge) {
        (self.cut(0..place), self.cut(place..self.len()))
    }

    /// The values of two edges, one after the other.
    pub fn followed_by(mut self, mut behind: Edge) -> Edge {
        self.carries.append(&mut behind.carries);
        self.further.append(&mut behind.further);
        self
    }
}

impl<const PIECES: usize> FromIterator<Carried<i32, PIECES>> for Edge {
    fn from_iter<I: IntoIterator<Item = Carried<i32, PIECES>>>(values: I) -> Edge {
        let values = values.into_iter();
        let mut edge = Edge::with_capacity(values.size_hint().0, PIECES);
        values.for_each(|value| edge.push(value));
        edge
    }
}
