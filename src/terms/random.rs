//! Seeded random numbers for unit tests.

/// A linear congruential generator (Knuth's MMIX).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// `len` bytes, each one of `letters`.
    pub fn letters(&mut self, len: usize, letters: &[u8]) -> Vec<u8> {
        (0..len).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// `len` codes below `letters`.
    pub fn codes(&mut self, len: usize, letters: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(letters) as u8).collect()
    }

    /// A number below `bound`.
    pub fn number(&mut self, bound: u32) -> u32 {
        self.below(bound as usize) as u32
    }

    /// Returns `len` codes derived from `codes`, with about one edit in `edits`: a substitution, an insertion, or a
    /// deletion.
    pub fn like(&mut self, codes: &[u8], len: usize, letters: usize, edits: usize) -> Vec<u8> {
        let mut like = Vec::with_capacity(len);
        let mut at = 0;
        while like.len() < len {
            let code = codes.get(at).copied().unwrap_or(0);
            at += 1;
            match self.below(3 * edits) {
                0 => like.push(self.below(letters) as u8),
                1 => (0..self.below(9)).for_each(|_| like.push(code)),
                2 => at += self.below(9),
                _ if at <= codes.len() => like.push(code),
                _ => like.push(self.below(letters) as u8),
            }
        }
        like.truncate(len);
        like
    }
}
