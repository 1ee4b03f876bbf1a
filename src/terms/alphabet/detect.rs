//! Distinguishes DNA from proteins by their residues.
//!
//! 14 of the 20 amino acids share their characters with IUPAC codes of nucleotides. The other six (E, F, I, L, P and Q)
//! make up a third of the residues of proteins, so that only one in 5,000 random proteins with 20 residues has none of
//! them. In those that have none, a third of the residues are A, C, G or T on average. Degenerate primers and consensus
//! sequences have more than half.

use super::Alphabet;

/// With fewer residues the alphabet is uncertain, unless one of them occurs only in proteins: GATTACA is a peptide as
/// well.
const TELLING_LETTERS: usize = 20;
/// This many residues suffice for DNA if all of them are bases, and of at least [`TELLING_BASES`] kinds: GAGAGAGAGA is
/// a peptide as well.
const FEW_TELLING_LETTERS: usize = 10;
const TELLING_BASES: u32 = 3;

/// The alphabet that the residues of some sequences suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggested {
    pub alphabet: Alphabet,
    /// Whether the residues leave no doubt.
    pub is_certain: bool,
}

/// Number of residues of each kind.
#[derive(Default)]
struct Kinds {
    /// A, C, G, T and U.
    bases: usize,
    /// One bit for each of A, C, G and T that occurs.
    seen: u8,
    /// N.
    any: usize,
    /// Other IUPAC codes of nucleotides.
    codes: usize,
    /// Residues that occur only in proteins.
    residues: usize,
}

impl Kinds {
    /// Counts residues. Other bytes, such as gap characters, are ignored.
    fn of(letters: &[u8]) -> Kinds {
        let mut kinds = Kinds::default();
        for letter in letters.iter().map(u8::to_ascii_uppercase) {
            match letter {
                b'A' | b'C' | b'G' | b'T' | b'U' => {
                    kinds.bases += 1;
                    kinds.seen |= Alphabet::Dna.code(letter).map_or(0, |code| 1 << code);
                }
                b'N' => kinds.any += 1,
                _ if Alphabet::Dna.code(letter).is_some() => kinds.codes += 1,
                _ if Alphabet::Protein.code(letter).is_some() => kinds.residues += 1,
                _ => {}
            }
        }
        kinds
    }

    fn suggested(&self) -> Option<Suggested> {
        let told = self.codes + self.residues + self.bases;
        let all = told + self.any;
        let has_at_least = |tenths: usize| 10 * self.bases >= tenths * told;
        let is_long = all >= TELLING_LETTERS;
        let are_bases =
            self.bases == all && all >= FEW_TELLING_LETTERS && self.seen.count_ones() >= TELLING_BASES;
        let is_dna = match self.residues {
            0 => has_at_least(5),
            // A stray character in DNA, which the reader then reports.
            _ => is_long && has_at_least(9),
        };
        let is_certain = self.residues > 0 || is_dna && (is_long || are_bases);
        let alphabet = if is_dna { Alphabet::Dna } else { Alphabet::Protein };
        (all > 0).then_some(Suggested { alphabet, is_certain })
    }
}

impl Alphabet {
    /// The alphabet that `letters` suggest. They are DNA if all of them are IUPAC codes of nucleotides and at least
    /// half of those other than N are A, C, G, T or U, or if there are at least 20 and at least nine in ten are. `None`
    /// if there are no residues.
    pub fn detect(letters: &[u8]) -> Option<Alphabet> {
        Alphabet::suggested(letters).map(|suggested| suggested.alphabet)
    }

    /// Like [`Alphabet::detect`], but only if there is no doubt: one of the residues occurs only in proteins, or they
    /// suggest DNA and number at least 20, or at least 10 if all are A, C, G, T or U, of at least three kinds.
    ///
    /// ```
    /// use swalign::Alphabet;
    ///
    /// assert_eq!(Alphabet::detect_certain(b"GTGYCAGCMGCCGCGGTAA"), None);
    /// assert_eq!(Alphabet::detect_certain(b"GTGYCAGCMGCCGCGGTAAT"), Some(Alphabet::Dna));
    /// assert_eq!(Alphabet::detect_certain(b"GATTACAL"), Some(Alphabet::Protein));
    /// ```
    pub fn detect_certain(letters: &[u8]) -> Option<Alphabet> {
        let suggested = Alphabet::suggested(letters).filter(|suggested| suggested.is_certain);
        suggested.map(|suggested| suggested.alphabet)
    }

    /// The alphabet that `letters` suggest, or `None` if there are no residues.
    #[doc(hidden)]
    pub fn suggested(letters: &[u8]) -> Option<Suggested> {
        Kinds::of(letters).suggested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_suggest_an_alphabet() {
        let dna = |is_certain| Some(Suggested { alphabet: Alphabet::Dna, is_certain });
        let protein = |is_certain| Some(Suggested { alphabet: Alphabet::Protein, is_certain });
        for (letters, expected) in [
            ("", None),
            ("--..", None),
            ("GATTACA", dna(false)),
            ("gagagaga", dna(false)),
            ("NNNN", dna(false)),
            ("ACGTNNacguACGTNNacgu", dna(true)),
            ("ACGTACGTAC", dna(true)),
            ("UUUAGAAAAA", dna(true)),
            ("ACGTACGTA", dna(false)),
            ("ACGTACGTA-", dna(false)),
            ("GAGAGAGAGAGAGAGAGAG", dna(false)),
            ("GAGAGAGAGAGAGAGAGAGA", dna(true)),
            ("ACGTACGTACGTACGTACN", dna(false)),
            ("ACGTACGTACGTACGTACNN", dna(true)),
            // Half of the residues other than N are bases, and one less than half.
            ("ACGTRYSWACGTRYSWNNNN", dna(true)),
            ("ACGTRYSWACGRRYSWNNNN", protein(false)),
            ("RYKMRYKM", protein(false)),
            ("RYKMRYKMRYKMRYKMRYKM", protein(false)),
            ("MKVLAAGIT", protein(true)),
            ("GATTACAL", protein(true)),
            // Residues that occur only in proteins, among 19 and 18 bases of 20 residues, and among fewer than 20
            // residues.
            ("ACGTACGTACGTACGTACGX", dna(true)),
            ("ACGTACGTACGTACGTACXX", dna(true)),
            ("ACGTACGTACGTACGTAXXX", protein(true)),
            ("ACGTACGTACGTACGTAC*", protein(true)),
        ] {
            assert_eq!(Alphabet::suggested(letters.as_bytes()), expected, "{letters}");
        }
    }

    /// Random proteins, by the frequencies of residues in UniProt in thousandths: fewer than 1 in 1,000 are taken for
    /// DNA.
    #[test]
    fn random_proteins_are_rarely_taken_for_dna() {
        let shares = b"A83R55N41D55C14Q39E67G71H23I59L97K58M24F39P47S66T53W11Y29V69";
        let residues: Vec<u8> = shares
            .chunk_by(|_, next| !next.is_ascii_uppercase())
            .flat_map(|share| {
                let count = str::from_utf8(&share[1..]).unwrap().parse().unwrap();
                std::iter::repeat_n(share[0], count)
            })
            .collect();
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            residues[(state >> 33) as usize % residues.len()]
        };
        let mut counts = [0; 3];
        for _ in 0..20_000 {
            let letters: Vec<u8> = (0..20).map(|_| next()).collect();
            counts[0] += usize::from(Alphabet::detect_certain(&letters) == Some(Alphabet::Dna));
            counts[1] += usize::from(Alphabet::detect_certain(&letters[..10]) == Some(Alphabet::Dna));
            counts[2] += usize::from(Alphabet::detect(&letters[..8]) == Some(Alphabet::Dna));
        }
        assert!(counts[0] < 20 && counts[1] < 20 && counts[2] < 400, "{counts:?}");
    }
}
