//! The devices that a run computes on, and the workers that keep them busy.

use super::estimate;
use super::threads::{Started, start};
use crate::align::candidates::by_index::DiagonalScan;
use crate::align::candidates::levels::FilterCosts;
use crate::align::hits::PORTION;
use crate::engine::cpu::Cpu;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::{Card, Gpu, LEAST_DATABASE, card_is_granted};
use crate::engine::plain::Plain;
use crate::engine::{Engine, GPU_START_MS, Guarded};
use crate::patterns::scan::diagonals::CardDiagonals;
use crate::patterns::search::finder::PatternFinder;
use crate::patterns::search::gpu::{GpuScan, OnCard};
use crate::patterns::search::sliced::SlicedScan;
use crate::patterns::search::{self, EndScan};
use crate::terms::batch::{STRETCH, Sequences};
use crate::terms::error::{EngineError, Result};
use crate::terms::options::{DeviceChoice, DevicesChoice, FilterChoice, Mode, Options};
use crate::terms::scoring::Scoring;
use crate::terms::system::HAS_THREADS;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

/// Threads for each worker if only the CPU computes, and the minimum number of workers: while some workers begin or end their
/// batches, others use the threads. With a sampled index, a few reads take most of the time, so each thread has a worker.
const CPU_THREADS: usize = 4;
const CPU_WORKERS: usize = 2;
const MOST_CPU_WORKERS: usize = 16;
/// Number of finished batches that may wait for an earlier one. With a sampled index, batches are small, and some take many
/// times as long as others.
const WAITING: usize = 1;
const SAMPLED_WAITING: usize = 64;
/// Minimum and maximum number of workers of one GPU: some prepare batches and trace paths while others wait for the
/// GPU.
const GPU_WORKERS: (usize, usize) = (2, 10);
/// Maximum number of queries of all workers together, which bounds the memory of a run. Several GPUs are as fast with
/// half of it, and their drivers and threads need memory of their own.
const QUERIES: usize = 1 << 17;
const QUERIES_OF_SEVERAL: usize = 1 << 16;
/// Number of workers of each of several GPUs. Together they have half as many threads as those of one GPU: more threads
/// need memory and are not faster.
const WORKERS_OF_SEVERAL: usize = 8;
/// Minimum number of queries of a GPU batch, unless a query alone meets this many columns on all strands: tiles of
/// several long queries together fill a device, those of one query often do not.
const SIDE_BY_SIDE: u64 = 16;
const SIDE_BY_SIDE_COLUMNS: u64 = 1 << 27;
/// The same for a database, or the minimum number of cells: its targets differ in length, so that a device needs several queries
/// at once for each of the longest targets.
const QUERIES_ON_DATABASE: usize = 64;
const CELLS_ON_DATABASE: u64 = 1 << 38;
/// Maximum number of pairs that all workers together score in one round, unless one query of each worker has more.
const SCORED_PAIRS: usize = 3 << 20;

/// Cells per second of a thread, for each byte of its vectors: 9.6e9 with 64 bytes, where scores alone reach 18e9. With
/// pairs, all hits have CIGARs, and the rate is 7e9 (docs/benchmarks.md).
const CELLS_PER_VECTOR_BYTE: u64 = 150_000_000;
const PAIRED_CELLS_PER_VECTOR_BYTE: u64 = 110_000_000;

/// With fewer cells, kernels for paths are not prepared, since the CPU may find most paths.
const MANY_CELLS: u64 = 1 << 30;

/// Maximum number of threads of a worker that has its own threads.
const WORKER_THREADS: usize = 8;

/// Hardware that a run computes on.
#[derive(Clone)]
pub enum Hardware {
    Plain,
    Cpu(InstructionSet),
    /// The cards, and whether the CPU may take over.
    Gpu(Vec<Arc<Card>>, bool),
}

/// Creates the engine of each worker, by the worker's number.
pub type EngineFactory<'a> = &'a (dyn Fn(usize) -> Guarded + Sync);

/// The workers of a run.
pub struct Crew {
    pub workers: usize,
    /// Maximum number of queries of all workers together.
    pub queries: usize,
    /// Whether the workers use GPUs, which score several long queries together.
    is_of_gpus: bool,
    /// Number of batches that may wait for the writer.
    waiting: usize,
    /// Number of pairs that a worker should score per portion ([`crate::align::hits::SearchInput`]).
    pub portion: usize,
    /// Each worker's own threads. Empty if workers share the threads of the run. With a GPU, the short loops of many
    /// workers would delay each other in a shared pool.
    pools: Vec<ThreadPool>,
}

impl Crew {
    /// Workers that share all threads.
    pub fn sharing(workers: usize) -> Crew {
        let (queries, waiting, portion) = (QUERIES, WAITING, PORTION);
        Crew { workers, queries, is_of_gpus: false, waiting, portion, pools: Vec::new() }
    }

    /// Workers with their own threads.
    fn apart(workers: usize, threads: usize, queries: usize) -> Result<Crew, EngineError> {
        let pool = |_| ThreadPoolBuilder::new().num_threads(threads).build();
        let failed = |error| {
            let text = format!("{workers} times {threads} threads for the GPU cannot be started: {error}");
            EngineError::Threads(format!("{text}; reduce --threads"))
        };
        let own = if HAS_THREADS { workers } else { 0 };
        let pools = (0..own).map(pool).collect::<Result<_, _>>().map_err(failed)?;
        let portion = PORTION.min(SCORED_PAIRS / workers);
        Ok(Crew { workers, queries, is_of_gpus: true, waiting: WAITING, portion, pools })
    }

    /// The same for references with a sampled index if `is_sampled`.
    fn for_sampled(self, is_sampled: bool) -> Crew {
        if is_sampled { Crew { waiting: SAMPLED_WAITING, ..self } } else { self }
    }

    /// Maximum number of batches under way: those of the workers, one that is gathered, one that is written, and those that
    /// wait.
    pub fn batches(&self) -> usize {
        self.workers + 2 + self.waiting
    }

    /// Number of queries or of cells that a batch should have at least, if each query meets `columns` columns of `targets`
    /// targets.
    pub fn side_by_side(&self, columns: u64, targets: usize) -> (usize, u64) {
        if !self.is_of_gpus {
            return (1, u64::MAX);
        }
        if targets >= LEAST_DATABASE {
            return (QUERIES_ON_DATABASE, CELLS_ON_DATABASE);
        }
        let queries = SIDE_BY_SIDE_COLUMNS.div_ceil(columns.max(1)).min(SIDE_BY_SIDE);
        (queries as usize, u64::MAX)
    }

    /// Runs `work` on the threads of a worker.
    pub fn run<T: Send>(&self, worker: usize, work: impl FnOnce() -> T + Send) -> T {
        match self.pools.get(worker) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

impl Hardware {
    /// Creates an engine for a worker.
    pub fn engine(&self, worker: usize) -> Guarded {
        match self {
            Hardware::Plain => Guarded::new(Box::new(Plain::new()), None),
            Hardware::Cpu(set) => Guarded::new(Box::new(Cpu::on(*set)), None),
            Hardware::Gpu(cards, may_fall_back) => {
                let gpu = Gpu::new(Arc::clone(&cards[worker % cards.len()]));
                let fallback = || Box::new(Cpu::new()) as Box<dyn Engine>;
                let fallback: Box<dyn FnOnce() -> Box<dyn Engine> + Send> = Box::new(fallback);
                Guarded::new(Box::new(gpu), may_fall_back.then_some(fallback))
            }
        }
    }

    /// Compiles the kernels that a run probably needs, judged by the length of its first query and a glance at its
    /// inputs. A driver without a cache takes a fifth of a second for each kernel, so this happens while inputs are
    /// read.
    fn prepare(&self, options: &Options, rows: usize) {
        let Hardware::Gpu(cards, _) = self else { return };
        let told = options.alphabet.or(options.scoring.alphabet());
        let Some(alphabet) = told.or_else(|| estimate::alphabet(&options.reference)) else { return };
        let Ok(scoring) = options.scoring.resolve(alphabet) else { return };
        let many = estimate::cells(options).is_none_or(|cells| cells >= MANY_CELLS);
        let all = options.mode == Mode::All && options.filter == FilterChoice::None;
        let letters = estimate::letters(&options.reference);
        let is_long = letters.is_some_and(|letters| letters > u64::from(STRETCH));
        let (scoring, in_stretches) = (&scoring, many && all && is_long);
        thread::scope(|scope| {
            for card in cards {
                for kernel in card.kernels(scoring, rows, many, in_stretches) {
                    // A kernel that gets no thread here is compiled when it is needed.
                    let _ = start(scope, move || card.prepare(kernel, scoring));
                }
            }
        });
    }

    /// Costs of the filter's steps relative to scoring, if `threads` threads perform them.
    pub fn costs(&self, threads: usize) -> FilterCosts {
        match self {
            Hardware::Plain => FilterCosts::on_plain(threads),
            Hardware::Cpu(set) => FilterCosts::on_cores(set.lanes(1), threads),
            Hardware::Gpu(cards, _) => FilterCosts::on_gpus(cards.len(), threads),
        }
    }

    /// A scan of targets for pieces of queries.
    pub fn finder(&self, targets: &Arc<Sequences>) -> PatternFinder {
        let (scan, on_device): (Box<dyn EndScan + Send>, bool) = match self {
            Hardware::Plain => (Box::new(search::plain::PlainScan), false),
            Hardware::Cpu(set) => (Box::new(SlicedScan::on(*set)), false),
            Hardware::Gpu(cards, may_fall_back) => {
                let cores = SlicedScan::on(InstructionSet::best());
                let scan = GpuScan::new(OnCard::new(Arc::clone(&cards[0])), cores, *may_fall_back);
                (Box::new(scan.sweeping()), true)
            }
        };
        PatternFinder::new(targets, scan, on_device)
    }

    /// A scan of a sampled index's positions, if these devices are GPUs that keep the targets as bases.
    pub fn diagonals(&self, targets: &Sequences, scoring: &Scoring) -> Option<Box<dyn DiagonalScan>> {
        match self {
            Hardware::Gpu(cards, _) => CardDiagonals::suited(cards, targets, scoring),
            Hardware::Plain | Hardware::Cpu(_) => None,
        }
    }

    /// Description of the devices for messages.
    pub fn describe(&self) -> String {
        match self {
            Hardware::Gpu(cards, _) if cards.len() > 1 => {
                let names: Vec<&str> = cards.iter().map(|card| card.name()).collect();
                format!("{} GPUs: {}", cards.len(), names.join(", "))
            }
            _ => self.engine(0).capabilities().name,
        }
    }

    /// The workers that keep the devices busy, with `threads` threads in all. `is_sampled` says that the references have a
    /// sampled index.
    pub fn crew(&self, threads: usize, is_sampled: bool) -> Result<Crew, EngineError> {
        let Hardware::Gpu(cards, _) = self else {
            let workers = if is_sampled { threads } else { threads / CPU_THREADS };
            return Ok(Crew::sharing(workers.clamp(CPU_WORKERS, MOST_CPU_WORKERS)).for_sampled(is_sampled));
        };
        let (least, most) = GPU_WORKERS;
        // Measured on 16 cores: ten workers of three threads each.
        let (workers, all_threads, queries) = match cards.len() {
            1 => ((threads * 5 / 8).clamp(least, most), threads * 2, QUERIES),
            several => (several * WORKERS_OF_SEVERAL, threads, QUERIES_OF_SEVERAL),
        };
        let threads = (all_threads / workers).clamp(1, WORKER_THREADS);
        Ok(Crew::apart(workers, threads, queries)?.for_sampled(is_sampled))
    }
}

/// A thread that opens the devices. Its result includes a remark if they are not the first choice.
type Opening<'scope> = Started<'scope, Result<(Hardware, String), EngineError>>;

/// Opens the devices in a separate thread. A second thread then prepares them for queries of the `length` that it
/// receives.
pub fn open_beside<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    options: &'scope Options,
    length: Receiver<usize>,
) -> Result<Opening<'scope>> {
    start(scope, move || {
        let (device, remark) = open(options)?;
        let opened = device.clone();
        // An error here occurs again, and is reported, when the kernel is needed.
        let prepare = move || length.recv().iter().for_each(|&rows| opened.prepare(options, rows));
        if HAS_THREADS {
            let _ = start(scope, || panic::catch_unwind(AssertUnwindSafe(prepare)));
        }
        Ok((device, remark))
    })
}

/// Opens the requested devices. Returns a remark if they are not the first choice.
pub fn open(options: &Options) -> Result<(Hardware, String), EngineError> {
    let card = |name: Option<&str>| Card::open(name, options.checked_shaders);
    let named = |names: &[String]| -> Result<Hardware, EngineError> {
        Ok(Hardware::Gpu(Card::open_named(names, options.checked_shaders)?, false))
    };
    let device = match &options.device {
        DevicesChoice::One(DeviceChoice::Plain) => Hardware::Plain,
        DevicesChoice::One(device @ DeviceChoice::Cpu(_)) => Hardware::Cpu(instruction_set(device)?),
        DevicesChoice::Gpus(names) => named(names)?,
        DevicesChoice::AllGpus => {
            Hardware::Gpu(Card::open_all(options.checked_shaders).map_err(with_remedy)?, false)
        }
        DevicesChoice::One(DeviceChoice::Gpu(Some(name))) => named(slice::from_ref(name))?,
        DevicesChoice::One(DeviceChoice::Gpu(None)) => {
            Hardware::Gpu(vec![card(None).map_err(with_remedy)?], false)
        }
        DevicesChoice::One(DeviceChoice::Auto) => {
            let set = InstructionSet::best();
            if is_little(options, set) {
                return Ok((Hardware::Cpu(set), ": too little work for a GPU".to_string()));
            }
            match card(None) {
                Ok(card) => Hardware::Gpu(vec![card], true),
                // A user with access to a card expects it to be used.
                Err(error) if card_is_granted() => return Err(with_remedy(error)),
                Err(error) => return Ok((Hardware::Cpu(set), format!(": {error}"))),
            }
        }
    };
    Ok((device, String::new()))
}

/// The instruction set of a CPU by its name, or the best one.
pub fn instruction_set(device: &DeviceChoice) -> Result<InstructionSet, EngineError> {
    let DeviceChoice::Cpu(Some(name)) = device else { return Ok(InstructionSet::best()) };
    InstructionSet::named(name).ok_or_else(|| {
        let known: Vec<&str> = InstructionSet::available().into_iter().map(InstructionSet::name).collect();
        let text =
            format!("this processor does not have the instruction set '{name}'; it has {}", known.join(", "));
        EngineError::NoDevice(text)
    })
}

/// Whether the CPU finishes the work before a GPU has started.
fn is_little(options: &Options, set: InstructionSet) -> bool {
    let rate = match options.mode {
        Mode::All | Mode::Triangle => CELLS_PER_VECTOR_BYTE,
        Mode::Pairs => PAIRED_CELLS_PER_VECTOR_BYTE,
    };
    let per_second = rate * set.lanes(1) as u64 * options.threads as u64;
    estimate::cells(options).is_some_and(|cells| cells < per_second / 1000 * GPU_START_MS)
}

/// Adds a remedy to the error of a requested GPU that is missing.
pub fn with_remedy(error: EngineError) -> EngineError {
    match error {
        EngineError::NoDevice(text) => EngineError::NoDevice(format!(
            "{text}; use --device cpu, or install the GPU's Vulkan driver and loader"
        )),
        other => other,
    }
}
