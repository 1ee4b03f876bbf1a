//! Genetic codes, and the translation of DNA to proteins.

use super::{Alphabet, CODES, DNA, reverse_complement_codes};
use crate::terms::alignment::Strand;
use crate::terms::casts::{const_u8, to_usize};

/// In place of the residue of a codon, at bases that end none.
pub const NO_CODON: u8 = b'-';
/// A code that no residue has. It scores lowest against all codes.
const NO_RESIDUE: u8 = const_u8(CODES) - 1;

/// Bases in the order of NCBI's tables.
const ORDER: [u8; 4] = *b"TCAG";
/// The standard code: the amino acids of TTT, TTC, TTA, ..., GGG.
const STANDARD: &[u8; 64] = b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG";
/// The differences of other codes from the standard one, by their numbers at NCBI: codons, each with its amino acid.
const OTHERS: &[(u8, &str)] = &[
    (2, "AGA* AGG* ATAM TGAW"),
    (3, "ATAM CTTT CTCT CTAT CTGT TGAW"),
    (4, "TGAW"),
    (5, "AGAS AGGS ATAM TGAW"),
    (6, "TAAQ TAGQ"),
    (9, "AAAN AGAS AGGS TGAW"),
    (10, "TGAC"),
    (11, ""),
    (12, "CTGS"),
    (13, "AGAG AGGG ATAM TGAW"),
    (14, "AAAN AGAS AGGS TAAY TGAW"),
    (15, "TAGQ"),
    (16, "TAGL"),
    (21, "TGAW ATAM AGAS AGGS AAAN"),
    (22, "TCA* TAGL"),
    (23, "TTA*"),
    (24, "AGAS AGGK TGAW"),
    (25, "TGAG"),
    (26, "CTGA"),
    (27, "TAAQ TAGQ TGAW"),
    (28, "TAAQ TAGQ TGAW"),
    (29, "TAAY TAGY"),
    (30, "TAAE TAGE"),
    (31, "TGAW TAAE TAGE"),
    (32, "TAGW"),
    (33, "TAAY TGAW AGAS AGGK"),
];

/// A genetic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneticCode {
    /// The number of its table at NCBI.
    pub number: u8,
    /// Amino acids in the order of NCBI's tables; `*` is a stop.
    amino_acids: [u8; 64],
}

impl Default for GeneticCode {
    fn default() -> GeneticCode {
        GeneticCode { number: 1, amino_acids: *STANDARD }
    }
}

impl GeneticCode {
    /// The code with a number of NCBI, if there is one.
    pub fn numbered(number: u8) -> Option<GeneticCode> {
        let standard = GeneticCode::default();
        if number == 1 {
            return Some(standard);
        }
        let (_, differences) = OTHERS.iter().find(|&&(other, _)| other == number)?;
        let mut amino_acids = standard.amino_acids;
        for difference in differences.split(' ').filter_map(|word| word.as_bytes().first_chunk::<4>()) {
            let [one, two, three, amino_acid] = *difference;
            amino_acids[place([one, two, three].map(order))] = amino_acid;
        }
        Some(GeneticCode { number, amino_acids })
    }

    /// The numbers of all codes.
    pub fn numbers() -> impl Iterator<Item = u8> {
        std::iter::once(1).chain(OTHERS.iter().map(|&(number, _)| number))
    }

    /// The residue of a codon: that of all codons that its letters stand for, or X if they have several.
    pub fn residue(&self, codon: [u8; 3]) -> u8 {
        if codon.iter().all(|base| ORDER.contains(base)) {
            return self.amino_acids[place(codon.map(order))];
        }
        let [one, two, three] = codon.map(bases);
        let mut residues = one.iter().flat_map(|&one| {
            two.iter().flat_map(move |&two| three.iter().map(move |&three| [one, two, three]))
        });
        let mut residue = |codon: [u8; 3]| self.amino_acids[place(codon.map(order))];
        let Some(first) = residues.next().map(&mut residue) else { return b'X' };
        if residues.all(|codon| residue(codon) == first) { first } else { b'X' }
    }

    /// A translation of DNA codes: the residues of one frame without an incomplete last codon, or [`NO_CODON`] twice and
    /// the residues of all codons.
    pub fn translate(&self, codes: &[u8], strand: Strand) -> Vec<u8> {
        let letter = |code: u8| DNA.get(usize::from(code)).copied().unwrap_or(b'N');
        let letters: Vec<u8> = match strand.is_minus() {
            true => reverse_complement_codes(codes).map(letter).collect(),
            false => codes.iter().copied().map(letter).collect(),
        };
        match strand.first_base() {
            Some(first) => {
                let rest = letters.get(to_usize(first)..).unwrap_or_default();
                rest.as_chunks::<3>().0.iter().map(|&codon| self.residue(codon)).collect()
            }
            None => {
                let before = std::iter::repeat_n(NO_CODON, letters.len().min(2));
                before
                    .chain(letters.windows(3).map(|codon| self.residue([codon[0], codon[1], codon[2]])))
                    .collect()
            }
        }
    }
}

/// Place of a base in NCBI's order. Other letters have none.
fn order(base: u8) -> usize {
    ORDER.iter().position(|&known| known == base).unwrap_or(0)
}

fn place([one, two, three]: [usize; 3]) -> usize {
    16 * one + 4 * two + three
}

/// The bases that a letter of DNA stands for.
fn bases(letter: u8) -> &'static [u8] {
    match letter.to_ascii_uppercase() {
        b'A' => b"A",
        b'C' => b"C",
        b'G' => b"G",
        b'T' | b'U' => b"T",
        b'R' => b"AG",
        b'Y' => b"CT",
        b'S' => b"CG",
        b'W' => b"AT",
        b'K' => b"GT",
        b'M' => b"AC",
        b'B' => b"CGT",
        b'D' => b"AGT",
        b'H' => b"ACT",
        b'V' => b"ACG",
        b'N' => b"ACGT",
        _ => b"",
    }
}

/// The codes of a protein. Its residues are those of a translation.
pub fn protein_codes(protein: &[u8]) -> impl Iterator<Item = u8> + '_ {
    protein.iter().map(|&residue| Alphabet::Protein.code(residue).unwrap_or(NO_RESIDUE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::{Frames, Strands};

    fn frame_of(number: u8, letters: &str, strand: Strand) -> String {
        let mut codes = Vec::new();
        Alphabet::Dna.encode(letters.as_bytes(), &mut codes).unwrap();
        String::from_utf8(GeneticCode::numbered(number).unwrap().translate(&codes, strand)).unwrap()
    }

    fn translated(number: u8, letters: &str) -> String {
        frame_of(number, letters, Strand::Plus1)
    }

    #[test]
    fn codons_have_their_residues() {
        assert_eq!(translated(1, "ATGGCTTAAtgaugg"), "MA**W");
        assert_eq!(translated(2, "ATAAGATGAATG"), "M*WM");
        assert_eq!(translated(3, "CTACTGCTTATA"), "TTTM");
        assert_eq!(translated(12, "CTGCTA"), "SL");
        assert_eq!(translated(11, "GTGTTGTAG"), "VL*");
        // The last codon is incomplete.
        assert_eq!(translated(1, "ATGGC"), "M");
        assert_eq!(translated(1, "AT"), "");
    }

    #[test]
    fn frames_begin_at_three_bases_of_each_strand() {
        let dna = "ATGGCCTGA";
        let of = |strands: Strands, dna: &str| -> Vec<String> {
            strands.orientations().iter().map(|&strand| frame_of(1, dna, strand)).collect()
        };
        // The reverse complement is TCAGGCCAT.
        assert_eq!(of(Strands::Frames(Frames::ALL), dna), ["MA*", "WP", "GL", "SGH", "QA", "RP"]);
        assert_eq!(of(Strands::AllCodons, dna), ["--MWGAPL*", "--SQRGAPH"]);
        assert_eq!(of(Strands::Plus.translated(false), "A"), ["", "", ""]);
        assert_eq!(of(Strands::AllCodons, "A"), ["-", "-"]);
        assert_eq!(protein_codes(b"-A").collect::<Vec<_>>(), [31, 0]);
    }

    #[test]
    fn ambiguous_codons_translate_to_what_is_certain() {
        // GCN is alanine, ATH isoleucine, TAR a stop, YTG leucine; RAY is asparagine or aspartic acid.
        assert_eq!(translated(1, "GCNATHTARYTGRAYNNN"), "AI*LXX");
        // MGR is arginine in the standard code, and arginine or a stop in code 2.
        assert_eq!((translated(1, "MGR"), translated(2, "MGR")), ("R".to_string(), "X".to_string()));
    }

    #[test]
    fn numbers_are_those_of_ncbi() {
        let numbers: Vec<u8> = GeneticCode::numbers().collect();
        assert_eq!(numbers[..6], [1, 2, 3, 4, 5, 6]);
        assert!(numbers.is_sorted() && numbers.len() == 27);
        for number in 0..=u8::MAX {
            assert_eq!(
                GeneticCode::numbered(number).map(|code| code.number),
                numbers.contains(&number).then_some(number)
            );
        }
    }
}
