//! Tests FASTQ records with their qualities: hits, amplicons with and without primers, and texts without hits.

use super::*;
use std::collections::BTreeSet;

/// A pair of primers has sites on the forward strand of a and on the reverse strand of b. c has one of the sites.
const READS: &[u8] = b"@a first read\nTTACGTTGCATTGGGGGCCATGGATCCAAA\n+\nABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_\n\
    @b\nTTTGGATCCATGGCCCCCAATGCAACGTAA\n+\nABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_\n@c\nACGTTGCATT\n+\n0123456789\n";
const PRIMERS: &[u8] = b">p_LEFT\nACGTTGCATT\n>p_RIGHT\nGGATCCATGG\n";

/// Returns stdout of `swalign search ARGS` in a folder with r.fq and p.fa.
#[track_caller]
fn records(args: &str) -> String {
    let folder = folder(&[("r.fq", READS), ("p.fa", PRIMERS)]);
    folder.line(&format!("search -f p.fa r.fq {args}")).text().to_string()
}

#[test]
fn amplicons() {
    let tags = ["p_LEFT", "p_RIGHT"];
    let tags = |forward: usize| {
        let (forward, reverse) = (tags[forward], tags[1 - forward]);
        format!("pair=p forward={forward} forward_edits=0 reverse={reverse} reverse_edits=0")
    };
    let (own, turned) = (tags(0), tags(1));
    let letters = "ACGTTGCATTGGGGGCCATGGATCC";
    assert_eq!(
        records("--amplicons --format fastq"),
        format!(
            "@a:2-27(+) {own}\n{letters}\n+\nCDEFGHIJKLMNOPQRSTUVWXYZ[\n\
             @b:3-28(-) {turned}\n{letters}\n+\n][ZYXWVUTSRQPONMLKJIHGFED\n"
        )
    );
    assert_eq!(
        records("--amplicons --format fastq --trim-primers"),
        format!("@a:12-17(+) {own}\nGGGGG\n+\nMNOPQ\n@b:13-18(-) {turned}\nGGGGG\n+\nRQPON\n")
    );
    assert_eq!(
        records("--amplicons --format fasta --trim-primers"),
        format!(">a:12-17(+) {own}\nGGGGG\n>b:13-18(-) {turned}\nGGGGG\n")
    );
}

/// If the primers overlap, no base is between them.
#[test]
fn nothing_between_primers() {
    let args = "--amplicons any --trim-primers --format fastq --amplicon-size 1..9";
    let folder = folder(&[("r.fq", READS)]);
    let found = folder.line(&format!("search GGATCC r.fq {args}"));
    let records: Vec<&str> = found.text().lines().collect();
    assert_eq!(records.len(), 8);
    assert!(records[0].starts_with("@a:27-27(+)") && records[1..4] == ["", "+", ""], "{records:?}");
}

#[test]
fn hits_and_texts_without() {
    assert_eq!(
        records("--format fastq").split_inclusive('\n').skip(8).take(8).collect::<String>(),
        "@b:3-13(+) pattern=p_RIGHT edits=0 cigar=10=\nGGATCCATGG\n+\nDEFGHIJKLM\n\
         @b:18-28(-) pattern=p_LEFT edits=0 cigar=10=\nACGTTGCATT\n+\n][ZYXWVUTS\n"
    );
    let folder = folder(&[("r.fq", READS)]);
    let without = folder.line("search -v --format fastq GGATCC r.fq");
    assert_eq!(without.text(), "@c\nACGTTGCATT\n+\n0123456789\n");
    // The text has an inserted base and a replaced base. The record is in the orientation of the pattern.
    let edited = folder.line("search -k2 --orient pattern --format fastq TGCATTGGGGCCTTGG r.fq");
    let lines: Vec<&str> = edited.text().lines().collect();
    assert!(lines.len() >= 8, "{lines:?}");
    for record in lines.chunks(4) {
        assert_eq!((record[1].len(), record[2]), (record[3].len(), "+"), "{record:?}");
        assert!(record[1].contains(|letter: char| letter.is_ascii_lowercase()), "{record:?}");
    }
}

/// Returns a random read with copies of primers, and its qualities.
fn read(random: &mut Random, primers: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let mut letters = Vec::new();
    for _ in 0..random.below(12) {
        let len = random.below(50);
        letters.extend(random.sequence(Alphabet::Dna, len));
        let copy = random.below(primers.len());
        let copy = random.mutated(Alphabet::Dna, &primers[copy], 4);
        letters.extend(if random.below(2) == 0 { copy } else { reverse_complement(&copy) });
    }
    let qualities = letters.iter().map(|_| b'!' + random.below(94) as u8).collect();
    (letters, qualities)
}

/// Records are the stretches of reads that the table names. They do not depend on threads and parts.
#[test]
fn records_are_stretches_of_reads() {
    let mut random = Random::new(71);
    let primers: Vec<Vec<u8>> = (0..4).map(|_| random.sequence(Alphabet::Dna, 14)).collect();
    let mut patterns = String::new();
    for (name, letters) in ["a_F", "a_R", "b_F", "b_R"].iter().zip(&primers) {
        patterns += &format!(">{name}\n{}\n", String::from_utf8_lossy(letters));
    }
    let reads: Vec<_> = (0..60).map(|_| read(&mut random, &primers)).collect();
    let mut fastq = Vec::new();
    for (number, (letters, qualities)) in reads.iter().enumerate() {
        fastq.extend([format!("@{number} of 60\n").as_bytes(), letters, b"\n+\n", qualities, b"\n"].concat());
    }
    let folder = folder(&[("r.fq", &fastq), ("p.fa", patterns.as_bytes())]);
    let search = "search -k2 -f p.fa --amplicons r.fq";
    let table = folder.line(search).text().to_string();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 40, "{}", rows.len());
    for (trim, columns) in [("", [1, 2]), ("--trim-primers", [7, 10])] {
        let mut expected = Vec::new();
        for row in &rows {
            let (letters, qualities) = &reads[row[0].parse::<usize>().unwrap()];
            let [start, end] = columns.map(|column| row[column].parse::<usize>().unwrap());
            let places = start..end.max(start);
            let (mut letters, mut qualities) =
                (letters[places.clone()].to_vec(), qualities[places.clone()].to_vec());
            if row[5] == "-" {
                letters = reverse_complement(&letters);
                qualities.reverse();
            }
            let name = format!(
                "@{}:{start}-{}({}) pair={} forward={} forward_edits={} reverse={} reverse_edits={}\n",
                row[0], places.end, row[5], row[4], row[6], row[8], row[9], row[11]
            );
            expected.extend([name.as_bytes(), &letters, b"\n+\n", &qualities, b"\n"].concat());
        }
        let search = format!("{search} --format fastq {trim}");
        for threads in ["1", "3"] {
            assert!(folder.line(&format!("{search} -t {threads}")).done() == expected, "{trim} -t {threads}");
        }
        assert!(folder.merged(&search, "--part", 3, "fq") == expected, "{trim}");
        folder.line(&format!("{search} -o out.fq.gz")).ended(0);
        let mut unpacked = Vec::new();
        flate2::read::MultiGzDecoder::new(&*folder.read("out.fq.gz")).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == expected, "{trim}");
    }
    // The reads without an amplicon.
    let with: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    folder.line(&format!("{search} --format fastq --untrimmed-output rest.fq -o out")).ended(0);
    let rest = folder.text("rest.fq");
    let names: Vec<&str> = rest.lines().step_by(4).map(|line| &line[1..]).collect();
    let without: Vec<String> =
        (0..60).map(|read| read.to_string()).filter(|read| !with.contains(&**read)).collect();
    assert!(names == without && without.len() > 3, "{names:?} {without:?}");
    let (letters, qualities) = &reads[without[0].parse::<usize>().unwrap()];
    let lines: Vec<&[u8]> = rest.lines().skip(1).take(3).map(str::as_bytes).collect();
    assert_eq!(lines, [&letters[..], &b"+"[..], &qualities[..]]);
}

/// Amplicons across the origin have the qualities of both sides.
#[test]
fn circles() {
    let folder = folder(&[("p.fa", PRIMERS)]);
    let (letters, qualities) = ("TTACGTTGCATTGGGGGCCATGGATCCAAA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_");
    for turn in 0..letters.len() {
        let turned = |text: &str| format!("{}{}", &text[turn..], &text[..turn]);
        folder.write("r.fq", format!("@a\n{}\n+\n{}\n", turned(letters), turned(qualities)));
        let args = "search -f p.fa --amplicons --circular all --format fastq r.fq";
        let found = |more: &str| folder.line(&format!("{args} {more}")).text().to_string();
        let whole = found("");
        let lines: Vec<&str> = whole.lines().collect();
        assert_eq!(lines[1..], ["ACGTTGCATTGGGGGCCATGGATCC", "+", "CDEFGHIJKLMNOPQRSTUVWXYZ["], "{turn}");
        let inner = found("--trim-primers");
        let lines: Vec<&str> = inner.lines().collect();
        let start = (12 + 30 - turn) % 30;
        assert!(lines[0].starts_with(&format!("@a:{start}-{}(+)", start + 5)), "{turn} {}", lines[0]);
        assert_eq!(lines[1..], ["GGGGG", "+", "MNOPQ"], "{turn}");
    }
}

#[test]
fn texts_without_qualities() {
    let fasta: &[u8] = b">a\nTTACGTTGCATTGGGGGCCATGGATCCAAA\n";
    let says = ["t.fa, record 1 'a', line 1", "no qualities", "FASTQ", "--format fasta"];
    let folder = folder(&[("p.fa", PRIMERS), ("r.fq", READS), ("t.fa", fasta)]);
    // In the second search, only the second file has no qualities.
    for texts in ["t.fa", "r.fq t.fa"] {
        folder.line_refused(&format!("search -o out -f p.fa --amplicons --format fastq {texts}"), 1, &says);
    }
    folder.line("index t.fa -o t.swdb").ended(0);
    let outcome = folder.line("search -f p.fa --amplicons --format fastq t.swdb -o out");
    outcome.said(1, &["t.swdb: ", "no qualities", "--format fasta"]);
}

#[test]
fn usage() {
    let folder = folder(&[("p.fa", PRIMERS), ("r.fq", READS)]);
    for (args, says) in [
        ("--amplicons --trim-primers", ["--trim-primers", "fasta", "fastq"]),
        ("--amplicons --untrimmed-output rest", ["--untrimmed-output", "fasta", "fastq"]),
        ("--trim-primers --format fasta", ["--amplicons", "", ""]),
        ("--amplicons --format fastq --untrimmed-output r.fq", ["--untrimmed-output", "overwrite", "r.fq"]),
        ("--amplicons --format fastq --untrimmed-output out", ["--untrimmed-output", "overwrite out", ""]),
        (
            "--amplicons --format fastq --untrimmed-output rest --part 1/2",
            ["--untrimmed-output", "--part", ""],
        ),
        ("--part 1/2 -o out.gz", ["--output", "without .gz", ""]),
    ] {
        let output = if args.contains("-o ") { "" } else { "-o out" };
        folder.line_refused(&format!("search {output} -f p.fa r.fq {args}"), 2, &says);
    }
}
