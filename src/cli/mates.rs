//! The arguments of mates.

use super::{is_subcommand, usage, values};
use crate::terms::insert::InsertSize;
use crate::terms::options::{MatesChoice, SequencingLane};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct MateFlags {
    /// QUERY contains both mates of each pair, one after the other
    #[arg(long)]
    interleaved: bool,
    #[command(flatten)]
    insert: InsertFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InsertFlag {
    /// Mean and standard deviation of the insert size in bases, such as 350,60 [default: estimated]
    ///
    /// The insert size is the distance from 5' end to 5' end. It is estimated from the first 20,000 pairs. A third value gives
    /// the orientation, as in 3000,400,rf: fr for paired-end reads (the default), rf for mate pairs, or ff. Mates within 4
    /// standard deviations of the mean are properly paired. The values are printed to stderr and written to the header
    /// (@CO). Mates with --ref-part need this option.
    #[arg(long, hide_short_help = true, value_name = "MEAN,SD", allow_negative_numbers = true, value_parser = values::insert)]
    pub insert: Option<InsertSize>,
}

impl MateFlags {
    /// The source of the mates and the file of references, from the files after the first one.
    pub fn place(&self, rest: Vec<PathBuf>) -> (MatesChoice, Option<PathBuf>) {
        let mut rest = rest.into_iter();
        match (rest.next(), rest.next()) {
            (Some(mates), Some(reference)) => (MatesChoice::File(mates), Some(reference)),
            (reference, _) if self.interleaved => (MatesChoice::Interleaved, reference),
            (reference, _) => (MatesChoice::None, reference),
        }
    }

    /// The insert size, if one is given.
    pub fn insert(&self) -> Option<InsertSize> {
        self.insert.insert
    }

    /// Refuses a subcommand after other arguments, which reads as the first of three files.
    pub fn check(&self, lanes: &[SequencingLane]) -> Result<(), clap::Error> {
        let query = lanes.first().map_or(Path::new(""), |lane| &lane.reads);
        let has_file = lanes.iter().any(|lane| matches!(lane.mates, MatesChoice::File(_)));
        match query.to_str().filter(|word| has_file && is_subcommand(word)) {
            None => Ok(()),
            Some(word) => Err(usage(
                ErrorKind::ArgumentConflict,
                format!(
                    "'{word}' is read as a file here; put the subcommand before everything else, or give the file as \
                     ./{word}"
                ),
            )),
        }
    }
}
