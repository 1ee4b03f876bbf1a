//! Results for the user after a run: its statistics as JSON (`--stats`) and as a page (`--report`), and the page of an audit.

mod multiqc;
mod page;
mod stats;
#[cfg(test)]
mod tests;

pub use page::{audit_page, page};
pub use stats::stats;

use crate::output::statistics::{ReferenceDepth, Statistics};
use crate::terms::insert::InsertSize;
use crate::terms::options::{Mode, Options};
use crate::terms::scoring::Scoring;
use std::path::Path;
use std::time::Duration;

/// A run and its results, which are the same on every device.
pub struct Account<'a> {
    pub options: &'a Options,
    pub scoring: &'a Scoring,
    /// `None` if any score is accepted.
    pub min_score: Option<i32>,
    /// Insert size of mates.
    pub insert: Option<InsertSize>,
    /// Number of queries that are too short to reach the minimum score or the maximum E-value.
    pub too_short: u64,
    /// Number of hits that masking removes.
    pub masked_hits: u64,
    /// Names of the references that queries are aligned to, as in the output.
    pub names: &'a [String],
    pub statistics: &'a Statistics,
}

/// Facts that differ between runs of the same command.
pub struct Facts {
    /// Description of the device.
    pub device: String,
    pub elapsed: Duration,
    /// Number of cells of the recurrence that were scored.
    pub cells: u64,
    /// Number of queries that were searched in full; `None` without a filter.
    pub whole: Option<u64>,
}

/// Sums over references.
#[derive(Clone, Copy, Debug, Default)]
struct Coverage {
    references: u64,
    letters: u64,
    unique: u64,
    tied: u64,
    aligned: u64,
    covered: u64,
    /// Number of references with an alignment.
    hit: u64,
}

impl Coverage {
    fn of<'a>(references: impl IntoIterator<Item = ReferenceDepth<'a>>) -> Coverage {
        references.into_iter().fold(Coverage::default(), |all, reference| Coverage {
            references: all.references + 1,
            letters: all.letters + reference.letters,
            unique: all.unique + reference.unique,
            tied: all.tied + reference.tied,
            aligned: all.aligned + reference.aligned,
            covered: all.covered + reference.covered,
            hit: all.hit + u64::from(reference.alignments() > 0),
        })
    }
}

impl Account<'_> {
    /// The references and their names.
    fn references(&self) -> impl Iterator<Item = (&str, ReferenceDepth<'_>)> {
        self.names.iter().map(String::as_str).zip(self.statistics.depth.references())
    }

    fn name_of(&self, target: u32) -> &str {
        self.names.get(target as usize).map_or("", String::as_str)
    }

    fn mode(&self) -> &'static str {
        match self.options.mode {
            Mode::All => "all",
            Mode::Pairs => "pairs",
            Mode::Triangle => "all against all",
        }
    }

    /// The part of the run that this report covers, such as "queries 2/8".
    fn part(&self) -> Option<String> {
        let queries = self.options.part.map(|part| format!("queries {}/{}", part.number, part.of));
        queries
            .or_else(|| self.options.ref_part.map(|part| format!("references {}/{}", part.number, part.of)))
    }
}

/// `part / whole`, rounded to `digits` digits after the decimal point; `None` if `whole` is 0.
fn ratio(part: impl Into<u128>, whole: impl Into<u128>, digits: u32) -> Option<String> {
    let (part, whole, scale) = (part.into(), whole.into(), 10u128.pow(digits));
    let doubled = part.checked_mul(2 * scale)?.checked_add(whole)?;
    let scaled = doubled.checked_div(whole.checked_mul(2)?)?;
    Some(format!("{}.{:0width$}", scaled / scale, scaled % scale, width = digits as usize))
}

/// Percentage with two digits after the decimal point.
fn percent(part: u64, whole: u64) -> Option<String> {
    ratio(u128::from(part) * 100, whole, 2)
}

/// A file name for display.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
