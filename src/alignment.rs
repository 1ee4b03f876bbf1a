//! A hit, an alignment, its path, and the total order that decides between equal scores.

use smallvec::SmallVec;
use std::cmp::Ordering;

/// Orientation of a query against its target, or of a pattern against its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strand {
    /// As it was given.
    Forward,
    /// Its reverse complement.
    Reverse,
}

/// The best end of one pair: its score, and the cell it ends in. Ends are exclusive; score 0 means
/// that the pair has no alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    pub score: i32,
    /// Query residues before and with the last aligned one, in the aligned orientation.
    pub query_end: u32,
    /// Target residues before and with the last aligned one, from the target's start.
    pub target_end: u32,
}

/// A hit together with the target and strand it lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locus {
    pub hit: Hit,
    pub strand: Strand,
    pub target: u32,
}

impl Hit {
    /// Which of two hits of one pair comes first: higher score, smaller target end, smaller query
    /// end. `Less` means `self`.
    pub fn order(&self, other: &Hit) -> Ordering {
        other
            .score
            .cmp(&self.score)
            .then(self.target_end.cmp(&other.target_end))
            .then(self.query_end.cmp(&other.query_end))
    }
}

impl Locus {
    /// The total order of all hits of one query: higher score, forward strand, earlier target,
    /// smaller target end, smaller query end. `Less` means `self` comes first.
    pub fn order(&self, other: &Locus) -> Ordering {
        other
            .hit
            .score
            .cmp(&self.hit.score)
            .then(self.strand.cmp(&other.strand))
            .then(self.target.cmp(&other.target))
            .then(self.hit.order(&other.hit))
    }
}

/// One kind of step of a path. An insertion consumes the query, a deletion the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// One residue of each, equal or not.
    Match,
    Insertion,
    Deletion,
}

/// Runs of equal steps, in target order: never two of the same kind side by side, none empty. Those of short reads have
/// no memory of their own, which would take longer to find and give back than the path itself.
pub type Cigar = SmallVec<[(u32, Op); 7]>;

/// An optimal local alignment. Intervals are 0-based and half-open; the query's are in the aligned
/// orientation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    pub strand: Strand,
    pub target: u32,
    pub score: i32,
    pub query_start: u32,
    pub query_end: u32,
    pub target_start: u32,
    pub target_end: u32,
    pub cigar: Cigar,
}

impl Alignment {
    /// Whether both take a letter of one target on one strand.
    pub fn overlaps(&self, other: &Alignment) -> bool {
        (self.target, self.strand) == (other.target, other.strand)
            && self.target_start < other.target_end
            && other.target_start < self.target_end
    }

    /// Its length, in the query or in the target: the longer one.
    pub fn span(&self) -> u32 {
        (self.query_end - self.query_start).max(self.target_end - self.target_start)
    }

    /// Where it ends, for the order of hits.
    pub fn locus(&self) -> Locus {
        let Alignment { strand, target, score, query_end, target_end, .. } = *self;
        Locus { hit: Hit { score, query_end, target_end }, strand, target }
    }
}

/// What was found for one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The hits in their order, at most as many as were asked for; none for an unmapped query.
    pub alignments: Vec<Alignment>,
    /// Score of the second hit, where one exists, reported or not.
    pub second: Option<i32>,
    /// The least score at which a further hit would have existed.
    pub threshold: i32,
    /// What was decided together with the query's mate; `None` for single reads.
    pub mated: Option<Mated>,
    /// Hits of what the first one leaves of the query, in their order.
    pub supplementary: Vec<Supplementary>,
    /// Of mates in a part of the references: what each of `alignments` is, which a merge of the parts pairs. Else empty.
    pub in_part: Vec<InPart>,
}

/// A hit of a part of a query that an earlier hit left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supplementary {
    /// With places in the whole query.
    pub alignment: Alignment,
    /// As of [`Found`], for the part of the query.
    pub second: Option<i32>,
    pub threshold: i32,
}

/// What an alignment of a mate is to a merge of parts of the references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPart {
    /// A hit. `beside` is what its window holds, where the other mate would be: a place among that mate's alignments.
    Hit { beside: Option<u32> },
    /// The best alignment in the window beside a hit of the other mate.
    Rescued,
}

/// What is decided for a read together with its mate, which stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mated {
    /// Whether it is the first of the two.
    pub is_first: bool,
    /// Whether the first hits of both are a proper pair.
    pub is_proper: bool,
    /// Mapping quality of the first hit.
    pub quality: u8,
}

/// Appends `len` steps of `op` to a path, joining it with an equal last run.
#[inline]
pub fn push_run(cigar: &mut Cigar, len: u32, op: Op) {
    match cigar.last_mut() {
        _ if len == 0 => {}
        Some((last, kind)) if *kind == op => *last += len,
        _ => cigar.push((len, op)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_forward_then_earlier_then_leftmost() {
        let locus = |score, strand, target, target_end, query_end| Locus {
            hit: Hit { score, query_end, target_end },
            strand,
            target,
        };
        use Strand::{Forward, Reverse};
        let ordered = [
            locus(9, Reverse, 5, 50, 50),
            locus(8, Forward, 1, 9, 9),
            locus(8, Forward, 2, 7, 9),
            locus(8, Forward, 2, 8, 3),
            locus(8, Forward, 2, 8, 4),
            locus(8, Reverse, 0, 1, 1),
        ];
        for (a, first) in ordered.iter().enumerate() {
            for (b, second) in ordered.iter().enumerate() {
                assert_eq!(first.order(second), a.cmp(&b), "{first:?} {second:?}");
            }
        }
    }
}
