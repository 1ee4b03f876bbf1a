//! Sorts BAM records by coordinate, in the order of `samtools sort`, and indexes them.
//!
//! ```text
//! records ──> Gathered ──sorted──> SortedRun, a file, each time that memory is full
//!                │                     │
//!                └─────────> Merge <───┘
//!                              │
//!                              └──> blocks ──> Output
//!                                     └──────> IndexFile
//! ```
//!
//! Memory holds [`Options::sort`](crate::terms::options::Options::sort) bytes of records, and one block of each run
//! that is merged. The bytes of the output depend on the records alone.

mod blocks;
mod index;
mod merge;
mod record;
mod runs;

pub use index::IndexShape;
pub use merge::{RecordReader, SortedRecords};
pub use record::SortKey;

use super::Output;
use super::bgzf;
use crate::terms::error::{EngineError, Error, Result};
use blocks::{BlockBatch, pack_all};
use index::IndexBuilder;
use merge::Merge;
use record::RecordPlace;
use runs::{RecordBuffer, RunFolder, SortedRun};
use std::mem;
use std::path::{Path, PathBuf};

/// Number of runs merged at once, and approximate number of open files.
const FAN_IN: usize = 64;

/// Sorts the records of a run.
pub struct Sorter {
    /// Maximum number of bytes of records in memory.
    memory: usize,
    scratch: RunFolder,
    gathered: RecordBuffer,
    /// Runs with their levels, in the order of their records. Fewer than [`FAN_IN`] runs have the same level; when
    /// there would be more, they are merged into one run of the next level.
    runs: Vec<(u32, SortedRun)>,
    index: Option<IndexFile>,
}

impl Sorter {
    /// Sorts the records of `output` in `memory` bytes.
    pub fn new(memory: usize, output: &Output, index: Option<IndexFile>) -> Sorter {
        let (folder, name) = output.scratch();
        let scratch = RunFolder { folder, name };
        Sorter { memory, scratch, gathered: RecordBuffer::default(), runs: Vec::new(), index }
    }

    /// Adds concatenated records.
    pub fn add(&mut self, records: Vec<u8>) -> Result<()> {
        self.gathered.add(records).ok_or_else(no_record)?;
        if !self.gathered.is_full(self.memory) {
            return Ok(());
        }
        let gathered = mem::take(&mut self.gathered).sorted();
        let run = SortedRun::write(&mut Merge::new(vec![Box::new(gathered)])?, &self.scratch)?;
        self.runs.push((0, run));
        while let Some(&(level, _)) = self.runs.last() {
            let count = self.runs.iter().rev().take_while(|run| run.0 == level).count();
            if count < FAN_IN {
                break;
            }
            self.join_last(count, level + 1)?;
        }
        Ok(())
    }

    /// Merges the last `count` runs into one run of this level.
    fn join_last(&mut self, count: usize, level: u32) -> Result<()> {
        let joined = self.runs.split_off(self.runs.len().saturating_sub(count));
        let run = SortedRun::write(&mut Merge::new(readers(joined)?)?, &self.scratch)?;
        self.runs.push((level, run));
        Ok(())
    }

    /// Writes all records after the header, and the end of the file. Returns the index, which must be finished together
    /// with the output.
    pub fn finish(mut self, output: &mut Output) -> Result<Option<Output>> {
        // The records in memory are one more source.
        while self.runs.len() >= FAN_IN {
            let count = (self.runs.len() + 2 - FAN_IN).clamp(2, FAN_IN);
            let level = self.runs.last().map_or(0, |run| run.0);
            self.join_last(count, level)?;
        }
        let mut sources = readers(mem::take(&mut self.runs))?;
        if !self.gathered.is_empty() {
            sources.push(Box::new(mem::take(&mut self.gathered).sorted()));
        }
        write_sorted(sources, output, self.index)
    }
}

fn readers(runs: Vec<(u32, SortedRun)>) -> Result<Vec<Box<dyn SortedRecords>>> {
    let reader = |(_, run): (u32, SortedRun)| Ok(Box::new(run.read()?) as Box<dyn SortedRecords>);
    runs.into_iter().map(reader).collect()
}

/// Writes the records of sorted sources, and the end of the file. Records with equal keys come in the order of the
/// sources. `output` must already contain its header. Returns the index, which must be finished together with the
/// output.
pub fn write_sorted(
    sources: Vec<Box<dyn SortedRecords + '_>>,
    output: &mut Output,
    mut index: Option<IndexFile>,
) -> Result<Option<Output>> {
    pack_all(&mut Merge::new(sources)?, bgzf::SORTED_LEVEL, |batch, packed| {
        if let Some(index) = &mut index {
            index.add(batch, packed, output.written())?;
        }
        packed.iter().try_for_each(|block| output.put(block))
    })?;
    let records_end = output.written();
    output.put(&bgzf::end_of_file()?)?;
    // An index older than its file would be considered outdated, so the output is flushed first.
    output.flush_now()?;
    index.map(|index| index.finish(records_end)).transpose()
}

/// The index of an output, as a file beside it.
pub struct IndexFile {
    output: Output,
    builder: IndexBuilder,
    references: usize,
}

impl IndexFile {
    /// The index of an output with `references` references, the longest of which has `longest` bases. `None` if the
    /// output is no regular file.
    pub fn beside(output: &Output, references: usize, longest: u64) -> Result<Option<IndexFile>> {
        let shape = IndexShape::of(longest);
        let beside = output.beside(shape.extension())?;
        let builder = IndexBuilder::new(shape, references);
        Ok(beside.map(|output| IndexFile { output, builder, references }))
    }

    /// Adds the records of a batch, whose blocks start at byte `at`.
    fn add(&mut self, batch: &BlockBatch, packed: &[Vec<u8>], at: u64) -> Result<()> {
        for (&start, offset) in batch.starts.iter().zip(batch.offsets(packed, at)) {
            let place = record::first(&batch.bytes[start..]).and_then(RecordPlace::of);
            let place = place.filter(|place| place.target.is_none_or(|target| target < self.references));
            self.builder.add(&place.ok_or_else(no_record)?, offset);
        }
        Ok(())
    }

    /// Writes the index of records that end at byte `end`.
    fn finish(mut self, end: u64) -> Result<Output> {
        self.output.put(&self.builder.finish(end << 16)?)?;
        Ok(self.output)
    }
}

/// Suffixes that index names append to the name of the indexed file.
pub const INDEX_EXTENSIONS: [&str; 2] = [index::BAI_EXTENSION, index::CSI_EXTENSION];

/// The possible index files of an output at `path`.
pub fn indices(path: &Path) -> [PathBuf; 2] {
    INDEX_EXTENSIONS.map(|extension| {
        let mut name = path.as_os_str().to_os_string();
        name.push(extension);
        PathBuf::from(name)
    })
}

/// The error for bytes that no run writes.
fn no_record() -> Error {
    EngineError::Internal("bytes that are to be sorted are no record".to_string()).into()
}
