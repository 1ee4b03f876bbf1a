//! The arguments of circular references.

use super::usage;
use crate::options::{Circular, Share};
use clap::Args;
use clap::error::ErrorKind;

/// The name that stands for all references.
const ALL: &str = "all";

#[derive(Args)]
#[command(next_help_heading = "Circular references")]
pub struct CircularFlags {
    /// References that are circles, such as plasmids and mitochondria: names, separated by commas, or all
    ///
    /// A read across the origin, where the last letter meets the first, competes with its whole score, and is written as
    /// two records: the piece with the higher score, and the other one as supplementary (FLAG 2048, tag SA). Circles take
    /// twice the memory. --circular may be given several times, but not with --ref-part.
    #[arg(long, value_name = "NAME|all", value_parser = name)]
    circular: Vec<String>,
}

fn name(text: &str) -> Result<String, String> {
    match text.split(',').all(|name| !name.is_empty()) {
        true => Ok(text.to_string()),
        false => Err("give the name of a reference, several separated by commas, or all".to_string()),
    }
}

impl CircularFlags {
    /// The references that are circles.
    pub fn resolve(self, ref_part: Option<Share>) -> Result<Circular, clap::Error> {
        if !self.circular.is_empty() && ref_part.is_some() {
            let text = "--ref-part takes no --circular, since parts of the references are joined record by record, and \
                        a read across an origin has two; cut the reads by --part";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(match self.circular.iter().any(|name| name == ALL) {
            true => Circular::All,
            false => Circular::Named(self.circular),
        })
    }
}
