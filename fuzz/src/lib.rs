//! Helpers shared by the fuzz targets.

use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A temporary folder of this process, in TMPDIR.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder for files")).path()
}
