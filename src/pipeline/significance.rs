//! How significant the scores of a run are: its search space, and the least scores that follow from E-values.

use crate::alignment::Strand;
use crate::batch::Batch;
use crate::candidates::{Layout, Meets};
use crate::error::{Error, Result};
use crate::fitted::karlin;
use crate::hits::LeastScores;
use crate::options::{Mode, Options, OutputFormat, default_min_score};
use crate::scoring::{Scoring, Substitution};
use crate::significance::{SearchSpace, Significance};
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
