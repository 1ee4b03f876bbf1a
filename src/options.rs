//! What a run is asked to do, resolved from the command line.

use crate::alphabet::Alphabet;
use crate::error::{Error, Place, Result};
use crate::scoring::{MAX_PARAMETER, Matrix, Scoring, Substitution};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A matrix file has no more bytes.
const MATRIX_BYTES: usize = 1 << 20;

/// Which queries meet which targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every query against every target.
    All,
    /// The i-th query against the i-th target.
    Pairs,
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
    /// The best real GPU; the CPU where there is none, or where the work is too little for one.
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

/// What `swalign search` is asked to do, all choices made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    pub patterns: Patterns,
    /// FASTA or FASTQ; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    /// Most edits of a hit.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Most insertions, deletions and substitutions, where one of them is below `max_edits`.
    pub limits: Option<(u32, u32, u32)>,
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

/// Where patterns come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patterns {
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

/// What stands in front of the scores. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterChoice {
    /// An index of the targets where the queries repay it, else scans; none where neither pays.
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

/// What `swalign grep` is asked to do, all choices made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepOptions {
    pub patterns: Vec<GrepPatterns>,
    /// Any bytes; `-` is stdin.
    pub texts: Vec<PathBuf>,
    /// Most edits of a match.
    pub max_edits: u32,
    /// Whether insertions and deletions are edits.
    pub indels: bool,
    /// Every character of a pattern stands for itself.
    pub literal: bool,
    /// Upper case is lower case.
    pub any_case: bool,
    /// The lines that do not match.
    pub invert: bool,
    /// Names of files before lines.
    pub names: bool,
    /// Numbers before lines.
    pub numbers: bool,
    pub output: GrepOutput,
    /// Most lines of a file.
    pub max_count: Option<u64>,
    /// Nothing is said of files that can't be read.
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
    /// How many, of each file.
    Count,
    /// Files that have some.
    Names,
    /// Only whether there are some.
    Nothing,
}

/// Scoring as asked for; [`ScoringChoice::resolve`] fills in what was left open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoringChoice {
    pub preset: Option<Preset>,
    pub match_: Option<i32>,
    pub mismatch: Option<i32>,
    pub gap_open: Option<i32>,
    pub gap_extend: Option<i32>,
    /// Name of a built-in matrix or path of a matrix file.
    pub matrix: Option<String>,
}

/// Named sets of scoring parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// 1/4/6/1, bwa mem's; the default for DNA.
    Short,
    /// 2/4/4/2, minimap2's.
    Long,
    /// 2/3/5/2.
    Blastn,
    /// 1/1/0/2.
    Linear,
    /// BLOSUM62, 11/1; the default for protein.
    Protein,
}

/// A run of `swalign` or `swalign pairs`.
#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    /// `-` is stdin, here or in `reference` but not in both.
    pub query: PathBuf,
    pub reference: PathBuf,
    /// `None` is stdout.
    pub output: Option<PathBuf>,
    pub format: Format,
    /// SAM and PAF are packed into blocks of bgzf, as BAM always is.
    pub packed: bool,
    /// What SAM and BAM forbid in a reference's name becomes `_`.
    pub rename_references: bool,
    /// FASTQ may stand in the place of the references.
    pub reads_as_reference: bool,
    /// `None` detects it from the reference.
    pub alphabet: Option<Alphabet>,
    pub scoring: ScoringChoice,
    /// Align DNA queries in both orientations.
    pub both_strands: bool,
    /// `None` is [`default_min_score`].
    pub min_score: Option<i32>,
    /// Least share of the best score that a further hit must reach, 0 to 1.
    pub secondary_ratio: f64,
    /// Most records a query gets; at least 1.
    pub max_hits: usize,
    /// Only this part of the queries.
    pub part: Option<Share>,
    /// Only this part of the references.
    pub ref_part: Option<Share>,
    /// Nothing is done if the output is there, whole, and of this command.
    pub resume: bool,
    pub filter: FilterChoice,
    pub device: DeviceChoice,
    /// Host threads; at least 1.
    pub threads: usize,
    /// Queries of one batch at most; `None` sizes batches by their work.
    pub batch: Option<usize>,
    /// `=` and `X` instead of `M`.
    pub eqx: bool,
    /// The @RG line, tabs already real, beginning `@RG\tID:`.
    pub read_group: Option<String>,
    /// The command line for @PG.
    pub command_line: String,
    /// 0 quiet, 1 normal, 2 verbose.
    pub verbosity: u8,
    /// Run shaders with the driver's bounds checks on.
    pub checked_shaders: bool,
}

/// What a name of an output may end in, for errors.
pub const EXTENSIONS: &str = ".sam, .bam, .paf, .sam.gz or .paf.gz";
/// What stands behind an output's name in that of its receipt.
pub const RECEIPT_EXTENSION: &str = ".swalign";

impl Options {
    /// Whether the output is in blocks of bgzf.
    pub fn in_blocks(&self) -> bool {
        self.packed || self.format == Format::Bam
    }
}

impl Format {
    /// The format that a file's name stands for, in upper or lower case; text may be packed.
    pub fn of_file(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, packed) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (&*name, false),
        };
        match Path::new(name).extension()?.to_str()? {
            "sam" => Some(Format::Sam),
            "bam" if !packed => Some(Format::Bam),
            "paf" => Some(Format::Paf),
            _ => None,
        }
    }

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
        let all = [Format::Sam, Format::Bam, Format::Paf].map(|format| [(format, false), (format, true)]);
        all.into_iter().flatten().find(|(format, packed)| format.name(*packed) == name)
    }
}

impl Preset {
    /// match, mismatch, gap open, gap extend; the first two are unused with a matrix.
    fn numbers(self) -> (i32, i32, i32, i32) {
        match self {
            Preset::Short => (1, 4, 6, 1),
            Preset::Long => (2, 4, 4, 2),
            Preset::Blastn => (2, 3, 5, 2),
            Preset::Linear => (1, 1, 0, 2),
            Preset::Protein => (0, 0, 11, 1),
        }
    }
}

impl ScoringChoice {
    /// The scoring for `alphabet`: what was named, else the preset's, else the alphabet's default.
    pub fn resolve(&self, alphabet: Alphabet) -> Result<Scoring> {
        let preset = match (self.preset, alphabet) {
            (Some(Preset::Protein), Alphabet::Dna) => {
                return Err(usage(
                    "--preset protein scores proteins, but the sequences are DNA; leave it out or set --alphabet protein",
                ));
            }
            (Some(preset), _) => preset,
            (None, Alphabet::Dna) => Preset::Short,
            (None, Alphabet::Protein) => Preset::Protein,
        };
        let (match_, mismatch, open, extend) = preset.numbers();
        let gap_open = within("--gap-open", self.gap_open.unwrap_or(open), 0)?;
        let gap_extend = within("--gap-extend", self.gap_extend.unwrap_or(extend), 1)?;
        let matrix = match (&self.matrix, alphabet, preset) {
            (Some(_), _, _) if self.match_.is_some() || self.mismatch.is_some() => {
                return Err(usage("--matrix excludes --match and --mismatch; give one or the other"));
            }
            (Some(name), _, _) => Some(load_matrix(name, alphabet)?),
            (None, Alphabet::Protein, Preset::Protein)
                if self.match_.is_none() && self.mismatch.is_none() =>
            {
                Some(load_matrix("BLOSUM62", alphabet)?)
            }
            (None, Alphabet::Protein, _) => {
                return Err(usage(
                    "proteins are scored by a matrix; give --matrix or --preset protein, not match and mismatch",
                ));
            }
            (None, Alphabet::Dna, _) => None,
        };
        Ok(match matrix {
            Some(matrix) => Scoring::matrix(alphabet, matrix, gap_open, gap_extend),
            None => Scoring::dna(
                within("--match", self.match_.unwrap_or(match_), 1)?,
                within("--mismatch", self.mismatch.unwrap_or(mismatch), 0)?,
                gap_open,
                gap_extend,
            ),
        })
    }
}

/// The least score that is a hit when none is asked for: 20 matches, or 60 with a matrix
/// (docs/algorithm.md says why).
pub fn default_min_score(scoring: &Scoring) -> i32 {
    match scoring.substitution {
        Substitution::Equal { match_, .. } => 20 * match_,
        Substitution::Matrix(_) => 60,
    }
}

fn usage(text: &str) -> Error {
    Error::Usage(text.to_string())
}

fn within(flag: &str, value: i32, least: i32) -> Result<i32> {
    if (least..=MAX_PARAMETER).contains(&value) {
        return Ok(value);
    }
    Err(Error::Usage(format!(
        "{flag} {value} is out of range; give {least} to {MAX_PARAMETER} (penalties are positive numbers)"
    )))
}

fn load_matrix(name: &str, alphabet: Alphabet) -> Result<Matrix> {
    if let (Some(matrix), Alphabet::Protein) = (Matrix::named(name), alphabet) {
        return Ok(matrix);
    }
    let path = PathBuf::from(name);
    let bytes = read_matrix(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Usage(format!(
            "--matrix {name}: neither a built-in {alphabet} matrix nor a file; built in for protein: {}",
            Matrix::names().collect::<Vec<_>>().join(", ")
        )),
        _ => Error::io(&path, source),
    })?;
    matrix_text(&bytes).and_then(|text| Matrix::parse(name, text, alphabet)).map_err(|(line, problem)| {
        let remedy = match bytes.contains(&0) {
            true => "save it as plain text; `iconv -f UTF-16 -t UTF-8` makes it of UTF-16",
            false => "give an NCBI-format matrix of this alphabet, as the BLOSUM files are",
        };
        Error::input(Place { file: path, record: None, line }, problem, remedy)
    })
}

/// The bytes of a file, and one more than [`MATRIX_BYTES`] of a longer one, which may have no end.
fn read_matrix(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MATRIX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a matrix file, without a byte order mark.
fn matrix_text(bytes: &[u8]) -> Result<&str, (Option<u64>, String)> {
    let problem = match str::from_utf8(bytes) {
        _ if bytes.len() > MATRIX_BYTES => "this is no matrix: the file is larger than 1 MiB",
        Ok(text) if !text.contains('\0') => return Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        _ if bytes.contains(&0) => "the text is UTF-16, or this is no text",
        _ => "the text is not UTF-8",
    };
    Err((None, problem.to_string()))
}
