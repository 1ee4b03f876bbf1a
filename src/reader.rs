//! FASTA and FASTQ in, plain or gzip (bgzf included), from a file or from stdin.
//!
//! needletail parses; here the faults get their names (file, record, line, remedy), what SAM and the
//! alphabet demand is checked, and [`Record`]s come one at a time, so that memory holds one record
//! and a buffer however long the input is.

mod checks;
mod faults;
mod source;
#[cfg(test)]
mod tests;

use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};
use checks::{check_query_name, check_reference, is_protein, letter_remedy};
use faults::{no_records, parse_fault, shown, unopened, whole};
use needletail::parser::{FastxReader, SequenceRecord};
use source::{Packing, Source, Trace};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};

/// So many letters of the references decide on the alphabet.
const DETECTION_LETTERS: usize = 10_000;
/// A query with fewer letters says nothing about its alphabet: `GATTACA` is a peptide as well.
const TELLING_LETTERS: usize = 20;

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
    trace: Trace,
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

    fn new(path: PathBuf, input: Box<dyn Read + Send>) -> Result<Reader> {
        let source = Source::new(input).map_err(|source| Error::io(&path, source))?;
        let (packing, trace) = (source.packing(), source.trace());
        match packing {
            Packing::Empty => return Err(no_records(&path)),
            Packing::Foreign(name, command) => {
                let remedy = format!("decompress it first, as in `{command} FILE | swalign - ...`");
                return Err(Error::input(whole(&path), format!("{name} compression is not read"), remedy));
            }
            Packing::Plain | Packing::Gzip | Packing::Bgzf => {}
        }
        let records = needletail::parse_fastx_reader(source)
            .map_err(|error| parse_fault(&path, packing, &trace, None, error))?;
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
        let cut = self.finished && self.packing == Packing::Bgzf && !self.trace.ends_as_bgzf();
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
            Some(Err(error)) => Err(parse_fault(&self.path, self.packing, &self.trace, Some(number), error)),
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

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        self.reader.path()
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

fn first_word(header: &[u8]) -> &[u8] {
    let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
    &header[..end]
}
