//! Counts how often words occur.

use super::index::{Dictionary, LookedUp};
use super::sorted::NONE;
use crate::terms::casts::to_u32;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters shared by threads.
#[derive(Debug)]
pub struct SharedCounters {
    /// One counter per distinct word. With `whole_words` it counts all occurrences; otherwise only the positions at
    /// which the word is the longest match of its table, until [`SharedCounters::finish`] adds the rest.
    sums: Vec<AtomicU64>,
}

impl SharedCounters {
    pub fn of(dictionary: &Dictionary) -> SharedCounters {
        SharedCounters::of_words(dictionary.distinct())
    }

    pub fn of_words(words: usize) -> SharedCounters {
        SharedCounters { sums: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline(always)]
    pub fn add(&self, word: u32, count: u64) {
        self.sums[word as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// Number of occurrences of each word, in the order in which the words were given.
    pub fn finish(&self, dictionary: &Dictionary) -> Vec<u64> {
        let mut sums = self.sums();
        if let LookedUp::Beginnings(beginnings) = &dictionary.looked_up
            && !dictionary.rule.whole_words
        {
            // An occurrence of a word is also an occurrence of its prefixes, which sort before it.
            for word in (0..sums.len()).rev() {
                let shorter = beginnings.sorted.shorter(to_u32(word));
                if shorter != NONE {
                    sums[shorter as usize] += sums[word];
                }
            }
        }
        dictionary.of().iter().map(|&word| sums[word as usize]).collect()
    }

    /// Values of the counters.
    pub fn sums(&self) -> Vec<u64> {
        self.sums.iter().map(|sum| sum.load(Ordering::Relaxed)).collect()
    }
}
