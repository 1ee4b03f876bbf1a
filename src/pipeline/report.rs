//! Progress reports of a run, and its summary.

use crate::align::hits::{Effort, QueryRemarks};
use crate::output::audit::{ComparedCounts, VerdictCounts};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Unit of queries, singular and plural.
pub(super) const QUERIES: [&str; 2] = ["query", "queries"];

/// Unit of targets in pairs mode, singular and plural.
pub(super) const TARGETS: [&str; 2] = ["target", "targets"];

/// `1 query is`, `2 queries are`.
pub(super) fn queries_are(count: u64) -> String {
    format!("{} {}", counted(count, QUERIES), if count == 1 { "is" } else { "are" })
}

/// Unit of sequence length, singular and plural.
pub(super) const RESIDUES: [&str; 2] = ["residue", "residues"];

/// Unit of input, singular and plural.
pub const RECORDS: [&str; 2] = ["record", "records"];

/// Receiver of a run's messages. Called from several threads.
pub trait Reporter: Sync {
    /// A message that the user should see.
    fn note(&self, text: &str);
    /// A message for verbose output.
    fn detail(&self, text: &str);
    /// Number of finished queries, or texts of a search.
    fn progress(&self, queries: u64);
    /// Start of a new stage of the run.
    fn stage(&self, _: Stage) {}
}

/// Current stage of a run.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// In words, such as "aligning".
    pub doing: &'static str,
    /// Unit of [`Reporter::progress`], singular and plural. `None` if nothing is counted.
    pub counted: Option<[&'static str; 2]>,
    /// The final count, if it is known.
    pub total: Option<u64>,
    /// Bytes of the input file processed so far. The number grows during the stage.
    pub bytes: Option<Arc<AtomicU64>>,
    /// Total bytes of the input, if known.
    pub size: Option<u64>,
}

impl Stage {
    /// A stage without a count.
    pub(super) fn of(doing: &'static str) -> Stage {
        Stage { doing, ..Stage::default() }
    }
}

/// `1 query`, `2 queries`.
pub fn counted(count: u64, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Notes warnings, if there are any.
pub(super) fn warn(reporter: &dyn Reporter, warnings: impl IntoIterator<Item = String>) {
    warnings.into_iter().for_each(|warning| reporter.note(&format!("warning: {warning}")));
}

/// Summary of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub queries: u64,
    /// Where the run's part of the input begins and ends ([`crate::input::reader::Extent::places`]).
    pub stretch: (u64, u64),
    pub aligned: u64,
    /// Aligned queries whose hits are of the second tier.
    pub anchored: u64,
    /// Queries that were not aligned because they equal others.
    pub repeated: u64,
    /// Queries whose hits were searched, including those for the estimate of the insert size.
    pub searched: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Queries that cost at least half of the cells of a full search because the filter could not narrow down their
    /// positions. `None` without a filter.
    pub whole: Option<u64>,
    /// Numbers of verdicts, if the run is an audit.
    pub verdicts: Option<VerdictCounts>,
    /// Numbers of a second file that is audited, too.
    pub compared: Option<ComparedCounts>,
    /// Remarks on queries for the end of the run.
    pub remarks: QueryRemarks,
    pub elapsed: Duration,
    /// Time spent on reading and parsing.
    pub reading: Duration,
    /// Time spent on finding windows and exact runs, summed over workers.
    pub filtering: Duration,
    /// Time spent on scoring, summed over workers.
    pub scoring: Duration,
    /// Time spent on filling direction matrices and on traceback, summed over workers.
    pub backtrace: Duration,
    /// Time spent on formatting and writing.
    pub writing: Duration,
}

impl Summary {
    /// Adds the work of a batch.
    pub(super) fn add(&mut self, effort: &Effort) {
        self.searched += effort.searched;
        self.cells += effort.cells;
        self.filtering += effort.filtering;
        self.scoring += effort.scoring;
        self.backtrace += effort.backtrace;
    }
}
