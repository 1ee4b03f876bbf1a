//! Reads any file in blocks of whole lines.

use super::faults::{NO_ROOM, lengthen, whole};
use super::gunzip::{Gunzip, GzipTail};
use super::source::{GZIP, Packing};
use crate::terms::error::{Error, Result};
use crate::terms::system::File;
use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read, Stdin};
use std::path::{Path, PathBuf};

/// Reads the bytes of a file or of stdin, decompressed if requested.
pub struct LineReader {
    path: PathBuf,
    input: Box<dyn Input>,
    /// The beginning of a line, which was read with the previous block.
    rest: Vec<u8>,
    packing: Packing,
    /// Observations after gzip data, if these are decompressed.
    tail: Option<GzipTail>,
}

/// Number of bytes that identify the compression.
const HEAD: usize = 6;
/// Compressed bytes per read.
const PACKED: usize = 1 << 16;

/// Whole lines; the last line of a file may lack its newline. The buffer is reused.
#[derive(Debug, Default)]
pub struct LineBlock {
    bytes: Vec<u8>,
    len: usize,
}

/// The source of lines.
trait Input: Read + Send {
    /// Whether a read would return at once, with data or at the end; waits for a moment. `None` if this cannot be
    /// determined.
    fn is_ready(&self) -> Option<bool>;
}

impl Input for Stdin {
    fn is_ready(&self) -> Option<bool> {
        moment::is_ready(self)
    }
}

impl Input for File {
    fn is_ready(&self) -> Option<bool> {
        moment::is_ready(self)
    }
}

/// An input whose first bytes were read before.
type PeekedInput = Chain<Cursor<Vec<u8>>, Box<dyn Input>>;

impl Input for PeekedInput {
    fn is_ready(&self) -> Option<bool> {
        self.get_ref().1.is_ready()
    }
}

impl Input for Gunzip<BufReader<PeekedInput>> {
    /// Decompressed text may still be buffered, so `false` only means that the caller should not wait for it.
    fn is_ready(&self) -> Option<bool> {
        self.input().map_or(Some(true), |packed| packed.get_ref().is_ready())
    }
}

#[cfg(unix)]
mod moment {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use std::os::fd::AsFd;

    const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

    pub fn is_ready(input: &impl AsFd) -> Option<bool> {
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&MOMENT)) {
            Ok(ready) => Some(ready > 0),
            Err(Errno::INTR) => Some(false),
            Err(_) => None,
        }
    }
}

#[cfg(not(unix))]
mod moment {
    pub fn is_ready<T>(_: &T) -> Option<bool> {
        None
    }
}

impl LineBlock {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl LineReader {
    /// Opens a file; `-` is stdin. If `unzips`, gzip data are decompressed.
    pub fn open(path: &Path, unzips: bool) -> Result<LineReader> {
        let mut input: Box<dyn Input> = match path == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(|source| unread(path, source))?),
        };
        let head = beginning(input.as_mut()).map_err(|source| unread(path, source))?;
        let packing = Packing::of(&head);
        let begun = Cursor::new(head).chain(input);
        let (input, tail): (Box<dyn Input>, _) = match unzips && packing == Packing::Gzip {
            true => {
                let tail = GzipTail::default();
                let packed = BufReader::with_capacity(PACKED, begun);
                (Box::new(Gunzip::new(packed, tail.clone())), Some(tail))
            }
            false => (Box::new(begun), None),
        };
        Ok(LineReader { path: path.to_path_buf(), input, rest: Vec::new(), packing, tail })
    }

    /// A warning if the bytes of the file are not its text.
    pub fn warning(&self) -> Option<String> {
        let name = if self.path == Path::new("-") { "stdin".into() } else { self.path.to_string_lossy() };
        match self.packing {
            Packing::Gzip if self.tail.is_none() => Some(format!(
                "{name} is compressed with gzip and is searched without decompression; to search its text, use -z"
            )),
            Packing::Foreign(program, command) => Some(format!(
                "{name} is compressed with {program} and is searched without decompression; to search its text, use \
                 `{command} | swalign grep ... -`"
            )),
            _ => None,
        }
    }

    /// A warning about gzip data that were read to the end.
    pub fn warning_of_end(&self) -> Option<String> {
        let is_garbage = self.tail.as_ref().is_some_and(GzipTail::is_garbage);
        let name = self.path.display();
        is_garbage.then(|| format!("{name}: the data after the gzip stream are not gzip and are ignored"))
    }

    /// Reads the next block, of `enough` bytes or of one longer line. The block is shorter at the end of the input, or
    /// if there are lines and `hurry` says that the consumer is idle: only while the consumer is busy does this wait
    /// for more input. Returns `false` at the end.
    pub fn fill(&mut self, block: &mut LineBlock, enough: usize, hurry: impl Fn() -> bool) -> Result<bool> {
        let mut len = self.rest.len();
        let bytes = &mut block.bytes;
        let wanted = enough.max(2 * len).max(1);
        if !lengthen(bytes, wanted) {
            return Err(too_long(&self.path, len));
        }
        bytes.truncate(wanted);
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
                Some(cut) if len == bytes.len() || !reads_on(self.input.as_ref(), &hurry) => {
                    self.rest.extend_from_slice(&bytes[cut..len]);
                    block.len = cut;
                    return Ok(true);
                }
                None if len == bytes.len() && !lengthen(bytes, 2 * len) => {
                    *bytes = Vec::new();
                    return Err(too_long(&self.path, len));
                }
                _ => {}
            }
        }
    }
}

/// The first bytes of an input: those of one read, and more only if they may begin compressed data.
fn beginning(input: &mut dyn Input) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        let mut some = [0; HEAD];
        match input.read(&mut some[head.len()..]) {
            Ok(0) => return Ok(head),
            Ok(read) => {
                let from = head.len();
                head.extend_from_slice(&some[from..from + read]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        // No text begins with these bytes.
        let may_be_packed = matches!(head.first(), Some(&first) if first == GZIP[0] || first == 0xfd);
        if !may_be_packed || head.len() == HEAD {
            return Ok(head);
        }
    }
}

/// Waits until there is more to read, unless the consumer is idle.
fn reads_on(input: &dyn Input, hurry: impl Fn() -> bool) -> bool {
    while !hurry() {
        match input.is_ready() {
            Some(true) => return true,
            Some(false) => {}
            None => return false,
        }
    }
    false
}

/// The error for a line for which memory does not suffice after `len` bytes.
fn too_long(path: &Path, len: usize) -> Error {
    let problem = format!("out of memory after {len} bytes of a line");
    Error::input(whole(path), problem, NO_ROOM)
}

/// A broken pipe here is an input error, and not a closed output.
fn unread(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most this number of bytes per read.
    struct Slowly(&'static [u8], usize);

    impl Read for Slowly {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    impl Input for Slowly {
        fn is_ready(&self) -> Option<bool> {
            Some(true)
        }
    }

    /// Returns two and a half lines, and then blocks until they are consumed.
    struct Stalling(bool);

    impl Read for Stalling {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!std::mem::replace(&mut self.0, true), "this read would never end");
            buffer[..5].copy_from_slice(b"a\nb\nc");
            Ok(5)
        }
    }

    impl Input for Stalling {
        fn is_ready(&self) -> Option<bool> {
            Some(false)
        }
    }

    fn reader_of(input: Box<dyn Input>) -> LineReader {
        LineReader { path: PathBuf::new(), input, rest: Vec::new(), packing: Packing::Plain, tail: None }
    }

    #[test]
    fn lines_are_given_to_who_waits_only_later() {
        let mut reader = reader_of(Box::new(Stalling(false)));
        let mut block = LineBlock::default();
        let asked = std::cell::Cell::new(0);
        let hurry = || asked.replace(asked.get() + 1) == 5;
        assert!(reader.fill(&mut block, 1 << 20, hurry).unwrap());
        assert_eq!(block.bytes(), b"a\nb\n");
        assert_eq!(reader.rest, b"c");
    }

    fn blocks(text: &'static [u8], step: usize, enough: usize, hurry: bool) -> Vec<Vec<u8>> {
        let mut reader = reader_of(Box::new(Slowly(text, step)));
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
