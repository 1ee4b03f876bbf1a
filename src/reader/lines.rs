//! Whole lines of any file, block by block.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes of a file, or stdin, as they are.
pub struct LineReader {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    /// The beginning of a line, which was read with the block before.
    rest: Vec<u8>,
}

/// Whole lines; the last one of a file may lack its newline. Its memory is used again.
#[derive(Debug, Default)]
pub struct LineBlock {
    bytes: Vec<u8>,
    len: usize,
}

impl LineBlock {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl LineReader {
    /// Opens a file; `-` is stdin.
    pub fn open(path: &Path) -> Result<LineReader> {
        let input: Box<dyn Read + Send> = match path == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(|source| unread(path, source))?),
        };
        Ok(LineReader { path: path.to_path_buf(), input, rest: Vec::new() })
    }

    /// Reads the next block, of `enough` bytes or of one line where that is longer; of fewer at the end, and
    /// where a read gave lines and `hurry` says that somebody waits for them. `false` when there are no more.
    pub fn fill(&mut self, block: &mut LineBlock, enough: usize, hurry: impl Fn() -> bool) -> Result<bool> {
        let mut len = self.rest.len();
        let bytes = &mut block.bytes;
        bytes.resize(enough.max(2 * len).max(1), 0);
        bytes[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        let mut cut = None;
        loop {
            match self.input.read(&mut bytes[len..]) {
                Ok(0) => {
                    block.len = len;
                    return Ok(len > 0);
                }
                Ok(read) => {
                    let newline = memchr::memrchr(b'\n', &bytes[len..len + read]);
                    cut = newline.map(|at| len + at + 1).or(cut);
                    len += read;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(unread(&self.path, source)),
            }
            match cut {
                Some(cut) if len == bytes.len() || hurry() => {
                    self.rest.extend_from_slice(&bytes[cut..len]);
                    block.len = cut;
                    return Ok(true);
                }
                None if len == bytes.len() => bytes.resize(2 * len, 0),
                _ => {}
            }
        }
    }
}

/// A broken pipe is an error of an input, and no reader of ours that has left.
fn unread(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives so many bytes at a time.
    struct Slowly(&'static [u8], usize);

    impl Read for Slowly {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn blocks(text: &'static [u8], step: usize, enough: usize, hurry: bool) -> Vec<Vec<u8>> {
        let mut reader =
            LineReader { path: PathBuf::new(), input: Box::new(Slowly(text, step)), rest: Vec::new() };
        let (mut block, mut blocks) = (LineBlock::default(), Vec::new());
        while reader.fill(&mut block, enough, || hurry).unwrap() {
            blocks.push(block.bytes().to_vec());
        }
        assert!(!reader.fill(&mut block, enough, || hurry).unwrap());
        blocks
    }

    #[test]
    fn blocks_are_whole_lines_and_together_the_file() {
        let texts: [&[u8]; 6] =
            [b"", b"\n", b"abc", b"ab\n\ncdefghi\nj\n", b"a\nb\nc", b"abcdefghijklmnopq\nr"];
        for text in texts {
            for step in 1..=text.len() + 1 {
                for enough in 0..=text.len() + 1 {
                    for hurry in [false, true] {
                        let blocks = blocks(text, step, enough, hurry);
                        assert_eq!(blocks.concat(), text, "{step} {enough} {hurry}");
                        let whole = |block: &Vec<u8>| block.ends_with(b"\n");
                        assert!(blocks.iter().rev().skip(1).all(whole), "{step} {enough} {hurry}");
                        assert!(blocks.iter().all(|block| !block.is_empty()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_is_as_long_as_asked_unless_somebody_waits() {
        let text = b"a\nb\nc\nd\ne\nf\ng\nh\n";
        assert_eq!(blocks(text, 2, 8, false).len(), 2);
        assert_eq!(blocks(text, 2, 8, true).len(), 8);
    }
}
