//! Estimate of the insert size of a lane's mates, before any of them is paired.
//!
//! The estimate uses the first pairs of the whole lane, so a run of a part gets the same insert size as a whole run.
//! The hits of these pairs as single reads are kept ([`MateSample`]), unless there may be very many: when the run reaches
//! these reads, they are paired without another search.

use super::align::{batch_seconds, next_cells};
use super::device::{Crew, EngineFactory};
use super::intake::check_length;
use super::lanes::whole_mates;
use super::query_search::{Load, QuerySearch};
use super::remembered::Unit;
use super::report::{Reporter, Stage, counted, warn};
use super::setup::FIRST_CELLS;
use super::threads::start;
use crate::align::candidates::Meets;
use crate::align::dedup::queries::{Grouped, UnitMatch};
use crate::align::hits::{self, Effort, QueryRemarks, Rules};
use crate::align::pairing;
use crate::engine::Guarded;
use crate::input::reader::{FileRecord, Mates};
use crate::terms::alignment::QueryResult;
use crate::terms::batch::Sequences;
use crate::terms::casts::to_usize;
use crate::terms::error::{EngineError, Error, Result};
use crate::terms::insert::{InsertSize, Orientation};
use crate::terms::options::{Mode, SequencingLane};
use crate::terms::system::Instant;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Maximum number of pairs from which the insert size is estimated, and of their bases on both strands.
const PAIRS: usize = if cfg!(test) { 200 } else { 20_000 };
const LETTERS: usize = 1 << 26;
/// Maximum number of pairs in a batch.
const BATCH: usize = 1 << 13;
/// Orientations of each read.
const STRANDS: usize = 2;
/// Sequences of each pair.
const EACH: usize = 2 * STRANDS;
/// Unit of the progress messages.
const COUNTED: [&str; 2] = ["pair", "pairs"];

/// The hits of a read before it is paired, and the remarks on it.
#[derive(Clone, Debug, Default)]
pub(super) struct SingleHits {
    pub found: QueryResult,
    pub remarks: QueryRemarks,
}

/// The hits of the first reads of a run, found for the estimate of the insert size.
#[derive(Default)]
pub(super) struct MateSample {
    /// Hits of the next reads of the run, in order.
    next: VecDeque<SingleHits>,
    /// Cost of finding them.
    pub effort: Effort,
    /// Recommended number of cells of a batch, from this search.
    pub cells: Option<u64>,
}

impl MateSample {
    /// Number of coming reads whose hits are known.
    pub fn len(&self) -> usize {
        self.next.len()
    }

    /// The hits of the next `count` reads, or of all remaining reads if there are fewer.
    pub fn take(&mut self, count: usize) -> Vec<SingleHits> {
        let count = count.min(self.next.len());
        self.next.drain(..count).collect()
    }
}

/// The insert size of a lane's mates, and the hits that it is estimated from. The sampled pairs remain the next pairs
/// of `mates`.
pub(super) fn insert_size(
    search: &QuerySearch,
    (lane, mates): (&SequencingLane, &mut Mates),
    (crew, engines): (&Crew, EngineFactory),
) -> Result<(InsertSize, MateSample)> {
    if let Some(insert) = search.options.insert {
        return Ok((insert, MateSample::default()));
    }
    debug_assert_eq!(search.options.mode, Mode::All);
    // If reads may have very many hits, these are found again when the reads come.
    let keeps = search.most_hits() == usize::MAX;
    let best_alone = Rules { max_hits: 1, keeps_ties: false, candidates: None, ..search.rules };
    let search = &QuerySearch { rules: if keeps { search.rules } else { best_alone }, ..*search };
    let mut whole = match search.options.part {
        Some(_) => {
            let whole = whole_mates(search.options, lane, search.scoring.alphabet)?;
            mates.check_same_files(&whole)?;
            Some(whole)
        }
        None => None,
    };
    let (records, codes) = whole.as_mut().unwrap_or(&mut *mates).ahead(PAIRS, LETTERS)?;
    let longest = search.targets.iter().map(<[u8]>::len).max().unwrap_or(0);
    // The run ends at a read that is too long, with an error that names the read.
    let is_too_long =
        |record: &FileRecord| check_length(record.sequence.len(), longest, search.scoring).is_err();
    if records.is_empty() || records.iter().any(is_too_long) {
        return Ok((InsertSize::ASSUMED, MateSample::default()));
    }
    let mut queries = Sequences::default();
    queries.append(codes, 0..records.len() * STRANDS);
    let pairs = SamplePairs::new(queries, search.options.dedup);
    let total = Some(pairs.all() as u64);
    search.reporter.stage(Stage {
        doing: "estimating the insert size",
        counted: Some(COUNTED),
        total,
        ..Stage::default()
    });
    let searched = pairs.search(search, crew, engines)?;
    let of_lane = if search.options.has_lanes() { format!(" of {}", lane.name()) } else { String::new() };
    let telling = pairs.telling(search.targets, &searched.hits);
    let insert = told(&telling, (pairs.all(), &of_lane), search.reporter);
    let before = match &whole {
        Some(whole) => mates.reads_before(whole)?,
        None => Some(0),
    };
    let mut next = pairs.of_reads(searched.hits);
    // A part that begins after the sample contains none of its reads.
    let before = before.map_or(next.len(), |before| to_usize(before.min(next.len() as u64)));
    next.drain(..if keeps { before } else { next.len() });
    Ok((insert, MateSample { next, effort: searched.effort, cells: Some(searched.cells) }))
}

/// The pairs of a sample.
struct SamplePairs {
    /// The distinct pairs, [`EACH`] sequences for each.
    distinct: Sequences,
    /// Number of the distinct pair that each pair equals. `None` if all are treated as distinct.
    groups: Option<Vec<u32>>,
}

impl SamplePairs {
    fn new(queries: Sequences, dedup: bool) -> SamplePairs {
        let unit = Unit { each: EACH, strands: STRANDS, mirrors: false };
        let grouped = dedup.then(|| Grouped::of(&queries, unit, 1.0, |_, _| false)).flatten();
        let Some(Grouped { queries: distinct, groups, .. }) = grouped else {
            return SamplePairs { distinct: queries, groups: None };
        };
        let number = |group: UnitMatch| match group {
            UnitMatch::Of(number) | UnitMatch::Mirrored(number) => Some(number),
            // No pair is known before the first one.
            UnitMatch::Known => None,
        };
        SamplePairs { distinct, groups: Some(groups.into_iter().filter_map(number).collect()) }
    }

    /// Number of pairs, including equal ones.
    fn all(&self) -> usize {
        self.groups.as_ref().map_or(self.distinct.len() / EACH, Vec::len)
    }

    /// The number of the distinct pair that each pair equals.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        let number = move |place: usize| self.groups.as_ref().map_or(place, |groups| groups[place] as usize);
        (0..self.all()).map(number)
    }

    /// The insert sizes of the distinct pairs' hits, once for each pair.
    fn telling(&self, targets: &Sequences, hits: &[[SingleHits; 2]]) -> Vec<(Orientation, u32)> {
        let of_pair = |[one, other]: &[SingleHits; 2]| pairing::insert(targets, [&one.found, &other.found]);
        let of_distinct: Vec<_> = hits.iter().map(of_pair).collect();
        self.numbers().filter_map(|number| of_distinct[number]).collect()
    }

    /// The hits of each read, from the hits of the distinct pairs.
    fn of_reads(&self, hits: Vec<[SingleHits; 2]>) -> VecDeque<SingleHits> {
        match self.groups {
            None => hits.into_iter().flatten().collect(),
            Some(_) => self.numbers().flat_map(|number| hits[number].clone()).collect(),
        }
    }

    /// Searches the distinct pairs with all workers.
    fn search(&self, search: &QuerySearch, crew: &Crew, engines: EngineFactory) -> Result<DistinctPairHits> {
        let progress = Mutex::new(WorkerProgress {
            next: 0,
            done: 0,
            cells: FIRST_CELLS,
            found: Vec::new(),
            fault: None,
        });
        let worker = Worker { search, pairs: self, crew, progress: &progress };
        thread::scope(|scope| {
            for number in 0..crew.workers {
                let work = move || {
                    let all = || {
                        let mut engine = engines(number);
                        crew.run(number, || worker.work(&mut engine));
                    };
                    panic::catch_unwind(AssertUnwindSafe(all)).unwrap_or_else(|_| {
                        let text = "a thread that aligns stopped in the middle".to_string();
                        worker.fail(EngineError::Internal(text).into());
                    });
                };
                if let Err(error) = start(scope, work) {
                    worker.fail(error);
                    return;
                }
            }
        });
        let WorkerProgress { cells, mut found, fault, .. } =
            progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A fault of the references' file may be the cause of other errors.
        if let Some(fault) = search.targets.fault().or(fault) {
            return Err(fault);
        }
        found.sort_by_key(|&(first, ..)| first);
        let mut searched = DistinctPairHits {
            hits: Vec::with_capacity(self.distinct.len() / EACH),
            effort: Effort::default(),
            cells,
        };
        for (_, hits, effort) in found {
            searched.hits.extend(hits);
            searched.effort.add(effort);
        }
        Ok(searched)
    }
}

/// The hits of all distinct pairs.
struct DistinctPairHits {
    hits: Vec<[SingleHits; 2]>,
    effort: Effort,
    /// Recommended number of cells of a batch.
    cells: u64,
}

/// Progress of the workers.
struct WorkerProgress {
    /// First distinct pair that no worker has taken.
    next: usize,
    /// Number of distinct pairs that were searched.
    done: usize,
    /// Recommended number of cells of a batch.
    cells: u64,
    /// Hits, keyed by the first pair of each batch.
    found: Vec<(usize, Vec<[SingleHits; 2]>, Effort)>,
    fault: Option<Error>,
}

/// A worker that searches batches of pairs.
#[derive(Clone, Copy)]
struct Worker<'a> {
    search: &'a QuerySearch<'a>,
    pairs: &'a SamplePairs,
    crew: &'a Crew,
    progress: &'a Mutex<WorkerProgress>,
}

impl Worker<'_> {
    /// Searches batches until none is left or a worker has failed.
    fn work(self, engine: &mut Guarded) {
        while let Some((batch, cells)) = self.next() {
            let begun = Instant::now();
            match self.find(engine, batch.clone()) {
                Ok((hits, effort)) => {
                    let seconds = batch_seconds(engine, self.search);
                    let mut progress = self.lock();
                    progress.cells = next_cells(progress.cells, cells, begun.elapsed(), seconds);
                    progress.done += batch.len();
                    progress.found.push((batch.start, hits, effort));
                    // Pairs that equal others count as done with the last distinct pair.
                    let is_last = progress.done == self.pairs.distinct.len() / EACH;
                    let done = if is_last { self.pairs.all() } else { progress.done };
                    self.search.reporter.progress(done as u64);
                }
                Err(error) => return self.fail(error),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, WorkerProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: Error) {
        self.lock().fault.get_or_insert(error);
    }

    /// The next batch of distinct pairs, with its target number of cells.
    fn next(&self) -> Option<(Range<usize>, u64)> {
        let mut progress = self.lock();
        let (first, count) = (progress.next, self.pairs.distinct.len() / EACH);
        if first == count || progress.fault.is_some() {
            return None;
        }
        let enough = self.search.enough(self.crew, progress.cells);
        let enough = Load { queries: enough.queries.min(2 * BATCH), ..enough };
        let residues = self.search.targets.letters() as u64;
        let mut load = Load::default();
        while progress.next < count && !load.reaches(&enough) {
            for mate in 0..2 {
                let len = self.pairs.distinct.get(progress.next * EACH + mate * STRANDS).len();
                self.search.add(&mut load, len, residues);
            }
            progress.next += 1;
        }
        Some((first..progress.next, load.cells))
    }

    /// The hits of a batch. If the device fails and the CPU may take over, the batch is searched again.
    fn find(&self, engine: &mut Guarded, batch: Range<usize>) -> Result<(Vec<[SingleHits; 2]>, Effort)> {
        let mut queries = Sequences::default();
        queries.append(&self.pairs.distinct, batch.start * EACH..batch.end * EACH);
        self.search.in_scope(queries, (Meets::All, self.crew.portion), |scope, _| {
            let mut effort = Effort::default();
            let mut found = hits::find(engine, scope, &mut effort);
            if let Err(error) = &found
                && engine.fall_back(error)
            {
                effort = Effort::default();
                found = hits::find(engine, scope, &mut effort);
            }
            warn(self.search.reporter, engine.take_notice());
            let found = found?;
            effort.searched += found.len() as u64;
            let single = |found| SingleHits { found, remarks: QueryRemarks::default() };
            let mut hits: Vec<SingleHits> = found.into_iter().map(single).collect();
            for (read, remarks) in effort.take_said() {
                hits[read as usize].remarks = remarks;
            }
            let (pairs, _) = hits.as_chunks_mut::<2>();
            Ok((pairs.iter_mut().map(std::mem::take).collect(), effort))
        })
    }
}

/// Estimates the insert size from pairs, and reports it. `of_lane` names the lane if there are several.
fn told(
    telling: &[(Orientation, u32)],
    (pairs, of_lane): (usize, &str),
    reporter: &dyn Reporter,
) -> InsertSize {
    let [unique, seen] = [telling.len(), pairs].map(|count| counted(count as u64, COUNTED));
    match InsertSize::estimate(telling) {
        Some(insert) => {
            reporter.note(&format!("insert size{of_lane}: {insert}, from {unique} of the first {seen}"));
            insert
        }
        None => {
            let insert = InsertSize::ASSUMED;
            reporter.note(&format!(
                "warning: {unique} of the first {seen}{of_lane} are too few to estimate the insert size; using {insert}; \
                 set the insert size with --insert"
            ));
            insert
        }
    }
}
