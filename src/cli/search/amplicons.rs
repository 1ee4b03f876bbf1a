//! The arguments of `swalign search --amplicons`.

use crate::cli::{usage, values};
use crate::terms::options::{AmpliconChoice, MateFiles, PairSource};
use clap::Args;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Amplicons")]
pub struct SearchAmpliconFlags {
    /// Report amplicons of primer pairs instead of hits
    ///
    /// The names of a pair end in _LEFT and _RIGHT, in _F and _R, or in /1 and /2. Alternates end in _LEFT_2 or _LEFT_alt1, for
    /// example, and pair with each primer of the other side. With --amplicons any, every pattern pairs with every pattern,
    /// including itself.
    #[arg(
        long,
        value_name = "any",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "names",
        value_parser = ["any", "names"],
        hide_possible_values = true,
        conflicts_with_all = ["best", "first", "invert_match", "columns", "orient", "summary"]
    )]
    amplicons: Option<String>,
    /// Read the pairs for --amplicons from FILE
    ///
    /// FILE has two tab-separated pattern names per line.
    #[arg(long, value_name = "FILE", requires = "amplicons")]
    pairs: Option<PathBuf>,
    /// Minimum and maximum length of an amplicon
    ///
    /// The length includes both primers.
    #[arg(
        long,
        value_name = "MIN..MAX",
        default_value = "1..4000",
        requires = "amplicons",
        allow_hyphen_values = true,
        value_parser = values::amplicon_size
    )]
    amplicon_size: (usize, usize),
    /// Leave the primers out of amplicons (fasta and fastq)
    #[arg(long, requires = "amplicons")]
    trim_primers: bool,
    /// Also write the texts without an amplicon (fasta and fastq)
    #[arg(long, value_name = "FILE", requires = "amplicons", conflicts_with = "part")]
    untrimmed_output: Option<PathBuf>,
}

impl SearchAmpliconFlags {
    pub fn resolve(self, mates: Option<MateFiles>) -> Result<Option<AmpliconChoice>, clap::Error> {
        let Some(how) = self.amplicons else { return Ok(None) };
        if self.pairs.as_deref() == Some(Path::new("-")) {
            let text = "--pairs cannot be read from stdin (-); give a file";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        let pairs = match self.pairs {
            _ if how == "any" => PairSource::Any,
            Some(file) => PairSource::File(file),
            None => PairSource::Names,
        };
        Ok(Some(AmpliconChoice {
            pairs,
            lengths: self.amplicon_size,
            trims_primers: self.trim_primers,
            untrimmed: self.untrimmed_output,
            mates,
        }))
    }
}

/// `--amplicons any` of a search as one word, so that a text may follow `--amplicons`.
pub fn join_words(line: &[OsString]) -> Vec<OsString> {
    if line.get(1).is_none_or(|word| word != "search") {
        return line.to_vec();
    }
    let mut words: Vec<OsString> = Vec::with_capacity(line.len());
    let mut options = true;
    for word in line {
        options &= word != "--";
        match words.last_mut() {
            Some(last) if options && last == "--amplicons" && word == "any" => last.push("=any"),
            _ => words.push(word.clone()),
        }
    }
    words
}
