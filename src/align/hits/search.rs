//! The search for one record's hits: its regions, the knowledge about them, and the next step.

mod accepted;
mod learned;
mod wanted;

use super::region::{Most, Region};
use super::{Detail, HitAt, Kept, Rules, SearchInput, SearchStart};
use crate::align::candidates::QueryShape;
use crate::align::candidates::levels::Level;
use crate::align::candidates::windows::CandidateRegion;
use crate::terms::alignment::{Alignment, HitEnd, MOST_ORIENTATIONS, QueryResult, Strand};
use crate::terms::batch::Pair;
use accepted::{Certain, Taken};
use smallvec::SmallVec;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Source of a search's regions.
#[derive(Clone, Copy, Debug)]
pub enum RegionSource {
    /// The windows of a level, which contain all alignments of at least this score.
    Level(Level, i32),
    /// All pairs of the record.
    All,
}

/// State of a search. [`RecordSearch::advance`] moves from one state to the next.
#[derive(Clone, Copy, Debug)]
enum RecordSearchState {
    /// The regions are a level's windows, which contain all alignments of score `held` or more.
    OnLevel { level: Level, held: i32 },
    /// Every pair of the record must be scored.
    Whole,
    /// Every pair was scored. The regions are the pairs that may contain hits.
    Known,
    /// The regions may lack hits, so the regions of this source must be opened.
    Lower(RegionSource),
    /// There was no room for the source's regions: the search restarts with this source in a later round.
    Later(RegionSource),
    /// All hits are found.
    Done,
}

/// Input that a search needs to continue.
#[derive(Clone, Debug)]
pub enum Need {
    /// The scores of all pairs of the record.
    Everything,
    /// The scores of these regions.
    Scores(Vec<u32>),
    /// The regions of another source.
    Regions(RegionSource),
    /// The paths of the hits of these regions, which come next in this order. Never empty.
    Paths(SmallVec<[u32; 1]>),
    Nothing,
}

/// Result of a round for a search.
pub enum Ended {
    /// All hits are found.
    Found(QueryResult),
    /// The search restarts with this in a later round.
    Later(SearchStart),
}

/// The search for one record's hits.
#[derive(Debug)]
pub struct RecordSearch {
    pub record: u32,
    rules: Rules,
    state: RecordSearchState,
    pub regions: Vec<Region>,
    /// Number of regions whose scores were requested, including regions that were dropped since.
    learned: usize,
    found: QueryResult,
    /// The hits found so far, as the limits see them.
    kept: Kept,
    /// Whether the second hit's score is known before the limits exclude any hit.
    knows_second: bool,
    /// Whether ranks decide how many hits are needed, and if so, whether more than one hit per target is reported.
    is_ranked: bool,
    has_more_on_targets: bool,
    /// The highest ranks of the targets with hits, in descending order, as many as are reported.
    ranks: Vec<f64>,
    ranked_targets: HashSet<u32>,
    /// Minimum score of a reported hit.
    least: i32,
    /// Minimum score of a reported hit on a target without hits.
    least_ranked: i32,
    /// Columns of certain hits, reported or not, by strand and target.
    taken: HashMap<(Strand, u32), Taken>,
    /// Hits of scored pairs, which apply to copies of their columns too. Empty unless repeats are removed.
    answers: HashMap<Pair, HitEnd>,
    /// Paths of regions' hits in their pairs, by number, until they are used.
    paths: Vec<Option<Alignment>>,
    /// Certain hits that are not reported yet, by strand.
    certain: [BinaryHeap<Certain>; MOST_ORIENTATIONS],
    /// Whether a known hit scores too low compared to the best hit.
    is_cut: bool,
    /// Whether the limit on targets may have excluded hits that score enough.
    is_limited: bool,
    /// Whether the order of the strands chose among equal hits, or may have.
    is_tied: bool,
    /// Whether the regions have distinct bounds, so that most of them need no score.
    is_bounded: bool,
    /// Whether the regions are all pairs, with bounds like those of windows.
    has_pairs: bool,
    /// [`SearchStart::expected`].
    expected: Option<i32>,
    /// Cells spent on the record: those scored on levels, and the equivalent of the time for finding seeds.
    spent: f64,
    /// [`SearchStart::is_last`] of the level that is wanted next.
    is_last: bool,
    /// [`SearchStart::part_of`].
    part_of: Option<i32>,
    /// The first hit, if it is known and a lower level is needed.
    first: Option<Box<Region>>,
}

impl RecordSearch {
    /// Creates a search with regions and the maximum score in each of them.
    pub fn new(scope: &SearchInput, start: SearchStart, regions: Vec<CandidateRegion>) -> RecordSearch {
        let SearchStart { record, source, spent, is_last, part_of, first, expected, .. } = start;
        let most = Most::of(scope, record);
        let region = |(strand, pair, bound): CandidateRegion| {
            Region::unscored(scope, strand, pair, bound.min(most.in_pair(&pair)))
        };
        let regions = regions.into_iter().map(region).collect();
        let state = match source {
            RegionSource::Level(level, held) => RecordSearchState::OnLevel { level, held },
            RegionSource::All => RecordSearchState::Whole,
        };
        let rules = scope.rules_of(record);
        let found = QueryResult { threshold: rules.min_score, ..QueryResult::default() };
        let kept = Kept::default();
        let least = scope.ranks.map_or(i32::MIN, |ranks| ranks.least_score(record, None));
        let (ranks, ranked_targets) = (Vec::new(), HashSet::new());
        let mut search = RecordSearch {
            record,
            rules,
            state,
            regions,
            learned: 0,
            found,
            kept,
            knows_second: false,
            is_ranked: scope.ranks.is_some(),
            has_more_on_targets: scope.ranks.is_some_and(|ranks| ranks.has_more_on_targets()),
            ranks,
            ranked_targets,
            least,
            least_ranked: least,
            taken: HashMap::new(),
            answers: HashMap::new(),
            paths: Vec::new(),
            certain: Default::default(),
            is_cut: false,
            is_limited: false,
            is_tied: false,
            is_bounded: false,
            has_pairs: false,
            expected,
            spent,
            is_last,
            part_of,
            first: None,
        };
        first.into_iter().for_each(|first| search.know_first(&first));
        search.prune();
        search
    }

    /// Stores the first hit, which is known, in the region that owns its end.
    fn know_first(&mut self, first: &Region) {
        let Some(hit) = first.best else { return };
        let owns = |region: &&mut Region| {
            let line = |region: &Region| (region.strand, region.pair.query, region.pair.target);
            line(region) == line(first)
                && region.pair.own < hit.target_end
                && hit.target_end <= region.pair.end
        };
        if let Some(region) = self.regions.iter_mut().find(owns) {
            region.bound = hit.score;
            (region.is_scored, region.best) = (true, Some(hit));
        }
    }

    /// Advances the search until it needs input, and returns the need. The need stays the same until it is met: by
    /// [`Self::take_everything`], by [`Self::learn`] and [`Self::prune`], by a new search of other regions, by
    /// [`Self::postpone`], or by [`Self::take_paths`].
    pub fn advance(&mut self, scope: &SearchInput) -> Need {
        loop {
            if let Some(need) = self.step(scope) {
                return need;
            }
        }
    }

    /// Performs the next step, or returns the input that it needs.
    fn step(&mut self, scope: &SearchInput) -> Option<Need> {
        let has_windows = match self.state {
            RecordSearchState::Whole => return Some(Need::Everything),
            RecordSearchState::Lower(source) => return Some(Need::Regions(source)),
            RecordSearchState::Later(_) | RecordSearchState::Done => return Some(Need::Nothing),
            RecordSearchState::OnLevel { .. } => true,
            RecordSearchState::Known => self.has_pairs,
        };
        let asks_second = self.asks_second();
        if !asks_second {
            self.close_targets();
        }
        if self.report(scope) {
            return None;
        }
        let next = self.first_scored();
        let best = self.first(next);
        let mut unknown = self.unknown(best.as_ref(), has_windows);
        if unknown.is_empty() && !asks_second && scope.detail == Detail::Path {
            unknown = self.without_cells(best.as_ref());
        }
        if !unknown.is_empty() {
            let unknown = self.learn_again(unknown, scope);
            return (!unknown.is_empty()).then_some(Need::Scores(unknown));
        }
        if asks_second {
            self.found.second = best.map(|region| region.bound);
            self.knows_second = true;
            return None;
        }
        if let Some(source) = self.lower(best.as_ref(), scope) {
            self.is_last |= best.is_some();
            self.first = self.proven(best, scope).map(Box::new);
            self.expected = best.map(|best| self.rules.threshold(best.bound)).or(self.expected);
            self.end(RecordSearchState::Lower(source));
            return Some(Need::Regions(source));
        }
        if let Some(source) = self.whole_level(best.as_ref()) {
            self.is_last = true;
            self.expected = Some(self.found.threshold);
            self.end(RecordSearchState::Lower(source));
            return Some(Need::Regions(source));
        }
        // Wanted certain hits were reported above, so the first hit is that of a region.
        if let (Some(next), Some(best)) = (next, best)
            && self.wants(&best)
        {
            if scope.detail == Detail::Score {
                self.report_scores(best.key(), scope);
                return None;
            }
            if self.regions[next].path.is_none() {
                return Some(Need::Paths(self.next_paths(next, scope)));
            }
            self.settle(next, scope);
            return None;
        }
        if self.found.alignments.len() == 1 && !self.knows_second {
            self.found.second = best.map(|region| region.bound);
        }
        self.end(RecordSearchState::Done);
        Some(Need::Nothing)
    }

    /// Whether the second hit's score is needed next, which the limits may exclude.
    fn asks_second(&self) -> bool {
        let is_limited = self.is_ranked || self.rules.counts_targets();
        self.rules.tells_second && is_limited && self.found.alignments.len() == 1 && !self.knows_second
    }

    /// Drops the regions, which are no longer needed.
    fn end(&mut self, state: RecordSearchState) {
        self.state = state;
        self.regions = Vec::new();
        self.certain = Default::default();
    }

    /// Expected minimum score of the hits, if known or estimated.
    pub fn expected(&self) -> Option<i32> {
        self.expected
    }

    /// Whether every pair of the record is to be scored.
    pub fn is_whole(&self) -> bool {
        matches!(self.state, RecordSearchState::Whole)
    }

    /// Cells spent on the record: those scored on levels, and the equivalent of the time for finding seeds.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Restarts with `source` in a later round.
    pub fn postpone(&mut self, source: RegionSource) {
        self.end(RecordSearchState::Later(source));
    }

    /// The start of a search of the record that continues with `source`.
    pub fn start(&self, source: RegionSource) -> SearchStart {
        let &RecordSearch { record, spent, is_last, expected, .. } = self;
        let first = self.first.clone();
        SearchStart { record, source, spent, is_last, enough: None, part_of: None, first, expected }
    }

    /// Returns the result of the round.
    pub fn ended(self) -> Ended {
        match self.state {
            RecordSearchState::Later(source) => Ended::Later(self.start(source)),
            _ => Ended::Found(self.found),
        }
    }

    /// The best of a level's regions if it is certainly the first hit and if all levels locate it in the same
    /// coordinates.
    fn proven(&self, best: Option<Region>, scope: &SearchInput) -> Option<Region> {
        let RecordSearchState::OnLevel { held, .. } = self.state else { return None };
        let is_known = |best: &Region| best.bound >= held && best.best.is_some() && self.wants(best);
        best.filter(|best| is_known(best) && scope.repeats.distinct().is_none())
    }

    /// The next source if a level's regions may lack hits: another level, or all pairs.
    fn lower(&self, best: Option<&Region>, scope: &SearchInput) -> Option<RegionSource> {
        let (Some(filter), RecordSearchState::OnLevel { level, held }) = (scope.filter, self.state) else {
            return None;
        };
        if !self.found.alignments.is_empty() {
            return None;
        }
        // The region's hit is an alignment even if it scores below the level, so the best score is at least its score.
        let best = best.map(|region| region.bound);
        let least = best.map_or(self.rules.min_score, |best| self.rules.threshold(best));
        if held <= least {
            return None;
        }
        if let Some(whole) = self.part_of {
            // A part of the regions may have both hits that are needed.
            let has_first = best.is_some_and(|best| best >= held);
            return (!has_first).then_some(RegionSource::Level(level, whole.max(least)));
        }
        let query = query_shape(scope, self.record);
        let lower = match best {
            Some(_) => filter.at_most(level.kind, query, least),
            None => filter.below(query, &level, self.spent).map(|next| {
                // Not below the minimum score.
                let last = filter.at_most(level.kind, query, least).filter(|_| next.least < least);
                last.filter(|last| last.is_quicker_than(&next)).unwrap_or(next)
            }),
        };
        Some(lower.map_or(RegionSource::All, |level| RegionSource::Level(level, least.max(level.least))))
    }

    /// The score below which hits may lack, since the regions are a part of those of the level. `None` if they are all.
    fn part_below(&self) -> Option<i32> {
        match self.state {
            RecordSearchState::OnLevel { held, .. } if self.part_of.is_some() => Some(held),
            _ => None,
        }
    }

    /// All regions of the level if these are a part, and the next hit, `best` among these, may be in others.
    fn whole_level(&self, best: Option<&Region>) -> Option<RegionSource> {
        let (Some(whole), RecordSearchState::OnLevel { level, held }) = (self.part_of, self.state) else {
            return None;
        };
        let first = self.found.alignments.first()?;
        let least = self.found.threshold;
        let is_known = held <= least || best.is_some_and(|best| best.bound >= held);
        let asks_second = self.found.alignments.len() == 1 && !self.knows_second;
        let next = HitAt { target: first.target, score: held - 1 };
        let is_asked = asks_second || self.rules.wants(&self.kept, next);
        (is_asked && !is_known).then_some(RegionSource::Level(level, whole.max(least)))
    }

    /// Drops regions that cannot contain a hit.
    pub fn prune(&mut self) {
        if self.found.alignments.is_empty()
            && self.first_certain().is_none()
            && let Some(best) = self.scored().map(|region| region.bound).max()
        {
            self.found.threshold = self.rules.threshold(best);
        }
        let (threshold, least) = (self.found.threshold, self.rules.min_score);
        let mut is_cut = false;
        self.regions.retain(|region| {
            let stays = region.bound >= threshold;
            is_cut |= !stays && region.is_scored && region.bound >= least;
            stays
        });
        self.is_cut |= is_cut;
    }

    /// Whether the limits would admit a known hit that scores too low compared to the best hit.
    pub fn is_cut(&self) -> bool {
        self.is_cut && self.kept.count < self.rules.max_hits && self.rules.max_hits > 1
    }

    /// Whether the limit on targets may have excluded hits that score enough.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Whether the order of the strands chose among equal hits, or may have. If it did not, the query's reverse
    /// complement has the same hits on the opposite strands.
    pub fn is_tied(&self) -> bool {
        self.is_tied
    }

    /// Whether the path of a region's hit is wanted next.
    fn wants(&self, region: &Region) -> bool {
        region.bound >= self.least_on(region.place.target) && self.rules.wants(&self.kept, region.hit_at())
    }

    /// Minimum score of a reported hit on a target.
    fn least_on(&self, target: u32) -> i32 {
        let has_more = self.has_more_on_targets && self.ranked_targets.contains(&self.rules.sequence(target));
        if has_more { self.least } else { self.least_ranked }
    }

    /// The regions whose best score is known.
    fn scored(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(|region| region.is_scored)
    }

    /// The first of the scored regions, as far as their cells are known.
    fn first_scored(&self) -> Option<usize> {
        let scored = self.regions.iter().enumerate().filter(|(_, region)| region.is_scored);
        let order = |a: &Region, b: &Region| a.key().cmp(&b.key()).then_with(|| a.locus().order(&b.locus()));
        scored.min_by(|(_, a), (_, b)| order(a, b)).map(|(index, _)| index)
    }

    /// The first among the given region, if any, and the regions of the certain hits that are not reported yet.
    fn first(&self, scored: Option<usize>) -> Option<Region> {
        let certain = self.first_certain().map(|certain| certain.region);
        let scored = scored.map(|index| self.regions[index]);
        certain.into_iter().chain(scored).min_by_key(Region::first_place)
    }
}

/// Query length of a record, in residues.
/// Length of a record's query, and its runs of residues that are not bases.
pub fn query_shape(scope: &SearchInput, record: u32) -> QueryShape {
    QueryShape::of(scope.batch.query(scope.layout.query(record, Strand::Forward)))
}

/// Length of a record's query.
pub fn query_len(scope: &SearchInput, record: u32) -> usize {
    scope.batch.query(scope.layout.query(record, Strand::Forward)).len()
}
