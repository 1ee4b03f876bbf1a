//! Conversion of Python objects to sequences.

use pyo3::exceptions::{PyDeprecationWarning, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyMapping, PyString, PyTuple};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use swalign::{Alphabet, Records};

/// Residues, and their name if they have one.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    pub name: Option<String>,
    pub letters: Vec<u8>,
}

impl AsRef<[u8]> for Sequence {
    fn as_ref(&self) -> &[u8] {
        &self.letters
    }
}

/// Converts a Python object to a sequence. Pairs and records have a name.
pub fn sequence(given: &Bound<'_, PyAny>) -> PyResult<Sequence> {
    if let Some(letters) = plain(given)? {
        return Ok(Sequence { name: None, letters });
    }
    if let Ok(pair) = given.cast::<PyTuple>()
        && pair.len() == 2
    {
        return Ok(Sequence { name: Some(name(&pair.get_item(0)?)?), letters: letters(&pair.get_item(1)?)? });
    }
    // Attributes of records: Biopython's, pysam's, and those of other packages.
    for [own_name, own_letters] in [["id", "seq"], ["name", "sequence"], ["name", "seq"]] {
        if let (Some(called), Some(of)) = (given.getattr_opt(own_name)?, given.getattr_opt(own_letters)?) {
            let name = if called.is_none() { None } else { Some(name(&called)?) };
            return Ok(Sequence { name, letters: letters(&of)? });
        }
    }
    Ok(Sequence { name: None, letters: letters(given)? })
}

/// Converts a Python object without a name to residues.
fn letters(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Some(letters) = plain(given)? {
        return Ok(letters);
    }
    // NumPy arrays of bytes or of single characters, and memoryviews.
    let item = given.getattr_opt("itemsize")?.map(|size| size.extract::<usize>()).transpose();
    if let (Ok(Some(size)), Some(to_bytes)) = (item, given.getattr_opt("tobytes")?) {
        let dimensions =
            given.getattr_opt("ndim")?.map_or(Ok(1), |dimensions| dimensions.extract::<usize>())?;
        if dimensions > 1 {
            return Err(PyTypeError::new_err(format!(
                "a sequence is an array of one dimension, and this {} has {dimensions}; give its rows one by one",
                type_name(given)
            )));
        }
        if size != 1 {
            return Err(PyTypeError::new_err(format!(
                "a sequence is an array of uint8, one byte a letter; items of this {} have {size} bytes",
                type_name(given)
            )));
        }
        return Ok(to_bytes.call0()?.cast::<PyBytes>()?.as_bytes().to_vec());
    }
    // Biopython's Seq.
    if let Some(to_bytes) = given.getattr_opt("__bytes__")? {
        return Ok(to_bytes.call0()?.cast::<PyBytes>()?.as_bytes().to_vec());
    }
    Err(PyTypeError::new_err(format!(
        "a sequence is str, bytes, bytearray, a NumPy array of uint8, a pair (name, sequence) or a record with a name and \
         a sequence, not {}",
        type_name(given)
    )))
}

/// The bytes of a str, bytes or bytearray; `None` for other types.
fn plain(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Some(text.to_cow()?.as_bytes().to_vec()));
    }
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    Ok(given.cast::<PyByteArray>().ok().map(|bytes| bytes.to_vec()))
}

/// Whether the object is a str, bytes or bytearray.
pub fn is_plain(given: &Bound<'_, PyAny>) -> bool {
    given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>()
}

fn name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    match given.cast::<PyBytes>() {
        Ok(bytes) => Ok(String::from_utf8_lossy(bytes.as_bytes()).into_owned()),
        Err(_) => Ok(given.str()?.to_cow()?.into_owned()),
    }
}

pub fn type_name(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "that".to_string(), |name| name.to_string())
}

/// The path, if the object is path-like. A str is a sequence, not a path.
pub fn path(given: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if given.hasattr("__fspath__")? { given.extract().map(Some) } else { Ok(None) }
}

/// Warns that a str as the path of a file is deprecated, and suggests `others`.
pub fn deprecated_path(py: Python<'_>, others: &str) -> PyResult<()> {
    let text = format!(
        "a str as the path of a file is deprecated, because it is a sequence elsewhere: give {others}"
    );
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &CString::new(text)?, 1)
}

/// A source of sequences, which are read one after another.
pub enum Source {
    Python(Py<PyIterator>),
    /// The lock makes the type `Sync`. Only one thread uses the source at any moment.
    File(Mutex<Records>),
}

impl Source {
    /// Opens an iterable of sequences, a mapping from names to sequences, or the path of a FASTA or FASTQ file.
    /// Error messages call the sequences `what`.
    pub fn of(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Source> {
        if let Some(path) = path(given)? {
            return Ok(Source::File(Mutex::new(Records::open(path).map_err(crate::errors::exception)?)));
        }
        if plain(given)?.is_some() {
            return Err(PyTypeError::new_err(format!(
                "{what} are many sequences, not one {}: put it into a list, or give a file as pathlib.Path",
                type_name(given)
            )));
        }
        let items = match (given.cast::<PyMapping>(), &*type_name(given)) {
            (Ok(mapping), _) => mapping.items()?.try_iter()?,
            // The index of a Series has the names.
            (Err(_), "Series") if given.hasattr("index")? && given.hasattr("items")? => {
                given.call_method0("items")?.try_iter()?
            }
            (Err(_), "DataFrame") => {
                return Err(PyTypeError::new_err(format!(
                    "{what} are many sequences, not a DataFrame: give one of its columns, or zip(names, sequences)"
                )));
            }
            _ => given.try_iter()?,
        };
        Ok(Source::Python(items.unbind()))
    }

    /// The next sequence; `None` at the end.
    pub fn next(&mut self, py: Python<'_>) -> Option<PyResult<Sequence>> {
        match self {
            Source::Python(items) => {
                let item = items.bind(py).clone().next()?;
                Some(item.and_then(|item| sequence(&item)))
            }
            Source::File(records) => {
                let records = records.get_mut().unwrap_or_else(PoisonError::into_inner);
                let record = py.detach(|| records.next())?;
                let record = record.map_err(crate::errors::exception);
                Some(record.map(|record| Sequence { name: Some(record.name), letters: record.letters }))
            }
        }
    }

    /// All remaining sequences.
    pub fn all(mut self, py: Python<'_>) -> PyResult<Vec<Sequence>> {
        std::iter::from_fn(|| self.next(py)).collect()
    }
}

/// Number of residues, from the start of the sequences, that determine the alphabet.
const TELLING: usize = 1 << 16;

/// The first residues of the concatenated sequences, at most [`TELLING`].
fn first_letters<'a>(sequences: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut first = Vec::new();
    for letters in sequences {
        first.extend_from_slice(&letters[..letters.len().min(TELLING - first.len())]);
        if first.len() == TELLING {
            break;
        }
    }
    first
}

/// The alphabet, if the residues determine it without doubt.
pub fn certain_alphabet(letters: &[u8]) -> Option<Alphabet> {
    Alphabet::detect_certain(&letters[..letters.len().min(TELLING)])
}

/// The alphabet of sequences, detected from their first residues, or `implied` if these do not determine it. If
/// there is no implied alphabet either, a warning reports how the sequences are read, and calls them `what`.
pub fn alphabet_of<'a>(
    py: Python<'_>,
    what: &str,
    sequences: impl IntoIterator<Item = &'a [u8]>,
    implied: Option<Alphabet>,
) -> PyResult<Alphabet> {
    let first = first_letters(sequences);
    if let Some(alphabet) = Alphabet::detect_certain(&first).or(implied) {
        return Ok(alphabet);
    }
    let Some(alphabet) = Alphabet::detect(&first) else { return Ok(Alphabet::Dna) };
    let [own, other] = match alphabet {
        Alphabet::Dna => ["dna", "protein"],
        Alphabet::Protein => ["protein", "dna"],
    };
    let text = format!(
        "the letters of {what} could be DNA or protein and are read as {alphabet}; give alphabet='{other}' if that is \
         wrong, or alphabet='{own}' to silence this warning"
    );
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)?;
    Ok(alphabet)
}

/// The error message for a query that cannot be aligned with proteins because it is DNA.
pub fn refused_query(letters: &[u8]) -> Option<String> {
    let is_dna = certain_alphabet(letters) == Some(Alphabet::Dna);
    let text =
        "DNA query against protein targets: translate it, or give alphabet='protein' if it is a protein";
    is_dna.then(|| text.to_string())
}

/// `1 target`, `2 targets`.
pub fn counted(count: usize, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
