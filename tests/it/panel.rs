//! Panels of near-identical references: all hits of each read, their counts by reference, and the matrix of reads and
//! references. The expected numbers come from the records of SAM.

use crate::common::command::line_here;
use crate::common::folder::{Folder, folder};
use crate::common::{random::Random, sam::Sam};
use std::collections::BTreeMap;
use swalign::terms::alphabet::Alphabet;

/// Genes with alleles that differ by about 1 %, and pairs of reads.
fn panel() -> Folder {
    let mut random = Random::new(11);
    let (mut alleles, mut first, mut second) = (String::new(), String::new(), String::new());
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    for gene in 0..3 {
        let founder = random.sequence(Alphabet::Dna, 500);
        for number in 0..8 {
            let allele = random.mutated(Alphabet::Dna, &founder, 1);
            alleles += &format!(">G{gene}*{number}\n{}\n", text(&allele));
            for pair in 0..2 {
                let start = random.below(allele.len() - 250);
                let one = random.mutated(Alphabet::Dna, &allele[start..start + 80], 1);
                let other: Vec<u8> = allele[start + 170..start + 250].iter().rev().map(complement).collect();
                let name = format!("g{gene}a{number}p{pair}");
                first += &format!(">{name}\n{}\n", text(&one));
                second += &format!(">{name}\n{}\n", text(&other));
            }
        }
    }
    // A read without a hit.
    let foreign = random.text(Alphabet::Dna, 80);
    first += &format!(">foreign\n{foreign}\n");
    second += &format!(">foreign\n{foreign}\n");
    folder(&[("panel.fa", alleles.as_bytes()), ("1.fa", first.as_bytes()), ("2.fa", second.as_bytes())])
}

fn complement(base: &u8) -> u8 {
    b"TGCA"[b"ACGT".iter().position(|known| known == base).unwrap()]
}

/// The best score of each read on each reference, by the number of the read among all. Reads come in the order of the records.
fn scores(sam: &Sam) -> (u64, BTreeMap<u64, BTreeMap<String, i64>>) {
    let (mut reads, mut all) = (0, BTreeMap::<u64, BTreeMap<String, i64>>::new());
    for record in &sam.records {
        // Further records of a read follow its primary record.
        reads += u64::from(record.flag() & 0x900 == 0);
        if record.flag() & 0x804 != 0 {
            continue;
        }
        let score = record.fields.iter().find_map(|field| field.strip_prefix("AS:i:")).unwrap();
        let known = all.entry(reads).or_default().entry(record.target().to_string()).or_insert(i64::MIN);
        *known = (*known).max(score.parse().unwrap());
    }
    (reads, all)
}

/// The counts that the records have.
fn expected_counts(sam: &Sam, has_mates: bool) -> String {
    let (reads, scores) = scores(sam);
    let mut text = "#reference\tlength\treads\tunique\tbest\tpairs\tscore\n".to_string();
    for line in sam.header.iter().filter(|line| line.starts_with("@SQ")) {
        let field = |tag: &str| line.split('\t').find_map(|field| field.strip_prefix(tag)).unwrap();
        let name = field("SN:");
        let on: Vec<(&u64, &BTreeMap<String, i64>)> =
            scores.iter().filter(|(_, of_read)| of_read.contains_key(name)).collect();
        let unique = on.iter().filter(|(_, of_read)| of_read.len() == 1).count();
        let best = on.iter().filter(|(_, of_read)| of_read.values().max() == of_read.get(name)).count();
        let has = |read: u64| scores.get(&read).is_some_and(|of_read| of_read.contains_key(name));
        let pairs = (1..=reads / 2).filter(|pair| has_mates && has(2 * pair - 1) && has(2 * pair)).count();
        let sum: i64 = on.iter().map(|(_, of_read)| of_read[name]).sum();
        text += &format!("{name}\t{}\t{}\t{unique}\t{best}\t{pairs}\t{sum}\n", field("LN:"), on.len());
    }
    text
}

/// Scores by row and column.
type Entries = BTreeMap<(u64, u64), i64>;

/// The number of rows and columns of a matrix, its entries, and the names of its columns, after a check of its form.
fn entries(text: &str) -> ((u64, u64), Entries, Vec<String>) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("%%MatrixMarket matrix coordinate integer general"));
    let columns = text.lines().filter_map(|line| line.strip_prefix("% column "));
    let columns: Vec<String> = columns.map(|line| line.split_once(' ').unwrap().1.to_string()).collect();
    let mut lines = lines.skip_while(|line| line.starts_with('%'));
    let numbers =
        |line: &str| -> Vec<i64> { line.split_whitespace().map(|number| number.parse().unwrap()).collect() };
    let [rows, width, count] = numbers(lines.next().unwrap())[..] else { panic!("{text}") };
    let mut entries = BTreeMap::new();
    let mut last = (0, 0);
    for line in lines {
        let [row, column, score] = numbers(line)[..] else { panic!("{line}") };
        let at = (row as u64, column as u64);
        assert!(at > last, "entries are sorted: {line}");
        (last, _) = (at, entries.insert(at, score));
    }
    assert_eq!((entries.len() as i64, columns.len() as i64), (count, width));
    ((rows as u64, width as u64), entries, columns)
}

#[test]
fn counts_and_matrices_are_those_of_the_records() {
    let folder = panel();
    for (args, has_mates) in [
        ("--all --min-identity 97 1.fa 2.fa panel.fa --insert 250,20", true),
        ("--all --min-identity 97 -x sr 1.fa 2.fa panel.fa --insert 250,20", true),
        ("--all --min-identity 97 1.fa panel.fa", false),
        ("--all --min-score 30 --secondary-ratio 0 1.fa panel.fa", false),
        ("1.fa panel.fa", false),
        ("--max-hits 3 2.fa panel.fa", false),
        ("--mode glocal --all --min-identity 97 1.fa panel.fa", false),
        ("-x sr --split --all 1.fa panel.fa", false),
    ] {
        let sam = folder.line(&format!("-q {args}")).sam();
        let counts = folder.line(&format!("-q --format counts {args}"));
        assert_eq!(counts.text(), expected_counts(&sam, has_mates), "{args}");
        folder.line(&format!("-q -o x.mtx {args}")).ended(0);
        let ((rows, width), entries, columns) = entries(&folder.text("x.mtx"));
        let (reads, scores) = scores(&sam);
        assert_eq!((rows, width), (reads, 24), "{args}");
        let column = |name: &String| columns.iter().position(|known| known == name).unwrap() as u64 + 1;
        let expected = scores.iter().flat_map(|(&read, of_read)| {
            of_read.iter().map(move |(name, &score)| ((read, column(name)), score))
        });
        assert!(entries == expected.collect(), "{args}");
        // The command and the device decide nothing else.
        for more in ["--filter none --no-dedup", "--batch 2 --threads 1", "--device plain"] {
            if more.contains("filter") && args.contains("glocal") {
                continue;
            }
            let again = folder.line(&format!("-q --format counts {more} {args}"));
            assert_eq!(again.text(), counts.text(), "{more} {args}");
        }
    }
}

#[test]
fn parts_of_the_references_are_the_whole() {
    let folder = panel();
    for (args, format) in [
        ("--all --min-identity 97 1.fa 2.fa panel.fa --insert 250,20", "counts"),
        ("--all --min-identity 97 1.fa panel.fa", "mtx"),
        ("-x sr --no-split --all 1.fa 2.fa panel.fa --insert 250,20", "mtx"),
    ] {
        let whole = format!("-q {args} --format {format} -o whole");
        folder.line(&whole).ended(0);
        for part in 1..=3 {
            let line = format!("-q {args} --format {format} --ref-part {part}/3 -o part{part}");
            folder.line(&line).ended(0);
        }
        folder.line("merge -q joined part1 part2 part3").ended(0);
        assert_eq!(folder.text("joined"), folder.text("whole"), "{args}");
        if cfg!(unix) && format == "mtx" {
            folder.line("merge -q /dev/null part1 part2 part3").said(2, &["--format mtx", "-o"]);
        }
    }
}

/// On references of 60,000 bases, a read has a proven tier that depends on its length, and counts have the hits of records. A
/// sample sheet may have single reads and mates: only mates have pairs.
#[test]
fn reads_have_the_hits_of_records_on_larger_panels() {
    let mut random = Random::new(12);
    let mut alleles = String::new();
    let mut first = String::new();
    for gene in 0..30 {
        let founder = random.sequence(Alphabet::Dna, 1000);
        for number in 0..4 {
            let allele = random.mutated(Alphabet::Dna, &founder, 1);
            alleles += &format!(">G{gene}*{number}\n{}\n", allele.escape_ascii());
            let start = random.below(allele.len() - 100);
            let percent = [1, 5, 15, 25][number];
            let read = random.mutated(Alphabet::Dna, &allele[start..start + 100], percent);
            first += &format!(">g{gene}a{number}\n{}\n", read.escape_ascii());
        }
    }
    let folder = folder(&[("panel.fa", alleles.as_bytes()), ("1.fa", first.as_bytes())]);
    for args in ["--all 1.fa panel.fa", "-x sr --all 1.fa panel.fa", "--all --min-score 20 1.fa panel.fa"] {
        let sam = folder.line(&format!("-q {args}")).sam();
        let counts = folder.line(&format!("-q --format counts {args}"));
        assert_eq!(counts.text(), expected_counts(&sam, false), "{args}");
    }
    folder.write("sheet.tsv", "ID\treads1\treads2\na\t1.fa\t1.fa\nb\t1.fa\t\n");
    let pairs = |args: &str| -> u64 {
        let outcome = folder.line(&format!("-q --all --format counts {args}"));
        let rows = outcome.text().lines().skip(1);
        rows.map(|line| line.split('\t').nth(5).unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!(pairs("1.fa panel.fa"), 0);
    let of_mates = pairs("--insert 250,20 1.fa 1.fa panel.fa");
    assert!(of_mates > 100 && pairs("--insert 250,20 --sample-sheet sheet.tsv panel.fa") == of_mates);
}

/// `--all` lifts all limits on numbers that have defaults, in each format.
#[test]
fn all_hits_are_more_than_the_defaults() {
    let mut random = Random::new(4);
    let read = random.text(Alphabet::Dna, 60);
    // The read twice in each of 600 references.
    let references: String = (0..600)
        .map(|number| format!(">r{number}\n{read}{}{read}\n", random.text(Alphabet::Dna, 9)))
        .collect();
    let folder = folder(&[("q.fa", format!(">q\n{read}\n").as_bytes()), ("r.fa", references.as_bytes())]);
    let lines = |args: &str| {
        let outcome = folder.line(&format!("-q {args} q.fa r.fa"));
        outcome.text().lines().filter(|line| !line.starts_with('@')).count()
    };
    for (args, some) in [("--format tab", 500), ("--format sam", 1), ("--format paf", 1)] {
        assert_eq!(lines(args), some, "{args}");
        assert_eq!(lines(&format!("{args} --all")), 1200, "{args} --all");
    }
    assert_eq!(lines("--format tab --all --max-targets 7"), 14);
    assert_eq!(lines("--format tab --all --max-hsps 1"), 600);
    assert_eq!(lines("--all --max-targets 5 --max-hsps 1"), 5);
}

#[test]
fn what_a_panel_can_not_be_is_an_error() {
    for (args, nouns) in [
        ("--format mtx", &["--format mtx", "-o"][..]),
        ("--format counts --part 1/2 -o x", &["--part", "--format counts"]),
        ("--format counts -o x.gz", &["--output", ".gz"]),
        ("-o x.mtx.gz", &["--output", ".gz"]),
        ("--format counts --eqx", &["--eqx"]),
        ("--format counts --sort", &["--sort"]),
        ("--all --max-hits 3", &["--all", "--max-hits"]),
        ("--format counts -R @RG\\tID:a", &["--read-group"]),
    ] {
        line_here(&format!("{args} data/16s_20.fa data/16s_20.fa")).said(2, nouns);
    }
    for command in ["pairs", "all"] {
        let files = if command == "all" { "data/16s_20.fa" } else { "data/16s_20.fa data/16s_20.fa" };
        line_here(&format!("{command} --format counts {files}")).said(2, &["--format counts"]);
        line_here(&format!("{command} -o x.mtx {files}")).said(2, &["--output", ".mtx"]);
    }
    #[cfg(unix)]
    line_here("--format mtx -o /dev/null data/16s_20.fa data/16s_20.fa").said(2, &["--format mtx", "-o"]);
}
