//! What all rooms talk about: residues, scores, alignments, batches and errors. Terms know each other and nothing else.

pub mod alignment;
pub mod alphabet;
pub mod bam;
pub mod batch;
pub mod bounds;
pub(crate) mod casts;
pub mod error;
pub mod groups;
pub mod insert;
#[cfg(feature = "cli")]
pub mod json;
pub mod memory;
pub mod options;
#[cfg(test)]
pub mod random;
pub mod scoring;
pub mod system;
