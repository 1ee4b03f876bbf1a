//! Paths of long alignments, traced block by block. Several alignments are processed concurrently.

use crate::engine::directions::cell_bits;
use crate::engine::primitives::BlockRoom;
use crate::engine::traceback::Traceback;
use crate::engine::{
    BLOCK_ROWS, Block, Checkpoints, Directions, Edge, Edges, Leg, Paths, Primitives, Window,
};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::Gaps;
use rayon::prelude::*;
use std::ops::Range;

/// How long alignments are cut into blocks.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Side of the largest window that is not cut.
    pub whole: u32,
    /// Minimum side of the blocks of larger windows; a multiple of [`BLOCK_ROWS`].
    pub side: u32,
    /// Side of the largest block whose directions are kept; a multiple of the minimum side.
    pub largest: u32,
    /// Target number of bytes for the block edges of all concurrent alignments: sides grow up to `whole` to stay within
    /// it.
    pub beside: u64,
    /// Target number of bytes for the block edges of one alignment: sides grow up to `largest` to stay within it.
    pub alone: u64,
    /// Maximum number of bytes for the block edges of one alignment: a larger one is cut in several stages.
    pub edges: u64,
    /// Bytes of directions that are filled at once, unless a single block needs more.
    pub ahead: u64,
    /// The gap costs, which decide how many bytes a cell's directions and an edge's values take.
    pub gaps: Gaps,
}

impl Cuts {
    /// The cuts that suit an engine. Under affine gaps the directions of a block take half its square: at most 2 MiB, or
    /// 8 MiB on a GPU. The largest of these blocks keep the edges within 192 MiB up to windows of about 160,000 x 160,000
    /// cells, or 227,000 x 227,000.
    pub fn of(room: &BlockRoom, gaps: Gaps) -> Cuts {
        Cuts {
            whole: 4 * BLOCK_ROWS,
            side: room.side,
            largest: 4 * room.side,
            beside: 32 << 20,
            alone: 48 << 20,
            edges: 192 << 20,
            ahead: room.ahead,
            gaps,
        }
    }

    /// The side of the blocks that `block` is cut into, or `None` if it is not cut: a multiple of the minimum side, but
    /// less than the side of `block`.
    fn side(&self, block: &Block) -> Option<u32> {
        let (rows, cols) = (block.rows.len() as u64, block.cols.len() as u64);
        let (least, longest) = (u64::from(self.side), longest(block));
        let fitting = |bytes: u64| self.edge_bytes(rows, cols, 1).div_ceil(bytes).next_multiple_of(least);
        let [whole, largest] = [self.whole, self.largest].map(u64::from);
        let wanted = fitting(self.beside).min(whole).max(fitting(self.alone)).min(largest);
        let wanted = wanted.max(fitting(self.edges));
        let halving = longest.div_ceil(2).next_multiple_of(least);
        (longest > u64::from(self.whole)).then(|| to_u32(wanted.min(halving)))
    }

    /// The side of the blocks of a window.
    fn side_of(&self, window: &Window) -> Option<u32> {
        self.side(&Block::whole(window))
    }

    /// Blocks to fill at once for a path whose next cell is the last cell of the first block: the blocks that a
    /// diagonal path would cross. They take at most `most` bytes, but there is at least one.
    fn ahead(self, checkpoints: &Checkpoints, path: &Traceback, most: u64) -> Vec<(Block, Edges)> {
        let mut bytes = 0;
        let fits = |part: &Block| {
            let first = bytes == 0;
            bytes += part.direction_bytes(self.cell_bits());
            first || bytes <= most
        };
        let parts = checkpoints.parts_before(path.stand.rows, path.stand.cols).take_while(fits);
        parts.map(|part| (part.clone(), checkpoints.entering(&part))).collect()
    }

    /// Bits of the directions of a cell.
    fn cell_bits(&self) -> u32 {
        cell_bits(self.gaps.count())
    }

    /// Bytes of the edges between blocks of this side.
    fn edge_bytes(&self, rows: u64, cols: u64, side: u32) -> u64 {
        let value = Edge::value_bytes(self.gaps.count());
        rows.saturating_mul(2 * value * cols) / u64::from(side)
    }
}

fn longest(block: &Block) -> u64 {
    block.rows.len().max(block.cols.len()) as u64
}

/// The paths of windows. A first sweep keeps only the edges between blocks. Then the blocks that the path crosses are
/// swept again from its end, either with directions or, if they are too large, cut in the same way. Only the traceback
/// shows which blocks the path crosses. Most paths stay near a diagonal, so the blocks on it are filled together, as
/// are those of several windows.
pub fn paths_in_blocks(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
    cuts: Cuts,
) -> Result<Paths, EngineError> {
    let mut paths = Paths::default();
    let mut rest = windows;
    while let Some(first) = rest.first() {
        let side = cuts.side_of(first);
        let bytes_of = |window: &Window| {
            cuts.edge_bytes(window.query_end.into(), window.cols().into(), side.unwrap_or(cuts.side))
        };
        let mut bytes = 0;
        let fits = |next: &&Window| {
            bytes += bytes_of(next);
            bytes <= cuts.beside && cuts.side_of(next) == side
        };
        let (group, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        let _taken = engine.block_room().edges.map(|room| room.take(group.iter().map(bytes_of).sum()));
        let mut traced: Vec<Traceback> = group.iter().map(Traceback::new).collect();
        match side {
            Some(side) if side <= cuts.largest => {
                let checkpoints = engine.checkpoints(batch, group, side)?;
                trace_side_by_side(engine, batch, cuts, &checkpoints, &mut traced)?;
            }
            _ => {
                for (path, window) in traced.iter_mut().zip(group).filter(|(path, _)| !path.is_done()) {
                    let edges = Edges::of_window(&batch.scoring, window);
                    trace_through(engine, batch, cuts, &Block::whole(window), &edges, path)?;
                }
            }
        }
        paths.append(Paths::of(traced.into_iter().map(|path| path.into_runs(batch.scoring.mode)).collect()));
        rest = behind;
    }
    Ok(paths)
}

/// Traces the paths of windows to their ends, given the windows' checkpoints. Their blocks are small enough for their
/// directions to be kept.
fn trace_side_by_side(
    engine: &mut dyn Primitives,
    batch: &Batch,
    cuts: Cuts,
    checkpoints: &[Checkpoints],
    paths: &mut [Traceback],
) -> Result<(), EngineError> {
    loop {
        let under_way = paths.iter().filter(|path| !path.is_done()).count() as u64;
        if under_way == 0 {
            return Ok(());
        }
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        let ahead = |(path, checkpoints): (&Traceback, &Checkpoints)| {
            let first = blocks.len();
            // If the blocks do not all fit, some paths wait for the next turn.
            if !path.is_done()
                && (first == 0 || bytes + checkpoints.block_bytes(cuts.cell_bits()) <= cuts.ahead)
            {
                let most = (cuts.ahead / under_way).min(cuts.ahead.saturating_sub(bytes));
                blocks.extend(cuts.ahead(checkpoints, path, most));
                bytes += blocks[first..]
                    .iter()
                    .map(|(block, _)| block.direction_bytes(cuts.cell_bits()))
                    .sum::<u64>();
            }
            first..blocks.len()
        };
        let places: Vec<Range<usize>> = paths.iter().zip(checkpoints).map(ahead).collect();
        trace_on(engine, batch, &blocks, &places, paths)?;
    }
}

/// Traces a path through a block, from the block's last cell, given the edges that enter the block.
fn trace_through(
    engine: &mut dyn Primitives,
    batch: &Batch,
    cuts: Cuts,
    block: &Block,
    edges: &Edges,
    path: &mut Traceback,
) -> Result<(), EngineError> {
    let Some(side) = cuts.side(block) else {
        let blocks = [(block.clone(), edges.clone())];
        return trace_alone(engine, batch, &blocks, path);
    };
    let checkpoints = engine.block_checkpoints(batch, block, edges, side)?;
    while !path.is_done() && path.stand.rows > block.rows.start && path.stand.cols > block.cols.start {
        let parts = cuts.ahead(&checkpoints, path, cuts.ahead);
        match &parts[..] {
            [(part, edges), ..] if longest(part) > u64::from(cuts.largest) => {
                trace_through(engine, batch, cuts, part, edges, path)?;
            }
            parts => trace_alone(engine, batch, parts, path)?,
        }
    }
    Ok(())
}

/// Traces paths through blocks, starting at the last cell of each path's first block. A path may have several blocks or
/// none.
fn trace_on(
    engine: &mut dyn Primitives,
    batch: &Batch,
    blocks: &[(Block, Edges)],
    places: &[Range<usize>],
    paths: &mut [Traceback],
) -> Result<(), EngineError> {
    let legs: Vec<Leg> = paths.iter().zip(places).map(|(path, places)| path.leg(places.clone())).collect();
    let traced = match engine.trace_blocks(batch, blocks, &legs) {
        // The host has room for the directions.
        Err(EngineError::OutOfMemory(_)) => None,
        traced => traced?,
    };
    let Some((stands, runs)) = traced else {
        let directions = engine.fill_blocks(batch, blocks)?;
        let through = |(path, places): (&mut Traceback, &Range<usize>)| {
            trace_filled(&directions, blocks, places.clone(), path)
        };
        return paths.par_iter_mut().zip(places).try_for_each(through);
    };
    // Paths without blocks wait, or are done.
    let mut moved = paths.iter_mut().zip(stands).enumerate().filter(|&(place, _)| !places[place].is_empty());
    moved.try_for_each(|(place, (path, stand))| path.go_on(stand, runs.steps(place).into_iter().flatten()))
}

/// Traces one path through its own blocks.
fn trace_alone(
    engine: &mut dyn Primitives,
    batch: &Batch,
    blocks: &[(Block, Edges)],
    path: &mut Traceback,
) -> Result<(), EngineError> {
    let places = 0..blocks.len();
    trace_on(engine, batch, blocks, std::slice::from_ref(&places), std::slice::from_mut(path))
}

/// Traces a path through those filled blocks at `places` that it crosses, from the last cell of the first block.
fn trace_filled(
    directions: &Directions,
    blocks: &[(Block, Edges)],
    places: Range<usize>,
    path: &mut Traceback,
) -> Result<(), EngineError> {
    for place in places {
        let (block, _) = &blocks[place];
        let within = |cell: u32, part: &Range<u32>| part.start < cell && cell <= part.end;
        if !path.is_done() && within(path.stand.rows, &block.rows) && within(path.stand.cols, &block.cols) {
            path.through(&mut directions.window(place), block.rows.start, block.cols.start)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::pathfinding::all_paths;
    use crate::engine::plain::Plain;
    use crate::engine::{Capabilities, Engine};
    use crate::terms::alignment::{HitEnd, PathOp};
    use crate::terms::batch::Pair;
    use crate::terms::bounds::Band;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    const WIDE: Band = Band { deletions: 1 << 20, insertions: 1 << 20 };

    #[test]
    fn sides_by_hand() {
        let side = |cuts: Cuts, rows: u32, cols: u32| {
            let band = Band::default();
            let window = Window {
                query: 0,
                target: 0,
                start: 7,
                query_end: rows,
                target_end: cols + 7,
                band,
                score: 0,
            };
            cuts.side(&Block::whole(&window))
        };
        let gaps = Scoring::dna(1, 4, 6, 1).gaps();
        let default = Cuts::of(&BlockRoom::default(), gaps);
        assert_eq!(side(default, 2048, 2048), None, "its directions fit");
        assert_eq!(side(default, 2048, 2049), Some(512));
        // 16 * 30,000^2 / 2^25 = 429, 16 * 40,000^2 / 2^25 = 763, and 100,000 would need 4769.
        assert_eq!(side(default, 30_000, 30_000), Some(512));
        assert_eq!(side(default, 40_000, 40_000), Some(1024));
        assert_eq!(side(default, 100_000, 100_000), Some(2048));
        // 16 * 5e6 * 5e6 / (192 * 2^20) = 1,986,821, and 3881 times 512 is 1,987,072; 160,000 would need 2035, 161,000
        // 2061.
        assert_eq!(side(default, 5_000_000, 5_000_000), Some(1_987_072));
        assert_eq!(side(default, 160_000, 160_000), Some(2048));
        assert_eq!(side(default, 161_000, 161_000), Some(2560));
        assert_eq!(side(default, 2560, 2560), Some(512));
        let larger = Cuts { side: 1024, largest: 4096, ..default };
        assert_eq!(side(larger, 2048, 2048), None);
        assert_eq!(side(larger, 2049, 3), Some(1024));
        // 16 * 80,000^2 / (48 * 2^20) = 2035, 16 * 100,000^2 / (48 * 2^20) = 3179, and 228,000 would need 4132.
        assert_eq!(side(larger, 80_000, 80_000), Some(2048));
        assert_eq!(side(larger, 100_000, 100_000), Some(4096));
        assert_eq!(side(larger, 227_000, 227_000), Some(4096));
        assert_eq!(side(larger, 228_000, 228_000), Some(5120));
        let cuts = Cuts {
            whole: 512,
            side: 512,
            largest: 512,
            beside: 1 << 30,
            alone: 1 << 30,
            edges: 1,
            ahead: 1,
            gaps,
        };
        assert_eq!(side(cuts, 1025, 3), Some(1024), "less than the whole");
        assert_eq!(side(cuts, 1024, 3), Some(512));
    }

    /// Records the number of blocks that are filled at once, and the bytes of their directions.
    struct Noting(Vec<(usize, u64)>);

    impl Engine for Noting {
        fn capabilities(&self) -> Capabilities {
            Capabilities::named("noting")
        }

        fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
            Plain::new().score(batch, pairs)
        }

        fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
            all_paths(self, batch, windows)
        }
    }

    impl Primitives for Noting {
        fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
            Plain::new().fill(batch, windows)
        }

        fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
            Plain::new().sweep(batch, block, edges)
        }

        fn fill_blocks(
            &mut self,
            batch: &Batch,
            blocks: &[(Block, Edges)],
        ) -> Result<Directions, EngineError> {
            let bytes =
                |(block, _): &(Block, Edges)| block.direction_bytes(cell_bits(batch.scoring.gaps().count()));
            self.0.push((blocks.len(), blocks.iter().map(bytes).sum()));
            Plain::new().fill_blocks(batch, blocks)
        }
    }

    /// However many windows there are, the engine never fills more directions at once than there is room for.
    #[test]
    fn blocks_of_many_windows_keep_to_their_bytes() {
        let codes: Vec<u8> = (0..1300u32).map(|place| (place * place % 7 % 4) as u8).collect();
        let batch = Batch {
            queries: Arc::new((0..6).map(|_| &codes[..]).collect()),
            targets: Arc::new((0..6).map(|_| &codes[..]).collect()),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let window = |query| Window {
            query,
            target: query,
            start: 0,
            query_end: 1300,
            target_end: 1300,
            band: WIDE,
            score: 0,
        };
        let windows: Vec<Window> = (0..6).map(window).collect();
        // A block takes 139,264 bytes, the last one of a window 78,848.
        for (ahead, most) in [(1 << 30, 18), (600_000, 6), (300_000, 3), (1, 1)] {
            let mut engine = Noting(Vec::new());
            let cuts = Cuts {
                whole: 512,
                side: 512,
                largest: 512,
                beside: 1 << 30,
                alone: 1 << 30,
                edges: 1 << 30,
                ahead,
                gaps: batch.scoring.gaps(),
            };
            let found = paths_in_blocks(&mut engine, &batch, &windows, cuts).unwrap();
            assert!((0..6).all(|place| found.runs(place).unwrap().eq([(1300, PathOp::Match)])));
            let blocks: usize = engine.0.iter().map(|(blocks, _)| blocks).sum();
            assert_eq!(blocks, 18, "three of each, and none twice");
            assert_eq!(engine.0.iter().map(|(blocks, _)| *blocks).max(), Some(most), "{ahead}");
            assert!(engine.0.iter().all(|(blocks, bytes)| *blocks == 1 || *bytes <= ahead));
        }
    }
}
