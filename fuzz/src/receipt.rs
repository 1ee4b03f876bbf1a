//! Receipts: reading any bytes returns a receipt or an error, and a receipt that is written and read again is the same.
//! The bytes are read as they are, and between the first lines of a receipt and a valid seal.

use super::folder;
use std::fs;
use swalign::output::writer::receipt;

/// Runs the target on one input.
pub fn run(data: &[u8]) {
    let lines = [receipt::FIRST_LINES.as_bytes(), data].concat();
    let seal = format!("seal\t{:08x}\n", crc32fast::hash(&lines));
    for text in [data, &[&lines, seal.as_bytes()].concat()] {
        let output = folder().join("out");
        fs::write(receipt::path(&output), text).expect("a file");
        let Ok(read) = receipt::read(&output) else { continue };
        let again = folder().join("again");
        read.write(&again).and_then(|file| file.finish()).expect("a receipt is written");
        assert_eq!(receipt::read(&again).expect("a receipt"), read);
    }
}
