//! The GPU that tests run on.

use super::cases;
use std::sync::Arc;
use swalign::engine::gpu::Card;

/// The adapter for GPU tests: `SWALIGN_TEST_GPU`, by default lavapipe's.
pub fn test_gpu() -> String {
    std::env::var("SWALIGN_TEST_GPU").unwrap_or_else(|_| "llvmpipe".to_string())
}

/// The name of the adapter without its profile: `llvmpipe/webgpu` is llvmpipe with reduced features.
pub fn test_adapter() -> String {
    test_gpu().split('/').next().unwrap_or_default().to_string()
}

/// The value of `--device` for the adapter.
pub fn gpu_device() -> String {
    format!("gpu:{}", test_gpu())
}

/// Opens the adapter.
pub fn card(checked: bool) -> Arc<Card> {
    Card::open(Some(&test_gpu()), checked).unwrap_or_else(|error| panic!("{error}"))
}

/// A test takes one combination of a mode, a scoring and a kind of kernel in this number. Kernels are compiled for each
/// scoring, and lavapipe needs up to half a minute for those of one combination. So on lavapipe tests take every third one,
/// which still has each mode, scoring and kind. On other adapters, and with SWALIGN_ALL_CASES, they take all.
pub fn one_combination_in() -> usize {
    if test_adapter() == "llvmpipe" { cases(3, 1) } else { 1 }
}
