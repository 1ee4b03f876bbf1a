//! Several engines that use one device at the same time. The device runs their jobs together, and each engine must get
//! the results of its own jobs.

use super::agreement::{paths_agree, scores_agree};
use super::inputs::{batch, scorings};
use crate::common::random::Random;
use swalign::engine::Primitives;

/// Batches that each engine does.
const ROUNDS: usize = 4;

/// Scores and paths of each, of pairs of its own, of one size after another.
pub fn crowds_agree(engines: Vec<Box<dyn Primitives>>) {
    std::thread::scope(|scope| {
        for (number, mut engine) in engines.into_iter().enumerate() {
            scope.spawn(move || {
                let scorings = scorings();
                for round in 0..ROUNDS {
                    let case = format!("engine {number}, round {round}");
                    let mut random = Random::new((number * ROUNDS + round) as u64);
                    let most = [20, 150, 300, 700][(number + round) % 4];
                    let sizes: Vec<(usize, usize)> =
                        (0..30).map(|_| (1 + random.below(most), 1 + random.below(2 * most))).collect();
                    let scoring = &scorings[(3 * number + round) % scorings.len()];
                    let (batch, pairs) = batch(scoring, &sizes, 500 + (number * ROUNDS + round) as u64);
                    let hits = scores_agree(engine.as_mut(), &batch, &pairs, &case);
                    paths_agree(engine.as_mut(), &batch, &pairs, &hits, &case);
                }
            });
        }
    });
}
