//! How far down a query is searched by its seeds: levels, and what they cost.
//!
//! On a *level* the query is cut into seeds of some length. From a certain score on ([`super::seed_scores`]) every alignment
//! holds such a seed, so the windows around the places of the seeds hold all that score so much, and nothing is known
//! of what scores less. Shorter seeds reach down to lower scores, and stand in more places by chance.

use super::estimate::LONG;
use super::seed_counts::SeedCounts;
use super::seed_scores::SeedScores;
use super::{Wanted, counting};
use crate::terms::alphabet::BASES;
use crate::terms::batch::Sequences;
use crate::terms::bounds::SeedAlphabet;
use crate::terms::casts::{to_i32, to_u32, whole_i32};
use crate::terms::scoring::Scoring;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// Letters of a seed that is looked up as it is, at most, and of one that is searched with edits, at least and at
/// most; and the most edits of it.
const MOST_SEED: usize = 32;
const SCANNED_SEEDS: std::ops::RangeInclusive<usize> = 10..=64;
const MOST_EDITS: usize = 3;
/// Where nothing was found, the next level has at most this share of the score, in tenths.
const NEXT_TENTHS: i32 = 9;
/// A scan takes its time whatever it finds. So where one has found nothing, the next goes for the lowest scores that it
/// reaches in this many times the cells.
const SCANNED_LOWER: f64 = 1.25;
/// A level pays if it leaves one of so many columns, and finds its places in one of so many of the cells.
const PAYS: f64 = 3.0;
/// The first level leaves this share of what a perfect query could score to edits, unless a longer seed
/// would stand nowhere by chance.
const FIRST_SHARE: f64 = 0.8;
/// Windows of the first level that a query has by chance, at most.
const MOST_BY_CHANCE: f64 = 8.0;
/// The share of a full search that all levels of a query may cost together: one of two strands in whole, and a little for its
/// seeds. What goes beyond it is searched in full: so the filter costs at most so much more than no filter.
const MOST_SHARE: f64 = 0.55;
/// What a window costs that is found and not scored, in windows that are scored.
const UNSCORED: f64 = 0.1;
/// Seeds are counted where that is expected to take at most so many times as much as looking for one: where a stretch of the
/// query stands elsewhere as well, single seeds lead to windows there, and counts don't.
const COUNTED_MORE: f64 = 1.25;
/// Lengths of queries whose levels are kept.
const KEPT_LENGTHS: usize = 1 << 12;

/// What finds the places of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeedKind {
    /// An index of the targets' k-mers, for seeds as they are.
    Index,
    /// A scan of all targets, for seeds with edits.
    Scan,
}

/// What the steps of a filter take, in cells that the engine scores in the same time. The constants were measured on one
/// core with AVX-512.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// A place of the index that is looked at.
    pub place: f64,
    /// A place of the index that is counted, and a bin whose count is made 0.
    pub counted: f64,
    pub bin: f64,
    /// A bin with its share of a count: it is sorted, and those beside it are looked at.
    pub hot: f64,
    /// A letter that is compared where no gap is looked for.
    pub compared: f64,
    /// A letter of a target that is scanned for a letter of a seed.
    pub scanned: f64,
    /// A letter of a target that a scan goes through, whatever number of seeds it is for: packing and sending.
    pub pass: f64,
    /// An end that a scan finds. One thread takes them, while the engine waits.
    pub end: f64,
    /// A letter of a target that the index takes up.
    pub indexed: f64,
}

/// Cells that are scored in a nanosecond: by a thread for each byte of its vectors, by the specification engine, and by a
/// GPU.
const BYTE_CELLS: f64 = 0.24;
const PLAIN_CELLS: f64 = 0.2;
const GPU_CELLS: f64 = 1500.0;
/// Bytes of a vector of AVX-512.
const WIDE: usize = 64;

impl Costs {
    /// Where `threads` cores score, with vectors of so many bytes.
    pub fn on_cores(bytes: usize, threads: usize) -> Costs {
        Costs::of(bytes as f64 * BYTE_CELLS * threads as f64, threads)
    }

    /// Where GPUs score, beside `threads` threads of the host.
    pub fn on_gpus(cards: usize, threads: usize) -> Costs {
        Costs::of(GPU_CELLS * cards as f64, threads)
    }

    /// Where the specification engine scores.
    pub fn on_plain(threads: usize) -> Costs {
        Costs::of(PLAIN_CELLS * threads as f64, threads)
    }

    /// Where the engine scores so many cells in a nanosecond, beside `threads` threads of the host.
    pub fn of(cells_a_nanosecond: f64, threads: usize) -> Costs {
        let on_all = |nanoseconds: f64| nanoseconds * cells_a_nanosecond / threads.max(1) as f64;
        Costs {
            place: on_all(20.0),
            counted: on_all(2.0),
            bin: on_all(0.1),
            // As much as lets short reads gain by it: a bin alone takes less, but misses of caches slow what follows.
            hot: on_all(100.0),
            compared: on_all(0.7),
            scanned: 1.0 / 18.0,
            pass: 0.5 * cells_a_nanosecond,
            end: 300.0 * cells_a_nanosecond,
            indexed: on_all(60.0),
        }
    }
}

impl Default for Costs {
    fn default() -> Costs {
        Costs::on_cores(WIDE, 1)
    }
}

/// What is known of alignments that score enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// Each holds a seed.
    Held(SeedScores),
    /// Each holds seeds of one segment on near diagonals.
    Counted(SeedCounts),
}

/// Seeds of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub kind: SeedKind,
    /// Letters of a seed.
    pub seed: usize,
    /// Most edits with which a seed is searched.
    pub edits: usize,
    /// Every alignment of at least this score lies in a window.
    pub least: i32,
    pub known: Known,
    /// Places where a seed stands by chance, if letters are random.
    pub by_chance: f64,
    /// Columns of all windows, about.
    pub columns: f64,
    /// Cells that could be scored while the places are found, about.
    pub seeding: f64,
}

impl Level {
    /// Whether this one is looked through more quickly.
    pub fn is_quicker_than(&self, other: &Level) -> bool {
        self.by_chance < other.by_chance
    }

    /// What an alignment does not exceed that holds so many seeds on a level where one is enough.
    pub fn most_score(&self, held: u32) -> i32 {
        match self.known {
            Known::Held(scores) => scores.most_score(held as usize),
            Known::Counted(_) => i32::MAX,
        }
    }

    /// What the windows cost where only scores of `least` or more count, in windows that are scored.
    fn cost(&self, least: i32) -> f64 {
        // With one seed by chance, can it score so much?
        let scored = self.most_score(1) >= least;
        1.0 + self.by_chance * if scored { 1.0 } else { UNSCORED }
    }

    /// Cells that a query of `len` letters takes where only scores of `least` or more count, about.
    fn cells_for(&self, len: usize, least: i32) -> f64 {
        self.seeding + self.columns * len as f64 * self.cost(least) / (1.0 + self.by_chance)
    }

    /// Cells that a query of `len` letters takes on this level, about.
    pub fn cells(&self, len: usize) -> f64 {
        self.seeding + self.columns * len as f64
    }
}

/// What levels are chosen for.
#[derive(Clone, Debug)]
pub struct Field {
    /// Letters of all targets.
    pub letters: usize,
    pub strands: u32,
    pub scoring: Arc<Scoring>,
    pub costs: Costs,
    /// Letters of the k-mers that seeds are looked up by, where they have so many.
    pub kmer: u32,
    /// Letters of the shortest seed that can be looked up.
    pub least_seed: usize,
    /// [`SeedAlphabet::size`].
    pub alphabet: f64,
}

impl Field {
    /// For queries on so many strands, and seeds of any length.
    pub fn new(targets: &Sequences, scoring: &Arc<Scoring>, strands: u32) -> Field {
        let (letters, scoring) = (targets.letters(), Arc::clone(scoring));
        let alphabet = SeedAlphabet::of(&scoring).map_or(f64::from(BASES), |alphabet| alphabet.size());
        Field { letters, strands, scoring, costs: Costs::default(), kmer: 0, least_seed: 0, alphabet }
    }

    /// Columns of a full search.
    pub fn columns(&self) -> f64 {
        self.letters as f64 * f64::from(self.strands)
    }

    /// Cells of a full search for a query of `len` letters.
    pub fn whole(&self, len: usize) -> f64 {
        self.columns() * len as f64
    }

    /// Cells that a scan takes for each of `records`, whatever their seeds are.
    pub fn pass(&self, records: usize) -> f64 {
        self.letters as f64 * self.costs.pass / records.max(1) as f64
    }

    fn perfect(&self, len: usize) -> f64 {
        f64::from(self.scoring.max_potential()) * len as f64
    }

    /// Cells that finding the places of a query's seeds takes, of which there are so many by chance.
    fn seeding(&self, kind: SeedKind, len: usize, seed: usize, places: f64) -> f64 {
        let seeds = (len / seed) as f64;
        match kind {
            SeedKind::Index => {
                let by_chance = self.columns() / self.alphabet.powi(to_i32(self.kmer.min(to_u32(seed))));
                seeds * (f64::from(self.strands) + by_chance) * self.costs.place
            }
            SeedKind::Scan => {
                seeds * seed as f64 * self.scanned() * self.costs.scanned + places * self.costs.end
            }
        }
    }

    /// Letters that a scan goes through on all strands, overlaps of its chunks and what a short text leaves of vectors
    /// included.
    fn scanned(&self) -> f64 {
        const LEAST: f64 = (512 * 128) as f64;
        (self.letters as f64 * 1.1).max(LEAST) * f64::from(self.strands)
    }

    fn level(&self, kind: SeedKind, len: usize, (seed, edits): (usize, usize)) -> Option<Level> {
        let scores = SeedScores::new(len, seed, edits, &self.scoring)?;
        let least = scores.least_score();
        let window = self.window(len, least);
        // A letter replaced by 3 others, left out, or one of 4 put before it: about 8 ways for each place.
        let ways: f64 = (1..=edits).map(|edit| 8.0 * seed as f64 / edit as f64).product();
        let by_chance = (len / seed) as f64 * self.columns() * ways / self.alphabet.powi(to_i32(seed));
        let columns = (1.0 + by_chance) * window;
        let seeding = self.seeding(kind, len, seed, by_chance);
        let pays = self.pays(len, (columns, seeding));
        let known = Known::Held(scores);
        pays.then_some(Level { kind, seed, edits, least, known, by_chance, columns, seeding })
    }

    /// Columns of a window in which a query of `len` letters scores `least`.
    pub fn window(&self, len: usize, least: i32) -> f64 {
        let slack = (self.perfect(len) - f64::from(least) - f64::from(self.scoring.gap_open)).max(0.0);
        len as f64 + 2.0 * slack / f64::from(self.scoring.gap_extend)
    }

    /// Whether a level that takes so much pays for a query of `len` letters.
    fn pays(&self, len: usize, (columns, seeding): (f64, f64)) -> bool {
        columns * PAYS <= self.columns() && seeding * PAYS <= self.whole(len)
    }

    /// Cells that the levels of a query of `len` letters may take together.
    pub fn most(&self, len: usize) -> f64 {
        self.whole(len) * MOST_SHARE
    }
}

/// The levels of queries by their length.
#[derive(Debug)]
pub struct Levels {
    pub kind: SeedKind,
    pub field: Field,
    /// Those of fewer windows by chance and of higher scores first.
    kept: RwLock<HashMap<usize, Arc<[Level]>>>,
}

impl Levels {
    pub fn new(kind: SeedKind, field: Field) -> Levels {
        Levels { kind, field, kept: RwLock::default() }
    }

    /// Chooses levels by other costs.
    pub fn set_costs(&mut self, costs: Costs) {
        *self = Levels::new(self.kind, Field { costs, ..self.field.clone() });
    }

    /// The level to begin with for a query of `len` letters; `None` where none pays.
    pub fn first(&self, len: usize) -> Option<Level> {
        let levels = self.levels(len);
        let enough = whole_i32(self.field.perfect(len) * FIRST_SHARE);
        let able = || levels.iter().filter(|level| level.least <= enough);
        let few = able().rev().find(|level| level.by_chance <= MOST_BY_CHANCE);
        let level = few.or_else(|| able().next()).copied();
        self.or_counted(level, (len, enough)).or(levels.last().copied())
    }

    /// A level, or one that counts seeds if that takes hardly more, for all that scores `least` or more.
    fn or_counted(&self, level: Option<Level>, (len, least): (usize, i32)) -> Option<Level> {
        let is_long = len >= LONG * self.field.kmer as usize;
        let is_quick = |level: &Level| !is_long && level.by_chance <= MOST_BY_CHANCE;
        if self.kind == SeedKind::Scan || level.as_ref().is_some_and(is_quick) {
            return level;
        }
        let counted = counting::level(&self.field, (len, least), self.field.kmer as usize);
        let most = level.map_or(f64::INFINITY, |level| level.cells_for(len, least) * COUNTED_MORE);
        counted.filter(|counted| counted.cells(len) <= most).or(level)
    }

    /// The level for the lowest scores among those that take hardly more cells than `level`.
    fn lowered(&self, levels: &[Level], len: usize, level: Level) -> Level {
        let most = level.cells(len) * SCANNED_LOWER;
        let lower = |other: &&Level| other.least <= level.least && other.cells(len) <= most;
        match self.kind {
            SeedKind::Index => level,
            SeedKind::Scan => levels.iter().rev().find(lower).copied().unwrap_or(level),
        }
    }

    /// The quickest level that holds all that score `most` or more; `None` where none does, or pays.
    pub fn at_most(&self, len: usize, most: i32) -> Option<Level> {
        let levels = self.levels(len);
        let able = levels.iter().filter(|level| level.least <= most);
        let quickest = able.min_by(|a, b| a.cost(most).total_cmp(&b.cost(most))).copied();
        self.or_counted(quickest, (len, most))
    }

    /// The next level below one on which nothing was found, where `spent` cells were; `None` where none pays.
    pub fn below(&self, len: usize, level: &Level, spent: f64) -> Option<Level> {
        let levels = self.levels(len);
        let least = to_i32(i64::from(level.least) * i64::from(NEXT_TENTHS) / 10);
        let next = levels.iter().find(|other| other.least <= least);
        let next = self.or_counted(next.copied(), (len, least));
        let last = || levels.last().filter(|last| last.least < level.least).copied();
        let next = next.or_else(last).map(|level| self.lowered(&levels, len, level))?;
        // An index tells what a level takes before that is spent.
        let pays = self.kind == SeedKind::Index || next.cells(len) <= self.field.most(len) - spent;
        pays.then_some(next)
    }

    /// Cells that the level that is wanted for a query of `len` letters may take, windows at their most.
    pub fn most(&self, len: usize, wanted: &Wanted) -> f64 {
        // Behind a level that is the last one comes no full search.
        if wanted.is_last { self.field.whole(len) } else { self.field.most(len) - wanted.spent }
    }

    /// Cells that a query of `len` letters takes on its first level, or in full where none pays, about.
    pub fn cells(&self, len: usize) -> f64 {
        self.first(len).map_or(self.field.whole(len), |level| level.cells(len))
    }

    /// The levels that pay, longer seeds and higher scores first.
    fn levels(&self, len: usize) -> Arc<[Level]> {
        if let Some(levels) = self.kept.read().ok().and_then(|kept| kept.get(&len).cloned()) {
            return levels;
        }
        let level = |kind| self.field.level(self.kind, len, kind);
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
            if kept.len() >= KEPT_LENGTHS {
                kept.clear();
            }
            kept.insert(len, Arc::clone(&levels));
        }
        levels
    }
}
