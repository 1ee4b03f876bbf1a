//! The output options of `swalign search`.

use crate::cli::{usage, values};
use crate::options::{SearchColumn, SearchFormat, is_packed};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct SearchOutputFlags {
    /// Write the output to FILE, compressed by bgzf if its name ends in .gz [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "NAME", default_value = "tab")]
    format: SearchFormatName,
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
    #[arg(long, value_name = "FILE")]
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchFormatName {
    /// Table with a header line
    Tab,
    /// BED with six columns; the fifth is the number of edits
    Bed,
    /// SAM with the patterns as reads; reads the texts twice
    Sam,
    /// Matched text, reverse-complemented on the reverse strand
    Fasta,
    /// The same with the qualities of the text, which must be FASTQ
    Fastq,
    /// Number of hits of each text
    Count,
    /// Printed alignments, with the pattern forward
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
            SearchFormatName::Fastq => SearchFormat::Fastq,
            SearchFormatName::Count => SearchFormat::Count,
            SearchFormatName::Text => SearchFormat::Text,
        }
    }

    /// Refuses options that a format or a part does not support.
    pub fn check(&self, format: SearchFormat, (is_part, inverts): (bool, bool)) -> Result<(), clap::Error> {
        use SearchFormat::{Fasta, Fastq, Tab, Text};
        let turns = matches!(format, Tab | Fasta | Fastq | Text);
        let is_packed = self.output.as_deref().is_some_and(is_packed);
        let text = if self.columns.is_some() && format != SearchFormat::Tab {
            "--columns is for --format tab; leave it out, or use --format tab"
        } else if self.orient.is_some() && !turns {
            "--orient is for --format tab, fasta, fastq and text; other formats have the orientation of the text"
        } else if self.summary.as_deref() == Some(Path::new("-")) {
            "--summary cannot be written to stdout, which contains the hits; name a file"
        } else if is_packed && is_part {
            "--output of a part is not compressed, so that `swalign merge` can join the parts; give a name without .gz"
        } else if self.summary.is_some() && is_part {
            "--summary counts hits in all texts, but a part reads only some of them; use it without --part, or count the \
             rows of the joined table"
        } else if self.summary.is_some() && inverts {
            "--summary counts all hits, but --invert-match (-v) stops at the first hit of a text; leave either out"
        } else {
            return Ok(());
        };
        Err(usage(ErrorKind::ArgumentConflict, text))
    }

    /// The error for an option that --amplicons does not support.
    pub fn against_amplicons(&self) -> Option<&'static str> {
        if matches!(self.format(), SearchFormat::Sam | SearchFormat::Text) {
            Some("--amplicons supports --format tab, bed, fasta, fastq and count; use one of them")
        } else if self.columns.is_some() || self.orient.is_some() {
            Some("--columns and --orient are for hits, not for amplicons; leave them or --amplicons out")
        } else if self.summary.is_some() {
            Some("--summary counts reported hits, not amplicons; leave either out")
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
            let text = "the column pam needs --pam; give both";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok((columns.clone(), as_pattern))
    }
}
