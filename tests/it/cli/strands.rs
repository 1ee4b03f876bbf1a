//! `--strand minus`: the output is that of the reverse complement of each query, on the other strand.

use super::*;
use swalign::terms::alphabet::reverse_complement;

/// The records of a run, independent of the strand of the query.
type Placed = Vec<(String, u32, Vec<String>)>;

/// References with repeats, reads of both strands with errors, some of them chimeras of two pieces, and the reverse
/// complements of the reads.
fn files(seed: u64) -> Folder {
    let mut random = Random::new(seed);
    let mut references: Vec<Vec<u8>> =
        [3000, 700, 700].iter().map(|&len| random.sequence(Alphabet::Dna, len)).collect();
    let copy = references[0][500..800].to_vec();
    references[1][100..400].copy_from_slice(&copy);
    references[2][200..500].copy_from_slice(&reverse_complement(&copy));
    let mut files = [String::new(), String::new(), String::new()];
    for (number, reference) in references.iter().enumerate() {
        write!(files[0], ">ref{number}\n{}\n", reference.escape_ascii()).unwrap();
    }
    for number in 0..60 {
        let mut piece = |len: usize| {
            let reference = &references[random.below(3)];
            let start = random.below(reference.len() - len);
            let percent = random.pick(&[0, 0, 2, 5]);
            let piece = random.mutated(Alphabet::Dna, &reference[start..start + len], percent);
            if random.below(2) == 0 { reverse_complement(&piece) } else { piece }
        };
        let read = match number % 4 {
            0 => [piece(70), piece(80)].concat(),
            1 => piece(40),
            _ => piece(150),
        };
        write!(files[1], ">r{number}\n{}\n", read.escape_ascii()).unwrap();
        write!(files[2], ">r{number}\n{}\n", reverse_complement(&read).escape_ascii()).unwrap();
    }
    folder(&[
        ("ref.fa", files[0].as_bytes()),
        ("reads.fa", files[1].as_bytes()),
        ("turned.fa", files[2].as_bytes()),
    ])
}

/// Name, flags without the strand, and the fields that do not depend on the orientation of the read.
fn placed(outcome: &[u8], strand: u32) -> Placed {
    let sam = sam::Sam::parse(std::str::from_utf8(outcome).unwrap());
    let of_record = |record: &sam::Record| {
        let (flag, fields) = (record.flag(), &record.fields);
        let is_aligned = flag & 4 == 0;
        assert!(!is_aligned || flag & 16 == strand, "{fields:?}");
        let mut kept: Vec<String> = fields[2..9].to_vec();
        if is_aligned {
            // SA names the strands of the other records of a split read.
            kept.extend(fields[9..].iter().filter(|field| !field.starts_with("SA:")).cloned());
        }
        (record.name().to_string(), flag & !16, kept)
    };
    let mut all: Vec<_> = sam.records.iter().map(of_record).collect();
    all.sort();
    all
}

#[test]
fn minus_is_the_reverse_complement_alone() {
    let (mut aligned, mut split, mut uncertain) = (0, 0, 0);
    for seed in 0..2 {
        let folder = files(seed);
        for more in [
            &["--device", "plain", "--filter", "none"][..],
            &["--device", "cpu", "--filter", "none"],
            &["--device", "cpu", "--filter", "index"],
            &["--device", "cpu", "--filter", "scan", "--no-dedup"],
            &["--device", "cpu", "--max-hits", "5", "--secondary-ratio", "0.3"],
            &["--device", "cpu", "--preset", "long"],
            &["--device", "cpu", "--preset", "short", "--circular", "all"],
            &["--device", "cpu", "--mask", "hard"],
            &["--device", "cpu", "--mode", "glocal"],
            &["--device", "cpu", "--min-score", "40", "--min-identity", "97"],
            &["--device", "cpu", "--evalue", "1e-9"],
        ] {
            let run = |strand: &str, reads: &str| {
                folder.done(&[&["--strand", strand], more, &[reads, "ref.fa"][..]].concat())
            };
            let minus = placed(&run("minus", "reads.fa"), 16);
            assert_eq!(minus, placed(&run("plus", "turned.fa"), 0), "seed {seed}, {more:?}");
            aligned += minus.iter().filter(|(_, flag, _)| flag & 0x904 == 0).count();
            split += minus.iter().filter(|(_, flag, _)| flag & 0x800 != 0).count();
            uncertain += minus.iter().filter(|(_, flag, kept)| flag & 0x904 == 0 && kept[2] == "0").count();
        }
    }
    assert!(aligned > 400 && split > 10 && uncertain > 20, "{aligned} aligned, {split} split, {uncertain}");
}

#[test]
fn minus_is_what_both_find_on_that_strand() {
    let folder = files(7);
    let run = |strand: &str| {
        let args = ["--format", "tab", "--columns", "qseqid,sseqid,sstrand,score,qstart,qend,sstart,send"];
        let more = ["--max-targets", "9", "--max-hsps", "9", "--strand", strand, "reads.fa", "ref.fa"];
        String::from_utf8(folder.done(&[&args[..], &more].concat())).unwrap()
    };
    let both = run("both");
    let of_minus: BTreeSet<&str> = both.lines().filter(|line| line.contains("\tminus\t")).collect();
    let minus = run("minus");
    assert_eq!(minus.lines().collect::<BTreeSet<_>>(), of_minus);
    assert!(of_minus.len() > 20, "{} hits", of_minus.len());
}

#[test]
fn parts_join_on_minus() {
    let folder = files(3);
    for part in ["--part", "--ref-part"] {
        let run =
            |more: &[&str]| folder.done(&[&["--strand", "minus"], more, &["reads.fa", "ref.fa"]].concat());
        run(&["-o", "whole.sam"]);
        run(&[part, "1/2", "-o", "1.sam"]);
        run(&[part, "2/2", "-o", "2.sam"]);
        folder.done(&["merge", "joined.sam", "1.sam", "2.sam"]);
        assert_eq!(folder.text("joined.sam"), folder.text("whole.sam"), "{part}");
    }
}

#[test]
fn pairs_and_all_on_minus() {
    let folder = files(5);
    let minus = placed(&folder.done(&["pairs", "--strand", "minus", "reads.fa", "turned.fa"]), 16);
    let plus = placed(&folder.done(&["pairs", "turned.fa", "turned.fa"]), 0);
    assert_eq!(minus, plus);
    // A matrix has the scores of the reverse complements.
    let scores = |args: &[&str]| String::from_utf8(folder.done(args)).unwrap();
    let matrix = scores(&["all", "--format", "matrix", "--strand", "minus", "ref.fa"]);
    let rows: Vec<Vec<&str>> = matrix.lines().map(|line| line.split('\t').collect()).collect();
    let columns = ["--format", "tab", "--columns", "qseqid,sseqid,score", "--max-hsps", "1"];
    let list = scores(&[&["all", "--strand", "minus"], &columns[..], &["ref.fa"]].concat());
    let pair = |one: usize, other: usize| format!("ref{}\tref{}\t{}", one - 1, other - 1, rows[one][other]);
    let listed: Vec<&str> = list.lines().collect();
    assert!(listed.contains(&&*pair(1, 3)) || listed.contains(&&*pair(3, 1)), "{list}{matrix}");
    assert!(rows[1][3].parse::<i32>().unwrap() >= 300, "{matrix}");
}

#[test]
fn searches_of_minus() {
    let mut random = Random::new(11);
    let text = random.text(Alphabet::Dna, 20_000);
    let mut patterns = String::new();
    for number in 0..20 {
        let start = random.below(19_000);
        let pattern = &text[start..start + 20];
        let turned = String::from_utf8(reverse_complement(pattern.as_bytes())).unwrap();
        let pattern = if number % 2 == 0 { pattern } else { &turned };
        writeln!(patterns, ">p{number}\n{pattern}").unwrap();
    }
    let folder = folder(&[("t.fa", format!(">t\n{text}\n").as_bytes()), ("p.fa", patterns.as_bytes())]);
    for (more, least) in [
        (&["-k", "0"][..], 10),
        (&["-k", "3"], 10),
        (&["-k", "4", "--no-indels", "--all"], 10),
        (&["-k", "9", "--pam", "NGG"], 5),
        (&["-k", "4", "--pam", "NG", "--no-indels"], 2),
        (&["-k", "4", "--pam", "NR", "--pam-side", "5"], 2),
        (&["-k", "2", "--circular", "all"], 10),
    ] {
        for device in ["plain", "cpu"] {
            let run = |strand: &str| {
                let args = ["search", "--device", device, "--strand", strand];
                String::from_utf8(folder.done(&[&args[..], more, &["-f", "p.fa", "t.fa"]].concat())).unwrap()
            };
            let both = run("both");
            let of_minus: Vec<&str> =
                both.lines().filter(|line| line.split('\t').nth(4) != Some("+")).collect();
            assert!(of_minus.len() > least, "{more:?}: {} lines", of_minus.len());
            assert_eq!(run("minus").lines().collect::<Vec<_>>(), of_minus, "{device}, {more:?}");
        }
    }
}

#[test]
fn minus_where_there_is_none() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fa", REFERENCE), ("p.fa", b">p\nMKVLAWRTWEMKVLAWRTWE\n")]);
    folder.run(&["dedup", "--strand", "minus", "q.fa"]).said(2, &["--strand minus", "--strand both"]);
    folder
        .run(&["--strand", "minus", "q.fa", "q.fa", "ref.fa"])
        .said(2, &["mates", "both strands", "--strand"]);
    folder.run(&["--strand", "minus", "p.fa", "p.fa"]).said(2, &["--strand minus", "protein", "--strand"]);
    let protein = ["--strand", "minus", "--alphabet", "protein", "p.fa", "p.fa"];
    folder.run(&protein).said(2, &["--strand minus", "needs DNA"]);
    let amplicons = ["search", "--strand", "minus", "--amplicons", "-f", "q.fa", "ref.fa"];
    folder.run(&amplicons).said(2, &["--strand minus", "both strands"]);
}
