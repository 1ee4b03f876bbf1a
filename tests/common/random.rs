//! Seeded randomness: the same seed gives the same sequences on every machine.

use swalign::terms::alphabet::Alphabet;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

/// Scatters the bits of a number.
pub fn mix(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number in `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// `len` residues: bases or amino acids without ambiguity codes.
    pub fn sequence(&mut self, alphabet: Alphabet, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.pick(alphabet.required_letters())).collect()
    }

    /// The same as a `String`.
    pub fn text(&mut self, alphabet: Alphabet, len: usize) -> String {
        self.sequence(alphabet, len).into_iter().map(char::from).collect()
    }

    /// A copy of `letters` with edits at about `percent` % of the positions: half of the edits are substitutions, a
    /// quarter insertions of up to 8 residues, and a quarter deletions of up to 8 residues.
    pub fn mutated(&mut self, alphabet: Alphabet, letters: &[u8], percent: usize) -> Vec<u8> {
        let mut copy = Vec::with_capacity(letters.len() + 8);
        let mut rest = letters;
        while let [letter, tail @ ..] = rest {
            rest = tail;
            match self.below(400) {
                n if n < 2 * percent => copy.push(self.pick(alphabet.required_letters())),
                n if n < 3 * percent => {
                    copy.push(*letter);
                    let len = 1 + self.below(8);
                    copy.extend(self.sequence(alphabet, len));
                }
                n if n < 4 * percent => rest = &rest[self.below(8).min(rest.len())..],
                _ => copy.push(*letter),
            }
        }
        copy
    }

    /// `len` random codes less than `letters`.
    pub fn codes(&mut self, len: usize, letters: u8) -> Vec<u8> {
        (0..len).map(|_| self.below(usize::from(letters)) as u8).collect()
    }

    /// A copy of `codes` with about one edit in `every` residues: substitutions, insertions and deletions, some of them
    /// long. Random codes are less than `letters`.
    pub fn mutated_codes(&mut self, codes: &[u8], letters: u8, every: usize) -> Vec<u8> {
        let mut copy = Vec::with_capacity(codes.len());
        let mut skip = 0;
        for &code in codes {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            match (self.below(every), self.below(4)) {
                (0, 0) => skip = self.below(12),
                (0, 1) => {
                    let extra = self.below(12) + 1;
                    copy.extend(self.codes(extra, letters));
                }
                (0, _) => copy.push(self.below(usize::from(letters)) as u8),
                _ => copy.push(code),
            }
        }
        copy
    }
}
