//! Short patterns with few edits in sequences and in lines, and words of a dictionary: searches that share bit-parallel
//! scans.

#[cfg(feature = "cli")]
pub mod dictionary;
#[cfg(feature = "cli")]
pub mod grep;
#[cfg(feature = "gpu")]
pub mod scan;
pub mod search;
pub mod sliced;
