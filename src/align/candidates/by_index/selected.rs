//! The windows that can have the best hits of a record.
//!
//! A read from a repeat has windows at thousands of copies, and few of them score as much as its best hits. The bound of
//! diagonals is quick and high. From the highest on, diagonals get the bound of an extension too, which is the score
//! of an alignment. Once enough of these scores are at least the next quick bound, no other diagonal has a hit that counts.

use super::super::diagonal_bound::MOST_BASES;
use super::super::extension_bound::{ExtensionBound, Farthest};
use crate::terms::alphabet::BASES;
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Number of candidates that are sorted at first. Most others need not be.
const SORTED: usize = 64;

/// A diagonal, and a piece of the query that is intact on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Anchor(i64);

impl Anchor {
    /// Bits of the piece's first base.
    const BITS: u32 = MOST_BASES.ilog2() + 1;

    /// `None` for a diagonal without a piece.
    pub fn new(diagonal: i64, start: Option<u32>) -> Anchor {
        Anchor(diagonal << Anchor::BITS | i64::from(start.unwrap_or(to_u32(MOST_BASES))))
    }

    pub fn diagonal(self) -> i64 {
        self.0 >> Anchor::BITS
    }

    fn start(self) -> Option<usize> {
        let start = to_usize(self.0 & ((1 << Anchor::BITS) - 1));
        (start < MOST_BASES).then_some(start)
    }
}

/// Adjacent diagonals of one orientation of a record, and the maximum score of an alignment on them.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Number of the orientation.
    pub strand: usize,
    /// The first and the last diagonal.
    pub range: (i64, i64),
    pub most: i32,
    /// Its anchors, in a list that all candidates share.
    pub anchors: Range<u32>,
}

/// Diagonals that one orientation of a record can have hits on.
pub struct Extended<'a> {
    pub bound: ExtensionBound<'a>,
    /// The bases of the pieces, in the order of their starts.
    pub pieces: Vec<Range<usize>>,
    /// Codes of the targets.
    pub codes: &'a [u8],
    /// Maximum number of diagonals between an intact piece and any other that an alignment visits.
    pub gaps: i64,
}

/// Diagonals and the maximum score there. If it `is_exact`, there is an alignment of this score unless it meets two targets.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    range: (i64, i64),
    most: i32,
    is_exact: bool,
}

impl Extended<'_> {
    /// The diagonals of a candidate on which an alignment can reach the least score, and the maximum score.
    fn within(
        &self,
        (range, most): ((i64, i64), i32),
        anchors: &[Anchor],
        farthest: &mut Farthest,
    ) -> Option<Bounded> {
        let unknown = Some(Bounded { range, most, is_exact: false });
        let &Extended { ref bound, ref pieces, codes, gaps } = self;
        let end = range.1 + to_i64(bound.query().len()) + gaps;
        let met = usize::try_from(range.0 - gaps).ok().zip(usize::try_from(end).ok());
        let Some(met) = met.and_then(|(start, end)| codes.get(start..end)) else { return unknown };
        // A residue that is not a base may equal any base.
        if met.iter().fold(0, |all, &code| all | code) >= BASES {
            return unknown;
        }
        let mut best: Option<Bounded> = None;
        for anchor in anchors {
            let piece = anchor.start().and_then(|start| {
                let at = pieces.binary_search_by_key(&start, |piece| piece.start).ok()?;
                pieces.get(at)
            });
            let (Some(piece), diagonal) = (piece, anchor.diagonal()) else { return unknown };
            let Some(score) = bound.most_score(codes, diagonal, piece, farthest) else { continue };
            if score >= most {
                return Some(Bounded { range, most, is_exact: true });
            }
            let own = Bounded { range: (diagonal, diagonal), most: score, is_exact: true };
            best = Some(match best {
                Some(Bounded { range: (first, _), most, .. }) => {
                    Bounded { range: (first, diagonal), most: most.max(score), ..own }
                }
                None => own,
            });
        }
        best
    }
}

/// The best scores of alignments that share no columns.
struct BestScores {
    enough: usize,
    /// Scores, strands and diagonals.
    kept: BinaryHeap<Reverse<(i32, usize, i64)>>,
}

impl BestScores {
    /// The lowest of the scores once there are enough.
    fn least(&self) -> Option<i32> {
        (self.kept.len() == self.enough).then(|| self.kept.peek().map(|lowest| lowest.0.0)).flatten()
    }

    /// Adds the score of an alignment near a diagonal, unless it may share columns with another one, which are more than `apart`
    /// diagonals away.
    fn add(&mut self, score: i32, (strand, diagonal): (usize, i64), apart: u64) {
        let is_needed = self.least().is_none_or(|least| score > least);
        let shares = |&Reverse((_, other, at)): &Reverse<(i32, usize, i64)>| {
            other == strand && at.abs_diff(diagonal) <= apart
        };
        if is_needed && !self.kept.iter().any(shares) {
            if self.kept.len() == self.enough {
                self.kept.pop();
            }
            self.kept.push(Reverse((score, strand, diagonal)));
        }
    }
}

/// Calls `push` with the orientation, the diagonals and the maximum score of each candidate that can have one of the `enough`
/// best hits. Returns the score from which the candidates without a call have no alignment, or `least`.
pub fn for_each_best(
    (extended, candidates, anchors): (&[Option<Extended>], &mut [Candidate], &[Anchor]),
    (least, enough): (i32, usize),
    farthest: &mut Farthest,
    mut push: impl FnMut(usize, (i64, i64), i32),
) -> i32 {
    let mut best = BestScores { enough, kept: BinaryHeap::new() };
    let (mut rest, mut count) = (candidates, SORTED);
    while !rest.is_empty() {
        let order = |candidate: &Candidate| (Reverse(candidate.most), candidate.strand, candidate.range);
        let first = count.min(rest.len());
        if first < rest.len() {
            rest.select_nth_unstable_by_key(first, order);
        }
        let (sorted, behind) = rest.split_at_mut(first);
        sorted.sort_unstable_by_key(order);
        for &mut Candidate { strand, range, most, anchors: ref own } in sorted {
            let needed = best.least().filter(|&needed| needed > least);
            if let Some(needed) = needed.filter(|&needed| most < needed) {
                return needed;
            }
            let own = &anchors[own.start as usize..own.end as usize];
            let of_strand = extended[strand].as_ref();
            let bounded = match of_strand {
                Some(extended) => extended.within((range, most), own, farthest),
                None => Some(Bounded { range, most, is_exact: false }),
            };
            let counts = |bounded: &Bounded| needed.is_none_or(|needed| bounded.most >= needed);
            let Some(Bounded { range, most, is_exact }) = bounded.filter(counts) else { continue };
            push(strand, range, most);
            if let Some(extended) = of_strand.filter(|_| is_exact) {
                let apart = extended.bound.query().len() as u64 + 2 * extended.gaps.unsigned_abs();
                best.add(most, (strand, range.0), apart);
            }
        }
        (rest, count) = (behind, 2 * count);
    }
    best.least().map_or(least, |needed| needed.max(least))
}
