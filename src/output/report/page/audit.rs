//! The page of an audit. It does not depend on the device or the time.

use super::charts::shares;
use super::framed;
use super::html::{counted, cut, escaped, grouped, name, or_dash, pairs, table};
use super::sections::{COMMAND, ReportSection};
use crate::align::audit::Verdict;
use crate::output::audit::{
    AuditCounts, ComparedCounts, DrawnFinding, DrawnSide, VerdictCounts, WorstFindings,
};
use crate::output::report::{percent, shown};
use crate::terms::options::{Options, Share};
use crate::terms::scoring::Scoring;

/// Maximum number of rows of a table.
const ROWS: usize = 300;
/// Unit of counts.
const READS: [&str; 2] = ["read", "reads"];

/// The content of the file of `--html`.
pub fn audit_page(
    options: &Options,
    scoring: &Scoring,
    (counts, worst): (&AuditCounts, &WorstFindings),
) -> String {
    let by_mapq = ("Mapping quality", "Share of findings by the mapping quality of the record");
    let by_length = ("Least length", "Share of findings by the length of the read");
    let section = |id, heading, body| ReportSection { id, heading, body };
    let sections = [
        section("summary", "Summary", summary(counts)),
        section("verdicts", "Verdicts", verdicts(counts)),
        section("mapq", "Findings by mapping quality", by_value(by_mapq, counts.by_mapq())),
        section("lengths", "Findings by read length", by_value(by_length, counts.by_length())),
        section("worst", "The worst findings", drawn(worst)),
        section("run", "The run", run(options, scoring)),
    ];
    let file = records(options).file_name().map(|name| name.to_string_lossy().into_owned());
    let title = format!("Audit of {}", cut(&file.unwrap_or_else(|| shown(records(options))), 80));
    framed(&title, "", &sections)
}

fn records(options: &Options) -> &std::path::Path {
    let records = options.audit.as_ref().and_then(|audit| audit.records.as_deref());
    records.unwrap_or(&options.query)
}

fn share(part: u64, whole: u64) -> String {
    percent(part, whole).map_or_else(|| "\u{2013}".to_string(), |share| share + " %")
}

fn summary(counts: &AuditCounts) -> String {
    let all = &counts.all;
    let optimal = all.of(Verdict::Equal) + all.of(Verdict::Tie);
    let figure = |name: &str, value: String, more: String| {
        format!("<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>\n")
    };
    let of_reads = |name: &str, count: u64| figure(name, share(count, all.total()), counted(count, READS));
    let mut figures = vec![
        figure("Reads", grouped(all.total()), String::new()),
        of_reads("Optimal", optimal),
        of_reads("Findings", all.findings()),
    ];
    if let Some(ComparedCounts { against, higher: [first, second] }) = &counts.compared {
        figures.push(of_reads("Findings in the second file", against.findings()));
        figures.push(of_reads("Higher score in the first file", *first));
        figures.push(of_reads("Higher score in the second file", *second));
    }
    format!("<dl class=\"figures\">\n{}</dl>\n", figures.concat())
}

fn verdicts(counts: &AuditCounts) -> String {
    let second = counts.compared.as_ref().map(|compared| &compared.against);
    let rows = Verdict::ALL.into_iter().map(|verdict| {
        let cells =
            |counts: &VerdictCounts| [grouped(counts.of(verdict)), share(counts.of(verdict), counts.total())];
        let name = verdict.name().to_string();
        [name].into_iter().chain(cells(&counts.all)).chain(second.into_iter().flat_map(cells)).collect()
    });
    let heads = ["Verdict", "Reads", "Share", "Second file", "Share"];
    table(if second.is_some() { &heads } else { &heads[..3] }, "", rows)
}

/// A curve for each kind of finding.
const CURVES: [(&str, &[Verdict]); 4] = [
    ("All findings", &[]),
    ("Below", &[Verdict::Below]),
    ("Clipped", &[Verdict::Clipped]),
    ("Missed", &[Verdict::Missed]),
];

/// The shares of findings by mapping quality or by read length.
fn by_value<'a>(
    (value, caption): (&str, &str),
    counts: impl ExactSizeIterator<Item = (u64, &'a VerdictCounts)>,
) -> String {
    let left_out = counts.len().saturating_sub(ROWS);
    let rows = counts.take(ROWS).map(|(value, counts)| {
        let of = |verdicts: &[Verdict]| match verdicts {
            [] => counts.findings(),
            some => some.iter().map(|&verdict| counts.of(verdict)).sum(),
        };
        let total = counts.total();
        let shares = CURVES.iter().map(|(_, verdicts)| or_dash(percent(of(verdicts), total)));
        [grouped(value), grouped(total)].into_iter().chain(shares).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return "<p>No reads.</p>\n".to_string();
    }
    let rest = match left_out {
        0 => String::new(),
        _ => format!("<p class=\"soft\">{} more are left out.</p>\n", counted(left_out, ["row", "rows"])),
    };
    let heads: Vec<&str> = [value, "Reads"].into_iter().chain(CURVES.iter().map(|(name, _)| *name)).collect();
    shares(caption, [value, "Share of reads in percent"], &heads, rows) + &rest
}

/// The worst findings as alignments.
fn drawn(worst: &WorstFindings) -> String {
    if worst.iter().len() == 0 {
        return "<p>No findings.</p>\n".to_string();
    }
    worst.iter().map(drawn_finding).collect()
}

fn drawn_finding(finding: &DrawnFinding) -> String {
    let DrawnFinding { read, verdict, sides } = finding;
    let sides = ["Record", "Optimum"].into_iter().zip(sides).map(|(title, side)| {
        let DrawnSide { score, position, columns, left_out } = side;
        let score = score.map_or_else(|| "no score".to_string(), |score| format!("score {}", grouped(score)));
        let position = if position.is_empty() { String::new() } else { format!(" at {}", name(position)) };
        let columns = match columns.is_empty() {
            true => String::new(),
            false => format!("<pre>{}</pre>\n", escaped(columns.trim_end())),
        };
        let rest = match left_out {
            0 => String::new(),
            more => format!("<p class=\"soft\">{}.</p>\n", counted(more, ["more column", "more columns"])),
        };
        format!("<p>{title}: {score}{position}</p>\n{columns}{rest}")
    });
    format!("<h3>{}: {}</h3>\n{}", name(read), verdict.name(), sides.collect::<String>())
}

fn run(options: &Options, scoring: &Scoring) -> String {
    let code = |text: &str| format!("<code>{}</code>", escaped(&cut(text, COMMAND)));
    let part = match options.part_of_queries() {
        None => "all".to_string(),
        Some(Share { number, of }) => format!("part {number} of {of}"),
    };
    pairs(&[
        ("Command, of what changes rows", code(&options.command_line)),
        ("Reads", part),
        ("Records", code(&shown(records(options)))),
        ("References", code(&shown(&options.reference))),
        ("Scoring", escaped(&scoring.to_string())),
        ("Version", env!("CARGO_PKG_VERSION").to_string()),
    ])
}
