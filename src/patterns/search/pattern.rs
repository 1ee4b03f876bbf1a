//! Patterns: IUPAC codes as classes of bases.

use super::{NOTHING, OTHER};
use crate::terms::alphabet::{ANY_LETTER, Alphabet, reverse_complement_codes};

/// A class: one bit for each base that it matches, and one for all other characters. A class is never 0.
pub type BaseClass = u8;

/// The class N: every character.
pub const ANY: BaseClass = ANY_LETTER;
/// Number of possible values of a class.
pub const CLASSES: usize = 32;

/// The classes of the DNA codes, in their order: A, C, G, T, R, Y, S, W, K, M, B, D, H, V, N.
const OF_CODES: [BaseClass; 15] = [1, 2, 4, 8, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7, ANY];

/// The class of a DNA code.
pub fn class_of(code: u8) -> BaseClass {
    OF_CODES[code as usize]
}

/// The class of the complements of a class's bases.
pub fn complement(class: BaseClass) -> BaseClass {
    // A, C, G and T are the lowest four bits.
    (class & 15).reverse_bits() >> 4 | class & !15
}

/// Whether a class matches a code of the text: any DNA code, where codes other than bases count as [`OTHER`], or
/// [`NOTHING`].
pub fn matches(class: BaseClass, letter: u8) -> bool {
    letter != NOTHING && class >> letter.min(OTHER) & 1 == 1
}

/// A pattern and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPattern {
    pub name: String,
    /// IUPAC codes in upper case.
    pub letters: Vec<u8>,
    /// DNA codes.
    codes: Vec<u8>,
}

impl SearchPattern {
    /// Parses a nonempty pattern. The error is the 0-based position of the first character that is no IUPAC code.
    pub fn new(name: String, letters: &[u8]) -> Result<SearchPattern, usize> {
        let mut codes = Vec::with_capacity(letters.len());
        Alphabet::Dna.encode(letters, &mut codes)?;
        Ok(SearchPattern { name, letters: letters.to_ascii_uppercase(), codes })
    }

    pub fn classes(&self) -> Vec<BaseClass> {
        self.codes.iter().map(|&code| class_of(code)).collect()
    }

    /// The classes of the reverse complement.
    pub fn reverse_classes(&self) -> Vec<BaseClass> {
        reverse_complement_codes(&self.codes).map(class_of).collect()
    }

    /// The reverse complement in IUPAC codes; U becomes A, and A becomes T.
    pub fn reverse_letters(&self) -> Vec<u8> {
        let letters = Alphabet::Dna.letters();
        reverse_complement_codes(&self.codes).map(|code| letters[usize::from(code)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_classes() {
        let pattern = SearchPattern::new("p".to_string(), b"acguRYSWKMBDHVN").unwrap();
        assert_eq!(pattern.letters, b"ACGURYSWKMBDHVN");
        let bases = |class: BaseClass| -> String {
            "ACGT".chars().zip(0..).filter(|&(_, base)| matches(class, base)).map(|(c, _)| c).collect()
        };
        let found: Vec<String> = pattern.classes().into_iter().map(bases).collect();
        let expected =
            ["A", "C", "G", "T", "AG", "CT", "CG", "AT", "GT", "AC", "CGT", "AGT", "ACT", "ACG", "ACGT"];
        assert_eq!(found, expected);
        for class in pattern.classes() {
            assert_eq!(matches(class, OTHER), class == ANY);
            assert!(!matches(class, NOTHING));
        }
        assert_eq!(SearchPattern::new(String::new(), b"AC-T"), Err(2));
    }

    #[test]
    fn the_reverse_complement() {
        let pattern = SearchPattern::new("p".to_string(), b"AACGURN").unwrap();
        assert_eq!(pattern.reverse_letters(), b"NYACGTT");
        let turned = SearchPattern::new("p".to_string(), b"NYACGTT").unwrap();
        assert_eq!(pattern.reverse_classes(), turned.classes());
        let all = SearchPattern::new("p".to_string(), b"ACGURYSWKMBDHVN").unwrap();
        let mut complements: Vec<BaseClass> = all.classes().into_iter().map(complement).collect();
        complements.reverse();
        assert_eq!(complements, all.reverse_classes());
    }
}
