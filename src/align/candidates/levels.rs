//! Levels of the seed filter, and their costs.
//!
//! On a *level* the query is cut into seeds of one length. From a certain score on ([`super::seed_scores`]) every
//! alignment contains such a seed, so the windows around the seeds' positions contain all alignments of at least this
//! score. The level tells nothing about lower scores. Shorter seeds cover lower scores, but have more chance matches.

mod counting;
mod own_copies;

use super::FilterRequest;
use super::ambiguous::{QueryShape, TargetRuns, allowance, columns_of};
use super::estimate::LONG;
use super::seed_counts::SeedCounts;
use super::seed_scores::{MOST_EDITS, SCANNED_SEEDS, SeedScores};
use crate::terms::alphabet::BASES;
use crate::terms::batch::Sequences;
use crate::terms::bounds::{SeedAlphabet, twice_to_spoil};
use crate::terms::casts::{to_i32, to_i64, to_u32, whole_i32};
use crate::terms::scoring::{GapPiece, Scoring};
use own_copies::{OwnCopies, Owner, own_copy};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, RwLock};

/// Maximum length of a seed that is looked up exactly, in bases.
const MOST_SEED: usize = 32;
/// After a level that found nothing, the next level's score is at most this share of it, in tenths.
const NEXT_TENTHS: i32 = 9;
/// A scan takes its time whatever it finds. So after a scan that found nothing, the next scan uses the level with the
/// lowest score among those within this factor of the next level's cost.
const SCANNED_LOWER: f64 = 1.25;
/// A level pays if it keeps at most one in this many columns, and if finding its seeds costs at most one in this many
/// cells.
const PAYS: f64 = 3.0;
/// The first level covers all alignments of at least this share of the maximum score, if any level does.
const FIRST_SHARE: f64 = 0.8;
/// Maximum number of chance windows of a query on the first level.
const MOST_BY_CHANCE: f64 = 8.0;
/// Share of a full search's cost that all levels of a query may cost together: one of two strands, and a little for the
/// seeds. A query that exceeds it gets a full search, so the filter adds at most this share to the cost of a full
/// search.
const MOST_SHARE: f64 = 0.55;
/// Cost of a window that is found but not scored, relative to a scored window.
const UNSCORED: f64 = 0.1;
/// Seeds are counted if the expected cost is at most this many times that of looking for a single seed. If a part of
/// the query also occurs elsewhere, single seeds lead to windows there, and counts do not.
const COUNTED_MORE: f64 = 1.25;
/// Number of query shapes whose levels are cached.
const KEPT_SHAPES: usize = 1 << 12;
/// Number of levels that count seeds which are cached.
const KEPT_COUNTED: usize = 1 << 14;
/// Maximum length of a query whose levels that count seeds are each chosen by cost. Longer queries seldom have a length and a score in
/// common, so queries of about the same length and score share the choice.
const MOST_CHOSEN: usize = 1000;
/// Number of leading bits of a length, and of steps of a score, that count as about the same.
const LENGTH_BITS: u32 = 6;
const SCORE_STEPS: i64 = 1024;

thread_local! {
    static OWN_LEVELS: RefCell<OwnCopies<QueryShape, Rc<[Level]>>> = const { RefCell::new(OwnCopies::new()) };
    static OWN_COUNTED: RefCell<OwnCopies<CountedKey, Option<Level>>> = const { RefCell::new(OwnCopies::new()) };
}

/// The shape of a query, the score that a level covers, and the maximum length of a seed.
type CountedKey = (QueryShape, i32, usize);

/// How seeds are located.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeedKind {
    /// By an index of the targets' k-mers, for exact seeds.
    Index,
    /// By a scan of all targets, for seeds with edits.
    Scan,
}

/// Costs of the filter's steps, as the number of cells that the engine scores in the same time. The constants were
/// measured on one core with AVX-512.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterCosts {
    /// Examining one position of the index.
    pub place: f64,
    /// Counting one position of the index, and clearing one bin.
    pub counted: f64,
    pub bin: f64,
    /// Sorting one position of the index by its diagonal.
    pub sorted: f64,
    /// Processing a bin that has its share of a count: it is sorted, and its neighbors are examined.
    pub hot: f64,
    /// Comparing one base without gaps.
    pub compared: f64,
    /// Scanning one target base for one seed base.
    pub scanned: f64,
    /// Passing over one target base in a scan, independent of the number of seeds: packing and sending.
    pub pass: f64,
    /// Processing one end that a scan finds. One thread does this while the engine waits.
    pub end: f64,
    /// Indexing one target base.
    pub indexed: f64,
}

/// Cells scored per nanosecond: by a thread for each byte of its vectors, by the specification engine, and by a GPU.
const BYTE_CELLS: f64 = 0.24;
const PLAIN_CELLS: f64 = 0.2;
const GPU_CELLS: f64 = 1500.0;
/// Bytes of an AVX-512 vector.
const WIDE: usize = 64;

impl FilterCosts {
    /// Costs if `threads` cores score with vectors of `bytes` bytes.
    pub fn on_cores(bytes: usize, threads: usize) -> FilterCosts {
        FilterCosts::of(bytes as f64 * BYTE_CELLS * threads as f64, threads)
    }

    /// Costs if GPUs score, with `threads` threads on the host.
    pub fn on_gpus(cards: usize, threads: usize) -> FilterCosts {
        FilterCosts::of(GPU_CELLS * cards as f64, threads)
    }

    /// Costs if the specification engine scores.
    pub fn on_plain(threads: usize) -> FilterCosts {
        FilterCosts::of(PLAIN_CELLS * threads as f64, threads)
    }

    /// Costs if the engine scores the given number of cells per nanosecond, with `threads` threads on the host.
    pub fn of(cells_a_nanosecond: f64, threads: usize) -> FilterCosts {
        let on_all = |nanoseconds: f64| nanoseconds * cells_a_nanosecond / threads.max(1) as f64;
        FilterCosts {
            place: on_all(20.0),
            counted: on_all(2.0),
            bin: on_all(0.1),
            sorted: on_all(12.0),
            // Chosen so that short reads gain from counts. A bin alone costs less, but its cache misses slow the steps
            // after it.
            hot: on_all(100.0),
            compared: on_all(0.7),
            scanned: 1.0 / 18.0,
            pass: 0.5 * cells_a_nanosecond,
            end: 300.0 * cells_a_nanosecond,
            indexed: on_all(60.0),
        }
    }
}

impl Default for FilterCosts {
    fn default() -> FilterCosts {
        FilterCosts::on_cores(WIDE, 1)
    }
}

/// Guarantee about the alignments that reach the level's score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelGuarantee {
    /// Each contains a seed.
    Held(SeedScores),
    /// Each contains seeds of one segment on nearby diagonals.
    Counted(SeedCounts),
}

/// Seeds of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub kind: SeedKind,
    /// Length of a seed, in bases.
    pub seed: usize,
    /// Maximum number of edits with which a seed is searched.
    pub edits: usize,
    /// Every alignment of at least this score is contained in a window.
    pub least: i32,
    /// Part of that score, and of every bound of the level, that makes up for residues that are not bases
    /// (`ambiguous.rs`).
    pub allowance: i32,
    pub known: LevelGuarantee,
    /// Expected number of chance matches of seeds in random bases.
    pub by_chance: f64,
    /// Approximate number of columns of all windows.
    pub columns: f64,
    /// Approximate cost of finding the seeds, in cells.
    pub seeding: f64,
}

impl Level {
    /// Whether this level is faster to search.
    pub fn is_quicker_than(&self, other: &Level) -> bool {
        self.by_chance < other.by_chance
    }

    /// Maximum score of an alignment that contains `held` seeds, if the level requires only one seed.
    pub fn most_score(&self, held: u32) -> i32 {
        match self.known {
            LevelGuarantee::Held(scores) => scores.most_score(held as usize).saturating_add(self.allowance),
            LevelGuarantee::Counted(_) => i32::MAX,
        }
    }

    /// Cost of the windows if only scores of `least` or more count, in scored windows.
    fn cost(&self, least: i32) -> f64 {
        // Whether an alignment with a single seed can reach this score.
        let scored = self.most_score(1) >= least;
        1.0 + self.by_chance * if scored { 1.0 } else { UNSCORED }
    }

    /// Approximate cost of a query of `len` bases if only scores of `least` or more count, in cells.
    fn cells_for(&self, len: usize, least: i32) -> f64 {
        self.seeding + self.columns * len as f64 * self.cost(least) / (1.0 + self.by_chance)
    }

    /// Approximate cost of a query of `len` bases on this level, in cells.
    pub fn cells(&self, len: usize) -> f64 {
        self.seeding + self.columns * len as f64
    }
}

/// Input for the choice of levels.
#[derive(Clone, Debug)]
pub struct Field {
    /// Number of bases of all targets.
    pub letters: usize,
    pub strands: u32,
    pub scoring: Arc<Scoring>,
    pub costs: FilterCosts,
    /// Length of the k-mers that seeds are looked up by, in bases. Shorter seeds are looked up as a whole.
    pub kmer: u32,
    /// Length of the shortest seed that can be looked up, in bases.
    pub least_seed: usize,
    /// Number of k-mers by which a seed is looked up.
    pub step: u32,
    /// [`SeedAlphabet::size`].
    pub alphabet: f64,
    /// Runs of residues that are not bases in the targets, if pairs with such residues may lose less than two bases of
    /// different classes.
    pub runs: Option<Arc<TargetRuns>>,
}

impl Field {
    /// Input for queries on `strands` strands and seeds of any length.
    pub fn new(targets: &Sequences, scoring: &Arc<Scoring>, strands: u32) -> Field {
        let (letters, scoring) = (targets.letters(), Arc::clone(scoring));
        let alphabet = SeedAlphabet::of(&scoring);
        let runs = TargetRuns::of(targets.codes(), &scoring).map(Arc::new);
        let alphabet = alphabet.map_or(f64::from(BASES), |alphabet| alphabet.size());
        let costs = FilterCosts::default();
        Field { letters, strands, scoring, costs, kmer: 0, least_seed: 0, step: 1, alphabet, runs }
    }

    /// Columns of a full search.
    pub fn columns(&self) -> f64 {
        self.letters as f64 * f64::from(self.strands)
    }

    /// Cells of a full search for a query of `len` bases.
    pub fn whole(&self, len: usize) -> f64 {
        self.columns() * len as f64
    }

    /// Cost of one scan for each of `records` that share it, independent of their seeds, in cells.
    pub fn pass(&self, records: usize) -> f64 {
        self.letters as f64 * self.costs.pass / records.max(1) as f64
    }

    fn perfect(&self, len: usize) -> f64 {
        self.scoring.most_score(len) as f64
    }

    /// The end bonuses of a query of `len` bases, at most.
    pub fn bonuses(&self, len: usize) -> i32 {
        to_i32(to_i64(len.min(2)) * i64::from(self.scoring.end_bonus))
    }

    /// Cost of finding a query's seeds, in cells. `places` is the expected number of chance matches.
    fn seeding(&self, kind: SeedKind, len: usize, seed: usize, places: f64) -> f64 {
        let seeds = (len / seed) as f64;
        match kind {
            SeedKind::Index => {
                let by_chance = self.columns() / self.alphabet.powi(to_i32(self.kmer.min(to_u32(seed))));
                // A sampled index has one in `step` positions for each of the `step` k-mers of a seed.
                seeds * (f64::from(self.strands * self.step) + by_chance) * self.costs.place
            }
            SeedKind::Scan => {
                seeds * seed as f64 * self.scanned() * self.costs.scanned + places * self.costs.end
            }
        }
    }

    /// Number of bases that a scan reads on all strands, including overlaps of its chunks and partly filled vectors of
    /// a short text.
    fn scanned(&self) -> f64 {
        const LEAST: f64 = (512 * 128) as f64;
        (self.letters as f64 * 1.1).max(LEAST) * f64::from(self.strands)
    }

    /// [`Level::allowance`] of a query on a level of seeds of `seed` bases with `edits` edits, for alignments whose
    /// own score is at least `score`.
    pub fn allowance(&self, (query, score): (QueryShape, i32), seed: (usize, usize)) -> Option<i32> {
        let bonuses = self.bonuses(query.len);
        let Some(runs) = &self.runs else { return Some(bonuses) };
        let of_runs =
            allowance(query, (runs, columns_of(query.len, score, &self.scoring)), seed, &self.scoring);
        of_runs.map(|of_runs| of_runs.saturating_add(bonuses))
    }

    /// The guarantee for a query with its runs of residues that are not bases, and those of the targets.
    fn with_runs(&self, query: QueryShape, counts: SeedCounts) -> SeedCounts {
        let moved = || {
            let spoil = twice_to_spoil(counts.seed(), 0, &self.scoring)?;
            self.runs.as_ref()?.twice_moved(query, (counts.seed(), spoil))
        };
        moved().map_or(counts, |moved| counts.with_runs(moved))
    }

    /// Stretches of the concatenated targets where each query of `len` bases is searched, since its seeds on `level`
    /// prove nothing about alignments there.
    pub fn dense_stretches(&self, len: usize, level: &Level) -> Arc<Vec<Range<usize>>> {
        let Some(runs) = &self.runs else { return Arc::default() };
        let score = match level.known {
            LevelGuarantee::Held(scores) => scores.least_score(),
            LevelGuarantee::Counted(_) => level.least.saturating_sub(self.bonuses(len)),
        };
        let columns = columns_of(len, score, &self.scoring);
        runs.dense_stretches(columns, (level.seed, level.edits), &self.scoring)
    }

    fn level(&self, kind: SeedKind, query: QueryShape, (seed, edits): (usize, usize)) -> Option<Level> {
        let len = query.len;
        let scores = SeedScores::new(len, seed, edits, &self.scoring)?;
        let allowance = self.allowance((query, scores.least_score()), (seed, edits))?;
        let least = scores.least_score().saturating_add(allowance);
        if f64::from(least) > self.perfect(len) {
            return None;
        }
        let window = self.window(len, least);
        // A base replaced by one of 3 others, deleted, or preceded by one of 4: about 8 ways for each position.
        let ways: f64 = (1..=edits).map(|edit| 8.0 * seed as f64 / edit as f64).product();
        let by_chance = (len / seed) as f64 * self.columns() * ways / self.alphabet.powi(to_i32(seed));
        let columns = (1.0 + by_chance) * window;
        let seeding = self.seeding(kind, len, seed, by_chance);
        let pays = self.pays(len, (columns, seeding));
        let known = LevelGuarantee::Held(scores);
        pays.then_some(Level { kind, seed, edits, least, allowance, known, by_chance, columns, seeding })
    }

    /// Columns of a window that can contain an alignment of score `least` for a query of `len` bases.
    pub fn window(&self, len: usize, least: i32) -> f64 {
        let slack = |piece: GapPiece| (self.perfect(len) - f64::from(least) - f64::from(piece.open)).max(0.0);
        let longest = |piece: GapPiece| slack(piece) / f64::from(piece.extend);
        len as f64 + 2.0 * self.scoring.gaps().pieces().map(longest).fold(0.0, f64::max)
    }

    /// Whether a level with these columns and this seeding cost pays for a query of `len` bases.
    fn pays(&self, len: usize, (columns, seeding): (f64, f64)) -> bool {
        columns * PAYS <= self.columns() && seeding * PAYS <= self.whole(len)
    }

    /// Maximum number of cells that the levels of a query of `len` bases may cost together.
    pub fn most(&self, len: usize) -> f64 {
        self.whole(len) * MOST_SHARE
    }
}

/// The levels of queries by their length and their runs of residues that are not bases.
#[derive(Debug)]
pub struct Levels {
    pub kind: SeedKind,
    pub field: Field,
    owner: Owner,
    /// Cached levels, those with fewer chance windows and higher scores first.
    kept: RwLock<HashMap<QueryShape, Arc<[Level]>>>,
    /// Cached levels that count seeds.
    kept_counted: RwLock<HashMap<CountedKey, Option<Level>>>,
}

impl Levels {
    pub fn new(kind: SeedKind, field: Field) -> Levels {
        let (kept, kept_counted) = (RwLock::default(), RwLock::default());
        Levels { kind, field, owner: Owner::next(), kept, kept_counted }
    }

    /// Replaces the costs, and with them the choice of levels.
    pub fn set_costs(&mut self, costs: FilterCosts) {
        *self = Levels::new(self.kind, Field { costs, ..self.field.clone() });
    }

    /// The level to begin with for a query. `None` if no level pays.
    pub fn first(&self, query: QueryShape) -> Option<Level> {
        let levels = self.levels(query);
        let enough = whole_i32(self.field.perfect(query.len) * FIRST_SHARE);
        let able = || levels.iter().filter(|level| level.least <= enough);
        let few = able().rev().find(|level| level.by_chance <= MOST_BY_CHANCE);
        let level = few.or_else(|| able().next()).copied();
        self.or_counted(level, (query, enough)).or(levels.last().copied())
    }

    /// Returns a level that counts seeds if it covers all scores of `least` or more and costs hardly more, or else
    /// `level`.
    fn or_counted(&self, level: Option<Level>, (query, least): (QueryShape, i32)) -> Option<Level> {
        let len = query.len;
        let is_long = len >= LONG * self.field.kmer as usize;
        let is_quick = |level: &Level| !is_long && level.by_chance <= MOST_BY_CHANCE;
        if self.kind == SeedKind::Scan || level.as_ref().is_some_and(is_quick) {
            return level;
        }
        let counted = self.counted(query, least, self.field.kmer as usize);
        let most = level.map_or(f64::INFINITY, |level| level.cells_for(len, least) * COUNTED_MORE);
        counted.filter(|counted| counted.cells(len) <= most).or(level)
    }

    /// The level that counts seeds of at most `most` bases, for all scores of `least` or more. `None` if none pays.
    pub fn counted(&self, query: QueryShape, least: i32, most: usize) -> Option<Level> {
        let key = (self.shape(query), least, most);
        let slot = query.len ^ (least.unsigned_abs() as usize).wrapping_mul(31);
        own_copy(&OWN_COUNTED, (self.owner, key, slot), || self.shared_counted(key, query))
    }

    fn shared_counted(&self, key: CountedKey, query: QueryShape) -> Option<Level> {
        let (_, least, most) = key;
        if let Some(level) = self.kept_counted.read().ok().and_then(|kept| kept.get(&key).copied()) {
            return level;
        }
        let (rounded, rounded_least) = self.rounded(query, least);
        if (rounded, rounded_least) != (query, least) {
            let chosen = self.counted(rounded, rounded_least, most);
            let level = chosen.and_then(|other| counting::with_shape_of(&self.field, (query, least), &other));
            return level.or_else(|| counting::level(&self.field, (query, least), most));
        }
        let level = counting::level(&self.field, (query, least), most);
        if let Ok(mut kept) = self.kept_counted.write() {
            if kept.len() >= KEPT_COUNTED {
                kept.clear();
            }
            kept.insert(key, level);
        }
        level
    }

    /// The query and the score whose level has the seeds and segments of this query's level: a query that is a little shorter,
    /// and a score that is a little lower in proportion.
    fn rounded(&self, query: QueryShape, least: i32) -> (QueryShape, i32) {
        let len = query.len;
        // Runs of other residues may not fit a shorter query.
        if len <= MOST_CHOSEN || query != len.into() {
            return (query, least);
        }
        let dropped = (len.ilog2() + 1).saturating_sub(LENGTH_BITS);
        let shorter = QueryShape::from(len >> dropped << dropped);
        let [perfect, of_shorter] = [len, shorter.len].map(|len| self.field.scoring.most_score(len).max(1));
        let steps = (i64::from(least) * SCORE_STEPS).div_euclid(perfect);
        (shorter, to_i32((steps * of_shorter + SCORE_STEPS - 1).div_euclid(SCORE_STEPS)))
    }

    /// The properties of a query that its levels depend on: without cheap residues, its length alone.
    fn shape(&self, query: QueryShape) -> QueryShape {
        if self.field.runs.is_some() { query } else { query.len.into() }
    }

    /// The level for the lowest scores among the levels that cost hardly more than `level`.
    fn lowered(&self, levels: &[Level], len: usize, level: Level) -> Level {
        let most = level.cells(len) * SCANNED_LOWER;
        let lower = |other: &&Level| other.least <= level.least && other.cells(len) <= most;
        match self.kind {
            SeedKind::Index => level,
            SeedKind::Scan => levels.iter().rev().find(lower).copied().unwrap_or(level),
        }
    }

    /// The fastest level that covers all alignments of score `most` or more. `None` if no level covers them or pays.
    pub fn at_most(&self, query: QueryShape, most: i32) -> Option<Level> {
        let levels = self.levels(query);
        let able = levels.iter().filter(|level| level.least <= most);
        let quickest = able.min_by(|a, b| a.cost(most).total_cmp(&b.cost(most))).copied();
        self.or_counted(quickest, (query, most))
    }

    /// The next level after one that found nothing and cost `spent` cells in all. `None` if no level pays.
    pub fn below(&self, query: QueryShape, level: &Level, spent: f64) -> Option<Level> {
        let (len, levels) = (query.len, self.levels(query));
        let least = to_i32(i64::from(level.least) * i64::from(NEXT_TENTHS) / 10);
        let next = levels.iter().find(|other| other.least <= least);
        let next = self.or_counted(next.copied(), (query, least));
        let last = || levels.last().filter(|last| last.least < level.least).copied();
        let next = next.or_else(last).map(|level| self.lowered(&levels, len, level))?;
        // An index predicts the cost of a level before it is spent.
        let pays = self.kind == SeedKind::Index || next.cells(len) <= self.field.most(len) - spent;
        pays.then_some(next)
    }

    /// Maximum number of cells that the wanted level may cost for a query of `len` bases, including its windows.
    pub fn most(&self, len: usize, wanted: &FilterRequest) -> f64 {
        // No full search follows the last level.
        if wanted.is_last { self.field.whole(len) } else { self.field.most(len) - wanted.spent }
    }

    /// Approximate cost of a query of `len` bases on its first level, or of its full search if no level pays, in cells.
    pub fn cells(&self, len: usize) -> f64 {
        self.first(len.into()).map_or(self.field.whole(len), |level| level.cells(len))
    }

    /// The levels that pay, longer seeds and higher scores first.
    fn levels(&self, query: QueryShape) -> Rc<[Level]> {
        let query = self.shape(query);
        own_copy(&OWN_LEVELS, (self.owner, query, query.len), || Rc::from(&*self.shared_levels(query)))
    }

    fn shared_levels(&self, query: QueryShape) -> Arc<[Level]> {
        let len = query.len;
        if let Some(levels) = self.kept.read().ok().and_then(|kept| kept.get(&query).cloned()) {
            return levels;
        }
        let level = |kind| self.field.level(self.kind, query, kind);
        let mut all: Vec<Level> = match self.kind {
            SeedKind::Index => {
                let seeds = self.field.least_seed..=MOST_SEED.min(len);
                seeds.filter_map(|seed| level((seed, 0))).collect()
            }
            SeedKind::Scan => SCANNED_SEEDS
                .filter(|&seed| seed <= len)
                .flat_map(|seed| (0..=MOST_EDITS).map(move |edits| (seed, edits)))
                .filter_map(level)
                .collect(),
        };
        all.sort_by(|a, b| a.by_chance.total_cmp(&b.by_chance).then(a.least.cmp(&b.least)));
        let mut levels: Vec<Level> = Vec::new();
        for level in all {
            if levels.last().is_none_or(|quicker| level.least < quicker.least) {
                levels.push(level);
            }
        }
        let levels: Arc<[Level]> = levels.into();
        if let Ok(mut kept) = self.kept.write() {
            if kept.len() >= KEPT_SHAPES {
                kept.clear();
            }
            kept.insert(query, Arc::clone(&levels));
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_queries_of_similar_lengths_share_the_choice() {
        let targets: Sequences = [&vec![0u8; 5_000_000][..]].into_iter().collect();
        let two_pieces = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap();
        for scoring in [Scoring::dna(2, 4, 4, 2), Scoring::dna(1, 4, 6, 1), two_pieces] {
            let scoring = Arc::new(scoring);
            let field = Field { kmer: 12, least_seed: 6, ..Field::new(&targets, &scoring, 2) };
            let levels = Levels::new(SeedKind::Index, field.clone());
            let (mut worse, mut all) = (0.0, 0);
            for len in [MOST_CHOSEN, MOST_CHOSEN + 1, 1023, 1024, 4999, 5000, 5017, 14_999, 70_001] {
                for percent in (40..100).step_by(3) {
                    let (query, least) = (len.into(), to_i32(scoring.most_score(len) * percent / 100));
                    let (rounded, rounded_least) = levels.rounded(query, least);
                    assert_eq!(levels.rounded(rounded, rounded_least), (rounded, rounded_least));
                    match (counting::level(&field, (query, least), 12), levels.counted(query, least, 12)) {
                        (Some(own), Some(shared)) => {
                            assert_eq!((shared.least, own.least), (least, least));
                            worse += shared.cells(len) / own.cells(len) - 1.0;
                            all += 1;
                        }
                        (own, shared) => assert_eq!(own, shared, "{len} bases, {percent} %"),
                    }
                }
            }
            assert!(all > 60 && worse < 0.05 * f64::from(all), "{worse} in {all}");
        }
    }
}
