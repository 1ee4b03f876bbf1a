//! Parses the records of a piece with needletail, and adds positions to faults.

use super::blocks::BlockPiece;
use super::checks::letter_remedy;
use super::cut::newlines;
use super::faults::{CR_REMEDY, ONE_FORMAT, Origin, STRAY_CR, is_room, shown, stray_cr};
use super::remarks::{RecordRemarks, Remark};
use super::sam_tags::{CommentTags, tags_of_comment};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_usize;
use crate::terms::error::{Error, Place, Result};
use crate::terms::options::ReadRules;
use needletail::parser::{FastaReader, FastqReader, FastxReader, Format, SequenceRecord};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read;
use std::path::Path;

/// needletail's default buffer size. A piece with one or few long records gets a buffer that holds it at once.
const BUFFER: usize = 1 << 16;
const LARGE: usize = 1 << 20;
/// A placeholder header, which the parser needs before the continuation of a record.
const CONTINUED: &[u8] = b">\n";

/// A parsed record whose name and qualities are checked. Its position counts from the start of the piece;
/// [`Before::shift`] corrects that.
pub struct Raw<'a> {
    parsed: &'a SequenceRecord<'a>,
    reading: ParseOptions<'a>,
    /// Whether this record continues the previous one. Then it has no header, and its line is 0.
    pub continues: bool,
    /// Whether a FASTQ read has `.` for N.
    has_dots: bool,
    /// The header up to its first whitespace.
    pub name: &'a str,
    pub number: u64,
    pub line: u64,
}

/// How to parse the records of a piece, and where to collect remarks.
#[derive(Clone, Copy)]
pub struct ParseOptions<'a> {
    pub file: &'a Path,
    pub rules: ReadRules,
    /// If false, the piece contains no CR.
    pub has_cr: bool,
    pub remarks: &'a RefCell<RecordRemarks>,
}

/// Counts of the input before a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    pub records: u64,
    pub lines: u64,
}

impl BlockPiece<'_> {
    /// Passes the records to `take` until it returns `false` or an error, and returns that outcome. If all records are
    /// taken, the counts are those of the whole piece.
    pub fn records(
        &self,
        (origin, rules): (&Origin, ReadRules),
        remarks: &RefCell<RecordRemarks>,
        mut take: impl FnMut(Raw) -> Result<bool>,
    ) -> (Before, Result<bool>) {
        if self.bytes.len() > LARGE && !is_room(2 * self.bytes.len()) {
            return (Before::default(), Err(origin.too_long(self.bytes)));
        }
        let mut parser = self.parser();
        // Most files have no CR, and their records need no check.
        let has_cr = memchr::memchr(b'\r', self.bytes).is_some();
        let reading = ParseOptions { file: &origin.path, rules, has_cr, remarks };
        // For the parser, a continuation has a header of its own.
        let added = u64::from(self.continues);
        let (mut read, mut number) = (0, 1 - added);
        while let Some(parsed) = parser.next() {
            let taken = match parsed {
                Ok(parsed) => {
                    let line = parsed.start_line_number() - added;
                    Raw::new(&parsed, (number, line), reading).and_then(&mut take)
                }
                Err(mut error) => {
                    error.position.line = error.position.line.saturating_sub(added);
                    Err(origin.fault_in(self.bytes, number, error))
                }
            };
            match taken {
                Ok(true) => (read, number) = (number, number + 1),
                end => return (Before { records: read, lines: 0 }, end),
            }
        }
        // The parser's position is the last record.
        let last = parser.position();
        let byte = to_usize(last.byte()).saturating_sub(if self.continues { CONTINUED.len() } else { 0 });
        let lines = last.line().saturating_sub(1 + added) + newlines(&self.bytes[byte..]) as u64;
        (Before { records: read, lines }, Ok(true))
    }

    fn parser(&self) -> Box<dyn FastxReader + '_> {
        // needletail rejects a FASTA header at the end of its input, but accepts one before another record as a record
        // without residues.
        let newline: &[u8] = if self.closed && self.format == Format::Fasta { b"\n" } else { b"" };
        let header: &[u8] = if self.continues { CONTINUED } else { b"" };
        let added = CONTINUED.len() + 2;
        let capacity = if self.bytes.len() > LARGE { self.bytes.len() + added } else { BUFFER };
        let bytes = header.chain(self.bytes).chain(newline);
        match self.format {
            Format::Fasta => Box::new(FastaReader::with_capacity(bytes, capacity)),
            Format::Fastq => Box::new(FastqReader::with_capacity(bytes, capacity)),
        }
    }
}

impl<'a> Raw<'a> {
    /// Checks the name and the qualities of a record.
    pub fn new(
        parsed: &'a SequenceRecord<'a>,
        (number, line): (u64, u64),
        reading: ParseOptions<'a>,
    ) -> Result<Raw<'a>> {
        let ParseOptions { file, has_cr, .. } = reading;
        let name = first_word(parsed.id());
        let place = |line| {
            let name = shown(&String::from_utf8_lossy(name));
            Place { file: file.to_path_buf(), record: Some((number, name)), line: Some(line) }
        };
        let Ok(text) = str::from_utf8(name) else {
            let remedy = "rename it with printable ASCII characters";
            return Err(Error::input(place(line), "the name is not valid UTF-8", remedy));
        };
        if let Some(at) = has_cr.then(|| stray_cr(parsed.all())).flatten() {
            let line = line + newlines(&parsed.all()[..at]) as u64;
            return Err(Error::input(place(line), STRAY_CR, CR_REMEDY));
        }
        let qualities = parsed.qual().unwrap_or_default();
        // Without an early exit, so that the loop vectorizes.
        if qualities.iter().fold(false, |bad, quality| bad | !quality.is_ascii_graphic()) {
            let at = qualities.iter().take_while(|quality| quality.is_ascii_graphic()).count() + 1;
            let problem = format!("the quality at position {at} is outside '!' to '~'");
            let remedy = "give Phred+33 qualities, one character per base";
            return Err(Error::input(place(line + 3), problem, remedy));
        }
        let has_dots = !qualities.is_empty() && memchr::memchr(b'.', parsed.raw_seq()).is_some();
        let raw = Raw { parsed, reading, continues: number == 0, has_dots, name: text, number, line };
        if has_dots {
            raw.remark(Remark::Dots);
        }
        Ok(raw)
    }

    /// Records a tolerated irregularity of this record.
    pub fn remark(&self, remark: Remark) {
        self.reading.remarks.borrow_mut().note(remark, || self.place());
    }

    /// The whole header, with tabs replaced by spaces.
    pub fn header(&self) -> String {
        self.written_header().replace('\t', " ")
    }

    /// The whole header.
    pub fn written_header(&self) -> String {
        String::from_utf8_lossy(self.parsed.id().trim_ascii()).into_owned()
    }

    /// The residues in upper case, without line ends.
    pub fn letters(&self) -> Vec<u8> {
        let mut letters = self.written().into_owned();
        letters.make_ascii_uppercase();
        letters
    }

    /// The residues as they are written, without line ends and whitespace; in FASTQ, `.` becomes N.
    pub fn written(&self) -> Cow<'_, [u8]> {
        let mut letters = self.parsed.seq();
        if self.parsed.qual().is_some() {
            if self.has_dots {
                letters.to_mut().iter_mut().filter(|letter| **letter == b'.').for_each(|dot| *dot = b'N');
            }
            return letters;
        }
        if memchr::memchr2(b' ', b'\t', &letters).is_some() {
            letters.to_mut().retain(|letter| !b" \t".contains(letter));
        }
        if self.reading.rules.removes_gaps && memchr::memchr2(b'-', b'.', &letters).is_some() {
            letters.to_mut().retain(|&letter| !is_gap(letter));
        }
        letters
    }

    /// SAM tags of the comment, if tags are kept, or the whole comment if it has the fields of an alignment.
    pub fn tags(&self) -> Vec<u8> {
        let ReadRules { keeps_tags, has_read_group, keeps_fields, .. } = self.reading.rules;
        if !keeps_tags && !keeps_fields {
            return Vec::new();
        }
        let header = self.parsed.id().trim_ascii_start();
        let comment = header[first_word(header).len()..].trim_ascii();
        if keeps_fields {
            return comment.to_vec();
        }
        let CommentTags { text, has_others } = tags_of_comment(comment, has_read_group);
        if has_others {
            self.remark(Remark::NoTag);
        }
        text
    }

    /// Whether it is a FASTQ record.
    pub fn has_qualities(&self) -> bool {
        self.parsed.qual().is_some()
    }

    /// Phred+33 characters.
    pub fn qualities(&self) -> Option<Vec<u8>> {
        self.parsed.qual().map(<[u8]>::to_vec)
    }

    /// The qualities as they are written; empty for FASTA.
    pub fn quality_line(&self) -> &[u8] {
        self.parsed.qual().unwrap_or_default()
    }

    pub fn fault(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.place(), problem, remedy)
    }

    fn place(&self) -> Place {
        let record = Some((self.number, shown(self.name)));
        Place { file: self.reading.file.to_path_buf(), record, line: Some(self.line) }
    }

    /// The error for FASTQ in the middle of FASTA, if that explains `letter`, the first character outside the alphabet.
    pub fn mixed(&self, letter: u8) -> Option<Error> {
        let all = self.parsed.all();
        let letters = if self.continues { CONTINUED.len() } else { memchr::memchr(b'\n', all)? };
        let at = letters + memchr::memchr(b'@', &all[letters..]).filter(|&at| letter == b'@' && at > 0)?;
        if all[at - 1] != b'\n' {
            return None;
        }
        let line = Some(self.line + newlines(&all[..at]) as u64);
        let place = Place { line, ..self.place() };
        let problem = "a FASTQ record begins here, but the file begins with FASTA: the formats are mixed";
        Some(Error::input(place, problem, ONE_FORMAT))
    }

    /// The error for the character at 0-based `at` that is outside `alphabet`.
    pub fn foreign_letter(&self, letter: u8, at: usize, alphabet: Alphabet) -> Error {
        if let Some(mixed) = self.mixed(letter) {
            return mixed;
        }
        let (problem, remedy) = foreign_letter(letter, at, alphabet, self.parsed.qual().is_some());
        self.fault(problem, remedy)
    }
}

/// The problem of a character of FASTQ or FASTA, at 0-based `at`, that is outside `alphabet`, and its remedy.
pub fn foreign_letter(letter: u8, at: usize, alphabet: Alphabet, is_fastq: bool) -> (String, &'static str) {
    let shown = letter.escape_ascii();
    let problem = format!("'{shown}' at position {} is not in the {alphabet} alphabet", at + 1);
    (problem, letter_remedy(letter, alphabet, is_fastq))
}

impl Before {
    pub fn add(&mut self, more: Before) {
        self.records += more.records;
        self.lines += more.lines;
    }

    /// Corrects the position of an error in the piece that follows these counts.
    pub fn shift(self, error: Error) -> Error {
        match error {
            Error::Input { place, problem, remedy } => Error::input(self.place(place), problem, remedy),
            other => other,
        }
    }

    /// Corrects a position in the piece that follows these counts.
    pub fn place(self, mut place: Place) -> Place {
        place.record = place.record.map(|(number, name)| (number + self.records, name));
        place.line = place.line.map(|line| line + self.lines);
        place
    }
}

/// Whether a character is a gap of aligned sequences.
pub fn is_gap(letter: u8) -> bool {
    letter == b'-' || letter == b'.'
}

/// The first word of a header, which whitespace may precede.
pub fn first_word(header: &[u8]) -> &[u8] {
    let header = header.trim_ascii_start();
    let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
    &header[..end]
}
