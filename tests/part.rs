//! Runs in parts from the command: joined, they are the whole, byte for byte.

mod common;

use common::command::{command, finish, run};
use common::{data, names_in_groups, receipts};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use swalign::writer::bgzf::pack;
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

/// Real reads in many groups, in all ways that queries come; and a reference.
const READS: usize = 2018;

fn reads() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let packed = File::open(data("illumina_chr22.fq.gz")).unwrap();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut fastq, mut fasta, mut wrapped) = (String::new(), String::new(), String::new());
    let [mut mates, mut pairs] = [String::new(), String::new()];
    let names = names_in_groups(READS, 60, 69);
    for (number, name) in names.iter().enumerate() {
        let record = &lines[4 * number % lines.len()..][..4];
        let letters = &record[1][number % 11..80];
        let qualities = &record[3][number % 11..80];
        fastq += &format!("@{name} of many\n{letters}\n+\n{qualities}\n");
        fasta += &format!(">{name}\n{letters}\n");
        wrapped += &format!(">{name}\n{}\n\n{}\n", &letters[..40], &letters[40..]);
        let name = &names[number / 2 * 2];
        mates += &format!("@{name}/{}\r\n{letters}\r\n+{name}\r\n{qualities}\r\n", 1 + number % 2);
        pairs += &format!(">{name}\n{letters}\n");
    }
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("q.fq", fastq.as_bytes());
    write("q.fa", fasta.as_bytes());
    write("wrapped.fa", wrapped.trim_end().as_bytes());
    write("mates.fq", mates.as_bytes());
    write("pairs.fa", pairs.as_bytes());
    let long = |name: &String| format!(">{name}\n{}\n", lines[1].repeat(50));
    write("long.fa", names_in_groups(9, 2, 5000).iter().map(long).collect::<String>().as_bytes());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(fastq.as_bytes()).unwrap();
    write("q.fq.gz", &encoder.finish().unwrap());
    write("blocks.fq.gz", &pack(fastq.as_bytes()).unwrap());
    write("mates.fq.gz", &pack(mates.as_bytes()).unwrap());
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
        ("q.fq", "bam", &[1, 2, 3, 7, 60][..]),
        ("q.fq", "sam", &[3]),
        ("q.fq.gz", "bam", &[2, 7]),
        ("blocks.fq.gz", "bam", &[3]),
        ("blocks.fq.gz", "paf", &[2]),
        ("q.fa", "paf", &[3]),
        ("wrapped.fa", "sam", &[2, 7]),
        ("mates.fq", "bam", &[5]),
        ("mates.fq.gz", "sam", &[3]),
        ("pairs.fa", "bam", &[9]),
        ("long.fa", "bam", &[4]),
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
            assert!(empty > 0 || count < 60, "{query} in {count} parts");
            assert!(empty == 0 || count > 3, "{query} in {count} parts");
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
    let query = |(number, name): (usize, &String)| match number {
        0 => format!(">{name}\nMKVLAAGITRRWDEFHIKLMNPQRSTVWY\n"),
        _ => format!(">{name}\nGATTACAGATTACAGATTACAGATTACA\n"),
    };
    let queries: String = names_in_groups(200, 50, 28).iter().enumerate().map(query).collect();
    let reference = ">r\nMKVLAAGITRRWDEFHIKLMNPQRSTVWYGATTACAGATTACAGATTACA\n";
    fs::write(folder.path().join("q.fa"), queries).unwrap();
    fs::write(folder.path().join("r.fa"), reference).unwrap();
    let bytes = |more: &[&str]| {
        let args = [&["--device", "cpu"], more, &["q.fa", "r.fa"]].concat();
        stdout(folder.path(), &args)
    };
    let whole = bytes(&[]);
    let parts = [bytes(&["--part", "1/2"]), bytes(&["--part", "2/2"])];
    let (header, _) = frame("sam", &whole);
    assert!(parts.iter().all(|part| part.len() > header));
    assert!(joined(&parts, header, 0) == whole);
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
    fs::write(folder.path().join("q.fq"), &faulty).unwrap();
    let fasta = fs::read_to_string(folder.path().join("q.fa")).unwrap();
    fs::write(folder.path().join("text"), "hello").unwrap();
    fs::write(folder.path().join("faulty.fq.gz"), pack(faulty.as_bytes()).unwrap()).unwrap();
    fs::write(folder.path().join("empty.fa"), fasta.replace("\n>r1900\n", "\n>r1900\n\n>other\n")).unwrap();
    let part = |number: &str, query: &str| {
        run(folder.path(), &["--device", "cpu", "--part", number, "-o", "out", query, "ref.fa"])
    };
    assert_eq!(part("1/2", "q.fq").code, Some(0));
    for query in ["q.fq", "faulty.fq.gz"] {
        let said = part("2/2", query).stderr;
        assert!(said.contains("record 1901 'r1900', line 7603"), "{said}");
    }
    let outcome = part("2/2", "empty.fa");
    let said = outcome.stderr;
    assert!(
        outcome.code == Some(0) && said.contains("record 1901 'r1900': the query has no letters"),
        "{said}"
    );
    for (number, query) in [("1/2", "text"), ("2/2", "text"), ("2/2", "nosuch.fq")] {
        let outcome = part(number, query);
        assert_eq!(outcome.code, Some(1), "{query}");
        assert!(outcome.stderr.contains(query), "{}", outcome.stderr);
    }
}

/// `swalign ARGS` with an output and a part.
fn write_part(folder: &Path, part: &str, out: &str) -> common::command::Outcome {
    let args = ["--device", "cpu", "--part", part, "--resume", "-o", out, "q.fq", "ref.fa"];
    run(folder, &args)
}

#[test]
fn merged_parts_are_the_whole() {
    let folder = reads();
    for (query, format, count) in [
        ("q.fq", "bam", 3),
        ("q.fq.gz", "bam", 60),
        ("q.fa", "paf", 7),
        ("wrapped.fa", "sam", 2),
        ("q.fq", "sam", 1),
    ] {
        let name = |number: u32| format!("part.{number}.{format}");
        for number in 1..=count {
            let (part, threads) = (format!("{number}/{count}"), (1 + number % 3).to_string());
            let args =
                ["--device", "cpu", "-t", &threads, "--part", &part, "-o", &name(number), query, "ref.fa"];
            stdout(folder.path(), &args);
        }
        // In the order of a folder's listing, in which 10 comes before 2.
        let mut parts: Vec<String> = (1..=count).map(name).collect();
        parts.sort();
        let args: Vec<&str> = ["merge", "out"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        stdout(folder.path(), &args);
        let whole = stdout(folder.path(), &["--device", "cpu", "--format", format, query, "ref.fa"]);
        assert!(
            fs::read(folder.path().join("out")).unwrap() == whole,
            "{query} as {format} in {count} parts"
        );
    }
    for format in ["tab", "count", "fasta"] {
        let search = ["search", "-k", "2", "--format", format, "GATTACAGG", "q.fa", "wrapped.fa"];
        for number in 1..=3 {
            let (part, out) = (format!("{number}/3"), format!("{number}.out"));
            stdout(folder.path(), &[&search[..], &["--part", &part, "-o", &out]].concat());
        }
        let merged = stdout(folder.path(), &["merge", "-", "2.out", "3.out", "1.out"]);
        assert!(merged == stdout(folder.path(), &search), "{format}");
    }
}

/// In SAM a pattern has one primary record, whatever the parts.
#[test]
fn merged_hits_are_the_whole() {
    let folder = reads();
    fs::write(folder.path().join("p.fa"), ">one\nGATTACAGG\n>two\nTTGCAT\n>none\nACGTTGCAACGTTGCAACGTTGCA\n")
        .unwrap();
    let search = ["search", "-k", "1", "--format", "sam", "-f", "p.fa", "q.fa"];
    let whole = stdout(folder.path(), &search);
    let primaries = |bytes: &[u8], pattern: &str| {
        let text = str::from_utf8(bytes).unwrap();
        let flags = text.lines().filter_map(|line| line.strip_prefix(pattern)?.strip_prefix('\t'));
        flags.filter(|line| line.starts_with("0\t") || line.starts_with("16\t")).count()
    };
    for count in [1, 2, 5] {
        let name = |number: u32| format!("{number}.sam");
        for number in 1..=count {
            let part = format!("{number}/{count}");
            stdout(folder.path(), &[&search[..], &["--part", &part, "-o", &name(number)]].concat());
            let part = fs::read(folder.path().join(name(number))).unwrap();
            assert_eq!(
                ["two", "none"].map(|pattern| primaries(&part, pattern)),
                [1, 0],
                "there is something to do"
            );
        }
        let parts: Vec<String> = (1..=count).map(name).collect();
        let args: Vec<&str> = ["merge", "-"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        assert!(stdout(folder.path(), &args) == whole, "{count} parts");
    }
    fs::write(folder.path().join("p.fa"), ">one\nGATTACAGG\n>one\nTTGCAT\n").unwrap();
    let outcome = run(folder.path(), &[&search[..], &["--part", "1/2"]].concat());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("two patterns are called 'one'"), "{}", outcome.stderr);
}

#[test]
fn merge_says_what_is_missing_or_foreign() {
    let folder = reads();
    let path = |name: &str| folder.path().join(name);
    for number in ["1", "2", "3"] {
        assert_eq!(write_part(folder.path(), &format!("{number}/3"), &format!("{number}.bam")).code, Some(0));
    }
    let write = |args: &[&str]| stdout(folder.path(), &[&["--device", "cpu"], args, &["ref.fa"]].concat());
    write(&["--part", "2/4", "-o", "of4.bam", "q.fq"]);
    write(&["--part", "2/3", "-o", "2.sam", "q.fq"]);
    write(&["--part", "2/3", "-o", "eqx.bam", "--eqx", "q.fq"]);
    write(&["--part", "2/3", "-o", "other.bam", "q.fa"]);
    write(&["-o", "whole.bam", "q.fq"]);
    fs::copy(path("2.bam"), path("again.bam")).unwrap();
    fs::copy(path("2.bam.swalign"), path("again.bam.swalign")).unwrap();
    fs::write(path("short.bam"), &fs::read(path("2.bam")).unwrap()[..1000]).unwrap();
    fs::copy(path("2.bam.swalign"), path("short.bam.swalign")).unwrap();
    fs::write(path("empty.bam"), "").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let receipt = fs::read_to_string(path("2.bam.swalign")).unwrap();
    for name in ["gone", "empty"] {
        fs::write(path(&format!("{name}.bam.swalign")), &receipt).unwrap();
    }
    let old = receipt.replace("receipt\t2\n", "");
    for (name, text) in [("cut", &receipt[..receipt.len() / 2]), ("none", ""), ("old", &*old)] {
        fs::copy(path("2.bam"), path(&format!("{name}.bam"))).unwrap();
        fs::write(path(&format!("{name}.bam.swalign")), text).unwrap();
    }
    let before = names(folder.path());
    for (parts, says) in [
        (&["1.bam", "3.bam"][..], &["part 2/3", "missing"][..]),
        (&["2.bam"], &["2 parts of its run are missing: 1/3, 3/3;"]),
        (&["1.bam", "2.bam", "3.bam", "again.bam"], &["part 2/3, as is 2.bam", "again.bam"]),
        (&["1.bam", "of4.bam", "3.bam"], &["of4.bam", "another run", "in 4 parts"]),
        (&["1.bam", "2.sam", "3.bam"], &["2.sam", "another run", "as sam"]),
        (&["1.bam", "eqx.bam", "3.bam"], &["eqx.bam", "another run", "--eqx"]),
        (&["1.bam", "other.bam", "3.bam"], &["other.bam", "another run", "q.fa"]),
        (&["1.bam", "whole.bam", "3.bam"], &["whole.bam", "whole.bam.swalign is missing"]),
        (&["1.bam", "short.bam", "3.bam"], &["short.bam", "1000 bytes"]),
        (&["1.bam", "nosuch.bam", "3.bam"], &["nosuch.bam: no such file; check the path"]),
        (
            &["1.bam", "gone.bam", "3.bam"],
            &["gone.bam: no such file, though its receipt", "write this one again"],
        ),
        (&["1.bam", "empty.bam", "3.bam"], &["empty.bam: it has 0 bytes", "write this part again"]),
        (&["1.bam", "folder", "3.bam"], &["folder: this is a folder; give the file"]),
        (
            &["1.bam", "cut.bam", "3.bam"],
            &["cut.bam.swalign was changed", "or is cut short; write this part again"],
        ),
        (&["1.bam", "none.bam", "3.bam"], &["none.bam.swalign was changed", "write this part again"]),
        (
            &["1.bam", "old.bam", "3.bam"],
            &["old.bam.swalign is of another version of swalign; write this part again"],
        ),
    ] {
        let outcome = run(folder.path(), &[&["merge", "out.bam"], parts].concat());
        assert_eq!(outcome.code, Some(1), "{parts:?}: {}", outcome.stderr);
        for text in says {
            assert!(outcome.stderr.contains(text), "{parts:?}: no '{text}' in {}", outcome.stderr);
        }
        assert_eq!(names(folder.path()), before, "{parts:?}");
    }
    let outcome = run(folder.path(), &["merge", "1.bam", "2.bam", "1.bam", "3.bam"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    stdout(folder.path(), &["merge", "out.bam", "1.bam", "2.bam", "3.bam"]);
    assert!(fs::read(path("out.bam")).unwrap() == fs::read(path("whole.bam")).unwrap());
    // As of an input that has kept its size, but not the places of its cuts.
    receipts::change(&path("2.bam"), |text| receipts::with(text, "stretch", "5\t6"));
    let outcome = run(folder.path(), &["merge", "out.bam", "1.bam", "2.bam", "3.bam"]);
    let says =
        outcome.stderr.contains("2.bam: it begins at byte 5") && outcome.stderr.contains("has changed");
    assert!(outcome.code == Some(1) && says, "{}", outcome.stderr);
}

/// Parts of queries, all written, in a folder of their own.
fn parts_of(format: &str, count: usize) -> (TempDir, Vec<String>) {
    let folder = reads();
    let name = |number: usize| format!("{number}.{format}");
    for number in 1..=count {
        let part = format!("{number}/{count}");
        stdout(folder.path(), &["--device", "cpu", "--part", &part, "-o", &name(number), "q.fq", "ref.fa"]);
    }
    (folder, (1..=count).map(name).collect())
}

/// A merge of two parts that must fail, and say this, and leave nothing.
#[track_caller]
fn not_joined(folder: &Path, parts: &[String], says: &[&str], what: &str) {
    let before = names(folder);
    let outcome = run(folder, &["merge", "out", &parts[0], &parts[1]]);
    assert_eq!(outcome.code, Some(1), "{what}: {}", outcome.stderr);
    assert!(says.iter().any(|says| outcome.stderr.contains(says)), "{what}: {}", outcome.stderr);
    assert_eq!(names(folder), before, "{what}");
}

/// Any byte of any format, though the part is as long as it was.
#[test]
fn merge_sees_a_changed_byte() {
    let refused = |folder: &Path, parts: &[String]| {
        let path = folder.join(&parts[0]);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / 23).chain([bytes.len() - 1]) {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            fs::write(&path, &changed).unwrap();
            not_joined(
                folder,
                parts,
                &["write this part again", "write all parts"],
                &format!("{}, {at}", parts[0]),
            );
        }
    };
    for format in ["bam", "sam", "paf"] {
        let (folder, parts) = parts_of(format, 2);
        refused(folder.path(), &parts);
    }
    let folder = reads();
    for format in ["tab", "bed", "sam", "fasta", "count"] {
        let parts = ["1", "2"].map(|number| {
            let (part, out) = (format!("{number}/2"), format!("{number}.{format}"));
            let args =
                ["search", "-k", "2", "--format", format, "--part", &part, "-o", &out, "GATTACAGG", "q.fa"];
            stdout(folder.path(), &args);
            out
        });
        refused(folder.path(), &parts);
    }
}

/// A receipt that was changed is refused, and one that was sealed anew is held against the bytes.
#[test]
fn merge_does_not_believe_receipts() {
    for format in ["bam", "sam", "paf"] {
        let (folder, parts) = parts_of(format, 2);
        let path = |part: &String| folder.path().join(format!("{part}.swalign"));
        let receipts = parts.iter().map(|part| fs::read_to_string(path(part)).unwrap()).collect::<Vec<_>>();
        let bytes = receipts[0].lines().find_map(|line| line.strip_prefix("bytes\t")).unwrap();
        let [header, end, all] = bytes.split('\t').collect::<Vec<_>>()[..] else { panic!("{bytes}") };
        let frame = |header: &str, end: &str| format!("{header}\t{end}\t{all}");
        let headers = ["its header is", "it has records of", "it has"];
        for (key, value, says) in [
            ("bytes", frame("100", end), &headers[..]),
            ("bytes", frame("18446744073709551615", end), &["was changed after"]),
            ("bytes", frame(header, "18446744073709551615"), &["was changed after"]),
            ("bytes", frame(header, "5"), &["its end is not", "the checksum differs", "it has"]),
            ("records", "0".to_string(), &["more than 0 queries", "the checksum differs"]),
            ("records", "4000".to_string(), &["fewer than 4000 queries", "its run"]),
            ("crc32", "00000000".to_string(), &["the checksum differs"]),
            ("part", "3/2".to_string(), &["was changed after"]),
        ] {
            // The records of BAM are not unpacked: their number is that of the receipt.
            if key == "records" && format == "bam" {
                continue;
            }
            for (part, receipt) in parts.iter().zip(&receipts) {
                let other = receipts::with(receipt, key, &value);
                if other != *receipt {
                    fs::write(path(part), &other).unwrap();
                    not_joined(folder.path(), &parts, &["was changed after it was written"], &other);
                }
                fs::write(path(part), receipt).unwrap();
            }
            for part in &parts {
                receipts::change(&folder.path().join(part), |text| receipts::with(text, key, &value));
            }
            not_joined(folder.path(), &parts, says, &format!("{format} {key} {value}"));
            for (part, receipt) in parts.iter().zip(&receipts) {
                fs::write(path(part), receipt).unwrap();
            }
        }
        stdout(folder.path(), &["merge", "out", &parts[0], &parts[1]]);
    }
}

/// Neither the number of parts nor what is missing takes memory or time.
#[test]
fn parts_of_very_many() {
    let folder = reads();
    let args = ["--device", "cpu", "--part", "1/4294967295", "-o", "1.sam", "q.fq", "ref.fa"];
    stdout(folder.path(), &args);
    let outcome = run(folder.path(), &["merge", "out.sam", "1.sam"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let named: Vec<String> = (2..12).map(|number| format!("{number}/4294967295")).collect();
    let says = format!("4294967294 parts of its run are missing: {} and 4294967284 more;", named.join(", "));
    assert!(outcome.stderr.contains(&says), "{}", outcome.stderr);
    receipts::change(&folder.path().join("1.sam"), |text| receipts::with(text, "part", "1/4000000000"));
    let outcome = run(folder.path(), &["merge", "out.sam", "1.sam"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("3999999999 parts"), "{}", outcome.stderr);
}

/// OUT is no part, no receipt of one, and leaves neither without a name, however it is spelled.
#[test]
fn merge_writes_over_no_part() {
    let (folder, _) = parts_of("sam", 2);
    let path = |name: &str| folder.path().join(name);
    fs::hard_link(path("1.sam"), path("hard.sam")).unwrap();
    fs::hard_link(path("2.sam.swalign"), path("hard.receipt")).unwrap();
    fs::copy(path("2.sam"), path("new.swalign")).unwrap();
    fs::copy(path("2.sam.swalign"), path("new.swalign.swalign")).unwrap();
    let whole = path("2.sam").display().to_string();
    let mut outs =
        vec!["1.sam", "./2.sam", &whole, "1.sam.swalign", "./2.sam.swalign", "hard.sam", "hard.receipt"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("2.sam.swalign", path("soft.sam")).unwrap();
        outs.push("soft.sam");
    }
    let before: Vec<_> =
        names(folder.path()).into_iter().map(|name| (fs::read(path(&name)).unwrap(), name)).collect();
    let refused = |args: &[&str]| {
        let outcome = run(folder.path(), args);
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("name OUT before all parts"), "{args:?}: {}", outcome.stderr);
        let now: Vec<_> =
            names(folder.path()).into_iter().map(|name| (fs::read(path(&name)).unwrap(), name)).collect();
        assert!(now == before, "{args:?}");
    };
    for out in outs {
        refused(&["merge", out, "1.sam", "2.sam"]);
    }
    // Its receipt would have a part's name.
    refused(&["merge", "new", "1.sam", "new.swalign"]);
    // A receipt of no part that is joined, and of no run.
    for args in [
        &["merge", "new.swalign.swalign", "1.sam", "2.sam"][..],
        &["--device", "cpu", "--format", "sam", "-o", "1.sam.swalign", "q.fq", "ref.fa"],
    ] {
        let outcome = run(folder.path(), args);
        assert_eq!(outcome.code, Some(1), "{args:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("receipt of another output; name another"),
            "{args:?}: {}",
            outcome.stderr
        );
    }
}

/// A run whose receipt can't be written writes no output either, and says so before it computes.
#[test]
fn no_output_without_its_receipt() {
    let folder = reads();
    let path = |name: &str| folder.path().join(name);
    let long = "x".repeat(250);
    fs::create_dir(path("out.swalign")).unwrap();
    fs::write(path("foreign.swalign"), ">r\nACGT\n").unwrap();
    fs::write(path("out"), "old").unwrap();
    let before = names(folder.path());
    for (out, says) in [
        ("out", "out.swalign: the output's receipt would be written here"),
        (&*long, "shorter name"),
        ("foreign", "foreign.swalign: this file would be replaced by the output's receipt; name another"),
    ] {
        let align = ["--device", "cpu", "-v", "-o", out, "q.fq", "ref.fa"];
        let search = ["search", "-o", out, "GATTACA", "q.fq"];
        for args in [
            [&["--part", "1/2"][..], &align].concat(),
            [&["--ref-part", "1/2"][..], &align].concat(),
            [&["--resume"][..], &align].concat(),
            [&search[..], &["--part", "1/2"]].concat(),
            [&search[..], &["--resume"]].concat(),
        ] {
            let outcome = run(folder.path(), &args);
            assert_eq!(outcome.code, Some(1), "{args:?}: {}", outcome.stderr);
            assert!(outcome.stderr.contains(says), "{args:?}: {}", outcome.stderr);
            assert_eq!(outcome.stderr.lines().count(), 1, "{args:?}: {}", outcome.stderr);
            assert_eq!(names(folder.path()), before, "{args:?}");
        }
        assert_eq!(fs::read_to_string(path("out")).unwrap(), "old");
    }
    // Without a receipt all three are names as others.
    stdout(folder.path(), &["--device", "cpu", "-o", &long, "q.fq", "ref.fa"]);
}

/// An output is left as it is only if it is what the command would write.
#[test]
fn what_is_done_is_not_done_again() {
    let folder = reads();
    let path = |name: &str| folder.path().join(name);
    let resume = |more: &[&str]| {
        let args = [&["--device", "cpu", "--resume", "-o", "x.sam"], more, &["q.fq", "ref.fa"]].concat();
        let outcome = run(folder.path(), &args);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        !outcome.stderr.contains("queries")
    };
    assert!(!resume(&[]), "nothing is there");
    assert_eq!(names(folder.path()).iter().filter(|name| name.starts_with('.')).count(), 0);
    let whole = fs::read(path("x.sam")).unwrap();
    assert!(resume(&[]) && resume(&["-t", "1", "--batch", "9"]), "the same records");
    assert!(!resume(&["--part", "1/2"]) && resume(&["--part", "1/2"]));
    assert!(!resume(&["--part", "2/2"]), "another part");
    assert!(!resume(&[]), "not the whole");
    assert!(!resume(&["--format", "bam"]) && !resume(&[]), "another format");
    assert!(!resume(&["--eqx"]) && !resume(&[]), "another command");
    fs::write(path("x.sam"), &whole[..whole.len() - 1]).unwrap();
    assert!(!resume(&[]), "a byte is missing");
    fs::remove_file(path("x.sam")).unwrap();
    assert!(!resume(&[]) && resume(&[]), "it was removed");
    let input = File::options().write(true).open(path("q.fq")).unwrap();
    input.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(!resume(&[]) && resume(&[]), "the input is another one");
    // A run without --resume makes what was written down untrue.
    stdout(folder.path(), &["--device", "cpu", "-o", "x.sam", "--eqx", "q.fq", "ref.fa"]);
    assert!(!path("x.sam.swalign").exists());
    assert!(!resume(&[]));
    assert!(fs::read(path("x.sam")).unwrap() == whole);
    let search = ["search", "--resume", "-o", "x.tab", "GATTACA", "q.fq"];
    let patterns = |outcome: common::command::Outcome| outcome.stderr.contains("pattern");
    assert!(patterns(run(folder.path(), &search)) && !patterns(run(folder.path(), &search)));
    let outcome = run(folder.path(), &["--resume", "q.fq", "ref.fa"]);
    assert_eq!((outcome.code, outcome.stderr.contains("--output")), (Some(2), true), "{}", outcome.stderr);
}

#[cfg(unix)]
mod ends {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// A run that waits for its queries, and has begun to write.
    fn waiting(folder: &Path, envs: &[(&str, &str)]) -> Child {
        waiting_behind(folder, envs, "")
    }

    /// The same, where a shell has done something before it.
    fn waiting_behind(folder: &Path, envs: &[(&str, &str)], before_it: &str) -> Child {
        let temporaries =
            || names(folder).into_iter().filter(|name| name.ends_with(".tmp")).collect::<Vec<_>>();
        let before = temporaries();
        let line = format!(
            "{before_it} exec '{}' --device cpu -q -o out.sam - ref.fa",
            assert_cmd::cargo::cargo_bin!("swalign").display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .envs(envs.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // More than the first block, so that the run begins, and less than the second.
        let queries = format!(">r\n{}\n", "ACGT".repeat(250)).repeat(600);
        child.stdin.as_mut().unwrap().write_all(queries.as_bytes()).unwrap();
        let begun = Instant::now();
        while temporaries().iter().all(|name| before.contains(name)) {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn signal(child: &Child, name: &str) {
        let id = child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ref.fa"), ">r\nGATTACAGATTACACATTAGGATTACAGATTACACATTAG\n").unwrap();
        folder
    }

    #[test]
    fn a_signal_leaves_nothing() {
        let folder = folder();
        for (name, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129), ("-QUIT", 131)] {
            let mut child = waiting(folder.path(), &[]);
            signal(&child, name);
            let status = child.wait().unwrap();
            assert_eq!((status.code(), status.signal()), (Some(code), None), "{name}");
            assert_eq!(names(folder.path()), ["ref.fa"], "{name}");
        }
    }

    /// As `nohup` and shells do it for what shall go on without them.
    #[test]
    fn an_ignored_signal_is_ignored() {
        let folder = folder();
        for (name, begin) in
            [("-HUP", "trap '' HUP;"), ("-INT", "trap '' INT QUIT;"), ("-QUIT", "trap '' INT QUIT;")]
        {
            let mut child = waiting_behind(folder.path(), &[], begin);
            signal(&child, name);
            std::thread::sleep(Duration::from_millis(200));
            assert!(child.try_wait().unwrap().is_none(), "{name} after {begin}");
            drop(child.stdin.take());
            assert_eq!(child.wait().unwrap().code(), Some(0), "{name} after {begin}");
            assert_eq!(names(folder.path()), ["out.sam", "ref.fa"]);
            fs::remove_file(folder.path().join("out.sam")).unwrap();
        }
    }

    /// A run in a shell that must fail with `code`, say that there is no space, and leave nothing.
    #[track_caller]
    fn no_space(folder: &Path, begin: &str, args: &str, code: i32) {
        let before = names(folder);
        let line = format!("{begin} exec '{}' {args}", assert_cmd::cargo::cargo_bin!("swalign").display());
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args}: {said}");
        assert!(said.contains("free some space, or write the output elsewhere"), "{args}: {said}");
        assert_eq!(names(folder), before, "{args}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let (folder, _) = parts_of("bam", 2);
        for number in ["1", "2"] {
            let (part, out) = (format!("{number}/2"), format!("{number}.hits"));
            let search = ["search", "--format", "sam", "--part", &part, "-o", &out, "GATTACA", "q.fa"];
            stdout(folder.path(), &search);
            let (part, out) = (format!("{number}/2"), format!("{number}.refs"));
            let args =
                ["--device", "cpu", "--ref-part", &part, "--format", "sam", "-o", &out, "q.fq", "ref.fa"];
            stdout(folder.path(), &args);
        }
        for (args, code) in [
            ("merge OUT 1.bam 2.bam", 1),
            ("merge OUT 1.hits 2.hits", 1),
            ("merge OUT 1.refs 2.refs", 1),
            ("--device cpu -o OUT q.fq ref.fa", 1),
            ("--device cpu --format bam --part 1/2 -o OUT q.fq ref.fa", 1),
            ("search -k 1 -o OUT GATTACA q.fq", 1),
        ] {
            no_space(folder.path(), "", &args.replace("OUT", "/dev/full"), code);
            no_space(folder.path(), "", &(args.replace("OUT", "-") + " > /dev/full"), code);
        }
        no_space(folder.path(), "", "grep -k 1 GATTACA q.fq > /dev/full", 2);
        no_space(folder.path(), "", "grep -c GATTACA q.fq > /dev/full", 2);
    }

    /// The output fits, its receipt does not.
    #[test]
    fn a_receipt_without_room_is_an_error() {
        let folder = reads();
        for more in ["--part 1/2", "--resume"] {
            let args = format!("search --format bed -o out.bed {more} {} q.fa", "ACGT".repeat(15));
            no_space(folder.path(), "ulimit -f 0;", &args, 1);
        }
    }

    /// What a killed run leaves, the next one removes; that of another job's it does not.
    #[test]
    fn two_attempts_leave_one_file() {
        let folder = folder();
        let job = |restarts| [("SLURM_JOB_ID", "77"), ("SLURM_RESTART_COUNT", restarts)];
        let mut killed = waiting(folder.path(), &[]);
        signal(&killed, "-KILL");
        killed.wait().unwrap();
        let left = names(folder.path());
        assert_eq!(left.len(), 2, "{left:?}");
        let mut first = waiting(folder.path(), &job("0"));
        assert!(!names(folder.path()).contains(&left[0]), "what the killed one left");
        let mut other = waiting(folder.path(), &[("SLURM_JOB_ID", "78")]);
        let second = waiting(folder.path(), &job("1"));
        let now = names(folder.path());
        assert!(now.len() == 3 && now.iter().all(|name| !name.contains(".77__0.")), "{now:?}");
        assert!(second.wait_with_output().unwrap().status.success());
        let whole = fs::read(folder.path().join("out.sam")).unwrap();
        // The earlier attempt has lost its file, says so, and harms nothing.
        drop(first.stdin.take());
        assert_eq!(first.wait().unwrap().code(), Some(1));
        assert!(fs::read(folder.path().join("out.sam")).unwrap() == whole);
        drop(other.stdin.take());
        assert!(other.wait().unwrap().success());
        assert_eq!(names(folder.path()), ["out.sam", "ref.fa"]);
        assert!(fs::read(folder.path().join("out.sam")).unwrap() == whole);
    }

    /// As on a full disk, with what a shell can forbid.
    #[test]
    fn a_file_that_may_not_grow_is_an_error() {
        let folder = reads();
        let before = names(folder.path());
        let line = format!(
            "ulimit -f 8; exec '{}' --device cpu -o out.sam q.fq ref.fa",
            assert_cmd::cargo::cargo_bin!("swalign").display()
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("out.sam") && said.contains("free some space"), "{said}");
        assert_eq!(names(folder.path()), before);
    }
}
