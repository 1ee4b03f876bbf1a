//! Throughput of the CPU engine, on one thread unless told otherwise, answers checked:
//! `cargo bench --bench cpu -- [SET] [threads=N] [only=TEXT] [small]`.
//!
//! SET is an instruction set (default: each that this processor has). Prints a table: cells, seconds (the
//! best of some calls) and giga cell updates a second. "similar" pairs differ in a residue in 20 and a gap in 100, "diverged" ones in
//! one in 5 and one in 25; "random" ones have nothing in common. `small` divides the work by 16.

use rayon::ThreadPoolBuilder;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use swalign::alignment::{Alignment, Hit, Strand};
use swalign::alphabet::Alphabet;
use swalign::backtrace::{self, Wanted};
use swalign::batch::{Batch, Pair, Sequences};
use swalign::engine::Engine;
use swalign::engine::cpu::{Cpu, simd::InstructionSet};
use swalign::engine::plain::Plain;
use swalign::scoring::{Matrix, Scoring};

/// Cells of each row.
const CELLS: usize = 400_000_000;
const CALLS: usize = 5;
/// Every so many pairs are compared with the specification.
const CHECK_EVERY: usize = 499;

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 32) * bound) >> 32
    }

    fn sequence(&mut self, len: usize, letters: u64) -> Vec<u8> {
        (0..len).map(|_| self.below(letters) as u8).collect()
    }

    /// A stretch of `target` with a substitution in `every` residues and a gap in five times as many.
    fn read(&mut self, target: &[u8], len: usize, letters: u64, every: u64) -> Vec<u8> {
        let mut place = self.below((target.len().saturating_sub(len) + 1) as u64) as usize;
        let mut read = Vec::with_capacity(len);
        while read.len() < len {
            match self.below(10 * every) {
                0 => place += 1,
                1 => read.push(self.below(letters) as u8),
                2..12 => {
                    read.push(self.below(letters) as u8);
                    place += 1;
                }
                _ => {
                    read.push(target.get(place).copied().unwrap_or_else(|| self.below(letters) as u8));
                    place += 1;
                }
            }
        }
        read
    }
}

/// How alike the sequences of a pair are: a substitution in so many residues.
#[derive(Clone, Copy)]
enum Kind {
    Alike(u64),
    Random,
}

fn pairs(cells: usize, scoring: Scoring, kind: Kind, rows: usize, cols: usize) -> (Batch, Vec<Pair>) {
    let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
    let count = (cells / rows / cols).max(1);
    let mut random = Random(1);
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    for _ in 0..count {
        let target = random.sequence(cols, letters);
        queries.push(match kind {
            Kind::Alike(every) => random.read(&target, rows, letters, every),
            Kind::Random => random.sequence(rows, letters),
        });
        targets.push(target);
    }
    let pair = |place: u32| Pair { query: place, target: place, start: 0, own: 0, end: cols as u32 };
    (batch(queries, targets, scoring), (0..count as u32).map(pair).collect())
}

/// One query against targets of many lengths.
fn one_query(cells: usize, scoring: Scoring, rows: usize, cols: usize) -> (Batch, Vec<Pair>) {
    let mut random = Random(2);
    let count = cells / rows / cols;
    let queries: Sequences = [random.sequence(rows, 20).as_slice()].into_iter().collect();
    let mut targets = Sequences::default();
    for _ in 0..count {
        let len = cols / 2 + random.below(cols as u64) as usize;
        targets.push(random.sequence(len, 20));
    }
    let pair = |target: u32| {
        let end = targets.get(target as usize).len() as u32;
        Pair { query: 0, target, start: 0, own: 0, end }
    };
    let pairs = (0..count as u32).map(pair).collect();
    (batch(queries, targets, scoring), pairs)
}

fn batch(queries: Sequences, targets: Sequences, scoring: Scoring) -> Batch {
    Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::new(scoring) }
}

fn align(engine: &mut dyn Engine, batch: &Batch, pairs: &[Pair]) -> Answers {
    let hits = engine.score(batch, pairs).expect("scores");
    let wanted = |(pair, hit): (&Pair, &Hit)| Wanted {
        window: backtrace::window_of(batch, pair.query, pair.target, 0, hit),
        strand: Strand::Forward,
        score: hit.score,
    };
    let wanted: Vec<Wanted> = pairs.iter().zip(&hits).filter(|(_, hit)| hit.score > 0).map(wanted).collect();
    let alignments = backtrace::align(engine, batch, &wanted).expect("paths");
    (hits, alignments)
}

/// The hits and paths of some pairs.
type Answers = (Vec<Hit>, Vec<Alignment>);

/// Prints a row; every so many answers are held against the specification's, which are worked out where they are not
/// `known` yet.
fn row(
    name: &str,
    set: InstructionSet,
    (batch, pairs): &(Batch, Vec<Pair>),
    with_paths: bool,
    known: &mut Option<Answers>,
) {
    let cells: u64 = pairs.iter().map(|pair| batch.cells(pair)).sum();
    let mut cpu = Cpu::on(set);
    let mut best = f64::INFINITY;
    let (mut hits, mut paths) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let begun = Instant::now();
        match with_paths {
            true => (hits, paths) = align(&mut cpu, batch, pairs),
            false => hits = cpu.score(batch, pairs).expect("scores"),
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let (expected, expected_paths) = known.get_or_insert_with(|| {
        let some: Vec<Pair> = pairs.iter().step_by(CHECK_EVERY).copied().collect();
        align(&mut Plain::new(), batch, &some)
    });
    assert!(hits.iter().step_by(CHECK_EVERY).eq(&*expected), "{name}: other scores");
    if with_paths {
        assert!(expected_paths.iter().all(|path| paths.contains(path)), "{name}: other paths");
    }
    println!("{set}\t{name}\t{cells}\t{best:.4}\t{:.2}", cells as f64 / best / 1e9);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let value = |key: &str| arguments.iter().find_map(|argument| argument.strip_prefix(key));
    let threads = value("threads=").map_or(1, |threads| threads.parse().expect("a number of threads"));
    ThreadPoolBuilder::new().num_threads(threads).build_global().expect("threads");
    let only = value("only=").unwrap_or_default();
    let cells = if arguments.iter().any(|argument| argument == "small") { CELLS / 16 } else { CELLS };
    let named = |argument: &&String| !argument.contains('=') && *argument != "small";
    let sets = match arguments.iter().find(named) {
        Some(name) => vec![InstructionSet::named(name).expect("a set of this processor")],
        None => InstructionSet::available(),
    };
    let dna = || Scoring::dna(2, 3, 5, 2);
    let reads = || Scoring::dna(1, 4, 6, 1);
    let protein = || {
        let matrix = Matrix::named("BLOSUM62").expect("built in");
        Scoring::matrix(Alphabet::Protein, matrix, 10, 1)
    };
    println!("set\twork\tcells\tseconds\tGCUPS");
    let kinds = [("similar", Kind::Alike(20)), ("diverged", Kind::Alike(5)), ("random", Kind::Random)];
    // By what follows "score, " or "CIGAR, ": the pairs are the same.
    let mut known: HashMap<String, Option<Answers>> = HashMap::new();
    for set in sets {
        let mut row = |name: String, work: &dyn Fn() -> (Batch, Vec<Pair>), with_paths: bool| {
            if name.contains(only) {
                let of = name.split_once(", ").map_or(name.as_str(), |(_, pairs)| pairs);
                row(&name, set, &work(), with_paths, known.entry(of.to_string()).or_default());
            }
        };
        for (what, with_paths) in [("score", false), ("CIGAR", true)] {
            for (rows, cols) in [(150, 200), (500, 500)] {
                for (kind_name, kind) in kinds {
                    let name = format!("{what}, {rows} x {cols}, {kind_name}, 2/3/5/2");
                    row(name, &|| pairs(cells, dna(), kind, rows, cols), with_paths);
                }
            }
            let name = format!("{what}, 150 x 200, similar, 1/4/6/1");
            row(name, &|| pairs(cells, reads(), Kind::Alike(20), 150, 200), with_paths);
            let name = format!("{what}, protein pairs of 300 x 300, diverged");
            row(name, &|| pairs(cells, protein(), Kind::Alike(5), 300, 300), with_paths);
            let name = format!("{what}, protein, one query of 400 against many of about 350");
            row(name, &|| one_query(cells, protein(), 400, 350), with_paths);
            let name = format!("{what}, one pair of 20,000 x 20,000, similar, 2/3/5/2");
            row(name, &|| pairs(cells, dna(), Kind::Alike(20), 20_000, 20_000), with_paths);
        }
    }
}
