//! The arguments of `swalign dedup`.

use super::paths::{check_about, check_files};
use super::{InputFlags, ThreadsFlag, values};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{DedupBy, DedupOptions, ReadFormat, is_packed};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct DedupArguments {
    /// Sequences: FASTA or FASTQ, plain or gzip (- for stdin)
    #[arg(value_name = "READS", required = true)]
    reads: Vec<PathBuf>,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    sets: DedupSetFlags,
    #[command(flatten)]
    output: DedupOutputFlags,
    #[command(flatten)]
    threads: ThreadsFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Sets")]
struct DedupSetFlags {
    /// Merge equal sequences (whole) or also prefixes (prefix) [default: whole]
    ///
    /// A prefix is a sequence with which a longer sequence begins. A prefix of several sequences joins the shortest of them. Ties are broken by higher abundance, then by name.
    #[arg(
        long,
        value_name = "whole|prefix",
        default_value = "whole",
        value_enum,
        hide_possible_values = true,
        hide_default_value = true
    )]
    by: DedupBy,
    /// Strands of DNA to compare: both, to merge sequences with their reverse complements, or plus [default: plus]
    #[arg(long, value_enum, value_name = "both|plus", hide_possible_values = true)]
    strand: Option<Strands>,
    /// Merge DNA sequences with their reverse complements
    #[arg(long, hide = true, conflicts_with = "strand")]
    both_strands: bool,
    /// Read abundances from fields ;size=N in names
    #[arg(long, alias = "sizein")]
    size_in: bool,
    /// Write sequences with an abundance of at least N
    #[arg(
        long,
        alias = "minuniquesize",
        value_name = "N",
        default_value = "1",
        allow_negative_numbers = true,
        value_parser = values::count
    )]
    min_size: usize,
    /// Sequence type [default: detected from the first file]
    #[arg(long, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct DedupOutputFlags {
    /// Write the output to FILE; .gz files are compressed [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format [default: as the input]
    #[arg(long, value_name = "fasta|fastq", value_enum, hide_possible_values = true)]
    format: Option<ReadFormat>,
    /// Append the abundance to names as ;size=N, replacing an earlier one
    #[arg(long, alias = "sizeout")]
    size_out: bool,
    /// Write a table of all records and their sets to FILE
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Print only errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Also print the number of residues
    #[arg(short, long)]
    verbose: bool,
}

pub const USAGE: &str = "swalign dedup [OPTIONS] READS...";

pub const NOTES: &str = "\
Equal sequences:
  Sequences are equal if their residues are equal. Case is ignored, and U counts as T in DNA. N and other IUPAC codes equal \
  only themselves. A set of equal sequences takes its name and qualities from its first record. With --by prefix, it \
  takes them from the most abundant of its longest records; ties are broken by name. Sets are sorted by abundance, \
  then by name. Output sequences are in upper case on one line, with names up to the first white space.

Table:
  --table has a row for each record, sorted by set, including sets below --min-size. Its columns are:
  set: number of the set, in the order of the output
  representative: name of the output sequence
  name: name of the record
  strand: - for the reverse complement of the representative
  size: abundance of the record
  set_size: abundance of the set

Examples:
  swalign dedup --size-out --format fasta -o unique.fa reads.fq.gz
  swalign dedup --size-in --size-out --min-size 2 --table sets.tsv sample1.fa sample2.fa > unique.fa
  zcat reads.fq.gz | swalign dedup --both-strands -o unique.fq.gz -

Exit codes: 0 success, 1 failure, 2 wrong usage.";

impl DedupArguments {
    pub fn resolve(self) -> Result<DedupOptions, clap::Error> {
        let DedupArguments { reads, input, sets, output, threads } = self;
        let paths: Vec<&Path> = reads.iter().map(PathBuf::as_path).collect();
        let file = output.output.filter(|path| path != Path::new("-"));
        check_files(&paths, None, file.as_deref())?;
        let sides = [("--table", output.table.as_deref())];
        check_about(&sides, paths.iter().copied(), (file.as_deref(), false))?;
        let both_strands = sets.both_strands || sets.strand == Some(Strands::Both);
        Ok(DedupOptions {
            is_packed: file.as_deref().is_some_and(is_packed),
            is_table_packed: output.table.as_deref().is_some_and(is_packed),
            output: file,
            table: output.table,
            format: output.format,
            alphabet: sets.alphabet,
            removes_gaps: input.remove_gaps,
            both_strands,
            by: sets.by,
            size_in: sets.size_in,
            size_out: output.size_out,
            min_size: sets.min_size as u64,
            threads: threads.count(),
            verbosity: if output.quiet { 0 } else { 1 + u8::from(output.verbose) },
            reads,
        })
    }
}
