//! The records of a piece: needletail parses, here faults get their place.

use super::blocks::Piece;
use super::checks::letter_remedy;
use super::cut::newlines;
use super::faults::{CR_REMEDY, ONE_FORMAT, Origin, STRAY_CR, is_room, shown, stray_cr};
use crate::alphabet::Alphabet;
use crate::error::{Error, Place, Result};
use needletail::parser::{FastaReader, FastqReader, FastxReader, Format, SequenceRecord};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// needletail's own size; a piece of a record or few gets a buffer that holds it at once.
const BUFFER: usize = 1 << 16;
const LARGE: usize = 1 << 20;

/// A record as it was parsed, its name and qualities checked. Its place counts from the start of the
/// piece; [`Before::shift`] puts that right.
pub struct Raw<'a> {
    parsed: &'a SequenceRecord<'a>,
    file: &'a Path,
    /// The header up to its first white space.
    pub name: &'a str,
    pub number: u64,
    pub line: u64,
}

/// What the input holds before a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    pub records: u64,
    pub lines: u64,
}

impl Piece<'_> {
    /// Gives `take` the records until it returns `false` or there is an error, and says which. When all
    /// are taken, the count is that of the piece.
    pub fn records(
        &self,
        origin: &Origin,
        mut take: impl FnMut(Raw) -> Result<bool>,
    ) -> (Before, Result<bool>) {
        if self.bytes.len() > LARGE && !is_room(2 * self.bytes.len()) {
            return (Before::default(), Err(origin.too_long(self.bytes)));
        }
        let mut parser = self.parser();
        // Most files have none, and their records need not be looked at one by one.
        let has_cr = memchr::memchr(b'\r', self.bytes).is_some();
        let mut read = 0;
        while let Some(parsed) = parser.next() {
            let number = read + 1;
            let taken = match parsed {
                Ok(parsed) => Raw::new(&parsed, number, &origin.path, has_cr).and_then(&mut take),
                Err(error) => Err(origin.fault_in(self.bytes, number, error)),
            };
            match taken {
                Ok(true) => read = number,
                end => return (Before { records: read, lines: 0 }, end),
            }
        }
        // The parser stands at the last record.
        let last = parser.position();
        let lines = last.line().saturating_sub(1) + newlines(&self.bytes[last.byte() as usize..]) as u64;
        (Before { records: read, lines }, Ok(true))
    }

    fn parser(&self) -> Box<dyn FastxReader + '_> {
        // needletail refuses a FASTA header that ends its input, while one before another record is a
        // record without letters.
        let newline: &[u8] = if self.closed && self.format == Format::Fasta { b"\n" } else { b"" };
        let capacity = if self.bytes.len() > LARGE { self.bytes.len() + 2 } else { BUFFER };
        let bytes = self.bytes.chain(newline);
        match self.format {
            Format::Fasta => Box::new(FastaReader::with_capacity(bytes, capacity)),
            Format::Fastq => Box::new(FastqReader::with_capacity(bytes, capacity)),
        }
    }
}

impl<'a> Raw<'a> {
    /// Without `has_cr` there is no CR in the record.
    pub fn new(parsed: &'a SequenceRecord<'a>, number: u64, file: &'a Path, has_cr: bool) -> Result<Raw<'a>> {
        let name = first_word(parsed.id());
        let line = parsed.start_line_number();
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
        // All of them, without a way out before the end: that is many at a time.
        if qualities.iter().fold(false, |bad, quality| bad | !quality.is_ascii_graphic()) {
            let at = qualities.iter().take_while(|quality| quality.is_ascii_graphic()).count() + 1;
            let problem = format!("the quality at position {at} is outside '!' to '~'");
            let remedy = "give Phred+33 qualities, one character a letter";
            return Err(Error::input(place(line + 3), problem, remedy));
        }
        Ok(Raw { parsed, file, name: text, number, line })
    }

    /// The whole header, with spaces for tabs.
    pub fn header(&self) -> String {
        String::from_utf8_lossy(self.parsed.id()).replace('\t', " ")
    }

    /// The letters in upper case, without line ends.
    pub fn letters(&self) -> Vec<u8> {
        let mut letters = self.parsed.seq().into_owned();
        letters.make_ascii_uppercase();
        letters
    }

    /// The letters as they are written, without line ends.
    pub fn written(&self) -> Cow<'_, [u8]> {
        self.parsed.seq()
    }

    /// Phred+33 characters.
    pub fn qualities(&self) -> Option<Vec<u8>> {
        self.parsed.qual().map(<[u8]>::to_vec)
    }

    /// The same, as they stand there; none of FASTA.
    pub fn quality_line(&self) -> &[u8] {
        self.parsed.qual().unwrap_or_default()
    }

    pub fn fault(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let record = Some((self.number, shown(self.name)));
        let place = Place { file: self.file.to_path_buf(), record, line: Some(self.line) };
        Error::input(place, problem, remedy)
    }

    /// The error of FASTQ in the middle of FASTA, where the first letter outside the alphabet is `letter`.
    pub fn mixed(&self, letter: u8) -> Option<Error> {
        let all = self.parsed.all();
        let at = memchr::memmem::find(all, b"\n@").filter(|_| letter == b'@')?;
        let record = Some((self.number, shown(self.name)));
        let line = Some(self.line + newlines(&all[..=at]) as u64);
        let place = Place { file: self.file.to_path_buf(), record, line };
        let problem = "a record of FASTQ begins here, but the file began as FASTA: formats are mixed";
        Some(Error::input(place, problem, ONE_FORMAT))
    }

    /// The error of a letter, at 0-based `at`, that `alphabet` lacks.
    pub fn foreign_letter(&self, letter: u8, at: usize, alphabet: Alphabet) -> Error {
        if let Some(mixed) = self.mixed(letter) {
            return mixed;
        }
        let shown = letter.escape_ascii();
        let problem = format!("'{shown}' at position {} is not a letter of the {alphabet} alphabet", at + 1);
        self.fault(problem, letter_remedy(letter, alphabet))
    }
}

impl Before {
    pub fn add(&mut self, more: Before) {
        self.records += more.records;
        self.lines += more.lines;
    }

    /// An error of a piece that follows, in its true place.
    pub fn shift(self, error: Error) -> Error {
        match error {
            Error::Input { place, problem, remedy } => Error::input(self.place(place), problem, remedy),
            other => other,
        }
    }

    /// A place of a piece that follows, as it truly is.
    pub fn place(self, mut place: Place) -> Place {
        place.record = place.record.map(|(number, name)| (number + self.records, name));
        place.line = place.line.map(|line| line + self.lines);
        place
    }
}

/// A header up to its first white space.
pub fn first_word(header: &[u8]) -> &[u8] {
    let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
    &header[..end]
}
