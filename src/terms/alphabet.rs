//! Letters and their codes.
//!
//! A sequence is stored as one code a residue. DNA codes 0..4 are A, C, G, T (U is T); the other
//! IUPAC codes follow, so that a matrix may score them, but without a matrix they match nothing.

mod detect;

use crate::terms::casts::const_u8;
pub use detect::Suggested;

use rayon::prelude::*;
use std::fmt;

/// What the residues of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// A, C, G and T; U is T. The other IUPAC codes match nothing without a matrix.
    Dna,
    /// The twenty amino acids, B, Z, X, `*`, J (I or L), U (selenocysteine) and O (pyrrolysine).
    Protein,
}

/// Number of code slots a substitution table has for either alphabet.
pub const CODES: usize = 32;

/// DNA letters in code order; the first four are the only ones that can match without a matrix.
const DNA: &[u8] = b"ACGTRYSWKMBDHVN";
/// Number of codes that are A, C, G or T.
pub(crate) const BASES: u8 = 4;
/// A place without a letter in a text that is searched: the bit of letters that are no base, and one more. No code of DNA
/// is the same.
pub(crate) const NOTHING: u8 = 28;
/// The class of a pattern's letter N: a bit for each base, and one for letters that are none.
pub(crate) const ANY_LETTER: u8 = 31;
/// Protein letters in code order: those of NCBI's matrices in their order, then those that the matrices leave out.
const PROTEIN: &[u8] = b"ARNDCQEGHILKMFPSTWYVBZX*JUO";
/// Number of codes that a matrix may tell apart. U and O, the codes after them, score as C and K.
pub(crate) const SCORED: u8 = 25;
const NONE: u8 = u8::MAX;
/// So many letters are encoded on all threads.
const LONG: usize = 1 << 20;

const fn table(letters: &[u8], aliases: &[(u8, u8)]) -> [u8; 256] {
    let mut table = [NONE; 256];
    let mut code = 0;
    while code < letters.len() {
        table[letters[code] as usize] = const_u8(code);
        table[letters[code].to_ascii_lowercase() as usize] = const_u8(code);
        code += 1;
    }
    let mut alias = 0;
    while alias < aliases.len() {
        let (from, to) = aliases[alias];
        table[from as usize] = table[to as usize];
        table[from.to_ascii_lowercase() as usize] = table[to as usize];
        alias += 1;
    }
    table
}

static DNA_CODES: [u8; 256] = table(DNA, &[(b'U', b'T')]);
static PROTEIN_CODES: [u8; 256] = table(PROTEIN, &[]);

/// Whether a code of DNA is A, C, G or T, and so can match without a matrix.
pub const fn is_base(code: u8) -> bool {
    code < BASES
}

/// The code that a code is scored by: of proteins C for U and K for O, as in BLAST, and otherwise itself.
#[inline]
pub const fn scored_code(code: u8) -> u8 {
    const U: u8 = SCORED;
    const O: u8 = SCORED + 1;
    match code {
        U => 4,
        O => 11,
        _ => code,
    }
}

impl Alphabet {
    /// The letter that stands for any: N, or X of proteins.
    pub(crate) fn any_letter(self) -> u8 {
        match self {
            Alphabet::Dna => b'N',
            Alphabet::Protein => b'X',
        }
    }

    /// Replaces letters in lower case by the letter that stands for any.
    pub(crate) fn mask_lower_case(self, letters: &mut [u8]) {
        let any = self.any_letter();
        letters.iter_mut().filter(|letter| letter.is_ascii_lowercase()).for_each(|letter| *letter = any);
    }
}

/// What the rooms behind the front door ask, in codes.
#[doc(hidden)]
impl Alphabet {
    /// The letters in code order.
    pub fn letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => DNA,
            Alphabet::Protein => PROTEIN,
        }
    }

    /// The letters that every substitution matrix must have.
    pub fn required_letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => &DNA[..4],
            Alphabet::Protein => &PROTEIN[..20],
        }
    }

    /// The code of `letter`, lower case as upper; `None` where the alphabet lacks it.
    pub fn code(self, letter: u8) -> Option<u8> {
        let code = match self {
            Alphabet::Dna => DNA_CODES[letter as usize],
            Alphabet::Protein => PROTEIN_CODES[letter as usize],
        };
        (code != NONE).then_some(code)
    }

    /// Appends the codes of `letters` to `codes`; the 0-based place of the first letter outside the
    /// alphabet is the error, and `codes` is then as it was.
    pub fn encode(self, letters: &[u8], codes: &mut Vec<u8>) -> Result<(), usize> {
        let table = match self {
            Alphabet::Dna => &DNA_CODES,
            Alphabet::Protein => &PROTEIN_CODES,
        };
        let start = codes.len();
        if letters.len() < LONG {
            codes.extend(letters.iter().map(|&letter| table[letter as usize]));
        } else {
            // A chromosome: also its memory, which is fresh, is then mapped by all threads.
            codes.par_extend(letters.par_iter().with_min_len(LONG / 8).map(|&letter| table[letter as usize]));
        }
        // `contains` looks at many codes at a time, and nearly always there is none to find.
        if !codes[start..].contains(&NONE) {
            return Ok(());
        }
        codes.truncate(start);
        Err(letters.iter().take_while(|&&letter| table[letter as usize] != NONE).count())
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Alphabet::Dna => "DNA",
            Alphabet::Protein => "protein",
        })
    }
}

/// The reverse complement of DNA or RNA letters (IUPAC codes included), in letters of DNA: A becomes T, and U becomes A.
#[cfg(feature = "cli")]
pub fn reverse_complement(letters: &[u8]) -> Vec<u8> {
    // The library leaves U as it is.
    let dna = letters.iter().map(|&letter| match letter {
        b'U' => b'T',
        b'u' => b't',
        _ => letter,
    });
    bio::alphabets::dna::revcomp(dna.collect::<Vec<u8>>())
}

/// The complement of each code of [`DNA`]: ACGT to TGCA, R-Y, S, W, K-M, B-V, D-H, N. As many entries as
/// a byte has values need no check of the index.
static COMPLEMENTS: [u8; 256] = {
    let complements = [3, 2, 1, 0, 5, 4, 6, 7, 9, 8, 13, 12, 11, 10, 14];
    let mut table = [NONE; 256];
    let mut code = 0;
    while code < complements.len() {
        table[code] = complements[code];
        code += 1;
    }
    table
};

/// The complement of each letter of [`DNA`] and of U, in the same case; of any other byte the byte itself.
static LETTER_COMPLEMENTS: [u8; 256] = {
    let mut table = [0; 256];
    let mut letter = 0;
    while letter < table.len() {
        table[letter] = const_u8(letter);
        letter += 1;
    }
    let mut code = 0;
    while code < DNA.len() {
        let complement = DNA[COMPLEMENTS[code] as usize];
        table[DNA[code] as usize] = complement;
        table[DNA[code].to_ascii_lowercase() as usize] = complement.to_ascii_lowercase();
        code += 1;
    }
    table[b'U' as usize] = b'A';
    table[b'u' as usize] = b'a';
    table
};

/// The complement of a letter of DNA or RNA, in DNA.
pub fn complement(letter: u8) -> u8 {
    LETTER_COMPLEMENTS[letter as usize]
}

/// The reverse complement of DNA codes.
pub fn reverse_complement_codes(codes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    codes.iter().rev().map(|&code| COMPLEMENTS[code as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_complement_as_letters_do() {
        let mut codes = Vec::new();
        Alphabet::Dna.encode(DNA, &mut codes).unwrap();
        let mut turned = Vec::new();
        Alphabet::Dna.encode(&reverse_complement(DNA), &mut turned).unwrap();
        assert_eq!(reverse_complement_codes(&codes).collect::<Vec<_>>(), turned);
    }

    #[test]
    fn reverse_complements_are_dna() {
        assert_eq!(reverse_complement(b"AACGURYSWKMBDHVN"), b"NBDHVKMWSRYACGTT");
        assert_eq!(reverse_complement(b"ggacguaacagg"), b"cctgttacgtcc");
        assert_eq!(reverse_complement(b"A-C"), b"G-T");
    }

    #[test]
    fn selenocysteine_and_pyrrolysine_score_as_cysteine_and_lysine() {
        let code = |letter| Alphabet::Protein.code(letter).unwrap();
        for &letter in PROTEIN {
            let scored = match letter {
                b'U' => b'C',
                b'O' => b'K',
                _ => letter,
            };
            assert_eq!(scored_code(code(letter)), code(scored));
            assert!(code(scored) < SCORED);
        }
        assert!((0..DNA.len() as u8).chain([NOTHING, ANY_LETTER]).all(|code| scored_code(code) == code));
    }

    #[test]
    fn lower_case_and_rna_are_dna() {
        let mut codes = Vec::new();
        Alphabet::Dna.encode(b"acgu", &mut codes).unwrap();
        assert_eq!(codes, [0, 1, 2, 3]);
        assert_eq!(Alphabet::Dna.encode(b"AC-T", &mut codes), Err(2));
        assert_eq!(codes.len(), 4, "a refused sequence leaves nothing behind");
    }
}
