//! Hits, alignments, their paths, and the total order that decides between equal scores.

mod columns;
mod strands;

pub use columns::{ColumnCounts, ColumnOp, ColumnShown, GAP, PathPiece, PathRun, cigar_text};
pub use strands::{CODON, Frames, MOST_ORIENTATIONS, Strand, Strands};

use smallvec::SmallVec;
use std::cmp::Ordering;

/// The best end of one pair: its score, and the cell in which it ends. Ends are exclusive. A pair without an alignment
/// has a score of 0 in local mode, and that of [`HitEnd::NONE`] in the other modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitEnd {
    pub score: i32,
    /// Query residues up to and including the last aligned one, in the aligned orientation.
    pub query_end: u32,
    /// Target residues up to and including the last aligned one, from the target's start.
    pub target_end: u32,
}

/// A hit with its target and strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locus {
    pub hit: HitEnd,
    pub strand: Strand,
    pub target: u32,
}

impl HitEnd {
    /// No alignment, in modes in which an alignment may score 0 or less.
    pub const NONE: HitEnd = HitEnd { score: i32::MIN, query_end: 0, target_end: 0 };

    /// Whether there is no alignment. Only in local mode can an alignment end before the first residues.
    pub fn is_none(&self) -> bool {
        self.target_end == 0
    }

    /// Orders two hits of one pair: higher score, smaller target end, smaller query end. `Less` means that `self` comes
    /// first.
    pub fn order(&self, other: &HitEnd) -> Ordering {
        other
            .score
            .cmp(&self.score)
            .then(self.target_end.cmp(&other.target_end))
            .then(self.query_end.cmp(&other.query_end))
    }
}

impl Locus {
    /// The total order of all hits of one query: higher score, forward strand, earlier target, smaller target end,
    /// smaller query end. `Less` means that `self` comes first.
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
pub enum PathOp {
    /// One residue of each, equal or not.
    Match,
    Insertion,
    Deletion,
}

/// Runs of equal steps, in target order. No two neighbors are of the same kind, and none is empty. The runs of short
/// reads are stored inline, because allocating memory would take longer than computing the path.
pub type PathRuns = SmallVec<[(u32, PathOp); 7]>;

/// An optimal alignment. Intervals are 0-based and half-open; the query's are in the aligned
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
    /// Of a translated query, in amino acids.
    pub cigar: PathRuns,
    /// Changes of the frame, in the order of the path.
    pub shifts: Box<[FrameShift]>,
}

/// A change of the frame between two codons of a translated query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameShift {
    /// Aligned residues of the query before it.
    pub after: u32,
    /// Whether a base is left out. If not, a base is read twice.
    pub is_forward: bool,
}

impl Alignment {
    /// The frame of its first codon as BLAST numbers it, if the query is translated.
    pub fn frame(&self) -> Option<i8> {
        self.strand.frame_from(self.query_start)
    }

    /// The first base of each aligned codon, in the orientation of the query, if the query is all codons of a strand.
    pub fn codons(&self) -> impl Iterator<Item = u32> {
        let (mut next, mut residue, mut shifts) = (self.query_start, 0, self.shifts.iter().peekable());
        let residues = self.cigar.iter().filter(|&&(_, op)| op != PathOp::Deletion).map(|&(len, _)| len);
        (0..residues.sum()).map(move |_: u32| {
            if let Some(shift) = shifts.next_if(|shift| shift.after == residue) {
                next = if shift.is_forward { next + 1 } else { next - 1 };
            }
            residue += 1;
            next += CODON;
            next - CODON
        })
    }

    /// The end bonuses in the score of an alignment of a query of `len` residues.
    pub fn bonus(&self, len: u32, end_bonus: i32) -> i32 {
        let is_match = |run: Option<&(u32, PathOp)>| run.is_some_and(|&(_, op)| op == PathOp::Match);
        let first = self.query_start == 0 && is_match(self.cigar.first());
        // A query of one residue has one end.
        let last = self.query_end == len && len > 1 && is_match(self.cigar.last());
        end_bonus * (i32::from(first) + i32::from(last))
    }

    /// The target columns that it covers. On a circular target of length `circle`, which is stored twice, these are its
    /// own interval and the copies one turn before and after it.
    pub fn columns_taken(&self, circle: Option<u32>) -> impl Iterator<Item = (u32, u32)> + use<> {
        let own = (self.target_start, self.target_end);
        let images = circle.map(|len| {
            let before = (own.0.saturating_sub(len), own.1.saturating_sub(len));
            [before, (own.0.saturating_add(len), own.1.saturating_add(len))]
        });
        [own].into_iter().chain(images.into_iter().flatten())
    }

    /// Whether both cover a common residue of one target on one strand; `circle` is the length of the target if it is
    /// circular.
    pub fn overlaps(&self, other: &Alignment, circle: Option<u32>) -> bool {
        (self.target, self.strand) == (other.target, other.strand)
            && self
                .columns_taken(circle)
                .any(|(start, end)| start < other.target_end && other.target_start < end)
    }

    /// The same alignment or, on a circular target of length `circle`, its copy that begins in the first turn.
    pub fn in_first_copy(mut self, circle: Option<u32>) -> Alignment {
        if let Some(len) = circle.filter(|&len| self.target_start >= len) {
            self.target_start -= len;
            self.target_end -= len;
        }
        self
    }

    /// The interval that it covers of a query of `len` letters, in the query as given. Of a translated query, the letters
    /// are bases.
    pub fn letters_taken(&self, len: u32) -> (u32, u32) {
        let (start, end) = match self.strand.first_base() {
            Some(first) => (first + CODON * self.query_start, first + CODON * self.query_end),
            None => (self.query_start, self.query_end),
        };
        if self.strand.is_minus() { (len - end, len - start) } else { (start, end) }
    }

    /// The residues of a target that it aligns.
    pub fn aligned_residues<'a>(&self, target: &'a [u8]) -> &'a [u8] {
        &target[self.target_start as usize..self.target_end as usize]
    }

    /// Its length in the query or in the target, whichever is longer. Deletions at its ends, which occur in modes
    /// global and overlap but not in SAM, don't count.
    pub fn span(&self) -> u32 {
        let last = self.cigar.len().saturating_sub(1);
        let ends = self.cigar.iter().enumerate().filter(|(at, _)| *at == 0 || *at == last);
        let at_ends: u32 = ends.filter(|(_, (_, op))| *op == PathOp::Deletion).map(|(_, (len, _))| len).sum();
        (self.query_end - self.query_start).max((self.target_end - self.target_start).saturating_sub(at_ends))
    }

    /// Its end, for the order of hits.
    pub fn locus(&self) -> Locus {
        let Alignment { strand, target, score, query_end, target_end, .. } = *self;
        Locus { hit: HitEnd { score, query_end, target_end }, strand, target }
    }
}

/// The set of alignments among which the hits of a query are exact (docs/algorithm.md, section 24).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// There are no hits, or one minimum score holds for all queries.
    #[default]
    Single,
    /// All alignments that reach the proven minimum score.
    Proven,
    /// The alignments that contain an exact run. None reaches the proven minimum score.
    Anchored,
}

/// The results of one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    /// The hits in order, at most the requested number; empty for an unmapped query. A hit across the origin of a
    /// circular target is later split into two pieces ([`crate::align::circles`]).
    pub alignments: Vec<Alignment>,
    /// Score of the second hit, if there is one, reported or not.
    pub second: Option<i32>,
    /// The minimum score of a further hit.
    pub threshold: i32,
    /// The tier of the hits.
    pub tier: Tier,
    /// Mapping quality of the first hit, if it does not depend on the scores alone: the hit has a mate, or is a piece.
    pub quality: Option<u8>,
    /// Decisions that involve the query's mate; `None` for single reads.
    pub mated: Option<Mated>,
    /// Hits of the query residues that the first hit leaves unaligned, and the other piece of the first hit, in order.
    pub supplementary: Vec<Supplementary>,
    /// For mates in a part of the references, the kind of each of `alignments`, which a merge of the parts uses to pair
    /// them. Otherwise empty.
    pub in_part: Vec<InPart>,
    /// The best hit of a mate before it was paired, if the run compares records with it.
    pub single: Option<Box<SingleBest>>,
}

/// The best hit of a mate as a single read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleBest {
    pub alignment: Alignment,
    /// As in [`QueryResult`].
    pub second: Option<i32>,
    pub tier: Tier,
}

impl QueryResult {
    /// Keeps the best hit before the query is paired.
    pub fn keep_single(&mut self) {
        let (second, tier) = (self.second, self.tier);
        let best = self.alignments.first().cloned();
        self.single = best.map(|alignment| Box::new(SingleBest { alignment, second, tier }));
    }

    /// Whether it has hits of the second tier.
    pub fn is_anchored(&self) -> bool {
        self.tier == Tier::Anchored && !self.alignments.is_empty()
    }

    /// Sorts the supplementary hits of a query of `len` residues in the order of hits. If two are equal, the hit that
    /// covers earlier residues comes first.
    pub fn sort_supplementary(&mut self, len: u32) {
        self.supplementary.sort_by(|one, other| {
            let [one, other] = [&one.alignment, &other.alignment];
            let letters = || one.letters_taken(len).cmp(&other.letters_taken(len));
            one.locus().order(&other.locus()).then_with(letters)
        });
    }
}

/// A hit of query residues that an earlier hit leaves unaligned, or a piece of a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supplementary {
    /// With positions in the whole query.
    pub alignment: Alignment,
    /// As in [`QueryResult`], for the part of the query.
    pub second: Option<i32>,
    /// Its mapping quality.
    pub quality: u8,
    pub tier: Tier,
    /// Whether it is the other piece of the query's first hit, which crosses an origin.
    pub is_piece_of_first: bool,
}

/// The role of a mate's alignment in a merge of parts of the references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPart {
    /// A hit. `beside` is the best alignment of the other mate in the hit's window, as an index into that mate's
    /// alignments.
    Hit { beside: Option<u32> },
    /// The best alignment in the window of a hit of the other mate.
    Rescued,
}

/// Decisions that involve both mates of a pair. Mates are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mated {
    /// Whether it is the first mate.
    pub is_first: bool,
    /// Distance of the 5' ends, if the first hits of both mates are a proper pair.
    pub insert: Option<u32>,
}

impl Mated {
    /// Whether the first hits of both mates are a proper pair.
    pub fn is_proper(&self) -> bool {
        self.insert.is_some()
    }
}

/// Appends `len` steps of `op` to a path, and merges them with an equal last run.
#[inline]
pub fn push_run(cigar: &mut PathRuns, len: u32, op: PathOp) {
    match cigar.last_mut() {
        _ if len == 0 => {}
        Some((last, kind)) if *kind == op => *last += len,
        _ => cigar.push((len, op)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    fn at(target_start: u32, target_end: u32) -> Alignment {
        let query_end = target_end - target_start;
        let (strand, cigar) = (Strand::Forward, smallvec![(query_end, PathOp::Match)]);
        Alignment {
            strand,
            target: 0,
            score: 1,
            query_start: 0,
            query_end,
            target_start,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    /// Compares overlaps on a circular target with those of the residues themselves.
    #[test]
    fn images_overlap_as_they_do() {
        for len in 1..6u32 {
            let all = || (0..len).flat_map(move |start| (start + 1..=2 * len).map(move |end| at(start, end)));
            for one in all() {
                let letters = |hit: &Alignment| {
                    (0..len)
                        .filter(|k| (hit.target_start..hit.target_end).any(|c| c % len == *k))
                        .collect::<Vec<_>>()
                };
                for other in all() {
                    let shared = letters(&one).iter().any(|letter| letters(&other).contains(letter));
                    assert_eq!(one.overlaps(&other, Some(len)), shared, "{one:?} {other:?} on {len}");
                }
                let image = at(one.target_start + len, one.target_end + len);
                assert_eq!(image.in_first_copy(Some(len)), one);
                assert_eq!(one.clone().in_first_copy(Some(len)), one);
            }
        }
        assert!(!at(3, 5).overlaps(&at(5, 7), None) && !at(0, 2).overlaps(&at(8, 10), None));
        assert!(at(0, 2).overlaps(&at(8, 11), Some(10)) && !at(0, 2).overlaps(&at(8, 10), Some(10)));
        assert_eq!(at(12, 14).in_first_copy(None), at(12, 14));
    }

    #[test]
    fn ties_go_forward_then_earlier_then_leftmost() {
        let locus = |score, strand, target, target_end, query_end| Locus {
            hit: HitEnd { score, query_end, target_end },
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
