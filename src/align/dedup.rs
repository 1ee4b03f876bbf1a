//! Distinct sequences: equal sequences get the same number, in order of first occurrence.
//!
//! A hash finds candidates for an equal sequence, and sequences with the same hash are compared byte by byte. So the
//! numbers do not depend on the hash, which differs from process to process.
//!
//! ```
//! use swalign::align::dedup::DistinctSequences;
//!
//! let mut distinct = <DistinctSequences>::default();
//! let numbers: Vec<usize> = [&b"ACGT"[..], b"AC", b"ACGT"].map(|letters| distinct.insert(letters).number).to_vec();
//! assert_eq!(numbers, [0, 1, 0]);
//! assert_eq!(distinct.get(1), b"AC");
//! ```

pub mod prefixes;
pub mod queries;
pub mod strands;
#[cfg(test)]
mod tests;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

/// Distinct sequences of bytes, each stored once.
#[derive(Clone, Debug, Default)]
pub struct DistinctSequences<S = RandomState> {
    /// All sequences, concatenated.
    letters: Vec<u8>,
    /// End of each sequence.
    ends: Vec<usize>,
    /// The hash of each.
    hashes: Vec<u64>,
    /// Sequence numbers, by hash.
    numbers: HashTable<usize>,
    hasher: S,
}

/// Number of an inserted sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    pub number: usize,
    /// Whether no equal sequence was stored before.
    pub is_new: bool,
}

impl<S: BuildHasher> DistinctSequences<S> {
    pub fn with_hasher(hasher: S) -> DistinctSequences<S> {
        let (letters, ends, hashes) = (Vec::new(), Vec::new(), Vec::new());
        DistinctSequences { letters, ends, hashes, numbers: HashTable::new(), hasher }
    }

    /// The hasher of [`DistinctSequences::hash`], for threads that hash while another thread inserts.
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    pub fn hash(&self, sequence: &[u8]) -> u64 {
        hash(&self.hasher, sequence)
    }

    /// Stores a sequence unless an equal one is stored, and returns its number.
    pub fn insert(&mut self, sequence: &[u8]) -> Inserted {
        self.insert_hashed(self.hash(sequence), sequence)
    }

    /// The number of a sequence, if an equal one is stored.
    pub fn find(&self, sequence: &[u8]) -> Option<usize> {
        let (letters, ends, hashes) = (&self.letters, &self.ends, &self.hashes);
        let hash = self.hash(sequence);
        let is_equal = |&number: &usize| hashes[number] == hash && letters[place(ends, number)] == *sequence;
        self.numbers.find(hash, is_equal).copied()
    }

    /// As [`DistinctSequences::insert`], with the hash that [`DistinctSequences::hash`] or [`hash`] gives.
    pub fn insert_hashed(&mut self, hash: u64, sequence: &[u8]) -> Inserted {
        let (letters, ends, hashes) = (&self.letters, &self.ends, &self.hashes);
        let is_equal = |&number: &usize| hashes[number] == hash && letters[place(ends, number)] == *sequence;
        if let Some(&number) = self.numbers.find(hash, is_equal) {
            return Inserted { number, is_new: false };
        }
        let number = self.len();
        self.numbers.insert_unique(hash, number, |&number| hashes[number]);
        self.letters.extend_from_slice(sequence);
        self.ends.push(self.letters.len());
        self.hashes.push(hash);
        Inserted { number, is_new: true }
    }
}

impl<S> DistinctSequences<S> {
    /// Number of distinct sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The sequence of a number below [`DistinctSequences::len`].
    pub fn get(&self, number: usize) -> &[u8] {
        &self.letters[self.place(number)]
    }

    /// Range of a sequence in the concatenated sequences.
    pub fn place(&self, number: usize) -> Range<usize> {
        place(&self.ends, number)
    }
}

fn place(ends: &[usize], number: usize) -> Range<usize> {
    let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
    begin..ends[number]
}

/// The hash of a sequence.
pub fn hash(hasher: &impl BuildHasher, sequence: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(sequence);
    hasher.finish()
}
