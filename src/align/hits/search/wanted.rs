//! Regions whose scores, cells and paths are needed next.

use super::RecordSearch;
use crate::align::hits::SearchInput;
use crate::align::hits::region::{KnownPath, Region, RegionKey};
use crate::terms::alignment::Alignment;
use crate::terms::casts::to_u32;
use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Maximum number of paths that a record's first round requests if ranks decide how many hits are needed.
const AHEAD: usize = 16;

/// Minimum number of a record's regions per scoring request if their bounds differ: for windows, and for whole targets.
const WINDOWS: usize = 16;
const BOUNDED: usize = 64;

impl RecordSearch {
    /// The unscored regions that may contain the next hit.
    pub(super) fn unknown(&self, best: Option<&Region>, has_windows: bool) -> Vec<u32> {
        let needed = match best {
            // For the last hit, only the score is needed, so an equal hit elsewhere changes nothing.
            Some(best) => best.bound + i32::from(!self.wants(best)),
            // Windows have different bounds. If the most promising windows are scored first, most others need no score.
            None if has_windows => self.regions.iter().map(|region| region.bound).max().unwrap_or(0),
            None if self.is_bounded => i32::MAX,
            None => i32::MIN,
        };
        let needed = if self.is_bounded { needed.min(self.least_expected()) } else { needed };
        // Once a hit is reported, one round scores all regions that may contain a hit before the last needed one.
        let last = match best {
            Some(best) if self.takes_many() && self.wants(best) && !self.asks_second() => self.last_wanted(),
            _ => None,
        };
        let settled = if last.is_some() { self.settled_on_targets() } else { HashMap::new() };
        let has_room = |region: &Region| {
            let target = region.place.target;
            let sequence = self.rules.sequence(target);
            let settled =
                self.kept.on_target(target, &self.rules) + settled.get(&sequence).copied().unwrap_or(0);
            settled < self.rules.max_per_target || self.rules.is_candidate(&self.kept, region.bound)
        };
        // A region whose bound is no more than the best score and that comes after it is not next.
        let can_be_next =
            |region: &Region| best.is_none_or(|best| region.bound > best.bound || !region.is_behind(best));
        let regions = (0..).zip(&self.regions);
        let is_needed = |region: &Region| {
            let is_next = region.bound >= needed && can_be_next(region);
            let is_last = || last.is_some_and(|last| region.bound >= last && has_room(region));
            !region.is_scored && (is_next || is_last())
        };
        let mut unknown: Vec<u32> =
            regions.filter(|(_, region)| is_needed(region)).map(|(index, _)| index).collect();
        // These scores may show that other regions need no score. Each round doubles the total number of requests. So
        // even if many windows contain no hit, few rounds are needed.
        let at_least = match has_windows {
            true => WINDOWS.max(self.rules.most().saturating_sub(self.kept.count)),
            false => BOUNDED,
        };
        let most = at_least.max(self.learned);
        if (has_windows || self.is_bounded) && unknown.len() > most {
            let first = |&index: &u32| (self.regions[index as usize].first_cell(), index);
            unknown.select_nth_unstable_by_key(most, first);
            unknown.truncate(most);
            unknown.sort_unstable_by_key(first);
        }
        unknown
    }

    /// The score of the last needed hit, as far as scores and bounds tell.
    pub(super) fn least_expected(&self) -> i32 {
        let targets = self.rules.max_targets.saturating_sub(self.kept.targets.len());
        let wanted = self.rules.max_hits.saturating_sub(self.kept.count).min(targets);
        let wanted = if self.is_ranked { self.wanted_by_rank() } else { wanted };
        let is_known = self.scored().next().is_some();
        let counts = |region: &&Region| region.is_scored || !is_known;
        let mut bounds: Vec<i32> = self.regions.iter().filter(counts).map(|region| region.bound).collect();
        if bounds.is_empty() {
            return i32::MAX;
        }
        let place = wanted.clamp(1, bounds.len()) - 1;
        *bounds.select_nth_unstable_by_key(place, |&bound| Reverse(bound)).1
    }

    /// The score of the last needed hit, as far as hits are known. `None` if no hit is reported yet or only one more is
    /// needed.
    fn last_wanted(&self) -> Option<i32> {
        if self.found.alignments.is_empty() {
            return None;
        }
        let wanted = match self.is_ranked {
            true => self.wanted_by_rank(),
            false => {
                let on_targets = self.rules.max_targets.saturating_mul(self.rules.max_per_target);
                let candidates = self.rules.candidates.map_or(0, |(_, most)| most);
                let wanted = self.rules.max_hits.min(on_targets).max(candidates);
                wanted.saturating_sub(self.kept.count)
            }
        };
        let certain = self.certain.iter().flatten().map(|certain| certain.region.bound);
        let mut scores: Vec<i32> = self.scored().map(|region| region.bound).chain(certain).collect();
        let place = wanted.min(scores.len()).checked_sub(1).filter(|&place| place > 0)?;
        Some(*scores.select_nth_unstable_by_key(place, |&score| Reverse(score)).1)
    }

    /// Number of hits that one round requests if ranks decide how many are needed: as many as were found so far.
    fn wanted_by_rank(&self) -> usize {
        AHEAD.max(self.found.alignments.len())
    }

    /// Number of certain hits on each sequence that are not reported yet, if the hits of targets are limited.
    fn settled_on_targets(&self) -> HashMap<u32, usize> {
        let mut settled = HashMap::new();
        if self.rules.max_per_target < usize::MAX {
            for certain in self.certain.iter().flatten() {
                *settled.entry(self.rules.sequence(certain.region.place.target)).or_default() += 1;
            }
        }
        settled
    }

    /// The regions without cells whose paths are needed next. Empty if the first regions have cells.
    pub(super) fn without_cells(&self, best: Option<&Region>) -> Vec<u32> {
        let Some(best) = best.filter(|best| self.wants(best)) else { return Vec::new() };
        let lacks_cell = |region: &Region| region.is_scored && region.best.is_none();
        let lacking = (0..).zip(&self.regions).filter(|(_, region)| lacks_cell(region));
        let mut lacking: Vec<(RegionKey, u32)> =
            lacking.map(|(index, region)| (region.key(), index)).collect();
        lacking.sort_unstable();
        if lacking.first().is_none_or(|&(first, _)| first > best.key()) {
            return Vec::new();
        }
        let targets = self.rules.max_targets.saturating_sub(self.kept.targets.len());
        let wanted = self.rules.max_hits.saturating_sub(self.kept.count).min(targets);
        let last = lacking[wanted.clamp(1, lacking.len()) - 1].0;
        lacking.into_iter().take_while(|&(key, _)| key <= last).map(|(_, index)| index).collect()
    }

    /// The regions whose paths are needed next: region `next`, and others that no unknown hit can precede. Equal pairs
    /// of repeats share one path.
    pub(super) fn next_paths(&self, next: usize, scope: &SearchInput) -> SmallVec<[u32; 1]> {
        if !self.takes_many() {
            return smallvec![to_u32(next)];
        }
        let best = &self.regions[next];
        let unknown = self.regions.iter().filter(|region| region.best.is_none());
        let unknown = unknown.map(Region::first_key).min();
        let comes_first = |region: &Region| unknown.is_none_or(|unknown| region.key() < unknown);
        let known = (0..self.regions.len()).filter(|&index| {
            let region = &self.regions[index];
            index != next && region.best.is_some() && comes_first(region)
        });
        let mut known: Vec<usize> = known.collect();
        known.sort_unstable_by_key(|&index| self.regions[index].first_place());
        let (mut kept, mut paths) = (self.kept.clone(), smallvec![to_u32(next)]);
        let certain = self.certain.iter().flatten().map(|certain| &certain.region);
        certain.chain([best]).for_each(|region| kept.add(region.hit_at(), &self.rules));
        let mut asked = HashSet::from([best.pair]);
        let has_copies = scope.repeats.distinct().is_some();
        let most = if self.is_ranked { self.wanted_by_rank() } else { usize::MAX };
        for index in known {
            let region = &self.regions[index];
            let is_wanted = region.bound >= self.least_on(region.place.target)
                && self.rules.wants(&kept, region.hit_at());
            if !is_wanted && kept.on_target(region.place.target, &self.rules) > 0 {
                // This target is full, but others may have room.
                continue;
            }
            if !is_wanted || paths.len() >= most {
                break;
            }
            kept.add(region.hit_at(), &self.rules);
            if region.path.is_none() && (!has_copies || asked.insert(region.pair)) {
                paths.push(to_u32(index));
            }
        }
        paths
    }

    /// Stores the paths of regions, also for regions with an equal pair.
    pub fn take_paths(
        &mut self,
        regions: &[u32],
        alignments: impl Iterator<Item = Alignment>,
        scope: &SearchInput,
    ) {
        let mut paths = HashMap::new();
        let has_copies = scope.repeats.distinct().is_some();
        for (&region, alignment) in regions.iter().zip(alignments) {
            let path = KnownPath { number: to_u32(self.paths.len()), start: alignment.target_start };
            let region = &mut self.regions[region as usize];
            region.path = Some(path);
            if has_copies {
                paths.insert(region.pair, path);
            }
            self.paths.push(Some(alignment));
        }
        let without = self.regions.iter_mut().filter(|region| region.best.is_some() && region.path.is_none());
        if has_copies {
            without.for_each(|region| region.path = paths.get(&region.pair).copied());
        }
    }
}
