//! Hamming distances of one column by adders of single bits: seven bits are added to a sum of three ([`sum`]), which is
//! subtracted from the number of matches needed ([`take_away`]). This needs the planes of all columns.

use crate::engine::cpu::simd::Bits;
use crate::patterns::sliced::transpose::all_ones;

/// Bits added per call of [`sum`].
pub const ADDENDS: usize = 7;

/// Sum and carry of three bits.
#[inline(always)]
fn add<S: Bits>(simd: S, a: S::B, b: S::B, c: S::B) -> (S::B, S::B) {
    (simd.xor(simd.xor(a, b), c), simd.majority(a, b, c))
}

/// The three bits of the sum of seven bits.
#[inline(always)]
pub fn sum<S: Bits>(simd: S, [a, b, c, d, e, f, g]: [S::B; ADDENDS]) -> [S::B; 3] {
    let (abc, abc_twos) = add(simd, a, b, c);
    let (def, def_twos) = add(simd, d, e, f);
    let (one, ones_twos) = add(simd, abc, def, g);
    let (two, four) = add(simd, abc_twos, def_twos, ones_twos);
    [one, two, four]
}

/// Subtracts a three-bit number from another, by adding its complement and one.
#[inline(always)]
pub fn take_away<S: Bits>(simd: S, number: &mut [S::B], bits: [S::B; 3]) {
    let ones: S::B = all_ones();
    let mut carry = ones;
    for (place, bit) in number.iter_mut().enumerate() {
        let minus = if place < bits.len() { simd.and_not(ones, bits[place]) } else { ones };
        let (sum, next) = add(simd, *bit, minus, carry);
        (*bit, carry) = (sum, next);
    }
}
