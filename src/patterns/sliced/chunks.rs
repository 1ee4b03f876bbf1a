//! Cuts a text into chunks, one for each bit of a vector.

use super::transpose::BLOCK;

/// Length of a chunk of a long text; with this length, the planes of all bases stay in a core's second-level cache.
const CHUNK: usize = 2048;
/// A chunk is at least this many times its overlap.
const OVERLAP: usize = 4;

/// Division of a text into tiles and chunks.
#[derive(Clone, Copy, Debug)]
pub struct TextDivision {
    /// Chunks per tile: bits of a vector.
    pub lanes: usize,
    /// Length of a chunk without its overlap.
    pub chunk: usize,
    /// Columns before each chunk: at least the overlap.
    pub before: usize,
    /// Number of columns in total.
    pub columns: usize,
}

impl TextDivision {
    /// Chooses the shape for a text of length `len`, with an overlap of at least `before`. If `chunk` is `None`, each
    /// chunk begins at a word boundary of the text.
    pub fn new(lanes: usize, before: usize, len: usize, chunk: Option<usize>) -> TextDivision {
        let longest = CHUNK.max(OVERLAP * before);
        let (chunk, columns) = match chunk {
            Some(chunk) => (chunk, (before + chunk).next_multiple_of(BLOCK)),
            None => {
                let before = before.next_multiple_of(BLOCK);
                // All tiles have the same length, since a short last tile would take as long as the others.
                let tiles = len.div_ceil(lanes * longest).max(1);
                let chunk = len.div_ceil(lanes * tiles).clamp(BLOCK.max(before), longest);
                let chunk = chunk.next_multiple_of(BLOCK);
                (chunk, before + chunk)
            }
        };
        TextDivision { lanes, chunk, before: columns - chunk, columns }
    }

    /// Length of a whole tile without overlaps.
    pub fn letters(&self) -> usize {
        self.lanes * self.chunk
    }

    /// The chunk that a bit stands for. Consecutive chunks are in consecutive words, then in the next bit.
    pub fn chunk_of(&self, word: usize, bit: usize) -> usize {
        bit * (self.lanes / BLOCK) + word
    }
}
