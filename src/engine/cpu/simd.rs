//! Vectors of lanes: one vocabulary, implemented for several instruction sets.
//!
//! Kernels are written once, over [`Vectors`], and compiled for each instruction set. The program chooses the set at
//! run time ([`InstructionSet::best`]). A value of an instruction set's type proves that the processor has the set, so
//! that its operations are safe to call. They are inlined into functions that are compiled for the set's features.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lanes are bits that operations read with or without a sign"
)]

/// The features that a set's kernels are compiled for, and the test whether the processor has them: one list for both.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($($feature:tt),+) => {
        /// Whether this processor has each of the features.
        pub fn is_here() -> bool {
            $(is_x86_feature_detected!($feature))&&+
        }

        #[target_feature($(enable = $feature),+)]
        fn run_compiled<S: $crate::engine::cpu::simd::Simd, K: $crate::engine::cpu::simd::Kernel>(
            simd: S,
            kernel: K,
        ) -> K::Output {
            kernel.run(simd)
        }

        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        fn call_compiled<P: $crate::engine::cpu::simd::KernelPart>(part: P) -> P::Output {
            part.run()
        }
    };
}

mod arrays;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse41;

use crate::terms::alphabet::CODES;
use arrays::Baseline;
use bytemuck::Pod;
use std::fmt;
use std::sync::LazyLock;

/// A lookup table: one row of a substitution matrix.
pub type MatrixRow = [i8; CODES];

/// A signed integer that fills a lane.
pub trait Lane: Pod + Ord + Send + Sync {
    const MIN: i32;
    const MAX: i32;
    const BITS: u32;
    /// Number of values of the unsigned integer of this size, at most 2^31.
    const VALUES: usize;

    /// The lowest bits of `value`.
    fn of(value: i32) -> Self;
    fn value(self) -> i32;
    /// The value as an unsigned integer.
    fn unsigned(self) -> u32;
}

macro_rules! lane {
    ($lane:ty, $unsigned:ty) => {
        impl Lane for $lane {
            const MIN: i32 = <$lane>::MIN as i32;
            const MAX: i32 = <$lane>::MAX as i32;
            const BITS: u32 = <$lane>::BITS;
            const VALUES: usize = if <$lane>::BITS < 32 { 1 << <$lane>::BITS } else { 1 << 31 };

            #[inline(always)]
            fn of(value: i32) -> $lane {
                value as $lane
            }

            #[inline(always)]
            fn value(self) -> i32 {
                i32::from(self)
            }

            #[inline(always)]
            fn unsigned(self) -> u32 {
                u32::from(self as $unsigned)
            }
        }
    };
}

lane!(i8, u8);
lane!(i16, u16);
lane!(i32, u32);

/// A part of a kernel that is compiled as a function of its own, because the compiler handles a kernel with all its parts as
/// one large function on one core. `run` must be `#[inline(always)]`.
pub trait KernelPart {
    type Output;
    fn run(self) -> Self::Output;
}

/// Calls to functions that are compiled for an instruction set.
pub trait Calls: Copy + Send + Sync {
    /// Runs a part of a kernel.
    fn call<P: KernelPart>(self, part: P) -> P::Output;
}

/// Operations on vectors of lanes of type `T`. Sums and differences wrap.
pub trait Vectors<T: Lane>: Calls {
    type V: Pod + Send + Sync;
    /// The lanes that meet a condition.
    type Mask: Copy;
    const LANES: usize;

    fn splat(self, lane: T) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn eq(self, a: Self::V, b: Self::V) -> Self::Mask;
    fn gt(self, a: Self::V, b: Self::V) -> Self::Mask;
    /// Selects the lanes of `yes` for which the condition holds, and the lanes of `no` elsewhere.
    fn select(self, mask: Self::Mask, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether any lane meets the condition.
    fn any_lane(self, mask: Self::Mask) -> bool;
    /// Looks up the entries of `table` at `codes`.
    fn lookup(self, table: &MatrixRow, codes: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a >> 4 | b`, with `a` unsigned.
    fn shift_and_or(self, a: Self::V, b: Self::V) -> Self::V;
}

/// Further operations for lanes that are rows of one matrix.
pub trait Rows: Vectors<i32> {
    /// Loads the first values of `values`, one for each lane.
    fn load(self, values: &[i32]) -> Self::V;
    /// Loads the entries of `table` at `places`, one index for each lane.
    fn gather(self, table: &[i32], places: Self::V) -> Self::V;
    /// Moves each lane to the next one. The first lane becomes the last of these values, of which there is one for each lane.
    fn shift_in(self, a: Self::V, values: &[i32]) -> Self::V;
    fn store_last(self, a: Self::V, to: &mut i32);
}

/// Further operations for lanes that share one sequence.
pub trait Stripes<T: Lane>: Vectors<T> {
    /// Moves each lane by `count` lanes, a power of two below [`Vectors::LANES`]; the last lanes become the first.
    fn rotate(self, a: Self::V, count: usize) -> Self::V;
    fn with_first(self, a: Self::V, first: T) -> Self::V;
}

/// Operations on vectors of bits. One operation of AVX-512 combines three vectors, and the compiler uses it for pairs
/// of `and`, `or` and `and_not`.
pub trait Bits: Copy + Send + Sync {
    type B: Pod + Send + Sync;

    fn and(self, a: Self::B, b: Self::B) -> Self::B;
    /// `a & !b`.
    fn and_not(self, a: Self::B, b: Self::B) -> Self::B;
    fn or(self, a: Self::B, b: Self::B) -> Self::B;
    fn xor(self, a: Self::B, b: Self::B) -> Self::B;
    /// The bits that are set in at least two of the three.
    fn majority(self, a: Self::B, b: Self::B, c: Self::B) -> Self::B;
    /// Shifts the bits of each 64-bit word up.
    fn shift_up(self, a: Self::B, count: u32) -> Self::B;
    /// Shifts the bits of each 64-bit word down.
    fn shift_down(self, a: Self::B, count: u32) -> Self::B;
    fn any(self, a: Self::B) -> bool;
    /// Prefetches the cache line at the start of `bytes`, if the processor supports that.
    fn prefetch(self, bytes: &[u8]);
    /// Bit `BIT` of each of 64 bytes.
    fn bits_of<const BIT: u32>(self, bytes: &[u8; 64]) -> u64;
}

/// All operations that a kernel may need of an instruction set.
pub trait Simd: Stripes<i8> + Stripes<i16> + Vectors<i32> + Rows + Bits {}

impl<S: Stripes<i8> + Stripes<i16> + Vectors<i32> + Rows + Bits> Simd for S {}

/// Work that is compiled for each instruction set. `run` and all that it calls on vectors must be `#[inline(always)]`, or
/// called by [`Calls::call`].
pub trait Kernel {
    type Output;
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// An instruction set that kernels are compiled for, and that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionSet(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Sse41(sse41::Sse41),
    /// The baseline of the architecture: SSE2 or NEON.
    Baseline,
}

impl InstructionSet {
    /// The sets that this processor has, the fastest first.
    pub fn available() -> Vec<InstructionSet> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(avx512::Avx512::detect().map(Set::Avx512));
            sets.extend(avx2::Avx2::detect().map(Set::Avx2));
            sets.extend(sse41::Sse41::detect().map(Set::Sse41));
        }
        sets.push(Set::Baseline);
        sets.into_iter().map(InstructionSet).collect()
    }

    /// The fastest set that this processor has.
    pub fn best() -> InstructionSet {
        static BEST: LazyLock<InstructionSet> = LazyLock::new(|| InstructionSet::available()[0]);
        *BEST
    }

    /// The set called `name`, if this processor has it.
    pub fn named(name: &str) -> Option<InstructionSet> {
        InstructionSet::available().into_iter().find(|set| set.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Sse41(_) => "sse4.1",
            Set::Baseline if cfg!(target_arch = "aarch64") => "neon",
            Set::Baseline => "baseline",
        }
    }

    /// Lanes of `bytes` bytes in a vector.
    pub fn lanes(self, bytes: usize) -> usize {
        let vector = match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => 64,
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => 32,
            _ => 16,
        };
        vector / bytes
    }

    /// Runs `kernel` compiled for this set.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Set::Sse41(simd) => simd.run(kernel),
            Set::Baseline => Baseline.run(kernel),
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    /// Code for a feature that the processor lacks is undefined behavior, so each set tests for the features it is
    /// compiled for.
    #[test]
    fn features_are_listed_once() {
        let sets =
            [include_str!("simd/avx512.rs"), include_str!("simd/avx2.rs"), include_str!("simd/sse41.rs")];
        for set in sets {
            assert_eq!(set.matches("compiled_for!(").count(), 1);
            assert!(!set.contains("target_feature") && !set.contains("feature_detected"));
        }
        assert_eq!(include_str!("simd/arrays.rs").matches("target_feature").count(), 0);
    }
}
