//! Messages on stderr: notes, a summary and, on a terminal, a progress bar.

mod bar;
mod devices;

use crate::output::audit::{ComparedCounts, VerdictCounts};
use crate::pipeline::dedup::DedupSummary;
use crate::pipeline::search::SearchSummary;
use crate::pipeline::{Reporter, Stage, Summary, counted};
use bar::Bar;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

pub use devices::{Form, devices};

/// Reports to stderr: nothing with verbosity 0, everything with 2.
pub struct Terminal {
    verbosity: u8,
    bar: Option<Bar>,
}

impl Terminal {
    /// Without a progress line.
    pub fn new(verbosity: u8) -> Terminal {
        Terminal { verbosity, bar: None }
    }

    /// With a progress line, unless stderr is no terminal, or `output` goes to the same one.
    pub fn with_bar(verbosity: u8, output: Option<&Path>) -> Terminal {
        let is_apart = output.is_some() || !io::stdout().is_terminal();
        let bar = (verbosity > 0 && is_apart && io::stderr().is_terminal()).then(Bar::new);
        Terminal { verbosity, bar }
    }

    fn line(&self, text: &str) {
        let print = || {
            // Without stderr the line is lost.
            let _ = writeln!(io::stderr(), "swalign: {text}");
        };
        match &self.bar {
            Some(bar) => bar.above(print),
            None => print(),
        }
    }

    /// The line at the end of a search.
    pub fn search_summary(&self, summary: &SearchSummary) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        if self.verbosity > 0 {
            let SearchSummary { patterns, texts, letters, hits, amplicons, found, elapsed, .. } = summary;
            let seconds = elapsed.as_secs_f64();
            let units = if amplicons.is_some() { ["amplicon", "amplicons"] } else { ["hit", "hits"] };
            self.line(&format!(
                "{}, {} of {}, {found} with {}, {} in {seconds:.2} s",
                counted(*patterns, ["pattern", "patterns"]),
                counted(*texts, ["text", "texts"]),
                counted(*letters, ["base", "bases"]),
                if amplicons.is_some() { "an amplicon" } else { "a hit" },
                counted(amplicons.unwrap_or(*hits), units),
            ));
        }
    }

    /// The line at the end of `swalign dedup`.
    pub fn dedup_summary(&self, summary: &DedupSummary) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        if self.verbosity > 0 {
            self.line(&dedup_line(summary));
        }
    }

    /// The line at the end of `swalign audit`, and with -v a line of cells and times.
    pub fn audit_summary(&self, summary: &Summary) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        if self.verbosity > 0 {
            self.line(&audit_line(summary));
            summary.compared.iter().for_each(|compared| self.line(&compared_line(compared)));
        }
        if self.verbosity > 1 {
            self.line(&effort_line(summary));
        }
    }

    /// The line at the end of a run, and with -v a line of cells and times.
    pub fn summary(&self, summary: &Summary) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        if self.verbosity > 0 {
            self.line(&summary_line(summary));
        }
        if self.verbosity > 1 {
            self.line(&effort_line(summary));
        }
    }
}

impl Reporter for Terminal {
    fn note(&self, text: &str) {
        if self.verbosity > 0 {
            self.line(text);
        }
    }

    fn detail(&self, text: &str) {
        if self.verbosity > 1 {
            self.line(text);
        }
    }

    fn progress(&self, queries: u64) {
        if let Some(bar) = &self.bar {
            bar.count(queries);
        }
    }

    fn stage(&self, stage: Stage) {
        if let Some(bar) = &self.bar {
            bar.begin(stage);
        }
    }
}

/// Numbers of records and sets, and the time.
fn dedup_line(summary: &DedupSummary) -> String {
    let DedupSummary { records, distinct, written, elapsed } = summary;
    let share = share(*distinct, *records);
    let mut parts = vec![counted(*records, ["record", "records"]), format!("{distinct} distinct{share}")];
    if written < distinct {
        parts.push(format!("{written} written"));
    }
    parts.push(format!("{:.2} s", elapsed.as_secs_f64()));
    parts.join(", ")
}

/// Numbers of reads by verdict, the share of findings, and the time.
fn audit_line(summary: &Summary) -> String {
    let counts = summary.verdicts.unwrap_or_default();
    let reads = counted(counts.total(), ["read", "reads"]);
    format!("{reads}, {}, {:.2} s", verdicts(&counts), summary.elapsed.as_secs_f64())
}

/// The same for a second file, with the numbers of reads that score higher in one of the files.
fn compared_line(compared: &ComparedCounts) -> String {
    let ComparedCounts { against, higher: [first, second] } = compared;
    format!("--against: {}; {first} higher in RECORDS, {second} higher in --against", verdicts(against))
}

/// Numbers of verdicts, and the share of findings.
fn verdicts(counts: &VerdictCounts) -> String {
    let shown = counts.by_name().filter(|&(_, count)| count > 0);
    let mut parts: Vec<String> = shown.map(|(name, count)| format!("{count} {name}")).collect();
    let (findings, total) = (counts.findings(), counts.total());
    parts.push(format!("{}{}", counted(findings, ["finding", "findings"]), share(findings, total)));
    parts.join(", ")
}

/// Numbers of queries, and the time.
fn summary_line(summary: &Summary) -> String {
    let Summary { queries, aligned, anchored, whole, elapsed, .. } = summary;
    let mut parts = vec![counted(*queries, ["query", "queries"])];
    parts.push(format!("{aligned} aligned{}", share(*aligned, *queries)));
    if *anchored > 0 {
        parts.push(format!("{anchored} of them below the proven minimum score (ya:i:1)"));
    }
    if let Some(whole) = whole.filter(|&whole| whole > 0) {
        let them = if whole == 1 { "it aligns" } else { "they align" };
        parts.push(format!("{whole} searched in full because the filter could not narrow down where {them}"));
    }
    parts.push(format!("{:.2} s", elapsed.as_secs_f64()));
    parts.join(", ")
}

/// ` (66.7 %)`, rounded to the nearest tenth. Only all is 100 %, and only none is 0 %. Empty if `all` is 0.
fn share(part: u64, all: u64) -> String {
    if all == 0 {
        return String::new();
    }
    let nearest = (u128::from(part) * 2000 + u128::from(all)) / (u128::from(all) * 2);
    match part {
        0 => " (0 %)".to_string(),
        part if part == all => " (100 %)".to_string(),
        _ => {
            let permille = nearest.clamp(1, 999);
            format!(" ({}.{} %)", permille / 10, permille % 10)
        }
    }
}

/// Cells and times. Stages run concurrently, so their times may add up to more than the total.
fn effort_line(summary: &Summary) -> String {
    let seconds = summary.elapsed.as_secs_f64();
    let whole = summary.whole.map(|whole| counted(whole, ["query", "queries"]));
    let whole = whole.map_or_else(String::new, |whole| format!(", {whole} searched in full"));
    let repeated = match summary.repeated {
        0 => String::new(),
        repeated => format!(", {}", counted(repeated, ["duplicate", "duplicates"])),
    };
    format!(
        "{} ({:.2} GCUPS) for {}{whole}{repeated}; reading {:.2} s, filter {:.2} s, device {:.2} s, backtrace {:.2} s, writing {:.2} s",
        counted(summary.cells, ["cell", "cells"]),
        summary.cells as f64 / seconds.max(1e-9) / 1e9,
        counted(summary.searched, ["query", "queries"]),
        summary.reading.as_secs_f64(),
        summary.filtering.as_secs_f64(),
        summary.scoring.as_secs_f64(),
        summary.backtrace.as_secs_f64(),
        summary.writing.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn distinct_records_in_plain_words() {
        let said = |records, distinct, written| {
            dedup_line(&DedupSummary { records, distinct, written, elapsed: Duration::from_millis(350) })
        };
        assert_eq!(said(1, 1, 1), "1 record, 1 distinct (100 %), 0.35 s");
        assert_eq!(said(3, 2, 1), "3 records, 2 distinct (66.7 %), 1 written, 0.35 s");
    }

    #[test]
    fn summaries_in_plain_words() {
        let said = |queries, aligned, whole| {
            let elapsed = Duration::from_millis(350);
            summary_line(&Summary { queries, aligned, whole, elapsed, ..Summary::default() })
        };
        assert_eq!(said(1, 1, None), "1 query, 1 aligned (100 %), 0.35 s");
        assert_eq!(said(0, 0, Some(0)), "0 queries, 0 aligned, 0.35 s");
        assert_eq!(said(3, 2, Some(0)), "3 queries, 2 aligned (66.7 %), 0.35 s");
        assert_eq!(said(1_000_000, 999_999, None), "1000000 queries, 999999 aligned (99.9 %), 0.35 s");
        assert_eq!(said(1_000_000, 1, None), "1000000 queries, 1 aligned (0.1 %), 0.35 s");
        assert_eq!(said(10_000, 6_665, None), "10000 queries, 6665 aligned (66.7 %), 0.35 s");
        assert_eq!(said(10_000, 6_664, None), "10000 queries, 6664 aligned (66.6 %), 0.35 s");
        assert_eq!(share(u64::MAX - 1, u64::MAX), " (99.9 %)");
        let full = "searched in full because the filter could not narrow down where";
        assert_eq!(
            said(300, 300, Some(15)),
            format!("300 queries, 300 aligned (100 %), 15 {full} they align, 0.35 s")
        );
        assert_eq!(said(2, 0, Some(1)), format!("2 queries, 0 aligned (0 %), 1 {full} it aligns, 0.35 s"));
    }
}
