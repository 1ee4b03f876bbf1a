//! Polynomials over GF(2) of degree below 32, a bit for each coefficient, modulo one that is irreducible.

/// The modulus without its coefficient of x^32: the first irreducible polynomial of degree 32 with a constant term
/// among the random numbers of seed 1981 (a test searches for it again). Rabin (1981) draws it at random, too; here it
/// is drawn once, since cuts have to be the same in every run.
pub const POLYNOMIAL: u32 = 0x0b75_8247;
/// Coefficients per base: codes are below 32.
pub const LETTER_BITS: u32 = 5;

/// `f x`.
pub const fn times_x(f: u32) -> u32 {
    let carried = if f >> 31 == 1 { POLYNOMIAL } else { 0 };
    f << 1 ^ carried
}

/// `f x^exponent`.
pub const fn shifted(mut f: u32, exponent: u32) -> u32 {
    let mut done = 0;
    while done < exponent {
        f = times_x(f);
        done += 1;
    }
    f
}

/// `x^exponent`.
pub const fn power(exponent: u32) -> u32 {
    shifted(1, exponent)
}

/// `f g`.
pub const fn product(f: u32, g: u32) -> u32 {
    let (mut sum, mut bit) = (0, 0);
    let mut g = g;
    while bit < 32 {
        sum ^= if f >> bit & 1 == 1 { g } else { 0 };
        g = times_x(g);
        bit += 1;
    }
    sum
}

/// Reduction of the five highest coefficients when a base is appended: `t x^32` for each `t` below 32.
pub const CARRIED: [u32; 32] = {
    let mut table = [0; 32];
    let mut t = 0;
    while t < 32 {
        table[t as usize] = shifted(t << 27, LETTER_BITS);
        t += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The remainder of one polynomial by another, with all their coefficients.
    fn remainder(mut a: u64, b: u64) -> u64 {
        while a != 0 && a.leading_zeros() <= b.leading_zeros() {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        a
    }

    /// `f^2` modulo `x^32 + low`.
    fn square(f: u64, low: u64) -> u64 {
        let bits = (0..32).filter(|bit| f >> bit & 1 == 1);
        bits.fold(0, |sum, bit| sum ^ remainder(1 << (2 * bit), 1 << 32 | low))
    }

    /// Rabin's test: x^(2^32) = x, and x^(2^16) - x has no divisor in common with the polynomial.
    fn is_irreducible(low: u64) -> bool {
        let frobenius = |times| (0..times).fold(2, |f, _| square(f, low));
        let (mut a, mut b) = (1 << 32 | low, frobenius(16) ^ 2);
        while b != 0 {
            (a, b) = (b, remainder(a, b));
        }
        frobenius(32) == 2 && a == 1
    }

    #[test]
    fn the_modulus_is_the_first_irreducible_one() {
        let mix = |z: u64| {
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let number = |n: u64| mix(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(n).wrapping_add(1981)) >> 32 | 1;
        let first = (1..).map(number).find(|&low| is_irreducible(low)).unwrap();
        assert_eq!(first, u64::from(POLYNOMIAL));
        // x^32 + x^7 + x^3 + x^2 + 1 is irreducible. With x^8 instead of x^7 it is not: 1 is a root of neither.
        assert!(is_irreducible(0x8d) && !is_irreducible(0x10d));
    }

    #[test]
    fn products_are_those_of_long_division() {
        let long = |f: u32, g: u32| {
            let bits = (0..32).filter(|bit| f >> bit & 1 == 1);
            let whole = bits.fold(0, |sum, bit| sum ^ u64::from(g) << bit);
            remainder(whole, 1 << 32 | u64::from(POLYNOMIAL)) as u32
        };
        for (f, g) in [(0, 7), (1, 0x8000_0000), (0x8000_0001, 0xdead_beef), (u32::MAX, u32::MAX)] {
            assert_eq!(product(f, g), long(f, g), "{f} {g}");
        }
        assert_eq!((power(31), power(32)), (1 << 31, POLYNOMIAL));
        assert_eq!(CARRIED[3], product(3, power(32)));
    }
}
