//! The hits of all queries by reference: a table of counts, or the matrix of queries and references in the MatrixMarket
//! format.
//!
//! A query counts once for each reference that it has hits on, with its best score there. Supplementary hits do not count.
//! All sums are integers, so they do not depend on batches and threads.

use super::bgzf::RecordBytes;
use super::targets::{HitTargets, NamedTargets};
use super::{Output, QUERIES};
use crate::terms::alignment::QueryResult;
use crate::terms::error::{Error, Result};
use crate::terms::options::{Options, PanelFormat};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::Write;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const COLUMNS: &[u8] = b"#reference\tlength\treads\tunique\tbest\tpairs\tscore\n";
/// Bytes of the line with the sizes of a matrix. The sizes are known at the end, and spaces fill the line.
const SIZE_BYTES: usize = 64;

/// Makes the counts or the matrix of a run.
pub struct PanelMaker {
    pub format: PanelFormat,
    pub targets: HitTargets,
    pub scoring: Arc<Scoring>,
    /// Names of all references, and their lengths in residues.
    pub names: Vec<String>,
    pub lengths: Vec<u32>,
    pub command_line: String,
    pub totals: PanelTotals,
}

/// Sums over the queries so far.
#[derive(Default)]
pub struct PanelTotals {
    by_target: Mutex<HashMap<u32, TargetCounts>>,
    /// Number of entries of the matrix.
    entries: AtomicU64,
}

/// Queries with hits on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TargetCounts {
    reads: u64,
    /// Without hits on other targets.
    unique: u64,
    /// With their best score, on this target alone or on others too.
    best: u64,
    /// Pairs of mates that both have hits.
    pairs: u64,
    /// Sum of the best scores of the reads.
    score: i64,
}

impl AddAssign for TargetCounts {
    fn add_assign(&mut self, other: TargetCounts) {
        self.reads += other.reads;
        self.unique += other.unique;
        self.best += other.best;
        self.pairs += other.pairs;
        self.score += other.score;
    }
}

impl PanelMaker {
    pub fn new(
        format: PanelFormat,
        options: &Options,
        scoring: Arc<Scoring>,
        targets: NamedTargets,
    ) -> PanelMaker {
        PanelMaker {
            format,
            scoring,
            names: targets.names.clone(),
            lengths: targets.lengths.clone(),
            targets: HitTargets::Loaded(targets),
            command_line: options.command_line.replace(['\n', '\r'], " "),
            totals: PanelTotals::default(),
        }
    }

    /// The beginning of the output.
    pub fn header(&self) -> Vec<u8> {
        match self.format {
            PanelFormat::Counts => COLUMNS.to_vec(),
            PanelFormat::Matrix => {
                let mut header = b"%%MatrixMarket matrix coordinate integer general\n".to_vec();
                header.extend_from_slice(format!("% {}\n", self.command_line).as_bytes());
                header.extend_from_slice(
                    b"% rows: reads in their order; columns: references; values: scores\n",
                );
                for (number, name) in (1..).zip(&self.names) {
                    header.extend_from_slice(format!("% column {number} {name}\n").as_bytes());
                }
                header.extend_from_slice(&self.size_line(0, 0));
                header
            }
        }
    }

    /// The line with the number of rows, columns and entries.
    fn size_line(&self, rows: u64, entries: u64) -> Vec<u8> {
        let sizes = format!("{rows} {} {entries}", self.names.len());
        format!("{sizes:<width$}\n", width = SIZE_BYTES - 1).into_bytes()
    }

    /// Counts the hits of queries on all threads, and returns the entries of a matrix. `first` is the number of earlier
    /// queries of the run.
    pub fn pieces(&self, first: u64, found: &[QueryResult]) -> Vec<RecordBytes> {
        let piece = |(number, found): (usize, &[QueryResult])| {
            RecordBytes::Ready(self.piece(first + (number * QUERIES) as u64, found))
        };
        found.par_chunks(QUERIES).enumerate().map(piece).collect()
    }

    /// Counts the hits of some queries. Returns the entries of a matrix.
    fn piece(&self, first: u64, found: &[QueryResult]) -> Vec<u8> {
        let mut out = Vec::new();
        let scores: Vec<Vec<(u32, i32)>> = found.iter().map(best_scores).collect();
        match self.format {
            PanelFormat::Counts => self.count(found, &scores),
            PanelFormat::Matrix => {
                let mut entries = 0;
                for (row, scores) in (first + 1..).zip(&scores) {
                    for &(target, score) in scores {
                        // Writing to memory cannot fail.
                        let _ = writeln!(out, "{row} {} {score}", u64::from(target) + 1);
                    }
                    entries += scores.len() as u64;
                }
                self.totals.entries.fetch_add(entries, Ordering::Relaxed);
            }
        }
        out
    }

    fn count(&self, found: &[QueryResult], scores: &[Vec<(u32, i32)>]) {
        let mut counts: HashMap<u32, TargetCounts> = HashMap::new();
        for scores in scores {
            let best = scores.iter().map(|&(_, score)| score).max();
            for &(target, score) in scores {
                *counts.entry(target).or_default() += TargetCounts {
                    reads: 1,
                    unique: u64::from(scores.len() == 1),
                    best: u64::from(Some(score) == best),
                    pairs: 0,
                    score: score.into(),
                };
            }
        }
        // Mates are adjacent.
        let pairs = found.chunks(2).zip(scores.chunks(2)).filter(|(found, _)| found[0].mated.is_some());
        for (_, mates) in pairs {
            let [one, other] = mates else { continue };
            let has = |target: u32| other.binary_search_by_key(&target, |&(own, _)| own).is_ok();
            for &(target, _) in one.iter().filter(|&&(target, _)| has(target)) {
                counts.entry(target).or_default().pairs += 1;
            }
        }
        let mut by_target = self.totals.by_target.lock().unwrap_or_else(PoisonError::into_inner);
        counts.into_iter().for_each(|(target, counts)| *by_target.entry(target).or_default() += counts);
    }

    /// Refuses an output whose beginning cannot be replaced, if the format needs that.
    pub fn check(&self, output: &Output) -> Result<()> {
        match self.format {
            PanelFormat::Matrix if !output.is_file() => Err(Error::Usage(
                "--format mtx needs a regular file, because its header has the number of entries; name one with -o"
                    .to_string(),
            )),
            _ => Ok(()),
        }
    }

    /// Writes what is known only after the last of all `queries`, whose header is in `output`.
    pub fn finish(&self, output: &mut Output, queries: u64) -> Result<()> {
        match self.format {
            PanelFormat::Counts => {
                let by_target = self.totals.by_target.lock().unwrap_or_else(PoisonError::into_inner);
                let mut table = Vec::new();
                for (target, (name, length)) in (0..).zip(self.names.iter().zip(&self.lengths)) {
                    let counts = by_target.get(&target).copied().unwrap_or_default();
                    let TargetCounts { reads, unique, best, pairs, score } = counts;
                    let numbers = format!("\t{length}\t{reads}\t{unique}\t{best}\t{pairs}\t{score}\n");
                    table.extend_from_slice(name.as_bytes());
                    table.extend_from_slice(numbers.as_bytes());
                }
                output.put(&table)
            }
            PanelFormat::Matrix => {
                let at = self.header().len() - SIZE_BYTES;
                output
                    .replace(at as u64, &self.size_line(queries, self.totals.entries.load(Ordering::Relaxed)))
            }
        }
    }
}

/// The best score of a query on each target that it has hits on, in the order of the targets.
fn best_scores(found: &QueryResult) -> Vec<(u32, i32)> {
    let mut scores: Vec<(u32, i32)> = found.alignments.iter().map(|hit| (hit.target, hit.score)).collect();
    scores.sort_unstable_by_key(|&(target, score)| (target, std::cmp::Reverse(score)));
    scores.dedup_by_key(|&mut (target, _)| target);
    scores
}
