//! The arguments of `swalign dedup`.

use super::paths::{check_about, check_files, is_packed};
use super::{ThreadsFlag, usage, values};
use crate::alphabet::Alphabet;
use crate::options::{DedupBy, DedupOptions, ReadFormat};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct DedupArguments {
    /// Reads or other sequences: FASTA or FASTQ, plain or gzip; - is stdin
    #[arg(value_name = "READS", required = true)]
    reads: Vec<PathBuf>,
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
    /// Which sequences are in a set: whole ones that are equal, or a sequence and each prefix of it
    ///
    /// Of several longer sequences a prefix joins the shortest, of equally short ones the most abundant, and then the one
    /// of the least name.
    #[arg(long, value_name = "whole|prefix", default_value = "whole", value_parser = values::dedup_by(),
          hide_possible_values = true, hide_default_value = true)]
    by: DedupBy,
    /// A sequence of DNA and its reverse complement are in one set
    #[arg(long)]
    both_strands: bool,
    /// Count a record as N reads whose name has a field ;size=N
    #[arg(long)]
    size_in: bool,
    /// Write only sets of at least so many reads
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = values::count)]
    min_size: usize,
    /// What the sequences are [default: as those of the first file look]
    #[arg(long, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct DedupOutputFlags {
    /// Output file, packed where its name ends in .gz [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of the output [default: that of the input]
    #[arg(long, value_name = "fasta|fastq", value_parser = values::read_format(), hide_possible_values = true)]
    format: Option<ReadFormat>,
    /// Write the number of reads of a set as ;size=N behind the name, in the place of a former ;size=
    #[arg(long)]
    size_out: bool,
    /// Write beside the output which record is in which set
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Say only what went wrong
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say also how many letters there were
    #[arg(short, long)]
    verbose: bool,
}

pub const USAGE: &str = "swalign dedup [OPTIONS] READS...";

pub const NOTES: &str = "\
What is equal:
  Sequences whose letters are: upper case is lower case, and U of DNA is T. N and other IUPAC codes
  are letters of their own. The first record of a set gives the name and the qualities; with --by
  prefix the most abundant one of its longest sequence, and then the one of the least name. The set
  with most reads comes first, and of equal ones that of the least name. Letters are written in
  upper case, one line a sequence, and names up to their first white space.

Table:
  A line for each record, set by set, with set (1 is written first), representative (name), name,
  strand (- is the reverse complement of the representative), size (reads that the record stands
  for) and set_size (reads of the set). Sets below --min-size are in it, too.

Examples:
  swalign dedup --size-out reads.fq.gz --format fasta -o unique.fa
  swalign dedup --size-in --size-out --min-size 2 --table sets.tsv sample1.fa sample2.fa > unique.fa
  zcat reads.fq.gz | swalign dedup --both-strands -o unique.fq.gz -

Exit codes: 0 success, 1 failure, 2 wrong usage.";

impl DedupArguments {
    pub fn resolve(self) -> Result<DedupOptions, clap::Error> {
        let DedupArguments { reads, sets, output, threads } = self;
        let paths: Vec<&Path> = reads.iter().map(PathBuf::as_path).collect();
        let file = output.output.filter(|path| path != Path::new("-"));
        check_files(&paths, None, file.as_deref())?;
        let tables = [("--table", output.table.as_deref()), ("--table", None)];
        check_about(tables, paths.iter().copied(), file.as_deref())?;
        if sets.both_strands && sets.by == DedupBy::Prefix {
            let text = "--by prefix is about one strand, since a reverse complement begins at the other end; leave \
                        --both-strands out";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        if sets.both_strands && sets.alphabet == Some(Alphabet::Protein) {
            let text = "--both-strands is about DNA, and proteins have one strand; leave one of both out";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(DedupOptions {
            is_packed: file.as_deref().is_some_and(is_packed),
            is_table_packed: output.table.as_deref().is_some_and(is_packed),
            output: file,
            table: output.table,
            format: output.format,
            alphabet: sets.alphabet,
            both_strands: sets.both_strands,
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
