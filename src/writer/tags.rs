//! What a record says about its alignment: NM, MD and the mapping quality.

use crate::alignment::{Alignment, Op};
use crate::alphabet::Alphabet;
use crate::scoring::{Scoring, Substitution};

/// No mapping quality is above this (255 would mean "not known").
const MAX_MAPQ: f64 = 60.0;
/// Spans up to this length weigh their identity in full; bwa's `mapQ_coef_len`.
const MAPQ_SPAN: f64 = 50.0;
/// No code of a target.
const NONE: u8 = u8::MAX;

/// How an alignment's two sides differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditTags {
    /// NM: mismatches, inserted and deleted residues.
    pub edits: u32,
    /// MD: the target's letters where they differ, `[0-9]+(([A-Z]|\^[A-Z]+)[0-9]+)*`.
    pub md: Vec<u8>,
}

/// The letters and codes of an alphabet as SAM needs them.
pub struct Residues {
    /// The code that a letter equals.
    codes: [u8; 256],
    /// The letter of a code.
    letters: Vec<u8>,
}

impl Residues {
    pub fn new(alphabet: Alphabet) -> Residues {
        let equals = |code: &u8| alphabet == Alphabet::Protein || *code < 4;
        let code = |letter| alphabet.code(letter as u8).filter(equals).unwrap_or(NONE);
        let letters = alphabet.letters().iter().map(|&letter| sam_letter(letter)).collect();
        Residues { codes: std::array::from_fn(code), letters }
    }

    /// Whether a query letter and a target code count as equal in NM, MD and `=`: the same code, and
    /// in DNA one of A, C, G, T. Letters that share a code (U, O, J and X of a protein) are equal.
    pub fn equal(&self, letter: u8, code: u8) -> bool {
        self.codes[usize::from(letter)] == code
    }

    /// Calls `unequal` with each place at which a run of letters and a run of codes are not equal.
    pub fn for_each_unequal(&self, query: &[u8], target: &[u8], unequal: impl FnMut(usize)) {
        let sides = query.iter().zip(target).enumerate();
        let differs = sides.filter(|(_, (letter, code))| !self.equal(**letter, **code));
        differs.map(|(at, _)| at).for_each(unequal);
    }

    /// Whether a query letter is none of A, C, G and T; a protein has no such letters.
    pub fn is_ambiguous(&self, letter: u8) -> bool {
        self.codes[usize::from(letter)] == NONE
    }

    /// The same of a target's code.
    pub fn is_ambiguous_code(&self, code: u8) -> bool {
        self.is_ambiguous(self.letter(code))
    }

    fn letter(&self, code: u8) -> u8 {
        self.letters[usize::from(code)]
    }
}

/// A residue as SAM may hold it: SEQ and MD have no `*`, so a protein's stop is written X.
pub fn sam_letter(letter: u8) -> u8 {
    if letter == b'*' { b'X' } else { letter }
}

impl EditTags {
    /// Finds NM and MD of an alignment, from the query's letters in the aligned orientation and the
    /// target's codes; what was found before is forgotten.
    pub fn find(&mut self, residues: &Residues, query: &[u8], target: &[u8], alignment: &Alignment) {
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        let EditTags { edits, md } = self;
        *edits = 0;
        md.clear();
        // Equal residues since the last letter of MD, 0 included: MD wants a number between any two
        // letters, which also keeps a mismatch after a deletion apart from it.
        let mut equals = 0;
        for &(len, op) in &alignment.cigar {
            let steps = len as usize;
            match op {
                Op::Match => {
                    let codes = &target[j..j + steps];
                    let mut passed = 0;
                    residues.for_each_unequal(&query[i..i + steps], codes, |at| {
                        push_number(md, (equals + at - passed) as i64);
                        md.push(residues.letter(codes[at]));
                        *edits += 1;
                        (equals, passed) = (0, at + 1);
                    });
                    equals += steps - passed;
                    i += steps;
                    j += steps;
                }
                Op::Insertion => {
                    *edits += len;
                    i += steps;
                }
                Op::Deletion => {
                    push_number(md, equals as i64);
                    md.push(b'^');
                    md.extend(target[j..j + steps].iter().map(|&code| residues.letter(code)));
                    equals = 0;
                    *edits += len;
                    j += steps;
                }
            }
        }
        push_number(md, equals as i64);
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

/// The mapping quality of a primary alignment, 0 to 60, by bwa's formula (`mem_approx_mapq_se`; Li
/// 2013, arXiv:1303.3997):
///
/// ```text
/// l        = the longer of the query's and the target's span
/// identity = 1 - (l * a - score) / (a + b) / l
/// t        = identity^2 * (1 if l < 50, else ln 50 / ln l)
/// mapq     = floor(6.02 * (score - sub) / a * t^2 + .499) - floor(4.343 * ln(n + 1) + .499)
/// ```
///
/// and 0 where `sub >= score`. `sub` is the second best score. It is known exactly: no hit below
/// `threshold` exists, so where there is no second hit it can be at most `threshold - 1`. `n` is the
/// number of hits beside the best, here 0 or 1.
///
/// `a` and `b` are match and mismatch. A matrix has no single match score; its mean score of a
/// letter with itself stands for `a` (5 for EDNAFULL, 6 for BLOSUM62), and its worst score of two
/// letters for `-b`, so that a perfect alignment has an identity of about 1.
pub fn mapping_quality(scoring: &Scoring, alignment: &Alignment, second: Option<i32>, threshold: i32) -> u8 {
    let query_span = alignment.query_end - alignment.query_start;
    let target_span = alignment.target_end - alignment.target_start;
    quality_of(&Typical::of(scoring), query_span.max(target_span), alignment.score, (second, threshold))
}

/// The same by what it depends on: the longer span, the score, and the second one with the threshold.
pub fn quality_of(typical: &Typical, span: u32, score: i32, (second, threshold): (Option<i32>, i32)) -> u8 {
    let sub = second.unwrap_or(threshold.saturating_sub(1)).max(0);
    if sub >= score || span == 0 {
        return 0;
    }
    let (match_, mismatch) = (f64::from(typical.match_), f64::from(typical.mismatch));
    let (span, score) = (f64::from(span), f64::from(score));
    let identity = (1.0 - (span * match_ - score) / (match_ + mismatch) / span).clamp(0.0, 1.0);
    let weight = if span < MAPQ_SPAN { 1.0 } else { MAPQ_SPAN.ln() / span.ln() };
    let t = identity * identity * weight;
    let lead = (6.02 * (score - f64::from(sub)) / match_ * t * t + 0.499).floor();
    let others = if second.is_some() { (4.343 * 2f64.ln() + 0.499).floor() } else { 0.0 };
    (lead - others).clamp(0.0, MAX_MAPQ) as u8
}

/// The score of a match and the penalty of a mismatch, as [`mapping_quality`] wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typical {
    /// At least 1.
    pub match_: i32,
    /// At least 0.
    pub mismatch: i32,
}

impl Typical {
    pub fn of(scoring: &Scoring) -> Typical {
        let letters = scoring.alphabet.required_letters();
        let codes = 0..letters.len() as u8;
        match &scoring.substitution {
            Substitution::Equal { match_, mismatch } => Typical { match_: *match_, mismatch: *mismatch },
            Substitution::Matrix(_) => {
                let own: i32 = codes.clone().map(|code| scoring.score(code, code)).sum();
                let worst = codes.clone().flat_map(|q| codes.clone().map(move |t| scoring.score(q, t))).min();
                let mean = (f64::from(own) / letters.len() as f64).round();
                Typical { match_: (mean as i32).max(1), mismatch: -worst.unwrap_or(0).min(0) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Cigar, Strand};
    use crate::scoring::Matrix;
    use smallvec::smallvec;

    fn codes(alphabet: Alphabet, letters: &[u8]) -> Vec<u8> {
        let mut codes = Vec::new();
        alphabet.encode(letters, &mut codes).unwrap();
        codes
    }

    fn spanning(score: i32, cigar: Cigar) -> Alignment {
        let span = |kind: Op| cigar.iter().filter(|(_, op)| *op != kind).map(|(len, _)| len).sum();
        let (query_end, target_end) = (span(Op::Deletion), span(Op::Insertion));
        let strand = Strand::Forward;
        Alignment { strand, target: 0, score, query_start: 0, query_end, target_start: 0, target_end, cigar }
    }

    fn tags(alphabet: Alphabet, query: &str, target: &str, cigar: Cigar) -> (u32, String) {
        let target = codes(alphabet, target.as_bytes());
        let mut found = EditTags { edits: 7, md: b"stale".to_vec() };
        found.find(&Residues::new(alphabet), query.as_bytes(), &target, &spanning(0, cigar));
        (found.edits, String::from_utf8(found.md).unwrap())
    }

    #[test]
    fn nm_and_md_by_hand() {
        use Op::{Deletion, Insertion, Match};
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
        assert_eq!(protein("MKXL", "MKXL", smallvec![(4, Op::Match)]), (0, "4".into()));
        assert_eq!(protein("MKVL", "MK*L", smallvec![(4, Op::Match)]), (1, "2X1".into()), "MD has no *");
        assert_eq!(protein("MUL", "MXL", smallvec![(3, Op::Match)]), (0, "3".into()), "U is read as X");
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

    #[test]
    fn mapping_quality_by_hand() {
        let short = Scoring::dna(1, 4, 6, 1);
        let perfect = |len: u32, score| spanning(score, smallvec![(len, Op::Match)]);
        // 40 below the span of 50, identity 1: 6.02 * 8 + .499 = 48.66.
        assert_eq!(mapping_quality(&short, &perfect(40, 40), None, 33), 48);
        // The same with a real second of 32: 3 less.
        assert_eq!(mapping_quality(&short, &perfect(40, 40), Some(32), 32), 45);
        assert_eq!(mapping_quality(&short, &perfect(40, 40), Some(40), 32), 0, "two equal places");
        assert_eq!(
            mapping_quality(&short, &perfect(20, 20), None, 20),
            6,
            "nothing from 20 up, so 19 may be"
        );
        assert_eq!(mapping_quality(&short, &perfect(150, 150), None, 120), 60, "clamped");
        // l = 100, score 90 (2 mismatches): identity = 1 - 10/5/100 = .98, t = .9604 * .8495 = .8159,
        // 6.02 * (90 - 80) * .6656 + .499 = 40.57; the second takes 3.
        assert_eq!(mapping_quality(&short, &perfect(100, 90), Some(80), 72), 37);
        // A lead of 1 is worth 4, minus 3 for the second.
        assert_eq!(mapping_quality(&short, &perfect(100, 90), Some(89), 72), 1);
        let long = Scoring::dna(2, 4, 4, 2);
        // 6.02 * (80 - 70) / 2 + .499 = 30.6.
        assert_eq!(mapping_quality(&long, &perfect(40, 80), Some(70), 64), 27);
    }

    #[test]
    fn mapping_quality_of_odd_scores_stays_in_range() {
        let matrix = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        assert_eq!(Typical::of(&matrix), Typical { match_: 6, mismatch: 4 });
        for scoring in [matrix, Scoring::dna(1, 0, 0, 1), Scoring::dna(1 << 20, 1, 0, 1)] {
            for len in [1, 2, 49, 50, 51, 1_000_000] {
                for score in [1, 60, 1 << 29] {
                    for second in [None, Some(1), Some(score)] {
                        let alignment = spanning(score, smallvec![(len, Op::Match)]);
                        assert!(mapping_quality(&scoring, &alignment, second, i32::MIN) <= 60);
                    }
                }
            }
        }
    }
}
