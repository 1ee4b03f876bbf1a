//! The kernels, and their WGSL text from `shaders/diagonals.wgsl`.

use crate::gpu::template::{Meaning, TemplateError, constants, expand};
use crate::patterns::scan::tasks::Bounding;
use crate::terms::casts::to_u32;

const DIAGONALS: &str = include_str!("../../../../shaders/diagonals.wgsl");

/// Bases per word of a plane.
pub const WORD: u32 = u32::BITS;
/// Threads per workgroup, and positions of a workgroup.
pub const THREADS: u32 = 64;
pub const UNIT: u32 = 1024;
/// Words of a task: the number of positions of earlier tasks, the index of its first position, the query's record, the
/// piece's start and length, and the bases of the piece before the k-mer.
pub const TASK: usize = 5;
/// Words before the planes in a query's record: its number, length, diagonals on each side, and least score.
pub const HEADER: usize = 4;
/// Diagonals of a band that are scored or skipped together.
pub const CHUNK: u32 = 8;
/// Added to diagonals, so that none is negative.
pub const PAD: u32 = 1 << 10;
/// Maximum number of words of a query's plane, and of words more in a plane of targets.
pub const MOST_WORDS: u32 = 10;
pub const MOST_MORE: u32 = 4;

/// A kernel for queries of at most `words` words, and bands of at most `more` words of diagonals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundVariant {
    pub words: u32,
    pub more: u32,
    /// [`DiagonalBound::RUN`](crate::align::candidates::by_index::RUN).
    pub run: u32,
}

impl BoundVariant {
    /// Every kernel for runs of this length.
    pub fn all(run: u32) -> Vec<BoundVariant> {
        let of = |words| (1..=MOST_MORE).map(move |more| BoundVariant { words, more, run });
        (1..=MOST_WORDS).flat_map(of).collect()
    }

    /// Words of a query's record: the header, two planes, the packed bases, and a word that is read ahead.
    pub fn record(self) -> usize {
        HEADER + 2 * self.words as usize + self.packed()
    }

    /// Words of a query's packed bases.
    pub fn packed(self) -> usize {
        4 * self.words as usize + 1
    }

    /// The kernel's WGSL.
    pub fn wgsl(self) -> Result<String, TemplateError> {
        let numbers = constants([
            ("THREADS", THREADS),
            ("UNIT", UNIT),
            ("TASK", to_u32(TASK)),
            ("HEADER", to_u32(HEADER)),
            ("PAD", PAD),
            ("CHUNK", CHUNK),
            ("RUN", self.run),
            ("WORDS", self.words),
            ("TARGET_WORDS", self.words + self.more),
        ]);
        Ok(Bounding::wgsl() + &numbers + &expand(DIAGONALS, &[], &self.meaning())?)
    }

    fn meaning(self) -> Meaning {
        let BoundVariant { words, more, .. } = self;
        let word = move |w: u32| Meaning::default().names([("w", w), ("first", w * WORD)]);
        let loaded = |t: u32| {
            let quarters = (0..4).map(move |quarter| {
                Meaning::default().names([("offset", t * WORD + quarter * 8), ("up", quarter * 8)])
            });
            Meaning::default().name("t", t).rounds("quarter", quarters)
        };
        let last = words + more - 1;
        // Diagonals of a band, in chunks.
        let cells = more * WORD;
        let cell = move |cell: u32| {
            let next =
                |name| if cell + 1 < cells { format!("{name}{}", cell + 1) } else { "NONE".to_string() };
            let of_cell = Meaning::default().names([("cell", cell), ("mask", 1 << (cell % WORD))]);
            of_cell.name("e_next", next("e")).name("h_next", next("h"))
        };
        let chunk = move |first: u32| {
            let of_chunk = Meaning::default().names([("first", first), ("word", first / WORD)]);
            of_chunk.rounds("of_chunk", (first..first + CHUNK).map(cell))
        };
        Meaning::default()
            .name("last", last)
            .rounds("w", (0..words).map(word))
            .rounds("down", (0..words).rev().map(word))
            .rounds("t", (0..=last).map(loaded))
            .rounds("cell", (0..cells).map(cell))
            .rounds("chunk", (0..cells).step_by(CHUNK as usize).map(chunk))
            .rounds("shifted", (0..last).map(|t| Meaning::default().names([("t", t), ("next", t + 1)])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_text_without_directives() {
        for variant in BoundVariant::all(6) {
            let text = variant.wgsl().unwrap_or_else(|error| panic!("{variant:?}: {error}"));
            assert!(!text.contains("//!") && !text.contains('$'), "{variant:?}: {text}");
        }
    }
}
