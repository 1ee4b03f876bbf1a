//! Parameters of the scan's kernels, declared once for host and kernels.

use crate::gpu::record::record;

record! {
/// Text to transpose into columns: see `shaders/transpose.wgsl`.
Transposing {
    /// Words per column.
    words: u32,
    /// Words per chunk without its overlap.
    chunk: u32,
    /// Words per plane of the packed text.
    stride: u32,
}
}

record! {
/// Parameters of a sweep: see `shaders/sliced.wgsl`.
Sweeping {
    /// Words per column.
    words: u32,
    /// Range of words to sweep; the end is exclusive.
    first: u32,
    end: u32,
    /// Index of the first pattern's record, and words per record.
    pattern: u32,
    record: u32,
    /// Columns before each chunk.
    before: u32,
    /// Blocks of columns per chunk.
    blocks: u32,
    /// Bases per chunk without its overlap, and bases of the whole text.
    chunk: u32,
    letters: u32,
    /// Capacity for ends.
    capacity: u32,
}
}

record! {
/// Parameters of a pattern search: see `shaders/bitap.wgsl`.
Seeking {
    /// Units of the text, of a chunk, and before each chunk.
    units: u32,
    chunk: u32,
    before: u32,
    /// Range of patterns; the end is exclusive.
    pattern: u32,
    patterns: u32,
}
}

record! {
/// Text whose lines are to be found: see `shaders/line_starts.wgsl`.
Tiling {
    /// Vectors of four words in the text, and its tiles.
    vectors: u32,
    tiles: u32,
    /// Capacity for starts after the first.
    lines: u32,
}
}

record! {
/// Lines or units in which to look for words: see `shaders/words.wgsl`.
Matching {
    /// Bytes of the text.
    bytes: u32,
    /// Range of lines or units; the end is exclusive.
    first: u32,
    end: u32,
    /// Number of buckets less one, and maximum number of buckets that a lookup reads.
    buckets: u32,
    probes: u32,
    /// Mask of the bytes that choose a length mask, and the shift of their hash.
    key: u32,
    mask_shift: u32,
    /// Offset and number of the long words' lengths, offset of the long words' bytes, and length of the longest word.
    lengths_at: u32,
    long_lengths: u32,
    letters_at: u32,
    longest: u32,
}
}

record! {
/// Units of a text of bases in which to look words up: see `shaders/base_words.wgsl`.
Looking {
    /// Bases of the text, and words per plane.
    letters: u32,
    stride: u32,
    /// Range of units; the end is exclusive.
    first: u32,
    end: u32,
    /// Shifts of the hash for its bit and for the start of its entries.
    bits_shift: u32,
    starts_shift: u32,
    /// Offsets of the entries and of the patterns.
    entries_at: u32,
    patterns_at: u32,
    /// Capacity for ends.
    capacity: u32,
}
}

record! {
/// Positions of an index whose diagonals are bounded: see `shaders/diagonals.wgsl`.
Bounding {
    /// Residues of the targets.
    letters: u32,
    /// Positions of all tasks, and where the first tasks of units begin.
    positions: u32,
    units_at: u32,
    /// Range of units; the end is exclusive.
    first_unit: u32,
    end_unit: u32,
    /// [`ScanScores`](crate::align::candidates::by_index::ScanScores).
    match_score: i32,
    mismatch_score: i32,
    edit: i32,
    open: i32,
    extend: i32,
    end_bonus: i32,
    /// Capacity for diagonals.
    capacity: u32,
}
}
