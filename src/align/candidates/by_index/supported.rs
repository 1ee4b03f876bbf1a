//! Boxes of the supported runs of a long query, found by a sampled index.
//!
//! In a repeat, a long query has very many runs, but few of them are supported. The number of k-mers on nearby diagonals
//! bounds the bases of the runs there, so the targets are read only near diagonals with enough k-mers.

use super::super::boxes::{Boxes, ExactRun, RunBox, RunSupport};
use super::super::runs::are_equal;
use super::{ByIndex, QueryBuffers, for_each_stretch, long_limits};
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::ops::Range;

/// Numbers of hits in bins of diagonals. Several bins share a counter.
#[derive(Default)]
pub(super) struct DiagonalCrowds {
    /// [`u8::MAX`] and all higher numbers are one.
    counts: Vec<u8>,
    is_near: Vec<bool>,
}

impl DiagonalCrowds {
    /// Counters for each hit, and their maximum number.
    const PER_HIT: usize = 4;
    const MOST: usize = 1 << 20;

    /// Removes hits that are not within `apart` diagonals of a hit that has `least` hits, itself included, within `apart`
    /// diagonals. Keeps some of them where counters are shared. This takes less time than sorting all hits.
    fn keep(&mut self, hits: &mut Vec<(i64, u32)>, least: usize, apart: u32) {
        let DiagonalCrowds { counts, is_near } = self;
        // The hits within `apart` diagonals of a hit are in its bin and in the two next to it.
        let shift = apart.max(1).next_power_of_two().ilog2();
        let size = (Self::PER_HIT * hits.len()).next_power_of_two().clamp(4, Self::MOST);
        let mask = to_i64(size - 1);
        let bin = |diagonal: i64| to_usize((diagonal >> shift) & mask);
        counts.clear();
        counts.resize(size, 0);
        for &(diagonal, _) in &*hits {
            let count = &mut counts[bin(diagonal)];
            *count = count.saturating_add(1);
        }
        is_near.clear();
        is_near.resize(size, false);
        for bin in 0..size {
            let around = [bin.wrapping_sub(1) & (size - 1), bin, (bin + 1) & (size - 1)];
            let counted = around.map(|bin| usize::from(counts[bin]));
            let is_crowd = counted.iter().sum::<usize>() >= least || counted.contains(&usize::from(u8::MAX));
            if counts[bin] > 0 && is_crowd {
                around.into_iter().for_each(|bin| is_near[bin] = true);
            }
        }
        hits.retain(|&(diagonal, _)| is_near[bin(diagonal)]);
    }
}

impl ByIndex {
    /// Whether each run of `least` equal bases contains a k-mer of the index, and k-mers have few positions.
    pub(super) fn has_runs(&self, least: usize) -> bool {
        let kmers = &self.kmers;
        kmers.step() > 1 && kmers.least() <= least && kmers.are_ready()
    }

    /// The boxes of the supported runs of a query, in the order of targets and columns. `None` if the index does not find
    /// all runs.
    pub fn supported_boxes(
        &self,
        query: &[u8],
        support: RunSupport,
        QueryBuffers { places: [found, _], hits, crowds, .. }: &mut QueryBuffers,
    ) -> Option<Vec<RunBox>> {
        let ByIndex { targets, kmers, .. } = self;
        if !self.has_runs(support.least) || !self.alphabet.is_whole() {
            return None;
        }
        kmers.look_up_all(&self.seeds_of(query), found);
        // A run with `n` k-mers has at most `(n + 1) * step + letters - 2` bases.
        let longest = u64::from(2 * kmers.step() + kmers.letters() - 2);
        let least_hits = to_usize(support.bases.div_ceil(longest)).max(1);
        let apart = i64::from(support.apart);
        let around = query.len() + support.apart as usize;
        let all = targets.codes().len();
        let mut boxes: Vec<RunBox> = Vec::new();
        let places_in = |stretch: &Range<usize>| kmers.places_in(found, stretch);
        for_each_stretch(all, long_limits(query.len()), places_in, |stretch| {
            hits.clear();
            // With all runs that support one in the stretch.
            let wider = stretch.start.saturating_sub(around)..stretch.end.saturating_add(around).min(all);
            kmers.push_hits(found, &wider, hits);
            crowds.keep(hits, least_hits, support.apart);
            hits.sort_unstable();
            let mut runs: Vec<ExactRun> = Vec::new();
            let (mut first, mut behind, mut done) = (0, 0, 0);
            for &(diagonal, _) in &*hits {
                while hits.get(behind).is_some_and(|other| other.0 <= diagonal + apart) {
                    behind += 1;
                }
                while hits[first].0 < diagonal - apart {
                    first += 1;
                }
                if behind - first >= least_hits {
                    for &(diagonal, row) in &hits[done.max(first)..behind] {
                        let place = to_usize(diagonal + i64::from(row));
                        runs.extend(self.run_at(query, (row as usize, place), runs.last(), support.least));
                    }
                    done = behind;
                }
            }
            runs.sort_unstable_by_key(|run| run.target);
            for of_target in runs.chunk_by_mut(|one, other| one.target == other.target) {
                let columns = targets.get(of_target[0].target as usize).len();
                boxes.extend(support.boxes(of_target, (query.len(), columns)));
            }
            true
        });
        Some(Boxes::of(boxes.into_iter()).closed())
    }

    /// The maximal run that contains these equal bases, if it has `least` bases, and unless it is `last`.
    pub(super) fn run_at(
        &self,
        query: &[u8],
        (row, place): (usize, usize),
        last: Option<&ExactRun>,
        least: usize,
    ) -> Option<ExactRun> {
        let targets = &self.targets;
        // Positions in a damaged file may be any numbers.
        if place >= targets.codes().len() {
            return None;
        }
        let target = targets.holding(place);
        let codes = targets.get(target);
        let column = place - targets.start(target);
        let is_of_last = |last: &ExactRun| {
            last.target == to_u32(target)
                && last.diagonal() == to_i64(column) - to_i64(row)
                && row < (last.query_start + last.len) as usize
        };
        if last.is_some_and(is_of_last) {
            return None;
        }
        let sides = query[..row].iter().rev().zip(codes[..column].iter().rev());
        let before = sides.take_while(|&(&one, &other)| are_equal(one, other)).count();
        let behind = query[row..].iter().zip(&codes[column..]);
        let behind = behind.take_while(|&(&one, &other)| are_equal(one, other)).count();
        let [start, query_start, len] = [column - before, row - before, before + behind].map(to_u32);
        (before + behind >= least).then_some(ExactRun { target: to_u32(target), start, query_start, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_near_crowds_stay() {
        let mut state = 1u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut crowds = DiagonalCrowds::default();
        let (mut left, mut all) = (0, 0);
        for _ in 0..200 {
            let most = [9, 400][below(2) as usize];
            let (apart, least) = (1 + below(300) as u32, 1 + below(most) as usize);
            let span = [400, 100_000, 10_000_000][below(3) as usize];
            let hits: Vec<(i64, u32)> =
                (0..below(500)).map(|row| (below(span) as i64 - span as i64 / 2, row as u32)).collect();
            let near = |one: &(i64, u32), other: &(i64, u32)| (one.0 - other.0).abs() <= i64::from(apart);
            let is_center = |hit: &&(i64, u32)| hits.iter().filter(|other| near(hit, other)).count() >= least;
            let centers: Vec<&(i64, u32)> = hits.iter().filter(is_center).collect();
            let mut kept = hits.clone();
            crowds.keep(&mut kept, least, apart);
            let is_wanted = |hit: &&(i64, u32)| centers.iter().any(|center| near(hit, center));
            assert!(hits.iter().filter(is_wanted).all(|hit| kept.contains(hit)), "{apart} {least} {hits:?}");
            (left, all) = (left + kept.len(), all + hits.len());
        }
        assert!(left * 10 < all * 9, "{left} of {all}");
    }
}
