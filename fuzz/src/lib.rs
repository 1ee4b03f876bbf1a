//! The fuzz targets: each takes any bytes and panics if the library is wrong. `tests/it/fuzz_corpus.rs` runs them on their
//! corpora without a fuzzer.

pub mod arguments;
pub mod database;
pub mod grep;
pub mod matrix;
pub mod part;
pub mod reader;
pub mod receipt;
pub mod search;

use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A temporary folder of this process, in TMPDIR.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder for files")).path()
}
