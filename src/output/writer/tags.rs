//! Tags that describe the differences between the query and the target of an alignment: NM, MD and cs.

mod cs;

use crate::terms::alignment::{Alignment, ColumnCounts, ColumnOp};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::{to_i64, to_u8};
use crate::terms::options::CsForm;
use std::mem;

/// A value that is no code of a target.
const NONE: u8 = u8::MAX;

/// The differences between the two sides of an alignment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditTags {
    pub counts: ColumnCounts,
    /// MD: the target's residues at differences, `[0-9]+(([A-Z]|\^[A-Z]+)[0-9]+)*`.
    pub md: Vec<u8>,
    /// cs; empty if it was not requested, or if the alignment has no columns.
    pub cs: Vec<u8>,
}

/// The characters and codes of an alphabet for SAM.
pub struct Residues {
    /// The code of each character; only equal residues share one.
    pub(super) codes: [u8; 256],
    /// The character of each code.
    pub(super) letters: Vec<u8>,
}

impl Residues {
    pub fn new(alphabet: Alphabet) -> Residues {
        let equals = |code: &u8| alphabet == Alphabet::Protein || *code < 4;
        let code = |letter| alphabet.code(to_u8(letter)).filter(equals).unwrap_or(NONE);
        let letters = alphabet.letters().iter().map(|&letter| sam_letter(letter)).collect();
        Residues { codes: std::array::from_fn(code), letters }
    }

    /// Whether a query residue and a target code count as equal in NM, MD and `=`: the same code, and in DNA one of A,
    /// C, G, T.
    pub fn equal(&self, letter: u8, code: u8) -> bool {
        self.codes[usize::from(letter)] == code
    }

    /// Number of columns of an alignment with an ambiguous residue: none of A, C, G and T. Proteins have none.
    pub fn ambiguous(&self, (query, target): (&[u8], &[u8]), alignment: &Alignment) -> u64 {
        let is_ambiguous = |letter: u8| self.codes[usize::from(letter)] == NONE;
        let mut ambiguous = 0;
        alignment.for_each_piece(
            (query, target),
            |letter, code| self.equal(letter, code),
            |piece| {
                let of_query = piece.query.iter().filter(|letter| is_ambiguous(**letter)).count();
                let of_target = piece.target.iter().filter(|code| is_ambiguous(self.letter(**code))).count();
                // A piece with residues of both sides has equal columns, which are not ambiguous, or one column.
                ambiguous += of_query.max(of_target) as u64;
            },
        );
        ambiguous
    }

    fn letter(&self, code: u8) -> u8 {
        self.letters[usize::from(code)]
    }
}

/// A residue as SAM can hold it: SEQ and MD allow no `*`, so a protein's stop is written as X.
pub fn sam_letter(letter: u8) -> u8 {
    if letter == b'*' { b'X' } else { letter }
}

impl EditTags {
    /// Finds the differences of an alignment from the query's residues in the aligned orientation and the target's
    /// aligned codes.
    pub fn find(
        &mut self,
        residues: &Residues,
        form: Option<CsForm>,
        (query, target): (&[u8], &[u8]),
        alignment: &Alignment,
    ) {
        let EditTags { counts, md, cs } = self;
        *counts = ColumnCounts::default();
        md.clear();
        cs.clear();
        // Equal residues since the last residue in MD, possibly 0: MD requires a number between any two residues, which
        // also separates a mismatch from a preceding deletion.
        let mut equals = 0;
        let equal = |letter, code| residues.equal(letter, code);
        alignment.for_each_piece((query, target), equal, |piece| {
            counts.add(&piece);
            match piece.op {
                ColumnOp::Equal => equals += to_i64(piece.columns()),
                ColumnOp::Insertion => {}
                ColumnOp::Unequal | ColumnOp::Deletion => {
                    push_number(md, mem::take(&mut equals));
                    if piece.op == ColumnOp::Deletion {
                        md.push(b'^');
                    }
                    md.extend(piece.target.iter().map(|&code| residues.letter(code)));
                }
            }
            if let Some(form) = form {
                cs::push(cs, form, residues, &piece);
            }
        });
        push_number(md, equals);
    }
}

/// Appends a number in decimal.
pub fn push_number(text: &mut Vec<u8>, number: impl Into<i64>) {
    let number = number.into();
    if number < 0 {
        text.push(b'-');
    }
    let mut rest = number.unsigned_abs();
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::{PathOp, PathRuns, Strand};
    use smallvec::smallvec;

    pub(super) fn codes(alphabet: Alphabet, letters: &[u8]) -> Vec<u8> {
        let mut codes = Vec::new();
        alphabet.encode(letters, &mut codes).unwrap();
        codes
    }

    pub(super) fn spanning(score: i32, cigar: PathRuns) -> Alignment {
        let span = |kind: PathOp| cigar.iter().filter(|(_, op)| *op != kind).map(|(len, _)| len).sum();
        let (query_end, target_end) = (span(PathOp::Deletion), span(PathOp::Insertion));
        let strand = Strand::Forward;
        Alignment {
            strand,
            target: 0,
            score,
            query_start: 0,
            query_end,
            target_start: 0,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    fn tags(alphabet: Alphabet, query: &str, target: &str, cigar: PathRuns) -> (u64, String) {
        let target = codes(alphabet, target.as_bytes());
        let counts = ColumnCounts { matches: 7, ..ColumnCounts::default() };
        let mut found = EditTags { counts, md: b"stale".to_vec(), cs: b"stale".to_vec() };
        let sides = (query.as_bytes(), &target[..]);
        found.find(&Residues::new(alphabet), None, sides, &spanning(0, cigar));
        assert_eq!(found.cs, b"");
        (found.counts.edits(), String::from_utf8(found.md).unwrap())
    }

    #[test]
    fn nm_and_md_by_hand() {
        use PathOp::{Deletion, Insertion, Match};
        let dna = |query, target, cigar| tags(Alphabet::Dna, query, target, cigar);
        assert_eq!(dna("ACGT", "ACGT", smallvec![(4, Match)]), (0, "4".into()));
        assert_eq!(dna("ACGT", "CCGA", smallvec![(4, Match)]), (2, "0C2A0".into()));
        assert_eq!(dna("ANGN", "ANGA", smallvec![(4, Match)]), (2, "1N1A0".into()), "N matches nothing");
        assert_eq!(dna("ARG", "ARG", smallvec![(3, Match)]), (1, "1R1".into()));
        let gap = smallvec![(2, Match), (2, Deletion), (2, Match)];
        assert_eq!(dna("ACGT", "ACTTGT", gap.clone()), (2, "2^TT2".into()));
        assert_eq!(dna("ACGT", "ACTTAT", gap), (3, "2^TT0A1".into()), "a 0 parts deletion and mismatch");
        assert_eq!(dna("ACGGT", "ACT", smallvec![(2, Match), (2, Insertion), (1, Match)]), (2, "3".into()));
        let both = smallvec![(1, Match), (1, Deletion), (1, Insertion), (1, Deletion), (1, Match)];
        assert_eq!(dna("AGC", "ATAC", both), (3, "1^T0^A1".into()));
    }

    #[test]
    fn protein_letters() {
        let protein = |query, target, cigar| tags(Alphabet::Protein, query, target, cigar);
        assert_eq!(protein("MKXL", "MKXL", smallvec![(4, PathOp::Match)]), (0, "4".into()));
        assert_eq!(protein("MKVL", "MK*L", smallvec![(4, PathOp::Match)]), (1, "2X1".into()), "MD has no *");
        for (query, target) in [("MUL", "MOL"), ("MUL", "MXL"), ("MOL", "MUL"), ("MXL", "MJL")] {
            let expected = (1, format!("1{}1", &target[1..2]));
            assert_eq!(protein(query, target, smallvec![(3, PathOp::Match)]), expected, "{query} {target}");
        }
    }

    #[test]
    fn numbers() {
        for number in [0, 1, 9, 10, 99, 100, -1, -10, i64::from(i32::MIN), i64::MIN, i64::MAX] {
            let mut text = b"x".to_vec();
            push_number(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), format!("x{number}"));
        }
    }

    #[test]
    fn equality_is_that_of_codes() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let residues = Residues::new(alphabet);
            for (letter, code) in (0..=255).flat_map(|letter| (0..32).map(move |code| (letter, code))) {
                let matches = alphabet == Alphabet::Protein || code < 4;
                let expected = matches && alphabet.code(letter) == Some(code);
                assert_eq!(residues.equal(letter, code), expected, "{alphabet} {letter} {code}");
            }
        }
    }
}
