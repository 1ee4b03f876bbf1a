//! Aligns any number of queries, in order, without holding all of them in memory: `cargo run --release --example stream
//! < queries.txt`, with one sequence per line.
//!
//! Output for the lines `GATTACAGATTACA` and `GCAGTGGGGAATATTGGACAATGGGCGAAAGCCTGATCCAGC`:
//!
//! ```text
//! 1 nothing
//! 2 gi_343206090
//! ```

use std::io::{BufRead, stdin};
use swalign::{Aligner, Device, Scoring, Targets};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let targets = Targets::from_fasta("data/16s_20.fa")?;
    let aligner = Aligner::builder(Scoring::dna(1, 4, 6, 1)).device(Device::Cpu).build(&targets)?;
    let lines = stdin().lock().lines().map_while(Result::ok);
    for (number, hits) in aligner.align_all(lines).enumerate() {
        match hits {
            Ok(hits) => {
                let best = hits.first().map_or("nothing", |hit| hit.target_name());
                println!("{} {best}", number + 1);
            }
            // An error concerns one line. The iterator continues with the next line.
            Err(error) => eprintln!("line {}: {error}", number + 1),
        }
    }
    Ok(())
}
