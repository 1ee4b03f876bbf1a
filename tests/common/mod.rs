//! Helpers shared by the test binaries: files, seeded randomness, the golden tables, the command, devices.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod bam;
pub mod batches;
pub mod command;
pub mod definition;
pub mod devices;
pub mod folder;
pub mod golden;
pub mod gzip;
pub mod host_scan;
pub mod lines;
pub mod memory;
pub mod modes;
pub mod random;
pub mod receipts;
pub mod sam;
pub mod scans;
pub mod sorted;

use random::Random;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use swalign::terms::alignment::Strands;
use swalign::terms::alphabet::Alphabet;
use swalign::terms::groups;
use swalign::terms::scoring::{Matrix, Scoring};
use swalign::{Error, ErrorKind};

/// Number of random cases that a test takes: `some`, or `all` with SWALIGN_ALL_CASES, as in scripts/test.sh --long.
pub fn cases<T>(some: T, all: T) -> T {
    if std::env::var_os("SWALIGN_ALL_CASES").is_none() { some } else { all }
}

/// A file of `data/`.
pub fn data(name: &str) -> PathBuf {
    repository().join("data").join(name)
}

/// The root folder of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
pub fn text(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks the kind of an error of the library, and that its message contains each of `nouns`.
#[track_caller]
pub fn refused(error: &Error, kind: ErrorKind, nouns: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    let message = error.to_string();
    assert!(nouns.iter().all(|noun| message.contains(noun)), "{message}: not all of {nouns:?}");
}

/// Alternates between the minus and the plus strand.
pub fn one_strand(number: u64) -> Strands {
    if number.is_multiple_of(2) { Strands::Minus } else { Strands::Plus }
}

/// Names of `count` reads. Reads at multiples of `every` begin a group if they have at least `letters` residues.
pub fn names_in_groups(count: usize, every: usize, letters: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(count);
    for number in 0..count {
        let begins = |name: &String| match names.last() {
            Some(last) if number.is_multiple_of(every) => {
                groups::begins(last.as_bytes(), name.as_bytes(), letters)
            }
            _ => true,
        };
        let candidates = (0..).map(|k| if k == 0 { format!("r{number}") } else { format!("r{number}x{k}") });
        names.extend(candidates.filter(begins).take(1).collect::<Vec<_>>());
    }
    names
}

/// The sequences of FASTA text, by the first word of their names.
pub fn fasta(text: &str) -> BTreeMap<String, Vec<u8>> {
    let mut records = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        match line.strip_prefix('>') {
            Some(header) => {
                name = header.split_whitespace().next().unwrap_or_default().to_string();
                records.insert(name.clone(), Vec::new());
            }
            None => records.get_mut(&name).expect("a header comes first").extend(line.bytes()),
        }
    }
    records
}

/// A DNA matrix with these scores for A, C, G and T against themselves. All other pairs score `other`.
pub fn by_diagonal(own: [i8; 4], other: i8, gap_open: i32, gap_extend: i32) -> Scoring {
    let mut text = "  A C G T\n".to_string();
    for (row, letter) in "ACGT".chars().enumerate() {
        text.push(letter);
        for column in 0..4 {
            let score = if row == column { own[row] } else { other };
            write!(text, " {score}").expect("a string takes all");
        }
        text.push('\n');
    }
    let matrix = Matrix::parse("own", &text, Alphabet::Dna).expect("a matrix");
    Scoring::matrix(Alphabet::Dna, matrix, gap_open, gap_extend)
}

/// A DNA matrix in which each base scores differently from its complement.
pub fn skewed(random: &mut Random) -> Scoring {
    let mut own = [1, 2, 5, 9];
    for last in (1..own.len()).rev() {
        own.swap(last, random.below(last + 1));
    }
    let (open, extend) = random.pick(&[(10, 2), (20, 1), (0, 8)]);
    by_diagonal(own, -8 - random.below(4) as i8, open, extend)
}

/// The codes of `letters`.
pub fn codes(alphabet: Alphabet, letters: &[u8]) -> Vec<u8> {
    let mut codes = Vec::with_capacity(letters.len());
    alphabet
        .encode(letters, &mut codes)
        .unwrap_or_else(|place| panic!("letter {place} is not of {alphabet}"));
    codes
}
