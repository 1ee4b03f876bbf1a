//! Sequences in the lanes of vectors, and the substitution scores of their residues.

use super::cell::Penalties;
use super::simd::{Lane, Table, Vectors};
use crate::terms::alphabet::CODES;
use crate::terms::casts::{const_u8, to_i32};
use crate::terms::scoring::{Gaps, Matrix, Scoring, Substitution};
use bytemuck::{cast_slice, cast_slice_mut, zeroed_slice_box};
use std::slice::{from_mut, from_ref};

/// Codes for the absence of a residue if residues are compared: no residue has them.
pub const NO_QUERY: u8 = 62;
pub const NO_TARGET: u8 = 63;
/// The code of a matrix that no residue has.
pub const NO_LETTER: u8 = const_u8(CODES) - 1;

/// Codes for the absence of a residue. If residues are compared, they equal no code, not even each other. In a matrix,
/// they are a code of no residue, whose scores are the lowest.
#[derive(Clone, Copy)]
pub struct Nothing {
    pub query: u8,
    pub target: u8,
    /// Codes from this one on match nothing.
    pub letters: u8,
}

impl Nothing {
    pub fn of(scoring: &Scoring) -> Nothing {
        match scoring.substitution {
            Substitution::Equal { .. } => Nothing { query: NO_QUERY, target: NO_TARGET, letters: 4 },
            Substitution::Matrix(_) => Nothing { query: NO_LETTER, target: NO_LETTER, letters: NO_LETTER },
        }
    }

    #[inline(always)]
    pub fn query(self, code: u8) -> u8 {
        if code < self.letters { code } else { self.query }
    }

    #[inline(always)]
    pub fn target(self, code: u8) -> u8 {
        if code < self.letters { code } else { self.target }
    }
}

/// Returns `len` vectors whose lanes hold one sequence each, starting at its given position, and `none` elsewhere.
#[inline(always)]
pub fn side_by_side<'a, T: Lane, S: Vectors<T>>(
    len: usize,
    none: u8,
    code: impl Fn(u8) -> u8,
    sequences: impl Iterator<Item = (usize, &'a [u8])>,
) -> Vec<S::V> {
    let mut lanes = zeroed_slice_box::<S::V>(len).into_vec();
    let places: &mut [T] = cast_slice_mut(&mut lanes);
    places.fill(T::of(i32::from(none)));
    for (lane, (first, codes)) in sequences.enumerate() {
        for (place, &letter) in places.chunks_exact_mut(S::LANES).skip(first).zip(codes) {
            place[lane] = T::of(i32::from(code(letter)));
        }
    }
    lanes
}

/// Maximum that a step can add to a score, and the penalties that it can subtract.
#[derive(Clone, Copy)]
pub struct Costs {
    pub best: i32,
    worst: i32,
    pub gaps: Gaps,
}

impl Costs {
    pub fn new(scoring: &Scoring) -> Costs {
        Costs { best: scoring.max_potential(), worst: scoring.lowest(), gaps: scoring.gaps() }
    }

    /// The lane value of a score of 0. No step computes a value below the type's minimum.
    pub fn zero<T: Lane>(&self) -> i64 {
        // A gap opens at the floor or above, and is extended once before it is compared with one that opens.
        let lowest_gap = self.gaps.pieces().map(|piece| piece.first() + piece.extend).max().unwrap_or(0);
        i64::from(T::MIN) + i64::from(lowest_gap.max(-self.worst).max(1))
    }

    /// Operands of cells in lanes of this type.
    #[inline(always)]
    pub fn penalties<T: Lane, S: Vectors<T>, const PIECES: usize>(&self, simd: S) -> Penalties<S::V, PIECES> {
        let floor = simd.splat(T::of(to_i32(self.zero::<T>())));
        let mut penalties = Penalties { floor, first: [floor; PIECES], extend: [floor; PIECES] };
        for (at, piece) in self.gaps.array::<PIECES>().into_iter().enumerate() {
            penalties.first[at] = simd.splat(T::of(piece.first()));
            penalties.extend[at] = simd.splat(T::of(piece.extend));
        }
        penalties
    }

    /// The largest score to which another step can be added without overflow. `None` if lanes of this type cannot hold
    /// the penalties.
    pub fn most<T: Lane>(&self) -> Option<i64> {
        let most = i64::from(T::MAX) - i64::from(self.best) - self.zero::<T>();
        (most >= i64::from(self.best).max(1)).then_some(most)
    }
}

/// Substitution scores of query residues against target residues, lane by lane.
pub trait Substitutes<T: Lane, S: Vectors<T>>: Copy {
    fn score(self, simd: S, query: S::V, target: S::V) -> S::V;
}

/// Substitution by equality: residues match or mismatch.
#[derive(Clone, Copy)]
pub struct Equality<V> {
    match_: V,
    mismatch: V,
}

impl<V> Equality<V> {
    #[inline(always)]
    pub fn new<T: Lane, S: Vectors<T, V = V>>(simd: S, match_: i32, mismatch: i32) -> Equality<V> {
        Equality { match_: simd.splat(T::of(match_)), mismatch: simd.splat(T::of(-mismatch)) }
    }
}

impl<T: Lane, S: Vectors<T>> Substitutes<T, S> for Equality<S::V> {
    #[inline(always)]
    fn score(self, simd: S, query: S::V, target: S::V) -> S::V {
        simd.select(simd.eq(query, target), self.match_, self.mismatch)
    }
}

/// The rows of a matrix by query code.
pub type Tables = [Table; CODES];

/// The rows of `matrix`. The code of no residue adds nothing, even if all residues score above 0.
pub fn tables(matrix: &Matrix) -> Tables {
    let none = usize::from(NO_LETTER);
    let mut tables = matrix.scores;
    let lowest = tables[none][none].min(0);
    tables[none] = [lowest; CODES];
    tables.iter_mut().for_each(|table| table[none] = lowest);
    tables
}

impl<T: Lane, S: Vectors<T>> Substitutes<T, S> for &Tables {
    #[inline(always)]
    fn score(self, _: S, query: S::V, target: S::V) -> S::V {
        let mut scores = query;
        let scores_of: &mut [T] = cast_slice_mut(from_mut(&mut scores));
        for (score, target) in scores_of.iter_mut().zip(cast_slice::<S::V, T>(from_ref(&target))) {
            let table = &self[score.unsigned() as usize % CODES];
            *score = T::of(i32::from(table[target.unsigned() as usize % CODES]));
        }
        scores
    }
}
