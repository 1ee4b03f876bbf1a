//! Patterns and texts for scans, and the comparison of ends.

use super::random::Random;
use super::{fasta, text};
use swalign::patterns::search::pattern::SearchPattern;
use swalign::patterns::search::{OTHER, PatternEnd};

/// Pattern lengths at the boundary sizes of words, of groups of addends and of vectors.
pub const LENGTHS: [usize; 17] = [1, 2, 3, 6, 7, 8, 14, 15, 31, 32, 33, 63, 64, 65, 127, 128, 129];

pub fn classes(letters: &[u8]) -> Vec<u8> {
    SearchPattern::new("p".to_string(), letters).expect("IUPAC codes").classes()
}

pub fn genome() -> Vec<u8> {
    let letters = fasta(&text("data/sars2.fa")).into_values().next().expect("a genome");
    letters
        .iter()
        .map(|letter| b"ACGT".iter().position(|base| base == letter).map_or(OTHER, |code| code as u8))
        .collect()
}

/// Patterns of length `len`: mutated parts of the text, random bases, random IUPAC codes, a repeat, and N.
pub fn patterns(random: &mut Random, text: &[u8], len: usize) -> Vec<Vec<u8>> {
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
pub fn same(found: &[PatternEnd], expected: &[PatternEnd], what: &str) {
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
