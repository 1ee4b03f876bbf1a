//! What `swalign index` is asked to do.

use crate::alphabet::Alphabet;
use std::path::PathBuf;

/// What stands behind the name of the references in that of their database.
pub const DATABASE_EXTENSION: &str = ".swdb";

/// A run of `swalign index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    /// The references; `-` is stdin.
    pub references: PathBuf,
    /// The database.
    pub output: PathBuf,
    /// `None` detects it from the references.
    pub alphabet: Option<Alphabet>,
    /// Letters in lower case become N, or X of proteins.
    pub masks_lower_case: bool,
    /// The references may be FASTQ.
    pub reads_as_reference: bool,
    /// Host threads; at least 1.
    pub threads: usize,
    /// 0 quiet, 1 normal.
    pub verbosity: u8,
}
