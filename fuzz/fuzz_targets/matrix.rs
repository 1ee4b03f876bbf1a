//! Substitution matrices in NCBI's format: no text makes the parser panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swalign::terms::alphabet::Alphabet;
use swalign::terms::scoring::Matrix;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let _ = Matrix::parse("fuzz", &text, alphabet);
    }
});
