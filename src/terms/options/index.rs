//! Options of `swalign index`.

use super::SampledKmers;
use crate::terms::alphabet::Alphabet;
use std::path::PathBuf;

/// Extension of a database, appended to the name of its FASTA file.
pub const DATABASE_EXTENSION: &str = ".swdb";

/// Options of `swalign index`, all resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    /// The references; `-` is stdin.
    pub references: PathBuf,
    /// The database.
    pub output: PathBuf,
    /// `None` detects it from the references.
    pub alphabet: Option<Alphabet>,
    /// Lower-case residues become N, or X in proteins.
    pub masks_lower_case: bool,
    /// Gap characters of FASTA are removed.
    pub removes_gaps: bool,
    /// The references may be FASTQ.
    pub reads_as_reference: bool,
    /// The k-mers of the index, for tests. `None` follows from the references.
    pub sampled_kmers: Option<SampledKmers>,
    /// Bases per segment of the index, for tests.
    pub segment: Option<usize>,
    /// Host threads; at least 1.
    pub threads: usize,
    /// 0: quiet, 1: normal.
    pub verbosity: u8,
}
