//! Queries against all short targets: ranges of the targets, sorted from the longest to the shortest. Queries that need
//! the same kernel share a dispatch.

use crate::engine::DatabaseQuery;
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::tasks::{DatabaseTask, PlacedTarget, Span};
use crate::engine::gpu::variant::{DatabaseTiles, TargetsKind, TileVariant};
use crate::gpu::run::MAX_GROUPS;
use crate::terms::batch::{Batch, Sequences, counting_sort_descending};
use crate::terms::casts::to_u32;
use std::cmp::Reverse;
use std::ops::Range;

/// Maximum number of results of a job: 16 MiB.
const JOB_RESULTS: usize = 1 << 22;
/// Maximum number of bytes of the edges of a dispatch for queries of several strips: 1 GiB.
const MOST_EDGE_BYTES: u64 = 1 << 30;
/// Approximate number of targets that keep a device busy. If a job holds fewer of the longest, its time is that of a
/// single target.
const BUSY: usize = 1 << 13;
/// With fewer targets, a dispatch of one query fills no device, so queries share kernels.
const FEW: usize = 1 << 16;
/// Length above which few targets are long: a device would wait for them, so they have lanes of fewer rows.
const LONG: usize = 1 << 10;

/// The short targets in device order: the longest first, so that concurrent targets have similar lengths and the last
/// ones to run are short. None is empty.
pub struct TargetOrder {
    pub targets: Vec<u32>,
    /// Number of the first targets that are long.
    long: usize,
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
        let long = order.partition_point(|&target| keys[target as usize] > to_u32(LONG));
        TargetOrder { targets: order, long, before }
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
    /// The queries that have residues, and ranges of the targets: the longest queries first, so that consecutive ones have
    /// the same tiles.
    queue: Vec<(usize, Range<usize>)>,
    order: &'a TargetOrder,
    tiles: &'a DatabaseTiles,
    /// Maximum number of columns of a dispatch for queries of several strips, unless a workgroup's targets have more.
    edges: u64,
    /// Place of the next query in the queue.
    next: usize,
}

/// Queries with the same tile and the same targets: a dispatch with a layer of each.
#[derive(Default)]
struct Layers {
    tile: Option<TileVariant>,
    places: Range<usize>,
    tasks: Vec<DatabaseTask>,
    cells: u64,
    /// Number of edge values of the queries of several strips.
    edges: u64,
}

impl Layers {
    /// Whether a query with `edges` edge values may be another layer, if there is room for `most` edge values.
    fn admits(&self, tile: TileVariant, places: &Range<usize>, edges: u64, most: u64) -> bool {
        self.tile == Some(tile)
            && self.places == *places
            && self.edges + edges <= most
            && self.tasks.len() < MAX_GROUPS as usize
    }

    /// Adds the dispatch to a job.
    fn end(self, job: &mut Job) {
        let Some(tile) = self.tile else { return };
        let groups = to_u32(self.places.len()).div_ceil(tile.pairs());
        let layers = to_u32(self.tasks.len());
        let dispatch = Dispatch::without_cells(tile, self.tasks).in_layers(groups, layers);
        job.push(Dispatch { cells: self.cells, ..dispatch });
    }
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
        let edges = MOST_EDGE_BYTES.min(binding) / tiles.edge_bytes();
        let rows = |&place: &usize| to_u32(batch.query(asked[place].query).len());
        let mut places: Vec<usize> = (0..asked.len()).filter(|place| rows(place) > 0).collect();
        places.sort_by_key(|place| Reverse(rows(place)));
        let all = order.targets.len();
        let long = if all < FEW && tiles.has_few() { order.long } else { 0 };
        let ranges = [0..long, long..all].into_iter().filter(|range| !range.is_empty());
        let queue =
            ranges.flat_map(|range| places.iter().map(move |&place| (place, range.clone()))).collect();
        DatabasePlan { batch, asked, queue, order, tiles, edges, next: 0 }
    }

    /// Minimum and maximum number of bytes of the edges between strips: zero if each query is one tile.
    pub fn edge_bytes(&self) -> [u64; 2] {
        let holding = |(place, _): &(usize, Range<usize>)| {
            self.tiles.holding(self.rows(*place), TargetsKind::Many).filter(|&(_, strips)| strips > 1)
        };
        let (count, pairs) = self
            .queue
            .iter()
            .filter_map(holding)
            .fold((0, 0), |(count, pairs), (tile, _)| (count + 1, tile.pairs().max(pairs)));
        let least = self.order.cols(&(0..self.order.targets.len().min(pairs as usize)));
        let all = self.order.all_cols().saturating_mul(count);
        [least, all.min(self.edges.max(least))].map(|cols| cols * self.tiles.edge_bytes())
    }

    fn rows(&self, asked: usize) -> u32 {
        to_u32(self.batch.query(self.asked[asked].query).len())
    }

    /// The next job, of about `cells` cells.
    pub fn next(&mut self, cells: u64) -> Option<(Job, Vec<TargetRange>)> {
        let (mut job, mut meetings, mut results) = (Job::default(), Vec::new(), 0);
        let (mut planned, mut layers) = (0, Layers::default());
        while let Some((asked, left)) = self.queue.get(self.next).cloned()
            && (meetings.is_empty() || (planned < cells && results < JOB_RESULTS))
        {
            let rows = self.rows(asked);
            let (tile, strips) = self.holding(rows, &left)?;
            let room = cells.saturating_sub(planned) / u64::from(rows);
            let room = if strips > 1 { room.min(self.edges) } else { room };
            let most = JOB_RESULTS - results;
            let places = self.stretch(&left, room, most, tile.pairs() as usize);
            // Only whole queries can share a dispatch with others.
            if places != left && 2 * planned > cells {
                break;
            }
            let cols = self.order.cols(&places);
            let edges = if strips > 1 { cols } else { 0 };
            if !layers.admits(tile, &places, edges, self.edges) {
                std::mem::take(&mut layers).end(&mut job);
                layers = Layers { tile: Some(tile), places: places.clone(), ..Layers::default() };
            }
            let meeting = TargetRange { asked, places, result: results };
            layers.tasks.push(self.task(&meeting, (tile, strips), layers.edges));
            layers.cells += u64::from(rows) * cols;
            layers.edges += edges;
            planned += u64::from(rows) * cols;
            results += meeting.places.len();
            let is_first = meeting.places.start == left.start;
            let left = if is_first { meeting.places.end..left.end } else { left.start..meeting.places.start };
            self.next += usize::from(left.is_empty());
            if !left.is_empty() {
                self.queue[self.next].1 = left;
            }
            meetings.push(meeting);
        }
        layers.end(&mut job);
        job.output = results as u64 * 4;
        (!meetings.is_empty()).then_some((job, meetings))
    }

    /// The tile for a query of `rows` residues against targets at `places`, and the number of tiles.
    fn holding(&self, rows: u32, places: &Range<usize>) -> Option<(TileVariant, u32)> {
        let targets = match self.order.targets.len() < FEW {
            false => TargetsKind::Many,
            true if places.end <= self.order.long => TargetsKind::FewLong,
            true => TargetsKind::Few,
        };
        self.tiles.holding(rows, targets)
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

    /// A task with edges from this one on.
    fn task(&self, meeting: &TargetRange, (tile, strips): (TileVariant, u32), edges: u64) -> DatabaseTask {
        let DatabaseQuery { query, .. } = self.asked[meeting.asked];
        let rows = self.rows(meeting.asked);
        let (first, count) = (meeting.places.start, meeting.places.len());
        let pad = tile.capacity() * strips - rows;
        let query = to_u32(self.batch.queries.start(query as usize));
        DatabaseTask {
            span: Span { query, rows, pad, target_: 0, cols: 0 },
            first: to_u32(first),
            count: to_u32(count),
            before: to_u32(self.order.before[first]).wrapping_sub(to_u32(edges)),
            result: to_u32(meeting.result),
            strips,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::variant::{Scores, Variant};
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
        let edge = tiles.edge_bytes();
        let asked: Vec<DatabaseQuery> =
            [2, 1, 0, 2, 3, 1].map(|query| DatabaseQuery { query, least: 1, first: 0 }).to_vec();
        for cells in [1, 50_000, 3_000_000, u64::MAX] {
            let mut plan = DatabasePlan::new(&batch, &asked, &order, &tiles, 5000 * edge);
            assert_eq!(plan.edge_bytes(), [order.cols(&(0..32)) * edge, 5000 * edge]);
            let mut met = vec![vec![0; lens.len()]; asked.len()];
            while let Some((job, meetings)) = plan.next(cells) {
                let mut results = 0;
                let layers = job.dispatches.iter().flat_map(|dispatch| {
                    let tasks: &[DatabaseTask] = bytemuck::cast_slice(&dispatch.tasks);
                    tasks[..dispatch.layers as usize].iter().map(move |task| (dispatch, task))
                });
                let mut edges = vec![];
                for (meeting, (dispatch, task)) in meetings.iter().zip(layers) {
                    assert_eq!((meeting.result, task.result as usize), (results, results));
                    assert_eq!(meeting.places, task.first as usize..(task.first + task.count) as usize);
                    met[meeting.asked][meeting.places.clone()].iter_mut().for_each(|times| *times += 1);
                    results += meeting.places.len();
                    let is_long = batch.query(asked[meeting.asked].query).len() == 600;
                    assert_eq!(is_long, task.strips > 1);
                    let Variant::Tile(tile) = dispatch.variant else { panic!("not a tile") };
                    assert_eq!(task.span.pad + task.span.rows, tile.capacity() * task.strips);
                    assert!(dispatch.groups * dispatch.variant.pairs() >= meeting.places.len() as u32);
                    // Edges of the layers of a dispatch do not overlap.
                    let first =
                        order.before[meeting.places.start].wrapping_sub(u64::from(task.before)) as u32;
                    let begins = std::ptr::from_ref(dispatch);
                    if is_long {
                        edges
                            .push((begins, u64::from(first)..u64::from(first) + order.cols(&meeting.places)));
                    }
                }
                assert!(edges.iter().all(|(_, range)| range.end <= 5000));
                assert!(
                    edges.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].1.end == pair[1].1.start)
                );
                let tasks: u32 = job.dispatches.iter().map(|dispatch| dispatch.layers).sum();
                assert_eq!((job.output, tasks as usize), (results as u64 * 4, meetings.len()));
            }
            let once = |asked: &DatabaseQuery| vec![u32::from(asked.query != 1); lens.len()];
            assert_eq!(met, asked.iter().map(once).collect::<Vec<_>>(), "{cells} cells");
        }
        let plan = DatabasePlan::new(&batch, &asked, &order, &tiles, 0);
        assert_eq!(plan.edge_bytes(), [order.cols(&(0..32)) * edge; 2], "those of a workgroup always fit");
        let none = Batch { targets: Arc::new(sequences(&[0])), ..batch.clone() };
        let order = TargetOrder::new(&none.targets, 90);
        assert!(DatabasePlan::new(&none, &asked, &order, &tiles, 0).next(1).is_none());
    }
}
