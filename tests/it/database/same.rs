//! Runs with FASTA compared with runs with its database.

use super::*;
use crate::common::{command::Outcome, random::Random};
use swalign::terms::alphabet::Alphabet;

/// Runs `args`, which end in ref.fa, with the FASTA file and with the database.
fn both(folder: &Folder, args: &[&str]) -> [Outcome; 2] {
    ["ref.fa", "ref.fa.swdb"].map(|reference| {
        let args = [&["-q"], args, &[reference]].concat();
        folder.run(&args)
    })
}

/// Compares the output of both runs, without @PG.
#[track_caller]
fn same(folder: &Folder, args: &[&str]) {
    let [fasta, database] = both(folder, args);
    assert!(!fasta.stdout.is_empty());
    assert!(fasta.without_pg() == database.without_pg(), "{args:?}");
}

/// The output must not depend on the filter and the batch size.
const WAYS: [&[&str]; 4] = [
    &["--device", "cpu"],
    &["--device", "cpu", "--filter", "index", "--batch", "70", "-t", "3"],
    &["--device", "cpu", "--filter", "scan"],
    &["--device", "cpu", "--filter", "none", "--batch", "100"],
];

#[test]
fn dna_on_both_strands() {
    let folder = indexed(&["illumina_chr22.fq.gz", "chr22_12k.fa"]);
    for way in WAYS {
        same(&folder, &[way, &["--max-hits", "3", "illumina_chr22.fq.gz"]].concat());
    }
    same(&folder, &["--device", "plain", "--part", "2/3", "-o", "-", "illumina_chr22.fq.gz"]);
}

#[test]
fn many_references() {
    let folder = indexed(&["amplicon_16s.fq.gz", "16s_20.fa"]);
    for more in
        [&["--format", "paf"][..], &["--format", "json", "--max-hits", "9"], &["--eqx", "--evalue", "1e-5"]]
    {
        same(&folder, &[more, &["--device", "cpu", "amplicon_16s.fq.gz"]].concat());
    }
}

#[test]
fn proteins_with_their_titles() {
    let folder = indexed(&["proteins_20.fa", "uniprot_60.fa"]);
    let columns = "qseqid sseqid stitle salltitles slen pident evalue bitscore";
    for more in
        [&["--columns", columns][..], &["--format", "text"], &["--format", "json"], &["--format", "sam"]]
    {
        let table = ["--device", "cpu", "--format", "tab"];
        let table = if more[0] == "--format" { &table[..2] } else { &table };
        same(&folder, &[table, more, &["proteins_20.fa"]].concat());
    }
}

#[test]
fn circles() {
    let folder = indexed(&["mt_orang.fa", "mt_human.fa"]);
    let args =
        ["--device", "cpu", "--preset", "long", "--circular", "all", "--filter", "index", "mt_orang.fa"];
    same(&folder, &args);
}

#[test]
fn mates_and_sorted_files() {
    let folder = indexed(&["mates_1.fq.gz", "mates_2.fq.gz", "sars2.fa"]);
    let mates = ["--device", "cpu", "mates_1.fq.gz", "mates_2.fq.gz"];
    same(&folder, &mates);
    let [fasta, database] = both(&folder, &[&["--sort"], &mates[..]].concat()).map(Outcome::done);
    assert!(bam::records(&fasta) == bam::records(&database));
}

#[test]
fn parts_of_the_references() {
    let folder = indexed(&["amplicon_16s.fq.gz", "16s_20.fa"]);
    let run = ["-q", "--device", "cpu"];
    let expected = folder.run(&[&run, &["amplicon_16s.fq.gz", "ref.fa"][..]].concat()).without_pg();
    for number in ["1", "2", "3"] {
        let (part, output) = (format!("{number}/3"), format!("{number}.sam"));
        let part = ["--ref-part", &part, "-o", &output, "amplicon_16s.fq.gz", "ref.fa.swdb"];
        folder.done(&[&run[..], &part].concat());
    }
    let merged = folder.run(&["merge", "-q", "-", "1.sam", "2.sam", "3.sam"]);
    assert!(merged.without_pg() == expected);
}

#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn on_a_gpu() {
    let gpu = crate::common::devices::gpu_device();
    for files in [["illumina_chr22.fq.gz", "chr22_12k.fa"], ["proteins_20.fa", "uniprot_60.fa"]] {
        let folder = indexed(&files);
        for filter in ["none", "index"] {
            let [_, database] = both(&folder, &["--device", &gpu, "--filter", filter, files[0]]);
            let [fasta, _] = both(&folder, &["--device", "cpu", files[0]]);
            assert!(fasta.without_pg() == database.without_pg(), "{files:?}, {filter}");
        }
    }
}

/// With this number of short targets, a device scores all of them at once.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn many_short_references_on_a_gpu() {
    let gpu = crate::common::devices::gpu_device();
    let mut random = Random::new(3);
    let mut fasta = String::new();
    for number in 0..1100 {
        let len = 20 + random.below(60);
        fasta += &format!(">p{number} protein\n{}\n", random.text(Alphabet::Protein, len));
    }
    let queries: String = fasta.lines().take(12).map(|line| format!("{line}\n")).collect();
    let folder = folder(&[("q.fa", queries.as_bytes()), ("ref.fa", fasta.as_bytes())]);
    folder.done(&["index", "-q", "ref.fa"]);
    let args = ["--format", "tab", "--columns", "std,stitle", "q.fa"];
    let [fasta, _] = both(&folder, &[&["--device", "cpu"], &args[..]].concat());
    let [_, database] = both(&folder, &[&["--device", &gpu], &args[..]].concat());
    assert!(!fasta.stdout.is_empty() && fasta.text() == database.text());
}
