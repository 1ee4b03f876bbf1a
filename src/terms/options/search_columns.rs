//! The columns of a search's table.

/// A column of the table of `swalign search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchColumn {
    Text,
    Start,
    End,
    Pattern,
    Strand,
    Edits,
    Cigar,
    Match,
    Pam,
    Line,
    PatternAligned,
    TextAligned,
    PatternLen,
    TextLen,
    Mismatches,
    Insertions,
    Deletions,
    Gaps,
    /// Edits in the last 1, 3 or 5 bases of the pattern.
    LastEdits(u8),
    LastRun,
    Before,
    After,
}

use SearchColumn as C;

/// All columns and their names.
const ALL: [(C, &str); 24] = [
    (C::Text, "text"),
    (C::Start, "start"),
    (C::End, "end"),
    (C::Pattern, "pattern"),
    (C::Strand, "strand"),
    (C::Edits, "edits"),
    (C::Cigar, "cigar"),
    (C::Match, "match"),
    (C::Pam, "pam"),
    (C::Line, "line"),
    (C::PatternAligned, "pattern_aligned"),
    (C::TextAligned, "text_aligned"),
    (C::PatternLen, "pattern_len"),
    (C::TextLen, "text_len"),
    (C::Mismatches, "mismatches"),
    (C::Insertions, "insertions"),
    (C::Deletions, "deletions"),
    (C::Gaps, "gaps"),
    (C::LastEdits(1), "edits_last1"),
    (C::LastEdits(3), "edits_last3"),
    (C::LastEdits(5), "edits_last5"),
    (C::LastRun, "last_run"),
    (C::Before, "before"),
    (C::After, "after"),
];

impl SearchColumn {
    /// The default columns of a table.
    pub const STANDARD: [C; 8] =
        [C::Text, C::Start, C::End, C::Pattern, C::Strand, C::Edits, C::Cigar, C::Match];

    /// The names of all columns.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(_, name)| *name)
    }

    pub fn name(self) -> &'static str {
        ALL.iter().find(|(column, _)| *column == self).map_or("", |(_, name)| name)
    }

    /// Parses comma-separated column names; `std` stands for the standard columns. The error is the first unknown name.
    pub fn parse(names: &str) -> Result<Vec<C>, String> {
        let mut columns = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match ALL.iter().find(|(_, known)| *known == name) {
                _ if name == "std" => columns.extend(C::STANDARD),
                Some((column, _)) => columns.push(*column),
                None => return Err(name.to_string()),
            }
        }
        Ok(columns)
    }
}
