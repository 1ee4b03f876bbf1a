//! How often words occur.

use super::index::{Dictionary, LookedUp};
use super::sorted::NONE;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sums that threads share.
#[derive(Debug)]
pub struct Numbers {
    /// Of each distinct word, where it is the longest that begins at its place, or of all its occurrences.
    sums: Vec<AtomicU64>,
}

impl Numbers {
    pub fn of(dictionary: &Dictionary) -> Numbers {
        Numbers { sums: (0..dictionary.distinct()).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline(always)]
    pub(super) fn add(&self, word: u32, count: u64) {
        self.sums[word as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// How often each word occurs, in the order in which they were given.
    pub fn finish(self, dictionary: &Dictionary) -> Vec<u64> {
        let mut sums: Vec<u64> = self.sums.into_iter().map(AtomicU64::into_inner).collect();
        if let LookedUp::Beginnings(beginnings) = &dictionary.looked_up
            && !dictionary.rule.whole_words
        {
            // Where a word stands, those that it begins with stand too. They are before it.
            for word in (0..sums.len()).rev() {
                let shorter = beginnings.sorted.shorter(word as u32);
                if shorter != NONE {
                    sums[shorter as usize] += sums[word];
                }
            }
        }
        dictionary.of().iter().map(|&word| sums[word as usize]).collect()
    }
}
