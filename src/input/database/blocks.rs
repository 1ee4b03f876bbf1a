//! The blocks of a section, each of which is verified when it is first used.

use super::format::BLOCK;
use crate::terms::casts::whole_usize;
use crc32fast::Hasher;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A section's bytes, the checksums of its blocks, and the set of verified blocks.
#[derive(Debug)]
pub struct SectionBlocks<'a> {
    bytes: &'a [u8],
    sums: Vec<u32>,
    /// One bit for each block.
    proven: Vec<AtomicU64>,
    /// Number of blocks not verified yet.
    left: AtomicUsize,
    /// Number of calls that had blocks to verify.
    calls: AtomicUsize,
}

impl<'a> SectionBlocks<'a> {
    pub fn new(bytes: &'a [u8], sums: &[u32]) -> SectionBlocks<'a> {
        let proven = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        SectionBlocks {
            bytes,
            sums: sums.to_vec(),
            proven,
            left: AtomicUsize::new(sums.len()),
            calls: AtomicUsize::new(0),
        }
    }

    /// The bytes, verified or not.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Verifies the blocks that contain a range of positions: their checksums must match, and `is_sound` must accept
    /// them. The error is the 1-based number of a block that fails. No thread waits: two threads may verify the same
    /// block, which is harmless. Workers that start at the same time begin with different blocks, and skip those that
    /// others have verified meanwhile.
    pub fn prove(&self, places: Range<usize>, is_sound: impl Fn(&[u8]) -> bool + Sync) -> Result<(), usize> {
        if self.left.load(Ordering::Acquire) == 0 || places.is_empty() {
            return Ok(());
        }
        let last = self.sums.len().min(places.end.div_ceil(BLOCK));
        let open = (places.start / BLOCK..last).filter(|&block| !self.is_proven(block));
        let mut open: Vec<usize> = open.collect();
        if !open.is_empty() {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed);
            // Multiples of the golden ratio are far from each other.
            let first = (calls as f64 * 0.618_033_988_75).fract() * open.len() as f64;
            let first = whole_usize(first).min(open.len() - 1);
            open.rotate_left(first);
        }
        match open[..] {
            [] => Ok(()),
            // A single block should not wait for the thread pool.
            [block] => self.prove_block(block, &is_sound),
            _ => open.into_par_iter().try_for_each(|block| self.prove_block(block, &is_sound)),
        }
    }

    fn is_proven(&self, block: usize) -> bool {
        self.proven[block / 64].load(Ordering::Acquire) >> (block % 64) & 1 == 1
    }

    fn prove_block(&self, block: usize, is_sound: &(impl Fn(&[u8]) -> bool + Sync)) -> Result<(), usize> {
        if self.is_proven(block) {
            return Ok(());
        }
        let start = block * BLOCK;
        let bytes = &self.bytes[start..self.bytes.len().min(start + BLOCK)];
        if crc32fast::hash(bytes) != self.sums[block] || !is_sound(bytes) {
            return Err(block + 1);
        }
        let bit = 1 << (block % 64);
        if self.proven[block / 64].fetch_or(bit, Ordering::AcqRel) & bit == 0 {
            self.left.fetch_sub(1, Ordering::AcqRel);
        }
        Ok(())
    }
}

/// Checksums of the blocks of a section whose bytes come in parts.
#[derive(Default)]
pub struct BlockSums {
    full: Vec<u32>,
    /// Checksum of the bytes after the full blocks, and the number of these bytes.
    last: (Hasher, usize),
}

impl BlockSums {
    /// Number of bytes so far.
    pub fn bytes(&self) -> u64 {
        (self.full.len() * BLOCK + self.last.1) as u64
    }

    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (hasher, len) = &mut self.last;
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - *len));
            hasher.update(now);
            *len += now.len();
            if *len == BLOCK {
                self.full.push(std::mem::take(hasher).finalize());
                *len = 0;
            }
            bytes = later;
        }
    }

    /// CRC-32 of each block.
    pub fn finish(&self) -> Vec<u32> {
        let (hasher, len) = &self.last;
        let last = (*len > 0).then(|| hasher.clone().finalize());
        self.full.iter().copied().chain(last).collect()
    }
}

/// The checksums of the blocks of a section.
pub fn sums(bytes: &[u8]) -> Vec<u32> {
    bytes.par_chunks(BLOCK).map(crc32fast::hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_proven_where_they_are_used() {
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 70 * BLOCK + 5] {
            let mut bytes: Vec<u8> = (0..len).map(|place| (place % 251) as u8).collect();
            let sums = sums(&bytes);
            assert_eq!(sums.len(), len.div_ceil(BLOCK));
            assert_eq!(SectionBlocks::new(&bytes, &sums).prove(0..len, |_| true), Ok(()), "{len}");
            if len == 0 {
                continue;
            }
            assert_eq!(SectionBlocks::new(&bytes, &sums).prove(0..1, |_| false), Err(1));
            bytes[len - 1] ^= 1;
            let blocks = SectionBlocks::new(&bytes, &sums);
            let last = (len - 1) / BLOCK;
            assert_eq!(blocks.prove(0..last * BLOCK, |_| true), Ok(()), "those before are sound");
            assert_eq!(blocks.prove(len - 1..len, |_| true), Err(last + 1));
            for _ in 0..5 {
                assert_eq!(blocks.prove(0..usize::MAX, |_| true), Err(last + 1));
            }
            assert!((1..=last + 1).contains(&blocks.left.load(Ordering::Relaxed)));
        }
    }
}
