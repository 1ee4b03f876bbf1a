//! Targets in memory.

use crate::align::candidates::StoredIndex;
use crate::align::candidates::filter::Filter;
use crate::input::reader::{MAX_REFERENCES, Reader, References, read_references};
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::Sequences;
use crate::terms::error::{Error, Result};
use crate::terms::options::ReadRules;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The sequences that queries are aligned with, and their names. Copies share the sequences.
#[derive(Clone)]
pub struct Targets {
    names: Arc<Vec<String>>,
    pub(super) sequences: Arc<Sequences>,
    alphabet: Alphabet,
    /// The index of k-mers that lies in their database.
    index: Option<StoredIndex>,
}

impl Targets {
    /// The references of a database that `swalign index` made, or else the records of a FASTA or FASTQ file. Databases need
    /// the feature `database`. Their letters stay in the file: it must not be written over while it is in use. The file is
    /// mapped until the last copy of the targets and the last aligner for them are dropped.
    ///
    /// On Unix the first database installs a handler for SIGBUS in the process, so that a file that is cut while it is mapped
    /// is an error and not the end of the process. Faults elsewhere go to the handler that was there before. A program that sets
    /// a handler of its own for this signal should do so earlier, or pass faults on as well.
    ///
    /// # Errors
    /// As [`Targets::from_fasta`]. A database that turns out to be damaged is an error where its letters are used.
    pub fn open(path: impl AsRef<Path>) -> Result<Targets> {
        #[cfg(feature = "database")]
        if crate::input::database::is_one(path.as_ref()) {
            let database = Arc::new(crate::input::database::Database::open(path.as_ref())?);
            let index = database.index();
            return Ok(Targets { index, ..Targets::of_references(database.references(false, None)?) });
        }
        Targets::from_fasta(path)
    }

    /// The same as sequences of an alphabet, whatever their letters suggest.
    ///
    /// # Errors
    /// As [`Targets::open`], and [`Error::Usage`] for a database of the other alphabet.
    pub fn open_as(path: impl AsRef<Path>, alphabet: Alphabet) -> Result<Targets> {
        #[cfg(feature = "database")]
        if crate::input::database::is_one(path.as_ref()) {
            let targets = Targets::open(path.as_ref())?;
            let (path, own) = (path.as_ref().display(), targets.alphabet);
            return match own == alphabet {
                true => Ok(targets),
                false => Err(Error::Usage(format!("{path} is a {own} database, not a {alphabet} database"))),
            };
        }
        Targets::read(path.as_ref(), Some(alphabet))
    }

    fn read(path: &Path, alphabet: Option<Alphabet>) -> Result<Targets> {
        let rules = ReadRules { any_names: true, ..ReadRules::default() };
        let mut reader = Reader::open(path)?.with_rules(rules);
        Ok(Targets::of_references(read_references(&mut reader, alphabet)?))
    }

    fn of_references(references: References) -> Targets {
        Targets {
            names: Arc::new(references.names),
            sequences: Arc::new(references.sequences),
            alphabet: references.alphabet,
            index: None,
        }
    }

    /// The records of a FASTA or FASTQ file, plain or in gzip; whether they are DNA or proteins is read off their letters.
    /// Records without residues are left out, a file may have no records, and names may repeat.
    ///
    /// # Errors
    /// [`Error::Io`] if the file can't be read, [`Error::Input`] with the record and the line of what is wrong in it.
    pub fn from_fasta(path: impl AsRef<Path>) -> Result<Targets> {
        Targets::read(path.as_ref(), None)
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
                return Err(refused(format!("{} residues exceed the limit of 2^31 - 1", letters.len())));
            }
            if names.len() == MAX_REFERENCES {
                return Err(refused(format!("more than {MAX_REFERENCES} targets")));
            }
            all.try_push(|codes| encode(alphabet, letters, codes)).map_err(refused)?;
            names.push(name);
        }
        Ok(Targets { names: Arc::new(names), sequences: Arc::new(all), alphabet, index: None })
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

    /// Letters of a stretch of the target at this place, in upper case, as alignments have them: U is T. `None` where there
    /// is no such stretch.
    ///
    /// ```
    /// let targets = swalign::Targets::from_dna([("one", "ACGUN")])?;
    /// assert_eq!(targets.letters(0, 1..5).as_deref(), Some(&b"CGTN"[..]));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn letters(&self, target: usize, range: Range<usize>) -> Option<Vec<u8>> {
        let codes = if target < self.len() { self.sequences.get(target).get(range)? } else { return None };
        let letters = self.alphabet.letters();
        // A damaged file may have codes that are none.
        let letter = |&code: &u8| letters.get(usize::from(code)).copied().unwrap_or(b'?');
        Some(codes.iter().map(letter).collect())
    }

    /// Says what is wrong with the file that the sequences lie in.
    pub(super) fn check(&self) -> Result<()> {
        self.sequences.fault().map_or(Ok(()), Err)
    }

    /// The filter with the index of k-mers, where a file has one.
    pub(super) fn with_index(&self, filter: Filter) -> Filter {
        match &self.index {
            Some(index) => filter.with_stored(index.clone()),
            None => filter,
        }
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
        format!("'{}' at position {place} is not a residue of {alphabet}", letters[place].escape_ascii())
    })
}
