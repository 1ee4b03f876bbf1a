//! One suite for every fast engine: it must answer as `plain` does, cell for cell and path for path.
//!
//! An engine is used again across all cases of a test, since stale state is its likeliest fault. All
//! randomness is seeded; a failure names its case.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod agreement;
pub mod bands;
pub mod blocks;
pub mod crowd;
pub mod database;
pub mod inputs;
pub mod lanes;
pub mod modes;
pub mod pairs;
pub mod rows;
pub mod stretches;
pub mod two_pieces;
