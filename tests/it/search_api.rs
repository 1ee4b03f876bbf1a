//! The library's searcher finds the same hits as `swalign search`: edits by rate, first hits, PAMs and amplicons.

use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::{
    Amplicon, Device, ErrorKind, Match, PamSide, PrimerPairs, Searcher, SearcherBuilder, Strand, Targets,
};

/// Names and bases.
type Records = Vec<(String, String)>;

fn fasta(records: &Records) -> String {
    records.iter().map(|(name, letters)| format!(">{name}\n{letters}\n")).collect()
}

/// Returns patterns, and texts with mutated copies of them on both strands: short texts, an empty text and a long text.
fn patterns_and_texts(random: &mut Random) -> [Records; 2] {
    let patterns: Records =
        [9, 12, 20, 31, 45].iter().map(|&len| (format!("p{len}"), random.text(Alphabet::Dna, len))).collect();
    let mut texts: Records = Vec::new();
    for (number, len) in [0, 5, 80, 400, 700_000, 3_000, 12].into_iter().enumerate() {
        let mut text = random.text(Alphabet::Dna, len).into_bytes();
        for _ in 0..len / 200 {
            let (_, pattern) = &patterns[random.below(patterns.len())];
            let mut copy = random.mutated(Alphabet::Dna, pattern.as_bytes(), 8);
            if random.below(2) == 0 {
                copy = reverse_complement(&copy);
            }
            // The first part of the long text has no copy, so that its first hit is in a later part.
            let first = if len > 500_000 { 400_000 } else { 0 };
            let at = first + random.below(len - first - copy.len());
            text[at..at + copy.len()].copy_from_slice(&copy);
        }
        texts.push((format!("t{number}"), String::from_utf8(text).unwrap()));
    }
    [patterns, texts]
}

fn row(text: &str, found: &Match) -> String {
    let (range, strand) = (found.range(), if found.strand() == Strand::Forward { '+' } else { '-' });
    let (name, edits, cigar) = (found.pattern_name(), found.edits(), found.cigar_extended());
    format!("{text}\t{}\t{}\t{name}\t{strand}\t{edits}\t{cigar}\n", range.start, range.end)
}

/// Returns the first `columns` columns of the command's table, without its header.
#[track_caller]
fn command_rows(folder: &Folder, options: &[&str], columns: usize) -> String {
    let args = [&["search", "--device", "cpu", "-f", "p.fa", "t.fa"], options].concat();
    let outcome = folder.run(&args);
    let row = |line: &str| format!("{}\n", line.split('\t').take(columns).collect::<Vec<_>>().join("\t"));
    outcome.text().lines().skip(1).map(row).collect()
}

/// A setting of the library, and the equivalent options of the command.
type Case = (fn(SearcherBuilder) -> SearcherBuilder, &'static [&'static str]);

const CASES: [Case; 9] = [
    (|builder| builder.edits_by_rate(0.1), &["--edits-by-rate", "0.1"]),
    (|builder| builder.edits_by_rate(0.12).max_gaps(1), &["--edits-by-rate", "0.12", "--max-gap", "1"]),
    (|builder| builder.edits_by_rate(0.15).indels(false), &["--edits-by-rate", "0.15", "--no-indels"]),
    (|builder| builder.max_edits(2).first(true), &["-k", "2", "--first"]),
    (|builder| builder.max_edits(2).first(true).best(true), &["-k", "2", "--first", "--best"]),
    (|builder| builder.edits_by_rate(0.1).every_end(true), &["--edits-by-rate", "0.1", "--all"]),
    (|builder| builder.edits_by_rate(0.1).first(true), &["--edits-by-rate", "0.1", "--first"]),
    (
        |builder| builder.max_edits(2).pam("NGG", PamSide::Three).first(true),
        &["-k", "2", "--pam", "NGG", "--first"],
    ),
    (
        |builder| builder.edits_by_rate(0.12).pam("TTN", PamSide::Five),
        &["--edits-by-rate", "0.12", "--pam", "TTN", "--pam-side", "5"],
    ),
];

#[test]
fn matches_are_those_of_the_command() {
    let [patterns, texts] = patterns_and_texts(&mut Random::new(51));
    let folder = folder(&[("p.fa", fasta(&patterns).as_bytes()), ("t.fa", fasta(&texts).as_bytes())]);
    let targets = Targets::from_dna(texts.iter().cloned()).unwrap();
    for (ask, options) in CASES {
        let builder = ask(Searcher::builder(patterns.iter().cloned()).device(Device::Cpu));
        let searcher = builder.build().unwrap();
        let found = searcher.search_all(texts.iter().map(|(_, letters)| letters));
        let found: Vec<Vec<Match>> = found.map(Result::unwrap).collect();
        assert_eq!(found, searcher.search_targets(&targets).unwrap(), "{options:?}");
        let rows: String = texts
            .iter()
            .zip(&found)
            .flat_map(|((name, _), found)| found.iter().map(|one| row(name, one)))
            .collect();
        let expected = command_rows(&folder, options, 7);
        assert!(rows == expected, "{options:?}:\n{rows}\n{expected}");
        assert!(rows.lines().count() > 1, "{options:?}: {rows}");
    }
}

/// Guides next to a PAM, found from the PAM, are the same as those of the command.
#[test]
fn guides_are_those_of_the_command() {
    let mut random = Random::new(52);
    let text = random.text(Alphabet::Dna, 150_000);
    let guide = |number: usize| {
        let at = random.below(text.len() - 20);
        (format!("g{number}"), text[at..at + 20].to_string())
    };
    let guides: Records = (0..200).map(guide).collect();
    let texts = vec![("t".to_string(), text.clone())];
    let folder = folder(&[("p.fa", fasta(&guides).as_bytes()), ("t.fa", fasta(&texts).as_bytes())]);
    let builder = Searcher::builder(guides).device(Device::Cpu).max_edits(4).pam("NGG", PamSide::Three);
    let found = builder.build().unwrap().search(&text).unwrap();
    let rows: String = found.iter().map(|one| row("t", one)).collect();
    let expected = command_rows(&folder, &["-k", "4", "--pam", "NGG"], 7);
    assert!(rows == expected && found.len() > 20, "{}", found.len());
}

fn amplicon_row(text: &str, found: &Amplicon) -> String {
    let (range, strand) = (found.range(), if found.strand() == Strand::Forward { '+' } else { '-' });
    let (forward, reverse) = (found.forward(), found.reverse());
    let both = || {
        let (first, second) = match found.strand() {
            Strand::Forward => (forward, reverse),
            Strand::Reverse => (reverse, forward),
        };
        format!("{},{}", first.pattern_name(), second.pattern_name())
    };
    let pair = found.pair_name().map_or_else(both, str::to_string);
    assert!(range.start <= found.inner_range().start && found.inner_range().end <= range.end);
    assert_eq!((range.start, range.end), (forward.range().start, reverse.range().end));
    format!(
        "{text}\t{}\t{}\t{}\t{pair}\t{strand}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        range.start,
        range.end,
        range.len(),
        forward.pattern_name(),
        forward.range().end,
        forward.edits(),
        reverse.pattern_name(),
        reverse.range().start,
        reverse.edits(),
    )
}

#[test]
fn amplicons_are_those_of_the_command() {
    let mut random = Random::new(53);
    let names = ["a_LEFT", "a_RIGHT", "b_LEFT", "b_LEFT_alt1", "b_RIGHT"];
    let primers: Records =
        names.iter().map(|name| (name.to_string(), random.text(Alphabet::Dna, 14))).collect();
    let mut texts: Records = Vec::new();
    for number in 0..6 {
        let mut text = random.text(Alphabet::Dna, 40 * number);
        for _ in 0..3 * number {
            let (_, primer) = &primers[random.below(primers.len())];
            let copy = random.mutated(Alphabet::Dna, primer.as_bytes(), 6);
            let copy = if random.below(2) == 0 { copy } else { reverse_complement(&copy) };
            text.push_str(std::str::from_utf8(&copy).unwrap());
            let len = random.below(60);
            text.push_str(&random.text(Alphabet::Dna, len));
        }
        texts.push((format!("t{number}"), text));
    }
    let folder = folder(&[("p.fa", fasta(&primers).as_bytes()), ("t.fa", fasta(&texts).as_bytes())]);
    folder.write("pairs", "b_LEFT\ta_RIGHT\na_LEFT\ta_LEFT\n");
    let list = [["b_LEFT", "a_RIGHT"], ["a_LEFT", "a_LEFT"]].map(|names| names.map(str::to_string));
    let targets = Targets::from_dna(texts.iter().cloned()).unwrap();
    for (pairs, lengths, options) in [
        (PrimerPairs::Names, 1..=4_000, &["--amplicons"][..]),
        (PrimerPairs::Names, 50..=200, &["--amplicons", "--amplicon-size", "50..200"]),
        (PrimerPairs::Any, 1..=4_000, &["--amplicons=any"]),
        (PrimerPairs::Listed(list.to_vec()), 1..=4_000, &["--amplicons", "--pairs", "pairs"]),
    ] {
        let builder = Searcher::builder(primers.iter().cloned()).device(Device::Cpu).edits_by_rate(0.15);
        let searcher = builder.build().unwrap().amplicons(&pairs, lengths).unwrap();
        let found = searcher.search_all(texts.iter().map(|(_, letters)| letters));
        let found: Vec<Vec<Amplicon>> = found.map(Result::unwrap).collect();
        assert_eq!(found, searcher.search_targets(&targets).unwrap(), "{options:?}");
        let rows: String = texts
            .iter()
            .zip(&found)
            .flat_map(|((name, _), found)| found.iter().map(|one| amplicon_row(name, one)))
            .collect();
        let expected = command_rows(&folder, &[options, &["--edits-by-rate", "0.15"]].concat(), 12);
        assert!(rows == expected, "{options:?}:\n{rows}\n{expected}");
        assert!(rows.lines().count() > 1, "{options:?}: {rows}");
    }
}

#[test]
fn what_is_refused() {
    let builder = || Searcher::builder([("a_F", "ACGTACGT"), ("b_R", "GATTACAT")]).device(Device::Cpu);
    let refused = |error: swalign::Error, nouns: &[&str]| {
        crate::common::refused(&error, ErrorKind::Usage, nouns);
    };
    for rate in [-0.1, 1.0, f64::NAN] {
        refused(builder().edits_by_rate(rate).build().unwrap_err(), &["edits_by_rate", "below 1"]);
    }
    let long = Searcher::builder([("p", "A".repeat(80))]).device(Device::Cpu).max_insertions(1);
    refused(long.edits_by_rate(0.5).build().unwrap_err(), &["edits_by_rate(0.5)", "40 edits"]);
    let amplicons = |builder: SearcherBuilder, pairs: &PrimerPairs| {
        builder.build().unwrap().amplicons(pairs, 1..=100).unwrap_err()
    };
    refused(amplicons(builder(), &PrimerPairs::Names), &["pattern 'a_F': ", "'a_R'"]);
    let listed = PrimerPairs::Listed(vec![["a_F".to_string(), "c".to_string()]]);
    refused(amplicons(builder(), &listed), &["pair 0: ", "'c'"]);
    refused(amplicons(builder().both_strands(false), &PrimerPairs::Any), &["both strands"]);
    refused(amplicons(builder().first(true), &PrimerPairs::Any), &["all matches"]);
}
