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
    /// Reports the lines that do not match.
    pub invert: bool,
    /// Which occurrences of words count. Patterns observe its `any_case` alone.
    pub rule: OccurrenceRule,
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

/// The rule that decides which occurrences of a word count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OccurrenceRule {
    pub place: WordPosition,
    /// Only occurrences with no ASCII letter, digit or `_` directly before or after them in their line.
    pub whole_words: bool,
    /// Compares ASCII without regard to case.
    pub any_case: bool,
}

/// Position in a line at which a word counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordPosition {
    #[default]
    Anywhere,
    /// The line begins with the word.
    Start,
    /// The line equals the word.
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
