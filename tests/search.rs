//! Scans against their specification, and hits against their definition.

mod common;

use common::{fasta, random::Random, text};
use rayon::prelude::*;
use swalign::engine::cpu::simd::InstructionSet;
use swalign::search::pattern::Pattern;
use swalign::search::plain::Plain;
use swalign::search::sliced::Sliced;
use swalign::search::{End, NOTHING, OTHER, Rule, Scan};

/// Lengths at the seams of words, of groups of addends and of vectors.
const LENGTHS: [usize; 17] = [1, 2, 3, 6, 7, 8, 14, 15, 31, 32, 33, 63, 64, 65, 127, 128, 129];

fn classes(letters: &[u8]) -> Vec<u8> {
    Pattern::new("p".to_string(), letters).expect("IUPAC codes").classes()
}

fn genome() -> Vec<u8> {
    let letters = fasta(&text("data/sars2.fa")).into_values().next().expect("a genome");
    letters
        .iter()
        .map(|letter| b"ACGT".iter().position(|base| base == letter).map_or(OTHER, |code| code as u8))
        .collect()
}

/// Patterns of a length: cut out of the text and changed, random, IUPAC codes, a repeat, N.
fn patterns(random: &mut Random, text: &[u8], len: usize) -> Vec<Vec<u8>> {
    let mut patterns = Vec::new();
    for changes in 0..4 {
        let begin = random.below(text.len().saturating_sub(len).max(1));
        let mut letters: Vec<u8> =
            (0..len).map(|k| b"ACGTNN"[usize::from(*text.get(begin + k).unwrap_or(&0)).min(4)]).collect();
        for _ in 0..changes {
            let at = random.below(letters.len().max(1));
            match random.below(3) {
                0 if !letters.is_empty() => letters[at] = random.pick(b"ACGTRYSWKMBDHVN"),
                1 if !letters.is_empty() => drop(letters.remove(at)),
                _ => letters.insert(at, random.pick(b"ACGT")),
            }
        }
        letters.resize(len, b'A');
        patterns.push(classes(&letters));
    }
    let letters: Vec<u8> = (0..len).map(|_| random.pick(b"ACGT")).collect();
    patterns.push(classes(&letters));
    let letters: Vec<u8> = (0..len).map(|_| random.pick(b"ACGTRYSWKMBDHVN")).collect();
    patterns.push(classes(&letters));
    patterns.push(classes(&vec![b'A'; len]));
    patterns.push(classes(&vec![b'N'; len]));
    patterns
}

#[track_caller]
fn same(found: &[End], expected: &[End], what: &str) {
    if found != expected {
        let place = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
        panic!(
            "{what}: {} ends, expected {}; at {place}: {:?}, expected {:?}",
            found.len(),
            expected.len(),
            found.get(place),
            expected.get(place)
        );
    }
}

/// Holds all instruction sets and some chunk lengths against the specification.
#[track_caller]
fn check(text: &[u8], patterns: &[Vec<u8>], chunks: &[Option<usize>], what: &str) {
    let longest = patterns.iter().map(Vec::len).max().unwrap_or(0) as u32;
    for max_edits in [0, 1, 2, 3, 4, longest] {
        for indels in [true, false] {
            let rule = Rule { max_edits, indels };
            let expected = Plain.scan(text, patterns, &rule);
            for set in InstructionSet::available() {
                for &chunk in chunks {
                    let scan = match chunk {
                        Some(chunk) => Sliced::with_chunks(set, chunk),
                        None => Sliced::on(set),
                    };
                    let what = format!("{what}, {rule:?}, {set}, chunks {chunk:?}");
                    same(&scan.scan(text, patterns, &rule), &expected, &what);
                    // Tiles are used again.
                    same(&scan.scan(text, patterns, &rule), &expected, &format!("again: {what}"));
                }
            }
        }
    }
}

#[test]
fn random_texts_at_all_seams() {
    LENGTHS.par_iter().for_each(|&len| {
        let mut random = Random::new(len as u64);
        for letters in [2, 4] {
            let mut text = random.codes(900, letters);
            for _ in 0..20 {
                let at = random.below(text.len());
                text[at] = random.pick(&[OTHER, NOTHING]);
            }
            let patterns = patterns(&mut random, &text, len);
            check(
                &text,
                &patterns,
                &[None, Some(1), Some(40), Some(64)],
                &format!("m={len} of {letters} letters"),
            );
        }
    });
}

#[test]
fn a_genome() {
    let text = &genome()[..6000];
    let mut random = Random::new(5);
    for len in [1, 8, 20, 33, 129] {
        let patterns = patterns(&mut random, text, len);
        check(text, &patterns, &[None, Some(7)], &format!("m={len}"));
    }
}

#[test]
fn long_patterns() {
    let text = &genome()[..3000];
    let mut random = Random::new(7);
    let patterns: Vec<Vec<u8>> =
        [1024, 1500].iter().flat_map(|&len| patterns(&mut random, text, len).into_iter().take(3)).collect();
    for max_edits in [0, 3, 40] {
        let rule = Rule { max_edits, indels: true };
        let expected = Plain.scan(text, &patterns, &rule);
        for set in InstructionSet::available() {
            same(&Sliced::on(set).scan(text, &patterns, &rule), &expected, &format!("{rule:?}, {set}"));
        }
    }
}

#[test]
fn patterns_of_many_lengths_at_once() {
    let text = &genome()[..2000];
    let mut random = Random::new(9);
    let patterns: Vec<Vec<u8>> =
        (1..40).flat_map(|len| patterns(&mut random, text, len).into_iter().take(2)).collect();
    check(text, &patterns, &[None, Some(33)], "1 to 39 letters");
}

#[test]
fn short_and_empty_texts() {
    let mut random = Random::new(11);
    for len in [0, 1, 2, 3, 5, 63, 64, 65] {
        let text = random.codes(len, 4);
        let patterns: Vec<Vec<u8>> =
            [1, 2, 3, 4, 10, 70].iter().flat_map(|&len| patterns(&mut random, &text, len)).collect();
        check(&text, &patterns, &[None, Some(1), Some(3)], &format!("n={len}"));
    }
}

#[test]
fn a_text_of_nothing_but_hits() {
    let text = vec![0; 3000];
    check(&text, &[classes(b"AAAAAAAAAA"), classes(b"N"), classes(b"AAACAAA")], &[None, Some(11)], "all A");
    let text = vec![OTHER; 300];
    check(&text, &[classes(b"NNNN"), classes(b"VVVV"), classes(b"ANNA")], &[None], "all N");
}
