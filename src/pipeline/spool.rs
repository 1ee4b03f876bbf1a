//! A section of a large database, stored in a temporary file until the sections before it are known.

use crate::input::database::{BlockSums, StoredSection};
use crate::input::reader::CodeSink;
use crate::output::writer::temporary::{self, Permissions};
use crate::terms::error::{Error, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// A temporary file of bytes. It is created with the first bytes and removed with the spool.
pub struct Spool {
    /// Folder of the file, and the name of the output that it is for.
    scratch: (PathBuf, OsString),
    kept: usize,
    file: Option<(File, PathBuf)>,
    sums: BlockSums,
}

impl Spool {
    /// A spool in a folder, for the output of this name. References of at most `kept` residues stay in memory.
    pub fn new(scratch: (PathBuf, OsString), kept: usize) -> Spool {
        Spool { scratch, kept, file: None, sums: BlockSums::default() }
    }

    /// The bytes in the file, if there is a file.
    pub fn stored(&self) -> Option<StoredSection<'_>> {
        self.file.as_ref().map(|(_, file)| StoredSection { file, sums: &self.sums })
    }
}

impl CodeSink for Spool {
    fn kept(&self) -> usize {
        self.kept
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let (file, path) = match &mut self.file {
            Some(file) => file,
            none => {
                let (folder, name) = &self.scratch;
                let created = temporary::create(folder, name, Permissions::Private);
                none.insert(created.map_err(|source| Error::io(folder, source))?)
            }
        };
        file.write_all(bytes).map_err(|source| Error::io(&*path, source))?;
        self.sums.update(bytes);
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some((file, path)) = self.file.take() {
            // Some systems cannot remove an open file.
            drop(file);
            temporary::discard(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::database;
    use crate::input::reader::{Reader, read_references_into};
    use crate::terms::alphabet::Alphabet;
    use crate::terms::options::ReadRules;

    /// The database of a FASTA file, and whether its codes went through a file.
    fn database(fasta: &str, kept: usize) -> (Vec<u8>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.fa");
        std::fs::write(&path, fasta).unwrap();
        let rules = ReadRules { keeps_titles: true, any_names: true, ..ReadRules::default() };
        let mut reader = Reader::open(&path).unwrap().with_rules(rules);
        let mut spool = Spool::new((folder.path().to_path_buf(), "r.swdb".into()), kept);
        let references = read_references_into(&mut reader, Alphabet::Dna, &mut spool).unwrap();
        let mut bytes = Vec::new();
        let mut put = |more: &[u8]| {
            bytes.extend(more);
            Ok(())
        };
        database::write(&mut put, &references, spool.stored(), None, None).unwrap();
        let is_stored = spool.stored().is_some();
        drop(spool);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "the temporary file is removed");
        (bytes, is_stored)
    }

    #[test]
    fn codes_in_a_file_make_the_same_database() {
        // Boundary sizes: a block of checksums has 2^20 codes, and the reader's blocks are longer than its pieces.
        for lengths in [&[5, 0, 7][..], &[1 << 20], &[(1 << 20) + 1, 3], &[70, 9 << 20, 1, 3 << 20]] {
            let record = |(number, &len): (usize, &usize)| {
                let bases: String = (0..len).map(|at| char::from(b"ACGT"[(at / 3 + at % 7) % 4])).collect();
                format!(">r{number} title\n{bases}\n")
            };
            let fasta: String = lengths.iter().enumerate().map(record).collect();
            let total: usize = lengths.iter().sum();
            let (in_memory, is_stored) = database(&fasta, total);
            assert!(!is_stored);
            let (spooled, is_stored) = database(&fasta, total - 1);
            assert!(is_stored && spooled == in_memory, "{lengths:?}");
            assert!(database(&fasta, 0).0 == in_memory, "{lengths:?}");
        }
    }
}
