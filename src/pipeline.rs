//! The run: reader, workers and writer side by side, in order, in bounded memory. The only place with
//! threads and channels.
//!
//! The reader gathers queries into batches, workers find their hits and format them, the writer puts
//! batches back in order. A batch enters only when one has left, so that what is under way is bounded
//! whatever the input; several workers on one device let the host's work for one batch go on beside
//! the device's work for another.

mod device;
mod estimate;
pub mod grep;
mod intake;
pub mod merge;
mod order;
mod receipts;
mod scanner;
pub mod search;
#[cfg(test)]
mod tests;
mod threads;

use crate::alignment::Found;
use crate::alphabet::Alphabet;
use crate::batch::{Batch, Sequences};
use crate::candidates::Layout;
use crate::candidates::filter::Filter;
use crate::engine::Guarded;
use crate::error::{EngineError, Error, Result};
use crate::hits::{self, Effort, Rules, Scope};
use crate::options::{FilterChoice, Format, Mode, Options, default_min_score};
use crate::reader::{Extent, Queries, Reader, Record, References, read_reference_part, read_references};
use crate::scoring::Scoring;
use crate::writer::bgzf::{Joint, Part};
use crate::writer::receipt::Choice;
use crate::writer::tags::Typical;
use crate::writer::{NamedTargets, Output, Writer};
use device::{Crew, Device};
use receipts::Noted;
use std::collections::BTreeMap;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use threads::{set_threads, start};

pub use receipts::{is_done, is_search_done};

/// Batches under way beside those of the workers: one being gathered, one waiting, one being written.
const OTHER_BATCHES: usize = 3;
/// How long a batch should take, and how much the first ones hold.
const BATCH_SECONDS: f64 = 0.3;
const FIRST_CELLS: u64 = 1 << 30;

/// Where a run's news go. Called from several threads.
pub trait Reporter: Sync {
    /// Something that the user should know.
    fn note(&self, text: &str);
    /// Something that only a curious user wants to know.
    fn detail(&self, text: &str);
    /// Queries, or texts of a search, that are done.
    fn progress(&self, queries: u64);
    /// What the run does from now on.
    fn stage(&self, _: Stage) {}
}

/// What a run does, for who waits for it.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// In words, such as "aligning".
    pub doing: &'static str,
    /// What [`Reporter::progress`] counts, one and several of it, where that is counted.
    pub counted: Option<[&'static str; 2]>,
    /// Bytes of the input that are done with so far, which grow while the stage lasts; packed as they lie in the file.
    pub bytes: Option<Arc<AtomicU64>>,
    /// All of them, where that is known.
    pub size: Option<u64>,
}

impl Stage {
    /// One of which nothing is known but that it lasts.
    fn of(doing: &'static str) -> Stage {
        Stage { doing, ..Stage::default() }
    }
}

/// `1 query`, `2 queries`.
pub fn counted(count: u64, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// What is aligned, by number.
const QUERIES: [&str; 2] = ["query", "queries"];

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub queries: u64,
    /// Where in the input a part of it begins and ends ([`Extent::places`]).
    pub stretch: (u64, u64),
    pub aligned: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Queries that were searched in full since the filter could not narrow down where they align; `None` without a
    /// filter.
    pub whole: Option<u64>,
    pub elapsed: Duration,
    /// Time in reading and parsing.
    pub reading: Duration,
    /// Time in scoring, summed over workers.
    pub scoring: Duration,
    /// Time in filling directions and walking paths, summed over workers.
    pub backtrace: Duration,
    /// Time in formatting and writing.
    pub writing: Duration,
}

/// Queries on their way to a worker.
struct QueryBatch {
    number: usize,
    /// Place of the first among all queries, for pairs.
    first: u64,
    /// Name of the query before it.
    before: Option<String>,
    records: Vec<Record>,
    /// Forward, and where asked for reverse, codes of each.
    queries: Sequences,
    /// What it was taken to be, by which the next ones are sized.
    cells: u64,
    /// Bytes of the input up to its end, about.
    bytes: u64,
}

/// A batch on its way to the writer.
struct Written {
    number: usize,
    parts: Vec<Part>,
    queries: u64,
    bytes: u64,
    aligned: u64,
    effort: Effort,
    formatting: Duration,
}

/// What all stages of a run share.
struct Run<'a> {
    options: &'a Options,
    reporter: &'a dyn Reporter,
    targets: Arc<Sequences>,
    /// Where they come from, as errors show it.
    target_file: PathBuf,
    /// Residues of the longest of all, those of other parts too.
    longest_target: usize,
    scoring: Arc<Scoring>,
    rules: Rules,
    strands: u32,
    filter: Option<Filter>,
    writer: Writer,
    failure: Failure,
    /// Cells that a batch should have, as the workers' speed suggests.
    cells: AtomicU64,
    /// Time in reading, nanoseconds.
    reading: AtomicU64,
    /// Bytes of the queries that are written.
    done: Arc<AtomicU64>,
}

/// The first error of a run; it stops all stages.
#[derive(Default)]
struct Failure {
    first: Mutex<Option<Error>>,
    stop: AtomicBool,
}

impl Failure {
    fn note(&self, error: Error) {
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(error);
        }
        self.stop.store(true, Ordering::Release);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn take(&self) -> Option<Error> {
        self.first.lock().ok().and_then(|mut first| first.take())
    }
}

/// Runs `swalign` as `options` ask.
pub fn run(options: &Options, reporter: &dyn Reporter) -> Result<Summary> {
    let options = &Options { threads: set_threads(options.threads, reporter)?, ..options.clone() };
    thread::scope(|scope| run_beside(scope, options, reporter))
}

/// The run itself, beside the threads that open its devices and make them ready.
fn run_beside<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    options: &'scope Options,
    reporter: &dyn Reporter,
) -> Result<Summary> {
    let begun = Instant::now();
    let noted = Noted::of(options)?;
    // Opening a GPU takes longer than reading a few megabases: do both at once.
    let (first, length) = sync_channel(1);
    let opening = device::open_beside(scope, options, length)?;
    let inputs = Inputs::read(options, reporter, first);
    if !opening.is_finished() {
        reporter.stage(Stage::of("opening the GPU"));
    }
    let (reading, opened) = (begun.elapsed(), opening.join());
    let Inputs { references, target_file, queries } = inputs?;
    let (device, remark) = match opened {
        Ok(opened) => opened?,
        Err(_) => return Err(EngineError::Lost("the driver failed while it was opened".to_string()).into()),
    };
    let run = Run::new(options, reporter, references, target_file, &device)?;
    run.reading.store(reading.as_nanos() as u64, Ordering::Relaxed);
    reporter.note(&format!("using {}{remark}", device.describe()));
    let mut output = receipts::open(options.output.as_deref(), &noted)?;
    let crew = device.crew(options.threads)?;
    let mut summary = run.whole(queries, (&crew, &|worker| device.engine(worker)), &mut output)?;
    match noted {
        None => output.finish()?,
        Some(noted) => {
            let frame =
                (run.writer.header().iter().map(|part| part.len() as u64).sum(), run.writer.joint()?.end());
            let records = (summary.queries, summary.stretch);
            noted.finish(output, options.output.as_deref(), frame, records, Some(run.choice()))?;
        }
    }
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

/// What is read first, where every query meets every reference, and of pairs.
const READING: [&str; 2] = ["reading references", "reading targets"];

/// What is read before the run begins.
struct Inputs {
    references: References,
    target_file: PathBuf,
    /// Not further than is needed to know that there are some; no code of theirs is known yet.
    queries: Queries,
}

impl Inputs {
    /// Reads them; `first` is told the length of the first query as soon as it is known.
    fn read(options: &Options, reporter: &dyn Reporter, first: SyncSender<usize>) -> Result<Inputs> {
        order::check_paths(options)?;
        let is_paf = options.format == Format::Paf;
        let mut reader = match options.ref_part {
            None => Reader::open(&options.reference)?,
            Some(_) => Reader::open_twice(&options.reference)?,
        }
        .with_any_names(is_paf || options.rename_references);
        let mut queries = Reader::open_share(&options.query, options.part)?.with_any_names(is_paf);
        let (doing, bytes) =
            (READING[usize::from(options.mode == Mode::Pairs)], Some(reader.meter().count()));
        // A part of the references reads them twice.
        let size = options.ref_part.map_or_else(|| estimate::bytes(&options.reference, None), |_| None);
        reporter.stage(Stage { doing, bytes, size, counted: None });
        order::check(options, &mut queries, &mut reader)?;
        let first_query = queries.peek()?.map(|query| query.sequence.len());
        if let Some(len) = first_query {
            // No thread asks where there is no device to make ready.
            let _ = first.send(len);
        }
        let references = match options.ref_part {
            None => read_references(&mut reader, options.alphabet)?,
            Some(share) => read_reference_part(&mut reader, options.alphabet, share)?,
        };
        warn(reporter, reader.warning());
        warn(reporter, order::warning(options, (&mut queries, first_query.unwrap_or(0)), &references)?);
        let (alphabet, given) = (references.alphabet, options.alphabet.is_some());
        let queries = Queries::new(queries, alphabet, given, strands(options, alphabet) == 2);
        Ok(Inputs { references, target_file: reader.path().to_path_buf(), queries })
    }
}

/// The filter that was asked for; `None` where there is none for such targets and scores.
fn filter(
    options: &Options,
    (targets, scoring, strands): (&Arc<Sequences>, &Arc<Scoring>, u32),
    device: &Device,
) -> Option<Filter> {
    if options.mode == Mode::Pairs {
        return None;
    }
    let scan = || Box::new(device.finder(targets));
    let parts = options.part.map_or(1, |part| u64::from(part.of));
    let queries = estimate::letters(&options.query).map(|letters| letters / parts);
    let filter = match options.filter {
        FilterChoice::None => None,
        FilterChoice::Auto => Filter::auto(targets, scoring, strands, scan(), queries),
        FilterChoice::Index => Filter::by_index(targets, scoring, strands),
        FilterChoice::Scan => Filter::by_scan(targets, scoring, strands, scan()),
    };
    filter.map(|filter| filter.with_costs(device.costs(options.threads)))
}

/// Strands on which each query is aligned.
fn strands(options: &Options, alphabet: Alphabet) -> u32 {
    if options.both_strands && alphabet == Alphabet::Dna { 2 } else { 1 }
}

fn warn(reporter: &dyn Reporter, warning: Option<String>) {
    if let Some(warning) = warning {
        reporter.note(&format!("warning: {warning}"));
    }
}

/// What the references are, for a curious user.
fn told(targets: &NamedTargets, longest: usize) -> String {
    let NamedTargets { names, lengths, sequences, .. } = targets;
    let letters: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let own = match sequences.len() == names.len() {
        true => String::new(),
        false => format!("; of this part {}, {} letters", sequences.len(), sequences.codes().len()),
    };
    let references = counted(names.len() as u64, ["reference", "references"]);
    format!("{references}, {letters} letters, the longest {longest}{own}")
}

impl<'a> Run<'a> {
    fn new(
        options: &'a Options,
        reporter: &'a dyn Reporter,
        references: References,
        target_file: PathBuf,
        device: &Device,
    ) -> Result<Run<'a>> {
        let alphabet = references.alphabet;
        let scoring = Arc::new(options.scoring.resolve(alphabet)?);
        let min_score = options.min_score.unwrap_or_else(|| default_min_score(&scoring));
        // What a query is refused for must not depend on the part.
        let longest_target = references.lengths.iter().max().map_or(0, |&len| len as usize);
        let targets = Arc::new(references.sequences);
        let named = NamedTargets {
            names: references.names,
            lengths: references.lengths,
            sequences: Arc::clone(&targets),
            first: references.first,
        };
        reporter.detail(&told(&named, longest_target));
        let writer = Writer::new(options, min_score, Arc::clone(&scoring), named)?;
        let rules = Rules {
            min_score,
            secondary_ppm: (options.secondary_ratio * 1e6).round() as i64,
            max_hits: options.max_hits,
        };
        reporter.detail(&format!("{scoring}, min_score={min_score}"));
        let strands = strands(options, alphabet);
        let filter = filter(options, (&targets, &scoring, strands), device);
        if filter.is_none() && matches!(options.filter, FilterChoice::Index | FilterChoice::Scan) {
            reporter.note(
                "no filter of that name for these references and scores: every query is searched in full",
            );
        }
        Ok(Run {
            options,
            reporter,
            targets,
            target_file,
            longest_target,
            scoring,
            rules,
            strands,
            filter,
            writer,
            failure: Failure::default(),
            cells: AtomicU64::new(FIRST_CELLS),
            reading: AtomicU64::new(0),
            done: Arc::default(),
        })
    }

    /// How hits are chosen, for those who join parts.
    fn choice(&self) -> Choice {
        let Rules { min_score, secondary_ppm, max_hits } = self.rules;
        Choice { min_score, secondary_ppm, max_hits, typical: Typical::of(&self.scoring) }
    }

    /// Runs reader, workers and writer until the input is at its end or one of them fails.
    fn whole(
        &self,
        queries: Queries,
        (crew, engine): (&Crew, &(dyn Fn(usize) -> Guarded + Sync)),
        output: &mut Output,
    ) -> Result<Summary> {
        self.reporter.stage(Stage {
            doing: "aligning",
            counted: Some(QUERIES),
            bytes: Some(Arc::clone(&self.done)),
            size: estimate::bytes(&self.options.query, self.options.part),
        });
        let (to_workers, from_reader) = sync_channel(1);
        let (to_writer, from_workers) = sync_channel(1);
        let batches = crew.workers + OTHER_BATCHES;
        let (leave, enter) = sync_channel(batches);
        for _ in 0..batches {
            // There is room for all of them.
            let _ = leave.send(());
        }
        // Each stage owns its ends of the channels, so that one that stops wakes its neighbours.
        let from_reader = Arc::new(Mutex::new(from_reader));
        let extent = queries.extent();
        let mut summary = Summary { whole: self.filter.as_ref().map(|_| 0), ..Summary::default() };
        let mut joint = self.writer.joint()?;
        thread::scope(|scope| {
            let read = move || self.guard(|| self.read(queries, crew, enter, to_workers));
            self.guard(|| start(scope, read).map(drop));
            for worker in 0..crew.workers {
                let to_writer = to_writer.clone();
                let from_reader = Arc::clone(&from_reader);
                let extent: &Extent = &extent;
                let work = move || {
                    let mut engine = engine(worker);
                    let align = |batch| {
                        crew.run(worker, || self.align(&mut engine, batch, crew.portion))
                            .map_err(|error| extent.shift(error))
                    };
                    self.work(align, &from_reader, &to_writer);
                };
                self.guard(|| start(scope, work).map(drop));
            }
            drop((from_reader, to_writer));
            self.guard(|| self.write(from_workers, leave, (&mut joint, output), &mut summary));
        });
        summary.stretch = extent.places();
        summary.reading = Duration::from_nanos(self.reading.load(Ordering::Relaxed));
        match self.failure.take() {
            Some(error) => Err(error),
            // Only now: what ends a file says that nothing is missing.
            None => {
                if summary.queries == 0 {
                    self.begin(output)?;
                }
                output.put(&joint.finish()?).map(|()| summary)
            }
        }
    }

    /// Writes the header.
    fn begin(&self, output: &mut Output) -> Result<()> {
        self.writer.header().iter().try_for_each(|part| output.put(part))
    }

    /// Runs a stage; its error stops the others.
    fn guard(&self, stage: impl FnOnce() -> Result<()>) {
        if let Err(error) = stage() {
            self.failure.note(error);
        }
    }

    /// A worker's stage. Its error, a panic too, goes to the writer: that one may wait for this batch
    /// while the reader waits for room and the other workers for the reader.
    fn work(
        &self,
        mut align: impl FnMut(QueryBatch) -> Result<Written>,
        from_reader: &Mutex<Receiver<QueryBatch>>,
        to_writer: &SyncSender<Result<Written>>,
    ) {
        loop {
            let Ok(Ok(batch)) = from_reader.lock().map(|receiver| receiver.recv()) else { return };
            if self.failure.stopped() {
                return;
            }
            let aligned = || align(batch);
            let written = panic::catch_unwind(AssertUnwindSafe(aligned)).unwrap_or_else(|_| {
                Err(EngineError::Internal("a thread that aligns stopped in the middle".to_string()).into())
            });
            let failed = written.is_err();
            if to_writer.send(written).is_err() || failed {
                return;
            }
        }
    }

    /// Finds and formats the hits of one batch.
    fn align(&self, engine: &mut Guarded, queries: QueryBatch, portion: usize) -> Result<Written> {
        let begun = Instant::now();
        let QueryBatch { number, first, before, records, queries, cells, bytes } = queries;
        let paired = (self.options.mode == Mode::Pairs).then_some(first as u32);
        let most = match paired {
            Some(first) => self.targets.len().saturating_sub(first as usize),
            None => records.len(),
        };
        // Queries beyond the last target end the run in an error once they are counted.
        let queries = match most < records.len() {
            true => (0..most * self.strands as usize).map(|index| queries.get(index)).collect(),
            false => queries,
        };
        let batch = Batch {
            queries: Arc::new(queries),
            targets: Arc::clone(&self.targets),
            scoring: Arc::clone(&self.scoring),
        };
        let layout = Layout { strands: self.strands, paired };
        let scope = Scope { batch: &batch, layout, rules: self.rules, filter: self.filter.as_ref(), portion };
        let mut effort = Effort::default();
        let found = self.find(engine, &scope, &mut effort)?;
        drop(batch);
        self.learn(cells, begun.elapsed());
        let formatting = Instant::now();
        let parts = self.writer.parts(before.as_deref(), &records[..found.len()], &found)?;
        Ok(Written {
            number,
            parts,
            queries: records.len() as u64,
            bytes,
            aligned: found.iter().filter(|found| !found.alignments.is_empty()).count() as u64,
            effort,
            formatting: formatting.elapsed(),
        })
    }

    /// Finds the hits; where the device fails and the CPU may take over, does the batch again.
    fn find(&self, engine: &mut Guarded, scope: &Scope, effort: &mut Effort) -> Result<Vec<Found>> {
        let mut found = hits::find(engine, scope, effort);
        if let Err(error) = &found
            && engine.fall_back(error)
        {
            found = hits::find(engine, scope, effort);
        }
        warn(self.reporter, engine.take_notice());
        Ok(found?)
    }

    /// Sizes the batches to come by what this one took.
    fn learn(&self, cells: u64, took: Duration) {
        let wanted = cells as f64 / took.as_secs_f64().max(1e-3) * BATCH_SECONDS;
        let before = self.cells.load(Ordering::Relaxed) as f64;
        let next = wanted.clamp(before / 2.0, before * 4.0).max(1e6);
        self.cells.store(next as u64, Ordering::Relaxed);
    }

    /// The writer's stage: batches in their order.
    fn write(
        &self,
        from_workers: Receiver<Result<Written>>,
        leave: SyncSender<()>,
        (joint, output): (&mut Joint, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        for written in from_workers {
            let written = written?;
            early.insert(written.number, written);
            while let Some(mut written) = early.remove(&next) {
                if self.failure.stopped() {
                    return Ok(());
                }
                let begun = Instant::now();
                if next == 0 {
                    // Only now: what is wrong with the first queries is told before the first byte.
                    self.begin(output)?;
                }
                for part in mem::take(&mut written.parts) {
                    output.put(&joint.add(part)?)?;
                }
                next += 1;
                summary.writing += begun.elapsed() + written.formatting;
                summary.queries += written.queries;
                summary.aligned += written.aligned;
                summary.cells += written.effort.cells;
                summary.whole = summary.whole.map(|whole| whole + written.effort.whole);
                summary.scoring += written.effort.scoring;
                summary.backtrace += written.effort.backtrace;
                self.detail(&written);
                self.done.store(written.bytes, Ordering::Relaxed);
                self.reporter.progress(summary.queries);
                // The reader may be done already.
                let _ = leave.try_send(());
            }
        }
        Ok(())
    }

    fn detail(&self, written: &Written) {
        let Written { number, queries, aligned, effort, formatting, .. } = written;
        self.reporter.detail(&format!(
            "batch {}: {}, {aligned} aligned, {} cells; scoring {:.3} s, backtrace {:.3} s, \
             formatting {:.3} s",
            number + 1,
            counted(*queries, QUERIES),
            effort.cells,
            effort.scoring.as_secs_f64(),
            effort.backtrace.as_secs_f64(),
            formatting.as_secs_f64()
        ));
    }
}
