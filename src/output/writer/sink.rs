//! What the writer's stage hands records to.

use super::Output;
use super::bgzf::{Joint, RecordBytes};
use super::sort::Sorter;
use crate::terms::error::Result;

/// Takes the records of a run in the order of the input.
pub enum RecordSink {
    /// They are written in that order.
    InOrder(Joint),
    /// They are written when all are there.
    Sorted(Box<Sorter>),
}

impl RecordSink {
    /// Adds a part of the records.
    pub fn add(&mut self, part: RecordBytes, output: &mut Output) -> Result<()> {
        match self {
            RecordSink::InOrder(joint) => output.put(&joint.add(part)?),
            RecordSink::Sorted(sorter) => sorter.add(part.into_bytes()),
        }
    }

    /// Writes what is left, and what stands behind the records. Gives the index, where one is made; it is to be finished
    /// with the output.
    pub fn finish(self, output: &mut Output) -> Result<Option<Output>> {
        match self {
            RecordSink::InOrder(joint) => output.put(&joint.finish()?).map(|()| None),
            RecordSink::Sorted(sorter) => sorter.finish(output),
        }
    }
}
