//! Additional fields of the statistics for MultiQC: custom content, whose columns appear in its table of general
//! statistics.

use super::{Account, Coverage, percent, ratio};
use crate::terms::json::{lines, object, quoted};
use crate::terms::options::{MatesChoice, ReadGroup};
use std::path::Path;

/// Suffix by which MultiQC finds files with custom content.
const FILE: &str = "_mqc.json";
/// Extensions of read files, which are not part of a sample name.
const EXTENSIONS: [&str; 9] = [".gz", ".bgz", ".fastq", ".fq", ".fasta", ".fa", ".fna", ".faa", ".bam"];

/// A column of the table.
struct MultiqcColumn {
    key: &'static str,
    title: &'static str,
    description: &'static str,
    /// Percentages have a range, and read counts share a scale.
    kind: MultiqcColumnKind,
    value: Option<String>,
}

enum MultiqcColumnKind {
    Count,
    Percent,
    Ratio,
}

/// Whether MultiQC would read a file of this name.
pub fn is_read(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(FILE))
}

/// Fields of the JSON of `--stats`. MultiQC ignores all others.
pub fn fields(account: &Account) -> [(&'static str, String); 7] {
    let columns = columns(account);
    let headers = columns.iter().map(|column| (column.key, header(column)));
    let values = columns.iter().filter_map(|column| Some((column.key, column.value.clone()?)));
    [
        ("id", quoted("swalign")),
        ("plot_type", quoted("generalstats")),
        ("section_name", quoted("swalign")),
        ("description", quoted("Alignments of swalign, an exact Smith-Waterman aligner")),
        ("namespace", quoted("swalign")),
        ("headers", lines(headers)),
        ("data", object([(sample(account), object(values))])),
    ]
}

fn columns(account: &Account) -> [MultiqcColumn; 6] {
    use MultiqcColumnKind::{Count, Percent, Ratio};
    let sums = &account.statistics.sums;
    let (queries, path) = (&sums.queries, &sums.columns);
    let all = Coverage::of(account.references().map(|(_, depth)| depth));
    let column =
        |key, title, description, kind, value| MultiqcColumn { key, title, description, kind, value };
    [
        column("queries", "Queries", "Reads or other queries", Count, Some(queries.total.to_string())),
        column("aligned", "Aligned", "Aligned queries", Count, Some(queries.aligned.to_string())),
        column(
            "aligned_percent",
            "% Aligned",
            "Share of aligned queries",
            Percent,
            percent(queries.aligned, queries.total),
        ),
        column(
            "identity_percent",
            "% Identity",
            "Equal residues among all columns of primary alignments",
            Percent,
            percent(path.matches, path.columns()),
        ),
        column(
            "covered_percent",
            "% Covered",
            "Share of the references' residues in primary alignments",
            Percent,
            percent(all.covered, all.letters),
        ),
        column(
            "mean_depth",
            "Depth",
            "Mean depth of the references",
            Ratio,
            ratio(all.aligned, all.letters, 2),
        ),
    ]
}

fn header(column: &MultiqcColumn) -> String {
    let mut fields = vec![("title", quoted(column.title)), ("description", quoted(column.description))];
    fields.extend(match column.kind {
        MultiqcColumnKind::Count => vec![("format", quoted("{:,.0f}")), ("min", "0".to_string())],
        MultiqcColumnKind::Percent => {
            vec![
                ("suffix", quoted("%")),
                ("format", quoted("{:,.2f}")),
                ("min", "0".to_string()),
                ("max", "100".to_string()),
            ]
        }
        MultiqcColumnKind::Ratio => {
            vec![("suffix", quoted("X")), ("format", quoted("{:,.2f}")), ("min", "0".to_string())]
        }
    });
    object(fields)
}

/// The sample of the read groups, or the name of the query file without its extensions. If the lanes belong to several
/// samples, the name of the statistics file.
fn sample(account: &Account) -> String {
    let options = account.options;
    let lanes = options.lanes();
    let mut samples = lanes.iter().map(|lane| lane.read_group.as_ref().and_then(ReadGroup::sample));
    if let Some(first) = samples.next().flatten()
        && samples.all(|sample| sample == Some(first))
    {
        return first.to_string();
    }
    if let Some(path) = options.stats.as_deref().filter(|_| options.has_lanes()) {
        return stem(path).trim_end_matches(FILE).to_string();
    }
    let stem = stem(&options.query);
    match &options.mates {
        MatesChoice::File(mates) => of_mates(&stem, &self::stem(mates)).unwrap_or(&stem).to_string(),
        _ => stem,
    }
}

/// Common prefix of the names of two mate files, without a separator and an R at its end: `s` for `s_R1` and `s_R2`.
fn of_mates<'a>(first: &'a str, second: &str) -> Option<&'a str> {
    let is_separator = |letter: char| "._-".contains(letter);
    let pairs = first.char_indices().zip(second.chars());
    let end = pairs.into_iter().find(|((_, one), other)| one != other).map(|((at, _), _)| at)?;
    let common = &first[..end];
    let name = common.strip_suffix(['R', 'r']).filter(|name| name.ends_with(is_separator)).unwrap_or(common);
    Some(name.trim_end_matches(is_separator)).filter(|name| !name.is_empty())
}

fn stem(path: &Path) -> String {
    if path == Path::new("-") {
        return "stdin".to_string();
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut stem = &name[..];
    while let Some(shorter) =
        EXTENSIONS.iter().find_map(|extension| stem.strip_suffix(extension)).filter(|stem| !stem.is_empty())
    {
        stem = shorter;
    }
    stem.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_samples() {
        for (file, name) in [
            ("runs/a.b.fq.gz", "a.b"),
            ("reads.fastq", "reads"),
            ("x.fa.bgz", "x"),
            ("x.sam", "x.sam"),
            (".fq", ".fq"),
            ("-", "stdin"),
        ] {
            assert_eq!(stem(Path::new(file)), name);
        }
        for (first, second, name) in [
            ("s_1", "s_2", Some("s")),
            ("s_R1_001", "s_R2_001", Some("s")),
            ("s.1", "s.2", Some("s")),
            ("tumor1", "tumor2", Some("tumor")),
            ("a", "b", None),
            ("_1", "_2", None),
            ("s", "s", None),
            ("é_1", "é_2", Some("é")),
        ] {
            assert_eq!(of_mates(first, second), name, "{first} {second}");
        }
    }

    #[test]
    fn files_of_multiqc() {
        assert!(is_read(Path::new("out/x_mqc.json")) && is_read(Path::new("_mqc.json")));
        assert!(!is_read(Path::new("x.json")) && !is_read(Path::new("x_mqc.json.gz")));
    }
}
