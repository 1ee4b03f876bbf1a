//! What a run writes: records, lists, statistics and the report.

pub mod report;
pub mod statistics;
pub mod writer;
