//! Estimates the work of a run from a glance at its inputs.

use crate::input::database;
use crate::input::reader::{self, Reader};
use crate::terms::alphabet::Alphabet;
use crate::terms::options::{Mode, Options, Share};
use crate::terms::system::{Metadata, metadata};
use std::path::Path;

/// Assumed ratios: uncompressed to compressed bytes, and bytes of FASTQ per base.
const PACKED: u64 = 4;
const FASTQ: u64 = 2;

/// Approximate number of cells of the recurrence. `None` if an input is a stream.
pub fn cells(options: &Options) -> Option<u64> {
    let queries = query_letters(options)?;
    let strands = u64::from(options.strands.count());
    let against = match options.mode {
        Mode::All | Mode::Triangle => letters(&options.reference)?,
        // Each query meets one target, and the first target's length is used for all.
        Mode::Pairs => {
            letters(&options.reference)?;
            reader::first_length(&options.reference)?
        }
    };
    let parts = options.part.or(options.ref_part).map_or(1, |part| u64::from(part.of));
    Some((queries / parts).saturating_mul(against).saturating_mul(strands))
}

/// Approximate number of residues of all queries. `None` if one of their files is a stream.
pub fn query_letters(options: &Options) -> Option<u64> {
    options.query_files().map(letters).sum()
}

/// The alphabet of a file, from its first residues or its database. `None` for a stream, which can be read only once.
pub fn alphabet(path: &Path) -> Option<Alphabet> {
    if let Some(database) = database::glance(path) {
        return Some(database.alphabet);
    }
    letters(path)?;
    Some(reader::suggested_alphabet(&mut Reader::open(path).ok()?).ok()?.alphabet)
}

/// Size of a file on disk in bytes, or of each of `parts` parts of it. `None` for a stream.
pub fn bytes(path: &Path, parts: Option<Share>) -> Option<u64> {
    if is_a_stream(path) {
        return None;
    }
    let file = metadata(path).ok().filter(Metadata::is_file)?;
    Some(file.len() / parts.map_or(1, |part| u64::from(part.of.max(1))))
}

/// Estimated number of residues of a file, rather too high than too low. `None` for a stream.
pub fn letters(path: &Path) -> Option<u64> {
    let bytes = bytes(path, None)?;
    if let Some(database) = database::glance(path) {
        return Some(database.letters);
    }
    let name = path.file_name()?.to_string_lossy();
    let plain = name.trim_end_matches(".gz").trim_end_matches(".bgz");
    let packed = if plain.len() < name.len() { PACKED } else { 1 };
    let fastq = if plain.ends_with(".fq") || plain.ends_with(".fastq") { FASTQ } else { 1 };
    Some(bytes.saturating_mul(packed) / fastq)
}

/// Whether `path` is a stream, which can be read only once. /dev/stdin may look like a regular file.
fn is_a_stream(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdin") || path.starts_with("/dev/fd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn streams_by_their_names() {
        for (path, expected) in [
            ("-", true),
            ("/dev/stdin", true),
            ("/dev/fd/63", true),
            ("/dev/shm/reads.fq", false),
            ("./-", false),
            ("reads.fq", false),
        ] {
            assert_eq!(is_a_stream(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn alphabets_of_files() {
        let of = |text: &str| {
            let file = tempfile::Builder::new().suffix(".fa").tempfile().unwrap();
            fs::write(file.path(), text).unwrap();
            alphabet(file.path())
        };
        assert_eq!(of(">a\nACGTA\nCG\n>b\nA\n"), Some(Alphabet::Dna));
        assert_eq!(of(">p\nMKVLW\n"), Some(Alphabet::Protein));
        assert_eq!(alphabet(Path::new("-")), None, "stdin is read once");
        assert_eq!(alphabet(Path::new("no such file")), None);
    }

    #[test]
    fn letters_of_files() {
        let plain = tempfile::Builder::new().suffix(".fa").tempfile().unwrap();
        fs::write(plain.path(), ">a\nACGT\n").unwrap();
        assert_eq!(letters(plain.path()), Some(8));
        for (suffix, expected) in [(".fa.gz", 40), (".fastq", 5), (".fq.gz", 20), (".gz", 40), ("", 10)] {
            let file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
            fs::write(file.path(), [0; 10]).unwrap();
            assert_eq!(letters(file.path()), Some(expected), "{suffix}");
        }
        assert_eq!(letters(Path::new("-")), None);
        assert_eq!(letters(Path::new("/dev/null")), None);
    }
}
