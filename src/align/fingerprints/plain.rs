//! The specification of fingerprints and cuts.

use super::polynomial::{LETTER_BITS, shifted};
use super::{CutRule, VALUES};

/// The fingerprint of a window.
///
/// Code `c` is the polynomial whose coefficients are its five bits, and the window `c_1 .. c_W` has the fingerprint
/// `sum c_i x^(5 (W - i))` modulo the polynomial of [`super::polynomial`].
pub fn fingerprint(window: &[u8]) -> u32 {
    window.iter().fold(0, |sum, &code| shifted(sum, LETTER_BITS) ^ VALUES[usize::from(code)])
}

/// The cuts of a sequence.
pub fn cuts(codes: &[u8], rule: &CutRule) -> Vec<usize> {
    let windows = (rule.window()..).zip(codes.windows(rule.window()));
    windows
        .filter(|(_, window)| fingerprint(window) & rule.mask() == rule.mask())
        .map(|(end, _)| end)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_windows_are_their_letters() {
        let rule = CutRule::new(3, 4);
        assert_eq!(fingerprint(&[1, 3, 2]), 1 << 10 | 3 << 5 | 2);
        assert_eq!(fingerprint(&[1, 14, 2]), 1 << 10 | 5 << 5 | 2, "N is no base");
        assert_eq!(cuts(&[0, 0, 3, 3, 1], &rule), [3, 4]);
        assert_eq!(cuts(&[3, 3], &rule), []);
    }
}
