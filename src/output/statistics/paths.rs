//! Composition of an alignment's path, and the positions in the read at which it differs from the reference.

use super::histogram::HistogramBins;
use crate::terms::alignment::{Alignment, PathOp, Strand};
use crate::terms::alphabet::{Alphabet, CODES};
use crate::terms::casts::to_usize;
use std::ops::{AddAssign, Range};

/// Sums over the columns of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTotals {
    /// Equal residues, as the output's NM counts them.
    pub matches: u64,
    pub mismatches: u64,
    /// Number of insertions, and of inserted query residues.
    pub insertions: u64,
    pub inserted: u64,
    /// Number of deletions, and of deleted reference residues.
    pub deletions: u64,
    pub deleted: u64,
    /// Query residues before and after the alignment.
    pub clipped: u64,
}

impl PathTotals {
    /// Number of alignment columns, the denominator of identities.
    pub fn columns(&self) -> u64 {
        self.matches + self.mismatches + self.inserted + self.deleted
    }
}

impl AddAssign for PathTotals {
    fn add_assign(&mut self, other: PathTotals) {
        self.matches += other.matches;
        self.mismatches += other.mismatches;
        self.insertions += other.insertions;
        self.inserted += other.inserted;
        self.deletions += other.deletions;
        self.deleted += other.deleted;
        self.clipped += other.clipped;
    }
}

/// Differences by position in the read as it was sequenced, starting with its first residue. All bins have the same
/// width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// Residues of the reads.
    pub letters: HistogramBins,
    pub mismatches: HistogramBins,
    /// Inserted residues.
    pub inserted: HistogramBins,
    /// Deletions of any length, at the residue before them.
    pub deletions: HistogramBins,
    /// Residues outside the alignment.
    pub clipped: HistogramBins,
    /// Mismatches by the code of the reference and the code of the read, both on the reference's strand.
    changes: Vec<u64>,
}

impl Positions {
    fn all(&mut self) -> [&mut HistogramBins; 5] {
        let Positions { letters, mismatches, inserted, deletions, clipped, .. } = self;
        [letters, mismatches, inserted, deletions, clipped]
    }

    /// Number of times that code `from` of a reference is `to` in a read.
    pub fn changes(&self, from: usize, to: usize) -> u64 {
        self.changes.get(from * CODES + to).copied().unwrap_or(0)
    }

    fn count_change(&mut self, from: u8, to: u8) {
        if self.changes.is_empty() {
            self.changes.resize(CODES * CODES, 0);
        }
        if let Some(count) = self.changes.get_mut(usize::from(from) * CODES + usize::from(to)) {
            *count += 1;
        }
    }
}

impl AddAssign for Positions {
    fn add_assign(&mut self, mut other: Positions) {
        if self.changes.is_empty() {
            self.changes = std::mem::take(&mut other.changes);
        }
        self.changes.iter_mut().zip(&other.changes).for_each(|(count, more)| *count += more);
        self.letters.widen_to(&other.letters);
        let shared = self.letters.clone();
        self.all().into_iter().zip(other.all()).for_each(|(bins, more)| {
            bins.widen_to(&shared);
            *bins += std::mem::take(more);
        });
    }
}

/// Follows the path of an alignment, and counts its differences by position in the read. `letters` is the read in the
/// aligned orientation, `target` has codes.
pub fn walk(
    alphabet: Alphabet,
    (letters, target): (&[u8], &[u8]),
    alignment: &Alignment,
    positions: &mut Positions,
) -> PathTotals {
    let len = letters.len() as u64;
    let forward = alignment.strand == Strand::Forward;
    // Converts positions in the aligned orientation to positions in the read as it was sequenced.
    let place = |at: u64| if forward { at } else { len - 1 - at };
    let places = |range: Range<u64>| if forward { range } else { len - range.end..len - range.start };
    positions.all().into_iter().for_each(|bins| bins.hold(len.saturating_sub(1)));
    positions.letters.add_range(0..len);
    let (start, end) = (u64::from(alignment.query_start), u64::from(alignment.query_end));
    positions.clipped.add_range(places(0..start));
    positions.clipped.add_range(places(end..len));
    let mut path = PathTotals { clipped: start + (len - end), ..PathTotals::default() };
    let (mut i, mut j) = (start, alignment.target_start as usize);
    for &(count, op) in &alignment.cigar {
        let steps = u64::from(count);
        match op {
            PathOp::Match => {
                let run = letters[to_usize(i)..].iter().zip(&target[j..j + count as usize]);
                let mut mismatches = 0;
                for (at, (&letter, &code)) in (i..i + steps).zip(run) {
                    let own = alphabet.code(letter).unwrap_or(u8::MAX);
                    if !is_equal(alphabet, own, code) {
                        positions.mismatches.add(place(at), 1);
                        positions.count_change(code, own);
                        mismatches += 1;
                    }
                }
                path.mismatches += mismatches;
                path.matches += steps - mismatches;
            }
            PathOp::Insertion => {
                positions.inserted.add_range(places(i..i + steps));
                path.insertions += 1;
                path.inserted += steps;
            }
            PathOp::Deletion => {
                // The residue before the deletion, in the read as it was sequenced.
                let before = if forward { i.saturating_sub(1) } else { i };
                positions.deletions.add(place(before), 1);
                path.deletions += 1;
                path.deleted += steps;
            }
        }
        i += if op == PathOp::Deletion { 0 } else { steps };
        j += if op == PathOp::Insertion { 0 } else { count as usize };
    }
    path
}

/// Whether two codes count as equal in NM: in DNA only A, C, G and T do.
pub fn is_equal(alphabet: Alphabet, own: u8, code: u8) -> bool {
    own == code && (alphabet == Alphabet::Protein || code < 4)
}
