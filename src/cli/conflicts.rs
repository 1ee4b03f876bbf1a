//! Options that exclude each other, or that a command, a format or an input does not support: one table, and the function
//! that checks a command line against it.
//!
//! clap reports conflicts of two options that need no reason (`conflicts_with`). [`super::paths`] checks files.

use super::sort::SORT_MEMORY;
use super::{Command, usage};
use crate::terms::alignment::Strands;
use crate::terms::options::{
    Format, HitFormat, MatesChoice, MatrixValues, Options, OutputFormat, PairSource, PatternSource,
    SearchFormat, SearchOptions, is_packed,
};
use When::{Always, If, With};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use std::path::Path;

/// A conflict. It applies if one of `options` is given and `when` holds.
struct Row {
    /// Names of the subcommands; the name of the aligner is empty.
    commands: &'static [&'static str],
    /// Options as a user writes them, such as `--mask`, or `--mask hard` for one value.
    options: &'static [&'static str],
    when: When,
    /// The reason and the remedy. The message is the option that was given, and then this text.
    text: &'static str,
}

enum When {
    Always,
    /// One of these options is given, too.
    With(&'static [&'static str]),
    If(fn(&CommandLine) -> bool),
}

/// A command line that clap accepts.
pub struct CommandLine<'a> {
    /// The name of the subcommand; empty for the aligner.
    name: &'a str,
    definition: &'a clap::Command,
    matches: &'a ArgMatches,
    command: &'a Command,
}

const ALIGNER: &[&str] = &[""];
const PAIRWISE: &[&str] = &["pairs", "all"];
const ALIGN: &[&str] = &["", "pairs", "all"];
const ALL: &[&str] = &["all"];
const SEARCH: &[&str] = &["search"];
const DEDUP: &[&str] = &["dedup"];

/// The modes without E-values.
/// Options of searches by profiles.
const PROFILES: &[&str] = &["--profile", "--iterations"];
const OTHER_MODES: &[&str] = &["--mode glocal", "--mode global", "--mode overlap"];
const BOTH_STRANDS: &[&str] = &["--strand both", "--both-strands"];

/// All conflicts. The first that applies is reported.
const CONFLICTS: &[Row] = &[
    // Commands.
    Row {
        commands: &["", "pairs"],
        options: &["--format matrix"],
        when: Always,
        text: "is for `swalign all`, which aligns all pairs of sequences in a file; use another format",
    },
    Row {
        commands: PAIRWISE,
        options: &["--format counts", "--format mtx"],
        when: Always,
        text: "is for reads and a panel of references; use another format",
    },
    Row {
        commands: PAIRWISE,
        options: &["--output"],
        when: If(is_panel),
        text: "ends in .mtx, the extension of the scores of reads and a panel of references; choose another name",
    },
    Row {
        commands: ALIGN,
        options: &["--all"],
        when: With(&["--max-hits"]),
        text: "reports all hits, so it has no limit on their number; leave --all or --max-hits out",
    },
    Row {
        commands: &["pairs"],
        options: &["--max-targets"],
        when: Always,
        text: "has no effect on `swalign pairs`, because each query has one target; leave it out, or limit the hits of a \
               pair with --max-hsps",
    },
    Row {
        commands: PAIRWISE,
        options: &["--no-dedup", "--filter"],
        when: Always,
        text: "has no effect on `swalign pairs` and `swalign all`, which align each pair separately and in full; leave it \
               out",
    },
    Row {
        commands: ALL,
        options: &["--mask hard"],
        when: Always,
        text: "masks only queries, but in `swalign all` every sequence is a query and a reference; use --mask low",
    },
    Row {
        commands: &["audit"],
        options: OTHER_MODES,
        when: Always,
        text: "is not supported by `swalign audit`, because mappers write local alignments; leave it out",
    },
    Row {
        commands: &["audit"],
        options: &["--part"],
        when: If(|line| line.run(|run| run.packed)),
        text: "writes rows that are not compressed, so that `swalign merge` can join the parts; give a name without .gz",
    },
    Row {
        commands: &["audit"],
        options: &["--part"],
        when: If(|line| line.run(|run| run.queries_are_records() && run.has_mates() && run.insert.is_none())),
        text: "needs --insert for mates, because a part cannot estimate the insert size from all pairs; give all parts the \
               same value, such as --insert 350,60",
    },
    Row {
        commands: PAIRWISE,
        options: &["--translate", "--genetic-code", "--frames", "--frameshift"],
        when: Always,
        text: "is for searches of many references; leave the subcommand out",
    },
    // Alignments of queries and their hits.
    Row {
        commands: ALIGNER,
        options: &["--format a3m", "--format sto"],
        when: If(|line| line.run(|run| run.translation.is_some_and(|translation| translation.queries))),
        text: "has a column for each residue of a query, but --translate aligns translations of it; use --format tab, json or text",
    },
    // Profiles.
    Row {
        commands: PAIRWISE,
        options: &["--profile", "--iterations", "--inclusion"],
        when: Always,
        text: "is for searches of many references; leave the subcommand out",
    },
    Row {
        commands: ALIGNER,
        options: PROFILES,
        when: If(|line| !is_list(line)),
        text: "writes lists; use --format tab, json or text",
    },
    Row {
        commands: ALIGNER,
        options: PROFILES,
        when: If(|line| has_mates(line) || is_split(line) || line.has_any(OTHER_MODES)),
        text: "is for single queries and local alignments; leave mates, --split and --mode out",
    },
    Row {
        commands: ALIGNER,
        options: PROFILES,
        when: If(|line| line.run(|run| run.scoring.gap_open.is_some_and(|open| open.costs().count() > 1))),
        text: "does not support gap costs of two pieces; give one number to --gap-open and --gap-extend",
    },
    Row {
        commands: ALIGNER,
        options: PROFILES,
        when: If(|line| {
            line.run(|run| {
                run.scoring.matrix.as_deref().is_some_and(|name| !name.eq_ignore_ascii_case("BLOSUM62"))
            })
        }),
        text: "has scores on the scale of BLOSUM62; leave --matrix out",
    },
    Row {
        commands: ALIGNER,
        options: PROFILES,
        when: With(&["--alphabet dna", "--translate", "--mask hard", "--ref-part", "--circular"]),
        text: "does not support --alphabet dna, --translate, --mask hard, --ref-part and --circular; leave them out",
    },
    Row {
        commands: ALIGNER,
        options: &["--profile"],
        when: With(&["--part", "--filter index", "--filter scan", "--filter bitap"]),
        text: "does not support --part and --filter; leave them out",
    },
    // Translations.
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: If(|line| !is_list(line)),
        text: "writes lists, because records of SAM, BAM and PAF have no frames; use --format tab, json or text",
    },
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: With(&["--alphabet dna"]),
        text: "decides on the alphabet; leave --alphabet out",
    },
    Row {
        commands: ALIGNER,
        options: &["--frameshift"],
        when: If(|line| line.run(|run| run.translation.is_some_and(|translation| translation.targets))),
        text: "is for translated queries and protein references; use --translate query",
    },
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: If(|line| {
            line.run(|run| {
                run.strands != Strands::Both
                    && run.translation.is_some_and(|translation| !translation.queries)
            })
        }),
        text: "aligns protein queries to both strands of the references; leave --strand out",
    },
    Row {
        commands: ALIGNER,
        options: &["--frames"],
        when: If(|line| line.run(|run| run.translation.is_some_and(|translation| !translation.queries))),
        text: "selects frames of queries, but --translate target has protein queries; leave it out",
    },
    Row {
        commands: ALIGNER,
        options: &["--frames"],
        when: With(&["--strand", "--both-strands", "--forward-only", "--frameshift"]),
        text: "selects single frames; leave --strand, --both-strands, --forward-only and --frameshift out",
    },
    Row {
        commands: ALIGNER,
        options: &["--frameshift"],
        when: If(|line| line.has_any(OTHER_MODES)),
        text: "is for local alignments; leave --mode out",
    },
    Row {
        commands: ALIGNER,
        options: &["--frameshift"],
        when: If(|line| line.run(|run| run.scoring.gap_open.is_some_and(|open| open.costs().count() > 1))),
        text: "does not support gap costs of two pieces; give one number to --gap-open and --gap-extend",
    },
    Row {
        commands: ALIGNER,
        options: &["--frameshift"],
        when: With(&["--filter index", "--filter scan", "--filter bitap"]),
        text: "scores all references; leave --filter out",
    },
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: If(has_mates),
        text: "does not support mates; align the reads as single reads",
    },
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: If(is_split),
        text: "does not split queries, because each frame has hits of its own; leave --split out",
    },
    Row {
        commands: ALIGNER,
        options: &["--translate"],
        when: With(&["--mask low", "--mask hard", "--ref-part", "--report", "--stats", "--circular"]),
        text: "does not support --mask, --ref-part, --report, --stats and --circular; leave them out",
    },
    // Matrices.
    Row {
        commands: ALL,
        options: &["--values"],
        when: If(|line| !is_matrix(line)),
        text: "is for --format matrix; leave it out, or use --format matrix",
    },
    Row {
        commands: ALL,
        options: &["--output"],
        when: If(|line| !is_matrix(line) && line.run(|run| run.output.as_deref().is_some_and(is_numpy))),
        text: "ends in .npy, the extension of a matrix; leave --format out, or choose another name",
    },
    Row {
        commands: ALL,
        options: &[
            "--min-score",
            "--secondary-ratio",
            "--max-hits",
            "--eqx",
            "--rename-references",
            "--read-group",
            "--evalue",
            "--max-targets",
            "--max-hsps",
            "--ties",
            "--tie-break",
            "--rank",
            "--min-identity",
            "--min-coverage",
            "--mask low",
            "--columns",
            "--header",
            "--part",
            "--resume",
            "--report",
            "--stats",
        ],
        when: If(is_matrix),
        text: "cannot be used with --format matrix, because a matrix contains all pairs; leave it out, or use another format",
    },
    Row {
        commands: ALL,
        options: &["--batch"],
        when: If(is_matrix),
        text: "has no effect on --format matrix, whose rows have batches of their own; leave it out",
    },
    Row {
        commands: ALL,
        options: &["--iddef"],
        when: If(
            |line| matches!(line.command, Command::Matrix(options) if options.values == MatrixValues::Score),
        ),
        text: "defines the identity, but the matrix contains scores; leave it out, or give --values identity",
    },
    Row {
        commands: ALL,
        options: &["--output"],
        when: If(|line| is_matrix(line) && line.run(|run| run.packed)),
        text: "of a matrix is not compressed; give a name without .gz",
    },
    // Formats.
    Row {
        commands: ALIGN,
        options: &["-a"],
        when: If(|line| line.run(|run| run.format != OutputFormat::Records(Format::Sam))),
        text: "is SAM, as in minimap2, but the output has another format; leave it out",
    },
    Row {
        commands: ALIGN,
        options: &["--copy-comments", "--cs", "--eqx"],
        when: If(|line| is_list(line) || is_panel(line)),
        text: "is for SAM, BAM and PAF; leave it out, or use --format sam",
    },
    Row {
        commands: ALIGN,
        options: &["--rename-references"],
        when: If(|line| is_list(line) || is_panel(line)),
        text: "is for SAM and BAM, because other formats contain any name; leave it out, or use --format sam",
    },
    Row {
        commands: PAIRWISE,
        options: &["--read-group"],
        // MultiQC gets the sample of the read group.
        when: If(|line| is_list(line) && !line.has("--stats")),
        text: "is for SAM and BAM; leave it out, or use --format sam",
    },
    Row {
        commands: ALIGN,
        options: &["--sort"],
        when: If(|line| line.run(|run| run.format != OutputFormat::Records(Format::Bam))),
        text: "writes only BAM; name the output .bam, or leave --sort out",
    },
    Row {
        commands: ALIGN,
        options: &["--rank evalue", "--rank identity"],
        when: If(|line| !is_list(line)),
        text: "is for --format tab, json and text, because records of SAM, BAM and PAF are ranked by score; leave it out, or \
               use --format tab",
    },
    Row {
        commands: ALIGN,
        options: &["--tie-break hash"],
        when: If(is_list),
        text: "is for records of SAM, BAM and PAF; leave it out, or use --format sam",
    },
    Row {
        commands: ALIGN,
        options: &["--columns", "--header"],
        when: If(|line| line.run(|run| run.format != OutputFormat::Hits(HitFormat::Tab))),
        text: "is for --format tab; leave it out, or use --format tab",
    },
    Row {
        commands: ALIGN,
        options: &["--strand both", "--both-strands", "--strand minus"],
        when: With(&["--alphabet protein"]),
        text: "needs DNA; leave it out, or set --alphabet dna",
    },
    // Mates and split reads.
    Row {
        commands: ALIGNER,
        options: &["--interleaved"],
        when: If(|line| line.run(|run| matches!(run.mates, MatesChoice::File(_)))),
        text: "is for one file with both mates of each pair; leave it out, or give only one file of reads",
    },
    Row {
        commands: ALIGNER,
        options: &["--insert"],
        when: If(|line| !has_mates(line)),
        text: "is for mates; give two files of reads, or --interleaved",
    },
    Row {
        commands: ALIGNER,
        options: &["--clip hard"],
        when: If(|line| {
            line.run(|run| !matches!(run.format, OutputFormat::Records(Format::Sam | Format::Bam)))
        }),
        text: "is for SAM and BAM, because other formats have no clips; leave it out, or use --format sam",
    },
    Row {
        commands: ALIGNER,
        options: &["--clip hard"],
        when: If(|line| !is_split(line) && !line.has("--circular")),
        text: "is for supplementary records, but reads are not split; leave it out, or give --split",
    },
    Row {
        commands: ALIGN,
        options: &["--sort-memory"],
        when: If(|line| line.has_value_of_sort()),
        text: "is the older name of the value of --sort; give one of them, such as --sort=1G",
    },
    Row {
        commands: ALIGNER,
        options: &["--z-drop"],
        when: If(|line| line.matches.get_one::<i32>("z_drop") != Some(&0) && !is_split(line)),
        text: "has an effect only if reads are split; give --split",
    },
    Row {
        commands: ALIGN,
        options: &["--end-bonus"],
        when: If(|line| line.has_any(OTHER_MODES) && line.run(has_end_bonus)),
        text: "is for --mode local; in the other modes, it would not depend on the alignment",
    },
    Row {
        commands: ALIGN,
        options: &["--end-bonus"],
        when: If(|line| (is_matrix(line) || is_list(line)) && line.run(has_end_bonus)),
        text: "is for records; use --format sam, bam or paf",
    },
    // Panels.
    Row {
        commands: ALIGNER,
        options: &["--read-group"],
        when: If(is_panel),
        text: "is for SAM and BAM; leave it out, or use --format sam",
    },
    Row {
        commands: ALIGNER,
        options: &["--part", "--resume"],
        when: If(is_panel),
        text: "cannot be used with --format counts and mtx, because they are sums over all reads; leave it out, or write BAM",
    },
    Row {
        commands: ALIGNER,
        options: &["--output"],
        when: If(|line| is_panel(line) && line.run(|run| run.packed)),
        text: "of counts and matrices is not compressed; give a name without .gz",
    },
    Row {
        commands: ALIGNER,
        options: &["--format mtx"],
        when: If(|line| line.run(|run| run.output.is_none())),
        text: "needs an output file, because its header has the number of entries; name a file with -o",
    },
    // Parts of the references.
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: If(|line| line.run(Options::has_lanes)),
        text: "takes one lane; give each lane a run of its own",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: If(|line| has_mates(line) && !line.has("--insert")),
        text: "needs --insert for mates, because a part of the references is not enough to estimate the insert size; give \
               all parts the same value, such as --insert 350,60",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: With(&["--tie-break hash"]),
        text: "does not support --tie-break hash, which chooses among hits on all references; leave --tie-break out, or \
               split the queries with --part",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: If(|line| has_mates(line) && line.has_any(&["--mask low", "--mask hard"])),
        text: "does not support --mask for mates; leave --mask out",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: If(is_split),
        text: "cannot split reads, because the rest of a read depends on its hits on all references; give --no-split to \
               all parts",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: With(&["--circular"]),
        text: "does not support --circular, because a read across an origin has two records; use --part instead",
    },
    Row {
        commands: ALIGNER,
        options: &["--ref-part"],
        when: If(|line| line.run(|run| run.output.is_none())),
        text: "needs an output file, because only `swalign merge` can read the part; name a file with -o",
    },
    // Modes.
    Row {
        commands: ALIGN,
        options: OTHER_MODES,
        when: With(&["--evalue"]),
        text: "does not support --evalue, because its scores have no E-values; use --min-score",
    },
    Row {
        commands: ALIGN,
        options: OTHER_MODES,
        when: With(&["--rank evalue"]),
        text: "does not support --rank evalue, because its scores have no E-values; use --rank identity or score",
    },
    Row {
        commands: ALIGN,
        options: OTHER_MODES,
        when: With(&["--mask low", "--mask hard"]),
        text: "does not support --mask; leave --mask out, or use --mode local",
    },
    Row {
        commands: ALIGNER,
        options: OTHER_MODES,
        when: If(has_mates),
        text: "does not support mates; align the reads as single reads, or use --mode local",
    },
    Row {
        commands: ALIGNER,
        options: OTHER_MODES,
        when: If(is_split),
        text: "does not split reads; leave --split and --split-score out, or use --mode local",
    },
    Row {
        commands: ALIGNER,
        options: OTHER_MODES,
        when: With(&["--circular"]),
        text: "does not support --circular; leave --circular out, or use --mode local",
    },
    Row {
        commands: ALIGNER,
        options: OTHER_MODES,
        when: With(&["--filter index", "--filter scan", "--filter bitap"]),
        text: "has no minimum score, which --filter needs; leave --filter out, or use --mode local",
    },
    // Searches.
    Row {
        commands: SEARCH,
        options: &["--invert-match"],
        when: If(|line| {
            line.search(|run| {
                !matches!(run.format, SearchFormat::Tab | SearchFormat::Fasta | SearchFormat::Fastq)
            })
        }),
        text: "(-v) lists texts, not hits; use it with --format tab, fasta or fastq",
    },
    Row {
        commands: SEARCH,
        options: &["--format sam"],
        when: If(|line| line.search(|run| run.texts.iter().any(|text| text == Path::new("-")))),
        text: "reads the texts twice, first for its header, but stdin (-) can be read only once; give files",
    },
    Row {
        commands: SEARCH,
        options: &["--name full"],
        when: With(&["--format sam"]),
        text: "cannot be used with --format sam, because names in SAM have no spaces; leave one of them out",
    },
    Row {
        commands: SEARCH,
        options: &["--circular"],
        when: With(&["--format sam"]),
        text: "cannot be used with --format sam, because SAM cannot represent alignments across an origin; use another \
               format, such as bed",
    },
    Row {
        commands: SEARCH,
        options: &["--columns"],
        when: If(|line| line.search(|run| run.format != SearchFormat::Tab)),
        text: "is for --format tab; leave it out, or use --format tab",
    },
    Row {
        commands: SEARCH,
        options: &["--columns", "--orient"],
        when: With(&["--invert-match"]),
        text: "is for hits, but --invert-match (-v) lists texts without a hit; leave one of them out",
    },
    Row {
        commands: SEARCH,
        options: &["--orient"],
        when: If(|line| {
            line.search(|run| {
                matches!(run.format, SearchFormat::Bed | SearchFormat::Sam | SearchFormat::Count)
            })
        }),
        text: "is for --format tab, fasta, fastq and text; leave it out, or use one of them",
    },
    Row {
        commands: SEARCH,
        options: &["--output"],
        when: If(|line| {
            line.search(|run| run.part.is_some() && run.output.as_deref().is_some_and(is_packed))
        }),
        text: "of a part is not compressed, so that `swalign merge` can join the parts; give a name without .gz",
    },
    Row {
        commands: SEARCH,
        options: &["--summary"],
        when: With(&["--part"]),
        text: "counts hits in all texts, but a part reads only some of them; use it without --part, or count the rows of \
               the joined table",
    },
    // Amplicons and mates of searches.
    Row {
        commands: SEARCH,
        options: &["--pairs"],
        when: With(&["--amplicons any"]),
        text: "lists the pairs, but --amplicons any pairs every pattern with every pattern; leave one of them out",
    },
    Row {
        commands: SEARCH,
        options: &["--amplicons"],
        when: If(|line| line.search(is_one_primer)),
        text: "needs two patterns for each amplicon; give a file of patterns with -f, or use --amplicons any",
    },
    Row {
        commands: SEARCH,
        options: &["--strand plus", "--strand minus", "--revcomp no"],
        when: With(&["--amplicons"]),
        text: "cannot be used with --amplicons, which needs hits on both strands; leave it out",
    },
    Row {
        commands: SEARCH,
        options: &["--amplicons"],
        when: With(&["--format sam", "--format text"]),
        text: "supports --format tab, bed, fasta, fastq and count; use one of them",
    },
    Row {
        commands: SEARCH,
        options: &["--trim-primers", "--untrimmed-output"],
        when: If(|line| line.search(|run| !matches!(run.format, SearchFormat::Fasta | SearchFormat::Fastq))),
        text: "is for --format fasta and fastq, because the other formats have no records; use one of them",
    },
    Row {
        commands: SEARCH,
        options: &["--mates"],
        when: If(|line| line.search(|run| run.format != SearchFormat::Fastq)),
        text: "writes only FASTQ; give --format fastq with it",
    },
    Row {
        commands: SEARCH,
        options: &["--mates"],
        when: If(|line| line.search(|run| run.texts.len() > 1)),
        text: "has the second mates of one file; give one TEXT with it",
    },
    // Distinct sequences.
    Row {
        commands: DEDUP,
        options: &["--strand minus"],
        when: Always,
        text: "has no meaning in `swalign dedup`, because two reverse complements are equal if the sequences are; give \
               --strand plus, or --strand both to merge sequences with their reverse complements",
    },
    Row {
        commands: DEDUP,
        options: BOTH_STRANDS,
        when: With(&["--by prefix"]),
        text: "cannot be used with --by prefix, because a reverse complement begins at the other end; leave it out",
    },
    Row {
        commands: DEDUP,
        options: BOTH_STRANDS,
        when: With(&["--alphabet protein"]),
        text: "needs DNA, because proteins have one strand; leave it out, or set --alphabet dna",
    },
];

fn has_end_bonus(run: &Options) -> bool {
    run.scoring.end_bonus.is_some_and(|bonus| bonus > 0)
}

fn is_matrix(line: &CommandLine) -> bool {
    matches!(line.command, Command::Matrix(_))
}

/// Whether the output is a list of hits, or a matrix.
fn is_list(line: &CommandLine) -> bool {
    line.run(|run| matches!(run.format, OutputFormat::Hits(_)))
}

/// Whether the output has hits by reference.
fn is_panel(line: &CommandLine) -> bool {
    line.run(|run| matches!(run.format, OutputFormat::Panel(_)))
}

fn has_mates(line: &CommandLine) -> bool {
    line.run(Options::has_mates)
}

fn is_split(line: &CommandLine) -> bool {
    line.run(|run| run.split.is_some())
}

/// Whether a subcommand refuses an option with every value.
pub fn is_refused(command: &str, option: &Arg) -> bool {
    let name = option.get_long().map(|long| format!("--{long}"));
    let mut rows =
        CONFLICTS.iter().filter(|row| row.commands.contains(&command) && matches!(row.when, Always));
    name.is_some_and(|name| rows.any(|row| row.options.contains(&&*name)))
}

/// Whether a path has the extension of a NumPy array.
pub fn is_numpy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Whether the only pattern of a search would need another one to be a pair.
fn is_one_primer(run: &SearchOptions) -> bool {
    let pairs = run.amplicons.as_ref().map(|choice| &choice.pairs);
    let is_one = matches!(run.patterns, PatternSource::Letters(_));
    is_one && pairs.is_some_and(|pairs| *pairs != PairSource::Any)
}

impl<'a> CommandLine<'a> {
    pub fn new(
        definition: &'a clap::Command,
        matches: &'a ArgMatches,
        command: &'a Command,
    ) -> CommandLine<'a> {
        let (name, matches) = matches.subcommand().unwrap_or(("", matches));
        let definition = definition.find_subcommand(name).unwrap_or(definition);
        CommandLine { name, definition, matches, command }
    }

    /// Refuses a line to which a row of the table applies.
    pub fn check(&self) -> Result<(), clap::Error> {
        let mut rows = CONFLICTS.iter().filter(|row| row.commands.contains(&self.name));
        let conflict = rows.find_map(|row| {
            let option = row.options.iter().find(|option| self.has(option))?;
            self.holds(&row.when).then(|| format!("{option} {}", row.text))
        });
        conflict.map_or(Ok(()), |text| Err(usage(ErrorKind::ArgumentConflict, text)))
    }

    fn holds(&self, when: &When) -> bool {
        match when {
            Always => true,
            With(options) => self.has_any(options),
            If(holds) => holds(self),
        }
    }

    /// Whether an option is given, such as `--mask`, or with a value, such as `--mask hard`.
    fn has(&self, option: &str) -> bool {
        let (name, value) =
            option.split_once(' ').map_or((option, None), |(name, value)| (name, Some(value)));
        let Some(id) = find(self.definition, name).map(|argument| argument.get_id().as_str()) else {
            return false;
        };
        let is_given = self.matches.value_source(id) == Some(ValueSource::CommandLine);
        let mut values = self.matches.get_raw(id).into_iter().flatten();
        is_given && value.is_none_or(|value| values.any(|given| given == value))
    }

    /// Whether `--sort` is given with a value of its own.
    fn has_value_of_sort(&self) -> bool {
        let mut values = self.matches.get_raw("sort").into_iter().flatten();
        values.any(|value| value != SORT_MEMORY)
    }

    fn has_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }

    /// Whether the command is an alignment, and its options have a property.
    fn run(&self, has: impl FnOnce(&Options) -> bool) -> bool {
        match self.command {
            Command::Align(options) | Command::Audit(options) => has(options),
            Command::Matrix(options) => has(&options.run),
            _ => false,
        }
    }

    /// Whether the command is a search, and its options have a property.
    fn search(&self, has: impl FnOnce(&SearchOptions) -> bool) -> bool {
        match self.command {
            Command::Search(options) => has(options),
            _ => false,
        }
    }
}

/// The argument with a name such as `--format` or `-a`.
fn find<'a>(definition: &'a clap::Command, name: &str) -> Option<&'a Arg> {
    let is_named = |argument: &&Arg| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short().is_some_and(|short| name.strip_prefix('-') == Some(&*short.to_string())),
    };
    definition.get_arguments().find(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Arguments;
    use clap::CommandFactory;

    /// A misspelled option would never be refused.
    #[test]
    fn every_row_names_options_of_its_commands() {
        let definition = Arguments::command();
        for row in CONFLICTS {
            let others = if let With(options) = row.when { options } else { &[] };
            for command in row.commands {
                let command = definition.find_subcommand(command).unwrap_or(&definition);
                for option in row.options.iter().chain(others) {
                    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
                    let argument = find(command, name);
                    let argument = argument.unwrap_or_else(|| panic!("{} {name}", command.get_name()));
                    let values = argument.get_possible_values();
                    let is_value = |known: &clap::builder::PossibleValue| known.matches(value, false);
                    assert!(value.is_empty() || values.iter().any(is_value), "{option}");
                }
            }
        }
    }
}
