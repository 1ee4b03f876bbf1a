//! Targets with what repeats taken out: the stretches that stand nowhere before, and where else each of them stands
//! (section 22 of docs/algorithm.md).
//!
//! A *span* `W` bounds the letters that an alignment covers. A column of a target is a *copy* of an earlier one, of the same
//! or another target, if the `W` letters up to and with each are equal; a target's beginning counts as a letter of its
//! own. All columns that are no copies make up *stretches*. Each is stored with its *lead*, the letters in front of it that
//! alignments which end in it can cover. So each alignment has an equal one that ends in a column of a stretch, at the same
//! place or an earlier one.
//!
//! [`find()`] finds copies by content-defined chunks, compared letter by letter. It need not find all of them: a copy that
//! it misses is a stretch.

mod find;

pub use find::{find, share_of_distinct};

use crate::terms::batch::Sequences;
use crate::terms::casts::to_u32;
use std::ops::Range;
use std::sync::Arc;

/// Columns of a stretch whose copies are listed together.
const BIN: u32 = 256;

/// Where columns of a stretch lie among the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub target: u32,
    /// The column of the target less that of the stretch.
    offset: i64,
}

impl Place {
    /// The place of columns in the target itself.
    pub fn of(target: u32) -> Place {
        Place { target, offset: 0 }
    }

    /// The target's column for one of the stretch.
    pub fn there(&self, column: u32) -> u32 {
        to_u32(i64::from(column) + self.offset)
    }

    /// The stretch's column for one of the target; none before the first is meant.
    pub fn here(&self, column: u32) -> u32 {
        to_u32((i64::from(column) - self.offset).clamp(0, i64::from(u32::MAX)))
    }
}

/// Columns of a stretch that stand elsewhere, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    stretch: u32,
    start: u32,
    end: u32,
    pub place: Place,
}

impl Copied {
    /// The columns of the stretch.
    pub fn columns(&self) -> Range<u32> {
        self.start..self.end
    }
}

/// Targets as distinct stretches and their copies.
#[derive(Debug)]
pub struct Distinct {
    /// The stretches in the order of their places, each with its lead.
    pub stretches: Arc<Sequences>,
    /// Where each lies first.
    places: Vec<Place>,
    /// In the order of their places.
    copies: Vec<Copied>,
    /// The first bin of each stretch, and the number of all.
    bins: Vec<u32>,
    /// Where the copies of each bin end in `listed`.
    ends: Vec<u32>,
    /// Copies by bins, in their order.
    listed: Vec<u32>,
    /// Letters that an alignment may cover.
    span: u32,
}

impl Distinct {
    fn new(stretches: Sequences, places: Vec<Place>, copies: Vec<Copied>, span: u32) -> Distinct {
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
        Distinct { stretches: Arc::new(stretches), places, copies, bins, ends, listed, span }
    }

    /// Letters that an alignment may cover.
    pub fn span(&self) -> u32 {
        self.span
    }

    /// Where a stretch lies first.
    pub fn place(&self, stretch: u32) -> Place {
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

    /// Copies of columns, for people who want to know.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }
}
