//! Scores: one task per sweep if the query fits a tile, otherwise several strips.

use crate::engine::gpu::plan::blocks::Frontier;
use crate::engine::gpu::plan::gave_up;
use crate::engine::gpu::plan::strips::{PairGrids, StripTiles, is_long};
use crate::engine::gpu::plan::tile::{Tiles, next_pairs};
use crate::engine::gpu::runner::{Answer, JobInputs};
use crate::engine::gpu::{Gpu, scores_of, span};
use crate::terms::alignment::Hit;
use crate::terms::batch::{Batch, Pair};
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

impl Gpu {
    /// Scores pairs whose targets may all be on the device.
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

    /// Scores pairs whose queries need several strips.
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
            // Without chains no strip waits, so no pair remains this time.
            self.card.chains.store(false, Relaxed);
            self.score_grids_of(batch, inputs, (pairs, &left), hits)?;
        }
        Ok(())
    }

    /// Scores the pairs at `long`. Returns the pairs in which a strip gave up waiting.
    fn score_grids_of(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        (pairs, long): (&[Pair], &[usize]),
        hits: &mut [Hit],
    ) -> Result<Vec<usize>, EngineError> {
        let tiles = StripTiles::new(scores_of(batch), self.limits());
        let (held, huge): (Vec<usize>, Vec<usize>) =
            long.iter().partition(|&&index| tiles.hold(batch, &pairs[index]));
        for index in huge {
            hits[index] = self.score_blocks(batch, inputs, &pairs[index], &tiles)?;
        }
        let (mut long, mut left) = (held.as_slice(), Vec::new());
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

    /// Scores a pair that is too large for a job, block by block.
    fn score_blocks(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pair: &Pair,
        tiles: &StripTiles,
    ) -> Result<Hit, EngineError> {
        let (mut best, mut frontier) = (Hit::default(), Frontier::default());
        for block in tiles.blocks(batch, pair).into_iter().flatten() {
            let (grids, job) = PairGrids::block(batch, pair, &block, &frontier.entering(&block), tiles);
            let answer = self.run(batch, inputs, &job)?;
            let hits = grids.best(answer.output.as_ref()).into_iter().map(|(_, hit)| hit);
            best = hits.chain([best]).min_by(Hit::order).unwrap_or_default();
            frontier.keep(&block, grids.left_behind(answer.leaving()));
        }
        Ok(best)
    }
}
