//! The options of a run, resolved from the command line.

mod audit;
mod columns;
mod dedup;
mod grep;
mod index;
mod iterations;
mod lane;
mod limits;
mod mapper;
mod matrix;
mod read_group;
mod read_rules;
mod sample_sheet;
mod scoring;
mod search;
mod search_columns;
mod translation;

pub use audit::{AuditFormat, AuditOptions, Sample, SampledNames};
pub use columns::Column;
pub use dedup::{DedupBy, DedupOptions, ReadFormat};
pub use grep::{GrepOptions, GrepOutput, GrepPatterns, OccurrenceRule, WordPosition};
pub use index::{DATABASE_EXTENSION, IndexOptions};
pub use iterations::{INCLUSION, IterationRules};
pub use lane::{SequencingLane, try_open};
pub use limits::{HitLimits, IdentityDefinition, Mask, PageOptions, Rank, RankedOptions, TieRule};
pub use mapper::MapperScoring;
pub use matrix::{MatrixOptions, MatrixValues};
pub use read_group::ReadGroup;
pub use read_rules::ReadRules;
pub use sample_sheet::{LaneInSheet, SheetFault, parse_sample_sheet};
pub use scoring::{
    ANCHOR, ANY_SCORE, PerPiece, Preset, ScoringChoice, anchored_score, default_drop, default_min_score,
    default_split_score, short_score,
};
pub use search::{
    AmpliconChoice, EditLimits, HitChoice, MOST_PAM_LETTERS, MateFiles, MaxEdits, PairSource, PamChoice,
    PamSide, PatternSource, Rate, SearchFormat, SearchOptions,
};
pub use search_columns::SearchColumn;
pub use translation::Translation;

use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::insert::InsertSize;
use std::path::{Path, PathBuf};

/// Which queries are aligned with which targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Every query against every target.
    #[default]
    All,
    /// The i-th query against the i-th target.
    Pairs,
    /// Every record of a file against the records after it.
    Triangle,
}

/// The source of the mates of the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MatesChoice {
    /// The queries are not mates.
    #[default]
    None,
    /// After each query, in the same file.
    Interleaved,
    /// In another file, in the same order.
    File(PathBuf),
}

/// How the unaligned rest of a query is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Minimum score of a supplementary hit; `None` is [`default_split_score`].
    pub score: Option<i32>,
    /// Whether a query may be searched more than a few times over.
    pub is_complete: bool,
    /// Maximum fall of the running score inside a path, which is cut at larger falls. `None` is
    /// [`default_drop`], 0 cuts no path.
    pub drop: Option<i32>,
}

/// Which references are circular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circular {
    All,
    /// The references with these names. A text may contain several names, separated by commas.
    Named(Vec<String>),
}

impl Default for Circular {
    fn default() -> Circular {
        Circular::Named(Vec::new())
    }
}

/// One part of a run that is split into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the part, from 1.
    pub number: u32,
    /// Number of parts.
    pub of: u32,
}

/// The input that is split into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartsOf {
    /// The queries, or the texts of a search.
    #[default]
    Queries,
    References,
}

/// The device that computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best real GPU, or the CPU if there is no GPU or too little work for one.
    Auto,
    /// The CPU cores, with an instruction set by name or their best.
    Cpu(Option<String>),
    /// The best real GPU, or one by index, PCI id or part of the name.
    Gpu(Option<String>),
    /// The specification: slow, for checking the others.
    Plain,
}

/// The devices of `swalign`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DevicesChoice {
    One(DeviceChoice),
    /// Every real GPU.
    AllGpus,
    /// GPUs by index, PCI id or part of the name.
    Gpus(Vec<String>),
}

/// Options of `swalign merge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    pub parts: Vec<PathBuf>,
    /// 0: quiet, 1: normal.
    pub verbosity: u8,
}

/// The filter that selects where queries are scored. The results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterChoice {
    /// An index of the targets if the queries repay it, otherwise scans, or no filter if neither pays.
    #[default]
    Auto,
    /// An index of the targets.
    Index,
    /// Scans of the targets for pieces of the queries, with edits.
    Scan,
    /// Every query is scored against all of every target.
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

/// How the tag cs shows equal residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsForm {
    /// By their number.
    Short,
    /// By their characters.
    Long,
}

/// The formats that list the hits of a query by rank, with bit scores and E-values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitFormat {
    /// One line per hit, with the columns of BLAST's table.
    Tab,
    /// One line per query: a JSON object.
    Json,
    /// Alignments as text.
    Text,
    /// The alignment of a query and its hits, in A3M.
    A3m,
    /// The same in the Stockholm format.
    Stockholm,
}

/// The formats that show the hits of all queries by reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelFormat {
    /// A table with the numbers of reads on each reference.
    Counts,
    /// The scores of all queries and references with hits, in the MatrixMarket format.
    Matrix,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Records of queries, aligned or not.
    Records(Format),
    /// Lists of hits.
    Hits(HitFormat),
    /// Hits by reference.
    Panel(PanelFormat),
}

/// Whether a file of this name is compressed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Options of `swalign` and `swalign pairs`. The default has no files and no threads.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub mode: Mode,
    /// `-` is stdin. It may occur only once in this field, `mates` and `reference`.
    pub query: PathBuf,
    pub reference: PathBuf,
    pub mates: MatesChoice,
    /// The other lanes. The first lane is `query`, `mates` and `read_group`.
    pub more_lanes: Vec<SequencingLane>,
    /// The file that names the lanes.
    pub sample_sheet: Option<PathBuf>,
    /// `None` estimates it from the first pairs of each lane.
    pub insert: Option<InsertSize>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// The file for a report about the run.
    pub report: Option<PathBuf>,
    /// The statistics of the run as JSON.
    pub stats: Option<PathBuf>,
    pub format: OutputFormat,
    /// Sorts records by coordinate, with at most this many bytes of them in memory, and writes an index. The format is
    /// then BAM.
    pub sort: Option<usize>,
    /// Text is compressed into bgzf blocks, as BAM always is.
    pub packed: bool,
    /// Characters that SAM and BAM forbid in a reference's name become `_`.
    pub rename_references: bool,
    /// FASTQ is accepted as references.
    pub reads_as_reference: bool,
    /// Lower-case residues become N, or X in proteins.
    pub masks_lower_case: bool,
    /// Gap characters of FASTA are removed.
    pub removes_gaps: bool,
    /// `None` detects it from the reference.
    pub alphabet: Option<Alphabet>,
    /// Which sequences are DNA that is translated to proteins.
    pub translation: Option<Translation>,
    /// Searches by profiles.
    pub iterations: IterationRules,
    pub scoring: ScoringChoice,
    /// Align DNA queries in both orientations.
    pub strands: Strands,
    /// `None` is [`default_min_score`], or the score that follows from the maximum E-value.
    pub min_score: Option<i32>,
    /// Bases of the exact run that a hit of the second tier contains; 0 for no second tier.
    pub anchor: u32,
    /// Minimum ratio of the score of a further hit to the best score, 0 to 1.
    pub secondary_ratio: f64,
    /// On large references, a further hit must also lower the mapping quality.
    pub limits_by_quality: bool,
    /// The k-mers of the index, for tests. `None` follows from the references.
    pub sampled_kmers: Option<SampledKmers>,
    /// Bases per segment of the index, for tests.
    pub segment: Option<usize>,
    pub ranked: RankedOptions,
    /// Whether and how the unaligned rest of a query is searched.
    pub split: Option<Split>,
    /// Supplementary records contain only the aligned residues.
    pub hard_clips: bool,
    pub circular: Circular,
    /// Only this part of the queries is aligned.
    pub part: Option<Share>,
    /// Only this part of the references is used.
    pub ref_part: Option<Share>,
    /// Nothing is done if the output exists, is complete, and was written by this command.
    pub resume: bool,
    pub filter: FilterChoice,
    /// Results are reused for equal sequences.
    pub dedup: bool,
    pub device: DevicesChoice,
    /// Host threads; at least 1.
    pub threads: usize,
    /// Maximum number of queries of a batch; `None` sizes batches by their work.
    pub batch: Option<usize>,
    /// Paths have `=` and `X` instead of `M`.
    pub eqx: bool,
    /// The tag cs of SAM, BAM and PAF.
    pub cs: Option<CsForm>,
    pub read_group: Option<ReadGroup>,
    /// SAM tags in the comments of queries are copied into their records.
    pub copies_comments: bool,
    /// The queries are not reported, but the records of another program are compared with their hits.
    pub audit: Option<AuditOptions>,
    /// The command line for @PG.
    pub command_line: String,
    /// 0: quiet, 1: normal, 2: verbose.
    pub verbosity: u8,
    /// Whether to run shaders with the driver's bounds checks.
    pub checked_shaders: bool,
}

/// Extensions of output files, for errors.
pub const EXTENSIONS: &str =
    ".sam, .bam, .paf, .tsv, .json, .txt or .mtx (except for .bam and .mtx, also with .gz appended)";
/// Name in receipts of BAM that is sorted by coordinate.
pub const SORTED_BAM: &str = "sorted.bam";
/// The extension of a receipt, appended to the name of the output.
pub const RECEIPT_EXTENSION: &str = ".swalign";

/// K-mers of this many bases, at every `step`-th position of the references. References with such an index count as large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledKmers {
    pub letters: u32,
    pub step: u32,
}

impl Options {
    /// Whether the minimum score of a query depends on its length, and a second tier follows: in records of queries
    /// against references, if no minimum score is given.
    pub fn has_tiers(&self) -> bool {
        let is_open = self.min_score.is_none() && self.ranked.evalue.is_none();
        is_open && self.mode == Mode::All && self.format.chooses_as_records()
    }

    /// All lanes; one if the run has a single input.
    pub fn lanes(&self) -> Vec<SequencingLane> {
        let Options { query, mates, read_group, more_lanes, .. } = self;
        let first =
            SequencingLane { reads: query.clone(), mates: mates.clone(), read_group: read_group.clone() };
        [first].into_iter().chain(more_lanes.iter().cloned()).collect()
    }

    /// Whether the queries are the records of another program, with their alignments.
    pub fn queries_are_records(&self) -> bool {
        self.audit.as_ref().is_some_and(|audit| audit.records.is_none())
    }

    /// Whether there are several lanes.
    pub fn has_lanes(&self) -> bool {
        !self.more_lanes.is_empty()
    }

    /// Whether any lane has mates.
    pub fn has_mates(&self) -> bool {
        let of_lanes = self.more_lanes.iter().map(|lane| &lane.mates);
        [&self.mates].into_iter().chain(of_lanes).any(|mates| *mates != MatesChoice::None)
    }

    /// The files that hold queries.
    pub fn query_files(&self) -> impl Iterator<Item = &Path> {
        let mates = if let MatesChoice::File(path) = &self.mates { Some(&**path) } else { None };
        [&*self.query].into_iter().chain(mates).chain(self.more_lanes.iter().flat_map(SequencingLane::files))
    }

    /// Name of the format in receipts; [`Format::named`] parses it.
    pub fn format_name(&self) -> &'static str {
        match &self.audit {
            Some(audit) => audit.format.name(),
            None if self.sort.is_some() => SORTED_BAM,
            None => self.format.name(self.packed),
        }
    }

    /// The part of the queries that the run is.
    pub fn part_of_queries(&self) -> Option<Share> {
        self.part.or(self.audit.as_ref().and_then(|audit| audit.part))
    }

    /// The files about the run that are written in addition to its output.
    pub fn files_about(&self) -> impl Iterator<Item = &Path> {
        [&self.report, &self.stats].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether the output consists of bgzf blocks.
    pub fn in_blocks(&self) -> bool {
        self.packed || self.format == OutputFormat::Records(Format::Bam)
    }

    /// Whether names of sequences may contain characters that SAM forbids.
    pub fn takes_any_name(&self) -> bool {
        !matches!(self.format, OutputFormat::Records(Format::Sam | Format::Bam))
    }

    /// Whether the paths of hits are needed: the output shows more than scores, or hits are not selected by scores
    /// alone.
    pub fn needs_paths(&self) -> bool {
        let shows_paths = match self.format {
            OutputFormat::Hits(HitFormat::Tab) => {
                self.ranked.columns.iter().any(|column| column.needs_path())
            }
            OutputFormat::Hits(_) | OutputFormat::Records(_) => true,
            OutputFormat::Panel(_) => false,
        };
        let HitLimits { identity, coverage, max_per_target, .. } = self.ranked.limits;
        // A further hit of a target must not overlap the first one, and joining parts requires whole hits.
        let has_further_hits = max_per_target > 1 || self.split.is_some() || self.has_mates();
        let decides =
            self.ranked.rank == Rank::Identity || identity > 0.0 || coverage > 0.0 || has_further_hits;
        let is_masked = self.ranked.mask == Mask::Low;
        let is_cut = self.circular != Circular::default() || self.ref_part.is_some();
        // Profiles are made of paths, and the frame of a path that may change it is that of its first codon.
        let decides = decides || self.iterations.rounds > 1 || self.scoring.frameshift.is_some();
        shows_paths || decides || is_masked || is_cut || self.files_about().next().is_some()
    }

    /// Whether the output shows whole header lines of references.
    pub fn shows_titles(&self) -> bool {
        match self.format {
            OutputFormat::Records(_) | OutputFormat::Panel(_) => false,
            OutputFormat::Hits(HitFormat::Json | HitFormat::Text) => true,
            OutputFormat::Hits(HitFormat::A3m | HitFormat::Stockholm) => false,
            OutputFormat::Hits(HitFormat::Tab) => {
                self.ranked.columns.iter().any(|column| matches!(column, Column::Stitle | Column::Salltitles))
            }
        }
    }
}

impl Default for DevicesChoice {
    fn default() -> DevicesChoice {
        DevicesChoice::One(DeviceChoice::Auto)
    }
}

impl Default for OutputFormat {
    fn default() -> OutputFormat {
        OutputFormat::Records(Format::default())
    }
}

impl OutputFormat {
    /// The format of a file's extension, in either case; text may be compressed.
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
            "a3m" => Some(OutputFormat::Hits(HitFormat::A3m)),
            "sto" | "stk" => Some(OutputFormat::Hits(HitFormat::Stockholm)),
            "mtx" => Some(OutputFormat::Panel(PanelFormat::Matrix)),
            _ => None,
        }
    }

    /// Name of the format in receipts.
    pub fn name(self, packed: bool) -> &'static str {
        match self {
            OutputFormat::Records(format) => format.name(packed),
            OutputFormat::Hits(format) => format.name(packed),
            OutputFormat::Panel(PanelFormat::Counts) => "counts",
            OutputFormat::Panel(PanelFormat::Matrix) => "matrix",
        }
    }

    /// Whether the hits of a query are chosen as those of records, and not as those of lists.
    pub fn chooses_as_records(self) -> bool {
        !matches!(self, OutputFormat::Hits(_))
    }
}

impl HitFormat {
    /// Name of the format in receipts.
    pub fn name(self, packed: bool) -> &'static str {
        match (self, packed) {
            (HitFormat::Tab, false) => "table",
            (HitFormat::Tab, true) => "table.gz",
            (HitFormat::Json, false) => "json",
            (HitFormat::Json, true) => "json.gz",
            (HitFormat::Text, false) => "text",
            (HitFormat::Text, true) => "text.gz",
            (HitFormat::A3m, false) => "a3m",
            (HitFormat::A3m, true) => "a3m.gz",
            (HitFormat::Stockholm, false) => "stockholm",
            (HitFormat::Stockholm, true) => "stockholm.gz",
        }
    }

    /// The format with this name in receipts, and whether its text is compressed.
    pub fn named(name: &str) -> Option<(HitFormat, bool)> {
        let all = [HitFormat::Tab, HitFormat::Json, HitFormat::Text, HitFormat::A3m, HitFormat::Stockholm]
            .map(|format| [(format, false), (format, true)]);
        all.into_iter().flatten().find(|(format, packed)| format.name(*packed) == name)
    }
}

impl Format {
    /// Name of the format in receipts; [`Format::named`] parses it.
    pub fn name(self, packed: bool) -> &'static str {
        match (self, packed) {
            (Format::Sam, false) => "sam",
            (Format::Sam, true) => "sam.gz",
            (Format::Bam, _) => "bam",
            (Format::Paf, false) => "paf",
            (Format::Paf, true) => "paf.gz",
        }
    }

    /// The format with this name in receipts, and whether its text is compressed.
    pub fn named(name: &str) -> Option<(Format, bool)> {
        if name == SORTED_BAM {
            return Some((Format::Bam, false));
        }
        let all = [Format::Sam, Format::Bam, Format::Paf].map(|format| [(format, false), (format, true)]);
        all.into_iter().flatten().find(|(format, packed)| format.name(*packed) == name)
    }
}
