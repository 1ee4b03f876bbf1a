//! Scores of queries against a database: targets of similar length in the lanes of vectors (as in Rognes 2011), without
//! the cells in which the hits end.

use super::columns::{ColumnLoop, ColumnSink, ColumnState, QueryProfile};
use super::lanes::{MatrixRows, Nothing, StepCosts, rows_of_tables, side_by_side};
use super::score::Width;
use super::scorer::{MOST_ROWS, Trials};
use super::simd::{Kernel, Lane, Simd, Vectors};
use super::{Cpu, InstructionSet};
use crate::engine::database::PAIRS;
use crate::engine::{Carried, DatabaseQuery, Engine, TargetScore};
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::error::EngineError;
use crate::terms::scoring::{Scoring, with_pieces};
use bytemuck::cast_slice;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::slice::from_ref;

/// Columns swept per iteration.
const COLUMNS: usize = 4;
/// Rows of a query that are swept over all columns before the next rows, so that their cells stay in a cache.
const ROWS: usize = 1 << 11;
/// Minimum number of target groups per thread for which a query of more than [`MOST_ROWS`] rows is scored in the lanes
/// of vectors. With fewer groups, threads would wait for the last one.
const GROUPS_PER_THREAD: usize = 4;
/// Queries scored against a group of targets as one piece of work, so that there is enough work to share among threads.
const QUERIES: usize = 16;
/// Pairs scored per round, which bounds the memory: 24 bytes each, and 16 more if 8-bit lanes are too narrow.
const HELD: usize = 1 << 20;
/// Queries are scored together if their first targets differ by less than one in this many of all targets.
const PARTS: usize = 16;

/// Data shared by all queries of a call.
struct DatabaseScoring {
    tables: MatrixRows,
    /// Codes from this one on have no table of their own.
    letters: usize,
    costs: StepCosts,
}

impl DatabaseScoring {
    /// Returns `None` if a score is too large for a table.
    fn new(scoring: &Scoring) -> Option<DatabaseScoring> {
        let fits = scoring.lowest() >= i8::MIN.into() && scoring.max_step() <= i8::MAX.into();
        let tables = fits.then(|| scoring.table())?;
        let letters = rows_of_tables(scoring);
        Some(DatabaseScoring { tables, letters, costs: StepCosts::new(scoring) })
    }

    /// Whether lanes of this type hold the penalties.
    fn fit<T: Lane>(&self) -> bool {
        self.costs.most::<T>().is_some()
    }
}

/// Scores some queries against a group of targets, at most one for each lane. The result lists the scores of the first
/// query, then those of the next. A score is `None` if the lanes are too narrow.
struct GroupScores<'a> {
    batch: &'a Batch,
    substitutes: &'a DatabaseScoring,
    queries: &'a [u32],
    targets: &'a [u32],
    width: Width,
}

impl Kernel for GroupScores<'_> {
    type Output = Vec<Option<i32>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Option<i32>> {
        with_pieces!(self.substitutes.costs.gaps, PIECES => match self.width {
            Width::W8 => self.in_lanes::<i8, S, PIECES>(simd),
            _ => self.in_lanes::<i16, S, PIECES>(simd),
        })
    }
}

impl GroupScores<'_> {
    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>, const PIECES: usize>(&self, simd: S) -> Vec<Option<i32>> {
        let targets = self.targets.iter().map(|&target| self.batch.target(target));
        let cols = targets.clone().map(<[u8]>::len).max().unwrap_or(0).next_multiple_of(COLUMNS);
        let nothing = Nothing::IN_TABLES;
        let codes = |code| nothing.target(code);
        let sequences = targets.map(|target| (0, target));
        let columns: Vec<S::V> = side_by_side::<T, S>(cols, nothing.target, codes, sequences);
        let mut room = QueryMemory::<S::V, PIECES> { cells: Vec::new(), above: Vec::new() };
        let mut scores = Vec::with_capacity(self.queries.len() * self.targets.len());
        for &query in self.queries {
            let best = best(simd, self.batch.query(query), &columns, self.substitutes, &mut room);
            let best: &[T] = cast_slice(from_ref(&best));
            let costs = &self.substitutes.costs;
            let score = |lane: &T| i64::from(lane.value()) - costs.zero::<T>();
            let most = costs.most::<T>().unwrap_or(0);
            let score = |lane: &T| Some(score(lane)).filter(|&score| score <= most).map(to_i32);
            scores.extend(best[..self.targets.len()].iter().map(score));
        }
        scores
    }
}

/// The best value of each lane. Once a value is too high for the next sum, later values may be wrong, but the best
/// value is no lower than that one.
///
/// The rows of the query are swept in strips. Between two strips, `room` keeps H(i,j) and F(i+1,j) of each column j,
/// where i is the last row above.
#[inline(always)]
fn best<T: Lane, S: Vectors<T>, const PIECES: usize>(
    simd: S,
    query: &[u8],
    columns: &[S::V],
    substitutes: &DatabaseScoring,
    room: &mut QueryMemory<S::V, PIECES>,
) -> S::V {
    let penalties = substitutes.costs.penalties::<T, S, PIECES>(simd);
    let zero = penalties.floor;
    // Where H is 0, and gaps open.
    let border = Carried { h: zero, gaps: penalties.opened(simd, zero) };
    let mut top = HighestCell(zero);
    let QueryMemory { cells, above } = room;
    above.clear();
    above.resize(columns.len(), border);
    for rows in query.chunks(ROWS) {
        let (tables, letters) = (&substitutes.tables, substitutes.letters);
        let mut profile = QueryProfile::<_, COLUMNS>::new(simd, rows, columns, tables, letters);
        let column_loop = ColumnLoop { penalties, parts: vec![rows.len()] };
        // H(i,j) and E(i,j+1) of the last column.
        cells.clear();
        cells.resize(rows.len(), border);
        // H of the row above in the last column.
        let mut corner = zero;
        for (number, above) in above.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
            let mut states = [ColumnState { diagonal: zero, f: border.gaps }; COLUMNS];
            for (state, entering) in states.iter_mut().zip(above.iter()) {
                *state = ColumnState { diagonal: corner, f: entering.gaps };
                corner = entering.h;
            }
            column_loop.sweep(simd, &mut profile, number * COLUMNS, &mut states, cells, &mut top);
            // The diagonal that leaves a column is H of the last row in the column before.
            let last = cells.last().map_or(zero, |cell| cell.h);
            for (place, above) in above.iter_mut().enumerate() {
                let h = states.get(place + 1).map_or(last, |next| next.diagonal);
                *above = Carried { h, gaps: states[place].f };
            }
        }
    }
    top.0
}

/// The highest H of each lane.
struct HighestCell<V>(V);

impl<T: Lane, S: Vectors<T>> ColumnSink<T, S, COLUMNS> for HighestCell<S::V> {
    #[inline(always)]
    fn take(&mut self, simd: S, h: [S::V; COLUMNS]) {
        for h in h {
            self.0 = simd.max(self.0, h);
        }
    }

    #[inline(always)]
    fn end_part(&mut self, _: S, _: usize) {}
}

/// Memory that is reused from query to query.
struct QueryMemory<V, const PIECES: usize> {
    /// One element for each row.
    cells: Vec<Carried<V, PIECES>>,
    /// One element for each column.
    above: Vec<Carried<V, PIECES>>,
}

/// A target for which lanes were too narrow, with the index of its query.
type Missing = (usize, u32);

impl Cpu {
    /// Scores `asked` against all short targets.
    pub(super) fn score_targets(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        self.score_targets_holding(batch, asked, HELD)
    }

    /// Scores `asked` in rounds of about `held` pairs.
    fn score_targets_holding(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
        held: usize,
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        let mut all: Vec<Vec<TargetScore>> = vec![Vec::new(); asked.len()];
        let mut take = |place: usize, target: u32, score: i32| {
            if score >= asked[place].least && target >= asked[place].first {
                all[place].push(TargetScore { target, score });
            }
        };
        let substitutes = DatabaseScoring::new(&batch.scoring);
        let groups = batch.targets.len() / self.set.lanes(Width::W8.bytes());
        let has_groups = groups >= GROUPS_PER_THREAD * rayon::current_num_threads();
        let is_in_lanes = |asked: &DatabaseQuery| {
            substitutes.is_some() && (has_groups || batch.query(asked.query).len() <= MOST_ROWS)
        };
        let (in_lanes, alone): (Vec<usize>, Vec<usize>) =
            (0..asked.len()).partition(|&place| is_in_lanes(&asked[place]));
        if let Some(substitutes) = &substitutes {
            let call = Call { set: self.set, batch, asked, substitutes };
            let meetings = meetings(batch, asked, in_lanes);
            let (groups, trials) = (call.groups(&meetings), Trials::default());
            for groups in groups.chunks(call.groups_of(held)) {
                let narrow = call.in_bytes(groups, &trials, &mut take);
                let missing = call.in_words(narrow, &mut take);
                self.score_alone(batch, asked, missing.into_iter(), &mut take)?;
            }
        }
        let alone = meetings(batch, asked, alone);
        let alone = alone.iter().flat_map(|(places, targets)| {
            places.iter().flat_map(move |&place| targets.iter().map(move |&target| (place, target)))
        });
        self.score_alone(batch, asked, alone, &mut take)?;
        all.iter_mut().for_each(|scores| scores.sort_unstable());
        Ok(all)
    }

    /// Scores pairs as [`Engine::score`] does.
    fn score_alone(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
        pairs: impl Iterator<Item = Missing>,
        take: &mut impl FnMut(usize, u32, i32),
    ) -> Result<(), EngineError> {
        let mut pairs = pairs.peekable();
        while pairs.peek().is_some() {
            let some: Vec<Missing> = pairs.by_ref().take(PAIRS).collect();
            let pair = |&(place, target): &Missing| asked[place].pair(batch, target);
            let of_some: Vec<Pair> = some.iter().map(pair).collect();
            let hits = self.score(batch, &of_some)?;
            some.iter().zip(hits).for_each(|(&(place, target), hit)| take(place, target, hit.score));
        }
        Ok(())
    }
}

/// Indices of queries that are scored against the same targets, and those targets: only short targets, the longest
/// first.
type QueryGroup = (Vec<usize>, Vec<u32>);

/// Assigns targets to the queries at `places`. A query may get a few more targets than it asks for.
fn meetings(batch: &Batch, asked: &[DatabaseQuery], mut places: Vec<usize>) -> Vec<QueryGroup> {
    let first = |place: &usize| asked[*place].first;
    // The longest queries come first, so that no thread starts one when the others are done.
    places.sort_by_key(|place| (first(place), Reverse(batch.query(asked[*place].query).len())));
    let (longest, len) = (batch.targets.longest_short(), |target: &u32| batch.target(*target).len());
    let few = to_u32(batch.targets.len() / PARTS);
    let mut meetings = Vec::new();
    let mut rest = places.as_slice();
    while let Some(least) = rest.first().map(first) {
        let (some, behind) = rest.split_at(rest.partition_point(|place| first(place) <= least + few));
        let mut targets: Vec<u32> = (least..to_u32(batch.targets.len())).collect();
        targets.retain(|target| len(target) <= longest);
        targets.sort_by_key(|target| Reverse(len(target)));
        meetings.push((some.to_vec(), targets));
        rest = behind;
    }
    meetings
}

/// Inputs of scoring in lanes.
#[derive(Clone, Copy)]
struct Call<'a> {
    set: InstructionSet,
    batch: &'a Batch,
    asked: &'a [DatabaseQuery],
    substitutes: &'a DatabaseScoring,
}

/// Targets that fill 8-bit lanes, and the indices of their queries.
type LaneGroup<'a> = (&'a [u32], &'a [usize]);

impl Call<'_> {
    /// Splits the pairs into groups that one thread scores in 8-bit lanes.
    fn groups(self, meetings: &[QueryGroup]) -> Vec<LaneGroup<'_>> {
        let lanes = self.set.lanes(Width::W8.bytes());
        let groups = meetings
            .iter()
            .flat_map(|(places, targets)| targets.chunks(lanes).map(move |targets| (places, targets)));
        groups.flat_map(|(places, targets)| places.chunks(QUERIES).map(move |some| (targets, some))).collect()
    }

    /// Number of groups that hold `pairs` pairs.
    fn groups_of(self, pairs: usize) -> usize {
        pairs.div_ceil(QUERIES * self.set.lanes(Width::W8.bytes())).max(1)
    }

    /// Scores groups in 8-bit lanes. Returns the pairs for which these are too narrow.
    fn in_bytes(
        self,
        groups: &[LaneGroup],
        trials: &Trials,
        take: &mut impl FnMut(usize, u32, i32),
    ) -> Vec<Missing> {
        let scored: Vec<_> = groups
            .par_iter()
            // The first groups take the longest.
            .with_max_len(1)
            .map(|&(targets, some)| {
                let can_score = |place: &&usize| self.can_score(**place, targets[0]);
                let some: Vec<usize> = some.iter().filter(can_score).copied().collect();
                let scores = match self.substitutes.fit::<i8>() && trials.are_worth_it() {
                    true => self.group(&some, targets, Width::W8),
                    false => vec![None; some.len() * targets.len()],
                };
                trials.count(scores.len(), scores.iter().filter(|score| score.is_none()).count());
                let met = some.iter().flat_map(|&place| targets.iter().map(move |&target| (place, target)));
                let counts = |&(place, target): &Missing, score: &Option<i32>| {
                    let DatabaseQuery { least, first, .. } = self.asked[place];
                    target >= first && score.is_none_or(|score| score >= least)
                };
                let scored = met.zip(scores).filter(|(met, score)| counts(met, score));
                scored.collect::<Vec<_>>()
            })
            .collect();
        let mut missing = Vec::new();
        for ((place, target), score) in scored.into_iter().flatten() {
            match score {
                Some(score) => take(place, target, score),
                None => missing.push((place, target)),
            }
        }
        missing
    }

    /// Scores the missing pairs in 16-bit lanes.
    fn in_words(self, mut missing: Vec<Missing>, take: &mut impl FnMut(usize, u32, i32)) -> Vec<Missing> {
        if !self.substitutes.fit::<i16>() {
            return missing;
        }
        missing.sort_by_key(|&(place, _)| place);
        let lanes = self.set.lanes(Width::W16.bytes());
        let groups: Vec<&[Missing]> =
            missing.chunk_by(|a, b| a.0 == b.0).flat_map(|of_one| of_one.chunks(lanes)).collect();
        let score = |group: &&[Missing]| {
            let targets: Vec<u32> = group.iter().map(|&(_, target)| target).collect();
            self.group(&[group[0].0], &targets, Width::W16)
        };
        let scored: Vec<Vec<Option<i32>>> = groups.par_iter().with_max_len(1).map(score).collect();
        let mut wider = Vec::new();
        for (&(place, target), score) in groups.iter().copied().flatten().zip(scored.into_iter().flatten()) {
            match score {
                Some(score) => take(place, target, score),
                None => wider.push((place, target)),
            }
        }
        wider
    }

    /// Whether the query at `place` can be scored against a target of up to `longest` residues.
    fn can_score(&self, place: usize, longest: u32) -> bool {
        let DatabaseQuery { query, least, .. } = self.asked[place];
        let pairs = self.batch.query(query).len().min(self.batch.target(longest).len());
        self.batch.scoring.most_score(pairs) >= i64::from(least)
    }

    fn group(&self, places: &[usize], targets: &[u32], width: Width) -> Vec<Option<i32>> {
        let queries: Vec<u32> = places.iter().map(|&place| self.asked[place].query).collect();
        let Call { batch, substitutes, .. } = *self;
        self.set.run(GroupScores { batch, substitutes, queries: &queries, targets, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::database::by_pairs;
    use crate::engine::plain::Plain;
    use crate::terms::alphabet::Alphabet;
    use crate::terms::scoring::Matrix;
    use std::sync::Arc;

    /// Scores equal those of the specification for rounds of any size, and for lanes of each width.
    #[test]
    fn scores_do_not_depend_on_how_many_pairs_are_held() {
        let mut state = 9u32;
        let mut codes = |len: usize| -> Vec<u8> {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8 % 20
            };
            (0..len).map(|_| next()).collect()
        };
        let targets: Vec<Vec<u8>> = (0..150).map(|k| codes(k % 37)).collect();
        let mut queries: Vec<Vec<u8>> = (0..20).map(|k| codes(5 + k)).collect();
        // Identical sequences score more than 8-bit lanes hold.
        queries.push(vec![17; 40]);
        let mut targets = targets;
        targets.push(vec![17; 36]);
        let blosum = Matrix::named("BLOSUM62").unwrap();
        for gap_open in [11, 250, 40_000] {
            let batch = Batch {
                queries: Arc::new(queries.iter().map(Vec::as_slice).collect()),
                targets: Arc::new(targets.iter().map(Vec::as_slice).collect()),
                scoring: Arc::new(Scoring::matrix(Alphabet::Protein, blosum.clone(), gap_open, 1)),
            };
            let asked: Vec<DatabaseQuery> = (0..queries.len() as u32)
                .map(|query| DatabaseQuery { query, least: 8 + query as i32, first: query % 4 * 30 })
                .collect();
            let expected = by_pairs(&mut Plain, &batch, &asked).unwrap();
            assert!(expected.iter().filter(|scores| !scores.is_empty()).count() > 10);
            for held in [1, 1500, 1 << 20] {
                let found = Cpu::new().score_targets_holding(&batch, &asked, held).unwrap();
                assert_eq!(found, expected, "gap open {gap_open}, {held} pairs held");
            }
        }
    }
}
