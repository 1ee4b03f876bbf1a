//! What `swalign grep` is asked to do.

use std::path::PathBuf;

/// What `swalign grep` is asked to do, all choices made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepOptions {
    pub patterns: Vec<GrepPatterns>,
    /// Any bytes; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// Whether gzip files are unpacked.
    pub unzips: bool,
    /// Maximum number of edits of a match.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Every character of a pattern stands for itself.
    pub literal: bool,
    /// Upper case is lower case.
    pub any_case: bool,
    /// The lines that do not match.
    pub invert: bool,
    /// Only occurrences with no letter, digit or `_` beside them.
    pub whole_words: bool,
    pub place: GrepPlace,
    /// Names of files before lines.
    pub names: bool,
    /// Numbers before lines.
    pub numbers: bool,
    pub output: GrepOutput,
    /// Maximum number of lines per file.
    pub max_count: Option<u64>,
    /// Suppresses messages about files that cannot be read.
    pub silent: bool,
    pub device: GrepDevice,
    /// Host threads; at least 1.
    pub threads: usize,
}

/// Where patterns come from, one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrepPatterns {
    Text(Vec<u8>),
    /// `-` is stdin.
    File(PathBuf),
}

/// Where in a line a pattern may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepPlace {
    Anywhere,
    /// The line begins with it.
    Start,
    /// It is the line.
    Line,
}

/// What scans lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrepDevice {
    /// The cores, with an instruction set by name or the best that they have.
    Cpu(Option<String>),
    /// One GPU, by name or the best.
    Gpu(Option<String>),
    /// The specification: slow, for checking the others.
    Plain,
}

/// What `swalign grep` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepOutput {
    Lines,
    /// What matches in them, without what stands around it.
    Stretches,
    /// How many, of each file.
    Count,
    /// How often each pattern occurs, in all files.
    Table,
    /// Files that have some.
    Names,
    /// Only whether there are some.
    Nothing,
}
