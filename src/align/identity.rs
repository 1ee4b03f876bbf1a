//! Column counts of an alignment (equal residues, mismatches, gaps), and the identities derived from them.

use crate::terms::alignment::{Alignment, ColumnCounts, ColumnOp, PathOp};
use crate::terms::options::IdentityDefinition;
use crate::terms::scoring::Scoring;

/// The columns of an alignment by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnKinds {
    pub counts: ColumnCounts,
    /// Columns of equal residues, or with a positive score.
    pub positives: u64,
    /// Columns with a gap, and number of gaps, at the two ends of global alignments. In the other modes, gaps at a free
    /// end are not part of the alignment.
    pub gapped_at_ends: u64,
    pub gaps_at_ends: u64,
}

/// Whether two codes are the same residue. In DNA, only A, C, G and T count, unless ambiguous codes match the codes that
/// they have a base in common with.
pub fn is_equal(scoring: &Scoring, query: u8, target: u8) -> bool {
    let is_compatible = || scoring.matches_iupac() && scoring.residue_score(query, target) > 0;
    scoring.alphabet.are_equal(query, target) || is_compatible()
}

impl ColumnKinds {
    /// Counts the columns. `query` has the codes in the aligned orientation, `target` the aligned ones.
    pub fn count(scoring: &Scoring, query: &[u8], target: &[u8], alignment: &Alignment) -> ColumnKinds {
        let ColumnKinds { mut counts, mut positives, mut gapped_at_ends, mut gaps_at_ends } =
            ColumnKinds::default();
        let equal = |q, t| is_equal(scoring, q, t);
        alignment.for_each_piece((query, target), equal, |piece| {
            counts.add(&piece);
            positives += match piece.op {
                ColumnOp::Equal => piece.columns() as u64,
                ColumnOp::Unequal => u64::from(scoring.residue_score(piece.query[0], piece.target[0]) > 0),
                ColumnOp::Insertion | ColumnOp::Deletion => 0,
            };
        });
        let last = alignment.cigar.len().saturating_sub(1);
        for (at, &(len, op)) in alignment.cigar.iter().enumerate() {
            let is_held = at == 0 && !scoring.mode.free_starts().target
                || at == last && !scoring.mode.free_ends().target;
            if op != PathOp::Match && is_held {
                gapped_at_ends += u64::from(len);
                gaps_at_ends += 1;
            }
        }
        ColumnKinds { counts, positives, gapped_at_ends, gaps_at_ends }
    }

    /// The identity by a definition; `query` and `target` are the residues of both sequences.
    pub fn identity(&self, definition: IdentityDefinition, query: usize, target: usize) -> Identity {
        let (ColumnCounts { matches, mismatches, .. }, columns) = (self.counts, self.counts.columns());
        let (equal, of) = match definition {
            IdentityDefinition::Shorter => (matches, query.min(target) as u64),
            IdentityDefinition::Columns | IdentityDefinition::Blast => (matches, columns),
            IdentityDefinition::Inner => (matches, columns - self.gapped_at_ends),
            IdentityDefinition::Longer => {
                let longer = query.max(target) as u64;
                (longer.saturating_sub(mismatches + self.counts.gaps()), longer)
            }
        };
        Identity { equal, of }
    }
}

/// An identity as an exact fraction, which all output formats use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub equal: u64,
    pub of: u64,
}

impl Identity {
    /// The identity in percent. It is 0 if the definition counts no columns.
    pub fn percent(self) -> f64 {
        if self.of == 0 { 0.0 } else { 100.0 * self.equal as f64 / self.of as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;
    use crate::terms::alphabet::Alphabet;
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
            shifts: Box::default(),
        };
        let kinds = ColumnKinds::count(&scoring, &codes(b"ACGTNA"), &codes(b"GACCTNGGA"), &alignment);
        let counts =
            ColumnCounts { matches: 4, mismatches: 2, deletions: 2, deleted: 3, ..ColumnCounts::default() };
        let expected = ColumnKinds { counts, positives: 4, gapped_at_ends: 1, gaps_at_ends: 1 };
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
