//! Writes a sorted stream of records in bgzf blocks.
//!
//! The boundaries of blocks depend on the records alone. A block holds the maximum number of whole records that fit,
//! and only a record that is longer than a block is split. So a region begins with a block of its own, and the bytes do
//! not depend on how the records were gathered.

use super::merge::Merge;
use crate::output::writer::bgzf::{self, BLOCK, CompressionLevel};
use crate::terms::error::Result;

/// Bytes of records that are compressed together in many blocks; a batch may end up to one block later.
const BATCH: usize = 1 << 24;

/// Records in whole blocks.
#[derive(Default)]
pub struct BlockBatch {
    pub bytes: Vec<u8>,
    /// Offset of each record.
    pub starts: Vec<usize>,
    /// Exclusive end of each block.
    pub ends: Vec<usize>,
}

impl BlockBatch {
    /// The next records of `merge`; empty at its end.
    fn fill(merge: &mut Merge) -> Result<BlockBatch> {
        let mut batch = BlockBatch::default();
        while let Some(record) = merge.record() {
            if batch.bytes.len() >= BATCH && !batch.has_room(record) {
                break;
            }
            batch.push(record);
            merge.advance()?;
        }
        batch.end();
        Ok(batch)
    }

    /// Number of bytes in the current, incomplete block.
    fn open(&self) -> usize {
        self.bytes.len() - self.ends.last().unwrap_or(&0)
    }

    /// Whether the record fits in the same block as the record before it.
    fn has_room(&self, record: &[u8]) -> bool {
        self.open() + record.len() <= BLOCK
    }

    fn push(&mut self, record: &[u8]) {
        if !self.has_room(record) {
            self.end();
        }
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(record);
        while self.open() > BLOCK {
            let end = self.ends.last().unwrap_or(&0) + BLOCK;
            self.ends.push(end);
        }
    }

    fn end(&mut self) {
        if self.open() > 0 {
            self.ends.push(self.bytes.len());
        }
    }

    /// The uncompressed blocks.
    fn blocks(&self) -> Vec<&[u8]> {
        let starts = [0].iter().chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end]).collect()
    }

    /// Virtual offset of each record in an output whose blocks start at byte `at`: the offset of its block, and in the
    /// low 16 bits the offset in the uncompressed block. `packed` has the compressed bytes of the blocks.
    pub fn offsets(&self, packed: &[Vec<u8>], mut at: u64) -> Vec<u64> {
        let mut blocks = self.ends.iter().zip(packed).peekable();
        let mut begin = 0;
        let offset = |&start: &usize| {
            while let Some((&end, block)) = blocks.next_if(|(end, _)| **end <= start) {
                begin = end;
                at += block.len() as u64;
            }
            at << 16 | (start - begin) as u64
        };
        self.starts.iter().map(offset).collect()
    }
}

/// Compresses all records of `merge`, and passes each batch with the bytes of its blocks to `put`. The next batch is
/// gathered while a batch is compressed on the other threads.
pub fn pack_all(
    merge: &mut Merge,
    level: CompressionLevel,
    mut put: impl FnMut(&BlockBatch, &[Vec<u8>]) -> Result<()>,
) -> Result<()> {
    let mut batch = BlockBatch::fill(merge)?;
    while !batch.bytes.is_empty() {
        let (packed, next) =
            rayon::join(|| bgzf::pack_each(&batch.blocks(), level), || BlockBatch::fill(merge));
        put(&batch, &packed?)?;
        batch = next?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::writer::sort::record::tests::record;

    fn batch(lengths: &[usize]) -> BlockBatch {
        let mut batch = BlockBatch::default();
        for &len in lengths {
            let filler = len - record(0, 0, 0, &[], "q", 1).len() + 1;
            let record = record(0, 0, 0, &[], "q", filler);
            assert_eq!(record.len(), len);
            batch.push(&record);
        }
        batch.end();
        batch
    }

    #[test]
    fn only_records_longer_than_a_block_are_cut() {
        let cut = batch(&[100, BLOCK - 100, 50, BLOCK, 60, 2 * BLOCK + 70, 80]);
        let ends: Vec<usize> = [BLOCK, 50, BLOCK, 60, BLOCK, BLOCK, 150]
            .iter()
            .scan(0, |end, len| {
                *end += len;
                Some(*end)
            })
            .collect();
        assert_eq!(cut.ends, ends);
        assert_eq!(cut.starts.len(), 7);
        let blocks: Vec<u8> = cut.blocks().concat();
        assert!(blocks == cut.bytes && cut.blocks().iter().all(|block| !block.is_empty()));
    }

    #[test]
    fn offsets_are_of_blocks_and_within_them() {
        let cut = batch(&[100, BLOCK - 100, 50, 60, 2 * BLOCK + 70, 80]);
        // Each block has the length of its 1-based number.
        let packed: Vec<Vec<u8>> = (1..=cut.ends.len()).map(|len| vec![0; len]).collect();
        let offsets = cut.offsets(&packed, 1000);
        let place = |block: u64, within: u64| block << 16 | within;
        let expected = [
            place(1000, 0),
            place(1000, 100),
            place(1001, 0),
            place(1001, 50),
            place(1003, 0),
            place(1010, 70),
        ];
        assert_eq!(offsets, expected);
    }

    #[test]
    fn no_records() {
        let mut merge = Merge::new(Vec::new()).unwrap();
        pack_all(&mut merge, bgzf::LEVEL, |_, _| panic!("there is nothing")).unwrap();
    }
}
