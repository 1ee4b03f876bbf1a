//! Conversions between numbers that `as` would narrow silently. Lints deny such uses of `as` (`lib.rs`), so the name of
//! a narrowing conversion says what happens to a value that does not fit:
//!
//! | function | a value that does not fit |
//! |---|---|
//! | `to_u32` and the like | is a bug: debug builds and tests panic, release builds wrap as `as` does |
//! | `low_u32` and the like | loses its high bits, as intended |
//! | `whole_u32` and the like, `nearest_f32` | becomes the nearest value of the type, and NaN becomes 0 or stays |
//! | `const_u32`, `const_u8` | is a compiler error, in constants |
//!
//! `to_u32` and the like are for values with a known bound: positions in sequences, of which none has more than
//! `i32::MAX` residues, numbers of records in a batch, and scores. A value from a user or a file is converted by
//! `try_from`, which can fail. `u32` to `usize` stays `as`, because it loses nothing.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the only module that narrows numbers"
)]
#![cfg_attr(not(feature = "cli"), allow(dead_code, reason = "some are for parts of the command"))]

// Numbers of sequences and positions in them are u32 everywhere.
const _: () = assert!(usize::BITS >= u32::BITS);

/// An integer that can be converted to a `T` that may not hold all values of its type.
pub trait Narrow<T>: Copy {
    fn fits(self) -> bool;
    fn wrapped(self) -> T;
}

macro_rules! narrow {
    ($($from:ty),* => $all:tt) => {$( narrow!(@ $from => $all); )*};
    (@ $from:ty => ($($to:ty),*)) => {$(
        impl Narrow<$to> for $from {
            #[inline(always)]
            fn fits(self) -> bool {
                <$to>::try_from(self).is_ok()
            }

            #[inline(always)]
            fn wrapped(self) -> $to {
                self as $to
            }
        }
    )*};
}

narrow!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, isize => (u8, u16, u32, u64, usize, i8, i32, i64, isize));

macro_rules! conversions {
    ($($name:ident $to:ty)*) => {$(
        #[doc = concat!("The same value as `", stringify!($to), "`, which holds it.")]
        // Forces inlining: kernels are compiled for each instruction set, and tests are hardly optimized.
        #[inline(always)]
        #[track_caller]
        pub fn $name<N: Narrow<$to>>(value: N) -> $to {
            debug_assert!(value.fits(), concat!("the value does not fit into ", stringify!($to)));
            value.wrapped()
        }
    )*};
}

conversions! {
    to_u8 u8
    to_u16 u16
    to_u32 u32
    to_u64 u64
    to_usize usize
    to_i8 i8
    to_i32 i32
    to_i64 i64
    to_isize isize
}

macro_rules! whole {
    ($($name:ident $to:ty)*) => {$(
        #[doc = concat!("The integer part of a number as the nearest `", stringify!($to), "`; 0 of NaN.")]
        #[inline]
        pub fn $name(number: f64) -> $to {
            number as $to
        }
    )*};
}

whole! {
    whole_u8 u8
    whole_u32 u32
    whole_u64 u64
    whole_usize usize
    whole_i32 i32
    whole_i64 i64
}

/// The nearest 32-bit number, which is infinite beyond the largest one.
#[inline]
pub fn nearest_f32(number: f64) -> f32 {
    number as f32
}

/// The low 32 bits.
#[inline(always)]
pub fn low_u32(value: u64) -> u32 {
    value as u32
}

/// The low 16 bits.
#[inline(always)]
pub fn low_u16(value: u32) -> u16 {
    value as u16
}

/// The low 8 bits.
#[inline(always)]
pub fn low_u8<N: Narrow<u8>>(value: N) -> u8 {
    value.wrapped()
}

/// A constant as `u32`.
pub const fn const_u32(value: usize) -> u32 {
    assert!(value <= u32::MAX as usize);
    value as u32
}

/// A constant as `u8`.
pub const fn const_u8(value: usize) -> u8 {
    assert!(value <= u8::MAX as usize);
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_what_they_are() {
        assert_eq!(
            (to_u8(255usize), to_u16(65_535u32), to_u32(u64::from(u32::MAX))),
            (255, 65_535, u32::MAX)
        );
        assert_eq!((to_i8(-128i32), to_i32(-5i64), to_i64(7usize), to_isize(9usize)), (-128, -5, 7, 9));
        assert_eq!((to_usize(12i64), to_u64(12i32)), (12, 12));
        assert_eq!((const_u8(255), const_u32(70_000)), (255, 70_000));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn tests_stop_at_what_does_not_fit() {
        fn stops<T>(narrow: fn() -> T) -> bool {
            std::panic::catch_unwind(narrow).is_err()
        }
        assert!(stops(|| to_u32(1u64 << 32)));
        assert!(stops(|| to_u32(-1i32)));
        assert!(stops(|| to_i32(u32::MAX)));
        assert!(stops(|| to_u8(256usize)));
        assert!(stops(|| to_usize(-1i64)));
    }

    #[test]
    fn bits_are_cut_off_and_numbers_are_clipped() {
        assert_eq!((low_u32(0x5_0000_0007), low_u16(0x5_0007), low_u8(0x1234u32)), (7, 7, 0x34));
        assert_eq!((whole_i32(1e12), whole_i32(-1e12), whole_i32(-2.9)), (i32::MAX, i32::MIN, -2));
        assert_eq!((whole_u8(-1.0), whole_u32(f64::NAN), whole_usize(f64::INFINITY)), (0, 0, usize::MAX));
        assert_eq!((whole_u64(7.9), whole_i64(-7.9)), (7, -7));
    }
}
