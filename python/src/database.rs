//! Databases of targets, which aligners and threads share.

use crate::errors::exception;
use crate::jobs;
use crate::letters::{Source, alphabet_of, counted, deprecated_path, path};
use crate::scoring::{alphabet as named, alphabet_name};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::PathBuf;
use swalign::{Alphabet, Targets};

/// Cell count for work of unknown duration, such as reading a file.
const LONG: u64 = u64::MAX;

/// The sequences that queries are aligned with.
///
/// A database is built from sequences: str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence,
/// records of Biopython or pysam, or a mapping from names to sequences. Sequences without a name are named by their
/// index: "0", "1". It can also be read from a file, given as pathlib.Path or to ``Database.from_file``: FASTA or
/// FASTQ, plain or gzipped, or a database file that ``swalign index`` built. Threads and aligners may share a
/// database.
///
/// The alphabet, DNA or protein, is detected from the residues, as in the command, unless ``alphabet`` is given.
/// Short sequences of A, C, G and T are ambiguous, and a UserWarning reports how they are read.
///
/// A database file is memory-mapped as long as a database or an aligner uses it. On Unix, the first database file
/// installs a handler for SIGBUS, so that a truncated file raises an error instead of ending the process.
///
/// >>> from pyswalign import Database
/// >>> database = Database({"chr1": "ACGTTGCA", "chr2": "GATTACA"})
/// >>> len(database), database.names, database.length(1), database.alphabet
/// (2, ['chr1', 'chr2'], 7, 'dna')
/// >>> database.sequence(0, 2, 5)
/// 'GTT'
#[pyclass(frozen, name = "Database", module = "pyswalign")]
pub struct Database {
    pub targets: Targets,
    /// Whether the caller specified the alphabet.
    pub is_stated: bool,
}

impl Database {
    /// Builds a database from sequences or a file. A str is the path of a file, which is deprecated. If the residues
    /// do not determine the alphabet, it is `implied`.
    pub fn of(
        given: &Bound<'_, PyAny>,
        alphabet: Option<Alphabet>,
        implied: Option<Alphabet>,
    ) -> PyResult<Database> {
        let py = given.py();
        if given.is_instance_of::<PyString>() {
            deprecated_path(py, "pathlib.Path or Database.from_file")?;
            return Database::of_file(py, given.extract()?, alphabet);
        }
        if let Some(file) = path(given)? {
            return Database::of_file(py, file, alphabet);
        }
        let sequences = Source::of(given, "a database's sequences")?.all(py)?;
        let letters = || sequences.iter().map(|sequence| &*sequence.letters);
        let is_stated = alphabet.is_some();
        let alphabet = match alphabet {
            Some(alphabet) => alphabet,
            None => alphabet_of(py, "the database's sequences", letters(), implied)?,
        };
        let named = |(place, sequence): (usize, crate::letters::Sequence)| {
            (sequence.name.unwrap_or_else(|| place.to_string()), sequence.letters)
        };
        let make = move |_: &jobs::GivenUp| {
            Targets::from_letters(alphabet, sequences.into_iter().enumerate().map(named))
        };
        let targets = jobs::run(py, LONG, make)?.map_err(exception)?;
        Ok(Database { targets, is_stated })
    }

    fn of_file(py: Python<'_>, file: PathBuf, alphabet: Option<Alphabet>) -> PyResult<Database> {
        let targets = jobs::run(py, LONG, move |_| read(file, alphabet))?.map_err(exception)?;
        Ok(Database { targets, is_stated: alphabet.is_some() })
    }

    fn place(&self, index: isize) -> PyResult<usize> {
        let len = self.targets.len();
        let place = if index < 0 { index.checked_add_unsigned(len) } else { Some(index) };
        let place = place.and_then(|place| usize::try_from(place).ok()).filter(|&place| place < len);
        place.ok_or_else(|| {
            PyIndexError::new_err(format!("the database has {len} sequences, and none at {index}"))
        })
    }
}

fn read(file: PathBuf, alphabet: Option<Alphabet>) -> swalign::Result<Targets> {
    match alphabet {
        Some(alphabet) => Targets::open_as(file, alphabet),
        None => Targets::open(file),
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (sequences, *, alphabet=None))]
    fn new(sequences: &Bound<'_, PyAny>, alphabet: Option<&str>) -> PyResult<Database> {
        Database::of(sequences, alphabet.map(named).transpose()?, None)
    }

    /// Reads a FASTA or FASTQ file, plain or gzipped, or opens a database file that ``swalign index`` built.
    ///
    /// Here, a str is the path of the file.
    #[staticmethod]
    #[pyo3(signature = (path, *, alphabet=None))]
    fn from_file(py: Python<'_>, path: PathBuf, alphabet: Option<&str>) -> PyResult<Database> {
        Database::of_file(py, path, alphabet.map(named).transpose()?)
    }

    fn __len__(&self) -> usize {
        self.targets.len()
    }

    /// Names of the sequences, in order.
    #[getter]
    fn names(&self) -> Vec<&str> {
        (0..self.targets.len()).filter_map(|place| self.targets.name(place)).collect()
    }

    /// "dna" or "protein".
    #[getter]
    fn alphabet(&self) -> &'static str {
        alphabet_name(self.targets.alphabet())
    }

    /// Returns the name of the sequence at ``index``, from 0; -1 is the last sequence.
    fn name(&self, index: isize) -> PyResult<&str> {
        Ok(self.targets.name(self.place(index)?).unwrap_or_default())
    }

    /// Returns the number of residues of the sequence at ``index``.
    fn length(&self, index: isize) -> PyResult<usize> {
        Ok(self.targets.length(self.place(index)?).unwrap_or_default())
    }

    /// Returns residues ``start`` to ``end`` of the sequence at ``index``, in upper case. In DNA, U becomes T.
    #[pyo3(signature = (index, start=0, end=None))]
    fn sequence(&self, index: isize, start: usize, end: Option<usize>) -> PyResult<String> {
        let place = self.place(index)?;
        let len = self.targets.length(place).unwrap_or_default();
        let end = end.unwrap_or(len);
        let letters = self.targets.letters(place, start..end.max(start));
        let letters = letters.filter(|_| start <= end).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "sequence {index} has {len} letters, and no stretch {start} to {end}"
            ))
        })?;
        Ok(letters.into_iter().map(char::from).collect())
    }

    fn __repr__(&self) -> String {
        let letters: usize = (0..self.targets.len()).filter_map(|place| self.targets.length(place)).sum();
        let (count, alphabet) = (self.targets.len(), self.targets.alphabet());
        let noun = if count == 1 { "sequence" } else { "sequences" };
        format!("<Database of {count} {alphabet} {noun}, {}>", counted(letters, ["letter", "letters"]))
    }
}
