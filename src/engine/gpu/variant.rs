//! Kernel variants: which ones exist, how many rows each holds, and which device resources each needs. Their WGSL is
//! built in [`shader`](super::shader).

use crate::engine::directions::cells_per_word;
use crate::engine::gpu::layout::{self, ROW_KEYS, ResiduePacking, THREADS};
use crate::engine::gpu::tasks::{
    BandGroups, BandTask, ChainTask, DatabaseTask, FillTask, JoinedTask, KeptTile, LinedTask, PlacedTarget,
    Recorded, RowsTask, ScoreTask, TaskRecord, TracebackTask,
};
use crate::terms::casts::to_u32;
use crate::terms::scoring::{AlignmentMode, MOST_PIECES, Scoring};
use std::collections::HashSet;

mod database;

pub use database::{DatabaseTiles, TargetsKind};

/// One compiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The recurrence over tiles.
    Tile(TileVariant),
    /// Fills narrow bands and traces back over them; one kernel contains all of [`TRACES`].
    Trace { mode: AlignmentMode, pieces: usize },
    /// Traces back over filled directions, whatever the scores. Directions depend on the number of pieces of the gap
    /// costs.
    Traceback { mode: AlignmentMode, pieces: usize },
    /// Scores of rows that are not residues: positions of a profile, or codons of all frames. A task has this number of lanes.
    Rows { lanes: u32, kind: RowKind },
}

/// The rows of queries that are not their residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Codons of all frames of a strand.
    Codons,
    /// Positions of a profile.
    Positions,
    /// Positions of a profile that have gap costs.
    GappedPositions,
}

impl RowKind {
    const ALL: [RowKind; 3] = [RowKind::Codons, RowKind::Positions, RowKind::GappedPositions];

    /// The rows of a scoring that has its own.
    pub fn of(scoring: &Scoring) -> RowKind {
        match (&scoring.profile, scoring.position_gaps()) {
            (None, _) => RowKind::Codons,
            (Some(_), None) => RowKind::Positions,
            (Some(_), Some(_)) => RowKind::GappedPositions,
        }
    }

    /// Words of a row of the scores.
    pub fn words(self) -> u32 {
        match self {
            RowKind::Codons | RowKind::Positions => layout::POSITION_WORDS,
            RowKind::GappedPositions => layout::GAPPED_POSITION_WORDS,
        }
    }
}

/// The results that a kernel keeps of its tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelResults {
    /// The best cell.
    Score,
    /// The directions of all cells.
    Fill,
}

/// One shape of a kernel over tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileVariant {
    pub kernel: KernelResults,
    pub scores: Scores,
    /// Number of pieces of the gap costs.
    pub pieces: usize,
    /// Lanes of a task.
    pub lanes: u32,
    /// Query rows of a lane.
    pub rows: u32,
    pub joint: TileNeighbors,
    pub exchange: Exchange,
    /// Modes other than local exist for all tiles but those of databases and of chains.
    pub mode: AlignmentMode,
}

/// How a tile exchanges edges with its neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileNeighbors {
    /// It has no neighbors. `stretched`: each stretch of a task may have a result.
    Alone { stretched: bool },
    /// Its only neighbors are tiles of its query, the strips, which the same workgroup processes in turn. Its targets
    /// are those of a database, and it keeps only the best score.
    Database { strips: bool },
    /// It reads edges and stores edges for a later dispatch. `few`: few tiles run concurrently, so that the length of
    /// the dependency chain counts instead of the number of operations.
    Joined { few: bool },
    /// It waits for the tile above while both run, with few concurrent tiles: see [`TileVariant::chained`]. `lined`: it
    /// stores edges on the lines of checkpoints.
    Chained { lined: bool },
}

/// How lanes exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// Inside their subgroup.
    Subgroup,
    /// Through workgroup memory.
    Workgroup,
}

/// How a kernel looks up `s(q, t)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scores {
    /// Match or mismatch, as a word for each row with its scores against A, C, G and T as bytes. A dot product with the
    /// target's one-hot word adds one of them to the diagonal in a single instruction.
    Packed,
    /// Match or mismatch of any size, by comparison; scores of any size.
    Compared,
    /// A matrix, as a profile in workgroup memory.
    Profile,
    /// The same if all tasks of a workgroup have one query, whose profile they share.
    SharedProfile,
    /// The same if the rows are the positions of a profile.
    SharedPositions,
    /// The same if the rows are the codons of all frames of a strand, between which paths may change the frame.
    SharedCodons,
    /// A matrix and scores of any size.
    WideProfile,
}

/// What kernels compute in a cell: how they look up `s(q, t)`, and the number of pieces of the gap costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelScoring {
    pub scores: Scores,
    pub pieces: usize,
}

impl KernelScoring {
    /// The kernels' view of a scoring, for queries of up to `longest` residues.
    pub fn of(scoring: &Scoring, longest: usize) -> KernelScoring {
        KernelScoring { scores: Scores::of(scoring, longest), pieces: scoring.gaps().count() }
    }

    /// All lookups that scorings can require, with each number of pieces.
    fn all() -> impl Iterator<Item = KernelScoring> {
        let of_pieces = |pieces| Scores::ASKED.map(|scores| KernelScoring { scores, pieces });
        (1..=MOST_PIECES).flat_map(of_pieces)
    }

    /// How residues are packed for it.
    pub fn letters(self) -> ResiduePacking {
        self.scores.letters()
    }
}

impl From<Scores> for KernelScoring {
    /// Affine or linear gap costs.
    fn from(scores: Scores) -> KernelScoring {
        KernelScoring { scores, pieces: 1 }
    }
}

impl Scores {
    /// The lookups that scorings can require.
    const ASKED: [Scores; 4] = [Scores::Packed, Scores::Compared, Scores::Profile, Scores::WideProfile];

    /// The lookup that suits a scoring and queries of up to `longest` residues.
    pub fn of(scoring: &Scoring, longest: usize) -> Scores {
        if scoring.has_own_rows() {
            return match RowKind::of(scoring) {
                RowKind::Positions | RowKind::GappedPositions => Scores::SharedPositions,
                RowKind::Codons => Scores::SharedCodons,
            };
        }
        let gaps = scoring.gaps().pieces().map(|gap| i64::from(gap.open) + 2 * i64::from(gap.extend));
        let most = gaps.fold(scoring.most_score(longest), i64::max);
        let keyed = most < i64::from(i32::MAX) / i64::from(ROW_KEYS);
        let is_small = scoring.max_step() < 128 && scoring.lowest() >= -128;
        match scoring.compared() {
            Some(_) if is_small && keyed => Scores::Packed,
            Some(_) => Scores::Compared,
            None if keyed => Scores::Profile,
            None => Scores::WideProfile,
        }
    }

    /// How residues are packed for it.
    pub fn letters(self) -> ResiduePacking {
        match self {
            Scores::Packed | Scores::Compared => ResiduePacking::Nucleotides,
            Scores::Profile
            | Scores::SharedProfile
            | Scores::SharedPositions
            | Scores::SharedCodons
            | Scores::WideProfile => ResiduePacking::Codes,
        }
    }

    /// Whether all tasks of a workgroup share a profile.
    pub fn is_shared(self) -> bool {
        matches!(self, Scores::SharedProfile | Scores::SharedPositions | Scores::SharedCodons)
    }

    pub(super) fn is_profile(self) -> bool {
        self.letters() == ResiduePacking::Codes
    }

    /// The same lookup if scores need no room for a row.
    fn unkeyed(self) -> Scores {
        if self == Scores::WideProfile { Scores::Profile } else { self }
    }

    /// Lanes, and rows of a lane, by capacity. Measured on an H200: docs/benchmarks.md.
    fn shapes(self, kernel: KernelResults) -> &'static [(u32, u32)] {
        match (self, kernel) {
            (Scores::SharedProfile | Scores::SharedPositions | Scores::SharedCodons, _) => {
                &[(4, 16), (8, 16), (8, 32), (8, 64)]
            }
            (Scores::Profile | Scores::WideProfile, _) => &[(8, 8), (8, 16), (16, 16), (32, 16)],
            (_, KernelResults::Score) => {
                &[(8, 4), (8, 8), (8, 13), (8, 16), (4, 38), (8, 25), (8, 32), (8, 38), (16, 24), (16, 32)]
            }
            (_, KernelResults::Fill) => &[(8, 8), (8, 16), (8, 20), (8, 24), (16, 16), (32, 16)],
        }
    }
}

/// Query rows of the largest tile, which is a strip of a longer query.
pub const STRIP_ROWS: u32 = crate::engine::BLOCK_ROWS;

/// Lanes of a task over rows that are not residues, by capacity.
pub const ROWS_LANES: [u32; 4] = [8, 16, THREADS, 4 * THREADS];
/// Rows of each of these lanes.
pub const ROWS_OF_LANE: u32 = 16;

/// Rows of a lane of chained tiles.
pub const CHAINED_ROWS: [u32; 5] = [4, 5, 6, 7, 8];

/// A lane kind that traces bands: the lanes of a band, and the number of cells per row of each lane, a multiple of the
/// cells of a direction word.
#[derive(Clone, Copy, Debug)]
pub struct TraceLanes {
    pub lanes: u32,
    pub cells: u32,
}

/// The lane kinds that trace, those of the narrowest bands first.
pub const TRACES: [TraceLanes; 4] = [
    TraceLanes { lanes: 1, cells: 16 },
    TraceLanes { lanes: 1, cells: 32 },
    TraceLanes { lanes: 8, cells: 8 },
    TraceLanes { lanes: 16, cells: 8 },
];

impl TraceLanes {
    /// Cells per row of the widest band that they trace.
    pub fn width(&self) -> u32 {
        self.lanes * self.cells
    }

    /// Number of windows of a workgroup.
    pub fn windows(&self) -> usize {
        (THREADS / self.lanes) as usize
    }

    /// Direction words of a workgroup for each row of its windows, under gap costs of this number of pieces.
    pub fn words(&self, pieces: usize) -> u32 {
        self.cells / cells_per_word(pieces) * THREADS
    }
}

/// Threads of a workgroup that shares a profile: enough to hide the workgroup memory that the profile takes.
const SHARING_THREADS: u32 = 256;

impl TileVariant {
    fn new(
        kernel: KernelResults,
        KernelScoring { scores, pieces }: KernelScoring,
        (lanes, rows): (u32, u32),
        joint: TileNeighbors,
    ) -> TileVariant {
        let scores = if kernel == KernelResults::Score { scores } else { scores.unkeyed() };
        let (exchange, mode) = (Exchange::Workgroup, AlignmentMode::Local);
        TileVariant { kernel, scores, pieces, lanes, rows, joint, exchange, mode }
    }

    fn alone(kernel: KernelResults, scoring: KernelScoring, shape: (u32, u32)) -> TileVariant {
        TileVariant::new(kernel, scoring, shape, TileNeighbors::Alone { stretched: false })
    }

    /// The variants without edges, by capacity.
    pub fn tiles(kernel: KernelResults, scoring: impl Into<KernelScoring>) -> Vec<TileVariant> {
        let scoring = scoring.into();
        let shapes = scoring.scores.shapes(kernel).iter();
        shapes.map(|&shape| TileVariant::alone(kernel, scoring, shape)).collect()
    }

    /// The smallest variant that holds `rows` query rows without edges.
    pub fn holding(
        kernel: KernelResults,
        scoring: impl Into<KernelScoring>,
        rows: u32,
    ) -> Option<TileVariant> {
        let scoring = scoring.into();
        let fits = scoring.scores.shapes(kernel).iter().find(|(lanes, each)| lanes * each >= rows);
        fits.map(|&shape| TileVariant::alone(kernel, scoring, shape))
    }

    /// The variant whose tiles, of [`STRIP_ROWS`] rows, are joined by edges.
    pub fn joined(kernel: KernelResults, scoring: impl Into<KernelScoring>) -> TileVariant {
        let scoring = scoring.into();
        let strip = scoring.scores.shapes(kernel).iter().find(|(lanes, rows)| lanes * rows == STRIP_ROWS);
        let joined = |&shape| TileVariant::new(kernel, scoring, shape, TileNeighbors::Joined { few: false });
        strip.map_or(TileVariant::thin(kernel, scoring), joined)
    }

    /// Joined tiles with the maximum number of lanes, for grids with too few tiles to fill the device.
    pub fn thin(kernel: KernelResults, scoring: impl Into<KernelScoring>) -> TileVariant {
        let shape = (THREADS, STRIP_ROWS / THREADS);
        TileVariant::new(kernel, scoring.into(), shape, TileNeighbors::Joined { few: true })
    }

    /// Tiles of [`CHAINED_ROWS`] that run concurrently in one dispatch, each slightly more columns after the tile above
    /// than it has lanes. They are used if scores leave room for a mark. Chains pass the gap of one piece on.
    pub fn chained(scoring: impl Into<KernelScoring>, rows: u32) -> Option<TileVariant> {
        let (scoring, joint) = (scoring.into(), TileNeighbors::Chained { lined: false });
        let variant = TileVariant::new(KernelResults::Score, scoring, (THREADS, rows), joint);
        let has_rows = rows.is_multiple_of(4) || !scoring.scores.is_profile();
        let possible = variant.keyed() && has_rows && scoring.pieces == 1;
        possible.then_some(variant)
    }

    /// The same chained tiles with edges on lines; `None` if lines don't coincide with strip borders.
    pub fn with_lines(self) -> Option<TileVariant> {
        let possible = self.is_chained() && STRIP_ROWS.is_multiple_of(self.capacity());
        possible.then_some(TileVariant { joint: TileNeighbors::Chained { lined: true }, ..self })
    }

    /// The variant for a device. `subgroup` is the fixed size of its subgroups, or `None` if the size varies.
    pub fn on(self, subgroup: Option<u32>) -> TileVariant {
        let fits = |size: u32| size >= self.lanes && size.is_multiple_of(self.lanes);
        let fits = subgroup.is_some_and(fits);
        TileVariant { exchange: if fits { Exchange::Subgroup } else { Exchange::Workgroup }, ..self }
    }

    /// The tile of another mode. All alignments end in known rows or columns, so scores need no room for a row. Values
    /// may be below 0, so edges must hold the borders of the matrix.
    pub fn in_mode(self, mode: AlignmentMode) -> TileVariant {
        if mode.is_local() { self } else { TileVariant { scores: self.scores.unkeyed(), mode, ..self } }
    }

    /// The variant for tasks of which some have a result for each stretch.
    pub fn in_stretches(self) -> TileVariant {
        match (self.kernel, self.joint) {
            (KernelResults::Score, TileNeighbors::Alone { .. }) if !self.mode.needs_whole_targets() => {
                TileVariant { joint: TileNeighbors::Alone { stretched: true }, ..self }
            }
            _ => self,
        }
    }

    /// The variant of at least the same capacity whose workgroups have one query each. `None` if there is none: it
    /// requires a profile and subgroups.
    pub fn sharing(self, subgroup: Option<u32>) -> Option<TileVariant> {
        let possible =
            self.scores == Scores::Profile && self.kernel == KernelResults::Score && !self.is_chained();
        let mut shapes = Scores::SharedProfile.shapes(self.kernel).iter();
        let &(lanes, rows) = shapes.find(|(lanes, rows)| lanes * rows >= self.capacity())?;
        let shared = TileVariant { lanes, rows, scores: Scores::SharedProfile, ..self }.on(subgroup);
        (possible && shared.exchange == Exchange::Subgroup).then_some(shared)
    }

    /// Tile rows above a query of `rows` rows. In modes other than local, borders lie directly above the query.
    pub fn pad(&self, rows: u32) -> u32 {
        if self.mode.is_local() { self.capacity() - rows } else { 0 }
    }

    /// Query rows of a tile.
    pub fn capacity(&self) -> u32 {
        self.lanes * self.rows
    }

    /// Whether the tile reads and stores edges.
    pub fn has_edges(&self) -> bool {
        !matches!(self.joint, TileNeighbors::Alone { .. } | TileNeighbors::Database { strips: false })
    }

    /// Whether its tasks are ranges of a database.
    pub fn is_of_database(&self) -> bool {
        matches!(self.joint, TileNeighbors::Database { .. })
    }

    /// Whether the tile waits for the tile above while both run.
    pub fn is_chained(&self) -> bool {
        matches!(self.joint, TileNeighbors::Chained { .. })
    }

    /// Whether the kernel shortens the dependency chain, because few tiles run concurrently.
    pub(super) fn is_few(&self) -> bool {
        let is_few =
            matches!(self.joint, TileNeighbors::Joined { few: true } | TileNeighbors::Chained { .. });
        is_few && self.pieces == 1 && self.mode.is_local()
    }

    /// The scoring of its cells.
    pub fn scoring(&self) -> KernelScoring {
        KernelScoring { scores: self.scores, pieces: self.pieces }
    }

    /// Whether each stretch of a task may have a result.
    pub(super) fn is_stretched(&self) -> bool {
        self.joint == TileNeighbors::Alone { stretched: true }
    }

    /// Threads of a workgroup.
    pub(super) fn threads(&self) -> u32 {
        if self.scores.is_shared() { SHARING_THREADS } else { THREADS }
    }

    /// Tasks of a workgroup.
    pub fn pairs(&self) -> u32 {
        self.threads() / self.lanes
    }

    /// Whether the row of a best score is stored in its low bits.
    pub(super) fn keyed(&self) -> bool {
        let has_room = matches!(self.scores, Scores::Packed | Scores::Profile | Scores::SharedProfile);
        self.kernel == KernelResults::Score && has_room && !self.is_of_database() && self.mode.is_local()
    }

    /// The factor by which the kernel multiplies scores.
    pub(super) fn scale(&self) -> u32 {
        if self.keyed() { ROW_KEYS } else { 1 }
    }

    /// Columns per iteration of the loop over steps: the scores' loop is short. Chained strips read and store as many
    /// columns at once as a word has residues.
    pub(super) fn columns(&self) -> u32 {
        match self.kernel {
            KernelResults::Score if self.is_chained() => 32 / self.scores.letters().bits(),
            KernelResults::Score => 4,
            KernelResults::Fill => 1,
        }
    }

    /// Workgroup memory in bytes.
    fn workgroup_bytes(&self) -> u32 {
        let between_lanes = match self.exchange {
            Exchange::Subgroup => 0,
            Exchange::Workgroup => 2 * (self.threads() + 1) * 4 * (1 + to_u32(self.pieces)),
        };
        let finals = if self.keeps_finals() { self.threads() * 12 } else { 0 };
        between_lanes + finals + self.profile_words() * 4
    }

    /// Whether lanes keep their best cells in workgroup memory.
    pub(super) fn keeps_finals(&self) -> bool {
        self.kernel == KernelResults::Score && (self.exchange == Exchange::Workgroup || self.is_stretched())
    }

    pub(super) fn profile_words(&self) -> u32 {
        let rows = match self.scores {
            Scores::Packed | Scores::Compared => 0,
            // Sixteen rows per element.
            Scores::SharedProfile | Scores::SharedPositions | Scores::SharedCodons => {
                self.lanes * self.rows.next_multiple_of(16)
            }
            Scores::Profile | Scores::WideProfile => self.rows * self.threads(),
        };
        rows / 4 * layout::CODES
    }

    /// Direction words of a lane's rows.
    pub(super) fn words(&self) -> u32 {
        self.rows.div_ceil(cells_per_word(self.pieces))
    }

    /// The record of its tasks.
    fn task(&self) -> TaskRecord {
        match (self.kernel, self.joint) {
            (KernelResults::Fill, _) => FillTask::RECORD,
            (KernelResults::Score, TileNeighbors::Alone { .. }) => ScoreTask::RECORD,
            (KernelResults::Score, TileNeighbors::Database { .. }) => DatabaseTask::RECORD,
            (KernelResults::Score, TileNeighbors::Joined { .. }) => JoinedTask::RECORD,
            (KernelResults::Score, TileNeighbors::Chained { lined: false }) => ChainTask::RECORD,
            (KernelResults::Score, TileNeighbors::Chained { lined: true }) => LinedTask::RECORD,
        }
    }
}

impl From<TileVariant> for Variant {
    fn from(tile: TileVariant) -> Variant {
        Variant::Tile(tile)
    }
}

impl Variant {
    /// All existing variants.
    pub fn all() -> Vec<Variant> {
        let mut all: Vec<Variant> = Vec::new();
        for kernel in [KernelResults::Score, KernelResults::Fill] {
            for scoring in KernelScoring::all() {
                let single = TileVariant::tiles(kernel, scoring).into_iter();
                let joined = [TileVariant::joined(kernel, scoring), TileVariant::thin(kernel, scoring)];
                let in_modes = single
                    .chain(joined)
                    .flat_map(|tile| AlignmentMode::ALL.map(|(mode, _)| tile.in_mode(mode)));
                let chained = CHAINED_ROWS.into_iter().filter(|_| kernel == KernelResults::Score);
                let chained = chained.filter_map(|rows| TileVariant::chained(scoring, rows));
                let chained =
                    chained.flat_map(|variant| std::iter::once(variant).chain(variant.with_lines()));
                for tile in in_modes.chain(chained) {
                    let on_devices =
                        [Some(tile), Some(tile.on(Some(tile.lanes))), tile.sharing(Some(THREADS))];
                    let tiles = on_devices.into_iter().flatten();
                    all.extend(tiles.flat_map(|tile| [tile, tile.in_stretches()]).map(Variant::Tile));
                }
            }
        }
        let of_rows = [Scores::SharedPositions, Scores::SharedCodons];
        let databases = Scores::ASKED.into_iter().chain(of_rows).flat_map(database::tiles);
        all.extend(databases.map(Variant::Tile));
        for pieces in 1..=MOST_PIECES {
            let of_mode = |(mode, _)| [Variant::Trace { mode, pieces }, Variant::Traceback { mode, pieces }];
            all.extend(AlignmentMode::ALL.into_iter().flat_map(of_mode));
        }
        let of_lanes = |lanes| RowKind::ALL.map(|kind| Variant::Rows { lanes, kind });
        all.extend(ROWS_LANES.into_iter().flat_map(of_lanes));
        let mut seen = HashSet::new();
        all.retain(|variant| seen.insert(*variant));
        all
    }

    /// Threads of a workgroup.
    pub fn threads(&self) -> u32 {
        match self {
            Variant::Tile(tile) => tile.threads(),
            Variant::Trace { .. } | Variant::Traceback { .. } => THREADS,
            Variant::Rows { lanes, .. } => THREADS.max(*lanes),
        }
    }

    /// Maximum number of tasks of a workgroup.
    pub fn pairs(&self) -> u32 {
        match self {
            Variant::Tile(tile) => tile.pairs(),
            Variant::Trace { .. } | Variant::Traceback { .. } => THREADS,
            Variant::Rows { lanes, .. } => self.threads() / lanes,
        }
    }

    /// Number of pieces of the gap costs.
    pub fn pieces(&self) -> usize {
        match self {
            Variant::Tile(tile) => tile.pieces,
            Variant::Trace { pieces, .. } | Variant::Traceback { pieces, .. } => *pieces,
            Variant::Rows { .. } => 1,
        }
    }

    /// Whether the tile waits for the tile above while both run.
    pub fn is_chained(&self) -> bool {
        matches!(self, Variant::Tile(tile) if tile.is_chained())
    }

    /// Whether its tasks are ranges of a database.
    pub fn is_of_database(&self) -> bool {
        matches!(self, Variant::Tile(tile) if tile.is_of_database())
    }

    /// Workgroup memory in bytes.
    pub fn workgroup_bytes(&self) -> u32 {
        match self {
            Variant::Tile(tile) => tile.workgroup_bytes(),
            Variant::Trace { pieces, .. } => 2 * (THREADS + 2) * 8 * to_u32(*pieces),
            // Two diagonals, and whether the path goes on.
            Variant::Traceback { .. } => (2 * THREADS + 1) * 4,
            // Values between lanes in vectors of 16 bytes, best cells, and the matrix.
            Variant::Rows { .. } => {
                2 * (self.threads() + 1) * 32 + self.threads() * 16 + layout::TABLE_WORDS * 4
            }
        }
    }

    /// The record of its tasks.
    pub fn task(&self) -> TaskRecord {
        match self {
            Variant::Tile(tile) => tile.task(),
            Variant::Trace { .. } => BandTask::RECORD,
            Variant::Traceback { .. } => TracebackTask::RECORD,
            Variant::Rows { .. } => RowsTask::RECORD,
        }
    }

    /// The record of the table that its tasks share, if they have one; that of a database stays on the device.
    pub fn table(&self) -> Option<TaskRecord> {
        match self {
            Variant::Tile(tile) => tile.is_of_database().then_some(PlacedTarget::RECORD),
            Variant::Trace { .. } => Some(BandGroups::RECORD),
            Variant::Traceback { .. } => Some(KeptTile::RECORD),
            Variant::Rows { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_tile_is_a_strip() {
        for kernel in [KernelResults::Score, KernelResults::Fill] {
            for scoring in KernelScoring::all() {
                assert_eq!(TileVariant::joined(kernel, scoring).capacity(), STRIP_ROWS);
                let largest = TileVariant::holding(kernel, scoring, STRIP_ROWS).map(|tile| tile.capacity());
                assert_eq!(largest, Some(STRIP_ROWS), "{kernel:?} {scoring:?}");
                assert_eq!(TileVariant::holding(kernel, scoring, STRIP_ROWS + 1), None);
            }
        }
    }

    #[test]
    fn every_variant_fits_the_workgroup_memory_that_every_adapter_has() {
        for variant in Variant::all() {
            assert!(variant.workgroup_bytes() <= 16 << 10, "{variant:?}: {}", variant.workgroup_bytes());
        }
    }
}
