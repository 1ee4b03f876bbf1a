//! The records of tasks, one for each kernel, declared once for host and kernels.

pub use crate::gpu::record::{Recorded, TaskRecord};

use crate::gpu::record::record;

/// A task over a [`Span`].
pub trait SpanTask: Recorded {
    fn span(&self) -> &Span;
    fn span_mut(&mut self) -> &mut Span;
}

/// Declares tasks over a [`Span`].
macro_rules! span_tasks {
    ($($name:ident)*) => {$(
        impl SpanTask for $name {
            fn span(&self) -> &Span {
                &self.span
            }

            fn span_mut(&mut self) -> &mut Span {
                &mut self.span
            }
        }
    )*};
}

span_tasks!(ScoreTask RowsTask DatabaseTask JoinedTask ChainTask LinedTask FillTask BandTask);

record! {
/// The residues of a task. A span without rows or columns is that of an empty task.
Span {
    /// First residue in the packed queries.
    query: u32,
    /// Query residues.
    rows: u32,
    /// Tile rows above the first residue.
    pad: u32,
    /// First residue in the packed targets.
    target_: u32,
    /// Target residues.
    cols: u32,
}
}

record! {
/// A tile that scores a sweep: see `shaders/score.wgsl`.
ScoreTask over Span {
    /// First column whose cells count.
    counts_from: u32,
    /// Index of the result, or of the first result.
    result: u32,
    /// 1 if each stretch has a result; these are consecutive.
    in_stretches: u32,
}
}

record! {
/// A pair over rows that are not residues: see `shaders/rows.wgsl`.
RowsTask over Span {
    /// Index of the result.
    result: u32,
    /// First of the values between strips, one per column.
    below: u32,
    /// Number of strips of the query; 0 in an empty task.
    strips: u32,
}
}

record! {
/// A range of a database's targets against which a query is scored: see `shaders/database.wgsl`. The kernel finds the
/// target residues of its span on its own.
DatabaseTask over Span {
    /// Index of the first target, and the number of targets.
    first: u32,
    count: u32,
    /// Columns of the targets before the first.
    before: u32,
    /// Index of the result of the first target.
    result: u32,
    /// Number of tiles of the query, from top to bottom.
    strips: u32,
}
}

record! {
/// A target of a database.
PlacedTarget {
    /// Its first residue in the packed targets.
    target_: u32,
    /// Target residues.
    cols: u32,
    /// Total residues of the targets before it, modulo 2^32.
    before: u32,
}
}

record! {
/// A tile of a grid that is scored in waves. Edge values are `[H, F]` of a row and `[H, E]` of a column, whose first
/// value is the corner.
JoinedTask over Span {
    counts_from: u32,
    result: u32,
    /// First of the edge values above the tile, one per column, and of the values that it stores below.
    above: u32,
    below: u32,
    /// First of the edge values on its left, one corner and one per tile row, and of the values that it stores on its
    /// right.
    left: u32,
    right: u32,
}
}

record! {
/// A strip of a chain, whose values from above and below pass through the chain: see `shaders/chained.wgsl`.
ChainTask over Span {
    counts_from: u32,
    /// Index of the result; strips have consecutive indices.
    result: u32,
    /// First of its columns in the chain.
    chain: u32,
    /// Number of its first columns for which the strip above stores values.
    entering: u32,
    /// As in [`JoinedTask`]; [`NOWHERE`](super::layout::NOWHERE) if there are none.
    left: u32,
    right: u32,
}
}

record! {
/// A strip of a chain that stores edge values on the lines between blocks. Its score is not read.
LinedTask over Span {
    /// The strip's number.
    result: u32,
    /// As in [`ChainTask`].
    chain: u32,
    entering: u32,
    /// The column whose right side is the first vertical line; [`NOWHERE`](super::layout::NOWHERE) if there is none.
    line_col: u32,
    /// Index of the values of that line.
    line_place: u32,
    /// Index of the values below; [`NOWHERE`](super::layout::NOWHERE) if only the strip below needs them.
    below: u32,
}
}

record! {
/// A tile whose directions are filled: see `shaders/fill.wgsl`. Tiles of a grid read edge values like a [`JoinedTask`],
/// and overwrite them with their own.
FillTask over Span {
    above: u32,
    left: u32,
    /// First direction word.
    directions: u32,
    /// As in [`crate::engine::Tile`].
    band_first: i32,
    stored: u32,
}
}

record! {
/// A window with a narrow band that is filled and traced back in one kernel: see `shaders/trace.wgsl`.
BandTask over Span {
    /// First word of the path, and the maximum number of words.
    path: u32,
    path_words: u32,
    /// First direction word of its workgroup.
    directions: u32,
    /// First column of the band in the first row.
    first_col: i32,
    /// Index of the window's last cell in the band.
    last: u32,
}
}

record! {
/// Workgroups of one lane kind that traces bands.
BandGroups {
    groups: u32,
}
}

record! {
/// A path that is traced back over directions on the device: see `shaders/traceback.wgsl`.
TracebackTask {
    /// Position of the path: rows and columns of its window up to there, and the layer. Without rows there is no path.
    rows: u32,
    cols: u32,
    layer: u32,
    /// Its tiles.
    first_tile: u32,
    tiles: u32,
    /// First word of the path, and the maximum number of words.
    path: u32,
    path_words: u32,
    /// Index of the path's final position; [`NOWHERE`](super::layout::NOWHERE) if it is not stored.
    stand: u32,
}
}

record! {
/// A tile whose directions are kept on the device: [`crate::engine::Tile`].
KeptTile {
    row: i32,
    rows: u32,
    col: u32,
    cols: u32,
    lanes: u32,
    rows_per_lane: u32,
    /// First direction word.
    directions: u32,
    band_first: i32,
    stored: u32,
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_what_a_record_is_over_come_first() {
        let text = ScoreTask::wgsl();
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.trim().split_once(": ")).map(|line| line.0).collect();
        assert_eq!(names[..4], ["query", "rows", "pad", "target_"]);
        assert_eq!(names[5..], ["counts_from", "result", "in_stretches"]);
        assert!(text.starts_with("struct ScoreTask {\n") && text.ends_with("}\n"));
    }
}
