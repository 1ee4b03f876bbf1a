//! Options of `swalign grep`.

use super::DeviceChoice;
use std::path::PathBuf;

/// Options of `swalign grep`, all resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepOptions {
    pub patterns: Vec<GrepPatterns>,
    /// Any bytes; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// Whether gzip files are decompressed.
    pub unzips: bool,
    /// Maximum number of edits of a match.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Every character of a pattern stands for itself.
    pub literal: bool,
    /// Case is ignored.
    pub any_case: bool,
    /// Reports the lines that do not match.
    pub invert: bool,
    /// Only occurrences with no letter, digit or `_` beside them.
    pub whole_words: bool,
    pub place: GrepPlace,
    /// Writes the file name before each line.
    pub names: bool,
    /// Writes the line number before each line.
    pub numbers: bool,
    pub output: GrepOutput,
    /// Maximum number of lines per file.
    pub max_count: Option<u64>,
    /// Suppresses messages about files that cannot be read.
    pub silent: bool,
    pub device: DeviceChoice,
    /// Host threads; at least 1.
    pub threads: usize,
}

/// The source of the patterns, one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrepPatterns {
    Text(Vec<u8>),
    /// `-` is stdin.
    File(PathBuf),
}

/// Where in a line a pattern must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepPlace {
    Anywhere,
    /// The line begins with it.
    Start,
    /// It is the whole line.
    Line,
}

/// The output of `swalign grep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepOutput {
    Lines,
    /// Only the matching parts of lines.
    Stretches,
    /// The number of matching lines of each file.
    Count,
    /// The number of occurrences of each pattern in all files.
    Table,
    /// Files with matching lines.
    Names,
    /// Nothing; only whether there are matching lines.
    Nothing,
}
