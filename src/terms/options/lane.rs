//! Lanes: files of reads, each with its own mates and read group, aligned in one run.

use super::{MatesChoice, ReadGroup};
use crate::terms::system::{File, metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file of reads, with its mates and its read group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequencingLane {
    pub reads: PathBuf,
    pub mates: MatesChoice,
    pub read_group: Option<ReadGroup>,
}

impl SequencingLane {
    /// The file of the second mates.
    pub fn mate_file(&self) -> Option<&Path> {
        match &self.mates {
            MatesChoice::File(path) => Some(path),
            MatesChoice::None | MatesChoice::Interleaved => None,
        }
    }

    /// The files that hold its reads.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [&*self.reads].into_iter().chain(self.mate_file())
    }

    /// Name of the lane in messages: the ID of its read group, or its file.
    pub fn name(&self) -> String {
        let file = || self.reads.display().to_string();
        self.read_group.as_ref().map_or_else(file, |group| group.id().to_string())
    }
}

/// Checks whether a file of reads can be opened. A pipe, which can be opened only once, is not opened.
pub fn try_open(path: &Path) -> io::Result<()> {
    match metadata(path)?.is_file() {
        true => File::open(path).map(drop),
        false => Ok(()),
    }
}
