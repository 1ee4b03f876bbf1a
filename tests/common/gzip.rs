//! Packs text with gzip, and unpacks it.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The text of a gzipped file.
pub fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}
