//! Choice and order of a query's reported hits if they are not determined by scores alone.

use super::significance::Least;
use crate::align::candidates::{Meets, PairLayout};
use crate::align::complexity::{mask, unmasked_score};
use crate::align::hits::{HitAt, Ranks, Rules};
use crate::align::identity::{ColumnKinds, is_equal};
use crate::output::writer::list::RankedBy;
use crate::output::writer::part::HitSelection;
use crate::terms::alignment::{Alignment, CODON, QueryResult, Strand};
use crate::terms::alphabet::without_end;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::casts::{to_u32, whole_i32};
use crate::terms::options::{HitLimits, IdentityDefinition, Mask, Options, Rank};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Ranking of the hits that score enough.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    by: RankedBy,
    limits: HitLimits,
    definition: IdentityDefinition,
    /// Residues of the shortest target.
    shortest: usize,
    /// Minimum score that a hit must reach without its low-complexity stretches, if they are masked.
    unmasked: Option<Least>,
    /// Whether queries are scored without their low-complexity stretches.
    is_hard: bool,
}

/// Hits of a query that are not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Hits on more targets than are reported.
    pub limited: bool,
    /// Hits that would be reported without a mask.
    pub masked: u64,
    /// Hits that cover too little of the query to be ranked by identity.
    pub uncovered: bool,
}

/// Whether a hit counts, with its rank value; higher values rank first.
pub enum RankKey {
    /// The hit counts.
    Counts(f64),
    /// The hit counts only with its low-complexity stretches.
    Masked(f64),
    /// The hit does not count. `uncovered` says whether it covers too little of the query to be ranked by identity.
    Not { uncovered: bool },
}

/// Masks of a batch's queries, each computed when first needed. Empty without low-complexity masking.
pub struct QueryMasks(Vec<OnceLock<Vec<bool>>>);

impl Ranking {
    /// `None` if the search already reports the right hits in the right order.
    pub fn new(
        options: &Options,
        by: RankedBy,
        limits: HitLimits,
        (least, shortest): (Least, usize),
    ) -> Option<Ranking> {
        let unmasked = (options.ranked.mask == Mask::Low).then_some(least);
        (unmasked.is_some() || is_needed(by.rank, &limits)).then_some(Ranking {
            by,
            limits,
            definition: options.ranked.identity,
            shortest,
            unmasked,
            is_hard: options.ranked.mask == Mask::Hard,
        })
    }

    /// Ranking of the hits of all parts of the references, which are masked already.
    pub fn of_parts(HitSelection { limits, ranked, identity, .. }: HitSelection) -> Ranking {
        Ranking { by: ranked, limits, definition: identity, shortest: 0, unmasked: None, is_hard: false }
    }

    /// Whether the choice or the order of reported hits depends on more than scores.
    pub fn is_needed(&self) -> bool {
        is_needed(self.by.rank, &self.limits)
    }

    /// Whether ranks can exclude hits of low scores.
    pub fn bounds_scores(&self) -> bool {
        let HitLimits { max_hits, max_targets, identity, .. } = self.limits;
        max_hits.min(max_targets) < usize::MAX || identity > 0.0
    }

    /// Storage for the masks of a batch's queries.
    pub fn masks(&self, batch: &Batch) -> QueryMasks {
        let queries = if self.unmasked.is_some() { batch.queries.len() } else { 0 };
        QueryMasks((0..queries).map(|_| OnceLock::new()).collect())
    }

    /// Rules that find all hits that may be reported.
    pub fn widened(&self, rules: Rules) -> Rules {
        // A hit that does not count leaves room for another hit on its target.
        let each_counts =
            self.limits.identity <= 0.0 && self.limits.coverage <= 0.0 && self.unmasked.is_none();
        let max_per_target = if each_counts { rules.max_per_target } else { usize::MAX };
        Rules { max_hits: usize::MAX, max_targets: usize::MAX, max_per_target, keeps_ties: false, ..rules }
    }

    /// Keeps only the reported hits, in order, as [`Ranking::choose_by`] does. `written` has the unmasked queries.
    pub fn choose(
        &self,
        (batch, written): (&Batch, &Sequences),
        layout: PairLayout,
        found: &mut [QueryResult],
        in_records: bool,
    ) -> Vec<LeftOut> {
        let masks = self.masks(batch);
        let key = |record, hit: &Alignment| {
            let query = layout.query(to_u32(record), hit.strand);
            self.key((batch, written), (query, &masks), hit)
        };
        self.choose_by(key, found, in_records)
    }

    /// Keeps only the reported hits, in order, by the key of each hit of a record. For mates in records, the hit of the
    /// pair stays first if it counts. If it does not, the two are no proper pair. Returns what is left out for each
    /// query.
    pub fn choose_by(
        &self,
        key: impl Fn(usize, &Alignment) -> RankKey + Sync,
        found: &mut [QueryResult],
        in_records: bool,
    ) -> Vec<LeftOut> {
        let choose = |(record, found): (usize, &mut QueryResult)| {
            let first = found.alignments.first().cloned();
            let mut all = Vec::new();
            let mut uncovered = false;
            let is_paired = in_records && found.mated.is_some();
            // The choice of the pair has limited the number of hits.
            let max_hits = if is_paired { usize::MAX } else { self.limits.max_hits };
            let limits = HitLimits { max_hits, ..self.limits };
            let mut of_pair = is_paired.then_some(f64::INFINITY);
            let ranked = std::mem::take(&mut found.alignments).into_iter().filter_map(|hit| {
                let leads = of_pair.take();
                let (key, is_masked) = match key(record, &hit) {
                    RankKey::Counts(key) => (leads.unwrap_or(key), false),
                    RankKey::Masked(key) => (leads.unwrap_or(key), true),
                    RankKey::Not { uncovered: is_uncovered } => {
                        uncovered |= is_uncovered;
                        return None;
                    }
                };
                all.push((key, (hit.target, is_masked)));
                (!is_masked).then_some((key, hit))
            });
            let ranked: Vec<(f64, Alignment)> = ranked.collect();
            let masked = self.masked(all);
            let before = sequences_of(&rules(&limits), ranked.iter().map(|(_, hit)| hit.target));
            found.alignments = within(&limits, ranked, |hit| hit.target);
            let reported = found.alignments.iter().map(|hit| hit.target);
            let limited = exceeds(&rules(&limits), before, reported);
            let is_same = found.alignments.first() == first.as_ref();
            if !is_same {
                // It is still a hit, besides the reported ones.
                found.second = first.map(|first| first.score).max(found.second);
                found.quality = None;
            }
            (is_same, LeftOut { limited, masked, uncovered })
        };
        let (are_same, left_out): (Vec<bool>, Vec<LeftOut>) =
            found.par_iter_mut().enumerate().map(choose).unzip();
        // Mates are adjacent.
        for (mates, are_same) in found.chunks_mut(2).zip(are_same.chunks(2)) {
            let mated = mates.iter_mut().filter_map(|mate| mate.mated.as_mut());
            mated.filter(|_| are_same.contains(&false)).for_each(|mated| mated.insert = None);
        }
        left_out
    }

    /// Whether a hit of a query of `query` residues is below the minimum coverage of ranking by identity.
    fn is_below_floor(&self, query: usize, hit: &Alignment) -> bool {
        let has_floor =
            self.by.rank == Rank::Identity && self.limits.coverage == HitLimits::FLOOR_OF_IDENTITY;
        has_floor && covered(hit, query) < self.limits.coverage
    }

    /// Number of masked hits that the limits admit, among all hits with rank value, target and mask.
    fn masked(&self, all: Vec<(f64, (u32, bool))>) -> u64 {
        if all.iter().all(|(_, (_, is_masked))| !is_masked) {
            return 0;
        }
        let let_in = within(&self.limits, all, |(target, _)| *target);
        let_in.iter().filter(|(_, is_masked)| *is_masked).count() as u64
    }

    /// Rank value of a hit, and whether it counts. Identities are those of the unmasked query.
    fn key(
        &self,
        (batch, written): (&Batch, &Sequences),
        (index, masks): (u32, &QueryMasks),
        hit: &Alignment,
    ) -> RankKey {
        let query = written.get(index as usize);
        let target = batch.targets.once(hit.target);
        let aligned = hit.aligned_residues(batch.target(hit.target));
        let key = self.unmasked_key(&batch.scoring, query, hit, aligned, target.len());
        let RankKey::Counts(number) = key else { return key };
        let is_enough = self.unmasked.is_none_or(|least| {
            let score = masks.unmasked_score(batch, index, hit);
            least.is_enough(score, (query, target), &batch.scoring)
        });
        if is_enough { RankKey::Counts(number) } else { RankKey::Masked(number) }
    }

    /// The same without masks. `aligned` has the codes of the target that the hit aligns.
    pub fn unmasked_key(
        &self,
        scoring: &Scoring,
        query: &[u8],
        hit: &Alignment,
        aligned: &[u8],
        target_len: usize,
    ) -> RankKey {
        // A path over codons has the residues of those that it aligns.
        let of_codons = hit.strand.is_codons().then(|| {
            let codes: Vec<u8> = hit.codons().map(|first| query[(first + CODON - 1) as usize]).collect();
            let path = Alignment { query_start: 0, query_end: to_u32(codes.len()), ..hit.clone() };
            (codes, path)
        });
        let (codes, path) = of_codons.as_ref().map_or((query, hit), |(codes, path)| (&codes[..], path));
        let residues = scoring.residues(query.len());
        let kinds = ColumnKinds::count(scoring, codes, aligned, path);
        let identity = kinds.identity(self.definition, residues, target_len).percent();
        if identity < self.limits.identity || covered(hit, query.len()) < self.limits.coverage {
            return RankKey::Not { uncovered: self.is_below_floor(query.len(), hit) };
        }
        RankKey::Counts(self.by.number(hit.score, identity, (residues, target_len)))
    }

    /// The ranks of hits of a batch.
    pub fn of<'a>(
        &'a self,
        batch: &'a Batch,
        written: &'a Sequences,
        layout: PairLayout,
    ) -> RanksOfBatch<'a> {
        RanksOfBatch { ranking: self, batch, written, layout, masks: self.masks(batch) }
    }

    /// Minimum score of a hit of this identity in percent, for a query in its orientation (docs/algorithm.md, section
    /// 20).
    fn least_score(&self, scoring: &Scoring, query: &[u8], percent: f64) -> i32 {
        let is_of_columns = match self.definition {
            IdentityDefinition::Columns | IdentityDefinition::Blast => true,
            IdentityDefinition::Inner => !scoring.mode.takes_whole_targets(),
            IdentityDefinition::Shorter | IdentityDefinition::Longer => false,
        };
        let covered = match scoring.mode.takes_whole_queries() {
            true => 1.0,
            false => self.limits.coverage / 100.0,
        };
        // In a masked query, equal residues need not score as matches.
        if !is_of_columns || self.is_hard {
            return i32::MIN;
        }
        let gap = scoring.gap_cost(1) as f64;
        let worst = gap.max(-f64::from(scoring.lowest()));
        let equal = query.iter().filter(|&&code| is_equal(scoring, code, code));
        let best = f64::from(equal.map(|&code| scoring.score(code, code)).min().unwrap_or(0));
        // Minus a margin for rounding.
        let share = percent / 100.0 - 1e-9;
        let of_column = best * share - worst * (1.0 - share);
        let len = query.len() as f64;
        // Each equal column uses a residue of the query, which limits the number of columns.
        let columns = if of_column > 0.0 { covered * len } else { len / share };
        match share > 0.0 {
            true => whole_i32((of_column * columns).floor().max(f64::from(i32::MIN / 2))) - 1,
            false => i32::MIN,
        }
    }
}

impl QueryMasks {
    /// The score of a hit without its low-complexity stretches.
    fn unmasked_score(&self, batch: &Batch, query: u32, hit: &Alignment) -> i32 {
        let alphabet = batch.scoring.alphabet;
        let (codes, target) = (batch.query(query), batch.target(hit.target));
        // Neither masks nor limits know ends.
        let codes = &*match batch.scoring.end_bonus {
            0 => Cow::Borrowed(codes),
            _ => Cow::Owned(codes.iter().map(|&code| without_end(code)).collect::<Vec<u8>>()),
        };
        let whole = self.0[query as usize].get_or_init(|| mask(alphabet, codes, 0..codes.len()));
        let of_query = &whole[hit.query_start as usize..hit.query_end as usize];
        let of_target = mask(alphabet, target, hit.target_start as usize..hit.target_end as usize);
        unmasked_score(&batch.scoring, (codes, of_query), (target, &of_target), hit)
    }
}

/// The rules of these limits, for hits of any score.
pub fn rules(limits: &HitLimits) -> Rules {
    let HitLimits { max_hits, max_targets, max_per_target, frames, keeps_ties, .. } = *limits;
    Rules { max_hits, max_targets, max_per_target, frames, keeps_ties, ..Rules::BEST }
}

/// Whether the choice or the order of reported hits depends on more than scores.
fn is_needed(rank: Rank, limits: &HitLimits) -> bool {
    rank != Rank::Raw || limits.identity > 0.0 || limits.coverage > 0.0
}

/// Share of a query of `query` residues that a hit aligns, in percent.
fn covered(hit: &Alignment, query: usize) -> f64 {
    100.0 * f64::from(hit.query_end - hit.query_start) / query.max(1) as f64
}

/// The hits within the limits. `ranked` has hits in the order of scores, each with its rank value. Scores decide which
/// hits of a target count, and rank values decide the rest. Ties are equal rank values.
fn within<T>(limits: &HitLimits, mut ranked: Vec<(f64, T)>, target: impl Fn(&T) -> u32) -> Vec<T> {
    let rules = Rules { min_score: i32::MIN, ..rules(limits) };
    let mut on_sequences: HashMap<u32, usize> = HashMap::new();
    ranked.retain(|(_, hit)| {
        let count = on_sequences.entry(rules.sequence(target(hit))).or_default();
        *count += 1;
        *count <= limits.max_per_target
    });
    // The sort is stable: equal rank values keep the order of scores.
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    // The limits use the index of a rank value among the distinct values as its score.
    let mut place = i32::MAX;
    let mut before = None;
    let mut seen = Vec::with_capacity(ranked.len());
    for (number, hit) in &ranked {
        if before.is_some_and(|before: f64| before.total_cmp(number).is_ne()) {
            place -= 1;
        }
        before = Some(*number);
        seen.push(HitAt { target: target(hit), score: place });
    }
    let (kept, _) = rules.cut(&seen, None);
    let mut kept = kept.into_iter().peekable();
    let mut is_kept = |at: usize| kept.next_if_eq(&at).is_some();
    ranked.into_iter().enumerate().filter_map(|(at, (_, hit))| is_kept(at).then_some(hit)).collect()
}

/// The ranks of a batch's hits, used to bound the scores of reported hits.
pub struct RanksOfBatch<'a> {
    ranking: &'a Ranking,
    batch: &'a Batch,
    written: &'a Sequences,
    layout: PairLayout,
    masks: QueryMasks,
}

impl Ranks for RanksOfBatch<'_> {
    fn places(&self) -> usize {
        let HitLimits { max_hits, max_targets, .. } = self.ranking.limits;
        max_targets.min(max_hits)
    }

    fn has_more_on_targets(&self) -> bool {
        self.ranking.limits.max_per_target > 1
    }

    fn rank(&self, record: u32, hit: &Alignment) -> Option<f64> {
        let query = self.layout.query(record, hit.strand);
        match self.ranking.key((self.batch, self.written), (query, &self.masks), hit) {
            RankKey::Counts(number) => Some(number),
            RankKey::Masked(_) | RankKey::Not { .. } => None,
        }
    }

    fn least_score(&self, record: u32, rank: Option<f64>) -> i32 {
        let Ranking { by, limits, .. } = *self.ranking;
        let by_rank = match (by.rank, rank) {
            (Rank::Identity, Some(identity)) => self.of_identity(record, identity),
            (Rank::Raw, Some(score)) => whole_i32(score),
            (Rank::Score | Rank::Evalue, Some(number)) => self.of_log_evalue(record, -number),
            (_, None) => i32::MIN,
        };
        if limits.identity > 0.0 { by_rank.max(self.of_identity(record, limits.identity)) } else { by_rank }
    }
}

impl RanksOfBatch<'_> {
    /// Minimum score of a hit whose E-value has this logarithm.
    fn of_log_evalue(&self, record: u32, log: f64) -> i32 {
        let Ranking { by, shortest, .. } = *self.ranking;
        // For two sequences of one file, it is unknown which one is shorter and counts as the query.
        let bounds = self.layout.meets == Meets::All;
        let Some(significance) = by.significance.filter(|_| bounds) else { return i32::MIN };
        let rows = self.batch.query(self.layout.query(record, Strand::Forward)).len();
        let query = self.batch.scoring.residues(rows);
        // Minus a margin for rounding.
        significance.lowest_score_by_log(log + 1e-6, query, shortest)
    }

    /// Minimum score of a hit of this identity, on either strand.
    fn of_identity(&self, record: u32, percent: f64) -> i32 {
        let least = |query| self.ranking.least_score(&self.batch.scoring, self.batch.query(query), percent);
        self.layout.queries(record).map(least).min().unwrap_or(i32::MIN)
    }
}

/// Number of different sequences.
fn sequences_of(rules: &Rules, targets: impl Iterator<Item = u32>) -> usize {
    targets.map(|target| rules.sequence(target)).collect::<HashSet<u32>>().len()
}

/// Whether the limit on targets excludes hits, which are on `before` sequences. Ties may admit more sequences than the
/// limit.
fn exceeds(rules: &Rules, before: usize, reported: impl Iterator<Item = u32>) -> bool {
    before > rules.max_targets && before > sequences_of(rules, reported)
}

/// Keeps the hits of a mate that the limits on targets admit, in order. Returns whether there are hits on more targets.
pub fn limit(rules: &Rules, found: &mut QueryResult) -> bool {
    if !rules.counts_targets() {
        return false;
    }
    let targets = |found: &QueryResult| found.alignments.iter().map(|hit| hit.target).collect::<Vec<u32>>();
    let before = sequences_of(rules, targets(found).into_iter());
    // The choice of the pair has limited the number of hits.
    limit_hits(&Rules { max_hits: usize::MAX, ..*rules }, found);
    exceeds(rules, before, targets(found).into_iter())
}

/// Keeps the hits of a query that the limits admit, in order.
pub fn limit_hits(rules: &Rules, found: &mut QueryResult) {
    let seen: Vec<HitAt> =
        found.alignments.iter().map(|&Alignment { target, score, .. }| HitAt { target, score }).collect();
    let unbounded = Rules { min_score: i32::MIN, secondary_ppm: 0, candidates: None, ..*rules };
    let (kept, _) = unbounded.cut(&seen, None);
    let mut at = 0;
    found.alignments.retain(|_| {
        at += 1;
        kept.binary_search(&(at - 1)).is_ok()
    });
}
