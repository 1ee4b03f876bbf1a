//! Circular references: hits compared with their definition on the doubled text, pieces at the origin, mates and split
//! reads for every rotation of a circle, and the command.

#[path = "circular/command.rs"]
mod command;
#[path = "circular/definition.rs"]
mod definition;
#[path = "circular/records.rs"]
mod records;
#[path = "circular/rotations.rs"]
mod rotations;

use crate::common::{batches, random::Random};
use swalign::align::candidates::{Meets, PairLayout};
use swalign::terms::alignment::Strands;
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::batch::Batch;
use swalign::terms::scoring::Scoring;

const LAYOUT: PairLayout = PairLayout { strands: Strands::Both, meets: Meets::All };

fn drawn(random: &mut Random, letters: &[u8], len: usize) -> Vec<u8> {
    (0..len).map(|_| random.pick(letters)).collect()
}

/// `len` bases of a circle from position `start`, repeating the circle as needed.
fn round(circle: &[u8], start: usize, len: usize) -> Vec<u8> {
    circle.iter().cycle().skip(start % circle.len()).take(len).copied().collect()
}

/// Reads on both strands and targets. The targets at `circles` are circular.
fn batch_of(reads: &[Vec<u8>], targets: &[Vec<u8>], circles: &[usize], scoring: Scoring) -> Batch {
    let mut all = batches::encoded(targets);
    all.close(&circles.iter().copied().collect());
    batches::of(batches::both_strands(reads), all, scoring)
}
