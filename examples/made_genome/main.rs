//! Generates genomes, donors with known variants, panels of alleles, and reads of known origin, for tests and benchmarks of
//! mappers.
//!
//! ```text
//! cargo run --release --example made_genome -- genome --bases 300M > genome.fa
//! cargo run --release --example made_genome -- variants --bases 300M > truth.vcf
//! cargo run --release --example made_genome -- reads --bases 300M --count 1M --pairs --out reads
//! cargo run --release --example made_genome -- panel > panel.fa
//! cargo run --release --example made_genome -- sample --out sample
//! ```
//!
//! The genome has 24 sequences with the relative lengths of the human chromosomes. 45 % of it is interspersed repeats, from
//! families whose consensus has 300 or 6,000 bases. It also has tandem repeats (3 %), segmental duplications (5 %) and runs of
//! N, and its GC content varies by region from 35 to 55 %. The output is a function of the options: it does not depend on the number of
//! threads or on the platform.
//!
//! | module | content |
//! |---|---|
//! | `arguments` | command line |
//! | `layout` | sequences, blocks and runs of N |
//! | `genome`, `copies` | bases of the reference, block by block |
//! | `fasta` | the reference and the donor as FASTA |
//! | `variants`, `donor`, `vcf` | variants, the donor that has them, and VCF |
//! | `fragments` | positions of reads in the donor |
//! | `templates`, `shards` | bases and origins of reads |
//! | `reads` | errors, and FASTQ |
//! | `panel` | alleles of genes, and reads of a sample |
//! | `ordered`, `output`, `failure` | threads, files and errors |
//! | `numbers`, `random` | conversions and random numbers |

#![warn(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod arguments;
mod copies;
mod donor;
mod failure;
mod fasta;
mod fragments;
mod genome;
mod layout;
mod numbers;
mod ordered;
mod output;
mod panel;
mod random;
mod reads;
mod shards;
mod templates;
#[cfg(test)]
mod tests;
mod variants;
mod vcf;

use std::io::Write;
use std::process::ExitCode;

use arguments::{Arguments, Command, Request, USAGE};
use donor::Donor;
use failure::Failure;
use fragments::Fragments;
use genome::Genome;
use output::Output;
use panel::Panel;
use reads::ReadOutputs;

fn main() -> ExitCode {
    match Request::parse(std::env::args_os().skip(1)).map_err(Failure::Usage).and_then(answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_closed_pipe() {
                report(&format!("made_genome: {failure}"));
            }
            if let Failure::Usage(_) = failure {
                report("made_genome: run made_genome --help for the usage");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn answer(request: Request) -> Result<(), Failure> {
    match request {
        Request::Help => {
            let mut output = Output::standard();
            output.write(USAGE.as_bytes())?;
            output.finish()
        }
        Request::Run(arguments) => run(&arguments),
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let panel = Panel::new(arguments.seed, arguments.panel.clone());
    if arguments.command == Command::Panel {
        let mut output = Output::standard();
        panel.write(&mut output)?;
        return output.finish();
    }
    if arguments.command == Command::Sample {
        let mut outputs = read_outputs(arguments)?;
        panel.write_reads(&arguments.reads, &mut outputs)?;
        return outputs.finish();
    }
    let genome = Genome::new(arguments.seed, arguments.bases);
    if arguments.command == Command::Genome {
        let mut output = Output::standard();
        let census = fasta::write_reference(&genome, arguments.threads, &mut output)?;
        output.finish()?;
        report(&format!("made_genome: {}", census.summary()));
        return Ok(());
    }
    let donor = Donor::new(&genome, arguments.variants.clone()).map_err(Failure::Usage)?;
    if arguments.command == Command::Reads {
        return write_reads(&donor, arguments);
    }
    let mut output = Output::standard();
    if arguments.command == Command::Variants {
        vcf::write_variants(&donor, arguments.threads, &mut output)?;
    } else {
        fasta::write_donor(&donor, arguments.threads, &mut output)?;
    }
    output.finish()
}

fn write_reads(donor: &Donor, arguments: &Arguments) -> Result<(), Failure> {
    // Fails before any file is created.
    let fragments = Fragments::new(donor, &arguments.reads).map_err(Failure::Usage)?;
    let mut outputs = read_outputs(arguments)?;
    reads::write_reads(donor, &fragments, arguments.threads, &mut outputs)?;
    outputs.finish()
}

/// The files of `--out`, or standard output.
fn read_outputs(arguments: &Arguments) -> Result<ReadOutputs, Failure> {
    Ok(match &arguments.prefix {
        None => ReadOutputs { first: Output::standard(), second: None },
        Some(prefix) if arguments.reads.pairs => ReadOutputs {
            first: Output::create(&format!("{prefix}_1.fq"))?,
            second: Some(Output::create(&format!("{prefix}_2.fq"))?),
        },
        Some(prefix) => ReadOutputs { first: Output::create(&format!("{prefix}.fq"))?, second: None },
    })
}

/// Prints a line on standard error. A closed standard error is no reason to fail.
fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
