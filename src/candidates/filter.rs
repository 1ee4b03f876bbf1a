//! A filter in front of the scores that loses nothing: windows around places where a piece of the query
//! stands in a target as it is.
//!
//! On a *rung* the query is cut into pieces of some length. From a certain score on ([`super::pieces`])
//! every alignment holds such a piece, so the windows hold all that score so much, and nothing is known of
//! what scores less. Shorter pieces reach down to lower scores, and stand in more places by chance.
//! [`crate::hits`] climbs down the rungs as far as a query needs it.

use super::index::{Index, MOST_LETTERS};
use super::pieces::Pieces;
use super::{Layout, chunks};
use crate::alignment::Strand;
use crate::batch::{Batch, Pair, Sequences};
use crate::bounds::longest_span;
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::ops::Range;
use std::sync::{Arc, OnceLock, RwLock};

/// Letters of all targets, at least and at most: fewer are scored as quickly as they are looked through, and
/// the places of more would take too much memory.
const LEAST_TARGETS: usize = 1 << 11;
const MOST_TARGETS: usize = 1 << 27;
/// Letters of a piece, at least and at most.
const LEAST_PIECE: u32 = 6;
const MOST_PIECE: usize = 32;
/// Letters by which the words of the indices differ.
const LEVELS_APART: usize = 2;
/// A rung pays if it leaves one of so many columns.
const PAYS: f64 = 3.0;
/// The first rung leaves this share of what a perfect query could score to edits, unless a longer piece
/// would stand nowhere by chance.
const FIRST_SHARE: f64 = 0.8;
/// Windows of the first rung that a query has by chance, at most.
const MOST_BY_CHANCE: f64 = 8.0;
/// Letters of a piece by which a first alignment is looked for, at most; a query has so many of them if it can.
const GLANCE_PIECE: usize = 20;
const GLANCE_PIECES: usize = 4;
/// What a window costs that is found and not scored, in windows that are scored.
const UNSCORED: f64 = 0.1;
/// Lengths of queries whose rungs are kept.
const KEPT_LENGTHS: usize = 1 << 12;

/// Pieces of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// Letters of a piece.
    piece: usize,
    /// Every alignment of at least this score lies in a window.
    pub least: i32,
    pieces: Pieces,
    /// Places where a piece stands by chance, if letters are random.
    by_chance: f64,
    /// Columns of all windows, about.
    columns: f64,
}

impl Rung {
    /// Whether this one is looked through more quickly.
    pub fn is_quicker_than(&self, other: &Rung) -> bool {
        self.by_chance < other.by_chance
    }

    /// What the windows cost where only scores of `least` or more count, in windows that are scored.
    fn cost(&self, least: i32) -> f64 {
        // With one piece by chance, can it score so much?
        let scored = self.pieces.most_score(1) >= least;
        1.0 + self.by_chance * if scored { 1.0 } else { UNSCORED }
    }
}

/// Letters of a word, and the index of such words once it is made.
type Level = (u32, OnceLock<Index>);

/// Finds windows in the targets. Its parts are made when they are first needed.
#[derive(Debug)]
pub struct Filter {
    targets: Arc<Sequences>,
    scoring: Arc<Scoring>,
    strands: u32,
    /// Longer words first.
    levels: Vec<Level>,
    /// The rungs of queries by their length, longer pieces first.
    rungs: RwLock<HashMap<usize, Arc<[Rung]>>>,
}

impl Filter {
    /// A filter for queries on so many strands; `None` where there is none for such targets or scores.
    pub fn new(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<Filter> {
        let letters = targets.codes().len();
        if !(LEAST_TARGETS..=MOST_TARGETS).contains(&letters)
            || !matches!(scoring.substitution, Substitution::Equal { .. })
        {
            return None;
        }
        // About as many words as places.
        let longest = (letters.ilog2() / 2 + 1).clamp(LEAST_PIECE, MOST_LETTERS);
        let levels = (LEAST_PIECE..=longest).rev().step_by(LEVELS_APART);
        Some(Filter {
            targets: Arc::clone(targets),
            scoring: Arc::clone(scoring),
            strands,
            levels: levels.map(|letters| (letters, OnceLock::new())).collect(),
            rungs: RwLock::default(),
        })
    }

    /// The rung to begin with for a query of `len` letters; `None` where none pays.
    pub fn first(&self, len: usize) -> Option<Rung> {
        let rungs = self.rungs(len);
        let enough = (self.perfect(len) * FIRST_SHARE) as i32;
        rungs
            .iter()
            .rev()
            .find(|rung| rung.by_chance <= MOST_BY_CHANCE && rung.least <= enough)
            .copied()
            .or_else(|| rungs.iter().find(|rung| rung.least <= enough).or(rungs.last()).copied())
    }

    /// The quickest rung that holds all that score `most` or more; `None` where none does, or pays.
    pub fn at_most(&self, len: usize, most: i32) -> Option<Rung> {
        let rungs = self.rungs(len);
        let able = rungs.iter().filter(|rung| rung.least <= most);
        able.min_by(|a, b| a.cost(most).total_cmp(&b.cost(most))).copied()
    }

    /// The next rung below one on which nothing was found.
    pub fn below(&self, len: usize, rung: &Rung) -> Option<Rung> {
        let next = rung.piece.saturating_sub(LEVELS_APART);
        self.rungs(len).iter().find(|rung| rung.piece <= next).copied()
    }

    /// Columns that the first rung leaves of the targets for a query of `len` letters, about.
    pub fn columns(&self, len: usize) -> u64 {
        self.first(len).map_or(self.all_columns(), |rung| rung.columns) as u64
    }

    fn perfect(&self, len: usize) -> f64 {
        f64::from(self.scoring.max_potential()) * len as f64
    }

    fn all_columns(&self) -> f64 {
        self.targets.codes().len() as f64 * f64::from(self.strands)
    }

    /// The rungs that pay, longer pieces and higher scores first.
    fn rungs(&self, len: usize) -> Arc<[Rung]> {
        if let Some(rungs) = self.rungs.read().ok().and_then(|kept| kept.get(&len).cloned()) {
            return rungs;
        }
        let least = self.levels.last().map_or(LEAST_PIECE, |level| level.0) as usize;
        let mut rungs: Vec<Rung> = Vec::new();
        for piece in (least..=MOST_PIECE.min(len)).rev() {
            let Some(rung) = self.rung(len, piece) else { continue };
            if rungs.last().is_none_or(|longer| rung.least < longer.least) {
                rungs.push(rung);
            }
        }
        let rungs: Arc<[Rung]> = rungs.into();
        if let Ok(mut kept) = self.rungs.write() {
            if kept.len() >= KEPT_LENGTHS {
                kept.clear();
            }
            kept.insert(len, Arc::clone(&rungs));
        }
        rungs
    }

    fn rung(&self, len: usize, piece: usize) -> Option<Rung> {
        let pieces = Pieces::new(len, piece, &self.scoring)?;
        let least = pieces.least_score();
        let slack = (self.perfect(len) - f64::from(least + self.scoring.gap_open)).max(0.0);
        let window = len as f64 + 2.0 * slack / f64::from(self.scoring.gap_extend);
        let by_chance = (len / piece) as f64 * self.all_columns() / 4f64.powi(piece as i32);
        let columns = (1.0 + by_chance) * window;
        let pays = columns * PAYS <= self.all_columns();
        pays.then_some(Rung { piece, least, pieces, by_chance, columns })
    }

    /// Makes what [`Filter::glance`] needs. Not to be called in a parallel loop, like [`Filter::prepare`].
    pub fn prepare_glance(&self) {
        self.levels.first().inspect(|level| self.make(level));
    }

    /// Makes what [`Filter::regions`] needs of these rungs.
    pub fn prepare<'a>(&self, rungs: impl Iterator<Item = &'a Rung>) {
        let pieces: BTreeSet<usize> = rungs.map(|rung| rung.piece).collect();
        pieces.into_iter().filter_map(|piece| self.level(piece)).for_each(|level| self.make(level));
    }

    fn make(&self, (letters, index): &Level) {
        index.get_or_init(|| Index::new(&self.targets, *letters));
    }

    /// The level of the longest words that such pieces have.
    fn level(&self, piece: usize) -> Option<&Level> {
        self.levels.iter().find(|(letters, _)| *letters as usize <= piece)
    }

    /// The score of some alignment of `record`, the best that is found at a glance: without gaps, through
    /// long pieces. 0 if there is none.
    pub fn glance(&self, batch: &Batch, layout: &Layout, record: u32, scratch: &mut Scratch) -> i32 {
        let Some(index) = self.levels.first().and_then(|level| level.1.get()) else { return 0 };
        let letters = index.letters();
        let mut best = 0;
        for &strand in layout.orientations() {
            let query = batch.query(layout.query(record, strand));
            let piece = (query.len() / GLANCE_PIECES).clamp(letters, GLANCE_PIECE.max(letters));
            let mut last = None;
            self.for_each_place(index, query, piece, scratch, |from, place, bounds| {
                let offset = place as i64 - from as i64;
                if last.replace(offset) != Some(offset) {
                    best = best.max(self.straight(query, offset, bounds));
                }
            });
        }
        best
    }

    /// The best score without gaps of a query that begins at `offset` of the targets' letters, in `bounds`.
    fn straight(&self, query: &[u8], offset: i64, bounds: &Range<usize>) -> i32 {
        let from = (bounds.start as i64 - offset).max(0) as usize;
        let to = (bounds.end as i64 - offset).min(query.len() as i64) as usize;
        let target = &self.targets.codes()[(from as i64 + offset) as usize..(to as i64 + offset) as usize];
        let (mut score, mut best) = (0, 0);
        for (&q, &t) in query[from..to].iter().zip(target) {
            score = (score + self.scoring.score(q, t)).max(0);
            best = best.max(score);
        }
        best
    }

    /// The regions of `record` that hold every alignment of at least the score `least`, which is no less than
    /// the rung's, each with the most that one in it can score, in the order strand, target, place.
    pub fn regions(
        &self,
        batch: &Batch,
        layout: &Layout,
        record: u32,
        (rung, least): (&Rung, i32),
        scratch: &mut Scratch,
    ) -> Result<Vec<(Strand, Pair, i32)>, EngineError> {
        let wrong = || EngineError::Wrong(format!("no index for {rung:?}"));
        let index = self.level(rung.piece).and_then(|level| level.1.get()).ok_or_else(wrong)?;
        let mut regions = Vec::new();
        for &strand in layout.orientations() {
            let query = layout.query(record, strand);
            let codes = batch.query(query);
            let span = longest_span(codes, least, &self.scoring);
            let mut windows = mem::take(&mut scratch.windows);
            // All that an alignment through a piece can reach.
            let gaps = span as usize - codes.len();
            self.for_each_place(index, codes, rung.piece, scratch, |from, place, bounds| {
                let start = place.saturating_sub(from + gaps).max(bounds.start) - bounds.start;
                let end = (place + codes.len() - from + gaps).min(bounds.end) - bounds.start;
                let target = self.targets.holding(place) as u32;
                windows.push(Window { target, start: start as u32, end: end as u32 });
            });
            windows.sort_unstable();
            for (Window { target, start, end }, found) in joined(&windows) {
                let most = rung.pieces.most_score(found);
                let chunks = chunks(end - start, span);
                regions.extend(chunks.map(|(from, own, to)| {
                    let pair = Pair { query, target, start: start + from, own: start + own, end: start + to };
                    (strand, pair, most)
                }));
            }
            windows.clear();
            scratch.windows = windows;
        }
        Ok(regions)
    }

    /// Calls with each place where a piece stands as it is: where it begins in the query and in the letters
    /// of all targets, and which of these are its target's.
    fn for_each_place(
        &self,
        index: &Index,
        query: &[u8],
        piece: usize,
        scratch: &mut Scratch,
        mut call: impl FnMut(usize, usize, &Range<usize>),
    ) {
        let Scratch { words, places, .. } = scratch;
        let letters = index.letters();
        // One loop after the other, so that the processor waits for many places of the memory at a time.
        words.clear();
        places.clear();
        let pieces = query.chunks_exact(piece).enumerate();
        words.extend(pieces.filter_map(|(k, codes)| Some((k * piece, index.word(&codes[..letters])?))));
        places.extend(words.iter().map(|&(from, word)| (from, index.range(word))));
        for (from, range) in places.drain(..) {
            let rest = &query[from + letters..from + piece];
            for &place in index.places(range) {
                let place = place as usize;
                let behind = place + letters;
                let Some(there) = self.targets.codes().get(behind..behind + rest.len()) else { continue };
                if !there.iter().eq(rest) {
                    continue;
                }
                let target = self.targets.holding(place);
                let bounds = self.targets.start(target)..self.targets.start(target + 1);
                // A letter that is none matches nothing, and a piece lies in one target.
                if behind + rest.len() <= bounds.end && rest.iter().all(|&code| code < 4) {
                    call(from, place, &bounds);
                }
            }
        }
    }
}

/// Columns of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    target: u32,
    start: u32,
    end: u32,
}

/// Memory to use again.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Where a piece begins in the query, and the word that it begins with.
    words: Vec<(usize, usize)>,
    /// The same with where the index has the places of the word.
    places: Vec<(usize, Range<usize>)>,
    windows: Vec<Window>,
}

/// Sorted windows, those that share columns joined, and how many each was.
fn joined(windows: &[Window]) -> impl Iterator<Item = (Window, usize)> {
    let mut rest = windows.iter().copied().peekable();
    std::iter::from_fn(move || {
        let (mut window, mut count) = (rest.next()?, 1);
        while let Some(next) = rest.next_if(|next| next.target == window.target && next.start < window.end) {
            window.end = window.end.max(next.end);
            count += 1;
        }
        Some((window, count))
    })
}
