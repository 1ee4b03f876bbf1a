//! Finds the paths of windows from the primitives of an engine.

use crate::engine::blockwise::{Cuts, paths_in_blocks};
use crate::engine::directions::cell_bits;
use crate::engine::overlaps;
use crate::engine::traceback::Traceback;
use crate::engine::{Paths, Primitives, Window};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;

/// Maximum number of bytes of directions that are filled at once. Each worker holds this much host memory in flight,
/// and the same again while it reads.
const FILL_BYTES: u64 = 16 << 20;
/// A window whose directions take more bytes is traced block by block, because most of it needs no directions.
const WINDOW_BYTES: u64 = 2 << 20;

/// The paths of windows: the engine's own traces, and the rest from [`filled_paths`].
pub fn all_paths(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let mut paths = engine.trace(batch, windows)?;
    let missing = paths.missing();
    if !missing.is_empty() {
        let left: Vec<Window> = missing.iter().map(|&place| windows[place as usize]).collect();
        paths.put_all(&missing, filled_paths(engine, batch, &left)?);
    }
    overlaps::mend(batch, windows, &mut paths);
    Ok(paths)
}

/// The paths of windows, traced by the host. Long windows are traced block by block, others over the directions of the
/// whole window.
pub fn filled_paths(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let bits = cell_bits(batch.scoring.gaps().count());
    let is_long = |&place: &u32| windows[place as usize].direction_bytes(bits) > WINDOW_BYTES;
    let (long, short): (Vec<u32>, Vec<u32>) = (0..to_u32(windows.len())).partition(is_long);
    let some = |places: &[u32]| -> Vec<Window> { places.iter().map(|&at| windows[at as usize]).collect() };
    let mut paths = Paths::none(windows.len());
    let room = engine.block_room();
    paths
        .put_all(&long, paths_in_blocks(engine, batch, &some(&long), Cuts::of(&room, batch.scoring.gaps()))?);
    paths.put_all(&short, paths_in_groups(engine, batch, &some(&short))?);
    Ok(paths)
}

/// The paths of windows, each traced over the directions of its whole window. The directions are filled in groups that
/// fit a budget, and the windows of a group are traced in parallel.
pub fn paths_in_groups(
    engine: &mut dyn Primitives,
    batch: &Batch,
    windows: &[Window],
) -> Result<Paths, EngineError> {
    let bits = cell_bits(batch.scoring.gaps().count());
    let mut paths = Paths::default();
    let mut rest = windows;
    while !rest.is_empty() {
        let mut total = 0;
        let fits = |window: &&Window| {
            total += window.direction_bytes(bits);
            total <= FILL_BYTES
        };
        let (group, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        let directions = engine.fill(batch, group)?;
        let trace = |(index, window): (usize, &Window)| {
            let mut path = Traceback::new(window);
            path.through(&mut directions.window(index), 0, 0)?;
            Ok(path.into_runs(batch.scoring.mode))
        };
        let runs = group.par_iter().enumerate().map(trace).collect::<Result<Vec<_>, EngineError>>()?;
        paths.append(Paths::of(runs));
        rest = behind;
    }
    Ok(paths)
}
