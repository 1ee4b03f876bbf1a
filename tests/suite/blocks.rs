//! Alignments traced block by block, and the checkpoints between blocks.

use super::agreement::{along, plain_paths, plain_scores, specified, wanted, windows};
use super::inputs::{batch, one_pair, scorings};
use crate::common::random::Random;
use swalign::engine::blockwise::{Cuts, paths_in_blocks};
use swalign::engine::plain::Plain;
use swalign::engine::{Block, Carry, Edge, Edges, Primitives, Window};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::{Batch, Pair};
use swalign::terms::bounds::Band;
use swalign::terms::scoring::Scoring;

/// Small blocks, with room for `edges` and for directions `ahead`, in bytes.
pub fn cuts(scoring: &Scoring, edges: u64, ahead: u64) -> Cuts {
    let gaps = scoring.gaps();
    Cuts { whole: 512, side: 512, largest: 512, beside: 1 << 20, alone: 1 << 20, edges, ahead, gaps }
}

/// Every third of some scorings, with its number.
fn some(scorings: &[Scoring]) -> impl Iterator<Item = (usize, &Scoring)> {
    scorings.iter().enumerate().step_by(3)
}

/// An alignment walked block by block is the one walked at once, also where blocks are cut in stages.
pub fn blocks_agree(engine: &mut dyn Primitives) {
    blocks_agree_under(engine, some(&scorings()));
}

/// The same under these scorings.
pub fn blocks_agree_under<'a>(
    engine: &mut dyn Primitives,
    scorings: impl Iterator<Item = (usize, &'a Scoring)>,
) {
    for (number, scoring) in scorings {
        let sizes = [(1300, 1700), (512, 513), (1024, 1024), (513, 2600), (40, 700), (700, 40), (2100, 2300)];
        let (batch, pairs) = batch(scoring, &sizes, 500 + number as u64);
        let hits = plain_scores(&batch, &pairs);
        let expected = plain_paths(&batch, &pairs, &hits);
        let wanted = wanted(&batch, &pairs, &hits);
        // All windows at once, a few at a time, one at a time, and in stages.
        let cuts = |edges, ahead| cuts(scoring, edges, ahead);
        let beside = |bytes: u64| Cuts { beside: bytes, ..cuts(1 << 30, 1 << 20) };
        let all = [cuts(1 << 30, 1 << 30), beside(100_000), beside(1), cuts(1 << 30, 1), cuts(1, 1 << 30)];
        for cuts in all {
            let found = along(&batch, &wanted, paths_in_blocks(engine, &batch, &windows(&wanted), cuts));
            assert_eq!(found, expected, "{cuts:?}, scoring {number}");
        }
    }
}

/// A long path that strays in a narrow band, so that most blocks are left out; and one that leaves its diagonal for
/// another one, so that blocks are filled that it misses.
pub fn narrow_blocks_agree(engine: &mut dyn Primitives) {
    narrow_blocks_agree_under(engine, some(&scorings()));
}

/// The same under these scorings.
pub fn narrow_blocks_agree_under<'a>(
    engine: &mut dyn Primitives,
    scorings: impl Iterator<Item = (usize, &'a Scoring)>,
) {
    let gaps = [(3, 2), (600, 2), (3, 600)];
    for ((number, scoring), (missing, more)) in scorings.flat_map(|case| gaps.map(|gaps| (case, gaps))) {
        let letters = if scoring.alphabet == Alphabet::Dna { 4 } else { 20 };
        let mut random = Random::new(900 + number as u64);
        let target = random.codes(4000, letters);
        let mut query = target[100..3900].to_vec();
        query.drain(700..700 + missing);
        query.splice(2500..2500, random.codes(more, letters));
        let (batch, pair) = one_pair(&query, &target, scoring);
        let pairs = [pair];
        let hits = plain_scores(&batch, &pairs);
        let expected = plain_paths(&batch, &pairs, &hits);
        let wanted = wanted(&batch, &pairs, &hits);
        let cuts = cuts(scoring, 1 << 30, 1 << 20);
        let found = along(&batch, &wanted, paths_in_blocks(engine, &batch, &windows(&wanted), cuts));
        assert_eq!(found, expected, "scoring {number}, {missing} missing, {more} more");
    }
}

/// A gap that crosses the border of two blocks, while H of its cell at the border comes along the diagonal: a traceback
/// that loses the gap at the border would follow the diagonal. The residues of the gap before the border end with the
/// same residues as the sequence before the gap.
pub fn gaps_across_borders_agree(engine: &mut dyn Primitives) {
    let mut random = Random::new(31);
    let (before, same, between) = (random.codes(432, 4), random.codes(30, 4), random.codes(20, 4));
    let (more, behind) = (random.codes(25, 4), random.codes(700, 4));
    let short = [&before[..], &same, &behind].concat();
    let long = [&before[..], &same, &between, &same, &more, &behind].concat();
    for (query, target) in [(&short, &long), (&long, &short)] {
        let (batch, pair) = one_pair(query, target, &Scoring::dna(1, 4, 6, 1));
        let pairs = [pair];
        let hits = plain_scores(&batch, &pairs);
        let expected = plain_paths(&batch, &pairs, &hits);
        assert_eq!(expected[0].cigar.len(), 3, "one gap");
        let wanted = wanted(&batch, &pairs, &hits);
        assert_eq!(wanted[0].window.start, 0, "the border is where the gap is");
        for ahead in [1, 1 << 20] {
            let cuts = cuts(&batch.scoring, 1 << 30, ahead);
            let found = paths_in_blocks(engine, &batch, &windows(&wanted), cuts);
            let found = along(&batch, &wanted, found);
            assert_eq!(found, expected, "{} rows, {ahead} bytes", query.len());
        }
    }
}

/// H and E or F along lines.
type Lines = Vec<Edge>;

/// H as it is, and of gaps those that a path can come through.
fn comparable(lines: &[Edge]) -> Lines {
    let line = |line: &Edge| Edge {
        carries: line.carries.iter().map(|carry| Carry { gap: carry.gap.max(0), ..*carry }).collect(),
        further: line.further.iter().map(|&gap| gap.max(0)).collect(),
    };
    lines.iter().map(line).collect()
}

/// The edges of the specification at the multiples of 512 in a window: below rows, and to the right of columns.
fn lines_of(batch: &Batch, whole: &Block) -> (Lines, Lines) {
    let edges = |block: Block| Plain::new().sweep(batch, &block, &Edges::default()).unwrap();
    let below = |row: u32| edges(Block { rows: 0..row, ..whole.clone() }).horizontal;
    let right = |col: u32| edges(Block { cols: 0..col, ..whole.clone() }).vertical;
    let multiples = |len: u32| (1..len.div_ceil(512)).map(|line| line * 512);
    specified(batch, whole, || {
        (multiples(whole.rows.end).map(below).collect(), multiples(whole.cols.end).map(right).collect())
    })
}

/// The edges between blocks are those of the specification: of windows of one block, one row, one column
/// and many, and of the part behind row and column 512 from what enters it; for one scoring in `every`.
pub fn checkpoints_agree(engine: &mut dyn Primitives, every: usize) {
    checkpoints_agree_under(engine, scorings().iter().enumerate().step_by(every));
}

/// The same under these scorings.
pub fn checkpoints_agree_under<'a>(
    engine: &mut dyn Primitives,
    scorings: impl Iterator<Item = (usize, &'a Scoring)>,
) {
    let band = Band { deletions: 1 << 20, insertions: 1 << 20 };
    let sizes = [(512, 512), (300, 1700), (1700, 300), (513, 513), (1024, 1536), (1300, 2100), (2100, 1025)];
    for (number, scoring) in scorings {
        let (batch, pairs) = batch(scoring, &sizes, 800 + number as u64);
        let window = |(pair, (rows, cols)): (&Pair, (usize, usize))| {
            let (query_end, target_end) = (rows as u32, cols as u32);
            let (query, target) = (pair.query, pair.target);
            Window { query, target, start: 0, query_end, target_end, band, score: 0 }
        };
        let windows: Vec<Window> = pairs.iter().zip(sizes).map(window).collect();
        for (window, found) in windows.iter().zip(engine.checkpoints(&batch, &windows, 512).unwrap()) {
            let (whole, case) = (Block::whole(window), format!("{window:?} beside others, scoring {number}"));
            let (below, right) = lines_of(&batch, &whole);
            assert!(comparable(&found.horizontal)[1..] == comparable(&below), "{case}: rows");
            assert!(comparable(&found.vertical)[1..] == comparable(&right), "{case}: columns");
        }
        for window in &windows {
            let (whole, query_end, target_end) = (Block::whole(window), window.query_end, window.target_end);
            let (below, right) = lines_of(&batch, &whole);
            let whole_edges = Edges::default();
            let from_512 = |line: Option<&Edge>| {
                line.filter(|line| line.len() > 512).map(|line| line.cut(512..line.len()))
            };
            let rest = from_512(below.first()).zip(from_512(right.first())).map(|(horizontal, vertical)| {
                let corner = below[0].h(511).expect("more than 512 columns");
                let part = Block { rows: 512..query_end, cols: 512..target_end, ..whole.clone() };
                (part, Edges { corner, horizontal, vertical })
            });
            for (block, edges) in std::iter::once((whole, whole_edges)).chain(rest) {
                let first = block.rows.start as usize;
                for side in [512, 1024] {
                    let found = engine.block_checkpoints(&batch, &block, &edges, side).unwrap();
                    let lines = |all: &Lines| -> Lines {
                        let (skipped, step) = ((first + side as usize) / 512 - 1, side as usize / 512);
                        all.iter()
                            .skip(skipped)
                            .step_by(step)
                            .map(|line| line.cut(first..line.len()))
                            .collect()
                    };
                    let case = format!("{block:?} by {side}, scoring {number}");
                    let (rows, cols) = (comparable(&found.horizontal), comparable(&found.vertical));
                    assert_eq!(found.horizontal[0], edges.horizontal, "{case}: what enters");
                    assert_eq!(found.vertical[0], edges.vertical, "{case}: what enters");
                    assert!(rows[1..] == comparable(&lines(&below)), "{case}: rows");
                    assert!(cols[1..] == comparable(&lines(&right)), "{case}: columns");
                }
            }
        }
    }
}
