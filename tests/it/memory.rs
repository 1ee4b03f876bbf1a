//! Bounds the peak memory of runs on inputs that once took too much. A bound is the memory of the program and of the
//! inputs, plus a margin. A debug build runs inputs of these sizes in seconds. docs/benchmarks.md has measurements of
//! larger inputs.
#![cfg(target_os = "linux")]

use crate::common::{command::program, folder::Folder, memory::peak_mib, random::Random};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Memory of a command that does nothing.
const PROGRAM_MIB: u64 = 30;

/// Writes sequences of codes as FASTA.
fn write(folder: &Folder, name: &str, sequences: impl IntoIterator<Item = Vec<u8>>) -> PathBuf {
    let path = folder.file(name);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for (number, codes) in sequences.into_iter().enumerate() {
        let letters: Vec<u8> = codes.iter().map(|&code| b"ACGT"[usize::from(code)]).collect();
        writeln!(file, ">s{number}").unwrap();
        file.write_all(&letters).unwrap();
        file.write_all(b"\n").unwrap();
    }
    file.into_inner().unwrap();
    path
}

/// Returns the peak memory of swalign on two CPU threads, in MiB.
fn takes(folder: &Folder, arguments: &[&str], files: [&Path; 2]) -> u64 {
    let mut command = Command::new(program());
    command.args(arguments).args(["--device", "cpu", "-t", "2", "-o"]).arg(folder.file("out.sam"));
    let (peak, output) = peak_mib(command.args(files));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    peak
}

/// Scoring a long pair keeps only a frontier, and its traceback keeps a bounded number of edges. A lattice of all
/// blocks would take 230 MiB.
#[test]
fn a_long_pair() {
    let (folder, mut random) = (Folder::new(), Random::new(1));
    let target = random.codes(300_000, 4);
    let query = random.mutated_codes(&target[150_000..250_000], 4, 50);
    let files = [write(&folder, "q.fa", [query]), write(&folder, "t.fa", [target])];
    let peak = takes(&folder, &["pairs", "--preset", "long"], [&files[0], &files[1]]);
    assert!(peak < PROGRAM_MIB + 60, "{peak} MiB");
}

/// Random reads have no hits, but many candidates by chance.
#[test]
fn foreign_reads_behind_a_scan() {
    let (folder, mut random) = (Folder::new(), Random::new(2));
    let target = write(&folder, "t.fa", [random.codes(20_000_000, 4)]);
    let reads = write(&folder, "q.fa", (0..40).map(|_| random.codes(150, 4)));
    let peak = takes(&folder, &["--filter", "scan", "--min-score", "85"], [&reads, &target]);
    // The targets as read and as stored, 20 MiB each.
    assert!(peak < PROGRAM_MIB + 40 + 150, "{peak} MiB");
}

#[test]
fn very_many_references() {
    let (folder, mut random) = (Folder::new(), Random::new(3));
    let targets: Vec<Vec<u8>> = (0..100_000).map(|_| random.codes(100, 4)).collect();
    let reads: Vec<Vec<u8>> = targets.iter().step_by(5_000).cloned().collect();
    let (target, reads) = (write(&folder, "t.fa", targets), write(&folder, "q.fa", reads));
    for filter in ["auto", "index", "none"] {
        let peak = takes(&folder, &["--filter", filter], [&reads, &target]);
        assert!(peak < PROGRAM_MIB + 20 + 100, "{filter}: {peak} MiB");
    }
}

/// An index takes 4 bytes for each base and 4 bytes for each of the 4^12 k-mers.
#[test]
fn an_index() {
    let (folder, mut random) = (Folder::new(), Random::new(4));
    let text = random.codes(10_000_000, 4);
    let reads: Vec<Vec<u8>> = (0..400).map(|k| text[k * 20_000..k * 20_000 + 150].to_vec()).collect();
    let (target, reads) = (write(&folder, "t.fa", [text]), write(&folder, "q.fa", reads));
    let peak = takes(&folder, &["--filter", "index"], [&reads, &target]);
    assert!(peak < PROGRAM_MIB + 20 + 40 + 64 + 50, "{peak} MiB");
}

/// A record of any length takes one byte per base. The search for repeats, the scan for seeds and an index need little
/// more.
#[test]
fn one_long_record() {
    const MILLIONS: u64 = 200;
    let (folder, mut random) = (Folder::new(), Random::new(5));
    let target = folder.file("t.fa");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&target).unwrap());
    file.write_all(b">r\n").unwrap();
    let mut read = Vec::new();
    for _ in 0..MILLIONS {
        let text = random.codes(1_000_000, 4);
        let line: Vec<u8> = text.iter().map(|&code| b"ACGT"[usize::from(code)]).collect();
        file.write_all(&[&line[..], b"\n"].concat()).unwrap();
        read = text[500_000..500_150].to_vec();
    }
    file.into_inner().unwrap();
    let letters = (MILLIONS * 1_000_000) >> 20;
    let read = write(&folder, "q.fa", [read]);
    let peak = takes(&folder, &[], [&read, &target]);
    assert!(peak < PROGRAM_MIB + 20 + letters, "{peak} MiB");
    let mut index = Command::new(program());
    index.args(["index", "-t", "2", "-o"]).arg(folder.file("t.swdb")).arg(&target);
    let (peak, output) = peak_mib(&mut index);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The index is built in memory beside the codes: together they are the size of the database.
    let database = std::fs::metadata(folder.file("t.swdb")).unwrap().len() >> 20;
    assert!(database < letters * 11 / 5 && peak < PROGRAM_MIB + 30 + database, "{peak} MiB, {database} MiB");
}
