//! The run of the command: reader, workers and writer run concurrently, in bounded memory, and the output has the order of
//! the input. No other room has threads or channels.
//!
//! ```text
//! inputs ──> reader (intake) ──QueryBatch──> workers (align) ──Written──> writer (write) ──> Output
//!              ^                                                             │
//!              └─────────────────────────── a token a batch ─────────────────┘
//! ```
//!
//! The reader gathers queries into batches, workers find and format their hits, and the writer restores the order of the
//! batches. A batch is gathered only after an earlier batch was written, which bounds the memory. With several workers on
//! one device, the host's work on one batch overlaps the device's work on another.

use crate::terms::casts::to_u64;

mod about;
mod align;
mod alphabet;
mod ambiguous;
mod audit;
mod circular;
pub mod dedup;
mod device;
mod estimate;
pub mod grep;
pub mod index;
mod inputs;
mod intake;
mod lanes;
mod mates;
pub mod matrix;
pub mod merge;
mod order;
mod profiles;
mod query_search;
mod ranking;
mod receipts;
mod remarks;
mod remembered;
mod repeats;
mod report;
mod scanner;
pub mod search;
mod setup;
mod significance;
mod source;
mod spool;
#[cfg(test)]
mod tests;
mod threads;
mod write;

use crate::align::candidates::filter::Filter;
use crate::align::hits::{Rules, Tiers};
use crate::align::pairing::Pairing;
use crate::align::split::Splitting;
use crate::engine::Engine;
use crate::input::reader::{Extent, FileRecord, FileState, QuerySource};
use crate::output::statistics::Tally;
use crate::output::writer::output::CompanionFiles;
use crate::output::writer::sink::RecordSink;
use crate::output::writer::{Output, Writer};
use crate::terms::alignment::Strands;
use crate::terms::batch::Sequences;
use crate::terms::error::{EngineError, Error, Result};
use crate::terms::insert::InsertSize;
use crate::terms::options::{Mode, Options};
use crate::terms::scoring::Scoring;
use crate::terms::system::{HAS_THREADS, Instant};
use about::FilesAbout;
use align::{AlignedBatch, Turns};
use audit::{Audit, AuditInputs};
use device::{Crew, EngineFactory};
use inputs::OpenInputs;
use intake::Intake;
use lanes::{OpenLane, SequencingLanes};
use mates::{MateSample, SingleHits};
use profiles::ProfileSearch;
use query_search::QuerySearch;
use ranking::Ranking;
use receipts::ReceiptRun;
use remembered::Remembered;
use repeats::TakenOut;
use report::QUERIES;
use significance::Least;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use threads::{set_threads, start};

pub use receipts::{is_done, is_search_done};
pub use report::{Reporter, Stage, Summary, counted};

/// Queries on their way to a worker.
struct QueryBatch {
    number: usize,
    /// Index of the first query among all queries, for pairs.
    first: u64,
    /// Name of the query before it.
    before: Option<String>,
    records: Vec<FileRecord>,
    /// Forward codes of each query and, if both strands are searched, reverse codes.
    queries: Sequences,
    /// The hits of each query as a single read, if these are mates from which the insert size was estimated. Otherwise
    /// empty.
    known: Vec<SingleHits>,
    /// Number of cells that determined the size of the batch.
    cells: u64,
    /// Approximate number of input bytes up to its end.
    bytes: u64,
}

/// What all stages of a run share.
struct Run<'a> {
    options: &'a Options,
    reporter: &'a dyn Reporter,
    targets: Arc<Sequences>,
    /// Indices of the records in the targets' file that have no residues and are no targets.
    left_out: Vec<u64>,
    /// The file of the targets, for errors.
    target_file: PathBuf,
    /// Residues of the longest of all targets, including those of other parts.
    longest_target: usize,
    /// Residues of the shortest of all targets.
    shortest_target: usize,
    scoring: Arc<Scoring>,
    rules: Rules,
    /// Names of the references if a hash chooses among equal hits.
    tie_names: Option<Vec<String>>,
    /// Minimum scores of single queries.
    least: Least,
    /// Minimum scores by the lengths of queries, if no minimum score is given.
    tiers: Option<Tiers>,
    /// How hits are ranked, if not by their scores.
    ranking: Option<Ranking>,
    /// How mates are paired; `None` if the queries of the lane are single reads.
    pairing: Option<Pairing>,
    /// The insert size of all mates; `None` if each lane has its own.
    insert: Option<InsertSize>,
    /// How queries are split, if they are split.
    split: Option<Splitting>,
    /// Minimum scores of supplementary hits by the lengths of free intervals, if the run has tiers.
    split_tiers: Option<Tiers>,
    strands: Strands,
    filter: Option<Filter>,
    repeats: TakenOut,
    remembered: Remembered,
    /// Set if queries have profiles.
    profiles: Option<ProfileSearch>,
    /// Set if statistics are requested.
    tally: Option<Tally>,
    /// Judges the records of another program, which are then the output.
    audit: Option<Audit>,
    writer: Writer,
    turns: Turns,
    /// Number of queries that a worker searches together, by the number of their hits.
    room: AtomicUsize,
    failure: Failure,
    /// Number of cells that a batch should have, by the workers' speed.
    cells: AtomicU64,
    /// Time spent reading, in nanoseconds.
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
    let mut options = Options { threads: set_threads(options.threads, reporter)?, ..options.clone() };
    let audited = AuditInputs::open(&mut options, reporter)?;
    let options = &options;
    thread::scope(|scope| run_beside(scope, options, audited, reporter))
}

/// The run itself, beside the threads that open its devices and prepare them.
fn run_beside<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    options: &'scope Options,
    mut audited: Option<AuditInputs>,
    reporter: &dyn Reporter,
) -> Result<Summary> {
    let begun = Instant::now();
    let noted = ReceiptRun::of(options)?;
    // Opening a GPU takes longer than reading a few megabases: do both at once.
    let (first, length) = sync_channel(1);
    let opening = device::open_beside(scope, options, length)?;
    let queries = audited.as_mut().and_then(|audited| audited.queries.take());
    let stretch = audited.as_ref().and_then(|audited| audited.stretch);
    let inputs = OpenInputs::read(options, queries, reporter, first);
    if !opening.is_finished() {
        reporter.stage(Stage::of("opening the GPU"));
    }
    let (reading, opened) = (begun.elapsed(), opening.join());
    let OpenInputs { references, target_file, index, runs, mut lanes, profiles } = inputs?;
    let (hardware, remark) = match opened {
        Ok(opened) => opened?,
        Err(_) => {
            let text = "the GPU driver failed to start; update the driver, or use the CPU with --device cpu";
            return Err(EngineError::Lost(text.to_string()).into());
        }
    };
    reporter.note(&format!("using {}{remark}", hardware.describe()));
    let crew = hardware.crew(options.threads, setup::has_sampled_index(options, &references))?;
    let engines: EngineFactory = &|worker| hardware.engine(worker);
    let references = (references, target_file, (index, runs));
    let mut first = lanes.next(options.mode)?;
    let machine = (&hardware, &crew, engines);
    let (mut run, sample) = Run::new(options, reporter, references, first.as_mut(), machine)?;
    run.profiles = ProfileSearch::new(options, profiles);
    if let Some(audited) = audited {
        run.audit = Some(Audit::new(options, audited, run.writer.names())?);
    }
    run.reading.store(to_u64(reading.as_nanos()), Ordering::Relaxed);
    if !hardware.engine(0).keeps(&run.targets, &run.scoring) {
        reporter.note("the references do not fit into GPU memory, so each batch sends them in pieces");
    }
    let mut output = receipts::open(options.output.as_deref(), &noted)?;
    run.writer.check(&output)?;
    let about = FilesAbout::open(options)?;
    let (mut summary, index) = run.whole((first, sample), lanes, (&crew, engines), &mut output)?;
    summary.stretch = stretch.unwrap_or(summary.stretch);
    summary.elapsed = begun.elapsed();
    let beside =
        CompanionFiles { index, about: about.write(&run, &summary, hardware.describe())?, receipt: None };
    match noted {
        None => output.finish_with(beside)?,
        Some(noted) => {
            let header = run.header(&summary).iter().map(|part| part.len() as u64).sum();
            let frame = (header, run.writer.end()?);
            let records = (summary.queries, summary.stretch);
            noted.finish((output, beside), options.output.as_deref(), frame, records)?;
        }
    }
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

impl Run<'_> {
    /// Aligns all lanes until they are at their end or something fails. Gives the index as well, where the output gets one.
    fn whole(
        &mut self,
        (first, sample): (Option<OpenLane>, MateSample),
        mut lanes: SequencingLanes,
        machine: (&Crew, EngineFactory),
        output: &mut Output,
    ) -> Result<(Summary, Option<Output>)> {
        let mut summary = Summary { whole: self.filter.as_ref().map(|_| 0), ..Summary::default() };
        let mut sink = self.writer.sink(output)?;
        let (mut next, mut sample) = (first, Some(sample));
        while let Some(mut lane) = next {
            let sample = match self.options.has_lanes() {
                true => self.begin_lane(&mut lane, machine)?,
                false => sample.take().unwrap_or_default(),
            };
            summary.add(&sample.effort);
            let (extent, part, states) = (lane.queries.extent(), lane.part, self.states(&lane.queries));
            self.align_lane((lane, sample), machine, (&mut sink, output), &mut summary)?;
            states.iter().try_for_each(FileState::check_unchanged)?;
            lanes.end(&extent, part);
            next = lanes.next(self.options.mode)?;
        }
        summary.stretch = lanes.stretch();
        summary.reading = Duration::from_nanos(self.reading.load(Ordering::Relaxed));
        // Only now: what ends a file says that nothing is missing.
        if !self.has_begun(&summary) {
            self.begin(&summary, output)?;
        }
        if self.options.sort.is_some() {
            self.reporter.stage(Stage::of("sorting"));
        }
        let begun = Instant::now();
        let index = sink.finish(output)?;
        self.writer.finish(output, summary.queries)?;
        self.say_remarks(&summary.remarks);
        if let Some(audit) = &self.audit {
            audit.tell(self.reporter);
            let counts = audit.counts();
            (summary.verdicts, summary.compared) = (Some(counts.all), counts.compared);
        }
        summary.writing += begun.elapsed();
        Ok((summary, index))
    }

    /// The files of queries that are read more than once, as they were when they were opened.
    fn states(&self, queries: &QuerySource) -> Vec<FileState> {
        // A part is cut by the file's size, `swalign all` reads its file as queries and as references, and audits read
        // supplementary records first.
        let Options { part, mode, .. } = self.options;
        let is_read_again = part.is_some() || *mode == Mode::Triangle || self.audit.is_some();
        if is_read_again { queries.states() } else { Vec::new() }
    }

    /// Prepares for one of several lanes: its read group, and how its mates are paired.
    fn begin_lane(&mut self, open: &mut OpenLane, machine: (&Crew, EngineFactory)) -> Result<MateSample> {
        let paired = |insert| Pairing::new(insert, self.rules, &self.scoring);
        let OpenLane { lane, queries, .. } = open;
        let (pairing, sample) = match queries.mates() {
            None => (None, MateSample::default()),
            Some(mates) => {
                let rules = paired(InsertSize::ASSUMED).candidates();
                let search = QuerySearch { rules, ranking: None, ..self.query_search() };
                let (insert, sample) = mates::insert_size(&search, (lane, mates), machine)?;
                (Some(paired(insert)), sample)
            }
        };
        // Remembered hits of mates depend on their insert size.
        if self.pairing.is_some() || pairing.is_some() {
            self.remembered = Remembered::default();
        }
        if let Some(cells) = sample.cells {
            self.cells.store(cells, Ordering::Relaxed);
        }
        self.pairing = pairing;
        self.writer.begin_lane(lane, pairing.map(|pairing| pairing.insert));
        Ok(sample)
    }

    /// Aligns a lane until it is at its end or a stage fails.
    fn align_lane(
        &self,
        (lane, sample): (OpenLane, MateSample),
        machine: (&Crew, EngineFactory),
        out: (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        let sizes =
            self.options.lanes().into_iter().map(|lane| estimate::bytes(&lane.reads, self.options.part));
        self.reporter.stage(Stage {
            doing: "aligning",
            counted: Some(QUERIES),
            total: None,
            bytes: Some(Arc::clone(&self.done)),
            size: sizes.sum(),
        });
        let extent = lane.queries.extent();
        let before = (summary.queries, lane.bytes_before);
        let intake = self.intake((lane.queries, sample, before))?;
        match HAS_THREADS {
            true => self.stages_beside(intake, &extent, machine, out, summary),
            false => self.guard(|| self.stages_in_turn(intake, &extent, machine, out, summary)),
        }
        // A fault of the references' file may have caused the other error.
        match self.targets.fault().or_else(|| self.failure.take()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs reader, workers and writer in threads. The first error is noted, and stops all of them.
    fn stages_beside(
        &self,
        intake: Intake,
        extent: &Extent,
        (crew, engines): (&Crew, EngineFactory),
        out: (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) {
        let (to_workers, from_reader) = crossbeam_channel::bounded(1);
        let (to_writer, from_workers) = sync_channel(1);
        let batches = crew.batches();
        let (leave, enter) = sync_channel(batches);
        for _ in 0..batches {
            // The channel has room for all tokens.
            let _ = leave.send(());
        }
        self.turns.restart();
        // Each stage owns its ends of the channels, so that one that stops wakes its neighbours.
        thread::scope(|scope| {
            let read = move || self.guard(|| self.read(intake, crew, enter, to_workers));
            self.guard(|| start(scope, read).map(drop));
            for worker in 0..crew.workers {
                let (from_reader, to_writer) = (from_reader.clone(), to_writer.clone());
                let work = move || {
                    let mut engine = engines(worker);
                    let align = |batch| {
                        crew.run(worker, || self.align(&mut engine, batch, crew.portion))
                            .map_err(|error| extent.shift(error))
                    };
                    self.work(align, &from_reader, &to_writer);
                };
                self.guard(|| start(scope, work).map(drop));
            }
            drop((from_reader, to_writer));
            self.guard(|| self.write(from_workers, leave, out, summary));
        });
    }

    /// Reads, aligns and writes one batch after another.
    fn stages_in_turn(
        &self,
        mut intake: Intake,
        extent: &Extent,
        (crew, engines): (&Crew, EngineFactory),
        (sink, output): (&mut RecordSink, &mut Output),
        summary: &mut Summary,
    ) -> Result<()> {
        let mut engine = engines(0);
        for number in 0.. {
            let mut left = self.next_batch(&mut intake, number, crew)?;
            if left.is_none() {
                break;
            }
            while let Some(batch) = left {
                let aligned = self.align(&mut engine, batch, crew.portion);
                let AlignedBatch { written, rest } = aligned.map_err(|error| extent.shift(error))?;
                self.put(written, (sink, output), summary)?;
                left = rest;
            }
        }
        self.end_intake(intake)
    }

    /// Runs a stage; its error stops the others.
    fn guard(&self, stage: impl FnOnce() -> Result<()>) {
        if let Err(error) = stage() {
            self.failure.note(error);
        }
    }
}
