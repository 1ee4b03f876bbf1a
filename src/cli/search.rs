//! The arguments of `swalign search`.

mod amplicons;
mod mates;
mod output;

use super::circular::SearchCircularFlags;
use super::paths::{check_about, check_output, check_stdin};
use super::ranked::page;
use super::{AgainFlag, InputFlags, ThreadsFlag, usage, values};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{
    AmpliconChoice, DeviceChoice, HitChoice, MaxEdits, PamChoice, PamSide, PatternSource, Rate,
    SearchOptions, Share,
};
use amplicons::SearchAmpliconFlags;
use clap::error::ErrorKind;
use clap::{ArgAction, Args};
use mates::SearchMateFlags;
use output::{SearchNameChoice, SearchOutputFlags};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use amplicons::join_words;
pub use output::SearchColumns;

#[derive(Args)]
pub struct SearchArguments {
    /// Pattern in IUPAC codes (unless -f is given), then texts (- for stdin)
    ///
    /// Texts are FASTA or FASTQ files, plain or gzip, or databases of `swalign index`.
    #[arg(value_name = "PATTERN|TEXT", required = true)]
    inputs: Vec<OsString>,
    /// Read patterns from a FASTA or FASTQ file, plain or gzip (- for stdin)
    #[arg(short = 'f', long = "patterns", value_name = "FILE", help_heading = "Input")]
    patterns: Option<PathBuf>,
    #[command(flatten)]
    reading: InputFlags,
    #[command(flatten)]
    edits: SearchEditFlags,
    #[command(flatten)]
    pam: SearchPamFlags,
    #[command(flatten)]
    amplicons: SearchAmpliconFlags,
    #[command(flatten)]
    mates: SearchMateFlags,
    #[command(flatten)]
    hits: SearchHitFlags,
    #[command(flatten)]
    circular: SearchCircularFlags,
    #[command(flatten)]
    output: SearchOutputFlags,
    #[command(flatten)]
    parts: SearchPartFlags,
    #[command(flatten)]
    machine: SearchMachineFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Edits")]
struct SearchEditFlags {
    /// Report hits with at most N edits, or R% of the pattern length
    ///
    /// Edits are substitutions, insertions and deletions. With a rate such as 10%, the number of edits of each pattern is rounded
    /// down.
    #[arg(
        short = 'k',
        long = "max-edits",
        value_name = "N|R%",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = values::edit_limit
    )]
    max_edits: MaxEdits,
    /// Set -k of each pattern to R x its length, rounded down
    #[arg(
        long,
        value_name = "R",
        hide = true,
        conflicts_with = "max_edits",
        allow_negative_numbers = true,
        value_parser = values::edit_rate
    )]
    edits_by_rate: Option<u32>,
    /// Allow only substitutions (Hamming distance)
    #[arg(long, conflicts_with_all = ["max_insertions", "max_deletions", "max_gaps"])]
    no_indels: bool,
    /// Allow at most N inserted bases: in the pattern, but not in the text [default: as -k]
    #[arg(long, alias = "max-ins", hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_insertions: Option<u32>,
    /// Allow at most N deleted bases: in the text, but not in the pattern [default: as -k]
    #[arg(long, alias = "max-del", hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_deletions: Option<u32>,
    /// Allow at most N substitutions [default: as -k]
    #[arg(long, alias = "max-sub", hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_substitutions: Option<u32>,
    /// Allow at most N inserted and deleted bases in total [default: as -k]
    #[arg(long, alias = "max-gap", hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_gaps: Option<u32>,
}

#[derive(Args)]
#[command(next_help_heading = "PAM")]
struct SearchPamFlags {
    /// Report hits next to this PAM in IUPAC codes, such as NGG
    ///
    /// The PAM must match without edits, and is not part of the hit. Only ends with the PAM compete with each other.
    #[arg(long, value_name = "PAM", value_parser = values::pam)]
    pam: Option<String>,
    /// Side of the pattern with the PAM: 3 or 5
    ///
    /// 3 is after its last base, and 5 is before its first base.
    #[arg(
        long,
        value_name = "5|3",
        default_value = "3",
        requires = "pam",
        value_parser = ["5", "3"],
        hide_possible_values = true
    )]
    pam_side: String,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
struct SearchHitFlags {
    /// Also search the reverse complements of the patterns
    #[arg(
        long,
        value_name = "yes|no",
        default_value = "yes",
        action = ArgAction::Set,
        value_parser = values::yes_or_no(),
        hide = true,
        conflicts_with = "strand"
    )]
    revcomp: bool,
    /// Strands of texts to search: both, plus or minus [default: both]
    #[arg(long, value_enum, value_name = "both|plus|minus", hide_possible_values = true)]
    strand: Option<Strands>,
    /// Report every end position with at most -k edits, not only local minima
    #[arg(long)]
    all: bool,
    /// Report only the hits with the fewest edits in each text
    #[arg(long)]
    best: bool,
    /// Report only the first hit of each text
    #[arg(long)]
    first: bool,
    /// Report texts without a hit (-v as in grep, not --verbose)
    #[arg(short = 'v', long, conflicts_with_all = ["all", "best", "first", "count"])]
    invert_match: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct SearchPartFlags {
    /// Search part I of N of the texts, such as 2/8; `swalign merge` joins the parts
    ///
    /// The joined output is identical to that of a run without --part. Parts are ranges of the files, about equal in bytes; a
    /// text is never divided. Texts must be files. For --format sam, the names of the patterns must be unique, because
    /// `swalign merge` turns the primary records of later parts into secondary records.
    #[arg(long, hide_short_help = true, value_name = "I/N", value_parser = values::share)]
    part: Option<Share>,
    #[command(flatten)]
    again: AgainFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct SearchMachineFlags {
    /// Device: auto, cpu, gpu or gpu:INDEX
    ///
    /// `swalign devices` lists the GPUs. auto uses a GPU if the search is long enough to repay its start-up. gpu:NAME selects a GPU by part of its name, gpu:PCI-ID
    /// by PCI address, and cpu:NAME an instruction set. The output does not depend on the device.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device)]
    device: DeviceChoice,
    #[command(flatten)]
    threads: ThreadsFlag,
}

pub const USAGE: &str = "swalign search [OPTIONS] PATTERN TEXT...\n       \
                         swalign search [OPTIONS] -f PATTERNS TEXT...";

pub const NOTES: &str = "\
Alphabet:
  IUPAC codes in a pattern are classes: R matches A and G. U counts as T, and lower case as upper case. A character of a \
  text other than A, C, G, T and U matches only N in the pattern.

Hits:
  An end is a position where the pattern aligns to the preceding text with at most -k edits. Ends without edits are hits. \
  An end with edits is a hit if neither of the adjacent positions has fewer edits; of adjacent ends with equally many \
  edits, the leftmost is the hit. Therefore a larger -k only adds hits. With --all, every end is a hit. Start and CIGAR of \
  a hit come from an alignment with the fewest edits, traced back from its end: matches and substitutions are preferred \
  to deletions, and deletions to insertions. For the reverse strand, the reverse complement of the pattern is searched in \
  the same text in the same way.

Columns of --format tab (with a header line):
  text: name of the text
  start, end: position of the hit, 0-based and half-open, on the forward strand
  pattern: name of the pattern; the name of PATTERN is 'pattern'
  strand, edits: strand and number of edits
  cigar: CIGAR with = and X, in the order of the text; I is a base only in the pattern, D a base only in the text
  match: the matched text, in upper case
  pam: the text at the PAM (added by --pam)
  line: a character for each alignment column: | match, . mismatch, - gap (added by --orient pattern)

  --columns may also name these:
  pattern_aligned, text_aligned: aligned sequences with gaps
  pattern_len, text_len: lengths of pattern and text
  mismatches, insertions, deletions, gaps: number of edits of each kind
  edits_last1, edits_last3, edits_last5: edits in the last bases of the pattern (its 3' end)
  last_run: number of bases after the last edit
  before, after: adjacent bases of the text

Amplicons:
  --amplicons joins hits of the two patterns of a pair if they face each other: one on the forward strand, and one on the \
  reverse strand that starts no earlier and ends no earlier. The amplicon extends from the start of the first to the end \
  of the second, and its length must be within --amplicon-size. Either pattern of a pair may be on the forward strand. \
  The strand of the amplicon is + if that is the first pattern of the pair (_LEFT, _F, /1, the first column of --pairs, \
  or with --amplicons any the earlier pattern), and - otherwise.
  --trim-primers leaves the primers out of FASTA and FASTQ records; start and end are then those of the record.

  The columns of --format tab are text, start, end, length, pair, strand, forward, forward_end, forward_edits, reverse, \
  reverse_start and reverse_edits. forward and reverse are the patterns on each strand. pair is the name of the pair, or \
  the names of both patterns with --pairs and --amplicons any. The fifth column of BED contains the edits of both hits. \
  FASTA and FASTQ contain the sequence from start to end, reverse-complemented on strand -. Amplicons are sorted by text, start, \
  end, forward pattern and reverse pattern.

Mates:
  --mates writes pairs of reads that begin with the two primers of a pair. A read begins with a primer if a hit on its \
  forward strand starts at most --primer-offset bases after its first base. Of several pairs of hits, the one with the \
  fewest edits counts, then the one that starts first. The record begins with the hit, or after it with --trim-primers. \
  It ends with the read, or with the other primer's hit on the reverse strand if the read has one, and before it with \
  --trim-primers. Other pairs are in --untrimmed-output and --untrimmed-mates-output, whole.

Circular texts:
  With --circular, the last base of a text is followed by its first. Each hit is reported once, with its start within \
  the text; the end of a hit across the origin is greater than the length of the text. A hit may be longer than the text, \
  an amplicon may not.

PAM:
  --pam NGG reports hits with the PAM on the 3' side of the pattern, or on its 5' side with --pam-side 5. If the PAM \
  follows the hit in the text, only ends with the PAM compete with each other. If it precedes the hit, starts with the PAM \
  compete, as if text and pattern were read backwards. BED has the PAM in a seventh column, and SAM in the tag pm.

SAM:
  The patterns are the reads. The first hit of a pattern is its primary record, and further hits are secondary. A pattern \
  without a hit has no record. MAPQ is 255, and NM contains the edits. Records are sorted by coordinate. An empty text has \
  no @SQ line.

Order of hits:
  Hits are sorted by text, start, end, pattern (in the order of the file) and strand (+ before -).

Examples:
  swalign search -k 2 GATTACANNNCATTAG genome.fa
  swalign search -k 3 -f primers.fa --best reads.fq.gz > hits.tsv
  swalign search -k 4 --pam NGG --summary guides.tsv -f guides.fa genome.fa > sites.tsv
  swalign search -k 2 -f primers.fa --amplicons --format fasta genome.fa > amplicons.fa
  swalign search -k 3 -f primers.fa --format sam genome.fa | samtools view -b -o hits.bam -
  swalign search -k 2 -f primers.fa --amplicons --format fastq --trim-primers reads.fq > trimmed.fq
  zcat reads.fq.gz | swalign search -v -k 4 -f adapters.fa --format fasta - > clean.fa

Exit codes: 0 success (with or without hits), 1 failure, 2 wrong usage.";

impl SearchHitFlags {
    fn strands(&self) -> Strands {
        self.strand.unwrap_or(Strands::of(self.revcomp))
    }
}

impl SearchArguments {
    pub fn resolve(self, command_line: String) -> Result<SearchOptions, clap::Error> {
        let SearchArguments {
            inputs,
            patterns,
            reading,
            edits,
            pam,
            amplicons,
            mates,
            hits,
            circular,
            output,
            parts,
            machine,
        } = self;
        let mut texts = inputs.into_iter();
        let patterns = match patterns {
            Some(file) => PatternSource::File(file),
            None => PatternSource::Letters(letters(texts.next().unwrap_or_default())?),
        };
        let texts: Vec<PathBuf> = texts.map(PathBuf::from).collect();
        let mates = mates.resolve();
        let amplicons = amplicons.resolve(mates)?;
        let sides = SideInputs::of(amplicons.as_ref());
        check_files(&patterns, sides, &texts, output.output.as_deref())?;
        let format = output.format();
        let full_names = output.name == SearchNameChoice::Full;
        let circular = circular.resolve();
        let summary = output.summary.clone();
        let (columns, as_pattern) = output.shown(format, pam.pam.is_some())?;
        let choice = amplicons.as_ref();
        let mates = choice.and_then(|choice| choice.mates.as_ref());
        let written = [
            ("--summary", summary.as_deref()),
            ("--untrimmed-output", choice.and_then(|choice| choice.untrimmed.as_deref())),
            ("--mates-output", mates.map(|mates| &*mates.output)),
            ("--untrimmed-mates-output", mates.and_then(|mates| mates.untrimmed.as_deref())),
        ];
        check_about(&written, input_files(&patterns, sides, &texts), (output.output.as_deref(), false))?;
        let side = if pam.pam_side == "5" { PamSide::Five } else { PamSide::Three };
        let pam = pam.pam.map(|letters| PamChoice { letters: letters.into_bytes(), side });
        let page = page(output.output.as_deref().is_some_and(|path| path != Path::new("-")));
        Ok(SearchOptions {
            patterns,
            texts,
            circular,
            output: output.output.filter(|path| path != Path::new("-")),
            hits: HitChoice {
                max_edits: edits.max_edits(),
                indels: !edits.no_indels,
                kinds: [edits.max_insertions, edits.max_deletions, edits.max_substitutions, edits.max_gaps],
                pam,
                strands: hits.strands(),
                every_end: hits.all,
                best: hits.best,
                // Texts without a hit need no second hit.
                first: hits.first || hits.invert_match,
            },
            removes_gaps: reading.remove_gaps,
            amplicons,
            invert: hits.invert_match,
            format,
            columns,
            as_pattern,
            summary,
            page,
            part: parts.part,
            resume: parts.again.resume,
            full_names,
            device: machine.device,
            threads: machine.threads.count(),
            command_line,
            verbosity: if output.quiet { 0 } else { 1 + u8::from(output.verbose) },
        })
    }
}

impl SearchEditFlags {
    fn max_edits(&self) -> MaxEdits {
        self.edits_by_rate.map_or(self.max_edits, |millionths| MaxEdits::Rate(Rate { millionths }))
    }
}

/// The sequence of a pattern, which must not be empty.
fn letters(given: OsString) -> Result<String, clap::Error> {
    let letters = given.to_string_lossy();
    let refuse = |text: String| Err(usage(ErrorKind::ValueValidation, text));
    if letters.is_empty() {
        return refuse("PATTERN is empty; give a sequence, such as GATTACA".to_string());
    }
    match letters.chars().find(|&c| u8::try_from(c).ok().and_then(|c| Alphabet::Dna.code(c)).is_none()) {
        None => Ok(letters.into_owned()),
        Some(letter) => refuse(format!(
            "PATTERN '{}' contains '{}', which is not an IUPAC code of DNA; to read patterns from a file, use -f FILE",
            letters.escape_debug(),
            letter.escape_debug()
        )),
    }
}

/// Refuses a search without texts, stdin twice, and an output that would overwrite an input.
fn check_files(
    patterns: &PatternSource,
    sides: SideInputs,
    texts: &[PathBuf],
    output: Option<&Path>,
) -> Result<(), clap::Error> {
    if texts.is_empty() {
        let text = "TEXT is missing; name files to search, or - for stdin";
        return Err(usage(ErrorKind::MissingRequiredArgument, text));
    }
    let mut inputs = input_files(patterns, sides, texts);
    check_stdin(inputs.clone())?;
    inputs.try_for_each(|input| check_output(input, output))
}

/// Files that a search reads beside patterns and texts.
#[derive(Clone, Copy)]
struct SideInputs<'a> {
    pairs: Option<&'a Path>,
    mates: Option<&'a Path>,
}

impl<'a> SideInputs<'a> {
    fn of(choice: Option<&'a AmpliconChoice>) -> SideInputs<'a> {
        let mates = choice.and_then(|choice| choice.mates.as_ref());
        SideInputs { pairs: choice.and_then(AmpliconChoice::file), mates: mates.map(|mates| &*mates.file) }
    }
}

/// Files that a search reads.
fn input_files<'a>(
    patterns: &'a PatternSource,
    SideInputs { pairs, mates }: SideInputs<'a>,
    texts: &'a [PathBuf],
) -> impl Iterator<Item = &'a Path> + Clone {
    let file = match patterns {
        PatternSource::File(file) => Some(file),
        PatternSource::Letters(_) => None,
    };
    file.into_iter().chain(texts).map(PathBuf::as_path).chain(pairs).chain(mates)
}
