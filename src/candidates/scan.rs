//! Windows around places that a scan of all targets finds, for the pieces of many records at a time.

use super::rungs::Ladder;
use super::windows::{Region, Window, join, push_regions};
use super::{Layout, Opened, Wanted};
use crate::alignment::Strand;
use crate::batch::{Batch, Sequences};
use crate::bounds::longest_span;
use crate::error::EngineError;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Windows that the records of one scan hold at a time, at most: 16 bytes each.
const MOST_WINDOWS: usize = 1 << 22;
/// Windows of a record that are not joined yet, at least.
const LOOSE: usize = 1 << 10;

/// Searches pieces with edits in all targets.
pub trait Scan: Sync {
    /// Every place where one of `pieces` ends with at most `edits` edits, given to `ends` part by part of the targets.
    /// Pieces are codes of DNA; a letter that is no base may be taken to match anything.
    fn scan(&self, pieces: &[&[u8]], edits: usize, ends: &mut dyn Ends) -> Result<(), EngineError>;
}

/// Takes what a scan finds.
pub trait Ends {
    /// Whether ends of the piece are still asked for.
    fn wants(&self, piece: u32) -> bool;

    /// Some ends.
    fn take(&mut self, ends: &[PieceEnd]);

    /// The piece ends in so many places that not all were given.
    fn too_many(&mut self, piece: u32);
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

/// A piece: whose it is, where it ends in the query, and what its windows are made by.
struct Owner {
    record: usize,
    strand: usize,
    to: usize,
    len: usize,
    span: u32,
}

/// What was found for a record.
#[derive(Default)]
struct Held {
    /// By strand.
    windows: [Vec<Window>; 2],
    /// Windows at which they are joined next.
    join_at: usize,
    /// Cells that finding them took.
    seeding: f64,
    /// Cells that they have, as far as they were joined.
    cells: f64,
    /// Cells that may be spent on the record.
    most: f64,
    is_dear: bool,
}

impl Held {
    fn len(&self) -> usize {
        self.windows.iter().map(Vec::len).sum()
    }

    fn give_up(&mut self) {
        self.is_dear = true;
        self.windows = Default::default();
    }

    /// Joins windows, and gives up where they take too much.
    fn join(&mut self, len: usize) {
        let columns: u64 = self.windows.iter_mut().map(join).sum();
        self.cells = columns as f64 * len as f64;
        self.join_at = 2 * self.len() + LOOSE;
        if self.seeding + self.cells > self.most {
            self.give_up();
        }
    }
}

/// Windows of some records while targets are scanned for their pieces.
struct Gathering<'a> {
    targets: &'a Sequences,
    owners: Vec<Owner>,
    held: Vec<Held>,
    /// Cells that an end costs.
    end: f64,
}

impl Ends for Gathering<'_> {
    fn wants(&self, piece: u32) -> bool {
        !self.held[self.owners[piece as usize].record].is_dear
    }

    fn take(&mut self, ends: &[PieceEnd]) {
        for &PieceEnd { piece, target, end } in ends {
            let &Owner { record, strand, to, len, span } = &self.owners[piece as usize];
            let held = &mut self.held[record];
            if held.is_dear {
                continue;
            }
            let place = (target, self.targets.get(target as usize).len());
            held.windows[strand].push(Window::around(place, end as usize, (len, to), span));
            held.seeding += self.end;
            if held.len() >= held.join_at {
                held.join(len);
            }
        }
        while self.held.iter().map(Held::len).sum::<usize>() > MOST_WINDOWS {
            // Those of one record are as much as there are columns for, so some record is left.
            let most = self.held.iter_mut().max_by_key(|held| held.len());
            most.into_iter().for_each(Held::give_up);
        }
    }

    fn too_many(&mut self, piece: u32) {
        self.held[self.owners[piece as usize].record].give_up();
    }
}

/// What is wanted, opened by scans, one for each kind of rung: as much of it as there is `room` for regions, by what is
/// expected of the rungs, and one record at least.
pub fn scanned(
    scan: &dyn Scan,
    (ladder, targets): (&Ladder, &Sequences),
    (batch, layout): (&Batch, &Layout),
    wanted: &[Wanted],
    room: usize,
) -> Result<Vec<Opened>, EngineError> {
    let mut expected = 0.0;
    let fits = |wanted: &&Wanted| {
        expected += 1.0 + wanted.rung.by_chance;
        expected <= room as f64
    };
    let count = wanted.iter().take_while(fits).count().max(1).min(wanted.len());
    let now = &wanted[..count];
    let mut kinds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (place, Wanted { rung, .. }) in now.iter().enumerate() {
        kinds.entry((rung.piece, rung.edits)).or_default().push(place);
    }
    let mut opened: Vec<Opened> = wanted.iter().map(|_| Opened::Later).collect();
    for ((piece, edits), places) in kinds {
        let of_kind: Vec<&Wanted> = places.iter().map(|&place| &now[place]).collect();
        let held = gather(scan, (ladder, targets), (batch, layout), &of_kind, (piece, edits))?;
        let finish = |(held, wanted): (Held, &&Wanted)| finish(held, wanted, (ladder, batch, layout));
        let found: Vec<Opened> = held.into_par_iter().zip(&of_kind).map(finish).collect();
        places.into_iter().zip(found).for_each(|(place, found)| opened[place] = found);
    }
    Ok(opened)
}

/// The windows of records on rungs of one kind.
fn gather(
    scan: &dyn Scan,
    (ladder, targets): (&Ladder, &Sequences),
    (batch, layout): (&Batch, &Layout),
    wanted: &[&Wanted],
    (piece, edits): (usize, usize),
) -> Result<Vec<Held>, EngineError> {
    let (mut pieces, mut owners, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (record, Wanted { record: number, least, spent, .. }) in wanted.iter().enumerate() {
        let mut len = 0;
        for (strand, &orientation) in layout.orientations().iter().enumerate() {
            let codes = batch.query(layout.query(*number, orientation));
            len = codes.len();
            let span = longest_span(codes, *least, &batch.scoring);
            let own = codes.chunks_exact(piece);
            owners.extend((1..=own.len()).map(|k| Owner { record, strand, to: k * piece, len, span }));
            pieces.extend(own);
        }
        let letters = (len / piece * piece) as f64 * ladder.field.columns();
        let seeding = letters * ladder.field.costs.scanned + ladder.field.pass(wanted.len());
        let most = ladder.most(len, *spent);
        all.push(Held { seeding, most, join_at: LOOSE, is_dear: seeding > most, ..Held::default() });
    }
    if all.iter().all(|held| held.is_dear) {
        return Ok(all);
    }
    let mut gathering = Gathering { targets, owners, held: all, end: ladder.field.costs.end };
    scan.scan(&pieces, edits, &mut gathering)?;
    Ok(gathering.held)
}

/// The regions of a record.
fn finish(mut held: Held, wanted: &Wanted, (ladder, batch, layout): (&Ladder, &Batch, &Layout)) -> Opened {
    let &Wanted { record, rung, least, spent } = wanted;
    let codes = |strand: Strand| batch.query(layout.query(record, strand));
    held.join(codes(Strand::Forward).len());
    if held.is_dear {
        return Opened::Dear;
    }
    let mut regions: Vec<Region> = Vec::new();
    for (&strand, windows) in layout.orientations().iter().zip(&held.windows) {
        let span = longest_span(codes(strand), least, &ladder.field.scoring);
        push_regions(&mut regions, (strand, layout.query(record, strand)), &rung, span, windows);
    }
    Opened::Regions { regions, spent: spent + held.seeding }
}
