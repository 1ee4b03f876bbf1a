//! The command line, resolved into [`Options`]; nothing else knows clap.

mod align;
mod circular;
mod dedup;
pub mod flags;
mod grep;
mod help;
mod index;
mod line;
mod mates;
mod modes;
mod names;
pub mod pages;
mod paths;
mod ranked;
mod search;
pub mod signals;
mod sort;
mod split;
pub mod stdout;
pub mod terminal;
#[cfg(test)]
mod tests;
mod values;

use crate::error::Error;
use crate::options::{
    DedupOptions, Format, GrepOptions, IndexOptions, MatrixOptions, MergeOptions, Options, OutputFormat,
    SearchOptions,
};
use align::{ALL_EXAMPLES, ALL_USAGE, All, EXAMPLES, NOTES, PAIRS_EXAMPLES, PAIRS_USAGE, Pairs, Triangle};
use clap::error::{ContextKind, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use dedup::DedupArguments;
use grep::GrepArguments;
use index::IndexArguments;
use pages::{CompletionsArguments, PagesArguments};
use search::SearchArguments;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::{process, thread};

/// What the user asks for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Align, and write what was found.
    Align(Box<Options>),
    /// Search patterns with errors.
    Search(Box<SearchOptions>),
    /// Print the lines that match with errors.
    Grep(Box<GrepOptions>),
    /// Write equal sequences once.
    Dedup(Box<DedupOptions>),
    /// Align all sequences of a file with each other, and write a matrix.
    Matrix(Box<MatrixOptions>),
    /// Make a database of references.
    Index(IndexOptions),
    /// Join the parts of a run.
    Merge(MergeOptions),
    /// List the devices, as JSON or for people.
    Devices { json: bool },
    /// Print a shell's completions.
    Completions(clap_complete::Shell),
    /// Write the manual pages into a folder.
    ManPages(PathBuf),
}

/// Exact Smith-Waterman on any GPU (and on the CPU), SAM, BAM or PAF out.
#[derive(Parser)]
#[command(
    name = "swalign",
    bin_name = "swalign",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = format!("{NOTES}\n\n{EXAMPLES}"),
    override_usage = "swalign [OPTIONS] QUERY [MATES] REFERENCE\n       \
                      swalign pairs [OPTIONS] QUERY TARGET\n       \
                      swalign all [OPTIONS] FILE\n       \
                      swalign search [OPTIONS] PATTERN TEXT...\n       \
                      swalign grep [OPTIONS] PATTERN FILE...\n       \
                      swalign dedup [OPTIONS] READS...\n       \
                      swalign index [OPTIONS] FASTA\n       \
                      swalign merge [OPTIONS] OUT PART...\n       \
                      swalign devices [OPTIONS]\n       \
                      swalign completions SHELL"
)]
struct Arguments {
    #[command(subcommand)]
    subcommand: Option<Sub>,
    #[command(flatten)]
    all: All,
}

#[derive(Subcommand)]
enum Sub {
    /// Align the i-th query with the i-th target, forward strand only unless --both-strands
    #[command(after_long_help = format!("{NOTES}\n\n{PAIRS_EXAMPLES}"), override_usage = PAIRS_USAGE)]
    Pairs(Box<Pairs>),
    /// Align every sequence of a file with every one behind it, each two once
    ///
    /// A hit's query comes before its reference in the file. All pairs with an E-value of at most --evalue are listed, or
    /// with --min-score those that score enough; in modes other than local all pairs. --part shares the work out.
    #[command(after_long_help = format!("{NOTES}\n\n{ALL_EXAMPLES}"), override_usage = ALL_USAGE)]
    #[command(mut_args(align::help_of_all))]
    All(Box<Triangle>),
    /// Find every place where patterns occur with few edits
    #[command(after_long_help = search::NOTES, override_usage = search::USAGE)]
    Search(Box<SearchArguments>),
    /// Print the lines of any files that match patterns with few edits
    #[command(after_long_help = grep::NOTES, override_usage = grep::USAGE)]
    Grep(Box<GrepArguments>),
    /// Write equal sequences once, with their numbers
    #[command(after_long_help = dedup::NOTES, override_usage = dedup::USAGE)]
    Dedup(Box<DedupArguments>),
    /// Make a database of references, which stands in the place of REFERENCE
    ///
    /// It is one file with the letters as engines read them, names, header lines, and of DNA an index of k-mers. It is
    /// mapped into memory: a run begins at once, processes share its pages, and it may be larger than the memory. Records
    /// are those of the FASTA. Damage is noticed before it is used. docs/database.md describes the format.
    #[command(after_long_help = index::NOTES, override_usage = index::USAGE)]
    Index(IndexArguments),
    /// Join the outputs of all parts of a run into what the whole run would have written
    ///
    /// The parts were written with -o and either --part or --ref-part, and have their .swalign files beside them.
    /// All parts must be there, in any order, and be of the same command. It works on all formats that --part and
    /// --ref-part write, and OUT is in the format of the parts, whatever its name. Of sorted parts (--sort) OUT is sorted
    /// and gets an index. Each part is held against the checksum in its .swalign file while it is read: a part that was
    /// changed is an error, and no OUT is left.
    Merge(Merge),
    /// List the devices, and which one is the default
    ///
    /// In columns that line up on a terminal, and are separated by tabs elsewhere.
    Devices(Devices),
    /// Print the completions of a shell
    ///
    /// Where shells look for them: bash in ~/.local/share/bash-completion/completions/swalign, fish in
    /// ~/.config/fish/completions/swalign.fish, zsh in a file _swalign in a folder of $fpath, PowerShell and elvish in what
    /// their profiles source.
    #[command(after_long_help = pages::NOTES, override_usage = pages::USAGE)]
    Completions(CompletionsArguments),
    /// Write the manual pages into a folder, for packages
    #[command(hide = true)]
    ManPages(PagesArguments),
}

#[derive(Args)]
struct Devices {
    /// An array of JSON with an object for each device, instead of columns
    ///
    /// The keys are device (what --device takes), name, backend, pci, driver, max_buffer_bytes, max_binding_bytes,
    /// workgroup_bytes, subgroup_min, subgroup_max, software and default (both true or false). What a device does not
    /// have or tell is null.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Merge {
    /// Output file; - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// All parts
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Say only what went wrong
    #[arg(short, long)]
    quiet: bool,
}

/// What each command that writes parts has.
#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct AgainFlag {
    /// Do nothing if the output is there, whole, and of the same command, part and inputs
    ///
    /// This is known from the file that is written beside an output of --part or --resume, with .swalign
    /// behind its name. Inputs are the same while their sizes and times are, and the output is whole while it has
    /// its size: its bytes are not read again, as `swalign merge` does.
    #[arg(long, requires = "output")]
    resume: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct ThreadsFlag {
    /// Host threads [default: SLURM_CPUS_PER_TASK, else SLURM_CPUS_ON_NODE, else all cores]
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

/// Parses the process's command line. Help, version and usage errors are printed, and end the
/// process with code 0 or 2; with 1, where help can't be printed.
pub fn parse() -> Command {
    let to_terminal = io::stdout().is_terminal();
    let readable = |command| readable(command, to_terminal).map_err(|error| help::with_usage(error, &line()));
    match parse_from(line()).and_then(readable) {
        Ok(command) => command,
        Err(error) if error.use_stderr() => {
            // Where stderr is gone too, the exit code is all that is left to say.
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

/// What a command line asks for, the program's name in front. The error is what [`parse`] would print, which may be
/// help; nothing is printed, and the process goes on.
pub fn parse_line(line: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    parse_from(line).map_err(|error| error.render().to_string())
}

fn parse_from(line: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let line: Vec<OsString> = line.into_iter().collect();
    let parsed = help::check_words(&line).and_then(|()| understand(&line));
    parsed.map_err(|error| help::with_usage(error, &line))
}

fn understand(line: &[OsString]) -> Result<Command, clap::Error> {
    let line = search::join_words(line);
    let matches = Arguments::command().try_get_matches_from(line).map_err(clearer)?;
    let command_line = line::of_records(&Arguments::command(), &matches);
    let Arguments { subcommand, all } = Arguments::from_arg_matches(&matches)?;
    Ok(match subcommand {
        None => Command::Align(Box::new(all.resolve(command_line)?)),
        Some(Sub::All(all)) => all.resolve(command_line)?,
        Some(Sub::Pairs(pairs)) => Command::Align(Box::new(pairs.resolve(command_line)?)),
        Some(Sub::Search(search)) => Command::Search(Box::new(search.resolve(command_line)?)),
        Some(Sub::Grep(grep)) => Command::Grep(Box::new(grep.resolve()?)),
        Some(Sub::Dedup(dedup)) => Command::Dedup(Box::new(dedup.resolve()?)),
        Some(Sub::Index(index)) => Command::Index(index.resolve()?),
        Some(Sub::Merge(Merge { output, parts, quiet })) => {
            let output = Some(output).filter(|path| path != Path::new("-"));
            Command::Merge(MergeOptions { output, parts, verbosity: u8::from(!quiet) })
        }
        Some(Sub::Devices(Devices { json })) => Command::Devices { json },
        Some(Sub::Completions(CompletionsArguments { shell })) => Command::Completions(shell),
        Some(Sub::ManPages(PagesArguments { folder })) => Command::ManPages(folder),
    })
}

/// Refuses to write BAM where a person would have to read it.
fn readable(command: Command, to_terminal: bool) -> Result<Command, clap::Error> {
    let to_stdout = |path: &Option<PathBuf>| path.as_ref().is_none_or(|path| path == "/dev/stdout");
    match &command {
        Command::Align(options)
            if options.format == OutputFormat::Records(Format::Bam)
                && to_terminal
                && to_stdout(&options.output) =>
        {
            let text = "BAM is binary, and stdout is a terminal; give a file with -o, pipe it on, or take \
                        --format sam";
            Err(usage(ErrorKind::ArgumentConflict, text))
        }
        _ => Ok(command),
    }
}

/// A fourth file is one value too many, or a misplaced subcommand, in clap's words; says it in the user's.
fn clearer(error: clap::Error) -> clap::Error {
    let word = match error.kind() {
        ErrorKind::ArgumentConflict => error.get(ContextKind::InvalidSubcommand),
        ErrorKind::TooManyValues => error.get(ContextKind::InvalidValue),
        _ => None,
    };
    match word {
        Some(word) => {
            let text = format!(
                "one argument too many: '{word}'; give QUERY and REFERENCE, or the two files of mates and REFERENCE, \
                 several files of single reads as one, as in `cat r1.fq.gz r2.fq.gz | swalign - ref.fa`, and a \
                 subcommand (pairs, all, search, grep, dedup, index, merge, devices, completions) before everything else"
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

/// The first of some options that was given.
fn first_given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
}

/// A usage error, to which [`help::with_usage`] adds the usage.
fn usage(kind: ErrorKind, text: impl std::fmt::Display) -> clap::Error {
    clap::Error::raw(kind, text)
}

/// What the cluster granted where it says so, else every core that this process may use.
fn default_threads(variable: impl Fn(&str) -> Option<String>) -> usize {
    let granted = |name| variable(name)?.trim().parse().ok().filter(|&threads| threads > 0);
    granted("SLURM_CPUS_PER_TASK")
        .or_else(|| granted("SLURM_CPUS_ON_NODE"))
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |threads| threads.get()))
}
