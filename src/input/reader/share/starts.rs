//! Finds the starts of records from the surrounding lines alone, so that reading may begin anywhere.

use crate::input::reader::parse::{first_word, is_gap};
use crate::input::reader::source::is_blank;
use memchr::{memchr, memmem};
use needletail::parser::Format;

/// The start of a record in some bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordStart<'a> {
    pub at: usize,
    /// The header up to its first whitespace.
    pub name: &'a [u8],
    /// Number of residues in the available bytes.
    pub letters: usize,
    /// Whether more residues may follow.
    pub open: bool,
}

/// Finds the first record that begins after the first of `bytes`, which must be all remaining bytes if `at_end`. If
/// more bytes are needed to find it, the error is the number of leading bytes that are no longer needed.
pub fn next_start(
    format: Format,
    bytes: &[u8],
    at_end: bool,
    removes_gaps: bool,
) -> Result<RecordStart<'_>, usize> {
    match format {
        Format::Fasta => next_fasta(bytes, at_end, removes_gaps),
        Format::Fastq => next_fastq(bytes, at_end),
    }
}

/// A FASTA record begins at every line that begins with '>', and only there.
fn next_fasta(bytes: &[u8], at_end: bool, removes_gaps: bool) -> Result<RecordStart<'_>, usize> {
    let Some(newline) = memmem::find(bytes, b"\n>") else { return Err(bytes.len().saturating_sub(1)) };
    let record = &bytes[newline + 1..];
    let end = memmem::find(record, b"\n>");
    let Some(header) = memchr(b'\n', record).or(at_end.then_some(record.len())) else { return Err(newline) };
    let lines = &record[header..end.unwrap_or(record.len())];
    Ok(RecordStart {
        at: newline + 1,
        name: first_word(&record[1..header]),
        letters: lines
            .iter()
            .filter(|&&letter| !(is_blank(letter) || removes_gaps && is_gap(letter)))
            .count(),
        open: end.is_none() && !at_end,
    })
}

/// A FASTQ record is four lines. Its first line begins with '@', and the second line after that begins with '+'. No
/// other line has this property: neither bases nor the third line begin with '@', and the second line after a quality
/// line has bases, which never begin with '+'.
fn next_fastq(bytes: &[u8], at_end: bool) -> Result<RecordStart<'_>, usize> {
    let line_end = |from: usize| Some(from + memchr(b'\n', bytes.get(from..)?)?);
    let mut before = line_end(0);
    while let Some(newline) = before {
        let at = newline + 1;
        if at == bytes.len() && !at_end {
            return Err(newline);
        }
        if bytes.get(at) == Some(&b'@') {
            let header = line_end(at);
            let letters = header.and_then(|header| line_end(header + 1));
            match (header, letters, letters.and_then(|end| bytes.get(end + 1))) {
                (Some(header), Some(end), Some(b'+')) => {
                    let line = &bytes[header + 1..end];
                    let letters = line.strip_suffix(b"\r").unwrap_or(line).len();
                    return Ok(RecordStart {
                        at,
                        name: first_word(&bytes[at + 1..header]),
                        letters,
                        open: false,
                    });
                }
                (_, _, None) if !at_end => return Err(newline),
                _ => {}
            }
        }
        before = line_end(at);
    }
    Err(bytes.len())
}
