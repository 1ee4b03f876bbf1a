//! Tests `--tie-break hash`: reads of a repeat spread over its copies, in the same way in every run.

use crate::common::folder::{Folder, folder};
use crate::common::{random::Random, sam::Sam};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use swalign::terms::alphabet::{Alphabet, reverse_complement};

/// Number of references that share their middle. The last reference contains it twice.
const COPIES: usize = 4;
const READS: usize = 600;

/// Writes reads and mates of the shared middle, and reads of single references.
fn inputs() -> Folder {
    let mut random = Random::new(5);
    let middle = random.text(Alphabet::Dna, 1_500);
    let mut references: Vec<String> = (0..COPIES)
        .map(|_| format!("{}{middle}{}", random.text(Alphabet::Dna, 900), random.text(Alphabet::Dna, 700)))
        .collect();
    references[COPIES - 1] += &middle;
    let fasta = |order: &mut dyn Iterator<Item = usize>| {
        order.map(|at| format!(">ref{at}\n{}\n", references[at])).collect::<String>()
    };
    let forward = fasta(&mut (0..COPIES));
    let backward = fasta(&mut (0..COPIES).rev());
    let (mut reads, mut pairs) = (String::new(), [String::new(), String::new()]);
    let turned = |bases: &str| String::from_utf8(reverse_complement(bases.as_bytes())).unwrap();
    for at in 0..READS {
        let start = random.below(middle.len() - 300);
        writeln!(reads, ">shared{at}\n{}", &middle[start..start + 100]).unwrap();
        let own = &references[at % COPIES][at..at + 90];
        writeln!(reads, ">own{at}\n{}", turned(own)).unwrap();
        let fragment = &middle[start..start + 300];
        for (out, bases) in pairs.iter_mut().zip([fragment[..100].to_string(), turned(&fragment[200..])]) {
            writeln!(out, ">pair{at}\n{bases}").unwrap();
        }
    }
    let [one, other] = &pairs;
    let files = [
        ("ref.fa", &forward),
        ("backward.fa", &backward),
        ("reads.fa", &reads),
        ("r1.fa", one),
        ("r2.fa", other),
    ];
    folder(&files.map(|(name, text)| (name, text.as_bytes())))
}

const SINGLE: [&str; 2] = ["reads.fa", "ref.fa"];
const MATES: [&str; 5] = ["--insert", "300,10", "r1.fa", "r2.fa", "ref.fa"];

fn run(folder: &Folder, more: &[&str], what: &[&str]) -> String {
    let outcome = folder.run(&[&["-q", "--device", "cpu"], more, what].concat());
    outcome.ended(0);
    outcome.without_pg()
}

/// Returns reference, position, strand and score of the primary record of each read, by name and mate.
fn primaries(sam: &str) -> BTreeMap<(String, u32), (String, u64, bool, i64)> {
    let sam = Sam::parse(sam);
    let of = |record: &crate::common::sam::Record| {
        let flag = record.flag();
        let at = (record.target().to_string(), record.position(), flag & 16 > 0, record.score());
        ((record.name().to_string(), flag & 192), at)
    };
    sam.primary().map(of).collect()
}

#[test]
fn reads_of_a_repeat_spread_over_its_copies() {
    let folder = inputs();
    for (what, reversed) in [(&SINGLE[..], 1), (&MATES[..], 4)] {
        let first = primaries(&run(&folder, &[], what));
        let hashed = primaries(&run(&folder, &["--tie-break", "hash"], what));
        assert_eq!(first.len(), hashed.len());
        let scores =
            |all: &BTreeMap<_, (String, u64, bool, i64)>| all.values().map(|at| at.3).collect::<Vec<_>>();
        assert_eq!(scores(&first), scores(&hashed), "a read keeps the score of its best hit");
        let counts = |all: &BTreeMap<(String, u32), (String, u64, bool, i64)>| {
            let shared = all.iter().filter(|((name, _), _)| !name.starts_with("own"));
            let mut counts = BTreeMap::new();
            shared.for_each(|(_, at)| *counts.entry((at.0.clone(), at.1 > 3_000)).or_insert(0usize) += 1);
            counts
        };
        assert_eq!(counts(&first).len(), 1, "without it all go to the first copy");
        let spread = counts(&hashed);
        let each = first.len() / if what.len() == 2 { 2 } else { 1 } / (COPIES + 1);
        assert_eq!(spread.len(), COPIES + 1);
        assert!(
            spread.values().all(|&count| count * 3 > each * 2 && count * 2 < each * 3),
            "{each}: {spread:?}"
        );
        let own = |all: &BTreeMap<(String, u32), (String, u64, bool, i64)>| {
            all.clone()
                .into_iter()
                .filter(|((name, _), _)| name.starts_with("own"))
                .collect::<BTreeMap<_, _>>()
        };
        assert_eq!(own(&first), own(&hashed));
        let mut backward = what.to_vec();
        backward[reversed] = "backward.fa";
        assert_eq!(
            primaries(&run(&folder, &["--tie-break", "hash"], &backward)),
            hashed,
            "the order has no say"
        );
    }
}

#[test]
fn mates_stay_together() {
    let sam = run(&inputs(), &["--tie-break", "hash"], &MATES);
    let all = primaries(&sam);
    for at in 0..READS {
        let of = |mate| &all[&(format!("pair{at}"), mate)];
        let (one, other) = (of(64), of(128));
        assert!(
            one.0 == other.0 && one.1.abs_diff(other.1) == 200 && one.2 != other.2,
            "pair{at}: {one:?} {other:?}"
        );
    }
    assert!(Sam::parse(&sam).primary().all(|record| record.flag() & 2 > 0));
}

#[test]
fn further_hits_follow_in_their_order() {
    let folder = inputs();
    let hits = |more: &[&str]| {
        let text = run(&folder, more, &SINGLE);
        let mut hits = BTreeMap::<String, Vec<(String, u64)>>::new();
        for record in &Sam::parse(&text).records {
            hits.entry(record.name().to_string())
                .or_default()
                .push((record.target().to_string(), record.position()));
        }
        hits
    };
    let all = hits(&["--ties"]);
    for (more, most) in [(&["--ties"][..], COPIES + 1), (&["--max-hits", "3"], 3)] {
        for (name, chosen) in hits(&[&["--tie-break", "hash"], more].concat()) {
            let tied = &all[&name];
            assert_eq!(chosen.len(), tied.len().min(most), "{name}");
            let rest: Vec<_> = tied.iter().filter(|hit| **hit != chosen[0]).take(chosen.len() - 1).collect();
            assert_eq!(chosen[1..].iter().collect::<Vec<_>>(), rest, "{name}");
        }
    }
}

#[test]
fn every_run_chooses_the_same() {
    let folder = inputs();
    for what in [&SINGLE[..], &MATES] {
        let hash = ["--tie-break", "hash"];
        let whole = run(&folder, &hash, what);
        let others: [&[&str]; 4] =
            [&["-t", "1", "--batch", "7"], &["--filter", "none"], &["--no-dedup"], &["--filter", "index"]];
        for more in others {
            assert_eq!(run(&folder, &[&hash, more].concat(), what), whole, "{more:?}");
        }
        let mut parts = BTreeSet::new();
        for part in ["1/3", "2/3", "3/3"] {
            let text = run(&folder, &[&hash[..], &["--part", part]].concat(), what);
            parts.extend(text.lines().filter(|line| !line.starts_with('@')).map(str::to_string));
        }
        let lines: BTreeSet<String> =
            whole.lines().filter(|line| !line.starts_with('@')).map(str::to_string).collect();
        assert_eq!(parts, lines);
    }
}

#[test]
fn lists_and_parts_of_the_references_refuse_it() {
    let folder = inputs();
    let hash = ["--tie-break", "hash"];
    folder
        .run(&[&hash[..], &["--format", "tab"], &SINGLE].concat())
        .said(2, &["--tie-break hash", "SAM", "BAM", "PAF"]);
    folder
        .run(&[&hash[..], &["--ref-part", "1/2", "-o", "x.sam"], &SINGLE].concat())
        .said(2, &["--ref-part", "--tie-break hash", "--part"]);
    assert_eq!(folder.names().iter().filter(|name| name.starts_with("x.sam")).count(), 0);
}

/// A read that aligns to every copy has one of its first 64 hits, or one of more hits if `--max-hits` is larger.
#[test]
fn a_choice_is_among_few() {
    let mut random = Random::new(7);
    let unit = random.text(Alphabet::Dna, 60);
    let reference: String = (0..100).map(|_| format!("{unit}{}", random.text(Alphabet::Dna, 9))).collect();
    let reads: String = (0..400).map(|at| format!(">r{at}\n{unit}\n")).collect();
    let files = [("ref.fa", format!(">x\n{reference}\n")), ("reads.fa", reads)];
    let folder = folder(&files.each_ref().map(|(name, text)| (*name, text.as_bytes())));
    let copies = |more: &[&str]| {
        let sam = run(&folder, &[&["--tie-break", "hash"], more].concat(), &SINGLE);
        let positions = primaries(&sam).into_values().map(|(_, position, ..)| position);
        positions.map(|position| (position - 1) / 69).collect::<BTreeSet<u64>>()
    };
    let few = copies(&[]);
    assert!(few.len() > 50 && few.iter().all(|&copy| copy < 64), "{few:?}");
    assert_eq!(copies(&["-t", "1", "--batch", "9"]), few);
    assert!(copies(&["--max-hits", "100"]).iter().any(|&copy| copy >= 64));
}
