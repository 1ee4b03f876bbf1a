//! The run of the command: reader, workers and writer side by side, in order, in bounded memory. The only place with
//! threads and channels.
//!
//! ```text
//! inputs ──> reader (intake) ──QueryBatch──> workers (align) ──Written──> writer (write) ──> Output
//!              ^                                                             │
//!              └─────────────────────────── a token a batch ─────────────────┘
//! ```
//!
//! The reader gathers queries into batches, workers find their hits and format them, the writer puts
//! batches back in order. A batch enters only when one has left. So the batches under way take bounded memory,
//! whatever the input. Several workers on one device let the host's work for one batch go on beside
//! the device's work for another.

mod about;
mod align;
mod circular;
pub mod dedup;
mod device;
mod estimate;
pub mod grep;
pub mod index;
mod inputs;
mod intake;
mod mates;
pub mod matrix;
pub mod merge;
mod order;
mod ranking;
mod receipts;
mod remembered;
mod repeats;
mod report;
mod scanner;
pub mod search;
mod setup;
mod significance;
mod source;
#[cfg(test)]
mod tests;
mod threads;
mod write;

use crate::batch::Sequences;
use crate::candidates::filter::Filter;
use crate::engine::{Engine, Guarded};
use crate::error::{EngineError, Error, Result};
use crate::hits::Rules;
use crate::options::Options;
use crate::pairing::Pairing;
use crate::reader::{Extent, QuerySource, Record};
use crate::scoring::Scoring;
use crate::split::{SEARCHED_AGAIN, Splitting};
use crate::statistics::Tally;
use crate::writer::output::Beside;
use crate::writer::{Output, Writer};
use about::FilesAbout;
use device::Crew;
use inputs::OpenInputs;
use ranking::Ranking;
use receipts::Noted;
use remembered::Remembered;
use repeats::TakenOut;
use report::QUERIES;
use significance::Least;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use threads::{set_threads, start};

pub use receipts::{is_done, is_search_done};
pub use report::{Reporter, Stage, Summary, counted};

/// Batches under way beside those of the workers: one being gathered, one waiting, one being written.
const OTHER_BATCHES: usize = 3;

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
    /// Cells that the batch was sized by.
    cells: u64,
    /// Bytes of the input up to its end, about.
    bytes: u64,
}

/// What all stages of a run share.
struct Run<'a> {
    options: &'a Options,
    reporter: &'a dyn Reporter,
    targets: Arc<Sequences>,
    /// Where the targets come from, as errors show it.
    target_file: PathBuf,
    /// Residues of the longest target of all, those of other parts too.
    longest_target: usize,
    /// And of the shortest one.
    shortest_target: usize,
    scoring: Arc<Scoring>,
    rules: Rules,
    /// Least scores of single queries.
    least: Least,
    /// How hits are ranked, where it is not by their scores.
    ranking: Option<Ranking>,
    /// How mates are paired, where the queries are mates.
    pairing: Option<Pairing>,
    /// How queries are split, where they are.
    split: Option<Splitting>,
    strands: u32,
    filter: Option<Filter>,
    repeats: TakenOut,
    remembered: Remembered,
    /// Where statistics are wanted.
    tally: Option<Tally>,
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

/// The run itself, beside the threads that open its devices and prepare them.
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
    let inputs = OpenInputs::read(options, reporter, first);
    if !opening.is_finished() {
        reporter.stage(Stage::of("opening the GPU"));
    }
    let (reading, opened) = (begun.elapsed(), opening.join());
    let OpenInputs { references, target_file, index, mut queries } = inputs?;
    let (hardware, remark) = match opened {
        Ok(opened) => opened?,
        Err(_) => return Err(EngineError::Lost("the driver failed while it was opened".to_string()).into()),
    };
    let run = Run::new(options, reporter, (references, target_file, index), &mut queries, &hardware)?;
    run.reading.store(reading.as_nanos() as u64, Ordering::Relaxed);
    reporter.note(&format!("using {}{remark}", hardware.describe()));
    if !hardware.engine(0).keeps(&run.targets, &run.scoring) {
        reporter.note("the references have no room on the GPU, so each batch sends them piece by piece");
    }
    let mut output = receipts::open(options.output.as_deref(), &noted)?;
    let about = FilesAbout::open(options)?;
    let crew = hardware.crew(options.threads)?;
    let (mut summary, index) = run.whole(queries, (&crew, &|worker| hardware.engine(worker)), &mut output)?;
    summary.elapsed = begun.elapsed();
    let beside = Beside { index, about: about.write(&run, &summary, hardware.describe())?, receipt: None };
    match noted {
        None => output.finish_with(beside)?,
        Some(noted) => {
            let header = run.writer.header().iter().map(|part| part.len() as u64).sum();
            let frame = (header, run.writer.end()?);
            let records = (summary.queries, summary.stretch);
            noted.finish((output, beside), options.output.as_deref(), frame, records, Some(run.choice()))?;
        }
    }
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

impl Run<'_> {
    /// Runs reader, workers and writer until the input is at its end or one of them fails. Gives the index as well, where
    /// the output gets one.
    fn whole(
        &self,
        queries: QuerySource,
        (crew, engine): (&Crew, &(dyn Fn(usize) -> Guarded + Sync)),
        output: &mut Output,
    ) -> Result<(Summary, Option<Output>)> {
        self.reporter.stage(Stage {
            doing: "aligning",
            counted: Some(QUERIES),
            bytes: Some(Arc::clone(&self.done)),
            size: estimate::bytes(&self.options.query, self.options.part),
        });
        let (to_workers, from_reader) = crossbeam_channel::bounded(1);
        let (to_writer, from_workers) = sync_channel(1);
        let batches = crew.workers + OTHER_BATCHES;
        let (leave, enter) = sync_channel(batches);
        for _ in 0..batches {
            // The channel has room for all tokens.
            let _ = leave.send(());
        }
        let extent = queries.extent();
        let mut summary = Summary { whole: self.filter.as_ref().map(|_| 0), ..Summary::default() };
        let mut sink = self.writer.sink(output)?;
        // Each stage owns its ends of the channels, so that one that stops wakes its neighbours.
        thread::scope(|scope| {
            let read = move || self.guard(|| self.read(queries, crew, enter, to_workers));
            self.guard(|| start(scope, read).map(drop));
            for worker in 0..crew.workers {
                let (from_reader, to_writer) = (from_reader.clone(), to_writer.clone());
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
            self.guard(|| self.write(from_workers, leave, (&mut sink, output), &mut summary));
        });
        summary.stretch = extent.places();
        summary.reading = Duration::from_nanos(self.reading.load(Ordering::Relaxed));
        // What is wrong with the file of the references may be why something else went wrong.
        match self.targets.fault().or_else(|| self.failure.take()) {
            Some(error) => Err(error),
            // Only now: what ends a file says that nothing is missing.
            None => {
                if summary.queries == 0 {
                    self.begin(output)?;
                }
                if self.options.sort.is_some() {
                    self.reporter.stage(Stage::of("sorting"));
                }
                let begun = Instant::now();
                let index = sink.finish(output)?;
                self.say_unsplit(summary.unsplit);
                self.say_cut(summary.cut);
                summary.writing += begun.elapsed();
                Ok((summary, index))
            }
        }
    }

    /// Says how many queries may have further supplementary hits.
    fn say_unsplit(&self, queries: u64) {
        if queries > 0 {
            self.reporter.note(&format!(
                "warning: {} may have more supplementary alignments: what was left was searched {SEARCHED_AGAIN} times \
                 over; --split goes on to the end",
                counted(queries, QUERIES)
            ));
        }
    }

    /// Says that hits were left out that a reader of more than the best hit may expect.
    fn say_cut(&self, queries: u64) {
        let ratio = self.options.secondary_ratio;
        if queries > 0 {
            self.reporter.note(&format!(
                "{} had further hits below {ratio} of the best score, which were left out; --secondary-ratio 0 keeps them",
                counted(queries, QUERIES)
            ));
        }
    }

    /// Runs a stage; its error stops the others.
    fn guard(&self, stage: impl FnOnce() -> Result<()>) {
        if let Err(error) = stage() {
            self.failure.note(error);
        }
    }
}
