//! Options of `swalign dedup`.

use crate::terms::alphabet::Alphabet;
use std::path::PathBuf;

/// Options of `swalign dedup`, all resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DedupOptions {
    /// `-` is stdin, but only once.
    pub reads: Vec<PathBuf>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// The output is compressed into bgzf blocks.
    pub is_packed: bool,
    /// The file for a table that assigns records to sets.
    pub table: Option<PathBuf>,
    pub is_table_packed: bool,
    /// `None` is the format of the first file.
    pub format: Option<ReadFormat>,
    /// `None` detects it from the first file.
    pub alphabet: Option<Alphabet>,
    /// Gap characters of FASTA are removed.
    pub removes_gaps: bool,
    /// A sequence and its reverse complement count as equal.
    pub both_strands: bool,
    pub by: DedupBy,
    /// Names of records contain the number of reads that they represent.
    pub size_in: bool,
    /// Writes the number of reads of each set into its name.
    pub size_out: bool,
    /// Minimum number of reads of a set that is written.
    pub min_size: u64,
    /// Host threads; at least 1.
    pub threads: usize,
    /// 0: quiet, 1: normal, 2: verbose.
    pub verbosity: u8,
}

/// A format of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFormat {
    Fasta,
    Fastq,
}

/// Which sequences belong to one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedupBy {
    /// Equal sequences.
    Whole,
    /// A sequence and its prefixes.
    Prefix,
}
