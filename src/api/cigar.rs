//! The path of a hit or a match.

use crate::alignment;
use crate::search::align::Step;
use smallvec::SmallVec;
use std::fmt;

/// One kind of step of a path, named for what it consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// A letter of each, equal or not: `M`, as alignments have it.
    Match,
    /// A letter of the query or the pattern alone: `I`.
    Insertion,
    /// A letter of the target or the text alone: `D`.
    Deletion,
    /// A letter of each that match: `=`, as searches have it.
    Equal,
    /// A letter of each that do not match: `X`, as searches have it.
    Replaced,
}

impl Op {
    /// The letter that SAM gives it.
    pub fn letter(self) -> char {
        match self {
            Op::Match => 'M',
            Op::Insertion => 'I',
            Op::Deletion => 'D',
            Op::Equal => '=',
            Op::Replaced => 'X',
        }
    }
}

/// A path: runs of steps in the target's or the text's order, without clips. It is shown as SAM writes it, `10M2D12M`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cigar(SmallVec<[(u32, Op); 7]>);

impl Cigar {
    /// Lengths and steps: no length is 0, and no two neighbours are of one kind.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (u32, Op)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn of_alignment(runs: &[(u32, alignment::Op)]) -> Cigar {
        let op = |op| match op {
            alignment::Op::Match => Op::Match,
            alignment::Op::Insertion => Op::Insertion,
            alignment::Op::Deletion => Op::Deletion,
        };
        Cigar(runs.iter().map(|&(len, step)| (len, op(step))).collect())
    }

    pub(super) fn of_search(runs: &[(u32, Step)]) -> Cigar {
        let op = |step| match step {
            Step::Equal => Op::Equal,
            Step::Replaced => Op::Replaced,
            Step::Insertion => Op::Insertion,
            Step::Deletion => Op::Deletion,
        };
        Cigar(runs.iter().map(|&(len, step)| (len, op(step))).collect())
    }
}

impl fmt::Display for Cigar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&(len, op)| write!(f, "{len}{}", op.letter()))
    }
}
