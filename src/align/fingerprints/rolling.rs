//! Fingerprints residue by residue.

use super::polynomial::{CARRIED, LETTER_BITS};
use super::{CutRule, WindowHash};
use crate::terms::alphabet::CODES;
use std::ops::Range;

/// Reports the cuts after the residues of `own`, ascending. The text includes the residues before `own`.
///
/// Rabin's fingerprints: `F_i = F_(i-1) x^5 + c_i - c_(i-W) x^(5 W)`, where minus equals plus. Gear fingerprints:
/// `F_i = 2 F_(i-1) + GEAR[c_i]`. The residue that leaves the window is shifted out.
pub fn cuts(text: &[u8], own: Range<usize>, rule: &CutRule, mut take: impl FnMut(usize)) {
    let window = rule.window();
    let begin = own.start.saturating_sub(window - 1);
    // Index of the last residue of the first window.
    let first = begin + window - 1;
    if first >= own.end {
        return;
    }
    let entering = |code: u8| rule.entering()[usize::from(code) % CODES];
    let mask = rule.mask();
    match rule.kind() {
        WindowHash::Rabin => {
            let top = u32::BITS - LETTER_BITS;
            let append = |f: u32, code| f << LETTER_BITS ^ CARRIED[(f >> top) as usize] ^ entering(code);
            let leaving = |code: u8| rule.leaving()[usize::from(code) % CODES];
            let mut f = text[begin..=first].iter().fold(0, |f, &code| append(f, code));
            if f & mask == mask {
                take(first + 1);
            }
            let letters = text[first + 1..own.end].iter().zip(&text[begin..]);
            for (end, (&code, &old)) in (first + 2..).zip(letters) {
                f = append(f, code) ^ leaving(old);
                if f & mask == mask {
                    take(end);
                }
            }
        }
        WindowHash::Gear => {
            let append = |f: u32, code| (f << 1).wrapping_add(entering(code));
            let mut f = text[begin..first].iter().fold(0, |f, &code| append(f, code));
            for (end, &code) in (first + 1..).zip(&text[first..own.end]) {
                f = append(f, code);
                if f & mask == mask {
                    take(end);
                }
            }
        }
    }
}
