//! SSE4.1: arrays of vector size, whose loops the compiler turns into its operations.

use super::arrays::Arrays;
use super::{Calls, Kernel, KernelPart};

compiled_for!("sse4.1", "ssse3");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sse41(());

impl Sse41 {
    pub fn detect() -> Option<Sse41> {
        is_here().then_some(Sse41(()))
    }

    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` is only created if the processor has all features of the list.
        unsafe { run_compiled(Arrays(self), kernel) }
    }
}

impl Calls for Sse41 {
    #[inline(always)]
    fn call<P: KernelPart>(self, part: P) -> P::Output {
        // SAFETY: `self` is only created if the processor has all features of the list.
        unsafe { call_compiled(part) }
    }
}
