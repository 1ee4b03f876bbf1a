//! The second tier: hits that score less than the proven minimum score, and contain an exact run.
//!
//! Proving that a read has no alignment of a low score requires a full search. So a read without a hit down to the
//! proven minimum score ([`Tiers::proven`]) gets the best alignment that contains a run of [`Tiers::anchor`] equal
//! bases, down to [`Tiers::least`] (docs/algorithm.md, section 24). Its regions are the windows around such runs: an
//! anchored alignment is contained in the window of each of its runs. The best anchored alignment of a region is found
//! in three steps. The engine scores the region, which bounds the score. If the path of that score contains a run, it
//! is the answer. If not, [`best::best`] finds the answer.

mod best;
mod intact;
mod supported;
mod tiers;

use super::rules::Kept;
use super::{Effort, HitAt, Rules, SearchInput, query_len, score_windows};
use crate::align::backtrace::{self, WantedPath};
use crate::align::candidates::boxes::{ExactRun, RunBox, RunSupport, covered};
use crate::align::candidates::by_index::AnchoredRegions;
use crate::align::candidates::runs::{self, RunQuestions, exact_runs, near_runs};
use crate::align::candidates::windows::{TargetWindow, join, push_regions};
use crate::align::candidates::{ChunkLength, MetTargets};
use crate::align::quality::QualityScores;
use crate::engine::{Engine, most_by_words};
use crate::terms::alignment::{Alignment, HitEnd, Locus, QueryResult, Strand, Tier};
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::bounds::{longest_span, potential};
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::error::EngineError;
use crate::terms::system::Instant;
use best::Sides;
use intact::LongRecords;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;
pub use tiers::{SearchSpace, Tiers};

/// Maximum number of paths of a record that are traced in one round.
const AHEAD: usize = 4;
/// Number of regions of a record that are scored before others, if their bounds differ.
const FIRST_SCORED: usize = 4;
/// Number of records whose runs are listed together.
const RECORDS: usize = 1 << 12;
/// Number of long records whose supported runs are listed together.
const SUPPORTED_RECORDS: usize = 1 << 8;
/// Maximum number of residues of the rows of all boxes that are searched together, unless one record has more.
const BOXED_RESIDUES: usize = 1 << 26;
/// Number of records whose windows are bounded together. Each may have very many windows.
const BOUNDED_RECORDS: usize = 1 << 8;

/// Knowledge of the best anchored alignment of a region.
#[derive(Clone, Debug)]
enum AnchoredResult {
    /// It scores no more than this.
    Unknown(i32),
    /// It scores no more than this hit, the best of all alignments in the region.
    AtMost(HitEnd),
    Known(Alignment),
}

/// Columns of a target, and the best anchored alignment that ends in the columns that the region owns.
#[derive(Clone, Debug)]
struct AnchoredRegion {
    strand: Strand,
    pair: Pair,
    /// Rows of the record before the pair's query, which may be a part of the record.
    row: u32,
    answer: AnchoredResult,
}

impl AnchoredRegion {
    /// Position of the region's hit in the order of hits, or an earlier position.
    fn locus(&self) -> Locus {
        let hit = match &self.answer {
            &AnchoredResult::Unknown(score) => HitEnd { score, query_end: 0, target_end: self.pair.own },
            AnchoredResult::AtMost(hit) => HitEnd { query_end: hit.query_end + self.row, ..*hit },
            AnchoredResult::Known(alignment) => alignment.locus().hit,
        };
        Locus { hit, strand: self.strand, target: self.pair.target }
    }

    fn score(&self) -> i32 {
        self.locus().hit.score
    }

    fn is_unknown(&self) -> bool {
        matches!(self.answer, AnchoredResult::Unknown(_))
    }

    /// Lowers the bound of an unknown answer by the words of the query that are absent from the columns. This takes much
    /// less time than the score.
    fn bound_by_words(&mut self, batch: &Batch) {
        let Pair { query, target, start, end, .. } = self.pair;
        let columns = &batch.target(target)[start as usize..end as usize];
        if let AnchoredResult::Unknown(most) = &mut self.answer
            && let Some(by_words) = most_by_words(batch.query(query), columns, &batch.scoring)
        {
            *most = by_words.min(*most);
        }
    }

    /// The region without some columns of its target: up to two pieces, or the region itself if it has none of the
    /// columns.
    fn without(self, (start, end): (u32, u32)) -> Vec<AnchoredRegion> {
        let pair = self.pair;
        if pair.end <= start || end <= pair.start {
            return vec![self];
        }
        let pieces = [
            Pair { end: pair.end.min(start), ..pair },
            Pair { start: pair.start.max(end), own: pair.own.max(end), ..pair },
        ];
        let holds = |pair: &Pair| pair.own < pair.end;
        let most = self.score();
        let region = |pair| AnchoredRegion { pair, answer: AnchoredResult::Unknown(most), ..self };
        pieces.into_iter().filter(holds).map(region).collect()
    }
}

/// The search of the second tier for one record.
struct AnchoredSearch {
    record: u32,
    rules: Rules,
    regions: Vec<AnchoredRegion>,
    kept: Kept,
    found: QueryResult,
    is_done: bool,
    /// Number of regions that are scored before others, if their bounds differ.
    at_first: usize,
}

/// Finds the hits of every record in two tiers.
pub fn find(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    effort: &mut Effort,
    find: impl Fn(&mut dyn Engine, &SearchInput, &[u32], &mut Effort) -> Result<Vec<QueryResult>, EngineError>,
) -> Result<Vec<QueryResult>, EngineError> {
    let records = 0..to_u32(scope.layout.records(scope.batch.queries.len()));
    let (long, short): (Vec<u32>, Vec<u32>) =
        records.partition(|&record| tiers.is_long(query_len(scope, record)));
    // A long query is searched on the targets that support it, or in its boxes if there are none.
    let LongRecords { found: by_pieces, without: mut long, whole } = match tiers.is_large {
        true => intact::search(engine, scope, tiers, &long, effort)?,
        false => LongRecords { without: long, ..LongRecords::default() },
    };
    let mut proven: Vec<(u32, QueryResult)> = Vec::new();
    if !whole.is_empty() {
        let mut found = find(engine, scope, &whole, effort)?;
        for record in whole {
            let mut hits = std::mem::take(&mut found[record as usize]);
            let is_proven = prove_long(scope, tiers, record, &mut hits);
            if is_proven { proven.push((record, hits)) } else { long.push(record) }
        }
        long.sort_unstable();
    }
    let begun = Instant::now();
    let (supporting, boxed) = match tiers.is_large {
        true => (SupportingTargets::default(), supported_boxes(scope, tiers, &long)),
        false => supports(scope, tiers, &long),
    };
    effort.filtering += begun.elapsed();
    let mut searched: Vec<u32> = supporting.0.keys().chain(&short).copied().collect();
    searched.sort_unstable();
    let of_supported = SearchInput { supporting: Some(&supporting), ..*scope };
    let mut found = find(engine, &of_supported, &searched, effort)?;
    let is_hit = |found: &&mut QueryResult| !found.alignments.is_empty();
    found.iter_mut().filter(is_hit).for_each(|found| found.tier = Tier::Proven);
    let lacks = |&record: &u32| {
        let query = scope.batch.query(scope.layout.query(record, Strand::Forward));
        let is_wanted = tiers.anchor > 0
            && query.len() >= tiers.anchor as usize
            && tiers.proven(query).is_some_and(|proven| proven > tiers.least);
        is_wanted && found[record as usize].alignments.is_empty()
    };
    let lacking: Vec<u32> = short.into_iter().filter(lacks).collect();
    let mut searches = search(engine, scope, tiers, &lacking, effort)?;
    searches.append(&mut search_boxes(engine, scope, tiers, boxed, effort)?);
    searches.extend(by_pieces);
    for AnchoredSearch { record, found: mut hits, .. } in searches {
        effort.tied.push(record);
        if tiers.is_large && tiers.is_long(query_len(scope, record)) {
            prove_long(scope, tiers, record, &mut hits);
        }
        if !hits.alignments.is_empty() {
            found[record as usize] = hits;
        }
    }
    proven.into_iter().for_each(|(record, hits)| found[record as usize] = hits);
    Ok(found)
}

/// The targets that support long queries: half of the query, or of the target, is near exact runs on the target, one of
/// which reaches [`Tiers::run_score`] when it is extended without gaps.
#[derive(Debug, Default)]
pub struct SupportingTargets(HashMap<u32, Vec<u32>>);

impl SupportingTargets {
    /// Whether a record is searched on a target.
    pub fn has(&self, record: u32, target: u32) -> bool {
        self.0.get(&record).is_none_or(|targets| targets.binary_search(&target).is_ok())
    }
}

/// The boxes of a record that no target supports.
struct Boxed {
    record: u32,
    boxes: Vec<(Strand, RunBox)>,
}

/// The targets that support long queries, and the boxes of the others that have any.
fn supports(scope: &SearchInput, tiers: &Tiers, records: &[u32]) -> (SupportingTargets, Vec<Boxed>) {
    if records.is_empty() {
        return (SupportingTargets::default(), Vec::new());
    }
    let SearchInput { batch, layout, filter, .. } = scope;
    let queries: Vec<u32> = records.iter().flat_map(|&record| layout.queries(record)).collect();
    let qualifies = |query: u32, run: &ExactRun| {
        let (query, target) = (batch.query(query), batch.target(run.target));
        let score = |one, other| batch.scoring.score(one, other);
        ungapped_score(query, target, run, (tiers.run_score, score)) >= tiers.run_score
    };
    let enough = |query: u32, target: u32| match tiers.is_boxed {
        true => u32::MAX,
        false => {
            let circle = batch.targets.circle(target).map(|len| len as usize);
            let columns = circle.unwrap_or(batch.target(target).len());
            to_u32(batch.query(query).len().min(columns).div_ceil(2))
        }
    };
    let orientations = layout.orientations();
    let asked = RunQuestions {
        strands: orientations.len(),
        least: tiers.anchor as usize,
        qualifies: &qualifies,
        enough: &enough,
    };
    let of_queries = near_runs(batch, &queries, asked, *filter);
    let mut supporting = SupportingTargets::default();
    let mut boxed = Vec::new();
    for (&record, of_record) in records.iter().zip(of_queries.chunks(orientations.len())) {
        let len = to_u32(query_len(scope, record));
        let each = || orientations.iter().copied().zip(of_record);
        let boxes: Vec<(Strand, RunBox)> =
            each().flat_map(|(strand, own)| own.boxes.iter().map(move |&own| (strand, own))).collect();
        // Rows near runs, of the query as it was read.
        let near: Vec<(u32, (u32, u32))> = each()
            .flat_map(|(strand, own)| own.near.iter().map(move |own| (strand, own)))
            .map(|(strand, &RunBox { target, rows: (start, end), .. })| match strand {
                Strand::Reverse => (target, (len - end, len - start)),
                _ => (target, (start, end)),
            })
            .collect();
        let mut targets: Vec<u32> = boxes.iter().map(|(_, own)| own.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|&target| {
            let rows = near.iter().filter(|own| own.0 == target).map(|own| own.1).collect();
            covered(rows) >= enough(layout.query(record, Strand::Forward), target)
        });
        if !targets.is_empty() {
            supporting.0.insert(record, targets);
        } else if !boxes.is_empty() {
            boxed.push(Boxed { record, boxes });
        }
    }
    (supporting, boxed)
}

/// The boxes of the supported runs of long queries on large references.
fn supported_boxes(scope: &SearchInput, tiers: &Tiers, records: &[u32]) -> Vec<Boxed> {
    let SearchInput { batch, layout, filter, .. } = scope;
    let orientations = layout.orientations();
    let mut boxed = Vec::new();
    for some in records.chunks(SUPPORTED_RECORDS) {
        let with_support = |query: u32| (query, tiers.support(batch.query(query).len()));
        let queries: Vec<(u32, RunSupport)> =
            some.iter().flat_map(|&record| layout.queries(record)).map(with_support).collect();
        let indexed = filter.and_then(|filter| filter.supported_boxes(batch, &queries));
        let of_queries = indexed.unwrap_or_else(|| runs::supported_boxes(batch, &queries));
        for (&record, of_record) in some.iter().zip(of_queries.chunks(orientations.len())) {
            let each = orientations.iter().zip(of_record);
            let boxes: Vec<(Strand, RunBox)> =
                each.flat_map(|(&strand, own)| own.iter().map(move |&own| (strand, own))).collect();
            if !boxes.is_empty() {
                boxed.push(Boxed { record, boxes });
            }
        }
    }
    boxed
}

/// If the best hit of a long query is proven to be the best of all, keeps the proven hits alone. Returns whether it is.
fn prove_long(scope: &SearchInput, tiers: &Tiers, record: u32, found: &mut QueryResult) -> bool {
    let Some(first) = found.alignments.first() else { return false };
    let proven = |query| tiers.proven_long(scope.batch.query(query));
    let proven: Option<Vec<i32>> = scope.layout.queries(record).map(proven).collect();
    let Some(proven) = proven.and_then(|proven| proven.into_iter().max()) else { return false };
    let is_proven = first.score >= proven;
    if is_proven {
        found.tier = Tier::Proven;
        found.threshold = found.threshold.max(proven);
        found.alignments.retain(|alignment| alignment.score >= proven);
        found.second = found.second.filter(|&second| second >= proven);
    }
    is_proven
}

/// The hits of records that no target supports: the best alignments within their boxes.
fn search_boxes(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    mut boxed: Vec<Boxed>,
    effort: &mut Effort,
) -> Result<Vec<AnchoredSearch>, EngineError> {
    let mut found = Vec::new();
    while !boxed.is_empty() {
        // Some records may have very many boxes.
        let (mut regions, mut residues) = (0, 0);
        let fits = |(at, own): &(usize, &Boxed)| {
            regions += own.boxes.len();
            residues += own.boxes.iter().map(|(_, own)| (own.rows.1 - own.rows.0) as usize).sum::<usize>();
            *at == 0 || (regions <= scope.portion && residues <= BOXED_RESIDUES && *at < RECORDS)
        };
        let rest = boxed.split_off(boxed.iter().enumerate().take_while(fits).count());
        // Each box has a query of its own: its rows.
        let mut queries = Sequences::default();
        let mut searches = Vec::new();
        for Boxed { record, boxes } in std::mem::replace(&mut boxed, rest) {
            let mut regions = Vec::new();
            for (strand, RunBox { target, rows, columns }) in boxes {
                let (query, (start, end)) = (to_u32(queries.len()), columns);
                let codes = scope.batch.query(scope.layout.query(record, strand));
                queries.push(codes[rows.0 as usize..rows.1 as usize].iter().copied());
                let pair = Pair { query, target, start, own: start, end };
                let most = to_i32(potential(queries.get(query as usize), &scope.batch.scoring));
                // No alignment has more matches than columns.
                let most = most.min(to_i32(scope.batch.scoring.most_score((end - start) as usize)));
                regions.push(AnchoredRegion {
                    strand,
                    pair,
                    row: rows.0,
                    answer: AnchoredResult::Unknown(most),
                });
            }
            let rules = Rules { min_score: tiers.least, ..scope.rules_of(record) };
            searches.push(AnchoredSearch::new(record, regions, rules));
        }
        let batch = Batch { queries: Arc::new(queries), ..scope.batch.clone() };
        let begun = Instant::now();
        let several = searches.iter_mut().filter(|search| search.regions.len() > 1);
        let regions: Vec<&mut AnchoredRegion> = several.flat_map(|search| &mut search.regions).collect();
        regions.into_par_iter().for_each(|region| region.bound_by_words(&batch));
        effort.filtering += begun.elapsed();
        let of_boxes = SearchInput { batch: &batch, ..*scope };
        finish(engine, &of_boxes, (tiers, false), &mut searches, effort)?;
        found.append(&mut searches);
    }
    Ok(found)
}

/// Score of a run after ungapped extension to both sides. An extension ends when its sum falls by `drop` below its
/// maximum, so that its cost does not depend on the length of the sequences.
fn ungapped_score(
    query: &[u8],
    target: &[u8],
    run: &ExactRun,
    (drop, score): (i32, impl Fn(u8, u8) -> i32),
) -> i32 {
    let (row, column, len) = (run.query_start as usize, run.start as usize, run.len as usize);
    let extended = |sides: &mut dyn Iterator<Item = (u8, u8)>| {
        let (mut sum, mut best) = (0i32, 0i32);
        for (one, other) in sides {
            sum += score(one, other);
            best = best.max(sum);
            if best - sum >= drop || best >= drop {
                break;
            }
        }
        best
    };
    let own = &query[row..row + len];
    let own = own.iter().zip(&target[column..]).map(|(&one, &other)| score(one, other)).sum::<i32>();
    let before =
        extended(&mut query[..row].iter().rev().copied().zip(target[..column].iter().rev().copied()));
    let behind =
        extended(&mut query[row + len..].iter().copied().zip(target[column + len..].iter().copied()));
    own + before + behind
}

/// The hits of the second tier of some records.
fn search(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    effort: &mut Effort,
) -> Result<Vec<AnchoredSearch>, EngineError> {
    let (mut found, left) = search_by_bounds(engine, scope, tiers, records, effort)?;
    for some in left.chunks(RECORDS) {
        let begun = Instant::now();
        let mut opened = open(scope, tiers, some);
        effort.filtering += begun.elapsed();
        while !opened.is_empty() {
            // Some records may have very many regions.
            let mut regions = 0;
            let fits = |(at, own): &(usize, &RecordRuns)| {
                regions += own.regions(scope);
                *at == 0 || regions <= scope.portion
            };
            let count = opened.iter().enumerate().take_while(fits).count();
            let rest = opened.split_off(count);
            let begun = opened.into_par_iter().map(|own| own.begin(scope, tiers));
            let mut searches: Vec<AnchoredSearch> = begun.collect();
            finish(engine, scope, (tiers, true), &mut searches, effort)?;
            found.extend(searches);
            opened = rest;
        }
    }
    Ok(found)
}

/// The hits of the second tier of the records whose best alignments a sampled index can bound, and the other records. In
/// a repeat of a large genome, a read has very many runs, but only the windows whose diagonals allow a score near the
/// best one are scored.
fn search_by_bounds(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    effort: &mut Effort,
) -> Result<(Vec<AnchoredSearch>, Vec<u32>), EngineError> {
    let Some(filter) = scope.filter else { return Ok((Vec::new(), records.to_vec())) };
    let threshold = |record, best| anchored_rules(scope, tiers, record).threshold(best);
    let (mut found, mut left) = (Vec::new(), Vec::new());
    for some in records.chunks(BOUNDED_RECORDS) {
        let begun = Instant::now();
        let anchored = (some, tiers.anchor as usize);
        let bounded = filter.anchored(scope.batch, &scope.layout, anchored, threshold)?;
        effort.filtering += begun.elapsed();
        let (mut least_scores, mut searches) = (Vec::new(), Vec::new());
        for (&record, regions) in some.iter().zip(bounded) {
            let Some(AnchoredRegions { least, regions }) = regions else {
                left.push(record);
                continue;
            };
            let region = |(strand, pair, most)| AnchoredRegion {
                strand,
                pair,
                row: 0,
                answer: AnchoredResult::Unknown(most),
            };
            let regions = regions.into_iter().map(region).collect();
            searches.push(AnchoredSearch::new(record, regions, anchored_rules(scope, tiers, record)));
            least_scores.push(least);
        }
        finish(engine, scope, (tiers, true), &mut searches, effort)?;
        for (search, least) in searches.into_iter().zip(least_scores) {
            // All hits from the threshold on are in the regions.
            let is_whole = !search.found.alignments.is_empty() && search.found.threshold >= least;
            if is_whole { found.push(search) } else { left.push(search.record) }
        }
    }
    left.sort_unstable();
    Ok((found, left))
}

/// The rules for a short record's hits in the second tier.
fn anchored_rules(scope: &SearchInput, tiers: &Tiers, record: u32) -> Rules {
    let rules = scope.rules_of(record);
    Rules { min_score: tiers.least, of_quality: rules.of_quality.map(QualityScores::anchored), ..rules }
}

/// Finds the hits of some searches. If `needs_run` is true, each hit must contain a run.
fn finish(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (tiers, needs_run): (&Tiers, bool),
    searches: &mut [AnchoredSearch],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    while searches.iter().any(|search| !search.is_done) {
        score_unknown(engine, scope, (tiers, needs_run), searches, effort)?;
        searches.par_iter_mut().for_each(|search| search.advance(scope));
        trace(engine, scope, (tiers, needs_run), searches, effort)?;
    }
    Ok(())
}

/// A record and its runs in each orientation. `None` if there are too many runs to list: then only the regions are
/// known.
struct RecordRuns {
    record: u32,
    runs: Option<Vec<Vec<ExactRun>>>,
}

impl RecordRuns {
    /// Approximate number of the record's regions.
    fn regions(&self, scope: &SearchInput) -> usize {
        match &self.runs {
            Some(runs) => runs.iter().map(Vec::len).sum(),
            None => MetTargets::all(scope.batch).expected_pairs(scope.batch, &scope.layout, self.record),
        }
    }

    fn begin(self, scope: &SearchInput, tiers: &Tiers) -> AnchoredSearch {
        let (SearchInput { batch, layout, .. }, record) = (scope, self.record);
        let regions: Vec<(Strand, Pair)> = match &self.runs {
            Some(runs) => {
                let all = layout.orientations().iter().zip(runs);
                all.flat_map(|(&strand, runs)| windows(scope, tiers, (record, strand), runs)).collect()
            }
            None => {
                let pairs =
                    MetTargets::all(batch).pairs(batch, layout, record, tiers.least, ChunkLength::SHORT);
                pairs.into_iter().map(|pair| (layout.strand(pair.query), pair)).collect()
            }
        };
        let answer = || AnchoredResult::Unknown(i32::MAX);
        let region = |(strand, pair)| AnchoredRegion { strand, pair, row: 0, answer: answer() };
        let rules = anchored_rules(scope, tiers, record);
        AnchoredSearch::new(record, regions.into_iter().map(region).collect(), rules)
    }
}

/// The records that have a run.
fn open(scope: &SearchInput, tiers: &Tiers, records: &[u32]) -> Vec<RecordRuns> {
    let SearchInput { batch, layout, .. } = scope;
    let queries: Vec<u32> = records.iter().flat_map(|&record| layout.queries(record)).collect();
    let least = tiers.anchor as usize;
    let indexed = scope.filter.and_then(|filter| filter.exact_runs(batch, &queries, least));
    let mut runs = indexed.unwrap_or_else(|| exact_runs(batch, &queries, least)).into_iter();
    let strands = layout.strands.count() as usize;
    let opened = |&record: &u32| RecordRuns {
        record,
        runs: runs.by_ref().take(strands).collect::<Vec<_>>().into_iter().collect(),
    };
    let has_runs =
        |own: &RecordRuns| own.runs.as_ref().is_none_or(|runs| runs.iter().any(|runs| !runs.is_empty()));
    records.iter().map(opened).filter(has_runs).collect()
}

/// The windows around the runs of one orientation of a record. Windows that share columns are joined.
fn windows(
    scope: &SearchInput,
    tiers: &Tiers,
    (record, strand): (u32, Strand),
    runs: &[ExactRun],
) -> Vec<(Strand, Pair)> {
    let SearchInput { batch, layout, .. } = scope;
    let query = layout.query(record, strand);
    let codes = batch.query(query);
    let span = longest_span(codes, tiers.least, &batch.scoring);
    let around = |run: &ExactRun| {
        let target = (&*batch.targets, run.target);
        let (end, to) = (run.start + run.len, run.query_start + run.len);
        TargetWindow::around(target, end as usize, (codes.len(), to as usize), span)
    };
    let mut windows: Vec<TargetWindow> = runs.iter().filter_map(around).collect();
    join(&mut windows, u32::saturating_add);
    let mut regions = Vec::new();
    push_regions(&mut regions, &batch.targets, (strand, query), (span, |_| i32::MAX), &windows);
    regions.into_iter().map(|(strand, pair, _)| (strand, pair)).collect()
}

/// Scores the regions with unknown answers that searches need next. If hits need no run, most regions are known sooner to
/// score too little.
fn score_unknown(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (tiers, needs_run): (&Tiers, bool),
    searches: &mut [AnchoredSearch],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let mut unknown: Vec<(&mut AnchoredRegion, Option<i32>)> = Vec::new();
    for search in searches.iter_mut() {
        let (count, least) = (search.first_to_score(), search.least_of_others().filter(|_| !needs_run));
        unknown.extend(search.regions[..count].iter_mut().map(|region| (region, least)));
    }
    let begun = Instant::now();
    let limited = unknown.iter().filter_map(|(region, least)| Some((region.pair, (*least)?)));
    let limited: Vec<(Pair, i32)> = limited.collect();
    let mut hits = engine.quick_scores(scope.batch, &limited)?.into_iter();
    for (region, _) in unknown.iter_mut().filter(|(_, least)| least.is_some()) {
        if let Some(hit) = hits.next().flatten() {
            region.answer = AnchoredResult::AtMost(hit);
            effort.cells += scope.batch.cells(&region.pair);
        }
    }
    effort.scoring += begun.elapsed();
    let unknown = unknown.into_iter().map(|(region, _)| region);
    let mut unknown: Vec<&mut AnchoredRegion> = unknown.filter(|region| region.is_unknown()).collect();
    for some in unknown.chunks_mut(scope.portion.max(1)) {
        let pairs: Vec<Pair> = some.iter().map(|region| region.pair).collect();
        let hits = score_windows(engine, scope.batch, &pairs, effort)?;
        if hits.len() != some.len() {
            return Err(EngineError::Wrong(format!("{} scores for {} regions", hits.len(), some.len())));
        }
        some.iter_mut().zip(hits).for_each(|(region, hit)| region.answer = AnchoredResult::AtMost(hit));
    }
    searches.par_iter_mut().for_each(|search| search.regions.retain(|region| region.score() >= tiers.least));
    Ok(())
}

impl AnchoredSearch {
    fn new(record: u32, regions: Vec<AnchoredRegion>, rules: Rules) -> AnchoredSearch {
        let found =
            QueryResult { threshold: rules.min_score, tier: Tier::Anchored, ..QueryResult::default() };
        let (kept, at_first) = (Kept::default(), FIRST_SCORED);
        AnchoredSearch { record, rules, regions, kept, found, is_done: false, at_first }
    }

    /// The same search, for regions that are expensive to score: the most promising one is scored first.
    fn one_by_one(self) -> AnchoredSearch {
        AnchoredSearch { at_first: 1, ..self }
    }

    /// Accepts the next hits, as far as they are known.
    fn advance(&mut self, scope: &SearchInput) {
        while !self.is_done {
            let next = self.next();
            let wants = next.is_some_and(|next| {
                let region = &self.regions[next];
                let hit = HitAt { target: region.pair.target, score: region.score() };
                let is_second = self.found.alignments.len() == 1 && self.found.second.is_none();
                // The limits apply to hits, not to bounds.
                let is_open = is_second || region.is_unknown();
                hit.score >= self.found.threshold && (is_open || self.rules.wants(&self.kept, hit))
            });
            let Some(next) = next.filter(|_| wants) else {
                self.end();
                return;
            };
            let AnchoredResult::Known(alignment) = self.regions[next].answer.clone() else { return };
            self.take(next, alignment, scope);
        }
    }

    fn end(&mut self) {
        self.is_done = true;
        self.regions = Vec::new();
    }

    /// The region whose hit may come first. An unknown hit comes no earlier than the cell of its bound.
    fn next(&self) -> Option<usize> {
        (0..self.regions.len()).min_by(|&one, &other| self.order(one, other))
    }

    /// Order of two regions by the earliest position of their hits.
    fn order(&self, one: usize, other: usize) -> Ordering {
        self.regions[one].locus().order(&self.regions[other].locus())
    }

    /// Moves the unknown regions to score next to the front, and returns their number: those that may precede all others,
    /// or at first a few with the highest bounds.
    fn first_to_score(&mut self) -> usize {
        if self.is_done {
            return 0;
        }
        let is_known = |region: &&AnchoredRegion| !region.is_unknown();
        let known = self.regions.iter().filter(is_known).map(AnchoredRegion::locus);
        let known = known.min_by(|one, other| one.order(other));
        let mut bounds: Vec<i32> =
            self.regions.iter().filter(|region| region.is_unknown()).map(AnchoredRegion::score).collect();
        bounds.sort_unstable_by_key(|&bound| Reverse(bound));
        let enough = bounds.get(self.at_first - 1).copied().unwrap_or(i32::MIN);
        let threshold = self.found.threshold;
        let is_wanted = |region: &AnchoredRegion| {
            let may_precede = |known: Locus| region.locus().order(&known).is_lt();
            region.is_unknown()
                && region.score() >= threshold
                && known.map_or(region.score() >= enough, may_precede)
        };
        self.regions.sort_by_key(|region| !is_wanted(region));
        self.regions.partition_point(is_wanted)
    }

    /// Minimum score of a hit beside the best known one, if that needs no run. `None` if no score is known.
    fn least_of_others(&self) -> Option<i32> {
        let known = self.regions.iter().filter(|region| !region.is_unknown());
        let best = known.map(AnchoredRegion::score).max().map(|best| self.rules.threshold(best));
        let found = (!self.found.alignments.is_empty()).then_some(self.found.threshold);
        best.max(found).map(|least| least.max(1))
    }

    /// Accepts the next hit, and cuts its columns out of the regions.
    fn take(&mut self, next: usize, alignment: Alignment, scope: &SearchInput) {
        let hit = HitAt { target: alignment.target, score: alignment.score };
        if self.found.alignments.is_empty() {
            self.found.threshold = self.rules.threshold(alignment.score);
        } else if self.found.alignments.len() == 1 && self.found.second.is_none() {
            self.found.second = Some(alignment.score);
        }
        let is_reported = self.rules.wants(&self.kept, hit);
        let (strand, target) = (alignment.strand, alignment.target);
        let circle = scope.batch.targets.circle(target);
        let mut left = std::mem::take(&mut self.regions);
        let pieces = left.swap_remove(next).without((alignment.target_start, alignment.target_end));
        left.extend(pieces);
        for columns in alignment.columns_taken(circle) {
            left = left
                .into_iter()
                .flat_map(|region| match (region.strand, region.pair.target) == (strand, target) {
                    true => region.without(columns),
                    false => vec![region],
                })
                .collect();
        }
        self.regions = left;
        if is_reported {
            self.kept.add(hit, &self.rules);
            self.found.alignments.push(alignment);
        } else {
            // The hit is needed only for its score.
            self.end();
        }
    }

    /// The regions whose paths are needed: those that precede all known hits and all unknown regions, in order.
    fn wanted(&self) -> Vec<usize> {
        let is_bound = |&at: &usize| matches!(self.regions[at].answer, AnchoredResult::AtMost(_));
        let others = (0..self.regions.len()).filter(|at| !is_bound(at));
        let other = others.min_by(|&one, &other| self.order(one, other));
        let is_wanted =
            |&at: &usize| is_bound(&at) && other.is_none_or(|other| self.order(at, other).is_lt());
        let mut wanted: Vec<usize> =
            if self.is_done { Vec::new() } else { (0..self.regions.len()).filter(is_wanted).collect() };
        wanted.sort_unstable_by(|&one, &other| self.order(one, other));
        wanted.truncate(AHEAD);
        wanted
    }
}

/// Finds the best anchored alignments of the regions that are needed next.
fn trace(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (tiers, needs_run): (&Tiers, bool),
    searches: &mut [AnchoredSearch],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let batch = scope.batch;
    let wanted: Vec<(usize, usize)> = searches
        .iter()
        .enumerate()
        .flat_map(|(search, of)| of.wanted().into_iter().map(move |region| (search, region)))
        .collect();
    let path = |&(search, region): &(usize, usize)| {
        let AnchoredRegion { strand, pair, answer, .. } = &searches[search].regions[region];
        let AnchoredResult::AtMost(hit) = answer else {
            return Err(EngineError::Internal("a known path".to_string()));
        };
        let window = backtrace::window_of(batch, pair.query, pair.target, pair.start, hit);
        Ok(WantedPath { window, strand: *strand, score: hit.score })
    };
    let paths: Vec<WantedPath> = wanted.iter().map(path).collect::<Result<_, _>>()?;
    let start = Instant::now();
    let alignments = backtrace::align(engine, batch, &paths)?;
    let answers: Vec<Option<Alignment>> = wanted
        .par_iter()
        .zip(alignments)
        .map(|(&(search, region), path)| {
            let region = &searches[search].regions[region];
            let found = if needs_run { anchored(scope, tiers, region, path) } else { Some(path) };
            found.map(|found| Alignment {
                query_start: found.query_start + region.row,
                query_end: found.query_end + region.row,
                ..found
            })
        })
        .collect();
    effort.backtrace += start.elapsed();
    for (&(search, region), answer) in wanted.iter().zip(answers) {
        let region = &mut searches[search].regions[region];
        region.answer = match answer {
            Some(alignment) => AnchoredResult::Known(alignment),
            None => AnchoredResult::AtMost(HitEnd { score: i32::MIN, ..HitEnd::default() }),
        };
    }
    searches.par_iter_mut().for_each(|search| search.regions.retain(|region| region.score() >= tiers.least));
    Ok(())
}

/// Best anchored alignment of a region, derived from the path of the best alignment.
fn anchored(
    scope: &SearchInput,
    tiers: &Tiers,
    region: &AnchoredRegion,
    path: Alignment,
) -> Option<Alignment> {
    let AnchoredRegion { pair, .. } = *region;
    let (query, target) = (scope.batch.query(pair.query), scope.batch.target(pair.target));
    let anchor = tiers.anchor as usize;
    let whole = Sides { query, target, scoring: &scope.batch.scoring, anchor };
    if best::has_run(&whole, &path) {
        return Some(path);
    }
    let columns = &target[pair.start as usize..pair.end as usize];
    let found =
        best::best(&Sides { target: columns, ..whole }, (pair.own - pair.start) as usize, tiers.least)?;
    Some(Alignment {
        score: found.hit.score,
        query_start: found.query_start,
        query_end: found.hit.query_end,
        target_start: found.target_start + pair.start,
        target_end: found.hit.target_end + pair.start,
        cigar: found.cigar,
        ..path
    })
}
