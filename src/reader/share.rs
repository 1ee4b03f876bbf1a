//! One part of a file's records, found without parsing them.
//!
//! Records stand in groups, counted from the file's first. Of `n` parts of a file of `B` bytes on its disk,
//! part `i` (from 1) has the groups that begin at a byte `p` with `floor(p * n / B) = i - 1`: in a plain file
//! the group's first byte, in bgzf that of the block in which the group begins, in gzip that of the piece of
//! [`STEP`] bytes by which its beginning is known. Of 1000 bytes and 3 parts, a group at byte 333 is the
//! first part's, and one at 334 the second's. So the parts are stretches of the file, one behind the other,
//! each group is in exactly one, and a run reads no further than its own part's end.
//!
//! What stands before the part is unpacked where it is packed, and only its lines are counted, by which a
//! record of FASTQ is told from others (see [`super::cut`]).

use super::cut::newlines;
use super::parse::Before;
use super::source::Packing;
use crate::options::Share;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};

/// Bytes of a plain file that are read at once, and those that a gzip file gives at most.
const PLAIN: usize = 1 << 20;
const UNPACKED: usize = 1 << 16;
/// Bytes of a gzip file that count as one place.
const STEP: u64 = 1 << 14;
/// Blocks of bgzf that are unpacked side by side.
const BLOCKS: usize = 64;
/// Bytes of a bgzf block's header, of which two say how long the block is.
const HEADER: usize = 18;
/// Lines of a FASTQ record.
const FASTQ_LINES: u64 = 4;

/// Which part of a file, or of one file of several that count as one.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub(super) share: Share,
    /// Records that stay together.
    pub(super) group: u64,
    /// Bytes of the files before this one, and of all.
    pub(super) before: u64,
    pub(super) total: u64,
}

impl Slice {
    /// The part, from 1, that has what begins at byte `at` of this file.
    fn owner(&self, at: u64) -> u64 {
        let place = u128::from(self.before + at) * u128::from(self.share.of);
        (place / u128::from(self.total.max(1))) as u64 + 1
    }
}

/// The bytes of a part's records, unpacked.
pub struct Stretch {
    slice: Slice,
    feed: Feed,
    borders: Borders,
    piece: Piece,
    /// What of the piece belongs to the part and was not read yet.
    from: usize,
    to: usize,
    /// Nothing of the part stands behind the piece.
    last: bool,
}

/// Unpacked bytes.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    /// Where they stand in the file.
    at: u64,
    /// Byte by byte, and not all of them in one place.
    plain: bool,
}

impl Piece {
    fn place(&self, index: usize) -> u64 {
        self.at + if self.plain { index as u64 } else { 0 }
    }
}

impl Stretch {
    /// Reads up to the part's first record, and says what stands before it.
    pub fn open(file: File, slice: Slice) -> io::Result<(Stretch, Before)> {
        let mut feed = Feed::new(file)?;
        let mut piece = Piece::default();
        feed.next(&mut piece)?;
        let borders = Borders::new(piece.bytes.first().copied(), slice.group);
        let mut stretch = Stretch { slice, feed, borders, piece, from: 0, to: 0, last: false };
        let before = stretch.skip()?;
        Ok((stretch, before))
    }

    /// Whether it is a part of FASTA or FASTQ.
    pub fn has_records(&self) -> bool {
        self.borders.kind != Kind::Foreign
    }

    fn skip(&mut self) -> io::Result<Before> {
        let own = u64::from(self.slice.share.number);
        if !self.has_records() {
            self.to = self.piece.bytes.len();
            return Ok(Before::default());
        }
        loop {
            while let Some(at) = self.borders.next(&self.piece.bytes, self.from) {
                self.from = at;
                let owner = self.slice.owner(self.piece.place(at));
                if owner >= own {
                    let before = self.borders.before();
                    self.to = if owner == own { self.own_end() } else { at };
                    self.last |= owner > own;
                    return Ok(before);
                }
                self.borders.pass();
            }
            self.from = 0;
            if !self.feed.next(&mut self.piece)? {
                self.last = true;
                return Ok(self.borders.before());
            }
        }
    }

    /// Where the part ends in the piece, which belongs to it at `from`.
    fn own_end(&mut self) -> usize {
        let mut from = self.from;
        while let Some(at) = self.borders.next(&self.piece.bytes, from) {
            if self.slice.owner(self.piece.place(at)) > u64::from(self.slice.share.number) {
                self.last = true;
                return at;
            }
            self.borders.pass();
            from = at;
        }
        self.piece.bytes.len()
    }
}

impl Read for Stretch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.from == self.to {
            if self.last || !self.feed.next(&mut self.piece)? {
                self.last = true;
                return Ok(0);
            }
            self.from = 0;
            self.to = self.own_end();
        }
        let read = (&self.piece.bytes[self.from..self.to]).read(buffer)?;
        self.from += read;
        Ok(read)
    }
}

/// Where groups of records begin, in bytes that come piece by piece.
struct Borders {
    kind: Kind,
    group: u64,
    /// Records (lines of FASTQ) before the next group begins.
    left: u64,
    /// What was passed.
    records: u64,
    lines: u64,
    /// The next piece begins with a line.
    line_begins: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fasta,
    Fastq,
    /// All of it is the part's, whose reader will say what is wrong.
    Foreign,
}

impl Borders {
    fn new(first: Option<u8>, group: u64) -> Borders {
        let kind = match first {
            Some(b'>') => Kind::Fasta,
            Some(b'@') => Kind::Fastq,
            _ => Kind::Foreign,
        };
        Borders { kind, group, left: 0, records: 0, lines: 0, line_begins: true }
    }

    /// The next beginning of a group in `bytes` from `from` on, which is where the last call ended.
    fn next(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        match self.kind {
            Kind::Fasta => self.next_fasta(bytes, from),
            Kind::Fastq => self.next_fastq(bytes, from),
            Kind::Foreign => None,
        }
    }

    fn next_fasta(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let begins = |at: usize| if at == 0 { self.line_begins } else { bytes[at - 1] == b'\n' };
        let starts = memchr::memchr_iter(b'>', &bytes[from..]).map(|at| from + at).filter(|&at| begins(at));
        let (mut found, mut counted) = (None, 0);
        for start in starts {
            if counted == self.left {
                found = Some(start);
                break;
            }
            counted += 1;
        }
        self.left -= counted;
        self.records += counted;
        self.lines += newlines(&bytes[from..found.unwrap_or(bytes.len())]) as u64;
        if found.is_none() {
            self.line_begins = bytes.last().map_or(self.line_begins, |&last| last == b'\n');
        }
        found
    }

    fn next_fastq(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        if self.left > 0 {
            let mut ends = memchr::memchr_iter(b'\n', &bytes[from..]);
            while self.left > 0 {
                at = from + ends.next()? + 1;
                self.left -= 1;
                self.lines += 1;
            }
        }
        match bytes.get(at) {
            Some(b'@') => Some(at),
            // An empty line at the end, or a fault, which ends the reading.
            Some(_) => {
                self.left = u64::MAX;
                None
            }
            None => None,
        }
    }

    /// Goes on behind a group's beginning.
    fn pass(&mut self) {
        self.left = if self.kind == Kind::Fastq { FASTQ_LINES * self.group } else { self.group };
    }

    /// What stands before the beginning that was found, or before the end.
    fn before(&self) -> Before {
        let records = match self.kind {
            Kind::Fastq => self.lines.div_ceil(FASTQ_LINES),
            _ => self.records,
        };
        Before { records, lines: self.lines }
    }
}

/// A file's bytes, unpacked.
enum Feed {
    Plain(File, u64),
    Gzip(Box<MultiGzDecoder<Steps>>),
    Bgzf(Blocks),
}

impl Feed {
    fn new(mut file: File) -> io::Result<Feed> {
        let mut head = Vec::new();
        (&mut file).take(HEADER as u64).read_to_end(&mut head)?;
        file.rewind()?;
        Ok(match Packing::of(&head) {
            Packing::Gzip => {
                let steps = Steps { file, bytes: Vec::new(), used: 0, at: 0 };
                Feed::Gzip(Box::new(MultiGzDecoder::new(steps)))
            }
            Packing::Bgzf => {
                Feed::Bgzf(Blocks { input: BufReader::new(file), at: 0, ready: VecDeque::new() })
            }
            Packing::Empty | Packing::Plain | Packing::Foreign(..) => Feed::Plain(file, 0),
        })
    }

    /// The next bytes, which are some; `false` at the end.
    fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        match self {
            Feed::Plain(file, at) => {
                (piece.at, piece.plain) = (*at, true);
                piece.bytes.clear();
                file.take(PLAIN as u64).read_to_end(&mut piece.bytes)?;
                *at += piece.bytes.len() as u64;
            }
            Feed::Gzip(decoder) => {
                piece.bytes.resize(UNPACKED, 0);
                let read = decoder.read(&mut piece.bytes).map_err(damaged)?;
                piece.bytes.truncate(read);
                piece.at = decoder.get_ref().at;
            }
            Feed::Bgzf(blocks) => {
                piece.bytes.clear();
                while piece.bytes.is_empty() {
                    let Some(block) = blocks.next()? else { return Ok(false) };
                    (piece.at, piece.bytes) = block;
                }
            }
        }
        Ok(!piece.bytes.is_empty())
    }
}

/// Where the packed bytes are at fault and not their reading, says so.
fn damaged(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() {
        return error;
    }
    let text = format!(
        "the gzip data are cut short or damaged ({error}); copy or compress the file again; `gzip -t` checks it"
    );
    io::Error::new(error.kind(), text)
}

/// A file read in steps of [`STEP`] bytes, however few a read may give.
struct Steps {
    file: File,
    bytes: Vec<u8>,
    used: usize,
    /// Where the step in hand begins.
    at: u64,
}

impl BufRead for Steps {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.bytes.len() {
            let next = self.at + self.bytes.len() as u64;
            self.bytes.clear();
            self.used = 0;
            (&mut self.file).take(STEP).read_to_end(&mut self.bytes)?;
            // The end has no place of its own.
            self.at = if self.bytes.is_empty() { self.at } else { next };
        }
        Ok(&self.bytes[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// The blocks of a bgzf file, unpacked many at a time.
struct Blocks {
    input: BufReader<File>,
    /// Where the next one begins.
    at: u64,
    ready: VecDeque<(u64, Vec<u8>)>,
}

impl Blocks {
    fn next(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.ready.is_empty() {
            let mut packed = Vec::with_capacity(BLOCKS);
            while packed.len() < BLOCKS
                && let Some(block) = self.read()?
            {
                packed.push(block);
            }
            let unpack = |(at, block): (u64, Vec<u8>)| {
                let mut bytes = Vec::new();
                GzDecoder::new(&block[..]).read_to_end(&mut bytes).map_err(damaged)?;
                Ok((at, bytes))
            };
            let unpacked: Vec<io::Result<_>> = packed.into_par_iter().map(unpack).collect();
            self.ready = unpacked.into_iter().collect::<io::Result<_>>()?;
        }
        Ok(self.ready.pop_front())
    }

    /// The next block as it is packed, and where it begins.
    fn read(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut block = Vec::new();
        (&mut self.input).take(HEADER as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(None);
        }
        let cut = || damaged(ErrorKind::UnexpectedEof.into());
        if block.len() < HEADER {
            return Err(cut());
        }
        if Packing::of(&block) != Packing::Bgzf {
            let text = format!("no block of bgzf begins at byte {}", self.at);
            return Err(damaged(io::Error::new(ErrorKind::InvalidData, text)));
        }
        let bytes = usize::from(u16::from_le_bytes([block[HEADER - 2], block[HEADER - 1]])) + 1;
        (&mut self.input).take(bytes.saturating_sub(HEADER) as u64).read_to_end(&mut block)?;
        if block.len() < bytes {
            return Err(cut());
        }
        let at = self.at;
        self.at += block.len() as u64;
        Ok(Some((at, block)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The parts of a file, and what stands before each.
    fn parts(content: &[u8], of: u32, group: u64) -> Vec<(Before, Vec<u8>)> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let part = |number| {
            let share = Share { number, of };
            let slice = Slice { share, group, before: 0, total: content.len() as u64 };
            let (mut stretch, before) = Stretch::open(file.reopen().unwrap(), slice).unwrap();
            let mut bytes = Vec::new();
            stretch.read_to_end(&mut bytes).unwrap();
            (before, bytes)
        };
        (1..=of).map(part).collect()
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// Letters that hardly pack, so that a packed file has many places.
    fn letters(seed: usize, len: usize) -> String {
        let mut state = seed as u64 + 1;
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b"ACGT"[(state >> 62) as usize])
        };
        (0..len).map(|_| letter()).collect()
    }

    /// Qualities with '@' and '>' where lines begin, letters on several lines.
    fn contents(records: usize) -> [String; 3] {
        let fastq = |k: usize| {
            let len = 1 + k % 90;
            format!("@r{k} >\n{}\n+\n{}\n", letters(k, len), "@>I"[k % 3..k % 3 + 1].repeat(len))
        };
        let fasta = |k: usize| format!(">r{k} > @\n{}\n\n{}\n", letters(k, k % 70), letters(k + 1, 40));
        let windows = |k: usize| format!(">r{k}\r\n{}\r\n", letters(k, 60));
        [
            (0..records).map(fastq).collect(),
            (0..records).map(fasta).collect(),
            (0..records).map(windows).collect::<String>() + "\r\n",
        ]
    }

    #[test]
    fn parts_are_the_file() {
        for records in [1, 2, 511, 513, 1500] {
            for content in contents(records) {
                let end = content.trim_end().len();
                for (text, of) in [(&content[..], 3), (&content[..end], 7), (&content[..], 40)] {
                    for group in [1, 5, 512] {
                        let expected: Vec<u8> = text.bytes().collect();
                        for bytes in [expected.clone(), gzip(&expected)] {
                            let parts = parts(&bytes, of, group);
                            let whole: Vec<u8> = parts.iter().flat_map(|(_, part)| part.clone()).collect();
                            assert!(whole == expected, "{records} records, {of} parts, groups of {group}");
                            let (mut lines, last) = (0, records as u64);
                            for (before, part) in &parts {
                                assert_eq!(before.lines, lines);
                                lines += newlines(part) as u64;
                                let first = before.records;
                                assert!(first == last || first.is_multiple_of(group), "{first}");
                                assert_eq!(part.is_empty(), first == last || before.lines == lines);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The rule, on records of 10 bytes.
    #[test]
    fn a_group_is_where_it_begins() {
        let content = ">r\nACGTAC\n".repeat(100);
        for (of, group) in [(3, 1), (3, 7), (8, 2)] {
            for (index, (before, part)) in parts(content.as_bytes(), of, group).iter().enumerate() {
                let owner = |k: u64| k / group * group * 10 * u64::from(of) / 1000;
                let own = |k: &u64| owner(*k) == index as u64;
                assert_eq!(part.len() / 10, (0..100).filter(own).count());
                assert_eq!(before.records, (0..100).find(own).unwrap());
            }
        }
    }

    #[test]
    fn what_is_no_fasta_goes_to_all() {
        assert_eq!(parts(b"hello\n", 2, 1), vec![(Before::default(), b"hello\n".to_vec()); 2]);
        assert_eq!(parts(b"", 2, 1), vec![(Before::default(), Vec::new()); 2]);
    }

    #[test]
    fn damage_is_an_error() {
        let whole = gzip(contents(3000)[0].as_bytes());
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..whole.len() / 2]).unwrap();
        let share = Share { number: 2, of: 2 };
        let slice = Slice { share, group: 1, before: 0, total: whole.len() as u64 };
        let error = Stretch::open(file.reopen().unwrap(), slice).err().unwrap();
        assert!(error.to_string().contains("cut short"), "{error}");
    }
}
