//! The hits of a query: the reported alignments and their order.
//!
//! The first hit is the best local alignment over all targets and strands, in the order of
//! [`crate::terms::alignment::Locus::order`]. The next hit is the best alignment whose target interval overlaps no
//! earlier hit on the same target and strand, and so on, as long as the score reaches the threshold. (On a circular
//! target, whose sequence is stored twice, a hit also excludes its images one turn before and after: docs/algorithm.md,
//! section 18.) The definition does not depend on chunks: a chunk is a region of end columns whose best hit is known or
//! bounded, and an accepted alignment cuts its columns out of the regions that it overlaps.

mod anchored;
mod database;
mod effort;
mod equal_windows;
mod prefix;
mod region;
mod rules;
mod search;
mod tie_break;

use crate::align::backtrace::{self, WantedPath};
use crate::align::candidates::filter::Filter;
use crate::align::candidates::seeds::QuickLook;
use crate::align::candidates::{
    ChunkLength, FilterAnswer, FilterRequest, Meets, MetTargets, PairLayout, windows,
};
use crate::align::repeats::DistinctTargets;
use crate::engine::{Capabilities, Engine};
use crate::terms::alignment::{Alignment, HitEnd, QueryResult, Strand};
use crate::terms::batch::{Batch, Pair, sweeps, swept};
use crate::terms::bounds::longest_span;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::Substitution;
use crate::terms::system::Instant;
pub use anchored::{SearchSpace, SupportingTargets, Tiers};
use database::score_short_targets;
pub use effort::{Effort, QueryRemarks, TooShort};
use equal_windows::DistinctWindows;
use rayon::prelude::*;
use region::{Most, Region};
use rules::Kept;
pub use rules::{HitAt, LeastScores, Ranks, Rules};
use search::{Ended, Need, RecordSearch, RegionSource, query_len, query_shape};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
pub use tie_break::TieBreak;

/// Number of pairs per portion if all pairs are scored. Larger portions hardly speed up a device.
pub const PORTION: usize = 1 << 17;
/// Factor by which the regions of filtered searches may exceed a portion.
const ROOM_PER_PORTION: usize = 2;

/// Maximum length of a query whose windows are scored cell by cell, in residues.
const SHORT: usize = 1000;

/// The last searches of a portion, one in this many, may have shorter sweeps ([`Capabilities::last_sweeps`]).
const LAST_OF: usize = 8;

/// Input of a search for hits.
#[derive(Clone, Copy)]
pub struct SearchInput<'a> {
    pub batch: &'a Batch,
    pub layout: PairLayout,
    pub rules: Rules,
    /// Minimum scores by record and target, instead of the minimum score of `rules`.
    pub least: Option<&'a dyn LeastScores>,
    /// Minimum scores by query, instead of the minimum score of `rules`, and the second tier.
    pub tiers: Option<&'a Tiers>,
    /// The targets that long queries are searched on.
    pub supporting: Option<&'a SupportingTargets>,
    /// Ranking of hits, if scores alone do not rank them.
    pub ranks: Option<&'a dyn Ranks>,
    /// A filter for the batch's targets and scoring and the layout's strands. `None` means full searches.
    pub filter: Option<&'a Filter>,
    /// Approximate number of pairs per portion if all pairs are scored, but at least the pairs of one query. Most pairs
    /// contain no hit and are dropped after their portion, so this bounds the memory.
    pub portion: usize,
    /// Maximum number of hits of all records together, unless there is only one record. More of them are
    /// [`EngineError::TooManyHits`].
    pub most_hits: usize,
    pub repeats: Repeats<'a>,
    pub detail: Detail,
}

/// Information to find for each hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    #[default]
    Path,
    /// Target, strand and score only. Intervals and path are empty. At most one hit per target is reported, since
    /// overlaps of further hits are unknown.
    Score,
}

/// Treatment of repeats among the targets.
#[derive(Clone, Copy, Debug, Default)]
pub enum Repeats<'a> {
    /// Repeats are searched like other targets.
    #[default]
    Kept,
    /// Repeats can be removed.
    Known(&'a WithoutRepeats),
    /// The batch's targets are the distinct stretches of the targets that hits are reported on.
    TakenOut(&'a DistinctTargets),
}

impl<'a> Repeats<'a> {
    /// The targets that the batch's targets represent, if these are distinct stretches.
    fn distinct(&self) -> Option<&'a DistinctTargets> {
        match self {
            Repeats::TakenOut(distinct) => Some(distinct),
            Repeats::Kept | Repeats::Known(_) => None,
        }
    }
}

/// Targets without repeats, and the filter for them if there is one.
pub struct WithoutRepeats {
    pub distinct: DistinctTargets,
    pub filter: Option<Filter>,
}

impl fmt::Debug for WithoutRepeats {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.distinct.fmt(f)
    }
}

impl WithoutRepeats {
    /// Whether the hits of a batch can be found by the distinct stretches.
    fn serves(&self, scope: &SearchInput) -> bool {
        scope.is_for_any_targets() && scope.span() <= self.distinct.span()
    }
}

impl<'a> SearchInput<'a> {
    /// Hits by score, without a filter.
    pub fn new(batch: &'a Batch, layout: PairLayout, rules: Rules) -> SearchInput<'a> {
        let (least, ranks, filter, repeats) = (None, None, None, Repeats::Kept);
        let detail = Detail::Path;
        SearchInput {
            batch,
            layout,
            rules,
            least,
            tiers: None,
            supporting: None,
            ranks,
            filter,
            portion: PORTION,
            most_hits: usize::MAX,
            repeats,
            detail,
        }
    }

    /// The rules for a record's hits.
    pub fn rules_of(&self, record: u32) -> Rules {
        match (self.least, self.tiers) {
            (Some(least), _) => Rules { min_score: least.lowest(record), ..self.rules },
            (None, Some(tiers)) => {
                let query = self.batch.query(self.layout.query(record, Strand::Forward));
                let of_quality = tiers.quality_scores(query.len());
                Rules { min_score: tiers.least_score(query), of_quality, ..self.rules }
            }
            (None, None) => self.rules,
        }
    }

    /// Whether only scores and positions decide which hits count, so that equal targets have equal hits.
    pub fn is_for_any_targets(&self) -> bool {
        let SearchInput { batch, layout, rules, least, ranks, .. } = self;
        let is_local = batch.scoring.mode.is_local() && layout.meets == Meets::All;
        is_local && least.is_none() && ranks.is_none() && !rules.counts_targets() && !rules.keeps_ties
    }

    /// Length of the longest target stretch that a hit of the batch can cover.
    pub fn span(&self) -> u32 {
        let records = to_u32(self.layout.records(self.batch.queries.len()));
        (0..records)
            .into_par_iter()
            .map(|record| self.span_of(record, self.rules_of(record).min_score))
            .max()
            .unwrap_or(0)
    }

    /// Length of the longest target stretch that an alignment of a record can cover on either strand if it scores at
    /// least `score`. The strands differ under a matrix that is not symmetric under complement.
    pub fn span_of(&self, record: u32, score: i32) -> u32 {
        let SearchInput { batch, layout, .. } = self;
        let span = |query| longest_span(batch.query(query), score, &batch.scoring);
        layout.queries(record).map(span).max().unwrap_or(0)
    }

    /// Whether a search begins on a level that covers all hits. If the level has no regions, the record has no hit.
    fn is_least(&self, start: &SearchStart) -> bool {
        matches!(start.source, RegionSource::Level(_, held) if held <= self.rules_of(start.record).min_score)
    }

    /// Whether a score is enough for the best alignment of a record on a target.
    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool {
        if self.supporting.is_some_and(|targets| !targets.has(record, target)) {
            return false;
        }
        match self.least {
            Some(least) => score >= least.lowest(record) && least.is_enough(record, target, score),
            None => score >= self.rules_of(record).min_score,
        }
    }
}

/// A record, the source its search begins with, and the cost of earlier searches ([`FilterRequest::spent`]).
#[derive(Clone, Debug)]
struct SearchStart {
    record: u32,
    source: RegionSource,
    spent: f64,
    /// [`FilterRequest::is_last`].
    is_last: bool,
    /// [`FilterRequest::enough`].
    enough: Option<usize>,
    /// If the regions are a part of those of a level: the score from which all of them together would be complete.
    part_of: Option<i32>,
    /// The region of the first hit, if it is known.
    first: Option<Box<Region>>,
    /// Expected minimum score of the hits, if known or estimated. It never affects results.
    expected: Option<i32>,
}

impl SearchStart {
    /// A start without any knowledge.
    fn new(record: u32, source: RegionSource) -> SearchStart {
        SearchStart {
            record,
            source,
            spent: 0.0,
            is_last: false,
            enough: None,
            part_of: None,
            first: None,
            expected: None,
        }
    }
}

/// Finds the hits of every record of the batch.
pub fn find(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    effort: &mut Effort,
) -> Result<Vec<QueryResult>, EngineError> {
    match scope.tiers {
        Some(tiers) => anchored::find(engine, scope, tiers, effort, find_of),
        None => find_of(engine, scope, &all_records(scope), effort),
    }
}

fn all_records(scope: &SearchInput) -> Vec<u32> {
    (0..to_u32(scope.layout.records(scope.batch.queries.len()))).collect()
}

/// Finds the hits of some records, which are in ascending order. The others have none.
fn find_of(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    records: &[u32],
    effort: &mut Effort,
) -> Result<Vec<QueryResult>, EngineError> {
    match scope.repeats {
        Repeats::Known(without) if without.serves(scope) => {
            let WithoutRepeats { distinct, filter } = without;
            let batch = Batch { targets: Arc::clone(&distinct.stretches), ..scope.batch.clone() };
            let repeats = Repeats::TakenOut(distinct);
            let scope = SearchInput { batch: &batch, filter: filter.as_ref(), repeats, ..*scope };
            find_once(engine, &scope, records, effort)
        }
        _ => find_once(engine, scope, records, effort),
    }
}

/// Finds the hits of some records on these targets.
fn find_once(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    records: &[u32],
    effort: &mut Effort,
) -> Result<Vec<QueryResult>, EngineError> {
    let of = |record| QueryResult { threshold: scope.rules_of(record).min_score, ..QueryResult::default() };
    let mut found: Vec<QueryResult> = all_records(scope).into_iter().map(of).collect();
    let most_hits = if records.len() > 1 { scope.most_hits } else { usize::MAX };
    let mut hits = 0;
    let begun = Instant::now();
    let mut left = first_sources(scope, records);
    effort.filtering += begun.elapsed();
    while !left.is_empty() {
        let (mut opened, mut later) = open(scope, &left, room(scope), effort)?;
        // Reads of foreign organisms usually end here.
        opened.retain(|(start, regions)| {
            let goes_on = !regions.is_empty() || !scope.is_least(start);
            if !goes_on && is_like_full(scope, start.record, start.spent) {
                effort.said.push((start.record, QueryRemarks::WHOLE));
            }
            goes_on
        });
        let searches = begin(scope, opened);
        let searches = finish(engine, scope, searches, effort)?;
        // Freeing what the searches hold takes long enough to share it among the threads.
        let ended: Vec<RecordEnd> =
            searches.into_par_iter().map(|search| RecordEnd::of(scope, *search)).collect();
        for RecordEnd { record, is_tied, said, ended } in ended {
            let remarks = [QueryRemarks::CUT, QueryRemarks::LIMITED, QueryRemarks::WHOLE];
            let said = remarks.into_iter().zip(said).filter(|(_, is_said)| *is_said);
            effort.said.extend(said.map(|(remark, _)| (record, remark)));
            effort.tied.extend(is_tied.then_some(record));
            match ended {
                Ended::Found(of_record) => {
                    hits += of_record.alignments.len();
                    found[record as usize] = of_record;
                }
                Ended::Later(start) => later.push(start),
            }
        }
        if hits > most_hits && !later.is_empty() {
            return Err(EngineError::TooManyHits);
        }
        later.sort_unstable_by_key(|start| start.record);
        left = later;
    }
    Ok(found)
}

/// How the search of a record ended.
struct RecordEnd {
    record: u32,
    is_tied: bool,
    /// Whether it was cut, limited, and like a full search.
    said: [bool; 3],
    ended: Ended,
}

impl RecordEnd {
    fn of(scope: &SearchInput, search: RecordSearch) -> RecordEnd {
        let record = search.record;
        let is_whole = scope.filter.is_some() && is_like_full(scope, record, search.spent());
        let said = [search.is_cut(), search.is_limited(), is_whole];
        RecordEnd { record, is_tied: search.is_tied(), said, ended: search.ended() }
    }
}

/// Whether the windows of a search cost at least half of the cells of a full search. This is unknown for long queries,
/// since engines skip most cells of long windows.
fn is_like_full(scope: &SearchInput, record: u32, spent: f64) -> bool {
    let len = query_len(scope, record);
    let columns = scope.batch.targets.codes().len() as f64 * f64::from(scope.layout.strands.count());
    len <= SHORT && 2.0 * spent >= len as f64 * columns
}

/// Maximum number of filtered regions in memory.
fn room(scope: &SearchInput) -> usize {
    scope.portion.max(1).saturating_mul(ROOM_PER_PORTION)
}

/// Source that the search of each record begins with: the level that a glance at the targets suggests, the filter's
/// first level, or all pairs.
fn first_sources(scope: &SearchInput, records: &[u32]) -> Vec<SearchStart> {
    let Some(filter) = scope.filter else {
        return records.iter().map(|&record| SearchStart::new(record, RegionSource::All)).collect();
    };
    let kind = filter.kind(scope.batch, &scope.layout);
    let seen = filter.glance(kind, scope.batch, &scope.layout, records);
    let source = |(&record, seen): (&u32, QuickLook)| {
        let rules = scope.rules_of(record);
        let query = query_shape(scope, record);
        let (score, least) = match seen {
            // Once the first hit is known, it need not be scored again on lower levels.
            QuickLook::Estimate(score) => (score, score.max(rules.min_score)),
            QuickLook::Alignment(score) => (score, rules.threshold(score)),
        };
        let suggested = filter.at_most(kind, query, least).filter(|_| score >= rules.min_score);
        let first = || filter.first(kind, query);
        let level = match seen {
            QuickLook::Estimate(_) => suggested.or_else(first),
            // The alignment may be only a part of the best one, next to a gap. Then its level would be too low.
            QuickLook::Alignment(_) => {
                let first = first();
                suggested.filter(|level| first.is_none_or(|first| level.is_quicker_than(&first))).or(first)
            }
        };
        let source =
            level.map_or(RegionSource::All, |level| RegionSource::Level(level, least.max(level.least)));
        let expected = (score >= rules.min_score).then(|| rules.threshold(score));
        let has_order = scope.ranks.is_none() && scope.repeats.distinct().is_none();
        let enough = rules.hits_needed().filter(|_| has_order);
        SearchStart { expected, enough, ..SearchStart::new(record, source) }
    };
    records.par_iter().zip(seen).map(source).collect()
}

/// Where a search begins, and the regions of its source.
type OpenedStart = (SearchStart, Vec<windows::CandidateRegion>);

/// A search is large, and rounds move searches.
type BoxedSearch = Box<RecordSearch>;

/// Creates the searches that begin with these regions.
fn begin(scope: &SearchInput, opened: Vec<OpenedStart>) -> Vec<BoxedSearch> {
    opened
        .into_par_iter()
        .map(|(start, regions)| Box::new(RecordSearch::new(scope, start, regions)))
        .collect()
}

/// Opens the regions of the sources of some starts, and returns the starts for which there was no room. With a filter a
/// record may have very many regions, and a batch is too large for full searches of many of its records.
fn open(
    scope: &SearchInput,
    starts: &[SearchStart],
    room: usize,
    effort: &mut Effort,
) -> Result<(Vec<OpenedStart>, Vec<SearchStart>), EngineError> {
    let begun = Instant::now();
    let SearchInput { batch, layout, .. } = scope;
    let on_level =
        |&SearchStart { record, source, spent, is_last, enough, ref first, .. }: &SearchStart| match source {
            RegionSource::Level(level, least) => {
                let first = first.as_ref().map(|region| region.locus());
                Some(FilterRequest { record, level, least, spent, is_last, enough, first })
            }
            RegionSource::All => None,
        };
    let on_levels: Vec<FilterRequest> = starts.iter().filter_map(on_level).collect();
    let mut filtered = match scope.filter {
        Some(filter) => filter.regions(batch, layout, &on_levels, room)?.into_iter(),
        None => Vec::new().into_iter(),
    };
    let (mut opened, mut later) = (Vec::with_capacity(starts.len()), Vec::new());
    let mut in_full = 0;
    for start in starts {
        let mut start = start.clone();
        let mut regions = Vec::new();
        if let RegionSource::Level(level, least) = start.source {
            match filtered.next() {
                Some(FilterAnswer::Regions { regions: found, held, spent }) => {
                    (regions, start.spent) = (found, spent);
                    start.part_of = (held > least).then_some(least);
                    start.source = RegionSource::Level(level, held);
                }
                Some(FilterAnswer::Dear) => start.source = RegionSource::All,
                Some(FilterAnswer::Later) | None => {
                    later.push(start);
                    continue;
                }
            }
        }
        if let RegionSource::All = start.source {
            let is_first = in_full == 0;
            in_full += MetTargets::all(batch).expected_pairs(batch, layout, start.record);
            if !is_first && scope.filter.is_some() && in_full > scope.portion {
                later.push(start);
                continue;
            }
        }
        opened.push((start, regions));
    }
    effort.filtering += begun.elapsed();
    Ok((opened, later))
}

/// Runs all searches to their end. Each round gathers the needs of all searches, so that the engine gets large batches.
/// Paths come last, when no search needs scores or regions.
fn finish(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    mut searches: Vec<BoxedSearch>,
    effort: &mut Effort,
) -> Result<Vec<BoxedSearch>, EngineError> {
    let mut ended = Vec::with_capacity(searches.len());
    let mut needs: Vec<Option<Need>> = vec![None; searches.len()];
    loop {
        score_everything(engine, scope, &mut searches, effort)?;
        // A need stays the same until it is met, and finding it may take a look at very many regions.
        let known: Vec<Need> = (searches.par_iter_mut(), needs)
            .into_par_iter()
            .map(|(search, need)| need.unwrap_or_else(|| search.advance(scope)))
            .collect();
        // A few searches may have many hits and need many rounds.
        let is_done = |need: &Need| matches!(need, Need::Nothing);
        let mut going = known;
        if going.iter().filter(|need| is_done(need)).count() > going.len() / 2 {
            let all = searches.into_iter().zip(going);
            let (done, rest): (Vec<_>, Vec<_>) = all.partition(|(_, need)| is_done(need));
            ended.extend(done.into_iter().map(|(search, _)| search));
            (searches, going) = rest.into_iter().unzip();
        }
        let met: fn(&Need) -> bool = if score_regions(engine, scope, &mut searches, &going, effort)? {
            |need| matches!(need, Need::Scores(_))
        } else if descend(scope, &mut searches, &going, effort)? {
            |need| matches!(need, Need::Regions(_))
        } else if align(engine, scope, &mut searches, &going, effort)? {
            |need| matches!(need, Need::Paths(_))
        } else {
            ended.extend(searches);
            return Ok(ended);
        };
        let is_unmet = |need: &Need| !met(need) && !matches!(need, Need::Everything);
        needs = going.into_iter().map(|need| Some(need).filter(is_unmet)).collect();
    }
}

/// Scores the regions that searches need. Returns `false` if there are none.
fn score_regions(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    searches: &mut [BoxedSearch],
    needs: &[Need],
    effort: &mut Effort,
) -> Result<bool, EngineError> {
    let asked = |need: &Need| if let Need::Scores(regions) = need { regions.clone() } else { Vec::new() };
    let open =
        searches.par_iter_mut().zip(needs).map(|(search, need)| search.bound_by_words(asked(need), scope));
    let open: Vec<Vec<u32>> = open.collect();
    if !needs.iter().any(|need| matches!(need, Need::Scores(_))) {
        return Ok(false);
    }
    let unknown = open.iter().enumerate().flat_map(|(search, regions)| {
        let searches = &*searches;
        regions.iter().map(move |&region| {
            let region = region as usize;
            let least = searches[search].least_in(region, scope);
            Unscored { search, region, pair: searches[search].regions[region].pair, least }
        })
    });
    let (limited, mut unknown): (Vec<Unscored>, Vec<Unscored>) =
        unknown.partition(|unscored| unscored.least.is_some());
    let start = Instant::now();
    let wanted: Vec<(Pair, i32)> =
        limited.iter().filter_map(|unscored| Some((unscored.pair, unscored.least?))).collect();
    let hits = engine.quick_scores(scope.batch, &wanted)?;
    effort.scoring += start.elapsed();
    for (unscored, hit) in limited.into_iter().zip(hits) {
        match hit {
            Some(hit) => {
                effort.cells += scope.batch.cells(&unscored.pair);
                unscored.learn(searches, hit, scope)?;
            }
            None => unknown.push(unscored),
        }
    }
    unknown.sort_unstable_by_key(|unscored| (unscored.search, unscored.region));
    let pairs: Vec<Pair> = unknown.iter().map(|unscored| unscored.pair).collect();
    let hits = score_windows(engine, scope.batch, &pairs, effort)?;
    for (unscored, hit) in unknown.into_iter().zip(hits) {
        unscored.learn(searches, hit, scope)?;
    }
    let learned = searches.par_iter_mut().zip(needs).filter(|(_, need)| matches!(need, Need::Scores(_)));
    learned.for_each(|(search, _)| search.prune());
    Ok(true)
}

/// A region whose score a search needs.
struct Unscored {
    search: usize,
    region: usize,
    pair: Pair,
    /// The minimum score that counts, if few cells of the region allow it.
    least: Option<i32>,
}

impl Unscored {
    fn learn(
        self,
        searches: &mut [BoxedSearch],
        hit: HitEnd,
        scope: &SearchInput,
    ) -> Result<(), EngineError> {
        match self.least {
            Some(least) => searches[self.search].learn_at_least(self.region, (hit, least), scope),
            None => searches[self.search].learn(self.region, hit, scope),
        }
    }
}

/// Finds the paths that searches need. Returns `false` if there are none.
fn align(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    searches: &mut [BoxedSearch],
    needs: &[Need],
    effort: &mut Effort,
) -> Result<bool, EngineError> {
    let paths = |(index, need): (usize, &Need)| {
        let regions: &[u32] = if let Need::Paths(regions) = need { regions } else { &[] };
        let wanted = |&region: &u32| searches[index].regions[region as usize].wanted(scope.batch);
        regions.iter().map(|region| (index, wanted(region))).collect::<SmallVec<[_; 1]>>()
    };
    let (next, wanted): (Vec<usize>, Vec<WantedPath>) =
        needs.par_iter().enumerate().flat_map_iter(paths).unzip();
    if next.is_empty() {
        return Ok(false);
    }
    let start = Instant::now();
    let alignments = backtrace::align(engine, scope.batch, &wanted)?;
    effort.backtrace += start.elapsed();
    let mut aligned: Vec<SmallVec<[Alignment; 1]>> = vec![SmallVec::new(); searches.len()];
    for (index, alignment) in next.into_iter().zip(alignments) {
        aligned[index].push(alignment);
    }
    searches.par_iter_mut().zip(needs).zip(aligned).for_each(|((search, need), alignments)| {
        if let Need::Paths(regions) = need {
            search.take_paths(regions, alignments.into_iter(), scope);
        }
    });
    Ok(true)
}

/// Scores all pairs for the searches that have scored nothing yet, portion by portion.
fn score_everything(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    searches: &mut [BoxedSearch],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let mut unscored: Vec<&mut RecordSearch> =
        searches.iter_mut().map(|search| &mut **search).filter(|search| search.is_whole()).collect();
    if scope.filter.is_some() {
        effort.said.extend(unscored.iter().map(|search| (search.record, QueryRemarks::WHOLE)));
    }
    let left = score_short_targets(engine, scope, &mut unscored, effort)?;
    let each = in_portion(scope, &left, unscored.iter().map(|search| search.record));
    unscored.chunks_mut(each).try_for_each(|portion| score_portion(engine, scope, (portion, &left), effort))
}

/// Scores these targets for several searches together.
fn score_portion(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (unscored, targets): (&mut [&mut RecordSearch], &MetTargets),
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let SearchInput { batch, layout, .. } = scope;
    let expected = expected_pairs(scope, targets, unscored.iter().map(|search| search.record));
    let Capabilities { enough_sweeps, enough_of_query, last_sweeps, chunk_per_warm_up, .. } =
        engine.capabilities();
    let enough = match batch.scoring.substitution {
        Substitution::Equal { .. } => enough_sweeps,
        Substitution::Matrix(_) => {
            let queries = unscored.len() as u64 * u64::from(layout.strands.count());
            enough_sweeps.max(queries.saturating_mul(enough_of_query))
        }
    };
    let length = |enough| ChunkLength::suited(expected, enough, chunk_per_warm_up);
    let (long, short) = (length(enough), length(enough.saturating_mul(last_sweeps)));
    let last = unscored.len() - unscored.len() / LAST_OF;
    let met = |(place, search): (usize, &&mut RecordSearch)| -> Vec<Pair> {
        let most = Most::of(scope, search.record);
        let length = if place < last { long } else { short };
        let least = scope.rules_of(search.record).min_score;
        let pairs = targets.pairs(batch, layout, search.record, least, length).into_iter();
        pairs.filter(|pair| most.in_pair(pair) >= least).collect()
    };
    let met: Vec<Vec<Pair>> = unscored.par_iter().enumerate().map(met).collect();
    let bounds = prefix::bounds(engine, scope, (unscored, &met), effort)?;
    // Sorted by record, as the searches are.
    let unbounded = met.iter().zip(&bounds).filter(|(_, bounds)| bounds.is_none());
    let pairs: Vec<Pair> = unbounded.flat_map(|(pairs, _)| pairs).copied().collect();
    let hits = score(engine, batch, &pairs, effort)?;
    let first = |record: u32| {
        let query = layout.query(record, Strand::Forward);
        pairs.partition_point(|pair| pair.query < query)
    };
    let answers = met.into_par_iter().zip(bounds);
    unscored.par_iter_mut().zip(answers).try_for_each(|(search, (met, bounds))| match bounds {
        Some(bounds) => {
            search.take_pairs(scope, &met, &bounds);
            Ok(())
        }
        None => {
            let own = first(search.record)..first(search.record + 1);
            search.take_everything(scope, &pairs[own.clone()], &hits[own])
        }
    })
}

/// Scores windows. Of a query's windows with equal bases, one is scored.
fn score_windows(
    engine: &mut dyn Engine,
    batch: &Batch,
    pairs: &[Pair],
    effort: &mut Effort,
) -> Result<Vec<HitEnd>, EngineError> {
    match DistinctWindows::of(batch, pairs) {
        Some(distinct) => {
            let hits = score(engine, batch, &distinct.pairs, effort)?;
            Ok(distinct.hits_of_all(pairs, &hits))
        }
        None => score(engine, batch, pairs, effort),
    }
}

fn score(
    engine: &mut dyn Engine,
    batch: &Batch,
    pairs: &[Pair],
    effort: &mut Effort,
) -> Result<Vec<HitEnd>, EngineError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    effort.cells += sweeps(pairs).map(|sweep| batch.cells(&swept(sweep))).sum::<u64>();
    let start = Instant::now();
    let hits = engine.score(batch, pairs)?;
    effort.scoring += start.elapsed();
    Ok(hits)
}

/// Opens the regions of other sources that searches need. Returns `false` if there are none. Sources without room, and
/// sources that no level covers, are left for a later round.
fn descend(
    scope: &SearchInput,
    searches: &mut [BoxedSearch],
    needs: &[Need],
    effort: &mut Effort,
) -> Result<bool, EngineError> {
    let mut wanted: Vec<(usize, SearchStart)> = Vec::new();
    let mut is_any = false;
    for (index, need) in needs.iter().enumerate() {
        let Need::Regions(source) = *need else { continue };
        is_any = true;
        searches[index].postpone(source);
        if let RegionSource::Level(..) = source {
            wanted.push((index, searches[index].start(source)));
        }
    }
    let held: usize = searches.iter().map(|search| search.regions.len()).sum();
    let starts: Vec<SearchStart> = wanted.iter().map(|(_, start)| start.clone()).collect();
    let (opened, _) = open(scope, &starts, room(scope).saturating_sub(held), effort)?;
    let mut opened = begin(scope, opened).into_iter().peekable();
    for (index, start) in wanted {
        if let Some(search) = opened.next_if(|search| search.record == start.record) {
            searches[index] = search;
        }
    }
    Ok(is_any)
}

/// Approximate number of pairs of all these records with these targets.
fn expected_pairs(scope: &SearchInput, targets: &MetTargets, records: impl Iterator<Item = u32>) -> usize {
    records.map(|record| targets.expected_pairs(scope.batch, &scope.layout, record)).sum()
}

/// Approximate number of these records that form a portion.
fn in_portion(
    scope: &SearchInput,
    targets: &MetTargets,
    records: impl ExactSizeIterator<Item = u32>,
) -> usize {
    let count = records.len();
    let portions = expected_pairs(scope, targets, records).div_ceil(scope.portion.max(1)).max(1);
    count.div_ceil(portions).max(1)
}
