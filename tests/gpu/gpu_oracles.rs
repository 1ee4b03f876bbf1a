//! The GPU engine compared with results of other programs, like the other engines in oracles.rs.

use crate::common::devices::card;
use crate::common::golden::{Table, check};
use swalign::engine::gpu::Gpu;

/// All tables use the same engine, which must not keep state from one to the next.
#[test]
#[ignore = "needs a Vulkan adapter: run scripts/test.sh"]
fn gpu_agrees_with_every_table() {
    let mut gpu = Gpu::new(card(false));
    for name in ["small", "dna_pairs", "ssw", "protein_pairs", "gasal2", "small"] {
        let table = Table::pairs(name);
        assert_eq!(check(&mut gpu, &table), table.rows.len());
    }
    let reads = Table::reads();
    assert_eq!(check(&mut gpu, &reads), reads.rows.len());
}
