//! A filter in front of the scores that loses nothing: windows around places where a piece of the query
//! stands in a target as it is.
//!
//! On a *rung* the query is cut into pieces of some length. From a certain score on ([`super::pieces`])
//! every alignment holds such a piece, so the windows hold all that score so much, and nothing is known of
//! what scores less. Shorter pieces reach down to lower scores, and stand in more places by chance.
//! [`crate::hits`] climbs down the rungs as far as a query needs it.

use super::index;
use super::pieces::Pieces;
use super::words::{self, Words};
use super::{CHUNK, Layout, chunks};
use crate::alignment::Strand;
use crate::batch::{Batch, Pair, Sequences};
use crate::bounds::longest_span;
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

/// Letters of all targets, at least and at most: fewer are scored as quickly as they are looked through, and
/// the places of more would take too much memory.
const LEAST_TARGETS: usize = 1 << 11;
const MOST_TARGETS: usize = 1 << 27;
/// Letters of a piece that is looked up as it is, at most, and of one that is searched with edits, at least and at
/// most; and the most edits of it.
const MOST_PIECE: usize = 32;
const SCANNED_PIECES: std::ops::RangeInclusive<usize> = 10..=64;
const MOST_EDITS: usize = 3;
/// Where nothing was found, the next rung has at most this share of the score, in tenths.
const NEXT_TENTHS: i32 = 9;
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
    /// Most edits with which a piece is searched.
    edits: usize,
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

/// Searches pieces with edits in all targets.
pub trait Scan: Sync {
    /// Every place where one of `pieces` ends with at most `edits` edits. Pieces are codes of DNA; a letter
    /// that is no base may be taken to match anything.
    fn ends(&self, pieces: &[&[u8]], edits: usize) -> Result<Vec<PieceEnd>, EngineError>;
}

/// A place where a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceEnd {
    /// Its place among those that were searched.
    pub piece: u32,
    pub target: u32,
    /// Letters of the target before and with the last one.
    pub end: u32,
}

/// How pieces are found.
enum Finder {
    /// As they are, in an index.
    Words(Words),
    /// With edits, by a scan of all targets for all pieces of a batch.
    Scan(Box<dyn Scan + Send>),
}

/// Finds windows in the targets. Its parts are made when they are first needed.
pub struct Filter {
    targets: Arc<Sequences>,
    scoring: Arc<Scoring>,
    strands: u32,
    finder: Finder,
    /// The rungs of queries by their length, those of fewer windows by chance and of higher scores first.
    rungs: RwLock<HashMap<usize, Arc<[Rung]>>>,
}

impl Filter {
    /// A filter by an index, for queries on so many strands; `None` where there is none for such targets or
    /// scores.
    pub fn by_index(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<Filter> {
        let few = targets.codes().len() <= MOST_TARGETS;
        let finder = Finder::Words(Words::new(targets));
        Filter::new(targets, scoring, strands, finder).filter(|_| few)
    }

    /// A filter by scans, which `scan` does in the same targets.
    pub fn by_scan(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn Scan + Send>,
    ) -> Option<Filter> {
        Filter::new(targets, scoring, strands, Finder::Scan(scan))
    }

    fn new(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32, finder: Finder) -> Option<Filter> {
        let known = matches!(scoring.substitution, Substitution::Equal { .. });
        (known && targets.codes().len() >= LEAST_TARGETS).then(|| Filter {
            targets: Arc::clone(targets),
            scoring: Arc::clone(scoring),
            strands,
            finder,
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
        let rungs = self.rungs(len);
        let lower =
            |other: &&Rung| i64::from(other.least) * 10 <= i64::from(rung.least) * i64::from(NEXT_TENTHS);
        let last = rungs.last().filter(|last| last.least < rung.least);
        rungs.iter().find(lower).or(last).copied()
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
        let mut all: Vec<Rung> = match &self.finder {
            Finder::Words(words) => {
                (words.least()..=MOST_PIECE.min(len)).filter_map(|piece| self.rung(len, piece, 0)).collect()
            }
            Finder::Scan(_) => SCANNED_PIECES
                .filter(|&piece| piece <= len)
                .flat_map(|piece| (0..=MOST_EDITS).map(move |edits| (piece, edits)))
                .filter_map(|(piece, edits)| self.rung(len, piece, edits))
                .collect(),
        };
        all.sort_by(|a, b| a.by_chance.total_cmp(&b.by_chance).then(a.least.cmp(&b.least)));
        let mut rungs: Vec<Rung> = Vec::new();
        for rung in all {
            if rungs.last().is_none_or(|quicker| rung.least < quicker.least) {
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

    fn rung(&self, len: usize, piece: usize, edits: usize) -> Option<Rung> {
        let pieces = Pieces::new(len, piece, edits, &self.scoring)?;
        let least = pieces.least_score();
        let slack = (self.perfect(len) - f64::from(least + self.scoring.gap_open)).max(0.0);
        let window = len as f64 + 2.0 * slack / f64::from(self.scoring.gap_extend);
        // A letter replaced by 3 others, left out, or one of 4 put before it: about 8 ways for each place.
        let ways: f64 = (1..=edits).map(|edit| 8.0 * piece as f64 / edit as f64).product();
        let by_chance = (len / piece) as f64 * self.all_columns() * ways / 4f64.powi(piece as i32);
        let columns = (1.0 + by_chance) * window;
        let pays = columns * PAYS <= self.all_columns();
        pays.then_some(Rung { piece, edits, least, pieces, by_chance, columns })
    }

    /// The scores of some alignment of each of so many records, the best that is found at a glance: without
    /// gaps, through long pieces. 0 if there is none.
    pub fn glance(&self, batch: &Batch, layout: &Layout, records: u32) -> Vec<i32> {
        let Finder::Words(words) = &self.finder else { return vec![0; records as usize] };
        words.prepare(GLANCE_PIECE);
        let best = |scratch: &mut words::Scratch, record: u32| {
            let mut best = 0;
            for &strand in layout.orientations() {
                let query = batch.query(layout.query(record, strand));
                let piece = (query.len() / GLANCE_PIECES).clamp(index::MOST_LETTERS as usize, GLANCE_PIECE);
                let mut last = None;
                words.for_each_place(query, piece, scratch, |from, place, bounds| {
                    let offset = place as i64 - from as i64;
                    if last.replace(offset) != Some(offset) {
                        best = best.max(self.straight(query, offset, bounds));
                    }
                });
            }
            best
        };
        (0..records).into_par_iter().map_init(words::Scratch::default, best).collect()
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

    /// The regions of records, each with a rung and a score that is no less than the rung's: all that hold an
    /// alignment of at least that score, each with the most that one in it can score, in the order strand,
    /// target, place. Not to be called in a parallel loop. Once so many regions as there is `room` for are found,
    /// those of the other records are left for later (`None`); one record at least has its own.
    pub fn regions(
        &self,
        batch: &Batch,
        layout: &Layout,
        wanted: &[(u32, Rung, i32)],
        room: usize,
    ) -> Result<Vec<Option<Vec<Region>>>, EngineError> {
        match &self.finder {
            Finder::Words(words) => {
                let lengths: BTreeSet<usize> = wanted.iter().map(|(_, rung, _)| rung.piece).collect();
                lengths.into_iter().for_each(|piece| words.prepare(piece));
                let taken = AtomicUsize::new(0);
                let regions = |(scratch, windows): &mut (words::Scratch, Vec<Window>), wanted: &_| {
                    if taken.load(Ordering::Relaxed) >= room.max(1) {
                        return Ok(None);
                    }
                    let regions = self.looked_up(words, batch, layout, wanted, (scratch, windows))?;
                    taken.fetch_add(regions.len(), Ordering::Relaxed);
                    Ok(Some(regions))
                };
                wanted.par_iter().map_init(Default::default, regions).collect()
            }
            // A scan finds those of all records at once.
            Finder::Scan(scan) => {
                let regions = self.scanned(scan.as_ref(), batch, layout, wanted)?;
                Ok(regions.into_iter().map(Some).collect())
            }
        }
    }

    /// The regions of one record by the index.
    fn looked_up(
        &self,
        words: &Words,
        batch: &Batch,
        layout: &Layout,
        &(record, rung, least): &(u32, Rung, i32),
        (scratch, windows): (&mut words::Scratch, &mut Vec<Window>),
    ) -> Result<Vec<Region>, EngineError> {
        let mut regions = Vec::new();
        for &strand in layout.orientations() {
            let query = layout.query(record, strand);
            let codes = batch.query(query);
            let span = longest_span(codes, least, &self.scoring);
            let prepared = words.for_each_place(codes, rung.piece, scratch, |from, place, bounds| {
                let target = self.targets.holding(place) as u32;
                let behind = place + rung.piece - bounds.start;
                windows.push(window((target, bounds.len()), behind, (codes.len(), from + rung.piece), span));
            });
            prepared.ok_or_else(|| EngineError::Wrong(format!("no index for {rung:?}")))?;
            push_regions(&mut regions, (strand, query), &rung, span, windows);
        }
        Ok(regions)
    }

    /// The regions of all records by scans, one for each kind of rung.
    fn scanned(
        &self,
        scan: &dyn Scan,
        batch: &Batch,
        layout: &Layout,
        wanted: &[(u32, Rung, i32)],
    ) -> Result<Vec<Vec<Region>>, EngineError> {
        let strands = layout.orientations();
        let span = |place: usize, strand: Strand| {
            let (record, _, least) = wanted[place];
            longest_span(batch.query(layout.query(record, strand)), least, &self.scoring)
        };
        let mut windows: Vec<Vec<Window>> = vec![Vec::new(); wanted.len() * strands.len()];
        let mut kinds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (place, (_, rung, _)) in wanted.iter().enumerate() {
            kinds.entry((rung.piece, rung.edits)).or_default().push(place);
        }
        for ((piece, edits), places) in kinds {
            // Of each piece: whose it is, and where it ends in the query.
            let (mut pieces, mut owners) = (Vec::new(), Vec::new());
            for place in places {
                for &strand in strands {
                    let codes = batch.query(layout.query(wanted[place].0, strand));
                    let own = codes.chunks_exact(piece);
                    owners.extend((1..=own.len()).map(|k| (place, strand, k * piece, codes.len())));
                    pieces.extend(own);
                }
            }
            for found in scan.ends(&pieces, edits)? {
                let (place, strand, to, len) = owners[found.piece as usize];
                let target = (found.target, self.targets.get(found.target as usize).len());
                let window = window(target, found.end as usize, (len, to), span(place, strand));
                windows[place * strands.len() + strand as usize].push(window);
            }
        }
        let regions = |(place, windows): (usize, &mut [Vec<Window>])| {
            let (record, rung, _) = wanted[place];
            let mut regions = Vec::new();
            for (&strand, windows) in strands.iter().zip(windows) {
                let query = layout.query(record, strand);
                push_regions(&mut regions, (strand, query), &rung, span(place, strand), windows);
            }
            regions
        };
        Ok(windows.par_chunks_mut(strands.len()).enumerate().map(regions).collect())
    }
}

/// A stretch of a target to be scored, and the most that an alignment in it can score.
pub type Region = (Strand, Pair, i32);

/// All that an alignment can reach which covers `span` letters of the target at most, and of which a piece
/// that ends behind the first `to` of the query's `len` letters ends at `end`.
fn window((target, target_len): (u32, usize), end: usize, (len, to): (usize, usize), span: u32) -> Window {
    let gaps = span as usize - len;
    let start = end.saturating_sub(to + gaps);
    let end = (end + len - to + gaps).min(target_len);
    Window { target, start: start as u32, end: end as u32 }
}

/// Appends the regions of a query's windows, which are gone then.
fn push_regions(
    regions: &mut Vec<Region>,
    (strand, query): (Strand, u32),
    rung: &Rung,
    span: u32,
    windows: &mut Vec<Window>,
) {
    windows.sort_unstable();
    for (Window { target, start, end }, found) in joined(windows) {
        let most = rung.pieces.most_score(found);
        regions.extend(chunks(end - start, span, CHUNK).map(|(from, own, to)| {
            let pair = Pair { query, target, start: start + from, own: start + own, end: start + to };
            (strand, pair, most)
        }));
    }
    windows.clear();
}

/// Columns of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    target: u32,
    start: u32,
    end: u32,
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
