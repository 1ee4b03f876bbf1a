//! Bgzf: gzip members that store their own length, so that several members can be inflated in parallel (SAM
//! specification, section 4.1).

use super::gunzip::{Gunzip, GzipTail, damaged};
use super::source::Packing;
use flate2::bufread::GzDecoder;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::io::{self, BufReader, Cursor, Read};
use std::mem;

/// Bytes of a block's header, whose last two bytes store the block's length, and maximum bytes of a block.
pub const HEADER: usize = 18;
pub const MOST_PACKED: usize = 1 << 16;
/// Maximum number of uncompressed bytes in a block (SAM specification, section 4.1).
const MOST_INFLATED: usize = 1 << 16;
/// Maximum number of blocks inflated in parallel: small blocks may expand a thousandfold.
const MOST_BLOCKS: usize = 1 << 9;
/// Approximate number of compressed bytes inflated in parallel. The first run is short, so that a fault at the start of
/// a file is reported quickly.
const RUN: usize = 1 << 22;
const FIRST_RUN: usize = 1 << 18;

/// Length of the compressed block that begins with these bytes, if they begin one.
pub fn block_len(bytes: &[u8]) -> Option<usize> {
    let header = bytes.get(..HEADER).filter(|header| Packing::of(header) == Packing::Bgzf)?;
    Some(usize::from(u16::from_le_bytes([header[HEADER - 2], header[HEADER - 1]])) + 1)
}

/// Whether a complete block begins here.
pub fn begins_block(bytes: &[u8]) -> bool {
    block_len(bytes).and_then(|len| bytes.get(..len)).is_some_and(|block| inflated(block).is_ok())
}

/// The uncompressed data of a block.
pub fn inflated(mut block: &[u8]) -> io::Result<Vec<u8>> {
    inflate(&mut block)
}

/// The uncompressed data of a block that is valid and has the stated length.
fn inflated_whole(mut block: &[u8]) -> Option<Vec<u8>> {
    inflate(&mut block).ok().filter(|_| block.is_empty())
}

/// Takes a block from the beginning of `packed`.
fn inflate(packed: &mut &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(MOST_INFLATED + 1);
    GzDecoder::new(packed).take(MOST_INFLATED as u64 + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() > MOST_INFLATED {
        let text = "a bgzf block exceeds 64 KiB";
        return Err(damaged(io::Error::new(io::ErrorKind::InvalidData, text)));
    }
    Ok(bytes)
}

/// Bgzf data. Valid blocks are inflated on all threads; the rest is inflated like any gzip data, with the same warnings
/// and errors at its end.
pub struct Bgzf<R: Read> {
    state: BgzfState<R>,
    tail: GzipTail,
}

/// The bytes already read, followed by the rest of the input.
type BgzfInput<R> = BufReader<io::Chain<Cursor<Vec<u8>>, R>>;

enum BgzfState<R: Read> {
    Blocks(BgzfBlocks<R>),
    Rest(Box<Gunzip<BgzfInput<R>>>),
    Ended,
}

/// Consecutive blocks.
struct BgzfBlocks<R> {
    input: R,
    /// Compressed bytes that are not inflated yet.
    packed: Vec<u8>,
    /// Compressed bytes of the next run, and of each run after it.
    runs: [usize; 2],
    /// Inflated blocks, and the number of bytes consumed from the first.
    ready: VecDeque<Vec<u8>>,
    used: usize,
}

impl<R: Read> Bgzf<R> {
    pub fn new(input: R, tail: GzipTail) -> Bgzf<R> {
        Bgzf::in_runs(input, tail, [FIRST_RUN, RUN])
    }

    fn in_runs(input: R, tail: GzipTail, runs: [usize; 2]) -> Bgzf<R> {
        let blocks = BgzfBlocks { input, packed: Vec::new(), runs, ready: VecDeque::new(), used: 0 };
        Bgzf { state: BgzfState::Blocks(blocks), tail }
    }
}

impl<R: Read> BgzfBlocks<R> {
    /// Inflates the next blocks; returns `false` if no valid block follows.
    fn inflate(&mut self, tail: &GzipTail) -> io::Result<bool> {
        let [run, next] = self.runs;
        // A run must have room for a whole block.
        let wanted = run.max(MOST_PACKED).saturating_sub(self.packed.len()) as u64;
        (&mut self.input).take(wanted).read_to_end(&mut self.packed)?;
        self.runs = [next; 2];
        let (mut blocks, mut end) = (Vec::new(), 0);
        while blocks.len() < MOST_BLOCKS
            && let Some(len) = block_len(&self.packed[end..])
            && let Some(block) = self.packed[end..].get(..len)
        {
            blocks.push(block);
            end += len;
        }
        let inflated: Vec<Option<Vec<u8>>> = blocks.par_iter().map(|block| inflated_whole(block)).collect();
        let (mut sound, mut from) = (0, 0);
        for (bytes, block) in inflated.into_iter().zip(&blocks) {
            let Some(bytes) = bytes else { break };
            tail.set_empty_member(bytes.is_empty());
            self.ready.push_back(bytes);
            (sound, from) = (sound + 1, from + block.len());
        }
        self.packed.drain(..from);
        Ok(sound > 0)
    }

    /// The inflated bytes that are available.
    fn at_hand(&mut self) -> &[u8] {
        while self.ready.front().is_some_and(|block| block.len() == self.used) {
            self.ready.pop_front();
            self.used = 0;
        }
        self.ready.front().map_or(&[], |block| &block[self.used..])
    }
}

impl<R: Read> Read for Bgzf<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match &mut self.state {
                BgzfState::Ended => return Ok(0),
                BgzfState::Rest(rest) => return rest.read(buffer),
                BgzfState::Blocks(blocks) => {
                    let read = blocks.at_hand().read(buffer)?;
                    blocks.used += read;
                    if read > 0 {
                        return Ok(read);
                    }
                    if blocks.inflate(&self.tail)? {
                        continue;
                    }
                }
            }
            if let BgzfState::Blocks(blocks) = mem::replace(&mut self.state, BgzfState::Ended)
                && !blocks.packed.is_empty()
            {
                let rest = BufReader::new(Cursor::new(blocks.packed).chain(blocks.input));
                self.state = BgzfState::Rest(Box::new(Gunzip::behind_a_member(rest, self.tail.clone())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use std::io::Write;

    fn block(content: &[u8]) -> Vec<u8> {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(content).unwrap();
        let deflated = deflate.finish().unwrap();
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let mut block = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0".to_vec();
        block.extend((deflated.len() as u16 + 25).to_le_bytes());
        block.extend(deflated);
        block.extend(checksum.sum().to_le_bytes());
        block.extend((content.len() as u32).to_le_bytes());
        block
    }

    /// All output, the error after it, and what was recorded of the end.
    fn drained(mut input: impl Read, tail: &GzipTail) -> (Vec<u8>, Option<String>, bool, bool) {
        let (mut bytes, mut some) = (Vec::new(), [0; 1000]);
        let fault = loop {
            match input.read(&mut some) {
                Ok(0) => break None,
                Ok(read) => bytes.extend(&some[..read]),
                Err(error) => break Some(error.to_string()),
            }
        };
        (bytes, fault, tail.is_garbage(), tail.has_empty_member())
    }

    /// Valid, truncated, damaged and padded files, and mixtures with other members, give the same output as a
    /// sequential gunzip.
    #[test]
    fn blocks_side_by_side_are_gzip_members() {
        let mut numbers = Random::new(1);
        let mut below = |bound: usize| numbers.below(bound);
        for case in 0..400 {
            let mut packed = block(b"begin");
            for _ in 0..below(9) {
                let len = [0, 1, 10, 3_000, 65_000][below(5)];
                let content: Vec<u8> = (0..len).map(|_| b"ACGT\n"[below(5)]).collect();
                let mut next = match below(12) {
                    0 => super::super::tests::stored(&content),
                    _ => block(&content),
                };
                match below(16) {
                    0 => drop(next.splice(0..0, [0; 5])),
                    1 => next.truncate(below(next.len())),
                    2 => {
                        let at = below(next.len());
                        next[at] ^= 1 << below(8);
                    }
                    _ => {}
                }
                packed.extend(next);
            }
            if below(8) == 0 {
                packed.extend(b"garbage");
            }
            let (plain, blocks) = (GzipTail::default(), GzipTail::default());
            let expected = drained(Gunzip::new(BufReader::new(&packed[..]), plain.clone()), &plain);
            let run = [1, 100, 70_000, RUN][below(4)];
            let bgzf = Bgzf::in_runs(&packed[..], blocks.clone(), [run, run]);
            let found = drained(bgzf, &blocks);
            assert_eq!((&found.1, found.2, found.3), (&expected.1, expected.2, expected.3), "case {case}");
            // The amount of output from a damaged member depends on the size of each read.
            let same = if found.1.is_some() { found.0.len().min(expected.0.len()) } else { usize::MAX };
            assert!(found.0.iter().take(same).eq(expected.0.iter().take(same)), "case {case}");
        }
    }
}
