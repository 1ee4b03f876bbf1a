//! Help texts, their line breaks and examples, and messages for wrong usage.

use super::*;

/// stdout of a command line that must succeed.
fn printed(args: &[&str]) -> String {
    run_here(args).text().to_string()
}

/// stderr of a command line that must fail as wrong usage.
fn wrong(args: &[&str]) -> String {
    let outcome = run_here(args);
    outcome.ended(2);
    assert!(outcome.stdout.is_empty(), "{args:?}");
    outcome.stderr
}

#[test]
fn help_is_a_subcommand() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    for name in
        ["pairs", "all", "search", "grep", "dedup", "audit", "index", "merge", "devices", "completions"]
    {
        assert_eq!(printed(&["help", name]), printed(&[name, "--help"]), "{name}");
    }
    let said = wrong(&["help", "serach"]);
    assert!(said.contains("'serach'") && said.contains("'search'"), "{said}");
    assert!(wrong(&["help", "qqq"]).contains("'qqq'"));
}

#[test]
fn a_subcommand_that_is_nearly_right() {
    for (word, name) in [("serach", "search"), ("pair", "pairs"), ("device", "devices"), ("gerp", "grep")] {
        let said = wrong(&[word, "ACGT", "data/sars2.fa"]);
        assert!(said.contains(&format!("'{word}'")) && said.contains(&format!("'{name}'")), "{said}");
    }
    // A file may have any name. If a file is missing, its name is not taken for a subcommand.
    let folder = folder(&[("serach", QUERY), ("ref.fa", REFERENCE)]);
    let outcome = folder.run(&["--device", "cpu", "--min-score", "10", "serach", "ref.fa"]);
    outcome.ended(0);
    assert_eq!(folder.run(&["serach", "ref.fa", "-o", "x.sam"]).code, Some(0));
    let outcome = folder.run(&["pairs.fa", "ref.fa"]);
    outcome.said(1, &["pairs.fa"]);
}

/// The lines from `Usage:` to the next empty line.
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
        (&["audit", "x.bam"], "Usage: swalign audit [OPTIONS] RECORDS REFERENCE"),
        (&["index"], "Usage: swalign index [OPTIONS] FASTA"),
        (&["merge", "data/sars2.fa"], "Usage: swalign merge [OPTIONS] -o OUT PART..."),
        (&["merge", "-o", "out.sam"], "Usage: swalign merge [OPTIONS] -o OUT PART..."),
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
    assert_eq!(usage(&wrong(&[])).len(), 2, "an empty line shows all commands");
}

#[test]
fn pairs_have_examples_of_their_own() {
    let help = printed(&["pairs", "--help"]);
    let examples = help.split("Examples:").nth(1).unwrap();
    let lines: Vec<&str> = examples.lines().filter(|line| line.contains("swalign")).collect();
    assert!(lines.len() >= 3 && lines.iter().all(|line| line.contains("swalign pairs ")), "{lines:?}");
    assert!(help.contains("Gap costs:") && help.contains("Presets"));
}

#[test]
fn short_options_that_are_greps_say_so() {
    assert!(printed(&["search", "--help"]).contains("-v as in grep, not --verbose"));
    let grep = printed(&["grep", "--help"]);
    assert!(grep.contains("-h as in grep, not --help") && grep.contains("-v as in grep"));
}

/// The arguments of each command before `--help`.
const COMMANDS: [&[&str]; 11] = [
    &[],
    &["pairs"],
    &["all"],
    &["search"],
    &["grep"],
    &["dedup"],
    &["audit"],
    &["index"],
    &["merge"],
    &["devices"],
    &["completions"],
];

/// The help of a command on a terminal with this many columns.
fn help_of(name: &[&str], flag: &str, columns: usize) -> String {
    let mut command = command(&crate::common::repository());
    let outcome = finish(command.env("COLUMNS", columns.to_string()).args(name).arg(flag));
    outcome.text().to_string()
}

/// Whether a line starts an item of a list or a row of a table, so that the line before it may be short.
fn begins_item(line: &str) -> bool {
    let text = line.trim_start();
    let is_term = text.split_once(": ").is_some_and(|(term, _)| {
        term.split(", ")
            .all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    });
    let is_command = ["swalign ", "zcat ", "Usage: "].iter().any(|begin| text.starts_with(begin));
    text.starts_with('-') || text.contains("  ") || is_term || is_command
}

/// Column at which a continuation of `line` starts: its indentation, or the second column of a table.
fn continues_at(line: &str) -> usize {
    let indentation = line.len() - line.trim_start().len();
    match line[indentation..].find("  ") {
        Some(gap) => {
            let behind = &line[indentation + gap..];
            indentation + gap + (behind.len() - behind.trim_start().len())
        }
        None => indentation,
    }
}

/// Lines that are too short: the first word of the next line, which continues their paragraph, would have fit.
fn early_breaks(help: &str, columns: usize) -> Vec<String> {
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let is_early = |pair: &&[&str]| {
        let [line, next] = pair else { return false };
        let indentation = next.len() - next.trim_start().len();
        let continues =
            indentation == continues_at(line) || indentation == line.len() - line.trim_start().len();
        let word = next.split_whitespace().next().unwrap_or_default();
        let is_heading = !line.starts_with(' ') && line.ends_with(':');
        let fits = line.chars().count() + 1 + word.chars().count() <= columns;
        !line.is_empty() && !next.is_empty() && continues && !is_heading && !begins_item(next) && fits
    };
    lines.windows(2).filter(is_early).map(|pair| pair.join("\n")).collect()
}

#[test]
fn early_breaks_are_seen() {
    let broken = "Letters:\n  R matches A and G. A letter\n  of a text that matches";
    assert_eq!(early_breaks(broken, 40).len(), 1);
    assert_eq!(early_breaks(broken, 28), Vec::<String>::new());
    let option = "  -k, --max-edits <N>  Report hits with at\n                       most N edits";
    assert_eq!((early_breaks(option, 60).len(), early_breaks(option, 45).len()), (1, 0));
    let list = "Examples:\n  swalign a b\n  swalign c d\n\nTable:\n  a  b\n  c  d\n  x, y: two\n  z: one";
    assert_eq!(early_breaks(list, 80), Vec::<String>::new());
}

#[test]
fn help_fills_its_lines_at_any_width() {
    // Help is at most 100 columns wide.
    for (columns, shown) in [(60, 60), (80, 80), (100, 100), (140, 100)] {
        for name in COMMANDS {
            for flag in ["-h", "--help"].iter().filter(|flag| name != ["grep"] || **flag == "--help") {
                let help = help_of(name, flag, columns);
                let early = early_breaks(&help, shown);
                assert!(early.is_empty(), "{name:?} {flag}, {columns} columns:\n{}", early.join("\n--\n"));
                // A single word may be longer than a line.
                let long =
                    help.lines().find(|line| line.chars().count() > shown && line.trim().contains(' '));
                let is_option = |line: &str| line.trim_start().starts_with('-') || line.contains("swalign ");
                assert!(long.is_none_or(is_option), "{name:?} {flag}, {columns} columns: {long:?}");
            }
        }
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    let help = help_of(&[], "-h", 100);
    let lines = help.lines().count();
    assert!(lines <= 60, "{lines} lines:\n{help}");
    let hidden = ["--filter", "--no-dedup", "--batch", "--eqx", "--iddef"];
    let all = help_of(&[], "--help", 100);
    for option in hidden {
        assert!(!help.contains(option) && all.contains(option), "{option}");
    }
    // At most a quarter of the options continue on a second line.
    for name in COMMANDS.iter().filter(|name| **name != ["grep"]) {
        let help = help_of(name, "-h", 100);
        let options = help.lines().filter(|line| line.trim_start().starts_with('-')).count();
        let indented = help.lines().filter(|line| line.starts_with("          ")).count();
        assert!(indented <= options / 4, "{name:?}:\n{help}");
    }
}

/// The examples in the help of a command.
fn examples(name: &[&str]) -> Vec<String> {
    let help = help_of(name, "--help", 1000);
    let (_, examples) = help.rsplit_once("Examples:\n").unwrap_or_else(|| panic!("{name:?} has no examples"));
    let lines = examples.lines().take_while(|line| !line.is_empty());
    lines.map(|line| line.trim().to_string()).collect()
}

/// A folder with the files that the examples use.
#[cfg(unix)]
fn example_files() -> Folder {
    let genome = Random::new(20).sequence(Alphabet::Dna, 3000);
    let record = |name: &str, bases: &[u8]| [&b">"[..], name.as_bytes(), b"\n", bases, b"\n"].concat();
    let [read, mate, primer] = [&genome[500..650], &genome[700..850], &genome[1000..1020]];
    let mate = reverse_complement(mate);
    let right = reverse_complement(&genome[1180..1200]);
    let fastq = |read: &[u8]| {
        let qualities = vec![b'I'; read.len()];
        [&b"@r1\n"[..], read, b"\n+\n", &qualities, b"\n"].concat()
    };
    let folder = folder(&[("proteins.fa", PROTEINS), ("families.fa", PROTEINS), ("homologs.fa", PROTEINS)]);
    for name in ["genome.fa", "virus.fa", "vectors.fa", "mt_human.fa", "mt_orang.fa"] {
        folder.write(name, record("chr1", &genome));
    }
    for name in ["amplicons.fa", "expected.fa", "templates.fa", "sample1.fa", "sample2.fa"] {
        folder.write(name, record("a", read));
    }
    folder.write("genes.fa", [record("a", read), record("b", &mate)].concat());
    for name in ["primers.fa", "guides.fa", "adapters.fa"] {
        folder.write(name, [record("p_LEFT", primer), record("p_RIGHT", &right)].concat());
    }
    for name in ["reads.fq.gz", "reads_1.fq.gz", "ont.fq.gz"] {
        folder.write(name, gzip(&fastq(read)));
    }
    folder.write("reads.fq", fastq(read));
    folder.write("reads_2.fq.gz", gzip(&fastq(&mate)));
    folder.write("proteins.fa.gz", gzip(PROTEINS));
    for name in ["notes.txt", "log.txt", "list.txt", "lines.txt", "book.txt"] {
        folder.write(name, "an aproximate colour 2026-01-02\nword\nother\n");
    }
    for name in ["names.txt", "words.txt"] {
        folder.write(name, "word\n");
    }
    for (output, reads) in [
        ("bwa.bam", "reads.fq.gz"),
        ("mapper.bam", "reads.fq.gz"),
        ("minimap2.bam", "reads.fq.gz"),
        ("minimap2.paf", "reads.fq.gz"),
        ("sorted.bam", "--sort reads_1.fq.gz reads_2.fq.gz"),
    ] {
        folder.line(&format!("-q --preset short -o {output} {reads} genome.fa")).ended(0);
    }
    fs::create_dir(folder.file("docs")).unwrap();
    folder.copy("notes.txt", "docs/notes.md");
    folder
}

#[cfg(unix)]
#[test]
fn the_examples_of_the_help_run() {
    let folder = example_files();
    let bin = folder.file("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(program(), bin.join("swalign")).unwrap();
    for home in [".zfunc", ".local/share/bash-completion/completions"] {
        fs::create_dir_all(folder.file("home").join(home)).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let has_samtools = std::env::split_paths(&path).any(|place| place.join("samtools").exists());
    for name in COMMANDS {
        let examples = examples(name);
        assert!(examples.len() >= 2, "{name:?}");
        for line in examples {
            // Merging needs all parts of a run. The tests of parts cover it.
            if line.contains("merge") || (line.contains("samtools") && !has_samtools) {
                let words = line.split(['|', '>']).find(|command| command.contains("swalign ")).unwrap();
                let words = words.split_whitespace().map(std::ffi::OsString::from);
                assert!(swalign::cli::parse_line(words).is_ok(), "{line}");
                continue;
            }
            let mut shell = assert_cmd::Command::new("bash");
            shell.current_dir(folder.path()).env("HOME", folder.file("home"));
            shell.env("PATH", format!("{}:{path}", bin.display()));
            let outcome = finish(shell.args(["-o", "pipefail", "-c", &line]));
            assert_eq!(outcome.code, Some(0), "{line}\n{}", outcome.stderr);
        }
    }
}
