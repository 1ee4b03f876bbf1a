//! Decompressed bytes of a file, from its beginning or from a later byte.

use super::super::bgzf::{HEADER, MOST_PACKED, begins_block, block_len, inflated};
use super::super::gunzip::{Gunzip, GzipTail, Next, damaged, next};
use super::super::source::{BGZF_END, Lead, Packing, end_in_lf};
use crate::terms::system::File;
use memchr::memmem;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

/// Bytes per read of a plain file, and maximum number of decompressed bytes per read of a gzip file.
const PLAIN: u64 = 1 << 20;
const UNPACKED: usize = 1 << 16;
/// Bytes of a gzip file that count as one position.
const STEP: u64 = 1 << 14;
/// Bytes at the end of a block that store its uncompressed size.
const ISIZE: usize = 4;
/// Bgzf blocks that are decompressed in parallel.
const BLOCKS: usize = 64;

/// Decompressed bytes, piece by piece.
pub struct ShareFeed {
    source: FeedSource,
    /// File offset of the last piece: of its first byte; in bgzf of its block; in gzip of the [`STEP`] that identifies
    /// it.
    at: u64,
    tail: GzipTail,
    ends_in_cr: bool,
}

enum FeedSource {
    /// `ends` are bytes at which pieces end.
    Plain {
        file: File,
        at: u64,
        ends: [u64; 2],
    },
    Gzip(Box<Gunzip<SteppedFile>>),
    Bgzf(BgzfFile),
}

impl ShareFeed {
    /// Opens a feed at the beginning of the file, and returns it with the lead of its text. Pieces begin at the bytes
    /// `borders`, or at the first block or step after each of them.
    pub fn open(mut file: File, borders: [u64; 2]) -> io::Result<(ShareFeed, Lead)> {
        let mut head = Vec::new();
        (&mut file).take(HEADER as u64).read_to_end(&mut head)?;
        let packing = Packing::of(&head);
        file.rewind()?;
        let (lead, _) = match packing {
            Packing::Gzip | Packing::Bgzf => {
                Lead::read(&mut Gunzip::new(BufReader::new(&file), GzipTail::default()))?
            }
            _ => Lead::read(&mut BufReader::new(&file))?,
        };
        let tail = GzipTail::default();
        file.rewind()?;
        let source = match packing {
            Packing::Gzip => {
                let steps = SteppedFile { file, bytes: Vec::new(), used: 0, at: 0 };
                FeedSource::Gzip(Box::new(Gunzip::new(steps, tail.clone())))
            }
            Packing::Bgzf => {
                let [_, ahead] = borders;
                let (input, tail) = (BufReader::new(file), tail.clone());
                FeedSource::Bgzf(BgzfFile {
                    input,
                    at: 0,
                    ahead,
                    ready: VecDeque::new(),
                    tail,
                    ends_well: None,
                })
            }
            Packing::Empty | Packing::Plain | Packing::Foreign(..) | Packing::Database => {
                FeedSource::Plain { file, at: 0, ends: borders }
            }
        };
        Ok((ShareFeed { source, at: 0, tail, ends_in_cr: lead.ends_in_cr }, lead))
    }

    /// Skips the file before the byte `to`, as far as possible without reading it.
    pub fn jump(&mut self, to: u64) -> io::Result<()> {
        match &mut self.source {
            FeedSource::Plain { file, at, .. } => *at = file.seek(SeekFrom::Start(to))?,
            FeedSource::Gzip(_) => {}
            FeedSource::Bgzf(blocks) => blocks.jump(to)?,
        }
        Ok(())
    }

    /// Appends the next nonempty piece; returns `false` at the end.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let before = bytes.len();
        match &mut self.source {
            FeedSource::Plain { file, at, ends } => {
                let room = ends.iter().filter_map(|end| end.checked_sub(*at)).filter(|&room| room > 0).min();
                let wanted = room.map_or(PLAIN, |room| room.min(PLAIN));
                self.at = *at;
                *at += file.take(wanted).read_to_end(bytes)? as u64;
            }
            FeedSource::Gzip(decoder) => {
                bytes.resize(before + UNPACKED, 0);
                let read = decoder.read(&mut bytes[before..])?;
                bytes.truncate(before + read);
                self.at = decoder.input().map_or(self.at, |steps| steps.at);
            }
            FeedSource::Bgzf(blocks) => {
                while bytes.len() == before {
                    let Some((at, block)) = blocks.next()? else { return Ok(false) };
                    self.at = at;
                    bytes.extend(block);
                }
            }
        }
        if self.ends_in_cr {
            end_in_lf(&mut bytes[before..]);
        }
        Ok(bytes.len() > before)
    }

    /// Observations at the end of gzip data, filled in as it is read.
    pub fn tail(&self) -> GzipTail {
        self.tail.clone()
    }

    /// File offset of the last piece.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// A file read in steps of [`STEP`] bytes, even if single reads return less.
struct SteppedFile {
    file: File,
    bytes: Vec<u8>,
    used: usize,
    /// Offset of the current step.
    at: u64,
}

impl BufRead for SteppedFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.bytes.len() {
            let next = self.at + self.bytes.len() as u64;
            self.bytes.clear();
            self.used = 0;
            (&mut self.file).take(STEP).read_to_end(&mut self.bytes)?;
            // The end of the file is no step of its own.
            self.at = if self.bytes.is_empty() { self.at } else { next };
        }
        Ok(&self.bytes[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

impl Read for SteppedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// The blocks of a bgzf file.
struct BgzfFile {
    input: BufReader<File>,
    /// Offset of the next block.
    at: u64,
    /// Blocks before this byte are decompressed in parallel, and the few blocks after it one by one.
    ahead: u64,
    ready: VecDeque<(u64, Vec<u8>)>,
    tail: GzipTail,
    /// Whether the last block read is empty, like the end marker.
    ends_well: Option<bool>,
}

impl BgzfFile {
    fn next(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.ready.is_empty() {
            let mut packed = Vec::new();
            while (packed.is_empty() || self.at < self.ahead && packed.len() < BLOCKS)
                && let Some(block) = self.read()?
            {
                packed.push(block);
            }
            let unpacked: Vec<io::Result<_>> =
                packed.into_par_iter().map(|(at, block)| Ok((at, inflated(&block)?))).collect();
            self.ready = unpacked.into_iter().collect::<io::Result<_>>()?;
        }
        Ok(self.ready.pop_front())
    }

    /// The next block, still compressed, and its offset.
    fn read(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        match next(&mut self.input).map_err(damaged)? {
            Next::Member(zeros) => self.at += zeros,
            Next::End => {
                self.tail.set_cut(self.ends_well == Some(false));
                return Ok(None);
            }
            Next::Garbage => {
                self.tail.set_garbage();
                return Ok(None);
            }
        }
        let mut block = Vec::new();
        (&mut self.input).take(HEADER as u64).read_to_end(&mut block)?;
        let cut = || damaged(ErrorKind::UnexpectedEof.into());
        if block.len() < HEADER {
            return Err(cut());
        }
        let Some(bytes) = block_len(&block) else {
            let text = format!("no bgzf block begins at byte {}", self.at);
            return Err(damaged(io::Error::new(ErrorKind::InvalidData, text)));
        };
        (&mut self.input).take(bytes.saturating_sub(HEADER) as u64).read_to_end(&mut block)?;
        if block.len() < bytes {
            return Err(cut());
        }
        let at = self.at;
        self.at += block.len() as u64;
        self.ends_well = Some(block.ends_with(&[0; ISIZE]));
        Ok(Some((at, block)))
    }

    /// Continues with the first block that begins at the byte `to` or later, or at the end of the file. A block is
    /// recognized by its header and its checksum; the data after the last block may be anything. The block that
    /// contains `to` is short, so this reads little.
    fn jump(&mut self, to: u64) -> io::Result<()> {
        let mut window = Vec::new();
        let (mut from, mut read) = (to, 1);
        self.input.seek(SeekFrom::Start(to))?;
        self.at = to;
        while read > 0 {
            // Every candidate offset has room for a whole block after it.
            read = (&mut self.input).take(2 * MOST_PACKED as u64).read_to_end(&mut window)?;
            let looked_at = if read > 0 { window.len().saturating_sub(MOST_PACKED) } else { window.len() };
            let begins = |&at: &usize| at < looked_at && begins_block(&window[at..]);
            if let Some(at) = memmem::find_iter(&window, &BGZF_END[..4]).find(begins) {
                self.at = from + at as u64;
                break;
            }
            window.drain(..looked_at);
            from += looked_at as u64;
            self.at = from;
        }
        self.input.seek(SeekFrom::Start(self.at)).map(|_| ())
    }
}
