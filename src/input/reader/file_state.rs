//! The state of a file, by which a run detects that it changed. Some runs read a file twice, and both passes must read
//! the same bytes.

use super::faults::whole;
use crate::terms::error::{Error, Result};
use crate::terms::system::{File, Metadata, metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// State of a file when it was opened.
#[derive(Clone, Debug, Default)]
pub struct FileState {
    path: PathBuf,
    /// `None` if it is no regular file.
    known: Option<KnownState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownState {
    identity: Option<(u64, u64)>,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    /// The state of an open file.
    pub fn of(path: &Path, file: &File) -> FileState {
        FileState { path: path.to_path_buf(), known: file.metadata().ok().and_then(KnownState::of) }
    }

    /// Returns an error if the file, opened again, is another file or was changed since.
    pub fn check_same(&self, again: &FileState) -> Result<()> {
        match self.known == again.known {
            true => Ok(()),
            false => Err(self.changed()),
        }
    }

    /// Returns an error if the file was changed after it was opened. Another file with its name is no error, since the
    /// open file keeps its bytes.
    pub fn check_unchanged(&self) -> Result<()> {
        let Some(before) = &self.known else { return Ok(()) };
        let now = metadata(&self.path).ok().and_then(KnownState::of);
        match now.is_some_and(|now| now.identity == before.identity && now != *before) {
            true => Err(self.changed()),
            false => Ok(()),
        }
    }

    fn changed(&self) -> Error {
        let problem = "the file changed while it was read";
        Error::input(whole(&self.path), problem, "run again when no other program writes to it")
    }
}

impl KnownState {
    fn of(metadata: Metadata) -> Option<KnownState> {
        let modified = metadata.modified().ok();
        metadata.is_file().then(|| KnownState {
            identity: identity(&metadata),
            bytes: metadata.len(),
            modified,
        })
    }
}

/// Device and inode number of a file, which no other file shares.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::time::Duration;

    /// Compares the states before and after `change`: whether the file may be opened again, and whether the open file
    /// is unchanged.
    fn after(change: impl Fn(&Path)) -> [bool; 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.fa");
        fs::write(&path, ">a\nACGT\n").unwrap();
        let before = FileState::of(&path, &File::open(&path).unwrap());
        change(&path);
        let again = FileState::of(&path, &File::open(&path).unwrap());
        let told = before.check_same(&again);
        if let Err(error) = &told {
            assert!(error.to_string().contains("x.fa: the file changed"), "{error}");
        }
        [told.is_ok(), before.check_unchanged().is_ok()]
    }

    fn set_time(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn changes_are_seen() {
        assert_eq!(after(|_| ()), [true, true]);
        assert_eq!(after(|path| drop(fs::read(path).unwrap())), [true, true]);
        let append = |path: &Path| {
            let time = fs::metadata(path).unwrap().modified().unwrap();
            File::options().append(true).open(path).unwrap().write_all(b">b\n").unwrap();
            set_time(path, time);
        };
        assert_eq!(after(append), [false, false], "another size");
        let touch = |path: &Path| set_time(path, SystemTime::UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(after(touch), [false, false], "another time");
    }

    #[cfg(unix)]
    #[test]
    fn another_file_of_the_same_size_and_time_is_seen() {
        let replace = |path: &Path| {
            let other = path.with_extension("new");
            fs::write(&other, ">a\nACGA\n").unwrap();
            set_time(&other, fs::metadata(path).unwrap().modified().unwrap());
            fs::rename(other, path).unwrap();
        };
        assert_eq!(after(replace), [false, true]);
    }

    #[test]
    fn pipes_have_no_state() {
        let state = FileState::default();
        state.check_same(&FileState::default()).unwrap();
        state.check_unchanged().unwrap();
    }
}
