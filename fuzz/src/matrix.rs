//! Substitution matrices in NCBI's format: no text makes the parser panic.

use swalign::terms::alphabet::Alphabet;
use swalign::terms::scoring::Matrix;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let _ = Matrix::parse("fuzz", &text, alphabet);
    }
}
