//! AVX2: vectors of 32 bytes. A mask sets all bits of a lane.

use super::{Bits, Calls, Kernel, KernelPart, MatrixRow, Rows, Stripes, Vectors};
use bytemuck::cast;
use std::arch::x86_64::*;

compiled_for!("avx2");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Avx2> {
        is_here().then_some(Avx2(()))
    }

    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` is only created if the processor has all features of the list.
        unsafe { run_compiled(self, kernel) }
    }
}

impl Calls for Avx2 {
    #[inline(always)]
    fn call<P: KernelPart>(self, part: P) -> P::Output {
        // SAFETY: `self` is only created if the processor has all features of the list.
        unsafe { call_compiled(part) }
    }
}

/// Result of register operations of the set. They are safe on a processor that has the set, which `$token` proves. The
/// expression must not contain other unsafe operations, such as a read through a pointer.
macro_rules! operation {
    ($token:expr, $result:expr) => {{
        let _: Avx2 = $token;
        // SAFETY: there is a token of the set, which is only created if the processor has all features of the list.
        unsafe { $result }
    }};
}

macro_rules! vectors {
    ($lane:ty, $lanes:literal, $splat:ident, $add:ident, $sub:ident, $max:ident, $eq:ident, $gt:ident,
     $extend:ident, $shift:expr) => {
        impl Vectors<$lane> for Avx2 {
            type V = __m256i;
            type Mask = __m256i;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, lane: $lane) -> __m256i {
                operation!(self, $splat(lane))
            }

            #[inline(always)]
            fn add(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, $add(a, b))
            }

            #[inline(always)]
            fn sub(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, $sub(a, b))
            }

            #[inline(always)]
            fn max(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, $max(a, b))
            }

            #[inline(always)]
            fn eq(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, $eq(a, b))
            }

            #[inline(always)]
            fn gt(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, $gt(a, b))
            }

            #[inline(always)]
            fn any_lane(self, mask: __m256i) -> bool {
                operation!(self, _mm256_testz_si256(mask, mask) == 0)
            }

            #[inline(always)]
            fn select(self, mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
                operation!(self, _mm256_blendv_epi8(no, yes, mask))
            }

            #[inline(always)]
            fn lookup(self, table: &MatrixRow, codes: __m256i) -> __m256i {
                operation!(self, $extend(lookup_bytes(self, table, codes)))
            }

            #[inline(always)]
            fn or(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, _mm256_or_si256(a, b))
            }

            #[inline(always)]
            fn shift_and_or(self, a: __m256i, b: __m256i) -> __m256i {
                operation!(self, _mm256_or_si256($shift(a), b))
            }
        }
    };
}

vectors!(
    i8,
    32,
    _mm256_set1_epi8,
    _mm256_add_epi8,
    _mm256_sub_epi8,
    _mm256_max_epi8,
    _mm256_cmpeq_epi8,
    _mm256_cmpgt_epi8,
    identity,
    shift_bytes
);
vectors!(
    i16,
    16,
    _mm256_set1_epi16,
    _mm256_add_epi16,
    _mm256_sub_epi16,
    _mm256_max_epi16,
    _mm256_cmpeq_epi16,
    _mm256_cmpgt_epi16,
    low_byte_of_16,
    _mm256_srli_epi16::<4>
);
vectors!(
    i32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_max_epi32,
    _mm256_cmpeq_epi32,
    _mm256_cmpgt_epi32,
    low_byte_of_32,
    _mm256_srli_epi32::<4>
);

/// The entry in the lowest byte of each lane. Shuffles of bytes take four bits of a code; the fifth chooses
/// between two.
#[inline(always)]
fn lookup_bytes(_: Avx2, table: &MatrixRow, codes: __m256i) -> __m256i {
    let [low, high]: [__m128i; 2] = cast(*table);
    // SAFETY: the caller's token proves AVX2.
    unsafe {
        let is_high = _mm256_cmpgt_epi8(codes, _mm256_set1_epi8(15));
        let low = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(low), codes);
        let high = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(high), codes);
        _mm256_blendv_epi8(low, high, is_high)
    }
}

#[inline(always)]
unsafe fn identity(a: __m256i) -> __m256i {
    a
}

#[inline(always)]
unsafe fn low_byte_of_16(a: __m256i) -> __m256i {
    // SAFETY: the caller proves the features.
    unsafe { _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(a)) }
}

#[inline(always)]
unsafe fn low_byte_of_32(a: __m256i) -> __m256i {
    // SAFETY: the caller proves the features.
    unsafe { _mm256_srai_epi32::<24>(_mm256_slli_epi32::<24>(a)) }
}

/// AVX2 has no byte shifts, so bits of the neighboring byte are masked out.
#[inline(always)]
unsafe fn shift_bytes(a: __m256i) -> __m256i {
    // SAFETY: the caller proves the features.
    unsafe { _mm256_and_si256(_mm256_srli_epi16::<4>(a), _mm256_set1_epi8(15)) }
}

impl Rows for Avx2 {
    #[inline(always)]
    fn load(self, values: &[i32]) -> __m256i {
        let values = &values[..8];
        // SAFETY: `self` proves AVX2, and there are 8 values.
        unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn gather(self, table: &[i32], places: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2, and indices outside the table are not read.
        unsafe {
            let len = _mm256_set1_epi32(table.len() as i32);
            let inside = _mm256_andnot_si256(
                _mm256_cmpgt_epi32(_mm256_setzero_si256(), places),
                _mm256_cmpgt_epi32(len, places),
            );
            _mm256_mask_i32gather_epi32::<4>(_mm256_setzero_si256(), table.as_ptr(), places, inside)
        }
    }

    #[inline(always)]
    fn shift_in(self, a: __m256i, values: &[i32]) -> __m256i {
        let rotated =
            operation!(self, _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6)));
        operation!(self, _mm256_blend_epi32::<1>(rotated, _mm256_set1_epi32(values[7])))
    }

    #[inline(always)]
    fn store_last(self, a: __m256i, to: &mut i32) {
        *to = operation!(self, _mm256_extract_epi32::<7>(a));
    }
}

/// Moves each byte by `count` bytes, a power of two; the last bytes become the first.
#[inline(always)]
fn rotate_bytes(token: Avx2, a: __m256i, count: usize) -> __m256i {
    operation!(token, {
        // The vector rotated by 16 bytes.
        let before = _mm256_permute2x128_si256::<1>(a, a);
        match count {
            1 => _mm256_alignr_epi8::<15>(a, before),
            2 => _mm256_alignr_epi8::<14>(a, before),
            4 => _mm256_alignr_epi8::<12>(a, before),
            8 => _mm256_alignr_epi8::<8>(a, before),
            _ => before,
        }
    })
}

macro_rules! stripes {
    ($lane:ty, $insert:ident) => {
        impl Stripes<$lane> for Avx2 {
            #[inline(always)]
            fn rotate(self, a: __m256i, count: usize) -> __m256i {
                rotate_bytes(self, a, count * size_of::<$lane>())
            }

            #[inline(always)]
            fn with_first(self, a: __m256i, first: $lane) -> __m256i {
                operation!(self, $insert::<0>(a, first))
            }
        }
    };
}

stripes!(i8, _mm256_insert_epi8);
stripes!(i16, _mm256_insert_epi16);

impl Bits for Avx2 {
    type B = __m256i;

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        operation!(self, _mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn and_not(self, a: __m256i, b: __m256i) -> __m256i {
        operation!(self, _mm256_andnot_si256(b, a))
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        operation!(self, _mm256_or_si256(a, b))
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        operation!(self, _mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn majority(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        operation!(self, _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b))))
    }

    #[inline(always)]
    fn shift_up(self, a: __m256i, count: u32) -> __m256i {
        operation!(self, _mm256_sll_epi64(a, _mm_cvtsi32_si128(count as i32)))
    }

    #[inline(always)]
    fn shift_down(self, a: __m256i, count: u32) -> __m256i {
        operation!(self, _mm256_srl_epi64(a, _mm_cvtsi32_si128(count as i32)))
    }

    #[inline(always)]
    fn any(self, a: __m256i) -> bool {
        operation!(self, _mm256_testz_si256(a, a) == 0)
    }

    #[inline(always)]
    fn prefetch(self, bytes: &[u8]) {
        // SAFETY: `self` proves the features, and a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn bits_of<const BIT: u32>(self, bytes: &[u8; 64]) -> u64 {
        let [low, high]: [__m256i; 2] = cast(*bytes);
        // Moves bit `BIT` to the sign of each byte. Bits of the neighboring byte stay below the sign.
        // SAFETY: `self` proves the features.
        let (low, high) = unsafe {
            let count = _mm_cvtsi32_si128(7 - BIT as i32);
            let [low, high] = [_mm256_sll_epi16(low, count), _mm256_sll_epi16(high, count)];
            (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32)
        };
        u64::from(high) << 32 | u64::from(low)
    }
}
