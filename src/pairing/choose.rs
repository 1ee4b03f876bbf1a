//! The choice among the pairs of two mates' hits, and what it says of their mapping qualities.

use super::{CircleOf, Pairing};
use crate::alignment::{Alignment, Found, Mated};
use crate::quality::{self, PairScores, quality_of};
use std::cmp::Reverse;

/// What a mapping quality may gain from the mate; bwa's.
const MOST_GAIN: u8 = 40;

/// A pair of hits by their places among those of each mate.
#[derive(Clone, Copy)]
struct Choice {
    score: i64,
    places: [usize; 2],
    /// Distance of the 5' ends.
    insert: u32,
}

/// Chooses the hits of two mates. `found` has the hits of each, and gets those that are reported, the one of the pair
/// first.
pub fn choose(pairing: &Pairing, circle_of: CircleOf, found: &mut [Found], rescued: [Vec<Alignment>; 2]) {
    let best = [0, 1].map(|mate| found[mate].alignments.first().map_or(0, |hit| i64::from(hit.score)));
    let alone = best[0] + best[1] - i64::from(pairing.unpaired);
    let [first, second] = rescued;
    let hits = [with(pairing, &found[0], first), with(pairing, &found[1], second)];
    let mut choices = choices(pairing, circle_of, &hits, alone);
    // Of equal pairs the one whose first mate's hit comes first, then the second one's.
    choices.sort_by_key(|choice| (Reverse(choice.score), choice.places));
    let Some(chosen) = choices.first() else {
        for (mate, found) in found.iter_mut().enumerate() {
            found.quality = Some(own_quality(pairing, found, found.alignments.first()));
            report(pairing, circle_of, found, None);
            found.mated = Some(Mated { is_first: mate == 0, insert: None });
        }
        return;
    };
    let together = quality_together(pairing, &choices, alone);
    let [first, second] = hits;
    for (mate, mut hits) in [first, second].into_iter().enumerate() {
        let (found, place) = (&mut found[mate], chosen.places[mate]);
        let hit = hits.swap_remove(place);
        if place > 0 {
            found.second = found.alignments.first().map(|best| best.score);
        }
        let own = own_quality(pairing, found, Some(&hit));
        let quality = if own > together { own } else { together.min(own.saturating_add(MOST_GAIN)) };
        found.quality = Some(quality);
        report(pairing, circle_of, found, Some(hit));
        found.mated = Some(Mated { is_first: mate == 0, insert: Some(chosen.insert) });
    }
}

/// The hits of a mate to choose from and those in windows, in the order of all hits.
fn with(pairing: &Pairing, found: &Found, rescued: Vec<Alignment>) -> Vec<Alignment> {
    let mut hits = pairing.among(&found.alignments).to_vec();
    if !rescued.is_empty() {
        hits.extend(rescued);
        hits.sort_by(|one, other| one.locus().order(&other.locus()));
    }
    hits
}

/// All proper pairs that beat the best hits alone.
fn choices(pairing: &Pairing, circle_of: CircleOf, hits: &[Vec<Alignment>; 2], alone: i64) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (first, one) in hits[0].iter().enumerate() {
        for (second, other) in hits[1].iter().enumerate() {
            let circle = circle_of(one.target);
            let Some(insert) = pairing.insert.of(one, other, circle) else { continue };
            let sum = i64::from(one.score) + i64::from(other.score);
            let score = pairing.insert.pair_score(sum, insert, pairing.scores.match_);
            if score > alone {
                choices.push(Choice { score, places: [first, second], insert });
            }
        }
    }
    choices
}

/// The mapping quality of the best of `choices`, which are in order; bwa's `mem_sam_pe`.
fn quality_together(pairing: &Pairing, choices: &[Choice], alone: i64) -> u8 {
    let best = choices.first().map_or(alone, |choice| choice.score);
    let second = choices.get(1).map_or(alone, |choice| choice.score);
    let PairScores { match_, close, .. } = pairing.scores;
    let others = choices.iter().skip(1).filter(|choice| second - choice.score <= close).count();
    quality::of_pair(best - second, match_, others)
}

/// The mapping quality that a hit has by itself.
fn own_quality(pairing: &Pairing, found: &Found, hit: Option<&Alignment>) -> u8 {
    let sub = (found.second, found.threshold);
    hit.map_or(0, |hit| quality_of(&pairing.scores.typical, hit.span(), hit.score, sub))
}

/// Keeps the hits that are reported, `chosen` or the best one first.
fn report(pairing: &Pairing, circle_of: CircleOf, found: &mut Found, chosen: Option<Alignment>) {
    let Some(best) = found.alignments.first().map(|best| best.score) else {
        found.alignments.extend(chosen);
        return;
    };
    let rules = &pairing.rules;
    let least = rules.threshold(best);
    let overlaps = |chosen: &Alignment, hit: &Alignment| chosen.overlaps(hit, circle_of(hit.target));
    let is_taken = |hit: &Alignment| chosen.as_ref().is_some_and(|chosen| overlaps(chosen, hit));
    found.alignments.retain(|hit| hit.score >= least && !is_taken(hit));
    if let Some(chosen) = chosen {
        found.alignments.insert(0, chosen);
    }
    found.alignments.truncate(rules.max_hits);
    found.alignments.shrink_to_fit();
}
