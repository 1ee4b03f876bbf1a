//! Scores and gap costs of the positions of a profile.

use super::{GapPiece, MOST_IN_TABLE};
use crate::terms::alignment::PathOp;
use crate::terms::alphabet::CODES;

/// The scores of each position of a query against each target code, and its gap costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionScores {
    pub rows: Vec<[i8; CODES]>,
    /// Gap costs of each position. Empty if gaps cost the same at all positions.
    pub gaps: Vec<PositionGaps>,
}

/// Gap costs of a position. Each cost, and each sum of `open` and `extend`, is at most [`MOST_IN_TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionGaps {
    /// Cost of target residues between this position and the next one.
    pub after: GapPiece,
    /// Cost of the position if no target residue is aligned with it: `first()` if a gap begins with it, and `extend` if a gap
    /// continues with it.
    pub skipped: GapPiece,
}

impl PositionGaps {
    /// The highest costs.
    pub const MOST: PositionGaps = {
        let most = GapPiece { open: 0, extend: MOST_IN_TABLE };
        PositionGaps { after: most, skipped: most }
    };
}

impl PositionScores {
    /// Gap costs of a position, counted from 0; the highest ones outside the profile.
    fn gaps_of(&self, position: usize) -> PositionGaps {
        self.gaps.get(position).copied().unwrap_or(PositionGaps::MOST)
    }

    /// Costs of a deletion and of an insertion that begin after a position: the insertion skips the next position.
    #[inline]
    pub fn gaps_after(&self, position: usize) -> [GapPiece; 2] {
        [self.gaps_of(position).after, self.gaps_of(position + 1).skipped]
    }

    /// Cost of a gap of `len` residues that begins after `row` positions.
    pub fn gap_cost(&self, op: PathOp, row: usize, len: usize) -> i64 {
        match op {
            PathOp::Match => 0,
            PathOp::Deletion => {
                row.checked_sub(1).map_or(PositionGaps::MOST, |last| self.gaps_of(last)).after.cost(len)
            }
            PathOp::Insertion => {
                let skipped = |position: usize| i64::from(self.gaps_of(position).skipped.extend);
                i64::from(self.gaps_of(row).skipped.open) + (row..row + len).map(skipped).sum::<i64>()
            }
        }
    }

    /// A lower bound of the cost of all gaps. `None` if gaps cost the same at all positions.
    pub fn lowest_gap(&self) -> Option<GapPiece> {
        let pieces = self.gaps.iter().flat_map(|gaps| [gaps.after, gaps.skipped]);
        let first = pieces.clone().map(GapPiece::first).min()?;
        let extend = pieces.map(|piece| piece.extend).min()?;
        Some(GapPiece { open: first - extend, extend })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_cost_what_their_positions_say() {
        let gaps = |after: (i32, i32), skipped: (i32, i32)| PositionGaps {
            after: GapPiece::new(after.0, after.1),
            skipped: GapPiece::new(skipped.0, skipped.1),
        };
        let gaps = vec![gaps((10, 1), (9, 3)), gaps((7, 2), (8, 4)), gaps((20, 5), (6, 5))];
        let profile = PositionScores { rows: vec![[0; CODES]; 3], gaps };
        // Two residues after the second position, and the second and the third position skipped.
        assert_eq!(profile.gap_cost(PathOp::Deletion, 2, 2), 7 + 2 * 2);
        assert_eq!(profile.gap_cost(PathOp::Insertion, 1, 2), 8 + 4 + 5);
        assert_eq!(profile.gap_cost(PathOp::Insertion, 2, 1), 6 + 5);
        assert_eq!(profile.gaps_after(1), [GapPiece::new(7, 2), GapPiece::new(6, 5)]);
        assert_eq!(profile.gaps_after(2), [GapPiece::new(20, 5), GapPiece::new(0, 127)]);
        assert_eq!(profile.lowest_gap(), Some(GapPiece::new(8, 1)));
        assert_eq!(PositionScores::default().lowest_gap(), None);
    }
}
