//! How many letters of words are looked up: the choice does not change the answer.
//!
//! Words of fewer than `letters` letters are keys of their own, in a table for each length. All others are keyed by their first
//! `letters` letters. Each table costs a look at its bits at every place. What passes costs about [`SLOW`] times as much.
//! Where several tables are seldom passed, a gate before all of them asks for the first letters of any word.

/// What a lookup costs whose bit is set, in looks at bits.
const SLOW: f64 = 12.0;
/// A key that is its letters has at most so many.
pub const EXACT: usize = 8;
/// A key that stands for letters has at most so many.
pub const MOST: usize = 16;
/// A gate is worth it where at most this share of places passes it.
const GATE: f64 = 0.4;
/// Bytes of words by which the letters are counted.
const COUNTED: usize = 1 << 16;

use super::words::Words;
use crate::terms::casts::to_i32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First letters by which words are keyed that have them; others are keys themselves.
    pub letters: usize,
    /// First letters that the gate asks for; without a gate `None`.
    pub gate: Option<usize>,
}

impl Layout {
    /// Of words that are not empty.
    pub fn of(words: &Words) -> Layout {
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
        Layout { letters, gate: (tables > 1 && passed < GATE).then_some(gate) }
    }
}

/// The cost of a place.
fn cost(lengths: &[usize; MOST + 1], letters: usize, kinds: f64) -> f64 {
    let table =
        |count: usize, letters| if count > 0 { 1.0 + SLOW * passed(count, letters, kinds) } else { 0.0 };
    let short: f64 = (1..letters).map(|length| table(lengths[length], length)).sum();
    short + table(lengths[letters..].iter().sum(), letters)
}

/// The share of places that pass a table, in a text with letters as those of the words.
fn passed(keys: usize, letters: usize, kinds: f64) -> f64 {
    (keys as f64 / kinds.powi(to_i32(letters))).min(1.0)
}

/// So many letters, equally frequent, would have the entropy of these.
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
