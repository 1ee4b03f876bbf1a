//! Engines compute the scores of pairs and the paths of hits.
//!
//! All engines compute the recurrence of the front page ([`crate`]) and give the same answers, byte for byte:
//! [`plain`] is the specification, [`cpu`] uses the machine's cores, [`gpu`] runs WGSL kernels. An engine may find paths in
//! its own way. The common way uses [`Primitives`].

mod beginnings;
mod block;
pub mod blockwise;
mod carry;
mod checkpoints;
pub mod cpu;
mod database;
pub mod directions;
mod edge_room;
mod frontier;
#[cfg(feature = "gpu")]
pub mod gpu;
mod guarded;
mod overlaps;
pub mod pathfinding;
mod paths;
pub mod plain;
mod potential;
pub mod primitives;
mod recurrence;
mod rows;
mod traceback;

pub use block::{BLOCK_ROWS, Block, Edges};
pub use carry::{Carried, Carry, Edge};
pub use checkpoints::Checkpoints;
pub use database::{DatabaseQuery, TargetScore};
pub use directions::{CellBits, CellSource, Directions, Layer, Tile, WindowCells};
pub use edge_room::EdgeRoom;
pub use guarded::Guarded;
pub use paths::{FramedRun, Leg, PathPosition, Paths};
pub use potential::most_by_words;
pub use primitives::Primitives;

use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, CHUNK_PER_WARM_UP, Pair, Sequences};
use crate::terms::bounds::Band;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Time to open a GPU: 0.22 to 0.4 s on an H200.
pub const GPU_START_MS: u64 = 300;

/// The part of the matrix in which the path of one hit lies: query rows `0..query_end` and target
/// columns `start..target_end`. The path ends in the last cell and stays inside `band`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub query: u32,
    pub target: u32,
    pub start: u32,
    pub query_end: u32,
    pub target_end: u32,
    pub band: Band,
    /// Score of the path; 0 if it is unknown.
    pub score: i32,
}

impl Window {
    /// Target columns.
    pub fn cols(&self) -> u32 {
        self.target_end - self.start
    }

    /// Maximum number of bytes of its directions: `cell_bits` bits for each cell of the band, which is widened by the rows
    /// of a lane.
    pub fn direction_bytes(&self, cell_bits: u32) -> u64 {
        let band = u64::from(self.band.deletions) + u64::from(self.band.insertions) + 32;
        let cells = u64::from(self.query_end.next_multiple_of(8)) * u64::from(self.cols()).min(band);
        cells * u64::from(cell_bits) / 8
    }

    /// The columns, counted from the window's first, that the band takes in `rows`, and the one before them,
    /// which holds the first cell's diagonal neighbour.
    pub fn band_cols(&self, rows: Range<i64>) -> Range<u32> {
        let diagonal = i64::from(self.cols()) - i64::from(self.query_end);
        let clip = |col: i64| to_u32(col.clamp(0, i64::from(self.cols())));
        let first = rows.start + diagonal - i64::from(self.band.deletions) - 1;
        clip(first)..clip(rows.end + diagonal + i64::from(self.band.insertions))
    }
}

/// Name of an engine, and the sizes of calls that suit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Name of the engine and its device, for messages.
    pub name: String,
    /// Sweeps in one call that keep the engine busy. More sweeps would be shorter, and spend more columns on
    /// warming up.
    pub enough_sweeps: u64,
    /// Sweeps of one query that keep the engine busy under a matrix, whose scores it looks up query by query.
    pub enough_of_query: u64,
    /// Factor by which a call's last sweeps are split, so that the engine is not idle while a few long sweeps end.
    pub last_sweeps: u64,
    /// Columns that a chunk of a long target owns for each column that it warms up over, at least.
    pub chunk_per_warm_up: u32,
    /// Whether [`Engine::quick_paths`] finds any.
    pub has_quick_paths: bool,
    /// Short targets from which on [`Engine::score_database`] comes before [`Engine::score`].
    pub database: usize,
}

impl Capabilities {
    /// An engine to which the number of sweeps does not matter, that has no quick paths, and to which a database is many
    /// pairs.
    pub fn named(name: impl Into<String>) -> Capabilities {
        Capabilities {
            name: name.into(),
            enough_sweeps: u64::MAX,
            enough_of_query: 0,
            last_sweeps: 1,
            chunk_per_warm_up: CHUNK_PER_WARM_UP,
            has_quick_paths: false,
            database: usize::MAX,
        }
    }
}

/// Batch-level work on the recurrence. An engine may be used again after any error but
/// [`EngineError::Lost`].
pub trait Engine: Send {
    /// Name of the engine, and the sizes of calls that suit it.
    fn capabilities(&self) -> Capabilities;

    /// The best score of each pair and the first cell, in the order of [`HitEnd::order`], that has it;
    /// 0 if no cell scores. Pairs of one query on successive columns share a sweep
    /// ([`crate::terms::batch::sweeps`]).
    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError>;

    /// The hits of pairs that the engine finds sooner if only scores of at least the number beside a pair count. A hit that
    /// scores less says that the pair has none that counts. The other pairs get none.
    fn quick_scores(
        &mut self,
        batch: &Batch,
        pairs: &[(Pair, i32)],
    ) -> Result<Vec<Option<HitEnd>>, EngineError> {
        let _ = batch;
        Ok(vec![None; pairs.len()])
    }

    /// For each query the short targets ([`crate::terms::batch::Sequences::longest_short`]) that score at least what is asked, in their order.
    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        database::by_pairs(self, batch, asked)
    }

    /// Whether such targets stay with the engine from call to call. Else each call sends what it reads of them.
    fn keeps(&self, targets: &Sequences, scoring: &Scoring) -> bool {
        let _ = (targets, scoring);
        true
    }

    /// The path of each window.
    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError>;

    /// The paths that the engine finds sooner than the host could see whether they have a gap. The other windows
    /// get none.
    fn quick_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let _ = batch;
        Ok(Paths::none(windows.len()))
    }
}
