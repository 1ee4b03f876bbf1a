//! Windows of one query with equal bases, of which only the first is scored.
//!
//! A read of a repeat may have very many windows, and copies without differences have equal ones. A score depends on the
//! residues of the window alone, so the others get the same hit, moved to their columns.

use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::to_u32;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use std::hash::BuildHasher;

/// Minimum number of successive pairs of a query: fewer are scored as fast as they are compared.
const SEVERAL: usize = 4;
/// Maximum number of columns of a compared window.
const COLUMNS: u32 = 1 << 14;

/// Pairs without those whose window equals an earlier one of the same query.
pub struct DistinctWindows {
    pub pairs: Vec<Pair>,
    /// For each of all pairs, the number of the distinct pair with its window.
    of: Vec<u32>,
}

impl DistinctWindows {
    /// `None` if all windows are distinct, as far as they are compared. They are in local mode alone, in which a hit ends in
    /// a column of its window.
    pub fn of(batch: &Batch, pairs: &[Pair]) -> Option<DistinctWindows> {
        let of_queries: Vec<&[Pair]> = pairs.chunk_by(|one, next| one.query == next.query).collect();
        if !batch.scoring.mode.is_local() || of_queries.iter().all(|own| own.len() < SEVERAL) {
            return None;
        }
        let hasher = RandomState::default();
        let firsts: Vec<Vec<u32>> = of_queries.par_iter().map(|own| firsts(batch, own, &hasher)).collect();
        let (mut distinct, mut of) = (Vec::new(), Vec::with_capacity(pairs.len()));
        for (own, firsts) in of_queries.into_iter().zip(firsts) {
            let before = of.len();
            for (number, pair) in own.iter().enumerate() {
                match firsts.get(number).map(|&first| first as usize).filter(|&first| first < number) {
                    Some(first) => of.push(of[before + first]),
                    None => {
                        of.push(to_u32(distinct.len()));
                        distinct.push(*pair);
                    }
                }
            }
        }
        (distinct.len() < pairs.len()).then_some(DistinctWindows { pairs: distinct, of })
    }

    /// The hits of all pairs, from those of the distinct ones.
    pub fn hits_of_all(&self, pairs: &[Pair], distinct: &[HitEnd]) -> Vec<HitEnd> {
        let hit = |(pair, &number): (&Pair, &u32)| {
            let (hit, first) = (distinct.get(number as usize)?, self.pairs[number as usize]);
            let target_end = pair.start + hit.target_end.saturating_sub(first.start);
            Some(if hit.is_none() { *hit } else { HitEnd { target_end, ..*hit } })
        };
        pairs.iter().zip(&self.of).map_while(hit).collect()
    }
}

/// For each pair of a query, the number of the first one with the same window. Empty if there are few pairs.
fn firsts(batch: &Batch, own: &[Pair], hasher: &RandomState) -> Vec<u32> {
    if own.len() < SEVERAL {
        return Vec::new();
    }
    let window = |pair: &Pair| {
        let codes = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
        (pair.own - pair.start, codes)
    };
    // Pairs with many columns count as distinct.
    let is_compared = |pair: &Pair| pair.cols() <= COLUMNS;
    let hash = |(number, pair): (u32, &Pair)| (hasher.hash_one(window(pair)), number);
    let compared = (0..).zip(own).filter(|(_, pair)| is_compared(pair));
    let mut hashes: Vec<(u64, u32)> = compared.map(hash).collect();
    hashes.sort_unstable();
    let mut firsts: Vec<u32> = (0..to_u32(own.len())).collect();
    for same in hashes.chunk_by(|one, next| one.0 == next.0) {
        let first = same[0].1;
        for &(_, number) in &same[1..] {
            if window(&own[number as usize]) == window(&own[first as usize]) {
                firsts[number as usize] = first;
            }
        }
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::plain::Plain;
    use crate::terms::scoring::{AlignmentMode, Scoring};
    use std::sync::Arc;

    /// A target with three copies of a stretch, and windows on copies, partly on copies, and elsewhere.
    #[test]
    fn equal_windows_are_scored_once() {
        let mut state = 5u64;
        let mut codes = |len: usize| -> Vec<u8> {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 62) as u8
            };
            (0..len).map(|_| next()).collect()
        };
        let (copy, between) = (codes(60), codes(25));
        let target = [&codes(10)[..], &copy, &between, &copy, &codes(31), &copy, &codes(90)].concat();
        let targets = Arc::new([&target[..], &copy].into_iter().collect());
        let queries = Arc::new([&copy[5..40], &between, &copy[..3]].into_iter().collect());
        let scoring = Scoring::dna(2, 4, 4, 2);
        let batch = Batch { queries, targets, scoring: Arc::new(scoring.clone()) };
        let mut pairs = Vec::new();
        for query in 0..3 {
            for (start, own, end) in [
                (10, 10, 70),
                (10, 14, 70),
                (95, 95, 155),
                (95, 99, 155),
                (186, 186, 246),
                (9, 9, 69),
                (250, 250, 310),
            ] {
                pairs.push(Pair { query, target: 0, start, own, end });
            }
            pairs.push(Pair { query, target: 1, start: 0, own: 0, end: 60 });
        }
        let windows = DistinctWindows::of(&batch, &pairs).expect("copies");
        // Of each query: a copy with all columns, one without its first, and two other windows.
        assert_eq!(windows.pairs.len(), 3 * 4);
        let hits = Plain::new().score(&batch, &windows.pairs).unwrap();
        assert_eq!(windows.hits_of_all(&pairs, &hits), Plain::new().score(&batch, &pairs).unwrap());
        // Fewer pairs than are compared, and another mode.
        assert!(DistinctWindows::of(&batch, &pairs[..SEVERAL - 1]).is_none());
        let scoring = Arc::new(scoring.in_mode(AlignmentMode::Glocal));
        assert!(DistinctWindows::of(&Batch { scoring, ..batch }, &pairs).is_none());
    }
}
