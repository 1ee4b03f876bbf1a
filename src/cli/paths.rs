//! Checks of files that arguments name: conflicts, and the format that the output's extension selects.

use super::usage;
use crate::output::writer::place::{is_same_file, is_stdout, resolve};
use crate::output::writer::{receipt, sort};
use crate::terms::options::{EXTENSIONS, OutputFormat, RECEIPT_EXTENSION};
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
            let text = "stdin (-) can be read only once; give files for the other inputs";
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
        format!("the {extension} file of --output would overwrite the input {shown}; name another file")
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
    let text = format!("the index of --output would overwrite the input {shown}; name another file");
    Err(usage(ErrorKind::ArgumentConflict, text))
}

/// Refuses side files, given with the names of their options, that would overwrite an input, the output, its receipt, its
/// index (if `output` has one) or each other, or that would mix with the records on stdout.
pub fn check_about<'a>(
    named: &[(&str, Option<&Path>)],
    inputs: impl Iterator<Item = &'a Path> + Clone,
    (output, has_index): (Option<&Path>, bool),
) -> Result<(), clap::Error> {
    let receipt = output.map(receipt::path);
    let indices = output.filter(|_| has_index).map(sort::indices);
    for (at, &(option, path)) in named.iter().enumerate() {
        let Some(path) = path else { continue };
        let earlier = named[..at].iter().filter_map(|(_, path)| *path);
        let beside = receipt.iter().chain(indices.iter().flatten()).map(|path| &**path);
        let outputs = output.into_iter().chain(beside).chain(earlier);
        let text = if is_stdout(path) {
            format!("{option} cannot be written to stdout; name a file")
        } else if let Some(input) = inputs.clone().find(|input| same_file(input, path)) {
            format!("{option} would overwrite the input {}; name another file", input.display())
        } else if let Some(other) = outputs.into_iter().find(|other| same_output(other, path)) {
            format!(
                "{option} would overwrite {}, another output of the run; name another file",
                other.display()
            )
        } else {
            continue;
        };
        return Err(usage(ErrorKind::ArgumentConflict, text));
    }
    Ok(())
}

/// Whether two outputs are the same regular file, which need not exist yet.
fn same_output(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let path = resolve(path).ok()?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some((fs::canonicalize(folder).ok()?, path.file_name()?.to_os_string()))
    };
    let is_special = fs::metadata(one).is_ok_and(|metadata| !metadata.is_file());
    !is_special && (is_same_file(one, other) || place(one).is_some_and(|one| place(other) == Some(one)))
}

/// Whether the input `one` and the file `other` are the same regular file. Devices such as /dev/null can be shared.
fn same_file(one: &Path, other: &Path) -> bool {
    let stdin = cfg!(unix) && one == Path::new("-");
    is_same_file(if stdin { Path::new("/dev/stdin") } else { one }, other)
}

/// Refuses an output with an unknown extension, unless it is a device or a pipe.
pub fn check_extension(output: Option<&Path>) -> Result<(), clap::Error> {
    let Some(path) = output else { return Ok(()) };
    let extension = path.extension().unwrap_or_default();
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if extension.is_empty() || is_special || OutputFormat::of_file(path).is_some() {
        return Ok(());
    }
    let text = format!(
        "--output {}: no format has the extension .{}; use {EXTENSIONS}, or give --format",
        path.display(),
        extension.display()
    );
    Err(usage(ErrorKind::ValueValidation, text))
}
