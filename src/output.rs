//! What a run writes: records, lists, audits, statistics and the report.

pub mod audit;
pub mod report;
pub mod statistics;
pub mod writer;
