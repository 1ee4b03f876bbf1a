//! Tests modes other than local through the command: records are consistent, the output does not depend on the device,
//! the threads, the batches or the parts, and unsupported options are errors.

use crate::common::cases;
use crate::common::command::line_here;
use crate::common::folder::{Folder, folder};
use crate::common::random::Random;
use crate::common::sam::{self, Sam};
use std::collections::BTreeMap;
use std::fmt::Write;
use swalign::terms::alphabet::Alphabet;

const MODES: [&str; 3] = ["glocal", "global", "overlap"];
const DNA: &str = "data/amplicon_16s.fq.gz data/16s_20.fa";
const PROTEINS: &str = "data/proteins_20.fa data/uniprot_60.fa";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Returns the operations of a CIGAR with their lengths.
fn runs(cigar: &str) -> Vec<(i64, char)> {
    let mut runs = Vec::new();
    let mut number = 0;
    for letter in cigar.chars() {
        match letter.to_digit(10) {
            Some(digit) => number = 10 * number + i64::from(digit),
            None => runs.push((std::mem::take(&mut number), letter)),
        }
    }
    runs
}

/// SAM omits deletions at the ends of a path. AS includes them, NM does not.
#[test]
fn records_of_sam_agree_with_themselves() {
    for mode in MODES {
        let args = format!("--device cpu -q --mode {mode} --eqx --max-hits 4 --secondary-ratio 0 q.fa t.fa");
        let folder = folder(&[
            ("q.fa", b">a\nACGTACGTTGCA\n>b\nGGGTTTCCCAAATTT\n>c\nAAAA\n>none\n\n>d\nTTGCAAGG\n"),
            ("t.fa", b">x\nTTTACGTACGTTGCATTTT\n>y\nGGGTTTCCAAATTTACGACTG\n>z\nCC\n"),
        ]);
        let sam: Sam = folder.line(&args).sam();
        let lengths = BTreeMap::from([("x", 19), ("y", 21), ("z", 2)]);
        let mut seen = 0;
        for record in &sam.records {
            if record.name() == "none" {
                assert_eq!(record.flag() & 4, 4, "a query without letters has no alignment");
                continue;
            }
            assert_eq!(record.flag() & 4, 0, "{mode}: {record:?}");
            let runs = runs(record.cigar());
            assert!(
                runs.first().is_some_and(|run| run.1 != 'D') && runs.last().is_some_and(|run| run.1 != 'D')
            );
            let count = |letters: &str| {
                runs.iter().filter(|run| letters.contains(run.1)).map(|run| run.0).sum::<i64>()
            };
            let gap = |len: i64| if len > 0 { 6 + len } else { 0 };
            let gaps: i64 = runs.iter().filter(|run| "ID".contains(run.1)).map(|run| gap(run.0)).sum();
            let mut score = count("=") - 4 * count("X") - gaps;
            if mode == "global" {
                let before = record.position() as i64 - 1;
                let behind = lengths[record.target()] - before - count("=XD");
                // Without an aligned base, the whole target is one gap.
                let all_gap = count("=X") == 0;
                score -= if all_gap { gap(lengths[record.target()]) } else { gap(before) + gap(behind) };
            }
            assert_eq!(record.score(), score, "{mode}: {record:?}");
            let edits = count("XID").to_string();
            assert_eq!(record.tag("NM"), Some(&*edits), "{mode}: {record:?}");
            assert!(mode == "overlap" || count("S") == 0, "{mode}: {record:?}");
            seen += 1;
        }
        assert!(seen >= 4 * 3, "{mode}: {seen}");
    }
}

#[test]
fn however_it_is_computed_the_bytes_are_the_same() {
    for mode in MODES {
        for (format, data) in
            [("sam", DNA), ("paf", PROTEINS), ("tab", DNA), ("json", PROTEINS), ("text", DNA)]
        {
            let bytes = |ways: &str| {
                let args = format!("-q --mode {mode} --format {format} --max-hits 3 {ways} {data}");
                line_here(&args).without_pg()
            };
            let expected = bytes("--device cpu");
            for ways in ["-t 1", "--batch 7 -t 3"] {
                assert!(bytes(ways) == expected, "{mode} {format}: {ways}");
            }
        }
    }
    let pairs = |device: &str| {
        let files = "tests/golden/ssw.q.fa tests/golden/ssw.t.fa";
        text(line_here(&format!("pairs -q --mode global --format tab --device {device} {files}")).done())
    };
    assert_eq!(pairs("plain"), pairs("cpu"));
    assert_eq!(pairs("cpu:baseline"), pairs("cpu"));
}

/// A listed reference keeps its further hits, even if hits of other references score more.
#[test]
fn limits_of_identity_leave_further_hits_of_a_reference() {
    let files =
        [("q.fa", &b">q\nACGTTT\n"[..]), ("t.fa", b">t1\nACGTTT\n>t2\nACGTAACC\n>t3\nGGGGGGGGGGGGGGG\n")];
    let folder = folder(&files);
    let columns = "-q --mode global q.fa t.fa --format tab --columns sseqid,score,strand --max-hsps 2";
    for (targets, expected) in
        [("1", "t1\t6\t+\nt1\t-12\t-\n"), ("2", "t1\t6\t+\nt1\t-12\t-\nt2\t-12\t+\nt2\t-14\t-\n")]
    {
        for limit in ["", "--min-identity 0.1"] {
            let listed = folder.line(&format!("{columns} --max-targets {targets} {limit}"));
            assert_eq!(listed.text(), expected, "{targets}, {limit}");
        }
    }
}

/// Returns the records of a FASTA file in data/ by name.
fn records(file: &str) -> BTreeMap<String, String> {
    let fasta = std::fs::read_to_string(crate::common::repository().join(file)).unwrap();
    let record = |record: &str| {
        let (line, letters) = record.split_once('\n').unwrap();
        (line.split_whitespace().next().unwrap().to_string(), letters.replace('\n', ""))
    };
    fasta.split('>').skip(1).map(record).collect()
}

/// Compares scores with EMBOSS needle. End gaps cost as much as other gaps in global mode, and nothing in overlap mode.
#[test]
fn scores_are_needles() {
    let golden =
        std::fs::read_to_string(crate::common::repository().join("tests/golden/needle.tsv")).unwrap();
    let rows: Vec<Vec<&str>> =
        golden.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    let mut compared = 0;
    for (file, scores) in [
        ("data/16s_20.fa", "--match 5 --mismatch 4 --forward-only"),
        ("data/proteins_20.fa", "--alphabet protein --matrix BLOSUM62"),
    ] {
        let records = records(file);
        for mode in ["global", "overlap"] {
            let own = |row: &&Vec<&str>| row[0] == mode && records.contains_key(row[1]);
            let rows: Vec<&Vec<&str>> = rows.iter().filter(own).collect();
            let fasta = |column: usize| {
                let record =
                    |(number, row): (usize, &&Vec<&str>)| format!(">{number}\n{}\n", records[row[column]]);
                rows.iter().enumerate().map(record).collect::<String>().into_bytes()
            };
            let folder = folder(&[("q.fa", &fasta(1)), ("t.fa", &fasta(2))]);
            let args = format!("pairs -q --device cpu --mode {mode} --gap-open 9 --gap-extend 1 {scores}");
            let ours = text(folder.line(&format!("{args} --format tab --columns score q.fa t.fa")).done());
            let expected: Vec<&str> = rows.iter().map(|row| row[3]).collect();
            assert_eq!(ours.lines().collect::<Vec<_>>(), expected, "{file}, {mode}");
            compared += rows.len();
        }
    }
    assert_eq!(compared, 150);
}

/// Tests lanes of all widths, also next to a query with bases.
#[test]
fn a_query_without_letters_has_no_alignment() {
    let folder = folder(&[("q.fa", b">none\n>q\nCCAAC\n"), ("t.fa", b">t\nCCAACGC\n")]);
    for mode in MODES {
        for gap in ["6", "300", "65536", "1000000"] {
            let on = |device: &str| {
                let args = format!("-q --mode {mode} --gap-open {gap} --device {device} q.fa t.fa");
                text(folder.line(&args).done())
            };
            let lines = on("cpu");
            assert_eq!(lines, on("plain"), "{mode}, {gap}");
            let none = lines.lines().find(|line| line.starts_with("none\t")).unwrap();
            assert!(none.starts_with("none\t4\t*\t0\t0\t*\t"), "{mode}, {gap}: {none}");
        }
    }
}

/// SAM and PAF have the same mapping qualities, since deletions at the ends do not extend an alignment. Merged parts of
/// the references have the same qualities.
#[test]
fn mapping_qualities_of_parts_of_the_references_join() {
    let folder = folder(&[
        ("q.fa", b">q\nACGGTACGTTAC\n>r\nTTTTTACGGTACGTTACGTCC\n>s\nGATTACAGATTACCAGAT\n"),
        ("t.fa", b">t\nACGGTACGTTACGGGGGGGGG\n>u\nGACGGTACGTTACG\n>v\nACGGTTACGTTTAC\n>w\nCCGATTACAGATTACCAGATCCC\n"),
    ]);
    let (mut with_end_gaps, mut above_zero) = (0, 0);
    for mode in MODES {
        let args = format!("-q --device cpu --mode {mode} --preset linear --match 9 q.fa t.fa");
        let mut qualities = Vec::new();
        for format in ["sam", "paf"] {
            let whole = format!("whole.{format}");
            folder.line(&format!("{args} -o {whole}")).ended(0);
            let whole = folder.text(&whole);
            assert_eq!(text(folder.merged(&args, "--ref-part", 2, format)), whole, "{mode}");
            let records = whole.lines().filter(|line| !line.starts_with('@'));
            let column = if format == "sam" { 4 } else { 11 };
            let quality = |line: &str| line.split('\t').nth(column).unwrap().to_string();
            qualities.push(records.map(quality).collect::<Vec<_>>());
            let ends_in_a_gap = |line: &&str| format == "paf" && line.ends_with('D');
            with_end_gaps += whole.lines().filter(ends_in_a_gap).count();
        }
        assert_eq!(qualities[0], qualities[1], "{mode}");
        above_zero += qualities[0].iter().filter(|quality| *quality != "0").count();
    }
    assert!(with_end_gaps > 0 && above_zero > 0, "{with_end_gaps} {above_zero}");
}

/// Text, table and JSON show the same identity under every definition, in lists and for pairs.
#[test]
fn identities_are_the_same_in_all_lists() {
    let folder = folder(&[
        ("q.fa", b">q\nACGGTACGTTAC\n>r\nTTTTTACGGTACGTTACGTCC\n"),
        ("t.fa", b">t\nACGGTACGTTACGGGGGGGGG\n>u\nGACGGTACGTAACG\n"),
    ]);
    let mut with_end_gaps = 0;
    for (mode, command) in MODES.into_iter().flat_map(|mode| [(mode, "pairs"), (mode, "")]) {
        for definition in ["0", "1", "2", "3", "4"] {
            let list = |format: &str| {
                let args = format!("-q --device cpu --mode {mode} --iddef {definition} --format {format}");
                text(folder.line(&format!("{command} {args} q.fa t.fa")).done())
            };
            let table = list("tab --columns pident,nident,length");
            let rows: Vec<Vec<f64>> = table
                .lines()
                .map(|line| line.split('\t').map(|number| number.parse().unwrap()).collect())
                .collect();
            assert!(rows.len() >= 2, "{table}");
            let shown = list("text");
            let lines: Vec<&str> =
                shown.lines().filter_map(|line| line.strip_prefix("Identities ")).collect();
            let json = list("json");
            let in_json: Vec<f64> = json
                .split("\"identity\": ")
                .skip(1)
                .map(|rest| rest.split([',', '}']).next().unwrap().parse().unwrap())
                .collect();
            assert_eq!((lines.len(), in_json.len()), (rows.len(), rows.len()), "{shown}");
            for ((row, line), of_json) in rows.iter().zip(lines).zip(in_json) {
                assert_eq!(row[0], of_json, "{mode} {definition}");
                let (fraction, percent) = line.split_once(" (").unwrap();
                let (equal, of) = fraction.split_once('/').unwrap();
                let exact = 100.0 * equal.parse::<f64>().unwrap() / of.parse::<f64>().unwrap();
                assert!((exact - row[0]).abs() < 0.0006, "{mode} {definition}: {line}, {}", row[0]);
                assert!(percent.starts_with(&format!("{exact:.1} %")), "{line}");
                with_end_gaps +=
                    usize::from(mode == "global" && (exact - 100.0 * row[1] / row[2]).abs() > 1.0);
            }
        }
    }
    assert!(with_end_gaps > 0);
}

/// Joins parts of the queries, and parts of the references.
#[test]
fn parts_join_to_the_whole() {
    let folder = Folder::new();
    folder.copy_data("amplicon_16s.fq.gz", "q.fq.gz");
    folder.copy_data("16s_20.fa", "t.fa");
    for mode in MODES {
        for (kind, name) in [("--part", "sam"), ("--part", "tsv"), ("--ref-part", "sam")] {
            let args = format!("-q --mode {mode} --max-hits 3 q.fq.gz t.fa");
            folder.line(&format!("{args} -o whole.{name}")).ended(0);
            let whole = folder.text(&format!("whole.{name}"));
            let joined = text(folder.merged(&args, kind, 3, name));
            assert!(sam::without_pg(&joined) == sam::without_pg(&whole), "{mode} {kind} {name}");
        }
    }
}

/// A pair has an alignment whatever its score, unless a minimum score is set.
#[test]
fn pairs_report_every_pair() {
    let folder = folder(&[("q.fa", b">a\nAAAA\n>b\nACGT\n"), ("t.fa", b">x\nCCCC\n>y\nACGT\n")]);
    let args = "pairs -q --mode global --format tab --columns qseqid,score,evalue,bitscore,cigar q.fa t.fa";
    assert_eq!(folder.line(args).text(), "a\t-16\tNA\tNA\t4X\nb\t4\tNA\tNA\t4=\n");
    assert_eq!(folder.line(&format!("{args} --min-score -15")).text(), "b\t4\tNA\tNA\t4=\n");
    let json = text(folder.line("pairs -q --mode glocal --format json q.fa t.fa").done());
    assert!(json.contains("\"evalue\": null") && json.contains("\"score\": -10"), "{json}");
}

#[test]
fn the_nearest_gene_by_identity() {
    // Like `vsearch --usearch_global` with all hits of the best identity.
    let args = "-q --mode glocal --rank identity --max-targets 1 --ties --format tab";
    let table = text(line_here(&format!("{args} --columns qseqid,pident,qcovs {DNA}")).done());
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() >= 40 && rows.iter().all(|row| row[2] == "100"), "{table}");
    for two in rows.windows(2).filter(|two| two[0][0] == two[1][0]) {
        assert_eq!(two[0][1], two[1][1], "a tie");
    }
}

/// Hits ranked or limited by identity are the same as in the list of all hits, although paths that cannot be listed are
/// not traced.
#[test]
fn ranks_by_identity_are_those_of_all_hits() {
    let columns = "-q --format tab --columns qseqid,sseqid,nident,length,gaps,score,cigar";
    let rows = |args: &str| -> Vec<Vec<String>> {
        let table = text(line_here(&format!("{columns} {args}")).done());
        table.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
    };
    let number = |row: &[String], at: usize| row[at].parse::<u64>().unwrap();
    // Identity over all columns, as in --iddef 1.
    let shares = |one: &[String], other: &[String]| {
        (number(one, 2) * number(other, 3)).cmp(&(number(other, 2) * number(one, 3)))
    };
    let mut seen = 0;
    for (data, scores) in [(DNA, "--preset blastn"), (PROTEINS, "")] {
        let of_mode = format!("--mode glocal --iddef 1 {scores} {data}");
        let all = rows(&format!("--max-targets 1000 {of_mode}"));
        for (places, least) in [(3, 0), (1000, 90), (2, 60)] {
            let limits = format!("--rank identity --ties --max-targets {places} --min-identity {least}");
            let found = rows(&format!("{limits} {of_mode}"));
            let mut expected = Vec::new();
            for hits in all.chunk_by(|one, other| one[0] == other[0]) {
                let mut hits: Vec<_> = hits
                    .iter()
                    .filter(|row| 100 * number(row, 2) >= least * number(row, 3))
                    .cloned()
                    .collect();
                hits.sort_by(|one, other| shares(other, one));
                let last = hits.get(places - 1).cloned();
                let ties = |row: &Vec<String>| last.as_ref().is_some_and(|last| shares(row, last).is_eq());
                expected.extend(
                    hits.iter()
                        .enumerate()
                        .filter(|(at, row)| *at < places || ties(row))
                        .map(|(_, row)| row.clone()),
                );
            }
            assert!(
                found == expected,
                "{scores}, {places} places, {least} %: {} and {}",
                found.len(),
                expected.len()
            );
            seen += found.len();
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn what_a_mode_lacks_is_refused() {
    let folder = folder(&[("q.fa", b">a\nACGT\n"), ("t.fa", b">x\nACGT\n")]);
    for (more, says) in [
        ("--evalue 1", "E-values"),
        ("--rank evalue --format tab", "E-values"),
        ("--split", "reads"),
        ("--circular all", "--circular"),
        ("--filter index", "--filter"),
        ("--interleaved", "mates"),
    ] {
        folder.line(&format!("--mode glocal {more} q.fa t.fa")).said(2, &[says, "--mode glocal"]);
    }
    folder.line("--min-score 0 q.fa t.fa").said(2, &["--min-score", "1 or more"]);
    folder.line("--mode semi q.fa t.fa").said(2, &["local, glocal, global, overlap"]);
    // The cost of a gap as long as the sequences could overflow.
    folder.write("q.fa", format!(">a\n{}\n", "A".repeat(600)));
    let outcome = folder.line("--mode global --gap-extend 1000000 q.fa t.fa");
    outcome.said(1, &["overflow", "q.fa, record 1 'a'", "600 against 4 residues"]);
}

/// A long reference is swept in stretches. In some of them a query has a score that narrow vectors hold, in others it has
/// not: each stretch gets its score.
#[test]
fn stretches_without_a_good_score_are_scored_too() {
    let mut random = Random::new(9);
    let reference = random.sequence(Alphabet::Dna, 20_000);
    let mut reads = String::new();
    for number in 0..cases(100, 300) {
        let len = random.pick(&[60, 150, 400, 1000]);
        let start = random.below(reference.len() - len);
        let percent = random.pick(&[0, 1, 2, 5]);
        let read = random.mutated(Alphabet::Dna, &reference[start..start + len], percent);
        writeln!(reads, ">r{number}\n{}", read.escape_ascii()).unwrap();
    }
    let reference = format!(">chr\n{}\n", reference.escape_ascii());
    let folder = folder(&[("reads.fa", reads.as_bytes()), ("ref.fa", reference.as_bytes())]);
    let run = |device: &str, filter: &str| {
        let args = format!("-q --device {device} --filter {filter} --mode glocal reads.fa ref.fa");
        sam::records(folder.line(&args).text())
    };
    assert_eq!(run("cpu", "none"), run("cpu:baseline", "auto"));
}
