//! The hits of a query: which alignments are reported, in which order.
//!
//! First comes the best local alignment over all targets and strands, in the order of
//! [`Locus::order`]; then the best one whose target interval overlaps none of those before it on the
//! same target and strand, and so on, as long as their scores reach the threshold. The definition
//! knows nothing of chunks: a chunk is a region of end columns whose best hit is known or bounded,
//! and an accepted alignment cuts the regions that it overlaps into what is left of them.

use crate::alignment::{Alignment, Found, Hit, Locus, Strand};
use crate::backtrace::{self, Wanted};
use crate::batch::{Batch, Pair};
use crate::bounds::potential;
use crate::candidates::filter::{Filter, Rung, Scratch};
use crate::candidates::{self, CHUNK, Layout};
use crate::engine::Engine;
use crate::error::EngineError;
use rayon::prelude::*;
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

/// Regions of the queries that are searched in full behind a filter, at a time: what bounds their memory.
const WHOLE_REGIONS: usize = 1 << 18;

/// What hits are looked for in.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub batch: &'a Batch,
    pub layout: Layout,
    pub rules: Rules,
    /// Made for the batch's targets and scoring and the layout's strands; `None` searches all in full.
    pub filter: Option<&'a Filter>,
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

/// End columns of one target whose best hit is known, or only bounded from above.
#[derive(Clone, Copy, Debug)]
struct Region {
    strand: Strand,
    pair: Pair,
    bound: i32,
    best: Option<Hit>,
}

/// The search for one record's hits.
#[derive(Debug, Default)]
struct Search {
    record: u32,
    /// Where the regions come from; `None` if they are all there are.
    rung: Option<Rung>,
    /// With a rung, the least score of which the regions hold all.
    least: i32,
    regions: Vec<Region>,
    found: Found,
    done: bool,
    /// No rung holds all that counts: this search has found nothing, and a full one must follow.
    unknown: bool,
}

/// Finds the hits of every record of the batch.
pub fn find(engine: &mut dyn Engine, scope: &Scope, effort: &mut Effort) -> Result<Vec<Found>, EngineError> {
    let records = scope.layout.records(scope.batch.queries.len()) as u32;
    let mut searches: Vec<Search> = (0..records)
        .into_par_iter()
        .map_init(Scratch::default, |scratch, record| Search::new(scope, record, scratch))
        .collect::<Result<_, _>>()?;
    finish(engine, scope, &mut searches, effort)?;
    let unknown: Vec<u32> = searches.iter().filter(|search| search.unknown).map(|s| s.record).collect();
    effort.whole += unknown.len() as u64;
    let columns = scope.batch.targets.codes().len() * scope.layout.strands as usize;
    let at_a_time = WHOLE_REGIONS / (columns / CHUNK as usize + scope.batch.targets.len() + 1);
    for records in unknown.chunks(at_a_time.max(1)) {
        let mut whole: Vec<Search> = records.par_iter().map(|&record| Search::whole(scope, record)).collect();
        finish(engine, scope, &mut whole, effort)?;
        for search in whole {
            let record = search.record as usize;
            searches[record] = search;
        }
    }
    Ok(searches.into_iter().map(|search| search.found).collect())
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
        let unknown: Vec<(u32, u32)> = searches
            .par_iter()
            .enumerate()
            .flat_map_iter(|(index, search)| search.unknown(rules).map(move |region| (index as u32, region)))
            .collect();
        if unknown.is_empty() {
            let descend = |scratch: &mut Scratch, search: &mut Search| search.descend(scope, scratch);
            let lower: Vec<bool> =
                searches.par_iter_mut().map_init(Scratch::default, descend).collect::<Result<_, _>>()?;
            match lower.contains(&true) {
                true => continue,
                false => return Ok(()),
            }
        }
        let pairs: Vec<Pair> = unknown
            .iter()
            .map(|&(search, region)| searches[search as usize].regions[region as usize].pair)
            .collect();
        effort.cells += pairs.iter().map(|pair| batch.cells(pair)).sum::<u64>();
        let start = Instant::now();
        let hits = engine.score(batch, &pairs)?;
        effort.scoring += start.elapsed();
        for ((search, region), hit) in unknown.into_iter().zip(hits) {
            searches[search as usize].regions[region as usize].learn(hit, batch)?;
        }
        searches.par_iter_mut().for_each(|search| search.prune(rules));
    }
}

impl Search {
    /// On the rung that a glance at the targets suggests, or the first one, or in full.
    fn new(scope: &Scope, record: u32, scratch: &mut Scratch) -> Result<Search, EngineError> {
        let len = query_len(scope, record);
        let begin = scope.filter.and_then(|filter| {
            let seen = filter.glance(scope.batch, &scope.layout, record, scratch);
            let least = scope.rules.threshold(seen);
            let rung = filter.at_most(len, least).filter(|_| seen >= scope.rules.min_score);
            Some((rung.or_else(|| filter.first(len))?, least))
        });
        match begin {
            Some((rung, least)) => {
                let mut search = Search { record, ..Search::default() };
                search.take(scope, rung, least, scratch)?;
                Ok(search)
            }
            None => Ok(Search::whole(scope, record)),
        }
    }

    /// With all regions there are.
    fn whole(scope: &Scope, record: u32) -> Search {
        let pairs = candidates::pairs(scope.batch, &scope.layout, record, scope.rules.min_score);
        let mut search = Search { record, ..Search::default() };
        search.begin(scope, pairs.into_iter().map(|(strand, pair)| (strand, pair, i32::MAX)));
        search
    }

    /// Begins anew with the regions of a rung that hold all that scores `least`, if the rung does.
    fn take(
        &mut self,
        scope: &Scope,
        rung: Rung,
        least: i32,
        scratch: &mut Scratch,
    ) -> Result<(), EngineError> {
        let Some(filter) = scope.filter else { return Ok(()) };
        let least = least.max(rung.least);
        let regions = filter.regions(scope.batch, &scope.layout, self.record, (&rung, least), scratch)?;
        (self.rung, self.least) = (Some(rung), least);
        self.begin(scope, regions);
        Ok(())
    }

    /// Takes regions, each with the most that an alignment in it can score.
    fn begin(&mut self, scope: &Scope, regions: impl IntoIterator<Item = (Strand, Pair, i32)>) {
        let Scope { batch, layout, rules, .. } = scope;
        let bound = layout.orientations().iter().map(|&strand| {
            let query = batch.query(layout.query(self.record, strand));
            potential(query, &batch.scoring).min(i64::from(i32::MAX)) as i32
        });
        let by_query: Vec<i32> = bound.collect();
        let most = batch.scoring.max_potential();
        let region = |(strand, pair, bound): (Strand, Pair, i32)| {
            let bound = bound.min(by_query[strand as usize]).min(by_target(&pair, most));
            Region { strand, pair, bound, best: None }
        };
        self.regions = regions.into_iter().map(region).collect();
        self.found.threshold = rules.min_score;
        self.prune(rules);
    }

    /// Climbs down where hits may lie below the rung; `false` where nothing is left to be scored for it.
    fn descend(&mut self, scope: &Scope, scratch: &mut Scratch) -> Result<bool, EngineError> {
        let (Some(filter), Some(rung)) = (scope.filter, self.rung) else { return Ok(false) };
        if self.done || !self.found.alignments.is_empty() {
            return Ok(false);
        }
        // What is found is an alignment, even if it scores less than the rung: the best is no worse.
        let best = self.best().map(|region| region.bound);
        let least = best.map_or(scope.rules.min_score, |best| scope.rules.threshold(best));
        if self.least <= least {
            return Ok(false);
        }
        let len = query_len(scope, self.record);
        let lower = match best {
            Some(_) => filter.at_most(len, least),
            None => filter.below(len, &rung),
        };
        match lower {
            Some(lower) => self.take(scope, lower, least, scratch)?,
            None => *self = Search { record: self.record, done: true, unknown: true, ..Search::default() },
        }
        Ok(lower.is_some())
    }

    /// Drops regions that can't hold a hit.
    fn prune(&mut self, rules: &Rules) {
        if self.found.alignments.is_empty()
            && let Some(best) =
                self.regions.iter().filter_map(|region| region.best).map(|hit| hit.score).max()
        {
            self.found.threshold = rules.threshold(best);
        }
        let threshold = self.found.threshold;
        self.regions.retain(|region| region.bound >= threshold);
    }

    fn best(&self) -> Option<&Region> {
        let known = self.regions.iter().filter(|region| region.best.is_some());
        known.min_by(|a, b| a.locus().order(&b.locus()))
    }

    /// The unscored regions that could hold what comes next.
    fn unknown(&self, rules: &Rules) -> impl Iterator<Item = u32> + '_ {
        let needed = match self.best() {
            // Of the last hit only the score is wanted, so that an equal one elsewhere changes nothing.
            Some(best) => best.bound + i32::from(self.found.alignments.len() >= rules.max_hits),
            // A filter's windows differ in what they can hold: with the most promising ones scored first, most
            // others need not be.
            None if self.rung.is_some() => self.regions.iter().map(|region| region.bound).max().unwrap_or(0),
            None => 0,
        };
        let open = !self.done;
        self.regions
            .iter()
            .enumerate()
            .filter(move |(_, region)| open && region.best.is_none() && region.bound >= needed)
            .map(|(index, _)| index as u32)
    }

    /// The region whose hit is to be aligned next, if any.
    fn next(&mut self, rules: &Rules) -> Option<Region> {
        if self.done {
            return None;
        }
        let best = self.best().copied();
        if best.is_some() && self.found.alignments.len() < rules.max_hits {
            return best;
        }
        if self.found.alignments.len() == 1 {
            self.found.second = best.map(|region| region.bound);
        }
        self.done = true;
        self.regions = Vec::new();
        None
    }

    fn accept(&mut self, alignment: Alignment, scope: &Scope) {
        let Scope { batch, rules, .. } = scope;
        let regions = std::mem::take(&mut self.regions);
        self.regions = regions.into_iter().flat_map(|region| region.without(&alignment, batch)).collect();
        self.found.alignments.push(alignment);
        if self.found.alignments.len() == 2 {
            self.found.second = Some(self.found.alignments[1].score);
        }
        self.done = self.found.alignments.len() == rules.max_hits && rules.max_hits > 1;
        self.prune(rules);
    }
}

/// Letters of a record's query.
fn query_len(scope: &Scope, record: u32) -> usize {
    scope.batch.query(scope.layout.query(record, Strand::Forward)).len()
}

/// The most that any alignment of `pair` can score.
fn bound(batch: &Batch, pair: &Pair) -> i32 {
    let by_query = potential(batch.query(pair.query), &batch.scoring);
    by_query.min(i64::from(by_target(pair, batch.scoring.max_potential()))) as i32
}

/// The most that the target residues of `pair` can score, each at most `most`.
fn by_target(pair: &Pair, most: i32) -> i32 {
    (i64::from(pair.cols()) * i64::from(most)).min(i64::from(i32::MAX)) as i32
}

impl Region {
    fn locus(&self) -> Locus {
        Locus { hit: self.best.unwrap_or_default(), strand: self.strand, target: self.pair.target }
    }

    fn wanted(&self, batch: &Batch) -> Wanted {
        let hit = self.best.unwrap_or_default();
        let window = backtrace::window_of(batch, self.pair.query, self.pair.target, self.pair.start, &hit);
        Wanted { window, strand: self.strand, score: hit.score }
    }

    /// Takes the engine's answer, once it is seen to be possible.
    fn learn(&mut self, hit: Hit, batch: &Batch) -> Result<(), EngineError> {
        let pair = &self.pair;
        let inside = hit.target_end > pair.own
            && hit.target_end <= pair.end
            && hit.query_end >= 1
            && hit.query_end as usize <= batch.query(pair.query).len();
        if hit.score < 0 || hit.score > self.bound || (hit.score > 0 && !inside) {
            return Err(EngineError::Wrong(format!(
                "{hit:?} for {pair:?}, which can score {} at most",
                self.bound
            )));
        }
        self.bound = hit.score;
        self.best = Some(hit);
        Ok(())
    }

    /// What is left of the region once `alignment` has taken its target interval.
    fn without(self, alignment: &Alignment, batch: &Batch) -> impl Iterator<Item = Region> {
        let Pair { start, own, end, .. } = self.pair;
        let (taken_start, taken_end) = (alignment.target_start, alignment.target_end);
        let same_line = self.strand == alignment.strand && self.pair.target == alignment.target;
        if !same_line || taken_end <= start || end <= taken_start {
            return [Some(self), None].into_iter().flatten();
        }
        let piece = |start: u32, own: u32, end: u32| {
            let pair = Pair { start, own, end, ..self.pair };
            (own < end).then(|| Region {
                pair,
                bound: self.bound.min(bound(batch, &pair)),
                best: None,
                ..self
            })
        };
        let mut left = piece(start, own, end.min(taken_start));
        if let (Some(left), Some(best)) = (&mut left, self.best)
            && best.target_end <= taken_start
        {
            // The best of the whole region ends in this piece, so it is the best of this piece.
            left.best = self.best;
            left.bound = best.score;
        }
        let right = piece(start.max(taken_end), own.max(taken_end), end);
        [left, right].into_iter().flatten()
    }
}
