//! The GPU that tests run on.

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
