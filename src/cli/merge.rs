//! The arguments of `swalign merge`.

use super::usage;
use crate::terms::options::MergeOptions;
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct MergeArguments {
    /// Write the output to OUT (- for stdout) [default: the first argument]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// All parts of the run, in any order; without -o, OUT is before them
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
}

pub const USAGE: &str = "swalign merge [OPTIONS] -o OUT PART...\n       \
                         swalign merge [OPTIONS] OUT PART...";

pub const NOTES: &str = "\
Examples:
  swalign merge -o out.bam part.1.bam part.2.bam part.3.bam
  swalign merge out.bam part.*.bam
  swalign merge -o - part.*.sam | samtools view -b -o out.bam -

Exit codes: 0 success, 1 failure, 2 wrong usage.";

impl MergeArguments {
    pub fn resolve(self) -> Result<MergeOptions, clap::Error> {
        let MergeArguments { output, mut parts, quiet } = self;
        let output = match output {
            Some(output) => output,
            None if parts.len() < 2 => {
                let text = "PART is missing; give OUT with -o, or before the parts, and all parts of the run";
                return Err(usage(ErrorKind::MissingRequiredArgument, text));
            }
            None => parts.remove(0),
        };
        let output = Some(output).filter(|path| path != Path::new("-"));
        Ok(MergeOptions { output, parts, verbosity: u8::from(!quiet) })
    }
}
