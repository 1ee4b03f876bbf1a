//! The specification: the recurrence, cell by cell (`recurrence.rs`).
//!
//! All other engines are tested against this one. It keeps a single row of the matrix and stores every direction of a
//! window, without a band.

use crate::engine::directions::cell_bits;
use crate::engine::overlaps;
use crate::engine::pathfinding::all_paths;
use crate::engine::recurrence::recurrence;
use crate::engine::rows;
use crate::engine::{Block, Capabilities, Directions, Edges, Engine, Paths, Primitives, Tile, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_i32, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;

/// The specification engine.
#[derive(Debug, Default)]
pub struct Plain;

impl Plain {
    pub fn new() -> Plain {
        Plain
    }
}

/// Runs the recurrence over a block and stores every direction.
fn fill(query: &[u8], target: &[u8], scoring: &Scoring, edges: &Edges) -> Directions {
    let bits = cell_bits(scoring.gaps().count());
    let tile = Tile::whole(to_u32(query.len()), to_u32(target.len()), bits);
    let mut words = vec![0; to_usize(tile.words())];
    recurrence(query, target, scoring, edges, |i, _, directions| {
        for (j, &bits) in directions.iter().enumerate() {
            tile.set(&mut words, to_i32(i), to_u32(j), bits);
        }
    });
    Directions::single(tile, words)
}

/// The first best end of a pair.
fn best(batch: &Batch, pair: &Pair) -> HitEnd {
    let (query, whole, scoring) = (batch.query(pair.query), batch.target(pair.target), &*batch.scoring);
    let target = &whole[pair.start as usize..pair.end as usize];
    let edges = Edges::at_borders(scoring, query.len(), target.len(), pair.start);
    let mode = scoring.mode;
    let mut best = if mode.is_local() { HitEnd::default() } else { HitEnd::NONE };
    recurrence(query, target, scoring, &edges, |i, heights, _| {
        for (j, &h) in heights.iter().enumerate() {
            if h < best.score {
                continue;
            }
            let hit = HitEnd { score: h, query_end: to_u32(i) + 1, target_end: pair.start + to_u32(j) + 1 };
            let may_end =
                mode.may_end(query.len() - hit.query_end as usize, whole.len() - hit.target_end as usize);
            let is_some = !mode.is_local() || h > 0;
            if is_some && may_end && hit.target_end > pair.own && hit.order(&best).is_lt() {
                best = hit;
            }
        }
    });
    if overlaps::may_be_empty(scoring, &best) { overlaps::best(batch, pair) } else { best }
}

impl Engine for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities::named("plain engine")
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        let best = if batch.scoring.has_own_rows() { rows::best } else { best };
        Ok(pairs.iter().map(|pair| best(batch, pair)).collect())
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        match batch.scoring.has_own_rows() {
            true => Ok(rows::paths(batch, windows)),
            false => all_paths(self, batch, windows),
        }
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
        Ok(recurrence(query, target, &batch.scoring, edges, |_, _, _| {}))
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
    use crate::terms::alignment::PathOp;
    use crate::terms::bounds::Band;
    use crate::terms::scoring::AlignmentMode;
    use std::sync::Arc;

    fn score(query: &[u8], target: &[u8], own: u32) -> HitEnd {
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
        let hit = |score, query_end, target_end| HitEnd { score, query_end, target_end };
        assert_eq!(score(&[0, 1, 2], &[3, 0, 1, 2, 3], 0), hit(3, 3, 4));
        assert_eq!(score(&[0], &[1], 0), HitEnd::default());
        assert_eq!(score(&[], &[1], 0), HitEnd::default());
        assert_eq!(score(&[14], &[14], 0), HitEnd::default(), "N matches nothing");
        assert_eq!(
            score(&[0, 0], &[0, 1, 0, 1, 0], 0),
            hit(1, 1, 1),
            "the leftmost target end, then query end"
        );
        assert_eq!(score(&[0, 0], &[0, 1, 0, 1, 0], 2), hit(1, 1, 3), "the first own column");
    }

    /// The best score of an alignment by its definition: each length of a gap is tried (Waterman, Smith and Beyer 1976).
    fn defined(query: &[u8], target: &[u8], scoring: &Scoring) -> i64 {
        const NONE: i64 = i64::MIN / 2;
        let mode = scoring.mode;
        let mut best = NONE;
        // The best scores of alignments that end after these residues: of all, and of those that align residues.
        let mut ends = vec![vec![[NONE; 2]; target.len() + 1]; query.len() + 1];
        for i in 0..=query.len() {
            for j in 0..=target.len() {
                let mut here = [if mode.may_begin(i, j) { 0 } else { NONE }, NONE];
                if i > 0 && j > 0 {
                    let [any, met] = ends[i - 1][j - 1];
                    here[1] = any.max(met) + i64::from(scoring.score(query[i - 1], target[j - 1]));
                }
                for (layer, here) in here.iter_mut().enumerate() {
                    let insertions = (1..=i).map(|gap| ends[i - gap][j][layer] - scoring.gap_cost(gap));
                    let deletions = (1..=j).map(|gap| ends[i][j - gap][layer] - scoring.gap_cost(gap));
                    *here = insertions.chain(deletions).fold(*here, i64::max);
                }
                ends[i][j] = here;
                if i > 0 && j > 0 && mode.may_end(query.len() - i, target.len() - j) {
                    let [any, met] = here;
                    best = best.max(if mode.needs_aligned_residues() { met } else { any.max(met) });
                }
            }
        }
        if mode.is_local() { best.max(0) } else { best }
    }

    #[test]
    fn two_pieces_keep_to_the_definition() {
        let mut state = 29u64;
        let mut below = |bound: i32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as i32 % bound
        };
        let mut gaps_of_second = 0;
        for round in 0..400 {
            let (open, extend) = (below(6), 2 + below(5));
            let scoring = Scoring::dna(1 + below(4), below(8), open, extend);
            let scoring = scoring.with_gap_piece(open + 1 + below(9), 1 + below(extend - 1)).unwrap();
            let letters = 2 + below(3);
            let target: Vec<u8> = (0..1 + below(24)).map(|_| below(letters) as u8).collect();
            let mut query = target.clone();
            let cut = below(query.len() as i32) as usize;
            query.drain(cut..(cut + below(9) as usize).min(target.len()));
            query.extend((0..1 + below(4)).map(|_| below(letters) as u8));
            let (query, target) = if round % 2 == 0 { (query, target) } else { (target, query) };
            for (mode, _) in AlignmentMode::ALL {
                let scoring = scoring.clone().in_mode(mode);
                let batch = Batch {
                    queries: Arc::new([&query[..]].into_iter().collect()),
                    targets: Arc::new([&target[..]].into_iter().collect()),
                    scoring: Arc::new(scoring.clone()),
                };
                let pair = Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 };
                let hit = Plain::new().score(&batch, &[pair]).unwrap()[0];
                let case = format!("round {round}, {scoring}: {query:?} {target:?}");
                assert_eq!(i64::from(hit.score), defined(&query, &target, &scoring), "{case}");
                if hit.query_end == 0 || hit.target_end == 0 {
                    continue;
                }
                // The path from the end, rescored.
                let window = Window {
                    query: 0,
                    target: 0,
                    start: 0,
                    query_end: hit.query_end,
                    target_end: hit.target_end,
                    band: Band { deletions: 99, insertions: 99 },
                    score: 0,
                };
                let paths = Plain::new().paths(&batch, &[window]).unwrap();
                let (mut i, mut j, mut score) = (hit.query_end as usize, hit.target_end as usize, 0);
                for (len, op) in paths.runs(0).into_iter().flatten() {
                    let len = len as usize;
                    let [rows, cols] =
                        [usize::from(op != PathOp::Deletion), usize::from(op != PathOp::Insertion)];
                    (i, j) = (i - rows * len, j - cols * len);
                    score += match op {
                        PathOp::Match => scoring.score_all(&query[i..i + len], &target[j..j + len]),
                        _ => -scoring.gap_cost(len),
                    };
                    let is_second = scoring.gap_cost(len) < scoring.gaps().first.cost(len);
                    gaps_of_second += usize::from(op != PathOp::Match && is_second);
                }
                assert!(mode.may_begin(i, j), "{case}: begins at {i}, {j}");
                assert_eq!(score, i64::from(hit.score), "{case}");
            }
        }
        assert!(gaps_of_second > 100, "{gaps_of_second} gaps of the second piece");
    }

    #[test]
    fn blocks_join_to_the_whole() {
        let query: Vec<u8> = (0..40u32).map(|k| (k * k % 7 % 4) as u8).collect();
        let target: Vec<u8> = (0..50u32).map(|k| (k * k % 7 % 4 + u32::from(k == 20)) as u8 % 4).collect();
        let scoring = Scoring::dna(2, 3, 1, 1);
        let collect = |query: &[u8], target: &[u8], edges: &Edges| {
            let mut cells = Vec::new();
            let out = recurrence(query, target, &scoring, edges, |_, heights, directions| {
                cells.extend(heights.iter().copied().zip(directions.iter().copied()));
            });
            (cells, out)
        };
        let (whole, _) = collect(&query, &target, &Edges::default());
        let (_, upper_left) = collect(&query[..17], &target[..23], &Edges::default());
        let right = Edges { vertical: upper_left.vertical.clone(), ..Edges::default() };
        let (_, upper_right) = collect(&query[..17], &target[23..], &right);
        let below = Edges { horizontal: upper_left.horizontal.clone(), ..Edges::default() };
        let (_, lower_left) = collect(&query[17..], &target[..23], &below);
        let last = Edges {
            corner: upper_left.horizontal.h(22).expect("23 columns"),
            horizontal: upper_right.horizontal,
            vertical: lower_left.vertical,
        };
        let (cells, _) = collect(&query[17..], &target[23..], &last);
        for (k, cell) in cells.iter().enumerate() {
            assert_eq!(*cell, whole[(17 + k / 27) * 50 + 23 + k % 27], "cell {k}");
        }
    }
}
