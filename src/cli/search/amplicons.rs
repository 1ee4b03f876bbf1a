//! The arguments of `swalign search --amplicons`.

use super::SearchHitFlags;
use super::output::SearchOutputFlags;
use crate::cli::{usage, values};
use crate::options::{AmpliconChoice, PairSource, PatternSource};
use clap::Args;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Amplicons")]
pub struct SearchAmpliconFlags {
    /// What lies between two hits that face each other, instead of hits: of patterns that are a pair by their names,
    /// or any
    ///
    /// Names of a pair end in _LEFT and _RIGHT, _F and _R, or /1 and /2, alternates in _LEFT_2 or _LEFT_alt1, of which
    /// each goes with each of the other side. With any, each pattern goes with each, itself included.
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
    /// Pairs for --amplicons that are told by this file, and not by names: two names of patterns a line, with a tab
    /// between them
    #[arg(long, value_name = "FILE", requires = "amplicons")]
    pairs: Option<PathBuf>,
    /// Least and greatest length of an amplicon, with both primers
    #[arg(
        long,
        value_name = "MIN..MAX",
        default_value = "1..4000",
        requires = "amplicons",
        allow_hyphen_values = true,
        value_parser = values::amplicon_size
    )]
    amplicon_size: (usize, usize),
}

impl SearchAmpliconFlags {
    pub fn resolve(
        self,
        patterns: &PatternSource,
        hits: &SearchHitFlags,
        output: &SearchOutputFlags,
    ) -> Result<Option<AmpliconChoice>, clap::Error> {
        let Some(how) = self.amplicons else { return Ok(None) };
        let refuse = |text: &str| Err(usage(ErrorKind::ArgumentConflict, text));
        let pairs = match (how == "any", self.pairs) {
            (true, Some(_)) => {
                return refuse(
                    "--amplicons any joins each pattern with each, and --pairs says which; give one of them",
                );
            }
            (true, None) => PairSource::Any,
            (false, Some(file)) if file == Path::new("-") => {
                return refuse("--pairs takes no stdin; give a file");
            }
            (false, Some(file)) => PairSource::File(file),
            (false, None) => PairSource::Names,
        };
        if pairs != PairSource::Any && matches!(patterns, PatternSource::Letters(_)) {
            return refuse(
                "--amplicons joins the hits of two patterns; give a file of them by -f FILE, or --amplicons any",
            );
        }
        if let Some(text) = hits.against_amplicons().or(output.against_amplicons()) {
            return refuse(text);
        }
        Ok(Some(AmpliconChoice { pairs, lengths: self.amplicon_size }))
    }
}

impl SearchHitFlags {
    /// What can't be asked for where hits are joined.
    fn against_amplicons(&self) -> Option<&'static str> {
        if !self.revcomp {
            Some("--amplicons needs hits on both strands; leave --revcomp no out")
        } else if self.best || self.first {
            Some("--amplicons joins all hits of a text; leave --best and --first out")
        } else if self.invert_match {
            Some(
                "--amplicons lists amplicons, and --invert-match (-v) texts without a hit; leave one of them out",
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
