//! Which regions' scores, cells and paths are wanted next.

use super::RecordSearch;
use crate::alignment::Alignment;
use crate::hits::region::{Region, RegionKey};
use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Paths of a record that are asked for at a time, at most, before it is known how far down hits are wanted.
const AHEAD: usize = 16;

/// Regions of a record whose scores are asked for at a time, at least, where bounds tell regions apart: windows, and
/// whole targets.
const WINDOWS: usize = 4;
const BOUNDED: usize = 64;

impl RecordSearch {
    /// The unscored regions that could hold what comes next.
    pub(super) fn unknown(&self, best: Option<&Region>, has_windows: bool) -> Vec<u32> {
        let needed = match best {
            // Of the last hit only the score is wanted, so that an equal one elsewhere changes nothing.
            Some(best) => best.bound + i32::from(!self.wants(best)),
            // Windows differ in what they can hold. If the most promising ones are scored first, most others need no
            // score.
            None if has_windows => self.regions.iter().map(|region| region.bound).max().unwrap_or(0),
            None if self.is_bounded => i32::MAX,
            None => i32::MIN,
        };
        let needed = if self.is_bounded { needed.min(self.least_expected()) } else { needed };
        // What scores no more than the best and comes behind it is not next.
        let can_be_next =
            |region: &Region| best.is_none_or(|best| region.bound > best.bound || !region.is_behind(best));
        let regions = (0..).zip(&self.regions);
        let is_needed = |region: &Region| !region.is_scored && region.bound >= needed && can_be_next(region);
        let mut unknown: Vec<u32> =
            regions.filter(|(_, region)| is_needed(region)).map(|(index, _)| index).collect();
        // What these score may show that the others need no score. Each time as many are asked for as were before, so that
        // many windows without a hit take few rounds.
        let at_least = match has_windows {
            true => WINDOWS.max(self.rules.most().saturating_sub(self.kept.count)),
            false => BOUNDED,
        };
        let most = at_least.max(self.learned);
        if (has_windows || self.is_bounded) && unknown.len() > most {
            unknown.sort_by_key(|&index| self.regions[index as usize].first_cell());
            unknown.truncate(most);
        }
        unknown
    }

    /// The score of the last hit that will be wanted, as far as scores and bounds tell.
    pub(super) fn least_expected(&self) -> i32 {
        let targets = self.rules.max_targets.saturating_sub(self.kept.targets.len());
        let wanted = self.rules.max_hits.saturating_sub(self.kept.count).min(targets);
        let wanted = if self.is_ranked { AHEAD.max(self.found.alignments.len()) } else { wanted };
        let is_known = self.scored().next().is_some();
        let counts = |region: &&Region| region.is_scored || !is_known;
        let mut bounds: Vec<i32> = self.regions.iter().filter(counts).map(|region| region.bound).collect();
        if bounds.is_empty() {
            return i32::MAX;
        }
        let place = wanted.clamp(1, bounds.len()) - 1;
        *bounds.select_nth_unstable_by_key(place, |&bound| Reverse(bound)).1
    }

    /// Where the first regions lack cells, and paths are wanted: these, and others that will be wanted next.
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

    /// The regions whose paths are wanted next: `best`, and the first one of each further target that nothing unknown can
    /// come before. What is left of the targets before it still can.
    pub(super) fn next_paths(&self, best: Region) -> SmallVec<[Region; 1]> {
        if self.rules.candidates.is_some() {
            return smallvec![best];
        }
        let unknown = self.regions.iter().filter(|region| region.best.is_none());
        let unknown = unknown.map(Region::first_key).min();
        let comes_first = |region: &&Region| unknown.is_none_or(|unknown| region.key() < unknown);
        let known = self.regions.iter().filter(|region| region.best.is_some()).filter(comes_first);
        let mut known: Vec<&Region> = known.collect();
        known.sort_unstable_by(|one, other| one.locus().order(&other.locus()));
        let (mut kept, mut next) = (self.kept.clone(), smallvec![best]);
        kept.add(best.hit_at(), &self.rules);
        let mut met = HashSet::from([best.place.target]);
        // Where ranks decide how many hits are wanted, each round asks for as many again as were found.
        let most = match self.is_ranked {
            true => AHEAD.max(self.found.alignments.len()),
            false => usize::MAX,
        };
        for region in known {
            if !met.insert(region.place.target) {
                continue;
            }
            let least = self.least_on(region.place.target);
            let is_wanted = region.bound >= least && self.rules.wants(&kept, region.hit_at());
            if !is_wanted || next.len() >= most {
                break;
            }
            kept.add(region.hit_at(), &self.rules);
            next.push(*region);
        }
        next
    }

    /// The path of the region that is next, if it was found with that of an earlier one.
    pub(super) fn known_path(&mut self, next: &Region) -> Option<Alignment> {
        let is_next =
            |(region, _): &(Region, Alignment)| region.pair == next.pair && region.best == next.best;
        if let Some(place) = self.ahead.iter().position(is_next) {
            return Some(self.ahead.swap_remove(place).1);
        }
        let same_hit = |region: &Region| {
            let pair = |region: &Region| (region.pair.query, region.pair.target);
            region.best == next.best && pair(region) == pair(next)
        };
        self.walked.as_ref().filter(|(region, _)| same_hit(region)).map(|(_, path)| path.clone())
    }

    /// Takes the paths of regions, the next one and others that may come behind it.
    pub fn take_paths(&mut self, regions: &[Region], alignments: impl Iterator<Item = Alignment>) {
        self.ahead = regions.iter().copied().zip(alignments).collect();
    }
}
