//! Scores and matches of N and other ambiguous codes.

use super::*;
use crate::common::cases;

/// A reference without N; reads with runs of N, a long one with 400, and one with other codes.
fn files() -> Folder {
    let mut random = Random::new(2);
    let reference = random.sequence(Alphabet::Dna, 5000);
    let read = |start: usize, len: usize, run: usize, code: u8| {
        let mut read = reference[start..start + len].to_vec();
        read[len * 2 / 5..][..run].fill(code);
        String::from_utf8(read).unwrap()
    };
    let mut reads = String::new();
    for run in [0, 1, 3, 6, 8, 12, 20] {
        write!(reads, ">read_{run}N\n{}\n", read(1000, 150, run, b'N')).unwrap();
    }
    write!(reads, ">long_400N\n{}\n", read(200, 4400, 400, b'N')).unwrap();
    // One code that includes the base of the reference, and one that does not.
    let base = reference[2000 + 60];
    let [with, without] = if matches!(base, b'A' | b'G') { [b'R', b'Y'] } else { [b'Y', b'R'] };
    write!(reads, ">with\n{}\n>without\n{}\n", read(2000, 150, 1, with), read(2000, 150, 1, without))
        .unwrap();
    let reference = String::from_utf8(reference).unwrap();
    folder(&[("reads.fa", reads.as_bytes()), ("ref.fa", format!(">chr\n{reference}\n").as_bytes())])
}

/// Name, CIGAR and score of each record.
#[track_caller]
fn aligned(folder: &Folder, args: &[&str]) -> Vec<(String, String, i64)> {
    let outcome = folder.run(&[args, &["--device", "cpu", "-q", "reads.fa", "ref.fa"]].concat());
    outcome.ended(0);
    let sam = sam::Sam::parse(std::str::from_utf8(&outcome.stdout).unwrap());
    let of_record =
        |record: &sam::Record| (record.name().to_string(), record.cigar().to_string(), record.score());
    sam.records.iter().map(of_record).collect()
}

fn of<'a>(records: &'a [(String, String, i64)], name: &str) -> (&'a str, i64) {
    let (_, cigar, score) = records.iter().find(|record| record.0 == name).expect("a record");
    (cigar, *score)
}

#[test]
fn runs_of_n_stay_aligned_with_the_penalty_of_bwa() {
    let folder = files();
    for (preset, match_) in [(None, 1), (Some("short"), 1), (Some("long"), 2)] {
        // Presets for reads have this penalty.
        let args = preset.map_or(["--ambiguous", "1"], |preset| ["-x", preset]);
        let records = aligned(&folder, &args);
        for run in [0, 1, 3, 6, 8, 12, 20] {
            let score = match_ * (150 - run) - run;
            assert_eq!(of(&records, &format!("read_{run}N")), ("150M", score), "{preset:?}");
        }
        if preset == Some("short") {
            // The preset cuts reads where the score falls by more than 100.
            assert_eq!(records.iter().filter(|record| record.0 == "long_400N").count(), 2);
            continue;
        }
        assert_eq!(of(&records, "long_400N"), ("4400M", match_ * 4000 - 400), "{preset:?}");
    }
}

#[test]
fn the_penalty_is_that_of_a_mismatch_unless_given() {
    let folder = files();
    let records = aligned(&folder, &["--ambiguous", "4"]);
    assert_eq!(records, aligned(&folder, &[]));
    assert_eq!(of(&records, "read_1N"), ("150M", 145));
    // 8 of each kind cost less than 8 mismatches.
    let (cigar, score) = of(&records, "read_8N");
    assert_eq!((cigar.contains("8I") && cigar.contains("8D"), score), (true, 142 - 2 * 14));
    assert_eq!(of(&aligned(&folder, &["--ambiguous", "0"]), "read_20N"), ("150M", 130));
    assert_eq!(of(&aligned(&folder, &["-x", "blastn"]), "read_1N"), ("150M", 2 * 149 - 3));
    assert_eq!(of(&aligned(&folder, &["--mismatch", "0"]), "read_20N"), ("150M", 130));
    assert_eq!(of(&aligned(&folder, &["-x", "short", "--mismatch", "0"]), "read_20N"), ("150M", 130));
    assert_eq!(of(&aligned(&folder, &["-x", "short", "--ambiguous", "4"]), "read_1N"), ("150M", 145));
}

#[test]
fn with_iupac_a_code_matches_the_bases_that_it_includes() {
    let folder = files();
    let records = aligned(&folder, &["--iupac"]);
    assert_eq!(of(&records, "with"), ("150M", 150));
    assert_eq!(of(&records, "without"), ("150M", 145));
    assert_eq!(of(&records, "read_20N"), ("150M", 150));
    let default = aligned(&folder, &[]);
    assert_eq!([of(&default, "with"), of(&default, "without")], [("150M", 145); 2]);
    let table = |args: &[&str]| {
        let line = ["--device", "cpu", "-q", "--format", "tab", "reads.fa", "ref.fa"];
        let outcome = folder.run(&[args, &line].concat());
        outcome.ended(0);
        String::from_utf8(outcome.stdout).unwrap()
    };
    let identity = |table: &str, name: &str| -> Option<String> {
        let fields = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        fields.into_iter().find(|fields| fields[0] == name).map(|fields| fields[2].to_string())
    };
    assert_eq!(identity(&table(&["--iupac"]), "with").as_deref(), Some("100.000"));
    assert_eq!(identity(&table(&[]), "with").as_deref(), Some("99.333"));
}

/// A FASTA record of a read in which some stretches are N.
fn with_n(random: &mut Random, number: usize, mut read: Vec<u8>, stretches: usize) -> String {
    for _ in 0..stretches {
        let (place, run) = (random.below(read.len()), random.pick(&[1, 2, 9]));
        read.iter_mut().skip(place).take(run).for_each(|code| *code = b'N');
    }
    format!(">r{number}\n{}\n", read.escape_ascii())
}

/// Every method gives the same bytes, with ambiguous codes in the reference too.
#[test]
fn no_answer_depends_on_the_filter_or_the_engine() {
    let mut random = Random::new(7);
    let mut reference = random.sequence(Alphabet::Dna, 60_000);
    for _ in 0..60 {
        let (place, run) = (random.below(59_000), random.pick(&[1, 1, 1, 2, 4, 30, 300]));
        let code = random.pick(b"NNNRYSWKMBDHV");
        reference[place..place + run].fill(code);
    }
    let mut reads = String::new();
    for number in 0..cases(60, 120) {
        let len = random.pick(&[40, 100, 150, 400, 1500]);
        let start = random.below(reference.len() - len);
        let percent = random.pick(&[0, 1, 2, 5]);
        let read = random.mutated(Alphabet::Dna, &reference[start..start + len], percent);
        let stretches = random.pick(&[0, 1, 4]);
        reads += &with_n(&mut random, number, read, stretches);
    }
    let reference = format!(">chr\n{}\n", reference.escape_ascii());
    let folder = folder(&[("reads.fa", reads.as_bytes()), ("ref.fa", reference.as_bytes())]);
    for scoring in [
        &["--ambiguous", "1"][..],
        &["--ambiguous", "0"],
        &["-x", "short"],
        &["-x", "long"],
        &["--iupac"],
        &["--ambiguous", "9"],
    ] {
        let run = |args: &[&str]| {
            let outcome = folder.run(&[scoring, args, &["-q", "reads.fa", "ref.fa"]].concat());
            outcome.ended(0);
            sam::records(std::str::from_utf8(&outcome.stdout).unwrap())
        };
        let all = run(&["--device", "cpu", "--filter", "none"]);
        assert_eq!(run(&["--device", "cpu", "--filter", "index"]), all, "{scoring:?}");
        assert_eq!(run(&["--device", "cpu", "--filter", "scan", "-t", "2"]), all, "{scoring:?}");
    }
}

/// References with isolated codes and long runs, and reads with many codes, have two tiers of hits that depend on
/// neither the filter nor parts of the references.
#[test]
fn both_tiers_depend_on_neither_filter_nor_parts() {
    let mut random = Random::new(11);
    let mut references = [0; 3].map(|_| random.sequence(Alphabet::Dna, 60_000));
    // One reference has long runs, one has isolated codes in one stretch, and one has none.
    for _ in 0..60 {
        let (place, run) = (random.below(59_000), random.pick(&[20, 90, 300]));
        references[0][place..place + run].fill(b'N');
    }
    (20_000..20_400).step_by(10).for_each(|place| references[1][place] = b'N');
    let mut reads = String::new();
    for number in 0..cases(100, 200) {
        let len = random.pick(&[60, 100, 150, 250, 390]);
        let reference = &references[random.below(3)];
        let start = if random.below(4) == 0 { 20_000 } else { random.below(reference.len() - len) };
        let percent = random.pick(&[0, 1, 5, 9]);
        let read = random.mutated(Alphabet::Dna, &reference[start..start + len], percent);
        let stretches = random.pick(&[0, 0, 1, 2, 12]);
        reads += &with_n(&mut random, number, read, stretches);
    }
    let mut text = String::new();
    for (number, reference) in references.iter().enumerate() {
        write!(text, ">chr{number}\n{}\n", reference.escape_ascii()).unwrap();
    }
    let folder = folder(&[("reads.fa", reads.as_bytes()), ("ref.fa", text.as_bytes())]);
    for preset in ["short", "long"] {
        let line = ["-x", preset, "--end-bonus", "0", "--device", "cpu", "-q"];
        let run = |args: &[&str]| {
            let outcome = folder.run(&[&line, args, &["reads.fa", "ref.fa"]].concat());
            outcome.ended(0);
            String::from_utf8(outcome.stdout).unwrap()
        };
        let whole = run(&["--filter", "none"]);
        let all = sam::records(&whole);
        assert!(whole.contains(" proven_score_with_n=higher "), "{preset}");
        assert!(all.contains("\tya:i:1"), "{preset}");
        for args in
            [&["--filter", "index"][..], &["--filter", "scan", "-t", "2"], &["--filter", "index", "-t", "2"]]
        {
            assert_eq!(sam::records(&run(args)), all, "{preset} {args:?}");
        }
        // Parts of the references do not split reads.
        let whole = run(&["--no-split"]);
        let parts = ["1/2", "2/2"].map(|part| format!("{preset}.{}.sam", &part[..1]));
        for (part, number) in parts.iter().zip(["1/2", "2/2"]) {
            run(&["--no-split", "--filter", "index", "--ref-part", number, "-o", part]);
        }
        let merged = folder.run(&["merge", "-q", "-", &parts[0], &parts[1]]);
        merged.ended(0);
        let merged = String::from_utf8(merged.stdout).unwrap();
        assert_eq!(sam::records(&merged), sam::records(&whole), "{preset}");
        let limits = |sam: &str| sam.lines().find(|line| line.contains("proven_score")).map(str::to_string);
        assert!(limits(&whole).is_some() && limits(&merged) == limits(&whole), "{preset}");
    }
}

#[test]
fn contradictions_are_refused() {
    refused_options(&["--ambiguous", "1", "--iupac"], 2, &["--ambiguous", "--iupac"]);
    refused_options(&["--ambiguous", "-1"], 2, &["--ambiguous"]);
    refused_options(&["--iupac", "--match", "200"], 2, &["--iupac", "127"]);
    let matrix: &[u8] = b"  A C G T\nA 1 -1 -1 -1\nC -1 1 -1 -1\nG -1 -1 1 -1\nT -1 -1 -1 1\n";
    let files = [("q.fa", QUERY), ("ref.fa", REFERENCE), ("m.txt", matrix)];
    for option in [&["--ambiguous", "1"][..], &["--iupac"]] {
        let args = [option, &["--matrix", "m.txt", "q.fa", "ref.fa"]].concat();
        refused(&files, &args, 2, &["--matrix", "--ambiguous", "--iupac"]);
    }
}
