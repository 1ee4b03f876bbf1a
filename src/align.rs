//! From queries to hits: candidates, scores, paths, mates, supplementary hits, and how likely and how good a hit is.

#[cfg(feature = "cli")]
pub mod audit;
pub mod backtrace;
pub mod candidates;
#[cfg(feature = "cli")]
pub mod circles;
#[cfg(feature = "cli")]
pub mod complexity;
pub mod dedup;
pub mod end_bonus;
pub mod fingerprints;
pub mod fitted;
pub mod hits;
#[cfg(feature = "cli")]
pub mod identity;
#[cfg(feature = "cli")]
pub mod pairing;
pub mod quality;
pub mod repeats;
pub mod significance;
#[cfg(feature = "cli")]
pub mod split;
