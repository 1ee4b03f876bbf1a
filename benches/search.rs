//! Throughput of the scan for patterns with errors, answers checked:
//! `cargo bench --bench search -- [SET | gpu[:NAME]] [threads=N] [only=TEXT]`.
//!
//! SET is an instruction set (default: each that this processor has), NAME a GPU. Prints giga letters of text times
//! patterns a second, the best of some calls; a pattern and its reverse complement are two. The text is
//! random and in memory, packed as a command's reader leaves it; packing it from a byte a letter, once, takes the
//! seconds of the first column, and the second holds all from there to sorted ends. On a GPU the last column is
//! that of the sweeps alone, by the device's clock: the text is there, and ends have not come back.

use rayon::ThreadPoolBuilder;
use std::time::{Duration, Instant};
use swalign::engine::cpu::simd::InstructionSet;
use swalign::engine::gpu::Card;
use swalign::engine::gpu::scan::Scanner;
use swalign::search::codes::Codes;
use swalign::search::exact::Exact;
use swalign::search::gpu::OnGpu;
use swalign::search::plain::Plain;
use swalign::search::sliced::Sliced;
use swalign::search::{End, Rule, Scan};

const CALLS: usize = 5;
/// Letters of the text's start, in which a few patterns' ends are compared with the specification's.
const CHECKED: usize = 1_000_000;
const CHECKED_PATTERNS: usize = 4;
/// Letters from one pattern to the next that is put there.
const PLANTED: usize = 200_003;

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

fn mix(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn codes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 62) as u8).collect()
    }
}

struct Work {
    name: &'static str,
    letters: usize,
    patterns: usize,
    len: usize,
    max_edits: u32,
    indels: bool,
}

const fn work(name: &'static str, letters: usize, patterns: usize, len: usize, max_edits: u32) -> Work {
    Work { name, letters, patterns, len, max_edits, indels: true }
}

const WORKS: [Work; 16] = [
    work("one m=20 k=3 of a text in the cache", 1_000_000, 1, 20, 3),
    work("one m=20 k=1", 100_000_000, 1, 20, 1),
    work("one m=20 k=2", 100_000_000, 1, 20, 2),
    work("one m=20 k=3", 100_000_000, 1, 20, 3),
    work("one m=32 k=3", 100_000_000, 1, 32, 3),
    work("one m=64 k=3", 100_000_000, 1, 64, 3),
    work("one m=256 k=20", 100_000_000, 1, 256, 20),
    Work { indels: false, ..work("one m=20 k=3 without gaps", 100_000_000, 1, 20, 3) },
    work("1000 and reverse m=20 k=3", 10_000_000, 2000, 20, 3),
    Work { indels: false, ..work("1000 and reverse m=20 k=3 without gaps", 10_000_000, 2000, 20, 3) },
    work("100000 m=20 k=2", 100_000, 100_000, 20, 2),
    work("1000 of m=12 k=2: many ends", 1_000_000, 1000, 12, 2),
    work("10 of m=1024 k=100", 10_000_000, 10, 1024, 100),
    work("1000 m=20 k=0", 100_000_000, 1000, 20, 0),
    work("10000 m=20 k=0", 100_000_000, 10_000, 20, 0),
    work("100000 m=20 k=0", 100_000_000, 100_000, 20, 0),
];

/// For GPUs besides: more than the cores do in a while.
const LONG: [Work; 3] = [
    work("one m=20 k=2 of a long text", 1_000_000_000, 1, 20, 2),
    work("96 of m=24 k=3", 100_000_000, 96, 24, 3),
    work("1000 and reverse m=20 k=3 of a long text", 100_000_000, 2000, 20, 3),
];

enum Backend {
    Cores(Box<dyn Scan>),
    Gpu(Box<OnGpu>),
}

struct Scanned {
    name: String,
    scan: Backend,
}

impl Scanned {
    fn ends(&self, text: &Codes, patterns: &[Vec<u8>], rule: &Rule) -> Vec<End> {
        let ends = match &self.scan {
            Backend::Cores(scan) => scan.scan(text, patterns, rule),
            Backend::Gpu(scan) => scan.scan(text, patterns, rule),
        };
        ends.expect("ends")
    }

    /// Time that the device has spent in sweeps.
    fn swept(&self) -> Duration {
        match &self.scan {
            Backend::Cores(_) => Duration::ZERO,
            Backend::Gpu(scan) => scan.scanner().kernel_time(),
        }
    }
}

fn on_cores(set: InstructionSet) -> Scanned {
    Scanned { name: set.name().to_string(), scan: Backend::Cores(Box::new(Exact::on(set))) }
}

fn on_gpu(name: Option<&str>) -> Scanned {
    let card = Card::open(name, false).expect("a GPU");
    let scan = OnGpu::new(Scanner::new(card), Sliced::on(InstructionSet::best()), false);
    Scanned { name: "gpu".to_string(), scan: Backend::Gpu(Box::new(scan)) }
}

fn row(scanned: &Scanned, work: &Work) {
    let mut random = Random(1);
    let mut text = random.codes(work.letters);
    let patterns: Vec<Vec<u8>> =
        (0..work.patterns).map(|_| random.codes(work.len).iter().map(|code| 1 << code).collect()).collect();
    if work.max_edits == 0 {
        // Else there would be nothing to compare.
        for (pattern, at) in patterns.iter().take(CHECKED_PATTERNS).zip((0..CHECKED).step_by(PLANTED)) {
            for (letter, class) in text[at..].iter_mut().zip(pattern) {
                *letter = class.trailing_zeros() as u8;
            }
        }
    }
    let rule = Rule { max_edits: work.max_edits, indels: work.indels };
    let begun = Instant::now();
    let text = Codes::of(&text);
    let packing = begun.elapsed().as_secs_f64();
    let (mut best, mut best_swept, mut ends) = (f64::INFINITY, f64::INFINITY, Vec::new());
    for _ in 0..CALLS {
        let (begun, swept) = (Instant::now(), scanned.swept());
        ends = scanned.ends(&text, &patterns, &rule);
        best = best.min(begun.elapsed().as_secs_f64());
        best_swept = best_swept.min((scanned.swept() - swept).as_secs_f64());
    }
    let checked = text.len().min(CHECKED);
    let few = patterns.len().min(CHECKED_PATTERNS);
    let expected = Plain.scan(&Codes::of(&text[..checked]), &patterns[..few], &rule).expect("ends");
    let found = ends.iter().filter(|end| (end.pattern as usize) < few && end.end as usize <= checked);
    assert!(found.eq(&expected), "{}: other ends", work.name);
    let giga = (work.letters * work.patterns) as f64 / 1e9;
    let swept = if best_swept > 0.0 { format!("{:10.2}", giga / best_swept) } else { String::new() };
    let Scanned { name, .. } = scanned;
    // By which other programs' ends are compared (scripts/sassy).
    let hashed =
        |end: &End| mix(u64::from(end.pattern) << 40 | u64::from(end.end) << 8 | u64::from(end.edits));
    let sum = ends.iter().map(hashed).fold(0, u64::wrapping_add);
    let count = ends.len();
    println!(
        "{name:10}{:44}{count:12}  {sum:016x}{packing:10.4}{best:10.4}{:10.2}{swept}",
        work.name,
        giga / best
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |key: &str| arguments.iter().find_map(|argument| argument.strip_prefix(key));
    let threads = value("threads=").map_or(1, |threads| threads.parse().expect("a number of threads"));
    ThreadPoolBuilder::new().num_threads(threads).build_global().expect("threads");
    let only = value("only=").unwrap_or_default();
    let scans = match arguments.iter().find(|argument| !argument.contains('=')) {
        Some(name) if name.starts_with("gpu") => vec![on_gpu(name.strip_prefix("gpu:"))],
        Some(name) => vec![on_cores(InstructionSet::named(name).expect("a set of this processor"))],
        None => InstructionSet::available().into_iter().map(on_cores).collect(),
    };
    println!(
        "{:10}{:44}{:>12}{:>18}{:>10}{:>10}{:>10}{:>10}",
        "set", "work", "ends", "sum", "packing", "seconds", "Gbp/s", "swept"
    );
    for scan in scans {
        let long = if matches!(scan.scan, Backend::Gpu(_)) { &LONG[..] } else { &[] };
        let works = WORKS.iter().chain(long);
        works.filter(|work| work.name.contains(only)).for_each(|work| row(&scan, work));
    }
}
