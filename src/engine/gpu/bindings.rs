//! The storage buffers of the kernels: their binding numbers, and the kernels that use them.

use crate::engine::gpu::variant::{TileVariant, Variant};
use crate::gpu::template::Meaning;

/// A storage buffer of a kernel. Templates write `@binding($name)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelBuffer {
    Tasks,
    Queries,
    Targets,
    /// Edge values between tiles, or between the strips of a database's queries.
    Edges,
    /// The substitution matrix.
    Scores,
    Output,
    /// Directions that later kernels read.
    Scratch,
    Chain,
    /// The table that the tasks share.
    Table,
    /// The part of edge values that further pieces of the gap costs add.
    FurtherGaps,
}

impl KernelBuffer {
    const ALL: [(KernelBuffer, &str); 10] = [
        (KernelBuffer::Tasks, "tasks"),
        (KernelBuffer::Queries, "queries"),
        (KernelBuffer::Targets, "targets"),
        (KernelBuffer::Edges, "edges"),
        (KernelBuffer::Scores, "scores"),
        (KernelBuffer::Output, "output"),
        (KernelBuffer::Scratch, "scratch"),
        (KernelBuffer::Chain, "chain"),
        (KernelBuffer::Table, "table"),
        (KernelBuffer::FurtherGaps, "further_gaps"),
    ];

    pub fn binding(self) -> u32 {
        self as u32
    }

    /// Whether kernels write to it.
    pub fn is_written(self) -> bool {
        use KernelBuffer::*;
        matches!(self, Edges | Output | Scratch | Chain | FurtherGaps)
    }

    fn is_used(self, variant: Variant) -> bool {
        let tile = |has: fn(&TileVariant) -> bool| matches!(variant, Variant::Tile(tile) if has(&tile));
        match self {
            KernelBuffer::Tasks | KernelBuffer::Output => true,
            KernelBuffer::Queries | KernelBuffer::Targets => !matches!(variant, Variant::Traceback { .. }),
            KernelBuffer::Edges => tile(TileVariant::has_edges),
            KernelBuffer::Scores => {
                tile(|tile| tile.scores.is_profile()) || matches!(variant, Variant::Rows { .. })
            }
            KernelBuffer::Scratch => !matches!(variant, Variant::Tile(_)),
            KernelBuffer::Chain => variant.is_chained(),
            KernelBuffer::Table => variant.table().is_some(),
            KernelBuffer::FurtherGaps => tile(|tile| tile.has_edges() && tile.pieces > 1),
        }
    }
}

/// The buffers of a kernel.
pub fn kernel_buffers(variant: Variant) -> impl Iterator<Item = KernelBuffer> {
    KernelBuffer::ALL.into_iter().map(|(buffer, _)| buffer).filter(move |buffer| buffer.is_used(variant))
}

/// Adds the names of the binding numbers.
pub fn binding_names(meaning: Meaning) -> Meaning {
    meaning.names(KernelBuffer::ALL.map(|(buffer, name)| (name, buffer.binding())))
}
