//! Scores: one task per sweep if the query fits a tile, otherwise several strips.

use crate::engine::gpu::plan::blocks::PairFrontier;
use crate::engine::gpu::plan::strips::{PairGrids, StripTiles, is_long};
use crate::engine::gpu::plan::tile::{Tiles, next_pairs};
use crate::engine::gpu::plan::{gave_up, none};
use crate::engine::gpu::runner::{JobInputs, JobResult};
use crate::engine::gpu::variant::STRIP_ROWS;
use crate::engine::gpu::{Gpu, scoring_of, span};
use crate::engine::{Engine, overlaps};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Minimum number of pairs per piece of parallel work.
const PAIRS: usize = 1 << 13;

/// Whether the device scores a pair in a mode other than local. If a mode does not cut targets, the pair has a whole one.
fn suits(batch: &Batch, pair: &Pair, tiles: &StripTiles) -> bool {
    let is_whole = || pair.start == 0 && pair.end as usize == batch.target(pair.target).len();
    let is_short = to_u32(batch.query(pair.query).len()) <= STRIP_ROWS;
    (is_short || tiles.hold(batch, pair)) && (!batch.scoring.mode.needs_whole_targets() || is_whole())
}

impl Gpu {
    /// Scores pairs on the device, with all their targets there or piece by piece.
    pub(super) fn score_on_device(
        &mut self,
        batch: &Batch,
        pairs: &[Pair],
    ) -> Result<Vec<HitEnd>, EngineError> {
        match self.whole(batch, |gpu| gpu.score_pairs(batch, pairs))? {
            Some(hits) => Ok(hits),
            None => self.score_in_pieces(batch, pairs),
        }
    }

    /// Scores pairs in modes other than local. The host scores pairs that are too large for a job.
    pub(super) fn score_anchored(
        &mut self,
        batch: &Batch,
        pairs: &[Pair],
    ) -> Result<Vec<HitEnd>, EngineError> {
        let tiles = self.strip_tiles(batch);
        let suits = |pair: &Pair| suits(batch, pair, &tiles);
        if pairs.par_iter().with_min_len(PAIRS).all(suits) {
            return self.score_and_mend(batch, pairs);
        }
        let (own, left): (Vec<usize>, Vec<usize>) = (0..pairs.len()).partition(|&index| suits(&pairs[index]));
        let some = |places: &[usize]| -> Vec<Pair> { places.iter().map(|&at| pairs[at]).collect() };
        let mut hits = vec![HitEnd::NONE; pairs.len()];
        let mut put = |places: &[usize], found: Vec<HitEnd>| {
            places.iter().zip(found).for_each(|(&at, hit)| hits[at] = hit);
        };
        put(&left, self.host_scores(batch, &some(&left))?);
        if !own.is_empty() {
            put(&own, self.score_and_mend(batch, &some(&own))?);
        }
        Ok(hits)
    }

    /// The tiles of pairs whose queries need several strips.
    fn strip_tiles(&self, batch: &Batch) -> StripTiles {
        StripTiles::new(scoring_of(batch), self.limits()).in_mode(batch.scoring.mode)
    }

    /// Scores pairs on the device, in modes other than local.
    fn score_and_mend(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        let mut hits = self.score_on_device(batch, pairs)?;
        overlaps::mend_ends(batch, pairs, &mut hits);
        Ok(hits)
    }

    /// Scores pairs on the host.
    pub(super) fn host_scores(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.host_work.pairs += pairs.len();
        self.host.score(batch, pairs)
    }

    /// Scores pairs whose targets may all be on the device.
    pub(super) fn score_pairs(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        let residues = span(batch, pairs, |pair| (pair.target, pair.start..pair.end));
        let inputs = self.inputs(batch, residues)?;
        let mut hits = vec![none(batch.scoring.mode); pairs.len()];
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
        hits: &mut [HitEnd],
    ) -> Result<(), EngineError> {
        let tiles = Tiles::new(batch, scoring_of(batch), self.limits().subgroup);
        let grains = tiles.grains(pairs);
        let mut done = 0;
        let next = |cells: u64| {
            let range = next_pairs(&grains, &mut done, pairs.len(), cells)?;
            Some((tiles.job(&pairs[range.clone()]), range))
        };
        let take = |answer: JobResult, range: Range<usize>| {
            tiles.take(&pairs[range.clone()], answer.output.as_ref(), &mut hits[range]);
        };
        self.run_all(inputs, next, take)
    }

    /// Scores pairs whose queries need several strips.
    pub(super) fn score_grids(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pairs: &[Pair],
        hits: &mut [HitEnd],
    ) -> Result<(), EngineError> {
        let long: Vec<usize> = (0..pairs.len()).filter(|&index| is_long(batch, &pairs[index])).collect();
        let left = self.score_grids_of(batch, inputs, pairs, &long, hits)?;
        if !left.is_empty() {
            // Without chains no strip waits, so no pair remains this time.
            self.card.chains.store(false, Relaxed);
            self.score_grids_of(batch, inputs, pairs, &left, hits)?;
        }
        Ok(())
    }

    /// Scores the pairs at `long`. Returns the pairs in which a strip gave up waiting.
    fn score_grids_of(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pairs: &[Pair],
        long: &[usize],
        hits: &mut [HitEnd],
    ) -> Result<Vec<usize>, EngineError> {
        let (tiles, none) = (self.strip_tiles(batch), none(batch.scoring.mode));
        let (held, huge): (Vec<usize>, Vec<usize>) =
            long.iter().partition(|&&index| tiles.hold(batch, &pairs[index]));
        for index in huge {
            hits[index] = self.score_blocks(batch, inputs, &pairs[index], &tiles)?;
        }
        let (mut long, mut left) = (held.as_slice(), Vec::new());
        let next = |cells: u64| {
            let mut grids = PairGrids::next(batch, pairs, &mut long, &tiles, cells)?;
            Some((grids.job(&tiles, &batch.scoring), grids))
        };
        let take = |answer: JobResult, grids: PairGrids| {
            let results = answer.output.as_ref();
            match results.chunks_exact(4).any(gave_up) {
                true => left.extend(grids.indices()),
                false => grids.best(results, none).into_iter().for_each(|(index, hit)| hits[index] = hit),
            }
        };
        self.run_all(inputs, next, take)?;
        Ok(left)
    }

    /// Scores a pair that is too large for a job, block by block.
    fn score_blocks(
        &mut self,
        batch: &Batch,
        inputs: &JobInputs,
        pair: &Pair,
        tiles: &StripTiles,
    ) -> Result<HitEnd, EngineError> {
        let (mut best, mut frontier) = (HitEnd::default(), PairFrontier::default());
        for block in tiles.blocks(batch, pair).into_iter().flatten() {
            let (grids, job) = PairGrids::block(batch, pair, &block, &frontier.entering(&block), tiles);
            let answer = self.run(inputs, &job)?;
            let hits = grids.best(answer.output.as_ref(), HitEnd::default()).into_iter().map(|(_, hit)| hit);
            best = hits.chain([best]).min_by(HitEnd::order).unwrap_or_default();
            frontier.keep(&block, grids.left_behind(answer.leaving()));
        }
        Ok(best)
    }
}
