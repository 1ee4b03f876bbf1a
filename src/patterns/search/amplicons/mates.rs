//! The primers that two mates begin with, and the part of each mate that belongs to the amplicon.
//!
//! A mate begins with a primer if the primer has a site on the forward strand that starts at most `offset` bases after
//! the first base of the mate. The two sites of a pair are those whose patterns are the two primers of a pair, with the
//! fewest edits together; then those that start first (first mate before second mate), that end first, and whose
//! patterns come first.
//!
//! A mate that is longer than the amplicon also contains the primer of the other mate. It ends with the site of that
//! primer on the reverse strand that its own site faces, with the fewest edits, and then the one that starts first.

use super::{PatternPairs, Site};
use crate::patterns::search::hits::PatternHit;
use crate::terms::alignment::Strand;
use std::ops::Range;

/// Sites of one mate that may matter. They are few: of the reverse sites after all primers with which the mate may
/// begin, only one per pattern and number of edits is kept.
#[derive(Clone, Debug, Default)]
pub struct MateSites {
    /// Sites at the beginning, on the forward strand.
    starts: Vec<Site>,
    /// Sites on the reverse strand, by start.
    ends: Vec<Site>,
}

/// Part of a mate from its primer to the primer of the other mate, with and without both primers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatePart {
    pub with_primers: Range<usize>,
    pub without_primers: Range<usize>,
}

/// Parts of two mates, and the strand of their amplicon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateParts {
    /// Parts of the first and the second mate.
    pub parts: [MatePart; 2],
    /// Forward if the first mate begins with the first primer of the pair.
    pub strand: Strand,
}

impl MateSites {
    /// Adds the next hit of the mate in order of starts. `offset` is the last possible start of a primer at the
    /// beginning.
    pub fn put(&mut self, hit: &PatternHit, offset: usize) {
        let site = Site::of(hit);
        if hit.strand == Strand::Forward {
            if site.start <= offset {
                self.starts.push(site);
            }
            return;
        }
        let is_behind =
            |other: &Site| other.start > offset && self.starts.iter().all(|start| other.end >= start.end);
        let is_better =
            |other: &Site| other.pattern == site.pattern && other.edits <= site.edits && is_behind(other);
        let may_matter = !self.starts.is_empty() && !self.ends.iter().any(is_better);
        if may_matter || site.start <= offset {
            self.ends.push(site);
        }
    }

    /// Forgets the sites of the mate.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }

    /// The part of a mate of `letters` bases that begins with the site `start`, if the other mate begins with `other`.
    fn part(&self, start: &Site, other: u32, letters: usize) -> MatePart {
        let faces = |end: &&Site| end.pattern == other && end.start >= start.start && end.end >= start.end;
        let end = self.ends.iter().filter(faces).min_by_key(|end| (end.edits, end.start, end.end));
        let (last, inner) = end.map_or((letters, letters), |end| (end.end, end.start.max(start.end)));
        MatePart { with_primers: start.start..last, without_primers: start.end..inner }
    }
}

/// The parts of two mates with the lengths `letters`; `None` if they do not begin with the primers of a pair.
pub fn parts(pairs: &PatternPairs, mates: [&MateSites; 2], letters: [usize; 2]) -> Option<MateParts> {
    let both = |first| mates[1].starts.iter().map(move |second| (first, second));
    let sites = mates[0].starts.iter().flat_map(both);
    let primers = sites.filter_map(|(first, second): (&Site, &Site)| {
        Some((first, second, pairs.strand(first.pattern, second.pattern)?))
    });
    let order = |first: &Site, second: &Site| {
        let edits = u64::from(first.edits) + u64::from(second.edits);
        let places = [first.start, second.start, first.end, second.end];
        (edits, places, first.pattern, second.pattern)
    };
    let (first, second, strand) = primers.min_by_key(|(first, second, _)| order(first, second))?;
    let parts =
        [mates[0].part(first, second.pattern, letters[0]), mates[1].part(second, first.pattern, letters[1])];
    Some(MateParts { parts, strand })
}
