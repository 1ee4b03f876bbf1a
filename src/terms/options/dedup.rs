//! What `swalign dedup` is asked to do.

use crate::terms::alphabet::Alphabet;
use std::path::PathBuf;

/// What `swalign dedup` is asked to do, all choices made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DedupOptions {
    /// `-` is stdin, but only once.
    pub reads: Vec<PathBuf>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// The output is packed into blocks of bgzf.
    pub is_packed: bool,
    /// Which record is in which set.
    pub table: Option<PathBuf>,
    pub is_table_packed: bool,
    /// `None` is that of the first file.
    pub format: Option<ReadFormat>,
    /// `None` detects it from the first file.
    pub alphabet: Option<Alphabet>,
    /// Gap characters of FASTA are left out.
    pub removes_gaps: bool,
    /// A sequence and its reverse complement are one.
    pub both_strands: bool,
    pub by: DedupBy,
    /// Names say how many reads a record stands for.
    pub size_in: bool,
    /// Names get the number of reads of their set.
    pub size_out: bool,
    /// Reads of a set that is written, at least.
    pub min_size: u64,
    /// Host threads; at least 1.
    pub threads: usize,
    /// 0 quiet, 1 normal, 2 verbose.
    pub verbosity: u8,
}

/// A format of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFormat {
    Fasta,
    Fastq,
}

/// Which sequences are in one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedupBy {
    /// Equal ones.
    Whole,
    /// A sequence and what begins it.
    Prefix,
}
