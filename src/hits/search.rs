//! The search for one record's hits: its regions, what is known of them, and what comes next.

use super::{Rules, Scope, Start};
use crate::alignment::{Alignment, Found, Hit, Locus, Strand};
use crate::backtrace::{self, Wanted};
use crate::batch::{Batch, Pair};
use crate::bounds::{longest_span, potential};
use crate::candidates::rungs::Rung;
use crate::candidates::windows::Region as Opened;
use crate::error::EngineError;

/// End columns of one target whose best hit is known, or only bounded from above.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    strand: Strand,
    pub pair: Pair,
    bound: i32,
    best: Option<Hit>,
}

/// What a search's regions hold.
#[derive(Clone, Copy, Debug, Default)]
pub enum Source {
    /// All that scores at least so much, found by pieces.
    Rung(Rung, i32),
    /// Everything.
    #[default]
    All,
}

/// The search for one record's hits.
#[derive(Debug, Default)]
pub struct Search {
    pub record: u32,
    source: Source,
    /// Whether everything is still to be scored: only regions that hold something are kept then.
    pub unscored: bool,
    pub regions: Vec<Region>,
    pub found: Found,
    done: bool,
    /// What the search must begin anew with, later: it has found nothing then.
    pub again: Option<Source>,
    /// Cells that were scored for the record on rungs, or could have been in the time that their places took.
    pub spent: f64,
}

impl Search {
    /// With regions, and the most that an alignment in each can score.
    pub fn new(scope: &Scope, start: Start, regions: Vec<Opened>) -> Search {
        let Start { record, source, spent } = start;
        let most = Most::of(scope, record);
        let region = |(strand, pair, bound): Opened| {
            let bound = bound.min(most.in_pair(&pair));
            Region { strand, pair, bound, best: None }
        };
        let regions = regions.into_iter().map(region).collect();
        let unscored = matches!(source, Source::All);
        let mut search = Search { record, source, unscored, regions, spent, ..Search::default() };
        search.found.threshold = scope.rules.min_score;
        search.prune(&scope.rules);
        search
    }

    /// One that has found nothing, and must begin anew with `source`.
    pub fn later(Start { record, source, spent }: Start) -> Search {
        Search { record, done: true, again: Some(source), spent, ..Search::default() }
    }

    /// Takes the engine's answer for one of the regions.
    pub fn learn(&mut self, region: usize, hit: Hit, batch: &Batch) -> Result<(), EngineError> {
        let region = &mut self.regions[region];
        self.spent += batch.cells(&region.pair) as f64;
        region.learn(hit, batch)
    }

    /// Keeps those of all `pairs` of the record that hold something.
    pub fn take_everything(
        &mut self,
        scope: &Scope,
        pairs: &[Pair],
        hits: &[Hit],
    ) -> Result<(), EngineError> {
        let Scope { batch, layout, rules, .. } = scope;
        let most = Most::of(scope, self.record);
        for (pair, hit) in pairs.iter().zip(hits) {
            let strand = layout.strand(pair.query);
            let mut region = Region { strand, pair: *pair, bound: most.in_pair(pair), best: None };
            region.learn(*hit, batch)?;
            if hit.score >= rules.min_score {
                self.regions.push(region);
            }
        }
        self.unscored = false;
        self.prune(rules);
        // All searches of a batch wait for the last of them.
        self.regions.shrink_to_fit();
        Ok(())
    }

    /// What this search must go on with where its regions may lack what counts: another rung, or everything.
    pub fn lower(&self, scope: &Scope) -> Option<Source> {
        let (Some(filter), Source::Rung(rung, held)) = (scope.filter, self.source) else { return None };
        if self.done || !self.found.alignments.is_empty() {
            return None;
        }
        // What is found is an alignment, even if it scores less than the rung: the best is no worse.
        let best = self.best().map(|region| region.bound);
        let least = best.map_or(scope.rules.min_score, |best| scope.rules.threshold(best));
        if held <= least {
            return None;
        }
        let len = query_len(scope, self.record);
        let lower = match best {
            Some(_) => filter.at_most(rung.seeds, len, least),
            None => filter.below(len, &rung, self.spent),
        };
        Some(lower.map_or(Source::All, |rung| Source::Rung(rung, least.max(rung.least))))
    }

    /// Drops regions that can't hold a hit.
    pub fn prune(&mut self, rules: &Rules) {
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
    pub fn unknown(&self, rules: &Rules) -> impl Iterator<Item = u32> + '_ {
        let needed = match self.best() {
            // Of the last hit only the score is wanted, so that an equal one elsewhere changes nothing.
            Some(best) => best.bound + i32::from(self.found.alignments.len() >= rules.max_hits),
            // A filter's windows differ in what they can hold: with the most promising ones scored first, most
            // others need not be.
            None if matches!(self.source, Source::Rung(..)) => {
                self.regions.iter().map(|region| region.bound).max().unwrap_or(0)
            }
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
    pub fn next(&mut self, rules: &Rules) -> Option<Region> {
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

    pub fn accept(&mut self, alignment: Alignment, scope: &Scope) {
        let Scope { batch, rules, .. } = scope;
        let query = batch.query(scope.layout.query(self.record, alignment.strand));
        let span = longest_span(query, self.found.threshold, &batch.scoring);
        let regions = std::mem::take(&mut self.regions);
        self.regions =
            regions.into_iter().flat_map(|region| region.without(&alignment, batch, span)).collect();
        self.found.alignments.push(alignment);
        if self.found.alignments.len() == 2 {
            self.found.second = Some(self.found.alignments[1].score);
        }
        self.done = self.found.alignments.len() == rules.max_hits && rules.max_hits > 1;
        self.prune(rules);
    }
}

/// The most that alignments of a record can score.
pub struct Most {
    /// Of each orientation of the record, the last twice where there is one.
    queries: [i32; 2],
    first_query: u32,
    /// Of each target residue.
    residue: i32,
}

impl Most {
    pub fn of(scope: &Scope, record: u32) -> Most {
        let Scope { batch, layout, .. } = scope;
        let bound = |strand: &Strand| {
            let query = batch.query(layout.query(record, *strand));
            potential(query, &batch.scoring).min(i64::from(i32::MAX)) as i32
        };
        let strands = layout.orientations();
        let queries = [bound(&strands[0]), bound(&strands[strands.len() - 1])];
        let first_query = layout.query(record, Strand::Forward);
        Most { queries, first_query, residue: batch.scoring.max_potential() }
    }

    pub fn in_pair(&self, pair: &Pair) -> i32 {
        self.queries[(pair.query - self.first_query) as usize].min(by_target(pair, self.residue))
    }
}

/// Letters of a record's query.
pub fn query_len(scope: &Scope, record: u32) -> usize {
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

    pub fn wanted(&self, batch: &Batch) -> Wanted {
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

    /// What is left of the region once `alignment` has taken its target interval, for hits that span at most `span`
    /// columns.
    fn without(mut self, alignment: &Alignment, batch: &Batch, span: u32) -> impl Iterator<Item = Region> {
        let (taken_start, taken_end) = (alignment.target_start, alignment.target_end);
        let same_line = self.strand == alignment.strand && self.pair.target == alignment.target;
        if !same_line || self.pair.end <= taken_start {
            return [Some(self), None].into_iter().flatten();
        }
        // A sweep may begin far before the stretch.
        self.pair.start = self.pair.start.max(self.pair.own.saturating_sub(span));
        let Pair { start, own, end, .. } = self.pair;
        if taken_end <= start {
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
