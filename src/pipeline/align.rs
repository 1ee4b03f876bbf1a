//! The workers' stage: finds and formats the hits of a batch.

use super::mates::SingleHits;
use super::query_search::{MOST_HITS, QuerySearch};
use super::ranking;
use super::remembered::{Grouped, Unit, UnitMatch, UnitResult};
use super::report::warn;
use super::write::Written;
use super::{Failure, QueryBatch, Run};
use crate::align::candidates::Meets;
use crate::align::candidates::filter::Filter;
use crate::align::circles;
use crate::align::end_bonus::{self, ReportedScores};
use crate::align::hits::{self, Effort, QueryRemarks, Rules, SearchInput, TieBreak};
use crate::align::pairing::MOST_CANDIDATES;
use crate::align::split;
use crate::engine::{Engine, Guarded};
use crate::input::reader::FileRecord;
use crate::terms::alignment::{QueryResult, Strands};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u32, whole_u64};
use crate::terms::error::{EngineError, Error, Result};
use crate::terms::options::{Mask, Mode};
use crate::terms::system::Instant;
use crossbeam_channel::Receiver;
use rayon::prelude::*;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Target time of a batch, in seconds.
const BATCH_SECONDS: f64 = 0.3;
/// The same with a sampled index: a batch takes at least as long as its slowest read, and threads wait for it.
const SAMPLED_BATCH_SECONDS: f64 = 1.0;
/// The same if each batch uploads the targets to its device again, piece by piece.
const STREAMED_BATCH_SECONDS: f64 = 10.0;

/// Factor by which the number of queries that a worker searches together changes.
const HIT_STEP: usize = 4;
/// Number of queries that a worker searches together until the number of their hits is known, if a query may have very many.
pub(super) const FIRST_ROOM: usize = 512;
/// Time after which a waiting worker checks whether the run has failed.
const WAKE: Duration = Duration::from_millis(100);

impl Run<'_> {
    /// A worker's stage. Its error, including a panic, is sent to the writer: the writer may wait for this batch while
    /// the reader waits for room and the other workers for the reader.
    pub(super) fn work(
        &self,
        mut align: impl FnMut(QueryBatch) -> Result<AlignedBatch>,
        from_reader: &Receiver<QueryBatch>,
        to_writer: &SyncSender<Result<Written>>,
    ) {
        for batch in from_reader {
            let mut left = Some(batch);
            while let Some(batch) = left {
                if self.failure.stopped() {
                    return;
                }
                let number = batch.number;
                let aligned = || align(batch);
                let aligned = panic::catch_unwind(AssertUnwindSafe(aligned)).unwrap_or_else(|_| {
                    Err(EngineError::Internal("an alignment thread stopped unexpectedly".to_string()).into())
                });
                let (written, rest) = match aligned {
                    Ok(AlignedBatch { written, rest }) => (Ok(written), rest),
                    Err(error) => (Err(error), None),
                };
                let failed = written.is_err();
                // The writer keeps what comes before its turn, so only the end of a batch may come early.
                let is_stopped = rest.is_some() && !self.turns.wait_for(number, &self.failure);
                if is_stopped || to_writer.send(written).is_err() || failed {
                    return;
                }
                left = rest;
            }
        }
    }

    /// Finds and formats the hits of as many queries of a batch as there is room for; `portion` as in [`SearchInput`].
    pub(super) fn align(
        &self,
        engine: &mut Guarded,
        mut batch: QueryBatch,
        portion: usize,
    ) -> Result<AlignedBatch> {
        let unit = if self.pairing.is_some() { 2 } else { 1 };
        let mut most = usize::MAX;
        loop {
            // Other workers may raise it again.
            let room = self.room.load(Ordering::Relaxed).min(most).max(unit) / unit * unit;
            let rest = batch.split_off(room, self.strands);
            let queries = batch.records.len();
            match self.align_all(engine, &mut batch, portion) {
                Err(Error::Engine(EngineError::TooManyHits)) if queries > unit => {
                    most = queries / HIT_STEP;
                    self.room.fetch_min(most, Ordering::Relaxed);
                    if let Some(rest) = rest {
                        batch.append(rest);
                    }
                }
                Err(error) => return Err(error),
                Ok((written, hits)) => {
                    if hits < MOST_HITS / (2 * HIT_STEP) {
                        self.room.fetch_max(queries * HIT_STEP, Ordering::Relaxed);
                    }
                    return Ok(AlignedBatch {
                        written: Written { is_last: rest.is_none(), ..written },
                        rest,
                    });
                }
            }
        }
    }

    /// Finds and formats the hits of all queries of a batch. Returns their number as well.
    fn align_all(
        &self,
        engine: &mut Guarded,
        batch: &mut QueryBatch,
        portion: usize,
    ) -> Result<(Written, usize)> {
        let begun = Instant::now();
        // Queries that may have too many hits are searched again.
        let queries = match self.query_search().most_hits() {
            usize::MAX => std::mem::take(&mut batch.queries),
            _ => batch.queries.clone(),
        };
        let &mut QueryBatch { number, first, cells, bytes, ref before, ref records, ref known, .. } = batch;
        let meets = match self.options.mode {
            Mode::All => Meets::All,
            Mode::Pairs => Meets::Paired(place_among(self.targets_before(first))),
            Mode::Triangle => Meets::Behind(place_among(first)),
        };
        // The reader ends the run with an error if there are more queries than targets.
        let is_alone = |at: &usize| self.target_of(first + *at as u64).is_none();
        let alone: Vec<usize> = match self.options.mode {
            Mode::Pairs => (0..records.len()).filter(is_alone).collect(),
            Mode::All | Mode::Triangle => Vec::new(),
        };
        let queries = match alone.is_empty() {
            true => queries,
            false => queries_but(&queries, &alone, self.strands.count() as usize),
        };
        let mut effort = Effort::default();
        let known = QueryFacts { hits: known, records };
        let (mut found, aligned) = match &self.profiles {
            Some(search) => {
                let queries = (search, &queries, first);
                let found = self.find_by_profiles(engine, queries, known, (meets, portion), &mut effort)?;
                let aligned = found.len() as u64;
                (found, aligned)
            }
            None => self.find_distinct(engine, (queries, known), (meets, portion), &mut effort)?,
        };
        let repeated = found.len() as u64 - aligned;
        alone.into_iter().for_each(|at| found.insert(at, QueryResult::default()));
        if known.hits.is_empty() {
            let seconds = batch_seconds(engine, &self.query_search());
            let before = self.cells.load(Ordering::Relaxed);
            self.cells.store(next_cells(before, cells, begun.elapsed(), seconds), Ordering::Relaxed);
        }
        let formatting = Instant::now();
        let parts = match &self.audit {
            Some(audit) => self.audited(audit, (first, records), &found)?,
            None => self.writer.parts((first, before.as_deref()), records, &found)?,
        };
        if self.options.ref_part.is_some() {
            // Parts have scores with end bonuses, by which a merge chooses hits. Statistics have none.
            let (end_bonus, scores) = (self.scoring.end_bonus, self.reported_scores());
            end_bonus::leave_out_of_queries(end_bonus, scores, &mut found, |at| records[at].sequence.len());
        }
        let sums = self.tally.as_ref().map(|tally| tally.sum(first, records, &found));
        let hits = found.iter().map(|found| found.alignments.len()).sum();
        let written = Written {
            number,
            is_last: true,
            parts,
            queries: records.len() as u64,
            repeated,
            bytes,
            aligned: found.iter().filter(|found| !found.alignments.is_empty()).count() as u64,
            anchored: found.iter().filter(|found| found.is_anchored()).count() as u64,
            effort,
            sums,
            formatting: formatting.elapsed(),
        };
        Ok((written, hits))
    }

    /// The hits of a batch's queries, and the number of aligned queries. Equal queries are aligned once. `known` as in
    /// [`Self::find_batch`].
    fn find_distinct(
        &self,
        engine: &mut Guarded,
        (queries, known): (Sequences, QueryFacts),
        (meets, portion): (Meets, usize),
        effort: &mut Effort,
    ) -> Result<(Vec<QueryResult>, u64)> {
        let strands = self.strands.count() as usize;
        let mates = if self.pairing.is_some() { 2 } else { 1 };
        // The translations of a query do not follow from one of them.
        let apart = if self.strands.are_translated() { 1 } else { strands };
        let unit = Unit { each: mates * strands, strands: apart, mirrors: self.mirrors() };
        let may_group = self.options.dedup && meets == Meets::All;
        let unanswered = if may_group { self.remembered.unanswered(&queries, unit) } else { None };
        let Some(mut unanswered) = unanswered else {
            let found = self.find_batch(engine, (queries, known), (meets, portion), effort)?;
            let aligned = found.len() as u64;
            return Ok((found, aligned));
        };
        let mut answers = Vec::new();
        let mut own = std::mem::take(&mut unanswered.grouped.queries);
        let mut hits = of_distinct(&unanswered.grouped, known.hits, mates);
        while !own.is_empty() {
            let mut of_own = Effort::default();
            // Shared answers do not depend on names.
            let of_own_queries = QueryFacts { hits: &hits, records: &[] };
            let found = self.find_batch(engine, (own, of_own_queries), (meets, portion), &mut of_own)?;
            answers.extend(answers_of(found, mates, &mut of_own));
            effort.add(of_own);
            // No mates are left.
            hits.clear();
            own = unanswered.left(&queries, unit, &answers);
        }
        let aligned = (answers.len() * mates) as u64;
        if self.query_search().most_hits() < unanswered.hits(&answers) && queries.len() > unit.each {
            return Err(EngineError::TooManyHits.into());
        }
        let all = self.remembered.answered(unanswered, answers);
        effort.said.extend((0..).zip(&all).map(|(unit, answer)| (unit, answer.remarks)));
        Ok((all.into_iter().flat_map(|answer| answer.found).collect(), aligned))
    }

    /// Whether a query may take the answer of its reverse complement: only the order of hits depends on strands.
    fn mirrors(&self) -> bool {
        let has_others = self.pairing.is_some() || self.split.is_some() || self.ranking.is_some();
        let is_masked = self.options.ranked.mask == Mask::Hard;
        self.strands == Strands::Both && !has_others && !is_masked && !self.targets.have_circles()
    }

    /// The hits of a batch's queries.
    fn find_batch(
        &self,
        engine: &mut Guarded,
        (queries, known): (Sequences, QueryFacts),
        met: (Meets, usize),
        effort: &mut Effort,
    ) -> Result<Vec<QueryResult>> {
        self.query_search().in_scope(queries, met, |scope, written| {
            let found = self.find(engine, scope, (written, known), effort)?;
            effort.said.extend(self.least.remarks(scope, self.shortest_target));
            Ok(found)
        })
    }

    /// The search for single queries.
    pub(super) fn query_search(&self) -> QuerySearch<'_> {
        let rules = match (&self.pairing, &self.ranking) {
            (Some(pairing), _) => pairing.candidates(),
            (None, Some(ranking)) => ranking.widened(self.rules),
            // A hash chooses among the best hits, and a repeat may have very many of them.
            (None, None) => {
                let candidates = self.tie_names.as_ref().map(|_| (0, MOST_CANDIDATES));
                Rules { candidates, ..self.rules }
            }
        };
        let ranking = self.ranking.as_ref().filter(|ranking| ranking.bounds_scores());
        QuerySearch {
            options: self.options,
            reporter: self.reporter,
            targets: &self.targets,
            scoring: &self.scoring,
            rules,
            least: &self.least,
            shortest_target: self.shortest_target,
            tiers: self.tiers.as_ref(),
            ranking: ranking.filter(|_| self.pairing.is_none()),
            strands: self.strands,
            filter: self.filter.as_ref(),
            repeats: &self.repeats,
        }
    }

    /// Finds the hits. If the device fails and the CPU may take over, repeats the batch. `queries` are the unmasked
    /// queries, with their hits as in [`Self::find_batch`].
    pub(super) fn find(
        &self,
        engine: &mut Guarded,
        scope: &SearchInput,
        queries: (&Sequences, QueryFacts),
        effort: &mut Effort,
    ) -> Result<Vec<QueryResult>> {
        let mut found = self.find_once(engine, scope, queries, effort);
        if let Err(error) = &found
            && engine.fall_back(error)
        {
            found = self.find_once(engine, scope, queries, effort);
        }
        warn(self.reporter, engine.take_notice());
        Ok(found?)
    }

    /// The hits of the batch: for mates, the paired hits; also supplementary hits from the rest of the queries. A hit
    /// across an origin is split into its pieces.
    fn find_once(
        &self,
        engine: &mut Guarded,
        scope: &SearchInput,
        (written, known): (&Sequences, QueryFacts),
        effort: &mut Effort,
    ) -> Result<Vec<QueryResult>, EngineError> {
        let mut found = match known.hits.is_empty() {
            true => {
                let found = hits::find(engine, scope, effort)?;
                effort.searched += found.len() as u64;
                found
            }
            false => take_known(known.hits, effort),
        };
        let read = |record: u32| &*known.records[record as usize].name;
        let tie_break = self.tie_names.as_deref().map(|targets| TieBreak { read: &read, targets });
        if let Some(pairing) = &self.pairing {
            if self.audit.is_some() {
                found.iter_mut().for_each(QueryResult::keep_single);
            }
            match self.options.ref_part {
                None => pairing.pair(engine, scope, &mut found, tie_break.as_ref(), effort)?,
                Some(_) => pairing.prepare(engine, scope, &mut found, effort)?,
            }
        }
        if let (Some(tie_break), None) = (&tie_break, &self.pairing) {
            let all = found.par_iter_mut().enumerate();
            all.for_each(|(record, found)| tie_break.choose(to_u32(record), &mut found.alignments));
            if self.ranking.is_none() {
                found.par_iter_mut().for_each(|found| ranking::limit_hits(&self.rules, found));
            }
        }
        // For mates, a part of the references keeps all hits that pairs are chosen from.
        let is_chosen = self.pairing.is_none() || self.options.ref_part.is_none();
        if is_chosen && self.pairing.is_some() {
            let limited = found.par_iter_mut().map(|found| ranking::limit(&self.rules, found));
            effort.say_limited(&limited.collect::<Vec<bool>>());
        }
        if let Some(ranking) = self.ranking.as_ref().filter(|_| is_chosen) {
            let in_records = self.options.format.chooses_as_records();
            let left_out = ranking.choose((scope.batch, written), scope.layout, &mut found, in_records);
            effort.say_limited(&left_out.iter().map(|left_out| left_out.limited).collect::<Vec<bool>>());
            effort.say_masked(left_out.iter().map(|left_out| left_out.masked));
            effort.say_uncovered(left_out.iter().map(|left_out| left_out.uncovered));
        }
        if let Some(splitting) = self.split {
            let splitting = (splitting, self.split_tiers.as_ref());
            split::supplement(engine, scope, splitting, &mut found, effort)?;
            self.confirm(&mut found);
        }
        circles::cut(scope.batch, scope.layout, &mut found);
        // Audits compare scores with end bonuses.
        if self.options.ref_part.is_none() && self.audit.is_none() {
            end_bonus::leave_out(scope, self.reported_scores(), &mut found);
            self.confirm(&mut found);
        }
        Ok(found)
    }

    fn reported_scores(&self) -> ReportedScores {
        let min_score = self.rules.min_score;
        ReportedScores {
            min_score,
            anchored: self.tiers.as_ref().map_or(min_score, |tiers| tiers.least),
            supplementary: self.split.map_or(0, |splitting| splitting.least),
            rescued: self.pairing.as_ref().map(|pairing| pairing.rescued),
        }
    }

    /// Clears the insert size of mates that no longer form a proper pair.
    fn confirm(&self, found: &mut [QueryResult]) {
        let circle_of = |target| self.targets.circle(target);
        self.pairing.iter().for_each(|pairing| pairing.confirm(&circle_of, found));
    }
}

/// The finished queries of a batch, and the others.
pub(super) struct AlignedBatch {
    pub written: Written,
    pub rest: Option<QueryBatch>,
}

impl QueryBatch {
    /// Splits off the queries from number `count` on, if there are any.
    fn split_off(&mut self, count: usize, strands: Strands) -> Option<QueryBatch> {
        let all = self.records.len();
        if count >= all {
            return None;
        }
        let each = strands.count() as usize;
        let records = self.records.split_off(count);
        let [mut own, mut queries] = [Sequences::default(), Sequences::default()];
        own.append(&self.queries, 0..count * each);
        queries.append(&self.queries, count * each..all * each);
        self.queries = own;
        let known = if self.known.is_empty() { Vec::new() } else { self.known.split_off(count) };
        let cells = self.cells / all as u64 * count as u64;
        let rest = QueryBatch {
            first: self.first + count as u64,
            before: self.records.last().map(|record| record.name.clone()),
            records,
            queries,
            known,
            cells: self.cells - cells,
            ..*self
        };
        self.cells = cells;
        Some(rest)
    }

    /// Appends the queries that were split off.
    fn append(&mut self, rest: QueryBatch) {
        self.records.extend(rest.records);
        self.queries.append_all(&[&rest.queries]);
        self.known.extend(rest.known);
        self.cells += rest.cells;
    }
}

/// The batch whose parts the writer takes next.
#[derive(Default)]
pub(super) struct Turns {
    next: Mutex<usize>,
    changed: Condvar,
}

impl Turns {
    /// Moves on to the next batch.
    pub fn advance(&self) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Waits for the turn of a batch. `false` if the run has failed.
    pub fn wait_for(&self, number: usize, failure: &Failure) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        while *next != number {
            if failure.stopped() {
                return false;
            }
            // A failure does not notify.
            next = self.changed.wait_timeout(next, WAKE).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Begins with the first batch again, for another lane.
    pub fn restart(&self) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = 0;
    }
}

/// Index of a query's target. An index beyond the last possible target stays beyond it.
fn place_among(query: u64) -> u32 {
    u32::try_from(query).unwrap_or(u32::MAX)
}

/// Known facts about the queries of a batch.
#[derive(Clone, Copy)]
pub(super) struct QueryFacts<'a> {
    /// Their hits as single reads, or empty.
    pub hits: &'a [SingleHits],
    /// The records with their names, if names choose among equal hits.
    pub records: &'a [FileRecord],
}

/// Target time of a batch on this engine, in seconds.
pub(super) fn batch_seconds(engine: &Guarded, search: &QuerySearch) -> f64 {
    if !engine.keeps(search.targets, search.scoring) {
        return STREAMED_BATCH_SECONDS;
    }
    if search.filter.is_some_and(Filter::is_sampled) { SAMPLED_BATCH_SECONDS } else { BATCH_SECONDS }
}

/// Number of cells for which the next batches take `seconds` each, extrapolated from one batch.
pub(super) fn next_cells(before: u64, cells: u64, took: Duration, seconds: f64) -> u64 {
    let wanted = cells as f64 / took.as_secs_f64().max(1e-3) * seconds;
    let before = before as f64;
    whole_u64(wanted.clamp(before / 2.0, before * 4.0).max(1e6))
}

/// The known hits of single reads, and the remarks on them.
fn take_known(known: &[SingleHits], effort: &mut Effort) -> Vec<QueryResult> {
    let said = (0..).zip(known).filter(|(_, single)| single.remarks != QueryRemarks::default());
    effort.said.extend(said.map(|(read, single)| (read, single.remarks)));
    known.iter().map(|single| single.found.clone()).collect()
}

/// The known hits of the distinct units of a batch, each of `mates` reads. Empty if none are known.
fn of_distinct(grouped: &Grouped, known: &[SingleHits], mates: usize) -> Vec<SingleHits> {
    let mut distinct = Vec::new();
    if known.is_empty() {
        return distinct;
    }
    for (place, group) in grouped.groups.iter().enumerate() {
        if matches!(*group, UnitMatch::Of(number) if number as usize == distinct.len() / mates) {
            distinct.extend_from_slice(&known[place * mates..(place + 1) * mates]);
        }
    }
    distinct
}

/// The queries of all records except those at these indices, in all orientations.
fn queries_but(queries: &Sequences, places: &[usize], strands: usize) -> Sequences {
    let is_met = |query: &usize| places.binary_search(&(query / strands)).is_err();
    (0..queries.len()).filter(is_met).map(|query| queries.get(query)).collect()
}

/// The answers of units of `mates` reads, with the remarks on their records.
fn answers_of(found: Vec<QueryResult>, mates: usize, effort: &mut Effort) -> Vec<UnitResult> {
    let mut answers = vec![UnitResult::default(); found.len() / mates];
    found.into_iter().enumerate().for_each(|(record, found)| answers[record / mates].found.push(found));
    for (record, remarks) in effort.take_said() {
        answers[record as usize / mates].remarks += remarks;
    }
    effort.tied.drain(..).for_each(|record| answers[record as usize / mates].is_tied = true);
    answers
}
