//! Arguments that the user did not mean: reads given as references, too many files, a sequence instead of a file. Some
//! are errors, some cause a warning, and similar valid arguments cause neither.

use super::*;

/// Converts FASTA to FASTQ.
fn fastq(records: &[u8]) -> Vec<u8> {
    let record = |(name, letters): (String, Vec<u8>)| {
        let letters = String::from_utf8(letters).unwrap();
        format!("@{name}\n{letters}\n+\n{}\n", "I".repeat(letters.len())).into_bytes()
    };
    fasta(std::str::from_utf8(records).unwrap()).into_iter().flat_map(record).collect()
}

#[test]
fn reads_in_the_place_of_the_references() {
    let reads = fastq(QUERY);
    // The format depends on the content, not on the file name.
    for (name, bytes) in [("reads.fq", &reads), ("reads.fa", &reads), ("reads.fq.gz", &gzip(&reads))] {
        let files = [("ref.fa", REFERENCE), (name, &bytes[..])];
        let swapped = format!("`swalign {name} ref.fa`");
        refused(&files, &["ref.fa", name], 2, &[&swapped, "REFERENCE", "--reads-as-reference"]);
        let outcome = accepted(&files, &["--reads-as-reference", "ref.fa", name]);
        assert_eq!(outcome.sam().records.len(), 2);
        assert!(outcome.sam().header.iter().any(|line| line.starts_with("@SQ\tSN:r1\t")));
        // With `pairs`, reads as references are valid.
        accepted(&files, &["pairs", name, "ref.fa"]);
        accepted(&files, &["pairs", "ref.fa", name]);
    }
    refused(&[("q", &reads), ("r", &gzip(REFERENCE))], &["r", "q"], 2, &["`swalign q r`"]);
}

#[test]
fn reads_from_stdin_in_the_place_of_the_references() {
    let folder = folder(&[("q.fa", QUERY), ("ref.fq", &fastq(REFERENCE))]);
    let with_stdin = |args: &[&str]| {
        let mut command = command(folder.path());
        command.args(["--device", "cpu", "--min-score", "10"]).args(args).write_stdin(fastq(REFERENCE));
        finish(&mut command)
    };
    let outcome = with_stdin(&["q.fa", "-"]);
    outcome.said(2, &["`swalign - q.fa`"]);
    assert!(outcome.stdout.is_empty());
    let of_file = accepted(&[("q.fa", QUERY), ("ref.fa", REFERENCE)], &["q.fa", "ref.fa"]);
    assert_eq!(with_stdin(&["--reads-as-reference", "q.fa", "-"]).without_pg(), of_file.without_pg());
}

#[test]
fn two_files_of_reads() {
    let reads = fastq(QUERY);
    let says = ["REFERENCE", "`swalign r1.fq ref.fa`", "`swalign r1.fq r2.fq ref.fa`", "cat r1.fq r2.fq"];
    refused(&[("r1.fq", &reads), ("r2.fq", &reads)], &["r1.fq", "r2.fq"], 2, &says);
}

#[test]
fn four_files() {
    let says = ["'ref.fa'", "cat r1.fq.gz r2.fq.gz | swalign - ref.fa"];
    refused(&[], &["r1.fq", "r2.fq", "r3.fq", "ref.fa"], 2, &says);
    // The command that the message suggests works.
    let (one, two) = QUERY.split_at(QUERY.iter().rposition(|&letter| letter == b'>').unwrap());
    let together = [gzip(&fastq(one)), gzip(&fastq(two))].concat();
    let folder = folder(&[("ref.fa", REFERENCE)]);
    let mut command = command(folder.path());
    command.args(["--device", "cpu", "--min-score", "10", "-", "ref.fa"]).write_stdin(together);
    assert_eq!(finish(&mut command).sam().records.len(), 2);
}

/// Records of random sequences.
fn random(alphabet: Alphabet, count: usize, len: usize) -> Vec<u8> {
    let mut random = Random::new((count + len) as u64);
    let mut record = |number: usize| {
        [format!(">s{number}\n").into_bytes(), random.sequence(alphabet, len), b"\n".to_vec()].concat()
    };
    (0..count).flat_map(&mut record).collect()
}

#[test]
fn fasta_that_looks_swapped_is_warned_of() {
    let dna = |count, len| random(Alphabet::Dna, count, len);
    let proteins = |count, len| random(Alphabet::Protein, count, len);
    for (what, query, reference, warned) in [
        ("a genome against reads", dna(1, 800), dna(1000, 40), true),
        ("few chromosomes against reads", dna(10, 800), dna(1000, 40), true),
        ("reads against a genome", dna(1000, 40), dna(1, 800), false),
        ("a gene against many of its length", dna(1, 60), dna(1000, 60), false),
        ("a gene against many shorter ones", dna(1, 780), dna(1000, 40), false),
        ("a genome against few genes", dna(1, 800), dna(999, 40), false),
        ("many contigs against primers", dna(11, 800), dna(1000, 40), false),
        ("reads as FASTQ", fastq(&dna(1, 800)), dna(1000, 40), false),
        ("a long protein against a database", proteins(1, 800), proteins(1000, 40), false),
    ] {
        let files = [("q.fa", &query[..]), ("ref.fa", &reference[..])];
        let stderr = |args: &[&str]| accepted(&files, args).stderr;
        let said = stderr(&["q.fa", "ref.fa"]);
        let warning = said.lines().find(|line| line.contains("warning") && line.contains("REFERENCE"));
        assert_eq!(warning.is_some(), warned, "{what}: {said}");
        if let Some(warning) = warning {
            let nouns = ["`swalign ref.fa q.fa`", "1000 sequences", "40 bases", "--reads-as-reference"];
            assert!(nouns.iter().all(|noun| warning.contains(noun)), "{warning}");
            assert!(!stderr(&["--reads-as-reference", "q.fa", "ref.fa"]).contains("warning"));
        }
    }
}

#[test]
fn a_sequence_in_the_place_of_a_file() {
    let files = [("ref.fa", REFERENCE)];
    let says = ["GATTACA: ", "FASTA", "`swalign search GATTACA ref.fa`"];
    refused(&files, &["GATTACA", "ref.fa"], 1, &says);
    refused(&files, &["ref.fa", "GATTACA"], 1, &says);
    refused(&files, &["pairs", "GATTACA", "ref.fa"], 1, &says);
    refused(&files, &["MKVLAAGITR", "ref.fa"], 1, &["MKVLAAGITR: ", "FASTA"]);
    // A sequence that is longer than any file name.
    refused(&files, &[&"acgt".repeat(2000), "ref.fa"], 1, &["acgt...: ", "FASTA"]);
    for file in ["GATT", "reads.fa", "no/GATTACA"] {
        let outcome = run(folder(&files).path(), &[file, "ref.fa"]);
        assert!(outcome.code == Some(1) && !outcome.stderr.contains("swalign search"), "{}", outcome.stderr);
    }
    let outcome = accepted(&[("ref.fa", REFERENCE), ("GATTACA", QUERY)], &["GATTACA", "ref.fa"]);
    assert_eq!(outcome.sam().records.len(), 2, "a file may be called so");
}
