//! Inputs of searches: patterns, all of them at once, and texts, one after the other.

use super::checks::{check_query_name, check_reference};
use super::faults::{UNKNOWN_FORMAT, whole};
use super::meter::Position;
use super::names::first_repeated;
use super::parse::{Raw, is_gap};
use super::{Extent, FileState, Reader, Slice, size};
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Result};
use crate::terms::options::{ReadRules, Share};
use crate::terms::system::metadata;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The problem of a text whose qualities are missing, and its remedy.
pub const NO_QUALITIES: &str = "it has no qualities, which FASTQ needs";
pub const QUALITIES_REMEDY: &str = "give reads as FASTQ, or --format fasta";

/// A DNA sequence with its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The whole header, or the header up to its first whitespace.
    pub name: String,
    /// Bases in upper case, without line ends.
    pub letters: Vec<u8>,
    /// DNA codes, one per base.
    pub codes: Vec<u8>,
    /// Phred+33 characters, one per base, if they are kept; otherwise empty.
    pub qualities: Vec<u8>,
}

/// Options for reading texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextRules {
    pub name: TextName,
    /// Keeps qualities, and rejects FASTA records.
    pub has_qualities: bool,
    pub reading: ReadRules,
}

/// The name of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextName {
    /// The header up to its first whitespace.
    #[default]
    Id,
    /// The whole header, with tabs replaced by spaces.
    Full,
    /// The header as it is written.
    Written,
}

/// The texts of one file, in order. An error ends them.
pub struct Texts {
    reader: Reader,
    rules: TextRules,
    ready: VecDeque<Text>,
    fault: Option<Error>,
    position: Position,
}

impl Texts {
    /// Opens `path`, or stdin for `-`, or a slice of a file.
    pub fn open(path: &Path, slice: Option<Slice>, rules: TextRules) -> Result<Texts> {
        let reader = match slice {
            Some(slice) => Reader::open_slice(path, slice)?,
            None => Reader::open(path)?,
        };
        let reader = reader.with_rules(rules.reading);
        Ok(Texts { reader, rules, ready: VecDeque::new(), fault: None, position: Position::default() })
    }

    /// Position of the texts in the file.
    pub fn extent(&self) -> Arc<Extent> {
        self.reader.extent()
    }

    /// State of the file when it was opened.
    pub fn state(&self) -> &FileState {
        self.reader.state()
    }

    /// Approximate number of bytes of the file, before decompression, that the texts returned so far occupy.
    pub fn bytes_given(&self) -> u64 {
        self.position.bytes()
    }

    /// See [`Reader::warnings`].
    pub fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }
}

/// A text without bases is no error.
impl Iterator for Texts {
    type Item = Result<Text>;

    fn next(&mut self) -> Option<Result<Text>> {
        while self.ready.is_empty() {
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            let rules = self.rules;
            let harvest =
                self.reader.harvest(|texts: &mut Vec<Text>, raw| take(texts, &raw, rules, "text"))?;
            self.ready.extend(harvest.pieces.into_iter().flat_map(|(_, texts)| texts));
            let letters = self.ready.iter().map(|text| text.letters.len() as u64).sum();
            self.position.go_on(self.reader.parsed, letters);
            self.fault = harvest.fault;
        }
        let text = self.ready.pop_front()?;
        self.position.give(text.letters.len() as u64);
        Some(Ok(text))
    }
}

/// For each file, the slice that belongs to the part `share` of all files, which count as one file, and the file's size
/// in bytes.
pub fn slices(paths: &[PathBuf], share: Share) -> Result<Vec<(Slice, u64)>> {
    let sizes = paths.iter().map(|path| size(path, "--part")).collect::<Result<Vec<u64>>>()?;
    let (total, mut before) = (sizes.iter().sum(), 0);
    let mut slice = |size| {
        let slice = Slice { share, groups: false, removes_gaps: false, before, total };
        before += size;
        (slice, size)
    };
    Ok(sizes.into_iter().map(&mut slice).collect())
}

/// Names and lengths of the texts of a file for the SAM header. Returns an error for texts that SAM cannot hold. Also
/// returns the state of the file, so that a second pass can detect changes.
pub fn read_lengths(path: &Path, rules: ReadRules) -> Result<(Vec<(String, usize)>, FileState)> {
    if metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let remedy = "give a file, or another --format";
        return Err(Error::input(
            whole(path),
            "it cannot be read twice, but --format sam reads texts once for the \
                                              header and once for the hits",
            remedy,
        ));
    }
    let mut reader = Reader::open(path)?.with_rules(rules);
    let lengths = reader.gather(|texts, raw| {
        let len = raw.written().len();
        // A text without bases is no error, and is left out of the header.
        check_reference(raw.name, len.max(1)).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        texts.push((raw.name.to_string(), len));
        Ok(())
    })?;
    Ok((lengths, reader.state().clone()))
}

/// Returns an error if two texts have the same name; the later one is in this file.
pub fn check_distinct_names(texts: &[(String, usize)], path: &Path) -> Result<()> {
    let names: Vec<String> = texts.iter().map(|(name, _)| name.clone()).collect();
    let Some((_, later)) = first_repeated(&names) else { return Ok(()) };
    let problem = format!("two texts are named '{}'", names[later].escape_debug());
    Err(Error::input(
        whole(path),
        problem,
        "rename one of them, because SAM needs unique names, or use another --format",
    ))
}

/// Reads all patterns of a file, none of which is empty, and the warnings about the file. With `sam`, names are checked
/// as names of SAM reads.
pub fn read_patterns(
    path: &Path,
    rules: ReadRules,
    full_names: bool,
    sam: bool,
) -> Result<(Vec<Text>, Vec<String>)> {
    let mut reader = Reader::open(path).map_err(of_patterns)?.with_rules(rules);
    let patterns = reader.gather(|patterns: &mut Vec<Text>, raw| {
        if sam {
            check_query_name(raw.name).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        }
        let name = if full_names { TextName::Full } else { TextName::Id };
        take(patterns, &raw, TextRules { name, ..TextRules::default() }, "pattern")?;
        if patterns.last().is_some_and(|pattern| pattern.letters.is_empty()) {
            return Err(raw.fault("the pattern is empty", "add its sequence, or remove the record"));
        }
        Ok(())
    })?;
    Ok((patterns, reader.warnings()))
}

/// Adapts an error to a file of patterns, since users of other programs may give a list or a table.
fn of_patterns(error: Error) -> Error {
    match error {
        Error::Input { place, problem, .. } if problem == UNKNOWN_FORMAT => Error::input(
            place,
            UNKNOWN_FORMAT,
            "-f takes FASTA or FASTQ, plain or gzip; to convert a list of sequences, use \
             `awk '{print \">\" NR \"\\n\" $1}' LIST`, and for a table of names and sequences \
             `awk '{print \">\" $1 \"\\n\" $2}' TABLE`",
        ),
        other => other,
    }
}

fn take(texts: &mut Vec<Text>, raw: &Raw, rules: TextRules, what: &str) -> Result<()> {
    if raw.name.is_empty() {
        return Err(raw.fault(format!("the {what} has no name"), "put a name right after '>' or '@'"));
    }
    if rules.has_qualities && !raw.has_qualities() {
        return Err(raw.fault(NO_QUALITIES, QUALITIES_REMEDY));
    }
    let letters = raw.letters();
    let mut codes = Vec::with_capacity(letters.len());
    if let Err(at) = Alphabet::Dna.encode(&letters, &mut codes) {
        if let Some(mixed) = raw.mixed(letters[at]) {
            return Err(mixed);
        }
        if is_gap(letters[at]) {
            return Err(raw.foreign_letter(letters[at], at, Alphabet::Dna));
        }
        let letter = letters[at].escape_ascii();
        let problem = format!("'{letter}' at position {} is not a base of DNA or RNA", at + 1);
        let remedy = "replace it with N, or remove it; search accepts nucleotides and their IUPAC codes";
        return Err(raw.fault(problem, remedy));
    }
    let name = match rules.name {
        TextName::Id => raw.name.to_string(),
        TextName::Full => raw.header(),
        TextName::Written => raw.written_header(),
    };
    let qualities = if rules.has_qualities { raw.quality_line().to_vec() } else { Vec::new() };
    texts.push(Text { name, letters, codes, qualities });
    Ok(())
}
