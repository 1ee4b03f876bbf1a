//! The records of tasks, one a kernel, declared once for host and kernels.

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

span_tasks!(ScoreTask DatabaseTask JoinedTask ChainTask LinedTask FillTask BandTask);

record! {
/// The residues that meet. A span without rows or columns is that of an empty task.
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
    /// Where the result goes, or the first of them.
    result: u32,
    /// 1 where each stretch has a result, one behind the other.
    in_stretches: u32,
}
}

record! {
/// A stretch of a database's targets that a query meets: see `shaders/database.wgsl`. The kernel finds the target residues of
/// its span itself.
DatabaseTask over Span {
    /// The first target's place, and how many there are.
    first: u32,
    count: u32,
    /// Columns of the targets before the first.
    before: u32,
    /// Where the result of the first goes.
    result: u32,
    /// Tiles of the query, one below the other.
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
    /// Those of the targets at the places before, modulo 2^32.
    before: u32,
}
}

record! {
/// A tile of a grid that is scored in waves. Edge values are `[H, F]` of a row, `[H, E]` of a column, whose first value
/// is the corner.
JoinedTask over Span {
    counts_from: u32,
    result: u32,
    /// First of the edge values above the tile, one a column, and of the values that it leaves below.
    above: u32,
    below: u32,
    /// First of 1 + tile rows edge values on its left, and of the values that it leaves on its right.
    left: u32,
    right: u32,
}
}

record! {
/// A strip of a chain, whose values from above and below go through the chain: see `shaders/chained.wgsl`.
ChainTask over Span {
    counts_from: u32,
    /// Where the result goes: strips have consecutive places.
    result: u32,
    /// First of its columns in the chain.
    chain: u32,
    /// Its first columns, for which the strip above leaves values.
    entering: u32,
    /// As in [`JoinedTask`]; [`NOWHERE`](super::layout::NOWHERE) where there are none.
    left: u32,
    right: u32,
}
}

record! {
/// A strip of a chain that leaves edge values on the lines between blocks. Its score is not read.
LinedTask over Span {
    /// The strip's number.
    result: u32,
    /// As in [`ChainTask`].
    chain: u32,
    entering: u32,
    /// The column on whose right the first vertical line lies; [`NOWHERE`](super::layout::NOWHERE) where there is none.
    line_col: u32,
    /// Where the values of that line go.
    line_place: u32,
    /// Where the values below go; [`NOWHERE`](super::layout::NOWHERE) where only the strip below wants them.
    below: u32,
}
}

record! {
/// A tile whose directions are filled: see `shaders/fill.wgsl`. Those of a grid find edge values as a [`JoinedTask`], and
/// leave theirs in the same places.
FillTask over Span {
    above: u32,
    left: u32,
    /// First direction word.
    directions: u32,
    /// As in [`crate::engine::Tile`].
    band_first: i32,
    stored: u32,
    /// 1 where the words of a lane lie together in any case.
    by_lane: u32,
}
}

record! {
/// A window with a narrow band that is filled and traced back at once: see `shaders/trace.wgsl`.
BandTask over Span {
    /// First word of the path, and how many words it may take.
    path: u32,
    path_words: u32,
    /// First direction word of its workgroup.
    directions: u32,
    /// First column of the band in the first row.
    first_col: i32,
    /// Place of the window's last cell in the band.
    last: u32,
}
}

record! {
/// Workgroups of one kind of lanes that trace bands.
BandGroups {
    groups: u32,
}
}

record! {
/// A path that is traced back over directions on the device: see `shaders/traceback.wgsl`.
TracebackTask {
    /// Where the path stands: rows and columns of its window up to there, and the layer. Without rows there is none.
    rows: u32,
    cols: u32,
    layer: u32,
    /// Its tiles.
    first_tile: u32,
    tiles: u32,
    /// First word of the path, and how many words it may take.
    path: u32,
    path_words: u32,
    /// Where it says how it stands at last; [`NOWHERE`](super::layout::NOWHERE) where it does not.
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
