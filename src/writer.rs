//! Output: alignments as SAM, and where it goes.

pub mod output;
pub mod sam;
pub mod tags;

pub use output::Output;
pub use sam::SamWriter;
