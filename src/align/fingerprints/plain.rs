//! The specification of fingerprints and cuts.

use super::polynomial::{LETTER_BITS, shifted};
use super::{CutRule, WindowHash};
use crate::terms::alphabet::CODES;

/// Table of the gear hash, one value per code: the upper halves of the random numbers of seed 2014 (SplitMix64).
pub const GEAR: [u32; CODES] = {
    let mut table = [0; CODES];
    let mut state = 2014u64;
    let mut letter = 0;
    while letter < CODES {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[letter] = ((z ^ (z >> 31)) >> 32) as u32;
        letter += 1;
    }
    table
};

/// The fingerprint of a window.
///
/// Rabin's: code `c` is the polynomial whose coefficients are its five bits, and the window `c_1 .. c_W` has the
/// fingerprint `sum c_i x^(5 (W - i))` modulo the polynomial of [`super::polynomial`]. The gear hash:
/// `sum GEAR[c_i] 2^(W - i)` modulo 2^32.
pub fn fingerprint(rule: &CutRule, window: &[u8]) -> u32 {
    window.iter().fold(0, |sum: u32, &code| {
        let letter = rule.value(code);
        match rule.kind() {
            WindowHash::Rabin => shifted(sum, LETTER_BITS) ^ u32::from(letter),
            WindowHash::Gear => (sum << 1).wrapping_add(GEAR[usize::from(letter)]),
        }
    })
}

/// The cuts of a sequence.
pub fn cuts(codes: &[u8], rule: &CutRule) -> Vec<usize> {
    let windows = (rule.window()..).zip(codes.windows(rule.window()));
    windows.filter(|(_, window)| rule.is_cut(fingerprint(rule, window))).map(|(end, _)| end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alphabet::Alphabet;

    #[test]
    fn short_windows_are_their_letters() {
        let rule = |kind, window| CutRule::new(kind, Alphabet::Dna, window, 4).unwrap();
        let rabin = rule(WindowHash::Rabin, 3);
        assert_eq!(fingerprint(&rabin, &[1, 3, 2]), 1 << 10 | 3 << 5 | 2);
        assert_eq!(fingerprint(&rabin, &[1, 14, 2]), 1 << 10 | 5 << 5 | 2, "N is no base");
        assert_eq!(cuts(&[0, 0, 3, 3, 1], &rabin), [3, 4]);
        assert_eq!(cuts(&[3, 3], &rabin), []);
        let gear = rule(WindowHash::Gear, 32);
        let mut window = [0; 32];
        window[31] = 2;
        let sum = GEAR[0].wrapping_mul(u32::MAX).wrapping_sub(GEAR[0]).wrapping_add(GEAR[2]);
        assert_eq!(fingerprint(&gear, &window), sum);
    }
}
