//! Sums over a run's records: the numbers of `--stats` and `--report`.
//!
//! ```text
//! workers: a batch's Sums ──> writer: Statistics::add, batch by batch
//! ```
//!
//! All sums are integers, and no sum depends on how the queries were divided into batches. So the statistics are the
//! same on every device and with any number of threads. Their memory is bounded by the references: one bit per residue,
//! and bins.

mod depth;
mod extremes;
mod histogram;
mod paths;
#[cfg(test)]
mod tests;

pub use depth::{Depth, HitComparison, ReferenceDepth};
pub use extremes::{Drawing, Extreme, Extremes};
pub use histogram::{BINS, Histogram, HistogramBins};
pub use paths::Positions;

use crate::align::complexity::low_complexity;
use crate::align::quality;
use crate::input::reader::FileRecord;
use crate::terms::alignment::{Alignment, ColumnCounts, QueryResult, Strand, Tier};
use crate::terms::alphabet::{Alphabet, reverse_complement};
use crate::terms::batch::Sequences;
use crate::terms::scoring::Scoring;
use depth::Covered;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};

/// Queries that a thread sums per task. Even, so that mates stay together.
const QUERIES: usize = 2048;
/// Number of steps per percent in which identities are counted.
pub const IDENTITY_STEPS: u64 = 2;

/// Computes a run's statistics; several threads may use it.
pub struct Tally {
    scoring: Arc<Scoring>,
    targets: Arc<Sequences>,
    /// Whether low-complexity stretches of queries are masked.
    masks: bool,
    total: Mutex<Statistics>,
}

/// The statistics of a run.
#[derive(Clone, Debug)]
pub struct Statistics {
    pub sums: Sums,
    pub depth: Depth,
}

/// Sums over some queries and their hits.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub queries: QueryCounts,
    pub records: RecordCounts,
    /// Columns of all primary alignments.
    pub columns: ColumnCounts,
    /// Query residues before and after primary alignments.
    pub clipped: u64,
    pub positions: Positions,
    /// Lengths of the queries in residues.
    pub lengths: Histogram,
    /// Scores of primary alignments.
    pub scores: Histogram,
    /// Identities of primary alignments, in steps of 1 / [`IDENTITY_STEPS`] percent, rounded down.
    pub identities: Histogram,
    /// Mapping qualities of primary alignments.
    pub qualities: Histogram,
    /// Distances of the 5' ends of proper pairs.
    pub inserts: Histogram,
    pub extremes: Extremes,
    /// Intervals that primary alignments cover, until they are added to [`Depth`].
    covered: Vec<Covered>,
}

/// Queries by their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryCounts {
    pub total: u64,
    pub letters: u64,
    /// Number of residues in low-complexity stretches, if these are masked.
    pub masked: u64,
    pub aligned: u64,
    /// Aligned queries whose hits are of the second tier.
    pub anchored: u64,
    /// Queries that are mates.
    pub mates: u64,
    /// Mates whose primary alignments are a proper pair.
    pub proper: u64,
    /// Aligned mates whose other mate is unaligned.
    pub single: u64,
    /// Mates that are aligned to different references.
    pub apart: u64,
}

/// Records of the output by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    pub primary: u64,
    pub secondary: u64,
    /// Hits of the part of a query that an earlier hit leaves.
    pub supplementary: u64,
    pub unaligned: u64,
    /// Aligned records on the forward strand of the reference.
    pub forward: u64,
    pub reverse: u64,
    /// Records of the first mates of pairs.
    pub first: u64,
    pub last: u64,
}

impl RecordCounts {
    pub fn total(&self) -> u64 {
        self.primary + self.secondary + self.supplementary + self.unaligned
    }
}

impl Tally {
    pub fn new(scoring: &Arc<Scoring>, targets: &Arc<Sequences>, masks: bool) -> Tally {
        let statistics = Statistics { sums: Sums::default(), depth: Depth::new(targets) };
        let (scoring, targets) = (Arc::clone(scoring), Arc::clone(targets));
        Tally { scoring, targets, masks, total: Mutex::new(statistics) }
    }

    /// Sums over queries and their hits, computed on all threads. `first` is the index of the first query in the run.
    pub fn sum(&self, first: u64, queries: &[FileRecord], found: &[QueryResult]) -> Sums {
        let starts = (first..).step_by(QUERIES);
        let pieces: Vec<_> = queries.chunks(QUERIES).zip(found.chunks(QUERIES)).zip(starts).collect();
        let sum = |((queries, found), first)| Summing::new(self).all(first, queries, found);
        pieces.into_par_iter().map(sum).reduce(Sums::default, |mut sums, other| {
            sums += other;
            sums
        })
    }

    /// Adds the sums of a batch.
    pub fn add(&self, sums: Sums) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        let Statistics { sums: all, depth } = &mut *total;
        sums.covered.iter().for_each(|covered| depth.add(covered));
        *all += Sums { covered: Vec::new(), ..sums };
    }

    /// Reads the sums so far.
    pub fn read<T>(&self, read: impl FnOnce(&Statistics) -> T) -> T {
        read(&self.total.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.queries += other.queries;
        self.records += other.records;
        self.columns += other.columns;
        self.clipped += other.clipped;
        self.positions += other.positions;
        self.lengths += other.lengths;
        self.scores += other.scores;
        self.identities += other.identities;
        self.qualities += other.qualities;
        self.inserts += other.inserts;
        self.extremes += other.extremes;
        self.covered.extend(other.covered);
    }
}

impl AddAssign for QueryCounts {
    fn add_assign(&mut self, other: QueryCounts) {
        self.total += other.total;
        self.letters += other.letters;
        self.masked += other.masked;
        self.aligned += other.aligned;
        self.anchored += other.anchored;
        self.mates += other.mates;
        self.proper += other.proper;
        self.single += other.single;
        self.apart += other.apart;
    }
}

impl AddAssign for RecordCounts {
    fn add_assign(&mut self, other: RecordCounts) {
        self.primary += other.primary;
        self.secondary += other.secondary;
        self.supplementary += other.supplementary;
        self.unaligned += other.unaligned;
        self.forward += other.forward;
        self.reverse += other.reverse;
        self.first += other.first;
        self.last += other.last;
    }
}

/// Intermediate sums of a thread.
struct Summing<'a> {
    tally: &'a Tally,
    alphabet: Alphabet,
    sums: Sums,
}

impl<'a> Summing<'a> {
    fn new(tally: &'a Tally) -> Summing<'a> {
        Summing { tally, alphabet: tally.scoring.alphabet, sums: Sums::default() }
    }

    fn all(mut self, first: u64, queries: &[FileRecord], found: &[QueryResult]) -> Sums {
        let mut places = (first..).zip(queries.iter().zip(found));
        while let Some((place, (query, found))) = places.next() {
            self.query(place, query, found);
            if found.mated.is_none() {
                continue;
            }
            if let Some((place, (other, found_of_other))) = places.next() {
                self.query(place, other, found_of_other);
                self.pair(found, found_of_other);
            }
        }
        self.sums
    }

    fn query(&mut self, place: u64, query: &FileRecord, found: &QueryResult) {
        let letters = query.sequence.len() as u64;
        let masked = if self.tally.masks { masked(self.alphabet, &query.sequence) } else { 0 };
        let Sums { queries, lengths, records, .. } = &mut self.sums;
        queries.total += 1;
        queries.letters += letters;
        queries.masked += masked;
        lengths.add(letters);
        records.unaligned += u64::from(found.alignments.is_empty());
        records.primary += u64::from(!found.alignments.is_empty());
        records.secondary += found.alignments.len().saturating_sub(1) as u64;
        records.supplementary += found.supplementary.len() as u64;
        let supplementary = found.supplementary.iter().map(|hit| &hit.alignment);
        for alignment in found.alignments.iter().chain(supplementary) {
            match alignment.strand {
                Strand::Reverse => records.reverse += 1,
                _ => records.forward += 1,
            }
        }
        if let Some(mated) = found.mated {
            let written = (found.alignments.len() + found.supplementary.len()).max(1) as u64;
            *if mated.is_first { &mut records.first } else { &mut records.last } += written;
        }
        if let Some(alignment) = found.alignments.first() {
            queries.aligned += 1;
            queries.anchored += u64::from(found.tier == Tier::Anchored);
            self.primary(place, query, found, alignment);
            let pieces = found.supplementary.iter().filter(|hit| hit.is_piece_of_first);
            self.sums.covered.extend(pieces.flat_map(|hit| depth::covered_by_piece(&hit.alignment)));
        }
    }

    /// Adds a primary alignment.
    fn primary(&mut self, place: u64, query: &FileRecord, found: &QueryResult, alignment: &Alignment) {
        let quality = quality::of_first(&self.tally.scoring, found);
        let letters = match alignment.strand {
            Strand::Reverse => Cow::Owned(reverse_complement(&query.sequence)),
            _ => Cow::Borrowed(&query.sequence[..]),
        };
        let target = self.tally.targets.once(alignment.target);
        let sums = &mut self.sums;
        sums.qualities.add(u64::from(quality));
        sums.scores.add(u64::from(alignment.score.unsigned_abs()));
        let counts = paths::count(self.alphabet, (&letters, target), alignment, &mut sums.positions);
        sums.identities.add(counts.matches * 100 * IDENTITY_STEPS / counts.columns().max(1));
        sums.extremes
            .add(&counts, place, || Drawing::of(self.alphabet, (&query.name, &letters), target, alignment));
        sums.columns += counts;
        sums.clipped += query.sequence.len() as u64 - u64::from(alignment.query_end - alignment.query_start);
        let is_tied = found.second.is_some_and(|second| second >= alignment.score);
        let standing = if is_tied { HitComparison::Tied } else { HitComparison::Unique };
        sums.covered.extend(depth::covered(alignment, standing));
    }

    fn pair(&mut self, found: &QueryResult, other: &QueryResult) {
        let Sums { queries, inserts, .. } = &mut self.sums;
        queries.mates += 2;
        match (found.alignments.first(), other.alignments.first()) {
            (Some(one), Some(two)) => {
                queries.apart += if one.target == two.target { 0 } else { 2 };
                if let Some(insert) = found.mated.and_then(|mated| mated.insert) {
                    queries.proper += 2;
                    inserts.add(u64::from(insert));
                }
            }
            (Some(_), None) | (None, Some(_)) => queries.single += 1,
            (None, None) => {}
        }
    }
}

/// Number of residues in low-complexity stretches.
fn masked(alphabet: Alphabet, letters: &[u8]) -> u64 {
    let mut codes = Vec::new();
    // The reader has rejected other characters.
    let _ = alphabet.encode(letters, &mut codes);
    low_complexity(alphabet, &codes).into_iter().map(|stretch| stretch.len() as u64).sum()
}
