//! Seeded randomness: the same seed gives the same sequences on every machine.

use swalign::alphabet::Alphabet;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// `len` letters of the four bases or the twenty amino acids.
    pub fn sequence(&mut self, alphabet: Alphabet, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.pick(alphabet.required_letters())).collect()
    }

    /// A copy of `letters` of which about `percent` in a hundred are changed: half of them replaced,
    /// a quarter followed by up to 8 inserted letters, a quarter lost with up to 7 of their followers.
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
}
