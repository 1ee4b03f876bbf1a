//! The arguments of `swalign grep`.

use super::paths::check_stdin;
use super::{ThreadsFlag, usage, values};
use crate::options::{GrepDevice, GrepOptions, GrepOutput, GrepPatterns, GrepPlace};
use clap::error::ErrorKind;
use clap::{ArgAction, Args};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct GrepArguments {
    /// The pattern, unless -e or -f has some; then files, of any bytes; - is stdin
    #[arg(value_name = "PATTERN|FILE")]
    inputs: Vec<OsString>,
    #[command(flatten)]
    matching: GrepMatchingFlags,
    #[command(flatten)]
    output: GrepOutputFlags,
    #[command(flatten)]
    machine: GrepMachineFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Matching")]
struct GrepMatchingFlags {
    /// Most edits: characters replaced, inserted or deleted
    #[arg(
        short = 'k',
        long = "max-edits",
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = values::edits
    )]
    max_edits: u32,
    /// Only replaced characters (Hamming distance)
    #[arg(long)]
    no_indels: bool,
    /// A pattern, one a line; may be given several times
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<OsString>,
    /// Patterns, one a line; - is stdin
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Every character of a pattern stands for itself
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Upper case is lower case, in ASCII
    #[arg(short, long)]
    ignore_case: bool,
    /// The lines that do not match; -v is grep's, and not --verbose
    #[arg(short = 'v', long)]
    invert_match: bool,
    /// Only words: no letter, digit or _ of ASCII beside what matches
    #[arg(short, long)]
    word_regexp: bool,
    /// Only whole lines
    #[arg(short = 'x', long, conflicts_with = "prefix")]
    line_regexp: bool,
    /// Only where a line begins
    #[arg(long)]
    prefix: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct GrepOutputFlags {
    /// The number of each line before it
    #[arg(short = 'n', long)]
    line_number: bool,
    /// The name of the file before each line [default with several files]
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,
    /// No names before lines [default with one file]; -h is grep's, and help is --help
    #[arg(short = 'h', long, overrides_with = "with_filename")]
    no_filename: bool,
    /// What matches, each on a line of its own: from the left, the longest first
    #[arg(short, long)]
    only_matching: bool,
    /// The number of lines of each file, instead of lines
    #[arg(short, long)]
    count: bool,
    /// How often each pattern occurs in all files, in its order: number, tab, pattern. Occurrences may overlap
    #[arg(long, conflicts_with_all = [
        "invert_match", "line_number", "with_filename", "only_matching", "count", "files_with_matches", "quiet", "max_count",
    ])]
    count_by_pattern: bool,
    /// The names of files with such a line, instead of lines
    #[arg(short = 'l', long)]
    files_with_matches: bool,
    /// Nothing: only the exit code, at the first line
    #[arg(short, long)]
    quiet: bool,
    /// Most lines of each file
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_count: Option<usize>,
    /// Say nothing of files that can't be read
    #[arg(short = 's', long)]
    no_messages: bool,
    /// Print help
    #[arg(long, action = ArgAction::HelpLong)]
    help: Option<bool>,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct GrepMachineFlags {
    /// What scans: cpu, gpu, cpu:SET with an instruction set, or gpu:NAME with an index, a PCI id or a part of the
    /// name; the answer is the same. auto is cpu, which is done with most files before a GPU has started
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = values::grep_device)]
    device: GrepDevice,
    #[command(flatten)]
    threads: ThreadsFlag,
}

pub const USAGE: &str = "swalign grep [OPTIONS] PATTERN FILE...\n       \
                         swalign grep [OPTIONS] -e PATTERN | -f PATTERNS FILE...";

pub const NOTES: &str = "\
Lines:
  A line matches if a stretch of it is at most -k edits from the pattern, or from one of several. A
  pattern of at most -k characters is that close to nothing, so every line matches it, as every line
  matches the empty pattern; with --no-indels the stretch has as many bytes as the pattern. A line
  ends before \\n, and no stretch goes on behind it; a \\r is a byte of the line. Files are bytes,
  also binary and packed ones: zcat FILE.gz | swalign grep PATTERN -

Patterns:
  .            any byte
  [a-z_] [^,;] one byte of these, or of all others; [:alpha:] and so on may stand inside
  \\d \\w \\s     a digit, a letter or digit or _, white space (ASCII); \\D \\W \\S the others
  \\t \\xHH      a tab, the byte of that number
  \\. \\* \\[     the character itself
  Each is one place, where an edit can be. A character that is not ASCII is several places, one for each
  byte, and can't stand in brackets. ^ $ * + ? ( ) | { are no operators here; write a backslash before
  them, or give -F, with which all characters stand for themselves.

Dictionaries:
  Without -k, and with -F or patterns that have none of the characters above, patterns are looked up, however
  many there are. Only then there are -o, -w, -x, --prefix and --count-by-pattern. -w is grep's in the C locale.

Examples:
  swalign grep -k 2 -n approximate docs/*.md
  swalign grep -k 1 -i -c color notes.txt
  swalign grep -k 1 '\\d\\d\\d\\d-\\d\\d-\\d\\d' log.txt
  swalign grep -k 2 -v -f names.txt list.txt > others.txt
  swalign grep -F -x -f words.txt lines.txt
  swalign grep -F -w -i --count-by-pattern -f words.txt book.txt | sort -rn

Exit codes, as those of grep: 0 some line; 1 none; 2 an error, also when some file could not be read.";

impl GrepArguments {
    pub fn resolve(self) -> Result<GrepOptions, clap::Error> {
        let GrepArguments { inputs, matching, output, machine } = self;
        let mut inputs = inputs.into_iter();
        let text = |text: OsString| GrepPatterns::Text(text.into_encoded_bytes());
        let mut patterns: Vec<GrepPatterns> = matching.patterns.into_iter().map(text).collect();
        patterns.extend(matching.files.into_iter().map(GrepPatterns::File));
        if patterns.is_empty() {
            let text = "no PATTERN was given; give one, or some by -e PATTERN or -f FILE";
            let given = inputs.next().ok_or_else(|| usage(ErrorKind::MissingRequiredArgument, text))?;
            patterns.push(GrepPatterns::Text(given.into_encoded_bytes()));
        }
        let texts: Vec<PathBuf> = inputs.map(PathBuf::from).collect();
        check_files(&patterns, &texts)?;
        let names = output.with_filename || (texts.len() > 1 && !output.no_filename);
        Ok(GrepOptions {
            patterns,
            max_edits: matching.max_edits,
            indels: !matching.no_indels,
            literal: matching.fixed_strings,
            any_case: matching.ignore_case,
            invert: matching.invert_match,
            whole_words: matching.word_regexp,
            place: match matching {
                GrepMatchingFlags { line_regexp: true, .. } => GrepPlace::Line,
                GrepMatchingFlags { prefix: true, .. } => GrepPlace::Start,
                _ => GrepPlace::Anywhere,
            },
            names,
            numbers: output.line_number,
            output: match output {
                GrepOutputFlags { quiet: true, .. } => GrepOutput::Nothing,
                GrepOutputFlags { files_with_matches: true, .. } => GrepOutput::Names,
                GrepOutputFlags { count: true, .. } => GrepOutput::Count,
                GrepOutputFlags { count_by_pattern: true, .. } => GrepOutput::Table,
                GrepOutputFlags { only_matching: true, .. } => GrepOutput::Stretches,
                _ => GrepOutput::Lines,
            },
            max_count: output.max_count.map(|count| count as u64),
            silent: output.no_messages,
            device: machine.device,
            threads: machine.threads.count(),
            texts,
        })
    }
}

/// Refuses a search without files, and stdin twice.
fn check_files(patterns: &[GrepPatterns], texts: &[PathBuf]) -> Result<(), clap::Error> {
    if texts.is_empty() {
        let text = "no FILE was given; name files to search, or - for stdin";
        return Err(usage(ErrorKind::MissingRequiredArgument, text));
    }
    let files = patterns.iter().filter_map(|pattern| match pattern {
        GrepPatterns::File(file) => Some(file),
        GrepPatterns::Text(_) => None,
    });
    check_stdin(files.chain(texts).map(PathBuf::as_path))
}
