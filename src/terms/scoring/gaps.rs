//! Gap costs: affine (Gotoh 1982), or the lowest of several affine costs (Gotoh 1990; minimap2, Li 2018).
//!
//! [`MOST_PIECES`] is the maximum number of pieces. Engines take it, and the number of pieces of a scoring, from here.

use super::MAX_PARAMETER;
use crate::terms::casts::to_i64;
use std::fmt;

/// An affine gap cost: a gap of length k costs `open + k * extend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GapPiece {
    /// Cost of opening a gap, in addition to the extension of its first residue. Not negative.
    pub open: i32,
    /// Cost of each residue of a gap. At least 1.
    pub extend: i32,
}

impl GapPiece {
    /// A piece with these costs.
    pub fn new(open: i32, extend: i32) -> GapPiece {
        GapPiece { open, extend }
    }

    /// Cost of the first residue of a gap.
    #[inline(always)]
    pub fn first(self) -> i32 {
        self.open + self.extend
    }

    /// Whether a piece can follow this one in gap costs: it opens at a higher cost and extends at a lower cost.
    fn is_before(self, next: GapPiece) -> bool {
        self.open < next.open && self.extend > next.extend
    }

    /// Cost of a gap of `len` residues.
    pub fn cost(self, len: usize) -> i64 {
        i64::from(self.open) + to_i64(len) * i64::from(self.extend)
    }
}

/// Maximum number of pieces of gap costs.
pub const MOST_PIECES: usize = 2;

/// The pieces of gap costs after the first one, and `None` after the last one.
pub type FurtherPieces = [Option<GapPiece>; MOST_PIECES - 1];

/// The cost of a gap by its length: the lowest cost of some pieces. Each piece opens at a higher cost and extends at a
/// lower cost than the piece before it.
///
/// The cost is concave. Two gaps therefore never cost less than one gap of all their residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gaps {
    pub first: GapPiece,
    pub further: FurtherPieces,
}

/// Evaluates an expression in which the number of pieces of gap costs is the constant `$pieces`.
macro_rules! with_pieces {
    ($gaps:expr, $pieces:ident => $value:expr) => {
        match $gaps.count() {
            1 => {
                const $pieces: usize = 1;
                $value
            }
            _ => {
                const $pieces: usize = $crate::terms::scoring::MOST_PIECES;
                $value
            }
        }
    };
}
pub(crate) use with_pieces;

/// [`with_pieces`] has an arm for each number of pieces.
const _: () = assert!(MOST_PIECES == 2);

impl Gaps {
    /// Affine gap costs.
    pub fn affine(first: GapPiece) -> Gaps {
        Gaps { first, further: [None; MOST_PIECES - 1] }
    }

    /// Gap costs of these pieces. `None` if there is none, or if there are more than [`MOST_PIECES`].
    pub fn of(pieces: &[GapPiece]) -> Option<Gaps> {
        let (&first, rest) = pieces.split_first()?;
        rest.iter().try_fold(Gaps::affine(first), |gaps, &piece| gaps.with_piece(piece))
    }

    /// The same costs with one more piece. `None` if there are [`MOST_PIECES`] already.
    pub fn with_piece(mut self, piece: GapPiece) -> Option<Gaps> {
        *self.further.iter_mut().find(|further| further.is_none())? = Some(piece);
        Some(self)
    }

    /// The pieces in order.
    pub fn pieces(self) -> impl Iterator<Item = GapPiece> + Clone {
        std::iter::once(self.first).chain(self.further.into_iter().flatten())
    }

    /// The pieces as an array. After the last piece, elements repeat the first.
    pub fn array<const PIECES: usize>(self) -> [GapPiece; PIECES] {
        let mut pieces = self.pieces();
        std::array::from_fn(|_| pieces.next().unwrap_or(self.first))
    }

    /// Number of pieces.
    pub fn count(self) -> usize {
        self.pieces().count()
    }

    /// The same number of pieces with other costs.
    pub fn map(self, costs: impl Fn(GapPiece) -> GapPiece) -> Gaps {
        Gaps { first: costs(self.first), further: self.further.map(|piece| piece.map(&costs)) }
    }

    /// Cost of a gap of `len` residues.
    pub fn cost(self, len: usize) -> i64 {
        let further = self.further.into_iter().flatten().map(|piece| piece.cost(len));
        further.fold(self.first.cost(len), i64::min)
    }

    /// Maximum length of a gap that costs at most `most`, if each residue costs `more` in addition. 0 if there is none.
    pub fn longest(self, most: i64, more: i64) -> i64 {
        let longest =
            |piece: GapPiece| (most - i64::from(piece.open)) / i64::from(piece.extend).saturating_add(more);
        self.pieces().map(longest).max().unwrap_or(0).max(0)
    }

    /// The affine cost with the lowest slope that no gap undercuts and that is exact for one residue. Bounds whose proof
    /// needs an affine cost use this one; with one piece it is that piece.
    pub fn lower_bound(self) -> GapPiece {
        let lowest = |cost: fn(GapPiece) -> i32| self.pieces().map(cost).fold(cost(self.first), i32::min);
        let extend = lowest(|piece| piece.extend);
        GapPiece { open: lowest(GapPiece::first) - extend, extend }
    }

    /// Checks the ranges of the costs. The error says what is wrong.
    pub fn check(self) -> Result<(), String> {
        let within = |name: &str, value: i32, least: i32| match (least..=MAX_PARAMETER).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name} {value} is out of range; give {least} to {MAX_PARAMETER}")),
        };
        for piece in self.pieces() {
            within("gap_open", piece.open, 0)?;
            within("gap_extend", piece.extend, 1)?;
        }
        match self.pieces().zip(self.pieces().skip(1)).find(|(one, next)| !one.is_before(*next)) {
            Some(_) => Err(format!(
                "each further piece of the gap costs must open at a higher cost and extend at a lower cost than the \
                 piece before it, but the costs are {self}"
            )),
            None => Ok(()),
        }
    }

    /// A cost of each piece, separated by commas.
    fn listed(self, cost: fn(GapPiece) -> i32) -> String {
        self.pieces().map(|piece| cost(piece).to_string()).collect::<Vec<_>>().join(",")
    }

    /// The opening cost of each piece, separated by commas.
    pub fn opens(self) -> String {
        self.listed(|piece| piece.open)
    }

    /// The cost of each residue in each piece, separated by commas.
    pub fn extends(self) -> String {
        self.listed(|piece| piece.extend)
    }
}

/// Writes `gap_open=4 gap_extend=2`, or `gap_open=4,24 gap_extend=2,1`.
impl fmt::Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gap_open={} gap_extend={}", self.opens(), self.extends())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(first: (i32, i32), second: (i32, i32)) -> Gaps {
        let piece = |(open, extend)| GapPiece { open, extend };
        Gaps::affine(piece(first)).with_piece(piece(second)).expect("room for a piece")
    }

    #[test]
    fn costs_by_hand() {
        let minimap2 = two((4, 2), (24, 1));
        assert_eq!([1, 2, 19, 20, 21, 100].map(|len| minimap2.cost(len)), [6, 8, 42, 44, 45, 124]);
        assert_eq!(minimap2.to_string(), "gap_open=4,24 gap_extend=2,1");
        assert_eq!(minimap2.lower_bound(), GapPiece { open: 5, extend: 1 });
        assert_eq!(minimap2.longest(44, 0), 20);
        assert_eq!((minimap2.longest(5, 0), minimap2.longest(-9, 0), minimap2.longest(8, 2)), (0, 0, 1));
        let affine = Gaps::affine(minimap2.first);
        assert_eq!((affine.cost(100), affine.lower_bound()), (204, affine.first));
        assert_eq!(affine.to_string(), "gap_open=4 gap_extend=2");
    }

    /// The definitions, over many costs and lengths.
    #[test]
    fn bounds_hold_for_every_length() {
        for (first, second) in [((4, 2), (24, 1)), ((0, 3), (1, 1)), ((0, 9), (40, 2)), ((5, 40), (6, 1))] {
            let gaps = two(first, second);
            assert_eq!(gaps.check(), Ok(()));
            let bound = gaps.lower_bound();
            assert_eq!(bound.cost(1), gaps.cost(1));
            for len in 1..200 {
                assert!(bound.open >= 0 && bound.cost(len) <= gaps.cost(len), "{gaps}: {len}");
                for other in 1..50 {
                    assert!(gaps.cost(len + other) <= gaps.cost(len) + gaps.cost(other), "{gaps}");
                }
            }
            for (most, more) in (-3..150).flat_map(|most| (0..4).map(move |more| (most, more))) {
                let fits = |len: &usize| gaps.cost(*len) + to_i64(*len) * more <= most;
                let longest = (1..400).filter(fits).max().unwrap_or(0);
                assert_eq!(gaps.longest(most, more), to_i64(longest), "{gaps}: {most}, {more}");
            }
        }
    }

    #[test]
    fn pieces_that_do_not_differ_as_they_must_are_refused() {
        for (first, second) in [((4, 2), (4, 1)), ((4, 2), (5, 2)), ((4, 2), (3, 3)), ((4, 2), (24, 0))] {
            assert!(two(first, second).check().is_err());
        }
        assert!(two((-1, 2), (24, 1)).check().is_err());
        assert!(two((4, 2), (MAX_PARAMETER + 1, 1)).check().is_err());
    }
}
