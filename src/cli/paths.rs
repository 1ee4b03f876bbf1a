//! Files that arguments name: which of them exclude each other, and what the output's name says.

use super::usage;
use crate::options::{EXTENSIONS, Format, RECEIPT_EXTENSION};
use clap::error::ErrorKind;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Refuses stdin for both inputs, and an output that would overwrite one of them or the matrix.
pub fn check_files(
    inputs: [&Path; 2],
    matrix: Option<&Path>,
    output: Option<&Path>,
) -> Result<(), clap::Error> {
    if inputs == [Path::new("-"); 2] {
        let text = "stdin (-) can be only one of the two inputs; give a file for the other";
        return Err(usage(ErrorKind::ArgumentConflict, text));
    }
    inputs.into_iter().chain(matrix).try_for_each(|input| check_output(input, output))
}

/// Refuses an output that would overwrite an input, or whose receipt would.
pub fn check_output(input: &Path, output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(output) = output.filter(|output| *output != Path::new("-")) else { return Ok(()) };
    let shown = input.display();
    let text = if same_file(input, output) {
        format!("--output would overwrite the input {shown}; name another file")
    } else if same_file(input, &receipt(output)) {
        let extension = RECEIPT_EXTENSION;
        format!("--output would overwrite the input {shown} by its {extension} file; name another file")
    } else {
        return Ok(());
    };
    Err(usage(ErrorKind::ArgumentConflict, text))
}

/// Where the receipt of an output stands: beside the file itself, whatever links lead there.
fn receipt(output: &Path) -> PathBuf {
    let mut name = fs::canonicalize(output).unwrap_or_else(|_| output.to_path_buf()).into_os_string();
    name.push(RECEIPT_EXTENSION);
    PathBuf::from(name)
}

/// Whether both paths lead to one ordinary file, over links of any kind; devices such as /dev/null can be shared.
pub fn same_file(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| match path == Path::new("-") {
        true if cfg!(unix) => Path::new("/dev/stdin"),
        _ => path,
    });
    let ordinary = |path| fs::metadata(path).ok().filter(Metadata::is_file);
    match (ordinary(one), ordinary(other)) {
        (Some(first), Some(second)) => {
            are_one(&first, &second)
                || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
        }
        _ => false,
    }
}

/// Whether both are of one file, which may have several names.
#[cfg(unix)]
fn are_one(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn are_one(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Refuses an output's extension that stands for no format. Devices and pipes are called as they are called.
pub fn check_extension(output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(path) = output else { return Ok(()) };
    let extension = path.extension().unwrap_or_default();
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if extension.is_empty() || is_special || Format::of_file(path).is_some() {
        return Ok(());
    }
    let text = format!(
        "--output {}: no format has the extension .{}; end the name in {EXTENSIONS}, or give --format sam, bam \
         or paf",
        path.display(),
        extension.display()
    );
    Err(usage(ErrorKind::ValueValidation, text))
}

/// Whether a file of this name is packed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}
