//! Hits that are certain: how they are cut out of the regions, and when they are reported.
//!
//! A hit is *certain* if no region with a possibly earlier hit can cover a column of its path: it remains a hit
//! whatever those regions contain. In one round, many hits of one target may be certain. One pass cuts all of them out
//! of the regions, and each is reported in its turn (docs/algorithm.md, section 6).

use super::{RecordSearch, RecordSearchState};
use crate::align::hits::region::{FirstPlace, Left, Region, RegionKey};
use crate::align::hits::{HitAt, Rules, SearchInput};
use crate::terms::alignment::{Alignment, Strand};
use crate::terms::bounds::longest_span;
use smallvec::SmallVec;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, HashSet, VecDeque};

/// Longest stretch of a target that a hit can cover, for each orientation of a query.
type Spans = SmallVec<[u32; 2]>;

/// Position of an orientation among those of a query.
fn position(scope: &SearchInput, strand: Strand) -> usize {
    scope.layout.strands.position(strand) as usize
}

/// A certain hit, and the region that it was found in.
#[derive(Debug)]
pub struct Certain {
    pub region: Region,
    alignment: Alignment,
}

/// The order of hits. The greatest is the first hit.
impl Ord for Certain {
    fn cmp(&self, other: &Certain) -> Ordering {
        other.region.first_place().cmp(&self.region.first_place())
    }
}

impl PartialOrd for Certain {
    fn partial_cmp(&self, other: &Certain) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Certain {
    fn eq(&self, other: &Certain) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Certain {}

/// Intervals of columns that hits occupy on one target and strand, keyed by start.
#[derive(Debug, Default)]
pub struct Taken(BTreeMap<u32, u32>);

impl Taken {
    fn insert(&mut self, (start, end): (u32, u32)) {
        if start < end {
            let longest = self.0.entry(start).or_insert(end);
            *longest = end.max(*longest);
        }
    }

    /// The last interval that has a column of `start..end`. An interval with a later start also has a later end.
    fn last_within(&self, start: u32, end: u32) -> Option<(u32, u32)> {
        let (&first, &last) = self.0.range(..end).next_back()?;
        (last > start).then_some((first, last))
    }
}

/// The regions of one target on one strand, in the order of their columns.
struct StrandRegions<'a> {
    search: &'a RecordSearch,
    regions: &'a [usize],
    /// Longest stretch of the target that a hit can cover.
    span: u32,
    /// Earliest position of regions that represent copies without a region of their own.
    unopened: Option<FirstPlace>,
    scope: &'a SearchInput<'a>,
}

impl StrandRegions<'_> {
    fn region(&self, index: usize) -> &Region {
        &self.search.regions[index]
    }

    /// Whether the path of a region's hit is known, and no region with a possibly earlier hit can cover a column of it.
    fn is_certain(&self, index: usize) -> bool {
        let region = self.region(index);
        let (Some(path), Some(hit)) = (region.path, region.best) else { return false };
        let place = region.first_place();
        if self.unopened.is_some_and(|unopened| unopened < place) {
            return false;
        }
        let comes_before = |&other: &usize| other != index && self.region(other).first_place() < place;
        let batch = self.scope.batch;
        // A hit that covers no column is a single gap. No further hit on its target can follow.
        let gap = -batch.scoring.gap_cost(batch.query(region.pair.query).len());
        let mode = batch.scoring.mode;
        if mode.needs_whole_targets() || (!mode.is_local() && i64::from(hit.score) <= gap) {
            return !self.regions.iter().any(comes_before);
        }
        let columns = [path.start, hit.target_end].map(|column| i64::from(region.place.there(column)));
        let turn = batch.targets.circle(region.pair.target).map_or(0, i64::from);
        let turns: &[i64] = if turn == 0 { &[0] } else { &[-turn, 0, turn] };
        turns.iter().all(|turn| {
            let [start, end] = columns.map(|column| column + turn);
            let is_before = |&other: &usize| i64::from(self.region(other).own_columns().1) <= start;
            let first = self.regions.partition_point(is_before);
            let own = |other: usize| i64::from(self.region(other).own_columns().0);
            let near =
                self.regions[first..].iter().take_while(|&&other| own(other) - i64::from(self.span) < end);
            let reaches = |&other: &usize| i64::from(self.region(other).reach(self.span).0) < end;
            !near.copied().filter(reaches).any(|other| comes_before(&other))
        })
    }
}

impl RecordSearch {
    /// Cuts out the hit of region `next`, which is the first of all, and the other certain hits whose paths are known.
    pub(super) fn settle(&mut self, next: usize, scope: &SearchInput) {
        let batch = scope.batch;
        let span = |&strand: &Strand| {
            let query = batch.query(scope.layout.query(self.record, strand));
            longest_span(query, self.found.threshold, &batch.scoring)
        };
        let strands = scope.layout.orientations();
        let spans: Spans = strands.iter().map(span).collect();
        let certain = if self.takes_many() { self.certain_regions(next, &spans, scope) } else { vec![next] };
        let mut closed = HashSet::new();
        for index in certain {
            let region = self.regions[index];
            let Some(path) = region.path.and_then(|path| self.take_path(path.number, scope)) else {
                // Its path is requested again.
                self.regions[index].path = None;
                continue;
            };
            let alignment = region.in_place(path);
            let line = (alignment.strand, alignment.target);
            // A hit that covers no column would be found again.
            if batch.scoring.mode.needs_whole_targets() || alignment.target_start == alignment.target_end {
                closed.insert(line);
            }
            let taken = self.taken.entry(line).or_default();
            alignment.columns_taken(batch.targets.circle(line.1)).for_each(|columns| taken.insert(columns));
            self.certain[position(scope, region.strand)].push(Certain { region, alignment });
        }
        if !closed.is_empty() {
            self.regions.retain(|region| !closed.contains(&(region.strand, region.place.target)));
        }
        self.open_copies(scope);
        self.cut(&spans, scope);
        self.prune();
    }

    /// Whether hits may be settled before earlier hits are reported.
    pub(super) fn takes_many(&self) -> bool {
        self.rules.most() > 1
    }

    /// Creates regions for the copies of scored regions, in the order of hits and as many as hits are needed, so that
    /// one round may settle all of them. The columns of earlier hits are cut out of them later.
    fn open_copies(&mut self, scope: &SearchInput) {
        let Some(distinct) = scope.repeats.distinct().filter(|_| self.takes_many()) else { return };
        let settled: usize = self.certain.iter().map(BinaryHeap::len).sum();
        let mut wanted = self.rules.most().saturating_sub(self.kept.count + settled);
        let opens = |region: &Region| region.is_scored && region.has_copies();
        let mut order: Vec<usize> = (0..self.regions.len()).filter(|&at| opens(&self.regions[at])).collect();
        order.sort_unstable_by_key(|&at| self.regions[at].first_place());
        for first in order {
            let mut open = VecDeque::from([first]);
            while let Some(at) = open.pop_front().filter(|_| wanted > 0) {
                for copy in self.regions[at].take_copies(distinct, scope.batch) {
                    if opens(&copy) {
                        open.push_back(self.regions.len());
                    }
                    self.regions.push(copy);
                    wanted = wanted.saturating_sub(1);
                }
            }
        }
    }

    /// Removes the path with this number and returns it. Copies of a region share its path.
    fn take_path(&mut self, number: u32, scope: &SearchInput) -> Option<Alignment> {
        let path = self.paths.get_mut(number as usize)?;
        if scope.repeats.distinct().is_some() { path.clone() } else { path.take() }
    }

    /// Regions whose paths are known and whose hits are certain, `next` among them.
    fn certain_regions(&self, next: usize, spans: &Spans, scope: &SearchInput) -> Vec<usize> {
        let line = |index: usize| (self.regions[index].strand, self.regions[index].place.target);
        let mut order: Vec<usize> = (0..self.regions.len()).collect();
        order.sort_unstable_by_key(|&index| (line(index), self.regions[index].own_columns()));
        let unopened = self.regions.iter().filter(|region| region.has_copies());
        let unopened = unopened.map(Region::first_place).min();
        let mut certain = vec![next];
        for regions in order.chunk_by(|&one, &other| line(one) == line(other)) {
            let span = spans[position(scope, line(regions[0]).0)];
            let line = StrandRegions { search: self, regions, span, unopened, scope };
            certain.extend(regions.iter().copied().filter(|&index| index != next && line.is_certain(index)));
        }
        certain
    }

    /// Cuts the columns of certain hits out of the regions.
    fn cut(&mut self, spans: &Spans, scope: &SearchInput) {
        let mut left = Vec::with_capacity(self.regions.len());
        // The first region is on the top of this stack.
        let mut open: Vec<Region> = Vec::new();
        for region in std::mem::take(&mut self.regions) {
            open.push(region);
            while let Some(region) = open.pop() {
                let span = spans[position(scope, region.strand)];
                let (start, end) = region.reach(span);
                let taken = self.taken.get(&(region.strand, region.place.target));
                let Some(columns) = taken.and_then(|taken| taken.last_within(start, end)) else {
                    left.push(region);
                    continue;
                };
                match region.without(columns, scope.batch, span) {
                    Left::Whole(region) => left.push(region),
                    Left::Pieces(pieces) => {
                        let copies = scope.repeats.distinct().map(|all| region.next_copies(all, scope.batch));
                        open.extend(copies.into_iter().flatten());
                        open.extend(pieces.into_iter().rev());
                    }
                }
            }
        }
        self.regions = left;
    }

    /// The first of the certain hits that are not reported yet.
    pub(super) fn first_certain(&self) -> Option<&Certain> {
        self.certain.iter().filter_map(|certain| certain.peek()).max()
    }

    /// Reports the certain hits that precede all possible hits of the regions. Returns `false` if there are none.
    pub(super) fn report(&mut self, scope: &SearchInput) -> bool {
        if self.first_certain().is_none() {
            return false;
        }
        let mut places: BinaryHeap<Reverse<FirstPlace>> =
            self.regions.iter().map(|region| Reverse(region.first_place())).collect();
        let most_on = |strand: Strand| {
            let on = self.regions.iter().filter(|region| region.strand == strand);
            on.map(|region| region.bound).max()
        };
        let most: Vec<Option<i32>> =
            scope.layout.orientations().iter().map(|&strand| most_on(strand)).collect();
        let mut is_any = false;
        while let Some(Certain { region, .. }) = self.first_certain() {
            let region = *region;
            // Targets may have closed since the regions were examined.
            while places.peek().is_some_and(|Reverse(place)| self.is_full(place)) {
                places.pop();
            }
            let is_first = places.peek().is_none_or(|Reverse(first)| region.first_place() < *first);
            let is_known = self.part_below().is_none_or(|held| region.bound >= held);
            if !is_first || !is_known || self.asks_second() || !self.wants(&region) {
                break;
            }
            let own = position(scope, region.strand);
            let Some(Certain { alignment, .. }) = self.certain[own].pop() else { break };
            let certain = self.certain.iter().map(|certain| Some(certain.peek()?.region.bound));
            let others = certain.zip(&most).enumerate().filter(|&(other, _)| other != own);
            let best = others.filter_map(|(_, (certain, &most))| certain.max(most)).max();
            self.is_tied |= best.is_some_and(|bound| bound >= region.bound);
            self.accept(alignment, scope);
            is_any = true;
        }
        is_any
    }

    /// Reports hits that are needed only for their scores: `first`, which comes next, and those that no region of
    /// unknown score can precede. Only the first hit of each sequence counts.
    pub(super) fn report_scores(&mut self, first: RegionKey, scope: &SearchInput) {
        let unknown = self.regions.iter().filter(|region| !region.is_scored).map(Region::first_key).min();
        let is_next = |region: &&Region| {
            let precedes = unknown.is_none_or(|unknown| region.key() < unknown);
            region.is_scored && (precedes || region.key() == first)
        };
        let mut next: Vec<Region> = self.regions.iter().filter(is_next).copied().collect();
        next.sort_by_key(Region::key);
        // In the order of hits, the forward strand precedes the reverse strand.
        let ties = |at: usize, region: &Region| {
            let same = next[at..].iter().take_while(|other| other.bound == region.bound);
            region.strand == Strand::Forward && same.last().is_some_and(|last| last.strand != region.strand)
        };
        let mut reported = HashSet::new();
        for (at, region) in next.iter().enumerate() {
            if reported.contains(&self.rules.sequence(region.place.target)) {
                continue;
            }
            if !self.wants(region) || self.asks_second() {
                break;
            }
            self.is_tied |= ties(at, region);
            reported.insert(self.rules.sequence(region.place.target));
            self.accept(region.in_place(region.without_path()), scope);
        }
        let rules = self.rules;
        self.regions.retain(|region| !reported.contains(&rules.sequence(region.place.target)));
        self.prune();
    }

    /// Whether the target has no room for a hit at this position.
    fn is_full(&self, (Reverse(score), _, target, ..): &FirstPlace) -> bool {
        let is_candidate = self.rules.is_candidate(&self.kept, *score);
        self.kept.on_target(*target, &self.rules) >= self.rules.max_per_target
            && !is_candidate
            && !self.asks_second()
    }

    /// Reports a hit that comes next.
    fn accept(&mut self, alignment: Alignment, scope: &SearchInput) {
        let Alignment { target, score, .. } = alignment;
        self.kept.add(HitAt { target, score }, &self.rules);
        self.rank(&alignment, scope);
        self.found.alignments.push(alignment);
        if self.found.alignments.len() == 2 && !self.knows_second {
            self.found.second = Some(score);
        }
        let most = self.rules.most();
        if self.found.alignments.len() == most && most > 1 {
            self.end(RecordSearchState::Done);
        }
    }

    /// Notes the rank of a hit, which limits the score of further reported hits.
    fn rank(&mut self, hit: &Alignment, scope: &SearchInput) {
        let Some(ranks) = scope.ranks else { return };
        let Some(rank) = ranks.rank(self.record, hit) else { return };
        // The first hit of a target represents all its hits.
        if !self.ranked_targets.insert(self.rules.sequence(hit.target)) {
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

    /// Drops the regions of targets that have no more room for a hit.
    pub(super) fn close_targets(&mut self) {
        if self.is_ranked {
            // A hit that ranks too low is not reported, and no other result depends on its score. But a target whose
            // first hit may still rank high enough keeps its further hits.
            let (mut regions, mut certain) =
                (std::mem::take(&mut self.regions), std::mem::take(&mut self.certain));
            let settled = certain.iter().flatten().map(|hit| &hit.region);
            let may_rank = regions.iter().chain(settled).filter(|region| region.bound >= self.least_ranked);
            let open: HashSet<u32> = match self.has_more_on_targets {
                true => may_rank.map(|region| self.rules.sequence(region.place.target)).collect(),
                false => HashSet::new(),
            };
            let least = self.least.max(self.found.threshold);
            let mut is_limited = false;
            let mut stays = |region: &Region| {
                let sequence = self.rules.sequence(region.place.target);
                let is_open = open.contains(&sequence) && region.bound >= self.least;
                let stays = is_open || region.bound >= self.least_on(region.place.target);
                is_limited |= !stays && region.bound >= least && !self.ranked_targets.contains(&sequence);
                stays
            };
            regions.retain(&mut stays);
            certain.iter_mut().for_each(|certain| certain.retain(|hit| stays(&hit.region)));
            self.is_limited |= is_limited;
            (self.regions, self.certain) = (regions, certain);
        }
        let Rules { max_targets, max_per_target, keeps_ties, .. } = self.rules;
        if !self.rules.counts_targets() {
            return;
        }
        let (kept, rules) = (&self.kept, &self.rules);
        let is_candidate = |region: &Region| rules.is_candidate(kept, region.bound);
        let has_room = |region: &Region| {
            kept.on_target(region.place.target, rules) < max_per_target || is_candidate(region)
        };
        self.regions.retain(has_room);
        self.certain.iter_mut().for_each(|certain| certain.retain(|hit| has_room(&hit.region)));
        if kept.targets.len() >= max_targets {
            // Only a tie or a candidate admits a further target, and then also its other hits.
            let tie = kept.of_last_target.filter(|_| keeps_ties);
            let opens =
                |region: &&Region| tie.is_some_and(|score| region.bound >= score) || is_candidate(region);
            let certain = self.certain.iter().flatten().map(|hit| &hit.region);
            let regions = self.regions.iter().chain(certain);
            let sequence = |region: &Region| rules.sequence(region.place.target);
            let open: HashSet<u32> = regions.filter(opens).map(sequence).collect();
            let (least, mut is_limited) = (self.found.threshold, false);
            let mut stays = |region: &Region| {
                let has_hit = kept.on_target(region.place.target, rules) > 0;
                let is_open = has_hit || open.contains(&sequence(region));
                is_limited |= !is_open && region.bound >= least;
                is_open
            };
            self.regions.retain(|region| stays(region));
            self.certain.iter_mut().for_each(|certain| certain.retain(|hit| stays(&hit.region)));
            self.is_limited |= is_limited;
        }
    }
}
