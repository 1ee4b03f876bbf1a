//! The arguments of mates.

use super::{is_subcommand, usage, values};
use crate::insert::InsertSize;
use crate::options::{Lane, MatesChoice, Share};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct MateFlags {
    /// QUERY contains both mates of each pair, one after the other
    #[arg(long)]
    interleaved: bool,
    /// Mean and standard deviation of the insert size in bases, such as 350,60 [default: estimated]
    ///
    /// The insert size is the distance from 5' end to 5' end. It is estimated from the first 20,000 pairs. A third value gives
    /// the orientation, as in 3000,400,rf: fr for paired-end reads (the default), rf for mate pairs, or ff. Mates within 4
    /// standard deviations of the mean are properly paired. The values are printed to stderr and written to the header
    /// (@CO). Mates with --ref-part need this option.
    #[arg(long, hide_short_help = true, value_name = "MEAN,SD", allow_negative_numbers = true, value_parser = values::insert)]
    insert: Option<InsertSize>,
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
        self.insert
    }

    /// Refuses options that exclude each other.
    pub fn check(&self, lanes: &[Lane], ref_part: Option<Share>) -> Result<(), clap::Error> {
        let query = lanes.first().map_or(Path::new(""), |lane| &lane.reads);
        let mut of_lanes = lanes.iter().map(|lane| &lane.mates);
        let mates = of_lanes.find(|mates| **mates != MatesChoice::None).unwrap_or(&MatesChoice::None);
        let word = query.to_str().filter(|word| is_subcommand(word));
        let text = match (mates, word) {
            _ if lanes.len() > 1 && ref_part.is_some() => {
                "--ref-part takes one lane; give each lane a run of its own".to_string()
            }
            (MatesChoice::File(_), Some(word)) => format!(
                "'{word}' is read as a file here; put the subcommand before everything else, or give the file as ./{word}"
            ),
            (MatesChoice::File(path), _) if self.interleaved => format!(
                "--interleaved expects one file of mates, but {} is a second file; leave either out",
                path.display()
            ),
            (MatesChoice::None, _) if self.insert.is_some() => {
                "--insert is for mates; give two files of reads, or --interleaved".to_string()
            }
            (MatesChoice::File(_) | MatesChoice::Interleaved, _)
                if ref_part.is_some() && self.insert.is_none() =>
            {
                "--ref-part needs --insert for mates, because a part of the references is not enough to estimate the insert \
                 size; give all parts the same value, such as --insert 350,60"
                    .to_string()
            }
            _ => return Ok(()),
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }
}
