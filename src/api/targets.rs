//! Targets in memory.

use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use crate::error::{Error, Result};
use crate::reader::{Reader, read_references};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The sequences that queries are aligned with, and their names. Copies share the sequences.
#[derive(Clone)]
pub struct Targets {
    names: Arc<Vec<String>>,
    pub(super) sequences: Arc<Sequences>,
    alphabet: Alphabet,
}

impl Targets {
    /// The records of a FASTA or FASTQ file, plain or in gzip; whether they are DNA or proteins is read off their letters.
    ///
    /// # Errors
    /// [`Error::Io`] if the file can't be read, [`Error::Input`] with the record and the line of what is wrong in it.
    pub fn from_fasta(path: impl AsRef<Path>) -> Result<Targets> {
        let mut reader = Reader::open(path.as_ref())?.with_any_names(true);
        let references = read_references(&mut reader, None)?;
        Ok(Targets {
            names: Arc::new(references.names),
            sequences: Arc::new(references.sequences),
            alphabet: references.alphabet,
        })
    }

    /// DNA, as names and letters. Lower case is upper case, U is T, and IUPAC codes match nothing.
    ///
    /// # Errors
    /// As [`Targets::from_letters`].
    pub fn from_dna<N: Into<String>, L: AsRef<[u8]>>(
        sequences: impl IntoIterator<Item = (N, L)>,
    ) -> Result<Targets> {
        Targets::from_letters(Alphabet::Dna, sequences)
    }

    /// Proteins, as names and letters.
    ///
    /// # Errors
    /// As [`Targets::from_letters`].
    pub fn from_protein<N: Into<String>, L: AsRef<[u8]>>(
        sequences: impl IntoIterator<Item = (N, L)>,
    ) -> Result<Targets> {
        Targets::from_letters(Alphabet::Protein, sequences)
    }

    /// Sequences of an alphabet, as names and letters. Names may be any, and need not differ.
    ///
    /// # Errors
    /// [`Error::Usage`] if a byte is no letter of the alphabet, or a sequence has 2^31 letters or more.
    pub fn from_letters<N: Into<String>, L: AsRef<[u8]>>(
        alphabet: Alphabet,
        sequences: impl IntoIterator<Item = (N, L)>,
    ) -> Result<Targets> {
        let (mut names, mut all) = (Vec::new(), Sequences::default());
        for (name, letters) in sequences {
            let (name, letters) = (name.into(), letters.as_ref());
            let refused = |text| Error::Usage(format!("target '{name}': {text}"));
            if letters.len() > i32::MAX as usize {
                return Err(refused(format!("{} letters are more than 2^31 - 1", letters.len())));
            }
            all.try_push(|codes| encode(alphabet, letters, codes)).map_err(refused)?;
            names.push(name);
        }
        Ok(Targets { names: Arc::new(names), sequences: Arc::new(all), alphabet })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What their letters stand for.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// The name of the target at this place, from 0.
    pub fn name(&self, target: usize) -> Option<&str> {
        self.names.get(target).map(String::as_str)
    }

    /// Letters of the target at this place, from 0.
    pub fn length(&self, target: usize) -> Option<usize> {
        (target < self.len()).then(|| self.sequences.get(target).len())
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.sequences.codes().len();
        f.debug_struct("Targets").field("len", &self.len()).field("letters", &letters).finish()
    }
}

/// Appends the codes of `letters`, or says which of them is none.
pub(super) fn encode(alphabet: Alphabet, letters: &[u8], codes: &mut Vec<u8>) -> Result<(), String> {
    alphabet.encode(letters, codes).map_err(|place| {
        format!("'{}' at place {place} is no letter of {alphabet}", letters[place].escape_ascii())
    })
}
