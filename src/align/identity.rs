//! Column counts of an alignment (equal residues, mismatches, gaps), and the identities derived from them.

use crate::terms::alignment::{Alignment, PathOp};
use crate::terms::alphabet::{Alphabet, is_base, without_end};
use crate::terms::casts::to_u32;
use crate::terms::options::IdentityDefinition;
use crate::terms::scoring::Scoring;

/// The columns of an alignment by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnKinds {
    /// Columns of equal residues.
    pub matches: u32,
    pub mismatches: u32,
    /// Columns of equal residues, or with a positive score.
    pub positives: u32,
    /// Columns with a gap, and number of gaps.
    pub gapped: u32,
    pub gaps: u32,
    /// The same at the two ends of global alignments. In the other modes, gaps at a free end are not part of the
    /// alignment.
    pub gapped_at_ends: u32,
    pub gaps_at_ends: u32,
}

/// Whether two codes are the same residue. In DNA, only A, C, G and T count, unless ambiguous codes match the codes that
/// they have a base in common with.
pub fn is_equal(scoring: &Scoring, query: u8, target: u8) -> bool {
    let is_residue = scoring.alphabet == Alphabet::Protein || is_base(query);
    let is_compatible = || scoring.matches_iupac() && scoring.residue_score(query, target) > 0;
    let is_same = match scoring.alphabet {
        Alphabet::Dna => without_end(query) == target,
        Alphabet::Protein => query == target,
    };
    (is_same && is_residue) || is_compatible()
}

impl ColumnKinds {
    /// Counts the columns. `query` has the codes in the aligned orientation, `target` the aligned ones.
    pub fn count(scoring: &Scoring, query: &[u8], target: &[u8], alignment: &Alignment) -> ColumnKinds {
        let mut kinds = ColumnKinds::default();
        let (mut i, mut j) = (alignment.query_start as usize, 0);
        let last = alignment.cigar.len().saturating_sub(1);
        for (at, &(len, op)) in alignment.cigar.iter().enumerate() {
            let steps = len as usize;
            if op == PathOp::Match {
                for (&q, &t) in query[i..i + steps].iter().zip(&target[j..j + steps]) {
                    let equal = is_equal(scoring, q, t);
                    kinds.matches += u32::from(equal);
                    kinds.mismatches += u32::from(!equal);
                    kinds.positives += u32::from(equal || scoring.residue_score(q, t) > 0);
                }
            } else {
                kinds.gapped += len;
                kinds.gaps += 1;
                let (first, end) = (at == 0, at == last);
                if first && !scoring.mode.free_starts().target || end && !scoring.mode.free_ends().target {
                    kinds.gapped_at_ends += len;
                    kinds.gaps_at_ends += 1;
                }
            }
            i += if op == PathOp::Deletion { 0 } else { steps };
            j += if op == PathOp::Insertion { 0 } else { steps };
        }
        kinds
    }

    /// Columns of the alignment.
    pub fn columns(&self) -> u32 {
        self.matches + self.mismatches + self.gapped
    }

    /// The identity by a definition; `query` and `target` are the residues of both sequences.
    pub fn identity(&self, definition: IdentityDefinition, query: usize, target: usize) -> Identity {
        let (equal, of) = match definition {
            IdentityDefinition::Shorter => (self.matches, to_u32(query.min(target))),
            IdentityDefinition::Columns | IdentityDefinition::Blast => (self.matches, self.columns()),
            IdentityDefinition::Inner => (self.matches, self.columns() - self.gapped_at_ends),
            IdentityDefinition::Longer => {
                let longer = to_u32(query.max(target));
                (longer.saturating_sub(self.mismatches + self.gaps), longer)
            }
        };
        Identity { equal, of }
    }
}

/// An identity as an exact fraction, which all output formats use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub equal: u32,
    pub of: u32,
}

impl Identity {
    /// The identity in percent. It is 0 if the definition counts no columns.
    pub fn percent(self) -> f64 {
        if self.of == 0 { 0.0 } else { 100.0 * f64::from(self.equal) / f64::from(self.of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;
    use crate::terms::scoring::AlignmentMode;
    use smallvec::smallvec;

    #[test]
    fn columns_are_counted() {
        let scoring = Scoring::dna(1, 4, 6, 1).in_mode(AlignmentMode::Global);
        let codes =
            |text: &[u8]| text.iter().map(|&letter| Alphabet::Dna.code(letter).unwrap()).collect::<Vec<u8>>();
        // ACGTN--A against ACCTNGGA, with a leading deletion.
        let cigar =
            smallvec![(1, PathOp::Deletion), (5, PathOp::Match), (2, PathOp::Deletion), (1, PathOp::Match)];
        let alignment = Alignment {
            strand: Strand::Forward,
            target: 0,
            score: 1,
            query_start: 0,
            query_end: 6,
            target_start: 1,
            target_end: 10,
            cigar,
        };
        let kinds = ColumnKinds::count(&scoring, &codes(b"ACGTNA"), &codes(b"GACCTNGGA"), &alignment);
        let expected = ColumnKinds {
            matches: 4,
            mismatches: 2,
            positives: 4,
            gapped: 3,
            gaps: 2,
            gapped_at_ends: 1,
            gaps_at_ends: 1,
        };
        assert_eq!(kinds, expected);
        let identity =
            |number| kinds.identity(IdentityDefinition::numbered(number).unwrap(), 6, 10).percent();
        assert_eq!(
            [identity(0), identity(1), identity(2), identity(3)],
            [400.0 / 6.0, 400.0 / 9.0, 50.0, 60.0]
        );
        let glocal = scoring.in_mode(AlignmentMode::Glocal);
        let kinds = ColumnKinds::count(&glocal, &codes(b"ACGTNA"), &codes(b"GACCTNGGA"), &alignment);
        assert_eq!((kinds.gapped_at_ends, kinds.gaps_at_ends), (0, 0));
    }
}
