//! Gotoh's recurrence, cell by cell, as on the front page of the crate. Under gap costs of several pieces each piece has
//! its own E and F (Gotoh 1990; Li 2018).

use crate::engine::carry::{Carried, IMPOSSIBLE};
use crate::engine::directions::{CellBits, Layer, extend_bits};
use crate::engine::{CellSource, Edges};
use crate::terms::casts::to_u8;
use crate::terms::scoring::{GapPiece, Scoring, with_pieces};

/// The minimum of H: in modes other than local, an alignment cannot begin in the middle of the matrix.
pub fn floor(scoring: &Scoring) -> i32 {
    if scoring.mode.is_local() { 0 } else { IMPOSSIBLE }
}

/// A cell: H(i,j), the gaps E(i,j+1) and F(i+1,j) of each piece that leave it, and its direction bits.
pub struct Decided<const PIECES: usize> {
    pub h: i32,
    pub e: [i32; PIECES],
    pub f: [i32; PIECES],
    pub bits: CellBits,
}

/// Decides a cell from `matched` = H(i-1,j-1) + s(q_i,t_j), and E(i,j) and F(i,j) of each of the pieces of the gap
/// costs, which are those of the deletions and the insertions that leave the cell. Ties go to the stop, the diagonal, the deletion and the insertion, in this order, and among gaps of one kind to
/// the first piece; a gap opens rather than extends. `floor` is the minimum of H.
///
/// Plain loops, because the specification's engine spends its time here and tests are compiled without much inlining.
#[inline(always)]
pub fn decide<const PIECES: usize>(
    matched: i32,
    [mut e, mut f]: [[i32; PIECES]; 2],
    floor: i32,
    [deletions, insertions]: [[GapPiece; PIECES]; 2],
) -> Decided<PIECES> {
    let mut best = (floor, CellSource::Stop as CellBits);
    if matched > floor {
        best = (matched, CellSource::Diagonal as CellBits);
    }
    best = with_gaps(best, e, CellSource::Deletion);
    let (h, mut bits) = with_gaps(best, f, CellSource::Insertion);
    let mut piece = 0;
    while piece < PIECES {
        let [deletion, insertion] = extend_bits(piece);
        let longer_e = e[piece] - deletions[piece].extend;
        let longer_f = f[piece] - insertions[piece].extend;
        (e[piece], f[piece]) = (h - deletions[piece].first(), h - insertions[piece].first());
        if longer_e > e[piece] {
            (e[piece], bits) = (longer_e, bits | deletion);
        }
        if longer_f > f[piece] {
            (f[piece], bits) = (longer_f, bits | insertion);
        }
        piece += 1;
    }
    Decided { h, e, f, bits }
}

/// The best of H and its source, and of gaps of one kind.
#[inline(always)]
fn with_gaps<const PIECES: usize>(
    mut best: (i32, CellBits),
    gaps: [i32; PIECES],
    source: CellSource,
) -> (i32, CellBits) {
    let mut piece = 0;
    while piece < PIECES {
        if gaps[piece] > best.0 {
            best = (gaps[piece], Layer { source, piece: to_u8(piece) }.bits());
        }
        piece += 1;
    }
    best
}

/// Runs the recurrence over `query` x `target`, from `edges`, row by row. `row` receives the number of each row, and the H
/// and the direction bits of its cells. Returns the edges that the block leaves.
pub fn recurrence(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    edges: &Edges,
    row: impl FnMut(usize, &[i32], &[CellBits]),
) -> Edges {
    with_pieces!(scoring.gaps(), PIECES => recurrence_of::<PIECES>(query, target, scoring, edges, row))
}

/// [`recurrence`] under gap costs of `PIECES` pieces.
fn recurrence_of<const PIECES: usize>(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    edges: &Edges,
    mut row: impl FnMut(usize, &[i32], &[CellBits]),
) -> Edges {
    let (floor, pieces) = (floor(scoring), scoring.gaps().array::<PIECES>());
    let mut above = edges.horizontal.values::<PIECES>(target.len());
    let mut behind = edges.vertical.values::<PIECES>(query.len());
    let (mut heights, mut directions) = (vec![0; target.len()], vec![0; target.len()]);
    let mut corner = edges.corner;
    for (i, (&q, behind)) in query.iter().zip(&mut behind).enumerate() {
        let Carried { h: mut left, gaps: mut e } = *behind;
        let mut diagonal = corner;
        corner = left;
        for (j, (&t, above)) in target.iter().zip(&mut above).enumerate() {
            // Invariant: diagonal = H(i-1,j-1), above = H(i-1,j) and F(i,j), e = E(i,j).
            let matched = diagonal + scoring.score(q, t);
            let decided = decide(matched, [e, above.gaps], floor, [pieces; 2]);
            (heights[j], directions[j]) = (decided.h, decided.bits);
            diagonal = above.h;
            *above = Carried { h: decided.h, gaps: decided.f };
            (left, e) = (decided.h, decided.e);
        }
        *behind = Carried { h: left, gaps: e };
        row(i, &heights, &directions);
    }
    let [horizontal, vertical] = [above, behind].map(|values| values.into_iter().collect());
    Edges { corner: 0, horizontal, vertical }
}
