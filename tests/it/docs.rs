//! `docs/cli.md` matches the arguments of the command, the commands of README.md and the guides run and print their
//! samples, and links lead to existing pages.
//!
//! If the help or the output has changed, rewrite the pages: `SWALIGN_WRITE_DOCS=1 cargo test --test it docs`.

#[path = "docs/cli.rs"]
mod cli;
#[path = "docs/pages.rs"]
mod pages;

use crate::common::command::{command, finish};
use crate::common::{folder::Folder, repository};
use std::collections::BTreeSet;

/// Compares a page with its file, or writes the file if SWALIGN_WRITE_DOCS is set. `tests` is the filter of its tests.
pub fn is_written(file: &str, page: &str, tests: &str) {
    let path = repository().join(file);
    if std::env::var_os("SWALIGN_WRITE_DOCS").is_some() {
        return std::fs::write(path, page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let line = page.lines().zip(written.lines()).take_while(|(made, written)| made == written).count() + 1;
    assert!(page == written, "{file}:{line} is old: SWALIGN_WRITE_DOCS=1 cargo test --test it {tests}");
}

#[test]
fn the_command_line_is_documented() {
    is_written("docs/cli.md", &cli::page(&swalign::cli::pages::documented()), "docs");
}

#[test]
fn the_first_command_says_what_the_readme_has_it_say() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let line = |begin: &str, part: &str| {
        let found = readme.lines().find(|line| line.starts_with(begin) && line.contains(part));
        found.unwrap_or_else(|| panic!("README.md has no line with {begin} and {part}")).to_string()
    };
    let folder = Folder::new();
    let asked = line("cargo run --release -- ", " -o ");
    let inputs = asked.split(' ').skip_while(|word| *word != "--").skip(1).take_while(|word| *word != "-o");
    let output = folder.file("out.sam");
    let outcome = finish(command(&repository()).args(inputs).arg("-o").arg(output));
    outcome.ended(0);
    // The time follows, and is not compared.
    let summary = line("swalign: ", " aligned (").trim_end_matches("...").to_string();
    assert!(outcome.stderr.contains(&summary), "{summary}\n{}", outcome.stderr);
}

/// Searches in the guides find the numbers of hits that the guides state.
#[test]
fn searches_find_what_the_guides_say() {
    let scripts = pages::scripts();
    let printed = |part: &str| {
        let in_guides = scripts.iter().filter(|script| script.page.contains("guide"));
        let text: String = in_guides.map(|script| script.text.replace("\\\n   ", "") + "\n").collect();
        let line = text.lines().find(|line| line.starts_with("swalign search") && line.contains(part));
        let line = line.unwrap_or_else(|| panic!("no {part}"));
        let words: Vec<&str> = line.split_whitespace().skip(1).take_while(|word| *word != "-o").collect();
        finish(command(&repository()).args(words)).text().to_string()
    };
    let primers = printed(" search -k 4 -f data/artic");
    let with = |edits: &str| primers.lines().filter(|line| line.split('\t').nth(5) == Some(edits)).count();
    assert_eq!((primers.lines().count(), with("0"), with("4")), (1 + 218 + 5, 218, 5));
    assert_eq!(printed("--amplicons --format fasta").matches('>').count(), 131);
    assert!(printed("--amplicons any").lines().count() > 131);
    let barcodes = printed("ont_barcodes");
    let fields = barcodes.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let (reads, names): (BTreeSet<&str>, BTreeSet<&str>) = fields.map(|row| (row[0], row[3])).unzip();
    assert_eq!((reads.len(), names), (50, BTreeSet::from(["NB07"])));
}

/// The anchor of a heading, as on GitHub.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    let mut pages = vec![repository().join("README.md"), repository().join("CONTRIBUTING.md")];
    pages.push(repository().join("CHANGELOG.md"));
    pages.push(repository().join("workflow/README.md"));
    pages.push(repository().join("python/README.md"));
    for folder in ["docs", "docs/guide"] {
        let files = std::fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    let mut wrong = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let path = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let target = match path.is_dir() {
                true => Ok(String::new()),
                false => std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            };
            let mut headings = target.iter().flat_map(|text| text.lines());
            let is_there = |line: &str| anchor(line.trim_start_matches('#').trim()) == place;
            let found = place.is_empty() || headings.any(|line| line.starts_with('#') && is_there(line));
            if target.is_err() || !found {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All files with a version have the version of Cargo.toml. Files that are not part of the crate may be absent.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let of_package = |name: &str| format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let places = [
        ("Cargo.lock", of_package("swalign")),
        ("CITATION.cff", format!("\nversion: {version}\n")),
        ("CHANGELOG.md", format!("\n## {version} (")),
        ("fuzz/Cargo.lock", of_package("swalign")),
        ("python/Cargo.lock", of_package("swalign")),
        ("python/Cargo.lock", of_package("pyswalign")),
        ("python/Cargo.toml", of_package("pyswalign")),
        ("web/Cargo.lock", of_package("swalign")),
        ("web/Cargo.lock", of_package("swalign-web")),
        ("web/Cargo.toml", of_package("swalign-web")),
        ("web/package/package.json", format!("\"version\": \"{version}\"")),
        ("workflow/bioconda/meta.yaml", format!("{{% set version = \"{version}\" %}}")),
        ("workflow/nf-core/swalign/align/environment.yml", format!("bioconda::swalign={version}\"")),
        ("workflow/nf-core/swalign/align/main.nf", format!("/biocontainers/swalign:{version}--")),
        ("workflow/nf-core/swalign/align/main.nf", format!("/singularity/swalign:{version}--")),
        ("workflow/snakemake/wrapper/environment.yaml", format!("- swalign ={version}\n")),
    ];
    let mut wrong = Vec::new();
    for (file, wanted) in places {
        let part_of_the_crate = !file.contains('/');
        match std::fs::read_to_string(repository().join(file)) {
            Ok(text) if text.contains(&wanted) => {}
            Err(_) if !part_of_the_crate && !repository().join(".ci").exists() => {}
            _ => wrong.push(format!("{file} lacks {wanted:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
