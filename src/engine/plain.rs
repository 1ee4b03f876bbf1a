//! The specification: Gotoh's recurrence, cell by cell, as on the front page of the crate.
//!
//! All other engines are tested against this one. It keeps a single row of the matrix and stores every direction of a
//! window, without a band.

use crate::engine::directions::{EXTEND_DELETION, EXTEND_INSERTION};
use crate::engine::overlaps;
use crate::engine::primitives::all_paths;
use crate::engine::{
    Block, Capabilities, Directions, Edges, Engine, Paths, Primitives, Source, Tile, Window,
};
use crate::terms::alignment::Hit;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_i32, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;

/// The value of an impossible gap: far below any score, and far from overflow.
pub const IMPOSSIBLE: i32 = -(1 << 30);

/// The minimum of H: in modes other than local, an alignment cannot begin in the middle of the matrix.
pub fn floor(scoring: &Scoring) -> i32 {
    if scoring.mode.is_local() { 0 } else { IMPOSSIBLE }
}

/// The specification engine.
#[derive(Debug, Default)]
pub struct Plain;

impl Plain {
    pub fn new() -> Plain {
        Plain
    }
}

/// A cell: H(i,j), the gaps E(i,j+1) and F(i+1,j) that leave it, and its direction bits.
pub struct Decided {
    pub h: i32,
    pub e: i32,
    pub f: i32,
    pub bits: u8,
}

/// Decides a cell from `matched` = H(i-1,j-1) + s(q_i,t_j), `e` = E(i,j) and `f` = F(i,j). Ties go to the stop, the
/// diagonal, the deletion and the insertion, in this order, and a gap opens rather than extends. `first` is the penalty
/// of a gap's first residue, `extend` that of each further one, and `floor` the minimum of H.
#[inline(always)]
pub fn decide(matched: i32, [e, f]: [i32; 2], floor: i32, [first, extend]: [i32; 2]) -> Decided {
    let h = matched.max(e).max(f).max(floor);
    let source = match h {
        _ if h == floor => Source::Stop,
        _ if h == matched => Source::Diagonal,
        _ if h == e => Source::Deletion,
        _ => Source::Insertion,
    };
    let opened = h - first;
    let deletion = if e - extend > opened { EXTEND_DELETION } else { 0 };
    let insertion = if f - extend > opened { EXTEND_INSERTION } else { 0 };
    let bits = source as u8 | deletion | insertion;
    Decided { h, e: opened.max(e - extend), f: opened.max(f - extend), bits }
}

/// Runs the recurrence over `query` x `target`, from `edges`, row by row. `cell` receives each cell's row, column, H
/// and direction bits. Returns the edges that the block leaves.
pub fn recurrence(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    edges: &Edges,
    mut cell: impl FnMut(usize, usize, i32, u8),
) -> Edges {
    let extend = scoring.gap_extend;
    let costs = [scoring.gap_open + extend, extend];
    let floor = floor(scoring);
    let mut above = match edges.horizontal.is_empty() {
        true => vec![[0, IMPOSSIBLE]; target.len()],
        false => edges.horizontal.clone(),
    };
    let mut behind = Vec::with_capacity(query.len());
    let mut corner = edges.corner;
    for (i, &q) in query.iter().enumerate() {
        let [mut left, mut e] = edges.vertical.get(i).copied().unwrap_or([0, IMPOSSIBLE]);
        let mut diagonal = corner;
        corner = left;
        for (j, &t) in target.iter().enumerate() {
            // Invariant: diagonal = H(i-1,j-1), above[j] = [H(i-1,j), F(i,j)], e = E(i,j).
            let [up, f] = above[j];
            let matched = diagonal + scoring.score(q, t);
            let decided = decide(matched, [e, f], floor, costs);
            cell(i, j, decided.h, decided.bits);
            e = decided.e;
            above[j] = [decided.h, decided.f];
            diagonal = up;
            left = decided.h;
        }
        behind.push([left, e]);
    }
    Edges { corner: 0, horizontal: above, vertical: behind }
}

/// Runs the recurrence over a block and stores every direction.
fn fill(query: &[u8], target: &[u8], scoring: &Scoring, edges: &Edges) -> Directions {
    let tile = Tile::whole(to_u32(query.len()), to_u32(target.len()));
    let mut words = vec![0; to_usize(tile.words())];
    recurrence(query, target, scoring, edges, |i, j, _, bits| {
        tile.set(&mut words, to_i32(i), to_u32(j), bits);
    });
    Directions::single(tile, words)
}

/// The first best end of a pair.
fn best(batch: &Batch, pair: &Pair) -> Hit {
    let (query, whole, scoring) = (batch.query(pair.query), batch.target(pair.target), &*batch.scoring);
    let target = &whole[pair.start as usize..pair.end as usize];
    let edges = Edges::at_borders(scoring, query.len(), target.len(), pair.start);
    let mode = scoring.mode;
    let mut best = if mode.is_local() { Hit::default() } else { Hit::NONE };
    recurrence(query, target, scoring, &edges, |i, j, h, _| {
        let hit = Hit { score: h, query_end: to_u32(i) + 1, target_end: pair.start + to_u32(j) + 1 };
        let may_end =
            mode.may_end(query.len() - hit.query_end as usize, whole.len() - hit.target_end as usize);
        let is_some = !mode.is_local() || h > 0;
        if is_some && may_end && hit.target_end > pair.own && hit.order(&best).is_lt() {
            best = hit;
        }
    });
    if overlaps::may_be_empty(scoring, &best) { overlaps::best(batch, pair) } else { best }
}

impl Engine for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::named("plain engine")
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        Ok(pairs.iter().map(|pair| best(batch, pair)).collect())
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        all_paths(self, batch, windows)
    }
}

impl Primitives for Plain {
    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let mut all = Directions::default();
        for window in windows {
            let query = &batch.query(window.query)[..window.query_end as usize];
            let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
            all.append(fill(query, target, &batch.scoring, &Edges::of_window(&batch.scoring, window)));
        }
        Ok(all)
    }

    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
        let (query, target) = block.codes(batch);
        Ok(recurrence(query, target, &batch.scoring, edges, |_, _, _, _| {}))
    }

    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError> {
        let mut all = Directions::default();
        for (block, edges) in blocks {
            let (query, target) = block.codes(batch);
            all.append(fill(query, target, &batch.scoring, edges));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn score(query: &[u8], target: &[u8], own: u32) -> Hit {
        let batch = Batch {
            queries: Arc::new([query].into_iter().collect()),
            targets: Arc::new([target].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let pair = Pair { query: 0, target: 0, start: 0, own, end: target.len() as u32 };
        Plain::new().score(&batch, &[pair]).unwrap()[0]
    }

    #[test]
    fn by_hand() {
        let hit = |score, query_end, target_end| Hit { score, query_end, target_end };
        assert_eq!(score(&[0, 1, 2], &[3, 0, 1, 2, 3], 0), hit(3, 3, 4));
        assert_eq!(score(&[0], &[1], 0), Hit::default());
        assert_eq!(score(&[], &[1], 0), Hit::default());
        assert_eq!(score(&[14], &[14], 0), Hit::default(), "N matches nothing");
        assert_eq!(
            score(&[0, 0], &[0, 1, 0, 1, 0], 0),
            hit(1, 1, 1),
            "the leftmost target end, then query end"
        );
        assert_eq!(score(&[0, 0], &[0, 1, 0, 1, 0], 2), hit(1, 1, 3), "the first own column");
    }

    #[test]
    fn blocks_join_to_the_whole() {
        let query: Vec<u8> = (0..40u32).map(|k| (k * k % 7 % 4) as u8).collect();
        let target: Vec<u8> = (0..50u32).map(|k| (k * k % 7 % 4 + u32::from(k == 20)) as u8 % 4).collect();
        let scoring = Scoring::dna(2, 3, 1, 1);
        let collect = |query: &[u8], target: &[u8], edges: &Edges| {
            let mut cells = Vec::new();
            let out = recurrence(query, target, &scoring, edges, |_, _, h, bits| cells.push((h, bits)));
            (cells, out)
        };
        let (whole, _) = collect(&query, &target, &Edges::default());
        let (_, upper_left) = collect(&query[..17], &target[..23], &Edges::default());
        let right = Edges { corner: 0, horizontal: vec![], vertical: upper_left.vertical.clone() };
        let (_, upper_right) = collect(&query[..17], &target[23..], &right);
        let below = Edges { corner: 0, horizontal: upper_left.horizontal.clone(), vertical: vec![] };
        let (_, lower_left) = collect(&query[17..], &target[..23], &below);
        let last = Edges {
            corner: upper_left.horizontal[22][0],
            horizontal: upper_right.horizontal,
            vertical: lower_left.vertical,
        };
        let (cells, _) = collect(&query[17..], &target[23..], &last);
        for (k, cell) in cells.iter().enumerate() {
            assert_eq!(*cell, whole[(17 + k / 27) * 50 + 23 + k % 27], "cell {k}");
        }
    }
}
