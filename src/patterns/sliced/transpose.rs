//! Transposes bit matrices (Warren 2012, 7-3), and builds vectors from one word.

use crate::engine::cpu::simd::Bits;
use crate::terms::casts::to_u32;
use bytemuck::{Pod, Zeroable, cast_slice};

/// Rows per transpose: bits of a word.
pub const BLOCK: usize = 64;

/// As many bytes as the longest vector, with its alignment.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct VectorBytes([u64; 8]);

/// Transposes 64 rows in each block of 64 bits. Applying it twice restores the rows.
#[inline(always)]
pub fn transpose_rows<S: Bits>(simd: S, rows: &mut [S::B; BLOCK]) {
    exchange(simd, rows, 32, 0x0000_0000_ffff_ffff);
    exchange(simd, rows, 16, 0x0000_ffff_0000_ffff);
    exchange(simd, rows, 8, 0x00ff_00ff_00ff_00ff);
    exchange(simd, rows, 4, 0x0f0f_0f0f_0f0f_0f0f);
    exchange(simd, rows, 2, 0x3333_3333_3333_3333);
    exchange(simd, rows, 1, 0x5555_5555_5555_5555);
}

/// Swaps the upper bits of each upper row with the lower bits of the row `step` below it.
#[inline(always)]
fn exchange<S: Bits>(simd: S, rows: &mut [S::B; BLOCK], step: usize, lower: u64) {
    let lower: S::B = splat(lower);
    for first in (0..BLOCK).step_by(2 * step) {
        for k in first..first + step {
            let (a, b) = (rows[k], rows[k + step]);
            let differ = simd.and(simd.xor(simd.shift_down(a, to_u32(step)), b), lower);
            rows[k + step] = simd.xor(b, differ);
            rows[k] = simd.xor(a, simd.shift_up(differ, to_u32(step)));
        }
    }
}

/// A vector that repeats one word.
#[inline(always)]
pub fn splat<B: Pod>(word: u64) -> B {
    let line = VectorBytes([word; 8]);
    cast_slice(&[line])[0]
}

#[inline(always)]
pub fn all_ones<B: Pod>() -> B {
    splat(u64::MAX)
}
