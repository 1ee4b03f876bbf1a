//! Mates in parts of the references: the pair is chosen from the hits of all parts.
//!
//! A part has all hits that the whole may choose from, and the hits in their windows. The hits are cut to those of a
//! search of all references, and window hits count under the same conditions. docs/algorithm.md, section 16, shows that
//! nothing is missing.

use super::choose::{Ties, choose};
use super::rescue::{MateHits, in_order, is_apart};
use super::{CircleOf, Pairing};
use crate::align::hits::HitAt;
use crate::terms::alignment::{Alignment, QueryResult, Tier};

/// Parts of the references have no circular targets.
const NO_CIRCLES: CircleOf = &|_| None;

/// Hits of one mate in the parts of the references. Targets have their numbers in the whole set.
#[derive(Default)]
pub struct MateInParts {
    /// The hits of all parts, in any order.
    pub hits: Vec<HitInParts>,
    /// The highest score of a second hit among the parts.
    pub second: Option<i32>,
    /// The highest threshold of a further hit among the parts, since queries may have their own minimum scores.
    pub threshold: i32,
    pub tier: Tier,
}

/// A hit of a part.
pub struct HitInParts {
    pub alignment: Alignment,
    /// The best alignment of the other mate in the hit's window, if it may count.
    pub beside: Option<Alignment>,
}

impl Pairing {
    /// The reported hits of two mates of `lens` residues, those of the pair first.
    pub fn join(&self, mates: [MateInParts; 2], lens: [u32; 2]) -> [QueryResult; 2] {
        let [(one, beside_one), (other, beside_other)] = mates.map(|mate| self.cut(mate));
        let rescued = [self.rescued(&other, &one, &beside_other), self.rescued(&one, &other, &beside_one)];
        let mut found = [one, other];
        let ties = Ties { keeps_all: self.rules.keeps_ties, tie_break: None, record: 0, lens };
        choose(self, NO_CIRCLES, &mut found, rescued, ties);
        found
    }

    /// The hits of a mate that a search of all references finds, and the window alignment of each hit.
    fn cut(&self, mate: MateInParts) -> (QueryResult, Vec<Option<Alignment>>) {
        let MateInParts { mut hits, second: told, threshold, tier } = mate;
        hits.sort_by(|one, other| one.alignment.locus().order(&other.alignment.locus()));
        let rules = self.candidates();
        let at = |HitInParts { alignment: Alignment { target, score, .. }, .. }: &HitInParts| HitAt {
            target: *target,
            score: *score,
        };
        let (taken, second) = rules.cut(&hits.iter().map(at).collect::<Vec<_>>(), told);
        let mut taken = taken.into_iter().peekable();
        let hits = hits.into_iter().enumerate().filter(|(at, _)| taken.next_if_eq(at).is_some());
        let (alignments, beside): (Vec<_>, Vec<_>) = hits.map(|(_, hit)| (hit.alignment, hit.beside)).unzip();
        (QueryResult { alignments, second, threshold, tier, ..QueryResult::default() }, beside)
    }

    /// The alignments of the mate `other` that are found in the windows of its mate's hits.
    fn rescued(
        &self,
        own: &QueryResult,
        other: &QueryResult,
        beside: &[Option<Alignment>],
    ) -> Vec<Alignment> {
        let windows = MateHits::new(self, NO_CIRCLES, [&own.alignments, &other.alignments]);
        let counting = |(hit, found): (&Alignment, &Option<Alignment>)| {
            let found = found.as_ref().filter(|found| i64::from(found.score) >= windows.least(hit));
            found.filter(|_| windows.is_alone(hit)).cloned()
        };
        let mut counting: Vec<Alignment> = windows.hits.iter().zip(beside).filter_map(counting).collect();
        in_order(&mut counting, |alignment| (0, alignment.locus()));
        let mut rescued = Vec::new();
        for alignment in counting {
            if is_apart(&alignment, None, [self.among(&other.alignments), &rescued]) {
                rescued.push(alignment);
            }
        }
        rescued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::hits::Rules;
    use crate::terms::alignment::Strand;
    use crate::terms::insert::{InsertSize, Orientation};
    use crate::terms::scoring::Scoring;
    use smallvec::smallvec;

    fn at(strand: Strand, (target_start, target_end): (u32, u32), score: i32) -> Alignment {
        let (query_start, query_end) = (0, 25);
        let cigar = smallvec![];
        Alignment {
            strand,
            target: 0,
            score,
            query_start,
            query_end,
            target_start,
            target_end,
            cigar,
            shifts: Box::default(),
        }
    }

    /// Two windows contain overlapping alignments: the better alignment counts. If both end in the same cell, the
    /// alignment in the first hit's window counts.
    #[test]
    fn windows_that_overlap() {
        let insert = InsertSize { orientation: Orientation::Fr, mean: 100, deviation: 10 };
        let rules = Rules { min_score: 20, secondary_ppm: 800_000, ..Rules::BEST };
        let pairing = Pairing::new(insert, rules, &Scoring::dna(1, 4, 6, 1));
        let of_first = [((190, 210), 16), ((195, 215), 18), ((190, 210), 14)];
        let of_second = [((188, 215), 18), ((188, 215), 18), ((188, 215), 14)];
        let expected = [Some((188, 215)), Some((195, 215)), None];
        for ((one, other), expected) in of_first.into_iter().zip(of_second).zip(expected) {
            let hit = |place, score, (window, found): ((u32, u32), i32)| HitInParts {
                alignment: at(Strand::Forward, place, score),
                beside: Some(at(Strand::Reverse, window, found)),
            };
            // The part with the better hit comes last.
            let hits = vec![hit((150, 200), 49, other), hit((100, 150), 50, one)];
            let found = pairing
                .join([MateInParts { hits, ..MateInParts::default() }, MateInParts::default()], [25; 2]);
            let [first, second] = found.map(|found| found.alignments.first().cloned());
            assert_eq!(first.map(|hit| hit.score), Some(50));
            assert_eq!(second.map(|hit| (hit.target_start, hit.target_end)), expected);
        }
    }
}
