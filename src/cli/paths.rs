//! Files that arguments name: which of them exclude each other, and which format the output's name says.

use super::usage;
use crate::options::{EXTENSIONS, OutputFormat, RECEIPT_EXTENSION};
use crate::writer::place::{is_same_file, is_stdout, resolve};
use crate::writer::{receipt, sort};
use clap::error::ErrorKind;
use std::fs;
use std::path::Path;

/// Refuses stdin for both inputs, and an output that would overwrite one of them or the matrix.
pub fn check_files(
    inputs: &[&Path],
    matrix: Option<&Path>,
    output: Option<&Path>,
) -> Result<(), clap::Error> {
    check_stdin(inputs.iter().copied())?;
    inputs.iter().copied().chain(matrix).try_for_each(|input| check_output(input, output))
}

/// Refuses stdin for several inputs.
pub fn check_stdin<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), clap::Error> {
    match inputs.into_iter().filter(|input| *input == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => {
            let text = "stdin (-) can be only one of the inputs; give files for the others";
            Err(usage(ErrorKind::ArgumentConflict, text))
        }
    }
}

/// Refuses an output that would overwrite an input, or whose receipt would.
pub fn check_output(input: &Path, output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(output) = output.filter(|output| *output != Path::new("-")) else { return Ok(()) };
    let shown = input.display();
    let text = if same_file(input, output) {
        format!("--output would overwrite the input {shown}; name another file")
    } else if same_file(input, &receipt::path(output)) {
        let extension = RECEIPT_EXTENSION;
        format!("--output would overwrite the input {shown} by its {extension} file; name another file")
    } else {
        return Ok(());
    };
    Err(usage(ErrorKind::ArgumentConflict, text))
}

/// Refuses a sorted output whose index would overwrite an input.
pub fn check_index(inputs: &[&Path], output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(output) = output else { return Ok(()) };
    let [one, other] = sort::indices(output);
    let Some(input) = inputs.iter().find(|input| same_file(input, &one) || same_file(input, &other)) else {
        return Ok(());
    };
    let shown = input.display();
    let text = format!("--output would overwrite the input {shown} by its index; name another file");
    Err(usage(ErrorKind::ArgumentConflict, text))
}

/// Refuses files about the run, by the names of their options, that would overwrite an input, the output, its receipt or
/// each other, or that would stand among the records on stdout.
pub fn check_about<'a>(
    named: [(&str, Option<&Path>); 2],
    inputs: impl Iterator<Item = &'a Path> + Clone,
    output: Option<&Path>,
) -> Result<(), clap::Error> {
    let receipt = output.map(receipt::path);
    for (at, (option, path)) in named.into_iter().enumerate() {
        let Some(path) = path else { continue };
        let earlier = named[..at].iter().filter_map(|(_, path)| *path);
        let outputs = output.into_iter().chain(receipt.as_deref()).chain(earlier);
        let text = if is_stdout(path) {
            format!("{option} is a file beside the output, and not stdout; name a file")
        } else if let Some(input) = inputs.clone().find(|input| same_file(input, path)) {
            format!("{option} would overwrite the input {}; name another file", input.display())
        } else if let Some(other) = outputs.into_iter().find(|other| same_output(other, path)) {
            format!(
                "{option} would overwrite {}, which the run writes too; name another file",
                other.display()
            )
        } else {
            continue;
        };
        return Err(usage(ErrorKind::ArgumentConflict, text));
    }
    Ok(())
}

/// Whether two outputs are one regular file, which may be there only later.
fn same_output(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = resolve(path).ok()?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some((fs::canonicalize(folder).ok()?, path.file_name()?.to_os_string()))
    };
    let is_special = fs::metadata(one).is_ok_and(|metadata| !metadata.is_file());
    !is_special && (is_same_file(one, other) || place(one).is_some_and(|one| place(other) == Some(one)))
}

/// Whether the input `one` and the file `other` are one regular file; devices such as /dev/null can be shared.
fn same_file(one: &Path, other: &Path) -> bool {
    let stdin = cfg!(unix) && one == Path::new("-");
    is_same_file(if stdin { Path::new("/dev/stdin") } else { one }, other)
}

/// Refuses an output's extension that stands for no format. Devices and pipes are called as they are called.
pub fn check_extension(output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(path) = output else { return Ok(()) };
    let extension = path.extension().unwrap_or_default();
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if extension.is_empty() || is_special || OutputFormat::of_file(path).is_some() {
        return Ok(());
    }
    let text = format!(
        "--output {}: no format has the extension .{}; end the name in {EXTENSIONS}, or give --format",
        path.display(),
        extension.display()
    );
    Err(usage(ErrorKind::ValueValidation, text))
}

/// Whether a file of this name is packed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}
