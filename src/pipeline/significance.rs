//! Significance of a run's scores: its search space, and the minimum scores that follow from E-values.

use crate::align::candidates::{Meets, PairLayout};
use crate::align::fitted::{constants, growth};
use crate::align::hits::{LeastScores, QueryRemarks, SearchInput, TooShort};
use crate::align::significance::{Growth, SearchSpace, Significance, Space, Ungapped};
use crate::terms::alignment::Strand;
use crate::terms::batch::Batch;
use crate::terms::bounds::potential;
use crate::terms::casts::{to_i32, to_i64, to_u32};
use crate::terms::error::{Error, Result};
use crate::terms::options::{Mode, Options, OutputFormat, Rank, default_min_score, short_score};
use crate::terms::scoring::{Scoring, Substitution};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Default maximum E-value of a hit in a list.
const DEFAULT_EVALUE: f64 = 10.0;

/// Conditions that the score of an alignment must meet.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// Minimum score of every hit, possibly reduced by E-values.
    pub min_score: i32,
    /// Maximum E-value, if E-values count.
    pub evalue: Option<f64>,
    /// Set if scores have E-values and the run shows or needs them.
    pub significance: Option<Significance>,
    /// How scores of random sequences grow with the length, in mode local.
    pub growth: Growth,
    /// Minimum score of every hit of two sequences of a file.
    of_file: Option<i32>,
    /// For sequences whose best possible score is lower, only E-values decide.
    short: Option<i32>,
    /// Whether a target may be such a sequence.
    has_short_targets: bool,
}

/// Search space of E-values for targets of these lengths.
fn space(options: &Options, lengths: &[u32]) -> Space {
    let letters: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    // As in BLAST, the six frames of a reference count as one protein.
    let frames = u64::from(options.ranked.limits.frames);
    let space = SearchSpace { letters: letters / frames, targets: lengths.len() as u64 / frames };
    match (options.ranked.rank, options.mode) {
        (Rank::Evalue, Mode::Pairs) => Space::Corrected { targets: 1 },
        (Rank::Evalue, Mode::All | Mode::Triangle) => Space::Corrected { targets: space.targets },
        (_, Mode::Pairs) => Space::Pair,
        (_, Mode::All) => Space::Search(space),
        (_, Mode::Triangle) => Space::Triangle(space),
    }
}

/// Score that all hits of two sequences of these lengths with an E-value of at most `evalue` reach.
fn lowest_of_file(significance: &Significance, evalue: f64, lengths: &[u32]) -> Option<i32> {
    let mut lengths = lengths.to_vec();
    lengths.sort_unstable();
    lengths.dedup();
    // Each length is used as that of the shorter sequence.
    let lowest = |&len: &u32| significance.lowest_score(evalue, len as usize, len as usize);
    lengths.par_iter().map(lowest).min()
}

impl Least {
    /// Conditions for queries against targets of these lengths.
    pub fn new(options: &Options, scoring: &Arc<Scoring>, lengths: &[u32]) -> Result<Least> {
        let is_list = matches!(options.format, OutputFormat::Hits(_));
        // The statistics of random sequences are those of single frames, as in DIAMOND.
        let scoring = &Arc::new(Scoring { frameshift: None, ..(**scoring).clone() });
        let default = default_min_score(scoring);
        let min_score = options.min_score.unwrap_or(default);
        let by_score = |growth| Least {
            min_score,
            evalue: None,
            significance: None,
            growth,
            of_file: None,
            short: None,
            has_short_targets: false,
        };
        if !scoring.mode.is_local() {
            return Ok(by_score(Growth::Logarithmic));
        }
        if !is_list && options.ranked.evalue.is_none() {
            return Ok(by_score(growth(scoring)?));
        }
        let Some(constants) = constants(scoring)? else {
            return match options.ranked.evalue {
                None => Ok(by_score(Growth::Linear)),
                Some(_) => Err(Error::Usage(format!(
                    "--evalue: under {}, scores of random sequences grow with their length, so there are no \
                     E-values; use --min-score instead, or {}",
                    named(scoring),
                    remedy(scoring)
                ))),
            };
        };
        let significance = Significance::new(constants, space(options, lengths));
        // With nucleotide scores, the filter keeps its power.
        let floor = match scoring.substitution {
            Substitution::Equal { .. } => default,
            Substitution::Matrix(_) => 1,
        };
        let min_score = options.min_score.unwrap_or(floor);
        let evalue = options.ranked.evalue.unwrap_or(DEFAULT_EVALUE);
        let of_file = match options.mode {
            Mode::Triangle => lowest_of_file(&significance, evalue, lengths),
            Mode::All | Mode::Pairs => None,
        };
        let is_open = is_list && options.min_score.is_none() && !options.has_mates();
        let short = short_score(scoring).filter(|_| is_open);
        let may_be_short = |&len: &u32| short.is_some_and(|short| i64::from(len) < i64::from(short));
        let has_short_targets = lengths.iter().any(may_be_short);
        let (evalue, significance) = (Some(evalue), Some(significance));
        let growth = constants.growth;
        Ok(Least { min_score, evalue, significance, growth, of_file, short, has_short_targets })
    }

    /// Warning if scores of random sequences grow with the length, or nearly so.
    pub fn warning(&self, options: &Options, scoring: &Scoring) -> Option<String> {
        let (growth, consequence) = match self.growth {
            Growth::Logarithmic => return None,
            Growth::NearLinear if self.significance.is_some() => (
                "almost in proportion to",
                "alignments may extend beyond the similar regions, and E-values are approximate".to_string(),
            ),
            Growth::NearLinear => {
                ("almost in proportion to", "alignments may extend beyond the similar regions".to_string())
            }
            Growth::Linear if matches!(options.format, OutputFormat::Hits(_)) => {
                let least =
                    format!("hits have no E-values; they score at least {} (--min-score)", self.min_score);
                ("in proportion to", least)
            }
            Growth::Linear => {
                ("in proportion to", "alignments extend beyond the similar regions".to_string())
            }
        };
        Some(format!(
            "under {}, scores of random sequences grow {growth} their length, so {consequence}; {}",
            named(scoring),
            remedy(scoring)
        ))
    }

    /// Whether the score of two sequences is enough.
    pub fn is_enough(&self, score: i32, (query, target): (&[u8], &[u8]), scoring: &Scoring) -> bool {
        let by_evalue_alone = self.is_short(query, scoring) || self.is_short(target, scoring);
        let evalue = self.evalue.zip(self.significance);
        (by_evalue_alone || score >= self.min_score)
            && evalue.is_none_or(|(most, known)| known.evalue(score, query.len(), target.len()) <= most)
    }

    /// Minimum scores of a batch, if they are not one number.
    pub fn of<'a>(&self, batch: &'a Batch, layout: PairLayout, shortest: usize) -> Option<LeastOfBatch<'a>> {
        let (evalue, significance) = (self.evalue?, self.significance?);
        let mut least =
            LeastOfBatch { batch, layout, evalue, significance, of_run: *self, lowest: Vec::new() };
        let records = to_u32(layout.records(batch.queries.len()));
        let floors: Vec<i32> = (0..records).map(|record| least.floor(record)).collect();
        if let Some(of_file) = self.of_file {
            least.lowest = floors.into_iter().map(|floor| of_file.max(floor)).collect();
            return Some(least);
        }
        let mut shortest_of: Vec<(usize, usize)> = (0..records)
            .map(|record| (least.query(record), least.target_of(record).unwrap_or(shortest)))
            .collect();
        shortest_of.sort_unstable();
        shortest_of.dedup();
        let of_lengths = |&(query, target): &(usize, usize)| {
            ((query, target), significance.lowest_score(evalue, query, target))
        };
        let lowest: HashMap<(usize, usize), i32> = shortest_of.par_iter().map(of_lengths).collect();
        let lowest_of = |(record, floor): (u32, i32)| {
            let key = (least.query(record), least.target_of(record).unwrap_or(shortest));
            lowest.get(&key).copied().unwrap_or(floor).max(floor)
        };
        least.lowest = (0..records).zip(floors).map(lowest_of).collect();
        Some(least)
    }

    /// Whether only E-values decide about a sequence.
    fn is_short(&self, codes: &[u8], scoring: &Scoring) -> bool {
        self.short.is_some_and(|short| {
            to_i64(codes.len()) < i64::from(short) && potential(codes, scoring) < i64::from(short)
        })
    }

    /// Remarks on short records. `targets` is the length of the shortest target.
    pub fn remarks(&self, scope: &SearchInput, targets: usize) -> Vec<(u32, QueryRemarks)> {
        let SearchInput { batch, layout, .. } = scope;
        let records = to_u32(layout.records(batch.queries.len()));
        let remark = |record: u32| {
            let query = batch.query(layout.query(record, Strand::Forward));
            let target = paired_target(batch, *layout, record);
            let letters = target.map_or(query.len(), |target| target.len().min(query.len()));
            let least = scope.rules_of(record).min_score;
            // A longer query that cannot reach its minimum score consists mostly of N or X, and is not too short.
            if letters == 0 || to_i64(letters) > i64::from(least.max(self.short.unwrap_or(0))) {
                return None;
            }
            let is_short = |codes: &[u8]| self.is_short(codes, &batch.scoring);
            let is_short = is_short(query) || target.is_some_and(is_short);
            let floor = if is_short { 1 } else { self.min_score };
            let by_evalue = u64::from(is_short);
            let most = most_possible(scope, record);
            let evalue = self
                .significance
                .map_or(0.0, |known| known.evalue(most, query.len(), query.len().max(targets)));
            let short = TooShort::of(most, evalue);
            let remarks = QueryRemarks { by_evalue, ..QueryRemarks::default() };
            let remarks = match most {
                ..=0 => return None,
                _ if most < floor => QueryRemarks { too_short: short, ..remarks },
                _ if most < least => QueryRemarks { too_unlikely: short, ..remarks },
                _ => remarks,
            };
            (remarks != QueryRemarks::default()).then_some((record, remarks))
        };
        (0..records).into_par_iter().filter_map(remark).collect()
    }
}

/// Score of a record's query if all its residues match best. In pairs mode, the score with its target.
fn most_possible(scope: &SearchInput, record: u32) -> i32 {
    let SearchInput { batch, layout, .. } = scope;
    let strands = layout.queries(record).map(|query| potential(batch.query(query), &batch.scoring));
    let by_query = strands.max().unwrap_or(0);
    let by_target = paired_target(batch, *layout, record)
        .map_or(i64::MAX, |target| to_i64(target.len()) * i64::from(batch.scoring.max_potential()));
    to_i32(by_query.min(by_target).min(i64::from(i32::MAX)))
}

/// The one target that a record meets.
fn paired_target(batch: &Batch, layout: PairLayout, record: u32) -> Option<&[u8]> {
    match layout.meets {
        Meets::Paired(first) => Some(batch.targets.once(first + record)),
        Meets::All | Meets::Behind(_) => None,
    }
}

/// Name of a scoring in messages.
fn named(scoring: &Scoring) -> String {
    let (gap_open, gap_extend) = (scoring.gaps().opens(), scoring.gaps().extends());
    match &scoring.substitution {
        Substitution::Equal { match_, mismatch, .. } => {
            format!("--match {match_} --mismatch {mismatch} with gap costs {gap_open}/{gap_extend}")
        }
        Substitution::Matrix(matrix) => {
            format!("--matrix {} with gap costs {gap_open}/{gap_extend}", matrix.name)
        }
    }
}

/// Advice on how to change a scoring so that it has E-values.
fn remedy(scoring: &Scoring) -> String {
    let is_negative = Ungapped::new(scoring).is_some();
    match &scoring.substitution {
        Substitution::Equal { .. } if is_negative => {
            "raise --gap-open, --gap-extend or --mismatch".to_string()
        }
        Substitution::Equal { .. } => "use a --mismatch of more than a third of --match".to_string(),
        Substitution::Matrix(matrix) if is_negative => match matrix.usual_gap_costs() {
            Some((open, extend)) => {
                format!("raise --gap-open or --gap-extend ({} usually takes {open}/{extend})", matrix.name)
            }
            None => "raise --gap-open or --gap-extend".to_string(),
        },
        Substitution::Matrix(_) => {
            "use a matrix with a negative expected score and at least one positive score".to_string()
        }
    }
}

/// Minimum scores of a batch.
pub struct LeastOfBatch<'a> {
    batch: &'a Batch,
    layout: PairLayout,
    evalue: f64,
    significance: Significance,
    of_run: Least,
    /// Minimum score of each record.
    lowest: Vec<i32>,
}

impl LeastOfBatch<'_> {
    /// Length of a record's query, in residues.
    fn query(&self, record: u32) -> usize {
        let rows = self.batch.query(self.layout.query(record, Strand::Forward)).len();
        self.batch.scoring.residues(rows)
    }

    /// Length of the only target that a record meets, in residues.
    fn target_of(&self, record: u32) -> Option<usize> {
        paired_target(self.batch, self.layout, record).map(<[u8]>::len)
    }

    /// Minimum score of a record's hits, regardless of their E-values.
    fn floor(&self, record: u32) -> i32 {
        let may_be_short = match self.layout.meets {
            Meets::All => self.is_short_query(record),
            Meets::Paired(first) => self.is_short_query(record) || self.is_short_target(first + record),
            Meets::Behind(_) => self.of_run.has_short_targets,
        };
        if may_be_short { 1 } else { self.of_run.min_score }
    }

    fn is_short_query(&self, record: u32) -> bool {
        let query = self.batch.query(self.layout.query(record, Strand::Forward));
        self.of_run.is_short(query, &self.batch.scoring)
    }

    fn is_short_target(&self, target: u32) -> bool {
        self.of_run.is_short(self.batch.targets.once(target), &self.batch.scoring)
    }
}

impl LeastScores for LeastOfBatch<'_> {
    fn lowest(&self, record: u32) -> i32 {
        self.lowest.get(record as usize).copied().unwrap_or(1).max(1)
    }

    fn is_enough(&self, record: u32, target: u32, score: i32) -> bool {
        // For two sequences of a file, it does not matter which one is short.
        let is_pair_of_file = matches!(self.layout.meets, Meets::Behind(_));
        if is_pair_of_file
            && score < self.of_run.min_score
            && !self.is_short_query(record)
            && !self.is_short_target(target)
        {
            return false;
        }
        let target = self.batch.targets.once(target).len();
        self.significance.evalue(score, self.query(record), target) <= self.evalue
    }
}
