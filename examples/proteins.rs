//! Proteins similar to a query, by BLOSUM62: `cargo run --release --example proteins`.
//!
//! ```text
//! tr|A0A109NWT2|A0A109NWT2_9SPIR 554 0.956 114M
//! tr|A0A0V9V962|A0A0V9V962_STAEP 325 0.471 53M1I86M
//! tr|A0A0V9V962|A0A0V9V962_STAEP 62 0.176 13M1I17M8D34M1I34M
//! ```

use swalign::{Aligner, Alphabet, Device, Matrix, Scoring, Targets};

pub fn main() -> Result<(), swalign::Error> {
    let targets = Targets::from_fasta("data/uniprot_60.fa")?;
    let matrix = Matrix::named("BLOSUM62").expect("it is built in");
    let scoring = Scoring::matrix(Alphabet::Protein, matrix, 11, 1);
    let settings = Aligner::builder(scoring).device(Device::Cpu).max_hits(10).secondary_ratio(0.0);
    let aligner = settings.build(&targets)?;
    // Part of the helicase RecG of Borrelia burgdorferi.
    let query = "NRLLQGDVGSGKTLVALLSGLPLIEAGYQVAFMAPTDLLARQHYDNLSNILAPFNISMTLLTGSLRKKDKEQALESIRNGTSGLIVGTHAIFYESTEFKRLAYVIIDEQHKFGVVQREELKNKGEGVDMLLMSATPIPRS";
    for hit in aligner.align(query)? {
        println!("{} {} {:.3} {}", hit.target_name(), hit.score(), hit.identity(), hit.cigar());
    }
    Ok(())
}
