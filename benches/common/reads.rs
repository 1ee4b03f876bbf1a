//! Seeded reads drawn from targets.

use super::random::Random;

/// Edit rates of a read: `substitutions`, one insertion and one deletion per `of` residues.
#[derive(Clone, Copy)]
pub struct Edits {
    pub substitutions: usize,
    pub of: usize,
}

/// Returns a read of `len` codes from a random position of `target`, with edits. Random codes are less than `letters`.
pub fn read(random: &mut Random, target: &[u8], len: usize, letters: u8, edits: Edits) -> Vec<u8> {
    let mut place = random.below(target.len().saturating_sub(len) + 1);
    let mut read = Vec::with_capacity(len);
    while read.len() < len {
        let edit = random.below(edits.of);
        if edit == 0 {
            place += 1;
            continue;
        }
        let same = target.get(place).filter(|_| edit >= 2 + edits.substitutions);
        read.push(same.copied().unwrap_or_else(|| random.below(usize::from(letters)) as u8));
        place += usize::from(edit > 1);
    }
    read
}
