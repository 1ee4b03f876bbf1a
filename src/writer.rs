//! Output: alignments as SAM, and where it goes.

mod header;
#[cfg(test)]
mod oracle;
pub mod output;
pub mod sam;
pub mod tags;
#[cfg(test)]
mod tests;

pub use output::Output;
pub use sam::SamWriter;
