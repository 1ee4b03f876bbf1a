//! Answers of the engine: scores of regions, of all pairs of the record, and of databases.

use super::{RecordSearch, RecordSearchState};
use crate::align::hits::SearchInput;
use crate::align::hits::region::{Most, Region};
use crate::engine::{TargetScore, most_by_words};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::Pair;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use std::collections::HashSet;

/// Length of the query and number of columns from which a bound by words takes much less time than a score.
const LONG: usize = 1000;
/// Of a search's first regions, those whose bounds are lower than the highest by at most one part in this many are scored first.
const HIGH: i32 = 16;
/// A region may soon be known to have no score that counts if its bound is higher by at most one part in this many.
const LITTLE_HIGHER: i32 = 4;

impl RecordSearch {
    /// Stores the engine's answer for one of the regions.
    pub fn learn(&mut self, region: usize, hit: HitEnd, scope: &SearchInput) -> Result<(), EngineError> {
        self.learned += 1;
        let pair = self.regions[region].pair;
        self.spent += scope.batch.cells(&pair) as f64;
        if scope.repeats.distinct().is_some() {
            self.answers.insert(pair, hit);
        }
        self.take_answer(region, hit, scope)
    }

    /// Lowers the bounds of long regions by the words of the query that are absent from them, which takes much less time than
    /// their scores. Returns the regions whose scores are needed next: if no score is known yet, those with the highest bounds.
    pub fn bound_by_words(&mut self, mut regions: Vec<u32>, scope: &SearchInput) -> Vec<u32> {
        let is_first = self.scored().next().is_none() && self.found.alignments.is_empty();
        if is_first && regions.len() < 2 {
            return regions;
        }
        for &region in &regions {
            let Region { pair, bound, .. } = &mut self.regions[region as usize];
            let query = scope.batch.query(pair.query);
            if query.len().min(pair.cols() as usize) >= LONG {
                let columns = &scope.batch.target(pair.target)[pair.start as usize..pair.end as usize];
                let by_words = most_by_words(query, columns, &scope.batch.scoring);
                *bound = by_words.unwrap_or(*bound).min(*bound);
            }
        }
        let bound = |region: &u32| self.regions[*region as usize].bound;
        let highest = regions.iter().map(bound).max().unwrap_or(0);
        let least = if is_first { highest - highest / HIGH } else { self.found.threshold };
        regions.retain(|region| bound(region) >= least);
        regions
    }

    /// The minimum score that counts in a region, if few cells of the region allow it: an engine may find sooner that the region has
    /// no such score.
    pub fn least_in(&self, region: usize, scope: &SearchInput) -> Option<i32> {
        let (Region { pair, bound, .. }, least) = (&self.regions[region], self.found.threshold);
        let is_long = scope.batch.query(pair.query).len().min(pair.cols() as usize) >= LONG;
        (is_long && least > self.rules.min_score && *bound - least <= least / LITTLE_HIGHER).then_some(least)
    }

    /// Stores the engine's answer for a region in which only scores of at least `least` count. Lower scores are not kept, since not
    /// all engines find them.
    pub fn learn_at_least(
        &mut self,
        region: usize,
        (hit, least): (HitEnd, i32),
        scope: &SearchInput,
    ) -> Result<(), EngineError> {
        if hit.score >= least {
            return self.learn(region, hit, scope);
        }
        self.learned += 1;
        let Region { pair, bound, .. } = &mut self.regions[region];
        self.spent += scope.batch.cells(pair) as f64;
        *bound = least - 1;
        Ok(())
    }

    fn take_answer(&mut self, region: usize, hit: HitEnd, scope: &SearchInput) -> Result<(), EngineError> {
        let region = &mut self.regions[region];
        region.learn(hit, scope.batch)?;
        if !scope.is_enough(self.record, region.place.target, hit.score) {
            region.forget();
        }
        Ok(())
    }

    /// Applies known scores to regions that are copies of scored ones. Returns the other regions, whose scores the
    /// engine has to find, one per pair.
    pub(super) fn learn_again(&mut self, regions: Vec<u32>, scope: &SearchInput) -> Vec<u32> {
        if scope.repeats.distinct().is_none() {
            return regions;
        }
        let mut asked = HashSet::new();
        let is_unknown = |&region: &u32| {
            let index = region as usize;
            let pair = self.regions[index].pair;
            let known = self.answers.get(&pair).copied();
            let is_known = known.is_some_and(|hit| self.take_answer(index, hit, scope).is_ok());
            !is_known && asked.insert(pair)
        };
        let unknown: Vec<u32> = regions.into_iter().filter(is_unknown).collect();
        if unknown.is_empty() {
            self.prune();
        }
        unknown
    }

    /// Keeps the regions of `pairs`, all pairs of the record, that may contain hits.
    pub fn take_everything(
        &mut self,
        scope: &SearchInput,
        pairs: &[Pair],
        hits: &[HitEnd],
    ) -> Result<(), EngineError> {
        let SearchInput { batch, layout, .. } = scope;
        let most = Most::of(scope, self.record);
        for (pair, hit) in pairs.iter().zip(hits) {
            let strand = layout.strand(pair.query);
            let mut region = Region::unscored(scope, strand, *pair, most.in_pair(pair));
            region.learn(*hit, batch)?;
            if scope.is_enough(self.record, pair.target, hit.score) {
                self.regions.push(region);
            }
        }
        self.state = RecordSearchState::Known;
        self.prune();
        // All searches of a batch stay in memory until the last one is done, so spare capacity would stay too.
        self.regions.shrink_to_fit();
        Ok(())
    }

    /// Stores bounds for all `pairs` of the record. Scores are requested later if needed.
    pub fn take_pairs(&mut self, scope: &SearchInput, pairs: &[Pair], bounds: &[i32]) {
        let most = Most::of(scope, self.record);
        let regions = pairs.iter().zip(bounds).map(|(pair, bound)| {
            let strand = scope.layout.strand(pair.query);
            Region::unscored(scope, strand, *pair, most.in_pair(pair).min(*bound))
        });
        self.regions.extend(regions);
        (self.state, self.has_pairs) = (RecordSearchState::Known, true);
        self.prune();
    }

    /// Keeps the short targets that score enough against one of the record's queries. Their end cells are found when
    /// paths are needed.
    pub fn take_scores(
        &mut self,
        scope: &SearchInput,
        query: u32,
        scores: &[TargetScore],
    ) -> Result<(), EngineError> {
        let most = Most::of(scope, self.record);
        let strand = scope.layout.strand(query);
        let region = |&TargetScore { target, score }: &TargetScore| {
            let pair =
                Pair { query, target, start: 0, own: 0, end: to_u32(scope.batch.target(target).len()) };
            if score < self.rules.min_score || score > most.in_pair(&pair) {
                let text = format!("{score} for {pair:?}, which can score {} at most", most.in_pair(&pair));
                return Err(EngineError::Wrong(text));
            }
            let mut region = Region::unscored(scope, strand, pair, score);
            region.is_scored = true;
            Ok(region)
        };
        let met = scope.layout.targets(self.record, scope.batch.targets.len());
        let scores = scores.iter().filter(|scored| met.contains(&scored.target));
        let regions = scores.map(region).collect::<Result<Vec<Region>, EngineError>>()?;
        let is_enough = |region: &Region| scope.is_enough(self.record, region.place.target, region.bound);
        let first = self.regions.len();
        self.regions.extend(regions.into_iter().filter(is_enough));
        // Otherwise, regions that the best score excludes would stay in memory until all targets are scored.
        let best = self.regions[first..].iter().map(|region| region.bound).max().unwrap_or(0);
        let threshold = self.rules.threshold(best);
        let all = self.regions.len();
        self.regions.retain(|region| region.bound >= threshold);
        self.is_cut |= self.regions.len() < all;
        Ok(())
    }

    /// Stores bounds for the scores of short targets against one of the record's queries. A target without a bound
    /// scores at most `others`. Scores and end cells are requested later if needed.
    pub fn take_bounds(&mut self, scope: &SearchInput, query: u32, bounds: &[TargetScore], others: i32) {
        let most = Most::of(scope, self.record);
        let strand = scope.layout.strand(query);
        let longest = scope.batch.targets.longest_short();
        let mut bounds = bounds.iter().peekable();
        for target in scope.layout.targets(self.record, scope.batch.targets.len()) {
            let end = scope.batch.target(target).len();
            let bound = bounds.next_if(|bound| bound.target == target).map_or(others, |bound| bound.score);
            let pair = Pair { query, target, start: 0, own: 0, end: to_u32(end) };
            let bound = bound.min(most.in_pair(&pair));
            if (1..=longest).contains(&end) && scope.is_enough(self.record, target, bound) {
                self.regions.push(Region::unscored(scope, strand, pair, bound));
            }
        }
        self.is_bounded = true;
    }
}
