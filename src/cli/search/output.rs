//! The output options of `swalign search`.

use crate::cli::{usage, values};
use crate::terms::options::{SearchColumn, SearchFormat};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct SearchOutputFlags {
    /// Write the output to FILE, compressed by bgzf if its name ends in .gz [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "NAME", default_value = "tab")]
    format: SearchFormat,
    /// Columns of --format tab, separated by commas [default: std, see below]
    #[arg(long, hide_short_help = true, value_name = "NAMES", value_parser = values::search_columns)]
    columns: Option<SearchColumns>,
    /// Orientation of alignments: text or pattern [default: text; pattern with --format text]
    ///
    /// Applies to alignments and matched sequences. With pattern, mismatches are in lower case.
    #[arg(
        long,
        value_enum,
        value_name = "text|pattern",
        hide_possible_values = true,
        hide_short_help = true
    )]
    orient: Option<OrientName>,
    /// Also write a table with a row for each pattern
    ///
    /// Its columns are the number of hits by edits, the fewest edits, whether the best hit is unique, and the number of texts
    /// with and without a hit.
    #[arg(long, value_name = "FILE", conflicts_with = "invert_match")]
    pub summary: Option<PathBuf>,
    /// Print the number of hits of each text (same as --format count)
    #[arg(short, long, conflicts_with = "format")]
    count: bool,
    /// Names of texts and patterns: id (first word of the header) or full (whole header)
    ///
    /// In full names, spaces replace tabs.
    #[arg(
        long,
        value_enum,
        value_name = "id|full",
        default_value = "id",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub name: SearchNameChoice,
    /// Print only errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print details to stderr
    #[arg(long, hide_short_help = true)]
    pub verbose: bool,
}

/// Columns of a table.
#[derive(Clone, Debug)]
pub struct SearchColumns(pub Vec<SearchColumn>);

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrientName {
    Text,
    Pattern,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchNameChoice {
    Id,
    Full,
}

impl SearchOutputFlags {
    pub fn format(&self) -> SearchFormat {
        if self.count { SearchFormat::Count } else { self.format }
    }

    /// The columns of the table, and whether alignments have the pattern's orientation.
    pub fn shown(
        &self,
        format: SearchFormat,
        has_pam: bool,
    ) -> Result<(Vec<SearchColumn>, bool), clap::Error> {
        let as_pattern = match self.orient {
            Some(orient) => orient == OrientName::Pattern,
            None => format == SearchFormat::Text,
        };
        let Some(SearchColumns(columns)) = &self.columns else {
            let pam = has_pam.then_some(SearchColumn::Pam);
            let line = as_pattern.then_some(SearchColumn::Line);
            return Ok((SearchColumn::STANDARD.into_iter().chain(pam).chain(line).collect(), as_pattern));
        };
        if columns.contains(&SearchColumn::Pam) && !has_pam {
            let text = "the column pam needs --pam; give both";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok((columns.clone(), as_pattern))
    }
}
