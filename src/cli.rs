//! The command line, resolved into [`Options`]; nothing else knows clap.

mod align;
mod audit;
mod circular;
mod conflicts;
mod dedup;
pub mod flags;
mod grep;
mod help;
mod index;
mod lanes;
mod line;
mod mates;
mod merge;
mod names;
pub mod pages;
mod paths;
mod profile;
mod ranked;
mod search;
pub mod signals;
mod sort;
mod split;
pub mod stdout;
pub mod terminal;
#[cfg(test)]
mod tests;
mod translate;
mod values;

use crate::terms::error::Error;
use crate::terms::options::{
    DedupOptions, Format, GrepOptions, IndexOptions, MatrixOptions, MergeOptions, Options, OutputFormat,
    SearchOptions,
};
use align::{ALL_EXAMPLES, ALL_USAGE, All, EXAMPLES, NOTES, PAIRS_EXAMPLES, PAIRS_USAGE, PairArgs, Triangle};
use audit::AuditArguments;
use clap::error::{ContextKind, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use dedup::DedupArguments;
use grep::GrepArguments;
use index::IndexArguments;
use merge::MergeArguments;
use pages::{CompletionsArguments, PagesArguments};
use search::SearchArguments;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::{process, thread};

/// A command with its options.
#[derive(Clone, Debug)]
pub enum Command {
    /// Align queries with targets, and write the hits.
    Align(Box<Options>),
    /// Search patterns with edits.
    Search(Box<SearchOptions>),
    /// Print the lines that match patterns with edits.
    Grep(Box<GrepOptions>),
    /// Write each distinct sequence once.
    Dedup(Box<DedupOptions>),
    /// Align all pairs of sequences in a file, and write a matrix.
    Matrix(Box<MatrixOptions>),
    /// Compare the records of another program with the optimum.
    Audit(Box<Options>),
    /// Build a database of references.
    Index(IndexOptions),
    /// Join the parts of a run.
    Merge(MergeOptions),
    /// List the devices, as JSON or as a table.
    Devices { json: bool },
    /// Print a completion script.
    Completions(clap_complete::Shell),
    /// Write the manual pages to a directory.
    ManPages(PathBuf),
}

/// Exact Smith-Waterman alignment on CPUs and GPUs, with output as SAM, BAM, PAF, tables or JSON
#[derive(Parser)]
#[command(
    name = "swalign",
    bin_name = "swalign",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    // Longer lines are hard to read.
    max_term_width = 100,
    after_long_help = format!("{NOTES}\n\n{EXAMPLES}"),
    override_usage = "swalign [OPTIONS] QUERY [MATES] REFERENCE\n       \
                      swalign COMMAND [OPTIONS] ..."
)]
struct Arguments {
    #[command(subcommand)]
    subcommand: Option<Sub>,
    #[command(flatten)]
    all: All,
}

#[derive(Subcommand)]
enum Sub {
    /// Align the first query with the first target, the second with the second, and so on
    ///
    /// Aligns the forward strand of each query, and both strands with --both-strands. Both files must have the same number of
    /// sequences.
    #[command(after_long_help = format!("{NOTES}\n\n{PAIRS_EXAMPLES}"), override_usage = PAIRS_USAGE)]
    #[command(mut_args(align::help_of_pairs))]
    Pairs(Box<PairArgs>),
    /// Align all pairs of sequences in a file
    ///
    /// Aligns each pair once, with the earlier sequence of the file as the query. The output lists the pairs with an E-value
    /// of at most --evalue, and with at least --min-score if it is given. In modes other than local, which have no E-values,
    /// it lists all pairs.
    #[command(after_long_help = format!("{NOTES}\n\n{ALL_EXAMPLES}"), override_usage = ALL_USAGE)]
    #[command(mut_args(align::help_of_all))]
    All(Box<Triangle>),
    /// Find all occurrences of patterns in sequences, with up to K edits
    #[command(after_long_help = search::NOTES, override_usage = search::USAGE)]
    Search(Box<SearchArguments>),
    /// Print the lines of files that match patterns, with up to K edits
    #[command(after_long_help = grep::NOTES, override_usage = grep::USAGE)]
    Grep(Box<GrepArguments>),
    /// Write each distinct sequence once, most abundant first
    #[command(after_long_help = dedup::NOTES, override_usage = dedup::USAGE)]
    Dedup(Box<DedupArguments>),
    /// Compare the records of a mapper with the optimal alignments of their reads
    ///
    /// Scores the records of SAM, BAM or PAF, finds the optimal alignment of each read, and writes a row for each read whose
    /// record scores less, is missing, or is not valid. A read is judged by the record with the highest score among its primary
    /// and supplementary records. Secondary records are skipped.
    #[command(after_long_help = audit::NOTES, override_usage = audit::USAGE)]
    #[command(mut_args(audit::help))]
    Audit(Box<AuditArguments>),
    /// Build a database to use as REFERENCE
    ///
    /// A database is one file with the encoded sequences, their names and header lines and, for DNA, a k-mer index. Runs
    /// start without parsing or indexing, because they map the file into memory. Concurrent runs share its pages, and the
    /// database may be larger than memory. The output is the same as with the FASTA file. Checksums detect damaged files.
    /// docs/database.md describes the format.
    #[command(after_long_help = index::NOTES, override_usage = index::USAGE)]
    Index(IndexArguments),
    /// Join the parts of a run (--part, --ref-part) into the output of the whole run
    ///
    /// The parts must have been written with -o and either --part or --ref-part, and their .swalign files must be in the same
    /// directories. All parts of the run are required, in any order, and all must come from the same command. OUT has the
    /// format of the parts, whatever its name. If the parts are sorted (--sort), OUT is sorted and indexed. If a part does not
    /// match the checksum in its .swalign file, merge fails and leaves no OUT.
    #[command(after_long_help = merge::NOTES, override_usage = merge::USAGE)]
    Merge(MergeArguments),
    /// List the available devices, and mark the default
    ///
    /// Aligns the columns on a terminal, and separates them with tabs otherwise.
    #[command(after_long_help = DEVICES_NOTES)]
    Devices(Devices),
    /// Print a completion script for a shell
    ///
    /// Save it to a file that the shell reads: ~/.local/share/bash-completion/completions/swalign for bash,
    /// ~/.config/fish/completions/swalign.fish for fish, and _swalign in a directory of $fpath for zsh. For PowerShell and
    /// elvish, source it from the profile.
    #[command(after_long_help = pages::NOTES, override_usage = pages::USAGE)]
    Completions(CompletionsArguments),
    /// Write the manual pages to a directory, for packagers
    #[command(hide = true)]
    ManPages(PagesArguments),
}

#[derive(Args)]
struct Devices {
    /// Print a JSON array with an object for each device
    ///
    /// The keys are device (a value for --device), name, backend, pci, driver, max_buffer_bytes, max_binding_bytes,
    /// workgroup_bytes, subgroup_min, subgroup_max, software and default (both true or false). Unknown values are null.
    #[arg(long)]
    json: bool,
}

const DEVICES_NOTES: &str = "\
Examples:
  swalign devices
  swalign devices --json

Exit codes: 0 success, 1 failure, 2 wrong usage.";

/// The option of each command that writes parts.
#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct AgainFlag {
    /// Skip the run if a complete output of the same command is there
    ///
    /// A run with --part or --resume writes FILE.swalign next to its output FILE. It records the command, the part, the sizes
    /// and modification times of the inputs, and the size of the output. --resume skips the run if all of them match. It does
    /// not read the output again; `swalign merge` verifies its checksum.
    #[arg(long, requires = "output", hide_short_help = true)]
    resume: bool,
}

/// A help heading for options that belong to no group.
const NO_HEADING: Option<&str> = None;

/// How sequences are read.
#[derive(Args)]
#[command(next_help_heading = "Input")]
struct InputFlags {
    /// Remove gap characters (- and .) from FASTA, to read aligned sequences
    #[arg(long, hide_short_help = true)]
    remove_gaps: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct ThreadsFlag {
    /// Number of CPU threads [default: all cores, or those that SLURM grants]
    ///
    /// If SLURM_CPUS_PER_TASK or SLURM_CPUS_ON_NODE is set, the first of them is the default.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    threads: Option<usize>,
}

impl ThreadsFlag {
    fn count(&self) -> usize {
        self.threads.unwrap_or_else(|| default_threads(|name| std::env::var(name).ok()))
    }
}

fn line() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Parses the process's command line. Help, version and usage errors are printed, and end the process with code 0 or 2. If
/// help can't be printed, the code is 1.
pub fn parse() -> Command {
    let to_terminal = io::stdout().is_terminal();
    let readable = |command| readable(command, to_terminal).map_err(|error| help::with_usage(error, &line()));
    match parse_from(line()).and_then(readable) {
        Ok(command) => command,
        Err(error) if error.use_stderr() => {
            // If stderr is closed, only the exit code remains.
            let _ = write!(io::stderr(), "swalign: {}", error.render());
            process::exit(2);
        }
        Err(help) => {
            let printed = stdout::check(None).and_then(|()| help.print().map_err(stdout::explain));
            match printed.and_then(|()| stdout::print("")) {
                Ok(()) | Err(Error::Closed) => process::exit(0),
                Err(error) => {
                    let _ = writeln!(io::stderr(), "swalign: error: {error}");
                    process::exit(1);
                }
            }
        }
    }
}

/// Parses a command line that begins with the program's name. The error is the text that [`parse`] would print, such as an
/// error message or help. Prints nothing, and does not end the process.
pub fn parse_line(line: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    parse_from(line).map_err(|error| error.render().to_string())
}

fn parse_from(line: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let line = translate::replace_program(line.into_iter().collect());
    let parsed = help::check_words(&line).and_then(|()| understand(&line));
    parsed.map_err(|error| help::with_usage(error, &line))
}

fn understand(line: &[OsString]) -> Result<Command, clap::Error> {
    let line = search::join_words(line);
    let definition = Arguments::command();
    let matches = definition.clone().try_get_matches_from(line).map_err(clearer)?;
    let command_line = line::of_records(&definition, &matches);
    let Arguments { subcommand, all } = Arguments::from_arg_matches(&matches)?;
    let command = match subcommand {
        None => Command::Align(Box::new(all.resolve(command_line)?)),
        Some(Sub::All(all)) => all.resolve(command_line)?,
        Some(Sub::Pairs(pairs)) => Command::Align(Box::new(pairs.resolve(command_line)?)),
        Some(Sub::Search(search)) => Command::Search(Box::new(search.resolve(command_line)?)),
        Some(Sub::Grep(grep)) => Command::Grep(Box::new(grep.resolve()?)),
        Some(Sub::Dedup(dedup)) => Command::Dedup(Box::new(dedup.resolve()?)),
        Some(Sub::Audit(audit)) => Command::Audit(Box::new(audit.resolve(command_line)?)),
        Some(Sub::Index(index)) => Command::Index(index.resolve()?),
        Some(Sub::Merge(merge)) => Command::Merge(merge.resolve()?),
        Some(Sub::Devices(Devices { json })) => Command::Devices { json },
        Some(Sub::Completions(CompletionsArguments { shell })) => Command::Completions(shell),
        Some(Sub::ManPages(PagesArguments { folder })) => Command::ManPages(folder),
    };
    conflicts::CommandLine::new(&definition, &matches, &command).check()?;
    Ok(command)
}

/// Refuses to write BAM to a terminal.
fn readable(command: Command, to_terminal: bool) -> Result<Command, clap::Error> {
    let to_stdout = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path == "/dev/stdout");
    match &command {
        Command::Align(options)
            if options.format == OutputFormat::Records(Format::Bam)
                && to_terminal
                && to_stdout(&options.output) =>
        {
            let text = "BAM is binary and cannot be written to a terminal; name a file with -o, redirect stdout, or use \
                        --format sam";
            Err(usage(ErrorKind::ArgumentConflict, text))
        }
        _ => Ok(command),
    }
}

/// Replaces clap's message about a fourth file, or about a subcommand after other arguments.
fn clearer(error: clap::Error) -> clap::Error {
    let word = match error.kind() {
        ErrorKind::ArgumentConflict => error.get(ContextKind::InvalidSubcommand),
        ErrorKind::TooManyValues => error.get(ContextKind::InvalidValue),
        _ => None,
    };
    match word {
        Some(word) => {
            let text = format!(
                "one argument too many: '{word}'; give QUERY and REFERENCE, or two files of mates and REFERENCE; to align \
                 several files of single reads, concatenate them, as in `cat r1.fq.gz r2.fq.gz | swalign - ref.fa`; put \
                 a subcommand (pairs, all, search, grep, dedup, audit, index, merge, devices, completions) before everything else"
            );
            usage(ErrorKind::TooManyValues, text)
        }
        _ => error,
    }
}

/// Whether a word is the name of a subcommand.
fn is_subcommand(word: &str) -> bool {
    Arguments::command().get_subcommands().any(|command| command.get_name() == word)
}

/// A usage error, to which [`help::with_usage`] adds the usage.
fn usage(kind: ErrorKind, text: impl std::fmt::Display) -> clap::Error {
    clap::Error::raw(kind, text)
}

/// The number of CPUs that the cluster granted, or else of cores that this process may use.
fn default_threads(variable: impl Fn(&str) -> Option<String>) -> usize {
    let granted = |name| variable(name)?.trim().parse().ok().filter(|&threads| threads > 0);
    granted("SLURM_CPUS_PER_TASK")
        .or_else(|| granted("SLURM_CPUS_ON_NODE"))
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |threads| threads.get()))
}
