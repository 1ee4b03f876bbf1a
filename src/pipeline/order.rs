//! Checks that the arguments are plausible: files rather than sequences, and QUERY before REFERENCE.
//!
//! Mappers such as bwa, minimap2 and bowtie2 expect the reference first. Reads as references would cost hours and give
//! useless results, so FASTQ is refused there. FASTA files do not show whether they contain reads or references, so
//! files that look swapped only cause a warning.

use super::source::ReferenceSource;
use crate::input::reader::{Reader, References};
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::{IndexOptions, Mode, Options};
use crate::terms::system::metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// References look like reads if there are at least [`READS`] of at most [`READ_LETTERS`] bases on average,
const READS: usize = 1000;
const READ_LETTERS: u64 = 500;
/// and the first query is longer by this factor,
const TIMES_LONGER: u64 = 20;
/// and there are fewer queries than this within the first [`LETTERS_AHEAD`] bases.
const MANY_QUERIES: usize = 11;
const LETTERS_AHEAD: usize = 1 << 24;

/// Minimum length of an argument that counts as a sequence, and maximum number of its characters in messages.
const LEAST_LETTERS: usize = 5;
const SHOWN_LETTERS: usize = 60;

/// Refuses a sequence as an argument that must be a file, if no file has that name.
pub fn check_paths(options: &Options) -> Result<()> {
    let reference = &*options.reference;
    options.query_files().try_for_each(|query| check_path(query, reference))?;
    check_path(reference, &options.query)
}

fn check_path(path: &Path, other: &Path) -> Result<()> {
    let missing =
        |error: std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename);
    let Some((letters, alphabet)) = path.to_str().and_then(|text| Some((text, alphabet(text)?))) else {
        return Ok(());
    };
    if path == Path::new("-") || !metadata(path).is_err_and(missing) {
        return Ok(());
    }
    let shown = match letters.get(..SHOWN_LETTERS) {
        Some(start) if letters.len() > SHOWN_LETTERS => format!("{start}..."),
        _ => letters.to_string(),
    };
    let other = other.display();
    let search = match alphabet {
        Alphabet::Dna => format!(", or use `swalign search {shown} {other}`"),
        Alphabet::Protein => String::new(),
    };
    let remedy = format!("check the path; if it is a sequence, save it to a FASTA file{search}");
    let place = Place { file: PathBuf::from(shown), ..Place::default() };
    Err(Error::input(place, "no such file", remedy))
}

/// The alphabet of a text that looks like a sequence: nucleotides in any case, or residues in upper case.
fn alphabet(text: &str) -> Option<Alphabet> {
    let all =
        |alphabet: Alphabet| text.bytes().all(|c| c.is_ascii_alphabetic() && alphabet.code(c).is_some());
    match text.len() >= LEAST_LETTERS {
        true if all(Alphabet::Dna) => Some(Alphabet::Dna),
        true if all(Alphabet::Protein) && text.bytes().all(|c| c.is_ascii_uppercase()) => {
            Some(Alphabet::Protein)
        }
        _ => None,
    }
}

/// Refuses reads (FASTQ) as references.
pub fn check(options: &Options, queries: &mut Reader, references: &mut ReferenceSource) -> Result<()> {
    if options.mode != Mode::All || options.reads_as_reference || !references.is_fastq() {
        return Ok(());
    }
    let [query, reference] = [&options.query, &options.reference].map(|path| path.display());
    let flag = "to use reads as references, add --reads-as-reference";
    let text = match queries.is_fastq() {
        true => format!(
            "REFERENCE is missing: {query} and {reference} are both reads (FASTQ); give the references as the last \
             file, as in `swalign {query} ref.fa`, for mates `swalign {query} {reference} ref.fa`, and for several \
             files of single reads `cat {query} {reference} | swalign - ref.fa`; {flag}"
        ),
        false => format!(
            "{reference} contains reads (FASTQ or BAM), but is given as REFERENCE; give the queries first: `swalign \
             {reference} {query}`; {flag}"
        ),
    };
    Err(Error::Usage(text))
}

/// Refuses reads (FASTQ) as the references of a database.
pub fn check_index(options: &IndexOptions, references: &mut Reader) -> Result<()> {
    if options.reads_as_reference || !references.is_fastq() {
        return Ok(());
    }
    let path = options.references.display();
    let text = "a database stores references; give FASTA, or add --reads-as-reference";
    Err(Error::Usage(format!("{path} contains reads (FASTQ), but {text}")))
}

/// A warning about FASTA files that look swapped. The first query has `first` bases.
pub fn warning(
    options: &Options,
    (queries, first): (&mut Reader, usize),
    references: &References,
) -> Result<Option<String>> {
    let count = references.lengths.len();
    let letters: u64 = references.lengths.iter().map(|&len| u64::from(len)).sum();
    let look_like_reads = references.alphabet == Alphabet::Dna
        && count >= READS
        && letters <= READ_LETTERS * count as u64
        && first as u64 * count as u64 >= TIMES_LONGER * letters;
    if options.mode != Mode::All || options.reads_as_reference || !look_like_reads || queries.is_fastq() {
        return Ok(None);
    }
    if queries.count_ahead(MANY_QUERIES, LETTERS_AHEAD)? >= MANY_QUERIES {
        return Ok(None);
    }
    let [query, reference] = [&options.query, &options.reference].map(|path| path.display());
    Ok(Some(format!(
        "QUERY and REFERENCE look swapped: {reference} has {count} sequences of {} bases on average, but the first \
         of {query} has {first}; if {reference} contains the reads, stop this run and use `swalign {reference} \
         {query}`; to silence this warning, add --reads-as-reference",
        letters / count as u64
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_like_a_sequence() {
        for (text, expected) in [
            ("GATTACA", Some(Alphabet::Dna)),
            ("gattaca", Some(Alphabet::Dna)),
            ("GAUUACANN", Some(Alphabet::Dna)),
            ("MKVLAAGITR", Some(Alphabet::Protein)),
            ("GATT", None),
            ("GATTACA.fa", None),
            ("ref/GATTACA", None),
            ("reads", None),
            ("genome", None),
            ("-", None),
            ("MKV*LAAG", None),
        ] {
            assert_eq!(alphabet(text), expected, "{text}");
        }
    }
}
