//! The best local alignment of two sequences: `cargo run --release --example pair`.
//!
//! ```text
//! score 36, cigar 10M2D12M, identity 0.917
//! query 0..22, target 2..26
//! ```

use swalign::{Scoring, align_pair};

pub fn main() -> Result<(), swalign::Error> {
    let (query, target) = ("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA");
    match align_pair(query, target, &Scoring::dna(2, 4, 4, 2))? {
        Some(hit) => {
            println!("score {}, cigar {}, identity {:.3}", hit.score(), hit.cigar(), hit.identity());
            println!("query {:?}, target {:?}", hit.query_range(), hit.target_range());
        }
        None => println!("nothing aligns"),
    }
    Ok(())
}
