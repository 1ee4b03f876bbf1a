//! The reader's stage: queries gathered into batches, checked against what they will meet.

use super::device::Crew;
use super::report::warn;
use super::{QueryBatch, Run};
use crate::batch::{STRETCH, Sequences};
use crate::error::{Error, Place, Result};
use crate::options::Mode;
use crate::reader::{Extent, QuerySource, Record};
use crossbeam_channel::Sender;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// Queries of a batch, at most: with twice as many a GPU is hardly faster.
const MOST_QUERIES: usize = 1 << 15;
/// Residues and stretches of the batches at all workers, at most: like the number of queries, they bound the memory, since
/// any stretch may hold a hit that counts.
const ALL_RESIDUES: usize = 1 << 27;
const ALL_STRETCHES: u64 = 6 << 20;
/// Warnings about single queries that are shown; the rest are counted.
const SHOWN_WARNINGS: u64 = 5;

/// The queries, and how many have come.
struct Intake {
    queries: QuerySource,
    count: Count,
    /// Name of the last query of the batch before.
    last: Option<String>,
}

#[derive(Default)]
struct Count {
    /// Where they come from, as errors show it; of mates the first and the second ones.
    files: [PathBuf; 2],
    extent: Arc<Extent>,
    /// Queries up to here: of pairs those of the whole input, else of the part.
    taken: u64,
    empty: u64,
}

/// What a batch holds, or may hold.
#[derive(Default)]
struct Load {
    queries: usize,
    /// With fewer queries cells are never enough.
    least_queries: usize,
    /// Of the queries, in all orientations.
    residues: usize,
    cells: u64,
    stretches: u64,
}

impl Load {
    fn reaches(&self, enough: &Load) -> bool {
        self.queries >= enough.queries
            || self.residues >= enough.residues
            || (self.cells >= enough.cells && self.queries >= enough.least_queries)
            || self.stretches >= enough.stretches
    }
}

impl Run<'_> {
    /// Reads all queries; `enter` lets a batch in when there is room for it.
    pub(super) fn read(
        &self,
        queries: QuerySource,
        crew: &Crew,
        enter: Receiver<()>,
        to_workers: Sender<QueryBatch>,
    ) -> Result<()> {
        let files = [queries.path(), queries.mate_path()].map(Path::to_path_buf);
        let extent = queries.extent();
        let taken = match self.options.mode {
            Mode::All => 0,
            // The i-th meets the i-th.
            Mode::Pairs | Mode::Triangle => {
                extent.count().map_err(|source| Error::io(&files[0], source))?.records
            }
        };
        let count = Count { files, extent, taken, empty: 0 };
        let mut intake = Intake { queries, count, last: None };
        for number in 0.. {
            // A token that never comes means that the writer has stopped.
            if enter.recv().is_err() || self.failure.stopped() {
                return Ok(());
            }
            let begun = Instant::now();
            let batch = self.gather(&mut intake, number, crew)?;
            self.reading.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            if batch.records.is_empty() {
                break;
            }
            if to_workers.send(batch).is_err() {
                return Ok(());
            }
        }
        let Count { files, taken, empty, .. } = intake.count;
        if empty > SHOWN_WARNINGS {
            self.reporter
                .note(&format!("warning: {empty} queries in all have no letters; they are unmapped"));
        }
        intake.queries.warnings().for_each(|warning| warn(self.reporter, Some(warning)));
        self.check_counts(&files[0], taken)
    }

    /// Gathers queries until there is work enough for a batch.
    fn gather(&self, intake: &mut Intake, number: usize, crew: &Crew) -> Result<QueryBatch> {
        let Intake { queries, count, last } = intake;
        let mut batch = QueryBatch {
            number,
            first: count.taken,
            before: last.take(),
            records: Vec::new(),
            queries: Sequences::default(),
            cells: 0,
            bytes: 0,
        };
        let enough = self.enough(crew);
        let mut load = Load::default();
        while !load.reaches(&enough) {
            let at_hand = queries.at_hand()?;
            if at_hand.is_empty() {
                break;
            }
            let taken = batch.records.len();
            for record in at_hand {
                // Mates stay together, and those at hand are whole pairs.
                if load.reaches(&enough) && (self.pairing.is_none() || load.queries.is_multiple_of(2)) {
                    break;
                }
                let len = record.sequence.len();
                self.check_query(count, record, len)?;
                let columns = self.columns(count.taken, len);
                load.queries += 1;
                load.residues += len * self.strands as usize;
                load.cells += len as u64 * columns;
                load.stretches += columns / u64::from(STRETCH) + self.targets_met(len);
                count.taken += 1;
            }
            queries.take(load.queries - taken, &mut batch.records, &mut batch.queries);
        }
        batch.cells = load.cells;
        batch.bytes = queries.bytes_taken();
        *last = batch.records.last().map(|record| record.name.clone());
        Ok(batch)
    }

    /// What is enough for a batch of one of the workers.
    fn enough(&self, crew: &Crew) -> Load {
        let workers = crew.workers;
        let (queries, cells) = match self.options.batch {
            Some(queries) => (queries, u64::MAX),
            None => (MOST_QUERIES.min(crew.queries / workers), self.cells.load(Ordering::Relaxed)),
        };
        let columns = self.targets.letters() as u64 * u64::from(self.strands);
        let least_queries = match self.options.mode {
            Mode::All => crew.least_queries(columns),
            Mode::Pairs | Mode::Triangle => 1,
        };
        let (residues, stretches) = (ALL_RESIDUES / workers, ALL_STRETCHES / workers as u64);
        Load { queries, least_queries, residues, cells, stretches }
    }

    /// Columns of all strands that a query of `len` letters at this place among all is scored against, about.
    fn columns(&self, place: u64, len: usize) -> u64 {
        let filtered = self.filter.as_ref().and_then(|filter| filter.columns(len));
        filtered.unwrap_or_else(|| self.target_residues(place) * u64::from(self.strands))
    }

    /// Targets of all strands that a query of `len` letters meets, each of which is a stretch at least; behind a filter
    /// they are few.
    fn targets_met(&self, len: usize) -> u64 {
        let is_filtered = self.filter.as_ref().is_some_and(|filter| filter.columns(len).is_some());
        let targets = match self.options.mode {
            Mode::All | Mode::Triangle if !is_filtered => self.targets.len() as u64,
            _ => 1,
        };
        targets * u64::from(self.strands)
    }

    /// Residues of the targets that the query at this place among all meets.
    fn target_residues(&self, place: u64) -> u64 {
        match self.options.mode {
            Mode::All | Mode::Triangle => self.targets.letters() as u64,
            Mode::Pairs if place < self.targets.len() as u64 => self.targets.get(place as usize).len() as u64,
            Mode::Pairs => 0,
        }
    }

    /// Refuses a query whose scores could overflow, and warns of one without letters.
    fn check_query(&self, count: &mut Count, record: &Record, len: usize) -> Result<()> {
        let longest = match self.options.mode {
            Mode::All | Mode::Triangle => self.longest_target,
            Mode::Pairs => self.target_residues(count.taken) as usize,
        };
        let record = || Some((record.number, record.name.clone()));
        let file = || match self.pairing {
            Some(_) => count.files[(count.taken % 2) as usize].clone(),
            None => count.files[0].clone(),
        };
        let place = || count.extent.place(Place { file: file(), record: record(), line: None });
        if !self.scoring.fits(len.min(longest)) || !self.scoring.fits_below(len, longest) {
            let problem = format!(
                "{len} letters against {longest} could overflow the 32 bits of a score under this scoring"
            );
            let remedy = "give smaller scores (--match, --matrix) or shorter sequences";
            return Err(Error::input(place(), problem, remedy));
        }
        if len == 0 {
            if count.empty < SHOWN_WARNINGS {
                let place = place();
                self.reporter.note(&format!("warning: {place}: the query has no letters; it is unmapped"));
            }
            count.empty += 1;
        }
        Ok(())
    }

    /// In pairs, every query has its target and every target its query. Only the last part knows how many
    /// queries there are.
    fn check_counts(&self, file: &Path, queries: u64) -> Result<()> {
        let targets = self.targets.len() as u64;
        let more = self.options.part.is_some_and(|part| part.number < part.of);
        if self.options.mode != Mode::Pairs || queries == targets || (more && queries < targets) {
            return Ok(());
        }
        let place = Place { file: file.to_path_buf(), ..Place::default() };
        let problem =
            format!("{queries} queries for the {targets} targets of {}", self.target_file.display());
        let remedy = "give files of equal counts, since `swalign pairs` aligns the i-th with the i-th";
        Err(Error::input(place, problem, remedy))
    }
}
