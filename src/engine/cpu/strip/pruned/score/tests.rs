//! Pruned sweeps against complete ones, which are tested against the specification.

use super::PrunedSweep;
use crate::engine::Edges;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::cpu::strip::Rectangle;
use crate::engine::cpu::striped::{StripedSweep, WindowSize};
use crate::engine::potential::PotentialBehind;
use crate::terms::alignment::HitEnd;
use crate::terms::random::Random;
use crate::terms::scoring::Scoring;

/// Compares the pruned sweeps of all instruction sets with a complete one. Returns how many found the cell.
fn agrees(query: &[u8], target: &[u8], scoring: &Scoring, own: usize, cells: u64) -> usize {
    let rectangle = Rectangle { query, target, scoring };
    let size = |set: InstructionSet| WindowSize::of(scoring, set.lanes(2)).expect("a window");
    let set = InstructionSet::best();
    let (_, best) = set.run(StripedSweep { rectangle, edges: &Edges::default(), own, size: size(set) });
    let potential = &PotentialBehind::new(query, target, scoring).expect("words of these lengths");
    let mut found = 0;
    for set in InstructionSet::available() {
        let most = cells / set.lanes(4) as u64;
        let sweep = |least| PrunedSweep { rectangle, own, potential, least, most };
        let hit = set.run(sweep(None));
        assert!(hit.is_none_or(|hit| hit == best), "{set}, {scoring}, own {own}: {hit:?} for {best:?}");
        found += usize::from(hit.is_some());
        for less in [0, 1, 20, best.score / 8] {
            let hit = set.run(sweep(Some(best.score - less)));
            assert!(hit.is_none_or(|hit| hit == best), "{set}, {scoring}, {less} less: {hit:?} for {best:?}");
        }
        let hit = set.run(sweep(Some(best.score + 1)));
        assert!(hit.is_none_or(|hit| hit.score <= best.score), "{set}, {scoring}: {hit:?} for {best:?}");
    }
    found
}

fn scorings() -> Vec<Scoring> {
    let of = |(match_, mismatch, open, extend)| Scoring::dna(match_, mismatch, open, extend);
    let mut all = [(2, 4, 4, 2), (1, 4, 6, 1), (1, 1, 0, 2), (5, 4, 8, 6), (40, 50, 30, 4)].map(of).to_vec();
    all.push(all[0].clone().with_gap_piece(24, 1).expect("two pieces"));
    all.push(all[3].clone().with_gap_piece(20, 2).expect("two pieces"));
    all
}

#[test]
fn pairs_that_are_alike_take_few_cells() {
    let mut random = Random::new(21);
    let sets = InstructionSet::available().len();
    // If gaps cost almost nothing compared with matches, alignments of nearly the same score spread far.
    for scoring in &scorings()[..4] {
        for (len, edits) in [(1500, 1000), (2000, 40), (2600, 60)] {
            let target = random.codes(len, 4);
            let query = random.like(&target, len, 4, edits);
            let third = (len * len / 3) as u64;
            assert_eq!(agrees(&query, &target, scoring, 0, third), sets, "{len}, {edits}, {scoring}");
        }
    }
}

/// The best alignment crosses an inversion: the cells after it are far from the most promising cells.
#[test]
fn an_inversion_takes_few_cells() {
    let mut random = Random::new(24);
    let scoring = &scorings()[0];
    let target = random.codes(8_000, 4);
    let mut query = random.like(&target, 8_000, 4, 40);
    let inverted: Vec<u8> = query[4_000..4_400].iter().rev().map(|code| code ^ 3).collect();
    query.splice(4_000..4_400, inverted);
    let third = 8_000 * 8_000 / 3;
    assert_eq!(agrees(&query, &target, scoring, 0, third), InstructionSet::available().len());
}

/// Cases in which a pass misses the best alignment or covers everything: long gaps, unrelated ends and middles, repeats
/// in which several alignments score the same, codes that match nothing, and ends that don't count.
#[test]
fn pruned_sweeps_agree_with_whole_ones() {
    let mut random = Random::new(22);
    let mut found = 0;
    for scoring in scorings() {
        for kind in 0..10 {
            let len = 200 + random.below(900);
            let mut target = random.codes(len, 4);
            let edits = 10 + random.below(60);
            let mut query = random.like(&target, len, 4, edits);
            let place = random.below(len);
            let gap = 1 + random.below(len / 2);
            match kind {
                0 => query.drain(place..len.min(place + gap)).for_each(drop),
                1 => target.drain(place..len.min(place + gap)).for_each(drop),
                2 => query.splice(place..place, random.codes(gap, 4)).for_each(drop),
                3 => query.rotate_left(place),
                4 => query.splice(..place, random.codes(place, 4)).for_each(drop),
                5 => query.splice(place.., random.codes(gap, 4)).for_each(drop),
                6 => target = target[..1 + place / 8].repeat(8),
                7 => query = target[..1 + place / 4].repeat(3),
                8 => (0..place).step_by(7).for_each(|at| query[at] = 14),
                _ => target.extend(query.clone()),
            }
            let own = if random.below(2) == 0 { random.below(target.len()) } else { 0 };
            found += agrees(&query, &target, &scoring, own, u64::MAX >> 1);
        }
    }
    assert!(found > 25 * InstructionSet::available().len(), "{found}");
}

#[test]
fn what_takes_too_much_is_not_done() {
    let mut random = Random::new(23);
    let target = random.codes(900, 4);
    let query = random.like(&target, 900, 4, 20);
    assert_eq!(agrees(&query, &target, &scorings()[0], 0, 100), 0);
    let (rectangle, set) =
        (Rectangle { query: &query, target: &target, scoring: &scorings()[0] }, InstructionSet::best());
    let potential = &PotentialBehind::new(&query, &target, &scorings()[0]).expect("words");
    let sweep = PrunedSweep { rectangle, own: 899, potential, least: None, most: u64::MAX >> 1 };
    let hit = set.run(sweep);
    assert_ne!(hit, Some(HitEnd::default()));
}
