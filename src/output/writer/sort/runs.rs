//! Records to be sorted: in memory, and beyond that in runs, which are files of sorted records.

use super::blocks::{BlockBatch, pack_all};
use super::merge::{Merge, RecordReader, SortedRecords};
use super::record::{self, SortKey};
use crate::output::writer::bgzf::CompressionLevel;
use crate::output::writer::frame::damaged;
use crate::output::writer::output::explain;
use crate::output::writer::temporary::{self, Permissions};
use crate::terms::casts::to_usize;
use crate::terms::error::{Error, Result};
use rayon::prelude::*;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Deflate's level in runs, which are read once.
const RUN_LEVEL: CompressionLevel = CompressionLevel::new(1).unwrap();
/// A record's location is one number: the low bits are its byte offset within a piece, the other bits the piece.
const BYTE_BITS: u32 = 40;
const MOST_PIECES: usize = 1 << (u64::BITS - BYTE_BITS);
/// Memory of a piece and of a record in addition to their bytes.
const PIECE_BYTES: usize = size_of::<Vec<u8>>() + 16;
const RECORD_BYTES: usize = size_of::<(SortKey, u64)>();

/// Records in memory.
#[derive(Default)]
pub struct RecordBuffer {
    pieces: Vec<Vec<u8>>,
    /// Sort key and location of each record; the location combines the piece and the byte offset.
    records: Vec<(SortKey, u64)>,
    bytes: usize,
}

impl RecordBuffer {
    /// Adds concatenated records.
    pub fn add(&mut self, mut piece: Vec<u8>) -> Option<()> {
        let (number, before) = (self.pieces.len() as u64, self.records.len());
        let mut at = 0;
        while at < piece.len() {
            let record = record::first(&piece[at..])?;
            self.records.push((SortKey::of(record)?, number << BYTE_BITS | at as u64));
            at += record.len();
        }
        piece.shrink_to_fit();
        self.bytes += piece.len() + PIECE_BYTES + (self.records.len() - before) * RECORD_BYTES;
        self.pieces.push(piece);
        Some(())
    }

    /// Whether the records take at least this number of bytes.
    pub fn is_full(&self, bytes: usize) -> bool {
        self.bytes >= bytes || self.pieces.len() >= MOST_PIECES
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Sorts the records.
    pub fn sorted(mut self) -> SortedGathered {
        // Locations grow with the input, so records with equal keys keep their order.
        self.records.par_sort_unstable();
        SortedGathered { gathered: self, next: 0 }
    }
}

/// Sorted records in memory.
pub struct SortedGathered {
    gathered: RecordBuffer,
    /// Number of records returned so far.
    next: usize,
}

impl SortedRecords for SortedGathered {
    fn advance(&mut self) -> Result<Option<SortKey>> {
        let key = self.gathered.records.get(self.next).map(|(key, _)| *key);
        self.next += usize::from(key.is_some());
        Ok(key)
    }

    fn record(&self) -> &[u8] {
        let RecordBuffer { records, pieces, .. } = &self.gathered;
        let Some((_, place)) = self.next.checked_sub(1).and_then(|last| records.get(last)) else {
            return &[];
        };
        let (piece, at) = (place >> BYTE_BITS, place & ((1 << BYTE_BITS) - 1));
        pieces
            .get(to_usize(piece))
            .and_then(|piece| record::first(&piece[to_usize(at)..]))
            .unwrap_or_default()
    }
}

/// Folder and name of the runs.
#[derive(Clone, Debug)]
pub struct RunFolder {
    pub folder: PathBuf,
    /// The name of the file for which the runs are written.
    pub name: OsString,
}

/// Sorted records in a file, which is removed when this is dropped.
pub struct SortedRun {
    path: PathBuf,
    records: u64,
}

impl SortedRun {
    /// Writes all records of `merge`.
    pub fn write(merge: &mut Merge, scratch: &RunFolder) -> Result<SortedRun> {
        let created = temporary::create(&scratch.folder, &scratch.name, Permissions::Private);
        let (mut file, path) = created.map_err(|source| explain(&scratch.folder, source))?;
        let mut run = SortedRun { path, records: 0 };
        pack_all(merge, RUN_LEVEL, |batch: &BlockBatch, packed| {
            run.records += batch.starts.len() as u64;
            file.write_all(&packed.concat()).map_err(|source| explain(&run.path, source))
        })?;
        Ok(run)
    }

    pub fn read(self) -> Result<RunReader> {
        let file = File::open(&self.path).map_err(|source| Error::io(&self.path, source))?;
        let left = self.records;
        Ok(RunReader { records: RecordReader::of_blocks(file), run: self, left })
    }
}

impl Drop for SortedRun {
    fn drop(&mut self) {
        temporary::discard(&self.path);
    }
}

/// Reads the records of a run in order.
pub struct RunReader {
    records: RecordReader,
    /// Declared after `records`, so that the file is closed before the run is removed.
    run: SortedRun,
    /// Number of records not read yet.
    left: u64,
}

impl SortedRecords for RunReader {
    fn advance(&mut self) -> Result<Option<SortKey>> {
        let next = self.records.advance().and_then(|key| match key {
            // A network disk may not have reported that it was full.
            None if self.left > 0 => Err(damaged()),
            key => Ok(key),
        });
        self.left = self.left.saturating_sub(1);
        next.map_err(|source| Error::io(&self.run.path, source))
    }

    fn record(&self) -> &[u8] {
        self.records.record()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::writer::sort::record::tests::record;
    use tempfile::TempDir;

    fn scratch(folder: &TempDir) -> RunFolder {
        RunFolder { folder: folder.path().to_path_buf(), name: "x.bam".into() }
    }

    fn all(source: &mut dyn SortedRecords) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        while source.advance().unwrap().is_some() {
            out.push(source.record().to_vec());
        }
        out
    }

    fn gathered(pieces: &[&[Vec<u8>]]) -> RecordBuffer {
        let mut gathered = RecordBuffer::default();
        pieces.iter().for_each(|piece| gathered.add(piece.concat()).unwrap());
        gathered
    }

    #[test]
    fn what_was_gathered_comes_sorted_from_memory_and_from_a_run() {
        let new = |target, start, name| record(target, start, 0, &[], name, 7);
        let [a, b, c, d, e] =
            [new(-1, -1, "a"), new(1, 5, "b"), new(0, 9, "c"), new(1, 5, "d"), new(1, 4, "e")];
        let pieces = [&[a.clone(), b.clone()][..], &[], &[c.clone(), d.clone(), e.clone()]];
        let expected = [c, e, b, d, a];
        assert!(all(&mut gathered(&pieces).sorted()) == expected);
        let folder = tempfile::tempdir().unwrap();
        let mut merge = Merge::new(vec![Box::new(gathered(&pieces).sorted())]).unwrap();
        let run = SortedRun::write(&mut merge, &scratch(&folder)).unwrap();
        let name = run.path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(".x.bam.") && name.ends_with(".tmp"), "{name}");
        let mut reader = run.read().unwrap();
        assert!(all(&mut reader) == expected);
        drop(reader);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_run_that_lost_records_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let pieces = [&[record(0, 1, 0, &[], "a", 7)][..]];
        let mut merge = Merge::new(vec![Box::new(gathered(&pieces).sorted())]).unwrap();
        let run = SortedRun::write(&mut merge, &scratch(&folder)).unwrap();
        std::fs::write(&run.path, b"").unwrap();
        assert!(run.read().unwrap().advance().is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn memory_is_counted() {
        let pieces = [&[record(0, 1, 0, &[], "a", 1000)][..]];
        let gathered = gathered(&pieces);
        assert!(gathered.is_full(1000) && !gathered.is_full(1200) && !gathered.is_empty());
        assert!(RecordBuffer::default().add(vec![1, 2, 3]).is_none());
    }
}
