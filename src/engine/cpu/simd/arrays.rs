//! Vectors as arrays of 16 bytes: the compiler makes SSE or NEON of the loops over their lanes.

use super::{Lane, Rows, Table, Vectors};
use crate::alphabet::CODES;
use std::array::from_fn;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrays;

macro_rules! vectors {
    ($lane:ty, $unsigned:ty, $lanes:literal) => {
        impl Vectors<$lane> for Arrays {
            type V = [$lane; $lanes];
            /// All bits of a lane or none.
            type Mask = [$lane; $lanes];
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, lane: $lane) -> Self::V {
                [lane; $lanes]
            }

            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                from_fn(|k| a[k].wrapping_add(b[k]))
            }

            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                from_fn(|k| a[k].wrapping_sub(b[k]))
            }

            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                from_fn(|k| a[k].max(b[k]))
            }

            #[inline(always)]
            fn eq(self, a: Self::V, b: Self::V) -> Self::Mask {
                from_fn(|k| -<$lane>::from(a[k] == b[k]))
            }

            #[inline(always)]
            fn gt(self, a: Self::V, b: Self::V) -> Self::Mask {
                from_fn(|k| -<$lane>::from(a[k] > b[k]))
            }

            #[inline(always)]
            fn select(self, mask: Self::Mask, yes: Self::V, no: Self::V) -> Self::V {
                from_fn(|k| mask[k] & yes[k] | !mask[k] & no[k])
            }

            #[inline(always)]
            fn lookup(self, table: &Table, codes: Self::V) -> Self::V {
                from_fn(|k| <$lane>::from(table[codes[k].unsigned() as usize % CODES]))
            }

            #[inline(always)]
            fn or(self, a: Self::V, b: Self::V) -> Self::V {
                from_fn(|k| a[k] | b[k])
            }

            #[inline(always)]
            fn shift_and_or(self, a: Self::V, b: Self::V) -> Self::V {
                from_fn(|k| (a[k] as $unsigned >> 4) as $lane | b[k])
            }
        }
    };
}

vectors!(i8, u8, 16);
vectors!(i16, u16, 8);
vectors!(i32, u32, 4);

impl Rows for Arrays {
    #[inline(always)]
    fn load(self, values: &[i32]) -> Self::V {
        let values = &values[..4];
        from_fn(|k| values[k])
    }

    #[inline(always)]
    fn gather(self, table: &[i32], places: Self::V) -> Self::V {
        from_fn(|k| table[places[k] as usize])
    }

    #[inline(always)]
    fn rotate(self, a: Self::V) -> Self::V {
        [a[3], a[0], a[1], a[2]]
    }

    #[inline(always)]
    fn first(self, a: Self::V) -> i32 {
        a[0]
    }

    #[inline(always)]
    fn with_first(self, a: Self::V, first: i32) -> Self::V {
        [first, a[1], a[2], a[3]]
    }
}
