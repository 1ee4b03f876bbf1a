//! What can be wrong with an input as a whole, and needletail's errors in our words.

use super::source::{Packing, Trace};
use crate::error::{Error, Place};
use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::Format;
use std::io;
use std::path::{Path, PathBuf};

const EMPTY: &str = "the input is empty: no records";
const GIVE_RECORDS: &str = "give FASTA or FASTQ with at least one sequence";

/// A name as errors show it: without control characters, and not endless where a file is no FASTA.
pub fn shown(name: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = name.chars().take(LONGEST).collect();
    let rest = if start.len() < name.len() { "..." } else { "" };
    format!("{}{rest}", start.escape_debug())
}

/// The place that is a whole file.
pub fn whole(file: &Path) -> Place {
    Place { file: file.to_path_buf(), record: None, line: None }
}

pub fn no_records(file: &Path) -> Error {
    Error::input(whole(file), EMPTY, GIVE_RECORDS)
}

/// Why a file could not be opened.
pub fn unopened(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound => {
            Error::input(whole(path), "no such file", "check the path and the current directory")
        }
        io::ErrorKind::PermissionDenied => {
            Error::input(whole(path), "reading it is not permitted", "change its permissions")
        }
        _ => Error::io(path, source),
    }
}

/// Where bytes come from, for errors.
pub struct Origin {
    /// The path as errors show it.
    pub path: PathBuf,
    pub packing: Packing,
    pub trace: Trace,
}

impl Origin {
    /// Why the file itself could not be read.
    pub fn unread(&self, error: io::Error) -> Error {
        Error::io(&self.path, self.trace.take_error().unwrap_or(error))
    }

    /// An error of needletail where it reads the file itself.
    pub fn fault(&self, number: Option<u64>, error: ParseError) -> Error {
        match self.trace.take_error() {
            Some(source) => Error::io(&self.path, source),
            None => self.parse_fault(number, error),
        }
    }

    /// needletail's error with its place, and the remedy that it lacks.
    pub fn parse_fault(&self, number: Option<u64>, error: ParseError) -> Error {
        let name = error.position.id.as_deref().unwrap_or_default();
        let name = shown(name.split_ascii_whitespace().next().unwrap_or_default());
        let line = Some(error.position.line).filter(|&line| line > 0);
        let place = Place { file: self.path.clone(), record: number.map(|n| (n, name)), line };
        let (problem, remedy) = explain(self.packing, &error);
        Error::input(place, problem, remedy)
    }
}

/// The problem and its remedy.
fn explain(packing: Packing, error: &ParseError) -> (String, &'static str) {
    let packed = matches!(packing, Packing::Gzip | Packing::Bgzf);
    let msg = &error.msg;
    let four_lines = "give each record four lines (@name, letters, +, qualities) and no empty ones \
                      between records; the file may be cut short";
    let cut = "the file may be cut short or damaged: copy or write it again";
    let (problem, remedy) = match error.kind {
        ParseErrorKind::Io => {
            let problem = format!("the gzip data are cut short or damaged ({msg})");
            return (problem, "copy or compress the file again; `gzip -t` checks it");
        }
        ParseErrorKind::UnequalLengths => {
            let problem = format!("letters and qualities differ in number: {}", msg.to_lowercase());
            return (problem, four_lines);
        }
        ParseErrorKind::EmptyFile if packed => ("the gzip data are cut short", cut),
        ParseErrorKind::EmptyFile => (EMPTY, GIVE_RECORDS),
        // Where gzip data hold nothing, the newline of [`Source`] is their first character.
        ParseErrorKind::UnknownFormat if packed && msg.contains("\\n") => {
            ("the gzip data hold no records, or begin with an empty line", GIVE_RECORDS)
        }
        ParseErrorKind::UnknownFormat => (
            "neither FASTA nor FASTQ: the first character is not '>' or '@'",
            "give FASTA or FASTQ, plain or gzip, without empty lines before the first record",
        ),
        ParseErrorKind::InvalidStart => ("a record must begin with '@' here", four_lines),
        ParseErrorKind::InvalidSeparator => ("a line with '+' must follow the letters", four_lines),
        ParseErrorKind::UnexpectedEnd if error.format == Some(Format::Fasta) => (
            "the input ends inside a header",
            "the file may be cut short, or its lines may end in CR alone: end them with LF or CRLF",
        ),
        ParseErrorKind::UnexpectedEnd => ("the input ends inside a record", cut),
    };
    (problem.to_string(), remedy)
}
