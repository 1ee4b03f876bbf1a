//! Pairs of names: a file with two columns, separated by a tab.

use super::faults::{unopened, unread, whole};
use crate::terms::error::{Error, Place, Result};
use crate::terms::system::File;
use std::io::Read;
use std::path::Path;

/// Maximum size of a file in bytes.
const MOST: u64 = 1 << 28;
const GIVE_PAIRS: &str = "give two pattern names per line, separated by a tab";

/// Two names and their 1-based line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePair {
    pub line: u64,
    pub names: [String; 2],
}

/// Reads pairs, one per line. Empty lines and lines that begin with `#` are skipped.
pub fn read_name_pairs(path: &Path) -> Result<Vec<NamePair>> {
    let file = File::open(path).map_err(|source| unopened(path, source))?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|source| unread(path, source))?;
    if bytes.len() as u64 > MOST {
        return Err(Error::input(whole(path), "it exceeds 256 MiB", GIVE_PAIRS));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut pairs = Vec::new();
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let fault = |problem: &str| {
            let place = Place { file: path.to_path_buf(), record: None, line: Some(line) };
            Error::input(place, problem, GIVE_PAIRS)
        };
        let text = str::from_utf8(text).map_err(|_| fault("the line is not UTF-8"))?;
        let names: Vec<&str> = text.split('\t').map(str::trim).collect();
        match names[..] {
            [first, second] if !first.is_empty() && !second.is_empty() => {
                pairs.push(NamePair { line, names: [first.to_string(), second.to_string()] });
            }
            [_, _] => return Err(fault("a name is empty")),
            [_] => return Err(fault("the line has one column")),
            _ => return Err(fault(&format!("the line has {} columns", names.len()))),
        }
    }
    match pairs.is_empty() {
        false => Ok(pairs),
        true => Err(Error::input(whole(path), "it has no pairs", GIVE_PAIRS)),
    }
}
