//! BGZF, the compression of BAM: consecutive deflated blocks (SAMv1 specification, 4.1).
//!
//! The boundaries of blocks depend on the input alone, never on batches or threads. The header has blocks of its own.
//! After it a block begins with each group of queries ([`crate::terms::groups`]), and within a group after every 65,280
//! bytes. So a range of whole groups has the same blocks in any file, and the concatenated files of consecutive ranges
//! equal the file of the whole.
//!
//! Short groups allow an input to be split finely, long groups fill their blocks. Compared with completely filled
//! blocks, files are larger by (simulated reads of `sars2.fa`, zlib at level 6):
//!
//! | 20 bases, no qualities | 150 bases, qualities | 3,000 bases, qualities | 20,000 bases, qualities |
//! |---|---|---|---|
//! | 0.15 % | 0.7 % | 1.3 % | 0.8 % |
//!
//! Blocks are compressed by zlib-rs at one level, with the same bytes on all processors.

use crate::terms::error::{Error, Result};
use noodles_bgzf::io::Writer;
use noodles_bgzf::io::writer::Builder;
use rayon::prelude::*;
use std::io::{self, Write};

pub use noodles_bgzf::io::writer::CompressionLevel;

/// Uncompressed bytes of a full block, as in samtools.
pub const BLOCK: usize = 0xff00;
/// Deflate's level, 0 to 9.
pub const LEVEL: CompressionLevel = CompressionLevel::new(6).unwrap();
/// Level for sorted records, which are compressed at the end while nothing else is left to do. Reads of 151 bases take
/// 3.4 % more bytes than at level 6, in 0.7 of the time.
pub const SORTED_LEVEL: CompressionLevel = CompressionLevel::new(4).unwrap();

/// Records to be written.
pub enum RecordBytes {
    /// Bytes of the output. With blocks, these are the blocks of whole groups.
    Ready(Vec<u8>),
    /// An uncompressed piece of a group; `begins` says whether the group begins with it.
    Piece { begins: bool, bytes: Vec<u8> },
}

impl RecordBytes {
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            RecordBytes::Ready(bytes) | RecordBytes::Piece { bytes, .. } => bytes,
        }
    }
}

/// Joins the parts of an output. A group that two batches share is compressed here.
pub struct BgzfJoiner {
    /// The bytes of a group that do not fill a block yet.
    rest: Vec<u8>,
    /// Bytes that follow the last record.
    end: Vec<u8>,
}

/// Compresses bytes in blocks. The last block may not be full.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let blocks: io::Result<Vec<_>> = bytes.par_chunks(BLOCK).map(|bytes| block(bytes, LEVEL)).collect();
    Ok(blocks.map_err(failed)?.concat())
}

/// Compresses each slice as one block. None may be longer than [`BLOCK`].
pub fn pack_each(blocks: &[&[u8]], level: CompressionLevel) -> Result<Vec<Vec<u8>>> {
    let blocks: io::Result<Vec<_>> = blocks.par_iter().map(|bytes| block(bytes, level)).collect();
    blocks.map_err(failed)
}

/// Compresses one block. It must have at most 65,495 bytes, beyond which noodles would begin another.
fn block(bytes: &[u8], level: CompressionLevel) -> io::Result<Vec<u8>> {
    let mut writer = Builder::default().set_compression_level(level).build_from_writer(Vec::new());
    writer.write_all(bytes)?;
    writer.flush()?;
    Ok(writer.into_inner())
}

/// The empty block that ends a file.
pub fn end_of_file() -> Result<Vec<u8>> {
    Writer::new(Vec::new()).finish().map_err(failed)
}

fn failed(source: io::Error) -> Error {
    Error::io("<bgzf>", source)
}

impl BgzfJoiner {
    /// For text, which has no blocks.
    pub fn of_text() -> BgzfJoiner {
        BgzfJoiner { rest: Vec::new(), end: Vec::new() }
    }

    pub fn of_blocks() -> Result<BgzfJoiner> {
        Ok(BgzfJoiner { rest: Vec::new(), end: end_of_file()? })
    }

    /// Adds a part, and returns the bytes that can be written now.
    pub fn add(&mut self, part: RecordBytes) -> Result<Vec<u8>> {
        match part {
            RecordBytes::Ready(bytes) if self.rest.is_empty() => Ok(bytes),
            RecordBytes::Ready(bytes) => Ok([self.take(self.rest.len())?, bytes].concat()),
            RecordBytes::Piece { begins, bytes } => {
                let mut out = self.take(if begins { self.rest.len() } else { 0 })?;
                self.rest.extend_from_slice(&bytes);
                out.extend(self.take(self.rest.len() - self.rest.len() % BLOCK)?);
                Ok(out)
            }
        }
    }

    /// Returns the last bytes, after all parts were added.
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

    /// Bytes of a query's records: some have one byte, some fill blocks, some need many blocks.
    fn records(query: usize) -> Vec<u8> {
        let len = match query % 97 {
            0 => 3 * BLOCK + query,
            1 => BLOCK - 1,
            _ => 1 + query % 300,
        };
        (0..len).map(|at| (at * at / 7 + query) as u8 % 60).collect()
    }

    /// Whether a group begins with this query; small and large groups occur.
    fn begins(query: usize) -> bool {
        query.is_multiple_of(if query < 300 { 7 } else { 450 })
    }

    /// The output of queries in batches of these sizes, in rotation. The pipeline passes whole groups or pieces of
    /// groups.
    fn joined(first: usize, queries: usize, batches: &[usize]) -> Vec<u8> {
        let mut joint = BgzfJoiner::of_blocks().unwrap();
        let (mut out, mut at) = (Vec::new(), first);
        for len in batches.iter().cycle() {
            let batch: Vec<usize> = (at..first + queries).take(*len).collect();
            let groups: Vec<&[usize]> = batch.chunk_by(|_, &query| !begins(query)).collect();
            for (number, group) in groups.iter().enumerate() {
                let bytes: Vec<u8> = group.iter().flat_map(|&query| records(query)).collect();
                let part = match begins(group[0]) || group[0] == first {
                    true if number + 1 < groups.len() => RecordBytes::Ready(pack(&bytes).unwrap()),
                    begins => RecordBytes::Piece { begins, bytes },
                };
                out.extend(joint.add(part).unwrap());
            }
            at += batch.len();
            if batch.is_empty() {
                break;
            }
        }
        out.extend(joint.finish().unwrap());
        out
    }

    /// Uncompressed size of each block, without the empty last block.
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
    fn blocks_do_not_depend_on_batches() {
        for queries in [0, 1, 511, 512, 513, 1200] {
            let expected = joined(0, queries, &[queries.max(1)]);
            for batches in [&[1][..], &[2, 511], &[512], &[513, 1, 3], &[100_000]] {
                assert!(joined(0, queries, batches) == expected, "{queries} queries in {batches:?}");
            }
            let queries: Vec<usize> = (0..queries).collect();
            let cut = |group: &[usize]| {
                let bytes: usize = group.iter().map(|&query| records(query).len()).sum();
                (0..bytes.div_ceil(BLOCK)).map(move |block| BLOCK.min(bytes - block * BLOCK))
            };
            let groups = queries.chunk_by(|_, &query| !begins(query));
            assert!(blocks(&expected).into_iter().eq(groups.flat_map(cut)), "{queries:?}");
            let mut bytes = Vec::new();
            Reader::new(&expected[..]).read_to_end(&mut bytes).unwrap();
            assert!(bytes == queries.iter().flat_map(|&query| records(query)).collect::<Vec<_>>());
        }
    }

    /// Ranges that begin with groups, joined without the ends of files between them.
    #[test]
    fn stretches_joined_are_the_whole() {
        let end = end_of_file().unwrap().len();
        let mut parts = joined(0, 450, &[7]);
        for (first, queries) in [(450, 900), (1350, 132)] {
            parts.truncate(parts.len() - end);
            parts.extend(joined(first, queries, &[600]));
        }
        assert!(parts == joined(0, 1482, &[31]));
    }
}
