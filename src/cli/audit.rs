//! The arguments of `swalign audit`.

use super::align::{AlignMachineFlags, AnchorFlag, MinScoreFlag, SECONDARY_RATIO, ScoringFlags};
use super::mates::InsertFlag;
use super::paths::{check_about, check_files};
use super::{usage, values};
use crate::terms::options::{
    AuditFormat, AuditOptions, Format, MatesChoice, Options, OutputFormat, Sample, Share, is_packed,
};
use clap::error::ErrorKind;
use clap::{Arg, Args};
use std::path::{Path, PathBuf};

/// Default maximum mapping quality of ties.
const TIE_MAPQ: u8 = 3;

#[derive(Args)]
pub struct AuditArguments {
    /// Records of a mapper: SAM, BAM or PAF, plain or gzip (- for stdin)
    #[arg(value_name = "RECORDS")]
    records: PathBuf,
    /// References: FASTA, plain or gzip, or a database of `swalign index`
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    #[command(flatten)]
    reads: AuditReadFlags,
    #[command(flatten)]
    insert: InsertFlag,
    #[command(flatten)]
    output: AuditOutputFlags,
    #[command(flatten)]
    part: AuditPartFlag,
    #[command(flatten)]
    scoring: ScoringFlags,
    #[command(flatten)]
    least: MinScoreFlag,
    #[command(flatten)]
    anchor: AnchorFlag,
    #[command(flatten)]
    machine: AlignMachineFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
struct AuditReadFlags {
    /// Read the sequences from FASTA or FASTQ instead of RECORDS; two files are mates
    ///
    /// Required for PAF, and for primary records without SEQ or with hard clips. Reads without a record count as unmapped. All
    /// records are kept in memory, about 230 bytes for each short read.
    #[arg(long, value_name = "FILE[,FILE]", value_delimiter = ',')]
    reads: Vec<PathBuf>,
    /// Judge both mates of a pair together
    ///
    /// A mate may score less than its own optimum if both mates together score at least as much as the pair that swalign
    /// chooses. The mates of RECORDS must follow each other: `samtools collate` groups them. With --reads and two files, pairs
    /// are always judged together. With one file, the mates in it must follow each other.
    #[arg(long)]
    pairs: bool,
    /// Also judge the records of the same reads in FILE, and compare both files
    ///
    /// Adds columns with the verdict on the record in FILE, its position and score, and the file with the higher score. All
    /// records of FILE are kept in memory.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Judge N reads, chosen by a hash of their names
    ///
    /// The choice does not depend on the order of the reads. Both mates of a pair count as one read. Needs a file, which is
    /// read once more.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    sample: Option<usize>,
    /// Seed of --sample [default: 1]
    #[arg(long, value_name = "N", requires = "sample")]
    seed: Option<u64>,
}

#[derive(Args)]
#[command(next_help_heading = None::<&str>)]
struct AuditOutputFlags {
    /// Write the rows to FILE; .gz files are compressed [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the rows
    #[arg(long, value_enum, value_name = "tab|json", default_value = "tab", hide_possible_values = true)]
    format: AuditFormatName,
    /// Also write rows for equal and unmapped reads
    #[arg(long)]
    every: bool,
    /// Highest mapping quality of a record at one of several positions with the same score
    #[arg(long, value_name = "N", default_value_t = TIE_MAPQ, allow_negative_numbers = true)]
    tie_mapq: u8,
    /// Write the numbers of verdicts to FILE as JSON, also by mapping quality and read length
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Write an HTML page with these numbers and the ten worst findings to FILE
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Exit with code 1 if the share of findings exceeds RATE, from 0 to 1
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = values::ratio)]
    fail_above: Option<f64>,
    /// Print only errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print the scoring scheme and the time of each batch to stderr
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Parts")]
struct AuditPartFlag {
    /// Judge part I of N of the reads, such as 2/8; `swalign merge` joins the rows of the parts
    ///
    /// The joined rows are identical to those of a run without --part. --summary, --html and --fail-above cover the part alone.
    /// The reads must be in a regular file. Without --reads, each part counts all records of RECORDS first, and --pairs
    /// requires --insert, because a part cannot estimate the insert size from all pairs.
    #[arg(long, hide_short_help = true, value_name = "I/N", value_parser = values::share)]
    part: Option<Share>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum AuditFormatName {
    #[value(alias = "tsv")]
    Tab,
    #[value(alias = "jsonl")]
    Json,
}

pub const USAGE: &str = "swalign audit [OPTIONS] RECORDS REFERENCE";

pub const NOTES: &str = "\
Verdicts:
  Each read is aligned again, and its records are scored under the same scoring. Without options of the scoring, it is that \
  of the mapper by @PG (bwa mem, minimap2, bowtie2 --local). Otherwise, give the scoring of the mapper: short is that of bwa \
  mem, and map-ont, map-hifi and asm5 to asm20 are those of minimap2.
  above     the record scores higher than the proven optimum: a bug of swalign, please report it
  below     the optimum scores higher
  clipped   like below, but the optimum overlaps the record and covers more of the read
  missed    the read is unmapped or absent, but an alignment reaches --min-score
  outside   the record exceeds its reference, or REFERENCE lacks that reference
  invalid   CIGAR and SEQ, or FLAG and other fields, contradict each other
  tie       the record is optimal with a mapping quality above --tie-mapq, but another position scores the same
  unproven  the record scores higher than the best hit that swalign finds below the proven minimum score (see --anchor)
  low       the record scores less than --min-score, and nothing reaches it
  unscored  the record has no CIGAR (PAF needs cg or cs)
  equal     the record has the score of the optimum
  unmapped  the read is unmapped or absent, and no alignment reaches --min-score

  The first six are findings. Scores in the table include --end-bonus.

Examples:
  samtools collate -uO sorted.bam | swalign audit --pairs - genome.fa
  swalign audit bwa.bam genome.fa > findings.tsv
  swalign audit -x map-ont --reads reads.fq.gz minimap2.paf genome.fa > findings.tsv
  swalign audit -x short --against minimap2.bam bwa.bam genome.fa > findings.tsv
  swalign audit -x short --sample 10000 --fail-above 0.01 -q -o findings.tsv mapper.bam genome.fa

Exit codes: 0 success, 1 failure or more findings than --fail-above, 2 wrong usage.";

impl AuditArguments {
    pub fn resolve(self, command_line: String) -> Result<Options, clap::Error> {
        let AuditArguments {
            records,
            reference,
            reads,
            insert,
            output,
            part,
            scoring,
            least,
            anchor,
            machine,
        } = self;
        let AuditReadFlags { reads, pairs, against, sample, seed } = reads;
        let matrix = scoring.matrix.as_deref().map(Path::new);
        let inputs = reads.iter().chain(&against).chain([&records, &reference]);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        check_files(&inputs, matrix, output.output.as_deref())?;
        let sides = [("--summary", output.summary.as_deref()), ("--html", output.html.as_deref())];
        check_about(&sides, inputs.iter().copied().chain(matrix), (output.output.as_deref(), false))?;
        if reads.len() > 2 {
            let text = "--reads: give one file, or two files of mates; join several files of single reads, as in `cat \
                        r1.fq.gz r2.fq.gz | swalign audit --reads - ...`";
            return Err(usage(ErrorKind::TooManyValues, text));
        }
        if insert.insert.is_some() && !pairs && reads.len() < 2 {
            let text = "--insert is for mates; leave it out, or add --pairs";
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let mut reads = reads.into_iter();
        let (queries, mates) = (reads.next(), reads.next());
        let mates = match mates {
            Some(mates) => MatesChoice::File(mates),
            None if pairs => MatesChoice::Interleaved,
            None => MatesChoice::None,
        };
        let (has_reads, has_mates) = (queries.is_some(), mates != MatesChoice::None);
        let (query, records) = match queries {
            Some(queries) => (queries, Some(records)),
            None => (records, None),
        };
        let again = [("--sample", sample.is_some()), ("--part", part.part.is_some())];
        if let Some((flag, _)) = again.into_iter().find(|(_, is_given)| *is_given)
            && query == Path::new("-")
        {
            let text = format!(
                "{flag} reads the file twice, but stdin (-) can be read only once; save it to a file"
            );
            return Err(usage(ErrorKind::ArgumentConflict, text));
        }
        let audit = AuditOptions {
            records,
            against,
            format: match output.format {
                AuditFormatName::Tab => AuditFormat::Tab,
                AuditFormatName::Json => AuditFormat::Json,
            },
            every: output.every,
            tie_mapq: output.tie_mapq,
            summary: output.summary,
            html: output.html,
            // The reads of a file of their own are cut as those of an alignment.
            part: part.part.filter(|_| !has_reads),
            fail_above: output.fail_above,
            sample: sample.map(|reads| Sample { reads, seed: seed.unwrap_or(1) }),
            sampled: None,
        };
        let min_score = least.resolve(scoring.mode())?;
        Ok(Options {
            query,
            reference,
            mates,
            insert: insert.insert,
            packed: output.output.as_deref().is_some_and(is_packed),
            output: output.output.filter(|path| path != Path::new("-")),
            // PAF allows any names, and its hits are those of SAM.
            format: OutputFormat::Records(Format::Paf),
            reads_as_reference: true,
            min_score,
            // Of single reads, only hits that score the same as the best one count. Pairs are those of an alignment.
            secondary_ratio: if has_mates { SECONDARY_RATIO } else { 1.0 },
            limits_by_quality: has_mates,
            anchor: anchor.anchor,
            part: part.part.filter(|_| has_reads),
            audit: Some(audit),
            command_line,
            verbosity: if output.quiet { 0 } else { 1 + u8::from(output.verbose) },
            ..machine.options(scoring.options(true))
        })
    }
}

/// Hides the option with values that `swalign audit` refuses, and replaces help that differs.
pub fn help(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "mode" => option.hide(true),
        "preset" => {
            let short =
                "Preset: short, long, map-hifi and others [default: the mapper's scoring by @PG, or short]";
            let long = "If no option of the scoring is given, and the @PG line of SAM or BAM states the command of bwa mem, \
                        minimap2 or bowtie2 --local, the scoring is that of this command. The presets are listed in `swalign \
                        --help`.";
            option.help(short).long_help(format!("{short}\n\n{long}"))
        }
        _ => option,
    }
}
