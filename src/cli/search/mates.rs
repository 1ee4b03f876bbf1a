//! The arguments of `swalign search --mates`.

use crate::cli::values;
use crate::terms::options::MateFiles;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "Mates")]
pub struct SearchMateFlags {
    /// The second mates of the reads in TEXT, for --amplicons --format fastq: write the pairs that begin with both primers
    /// of a pair, each mate from its primer on
    ///
    /// A mate that reaches the primer of the other mate ends with it. If the first mate begins with the second primer of
    /// the pair, the mates are swapped. Headers stay as they are.
    #[arg(
        long,
        value_name = "FILE",
        requires_all = ["amplicons", "mates_output"],
        conflicts_with_all = ["amplicon_size", "circular", "part"]
    )]
    mates: Option<PathBuf>,
    /// Output file for the second mates; -o has the first
    #[arg(long, value_name = "FILE", requires = "mates")]
    mates_output: Option<PathBuf>,
    /// Also write the second mates of the pairs in --untrimmed-output
    #[arg(long, value_name = "FILE", requires = "mates")]
    untrimmed_mates_output: Option<PathBuf>,
    /// Allow at most N bases before the primer of a mate
    #[arg(long, value_name = "N", default_value = "10", requires = "mates", allow_negative_numbers = true, value_parser = values::edits)]
    primer_offset: u32,
}

impl SearchMateFlags {
    pub fn resolve(self) -> Option<MateFiles> {
        let (untrimmed, offset) = (self.untrimmed_mates_output, self.primer_offset as usize);
        let (file, output) = self.mates.zip(self.mates_output)?;
        Some(MateFiles { file, output, untrimmed, offset })
    }
}
