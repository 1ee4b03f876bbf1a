//! Tests of the scanned range, and of the output for texts in several batches.

use super::*;
use crate::patterns::search::batch::FIRST_LETTERS;
use crate::patterns::search::plan::LEAST_LETTERS;
use crate::terms::alignment::Strands;
use crate::terms::options::{Circular, DeviceChoice, HitChoice, PatternSource, SearchColumn};
use std::fs;

struct Silence;

impl Reporter for Silence {
    fn note(&self, _: &str) {}
    fn detail(&self, _: &str) {}
    fn progress(&self, _: u64) {}
}

/// A text that contains the pattern only at the given positions.
fn text(len: usize, hits: &[usize]) -> Vec<u8> {
    let mut text = vec![b'T'; len];
    hits.iter().for_each(|&at| text[at..at + 4].copy_from_slice(b"GCGC"));
    text
}

fn run(texts: &[Vec<u8>], first: bool, invert: bool) -> (SearchSummary, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut fasta = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        fasta.extend_from_slice(format!(">t{number}\n").as_bytes());
        fasta.extend_from_slice(text);
        fasta.push(b'\n');
    }
    fs::write(path("t.fa"), fasta).unwrap();
    let options = SearchOptions {
        patterns: PatternSource::Letters("GCGC".to_string()),
        texts: vec![path("t.fa")],
        circular: Circular::default(),
        output: Some(path("out")),
        hits: HitChoice { strands: Strands::Plus, first: first || invert, ..HitChoice::default() },
        removes_gaps: false,
        amplicons: None,
        invert,
        format: SearchFormat::Tab,
        columns: SearchColumn::STANDARD.to_vec(),
        as_pattern: false,
        summary: None,
        page: Default::default(),
        part: None,
        resume: false,
        full_names: false,
        device: DeviceChoice::Cpu(None),
        threads: 1,
        command_line: String::new(),
        verbosity: 0,
    };
    let summary = search(&options, &Silence).unwrap();
    (summary, fs::read_to_string(path("out")).unwrap())
}

#[test]
fn little_is_scanned_behind_the_first_hit() {
    let len = LEAST_LETTERS + 5_000_000;
    let seams = [FIRST_LETTERS - 2, FIRST_LETTERS, 3 * FIRST_LETTERS - 1, 2_000_000, LEAST_LETTERS + 7];
    for at in [0, 100].into_iter().chain(seams) {
        let (all, _) = run(&[text(len, &[at, len - 4])], false, false);
        assert_eq!((all.scanned, all.hits), (len as u64, 2));
        let bound = FIRST_LETTERS + 2 * (at + 4);
        for invert in [false, true] {
            let (summary, out) = run(&[text(len, &[at, len - 4])], true, invert);
            assert!(summary.scanned as usize <= bound, "{at}: {} letters", summary.scanned);
            assert!(summary.scanned as usize >= at + 4);
            assert_eq!((summary.letters, summary.hits, summary.found), (len as u64, 1, 1), "{at}");
            let hit = format!("t0\t{at}\t{}\t", at + 4);
            assert!(invert && out == "text\n" || !invert && out.contains(&hit), "{at}: {out}");
        }
    }
}

#[test]
fn texts_beside_one_another() {
    let (most, hit) = (3 * FIRST_LETTERS, FIRST_LETTERS + 9);
    let texts =
        [text(50, &[3]), text(most, &[hit, hit + 50]), text(60, &[]), text(most, &[]), text(70, &[66])];
    let (summary, out) = run(&texts, true, false);
    assert_eq!((summary.texts, summary.hits, summary.found), (5, 3, 3));
    let starts: Vec<String> =
        out.lines().skip(1).map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(starts, ["t0 3".to_string(), format!("t1 {hit}"), "t4 66".to_string()]);
    assert_eq!(run(&texts, false, true).1, "text\nt2\nt3\n");
}
