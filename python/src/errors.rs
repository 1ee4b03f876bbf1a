//! Converts errors of the library to Python exceptions with the same messages.

use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::path::Path;
use swalign::{EngineError, Error};

pyo3::create_exception!(
    pyswalign,
    InputError,
    PyValueError,
    "The contents of a file are invalid. The message has the file, the record, the line and a remedy."
);
pyo3::create_exception!(
    pyswalign,
    DeviceError,
    PyRuntimeError,
    "The device can't be opened, or it failed and no other device may continue."
);

/// The exception for an error.
pub fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Usage(_) => PyValueError::new_err(text),
        Error::Input { place, .. } if is_missing(&place.file) => PyFileNotFoundError::new_err(text),
        Error::Input { .. } => InputError::new_err(text),
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
            ErrorKind::NotADirectory => PyNotADirectoryError::new_err(text),
            ErrorKind::OutOfMemory => PyMemoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        Error::Engine(EngineError::OutOfMemory(_)) => PyMemoryError::new_err(text),
        _ => DeviceError::new_err(text),
    }
}

/// Whether the file does not exist. Stdin, whose name is not that of a file, is never missing.
fn is_missing(file: &Path) -> bool {
    !file.as_os_str().is_empty() && !file.starts_with("<stdin>") && !file.exists()
}
