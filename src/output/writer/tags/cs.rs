//! minimap2's tag cs: both sides of an alignment in one text.
//!
//! ```text
//! :5      five columns with equal residues; in the long form =ACGTA
//! *ac     a of the target beside c of the query
//! +ac     ac of the query, inserted
//! -ac     ac of the target, deleted
//! ```
//!
//! The number of signs `*` and of residues after `+` and `-` is NM, since N equals nothing here, as in NM and MD.
//! (minimap2 counts N beside N as an edit in NM, but as equal in cs.) In DNA all codes except A, C, G and T are shown
//! as n, as in minimap2, whose manual allows no others in the tag.

use super::{NONE, Residues, push_number};
use crate::terms::alignment::{ColumnOp, PathPiece};
use crate::terms::casts::to_i64;
use crate::terms::options::CsForm;

/// Appends a piece of an alignment.
pub(super) fn push(cs: &mut Vec<u8>, form: CsForm, residues: &Residues, piece: &PathPiece) {
    let lower = |letter: u8| match residues.codes[usize::from(letter)] {
        NONE => b'n',
        code => residues.letter(code).to_ascii_lowercase(),
    };
    cs.push(match (piece.op, form) {
        (ColumnOp::Equal, CsForm::Short) => b':',
        (ColumnOp::Equal, CsForm::Long) => b'=',
        (ColumnOp::Unequal, _) => b'*',
        (ColumnOp::Insertion, _) => b'+',
        (ColumnOp::Deletion, _) => b'-',
    });
    let target = piece.target.iter().map(|&code| residues.letter(code));
    match (piece.op, form) {
        (ColumnOp::Equal, CsForm::Short) => push_number(cs, to_i64(piece.columns())),
        (ColumnOp::Equal, CsForm::Long) => cs.extend(target),
        _ => cs.extend(target.chain(piece.query.iter().copied()).map(lower)),
    }
}

#[cfg(test)]
mod tests {
    use crate::output::writer::tags::tests::{codes, spanning};
    use crate::output::writer::tags::{EditTags, Residues};
    use crate::output::writer::tests::random_path;
    use crate::terms::alignment::{Alignment, PathOp, PathRuns};
    use crate::terms::alphabet::Alphabet;
    use crate::terms::options::CsForm;
    use crate::terms::random::Random;
    use smallvec::smallvec;

    fn found(alphabet: Alphabet, form: CsForm, (query, target): (&[u8], &[u8]), hit: &Alignment) -> EditTags {
        let (residues, codes) = (Residues::new(alphabet), codes(alphabet, target));
        let mut found = EditTags { cs: b"stale".to_vec(), ..EditTags::default() };
        let aligned = hit.aligned_residues(&codes);
        found.find(&residues, Some(form), (query, aligned), hit);
        found
    }

    #[test]
    fn cs_by_hand() {
        use PathOp::{Deletion, Insertion, Match};
        let check = |alphabet, query: &str, target: &str, cigar: PathRuns, short: &str, long: &str| {
            for (form, expected) in [(CsForm::Short, short), (CsForm::Long, long)] {
                let sides = (query.as_bytes(), target.as_bytes());
                let cs = found(alphabet, form, sides, &spanning(0, cigar.clone())).cs;
                assert_eq!(String::from_utf8(cs).unwrap(), expected, "{query} {target}");
            }
        };
        let dna = |query, target, cigar, short, long| check(Alphabet::Dna, query, target, cigar, short, long);
        dna("ACGT", "ACGT", smallvec![(4, Match)], ":4", "=ACGT");
        dna("ACGT", "CCGA", smallvec![(4, Match)], "*ca:2*at", "*ca=CG*at");
        dna("GG", "TT", smallvec![(2, Match)], "*tg*tg", "*tg*tg");
        dna("ANGN", "ANGA", smallvec![(4, Match)], ":1*nn:1*an", "=A*nn=G*an");
        dna("ARG", "ARY", smallvec![(3, Match)], ":1*nn*ng", "=A*nn*ng");
        dna("ACGT", "ACTTGT", smallvec![(2, Match), (2, Deletion), (2, Match)], ":2-tt:2", "=AC-tt=GT");
        dna("ACGGT", "ACT", smallvec![(2, Match), (2, Insertion), (1, Match)], ":2+gg:1", "=AC+gg=T");
        let both = smallvec![(1, Match), (1, Deletion), (1, Insertion), (1, Deletion), (1, Match)];
        dna("AGC", "ATAC", both, ":1-t+g-a:1", "=A-t+g-a=C");
        dna("AC", "", smallvec![(2, Insertion)], "+ac", "+ac");
        dna("AC", "AC", smallvec![], "", "");
        let protein = |query, target, short, long| {
            check(Alphabet::Protein, query, target, smallvec![(4, Match)], short, long)
        };
        protein("MKXL", "MKXL", ":4", "=MKXL");
        protein("MK*L", "MKVL", ":2*vx:1", "=MK*vx=L");
        protein("MKVL", "MK*L", ":2*xv:1", "=MK*xv=L");
        protein("MUOJ", "MUJO", ":2*jo*oj", "=MU*jo*oj");
    }

    /// Both sides of the aligned part, read from the long form, and the number of edits in the tag.
    fn sides(cs: &[u8]) -> (Vec<u8>, Vec<u8>, u64) {
        let (mut query, mut target, mut edits) = (Vec::new(), Vec::new(), 0);
        let is_sign = |letter: &u8| !letter.is_ascii_alphabetic();
        let mut rest = cs;
        while let Some((sign, after)) = rest.split_first() {
            let end = after.iter().position(is_sign).unwrap_or(after.len());
            let letters = after[..end].to_ascii_uppercase();
            match sign {
                b'=' => {
                    query.extend(&letters);
                    target.extend(&letters);
                }
                b'*' => {
                    target.push(letters[0]);
                    query.push(letters[1]);
                    edits += 1;
                }
                b'+' => query.extend(&letters),
                b'-' => target.extend(&letters),
                other => panic!("{other}"),
            }
            edits += if b"+-".contains(sign) { letters.len() as u64 } else { 0 };
            rest = &after[end..];
        }
        (query, target, edits)
    }

    /// The long form holds both sequences, and as many edits as NM. The short form has the lengths of the equal runs.
    #[test]
    fn cs_holds_both_sides() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let is_protein = seed % 3 == 0;
            let (alphabet, letters) = match is_protein {
                true => (Alphabet::Protein, &b"AAARNDUOJXBZ"[..]),
                false => (Alphabet::Dna, &b"AACCGGTTTNN"[..]),
            };
            let cigar = random_path(&mut random);
            let mut hit = spanning(0, cigar);
            let (before, after) = (random.number(4), random.number(4));
            (hit.query_start, hit.query_end) = (before, hit.query_end + before);
            (hit.target_start, hit.target_end) = (after, hit.target_end + after);
            let query = random.letters((hit.query_end + after) as usize, letters);
            let target = random.letters((hit.target_end + before) as usize, letters);
            let long = found(alphabet, CsForm::Long, (&query, &target), &hit);
            let (of_query, of_target, edits) = sides(&long.cs);
            assert_eq!(of_query, &query[hit.query_start as usize..hit.query_end as usize], "seed {seed}");
            assert_eq!(of_target, &target[hit.target_start as usize..hit.target_end as usize], "seed {seed}");
            assert_eq!(edits, long.counts.edits(), "seed {seed}");
            let mut short = String::new();
            let mut equal = 0;
            for letter in String::from_utf8(long.cs).unwrap().chars().chain(['\n']) {
                match letter {
                    'A'..='Z' => equal += 1,
                    _ if equal > 0 => short += &format!(":{}{letter}", std::mem::take(&mut equal)),
                    '=' => {}
                    _ => short.push(letter),
                }
            }
            let shown = found(alphabet, CsForm::Short, (&query, &target), &hit).cs;
            assert_eq!(String::from_utf8(shown).unwrap(), short.trim_end(), "seed {seed}");
        }
    }
}
