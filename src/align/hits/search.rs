//! The search for one record's hits: its regions, what is known of them, and what comes next.

mod accepted;
mod learned;
mod wanted;

use super::region::{Most, Region};
use super::{Detail, Kept, Rules, Scope, Start};
use crate::align::candidates::levels::Level;
use crate::align::candidates::windows::Region as Opened;
use crate::terms::alignment::{Alignment, Found, Hit, Strand};
use crate::terms::batch::Pair;
use accepted::{Certain, Taken};
use smallvec::SmallVec;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Where a search's regions come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The windows of a level, which hold all that scores at least this much.
    Level(Level, i32),
    /// All pairs of the record.
    All,
}

/// Where a search stands. [`RecordSearch::advance`] leads from one state to the next.
#[derive(Clone, Copy, Debug)]
enum SearchState {
    /// The regions are a level's windows: they hold all that scores `held` or more.
    OnLevel { level: Level, held: i32 },
    /// Every pair of the record is to be scored.
    Whole,
    /// Every pair was scored: the regions are those that hold something.
    Known,
    /// The regions lacked what counts, and those of this source are to be opened.
    Lower(Source),
    /// There was no room for them: the search begins anew with this source, in a later round.
    Later(Source),
    /// All hits are found.
    Done,
}

/// What a search needs before it can go on.
#[derive(Clone, Debug)]
pub enum Need {
    /// The scores of all pairs of the record.
    Everything,
    /// The scores of these regions.
    Scores(Vec<u32>),
    /// The regions of another source.
    Regions(Source),
    /// The paths of these regions' hits, which come next in this order; one at least.
    Paths(SmallVec<[u32; 1]>),
    Nothing,
}

/// How a round ends for a search.
pub enum Ended {
    /// All hits are found.
    Found(Found),
    /// A later round begins with this.
    Later(Start),
}

/// The search for one record's hits.
#[derive(Debug)]
pub struct RecordSearch {
    pub record: u32,
    rules: Rules,
    state: SearchState,
    pub regions: Vec<Region>,
    /// Regions whose scores were asked for, those that are dropped by now included.
    learned: usize,
    found: Found,
    /// What is found, as the limits see it.
    kept: Kept,
    /// Whether the second hit's score is known before the limits leave anything out.
    knows_second: bool,
    /// Whether ranks decide how many hits are wanted, and if so, whether more than one of a target is reported.
    is_ranked: bool,
    has_more_on_targets: bool,
    /// The highest ranks of the targets that hits were found on, in descending order, as many as are reported.
    ranks: Vec<f64>,
    ranked_targets: HashSet<u32>,
    /// No hit is reported that scores less.
    least: i32,
    /// No hit is reported that scores less, on a target without one.
    least_ranked: i32,
    /// Columns that certain hits take, reported or not, by strands and targets.
    taken: HashMap<(Strand, u32), Taken>,
    /// Hits of scored pairs, which copies of their columns have as well. Empty unless repeats are taken out.
    answers: HashMap<Pair, Hit>,
    /// Paths of regions' hits in their pairs, by their numbers, until they are taken.
    paths: Vec<Option<Alignment>>,
    /// Certain hits that are not reported yet, of each strand.
    certain: [BinaryHeap<Certain>; 2],
    /// Whether a hit is known that scores too little beside the best.
    is_cut: bool,
    /// Whether the limit of targets may have left out hits that score enough.
    is_limited: bool,
    /// Whether the order of the strands chose among hits of one score, or may have.
    is_tied: bool,
    /// Whether regions were opened with bounds that tell them apart: most of them need no score.
    is_bounded: bool,
    /// Whether these are bounds of all pairs, as windows have them.
    has_pairs: bool,
    /// [`Start::expected`].
    expected: Option<i32>,
    /// Cells that were scored for the record on levels, or could have been in the time that finding seeds took.
    spent: f64,
    /// [`Start::is_last`] of the level that is wanted next.
    is_last: bool,
    /// The first hit, where it is known and a lower level is wanted.
    first: Option<Box<Region>>,
}

impl RecordSearch {
    /// With regions, and the most that an alignment in each can score.
    pub fn new(scope: &Scope, start: Start, regions: Vec<Opened>) -> RecordSearch {
        let Start { record, source, spent, is_last, first, expected } = start;
        let most = Most::of(scope, record);
        let region = |(strand, pair, bound): Opened| {
            Region::unscored(scope, strand, pair, bound.min(most.in_pair(&pair)))
        };
        let regions = regions.into_iter().map(region).collect();
        let state = match source {
            Source::Level(level, held) => SearchState::OnLevel { level, held },
            Source::All => SearchState::Whole,
        };
        let rules = scope.rules_of(record);
        let found = Found { threshold: rules.min_score, ..Found::default() };
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
            first: None,
        };
        first.into_iter().for_each(|first| search.know_first(&first));
        search.prune();
        search
    }

    /// Takes the first hit, which is known, into the region that owns its end.
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

    /// Goes from state to state as far as the search can by itself, and says what it needs then. It needs the same until
    /// that is given, by [`Self::take_everything`], [`Self::learn`] and [`Self::prune`], a search of other regions in its
    /// place or [`Self::postpone`], or [`Self::take_paths`].
    pub fn advance(&mut self, scope: &Scope) -> Need {
        loop {
            if let Some(need) = self.step(scope) {
                return need;
            }
        }
    }

    /// Does what can be done next without anything from outside, or says what is needed.
    fn step(&mut self, scope: &Scope) -> Option<Need> {
        let has_windows = match self.state {
            SearchState::Whole => return Some(Need::Everything),
            SearchState::Lower(source) => return Some(Need::Regions(source)),
            SearchState::Later(_) | SearchState::Done => return Some(Need::Nothing),
            SearchState::OnLevel { .. } => true,
            SearchState::Known => self.has_pairs,
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
            self.end(SearchState::Lower(source));
            return Some(Need::Regions(source));
        }
        // A certain hit that is wanted was reported above, so the first one is that of a region.
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
        self.end(SearchState::Done);
        Some(Need::Nothing)
    }

    /// Whether the second hit's score is wanted next, which the limits may leave out.
    fn asks_second(&self) -> bool {
        let is_limited = self.is_ranked || self.rules.counts_targets();
        self.rules.tells_second && is_limited && self.found.alignments.len() == 1 && !self.knows_second
    }

    /// Forgets the regions, which are of no more use.
    fn end(&mut self, state: SearchState) {
        self.state = state;
        self.regions = Vec::new();
        self.certain = Default::default();
    }

    /// What the hits score at least, as far as that is known or estimated.
    pub fn expected(&self) -> Option<i32> {
        self.expected
    }

    /// Whether every pair of the record is to be scored.
    pub fn is_whole(&self) -> bool {
        matches!(self.state, SearchState::Whole)
    }

    /// Cells that were scored for the record on levels, or could have been in the time that finding seeds took.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Begins anew with `source`, in a later round.
    pub fn postpone(&mut self, source: Source) {
        self.end(SearchState::Later(source));
    }

    /// Where the search of the record goes on with `source`.
    pub fn start(&self, source: Source) -> Start {
        let (first, expected) = (self.first.clone(), self.expected);
        Start { record: self.record, source, spent: self.spent, is_last: self.is_last, first, expected }
    }

    /// How the round ended for the search.
    pub fn ended(self) -> Ended {
        match self.state {
            SearchState::Later(source) => Ended::Later(self.start(source)),
            _ => Ended::Found(self.found),
        }
    }

    /// The best of a level's regions, where it is sure to be the first hit of all and every level's regions say where it lies.
    fn proven(&self, best: Option<Region>, scope: &Scope) -> Option<Region> {
        let SearchState::OnLevel { held, .. } = self.state else { return None };
        let is_known = |best: &Region| best.bound >= held && best.best.is_some() && self.wants(best);
        best.filter(|best| is_known(best) && scope.repeats.distinct().is_none())
    }

    /// What the search must go on with where a level's regions may lack what counts: another level, or everything.
    fn lower(&self, best: Option<&Region>, scope: &Scope) -> Option<Source> {
        let (Some(filter), SearchState::OnLevel { level, held }) = (scope.filter, self.state) else {
            return None;
        };
        if !self.found.alignments.is_empty() {
            return None;
        }
        // What is found is an alignment, even if it scores less than the level: the best is no worse.
        let best = best.map(|region| region.bound);
        let least = best.map_or(self.rules.min_score, |best| self.rules.threshold(best));
        if held <= least {
            return None;
        }
        let len = query_len(scope, self.record);
        let lower = match best {
            Some(_) => filter.at_most(level.kind, len, least),
            None => filter.below(len, &level, self.spent).map(|next| {
                // No deeper than the least score.
                let last = filter.at_most(level.kind, len, least).filter(|_| next.least < least);
                last.filter(|last| last.is_quicker_than(&next)).unwrap_or(next)
            }),
        };
        Some(lower.map_or(Source::All, |level| Source::Level(level, least.max(level.least))))
    }

    /// Drops regions that can't hold a hit.
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

    /// Whether the limits have room for a hit that is known and that the best one's score rules out.
    pub fn is_cut(&self) -> bool {
        self.is_cut && self.kept.count < self.rules.max_hits && self.rules.max_hits > 1
    }

    /// Whether the limit of targets may have left out hits that score enough.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Whether the order of the strands chose among hits of one score, or may have. Where it did not, the query's reverse
    /// complement has the same hits, each on the other strand.
    pub fn is_tied(&self) -> bool {
        self.is_tied
    }

    /// Whether the path of a region's hit is wanted next.
    fn wants(&self, region: &Region) -> bool {
        region.bound >= self.least_on(region.place.target) && self.rules.wants(&self.kept, region.hit_at())
    }

    /// No hit on a target is reported that scores less.
    fn least_on(&self, target: u32) -> i32 {
        let has_more = self.has_more_on_targets && self.ranked_targets.contains(&target);
        if has_more { self.least } else { self.least_ranked }
    }

    /// The regions whose best score is known.
    fn scored(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(|region| region.is_scored)
    }

    /// The first of them, as far as their cells are known.
    fn first_scored(&self) -> Option<usize> {
        let scored = self.regions.iter().enumerate().filter(|(_, region)| region.is_scored);
        let order = |a: &Region, b: &Region| a.key().cmp(&b.key()).then_with(|| a.locus().order(&b.locus()));
        scored.min_by(|(_, a), (_, b)| order(a, b)).map(|(index, _)| index)
    }

    /// The first of that region, if there is one, and the regions of the certain hits that are not reported yet.
    fn first(&self, scored: Option<usize>) -> Option<Region> {
        let certain = self.first_certain().map(|certain| certain.region);
        let scored = scored.map(|index| self.regions[index]);
        certain.into_iter().chain(scored).min_by_key(Region::first_place)
    }
}

/// Letters of a record's query.
pub fn query_len(scope: &Scope, record: u32) -> usize {
    scope.batch.query(scope.layout.query(record, Strand::Forward)).len()
}
