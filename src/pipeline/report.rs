//! What a run tells while it runs, and what it did.

use crate::align::hits::{Effort, Remarks};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// What is aligned, by number.
pub(super) const QUERIES: [&str; 2] = ["query", "queries"];

/// What queries are aligned to in pairs, by number.
pub(super) const TARGETS: [&str; 2] = ["target", "targets"];

/// `1 query is`, `2 queries are`.
pub(super) fn queries_are(count: u64) -> String {
    format!("{} {}", counted(count, QUERIES), if count == 1 { "is" } else { "are" })
}

/// What sequences are made of, by number.
pub(super) const RESIDUES: [&str; 2] = ["residue", "residues"];

/// What is read, by number.
pub const RECORDS: [&str; 2] = ["record", "records"];

/// Where a run's news go. Called from several threads.
pub trait Reporter: Sync {
    /// Something that the user should know.
    fn note(&self, text: &str);
    /// Something that only a curious user wants to know.
    fn detail(&self, text: &str);
    /// Queries, or texts of a search, that are done.
    fn progress(&self, queries: u64);
    /// What the run does from now on.
    fn stage(&self, _: Stage) {}
}

/// What a run does at the moment.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// In words, such as "aligning".
    pub doing: &'static str,
    /// What [`Reporter::progress`] counts, one and several of it; `None` where nothing is counted.
    pub counted: Option<[&'static str; 2]>,
    /// The final count, if it is known.
    pub total: Option<u64>,
    /// Bytes of the input that are done so far, as they lie in the file. The number grows while the stage lasts.
    pub bytes: Option<Arc<AtomicU64>>,
    /// All bytes of the input, where that is known.
    pub size: Option<u64>,
}

impl Stage {
    /// A stage of which nothing is counted.
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

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub queries: u64,
    /// Where in the input a part of it begins and ends ([`crate::input::reader::Extent::places`]).
    pub stretch: (u64, u64),
    pub aligned: u64,
    /// Aligned queries whose hits are of the second tier.
    pub anchored: u64,
    /// Queries that were not aligned, since others equal them.
    pub repeated: u64,
    /// Queries whose hits were searched, those of an estimate of the insert size included.
    pub searched: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Queries that took half of the cells of a full search or more, since the filter could not narrow down where they align;
    /// `None` without a filter.
    pub whole: Option<u64>,
    /// Remarks on queries for the end of the run.
    pub remarks: Remarks,
    pub elapsed: Duration,
    /// Time in reading and parsing.
    pub reading: Duration,
    /// Time in finding windows and exact runs, summed over workers.
    pub filtering: Duration,
    /// Time in scoring, summed over workers.
    pub scoring: Duration,
    /// Time in filling directions and tracing paths back, summed over workers.
    pub backtrace: Duration,
    /// Time in formatting and writing.
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
