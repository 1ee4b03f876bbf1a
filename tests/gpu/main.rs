//! The tests that need a GPU, or lavapipe.

#[path = "../common/mod.rs"]
mod common;
#[path = "../suite/mod.rs"]
mod suite;

mod gpu_cli;
mod gpu_diagonals;
mod gpu_dictionary;
mod gpu_engines;
mod gpu_grep;
mod gpu_oracles;
mod gpu_search;
