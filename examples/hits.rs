//! The hits of a query: `cargo run --release --example hits`.
//!
//! ```text
//! chr1 2..26 36 10M2D12M
//! ```

use swalign::{Aligner, Scoring, Targets};

pub fn main() -> Result<(), swalign::Error> {
    let targets = Targets::from_dna([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")])?; // or Targets::from_fasta("ref.fa")
    let aligner = Aligner::builder(Scoring::dna(2, 4, 4, 2)).min_score(20).max_hits(5).build(&targets)?;
    for hit in aligner.align("ACGTTGCATTAGCCATGGATCC")? {
        println!("{} {:?} {} {}", hit.target_name(), hit.target_range(), hit.score(), hit.cigar());
    }
    Ok(())
}
