//! SAM: the records (SAMv1 specification, 2024).
//!
//! One primary record a query, further hits as secondary ones without SEQ and QUAL, an unmapped
//! record where nothing was found. SEQ stands in the target's orientation, soft-clipped. Proteins
//! keep their letters; only a stop `*`, which SAM forbids there, becomes X.
//!
//! A run may have millions of records, so their text is made here, column by column. The tests hold
//! it against noodles.

use super::header::{self, read_group};
use super::tags::{Differences, Residues, mapping_quality, push_number, sam_letter};
use crate::alignment::{Alignment, Found, Op, Strand};
use crate::alphabet::reverse_complement;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};
use crate::options::Options;
use crate::reader::Record;
use crate::scoring::Scoring;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// FLAG bits.
const UNMAPPED: u32 = 4;
const REVERSE: u32 = 16;
const SECONDARY: u32 = 256;
/// The longest name that SAM can hold.
const MAX_NAME: usize = 254;
/// What a line usually has beside SEQ and QUAL, at most; if it has more its text grows.
const LINE_BYTES: usize = 192;
/// RNEXT, PNEXT and TLEN of a read that has no mate, with the tabs around them.
const NO_MATE: &[u8] = b"\t*\t0\t0\t";

/// Writes SAM; all a run's records share one. It holds no state between calls, so that several
/// threads may each write a part into a buffer of their own.
pub struct SamWriter {
    header: Vec<Vec<u8>>,
    names: Vec<String>,
    targets: Arc<Sequences>,
    scoring: Arc<Scoring>,
    residues: Residues,
    eqx: bool,
    /// The last tag of every record, with its tab.
    read_group: String,
    /// Where the records come from, for error messages.
    query: PathBuf,
}

/// A record can't stand in SAM, and why.
struct Refused(String);

impl SamWriter {
    /// A writer for a run of `options` with its resolved least score and scoring, against `targets`
    /// under these `names`. Everything that can't stand in a header is refused here, before anything
    /// is written.
    pub fn new(
        options: &Options,
        min_score: i32,
        scoring: Arc<Scoring>,
        names: Vec<String>,
        targets: Arc<Sequences>,
    ) -> Result<SamWriter> {
        let group = options.read_group.as_deref().map(read_group).transpose()?;
        let read_group = group.as_ref().map_or(String::new(), |(id, _)| format!("\tRG:Z:{id}"));
        Ok(SamWriter {
            header: header::text(options, min_score, &scoring, group, &names, &targets)?,
            names,
            targets,
            residues: Residues::new(scoring.alphabet),
            scoring,
            eqx: options.eqx,
            read_group,
            query: options.query.clone(),
        })
    }

    /// The header's text, in parts.
    pub fn header(&self) -> &[Vec<u8>] {
        &self.header
    }

    /// The text of all records of the given queries and what was found for them, in their order.
    pub fn records(&self, queries: &[Record], found: &[Found]) -> Result<Vec<u8>> {
        let letters = |query: &Record| query.sequence.len() + query.qualities.as_ref().map_or(0, Vec::len);
        let bytes = queries.iter().map(|query| letters(query) + LINE_BYTES).sum();
        let mut text = Vec::with_capacity(bytes);
        let mut differences = Differences::default();
        for (record, found) in queries.iter().zip(found) {
            self.push_query(&mut text, &mut differences, record, found)
                .map_err(|refused| self.refused(record, &refused))?;
        }
        Ok(text)
    }

    /// The error of a record that SAM can't hold.
    fn refused(&self, record: &Record, Refused(problem): &Refused) -> Error {
        let place = Place {
            file: self.query.clone(),
            record: Some((record.number, record.name.clone())),
            line: None,
        };
        let remedy = "give it a name of 1 to 254 printable ASCII characters without '@', and qualities from '!' to '~'";
        Error::input(place, format!("SAM can't hold this record ({problem})"), remedy)
    }

    /// Appends the records of one query; `differences` is only a buffer.
    fn push_query(
        &self,
        text: &mut Vec<u8>,
        differences: &mut Differences,
        record: &Record,
        found: &Found,
    ) -> Result<(), Refused> {
        let Some((primary, secondary)) = found.alignments.split_first() else {
            push_name(text, &record.name)?;
            push_column(text, UNMAPPED);
            text.extend_from_slice(b"\t*\t0\t0\t*");
            text.extend_from_slice(NO_MATE);
            push_sequence(text, &record.sequence, record.qualities.as_deref(), Strand::Forward)?;
            self.finish(text);
            return Ok(());
        };
        let query = oriented(record, primary.strand);
        let quality = mapping_quality(&self.scoring, primary, found.second, found.threshold);
        push_name(text, &record.name)?;
        self.push_place(text, &query, primary, 0, quality);
        push_sequence(text, &query, record.qualities.as_deref(), primary.strand)?;
        self.push_tags(text, differences, &query, primary);
        if let Some(second) = found.second {
            // No constant of SAM: it leaves X? to programs, and bwa and bowtie2 use XS alike.
            text.extend_from_slice(b"\tXS:i:");
            push_number(text, second);
        }
        self.finish(text);
        for alignment in secondary {
            let query = oriented(record, alignment.strand);
            push_name(text, &record.name)?;
            self.push_place(text, &query, alignment, SECONDARY, 0);
            // The primary record has them already.
            text.extend_from_slice(b"*\t*");
            self.push_tags(text, differences, &query, alignment);
            self.finish(text);
        }
        Ok(())
    }

    /// FLAG to TLEN, with the tabs around them. `query` is in the aligned orientation.
    fn push_place(&self, text: &mut Vec<u8>, query: &[u8], alignment: &Alignment, flags: u32, quality: u8) {
        let strand = if alignment.strand == Strand::Reverse { REVERSE } else { 0 };
        push_column(text, flags | strand);
        text.push(b'\t');
        text.extend_from_slice(self.names[alignment.target as usize].as_bytes());
        push_column(text, alignment.target_start + 1);
        push_column(text, quality);
        text.push(b'\t');
        self.push_cigar(text, query, alignment);
        text.extend_from_slice(NO_MATE);
    }

    /// The path with soft clips at its ends, so that it consumes the whole query.
    fn push_cigar(&self, text: &mut Vec<u8>, query: &[u8], alignment: &Alignment) {
        let target = self.targets.get(alignment.target as usize);
        let (mut i, mut j) = (alignment.query_start as usize, alignment.target_start as usize);
        push_op(text, i, b'S');
        for &(len, op) in &alignment.cigar {
            let len = len as usize;
            match op {
                Op::Match if self.eqx => self.push_eqx(text, &query[i..i + len], &target[j..j + len]),
                Op::Match => push_op(text, len, b'M'),
                Op::Insertion => push_op(text, len, b'I'),
                Op::Deletion => push_op(text, len, b'D'),
            }
            i += if op == Op::Deletion { 0 } else { len };
            j += if op == Op::Insertion { 0 } else { len };
        }
        push_op(text, query.len() - i, b'S');
    }

    /// A run of `M` as `=` and `X`.
    fn push_eqx(&self, text: &mut Vec<u8>, query: &[u8], target: &[u8]) {
        // A run of X is open from `start` to `end`; what lies between `end` and the next is equal.
        let (mut start, mut end) = (0, 0);
        self.residues.for_each_unequal(query, target, |at| {
            if at > end {
                push_op(text, end - start, b'X');
                push_op(text, at - end, b'=');
                start = at;
            }
            end = at + 1;
        });
        push_op(text, end - start, b'X');
        push_op(text, query.len() - end, b'=');
    }

    /// NM, MD and AS.
    fn push_tags(
        &self,
        text: &mut Vec<u8>,
        differences: &mut Differences,
        query: &[u8],
        alignment: &Alignment,
    ) {
        let target = self.targets.get(alignment.target as usize);
        differences.find(&self.residues, query, target, alignment);
        text.extend_from_slice(b"\tNM:i:");
        push_number(text, differences.edits);
        text.extend_from_slice(b"\tMD:Z:");
        text.extend_from_slice(&differences.md);
        text.extend_from_slice(b"\tAS:i:");
        push_number(text, alignment.score);
    }

    /// Adds the read group, always the last tag, and ends the line.
    fn finish(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(self.read_group.as_bytes());
        text.push(b'\n');
    }
}

/// QNAME; a nameless record is `*`.
fn push_name(text: &mut Vec<u8>, name: &str) -> Result<(), Refused> {
    let letters = name.bytes().all(|letter| letter.is_ascii_graphic() && letter != b'@');
    if !letters || name.len() > MAX_NAME || name == "*" {
        return Err(invalid());
    }
    text.extend_from_slice(if name.is_empty() { b"*" } else { name.as_bytes() });
    Ok(())
}

/// SEQ and QUAL: `query` in the aligned orientation already, `qualities` as they were read.
fn push_sequence(
    text: &mut Vec<u8>,
    query: &[u8],
    qualities: Option<&[u8]>,
    strand: Strand,
) -> Result<(), Refused> {
    let qualities = qualities.unwrap_or_default();
    // Folds, since `all` stops early and is then not done with vectors.
    let lettered = query.iter().fold(true, |all, &letter| all & is_letter(sam_letter(letter)));
    let graphic = qualities.iter().fold(true, |all, quality| all & quality.is_ascii_graphic());
    if !lettered {
        return Err(invalid());
    }
    if !qualities.is_empty() && qualities.len() != query.len() {
        let (expected, got) = (query.len(), qualities.len());
        let problem = format!("sequence-quality scores length mismatch: expected {expected}, got {got}");
        return Err(Refused(problem));
    }
    if !graphic {
        return Err(invalid());
    }
    match query.is_empty() {
        true => text.push(b'*'),
        false => text.extend(query.iter().map(|&letter| sam_letter(letter))),
    }
    text.push(b'\t');
    match strand {
        _ if qualities.is_empty() => text.push(b'*'),
        Strand::Forward => text.extend_from_slice(qualities),
        Strand::Reverse => text.extend(qualities.iter().rev()),
    }
    Ok(())
}

/// What SAM allows in SEQ.
fn is_letter(letter: u8) -> bool {
    letter.is_ascii_alphabetic() | (letter == b'=') | (letter == b'.')
}

fn invalid() -> Refused {
    Refused("invalid input parameter".to_string())
}

/// The query's letters in the orientation of an alignment.
fn oriented(record: &Record, strand: Strand) -> Cow<'_, [u8]> {
    match strand {
        Strand::Forward => Cow::Borrowed(&record.sequence),
        Strand::Reverse => Cow::Owned(reverse_complement(&record.sequence)),
    }
}

/// One operation of a CIGAR; nothing for length 0.
fn push_op(text: &mut Vec<u8>, len: usize, kind: u8) {
    if len > 0 {
        push_number(text, len as i64);
        text.push(kind);
    }
}

/// A tab and a number.
fn push_column(text: &mut Vec<u8>, number: impl Into<i64>) {
    text.push(b'\t');
    push_number(text, number);
}
