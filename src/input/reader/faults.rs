//! Errors of an input as a whole, and needletail's errors in our wording.

use super::bam::DamagedBam;
use super::cut::newlines;
use super::gunzip::{Damaged, GzipTail};
use super::parse::first_word;
use super::source::BAM;
use crate::terms::error::{Error, Place};
use crate::terms::memory::may_fail;
use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::Format;
use std::io;
use std::path::{Path, PathBuf};

/// The problem of a file that is neither FASTA nor FASTQ.
pub const UNKNOWN_FORMAT: &str = "neither FASTA nor FASTQ: the first character is not '>' or '@'";
/// The problem of an input without records, and its remedy.
pub const EMPTY: &str = "the input is empty: no records";
const GIVE_RECORDS: &str = "give FASTA or FASTQ with at least one sequence";

/// The problem of a CR inside a line, and its remedy.
pub const STRAY_CR: &str = "there is a CR within the line";
pub const CR_REMEDY: &str = "use the same line endings everywhere: LF, CRLF or CR";
/// The remedy for FASTA and FASTQ in one file.
pub const ONE_FORMAT: &str = "use separate files for FASTA and FASTQ";

/// The remedy if memory does not suffice.
pub const NO_ROOM: &str = "give the command more memory, or check whether the input ends";

/// The first CR that is neither followed by LF nor the last byte.
pub fn stray_cr(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\r', bytes).find(|&at| bytes.get(at + 1).is_some_and(|&next| next != b'\n'))
}

/// Makes `bytes` at least `len` long; returns `false` if memory does not suffice.
pub fn lengthen(bytes: &mut Vec<u8>, len: usize) -> bool {
    let more = len.saturating_sub(bytes.len());
    let is_room = may_fail(|| bytes.try_reserve_exact(more)).is_ok();
    if is_room && more > 0 {
        bytes.resize(len, 0);
    }
    is_room
}

/// Whether `len` bytes of memory are available now, for callers whose own allocation cannot fail gracefully.
pub fn is_room(len: usize) -> bool {
    may_fail(|| Vec::<u8>::new().try_reserve_exact(len)).is_ok()
}

/// A name as errors show it: without control characters, and shortened if it is long.
pub fn shown(name: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = name.chars().take(LONGEST).collect();
    let rest = if start.len() < name.len() { "..." } else { "" };
    format!("{}{rest}", start.escape_debug())
}

/// The position that stands for a whole file.
pub fn whole(file: &Path) -> Place {
    Place { file: file.to_path_buf(), record: None, line: None }
}

/// The error for a file of alignments that cannot be read as sequences.
pub fn alignments(path: &Path, format: &str) -> Error {
    let remedy = match format {
        BAM => "convert it to FASTA with `samtools fasta FILE`".to_string(),
        _ => {
            let reference = if format == "CRAM" { " --reference REF.fa" } else { "" };
            format!(
                "convert it to BAM, as in `samtools view -u{reference} FILE | swalign - ...`, or to FASTQ with \
                 `samtools fastq`"
            )
        }
    };
    Error::input(whole(path), format!("this is {format}, which contains alignments"), remedy)
}

/// The error for a file that could not be opened.
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

/// The error for a file that could not be read to its end.
pub fn unread(path: &Path, error: io::Error) -> Error {
    if let Some(damaged) = error.get_ref().filter(|known| known.is::<DamagedBam>()) {
        let remedy = "copy or write the file again; check it with `samtools quickcheck`";
        return Error::input(whole(path), damaged.to_string(), remedy);
    }
    match error.get_ref().filter(|known| known.is::<Damaged>()) {
        Some(damaged) => {
            let remedy = "copy or compress the file again; check it with `gzip -t`";
            Error::input(whole(path), damaged.to_string(), remedy)
        }
        None => Error::io(path, error),
    }
}

/// The error for a file in another encoding.
pub fn encoded(path: &Path, encoding: &str) -> Error {
    let remedy = format!("convert it to UTF-8: `iconv -f {encoding} -t UTF-8 FILE | swalign - ...`");
    Error::input(whole(path), "the text is UTF-16", remedy)
}

/// The source of the bytes, for errors.
pub struct Origin {
    /// The path as errors show it.
    pub path: PathBuf,
    pub tail: GzipTail,
}

impl Origin {
    /// Converts needletail's error, with its position and a remedy.
    pub fn fault(&self, number: Option<u64>, error: ParseError) -> Error {
        let name = error.position.id.as_deref().unwrap_or_default();
        let name = shown(name.split_ascii_whitespace().next().unwrap_or_default());
        let line = Some(error.position.line).filter(|&line| line > 0);
        let place = Place { file: self.path.clone(), record: number.map(|n| (n, name)), line };
        let (problem, remedy) = explain(&error);
        Error::input(place, problem, remedy)
    }
}

impl Origin {
    /// The error for the first record in `bytes`, for which memory does not suffice.
    pub fn too_long(&self, bytes: &[u8]) -> Error {
        const MOST: usize = 300;
        let header = bytes.get(1..bytes.len().min(MOST)).unwrap_or_default();
        let name = shown(&String::from_utf8_lossy(first_word(header)));
        let place = Place { file: self.path.clone(), record: Some((1, name)), line: Some(1) };
        let problem = format!("out of memory after {} bytes of this record", bytes.len());
        Error::input(place, problem, NO_ROOM)
    }

    /// The error for an excessive number of empty lines, after which another record could only be an error.
    pub fn only_empty_lines(&self) -> Error {
        Error::input(whole(&self.path), "more than 32 MiB of empty lines follow a record", "remove them")
    }

    /// The error for a record in `bytes`. If one of its lines contains a CR, that is reported as the cause.
    pub fn fault_in(&self, bytes: &[u8], number: u64, error: ParseError) -> Error {
        let last = match error.kind {
            ParseErrorKind::InvalidStart | ParseErrorKind::UnequalLengths => error.position.line + 3,
            ParseErrorKind::InvalidSeparator => error.position.line + 1,
            _ => u64::MAX,
        };
        let line = stray_cr(bytes).map(|at| newlines(&bytes[..at]) as u64 + 1).filter(|&line| line <= last);
        match (line, self.fault(Some(number), error)) {
            (Some(line), Error::Input { place, .. }) => {
                Error::input(Place { line: Some(line), ..place }, STRAY_CR, CR_REMEDY)
            }
            (_, error) => error,
        }
    }
}

/// The problem and its remedy.
fn explain(error: &ParseError) -> (String, &'static str) {
    let msg = &error.msg;
    let four_lines = "each record needs four lines (@name, sequence, +, qualities), without empty lines between \
                      records; the file may be truncated";
    let cut = "the file may be truncated or damaged: copy or write it again";
    let (problem, remedy) = match error.kind {
        // Cannot occur, since the parser reads from memory.
        ParseErrorKind::Io => return (msg.clone(), cut),
        ParseErrorKind::UnequalLengths => {
            let problem = format!("sequence and qualities differ in length: {}", msg.to_lowercase());
            return (problem, four_lines);
        }
        ParseErrorKind::EmptyFile => (EMPTY, GIVE_RECORDS),
        ParseErrorKind::UnknownFormat => (UNKNOWN_FORMAT, "give FASTA or FASTQ, plain or gzip"),
        ParseErrorKind::InvalidStart if msg.ends_with("'>") => {
            ("a FASTA record begins here, but the file begins with FASTQ: the formats are mixed", ONE_FORMAT)
        }
        ParseErrorKind::InvalidStart => ("a record must begin with '@' here", four_lines),
        ParseErrorKind::InvalidSeparator => ("a line with '+' must follow the sequence", four_lines),
        ParseErrorKind::UnexpectedEnd if error.format == Some(Format::Fasta) => {
            ("the input ends inside a header", cut)
        }
        ParseErrorKind::UnexpectedEnd => ("the input ends inside a record", cut),
    };
    (problem.to_string(), remedy)
}
