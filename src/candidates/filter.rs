//! A filter in front of the scores that loses nothing: the windows around places where a piece of the query stands in a
//! target.
//!
//! [`super::rungs`] says which pieces, and from which score on they can't be missed; [`crate::hits`] climbs down the
//! rungs as far as a query needs it. Here the places are found, by an index or by a scan, and what they cost is
//! counted: before places are looked at by their number, before windows are scored by their columns. What would cost
//! more than its share of a full search is searched in full ([`Opened::Dear`]).

use super::index;
use super::rungs::{Costs, Field, Ladder, Rung, Seeds};
use super::scan::{Scan, scanned};
use super::windows::{Region, Window, join, push_regions};
use super::words::{Scratch, Words};
use super::{Layout, Opened, Wanted};
use crate::alignment::Strand;
use crate::batch::{Batch, Sequences};
use crate::bounds::longest_span;
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Letters of all targets, at least and at most: fewer are scored as quickly as they are looked through, and
/// the places of more would take too much memory.
const LEAST_TARGETS: usize = 1 << 11;
const MOST_TARGETS: usize = 1 << 27;
/// Letters of a piece by which a first alignment is looked for, at most; a query has so many of them if it can.
const GLANCE_PIECE: usize = 20;
const GLANCE_PIECES: usize = 4;
/// The share of a full search that looking for a first alignment may cost.
const GLANCE_SHARE: f64 = 0.05;
/// How many times as many regions a scan may find at a time: each scan goes through all targets.
const SCAN_ROOM: usize = 4;

/// Finds windows in the targets.
pub struct Filter {
    targets: Arc<Sequences>,
    index: Option<(Words, Ladder)>,
    scan: Option<(Box<dyn Scan + Send>, Ladder)>,
    /// Letters of all queries of the run, about, where that is known.
    queries: Option<u64>,
    /// Cells that an index would have saved so far.
    missed: Mutex<f64>,
}

impl Filter {
    /// A filter by an index, for queries on so many strands; `None` where there is none for such targets or
    /// scores.
    pub fn by_index(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<Filter> {
        let mut filter = Filter::without_seeds(targets, scoring)?;
        filter.index = index_of(targets, scoring, strands);
        filter.index.is_some().then_some(filter)
    }

    /// A filter by scans, which `scan` does in the same targets.
    pub fn by_scan(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn Scan + Send>,
    ) -> Option<Filter> {
        let mut filter = Filter::without_seeds(targets, scoring)?;
        let field = Field { word: 0, least_piece: 0, ..field(targets, scoring, strands) };
        filter.scan = Some((scan, Ladder::new(Seeds::Scan, field)));
        Some(filter)
    }

    /// A filter by an index as soon as the queries repay it, and by scans before that; always by scans where the targets
    /// are too large for an index. `queries` are the letters of all queries to come, about, where that is known.
    pub fn auto(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn Scan + Send>,
        queries: Option<u64>,
    ) -> Option<Filter> {
        let filter = Filter::by_scan(targets, scoring, strands, scan)?;
        Some(Filter { index: index_of(targets, scoring, strands), queries, ..filter })
    }

    /// The same where steps have other costs.
    pub fn with_costs(mut self, costs: Costs) -> Filter {
        let ladders =
            [self.index.as_mut().map(|index| &mut index.1), self.scan.as_mut().map(|scan| &mut scan.1)];
        for ladder in ladders.into_iter().flatten() {
            *ladder = Ladder::new(ladder.seeds, Field { costs, ..ladder.field.clone() });
        }
        self
    }

    fn without_seeds(targets: &Arc<Sequences>, scoring: &Scoring) -> Option<Filter> {
        let known = matches!(scoring.substitution, Substitution::Equal { .. });
        (known && targets.codes().len() >= LEAST_TARGETS).then(|| Filter {
            targets: Arc::clone(targets),
            index: None,
            scan: None,
            queries: None,
            missed: Mutex::default(),
        })
    }

    /// What a batch's pieces are found by. Where an index is worth its time it is made now; not to be called in a
    /// parallel loop.
    pub fn seeds(&self, batch: &Batch, layout: &Layout) -> Seeds {
        let Some((words, ladder)) = &self.index else { return Seeds::Scan };
        if !words.are_tried() && self.index_is_worth(ladder, batch, layout) {
            words.prepare();
        }
        if words.are_ready() || self.scan.is_none() { Seeds::Index } else { Seeds::Scan }
    }

    /// Whether the queries repay an index: those of a batch and others like them that are to come, or those that came
    /// before.
    fn index_is_worth(&self, ladder: &Ladder, batch: &Batch, layout: &Layout) -> bool {
        let Some((_, other)) = &self.scan else { return true };
        let records = layout.records(batch.queries.len()) as u32;
        let saved = |record: u32| {
            let len = batch.query(layout.query(record, Strand::Forward)).len();
            (other.cells(len) - ladder.cells(len)).max(0.0)
        };
        let saved: f64 = (0..records).map(saved).sum();
        let letters = (batch.queries.codes().len() / layout.strands as usize).max(1);
        let like_them = self.queries.map_or(1.0, |all| (all as f64 / letters as f64).max(1.0));
        let price = ladder.field.letters as f64 * ladder.field.costs.indexed;
        let Ok(mut missed) = self.missed.lock() else { return true };
        let before = *missed;
        *missed += saved;
        before + saved * like_them >= price
    }

    /// The rungs of pieces that are found so.
    fn ladder(&self, seeds: Seeds) -> Option<&Ladder> {
        match seeds {
            Seeds::Index => self.index.as_ref().map(|index| &index.1),
            Seeds::Scan => self.scan.as_ref().map(|scan| &scan.1),
        }
    }

    /// The rung to begin with for a query of `len` letters; `None` where none pays.
    pub fn first(&self, seeds: Seeds, len: usize) -> Option<Rung> {
        self.ladder(seeds)?.first(len)
    }

    /// The quickest rung that holds all that score `most` or more; `None` where none does, or pays.
    pub fn at_most(&self, seeds: Seeds, len: usize, most: i32) -> Option<Rung> {
        self.ladder(seeds)?.at_most(len, most)
    }

    /// The next rung below one on which nothing was found, where `spent` cells were; `None` where none pays.
    pub fn below(&self, len: usize, rung: &Rung, spent: f64) -> Option<Rung> {
        self.ladder(rung.seeds)?.below(len, rung, spent)
    }

    /// Columns that the first rung leaves of the targets for a query of `len` letters, about; `None` where none pays.
    pub fn columns(&self, len: usize) -> Option<u64> {
        let ladder = self.ladder(Seeds::Index).or(self.ladder(Seeds::Scan))?;
        ladder.first(len).map(|rung| rung.columns())
    }

    /// The scores of some alignment of each of so many records, the best that is found at a glance: without
    /// gaps, through long pieces. 0 if there is none, or too much would have to be looked at.
    pub fn glance(&self, seeds: Seeds, batch: &Batch, layout: &Layout, records: u32) -> Vec<i32> {
        let (Seeds::Index, Some((words, ladder))) = (seeds, &self.index) else {
            return vec![0; records as usize];
        };
        let best = |scratch: &mut Scratch, record: u32| {
            let mut best = 0;
            for &strand in layout.orientations() {
                let query = batch.query(layout.query(record, strand));
                let piece = (query.len() / GLANCE_PIECES).clamp(index::MOST_LETTERS as usize, GLANCE_PIECE);
                let Costs { place, compared, .. } = ladder.field.costs;
                let cells = words.count(query, piece) as f64 * (place + compared * query.len() as f64);
                if cells > ladder.field.whole(query.len()) * GLANCE_SHARE {
                    continue;
                }
                let mut last = None;
                words.for_each_place(query, piece, scratch, |from, place, bounds| {
                    let offset = place as i64 - from as i64;
                    if last.replace(offset) != Some(offset) {
                        best = best.max(self.straight(query, offset, bounds, &ladder.field.scoring));
                    }
                });
            }
            best
        };
        (0..records).into_par_iter().map_init(Scratch::default, best).collect()
    }

    /// The best score without gaps of a query that begins at `offset` of the targets' letters, in `bounds`.
    fn straight(&self, query: &[u8], offset: i64, bounds: &Range<usize>, scoring: &Scoring) -> i32 {
        let from = (bounds.start as i64 - offset).max(0) as usize;
        let to = (bounds.end as i64 - offset).min(query.len() as i64) as usize;
        let target = &self.targets.codes()[(from as i64 + offset) as usize..(to as i64 + offset) as usize];
        let (mut score, mut best) = (0, 0);
        for (&q, &t) in query[from..to].iter().zip(target) {
            score = (score + scoring.score(q, t)).max(0);
            best = best.max(score);
        }
        best
    }

    /// What is wanted, opened: all regions that hold an alignment of at least the wanted score, each with the most that
    /// one in it can score, in the order strand, target, place. All rungs are of the same seeds. Once so many regions as
    /// there is `room` for are found, the other records are left for later; one record at least is opened.
    pub fn regions(
        &self,
        batch: &Batch,
        layout: &Layout,
        wanted: &[Wanted],
        room: usize,
    ) -> Result<Vec<Opened>, EngineError> {
        let Some(first) = wanted.first() else { return Ok(Vec::new()) };
        match (first.rung.seeds, &self.index, &self.scan) {
            (Seeds::Index, Some((words, ladder)), _) => {
                Ok(looked_up((words, ladder, &self.targets), (batch, layout), wanted, room))
            }
            (Seeds::Scan, _, Some((scan, ladder))) => {
                let room = room.saturating_mul(SCAN_ROOM);
                scanned(scan.as_ref(), (ladder, &self.targets), (batch, layout), wanted, room)
            }
            _ => Err(EngineError::Wrong(format!("a filter without {:?}", first.rung.seeds))),
        }
    }
}

fn field(targets: &Sequences, scoring: &Arc<Scoring>, strands: u32) -> Field {
    let (letters, scoring) = (targets.codes().len(), Arc::clone(scoring));
    Field { letters, strands, scoring, costs: Costs::default(), word: 0, least_piece: 0 }
}

/// The words of targets that are not too large for them, and their rungs.
fn index_of(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<(Words, Ladder)> {
    (targets.codes().len() <= MOST_TARGETS).then(|| {
        let words = Words::new(targets);
        let field =
            Field { word: words.letters(), least_piece: words.least(), ..field(targets, scoring, strands) };
        (words, Ladder::new(Seeds::Index, field))
    })
}

/// What is wanted, opened by the index.
fn looked_up(
    (words, ladder, targets): (&Words, &Ladder, &Sequences),
    (batch, layout): (&Batch, &Layout),
    wanted: &[Wanted],
    room: usize,
) -> Vec<Opened> {
    words.prepare();
    let taken = AtomicUsize::new(0);
    let open = |(scratch, windows): &mut (Scratch, Vec<Window>), wanted: &Wanted| {
        if taken.load(Ordering::Relaxed) >= room.max(1) {
            return Opened::Later;
        }
        let opened = look_up((words, ladder, targets), (batch, layout), wanted, (scratch, windows));
        if let Opened::Regions { regions, .. } = &opened {
            taken.fetch_add(regions.len(), Ordering::Relaxed);
        }
        opened
    };
    wanted.par_iter().map_init(Default::default, open).collect()
}

/// What is wanted for one record, opened by the index.
fn look_up(
    (words, ladder, targets): (&Words, &Ladder, &Sequences),
    (batch, layout): (&Batch, &Layout),
    &Wanted { record, rung, least, spent }: &Wanted,
    (scratch, windows): (&mut Scratch, &mut Vec<Window>),
) -> Opened {
    let oriented = |strand: Strand| batch.query(layout.query(record, strand));
    let len = oriented(Strand::Forward).len();
    let most = ladder.most(len, spent);
    let places: usize =
        layout.orientations().iter().map(|&strand| words.count(oriented(strand), rung.piece)).sum();
    let seeding = places as f64 * ladder.field.costs.place;
    let mut cells = seeding;
    let mut regions: Vec<Region> = Vec::new();
    for &strand in layout.orientations() {
        if cells > most {
            return Opened::Dear;
        }
        let codes = oriented(strand);
        let span = longest_span(codes, least, &ladder.field.scoring);
        windows.clear();
        let looked_up = words.for_each_place(codes, rung.piece, scratch, |from, place, bounds| {
            let target = (targets.holding(place) as u32, bounds.len());
            let behind = place + rung.piece - bounds.start;
            windows.push(Window::around(target, behind, (len, from + rung.piece), span));
        });
        if looked_up.is_none() {
            return Opened::Dear;
        }
        cells += join(windows) as f64 * len as f64;
        push_regions(&mut regions, (strand, layout.query(record, strand)), &rung, span, windows);
    }
    if cells > most { Opened::Dear } else { Opened::Regions { regions, spent: spent + seeding } }
}
