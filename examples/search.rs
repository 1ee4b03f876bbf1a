//! Finds the binding sites of primers in a genome, with up to two edits: `cargo run --release --example search`.
//!
//! ```text
//! 1_LEFT 30 54 Forward 0 24=
//! 2_LEFT 320 342 Forward 0 22=
//! 1_RIGHT 385 410 Reverse 0 25=
//! ```

use swalign::{Device, Searcher};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three primers of the ARTIC network. A pattern may contain IUPAC codes, which match any of their bases.
    let primers = [
        ("1_LEFT", "ACCAACCAACTTTCGATCTCTTGT"),
        ("1_RIGHT", "CATCTTTAAGATGTTGACGTGCCTC"),
        ("2_LEFT", "CTGTTTTACAGGTTCGCGACGT"),
    ];
    let searcher = Searcher::builder(primers).device(Device::Cpu).max_edits(2).build()?;
    // The text can come from any source: a FASTA parser, a line, or a window of a genome.
    let genome = std::fs::read_to_string("data/sars2.fa")?;
    let letters: String = genome.lines().skip(1).collect();
    for found in searcher.search(&letters)? {
        let (name, place, strand) = (found.pattern_name(), found.range(), found.strand());
        println!("{name} {} {} {strand:?} {} {}", place.start, place.end, found.edits(), found.cigar());
    }
    Ok(())
}
