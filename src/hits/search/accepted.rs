//! Hits that are found: what they take of the regions, and for which others they leave room.

use super::{RecordSearch, SearchState};
use crate::alignment::Alignment;
use crate::bounds::longest_span;
use crate::hits::region::{Left, Region, Taken};
use crate::hits::{HitAt, Rules, Scope};
use std::collections::HashSet;

impl RecordSearch {
    /// Takes the path of the best region's hit, and cuts it, on a circle with its images, out of the regions.
    pub(super) fn accept(&mut self, region: &Region, path: Alignment, scope: &Scope) {
        let alignment = region.in_place(path.clone());
        let Alignment { target, strand, score, .. } = alignment;
        let batch = scope.batch;
        // What takes no columns would be found again.
        let is_last =
            batch.scoring.mode.needs_whole_targets() || alignment.target_start == alignment.target_end;
        if is_last {
            self.regions.retain(|region| (region.strand, region.place.target) != (strand, target));
        }
        let new = self.taken.len();
        let columns = alignment.columns_taken(batch.targets.circle(target));
        self.taken.extend(columns.map(|columns| Taken { strand, target, columns }));
        self.cut(new, region.pair.query, scope);
        if scope.repeats.distinct().is_some() {
            self.walked = Some((*region, path));
        }
        self.kept.add(HitAt { target, score }, &self.rules);
        self.rank(&alignment, scope);
        self.found.alignments.push(alignment);
        if self.found.alignments.len() == 2 && !self.knows_second {
            self.found.second = Some(score);
        }
        let most = self.rules.most();
        if self.found.alignments.len() == most && most > 1 {
            self.end(SearchState::Done);
        }
        self.prune();
    }

    /// Cuts the columns that are taken, from this number on, out of the regions.
    pub(super) fn cut(&mut self, new: usize, query: u32, scope: &Scope) {
        let span = longest_span(scope.batch.query(query), self.found.threshold, &scope.batch.scoring);
        let mut left = Vec::with_capacity(self.regions.len());
        // What comes first is last here. Copies meet all that is taken.
        let mut open: Vec<(Region, usize)> = Vec::new();
        for region in std::mem::take(&mut self.regions) {
            open.push((region, new));
            while let Some((mut region, first)) = open.pop() {
                let whole = region;
                let mut is_cut = false;
                for (number, taken) in self.taken.iter().enumerate().skip(first) {
                    match region.without(taken, scope.batch, span) {
                        Left::Whole(same) => region = same,
                        Left::Pieces(pieces) => {
                            let copies =
                                scope.repeats.distinct().map(|all| whole.next_copies(all, scope.batch));
                            open.extend(copies.into_iter().flatten().map(|copy| (copy, 0)));
                            open.extend(pieces.into_iter().rev().map(|piece| (piece, number + 1)));
                            is_cut = true;
                            break;
                        }
                    }
                }
                if !is_cut {
                    left.push(region);
                }
            }
        }
        self.regions = left;
    }

    /// Notes how a hit is ranked, and with that how far down there may be others that are reported.
    pub(super) fn rank(&mut self, hit: &Alignment, scope: &Scope) {
        let Some(ranks) = scope.ranks else { return };
        let Some(rank) = ranks.rank(self.record, hit) else { return };
        // Of each target its first hit stands for all.
        if !self.ranked_targets.insert(hit.target) {
            return;
        }
        let place = self.ranks.partition_point(|other| *other >= rank);
        if place < ranks.places() {
            self.ranks.insert(place, rank);
            self.ranks.truncate(ranks.places());
        }
        if self.ranks.len() == ranks.places() {
            let least = ranks.least_score(self.record, self.ranks.last().copied());
            self.least_ranked = self.least_ranked.max(least);
        }
    }

    /// Drops the regions of targets that have no room for a hit any more.
    pub(super) fn close_targets(&mut self) {
        if self.is_ranked {
            // What ranks too low is not reported, and nothing else depends on its score. But a target whose first hit may still
            // rank high enough keeps its further ones.
            let mut regions = std::mem::take(&mut self.regions);
            let may_rank = regions.iter().filter(|region| region.bound >= self.least_ranked);
            let open: HashSet<u32> = match self.has_more_on_targets {
                true => may_rank.map(|region| region.place.target).collect(),
                false => HashSet::new(),
            };
            regions.retain(|region| {
                let target = region.place.target;
                let is_open = open.contains(&target) && region.bound >= self.least;
                is_open || region.bound >= self.least_on(target)
            });
            self.regions = regions;
        }
        let Rules { max_targets, max_per_target, keeps_ties, .. } = self.rules;
        if !self.rules.counts_targets() {
            return;
        }
        let (kept, rules) = (&self.kept, &self.rules);
        let is_candidate = |region: &Region| rules.is_candidate(kept, region.bound);
        self.regions
            .retain(|region| kept.on_target(region.place.target) < max_per_target || is_candidate(region));
        if kept.targets.len() >= max_targets {
            // Only a tie or a candidate lets a further target in, and then the rest of it as well.
            let tie = kept.of_last_target.filter(|_| keeps_ties);
            let opens =
                |region: &&Region| tie.is_some_and(|score| region.bound >= score) || is_candidate(region);
            let open: HashSet<u32> =
                self.regions.iter().filter(opens).map(|region| region.place.target).collect();
            let is_open = |target: u32| kept.on_target(target) > 0 || open.contains(&target);
            self.regions.retain(|region| is_open(region.place.target));
        }
    }
}
