//! Boxes of the supported runs of a long query, found by a sampled index.
//!
//! In a repeat, a long query has very many runs, but few of them are supported. The number of k-mers on nearby diagonals
//! bounds the bases of the runs there, so the targets are read only near diagonals with enough k-mers.

use super::super::boxes::{Boxes, ExactRun, RunBox, RunSupport};
use super::super::runs::are_equal;
use super::{ByIndex, QueryBuffers, for_each_stretch, long_limits};
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::ops::Range;

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
        QueryBuffers { places: [found, _], hits, .. }: &mut QueryBuffers,
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
