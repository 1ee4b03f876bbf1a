//! The GPU engine against answers from outside, as oracles.rs holds the others.

mod common;

use common::golden::{Table, check};
use swalign::engine::gpu::{Card, Gpu};

/// All tables on one engine, so that nothing of one stays behind for the next.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_with_every_table() {
    let card = Card::open(Some(&common::test_gpu()), false).unwrap_or_else(|error| panic!("{error}"));
    let mut gpu = Gpu::new(card);
    for name in ["small", "dna_pairs", "ssw", "protein_pairs", "gasal2", "small"] {
        let table = Table::pairs(name);
        assert_eq!(check(&mut gpu, &table), table.rows.len());
    }
    let reads = Table::reads();
    assert_eq!(check(&mut gpu, &reads), reads.rows.len());
}
