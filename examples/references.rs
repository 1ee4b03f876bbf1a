//! Aligns sequences to the references of a FASTA file: `cargo run --release --example references`.
//!
//! ```text
//! ACCAACCAACTTTCGATCTCTTGT MN908947.3 30 54 Forward 24 24M
//! CATCTTTAAGATGTTGACGTGCCTC MN908947.3 385 410 Reverse 25 25M
//! ```

use swalign::{Aligner, Device, Scoring, Targets};

pub fn main() -> Result<(), swalign::Error> {
    let targets = Targets::from_fasta("data/sars2.fa")?;
    let aligner =
        Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).max_hits(5).build(&targets)?;
    eprintln!("{}", aligner.device());
    // Two primers of the ARTIC network.
    for query in ["ACCAACCAACTTTCGATCTCTTGT", "CATCTTTAAGATGTTGACGTGCCTC"] {
        for hit in aligner.align(query)? {
            let (name, place, strand) = (hit.target_name(), hit.target_range(), hit.strand());
            println!(
                "{query} {name} {} {} {strand:?} {} {}",
                place.start,
                place.end,
                hit.score(),
                hit.cigar()
            );
        }
    }
    Ok(())
}
