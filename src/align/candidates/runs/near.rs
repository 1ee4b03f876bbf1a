//! Positions of the runs of long queries: boxes around those that qualify, and the rows near any.

use super::{BLOCK, BLOCKS, KmerTable, RunReceiver, RunSearch};
use crate::align::candidates::boxes::{Boxes, ExactRun, REACH, RunBox, covered};
use crate::align::candidates::filter::Filter;
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Target columns that are read in the time in which the index finds the positions of one k-mer.
const LOOK_UP: usize = 8;
/// Number of groups of queries that are searched separately.
const GROUPS: usize = 8;

/// Positions of the runs of a query.
#[derive(Clone, Debug, Default)]
pub struct NearRuns {
    /// The boxes around its runs that qualify, in the order of targets and columns.
    pub boxes: Vec<RunBox>,
    /// Rows near its runs, with all columns of the target, in the order of targets.
    pub near: Vec<RunBox>,
}

/// Limits and conditions of a search for the runs of long queries.
#[derive(Clone, Copy)]
pub struct RunQuestions<'a> {
    /// Orientations of each record.
    pub strands: usize,
    /// Bases of a run, at least.
    pub least: usize,
    /// Whether a run of a query qualifies.
    pub qualifies: &'a (dyn Fn(u32, &ExactRun) -> bool + Sync),
    /// Rows of a query near runs that are enough on a target.
    pub enough: &'a (dyn Fn(u32, u32) -> u32 + Sync),
}

/// Finds the positions of the runs of `queries`, which are all orientations of some records. If a run of a record
/// qualifies on a target, and enough rows of one orientation are near runs there, boxes and rows of the record on the
/// target may be missing.
///
/// A few k-mers of each query show this of most targets that a query belongs to. So the search uses these k-mers
/// first, and then all for the targets on which a query is not decided. The index of the filter finds the runs if that takes less
/// time than reading the targets.
pub fn near_runs(
    batch: &Batch,
    queries: &[u32],
    asked: RunQuestions,
    filter: Option<&Filter>,
) -> Vec<NearRuns> {
    NearRunSearch { batch, queries, asked, filter, look_up: LOOK_UP }.find()
}

/// A search for the positions of runs.
struct NearRunSearch<'a> {
    batch: &'a Batch,
    /// All orientations of some records.
    queries: &'a [u32],
    asked: RunQuestions<'a>,
    filter: Option<&'a Filter>,
    /// Target columns that are read in the time in which the index finds the positions of one k-mer.
    look_up: usize,
}

/// The boxes of a query's runs, and the rows near them.
type QueryBoxes = [Boxes; 2];

impl NearRunSearch<'_> {
    fn find(&self) -> Vec<NearRuns> {
        let (batch, strands) = (self.batch, self.asked.strands);
        let mut all: Vec<QueryBoxes> = vec![Default::default(); self.queries.len()];
        let records: Vec<usize> = (0..self.queries.len() / strands).collect();
        let none = vec![Vec::new(); records.len()];
        let left = self.by_index(&mut all, &records, batch.targets.codes().len(), true);
        self.by_targets(&mut all, &left, &none, true);
        let decide = |(own, queries): (&mut [QueryBoxes], &[u32])| self.decide(own, queries);
        let decided: Vec<Vec<u32>> =
            all.par_chunks_mut(strands).zip(self.queries.par_chunks(strands)).map(decide).collect();
        let undecided = groups(&decided, batch.targets.len());
        let columns = undecided.iter().map(|group| self.columns_to_read(group, &decided)).sum();
        let left = self.by_index(&mut all, &undecided.concat(), columns, false);
        let is_left: HashSet<usize> = left.into_iter().collect();
        for mut group in undecided {
            group.retain(|record| is_left.contains(record));
            self.by_targets(&mut all, &group, &decided, false);
        }
        let closed = |[boxes, near]: QueryBoxes| NearRuns { boxes: boxes.closed(), near: near.closed() };
        all.into_par_iter().map(closed).collect()
    }

    /// The numbers of all orientations of these records.
    fn numbers(&self, records: &[usize]) -> Vec<usize> {
        let strands = self.asked.strands;
        records.iter().flat_map(|record| record * strands..(record + 1) * strands).collect()
    }

    /// Number of columns of the targets on which some of these records are not decided.
    fn columns_to_read(&self, records: &[usize], decided: &[Vec<u32>]) -> usize {
        let targets = &self.batch.targets;
        let is_left = |target: &u32| !records.iter().all(|&record| decided[record].contains(target));
        (0..to_u32(targets.len())).filter(is_left).map(|target| targets.get(target as usize).len()).sum()
    }

    /// Adds what the index finds of these records, and returns the other records. Returns all if reading `columns` target columns
    /// takes less time.
    fn by_index(
        &self,
        all: &mut [QueryBoxes],
        records: &[usize],
        columns: usize,
        is_sparse: bool,
    ) -> Vec<usize> {
        let NearRunSearch { batch, queries, asked, .. } = *self;
        let (strands, numbers) = (asked.strands, self.numbers(records));
        let rows: usize = numbers.iter().map(|&number| batch.query(queries[number]).len()).sum();
        let rows = if is_sparse { rows / BLOCKS } else { rows };
        let pays = |filter: &&Filter| {
            filter.row_step(asked.least).is_some_and(|step| rows / step * self.look_up <= columns)
        };
        let Some(filter) = self.filter.filter(pays) else { return records.to_vec() };
        let own: Vec<u32> = numbers.iter().map(|&number| queries[number]).collect();
        let wants = |row: usize| !is_sparse || (row / BLOCK).is_multiple_of(BLOCKS);
        let of_targets = |query: u32, runs: Vec<ExactRun>| {
            let mut all = QueryBoxes::default();
            for of_target in runs.chunk_by(|one, other| one.target == other.target) {
                let mut own = OfQuery::default();
                of_target.iter().for_each(|run| own.take(batch, query, run, &asked));
                own.add_to(&mut all);
            }
            all
        };
        let found = filter.map_runs_in_rows(batch, &own, (asked.least, wants), of_targets);
        let mut left = Vec::new();
        let mut found = found.into_iter();
        for &record in records {
            let of_record: Vec<_> = found.by_ref().take(strands).collect();
            if of_record.iter().any(Option::is_none) {
                left.push(record);
                continue;
            }
            for (all, found) in all[record * strands..].iter_mut().zip(of_record.into_iter().flatten()) {
                let [boxes, near] = found;
                all[0].append(boxes);
                all[1].append(near);
            }
        }
        left
    }

    /// Adds what the k-mers of these records find on the targets on which some of them are not decided.
    fn by_targets(&self, all: &mut [QueryBoxes], records: &[usize], decided: &[Vec<u32>], is_sparse: bool) {
        let NearRunSearch { batch, queries, asked, .. } = *self;
        if records.is_empty() {
            return;
        }
        let (strands, numbers) = (asked.strands, self.numbers(records));
        let own: Vec<u32> = numbers.iter().map(|&number| queries[number]).collect();
        let search = RunSearch { batch, queries: &own, least: asked.least };
        let is_decided = |at: usize, target| decided[records[at / strands]].contains(&target);
        let is_left = |target| (0..records.len()).any(|at| !is_decided(at * strands, target));
        let sink = |target| RunBoxes {
            batch,
            queries: &own,
            asked,
            target,
            is_decided: &is_decided,
            of_query: HashMap::new(),
        };
        search.each_stretch(&KmerTable::new(batch, &own, asked.least, is_sparse), is_left, sink, |found| {
            for (query, own) in found.of_query {
                own.add_to(&mut all[numbers[query as usize]]);
            }
        });
    }

    /// The targets on which a record needs no further search. Other results of its orientations are removed, since they are
    /// found again.
    fn decide(&self, own: &mut [QueryBoxes], queries: &[u32]) -> Vec<u32> {
        let mut decided = Vec::new();
        for ([boxes, near], &query) in own.iter_mut().zip(queries) {
            let (of_boxes, of_near) = (std::mem::take(boxes).closed(), std::mem::take(near).closed());
            let rows = |target| {
                covered(of_near.iter().filter(|own| own.target == target).map(|own| own.rows).collect())
            };
            let targets = of_boxes.chunk_by(|one, other| one.target == other.target).map(|own| own[0].target);
            let is_enough = |&target: &u32| rows(target) >= (self.asked.enough)(query, target);
            let targets: Vec<u32> = targets.filter(is_enough).collect();
            let kept =
                |all: Vec<RunBox>| Boxes::of(all.into_iter().filter(|own| targets.contains(&own.target)));
            (*boxes, *near) = (kept(of_boxes.clone()), kept(of_near.clone()));
            decided.extend(targets);
        }
        decided
    }
}

/// Groups of the records that still have targets to search. Records that were decided on one target form a group of
/// their own, since that target need not be searched for them.
fn groups(decided: &[Vec<u32>], targets: usize) -> Vec<Vec<usize>> {
    let mut of_target: HashMap<Option<u32>, Vec<usize>> = HashMap::new();
    for (record, own) in decided.iter().enumerate().filter(|(_, own)| own.len() < targets) {
        of_target.entry(own.first().copied()).or_default().push(record);
    }
    let mut groups: Vec<Vec<usize>> = of_target.into_values().collect();
    groups.sort_unstable_by_key(|group| (Reverse(group.len()), group[0]));
    let rest: Vec<usize> = groups.drain(groups.len().min(GROUPS)..).flatten().collect();
    groups.extend((!rest.is_empty()).then_some(rest));
    groups
}

/// Boxes of runs on one target.
struct RunBoxes<'a> {
    batch: &'a Batch,
    queries: &'a [u32],
    asked: RunQuestions<'a>,
    target: u32,
    /// Whether a query, by its number, is already decided on a target.
    is_decided: &'a (dyn Fn(usize, u32) -> bool + Sync),
    of_query: HashMap<u32, OfQuery>,
}

/// Boxes of the runs of a query.
#[derive(Default)]
struct OfQuery {
    boxes: Boxes,
    near: Boxes,
    /// Whether enough rows are near runs.
    is_near: bool,
}

impl OfQuery {
    fn add_to(self, [boxes, near]: &mut QueryBoxes) {
        boxes.append(self.boxes);
        near.append(self.near);
    }

    /// Whether no further runs are needed.
    fn is_full(&self) -> bool {
        self.is_near && !self.boxes.is_empty()
    }

    /// Adds a run of the query, unless no further runs are needed.
    fn take(&mut self, batch: &Batch, query: u32, run: &ExactRun, asked: &RunQuestions) {
        if self.is_full() {
            return;
        }
        let (rows, columns) = (batch.query(query).len(), batch.target(run.target).len());
        if !self.is_near {
            let rows = self.near.add(RunBox::near(run, rows));
            self.is_near = rows >= (asked.enough)(query, run.target);
        }
        let around = RunBox::around(run, (rows, columns), REACH);
        if !self.boxes.contains(&around) && (asked.qualifies)(query, run) {
            self.boxes.add(around);
        }
    }
}

impl RunReceiver for RunBoxes<'_> {
    fn is_full(&self, query: u32) -> bool {
        match self.of_query.get(&query) {
            Some(own) => own.is_full(),
            None => (self.is_decided)(query as usize, self.target),
        }
    }

    fn take(&mut self, number: u32, run: ExactRun) {
        let own = self.of_query.entry(number).or_default();
        own.take(self.batch, self.queries[number as usize], &run, &self.asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::candidates::index::IndexShape;
    use crate::terms::batch::Sequences;
    use crate::terms::random::Random;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    fn asked<'a>(
        qualifies: &'a (dyn Fn(u32, &ExactRun) -> bool + Sync),
        enough: &'a (dyn Fn(u32, u32) -> u32 + Sync),
    ) -> RunQuestions<'a> {
        RunQuestions { strands: 1, least: 19, qualifies, enough }
    }

    #[test]
    fn records_are_grouped_by_the_target_that_is_decided() {
        let of = |targets: &[u32]| targets.to_vec();
        let decided = [of(&[0]), of(&[]), of(&[0]), of(&[1]), of(&[0, 1]), of(&[])];
        assert_eq!(groups(&decided, 2), [vec![0, 2], vec![1, 5], vec![3]]);
        assert!(groups(&decided[..1], 1).is_empty());
        let many: Vec<Vec<u32>> = (0..12).map(|target| vec![target]).collect();
        assert_eq!((groups(&many, 12).len(), groups(&many, 12)[GROUPS].len()), (GROUPS + 1, 4));
    }

    /// Many queries with one repeat, against that repeat.
    #[test]
    fn shared_repeats_have_one_box() {
        let query = |at: u8| [&vec![0u8; 60][..], &[1 + at % 3, 2, 3, at % 4], &[3; 40]].concat();
        let all: Vec<Vec<u8>> = (0..400u32).map(|at| query(at as u8)).collect();
        let batch = batch_of(&all, &[vec![0u8; 20_000]]);
        let wanted: Vec<u32> = (0..400).collect();
        let qualifies = |_: u32, run: &ExactRun| run.len >= 60;
        let whole = RunBox { target: 0, rows: (0, 104), columns: (0, 20_000) };
        for own in near_runs(&batch, &wanted, asked(&qualifies, &|_, _| u32::MAX), None) {
            assert_eq!((own.boxes, own.near[0].rows), (vec![whole], (0, 104)));
        }
        let first = near_runs(&batch, &wanted, asked(&qualifies, &|_, _| 104), None);
        assert!(first.iter().all(|own| own.boxes.len() == 1 && own.near[0].rows == (0, 104)));
        let none = near_runs(&batch, &wanted, asked(&|_, _| false, &|_, _| 104), None);
        assert!(none.iter().all(|own| own.boxes.is_empty() && own.near.len() == 1));
    }

    fn batch_of(queries: &[Vec<u8>], targets: &[Vec<u8>]) -> Batch {
        let sequences = |all: &[Vec<u8>]| all.iter().map(Vec::as_slice).collect::<Sequences>();
        Batch {
            queries: Arc::new(sequences(queries)),
            targets: Arc::new(sequences(targets)),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        }
    }

    /// The index finds the same boxes and targets as reading the targets, with all k-mers and with some.
    #[test]
    fn the_index_finds_the_same() {
        let mut random = Random::new(11);
        let mut codes = |len: usize| (0..len).map(|_| random.below(4) as u8).collect::<Vec<u8>>();
        let mut targets: Vec<Vec<u8>> = [6000, 40, 9000, 3000].into_iter().map(&mut codes).collect();
        // A copy, a repeat, and residues that are not bases.
        let copied = targets[0][2000..3200].to_vec();
        targets[3][500..1700].copy_from_slice(&copied);
        targets[2][100..900].fill(2);
        targets[0][4000..4010].fill(14);
        let mut queries = vec![codes(2000), codes(10), vec![2u8; 400], targets[1].clone()];
        for (target, start, len) in
            [(0, 1500, 2500), (0, 3600, 900), (2, 0, 3000), (3, 0, 2900), (2, 5000, 1200)]
        {
            let mut own = targets[target][start..start + len].to_vec();
            for at in (0..own.len()).step_by(60 + start % 50) {
                own[at] = (own[at] + 1) % 4;
            }
            own.extend(codes(700));
            queries.extend([own.clone(), codes(own.len())]);
        }
        let batch = batch_of(&queries, &targets);
        let wanted: Vec<u32> = (0..to_u32(queries.len())).collect();
        let qualifies = |_: u32, run: &ExactRun| run.len >= 40;
        let half = |query: u32, _: u32| to_u32(queries[query as usize].len()) / 2;
        let all_rows = |_: u32, _: u32| u32::MAX;
        let supported = |found: &[NearRuns]| -> Vec<Vec<u32>> {
            let of = |own: &NearRuns, enough: u32| {
                let rows = |target: u32| {
                    covered(own.near.iter().filter(|own| own.target == target).map(|own| own.rows).collect())
                };
                let mut targets: Vec<u32> = own.boxes.iter().map(|own| own.target).collect();
                targets.dedup();
                targets.retain(|&target| rows(target) >= enough);
                targets
            };
            found.iter().zip(&wanted).map(|(own, &query)| of(own, half(query, 0))).collect()
        };
        let asked = |enough| RunQuestions { strands: 2, ..asked(&qualifies, enough) };
        for shape in [IndexShape { letters: 7, step: 1 }, IndexShape { letters: 9, step: 4 }] {
            let filter = Filter::by_index_of(&batch.targets, &batch.scoring, 1, shape).unwrap();
            filter.intact_windows(&batch, &[]);
            assert!(filter.row_step(19).is_some());
            let find = |enough, filter, look_up| {
                NearRunSearch { batch: &batch, queries: &wanted, asked: asked(enough), filter, look_up }
                    .find()
            };
            let [read, indexed] = [None, Some(&filter)].map(|filter| find(&half, filter, 0));
            let targets = supported(&read);
            assert!(targets.iter().filter(|targets| !targets.is_empty()).count() >= 4, "{targets:?}");
            assert_eq!(supported(&indexed), targets);
            let [read, indexed] = [None, Some(&filter)].map(|filter| find(&all_rows, filter, 0));
            for (read, indexed) in read.iter().zip(&indexed) {
                assert_eq!(read.boxes, indexed.boxes);
                assert_eq!(read.near, indexed.near);
            }
            // Looking up is too expensive.
            let dear = find(&half, Some(&filter), usize::MAX / (1 << 20));
            assert_eq!(supported(&dear), targets);
        }
    }
}
