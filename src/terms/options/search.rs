//! Options of `swalign search`.

use super::{Circular, DeviceChoice, PageOptions, ReadRules, SearchColumn, Share};
use crate::terms::alignment::Strands;
use crate::terms::casts::to_u32;
use std::path::{Path, PathBuf};

/// Maximum number of edits of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditLimits {
    pub insertions: u32,
    pub deletions: u32,
    pub substitutions: u32,
    /// Insertions and deletions together.
    pub gaps: u32,
}

/// Edits per base of a pattern, in millionths: a pattern of `m` bases has at most `floor(rate * m)` edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub millionths: u32,
}

impl Rate {
    pub fn edits_of(self, len: usize) -> u32 {
        to_u32((len as u64 * u64::from(self.millionths) / 1_000_000).min(u64::from(u32::MAX)))
    }
}

/// Maximum number of edits of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxEdits {
    Number(u32),
    /// By the length of the pattern.
    Rate(Rate),
}

/// The hits that a search reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitChoice {
    pub max_edits: MaxEdits,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Maximum numbers of insertions, of deletions, of substitutions, and of insertions and deletions together.
    pub kinds: [Option<u32>; 4],
    /// The PAM next to a hit.
    pub pam: Option<PamChoice>,
    pub strands: Strands,
    /// Reports every end, not only local minima of the edits.
    pub every_end: bool,
    /// Reports only the hits with the fewest edits of a text.
    pub best: bool,
    /// Reports only the first hit of a text.
    pub first: bool,
}

impl Default for HitChoice {
    fn default() -> HitChoice {
        HitChoice {
            max_edits: MaxEdits::Number(0),
            indels: true,
            kinds: [None; 4],
            pam: None,
            strands: Strands::Both,
            every_end: false,
            best: false,
            first: false,
        }
    }
}

impl HitChoice {
    /// The limits of single kinds of edits; `None` if they add nothing to the limit of all edits.
    pub fn limits(&self) -> Option<EditLimits> {
        let most = match self.max_edits {
            MaxEdits::Number(most) => most,
            // The edits that a rate allows depend on the pattern.
            MaxEdits::Rate(_) => u32::MAX,
        };
        let [ins, del, substitutions, gaps] = self.kinds.map(|limit| limit.unwrap_or(most).min(most));
        // Without gaps, a limit on substitutions is a limit on all edits.
        let (insertions, deletions) = if self.indels { (ins, del) } else { (0, 0) };
        let says_no_more =
            substitutions == most && (!self.indels || [insertions, deletions, gaps] == [most; 3]);
        (!says_no_more).then_some(EditLimits { insertions, deletions, substitutions, gaps })
    }
}

/// Options of `swalign search`, all resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub patterns: PatternSource,
    /// FASTA or FASTQ; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// Which texts are circular.
    pub circular: Circular,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    pub hits: HitChoice,
    /// Gap characters of FASTA are removed.
    pub removes_gaps: bool,
    /// Joins hits to amplicons, which are reported instead.
    pub amplicons: Option<AmpliconChoice>,
    /// Reports the texts without a hit, instead of hits.
    pub invert: bool,
    pub format: SearchFormat,
    /// Columns of the table.
    pub columns: Vec<SearchColumn>,
    /// Whether alignments are shown in the pattern's orientation instead of the text's.
    pub as_pattern: bool,
    /// The file for a table with one row per pattern.
    pub summary: Option<PathBuf>,
    /// Layout of alignments as text.
    pub page: PageOptions,
    /// Only this part of the texts is searched.
    pub part: Option<Share>,
    /// Nothing is done if the output exists, is complete, and was written by this command.
    pub resume: bool,
    /// Names of texts and patterns are whole header lines instead of their first words.
    pub full_names: bool,
    pub device: DeviceChoice,
    /// Host threads; at least 1.
    pub threads: usize,
    /// The command line for @PG.
    pub command_line: String,
    /// 0: quiet, 1: normal, 2: verbose.
    pub verbosity: u8,
}

/// Maximum length of a PAM.
pub const MOST_PAM_LETTERS: usize = 32;

/// The side of the pattern that a PAM flanks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PamSide {
    /// Before the pattern, as Cas12a's TTTV.
    Five,
    /// After the pattern, as Cas9's NGG.
    #[default]
    Three,
}

/// A PAM, as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PamChoice {
    /// IUPAC codes.
    pub letters: Vec<u8>,
    pub side: PamSide,
}

/// Which hits are joined to amplicons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmpliconChoice {
    pub pairs: PairSource,
    /// Minimum and maximum length.
    pub lengths: (usize, usize),
    /// Primers are removed from records of FASTA and FASTQ.
    pub trims_primers: bool,
    /// The file for texts without an amplicon.
    pub untrimmed: Option<PathBuf>,
    /// The texts are first mates.
    pub mates: Option<MateFiles>,
}

/// Second mates of a search, and their output files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateFiles {
    pub file: PathBuf,
    pub output: PathBuf,
    pub untrimmed: Option<PathBuf>,
    /// Maximum number of bases before the primer of a mate.
    pub offset: usize,
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

/// The definition of the pairs of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairSource {
    /// The names of the patterns.
    Names,
    /// Each pattern pairs with each pattern.
    Any,
    /// A file with two names per line.
    File(PathBuf),
}

/// The source of the patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSource {
    /// One pattern, given as a sequence.
    Letters(String),
    /// FASTA or FASTQ; `-` is stdin.
    File(PathBuf),
}

/// The output of `swalign search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchFormat {
    Tab,
    Bed,
    Sam,
    Fasta,
    Fastq,
    /// The number of hits of each text.
    Count,
    /// Alignments as text.
    Text,
}

impl SearchOptions {
    /// How patterns and texts are read.
    pub fn rules(&self) -> ReadRules {
        ReadRules { removes_gaps: self.removes_gaps, ..ReadRules::default() }
    }

    /// Second mates, if the texts are mates.
    pub fn mates(&self) -> Option<&MateFiles> {
        self.amplicons.as_ref()?.mates.as_ref()
    }

    /// Files that are written in addition to the output.
    pub fn side_files(&self) -> impl Iterator<Item = &Path> {
        let untrimmed = self.amplicons.as_ref().and_then(|choice| choice.untrimmed.as_deref());
        let mates = self.mates().map(|mates| &*mates.output);
        let untrimmed_mates = self.mates().and_then(|mates| mates.untrimmed.as_deref());
        [self.summary.as_deref(), untrimmed, mates, untrimmed_mates].into_iter().flatten()
    }
}

impl SearchFormat {
    /// Its name in receipts, which [`SearchFormat::named`] parses.
    pub fn name(self) -> &'static str {
        match self {
            SearchFormat::Tab => "tab",
            SearchFormat::Bed => "bed",
            SearchFormat::Sam => "sam of hits",
            SearchFormat::Fasta => "fasta",
            SearchFormat::Fastq => "fastq",
            SearchFormat::Count => "count",
            SearchFormat::Text => "text of hits",
        }
    }

    /// The format with this name in receipts.
    pub fn named(name: &str) -> Option<SearchFormat> {
        use SearchFormat::{Bed, Count, Fasta, Fastq, Sam, Tab, Text};
        [Tab, Bed, Sam, Fasta, Fastq, Count, Text].into_iter().find(|format| format.name() == name)
    }
}
