//! A hit, as callers see it.

use super::Cigar;
use crate::terms::alignment::{Alignment, ColumnCounts, Strand};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::{to_u32, to_usize};
use std::ops::Range;

/// An optimal alignment of a query with a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    name: String,
    /// The alignment, without its path.
    alignment: Alignment,
    query_len: usize,
    /// The extended path.
    path: Cigar,
    counts: ColumnCounts,
}

impl Hit {
    /// Creates the hit of `alignment` on a target of this name. `query` and `codes` are all codes of the query, in the
    /// aligned orientation, and of the target.
    pub(super) fn new(
        name: String,
        alphabet: Alphabet,
        mut alignment: Alignment,
        (query, codes): (&[u8], &[u8]),
    ) -> Hit {
        let (mut path, mut counts) = (Cigar::default(), ColumnCounts::default());
        let sides = (query, alignment.aligned_residues(codes));
        alignment.for_each_piece(
            sides,
            |q, t| alphabet.are_equal(q, t),
            |piece| {
                counts.add(&piece);
                path.push(to_u32(piece.columns()), piece.op.into());
            },
        );
        alignment.cigar.clear();
        Hit { name, alignment, query_len: query.len(), path, counts }
    }

    /// The optimal score.
    pub fn score(&self) -> i32 {
        self.alignment.score
    }

    /// Index of the target among the [`crate::Targets`], from 0.
    pub fn target(&self) -> usize {
        self.alignment.target as usize
    }

    /// The target's name.
    pub fn target_name(&self) -> &str {
        &self.name
    }

    /// Range of the target in the alignment, in residues, 0-based and half-open.
    pub fn target_range(&self) -> Range<usize> {
        self.alignment.target_start as usize..self.alignment.target_end as usize
    }

    /// Range of the query in the alignment, in residues, 0-based and half-open, counted in the query as given.
    pub fn query_range(&self) -> Range<usize> {
        let (start, end) = (self.alignment.query_start as usize, self.alignment.query_end as usize);
        match self.alignment.strand {
            Strand::Reverse => self.query_len - end..self.query_len - start,
            _ => start..end,
        }
    }

    /// Whether the query is aligned as given or as its reverse complement.
    pub fn strand(&self) -> Strand {
        self.alignment.strand
    }

    /// The path in the target's order, without clips, in the dialect of the command's records: the same as
    /// [`Hit::cigar_basic`].
    pub fn cigar(&self) -> Cigar {
        self.cigar_basic()
    }

    /// The path with `M` for matches and mismatches.
    pub fn cigar_basic(&self) -> Cigar {
        self.path.to_basic()
    }

    /// The path with `=` and `X`. Only [`Hit::matches`] are `=`.
    pub fn cigar_extended(&self) -> Cigar {
        self.path.clone()
    }

    /// Number of alignment columns with equal residues: for DNA only A, C, G and T count.
    pub fn matches(&self) -> usize {
        to_usize(self.counts.matches)
    }

    /// Number of alignment columns that are not matches: substitutions, insertions and deletions.
    pub fn edits(&self) -> usize {
        to_usize(self.counts.edits())
    }

    /// Fraction of columns that are matches, 0 to 1.
    pub fn identity(&self) -> f64 {
        self.counts.matches as f64 / self.counts.columns().max(1) as f64
    }
}
