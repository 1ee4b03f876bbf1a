//! All against all: each two sequences once, with the hits that the search of each against the whole file has.

mod common;

use common::command::run_here;
use common::folder::{Folder, folder};
use std::collections::BTreeSet;

const COLUMNS: [&str; 2] = ["--columns", "qseqid,sseqid,score,evalue,qstart,qend,sstart,send,cigar"];

fn rows(bytes: Vec<u8>) -> Vec<Vec<String>> {
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

/// Names of the records of a file of the repository, in order.
fn names(file: &str) -> Vec<String> {
    let text = common::text(file);
    let headers = text.lines().filter_map(|line| line.strip_prefix('>'));
    headers.map(|line| line.split_whitespace().next().unwrap_or_default().to_string()).collect()
}

#[test]
fn each_two_meet_once() {
    for (file, more) in [
        ("data/uniprot_60.fa", &["--device", "cpu"][..]),
        ("data/uniprot_60.fa", &["--mode", "global"]),
        ("data/16s_20.fa", &["--device", "cpu"]),
        ("data/16s_20.fa", &["--mode", "glocal", "--forward-only"]),
    ] {
        let names = names(file);
        let place = |name: &String| names.iter().position(|known| known == name).unwrap();
        let found = rows(run_here(&[&["all", "-q"], more, &COLUMNS, &[file]].concat()).done());
        // The search of each against all, without the hits that stand before it in the file.
        let whole = ["-q", "--format", "tab", "--max-targets", "1000"];
        let all = rows(run_here(&[&whole, more, &COLUMNS, &[file, file]].concat()).done());
        let expected: Vec<Vec<String>> =
            all.into_iter().filter(|row| place(&row[0]) < place(&row[1])).collect();
        assert!(found == expected, "{file} {more:?}: {} and {}", found.len(), expected.len());
        let pairs: BTreeSet<(usize, usize)> =
            found.iter().map(|row| (place(&row[0]), place(&row[1]))).collect();
        assert_eq!(pairs.len(), found.len(), "one hit of each two");
        if more.contains(&"global") {
            assert_eq!(pairs.len(), names.len() * (names.len() - 1) / 2);
        }
        assert!(found.len() > 20, "{file}: {}", found.len());
    }
}

#[test]
fn however_it_is_computed_the_bytes_are_the_same() {
    let folder = Folder::new();
    folder.copy_data("uniprot_60.fa", "p.fa");
    for name in ["tsv", "json", "txt", "sam", "paf"] {
        let output = |ways: &[&str]| {
            let args = ["all", "-q", "--device", "cpu", "--evalue", "1", "-o"];
            let file = format!("x.{name}");
            folder.run(&[&args[..], &[&file], ways, &["p.fa"]].concat()).done();
            folder
                .text(&file)
                .lines()
                .filter(|line| !line.starts_with("@PG"))
                .map(str::to_string)
                .collect::<Vec<_>>()
        };
        let whole = output(&[]);
        for ways in [&["-t", "1"][..], &["--batch", "7"]] {
            assert!(output(ways) == whole, "{name}: {ways:?}");
        }
        let mut parts = Vec::new();
        for share in ["1/3", "2/3", "3/3"] {
            let part = format!("{}.{name}", &share[..1]);
            folder
                .run(&["all", "-q", "--device", "cpu", "--evalue", "1", "--part", share, "-o", &part, "p.fa"])
                .done();
            parts.push(part);
        }
        let joined = format!("joined.{name}");
        let mut merge = vec!["merge", "-q", &joined];
        merge.extend(parts.iter().map(String::as_str));
        folder.run(&merge).done();
        let joined: Vec<String> = folder
            .text(&joined)
            .lines()
            .filter(|line| !line.starts_with("@PG"))
            .map(str::to_string)
            .collect();
        assert!(joined == whole, "{name}: parts");
    }
}

#[test]
fn what_can_not_be_is_refused() {
    let folder =
        folder(&[("one.fa", b">a\nACGTACGTACGTACGTACGTACGT\n"), ("twice.fa", b">a\nACGT\n>a\nACGT\n")]);
    assert_eq!(folder.run(&["all", "-q", "one.fa"]).done(), b"");
    folder.run(&["all", "twice.fa"]).said(1, &["the same name"]);
    folder.run(&["all", "-"]).said(2, &["read twice"]);
    folder.run(&["all", "one.fa", "twice.fa"]).said(2, &[]);
    folder.run(&["all", "--filter", "index", "one.fa"]).said(2, &["--filter"]);
}
