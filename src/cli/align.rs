//! The arguments of `swalign` and `swalign pairs`.

use super::circular::CircularFlags;
use super::conflicts::{is_numpy, is_refused};
use super::lanes::{LanesChoice, SheetFlag, with_groups};
use super::mates::MateFlags;
use super::names::FormatName;
use super::paths::{check_about, check_extension, check_files, check_index};
use super::profile::ProfileFlags;
use super::ranked::RankedFlags;
use super::sort::SortFlags;
use super::split::SplitFlags;
use super::translate::TranslateFlags;
use super::{AgainFlag, Command, InputFlags, NO_HEADING, ThreadsFlag, usage, values};
use crate::terms::alignment::{Frames, Strands};
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{
    ANCHOR, CsForm, DevicesChoice, FilterChoice, Format, HitFormat, HitLimits, MatrixOptions, MatrixValues,
    Mode, Options, OutputFormat, PerPiece, Preset, Rank, ReadGroup, SampledKmers, ScoringChoice,
    SequencingLane, Share, TieRule, is_packed,
};
use crate::terms::scoring::AlignmentMode;
use clap::error::ErrorKind;
use clap::{Arg, Args};
use std::path::{Path, PathBuf};

/// Minimum ratio of the score of a secondary record to the best score, in SAM, BAM and PAF.
pub const SECONDARY_RATIO: f64 = 0.8;
/// The end bonus of short reads, as in bwa mem.
const DEFAULT_END_BONUS: i32 = 5;

#[derive(Args)]
pub struct All {
    /// Queries: FASTA, FASTQ or unaligned BAM, plain or gzip (- for stdin)
    ///
    /// Several files separated by commas are lanes, each with its own read group.
    #[arg(value_name = "QUERY", required = true)]
    query: Option<PathBuf>,
    /// References: FASTA, plain or gzip, or a database of `swalign index`
    ///
    /// If two files are given, the first contains the second mates of the pairs in QUERY (for lanes a list of files). - reads
    /// from stdin.
    #[arg(value_name = "[MATES] REFERENCE", required_unless_present = "sample_sheet", num_args = 1..=2)]
    rest: Vec<PathBuf>,
    /// Accept FASTQ as REFERENCE
    ///
    /// By default it is an error, since other mappers expect the reference before the reads.
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    reads_as_reference: bool,
    #[command(flatten)]
    mates: MateFlags,
    #[command(flatten)]
    sheet: SheetFlag,
    #[command(flatten)]
    circular: CircularFlags,
    #[command(flatten)]
    split: SplitFlags,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    anchor: AnchorFlag,
    /// Align with part I of N of the references, such as 2/8; `swalign merge` joins the parts
    ///
    /// For references larger than memory. The joined output is identical to that of a run without --ref-part. A part is a
    /// range of whole references, and the parts are about equal in residues; a part may be empty. Each part reads all
    /// references twice, but keeps only its own in memory. It writes the hits of each query to a binary file that only merge
    /// can read; the name of the file or --format selects the format of the joined output. REFERENCE must be a file. Mates
    /// need --insert, because a part cannot estimate the insert size from all references. A query whose hits are in other
    /// parts is searched down to --min-score, so a high --min-score saves time.
    #[arg(
        long,
        value_name = "I/N",
        value_parser = values::share,
        hide_short_help = true,
        help_heading = "Parts",
        conflicts_with = "part"
    )]
    ref_part: Option<Share>,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
pub struct AnchorFlag {
    /// Report hits below the proven minimum score if they contain N equal bases in a row; 0 reports none
    ///
    /// Without --min-score, a read is searched in full down to a score that depends on its length and on the total length of
    /// the references: two thirds of the best possible score for 150 bases and a bacterial genome. A read without such a hit
    /// gets the best alignment that contains a run of N equal bases and scores at least 30 x match. The tag ya:i:1 marks these
    /// records, and their mapping quality is at most 30. With --min-score, reads are searched in full down to that score, and
    /// this option has no effect.
    #[arg(
        long,
        value_name = "N",
        default_value_t = ANCHOR,
        value_parser = values::anchor,
        hide_short_help = true
    )]
    pub anchor: u32,
}

#[derive(Args)]
pub struct PairArgs {
    /// Queries: FASTA, FASTQ or unaligned BAM, plain or gzip (- for stdin)
    #[arg(value_name = "QUERY")]
    query: PathBuf,
    /// Targets: one for each query (- for stdin)
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
    /// Values in --format matrix: score, or identity in percent [default: score]
    ///
    /// The matrix is tab-separated text with names in the first row and column, or a NumPy array if the name of the output
    /// ends in .npy. The value of a pair without an alignment is 0. --iddef defines the identity.
    #[arg(
        long,
        value_enum,
        value_name = "score|identity",
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = NO_HEADING
    )]
    values: Option<MatrixValues>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Args)]
struct Flags {
    #[command(flatten)]
    output: AlignOutputFlags,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    translate: TranslateFlags,
    #[command(flatten)]
    profiles: ProfileFlags,
    #[command(flatten)]
    scoring: ScoringFlags,
    #[command(flatten)]
    hits: HitFlags,
    #[command(flatten)]
    ranked: RankedFlags,
    #[command(flatten)]
    about: AboutFlags,
    #[command(flatten)]
    parts: PartFlags,
    #[command(flatten)]
    machine: AlignMachineFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Scoring")]
pub struct ScoringFlags {
    /// Alignment mode: local, glocal, global or overlap
    ///
    /// local aligns any part of the query with any part of the reference. glocal aligns the whole query with a part of the
    /// reference. global aligns both from end to end. overlap aligns the end of one sequence with the start of the other, or
    /// the whole of one with a part of the other. In modes other than local, hits may have any score, even below 0, unless
    /// --min-score is given. These modes have no E-values, filter or mates.
    #[arg(long, value_parser = values::mode(), value_name = "MODE", default_value = "local", hide_possible_values = true)]
    mode: AlignmentMode,
    /// Preset: short, long, map-hifi and others [default: short or protein]
    ///
    /// The default is short for DNA and protein for proteins. By default reads are not split: only if a preset for reads or
    /// assemblies is given, supplementary records are written. The presets are listed below. minimap2's sr is short, and its
    /// map-pb is map-ont.
    #[arg(short = 'x', long, value_enum, value_name = "NAME", hide_possible_values = true)]
    preset: Option<Preset>,
    /// Score of a match
    #[arg(long = "match", value_name = "N", allow_negative_numbers = true, value_parser = values::score)]
    match_: Option<i32>,
    /// Penalty of a mismatch (positive)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::penalty)]
    mismatch: Option<i32>,
    /// Penalty of N and other ambiguous codes [default: 1 or --mismatch]
    ///
    /// The penalty (a positive number) of a pair in which at least one residue is an ambiguous code. bwa and minimap2 use 1,
    /// and so does a preset for reads or assemblies if it is given. In all other cases the default is the penalty of a
    /// mismatch. If the penalty is less than --mismatch, queries with ambiguous codes, and all queries if the references
    /// have many isolated codes, have higher proven scores. A matrix has scores of its own.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::penalty)]
    ambiguous: Option<i32>,
    /// Match ambiguous codes with the bases that they stand for: R with A and G, N with all
    ///
    /// Two codes match if they have a base in common, in references and in queries. Other pairs are mismatches. A long run of
    /// N matches everything, so it attracts hits.
    #[arg(long, hide_short_help = true, conflicts_with = "ambiguous")]
    iupac: bool,
    /// Bonus of an alignment for each end of the query that it reaches [default: 5 with --preset short, otherwise 0]
    ///
    /// A difference next to the end of a read then stays in the alignment instead of being clipped. The best alignment is that
    /// of the highest score with these gains, but AS, XS, the mapping quality and all limits leave them out. bwa mem has 5
    /// (-L), minimap2 10 for short reads. Only SAM, BAM and PAF have a default other than 0. With --matrix or --iupac, the
    /// bonus and the highest score of two bases are together at most 127.
    #[arg(
        long,
        alias = "clip-penalty",
        value_name = "N",
        hide_short_help = true,
        allow_negative_numbers = true,
        value_parser = values::penalty
    )]
    end_bonus: Option<i32>,
    /// Penalty of opening a gap (positive; 0 for linear gap costs)
    ///
    /// Two numbers, as in --gap-open 4,24 --gap-extend 2,1, are the costs of two pieces, as in minimap2: each gap costs the
    /// lower of the two. The second piece opens at a higher cost and extends at a lower cost. With --profile, one number replaces
    /// the gap costs of models.
    #[arg(long, value_name = "N[,N]", allow_negative_numbers = true, value_parser = values::gap_penalties)]
    gap_open: Option<PerPiece>,
    /// Penalty of each residue of a gap, including the first (positive)
    ///
    /// Two numbers if --gap-open has two. With --profile, one number replaces the gap costs of models.
    #[arg(long, value_name = "N[,N]", allow_negative_numbers = true, value_parser = values::gap_penalties)]
    gap_extend: Option<PerPiece>,
    /// Substitution matrix: BLOSUM45/50/62/80/90, PAM30/70/250 or an NCBI file
    ///
    /// A built-in matrix sets the gap costs that blastp uses with it: 14/2 for BLOSUM45 and PAM250, 13/2 for BLOSUM50, 11/1
    /// for BLOSUM62, 10/1 for BLOSUM80, BLOSUM90 and PAM70, 9/1 for PAM30. BLOSUM80 is in half bits, as in blastp. BLOSUM80_3
    /// is in thirds of bits, as in EMBOSS, Biopython and parasail, with 15/2. With a file, the preset sets the gap costs.
    /// --gap-open and --gap-extend override both.
    #[arg(long, value_name = "NAME|FILE")]
    pub matrix: Option<String>,
    /// Sequence type [default: detected from the references]
    #[arg(long, hide_short_help = true, value_name = "dna|protein", value_parser = values::alphabet(), hide_possible_values = true)]
    alphabet: Option<Alphabet>,
    /// Read lower-case residues as N (X in proteins)
    ///
    /// Applies to queries and references. Soft-masked repeats then align with nothing, and the output shows them as N or X.
    #[arg(long, hide_short_help = true)]
    mask_lower_case: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
pub struct MinScoreFlag {
    /// Report hits that score at least N [default: 20 x match]
    ///
    /// With a matrix, the default is 60. There is no default in modes other than local.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::any_score)]
    min_score: Option<i32>,
}

#[derive(Args)]
#[command(next_help_heading = "Hits")]
struct HitFlags {
    #[command(flatten)]
    least: MinScoreFlag,
    /// Report secondary hits that score at least RATIO x the best score [default: 0.8]
    ///
    /// RATIO is from 0 to 1. With --format tab, json and text, the default is 0. On references of
    /// more than 134 million bases, a secondary hit must also score enough to lower a mapping quality
    /// of 60, unless this option is given.
    #[arg(long, hide_short_help = true, value_name = "RATIO", allow_negative_numbers = true, value_parser = values::ratio)]
    secondary_ratio: Option<f64>,
    /// Report at most N hits per query [default: 1]
    ///
    /// All but the best hit are secondary. With --max-targets, or with --format tab, json or text, there is no such limit by default.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max_hits: Option<usize>,
    /// Report all hits that pass the other limits, such as --min-identity and --secondary-ratio
    ///
    /// It lifts the defaults of --max-hits, --max-targets and --max-hsps. The memory does not grow with the number of hits of
    /// all queries, only with those of the query that has most: about 500 bytes for each of them.
    #[arg(long, hide_short_help = true)]
    all: bool,
    /// Strands of DNA queries to align: both, plus or minus [default: both]
    ///
    /// minus aligns only the reverse complement of each query. The other strand then has no influence on MAPQ.
    #[arg(
        long,
        hide_short_help = true,
        value_enum,
        value_name = "both|plus|minus",
        hide_possible_values = true
    )]
    strand: Option<Strands>,
    /// Align both strands
    #[arg(long, hide = true, conflicts_with_all = ["forward_only", "strand"])]
    both_strands: bool,
    /// Align only the forward strand
    #[arg(long, hide = true, conflicts_with = "strand")]
    forward_only: bool,
}

impl MinScoreFlag {
    /// The minimum score, if one is given. Refuses scores below 1 in local mode.
    pub fn resolve(&self, mode: AlignmentMode) -> Result<Option<i32>, clap::Error> {
        if mode.is_local() && self.min_score.is_some_and(|score| score < 1) {
            let text = "--min-score: give 1 or more; lower scores exist only in modes other than local";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        Ok(self.min_score)
    }
}

impl HitFlags {
    /// The strands that were asked for.
    fn strands(&self) -> Option<Strands> {
        let flags = [(self.both_strands, Strands::Both), (self.forward_only, Strands::Plus)];
        self.strand.or(flags.into_iter().find(|(is_given, _)| *is_given).map(|(_, strands)| strands))
    }
}

#[derive(Args)]
#[command(next_help_heading = NO_HEADING)]
struct AlignOutputFlags {
    /// Write the output to FILE [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// SAM, as -a of minimap2
    #[arg(short = 'a', hide = true, conflicts_with = "format")]
    is_sam: bool,
    /// Format: sam (default), bam, paf, tab, json, text, a3m, sto, counts, mtx
    ///
    /// By default, the extension of FILE decides: .sam, .bam, .paf, .tab, .tsv, .json, .txt, .a3m, .sto or .mtx. sam, bam and paf contain a record for each query. bam
    /// supports only nucleotides, and is not written to a terminal. paf has the columns of minimap2 and the tags NM, AS, tp, de
    /// and cg, without header and read groups. tab, json and text list ranked hits with bit scores and E-values: tab as the
    /// table of BLAST (-outfmt 6), json as one object per line, and text as printed alignments. a3m and sto (Stockholm) contain the
    /// alignment of each query and its hits, as structure predictors and HMMER read it. counts is a table with the
    /// numbers of reads on each reference, and mtx contains the score of each read on each reference that it has hits on, in
    /// the MatrixMarket format; both suit --all. If the name of FILE ends in .gz, records and lists in text are compressed with
    /// bgzf, which gzip can read.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<FormatName>,
    #[command(flatten)]
    sort: SortFlags,
    /// Write = and X instead of M in CIGAR strings
    #[arg(long, hide_short_help = true)]
    eqx: bool,
    /// Write minimap2's cs tag, in its short or long form [default if no form is given: short]
    ///
    /// For SAM, BAM and PAF. The tag encodes the differences between query and reference: :6 for six equal residues (=ACGTAC in
    /// the long form), *ag for reference a and query g, +ac for an insertion, and -ac for a deletion.
    #[arg(
        long,
        value_enum,
        value_name = "short|long",
        hide_possible_values = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "short",
        hide_short_help = true
    )]
    cs: Option<CsForm>,
    /// Replace characters that SAM forbids in reference names with _
    ///
    /// By default, such names are an error in SAM and BAM; PAF accepts any name. A header comment (@CO) gives the number of
    /// renamed references, with examples. It is an error if two references get the same name.
    #[arg(long, hide_short_help = true)]
    rename_references: bool,
    /// Copy SAM tags from the comments in QUERY to the records, as bwa mem -C
    ///
    /// For SAM, BAM and PAF. The tags must be separated by tabs, as `samtools fastq -T` writes them (compare minimap2 -y).
    /// Other fields are skipped with a warning. Tags that swalign writes itself are skipped silently. From BAM, the @RG lines of
    /// the header are copied too, unless --read-group is given.
    #[arg(long, hide_short_help = true)]
    copy_comments: bool,
    /// Add a read group to SAM and BAM, such as '@RG\tID:run1\tSM:sample1'
    ///
    /// Given once for each of several lanes. By default lanes have IDs from the names of their files.
    #[arg(short = 'R', long, value_name = "LINE", value_parser = ReadGroup::parse)]
    read_group: Vec<ReadGroup>,
    /// Print only errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print the scoring scheme and the time of each batch to stderr
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Reports")]
struct AboutFlags {
    /// Write an HTML report with coverage, identity, differences and example alignments
    ///
    /// The report is one self-contained file of less than 1 MB. With --part or --ref-part, it covers that part; `swalign merge`
    /// does not join reports.
    #[arg(long, hide_short_help = true, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the statistics of the report as JSON
    ///
    /// They do not depend on device, threads or batch size. docs/output.md describes the keys, and docs/stats.schema.json
    /// contains the schema. MultiQC reads a file whose name ends in _mqc.json.
    #[arg(long, hide_short_help = true, value_name = "FILE.json")]
    stats: Option<PathBuf>,
}

#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct PartFlags {
    /// Align part I of N of the queries, such as 2/8; `swalign merge` joins the parts
    ///
    /// The joined output is identical to that of a run without --part. Parts are byte ranges of QUERY of about equal size, so
    /// QUERY must be a file. They begin at multiples of about 76,800 residues, never between interleaved mates, and may be
    /// empty. No temporary files are written. A part reads only its own range of QUERY, unless QUERY is compressed with gzip
    /// other than bgzf. `swalign pairs` reads all targets in each part.
    #[arg(long, hide_short_help = true, value_name = "I/N", value_parser = values::share)]
    part: Option<Share>,
    #[command(flatten)]
    again: AgainFlag,
}

#[derive(Args)]
#[command(next_help_heading = "Machine")]
pub struct AlignMachineFlags {
    /// Prefilter: auto, index, scan or none; affects speed and memory, not the output
    ///
    /// index looks up pieces of DNA queries in an index of the references. scan (or bitap) scans the
    /// references for the pieces, with a few edits. Both score only windows around the matches, and continue with shorter
    /// pieces until no hit can be missing. They search a query in full as soon as that costs less. auto uses an index if there
    /// are enough queries to repay building it, and scans otherwise. none scores every query against all references in full.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_enum,
        hide_possible_values = true,
        hide_short_help = true
    )]
    filter: FilterChoice,
    /// Do not reuse results; affects speed and memory, not the output
    ///
    /// By default, results are reused for queries that are equal or reverse complements, and for repeats of the references.
    #[arg(long, hide_short_help = true)]
    no_dedup: bool,
    /// Device: auto, cpu, gpu, all or gpu:INDEX
    ///
    /// `swalign devices` lists the GPUs. auto uses the best GPU, or the CPU if there is no GPU or if the CPU finishes before a GPU would have started. gpu uses
    /// the best GPU, and all uses every GPU. gpu:0,1 selects GPUs by index, gpu:NAME by part of the name, and gpu:PCI-ID by PCI
    /// address. Software renderers count only if they are selected. cpu:NAME selects an instruction set: avx512, avx2, sse4.1 or
    /// baseline. It is an error if a selected device is missing. The output does not depend on the device. With NVIDIA
    /// GPUs, auto, gpu and all use those listed in CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS or SLURM_JOB_GPUS (the first that is
    /// set). It is an error if these cannot be opened.
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::devices)]
    device: DevicesChoice,
    #[command(flatten)]
    threads: ThreadsFlag,
    /// Maximum number of queries per batch [default: depends on their length]
    ///
    /// Affects speed and memory, not the output.
    #[arg(long, hide_short_help = true, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    batch: Option<usize>,
    /// Run shaders with the driver's bounds checks on
    #[arg(long, hide = true)]
    checked_shaders: bool,
    /// Index the K-mers at every STEP-th position, as on large references
    #[arg(long, hide = true, value_name = "K,STEP", value_parser = values::sampled_kmers)]
    sampled_kmers: Option<SampledKmers>,
    /// Index every N bases in a segment of their own, as on references of more than 4,294,967,295 bases
    #[arg(long, hide = true, value_name = "N", value_parser = values::count)]
    index_segment: Option<usize>,
}

pub const NOTES: &str = "\
Gap costs:
  A gap of k residues costs gap-open + k * gap-extend. With --gap-open 4 --gap-extend 2, a gap of one residue costs 6, and \
  a gap of two costs 8. Penalties are positive numbers, as in minimap2, bwa and BLAST. With two numbers each, a gap costs the \
  lower of two costs: --gap-open 4,24 --gap-extend 2,1 are the gap costs of minimap2.

Presets (match/mismatch/gap-open/gap-extend):
  short     1/4/6/1, as bwa mem; if given, splits reads and has --end-bonus 5; default for DNA
  long      2/4/4/2, as minimap2 without its second gap cost, and faster; splits reads
  map-ont   2/4/4,24/2,1, as minimap2 for Nanopore reads; splits reads
  map-hifi  1/4/6,26/2,1, as minimap2 for HiFi reads; splits reads
  asm5      1/19/39,81/3,1, as minimap2 for assemblies that differ by up to 5 %; splits them
  asm10     1/9/16,41/2,1, up to 10 %; splits them
  asm20     1/4/6,26/2,1, up to 20 %; splits them
  blastn    2/3/5/2
  linear    1/1/0/2
  protein   BLOSUM62, 11/1; default for proteins

  A pair with N or another ambiguous code costs 1 if a preset that splits is given, as in bwa and minimap2, and otherwise \
  as much as a mismatch. --match, --mismatch, --ambiguous, --gap-open, --gap-extend, --end-bonus and --matrix override the \
  preset. A built-in matrix sets its own gap costs.

Minimum score:
  A hit scores at least --min-score. The default is 20 x match for DNA (20 with the preset short), and 60 with a matrix. \
  A query without a hit is written as an unmapped record.";

pub const EXAMPLES: &str = "\
Examples:
  swalign reads.fq.gz genome.fa > out.sam
  swalign --sort -o out.bam reads_1.fq.gz reads_2.fq.gz genome.fa
  swalign -x map-ont -o out.paf ont.fq.gz virus.fa
  swalign --matrix BLOSUM50 -o hits.tsv proteins.fa families.fa
  zcat reads.fq.gz | swalign --max-hits 5 - vectors.fa > out.sam
  swalign --part 2/8 --resume -o part.2.bam reads.fq.gz genome.fa
  swalign merge out.bam part.*.bam

  To align a file whose name is a subcommand, give it as ./pairs or ./search.

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
  swalign pairs --matrix BLOSUM50 proteins.fa homologs.fa
  zcat reads.fq.gz | swalign pairs --eqx - templates.fa
  swalign pairs --part 2/8 --resume -o part.2.bam reads.fq.gz templates.fa

Exit codes: 0 success, 1 failure, 2 wrong usage.";

impl ScoringFlags {
    pub fn mode(&self) -> AlignmentMode {
        self.mode
    }

    /// Options with this scoring. Records of short reads have an end bonus by default.
    pub fn options(self, is_of_records: bool) -> Options {
        let has_bonus = self.preset == Some(Preset::Short) && self.mode.is_local() && is_of_records;
        Options {
            masks_lower_case: self.mask_lower_case,
            alphabet: self.alphabet,
            scoring: ScoringChoice {
                preset: self.preset,
                match_: self.match_,
                mismatch: self.mismatch,
                ambiguous: self.ambiguous,
                iupac: self.iupac,
                end_bonus: self.end_bonus.or(has_bonus.then_some(DEFAULT_END_BONUS)),
                gap_open: self.gap_open,
                gap_extend: self.gap_extend,
                matrix: self.matrix,
                mode: self.mode,
                frameshift: None,
            },
            ..Options::default()
        }
    }
}

impl AlignMachineFlags {
    /// These options with the choices of the machine.
    pub fn options(self, options: Options) -> Options {
        Options {
            sampled_kmers: self.sampled_kmers,
            segment: self.index_segment,
            filter: self.filter,
            dedup: !self.no_dedup,
            device: self.device,
            threads: self.threads.count(),
            batch: self.batch,
            checked_shaders: self.checked_shaders,
            ..options
        }
    }
}

impl All {
    pub fn resolve(mut self, command_line: String) -> Result<Options, clap::Error> {
        let read_groups = std::mem::take(&mut self.flags.output.read_group);
        let files = (self.query, self.rest);
        let LanesChoice { lanes, sheet, reference } = self.sheet.lanes(&self.mates, files, read_groups)?;
        self.mates.check(&lanes)?;
        let sample_sheet = sheet.clone();
        let options = self.flags.resolve(Mode::All, (lanes, sheet), reference, command_line)?;
        let options = Options { sample_sheet, ..options };
        let (ref_part, reads_as_reference) = (self.ref_part, self.reads_as_reference);
        let insert = self.mates.insert();
        let is_of_reads = match options.scoring.preset {
            // Lists have the hits of BLAST, which splits nothing.
            Some(Preset::Short) => options.format.chooses_as_records(),
            preset => preset.is_some_and(Preset::is_of_long_reads),
        };
        let is_default = is_of_reads && options.scoring.mode.is_local();
        let split = self.split.resolve(is_default);
        let hard_clips = self.split.hard_clips();
        let circular = self.circular.resolve();
        let anchor = self.anchor.anchor;
        Ok(Options { ref_part, reads_as_reference, insert, split, hard_clips, circular, anchor, ..options })
    }
}

/// An option with this help in `-h` and `--help`.
fn only_help(option: Arg, help: impl Into<String>) -> Arg {
    let help = help.into();
    option.help(help.clone()).long_help(help)
}

/// The option for strands with the default of a command.
fn strands_by_default(option: Arg, default: &str) -> Arg {
    let short = format!("Strands of DNA queries to align: both, plus or minus [default: {default}]");
    let long = format!("{short}\n\nminus aligns only the reverse complement of each query.");
    option.help(short).long_help(long)
}

/// The help of the coverage in commands whose default is always 0.
const HELP_OF_COVERAGE: &str = "Report hits that align at least PERCENT of the query [default: 0]";
/// The help of read groups in commands without lanes.
const HELP_OF_GROUP: &str = "Add a read group to SAM and BAM, such as '@RG\\tID:run1\\tSM:sample1'";

/// Replaces the help of options that differ in `swalign pairs`, and hides options that it refuses.
pub fn help_of_pairs(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "strand" => strands_by_default(option, "plus"),
        "min_coverage" => only_help(option, HELP_OF_COVERAGE),
        "read_group" => only_help(option, HELP_OF_GROUP),
        "max_hits" => {
            let short = "Report at most N hits per pair [default: 1]";
            let long = "All but the best hit are secondary. With --format tab, json or text, there is no such limit by default.";
            option.help(short).long_help(format!("{short}\n\n{long}"))
        }
        "max_hsps" => {
            only_help(option, "Report at most N hits per pair [default: 1 with --format tab, json and text]")
        }
        "all" => only_help(option, "Report all hits of each pair"),
        "ties" => only_help(option, "Also report hits that tie with the last hit within --max-hits"),
        _ if is_refused("pairs", &option) => option.hide(true),
        _ => option,
    }
}

/// Replaces the help of options that differ in `swalign all`, and hides options that it refuses.
pub fn help_of_all(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "strand" => strands_by_default(option, "both"),
        "min_coverage" => only_help(option, HELP_OF_COVERAGE),
        "read_group" => only_help(option, HELP_OF_GROUP),
        "format" => {
            let short = "Format: tab, json, text, matrix, sam, bam or paf [default: by extension]";
            let long = "The extensions are .tab, .tsv, .json, .txt, .npy, .sam, .bam and .paf; without one of them, the \
                        format is tab. tab, json and text list \
                        hits with bit scores and E-values: tab as the table of BLAST (-outfmt 6), json as one object per line, \
                        and text as printed alignments. matrix contains the scores of all pairs, or with --values their \
                        identities, as text or as a NumPy array (.npy). sam, bam and paf contain a record for each query. If \
                        the name of FILE ends in .gz, text other than a matrix is compressed with bgzf, which gzip can read.";
            option.help(short).long_help(format!("{short}\n\n{long}")).hide_possible_values(true)
        }
        "secondary_ratio" => only_help(
            option,
            "Report hits that score at least RATIO (0 to 1) x the best score of the query [default: 0]",
        ),
        "max_hits" => only_help(option, "Report at most N hits per query [default: all]"),
        "max_targets" => {
            only_help(option, "Report hits on at most N other sequences per query [default: all]")
        }
        "max_hsps" => only_help(option, "Report at most N hits per pair of sequences [default: 1]"),
        _ if is_refused("all", &option) => option.hide(true),
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
        let values = self.values;
        let options = self.options(command_line)?;
        if !is_matrix {
            return Ok(Command::Align(Box::new(options)));
        }
        let values = values.unwrap_or_default();
        Ok(Command::Matrix(Box::new(MatrixOptions { run: options, values, is_numpy: to_numpy })))
    }

    fn options(mut self, command_line: String) -> Result<Options, clap::Error> {
        if self.file == Path::new("-") {
            let text = "FILE is read twice, as queries and as references, but stdin (-) can be read only once; save it to a file";
            return Err(usage(ErrorKind::ValueValidation, text));
        }
        let file = self.file.clone();
        let lanes = self.flags.single(self.file)?;
        self.flags.resolve(Mode::Triangle, (lanes, None), file, command_line)
    }
}

impl PairArgs {
    pub fn resolve(mut self, command_line: String) -> Result<Options, clap::Error> {
        let lanes = self.flags.single(self.query)?;
        self.flags.resolve(Mode::Pairs, (lanes, None), self.target, command_line)
    }
}

impl Flags {
    /// The one lane of a file of queries.
    fn single(&mut self, reads: PathBuf) -> Result<Vec<SequencingLane>, clap::Error> {
        let lane = SequencingLane { reads, ..SequencingLane::default() };
        with_groups(vec![lane], std::mem::take(&mut self.output.read_group))
    }

    /// The options of a command. A sheet names the lanes, if there is one.
    fn resolve(
        self,
        mode: Mode,
        (lanes, sheet): (Vec<SequencingLane>, Option<PathBuf>),
        reference: PathBuf,
        command_line: String,
    ) -> Result<Options, clap::Error> {
        let Flags { input, translate, profiles, scoring, hits, ranked, output, about, parts, machine } = self;
        let (translation, frameshift) = (translate.resolve(), translate.frameshift);
        let iterations = profiles.resolve();
        let is_by_profile = iterations.has_profiles();
        let matrix = scoring.matrix.as_deref().map(Path::new);
        let of_lanes = lanes.iter().flat_map(SequencingLane::files).chain(sheet.as_deref());
        let inputs: Vec<&Path> = of_lanes.chain([&*reference]).collect();
        check_files(&inputs, matrix, output.output.as_deref())?;
        if output.format.is_none() {
            check_extension(output.output.as_deref())?;
        }
        let named = output.output.as_deref().and_then(OutputFormat::of_file);
        let otherwise = match mode {
            Mode::Triangle => OutputFormat::Hits(HitFormat::Tab),
            _ if translation.is_some() || is_by_profile => OutputFormat::Hits(HitFormat::Tab),
            Mode::All | Mode::Pairs => OutputFormat::Records(Format::default()),
        };
        let default = output.sort.default_format(otherwise);
        let format = output.format.map(OutputFormat::from).or(named).unwrap_or(default);
        let sort = output.sort.memory();
        if sort.is_some() {
            check_index(&inputs, output.output.as_deref())?;
        }
        let sides = [("--report", about.report.as_deref()), ("--stats", about.stats.as_deref())];
        let files = inputs.iter().copied().chain(matrix);
        check_about(&sides, files, (output.output.as_deref(), sort.is_some()))?;
        let strands = hits.strands();
        let to_file = output.output.as_deref().is_some_and(|path| path != Path::new("-"));
        let has_coverage = ranked.has_min_coverage();
        let mut ranked = ranked.resolve(format, (hits.max_hits, hits.all), to_file, mode == Mode::Triangle);
        let ends = scoring.mode;
        if translation.is_some_and(|translation| translation.targets) {
            ranked.limits.frames = Strands::Frames(Frames::ALL).count();
        }
        let min_score = hits.least.resolve(ends)?;
        let is_any_part = !ends.takes_whole_queries();
        let has_floor = ranked.rank == Rank::Identity && mode == Mode::All && is_any_part && !has_coverage;
        if has_floor {
            ranked.limits.coverage = HitLimits::FLOOR_OF_IDENTITY;
        }
        let is_list = matches!(format, OutputFormat::Hits(_)) || mode == Mode::Triangle;
        let ratio = if is_list { 0.0 } else { SECONDARY_RATIO };
        let packed =
            format != OutputFormat::Records(Format::Bam) && output.output.as_deref().is_some_and(is_packed);
        let mut run = machine.options(scoring.options(format.chooses_as_records()));
        run.scoring.frameshift = frameshift;
        let mut lanes = lanes.into_iter();
        let SequencingLane { reads: query, mates, read_group } = lanes.next().unwrap_or_default();
        Ok(Options {
            mode,
            query,
            reference,
            mates,
            more_lanes: lanes.collect(),
            output: output.output.filter(|path| path != Path::new("-")),
            report: about.report,
            stats: about.stats,
            format,
            sort,
            packed,
            rename_references: output.rename_references,
            reads_as_reference: mode == Mode::Triangle,
            removes_gaps: input.remove_gaps,
            translation,
            iterations,
            strands: strands.unwrap_or(Strands::of(mode != Mode::Pairs)),
            min_score,
            anchor: ANCHOR,
            secondary_ratio: hits.secondary_ratio.unwrap_or(ratio),
            limits_by_quality: hits.secondary_ratio.is_none() && !hits.all && !is_list,
            part: parts.part,
            resume: parts.again.resume,
            // Names tell equal queries apart.
            dedup: run.dedup && !is_by_profile && ranked.tie_rule == TieRule::First,
            ranked,
            eqx: output.eqx,
            cs: output.cs,
            read_group,
            copies_comments: output.copy_comments,
            command_line,
            verbosity: if output.quiet { 0 } else { 1 + u8::from(output.verbose) },
            ..run
        })
    }
}
