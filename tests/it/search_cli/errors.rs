//! Tests errors and their messages.

use super::*;

const FILES: &[(&str, &[u8])] = &[("t.fa", TEXT), ("p.fa", PATTERNS)];

#[test]
fn usage() {
    refused(FILES, &[], 2, &["PATTERN"]);
    refused(FILES, &["ACGT"], 2, &["TEXT", "stdin"]);
    refused(FILES, &["-f", "p.fa"], 2, &["PATTERN"]);
    refused(FILES, &["", "t.fa"], 2, &["PATTERN", "empty"]);
    refused(FILES, &["p.fa", "t.fa"], 2, &["'p'", "IUPAC", "-f FILE"]);
    refused(FILES, &["ACXGT", "t.fa"], 2, &["'X'", "IUPAC"]);
    refused(FILES, &["-k", "-1", "ACGT", "t.fa"], 2, &["--max-edits", "0 or more"]);
    refused(FILES, &["-k", "1.5", "ACGT", "t.fa"], 2, &["--max-edits", "0 or more"]);
    refused(FILES, &["--revcomp", "maybe", "ACGT", "t.fa"], 2, &["--revcomp"]);
    refused(FILES, &["--format", "xml", "ACGT", "t.fa"], 2, &["--format", "bed"]);
    refused(FILES, &["-c", "--format", "bed", "ACGT", "t.fa"], 2, &["--count"]);
    refused(FILES, &["-v", "--format", "bed", "ACGT", "t.fa"], 2, &["--invert-match", "fasta"]);
    for flag in ["--all", "--best", "--first", "-c"] {
        refused(FILES, &["-v", flag, "ACGT", "t.fa"], 2, &["--invert-match"]);
    }
    for option in [["--columns", "std"], ["--orient", "pattern"]] {
        refused(FILES, &["-v", option[0], option[1], "ACGT", "t.fa"], 2, &[option[0], "--invert-match"]);
    }
    refused(FILES, &["--no-indels", "--max-insertions", "1", "ACGT", "t.fa"], 2, &["--max-insertions"]);
    refused(FILES, &["-k", "33", "--max-insertions", "1", "ACGT", "t.fa"], 2, &["at most 32"]);
    refused(FILES, &["--format", "sam", "ACGT", "-"], 2, &["--format sam", "stdin"]);
    refused(FILES, &["--name", "short", "ACGT", "t.fa"], 2, &["--name"]);
    refused(FILES, &["--name", "full", "--format", "sam", "ACGT", "t.fa"], 2, &["--name full"]);
    refused(FILES, &["--device", "tpu", "ACGT", "t.fa"], 2, &["--device", "cpu"]);
    refused(FILES, &["--device", "gpu:tpu", "ACGT", "t.fa"], 1, &["'tpu'", "swalign devices"]);
    refused(FILES, &["--device", "cpu:vax", "ACGT", "t.fa"], 1, &["'vax'", "it has"]);
    refused(FILES, &["-t", "0", "ACGT", "t.fa"], 2, &["--threads"]);
    refused(FILES, &["-f", "-", "-"], 2, &["stdin"]);
    refused(FILES, &["ACGT", "-", "-"], 2, &["stdin"]);
    let files = folder(FILES);
    for args in [["search", "-o", "t.fa", "ACGT", "t.fa"], ["search", "-fp.fa", "t.fa", "-o", "p.fa"]] {
        files.run(&args).said(2, &["--output", "overwrite", args[4]]);
    }
}

#[test]
fn files() {
    refused(FILES, &["ACGT", "nosuch.fa"], 1, &["nosuch.fa: "]);
    refused(FILES, &["ACGT", "t.fa", "nosuch.fa"], 1, &["nosuch.fa: "]);
    refused(FILES, &["-f", "nosuch.fa", "t.fa"], 1, &["nosuch.fa: "]);
    let texts = |bytes: &[u8], says: &[&str]| refused(&[("x.fa", bytes)], &["ACGT", "x.fa"], 1, says);
    texts(b"hello\n", &["x.fa", "FASTA"]);
    texts(b">a\nACGT\n>b\nACGT\nAC!T\n", &["x.fa, record 2 'b', line 3", "'!' at position 7", "replace it"]);
    texts(b">\nACGT\n", &["x.fa", "record 1", "no name"]);
    texts(b"@a\nACGT\n+\nIII\n", &["x.fa", "record 1", "differ"]);
    let patterns = |bytes: &[u8], says: &[&str]| {
        refused(&[("x.fa", bytes), ("t.fa", TEXT)], &["-fx.fa", "t.fa"], 1, says)
    };
    patterns(b">a\nACGT\n>b\n>c\nA\n", &["x.fa, record 2 'b', line 3", "is empty"]);
    patterns(b">a\nMKVLE\n", &["x.fa, record 1 'a'", "'L'"]);
    let packed = fs::read(data("illumina_chr22.fq.gz")).unwrap();
    refused(&[("x.gz", &packed[..packed.len() / 2])], &["ACGT", "x.gz"], 1, &["x.gz", "gzip", "truncated"]);
}

#[test]
fn names_that_sam_can_not_hold() {
    let texts = |bytes: &[u8], says: &[&str]| {
        refused(&[("x.fa", bytes)], &["ACGT", "x.fa", "--format", "sam"], 1, says);
    };
    texts(b">a\nACGT\n>a 2\nACGT\n", &["x.fa", "'a'", "--format"]);
    texts(b">a,b\nACGT\n", &["x.fa, record 1", "a,b"]);
    let patterns = b">a@b\nACGT\n";
    refused(
        &[("x.fa", patterns), ("t.fa", TEXT)],
        &["-fx.fa", "t.fa", "--format", "sam"],
        1,
        &["x.fa", "a@b"],
    );
}

#[test]
fn outputs() {
    let folder = folder(FILES);
    folder.run(&["search", "ACGT", "t.fa", "-o", "no/out"]).said(1, &["no/out", "directory"]);
}
