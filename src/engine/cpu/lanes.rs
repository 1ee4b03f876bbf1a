//! Sequences in the lanes of vectors, and the substitution scores of their residues.

use super::cell::Penalties;
use super::simd::{Lane, MatrixRow, Vectors};
use crate::terms::alphabet::{BASES, CODES, has_ends, is_base, without_end};
use crate::terms::casts::{const_u8, to_i32};
use crate::terms::scoring::{ComparedScores, Gaps, Scoring, Substitution};
use bytemuck::{cast_slice, cast_slice_mut, zeroed_slice_box};
use std::slice::{from_mut, from_ref};

/// Codes for the absence of a residue if residues are compared: no residue has them.
pub const NO_QUERY: u8 = 61;
pub const NO_TARGET: u8 = 62;
/// The code of an ambiguous residue if residues are compared and these have a penalty of their own. It is the highest
/// code.
const AMBIGUOUS: u8 = 63;
/// The code of a matrix that no residue has.
pub const NO_LETTER: u8 = const_u8(CODES) - 1;

/// The number of pieces of the gap costs, for choices at compile time.
pub struct PieceCount<const COUNT: usize>;

impl<const COUNT: usize> PieceCount<COUNT> {
    pub const ARE_MANY: bool = COUNT > 1;
}

/// Codes for the absence of a residue. If residues are compared, they equal no code, not even each other. In a matrix,
/// they are a code of no residue, whose scores are the lowest.
#[derive(Clone, Copy)]
pub struct Nothing {
    pub query: u8,
    pub target: u8,
    /// Codes from this one on match nothing.
    pub letters: u8,
    /// Whether codes that match nothing have a penalty of their own.
    pub tells_ambiguous: bool,
}

impl Nothing {
    pub fn of(scoring: &Scoring) -> Nothing {
        Nothing::if_compared(scoring.compared())
    }

    pub fn if_compared(compared: Option<ComparedScores>) -> Nothing {
        match compared {
            Some(ComparedScores { mismatch, ambiguous, .. }) => Nothing {
                query: NO_QUERY,
                target: NO_TARGET,
                letters: BASES,
                tells_ambiguous: mismatch != ambiguous,
            },
            None => Nothing::IN_TABLES,
        }
    }

    /// The same codes, which tell ambiguous residues from the absence of a residue if `is_needed`.
    pub fn telling_ambiguous(self, is_needed: bool) -> Nothing {
        Nothing { tells_ambiguous: self.tells_ambiguous || is_needed, ..self }
    }

    /// The codes if all scores are looked up in [`MatrixRows`].
    pub const IN_TABLES: Nothing =
        Nothing { query: NO_LETTER, target: NO_LETTER, letters: NO_LETTER, tells_ambiguous: false };

    #[inline(always)]
    pub fn query(self, code: u8) -> u8 {
        // Tables have rows for ends.
        self.code(if self.letters == BASES { without_end(code) } else { code }, self.query)
    }

    #[inline(always)]
    pub fn target(self, code: u8) -> u8 {
        self.code(code, self.target)
    }

    #[inline(always)]
    fn code(self, code: u8, none: u8) -> u8 {
        match code < self.letters {
            true => code,
            false if self.tells_ambiguous => AMBIGUOUS,
            false => none,
        }
    }

    /// Whether some of the residues in these lanes are ambiguous and have a penalty of their own.
    #[inline(always)]
    pub fn has_ambiguous<T: Lane, S: Vectors<T>>(self, lanes: &[S::V]) -> bool {
        self.tells_ambiguous && cast_slice::<S::V, T>(lanes).contains(&T::of(i32::from(AMBIGUOUS)))
    }
}

/// The scores of these sequences' residues if comparing two codes gives their score.
pub fn compared<'a>(
    scoring: &Scoring,
    sequences: impl IntoIterator<Item = &'a [u8]>,
) -> Option<ComparedScores> {
    let of_bases = || {
        let all_are_bases = || sequences.into_iter().flatten().all(|&code| is_base(code));
        match scoring.substitution {
            Substitution::Equal { match_, mismatch, .. } if all_are_bases() => {
                Some(ComparedScores { match_, mismatch, ambiguous: mismatch })
            }
            _ => None,
        }
    };
    scoring.compared().or_else(of_bases)
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

/// The end bonus of each row, for queries in lanes as in [`side_by_side`] whose residues are compared. `None` if there are
/// no ends.
#[inline(always)]
pub fn bonuses_side_by_side<'a, T: Lane, S: Vectors<T>>(
    len: usize,
    scoring: &Scoring,
    sequences: impl Iterator<Item = (usize, &'a [u8])>,
) -> Option<Vec<S::V>> {
    if scoring.end_bonus == 0 {
        return None;
    }
    let mut lanes = zeroed_slice_box::<S::V>(len).into_vec();
    let places: &mut [T] = cast_slice_mut(&mut lanes);
    let mut any = false;
    for (lane, (first, codes)) in sequences.enumerate().filter(|(_, (_, codes))| has_ends(codes)) {
        any = true;
        for row in [0, codes.len() - 1] {
            places[(first + row) * S::LANES + lane] = T::of(scoring.bonus(codes[row]));
        }
    }
    any.then_some(lanes)
}

/// Maximum that a step can add to a score, and the penalties that it can subtract.
#[derive(Clone, Copy)]
pub struct StepCosts {
    pub best: i32,
    worst: i32,
    pub gaps: Gaps,
}

impl StepCosts {
    pub fn new(scoring: &Scoring) -> StepCosts {
        StepCosts { best: scoring.max_step(), worst: scoring.lowest(), gaps: scoring.gaps() }
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

    /// The same in a row with these end bonuses, if there can be any.
    #[inline(always)]
    fn with_bonus(self, bonus: S::V) -> Self {
        let _ = bonus;
        self
    }
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

/// Substitution by equality, with a penalty of its own for pairs with an ambiguous residue.
#[derive(Clone, Copy)]
pub struct Ambiguity<V> {
    equality: Equality<V>,
    ambiguous: V,
    /// The highest code of a residue that is not ambiguous, and of the absence of a residue.
    clear: V,
}

impl<V> Ambiguity<V> {
    #[inline(always)]
    pub fn new<T: Lane, S: Vectors<T, V = V>>(
        simd: S,
        equality: Equality<V>,
        ambiguous: i32,
    ) -> Ambiguity<V> {
        let clear = simd.splat(T::of(i32::from(AMBIGUOUS - 1)));
        Ambiguity { equality, ambiguous: simd.splat(T::of(-ambiguous)), clear }
    }
}

impl<T: Lane, S: Vectors<T>> Substitutes<T, S> for Ambiguity<S::V> {
    #[inline(always)]
    fn score(self, simd: S, query: S::V, target: S::V) -> S::V {
        let is_ambiguous = simd.gt(simd.max(query, target), self.clear);
        simd.select(is_ambiguous, self.ambiguous, self.equality.score(simd, query, target))
    }
}

/// Substitution in a row that may hold ends of queries. No residue, next to a target, gains no bonus.
#[derive(Clone, Copy)]
pub struct EndRow<V, U> {
    pub substitutes: U,
    /// The bonus of each lane's residue, and the code of no residue of a target.
    pub bonus: V,
    pub none: V,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> Substitutes<T, S> for EndRow<S::V, U> {
    #[inline(always)]
    fn with_bonus(self, bonus: S::V) -> Self {
        EndRow { bonus, ..self }
    }

    #[inline(always)]
    fn score(self, simd: S, query: S::V, target: S::V) -> S::V {
        let score = self.substitutes.score(simd, query, target);
        simd.select(simd.eq(target, self.none), score, simd.add(score, self.bonus))
    }
}

/// Number of rows of a scoring's tables that a query's codes can have.
pub fn rows_of_tables(scoring: &Scoring) -> usize {
    if scoring.end_bonus > 0 { usize::from(NO_LETTER) } else { scoring.alphabet.letters().len() }
}

/// The rows of a matrix by query code.
pub type MatrixRows = [MatrixRow; CODES];

impl<T: Lane, S: Vectors<T>> Substitutes<T, S> for &MatrixRows {
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
