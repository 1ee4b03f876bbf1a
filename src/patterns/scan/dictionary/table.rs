//! The word table of the kernels (`shaders/words.wgsl`): a hash table of byte strings, with buckets that a kernel reads
//! in one load of 32 bytes.
//!
//! A bucket has two slots of four words. Words of up to [`INLINE`] bytes are stored in their slot, so that the
//! comparison is exact without another load. For longer words the slot holds the hash and the offset of the bytes.
//! Words that do not fit in a bucket are stored in the next bucket (Knuth 1998, 6.4). At most half of the slots are
//! used, so nearly all lookups end in the first bucket. For prefixes, a list of masks holds the lengths of the words
//! that begin with given bytes.

use super::shader::{EMPTY, FIRST, INLINE, LONG, MOST_LETTERS, NUMBER_BITS, SECOND, SHORT_LENGTHS};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;

/// Slots per bucket.
const SLOTS: usize = 2;
/// Maximum number of buckets that a lookup may read. If a table needs more, it is enlarged, up to `LARGER` times.
const MOST_PROBES: u32 = 32;
const LARGER: u32 = 3;
/// Limits of the base-2 logarithm of the number of masks.
const MASK_BITS: std::ops::RangeInclusive<u32> = 4..=22;
/// Maximum number of bytes that choose a mask.
const KEY_LETTERS: usize = 4;

pub type TableSlot = [u32; 4];

/// Words stored back to back, with the offset of each, then the total number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct WordList<'a> {
    pub bytes: &'a [u8],
    pub starts: &'a [u32],
}

impl<'a> WordList<'a> {
    fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.starts.windows(2).map(move |ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }
}

/// A table on the host.
#[derive(Debug)]
pub struct WordTable {
    pub slots: Vec<TableSlot>,
    pub buckets: u32,
    /// Maximum number of buckets that a lookup reads.
    pub probes: u32,
    /// The masks of word lengths, the lengths of long words, and the bytes of long words.
    pub lists: Vec<u32>,
    pub mask_shift: u32,
    /// Mask of the bytes in a word of text that choose a length mask.
    pub key: u32,
    pub long_lengths: u32,
    pub has_empty: bool,
}

/// Four bytes as a word of text, the first byte lowest.
fn word_of(letters: &[u8]) -> u32 {
    letters.iter().rev().fold(0, |word, &letter| word << 8 | u32::from(letter))
}

/// Mixes four bytes into a hash.
fn absorb(hash: u32, letters: u32) -> u32 {
    let mixed = (hash ^ letters).wrapping_mul(FIRST);
    mixed ^ mixed >> 15
}

/// The hash of a word: of its whole words of text, of the zero-padded rest, and of its length.
pub fn hash(word: &[u8]) -> u32 {
    let (whole, rest) = word.as_chunks::<4>();
    let hash = whole.iter().fold(0, |hash, letters| absorb(hash, word_of(letters)));
    let mixed = (absorb(hash, word_of(rest)) ^ to_u32(word.len())).wrapping_mul(SECOND);
    mixed ^ mixed >> 13
}

/// Index of the mask of a key.
fn mask_place(key: u32, shift: u32) -> usize {
    (key.wrapping_mul(FIRST) >> shift) as usize
}

impl WordTable {
    /// Builds the table. Returns an error if a word has more than [`MOST_LETTERS`] bytes or if there are more words
    /// than their numbers have bits for. If case is ignored, the words must be in lower case.
    pub fn new(words: WordList) -> Result<WordTable, EngineError> {
        let count = words.starts.len().saturating_sub(1);
        let longest = words.iter().map(<[u8]>::len).max().unwrap_or(0);
        if count >= 1 << NUMBER_BITS || longest > MOST_LETTERS {
            let most = (1 << NUMBER_BITS) - 1;
            return Err(EngineError::Unsupported(format!(
                "{count} words of up to {longest} bytes exceed the limits of the GPU: {most} words of {MOST_LETTERS} bytes"
            )));
        }
        let buckets = count.max(1).next_power_of_two();
        let mut lists = Lists::new(words);
        let placed = (0..=LARGER).find_map(|larger| lists.place(words, buckets << larger));
        let Some((slots, probes)) = placed else {
            let problem = "the GPU cannot store these words: too many of them have nearly the same hash";
            return Err(EngineError::Unsupported(problem.to_string()));
        };
        let Lists { masks, mut long_lengths, long_letters, mask_shift, key_letters, .. } = lists;
        let key = if key_letters == 4 { u32::MAX } else { (1 << (8 * key_letters)) - 1 };
        let lengths = to_u32(long_lengths.len());
        let mut all = masks;
        all.append(&mut long_lengths);
        all.extend(long_letters);
        let has_empty = words.iter().any(<[u8]>::is_empty);
        let buckets = to_u32(slots.len() / SLOTS);
        Ok(WordTable {
            slots,
            buckets,
            probes,
            lists: all,
            mask_shift,
            key,
            long_lengths: lengths,
            has_empty,
        })
    }

    /// Frees the arrays that the device now has.
    pub fn release(&mut self) {
        (self.slots, self.lists) = (Vec::new(), Vec::new());
    }
}

/// The arrays besides the slots.
struct Lists {
    masks: Vec<u32>,
    mask_shift: u32,
    key_letters: usize,
    long_lengths: Vec<u32>,
    /// The bytes of all long words, each aligned to a word of text.
    long_letters: Vec<u32>,
}

impl Lists {
    fn new(words: WordList) -> Lists {
        let key_letters = words.iter().map(<[u8]>::len).min().unwrap_or(0).min(KEY_LETTERS);
        let wanted = (2 * words.starts.len()).ilog2();
        let mask_shift = u32::BITS - wanted.clamp(*MASK_BITS.start(), *MASK_BITS.end());
        let mut masks = vec![0; 1 << (u32::BITS - mask_shift)];
        let mut long_lengths: Vec<u32> = Vec::new();
        for word in words.iter() {
            let bit = word.len().min(SHORT_LENGTHS as usize);
            masks[mask_place(word_of(&word[..key_letters]), mask_shift)] |= 1 << bit;
            if word.len() > INLINE {
                long_lengths.push(to_u32(word.len()));
            }
        }
        long_lengths.sort_unstable();
        long_lengths.dedup();
        Lists { masks, mask_shift, key_letters, long_lengths, long_letters: Vec::new() }
    }

    /// Stores the words in this number of buckets, if lookups stay short. If words are equal, only the first is stored.
    fn place(&mut self, words: WordList, buckets: usize) -> Option<(Vec<TableSlot>, u32)> {
        let mut slots = vec![[0; 4]; buckets * SLOTS];
        let mut probes = 1;
        self.long_letters.clear();
        for (number, word) in (0..).zip(words.iter()) {
            let hash = hash(word);
            let mut bucket = hash as usize & (buckets - 1);
            let mut probe = 1;
            let place = loop {
                let own = bucket * SLOTS..(bucket + 1) * SLOTS;
                let free = own.clone().find(|&at| slots[at][3] == EMPTY);
                let taken = own.start..free.unwrap_or(own.end);
                if slots[taken].iter().any(|slot| self.is_of(slot, word, hash)) {
                    break None;
                }
                if free.is_some() {
                    break free;
                }
                bucket = (bucket + 1) & (buckets - 1);
                probe += 1;
                if probe > MOST_PROBES {
                    return None;
                }
            };
            if let Some(place) = place {
                slots[place] = self.slot(word, number, hash);
                probes = probes.max(probe);
            }
        }
        Some((slots, probes))
    }

    fn slot(&mut self, word: &[u8], number: u32, hash: u32) -> TableSlot {
        if word.len() <= INLINE {
            let [first, second, third] = inline(word);
            return [first, second, third, (to_u32(word.len()) + 1) << NUMBER_BITS | number];
        }
        let at = to_u32(self.long_letters.len());
        self.long_letters.extend(word.chunks(4).map(word_of));
        [hash, at, to_u32(word.len()), LONG << NUMBER_BITS | number]
    }

    /// Whether a slot holds this word.
    fn is_of(&self, slot: &TableSlot, word: &[u8], hash: u32) -> bool {
        let [first, at, len, code] = *slot;
        if code >> NUMBER_BITS != LONG {
            return code >> NUMBER_BITS == to_u32(word.len()) + 1 && slot[..3] == inline(word);
        }
        let letters = || self.long_letters[at as usize..].iter().copied();
        first == hash
            && len as usize == word.len()
            && word.chunks(4).map(word_of).zip(letters()).all(|(a, b)| a == b)
    }
}

/// The bytes of a word stored in its slot, padded with zeros.
fn inline(word: &[u8]) -> [u32; 3] {
    std::array::from_fn(|k| word.get(4 * k..).map_or(0, |rest| word_of(&rest[..rest.len().min(4)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(words: &[&[u8]]) -> WordTable {
        let bytes = words.concat();
        let mut starts = vec![0];
        words.iter().for_each(|word| starts.push(starts[starts.len() - 1] + word.len() as u32));
        WordTable::new(WordList { bytes: &bytes, starts: &starts }).unwrap()
    }

    #[test]
    fn equal_words_have_the_first_number() {
        let long = [7; 40];
        let words: Vec<&[u8]> = vec![b"ab", b"", b"ab\0", b"ab", &long, &long[..39], &long, b"abcdefghijkl"];
        let table = table(&words);
        let mut numbers: Vec<u32> = table
            .slots
            .iter()
            .filter(|slot| slot[3] != EMPTY)
            .map(|slot| slot[3] & ((1 << NUMBER_BITS) - 1))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 4, 5, 7]);
        assert!(table.has_empty && table.key == 0 && table.long_lengths == 2);
        assert!(table.lists.contains(&39) && table.lists.contains(&40));
    }

    #[test]
    fn what_a_device_does_not_take_is_refused() {
        let word = vec![b'a'; MOST_LETTERS + 1];
        let list = WordList { bytes: &word, starts: &[0, word.len() as u32] };
        assert!(matches!(WordTable::new(list), Err(EngineError::Unsupported(_))));
        assert_eq!(WordTable::new(WordList { bytes: &[], starts: &[0] }).unwrap().probes, 1);
    }
}
