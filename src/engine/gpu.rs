//! The GPU engine: the recurrence in WGSL kernels, through wgpu.
//!
//! A query that fits one tile has one task per sweep, usually of one pair; several short queries share a workgroup.
//! Longer queries are cut into strips of rows and their targets into runs of columns. The tiles of such a grid run in
//! waves along its anti-diagonals, and pass H, E and F on through edge buffers. If a grid has few concurrent tiles,
//! whole strips run at once and wait for each other, as links of a chain.

pub mod bindings;
mod checkpoints;
mod database;
mod job;
pub mod layout;
mod paths;
mod pieces;
mod pipeline;
mod plan;
pub(crate) mod resident;
mod rows;
mod runner;
mod score;
pub mod shader;
pub mod tasks;
pub mod variant;

pub use crate::gpu::device::{AdapterEntry, card_is_granted, list};

use crate::engine::cpu::{self, Cpu};
use crate::engine::database::by_pairs;
use crate::engine::pathfinding::all_paths;
use crate::engine::primitives::BlockRoom;
use crate::engine::{
    BLOCK_ROWS, Block, Capabilities, Checkpoints, DatabaseQuery, Directions, EdgeRoom, Edges, Engine, Leg,
    PathPosition, Paths, Primitives, TargetScore, Window,
};
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::kernels::KernelCache;
use crate::gpu::run::Runtime;
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::{ComparedScores, Scoring};
use database::Databases;
use job::Job;
use layout::ResiduePacking;
use pieces::TargetRoom;
use pipeline::{Pipelines, check_limits};
use plan::DeviceLimits;
use rayon::prelude::*;
use resident::{HeldSequences, Resident};
use runner::{JobInputs, JobResult, JobUnderWay, Kit, Runner};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use variant::{DatabaseTiles, KernelResults, KernelScoring, TargetsKind, TileVariant, Variant};
use wgpu::BufferUsages;

/// Minimum number of target stretches per piece of parallel work.
const SPANNED: usize = 1 << 13;
/// With fewer sweeps per call, next to the sweeps of other workers, a device waits too long for the last sweeps
/// (docs/ideas.md).
const ENOUGH_SWEEPS: u64 = 3 << 13;
/// Chunks have a minimum length, so the last chunks usually take half the time of the others.
const LAST_SWEEPS: u64 = 4;
/// Long queries have few chunks. Chunks of half the length that other engines use give the device twice as many
/// concurrent tiles, at the cost of one column in ten more.
const CHUNK_PER_WARM_UP: u32 = 4;
/// With fewer short targets, a single query gives a device too little to do.
pub const LEAST_DATABASE: usize = 1 << 10;
/// Maximum number of bytes of checkpoints that all engines of a run hold at once. Checkpoints exist twice while they
/// are copied from the device.
const EDGE_BYTES: u64 = 192 << 20;

/// An open GPU. Its engines share its queue, its kernels and the targets that were uploaded last.
pub struct Card {
    pub(crate) runtime: Runtime,
    pipelines: Pipelines,
    targets: Mutex<Option<Arc<Resident>>>,
    room: TargetRoom,
    databases: Databases,
    /// Kernels of scans, by name.
    pub(crate) scans: KernelCache<String>,
    /// Whether strips may be chained. Cleared when a strip has given up waiting.
    chains: AtomicBool,
    edge_room: Arc<EdgeRoom>,
}

impl Card {
    /// Opens the adapter that `wanted` names (index, PCI id, part of the name), or the best real GPU.
    /// `checked` keeps the shaders' bounds checks.
    pub fn open(wanted: Option<&str>, checked: bool) -> Result<Arc<Card>, EngineError> {
        let device = match wanted {
            None => GpuDevice::open_best(checked)?,
            Some(name) => GpuDevice::open_named(&[name.to_string()], checked)?.swap_remove(0),
        };
        Card::new(device, &edge_room())
    }

    /// Opens the adapters that `names` name.
    pub fn open_named(names: &[String], checked: bool) -> Result<Vec<Arc<Card>>, EngineError> {
        Card::all(GpuDevice::open_named(names, checked)?)
    }

    /// Opens every real GPU.
    pub fn open_all(checked: bool) -> Result<Vec<Arc<Card>>, EngineError> {
        Card::all(GpuDevice::open_all(checked)?)
    }

    /// The cards of a run, which share the host's memory.
    fn all(devices: Vec<GpuDevice>) -> Result<Vec<Arc<Card>>, EngineError> {
        let room = edge_room();
        devices.into_iter().map(|device| Card::new(device, &room)).collect()
    }

    fn new(device: GpuDevice, edge_room: &Arc<EdgeRoom>) -> Result<Arc<Card>, EngineError> {
        check_limits(&device)?;
        let room = device.targets.min(buffers::largest(&device, BufferUsages::STORAGE));
        Ok(Arc::new(Card {
            room: TargetRoom::new(room),
            runtime: Runtime::new(device),
            pipelines: Pipelines::default(),
            targets: Mutex::new(None),
            databases: Databases::default(),
            scans: KernelCache::default(),
            chains: AtomicBool::new(true),
            edge_room: Arc::clone(edge_room),
        }))
    }

    pub fn name(&self) -> &str {
        &self.runtime.device.name
    }

    /// Whether no failure of the device is known.
    pub fn is_well(&self) -> bool {
        self.runtime.device.check().is_ok()
    }

    /// The kernels that queries of `rows` rows will need, as far as that is known: the kernel for their scores, and for
    /// many queries the kernel for their paths. Sweeps that serve several pairs need two score kernels: one for all
    /// pairs, one around hits.
    pub fn kernels(&self, scoring: &Scoring, rows: usize, many: bool, in_stretches: bool) -> Vec<Variant> {
        let kernel = KernelScoring::of(scoring, rows);
        if kernel.letters() != ResiduePacking::Nucleotides {
            // Proteins are usually searched for in databases.
            let tiles = DatabaseTiles::new(kernel, self.runtime.device.subgroup).filter(|_| many);
            let tile = tiles.and_then(|tiles| tiles.holding(to_u32(rows), TargetsKind::Many));
            return tile.into_iter().map(|(tile, _)| Variant::Tile(tile)).collect();
        }
        let score = TileVariant::holding(KernelResults::Score, kernel, to_u32(rows));
        let score = score.map(|score| score.in_mode(scoring.mode).on(self.runtime.device.subgroup));
        let stretched = score.filter(|_| in_stretches).map(TileVariant::in_stretches);
        let trace = many.then_some(Variant::Trace { mode: scoring.mode, pieces: kernel.pieces });
        let tiles = [stretched, score].into_iter().flatten().map(Variant::Tile);
        tiles.chain(trace).collect()
    }

    /// Whether all targets are on the card as packed bases when this scoring's kernels run.
    pub(crate) fn keeps_bases(&self, targets: &Sequences, scoring: &Scoring) -> bool {
        let letters = KernelScoring::of(scoring, 1).letters();
        letters == ResiduePacking::Nucleotides && !is_for_host(scoring) && self.holds(targets, letters)
    }

    /// Compiles a kernel that will soon be needed.
    pub fn prepare(&self, kernel: Variant, scoring: &Scoring) {
        // Most sequences have bases only.
        let clear = without_ambiguous(scoring);
        self.pipelines.prepare(&self.runtime.device, kernel, clear.as_ref().unwrap_or(scoring));
    }

    /// The packed targets on the device. Those of `residues` are present for all work that is submitted later.
    pub(crate) fn targets(
        &self,
        targets: &Arc<Sequences>,
        letters: ResiduePacking,
        residues: Range<usize>,
    ) -> Result<Arc<Resident>, EngineError> {
        let resident = {
            let lost = |_| EngineError::Lost("uploading the targets failed".to_string());
            let mut known = self.targets.lock().map_err(lost)?;
            match known.as_ref().filter(|known| known.held.is(targets, letters)) {
                Some(known) => Arc::clone(known),
                None => {
                    // Another engine may still use the old targets, and keeps them.
                    let old = known.take().and_then(Arc::into_inner);
                    let new = Resident::new(&self.runtime.device, targets, letters, old);
                    if let Err(EngineError::OutOfMemory(_)) = new {
                        self.room.refused(letters.words(targets.codes().len()) as u64 * 4);
                    }
                    Arc::clone(known.insert(Arc::new(new?)))
                }
            }
        };
        let sent = resident.send(&self.runtime, targets, residues);
        if let (Err(_), Ok(mut known)) = (&sent, self.targets.lock()) {
            // The next attempt starts afresh.
            known.take_if(|known| Arc::ptr_eq(known, &resident));
        }
        sent.map(|()| resident)
    }
}

fn edge_room() -> Arc<EdgeRoom> {
    Arc::new(EdgeRoom::new(EDGE_BYTES))
}

/// The GPU engine.
pub struct Gpu {
    card: Arc<Card>,
    runner: Runner,
    queries: (Grown, Option<HeldSequences>),
    /// Does work that is not worth a round trip to the device.
    host: Cpu,
    host_work: HostWork,
    tuning: Tuning,
}

/// Work that an engine has left to the host so far: pairs that it scored, and windows in modes other than local.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostWork {
    pub pairs: usize,
    pub windows: usize,
}

/// Thresholds between equivalent methods; tests set them to reach both.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The host fills directions of at most this many cells.
    pub few_cells: u64,
    /// The same for scores and paths while the device is busy, because they would wait for long jobs.
    pub few_while_busy: u64,
    /// With fewer concurrent tiles, much of a device is idle, so each tile gets more lanes.
    pub few_tiles: usize,
    /// Against fewer targets, a kernel for the length of a profile takes longer to compile than to run.
    pub profile_targets: usize,
    /// A sweep or a pair with more tiles is split into several jobs: this many tiles have 96 MiB of tasks.
    pub many_tiles: u64,
    pub alike: Alike,
    pub chains: Chains,
}

/// Long similar pairs, of which the host computes few cells before a device could compute all. Both numbers are for one
/// host thread.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// With fewer columns, the device is faster.
    pub cols: usize,
    /// The host computes at most one in this many cells before it leaves a pair to the device. With [`u64::MAX`], it
    /// computes none.
    pub share: u64,
}

impl Alike {
    /// The thresholds for `threads` host threads.
    fn beside(self, threads: usize) -> Alike {
        let threads = threads.max(1);
        let share = if self.share == u64::MAX {
            u64::MAX
        } else {
            self.share.div_ceil(threads as u64).max(cpu::SHARE)
        };
        Alike { cols: self.cols / threads, share }
    }
}

/// Chained strips: tiles that run concurrently and wait for the values of the tile above.
#[derive(Clone, Copy, Debug)]
pub struct Chains {
    /// Maximum number of concurrent strips, as long as taller strips can reduce the number.
    pub strips: usize,
    /// Columns of a strip in one dispatch.
    pub cols: u32,
    /// Cells of a dispatch, which cannot be interrupted: a few hundredths of a second on a fast device, and on a slow
    /// one less than a watchdog allows.
    pub cells: u64,
    /// Number of polls after which a strip gives up and the job is done in another way. A device may make strips wait
    /// for a strip that it does not run at all.
    pub patience: u32,
    /// Whether to chain strips also on devices whose lanes don't exchange values inside a subgroup.
    pub everywhere: bool,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            few_cells: 1 << 22,
            few_while_busy: 1 << 25,
            few_tiles: 1 << 10,
            profile_targets: 1 << 16,
            many_tiles: 1 << 21,
            alike: Alike { cols: 1 << 15, share: 48 },
            chains: Chains {
                strips: 1 << 9,
                cols: 1 << 17,
                cells: 1 << 35,
                patience: 1 << 18,
                everywhere: false,
            },
        }
    }
}

impl Gpu {
    pub fn new(card: Arc<Card>) -> Gpu {
        let runner = Runner::new(&card.runtime.device);
        let queries = Grown::new("queries", BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let (host_work, tuning) = (HostWork::default(), Tuning::default());
        Gpu { card, runner, queries: (queries, None), host: Cpu::new(), host_work, tuning }
    }

    pub fn tuned(self, tuning: Tuning) -> Gpu {
        Gpu { tuning, ..self }
    }

    /// Work that was left to the host.
    pub fn host_work(&self) -> HostWork {
        self.host_work
    }

    /// Kernel time so far by the device's clock, or zero if the device has none. It covers the submissions that this
    /// engine's jobs led, including jobs of other engines in them. Summed over all engines of a device, each submission
    /// counts once.
    pub fn kernel_time(&self) -> Duration {
        self.runner.kernel_time()
    }

    /// Device properties that plans depend on.
    fn limits(&self) -> DeviceLimits {
        let device = &self.card.runtime.device;
        DeviceLimits {
            tuning: self.tuning,
            subgroup: device.subgroup,
            binding: device.limits.max_storage_buffer_binding_size,
            chains: self.card.chains.load(Relaxed),
        }
    }

    /// The inputs of work on all queries and on `residues` of the targets.
    fn inputs(&mut self, batch: &Batch, residues: Range<usize>) -> Result<JobInputs, EngineError> {
        let letters = scoring_of(batch).letters();
        let device = &self.card.runtime.device;
        let scores = match letters {
            ResiduePacking::Nucleotides => None,
            ResiduePacking::Codes => {
                let words = ResiduePacking::pack_scores(&batch.scoring);
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
                let buffer = buffers::create(device, "scores", usage, words.len() as u64 * 4)?;
                device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
                Some(buffer)
            }
        };
        let targets = self.card.targets(&batch.targets, letters, residues)?;
        let queries = self.queries(&batch.queries, letters)?;
        let scoring = match without_ambiguous(&batch.scoring) {
            Some(clear) if !self.has_ambiguous(batch, &targets) => clear,
            _ => (*batch.scoring).clone(),
        };
        Ok(JobInputs { queries, targets, scores, database: None, scoring })
    }

    /// The packed queries on the device.
    fn queries(
        &mut self,
        queries: &Arc<Sequences>,
        letters: ResiduePacking,
    ) -> Result<wgpu::Buffer, EngineError> {
        let runtime = &self.card.runtime;
        let (buffer, held) = &mut self.queries;
        let words = letters.words(queries.codes().len());
        let buffer = buffer.with_room(&runtime.device, words as u64 * 4)?.clone();
        if !held.as_ref().is_some_and(|held| held.is(queries, letters)) {
            *held = None;
            let pack = |words: Range<usize>, packed: &mut [u32]| {
                letters.pack_queries(queries.codes(), words, packed);
            };
            // Tiles also count the residues before a query.
            let new = HeldSequences::new(queries, letters, i32::MAX as u32)?;
            runtime.upload(&buffer, 0..words, pack)?;
            *held = Some(new);
        }
        Ok(buffer)
    }

    /// Whether the queries or the targets, which are on the device, have residues that are no bases.
    fn has_ambiguous(&self, batch: &Batch, targets: &Resident) -> bool {
        let of_queries = |held: &HeldSequences| held.has_ambiguous(&batch.queries);
        self.queries.1.as_ref().is_none_or(of_queries) || targets.held.has_ambiguous(&batch.targets)
    }

    /// Runs one job from start to end.
    fn run(&mut self, inputs: &JobInputs, job: &Job) -> Result<JobResult, EngineError> {
        let pending = self.begin(inputs, job)?;
        self.finish(pending)
    }

    /// Whether these pairs are few enough for the host.
    fn are_few(&self, batch: &Batch, pairs: &[Pair]) -> bool {
        let mut cells = pairs.iter().scan(0, |sum: &mut u64, pair| {
            *sum = sum.saturating_add(batch.cells(pair));
            Some(*sum)
        });
        cells.all(|cells| cells <= self.tuning.few_while_busy)
    }

    fn begin(&mut self, inputs: &JobInputs, job: &Job) -> Result<JobUnderWay, EngineError> {
        let Card { runtime, pipelines, .. } = self.card.as_ref();
        self.runner.begin(Kit { runtime, pipelines, inputs }, job)
    }

    fn finish(&mut self, pending: JobUnderWay) -> Result<JobResult, EngineError> {
        self.runner.finish(&self.card.runtime, pending)
    }

    /// Runs the jobs, with up to two in flight, and passes each answer on with the data that came with its job.
    fn run_all<T>(
        &mut self,
        inputs: &JobInputs,
        mut next: impl FnMut(u64) -> Option<(Job, T)>,
        mut take: impl FnMut(JobResult, T),
    ) -> Result<(), EngineError> {
        let mut under_way: Option<(JobUnderWay, T)> = None;
        loop {
            let job = next(self.card.runtime.pace.cells());
            let begun = job.map(|(job, with)| Ok((self.begin(inputs, &job)?, with))).transpose();
            if let (Err(_), Some((pending, _))) = (&begun, under_way.take_if(|_| begun.is_err())) {
                // The job may not have been submitted yet; until then its inputs must not be overwritten.
                let _ = self.finish(pending);
            }
            let begun = begun?;
            let done = begun.is_none();
            if let Some((pending, with)) = std::mem::replace(&mut under_way, begun) {
                take(self.finish(pending)?, with);
            }
            if done {
                return Ok(());
            }
        }
    }
}

/// The range from the first to the last residue of the target stretches that some items read.
fn span<I: Sync>(batch: &Batch, items: &[I], stretch: impl Fn(&I) -> (u32, Cols) + Sync) -> Range<usize> {
    let place = |target: u32, col: u32| batch.targets.start(target as usize) + col as usize;
    let residues = |item: &I| {
        let (target, cols) = stretch(item);
        place(target, cols.start)..place(target, cols.end)
    };
    let join = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
    items.par_iter().with_min_len(SPANNED).map(residues).reduce_with(join).unwrap_or(0..0)
}

/// Whether the host does all work under a scoring, because the kernels' tables have no rows for ends of queries.
fn is_for_host(scoring: &Scoring) -> bool {
    scoring.end_bonus > 0 && scoring.compared().is_none()
}

/// The scoring of sequences without ambiguous residues, if these have a penalty of their own: it has no such penalty.
fn without_ambiguous(scoring: &Scoring) -> Option<Scoring> {
    let ComparedScores { mismatch, ambiguous, .. } = scoring.compared()?;
    (ambiguous != mismatch).then(|| scoring.clone().with_ambiguous(mismatch))
}

/// The kernels' view of a batch's scoring.
fn scoring_of(batch: &Batch) -> KernelScoring {
    KernelScoring::of(&batch.scoring, batch.queries.iter().map(<[u8]>::len).max().unwrap_or(0))
}

/// The range of target residues that windows read.
fn window_residues(batch: &Batch, windows: &[Window]) -> Range<usize> {
    span(batch, windows, |window| (window.target, window.start..window.target_end))
}

/// The range of target residues that a block reads.
fn residues_of(batch: &Batch, block: &Block) -> Range<usize> {
    span(batch, std::slice::from_ref(block), |block| (block.window.target, block.target_cols()))
}

impl Engine for Gpu {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: format!("GPU {}", self.card.name()),
            enough_sweeps: ENOUGH_SWEEPS,
            enough_of_query: 0,
            last_sweeps: LAST_SWEEPS,
            chunk_per_warm_up: CHUNK_PER_WARM_UP,
            has_quick_paths: true,
            database: LEAST_DATABASE,
        }
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        if is_for_host(&batch.scoring) {
            return self.host.score(batch, pairs);
        }
        if batch.scoring.has_own_rows() {
            return self.score_rows(batch, pairs);
        }
        // If the batch is a database with kernels of its own, kernels for pairs might have to be compiled just for
        // these pairs.
        let is_database = batch.targets.len() >= LEAST_DATABASE;
        if (is_database || self.card.runtime.is_busy()) && self.are_few(batch, pairs) {
            return self.host_scores(batch, pairs);
        }
        if !batch.scoring.mode.is_local() {
            return self.score_anchored(batch, pairs);
        }
        let Alike { cols, share } = self.tuning.alike.beside(rayon::current_num_threads());
        let mut hits = self.host.score_alike(batch, pairs, cols, share);
        let left: Vec<Pair> =
            pairs.iter().zip(&hits).filter(|(_, hit)| hit.is_none()).map(|(pair, _)| *pair).collect();
        let found = match left.is_empty() {
            true => Vec::new(),
            false => self.score_on_device(batch, &left)?,
        };
        hits.iter_mut().filter(|hit| hit.is_none()).zip(found).for_each(|(place, hit)| *place = Some(hit));
        Ok(hits.into_iter().flatten().collect())
    }

    fn quick_scores(
        &mut self,
        batch: &Batch,
        pairs: &[(Pair, i32)],
    ) -> Result<Vec<Option<HitEnd>>, EngineError> {
        // Under one piece, the device takes less time for the scores.
        match self.tuning.alike.share < u64::MAX && batch.scoring.gaps().count() > 1 {
            true => self.host.quick_scores(batch, pairs),
            false => Ok(vec![None; pairs.len()]),
        }
    }

    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        if is_for_host(&batch.scoring) {
            return self.host.score_database(batch, asked);
        }
        let has_tiles = DatabaseTiles::new(scoring_of(batch), self.limits().subgroup).is_some();
        let is_brief = batch.scoring.profile.is_some() && batch.targets.len() < self.tuning.profile_targets;
        // Tiles have the same gap costs in all rows.
        if !has_tiles || is_brief || batch.scoring.position_gaps().is_some() {
            return by_pairs(self, batch, asked);
        }
        let longest = batch.targets.longest_short();
        match self.whole(batch, |gpu| gpu.score_targets(batch, asked, longest))? {
            Some(scores) => Ok(scores),
            None => self.score_targets_in_pieces(batch, asked),
        }
    }

    fn keeps(&self, targets: &Sequences, scoring: &Scoring) -> bool {
        is_for_host(scoring) || self.card.holds(targets, KernelScoring::of(scoring, 1).letters())
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        if is_for_host(&batch.scoring) || batch.scoring.has_own_rows() {
            return self.host.paths(batch, windows);
        }
        let Alike { share, .. } = self.tuning.alike.beside(rayon::current_num_threads());
        let mut paths = match batch.scoring.mode.is_local() {
            true => self.host.trace_alike(batch, windows, share)?,
            false => Paths::none(windows.len()),
        };
        let missing = paths.missing();
        let left: Vec<Window> = missing.iter().map(|&place| windows[place as usize]).collect();
        if !left.is_empty() {
            let found = match self.whole(batch, |gpu| all_paths(gpu, batch, &left))? {
                Some(paths) => paths,
                // The borders of overlaps depend on the beginning of the whole target, but a piece may lack it.
                None if batch.scoring.mode.begins_at_either_start() => self.host_paths(batch, &left)?,
                None => {
                    self.paths_in_pieces(batch, &left, |gpu, batch, windows| all_paths(gpu, batch, windows))?
                }
            };
            paths.put_all(&missing, found);
        }
        Ok(paths)
    }

    fn quick_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        if is_for_host(&batch.scoring) || batch.scoring.has_own_rows() {
            return Ok(Paths::none(windows.len()));
        }
        self.device_paths(batch, windows)
    }
}

impl Primitives for Gpu {
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        self.host.fill(batch, windows)
    }

    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.trace_windows(batch, windows)
    }

    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
        self.sweep_block(batch, block, edges)
    }

    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError> {
        self.host.fill_blocks(batch, blocks)
    }

    fn trace_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<Option<(Vec<PathPosition>, Paths)>, EngineError> {
        self.trace_legs(batch, blocks, legs).map(Some)
    }

    /// Directions stay on the device: it has more room for them than time to send edges to the host.
    fn block_room(&self) -> BlockRoom {
        BlockRoom {
            side: 2 * BLOCK_ROWS,
            ahead: self.limits().binding.min(128 << 20),
            edges: Some(Arc::clone(&self.card.edge_room)),
        }
    }

    fn block_checkpoints(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Checkpoints, EngineError> {
        self.sweep_in_bands(batch, block, edges, side)
    }

    fn checkpoints(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Checkpoints>, EngineError> {
        self.sweep_side_by_side(batch, windows, side)
    }
}

/// A range of 32-bit columns.
type Cols = Range<u32>;
