//! The `--circular` option of the command.

use super::records::{SHORT, check, operations};
use super::*;
use crate::common::sam::{Record, Sam, records};
use crate::common::{fasta, folder::Folder, sorted};
use std::fmt::Write;

const LEN: usize = 3000;

fn letters(codes: &[u8]) -> &str {
    std::str::from_utf8(codes).unwrap()
}

/// Writes circles `big`, `small` (70 bases) and `tiny` (4 bases) and a linear `line` to ref.fa; reads of them to q.fa,
/// many of which cross an origin, some with gaps there; mates to 1.fq and 2.fq; and the big circle rotated by half to
/// turned.fa.
fn files() -> Folder {
    let folder = Folder::new();
    let mut random = Random::new(11);
    let [big, mut line] = [LEN, 2000].map(|len| drawn(&mut random, b"ACGT", len));
    // The line contains a mutated copy of the origin.
    let copy = random.mutated(Alphabet::Dna, &round(&big, LEN - 80, 160), 4);
    line.splice(1700..1700 + copy.len(), copy);
    let (small, tiny) = (drawn(&mut random, b"ACGT", 70), b"ACGG");
    let named = [("big", &big[..]), ("line", &line), ("small", &small), ("tiny", tiny)];
    folder.write(
        "ref.fa",
        named
            .iter()
            .fold(String::new(), |text, (name, codes)| text + &format!(">{name} x\n{}\n", letters(codes))),
    );
    let turned = round(&big, LEN / 2, LEN);
    folder.write("turned.fa", format!(">big\n{}\n>line\n{}\n", letters(&turned), letters(&line)));
    let (mut reads, mut mates) = (String::new(), [String::new(), String::new()]);
    for number in 0..120 {
        let len = 60 + random.below(120);
        let read = match number % 6 {
            // The read crosses the origin, with at least 20 bases on either side.
            0..3 => {
                let before = 20 + random.below(len - 40);
                let mut read = round(&big, LEN - before, len);
                match random.below(5) {
                    0 => drop(read.drain(before..before + 3)),
                    1 => drop(read.drain(before - 2..before)),
                    2 => drop(read.drain(before - 1..before + 2)),
                    3 => drop(read.splice(before..before, *b"TTT")),
                    _ => read = random.mutated(Alphabet::Dna, &read, 3),
                }
                read
            }
            3 => round(&line, random.below(1500), len),
            4 => round(&small, random.below(70), 30 + random.below(100)),
            _ => round(tiny, random.below(4), 30 + random.below(30)),
        };
        let read = if random.below(2) == 0 { reverse_complement(&read) } else { read };
        writeln!(reads, ">r{number}\n{}", letters(&read)).unwrap();
        let start = if number % 2 == 0 { LEN - random.below(280) } else { random.below(LEN) };
        let fragment = round(&big, start, 260 + random.below(40));
        let both = [fragment[..80].to_vec(), reverse_complement(&fragment[fragment.len() - 80..])];
        for (mate, read) in both.into_iter().enumerate() {
            let read = random.mutated(Alphabet::Dna, &read, random_percent(number));
            let qualities = "I".repeat(read.len());
            writeln!(mates[mate], "@m{number}/{}\n{}\n+\n{qualities}", mate + 1, letters(&read)).unwrap();
        }
    }
    folder.write("q.fa", reads);
    folder.write("1.fq", &mates[0]);
    folder.write("2.fq", &mates[1]);
    folder
}

/// Percentage of errors in the mates of a pair.
fn random_percent(number: usize) -> usize {
    [0, 0, 2, 5][number / 2 % 4]
}

const CIRCLES: &str = "--circular big,small --circular tiny";

fn aligned(folder: &Folder, args: &str) -> Vec<u8> {
    folder.line(&format!("-q {CIRCLES} {args}")).done()
}

fn sam(folder: &Folder, args: &str) -> Sam {
    Sam::parse(letters(&aligned(folder, args)))
}

#[test]
fn records_say_what_the_letters_say() {
    let folder = files();
    let (reads, targets) = (fasta(&folder.text("q.fa")), fasta(&folder.text("ref.fa")));
    for more in [
        "",
        "--eqx",
        "--clip hard",
        "--split",
        "--split --clip hard --split-score 20",
        "--max-hits 6 --secondary-ratio 0",
        "--forward-only --min-score 12",
    ] {
        let sam = sam(&folder, &format!("{more} q.fa ref.fa"));
        let split = check(&sam, &reads, &targets, SHORT);
        let least = if more.contains("--forward-only") { 30 } else { 70 };
        assert!(split >= least, "{more}: {split}");
        let topology = |name: &str, end: &str| {
            let is_of = |line: &&String| line.starts_with(&format!("@SQ\tSN:{name}\t"));
            assert!(sam.header.iter().find(is_of).unwrap().ends_with(end), "{name}");
        };
        topology("big", "\tLN:3000\tTP:circular");
        topology("tiny", "\tLN:4\tTP:circular");
        topology("line", "\tLN:2000");
        let secondary: Vec<&Record> = sam.records.iter().filter(|record| record.flag() & 256 != 0).collect();
        assert_eq!(secondary.is_empty(), !more.contains("--max-hits"));
    }
}

/// The pieces are those of the whole alignment to the rotated circle, in which the origin is in the middle.
#[test]
fn pieces_are_those_of_the_whole() {
    let folder = files();
    let whole = folder.line("-q q.fa turned.fa").sam();
    let ours = sam(&folder, "q.fa ref.fa");
    let mut cut = 0;
    for record in whole.records.iter().filter(|record| record.target() == "big") {
        let (start, end) = (record.position() as usize - 1, record.target_end() as usize);
        if start >= LEN / 2 || end <= LEN / 2 {
            continue;
        }
        cut += 1;
        let pieces: Vec<&Record> = ours.records.iter().filter(|own| own.name() == record.name()).collect();
        assert_eq!(pieces.len(), 2, "{}", record.name());
        // Score, mapping quality and second score are those of the whole alignment.
        for piece in &pieces {
            assert_eq!((piece.target(), piece.flag() & 16), ("big", record.flag() & 16));
            assert_eq!(
                (&piece.fields[4], piece.tag("AS"), piece.tag("XS")),
                (&record.fields[4], record.tag("AS"), record.tag("XS")),
                "{}",
                record.name()
            );
        }
        let columns = |record: &Record, from: usize| {
            let (mut i, mut j, mut columns) = (0, record.position() as usize - 1 + from, Vec::new());
            for (len, kind) in operations(record.cigar()) {
                match kind {
                    b'M' => columns.extend((0..len).map(|k| (i + k, (j + k) % LEN))),
                    b'D' => j += len,
                    _ => i += len,
                }
                if kind == b'M' {
                    (i, j) = (i + len, j + len);
                }
            }
            columns
        };
        let mut of_pieces: Vec<_> = pieces.iter().flat_map(|piece| columns(piece, 0)).collect();
        of_pieces.sort_unstable();
        assert_eq!(of_pieces, columns(record, LEN / 2), "{}", record.name());
    }
    assert!(cut >= 50, "{cut}");
}

#[test]
fn all_ways_give_the_same_bytes() {
    let folder = files();
    for args in [
        "q.fa ref.fa --split --max-hits 3 --secondary-ratio 0.2",
        "1.fq 2.fq ref.fa --insert 280,20 --max-hits 2",
        "1.fq 2.fq ref.fa",
    ] {
        let expected = aligned(&folder, &format!("{args} --filter none --device cpu"));
        for way in [
            "--filter auto --device cpu --batch 1000 -t 2",
            "--filter index --device cpu:baseline --batch 14 -t 3",
            "--filter index --device plain --batch 1000 -t 1",
            "--filter scan --device cpu --batch 1000 -t 1",
            "--filter scan --device cpu --batch 14 -t 2",
            "--filter none --device cpu --batch 2 -t 2",
        ] {
            assert!(aligned(&folder, &format!("{args} {way}")) == expected, "{way} {args}");
        }
    }
}

#[test]
fn mates_across_the_origin_are_proper() {
    let folder = files();
    let stats = "--insert 280,20 --stats stats.json --report page.html";
    let mates = sam(&folder, &format!("{stats} 1.fq 2.fq ref.fa"));
    let of = |pair: usize| -> Vec<&Record> {
        mates.primary().filter(|record| record.name() == format!("m{pair}")).collect()
    };
    let (mut proper, mut apart) = (0, 0);
    for pair in (0..120).map(of) {
        assert_eq!(pair.len(), 2);
        let is_proper = pair.iter().all(|record| record.flag() & 2 != 0);
        let far = pair[0].position().abs_diff(pair[1].position()) > LEN as u64 / 2;
        proper += usize::from(is_proper);
        apart += usize::from(is_proper && far);
        // Mate positions and template lengths match the records.
        for (own, other) in [(0, 1), (1, 0)] {
            assert_eq!(pair[own].fields[7], pair[other].fields[3]);
            let five_prime = |record: &Record| match record.flag() & 16 {
                0 => record.position() as i64 - 1,
                _ => record.target_end() as i64,
            };
            let length = five_prime(pair[other]) - five_prime(pair[own]);
            assert_eq!(pair[own].fields[8], length.to_string());
        }
    }
    assert!(proper >= 115 && apart >= 20, "{proper} {apart}");
    let stats = folder.text("stats.json");
    let supplementary = mates.records.iter().filter(|record| record.flag() & 2048 != 0).count();
    for (key, value) in [("primary", 240), ("supplementary", supplementary), ("letters", LEN + 2074)] {
        assert!(stats.contains(&format!("\"{key}\": {value},")), "{key} {value}");
    }
    let line = folder.line("-q --insert 280,20 1.fq 2.fq ref.fa").sam();
    let proper_on_lines = line.primary().filter(|record| record.flag() & 2 != 0).count() / 2;
    assert!(proper_on_lines + 20 <= proper, "{proper_on_lines} {proper}");
}

#[test]
fn formats_hold_the_same() {
    let folder = files();
    let args = "--split --max-hits 3 --secondary-ratio 0.2 q.fa ref.fa";
    let sam = sam(&folder, args);
    let paf = aligned(&folder, &format!("{args} --format paf"));
    let paf: Vec<&str> = letters(&paf).lines().collect();
    assert_eq!(paf.len(), sam.records.len());
    for (line, record) in paf.iter().zip(&sam.records).filter(|(_, record)| record.flag() & 4 == 0) {
        let fields: Vec<&str> = line.split('\t').collect();
        let len = match record.target() {
            "big" => "3000",
            "line" => "2000",
            "small" => "70",
            _ => "4",
        };
        assert_eq!((fields[0], fields[5], fields[6]), (record.name(), record.target(), len));
        let ends = [record.position() - 1, record.target_end()].map(|end| end.to_string());
        assert_eq!([fields[7], fields[8]], ends.each_ref().map(String::as_str));
        assert_eq!(line.ends_with("\tsu:i:1"), record.flag() & 2048 != 0);
        assert!(record.tag("AS").is_some_and(|score| line.contains(&format!("\tAS:i:{score}\t"))));
    }
    let mut expected = sorted::records(&aligned(&folder, &format!("{args} --format bam")));
    expected.sort_by_key(|record| sorted::order(record));
    aligned(&folder, &format!("{args} --sort -o sorted.bam"));
    assert!(sorted::records(&folder.read("sorted.bam")) == expected);
    assert!(folder.names().contains(&"sorted.bam.bai".to_string()));
}

#[test]
fn parts_joined_are_the_whole() {
    let folder = files();
    for name in ["out.sam", "out.bam", "out.paf", "out.sorted.bam"] {
        let sort = if name.contains("sorted") { "--sort" } else { "" };
        for files in ["q.fa ref.fa", "1.fq 2.fq ref.fa"] {
            aligned(&folder, &format!("{sort} -o {name} {files}"));
            let joined = folder.merged(&format!("-q {CIRCLES} {sort} {files}"), "--part", 2, name);
            assert!(joined == folder.read(name), "{name} of {files}");
        }
    }
    // Parts with and without --circular belong to different commands.
    folder.line("-q --part 1/2 -o line.sam q.fa ref.fa").ended(0);
    aligned(&folder, "--part 2/2 -o circle.sam q.fa ref.fa");
    folder.line("merge joined.sam line.sam circle.sam").said(1, &["--circular"]);
    // --resume accepts an existing output only if the circles are the same.
    let resume = "--resume -o again.sam q.fa ref.fa";
    aligned(&folder, resume);
    folder.line(&format!("{CIRCLES} {resume}")).said(0, &["again.sam"]);
    let circles = records(&folder.text("again.sam"));
    folder.line(&format!("-q {resume}")).ended(0);
    assert_ne!(records(&folder.text("again.sam")), circles);
}

#[test]
fn names_are_those_of_references() {
    let folder = files();
    let all = folder.run(&["-q", "--circular", "all", "q.fa", "ref.fa"]).sam();
    let four = folder.run(&["-q", "--circular", "big,line,small,tiny", "q.fa", "ref.fa"]).sam();
    assert_eq!(all.records, four.records);
    assert!(all.header.iter().filter(|line| line.ends_with("TP:circular")).count() == 4);
    for names in ["big,none", "none", "big x"] {
        let outcome = folder.run(&["--circular", names, "-o", "none.sam", "q.fa", "ref.fa"]);
        let name = names.trim_start_matches("big,");
        outcome.said(1, &[&format!("--circular {name}:"), "ref.fa"]);
        assert!(outcome.stdout.is_empty() && !folder.names().contains(&"none.sam".to_string()));
        folder.run(&["--circular", names, "q.fa", "ref.fa"]).said(1, &["ref.fa"]);
    }
    for names in ["", "big,", ",big"] {
        folder.run(&["--circular", names, "q.fa", "ref.fa"]).said(2, &["--circular", "all"]);
    }
    folder
        .run(&["--circular", "all", "--ref-part", "1/2", "q.fa", "ref.fa"])
        .said(2, &["--ref-part", "--part"]);
    folder.run(&["pairs", "--circular", "all", "q.fa", "ref.fa"]).said(2, &["--circular"]);
    let renamed = [">a(1)\nACGTACGTACGTACGTACGTACGTTG\n"; 1];
    folder.write("odd.fa", renamed[0]);
    let sam = folder.run(&["-q", "--circular", "a(1)", "--rename-references", "q.fa", "odd.fa"]).sam();
    assert!(
        sam.header.iter().any(|line| line.starts_with("@SQ\tSN:a_1_\t") && line.ends_with("TP:circular"))
    );
}
