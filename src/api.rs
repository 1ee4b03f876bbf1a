//! The front door: sequences as letters in, hits out.
//!
//! Alignment: [`Targets`] are read once, an [`Aligner`] is built for them once, and any number of threads may then ask it
//! at a time. Search: a [`Searcher`] is built for its patterns once, and is shared in the same way. Behind them stand the
//! engines, filters and scans of the command, so the answers are those of `swalign`, and they do not depend on the device.

mod aligner;
mod cigar;
mod device;
mod hit;
mod searcher;
mod targets;

pub use crate::search::pam::PamSide;
pub use aligner::{AlignAll, Aligner, AlignerBuilder, align_pair};
pub use cigar::{Cigar, Op};
pub use device::Device;
pub use hit::Hit;
pub use searcher::{Match, SearchAll, Searcher, SearcherBuilder};
pub use targets::Targets;
