//! The arguments of split reads.

use super::{usage, values};
use crate::options::{Share, Split};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};

#[derive(Args)]
#[command(next_help_heading = "Split reads")]
pub struct SplitFlags {
    /// Align also what the best hit leaves of a query, as supplementary records [default with --preset long]
    ///
    /// The best local alignment of each stretch that is left is a supplementary record (FLAG 2048, tag SA) if it reaches
    /// --split-score, and what it leaves is searched again: with this option to the end, with --preset long alone up to 4
    /// times the query's letters. --ref-part needs --no-split where reads would be split.
    #[arg(long, conflicts_with = "no_split")]
    split: bool,
    /// Write no supplementary records
    #[arg(long)]
    no_split: bool,
    /// Least score of a supplementary record [default: 40 x match (80 with the preset long), 120 with a matrix; no
    /// less than --min-score]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::min_score)]
    split_score: Option<i32>,
    /// Ends of supplementary records that are not aligned: soft (letters stay in SEQ) or hard
    #[arg(long, value_enum, value_name = "soft|hard", default_value = "soft", hide_possible_values = true)]
    clip: ClipName,
}

/// The clips.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClipName {
    Soft,
    Hard,
}

impl SplitFlags {
    /// How reads are split, if they are.
    pub fn resolve(&self, is_long: bool, ref_part: Option<Share>) -> Result<Option<Split>, clap::Error> {
        let asked = self.split || self.split_score.is_some();
        let text = match ref_part {
            Some(_) if (asked || is_long) && !self.no_split => {
                "--ref-part can't split reads, since what is left of one is known with all references only; give \
                 --no-split, to the run of the whole too"
            }
            None if self.no_split && self.split_score.is_some() => {
                "--split-score is of no use with --no-split"
            }
            _ => {
                let is_split = (asked || is_long) && !self.no_split;
                return Ok(is_split.then_some(Split { score: self.split_score, is_complete: self.split }));
            }
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }

    /// Whether supplementary records have hard clips.
    pub fn hard_clips(&self) -> bool {
        self.clip == ClipName::Hard
    }
}
