//! Where records begin, told by the lines around alone, so that reading may begin anywhere.

use crate::input::reader::parse::{first_word, is_gap};
use crate::input::reader::source::is_blank;
use memchr::{memchr, memmem};
use needletail::parser::Format;

/// A record that begins in some bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Start<'a> {
    pub at: usize,
    /// The header up to its first white space.
    pub name: &'a [u8],
    /// Letters, as far as they are there.
    pub letters: usize,
    /// There may be more of them.
    pub open: bool,
}

/// The first record that begins behind the first of `bytes`, which must be all there are if `at_end`. Where none is
/// known without more bytes, says how many of them are needed no more.
pub fn next_start(
    format: Format,
    bytes: &[u8],
    at_end: bool,
    removes_gaps: bool,
) -> Result<Start<'_>, usize> {
    match format {
        Format::Fasta => next_fasta(bytes, at_end, removes_gaps),
        Format::Fastq => next_fastq(bytes, at_end),
    }
}

/// A record of FASTA begins where a line begins with '>', and nowhere else.
fn next_fasta(bytes: &[u8], at_end: bool, removes_gaps: bool) -> Result<Start<'_>, usize> {
    let Some(newline) = memmem::find(bytes, b"\n>") else { return Err(bytes.len().saturating_sub(1)) };
    let record = &bytes[newline + 1..];
    let end = memmem::find(record, b"\n>");
    let Some(header) = memchr(b'\n', record).or(at_end.then_some(record.len())) else { return Err(newline) };
    let lines = &record[header..end.unwrap_or(record.len())];
    Ok(Start {
        at: newline + 1,
        name: first_word(&record[1..header]),
        letters: lines
            .iter()
            .filter(|&&letter| !(is_blank(letter) || removes_gaps && is_gap(letter)))
            .count(),
        open: end.is_none() && !at_end,
    })
}

/// A record of FASTQ is four lines, and begins with the line that begins with '@' and has one that begins with '+' two
/// lines further on. No other line is like that: letters and the third line don't begin with '@', and two lines behind
/// qualities that do stand letters, which never begin with '+'.
fn next_fastq(bytes: &[u8], at_end: bool) -> Result<Start<'_>, usize> {
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
                    return Ok(Start { at, name: first_word(&bytes[at + 1..header]), letters, open: false });
                }
                (_, _, None) if !at_end => return Err(newline),
                _ => {}
            }
        }
        before = line_end(at);
    }
    Err(bytes.len())
}
