//! The command end to end: what it refuses and how, what it bears, and that its answer does not
//! depend on how it computes.

#[path = "cli/answers.rs"]
mod answers;
mod common;
#[path = "cli/devices.rs"]
mod devices;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/options.rs"]
mod options;
#[path = "cli/order.rs"]
mod order;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/progress.rs"]
mod progress;
#[path = "cli/system.rs"]
mod system;

use common::command::{Outcome, command, finish, run, run_here};
use common::{data, fasta, golden, random::Random};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use swalign::alphabet::{Alphabet, reverse_complement};
use swalign::engine::cpu::simd::InstructionSet;
use tempfile::TempDir;

const REFERENCE: &[u8] = b">chr1 the first\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGGCTTA\n>chr2\nTTGACCAGTACCAGGATACAGATTTACCGGATACCAGATCCA\n";
const QUERY: &[u8] = b">r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n>r2 with a comment\nCCAGTACCAGGATACAGATTTACC\n";
const PROTEINS: &[u8] = b">p1\nMKVLAAGITRRWDEFHIKLMNPQRSTVWY\n>p2\nMELKRRWDEFHIKLLNPQRSTVWYGGH\n";

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn listing(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entry = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap_or_default();
        (path, bytes)
    };
    fs::read_dir(folder).unwrap().map(|file| entry(file.unwrap().path())).collect()
}

/// `swalign --device cpu ARGS -o out.sam` in a folder of `files` must fail with `code`, say each of
/// `says` on stderr, and leave nothing behind.
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    let folder = folder(files);
    let before = listing(folder.path());
    let mut all = args.to_vec();
    if !args.contains(&"--device") {
        all.extend(["--device", "cpu"]);
    }
    if !args.contains(&"-o") {
        all.extend(["-o", "out.sam"]);
    }
    let outcome = run(folder.path(), &all);
    assert_eq!(outcome.code, Some(code), "{args:?}\n{}", outcome.stderr);
    for text in says {
        assert!(outcome.stderr.contains(text), "{args:?}: '{text}' is not said:\n{}", outcome.stderr);
    }
    assert!(outcome.stdout.is_empty(), "{args:?} wrote to stdout");
    assert_eq!(listing(folder.path()), before, "{args:?} left something behind");
}

/// Both inputs as files named q.fa and ref.fa.
fn refused_inputs(query: &[u8], reference: &[u8], says: &[&str]) {
    refused(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"], 1, says);
}

fn refused_options(args: &[&str], code: i32, says: &[&str]) {
    let mut all = args.to_vec();
    all.extend(["q.fa", "ref.fa"]);
    refused(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &all, code, says);
}

/// Runs on files that must be accepted; SAM on stdout.
fn accepted(files: &[(&str, &[u8])], args: &[&str]) -> Outcome {
    let folder = folder(files);
    let all = [args, &["--device", "cpu", "--min-score", "10"]].concat();
    let outcome = run(folder.path(), &all);
    assert_eq!(outcome.code, Some(0), "{args:?}\n{}", outcome.stderr);
    outcome
}

fn baseline() -> Outcome {
    accepted(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &["q.fa", "ref.fa"])
}
