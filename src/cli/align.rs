//! The arguments of `swalign` and `swalign pairs`.

use super::circular::CircularFlags;
use super::mates::MateFlags;
use super::modes::check_mode;
use super::names::{FilterName, FormatName, ModeName, PresetName, ValuesName};
use super::paths::{check_about, check_extension, check_files, check_index, is_packed};
use super::ranked::{Ranked, RankedFlags, check_ref_part};
use super::sort::{SortFlags, check_parts};
use super::split::SplitFlags;
use super::{AgainFlag, Command, ThreadsFlag, first_given, usage, values};
use crate::alphabet::Alphabet;
use crate::options::{
    Circular, DeviceChoice, FilterChoice, Format, HitFormat, MatesChoice, MatrixOptions, MatrixValues, Mode,
    Options, OutputFormat, Preset, ReadGroup, ScoringChoice, Share,
};
use clap::error::ErrorKind;
use clap::{Arg, Args};
use std::path::{Path, PathBuf};

/// Least share of the best score that a further record of SAM, BAM and PAF reaches.
const SECONDARY_RATIO: f64 = 0.8;

#[derive(Args)]
pub struct All {
    /// Queries: FASTA or FASTQ, plain or gzip; - is stdin
    #[arg(value_name = "QUERY", required = true)]
    query: Option<PathBuf>,
    /// The file of the second mates, where QUERY has the first ones; then the references: FASTA, plain or gzip, or a
    /// database of `swalign index`; - is stdin
    #[arg(value_name = "[MATES] REFERENCE", required = true, num_args = 1..=2)]
    rest: Vec<PathBuf>,
    /// Take reads (FASTQ) as references, which are refused else, since mappers take the two in the other order
    #[arg(long)]
    reads_as_reference: bool,
    #[command(flatten)]
    mates: MateFlags,
    #[command(flatten)]
    split: SplitFlags,
    #[command(flatten)]
    circular: CircularFlags,
    #[command(flatten)]
    flags: Flags,
    /// Only part I of N of the references, from 1, such as 2/8: with the others, joined by `swalign merge`, the
    /// bytes of the whole
    ///
    /// For references that are larger than the memory. Parts are stretches of whole references, about equal in
    /// letters; one may be empty. A part reads all references twice, and holds the letters of its own only. It
    /// has a record of each query, so that `merge` needs all parts, and chooses anew. Of lists a part has lines for `merge` alone,
    /// which writes the list. REFERENCE must be a file. Mates need
    /// --insert, since a part can't tell the insert size that all references show.
    /// Queries whose hits are in other parts are searched down to --min-score: set it as high as will do.
    #[arg(
        long,
        value_name = "I/N",
        value_parser = values::share,
        help_heading = "Parts",
        conflicts_with = "part"
    )]
    ref_part: Option<Share>,
}

#[derive(Args)]
pub struct Pairs {
    /// Queries: FASTA or FASTQ, plain or gzip; - is stdin
    #[arg(value_name = "QUERY")]
    query: PathBuf,
    /// Targets, as many as queries; - is stdin
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

/// All against all.
#[derive(Args)]
pub struct Triangle {
    /// Sequences: FASTA or FASTQ, plain or gzip
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the cells of --format matrix hold: score, or identity in percent (--iddef) [default: score]
    ///
    /// The matrix is text with tabs, the names in the first line and column, or a NumPy array where the output's name ends
    /// in .npy. Each two sequences are aligned once, the earlier one as the query; without an alignment both are 0.
    #[arg(
        long,
        value_enum,
        value_name = "score|identity",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    values: Option<ValuesName>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Args)]
struct Flags {
    #[command(flatten)]
    scoring: ScoringFlags,
    #[command(flatten)]
    hits: HitFlags,
    #[command(flatten)]
    ranked: RankedFlags,
    #[command(flatten)]
    output: AlignOutputFlags,
    #[command(flatten)]
    about: AboutFlags,
    #[command(flatten)]
    parts: PartFlags,
    #[command(flatten)]
    machine: AlignMachineFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Scoring")]
struct ScoringFlags {
    /// Which ends of the sequences an alignment may leave out: local, glocal, global or overlap
    ///
    /// local: all. glocal: those of the reference, so the whole query is aligned. global: none, both are aligned whole.
    /// overlap: one end on each side, so that the end of one sequence overlaps the beginning of the other, or holds it
    /// whole. Any score is a hit in modes other than local, negative ones too, unless --min-score is given; there are no
    /// E-values, no filter and no mates, and the CPU computes.
    #[arg(long, value_enum, value_name = "MODE", default_value = "local", hide_possible_values = true)]
    mode: ModeName,
    /// Scoring by name [default: short for DNA, protein for protein]
    #[arg(long, value_enum, value_name = "NAME")]
    preset: Option<PresetName>,
    /// Score of a match
    #[arg(long = "match", value_name = "N", allow_negative_numbers = true, value_parser = values::score)]
    match_: Option<i32>,
    /// Penalty of a mismatch, a positive number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::penalty)]
    mismatch: Option<i32>,
    /// Penalty of opening a gap, a positive number; 0 makes gaps linear
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::penalty)]
    gap_open: Option<i32>,
    /// Penalty of each residue of a gap, the first included, a positive number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::penalty)]
    gap_extend: Option<i32>,
    /// Substitution matrix: BLOSUM45/50/62/80/90, PAM30/70/250, or a file in NCBI's format
    #[arg(long, value_name = "NAME|FILE")]
    matrix: Option<String>,
    /// What the sequences are [default: as the references look]
    #[arg(long, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
    /// Take letters in lower case, in queries and references, as N, or X of proteins: repeats that are masked so align
    /// nowhere, and records show N or X
    #[arg(long)]
    mask_lower_case: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
struct HitFlags {
    /// Least score of a hit [default: 20 x match, or 60 with a matrix; none in modes other than local]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::any_score)]
    min_score: Option<i32>,
    /// Least share of the best score, 0 to 1, that a further hit of a query must reach [default: 0.8; 0 with --format
    /// tab, json and text]
    #[arg(long, value_name = "RATIO", allow_negative_numbers = true, value_parser = values::ratio)]
    secondary_ratio: Option<f64>,
    /// Most records of a query: the best hit, and the next ones as secondary [default: 1; with --format tab, json and
    /// text as many as --max-targets lets in]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_hits: Option<usize>,
    /// Align DNA queries in both orientations [default, but not of pairs]
    #[arg(long, conflicts_with = "forward_only")]
    both_strands: bool,
    /// Align queries only as they are [default of pairs]
    #[arg(long)]
    forward_only: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct AlignOutputFlags {
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the output [default: by the output file's extension, .sam, .bam, .paf, .tab, .tsv, .json or .txt; sam
    /// without one]
    ///
    /// sam, bam and paf have records of queries. BAM is for nucleotides, and is not written to a terminal. PAF has
    /// minimap2's columns, the tags NM, AS, tp, de and cg, no header and no read groups. tab, json and text list ranked
    /// hits with bit scores and E-values: BLAST's table (-outfmt 6), an object a line, alignments to read. Text in a
    /// file whose name ends in .gz is packed into blocks of bgzf, which gzip unpacks.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatName>,
    #[command(flatten)]
    sort: SortFlags,
    /// Write = and X in CIGARs instead of M
    #[arg(long)]
    eqx: bool,
    /// Write _ for each letter that SAM forbids in a reference's name; else such a name is an error
    ///
    /// For SAM and BAM; PAF takes any name. A comment in the header (@CO) says how many names were changed, and
    /// shows the first ones. References whose names would then be one are an error.
    #[arg(long)]
    rename_references: bool,
    /// Read group of all records (PAF has none), such as '@RG\tID:run1\tSM:sample1'
    #[arg(short = 'R', long, value_name = "LINE", value_parser = ReadGroup::parse)]
    read_group: Option<ReadGroup>,
    /// Say only what went wrong
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more on stderr: the scoring, and what each batch took
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Args)]
#[command(next_help_heading = "About the run")]
struct AboutFlags {
    /// Write a page about the run: counts, depth along the references, identities, where reads differ, and the worst
    /// and best alignments
    ///
    /// One file of HTML, below 1 MB, that needs no network. Of a part it tells of that part alone; `swalign merge` joins
    /// no pages.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the same statistics as JSON
    ///
    /// The same bytes on every device, with any number of threads and any --batch. docs/output.md describes the keys,
    /// and docs/stats.schema.json has their schema.
    #[arg(long, value_name = "FILE.json")]
    stats: Option<PathBuf>,
}

#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct PartFlags {
    /// Only part I of N of the queries, from 1, such as 2/8: with the others, joined by `swalign merge` in their
    /// order, the bytes of the whole
    ///
    /// Parts are stretches of the file, about equal in bytes, cut between groups of some 76,800 letters, in which
    /// mates side by side stay together; one may be empty. Nothing is split on the disk, and a part reads only its own
    /// stretch, unless the file is gzip other than bgzf. `pairs` reads all targets. QUERY must be a file.
    #[arg(long, value_name = "I/N", value_parser = values::share)]
    part: Option<Share>,
    #[command(flatten)]
    again: AgainFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
struct AlignMachineFlags {
    /// What stands in front of the scores: auto, index, scan or none; changes speed and memory, never the answer
    ///
    /// index looks pieces of DNA queries up in an index of the references, which have at most 134 million letters
    /// then. scan (also named bitap) scans the references for the pieces, with a few edits. Both score only windows
    /// around the pieces, go on with shorter pieces until nothing can be missing, and search a query in full as soon as
    /// that costs less. auto builds an index where the queries repay it, and scans where they don't. none scores all of
    /// every reference at once.
    #[arg(long, value_name = "NAME", default_value = "auto", value_enum, hide_possible_values = true)]
    filter: FilterName,
    /// Compute what is the same every time it comes: queries that equal others or their reverse complements, and
    /// stretches of the references that stand elsewhere as well; changes speed and memory, never the answer
    #[arg(long)]
    no_dedup: bool,
    /// Where to compute: auto, cpu, gpu, all, gpu:INDEX, gpu:NAME or gpu:PCI-ID
    ///
    /// auto takes the best real GPU; the CPU where there is none, or where the work takes the CPU less time
    /// than a GPU takes to start. all takes every real GPU, and gpu:0,1 those two. A device that is named
    /// and missing is an error. `swalign devices` lists them. cpu:NAME takes an instruction set: avx512, avx2,
    /// sse4.1, baseline. The answer is the same on every device. Of NVIDIA cards, auto, gpu and all take those
    /// that CUDA_VISIBLE_DEVICES grants (else SLURM_STEP_GPUS, SLURM_JOB_GPUS), where one of them is set; that
    /// they can't be opened is an error.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device)]
    device: DeviceChoice,
    #[command(flatten)]
    threads: ThreadsFlag,
    /// Most queries of one batch [default: by their work]; changes memory and speed, never the answer
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    batch: Option<usize>,
    /// Run shaders with the driver's bounds checks on
    #[arg(long, hide = true)]
    checked_shaders: bool,
}

pub const NOTES: &str = "\
Gaps:
  A gap of k residues costs gap-open + k * gap-extend. With --gap-open 4 --gap-extend 2, length 1
  costs 6 and length 2 costs 8. Penalties are positive numbers, as in minimap2, bwa and BLAST.

Presets (match/mismatch/gap-open/gap-extend):
  short    1/4/6/1, bwa mem's; the default for DNA
  long     2/4/4/2, minimap2's
  blastn   2/3/5/2
  linear   1/1/0/2
  protein  BLOSUM62, 11/1; the default for protein
  --match, --mismatch, --gap-open, --gap-extend and --matrix override a preset's numbers.

Hits:
  A hit must reach --min-score, by default 20 x match for DNA (20 with the preset short) and 60 with
  a matrix. A query without a hit is an unmapped record.";

pub const EXAMPLES: &str = "\
Examples:
  swalign reads.fq.gz genome.fa > out.sam
  swalign --preset long --device gpu -o out.sam ont.fq.gz virus.fa
  swalign --sort -o out.bam reads_1.fq.gz reads_2.fq.gz genome.fa
  zcat reads.fq.gz | swalign --max-hits 5 -R '@RG\\tID:run1\\tSM:s1' - vectors.fa
  swalign --matrix BLOSUM50 --gap-open 13 --gap-extend 2 proteins.fa families.fa
  swalign pairs --both-strands amplicons.fa expected.fa
  swalign --part 2/8 --resume -o part.2.bam reads.fq.gz genome.fa
  swalign --ref-part 2/8 --resume -o part.2.bam reads.fq.gz database.fa
  swalign merge out.bam part.*.bam
  A file that is named like a subcommand is given as ./pairs, ./search or ./devices.

Exit codes: 0 success, 1 failure, 2 wrong usage.";

pub const ALL_USAGE: &str = "swalign all [OPTIONS] FILE";

pub const ALL_EXAMPLES: &str = "\
Examples:
  swalign all proteins.fa > pairs.tsv
  swalign all --evalue 1e-5 --min-coverage 50 --format json -o pairs.json proteins.fa
  swalign all --mode global --columns qseqid,sseqid,score,pident genes.fa
  swalign all --format matrix --values identity --mode global -o identities.tsv genes.fa
  swalign all -o scores.npy proteins.fa
  swalign all --part 2/8 -o part.2.tsv proteins.fa

Exit codes: 0 success, 1 failure, 2 wrong usage.";

pub const PAIRS_USAGE: &str = "swalign pairs [OPTIONS] QUERY TARGET";

pub const PAIRS_EXAMPLES: &str = "\
Examples:
  swalign pairs reads.fq.gz templates.fa > out.sam
  swalign pairs --both-strands -o out.bam amplicons.fa expected.fa
  swalign pairs --preset long -o genomes.paf mt_human.fa mt_orang.fa
  swalign pairs --matrix BLOSUM50 --gap-open 13 --gap-extend 2 proteins.fa homologs.fa
  zcat reads.fq.gz | swalign pairs --eqx - templates.fa
  swalign pairs --part 2/8 --resume -o part.2.bam reads.fq.gz templates.fa

Exit codes: 0 success, 1 failure, 2 wrong usage.";

impl All {
    pub fn resolve(self, command_line: String) -> Result<Options, clap::Error> {
        let (mates, reference) = self.mates.place(self.rest);
        let (Some(query), Some(reference)) = (self.query, reference) else {
            return Err(usage(ErrorKind::MissingRequiredArgument, "give QUERY and REFERENCE"));
        };
        self.mates.check(&query, &mates, self.ref_part)?;
        let options = self.flags.resolve(Mode::All, (query, mates), reference, command_line)?;
        check_parts(options.sort, self.ref_part)?;
        if self.ref_part.is_some() {
            check_ref_part(&options)?;
        }
        let (ref_part, reads_as_reference) = (self.ref_part, self.reads_as_reference);
        let insert = self.mates.insert();
        let is_long = options.scoring.preset == Some(Preset::Long) && options.scoring.mode.is_local();
        let split = self.split.resolve(is_long, ref_part)?;
        let hard_clips = self.split.hard_clips();
        let circular = self.circular.resolve(ref_part)?;
        let options =
            Options { ref_part, reads_as_reference, insert, split, hard_clips, circular, ..options };
        check_mode(&options)?;
        Ok(options)
    }
}

/// The help of an option of `swalign all`, whose defaults are others than those of queries against references.
pub fn help_of_all(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "format" => {
            let short = "Format of the output: tab, json, text, matrix, sam, bam or paf [default: by the output file's \
                         extension, .tab, .tsv, .json, .txt, .npy, .sam, .bam or .paf; tab without one]";
            let long = "tab, json and text list the hits, with bit scores and E-values: BLAST's table (-outfmt 6), an object a \
                        line, alignments to read. A matrix holds the scores of all, or with --values their identities, as \
                        text or in .npy as a NumPy array. sam, bam and paf have records of queries. Text in a file whose name \
                        ends in .gz is packed into blocks of bgzf, which gzip unpacks; a matrix is not.";
            option.help(short).long_help(format!("{short}\n\n{long}")).hide_possible_values(true)
        }
        "secondary_ratio" => option.help(
            "Least share of the best score, 0 to 1, that a further hit of a sequence must reach [default: 0]",
        ),
        "max_hits" => option.help("Most hits of a sequence [default: all]"),
        "max_targets" => option.help("Most sequences that a sequence has hits on [default: all]"),
        "max_hsps" => option.help("Most hits of a sequence on one other [default: 1]"),
        _ => option,
    }
}

impl Triangle {
    pub fn resolve(mut self, command_line: String) -> Result<Command, clap::Error> {
        let to_numpy = self.flags.output.output.as_deref().is_some_and(is_numpy);
        if to_numpy && self.flags.output.format.is_none() {
            self.flags.output.format = Some(FormatName::Matrix);
        }
        let is_matrix = matches!(self.flags.output.format, Some(FormatName::Matrix));
        let values = self.values.map(MatrixValues::from);
        let conflict = |text: &str| Err(usage(ErrorKind::ArgumentConflict, text));
        if values.is_some() && !is_matrix {
            return conflict("--values is for --format matrix");
        }
        if to_numpy && !is_matrix {
            return conflict(
                "a file whose name ends in .npy has a matrix; leave --format out, or give another name",
            );
        }
        let of_hits = self.flags.of_hits();
        let options = self.options(command_line)?;
        if !is_matrix {
            return Ok(Command::Align(Box::new(options)));
        }
        let of_list = [
            ("--part", options.part.is_some()),
            ("--resume", options.resume),
            ("--report or --stats", options.files_about().next().is_some()),
            ("an output in .gz", options.packed),
        ];
        if let Some(option) = of_hits.or(first_given(of_list)) {
            return conflict(&format!(
                "--format matrix takes no {option}: it holds all pairs; leave it out, or write a list"
            ));
        }
        let values = values.unwrap_or_default();
        Ok(Command::Matrix(Box::new(MatrixOptions { run: options, values, is_numpy: to_numpy })))
    }

    fn options(self, command_line: String) -> Result<Options, clap::Error> {
        if self.file == Path::new("-") {
            let text = "FILE is read twice, as queries and as references; save what stdin has to a file";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        let (file, none) = (self.file.clone(), MatesChoice::None);
        let options = self.flags.resolve(Mode::Triangle, (self.file, none), file, command_line)?;
        check_mode(&options)?;
        if matches!(options.filter, FilterChoice::Index | FilterChoice::Scan) {
            let text = "--filter is for queries against references; leave it out";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        Ok(options)
    }
}

/// Whether a file's name is that of a NumPy array.
fn is_numpy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

impl Pairs {
    pub fn resolve(self, command_line: String) -> Result<Options, clap::Error> {
        let options =
            self.flags.resolve(Mode::Pairs, (self.query, MatesChoice::None), self.target, command_line)?;
        check_mode(&options)?;
        Ok(options)
    }
}

impl Flags {
    /// The first option that was given of those that choose, order or show hits.
    fn of_hits(&self) -> Option<&'static str> {
        let HitFlags { min_score, secondary_ratio, max_hits, .. } = &self.hits;
        let given = [
            ("--min-score", min_score.is_some()),
            ("--secondary-ratio", secondary_ratio.is_some()),
            ("--max-hits", max_hits.is_some()),
            ("--eqx", self.output.eqx),
        ];
        first_given(given).or(self.ranked.of_hits())
    }

    /// The options of a command; what excludes each other is refused.
    fn resolve(
        self,
        mode: Mode,
        (query, mates): (PathBuf, MatesChoice),
        reference: PathBuf,
        command_line: String,
    ) -> Result<Options, clap::Error> {
        let Flags { scoring, hits, ranked, output, about, parts, machine } = self;
        if matches!(output.format, Some(FormatName::Matrix)) && mode != Mode::Triangle {
            let text =
                "--format matrix is for `swalign all`, which aligns all sequences of a file with each other";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let matrix = scoring.matrix.as_deref().map(Path::new);
        let mate_file = if let MatesChoice::File(path) = &mates { Some(&**path) } else { None };
        let inputs: Vec<&Path> = [&*query].into_iter().chain(mate_file).chain([&*reference]).collect();
        check_files(&inputs, matrix, output.output.as_deref())?;
        let named = [("--report", about.report.as_deref()), ("--stats", about.stats.as_deref())];
        check_about(named, inputs.iter().copied().chain(matrix), output.output.as_deref())?;
        if output.format.is_none() {
            check_extension(output.output.as_deref())?;
        }
        let named = output.output.as_deref().and_then(OutputFormat::of_file);
        let otherwise = match mode {
            Mode::Triangle => OutputFormat::Hits(HitFormat::Tab),
            Mode::All | Mode::Pairs => OutputFormat::Records(Format::default()),
        };
        let default = output.sort.default_format(otherwise);
        let format = output.format.map(OutputFormat::from).or(named).unwrap_or(default);
        let sort = output.sort.resolve(format)?;
        if sort.is_some() {
            check_index(&inputs, output.output.as_deref())?;
        }
        if hits.both_strands && scoring.alphabet == Some(Alphabet::Protein) {
            let text = "--both-strands needs DNA; leave it out or set --alphabet dna";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let to_file = output.output.as_deref().is_some_and(|path| path != Path::new("-"));
        let Ranked { evalue, limits, rank, identity, columns, table_header, page } =
            ranked.resolve(format, hits.max_hits, to_file, mode == Mode::Triangle)?;
        let is_list = matches!(format, OutputFormat::Hits(_)) || mode == Mode::Triangle;
        let ratio = if is_list { 0.0 } else { SECONDARY_RATIO };
        let packed =
            format != OutputFormat::Records(Format::Bam) && output.output.as_deref().is_some_and(is_packed);
        Ok(Options {
            mode,
            query,
            reference,
            mates,
            insert: None,
            output: output.output.filter(|path| path != Path::new("-")),
            report: about.report,
            stats: about.stats,
            format,
            sort,
            packed,
            rename_references: output.rename_references,
            reads_as_reference: mode == Mode::Triangle,
            masks_lower_case: scoring.mask_lower_case,
            alphabet: scoring.alphabet,
            scoring: ScoringChoice {
                preset: scoring.preset.map(Preset::from),
                match_: scoring.match_,
                mismatch: scoring.mismatch,
                gap_open: scoring.gap_open,
                gap_extend: scoring.gap_extend,
                matrix: scoring.matrix,
                mode: scoring.mode.into(),
            },
            both_strands: hits.both_strands || (mode != Mode::Pairs && !hits.forward_only),
            min_score: hits.min_score,
            evalue,
            secondary_ratio: hits.secondary_ratio.unwrap_or(ratio),
            limits,
            rank,
            columns,
            table_header,
            identity,
            page,
            split: None,
            hard_clips: false,
            circular: Circular::default(),
            part: parts.part,
            ref_part: None,
            resume: parts.again.resume,
            filter: machine.filter.into(),
            dedup: !machine.no_dedup,
            device: machine.device,
            threads: machine.threads.count(),
            batch: machine.batch,
            eqx: output.eqx,
            read_group: output.read_group,
            command_line,
            verbosity: if output.quiet { 0 } else { 1 + u8::from(output.verbose) },
            checked_shaders: machine.checked_shaders,
        })
    }
}
