//! Pairs over rows that are not residues: one task each, in tiles of as few rows as hold the query, or strip by strip.

use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::plan::{WholeTile, hit_at, longest_first};
use crate::engine::gpu::tasks::RowsTask;
use crate::engine::gpu::variant::{ROWS_LANES, ROWS_OF_LANE, RowKind, Variant};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::to_u32;
use std::ops::Range;

/// Bytes of the values of a column between strips.
const BELOW: u64 = 28;
/// Maximum number of pairs of a job.
const JOB_PAIRS: usize = 1 << 18;

/// Whether the device scores a pair: it has cells, and all of its columns count.
pub fn suits(batch: &Batch, pair: &Pair) -> bool {
    pair.own <= pair.start && pair.start < pair.end && !batch.query(pair.query).is_empty()
}

/// Pairs that [`suits`], and their progress through jobs.
pub struct RowsPlan<'a> {
    batch: &'a Batch,
    pairs: &'a [Pair],
    next: usize,
    /// Maximum number of columns between strips.
    below: u64,
}

impl<'a> RowsPlan<'a> {
    /// A plan whose values between strips fit `binding` bytes, unless those of one pair do not.
    pub fn new(batch: &'a Batch, pairs: &'a [Pair], binding: u64) -> RowsPlan<'a> {
        RowsPlan { batch, pairs, next: 0, below: binding / BELOW }
    }

    /// The next job, of about `cells` cells, and its pairs.
    pub fn next(&mut self, cells: u64) -> Option<(Job, Range<usize>)> {
        let begin = self.next;
        let mut classes: [Vec<RowsTask>; ROWS_LANES.len()] = Default::default();
        let (mut planned, mut below) = (0, 0);
        while let Some(pair) = self.pairs.get(self.next) {
            let rows = to_u32(self.batch.query(pair.query).len());
            let class = ROWS_LANES.iter().position(|lanes| lanes * ROWS_OF_LANE >= rows);
            let class = class.unwrap_or(ROWS_LANES.len() - 1);
            let strips = rows.div_ceil(ROWS_LANES[class] * ROWS_OF_LANE);
            let kept = if strips > 1 { u64::from(pair.cols()) } else { 0 };
            let is_full = planned >= cells || below + kept > self.below || self.next - begin >= JOB_PAIRS;
            if is_full && self.next > begin {
                break;
            }
            let WholeTile { span, .. } = WholeTile::pair(self.batch, pair);
            let result = to_u32(self.next - begin);
            classes[class].push(RowsTask { span, result, below: to_u32(below), strips });
            planned += self.batch.cells(pair);
            below += kept;
            self.next += 1;
        }
        let count = self.next - begin;
        let mut job = Job { output: count as u64 * 16, scratch: below.max(1) * BELOW / 4, ..Job::default() };
        for (tasks, lanes) in classes.into_iter().zip(ROWS_LANES) {
            if !tasks.is_empty() {
                let kind = RowKind::of(&self.batch.scoring);
                job.push(Dispatch::new(Variant::Rows { lanes, kind }, longest_first(tasks)));
            }
        }
        (count > 0).then_some((job, begin..self.next))
    }

    /// Reads the hits of the pairs of a job from their results.
    pub fn take(pairs: &[Pair], results: &[u32], hits: &mut [HitEnd]) {
        for ((hit, pair), result) in hits.iter_mut().zip(pairs).zip(results.chunks_exact(4)) {
            *hit = hit_at(0, pair.start, result, HitEnd::default());
        }
    }
}
