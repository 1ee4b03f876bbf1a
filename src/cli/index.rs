//! The arguments of `swalign index`.

use super::paths::check_files;
use super::{InputFlags, ThreadsFlag, usage, values};
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{DATABASE_EXTENSION, IndexOptions, SampledKmers};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct IndexArguments {
    /// References: FASTA, plain or gzip (- for stdin)
    #[arg(value_name = "FASTA")]
    references: PathBuf,
    /// Write the database to DB.swdb [default: FASTA.swdb]
    #[arg(short, long, value_name = "DB.swdb")]
    output: Option<PathBuf>,
    /// Sequence type [default: detected]
    #[arg(long, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
    /// Read lower-case residues as N (X in proteins)
    ///
    /// Runs with the database then also need --mask-lower-case.
    #[arg(long)]
    mask_lower_case: bool,
    /// Accept FASTQ as references
    #[arg(long)]
    reads_as_reference: bool,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// Index the K-mers at every STEP-th position, as on large references
    #[arg(long, hide = true, value_name = "K,STEP", value_parser = values::sampled_kmers)]
    sampled_kmers: Option<SampledKmers>,
    /// Index every N bases in a segment of their own, as on references of more than 4,294,967,295 bases
    #[arg(long, hide = true, value_name = "N", value_parser = values::count)]
    index_segment: Option<usize>,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    threads: ThreadsFlag,
}

impl IndexArguments {
    pub fn resolve(self) -> Result<IndexOptions, clap::Error> {
        let output = self.output.or_else(|| beside(&self.references));
        let Some(output) = output else {
            let text =
                "the database needs a name, because the references come from stdin; name it with -o DB.swdb";
            return Err(usage(ErrorKind::MissingRequiredArgument, text));
        };
        if output == Path::new("-") {
            let text = "a database must be a file and cannot be written to stdout; name it with -o DB.swdb";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        check_files(&[&self.references], None, Some(&output))?;
        Ok(IndexOptions {
            references: self.references,
            output,
            alphabet: self.alphabet,
            masks_lower_case: self.mask_lower_case,
            removes_gaps: self.input.remove_gaps,
            reads_as_reference: self.reads_as_reference,
            sampled_kmers: self.sampled_kmers,
            segment: self.index_segment,
            threads: self.threads.count(),
            verbosity: u8::from(!self.quiet),
        })
    }
}

/// The default name of a database, unless the references come from stdin.
fn beside(references: &Path) -> Option<PathBuf> {
    let mut name = Some(references).filter(|path| *path != Path::new("-"))?.as_os_str().to_os_string();
    name.push(DATABASE_EXTENSION);
    Some(name.into())
}

pub const USAGE: &str = "swalign index [OPTIONS] FASTA";

pub const NOTES: &str = "\
Examples:
  swalign index genome.fa
  swalign reads.fq.gz genome.fa.swdb > out.sam
  zcat proteins.fa.gz | swalign index -o proteins.swdb -

Exit codes: 0 success, 1 failure, 2 wrong usage.";
