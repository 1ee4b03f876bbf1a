//! Throughput of the CPU engine: `cargo bench --bench cpu -- [cpu:SET] [threads=N]`, plus the arguments that all
//! benchmarks share (common/mod.rs).
//!
//! SET is an instruction set (default: each that this processor has), and N is 1 by default. "similar" pairs differ by
//! a substitution in 20 residues and a gap in 100, "diverged" pairs by a substitution in 5 and a gap in 25; "random"
//! pairs are unrelated. One pair in 499 is compared with the specification. Pairs with more than 2^29 cells would need
//! minutes for that, so they are compared with the first instruction set.

mod common;

use common::random::Random;
use common::reads::{Edits, read};
use common::{Bench, Device, Row};
use std::collections::HashMap;
use std::sync::Arc;
use swalign::align::backtrace::{self, WantedPath};
use swalign::engine::Engine;
use swalign::engine::cpu::{Cpu, simd::InstructionSet};
use swalign::engine::plain::Plain;
use swalign::terms::alignment::{Alignment, HitEnd, Strand};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::scoring::{Matrix, Scoring};

/// Cells of each row.
const CELLS: usize = 400_000_000;
/// One pair in this many is compared with the specification.
const CHECK_EVERY: usize = 499;
/// Maximum number of cells of a pair that is compared with the specification.
const MOST_CHECKED: u64 = 1 << 29;

/// Similarity of the sequences of a pair.
#[derive(Clone, Copy)]
enum Kind {
    Alike(Edits),
    Random,
}

const SIMILAR: Kind = Kind::Alike(Edits { substitutions: 10, of: 200 });
const TWO_PERCENT: Kind = Kind::Alike(Edits { substitutions: 4, of: 250 });
const FIFTEEN_PERCENT: Kind = Kind::Alike(Edits { substitutions: 4, of: 33 });
const DIVERGED: Kind = Kind::Alike(Edits { substitutions: 10, of: 50 });

fn pairs(cells: usize, scoring: Scoring, kind: Kind, rows: usize, cols: usize) -> (Batch, Vec<Pair>) {
    let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
    let count = (cells / rows / cols).max(1);
    let mut random = Random::new(1);
    let (mut queries, mut targets) = (Sequences::default(), Sequences::default());
    for _ in 0..count {
        let target = random.codes(cols, letters);
        queries.push(match kind {
            Kind::Alike(edits) => read(&mut random, &target, rows, letters, edits),
            Kind::Random => random.codes(rows, letters),
        });
        targets.push(target);
    }
    let pair = |place: u32| Pair { query: place, target: place, start: 0, own: 0, end: cols as u32 };
    (batch(queries, targets, scoring), (0..count as u32).map(pair).collect())
}

/// One query against targets of various lengths.
fn one_query(cells: usize, scoring: Scoring, rows: usize, cols: usize) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(2);
    let count = cells / rows / cols;
    let queries: Sequences = [random.codes(rows, 20).as_slice()].into_iter().collect();
    let mut targets = Sequences::default();
    for _ in 0..count {
        let len = cols / 2 + random.below(cols);
        targets.push(random.codes(len, 20));
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
    let wanted = |(pair, hit): (&Pair, &HitEnd)| WantedPath {
        window: backtrace::window_of(batch, pair.query, pair.target, 0, hit),
        strand: Strand::Forward,
        score: hit.score,
    };
    let wanted: Vec<WantedPath> =
        pairs.iter().zip(&hits).filter(|(_, hit)| hit.score > 0).map(wanted).collect();
    let alignments = backtrace::align(engine, batch, &wanted).expect("paths");
    (hits, alignments)
}

/// Hits and alignments.
type Answers = (Vec<HitEnd>, Vec<Alignment>);

/// Runs a row, and compares some answers with `known`. If `known` is empty, computes it with the specification.
fn row(
    bench: &mut Bench,
    name: &str,
    set: InstructionSet,
    (batch, pairs): &(Batch, Vec<Pair>),
    known: &mut Option<Answers>,
) {
    let with_paths = name.starts_with("CIGAR");
    let mut cpu = Cpu::on(set);
    let ((hits, paths), times) = bench.rounds.time(|| match with_paths {
        true => align(&mut cpu, batch, pairs),
        false => (cpu.score(batch, pairs).expect("scores"), Vec::new()),
    });
    let (expected, expected_paths) = known.get_or_insert_with(|| {
        if pairs.iter().any(|pair| batch.cells(pair) > MOST_CHECKED) {
            return (hits.clone(), paths.clone());
        }
        let some: Vec<Pair> = pairs.iter().step_by(CHECK_EVERY).copied().collect();
        align(&mut Plain::new(), batch, &some)
    });
    assert!(hits.iter().step_by(CHECK_EVERY).eq(&*expected), "{name}: other scores");
    if with_paths {
        assert!(expected_paths.iter().all(|path| paths.contains(path)), "{name}: other paths");
    }
    let amount = pairs.iter().map(|pair| batch.cells(pair)).sum::<u64>() as usize;
    bench.print(&Row { work: name, by: set.name(), amount, unit: "cells", note: String::new() }, &times);
}

/// The name of a row after "score, " or "CIGAR, ", and a function that makes its pairs.
type Work = (String, Box<dyn Fn() -> (Batch, Vec<Pair>)>);

fn works(bench: &Bench) -> Vec<Work> {
    let cells = bench.sized(CELLS);
    let side = bench.either(20_000, 2500);
    let dna = || Scoring::dna(2, 3, 5, 2);
    let protein = || {
        let matrix = Matrix::named("BLOSUM62").expect("built in");
        Scoring::matrix(Alphabet::Protein, matrix, 10, 1)
    };
    let mut works: Vec<Work> = Vec::new();
    for (rows, cols) in [(150, 200), (500, 500)] {
        for (what, kind) in [("similar", SIMILAR), ("diverged", DIVERGED), ("random", Kind::Random)] {
            let make = move || pairs(cells, dna(), kind, rows, cols);
            works.push((format!("{rows} x {cols}, {what}, 2/3/5/2"), Box::new(make)));
        }
    }
    let mut more =
        |name: &str, make: Box<dyn Fn() -> (Batch, Vec<Pair>)>| works.push((name.to_string(), make));
    let reads = || Scoring::dna(1, 4, 6, 1);
    more("150 x 200, similar, 1/4/6/1", Box::new(move || pairs(cells, reads(), SIMILAR, 150, 200)));
    let diverged = move || pairs(cells, protein(), DIVERGED, 300, 300);
    more("protein pairs of 300 x 300, diverged", Box::new(diverged));
    let many = move || one_query(cells, protein(), 400, 350);
    more("protein, one query of 400 against many of about 350", Box::new(many));
    let one = move || pairs(cells, dna(), SIMILAR, side, side);
    more("one pair of 20,000 x 20,000, similar, 2/3/5/2", Box::new(one));
    let long_reads = || Scoring::dna(2, 4, 4, 2);
    let less = bench.either(1, 20);
    for (kind, what) in [(TWO_PERCENT, "2 % errors"), (FIFTEEN_PERCENT, "15 % errors")] {
        let side = 100_000 / less;
        let make = move || pairs(1, long_reads(), kind, side, side);
        more(&format!("one pair of 100,000 x 100,000, {what}, 2/4/4/2"), Box::new(make));
    }
    for (name, rows, cols) in [
        ("3,500 x 1,000,000", 3500, 1_000_000),
        ("15,800 x 300,000", 15_800, 300_000),
        ("100,000 x 100,000", 100_000, 100_000),
    ] {
        let make = move || pairs(1, long_reads(), Kind::Random, rows / less, cols / less);
        more(&format!("one pair of {name}, random, 2/4/4/2"), Box::new(make));
    }
    works
}

fn main() {
    let mut bench = Bench::new(&[], &["threads"]);
    bench.use_threads();
    let sets = match &bench.device {
        Some(Device::Cpu(name)) => vec![Bench::set(name.as_deref())],
        Some(Device::Gpu(_)) => common::fail("GPUs are measured by --bench engine"),
        None => InstructionSet::available(),
    };
    let works = works(&bench);
    let mut known: HashMap<&str, Option<Answers>> = HashMap::new();
    for set in sets {
        for (what, (of, make)) in
            ["score", "CIGAR"].iter().flat_map(|what| works.iter().map(move |of| (what, of)))
        {
            let name = format!("{what}, {of}");
            if bench.wants(&name) {
                row(&mut bench, &name, set, &make(), known.entry(of).or_default());
            }
        }
    }
}
