//! Scores of pairs over rows that are not residues.

use crate::engine::gpu::plan::rows::{RowsPlan, suits};
use crate::engine::gpu::runner::JobResult;
use crate::engine::gpu::{Gpu, span};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::error::EngineError;
use std::ops::Range;

impl Gpu {
    /// Scores pairs on the device. The host scores those in which some columns do not count, and targets that do not fit on
    /// the device.
    pub(super) fn score_rows(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        let (own, left): (Vec<usize>, Vec<usize>) =
            (0..pairs.len()).partition(|&at| suits(batch, &pairs[at]));
        let some = |places: &[usize]| -> Vec<Pair> { places.iter().map(|&at| pairs[at]).collect() };
        let mut hits = vec![HitEnd::default(); pairs.len()];
        let mut put = |places: &[usize], found: Vec<HitEnd>| {
            places.iter().zip(found).for_each(|(&at, hit)| hits[at] = hit);
        };
        let on_device = some(&own);
        let found = match on_device.is_empty() {
            true => Some(Vec::new()),
            false => self.whole(batch, |gpu| gpu.rows_on_device(batch, &on_device))?,
        };
        match found {
            Some(found) => put(&own, found),
            None => put(&own, self.host_scores(batch, &on_device)?),
        }
        put(&left, self.host_scores(batch, &some(&left))?);
        Ok(hits)
    }

    /// Scores pairs that the device holds.
    fn rows_on_device(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        let residues = span(batch, pairs, |pair| (pair.target, pair.start..pair.end));
        let inputs = self.inputs(batch, residues)?;
        let mut hits = vec![HitEnd::default(); pairs.len()];
        let mut plan = RowsPlan::new(batch, pairs, self.limits().binding);
        let take = |answer: JobResult, range: Range<usize>| {
            RowsPlan::take(&pairs[range.clone()], answer.output.as_ref(), &mut hits[range]);
        };
        self.run_all(&inputs, |cells| plan.next(cells), take)?;
        Ok(hits)
    }
}
