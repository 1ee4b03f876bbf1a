//! FASTA and FASTQ in, plain or gzip (bgzf included), from a file or from stdin.
//!
//! needletail parses; this file names the faults (file, record, line, remedy), checks what SAM and
//! the alphabet demand, and gives [`Record`]s one at a time, so that memory holds one record and a
//! buffer however long the input is.

use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};
use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::{FastxReader, Format, SequenceRecord};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest reference that SAM can describe.
const MAX_REFERENCE: usize = i32::MAX as usize;
/// The longest query name that SAM can hold.
const MAX_QUERY_NAME: usize = 254;
/// So many letters of the references decide on the alphabet.
const DETECTION_LETTERS: usize = 10_000;
/// A query with fewer letters says nothing about its alphabet: `GATTACA` is a peptide as well.
const TELLING_LETTERS: usize = 20;

const EMPTY: &str = "the input is empty: no records";
const GIVE_RECORDS: &str = "give FASTA or FASTQ with at least one sequence";

/// One sequence of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// 1-based place among the file's records.
    pub number: u64,
    /// The header up to its first white space.
    pub name: String,
    /// Letters in upper case, without line ends.
    pub sequence: Vec<u8>,
    /// Phred+33 characters, as many as letters; `None` for FASTA.
    pub qualities: Option<Vec<u8>>,
}

/// A record and the 1-based line at which it begins, for errors.
struct Entry {
    record: Record,
    line: u64,
}

/// The records of one file, in order. After an error there are no more.
pub struct Reader {
    /// The path as errors show it.
    path: PathBuf,
    records: Box<dyn FastxReader>,
    packing: Packing,
    trace: Arc<Mutex<Trace>>,
    peeked: Option<Entry>,
    read: u64,
    finished: bool,
}

/// All references of a run.
#[derive(Clone, Debug)]
pub struct References {
    pub names: Vec<String>,
    /// Codes of `alphabet`.
    pub sequences: Sequences,
    pub alphabet: Alphabet,
}

/// The queries of a run: checked, in the letters of the run's alphabet, and encoded.
pub struct Queries {
    reader: Reader,
    alphabet: Alphabet,
    /// No query so far was long enough to tell that it is not DNA among proteins.
    suspect: bool,
}

impl Reader {
    /// Opens `path`, or stdin for `-`. An input without records is an error here already.
    pub fn open(path: &Path) -> Result<Reader> {
        if path == Path::new("-") {
            return Reader::new(PathBuf::from("<stdin>"), Box::new(io::stdin()));
        }
        let file = File::open(path).map_err(|source| unopened(path, source))?;
        let directory = file.metadata().is_ok_and(|metadata| metadata.is_dir());
        if directory {
            let remedy = "give a FASTA or FASTQ file";
            return Err(Error::input(whole(path), "this is a directory", remedy));
        }
        Reader::new(path.to_path_buf(), Box::new(file))
    }

    fn new(path: PathBuf, mut input: Box<dyn Read + Send>) -> Result<Reader> {
        let mut head = Vec::new();
        (&mut input)
            .take(BGZF_HEADER as u64)
            .read_to_end(&mut head)
            .map_err(|source| Error::io(&path, source))?;
        let packing = Packing::of(&head);
        if head.is_empty() {
            return Err(no_records(&path));
        }
        if let Packing::Foreign(name, command) = packing {
            let remedy = format!("decompress it first, as in `{command} FILE | swalign - ...`");
            return Err(Error::input(whole(&path), format!("{name} compression is not read"), remedy));
        }
        let trace = Arc::<Mutex<Trace>>::default();
        let source = Source {
            input: Box::new(io::Cursor::new(head).chain(input)),
            ended: false,
            last: packing.newline(),
            trace: Arc::clone(&trace),
        };
        let records = needletail::parse_fastx_reader(source)
            .map_err(|error| fault(&path, packing, &trace, None, error))?;
        Ok(Reader { path, records, packing, trace, peeked: None, read: 0, finished: false })
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The record that comes next, which stays the next one.
    pub fn peek(&mut self) -> Result<Option<&Record>> {
        if self.peeked.is_none() {
            self.peeked = self.read_entry().transpose()?;
        }
        Ok(self.peeked.as_ref().map(|entry| &entry.record))
    }

    /// What the user should hear once all is read, though it is no error: a bgzf file without the
    /// empty block at its end may have been cut short between two blocks.
    pub fn warning(&self) -> Option<String> {
        let cut = self.finished && self.packing == Packing::Bgzf && lock(&self.trace).tail != BGZF_END;
        cut.then(|| {
            format!(
                "{}: the bgzf end marker is missing, so the file may have been cut short; \
                 compare it with its source",
                self.path.display()
            )
        })
    }

    fn next_entry(&mut self) -> Option<Result<Entry>> {
        match self.peeked.take() {
            Some(entry) => Some(Ok(entry)),
            None => self.read_entry(),
        }
    }

    fn read_entry(&mut self) -> Option<Result<Entry>> {
        if self.finished {
            return None;
        }
        let number = self.read + 1;
        let outcome = match self.records.next() {
            Some(Ok(raw)) => Entry::new(&raw, number, &self.path),
            Some(Err(error)) => Err(fault(&self.path, self.packing, &self.trace, Some(number), error)),
            None if self.read == 0 => Err(no_records(&self.path)),
            None => {
                self.finished = true;
                return None;
            }
        };
        self.read = number;
        // needletail may go on after an error, from somewhere inside the record.
        self.finished = outcome.is_err();
        Some(outcome)
    }
}

impl Iterator for Reader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        self.next_entry().map(|entry| entry.map(|entry| entry.record))
    }
}

impl Record {
    /// Writes the letters as `alphabet` does: U becomes T in DNA.
    pub fn normalise(&mut self, alphabet: Alphabet) {
        if alphabet == Alphabet::Dna {
            for letter in self.sequence.iter_mut().filter(|letter| **letter == b'U') {
                *letter = b'T';
            }
        }
    }
}

impl Entry {
    fn new(raw: &SequenceRecord, number: u64, file: &Path) -> Result<Entry> {
        let name = first_word(raw.id());
        let mut sequence = raw.seq().into_owned();
        sequence.make_ascii_uppercase();
        let qualities = raw.qual().map(<[u8]>::to_vec);
        let text = String::from_utf8_lossy(name).into_owned();
        let record = Record { number, name: text, sequence, qualities };
        let entry = Entry { record, line: raw.start_line_number() };
        if str::from_utf8(name).is_err() {
            let remedy = "rename it with printable ASCII characters";
            return Err(entry.fault(file, "the name is not valid UTF-8", remedy));
        }
        let mut qualities = entry.record.qualities.iter().flatten();
        match qualities.position(|quality| !quality.is_ascii_graphic()) {
            None => Ok(entry),
            Some(at) => {
                let place = Place { line: Some(entry.line + 3), ..entry.place(file) };
                let problem = format!("the quality at position {} is outside '!' to '~'", at + 1);
                Err(Error::input(place, problem, "give Phred+33 qualities, one character a letter"))
            }
        }
    }

    /// Appends the codes of the letters to `codes`, nothing on an error. `file` is for the message.
    fn encode(&self, file: &Path, alphabet: Alphabet, codes: &mut Vec<u8>) -> Result<()> {
        alphabet.encode(&self.record.sequence, codes).map_err(|at| {
            let letter = self.record.sequence[at];
            let problem = format!(
                "'{}' at position {} is not a letter of the {alphabet} alphabet",
                letter.escape_ascii(),
                at + 1
            );
            self.fault(file, problem, letter_remedy(letter, alphabet))
        })
    }

    fn place(&self, file: &Path) -> Place {
        let record = Some((self.record.number, shown(&self.record.name)));
        Place { file: file.to_path_buf(), record, line: Some(self.line) }
    }

    fn fault(&self, file: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.place(file), problem, remedy)
    }
}

/// Reads all references. Without `alphabet` their first letters decide on it.
pub fn read_references(reader: &mut Reader, alphabet: Option<Alphabet>) -> Result<References> {
    let file = reader.path().to_path_buf();
    let mut first = Vec::new();
    let alphabet = match alphabet {
        Some(alphabet) => alphabet,
        None => detect(reader, &mut first)?,
    };
    let mut references = References { names: Vec::new(), sequences: Sequences::default(), alphabet };
    let mut numbers = HashMap::new();
    let mut codes = Vec::new();
    let rest = iter::from_fn(|| reader.next_entry());
    for entry in first.into_iter().map(Ok).chain(rest) {
        let entry = entry?;
        let record = &entry.record;
        check_reference(&record.name, record.sequence.len())
            .map_err(|(problem, remedy)| entry.fault(&file, problem, remedy))?;
        if let Some(other) = numbers.insert(record.name.clone(), record.number) {
            let problem = format!("record {other} has the same name up to the first space");
            return Err(entry.fault(&file, problem, "give every reference a name of its own"));
        }
        codes.clear();
        entry.encode(&file, alphabet, &mut codes)?;
        references.sequences.push(codes.iter().copied());
        references.names.push(entry.record.name);
    }
    Ok(references)
}

/// The alphabet of the first records, which end up in `first`.
fn detect(reader: &mut Reader, first: &mut Vec<Entry>) -> Result<Alphabet> {
    let mut letters = Vec::new();
    while letters.len() < DETECTION_LETTERS {
        let Some(entry) = reader.next_entry().transpose()? else { break };
        let sequence = &entry.record.sequence;
        letters.extend(sequence.iter().take(DETECTION_LETTERS - letters.len()));
        first.push(entry);
    }
    // Without a single letter any will do: the empty reference is the error then.
    Ok(Alphabet::detect(&letters).unwrap_or(Alphabet::Dna))
}

impl Queries {
    /// Queries to align to references of `alphabet`; `given` says that the user named it, and then
    /// queries that look otherwise are taken at the user's word.
    pub fn new(reader: Reader, alphabet: Alphabet, given: bool) -> Queries {
        Queries { reader, alphabet, suspect: alphabet == Alphabet::Protein && !given }
    }

    /// The next query, its codes appended to `codes`. A query without letters is no error.
    pub fn next(&mut self, codes: &mut Vec<u8>) -> Option<Result<Record>> {
        let entry = self.reader.next_entry()?;
        Some(entry.and_then(|entry| self.check(entry, codes)))
    }

    /// See [`Reader::warning`].
    pub fn warning(&self) -> Option<String> {
        self.reader.warning()
    }

    fn check(&mut self, mut entry: Entry, codes: &mut Vec<u8>) -> Result<Record> {
        let file = self.reader.path();
        let record = &entry.record;
        check_query_name(&record.name).map_err(|(problem, remedy)| entry.fault(file, problem, remedy))?;
        if self.suspect && record.sequence.len() >= TELLING_LETTERS {
            self.suspect = false;
            if Alphabet::detect(&record.sequence) == Some(Alphabet::Dna) {
                let remedy = "translate the query, or set --alphabet dna or --alphabet protein";
                return Err(entry.fault(file, "DNA query against protein reference", remedy));
            }
        }
        if self.alphabet == Alphabet::Dna && is_protein(&record.sequence) {
            let remedy = "give a protein reference, or DNA queries; \
                          --alphabet protein where the reference is protein but looks like DNA";
            return Err(entry.fault(file, "protein query against DNA reference", remedy));
        }
        entry.record.normalise(self.alphabet);
        entry.encode(file, self.alphabet, codes)?;
        Ok(entry.record)
    }
}

/// Whether `letters` can only be protein: not even IUPAC codes spell them, and too few are A, C, G
/// or T for a stray character in DNA.
fn is_protein(letters: &[u8]) -> bool {
    let foreign = |alphabet: Alphabet| letters.iter().any(|&letter| alphabet.code(letter).is_none());
    let plain = letters.iter().filter(|letter| b"ACGTUN".contains(letter)).count();
    plain * 10 < letters.len() * 9 && foreign(Alphabet::Dna) && !foreign(Alphabet::Protein)
}

/// What SAM demands of a reference; the error is the problem and its remedy.
fn check_reference(name: &str, len: usize) -> Result<(), (String, &'static str)> {
    let allowed = |c: char| c.is_ascii_graphic() && !"\\,\"'`()[]{}<>".contains(c);
    let rename = "rename the reference";
    if name.is_empty() {
        return Err(("the reference has no name".to_string(), "put a name right after '>'"));
    }
    if let Some(c) = name.chars().find(|&c| !allowed(c)) {
        let problem = format!("SAM forbids '{}' in a reference name", c.escape_default());
        return Err((problem, rename));
    }
    if let Some(c) = name.chars().next().filter(|c| "*=".contains(*c)) {
        return Err((format!("SAM forbids '{c}' at the start of a reference name"), rename));
    }
    match len {
        0 => Err(("the reference has no letters".to_string(), "give it a sequence or remove it")),
        1..=MAX_REFERENCE => Ok(()),
        _ => Err((
            format!("the reference has {len} letters, and SAM's limit is {MAX_REFERENCE}"),
            "cut the reference into shorter ones",
        )),
    }
}

/// What SAM demands of a query's name (`[!-?A-~]{1,254}`); the error is the problem and its remedy.
fn check_query_name(name: &str) -> Result<(), (String, &'static str)> {
    let rename = "rename the query";
    if name.is_empty() {
        return Err(("the query has no name".to_string(), "put a name right after '>' or '@'"));
    }
    if let Some(c) = name.chars().find(|&c| !c.is_ascii_graphic() || c == '@') {
        let problem = format!("SAM forbids '{}' in a query name", c.escape_default());
        return Err((problem, rename));
    }
    if name.len() > MAX_QUERY_NAME {
        let problem = format!("the name has {} characters, and SAM's limit is {MAX_QUERY_NAME}", name.len());
        return Err((problem, rename));
    }
    Ok(())
}

fn letter_remedy(letter: u8, alphabet: Alphabet) -> &'static str {
    match (letter, alphabet) {
        (b'-' | b'.', _) => "remove the gap characters",
        (_, Alphabet::Protein) => "replace it by X or remove it",
        (b'A'..=b'Z' | b'*', Alphabet::Dna) => {
            "replace it by N, or set --alphabet protein if the sequences are proteins"
        }
        (_, Alphabet::Dna) => "replace it by N or remove it",
    }
}

fn first_word(header: &[u8]) -> &[u8] {
    let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
    &header[..end]
}

/// A name as errors show it: without control characters, and not endless where a file is no FASTA.
fn shown(name: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = name.chars().take(LONGEST).collect();
    let rest = if start.len() < name.len() { "..." } else { "" };
    format!("{}{rest}", start.escape_debug())
}

fn whole(file: &Path) -> Place {
    Place { file: file.to_path_buf(), record: None, line: None }
}

fn no_records(file: &Path) -> Error {
    Error::input(whole(file), EMPTY, GIVE_RECORDS)
}

fn unopened(path: &Path, source: io::Error) -> Error {
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

/// needletail's error with its place, and the remedy that it lacks.
fn fault(
    file: &Path,
    packing: Packing,
    trace: &Mutex<Trace>,
    number: Option<u64>,
    error: ParseError,
) -> Error {
    if let Some(source) = lock(trace).error.take() {
        return Error::io(file, source);
    }
    let name = error.position.id.as_deref().unwrap_or_default();
    let name = shown(name.split_ascii_whitespace().next().unwrap_or_default());
    let line = Some(error.position.line).filter(|&line| line > 0);
    let place = Place { file: file.to_path_buf(), record: number.map(|n| (n, name)), line };
    let (problem, remedy) = explain(packing, &error);
    Error::input(place, problem, remedy)
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

/// How the bytes of a file are packed, from its first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    /// Gzip in blocks whose size stands in their headers; ends with [`BGZF_END`].
    Bgzf,
    /// A compression that we don't read, with the command that undoes it.
    Foreign(&'static str, &'static str),
}

/// So many bytes tell the packing.
const BGZF_HEADER: usize = 18;
/// The empty block that ends a bgzf file (SAM specification, section 4.1.2).
const BGZF_END: [u8; 28] = [
    0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 0x06, 0, 0x42, 0x43, 0x02, 0, 0x1b, 0, 0x03, 0, 0, 0, 0, 0,
    0, 0, 0, 0,
];
/// A newline as a gzip file of one stored block.
const NEWLINE_GZIP: [u8; 24] = [
    0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0x01, 0x01, 0, 0xfe, 0xff, b'\n', 0x93, 0x06, 0xd7, 0x32, 0x01,
    0, 0, 0,
];

impl Packing {
    fn of(head: &[u8]) -> Packing {
        // The flag says that there are extra fields, and BC is bgzf's.
        let bgzf = head.starts_with(&BGZF_END[..4]) && head.get(12..14) == Some(b"BC");
        match head {
            _ if bgzf => Packing::Bgzf,
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [b'B', b'Z', b'h', ..] => Packing::Foreign("bzip2", "bzip2 -dc"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Packing::Foreign("xz", "xz -dc"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Foreign("zstd", "zstd -dc"),
            _ => Packing::Plain,
        }
    }

    /// The newline that [`Source`] puts after the input.
    fn newline(self) -> &'static [u8] {
        match self {
            Packing::Gzip | Packing::Bgzf => &NEWLINE_GZIP,
            Packing::Plain | Packing::Foreign(..) => b"\n",
        }
    }
}

/// A file's bytes as needletail gets them, followed by one newline.
///
/// The newline is there because needletail refuses a FASTA header that ends the file, while a
/// header before another header is a record without letters: with an empty line after it, it is
/// one at the end too. Compressed input gets it as one more gzip member; data cut short can't pass
/// with it, since the checksum of the open member then fails.
struct Source {
    input: Box<dyn Read + Send>,
    ended: bool,
    /// What is left of the newline.
    last: &'static [u8],
    trace: Arc<Mutex<Trace>>,
}

/// What [`Reader`] must know of the bytes that went through [`Source`].
#[derive(Default)]
struct Trace {
    /// A failed read of the file itself; needletail keeps only the text of an error.
    error: Option<io::Error>,
    /// The last bytes of the file, as many as [`BGZF_END`] has.
    tail: Vec<u8>,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Past its end a terminal would wait for more.
        if self.ended {
            return self.last.read(buffer);
        }
        match self.input.read(buffer) {
            Ok(0) => {
                self.ended = !buffer.is_empty();
                self.last.read(buffer)
            }
            Ok(read) => {
                lock(&self.trace).see(&buffer[..read]);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                lock(&self.trace).error = Some(error);
                Err(kind.into())
            }
        }
    }
}

impl Trace {
    fn see(&mut self, bytes: &[u8]) {
        let wanted = BGZF_END.len();
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(wanted)..]);
        self.tail.drain(..self.tail.len().saturating_sub(wanted));
    }
}

/// A trace stays true when another thread panicked with it in hand.
fn lock(trace: &Mutex<Trace>) -> MutexGuard<'_, Trace> {
    trace.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tempfile::NamedTempFile;

    /// `>r1 first`, two lines of letters, `>r2`, one line; by Python's gzip.
    const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3+2TH\xcb,*.\xe1rtv\x0f\x01\xe1\x90\x10wGgG.ww\xc7\x10gg.\xbb\"#\xae\x10\x90\x18\x108\x03\x81#\x10\xc0\xf8\\\x00\xd0\x98\xf7\xfb=\x00\x00\x00";

    fn file(content: &[u8]) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn records(content: &[u8]) -> Result<Vec<Record>> {
        Reader::open(file(content).path())?.collect()
    }

    fn letters(content: &[u8]) -> Vec<(String, String)> {
        let text = |record: Record| (record.name, String::from_utf8(record.sequence).unwrap());
        records(content).unwrap().into_iter().map(text).collect()
    }

    fn references(content: &[u8]) -> Result<References> {
        read_references(&mut Reader::open(file(content).path())?, None)
    }

    fn queries(content: &[u8], alphabet: Alphabet, given: bool) -> Result<Vec<Record>> {
        let mut queries = Queries::new(Reader::open(file(content).path())?, alphabet, given);
        let mut codes = Vec::new();
        iter::from_fn(|| queries.next(&mut codes)).collect()
    }

    /// Demands an input error with a remedy and all of `parts` in its text.
    #[track_caller]
    fn refused<T>(outcome: Result<T>, parts: &[&str]) {
        let Err(error) = outcome else { panic!("accepted, without {parts:?}") };
        assert!(matches!(&error, Error::Input { remedy, .. } if !remedy.is_empty()), "{error:?}");
        let text = error.to_string();
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {text:?}");
        }
    }

    /// A gzip file of stored blocks, as plain as RFC 1951 and 1952 allow.
    fn stored(content: &[u8]) -> Vec<u8> {
        let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        for block in content.chunks(0xffff) {
            let len = block.len() as u16;
            packed.push(0);
            packed.extend(len.to_le_bytes());
            packed.extend((!len).to_le_bytes());
            packed.extend(block);
        }
        packed.extend([1, 0, 0, 0xff, 0xff]);
        packed.extend(crc32(content).to_le_bytes());
        packed.extend((content.len() as u32).to_le_bytes());
        packed
    }

    fn crc32(content: &[u8]) -> u32 {
        !content.iter().fold(!0, |crc: u32, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        })
    }

    #[test]
    fn fasta_of_many_lines_in_both_line_ends_and_cases() {
        let expected = [("r1", "ACGTNN"), ("r2", "GG")].map(|(n, s)| (n.to_string(), s.to_string()));
        assert_eq!(letters(b">r1 x\nacG\n\nTNn\n>r2\tx\nGG"), expected);
        assert_eq!(letters(b">r1 x\r\nacG\r\nTNn\r\n>r2\tx\r\nGG\r\n"), expected);
    }

    #[test]
    fn fastq_with_its_qualities_and_places() {
        for content in
            [&b"@a x\nAC\n+\n!~\n@b\nG\n+b\n@\n"[..], b"@a x\r\nAC\r\n+\r\n!~\r\n@b\r\nG\r\n+b\r\n@"]
        {
            let records = records(content).unwrap();
            assert_eq!(records[0].qualities.as_deref(), Some(&b"!~"[..]));
            let b = Record {
                number: 2,
                name: "b".to_string(),
                sequence: b"G".to_vec(),
                qualities: Some(b"@".to_vec()),
            };
            assert_eq!(records[1], b);
        }
    }

    #[test]
    fn records_without_letters_stay() {
        let empty = |name: &str| (name.to_string(), String::new());
        for content in [&b">a\n>b\n>c\n"[..], b">a\n\n>b\n>c\n\n", b"@a\n\n+\n\n@b\n\n+\n\n@c\n\n+\n"] {
            assert_eq!(letters(content), ["a", "b", "c"].map(empty));
            assert_eq!(letters(&stored(content)), ["a", "b", "c"].map(empty));
        }
        assert_eq!(queries(b">a\n", Alphabet::Dna, false).unwrap().len(), 1);
    }

    #[test]
    fn a_reader_can_go_to_another_thread() {
        fn sent<T: Send>() {}
        sent::<Reader>();
        sent::<Queries>();
    }

    #[test]
    fn peeking_takes_nothing() {
        let mut reader = Reader::open(file(b">a\nA\n>b\nC\n").path()).unwrap();
        assert_eq!(reader.peek().unwrap().unwrap().name, "a");
        assert_eq!(reader.peek().unwrap().unwrap().name, "a");
        assert_eq!(reader.next().unwrap().unwrap().name, "a");
        assert_eq!(reader.peek().unwrap().unwrap().name, "b");
        assert_eq!(reader.by_ref().count(), 1);
        assert!(reader.peek().unwrap().is_none());
    }

    #[test]
    fn records_that_cross_the_buffers() {
        for len in [65_520, 65_530, 65_531, 65_532, 65_533, 65_534, 65_535, 65_536, 65_537, 300_000] {
            let long = "ACGT".repeat(len / 4 + 1)[..len].to_string();
            let fastq = format!("@a\n{long}\n+\n{}\n@b\nCC\n+\nII\n", "I".repeat(len));
            for content in [format!(">a\n{long}\n>b\nCC\n"), fastq] {
                let expected = [("a".to_string(), long.clone()), ("b".to_string(), "CC".to_string())];
                assert_eq!(letters(content.as_bytes()), expected, "{len}");
                assert_eq!(letters(&stored(content.as_bytes())), expected, "{len}");
            }
        }
    }

    #[test]
    fn no_input_of_any_kind_panics_or_goes_on_after_an_error() {
        let mut state = 1u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for case in 0..3000 {
            let mut content = vec![b">@"[case % 2]];
            content.extend((0..random(40)).map(|_| b"@>+\n\n\r \tACGTI!\x00\xff"[random(16)]));
            let bytes = [content.clone(), stored(&content)];
            for bytes in bytes {
                let Ok(mut reader) = Reader::new("x".into(), Box::new(io::Cursor::new(bytes))) else {
                    continue;
                };
                while let Some(record) = reader.next() {
                    let failed = record.is_err();
                    assert!(!failed || reader.next().is_none(), "{:?}", content.escape_ascii().to_string());
                }
            }
        }
    }

    #[test]
    fn gzip_of_one_and_of_several_members() {
        let one = letters(PACKED);
        assert_eq!(one[0], ("r1".to_string(), "ACGTACGTTTGACAGGATCC".to_string()));
        assert_eq!(letters(&[PACKED, PACKED].concat()), [one.clone(), one].concat());
        let split = [stored(b">r1\nAC"), stored(b""), stored(b"GT\n>r2\n"), stored(b"A")].concat();
        assert_eq!(letters(&split), letters(b">r1\nACGT\n>r2\nA"));
    }

    #[test]
    fn gzip_cut_anywhere_is_refused() {
        for cut in 2..PACKED.len() {
            refused(records(&PACKED[..cut]), &["gzip"]);
            // Cut at 0 the second member is not there at all, which no reader can know.
            let second = [PACKED, &PACKED[..cut - 1]].concat();
            refused(records(&second), &["gzip"]);
        }
        refused(records(&[PACKED, b"garbage"].concat()), &["record", "gzip"]);
        let mut flipped = PACKED.to_vec();
        flipped[30] ^= 4;
        refused(records(&flipped), &["gzip"]);
    }

    #[test]
    fn bgzf_without_its_end_gives_a_warning() {
        // A bgzf block is a gzip member with an extra field, which here holds no true block size.
        let mut block = stored(b">a\nACGT\n");
        block[3] = 4;
        block.splice(10..10, *b"\x06\0BC\x02\0\0\0");
        for (content, warned) in [(block.clone(), true), ([&block[..], &BGZF_END].concat(), false)] {
            let mut reader = Reader::open(file(&content).path()).unwrap();
            assert_eq!(reader.by_ref().map(|record| record.unwrap().sequence).collect::<Vec<_>>(), [b"ACGT"]);
            assert_eq!(reader.warning().is_some(), warned);
        }
    }

    #[test]
    fn an_empty_input_is_refused() {
        refused(records(b""), &["no records"]);
        refused(queries(b"", Alphabet::Dna, false), &["no records"]);
        refused(references(b""), &["no records"]);
        refused(records(&stored(b"")), &["the gzip data hold no records"]);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        refused(Reader::open(&folder.path().join("none.fa")), &["none.fa", "no such file"]);
        refused(Reader::open(folder.path()), &["directory"]);
    }

    #[test]
    fn a_failing_disk_is_no_format_error() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        for start in [b">a\nACGTACGTACGTACGTACGT\n", &PACKED[..25]] {
            let input = io::Cursor::new(start).chain(Failing);
            let outcome = Reader::new("x.fa".into(), Box::new(input)).map(Iterator::collect);
            let error = outcome.and_then(|records: Result<Vec<_>>| records).unwrap_err();
            assert_eq!(error.to_string(), "x.fa: disk on fire");
        }
    }

    #[test]
    fn other_formats_are_refused() {
        refused(records(b"LOCUS x\n"), &["neither FASTA nor FASTQ"]);
        refused(records(b"A"), &["neither FASTA nor FASTQ"]);
        refused(records(b"\n>a\nA\n"), &["neither FASTA nor FASTQ"]);
        refused(records(&stored(b"BAM\x01")), &["neither FASTA nor FASTQ"]);
        refused(records(b"\x28\xb5\x2f\xfd...."), &["zstd -dc"]);
        refused(records(b"@HD\tVN:1.6\n@SQ\tSN:x\tLN:9\nr\t4\nq\t4\n"), &["record 1 'HD'", "'+'"]);
        refused(records(b">a\rACGT\r>b\rACGT\r"), &["record 1, line 1", "header", "CR alone"]);
        refused(records(b">a\nA\n>b"), &["record 2, line 3", "header"]);
    }

    #[test]
    fn fastq_faults_name_record_and_line() {
        refused(records(b"@a\nA\n+\nI\n@b x\nACG\n+\nII\n"), &["record 2 'b', line 5", "3", "2"]);
        refused(records(b"@a\nA\n+\nI\nb\nA\n+\nI\n"), &["record 2, line 5", "'@'"]);
        refused(records(b"@a\nAC\nGT\n+\nIIII\n"), &["record 1 'a', line 3", "'+'"]);
        refused(records(b"@a\nA\n+\nI\n@b\nAC\n+\nI \n"), &["record 2 'b', line 8", "position 2"]);
        refused(records(b"@a\nA\n+\n\x7f\n"), &["line 4", "position 1"]);
    }

    #[test]
    fn fastq_cut_inside_a_record_is_refused() {
        let whole = b"@a\nACG\n+\nIII\n@bc x\nACGT\n+\nIIII\n";
        let first = 13;
        for cut in first + 1..whole.len() - 1 {
            refused(records(&whole[..cut]), &["record 2"]);
            refused(records(&stored(&whole[..cut])), &["record 2"]);
        }
        assert_eq!(records(&whole[..first]).unwrap().len(), 1);
        assert_eq!(records(&whole[..whole.len() - 1]).unwrap().len(), 2);
    }

    #[test]
    fn reference_names_are_those_of_sam() {
        assert_eq!(references(b">sp|P1*=2|x a, b\nA\n").unwrap().names, ["sp|P1*=2|x"]);
        for c in "\\,\"'`()[]{}<>\u{7f}é".chars() {
            refused(references(format!(">x{c}\nA\n").as_bytes()), &["record 1 'x", "SAM forbids"]);
        }
        refused(references(b">*x\nA\n"), &["at the start"]);
        refused(references(b">a\nA\n> x\nA\n"), &["record 2, line 3", "no name"]);
        refused(references(b">a\nA\n>b\nA\n>a x\nA\n"), &["record 3 'a', line 5", "record 1"]);
        refused(references(b">a\xff\nA\n"), &["record 1", "UTF-8"]);
    }

    #[test]
    fn reference_lengths_are_those_of_sam() {
        refused(references(b">a\nA\n>b\n>c\nA\n"), &["record 2 'b', line 3", "no letters"]);
        refused(references(b">a\n"), &["record 1 'a', line 1", "no letters"]);
        assert!(check_reference("a", MAX_REFERENCE).is_ok());
        assert!(check_reference("a", MAX_REFERENCE + 1).unwrap_err().0.contains("2147483648"));
    }

    #[test]
    fn query_names_are_those_of_sam() {
        assert!(check_query_name(&"q".repeat(254)).is_ok());
        assert!(check_query_name("m/1,2'\"*=").is_ok());
        let refuse =
            |content: &str, part| refused(queries(content.as_bytes(), Alphabet::Dna, false), &[part]);
        refuse(&format!(">{}\nA\n", "q".repeat(255)), "255");
        refuse("@@a\nA\n+\nI\n", "'@'");
        refuse(">a\u{e9}\nA\n", "record 1 'aé', line 1");
        refuse(">\nA\n", "no name");
        refuse(&format!(">{}\nA\n", "q".repeat(999)), &format!("record 1 '{}...'", "q".repeat(60)));
    }

    #[test]
    fn letters_outside_the_alphabet_are_named() {
        refused(
            references(b">a\nACGTACGTACGT\n>b\nACGTACGT\nAC-T\n"),
            &["record 2 'b', line 3", "'-' at position 11"],
        );
        refused(
            queries(b">q x\nACGJACGTACGTACG\n", Alphabet::Dna, false),
            &["record 1 'q'", "'J' at position 4", "N"],
        );
        refused(queries(b">q\nMK1\n", Alphabet::Protein, false), &["'1' at position 3", "X"]);
        refused(queries(b">q\nAC\xffT\n", Alphabet::Dna, false), &["'\\xff' at position 3"]);
    }

    #[test]
    fn references_decide_on_the_alphabet() {
        assert_eq!(references(b">a\nACGU\n").unwrap().alphabet, Alphabet::Dna);
        assert_eq!(references(b">a\nGAT\n>b\nMKVLAAGITRESPQW\n").unwrap().alphabet, Alphabet::Protein);
        let dna = file(b">a\nACGU\n");
        let references =
            read_references(&mut Reader::open(dna.path()).unwrap(), Some(Alphabet::Protein)).unwrap();
        assert_eq!(references.alphabet, Alphabet::Protein);
        assert_eq!(references.sequences.get(0).len(), 4);
    }

    #[test]
    fn protein_and_dna_do_not_meet() {
        let protein = b">q\nMKVLAAGITRESPQW\n";
        refused(queries(protein, Alphabet::Dna, false), &["protein query against DNA reference"]);
        let dna = b">p\nGATTACA\n>q\nACGTACGTACGTACGTACGT\n";
        refused(
            queries(dna, Alphabet::Protein, false),
            &["record 2 'q'", "DNA query against protein reference"],
        );
        assert_eq!(queries(dna, Alphabet::Protein, true).unwrap().len(), 2, "the user's word");
        assert_eq!(queries(b">q\nRYSWKMBDHVNRYSWKMBDHVN\n", Alphabet::Dna, false).unwrap().len(), 1);
    }

    #[test]
    fn queries_come_normalised_and_encoded() {
        let file = file(b">q\nacgu\n>r\nTT\n");
        let mut queries = Queries::new(Reader::open(file.path()).unwrap(), Alphabet::Dna, false);
        let mut codes = Vec::new();
        assert_eq!(queries.next(&mut codes).unwrap().unwrap().sequence, b"ACGT");
        queries.next(&mut codes).unwrap().unwrap();
        assert_eq!(codes, [0, 1, 2, 3, 3, 3]);
        assert!(queries.next(&mut codes).is_none());
    }
}
