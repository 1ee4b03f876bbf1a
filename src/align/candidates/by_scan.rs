//! Windows around seed positions. One scan of all targets finds the seeds of many records.

use super::levels::{Field, Levels, SeedKind};
use super::seeds::{QuickLook, Seeds};
use super::windows::{CandidateRegion, TargetWindow, join, push_regions, push_stretches};
use super::{FilterAnswer, FilterRequest, PairLayout};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::longest_span;
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of windows that the records of one scan hold together, 16 bytes each.
const MOST_WINDOWS: usize = 1 << 22;
/// Minimum number of windows of a record that are not joined yet.
const LOOSE: usize = 1 << 10;

/// Factor by which one scan may exceed the room for regions, since each scan reads all targets.
const SCAN_ROOM: usize = 4;

/// Searches seeds with edits in all targets.
pub trait SeedScan: Sync {
    /// Finds every position where one of `seeds` ends with at most `edits` edits, and passes the ends to `ends`, one
    /// part of the targets after another. Seeds are DNA codes. An ambiguous base may match any base.
    fn scan(&self, seeds: &[&[u8]], edits: usize, ends: &mut dyn SeedEnds) -> Result<(), EngineError>;
}

/// Receives the seed ends that a scan finds.
pub trait SeedEnds {
    /// Whether ends of the seed are still needed.
    fn wants(&self, seed: u32) -> bool;

    /// Receives some ends.
    fn take(&mut self, ends: &[SeedEnd]);

    /// Reports that the seed has too many ends and that not all of them were passed.
    fn too_many(&mut self, seed: u32);
}

/// Position where a seed ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedEnd {
    /// Index of the seed in the scanned seeds.
    pub seed: u32,
    pub target: u32,
    /// Number of target bases up to and including the last one of the seed.
    pub end: u32,
}

/// A seed: its record and strand, its end in the query, and the dimensions of its windows.
struct Owner {
    record: usize,
    strand: usize,
    to: usize,
    len: usize,
    span: u32,
}

/// Windows found for a record.
#[derive(Default)]
struct RecordWindows {
    /// Windows by strand.
    windows: [Vec<TargetWindow>; 2],
    /// Number of windows at which they are joined next.
    join_at: usize,
    /// Cells spent on finding the windows.
    seeding: f64,
    /// Cells of the windows that were joined so far.
    cells: f64,
    /// Maximum number of cells that may be spent on the record.
    most: f64,
    is_dear: bool,
}

impl RecordWindows {
    fn len(&self) -> usize {
        self.windows.iter().map(Vec::len).sum()
    }

    fn give_up(&mut self) {
        self.is_dear = true;
        self.windows = Default::default();
    }

    /// Joins the windows, and gives up if they cost too much.
    fn join(&mut self, len: usize) {
        let columns: u64 = self.windows.iter_mut().map(|windows| join(windows, u32::saturating_add)).sum();
        self.cells = columns as f64 * len as f64;
        self.join_at = 2 * self.len() + LOOSE;
        if self.seeding + self.cells > self.most {
            self.give_up();
        }
    }
}

/// Windows of some records while targets are scanned for their seeds.
struct Gathering<'a> {
    targets: &'a Sequences,
    owners: Vec<Owner>,
    held: Vec<RecordWindows>,
    /// Cost of one end, in cells.
    end: f64,
}

impl SeedEnds for Gathering<'_> {
    fn wants(&self, seed: u32) -> bool {
        !self.held[self.owners[seed as usize].record].is_dear
    }

    fn take(&mut self, ends: &[SeedEnd]) {
        for &SeedEnd { seed, target, end } in ends {
            let &Owner { record, strand, to, len, span } = &self.owners[seed as usize];
            let held = &mut self.held[record];
            if held.is_dear {
                continue;
            }
            let target = (self.targets, target);
            held.windows[strand].extend(TargetWindow::around(target, end as usize, (len, to), span));
            held.seeding += self.end;
            if held.len() >= held.join_at {
                held.join(len);
            }
        }
        while self.held.iter().map(RecordWindows::len).sum::<usize>() > MOST_WINDOWS {
            // The number of columns limits the joined windows of one record, so at least one record is left.
            let most = self.held.iter_mut().max_by_key(|held| held.len());
            most.into_iter().for_each(RecordWindows::give_up);
        }
    }

    fn too_many(&mut self, seed: u32) {
        self.held[self.owners[seed as usize].record].give_up();
    }
}

/// Finds seeds with edits by scans.
pub struct ByScan {
    targets: Arc<Sequences>,
    scan: Box<dyn SeedScan + Send>,
    levels: Levels,
}

impl ByScan {
    /// Creates a finder for queries on `strands` strands that uses `scan`, which must scan the same targets.
    pub fn new(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        scan: Box<dyn SeedScan + Send>,
    ) -> ByScan {
        let levels = Levels::new(SeedKind::Scan, Field::new(targets, scoring, strands));
        ByScan { targets: Arc::clone(targets), scan, levels }
    }

    /// Finds the windows of records whose levels have the same kind.
    fn gather(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &[&FilterRequest],
        (seed, edits): (usize, usize),
    ) -> Result<Vec<RecordWindows>, EngineError> {
        let ByScan { targets, scan, levels } = self;
        let (mut seeds, mut owners, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let queries = batch.queries_without_ends();
        let records = wanted.len();
        for (record, wanted) in wanted.iter().enumerate() {
            let FilterRequest { record: number, least, .. } = wanted;
            let mut len = 0;
            for (strand, &orientation) in layout.orientations().iter().enumerate() {
                let query = layout.query(*number, orientation);
                let codes = queries.get(query as usize);
                len = codes.len();
                let span = longest_span(batch.query(query), *least, &batch.scoring);
                let own = codes.chunks_exact(seed);
                owners.extend((1..=own.len()).map(|k| Owner { record, strand, to: k * seed, len, span }));
                seeds.extend(own);
            }
            let letters = (len / seed * seed) as f64 * levels.field.columns();
            let seeding = letters * levels.field.costs.scanned + levels.field.pass(records);
            let most = levels.most(len, wanted);
            all.push(RecordWindows {
                seeding,
                most,
                join_at: LOOSE,
                is_dear: seeding > most,
                ..RecordWindows::default()
            });
        }
        if all.iter().all(|held| held.is_dear) {
            return Ok(all);
        }
        let mut gathering = Gathering { targets, owners, held: all, end: levels.field.costs.end };
        scan.scan(&seeds, edits, &mut gathering)?;
        Ok(gathering.held)
    }
}

impl Seeds for ByScan {
    fn levels(&self) -> &Levels {
        &self.levels
    }

    fn levels_mut(&mut self) -> &mut Levels {
        &mut self.levels
    }

    /// Returns no estimate: a scan is too slow for a glance.
    fn glance(&self, _: &Batch, _: &PairLayout, records: &[u32]) -> Vec<QuickLook> {
        vec![QuickLook::Alignment(0); records.len()]
    }

    /// Runs one scan per kind of level, for as many records as fit in `room` by the levels' expected windows, and for
    /// at least one record.
    fn regions(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        wanted: &[FilterRequest],
        room: usize,
    ) -> Result<Vec<FilterAnswer>, EngineError> {
        batch.targets.prove_all()?;
        let room = room.saturating_mul(SCAN_ROOM);
        let mut expected = 0.0;
        let fits = |wanted: &&FilterRequest| {
            expected += 1.0 + wanted.level.by_chance;
            expected <= room as f64
        };
        let count = wanted.iter().take_while(fits).count().max(1).min(wanted.len());
        let now = &wanted[..count];
        let mut kinds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (place, FilterRequest { level, .. }) in now.iter().enumerate() {
            kinds.entry((level.seed, level.edits)).or_default().push(place);
        }
        let mut opened: Vec<FilterAnswer> = wanted.iter().map(|_| FilterAnswer::Later).collect();
        for ((seed, edits), places) in kinds {
            let of_kind: Vec<&FilterRequest> = places.iter().map(|&place| &now[place]).collect();
            let held = self.gather((batch, layout), &of_kind, (seed, edits))?;
            let finish = |(held, wanted): (RecordWindows, &&FilterRequest)| {
                finish(held, wanted, (&self.levels, batch, layout))
            };
            let found: Vec<FilterAnswer> = held.into_par_iter().zip(&of_kind).map(finish).collect();
            places.into_iter().zip(found).for_each(|(place, found)| opened[place] = found);
        }
        Ok(opened)
    }
}

/// The regions of a record.
fn finish(
    mut held: RecordWindows,
    wanted: &FilterRequest,
    (levels, batch, layout): (&Levels, &Batch, &PairLayout),
) -> FilterAnswer {
    let &FilterRequest { record, level, least, spent, .. } = wanted;
    let codes = |strand: Strand| batch.query(layout.query(record, strand));
    if !held.is_dear {
        let dense = levels.field.dense_stretches(codes(Strand::Forward).len(), &level);
        for (&strand, windows) in layout.orientations().iter().zip(&mut held.windows) {
            let span = longest_span(codes(strand), least, &levels.field.scoring);
            push_stretches(windows, &batch.targets, &dense, span);
        }
    }
    held.join(codes(Strand::Forward).len());
    if held.is_dear {
        return FilterAnswer::Dear;
    }
    let mut regions: Vec<CandidateRegion> = Vec::new();
    for (&strand, windows) in layout.orientations().iter().zip(&held.windows) {
        let span = longest_span(codes(strand), least, &levels.field.scoring);
        let query = (strand, layout.query(record, strand));
        push_regions(&mut regions, &batch.targets, query, (span, |held| level.most_score(held)), windows);
    }
    FilterAnswer::Regions { regions, held: least, spent: spent + held.seeding }
}
