//! The arguments of mates.

use super::{is_subcommand, usage, values};
use crate::insert::InsertSize;
use crate::options::{MatesChoice, Share};
use clap::Args;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Mates")]
pub struct MateFlags {
    /// QUERY has mates, one behind the other
    #[arg(long)]
    interleaved: bool,
    /// Insert size of the mates, from 5' end to 5' end: mean and standard deviation in letters, such as 350,60;
    /// with the orientation, if it is not fr, such as 3000,400,rf [default: what the first 20,000 pairs show]
    ///
    /// Orientations are fr (Illumina's paired ends), rf (mate pairs) and ff. Properly paired are mates within 4
    /// deviations of the mean. A run says what it takes, on stderr and in the header (@CO). Mates with --ref-part need it.
    #[arg(long, value_name = "MEAN,SD", allow_negative_numbers = true, value_parser = values::insert)]
    insert: Option<InsertSize>,
}

impl MateFlags {
    /// Where the mates are, and the file of references, if `rest` has one: all files behind the first.
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

    /// Refuses what can't be together.
    pub fn check(
        &self,
        query: &Path,
        mates: &MatesChoice,
        ref_part: Option<Share>,
    ) -> Result<(), clap::Error> {
        let word = query.to_str().filter(|word| is_subcommand(word));
        let text = match (mates, word) {
            (MatesChoice::File(_), Some(word)) => format!(
                "'{word}' stands for a file here; give the subcommand before everything else, or the file as ./{word}"
            ),
            (MatesChoice::File(path), _) if self.interleaved => format!(
                "--interleaved is for one file of mates, and {} is a second one; leave either out",
                path.display()
            ),
            (MatesChoice::None, _) if self.insert.is_some() => {
                "--insert is for mates; give two files of reads, or --interleaved".to_string()
            }
            (MatesChoice::File(_) | MatesChoice::Interleaved, _)
                if ref_part.is_some() && self.insert.is_none() =>
            {
                "--ref-part of mates needs --insert, since a part of the references can't tell the insert size that \
                 all of them show; give the same to each part, such as --insert 350,60"
                    .to_string()
            }
            _ => return Ok(()),
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }
}
