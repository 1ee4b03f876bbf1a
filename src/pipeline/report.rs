//! What a run tells while it runs, and what it did.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// What is aligned, by number.
pub(super) const QUERIES: [&str; 2] = ["query", "queries"];

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

/// Notes a warning, if there is one.
pub(super) fn warn(reporter: &dyn Reporter, warning: Option<String>) {
    if let Some(warning) = warning {
        reporter.note(&format!("warning: {warning}"));
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub queries: u64,
    /// Where in the input a part of it begins and ends ([`crate::reader::Extent::places`]).
    pub stretch: (u64, u64),
    pub aligned: u64,
    /// Queries that were not aligned, since others equal them.
    pub repeated: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Queries that were searched in full since the filter could not narrow down where they align; `None` without a
    /// filter.
    pub whole: Option<u64>,
    /// Queries that may have further supplementary hits, since the search for them was bounded.
    pub unsplit: u64,
    /// Queries with a further hit that was left out for its share of the best score.
    pub cut: u64,
    pub elapsed: Duration,
    /// Time in reading and parsing.
    pub reading: Duration,
    /// Time in scoring, summed over workers.
    pub scoring: Duration,
    /// Time in filling directions and tracing paths back, summed over workers.
    pub backtrace: Duration,
    /// Time in formatting and writing.
    pub writing: Duration,
}
