//! The reader's stage: gathers queries into batches and checks them against the limits of their targets.

use super::device::Crew;
use super::mates::MateSample;
use super::query_search::Load;
use super::report::{QUERIES, TARGETS, counted, queries_are, warn};
use super::{QueryBatch, Run};
use crate::input::reader::{Extent, FileRecord, MAX_QUERY, QuerySource};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u64, to_usize};
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::Mode;
use crate::terms::scoring::Scoring;
use crate::terms::system::Instant;
use crossbeam_channel::Sender;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

/// Maximum number of warnings about single queries that are shown. The rest are counted.
const SHOWN_WARNINGS: u64 = 5;

/// The queries, and their count so far.
pub(super) struct Intake {
    queries: QuerySource,
    /// Known hits of the next queries, if these are mates from the sample for the insert size.
    sample: MateSample,
    /// Queries and bytes of earlier lanes.
    before: (u64, u64),
    count: Count,
    /// Name of the last query of the previous batch.
    last: Option<String>,
}

#[derive(Default)]
struct Count {
    /// Files of the queries, as errors show them; for mates, the first and the second file.
    files: [PathBuf; 2],
    extent: Arc<Extent>,
    /// Number of queries so far: with pairs, in the whole input; otherwise, in the lane's part.
    taken: u64,
    empty: u64,
}

impl Run<'_> {
    /// Reads all queries of a lane. `enter` admits a batch when there is room for it.
    pub(super) fn read(
        &self,
        mut intake: Intake,
        crew: &Crew,
        enter: Receiver<()>,
        to_workers: Sender<QueryBatch>,
    ) -> Result<()> {
        for number in 0.. {
            // If no token comes, the writer has stopped.
            if enter.recv().is_err() || self.failure.stopped() {
                return Ok(());
            }
            let Some(batch) = self.next_batch(&mut intake, number, crew)? else { break };
            if to_workers.send(batch).is_err() {
                return Ok(());
            }
        }
        self.end_intake(intake)
    }

    /// The queries of a lane before any is taken. `before` counts the queries and bytes before them.
    pub(super) fn intake(
        &self,
        (queries, sample, before): (QuerySource, MateSample, (u64, u64)),
    ) -> Result<Intake> {
        let files = [queries.path(), queries.mate_path()].map(Path::to_path_buf);
        let extent = queries.extent();
        let taken = match self.options.mode {
            Mode::All => 0,
            // The i-th query meets the i-th target.
            Mode::Pairs => extent.count()?.records,
            Mode::Triangle => self.targets_before(extent.count()?.records),
        };
        let count = Count { files, extent, taken, empty: 0 };
        Ok(Intake { queries, sample, before, count, last: None })
    }

    /// The next batch of a lane, or `None` at its end.
    pub(super) fn next_batch(
        &self,
        intake: &mut Intake,
        number: usize,
        crew: &Crew,
    ) -> Result<Option<QueryBatch>> {
        let begun = Instant::now();
        let batch = self.gather(intake, number, crew)?;
        self.reading.fetch_add(to_u64(begun.elapsed().as_nanos()), Ordering::Relaxed);
        Ok((!batch.records.is_empty()).then_some(batch))
    }

    /// Checks the number of a lane's queries, and gives the warnings about them.
    pub(super) fn end_intake(&self, intake: Intake) -> Result<()> {
        let Count { files, taken, empty, .. } = intake.count;
        if empty > SHOWN_WARNINGS {
            self.reporter.note(&format!("warning: {} empty and will be unmapped", queries_are(empty)));
        }
        intake.queries.warnings().for_each(|warning| warn(self.reporter, Some(warning)));
        self.check_counts(&files[0], taken)
    }

    /// Gathers queries until a batch has enough work.
    fn gather(&self, intake: &mut Intake, number: usize, crew: &Crew) -> Result<QueryBatch> {
        let Intake { queries, sample, before, count, last } = intake;
        let mut batch = QueryBatch {
            number,
            first: before.0 + count.taken,
            before: last.take(),
            records: Vec::new(),
            queries: Sequences::default(),
            known: Vec::new(),
            cells: 0,
            bytes: 0,
        };
        let search = self.query_search();
        let mut enough = search.enough(crew, self.cells.load(Ordering::Relaxed));
        enough.queries = enough.queries.min(self.room.load(Ordering::Relaxed));
        if sample.len() > 0 {
            // Either all hits of a batch are known, or none are.
            enough.queries = enough.queries.min(sample.len());
        }
        let mut load = Load::default();
        while !load.reaches(&enough) {
            let at_hand = queries.at_hand()?;
            if at_hand.is_empty() {
                break;
            }
            let taken = batch.records.len();
            for record in at_hand {
                // Mates stay together: the batch must contain whole pairs.
                if load.reaches(&enough) && (self.pairing.is_none() || load.queries.is_multiple_of(2)) {
                    break;
                }
                let len = record.sequence.len();
                self.check_query(count, record, len)?;
                search.add(&mut load, len, self.target_residues(count.taken));
                count.taken += 1;
            }
            queries.take(load.queries - taken, &mut batch.records, &mut batch.queries);
        }
        batch.known = sample.take(batch.records.len());
        batch.cells = load.cells;
        batch.bytes = before.1 + queries.bytes_taken();
        *last = batch.records.last().map(|record| record.name.clone());
        Ok(batch)
    }

    /// Number of residues of the targets that the query at this index meets.
    fn target_residues(&self, place: u64) -> u64 {
        match self.options.mode {
            Mode::All | Mode::Triangle => self.targets.letters() as u64,
            Mode::Pairs => self.target_of(place).map_or(0, |target| self.targets.get(target).len() as u64),
        }
    }

    /// Number of targets among the first `records` of their file.
    pub(super) fn targets_before(&self, records: u64) -> u64 {
        records - self.left_out.partition_point(|&place| place < records) as u64
    }

    /// The target of the pair at this index. `None` if it has no residues, or if there are fewer targets.
    pub(super) fn target_of(&self, place: u64) -> Option<usize> {
        let target = to_usize(self.targets_before(place));
        (self.left_out.binary_search(&place).is_err() && target < self.targets.len()).then_some(target)
    }

    /// Refuses a query whose scores could overflow, and warns about an empty query.
    fn check_query(&self, count: &mut Count, record: &FileRecord, len: usize) -> Result<()> {
        let longest = match self.options.mode {
            Mode::All | Mode::Triangle => self.longest_target,
            Mode::Pairs => to_usize(self.target_residues(count.taken)),
        };
        let record = || Some((record.number, record.name.clone()));
        let file = || match self.pairing {
            Some(_) => count.files[(count.taken % 2) as usize].clone(),
            None => count.files[0].clone(),
        };
        let place = || count.extent.place(Place { file: file(), record: record(), line: None });
        check_length(len, longest, &self.scoring)
            .map_err(|(problem, remedy)| Error::input(place(), problem, remedy))?;
        if len == 0 {
            if count.empty < SHOWN_WARNINGS {
                let place = place();
                self.reporter.note(&format!("warning: {place}: the query is empty; it is unmapped"));
            }
            count.empty += 1;
        }
        Ok(())
    }

    /// In pairs mode, each query needs a target and each target a query. Only the last part knows the number of
    /// queries.
    fn check_counts(&self, file: &Path, queries: u64) -> Result<()> {
        let targets = (self.targets.len() + self.left_out.len()) as u64;
        let more = self.options.part.is_some_and(|part| part.number < part.of);
        if self.options.mode != Mode::Pairs || queries == targets || (more && queries < targets) {
            return Ok(());
        }
        let place = Place { file: file.to_path_buf(), ..Place::default() };
        let problem = format!(
            "{}, but {} in {}",
            counted(queries, QUERIES),
            counted(targets, TARGETS),
            self.target_file.display()
        );
        let remedy = "give files with equal numbers of sequences, because `swalign pairs` aligns each query with \
                      the target at the same position";
        Err(Error::input(place, problem, remedy))
    }
}

/// Refuses a query of `len` residues if positions in it, or its scores against targets of up to `longest` residues,
/// could overflow. The error consists of the problem and its remedy.
pub(super) fn check_length(
    len: usize,
    longest: usize,
    scoring: &Scoring,
) -> Result<(), (String, &'static str)> {
    if len > MAX_QUERY {
        let problem = format!("the query has {len} residues, but the limit is {MAX_QUERY}");
        return Err((problem, "split the query"));
    }
    if !scoring.fits(len.min(longest)) || !scoring.fits_below(len, longest) {
        let problem = format!(
            "{len} against {longest} residues could overflow a 32-bit score with this scoring scheme"
        );
        return Err((problem, "use smaller scores (--match, --matrix) or shorter sequences"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query may be longer than the score limit allows if the targets are short, but not longer than the position
    /// limit.
    #[test]
    fn queries_that_are_too_long_are_refused() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        let problem = |len, longest| check_length(len, longest, &scoring).err().map(|(problem, _)| problem);
        assert_eq!((problem(100, 1 << 30), problem(MAX_QUERY, 5000)), (None, None));
        for len in [MAX_QUERY + 1, (1 << 32) + 100] {
            assert!(problem(len, 5000).unwrap().contains(&len.to_string()), "{len}");
        }
        assert!(problem(1 << 30, 1 << 30).unwrap().contains("overflow"));
    }
}
