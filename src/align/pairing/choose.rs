//! Choice among the pairs of two mates' hits, and the resulting mapping qualities.

use super::{CircleOf, Pairing};
use crate::align::hits::TieBreak;
use crate::align::quality::{self, PairScores, quality_of};
use crate::terms::alignment::{Alignment, Mated, QueryResult, Tier};
use std::cmp::Reverse;

/// Maximum gain of a mapping quality from the mate; bwa's.
const MOST_GAIN: u8 = 40;

/// A pair of hits by their indices among the hits of each mate.
#[derive(Clone, Copy)]
struct HitPair {
    score: i64,
    places: [usize; 2],
    /// Distance of the 5' ends.
    insert: u32,
}

/// Treatment of equal pairs.
#[derive(Clone, Copy)]
pub struct Ties<'a> {
    /// Whether all of them are reported.
    pub keeps_all: bool,
    /// Tie break among them, if it is not their order.
    pub tie_break: Option<TieBreak<'a>>,
    /// Record of the first mate.
    pub record: u32,
    /// The query lengths of the mates.
    pub lens: [u32; 2],
}

impl Ties<'_> {
    /// The choice among equal pairs of these hits, which are in order.
    fn chosen(&self, tied: &[HitPair], hits: &[Vec<Alignment>; 2]) -> Option<HitPair> {
        let Some(tie_break) = &self.tie_break else { return tied.first().copied() };
        let of = |choice: &&HitPair| {
            let [one, other] = choice.places;
            tie_break.priority(self.record, &[&hits[0][one], &hits[1][other]])
        };
        tied.iter().min_by_key(of).copied()
    }
}

/// Chooses the hits of two mates. `found` has the hits of each mate. They are replaced by the reported hits, with the
/// hit of the pair first.
pub fn choose(
    pairing: &Pairing,
    circle_of: CircleOf,
    found: &mut [QueryResult],
    rescued: [Vec<Alignment>; 2],
    ties: Ties,
) {
    let best = [0, 1].map(|mate| found[mate].alignments.first().map_or(0, |hit| i64::from(hit.score)));
    let alone = best[0] + best[1] - i64::from(pairing.unpaired);
    let [first, second] = rescued;
    let hits = [with(pairing, &found[0], first), with(pairing, &found[1], second)];
    let mut choices = choices(pairing, circle_of, &hits, alone);
    // Among equal pairs, the pair whose first mate's hit comes first wins, then the pair whose second mate's hit does.
    choices.sort_by_key(|choice| (Reverse(choice.score), choice.places));
    let tied: Vec<HitPair> =
        choices.iter().take_while(|choice| choice.score == choices[0].score).copied().collect();
    let Some(chosen) = ties.chosen(&tied, &hits) else {
        for (mate, found) in found.iter_mut().enumerate() {
            found.quality = Some(own_quality(pairing, found, found.alignments.first(), ties.lens[mate]));
            let chosen =
                ties.tie_break.and_then(|tie_break| tie_break.chosen(ties.record, &found.alignments));
            report(pairing, circle_of, found, chosen.map(|hit| (hit.clone(), Vec::new())));
            found.mated = Some(Mated { is_first: mate == 0, insert: None });
        }
        return;
    };
    let together = quality_together(pairing, &choices, alone);
    let tied = tied.iter().filter(|_| ties.keeps_all);
    let tied: Vec<[usize; 2]> = tied.map(|choice| choice.places).collect();
    for (mate, hits) in hits.iter().enumerate() {
        let (found, place) = (&mut found[mate], chosen.places[mate]);
        let hit = hits[place].clone();
        if place > 0 {
            found.second = found.alignments.first().map(|best| best.score);
        }
        let own = own_quality(pairing, found, Some(&hit), ties.lens[mate]);
        let quality = if own > together { own } else { together.min(own.saturating_add(MOST_GAIN)) };
        found.quality = Some(quality);
        if !found.alignments.contains(&hit) {
            // The hit is the best alignment in the window of its mate's hit, with or without a run.
            found.tier = Tier::Proven;
        }
        let tied = tied.iter().map(|places| &hits[places[mate]]);
        report(pairing, circle_of, found, Some((hit, tied.collect())));
        found.mated = Some(Mated { is_first: mate == 0, insert: Some(chosen.insert) });
    }
}

/// The hits of a mate to choose from, including those in windows, in the order of hits.
fn with(pairing: &Pairing, found: &QueryResult, rescued: Vec<Alignment>) -> Vec<Alignment> {
    let mut hits = pairing.among(&found.alignments).to_vec();
    if !rescued.is_empty() {
        hits.extend(rescued);
        hits.sort_by(|one, other| one.locus().order(&other.locus()));
    }
    hits
}

/// All proper pairs that beat the best hits alone.
fn choices(pairing: &Pairing, circle_of: CircleOf, hits: &[Vec<Alignment>; 2], alone: i64) -> Vec<HitPair> {
    let scoring = pairing.scoring();
    let mut choices = Vec::new();
    for (first, one) in hits[0].iter().enumerate() {
        for (second, other) in hits[1].iter().enumerate() {
            let Some((insert, score)) = scoring.of(one, other, circle_of(one.target)) else { continue };
            if score > alone {
                choices.push(HitPair { score, places: [first, second], insert });
            }
        }
    }
    choices
}

/// The mapping quality of the best of `choices`, which are in order; bwa's `mem_sam_pe`.
fn quality_together(pairing: &Pairing, choices: &[HitPair], alone: i64) -> u8 {
    let best = choices.first().map_or(alone, |choice| choice.score);
    let second = choices.get(1).map_or(alone, |choice| choice.score);
    let PairScores { match_, close, .. } = pairing.scores;
    let others = choices.iter().skip(1).filter(|choice| second - choice.score <= close).count();
    quality::of_pair(best - second, match_, others)
}

/// Mapping quality of a hit of a query of `len` residues, without its mate.
fn own_quality(pairing: &Pairing, found: &QueryResult, hit: Option<&Alignment>, len: u32) -> u8 {
    let quality = |hit: &Alignment| {
        let PairScores { typical, end_bonus, .. } = &pairing.scores;
        let bonus = hit.bonus(len, *end_bonus);
        let sub = (found.second.map(|second| second - bonus), found.threshold - bonus);
        quality_of(typical, hit.span(), hit.score - bonus, sub)
    };
    hit.map_or(0, quality)
}

/// Keeps the reported hits, the chosen or the best one first. If ties are kept, the chosen hit is followed by all hits
/// of this mate in pairs that score the same as the chosen pair.
fn report(
    pairing: &Pairing,
    circle_of: CircleOf,
    found: &mut QueryResult,
    chosen: Option<(Alignment, Vec<&Alignment>)>,
) {
    let rules = &pairing.rules;
    let (chosen, tied) = chosen.map_or((None, Vec::new()), |(chosen, tied)| (Some(chosen), tied));
    let overlaps = |chosen: &Alignment, hit: &Alignment| chosen.overlaps(hit, circle_of(hit.target));
    let is_taken = |hit: &Alignment| chosen.as_ref().is_some_and(|chosen| overlaps(chosen, hit));
    let mut tied: Vec<&Alignment> = tied.into_iter().filter(|hit| !is_taken(hit)).collect();
    tied.sort_by(|one, other| one.locus().order(&other.locus()));
    tied.dedup();
    let is_tied = |hit: &Alignment| {
        tied.binary_search_by(|known| known.locus().order(&hit.locus())).is_ok_and(|at| tied[at] == hit)
    };
    let hits = &mut found.alignments;
    let least = hits.first().map_or(i32::MAX, |best| rules.threshold(best.score));
    hits.retain(|hit| !is_taken(hit) && !is_tied(hit) && hit.score >= least);
    hits.extend(tied.iter().map(|&hit| hit.clone()));
    hits.sort_by(|one, other| one.locus().order(&other.locus()));
    if let Some(chosen) = chosen {
        hits.insert(0, chosen);
    }
    if hits.len() > rules.max_hits {
        let last = hits[rules.max_hits - 1].score;
        let mut further = hits.split_off(rules.max_hits);
        further.retain(|hit| rules.keeps_ties && (hit.score >= last || is_tied(hit)));
        hits.append(&mut further);
    }
    hits.shrink_to_fit();
}
