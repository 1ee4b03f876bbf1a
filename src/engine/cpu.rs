//! The CPU engine: pairs side by side in the lanes of vector registers, groups of them on all cores.
//!
//! Lanes hold pairs of about one length (inter-sequence vectors, as in Rognes 2011). The loops over
//! lanes are written so that the compiler makes vector instructions of them.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair, counting_sort_descending};
use crate::engine::directions::Layout;
use crate::engine::plain::{self, IMPOSSIBLE};
use crate::engine::{Block, Directions, Edges, Engine, Swept, Tile, Window};
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use rayon::prelude::*;

/// Pairs of one group; one i32 each.
const LANES: usize = 16;
/// Query lengths from here on share one class of the counting sort.
const LENGTH_CLASSES: u32 = 1 << 14;
/// Codes that stand for no residue; they are equal to no code, each other included.
const NO_QUERY: u8 = 62;
const NO_TARGET: u8 = 63;

/// The CPU engine. Its parallel loops run on the current rayon pool.
#[derive(Debug, Default)]
pub struct Cpu;

impl Cpu {
    pub fn new() -> Cpu {
        Cpu
    }
}

impl Engine for Cpu {
    fn describe(&self) -> String {
        match rayon::current_num_threads() {
            1 => "CPU (1 thread)".to_string(),
            threads => format!("CPU ({threads} threads)"),
        }
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        let lengths: Vec<u32> = pairs.iter().map(|pair| batch.query(pair.query).len() as u32).collect();
        let order = counting_sort_descending(&lengths, LENGTH_CLASSES);
        let table = ScoreTable::new(&batch.scoring);
        let groups: Vec<Vec<Hit>> =
            order.par_chunks(LANES).map(|group| score_group(batch, pairs, group, &table)).collect();
        let mut hits = vec![Hit::default(); pairs.len()];
        for (&index, hit) in order.iter().zip(groups.iter().flatten()) {
            hits[index as usize] = *hit;
        }
        Ok(hits)
    }

    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        let mut layout = Layout::default();
        for window in windows {
            layout.push_window([tile_of(window)]);
        }
        let mut words = vec![0; layout.words as usize];
        let mut rest = words.as_mut_slice();
        let mut parts = Vec::with_capacity(windows.len());
        for (window, tile) in windows.iter().zip(&layout.tiles) {
            let (part, behind) = rest.split_at_mut(tile.words() as usize);
            parts.push((window, Tile { offset: 0, ..*tile }, part));
            rest = behind;
        }
        parts.into_par_iter().for_each(|(window, tile, words)| fill_band(batch, window, &tile, words));
        Ok(Directions::new(layout, Box::new(words)))
    }

    fn sweep(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        keep: bool,
    ) -> Result<Swept, EngineError> {
        let (query, target) = block.codes(batch);
        Ok(plain::sweep(query, target, &batch.scoring, edges, keep))
    }
}

/// Substitution scores by `query code * 64 + target code`, codes that stand for nothing included.
struct ScoreTable {
    scores: Vec<i32>,
    /// Match and mismatch, where a comparison of codes does.
    equal: Option<(i32, i32)>,
    first: i32,
    extend: i32,
}

impl ScoreTable {
    fn new(scoring: &Scoring) -> ScoreTable {
        let letters = scoring.alphabet.letters().len() as u8;
        let score = |q: u8, t: u8| match q < letters && t < letters {
            true => scoring.score(q, t),
            false => -(1 << 20),
        };
        let equal = match scoring.substitution {
            Substitution::Equal { match_, mismatch } => Some((match_, -mismatch)),
            Substitution::Matrix(_) => None,
        };
        ScoreTable {
            scores: (0..64).flat_map(|q| (0..64).map(move |t| score(q, t))).collect(),
            equal,
            first: scoring.gap_open + scoring.gap_extend,
            extend: scoring.gap_extend,
        }
    }
}

/// The pairs of a group in lanes. Rows and columns are those of the longest; the queries stand at
/// the end of the rows, so that the rows before them stay 0, and the targets at the start of the
/// columns.
struct Lanes<const L: usize> {
    query: Vec<[i32; L]>,
    target: Vec<[i32; L]>,
    /// First column whose cells count.
    own: [u32; L],
    /// Columns.
    len: [u32; L],
}

fn score_group(batch: &Batch, pairs: &[Pair], group: &[u32], table: &ScoreTable) -> Vec<Hit> {
    if group.len() == 1 {
        return score_lanes::<1>(batch, pairs, group, table);
    }
    score_lanes::<LANES>(batch, pairs, group, table)
}

fn score_lanes<const L: usize>(batch: &Batch, pairs: &[Pair], group: &[u32], table: &ScoreTable) -> Vec<Hit> {
    let members: Vec<Pair> = group.iter().map(|&index| pairs[index as usize]).collect();
    let lanes = Lanes::<L>::new(batch, &members, table.equal.is_some());
    let best = match table.equal {
        Some((match_, mismatch)) => best_ends(&lanes, table, |q, t| if q == t { match_ } else { mismatch }),
        None => best_ends(&lanes, table, |q, t| table.scores[(q << 6 | t) as usize & 4095]),
    };
    let rows = lanes.query.len() as u32;
    let hit = |(lane, pair): (usize, &Pair)| {
        let (score, row, col) = (best.score[lane], best.row[lane], best.col[lane]);
        let above = rows - batch.query(pair.query).len() as u32;
        match score > 0 {
            true => Hit { score, query_end: row + 1 - above, target_end: pair.start + col + 1 },
            false => Hit::default(),
        }
    };
    members.iter().enumerate().map(hit).collect()
}

impl<const L: usize> Lanes<L> {
    fn new(batch: &Batch, members: &[Pair], by_equality: bool) -> Lanes<L> {
        // Where codes are compared, those that match nothing must differ from each other.
        let plain = |code: u8, none: u8| i32::from(if by_equality && code >= 4 { none } else { code });
        let rows = members.iter().map(|pair| batch.query(pair.query).len()).max().unwrap_or(0);
        let cols = members.iter().map(|pair| pair.cols() as usize).max().unwrap_or(0);
        let mut lanes = Lanes {
            query: vec![[i32::from(NO_QUERY); L]; rows],
            target: vec![[i32::from(NO_TARGET); L]; cols],
            own: [u32::MAX; L],
            len: [0; L],
        };
        for (lane, pair) in members.iter().enumerate() {
            let query = batch.query(pair.query);
            for (row, &code) in lanes.query[rows - query.len()..].iter_mut().zip(query) {
                row[lane] = plain(code, NO_QUERY);
            }
            let target = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
            for (col, &code) in lanes.target.iter_mut().zip(target) {
                col[lane] = plain(code, NO_TARGET);
            }
            lanes.own[lane] = pair.own - pair.start;
            lanes.len[lane] = pair.cols();
        }
        lanes
    }
}

/// The best cell of each lane.
struct Best<const L: usize> {
    score: [i32; L],
    row: [u32; L],
    col: [u32; L],
}

/// The recurrence in `L` lanes, column by column, and the first best cell in (column, row) order.
fn best_ends<const L: usize>(
    lanes: &Lanes<L>,
    table: &ScoreTable,
    substitute: impl Fn(i32, i32) -> i32 + Copy,
) -> Best<L> {
    #[cfg(target_arch = "x86_64")]
    if L > 1 && is_x86_feature_detected!("avx2") {
        // SAFETY: the features that the function is compiled for were just detected. Worth 2.5x
        // over the baseline's SSE2 (docs/ideas.md).
        return unsafe { best_ends_avx2(lanes, table, substitute) };
    }
    best_ends_portable(lanes, table, substitute)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn best_ends_avx2<const L: usize>(
    lanes: &Lanes<L>,
    table: &ScoreTable,
    substitute: impl Fn(i32, i32) -> i32 + Copy,
) -> Best<L> {
    best_ends_portable(lanes, table, substitute)
}

#[inline(always)]
fn best_ends_portable<const L: usize>(
    lanes: &Lanes<L>,
    table: &ScoreTable,
    substitute: impl Fn(i32, i32) -> i32 + Copy,
) -> Best<L> {
    let (first, extend) = (table.first, table.extend);
    // [H, E] of the column before, a row each.
    let mut column = vec![([0i32; L], [IMPOSSIBLE; L]); lanes.query.len()];
    let mut best = Best { score: [0; L], row: [0; L], col: [0; L] };
    for (j, t) in lanes.target.iter().enumerate() {
        let (mut diagonal, mut f, mut top) = ([0i32; L], [IMPOSSIBLE; L], [0i32; L]);
        for (q, (h, e)) in lanes.query.iter().zip(&mut column) {
            for lane in 0..L {
                // Invariant: diagonal = H(i-1,j-1), h = H(i,j-1), e = E(i,j), f = F(i,j).
                let matched = diagonal[lane] + substitute(q[lane], t[lane]);
                let cell = matched.max(e[lane]).max(f[lane]).max(0);
                diagonal[lane] = h[lane];
                h[lane] = cell;
                top[lane] = top[lane].max(cell);
                let opened = cell - first;
                e[lane] = opened.max(e[lane] - extend);
                f[lane] = opened.max(f[lane] - extend);
            }
        }
        let j = j as u32;
        for lane in 0..L {
            if top[lane] > best.score[lane] && (lanes.own[lane]..lanes.len[lane]).contains(&j) {
                let row = column.iter().position(|(h, _)| h[lane] == top[lane]).unwrap_or(0);
                (best.score[lane], best.row[lane], best.col[lane]) = (top[lane], row as u32, j);
            }
        }
    }
    best
}

/// The tile that holds a window's band: 8 rows a lane, no skew.
fn tile_of(window: &Window) -> Tile {
    let lanes = window.query_end.div_ceil(8).max(1);
    let row = window.query_end as i32 - (lanes * 8) as i32;
    Tile::new(window, row, 0..window.target_end - window.start, (lanes, 8, 0))
}

/// The recurrence row by row inside the band alone; cells outside count as H = 0 without a gap,
/// which is never more than they are, and no path to the window's end needs them.
fn fill_band(batch: &Batch, window: &Window, tile: &Tile, words: &mut [u32]) {
    let query = &batch.query(window.query)[..window.query_end as usize];
    let target = &batch.target(window.target)[window.start as usize..window.target_end as usize];
    let scoring = &batch.scoring;
    let extend = scoring.gap_extend;
    let first = scoring.gap_open + extend;
    let end = target.len() as i64 - query.len() as i64;
    let left_of = |i: usize| i as i64 + end - i64::from(window.band.deletions);
    let right_of = |i: usize| i as i64 + end + i64::from(window.band.insertions) + 1;
    let clip = |col: i64| col.clamp(0, target.len() as i64) as usize;
    // [H, F] of the row above, by column, one place further right: place 0 is the border.
    let mut above = vec![[0, IMPOSSIBLE]; target.len() + 1];
    for (i, &q) in query.iter().enumerate() {
        let (from, to) = (clip(left_of(i)), clip(right_of(i)));
        let mut e = IMPOSSIBLE;
        let mut diagonal = above[from][0];
        above[from] = [0, IMPOSSIBLE]; // Left of the band for every row below.
        for j in from..to {
            let [up, f] = above[j + 1];
            let matched = diagonal + scoring.score(q, target[j]);
            let decided = plain::decide(matched, e, f, first, extend);
            tile.set(words, i as i32, j as u32, decided.bits);
            e = decided.e;
            above[j + 1] = [decided.h, decided.f];
            diagonal = up;
        }
    }
}
