//! Runs sassy on the work of `cargo bench --bench search`, and prints the number of ends and the time with one thread:
//! `RUSTFLAGS="-C target-cpu=native" cargo run --release [at-once]`.
//!
//! With `at-once`, many patterns are also searched in one call (version 0.3.0 panics there, "Trace failed"). Text and
//! patterns are those of the benchmark, from the same seed. The ends are the same if the sums are equal.

use sassy::{Searcher, profiles::Dna};
use std::time::Instant;

const CALLS: usize = 3;

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

fn mix(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    fn letters(&mut self, len: usize) -> Vec<u8> {
        let mut next = || {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(self.0)
        };
        (0..len).map(|_| b"ACGT"[(next() & 3) as usize]).collect()
    }
}

/// All ends, by one call for each pattern, or by one call for all patterns.
fn ends(text: &[u8], patterns: &[Vec<u8>], k: usize, at_once: bool) -> Vec<(u64, u64, u64)> {
    let mut searcher = Searcher::<Dna>::new_fwd().without_trace();
    if at_once {
        let encoded = searcher.encode_patterns(patterns);
        let found = searcher.search_all_encoded_patterns(&encoded, text, k);
        return found
            .iter()
            .map(|hit| (hit.pattern_idx as u64, hit.text_end as u64, hit.cost as u64))
            .collect();
    }
    let mut all = Vec::new();
    for (place, pattern) in patterns.iter().enumerate() {
        let found = searcher.search_all(pattern, &text, k);
        all.extend(found.iter().map(|hit| (place as u64, hit.text_end as u64, hit.cost as u64)));
    }
    all
}

fn main() {
    let asked = std::env::args().any(|argument| argument == "at-once");
    println!("{:24}{:>10}{:>12}{:>10}{:>10}  sum", "work", "calls", "ends", "seconds", "Gbp/s");
    for (letters, count, len, k) in
        [(100_000_000, 1, 20, 1), (100_000_000, 1, 20, 2), (100_000_000, 1, 20, 3), (10_000_000, 2000, 20, 3)]
    {
        let mut random = Random(1);
        let text = random.letters(letters);
        let patterns: Vec<Vec<u8>> = (0..count).map(|_| random.letters(len)).collect();
        for at_once in if count > 1 && asked { vec![false, true] } else { vec![false] } {
            let (mut best, mut found) = (f64::INFINITY, Vec::new());
            for _ in 0..if count > 1 { 1 } else { CALLS } {
                let begun = Instant::now();
                found = ends(&text, &patterns, k, at_once);
                best = best.min(begun.elapsed().as_secs_f64());
            }
            let sum = found.iter().fold(0u64, |sum, &(pattern, end, edits)| {
                sum.wrapping_add(mix(pattern << 40 | end << 8 | edits))
            });
            let giga = (letters * count) as f64 / 1e9;
            let work = format!("{count} m={len} k={k}");
            let calls = if at_once { "one" } else { "each" };
            println!("{work:24}{calls:>10}{:12}{best:10.4}{:10.2}  {sum:016x}", found.len(), giga / best);
        }
    }
}
