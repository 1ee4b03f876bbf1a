//! Where an output stands: stdout, a device or pipe, or a regular file with a temporary beside it.

use super::temporary::{self, Rename};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Whether `path` is stdout. `/dev/stdout` is not opened anew: where stdout is a file, that would begin at its start
/// and overwrite what `>>` keeps.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

/// Whether an output at `path` would be a regular file, which gets its name only when it is whole.
pub fn is_regular(path: &Path) -> bool {
    let replaces =
        || fs::metadata(path).map_or_else(|e| e.kind() == ErrorKind::NotFound, |found| found.is_file());
    !is_stdout(path) && !is_descriptor(path) && replaces()
}

/// Whether both paths lead to one regular file, over links of any kind.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((identity(one), identity(other)), (Some(one), Some(other)) if one == other)
}

/// Device and number of a regular file: no other file has both.
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

/// Opens `path`. A regular file is opened under a temporary name, and [`Rename`] has the name that it gets later.
pub fn open(path: &Path) -> io::Result<(File, Option<Rename>)> {
    let ends_in_slash = path.to_string_lossy().ends_with(std::path::is_separator);
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() || is_descriptor(path) => {
            Ok((OpenOptions::new().write(true).open(path)?, None))
        }
        // A file without permission to write is not replaced either, as in other programs.
        Ok(_) => {
            OpenOptions::new().write(true).open(path).map(drop).and_then(|()| open_beside(&resolve(path)?))
        }
        Err(error) if error.kind() == ErrorKind::NotFound && !ends_in_slash => open_beside(&resolve(path)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(ErrorKind::IsADirectory.into()),
        Err(error) => Err(error),
    }
}

/// Whether `path` names an open file of a process. It is written directly, since it can't be replaced.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stderr", "/proc"].iter().any(|files| path.starts_with(files))
}

/// The file that `path` leads to over symbolic links, whether or not it exists yet.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            // Links in a circle are another error than "not found", so this comes to an end.
            Ok(next) => resolve(&directory(path).join(next)),
            Err(_) => Ok(path.to_path_buf()),
        },
        resolved => resolved,
    }
}

/// The folder of a file.
pub fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Creates a temporary file in the directory of `target`: only within one file system is a rename
/// one step.
fn open_beside(target: &Path) -> io::Result<(File, Option<Rename>)> {
    let name = target.file_name().ok_or(ErrorKind::NotFound)?;
    let (file, temporary) = temporary::create(directory(target), name)?;
    Ok((file, Some(Rename { temporary, target: target.to_path_buf() })))
}
