//! The arguments of `swalign search`.

mod amplicons;
mod output;

use super::paths::{check_output, check_stdin};
use super::ranked::page;
use super::{AgainFlag, ThreadsFlag, usage, values};
use crate::alphabet::Alphabet;
use crate::options::{
    AmpliconChoice, PamChoice, PatternSource, SearchDevice, SearchFormat, SearchOptions, Share,
};
use amplicons::SearchAmpliconFlags;
use clap::error::ErrorKind;
use clap::{ArgAction, Args};
use output::{SearchNameChoice, SearchOutputFlags};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use amplicons::join_words;
pub use output::SearchColumns;

/// With limits of single kinds the work grows with the cube of the edits.
const MOST_LIMITED: u32 = 32;

#[derive(Args)]
pub struct SearchArguments {
    /// The pattern, in IUPAC codes, unless -f has patterns; then texts: FASTA or FASTQ, plain or gzip, or databases
    /// of `swalign index`; - is stdin
    #[arg(value_name = "PATTERN|TEXT", required = true)]
    inputs: Vec<OsString>,
    /// Patterns: FASTA or FASTQ, plain or gzip; - is stdin
    #[arg(short = 'f', long = "patterns", value_name = "FILE")]
    patterns: Option<PathBuf>,
    #[command(flatten)]
    edits: SearchEditFlags,
    #[command(flatten)]
    pam: SearchPamFlags,
    #[command(flatten)]
    amplicons: SearchAmpliconFlags,
    #[command(flatten)]
    hits: SearchHitFlags,
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
    /// Most edits of a hit: letters replaced, inserted or deleted
    #[arg(
        short = 'k',
        long = "max-edits",
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = values::edits
    )]
    max_edits: u32,
    /// Most edits of each pattern by its length, instead of -k: R times its letters, rounded down
    #[arg(long, value_name = "R", conflicts_with = "max_edits", allow_negative_numbers = true, value_parser = values::edit_rate)]
    edits_by_rate: Option<u32>,
    /// Only replaced letters (Hamming distance)
    #[arg(long, conflicts_with_all = ["max_ins", "max_del", "max_gap"])]
    no_indels: bool,
    /// Most letters of the pattern that the text lacks [default: as -k]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_ins: Option<u32>,
    /// Most letters of the text that the pattern lacks [default: as -k]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_del: Option<u32>,
    /// Most replaced letters [default: as -k]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_sub: Option<u32>,
    /// Most letters inserted and deleted together [default: as -k]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::edits)]
    max_gap: Option<u32>,
}

#[derive(Args)]
#[command(next_help_heading = "PAM")]
struct SearchPamFlags {
    /// Only hits with these letters beside them, in IUPAC codes and without edits, such as NGG
    ///
    /// They are no part of the hit. Of ends side by side only those with the PAM count.
    #[arg(long, value_name = "LETTERS", value_parser = values::pam)]
    pam: Option<String>,
    /// Which side of the pattern the PAM is at: 3, behind its last letter, or 5, in front of its first
    #[arg(long, value_name = "5|3", default_value = "3", requires = "pam", value_parser = ["5", "3"], hide_possible_values = true)]
    pam_side: String,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
struct SearchHitFlags {
    /// Search the reverse complements of the patterns too
    #[arg(long, value_name = "yes|no", default_value = "yes", action = ArgAction::Set, value_parser = values::yes_or_no(), hide_possible_values = true)]
    revcomp: bool,
    /// Every end of a hit, and not only the best one of ends side by side
    #[arg(long)]
    all: bool,
    /// Only the hits with the fewest edits in their text
    #[arg(long)]
    best: bool,
    /// Only the first hit of each text
    #[arg(long)]
    first: bool,
    /// The texts without a hit, instead of hits; -v is grep's, and not --verbose
    #[arg(short = 'v', long, conflicts_with_all = ["all", "best", "first", "count"])]
    invert_match: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct SearchPartFlags {
    /// Only part I of N of the texts, from 1, such as 2/8: with the others, joined by `swalign merge` in their
    /// order, the bytes of the whole
    ///
    /// Parts are stretches of the files, about equal in bytes; a text is in one part as a whole. Texts must be
    /// files, and for --format sam the patterns' names differ: `swalign merge` then makes the first record of a
    /// pattern in each part but its first a secondary one.
    #[arg(long, value_name = "I/N", value_parser = values::share)]
    part: Option<Share>,
    #[command(flatten)]
    again: AgainFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct SearchMachineFlags {
    /// What scans: auto (a GPU where the work is worth its start), cpu, gpu, cpu:SET with an instruction set, or
    /// gpu:NAME with an index, a PCI id or a part of the name; the answer is the same
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::search_device)]
    device: SearchDevice,
    #[command(flatten)]
    threads: ThreadsFlag,
}

pub const USAGE: &str = "swalign search [OPTIONS] PATTERN TEXT...\n       \
                         swalign search [OPTIONS] -f PATTERNS TEXT...";

pub const NOTES: &str = "\
Letters:
  IUPAC codes in a pattern are classes: R matches A and G. U is T, lower case is upper case. A letter
  of a text that is not A, C, G, T or U matches only N in the pattern.

Hits:
  A place where a hit ends is one where the pattern has at most -k edits against the text before it.
  Of such places side by side, for one pattern on one strand, the one with the fewest edits is
  reported, of several the leftmost; with --all, every one. A hit ends there, and its start and its
  CIGAR are those of the alignment with the fewest edits that is found by walking backwards with
  matches and replaced letters first, then deletions, then insertions. The reverse strand is the
  pattern's reverse complement, searched in the same text in the same way.

Columns of --format tab, with a header line:
  text, start, end (0-based, half-open, on the forward strand), pattern (a single one is called
  'pattern'), strand, edits, cigar (with = and X, in the text's order; I is a letter of the pattern
  that the text lacks, D the reverse), match (the text from start to end, in upper case); with --pam
  behind them pam (the text's letters there), with --orient pattern line (| equal, . replaced, - a gap).
  --columns also has pattern_aligned, text_aligned, pattern_len, text_len, mismatches, insertions,
  deletions, gaps, edits_last1, edits_last3, edits_last5 (edits in the last letters of the pattern, at its
  3' end), last_run (letters behind the last edit), before and after (letters of the text before and
  behind the hit).

Amplicons:
  --amplicons joins hits of a pair's two patterns that face each other: one on the forward strand,
  and one on the reverse strand that begins no earlier and ends no earlier. The amplicon begins
  where the first begins and ends where the other ends, and its length is within --amplicon-size.
  Either pattern may be the forward one; the strand is + where it is the pair's first (_LEFT, _F,
  /1, the first column of --pairs, with any the earlier pattern), else -.
  Columns of --format tab, with a header line: text, start, end, length, pair (its name; of --pairs
  and any both patterns' names), strand, forward (the pattern on the forward strand), forward_end,
  forward_edits, reverse, reverse_start, reverse_edits. BED has the edits of both hits in the fifth
  column, FASTA the letters from start to end, on strand - reverse-complemented. The order is by
  text, start, end, forward pattern, reverse pattern.

PAM:
  --pam NGG keeps hits with the PAM beside them, on the pattern's 3' side, or its 5' side with
  --pam-side 5. Where the PAM lies behind a hit in the text, ends with the PAM are clustered; where it
  lies in front, starts are, as if text and pattern were read backwards. So a place with the PAM is
  found wherever a stretch beside it has at most -k edits. BED has the PAM in a seventh column, SAM in
  the tag pm.

SAM:
  The patterns are the reads; the first hit of a pattern is its primary record, further ones are
  secondary. Without a hit a pattern has no record. MAPQ is 255, NM has the edits. The order is that of
  coordinates. A text without letters has no @SQ line.

Order:
  By text, start, end, pattern in the order of the file, + before -.

Examples:
  swalign search -k 2 GATTACANNNCATTAG genome.fa
  swalign search -k 3 -f primers.fa --best reads.fq.gz > hits.tsv
  swalign search -k 3 -f primers.fa --format sam genome.fa | samtools view -b -o hits.bam -
  swalign search -k 4 --pam NGG --orient pattern --summary guides.tsv -f guides.fa genome.fa > sites.tsv
  swalign search -k 1 --no-indels --all -f guides.fa --format bed genome.fa.gz
  swalign search -k 2 -f primers.fa --amplicons --amplicon-size 300..500 genomes.fa > amplicons.tsv
  swalign search -k 2 -f pool.fa --amplicons any --format fasta genome.fa > products.fa
  zcat reads.fq.gz | swalign search -v -k 4 -f adapters.fa --format fasta - > clean.fa

Exit codes: 0 success, hits or not; 1 failure; 2 wrong usage.";

impl SearchArguments {
    pub fn resolve(self, command_line: String) -> Result<SearchOptions, clap::Error> {
        let SearchArguments { inputs, patterns, edits, pam, amplicons, hits, output, parts, machine } = self;
        let mut texts = inputs.into_iter();
        let patterns = match patterns {
            Some(file) => PatternSource::File(file),
            None => PatternSource::Letters(letters(texts.next().unwrap_or_default())?),
        };
        let texts: Vec<PathBuf> = texts.map(PathBuf::from).collect();
        let amplicons = amplicons.resolve(&patterns, &hits, &output)?;
        let pairs = amplicons.as_ref().and_then(AmpliconChoice::file);
        check_files(&patterns, pairs, &texts, output.output.as_deref())?;
        let format = output.format();
        if hits.invert_match && !matches!(format, SearchFormat::Tab | SearchFormat::Fasta) {
            let text = "--invert-match (-v) lists texts, not hits; give --format tab or fasta with it";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        if format == SearchFormat::Sam && texts.iter().any(|text| text == Path::new("-")) {
            let text =
                "--format sam reads the texts twice, first for its header; give files instead of stdin";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let full_names = output.name == SearchNameChoice::Full;
        if full_names && format == SearchFormat::Sam {
            let text = "--name full and --format sam exclude each other: names of SAM have no spaces";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let limits = edits.limits()?;
        let summary = output.summary.clone();
        output.check(format, (parts.part.is_some(), hits.invert_match))?;
        let (columns, as_pattern) = output.shown(format, pam.pam.is_some())?;
        if let Some(summary) = &summary {
            check_files(&patterns, pairs, &texts, Some(summary))?;
            if output.output.as_deref() == Some(summary.as_path()) {
                let text = "--summary and --output name one file; name another";
                return Err(usage(ErrorKind::ArgumentConflict, text));
            }
        }
        let in_front = pam.pam_side == "5";
        let pam = pam.pam.map(|letters| PamChoice { letters, in_front });
        let page = page(output.output.as_deref().is_some_and(|path| path != Path::new("-")));
        Ok(SearchOptions {
            patterns,
            texts,
            output: output.output.filter(|path| path != Path::new("-")),
            max_edits: edits.max_edits,
            edits_by_rate: edits.edits_by_rate,
            indels: !edits.no_indels,
            limits,
            pam,
            amplicons,
            both_strands: hits.revcomp,
            every_end: hits.all,
            best: hits.best,
            first: hits.first,
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
    /// The limits of single kinds, where one of them says more than -k.
    fn limits(&self) -> Result<Option<[u32; 4]>, clap::Error> {
        // What a rate allows is known with the patterns.
        let most = if self.edits_by_rate.is_some() { u32::MAX } else { self.max_edits };
        let [ins, del, sub, gap] = [self.max_ins, self.max_del, self.max_sub, self.max_gap]
            .map(|limit| limit.unwrap_or(most).min(most));
        // Without gaps, a limit of replaced letters is one of all edits.
        let (ins, del) = if self.no_indels { (0, 0) } else { (ins, del) };
        if [ins, del, sub, gap] == [most; 4] || (self.no_indels && sub == most) {
            return Ok(None);
        }
        if most > MOST_LIMITED && self.edits_by_rate.is_none() {
            let text = format!(
                "--max-ins, --max-del, --max-sub and --max-gap are for at most {MOST_LIMITED} edits; give a smaller -k \
                 with them"
            );
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        Ok(Some([ins, del, sub, gap]))
    }
}

/// The letters of a pattern, which must be some.
fn letters(given: OsString) -> Result<String, clap::Error> {
    let letters = given.to_string_lossy();
    let refuse = |text: String| Err(usage(ErrorKind::ValueValidation, text));
    if letters.is_empty() {
        return refuse("PATTERN has no letters; give some, such as GATTACA".to_string());
    }
    match letters.chars().find(|&c| u8::try_from(c).ok().and_then(|c| Alphabet::Dna.code(c)).is_none()) {
        None => Ok(letters.into_owned()),
        Some(letter) => refuse(format!(
            "PATTERN '{}' has '{}', which is no IUPAC code of DNA; patterns in a file are given by -f FILE",
            letters.escape_debug(),
            letter.escape_debug()
        )),
    }
}

/// Refuses a search without texts, stdin twice, and an output that would overwrite an input.
fn check_files(
    patterns: &PatternSource,
    pairs: Option<&Path>,
    texts: &[PathBuf],
    output: Option<&Path>,
) -> Result<(), clap::Error> {
    if texts.is_empty() {
        let text = "no TEXT was given; name files to search, or - for stdin";
        return Err(usage(ErrorKind::MissingRequiredArgument, text));
    }
    let file = match patterns {
        PatternSource::File(file) => Some(file),
        PatternSource::Letters(_) => None,
    };
    let inputs = || file.into_iter().chain(texts).map(PathBuf::as_path).chain(pairs);
    check_stdin(inputs())?;
    inputs().try_for_each(|input| check_output(input, output))
}
