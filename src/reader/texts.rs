//! What is searched: patterns, all of them at once, and texts, one after the other.

use super::Reader;
use super::parse::Raw;
use crate::alphabet::Alphabet;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::path::Path;

/// A DNA sequence with its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The header up to its first white space.
    pub name: String,
    /// Letters in upper case, without line ends.
    pub letters: Vec<u8>,
    /// Codes of DNA, as many.
    pub codes: Vec<u8>,
}

/// The texts of one file, in order. After an error there are no more.
pub struct Texts {
    reader: Reader,
    ready: VecDeque<Text>,
    fault: Option<Error>,
}

impl Texts {
    /// Opens `path`, or stdin for `-`.
    pub fn open(path: &Path) -> Result<Texts> {
        Ok(Texts { reader: Reader::open(path)?, ready: VecDeque::new(), fault: None })
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
            let harvest = self.reader.harvest(|texts: &mut Vec<Text>, raw| take(texts, &raw, "text"))?;
            self.ready.extend(harvest.pieces.into_iter().flat_map(|(_, texts)| texts));
            self.fault = harvest.fault;
        }
        self.ready.pop_front().map(Ok)
    }
}

/// Reads all patterns of a file, none of them empty.
pub fn read_patterns(path: &Path) -> Result<Vec<Text>> {
    let mut reader = Reader::open(path)?;
    let mut patterns = Vec::new();
    while let Some(harvest) = reader.harvest(|patterns: &mut Vec<Text>, raw| {
        take(patterns, &raw, "pattern")?;
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

fn take(texts: &mut Vec<Text>, raw: &Raw, what: &str) -> Result<()> {
    if raw.name.is_empty() {
        return Err(raw.fault(format!("the {what} has no name"), "put a name right after '>' or '@'"));
    }
    let letters = raw.letters();
    let mut codes = Vec::with_capacity(letters.len());
    if let Err(at) = Alphabet::Dna.encode(&letters, &mut codes) {
        let letter = letters[at].escape_ascii();
        let problem = format!("'{letter}' at position {} is not a letter of DNA or RNA", at + 1);
        let remedy = "replace it by N or remove it; search takes nucleotides and their IUPAC codes";
        return Err(raw.fault(problem, remedy));
    }
    texts.push(Text { name: raw.name.to_string(), letters, codes });
    Ok(())
}
