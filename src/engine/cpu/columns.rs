//! Groups of sweeps in the lanes of vectors, two columns of the matrix per iteration: residues, substitution scores, and the
//! loop down the rows. Which cells are kept depends on the mode: the best cell of the matrix (`score`) or the ends at
//! borders (`anchored`).

use super::cell::{Penalties, cell};
use super::lanes::{
    Ambiguity, Equality, MatrixRows, Nothing, Substitutes, bonuses_side_by_side, compared, rows_of_tables,
    side_by_side,
};
use super::simd::{KernelPart, Lane, Vectors};
use crate::engine::Carried;
use crate::terms::alphabet::CODES;
use crate::terms::batch::{Batch, Pair, swept};
use crate::terms::scoring::ComparedScores;
use std::marker::PhantomData;

/// Sweeps ([`crate::terms::batch::sweeps`]), at most one for each lane.
#[derive(Clone, Copy)]
pub struct LaneGroup<'a> {
    pub batch: &'a Batch,
    pub sweeps: &'a [&'a [Pair]],
}

impl<'a> LaneGroup<'a> {
    /// The sweeps, each as one pair.
    pub fn members(self) -> impl Iterator<Item = Pair> + 'a {
        self.sweeps.iter().map(|sweep| swept(sweep))
    }

    fn query(self, pair: Pair) -> &'a [u8] {
        self.batch.query(pair.query)
    }

    fn target(self, pair: Pair) -> &'a [u8] {
        &self.batch.target(pair.target)[pair.start as usize..pair.end as usize]
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        self.members().map(|pair| self.query(pair).len()).max().unwrap_or(0)
    }

    /// Number of columns, rounded up to an even number.
    pub fn cols(self) -> usize {
        self.members().map(|pair| pair.cols() as usize).max().unwrap_or(0).next_multiple_of(2)
    }

    /// Runs a sweep over the group's columns with the fastest substitution scores for its residues.
    #[inline(always)]
    pub fn sweep<T: Lane, S: Vectors<T>, K: GroupSweep<T, S>, const PIECES: usize>(
        self,
        simd: S,
        sweep: K,
    ) -> K::Output {
        let (scoring, rows, cols) = (&*self.batch.scoring, self.rows(), self.cols());
        let members = || self.members().flat_map(|pair| [self.query(pair), self.target(pair)]);
        let compared = compared(scoring, members());
        let nothing = Nothing::if_compared(compared);
        let targets = self.members().map(|pair| (0, self.target(pair)));
        let targets = side_by_side::<T, S>(cols, nothing.target, |code| nothing.target(code), targets);
        let queries = || {
            let queries = self.members().map(|pair| self.query(pair));
            queries.map(|query| (if K::IS_LOCAL { rows - query.len() } else { 0 }, query))
        };
        let bonuses = || match K::IS_LOCAL {
            true => bonuses_side_by_side::<T, S>(rows, scoring, queries()),
            false => None,
        };
        let queries = || side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), queries());
        let first = self.members().next().map_or(0, |pair| pair.query);
        match compared {
            Some(ComparedScores { match_, mismatch, ambiguous }) => {
                let (queries, substitutes) = (queries(), Equality::new(simd, match_, mismatch));
                let lanes = [&queries, &targets];
                let is_any = lanes.iter().any(|lanes| nothing.has_ambiguous::<T, S>(lanes));
                let ambiguity = Ambiguity::new(simd, substitutes, ambiguous);
                let bonuses = bonuses();
                let has_ends = bonuses.is_some();
                if K::IS_LOCAL && (KernelUse::<T, K, S, PIECES>::IS_RARE || (is_any && has_ends)) {
                    let bonuses = bonuses.unwrap_or_else(|| vec![simd.splat(T::of(0)); rows]);
                    let residues = LaneResidues { queries, targets, substitutes: ambiguity };
                    run_part::<T, S, _, _>(simd, sweep, ResiduesWithEnds { residues, bonuses })
                } else if K::IS_LOCAL
                    && let Some(bonuses) = bonuses
                {
                    let residues = LaneResidues { queries, targets, substitutes };
                    run_part::<T, S, _, _>(simd, sweep, ResiduesWithEnds { residues, bonuses })
                } else if is_any {
                    let residues = LaneResidues { queries, targets, substitutes: ambiguity };
                    run_part::<T, S, _, _>(simd, sweep, residues)
                } else {
                    run_part::<T, S, _, _>(simd, sweep, LaneResidues { queries, targets, substitutes })
                }
            }
            None if !KernelUse::<T, K, S, PIECES>::IS_RARE
                && self.members().all(|pair| pair.query == first) =>
            {
                let profile = QueryProfile {
                    query: self.batch.query(first),
                    targets,
                    tables: &scoring.table(),
                    letters: rows_of_tables(scoring),
                    columns: [[simd.splat(T::of(0)); CODES]; 2],
                };
                run_part::<T, S, _, _>(simd, sweep, profile)
            }
            None => {
                let substitutes = &scoring.table();
                run_part::<T, S, _, _>(simd, sweep, LaneResidues { queries: queries(), targets, substitutes })
            }
        }
    }
}

/// A sweep over all columns of a group.
pub trait GroupSweep<T: Lane, S: Vectors<T>> {
    type Output;
    /// Whether alignments begin and end anywhere. The last residue of each query is then in the last row, so that H of the
    /// rows above a query stays 0, and ends of queries may have bonuses. In the other modes, queries begin in the first row.
    const IS_LOCAL: bool;

    fn run<U: SubstitutionColumns<T, S>>(self, simd: S, scores: U) -> Self::Output;
}

/// How often a kernel runs, for choices at compile time. A rare kernel serves all kinds of residues, because each kernel
/// takes time to compile.
struct KernelUse<T, K, S, const PIECES: usize>(PhantomData<(T, K, S)>);

impl<T: Lane, K: GroupSweep<T, S>, S: Vectors<T>, const PIECES: usize> KernelUse<T, K, S, PIECES> {
    /// Whether few runs need the kernel: local alignments with gap costs of two pieces, or with scores beyond 16 bits.
    const IS_RARE: bool = K::IS_LOCAL && (PIECES > 1 || T::BITS == 32);
}

/// A sweep with its substitution scores.
struct SweepPart<T, S, K, U> {
    simd: S,
    sweep: K,
    scores: U,
    lane: PhantomData<T>,
}

impl<T: Lane, S: Vectors<T>, K: GroupSweep<T, S>, U: SubstitutionColumns<T, S>> KernelPart
    for SweepPart<T, S, K, U>
{
    type Output = K::Output;

    #[inline(always)]
    fn run(self) -> K::Output {
        self.sweep.run(self.simd, self.scores)
    }
}

/// Runs a sweep in a function of its own.
#[inline(always)]
fn run_part<T: Lane, S: Vectors<T>, K: GroupSweep<T, S>, U: SubstitutionColumns<T, S>>(
    simd: S,
    sweep: K,
    scores: U,
) -> K::Output {
    simd.call(SweepPart { simd, sweep, scores, lane: PhantomData::<T> })
}

/// Substitution scores, two columns per iteration.
pub trait SubstitutionColumns<T: Lane, S: Vectors<T>> {
    /// The data from which the scores of a column are looked up.
    type Column: Copy;

    fn columns(&mut self, simd: S, col: usize) -> [Self::Column; 2];
    fn score(&self, simd: S, column: Self::Column, row: usize) -> S::V;
}

/// The residues of all lanes, one vector for each row and one for each column.
struct LaneResidues<V, U> {
    queries: Vec<V>,
    targets: Vec<V>,
    substitutes: U,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for LaneResidues<S::V, U> {
    type Column = S::V;

    #[inline(always)]
    fn columns(&mut self, _: S, col: usize) -> [S::V; 2] {
        [self.targets[col], self.targets[col + 1]]
    }

    #[inline(always)]
    fn score(&self, simd: S, column: S::V, row: usize) -> S::V {
        self.substitutes.score(simd, self.queries[row], column)
    }
}

/// The same with the end bonuses of the rows.
struct ResiduesWithEnds<V, U> {
    residues: LaneResidues<V, U>,
    bonuses: Vec<V>,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for ResiduesWithEnds<S::V, U> {
    type Column = S::V;

    #[inline(always)]
    fn columns(&mut self, simd: S, col: usize) -> [S::V; 2] {
        SubstitutionColumns::<T, S>::columns(&mut self.residues, simd, col)
    }

    #[inline(always)]
    fn score(&self, simd: S, column: S::V, row: usize) -> S::V {
        simd.add(self.residues.score(simd, column, row), self.bonuses[row])
    }
}

/// A matrix and one query for all lanes: each query code's scores against a column are looked up once.
struct QueryProfile<'a, V> {
    query: &'a [u8],
    targets: Vec<V>,
    tables: &'a MatrixRows,
    letters: usize,
    /// By query code, for two columns.
    columns: [[V; CODES]; 2],
}

impl<T: Lane, S: Vectors<T>> SubstitutionColumns<T, S> for QueryProfile<'_, S::V> {
    type Column = usize;

    #[inline(always)]
    fn columns(&mut self, simd: S, col: usize) -> [usize; 2] {
        for (letter, table) in self.tables.iter().enumerate().take(self.letters) {
            self.columns[0][letter] = simd.lookup(table, self.targets[col]);
            self.columns[1][letter] = simd.lookup(table, self.targets[col + 1]);
        }
        [0, 1]
    }

    #[inline(always)]
    fn score(&self, _: S, column: usize, row: usize) -> S::V {
        self.columns[column][usize::from(self.query[row]) % CODES]
    }
}

/// State of a column on the way down: H(i-1,j-1) and F(i,j) of the next row i.
#[derive(Clone, Copy)]
pub struct ColumnState<V, const PIECES: usize> {
    pub diagonal: V,
    pub f: [V; PIECES],
}

impl<V: Copy, const PIECES: usize> ColumnState<V, PIECES> {
    /// Replaces H(i,j-1) and E(i,j) by H(i,j) and E(i,j+1).
    #[inline(always)]
    fn step<T: Lane, S: Vectors<T, V = V>>(
        &mut self,
        simd: S,
        penalties: &Penalties<V, PIECES>,
        score: V,
        left: Carried<V, PIECES>,
    ) -> Carried<V, PIECES> {
        let cell = cell(simd, penalties, simd.add(self.diagonal, score), left.gaps, self.f);
        (self.diagonal, self.f) = (left.h, cell.f);
        Carried { h: cell.h, gaps: cell.e }
    }
}

/// Keeps what counts of the cells of two columns.
pub trait ColumnSink<T: Lane, S: Vectors<T>> {
    /// Takes H of both columns in the next row.
    fn take(&mut self, simd: S, h: [S::V; 2]);
    /// Ends a part of the rows.
    fn end_part(&mut self, simd: S, part: usize);
}

/// The values that all pairs of columns share: penalties, and the last row of each part of the rows, plus one.
pub struct ColumnLoop<V, const PIECES: usize> {
    pub penalties: Penalties<V, PIECES>,
    pub parts: Vec<usize>,
}

impl<V: Copy, const PIECES: usize> ColumnLoop<V, PIECES> {
    /// Sweeps two columns down all rows. `cells` has H(i,j-1) and E(i,j) of each row, and then those of two columns later.
    #[inline(always)]
    pub fn two_columns<T: Lane, S: Vectors<T, V = V>, U: SubstitutionColumns<T, S>>(
        &self,
        simd: S,
        scores: &U,
        [left, right]: [U::Column; 2],
        [mut left_state, mut right_state]: [ColumnState<V, PIECES>; 2],
        cells: &mut [Carried<V, PIECES>],
        sink: &mut impl ColumnSink<T, S>,
    ) {
        let mut row = 0;
        for (part, &end) in self.parts.iter().enumerate() {
            for cell in &mut cells[row..end] {
                let score = scores.score(simd, left, row);
                let between = left_state.step(simd, &self.penalties, score, *cell);
                *cell = right_state.step(simd, &self.penalties, scores.score(simd, right, row), between);
                sink.take(simd, [between.h, cell.h]);
                row += 1;
            }
            sink.end_part(simd, part);
        }
    }
}
