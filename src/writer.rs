//! Output: alignments as SAM, and where it goes.

pub mod output;
pub mod sam;
pub mod tags;

pub use output::Output;
pub use sam::SamWriter;

use crate::alignment::Alignment;

/// What was found for one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first is the primary alignment, the others are secondary; empty means unmapped.
    pub alignments: Vec<Alignment>,
    /// Score of the second best hit that exists, reported or not.
    pub second: Option<i32>,
    /// Least score from which a further hit of this query would exist.
    pub threshold: i32,
}
