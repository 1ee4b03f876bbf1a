//! The arguments of `swalign search --mates`.

use super::output::SearchOutputFlags;
use crate::cli::{usage, values};
use crate::options::{MateFiles, SearchFormat};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

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
    pub fn resolve(
        self,
        texts: &[PathBuf],
        output: &SearchOutputFlags,
    ) -> Result<Option<MateFiles>, clap::Error> {
        let (Some(file), Some(mates_output)) = (self.mates, self.mates_output) else { return Ok(None) };
        let text = if output.format() != SearchFormat::Fastq {
            "--mates has the format fastq; give --format fastq with it"
        } else if texts.len() > 1 {
            "--mates has the second mates of one file; give one TEXT with it"
        } else if texts.iter().any(|text| text == Path::new("-")) && file == Path::new("-") {
            "stdin (-) can be only one of the inputs; give files for the others"
        } else {
            let (output, untrimmed, offset) =
                (mates_output, self.untrimmed_mates_output, self.primer_offset as usize);
            return Ok(Some(MateFiles { file, output, untrimmed, offset }));
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }
}
