//! A hit, as callers see it.

use super::Cigar;
use super::cigar;
use crate::terms::alignment::{Alignment, PathOp, Strand};
use crate::terms::alphabet::Alphabet;
use std::mem;
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
    matches: u32,
    columns: u32,
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
        // N and the other ambiguity codes of DNA equal no code.
        let equal = if alphabet == Alphabet::Dna { 4 } else { u8::MAX };
        let is_match = |(q, t): (&u8, &u8)| q == t && *q < equal;
        let (mut q, mut t) = (alignment.query_start as usize, alignment.target_start as usize);
        let (mut path, mut matches, mut columns) = (Cigar::default(), 0, 0);
        for (len, op) in mem::take(&mut alignment.cigar) {
            columns += len;
            let letters = len as usize;
            match op {
                PathOp::Match => {
                    for column in query[q..q + letters].iter().zip(&codes[t..t + letters]) {
                        let same = is_match(column);
                        matches += u32::from(same);
                        path.push(1, if same { cigar::Op::Equal } else { cigar::Op::Replaced });
                    }
                    (q, t) = (q + letters, t + letters);
                }
                PathOp::Insertion => {
                    path.push(len, cigar::Op::Insertion);
                    q += letters;
                }
                PathOp::Deletion => {
                    path.push(len, cigar::Op::Deletion);
                    t += letters;
                }
            }
        }
        Hit { name, alignment, query_len: query.len(), path, matches, columns }
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
            Strand::Forward => start..end,
            Strand::Reverse => self.query_len - end..self.query_len - start,
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
        self.matches as usize
    }

    /// Number of alignment columns that are not matches: substitutions, insertions and deletions.
    pub fn edits(&self) -> usize {
        (self.columns - self.matches) as usize
    }

    /// Fraction of columns that are matches, 0 to 1.
    pub fn identity(&self) -> f64 {
        f64::from(self.matches) / f64::from(self.columns.max(1))
    }
}
