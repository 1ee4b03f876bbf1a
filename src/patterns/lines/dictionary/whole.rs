//! Words that are whole lines: one key and one lookup per line.

use super::table::{DictionaryTable, Hash, WordRange};
use super::words::GivenWords;
use crate::terms::casts::to_u32;

/// A line of fewer bytes is keyed by its bytes and length; a longer line's key has an all-ones highest byte.
const EXACT: usize = 8;
/// Number of lengths that the length filter distinguishes.
const LENGTHS: usize = 64;

/// Distinct words, in the order in which they were first given.
#[derive(Debug)]
pub struct DistinctWords {
    pub words: GivenWords,
    pub table: DictionaryTable,
    hash: Hash,
    /// Bitmap of the lengths of words; the last bit stands for all lengths of at least 63 bytes.
    lengths: u64,
    longest: usize,
}

/// The key of a line. `first` and `last` are its first and last eight bytes, if the line is long enough.
#[inline(always)]
fn key_of(hash: Hash, line: &[u8], first: u64, last: u64) -> u64 {
    let len = line.len();
    if len < EXACT {
        let bits = 8 * to_u32(len);
        return first & !(u64::MAX << bits) | (len as u64) << 56;
    }
    let mut mixed = hash.mixed(hash.mixed(len as u64, first), last);
    if len > 2 * EXACT {
        for eight in line[EXACT..len - EXACT].chunks(EXACT) {
            let mut letters = [0; EXACT];
            letters[..eight.len()].copy_from_slice(eight);
            mixed = hash.mixed(mixed, u64::from_le_bytes(letters));
        }
    }
    mixed | 0xff << 56
}

fn eight(letters: Option<&[u8; EXACT]>) -> u64 {
    letters.map_or(0, |letters| u64::from_le_bytes(*letters))
}

impl DistinctWords {
    /// The distinct words, and for each given word its index among them.
    pub fn new(given: &GivenWords) -> (DistinctWords, Vec<u32>) {
        let hash = Hash::of(given);
        let mut table = DictionaryTable::with_room(hash, given.len());
        let mut words = GivenWords::default();
        let (mut of, mut lengths, mut longest) = (Vec::with_capacity(given.len()), 0, 0);
        for word in given.iter() {
            let number = to_u32(words.len());
            let key = key_of_word(hash, word);
            match table.insert(WordRange { key, first: number, end: number + 1 }, |slot| {
                words.get(slot.first as usize) == word
            }) {
                Ok(()) => words.put(word),
                Err(there) => {
                    of.push(there.first);
                    continue;
                }
            }
            of.push(number);
            lengths |= 1 << word.len().min(LENGTHS - 1);
            longest = longest.max(word.len());
        }
        (DistinctWords { words, table, hash, lengths, longest }, of)
    }

    /// Index of the empty word.
    pub fn empty(&self) -> Option<u32> {
        self.find(b"", key_of_word(self.hash, b""))
    }

    /// The key of the line `text[start..end]`, if some word has its length.
    #[inline(always)]
    pub fn key(&self, text: &[u8], start: usize, end: usize) -> Option<u64> {
        let len = end - start;
        if self.lengths >> len.min(LENGTHS - 1) & 1 == 0 || len > self.longest {
            return None;
        }
        let line = &text[start..end];
        let first = match text[start..].first_chunk() {
            Some(letters) => u64::from_le_bytes(*letters),
            None => {
                let mut letters = [0; EXACT];
                let short = len.min(EXACT);
                letters[..short].copy_from_slice(&line[..short]);
                u64::from_le_bytes(letters)
            }
        };
        Some(key_of(self.hash, line, first, eight(line.last_chunk())))
    }

    /// Index of the word that equals this line, which has the given key.
    #[inline(always)]
    pub fn find(&self, line: &[u8], key: u64) -> Option<u32> {
        let is_line = |slot: WordRange| line.len() < EXACT || self.words.get(slot.first as usize) == line;
        self.table.find(self.table.hash(key), key, is_line).map(|slot| slot.first)
    }

    pub fn bytes(&self) -> usize {
        self.words.bytes().len() + size_of_val(self.words.starts()) + self.table.bytes()
    }
}

fn key_of_word(hash: Hash, word: &[u8]) -> u64 {
    let mut first = [0; EXACT];
    let short = word.len().min(EXACT);
    first[..short].copy_from_slice(&word[..short]);
    key_of(hash, word, u64::from_le_bytes(first), eight(word.last_chunk()))
}
