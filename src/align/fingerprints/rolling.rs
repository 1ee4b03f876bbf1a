//! Fingerprints base by base.

use super::polynomial::{CARRIED, LETTER_BITS};
use super::{CutRule, VALUES};
use crate::terms::alphabet::CODES;
use std::ops::Range;

/// Reports the cuts after the bases of `own`, ascending. The text includes the bases before `own`.
///
/// `F_i = F_(i-1) x^5 + c_i - c_(i-W) x^(5 W)`, where minus equals plus.
pub fn cuts(text: &[u8], own: Range<usize>, rule: &CutRule, mut take: impl FnMut(usize)) {
    let window = rule.window();
    let begin = own.start.saturating_sub(window - 1);
    // Index of the last base of the first window.
    let first = begin + window - 1;
    if first >= own.end {
        return;
    }
    let mask = rule.mask();
    let top = u32::BITS - LETTER_BITS;
    let append = |f: u32, code: u8| {
        f << LETTER_BITS ^ CARRIED[(f >> top) as usize] ^ VALUES[usize::from(code) % CODES]
    };
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
