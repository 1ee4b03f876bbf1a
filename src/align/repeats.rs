//! Targets without repeats: the stretches that occur nowhere earlier, and the other positions of each stretch (section
//! 22 of docs/algorithm.md).
//!
//! A *span* `W` bounds the number of target residues that an alignment covers. A column of a target is a *copy* of an
//! earlier column, of the same or another target, if the `W` residues up to and including each are equal; the start of
//! a target counts as a residue of its own. All columns that are not copies form *stretches*. Each stretch is stored
//! with its *lead*, the preceding residues that alignments ending in the stretch can cover. So each alignment has an
//! equal one that ends in a column of a stretch, at the same position or an earlier one.
//!
//! [`find()`] finds copies by content-defined chunks, which are compared residue by residue. It need not find all
//! copies: a missed copy becomes a stretch.

mod find;

pub use find::{find, share_of_distinct};

use crate::terms::batch::Sequences;
use crate::terms::casts::to_u32;
use std::ops::Range;
use std::sync::Arc;

/// Number of columns of a stretch whose copies are listed together.
const BIN: u32 = 256;

/// Position of a stretch's columns in a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StretchPosition {
    pub target: u32,
    /// Offset to add to a column of the stretch to get the target's column.
    offset: i64,
}

impl StretchPosition {
    /// The position of a target's columns in the target itself.
    pub fn of(target: u32) -> StretchPosition {
        StretchPosition { target, offset: 0 }
    }

    /// Maps a column of the stretch to the target.
    pub fn there(&self, column: u32) -> u32 {
        to_u32(i64::from(column) + self.offset)
    }

    /// Maps a column of the target to the stretch. A column before the start becomes 0.
    pub fn here(&self, column: u32) -> u32 {
        to_u32((i64::from(column) - self.offset).clamp(0, i64::from(u32::MAX)))
    }
}

/// Columns of a stretch that also occur elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    stretch: u32,
    start: u32,
    end: u32,
    pub place: StretchPosition,
}

impl Copied {
    /// The columns of the stretch.
    pub fn columns(&self) -> Range<u32> {
        self.start..self.end
    }
}

/// Targets as distinct stretches and their copies.
#[derive(Debug)]
pub struct DistinctTargets {
    /// The stretches, sorted by position, each with its lead.
    pub stretches: Arc<Sequences>,
    /// First position of each stretch.
    places: Vec<StretchPosition>,
    /// Sorted by position.
    copies: Vec<Copied>,
    /// First bin of each stretch, and the total number of bins.
    bins: Vec<u32>,
    /// End of each bin's copies in `listed`.
    ends: Vec<u32>,
    /// Copies by bin, in ascending order.
    listed: Vec<u32>,
    /// Maximum number of target residues that an alignment may cover.
    span: u32,
}

impl DistinctTargets {
    fn new(
        stretches: Sequences,
        places: Vec<StretchPosition>,
        copies: Vec<Copied>,
        span: u32,
    ) -> DistinctTargets {
        let mut bins = vec![0];
        for stretch in stretches.iter() {
            bins.push(bins[bins.len() - 1] + to_u32(stretch.len()).div_ceil(BIN));
        }
        let of = |copied: &Copied| {
            let first = bins[copied.stretch as usize];
            first + copied.start / BIN..first + copied.end.div_ceil(BIN)
        };
        let mut ends = vec![0; bins[bins.len() - 1] as usize];
        copies.iter().flat_map(of).for_each(|bin| ends[bin as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut listed = vec![0; sum as usize];
        for (number, copied) in (0..).zip(&copies) {
            for bin in of(copied) {
                let next = &mut ends[bin as usize];
                listed[*next as usize] = number;
                *next += 1;
            }
        }
        DistinctTargets { stretches: Arc::new(stretches), places, copies, bins, ends, listed, span }
    }

    /// Maximum number of target residues that an alignment may cover.
    pub fn span(&self) -> u32 {
        self.span
    }

    /// First position of a stretch.
    pub fn place(&self, stretch: u32) -> StretchPosition {
        self.places[stretch as usize]
    }

    /// The first copy, from number `from` on, of some of these columns of a stretch, and its number.
    pub fn next_copy(&self, stretch: u32, columns: &Range<u32>, from: u32) -> Option<(u32, Copied)> {
        let first = self.bins[stretch as usize];
        let bins = first + columns.start / BIN..first + columns.end.div_ceil(BIN);
        let in_bin = |bin: u32| {
            let start = if bin == 0 { 0 } else { self.ends[bin as usize - 1] };
            let listed = &self.listed[start as usize..self.ends[bin as usize] as usize];
            let listed = &listed[listed.partition_point(|&number| number < from)..];
            let holds = |copied: &Copied| copied.start < columns.end && columns.start < copied.end;
            listed
                .iter()
                .map(|&number| (number, self.copies[number as usize]))
                .find(|(_, copied)| holds(copied))
        };
        bins.filter_map(in_bin).min_by_key(|&(number, _)| number)
    }

    /// Number of copies, for messages.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }
}
