//! The command end to end: errors and their messages, input that is tolerated, and output that does not depend on how
//! it is computed.

#[path = "cli/alphabet.rs"]
mod alphabet;
#[path = "cli/ambiguous.rs"]
mod ambiguous;
#[path = "cli/answers.rs"]
mod answers;
#[path = "cli/devices.rs"]
mod devices;
#[path = "cli/end_bonus.rs"]
mod end_bonus;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/inputs.rs"]
mod inputs;
#[path = "cli/options.rs"]
mod options;
#[path = "cli/order.rs"]
mod order;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/pages.rs"]
mod pages;
#[path = "cli/progress.rs"]
mod progress;
#[path = "cli/strands.rs"]
mod strands;
#[path = "cli/system.rs"]
mod system;

use crate::common::command::{Outcome, command, finish, program, run, run_here, shell};
use crate::common::folder::{Folder, folder};
use crate::common::{data, fasta, golden, gzip::gzip, random::Random, sam};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const REFERENCE: &[u8] = b">chr1 the first\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGGCTTA\n>chr2\nTTGACCAGTACCAGGATACAGATTTACCGGATACCAGATCCA\n";
const QUERY: &[u8] = b">r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n>r2 with a comment\nCCAGTACCAGGATACAGATTTACC\n";
const PROTEINS: &[u8] = b">p1\nMKVLAAGITRRWDEFHIKLMNPQRSTVWY\n>p2\nMELKRRWDEFHIKLLNPQRSTVWYGGH\n";

/// [`Folder::refused`] for `swalign --device cpu ARGS -o out.sam` in a folder of `files`.
#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    let mut all = args.to_vec();
    if !args.contains(&"--device") {
        all.extend(["--device", "cpu"]);
    }
    if !args.contains(&"-o") {
        all.extend(["-o", "out.sam"]);
    }
    folder(files).refused(&all, code, says);
}

/// Like [`refused`], with the inputs as files q.fa and ref.fa.
#[track_caller]
fn refused_inputs(query: &[u8], reference: &[u8], says: &[&str]) {
    refused(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"], 1, says);
}

#[track_caller]
fn refused_options(args: &[&str], code: i32, says: &[&str]) {
    let mut all = args.to_vec();
    all.extend(["q.fa", "ref.fa"]);
    refused(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &all, code, says);
}

/// Runs on files that must be accepted. SAM is on stdout.
#[track_caller]
fn accepted(files: &[(&str, &[u8])], args: &[&str]) -> Outcome {
    let outcome = folder(files).run(&[args, &["--device", "cpu", "--min-score", "10"]].concat());
    outcome.ended(0);
    outcome
}

fn baseline() -> Outcome {
    accepted(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &["q.fa", "ref.fa"])
}
