//! Reads our output with other programs: samtools, and pysam through check_sam.py, which recomputes every score, NM and
//! MD, and checks the orientation of SEQ and QUAL.

mod common;

use common::command::{program, run_here};
use common::folder::Folder;
use common::random::Random;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use swalign::terms::alphabet::{Alphabet, reverse_complement};

fn tool(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: run scripts/test.sh")).into()
}

fn succeed(command: &mut Command) -> Output {
    let output = command
        .current_dir(common::repository())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    output
}

/// Runs `samtools ARGS`, which must print no errors or warnings. Returns its stdout.
fn samtools(args: &[&str]) -> String {
    let output = succeed(Command::new(tool("SWALIGN_TEST_SAMTOOLS")).args(args));
    let stderr = String::from_utf8_lossy(&output.stderr).to_lowercase();
    let complains =
        ["error", "warning", "different", "[e::", "[w::"].iter().any(|word| stderr.contains(word));
    assert!(!complains, "samtools {args:?}\n{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the records of SAM text as samtools can write them. samtools packs SEQ in 4 bits per base, so protein
/// records are compared without SEQ.
fn records_of(sam: &str, protein: bool) -> String {
    let record = |line: &str| {
        let mut fields: Vec<&str> = line.split('\t').collect();
        if protein {
            fields.remove(9);
        }
        fields.join("\t") + "\n"
    };
    sam.lines().filter(|line| !line.starts_with('@')).map(record).collect()
}

/// Aligns, then reads, converts, sorts, indexes and checks the output with other programs.
fn read_by_others(query: &str, reference: &str, pairs: bool, options: &[&str], records: usize) {
    let folder = Folder::new();
    let path = |name: &str| folder.file(name).to_str().unwrap().to_string();
    let (sam, bam, sorted) = (path("out.sam"), path("out.bam"), path("sorted.bam"));
    let mut args = if pairs { vec!["pairs"] } else { Vec::new() };
    args.extend(["--device", "cpu", "-o", &sam]);
    args.extend(options);
    args.extend([query, reference]);
    let outcome = run_here(&args);
    outcome.ended(0);

    let count = |filter: &[&str], file: &str| -> usize {
        let mut args = vec!["view", "-c"];
        args.extend(filter);
        args.push(file);
        samtools(&args).trim().parse().unwrap()
    };
    assert_eq!(count(&["-F", "0x900"], &sam), records, "one primary record a query");
    samtools(&["view", "-b", "-o", &bam, &sam]);
    samtools(&["quickcheck", "-v", &bam]);
    samtools(&["sort", "-o", &sorted, &bam]);
    samtools(&["index", &sorted]);
    assert_eq!(count(&[], &sorted), count(&[], &sam));
    assert!(Path::new(&(sorted.clone() + ".bai")).exists());
    let again = samtools(&["view", &bam]);
    let text = std::fs::read_to_string(&sam).unwrap();
    let protein = text.contains("alphabet=protein");
    assert!(records_of(&again, protein) == records_of(&text, protein), "samtools writes other records");

    let mut check = Command::new(tool("SWALIGN_TEST_PYTHON"));
    check.args(["tests/check_sam.py", &sam, query, reference]).args(pairs.then_some("--pairs"));
    succeed(&mut check);
    if !protein {
        let ours = path("ours.bam");
        *args.iter_mut().find(|word| **word == sam).unwrap() = &ours;
        let outcome = run_here(&args);
        outcome.ended(0);
        bam_is_that_of_samtools(&ours, &sam);
    }
}

/// Our BAM is valid, contains the records of our SAM, and has the same bytes as the BAM that samtools makes from our
/// SAM.
fn bam_is_that_of_samtools(bam: &str, sam: &str) {
    samtools(&["quickcheck", "-v", bam]);
    let without_pg = |text: &str| -> String {
        text.split_inclusive('\n').filter(|line| !line.starts_with("@PG")).collect()
    };
    let text = std::fs::read_to_string(sam).unwrap();
    assert!(without_pg(&samtools(&["view", "--no-PG", "-h", bam])) == without_pg(&text), "samtools view");
    let theirs = sam.to_string() + ".theirs.bam";
    samtools(&["view", "--no-PG", "-b", "-o", &theirs, sam]);
    assert!(record_bytes(bam) == record_bytes(&theirs), "other bytes than samtools");
    let mut check = Command::new(tool("SWALIGN_TEST_PYTHON"));
    succeed(check.args(["-c", SAME_TO_PYSAM, bam, sam]));
    let sorted = bam.to_string() + ".sorted.bam";
    samtools(&["sort", "-o", &sorted, bam]);
    samtools(&["index", &sorted]);
}

/// Checks that pysam reads the same records from two files.
const SAME_TO_PYSAM: &str = "
import sys, pysam
bam, sam = (list(pysam.AlignmentFile(path)) for path in sys.argv[1:])
assert len(bam) == len(sam) > 0
for a, b in zip(bam, sam):
    assert a.to_dict() == b.to_dict() and a.get_tags() == b.get_tags(), a.query_name
    assert a.query_qualities == b.query_qualities and a.cigartuples == b.cigartuples, a.query_name
    assert a.reference_end == b.reference_end and a.bin == b.bin, a.query_name
";

/// Returns the unpacked bytes of a BAM file after its header.
fn record_bytes(bam: &str) -> Vec<u8> {
    let mut reader = noodles_bgzf::io::Reader::new(std::fs::File::open(bam).unwrap());
    noodles_bam::io::Reader::from(&mut reader).read_header().unwrap();
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

/// A read with more operations than a BAM record can count, which has two hits, and a read without bases.
#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn more_operations_than_bam_can_count() {
    let folder = Folder::new();
    let path = |name: &str| folder.file(name).to_str().unwrap().to_string();
    let mut random = Random::new(5);
    let target = random.sequence(Alphabet::Dna, 110_000);
    // The query lacks every third base, so that its CIGAR alternates between matches and deletions.
    let query: Vec<u8> = target.chunks(3).flat_map(|three| &three[..three.len().min(2)]).copied().collect();
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    let (query_file, reference) = (path("q.fa"), path("ref.fa"));
    std::fs::write(&query_file, format!(">long\n{}\n>none\n\n", text(&query))).unwrap();
    std::fs::write(&reference, format!(">a\n{0}\n>b\n{0}\n", text(&target))).unwrap();
    let [sam, bam] = [path("out.sam"), path("out.bam")];
    for file in [&sam, &bam] {
        let scores = ["--match", "10", "--mismatch", "40", "--gap-open", "0", "--gap-extend", "1"];
        // No run of equal bases is long enough for an anchor.
        let scores = [&scores[..], &["--min-score", "200"]].concat();
        let rest =
            ["--device", "cpu", "--max-hits", "2", "--forward-only", "-o", file, &query_file, &reference];
        let outcome = run_here(&[&scores[..], &rest].concat());
        outcome.ended(0);
    }
    let records = std::fs::read_to_string(&sam).unwrap();
    let operations = records.lines().filter(|line| !line.starts_with('@')).map(|line| {
        line.split('\t').nth(5).unwrap().bytes().filter(|letter| !letter.is_ascii_digit()).count()
    });
    let operations: Vec<usize> = operations.collect();
    assert!(operations[0] > 65_535 && operations[1] > 65_535 && operations.len() == 3, "{operations:?}");
    bam_is_that_of_samtools(&bam, &sam);
}

/// BAM to a terminal is an error. Python provides a pseudo-terminal.
#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn a_terminal_gets_no_bam() {
    const ON_A_TERMINAL: &str = "
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
done = subprocess.run(sys.argv[1:], stdout=theirs, stderr=subprocess.PIPE)
assert done.returncode == 2 and b'terminal' in done.stderr and b'-o' in done.stderr, done
";
    let program = program();
    let mut check = Command::new(tool("SWALIGN_TEST_PYTHON"));
    check.args(["-c", ON_A_TERMINAL]).arg(program);
    succeed(check.args(["--format", "bam", "data/artic_v3_primers.fa", "data/sars2.fa"]));
}

/// samtools recomputes NM and MD of DNA.
fn calmd_agrees(query: &str, reference: &str) {
    let folder = Folder::new();
    let copy = folder.file("ref.fa");
    std::fs::copy(common::repository().join(reference), &copy).unwrap();
    let sam = folder.file("out.sam").to_str().unwrap().to_string();
    let outcome = run_here(&["--device", "cpu", "-o", &sam, query, reference]);
    outcome.ended(0);
    samtools(&["calmd", &sam, copy.to_str().unwrap()]);
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn illumina() {
    read_by_others("data/illumina_chr22.fq.gz", "data/chr22_12k.fa", false, &[], 300);
    calmd_agrees("data/illumina_chr22.fq.gz", "data/chr22_12k.fa");
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn ont() {
    let options = ["--preset", "long", "--max-hits", "3", "--read-group", "@RG\\tID:a\\tSM:b"];
    read_by_others("data/ont_sars2.fq.gz", "data/sars2.fa", false, &options, 50);
    calmd_agrees("data/ont_sars2.fq.gz", "data/sars2.fa");
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn amplicons() {
    read_by_others("data/amplicon_16s.fq.gz", "data/16s_20.fa", false, &["--max-hits", "20"], 60);
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn primers() {
    read_by_others("data/artic_v3_primers.fa", "data/sars2.fa", false, &["--min-score", "15"], 218);
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn proteins() {
    read_by_others("data/proteins_20.fa", "data/uniprot_60.fa", false, &["--max-hits", "5"], 20);
}

#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn mitochondria_as_a_pair() {
    read_by_others("data/mt_human.fa", "data/mt_orang.fa", true, &[], 1);
}

/// Aligns reads across the origin of a circular reference, from both strands, with errors.
#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn circles() {
    let folder = Folder::new();
    let circle = common::fasta(&common::text("data/mt_human.fa")).into_values().next().unwrap();
    let (mut random, mut reads) = (Random::new(3), String::new());
    for number in 0..80 {
        let start = circle.len() - 10 - random.below(130);
        let read: Vec<u8> = circle.iter().cycle().skip(start).take(150).copied().collect();
        let read = random.mutated(Alphabet::Dna, &read, number % 4);
        let read = if number % 2 == 0 { reverse_complement(&read) } else { read };
        reads += &format!(">r{number}\n{}\n", String::from_utf8(read).unwrap());
    }
    folder.write("reads.fa", reads);
    let reads = folder.file("reads.fa").to_str().unwrap().to_string();
    let options = ["--circular", "MT_human", "--split", "--max-hits", "3", "--secondary-ratio", "0.1"];
    read_by_others(&reads, "data/mt_human.fa", false, &options, 80);
}

/// A sorted run has the same bytes of records as an unsorted run sorted by samtools, and its index has the same
/// answers.
#[test]
#[ignore = "needs samtools and pysam: run scripts/test.sh"]
fn sorted_as_samtools_sorts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    common::sorted::write_mates(folder.path(), 4000, 3);
    let inputs = [path("1.fq"), path("2.fq"), path("ref.fa")];
    let align = |options: &[&str]| {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let hits = ["--device", "cpu", "--min-score", "60", "--max-hits", "2"];
        let outcome = run_here(&[&hits, options, &inputs].concat());
        outcome.ended(0);
    };
    let [unsorted, theirs, ours] = ["unsorted.bam", "theirs.bam", "ours.bam"].map(path);
    align(&["-o", &unsorted]);
    samtools(&["sort", "-o", &theirs, &unsorted]);
    samtools(&["index", &theirs]);
    let copy = path("copy.bam");
    for memory in ["20K", "256M"] {
        align(&["--sort", "--sort-memory", memory, "-o", &ours]);
        samtools(&["quickcheck", "-v", &ours]);
        assert!(record_bytes(&ours) == record_bytes(&theirs), "{memory}");
        std::fs::copy(&ours, &copy).unwrap();
        samtools(&["index", &copy]);
        let [own, made] = [&ours, &copy].map(|bam| std::fs::read(bam.clone() + ".bai").unwrap());
        assert!(parsed_bai(&own) == parsed_bai(&made), "samtools makes another index");
    }
    assert_eq!(samtools(&["idxstats", &ours]), samtools(&["idxstats", &theirs]));
    for region in ["c0", "c1:1-1", "c1:16000-17000", "c2:19000-", "none1", "*", "c0:20000-20010"] {
        let found = [&ours, &theirs].map(|bam| samtools(&["view", bam, region]));
        assert!(found[0] == found[1], "{region}");
    }
    let mut check = Command::new(tool("SWALIGN_TEST_PYTHON"));
    succeed(check.args(["-c", SAME_REGIONS_TO_PYSAM, &ours, &theirs]));
}

/// Checks that pysam finds the same records in two sorted files.
const SAME_REGIONS_TO_PYSAM: &str = "
import sys, pysam
one, other = (pysam.AlignmentFile(path) for path in sys.argv[1:])
assert one.check_index() and one.mapped == other.mapped and one.unmapped == other.unmapped
assert one.nocoordinate == other.nocoordinate > 0
for name, length in zip(one.references, one.lengths):
    for start in range(0, length, 997):
        found = ([str(record) for record in bam.fetch(name, start, start + 1500)] for bam in (one, other))
        assert next(found) == next(found), (name, start)
";

/// Bins with their chunks, and windows, of each reference of a BAI, and the number of records without a position.
type Bai = (Vec<(BTreeMap<u32, Vec<u64>>, Vec<u64>)>, u64);

fn parsed_bai(mut bytes: &[u8]) -> Bai {
    let mut take = |len: usize| {
        let (taken, rest) = bytes.split_at(len);
        bytes = rest;
        taken.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    assert_eq!(take(4), u64::from(u32::from_le_bytes(*b"BAI\x01")));
    let references = take(4);
    let mut all = Vec::new();
    for _ in 0..references {
        let mut bins = BTreeMap::new();
        for _ in 0..take(4) {
            let bin = take(4) as u32;
            let chunks = take(4);
            assert!(bins.insert(bin, (0..2 * chunks).map(|_| take(8)).collect()).is_none());
        }
        let windows = take(4);
        all.push((bins, (0..windows).map(|_| take(8)).collect()));
    }
    (all, take(8))
}
