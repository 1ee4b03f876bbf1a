//! The arguments of circular references.

use crate::terms::options::Circular;
use clap::Args;

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
    pub fn resolve(self) -> Circular {
        circles(self.circular)
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
    pub fn resolve(self) -> Circular {
        circles(self.circular)
    }
}
