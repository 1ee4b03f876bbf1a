//! Which stretches of which targets a query is scored against.
//!
//! A long target is cut into chunks that share no end column: each owns its columns and warms up over
//! as many before them as an alignment of the least score that counts can span. So every such
//! alignment lies whole in the chunk that owns its end, and nothing depends on where the cuts fall.
//!
//! [`filter`] finds the stretches that can hold alignments of a higher score, without looking at all.

pub mod filter;
pub mod index;
pub mod pieces;
mod words;

use crate::alignment::Strand;
use crate::batch::{Batch, Pair};
use crate::bounds::longest_span;

/// Least number of columns that a chunk owns where a target is cut at all.
pub const CHUNK: u32 = 4096;
/// A chunk owns at least this many times the columns that it warms up over.
const CHUNK_PER_WARM_UP: u32 = 8;

/// Which pairs of a batch's records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Orientations of each record among the batch's queries: 1, or 2 (forward, then reverse).
    pub strands: u32,
    /// Record i of the batch meets only target `i + paired`, instead of all targets.
    pub paired: Option<u32>,
}

impl Layout {
    /// Number of records whose orientations make up `queries` queries.
    pub fn records(&self, queries: usize) -> usize {
        queries / self.strands as usize
    }

    /// The query that is `record` in orientation `strand`.
    pub fn query(&self, record: u32, strand: Strand) -> u32 {
        record * self.strands + strand as u32
    }

    /// The orientations that each record has.
    pub fn orientations(&self) -> &'static [Strand] {
        &[Strand::Forward, Strand::Reverse][..self.strands as usize]
    }
}

/// All pairs of `record` that can hold an alignment of at least `min_score`, in the order strand,
/// target, chunk.
pub fn pairs(batch: &Batch, layout: &Layout, record: u32, min_score: i32) -> Vec<(Strand, Pair)> {
    let targets = match layout.paired {
        Some(first) => first + record..first + record + 1,
        None => 0..batch.targets.len() as u32,
    };
    let mut pairs = Vec::new();
    for &strand in layout.orientations() {
        let query = layout.query(record, strand);
        let warm_up = longest_span(batch.query(query), min_score, &batch.scoring);
        for target in targets.clone() {
            let chunks = chunks(batch.target(target).len() as u32, warm_up);
            pairs.extend(chunks.map(|(start, own, end)| (strand, Pair { query, target, start, own, end })));
        }
    }
    pairs
}

/// Cuts `0..len` into chunks (start, own, end) of about equal size that warm up over `warm_up`
/// columns.
fn chunks(len: u32, warm_up: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    let own = warm_up.saturating_mul(CHUNK_PER_WARM_UP).max(CHUNK);
    let count = u64::from(len.div_ceil(own));
    let border = move |k: u64| (u64::from(len) * k / count.max(1)) as u32;
    (0..count).map(move |k| (border(k).saturating_sub(warm_up), border(k), border(k + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_own_every_column_once() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 100_003, u32::MAX / 2] {
            for warm_up in [1, 20, CHUNK / CHUNK_PER_WARM_UP, CHUNK / CHUNK_PER_WARM_UP + 1, 70_000, u32::MAX]
            {
                let mut next = 0;
                for (start, own, end) in chunks(len, warm_up) {
                    assert_eq!(own, next, "len {len}, warm-up {warm_up}");
                    assert_eq!(start, own.saturating_sub(warm_up));
                    assert!(own < end && (end - own <= CHUNK.max(warm_up.saturating_mul(CHUNK_PER_WARM_UP))));
                    next = end;
                }
                assert_eq!(next, len);
            }
        }
    }
}
