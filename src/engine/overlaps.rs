//! Overlaps that align at least one pair of residues, if gaps alone would score more.
//!
//! Both ends of an overlap are free, so gaps alone form a path from border to border, which is no overlap. Their score
//! is negative by at least a gap of one residue. An end that scores more therefore aligns some residues. Only the other
//! ends are examined again here, in two layers: one of all paths, and one of the paths that have already aligned
//! residues. This takes two bytes per cell, and is needed only if two short sequences have hardly any residues in common.

use crate::engine::carry::{Carried, IMPOSSIBLE};
use crate::engine::directions::CellBits;
use crate::engine::recurrence::decide;
use crate::engine::traceback::Traceback;
use crate::engine::{CellSource, Edges, Paths, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{low_u16, to_u32};
use crate::terms::scoring::{Scoring, with_pieces};
use rayon::prelude::*;

/// Bits of a cell's directions in each layer.
const LAYER_BITS: u32 = CellBits::BITS;

/// The directions of a cell in both layers.
type LayeredBits = u32;

/// Whether gaps alone may score as much as the best end of a pair.
pub fn may_be_empty(scoring: &Scoring, best: &HitEnd) -> bool {
    scoring.mode.needs_aligned_residues() && !best.is_none() && i64::from(best.score) <= -scoring.gap_cost(1)
}

/// The first best end of a pair's overlaps.
pub fn best(batch: &Batch, pair: &Pair) -> HitEnd {
    let (query, target) = (batch.query(pair.query), batch.target(pair.target));
    let edges = Edges::at_borders(&batch.scoring, query.len(), target.len(), 0);
    let mut best = HitEnd::NONE;
    two_layers(query, target, &batch.scoring, &edges, |i, j, h, _| {
        let hit = HitEnd { score: h, query_end: to_u32(i) + 1, target_end: to_u32(j) + 1 };
        if (i + 1 == query.len() || j + 1 == target.len()) && hit.order(&best).is_lt() {
            best = hit;
        }
    });
    best
}

/// Replaces ends of gaps alone by the ends of overlaps.
pub fn mend_ends(batch: &Batch, pairs: &[Pair], hits: &mut [HitEnd]) {
    let mend = |(pair, hit): (&Pair, &mut HitEnd)| {
        if may_be_empty(&batch.scoring, hit) {
            *hit = best(batch, pair);
        }
    };
    if batch.scoring.mode.needs_aligned_residues() {
        pairs.par_iter().zip(hits).for_each(mend);
    }
}

/// Replaces paths that consist only of gaps by the path of an overlap. Windows without a path get none.
pub fn mend(batch: &Batch, windows: &[Window], paths: &mut Paths) {
    if !batch.scoring.mode.needs_aligned_residues() {
        return;
    }
    let is_empty = |place: &u32| {
        let steps = paths.steps(*place as usize);
        steps.is_some_and(|mut steps| !steps.any(|(_, source)| source == CellSource::Diagonal))
    };
    let empty: Vec<u32> = (0..to_u32(windows.len())).filter(is_empty).collect();
    if !empty.is_empty() {
        let runs = empty.par_iter().map(|&place| path(batch, &windows[place as usize])).collect();
        paths.put_all(&empty, Paths::of(runs));
    }
}

/// The runs of the path of a window's last cell, from its end.
fn path(batch: &Batch, window: &Window) -> Vec<u32> {
    let query = &batch.query(window.query)[..window.query_end as usize];
    let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
    let edges = Edges::of_window(&batch.scoring, window);
    let mut directions = vec![0; query.len() * target.len()];
    two_layers(query, target, &batch.scoring, &edges, |i, j, _, bits| {
        directions[i * target.len() + j] = bits;
    });
    let (mut path, mut shift) = (Traceback::new(window), LAYER_BITS);
    while !path.is_done() {
        let cell = (path.stand.rows as usize - 1) * target.len() + path.stand.cols as usize - 1;
        if path.step(low_u16(directions[cell] >> shift)) == CellSource::Diagonal {
            // Before the first aligned residues, all paths are allowed.
            shift = 0;
        }
    }
    path.into_runs(batch.scoring.mode)
}

/// Runs the recurrence in both layers. `cell` receives each cell's row, column, the H of paths with aligned residues,
/// and its directions: those of such paths in the upper bits, those of all paths in the lower bits.
fn two_layers(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    edges: &Edges,
    cell: impl FnMut(usize, usize, i32, LayeredBits),
) {
    with_pieces!(scoring.gaps(), PIECES => two_layers_of::<PIECES>(query, target, scoring, edges, cell))
}

/// [`two_layers`] under gap costs of `PIECES` pieces.
fn two_layers_of<const PIECES: usize>(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    edges: &Edges,
    mut cell: impl FnMut(usize, usize, i32, LayeredBits),
) {
    let pieces = scoring.gaps().array::<PIECES>();
    let none = [IMPOSSIBLE; PIECES];
    // H(i-1,j) and F(i,j) of all paths, and F(i,j) of the paths with aligned residues.
    let above = edges.horizontal.values::<PIECES>(target.len());
    let mut above: Vec<_> = above.into_iter().map(|all| (all, none)).collect();
    let mut corner = edges.corner;
    for (i, (&q, left)) in query.iter().zip(edges.vertical.values::<PIECES>(query.len())).enumerate() {
        let (mut all_e, mut met_e) = (left.gaps, none);
        let mut diagonal = std::mem::replace(&mut corner, left.h);
        for (j, (&t, (all_above, met_f))) in target.iter().zip(&mut above).enumerate() {
            let matched = diagonal + scoring.score(q, t);
            let all = decide(matched, [all_e, all_above.gaps], IMPOSSIBLE, [pieces; 2]);
            let met = decide(matched, [met_e, *met_f], IMPOSSIBLE, [pieces; 2]);
            cell(i, j, met.h, LayeredBits::from(all.bits) | LayeredBits::from(met.bits) << LAYER_BITS);
            (all_e, met_e, diagonal) = (all.e, met.e, all_above.h);
            (*all_above, *met_f) = (Carried { h: all.h, gaps: all.f }, met.f);
        }
    }
}
