//! How significant the scores of a run are: its search space, the constants of its scoring, published ones or else fitted
//! from the scores of random sequences, and the least scores that follow from E-values.

use crate::alignment::Strand;
use crate::batch::{Batch, Pair};
use crate::candidates::{Layout, Meets};
use crate::engine::Engine;
use crate::engine::cpu::Cpu;
use crate::error::{EngineError, Error, Result};
use crate::hits::{self, Effort, LeastScores, Rules, Scope};
use crate::options::{Mode, Options, OutputFormat, default_min_score};
use crate::scoring::{Scoring, Substitution};
use crate::significance::{Fit, HALVES, Karlin, LETTERS, MEASURED, PAIRS, Sample, SearchSpace, Significance};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// The most that the E-value of a hit in a list is, where no other number is given.
const DEFAULT_EVALUE: f64 = 10.0;

/// What decides whether an alignment scores enough.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// Of every hit, as far as E-values let it be lower.
    pub min_score: i32,
    /// The most that an E-value is, where it counts.
    pub evalue: Option<f64>,
    /// Where scores have E-values and the run shows or needs them.
    pub significance: Option<Significance>,
}

impl Least {
    /// For queries against targets of these lengths.
    pub fn new(options: &Options, scoring: &Arc<Scoring>, lengths: &[u32]) -> Result<Least> {
        let is_list = matches!(options.format, OutputFormat::Hits(_));
        let default = default_min_score(scoring);
        let by_score =
            Least { min_score: options.min_score.unwrap_or(default), evalue: None, significance: None };
        let has_evalues = scoring.mode.is_local() && (is_list || options.evalue.is_some());
        if !has_evalues {
            return Ok(by_score);
        }
        let Some(karlin) = karlin(scoring)? else {
            return match options.evalue {
                None => Ok(by_score),
                Some(_) => {
                    let text = "--evalue: scores of random sequences grow without bound under this scoring, so there are \
                                no E-values; give --min-score, or higher penalties";
                    Err(Error::Usage(text.to_string()))
                }
            };
        };
        let letters = lengths.iter().map(|&len| u64::from(len)).sum();
        let space = SearchSpace { letters, targets: lengths.len() as u64 };
        let significance = Significance::new(karlin, (options.mode != Mode::Pairs).then_some(space));
        // Of nucleotides the filter keeps its power.
        let floor = match scoring.substitution {
            Substitution::Equal { .. } => default,
            Substitution::Matrix(_) => 1,
        };
        let min_score = options.min_score.unwrap_or(floor);
        let evalue = Some(options.evalue.unwrap_or(DEFAULT_EVALUE));
        Ok(Least { min_score, evalue, significance: Some(significance) })
    }

    /// What scores enough in a batch, where that is not one number.
    pub fn of<'a>(&self, batch: &'a Batch, layout: Layout, shortest: usize) -> Option<LeastOfBatch<'a>> {
        let (evalue, significance) = (self.evalue?, self.significance?);
        let mut least = LeastOfBatch {
            batch,
            layout,
            evalue,
            significance,
            min_score: self.min_score,
            lowest: Vec::new(),
        };
        let records = layout.records(batch.queries.len()) as u32;
        let mut shortest_of: Vec<(usize, usize)> = (0..records)
            .map(|record| (least.query(record), least.target_of(record).unwrap_or(shortest)))
            .collect();
        shortest_of.sort_unstable();
        shortest_of.dedup();
        let of_lengths = |&(query, target): &(usize, usize)| {
            ((query, target), significance.lowest_score(evalue, query, target).max(self.min_score))
        };
        let lowest: HashMap<(usize, usize), i32> = shortest_of.par_iter().map(of_lengths).collect();
        let lowest_of = |record: u32| {
            let key = (least.query(record), least.target_of(record).unwrap_or(shortest));
            lowest.get(&key).copied().unwrap_or(self.min_score)
        };
        least.lowest = (0..records).map(lowest_of).collect();
        Some(least)
    }
}

/// What scores enough in a batch.
pub struct LeastOfBatch<'a> {
    batch: &'a Batch,
    layout: Layout,
    evalue: f64,
    significance: Significance,
    min_score: i32,
    /// Of each record.
    lowest: Vec<i32>,
}

impl LeastOfBatch<'_> {
    /// Letters of a record's query.
    fn query(&self, record: u32) -> usize {
        self.batch.query(self.layout.query(record, Strand::Forward)).len()
    }

    /// Letters of the one target that a record meets.
    fn target_of(&self, record: u32) -> Option<usize> {
        match self.layout.meets {
            Meets::Paired(first) => Some(self.batch.targets.once(first + record).len()),
            Meets::All | Meets::Behind(_) => None,
        }
    }
}

impl LeastScores for LeastOfBatch<'_> {
    fn lowest(&self, record: u32) -> i32 {
        self.lowest.get(record as usize).copied().unwrap_or(self.min_score).max(1)
    }

    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool {
        let target = self.batch.targets.once(target).len();
        score >= self.min_score && self.significance.evalue(score, self.query(record), target) <= self.evalue
    }
}

/// The constants of a scoring, and whether they were fitted; `None` where random sequences score without bound, so that
/// there are none.
fn karlin(scoring: &Arc<Scoring>) -> Result<Option<(Karlin, bool)>, EngineError> {
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
