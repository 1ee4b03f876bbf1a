//! Lines of arguments, and what they become or why they are refused.

use super::*;

const SAM: OutputFormat = OutputFormat::Records(Format::Sam);
const BAM: OutputFormat = OutputFormat::Records(Format::Bam);
const PAF: OutputFormat = OutputFormat::Records(Format::Paf);
use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{
    DeviceChoice, DevicesChoice, EXTENSIONS, Mode, PerPiece, Preset, ReadGroup, ScoringChoice, Share,
};
use crate::terms::scoring::{AlignmentMode, Matrix, Scoring, Substitution};
use clap::ValueEnum;

fn parsed(words: &[&str]) -> Result<Command, clap::Error> {
    parse_from(["swalign"].iter().chain(words).map(OsString::from))
}

#[track_caller]
fn options(words: &[&str]) -> Options {
    match parsed(words) {
        Ok(Command::Align(options)) => *options,
        Ok(other) => panic!("{words:?} asks for {other:?}"),
        Err(error) => panic!("{words:?}: {error}"),
    }
}

/// Demands a usage error with all of `parts` in its text.
#[track_caller]
fn refused(words: &[&str], parts: &[&str]) {
    let error = parsed(words).expect_err("accepted");
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

#[test]
fn clap_finds_no_fault_with_the_definition() {
    Arguments::command().debug_assert();
}

#[test]
fn the_defaults() {
    let options = options(&["q.fa", "r.fa"]);
    assert_eq!(options.mode, Mode::All);
    assert_eq!((options.query, options.reference), ("q.fa".into(), "r.fa".into()));
    assert_eq!((options.output, options.alphabet, options.min_score), (None, None, None));
    assert_eq!(options.scoring, ScoringChoice::default());
    assert_eq!((options.secondary_ratio, options.ranked.limits.max_hits), (0.8, 1));
    assert_eq!((options.device, options.batch), (DevicesChoice::One(DeviceChoice::Auto), None));
    assert!(options.strands == Strands::Both && !options.eqx && !options.checked_shaders);
    assert!(options.threads >= 1);
    assert_eq!((options.verbosity, options.read_group), (1, None));
    assert_eq!(options.format, OutputFormat::Records(Format::Sam));
}

#[test]
fn every_flag_reaches_its_option() {
    let options = options(&[
        "--preset",
        "long",
        "--match",
        "3",
        "--mismatch",
        "5",
        "--ambiguous",
        "2",
        "--end-bonus",
        "6",
        "--gap-open",
        "0",
        "--gap-extend",
        "7",
        "--matrix",
        "PAM30",
        "--alphabet",
        "protein",
        "--min-score",
        "9",
        "--secondary-ratio",
        "0.5",
        "--max-hits",
        "4",
        "--device",
        "gpu:1",
        "-t",
        "3",
        "-o",
        "x.sam",
        "--forward-only",
        "--eqx",
        "-R",
        "@RG\\tID:x",
        "--batch",
        "8",
        "-v",
        "--checked-shaders",
        "-",
        "r.fa",
    ]);
    let scoring = ScoringChoice {
        preset: Some(Preset::Long),
        match_: Some(3),
        mismatch: Some(5),
        ambiguous: Some(2),
        iupac: false,
        end_bonus: Some(6),
        gap_open: PerPiece::of(&[0]),
        gap_extend: PerPiece::of(&[7]),
        matrix: Some("PAM30".to_string()),
        mode: AlignmentMode::Local,
        frameshift: None,
    };
    assert_eq!(options.scoring, scoring);
    assert_eq!(options.alphabet, Some(Alphabet::Protein));
    assert_eq!(
        (options.min_score, options.secondary_ratio, options.ranked.limits.max_hits),
        (Some(9), 0.5, 4)
    );
    assert_eq!(options.device, DevicesChoice::One(DeviceChoice::Gpu(Some("1".to_string()))));
    assert_eq!((options.threads, options.batch, options.verbosity), (3, Some(8), 2));
    assert_eq!(options.output, Some("x.sam".into()));
    assert!(options.strands == Strands::Plus && options.eqx && options.checked_shaders);
    assert_eq!(options.read_group.as_ref().map(ReadGroup::line), Some("@RG\tID:x"));
    assert_eq!(options.query, PathBuf::from("-"));
}

#[test]
fn subcommands_and_files_named_like_them() {
    let pairs = options(&["pairs", "q.fa", "t.fa", "-q", "-o", "-"]);
    assert_eq!((pairs.mode, pairs.strands), (Mode::Pairs, Strands::Plus));
    assert_eq!((pairs.verbosity, pairs.output), (0, None));
    assert_eq!(options(&["pairs", "--both-strands", "q.fa", "t.fa"]).strands, Strands::Both);
    assert_eq!(options(&["--strand", "minus", "q.fa", "t.fa"]).strands, Strands::Minus);
    assert!(matches!(parsed(&["devices"]), Ok(Command::Devices { json: false })));
    assert_eq!(options(&["./pairs", "devices"]).query, PathBuf::from("./pairs"));
    refused(&["pairs", "q.fa"], &["<TARGET>"]);
    refused(&["devices", "x"], &["'x'"]);
    refused(&["--eqx", "pairs", "q.fa", "t.fa"], &["'pairs'", "subcommand", "./pairs"]);
    refused(&["q.fa", "r.fa", "s.fa", "t.fa"], &["'t.fa'", "subcommand"]);
    refused(&["q.fa"], &["REFERENCE>"]);
    refused(&[], &["<QUERY>"]);
}

#[test]
fn numbers_out_of_range_name_flag_and_remedy() {
    for flag in ["--mismatch", "--gap-open", "--gap-extend"] {
        refused(&[flag, "-4", "q", "r"], &[flag, "positive", "4"]);
        refused(&[&format!("{flag}=-4"), "q", "r"], &[flag, "positive"]);
        refused(&[flag, "1.5", "q", "r"], &[flag, "whole number"]);
    }
    refused(&["--match", "-1", "q", "r"], &["--match", "positive", "1"]);
    for flag in ["--max-hits", "--min-score", "--threads", "--batch"] {
        refused(&[flag, "0", "q", "r"], &[flag, "1"]);
        refused(&[flag, "-3", "q", "r"], &[flag, "1"]);
    }
    for value in ["1.01", "-0.1", "NaN", "x"] {
        refused(&["--secondary-ratio", value, "q", "r"], &["--secondary-ratio", "from 0 to 1"]);
    }
    assert_eq!(options(&["--secondary-ratio", "0", "q", "r"]).secondary_ratio, 0.0);
    assert_eq!(options(&["--secondary-ratio", "1", "q", "r"]).secondary_ratio, 1.0);
}

#[test]
fn what_excludes_each_other_is_refused() {
    refused(&["-", "-"], &["stdin"]);
    refused(&["pairs", "-", "-"], &["stdin"]);
    refused(&["--both-strands", "--forward-only", "q", "r"], &["--forward-only"]);
    refused(&["-q", "-v", "q", "r"], &["--quiet"]);
    refused(&["q"], &["REFERENCE"]);
    refused(&["--rank", "identity", "q", "r"], &["--rank identity", "--format tab"]);
    refused(&["--columns", "std", "q", "r"], &["--columns", "--format tab"]);
    refused(&["--tie-break", "hash", "--format", "tab", "q", "r"], &["--tie-break hash", "--format sam"]);
    refused(&["--both-strands", "--alphabet", "protein", "q", "r"], &["--both-strands", "needs DNA"]);
}

/// Options that change nothing together are refused.
#[test]
fn what_has_no_effect_is_refused() {
    let matrix = ["all", "--format", "matrix"];
    refused(&[&matrix[..], &["--batch", "9", "f"]].concat(), &["--batch"]);
    refused(&[&matrix[..], &["--iddef", "1", "f"]].concat(), &["--iddef", "--values identity"]);
    assert!(parsed(&[&matrix[..], &["--iddef", "1", "--values", "identity", "f"]].concat()).is_ok());
    refused(&["--clip", "hard", "q", "r"], &["--clip hard", "not split", "give --split"]);
    refused(&["--clip", "hard", "--no-split", "-x", "short", "q", "r"], &["--clip hard", "not split"]);
    refused(&["--clip", "hard", "--split", "--format", "paf", "q", "r"], &["--clip hard", "SAM and BAM"]);
    for split in [&["--split"][..], &["-x", "short"], &["-x", "long"], &["--circular", "all"]] {
        assert!(options(&[split, &["--clip", "hard", "q", "r"]].concat()).hard_clips, "{split:?}");
    }
    assert!(parsed(&["--clip", "soft", "q", "r"]).is_ok(), "the default may be given");
}

#[test]
fn memory_for_sorting() {
    assert_eq!(options(&["q", "r"]).sort, None);
    assert_eq!(options(&["--sort", "q", "r"]).sort, Some(256 << 20));
    assert_eq!(options(&["--sort=3K", "q", "r"]).sort, Some(3 << 10));
    assert_eq!(options(&["--sort", "--sort-memory", "2G", "q", "r"]).sort, Some(2 << 30));
    let lines =
        [&["--sort", "q", "r"][..], &["--sort=3K", "q", "r"]].map(|words| options(words).command_line);
    assert_eq!(lines, ["swalign --sort q r", "swalign --sort q r"]);
    assert_eq!(options(&["--cs=long", "q", "r"]).command_line, "swalign --cs=long q r");
    refused(&["--sort=no", "q", "r"], &["--sort", "512M"]);
    refused(&["--sort=1G", "--sort-memory", "2G", "q", "r"], &["--sort-memory", "--sort=1G"]);
}

#[test]
fn an_output_never_overwrites_an_input() {
    let input = tempfile::NamedTempFile::new().unwrap();
    let path = input.path().to_str().unwrap();
    refused(&["-o", path, "q", path], &["--output", path]);
    refused(&["-o", path, path, "r"], &["--output", path]);
    options(&["-o", "/dev/null", "/dev/null", "r"]);
}

#[test]
fn formats_by_extension_and_by_name() {
    let format = |words: &[&str]| options(&[words, &["q", "r"]].concat()).format;
    for (file, expected) in [("x.sam", SAM), ("x.paf", PAF), ("a.b/x.y.PAF", PAF)] {
        assert_eq!(format(&["-o", file]), expected, "{file}");
    }
    for file in ["x", ".paf", "paf", "x.sam/paf", "x.", "-"] {
        assert_eq!(format(&["-o", file]), SAM, "{file}");
    }
    for file in ["x.tex", "x.gz", ".paf.gz", "x.bam.gz", "x.sam.bz2"] {
        refused(&["-o", file, "q", "r"], &[file, EXTENSIONS, "--format"]);
        assert_eq!(format(&["-o", file, "--format", "bam"]), BAM, "{file}");
    }
    let packed = |words: &[&str]| {
        let options = options(&[words, &["q", "r"]].concat());
        (options.format, options.packed)
    };
    assert_eq!(packed(&["-o", "x.sam.gz"]), (SAM, true));
    assert_eq!(packed(&["-o", "x.PAF.GZ"]), (PAF, true));
    assert_eq!(packed(&["-o", "x.sam.gz", "--format", "sam"]), (SAM, true));
    assert_eq!(packed(&["-o", "x.gz", "--format", "paf"]), (PAF, true));
    assert_eq!(packed(&["-o", "x.gz", "--format", "bam"]), (BAM, false));
    assert_eq!(packed(&["-o", "x.sam"]), (SAM, false));
    assert_eq!(format(&["--format", "paf"]), PAF);
    assert_eq!(format(&["--format", "sam", "-o", "x.paf"]), SAM);
    assert_eq!(format(&["--format", "paf", "-o", "x.sam"]), PAF);
    assert_eq!(format(&["--format", "bam"]), BAM);
    refused(&["--format", "cram", "q", "r"], &["--format", "sam", "bam", "paf"]);
}

#[test]
fn bam_is_not_for_terminals() {
    for (words, fine) in [
        (&["--format", "bam"][..], false),
        (&["--format", "bam", "-o", "-"], false),
        (&["--format", "bam", "-o", "/dev/stdout"], false),
        (&["-o", "x.bam"], true),
        (&["--format", "sam"], true),
        (&["--format", "paf"], true),
    ] {
        let parsed = || parsed(&[words, &["q", "r"]].concat()).unwrap();
        assert!(readable(parsed(), false).is_ok(), "{words:?}");
        let error = readable(parsed(), true).err().map(|error| error.to_string());
        assert_eq!(error.is_none(), fine, "{words:?}: {error:?}");
        assert!(error.is_none_or(|error| error.contains("-o") && error.contains("terminal")));
    }
}

#[test]
fn devices_by_name() {
    let choice = |text: &str| options(&["--device", text, "q", "r"]).device;
    let one = |text: &str| match choice(text) {
        DevicesChoice::One(device) => device,
        several => panic!("{several:?}"),
    };
    assert_eq!(one("cpu"), DeviceChoice::Cpu(None));
    assert_eq!(one("cpu:avx2"), DeviceChoice::Cpu(Some("avx2".to_string())));
    assert_eq!(one("plain"), DeviceChoice::Plain);
    assert_eq!(one("gpu"), DeviceChoice::Gpu(None));
    assert_eq!(choice("all"), DevicesChoice::AllGpus);
    assert_eq!(one("gpu:0000:3b:00.0"), DeviceChoice::Gpu(Some("0000:3b:00.0".to_string())));
    let two = DevicesChoice::Gpus(vec!["0".to_string(), "h200".to_string()]);
    assert_eq!((choice("gpu:0, h200"), choice("gpu:0,gpu:h200")), (two.clone(), two));
    for wrong in ["gpu:", "cpu:", "tpu", "gpu:0,", ""] {
        refused(&["--device", wrong, "q", "r"], &["--device", "auto, cpu, gpu"]);
    }
}

#[test]
fn threads_are_those_that_slurm_granted() {
    let all = default_threads(|_| None);
    let threads = |task: &str, node: &str| {
        default_threads(|name| match name {
            "SLURM_CPUS_PER_TASK" => Some(task.to_string()),
            "SLURM_CPUS_ON_NODE" => Some(node.to_string()),
            _ => None,
        })
    };
    assert_eq!(threads("3", "16"), 3);
    for senseless in ["", "0", "-1", "many", "4(x2)"] {
        assert_eq!(threads(senseless, "5"), 5, "{senseless:?}");
        assert_eq!(threads(senseless, senseless), all, "{senseless:?}");
    }
}

#[test]
fn the_command_line_is_one_line_without_tabs() {
    assert_eq!(
        options(&["-R", "@RG\tID:x", "a\nb.fa", "r"]).command_line,
        "swalign --read-group @RG ID:x a b.fa r"
    );
}

/// However it is computed, wherever it goes: the header says the same.
#[test]
fn the_command_line_has_what_changes_records() {
    let line = |words: &[&str]| options(&[words, &["q.fa", "r.fa"]].concat()).command_line;
    assert_eq!(line(&[]), "swalign q.fa r.fa");
    for words in [
        &["--part", "2/3"][..],
        &["-o", "x.bam", "-t3", "--device=cpu", "--batch", "7", "-q"],
        &["--output=x", "--format", "paf", "--filter", "none", "-v", "--checked-shaders"],
    ] {
        assert_eq!(line(words), "swalign q.fa r.fa", "{words:?}");
    }
    let expected = "swalign --eqx --match 2 --max-hits 3 q.fa r.fa";
    assert_eq!(line(&["--eqx", "-o", "x", "--max-hits=3", "--match", "2"]), expected);
    let pairs = options(&["pairs", "--both-strands", "--part", "1/2", "--", "q", "-t"]).command_line;
    assert_eq!(pairs, "swalign pairs --both-strands q -t");
    let search = parsed(&["search", "-k", "2", "-t", "2", "--revcomp=no", "ACGT", "a", "b"]);
    let Ok(Command::Search(search)) = search else { panic!("{search:?}") };
    assert_eq!(search.command_line, "swalign search --max-edits 2 --revcomp no ACGT a b");
}

/// Options without effect are refused, and the help does not name them.
#[test]
fn pairs_take_no_options_of_queries_against_references() {
    refused(&["pairs", "--max-targets", "3", "q", "r"], &["--max-targets", "--max-hsps"]);
    for (command, options) in
        [("pairs", &["--max-targets", "--no-dedup", "--filter"][..]), ("all", &["--no-dedup", "--filter"])]
    {
        let mut all = Arguments::command();
        let help = all.find_subcommand_mut(command).unwrap().render_long_help().to_string();
        for option in options {
            assert!(!help.contains(option), "{command} {option}");
        }
        for option in ["--no-dedup", "--filter=none", "--filter=auto"] {
            let named = option.split('=').next().unwrap();
            refused(&[command, option, "q", "r"][..if command == "all" { 3 } else { 4 }], &[named]);
        }
        let other = if command == "all" { "swalign pairs" } else { "swalign all" };
        assert!(!help.contains(&format!("default of {other}")) && !help.contains("for `swalign pairs`]"));
    }
    for format in ["tab", "json", "text"] {
        refused(&["pairs", "-R", "@RG\\tID:x", "--format", format, "q", "r"], &["--read-group", "SAM"]);
    }
    options(&["pairs", "-R", "@RG\\tID:x", "q", "r"]);
    options(&["all", "-R", "@RG\\tID:x", "--stats", "x_mqc.json", "q"]);
    assert!(!options(&["--no-dedup", "--max-targets", "3", "q", "r"]).dedup);
}

#[test]
fn parts_by_number() {
    let part = |text: &str| options(&["--part", text, "q", "r"]).part;
    assert_eq!(part("2/3"), Some(Share { number: 2, of: 3 }));
    assert_eq!(options(&["q", "r"]).part, None);
    for wrong in ["0/3", "4/3", "3", "1/", "/2", "1/0", "a/b", "1/2/3"] {
        refused(&["--part", wrong, "q", "r"], &["--part"]);
    }
}

#[test]
fn help_tells_what_is_so() {
    let long = Arguments::command().render_long_help().to_string();
    for &preset in Preset::value_variants() {
        let name = preset.to_possible_value().unwrap();
        assert_eq!(Preset::named(name.get_name()), Some(preset));
        let alphabet = if preset == Preset::Protein { Alphabet::Protein } else { Alphabet::Dna };
        let choice = ScoringChoice { preset: Some(preset), ..ScoringChoice::default() };
        let numbers = numbers(&choice.resolve(alphabet).unwrap());
        let line = long.lines().find(|line| line.trim_start().starts_with(&format!("{} ", name.get_name())));
        assert!(line.is_some_and(|line| line.contains(&numbers)), "{numbers}: {line:?}");
    }
    for name in Matrix::names() {
        let choice = ScoringChoice { matrix: Some(name.to_string()), ..ScoringChoice::default() };
        let scoring = choice.resolve(Alphabet::Protein).unwrap();
        assert_eq!(
            Matrix::named(name).unwrap().usual_gap_costs(),
            Some((scoring.gap_open, scoring.gap_extend))
        );
        let gaps = format!("{}/{}", scoring.gap_open, scoring.gap_extend);
        let help = long.split("--matrix <NAME|FILE>").nth(1).unwrap().split("--alphabet").next().unwrap();
        assert!(help.contains(&gaps), "{name}: {gaps}: {help}");
        let own = ScoringChoice { gap_open: PerPiece::of(&[7]), ..choice.clone() }
            .resolve(Alphabet::Protein)
            .unwrap();
        assert_eq!((own.gap_open, own.gap_extend), (7, scoring.gap_extend));
    }
    assert_eq!(Scoring::dna(1, 4, 4, 2).gap_cost(1), 6);
    assert_eq!(Scoring::dna(1, 4, 4, 2).gap_cost(2), 8);
    let words = long.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a gap of one residue costs 6, and a gap of two costs 8"));
    let short = Arguments::command().render_help().to_string();
    assert!(long.contains("Examples:") && !short.contains("Examples:"));
    assert!(!long.contains("checked-shaders") && !long.contains("plain,"));
    assert_eq!(Arguments::command().render_version(), concat!("swalign ", env!("CARGO_PKG_VERSION"), "\n"));
}

fn numbers(scoring: &Scoring) -> String {
    let gaps = format!("{}/{}", scoring.gaps().opens(), scoring.gaps().extends());
    match &scoring.substitution {
        Substitution::Equal { match_, mismatch, .. } => format!("{match_}/{mismatch}/{gaps}"),
        Substitution::Matrix(matrix) => format!("{}, {gaps}", matrix.name),
    }
}

#[test]
fn gap_costs_of_two_pieces_are_given_in_pairs() {
    let of = |words: &[&str]| options(&[words, &["q", "r"]].concat()).scoring;
    let choice = of(&["--preset", "long", "--gap-open", "4,24", "--gap-extend", "2,1"]);
    assert_eq!((choice.gap_open, choice.gap_extend), (PerPiece::of(&[4, 24]), PerPiece::of(&[2, 1])));
    let expected = Scoring::dna(2, 4, 4, 2).with_ambiguous(1).with_gap_piece(24, 1).unwrap();
    assert_eq!(choice.resolve(Alphabet::Dna).unwrap(), expected);
    assert!(expected.to_string().ends_with("gap_open=4,24 gap_extend=2,1"));
    let error = |words: &[&str]| of(words).resolve(Alphabet::Dna).expect_err("refused").to_string();
    for words in
        [&["--gap-open", "4,24"][..], &["--gap-extend", "2,1"], &["--gap-open", "4,24", "--gap-extend", "2"]]
    {
        let text = error(words);
        assert!(text.contains("--gap-open") && text.contains("--gap-extend"), "{words:?}: {text}");
    }
    for (open, extend) in [("4,4", "2,1"), ("4,24", "2,2"), ("4,3", "2,1")] {
        let text = error(&["--gap-open", open, "--gap-extend", extend]);
        assert!(text.contains("higher cost") && text.contains("lower cost"), "{text}");
    }
    assert!(error(&["--gap-open", "4,24", "--gap-extend", "2,0"]).contains("--gap-extend 0"));
    for value in ["4,", ",4", "4;5"] {
        refused(&["--gap-open", value, "q", "r"], &["--gap-open", "whole number"]);
    }
    refused(&["--gap-open", "4,5,6", "q", "r"], &["--gap-open", "one number or two"]);
    refused(&["--gap-open", "4,-5", "q", "r"], &["--gap-open", "positive", "5"]);
}
