//! The arguments of `swalign grep`.

use super::paths::check_stdin;
use super::{ThreadsFlag, usage, values};
use crate::terms::options::{
    DeviceChoice, GrepOptions, GrepOutput, GrepPatterns, OccurrenceRule, WordPosition,
};
use clap::error::ErrorKind;
use clap::{ArgAction, Args};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct GrepArguments {
    /// Pattern (unless -e or -f is given), then files (- for stdin)
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
    /// Match with at most N edits: substitutions, insertions and deletions
    #[arg(
        short = 'k',
        long = "max-edits",
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = values::grep_edits
    )]
    max_edits: u32,
    /// Allow only substitutions (Hamming distance)
    #[arg(long)]
    no_indels: bool,
    /// Search for PATTERN, one per line (may be repeated)
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<OsString>,
    /// Read patterns from FILE, one per line, plain or gzip (- for stdin)
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Treat patterns as literal text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Ignore case (ASCII only)
    #[arg(short, long)]
    ignore_case: bool,
    /// Select lines that do not match (-v as in grep, not --verbose)
    #[arg(short = 'v', long)]
    invert_match: bool,
    /// Match only whole words of [A-Za-z0-9_]
    #[arg(short, long)]
    word_regexp: bool,
    /// Match only whole lines
    #[arg(short = 'x', long, conflicts_with = "prefix")]
    line_regexp: bool,
    /// Match only at the start of a line
    #[arg(long)]
    prefix: bool,
    /// Search the text of gzip files (-z as in ripgrep)
    #[arg(short = 'z', long)]
    search_zip: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct GrepOutputFlags {
    /// Print the line number before each line
    #[arg(short = 'n', long)]
    line_number: bool,
    /// Print the file name before each line [default with several files]
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,
    /// Do not print file names [default with one file] (-h as in grep, not --help)
    #[arg(short = 'h', long, overrides_with = "with_filename")]
    no_filename: bool,
    /// Print only the matches, each on its own line (leftmost-longest)
    #[arg(short, long)]
    only_matching: bool,
    /// Print the number of selected lines of each file
    #[arg(short, long)]
    count: bool,
    /// Print how often each pattern occurs in all files: count, tab, pattern
    ///
    /// Overlapping occurrences count. The patterns are in the order in which they were given.
    #[arg(long, conflicts_with_all = [
        "invert_match", "line_number", "with_filename", "only_matching", "count", "files_with_matches", "quiet", "max_count",
    ])]
    count_by_pattern: bool,
    /// Print the names of files with selected lines
    #[arg(short = 'l', long)]
    files_with_matches: bool,
    /// Print nothing, and exit at the first selected line
    #[arg(short, long)]
    quiet: bool,
    /// Stop after N selected lines of each file
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_count: Option<usize>,
    /// Suppress messages about files that cannot be read
    #[arg(short = 's', long)]
    no_messages: bool,
    /// Print help
    #[arg(long, action = ArgAction::HelpLong)]
    help: Option<bool>,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct GrepMachineFlags {
    /// Device: cpu, gpu or gpu:INDEX
    ///
    /// `swalign devices` lists the GPUs. gpu:NAME selects a GPU by part of its name, gpu:PCI-ID by PCI address, and cpu:NAME an instruction set. auto is cpu, which
    /// finishes most files before a GPU has started. The output does not depend on the device.
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = values::grep_device)]
    device: DeviceChoice,
    #[command(flatten)]
    threads: ThreadsFlag,
}

pub const USAGE: &str = "swalign grep [OPTIONS] PATTERN FILE...\n       \
                         swalign grep [OPTIONS] -e PATTERN | -f PATTERNS FILE...";

pub const NOTES: &str = "\
Lines:
  A line matches if part of it is within -k edits of a pattern. A pattern of at most -k characters matches every line, as \
  the empty pattern does; with --no-indels, the matched part is as long as the pattern. A line ends before \\n, and a \\r is \
  part of the line. Files may contain any bytes. Without -z, the compressed bytes of a gzip file are searched, and a warning \
  says so.

Patterns:
  .             any byte
  [a-z_] [^,;]  a byte in or not in the set
  [[:alpha:]]   a POSIX class within a set
  \\d \\w \\s      digit, word character, white space
  \\D \\W \\S      any other byte
  \\t \\xHH       tab, byte with the hexadecimal code HH
  \\. \\* \\[      the character itself

  Classes are those of ASCII. An edit replaces, inserts or deletes one of these items. A non-ASCII character counts as \
  several bytes, and cannot be in a set. The characters ^ $ * + ? ( ) | { are reserved: escape them with a backslash, or use \
  -F to treat all characters literally.

Dictionaries:
  Without -k, literal patterns (-F, or patterns without the items above) are looked up in a dictionary, however many \
  there are. -o, -w, -x, --prefix and --count-by-pattern are available only in this case. -w is \
  that of grep in the C locale.

Examples:
  swalign grep -k 2 -n approximate docs/*.md
  swalign grep -k 1 -i -c color notes.txt
  swalign grep -k 1 '\\d\\d\\d\\d-\\d\\d-\\d\\d' log.txt
  swalign grep -k 2 -v -f names.txt list.txt > others.txt
  swalign grep -F -x -f words.txt lines.txt
  swalign grep -F -w -i --count-by-pattern -f words.txt book.txt | sort -rn

Exit codes, as grep: 0 if a line was selected, 1 if none, 2 on errors (even if lines were selected).";

impl GrepArguments {
    pub fn resolve(self) -> Result<GrepOptions, clap::Error> {
        let GrepArguments { inputs, matching, output, machine } = self;
        let mut inputs = inputs.into_iter();
        let text = |text: OsString| GrepPatterns::Text(text.into_encoded_bytes());
        let mut patterns: Vec<GrepPatterns> = matching.patterns.into_iter().map(text).collect();
        patterns.extend(matching.files.into_iter().map(GrepPatterns::File));
        if patterns.is_empty() {
            let text = "PATTERN is missing; give one, or use -e PATTERN or -f FILE";
            let given = inputs.next().ok_or_else(|| usage(ErrorKind::MissingRequiredArgument, text))?;
            patterns.push(GrepPatterns::Text(given.into_encoded_bytes()));
        }
        let texts: Vec<PathBuf> = inputs.map(PathBuf::from).collect();
        check_files(&patterns, &texts)?;
        let names = output.with_filename || (texts.len() > 1 && !output.no_filename);
        Ok(GrepOptions {
            patterns,
            unzips: matching.search_zip,
            max_edits: matching.max_edits,
            indels: !matching.no_indels,
            literal: matching.fixed_strings,
            invert: matching.invert_match,
            rule: OccurrenceRule {
                place: match matching {
                    GrepMatchingFlags { line_regexp: true, .. } => WordPosition::Line,
                    GrepMatchingFlags { prefix: true, .. } => WordPosition::Start,
                    _ => WordPosition::Anywhere,
                },
                whole_words: matching.word_regexp,
                any_case: matching.ignore_case,
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
        let text = "FILE is missing; name files to search, or - for stdin";
        return Err(usage(ErrorKind::MissingRequiredArgument, text));
    }
    let files = patterns.iter().filter_map(|pattern| match pattern {
        GrepPatterns::File(file) => Some(file),
        GrepPatterns::Text(_) => None,
    });
    check_stdin(files.chain(texts).map(PathBuf::as_path))
}
