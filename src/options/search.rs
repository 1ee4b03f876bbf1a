//! What `swalign search` is asked to do.

use super::{PageOptions, SearchColumn, Share};
use std::path::{Path, PathBuf};

/// What `swalign search` is asked to do, all choices made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub patterns: PatternSource,
    /// FASTA or FASTQ; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// Most edits of a hit.
    pub max_edits: u32,
    /// Edits for each letter of a pattern, in millionths, instead of `max_edits`.
    pub edits_by_rate: Option<u32>,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Most insertions, deletions, substitutions, and insertions and deletions together, where one of them is below
    /// `max_edits`.
    pub limits: Option<[u32; 4]>,
    /// What must stand beside a hit.
    pub pam: Option<PamChoice>,
    /// Pairs of hits instead of hits.
    pub amplicons: Option<AmpliconChoice>,
    pub both_strands: bool,
    /// Every end, and not one of each cluster.
    pub every_end: bool,
    /// Only the fewest edits of a text.
    pub best: bool,
    /// Only the first hit of a text.
    pub first: bool,
    /// The texts without a hit, instead of hits.
    pub invert: bool,
    pub format: SearchFormat,
    /// Columns of the table.
    pub columns: Vec<SearchColumn>,
    /// Whether alignments are shown in the pattern's orientation, and not in the text's.
    pub as_pattern: bool,
    /// A table with a row for each pattern.
    pub summary: Option<PathBuf>,
    /// Where alignments to read are shown.
    pub page: PageOptions,
    /// Only this part of the texts.
    pub part: Option<Share>,
    /// Nothing is done if the output is there, whole, and of this command.
    pub resume: bool,
    /// Names of texts and patterns are whole header lines, and not their first words.
    pub full_names: bool,
    pub device: SearchDevice,
    /// Host threads; at least 1.
    pub threads: usize,
    /// The command line for @PG.
    pub command_line: String,
    /// 0 quiet, 1 normal, 2 verbose.
    pub verbosity: u8,
}

/// Most letters of a PAM.
pub const MOST_PAM_LETTERS: usize = 32;

/// A PAM, as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PamChoice {
    /// IUPAC codes.
    pub letters: String,
    /// Whether it stands at the pattern's 5' side, and not at its 3' side.
    pub in_front: bool,
}

/// Which hits are joined to amplicons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmpliconChoice {
    pub pairs: PairSource,
    /// Least and greatest length.
    pub lengths: (usize, usize),
}

impl AmpliconChoice {
    /// The file of pairs.
    pub fn file(&self) -> Option<&Path> {
        match &self.pairs {
            PairSource::File(path) => Some(path),
            PairSource::Names | PairSource::Any => None,
        }
    }
}

/// What says which patterns are a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairSource {
    /// Their names.
    Names,
    /// Each pattern goes with each.
    Any,
    /// Two names a line.
    File(PathBuf),
}

/// Where patterns come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSource {
    /// One, given by its letters.
    Letters(String),
    /// FASTA or FASTQ; `-` is stdin.
    File(PathBuf),
}

/// What `swalign search` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchFormat {
    Tab,
    Bed,
    Sam,
    Fasta,
    /// Hits of each text.
    Count,
    /// Alignments to read.
    Text,
}

/// What scans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchDevice {
    /// The best GPU where the work is worth its start, else the cores.
    Auto,
    /// The best GPU, or one by index, PCI id or part of the name.
    Gpu(Option<String>),
    /// The cores, with an instruction set by name or the best that they have.
    Cpu(Option<String>),
    /// The specification: slow, for checking the others.
    Plain,
}

impl SearchFormat {
    /// What receipts call it; [`SearchFormat::named`] takes it back.
    pub fn name(self) -> &'static str {
        match self {
            SearchFormat::Tab => "tab",
            SearchFormat::Bed => "bed",
            SearchFormat::Sam => "sam of hits",
            SearchFormat::Fasta => "fasta",
            SearchFormat::Count => "count",
            SearchFormat::Text => "text of hits",
        }
    }

    /// The format of a receipt's name for it.
    pub fn named(name: &str) -> Option<SearchFormat> {
        use SearchFormat::{Bed, Count, Fasta, Sam, Tab, Text};
        [Tab, Bed, Sam, Fasta, Count, Text].into_iter().find(|format| format.name() == name)
    }
}
