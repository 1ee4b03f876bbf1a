//! AVX-512 with BW: vectors of 64 bytes, conditions in mask registers.

use super::{Bits, Calls, Kernel, KernelPart, MatrixRow, Rows, Stripes, Vectors};
use bytemuck::cast;
use std::arch::x86_64::*;

compiled_for!("avx512f", "avx512bw", "avx512dq", "avx512vl", "bmi1", "bmi2", "lzcnt", "popcnt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

impl Avx512 {
    pub fn detect() -> Option<Avx512> {
        is_here().then_some(Avx512(()))
    }

    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` is only created if the processor has all features of the list.
        unsafe { run_compiled(self, kernel) }
    }
}

impl Calls for Avx512 {
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
        let _: Avx512 = $token;
        // SAFETY: there is a token of the set, which is only created if the processor has all features of the list.
        unsafe { $result }
    }};
}

macro_rules! vectors {
    ($lane:ty, $lanes:literal, $mask:ty, $splat:ident, $add:ident, $sub:ident, $max:ident, $eq:ident, $gt:ident,
     $blend:ident, $extend:ident, $shift:expr) => {
        impl Vectors<$lane> for Avx512 {
            type V = __m512i;
            type Mask = $mask;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, lane: $lane) -> __m512i {
                operation!(self, $splat(lane))
            }

            #[inline(always)]
            fn add(self, a: __m512i, b: __m512i) -> __m512i {
                operation!(self, $add(a, b))
            }

            #[inline(always)]
            fn sub(self, a: __m512i, b: __m512i) -> __m512i {
                operation!(self, $sub(a, b))
            }

            #[inline(always)]
            fn max(self, a: __m512i, b: __m512i) -> __m512i {
                operation!(self, $max(a, b))
            }

            #[inline(always)]
            fn eq(self, a: __m512i, b: __m512i) -> $mask {
                operation!(self, $eq(a, b))
            }

            #[inline(always)]
            fn gt(self, a: __m512i, b: __m512i) -> $mask {
                operation!(self, $gt(a, b))
            }

            #[inline(always)]
            fn any_lane(self, mask: $mask) -> bool {
                mask != 0
            }

            #[inline(always)]
            fn select(self, mask: $mask, yes: __m512i, no: __m512i) -> __m512i {
                operation!(self, $blend(mask, no, yes))
            }

            #[inline(always)]
            fn lookup(self, table: &MatrixRow, codes: __m512i) -> __m512i {
                operation!(self, $extend(lookup_bytes(self, table, codes)))
            }

            #[inline(always)]
            fn or(self, a: __m512i, b: __m512i) -> __m512i {
                operation!(self, _mm512_or_si512(a, b))
            }

            #[inline(always)]
            fn shift_and_or(self, a: __m512i, b: __m512i) -> __m512i {
                operation!(self, _mm512_or_si512($shift(a), b))
            }
        }
    };
}

vectors!(
    i8,
    64,
    __mmask64,
    _mm512_set1_epi8,
    _mm512_add_epi8,
    _mm512_sub_epi8,
    _mm512_max_epi8,
    _mm512_cmpeq_epi8_mask,
    _mm512_cmpgt_epi8_mask,
    _mm512_mask_blend_epi8,
    identity,
    shift_bytes
);
vectors!(
    i16,
    32,
    __mmask32,
    _mm512_set1_epi16,
    _mm512_add_epi16,
    _mm512_sub_epi16,
    _mm512_max_epi16,
    _mm512_cmpeq_epi16_mask,
    _mm512_cmpgt_epi16_mask,
    _mm512_mask_blend_epi16,
    low_byte_of_16,
    _mm512_srli_epi16::<4>
);
vectors!(
    i32,
    16,
    __mmask16,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_max_epi32,
    _mm512_cmpeq_epi32_mask,
    _mm512_cmpgt_epi32_mask,
    _mm512_mask_blend_epi32,
    low_byte_of_32,
    _mm512_srli_epi32::<4>
);

/// The entry in the lowest byte of each lane. Shuffles of bytes take four bits of a code; the fifth chooses
/// between two.
#[inline(always)]
fn lookup_bytes(_: Avx512, table: &MatrixRow, codes: __m512i) -> __m512i {
    let [low, high]: [__m128i; 2] = cast(*table);
    // SAFETY: the caller's token proves the features.
    unsafe {
        let is_high = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(16));
        let low = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(low), codes);
        let codes = _mm512_and_si512(codes, _mm512_set1_epi8(15));
        _mm512_mask_shuffle_epi8(low, is_high, _mm512_broadcast_i32x4(high), codes)
    }
}

#[inline(always)]
unsafe fn identity(a: __m512i) -> __m512i {
    a
}

#[inline(always)]
unsafe fn low_byte_of_16(a: __m512i) -> __m512i {
    // SAFETY: the caller proves the features.
    unsafe { _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(a)) }
}

#[inline(always)]
unsafe fn low_byte_of_32(a: __m512i) -> __m512i {
    // SAFETY: the caller proves the features.
    unsafe { _mm512_srai_epi32::<24>(_mm512_slli_epi32::<24>(a)) }
}

/// AVX-512 has no byte shifts, so bits of the neighboring byte are masked out.
#[inline(always)]
unsafe fn shift_bytes(a: __m512i) -> __m512i {
    // SAFETY: the caller proves the features.
    unsafe { _mm512_and_si512(_mm512_srli_epi16::<4>(a), _mm512_set1_epi8(15)) }
}

impl Rows for Avx512 {
    #[inline(always)]
    fn load(self, values: &[i32]) -> __m512i {
        let values = &values[..16];
        // SAFETY: `self` proves the features, and there are 16 values.
        unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn gather(self, table: &[i32], places: __m512i) -> __m512i {
        // SAFETY: `self` proves the features, and indices after the table are not read.
        unsafe {
            let inside = _mm512_cmplt_epu32_mask(places, _mm512_set1_epi32(table.len() as i32));
            _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), inside, places, table.as_ptr().cast())
        }
    }

    #[inline(always)]
    fn shift_in(self, a: __m512i, values: &[i32]) -> __m512i {
        operation!(self, _mm512_alignr_epi32::<15>(a, self.load(values)))
    }

    #[inline(always)]
    fn store_last(self, a: __m512i, to: &mut i32) {
        // SAFETY: `self` proves the features, and only the last lane is stored, at `to`.
        unsafe { _mm512_mask_storeu_epi32(std::ptr::from_mut(to).wrapping_sub(15), 1 << 15, a) }
    }
}

/// Moves each byte by `count` bytes, a power of two; the last bytes become the first.
#[inline(always)]
fn rotate_bytes(token: Avx512, a: __m512i, count: usize) -> __m512i {
    operation!(token, {
        // The vector rotated by 16 bytes.
        let before = _mm512_alignr_epi32::<12>(a, a);
        match count {
            1 => _mm512_alignr_epi8::<15>(a, before),
            2 => _mm512_alignr_epi8::<14>(a, before),
            4 => _mm512_alignr_epi8::<12>(a, before),
            8 => _mm512_alignr_epi8::<8>(a, before),
            16 => before,
            _ => _mm512_alignr_epi32::<8>(a, a),
        }
    })
}

macro_rules! stripes {
    ($lane:ty, $mask:ty, $set:ident) => {
        impl Stripes<$lane> for Avx512 {
            #[inline(always)]
            fn rotate(self, a: __m512i, count: usize) -> __m512i {
                rotate_bytes(self, a, count * size_of::<$lane>())
            }

            #[inline(always)]
            fn with_first(self, a: __m512i, first: $lane) -> __m512i {
                operation!(self, $set(a, 1, first))
            }
        }
    };
}

stripes!(i8, __mmask64, _mm512_mask_set1_epi8);
stripes!(i16, __mmask32, _mm512_mask_set1_epi16);

impl Bits for Avx512 {
    type B = __m512i;

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        operation!(self, _mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn and_not(self, a: __m512i, b: __m512i) -> __m512i {
        operation!(self, _mm512_andnot_si512(b, a))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        operation!(self, _mm512_or_si512(a, b))
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        operation!(self, _mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn majority(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        operation!(self, _mm512_ternarylogic_epi64::<0xe8>(a, b, c))
    }

    #[inline(always)]
    fn shift_up(self, a: __m512i, count: u32) -> __m512i {
        operation!(self, _mm512_sll_epi64(a, _mm_cvtsi32_si128(count as i32)))
    }

    #[inline(always)]
    fn shift_down(self, a: __m512i, count: u32) -> __m512i {
        operation!(self, _mm512_srl_epi64(a, _mm_cvtsi32_si128(count as i32)))
    }

    #[inline(always)]
    fn any(self, a: __m512i) -> bool {
        operation!(self, _mm512_test_epi64_mask(a, a) != 0)
    }

    #[inline(always)]
    fn prefetch(self, bytes: &[u8]) {
        // SAFETY: `self` proves the features, and a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn bits_of<const BIT: u32>(self, bytes: &[u8; 64]) -> u64 {
        let bytes: __m512i = cast(*bytes);
        operation!(self, _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(1 << BIT)))
    }
}
