//! Tables from a key to a range of words, in two levels as in `search/exact`: a bitmap by hash that fits in a core's
//! caches, and slots with open addressing (Knuth 1998, 6.4), which a lookup prefetches.

use super::words::GivenWords;
use crate::patterns::tables::HashBits;
use bytemuck::{Pod, Zeroable};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Minimum number of bits per key in the first level, unless `MOST_BITS` limits it.
const BITS_OF_KEY: usize = 8;
const MOST_BITS: u32 = 27;
/// Slots per two keys.
const SLOTS_OF_TWO: usize = 3;

/// The range of words that a key leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WordRange {
    pub key: u64,
    /// Words `first .. end`; an empty range marks a free slot.
    pub first: u32,
    pub end: u32,
}

/// Hashes keys by the upper half of a product (Knuth 1998, 6.4). The factor depends on the words, so a list of words
/// with nearly equal hashes cannot be crafted.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

#[derive(Debug)]
pub struct DictionaryTable {
    hash: Hash,
    bits: HashBits,
    slots: Vec<WordRange>,
}

impl Hash {
    /// A hash seeded by the words.
    pub fn of(words: &GivenWords) -> Hash {
        Hash(FixedState::default().hash_one((words.bytes(), words.starts())) | 1)
    }

    #[inline(always)]
    pub fn of_key(self, key: u64) -> u32 {
        (key.wrapping_mul(self.0) >> 32) as u32
    }

    /// Mixes eight bytes into a key.
    #[inline(always)]
    pub fn mixed(self, key: u64, letters: u64) -> u64 {
        (key ^ letters).wrapping_mul(self.0).rotate_left(29)
    }
}

/// The first level for some keys.
pub fn bits_for(keys: usize) -> HashBits {
    HashBits::with_room(keys, BITS_OF_KEY, MOST_BITS)
}

impl DictionaryTable {
    pub fn with_room(hash: Hash, keys: usize) -> DictionaryTable {
        let slots = vec![WordRange::zeroed(); keys * SLOTS_OF_TWO / 2 + 1];
        DictionaryTable { hash, bits: bits_for(keys), slots }
    }

    #[inline(always)]
    pub fn hash(&self, key: u64) -> u32 {
        self.hash.of_key(key)
    }

    /// Inserts a slot, for which there must be room. If a slot with its key is present that `is_same` accepts, returns
    /// that slot as the error.
    pub fn insert(&mut self, slot: WordRange, is_same: impl Fn(WordRange) -> bool) -> Result<(), WordRange> {
        let hash = self.hash(slot.key);
        match self.search(hash, slot.key, is_same) {
            (_, Some(there)) => Err(there),
            (at, None) => {
                self.bits.insert(hash);
                self.slots[at] = slot;
                Ok(())
            }
        }
    }

    /// 1 if a key with this hash may exist, otherwise 0.
    #[inline(always)]
    pub fn may_have(&self, hash: u32) -> usize {
        self.bits.may_have(hash)
    }

    /// Slot at which the search for this hash begins.
    #[inline(always)]
    fn place(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    /// Slots that a lookup reads first; used to prefetch them.
    #[inline(always)]
    pub fn near(&self, hash: u32) -> &[WordRange] {
        &self.slots[self.place(hash)..]
    }

    /// The slot with this key that `is_wanted` accepts.
    #[inline(always)]
    pub fn find(&self, hash: u32, key: u64, is_wanted: impl Fn(WordRange) -> bool) -> Option<WordRange> {
        self.search(hash, key, is_wanted).1
    }

    /// The index and the slot of the wanted key; if it is missing, the index of the free slot in which it belongs.
    #[inline(always)]
    fn search(
        &self,
        hash: u32,
        key: u64,
        is_wanted: impl Fn(WordRange) -> bool,
    ) -> (usize, Option<WordRange>) {
        let mut at = self.place(hash);
        // Ends, because there are more slots than keys.
        loop {
            let slot = self.slots[at];
            if slot.first == slot.end {
                return (at, None);
            }
            if slot.key == key && is_wanted(slot) {
                return (at, Some(slot));
            }
            at = if at + 1 < self.slots.len() { at + 1 } else { 0 };
        }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.bits.bits) + self.slots.len() * size_of::<WordRange>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose products with a constant factor would have the same upper half.
    #[test]
    fn words_made_to_have_one_hash_do_not() {
        // Inverse of the factor modulo 2^64 (Newton's iteration).
        let factor = 0x9e37_79b9_7f4a_7c15_u64;
        let inverse = (0..6).fold(factor, |x, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x))));
        let keys: Vec<u64> = (1..=10_000u64).map(|low| low.wrapping_mul(inverse)).collect();
        assert!(keys.iter().all(|key| key.wrapping_mul(factor) >> 32 == 0));
        let mut words = GivenWords::default();
        keys.iter().for_each(|key| words.push(&key.to_le_bytes()).unwrap());
        let mut table = DictionaryTable::with_room(Hash::of(&words), keys.len());
        for (first, &key) in (0..).zip(&keys) {
            table.insert(WordRange { key, first, end: first + 1 }, |_| true).unwrap();
        }
        let is_taken = |slot: &WordRange| slot.first < slot.end;
        let longest = table.slots.split(|slot| !is_taken(slot)).map(<[WordRange]>::len).max().unwrap();
        assert!(longest < 200, "{longest} slots in a row");
    }
}
