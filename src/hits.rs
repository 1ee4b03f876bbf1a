//! The hits of a query: which alignments are reported, in which order.
//!
//! First comes the best local alignment over all targets and strands, in the order of
//! [`crate::alignment::Locus::order`]; then the best one whose target interval overlaps none of those before it on the
//! same target and strand, and so on, as long as their scores reach the threshold. The definition
//! knows nothing of chunks: a chunk is a region of end columns whose best hit is known or bounded,
//! and an accepted alignment cuts the regions that it overlaps into what is left of them.

mod search;

use crate::alignment::{Alignment, Found, Hit, Strand};
use crate::backtrace::{self, Wanted};
use crate::batch::{Batch, Pair, sweeps, swept};
use crate::candidates::filter::Filter;
use crate::candidates::{self, Layout, Opened, Wanted as WantedRegions};
use crate::engine::{Capabilities, Engine};
use crate::error::EngineError;
use rayon::prelude::*;
use search::{Most, Search, Source, query_len};
use std::time::{Duration, Instant};

/// What makes an alignment a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Least score of any hit; at least 1.
    pub min_score: i32,
    /// Least share of the best score that a further hit reaches, in millionths.
    pub secondary_ppm: i64,
    /// Most alignments of a query; at least 1.
    pub max_hits: usize,
}

impl Rules {
    /// The least score at which a further hit exists beside a best one of `best`.
    pub fn threshold(&self, best: i32) -> i32 {
        let share = (i64::from(best) * self.secondary_ppm + 999_999) / 1_000_000;
        self.min_score.max(share as i32)
    }
}

/// Pairs that are scored at a time where everything is: with more, a device is hardly quicker.
pub const PORTION: usize = 1 << 17;
/// How many times as many regions may be held at a time behind a filter.
const ROOM_PER_PORTION: usize = 2;

/// One of so many of a portion's searches, the last ones, may have shorter sweeps ([`Capabilities::last_sweeps`]).
const LAST_OF: usize = 8;

/// What hits are looked for in.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub batch: &'a Batch,
    pub layout: Layout,
    pub rules: Rules,
    /// Made for the batch's targets and scoring and the layout's strands; `None` searches all in full.
    pub filter: Option<&'a Filter>,
    /// Pairs that are scored at a time where everything is, about, but those of one query at least. Most hold nothing that
    /// counts and are forgotten then, so this bounds the memory.
    pub portion: usize,
}

/// Work done and time spent on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Queries that were searched in full since no filter helped.
    pub whole: u64,
    /// Time in scoring calls.
    pub scoring: Duration,
    /// Time in filling directions and walking paths.
    pub backtrace: Duration,
}

/// A record, where its search begins, and what was spent on it before ([`WantedRegions::spent`]).
#[derive(Clone, Copy, Debug)]
struct Start {
    record: u32,
    source: Source,
    spent: f64,
}

/// Finds the hits of every record of the batch.
pub fn find(engine: &mut dyn Engine, scope: &Scope, effort: &mut Effort) -> Result<Vec<Found>, EngineError> {
    let records = scope.layout.records(scope.batch.queries.len());
    let mut found = vec![Found::default(); records];
    let mut left = first_sources(scope, records as u32);
    while !left.is_empty() {
        let (mut searches, mut later) = open(scope, &left, room(scope))?;
        finish(engine, scope, &mut searches, effort)?;
        for search in searches {
            match search.again {
                Some(source) => later.push(Start { record: search.record, source, spent: search.spent }),
                None => found[search.record as usize] = search.found,
            }
        }
        later.sort_unstable_by_key(|start| start.record);
        left = later;
    }
    Ok(found)
}

/// Regions behind a filter that may be held at a time.
fn room(scope: &Scope) -> usize {
    scope.portion.max(1).saturating_mul(ROOM_PER_PORTION)
}

/// Where the search of each record begins: on the rung that a glance at the targets suggests, on the filter's
/// first one, or with everything.
fn first_sources(scope: &Scope, records: u32) -> Vec<Start> {
    let Some(filter) = scope.filter else {
        return (0..records).map(|record| Start { record, source: Source::All, spent: 0.0 }).collect();
    };
    let seeds = filter.seeds(scope.batch, &scope.layout);
    let seen = filter.glance(seeds, scope.batch, &scope.layout, records);
    let source = |(record, seen): (u32, i32)| {
        let (len, least) = (query_len(scope, record), scope.rules.threshold(seen));
        // What is seen may be but a part of the best, with a gap beside it: then it leads too far down.
        let suggested = filter.at_most(seeds, len, least).filter(|_| seen >= scope.rules.min_score);
        let first = filter.first(seeds, len);
        let rung = suggested.filter(|rung| first.is_none_or(|first| rung.is_quicker_than(&first))).or(first);
        let source = rung.map_or(Source::All, |rung| Source::Rung(rung, least.max(rung.least)));
        Start { record, source, spent: 0.0 }
    };
    (0..records).into_par_iter().zip(seen).map(source).collect()
}

/// Searches of some records, each with the regions of its source, and those for which there was no room: behind a filter
/// some records may have very many regions, and their batch was not gathered for it that some are searched in full.
fn open(scope: &Scope, starts: &[Start], room: usize) -> Result<(Vec<Search>, Vec<Start>), EngineError> {
    let Scope { batch, layout, .. } = scope;
    let on_rung = |&Start { record, source, spent }: &Start| match source {
        Source::Rung(rung, least) => Some(WantedRegions { record, rung, least, spent }),
        Source::All => None,
    };
    let on_rungs: Vec<WantedRegions> = starts.iter().filter_map(on_rung).collect();
    let mut filtered = match scope.filter {
        Some(filter) => filter.regions(batch, layout, &on_rungs, room)?.into_iter(),
        None => Vec::new().into_iter(),
    };
    let (mut opened, mut later) = (Vec::new(), Vec::new());
    let mut in_full = 0;
    for &(mut start) in starts {
        let mut regions = Vec::new();
        if let Source::Rung(..) = start.source {
            match filtered.next() {
                Some(Opened::Regions { regions: found, spent }) => (regions, start.spent) = (found, spent),
                Some(Opened::Dear) => start.source = Source::All,
                Some(Opened::Later) | None => {
                    later.push(start);
                    continue;
                }
            }
        }
        if let Source::All = start.source {
            let is_first = in_full == 0;
            in_full += candidates::expected_pairs(batch, layout, start.record);
            if !is_first && scope.filter.is_some() && in_full > scope.portion {
                later.push(start);
                continue;
            }
        }
        opened.push((start, regions));
    }
    let search = |(start, regions)| Search::new(scope, start, regions);
    Ok((opened.into_par_iter().map(search).collect(), later))
}

/// Goes on until every search is done.
fn finish(
    engine: &mut dyn Engine,
    scope: &Scope,
    searches: &mut [Search],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    loop {
        score_regions(engine, scope, searches, effort)?;
        let (next, wanted): (Vec<usize>, Vec<Wanted>) = searches
            .par_iter_mut()
            .enumerate()
            .filter_map(|(index, search)| Some((index, search.next(&scope.rules)?.wanted(scope.batch))))
            .unzip();
        if next.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let alignments = backtrace::align(engine, scope.batch, &wanted)?;
        effort.backtrace += start.elapsed();
        let mut aligned: Vec<Option<Alignment>> = vec![None; searches.len()];
        for (index, alignment) in next.into_iter().zip(alignments) {
            aligned[index] = Some(alignment);
        }
        searches.par_iter_mut().zip(aligned).for_each(|(search, alignment)| {
            alignment.into_iter().for_each(|alignment| search.accept(alignment, scope));
        });
    }
}

/// Scores regions until, in every search, no unscored one can hold what comes next.
fn score_regions(
    engine: &mut dyn Engine,
    scope: &Scope,
    searches: &mut [Search],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let Scope { batch, rules, .. } = scope;
    loop {
        score_everything(engine, scope, searches, effort)?;
        let unknown: Vec<(u32, u32)> = searches
            .par_iter()
            .enumerate()
            .flat_map_iter(|(index, search)| search.unknown(rules).map(move |region| (index as u32, region)))
            .collect();
        if unknown.is_empty() {
            match descend(scope, searches)? {
                true => continue,
                false => return Ok(()),
            }
        }
        let pairs: Vec<Pair> = unknown
            .iter()
            .map(|&(search, region)| searches[search as usize].regions[region as usize].pair)
            .collect();
        let hits = score(engine, batch, &pairs, effort)?;
        for ((search, region), hit) in unknown.into_iter().zip(hits) {
            searches[search as usize].learn(region as usize, hit, batch)?;
        }
        searches.par_iter_mut().for_each(|search| search.prune(rules));
    }
}

/// Scores all that there is for the searches that have scored nothing yet, portion by portion.
fn score_everything(
    engine: &mut dyn Engine,
    scope: &Scope,
    searches: &mut [Search],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let mut unscored: Vec<&mut Search> = searches.iter_mut().filter(|search| search.unscored).collect();
    if scope.filter.is_some() {
        effort.whole += unscored.len() as u64;
    }
    let each = in_portion(scope, unscored.iter().map(|search| search.record));
    unscored.chunks_mut(each).try_for_each(|portion| score_portion(engine, scope, portion, effort))
}

/// Scores all that there is for some searches at a time.
fn score_portion(
    engine: &mut dyn Engine,
    scope: &Scope,
    unscored: &mut [&mut Search],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let Scope { batch, layout, rules, .. } = scope;
    let expected = expected_pairs(scope, unscored.iter().map(|search| search.record));
    let Capabilities { enough_sweeps: enough, last_sweeps, .. } = engine.capabilities();
    let long = candidates::chunk_for(expected, enough);
    let short = candidates::chunk_for(expected, enough.saturating_mul(last_sweeps));
    let last = unscored.len() - unscored.len() / LAST_OF;
    let met = |(place, search): (usize, &&mut Search)| -> Vec<Pair> {
        let most = Most::of(scope, search.record);
        let chunk = if place < last { long } else { short };
        let pairs = candidates::pairs(batch, layout, search.record, rules.min_score, chunk).into_iter();
        pairs.filter(|pair| most.in_pair(pair) >= rules.min_score).collect()
    };
    // In the order of the records, as searches are.
    let pairs = unscored.par_iter().enumerate().map(met).collect::<Vec<_>>().concat();
    let hits = score(engine, batch, &pairs, effort)?;
    let first = |record: u32| {
        let query = layout.query(record, Strand::Forward);
        pairs.partition_point(|pair| pair.query < query)
    };
    unscored.par_iter_mut().try_for_each(|search| {
        let own = first(search.record)..first(search.record + 1);
        search.take_everything(scope, &pairs[own.clone()], &hits[own])
    })
}

fn score(
    engine: &mut dyn Engine,
    batch: &Batch,
    pairs: &[Pair],
    effort: &mut Effort,
) -> Result<Vec<Hit>, EngineError> {
    effort.cells += sweeps(pairs).map(|sweep| batch.cells(&swept(sweep))).sum::<u64>();
    let start = Instant::now();
    let hits = engine.score(batch, pairs)?;
    effort.scoring += start.elapsed();
    Ok(hits)
}

/// Climbs down where hits may lie below what the regions hold; `false` where nothing is left to be scored for it. Where
/// no rung holds all that counts, a full search follows.
fn descend(scope: &Scope, searches: &mut [Search]) -> Result<bool, EngineError> {
    let lower: Vec<(usize, Start)> = searches
        .par_iter()
        .enumerate()
        .filter_map(|(index, search)| {
            let source = search.lower(scope)?;
            Some((index, Start { record: search.record, source, spent: search.spent }))
        })
        .collect();
    let on_rungs = lower.iter().filter(|(_, start)| matches!(start.source, Source::Rung(..)));
    let wanted: Vec<Start> = on_rungs.map(|&(_, start)| start).collect();
    for &(index, start) in &lower {
        searches[index] = Search::later(start);
    }
    let held: usize = searches.iter().map(|search| search.regions.len()).sum();
    let (opened, _) = open(scope, &wanted, room(scope).saturating_sub(held))?;
    let mut is_any = false;
    let mut opened = opened.into_iter().peekable();
    for (index, _) in lower {
        if let Some(search) = opened.next_if(|search| search.record == searches[index].record) {
            is_any = true;
            searches[index] = search;
        }
    }
    Ok(is_any)
}

/// How many pairs all these records have, about.
fn expected_pairs(scope: &Scope, records: impl Iterator<Item = u32>) -> usize {
    records.map(|record| candidates::expected_pairs(scope.batch, &scope.layout, record)).sum()
}

/// How many of these records make a portion, about.
fn in_portion(scope: &Scope, records: impl ExactSizeIterator<Item = u32>) -> usize {
    let count = records.len();
    let portions = expected_pairs(scope, records).div_ceil(scope.portion.max(1)).max(1);
    count.div_ceil(portions).max(1)
}
