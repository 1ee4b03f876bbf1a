//! Circular texts: the last base is followed by the first.
//!
//! A circle of `L` bases is searched as the text that repeats its bases without end, in both directions. Of the hits of
//! that text, which recur every `L` bases, one of each is reported: the one that begins in the first copy. So a hit
//! across the origin ends after `L`, and a hit may have more bases than the circle.
//!
//! # Unrolling
//!
//! A scan reads a stretch of that text: one copy, the bases before it with which a hit may begin, and a few bases after
//! it. A circle *owns* the anchors ([`super::anchors`]) in that copy, and *knows* one more on each side, with their
//! true edits. [`super::hits::Gatherer`] needs these neighbors to recognize local minima. Only a run of equal edits
//! across the origin needs more: its left part is seen at the end of the copy, and its right part at the start.

use super::hits::{HitOptions, PatternHit};

/// How a circle is unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circle {
    /// Bases before the copy that owns anchors.
    pub before: usize,
    /// Bases of the circle, at least 1.
    pub len: usize,
    /// Bases after that copy.
    after: usize,
}

impl Circle {
    /// A circle of `len` bases for a search.
    pub fn new(len: usize, wanted: &HitOptions) -> Circle {
        // A hit has at most `wanted.before + 1` bases. An end may be one base before or after its copy.
        let span = wanted.before + 1;
        let pam = wanted.pam.as_ref().map(|pam| pam.letters() + 1);
        Circle { before: span.max(pam.unwrap_or(0)), len, after: pam.map_or(1, |pam| span + pam) }
    }

    /// A circle with these bases and the stretch that is scanned, unless it is empty.
    pub fn unrolled(letters: &[u8], wanted: &HitOptions) -> Option<(Circle, Vec<u8>)> {
        let circle = Circle::new(letters.len(), wanted);
        (!letters.is_empty()).then(|| (circle, circle.unroll(letters)))
    }

    /// The stretch that is scanned.
    pub fn unroll(&self, letters: &[u8]) -> Vec<u8> {
        let skipped = (self.len - self.before % self.len) % self.len;
        let all = self.before + self.len + self.after;
        letters.iter().copied().cycle().skip(skipped).take(all).collect()
    }

    /// Whether hits with this anchor are reported.
    pub fn owns(&self, anchor: usize) -> bool {
        (self.before + 1..=self.last()).contains(&anchor)
    }

    /// Whether the edits at this anchor are those of the circle, and it is owned or beside one that is.
    pub fn knows(&self, anchor: usize) -> bool {
        (self.before..=self.last() + 1).contains(&anchor)
    }

    /// The last anchor that is owned.
    pub fn last(&self) -> usize {
        self.before + self.len
    }

    /// Converts a hit of the stretch to a hit of the circle.
    pub fn place(&self, hit: PatternHit) -> PatternHit {
        let letters = hit.end - hit.start;
        let start = match hit.start.checked_sub(self.before) {
            Some(start) => start % self.len,
            None => (self.len - (self.before - hit.start) % self.len) % self.len,
        };
        PatternHit { start, end: start + letters, ..hit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Strand;

    #[test]
    fn stretches_of_circles() {
        let circle = |before, len, after| Circle { before, len, after };
        assert_eq!(circle(2, 4, 1).unroll(b"ACGT"), b"GTACGTA");
        assert_eq!(circle(9, 4, 6).unroll(b"ACGT"), b"TACGTACGTACGTACGTAC");
        assert_eq!(circle(4, 4, 0).unroll(b"ACGT"), b"ACGTACGT");
        assert_eq!(circle(3, 1, 2).unroll(b"A"), b"AAAAAA");
    }

    #[test]
    fn hits_begin_in_the_first_copy() {
        let circle = Circle { before: 9, len: 4, after: 6 };
        for start in 0..16 {
            let hit = PatternHit {
                start,
                end: start + 7,
                pattern: 0,
                strand: Strand::Forward,
                edits: 0,
                path: Vec::new(),
            };
            let placed = circle.place(hit);
            assert_eq!((placed.start, placed.end), ((start + 3) % 4, (start + 3) % 4 + 7));
        }
    }
}
