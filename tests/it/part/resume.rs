//! Tests receipts: no output is written without a receipt, and `--resume` keeps complete outputs.

use super::*;
use std::fs::File;

/// A run whose receipt cannot be written writes no output, and reports this before it computes.
#[test]
fn no_output_without_its_receipt() {
    let folder = reads();
    let path = |name: &str| folder.file(name);
    let long = "x".repeat(250);
    fs::create_dir(path("out.swalign")).unwrap();
    folder.write("foreign.swalign", ">r\nACGT\n");
    folder.write("out", "old");
    let before = folder.names();
    for (out, says) in [("out", "out.swalign: "), (&*long, "shorter name"), ("foreign", "foreign.swalign: ")]
    {
        let align = ["--device", "cpu", "-v", "-o", out, "q.fq", "ref.fa"];
        let search = ["search", "-o", out, "GATTACA", "q.fq"];
        for args in [
            [&["--part", "1/2"][..], &align].concat(),
            [&["--ref-part", "1/2"][..], &align].concat(),
            [&["--resume"][..], &align].concat(),
            [&search[..], &["--part", "1/2"]].concat(),
            [&search[..], &["--resume"]].concat(),
        ] {
            let outcome = folder.run(&args);
            outcome.said(1, &[says]);
            assert_eq!(outcome.stderr.lines().count(), 1, "{args:?}: {}", outcome.stderr);
            assert_eq!(folder.names(), before, "{args:?}");
        }
        assert_eq!(folder.text("out"), "old");
    }
    // Without a receipt, the long name is valid.
    folder.done(&["--device", "cpu", "-o", &long, "q.fq", "ref.fa"]);
}

/// `--resume` keeps an output only if the command would write the same.
#[test]
fn what_is_done_is_not_done_again() {
    let folder = reads();
    let path = |name: &str| folder.file(name);
    let resume = |more: &[&str]| {
        let args = [&["--device", "cpu", "--resume", "-o", "x.sam"], more, &["q.fq", "ref.fa"]].concat();
        let outcome = folder.run(&args);
        outcome.ended(0);
        !outcome.stderr.contains("queries")
    };
    assert!(!resume(&[]), "nothing is there");
    assert_eq!(folder.names().iter().filter(|name| name.starts_with('.')).count(), 0);
    let whole = folder.read("x.sam");
    assert!(resume(&[]) && resume(&["-t", "1", "--batch", "9"]), "the same records");
    assert!(!resume(&["--part", "1/2"]) && resume(&["--part", "1/2"]));
    assert!(!resume(&["--part", "2/2"]), "another part");
    assert!(!resume(&[]), "not the whole");
    assert!(!resume(&["--format", "bam"]) && !resume(&[]), "another format");
    assert!(!resume(&["--eqx"]) && !resume(&[]), "another command");
    folder.write("x.sam", &whole[..whole.len() - 1]);
    assert!(!resume(&[]), "a byte is missing");
    fs::remove_file(path("x.sam")).unwrap();
    assert!(!resume(&[]) && resume(&[]), "it was removed");
    let input = File::options().write(true).open(path("q.fq")).unwrap();
    input.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(!resume(&[]) && resume(&[]), "the input is another one");
    // A run without --resume removes the receipt.
    folder.done(&["--device", "cpu", "-o", "x.sam", "--eqx", "q.fq", "ref.fa"]);
    assert!(!path("x.sam.swalign").exists());
    assert!(!resume(&[]));
    assert!(folder.read("x.sam") == whole);
    let search = ["search", "--resume", "-o", "x.tab", "GATTACA", "q.fq"];
    let patterns = |outcome: crate::common::command::Outcome| outcome.stderr.contains("pattern");
    assert!(patterns(folder.run(&search)) && !patterns(folder.run(&search)));
    let outcome = folder.run(&["--resume", "q.fq", "ref.fa"]);
    outcome.said(2, &["--output"]);
}
