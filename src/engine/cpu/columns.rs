//! Groups of sweeps in the lanes of vectors, a few columns of the matrix per iteration: residues, substitution scores, and
//! the loop down the rows. A sink keeps the cells that count: the best cell of the matrix (`score`), the ends at borders
//! (`anchored`), or the best score alone (`database`).

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

/// Columns per iteration in sweeps that keep where alignments end.
pub const PAIR: usize = 2;

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

    /// Number of columns, rounded up to a multiple of [`PAIR`].
    pub fn cols(self) -> usize {
        self.members().map(|pair| pair.cols() as usize).max().unwrap_or(0).next_multiple_of(PAIR)
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
                let (tables, letters) = (scoring.table(), rows_of_tables(scoring));
                let query = self.batch.query(first);
                let profile = QueryProfile::<_, PAIR>::new(simd, query, &targets, &tables, letters);
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

/// Substitution scores of all lanes.
pub trait SubstitutionColumns<T: Lane, S: Vectors<T>> {
    /// The data from which the scores of a column are looked up, and those of a row.
    type Column: Copy;
    type Row: Copy;

    /// Prepares column `col` as number `place` of those that are swept together.
    fn column(&mut self, simd: S, place: usize, col: usize) -> Self::Column;
    fn row(&self, row: usize) -> Self::Row;
    /// `place` is a constant in the loop down the rows.
    fn score(&self, simd: S, place: usize, column: Self::Column, row: Self::Row) -> S::V;
}

/// The residues of all lanes, one vector for each row and one for each column.
struct LaneResidues<V, U> {
    queries: Vec<V>,
    targets: Vec<V>,
    substitutes: U,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for LaneResidues<S::V, U> {
    type Column = S::V;
    type Row = S::V;

    #[inline(always)]
    fn column(&mut self, _: S, _: usize, col: usize) -> S::V {
        self.targets[col]
    }

    #[inline(always)]
    fn row(&self, row: usize) -> S::V {
        self.queries[row]
    }

    #[inline(always)]
    fn score(&self, simd: S, _: usize, column: S::V, row: S::V) -> S::V {
        self.substitutes.score(simd, row, column)
    }
}

/// The same with the end bonuses of the rows.
struct ResiduesWithEnds<V, U> {
    residues: LaneResidues<V, U>,
    bonuses: Vec<V>,
}

impl<T: Lane, S: Vectors<T>, U: Substitutes<T, S>> SubstitutionColumns<T, S> for ResiduesWithEnds<S::V, U> {
    type Column = S::V;
    /// With the bonus.
    type Row = (S::V, S::V);

    #[inline(always)]
    fn column(&mut self, simd: S, place: usize, col: usize) -> S::V {
        SubstitutionColumns::<T, S>::column(&mut self.residues, simd, place, col)
    }

    #[inline(always)]
    fn row(&self, row: usize) -> (S::V, S::V) {
        (SubstitutionColumns::<T, S>::row(&self.residues, row), self.bonuses[row])
    }

    #[inline(always)]
    fn score(&self, simd: S, place: usize, column: S::V, (row, bonus): (S::V, S::V)) -> S::V {
        simd.add(self.residues.score(simd, place, column, row), bonus)
    }
}

/// A matrix and one query for all lanes: each query code's scores against a column are looked up once.
pub struct QueryProfile<'a, V, const COLUMNS: usize> {
    query: &'a [u8],
    targets: &'a [V],
    tables: &'a MatrixRows,
    letters: usize,
    /// By query code, for the columns that are swept together.
    columns: [[V; COLUMNS]; CODES],
}

impl<'a, V: Copy, const COLUMNS: usize> QueryProfile<'a, V, COLUMNS> {
    /// Codes from `letters` on have no table of their own.
    #[inline(always)]
    pub fn new<T: Lane, S: Vectors<T, V = V>>(
        simd: S,
        query: &'a [u8],
        targets: &'a [V],
        tables: &'a MatrixRows,
        letters: usize,
    ) -> QueryProfile<'a, V, COLUMNS> {
        QueryProfile { query, targets, tables, letters, columns: [[simd.splat(T::of(0)); COLUMNS]; CODES] }
    }
}

impl<T: Lane, S: Vectors<T>, const COLUMNS: usize> SubstitutionColumns<T, S>
    for QueryProfile<'_, S::V, COLUMNS>
{
    type Column = ();
    /// The query's code.
    type Row = usize;

    #[inline(always)]
    fn column(&mut self, simd: S, place: usize, col: usize) {
        let letters = self.targets[col];
        for (scores, table) in self.columns.iter_mut().zip(self.tables).take(self.letters) {
            scores[place] = simd.lookup(table, letters);
        }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> usize {
        usize::from(self.query[row]) % CODES
    }

    #[inline(always)]
    fn score(&self, _: S, place: usize, (): (), row: usize) -> S::V {
        self.columns[row][place]
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

/// Keeps what counts of the cells of columns that are swept together.
pub trait ColumnSink<T: Lane, S: Vectors<T>, const COLUMNS: usize> {
    /// Takes H of each column in the next row.
    fn take(&mut self, simd: S, h: [S::V; COLUMNS]);
    /// Ends a part of the rows.
    fn end_part(&mut self, simd: S, part: usize);
}

/// The values that all columns share: penalties, and the last row of each part of the rows, plus one.
pub struct ColumnLoop<V, const PIECES: usize> {
    pub penalties: Penalties<V, PIECES>,
    pub parts: Vec<usize>,
}

impl<V: Copy, const PIECES: usize> ColumnLoop<V, PIECES> {
    /// Sweeps the columns from `col` on, one for each state, down all rows. `cells` has H(i,j-1) and E(i,j) of each row, and
    /// afterwards those of the next column. Likewise, the states go from the first row to the row after the last.
    #[inline(always)]
    pub fn sweep<T: Lane, S: Vectors<T, V = V>, U: SubstitutionColumns<T, S>, const COLUMNS: usize>(
        &self,
        simd: S,
        scores: &mut U,
        col: usize,
        states: &mut [ColumnState<V, PIECES>; COLUMNS],
        cells: &mut [Carried<V, PIECES>],
        sink: &mut impl ColumnSink<T, S, COLUMNS>,
    ) {
        let mut columns = [scores.column(simd, 0, col); COLUMNS];
        for (place, column) in columns.iter_mut().enumerate().skip(1) {
            *column = scores.column(simd, place, col + place);
        }
        let mut row = 0;
        for (part, &end) in self.parts.iter().enumerate() {
            for cell in &mut cells[row..end] {
                let mut left = *cell;
                let mut h = [left.h; COLUMNS];
                let of_row = scores.row(row);
                for place in 0..COLUMNS {
                    let score = scores.score(simd, place, columns[place], of_row);
                    left = states[place].step(simd, &self.penalties, score, left);
                    h[place] = left.h;
                }
                *cell = left;
                sink.take(simd, h);
                row += 1;
            }
            sink.end_part(simd, part);
        }
    }
}
