//! The constants of a scoring: published ones, or else fitted from the scores of random sequences.

use crate::batch::{Batch, Pair};
use crate::candidates::{Layout, Meets};
use crate::engine::Engine;
use crate::engine::cpu::Cpu;
use crate::error::EngineError;
use crate::hits::{self, Effort, Rules, Scope};
use crate::scoring::Scoring;
use crate::significance::{Fit, HALVES, Karlin, LETTERS, MEASURED, PAIRS, Sample};
use std::sync::Arc;

/// The constants of a scoring, and whether they were fitted; `None` where random sequences score without bound, so that
/// there are none.
pub fn karlin(scoring: &Arc<Scoring>) -> Result<Option<(Karlin, bool)>, EngineError> {
    match Karlin::known(scoring) {
        Some(known) => Ok(Some((known, false))),
        None => Ok(fitted(scoring)?.map(|fitted| (fitted, true))),
    }
}

/// On the cores: the sample is small, and a device may take longer to open.
fn fitted(scoring: &Arc<Scoring>) -> Result<Option<Karlin>, EngineError> {
    let mut engine = Cpu::new();
    let whole = batch(scoring, PAIRS, LETTERS);
    let scores = scores(&mut engine, &whole, PAIRS)?;
    let halves = batch(scoring, HALVES, LETTERS / 2);
    let halves = self::scores(&mut engine, &halves, HALVES)?;
    let measured = batch(scoring, MEASURED, LETTERS);
    let layout = Layout { strands: 1, meets: Meets::Paired(0) };
    let scope = Scope::new(&measured, layout, Rules::BEST);
    let found = hits::find(&mut engine, &scope, &mut Effort::default())?;
    let best = found.iter().filter_map(|found| found.alignments.first());
    let lengths: Vec<(i32, u32, u32)> = best
        .map(|best| (best.score, best.query_end - best.query_start, best.target_end - best.target_start))
        .collect();
    Ok(Fit { scores: &scores, halves: &halves, lengths: &lengths }.karlin())
}

fn batch(scoring: &Arc<Scoring>, pairs: usize, letters: usize) -> Batch {
    let Sample { queries, targets } = Sample::new(scoring.alphabet, pairs, letters);
    Batch { queries: Arc::new(queries), targets: Arc::new(targets), scoring: Arc::clone(scoring) }
}

/// The best score of each pair.
fn scores(engine: &mut Cpu, batch: &Batch, pairs: usize) -> Result<Vec<i32>, EngineError> {
    let pair = |index: u32| {
        let end = batch.target(index).len() as u32;
        Pair { query: index, target: index, start: 0, own: 0, end }
    };
    let pairs: Vec<Pair> = (0..pairs as u32).map(pair).collect();
    Ok(engine.score(batch, &pairs)?.into_iter().map(|hit| hit.score).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::Alphabet;
    use crate::scoring::Matrix;

    /// Fitted constants are near the published ones.
    #[test]
    fn fits_agree_with_published_constants() {
        let protein = |open, extend| {
            Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), open, extend)
        };
        for scoring in [
            protein(11, 1),
            protein(9, 2),
            Scoring::dna(1, 2, 2, 1),
            Scoring::dna(1, 1, 0, 2),
            Scoring::dna(1, 3, 2, 2),
        ] {
            let scoring = Arc::new(scoring);
            let (known, fitted) = (Karlin::known(&scoring).unwrap(), fitted(&scoring).unwrap().unwrap());
            assert!((fitted.lambda / known.lambda - 1.0).abs() < 0.05, "{scoring}: {fitted:?} {known:?}");
            // At a score of E-value 1 in a usual space.
            let score = (known.k * 300.0 * 3e6).ln() / known.lambda;
            let [known, fitted] = [known, fitted].map(|karlin| karlin.k.ln() - karlin.lambda * score);
            assert!((known - fitted).abs() < 1.1, "{scoring}: factor {}", (known - fitted).exp());
        }
    }

    #[test]
    fn some_scorings_have_none() {
        for scoring in [Scoring::dna(1, 0, 1, 1), Scoring::dna(5, 1, 0, 1)] {
            assert_eq!(karlin(&Arc::new(scoring.clone())).unwrap(), None, "{scoring}");
        }
        let (_, is_fitted) = karlin(&Arc::new(Scoring::dna(3, 7, 4, 4))).unwrap().unwrap();
        assert!(is_fitted);
    }
}
