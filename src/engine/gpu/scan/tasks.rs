//! What the scan's kernels are told, declared once for host and kernels.

use crate::engine::gpu::tasks::record;

record! {
/// A text to transpose into columns: see `shaders/transpose.wgsl`.
Transposing {
    /// Words of a column.
    words: u32,
    /// Words of a chunk's letters without its overlap.
    chunk: u32,
    /// Words of a plane of the packed text.
    stride: u32,
}
}

record! {
/// What a dispatch sweeps: see `shaders/sliced.wgsl`.
Sweeping {
    /// Words of a column.
    words: u32,
    /// The words that are swept, from the first to before the end.
    first: u32,
    end: u32,
    /// Place of the first pattern among the records, and words of a record.
    pattern: u32,
    record: u32,
    /// Columns in front of each chunk.
    before: u32,
    /// Blocks of columns that are done in one go.
    blocks: u32,
    /// Letters of a chunk without its overlap, and of the whole text.
    chunk: u32,
    letters: u32,
    /// Ends that there is room for.
    capacity: u32,
}
}

record! {
/// What a dispatch looks for in a text: see `shaders/bitap.wgsl`.
Seeking {
    /// Units of the text, of a chunk, and in front of each chunk.
    units: u32,
    chunk: u32,
    before: u32,
    /// The patterns, from the first to before the last.
    pattern: u32,
    patterns: u32,
}
}

record! {
/// The units of a text whose fingerprints a dispatch takes: see `shaders/prints.wgsl`.
Printing {
    /// Letters of the text.
    letters: u32,
    /// The units, from the first to before the end, and those of a thread.
    first: u32,
    end: u32,
    chunk: u32,
    /// Bits that the fingerprint of a window has that ends at a cut.
    mask: u32,
    /// Cuts that there is room for.
    capacity: u32,
}
}
