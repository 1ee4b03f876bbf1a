//! The GPU that tests run on.

use std::sync::Arc;
use swalign::engine::gpu::Card;

/// The adapter that GPU tests ask for: `SWALIGN_TEST_GPU`, or lavapipe's.
pub fn test_gpu() -> String {
    std::env::var("SWALIGN_TEST_GPU").unwrap_or_else(|_| "llvmpipe".to_string())
}

/// Its name alone, where a profile stands behind it: `llvmpipe/webgpu` is llvmpipe, cut down.
pub fn test_adapter() -> String {
    test_gpu().split('/').next().unwrap_or_default().to_string()
}

/// What `--device` takes for it.
pub fn gpu_device() -> String {
    format!("gpu:{}", test_gpu())
}

/// It, opened.
pub fn card(checked: bool) -> Arc<Card> {
    Card::open(Some(&test_gpu()), checked).unwrap_or_else(|error| panic!("{error}"))
}
