//! Receives records from the writing stage.

use super::Output;
use super::bgzf::{BgzfJoiner, RecordBytes};
use super::sort::Sorter;
use crate::terms::error::Result;

/// Receives the records of a run in input order.
pub enum RecordSink {
    /// Writes the records in that order.
    InOrder(BgzfJoiner),
    /// Sorts the records, and writes them after all have arrived.
    Sorted(Box<Sorter>),
}

impl RecordSink {
    /// Adds some of the records.
    pub fn add(&mut self, part: RecordBytes, output: &mut Output) -> Result<()> {
        match self {
            RecordSink::InOrder(joint) => output.put(&joint.add(part)?),
            RecordSink::Sorted(sorter) => sorter.add(part.into_bytes()),
        }
    }

    /// Writes the remaining records and the end of the file. Returns the index, if there is one; it must be finished
    /// together with the output.
    pub fn finish(self, output: &mut Output) -> Result<Option<Output>> {
        match self {
            RecordSink::InOrder(joint) => output.put(&joint.finish()?).map(|()| None),
            RecordSink::Sorted(sorter) => sorter.finish(output),
        }
    }
}
