//! Modified receipts with a valid seal.

use std::fs;
use std::path::Path;

/// Changes the lines of the receipt of `output`, and updates the seal.
pub fn change(output: &Path, change: impl Fn(&str) -> String) {
    let path = output.with_file_name(format!("{}.swalign", output.file_name().unwrap().to_str().unwrap()));
    let text = fs::read_to_string(&path).unwrap();
    let lines = change(&text[..text.rfind("seal\t").unwrap()]);
    let seal = crc32fast::hash(lines.as_bytes());
    fs::write(path, format!("{lines}seal\t{seal:08x}\n")).unwrap();
}

/// `text` with the value of `key` replaced.
pub fn with(text: &str, key: &str, value: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(&format!("{key}\t"))).unwrap();
    text.replace(line, &format!("{key}\t{value}"))
}
