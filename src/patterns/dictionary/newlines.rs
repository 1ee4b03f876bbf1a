//! Finds lines in blocks of 64 bytes.

use crate::engine::cpu::simd::Bits;
use crate::patterns::grep::NEWLINE;
use crate::patterns::grep::select::Span;

const BLOCK: usize = 64;

/// Calls `call` for each line, in order.
#[inline(always)]
pub fn each_line<S: Bits>(simd: S, text: &[u8], mut call: impl FnMut(Span)) {
    let mut start = 0;
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut ends = |first: usize, mut newlines: u64| {
        while newlines != 0 {
            let end = first + newlines.trailing_zeros() as usize;
            call(Span { start, end });
            start = end + 1;
            newlines &= newlines - 1;
        }
    };
    for (number, block) in blocks.iter().enumerate() {
        ends(number * BLOCK, newlines(simd, block));
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    ends(blocks.len() * BLOCK, newlines(simd, &last));
    if start < text.len() {
        call(Span { start, end: text.len() });
    }
}

/// One bit for each byte, set for newlines.
#[inline(always)]
fn newlines<S: Bits>(simd: S, bytes: &[u8; BLOCK]) -> u64 {
    const { assert!(NEWLINE == 0b0000_1010) };
    let has = simd.bits_of::<1>(bytes) & simd.bits_of::<3>(bytes);
    // Few blocks lack such a byte, and all other blocks need the other bits.
    let low = simd.bits_of::<0>(bytes) | simd.bits_of::<2>(bytes);
    let high = simd.bits_of::<4>(bytes)
        | simd.bits_of::<5>(bytes)
        | simd.bits_of::<6>(bytes)
        | simd.bits_of::<7>(bytes);
    has & !low & !high
}
