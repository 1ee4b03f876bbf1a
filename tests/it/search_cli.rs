//! Tests `swalign search` end to end: its options and errors, and output that does not depend on devices and threads.

#[path = "search_cli/circular.rs"]
mod circular;
#[path = "search_cli/errors.rs"]
mod errors;
#[path = "search_cli/fastq.rs"]
mod fastq;
#[path = "search_cli/inputs.rs"]
mod inputs;
#[path = "search_cli/mates.rs"]
mod mates;
#[path = "search_cli/odd.rs"]
mod odd;
#[path = "search_cli/options.rs"]
mod options;
#[path = "search_cli/pam.rs"]
mod pam;

use crate::common::command::{command, finish, program};
use crate::common::folder::{Folder, folder};
use crate::common::{data, memory, random::Random};
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

const TEXT: &[u8] = b">chr1 the first\nACGTTGCATTAGCCATGGATCCATTGCACGGTTAACCGTATGCAAGG\n>chr2\nTTGACCAGTACCNGGATACAGATTTACC\n>none\nCCCCCCCC\n>empty\n";
const PATTERNS: &[u8] = b">p1\nTTAGCCATGG\n>p2 turned\nGGTAAATCTG\n>p3\nTACCNGGA\n";
const HEADER: &str = "text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch\n";

/// Returns stdout of `swalign search ARGS` in a folder with t.fa and p.fa.
#[track_caller]
fn found(args: &[&str]) -> String {
    let folder = folder(&[("t.fa", TEXT), ("p.fa", PATTERNS)]);
    folder.run(&[&["search"], args].concat()).text().to_string()
}

/// Returns the rows of hits, with spaces for tabs.
#[track_caller]
fn hits(args: &[&str]) -> Vec<String> {
    let text = found(args);
    let lines = text.strip_prefix(HEADER).expect("a header");
    lines.lines().map(|line| line.replace('\t', " ")).collect()
}

/// [`Folder::refused`] for `swalign search -o out ARGS` in a folder of `files`.
#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str], code: i32, says: &[&str]) {
    folder(files).refused(&[&["search", "-o", "out"], args].concat(), code, says);
}

/// A pattern that occurs at every position of a long text is searched in little memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_where_every_place_is_an_end() {
    let mut random = Random::new(53);
    let text = random.sequence(Alphabet::Dna, 300_000);
    let folder = folder(&[("t.fa", &[b">t\n".as_slice(), &text, b"\n"].concat())]);
    let peak = |args: &[&str]| {
        let mut command = std::process::Command::new(program());
        command.current_dir(folder.path()).args(["search", "--device", "cpu", "-o", "out"]);
        let (peak, output) = memory::peak_mib(command.args(args).arg("t.fa"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        peak
    };
    let pattern = ["-k", "0", "ACGTTGCATTAGCCATGGAT"];
    let little = peak(&pattern);
    for args in [&["-k", "20", "--all"][..], &["-k", "25", "--all", "--format", "sam"]] {
        let much = peak(&[args, &pattern[2..]].concat());
        // All ends of both strands at once, with their paths, take about 200 MiB.
        assert!(much < little + 100, "{args:?}: {much} MiB, and {little} without hits");
    }
}

/// In a text with mutated copies of patterns on both strands, all instruction sets and all numbers of threads find the
/// hits of the specification.
#[test]
fn the_same_bytes_whatever_computes() {
    let mut random = Random::new(3);
    let mut text = Vec::new();
    let mut patterns = Vec::new();
    for number in 0..30 {
        let len = 8 + random.below(40);
        let pattern = random.sequence(Alphabet::Dna, len);
        for _ in 0..4 {
            text.extend(random.sequence(Alphabet::Dna, 300));
            let copy = random.mutated(Alphabet::Dna, &pattern, 5);
            text.extend(if random.below(2) == 0 { copy } else { reverse_complement(&copy) });
        }
        write!(patterns, ">p{number}\n{}\n", String::from_utf8(pattern).unwrap()).unwrap();
    }
    let mut texts = [b">whole\n".as_slice(), &text, b"\n"].concat();
    for (number, part) in text.chunks(97).enumerate() {
        write!(texts, ">part{number}\n{}\n", String::from_utf8(part.to_vec()).unwrap()).unwrap();
    }
    let folder = folder(&[("t.fa", &texts), ("p.fa", &patterns)]);
    let search =
        |args: &[&str]| folder.run(&[&["search", "-f", "p.fa", "t.fa"], args].concat()).text().to_string();
    for args in [
        &["-k3"][..],
        &["-k2", "--all"],
        &["-k4", "--best"],
        &["-k3", "--no-indels"],
        &["-k3", "--max-insertions", "1"],
    ] {
        let expected = search(&[args, &["--device", "plain"]].concat());
        assert!(expected.lines().count() > 100, "{args:?}");
        for set in InstructionSet::available() {
            let device = format!("cpu:{set}");
            assert!(search(&[args, &["--device", &device]].concat()) == expected, "{args:?} {set}");
        }
        for threads in ["1", "2", "5"] {
            assert!(search(&[args, &["-t", threads]].concat()) == expected, "{args:?} -t {threads}");
        }
    }
}
