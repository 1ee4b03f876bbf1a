//! Runs of residues that are not bases. They break seeds, and some scorings let them cost less than other edits
//! (docs/algorithm.md, section 15).

use super::seed_scores::{MOST_EDITS, SCANNED_SEEDS};
use crate::terms::alphabet::is_base;
use crate::terms::bounds::{RunLosses, twice_spoilt_cheaply, twice_to_spoil};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, RwLock};

/// Number of bases that are checked at once.
const CHECKED: usize = 1 << 12;
/// Maximum number of runs whose positions are kept. With more, no level pays.
const MOST_RUNS: usize = 1 << 22;
/// Codes that one thread scans for runs.
const STRETCH: usize = 1 << 22;
/// Maximum number of columns of all dense stretches. Every query is searched there.
const MOST_DENSE: usize = 1 << 13;
/// Length of the shortest run whose spared loss is not cached.
const MOST_CACHED: usize = 1 << 10;

/// The number of runs, and the length of the longest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AmbiguousRuns {
    pub count: u32,
    pub longest: u32,
}

impl AmbiguousRuns {
    /// The runs of a sequence.
    pub fn of(codes: &[u8]) -> AmbiguousRuns {
        let mut runs = AmbiguousRuns::default();
        for_each_run(codes, |run| {
            runs.count = runs.count.saturating_add(1);
            runs.longest = runs.longest.max(to_u32(run.len()));
        });
        runs
    }

    /// Twice the maximum by which the runs let an alignment lose less than the loss at the seeds that they touch.
    pub fn twice_spared(self, seed: (usize, i64), loss: i64) -> i64 {
        i64::from(self.count).saturating_mul(twice_spoilt_cheaply(self.longest as usize, seed, loss))
    }
}

/// The length of a query, and its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryShape {
    pub len: usize,
    pub runs: AmbiguousRuns,
}

impl QueryShape {
    pub fn of(codes: &[u8]) -> QueryShape {
        QueryShape { len: codes.len(), runs: AmbiguousRuns::of(codes) }
    }
}

impl From<usize> for QueryShape {
    /// A query of bases only.
    fn from(len: usize) -> QueryShape {
        QueryShape { len, runs: AmbiguousRuns::default() }
    }
}

/// The length of windows, and a seed: its length and its loss.
type WindowsAndSeed = (usize, (usize, i64));

/// The runs of all targets that may let alignments lose less than other edits, in the order of their positions.
#[derive(Debug)]
pub struct TargetRuns {
    losses: RunLosses,
    runs: Vec<AmbiguousRun>,
    /// Length of the longest run of all.
    longest: usize,
    /// Whether there are too many runs to keep them.
    is_full: bool,
    /// Sums that runs in windows spare, by the length of the windows and by the seed.
    spared: RwLock<HashMap<WindowsAndSeed, Spared>>,
}

/// A run in the concatenated targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AmbiguousRun {
    start: usize,
    len: usize,
}

impl TargetRuns {
    /// The runs in concatenated targets. `None` if ambiguous codes lose as much as other edits.
    pub fn of(codes: &[u8], scoring: &Scoring) -> Option<TargetRuns> {
        TargetRuns::by_stretches(codes, scoring, STRETCH)
    }

    /// The same, in parallel: each stretch of about this many codes is scanned by one thread.
    fn by_stretches(codes: &[u8], scoring: &Scoring, stretch: usize) -> Option<TargetRuns> {
        let mut all = RunCollector::new(scoring)?.finish();
        // No run is in two stretches.
        let begin = |start: usize| {
            start + codes[start..].iter().position(|&code| is_base(code)).unwrap_or(codes.len() - start)
        };
        let mut starts: Vec<usize> = (stretch..codes.len()).step_by(stretch).map(begin).collect();
        starts.insert(0, 0);
        starts.push(codes.len());
        let of_stretch = |ends: &[usize]| {
            let mut collector = RunCollector::new(scoring)?;
            collector.take(&codes[ends[0]..ends[1]]);
            Some((ends[0], collector.finish()))
        };
        starts.dedup();
        let found: Option<Vec<(usize, TargetRuns)>> = starts.par_windows(2).map(of_stretch).collect();
        for (before, found) in found? {
            let runs = found.runs.into_iter().map(|run| AmbiguousRun { start: run.start + before, ..run });
            all.runs.extend(runs);
            all.is_full |= found.is_full || all.runs.len() > MOST_RUNS;
            all.runs.truncate(MOST_RUNS);
            all.longest = all.longest.max(found.longest);
        }
        Some(all)
    }

    /// Whether all runs are known.
    pub fn are_known(&self) -> bool {
        !self.is_full
    }

    /// The stretches of the concatenated targets, of `all` residues, that are at most `reach` residues away from a run, in
    /// ascending order and apart from each other. `None` if not all runs are known.
    pub fn around(&self, reach: usize, all: usize) -> Option<Vec<Range<usize>>> {
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for run in &self.runs {
            let (start, end) = (run.start.saturating_sub(reach), all.min(run.start + run.len + reach));
            match stretches.last_mut() {
                Some(last) if start <= last.end => last.end = end,
                _ => stretches.push(start..end),
            }
        }
        self.are_known().then_some(stretches)
    }

    /// Appends those of the sorted `diagonals` on which a query may meet a run: if it has `len` bases and aligns with
    /// columns up to `gaps` diagonals away.
    pub fn push_near(&self, diagonals: &[i64], (len, gaps): (usize, usize), near: &mut Vec<i64>) {
        let first = |run: &AmbiguousRun| to_i64(run.start) - to_i64(len + gaps);
        let last = |run: &AmbiguousRun| to_i64(run.start + run.len + gaps);
        if self.runs.len() < diagonals.len() {
            for run in &self.runs {
                let from = diagonals.partition_point(|&diagonal| diagonal < first(run));
                let to = diagonals.partition_point(|&diagonal| diagonal <= last(run));
                near.extend(&diagonals[from..to]);
            }
        } else {
            // Runs do not overlap, so their ends are sorted too.
            near.extend(diagonals.iter().filter(|&&diagonal| {
                let next = self.runs.partition_point(|run| last(run) < diagonal);
                self.runs.get(next).is_some_and(|run| first(run) <= diagonal)
            }));
        }
    }

    /// Twice the maximum by which the bases of one run, in the query or in a target, undercut the loss at the seeds that they
    /// touch on one side of a border between segments of seeds. `None` if there are no runs.
    pub fn twice_moved(&self, query: QueryShape, seed: (usize, i64)) -> Option<i64> {
        let longest = self.longest.max(query.runs.longest as usize);
        let each = self.losses.pair.min(self.losses.inserted);
        (longest > 0).then(|| twice_spoilt_cheaply(longest + 2 * seed.0, seed, each))
    }

    /// The sums by which the runs in windows of `columns` columns let an alignment lose less than the loss at the seeds
    /// that they touch.
    fn in_windows(&self, columns: usize, seed: (usize, i64)) -> Spared {
        if self.is_full {
            return Spared { twice: i64::MAX, dense: Arc::default() };
        }
        if self.runs.is_empty() {
            return Spared::default();
        }
        // At most one eighth longer.
        let unit = (columns.max(1).next_power_of_two() / 16).max(1);
        let columns = columns.div_ceil(unit) * unit;
        let key = (columns, seed);
        if let Some(spared) = self.spared.read().ok().and_then(|kept| kept.get(&key).cloned()) {
            return spared;
        }
        let spared = self.spared(columns, seed, MOST_DENSE);
        if let Ok(mut kept) = self.spared.write() {
            kept.insert(key, spared.clone());
        }
        spared
    }

    /// [`Self::in_windows`] for exactly this number of columns, with at most `most_dense` dense columns.
    fn spared(&self, columns: usize, seed: (usize, i64), most_dense: usize) -> Spared {
        let mut most = 0;
        self.for_each_window(columns, seed, |_, twice| {
            most = most.max(twice);
            true
        });
        // The runs of two seeds raise scores by little. Dense stretches hold alignments that cover runs whole.
        let few = 2 * seed.1;
        if most <= few || !self.losses.is_inside {
            return Spared { twice: most, dense: Arc::default() };
        }
        // The lowest sum of sparse windows for which the dense stretches have few columns. It grows with the runs, so a
        // part of the targets has no higher one than all targets.
        let (mut low, mut high) = (few, most);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.dense(columns, seed, (middle, most_dense)) {
                Some(_) => high = middle,
                None => low = middle + 1,
            }
        }
        let dense = self.dense(columns, seed, (high, most_dense)).unwrap_or_default();
        Spared { twice: high, dense: Arc::new(dense) }
    }

    /// Stretches that contain each window of `columns` columns whose runs spare more than `twice`. `None` if they have
    /// more than `most` columns.
    fn dense(
        &self,
        columns: usize,
        seed: (usize, i64),
        (twice, most): (i64, usize),
    ) -> Option<Vec<Range<usize>>> {
        let mut dense: Vec<Range<usize>> = Vec::new();
        let mut total = 0;
        self.for_each_window(columns, seed, |last, sum| {
            if sum > twice {
                let end = last.start + last.len;
                let place = end.saturating_sub(columns)..end + columns;
                match dense.last_mut() {
                    Some(before) if place.start <= before.end => {
                        total += place.end - before.end;
                        before.end = place.end;
                    }
                    _ => {
                        total += place.len();
                        dense.push(place);
                    }
                }
            }
            total <= most
        });
        (total <= most).then_some(dense)
    }

    /// Calls `take` with each run and twice the sum that the runs spare in the window of `columns` columns which ends
    /// with its first column, until it returns false.
    fn for_each_window(
        &self,
        columns: usize,
        seed: (usize, i64),
        mut take: impl FnMut(AmbiguousRun, i64) -> bool,
    ) {
        let mut by_length: Vec<Option<i64>> = Vec::new();
        let mut spares = |run: AmbiguousRun| {
            if run.len >= MOST_CACHED {
                return self.losses.twice_spared(run.len, seed);
            }
            by_length.resize(by_length.len().max(run.len + 1), None);
            *by_length[run.len].get_or_insert_with(|| self.losses.twice_spared(run.len, seed))
        };
        let (mut first, mut sum) = (0, 0i64);
        let mut held: VecDeque<i64> = VecDeque::new();
        for &run in &self.runs {
            while self.runs[first].start + self.runs[first].len + columns <= run.start + 1 {
                sum -= held.pop_front().unwrap_or(0);
                first += 1;
            }
            let spared = spares(run);
            held.push_back(spared);
            sum += spared;
            if !take(run, sum) {
                return;
            }
        }
    }

    /// Stretches of the concatenated targets that contain each alignment of at most `columns` columns whose target runs
    /// spare more than the allowance covers.
    pub fn dense_stretches(
        &self,
        columns: usize,
        (seed, edits): (usize, usize),
        scoring: &Scoring,
    ) -> Arc<Vec<Range<usize>>> {
        let spoil = twice_to_spoil(seed, edits, scoring);
        spoil.map_or_else(Arc::default, |spoil| self.in_windows(columns, (seed, spoil)).dense)
    }
}

/// Sums that runs in windows of targets spare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Spared {
    /// Twice the maximum in any window outside of the dense stretches.
    twice: i64,
    /// Stretches that contain all windows whose runs spare more, in ascending order.
    dense: Arc<Vec<Range<usize>>>,
}

/// Collects the runs of concatenated targets, whose codes may come in parts.
pub struct RunCollector {
    losses: RunLosses,
    /// Lengths of seeds with their losses.
    seeds: Vec<(usize, i64)>,
    scanner: RunScanner,
    runs: Vec<AmbiguousRun>,
    longest: usize,
    is_full: bool,
    /// Whether runs of a length can spare anything.
    counts: HashMap<usize, bool>,
}

impl RunCollector {
    /// `None` if ambiguous codes lose as much as other edits.
    pub fn new(scoring: &Scoring) -> Option<RunCollector> {
        let losses = RunLosses::of(scoring)?;
        let with = |edits: usize| {
            (1..=*SCANNED_SEEDS.end())
                .filter_map(move |seed| Some((seed, twice_to_spoil(seed, edits, scoring)?)))
        };
        Some(RunCollector {
            losses,
            seeds: (0..=MOST_EDITS).flat_map(with).collect(),
            scanner: RunScanner::default(),
            runs: Vec::new(),
            longest: 0,
            is_full: false,
            counts: HashMap::new(),
        })
    }

    /// Takes the next codes.
    pub fn take(&mut self, codes: &[u8]) {
        let RunCollector { losses, seeds, scanner, runs, longest, is_full, counts } = self;
        scanner.scan(codes, |run| {
            *longest = run.len().max(*longest);
            keep(run, (*losses, seeds), (runs, is_full), counts);
        });
    }

    /// The runs of all codes.
    pub fn finish(self) -> TargetRuns {
        let RunCollector { losses, seeds, scanner, mut runs, mut longest, mut is_full, mut counts } = self;
        scanner.end(|run| {
            longest = run.len().max(longest);
            keep(run, (losses, &seeds), (&mut runs, &mut is_full), &mut counts);
        });
        TargetRuns { losses, runs, longest, is_full, spared: RwLock::default() }
    }
}

/// Keeps a run if it can spare anything.
fn keep(
    run: Range<usize>,
    (losses, seeds): (RunLosses, &[(usize, i64)]),
    (runs, is_full): (&mut Vec<AmbiguousRun>, &mut bool),
    counts: &mut HashMap<usize, bool>,
) {
    let spares = || seeds.iter().any(|&seed| losses.twice_spared(run.len(), seed) > 0);
    if *counts.entry(run.len()).or_insert_with(spares) {
        *is_full |= runs.len() == MOST_RUNS;
        if !*is_full {
            runs.push(AmbiguousRun { start: run.start, len: run.len() });
        }
    }
}

/// Maximum by which runs in a query, and in a window of `columns` target columns outside of the dense stretches, raise
/// the score of an alignment above the bound that the seed theorem gives for alignments without such runs.
pub fn allowance(
    query: QueryShape,
    (targets, columns): (&TargetRuns, usize),
    (seed, edits): (usize, usize),
    scoring: &Scoring,
) -> Option<i32> {
    if query.runs.count == 0 && targets.runs.is_empty() {
        return Some(0);
    }
    let seed = (seed, twice_to_spoil(seed, edits, scoring)?);
    let of_query = query.runs.twice_spared(seed, targets.losses.pair);
    let twice = of_query.saturating_add(targets.in_windows(columns, seed).twice);
    // No score is higher than that of a perfect alignment.
    let most = i64::from(scoring.max_potential()).saturating_mul(to_i64(query.len));
    Some(to_i32((twice / 2 + twice % 2).min(most)))
}

/// Maximum number of target columns that an alignment of a query of `len` bases covers if it scores at least `least`.
pub fn columns_of(len: usize, least: i32, scoring: &Scoring) -> usize {
    // Deletions cost no more than the rest of the maximum score.
    let perfect = i64::from(scoring.max_potential()).saturating_mul(to_i64(len));
    let rest = perfect.saturating_sub(i64::from(least)).max(0);
    len.saturating_add(to_usize(scoring.gaps().longest(rest, 0)))
}

/// Finds runs in codes that come in parts.
#[derive(Default)]
struct RunScanner {
    /// Number of codes so far.
    place: usize,
    /// Start of the run that the codes so far end with.
    open: Option<usize>,
}

impl RunScanner {
    /// Calls `take` with each run that ends before the last of the codes.
    fn scan(&mut self, codes: &[u8], mut take: impl FnMut(Range<usize>)) {
        for part in codes.chunks(CHECKED) {
            let start = self.place;
            self.place += part.len();
            // Nearly all parts have only bases, which takes one comparison for each vector.
            let others = part.iter().fold(0, |others, &code| others | u8::from(!is_base(code)));
            if others == 0 && self.open.is_none() {
                continue;
            }
            for (place, &code) in (start..).zip(part) {
                match (is_base(code), self.open) {
                    (false, None) => self.open = Some(place),
                    (true, Some(first)) => {
                        self.open = None;
                        take(first..place);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Calls `take` with the run that the codes end with.
    fn end(self, mut take: impl FnMut(Range<usize>)) {
        if let Some(first) = self.open {
            take(first..self.place);
        }
    }
}

/// Calls `take` with each run.
fn for_each_run(codes: &[u8], mut take: impl FnMut(Range<usize>)) {
    let mut scanner = RunScanner::default();
    scanner.scan(codes, &mut take);
    scanner.end(take);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_parts() {
        let mut codes = vec![0u8; 3 * CHECKED + 5];
        for place in [0, 7, 8, CHECKED - 1, CHECKED, CHECKED + 1, 3 * CHECKED + 4] {
            codes[place] = 14;
        }
        let expected = [0..1, 7..9, CHECKED - 1..CHECKED + 2, 3 * CHECKED + 4..3 * CHECKED + 5];
        let mut runs = Vec::new();
        for_each_run(&codes, |run| runs.push(run));
        assert_eq!(runs, expected);
        for part in [1, 8, 1000, CHECKED + 1] {
            let (mut scanner, mut runs) = (RunScanner::default(), Vec::new());
            codes.chunks(part).for_each(|codes| scanner.scan(codes, |run| runs.push(run)));
            scanner.end(|run| runs.push(run));
            assert_eq!(runs, expected, "{part}");
        }
        // A single N costs less than a mismatch, so all of these runs are kept.
        let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(0);
        let of_stretches = |stretch| {
            let TargetRuns { runs, longest, is_full, .. } =
                TargetRuns::by_stretches(&codes, &scoring, stretch).unwrap();
            let runs: Vec<Range<usize>> = runs.iter().map(|run| run.start..run.start + run.len).collect();
            (runs, longest, is_full)
        };
        for stretch in [1, 7, 8, 9, 1000, CHECKED, CHECKED + 1, codes.len(), STRETCH] {
            assert_eq!(of_stretches(stretch), (expected.to_vec(), 3, false), "{stretch}");
        }
        assert_eq!(AmbiguousRuns::of(&codes), AmbiguousRuns { count: 4, longest: 3 });
        assert_eq!(AmbiguousRuns::of(&[]), AmbiguousRuns::default());
    }

    #[test]
    fn windows_hold_the_runs_of_the_definition() {
        let codes: Vec<u8> = (0..3000u32).map(|k| if k * k % 101 < 7 { 14 } else { 1 }).collect();
        let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let targets = TargetRuns::of(&codes, &scoring).unwrap();
        let mut all = Vec::new();
        for_each_run(&codes, |run| all.push(run));
        let seed = (14, twice_to_spoil(14, 0, &scoring).unwrap());
        for columns in [1usize, 2, 4, 32, 60, 256, 480, 2048, 8192] {
            let held = |start: usize| -> i64 {
                let meets = |run: &&Range<usize>| run.start < start + columns && run.end > start;
                all.iter().filter(meets).map(|run| targets.losses.twice_spared(run.len(), seed)).sum()
            };
            let most = (0..codes.len()).map(held).max().unwrap();
            assert!(most > 0);
            let all_sparse = Spared { twice: most, dense: Arc::default() };
            assert_eq!(targets.spared(columns, seed, 0), all_sparse, "{columns}");
            // With more columns for dense stretches, all windows outside of them spare less.
            for most_dense in [1 << 8, 1 << 9, 1 << 10, 1 << 13] {
                let Spared { twice, dense } = targets.spared(columns, seed, most_dense);
                assert!(twice <= most && dense.iter().map(Range::len).sum::<usize>() <= most_dense);
                let is_dense = |start: usize| {
                    dense.iter().any(|place| place.start <= start && start + columns <= place.end)
                };
                // Windows of whole runs, as alignments cover them.
                for run in &all {
                    for start in (run.end.saturating_sub(columns)..=run.start).step_by(3) {
                        let own = start..start + columns;
                        let inside = |run: &&Range<usize>| own.start <= run.start && run.end <= own.end;
                        let sum: i64 = all
                            .iter()
                            .filter(inside)
                            .map(|run| targets.losses.twice_spared(run.len(), seed))
                            .sum();
                        assert!(sum <= twice || is_dense(start), "{columns} {most_dense} {start}");
                    }
                }
            }
        }
        assert!(targets.in_windows(1001, seed).twice > 0);
        let none = TargetRuns::of(&[0, 1, 2], &scoring).unwrap();
        assert_eq!(none.in_windows(64, seed), Spared::default());
    }

    #[test]
    fn a_dense_stretch_leaves_the_rest_sparse() {
        let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let mut codes = vec![0u8; 1_000_000];
        (500_000..501_000).step_by(10).for_each(|place| codes[place] = 14);
        [2000, 2100].into_iter().for_each(|place| codes[place] = 14);
        let targets = TargetRuns::of(&codes, &scoring).unwrap();
        let more = |targets: &TargetRuns| allowance(150.into(), (targets, 194), (14, 0), &scoring);
        // Three isolated codes add 9, and a fourth one would exceed the loss of two seeds.
        assert_eq!(more(&targets), Some(10));
        let dense = targets.dense_stretches(194, (14, 0), &scoring);
        assert!(
            matches!(&dense[..], [place] if place.start < 499_900 && place.end > 501_100 && place.len() < 1500)
        );
        // Everywhere: no stretch is dense, and each window has up to 21 codes.
        codes.iter_mut().step_by(10).for_each(|code| *code = 14);
        let all = TargetRuns::of(&codes, &scoring).unwrap();
        assert_eq!((more(&all), all.dense_stretches(194, (14, 0), &scoring).len()), (Some(63), 0));
    }

    /// An alignment that crosses a long run loses as much as by other edits.
    #[test]
    fn long_runs_of_targets_are_not_kept() {
        let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let mut codes = vec![0u8; 1000];
        codes[100..120].fill(14);
        codes[500..800].fill(14);
        codes[900] = 14;
        let kept = |scoring: &Scoring| TargetRuns::of(&codes, scoring).unwrap().runs;
        assert_eq!(
            kept(&scoring),
            [AmbiguousRun { start: 100, len: 20 }, AmbiguousRun { start: 900, len: 1 }]
        );
        // Pairs that cost nothing make long runs cheaper than deletions.
        assert_eq!(kept(&Scoring::dna(1, 4, 6, 1).with_iupac()).len(), 3);
    }

    #[test]
    fn an_allowance_by_hand() {
        let cheap = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let read = |count, longest| QueryShape { len: 150, runs: AmbiguousRuns { count, longest } };
        let mut codes = vec![0; 1000];
        codes[500] = 14;
        let runs = |codes: &[u8]| TargetRuns::of(codes, &cheap).unwrap();
        let (none, one) = (runs(&[]), runs(&codes));
        let of = |query, targets| allowance(query, (targets, 300), (14, 0), &cheap);
        assert_eq!(of(read(0, 0), &none), Some(0));
        assert_eq!(of(read(1, 1), &none), Some(3));
        assert_eq!(of(read(2, 20), &one), Some(15));
        assert_eq!(of(read(100, 1), &one), Some(150));
        assert!(TargetRuns::of(&codes, &Scoring::dna(1, 4, 6, 1)).is_none());
        assert_eq!(columns_of(150, 100, &cheap), 194);
    }
}
