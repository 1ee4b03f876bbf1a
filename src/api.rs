//! The public interface: it takes sequences as text and returns hits.
//!
//! Alignment: read [`Targets`] once and build an [`Aligner`] for them once. Any number of threads can use it at the same
//! time. Search: build a [`Searcher`] for its patterns once, and share it in the same way. Both use the engines, filters and
//! scans of the command, so the answers are those of `swalign`, and they do not depend on the device.

mod aligner;
mod amplicons;
mod answers;
mod cigar;
mod device;
mod engines;
mod hit;
mod pairs;
mod records;
mod scores;
mod scoring;
mod searcher;
mod significance;
mod targets;

pub use crate::terms::options::PamSide;
pub use aligner::{AlignAll, Aligner, AlignerBuilder};
pub use amplicons::{Amplicon, AmpliconSearcher, AmpliconsAll, PrimerPairs, PrimerSite};
pub use cigar::{Cigar, Op};
pub use device::Device;
pub use hit::Hit;
pub use pairs::{AlignPairs, PairAligner, PairAlignerBuilder, align_pair};
pub use records::{Record, Records};
pub use scores::ScoreAll;
pub use scoring::ScoringBuilder;
pub use searcher::{Match, SearchAll, Searcher, SearcherBuilder};
pub use significance::Significance;
pub use targets::Targets;
