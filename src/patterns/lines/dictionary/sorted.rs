//! Distinct words in byte order, each with a link to its longest proper prefix among the words.
//!
//! One search finds all words that are prefixes of a text. Let `w` be the last word with `w <= text`. A word `u` that
//! is a prefix of the text has `u <= text`, so `u <= w <= text`. Every string between `u` and a text that begins with
//! `u` also begins with `u`, so `w` does. Therefore all such words are `w` and prefixes of `w`, as far as the text
//! agrees with them.

use super::words::GivenWords;
use crate::terms::casts::to_u32;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// Index that stands for no word.
pub const NONE: u32 = u32::MAX;
/// Words that a thread copies per task.
const PART: usize = 1 << 16;

/// Distinct words, sorted.
#[derive(Debug)]
pub struct Sorted {
    pub words: GivenWords,
    /// For each word, its longest proper prefix among the words of at least the length given to [`Sorted::link`], or
    /// [`NONE`].
    shorter: Vec<u32>,
}

/// The first eight bytes of a word as a number that sorts as the words do; equal numbers decide nothing.
fn head(word: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = word.len().min(8);
    head[..len].copy_from_slice(&word[..len]);
    u64::from_be_bytes(head)
}

impl Sorted {
    /// The distinct words, and for each given word its index among them.
    pub fn new(words: &GivenWords) -> (Sorted, Vec<u32>) {
        let mut order: Vec<(u64, u32)> = (0..to_u32(words.len()))
            .into_par_iter()
            .map(|word| (head(words.get(word as usize)), word))
            .collect();
        let full = |word: u32| words.get(word as usize);
        order.par_sort_unstable_by(|a, b| match a.0.cmp(&b.0) {
            Ordering::Equal => full(a.1).cmp(full(b.1)).then(a.1.cmp(&b.1)),
            unequal => unequal,
        });
        let is_new = |place: usize| {
            let (a, b) = (order[place.saturating_sub(1)], order[place]);
            place == 0 || a.0 != b.0 || full(a.1) != full(b.1)
        };
        // Copies the parts in parallel, then joins them.
        let parts = order.len().div_ceil(PART);
        let part = |part: usize| {
            let places = part * PART..order.len().min((part + 1) * PART);
            let mut own = GivenWords::default();
            let new: Vec<bool> = places
                .map(|place| {
                    let new = is_new(place);
                    if new {
                        own.put(full(order[place].1));
                    }
                    new
                })
                .collect();
            (own, new)
        };
        let parts: Vec<(GivenWords, Vec<bool>)> = (0..parts).into_par_iter().map(part).collect();
        let (mut distinct, mut of) = (GivenWords::default(), vec![0; words.len()]);
        let mut count = 0;
        for ((own, new), order) in parts.iter().zip(order.chunks(PART)) {
            distinct.append(own);
            for (&new, &(_, word)) in new.iter().zip(order) {
                count += u32::from(new);
                of[word as usize] = count - 1;
            }
        }
        (Sorted { words: distinct, shorter: Vec::new() }, of)
    }

    /// Finds for each word its longest proper prefix among the words of at least `letters` bytes.
    pub fn link(&mut self, letters: usize) {
        let mut open: Vec<u32> = Vec::new();
        self.shorter = Vec::with_capacity(self.words.len());
        for (number, word) in (0..).zip(self.words.iter()) {
            while open.last().is_some_and(|&last| !word.starts_with(self.words.get(last as usize))) {
                open.pop();
            }
            self.shorter.push(open.last().copied().unwrap_or(NONE));
            if word.len() >= letters {
                open.push(number);
            }
        }
    }

    /// The longest word of the range that `text` begins with, or [`NONE`]. The range holds all words that share the
    /// first word's key bytes, with which the text also begins.
    #[inline(always)]
    pub fn longest(&self, text: &[u8], range: Range<u32>) -> u32 {
        if range.len() == 1 {
            let only = range.start;
            return if text.starts_with(self.words.get(only as usize)) { only } else { NONE };
        }
        let (mut low, mut high) = (range.start, range.end);
        // Words before `low` are at most `text`; words from `high` on are greater.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.words.get(middle as usize) <= text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == range.start {
            return NONE;
        }
        let mut word = low - 1;
        let letters = self.words.get(word as usize);
        let common = letters.iter().zip(text).take_while(|(a, b)| a == b).count();
        while word != NONE && self.words.get(word as usize).len() > common {
            word = self.shorter[word as usize];
        }
        word
    }

    /// The longest linked proper prefix of a word, or [`NONE`].
    #[inline(always)]
    pub fn shorter(&self, word: u32) -> u32 {
        self.shorter[word as usize]
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.words.bytes().len() + (self.words.starts().len() + self.shorter.len()) * size_of::<u32>()
    }
}
