//! Which stretches of which targets a query is scored against.
//!
//! A long target is cut into chunks that share no end column: each chunk owns its columns and warms up over the columns
//! before them, as many as an alignment of the minimum score can span. So every alignment that counts is contained in
//! the chunk that owns its end, and no result depends on the positions of the cuts. If warm-ups are short, a chunk
//! consists of several pairs, one for each stretch of a sweep: once a hit is found, only the stretches that it touches
//! are scored again.
//!
//! [`filter`] finds the windows that can contain alignments of a higher score without scoring all columns.

pub mod ambiguous;
pub mod boxes;
mod by_counts;
pub mod by_index;
pub mod by_scan;
pub mod diagonal_bound;
mod estimate;
pub mod filter;
mod index;
mod kmers;
pub mod levels;
mod near_kmers;
pub mod pieces;
pub mod runs;
pub mod seed_counts;
pub mod seed_scores;
pub mod seeds;
mod tally;
pub mod windows;

pub use ambiguous::QueryShape;
pub use by_index::DiagonalLimits;
pub use index::{IndexShape, KmerIndex, KmerSegment, MOST_IN_SEGMENT};
pub use kmers::StoredIndex;

use crate::terms::alignment::{Locus, Strand, Strands};
use crate::terms::batch::{Batch, CHUNK_PER_WARM_UP, Pair, STRETCH, UNCUT};
use crate::terms::bounds::longest_span;
use crate::terms::casts::to_u32;
use levels::Level;
use std::ops::Range;
use windows::CandidateRegion;

/// Minimum number of columns that a chunk owns if a target is cut at all.
pub const CHUNK: u32 = UNCUT;
/// Upper limit of that minimum. Longer chunks warm up less often, but too few chunks leave a device idle at the end.
const MOST_CHUNK: u32 = 1 << 14;
/// Minimum ratio of stretch length to warm-up length. (A query is no longer than its warm-up: a query of several tiles,
/// which an engine may score stretch by stretch, has no warm-up.)
const STRETCH_PER_WARM_UP: u32 = 4;

/// Maximum number of target stretches that the queries of all current batches meet. Any of them may contain a hit that
/// counts, so this bounds the memory.
pub const MOST_STRETCHES: u64 = 6 << 20;

/// Which pairs of a batch's records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairLayout {
    /// Orientations of each record, which are adjacent among the batch's queries.
    pub strands: Strands,
    pub meets: Meets,
}

/// Which targets a record meets. The numbers are target indices for the first record of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    All,
    /// The target with the record's own index.
    Paired(u32),
    /// The targets after the record's own index. If queries and targets are the same set, each pair meets once.
    Behind(u32),
}

impl PairLayout {
    /// Indices of the targets that a record meets, out of `count` targets.
    pub fn targets(&self, record: u32, count: usize) -> Range<u32> {
        let count = to_u32(count);
        match self.meets {
            Meets::All => 0..count,
            Meets::Paired(first) => first + record..first + record + 1,
            Meets::Behind(first) => first.saturating_add(record + 1).min(count)..count,
        }
    }

    /// Number of records whose orientations make up `queries` queries.
    pub fn records(&self, queries: usize) -> usize {
        queries / self.strands.count() as usize
    }

    /// The query that is `record` in orientation `strand`. If a record has only one orientation, it is that one.
    pub fn query(&self, record: u32, strand: Strand) -> u32 {
        record * self.strands.count() + self.strands.position(strand)
    }

    /// The queries that are `record` in its orientations.
    pub fn queries(&self, record: u32) -> Range<u32> {
        record * self.strands.count()..(record + 1) * self.strands.count()
    }

    /// The orientation of a query relative to its record.
    pub fn strand(&self, query: u32) -> Strand {
        self.strands.of_number(query)
    }

    /// The orientations that each record has.
    pub fn orientations(&self) -> &'static [Strand] {
        self.strands.orientations()
    }
}

/// Request to a filter for one record.
#[derive(Clone, Copy, Debug)]
pub struct FilterRequest {
    pub record: u32,
    pub level: Level,
    /// Minimum score of the alignments that the regions must contain. It is at least the level's minimum.
    pub least: i32,
    /// Cost of the record so far, as the number of cells that could have been scored in that time.
    pub spent: f64,
    /// Whether the level covers all alignments that count, because a known hit reaches the level's threshold.
    pub is_last: bool,
    /// If set, the regions with the highest bounds are enough for now, as far as they probably have this number of hits.
    pub enough: Option<usize>,
    /// The first hit, if it is known.
    pub first: Option<Locus>,
}

impl FilterRequest {
    /// Lower bound on the columns of these regions that need not be scored because the first hit is known. Each match
    /// adds `match_` to a score.
    fn known_columns(&self, regions: &[CandidateRegion], match_: i32) -> u32 {
        let Some(Locus { hit, strand, target }) = self.first else { return 0 };
        let owns = |&&(of, pair, _): &&CandidateRegion| {
            (of, pair.target) == (strand, target) && (pair.own + 1..=pair.end).contains(&hit.target_end)
        };
        let cols = regions.iter().find(owns).map_or(0, |(_, pair, _)| pair.cols());
        // The hit spans at least the columns that its score needs, and so does any other hit next to it.
        let least = to_u32(self.least.div_euclid(match_.max(1)).max(0));
        if cols / 2 < least { cols } else { least }
    }
}

/// Answer of a filter for one record.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterAnswer {
    /// The regions, which contain all alignments of score `held` or more, and the cells spent on the record including
    /// finding them.
    Regions { regions: Vec<CandidateRegion>, held: i32, spent: f64 },
    /// There is no room for the record's regions now.
    Later,
    /// The regions would cost too large a share of a full search.
    Dear,
}

/// Length of the chunks that targets are cut into.
#[derive(Clone, Copy, Debug)]
pub struct ChunkLength {
    /// Minimum number of columns that each chunk owns.
    pub least: u32,
    /// Minimum number of owned columns per warm-up column.
    pub per_warm_up: u32,
}

impl ChunkLength {
    /// The shortest chunks that suit every engine.
    pub const SHORT: ChunkLength = ChunkLength { least: CHUNK, per_warm_up: CHUNK_PER_WARM_UP };

    /// Chunk length for an engine that scores `pairs` pairs together, one stretch each, and needs `enough` sweeps to
    /// stay busy ([`crate::engine::Capabilities::enough_sweeps`]).
    pub fn suited(pairs: usize, enough: u64, per_warm_up: u32) -> ChunkLength {
        let columns = pairs as u64 * u64::from(STRETCH);
        let least = to_u32((columns / enough.max(1)).clamp(u64::from(CHUNK), u64::from(MOST_CHUNK)));
        ChunkLength { least, per_warm_up }
    }

    /// Number of columns that a chunk may own. If the chunk has stretches, its warm-up and its own columns together
    /// fill whole stretches.
    fn owned(self, warm_up: u32) -> u32 {
        let own = warm_up.saturating_mul(self.per_warm_up).max(self.least);
        let in_stretches = || own.checked_add(warm_up)?.checked_next_multiple_of(STRETCH);
        if has_stretches(warm_up) { in_stretches().map_or(own, |sweep| sweep - warm_up) } else { own }
    }
}

/// The targets that are scored pair by pair: those of at least a minimum length.
#[derive(Clone, Copy, Debug)]
pub struct MetTargets {
    least_len: usize,
    targets: usize,
    letters: usize,
}

impl MetTargets {
    pub fn all(batch: &Batch) -> MetTargets {
        MetTargets { least_len: 0, targets: batch.targets.len(), letters: batch.targets.letters() }
    }

    /// The targets that are not short.
    pub fn long(batch: &Batch) -> MetTargets {
        let least_len = batch.targets.longest_short() + 1;
        let long = || batch.targets.iter().map(<[u8]>::len).filter(|&len| len >= least_len);
        MetTargets { least_len, targets: long().count(), letters: long().sum() }
    }

    /// Number of `batch`'s targets that are too short to be met pair by pair, and the total of their residues.
    pub fn left_out(&self, batch: &Batch) -> (usize, usize) {
        (batch.targets.len() - self.targets, batch.targets.letters() - self.letters)
    }

    /// Approximate number of pairs of `record`. The estimate assumes a warm-up of the query's length, which is its
    /// minimum.
    pub fn expected_pairs(&self, batch: &Batch, layout: &PairLayout, record: u32) -> usize {
        let (columns, targets) = match layout.meets {
            Meets::Paired(first) => (batch.target(first + record).len(), 1),
            Meets::All => (self.letters, self.targets),
            Meets::Behind(_) => {
                let met = layout.targets(record, batch.targets.len()).len();
                (self.letters / self.targets.max(1) * met.min(self.targets), met.min(self.targets))
            }
        };
        let warm_up = to_u32(batch.query(layout.query(record, Strand::Forward)).len());
        let each = if has_stretches(warm_up) { STRETCH } else { warm_up.saturating_mul(CHUNK_PER_WARM_UP) };
        layout.strands.count() as usize * (columns / each as usize + targets)
    }

    /// Returns all pairs of `record` that can contain an alignment of at least `min_score` (on a circular target, one
    /// that begins in the first copy), sorted by strand, target and position. The pairs are cut from chunks of the
    /// given length.
    pub fn pairs(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        record: u32,
        min_score: i32,
        length: ChunkLength,
    ) -> Vec<Pair> {
        let targets = layout.targets(record, batch.targets.len());
        let mut pairs = Vec::with_capacity(self.expected_pairs(batch, layout, record));
        for &strand in layout.orientations() {
            let query = layout.query(record, strand);
            let warm_up = longest_span(batch.query(query), min_score, &batch.scoring);
            let is_met = |&target: &u32| batch.target(target).len() >= self.least_len;
            for target in targets.clone().filter(is_met) {
                if batch.scoring.mode.needs_whole_targets() {
                    let end = to_u32(batch.target(target).len());
                    // An empty target has no alignment.
                    pairs.extend((end > 0).then_some(Pair { query, target, start: 0, own: 0, end }));
                    continue;
                }
                let lead = batch.targets.lead(target);
                let columns = batch.targets.reach(target, warm_up) - lead;
                for (_, own, end) in chunks(columns, warm_up, length) {
                    let (own, end) = (own + lead, end + lead);
                    let start = own.saturating_sub(warm_up);
                    pairs.extend(stretches(Pair { query, target, start, own, end }, warm_up));
                }
            }
        }
        pairs
    }
}

/// Whether warm-ups are so short that a chunk is several stretches.
fn has_stretches(warm_up: u32) -> bool {
    warm_up <= STRETCH / STRETCH_PER_WARM_UP
}

/// Cuts `0..len` into the minimum number of chunks (start, own, end) of about equal size that warm up over `warm_up`
/// columns.
fn chunks(len: u32, warm_up: u32, length: ChunkLength) -> impl Iterator<Item = (u32, u32, u32)> {
    let own = length.owned(warm_up);
    let count = u64::from(len.div_ceil(own));
    let border = move |k: u64| to_u32(u64::from(len) * k / count.max(1));
    (0..count).map(move |k| (border(k).saturating_sub(warm_up), border(k), border(k + 1)))
}

/// The pairs of a chunk: one for each stretch of its sweep if stretches are long compared to the warm-up.
fn stretches(chunk: Pair, warm_up: u32) -> impl Iterator<Item = Pair> {
    let stretch = if has_stretches(warm_up) { STRETCH } else { u32::MAX };
    let behind = move |own: u32| {
        let number = (own - chunk.start) / stretch;
        chunk.end.min(chunk.start.saturating_add(stretch.saturating_mul(number + 1)))
    };
    let firsts = std::iter::successors(Some(chunk.own), move |&own| Some(behind(own)));
    firsts.take_while(move |&own| own < chunk.end).map(move |own| Pair { own, end: behind(own), ..chunk })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::batch::{sweeps, swept};

    #[test]
    fn chunks_own_every_column_once() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 100_003, u32::MAX / 2] {
            for warm_up in [1, 20, CHUNK / CHUNK_PER_WARM_UP, CHUNK / CHUNK_PER_WARM_UP + 1, 70_000, u32::MAX]
            {
                let least = CHUNK.max(warm_up.saturating_mul(CHUNK_PER_WARM_UP));
                let owned = ChunkLength::SHORT.owned(warm_up);
                assert!(owned >= least && owned - least < STRETCH);
                if has_stretches(warm_up) {
                    assert!((owned + warm_up).is_multiple_of(STRETCH));
                }
                let mut next = 0;
                for (start, own, end) in chunks(len, warm_up, ChunkLength::SHORT) {
                    assert_eq!(own, next, "len {len}, warm-up {warm_up}");
                    assert_eq!(start, own.saturating_sub(warm_up));
                    assert!(own < end && end - own <= owned);
                    next = end;
                }
                assert_eq!(next, len);
            }
        }
    }

    #[test]
    fn stretches_own_every_column_of_a_chunk_once_and_are_one_sweep() {
        for (start, own, end) in
            [(0, 0, 1), (0, 0, STRETCH), (0, 0, STRETCH + 1), (50, 300, 9 * STRETCH), (7, 7 + STRETCH, 9000)]
        {
            let chunk = Pair { query: 1, target: 2, start, own, end };
            let pairs: Vec<Pair> = stretches(chunk, STRETCH / STRETCH_PER_WARM_UP).collect();
            assert_eq!(sweeps(&pairs).map(swept).collect::<Vec<_>>(), [chunk], "{pairs:?}");
            let whole: Vec<Pair> = stretches(chunk, STRETCH / STRETCH_PER_WARM_UP + 1).collect();
            assert_eq!(whole, [chunk]);
        }
        let none = Pair { query: 0, target: 0, start: 3, own: 3, end: 3 };
        assert_eq!(stretches(none, 1).count(), 0);
        let last = Pair { query: 0, target: 0, start: u32::MAX - 9, own: u32::MAX - 3, end: u32::MAX };
        assert_eq!(stretches(last, 6).collect::<Vec<_>>(), [last]);
    }
}
