//! Composition of an alignment's path, and the positions in the read at which it differs from the reference.

use super::histogram::HistogramBins;
use crate::terms::alignment::{Alignment, ColumnCounts, ColumnOp, Strand};
use crate::terms::alphabet::{Alphabet, CODES};
use std::ops::{AddAssign, Range};

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

/// Counts the columns of an alignment, and its differences by position in the read. `letters` is the read in the aligned
/// orientation, `target` has codes.
pub fn count(
    alphabet: Alphabet,
    (letters, target): (&[u8], &[u8]),
    alignment: &Alignment,
    positions: &mut Positions,
) -> ColumnCounts {
    let len = letters.len();
    let forward = alignment.strand == Strand::Forward;
    // Converts positions in the aligned orientation to positions in the read as it was sequenced.
    let place = |at: usize| if forward { at as u64 } else { (len - 1 - at) as u64 };
    let places = |Range { start, end }: Range<usize>| {
        if forward { start as u64..end as u64 } else { (len - end) as u64..(len - start) as u64 }
    };
    positions.all().into_iter().for_each(|bins| bins.hold(len.saturating_sub(1) as u64));
    positions.letters.add_range(places(0..len));
    positions.clipped.add_range(places(0..alignment.query_start as usize));
    positions.clipped.add_range(places(alignment.query_end as usize..len));
    let mut counts = ColumnCounts::default();
    let aligned = alignment.aligned_residues(target);
    alignment.for_each_piece((letters, aligned), equality(alphabet), |piece| {
        counts.add(&piece);
        match piece.op {
            ColumnOp::Equal => {}
            ColumnOp::Unequal => {
                positions.mismatches.add(place(piece.at), 1);
                positions.count_change(piece.target[0], alphabet.code(piece.query[0]).unwrap_or(u8::MAX));
            }
            ColumnOp::Insertion => positions.inserted.add_range(places(piece.at..piece.at + piece.columns())),
            // The residue before the deletion, in the read as it was sequenced.
            ColumnOp::Deletion if forward => positions.deletions.add(place(piece.at.saturating_sub(1)), 1),
            ColumnOp::Deletion => positions.deletions.add(place(piece.at), 1),
        }
    });
    counts
}

/// Whether a residue of a read and a code of a target are equal in NM.
pub fn equality(alphabet: Alphabet) -> impl Fn(u8, u8) -> bool {
    move |letter, code| alphabet.code(letter).is_some_and(|own| alphabet.are_equal(own, code))
}
