//! Mates in parts of the references: the pair is chosen from the hits of all parts.
//!
//! A part has all hits that the whole may choose from, and what the windows beside them hold. Here the hits are cut to
//! those of the whole, and windows count where they do in a run of the whole. docs/algorithm.md, section 16, shows that
//! nothing is missing.

use super::Pairing;
use super::choose::choose;
use super::rescue::{Beside, in_order, is_apart};
use crate::alignment::{Alignment, Found};

/// What the parts of the references have of one mate. Targets have their numbers among all.
#[derive(Default)]
pub struct MateInParts {
    /// The hits of all parts, in any order.
    pub hits: Vec<HitInParts>,
    /// The greatest score of a second hit that a part tells.
    pub second: Option<i32>,
}

/// A hit of a part.
pub struct HitInParts {
    pub alignment: Alignment,
    /// The best alignment of the other mate in the window beside it, where one may count.
    pub beside: Option<Alignment>,
}

impl Pairing {
    /// The hits of two mates that are reported, those of the pair first.
    pub fn join(&self, mates: [MateInParts; 2]) -> [Found; 2] {
        let [(one, beside_one), (other, beside_other)] = mates.map(|mate| self.cut(mate));
        let rescued = [self.rescued(&other, &one, &beside_other), self.rescued(&one, &other, &beside_one)];
        let mut found = [one, other];
        choose(self, &mut found, rescued);
        found
    }

    /// What a run of all references finds of a mate, and what is beside each hit.
    fn cut(&self, mate: MateInParts) -> (Found, Vec<Option<Alignment>>) {
        let MateInParts { mut hits, second: told } = mate;
        hits.sort_by(|one, other| one.alignment.locus().order(&other.alignment.locus()));
        let (mut alignments, mut beside): (Vec<_>, Vec<_>) =
            hits.into_iter().map(|hit| (hit.alignment, hit.beside)).unzip();
        let rules = self.candidates();
        let (count, second) = rules.cut(&alignments, told);
        alignments.truncate(count);
        beside.truncate(count);
        let threshold = alignments.first().map_or(rules.min_score, |best| rules.threshold(best.score));
        (Found { alignments, second, threshold, ..Found::default() }, beside)
    }

    /// The alignments of the mate `other` that are found beside the hits of its mate.
    fn rescued(&self, own: &Found, other: &Found, beside: &[Option<Alignment>]) -> Vec<Alignment> {
        let windows = Beside::new(self, &own.alignments, &other.alignments);
        let counting = |(hit, found): (&Alignment, &Option<Alignment>)| {
            let found = found.as_ref().filter(|found| i64::from(found.score) >= windows.least(hit));
            found.filter(|_| windows.is_alone(hit)).cloned()
        };
        let mut counting: Vec<Alignment> = windows.hits.iter().zip(beside).filter_map(counting).collect();
        in_order(&mut counting, |alignment| (0, alignment.locus()));
        let mut rescued = Vec::new();
        for alignment in counting {
            if is_apart(&alignment, self.among(&other.alignments), &rescued) {
                rescued.push(alignment);
            }
        }
        rescued
    }
}
