//! What a filter in front of the scores costs where it can't help, and gives where it can: `cargo bench --bench filter`.
//!
//! Each input is searched with each filter, in turns, by the command itself. The bytes must be equal; the table has the
//! least wall time of each filter, and how many times as long `auto` takes as none, and as the best of the others. With
//! names behind `--`, only inputs whose names contain one of them are run. `cargo test --bench filter` runs all of
//! them once, small, for their bytes. SWALIGN names another program than the one that was just built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tempfile::TempDir;

const FILTERS: [&str; 4] = ["none", "index", "scan", "auto"];
const ROUNDS: usize = 3;
/// A filter that takes so many seconds once is not run again.
const LONG: f64 = 5.0;

/// A small generator (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    fn letters(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| b"ACGT"[self.below(4)]).collect()
    }

    /// A copy of which so many of a thousand letters are replaced, left out or doubled.
    fn mutated(&mut self, letters: &[u8], per_mille: usize) -> Vec<u8> {
        let mut copy = Vec::with_capacity(letters.len() + 8);
        for &letter in letters {
            match (self.below(1000) < per_mille, self.below(10)) {
                (true, 0) => {}
                (true, 1) => copy.extend([letter, letter]),
                (true, _) => copy.push(b"ACGT"[self.below(4)]),
                (false, _) => copy.push(letter),
            }
        }
        copy
    }

    /// Reads of a text, in both orientations.
    fn reads(&mut self, text: &[u8], count: usize, len: usize, per_mille: usize) -> Vec<Vec<u8>> {
        let read = |random: &mut Random| {
            let start = random.below(text.len() - len + 1);
            let read = random.mutated(&text[start..start + len], per_mille);
            if random.below(2) == 0 { read } else { turned(&read) }
        };
        (0..count).map(|_| read(self)).collect()
    }
}

fn turned(letters: &[u8]) -> Vec<u8> {
    let other = |letter: &u8| match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    };
    letters.iter().rev().map(other).collect()
}

/// An input: its name, queries and references.
type Input = (String, Vec<Vec<u8>>, Vec<Vec<u8>>);

/// All inputs; small ones have a hundredth of the letters.
fn inputs(is_small: bool) -> Vec<Input> {
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    let sized = |full: usize, small: usize| if is_small { small } else { full };
    let mut all: Vec<Input> = Vec::new();
    for len in [sized(4_000, 2_100), sized(10_000, 2_500), sized(100_000, 3_000)] {
        all.push((format!("one letter, {len} x {len}"), vec![vec![b'C'; len]], vec![vec![b'C'; len]]));
    }
    let (query, target) = (sized(10_000, 1_500), sized(20_000, 3_000));
    for unit in [1, 2, 3, 5, 7, 10, 20, 40, 80, 120, 171, 200] {
        for percent in [0, 2, 8, 15] {
            let repeat: Vec<u8> = random.letters(unit).into_iter().cycle().take(target).collect();
            let queries = vec![random.mutated(&repeat[..query], percent * 10)];
            let targets = vec![random.mutated(&repeat, percent * 10)];
            all.push((format!("repeat of {unit}, {percent} % changed"), queries, targets));
        }
    }
    let some = sized(200, 20);
    all.push(("reads of one letter".into(), vec![vec![b'A'; 150]; some], vec![vec![b'A'; target]]));
    let gene = random.letters(1_500);
    let copies: Vec<Vec<u8>> = (0..sized(2_000, 40)).map(|_| random.mutated(&gene, 20)).collect();
    all.push(("copies of one gene".into(), random.reads(&gene, some, 150, 20), copies));
    all.push(("nothing but N".into(), vec![vec![b'N'; 150]; some], vec![vec![b'N'; target]]));
    let large = random.letters(sized(50_000_000, 300_000));
    let few = random.reads(&large, 20, 150, 10);
    all.push(("few reads, 50 Mb".into(), few, vec![large.clone()]));
    let foreign: Vec<Vec<u8>> = (0..4).map(|_| random.letters(150)).collect();
    all.push(("few foreign reads, 50 Mb".into(), foreign, vec![large.clone()]));
    let many = random.reads(&large, sized(1_000, 200), 150, 10);
    all.push(("many reads, 50 Mb".into(), many, vec![large]));
    let virus = random.letters(5_000);
    all.push((
        "many reads, 5 kb".into(),
        random.reads(&virus, sized(50_000, 500), 150, 10),
        vec![virus.clone()],
    ));
    let foreign: Vec<Vec<u8>> = (0..sized(10_000, 100)).map(|_| random.letters(150)).collect();
    all.push(("many foreign reads, 5 kb".into(), foreign, vec![virus]));
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

/// Seconds of a run with a filter, and its records.
fn run(folder: &Path, filter: &str) -> (f64, Vec<u8>) {
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
    let seconds = begun.elapsed().as_secs_f64();
    assert!(status.success(), "--filter {filter} failed");
    let records = fs::read(&out).expect("an output");
    // The command line differs.
    let lines = records.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"@PG"));
    (seconds, lines.flat_map(|line| [line, b"\n"].concat()).collect())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_small = !arguments.iter().any(|argument| argument == "--bench");
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let folder = TempDir::new().expect("a temporary folder");
    println!("| input | none | index | scan | auto | auto / none | auto / best |");
    println!("|---|---|---|---|---|---|---|");
    for (name, queries, targets) in inputs(is_small) {
        if !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        write(&folder.path().join("query.fa"), &queries);
        write(&folder.path().join("target.fa"), &targets);
        let mut least = [f64::INFINITY; FILTERS.len()];
        let mut expected: Option<Vec<u8>> = None;
        for round in 0..if is_small { 1 } else { ROUNDS } {
            for (filter, least) in FILTERS.iter().zip(&mut least) {
                if round > 0 && *least > LONG {
                    continue;
                }
                let (seconds, records) = run(folder.path(), filter);
                *least = least.min(seconds);
                let expected = expected.get_or_insert_with(|| records.clone());
                assert!(*expected == records, "{name}: --filter {filter} has other records");
            }
        }
        let [none, index, scan, auto] = least;
        let best = none.min(index).min(scan);
        println!(
            "| {name} | {none:.3} | {index:.3} | {scan:.3} | {auto:.3} | {:.2} | {:.2} |",
            auto / none,
            auto / best
        );
    }
}
