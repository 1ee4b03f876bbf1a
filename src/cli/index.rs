//! The arguments of `swalign index`.

use super::paths::check_files;
use super::{ThreadsFlag, usage, values};
use crate::alphabet::Alphabet;
use crate::options::{DATABASE_EXTENSION, IndexOptions};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct IndexArguments {
    /// References: FASTA, plain or gzip; - is stdin
    #[arg(value_name = "FASTA")]
    references: PathBuf,
    /// The database [default: FASTA with .swdb behind its name]
    #[arg(short, long, value_name = "DB.swdb")]
    output: Option<PathBuf>,
    /// What the sequences are [default: as they look]
    #[arg(long, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
    /// Take letters in lower case as N, or X of proteins; runs with the database then need --mask-lower-case, too
    #[arg(long)]
    mask_lower_case: bool,
    /// Take reads (FASTQ) as references
    #[arg(long)]
    reads_as_reference: bool,
    /// Say only what went wrong
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadsFlag,
}

impl IndexArguments {
    pub fn resolve(self) -> Result<IndexOptions, clap::Error> {
        let output = self.output.or_else(|| beside(&self.references));
        let Some(output) = output else {
            let text = "references from stdin give the database no name; name it with -o DB.swdb";
            return Err(usage(ErrorKind::MissingRequiredArgument, text));
        };
        if output == Path::new("-") {
            let text = "a database is mapped from a file, and stdout is none; name it with -o DB.swdb";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        check_files(&[&self.references], None, Some(&output))?;
        Ok(IndexOptions {
            references: self.references,
            output,
            alphabet: self.alphabet,
            masks_lower_case: self.mask_lower_case,
            reads_as_reference: self.reads_as_reference,
            threads: self.threads.count(),
            verbosity: u8::from(!self.quiet),
        })
    }
}

/// The name of the database of references that are no stdin.
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
