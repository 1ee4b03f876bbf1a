//! Sets against a `BTreeMap`, and prefixes against the definition.

use super::*;
use crate::terms::alphabet::reverse_complement;
use crate::terms::random::Random;
use std::collections::BTreeMap;

/// A sequence of at most `most` residues.
fn some(random: &mut Random, most: usize, letters: &[u8]) -> Vec<u8> {
    let len = random.below(most + 1);
    random.letters(len, letters)
}

/// Keeps only the lowest bits, so that hashes collide.
#[derive(Clone, Default)]
struct Coarse(u64);

struct CoarseHasher(u64, u64);

impl BuildHasher for Coarse {
    type Hasher = CoarseHasher;

    fn build_hasher(&self) -> CoarseHasher {
        CoarseHasher(0, self.0)
    }
}

impl Hasher for CoarseHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    }

    fn finish(&self) -> u64 {
        self.0 & self.1
    }
}

fn holds_what_a_map_holds<S: BuildHasher>(mut distinct: DistinctSequences<S>, seed: u64) {
    let mut random = Random::new(seed);
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for step in 0..3000 {
        let sequence = match random.below(3) {
            0 => some(&mut random, 300, b"ACGTN"),
            _ => some(&mut random, 5, b"ACGT\0"),
        };
        let next = known.len();
        let number = *known.entry(sequence.clone()).or_insert(next);
        let expected = Inserted { number, is_new: number == next };
        assert_eq!(distinct.insert(&sequence), expected, "seed {seed}, step {step}");
    }
    assert_eq!((distinct.len(), distinct.is_empty()), (known.len(), false));
    for (sequence, number) in known {
        assert_eq!(distinct.get(number), sequence, "seed {seed}");
    }
}

#[test]
fn equal_sequences_have_one_number() {
    (0..20).for_each(|seed| holds_what_a_map_holds(DistinctSequences::<RandomState>::default(), seed));
}

#[test]
fn equal_hashes_are_no_equal_sequences() {
    for mask in [0, 1, 7, 0xff, 3 << 62] {
        (0..3).for_each(|seed| holds_what_a_map_holds(DistinctSequences::with_hasher(Coarse(mask)), seed));
    }
}

#[test]
fn both_strands_have_one_lesser_form() {
    let mut random = Random::new(1);
    for len in 0..400 {
        let letters = some(&mut random, len % 40, b"ACGTRYSWKMBDHVN");
        let reverse = reverse_complement(&letters);
        let (mut one, mut other) = (letters.clone(), reverse.clone());
        let turned = (strands::make_lesser(&mut one), strands::make_lesser(&mut other));
        assert_eq!(one, letters.clone().min(reverse.clone()));
        assert_eq!(one, other);
        assert_eq!(turned, (reverse < letters, letters < reverse));
        strands::turn(&mut other);
        assert_eq!(other, reverse_complement(&one));
    }
}

/// The sets by definition: the sequences are processed shortest first, and a sequence takes over the longest set whose
/// sequence is its prefix.
fn by_taking_over(distinct: &DistinctSequences, ranks: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..distinct.len()).collect();
    order.sort_by_key(|&number| (distinct.get(number).len(), ranks[number]));
    let mut longest: Vec<usize> = (0..distinct.len()).collect();
    for (at, &number) in order.iter().enumerate() {
        let begins = |&&earlier: &&usize| {
            longest[earlier] == earlier && distinct.get(number).starts_with(distinct.get(earlier))
        };
        if let Some(&taken) = order[..at].iter().rev().find(begins) {
            longest.iter_mut().filter(|set| **set == taken).for_each(|set| *set = number);
        }
    }
    longest
}

#[test]
fn beginnings_join_the_shortest_longer_sequence() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut distinct = DistinctSequences::<RandomState>::default();
        let letters: &[u8] = [b"A", &b"AC"[..], b"ACGT"][random.below(3)];
        for _ in 0..1 + random.below(150) {
            let most = 1 + random.below(12);
            distinct.insert(&some(&mut random, most, letters));
        }
        let mut ranks: Vec<usize> = (0..distinct.len()).collect();
        for at in (1..ranks.len()).rev() {
            ranks.swap(at, random.below(at + 1));
        }
        let found = prefixes::longest(&distinct, &ranks);
        assert_eq!(found, by_taking_over(&distinct, &ranks), "seed {seed}");
        for (number, &set) in found.iter().enumerate() {
            assert!(distinct.get(set).starts_with(distinct.get(number)), "seed {seed}");
            let longer = |other: usize| other != set && distinct.get(other).starts_with(distinct.get(set));
            assert!(!(0..distinct.len()).any(longer), "seed {seed}: {set} begins a longer one");
        }
    }
}

#[test]
fn nothing_has_no_sets() {
    assert_eq!(prefixes::longest(&DistinctSequences::<RandomState>::default(), &[]), []);
}
