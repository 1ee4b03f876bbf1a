//! Command-line arguments.

use std::ffi::OsString;
use std::ops::RangeInclusive;

use crate::fragments::ReadOptions;
use crate::numbers::to_usize;
use crate::panel::PanelOptions;
use crate::variants::VariantOptions;

pub const USAGE: &str = "\
Generates genomes, donors with known variants, and reads of known origin

Usage:
  made_genome genome   [OPTIONS] > genome.fa
  made_genome variants [OPTIONS] > truth.vcf
  made_genome donor    [OPTIONS] > donor.fa
  made_genome reads    [OPTIONS] --count <N> > reads.fq
  made_genome panel    [OPTIONS] > panel.fa
  made_genome sample   [OPTIONS] > sample.fq

The same options give the same output with any number of threads. To get the variants and the reads of one donor,
use the same options of the genome and of the donor. Reads are in random order, and their names state their origin:
NUMBER!SEQUENCE!START!END!STRAND, 0-based and half-open. Names of pairs have START, END and STRAND of both reads.

Options of the genome:
  --seed <N>           Seed of the genome [default: 1]
  --bases <N>          Size of the genome; suffixes k, M and G are allowed [default: 3100M]
  --threads <N>        Number of threads [default: number of processors]

Options of the donor (variants, donor, reads):
  --variant-seed <N>   Seed of the variants [default: 1]
  --snp-rate <RATE>    SNPs per base [default: 0.001]
  --indel-rate <RATE>  Insertions and deletions of 1 to 20 bases, per base [default: 0.0001]
  --deletions <N>      Number of deletions of 1,000 to 10,000 bases [default: 0]
  --inversions <N>     Number of inversions of 1,000 to 10,000 bases [default: 0]

Options of reads:
  --count <N>          Number of reads, or of pairs
  --length <N>         Donor bases of each read [default: 150]
  --pairs              Write pairs, of which one read is forward and the other one is reverse
  --insert-mean <N>    Mean insert size of pairs [default: 400]
  --insert-sd <N>      Standard deviation of the insert size [default: 50]
  --error-rate <RATE>  Errors per base [default: 0.005]
  --indel-share <S>    Share of errors that insert or delete a base [default: 0]
  --read-seed <N>      Seed of the reads [default: 1]
  --out <PREFIX>       Write PREFIX.fq, or PREFIX_1.fq and PREFIX_2.fq for pairs
                       [default: standard output; pairs are interleaved]

Options of panels of alleles (panel, sample), which also take --seed and, for a sample, the options of reads:
  --alleles <N>        Number of alleles of 1,000 to 3,500 bases [default: 20k]
  --genes <N>          Number of genes, whose alleles differ by 0.1 to 3 % [default: 2222]
  --depth <N>          Coverage of the two alleles of each gene, unless --count is given [default: 30]
A sample has pairs, and its default error rate is 0.002.

  -h, --help           Print this help
";

/// Largest genome, in bases. The positions of runs of N and of blocks need 100 MB at this size.
const LARGEST_GENOME: u64 = 1_000_000_000_000;
const MOST_THREADS: u64 = 1024;
const MOST_ALLELES: u64 = 1_000_000_000;
const LONGEST_READ: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Genome,
    Variants,
    Donor,
    Reads,
    Panel,
    Sample,
}

#[derive(Debug, PartialEq)]
pub struct Arguments {
    pub command: Command,
    pub seed: u64,
    pub bases: u64,
    pub threads: usize,
    pub variants: VariantOptions,
    pub reads: ReadOptions,
    pub panel: PanelOptions,
    /// Prefix of the output files of reads.
    pub prefix: Option<String>,
}

#[derive(Debug, PartialEq)]
pub enum Request {
    Help,
    Run(Box<Arguments>),
}

impl Request {
    /// Parses the arguments after the program's name. The error is a message for the user.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let words = arguments.into_iter().map(|argument| {
            argument.into_string().map_err(|argument| format!("{} is not UTF-8", argument.display()))
        });
        let words = words.collect::<Result<Vec<String>, String>>()?;
        if words.iter().any(|word| word == "-h" || word == "--help") {
            return Ok(Self::Help);
        }
        let mut words = words.into_iter();
        let command = match words.next().as_deref() {
            Some("genome") => Command::Genome,
            Some("variants") => Command::Variants,
            Some("donor") => Command::Donor,
            Some("reads") => Command::Reads,
            Some("panel") => Command::Panel,
            Some("sample") => Command::Sample,
            Some(other) => return Err(format!("unknown command {other:?}")),
            None => return Err("a command is missing".into()),
        };
        let mut arguments = Arguments::new(command);
        while let Some(word) = words.next() {
            let Some((option, value)) = word.split_once('=') else {
                arguments.read_option(&word, &mut words)?;
                continue;
            };
            let mut value = std::iter::once(value.to_string());
            arguments.read_option(option, &mut value)?;
            if value.next().is_some() {
                return Err(format!("{option} needs no value"));
            }
        }
        if command == Command::Reads && arguments.reads.count == 0 {
            return Err("--count is missing".into());
        }
        if arguments.panel.alleles < arguments.panel.genes {
            return Err("--alleles needs at least one allele for each of --genes".into());
        }
        Ok(Self::Run(Box::new(arguments)))
    }
}

impl Arguments {
    /// Default values.
    fn new(command: Command) -> Self {
        let variants =
            VariantOptions { seed: 1, snp_rate: 0.001, indel_rate: 0.0001, deletions: 0, inversions: 0 };
        let reads = ReadOptions {
            seed: 1,
            count: 0,
            length: 150,
            pairs: command == Command::Sample,
            insert_mean: 400.0,
            insert_deviation: 50.0,
            error_rate: if command == Command::Sample { 0.002 } else { 0.005 },
            indel_share: 0.0,
        };
        let panel = PanelOptions { alleles: 20_000, genes: 2_222, depth: 30 };
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self { command, seed: 1, bases: 3_100_000_000, threads, variants, reads, panel, prefix: None }
    }

    /// Reads an option, and its value from the words after it.
    fn read_option(&mut self, option: &str, words: &mut impl Iterator<Item = String>) -> Result<(), String> {
        let is_of_reads = matches!(self.command, Command::Reads | Command::Sample);
        let is_of_panel = matches!(self.command, Command::Panel | Command::Sample);
        let is_of_donor =
            self.command == Command::Reads || matches!(self.command, Command::Variants | Command::Donor);
        if option == "--pairs" && self.command == Command::Reads {
            self.reads.pairs = true;
            return Ok(());
        }
        let mut value = || words.next().ok_or_else(|| format!("{option} needs a value"));
        let whole = |value: String, limits| number(option, &value, limits);
        let any = 0..=u64::MAX;
        match option {
            "--seed" => self.seed = whole(value()?, any)?,
            "--alleles" if is_of_panel => self.panel.alleles = whole(value()?, 1..=MOST_ALLELES)?,
            "--genes" if is_of_panel => self.panel.genes = whole(value()?, 1..=MOST_ALLELES)?,
            "--depth" if self.command == Command::Sample => {
                self.panel.depth = whole(value()?, 1..=1_000_000)?
            }
            "--bases" if !is_of_panel => self.bases = whole(value()?, 1..=LARGEST_GENOME)?,
            "--threads" => self.threads = to_usize(whole(value()?, 1..=MOST_THREADS)?),
            "--variant-seed" if is_of_donor => self.variants.seed = whole(value()?, any)?,
            "--snp-rate" if is_of_donor => self.variants.snp_rate = share(option, &value()?)?,
            "--indel-rate" if is_of_donor => self.variants.indel_rate = share(option, &value()?)?,
            "--deletions" if is_of_donor => self.variants.deletions = whole(value()?, any)?,
            "--inversions" if is_of_donor => self.variants.inversions = whole(value()?, any)?,
            "--count" if is_of_reads => self.reads.count = whole(value()?, 1..=u64::MAX)?,
            "--length" if is_of_reads => self.reads.length = to_usize(whole(value()?, 1..=LONGEST_READ)?),
            "--insert-mean" if is_of_reads => self.reads.insert_mean = insert_size(option, &value()?)?,
            "--insert-sd" if is_of_reads => self.reads.insert_deviation = insert_size(option, &value()?)?,
            "--error-rate" if is_of_reads => self.reads.error_rate = share(option, &value()?)?,
            "--indel-share" if is_of_reads => self.reads.indel_share = share(option, &value()?)?,
            "--read-seed" if is_of_reads => self.reads.seed = whole(value()?, any)?,
            "--out" if is_of_reads => self.prefix = Some(value()?),
            _ => return Err(format!("unknown option {option:?} of this command")),
        }
        Ok(())
    }
}

/// Parses a whole number with an optional suffix k, M or G.
fn number(option: &str, text: &str, limits: RangeInclusive<u64>) -> Result<u64, String> {
    let factor = match text.bytes().last() {
        Some(b'k') => 1_000,
        Some(b'M') => 1_000_000,
        Some(b'G') => 1_000_000_000,
        _ => 1,
    };
    let digits = if factor == 1 { text } else { &text[..text.len() - 1] };
    // A sign is not part of a number.
    let parsed =
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse::<u64>().ok() } else { None };
    let parsed = parsed.and_then(|number| number.checked_mul(factor));
    parsed.filter(|number| limits.contains(number)).ok_or_else(|| {
        format!("{option} needs a whole number from {} to {}, not {text:?}", limits.start(), limits.end())
    })
}

/// Parses a number from 0 to 1.
fn share(option: &str, text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    parsed.ok_or_else(|| format!("{option} needs a number from 0 to 1, not {text:?}"))
}

/// Parses a mean or a deviation of insert sizes.
fn insert_size(option: &str, text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
    parsed.ok_or_else(|| format!("{option} needs a number from 0 to 1000000000, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        Request::parse(line.split_whitespace().map(OsString::from))
    }

    fn arguments(line: &str) -> Arguments {
        match parse(line) {
            Ok(Request::Run(arguments)) => *arguments,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_set_values() {
        let line = "reads --seed 7 --bases=3G --threads 2 --snp-rate 0.5 --count 10k --pairs --insert-sd 2.5 --out x";
        let parsed = arguments(line);
        let mut expected = Arguments::new(Command::Reads);
        (expected.seed, expected.bases, expected.threads) = (7, 3_000_000_000, 2);
        expected.variants.snp_rate = 0.5;
        (expected.reads.count, expected.reads.pairs, expected.reads.insert_deviation) = (10_000, true, 2.5);
        expected.prefix = Some("x".into());
        assert_eq!(parsed, expected);
        assert_eq!(arguments("genome --bases 1").bases, 1);
        assert_eq!(parse("genome --bases 0 --help"), Ok(Request::Help));
    }

    #[test]
    fn wrong_arguments_are_errors() {
        for line in [
            "",
            "genomes",
            "--seed 1",
            "genome --bases",
            "genome --bases 0",
            "genome --bases -1",
            "genome --bases +1",
            "genome --bases 1.5M",
            "genome --bases M",
            "genome --bases 1€",
            "genome --bases 18446744073709551615G",
            "genome --bases 2000G",
            "genome --threads 0",
            "genome --seed x",
            "genome --count 1",
            "genome 5",
            "variants --length 5",
            "reads",
            "reads --count 0",
            "reads --count 1 --length 0",
            "reads --count 1 --error-rate 1.1",
            "reads --count 1 --error-rate NaN",
            "reads --count 1 --insert-mean inf",
            "reads --count 1 --pairs=1",
            "reads --count 1 --alleles 5",
            "panel --alleles 5 --genes 6",
            "panel --bases 5",
            "panel --depth 5",
            "sample --pairs",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
