//! The texts of two files, interleaved: mates of a search.

use super::Extent;
use super::faults::shown;
use super::mates::{unlike, without_mate};
use super::names::pair_name;
use super::parse::first_word;
use super::texts::{Text, TextRules, Texts};
use crate::terms::error::{Error, Place, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Mates, the first mate of each pair before the second. An error ends them.
pub struct MateTexts {
    files: [Texts; 2],
    paths: [PathBuf; 2],
    /// Number of pairs so far.
    pairs: u64,
    /// The second mate of a pair whose first mate was returned.
    second: Option<Text>,
}

impl MateTexts {
    pub fn open(paths: [&Path; 2], rules: TextRules) -> Result<MateTexts> {
        let [first, second] = paths.map(|path| Texts::open(path, None, rules));
        let paths = paths.map(Path::to_path_buf);
        Ok(MateTexts { files: [first?, second?], paths, pairs: 0, second: None })
    }

    /// Position in the first file.
    pub fn extent(&self) -> Arc<Extent> {
        self.files[0].extent()
    }

    /// Approximate number of bytes of both files that the texts returned so far occupy.
    pub fn bytes_given(&self) -> u64 {
        self.files.iter().map(Texts::bytes_given).sum()
    }

    /// See [`super::Reader::warnings`].
    pub fn warnings(&self) -> Vec<String> {
        self.files.iter().flat_map(Texts::warnings).collect()
    }

    /// Keeps the second mate and returns the first. Records of different pairs are an error.
    fn pair(&mut self, mates: [Text; 2]) -> Result<Text> {
        self.pairs += 1;
        let [first, second] = &mates;
        if pair_name(word(&first.name), word(&second.name)).is_none() {
            let places = [self.place(0, first), self.place(1, second)];
            return Err(unlike(places, "in the same order"));
        }
        let [first, second] = mates;
        self.second = Some(second);
        Ok(first)
    }

    fn alone(&mut self, file: usize, text: &Text) -> Error {
        self.pairs += 1;
        without_mate(self.place(file, text), &self.paths[1 - file])
    }

    /// The position of a mate of the last pair.
    fn place(&self, file: usize, text: &Text) -> Place {
        let record = Some((self.pairs, shown(word(&text.name))));
        Place { file: self.paths[file].clone(), record, line: None }
    }
}

impl Iterator for MateTexts {
    type Item = Result<Text>;

    fn next(&mut self) -> Option<Result<Text>> {
        if let Some(second) = self.second.take() {
            return Some(Ok(second));
        }
        let [first, second] = self.files.each_mut().map(Iterator::next);
        Some(match (first.transpose(), second.transpose()) {
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
            (Ok(None), Ok(None)) => return None,
            (Ok(Some(first)), Ok(Some(second))) => self.pair([first, second]),
            (Ok(Some(first)), Ok(None)) => Err(self.alone(0, &first)),
            (Ok(None), Ok(Some(second))) => Err(self.alone(1, &second)),
        })
    }
}

/// The name in a header.
fn word(header: &str) -> &str {
    // The first word of valid text is valid text.
    str::from_utf8(first_word(header.as_bytes())).unwrap_or_default()
}
