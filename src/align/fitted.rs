//! The constants of a scoring: published if available, otherwise fitted from the scores of random sequences.

use crate::align::candidates::{Meets, PairLayout};
use crate::align::hits::{self, Effort, Rules, SearchInput};
use crate::align::significance::{
    Constants, Fit, Growth, InUnits, Karlin, LETTERS, LONG, LONG_LETTERS, MEASURED, PAIRS, RandomSample,
    SHORT, Ungapped,
};
use crate::engine::Engine;
use crate::engine::cpu::Cpu;
use crate::terms::alignment::Strands;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use std::sync::Arc;

/// The constants of a scoring. `None` if scores of random sequences grow with the length, so that there are none.
pub fn constants(scoring: &Scoring) -> Result<Option<Constants>, EngineError> {
    let units = InUnits::new(scoring);
    match Karlin::known(&units) {
        Some(karlin) => Ok(Some(Constants { karlin, is_fitted: false, growth: Growth::Logarithmic })),
        None => fitted(units),
    }
}

/// How scores of random sequences grow with the length.
pub fn growth(scoring: &Scoring) -> Result<Growth, EngineError> {
    let units = InUnits::new(scoring);
    if Karlin::known(&units).is_some() {
        return Ok(Growth::Logarithmic);
    }
    let is_logarithmic = Karlin::is_known_to_be_logarithmic(&units);
    let units = units.small();
    match Ungapped::new(&units.scoring) {
        Some(_) if is_logarithmic => Ok(Growth::Logarithmic),
        Some(_) => measured_growth(&mut Cpu::new(), &Arc::new(units.scoring)),
        None => Ok(Growth::Linear),
    }
}

/// Runs on the CPU: the sample is small, and opening a device may take longer.
fn fitted(units: InUnits) -> Result<Option<Constants>, EngineError> {
    let is_logarithmic = Karlin::is_known_to_be_logarithmic(&units);
    let units = units.small();
    let Some(ungapped) = Ungapped::new(&units.scoring) else { return Ok(None) };
    let scoring = Arc::new(units.scoring.clone());
    let mut engine = Cpu::new();
    let growth = match is_logarithmic {
        true => Growth::Logarithmic,
        false => measured_growth(&mut engine, &scoring)?,
    };
    if growth == Growth::Linear {
        return Ok(None);
    }
    let scores = scores(&mut engine, &batch(&scoring, PAIRS, LETTERS))?;
    let measured = batch(&scoring, MEASURED, LETTERS);
    let layout = PairLayout { strands: Strands::Plus, meets: Meets::Paired(0) };
    let scope = SearchInput::new(&measured, layout, Rules::BEST);
    let found = hits::find(&mut engine, &scope, &mut Effort::default())?;
    let best = found.iter().filter_map(|found| found.alignments.first());
    let lengths: Vec<(i32, u32, u32)> = best
        .map(|best| (best.score, best.query_end - best.query_start, best.target_end - best.target_start))
        .collect();
    let karlin = Fit { ungapped, scores: &scores, lengths: &lengths }.karlin();
    Ok(karlin.map(|karlin| Constants { karlin: karlin.in_units(&units), is_fitted: true, growth }))
}

fn measured_growth(engine: &mut Cpu, scoring: &Arc<Scoring>) -> Result<Growth, EngineError> {
    let short = scores(engine, &batch(scoring, SHORT, LETTERS))?;
    let long = scores(engine, &batch(scoring, LONG, LONG_LETTERS))?;
    Ok(Growth::of(&short, &long))
}

fn batch(scoring: &Arc<Scoring>, pairs: usize, letters: usize) -> Batch {
    let RandomSample { queries, targets } = RandomSample::new(scoring.alphabet, pairs, letters);
    Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::clone(scoring) }
}

/// The best score of each query with the target of the same number.
fn scores(engine: &mut Cpu, batch: &Batch) -> Result<Vec<i32>, EngineError> {
    let pair = |index: u32| {
        let end = to_u32(batch.target(index).len());
        Pair { query: index, target: index, start: 0, own: 0, end }
    };
    let pairs: Vec<Pair> = (0..to_u32(batch.queries.len())).map(pair).collect();
    Ok(engine.score(batch, &pairs)?.into_iter().map(|hit| hit.score).collect())
}

#[cfg(test)]
mod tests;
