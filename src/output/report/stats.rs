//! The statistics as JSON. Keys are stable, and docs/stats.schema.json lists all of them.

use super::{Account, Coverage, multiqc, percent, ratio, shown};
use crate::output::statistics::{
    Extreme, Histogram, HistogramBins, IDENTITY_STEPS, QueryCounts, RecordCounts, ReferenceDepth, Sums,
};
use crate::terms::alignment::Strand;
use crate::terms::alphabet::Alphabet;
use crate::terms::insert::InsertSize;
use crate::terms::json::{array, lines, numbers, object, or_null, quoted, rows};
use crate::terms::options::Mask;

/// Version of the format, which increases when keys change their meaning.
const FORMAT: u64 = 1;
/// Maximum number of references listed, all of which have bins.
const LISTED: usize = 1000;

/// The content of the file of `--stats`.
pub fn stats(account: &Account) -> String {
    let sums = &account.statistics.sums;
    let histograms = lines([
        ("query_letters", histogram(&sums.lengths, 1)),
        ("score", histogram(&sums.scores, 1)),
        ("mapping_quality", histogram(&sums.qualities, 1)),
        ("identity_percent", histogram(&sums.identities, IDENTITY_STEPS)),
        ("insert_size", histogram(&sums.inserts, 1)),
    ]);
    let extremes = |kept: &[Extreme]| rows(kept.iter().map(|extreme| extreme_of(account, extreme)));
    let fields = [
        ("format", FORMAT.to_string()),
        ("run", run(account)),
        ("queries", queries(&sums.queries, account)),
        ("records", records(&sums.records)),
        ("alignments", alignments(sums)),
        ("references", references(account)),
        ("histograms", histograms),
        ("by_position", positions(account)),
        ("changes", changes(account)),
        ("worst", extremes(&sums.extremes.worst)),
        ("best", extremes(&sums.extremes.best)),
    ];
    let for_multiqc = account.options.stats.as_deref().is_some_and(multiqc::is_read);
    let for_multiqc = for_multiqc.then(|| multiqc::fields(account));
    lines(for_multiqc.into_iter().flatten().chain(fields)) + "\n"
}

fn run(account: &Account) -> String {
    let options = account.options;
    let insert = |InsertSize { orientation, mean, deviation }: InsertSize| {
        object([
            ("orientation", quoted(orientation.name())),
            ("mean", mean.to_string()),
            ("deviation", deviation.to_string()),
        ])
    };
    lines([
        ("program", quoted("swalign")),
        ("version", quoted(env!("CARGO_PKG_VERSION"))),
        ("command", quoted(&options.command_line)),
        ("mode", quoted(account.mode())),
        ("query_files", array(options.query_files().map(|path| quoted(&shown(path))))),
        ("reference_file", quoted(&shown(&options.reference))),
        ("part", or_null(account.part().map(|part| quoted(&part)))),
        ("scoring", quoted(&account.scoring.to_string())),
        ("min_score", or_null(account.min_score.map(|score| score.to_string()))),
        ("insert_size", or_null(account.insert.map(insert))),
    ])
}

fn queries(queries: &QueryCounts, account: &Account) -> String {
    let QueryCounts { total, letters, masked, aligned, anchored, mates, proper, single, apart } = *queries;
    let if_masked = |number: u64| (account.options.ranked.mask != Mask::None).then(|| number.to_string());
    object([
        ("total", total.to_string()),
        ("letters", letters.to_string()),
        ("aligned", aligned.to_string()),
        ("anchored", anchored.to_string()),
        ("unaligned", (total - aligned).to_string()),
        ("aligned_percent", or_null(percent(aligned, total))),
        ("too_short", account.too_short.to_string()),
        ("masked_letters", or_null(if_masked(masked))),
        ("masked_hits", or_null(if_masked(account.masked_hits))),
        ("mates", mates.to_string()),
        ("properly_paired", proper.to_string()),
        ("properly_paired_percent", or_null(percent(proper, mates))),
        ("mate_unaligned", single.to_string()),
        ("mate_on_other_reference", apart.to_string()),
    ])
}

fn records(records: &RecordCounts) -> String {
    object([
        ("total", records.total().to_string()),
        ("primary", records.primary.to_string()),
        ("secondary", records.secondary.to_string()),
        ("supplementary", records.supplementary.to_string()),
        ("unaligned", records.unaligned.to_string()),
        ("forward", records.forward.to_string()),
        ("reverse", records.reverse.to_string()),
        ("first_of_pair", records.first.to_string()),
        ("last_of_pair", records.last.to_string()),
    ])
}

fn alignments(sums: &Sums) -> String {
    let path = &sums.columns;
    object([
        ("total", sums.records.primary.to_string()),
        ("columns", path.columns().to_string()),
        ("matches", path.matches.to_string()),
        ("mismatches", path.mismatches.to_string()),
        ("insertions", path.insertions.to_string()),
        ("inserted_letters", path.inserted.to_string()),
        ("deletions", path.deletions.to_string()),
        ("deleted_letters", path.deleted.to_string()),
        ("clipped_letters", sums.clipped.to_string()),
        ("identity_percent", or_null(percent(path.matches, path.columns()))),
    ])
}

fn coverage(coverage: &Coverage) -> Vec<(&'static str, String)> {
    vec![
        ("total", coverage.references.to_string()),
        ("aligned_to", coverage.hit.to_string()),
        ("letters", coverage.letters.to_string()),
        ("alignments", (coverage.unique + coverage.tied).to_string()),
        ("unique", coverage.unique.to_string()),
        ("tied", coverage.tied.to_string()),
        ("aligned_letters", coverage.aligned.to_string()),
        ("covered_letters", coverage.covered.to_string()),
        ("covered_percent", or_null(percent(coverage.covered, coverage.letters))),
        ("mean_depth", or_null(ratio(coverage.aligned, coverage.letters, 2))),
    ]
}

fn references(account: &Account) -> String {
    let mut fields = coverage(&Coverage::of(account.references().map(|(_, depth)| depth)));
    let is_listed = |depth: &ReferenceDepth| depth.bin_letters > 0;
    let others = account.references().map(|(_, depth)| depth).filter(|depth| !is_listed(depth));
    fields.push(("not_listed", object(coverage(&Coverage::of(others)))));
    let listed = account.references().filter(|(_, depth)| is_listed(depth)).take(LISTED);
    fields.push(("listed", rows(listed.map(|(name, depth)| reference(name, &depth)))));
    lines(fields)
}

fn reference(name: &str, depth: &ReferenceDepth) -> String {
    object([
        ("name", quoted(name)),
        ("letters", depth.letters.to_string()),
        ("alignments", depth.alignments().to_string()),
        ("unique", depth.unique.to_string()),
        ("tied", depth.tied.to_string()),
        ("aligned_letters", depth.aligned.to_string()),
        ("covered_letters", depth.covered.to_string()),
        ("covered_percent", or_null(percent(depth.covered, depth.letters))),
        ("mean_depth", or_null(ratio(depth.aligned, depth.letters, 2))),
        ("bin_letters", depth.bin_letters.to_string()),
        ("bins", numbers(depth.bins.iter().copied())),
    ])
}

/// A histogram as JSON. One unit of values has `steps` steps.
fn histogram(histogram: &Histogram, steps: u64) -> String {
    let unit = |value: u64| match steps {
        1 => value.to_string(),
        _ => or_null(ratio(value, steps, 1)),
    };
    let bins = histogram.bins();
    let first = bins.counts().iter().position(|&count| count > 0).unwrap_or(0);
    let width = bins.width();
    object([
        ("count", histogram.count().to_string()),
        ("mean", or_null(ratio(histogram.sum(), u128::from(histogram.count()) * u128::from(steps), 2))),
        ("least", or_null(histogram.range().map(|(least, _)| unit(least)))),
        ("most", or_null(histogram.range().map(|(_, most)| unit(most)))),
        ("first", unit(first as u64 * width)),
        ("width", unit(width)),
        ("bins", numbers(bins.counts()[first..].iter().copied())),
    ])
}

fn positions(account: &Account) -> String {
    let positions = &account.statistics.sums.positions;
    let len = positions.letters.counts().len();
    let series =
        |bins: &HistogramBins| numbers((0..len).map(|bin| bins.counts().get(bin).copied().unwrap_or(0)));
    lines([
        ("width", positions.letters.width().to_string()),
        ("letters", series(&positions.letters)),
        ("mismatches", series(&positions.mismatches)),
        ("inserted_letters", series(&positions.inserted)),
        ("deletions", series(&positions.deletions)),
        ("clipped_letters", series(&positions.clipped)),
    ])
}

/// Mismatches by the residues of the reference and of the read: all pairs of A, C, G and T, and other pairs if they
/// occur.
fn changes(account: &Account) -> String {
    object(change_counts(account).map(|(from, to, count)| (format!("{from}>{to}"), count.to_string())))
}

/// The data of [`changes`]: both residues, and their count.
pub(super) fn change_counts(account: &Account) -> impl Iterator<Item = (char, char, u64)> {
    let alphabet = account.scoring.alphabet;
    let positions = &account.statistics.sums.positions;
    let letters = move || alphabet.letters().iter().map(|&letter| char::from(letter)).enumerate();
    let always = move |from: usize, to: usize| alphabet == Alphabet::Dna && from < 4 && to < 4 && from != to;
    letters()
        .flat_map(move |from| letters().map(move |to| (from, to)))
        .map(|((from, one), (to, other))| (from, to, one, other, positions.changes(from, to)))
        .filter(move |(from, to, _, _, count)| always(*from, *to) || *count > 0)
        .map(|(_, _, one, other, count)| (one, other, count))
}

fn extreme_of(account: &Account, extreme: &Extreme) -> String {
    let drawing = &extreme.drawing;
    object([
        ("query", quoted(&drawing.name)),
        ("number", (extreme.place + 1).to_string()),
        ("query_letters", drawing.query_letters.to_string()),
        ("query_start", drawing.query.0.to_string()),
        ("query_end", drawing.query.1.to_string()),
        ("strand", quoted(if drawing.strand == Strand::Forward { "+" } else { "-" })),
        ("reference", quoted(account.name_of(drawing.target))),
        ("reference_start", drawing.reference.0.to_string()),
        ("reference_end", drawing.reference.1.to_string()),
        ("score", drawing.score.to_string()),
        ("matches", extreme.matches.to_string()),
        ("columns", extreme.columns.to_string()),
        ("identity_percent", or_null(percent(extreme.matches, extreme.columns))),
    ])
}
