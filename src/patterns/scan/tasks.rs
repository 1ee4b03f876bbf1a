//! What the scan's kernels are told, declared once for host and kernels.

use crate::gpu::record::record;

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

record! {
/// A text whose lines are found: see `shaders/line_starts.wgsl`.
Tiling {
    /// Vectors of four words that the text has, and its tiles.
    vectors: u32,
    tiles: u32,
    /// Starts that there is room for behind the first.
    lines: u32,
}
}

record! {
/// Lines or units of a text in which a dispatch looks for words: see `shaders/words.wgsl`.
Matching {
    /// Bytes of the text.
    bytes: u32,
    /// The lines or units, from the first to before the end.
    first: u32,
    end: u32,
    /// Buckets less one, and how many of them a lookup reads at most.
    buckets: u32,
    probes: u32,
    /// Letters that choose a mask, and the bits of its hash that don't.
    key: u32,
    mask_shift: u32,
    /// Where the lengths of long words are, how many these are, where the words' letters are, and the longest word.
    lengths_at: u32,
    long_lengths: u32,
    letters_at: u32,
    longest: u32,
}
}

record! {
/// Units of a text of bases in which a dispatch looks words up: see `shaders/base_words.wgsl`.
Looking {
    /// Letters of the text, and words of a plane.
    letters: u32,
    stride: u32,
    /// The units, from the first to before the end.
    first: u32,
    end: u32,
    /// Bits of a hash that do not tell its bit, and that do not tell where its entries begin.
    bits_shift: u32,
    starts_shift: u32,
    /// Where the entries and the patterns are.
    entries_at: u32,
    patterns_at: u32,
    /// Ends that there is room for.
    capacity: u32,
}
}
