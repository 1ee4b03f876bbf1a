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
    /// The index of k-mers that its database contains.
    index: Option<StoredIndex>,
}

impl Targets {
    /// The references of a database that `swalign index` built, or the records of a FASTA or FASTQ file. Databases need
    /// the feature `database`. Their sequences stay in the file, which must not be overwritten while it is in use. The
    /// file is mapped until the last copy of the targets and the last aligner for them are dropped.
    ///
    /// On Unix, the first database installs a handler for SIGBUS in the process, so that truncating a mapped file
    /// causes an error instead of ending the process. Faults elsewhere are passed to the previous handler. A program
    /// that sets its own handler for this signal should do so earlier, or pass on faults as well.
    ///
    /// # Errors
    /// As [`Targets::from_fasta`]. If a database turns out to be damaged, the call that uses its sequences fails.
    pub fn open(path: impl AsRef<Path>) -> Result<Targets> {
        #[cfg(feature = "database")]
        if crate::input::database::is_one(path.as_ref()) {
            let database = Arc::new(crate::input::database::Database::open(path.as_ref())?);
            let index = database.index();
            return Ok(Targets { index, ..Targets::of_references(database.references(false, None)?) });
        }
        Targets::from_fasta(path)
    }

    /// Like [`Targets::open`], but reads the sequences with this alphabet instead of detecting it.
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

    /// The records of a FASTA or FASTQ file, plain or gzipped. Their residues decide whether they are DNA or proteins.
    /// Records without residues are skipped, a file may have no records, and names may repeat.
    ///
    /// # Errors
    /// [`Error::Io`] if the file can't be read, [`Error::Input`] with the record, the line and the problem if it is
    /// invalid.
    pub fn from_fasta(path: impl AsRef<Path>) -> Result<Targets> {
        Targets::read(path.as_ref(), None)
    }

    /// DNA, as names and sequences. Lower case counts as upper case, U as T, and the other IUPAC codes match nothing.
    ///
    /// # Errors
    /// As [`Targets::from_letters`].
    pub fn from_dna<N: Into<String>, L: AsRef<[u8]>>(
        sequences: impl IntoIterator<Item = (N, L)>,
    ) -> Result<Targets> {
        Targets::from_letters(Alphabet::Dna, sequences)
    }

    /// Proteins, as names and sequences.
    ///
    /// # Errors
    /// As [`Targets::from_letters`].
    pub fn from_protein<N: Into<String>, L: AsRef<[u8]>>(
        sequences: impl IntoIterator<Item = (N, L)>,
    ) -> Result<Targets> {
        Targets::from_letters(Alphabet::Protein, sequences)
    }

    /// Sequences of an alphabet, as names and residues. Any names are allowed, including equal ones.
    ///
    /// # Errors
    /// [`Error::Usage`] if a byte is not in the alphabet, or if a sequence has 2^31 residues or more.
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

    /// Number of targets.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The alphabet of the targets.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// The name of the target at this index, from 0.
    pub fn name(&self, target: usize) -> Option<&str> {
        self.names.get(target).map(String::as_str)
    }

    /// Number of residues of the target at this index, from 0.
    pub fn length(&self, target: usize) -> Option<usize> {
        (target < self.len()).then(|| self.sequences.get(target).len())
    }

    /// Residues in a range of the target at this index, in upper case, as in alignments: U is T. `None` if there is no
    /// such range.
    ///
    /// ```
    /// let targets = swalign::Targets::from_dna([("one", "ACGUN")])?;
    /// assert_eq!(targets.letters(0, 1..5).as_deref(), Some(&b"CGTN"[..]));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn letters(&self, target: usize, range: Range<usize>) -> Option<Vec<u8>> {
        let codes = if target < self.len() { self.sequences.get(target).get(range)? } else { return None };
        let letters = self.alphabet.letters();
        // A damaged file may have invalid codes.
        let letter = |&code: &u8| letters.get(usize::from(code)).copied().unwrap_or(b'?');
        Some(codes.iter().map(letter).collect())
    }

    /// The answer of a search in these targets, as codes.
    pub(super) fn searched<T>(&self, search: impl FnOnce(&[&[u8]]) -> Result<T>) -> Result<T> {
        if self.alphabet != Alphabet::Dna {
            return Err(Error::Usage(
                "patterns are searched in DNA, but the targets are protein".to_string(),
            ));
        }
        self.sequences.prove_all()?;
        let answer = search(&self.sequences.iter().collect::<Vec<_>>())?;
        self.check()?;
        Ok(answer)
    }

    /// Returns the fault of the file that holds the sequences, if there is one.
    pub(super) fn check(&self) -> Result<()> {
        self.sequences.fault().map_or(Ok(()), Err)
    }

    /// Adds the file's index of k-mers to the filter, if there is one.
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

/// Appends the codes of `letters`, or returns a message that names the first invalid one.
pub(super) fn encode(alphabet: Alphabet, letters: &[u8], codes: &mut Vec<u8>) -> Result<(), String> {
    alphabet.encode(letters, codes).map_err(|place| {
        format!("'{}' at position {place} is not a residue of {alphabet}", letters[place].escape_ascii())
    })
}
