//! The tests that need neither a GPU nor other programs.

#[path = "../common/mod.rs"]
mod common;
#[path = "../suite/mod.rs"]
mod suite;

mod all;
mod architecture;
mod audit;
mod boxes;
mod circular;
mod cli;
mod database;
mod dedup;
mod dictionary;
mod docs;
mod drops;
mod engines;
mod filter;
mod filter_counts;
mod fingerprints;
mod formats;
mod front_door;
mod fuzz_corpus;
mod grep;
mod grep_cli;
mod hits;
mod lanes;
mod lists;
mod mates;
mod mates_cli;
mod memory;
mod modes;
mod modes_cli;
mod oracles;
mod paf;
mod panel;
mod part;
mod profile;
mod ref_part;
mod repeats;
mod repeats_cli;
mod report;
mod search;
mod search_amplicons;
mod search_api;
mod search_cli;
mod shaders;
mod sort_cli;
mod tie_break_cli;
mod tiers;
mod tiers_cli;
mod translate;
