//! What a run is asked to do, resolved from the command line.

mod columns;
mod dedup;
mod grep;
mod index;
mod limits;
mod matrix;
mod read_group;
mod scoring;
mod search;
mod search_columns;

pub use columns::Column;
pub use dedup::{DedupBy, DedupOptions, ReadFormat};
pub use grep::{GrepDevice, GrepOptions, GrepOutput, GrepPatterns, GrepPlace};
pub use index::{DATABASE_EXTENSION, IndexOptions};
pub use limits::{IdentityDefinition, Limits, PageOptions, Rank};
pub use matrix::{MatrixOptions, MatrixValues};
pub use read_group::ReadGroup;
pub use scoring::{ANY_SCORE, Preset, ScoringChoice, default_min_score, default_split_score};
pub use search::{
    AmpliconChoice, MOST_PAM_LETTERS, PairSource, PamChoice, PatternSource, SearchDevice, SearchFormat,
    SearchOptions,
};
pub use search_columns::SearchColumn;

use crate::alphabet::Alphabet;
use crate::insert::InsertSize;
use std::path::{Path, PathBuf};

/// Which queries meet which targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every query against every target.
    All,
    /// The i-th query against the i-th target.
    Pairs,
    /// Every record of a file against those behind it.
    Triangle,
}

/// Where the mates of the queries are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MatesChoice {
    /// The queries are no mates.
    #[default]
    None,
    /// Behind each query, in the same file.
    Interleaved,
    /// In another file, in the same order.
    File(PathBuf),
}

/// How the rest of a query is searched that its primary hit leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Least score of a supplementary hit; `None` is [`default_split_score`].
    pub score: Option<i32>,
    /// Whether a query may be searched more than a few times over.
    pub is_complete: bool,
}

/// Which references are circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circular {
    All,
    /// These. A text may be several names, separated by commas.
    Named(Vec<String>),
}

impl Default for Circular {
    fn default() -> Circular {
        Circular::Named(Vec::new())
    }
}

/// One part of a run that is done in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

/// What parts are stretches of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartsOf {
    /// The queries, or the texts of a search.
    #[default]
    Queries,
    References,
}

/// Which device computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best real GPU, or the CPU where there is none or the work is too little for a GPU.
    Auto,
    /// The cores, with an instruction set by name or the best that they have.
    Cpu(Option<String>),
    /// The specification engine: slow, for checking the others.
    Plain,
    /// The best real GPU.
    Gpu,
    /// Every real GPU.
    AllGpus,
    /// GPUs by index, PCI id or part of the name.
    Gpus(Vec<String>),
}

/// What `swalign merge` is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    pub parts: Vec<PathBuf>,
    /// 0 quiet, 1 normal.
    pub verbosity: u8,
}

/// What narrows down where queries are scored. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterChoice {
    /// An index of the targets where the queries repay it, else scans, or none where neither pays.
    #[default]
    Auto,
    /// An index of the targets.
    Index,
    /// Scans for pieces of the queries with edits.
    Scan,
    /// Every query meets all of every target.
    None,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Sam,
    Bam,
    Paf,
}

/// The formats that list the hits of a query by their rank, with bit scores and E-values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitFormat {
    /// A line a hit, with the columns of BLAST's table.
    Tab,
    /// A line a query: a JSON object.
    Json,
    /// Alignments to read.
    Text,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Records of queries, aligned or not.
    Records(Format),
    /// Lists of hits.
    Hits(HitFormat),
}

/// A run of `swalign` or `swalign pairs`.
#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    /// `-` is stdin, here, in `mates` or in `reference`, but only once.
    pub query: PathBuf,
    pub reference: PathBuf,
    pub mates: MatesChoice,
    /// `None` estimates it from the first pairs.
    pub insert: Option<InsertSize>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// A page about the run.
    pub report: Option<PathBuf>,
    /// The statistics of the run as JSON.
    pub stats: Option<PathBuf>,
    pub format: OutputFormat,
    /// Records are sorted by coordinate, with this many bytes of them in memory at most, and get an index. The format is
    /// BAM then.
    pub sort: Option<usize>,
    /// Text is packed into blocks of bgzf, as BAM always is.
    pub packed: bool,
    /// What SAM and BAM forbid in a reference's name becomes `_`.
    pub rename_references: bool,
    /// FASTQ may stand in the place of the references.
    pub reads_as_reference: bool,
    /// Letters in lower case become N, or X of proteins.
    pub masks_lower_case: bool,
    /// `None` detects it from the reference.
    pub alphabet: Option<Alphabet>,
    pub scoring: ScoringChoice,
    /// Align DNA queries in both orientations.
    pub both_strands: bool,
    /// `None` is [`default_min_score`], or what `evalue` makes it.
    pub min_score: Option<i32>,
    /// The most that a hit's E-value may be; `None` leaves it open.
    pub evalue: Option<f64>,
    /// Least share of the best score that a further hit must reach, 0 to 1.
    pub secondary_ratio: f64,
    pub limits: Limits,
    pub rank: Rank,
    /// Of the table.
    pub columns: Vec<Column>,
    /// Whether the table has comments with its columns in front.
    pub table_header: bool,
    /// How identities are counted.
    pub identity: IdentityDefinition,
    /// Where alignments to read are shown.
    pub page: PageOptions,
    /// What a hit leaves of a query is searched as well.
    pub split: Option<Split>,
    /// Supplementary records have only the letters that are aligned.
    pub hard_clips: bool,
    pub circular: Circular,
    /// Only this part of the queries.
    pub part: Option<Share>,
    /// Only this part of the references.
    pub ref_part: Option<Share>,
    /// Nothing is done if the output is there, whole, and of this command.
    pub resume: bool,
    pub filter: FilterChoice,
    /// What is the same is computed once.
    pub dedup: bool,
    pub device: DeviceChoice,
    /// Host threads; at least 1.
    pub threads: usize,
    /// Queries of one batch at most; `None` sizes batches by their work.
    pub batch: Option<usize>,
    /// `=` and `X` instead of `M`.
    pub eqx: bool,
    pub read_group: Option<ReadGroup>,
    /// The command line for @PG.
    pub command_line: String,
    /// 0 quiet, 1 normal, 2 verbose.
    pub verbosity: u8,
    /// Run shaders with the driver's bounds checks on.
    pub checked_shaders: bool,
}

/// What a name of an output may end in, for errors.
pub const EXTENSIONS: &str =
    ".sam, .bam, .paf, .tsv, .json or .txt (or one of them, but .bam, with .gz behind it)";
/// What receipts call BAM that is sorted by coordinate.
pub const SORTED_BAM: &str = "sorted.bam";
/// The end of a receipt's name; the output's name stands before it.
pub const RECEIPT_EXTENSION: &str = ".swalign";

impl Options {
    /// The file of the second mates.
    pub fn mate_file(&self) -> Option<&Path> {
        match &self.mates {
            MatesChoice::File(path) => Some(path),
            MatesChoice::None | MatesChoice::Interleaved => None,
        }
    }

    /// The files that hold queries.
    pub fn query_files(&self) -> impl Iterator<Item = &Path> {
        [&*self.query].into_iter().chain(self.mate_file())
    }

    /// What receipts call the format; [`Format::named`] takes it back.
    pub fn format_name(&self) -> &'static str {
        if self.sort.is_some() { SORTED_BAM } else { self.format.name(self.packed) }
    }

    /// The files about the run that are written beside its output.
    pub fn files_about(&self) -> impl Iterator<Item = &Path> {
        [&self.report, &self.stats].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether the output is in blocks of bgzf.
    pub fn in_blocks(&self) -> bool {
        self.packed || self.format == OutputFormat::Records(Format::Bam)
    }

    /// Whether names of sequences may hold what SAM forbids.
    pub fn takes_any_name(&self) -> bool {
        matches!(self.format, OutputFormat::Records(Format::Paf) | OutputFormat::Hits(_))
    }

    /// Whether the output shows whole header lines of references.
    pub fn shows_titles(&self) -> bool {
        match self.format {
            OutputFormat::Records(_) => false,
            OutputFormat::Hits(HitFormat::Json | HitFormat::Text) => true,
            OutputFormat::Hits(HitFormat::Tab) => {
                self.columns.iter().any(|column| matches!(column, Column::Stitle | Column::Salltitles))
            }
        }
    }
}

impl OutputFormat {
    /// The format that a file's name stands for, in upper or lower case; text may be packed.
    pub fn of_file(path: &Path) -> Option<OutputFormat> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, packed) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (&*name, false),
        };
        match Path::new(name).extension()?.to_str()? {
            "sam" => Some(OutputFormat::Records(Format::Sam)),
            "bam" if !packed => Some(OutputFormat::Records(Format::Bam)),
            "paf" => Some(OutputFormat::Records(Format::Paf)),
            "tab" | "tsv" => Some(OutputFormat::Hits(HitFormat::Tab)),
            "json" | "jsonl" => Some(OutputFormat::Hits(HitFormat::Json)),
            "txt" => Some(OutputFormat::Hits(HitFormat::Text)),
            _ => None,
        }
    }

    /// What receipts call it.
    pub fn name(self, packed: bool) -> &'static str {
        match self {
            OutputFormat::Records(format) => format.name(packed),
            OutputFormat::Hits(format) => format.name(packed),
        }
    }
}

impl HitFormat {
    fn name(self, packed: bool) -> &'static str {
        match (self, packed) {
            (HitFormat::Tab, false) => "table",
            (HitFormat::Tab, true) => "table.gz",
            (HitFormat::Json, false) => "json",
            (HitFormat::Json, true) => "json.gz",
            (HitFormat::Text, false) => "text",
            (HitFormat::Text, true) => "text.gz",
        }
    }

    /// The format of a receipt's name for it, and whether its text is packed.
    pub fn named(name: &str) -> Option<(HitFormat, bool)> {
        let all = [HitFormat::Tab, HitFormat::Json, HitFormat::Text]
            .map(|format| [(format, false), (format, true)]);
        all.into_iter().flatten().find(|(format, packed)| format.name(*packed) == name)
    }
}

impl Format {
    /// What receipts call it; [`Format::named`] takes it back.
    pub fn name(self, packed: bool) -> &'static str {
        match (self, packed) {
            (Format::Sam, false) => "sam",
            (Format::Sam, true) => "sam.gz",
            (Format::Bam, _) => "bam",
            (Format::Paf, false) => "paf",
            (Format::Paf, true) => "paf.gz",
        }
    }

    /// The format of a receipt's name for it, and whether its text is packed.
    pub fn named(name: &str) -> Option<(Format, bool)> {
        if name == SORTED_BAM {
            return Some((Format::Bam, false));
        }
        let all = [Format::Sam, Format::Bam, Format::Paf].map(|format| [(format, false), (format, true)]);
        all.into_iter().flatten().find(|(format, packed)| format.name(*packed) == name)
    }
}
