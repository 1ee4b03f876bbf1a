//! One canonical sequence for both strands of DNA: the lesser of a sequence and its reverse complement.

use crate::terms::alphabet::complement;

/// Turns `letters` of DNA, in upper case, into the lesser of the sequence and its reverse complement. Returns whether
/// it was replaced. A sequence that is its own reverse complement is not.
pub fn make_lesser(letters: &mut [u8]) -> bool {
    let turned = letters.iter().rev().map(|&letter| complement(letter));
    let is_greater = letters.iter().copied().gt(turned);
    if is_greater {
        turn(letters);
    }
    is_greater
}

/// Replaces DNA, in upper case, by its reverse complement.
pub fn turn(letters: &mut [u8]) {
    letters.reverse();
    letters.iter_mut().for_each(|letter| *letter = complement(*letter));
}
