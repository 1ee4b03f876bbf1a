//! What `swalign search` writes.

use crate::cli::{usage, values};
use crate::options::{SearchColumn, SearchFormat};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct SearchOutputFlags {
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What is written of a hit
    #[arg(long, value_enum, value_name = "NAME", default_value = "tab")]
    format: SearchFormatName,
    /// Columns of --format tab, separated by commas; std are those below
    #[arg(long, value_name = "NAMES", value_parser = values::search_columns)]
    columns: Option<SearchColumns>,
    /// Orientation of alignments and matched letters: text, or pattern, with mismatches in lower case
    /// [default: text, of --format text pattern]
    #[arg(long, value_enum, value_name = "text|pattern", hide_possible_values = true)]
    orient: Option<OrientName>,
    /// Also write a table with a row for each pattern: hits by edits, the best, whether it is the only one, texts with
    /// and without
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// The number of hits of each text: --format count
    #[arg(short, long, conflicts_with = "format")]
    count: bool,
    /// What texts and patterns are called: id, the first word of the header, or full, all of it with spaces for tabs
    #[arg(long, value_enum, value_name = "id|full", default_value = "id", hide_possible_values = true)]
    pub name: SearchNameChoice,
    /// Say only what went wrong
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more on stderr; there is no short form
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchFormatName {
    /// Columns, see below
    Tab,
    /// BED of six columns; the fifth is the edits
    Bed,
    /// SAM, the pattern as the read; the texts are read twice
    Sam,
    /// The matched text, on the reverse strand reverse-complemented
    Fasta,
    /// Each text and its number of hits
    Count,
    /// Alignments to read, the pattern forward
    Text,
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
        match self.format {
            _ if self.count => SearchFormat::Count,
            SearchFormatName::Tab => SearchFormat::Tab,
            SearchFormatName::Bed => SearchFormat::Bed,
            SearchFormatName::Sam => SearchFormat::Sam,
            SearchFormatName::Fasta => SearchFormat::Fasta,
            SearchFormatName::Count => SearchFormat::Count,
            SearchFormatName::Text => SearchFormat::Text,
        }
    }

    /// Refuses what a format or a part can't have.
    pub fn check(&self, format: SearchFormat, (is_part, inverts): (bool, bool)) -> Result<(), clap::Error> {
        let turns = matches!(format, SearchFormat::Tab | SearchFormat::Fasta | SearchFormat::Text);
        let text = if self.columns.is_some() && format != SearchFormat::Tab {
            "--columns is for --format tab"
        } else if self.orient.is_some() && !turns {
            "--orient is for --format tab, fasta and text; the others have the text's orientation"
        } else if self.summary.as_deref() == Some(Path::new("-")) {
            "--summary names a file; stdout has the hits"
        } else if self.summary.is_some() && is_part {
            "--summary counts all texts, which a part does not see; give it to a run without --part, or count the rows \
             of the joined table"
        } else if self.summary.is_some() && inverts {
            "--summary counts hits, which --invert-match (-v) does not look for beyond the first; leave one of them out"
        } else {
            return Ok(());
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }

    /// What can't be asked for where hits are joined.
    pub fn against_amplicons(&self) -> Option<&'static str> {
        if matches!(self.format(), SearchFormat::Sam | SearchFormat::Text) {
            Some("--amplicons has the formats tab, bed, fasta and count; give one of them")
        } else if self.columns.is_some() || self.orient.is_some() {
            Some("--columns and --orient are for hits; leave them out with --amplicons")
        } else if self.summary.is_some() {
            Some("--summary counts hits that are reported; leave it out with --amplicons")
        } else {
            None
        }
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
            let text = "--columns pam has the letters of --pam; give both";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok((columns.clone(), as_pattern))
    }
}
