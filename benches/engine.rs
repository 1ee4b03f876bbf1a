//! Throughput of engines: `cargo bench --bench engine -- [DEVICE] [growth] [workers=N] [threads=N] [part=N]`, plus the
//! arguments that all benchmarks share (common/mod.rs).
//!
//! The default device is the best GPU. With `growth`, other rows run: they show how the speed depends on the sequence
//! length, the number of pairs and the number of references. `workers`, the `threads` of each and the pairs per `part`
//! apply to rows of alignments. Answers are compared with those of the CPU engine.

mod common;

use common::random::Random;
use common::reads::{Edits, read};
use common::{Bench, Row, Times};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use swalign::align::backtrace::{self, WantedPath};
use swalign::align::candidates::{ChunkLength, MetTargets, PairLayout};
use swalign::engine::cpu::Cpu;
use swalign::engine::gpu::Gpu;
use swalign::engine::{Capabilities, Directions, Engine, Primitives, Window};
use swalign::terms::alignment::{Alignment, HitEnd, Strand, Strands};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, Sequences, sweeps, swept};
use swalign::terms::bounds::Band;
use swalign::terms::scoring::{AlignmentMode, Matrix, PositionScores, Scoring};

/// One pair in this many is compared with the CPU engine.
const CHECK_EVERY: usize = 97;
/// Number of concurrent engines, threads of each, and pairs in all their parts together. With these numbers, a million
/// pairs make three parts per engine. They are the fastest with one GPU and 16 cores. A run has fewer workers and
/// smaller parts, because its records include text, which needs memory and has to be read and written.
const WORKERS: usize = 16;
const THREADS: usize = 2;
const PAIRS: usize = 16 * 20_834;
/// Maximum number of cells in a worker's part, as in a run.
const PART_CELLS: u64 = 1 << 31;
/// Minimum number of windows that a thread makes per task.
const WINDOWS: usize = 1 << 10;
/// One substitution in 50 residues, and one gap in 100.
const READ_EDITS: Edits = Edits { substitutions: 4, of: 200 };
/// Minimum score of a read's hits.
const READ_SCORE: i32 = 30;
/// Cells of each row that varies the length.
const LENGTH_CELLS: usize = 10_000_000_000;

/// Engines that share a device, like the workers of a run, and the table of results.
struct Device {
    bench: Bench,
    engines: Engines,
    /// Threads of each engine.
    threads: usize,
    /// Pairs per part.
    part: usize,
}

enum Engines {
    Cpu(Vec<Cpu>),
    Gpu(Vec<Gpu>),
}

impl Device {
    fn open(bench: Bench) -> Device {
        let workers = bench.number("workers", WORKERS);
        let engines = match &bench.device {
            Some(common::Device::Cpu(name)) => {
                let set = Bench::set(name.as_deref());
                Engines::Cpu((0..workers).map(|_| Cpu::on(set)).collect())
            }
            Some(common::Device::Gpu(name)) => Engines::on_gpu(name.as_deref(), workers),
            None => Engines::on_gpu(None, workers),
        };
        let (threads, part) = (bench.number("threads", THREADS), bench.number("part", PAIRS / workers));
        Device { bench, engines, threads, part }
    }

    fn engines(&mut self) -> Vec<&mut dyn Primitives> {
        match &mut self.engines {
            Engines::Cpu(engines) => engines.iter_mut().map(|engine| engine as &mut dyn Primitives).collect(),
            Engines::Gpu(engines) => engines.iter_mut().map(|engine| engine as &mut dyn Primitives).collect(),
        }
    }

    fn workers(&self) -> usize {
        match &self.engines {
            Engines::Cpu(engines) => engines.len(),
            Engines::Gpu(engines) => engines.len(),
        }
    }

    fn kernel_time(&self) -> Duration {
        match &self.engines {
            Engines::Cpu(_) => Duration::ZERO,
            Engines::Gpu(engines) => engines.iter().map(Gpu::kernel_time).sum(),
        }
    }
}

impl Engines {
    fn on_gpu(name: Option<&str>, workers: usize) -> Engines {
        let card = Bench::card(name);
        Engines::Gpu((0..workers).map(|_| Gpu::new(Arc::clone(&card))).collect())
    }
}

/// `count` pairs of a read and its target.
fn pairs(scoring: Scoring, count: usize, rows: usize, cols: usize) -> (Batch, Vec<Pair>) {
    let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
    let mut random = Random::new((rows * cols) as u64);
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    for _ in 0..count {
        let target = random.codes(cols, letters);
        queries.push(read(&mut random, &target, rows, letters, READ_EDITS));
        targets.push(target);
    }
    let end = cols as u32;
    let all = (0..count as u32).map(|k| Pair { query: k, target: k, start: 0, own: 0, end }).collect();
    (Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::new(scoring) }, all)
}

impl Device {
    /// Times `work` on the first engine.
    fn time<T>(&mut self, mut work: impl FnMut(&mut dyn Primitives) -> T) -> (T, Times) {
        let first = |device: &mut Device, ()| work(device.engines().swap_remove(0));
        self.bench.rounds.time_on(self, || (), first, Device::kernel_time)
    }

    fn print(&mut self, name: &str, cells: u64, times: &Times) {
        let by = self.engines()[0].capabilities().name.clone();
        let row = Row { work: name, by: &by, amount: cells as usize, unit: "cells", note: String::new() };
        self.bench.print(&row, times);
    }
}

fn check(name: &str, batch: &Batch, pairs: &[Pair], hits: &[HitEnd]) {
    let sample: Vec<usize> = (0..pairs.len()).step_by(CHECK_EVERY).collect();
    let some: Vec<Pair> = sample.iter().map(|&index| pairs[index]).collect();
    let expected = Cpu::new().score(batch, &some).expect("the CPU engine scores");
    for (index, expected) in sample.into_iter().zip(expected) {
        assert_eq!(hits[index], expected, "{name}: pair {index}");
    }
}

/// Scores pairs. Cells of a sweep that several pairs share count once.
fn score_pairs(name: &str, device: &mut Device, batch: &Batch, pairs: &[Pair]) {
    let (hits, times) = device.time(|engine| engine.score(batch, pairs).expect("scores"));
    check(name, batch, pairs, &hits);
    let cells = sweeps(pairs).map(|sweep| batch.cells(&swept(sweep))).sum();
    device.print(name, cells, &times);
}

fn score(name: &str, device: &mut Device, scoring: Scoring, count: usize, rows: usize, cols: usize) {
    let (batch, pairs) = pairs(scoring, count, rows, cols);
    score_pairs(name, device, &batch, &pairs);
}

/// One query against `count` targets.
fn one_query(name: &str, device: &mut Device, scoring: Scoring, count: usize, rows: usize, cols: usize) {
    let (batch, mut pairs) = pairs(scoring, count, rows, cols);
    pairs.iter_mut().for_each(|pair| pair.query = 0);
    score_pairs(name, device, &batch, &pairs);
}

/// A profile of the first query against `count` targets.
fn profile(name: &str, device: &mut Device, count: usize, rows: usize, cols: usize) {
    let (batch, mut pairs) = pairs(protein(), count, rows, cols);
    pairs.iter_mut().for_each(|pair| pair.query = 0);
    let matrix = Matrix::named("BLOSUM62").expect("built in");
    let scores = batch.query(0).iter().map(|&code| matrix.scores[usize::from(code)]).collect();
    let scoring =
        protein().with_profile(batch.query(0), Arc::new(PositionScores { rows: scores, gaps: Vec::new() }));
    score_pairs(name, device, &Batch { scoring: Arc::new(scoring), ..batch }, &pairs);
}

/// Strands of DNA, of which each meets all targets and may change the frame.
fn frames(name: &str, device: &mut Device, (queries, bases): (usize, usize), (count, cols): (usize, usize)) {
    let mut scoring = protein();
    scoring.frameshift = Some(15);
    let (batch, _) = pairs(scoring, count.max(queries), bases, cols);
    let end = cols as u32;
    let of_query = |query| (0..count as u32).map(move |target| Pair { query, target, start: 0, own: 0, end });
    let pairs: Vec<Pair> = (0..queries as u32).flat_map(of_query).collect();
    score_pairs(name, device, &batch, &pairs);
}

/// Scores reads, on one strand, against one whole target, like a run without a filter.
fn reads(name: &str, device: &mut Device, count: usize, rows: usize, cols: usize) {
    let mut random = Random::new((rows * cols) as u64);
    let target = random.codes(cols, 4);
    let mut queries = Sequences::default();
    (0..count).for_each(|_| queries.push(read(&mut random, &target, rows, 4, READ_EDITS)));
    let targets = [target.as_slice()].into_iter().collect();
    let batch = Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::new(dna()) };
    let layout = PairLayout { strands: Strands::Plus, meets: swalign::align::candidates::Meets::All };
    // A call that has the device to itself needs more sweeps than one of several concurrent calls.
    let Capabilities { enough_sweeps, chunk_per_warm_up, .. } = device.engines()[0].capabilities();
    let expected = MetTargets::all(&batch).expected_pairs(&batch, &layout, 0);
    let length = ChunkLength::suited(count * expected, 3 * enough_sweeps, chunk_per_warm_up);
    let of = |read| MetTargets::all(&batch).pairs(&batch, &layout, read, READ_SCORE, length);
    let pairs: Vec<Pair> = (0..count as u32).flat_map(of).collect();
    score_pairs(name, device, &batch, &pairs);
}

fn fill(name: &str, device: &mut Device, count: usize, rows: usize, cols: usize) {
    let (batch, pairs) = pairs(Scoring::dna(1, 4, 6, 1), count, rows, cols);
    let band = Band { deletions: 1 << 20, insertions: 1 << 20 };
    let (query_end, target_end) = (rows as u32, cols as u32);
    let window = |pair: &Pair| Window {
        query: pair.query,
        target: pair.target,
        start: 0,
        query_end,
        target_end,
        band,
        score: 0,
    };
    let windows: Vec<Window> = pairs.iter().map(window).collect();
    let (filled, times) = device.time(|engine| engine.fill(&batch, &windows).expect("directions"));
    let expected = Cpu::new().fill(&batch, &windows[..1]).expect("directions");
    for (i, j) in (0..query_end).flat_map(|i| (0..target_end).map(move |j| (i, j))) {
        // The gap bits are arbitrary if no path contains the gap, so only the sources are compared.
        let source = |directions: &Directions| directions.window(0).get(i, j).map(|bits| bits & 3);
        assert_eq!(source(&filled), source(&expected), "{name}: cell {i}, {j}");
    }
    device.print(name, pairs.iter().map(|pair| batch.cells(pair)).sum(), &times);
}

/// The queries of a part, and their pairs with the targets that all parts share.
type Part = (Sequences, Vec<Pair>);

/// Splits the pairs into parts of at most `size` pairs, like a run.
fn parts(batch: &Batch, pairs: &[Pair], size: usize) -> Vec<Part> {
    let most = PART_CELLS / pairs.first().map_or(1, |pair| batch.cells(pair)).max(1);
    let size = size.min(most as usize).max(1);
    let part = |pairs: &[Pair]| {
        let queries = pairs.iter().map(|pair| batch.query(pair.query)).collect();
        let renumber = |(query, pair): (u32, &Pair)| Pair { query, ..*pair };
        (queries, (0..).zip(pairs).map(renumber).collect())
    };
    pairs.chunks(size).map(part).collect()
}

/// The hits of a batch and their alignments.
type Answers = (Vec<HitEnd>, Vec<Alignment>);

fn hits_and_paths(engine: &mut dyn Primitives, batch: &Batch, pairs: &[Pair]) -> Answers {
    let hits = engine.score(batch, pairs).expect("scores");
    // The score of a whole pair may be negative.
    let is_local = batch.scoring.mode.is_local();
    assert!(!is_local || hits.iter().all(|hit| hit.score > 0), "a read was not found");
    let wanted = |(pair, hit): (&Pair, &HitEnd)| WantedPath {
        window: backtrace::window_of(batch, pair.query, pair.target, 0, hit),
        strand: Strand::Forward,
        score: hit.score,
    };
    let wanted: Vec<WantedPath> = pairs.par_iter().zip(&hits).with_min_len(WINDOWS).map(wanted).collect();
    let alignments = backtrace::align(engine, batch, &wanted).expect("alignments");
    (hits, alignments)
}

/// Computes scores, directions and paths: from host buffers that are not yet on the device to alignments in host
/// memory. Workers take the parts in turn, like in a run.
fn align(name: &str, device: &mut Device, scoring: Scoring, count: usize, rows: usize, cols: usize) {
    let (whole, pairs) = pairs(scoring, count, rows, cols);
    let parts = parts(&whole, &pairs, device.part);
    // New targets for each call, because a device does not upload targets again that it already has.
    let prepare = || {
        let targets = Arc::new(Sequences::clone(&whole.targets));
        let batch = |(queries, pairs): &Part| {
            let batch = Batch {
                queries: Arc::new(queries.clone()),
                targets: Arc::clone(&targets),
                scoring: Arc::clone(&whole.scoring),
            };
            (batch, pairs.clone())
        };
        parts.iter().map(batch).collect::<Vec<_>>()
    };
    let threads = device.threads.min(std::thread::available_parallelism().map_or(1, usize::from));
    let pool = |_| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let pools: Vec<rayon::ThreadPool> = (0..device.workers()).map(pool).collect();
    let work = |device: &mut Device, batches: Vec<(Batch, Vec<Pair>)>| {
        // Dropping the batches is not timed.
        (side_by_side(device, &pools, &batches), batches)
    };
    let ((done, _), times) = device.bench.rounds.time_on(device, prepare, work, Device::kernel_time);
    let hits: Vec<HitEnd> = done.iter().flat_map(|(hits, _)| hits).copied().collect();
    check(name, &whole, &pairs, &hits);
    let (_, expected) = hits_and_paths(&mut Cpu::new(), &whole, &pairs[..pairs.len().min(500)]);
    let found = done.iter().flat_map(|(_, alignments)| alignments);
    assert!(found.take(expected.len()).eq(&expected), "{name}: paths");
    device.print(name, pairs.iter().map(|pair| whole.cells(pair)).sum(), &times);
}

/// Computes the answers of the batches. Each worker of the device takes the next batch when it is done with the last.
fn side_by_side(
    device: &mut Device,
    pools: &[rayon::ThreadPool],
    batches: &[(Batch, Vec<Pair>)],
) -> Vec<Answers> {
    let next = AtomicUsize::new(0);
    let mine = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&part| part < batches.len());
    let work = |engine: &mut dyn Primitives| {
        let answer = |part: usize| (part, hits_and_paths(engine, &batches[part].0, &batches[part].1));
        std::iter::from_fn(mine).map(answer).collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, Answers)> = std::thread::scope(|scope| {
        let engines = device.engines().into_iter().zip(pools);
        let workers: Vec<_> =
            engines.map(|(engine, pool)| scope.spawn(move || pool.install(|| work(engine)))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    done.sort_by_key(|(part, _)| *part);
    done.into_iter().map(|(_, answers)| answers).collect()
}

/// The name of a row of the table, and the function that runs and prints it.
type Work = (String, Box<dyn Fn(&str, &mut Device)>);

fn dna() -> Scoring {
    Scoring::dna(1, 4, 6, 1)
}

fn end_to_end(mut scoring: Scoring) -> Scoring {
    scoring.mode = AlignmentMode::Global;
    scoring
}

fn protein() -> Scoring {
    Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").expect("built in"), 11, 1)
}

fn row(name: impl Into<String>, run: impl Fn(&str, &mut Device) + 'static) -> Work {
    (name.into(), Box::new(run))
}

/// The rows of the table in docs/benchmarks.md.
fn work(share: usize) -> Vec<Work> {
    vec![
        row("score DNA 512x512", move |n, d| score(n, d, dna(), 131_072 / share, 512, 512)),
        row("score DNA 150x241", move |n, d| score(n, d, dna(), 1_000_000 / share, 150, 241)),
        row("score DNA 150x4400", move |n, d| score(n, d, dna(), 100_000 / share, 150, 4400)),
        row("score DNA 26,000 of 150 x 30,000", move |n, d| reads(n, d, 26_000 / share, 150, 30_000)),
        row("score protein 512x512", move |n, d| score(n, d, protein(), 65_536 / share, 512, 512)),
        row("score protein 1 of 512 x many of 512", move |n, d| {
            one_query(n, d, protein(), 65_536 / share, 512, 512)
        }),
        row("score profile 1 of 512 x many of 512", move |n, d| profile(n, d, 65_536 / share, 512, 512)),
        row("score frames 10 of 5,000 x 4,000 of 400", move |n, d| {
            frames(n, d, (10 / share.min(10), 5000), (4000 / share, 400))
        }),
        row("score DNA 1 of 5,000 x 100,000,000", move |n, d| {
            one_query(n, d, dna(), 1536 / share, 5000, 65_536)
        }),
        row("score DNA one of 100,000x100,000", move |n, d| {
            score(n, d, dna(), 1, 100_000 / share, 100_000 / share)
        }),
        row("score DNA 2000x2000", move |n, d| score(n, d, dna(), 8_192 / share, 2000, 2000)),
        row("fill 512x512", move |n, d| fill(n, d, 8_192 / share, 512, 512)),
        row("fill 150x241", move |n, d| fill(n, d, 65_536 / share, 150, 241)),
        row("align 1000 of 512x512, 1/-1/-2", move |n, d| {
            align(n, d, Scoring::dna(1, 1, 0, 2), 1000 / share.min(10), 512, 512)
        }),
        row("align 1,000,000 of 150x241", move |n, d| align(n, d, dna(), 1_000_000 / share, 150, 241)),
        row("align 1,000,000 of 150x241, end to end", move |n, d| {
            align(n, d, end_to_end(dna()), 1_000_000 / share, 150, 241)
        }),
        row("align 5,000 of 2000x2000", move |n, d| align(n, d, dna(), 5000 / share, 2000, 2000)),
        row("align 1,000 of 5000x5000", move |n, d| align(n, d, dna(), 1000 / share, 5000, 5000)),
        row("align one 100,000x100,000", move |n, d| {
            align(n, d, Scoring::dna(2, 4, 4, 2), 1, 100_000 / share, 100_000 / share)
        }),
    ]
}

/// The rows of the curves in docs/plots. No name contains another, so `only` can select a single row.
fn growth(share: usize) -> Vec<Work> {
    let part = move |count: usize| (count / share).max(1);
    let length = |len: usize| {
        let count = part(LENGTH_CELLS / (len * len));
        row(format!("length {len}x{len}"), move |n, d| score(n, d, dna(), count, len, len))
    };
    let pairs = |count: usize| {
        row(format!("pairs {count} of 150x241"), move |n, d| align(n, d, dna(), part(count), 150, 241))
    };
    let references = |count: usize| {
        row(format!("references {count} of 1000"), move |n, d| one_query(n, d, dna(), part(count), 500, 1000))
    };
    let lengths = [50, 100, 150, 250, 500, 1000, 2000, 5000, 10_000].map(length);
    let powers = |from, to| (from..=to).map(|power| 10_usize.pow(power));
    lengths.into_iter().chain(powers(1, 6).map(pairs)).chain(powers(0, 5).map(references)).collect()
}

fn main() {
    let mut bench = Bench::new(&["growth"], &["workers", "threads", "part"]);
    let share = bench.either(1, 64);
    let mut rows = if bench.has("growth") { growth(share) } else { work(share) };
    rows.retain(|(name, _)| bench.wants(name));
    if !rows.is_empty() {
        let mut device = Device::open(bench);
        rows.iter().for_each(|(name, run)| run(name, &mut device));
    }
}
