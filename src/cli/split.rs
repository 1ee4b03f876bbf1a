//! The arguments of split reads.

use super::values;
use crate::terms::options::Split;
use clap::{Args, ValueEnum};

#[derive(Args)]
#[command(next_help_heading = "Split reads")]
pub struct SplitFlags {
    /// Also align the rest of a query, as supplementary records [default: by --preset]
    ///
    /// --preset short splits reads in SAM, BAM and PAF, and the presets for long reads and assemblies in all formats. Without
    /// --preset, no read is split. The best local alignment of each unaligned part becomes a supplementary record (FLAG 2048, tag SA) if it reaches
    /// --split-score, and the parts that it leaves unaligned are searched again. With --split the search continues until
    /// nothing is left. Without it the search stops after re-searching 4 times the length of the query. With
    /// --ref-part, reads cannot be split, and these presets need --no-split.
    #[arg(long, conflicts_with = "no_split")]
    split: bool,
    /// Do not write supplementary records
    #[arg(long, hide_short_help = true)]
    no_split: bool,
    /// Write supplementary records with a score of at least N [default: 40 x match, or 120 with a matrix]
    ///
    /// The default is 80 with --preset long. It is never below --min-score.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = values::min_score,
        hide_short_help = true,
        conflicts_with = "no_split"
    )]
    split_score: Option<i32>,
    /// Split an alignment where its running score drops by more than N; 0 never [default: 100 x match]
    ///
    /// As -z of minimap2. The default is 200 x match with --preset long, which is 400. A read across an inversion is written as
    /// three records instead of one with a poorly aligned middle. Gap costs do not count, so long insertions and deletions
    /// do not split a record.
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(i32).range(0..=1_000_000))]
    z_drop: Option<i32>,
    /// Clipping of supplementary records: soft (SEQ has the whole read) or hard
    #[arg(
        long,
        value_enum,
        value_name = "soft|hard",
        default_value = "soft",
        hide_possible_values = true,
        hide_short_help = true
    )]
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
    pub fn resolve(&self, is_default: bool) -> Option<Split> {
        let is_split = (self.split || self.split_score.is_some() || is_default) && !self.no_split;
        let (score, drop) = (self.split_score, self.z_drop);
        is_split.then_some(Split { score, is_complete: self.split, drop })
    }

    /// Whether supplementary records have hard clips.
    pub fn hard_clips(&self) -> bool {
        self.clip == ClipName::Hard
    }
}
