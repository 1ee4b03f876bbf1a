//! Paths over pruned cells, compared with those of the specification.

use super::PrunedTrace;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::cpu::strip::Rectangle;
use crate::engine::plain::Plain;
use crate::engine::potential::PotentialBehind;
use crate::engine::{Block, Engine, Paths, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::bounds::{band, least_score};
use crate::terms::random::Random;
use crate::terms::scoring::{AlignmentMode, Scoring};
use std::sync::Arc;

#[test]
fn paths_are_those_of_the_specification() {
    let mut random = Random::new(31);
    let scorings = [(2, 4, 4, 2), (1, 4, 6, 1), (1, 1, 0, 2), (5, 4, 8, 6)];
    let affine =
        scorings.map(|(match_, mismatch, open, extend)| Scoring::dna(match_, mismatch, open, extend));
    let two = [(0, 24, 1), (3, 20, 2), (2, 4, 1)];
    let two = two.map(|(at, open, extend): (usize, i32, i32)| {
        affine[at].clone().with_gap_piece(open, extend).expect("two pieces")
    });
    for (number, scoring) in affine.into_iter().chain(two).enumerate() {
        let scoring = Arc::new(scoring);
        for kind in 0..7 {
            let len = 100 + random.below(500);
            let edits = 8 + random.below(50);
            let mut target = random.codes(len, 4);
            let mut query = random.like(&target, len, 4, edits);
            let (place, gap) = (random.below(len), 1 + random.below(60));
            match kind {
                0 => query.drain(place..len.min(place + gap)).for_each(drop),
                1 => target.drain(place..len.min(place + gap)).for_each(drop),
                2 => query.splice(..place / 2, random.codes(gap, 4)).for_each(drop),
                // Several paths of equal score.
                3 => (query, target) = (target[..1 + place / 8].repeat(6), target[..1 + place / 8].repeat(7)),
                4 => (0..place).step_by(9).for_each(|at| query[at] = 14),
                _ => target = [random.codes(gap, 4), target, random.codes(gap, 4)].concat(),
            }
            let sequences = |codes: &[u8]| Arc::new(std::iter::once(codes).collect());
            let (queries, targets) = (sequences(&query), sequences(&target));
            let batch = Batch { queries, targets, scoring: Arc::clone(&scoring) };
            let pair = Pair { query: 0, target: 0, start: 0, own: 0, end: target.len() as u32 };
            let hit = Plain::new().score(&batch, &[pair]).expect("a score")[0];
            let band = band(&query[..hit.query_end as usize], hit.score, &scoring);
            let start = hit.target_end.saturating_sub(hit.query_end.saturating_add(band.deletions));
            let HitEnd { query_end, target_end, .. } = hit;
            let window = Window { query: 0, target: 0, start, query_end, target_end, band, score: 0 };
            let expected = Plain::new().paths(&batch, &[window]).expect("a path");
            let (query, target) = Block::whole(&window).codes(&batch);
            let rectangle = Rectangle { query, target, scoring: &scoring };
            let potential = &PotentialBehind::new(query, target, &scoring).expect("words");
            for score in [hit.score, least_score(query, window.band, &scoring) as i32] {
                for set in InstructionSet::available() {
                    let kept = [1, 300, 1 << 20][random.below(3)];
                    let between = [1, 5000, 1 << 26][random.below(3)];
                    let front_columns = [1, 500, 1 << 22][random.below(3)];
                    let trace = PrunedTrace {
                        rectangle,
                        window: &window,
                        score,
                        potential,
                        most: u64::MAX,
                        kept,
                        between,
                        front_columns,
                    };
                    let path = set.run(trace).expect("a path in its cells").expect("room for all cells");
                    let path = Paths::of(vec![path.into_runs(AlignmentMode::Local)]);
                    let runs = |paths: &Paths| paths.runs(0).expect("a path").collect::<Vec<_>>();
                    assert_eq!(
                        runs(&path),
                        runs(&expected),
                        "{number} {kind} {set} {score} {kept} {between} {front_columns} {hit:?}"
                    );
                    let trace = PrunedTrace { most: 9, ..trace };
                    assert!(set.run(trace).expect("no path").is_none(), "more than 9 cells");
                }
            }
        }
    }
}
