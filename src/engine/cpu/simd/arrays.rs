//! Vectors as arrays of 16 bytes: the compiler turns the loops over their lanes into SSE or NEON.

use super::{Bits, Calls, Kernel, KernelPart, Lane, MatrixRow, Rows, Stripes, Vectors};
use crate::terms::alphabet::CODES;

/// An array like `$like` whose lane `$k` is `$lane`. It is a plain loop, because the compiler has to inline closures wherever
/// an operation is used.
macro_rules! lanes {
    ($like:expr, |$k:ident| $lane:expr) => {{
        let mut lanes = $like;
        let mut $k = 0;
        while $k < lanes.len() {
            lanes[$k] = $lane;
            $k += 1;
        }
        lanes
    }};
}

/// Operations in loops, with calls to functions that are compiled for the set `C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrays<C>(pub C);

impl<C: Calls> Calls for Arrays<C> {
    #[inline(always)]
    fn call<P: KernelPart>(self, part: P) -> P::Output {
        self.0.call(part)
    }
}

/// The baseline of the architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline;

impl Baseline {
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(Arrays(self))
    }
}

impl Calls for Baseline {
    #[inline(never)]
    fn call<P: KernelPart>(self, part: P) -> P::Output {
        part.run()
    }
}

macro_rules! vectors {
    ($lane:ty, $unsigned:ty, $lanes:literal) => {
        impl<C: Calls> Vectors<$lane> for Arrays<C> {
            type V = [$lane; $lanes];
            /// All bits of a lane, or none.
            type Mask = [$lane; $lanes];
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, lane: $lane) -> Self::V {
                [lane; $lanes]
            }

            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                lanes!(a, |k| a[k].wrapping_add(b[k]))
            }

            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                lanes!(a, |k| a[k].wrapping_sub(b[k]))
            }

            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                lanes!(a, |k| a[k].max(b[k]))
            }

            #[inline(always)]
            fn eq(self, a: Self::V, b: Self::V) -> Self::Mask {
                lanes!(a, |k| -<$lane>::from(a[k] == b[k]))
            }

            #[inline(always)]
            fn gt(self, a: Self::V, b: Self::V) -> Self::Mask {
                lanes!(a, |k| -<$lane>::from(a[k] > b[k]))
            }

            #[inline(always)]
            fn any_lane(self, mask: Self::Mask) -> bool {
                mask.iter().fold(0, |all, lane| all | lane) != 0
            }

            #[inline(always)]
            fn select(self, mask: Self::Mask, yes: Self::V, no: Self::V) -> Self::V {
                lanes!(mask, |k| mask[k] & yes[k] | !mask[k] & no[k])
            }

            #[inline(always)]
            fn lookup(self, table: &MatrixRow, codes: Self::V) -> Self::V {
                lanes!(codes, |k| <$lane>::from(table[codes[k].unsigned() as usize % CODES]))
            }

            #[inline(always)]
            fn or(self, a: Self::V, b: Self::V) -> Self::V {
                lanes!(a, |k| a[k] | b[k])
            }

            #[inline(always)]
            fn shift_and_or(self, a: Self::V, b: Self::V) -> Self::V {
                lanes!(a, |k| (a[k] as $unsigned >> 4) as $lane | b[k])
            }
        }
    };
}

vectors!(i8, u8, 16);
vectors!(i16, u16, 8);
vectors!(i32, u32, 4);

macro_rules! stripes {
    ($lane:ty, $lanes:literal) => {
        impl<C: Calls> Stripes<$lane> for Arrays<C> {
            #[inline(always)]
            fn rotate(self, a: Self::V, count: usize) -> Self::V {
                lanes!(a, |k| a[(k + $lanes - count) % $lanes])
            }

            #[inline(always)]
            fn with_first(self, mut a: Self::V, first: $lane) -> Self::V {
                a[0] = first;
                a
            }
        }
    };
}

stripes!(i8, 16);
stripes!(i16, 8);

impl<C: Calls> Rows for Arrays<C> {
    #[inline(always)]
    fn load(self, values: &[i32]) -> Self::V {
        let values = &values[..4];
        lanes!([0; 4], |k| values[k])
    }

    #[inline(always)]
    fn gather(self, table: &[i32], places: Self::V) -> Self::V {
        lanes!(places, |k| table[places[k] as usize])
    }

    #[inline(always)]
    fn shift_in(self, a: Self::V, values: &[i32]) -> Self::V {
        [values[3], a[0], a[1], a[2]]
    }

    #[inline(always)]
    fn store_last(self, a: Self::V, to: &mut i32) {
        *to = a[3];
    }
}

impl<C: Calls> Bits for Arrays<C> {
    type B = [u64; 2];

    #[inline(always)]
    fn and(self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        lanes!(a, |k| a[k] & b[k])
    }

    #[inline(always)]
    fn and_not(self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        lanes!(a, |k| a[k] & !b[k])
    }

    #[inline(always)]
    fn or(self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        lanes!(a, |k| a[k] | b[k])
    }

    #[inline(always)]
    fn xor(self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        lanes!(a, |k| a[k] ^ b[k])
    }

    #[inline(always)]
    fn majority(self, a: [u64; 2], b: [u64; 2], c: [u64; 2]) -> [u64; 2] {
        lanes!(a, |k| a[k] & b[k] | c[k] & (a[k] | b[k]))
    }

    #[inline(always)]
    fn shift_up(self, a: [u64; 2], count: u32) -> [u64; 2] {
        a.map(|word| word << count)
    }

    #[inline(always)]
    fn shift_down(self, a: [u64; 2], count: u32) -> [u64; 2] {
        a.map(|word| word >> count)
    }

    #[inline(always)]
    fn any(self, a: [u64; 2]) -> bool {
        a[0] | a[1] != 0
    }

    #[inline(always)]
    fn prefetch(self, _: &[u8]) {}

    /// The product collects the lowest bits of eight bytes in the highest byte.
    #[inline(always)]
    fn bits_of<const BIT: u32>(self, bytes: &[u8; 64]) -> u64 {
        let (eights, _) = bytes.as_chunks::<8>();
        let gathered = |eight: &[u8; 8]| {
            let lowest = u64::from_le_bytes(*eight) >> BIT & 0x0101_0101_0101_0101;
            lowest.wrapping_mul(0x0102_0408_1020_4080) >> 56
        };
        eights.iter().rev().fold(0, |bits, eight| bits << 8 | gathered(eight))
    }
}
