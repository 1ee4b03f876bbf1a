//! The search for one record's hits: its regions, what is known of them, and what comes next.

use super::region::{Left, Most, Region, RegionKey, Taken};
use super::{HitAt, Kept, Rules, Scope, Start};
use crate::alignment::{Alignment, Found, Hit, Strand};
use crate::batch::Pair;
use crate::bounds::longest_span;
use crate::candidates::levels::Level;
use crate::candidates::windows::Region as Opened;
use crate::engine::TargetScore;
use crate::error::EngineError;
use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Paths of a record that are asked for at a time, at most, before it is known how far down hits are wanted.
const AHEAD: usize = 16;

/// Regions of a record whose scores are asked for at a time, at least, where bounds tell regions apart: windows, and
/// whole targets.
const WINDOWS: usize = 4;
const BOUNDED: usize = 64;

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
    Paths(SmallVec<[Region; 1]>),
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
    /// Columns that the hits found take.
    taken: SmallVec<[Taken; 1]>,
    /// Regions whose paths are known before they are next.
    ahead: Vec<(Region, Alignment)>,
    /// The region of the last hit and its path in the pair, where copies of the region may have the same.
    walked: Option<(Region, Alignment)>,
    /// Whether a hit is known that scores too little beside the best.
    is_cut: bool,
    /// Whether the order of the strands chose among hits of one score, or may have.
    is_tied: bool,
    /// Whether regions were opened with bounds that tell them apart: most of them need no score.
    is_bounded: bool,
    /// Cells that were scored for the record on levels, or could have been in the time that finding seeds took.
    spent: f64,
    /// The first hit, where it is known and a lower level is wanted.
    first: Option<Box<Region>>,
}

impl RecordSearch {
    /// With regions, and the most that an alignment in each can score.
    pub fn new(scope: &Scope, start: Start, regions: Vec<Opened>) -> RecordSearch {
        let Start { record, source, spent, first } = start;
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
        let (ahead, is_cut) = (Vec::new(), false);
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
            is_ranked: scope.ranks.is_some(),
            has_more_on_targets: scope.ranks.is_some_and(|ranks| ranks.has_more_on_targets()),
            ranks,
            ranked_targets,
            least,
            least_ranked: least,
            taken: SmallVec::new(),
            ahead,
            walked: None,
            is_cut,
            is_tied: false,
            is_bounded: false,
            spent,
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
            match self.need(scope) {
                Need::Paths(regions) => match self.known_path(&regions[0]) {
                    Some(alignment) => self.accept(&regions[0], alignment, scope),
                    None => return Need::Paths(regions),
                },
                need => return need,
            }
        }
    }

    fn need(&mut self, scope: &Scope) -> Need {
        let is_on_level = match self.state {
            SearchState::Whole => return Need::Everything,
            SearchState::Lower(source) => return Need::Regions(source),
            SearchState::Later(_) | SearchState::Done => return Need::Nothing,
            SearchState::OnLevel { .. } => true,
            SearchState::Known => false,
        };
        self.close_targets();
        let best = self.best().copied();
        let mut unknown = self.unknown(best.as_ref(), is_on_level);
        if unknown.is_empty() {
            unknown = self.without_cells(best.as_ref());
        }
        if !unknown.is_empty() {
            return Need::Scores(unknown);
        }
        if let Some(source) = self.lower(best.as_ref(), scope) {
            self.first = self.proven(best, scope).map(Box::new);
            self.end(SearchState::Lower(source));
            return Need::Regions(source);
        }
        if let Some(best) = best
            && self.wants(&best)
        {
            let ties = |region: &Region| region.strand != best.strand && region.bound >= best.bound;
            self.is_tied |= self.regions.iter().any(ties);
            return Need::Paths(self.next_paths(best));
        }
        if self.found.alignments.len() == 1 {
            self.found.second = best.map(|region| region.bound);
        }
        self.end(SearchState::Done);
        Need::Nothing
    }

    /// Forgets the regions, which are of no more use.
    fn end(&mut self, state: SearchState) {
        self.state = state;
        self.regions = Vec::new();
    }

    /// Whether every pair of the record is to be scored.
    pub fn is_whole(&self) -> bool {
        matches!(self.state, SearchState::Whole)
    }

    /// Begins anew with `source`, in a later round.
    pub fn postpone(&mut self, source: Source) {
        self.end(SearchState::Later(source));
    }

    /// Where the search of the record goes on with `source`.
    pub fn start(&self, source: Source) -> Start {
        Start { record: self.record, source, spent: self.spent, first: self.first.clone() }
    }

    /// How the round ended for the search.
    pub fn ended(self) -> Ended {
        match self.state {
            SearchState::Later(source) => Ended::Later(self.start(source)),
            _ => Ended::Found(self.found),
        }
    }

    /// Takes the engine's answer for one of the regions.
    pub fn learn(&mut self, region: usize, hit: Hit, scope: &Scope) -> Result<(), EngineError> {
        self.learned += 1;
        let region = &mut self.regions[region];
        self.spent += scope.batch.cells(&region.pair) as f64;
        region.learn(hit, scope.batch)?;
        if !scope.is_enough(self.record, region.place.target, hit.score) {
            region.forget();
        }
        Ok(())
    }

    /// Keeps those of all `pairs` of the record that hold something.
    pub fn take_everything(
        &mut self,
        scope: &Scope,
        pairs: &[Pair],
        hits: &[Hit],
    ) -> Result<(), EngineError> {
        let Scope { batch, layout, .. } = scope;
        let most = Most::of(scope, self.record);
        for (pair, hit) in pairs.iter().zip(hits) {
            let strand = layout.strand(pair.query);
            let mut region = Region::unscored(scope, strand, *pair, most.in_pair(pair));
            region.learn(*hit, batch)?;
            if scope.is_enough(self.record, pair.target, hit.score) {
                self.regions.push(region);
            }
        }
        self.state = SearchState::Known;
        self.prune();
        // All searches of a batch are held until the last of them is done, so spare room would be held as long.
        self.regions.shrink_to_fit();
        Ok(())
    }

    /// Keeps those short targets that score enough against one of the record's queries. Their cells are looked for when
    /// paths are wanted.
    pub fn take_scores(
        &mut self,
        scope: &Scope,
        query: u32,
        scores: &[TargetScore],
    ) -> Result<(), EngineError> {
        let most = Most::of(scope, self.record);
        let strand = scope.layout.strand(query);
        let region = |&TargetScore { target, score }: &TargetScore| {
            let pair = Pair { query, target, start: 0, own: 0, end: scope.batch.target(target).len() as u32 };
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
        // Without this, what the best score rules out would be held until all targets are scored.
        let best = self.regions[first..].iter().map(|region| region.bound).max().unwrap_or(0);
        let threshold = self.rules.threshold(best);
        let all = self.regions.len();
        self.regions.retain(|region| region.bound >= threshold);
        self.is_cut |= self.regions.len() < all;
        Ok(())
    }

    /// Takes bounds of the scores of short targets against one of the record's queries; a target without one scores at
    /// most `others`. Which scores are needed, and their cells, are asked for later.
    pub fn take_bounds(&mut self, scope: &Scope, query: u32, bounds: &[TargetScore], others: i32) {
        let most = Most::of(scope, self.record);
        let strand = scope.layout.strand(query);
        let longest = scope.batch.targets.longest_short();
        let mut bounds = bounds.iter().peekable();
        for target in scope.layout.targets(self.record, scope.batch.targets.len()) {
            let end = scope.batch.target(target).len();
            let bound = bounds.next_if(|bound| bound.target == target).map_or(others, |bound| bound.score);
            let pair = Pair { query, target, start: 0, own: 0, end: end as u32 };
            let bound = bound.min(most.in_pair(&pair));
            if end <= longest && scope.is_enough(self.record, target, bound) {
                self.regions.push(Region::unscored(scope, strand, pair, bound));
            }
        }
        self.is_bounded = true;
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
            None => filter.below(len, &level, self.spent),
        };
        Some(lower.map_or(Source::All, |level| Source::Level(level, least.max(level.least))))
    }

    /// Drops regions that can't hold a hit.
    pub fn prune(&mut self) {
        if self.found.alignments.is_empty()
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

    /// Notes how a hit is ranked, and with that how far down there may be others that are reported.
    fn rank(&mut self, hit: &Alignment, scope: &Scope) {
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

    /// The path of the region that is next, if it was found with that of an earlier one.
    fn known_path(&mut self, next: &Region) -> Option<Alignment> {
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

    /// The regions whose paths are wanted next: `best`, and the first one of each further target that nothing unknown can
    /// come before. What is left of the targets before it still can.
    fn next_paths(&self, best: Region) -> SmallVec<[Region; 1]> {
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

    /// The regions whose best score is known.
    fn scored(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(|region| region.is_scored)
    }

    /// The first of them, as far as their cells are known.
    fn best(&self) -> Option<&Region> {
        self.scored().min_by(|a, b| a.key().cmp(&b.key()).then_with(|| a.locus().order(&b.locus())))
    }

    /// Where the first regions lack cells, and paths are wanted: these, and others that will be wanted next.
    fn without_cells(&self, best: Option<&Region>) -> Vec<u32> {
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

    /// The unscored regions that could hold what comes next.
    fn unknown(&self, best: Option<&Region>, is_on_level: bool) -> Vec<u32> {
        let needed = match best {
            // Of the last hit only the score is wanted, so that an equal one elsewhere changes nothing.
            Some(best) => best.bound + i32::from(!self.wants(best)),
            // Windows differ in what they can hold. If the most promising ones are scored first, most others need no
            // score.
            None if is_on_level => self.regions.iter().map(|region| region.bound).max().unwrap_or(0),
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
        let at_least = match is_on_level {
            true => WINDOWS.max(self.rules.most().saturating_sub(self.kept.count)),
            false => BOUNDED,
        };
        let most = at_least.max(self.learned);
        if (is_on_level || self.is_bounded) && unknown.len() > most {
            unknown.sort_by_key(|&index| self.regions[index as usize].first_cell());
            unknown.truncate(most);
        }
        unknown
    }

    /// The score of the last hit that will be wanted, as far as scores and bounds tell.
    fn least_expected(&self) -> i32 {
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

    /// Takes the path of the best region's hit, and cuts it, on a circle with its images, out of the regions.
    fn accept(&mut self, region: &Region, path: Alignment, scope: &Scope) {
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
        if self.found.alignments.len() == 2 {
            self.found.second = Some(score);
        }
        let most = self.rules.most();
        if self.found.alignments.len() == most && most > 1 {
            self.end(SearchState::Done);
        }
        self.prune();
    }

    /// Cuts the columns that are taken, from this number on, out of the regions.
    fn cut(&mut self, new: usize, query: u32, scope: &Scope) {
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

    /// Drops the regions of targets that have no room for a hit any more.
    fn close_targets(&mut self) {
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

/// Letters of a record's query.
pub fn query_len(scope: &Scope, record: u32) -> usize {
    scope.batch.query(scope.layout.query(record, Strand::Forward)).len()
}
