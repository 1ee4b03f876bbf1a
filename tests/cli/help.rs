//! Help, and what a line that is not understood is told.

use super::*;

/// stdout of a line that must succeed.
fn printed(args: &[&str]) -> String {
    run_here(args).text().to_string()
}

/// stderr of a line that must be refused as wrong usage.
fn wrong(args: &[&str]) -> String {
    let outcome = run_here(args);
    outcome.ended(2);
    assert!(outcome.stdout.is_empty(), "{args:?}");
    outcome.stderr
}

#[test]
fn help_is_a_subcommand() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    for name in ["pairs", "all", "search", "grep", "dedup", "index", "merge", "devices", "completions"] {
        assert_eq!(printed(&["help", name]), printed(&[name, "--help"]), "{name}");
    }
    let said = wrong(&["help", "serach"]);
    assert!(said.contains("'serach' is not a subcommand; did you mean 'search'?"), "{said}");
    assert!(wrong(&["help", "qqq"]).contains("'qqq' is not a subcommand"));
}

#[test]
fn a_subcommand_that_is_nearly_right() {
    for (word, name) in [("serach", "search"), ("pair", "pairs"), ("device", "devices"), ("gerp", "grep")] {
        let said = wrong(&[word, "ACGT", "data/sars2.fa"]);
        let tip = format!("'{word}' is neither a file nor a subcommand; did you mean '{name}'?");
        assert!(said.contains(&tip), "{said}");
    }
    // A file is a file, whatever its name; and the name of one that is missing is no subcommand.
    let folder = folder(&[("serach", QUERY), ("ref.fa", REFERENCE)]);
    let outcome = folder.run(&["--device", "cpu", "--min-score", "10", "serach", "ref.fa"]);
    outcome.ended(0);
    assert_eq!(folder.run(&["serach", "ref.fa", "-o", "x.sam"]).code, Some(0));
    let outcome = folder.run(&["pairs.fa", "ref.fa"]);
    outcome.said(1, &["pairs.fa"]);
}

/// The lines behind `Usage:`.
fn usage(said: &str) -> Vec<&str> {
    let begin = said.find("Usage:").unwrap_or_else(|| panic!("no usage in {said}"));
    said[begin..].lines().take_while(|line| !line.is_empty()).collect()
}

#[test]
fn wrong_usage_shows_the_usage_of_its_own_command() {
    for (args, begin) in [
        (&["search", "ACGT"][..], "Usage: swalign search [OPTIONS] PATTERN TEXT..."),
        (
            &["search", "-v", "--format", "bed", "ACGT", "-"],
            "Usage: swalign search [OPTIONS] PATTERN TEXT...",
        ),
        (&["search", "ACGT", "-", "--besst"], "Usage: swalign search [OPTIONS]"),
        (&["grep"], "Usage: swalign grep [OPTIONS] PATTERN FILE..."),
        (&["grep", "x"], "Usage: swalign grep [OPTIONS] PATTERN FILE..."),
        (&["pairs", "-", "-"], "Usage: swalign pairs [OPTIONS] QUERY TARGET"),
        (&["pairs", "q", "t", "--presett", "long"], "Usage: swalign pairs [OPTIONS] QUERY TARGET"),
        (&["all"], "Usage: swalign all [OPTIONS] FILE"),
        (&["dedup"], "Usage: swalign dedup [OPTIONS] READS..."),
        (&["index"], "Usage: swalign index [OPTIONS] FASTA"),
        (&["merge", "data/sars2.fa"], "Usage: swalign merge [OPTIONS] <OUT> <PART>..."),
        (&["merge", "--nosuch"], "Usage: swalign merge"),
        (&["devices", "x"], "Usage: swalign devices [OPTIONS]"),
        (&["completions"], "Usage: swalign completions SHELL"),
        (&["-", "-"], "Usage: swalign [OPTIONS] QUERY [MATES] REFERENCE"),
        (&["q", "r", "--presett", "long"], "Usage: swalign [OPTIONS] QUERY [MATES] REFERENCE"),
        (&["q.fa"], "Usage: swalign [OPTIONS] QUERY [MATES] REFERENCE"),
    ] {
        let said = wrong(args);
        let usage = usage(&said);
        assert!(usage[0].starts_with(begin) && usage.len() <= 2, "{args:?}: {said}");
    }
    assert!(wrong(&["q", "r", "--presett", "long"]).contains("'--preset'"));
    assert_eq!(usage(&wrong(&[])).len(), 10, "who says nothing sees all");
}

#[test]
fn pairs_have_examples_of_their_own() {
    let help = printed(&["pairs", "--help"]);
    let examples = help.split("Examples:").nth(1).unwrap();
    let lines: Vec<&str> = examples.lines().filter(|line| line.contains("swalign")).collect();
    assert!(lines.len() >= 3 && lines.iter().all(|line| line.contains("swalign pairs ")), "{lines:?}");
    assert!(help.contains("Gaps:") && help.contains("Presets"));
}

#[test]
fn short_options_that_are_greps_say_so() {
    assert!(printed(&["search", "--help"]).contains("-v is grep's, and not --verbose"));
    let grep = printed(&["grep", "--help"]);
    assert!(grep.contains("-h is grep's, and help is --help") && grep.contains("-v is grep's"));
}
