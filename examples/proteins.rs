//! The relatives of a protein, by BLOSUM62: `cargo run --release --example proteins`.

use swalign::{Aligner, Alphabet, Device, Matrix, Scoring, Targets};

pub fn main() -> Result<(), swalign::Error> {
    let targets = Targets::from_fasta("data/uniprot_60.fa")?;
    let matrix = Matrix::named("BLOSUM62").expect("it is built in");
    let scoring = Scoring::matrix(Alphabet::Protein, matrix, 11, 1);
    let settings = Aligner::builder(scoring).device(Device::Cpu).max_hits(10).secondary_ratio(0.0);
    let aligner = settings.build(&targets)?;
    // The beginning of human haemoglobin's alpha chain.
    let query = "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSH";
    for hit in aligner.align(query)? {
        println!("{}\t{}\t{:.3}\t{}", hit.target_name(), hit.score(), hit.identity(), hit.cigar());
    }
    Ok(())
}
