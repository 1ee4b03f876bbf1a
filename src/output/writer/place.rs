//! Kinds of output: stdout, a device or pipe, or a regular file with a temporary beside it.

use super::temporary::{self, Permissions, Rename, takes_no_files};
use std::env;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use temporary::directory;

/// Whether `path` is stdout. `/dev/stdout` is never reopened: if stdout is a file, that would start at its beginning
/// and overwrite what `>>` should keep.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Whether an output at `path` would be a regular file, which gets its name only when it is complete.
pub fn is_regular(path: &Path) -> bool {
    let replaces =
        || fs::metadata(path).map_or_else(|e| e.kind() == ErrorKind::NotFound, |found| found.is_file());
    !is_stdout(path) && !is_descriptor(path) && replaces()
}

/// Whether both paths lead to the same regular file, through links of any kind.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((identity(one), identity(other)), (Some(one), Some(other)) if one == other)
}

/// Device and inode number of a regular file, which no other file shares.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    path.canonicalize().ok()
}

/// Opens `path`. A regular file is opened under a temporary name, and [`Rename`] holds its final name.
pub fn open(path: &Path) -> io::Result<(File, Option<Rename>)> {
    let ends_in_slash = path.to_string_lossy().ends_with(std::path::is_separator);
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() || is_descriptor(path) => {
            Ok((OpenOptions::new().write(true).open(path)?, None))
        }
        // As in other programs, a file without write permission is not replaced.
        Ok(found) => {
            OpenOptions::new().write(true).open(path)?;
            open_beside(&resolve(path)?, Some(&found))
        }
        Err(error) if error.kind() == ErrorKind::NotFound && !ends_in_slash => {
            open_beside(&resolve(path)?, None)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(ErrorKind::IsADirectory.into()),
        Err(error) => Err(error),
    }
}

/// Whether `path` names an open file of a process. Such a file is written directly, since it cannot be replaced.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stderr", "/proc"].iter().any(|files| path.starts_with(files))
}

/// The file to which `path` leads through symbolic links, whether or not it exists.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            // Circular links cause an error other than "not found", so this ends.
            Ok(next) => resolve(&directory(path).join(next)),
            Err(_) => Ok(path.to_path_buf()),
        },
        resolved => resolved,
    }
}

/// Creates a temporary file in the directory of `target`, since a rename is atomic only within one file system. It gets
/// the permissions of the `old` file that it will replace. If the directory accepts no new file, the temporary is
/// created in the system's temporary folder, and the old file is overwritten at the end.
fn open_beside(target: &Path, old: Option<&Metadata>) -> io::Result<(File, Option<Rename>)> {
    let name = target.file_name().ok_or(ErrorKind::NotFound)?;
    let permissions = old.map_or(Permissions::New, Permissions::Of);
    let (overwrites, (file, temporary)) = match temporary::create(directory(target), name, permissions) {
        Err(error) if takes_no_files(&error) && old.is_some() => {
            (true, temporary::create(&env::temp_dir(), name, Permissions::Private)?)
        }
        created => (false, created?),
    };
    Ok((file, Some(Rename { temporary, target: target.to_path_buf(), overwrites })))
}
