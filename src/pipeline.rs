//! The run: reader, workers and writer side by side, in order, in bounded memory. The only place with
//! threads and channels.
//!
//! The reader gathers queries into batches, workers find their hits and format them, the writer puts
//! batches back in order. A batch enters only when one has left, so that what is under way is bounded
//! whatever the input; two workers on one engine's device let the host's work for one batch go on
//! beside the device's work for another.

use crate::alignment::Found;
use crate::alphabet::{Alphabet, reverse_complement_codes};
use crate::batch::{Batch, Sequences};
use crate::candidates::Layout;
use crate::engine::cpu::Cpu;
use crate::engine::gpu::{Card, Gpu};
use crate::engine::plain::Plain;
use crate::engine::{Engine, Guarded};
use crate::error::{EngineError, Error, Place, Result};
use crate::hits::{self, Effort, Rules};
use crate::options::{DeviceChoice, Mode, Options, default_min_score};
use crate::reader::{Queries, Reader, Record, References, read_references};
use crate::scoring::Scoring;
use crate::writer::{Output, SamWriter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Workers that share a device.
const WORKERS: usize = 2;
/// Batches under way: one being gathered, one waiting, those of the workers, one being written.
const BATCHES: usize = WORKERS + 3;
/// Queries, residues and chunks of a batch, at most.
const BATCH_QUERIES: usize = 1 << 16;
const BATCH_RESIDUES: usize = 1 << 25;
const BATCH_CHUNKS: u64 = 1 << 19;
/// How long a batch should take, and how much the first ones hold.
const BATCH_SECONDS: f64 = 0.3;
const FIRST_CELLS: u64 = 1 << 30;
/// Records that a thread formats in one go.
const FORMAT_QUERIES: usize = 256;
/// Warnings about single queries that are shown; the rest are counted.
const SHOWN_WARNINGS: u64 = 5;

/// Where a run's news go. Called from several threads.
pub trait Reporter: Sync {
    /// Something that the user should know.
    fn note(&self, text: &str);
    /// Something that only a curious user wants to know.
    fn detail(&self, text: &str);
    /// Queries written so far.
    fn progress(&self, queries: u64);
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub queries: u64,
    pub aligned: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
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
    /// Place of the first among all queries.
    first: u64,
    records: Vec<Record>,
    /// Forward, and where asked for reverse, codes of each.
    queries: Sequences,
}

/// A batch on its way to the writer.
struct Written {
    number: usize,
    parts: Vec<Vec<u8>>,
    queries: u64,
    aligned: u64,
    effort: Effort,
    formatting: Duration,
}

/// What all stages of a run share.
struct Run<'a> {
    options: &'a Options,
    reporter: &'a dyn Reporter,
    targets: Arc<Sequences>,
    scoring: Arc<Scoring>,
    rules: Rules,
    strands: u32,
    writer: SamWriter,
    failure: Failure,
    /// Cells that a batch should have, as the workers' speed suggests.
    cells: AtomicU64,
    /// Time in reading, nanoseconds.
    reading: AtomicU64,
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
    let begun = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().map_err(|error| {
        EngineError::NoDevice(format!("{} threads can't be started: {error}", options.threads))
    })?;
    // Opening a GPU takes longer than reading a few megabases: do both at once.
    let (inputs, opened) = thread::scope(|scope| {
        let opening = scope.spawn(|| open_device(options));
        let inputs = read_inputs(options);
        (inputs, opening.join())
    });
    let (references, queries) = inputs?;
    let (device, note) = match opened {
        Ok(opened) => opened?,
        Err(_) => return Err(EngineError::Lost("the driver failed while it was opened".to_string()).into()),
    };
    let run = Run::new(options, reporter, references)?;
    run.reading.store(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
    let described = pool.install(|| device.engine().describe());
    reporter.note(&format!("using {described}{note}"));
    let mut output = Output::create(options.output.as_deref())?;
    let mut header = Vec::new();
    run.writer.write_header(&mut header)?;
    output.put(&header)?;

    let mut summary = run.stages(queries, &device, &pool, &mut output)?;
    output.finish()?;
    summary.reading = Duration::from_nanos(run.reading.load(Ordering::Relaxed));
    summary.elapsed = begun.elapsed();
    Ok(summary)
}

/// A device that workers make their engines on.
enum Device {
    Plain,
    Cpu,
    /// With whether the CPU may take over.
    Gpu(Arc<Card>, bool),
}

impl Device {
    fn engine(&self) -> Guarded {
        match self {
            Device::Plain => Guarded::new(Box::new(Plain::new()), None),
            Device::Cpu => Guarded::new(Box::new(Cpu::new()), None),
            Device::Gpu(card, false) => Guarded::new(Box::new(Gpu::new(Arc::clone(card))), None),
            Device::Gpu(card, true) => {
                let fallback = || Box::new(Cpu::new()) as Box<dyn Engine>;
                Guarded::new(Box::new(Gpu::new(Arc::clone(card))), Some(Box::new(fallback)))
            }
        }
    }
}

/// Opens the device that was asked for; with a remark where it is not the first choice.
fn open_device(options: &Options) -> Result<(Device, String), EngineError> {
    let open = |name: Option<&str>| Card::open(name, options.checked_shaders);
    let device = match &options.device {
        DeviceChoice::Plain => Device::Plain,
        DeviceChoice::Cpu => Device::Cpu,
        DeviceChoice::Gpu(name) => Device::Gpu(open(name.as_deref())?, false),
        DeviceChoice::Auto => match open(None) {
            Ok(card) => Device::Gpu(card, true),
            Err(error) => return Ok((Device::Cpu, format!(": {error}"))),
        },
    };
    Ok((device, String::new()))
}

/// Reads the references, and the queries as far as is needed to know that there are some.
fn read_inputs(options: &Options) -> Result<(References, Queries)> {
    let mut reader = Reader::open(&options.reference)?;
    let mut queries = Reader::open(&options.query)?;
    queries.peek()?;
    let references = read_references(&mut reader, options.alphabet)?;
    let queries = Queries::new(queries, references.alphabet, options.alphabet.is_some());
    Ok((references, queries))
}

impl<'a> Run<'a> {
    fn new(options: &'a Options, reporter: &'a dyn Reporter, references: References) -> Result<Run<'a>> {
        let alphabet = references.alphabet;
        let scoring = Arc::new(options.scoring.resolve(alphabet)?);
        let min_score = options.min_score.unwrap_or_else(|| default_min_score(&scoring));
        let targets = Arc::new(references.sequences);
        let writer = SamWriter::new(
            options,
            min_score,
            Arc::clone(&scoring),
            &references.names,
            Arc::clone(&targets),
        )?;
        let rules = Rules {
            min_score,
            secondary_ppm: (options.secondary_ratio * 1e6).round() as i64,
            max_hits: options.max_hits,
        };
        Ok(Run {
            options,
            reporter,
            targets,
            scoring,
            rules,
            strands: if options.both_strands && alphabet == Alphabet::Dna { 2 } else { 1 },
            writer,
            failure: Failure::default(),
            cells: AtomicU64::new(FIRST_CELLS),
            reading: AtomicU64::new(0),
        })
    }

    /// Runs reader, workers and writer until the input is at its end or one of them fails.
    fn stages(
        &self,
        queries: Queries,
        device: &Device,
        pool: &rayon::ThreadPool,
        output: &mut Output,
    ) -> Result<Summary> {
        let (to_workers, from_reader) = sync_channel(1);
        let (to_writer, from_workers) = sync_channel(1);
        let (leave, enter) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // There is room for all of them.
            let _ = leave.send(());
        }
        // Each stage owns its ends of the channels, so that one that stops wakes its neighbours.
        let from_reader = Arc::new(Mutex::new(from_reader));
        let mut summary = Summary::default();
        thread::scope(|scope| {
            scope.spawn(move || self.guard(|| self.read(queries, enter, to_workers)));
            for _ in 0..WORKERS {
                let to_writer = to_writer.clone();
                let from_reader = Arc::clone(&from_reader);
                scope.spawn(move || {
                    self.guard(|| pool.install(|| self.work(device, &from_reader, &to_writer)));
                });
            }
            drop((from_reader, to_writer));
            self.guard(|| self.write(from_workers, leave, output, &mut summary));
        });
        self.failure.take().map_or(Ok(summary), Err)
    }

    /// Runs a stage; its error stops the others.
    fn guard(&self, stage: impl FnOnce() -> Result<()>) {
        if let Err(error) = stage() {
            self.failure.note(error);
        }
    }

    /// The reader's stage.
    fn read(
        &self,
        mut queries: Queries,
        enter: Receiver<()>,
        to_workers: SyncSender<QueryBatch>,
    ) -> Result<()> {
        let (mut first, mut number, mut empty) = (0, 0, 0);
        loop {
            // A token that never comes means that the writer has stopped.
            if enter.recv().is_err() || self.failure.stopped() {
                return Ok(());
            }
            let begun = Instant::now();
            let batch = self.gather(&mut queries, first, number, &mut empty)?;
            self.reading.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            first += batch.records.len() as u64;
            number += 1;
            if batch.records.is_empty() {
                break;
            }
            if to_workers.send(batch).is_err() {
                return Ok(());
            }
        }
        if empty > SHOWN_WARNINGS {
            self.reporter
                .note(&format!("warning: {empty} queries without residues in all; they are unmapped"));
        }
        queries.warning().into_iter().for_each(|warning| self.reporter.note(&format!("warning: {warning}")));
        self.check_counts(first)
    }

    /// Gathers queries until there is work enough for a batch.
    fn gather(
        &self,
        queries: &mut Queries,
        first: u64,
        number: usize,
        empty: &mut u64,
    ) -> Result<QueryBatch> {
        let mut batch = QueryBatch { number, first, records: Vec::new(), queries: Sequences::default() };
        let (mut cells, mut chunks, mut codes) = (0, 0, Vec::new());
        let most = self.options.batch.unwrap_or(BATCH_QUERIES);
        let enough = self.options.batch.map_or_else(|| self.cells.load(Ordering::Relaxed), |_| u64::MAX);
        while batch.records.len() < most
            && cells < enough
            && chunks < BATCH_CHUNKS
            && batch.queries.codes().len() < BATCH_RESIDUES
        {
            codes.clear();
            let Some(record) = queries.next(&mut codes).transpose()? else { break };
            self.check_query(&record, codes.len())?;
            if codes.is_empty() {
                *empty += 1;
                if *empty <= SHOWN_WARNINGS {
                    self.reporter.note(&format!(
                        "warning: {}, record {} '{}' has no residues; it is unmapped",
                        self.options.query.display(),
                        record.number,
                        record.name
                    ));
                }
            }
            let residues = self.target_residues(first + batch.records.len() as u64);
            cells += codes.len() as u64 * residues * u64::from(self.strands);
            chunks += u64::from(self.strands) * (residues / 4096 + 1);
            batch.queries.push(codes.iter().copied());
            if self.strands == 2 {
                batch.queries.push(reverse_complement_codes(&codes));
            }
            batch.records.push(record);
        }
        Ok(batch)
    }

    /// Residues of the targets that the query at this place among all meets.
    fn target_residues(&self, place: u64) -> u64 {
        match self.options.mode {
            Mode::All => self.targets.codes().len() as u64,
            Mode::Pairs if place < self.targets.len() as u64 => self.targets.get(place as usize).len() as u64,
            Mode::Pairs => 0,
        }
    }

    /// Refuses a query whose scores could overflow, and one that has no target to pair with (the rest
    /// is still read, for the message).
    fn check_query(&self, record: &Record, len: usize) -> Result<()> {
        let longest = match self.options.mode {
            Mode::All => self.targets.iter().map(<[u8]>::len).max().unwrap_or(0),
            Mode::Pairs => self.target_residues(record.number - 1) as usize,
        };
        if self.scoring.fits(len.min(longest)) {
            return Ok(());
        }
        let place = Place {
            file: self.options.query.clone(),
            record: Some((record.number, record.name.clone())),
            line: None,
        };
        let problem = format!("scores of {len} residues could overflow 32 bits under this scoring");
        Err(Error::input(place, problem, "give smaller scores (--match, --matrix), or shorter queries"))
    }

    /// In pairs, every query has its target and every target its query.
    fn check_counts(&self, queries: u64) -> Result<()> {
        let targets = self.targets.len() as u64;
        if self.options.mode == Mode::All || queries == targets {
            return Ok(());
        }
        let (query, target) = (self.options.query.display(), self.options.reference.display());
        Err(Error::Usage(format!(
            "{query} has {queries} records and {target} has {targets}; `swalign pairs` aligns the i-th with the \
             i-th, so give files of equal counts"
        )))
    }

    /// A worker's stage.
    fn work(
        &self,
        device: &Device,
        from_reader: &Mutex<Receiver<QueryBatch>>,
        to_writer: &SyncSender<Written>,
    ) -> Result<()> {
        let mut engine = device.engine();
        loop {
            let received = match from_reader.lock() {
                Ok(receiver) => receiver.recv(),
                Err(_) => return Ok(()),
            };
            let Ok(batch) = received else { return Ok(()) };
            if self.failure.stopped() {
                return Ok(());
            }
            let written = self.align(&mut engine, batch)?;
            if to_writer.send(written).is_err() {
                return Ok(());
            }
        }
    }

    /// Finds and formats the hits of one batch.
    fn align(&self, engine: &mut Guarded, queries: QueryBatch) -> Result<Written> {
        let begun = Instant::now();
        let QueryBatch { number, first, records, queries } = queries;
        let paired = (self.options.mode == Mode::Pairs).then_some(first as u32);
        let most = match paired {
            Some(first) => self.targets.len().saturating_sub(first as usize),
            None => records.len(),
        };
        let mut batch =
            Batch { queries, targets: Arc::clone(&self.targets), scoring: Arc::clone(&self.scoring) };
        if most < records.len() {
            // Queries beyond the last target end the run in an error once they are counted.
            batch.queries = (0..most * self.strands as usize).map(|index| batch.queries.get(index)).collect();
        }
        let layout = Layout { strands: self.strands, paired };
        let mut effort = Effort::default();
        let found = self.find(engine, &batch, &layout, &mut effort)?;
        drop(batch);
        self.learn(effort.cells, begun.elapsed());
        let formatting = Instant::now();
        let parts = records
            .par_chunks(FORMAT_QUERIES)
            .zip(found.par_chunks(FORMAT_QUERIES))
            .map(|(records, found)| self.format(records, found))
            .collect::<Result<Vec<_>>>()?;
        Ok(Written {
            number,
            parts,
            queries: records.len() as u64,
            aligned: found.iter().filter(|found| !found.alignments.is_empty()).count() as u64,
            effort,
            formatting: formatting.elapsed(),
        })
    }

    /// Finds the hits; where the device fails and the CPU may take over, does the batch again.
    fn find(
        &self,
        engine: &mut Guarded,
        batch: &Batch,
        layout: &Layout,
        effort: &mut Effort,
    ) -> Result<Vec<Found>> {
        let mut found = hits::find(engine, batch, layout, &self.rules, effort);
        if let Err(error) = &found
            && engine.fall_back(error)
        {
            found = hits::find(engine, batch, layout, &self.rules, effort);
        }
        engine.take_notice().into_iter().for_each(|notice| self.reporter.note(&format!("warning: {notice}")));
        Ok(found?)
    }

    /// Sizes the batches to come by what this one took.
    fn learn(&self, cells: u64, took: Duration) {
        let wanted = cells as f64 / took.as_secs_f64().max(1e-3) * BATCH_SECONDS;
        let before = self.cells.load(Ordering::Relaxed) as f64;
        let next = wanted.clamp(before / 2.0, before * 4.0).max(1e6);
        self.cells.store(next as u64, Ordering::Relaxed);
    }

    fn format(&self, records: &[Record], found: &[Found]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.writer.write_records(&mut text, records.iter().zip(found))?;
        Ok(text)
    }

    /// The writer's stage: batches in their order.
    fn write(
        &self,
        from_workers: Receiver<Written>,
        leave: SyncSender<()>,
        output: &mut Output,
        summary: &mut Summary,
    ) -> Result<()> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        for written in from_workers {
            early.insert(written.number, written);
            while let Some(written) = early.remove(&next) {
                if self.failure.stopped() {
                    return Ok(());
                }
                let begun = Instant::now();
                for part in &written.parts {
                    output.put(part)?;
                }
                next += 1;
                summary.writing += begun.elapsed() + written.formatting;
                summary.queries += written.queries;
                summary.aligned += written.aligned;
                summary.cells += written.effort.cells;
                summary.scoring += written.effort.scoring;
                summary.backtrace += written.effort.backtrace;
                self.reporter.progress(summary.queries);
                // The reader may be done already.
                let _ = leave.try_send(());
            }
        }
        Ok(())
    }
}
