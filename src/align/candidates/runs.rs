//! Exact runs: bases that a query and a target share on one diagonal.
//!
//! K-mers of the queries are put into one table, and each target is rolled over it once, so the time hardly depends on
//! the number of queries. Every run contains a k-mer that begins at a multiple of the stride, so the others are left
//! out.

mod near;

pub use near::{NearRuns, RunQuestions, near_runs};

use super::boxes::{ExactRun, RunBox, RunSupport};
use crate::terms::alphabet::{Alphabet, is_base};
use crate::terms::batch::{Batch, Sequences};
use crate::terms::casts::{to_u32, to_usize};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Bases of a k-mer at most: two bits each.
const MOST_KMER: usize = 28;
/// Rows from one k-mer of the table to the next, if k-mers are long enough to be rare.
const STRIDE: usize = 4;
const LEAST_SPARSE: usize = 14;
/// Target columns of one unit of work.
const STRETCH: usize = 1 << 18;
/// Maximum number of runs of a query that are kept.
pub const MOST_RUNS: usize = 1 << 11;
/// Bits of the table's sieve for each k-mer.
const SIEVE: usize = 16;
/// Maximum number of target columns with which the table omits k-mers that no target contains.
const FEW_COLUMNS: usize = 1 << 20;
/// Number of entries of a k-mer above which entries of finished queries are dropped, and number of uses of the k-mer
/// between two of these passes.
const HOT: usize = 1 << 6;
const HOT_USES: u32 = 1 << 10;
/// Rows per block. In a sparse table, the first of each `BLOCKS` blocks of a query has k-mers.
const BLOCK: usize = 64;
const BLOCKS: usize = 8;
/// Multiplier of a hash (Knuth 1998, 6.4: the golden ratio).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Whether a query's and a target's code are one of A, C, G, T and equal.
pub fn are_equal(query: u8, target: u8) -> bool {
    Alphabet::Dna.are_equal(query, target)
}

/// K-mers of some queries.
struct KmerTable {
    kmer: usize,
    /// Rows from one k-mer to the next.
    stride: usize,
    /// Whether only the first of [`BLOCKS`] blocks of rows has k-mers.
    is_sparse: bool,
    /// Hash of a k-mer, query and row of its first base, bucket by bucket.
    entries: Vec<(u64, u32, u32)>,
    /// Bits that are set for the hashes of k-mers.
    sieve: Vec<u64>,
    /// Right shift of a hash that gives its bit.
    shift: u32,
    /// Where the entries of each bucket begin. A hash's bucket is its first bits.
    buckets: Vec<u32>,
    bucket_shift: u32,
}

fn hash(kmer: u64) -> u64 {
    kmer.wrapping_mul(GOLDEN)
}

/// Calls `take` with each k-mer without ambiguous bases, and the position of its first base.
fn for_each_kmer(codes: &[u8], kmer: usize, mut take: impl FnMut(u64, usize)) {
    let mask = (1u64 << (2 * kmer)) - 1;
    let (mut word, mut known) = (0u64, 0);
    for (at, &code) in codes.iter().enumerate() {
        known = if is_base(code) { known + 1 } else { 0 };
        word = (word << 2 | u64::from(code & 3)) & mask;
        if known >= kmer {
            take(word, at + 1 - kmer);
        }
    }
}

/// Bits that are set for the hashes of the targets' k-mers. Few k-mers of foreign reads are among them.
struct TargetKmers {
    bits: Vec<u64>,
    /// Right shift of a hash that gives its bit.
    shift: u32,
}

impl TargetKmers {
    /// `None` if the targets have more than [`FEW_COLUMNS`] columns: filling the bits would take longer than they save.
    fn new(targets: &Sequences, kmer: usize) -> Option<TargetKmers> {
        let columns = targets.codes().len();
        if columns > FEW_COLUMNS {
            return None;
        }
        let count = (columns.max(64) * SIEVE).next_power_of_two();
        let (mut bits, shift) = (vec![0u64; count / 64], 64 - count.trailing_zeros());
        for codes in targets.iter() {
            for_each_kmer(codes, kmer, |word, _| {
                let bit = hash(word) >> shift;
                bits[(bit / 64) as usize] |= 1 << (bit % 64);
            });
        }
        Some(TargetKmers { bits, shift })
    }

    fn may_have(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}

impl KmerTable {
    fn new(batch: &Batch, queries: &[u32], least: usize, is_sparse: bool) -> KmerTable {
        let kmer = if least >= LEAST_SPARSE { (least + 1 - STRIDE).min(MOST_KMER) } else { least.max(1) };
        let stride = least.max(1) + 1 - kmer;
        let of_targets = TargetKmers::new(&batch.targets, kmer);
        let hashes: Vec<Vec<(u64, u32, u32)>> = queries
            .par_iter()
            .enumerate()
            .with_min_len(1 << 8)
            .fold(Vec::new, |mut own, (at, &query)| {
                for_each_kmer(batch.query(query), kmer, |word, row| {
                    let is_wanted = row % stride == 0 && (!is_sparse || (row / BLOCK).is_multiple_of(BLOCKS));
                    if is_wanted && of_targets.as_ref().is_none_or(|targets| targets.may_have(hash(word))) {
                        own.push((hash(word), to_u32(at), to_u32(row)));
                    }
                });
                own
            })
            .collect();
        let count: usize = hashes.iter().map(Vec::len).sum();
        let bits = (count.max(64) * SIEVE).next_power_of_two();
        let shift = 64 - bits.trailing_zeros();
        let mut sieve = vec![0u64; bits / 64];
        let bucket_count = count.max(2).next_power_of_two();
        let bucket_shift = 64 - bucket_count.trailing_zeros();
        let mut buckets = vec![0u32; bucket_count + 1];
        for &(hash, ..) in hashes.iter().flatten() {
            let bit = hash >> shift;
            sieve[(bit / 64) as usize] |= 1 << (bit % 64);
            buckets[to_usize(hash >> bucket_shift) + 1] += 1;
        }
        for bucket in 0..bucket_count {
            buckets[bucket + 1] += buckets[bucket];
        }
        let (mut next, mut entries) = (buckets.clone(), vec![(0, 0, 0); count]);
        for entry in hashes.into_iter().flatten() {
            let place = &mut next[to_usize(entry.0 >> bucket_shift)];
            entries[*place as usize] = entry;
            *place += 1;
        }
        KmerTable { kmer, stride, is_sparse, entries, sieve, shift, buckets, bucket_shift }
    }

    /// Whether the table has the k-mer that begins a stride before this one, which begins at `row`.
    fn has_before(&self, row: usize) -> bool {
        row >= self.stride && (!self.is_sparse || row % (BLOCK * BLOCKS) >= self.stride)
    }

    /// Queries and rows of a k-mer.
    fn entries(&self, word: u64) -> impl Iterator<Item = (u32, u32)> + '_ {
        let hash = hash(word);
        let bit = hash >> self.shift;
        let bucket = match self.sieve[(bit / 64) as usize] >> (bit % 64) & 1 {
            0 => 0..0,
            _ => {
                let bucket = to_usize(hash >> self.bucket_shift);
                self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize
            }
        };
        self.entries[bucket].iter().filter(move |entry| entry.0 == hash).map(|&(_, query, row)| (query, row))
    }
}

/// The maximal runs of at least `least` bases of each of `queries`, which are numbers of the batch's queries, in the
/// order of targets and columns. `None` for a query with more than [`MOST_RUNS`].
pub fn exact_runs(batch: &Batch, queries: &[u32], least: usize) -> Vec<Option<Vec<ExactRun>>> {
    let search = RunSearch { batch, queries, least };
    let mut all: Vec<(Vec<ExactRun>, bool)> = vec![(Vec::new(), true); queries.len()];
    search.each_stretch(
        &KmerTable::new(batch, queries, least, false),
        |_| true,
        |_| FewRuns::default(),
        |found| {
            for (query, run) in found.runs {
                let (runs, is_complete) = &mut all[query as usize];
                match runs.len() < MOST_RUNS {
                    true => runs.push(run),
                    false => *is_complete = false,
                }
            }
        },
    );
    all.par_iter_mut().for_each(|(runs, _)| runs.sort_unstable());
    all.into_iter().map(|(runs, is_complete)| is_complete.then_some(runs)).collect()
}

/// The boxes of the supported runs of each of `queries`, in the order of targets and columns. All queries have runs of the
/// same least length, and each has its own support.
pub fn supported_boxes(batch: &Batch, queries: &[(u32, RunSupport)]) -> Vec<Vec<RunBox>> {
    let Some(&(_, RunSupport { least, .. })) = queries.first() else { return Vec::new() };
    let numbers: Vec<u32> = queries.iter().map(|&(query, _)| query).collect();
    let search = RunSearch { batch, queries: &numbers, least };
    let table = KmerTable::new(batch, &numbers, least, false);
    let mut all: Vec<Vec<RunBox>> = vec![Vec::new(); queries.len()];
    for target in 0..to_u32(batch.targets.len()) {
        let mut of_queries: Vec<Vec<ExactRun>> = vec![Vec::new(); queries.len()];
        search.each_stretch(
            &table,
            |other| other == target,
            |_| AllRuns::default(),
            |AllRuns(runs)| runs.into_iter().for_each(|(query, run)| of_queries[query as usize].push(run)),
        );
        let columns = batch.target(target).len();
        let boxes = |(&(query, support), runs): (&(u32, RunSupport), &mut Vec<ExactRun>)| {
            support.boxes(runs, (batch.query(query).len(), columns))
        };
        let boxes: Vec<Vec<RunBox>> = queries.par_iter().zip(&mut of_queries).map(boxes).collect();
        all.iter_mut().zip(boxes).for_each(|(all, boxes)| all.extend(boxes));
    }
    all
}

/// Receiver of the runs on a stretch of a target. Queries are indices into the searched queries.
trait RunReceiver: Send {
    /// Whether no further runs of the query are needed from this stretch.
    fn is_full(&self, query: u32) -> bool;
    fn take(&mut self, query: u32, run: ExactRun);
}

/// Runs, at most [`MOST_RUNS`] + 1 of each query.
#[derive(Default)]
struct FewRuns {
    runs: Vec<(u32, ExactRun)>,
    of_query: HashMap<u32, usize>,
}

impl RunReceiver for FewRuns {
    fn is_full(&self, query: u32) -> bool {
        self.of_query.get(&query).is_some_and(|&runs| runs > MOST_RUNS)
    }

    fn take(&mut self, query: u32, run: ExactRun) {
        *self.of_query.entry(query).or_default() += 1;
        self.runs.push((query, run));
    }
}

/// All runs.
#[derive(Default)]
struct AllRuns(Vec<(u32, ExactRun)>);

impl RunReceiver for AllRuns {
    fn is_full(&self, _: u32) -> bool {
        false
    }

    fn take(&mut self, query: u32, run: ExactRun) {
        self.0.push((query, run));
    }
}

/// A search for the runs of some queries.
struct RunSearch<'a> {
    batch: &'a Batch,
    queries: &'a [u32],
    /// Bases of a run, at least.
    least: usize,
}

impl RunSearch<'_> {
    /// Finds the runs on each stretch of the wanted targets with a separate sink, and passes the sinks to `done` in the
    /// order of stretches.
    fn each_stretch<S: RunReceiver>(
        &self,
        table: &KmerTable,
        wants: impl Fn(u32) -> bool,
        sink: impl Fn(u32) -> S + Sync,
        mut done: impl FnMut(S),
    ) {
        let batch = self.batch;
        if table.entries.is_empty() {
            return;
        }
        let targets: &Sequences = &batch.targets;
        let stretches: Vec<(u32, Range<usize>)> = (0..targets.len())
            .filter(|&target| wants(to_u32(target)))
            .flat_map(|target| {
                let len = targets.get(target).len();
                // K-mers that begin in a stretch are its own.
                (0..len).step_by(STRETCH).map(move |from| (to_u32(target), from..len.min(from + STRETCH)))
            })
            .collect();
        // A few stretches per round bound the memory of their runs.
        for some in stretches.chunks(4 * rayon::current_num_threads().max(1)) {
            let found: Vec<S> = some
                .par_iter()
                .map(|(target, own)| {
                    let mut sink = sink(*target);
                    self.of_stretch(table, (*target, own.clone()), &mut sink);
                    sink
                })
                .collect();
            found.into_iter().for_each(&mut done);
        }
    }

    /// Passes `sink` the runs whose first k-mer in the table begins in these columns of a target.
    fn of_stretch(&self, table: &KmerTable, (target, own): (u32, Range<usize>), sink: &mut impl RunReceiver) {
        let RunSearch { batch, queries, least } = *self;
        let codes = batch.targets.get(target as usize);
        let end = codes.len().min(own.end + table.kmer - 1);
        // Entries of k-mers with more than [`HOT`] entries: a repeat needs them again and again.
        let mut hot: HashMap<u64, (Vec<(u32, u32)>, u32)> = HashMap::new();
        let mut few = Vec::new();
        for_each_kmer(&codes[own.start..end], table.kmer, |word, at| {
            let column = own.start + at;
            few.clear();
            few.extend(table.entries(word).take(HOT + 1));
            let entries = match few.len() > HOT {
                false => &few,
                true => {
                    let (entries, uses) =
                        hot.entry(word).or_insert_with(|| (table.entries(word).collect(), 0));
                    *uses += 1;
                    if uses.is_multiple_of(HOT_USES) {
                        entries.retain(|&(query, _)| !sink.is_full(query));
                    }
                    entries
                }
            };
            for &(query, row) in entries {
                if sink.is_full(query) {
                    continue;
                }
                let (rows, row) = (batch.query(queries[query as usize]), row as usize);
                let before = rows[..row].iter().rev().zip(codes[..column].iter().rev()).take(table.stride);
                let before = before.take_while(|&(&one, &other)| are_equal(one, other)).count();
                // A run is found at its first k-mer in the table.
                if before >= table.stride && table.has_before(row) {
                    continue;
                }
                let after = rows[row + table.kmer..].iter().zip(&codes[column + table.kmer..]);
                let after = after.take_while(|&(&one, &other)| are_equal(one, other)).count();
                let len = before + table.kmer + after;
                if len >= least {
                    let (start, query_start) = (to_u32(column - before), to_u32(row - before));
                    sink.take(query, ExactRun { target, start, query_start, len: to_u32(len) });
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    /// By definition: all diagonals.
    fn by_definition(query: &[u8], targets: &Sequences, least: usize) -> Vec<ExactRun> {
        let mut runs = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            for row in 0..query.len() {
                for column in 0..target.len() {
                    let before = row > 0 && column > 0 && are_equal(query[row - 1], target[column - 1]);
                    let sides = query[row..].iter().zip(&target[column..]);
                    let len = sides.take_while(|&(&one, &other)| are_equal(one, other)).count();
                    if !before && len >= least {
                        let (start, query_start) = (column as u32, row as u32);
                        runs.push(ExactRun { target: number as u32, start, query_start, len: len as u32 });
                    }
                }
            }
        }
        runs.sort_unstable();
        runs
    }

    #[test]
    fn runs_are_those_of_all_diagonals() {
        let mut numbers = Random::new(7);
        let mut below = |bound: u64| numbers.below(bound as usize) as u64;
        for round in 0..60 {
            let letters = [2, 4, 5][round % 3];
            let mut codes = |len: u64| (0..len).map(|_| below(letters) as u8).collect::<Vec<u8>>();
            let targets: Sequences =
                [codes(0), codes(300), codes(7), codes(90)].iter().map(Vec::as_slice).collect();
            let mut all: Vec<Vec<u8>> = (0..6).map(|at| codes(1 + 17 * at)).collect();
            all.push(targets.get(1)[20..120].to_vec());
            let queries: Sequences = all.iter().map(Vec::as_slice).collect();
            let batch = Batch {
                queries: Arc::new(queries),
                targets: Arc::new(targets),
                scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
            };
            for least in [1, 3, 5, 11, 31, 32, 40] {
                let wanted: Vec<u32> = (0..all.len() as u32).rev().collect();
                let found = exact_runs(&batch, &wanted, least);
                for (runs, &query) in found.into_iter().zip(&wanted) {
                    let expected = by_definition(batch.query(query), &batch.targets, least);
                    let expected = (expected.len() <= MOST_RUNS).then_some(expected);
                    assert_eq!(runs, expected, "round {round}, least {least}, query {query}");
                }
            }
        }
    }

    /// With more columns than [`FEW_COLUMNS`], the k-mers of the queries alone are sieved.
    #[test]
    fn runs_on_many_columns() {
        let mut state = 3u64;
        let mut codes = |len: usize| {
            let mut code = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8 % 4
            };
            (0..len).map(|_| code()).collect::<Vec<u8>>()
        };
        let (target, unknown) = (codes(900), vec![14u8; FEW_COLUMNS]);
        let mut queries: Vec<Vec<u8>> = (0..40).map(|at| target[20 * at..20 * at + 60].to_vec()).collect();
        queries.extend((0..40).map(|_| codes(60)));
        let runs = |targets: &[&[u8]]| {
            let batch = Batch {
                queries: Arc::new(queries.iter().map(Vec::as_slice).collect()),
                targets: Arc::new(targets.iter().copied().collect()),
                scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
            };
            let all: Vec<u32> = (0..80).collect();
            [8, 19].map(|least| exact_runs(&batch, &all, least))
        };
        assert_eq!(runs(&[&target]), runs(&[&target, &unknown]));
    }

    #[test]
    fn too_many_runs_are_none() {
        let targets: Sequences = [&vec![0u8; 400][..]].into_iter().collect();
        let queries: Sequences = [&vec![0u8; 20][..], &[0; 5], &[1; 30]].into_iter().collect();
        let batch = Batch {
            queries: Arc::new(queries),
            targets: Arc::new(targets),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let found = exact_runs(&batch, &[0, 1, 2], 5);
        assert!(found.iter().all(Option::is_some));
        assert_eq!(found[0].as_ref().unwrap().len(), 400 - 5 + 20 - 5 + 1);
        let targets: Sequences = [&vec![0u8; MOST_RUNS + 5][..]].into_iter().collect();
        let batch = Batch { targets: Arc::new(targets), ..batch };
        let found = exact_runs(&batch, &[0, 2, 1], 5);
        assert_eq!((&found[0], &found[1]), (&None, &Some(Vec::new())));
    }

    /// Many queries with one repeat, against that repeat: each is known to have too many runs, or none that is long
    /// enough.
    #[test]
    fn shared_repeats_end_early() {
        let targets: Sequences = [&vec![0u8; 20_000][..]].into_iter().collect();
        let query = |at: u8| [&vec![0u8; 60][..], &[1 + at % 3, 2, 3, at % 4], &[3; 40]].concat();
        let all: Vec<Vec<u8>> = (0..400u32).map(|at| query(at as u8)).collect();
        let batch = Batch {
            queries: Arc::new(all.iter().map(Vec::as_slice).collect()),
            targets: Arc::new(targets),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let wanted: Vec<u32> = (0..400).collect();
        assert!(exact_runs(&batch, &wanted, 19).iter().all(Option::is_none));
        assert!(exact_runs(&batch, &wanted, 61).iter().all(|runs| runs.as_ref().is_some_and(Vec::is_empty)));
    }
}
