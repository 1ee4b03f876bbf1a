//! How a text is cut into chunks, one for each bit of a vector.

use super::transpose::BLOCK;

/// Letters of a chunk of a long text: with this, planes of all bases stay in a core's second cache.
const CHUNK: usize = 2048;
/// The overlap's share of a chunk is at most one in so many.
const OVERLAP: usize = 4;

/// How a tile lies over a text.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Chunks of a tile: bits of a vector.
    pub lanes: usize,
    /// Letters of a chunk.
    pub chunk: usize,
    /// Columns in front of each chunk: at least the overlap.
    pub before: usize,
    /// All columns.
    pub columns: usize,
}

impl Shape {
    /// For a text of `len` letters, with `before` letters of overlap at least. Where nothing else is asked for, each
    /// chunk begins where words of the text do.
    pub fn new(lanes: usize, before: usize, len: usize, chunk: Option<usize>) -> Shape {
        let longest = CHUNK.max(OVERLAP * before);
        let (chunk, columns) = match chunk {
            Some(chunk) => (chunk, (before + chunk).next_multiple_of(BLOCK)),
            None => {
                let before = before.next_multiple_of(BLOCK);
                // Tiles of one length: a short last one would take as long as the others.
                let tiles = len.div_ceil(lanes * longest).max(1);
                let chunk = len.div_ceil(lanes * tiles).clamp(BLOCK.max(before), longest);
                let chunk = chunk.next_multiple_of(BLOCK);
                (chunk, before + chunk)
            }
        };
        Shape { lanes, chunk, before: columns - chunk, columns }
    }

    /// Letters of a whole tile.
    pub fn letters(&self) -> usize {
        self.lanes * self.chunk
    }

    /// The chunk that a bit stands for: word by word first, then bit by bit.
    pub fn chunk_of(&self, word: usize, bit: usize) -> usize {
        bit * (self.lanes / BLOCK) + word
    }
}
