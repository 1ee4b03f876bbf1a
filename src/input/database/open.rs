//! An open database, used as the references of a run.

use super::contents::Contents;
use super::format::{DatabaseHeader, FormatError, MAKE_AGAIN, SourceFile};
use super::map::{MapFault, Mapped};
use crate::align::candidates::StoredIndex;
use crate::input::reader::{DATABASE, References, stretch_of_part};
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::{CodeFile, Sequences};
use crate::terms::casts::to_u32;
use crate::terms::error::{EngineError, Error, Place, Result};
use crate::terms::options::{DATABASE_EXTENSION, Share};
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Maximum size in bytes of a source that is compared by checksum if only its time differs.
const SMALL_SOURCE: u64 = 1 << 26;
/// Bytes per read.
const BUFFER: usize = 1 << 20;

/// An open database.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    /// Borrows from the map.
    contents: Contents<'static>,
    map: Mapped,
    /// The fault of the k-mer index, once it is known.
    index: OnceLock<FormatError>,
}

/// The first fields of a database, unverified, for estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    pub alphabet: Alphabet,
    pub letters: u64,
}

/// Whether a regular file begins like a database, or is named like one and does not begin like any other input.
/// [`Database::open`] reports the errors of such a file. Other files, such as pipes, are not read.
pub fn is_one(path: &Path) -> bool {
    const GZIP: u8 = 0x1f;
    let is_named = path.to_str().is_some_and(|path| path.ends_with(DATABASE_EXTENSION));
    let is_text = |bytes: &[u8]| bytes.first().is_none_or(|first| [b'>', b'@', GZIP].contains(first));
    beginning(path).is_some_and(|bytes| bytes.starts_with(&DATABASE) || is_named && !is_text(&bytes))
}

/// The first fields of a database; `None` if the file is no database.
pub fn glance(path: &Path) -> Option<Glance> {
    DatabaseHeader::glance(&beginning(path)?).map(|(alphabet, letters)| Glance { alphabet, letters })
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(DatabaseHeader::GLANCE as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Database {
    /// Opens a database, and checks its header and the ends of its sequences.
    pub fn open(path: &Path) -> Result<Database> {
        let map = File::open(path).and_then(Mapped::new).map_err(|source| Error::io(path, source))?;
        // SAFETY: the contents are dropped before the map, which is declared after them. Every other holder of the
        // bytes also holds the database: `MappedCodes` for sequences, and the owner of an index.
        let bytes = unsafe { map.bytes() };
        let contents = Contents::read(bytes).map_err(|fault| refused(path, fault))?;
        Ok(Database { path: path.to_path_buf(), contents, map, index: OnceLock::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn alphabet(&self) -> Alphabet {
        self.contents.alphabet()
    }

    pub fn masks_lower_case(&self) -> bool {
        self.contents.header().masks_lower_case
    }

    /// The references, with their titles if requested, and the residues of one share of them. No residue is read yet.
    pub fn references(self: &Arc<Database>, titles: bool, share: Option<Share>) -> Result<References> {
        let refused = |fault| self.fault().unwrap_or_else(|| refused(&self.path, fault));
        let names = self.contents.names().map_err(refused)?;
        let titles = if titles { self.contents.titles().map_err(refused)? } else { Vec::new() };
        let ends = self.contents.letter_ends();
        let start = |place: usize| if place == 0 { 0 } else { ends[place - 1] };
        // Verified to be valid lengths of references.
        let lengths: Vec<u32> = (0..ends.len()).map(|place| to_u32(ends[place] - start(place))).collect();
        let own = share.map_or(0..lengths.len(), |share| stretch_of_part(&lengths, share));
        let letters = start(own.start)..start(own.end);
        let own_ends = ends[own.clone()].iter().map(|end| end - letters.start).collect();
        let file = Arc::new(MappedCodes { database: Arc::clone(self), first: letters.start });
        let sequences = Sequences::mapped(&self.contents.codes()[letters], own_ends, file);
        Ok(References {
            names,
            titles,
            lengths,
            sequences,
            first: own.start,
            alphabet: self.alphabet(),
            masks_lower_case: self.masks_lower_case(),
            left_out: Vec::new(),
            bases: Vec::new(),
        })
    }

    /// The k-mer index of all references, if there is one.
    pub fn index(self: &Arc<Database>) -> Option<StoredIndex> {
        let shape = self.contents.header().shape()?;
        let database = Arc::clone(self);
        let load = move || match database.contents.index() {
            Ok(index) => index.map(|index| index.owned_by(Arc::clone(&database) as _)),
            Err(fault) => {
                database.index.get_or_init(|| fault);
                None
            }
        };
        Some(StoredIndex { shape, load: Arc::new(load) })
    }

    /// The fault of the file, as far as it is known.
    pub fn fault(&self) -> Option<Error> {
        let again = "run again when it is complete; do not overwrite a database while runs read it";
        let fault = match self.map.fault() {
            Some(MapFault::Cut) => {
                FormatError { problem: "the file was truncated while it was read".to_string(), remedy: again }
            }
            Some(MapFault::Unread) => FormatError {
                problem: "the file could not be read to its end".to_string(),
                remedy: MAKE_AGAIN,
            },
            None => self.index.get()?.clone(),
        };
        Some(refused(&self.path, fault))
    }

    /// A message if the source file of the database still exists and has changed since.
    pub fn change(&self) -> Option<String> {
        let source = self.contents.header().source.as_ref()?;
        let path = self.path.parent().unwrap_or(Path::new("")).join(&source.path);
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let time = metadata.modified().ok().map(SourceFile::time_of);
        let is_same = metadata.len() == source.len
            && (time == Some(source.time)
                || source.len <= SMALL_SOURCE && sum(&path).is_ok_and(|sum| sum == source.sum));
        let [database, source] = [&self.path, &path].map(|path| path.display());
        (!is_same).then(|| {
            format!(
                "{source} has changed since {database} was built from it; to rebuild it, run `swalign index`"
            )
        })
    }
}

/// CRC-32 of a file's bytes.
pub fn sum(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; BUFFER]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// The residues of some references of a database, starting with residue `first`.
#[derive(Debug)]
struct MappedCodes {
    database: Arc<Database>,
    first: usize,
}

impl CodeFile for MappedCodes {
    fn prove(&self, places: Range<usize>) -> Result<(), EngineError> {
        let Database { path, contents, .. } = &*self.database;
        contents.prove_codes(places.start + self.first..places.end + self.first).map_err(|fault| {
            // A truncated file reads as zeros.
            let error = self.database.fault().unwrap_or_else(|| refused(path, fault));
            EngineError::Unreadable(error.to_string())
        })
    }

    fn fault(&self) -> Option<Error> {
        self.database.fault()
    }
}

fn refused(path: &Path, FormatError { problem, remedy }: FormatError) -> Error {
    Error::input(Place { file: path.to_path_buf(), ..Place::default() }, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::database::write;

    /// A database with residues in many blocks.
    fn file() -> tempfile::NamedTempFile {
        let codes: Vec<u8> = (0..5_000_000u32).map(|place| (place % 4) as u8).collect();
        let references = References {
            names: vec!["r".to_string()],
            titles: vec!["r".to_string()],
            lengths: vec![codes.len() as u32],
            sequences: [&codes[..]].into_iter().collect(),
            first: 0,
            alphabet: Alphabet::Dna,
            masks_lower_case: false,
            left_out: Vec::new(),
            bases: Vec::new(),
        };
        let mut bytes = Vec::new();
        let mut put = |more: &[u8]| {
            bytes.extend(more);
            Ok(())
        };
        write(&mut put, &references, None, None, None).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn a_file_is_a_database_by_its_first_bytes_or_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let is_one = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            is_one(&path)
        };
        assert!(is_one("any.name", &DATABASE));
        let damaged = [&b"\0"[..], &DATABASE[1..]].concat();
        assert!(is_one("damaged.swdb", &damaged));
        assert!(!is_one("other.name", &damaged));
        for text in [&b">r\nACGT\n"[..], b"@r\nA\n+\nI\n", b"\x1f\x8b", b""] {
            assert!(!is_one("text.swdb", text));
        }
    }

    fn opened(file: &tempfile::NamedTempFile) -> References {
        let database = Arc::new(Database::open(file.path()).unwrap());
        database.references(true, None).unwrap()
    }

    #[test]
    fn letters_are_proven_where_they_are_used() {
        let file = file();
        let mut bytes = fs::read(file.path()).unwrap();
        let len = bytes.len();
        bytes[len - 1] ^= 1;
        fs::write(file.path(), bytes).unwrap();
        let references = opened(&file);
        assert_eq!((references.titles.len(), references.lengths[0]), (1, 5_000_000));
        let sequences = &references.sequences;
        assert_eq!(sequences.prove(0..4_000_000), Ok(()));
        let error = sequences.prove_all().unwrap_err().to_string();
        assert!(error.contains("block 5 of the sequences") && error.contains("`swalign index`"), "{error}");
        assert!(sequences.fault().is_none(), "the file itself is whole");
        // A copy in memory does not depend on the file any more.
        let mut copy = sequences.clone();
        copy.push([0]);
        assert_eq!(copy.prove_all(), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_cut_is_told_once_it_is_noticed() {
        let file = file();
        let references = opened(&file);
        let sequences = &references.sequences;
        assert_eq!(sequences.prove(0..10), Ok(()));
        file.as_file().set_len(1_000_000).unwrap();
        let told = |error: String| assert!(error.contains("truncated"), "{error}");
        told(sequences.fault().unwrap().to_string());
        told(sequences.prove_all().unwrap_err().to_string());
        // The reader continues to the end.
        assert!(sequences.codes().iter().all(|&code| code < 4));
    }
}
