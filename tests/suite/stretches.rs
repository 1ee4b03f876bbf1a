//! Sweeps that score several pairs, one stretch of columns for each: cases at the borders of stretches, mixed with pairs
//! that have a sweep of their own.

use super::agreement::scores_agree;
use super::inputs::{self, scorings};
use crate::common::{batches, random::Random};
use swalign::engine::Primitives;
use swalign::terms::alignment::HitEnd;
use swalign::terms::batch::{Batch, Pair, STRETCH, Sequences, sweeps};
use swalign::terms::scoring::Scoring;

/// Query lengths at the seams of lanes and tiles.
pub const ROWS: [usize; 14] = [1, 8, 31, 33, 64, 104, 128, 150, 200, 256, 300, 380, 400, 512];
/// The same where many sweeps have one query.
pub const SHARED_ROWS: [usize; 5] = [20, 64, 65, 200, 257];
/// Sweeps of one query that make a workgroup share its profile.
const SHARING: u32 = 33;

/// Targets in which parts of the queries end on both sides of each border, and all ways in which sweeps are cut there.
/// Takes one in `one_in` scorings.
pub fn stretches_agree(engine: &mut dyn Primitives, one_in: usize) {
    // Every way in which kernels find scores.
    for number in [0, 5, 6, 9, 10].into_iter().step_by(one_in) {
        let (batch, pairs) = case(&scorings()[number], 700 + number as u64, &ROWS);
        let several = sweeps(&pairs).filter(|sweep| sweep.len() > 1).count();
        assert!(several >= 2 * ROWS.len() && sweeps(&pairs).any(|sweep| sweep.len() == 1));
        let hits = scores_agree(engine, &batch, &pairs, &format!("stretches, scoring {number}"));
        let near_border = |(pair, hit): &(&Pair, &HitEnd)| {
            hit.score > 0 && (hit.target_end - pair.start + 2) % STRETCH <= 4
        };
        let at_borders = pairs.iter().zip(&hits).filter(near_border).count();
        assert!(at_borders > 0, "some end where stretches meet");
    }
    let (batch, pairs) = case(&scorings()[0], 799, &[513, 20]);
    scores_agree(engine, &batch, &pairs, "stretches of grids");
    let (batch, pairs) = shared(&scorings()[6]);
    scores_agree(engine, &batch, &pairs, "stretches of sweeps with one query");
}

/// Stretches of each of these numbers of rows.
pub fn case(scoring: &Scoring, seed: u64, rows: &[usize]) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(seed);
    let letters = inputs::letters(scoring, &mut random).max(3);
    let (mut queries, mut targets, mut pairs) = (Sequences::default(), Sequences::default(), Vec::new());
    for (place, &rows) in rows.iter().enumerate() {
        let query = random.codes(rows, letters);
        let (start, own) = random.pick(&[(0, 0), (0, 0), (7, 8), (59, 99), (30, 330)]);
        let borders = [own, start + STRETCH, start + 2 * STRETCH];
        let end = borders[2] + random.pick(&[1, 2, 31, 700]);
        let mut target = random.codes(end as usize, letters);
        for &border in &borders[1..] {
            // Of two that are alike the first counts, whichever stretch it is in.
            let part = &query[..1 + random.below(rows)];
            for end in [border as usize - random.below(3), border as usize + part.len() + random.below(3)] {
                let first = end.saturating_sub(part.len());
                target.iter_mut().skip(first).zip(part).for_each(|(old, new)| *old = *new);
            }
        }
        let pair = |own, end| Pair { query: place as u32, target: place as u32, start, own, end };
        let [first, second, third] = [(own, borders[1]), (borders[1], borders[2]), (borders[2], end)];
        // All of it; from the second on; with a border left out; and in some one pair for everything.
        pairs.extend([first, second, third].map(|(own, end)| pair(own, end)));
        pairs.extend([second, third].map(|(own, end)| pair(own, end)));
        pairs.extend([pair(own, borders[2]), pair(borders[2], end)]);
        pairs.extend((place % 3 == 0).then(|| pair(own, end)));
        queries.push(query);
        targets.push(target);
    }
    let batch = batches::of(queries, targets, scoring.clone());
    (batch.with_ends(), pairs)
}

/// Many sweeps of each query, which begin in different columns.
pub fn shared(scoring: &Scoring) -> (Batch, Vec<Pair>) {
    let mut random = Random::new(800);
    let queries: Vec<Vec<u8>> = SHARED_ROWS.iter().map(|&rows| random.codes(rows, 27)).collect();
    let end = STRETCH + 100;
    let target = random.codes(end as usize, 27);
    let mut pairs = Vec::new();
    for (query, start) in
        (0..queries.len() as u32).flat_map(|query| (0..SHARING).map(move |start| (query, start)))
    {
        let border = start + STRETCH;
        pairs.push(Pair { query, target: 0, start, own: start, end: border });
        pairs.push(Pair { query, target: 0, start, own: border, end });
    }
    let batch = batches::of(&queries, [target.as_slice()], scoring.clone());
    (batch, pairs)
}
