//! Seeds: a part of each guide, and all words that can begin an occurrence of it with few edits.
//!
//! A seed occurs at a position of the text and extends as far as its edits take it. Its *words* are the sequences of as
//! many bases as the seed has, starting at that position, that are compatible with at most `edits` edits: words that
//! begin with a stretch within the edits, and words that are a prefix of such a stretch. So if the word at a position
//! is not among them, no stretch within the edits begins there.

use crate::patterns::search::pattern::BaseClass;
use crate::patterns::tables::BucketTable;
use crate::terms::casts::{to_u8, to_u32};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

/// Maximum length of a seed in bases: a bitmap of all words of this length takes 2 MiB.
pub const MOST_LETTERS: usize = 12;
/// Maximum number of words of one guide's seed. A seed of plain bases has fewer; IUPAC codes may produce many.
const MOST_WORDS: usize = 1 << 14;
/// Guides per task when making words.
const RUN: usize = 4;

/// The part of guides that is a seed, and its maximum number of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Bases of the guide before the seed.
    pub at: usize,
    pub letters: usize,
    pub edits: usize,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
}

impl Seed {
    /// The seed's words in a guide; `None` if there are too many.
    pub fn words(&self, guide: &[BaseClass]) -> Option<Vec<u32>> {
        let mut search =
            WordSearch { classes: &guide[self.at..self.at + self.letters], seed: self, words: Vec::new() };
        let mut first = [u8::MAX; MOST_LETTERS + 1];
        for (row, cell) in first[..=self.letters].iter_mut().enumerate() {
            *cell = if row == 0 || self.indels { to_u8(row) } else { u8::MAX };
        }
        search.go(0, 0, &first).then_some(search.words)
    }

    /// The word at offset `at` of the bases with these bits.
    #[inline(always)]
    pub fn word(&self, (low, high): (u64, u64), at: usize) -> u32 {
        let mask = (1 << self.letters) - 1;
        to_u32((low >> at & mask) | (high >> at & mask) << self.letters)
    }

    /// Extends a word by one base.
    fn with(&self, word: u32, at: usize, base: u32) -> u32 {
        word | (base & 1) << at | (base >> 1) << (self.letters + at)
    }
}

/// Depth-first search for words, base by base.
struct WordSearch<'a> {
    classes: &'a [BaseClass],
    seed: &'a Seed,
    words: Vec<u32>,
}

impl WordSearch<'_> {
    /// Extends a prefix of `len` bases, whose last column of D is `column`; returns `false` if there are too many
    /// words.
    fn go(&mut self, len: usize, word: u32, column: &[u8; MOST_LETTERS + 1]) -> bool {
        let rows = self.classes.len();
        if len == rows {
            self.words.push(word);
            return self.words.len() <= MOST_WORDS;
        }
        // The whole seed is matched: any bases may follow.
        let is_done = usize::from(column[rows]) <= self.seed.edits;
        for base in 0..4 {
            let mut next = [u8::MAX; MOST_LETTERS + 1];
            let mut least = u8::MAX;
            if is_done {
                next[rows] = column[rows];
                least = 0;
            } else {
                // Cells farther from the diagonal have too many edits.
                let (place, edits) = (len + 1, self.seed.edits);
                if self.seed.indels && place <= edits {
                    next[0] = to_u8(place);
                }
                for row in place.saturating_sub(edits).max(1)..=rows.min(place + edits) {
                    let differs = u8::from(self.classes[row - 1] >> base & 1 == 0);
                    next[row] = column[row - 1].saturating_add(differs);
                    if self.seed.indels {
                        let gaps = column[row].min(next[row - 1]).saturating_add(1);
                        next[row] = next[row].min(gaps);
                    }
                    least = least.min(next[row]);
                }
            }
            let fits = usize::from(least) <= self.seed.edits;
            if fits && !self.go(len + 1, self.seed.with(word, len, base), &next) {
                return false;
            }
        }
        true
    }
}

/// A word, and a guide whose seed has this word.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SeedEntry {
    word: u32,
    pub guide: u32,
}

/// The words of one seed in all guides.
#[derive(Debug)]
pub struct SeedTable {
    pub seed: Seed,
    /// One bit for each possible word, set if a guide has it.
    bits: Vec<u64>,
    shift: u32,
    entries: BucketTable<SeedEntry>,
}

impl SeedTable {
    /// Builds the table for guides that do not have too many words.
    pub fn new(seed: Seed, guides: &[&[BaseClass]]) -> SeedTable {
        let words: Vec<Vec<u32>> =
            guides.par_iter().with_min_len(RUN).map(|guide| seed.words(guide).unwrap_or_default()).collect();
        let count: usize = words.iter().map(Vec::len).sum();
        let shift = u32::BITS - count.next_power_of_two().ilog2().clamp(1, 24);
        let mut bits = vec![0; (1usize << (2 * seed.letters)).div_ceil(64)];
        words.iter().flatten().for_each(|&word| bits[word as usize / 64] |= 1 << (word % 64));
        let entries = BucketTable::new(1 << (u32::BITS - shift), |call| {
            for (guide, words) in (0..).zip(&words) {
                words.iter().for_each(|&word| call(hash(word, shift), SeedEntry { word, guide }));
            }
        });
        SeedTable { seed, bits, shift, entries }
    }

    /// 1 if some guide has this word, otherwise 0.
    #[inline(always)]
    pub fn has(&self, word: u32) -> usize {
        (self.bits[word as usize / 64] >> (word % 64) & 1) as usize
    }

    /// A bucket that contains all entries of this word.
    #[inline(always)]
    pub fn near(&self, word: u32) -> &[SeedEntry] {
        self.entries.get(hash(word, self.shift))
    }
}

impl SeedEntry {
    #[inline(always)]
    pub fn is_of(&self, word: u32) -> bool {
        self.word == word
    }
}

/// The hash of a word (Knuth 1998, 6.4).
#[inline(always)]
fn hash(word: u32, shift: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> shift) as usize
}
