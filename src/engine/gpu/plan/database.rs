//! Queries against all short targets: ranges of the targets, sorted from the longest to the shortest.

use crate::engine::DatabaseQuery;
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::tasks::{DatabaseTask, PlacedTarget, Span};
use crate::engine::gpu::variant::{DatabaseTiles, TileVariant};
use crate::terms::batch::{Batch, Sequences, counting_sort_descending};
use crate::terms::casts::to_u32;
use std::ops::Range;

/// Maximum number of results of a job: 16 MiB.
const JOB_RESULTS: usize = 1 << 22;
/// Maximum number of columns of a range for a query of several strips: their edges take 512 MiB.
const MOST_EDGES: u64 = 1 << 26;
/// Approximate number of targets that keep a device busy. If a job holds fewer of the longest, its time is that of a
/// single target.
const BUSY: usize = 1 << 13;
/// Bytes of an edge value.
const EDGE: u64 = 8;

/// The short targets in device order: the longest first, so that concurrent targets have similar lengths and the last
/// ones to run are short. None is empty.
pub struct TargetOrder {
    pub targets: Vec<u32>,
    /// Total columns of the targets before each index; the last element covers all targets.
    before: Vec<u64>,
}

impl TargetOrder {
    /// The order of the targets of up to `longest` residues.
    pub fn new(targets: &Sequences, longest: usize) -> TargetOrder {
        let key = |len: usize| if len <= longest { to_u32(len) } else { 0 };
        let keys: Vec<u32> = targets.iter().map(|codes| key(codes.len())).collect();
        let mut order = counting_sort_descending(&keys, to_u32(longest) + 1);
        order.truncate(keys.iter().filter(|&&key| key > 0).count());
        let mut before = vec![0];
        before.extend(order.iter().scan(0, |sum, &target| {
            *sum += u64::from(keys[target as usize]);
            Some(*sum)
        }));
        TargetOrder { targets: order, before }
    }

    /// The records of the targets.
    pub fn placed(&self, targets: &Sequences) -> Vec<PlacedTarget> {
        let placed = |(&target, before): (&u32, &u64)| PlacedTarget {
            target_: to_u32(targets.start(target as usize)),
            cols: to_u32(targets.get(target as usize).len()),
            before: to_u32(*before),
        };
        self.targets.iter().zip(&self.before).map(placed).collect()
    }

    /// Total columns of all targets.
    fn all_cols(&self) -> u64 {
        self.cols(&(0..self.targets.len()))
    }

    /// Total columns of the targets at `places`.
    fn cols(&self, places: &Range<usize>) -> u64 {
        self.before[places.end] - self.before[places.start]
    }

    /// The indices from `first` on whose targets have at most `cols` columns together.
    fn holding(&self, first: usize, cols: u64) -> Range<usize> {
        let most = self.before[first].saturating_add(cols);
        let fits = self.before[first..].partition_point(|&before| before <= most);
        first..first + fits.saturating_sub(1)
    }

    /// The indices before `end` whose targets have at most `cols` columns together.
    fn holding_last(&self, end: usize, cols: u64) -> Range<usize> {
        let least = self.before[end].saturating_sub(cols);
        self.before[..end].partition_point(|&before| before < least)..end
    }
}

/// A range of the targets against which a query is scored in a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRange {
    /// Index of the query among those that ask.
    pub asked: usize,
    pub places: Range<usize>,
    /// Index of the result of the first target.
    pub result: usize,
}

/// Queries, and their progress through the targets.
pub struct DatabasePlan<'a> {
    batch: &'a Batch,
    asked: &'a [DatabaseQuery],
    order: &'a TargetOrder,
    tiles: &'a DatabaseTiles,
    /// Maximum number of columns of a range for a query of several strips, unless a workgroup's targets have more.
    edges: u64,
    /// The next query, and its remaining targets.
    next: (usize, Range<usize>),
}

impl<'a> DatabasePlan<'a> {
    /// A plan with edges of at most `binding` bytes, unless the targets of a workgroup need more.
    pub fn new(
        batch: &'a Batch,
        asked: &'a [DatabaseQuery],
        order: &'a TargetOrder,
        tiles: &'a DatabaseTiles,
        binding: u64,
    ) -> DatabasePlan<'a> {
        let edges = MOST_EDGES.min(binding / EDGE);
        DatabasePlan { batch, asked, order, tiles, edges, next: (0, 0..order.targets.len()) }
    }

    /// Minimum and maximum number of bytes of the edges between strips: zero if each query is one tile.
    pub fn edge_bytes(&self) -> [u64; 2] {
        let holding =
            |asked: &DatabaseQuery| self.tiles.holding(self.rows(asked)).filter(|&(_, strips)| strips > 1);
        let Some(pairs) = self.asked.iter().filter_map(holding).map(|(tile, _)| tile.pairs()).max() else {
            return [0; 2];
        };
        let least = self.order.cols(&(0..self.order.targets.len().min(pairs as usize)));
        [least, self.order.all_cols().min(self.edges.max(least))].map(|cols| cols * EDGE)
    }

    fn rows(&self, asked: &DatabaseQuery) -> u32 {
        to_u32(self.batch.query(asked.query).len())
    }

    /// The next job, of about `cells` cells.
    pub fn next(&mut self, cells: u64) -> Option<(Job, Vec<TargetRange>)> {
        let (mut job, mut meetings, mut results) = (Job::default(), Vec::new(), 0);
        while let Some((asked, left)) = self.next_targets()
            && (meetings.is_empty() || (job.cells < cells && results < JOB_RESULTS))
        {
            let rows = self.rows(&self.asked[asked]);
            let (tile, strips) = self.tiles.holding(rows)?;
            let room = (cells.saturating_sub(job.cells)) / u64::from(rows);
            let room = if strips > 1 { room.min(self.edges) } else { room };
            let most = JOB_RESULTS - results;
            let places = self.stretch(&left, room, most, tile.pairs() as usize);
            let meeting = TargetRange { asked, places, result: results };
            job.push(self.dispatch(&meeting, tile, strips));
            results += meeting.places.len();
            let is_first = meeting.places.start == left.start;
            let left = if is_first { meeting.places.end..left.end } else { left.start..meeting.places.start };
            self.next = (asked, left);
            meetings.push(meeting);
        }
        job.output = results as u64 * 4;
        (!meetings.is_empty()).then_some((job, meetings))
    }

    /// The next query, and its remaining targets.
    fn next_targets(&self) -> Option<(usize, Range<usize>)> {
        let (asked, left) = &self.next;
        let has_rows = |asked: &usize| self.rows(&self.asked[*asked]) > 0;
        if *asked < self.asked.len() && !left.is_empty() && has_rows(asked) {
            return Some((*asked, left.clone()));
        }
        let all = 0..self.order.targets.len();
        let next = (asked + 1..self.asked.len()).find(has_rows).filter(|_| !all.is_empty());
        next.map(|asked| (asked, all))
    }

    /// The first targets of `left` that have at most `cols` columns together and number at most `most`, in whole
    /// workgroups of `pairs` targets, at least one workgroup. Small jobs take the last targets instead: the time of a
    /// few of the longest would say nothing about the device's throughput.
    fn stretch(&self, left: &Range<usize>, cols: u64, most: usize, pairs: usize) -> Range<usize> {
        let held = self.order.holding(left.start, cols).len().min(most);
        if held >= left.len() {
            return left.clone();
        }
        if held < BUSY {
            let from = self.order.holding_last(left.end, cols).start.max(left.end - most.min(left.len()));
            return from.min(left.end.saturating_sub(pairs)).max(left.start)..left.end;
        }
        left.start..left.start + (held / pairs).max(1) * pairs
    }

    fn dispatch(&self, meeting: &TargetRange, tile: TileVariant, strips: u32) -> Dispatch {
        let DatabaseQuery { query, .. } = self.asked[meeting.asked];
        let rows = to_u32(self.batch.query(query).len());
        let (first, count) = (meeting.places.start, meeting.places.len());
        let pad = tile.capacity() * strips - rows;
        let query = to_u32(self.batch.queries.start(query as usize));
        let task = DatabaseTask {
            span: Span { query, rows, pad, target_: 0, cols: 0 },
            first: to_u32(first),
            count: to_u32(count),
            before: to_u32(self.order.before[first]),
            result: to_u32(meeting.result),
            strips,
        };
        let cells = u64::from(rows) * self.order.cols(&meeting.places);
        let groups = to_u32(count).div_ceil(tile.pairs());
        Dispatch { cells, ..Dispatch::without_cells(tile, vec![task]).in_groups(groups) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::variant::Scores;
    use crate::terms::alphabet::Alphabet;
    use crate::terms::scoring::{Matrix, Scoring};
    use std::sync::Arc;

    fn sequences(lens: &[usize]) -> Sequences {
        let mut all = Sequences::default();
        lens.iter().for_each(|&len| all.push(std::iter::repeat_n(0, len)));
        all
    }

    fn tiles() -> DatabaseTiles {
        DatabaseTiles::new(Scores::Profile, Some(32)).unwrap()
    }

    #[test]
    fn targets_lie_from_the_longest_to_the_shortest() {
        let longest = Sequences::default().longest_short();
        let targets = sequences(&[3, 0, longest + 1, 9, 3, longest, 1]);
        let order = TargetOrder::new(&targets, longest);
        assert_eq!(order.targets, [5, 3, 0, 4, 6]);
        let placed = order.placed(&targets);
        let longest = longest as u32;
        assert_eq!(placed[2].before, longest + 9);
        assert_eq!((placed[4].target_, placed[4].cols), (2 * longest + 16, 1));
        assert_eq!(order.cols(&(1..4)), 15);
        assert_eq!(order.all_cols(), u64::from(longest) + 16);
        assert_eq!((order.holding(1, 14), order.holding(1, 15), order.holding(1, 99)), (1..3, 1..4, 1..5));
        assert_eq!(order.holding(0, 1), 0..0);
        assert_eq!(
            (order.holding_last(5, 4), order.holding_last(5, 3), order.holding_last(2, 0)),
            (3..5, 4..5, 2..2)
        );
    }

    /// Whatever a job holds, every query is scored once against every target, in ranges within the limits.
    #[test]
    fn every_query_meets_every_target_once() {
        let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        let lens: Vec<usize> = (0..700).map(|k| 1 + k * 7 % 90).collect();
        let batch = Batch {
            queries: Arc::new(sequences(&[30, 0, 600, 100])),
            targets: Arc::new(sequences(&lens)),
            scoring: Arc::new(scoring),
        };
        let (order, tiles) = (TargetOrder::new(&batch.targets, 90), tiles());
        let asked: Vec<DatabaseQuery> =
            [2, 1, 0, 2, 3, 1].map(|query| DatabaseQuery { query, least: 1, first: 0 }).to_vec();
        for cells in [1, 50_000, 3_000_000, u64::MAX] {
            let mut plan = DatabasePlan::new(&batch, &asked, &order, &tiles, 5000 * EDGE);
            assert_eq!(plan.edge_bytes(), [order.cols(&(0..32)) * EDGE, 5000 * EDGE]);
            let mut met = vec![vec![0; lens.len()]; asked.len()];
            while let Some((job, meetings)) = plan.next(cells) {
                let mut results = 0;
                for (meeting, dispatch) in meetings.iter().zip(&job.dispatches) {
                    assert_eq!(meeting.result, results);
                    met[meeting.asked][meeting.places.clone()].iter_mut().for_each(|times| *times += 1);
                    results += meeting.places.len();
                    let is_long = batch.query(asked[meeting.asked].query).len() == 600;
                    assert!(!is_long || order.cols(&meeting.places) <= 5000);
                    assert!(dispatch.groups * dispatch.variant.pairs() >= meeting.places.len() as u32);
                }
                assert_eq!((job.output, job.dispatches.len()), (results as u64 * 4, meetings.len()));
            }
            let once = |asked: &DatabaseQuery| vec![u32::from(asked.query != 1); lens.len()];
            assert_eq!(met, asked.iter().map(once).collect::<Vec<_>>(), "{cells} cells");
        }
        let plan = DatabasePlan::new(&batch, &asked, &order, &tiles, 0);
        assert_eq!(plan.edge_bytes(), [order.cols(&(0..32)) * EDGE; 2], "those of a workgroup always fit");
        let none = Batch { targets: Arc::new(sequences(&[0])), ..batch.clone() };
        let order = TargetOrder::new(&none.targets, 90);
        assert!(DatabasePlan::new(&none, &asked, &order, &tiles, 0).next(1).is_none());
    }
}
