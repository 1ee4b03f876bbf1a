//! What is searched: patterns, all of them at once, and texts, one after the other.

use super::checks::{check_query_name, check_reference};
use super::faults::whole;
use super::meter::Position;
use super::names::first_repeated;
use super::parse::Raw;
use super::{Extent, Reader, Slice, size};
use crate::alphabet::Alphabet;
use crate::error::{Error, Result};
use crate::options::Share;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A DNA sequence with its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The header, up to its first white space or all of it.
    pub name: String,
    /// Letters in upper case, without line ends.
    pub letters: Vec<u8>,
    /// Codes of DNA, as many.
    pub codes: Vec<u8>,
}

/// The texts of one file, in order. After an error there are no more.
pub struct Texts {
    reader: Reader,
    full_names: bool,
    ready: VecDeque<Text>,
    fault: Option<Error>,
    position: Position,
}

impl Texts {
    /// Opens `path`, or stdin for `-`; or a slice of it.
    pub fn open(path: &Path, slice: Option<Slice>, full_names: bool) -> Result<Texts> {
        let reader = match slice {
            Some(slice) => Reader::open_slice(path, slice)?,
            None => Reader::open(path)?,
        };
        Ok(Texts { reader, full_names, ready: VecDeque::new(), fault: None, position: Position::default() })
    }

    /// Where in the file they are.
    pub fn extent(&self) -> Arc<Extent> {
        self.reader.extent()
    }

    /// Bytes of the file, packed as they are, that the texts given so far stand for, about.
    pub fn bytes_given(&self) -> u64 {
        self.position.bytes()
    }

    /// See [`Reader::warning`].
    pub fn warning(&self) -> Option<String> {
        self.reader.warning()
    }
}

/// One without letters is no error.
impl Iterator for Texts {
    type Item = Result<Text>;

    fn next(&mut self) -> Option<Result<Text>> {
        while self.ready.is_empty() {
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            let full = self.full_names;
            let harvest =
                self.reader.harvest(|texts: &mut Vec<Text>, raw| take(texts, &raw, full, "text"))?;
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

/// What of each file belongs to the part `share` of all their texts, for which they count as one file.
pub fn slices(paths: &[PathBuf], share: Share) -> Result<Vec<Slice>> {
    let sizes = paths.iter().map(|path| size(path, "--part")).collect::<Result<Vec<u64>>>()?;
    let (total, mut before) = (sizes.iter().sum(), 0);
    let mut slice = |size| {
        let slice = Slice { share, groups: false, before, total };
        before += size;
        slice
    };
    Ok(sizes.into_iter().map(&mut slice).collect())
}

/// Names and lengths of the texts of a file, as SAM's header has them: what it can't hold is refused.
pub fn read_lengths(path: &Path) -> Result<Vec<(String, usize)>> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let remedy = "give a file, or another --format";
        return Err(Error::input(whole(path), "it can't be read twice, as SAM's header demands", remedy));
    }
    let mut lengths = Vec::new();
    let mut reader = Reader::open(path)?;
    while let Some(harvest) = reader.harvest(|texts: &mut Vec<(String, usize)>, raw| {
        let len = raw.written().len();
        // One without letters is no error, and is left out of the header.
        check_reference(raw.name, len.max(1)).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        texts.push((raw.name.to_string(), len));
        Ok(())
    }) {
        lengths.extend(harvest.pieces.into_iter().flat_map(|(_, texts)| texts));
        if let Some(fault) = harvest.fault {
            return Err(fault);
        }
    }
    Ok(lengths)
}

/// Refuses texts of one name, of which the later one is in this file.
pub fn check_distinct_names(texts: &[(String, usize)], path: &Path) -> Result<()> {
    let names: Vec<String> = texts.iter().map(|(name, _)| name.clone()).collect();
    let Some((_, later)) = first_repeated(&names) else { return Ok(()) };
    let problem = format!("the name '{}' stands twice among the texts", names[later].escape_debug());
    Err(Error::input(whole(path), problem, "SAM needs a name of its own for each text"))
}

/// Reads all patterns of a file, none of them empty. As reads of SAM their names are checked.
pub fn read_patterns(path: &Path, full_names: bool, sam: bool) -> Result<Vec<Text>> {
    let mut reader = Reader::open(path)?;
    let mut patterns = Vec::new();
    while let Some(harvest) = reader.harvest(|patterns: &mut Vec<Text>, raw| {
        if sam {
            check_query_name(raw.name).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        }
        take(patterns, &raw, full_names, "pattern")?;
        if patterns.last().is_some_and(|pattern| pattern.letters.is_empty()) {
            return Err(raw.fault("the pattern has no letters", "give it letters or remove it"));
        }
        Ok(())
    }) {
        patterns.extend(harvest.pieces.into_iter().flat_map(|(_, patterns)| patterns));
        if let Some(fault) = harvest.fault {
            return Err(fault);
        }
    }
    Ok(patterns)
}

fn take(texts: &mut Vec<Text>, raw: &Raw, full_name: bool, what: &str) -> Result<()> {
    if raw.name.is_empty() {
        return Err(raw.fault(format!("the {what} has no name"), "put a name right after '>' or '@'"));
    }
    let letters = raw.letters();
    let mut codes = Vec::with_capacity(letters.len());
    if let Err(at) = Alphabet::Dna.encode(&letters, &mut codes) {
        if let Some(mixed) = raw.mixed(letters[at]) {
            return Err(mixed);
        }
        let letter = letters[at].escape_ascii();
        let problem = format!("'{letter}' at position {} is not a letter of DNA or RNA", at + 1);
        let remedy = "replace it by N or remove it; search takes nucleotides and their IUPAC codes";
        return Err(raw.fault(problem, remedy));
    }
    let name = if full_name { raw.header() } else { raw.name.to_string() };
    texts.push(Text { name, letters, codes });
    Ok(())
}
