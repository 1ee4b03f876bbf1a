//! Tests the second tier through the command, with reads of which only a part comes from the references, and with
//! foreign reads.

use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swalign::input::database::Contents;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

/// Bases of each reference. Together they are long enough for two tiers of reads of 150 bases.
const REFERENCES: [usize; 3] = [30_000, 24_000, 9_000];

struct Inputs {
    folder: Folder,
    references: Vec<String>,
}

/// Writes reads that are named by their kind: `whole`, `part` of a read, `poor` without a run, `foreign`, `long` and
/// `longforeign`. Also writes mates.
fn inputs(seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let mut references: Vec<String> = REFERENCES.map(|len| random.text(Alphabet::Dna, len)).into();
    // Two references share a stretch, so that parts of the references have equal hits.
    let shared = references[0][5_000..5_400].to_string();
    references[2].replace_range(1_000..1_400, &shared);
    let fasta: String =
        references.iter().enumerate().map(|(at, text)| format!(">ref{at}\n{text}\n")).collect();
    let (mut reads, mut pairs) = (String::new(), [String::new(), String::new()]);
    let mut read = |out: &mut String, name: &str, bases: &str| {
        let turned = random.below(2) == 0;
        let bases = if turned {
            String::from_utf8(reverse_complement(bases.as_bytes())).unwrap()
        } else {
            bases.to_string()
        };
        writeln!(out, "@{name}\n{bases}\n+\n{}", "I".repeat(bases.len())).unwrap();
    };
    let mut draw = Random::new(seed + 1);
    for at in 0..60 {
        let reference = &references[draw.below(3)];
        let start = draw.below(reference.len() - 3_000);
        let own = &reference[start..start + 150];
        let len = 34 + draw.below(40);
        let foreign = draw.text(Alphabet::Dna, 150);
        let poor: String = own
            .chars()
            .enumerate()
            .map(|(at, base)| if at % 11 == 5 { if base == 'A' { 'C' } else { 'A' } } else { base })
            .collect();
        read(&mut reads, &format!("whole{at}"), own);
        read(&mut reads, &format!("part{at}"), &format!("{}{}", &own[..len], &foreign[len..]));
        read(&mut reads, &format!("poor{at}"), &poor);
        read(&mut reads, &format!("foreign{at}"), &foreign);
        if at % 10 == 0 {
            read(&mut reads, &format!("long{at}"), &reference[start..start + 2_500]);
            read(&mut reads, &format!("longforeign{at}"), &draw.text(Alphabet::Dna, 1_500));
        }
        let mate =
            String::from_utf8(reverse_complement(&reference.as_bytes()[start + 200..start + 350])).unwrap();
        let (one, other) = match at % 4 {
            0 => (own.to_string(), mate),
            1 => (format!("{}{}", &own[..len], &foreign[len..]), mate),
            2 => (
                format!("{}{}", &own[..len], &foreign[len..]),
                format!("{}{}", &foreign[len..], &mate[..len]),
            ),
            _ => (foreign.clone(), draw.text(Alphabet::Dna, 150)),
        };
        for (out, bases) in pairs.iter_mut().zip([one, other]) {
            writeln!(out, "@pair{at}\n{bases}\n+\n{}", "I".repeat(bases.len())).unwrap();
        }
    }
    let [one, other] = &pairs;
    let files: [(&str, &[u8]); 4] = [
        ("ref.fa", fasta.as_bytes()),
        ("reads.fq", reads.as_bytes()),
        ("r1.fq", one.as_bytes()),
        ("r2.fq", other.as_bytes()),
    ];
    Inputs { folder: folder(&files), references }
}

const SINGLE: &str = "reads.fq ref.fa";
const MATES: &str = "--insert 350,10 r1.fq r2.fq ref.fa";

fn run(inputs: &Inputs, args: &str) -> String {
    inputs.folder.line(&format!("-q {args}")).without_pg()
}

fn records(sam: &str) -> Vec<Vec<&str>> {
    sam.lines().filter(|line| !line.starts_with('@')).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn parts_of_reads_are_found_and_marked() {
    let inputs = inputs(3);
    let sam = run(&inputs, "--device cpu reads.fq ref.fa");
    assert!(sam.contains("anchor=19 anchored_score=30"), "the header tells the tiers");
    let mut aligned = BTreeMap::<String, (u32, u32)>::new();
    for fields in records(&sam) {
        let kind: String = fields[0].chars().take_while(char::is_ascii_alphabetic).collect();
        let is_marked = fields.contains(&"ya:i:1");
        let (count, marked) = aligned.entry(kind.clone()).or_default();
        *count += u32::from(fields[2] != "*");
        *marked += u32::from(is_marked);
        if is_marked {
            assert!(fields[4].parse::<u32>().unwrap() <= 30, "{fields:?}");
            let score = fields.iter().find_map(|field| field.strip_prefix("AS:i:")).unwrap();
            assert!((30..90).contains(&score.parse::<u32>().unwrap()), "{fields:?}");
        }
    }
    // In poor reads, one mismatch in 11 bases leaves no run of 19 bases, and the score is below the proven minimum.
    let kinds = ["foreign", "long", "longforeign", "part", "poor", "whole"];
    let counts = [(0, 0), (6, 0), (0, 0), (60, 60), (0, 0), (60, 0)];
    assert!(
        aligned.iter().map(|(kind, counts)| (&**kind, *counts)).eq(kinds.into_iter().zip(counts)),
        "{aligned:?}"
    );
    let all = run(&inputs, "--device cpu --min-score 30 reads.fq ref.fa");
    assert!(!all.contains("ya:i:1") && all.contains("min_score=30 "));
    let count = |sam: &str, kind: &str| {
        records(sam).into_iter().filter(|fields| fields[0].starts_with(kind) && fields[2] != "*").count()
    };
    assert_eq!(count(&all, "poor"), 60, "a least score that is given is proven");
    assert_eq!(count(&run(&inputs, "--device cpu --anchor 0 reads.fq ref.fa"), "part"), 0);
    for wrong in ["1", "9", "1001", "x"] {
        inputs.folder.line(&format!("--anchor {wrong} {SINGLE}")).said(2, &["--anchor", "1000"]);
    }
    assert_eq!(inputs.references.len(), 3);
}

#[test]
fn nothing_but_the_input_decides() {
    let inputs = inputs(4);
    let kinds = [
        "--format sam --max-hits 3",
        "--format paf --max-hits 3",
        // As on large references.
        "--format paf --max-hits 3 --sampled-kmers 8,3",
        "--preset short --max-hits 3 --sampled-kmers 9,6",
        "--preset map-hifi --max-hits 3 --sampled-kmers 12,4 --secondary-ratio 0.7",
    ];
    for what in [SINGLE, MATES] {
        for common in kinds {
            let expected = run(&inputs, &format!("{common} --device cpu {what}"));
            assert!(expected.contains("ya:i:1"));
            let is_large = common.contains("--sampled-kmers");
            let is_limited = is_large && !common.contains("--secondary-ratio");
            assert_eq!(expected.contains(" long_queries=boxes"), is_large && expected.starts_with('@'));
            assert_eq!(expected.contains(" secondary_mapq=60"), is_limited && expected.starts_with('@'));
            for more in [
                "--device plain",
                "--device cpu --filter none",
                "--device cpu --filter index -t 1",
                "--device cpu --filter scan --batch 7",
                "--device cpu --no-dedup --batch 1",
                "--device cpu --index-segment 20000 --filter index",
                "--device cpu --index-segment 1009 -t 2",
            ] {
                let args = format!("{common} {more} {what}");
                assert!(run(&inputs, &args) == expected, "{args}");
            }
        }
    }
}

/// The index of a database may be in one segment or in several, and a run reads it as it is.
#[test]
fn a_stored_index_in_segments_changes_nothing() {
    let inputs = inputs(8);
    for kmers in ["8,3", "9,6"] {
        let common = format!("--device cpu --preset short --sampled-kmers {kmers}");
        let runs = [SINGLE, MATES].map(|what| (what, run(&inputs, &format!("{common} {what}"))));
        for segment in [100_000, 63_000, 62_990, 31_500, 24_001, 5003] {
            let index = format!("--sampled-kmers {kmers} --index-segment {segment} -o ref.fa.swdb ref.fa");
            inputs.folder.line(&format!("index -q {index}")).ended(0);
            let bytes = inputs.folder.read("ref.fa.swdb");
            assert_eq!(bytes[12..16], [if segment >= 63_000 { 1 } else { 2 }, 0, 0, 0]);
            for (what, expected) in &runs {
                // A run builds the index that it is asked for, or reads none.
                for filter in ["", "--filter none"] {
                    let args = format!("{common} {filter} {what}.swdb");
                    assert!(run(&inputs, &args) == *expected, "{segment}, {args}");
                }
            }
        }
        // Each block of the two tables, damaged.
        let sound = inputs.folder.read("ref.fa.swdb");
        let tables = Contents::read(&sound).unwrap().header().entries[6..].to_vec();
        let blocks = tables.iter().zip([7, 8]).flat_map(|(table, section)| {
            (0..table.len)
                .step_by(1 << 20)
                .zip(1..)
                .map(move |(start, block)| (table.offset + start, section, block))
        });
        for (at, section, block) in blocks {
            let mut damaged = sound.clone();
            damaged[at as usize] ^= 1;
            inputs.folder.write("bad.swdb", &damaged);
            let says = format!("block {block} of section {section} is damaged");
            inputs.folder.line(&format!("{common} -q reads.fq bad.swdb")).said(1, &[&says]);
        }
    }
}

#[test]
fn parts_join_to_the_whole() {
    let inputs = inputs(5);
    for what in [SINGLE, MATES] {
        for format in ["sam", "paf", "bam"] {
            for (kind, of, kmers) in [
                ("--part", 3, ""),
                ("--ref-part", 2, ""),
                ("--ref-part", 3, ""),
                ("--part", 2, "--sampled-kmers 8,3"),
                ("--ref-part", 3, "--sampled-kmers 8,3"),
            ] {
                let args = format!("--device cpu -q --max-hits 2 --format {format} {kmers} {what}");
                let whole = format!("whole.{format}");
                inputs.folder.line(&format!("{args} -o {whole}")).ended(0);
                let joined = inputs.folder.merged(&args, kind, of, format);
                assert!(inputs.folder.read(&whole) == joined, "{args} {kind} of {of}");
            }
        }
    }
}

#[test]
fn summaries_count_both_tiers() {
    let inputs = inputs(6);
    let outcome = inputs.folder.line(&format!("--device cpu -o x.sam --stats x.json {SINGLE}"));
    outcome.said(0, &["60 of them below"]);
    assert!(inputs.folder.text("x.json").contains("\"anchored\": 60"), "{}", inputs.folder.text("x.json"));
}

/// The part of a read outside its hit has two tiers as well.
#[test]
fn supplementary_hits_have_tiers() {
    let inputs = inputs(7);
    let mut random = Random::new(8);
    let [one, other] = [0, 1].map(|at| inputs.references[at].as_str());
    let changed = |bases: &str, is_changed: &dyn Fn(usize) -> bool| -> String {
        let change = |(at, base)| match (is_changed(at), base) {
            (false, base) => base,
            (true, 'A') => 'C',
            (true, _) => 'A',
        };
        bases.chars().enumerate().map(change).collect()
    };
    let mut reads = String::new();
    for at in 0..20 {
        let (own, rest) = (&one[at * 100..at * 100 + 100], &other[at * 200..at * 200 + 140]);
        // A run of 45 bases, runs of 8 bases, and random bases.
        let run = changed(rest, &|at| !(20..65).contains(&at) && at % 3 == 0);
        let poor = changed(rest, &|at| at % 9 == 4);
        let foreign = random.text(Alphabet::Dna, 140);
        for (kind, rest) in [("whole", rest), ("run", &run), ("poor", &poor), ("foreign", &foreign)] {
            writeln!(reads, ">{kind}{at}\n{own}{rest}").unwrap();
        }
    }
    inputs.folder.write("split.fa", &reads);
    let count = |more: &str| {
        let sam = run(&inputs, &format!("--device cpu --preset short {more} split.fa ref.fa"));
        let mut counts = BTreeMap::<String, (u32, u32)>::new();
        for fields in records(&sam) {
            let kind: String = fields[0].chars().take_while(char::is_ascii_alphabetic).collect();
            let flag: u32 = fields[1].parse().unwrap();
            let (count, marked) = counts.entry(kind).or_default();
            *count += u32::from(flag & 0x800 > 0);
            *marked += u32::from(flag & 0x800 > 0 && fields.contains(&"ya:i:1"));
        }
        ["whole", "run", "poor", "foreign"].map(|kind| counts[kind])
    };
    assert_eq!(count(""), [(20, 0), (20, 20), (0, 0), (0, 0)]);
    assert_eq!(count("--no-split"), [(0, 0); 4]);
    assert_eq!(count("--min-score 30"), [(20, 0), (20, 0), (20, 0), (0, 0)]);
}
