//! Runs in parts from the command: joined, they are the whole, byte for byte.

mod common;

use common::command::{command, finish, run};
use common::data;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use swalign::writer::bgzf::{GROUP, pack};
use tempfile::TempDir;

/// Runs `swalign ARGS` in `folder`, which must succeed, and gives its stdout.
#[track_caller]
fn stdout(folder: &Path, args: &[&str]) -> Vec<u8> {
    let outcome = run(folder, args);
    assert_eq!(outcome.code, Some(0), "{args:?}: {}", outcome.stderr);
    outcome.stdout
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Real reads, some 2,000 of them, under names of their own, in all ways that queries come; and a reference.
fn reads() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let packed = File::open(data("illumina_chr22.fq.gz")).unwrap();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut fastq, mut fasta, mut wrapped) = (String::new(), String::new(), String::new());
    for number in 0..4 * GROUP - 30 {
        let record = &lines[4 * number % lines.len()..][..4];
        let letters = &record[1][number % 11..80];
        let qualities = &record[3][number % 11..80];
        fastq += &format!("@r{number} of many\n{letters}\n+\n{qualities}\n");
        fasta += &format!(">r{number}\n{letters}\n");
        wrapped += &format!(">r{number}\n{}\n\n{}\n", &letters[..40], &letters[40..]);
    }
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("q.fq", fastq.as_bytes());
    write("q.fa", fasta.as_bytes());
    write("wrapped.fa", wrapped.trim_end().as_bytes());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(fastq.as_bytes()).unwrap();
    write("q.fq.gz", &encoder.finish().unwrap());
    write("blocks.fq.gz", &pack(fastq.as_bytes()).unwrap());
    fs::copy(data("chr22_12k.fa"), folder.path().join("ref.fa")).unwrap();
    folder
}

/// The bytes of parts, one behind the other, without the headers of the later ones and the ends of the
/// earlier ones.
fn joined(parts: &[Vec<u8>], header: usize, end: usize) -> Vec<u8> {
    let mut all = parts[0][..header].to_vec();
    for part in parts {
        assert!(part[..header] == parts[0][..header], "headers differ");
        all.extend(&part[header..part.len() - end]);
    }
    all.extend(&parts[0][parts[0].len() - end..]);
    all
}

/// Bytes of the header and of the end.
fn frame(format: &str, bytes: &[u8]) -> (usize, usize) {
    match format {
        "sam" => {
            let header = bytes.split_inclusive(|&byte| byte == b'\n').take_while(|line| line[0] == b'@');
            (header.map(<[u8]>::len).sum(), 0)
        }
        "bam" => (common::bam::blocks(bytes).0.concat().len(), common::bam::END.len()),
        _ => (0, 0),
    }
}

#[test]
fn parts_of_reads_are_the_whole() {
    let folder = reads();
    for (query, format, counts) in [
        ("q.fq", "bam", &[1, 2, 3, 7, 30][..]),
        ("q.fq", "sam", &[3]),
        ("q.fq.gz", "bam", &[2, 7]),
        ("blocks.fq.gz", "bam", &[3]),
        ("blocks.fq.gz", "paf", &[2]),
        ("q.fa", "paf", &[3]),
        ("wrapped.fa", "sam", &[2, 7]),
    ] {
        let args = |more: &[&str]| {
            let fixed = ["--format", format, "--device", "cpu", "--max-hits", "2"];
            [&fixed, more, &[query, "ref.fa"]]
                .concat()
                .iter()
                .map(|word| word.to_string())
                .collect::<Vec<_>>()
        };
        let bytes = |more: &[&str]| {
            let args = args(more);
            stdout(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let whole = bytes(&["-t", "2"]);
        let (header, end) = frame(format, &whole);
        for &count in counts {
            let part = |number: usize| {
                let (threads, batch) = ((1 + number % 3).to_string(), (1 + 300 * number).to_string());
                bytes(&["--part", &format!("{number}/{count}"), "-t", &threads, "--batch", &batch])
            };
            let parts: Vec<Vec<u8>> = (1..=count).map(part).collect();
            assert!(joined(&parts, header, end) == whole, "{query} as {format} in {count} parts");
            let empty = parts.iter().filter(|part| part.len() == header + end).count();
            assert!(empty > 0 || count < 30, "{query} in {count} parts");
            assert!(empty == 0 || count > 3 || query.ends_with("gz"), "{query} in {count} parts");
        }
    }
}

/// The i-th part of the queries meets its own targets, though those are read whole.
#[test]
fn parts_of_pairs_are_the_whole() {
    let folder = reads();
    let queries = fs::read_to_string(folder.path().join("q.fa")).unwrap();
    fs::write(folder.path().join("t.fa"), queries.replace(">r", ">t")).unwrap();
    let bytes = |more: &[&str]| {
        let args = [&["pairs", "--format", "bam", "--device", "cpu"], more, &["q.fa", "t.fa"]].concat();
        stdout(folder.path(), &args)
    };
    let whole = bytes(&[]);
    let (header, end) = frame("bam", &whole);
    let parts = [1, 2, 3].map(|number| bytes(&["--part", &format!("{number}/3")]));
    assert!(joined(&parts, header, end) == whole);
    // A target too few, a target too many: the last part says so.
    let last = queries.rfind('>').unwrap();
    for targets in [queries[..last].to_string(), format!("{queries}>more\nACGT\n")] {
        fs::write(folder.path().join("t.fa"), targets).unwrap();
        let args = |part| ["pairs", "--device", "cpu", "--part", part, "-o", "out.sam", "q.fa", "t.fa"];
        assert_eq!(run(folder.path(), &args("1/3")).code, Some(0));
        let outcome = run(folder.path(), &args("3/3"));
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("queries for the"), "{}", outcome.stderr);
    }
}

#[test]
fn parts_of_a_search_are_the_whole() {
    let folder = reads();
    let texts = ["q.fq.gz", "wrapped.fa", "blocks.fq.gz"];
    for (format, header) in [("tab", 1), ("bed", 0), ("fasta", 0), ("count", 1)] {
        let bytes = |more: &[&str]| {
            let fixed = ["search", "-k", "2", "--format", format, "--device", "cpu"];
            stdout(folder.path(), &[&fixed, more, &["GATTACAGG"], &texts].concat())
        };
        let whole = bytes(&[]);
        let header = whole.split_inclusive(|&byte| byte == b'\n').take(header).map(<[u8]>::len).sum();
        for count in [1, 2, 5, 40] {
            let part = |number| bytes(&["--part", &format!("{number}/{count}")]);
            let parts: Vec<Vec<u8>> = (1..=count).map(part).collect();
            assert!(joined(&parts, header, 0) == whole, "{format} in {count} parts");
        }
    }
}

/// A later part of proteins is not held to be DNA for its first letters.
#[test]
fn parts_of_proteins_that_look_like_dna() {
    let folder = tempfile::tempdir().unwrap();
    let query = |number: usize| match number {
        0 => ">p0\nMKVLAAGITRRWDEFHIKLMNPQRSTVWY\n".to_string(),
        _ => format!(">p{number}\nGATTACAGATTACAGATTACAGATTACA\n"),
    };
    let reference = ">r\nMKVLAAGITRRWDEFHIKLMNPQRSTVWYGATTACAGATTACAGATTACA\n";
    fs::write(folder.path().join("q.fa"), (0..2 * GROUP).map(query).collect::<String>()).unwrap();
    fs::write(folder.path().join("r.fa"), reference).unwrap();
    let bytes = |more: &[&str]| {
        let args = [&["--device", "cpu"], more, &["q.fa", "r.fa"]].concat();
        stdout(folder.path(), &args)
    };
    let whole = bytes(&[]);
    let parts = [bytes(&["--part", "1/2"]), bytes(&["--part", "2/2"])];
    assert!(joined(&parts, frame("sam", &whole).0, 0) == whole);
}

#[test]
fn what_can_not_be_parted_is_refused() {
    let folder = reads();
    for args in [
        &["--part", "1/2", "-", "ref.fa"][..],
        &["--part", "1/2", "/dev/null", "ref.fa"],
        &["search", "--part", "1/2", "ACGT", "-"],
    ] {
        let outcome = finish(command(folder.path()).args(args).write_stdin(">a\nACGT\n"));
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
        let says = outcome.stderr.contains("--part") && outcome.stderr.contains("give a file");
        assert!(says && outcome.stdout.is_empty(), "{args:?}: {}", outcome.stderr);
    }
    // What is wrong with a file is told in its own place, and by all parts if it is no FASTA.
    let fastq = fs::read_to_string(folder.path().join("q.fq")).unwrap();
    let at = fastq.find("@r1900 ").unwrap();
    let faulty = [&fastq[..at], "@r1900\nAC\n-\nII\n", &fastq[at..]].concat();
    fs::write(folder.path().join("q.fq"), faulty).unwrap();
    fs::write(folder.path().join("text"), "hello").unwrap();
    let part = |number: &str, query: &str| {
        run(folder.path(), &["--device", "cpu", "--part", number, "-o", "out", query, "ref.fa"])
    };
    assert_eq!(part("1/2", "q.fq").code, Some(0));
    let said = part("2/2", "q.fq").stderr;
    assert!(said.contains("record 1901 'r1900', line 7603"), "{said}");
    for (number, query) in [("1/2", "text"), ("2/2", "text"), ("2/2", "nosuch.fq")] {
        let outcome = part(number, query);
        assert_eq!(outcome.code, Some(1), "{query}");
        assert!(outcome.stderr.contains(query), "{}", outcome.stderr);
    }
}
