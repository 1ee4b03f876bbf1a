//! Very long alignments, block by block.

use super::Wanted;
use super::walk::Walk;
use crate::alignment::Alignment;
use crate::batch::Batch;
use crate::engine::{BLOCK_ROWS, Block, Edges, Engine};
use crate::error::EngineError;

/// How very long alignments are cut.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Side of the blocks whose directions are kept; a multiple of [`BLOCK_ROWS`].
    pub side: u32,
    /// Bytes that the edges between blocks may take, by which larger ones are cut in several stages.
    pub edges: u64,
}

impl Default for Cuts {
    /// A block's directions take half its square, 72 MiB. Edges that would take more than 1 GiB are those
    /// of windows of more than about 900,000 x 900,000 cells.
    fn default() -> Cuts {
        Cuts { side: 24 * BLOCK_ROWS, edges: 1 << 30 }
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
        (longest > least).then(|| fitting.min(halving) as u32)
    }
}

/// Aligns one window in blocks: a first sweep keeps only the edges between blocks; then the blocks that
/// the path crosses are swept again, from its end, with directions or, where they are too large, cut in
/// the same way.
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
        let swept = engine.sweep(batch, block, edges, true)?;
        let directions =
            swept.directions.ok_or_else(|| EngineError::Wrong("a sweep without directions".to_string()))?;
        return walk.through(&mut directions.window(0), block.rows.start, block.cols.start);
    };
    let lattice = engine.sweep_lattice(batch, block, edges, side)?;
    while !walk.done && walk.rows > block.rows.start && walk.cols > block.cols.start {
        let part = lattice.part_before(walk.rows, walk.cols);
        walk_through(engine, batch, cuts, (&part, &lattice.entering(&part)), walk)?;
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
        assert_eq!(side(default, 12_288, 12_289), Some(12_288));
        assert_eq!(side(default, 100_000, 100_000), Some(12_288));
        // 16 * 5e6 * 5e6 / 2^30 = 372,529, and 31 times 12,288 is 380,928; blocks of that side are cut into
        // blocks of 12,288.
        assert_eq!(side(default, 5_000_000, 5_000_000), Some(380_928));
        assert_eq!(side(default, 380_928, 380_928), Some(12_288));
        assert_eq!(side(Cuts { side: 512, edges: 1 }, 1025, 3), Some(1024), "less than the whole");
        assert_eq!(side(Cuts { side: 512, edges: 1 }, 1024, 3), Some(512));
    }
}
