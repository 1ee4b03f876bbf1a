//! The library's searcher finds the same hits as `swalign search`, with any settings.

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
fn command_rows(folder: &Folder, options: &[String], columns: usize) -> String {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let args = [&["search", "--device", "cpu", "-f", "p.fa", "t.fa"][..], &options].concat();
    let outcome = folder.run(&args);
    let row = |line: &str| format!("{}\n", line.split('\t').take(columns).collect::<Vec<_>>().join("\t"));
    outcome.text().lines().skip(1).map(row).collect()
}

/// Settings of the library, and the same options of the command.
struct Settings {
    builder: SearcherBuilder,
    options: Vec<String>,
}

impl Settings {
    fn add(&mut self, set: impl FnOnce(SearcherBuilder) -> SearcherBuilder, options: &str) {
        self.builder = set(self.builder.clone());
        self.options.extend(options.split(' ').map(str::to_string));
    }

    /// Edits by number or by rate, with limits of single kinds, and circular texts.
    fn random(random: &mut Random, patterns: &Records) -> Settings {
        let builder = Searcher::builder(patterns.iter().cloned()).device(Device::Cpu);
        let mut own = Settings { builder, options: Vec::new() };
        match random.below(5) {
            0 => own.add(|builder| builder.edits_by_rate(0.1), "-k 10%"),
            1 => own.add(|builder| builder.edits_by_rate(0.125), "--edits-by-rate 0.125"),
            _ => {
                let edits = random.below(4);
                own.add(|builder| builder.max_edits(edits as u32), &format!("-k {edits}"));
            }
        }
        let most = random.below(3) as u32;
        match random.below(8) {
            0 => own.add(|builder| builder.indels(false), "--no-indels"),
            1 => own.add(|builder| builder.max_insertions(most), &format!("--max-insertions {most}")),
            2 => own.add(|builder| builder.max_deletions(most), &format!("--max-deletions {most}")),
            3 => own.add(|builder| builder.max_substitutions(most), &format!("--max-substitutions {most}")),
            4 => own.add(|builder| builder.max_gaps(most), &format!("--max-gaps {most}")),
            _ => {}
        }
        if random.below(3) == 0 {
            own.add(|builder| builder.circular(true), "--circular all");
        }
        own
    }

    /// PAMs, strands, and the choice of hits.
    fn with_choice(mut self, random: &mut Random) -> Settings {
        match random.below(6) {
            0 => self.add(|builder| builder.pam("NGG", PamSide::Three), "--pam NGG"),
            1 => self.add(|builder| builder.pam("TTN", PamSide::Five), "--pam TTN --pam-side 5"),
            2 => self.add(|builder| builder.pam("N", PamSide::Five), "--pam N --pam-side 5"),
            _ => {}
        }
        match random.below(4) {
            0 => self.add(|builder| builder.both_strands(false), "--strand plus"),
            1 => self.add(|builder| builder.strand(Strand::Reverse), "--strand minus"),
            _ => {}
        }
        match random.below(6) {
            0 => self.add(|builder| builder.every_end(true), "--all"),
            1 => self.add(|builder| builder.best(true), "--best"),
            2 => self.add(|builder| builder.first(true), "--first"),
            3 => self.add(|builder| builder.first(true).best(true), "--first --best"),
            _ => {}
        }
        self
    }
}

#[test]
fn matches_are_those_of_the_command() {
    let [patterns, texts] = patterns_and_texts(&mut Random::new(51));
    let folder = folder(&[("p.fa", fasta(&patterns).as_bytes()), ("t.fa", fasta(&texts).as_bytes())]);
    let targets = Targets::from_dna(texts.iter().cloned()).unwrap();
    let mut random = Random::new(54);
    let mut count = 0;
    for _ in 0..40 {
        let Settings { builder, options } = Settings::random(&mut random, &patterns).with_choice(&mut random);
        let searcher = builder.build().unwrap();
        let found = searcher.search_all(texts.iter().map(|(_, letters)| letters));
        let found: Vec<Vec<Match>> = found.map(Result::unwrap).collect();
        assert_eq!(found, searcher.search_targets(&targets).unwrap(), "{options:?}");
        let rows: String = texts
            .iter()
            .zip(&found)
            .flat_map(|((name, _), found)| found.iter().map(|one| row(name, one)))
            .collect();
        let expected = command_rows(&folder, &options, 7);
        assert!(rows == expected, "{options:?}:\n{rows}\n{expected}");
        count += usize::from(rows.lines().count() > 1);
    }
    assert!(count > 30, "{count} of 40 settings have matches");
}

/// Guides next to a PAM are found from the PAM by both.
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
    for circular in [false, true] {
        let builder = Searcher::builder(guides.iter().cloned()).device(Device::Cpu).circular(circular);
        let searcher = builder.max_edits(4).pam("NGG", PamSide::Three).build().unwrap();
        let found = searcher.search(&text).unwrap();
        let rows: String = found.iter().map(|one| row("t", one)).collect();
        let options = ["-k4", "--pam=NGG", "--circular=all"].map(str::to_string);
        let expected = command_rows(&folder, &options[..2 + usize::from(circular)], 7);
        assert!(rows == expected && found.len() > 20, "{}", found.len());
    }
}

fn amplicon_row(text: &str, found: &Amplicon) -> String {
    let (range, strand) = (found.range(), if found.strand() == Strand::Forward { '+' } else { '-' });
    let (forward, reverse) = (found.forward(), found.reverse());
    let both = || {
        let (first, second) = match found.strand() {
            Strand::Forward => (forward, reverse),
            _ => (reverse, forward),
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
    let mut count = 0;
    for _ in 0..40 {
        let mut settings = Settings::random(&mut random, &primers);
        let mut given = "--amplicons".to_string();
        let pairs = match random.below(3) {
            0 => PrimerPairs::Names,
            1 => {
                given.push_str("=any");
                PrimerPairs::Any
            }
            _ => {
                given.push_str(" --pairs pairs");
                PrimerPairs::Listed(list.to_vec())
            }
        };
        let (least, most) = random.pick(&[(1, 4_000), (50, 200), (1, 90)]);
        settings.add(|builder| builder, &format!("{given} --amplicon-size {least}..{most}"));
        let Settings { builder, options } = settings;
        let searcher = builder.build().unwrap().amplicons(&pairs, least..=most).unwrap();
        let found = searcher.search_all(texts.iter().map(|(_, letters)| letters));
        let found: Vec<Vec<Amplicon>> = found.map(Result::unwrap).collect();
        assert_eq!(found, searcher.search_targets(&targets).unwrap(), "{options:?}");
        let rows: String = texts
            .iter()
            .zip(&found)
            .flat_map(|((name, _), found)| found.iter().map(|one| amplicon_row(name, one)))
            .collect();
        let expected = command_rows(&folder, &options, 12);
        assert!(rows == expected, "{options:?}:\n{rows}\n{expected}");
        count += usize::from(rows.lines().count() > 1);
    }
    assert!(count > 20, "{count} of 40 settings have amplicons");
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
    refused(long.edits_by_rate(0.5).build().unwrap_err(), &["40 edits", "32"]);
    let amplicons = |builder: SearcherBuilder, pairs: &PrimerPairs| {
        builder.build().unwrap().amplicons(pairs, 1..=100).unwrap_err()
    };
    refused(amplicons(builder(), &PrimerPairs::Names), &["pattern 'a_F': ", "'a_R'"]);
    let listed = PrimerPairs::Listed(vec![["a_F".to_string(), "c".to_string()]]);
    refused(amplicons(builder(), &listed), &["pair 0: ", "'c'"]);
    refused(amplicons(builder().both_strands(false), &PrimerPairs::Any), &["both strands"]);
    refused(amplicons(builder().first(true), &PrimerPairs::Any), &["all matches"]);
}
