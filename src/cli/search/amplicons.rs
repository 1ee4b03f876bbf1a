//! The arguments of `swalign search --amplicons`.

use super::SearchHitFlags;
use super::output::SearchOutputFlags;
use crate::cli::{usage, values};
use crate::options::{AmpliconChoice, MateFiles, PairSource, PatternSource, SearchFormat};
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
        hide_possible_values = true
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
    pub fn resolve(
        self,
        patterns: &PatternSource,
        hits: &SearchHitFlags,
        output: &SearchOutputFlags,
        mates: Option<MateFiles>,
    ) -> Result<Option<AmpliconChoice>, clap::Error> {
        let Some(how) = self.amplicons else { return Ok(None) };
        let refuse = |text: &str| Err(usage(ErrorKind::ArgumentConflict, text));
        let pairs = match (how == "any", self.pairs) {
            (true, Some(_)) => {
                return refuse(
                    "--amplicons any pairs every pattern with every pattern, and --pairs lists the pairs; leave either out",
                );
            }
            (true, None) => PairSource::Any,
            (false, Some(file)) if file == Path::new("-") => {
                return refuse("--pairs cannot be read from stdin; give a file");
            }
            (false, Some(file)) => PairSource::File(file),
            (false, None) => PairSource::Names,
        };
        if pairs != PairSource::Any && matches!(patterns, PatternSource::Letters(_)) {
            return refuse(
                "--amplicons needs two patterns for each amplicon; give a file of patterns with -f, or use --amplicons any",
            );
        }
        if let Some(text) = hits.against_amplicons().or(output.against_amplicons()) {
            return refuse(text);
        }
        let has_records = matches!(output.format(), SearchFormat::Fasta | SearchFormat::Fastq);
        let of_records =
            [("--trim-primers", self.trim_primers), ("--untrimmed-output", self.untrimmed_output.is_some())];
        if let Some((option, _)) = of_records.into_iter().find(|(_, given)| *given && !has_records) {
            return refuse(&format!("{option} is for --format fasta and fastq; the others have no records"));
        }
        Ok(Some(AmpliconChoice {
            pairs,
            lengths: self.amplicon_size,
            trims_primers: self.trim_primers,
            untrimmed: self.untrimmed_output,
            mates,
        }))
    }
}

impl SearchHitFlags {
    /// The error for an option that --amplicons does not support.
    fn against_amplicons(&self) -> Option<&'static str> {
        if !self.has_both_strands() {
            Some("--amplicons needs hits on both strands; leave --strand plus (--revcomp no) out")
        } else if self.best || self.first {
            Some("--amplicons joins all hits of a text; leave --best and --first out")
        } else if self.invert_match {
            Some(
                "--amplicons lists amplicons, but --invert-match (-v) lists texts without a hit; leave either out",
            )
        } else {
            None
        }
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
