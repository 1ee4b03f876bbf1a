//! `swalign dedup`: equal sequences become one record.
//!
//! While all threads read, parse and hash a block of records, one of them finds the sets of the records before it.
//! Records are processed in input order, so the sets do not depend on the number of threads.

mod sets;
mod write;

use super::report::{RESIDUES, Reporter, Stage, counted, warn};
use super::threads::set_threads;
use super::{estimate, report};
use crate::input::reader::{ReadBatch, Reads};
use crate::output::writer::Output;
use crate::output::writer::output::CompanionFiles;
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Result};
use crate::terms::options::{DedupOptions, ReadFormat, ReadRules};
use crate::terms::system::Instant;
use rayon::prelude::*;
use sets::{Hashing, KeyedBatch, Sets};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Result of a run of `swalign dedup`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DedupSummary {
    pub records: u64,
    /// Sets of records.
    pub distinct: u64,
    /// Sets that are large enough to be written.
    pub written: u64,
    pub elapsed: Duration,
}

/// Properties of the first file, which all files must share.
#[derive(Clone, Copy)]
struct FileProperties {
    format: ReadFormat,
    alphabet: Alphabet,
}

struct DedupRun<'a> {
    options: &'a DedupOptions,
    reporter: &'a dyn Reporter,
    kind: Option<FileProperties>,
    sets: Sets,
    hashing: Hashing,
    records: u64,
    /// Bytes read so far.
    done: Arc<AtomicU64>,
}

/// Runs `swalign dedup` with the given options.
pub fn dedup(options: &DedupOptions, reporter: &dyn Reporter) -> Result<DedupSummary> {
    let begun = Instant::now();
    set_threads(options.threads, reporter)?;
    let output = Output::create(options.output.as_deref())?;
    let table = options.table.as_deref().map(Output::create_side).transpose()?;
    let sets = Sets::new(options);
    let hashing = sets.hashing();
    let done = Arc::default();
    let mut run = DedupRun { options, reporter, kind: None, sets, hashing, records: 0, done };
    run.reporter.stage(run.stage());
    options.reads.iter().try_for_each(|path| run.read(path))?;
    reporter.stage(Stage::of("writing"));
    let DedupRun { kind, sets, records, .. } = run;
    let found = sets.settle(options.by)?;
    let format = kind.map_or(ReadFormat::Fasta, |kind| kind.format);
    let (output, written) = write::records(&found, options, format, output)?;
    let table = table.map(|table| write::table(&found, options, table)).transpose()?;
    output.finish_with(CompanionFiles { about: table.into_iter().collect(), ..CompanionFiles::default() })?;
    let distinct = found.order.len() as u64;
    reporter.detail(&format!(
        "{} in distinct sequences, of {} in all records",
        counted(found.letters(), RESIDUES),
        found.letters_of_all()
    ));
    Ok(DedupSummary { records, distinct, written, elapsed: begun.elapsed() })
}

impl DedupRun<'_> {
    fn stage(&self) -> Stage {
        let bytes = self.options.reads.iter().map(|path| estimate::bytes(path, None));
        Stage {
            doing: "reading",
            counted: Some(report::RECORDS),
            bytes: Some(Arc::clone(&self.done)),
            size: bytes.sum(),
            total: None,
        }
    }

    /// Reads a file to its end.
    fn read(&mut self, path: &Path) -> Result<()> {
        let before = self.done.load(Ordering::Relaxed);
        let mut reads = self.open(path)?;
        let mut waiting: Vec<KeyedBatch> = Vec::new();
        loop {
            let (sets, hashing) = (&mut self.sets, &self.hashing);
            let (added, next) = rayon::join(|| sets.add(&waiting), || next(&mut reads, hashing));
            added?;
            let Some(next) = next? else { break };
            waiting = next;
            let records = waiting.iter().map(|keyed| keyed.batch.len() as u64).sum();
            self.records += records;
            self.reporter.progress(records);
            self.done.store(before + reads.meter().bytes(), Ordering::Relaxed);
        }
        warn(self.reporter, reads.warnings());
        Ok(())
    }

    /// Opens a file, which must have the format and the alphabet of the first file.
    fn open(&mut self, path: &Path) -> Result<Reads> {
        let options = self.options;
        let alphabet = self.kind.map(|kind| kind.alphabet).or(options.alphabet);
        let if_open = options.both_strands.then_some(Alphabet::Dna);
        let rules = ReadRules { removes_gaps: options.removes_gaps, ..ReadRules::default() };
        let mut reads = Reads::open(path, (alphabet, if_open), rules)?;
        if reads.is_empty() {
            return Ok(reads);
        }
        let alphabet = reads.alphabet();
        let own = if reads.is_fastq() { ReadFormat::Fastq } else { ReadFormat::Fasta };
        let format = options.format.or(self.kind.map(|kind| kind.format)).unwrap_or(own);
        if options.both_strands && alphabet == Alphabet::Protein {
            let remedy = "leave --both-strands out, or use --alphabet dna if they are DNA";
            return Err(reads.fault("these are proteins, which have only one strand", remedy));
        }
        check_format(&reads, own, format, options.format.is_some())?;
        self.kind = Some(FileProperties { format, alphabet });
        Ok(reads.with_qualities(format == ReadFormat::Fastq).with_abundances(options.size_in))
    }
}

/// Refuses a file that is not in the format of the others.
fn check_format(reads: &Reads, own: ReadFormat, written: ReadFormat, given: bool) -> Result<(), Error> {
    let problem = match (own, written) {
        (ReadFormat::Fasta, ReadFormat::Fastq) if given => {
            "--format fastq needs qualities, which FASTA does not have"
        }
        (ReadFormat::Fasta, ReadFormat::Fastq) => "this file is FASTA, but an earlier file is FASTQ",
        (ReadFormat::Fastq, ReadFormat::Fasta) if !given => {
            "this file is FASTQ, but an earlier file is FASTA"
        }
        _ => return Ok(()),
    };
    Err(reads.fault(problem, "use --format fasta to write all as FASTA"))
}

/// The next records with their hashes. `None` at the end.
fn next(reads: &mut Reads, hashing: &Hashing) -> Result<Option<Vec<KeyedBatch>>> {
    let Some((batches, fault)) = reads.next_batches() else { return Ok(None) };
    match fault {
        Some(fault) => Err(fault),
        None => Ok(Some(batches.into_par_iter().map(|batch: ReadBatch| hashing.key(batch)).collect())),
    }
}
