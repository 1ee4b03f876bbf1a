//! `docs/cli.md` is what the command says of itself.
//!
//! When the help has changed, write the file anew: `SWALIGN_WRITE_DOCS=1 cargo test --test docs`.

mod common;

use common::command::{command, finish};
use common::repository;

const PAGE: &str = "docs/cli.md";
const COMMANDS: [&[&str]; 6] = [
    &["--help"],
    &["pairs", "--help"],
    &["search", "--help"],
    &["grep", "--help"],
    &["merge", "--help"],
    &["devices", "--help"],
];
/// Characters of a line. The help fits itself to its terminal, and where there is none, as in this
/// test, to this.
const COLUMNS: &str = "100";

fn page() -> String {
    let mut page = String::from(
        "# The command line\n\n\
         Generated from `--help` by `SWALIGN_WRITE_DOCS=1 cargo test --test docs`; do not edit.\n",
    );
    for args in COMMANDS {
        let outcome = finish(command(&repository()).env("COLUMNS", COLUMNS).args(args));
        assert_eq!(outcome.code, Some(0), "{args:?}: {}", outcome.stderr);
        let help = String::from_utf8(outcome.stdout).unwrap();
        page.push_str(&format!("\n## `swalign {}`\n\n```text\n", args.join(" ")));
        // An empty line between two paragraphs is indented.
        help.trim_end().lines().for_each(|line| page.extend([line.trim_end(), "\n"]));
        page.push_str("```\n");
    }
    page
}

#[test]
fn the_command_line_is_documented() {
    let (path, page) = (repository().join(PAGE), page());
    if std::env::var_os("SWALIGN_WRITE_DOCS").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let line = page.lines().zip(written.lines()).take_while(|(said, written)| said == written).count() + 1;
    assert!(
        page == written,
        "{PAGE} differs from the help, from its line {line} on; \
         write it anew with: SWALIGN_WRITE_DOCS=1 cargo test --test docs"
    );
}

#[test]
fn the_first_command_says_what_the_readme_has_it_say() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let line = |begin: &str, part: &str| {
        let found = readme.lines().find(|line| line.starts_with(begin) && line.contains(part));
        found.unwrap_or_else(|| panic!("README.md has no line with {begin} and {part}")).to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let asked = line("cargo run --release -- ", " -o ");
    let inputs = asked.split(' ').skip_while(|word| *word != "--").skip(1).take_while(|word| *word != "-o");
    let output = folder.path().join("out.sam");
    let outcome = finish(command(&repository()).args(inputs).arg("-o").arg(output));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // The time follows.
    let summary = line("swalign: ", " aligned (").trim_end_matches("...").to_string();
    assert!(outcome.stderr.contains(&summary), "{summary}\n{}", outcome.stderr);
}
