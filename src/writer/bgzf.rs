//! BGZF, in which BAM is packed: deflated blocks, one behind the other (SAMv1 specification, 4.1).
//!
//! Where blocks begin follows from the input alone, never from batches or threads. The header has blocks
//! of its own. After it a block begins with the records of every [`GROUP`]-th query, counted from the
//! first of the input, and within such a group after every 65,280 bytes. So the blocks of queries from
//! one multiple of `GROUP` to another are the same wherever the rest is written, and files of such
//! stretches, joined byte by byte, give those of the whole.
//!
//! A block's bytes are those of zlib-rs at one level, the same on all processors.

use crate::error::{Error, Result};
use noodles_bgzf::io::Writer;
use noodles_bgzf::io::writer::{Builder, CompressionLevel};
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;

/// Queries whose records are made in one go, and in BAM have blocks of their own. The less there are, the
/// finer an input can be split; the more, the fuller the blocks. Against blocks that are all full, files
/// are larger by
///
/// | queries | 150 letters, qualities | 20 letters, none | 3,000 letters, qualities |
/// |---|---|---|---|
/// | 128 | 0.9 % | 10 % | 0.02 % |
/// | 256 | 0.7 % | 4.7 % | 0.01 % |
/// | 512 | 0.3 % | 1.0 % | 0 |
/// | 1024 | 0.2 % | 0.9 % | 0 |
pub const GROUP: usize = 512;
/// Bytes of a full block before they are deflated; as samtools cuts.
const BLOCK: usize = 0xff00;
/// Deflate's level, 0 to 9.
const LEVEL: CompressionLevel = CompressionLevel::new(6).unwrap();

/// Records on their way to the output.
pub enum Part {
    /// As they stand there.
    Ready(Vec<u8>),
    /// Of a piece of a group, not yet packed, and whether they are its last.
    Piece(Vec<u8>, bool),
}

/// Puts parts behind one another. A group that two batches share is packed here.
pub struct Joint {
    /// The bytes of a group that lack a full block's end.
    rest: Vec<u8>,
    /// What stands behind the last record.
    end: Vec<u8>,
}

/// The groups, or pieces of groups, among `len` queries of which the first is number `first` (from 0) of
/// the input.
pub fn groups(first: u64, len: usize) -> impl Iterator<Item = Range<usize>> {
    let before = (first % GROUP as u64) as usize;
    (0..(before + len).div_ceil(GROUP))
        .map(move |group| (group * GROUP).saturating_sub(before)..((group + 1) * GROUP - before).min(len))
}

/// The part of some bytes that hold the records of `len` queries of one group, the first being number
/// `first` of the input.
pub fn part(first: u64, len: usize, bytes: Vec<u8>) -> Result<Part> {
    let before = (first % GROUP as u64) as usize;
    match len {
        GROUP => Ok(Part::Ready(pack(&bytes)?)),
        _ => Ok(Part::Piece(bytes, before + len == GROUP)),
    }
}

/// Bytes as blocks, of which the last may not be full.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let blocks: io::Result<Vec<_>> = bytes.par_chunks(BLOCK).map(block).collect();
    Ok(blocks.map_err(failed)?.concat())
}

/// One block. It holds at most 65,495 bytes before noodles would begin another.
fn block(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = Builder::default().set_compression_level(LEVEL).build_from_writer(Vec::new());
    writer.write_all(bytes)?;
    writer.flush()?;
    Ok(writer.into_inner())
}

/// The block that says that nothing was cut off.
fn end_of_file() -> Result<Vec<u8>> {
    Writer::new(Vec::new()).finish().map_err(failed)
}

fn failed(source: io::Error) -> Error {
    Error::io("<bgzf>", source)
}

impl Joint {
    /// For text, which has no blocks.
    pub fn of_text() -> Joint {
        Joint { rest: Vec::new(), end: Vec::new() }
    }

    pub fn of_blocks() -> Result<Joint> {
        Ok(Joint { rest: Vec::new(), end: end_of_file()? })
    }

    /// What can be written once `part` is there too.
    pub fn add(&mut self, part: Part) -> Result<Vec<u8>> {
        match part {
            Part::Ready(bytes) => Ok(bytes),
            Part::Piece(bytes, last) => {
                self.rest.extend_from_slice(&bytes);
                let full = self.rest.len() - self.rest.len() % BLOCK;
                self.take(if last { self.rest.len() } else { full })
            }
        }
    }

    /// Bytes behind the last record.
    pub fn end(&self) -> u64 {
        self.end.len() as u64
    }

    /// What is left when all parts are there.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let mut bytes = self.take(self.rest.len())?;
        bytes.append(&mut self.end);
        Ok(bytes)
    }

    fn take(&mut self, len: usize) -> Result<Vec<u8>> {
        let packed = pack(&self.rest[..len])?;
        self.rest.drain(..len);
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use noodles_bgzf::io::Reader;
    use std::io::Read;

    /// Bytes of a query's records: some queries fill blocks, some are of one byte, some of many blocks.
    fn records(query: usize) -> Vec<u8> {
        let len = match query % 97 {
            0 => 3 * BLOCK + query,
            1 => BLOCK - 1,
            _ => 1 + query % 300,
        };
        (0..len).map(|at| (at * at / 7 + query) as u8 % 60).collect()
    }

    /// The output of queries in batches of these sizes, over and over.
    fn joined(first: usize, queries: usize, batches: &[usize]) -> Vec<u8> {
        let mut joint = Joint::of_blocks().unwrap();
        let (mut out, mut at) = (Vec::new(), first);
        for len in batches.iter().cycle() {
            let len = *len.min(&(first + queries - at));
            if len == 0 {
                break;
            }
            for range in groups(at as u64, len) {
                let bytes: Vec<u8> = range.clone().flat_map(|query| records(at + query)).collect();
                let part = part((at + range.start) as u64, range.len(), bytes).unwrap();
                out.extend(joint.add(part).unwrap());
            }
            at += len;
        }
        out.extend(joint.finish().unwrap());
        out
    }

    /// Bytes of each block before it was packed, without the last and empty one.
    fn blocks(mut packed: &[u8]) -> Vec<usize> {
        let mut sizes = Vec::new();
        while !packed.is_empty() {
            let len = usize::from(u16::from_le_bytes([packed[16], packed[17]])) + 1;
            sizes.push(u32::from_le_bytes(packed[len - 4..len].try_into().unwrap()) as usize);
            packed = &packed[len..];
        }
        assert_eq!(sizes.pop(), Some(0), "an empty block ends the file");
        sizes
    }

    #[test]
    fn groups_cover_a_batch() {
        let ends = |first, len| {
            let mut at = 0;
            let end = |of: Range<usize>| {
                assert_eq!(std::mem::replace(&mut at, of.end), of.start);
                of.end
            };
            groups(first, len).map(end).collect::<Vec<_>>()
        };
        assert_eq!(ends(0, 0), []);
        assert_eq!(ends(0, 512), [512]);
        assert_eq!(ends(0, 513), [512, 513]);
        assert_eq!(ends(1, 511), [511]);
        assert_eq!(ends(1, 512), [511, 512]);
        assert_eq!(ends(1023, 1100), [1, 513, 1025, 1100]);
        assert_eq!(ends(512, 1), [1]);
    }

    #[test]
    fn blocks_do_not_depend_on_batches() {
        for queries in [0, 1, 511, 512, 513, 1200] {
            let expected = joined(0, queries, &[queries.max(1)]);
            for batches in [&[1][..], &[2, 511], &[512], &[513, 1, 3], &[100_000]] {
                assert!(joined(0, queries, batches) == expected, "{queries} queries in {batches:?}");
            }
            let sizes: Vec<usize> = (0..queries).map(|query| records(query).len()).collect();
            let cut = |group: &[usize]| {
                let bytes = group.iter().sum::<usize>();
                (0..bytes.div_ceil(BLOCK)).map(move |block| BLOCK.min(bytes - block * BLOCK))
            };
            assert!(blocks(&expected).into_iter().eq(sizes.chunks(GROUP).flat_map(cut)), "{queries}");
            let mut bytes = Vec::new();
            Reader::new(&expected[..]).read_to_end(&mut bytes).unwrap();
            assert!(bytes == (0..queries).flat_map(records).collect::<Vec<_>>(), "{queries} queries");
        }
    }

    /// Stretches that begin at multiples of a group, joined without the ends of files between them.
    #[test]
    fn stretches_joined_are_the_whole() {
        let end = end_of_file().unwrap().len();
        let mut parts = joined(0, 1024, &[7]);
        for (first, queries) in [(1024, 512), (1536, 132)] {
            parts.truncate(parts.len() - end);
            parts.extend(joined(first, queries, &[600]));
        }
        assert!(parts == joined(0, 1668, &[31]));
    }
}
