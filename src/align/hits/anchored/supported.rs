//! Long queries on large references: which of their runs have a box, and the score from which the best alignment within
//! the boxes is the best of all.
//!
//! Alignments of a high score have few edits, so each of them is in one box (docs/algorithm.md, section 24).

use crate::align::candidates::QueryShape;
use crate::align::candidates::ambiguous::{TargetRuns, allowance};
use crate::align::candidates::boxes::{REACH, RunSupport};
use crate::align::candidates::pieces::{EqualPieces, LONG_PIECES};
use crate::terms::alphabet::{is_base, without_end};
use crate::terms::bounds::{RunLosses, SeedAlphabet, twice_to_spoil};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::Scoring;

/// Length of a query relative to the bases of the runs that support one of them, to the difference of their diagonals, and
/// to the reach of a box.
const PER_BASES: usize = 16;
const PER_APART: usize = 40;
const PER_REACH: usize = 8;
/// Minimum of that difference.
const LEAST_APART: usize = 100;
/// Binary logarithm of the greatest length of queries for which a score is proven.
const MOST_LOG: u32 = 27;

/// The support that a query of `len` bases needs, if runs have at least `least` bases.
pub fn support(len: usize, least: usize) -> RunSupport {
    let apart = to_u32(LEAST_APART.max(len / PER_APART));
    let reach = REACH.max(to_u32(len / PER_REACH));
    RunSupport { least, bases: len.div_ceil(PER_BASES) as u64, apart, reach }
}

fn shortest_pieces(scoring: &Scoring, len: usize, spared: i32) -> Option<EqualPieces> {
    EqualPieces::new(scoring, len, LONG_PIECES[LONG_PIECES.len() - 1], spared)
}

/// Input for the scores that boxes and pieces prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenByBoxes {
    scoring: Scoring,
    /// Bases of an exact run.
    anchor: usize,
    /// Maximum by which runs of residues that are not bases in the references raise the score of an alignment of a query
    /// of up to 1, 2, 4, ... bases. `None` for lengths without a bound.
    of_targets: Vec<Option<i32>>,
}

impl ProvenByBoxes {
    /// `None` if boxes prove nothing under the scoring. `runs` are those of all references, if ambiguous codes cost less
    /// than other edits.
    pub fn new(scoring: &Scoring, anchor: usize, runs: Option<&TargetRuns>) -> Option<ProvenByBoxes> {
        SeedAlphabet::of(scoring).filter(SeedAlphabet::is_whole)?;
        twice_to_spoil(anchor, 0, scoring)?;
        let of_targets = (0..=MOST_LOG).map(|log| {
            let len = 1usize << log;
            let Some(runs) = runs else { return Some(0) };
            // The columns of an alignment in a box, or of one with enough intact pieces.
            let gaps = shortest_pieces(scoring, len, 0).map_or(0, |pieces| {
                scoring.gaps().longest(scoring.most_score(len) - i64::from(pieces.least()), 0)
            });
            let columns = len + to_usize(gaps.max(support(len, anchor).reach.into()));
            let is_whole = runs.dense_stretches(columns, (anchor, 0), scoring).is_empty();
            let raised = || allowance(len.into(), (runs, columns), (anchor, 0), scoring);
            if is_whole { raised() } else { None }
        });
        let of_targets = of_targets.collect();
        Some(ProvenByBoxes { scoring: scoring.clone(), anchor, of_targets })
    }

    /// The score from which each alignment of a query of bases only has enough intact pieces of the shortest length. `None`
    /// if there is none.
    pub fn least_by_pieces(&self, query: &[u8]) -> Option<i32> {
        let are_possible = query.iter().all(|&code| is_base(without_end(code)));
        let pieces = || shortest_pieces(&self.scoring, query.len(), self.spared(query.len())?);
        are_possible.then(pieces)?.map(|pieces| pieces.least())
    }

    /// Maximum by which runs of residues that are not bases in the references raise the score of an alignment of a query of
    /// `len` bases above what its other edits permit. `None` without a bound.
    pub fn spared(&self, len: usize) -> Option<i32> {
        *self.of_targets.get(len.next_power_of_two().ilog2() as usize)?
    }

    /// The score from which each alignment of a query is in one of its boxes. `None` if there is none.
    pub fn least_score(&self, query: &[u8]) -> Option<i32> {
        let ProvenByBoxes { scoring, anchor, .. } = self;
        let len = query.len();
        let RunSupport { bases, apart, reach, .. } = support(len, *anchor);
        // A seed that the alignment does not cover loses the score of its bases.
        let uncovered = 2 * scoring.most_score(*anchor);
        let twice_spoil = twice_to_spoil(*anchor, 0, scoring)?.min(uncovered);
        let QueryShape { runs, .. } = QueryShape::of(query);
        let losses = RunLosses::of(scoring);
        let of_query = losses.map_or(0, |losses| runs.twice_spared((*anchor, twice_spoil), losses.pair));
        let of_targets = self.spared(len)?;
        let cheap = i64::from(of_targets) + of_query / 2 + of_query % 2;
        // Whether an alignment that loses this much, of the score of a perfect one, is in one box.
        let is_in_box = |lost: i64| {
            let gaps = to_usize(scoring.gaps().longest(lost, 0));
            let Some(rows) = (reach as usize).checked_sub(gaps) else { return false };
            let are_near = gaps <= apart as usize;
            let spoilt = 2 * (lost + cheap);
            // Any of these rows contain an intact seed, and the intact seeds have enough bases.
            let seeds = to_i64(len / anchor) - spoilt / twice_spoil - 2;
            are_near
                && spoilt < (to_i64(rows / anchor) - 1) * twice_spoil
                && seeds * to_i64(*anchor) >= bases.cast_signed()
        };
        if !is_in_box(0) {
            return None;
        }
        // The greatest loss that holds. Every smaller loss holds too.
        let perfect = scoring.most_score(len);
        let (mut low, mut high) = (0, perfect);
        while low < high {
            let middle = low + (high - low + 1) / 2;
            (low, high) = if is_in_box(middle) { (middle, high) } else { (low, middle - 1) };
        }
        Some(to_i32(perfect - low))
    }
}
