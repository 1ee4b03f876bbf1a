//! Searches by profiles. The hits of psiblast are those of tests/golden/README.md.

use crate::common::command::{finish, line_here, shell};
use crate::common::folder::Folder;

const COLUMNS: &str = "--columns qseqid,sseqid,score,evalue,bitscore,qstart,qend,sstart,send";
const PROFILES: &str = "tests/golden/profiles/homeodomain";
const ALIGNMENT: &str = "data/homeodomain.a3m";

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

fn found(profile: &str, more: &str) -> Vec<Vec<String>> {
    rows(line_here(&format!("-q --profile {more} {COLUMNS} {profile} data/scope_small.fa")).text())
}

/// Each hit of psiblast is found with at least its score, and on the same residues if the scores are equal.
#[test]
fn hits_are_at_least_those_of_psiblast() {
    let own = found(&format!("{PROFILES}.asn"), "--all --evalue 10");
    let text = crate::common::text("tests/golden/profiles/psiblast.tsv");
    let expected: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let number = |text: &str| text.parse::<f64>().unwrap();
    let mut equal = 0;
    for row in &expected {
        let best = own.iter().find(|own| own[1] == row[1]).unwrap_or_else(|| panic!("{row:?} is missing"));
        assert!(number(&best[2]) >= number(row[2]), "{row:?} and {best:?}");
        if best[2] == row[2] {
            equal += 1;
            assert!(best[5..] == row[5..], "{row:?} and {best:?}");
            let ratio = number(&best[3]) / number(row[3]);
            assert!((1.0 / 3.0..=3.0).contains(&ratio), "{row:?} and {best:?}");
        }
    }
    assert!(equal >= 10 && expected.len() >= 12, "{equal} of {}", expected.len());
}

/// All formats describe one family. The scores of the two formats of psiblast are the same.
#[test]
fn formats_describe_one_family() {
    let of = |extension: &str| found(&format!("{PROFILES}.{extension}"), "--evalue 1e-5");
    let asn = of("asn");
    assert!(of("pssm").iter().map(|row| &row[1..]).eq(asn.iter().map(|row| &row[1..])));
    let targets = |rows: &[Vec<String>]| -> Vec<String> {
        let mut targets: Vec<String> = rows.iter().map(|row| row[1].clone()).collect();
        targets.sort();
        targets
    };
    let expected = targets(&asn);
    for profile in [&format!("{PROFILES}.hmm"), ALIGNMENT] {
        let own = targets(&found(profile, "--evalue 1e-5"));
        let common = own.iter().filter(|target| expected.contains(target)).count();
        assert!(
            common * 10 >= expected.len() * 8 && common * 10 >= own.len() * 7,
            "{profile}: {own:?}, {expected:?}"
        );
    }
}

/// Position of a model: match emissions and transitions, as negative natural logarithms.
#[derive(Default)]
struct Node {
    emissions: Vec<f64>,
    transitions: Vec<f64>,
}

/// The nodes of a model, from that of the begin state.
fn nodes(model: &str) -> Vec<Node> {
    let number = |word: &str| if word == "*" { f64::INFINITY } else { word.parse().unwrap() };
    let numbers = |line: &str, skipped: usize| line.split_whitespace().skip(skipped).map(number).collect();
    let lines: Vec<&str> = model.lines().skip_while(|line| !line.contains("COMPO")).collect();
    let node = |lines: &[&str]| Node {
        emissions: lines[0].split_whitespace().skip(1).take(20).map(number).collect(),
        transitions: numbers(lines[2], 0),
    };
    lines.chunks_exact(3).map(node).collect()
}

/// The score of a hit by its CIGAR, from the model, and whether it has a deletion or an insertion.
fn score_of(row: &[String], nodes: &[Node], target: &str, gap: Option<(f64, f64)>) -> (f64, bool) {
    let half_bits = |logarithm: f64| (logarithm * 2.0 / 2f64.ln()).round().min(127.0);
    let emission = |node: &Node, letter: char| {
        let Some(place) = "ACDEFGHIKLMNPQRSTVWY".find(letter) else { return -1.0 };
        half_bits(-node.emissions[place] - BACKGROUND[place].ln())
    };
    // m->m, m->i, m->d, i->m, i->i, d->m, d->d
    let after = |i: usize| {
        let own = &nodes[i].transitions;
        let extend = half_bits(own[4]).max(1.0);
        (half_bits(own[1] + own[3] - own[0]).max(extend), extend)
    };
    let skipped = |i: usize| {
        let (before, own) = (&nodes[i - 1].transitions, &nodes[i].transitions);
        let extend = half_bits(before[6] + own[5] - before[5]).max(1.0);
        (half_bits(before[2] - before[0] + own[5]).max(extend), extend)
    };
    let target: Vec<char> = target.chars().collect();
    let (mut i, mut j): (usize, usize) = (row[2].parse().unwrap(), row[3].parse().unwrap());
    let (mut score, mut len, mut has_gap) = (0.0, 0, false);
    for letter in row[4].chars() {
        if let Some(digit) = letter.to_digit(10) {
            len = 10 * len + digit;
            continue;
        }
        for at in 0..std::mem::take(&mut len) {
            let cost = |(first, extend): (f64, f64)| if at == 0 { first } else { extend };
            match letter {
                // The next position and the next residue are i and j, counted from 1.
                'D' => {
                    score -= cost(gap.unwrap_or_else(|| after(i - 1)));
                    j += 1;
                }
                'I' => {
                    score -= cost(gap.unwrap_or_else(|| skipped(i)));
                    i += 1;
                }
                _ => {
                    score += emission(&nodes[i], target[j - 1]);
                    (i, j) = (i + 1, j + 1);
                }
            }
            has_gap |= "DI".contains(letter);
        }
    }
    (score, has_gap)
}

/// HMMER's frequencies of the amino acids, from A to Y.
const BACKGROUND: [f64; 20] = [
    0.0787945, 0.0151600, 0.0535222, 0.0668298, 0.0397062, 0.0695071, 0.0229198, 0.0590092, 0.0594422,
    0.0963728, 0.0237718, 0.0414386, 0.0482904, 0.0395639, 0.0540978, 0.0683364, 0.0540687, 0.0673417,
    0.0114135, 0.0304133,
];

/// Scores of models are those of their transitions, or of --gap-open and --gap-extend if one of them is given.
#[test]
fn models_have_gap_costs_of_their_own() {
    let nodes = nodes(&crate::common::text(&format!("{PROFILES}.hmm")));
    assert_eq!(nodes.len(), 53);
    let targets = crate::common::text("data/scope_small.fa");
    let target = |name: &str| -> String {
        let record = targets.split('>').find(|record| record.split_whitespace().next() == Some(name));
        record.unwrap().lines().skip(1).collect::<String>().to_ascii_uppercase()
    };
    let mut scores = Vec::new();
    for (more, gap) in [
        ("", None),
        ("--gap-open 11", Some((12.0, 1.0))),
        ("--gap-extend 2", Some((13.0, 2.0))),
        ("--gap-open 7 --gap-extend 2", Some((9.0, 2.0))),
    ] {
        let line = "-q --profile --all --evalue 1000 --format tab --columns sseqid,score,qstart,sstart,cigar";
        let outcome = line_here(&format!("{line} {more} {PROFILES}.hmm data/scope_small.fa"));
        let hits = rows(outcome.text());
        let mut gaps = 0;
        for row in &hits {
            let (score, has_gap) = score_of(row, &nodes, &target(&row[0]), gap);
            assert!(score == row[1].parse::<f64>().unwrap(), "{more} {row:?} {score}");
            gaps += usize::from(has_gap);
        }
        assert!(gaps >= 3, "{more}: {gaps} of {}", hits.len());
        scores.push(hits);
    }
    assert!(scores.windows(2).all(|pair| pair[0] != pair[1]));
    // The note says which contents of the file do not count.
    let note = |more: &str| {
        let line = format!("--profile {more} {PROFILES}.hmm data/scope_small.fa");
        line_here(&line).stderr.lines().find(|line| line.contains("leave out")).unwrap().to_string()
    };
    assert!(note("").contains("from match to match") && !note("--gap-open 11").contains("match"));
    // Later searches have the gap costs of profiles that are made of hits.
    let of = |more: &str| found(&format!("{PROFILES}.hmm"), &format!("--iterations 3 --evalue 1e-5 {more}"));
    assert!(of("").iter().zip(of("--gap-open 11")).filter(|(one, other)| *one == other).count() > 5);
}

#[test]
fn nothing_but_the_input_decides() {
    let profile = format!("{PROFILES}.hmm");
    for format in ["tab", "json", "text"] {
        let common = format!("-q --profile --format {format} --evalue 10");
        let expected = line_here(&format!("{common} --device cpu {profile} data/scope_small.fa")).done();
        for more in ["--device plain", "--batch 1 -t 1"] {
            let own = line_here(&format!("{common} {more} {profile} data/scope_small.fa")).done();
            assert!(own == expected, "{format} {more}");
        }
    }
}

/// A profile of one sequence has the scores of BLOSUM62.
#[test]
fn a_profile_of_one_sequence_is_that_sequence() {
    let folder = Folder::new();
    let protein = "EKRPRTAFSSEQLARLKREFNENRYLTERRRQQLSSELGLNEAQIKIWFQNARAKI";
    folder.write("q.fa", format!(">q\n{protein}\n"));
    let data = format!("{}/data/scope_small.fa", env!("CARGO_MANIFEST_DIR"));
    let of = |more: &str| {
        let line = format!("-q --format tab {more} --matrix BLOSUM62 --evalue 10 {COLUMNS} q.fa {data}");
        folder.line(&line).text().to_string()
    };
    assert_eq!(of("--profile"), of(""));
    assert!(of("").lines().count() > 10);
}

/// Later rounds find more of the family: the hits of the first round are the profile of the second.
#[test]
fn iterations_find_more() {
    let folder = Folder::new();
    folder.write("q.fa", ">q\nEKRPRTAFSSEQLARLKREFNENRYLTERRRQQLSSELGLNEAQIKIWFQNARAKI\n");
    let data = format!("{}/data/scope_small.fa", env!("CARGO_MANIFEST_DIR"));
    let of = |more: &str| {
        let line = format!("-q --format tab {more} --evalue 0.002 {COLUMNS} q.fa {data}");
        rows(folder.line(&line).text())
    };
    let counts = ["", "--iterations 2", "--iterations 4"].map(|more| of(more).len());
    assert!(counts[0] < counts[1] && counts[1] <= counts[2], "{counts:?}");
    assert_eq!(of("--iterations 1"), of(""));
    assert_eq!(of("--iterations 4 --device plain"), of("--iterations 4"));
    // The columns do not decide.
    let scores = |rows: Vec<Vec<String>>, place: usize| -> Vec<String> {
        rows.into_iter().map(|row| row[place].clone()).collect()
    };
    let line = format!("-q --format tab --iterations 2 --evalue 0.002 --columns score q.fa {data}");
    assert_eq!(scores(rows(folder.line(&line).text()), 0), scores(of("--iterations 2"), 2));
    // Without a hit that is included, there is no other round.
    assert_eq!(of("--iterations 4 --inclusion 1e-99"), of(""));
}

/// A row of A3M has a letter or a gap for each residue of the query. Stockholm has the same, and insertions in columns of their own.
#[test]
fn alignments_have_the_columns_of_the_query() {
    let folder = Folder::new();
    folder.write("q.fa", ">q\nEKRPRTAFSSEQLARLKREFNENRYLTERRRQQLSSELGLNEAQIKIWFQNARAKI\n");
    let data = format!("{}/data/scope_small.fa", env!("CARGO_MANIFEST_DIR"));
    let of = |more: &str| {
        folder.line(&format!("-q --iterations 3 --evalue 0.002 {more} q.fa {data}")).text().to_string()
    };
    let hits = rows(&of("--format tab --columns sseqid,sstart,send,qstart,qend,sseq"));
    let a3m = of("--format a3m");
    let records: Vec<(&str, &str)> =
        a3m.split('>').skip(1).map(|record| record.trim().split_once('\n').unwrap()).collect();
    assert_eq!(records.len(), hits.len() + 1);
    let len = records[0].1.len();
    let matches = |row: &str| row.chars().filter(|letter| !letter.is_ascii_lowercase()).collect::<String>();
    let mut has_insertion = false;
    for (hit, (name, row)) in hits.iter().zip(&records[1..]) {
        assert_eq!(*name, format!("{}/{}-{}", hit[0], hit[1], hit[2]));
        let letters = |text: &str| text.to_ascii_uppercase().replace('-', "");
        assert!(matches(row).len() == len && letters(row) == letters(&hit[5]), "{row}");
        has_insertion |= row.chars().any(|letter| letter.is_ascii_lowercase());
    }
    assert!(has_insertion);
    let sto = of("--format sto");
    let lines: Vec<(&str, &str)> = sto
        .lines()
        .filter(|line| !line.starts_with("# ") && !line.starts_with("#=GF") && line.len() > 2)
        .map(|line| line.rsplit_once(' ').unwrap())
        .collect();
    let marks = lines.last().unwrap().1;
    assert!(lines.iter().all(|(_, row)| row.len() == marks.len()) && sto.ends_with("//\n"));
    for ((name, row), (_, of_a3m)) in lines.iter().zip(&records) {
        let own = row.chars().zip(marks.chars());
        let own: String = own.filter(|(_, mark)| *mark == 'x').map(|(letter, _)| letter).collect();
        assert_eq!(own, matches(of_a3m), "{name}");
        assert_eq!(row.replace('.', ""), **of_a3m, "{name}");
    }
    // The alignment is a profile again.
    folder.write("family.a3m", &a3m);
    let again = folder.line(&format!("-q --profile --evalue 0.002 --format tab family.a3m {data}"));
    assert!(rows(again.text()).len() >= hits.len());
    folder.line("--translate query --format a3m q.fa q.fa").said(2, &["--translate", "--format tab"]);
}

#[test]
fn faults_are_told() {
    let folder = Folder::new();
    folder.write("bad.hmm", "HMMER3/f [3.3.2]\nNAME x\nLENG 5\n");
    folder.write("empty", "");
    folder.write("p.fa", ">p\nMKVLAWWK\n");
    // A profile may be compressed, and come from a pipe.
    let model = crate::common::text(&format!("{PROFILES}.hmm"));
    folder.write("good.hmm", &model);
    folder.write("good.hmm.gz", crate::common::gzip::gzip(model.as_bytes()));
    let of = |line: &str| finish(&mut shell(folder.path(), line)).done();
    let expected = of("$SWALIGN -q --profile --evalue 1e9 good.hmm p.fa");
    assert!(!expected.is_empty() && of("$SWALIGN -q --profile --evalue 1e9 good.hmm.gz p.fa") == expected);
    assert!(of("$SWALIGN -q --profile --evalue 1e9 - p.fa < good.hmm") == expected);
    folder.line("-q --profile bad.hmm p.fa").said(1, &["bad.hmm", "line"]);
    folder.line("-q --profile empty p.fa").said(1, &["empty", "psiblast"]);
    folder.write("d.fa", format!(">d\n{}\n", "ACGTTGCA".repeat(20)));
    folder.line("-q --iterations 2 d.fa d.fa").said(2, &["--iterations", "protein", "DNA"]);
    for (args, nouns) in [
        ("--profile --format sam p.fa p.fa", &["--profile", "--format tab"][..]),
        ("--profile --matrix PAM30 p.fa p.fa", &["--profile", "BLOSUM62"]),
        ("--inclusion 1 p.fa p.fa", &["--iterations"]),
        ("--profile --part 1/2 p.fa p.fa", &["--profile", "--part"]),
        ("--iterations 2 --mode global p.fa p.fa", &["--iterations", "--mode"]),
    ] {
        folder.line(args).said(2, nouns);
    }
}
