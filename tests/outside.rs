//! Programs from outside read what we write: samtools, and pysam through check_sam.py, which counts
//! every score, NM and MD anew and checks the orientation of SEQ and QUAL.

mod common;

use common::command::run_here;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// `samtools ARGS`; its stdout. It must not complain.
fn samtools(args: &[&str]) -> String {
    let output = succeed(Command::new(tool("SWALIGN_TEST_SAMTOOLS")).args(args));
    let stderr = String::from_utf8_lossy(&output.stderr).to_lowercase();
    let complains =
        ["error", "warning", "different", "[e::", "[w::"].iter().any(|word| stderr.contains(word));
    assert!(!complains, "samtools {args:?}\n{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The records of SAM text as samtools can give them back: its 4 bits a letter know no proteins, so
/// that of those SEQ is left out.
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

/// Aligns, then has the output read, converted, sorted, indexed and counted again.
fn read_by_others(query: &str, reference: &str, pairs: bool, options: &[&str], records: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (sam, bam, sorted) = (path("out.sam"), path("out.bam"), path("sorted.bam"));
    let mut args = if pairs { vec!["pairs"] } else { Vec::new() };
    args.extend(["--device", "cpu", "-o", &sam]);
    args.extend(options);
    args.extend([query, reference]);
    let outcome = run_here(&args);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);

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
}

/// samtools counts NM and MD itself, in DNA.
fn calmd_agrees(query: &str, reference: &str) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("ref.fa");
    std::fs::copy(common::repository().join(reference), &copy).unwrap();
    let sam = folder.path().join("out.sam").to_str().unwrap().to_string();
    let outcome = run_here(&["--device", "cpu", "-o", &sam, query, reference]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
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
