//! Sweeps that serve several pairs, a stretch each: whatever lies at the borders, beside pairs that have a sweep to
//! themselves.

use super::{scores_agree, scorings};
use crate::common::random::Random;
use std::sync::Arc;
use swalign::alignment::Hit;
use swalign::batch::{Batch, Pair, STRETCH, Sequences, sweeps};
use swalign::engine::Engine;
use swalign::scoring::Scoring;

/// Query lengths at the seams of lanes and tiles, one of them too long for a tile.
const ROWS: [usize; 12] = [1, 8, 31, 33, 64, 104, 150, 152, 200, 256, 400, 512];
/// Stretches of a target.
const STRETCHES: usize = 3;

/// Targets in which parts of the queries end on both sides of each border, and all ways in which sweeps are cut there.
pub fn stretches_agree(engine: &mut dyn Engine) {
    // Every way in which kernels find scores.
    for (number, scoring) in
        scorings().iter().enumerate().filter(|(number, _)| [0, 3, 5, 6, 9].contains(number))
    {
        let (batch, pairs) = case(scoring, 700 + number as u64, &ROWS);
        let several = sweeps(&pairs).filter(|sweep| sweep.len() > 1).count();
        assert!(several > 2 * ROWS.len() && sweeps(&pairs).any(|sweep| sweep.len() == 1));
        let hits = scores_agree(engine, &batch, &pairs, &format!("stretches, scoring {number}"));
        let near_border =
            |(pair, hit): &(&Pair, &Hit)| hit.score > 0 && (hit.target_end - pair.start + 2) % STRETCH <= 4;
        let at_borders = pairs.iter().zip(&hits).filter(near_border).count();
        assert!(at_borders > 0, "some end where stretches meet");
    }
    let (batch, pairs) = case(&Scoring::dna(1, 4, 6, 1), 799, &[513, 20]);
    scores_agree(engine, &batch, &pairs, "stretches of grids");
}

fn case(scoring: &Scoring, seed: u64, rows: &[usize]) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(seed);
    let letters = super::letters(scoring, &mut random).max(3);
    let (mut queries, mut targets, mut pairs) = (Sequences::default(), Sequences::default(), Vec::new());
    for (index, &rows) in rows.iter().enumerate() {
        let query = random.codes(rows, letters);
        let len = STRETCHES * STRETCH as usize - random.pick(&[0, 0, 1, 700]);
        let mut target = random.codes(len, letters);
        let own = random.pick(&[0, 1, 40, 300]);
        let start = if own > 0 { random.below(60) } else { 0 };
        for border in (1..STRETCHES).map(|stretch| start + stretch * STRETCH as usize) {
            // Of two that are alike the first counts, whichever stretch it is in.
            let part = &query[..1 + random.below(rows)];
            for end in [border - random.below(3), border + part.len() + random.below(3)] {
                let first = end.saturating_sub(part.len());
                target.iter_mut().skip(first).zip(part).for_each(|(old, new)| *old = *new);
            }
        }
        let (query_place, target_place) = (index as u32, index as u32);
        let pair = |own: usize, end: usize| Pair {
            query: query_place,
            target: target_place,
            start: start as u32,
            own: own as u32,
            end: end as u32,
        };
        let mut borders: Vec<usize> =
            (1..STRETCHES).map(|stretch| start + stretch * STRETCH as usize).collect();
        borders.insert(0, start + own);
        borders.push(len);
        let whole: Vec<Pair> = borders.windows(2).map(|two| pair(two[0], two[1])).collect();
        // All of it; from the middle on; with a border left out; and one pair for everything.
        pairs.extend_from_slice(&whole);
        pairs.extend_from_slice(&whole[1 + index % 2..]);
        pairs.extend_from_slice(&whole[..2]);
        pairs.push(pair(start + own, len));
        pairs.extend([pair(borders[0], borders[2]), pair(borders[2], borders[3])]);
        queries.push(query);
        targets.push(target);
    }
    let batch =
        Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::new(scoring.clone()) };
    (batch, pairs)
}
