//! The command end to end: what it refuses and how, what it bears, and that its answer does not
//! depend on how it computes.

mod common;

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

mod files {
    use super::*;

    #[test]
    fn the_baseline_of_these_tests_aligns() {
        let sam = baseline().sam();
        let found: Vec<(&str, u32, &str, u64, &str)> =
            sam.records.iter().map(|r| (r.name(), r.flag(), r.target(), r.position(), r.cigar())).collect();
        assert_eq!(found, [("r1", 0, "chr1", 9, "29M"), ("r2", 0, "chr2", 5, "24M")]);
    }

    #[test]
    fn empty_file() {
        refused_inputs(b"", REFERENCE, &["q.fa", "empty"]);
        refused_inputs(QUERY, b"", &["ref.fa", "empty"]);
    }

    #[test]
    fn no_such_file() {
        refused(&[("q.fa", QUERY)], &["q.fa", "nosuch.fa"], 1, &["nosuch.fa"]);
        refused(&[("ref.fa", REFERENCE)], &["nosuch.fa", "ref.fa"], 1, &["nosuch.fa"]);
        refused(&[("ref.fa", REFERENCE)], &[".", "ref.fa"], 1, &["."]);
    }

    #[test]
    fn neither_fasta_nor_fastq() {
        refused_inputs(b"hello world\nACGT\n", REFERENCE, &["q.fa", "FASTA"]);
        refused_inputs(QUERY, b"\x00\x01\x02\x03 binary\n", &["ref.fa", "FASTA"]);
    }

    /// Nothing is left of an output that was begun before the fault came to light.
    #[test]
    fn truncated_gzip() {
        let whole = fs::read(data("illumina_chr22.fq.gz")).unwrap();
        let half = &[&whole[..], &whole, &whole[..whole.len() / 2]].concat()[..];
        let args = ["--batch", "20", "q.fq.gz", "ref.fa"];
        let says = ["q.fq.gz", "gzip", "cut short"];
        refused(&[("q.fq.gz", half), ("ref.fa", REFERENCE)], &args, 1, &says);
        let folder = folder(&[("q.fq.gz", half), ("ref.fa", REFERENCE)]);
        let written = run(folder.path(), &[&["--device", "cpu"][..], &args].concat());
        assert_eq!(written.code, Some(1));
        let lines = written.stdout.split(|byte| *byte == b'\n').count();
        assert!(lines > 200, "{lines}: the fault comes late");
        assert!(written.stdout.ends_with(b"\n"), "a record is cut");
        refused(
            &[("q.fa", QUERY), ("ref.fa.gz", &whole[..whole.len() / 2])],
            &["q.fa", "ref.fa.gz"],
            1,
            &["ref.fa.gz", "gzip"],
        );
    }

    /// bgzf ends with an empty block; without it a file may have lost whole blocks.
    #[test]
    fn bgzf_without_its_end() {
        // `>a` and a line of 60 letters; by Python's zlib.
        let block = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0F\0\x15\x8a1\r\x000\0\xc2\xfe\x89Z\xd2p`\0\x03\xf3ob\
                      p5\x94\xdew\x90\x13\x8b\x04\xab\xb0\xc98'\xf7\x035a\x1b[\xeb\\U\x90\xf3\x018\xf7\x80\xa7A\0\0\0";
        let end = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";
        let whole = &[&block[..], end].concat()[..];
        for (query, reference, cut) in
            [(whole, whole, None), (block, whole, Some("q.gz")), (whole, block, Some("ref.gz"))]
        {
            let outcome = accepted(&[("q.gz", query), ("ref.gz", reference)], &["q.gz", "ref.gz"]);
            let warnings: Vec<&str> =
                outcome.stderr.lines().filter(|line| line.contains("warning")).collect();
            assert_eq!(warnings.len(), usize::from(cut.is_some()), "{}", outcome.stderr);
            let said = |name: &str| warnings[0].contains(name) && warnings[0].contains("end marker");
            assert!(cut.is_none_or(said), "{}", outcome.stderr);
            assert_eq!(outcome.sam().records.len(), 1);
        }
    }

    #[test]
    fn quality_of_another_length() {
        let query = b"@r1\nACGTACGT\n+\nIIIIIIII\n@r2\nACGTACGT\n+\nIIII\n";
        refused(&[("q.fq", query), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"], 1, &["q.fq", "r2", "line"]);
    }

    #[test]
    fn truncated_fastq() {
        let query = b"@r1\nACGTACGT\n+\nIIIIIIII\n@r2\nACGTACGT\n";
        refused(&[("q.fq", query), ("ref.fa", REFERENCE)], &["q.fq", "ref.fa"], 1, &["q.fq"]);
    }

    #[test]
    fn reference_names() {
        refused_inputs(QUERY, b">a\nACGT\n>b\nACCC\n>a\nGGGG\n", &["ref.fa", "'a'", "record 3"]);
        refused_inputs(QUERY, b">a 1\nACGT\n>a 2\nGGGG\n", &["ref.fa", "'a'", "record 2"]);
        refused_inputs(QUERY, b">\nACGT\n", &["ref.fa", "name"]);
        refused_inputs(QUERY, b"> a\nACGT\n", &["ref.fa", "name"]);
        refused_inputs(QUERY, b">a,b\nACGT\n", &["ref.fa", "a,b"]);
        refused_inputs(QUERY, b">*a\nACGT\n", &["ref.fa", "*a"]);
    }

    #[test]
    fn query_names() {
        refused_inputs(b">a@b\nACGT\n", REFERENCE, &["q.fa", "a@b"]);
        refused_inputs("\u{3e}caf\u{e9}\nACGT\n".as_bytes(), REFERENCE, &["q.fa", "record 1"]);
        let long = format!(">{}\nACGT\n", "n".repeat(300));
        refused_inputs(long.as_bytes(), REFERENCE, &["q.fa", "254"]);
    }

    #[test]
    fn names_end_at_the_first_space() {
        let sam = baseline().sam();
        assert_eq!(sam.records[1].name(), "r2");
        assert!(sam.header.iter().any(|line| line.starts_with("@SQ\tSN:chr1\tLN:51")), "{:?}", sam.header);
    }

    #[test]
    fn empty_sequences() {
        let query = b">r0\n>r1\nTTAGCCATGGATCCATTGCACGGTTAACC\n>r9\n";
        let outcome = accepted(&[("q.fa", query), ("ref.fa", REFERENCE)], &["q.fa", "ref.fa"]);
        for (number, name) in [(1, "r0"), (3, "r9")] {
            let warning = format!("warning: q.fa, record {number} '{name}': the query has no letters");
            assert!(outcome.stderr.contains(&warning), "{}", outcome.stderr);
        }
        let sam = outcome.sam();
        assert_eq!(sam.records.iter().map(|r| r.name()).collect::<Vec<_>>(), ["r0", "r1", "r9"]);
        assert_eq!(sam.records[0].fields[1..11], ["4", "*", "0", "0", "*", "*", "0", "0", "*", "*"]);
        refused_inputs(QUERY, b">a\nACGT\n>b\n>c\nACGT\n", &["ref.fa", "'b'", "no letters"]);
    }

    #[test]
    fn letters_outside_the_alphabet() {
        refused_inputs(b">r1\nACGT\n>r2\nACGTACGTACGTACGT!ACGT\n", REFERENCE, &["q.fa", "r2", "'!'"]);
        refused_inputs(QUERY, b">a\nACGTACGTACGTACGTACGTACGTAC\nGT-ACGT\n", &["ref.fa", "'a'", "'-'"]);
    }

    #[test]
    fn protein_against_dna() {
        refused_inputs(PROTEINS, REFERENCE, &["q.fa", "p1", "DNA", "protein"]);
    }

    #[test]
    fn one_standard_input() {
        refused(&[], &["-", "-"], 2, &["-"]);
        let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
        let expected = baseline().without_pg();
        for (args, input) in [(["-", "ref.fa"], QUERY), (["q.fa", "-"], REFERENCE)] {
            let mut command = command(folder.path());
            command.args(["--device", "cpu", "--min-score", "10"]).args(args).write_stdin(input);
            assert_eq!(finish(&mut command).without_pg(), expected, "{args:?}");
        }
    }

    #[test]
    fn an_error_in_stdin_names_it() {
        let folder = folder(&[("ref.fa", REFERENCE)]);
        let mut command = command(folder.path());
        command.args(["--device", "cpu", "-", "ref.fa"]).write_stdin("hello");
        let outcome = finish(&mut command);
        assert_eq!(outcome.code, Some(1));
        assert!(
            outcome.stderr.contains("stdin") || outcome.stderr.contains("standard input"),
            "{}",
            outcome.stderr
        );
    }

    /// Lower case, CRLF, RNA, wrapped lines and a missing last newline give the same SAM.
    #[test]
    fn ways_to_write_the_same() {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let sequences = |bytes: &[u8], change: &dyn Fn(&str) -> String| -> Vec<u8> {
            let line = |line: &str| {
                if line.starts_with('>') { format!("{line}\n") } else { format!("{}\n", change(line)) }
            };
            text(bytes).lines().map(line).collect::<String>().into_bytes()
        };
        let expected = baseline().without_pg();
        let check = |what: &str, query: &[u8], reference: &[u8]| {
            let outcome = accepted(&[("q.fa", query), ("ref.fa", reference)], &["q.fa", "ref.fa"]);
            assert_eq!(outcome.without_pg(), expected, "{what}");
        };
        let lower = |line: &str| line.to_lowercase();
        check("lower case", &sequences(QUERY, &lower), &sequences(REFERENCE, &lower));
        let crlf = |bytes: &[u8]| text(bytes).replace('\n', "\r\n").into_bytes();
        check("CRLF", &crlf(QUERY), &crlf(REFERENCE));
        let rna = |line: &str| line.replace('T', "U");
        check("RNA", &sequences(QUERY, &rna), REFERENCE);
        check("RNA twice", &sequences(QUERY, &rna), &sequences(REFERENCE, &rna));
        let wrapped = |line: &str| {
            line.as_bytes().chunks(7).map(|part| text(part) + "\n").collect::<String>().trim_end().to_string()
        };
        check("wrapped", &sequences(QUERY, &wrapped), &sequences(REFERENCE, &wrapped));
        let unfinished = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
        check("no last newline", &unfinished(QUERY), &unfinished(REFERENCE));
    }

    /// gzip gives what the same reads give unpacked; qualities are carried over, reversed where the
    /// read is.
    #[test]
    fn gzip_and_qualities() {
        let mut reader = needletail::parse_fastx_file(data("illumina_chr22.fq.gz")).unwrap();
        let mut plain = Vec::new();
        let mut qualities = BTreeMap::new();
        while let Some(record) = reader.next() {
            let record = record.unwrap();
            if qualities.len() < 40 {
                let quality = record.qual().unwrap().to_vec();
                record.write(&mut plain, None).unwrap();
                qualities.insert(
                    String::from_utf8(record.id().to_vec()).unwrap(),
                    (record.seq().to_vec(), quality),
                );
            }
        }
        let reference = fs::read(data("chr22_12k.fa")).unwrap();
        let folder = folder(&[("q.fq", &plain), ("ref.fa", &reference)]);
        let sam = run(folder.path(), &["--device", "cpu", "q.fq", "ref.fa"]).sam();
        assert_eq!(sam.records.len(), 40);
        let mut turned = 0;
        for record in sam.primary() {
            let (mut sequence, mut quality) = qualities[record.name()].clone();
            if record.flag() & 16 != 0 {
                (sequence, turned) = (reverse_complement(&sequence), turned + 1);
                quality.reverse();
            }
            assert_eq!(record.sequence().as_bytes(), sequence, "{}", record.name());
            assert_eq!(record.fields[10].as_bytes(), quality, "{}", record.name());
        }
        assert!(0 < turned && turned < 40, "both strands occur");
        let packed = run_here(&["--device", "cpu", "data/illumina_chr22.fq.gz", "data/chr22_12k.fa"]).sam();
        assert_eq!(packed.records.len(), 300);
        assert_eq!(packed.records[..40], sam.records);
    }
}

mod options {
    use super::*;

    #[test]
    fn penalties() {
        refused_options(&["--mismatch", "-4"], 2, &["--mismatch"]);
        refused_options(&["--gap-open", "-1"], 2, &["--gap-open"]);
        refused_options(&["--gap-extend", "0"], 2, &["--gap-extend"]);
        refused_options(&["--match", "0"], 2, &["--match"]);
        refused_options(&["--match", "99999999999"], 2, &["--match"]);
        refused_options(&["--gap-extend", "9999999"], 2, &["--gap-extend"]);
        refused_options(&["--match", "1.5"], 2, &["--match"]);
        refused_options(&["--preset", "protein"], 2, &["--preset"]);
        refused_options(&["--preset", "nosuch"], 2, &["--preset", "short"]);
    }

    #[test]
    fn numbers_out_of_range() {
        refused_options(&["--max-hits", "0"], 2, &["--max-hits"]);
        refused_options(&["--threads", "0"], 2, &["--threads"]);
        refused_options(&["--batch", "0"], 2, &["--batch"]);
        refused_options(&["--secondary-ratio", "1.5"], 2, &["--secondary-ratio"]);
        refused_options(&["--secondary-ratio", "nan"], 2, &["--secondary-ratio"]);
        refused_options(&["--min-score", "0"], 2, &["--min-score"]);
        refused_options(&["--min-score", "-3"], 2, &["--min-score"]);
    }

    #[test]
    fn matrices() {
        refused_options(&["--matrix", "nosuch"], 2, &["nosuch", "BLOSUM62"]);
        let missing = b"# no T\n   A  C  G\nA  1 -1 -1\nC -1  1 -1\nG -1 -1  1\n";
        let torn = b"   A  C  G  T\nA  1 -1 -1 -1\nC -1  1\n";
        for (matrix, says) in [(&missing[..], "T"), (torn, "line 3"), (b"", "m.txt")] {
            let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m.txt", matrix)];
            refused(&files, &["--matrix", "m.txt", "q.fa", "ref.fa"], 1, &["m.txt", says]);
        }
        refused_options(&["--matrix", "m.txt", "--match", "3"], 2, &["--matrix", "--match"]);
        let whole = b"  A C G T\nA 1 -4 -4 -4\nC -4 1 -4 -4\nG -4 -4 1 -4\nT -4 -4 -4 1\n";
        let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m.txt", &whole[..])];
        let sam = accepted(
            &files,
            &["--matrix", "m.txt", "--gap-open", "6", "--gap-extend", "1", "q.fa", "ref.fa"],
        )
        .sam();
        let scores: Vec<i64> = sam.records.iter().map(|record| record.score()).collect();
        assert_eq!(scores, [29, 24], "a matrix of 1 and -4 scores as --preset short does");
    }

    #[test]
    fn a_scoring_that_could_overflow() {
        // Scores end at 2^29: 536 matches of a million fit, 537 don't.
        let longest = 536;
        let long = [b">long\n".to_vec(), Random::new(1).sequence(Alphabet::Dna, longest + 1), b"\n".to_vec()];
        let long = long.concat();
        let args = ["--match", "1000000", "q.fa", "ref.fa"];
        let files = [("q.fa", &long[..]), ("ref.fa", &long)];
        refused(&files, &args, 1, &["q.fa", "'long'", "537 letters", "overflow", "--match"]);
        refused(&files, &["pairs", "--match", "1000000", "q.fa", "ref.fa"], 1, &["'long'", "--match"]);
        let fitting = &[&long[..6 + longest], b"\n"].concat()[..];
        for (query, reference) in [(fitting, &long[..]), (&long, fitting), (fitting, fitting)] {
            let sam = accepted(&[("q.fa", query), ("ref.fa", reference)], &args).sam();
            assert_eq!(sam.records[0].score(), 536_000_000);
        }
    }

    #[test]
    fn pairs_of_unequal_counts() {
        let three = [QUERY, b">r3\nACGT\n"].concat();
        refused(
            &[("q.fa", &three), ("ref.fa", REFERENCE)],
            &["pairs", "q.fa", "ref.fa"],
            1,
            &["q.fa: 3 queries", "2 targets of ref.fa", "equal counts"],
        );
        refused(
            &[("q.fa", QUERY), ("ref.fa", &three)],
            &["pairs", "--batch", "1", "q.fa", "ref.fa"],
            1,
            &["q.fa: 2 queries", "3 targets of ref.fa", "equal counts"],
        );
    }

    #[test]
    fn pairs_meet_only_each_other() {
        let turned: Vec<u8> = fasta(std::str::from_utf8(QUERY).unwrap())
            .into_iter()
            .flat_map(|(name, letters)| {
                [format!(">{name}\n").into_bytes(), reverse_complement(&letters), b"\n".to_vec()].concat()
            })
            .collect();
        let files = [("q.fa", QUERY), ("turned.fa", &turned[..]), ("ref.fa", REFERENCE)];
        let flags = |args: &[&str]| -> Vec<(u32, String)> {
            accepted(&files, args).sam().records.iter().map(|r| (r.flag(), r.target().to_string())).collect()
        };
        let found = |flag| vec![(flag, "chr1".to_string()), (flag, "chr2".to_string())];
        assert_eq!(flags(&["pairs", "q.fa", "ref.fa"]), found(0));
        assert_eq!(flags(&["pairs", "--both-strands", "turned.fa", "ref.fa"]), found(16));
        assert!(
            flags(&["pairs", "turned.fa", "ref.fa"]).iter().all(|(flag, _)| flag & 16 == 0),
            "forward only"
        );
    }
}

mod output {
    use super::*;

    #[test]
    fn a_folder_that_is_missing() {
        refused_options(&["-o", "nosuch/out.sam"], 1, &["nosuch"]);
    }

    #[test]
    fn a_file_is_written_whole() {
        let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE), ("out.sam", b"old")]);
        let outcome =
            run(folder.path(), &["--device", "cpu", "--min-score", "10", "-o", "out.sam", "q.fa", "ref.fa"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.is_empty());
        let written = Outcome { stdout: fs::read(folder.path().join("out.sam")).unwrap(), ..outcome };
        assert_eq!(written.without_pg(), baseline().without_pg());
        assert_eq!(listing(folder.path()).len(), 3, "no temporary is left");
    }

    #[test]
    fn an_old_file_outlives_a_failure() {
        let folder =
            folder(&[("q.fa", b">r1\nACGT\n>r2\nAC!T\n"), ("ref.fa", REFERENCE), ("out.sam", b"old")]);
        let outcome = run(folder.path(), &["--device", "cpu", "-o", "out.sam", "q.fa", "ref.fa"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert_eq!(fs::read(folder.path().join("out.sam")).unwrap(), b"old");
        assert_eq!(listing(folder.path()).len(), 3);
    }

    /// Many queries, so that the output is larger than any pipe's buffer.
    fn many_queries() -> Vec<u8> {
        (0..20_000)
            .map(|k| format!(">read{k}\nTTAGCCATGGATCCATTGCACGGTTAACC\n"))
            .collect::<String>()
            .into_bytes()
    }

    #[cfg(unix)]
    fn spawn(folder: &Path, stdout: Stdio) -> std::process::Child {
        std::process::Command::new(assert_cmd::cargo::cargo_bin!("swalign"))
            .args(["--device", "cpu", "--min-score", "10", "q.fa", "ref.fa"])
            .current_dir(folder)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk() {
        let folder = folder(&[("q.fa", &many_queries()), ("ref.fa", REFERENCE)]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = spawn(folder.path(), full.into()).wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("stdout") || stderr.contains("standard output"), "{stderr}");
        assert!(stderr.contains("No space left"), "{stderr}");
    }

    #[cfg(unix)]
    #[test]
    fn a_closed_pipe_is_success() {
        let folder = folder(&[("q.fa", &many_queries()), ("ref.fa", REFERENCE)]);
        let mut child = spawn(folder.path(), Stdio::piped());
        let mut first = [0u8; 4];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_eq!(&first, b"@HD\t");
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.to_lowercase().contains("error"), "{stderr}");
    }

    /// Warnings too are notes; errors are not.
    #[test]
    fn quiet_says_nothing_but_errors() {
        let query = [QUERY, b">empty\n"].concat();
        let outcome = accepted(&[("q.fa", &query), ("ref.fa", REFERENCE)], &["-q", "q.fa", "ref.fa"]);
        assert_eq!(outcome.stderr, "");
        refused_options(&["-q", "-o", "nosuch/out.sam"], 1, &["swalign: error: nosuch/out.sam"]);
        refused(&[("ref.fa", REFERENCE)], &["-q", "nosuch.fa", "ref.fa"], 1, &["swalign: error: nosuch.fa"]);
        refused_options(&["-q", "--match", "x"], 2, &["--match"]);
    }

    /// The device, a summary, and with -v the scoring and each batch.
    #[test]
    fn what_is_said() {
        let files = [("q.fa", QUERY), ("ref.fa", REFERENCE)];
        let normal = accepted(&files, &["-t", "1", "q.fa", "ref.fa"]).stderr;
        let lines: Vec<&str> = normal.lines().collect();
        assert_eq!(lines.len(), 2, "{normal}");
        assert!(lines[0].starts_with("swalign: using CPU (1 thread, "), "{normal}");
        // 29 and 24 letters against 51 and 42, both strands.
        let cells = 2 * (29 + 24) * (51 + 42);
        assert!(
            lines[1].starts_with(&format!("swalign: 2 queries, 2 aligned, {cells} cells in ")),
            "{normal}"
        );
        for word in ["GCUPS", "reading", "device", "backtrace", "writing"] {
            assert!(lines[1].contains(word), "{word} in {normal}");
        }
        let verbose = accepted(&files, &["-v", "--batch", "1", "q.fa", "ref.fa"]).stderr;
        for text in [
            "2 references, 93 letters",
            "match=1 mismatch=4",
            "min_score=10",
            "batch 1: 1 queries",
            "batch 2: ",
        ] {
            assert!(verbose.contains(text), "{text} in {verbose}");
        }
    }
}

mod devices {
    use super::*;

    /// A command that finds no Vulkan driver.
    fn without_driver(folder: &Path, args: &[&str]) -> Outcome {
        granted(None, folder, args)
    }

    /// The same where CUDA_VISIBLE_DEVICES says which cards may be taken.
    fn granted(cards: Option<&str>, folder: &Path, args: &[&str]) -> Outcome {
        let mut command = command(folder);
        for variable in ["CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"] {
            command.env_remove(variable);
        }
        command
            .envs(cards.map(|cards| ("CUDA_VISIBLE_DEVICES", cards)))
            .env("VK_DRIVER_FILES", "/nonexistent")
            .env("VK_ICD_FILENAMES", "/nonexistent")
            .env("WGPU_BACKEND", "vulkan");
        finish(command.args(args).write_stdin(QUERY))
    }

    #[test]
    fn a_device_that_is_missing_is_an_error() {
        refused_options(&["--device", "gpu:nosuchcard"], 1, &["nosuchcard"]);
        refused_options(&["--device", "gpu:99"], 1, &["99"]);
        refused_options(&["--device", "cpu:vax"], 1, &["'vax'", "baseline"]);
        refused_options(&["--device", "nosuch"], 2, &["--device"]);
    }

    #[test]
    fn no_driver() {
        let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
        let auto = |query: &str| {
            let args = ["--device", "auto", "--min-score", "10", query, "ref.fa"];
            let outcome = without_driver(folder.path(), &args);
            assert_eq!(outcome.without_pg(), baseline().without_pg());
            outcome.stderr
        };
        let little = auto("q.fa");
        assert!(little.contains("using CPU") && little.contains("too little for a GPU"), "{little}");
        // What comes from stdin may be much, and a file of that name says nothing of it.
        for _ in 0..2 {
            let piped = auto("-");
            assert!(piped.contains("using CPU") && piped.contains("no GPU was found"), "{piped}");
            std::fs::write(folder.path().join("-"), QUERY).unwrap();
        }
        let gpu = without_driver(folder.path(), &["--device", "gpu", "-o", "out.sam", "q.fa", "ref.fa"]);
        assert_eq!(gpu.code, Some(1), "{}", gpu.stderr);
        assert!(gpu.stderr.contains("GPU") && gpu.stderr.contains("cpu"), "{}", gpu.stderr);
        assert!(!folder.path().join("out.sam").exists());
        let listed = without_driver(folder.path(), &["devices"]);
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    }

    #[test]
    fn a_card_that_was_granted_is_not_done_without() {
        let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE)]);
        let auto = |cards, query| {
            let args = ["--device", "auto", "--min-score", "10", "-o", "out.sam", query, "ref.fa"];
            let outcome = granted(Some(cards), folder.path(), &args);
            assert_eq!(folder.path().join("out.sam").exists(), outcome.code == Some(0), "{}", outcome.stderr);
            let _ = fs::remove_file(folder.path().join("out.sam"));
            (outcome.code, outcome.stderr)
        };
        let (code, said) = auto("0", "-");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("CUDA_VISIBLE_DEVICES=0") && said.contains("--device cpu"), "{said}");
        assert_eq!(auto("0", "q.fa").0, Some(0), "too little for any card");
        for none in ["", "-1"] {
            assert_eq!(auto(none, "-").0, Some(0), "'{none}'");
        }
    }

    /// The widest vectors are those of most tests; these are the same bytes from all the others.
    #[test]
    fn instruction_sets() {
        let on = |device: &str| {
            run_here(&["--device", device, "--max-hits", "5", "data/proteins_20.fa", "data/uniprot_60.fa"])
        };
        let expected = on("plain");
        assert_eq!(expected.code, Some(0), "{}", expected.stderr);
        for set in InstructionSet::available() {
            let device = format!("cpu:{set}");
            let outcome = on(&device);
            assert!(outcome.stderr.contains(&format!(", {set})")), "{}", outcome.stderr);
            assert!(outcome.without_pg() == expected.without_pg(), "{device} gives other bytes");
        }
    }

    #[test]
    fn the_filter() {
        let sets: [&[&str]; 4] = [
            &["data/illumina_chr22.fq.gz", "data/chr22_12k.fa"],
            &["--max-hits", "20", "--forward-only", "data/amplicon_16s.fq.gz", "data/16s_20.fa"],
            &["--min-score", "12", "--max-hits", "5", "data/artic_v3_primers.fa", "data/sars2.fa"],
            &[
                "--secondary-ratio",
                "0.6",
                "--max-hits",
                "3",
                "data/illumina_chr22.fq.gz",
                "data/chr22_12k.fa",
            ],
        ];
        for inputs in sets {
            let with = |filter: &str| run_here(&[&["--device", "cpu", "--filter", filter], inputs].concat());
            let expected = with("none");
            assert_eq!(expected.code, Some(0), "{}", expected.stderr);
            assert!(!expected.stderr.contains("searched in full"), "{}", expected.stderr);
            for filter in ["auto", "bitap"] {
                let found = with(filter);
                assert!(found.stderr.contains("searched in full"), "{}", found.stderr);
                assert!(
                    found.without_pg() == expected.without_pg(),
                    "{inputs:?}: {filter} gives other bytes"
                );
            }
        }
        refused_options(&["--filter", "some"], 2, &["'some'", "--filter"]);
    }

    #[test]
    fn devices_are_listed() {
        let outcome = run_here(&["devices"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(String::from_utf8(outcome.stdout).unwrap().to_lowercase().contains("cpu"));
    }
}

mod answers {
    use super::*;

    /// The first `count` records of a FASTA or FASTQ file of `data/`.
    fn head(name: &str, count: usize) -> Vec<u8> {
        let mut reader = needletail::parse_fastx_file(data(name)).unwrap();
        let mut out = Vec::new();
        for _ in 0..count {
            let Some(record) = reader.next() else { break };
            record.unwrap().write(&mut out, None).unwrap();
        }
        out.flush().unwrap();
        out
    }

    /// Runs with every way to compute that must not matter, and compares bytes.
    fn same_bytes(query: &[u8], reference: &str, options: &[&str]) {
        let folder = folder(&[("q", query)]);
        let reference = data(reference);
        let run = |way: &[&str]| {
            let mut args = options.to_vec();
            args.extend(way);
            args.extend(["q", reference.to_str().unwrap()]);
            run(folder.path(), &args).without_pg()
        };
        let expected = run(&["--device", "cpu", "-t", "1"]);
        for way in [
            &["--device", "cpu", "-t", "2"][..],
            &["--device", "cpu", "-t", "5", "--batch", "7"],
            &["--device", "cpu", "-t", "1", "--batch", "1"],
            &["--device", "cpu", "-t", "2", "--batch", "1000"],
            &["--device", "plain", "-t", "2"],
            &["--device", "plain", "-t", "5", "--batch", "7"],
        ] {
            assert!(run(way) == expected, "{options:?} {way:?} gives other bytes");
        }
    }

    #[test]
    fn amplicons_however_computed() {
        same_bytes(&head("amplicon_16s.fq.gz", 15), "16s_20.fa", &["--max-hits", "5"]);
    }

    #[test]
    fn long_reads_however_computed() {
        same_bytes(&head("ont_sars2.fq.gz", 6), "sars2.fa", &["--preset", "long", "--max-hits", "3"]);
    }

    #[test]
    fn proteins_however_computed() {
        same_bytes(&head("proteins_20.fa", 20), "uniprot_60.fa", &["--max-hits", "4", "--min-score", "40"]);
    }

    /// All 50 reads have the score that parasail found for the better strand, and its end where that
    /// is the only one.
    #[test]
    fn ont_reads_have_parasails_scores() {
        let mut best: BTreeMap<String, golden::Row> = BTreeMap::new();
        for row in golden::rows("reads_sars2").into_iter().filter(|row| row.scheme == "dna_mm2_2_4_o4e2") {
            let read = row.pair.trim_end_matches(['+', '-']).to_string();
            if best.get(&read).is_none_or(|other| other.local < row.local) {
                best.insert(read, row);
            }
        }
        let sam =
            run_here(&["--device", "cpu", "--preset", "long", "data/ont_sars2.fq.gz", "data/sars2.fa"]).sam();
        assert_eq!(sam.primary().count(), 50);
        for record in sam.primary() {
            let row = &best[record.name()];
            let expected = (i64::from(row.local), row.pair.ends_with('-'));
            assert_eq!((record.score(), record.flag() & 16 != 0), expected, "{}", record.name());
            if let Some((_, target_end)) = row.end {
                assert_eq!(record.target_end(), u64::from(target_end), "{}", record.name());
            }
        }
    }

    /// Every primer lies, whole and without a mismatch, where the scheme's own table says.
    #[test]
    fn primers_lie_where_their_scheme_says() {
        let table = fs::read_to_string(data("artic_v3_primers.bed")).unwrap();
        let places: BTreeMap<&str, (u64, u64, u32)> = table
            .lines()
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                let strand = if fields[5] == "-" { 16 } else { 0 };
                (fields[3], (fields[1].parse::<u64>().unwrap() + 1, fields[2].parse().unwrap(), strand))
            })
            .collect();
        let sam = run_here(&["--device", "cpu", "data/artic_v3_primers.fa", "data/sars2.fa"]).sam();
        assert_eq!(sam.records.len(), 218);
        for record in &sam.records {
            let found = (record.position(), record.target_end(), record.flag());
            assert_eq!(found, places[record.name()], "{}", record.name());
            assert_eq!(
                (record.cigar(), record.tag("NM")),
                (&*format!("{}M", record.sequence().len()), Some("0"))
            );
        }
    }

    /// A read of no relation is an unmapped record.
    #[test]
    fn no_hit() {
        let query =
            [b">random\n".to_vec(), Random::new(7).sequence(Alphabet::Dna, 60), b"\n".to_vec()].concat();
        let folder = folder(&[("q.fa", &query), ("ref.fa", REFERENCE)]);
        let sam = run(folder.path(), &["--device", "cpu", "q.fa", "ref.fa"]).sam();
        assert_eq!(sam.records.len(), 1);
        assert_eq!(sam.records[0].fields[1..6], ["4", "*", "0", "0", "*"]);
        assert_eq!(sam.records[0].sequence().len(), 60);
    }
}
