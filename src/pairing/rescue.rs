//! Mates without a hit near their mate's are searched in the window where the insert size has them.

use super::Pairing;
use crate::alignment::{Alignment, Found, Hit, Strand};
use crate::backtrace::{self, Wanted};
use crate::batch::{Pair, Sequences};
use crate::bounds::longest_span;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::hits::{Effort, Scope};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::time::Instant;

/// A window for one of the mates of a pair.
#[derive(Clone, Copy)]
struct Rescue {
    /// The record that is searched.
    record: u32,
    strand: Strand,
    pair: Pair,
    /// Least score that counts.
    least: i32,
}

/// Alignments of the mates of each pair in the windows beside their mate's hits, best first. None overlaps a hit of its
/// own mate.
pub fn rescue(
    pairing: &Pairing,
    engine: &mut dyn Engine,
    scope: &Scope,
    found: &[Found],
    effort: &mut Effort,
) -> Result<Vec<[Vec<Alignment>; 2]>, EngineError> {
    let windows = |(pair, found): (usize, &[Found])| -> Vec<Rescue> {
        let mates = [(0, 1), (1, 0)].into_iter();
        mates
            .flat_map(|(own, other)| windows_of(pairing, scope, pair as u32 * 2, (own, other), found))
            .collect()
    };
    let rescues = found.par_chunks_exact(2).enumerate().flat_map_iter(windows).collect::<Vec<_>>();
    let mut hits = Vec::with_capacity(rescues.len());
    for portion in rescues.chunks(scope.portion.max(1)) {
        let pairs: Vec<Pair> = portion.iter().map(|rescue| rescue.pair).collect();
        effort.cells += pairs.iter().map(|pair| scope.batch.cells(pair)).sum::<u64>();
        let start = Instant::now();
        hits.extend(engine.score(scope.batch, &pairs)?);
        effort.scoring += start.elapsed();
    }
    let aligned = align(engine, scope, &rescues, &hits, effort)?;
    let mut rescued: Vec<[Vec<Alignment>; 2]> = (0..found.len() / 2).map(|_| Default::default()).collect();
    for (record, alignment) in aligned {
        let circle = scope.batch.targets.circle(alignment.target);
        let is_hit = |hit: &Alignment| hit.overlaps(&alignment, circle);
        let own = &mut rescued[record as usize / 2][record as usize % 2];
        if !pairing.among(&found[record as usize].alignments).iter().chain(own.iter()).any(is_hit) {
            own.push(alignment);
        }
    }
    Ok(rescued)
}

/// The windows for the mate `other`, beside the hits of its mate `own` that have no hit of it near.
fn windows_of(
    pairing: &Pairing,
    scope: &Scope,
    first: u32,
    (own, other): (usize, usize),
    found: &[Found],
) -> Vec<Rescue> {
    let [hits, others] = [own, other].map(|mate| pairing.among(&found[mate].alignments));
    let (Some(best), query) = (hits.first(), first + other as u32) else { return Vec::new() };
    let best_other = others.first().map_or(0, |hit| hit.score);
    let alone = i64::from(best.score) + i64::from(best_other) - i64::from(pairing.unpaired);
    let codes = scope.batch.query(scope.layout.query(query, Strand::Forward));
    let span = longest_span(codes, pairing.rescued, &scope.batch.scoring);
    let near = |hit: &Alignment| {
        let circle = scope.batch.targets.circle(hit.target);
        others.iter().any(|other| pairing.insert.of(hit, other, circle).is_some())
    };
    let window = |hit: &Alignment| {
        let (strand, columns) = pairing.insert.mate_of(hit, span);
        let (start, end) = within(&scope.batch.targets, hit.target, columns);
        // A pair that is no better than the best hits alone is never chosen.
        let least = alone - i64::from(hit.score) - i64::from(pairing.match_) + 1;
        let least = least.max(i64::from(pairing.rescued));
        let pair =
            Pair { query: scope.layout.query(query, strand), target: hit.target, start, own: start, end };
        let is_possible = start < end && !codes.is_empty() && least <= i64::from(i32::MAX);
        is_possible.then_some(Rescue { record: query, strand, pair, least: least as i32 })
    };
    hits.iter().filter(|hit| !near(hit)).filter_map(window).collect()
}

/// Columns of a target as far as it has them. Those of a circle begin in its first copy; they are all where they are no
/// fewer than it has letters.
fn within(targets: &Sequences, target: u32, columns: RangeInclusive<i64>) -> (u32, u32) {
    let (start, end) = columns.into_inner();
    let len = targets.get(target as usize).len() as i64;
    let (start, end) = match targets.circle(target).map(i64::from) {
        Some(circle) if end - start >= circle => (0, len),
        Some(circle) => (start.rem_euclid(circle), start.rem_euclid(circle) + (end - start)),
        None => (start, end),
    };
    (start.clamp(0, len) as u32, end.clamp(0, len) as u32)
}

/// The alignments of the windows that hold one that counts, with their records; of one record the best first. Those of a
/// circle begin in its first copy.
fn align(
    engine: &mut dyn Engine,
    scope: &Scope,
    rescues: &[Rescue],
    hits: &[Hit],
    effort: &mut Effort,
) -> Result<Vec<(u32, Alignment)>, EngineError> {
    let mut counting: Vec<(Rescue, Hit)> = Vec::new();
    for (rescue, &hit) in rescues.iter().zip(hits) {
        let Pair { query, own, end, .. } = rescue.pair;
        let inside = hit.target_end > own
            && hit.target_end <= end
            && hit.query_end >= 1
            && hit.query_end as usize <= scope.batch.query(query).len();
        if hit.score < 0 || (hit.score > 0 && !inside) {
            return Err(EngineError::Wrong(format!("{hit:?} for {:?}", rescue.pair)));
        }
        if hit.score >= rescue.least {
            counting.push((*rescue, hit));
        }
    }
    let key = |(rescue, hit): &(Rescue, Hit)| {
        (
            rescue.record,
            -i64::from(hit.score),
            rescue.strand,
            rescue.pair.target,
            hit.target_end,
            hit.query_end,
        )
    };
    counting.sort_by_key(key);
    counting.dedup_by_key(|counted| key(counted));
    let wanted: Vec<Wanted> = counting
        .iter()
        .map(|(Rescue { strand, pair, .. }, hit)| {
            let window = backtrace::window_of(scope.batch, pair.query, pair.target, pair.start, hit);
            Wanted { window, strand: *strand, score: hit.score }
        })
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let start = Instant::now();
    let alignments = backtrace::align(engine, scope.batch, &wanted)?;
    effort.backtrace += start.elapsed();
    let targets = &scope.batch.targets;
    let in_first_copy = |alignment: Alignment| {
        let circle = targets.circle(alignment.target);
        alignment.in_first_copy(circle)
    };
    let records = counting.into_iter().map(|(rescue, _)| rescue.record);
    let mut aligned: Vec<_> = records.zip(alignments.into_iter().map(in_first_copy)).collect();
    if targets.have_circles() {
        // Windows may lie a turn apart.
        aligned.sort_by(|(one, hit), (other, next)| {
            one.cmp(other).then_with(|| hit.locus().order(&next.locus()))
        });
    }
    Ok(aligned)
}
