//! The workers' stage: the hits of a batch are found and formatted.

use super::ranking;
use super::remembered::{Answer, Unit};
use super::report::warn;
use super::write::Written;
use super::{QueryBatch, Run};
use crate::alignment::Found;
use crate::batch::{Batch, Sequences};
use crate::candidates::{Layout, Meets};
use crate::circles;
use crate::engine::{Engine, Guarded};
use crate::error::{EngineError, Result};
use crate::hits::{self, Effort, LeastScores, Ranks, Repeats, Scope};
use crate::options::{Mode, OutputFormat};
use crate::split;
use crossbeam_channel::Receiver;
use rayon::prelude::*;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// How long a batch should take.
const BATCH_SECONDS: f64 = 0.3;
/// The same where each batch sends the targets to its device anew, piece by piece.
const STREAMED_BATCH_SECONDS: f64 = 10.0;

impl Run<'_> {
    /// A worker's stage. Its error, a panic too, goes to the writer: the writer may wait for this batch
    /// while the reader waits for room and the other workers for the reader.
    pub(super) fn work(
        &self,
        mut align: impl FnMut(QueryBatch) -> Result<Written>,
        from_reader: &Receiver<QueryBatch>,
        to_writer: &SyncSender<Result<Written>>,
    ) {
        for batch in from_reader {
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

    /// Finds and formats the hits of one batch; `portion` as in [`Scope`].
    pub(super) fn align(&self, engine: &mut Guarded, queries: QueryBatch, portion: usize) -> Result<Written> {
        let begun = Instant::now();
        let QueryBatch { number, first, before, records, queries, cells, bytes } = queries;
        let meets = match self.options.mode {
            Mode::All => Meets::All,
            Mode::Pairs => Meets::Paired(first as u32),
            Mode::Triangle => Meets::Behind(first as u32),
        };
        let most = match meets {
            Meets::Paired(first) => self.targets.len().saturating_sub(first as usize),
            Meets::All | Meets::Behind(_) => records.len(),
        };
        // The reader ends the run in an error when it has counted queries beyond the last target.
        let queries = match most < records.len() {
            true => (0..most * self.strands as usize).map(|index| queries.get(index)).collect(),
            false => queries,
        };
        let mut effort = Effort::default();
        let (found, aligned) = self.find_distinct(engine, queries, (meets, portion), &mut effort)?;
        let seconds = match engine.keeps(&self.targets, &self.scoring) {
            true => BATCH_SECONDS,
            false => STREAMED_BATCH_SECONDS,
        };
        self.learn(cells, begun.elapsed(), seconds);
        let formatting = Instant::now();
        let parts = self.writer.parts(before.as_deref(), &records[..found.len()], &found)?;
        let sums = self.tally.as_ref().map(|tally| tally.sum(first, &records, &found));
        Ok(Written {
            number,
            parts,
            queries: records.len() as u64,
            repeated: found.len() as u64 - aligned,
            bytes,
            aligned: found.iter().filter(|found| !found.alignments.is_empty()).count() as u64,
            effort,
            sums,
            formatting: formatting.elapsed(),
        })
    }

    /// The hits of a batch's queries, of which equal ones are aligned once, and how many were aligned.
    fn find_distinct(
        &self,
        engine: &mut Guarded,
        queries: Sequences,
        (meets, portion): (Meets, usize),
        effort: &mut Effort,
    ) -> Result<(Vec<Found>, u64)> {
        let strands = self.strands as usize;
        let mates = if self.pairing.is_some() { 2 } else { 1 };
        let unit = Unit { each: mates * strands, strands, mirrors: self.mirrors() };
        let may_group = self.options.dedup && meets == Meets::All;
        let unanswered = if may_group { self.remembered.unanswered(&queries, unit) } else { None };
        let Some(mut unanswered) = unanswered else {
            let found = self.find_batch(engine, queries, (meets, portion), effort)?;
            let aligned = found.len() as u64;
            return Ok((found, aligned));
        };
        let mut answers = Vec::new();
        let mut own = std::mem::take(&mut unanswered.grouped.queries);
        while !own.is_empty() {
            let mut of_own = Effort::default();
            let found = self.find_batch(engine, own, (meets, portion), &mut of_own)?;
            answers.extend(answers_of(found, mates, &mut of_own));
            effort.add(of_own);
            own = unanswered.left(&queries, unit, &answers);
        }
        let aligned = (answers.len() * mates) as u64;
        let all = self.remembered.answered(unanswered, answers);
        effort.said.extend(all.iter().map(|answer| (0, answer.remarks)));
        Ok((all.into_iter().flat_map(|answer| answer.found).collect(), aligned))
    }

    /// Whether the answer of a query may be that of its reverse complement: nothing but the order of hits knows strands.
    fn mirrors(&self) -> bool {
        let has_others = self.pairing.is_some() || self.split.is_some() || self.ranking.is_some();
        self.strands == 2 && !has_others && !self.targets.have_circles()
    }

    /// The hits of a batch's queries.
    fn find_batch(
        &self,
        engine: &mut Guarded,
        queries: Sequences,
        (meets, portion): (Meets, usize),
        effort: &mut Effort,
    ) -> Result<Vec<Found>> {
        let batch = &Batch {
            queries: Arc::new(queries),
            targets: Arc::clone(&self.targets),
            scoring: Arc::clone(&self.scoring),
        };
        let layout = Layout { strands: self.strands, meets };
        let rules = match (&self.pairing, &self.ranking) {
            (Some(pairing), _) => pairing.candidates(),
            (None, Some(ranking)) => ranking.widened(self.rules),
            (None, None) => self.rules,
        };
        let least = self.least.of(batch, layout, self.shortest_target);
        let least = least.as_ref().map(|least| least as &dyn LeastScores);
        let filter = self.filter.as_ref();
        let ranks = self.ranking.as_ref().map(|ranking| ranking.of(batch, layout));
        let ranks = ranks.as_ref().filter(|_| self.pairing.is_none()).map(|ranks| ranks as &dyn Ranks);
        let scope = Scope { least, ranks, filter, portion, ..Scope::new(batch, layout, rules) };
        let without = self.repeats.of(self, &scope)?;
        let repeats = without.as_deref().map_or(Repeats::Kept, Repeats::Known);
        self.find(engine, &Scope { repeats, ..scope }, effort)
    }

    /// Finds the hits. Where the device fails and the CPU may take over, the batch is done again.
    fn find(&self, engine: &mut Guarded, scope: &Scope, effort: &mut Effort) -> Result<Vec<Found>> {
        let mut found = self.find_once(engine, scope, effort);
        if let Err(error) = &found
            && engine.fall_back(error)
        {
            found = self.find_once(engine, scope, effort);
        }
        warn(self.reporter, engine.take_notice());
        Ok(found?)
    }

    /// The hits of the batch, of mates those that go together, and those of what they leave of the queries; of those across
    /// an origin the pieces.
    fn find_once(
        &self,
        engine: &mut Guarded,
        scope: &Scope,
        effort: &mut Effort,
    ) -> Result<Vec<Found>, EngineError> {
        let mut found = hits::find(engine, scope, effort)?;
        if let Some(pairing) = &self.pairing {
            match self.options.ref_part {
                None => pairing.pair(engine, scope, &mut found, effort)?,
                Some(_) => pairing.prepare(engine, scope, &mut found, effort)?,
            }
        }
        // Of mates a part of the references has all that pairs are chosen from.
        let is_chosen = self.pairing.is_none() || self.options.ref_part.is_none();
        if is_chosen && self.pairing.is_some() {
            found.par_iter_mut().for_each(|found| ranking::limit(&self.rules, found));
        }
        if let Some(ranking) = self.ranking.as_ref().filter(|_| is_chosen) {
            let in_records = matches!(self.options.format, OutputFormat::Records(_));
            ranking.choose(scope.batch, scope.layout, &mut found, in_records);
        }
        if let Some(splitting) = self.split {
            split::supplement(engine, scope, splitting, &mut found, effort)?;
        }
        circles::cut(scope.batch, scope.layout, &mut found);
        Ok(found)
    }

    /// Sizes the batches to come, which are to take so many seconds, by the time that this one took.
    fn learn(&self, cells: u64, took: Duration, seconds: f64) {
        let wanted = cells as f64 / took.as_secs_f64().max(1e-3) * seconds;
        let before = self.cells.load(Ordering::Relaxed) as f64;
        let next = wanted.clamp(before / 2.0, before * 4.0).max(1e6);
        self.cells.store(next as u64, Ordering::Relaxed);
    }
}

/// The answers of units of so many mates, with what is to be said of their records.
fn answers_of(found: Vec<Found>, mates: usize, effort: &mut Effort) -> Vec<Answer> {
    let mut answers = vec![Answer::default(); found.len() / mates];
    found.into_iter().enumerate().for_each(|(record, found)| answers[record / mates].found.push(found));
    for (record, remarks) in effort.said.drain(..) {
        answers[record as usize / mates].remarks += remarks;
    }
    effort.tied.drain(..).for_each(|record| answers[record as usize / mates].is_tied = true);
    answers
}
