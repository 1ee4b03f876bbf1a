//! The sections of the page.

use super::charts::{bars, positions};
use super::html::{counted, cut, escaped, grouped, name, or_dash, pairs, table};
use crate::output::report::stats::change_counts;
use crate::output::report::{Account, Coverage, Facts, percent, ratio, shown};
use crate::output::statistics::{Drawing, Extreme, IDENTITY_STEPS, ReferenceDepth};
use crate::terms::alignment::Strand;
use crate::terms::alphabet::Alphabet;
use crate::terms::json::{array, numbers, object, quoted};
use std::cmp::Reverse;

/// Singular and plural of the unit of counts.
const LETTERS: [&str; 2] = ["letter", "letters"];

/// Maximum number of references in the table and among the plots of depth: those with the most aligned residues.
const REFERENCES: usize = 300;
/// Maximum number of bins of all plots of depth together.
const BINS: usize = 40_000;
/// Maximum number of base changes shown that involve codes other than A, C, G and T.
const CHANGES: usize = 60;
/// Characters of the command line that are shown, and columns per line of a drawing.
pub const COMMAND: usize = 2000;
const COLUMNS: usize = 60;

pub struct ReportSection {
    pub id: &'static str,
    pub heading: &'static str,
    pub body: String,
}

pub fn all(account: &Account, facts: &Facts) -> Vec<ReportSection> {
    let section = |id, heading, body| ReportSection { id, heading, body };
    vec![
        section("summary", "Summary", summary(account)),
        section("depth", "Depth", depth(account)),
        section("references", "References", references(account)),
        section("alignments", "Alignments", alignments(account)),
        section("positions", "Differences along the reads", along_reads(account)),
        section("changes", "Mismatches by change", changes(account)),
        section("worst", "Worst alignments", drawings(account, &account.statistics.sums.extremes.worst)),
        section("best", "Best alignments", drawings(account, &account.statistics.sums.extremes.best)),
        section("records", "Records", records(account)),
        section("run", "The run", run(account, facts)),
    ]
}

pub fn title(account: &Account) -> String {
    let file = |path: &std::path::Path| {
        path.file_name().map_or_else(|| shown(path), |name| name.to_string_lossy().into_owned())
    };
    let queries: Vec<String> = account.options.query_files().map(|path| cut(&file(path), 80)).collect();
    format!("{} aligned to {}", queries.join(" and "), cut(&file(&account.options.reference), 80))
}

/// A note on limits of the report, shown first.
pub fn note(account: &Account) -> String {
    let part = account
        .part()
        .map(|part| format!("<p class=\"note\">This page tells of one part of a run only: {part}.</p>\n"));
    part.unwrap_or_default()
}

fn summary(account: &Account) -> String {
    let sums = &account.statistics.sums;
    let (queries, path) = (&sums.queries, &sums.columns);
    let coverage = Coverage::of(account.references().map(|(_, depth)| depth));
    let share =
        |part, whole| percent(part, whole).map_or_else(|| "\u{2013}".to_string(), |share| share + " %");
    let mut figures = vec![
        ("Queries", grouped(queries.total), counted(queries.letters, LETTERS)),
        ("Aligned", share(queries.aligned, queries.total), counted(queries.aligned, ["query", "queries"])),
        (
            "Unaligned",
            share(queries.total - queries.aligned, queries.total),
            counted(queries.total - queries.aligned, ["query", "queries"]),
        ),
    ];
    if queries.mates > 0 {
        let mates = format!("{} of {}", grouped(queries.proper), counted(queries.mates, ["mate", "mates"]));
        figures.push(("Properly paired", share(queries.proper, queries.mates), mates));
    }
    figures.extend([
        (
            "Identity",
            share(path.matches, path.columns()),
            format!("of {}", counted(path.columns(), ["column", "columns"])),
        ),
        (
            "Mean depth",
            or_dash(ratio(coverage.aligned, coverage.letters, 2)),
            format!("{} aligned letters", grouped(coverage.aligned)),
        ),
        (
            "Covered",
            share(coverage.covered, coverage.letters),
            format!("of {} reference letters", grouped(coverage.letters)),
        ),
    ]);
    let figures: String = figures
        .into_iter()
        .map(|(name, value, more)| {
            format!("<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>\n")
        })
        .collect();
    format!(
        "<dl class=\"figures\">\n{figures}</dl>\n<p class=\"soft\">Depth, identity and differences are those of primary \
         alignments. Identity is the share of equal columns among all columns of an alignment, gaps included.</p>\n"
    )
}

/// References with plots or in the table: those with the most aligned residues, in file order.
fn chosen<'a>(
    account: &'a Account,
    wanted: impl Fn(&ReferenceDepth) -> bool,
) -> (Vec<(&'a str, ReferenceDepth<'a>)>, usize) {
    let mut all: Vec<_> = account.references().enumerate().filter(|(_, (_, depth))| wanted(depth)).collect();
    let count = all.len();
    all.sort_by_key(|(place, (_, depth))| (Reverse(depth.aligned), *place));
    all.truncate(REFERENCES);
    all.sort_by_key(|(place, _)| *place);
    (all.into_iter().map(|(_, reference)| reference).collect(), count)
}

fn left_out(shown: usize, count: usize, what: &str) -> String {
    if shown == count {
        return String::new();
    }
    let (shown, count) = (grouped(shown), grouped(count));
    format!(
        "<p class=\"soft\">Shown are the {shown} of {count} {what} with the most aligned letters; the others are left out.</p>\n"
    )
}

fn depth(account: &Account) -> String {
    let (shown, count) = chosen(account, |depth| depth.alignments() > 0 && !depth.bins.is_empty());
    if shown.is_empty() {
        return "<p>No reference has an alignment.</p>\n".to_string();
    }
    let bins: usize = shown.iter().map(|(_, depth)| depth.bins.len()).sum();
    let each = bins.div_ceil(BINS).max(1);
    let plot = |(name, depth): &(&str, ReferenceDepth)| {
        let width = depth.bin_letters * each as u64;
        let hundredths = depth.bins.chunks(each).enumerate().map(|(bin, aligned)| {
            let letters = width.min(depth.letters - bin as u64 * width).max(1);
            let doubled = u128::from(aligned.iter().sum::<u64>()) * 200 + u128::from(letters);
            u64::try_from(doubled / (2 * u128::from(letters))).unwrap_or(u64::MAX)
        });
        object([
            ("name", quoted(&cut(name, 80))),
            ("letters", depth.letters.to_string()),
            ("width", width.to_string()),
            ("bins", numbers(hundredths)),
        ])
    };
    // Ensures that no text ends the element or begins a comment.
    let plots = array(shown.iter().map(plot)).replace('<', "\\u003c");
    let omitted = left_out(shown.len(), count, "references");
    let button = |value: &str, label: &str, text: &str| {
        format!("<button type=\"button\" value=\"{value}\" aria-label=\"{label}\">{text}</button>\n")
    };
    let buttons: String = [
        ("in", "Zoom in", "+"),
        ("out", "Zoom out", "\u{2212}"),
        ("left", "Move left", "\u{2190}"),
        ("right", "Move right", "\u{2192}"),
        ("whole", "Show all of the reference", "All"),
    ]
    .map(|(value, label, text)| button(value, label, text))
    .concat();
    let head = "<tr><th scope=\"col\" class=\"number\">Positions</th><th scope=\"col\" class=\"number\">Mean depth</th></tr>";
    format!(
        "{omitted}<figure id=\"depth-figure\">\n<figcaption>Mean depth along a reference</figcaption>\n\
         <div class=\"controls scripted\">\n<label>Reference <select></select></label>\n{buttons}<span class=\"soft\">or the keys + \u{2212} \u{2190} \u{2192} and 0</span>\n</div>\n\
         <div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"Plot of depth; plus and minus zoom, arrows move, 0 shows all\"></div>\n\
         <p class=\"soft\" aria-live=\"polite\">The plot needs JavaScript; the table of references has the mean depths.</p>\n\
         <details open><summary>Table</summary>\n<table><thead>{head}</thead><tbody></tbody></table></details>\n</figure>\n\
         <script type=\"application/json\" id=\"depths\">{plots}</script>\n"
    )
}

fn references(account: &Account) -> String {
    let (shown, count) = chosen(account, |_| true);
    let omitted = left_out(shown.len(), count, "references");
    let rows = shown.iter().map(|(reference, depth)| {
        vec![
            name(reference),
            grouped(depth.letters),
            grouped(depth.alignments()),
            grouped(depth.unique),
            grouped(depth.tied),
            or_dash(ratio(depth.aligned, depth.letters, 2)),
            or_dash(percent(depth.covered, depth.letters)),
        ]
    });
    let heads = ["Reference", "Letters", "Alignments", "Unique", "Tied", "Mean depth", "Covered, %"];
    let about = "<p class=\"soft\">A tied query has another hit that scores as much. A reference whose queries are all tied \
                 may be absent.</p>\n";
    omitted + about + &table(&heads, " class=\"name\"", rows)
}

fn alignments(account: &Account) -> String {
    let sums = &account.statistics.sums;
    let path = &sums.columns;
    let identity = |steps: u64| ratio(steps, IDENTITY_STEPS, 1).unwrap_or_default();
    let totals = [
        ("Matches", grouped(path.matches)),
        ("Mismatches", grouped(path.mismatches)),
        ("Insertions", format!("{} of {}", grouped(path.insertions), counted(path.inserted, LETTERS))),
        ("Deletions", format!("{} of {}", grouped(path.deletions), counted(path.deleted, LETTERS))),
        ("Clipped letters", grouped(sums.clipped)),
    ];
    [
        pairs(&totals),
        bars(
            "Identity of primary alignments",
            ["Identity, percent", "Alignments"],
            &sums.identities,
            identity,
        ),
        bars("Scores of primary alignments", ["Score", "Alignments"], &sums.scores, grouped),
        bars(
            "Mapping qualities of primary alignments",
            ["Mapping quality", "Alignments"],
            &sums.qualities,
            grouped,
        ),
        bars("Lengths of queries", ["Letters", "Queries"], &sums.lengths, grouped),
        bars("Insert sizes of proper pairs", ["Letters", "Pairs"], &sums.inserts, grouped),
    ]
    .concat()
}

fn along_reads(account: &Account) -> String {
    let sums = &account.statistics.sums;
    if sums.columns.columns() == 0 {
        return "<p>No query is aligned.</p>\n".to_string();
    }
    let about = "<p class=\"soft\">Positions count from the first letter of the read as it was sequenced, also of reads on the \
                 reverse strand. Each number is per 100 letters of aligned queries at these positions. A deletion counts once, \
                 whatever its length, at the letter before it.</p>\n";
    about.to_string()
        + &positions("Differences by position in the read", ["Position", "Per 100 letters"], &sums.positions)
}

fn changes(account: &Account) -> String {
    let total = account.statistics.sums.columns.mismatches;
    let all: Vec<_> = change_counts(account).collect();
    let about = "<p class=\"soft\">From the letter of the reference to that of the read, both on the reference's forward strand.</p>\n";
    let is_base = |letter: char| "ACGT".contains(letter);
    let dna = account.scoring.alphabet == Alphabet::Dna;
    let mut matrix = String::new();
    if dna {
        let count = |from: char, to: char| {
            let found = all.iter().find(|(one, other, _)| (*one, *other) == (from, to));
            found.map_or_else(|| "\u{2013}".to_string(), |(_, _, count)| grouped(*count))
        };
        let rows = "ACGT".chars().map(|from| {
            let cells = "ACGT".chars().map(|to| count(from, to));
            std::iter::once(from.to_string()).chain(cells).collect()
        });
        matrix = table(&["Reference", "to A", "to C", "to G", "to T"], "", rows);
    }
    let mut others: Vec<_> =
        all.iter().filter(|(from, to, _)| !(dna && is_base(*from) && is_base(*to))).collect();
    let count = others.len();
    others.sort_by_key(|(from, to, count)| (Reverse(*count), *from, *to));
    others.truncate(CHANGES);
    if others.is_empty() {
        return about.to_string() + &matrix;
    }
    let heading = if dna { "<h3>Of other letters</h3>\n" } else { "" };
    let omitted = match others.len() == count {
        true => String::new(),
        false => format!("<p class=\"soft\">Shown are the {} most frequent of {count}.</p>\n", others.len()),
    };
    let rows = others.iter().map(|(from, to, count)| {
        vec![format!("{from} to {to}"), grouped(*count), or_dash(percent(*count, total))]
    });
    format!("{about}{matrix}{heading}{omitted}{}", table(&["Change", "Mismatches", "Share, %"], "", rows))
}

fn drawings(account: &Account, kept: &[Extreme]) -> String {
    if kept.is_empty() {
        return "<p>No query is aligned.</p>\n".to_string();
    }
    let about =
        "<p class=\"soft\">By identity; of equal ones the earlier queries. Positions begin at 1.</p>\n";
    about.to_string() + &kept.iter().map(|extreme| drawing(account, extreme)).collect::<String>()
}

fn drawing(account: &Account, extreme: &Extreme) -> String {
    let Drawing { name: query, target, strand, score, query_letters, .. } = &extreme.drawing;
    let strand = if *strand == Strand::Forward { "forward" } else { "reverse" };
    let identity = or_dash(percent(extreme.matches, extreme.columns));
    let (title, reference) = (name(query), name(account.name_of(*target)));
    let (matches, columns) = (grouped(extreme.matches), grouped(extreme.columns));
    let omitted = match extreme.columns > extreme.drawing.marks.len() as u64 {
        true => format!("<p class=\"soft\">The first {} columns:</p>\n", extreme.drawing.marks.len()),
        false => String::new(),
    };
    format!(
        "<h3>{title}</h3>\n<p>{identity} % ({matches} of {columns} columns), score {score}, {strand} strand of {reference}; the \
         query has {} letters.</p>\n{omitted}<pre tabindex=\"0\">{}</pre>\n",
        grouped(*query_letters),
        escaped(&drawn(&extreme.drawing))
    )
}

/// The rows of an alignment, with the positions of the first and the last residue of each line.
fn drawn(drawing: &Drawing) -> String {
    let Drawing { strand, query: (start, end), reference, query_row, marks, reference_row, .. } = drawing;
    let mut reference_at = reference.0;
    let mut read = 0;
    let width = [*end, reference.1].into_iter().max().unwrap_or(0).to_string().len();
    let letters = |row: &str| row.bytes().filter(|&letter| letter != b'-').count() as u64;
    let mut lines = Vec::new();
    for from in (0..marks.len()).step_by(COLUMNS) {
        let columns = from..marks.len().min(from + COLUMNS);
        let [query, marks, target] = [query_row, marks, reference_row].map(|row| &row[columns.clone()]);
        let (own, other) = (letters(query), letters(target));
        // A query on the reverse strand is read from its end.
        let (first, last) = match strand {
            Strand::Reverse => (end - read, (end + 1).saturating_sub(read + own)),
            _ => (start + read + 1, start + read + own),
        };
        lines.push(format!("query     {first:>width$} {query} {last}"));
        lines.push(format!("          {:>width$} {marks}", ""));
        lines.push(format!("reference {:>width$} {target} {}", reference_at + 1, reference_at + other));
        lines.push(String::new());
        read += own;
        reference_at += other;
    }
    lines.pop();
    lines.join("\n")
}

fn records(account: &Account) -> String {
    let sums = &account.statistics.sums;
    let (records, queries) = (&sums.records, &sums.queries);
    let mut rows = vec![
        ("All records", records.total()),
        ("Primary", records.primary),
        ("Secondary", records.secondary),
        ("Supplementary", records.supplementary),
        ("Unaligned", records.unaligned),
        ("On the forward strand", records.forward),
        ("On the reverse strand", records.reverse),
    ];
    if queries.mates > 0 {
        rows.extend([
            ("First of a pair", records.first),
            ("Last of a pair", records.last),
            ("Properly paired mates", queries.proper),
            ("Aligned mates whose other mate is unaligned", queries.single),
            ("Mates on another reference than their other mate", queries.apart),
        ]);
    }
    let rows = rows.into_iter().map(|(kind, count)| {
        vec![kind.to_string(), grouped(count), or_dash(percent(count, records.total()))]
    });
    table(&["Kind", "Records", "Share, %"], "", rows)
}

fn run(account: &Account, facts: &Facts) -> String {
    let options = account.options;
    let code = |text: &str| format!("<code>{}</code>", escaped(&cut(text, COMMAND)));
    let seconds = facts.elapsed.as_secs_f64();
    let coverage = Coverage::of(account.references().map(|(_, depth)| depth));
    let mut rows = vec![
        ("Command, of what changes records", code(&options.command_line)),
        ("Queries", options.query_files().map(|path| code(&shown(path))).collect::<Vec<_>>().join("<br>")),
        (
            "References",
            format!(
                "{}: {} of {} letters",
                code(&shown(&options.reference)),
                grouped(coverage.references),
                grouped(coverage.letters)
            ),
        ),
        ("Scoring", escaped(&account.scoring.to_string())),
        ("Least score", account.min_score.map_or("none".to_string(), |score| score.to_string())),
    ];
    if let Some(insert) = account.insert {
        let (name, mean, deviation) = (insert.orientation.name(), insert.mean, insert.deviation);
        rows.push((
            "Insert size",
            format!("mean {mean}, standard deviation {deviation}, orientation {name}"),
        ));
    }
    rows.extend([
        ("Version", env!("CARGO_PKG_VERSION").to_string()),
        ("Device", escaped(&facts.device)),
        ("Threads", options.threads.to_string()),
        ("Time", format!("{seconds:.1} s")),
        ("Cells scored", grouped(facts.cells)),
        (
            "Queries searched in full",
            facts.whole.map_or_else(|| "all; there was no filter".to_string(), grouped),
        ),
    ]);
    pairs(&rows)
}
