//! One aligner shared by several threads: `cargo run --release --example threads`.
//!
//! ```text
//! GCATTAGCCATGGATCC a
//! CCAGTACCAGGATACAG b
//! ```

use std::thread;
use swalign::{Aligner, Device, Scoring, Targets};

pub fn main() -> Result<(), swalign::Error> {
    let targets = Targets::from_dna([
        ("a", "ACGTTGCATTAGCCATGGATCCATTGCACGG"),
        ("b", "TTGACCAGTACCAGGATACAGATTTACCGG"),
    ])?;
    let aligner =
        Aligner::builder(Scoring::dna(2, 4, 4, 2)).device(Device::Cpu).min_score(20).build(&targets)?;
    let queries = ["GCATTAGCCATGGATCC", "CCAGTACCAGGATACAG"];
    thread::scope(|scope| {
        let align = |query| {
            let aligner = &aligner;
            scope.spawn(move || aligner.align(query))
        };
        let threads = queries.map(align);
        for (query, thread) in queries.iter().zip(threads) {
            let hits = thread.join().expect("it does not panic")?;
            println!("{query} {}", hits.first().map_or("nothing", |hit| hit.target_name()));
        }
        Ok(())
    })
}
