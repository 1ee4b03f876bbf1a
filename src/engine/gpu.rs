//! The GPU engine: the recurrence in WGSL kernels, through wgpu.
//!
//! A query that fits one tile takes one task a pair; several short ones share a workgroup. Longer
//! queries are cut into strips of rows and their targets into runs of columns; the tiles of such a
//! grid run in waves along its anti-diagonals, and hand H, E and F on through edge buffers.

mod buffers;
mod device;
mod fill;
mod grid;
mod job;
mod lattice;
pub mod layout;
mod pipeline;
mod readback;
pub mod scan;
mod score;
pub mod shader;
mod trace;
mod upload;

pub use device::{AdapterEntry, card_is_granted, list};

use crate::alignment::Hit;
use crate::batch::{Batch, Pair, Sequences, counting_sort_descending};
use crate::engine::cpu::Cpu;
use crate::engine::{Block, Directions, Edges, Engine, Lattice, Paths, Swept, Window};
use crate::error::EngineError;
use crate::scoring::Substitution;
use buffers::Grown;
use device::Device;
use job::{Answer, Inputs, Job, Pending, Runner};
use layout::{Letters, Task};
use pipeline::Pipelines;
use shader::Scores;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use upload::{Staging, with_all_threads};
use wgpu::BufferUsages;

/// Fewer residues are packed before other threads have taken notice.
const MANY_RESIDUES: usize = 1 << 23;
/// Edge values of a job, at most: 512 MiB.
const JOB_EDGES: u64 = 1 << 26;
/// Keys of the counting sort by columns.
const COLS_CLASSES: u32 = 1 << 12;
const COLS_PER_CLASS: u32 = 8;

/// An open GPU; engines on it share its queue, its kernels and the targets that were uploaded last.
pub struct Card {
    device: Device,
    pipelines: Pipelines,
    staging: Staging,
    targets: Mutex<Resident>,
    kernels: scan::Kernels,
}

/// Packed sequences on the device, those that were uploaded last.
struct Resident {
    buffer: Grown,
    holds: Option<(Weak<Sequences>, Letters)>,
}

impl Resident {
    fn new(label: &'static str) -> Resident {
        Resident { buffer: Grown::new(label, BufferUsages::STORAGE | BufferUsages::COPY_DST), holds: None }
    }

    fn has(&self, sequences: &Arc<Sequences>, letters: Letters) -> bool {
        self.holds.as_ref().is_some_and(|(known, packed_as)| {
            *packed_as == letters && known.upgrade().is_some_and(|known| Arc::ptr_eq(&known, sequences))
        })
    }

    /// The buffer that holds `sequences`, uploaded if it does not yet; `pack` makes a range of words.
    fn holding(
        &mut self,
        (device, staging): (&Device, &Staging),
        sequences: &Arc<Sequences>,
        letters: Letters,
        pack: impl Fn(&[u8], Range<usize>, &mut [u32]) + Sync,
    ) -> Result<wgpu::Buffer, EngineError> {
        let words = letters.words(sequences.codes().len());
        if self.has(sequences, letters) {
            return Ok(self.buffer.with_room(device, words as u64 * 4)?.clone());
        }
        if u32::try_from(sequences.codes().len()).is_err() {
            let residues = sequences.codes().len();
            let problem = "residues are more than a device can index; use --device cpu";
            return Err(EngineError::Unsupported(format!("{residues} {problem}")));
        }
        self.holds = None;
        let buffer = self.buffer.with_room(device, words as u64 * 4)?.clone();
        staging.upload(device, &buffer, words, |range, packed| pack(sequences.codes(), range, packed))?;
        self.holds = Some((Arc::downgrade(sequences), letters));
        Ok(buffer)
    }
}

impl Card {
    /// Opens the adapter that `wanted` names (index, PCI id, part of the name), or the best real GPU.
    /// `checked` keeps the shaders' bounds checks.
    pub fn open(wanted: Option<&str>, checked: bool) -> Result<Arc<Card>, EngineError> {
        let device = match wanted {
            None => Device::open_best(checked)?,
            Some(name) => Device::open_named(&[name.to_string()], checked)?.swap_remove(0),
        };
        Ok(Card::new(device))
    }

    /// Opens the adapters that `names` name.
    pub fn open_named(names: &[String], checked: bool) -> Result<Vec<Arc<Card>>, EngineError> {
        Ok(Device::open_named(names, checked)?.into_iter().map(Card::new).collect())
    }

    /// Opens every real GPU.
    pub fn open_all(checked: bool) -> Result<Vec<Arc<Card>>, EngineError> {
        Ok(Device::open_all(checked)?.into_iter().map(Card::new).collect())
    }

    fn new(device: Device) -> Arc<Card> {
        Arc::new(Card {
            device,
            pipelines: Pipelines::default(),
            staging: Staging::default(),
            targets: Mutex::new(Resident::new("targets")),
            kernels: scan::Kernels::default(),
        })
    }

    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// The packed targets on the device.
    fn targets(&self, targets: &Arc<Sequences>, letters: Letters) -> Result<wgpu::Buffer, EngineError> {
        let mut resident =
            self.targets.lock().map_err(|_| EngineError::Lost("uploading the targets failed".to_string()))?;
        let pack = |codes: &[u8], words: Range<usize>, packed: &mut [u32]| {
            letters.pack_targets(codes, words, packed);
        };
        let on_device = (&self.device, &self.staging);
        if resident.has(targets, letters) {
            return resident.holding(on_device, targets, letters, pack);
        }
        // Another engine may still be at work on the old ones.
        *resident = Resident::new("targets");
        let resident: &mut Resident = &mut resident;
        let mut upload = || resident.holding(on_device, targets, letters, pack);
        if targets.codes().len() < MANY_RESIDUES { upload() } else { with_all_threads(upload) }
    }
}

/// The GPU engine.
pub struct Gpu {
    card: Arc<Card>,
    runner: Runner,
    queries: Resident,
    /// Does what is not worth a round trip to the device.
    host: Cpu,
    tuning: Tuning,
}

/// Where one way to the same answer becomes better than another; tests set it to reach both.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Directions of at most so many cells are filled by the host.
    pub few_cells: u64,
    /// Fewer tiles side by side leave much of a device idle, and get more lanes each.
    pub few_tiles: usize,
    /// A sweep of more tiles is done in several jobs; so many have 96 MiB of tasks.
    pub many_tiles: u64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { few_cells: 1 << 22, few_tiles: 1 << 10, many_tiles: 1 << 21 }
    }
}

impl Gpu {
    pub fn new(card: Arc<Card>) -> Gpu {
        let runner = Runner::new(&card.device, card.staging.clone());
        Gpu { card, runner, queries: Resident::new("queries"), host: Cpu::new(), tuning: Tuning::default() }
    }

    pub fn tuned(self, tuning: Tuning) -> Gpu {
        Gpu { tuning, ..self }
    }

    /// Time spent in kernels so far by the device's clock; zero where it has none.
    pub fn kernel_time(&self) -> Duration {
        self.runner.kernel_time
    }

    fn inputs(&mut self, batch: &Batch) -> Result<Inputs, EngineError> {
        let letters = scores_of(batch).letters();
        let Card { device, staging, .. } = self.card.as_ref();
        let scores = match &batch.scoring.substitution {
            Substitution::Equal { .. } => None,
            Substitution::Matrix(matrix) => {
                let words = Letters::pack_scores(matrix);
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
                let buffer = buffers::create(device, "scores", usage, words.len() as u64 * 4)?;
                device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
                Some(buffer)
            }
        };
        let pack = |codes: &[u8], words: Range<usize>, packed: &mut [u32]| {
            letters.pack_queries(codes, words, packed);
        };
        Ok(Inputs {
            queries: self.queries.holding((device, staging), &batch.queries, letters, pack)?,
            targets: self.card.targets(&batch.targets, letters)?,
            scores,
        })
    }

    fn begin(&mut self, batch: &Batch, inputs: &Inputs, job: &Job) -> Result<Pending, EngineError> {
        self.runner.begin(&self.card.device, &self.card.pipelines, inputs, &batch.scoring, job)
    }

    fn finish(&mut self, pending: Pending) -> Result<Answer, EngineError> {
        self.runner.finish(&self.card.device, pending)
    }

    /// Runs the jobs, two of them under way at a time, and passes each answer on with what came with
    /// its job.
    fn run_all<T>(
        &mut self,
        batch: &Batch,
        inputs: &Inputs,
        mut next: impl FnMut(u64) -> Option<(Job, T)>,
        mut take: impl FnMut(Answer, T),
    ) -> Result<(), EngineError> {
        let mut under_way: Option<(Pending, T)> = None;
        loop {
            let begun = match next(self.runner.cells()) {
                Some((job, with)) => Some((self.begin(batch, inputs, &job)?, with)),
                None => None,
            };
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
/// How kernels find a batch's substitution scores.
fn scores_of(batch: &Batch) -> Scores {
    Scores::of(&batch.scoring, batch.queries.iter().map(<[u8]>::len).max().unwrap_or(0))
}
/// The tasks with the most columns first: the last to run are short.
fn longest_first(tasks: Vec<Task>) -> Vec<Task> {
    if tasks.windows(2).all(|two| two[0].cols == two[1].cols) {
        return tasks;
    }
    let keys: Vec<u32> = tasks.iter().map(|task| task.cols / COLS_PER_CLASS).collect();
    let order = counting_sort_descending(&keys, COLS_CLASSES);
    order.into_iter().map(|place| tasks[place as usize]).collect()
}

impl Engine for Gpu {
    fn describe(&self) -> String {
        format!("GPU {}", self.card.name())
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        let inputs = self.inputs(batch)?;
        let mut hits = vec![Hit::default(); pairs.len()];
        self.score_tiles(batch, &inputs, pairs, &mut hits)?;
        self.score_grids(batch, &inputs, pairs, &mut hits)?;
        Ok(hits)
    }

    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let cells =
            |window: &Window| u64::from(window.query_end) * u64::from(window.target_end - window.start);
        match windows.iter().map(cells).sum::<u64>() <= self.tuning.few_cells {
            true => self.host.fill(batch, windows),
            false => self.fill_windows(batch, windows),
        }
    }

    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.trace_windows(batch, windows)
    }

    fn sweep(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        keep: bool,
    ) -> Result<Swept, EngineError> {
        self.sweep_block(batch, block, edges, keep)
    }

    fn sweep_lattice(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Lattice, EngineError> {
        self.sweep_in_bands(batch, block, edges, side)
    }
}

/// A range of 32-bit columns.
type Cols = Range<u32>;
