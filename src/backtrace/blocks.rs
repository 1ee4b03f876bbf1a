//! Very long alignments, block by block.

use super::Wanted;
use super::walk::Walk;
use crate::alignment::Alignment;
use crate::batch::Batch;
use crate::engine::{BLOCK_ROWS, Block, Edges, Engine, Lattice};
use crate::error::EngineError;
use std::ops::Range;

/// How very long alignments are cut.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Least side of the blocks that others are cut into; a multiple of [`BLOCK_ROWS`].
    pub side: u32,
    /// Side of the largest block whose directions are kept.
    pub whole: u32,
    /// Bytes that the edges between blocks may take, by which larger ones are cut in several stages.
    pub edges: u64,
    /// Bytes of directions that are filled ahead of the walk, where those of one block are not more.
    pub ahead: u64,
}

impl Default for Cuts {
    /// A block's directions take half its square: 2 MiB, or at most 72. Edges that would take more than 1 GiB
    /// with the least blocks are those of windows of more than about 370,000 x 370,000 cells.
    fn default() -> Cuts {
        Cuts { side: 4 * BLOCK_ROWS, whole: 24 * BLOCK_ROWS, edges: 1 << 30, ahead: 32 << 20 }
    }
}

impl Cuts {
    /// The side of the blocks that `block` is cut into, if it is: a multiple of the least, such that the
    /// edges between them fit, but less than that of `block`.
    fn side(&self, block: &Block) -> Option<u32> {
        let (rows, cols) = (block.rows.len() as u64, block.cols.len() as u64);
        let (least, longest) = (u64::from(self.side), rows.max(cols));
        let fitting = rows.saturating_mul(16 * cols).div_ceil(self.edges).next_multiple_of(least);
        let halving = longest.div_ceil(2).next_multiple_of(least);
        (longest > u64::from(self.whole)).then(|| fitting.min(halving) as u32)
    }

    /// The blocks to be filled at once for a walk that stands behind the last cell of the first one: those
    /// that a path along the diagonal would cross.
    fn ahead(&self, lattice: &Lattice, walk: &Walk) -> Vec<(Block, Edges)> {
        let mut bytes = 0;
        let fits = |part: &Block| {
            let first = bytes == 0;
            bytes += part.rows.len() as u64 * part.cols.len() as u64 / 2 + 1;
            first || bytes <= self.ahead
        };
        let parts = lattice.parts_before(walk.rows, walk.cols).take_while(fits);
        parts.map(|part| (part.clone(), lattice.entering(&part))).collect()
    }
}

/// Aligns one window in blocks: a first sweep keeps only the edges between blocks; then the blocks that
/// the path crosses are swept again, from its end, with directions or, where they are too large, cut in
/// the same way. Which blocks those are only the walk tells, but most paths keep near to a diagonal: those on
/// it are filled side by side.
pub fn align_in_blocks(
    engine: &mut dyn Engine,
    batch: &Batch,
    wanted: &Wanted,
    cuts: Cuts,
) -> Result<Alignment, EngineError> {
    let mut walk = Walk::new(&wanted.window);
    if !walk.done {
        let whole = Block::whole(&wanted.window);
        walk_through(engine, batch, cuts, (&whole, &Edges::default()), &mut walk)?;
    }
    walk.finish(batch, wanted)
}

/// Walks through a block, given the edges that enter it, from its last cell.
fn walk_through(
    engine: &mut dyn Engine,
    batch: &Batch,
    cuts: Cuts,
    (block, edges): (&Block, &Edges),
    walk: &mut Walk,
) -> Result<(), EngineError> {
    let Some(side) = cuts.side(block) else {
        return walk_filled(engine, batch, &[(block.clone(), edges.clone())], walk);
    };
    let lattice = engine.sweep_lattice(batch, block, edges, side)?;
    while !walk.done && walk.rows > block.rows.start && walk.cols > block.cols.start {
        let parts = cuts.ahead(&lattice, walk);
        match &parts[..] {
            [(part, edges), ..] if cuts.side(part).is_some() => {
                walk_through(engine, batch, cuts, (part, edges), walk)?;
            }
            parts => walk_filled(engine, batch, parts, walk)?,
        }
    }
    Ok(())
}

/// Fills blocks and walks through those that lie on the path, from the last cell of the first one.
fn walk_filled(
    engine: &mut dyn Engine,
    batch: &Batch,
    blocks: &[(Block, Edges)],
    walk: &mut Walk,
) -> Result<(), EngineError> {
    let directions = engine.fill_blocks(batch, blocks)?;
    for (place, (block, _)) in blocks.iter().enumerate() {
        let within = |cell: u32, part: &Range<u32>| part.start < cell && cell <= part.end;
        if !walk.done && within(walk.rows, &block.rows) && within(walk.cols, &block.cols) {
            walk.through(&mut directions.window(place), block.rows.start, block.cols.start)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Band;
    use crate::engine::Window;

    #[test]
    fn sides_by_hand() {
        let side = |cuts: Cuts, rows: u32, cols: u32| {
            let band = Band::default();
            let window =
                Window { query: 0, target: 0, start: 7, query_end: rows, target_end: cols + 7, band };
            cuts.side(&Block::whole(&window))
        };
        let default = Cuts::default();
        assert_eq!(side(default, 12_288, 12_288), None, "its directions fit");
        assert_eq!(side(default, 12_288, 12_289), Some(2048));
        assert_eq!(side(default, 100_000, 100_000), Some(2048));
        // 16 * 5e6 * 5e6 / 2^30 = 372,529, and 182 times 2048 is 372,736; 16 * 372,736^2 / 2^30 = 2,071.
        assert_eq!(side(default, 5_000_000, 5_000_000), Some(372_736));
        assert_eq!(side(default, 372_736, 372_736), Some(4096));
        let cuts = Cuts { side: 512, whole: 512, edges: 1, ahead: 1 };
        assert_eq!(side(cuts, 1025, 3), Some(1024), "less than the whole");
        assert_eq!(side(cuts, 1024, 3), Some(512));
    }
}
