//! Damaged, truncated and incompatible databases cause an error with exit code 1, or the same output as the valid
//! database.

use super::*;
use crate::common::random::Random;

/// Runs with the file `db` of a small folder. `expected` is the output for the valid database. Returns whether there
/// was an error.
#[track_caller]
fn noticed_or_harmless(folder: &Folder, expected: &str, what: &str) -> bool {
    let outcome = folder.run(&run_of("db", &["--format", "json"]));
    match outcome.code {
        Some(0) => assert!(outcome.text() == expected, "{what}: other bytes"),
        code => {
            assert_eq!(code, Some(1), "{what}: {}", outcome.stderr);
            let plain = ["swalign: error: db: ", "; "].iter().all(|part| outcome.stderr.contains(part));
            assert!(plain && outcome.stdout.is_empty(), "{what}: {}", outcome.stderr);
        }
    }
    outcome.code == Some(1)
}

/// Flips some bits of the whole file. src/input/database/tests.rs flips all bytes one by one.
#[test]
fn flipped_bits_and_cuts() {
    let folder = small();
    let sound = folder.read("ref.fa.swdb");
    folder.write("db", &sound);
    let expected = folder.run(&run_of("db", &["--format", "json"])).text().to_string();
    let mut random = Random::new(7);
    let mut noticed = 0;
    // All bits of the first bytes, which identify a database, and some random bits.
    let first = (0..64).map(|bit| (bit / 8, bit % 8));
    let others: Vec<_> = (0..60).map(|_| (random.below(sound.len()), random.below(8))).collect();
    for (at, bit) in first.chain(others) {
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << bit;
        folder.write("db", &flipped);
        noticed += usize::from(noticed_or_harmless(&folder, &expected, &format!("bit {bit} of byte {at}")));
    }
    assert!(noticed > 64 + 20, "{noticed}");
    for _ in 0..20 {
        let len = 8 + random.below(sound.len() - 8);
        folder.write("db", &sound[..len]);
        assert!(noticed_or_harmless(&folder, &expected, &format!("{len} bytes")));
    }
}

/// Every block is verified before the engines, the index or the scan read its residues or k-mers.
#[test]
fn damage_of_letters_and_kmers_is_noticed_by_every_filter() {
    let folder = indexed(&["illumina_chr22.fq.gz", "chr22_12k.fa"]);
    let sound = folder.read("ref.fa.swdb");
    let codes = Contents::read(&sound).unwrap().codes();
    let letters = codes.as_ptr() as usize - sound.as_ptr() as usize;
    for (at, what, filters) in [
        (letters + codes.len() / 2, "the sequences", &["index", "scan", "none", "auto"][..]),
        (sound.len() - 5, "section 8", &["index"]),
    ] {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        folder.write("db", damaged);
        for filter in filters {
            let args = ["-q", "--device", "cpu", "--filter", filter, "illumina_chr22.fq.gz", "db"];
            let outcome = folder.run(&args);
            outcome.said(1, &["db: block 1 of", what, "`swalign index`"]);
            assert!(outcome.stdout.is_empty(), "{filter}");
        }
    }
}

#[test]
fn other_versions() {
    let folder = small();
    let sound = folder.read("ref.fa.swdb");
    for (at, bytes, says) in
        [(12, [3, 0, 0, 0], "version 3"), (8, [1, 2, 3, 4], "big-endian"), (20, [0, 0, 0, 1], "truncated")]
    {
        let mut other = sound.clone();
        other[at..at + 4].copy_from_slice(&bytes);
        folder.write("db", other);
        folder.run(&run_of("db", &[])).said(1, &["db: ", says, "; "]);
    }
}

/// The file is truncated after it was opened and before the last queries are read.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_cut_while_it_is_mapped_is_an_error() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};
    for len in [0, 5_000] {
        let folder = indexed(&["chr22_12k.fa"]);
        let database = folder.file("ref.fa.swdb");
        let mut child = Command::new(crate::common::command::program())
            .args(["-v", "--device", "cpu", "-o", "out.sam", "-", "ref.fa.swdb"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // More queries than the first block, so that the run begins, but fewer than two blocks.
        let queries = format!(">q\n{}\n", "ACGTTGCATTAGCCATGGATCCATT".repeat(40)).repeat(600);
        let mut input = child.stdin.take().unwrap();
        input.write_all(queries.as_bytes()).unwrap();
        // The run prints the scoring when the database is open.
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut stderr = String::new();
        while !stderr.contains("min_score=") {
            assert_ne!(messages.read_line(&mut stderr).unwrap(), 0, "{stderr}");
        }
        std::fs::OpenOptions::new().write(true).open(&database).unwrap().set_len(len).unwrap();
        drop(input);
        messages.read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{len}: {stderr}");
        assert!(stderr.contains("ref.fa.swdb: ") && stderr.contains("truncated"), "{len}: {stderr}");
        assert!(!folder.file("out.sam").exists());
    }
}
