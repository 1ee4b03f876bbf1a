//! Both strands of DNA as one sequence: the lesser of the letters and their reverse complement stands for both.

use crate::terms::alphabet::complement;

/// Turns `letters` of DNA, in upper case, into the lesser of them and their reverse complement. Gives whether they were
/// turned; what is its own reverse complement is not.
pub fn make_lesser(letters: &mut [u8]) -> bool {
    let turned = letters.iter().rev().map(|&letter| complement(letter));
    let is_greater = letters.iter().copied().gt(turned);
    if is_greater {
        turn(letters);
    }
    is_greater
}

/// Turns letters of DNA, in upper case, into their reverse complement.
pub fn turn(letters: &mut [u8]) {
    letters.reverse();
    letters.iter_mut().for_each(|letter| *letter = complement(*letter));
}
