//! Short patterns with few edits in sequences and in lines, and literal words: searches that share bit-parallel scans.

#[cfg(feature = "cli")]
pub mod lines;
#[cfg(feature = "gpu")]
pub mod scan;
pub mod search;
pub mod sliced;
mod tables;
