//! Where each k-mer of so many letters stands in the targets.

use crate::alphabet::is_base;
use crate::batch::Sequences;
use rayon::prelude::*;
use std::ops::Range;

/// Bits of a letter, and letters that a k-mer may have: an index has a number for each k-mer.
const LETTER_BITS: u32 = 2;
pub const MOST_LETTERS: u32 = 12;
/// Letters of the shortest k-mers: still shorter ones stand everywhere.
pub const LEAST_LETTERS: u32 = 6;
/// K-mers of a part of the index, which a thread builds in one go: more parts read the targets more often, larger ones
/// leave the cache.
const PART_KMERS: usize = 1 << 22;

/// The places of all k-mers in [`Sequences::codes`], by k-mer, those of one k-mer in ascending order.
///
/// A k-mer that a sequence's end or a letter that is no base cuts short is listed too, as if A's followed it, if
/// [`LEAST_LETTERS`] of its letters are there. So the places of a shorter k-mer are those of all k-mers that begin with
/// it, one behind the other in the index, and one index serves k-mers of every length.
#[derive(Debug)]
pub struct Index {
    letters: u32,
    /// Behind the last place of each k-mer in `places`.
    ends: Vec<u32>,
    places: Vec<u32>,
}

impl Index {
    /// An index of the k-mers of `letters` letters, [`LEAST_LETTERS`] at least. There are fewer than 2^32 letters in all.
    pub fn new(targets: &Sequences, letters: u32) -> Index {
        let kmers = 1 << (LETTER_BITS * letters);
        let mut ends = vec![0u32; kmers];
        let firsts = (0..kmers).step_by(PART_KMERS);
        let parts: Vec<(usize, &mut [u32])> = firsts.zip(ends.chunks_mut(PART_KMERS)).collect();
        let counts = |(first, counts): (usize, &mut [u32])| {
            for_each_kmer(targets, letters, |kmer, _| {
                if let Some(count) = counts.get_mut(kmer.wrapping_sub(first)) {
                    *count += 1;
                }
            });
            counts.iter().map(|&count| count as usize).sum::<usize>()
        };
        let counts: Vec<usize> = parts.into_par_iter().map(counts).collect();
        let mut places = vec![0u32; counts.iter().sum()];
        let (mut rest, mut before) = (&mut places[..], 0);
        let mut parts = Vec::with_capacity(counts.len());
        for (number, (count, ends)) in counts.into_iter().zip(ends.chunks_mut(PART_KMERS)).enumerate() {
            let (own, behind) = rest.split_at_mut(count);
            parts.push(Part { first: number * PART_KMERS, before, ends, places: own });
            (rest, before) = (behind, before + count as u32);
        }
        parts.into_par_iter().for_each(|part| part.fill(targets, letters));
        Index { letters, ends, places }
    }

    /// The k-mer that `codes` begin with, and its letters, as many as the index has or all there are; `None` where they
    /// are too few, or one of them is no base.
    pub fn kmer(&self, codes: &[u8]) -> Option<(usize, u32)> {
        let letters = self.letters.min(codes.len() as u32);
        let base = |kmer, &code: &u8| is_base(code).then(|| kmer << LETTER_BITS | usize::from(code));
        let kmer = codes[..letters as usize].iter().try_fold(0, base)?;
        (letters >= LEAST_LETTERS).then_some((kmer, letters))
    }

    /// Which of [`Index::places`] may be those of a k-mer of so many letters: all that are, and those where a k-mer cut
    /// short looks like it.
    pub fn range(&self, (kmer, letters): (usize, u32)) -> Range<usize> {
        let shift = LETTER_BITS * (self.letters - letters);
        let (first, behind) = (kmer << shift, (kmer + 1) << shift);
        let start = if first == 0 { 0 } else { self.ends[first - 1] };
        start as usize..self.ends[behind - 1] as usize
    }

    /// Some of the places.
    pub fn places(&self, range: Range<usize>) -> &[u32] {
        &self.places[range]
    }
}

/// Some k-mers: how often each stands, and room for their places.
struct Part<'a> {
    first: usize,
    /// Places of all k-mers before.
    before: u32,
    ends: &'a mut [u32],
    places: &'a mut [u32],
}

impl Part<'_> {
    /// Makes the numbers of places their ends, and lists the places.
    fn fill(self, targets: &Sequences, letters: u32) {
        let Part { first, before, ends, places } = self;
        let mut next = 0;
        for end in ends.iter_mut() {
            let count = std::mem::replace(end, next);
            next += count;
        }
        // Until all are listed, an end is where the next place of its k-mer goes.
        for_each_kmer(targets, letters, |kmer, place| {
            if let Some(next) = ends.get_mut(kmer.wrapping_sub(first)) {
                places[*next as usize] = place;
                *next += 1;
            }
        });
        ends.iter_mut().for_each(|end| *end += before);
    }
}

/// Calls with each k-mer and its place.
fn for_each_kmer(targets: &Sequences, letters: u32, mut call: impl FnMut(usize, u32)) {
    let mask = (1 << (LETTER_BITS * letters)) - 1;
    for index in 0..targets.len() {
        let start = targets.start(index) as u32;
        let codes = targets.get(index);
        // Letters of the k-mer so far, and its number.
        let (mut kmer, mut known) = (0usize, 0);
        for (place, &code) in (start..).zip(codes) {
            if is_base(code) {
                kmer = (kmer << LETTER_BITS | usize::from(code)) & mask;
                known += 1;
                if known >= letters {
                    call(kmer, place + 1 - letters);
                }
            } else {
                cut_short(kmer, known, place, letters, &mut call);
                known = 0;
            }
        }
        cut_short(kmer, known, start + codes.len() as u32, letters, &mut call);
    }
}

/// The k-mers that end too early, before the place `end`, where `known` bases stand in front of it, the last of them in
/// `kmer`.
fn cut_short(kmer: usize, known: u32, end: u32, letters: u32, call: &mut impl FnMut(usize, u32)) {
    for there in (LEAST_LETTERS..letters).rev().filter(|&there| there <= known) {
        let own = kmer & ((1 << (LETTER_BITS * there)) - 1);
        call(own << (LETTER_BITS * (letters - there)), end - there);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kmer_is_at_its_places() {
        let mut state = 1u32;
        let mut letter = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % most) as u8
        };
        let lengths = [0, 1, 5, 6, 7, 8, 9, 300, 40];
        let sequences: Vec<Vec<u8>> =
            lengths.iter().map(|&len| (0..len).map(|_| letter(40).saturating_sub(35)).collect()).collect();
        let targets: Sequences = sequences.iter().map(Vec::as_slice).collect();
        for letters in [6, 7, 9, 12] {
            let index = Index::new(&targets, letters);
            for shorter in LEAST_LETTERS..=letters {
                let whole = |codes: &[u8]| codes.iter().all(|&code| is_base(code));
                for (own, target) in targets.iter().enumerate() {
                    let start = targets.start(own);
                    for (at, codes) in target.windows(shorter as usize).enumerate() {
                        let kmer = index.kmer(codes);
                        assert_eq!(kmer.is_some(), whole(codes), "{letters} letters, {codes:?}");
                        let Some(kmer) = kmer else { continue };
                        let places = index.places(index.range(kmer));
                        let found = places.iter().filter(|&&place| place as usize == start + at).count();
                        assert_eq!(found, 1, "{letters} letters, {codes:?} at {at} of {own}");
                        assert!(shorter < letters || places.is_sorted());
                    }
                }
            }
            let runs = sequences.iter().flat_map(|codes| codes.split(|&code| !is_base(code)));
            let listed: usize = runs.map(|run| (run.len() + 1).saturating_sub(LEAST_LETTERS as usize)).sum();
            assert_eq!(index.places.len(), listed, "{letters} letters");
        }
    }

    #[test]
    fn kmers_that_are_none() {
        let targets: Sequences = [&[0u8, 1, 2, 3, 0, 1, 2, 3][..]].into_iter().collect();
        let index = Index::new(&targets, 7);
        assert_eq!(index.kmer(&[0, 1, 2, 3, 0]), None, "too short");
        assert_eq!(index.kmer(&[0, 1, 2, 3, 0, 9]), None);
        assert_eq!(index.kmer(&[0, 0, 0, 0, 0, 3, 2, 9]), Some((14, 7)), "only its own letters count");
        assert!(index.places(index.range((14, 7))).is_empty());
    }
}
