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
use crate::candidates::{self, Layout};
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

/// Work done and time spent on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Cells of the recurrence that were scored.
    pub cells: u64,
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
    regions: Vec<Region>,
    found: Found,
    done: bool,
}

/// Finds the hits of every record of `batch`.
pub fn find(
    engine: &mut dyn Engine,
    batch: &Batch,
    layout: &Layout,
    rules: &Rules,
    effort: &mut Effort,
) -> Result<Vec<Found>, EngineError> {
    let records = layout.records(batch.queries.len()) as u32;
    let mut searches: Vec<Search> =
        (0..records).into_par_iter().map(|record| Search::new(batch, layout, rules, record)).collect();
    loop {
        score_regions(engine, batch, rules, &mut searches, effort)?;
        let (next, wanted): (Vec<usize>, Vec<Wanted>) = searches
            .par_iter_mut()
            .enumerate()
            .filter_map(|(index, search)| Some((index, search.next(rules)?.wanted(batch))))
            .unzip();
        if next.is_empty() {
            return Ok(searches.into_iter().map(|search| search.found).collect());
        }
        let start = Instant::now();
        let alignments = backtrace::align(engine, batch, &wanted)?;
        effort.backtrace += start.elapsed();
        let mut aligned: Vec<Option<Alignment>> = vec![None; searches.len()];
        for (index, alignment) in next.into_iter().zip(alignments) {
            aligned[index] = Some(alignment);
        }
        searches.par_iter_mut().zip(aligned).for_each(|(search, alignment)| {
            alignment.into_iter().for_each(|alignment| search.accept(alignment, rules, batch));
        });
    }
}

/// Scores regions until, in every search, no unscored one can hold what comes next.
fn score_regions(
    engine: &mut dyn Engine,
    batch: &Batch,
    rules: &Rules,
    searches: &mut [Search],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    loop {
        let unknown: Vec<(u32, u32)> = searches
            .par_iter()
            .enumerate()
            .flat_map_iter(|(index, search)| search.unknown(rules).map(move |region| (index as u32, region)))
            .collect();
        if unknown.is_empty() {
            return Ok(());
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
    fn new(batch: &Batch, layout: &Layout, rules: &Rules, record: u32) -> Search {
        let bound = layout.orientations().iter().map(|&strand| {
            let query = batch.query(layout.query(record, strand));
            potential(query, &batch.scoring).min(i64::from(i32::MAX)) as i32
        });
        let by_query: Vec<i32> = bound.collect();
        let most = batch.scoring.max_potential();
        let region = |(strand, pair): (Strand, Pair)| {
            let bound = by_query[strand as usize].min(by_target(&pair, most));
            Region { strand, pair, bound, best: None }
        };
        let regions =
            candidates::pairs(batch, layout, record, rules.min_score).into_iter().map(region).collect();
        let mut search = Search { regions, ..Search::default() };
        search.found.threshold = rules.min_score;
        search.prune(rules);
        search
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
        let best = self.best().map_or(0, |region| region.bound);
        // Of the last hit only the score is wanted, so that an equal one elsewhere changes nothing.
        let needed = best + i32::from(self.found.alignments.len() >= rules.max_hits);
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

    fn accept(&mut self, alignment: Alignment, rules: &Rules, batch: &Batch) {
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
