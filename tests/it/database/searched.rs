//! `swalign search` in a database: the output is the same as that of a search in the FASTA file that it was made from.

use super::*;
use crate::common::random::Random;
use swalign::terms::alphabet::Alphabet;

/// Random texts, some of them in lower case, and patterns taken from them.
fn texts() -> Folder {
    let mut random = Random::new(25);
    let (mut fasta, mut patterns) = (String::new(), String::new());
    for number in 0..40 {
        let len = 1 + random.below(3000);
        let mut text = random.text(Alphabet::Dna, len);
        text.truncate(len);
        if number % 3 == 0 {
            text = text.chars().map(|c| if "ACGT".contains(c) { c } else { 'A' }).collect();
        }
        if number % 5 == 1 && len > 40 {
            patterns += &format!(">p{number}\n{}\n", &text[10..30]);
        }
        let text = if number % 4 == 0 { text.to_lowercase() } else { text };
        fasta += &format!(">t{number} number\t{number}\n{text}\n");
    }
    let folder = folder(&[("ref.fa", fasta.as_bytes()), ("p.fa", patterns.as_bytes())]);
    folder.done(&["index", "-q", "ref.fa"]);
    folder
}

#[test]
fn in_every_format() {
    let folder = texts();
    for more in [
        &["--format", "tab"][..],
        &["--format", "bed", "--all"],
        &["--format", "sam"],
        &["--format", "fasta", "--name", "full"],
        &["--format", "text"],
        &["-c"],
        &["-v"],
        &["-v", "--format", "fasta"],
        &["--best", "--max-deletions", "0"],
        &["--first", "--no-indels"],
        &["--device", "plain"],
        &["--pam", "NG"],
        &["--pam", "TV", "--pam-side", "5", "--orient", "pattern", "--format", "fasta"],
    ] {
        let run = |text| folder.run(&[&["search", "-q", "-k", "3", "-f", "p.fa"], more, &[text]].concat());
        let (fasta, database) = (run("ref.fa"), run("ref.fa.swdb"));
        assert!(fasta.text().lines().count() > 1, "{more:?}");
        assert!(fasta.without_pg() == database.without_pg(), "{more:?}");
    }
}

#[test]
fn parts_are_joined_to_the_whole() {
    let folder = texts();
    for texts in [&["ref.fa.swdb"][..], &["ref.fa.swdb", "p.fa"], &["p.fa", "ref.fa.swdb"]] {
        let run = ["search", "-q", "-k", "3", "-f", "p.fa"];
        let expected = folder.run(&[&run, texts].concat()).done();
        let outputs = ["1.tsv", "2.tsv", "3.tsv"];
        for (part, output) in ["1/3", "2/3", "3/3"].into_iter().zip(outputs) {
            folder.done(&[&run, &["--part", part, "-o", output][..], texts].concat());
        }
        let merged = folder.run(&[&["merge", "-q", "-"][..], &outputs].concat()).done();
        assert!(merged == expected, "{texts:?}");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let folder = indexed(&["uniprot_60.fa"]);
    folder.run(&["search", "ACGT", "ref.fa.swdb"]).said(1, &["proteins", "DNA"]);
    let folder = small();
    folder.done(&["index", "-q", "--mask-lower-case", "-o", "masked", "ref.fa"]);
    folder.run(&["search", "ACGT", "masked"]).said(1, &["masked: ", "--mask-lower-case"]);
    let mut bytes = folder.read("ref.fa.swdb");
    let letters = bytes.windows(8).position(|codes| codes == [0, 1, 2, 3, 3, 2, 1, 0]).unwrap();
    bytes[letters] ^= 1;
    folder.write("damaged", bytes);
    folder.run(&["search", "ACGT", "damaged"]).said(1, &["damaged: ", "block", "`swalign index`"]);
}
