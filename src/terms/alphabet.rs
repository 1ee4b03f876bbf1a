//! Alphabets and their codes.
//!
//! A sequence is stored as one code per residue. DNA codes 0..4 are A, C, G, T (U is T). The other IUPAC codes follow,
//! so that a matrix may score them, but without a matrix they match nothing.

mod codons;
mod detect;

use crate::terms::casts::const_u8;
pub use codons::{GeneticCode, NO_CODON, protein_codes};
pub use detect::Suggested;

use rayon::prelude::*;
use std::fmt;

/// The kind of residues of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// A, C, G and T; U is T. The other IUPAC codes match nothing without a matrix.
    Dna,
    /// The twenty amino acids, B, Z, X, `*`, J (I or L), U (selenocysteine) and O (pyrrolysine).
    Protein,
}

/// Number of code slots of a substitution table, for either alphabet.
pub const CODES: usize = 32;

/// DNA characters in code order; without a matrix, only the first four can match.
const DNA: &[u8] = b"ACGTRYSWKMBDHVN";
/// Number of codes that are A, C, G or T.
pub(crate) const BASES: u8 = 4;
/// The code of an empty position in a text that is searched. Like codes that are not bases, it has the bit 4. No code
/// of DNA has this value.
pub(crate) const NOTHING: u8 = 28;
/// A bit of the codes of DNA queries: the residue is the query's first or last one. An alignment that aligns it to a target
/// residue gains the scoring's end bonus. Codes have this bit only under a scoring with an end bonus.
pub(crate) const END: u8 = 16;
/// The class of N in a pattern: one bit for each base, and one for codes that are not bases.
pub(crate) const ANY_LETTER: u8 = 31;
/// Protein characters in code order: those of NCBI's matrices in their order, then those that the matrices lack.
const PROTEIN: &[u8] = b"ARNDCQEGHILKMFPSTWYVBZX*JUO";
/// Frequency of each amino acid in proteins, per 100,000 (Robinson and Robinson 1991), in the order of the codes.
pub(crate) const AMINO_ACIDS: [u32; 20] = [
    7805, 5129, 4487, 5364, 1925, 4264, 6295, 7377, 2199, 5142, 9019, 5744, 2243, 3856, 5203, 7120, 5841,
    1330, 3216, 6441,
];
/// Number of codes that a matrix can distinguish. U and O, the codes after them, score as C and K.
pub(crate) const SCORED: u8 = 25;
const NONE: u8 = u8::MAX;
/// Minimum length of a sequence that is encoded by several threads.
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

/// Whether a DNA code is A, C, G or T, at the end of a query or not, and so can match without a matrix.
pub const fn is_base(code: u8) -> bool {
    code & !END < BASES
}

/// Whether any DNA code of a query, or of a stretch of one, is that of an end.
pub fn has_ends(codes: &[u8]) -> bool {
    [codes.first(), codes.last()].into_iter().flatten().any(|&code| is_end(code))
}

/// The DNA code of a residue, whether it is at the end of a query or not.
pub const fn without_end(code: u8) -> u8 {
    code & !END
}

/// Whether a DNA code is that of an end of a query.
pub const fn is_end(code: u8) -> bool {
    code & END != 0
}

/// The code by which a code is scored: for proteins C for U and K for O, as in BLAST, and otherwise the code itself.
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
    /// The character for an unknown residue: N, or X for proteins.
    pub(crate) fn any_letter(self) -> u8 {
        match self {
            Alphabet::Dna => b'N',
            Alphabet::Protein => b'X',
        }
    }

    /// Replaces lower-case residues by the character for an unknown residue.
    pub(crate) fn mask_lower_case(self, letters: &mut [u8]) {
        let any = self.any_letter();
        letters.iter_mut().filter(|letter| letter.is_ascii_lowercase()).for_each(|letter| *letter = any);
    }
}

/// Operations on codes, for internal use.
#[doc(hidden)]
impl Alphabet {
    /// The characters in code order.
    pub fn letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => DNA,
            Alphabet::Protein => PROTEIN,
        }
    }

    /// The residues that every substitution matrix must contain.
    pub fn required_letters(self) -> &'static [u8] {
        match self {
            Alphabet::Dna => &DNA[..4],
            Alphabet::Protein => &PROTEIN[..20],
        }
    }

    /// Whether a query's and a target's code are the same residue. In DNA, only A, C, G and T are.
    #[inline]
    pub fn are_equal(self, query: u8, target: u8) -> bool {
        match self {
            Alphabet::Dna => is_base(query) && without_end(query) == target,
            Alphabet::Protein => query == target,
        }
    }

    /// The code of `letter` in either case, or `None` if it is not in the alphabet.
    pub fn code(self, letter: u8) -> Option<u8> {
        let code = match self {
            Alphabet::Dna => DNA_CODES[letter as usize],
            Alphabet::Protein => PROTEIN_CODES[letter as usize],
        };
        (code != NONE).then_some(code)
    }

    /// Appends the codes of `letters` to `codes`. The error is the 0-based position of the first character outside the
    /// alphabet; `codes` is then unchanged.
    pub fn encode(self, letters: &[u8], codes: &mut Vec<u8>) -> Result<(), usize> {
        let table = match self {
            Alphabet::Dna => &DNA_CODES,
            Alphabet::Protein => &PROTEIN_CODES,
        };
        let start = codes.len();
        if letters.len() < LONG {
            codes.extend(letters.iter().map(|&letter| table[letter as usize]));
        } else {
            // A chromosome. Its memory is new, and is also mapped by all threads.
            codes.par_extend(letters.par_iter().with_min_len(LONG / 8).map(|&letter| table[letter as usize]));
        }
        // `contains` checks many codes at once, and there is almost never an invalid code.
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

/// The reverse complement of DNA or RNA (IUPAC codes included), as DNA: A becomes T, and U becomes A.
#[cfg(feature = "cli")]
pub fn reverse_complement(letters: &[u8]) -> Vec<u8> {
    // The library leaves U unchanged.
    let dna = letters.iter().map(|&letter| match letter {
        b'U' => b'T',
        b'u' => b't',
        _ => letter,
    });
    bio::alphabets::dna::revcomp(dna.collect::<Vec<u8>>())
}

/// The complement of each code of [`DNA`]: ACGT to TGCA, R-Y, S, W, K-M, B-V, D-H, N. Ends stay ends. With one entry for each byte
/// value, the index needs no check.
static COMPLEMENTS: [u8; 256] = {
    let complements = [3, 2, 1, 0, 5, 4, 6, 7, 9, 8, 13, 12, 11, 10, 14];
    let mut table = [NONE; 256];
    let mut code = 0;
    while code < complements.len() {
        table[code] = complements[code];
        table[code | END as usize] = complements[code] | END;
        code += 1;
    }
    table
};

/// The complement of each character of [`DNA`] and of U, in the same case. Any other byte maps to itself.
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

/// The complement of a DNA or RNA character, as DNA.
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
