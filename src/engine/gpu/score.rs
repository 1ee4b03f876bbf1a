//! Scores: one task a sweep where the query fits a tile, several strips where it does not.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::gpu::plan::gave_up;
use crate::engine::gpu::plan::strips::{PairGrids, StripTiles, is_long};
use crate::engine::gpu::plan::tile::{Tiles, next_pairs};
use crate::engine::gpu::runner::{Answer, JobInputs};
use crate::engine::gpu::{Gpu, scores_of, span};
use crate::error::EngineError;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

impl Gpu {
    /// Scores pairs whose targets may all lie on the device.
    pub(super) fn score_pairs(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        let residues = span(batch, pairs, |pair| (pair.target, pair.start..pair.end));
        let inputs = self.inputs(batch, residues)?;
        let mut hits = vec![Hit::default(); pairs.len()];
        self.score_tiles(batch, &inputs, pairs, &mut hits)?;
        self.score_grids(batch, &inputs, pairs, &mut hits)?;
        Ok(hits)
    }

    /// Scores pairs whose queries fit one tile.
    pub(super) fn score_tiles(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pairs: &[Pair],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let tiles = Tiles::new(batch, scores_of(batch), self.limits().subgroup);
        let grains = tiles.grains(pairs);
        let mut done = 0;
        let next = |cells: u64| {
            let range = next_pairs(&grains, &mut done, pairs.len(), cells)?;
            Some((tiles.job(&pairs[range.clone()]), range))
        };
        let take = |answer: Answer, range: Range<usize>| {
            tiles.take(&pairs[range.clone()], answer.output.as_ref(), &mut hits[range]);
        };
        self.run_all(batch, inputs, next, take)
    }

    /// Scores pairs whose queries take several strips.
    pub(super) fn score_grids(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pairs: &[Pair],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let long: Vec<usize> = (0..pairs.len()).filter(|&index| is_long(batch, &pairs[index])).collect();
        let left = self.score_grids_of(batch, inputs, (pairs, &long), hits)?;
        if !left.is_empty() {
            // Without chains nothing waits, so nothing is left this time.
            self.card.chains.store(false, Relaxed);
            self.score_grids_of(batch, inputs, (pairs, &left), hits)?;
        }
        Ok(())
    }

    /// Scores the pairs at `long`; the answer is the pairs for which strips have waited in vain.
    fn score_grids_of(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        (pairs, mut long): (&[Pair], &[usize]),
        hits: &mut [Hit],
    ) -> Result<Vec<usize>, EngineError> {
        let tiles = StripTiles::new(scores_of(batch), self.limits());
        let mut left = Vec::new();
        let next = |cells: u64| {
            let mut grids = PairGrids::next(batch, pairs, &mut long, &tiles, cells)?;
            Some((grids.job(&tiles), grids))
        };
        let take = |answer: Answer, grids: PairGrids| {
            let results = answer.output.as_ref();
            match results.chunks_exact(4).any(gave_up) {
                true => left.extend(grids.indices()),
                false => grids.best(results).into_iter().for_each(|(index, hit)| hits[index] = hit),
            }
        };
        self.run_all(batch, inputs, next, take)?;
        Ok(left)
    }
}
