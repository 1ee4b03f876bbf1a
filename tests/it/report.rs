//! Tests the report and the statistics of a run (`--report`, `--stats`).

use crate::common::{command::run, text};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Returns pseudorandom bases.
fn letters(count: usize, mut seed: u64) -> String {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b"ACGT"[(seed >> 60) as usize & 3])
    };
    (0..count).map(|_| next()).collect()
}

fn reverse_complement(letters: &str) -> String {
    String::from_utf8(swalign::terms::alphabet::reverse_complement(letters.as_bytes())).unwrap()
}

/// Writes a reference, and a file of interleaved mates: pairs of which some have a mismatch, and a pair without an
/// alignment.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let reference = letters(5000, 1);
    let mut reads = String::new();
    for pair in 0..60 {
        let start = pair * 70;
        let mut first = reference[start..start + 100].to_string();
        if pair % 3 == 0 {
            let other = if &first[50..51] == "A" { "C" } else { "A" };
            first.replace_range(50..51, other);
        }
        let last = reverse_complement(&reference[start + 200 + pair..start + 300 + pair]);
        reads += &format!(">p{pair}\n{first}\n>p{pair}\n{last}\n");
    }
    reads += &format!(">x\n{}\n>x\n{}\n", letters(100, 7), letters(100, 8));
    fs::write(folder.path().join("ref.fa"), format!(">chr1\n{reference}\n>chr2\n{}\n", letters(900, 2)))
        .unwrap();
    fs::write(folder.path().join("reads.fa"), reads).unwrap();
    folder
}

fn align(folder: &Path, more: &[&str]) -> Vec<u8> {
    let args = [&["--device", "cpu", "--interleaved", "-o", "x.sam"], more, &["reads.fa", "ref.fa"]].concat();
    let outcome = run(folder, &args);
    outcome.ended(0);
    fs::read(folder.join("x.sam")).unwrap()
}

/// Returns the first number after a key.
fn number(text: &str, key: &str) -> u64 {
    let (_, rest) = text.split_once(&format!("\"{key}\": ")).unwrap_or_else(|| panic!("no {key}"));
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn the_same_statistics_however_they_are_computed() {
    let folder = folder();
    let stats = |more: &[&str]| {
        align(folder.path(), &[&["--stats", "x.json"], more].concat());
        fs::read_to_string(folder.path().join("x.json")).unwrap()
    };
    let whole = stats(&["--threads", "1"]);
    for more in [&["--threads", "4"][..], &["--batch", "7"], &["--filter", "none"], &["--report", "x.html"]] {
        assert_eq!(stats(more), whole, "{more:?}");
    }
    assert_eq!(number(&whole, "aligned") + number(&whole, "unaligned"), 122);
    assert_eq!((number(&whole, "unaligned"), number(&whole, "properly_paired")), (2, 120));
    assert_eq!((number(&whole, "columns"), number(&whole, "mismatches")), (12_000, 20));
}

#[test]
fn records_do_not_depend_on_it() {
    let folder = folder();
    let plain = align(folder.path(), &[]);
    assert_eq!(align(folder.path(), &["--stats", "x.json", "--report", "x.html"]), plain);
}

#[test]
fn a_page_is_small_and_shows_names_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let (mut references, mut reads) = (String::new(), String::new());
    for number in 0..2000 {
        let sequence = letters(300 + number % 50, number as u64 + 1);
        let name = format!("<script>{number}</script>\"'&{}", "<é".repeat(200));
        references += &format!(">{name}\n{sequence}\n");
        reads += &format!(">q{number}<b>\n{}\n", &sequence[20..120]);
    }
    fs::write(folder.path().join("ref.fa"), references).unwrap();
    fs::write(folder.path().join("reads.fa"), reads).unwrap();
    let args = ["--device", "cpu", "--report", "x.html", "-o", "x.paf", "reads.fa", "ref.fa"];
    let outcome = run(folder.path(), &args);
    outcome.ended(0);
    let page = fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>0") && !page.contains("<é"));
    assert!(page.contains("300 of 2,000 references"));
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written() {
    let folder = folder();
    for (args, code, says) in [
        (&["--report", "ref.fa"][..], 2, &["--report", "overwrite", "ref.fa"][..]),
        (&["--stats", "reads.fa"], 2, &["--stats", "overwrite", "reads.fa"]),
        (&["-o", "y", "--stats", "./y"], 2, &["--stats", "overwrite y"]),
        (&["--report", "y", "--stats", "y"], 2, &["--stats", "overwrite y"]),
        (&["--stats", "-"], 2, &["--stats", "stdout"]),
        (&["--stats", "nosuch/y.json", "-o", "y"], 1, &["nosuch"]),
    ] {
        run(folder.path(), &[args, &["--device", "cpu", "reads.fa", "ref.fa"]].concat()).said(code, says);
    }
    fs::write(folder.path().join("bad.fa"), ">a\nAC-T\n").unwrap();
    let outcome = run(folder.path(), &["--report", "y.html", "--stats", "y.json", "bad.fa", "ref.fa"]);
    outcome.ended(1);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bad.fa", "reads.fa", "ref.fa"]);
}

#[test]
fn a_part_says_so() {
    let folder = folder();
    align(folder.path(), &["--part", "1/2", "--report", "x.html", "--stats", "x.json"]);
    let page = fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(page.contains("one part of a run only: queries 1/2"));
    assert!(fs::read_to_string(folder.path().join("x.json")).unwrap().contains("\"part\": \"queries 1/2\""));
}

/// The keys for MultiQC are those of the golden file and come before the keys of the statistics. They are missing if
/// the name of the file does not end in `_mqc.json`.
#[test]
fn keys_for_multiqc() {
    let folder = folder();
    let stats = |name: &str, more: &[&str]| {
        align(folder.path(), &[&["--stats", name], more].concat());
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let plain = stats("x.json", &[]);
    let both = stats("x_mqc.json", &[]);
    let (keys, rest) = both.split_once(",\n\"format\"").unwrap();
    assert_eq!(format!("{keys}\n}}\n"), text("tests/golden/stats_mqc.json"));
    let rest = format!("{{\n\"format\"{rest}");
    assert_eq!(rest.replace("x_mqc.json", "x.json"), plain);
    let grouped = stats("y_mqc.json", &["-R", "@RG\\tID:run\\tSM:patient 1"]);
    assert!(grouped.contains("\n\"data\": {\"patient 1\": {\"queries\": 122, "));
    let group_only = stats("z_mqc.json", &["-R", "@RG\\tID:run"]);
    assert!(group_only.contains("\n\"data\": {\"reads\": {"));
}

/// MultiQC shows the numbers of two runs in its general statistics. `SWALIGN_TEST_MULTIQC` is the path of the program.
#[test]
#[ignore = "needs MultiQC"]
fn multiqc_reads_the_statistics() {
    let folder = folder();
    align(folder.path(), &["--stats", "one_mqc.json", "-R", "@RG\\tID:a\\tSM:one"]);
    align(folder.path(), &["--stats", "two_mqc.json", "-R", "@RG\\tID:b\\tSM:two"]);
    let program = std::env::var_os("SWALIGN_TEST_MULTIQC").unwrap_or_else(|| "multiqc".into());
    let output = std::process::Command::new(program)
        .args(["--no-ansi", "-m", "custom_content", "."])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("swalign: Found 2 General Statistics columns"),
        "{said}"
    );
    let table = fs::read_to_string(folder.path().join("multiqc_data/multiqc_general_stats.txt")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let column = |name: &str| {
        rows[0].iter().position(|head| head.ends_with(name)).unwrap_or_else(|| panic!("{table}"))
    };
    let samples: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    assert_eq!(samples, ["one", "two"]);
    let one = |name: &str| rows[1][column(name)].parse::<f64>().unwrap();
    assert_eq!((one("-queries"), one("-aligned"), one("-aligned_percent")), (122.0, 120.0, 98.36));
    assert_eq!((one("-identity_percent"), one("-mean_depth")), (99.83, 2.03));
    assert_eq!(rows[1][1..], rows[2][1..]);
    assert!(fs::read_to_string(folder.path().join("multiqc_report.html")).unwrap().contains("% Aligned"));
}

/// Two strains share a sequence. Reads of it are tied and reads of the other sequences are unique, on both strands. The
/// counts of parts of the queries add up.
#[test]
fn unique_and_tied_reads() {
    let folder = tempfile::tempdir().unwrap();
    let shared = letters(1000, 3);
    let [one, other] = [5, 6].map(|seed| letters(1000, seed));
    let strains = [format!("{one}{shared}"), format!("{shared}{other}")];
    fs::write(
        folder.path().join("ref.fa"),
        format!(">a\n{}\n>b\n{}\n>c\n{}\n", strains[0], strains[1], letters(500, 9)),
    )
    .unwrap();
    let (mut reads, mut expected) = (String::new(), [[0, 0]; 2]);
    for number in 0..90 {
        // Reads alternate between the strains.
        let (strain, start) = (number % 2, (number * 37) % 1900);
        let read = &strains[strain][start..start + 100];
        let read = if number % 3 == 0 { reverse_complement(read) } else { read.to_string() };
        reads += &format!(">r{number}\n{read}\n");
        // A tied read is aligned to the first of its references.
        let is_tied = if strain == 0 { start >= 1000 } else { start + 100 <= 1000 };
        expected[if is_tied { 0 } else { strain }][usize::from(is_tied)] += 1;
    }
    fs::write(folder.path().join("reads.fa"), reads).unwrap();
    let counts = |more: &[&str]| {
        let args = [
            "--device", "cpu", "-o", "x.sam", "--stats", "x.json", "--report", "x.html", "reads.fa", "ref.fa",
        ];
        let outcome = run(folder.path(), &[&args[..], more].concat());
        outcome.ended(0);
        let stats = fs::read_to_string(folder.path().join("x.json")).unwrap();
        let listed = stats.split_once("\"listed\"").unwrap().1;
        ["a", "b", "c"].map(|name| {
            let (_, row) = listed.split_once(&format!("{{\"name\": \"{name}\"")).unwrap();
            let [all, unique, tied] = ["alignments", "unique", "tied"].map(|key| number(row, key));
            assert_eq!(all, unique + tied);
            [unique, tied]
        })
    };
    let whole = counts(&[]);
    assert_eq!(whole, [expected[0], expected[1], [0, 0]]);
    assert!(expected[0][0] > 10 && expected[0][1] > 20 && expected[1][0] > 10, "{expected:?}");
    let page = fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(page.contains(">Unique</th>") && page.contains(">Tied</th>"));
    let [unique, tied] = expected[0];
    let cells =
        format!(">{}</td><td class=\"number\">{unique}</td><td class=\"number\">{tied}</td>", unique + tied);
    assert!(page.contains(&cells), "{cells}");
    assert_eq!(counts(&["--max-hits", "5", "-t", "3"]), whole);
    let parts = ["1/3", "2/3", "3/3"].map(|part| counts(&["--part", part]));
    let sum = |reference: usize, kind: usize| parts.iter().map(|part| part[reference][kind]).sum::<u64>();
    assert_eq!([0, 1, 2].map(|reference| [sum(reference, 0), sum(reference, 1)]), whole);
}

/// Draws the report with Chromium and finds the charts in it.
#[test]
#[ignore = "needs Chromium"]
fn a_browser_draws_the_page() {
    let folder = folder();
    align(folder.path(), &["--report", "x.html"]);
    let page = format!("file://{}", folder.path().join("x.html").display());
    let drawn = std::process::Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", &page])
        .output()
        .unwrap();
    let drawn = String::from_utf8(drawn.stdout).unwrap();
    assert!(drawn.matches("<rect class=\"bar\"").count() > 10 && drawn.contains("<path class=\"outline\""));
    assert_eq!(drawn.matches("<polyline").count(), 4);
}
