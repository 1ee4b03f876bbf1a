//! The page of an audit. It does not depend on the device or the time.

use super::framed;
use super::html::{counted, cut, escaped, grouped, pairs, table};
use super::sections::{COMMAND, ReportSection};
use crate::align::audit::Verdict;
use crate::output::audit::{AuditCounts, ComparedCounts, VerdictCounts};
use crate::output::report::{percent, shown};
use crate::terms::options::Options;
use crate::terms::scoring::Scoring;

/// Maximum number of rows of a table.
const ROWS: usize = 300;
/// Unit of counts.
const READS: [&str; 2] = ["read", "reads"];

/// The content of the file of `--html`.
pub fn audit_page(options: &Options, scoring: &Scoring, counts: &AuditCounts) -> String {
    let section = |id, heading, body| ReportSection { id, heading, body };
    let sections = [
        section("summary", "Summary", summary(counts)),
        section("verdicts", "Verdicts", verdicts(counts)),
        section("mapq", "Findings by mapping quality", by_value("MAPQ", counts.by_mapq())),
        section("lengths", "Findings by read length", by_value("Least length", counts.by_length())),
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

fn by_value<'a>(value: &str, counts: impl ExactSizeIterator<Item = (u64, &'a VerdictCounts)>) -> String {
    let left_out = counts.len().saturating_sub(ROWS);
    let rows = counts.take(ROWS).map(|(value, counts)| {
        let (findings, total) = (counts.findings(), counts.total());
        vec![grouped(value), grouped(total), grouped(findings), share(findings, total)]
    });
    let rest = match left_out {
        0 => String::new(),
        _ => format!("<p class=\"soft\">{} more are left out.</p>\n", counted(left_out, ["row", "rows"])),
    };
    table(&[value, "Reads", "Findings", "Share"], " class=\"number\"", rows) + &rest
}

fn run(options: &Options, scoring: &Scoring) -> String {
    let code = |text: &str| format!("<code>{}</code>", escaped(&cut(text, COMMAND)));
    pairs(&[
        ("Command, of what changes rows", code(&options.command_line)),
        ("Records", code(&shown(records(options)))),
        ("References", code(&shown(&options.reference))),
        ("Scoring", escaped(&scoring.to_string())),
        ("Version", env!("CARGO_PKG_VERSION").to_string()),
    ])
}
