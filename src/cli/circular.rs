//! The arguments of circular references.

use super::usage;
use crate::options::{Circular, SearchFormat, Share};
use clap::Args;
use clap::error::ErrorKind;

/// The name that stands for all references.
const ALL: &str = "all";

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct CircularFlags {
    /// Circular references: names, separated by commas, or all
    ///
    /// Such as plasmids and mitochondrial genomes. A read across the origin, between the last base and the first, competes with its total score. It is written as two
    /// records: the piece with the higher score, and the other piece as supplementary (FLAG 2048, tag SA). Circular references
    /// need twice the memory. The option may be repeated. It cannot be combined with --ref-part.
    #[arg(long, value_name = "NAME|all", value_parser = name)]
    circular: Vec<String>,
}

/// The circular texts of a search.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct SearchCircularFlags {
    /// Circular texts: names, separated by commas, or all
    ///
    /// Such as plasmids and mitochondrial genomes. The last base of a circular text is followed by its first. A hit or amplicon across the origin begins within the text,
    /// and its end is greater than the length of the text. An amplicon is at most as long as its circular text. The option may
    /// be repeated. It cannot be combined with --format sam.
    #[arg(long, value_name = "NAME|all", value_parser = name)]
    circular: Vec<String>,
}

impl SearchCircularFlags {
    /// The circular texts.
    pub fn resolve(self, format: SearchFormat) -> Result<Circular, clap::Error> {
        if !self.circular.is_empty() && format == SearchFormat::Sam {
            let text = "--format sam cannot represent alignments across an origin; use another format with --circular, such as bed";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(circles(self.circular))
    }
}

/// All references or texts, or only those with one of the names.
fn circles(names: Vec<String>) -> Circular {
    match names.iter().any(|name| name == ALL) {
        true => Circular::All,
        false => Circular::Named(names),
    }
}

fn name(text: &str) -> Result<String, String> {
    match text.split(',').all(|name| !name.is_empty()) {
        true => Ok(text.to_string()),
        false => Err("give a name, several separated by commas, or all".to_string()),
    }
}

impl CircularFlags {
    /// The circular references.
    pub fn resolve(self, ref_part: Option<Share>) -> Result<Circular, clap::Error> {
        if !self.circular.is_empty() && ref_part.is_some() {
            let text = "--ref-part does not support --circular, because a read across an origin has two records; use --part \
                        instead";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(circles(self.circular))
    }
}
