//! Command-line arguments, one per line: parsing returns a command or an error, and never ends the process.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let given = data.split(|&byte| byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    match swalign::cli::parse_line(std::iter::once(OsString::from("swalign")).chain(given)) {
        Ok(command) => drop(format!("{command:?}")),
        Err(text) => assert!(!text.is_empty()),
    }
}
