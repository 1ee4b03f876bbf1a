//! Cost of the filter on inputs that it cannot reduce, and its gain on others: `cargo bench --bench filter`, plus the
//! arguments that all benchmarks share (common/mod.rs).
//!
//! For each input, the command runs with each filter in turn, on the CPU. The output must be identical. The note of
//! `auto` gives the ratios of its time to that of `none` and to that of the fastest other filter. The environment
//! variable SWALIGN names another program to run than the one just built.

mod common;

use common::random::Random;
use common::{Bench, Row, Times};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use tempfile::TempDir;

const FILTERS: [&str; 4] = ["none", "index", "scan", "auto"];
const ROUNDS: usize = 3;
/// A filter that needs longer than this is run only once.
const LONG: Duration = Duration::from_secs(5);

fn letters(random: &mut Random, len: usize) -> Vec<u8> {
    random.sequence(Alphabet::Dna, len)
}

/// A copy in which `per_mille` of a thousand bases are substituted, deleted or duplicated.
fn mutated(random: &mut Random, letters: &[u8], per_mille: usize) -> Vec<u8> {
    let mut copy = Vec::with_capacity(letters.len() + 8);
    for &letter in letters {
        match (random.below(1000) < per_mille, random.below(10)) {
            (true, 0) => {}
            (true, 1) => copy.extend([letter, letter]),
            (true, _) => copy.push(random.pick(b"ACGT")),
            (false, _) => copy.push(letter),
        }
    }
    copy
}

/// Reads of 150 bases from a text, in both orientations.
fn reads(random: &mut Random, text: &[u8], count: usize, per_mille: usize) -> Vec<Vec<u8>> {
    reads_of(random, text, (count, 150), per_mille)
}

/// Reads of `len` bases from a text, in both orientations.
fn reads_of(
    random: &mut Random,
    text: &[u8],
    (count, len): (usize, usize),
    per_mille: usize,
) -> Vec<Vec<u8>> {
    let read = |_| {
        let start = random.below(text.len() - len + 1);
        let read = mutated(random, &text[start..start + len], per_mille);
        if random.below(2) == 0 { read } else { reverse_complement(&read) }
    };
    (0..count).map(read).collect()
}

/// An input: its name, queries and references.
type Input = (String, Vec<Vec<u8>>, Vec<Vec<u8>>);

/// All inputs. With `small`, sequences are shorter and fewer.
fn inputs(bench: &Bench) -> Vec<Input> {
    let random = &mut Random::new(1);
    let sized = |full: usize, small: usize| bench.either(full, small);
    let mut all: Vec<Input> = Vec::new();
    for len in [sized(4_000, 2_100), sized(10_000, 2_500), sized(100_000, 3_000)] {
        all.push((format!("one letter, {len} x {len}"), vec![vec![b'C'; len]], vec![vec![b'C'; len]]));
    }
    let (query, target) = (sized(10_000, 1_500), sized(20_000, 3_000));
    for unit in [1, 2, 3, 5, 7, 10, 20, 40, 80, 120, 171, 200] {
        for percent in [0, 2, 8, 15] {
            let repeat: Vec<u8> = letters(random, unit).into_iter().cycle().take(target).collect();
            let queries = vec![mutated(random, &repeat[..query], percent * 10)];
            let targets = vec![mutated(random, &repeat, percent * 10)];
            all.push((format!("repeat of {unit}, {percent} % changed"), queries, targets));
        }
    }
    let some = sized(200, 20);
    all.push(("reads of one letter".into(), vec![vec![b'A'; 150]; some], vec![vec![b'A'; target]]));
    let gene = letters(random, 1_500);
    let copies: Vec<Vec<u8>> = (0..sized(2_000, 40)).map(|_| mutated(random, &gene, 20)).collect();
    all.push(("copies of one gene".into(), reads(random, &gene, some, 20), copies));
    all.push(("nothing but N".into(), vec![vec![b'N'; 150]; some], vec![vec![b'N'; target]]));
    let large = letters(random, sized(50_000_000, 300_000));
    let few = reads(random, &large, 20, 10);
    all.push(("few reads, 50 Mb".into(), few, vec![large.clone()]));
    let foreign: Vec<Vec<u8>> = (0..4).map(|_| letters(random, 150)).collect();
    all.push(("few foreign reads, 50 Mb".into(), foreign, vec![large.clone()]));
    let genome = &large[..sized(5_000_000, 100_000)].to_vec();
    let mut sample: Vec<Vec<u8>> = (0..sized(180, 90)).map(|_| letters(random, 150)).collect();
    sample.extend(reads(random, genome, sized(20, 10), 10));
    all.push(("9 of 10 reads are foreign, 5 Mb".into(), sample, vec![genome.clone()]));
    let many = reads(random, &large, sized(1_000, 200), 10);
    all.push(("many reads, 50 Mb".into(), many, vec![large]));
    let virus = letters(random, 5_000);
    all.push(("many reads, 5 kb".into(), reads(random, &virus, sized(50_000, 500), 10), vec![virus.clone()]));
    let foreign: Vec<Vec<u8>> = (0..sized(10_000, 100)).map(|_| letters(random, 150)).collect();
    all.push(("many foreign reads, 5 kb".into(), foreign, vec![virus.clone()]));
    all.extend(sample_inputs(random, sized, genome));
    all.extend(long_inputs(random, sized, &virus));
    all
}

/// Samples with reads of another organism: real reads, and simulated reads of real sequences.
fn sample_inputs(random: &mut Random, sized: impl Fn(usize, usize) -> usize, genome: &[u8]) -> Vec<Input> {
    let genome = genome[..sized(1_000_000, 100_000)].to_vec();
    let human = data("chr22_12k.fa").concat();
    let virus = data("sars2.fa");
    let mut sample = reads(random, &virus.concat(), sized(2_000, 20), 10);
    sample.extend(reads(random, &human, sized(18_000, 180), 10));
    let with_host = [vec![genome.clone()], virus.clone()].concat();
    vec![
        ("human reads, 1 Mb".into(), data("illumina_chr22.fq.gz"), vec![genome.clone()]),
        ("Nanopore reads of a virus, 1 Mb".into(), data("ont_sars2.fq.gz"), vec![genome]),
        ("Nanopore reads of a virus, 1 Mb and the virus".into(), data("ont_sars2.fq.gz"), with_host),
        ("1 of 10 reads of SARS-CoV-2, 9 human".into(), sample, virus),
    ]
}

/// The sequences of a file in data/.
fn data(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    let mut reader = needletail::parse_fastx_file(&path).expect("a file of this repository");
    let mut all = Vec::new();
    while let Some(record) = reader.next() {
        all.push(record.expect("a record").seq().into_owned());
    }
    all
}

/// Inputs with queries long enough for counting seeds.
fn long_inputs(random: &mut Random, sized: impl Fn(usize, usize) -> usize, virus: &[u8]) -> Vec<Input> {
    let mut all: Vec<Input> = Vec::new();
    let genome = letters(random, sized(1_000_000, 100_000));
    for (len, per_mille) in [(15_000, 3), (5_000, 20), (5_000, 50), (5_000, 80), (5_000, 130), (1_000, 50)] {
        let len = sized(len, len / 5);
        let reads = reads_of(random, &genome, (sized(20_000 / len, 2).max(1), len), per_mille);
        all.push((
            format!("reads of {len}, {per_mille} per mille changed, 1 Mb"),
            reads,
            vec![genome.clone()],
        ));
    }
    let foreign = vec![letters(random, sized(5_000, 1_000))];
    all.push(("a long foreign read, 1 Mb".into(), foreign, vec![genome.clone()]));
    let chimeras = reads_of(random, &genome, (sized(4, 2), sized(2_500, 500)), 20);
    all.push(("chimeras, 1 Mb".into(), vec![chimeras.concat()], vec![genome.clone()]));
    // Half of the genome consists of copies of one sequence, from which the reads are drawn.
    let unit = letters(random, sized(6_000, 1_000));
    let copies: Vec<u8> = (0..sized(80, 20)).flat_map(|_| mutated(random, &unit, 100)).collect();
    let repeats = [&genome[..genome.len() / 2], &copies[..]].concat();
    let reads = reads_of(random, &copies, (sized(4, 2), sized(5_000, 900)), 30);
    all.push(("reads in repeats, 1 Mb".into(), reads, vec![repeats]));
    let long = reads_of(random, virus, (sized(100, 10), sized(1_000, 500)), 80);
    all.push(("long reads, 5 kb".into(), long, vec![virus.to_vec()]));
    all
}

fn write(path: &Path, sequences: &[Vec<u8>]) {
    let mut text = Vec::new();
    for (number, letters) in sequences.iter().enumerate() {
        text.extend(format!(">s{number}\n").bytes());
        text.extend(letters);
        text.push(b'\n');
    }
    fs::write(path, text).expect("room for an input");
}

/// Time of a run with a filter, and its records.
fn run(folder: &Path, filter: &str) -> (Duration, Vec<u8>) {
    let out: PathBuf = folder.join("out.sam");
    let begun = Instant::now();
    let program = std::env::var_os("SWALIGN").unwrap_or_else(|| env!("CARGO_BIN_EXE_swalign").into());
    let status = Command::new(program)
        .args(["-q", "--device", "cpu", "--filter", filter])
        .args([folder.join("query.fa"), folder.join("target.fa")])
        .arg("-o")
        .arg(&out)
        .stdout(Stdio::null())
        .status()
        .expect("swalign starts");
    let wall = begun.elapsed();
    assert!(status.success(), "--filter {filter} failed");
    let records = fs::read(&out).expect("an output");
    // The command line in `@PG` differs between filters.
    let lines = records.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"@PG"));
    (wall, lines.flat_map(|line| [line, b"\n"].concat()).collect())
}

/// Times of an input with each filter.
fn times(bench: &Bench, folder: &Path, name: &str) -> [Times; FILTERS.len()] {
    let mut times: [Times; FILTERS.len()] = Default::default();
    let mut expected: Option<Vec<u8>> = None;
    for round in 0..bench.rounds.timed.min(ROUNDS) {
        for (filter, times) in FILTERS.iter().zip(&mut times) {
            if round > 0 && times.least() > LONG {
                continue;
            }
            let (wall, records) = run(folder, filter);
            times.push(wall, Duration::ZERO);
            let expected = expected.get_or_insert_with(|| records.clone());
            assert!(*expected == records, "{name}: --filter {filter} has other records");
        }
    }
    times
}

fn main() {
    let mut bench = Bench::new(&[], &[]);
    let folder = TempDir::new().expect("a temporary folder");
    for (name, queries, targets) in inputs(&bench) {
        if !bench.wants(&name) {
            continue;
        }
        write(&folder.path().join("query.fa"), &queries);
        write(&folder.path().join("target.fa"), &targets);
        let residues = |sequences: &[Vec<u8>]| sequences.iter().map(Vec::len).sum::<usize>();
        // Both strands of each query against each target.
        let amount = 2 * residues(&queries) * residues(&targets);
        let times = times(&bench, folder.path(), &name);
        let [none, index, scan, auto] = times.each_ref().map(|times| times.least().as_secs_f64());
        let ratios =
            format!("{:.2} of none, {:.2} of the best", auto / none, auto / none.min(index).min(scan));
        for (by, times) in FILTERS.iter().zip(&times) {
            let note = if *by == "auto" { ratios.clone() } else { String::new() };
            bench.print(&Row { work: &name, by, amount, unit: "cells", note }, times);
        }
    }
}
