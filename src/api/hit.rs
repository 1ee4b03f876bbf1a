//! A hit, as callers see it.

use super::Cigar;
use crate::alignment::{Alignment, Op, Strand};
use crate::alphabet::Alphabet;
use std::ops::Range;

/// An optimal local alignment of a query with a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    name: String,
    alignment: Alignment,
    query_len: usize,
    matches: u32,
    columns: u32,
}

impl Hit {
    /// The hit that `alignment` is, on a target of this name; `query` and `codes` are all codes of both sequences, the query's
    /// in the aligned orientation.
    pub(super) fn new(
        name: String,
        alphabet: Alphabet,
        alignment: Alignment,
        (query, codes): (&[u8], &[u8]),
    ) -> Hit {
        // N and its kin are equal to nothing.
        let letters = if alphabet == Alphabet::Dna { 4 } else { u8::MAX };
        let is_match = |&(q, t): &(&u8, &u8)| q == t && *q < letters;
        let (mut q, mut t) = (alignment.query_start as usize, alignment.target_start as usize);
        let (mut matches, mut columns) = (0, 0);
        for &(len, op) in &alignment.cigar {
            columns += len;
            let len = len as usize;
            match op {
                Op::Match => {
                    matches +=
                        query[q..q + len].iter().zip(&codes[t..t + len]).filter(is_match).count() as u32;
                    (q, t) = (q + len, t + len);
                }
                Op::Insertion => q += len,
                Op::Deletion => t += len,
            }
        }
        Hit { name, alignment, query_len: query.len(), matches, columns }
    }

    /// The optimal score.
    pub fn score(&self) -> i32 {
        self.alignment.score
    }

    /// Place of the target among the [`crate::Targets`], from 0.
    pub fn target(&self) -> usize {
        self.alignment.target as usize
    }

    /// The target's name.
    pub fn target_name(&self) -> &str {
        &self.name
    }

    /// Letters of the target in the alignment, from 0, the end exclusive.
    pub fn target_range(&self) -> Range<usize> {
        self.alignment.target_start as usize..self.alignment.target_end as usize
    }

    /// Letters of the query in the alignment, from 0, the end exclusive, counted in the query as it was given.
    pub fn query_range(&self) -> Range<usize> {
        let (start, end) = (self.alignment.query_start as usize, self.alignment.query_end as usize);
        match self.alignment.strand {
            Strand::Forward => start..end,
            Strand::Reverse => self.query_len - end..self.query_len - start,
        }
    }

    /// Whether the query is aligned as it was given or as its reverse complement.
    pub fn strand(&self) -> Strand {
        self.alignment.strand
    }

    /// The path in the target's order, without clips.
    pub fn cigar(&self) -> Cigar {
        Cigar::of_alignment(&self.alignment.cigar)
    }

    /// Columns of the alignment whose letters are equal: of DNA only A, C, G and T are.
    pub fn matches(&self) -> usize {
        self.matches as usize
    }

    /// Columns that are no match: letters replaced, inserted and deleted.
    pub fn edits(&self) -> usize {
        (self.columns - self.matches) as usize
    }

    /// Matches in all columns, 0 to 1.
    pub fn identity(&self) -> f64 {
        f64::from(self.matches) / f64::from(self.columns.max(1))
    }
}
