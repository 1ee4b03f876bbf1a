//! Chooses the number of bytes in a key. The choice affects speed, never the answer.
//!
//! Each word of fewer than `letters` bytes is a key of its own, in a table for its length. All other words are keyed by
//! their first `letters` bytes. Each table costs one bit test at every position, and a lookup whose bit is set costs
//! about [`SLOW`] bit tests. If positions seldom pass the tables, a gate before all of them tests whether any word
//! begins with the first bytes of the position.

/// Cost of a lookup whose bit is set, in bit tests.
const SLOW: f64 = 12.0;
/// Maximum length of a key that is stored as its bytes.
pub const EXACT: usize = 8;
/// Maximum length of a hashed key.
pub const MOST: usize = 16;
/// A gate pays if at most this share of positions passes it.
const GATE: f64 = 0.4;
/// Number of bytes sampled to estimate the entropy of the words.
const COUNTED: usize = 1 << 16;

use super::words::GivenWords;
use crate::terms::casts::to_i32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DictionaryLayout {
    /// Key length of all words that have at least this many bytes; shorter words are keys themselves.
    pub letters: usize,
    /// Number of bytes that the gate tests; `None` without a gate.
    pub gate: Option<usize>,
}

impl DictionaryLayout {
    /// Chooses the layout for the words; the empty word is ignored.
    pub fn of(words: &GivenWords) -> DictionaryLayout {
        let mut lengths = [0usize; MOST + 1];
        words.iter().for_each(|word| lengths[word.len().min(MOST)] += 1);
        let shortest = lengths.iter().skip(1).position(|&count| count > 0).map_or(1, |place| place + 1);
        let kinds = kinds_of_letters(words.bytes());
        let choices = (1..=EXACT).chain((shortest > EXACT).then_some(shortest));
        let cost = |letters| cost(&lengths, letters, kinds);
        let letters = choices.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1);
        let tables = (1..letters).filter(|&length| lengths[length] > 0).count() + 1;
        let gate = shortest.min(EXACT);
        let passed = passed(words.len(), gate, kinds);
        DictionaryLayout { letters, gate: (tables > 1 && passed < GATE).then_some(gate) }
    }
}

/// Expected cost of a position, in bit tests.
fn cost(lengths: &[usize; MOST + 1], letters: usize, kinds: f64) -> f64 {
    let table =
        |count: usize, letters| if count > 0 { 1.0 + SLOW * passed(count, letters, kinds) } else { 0.0 };
    let short: f64 = (1..letters).map(|length| table(lengths[length], length)).sum();
    short + table(lengths[letters..].iter().sum(), letters)
}

/// Share of positions that pass a table if the text has the byte distribution of the words.
fn passed(keys: usize, letters: usize, kinds: f64) -> f64 {
    (keys as f64 / kinds.powi(to_i32(letters))).min(1.0)
}

/// Size of the alphabet of equally frequent bytes with the same entropy as these bytes.
fn kinds_of_letters(bytes: &[u8]) -> f64 {
    let step = bytes.len().div_ceil(COUNTED).max(1);
    let mut counts = [0u32; 256];
    bytes.iter().step_by(step).for_each(|&byte| counts[usize::from(byte)] += 1);
    let all = f64::from(counts.iter().sum::<u32>().max(1));
    let share = |count: &u32| f64::from(*count) / all;
    let entropy: f64 =
        counts.iter().filter(|&&count| count > 0).map(|count| -share(count) * share(count).log2()).sum();
    entropy.exp2().max(1.5)
}
