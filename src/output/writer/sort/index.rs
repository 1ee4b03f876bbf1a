//! The index of sorted BAM, built while the records are written: BAI (SAMv1 specification, 5.2), or CSI if a reference
//! is too long for BAI (CSIv1).
//!
//! It has the content that `samtools index` would produce. For each reference it stores the file ranges of the records
//! in each bin, the start of the records in each window (in CSI: in each bin), and the number of records.

use super::record::RecordPlace;
use crate::output::writer::bgzf;
use crate::terms::casts::to_u32;
use crate::terms::error::Result;
use std::collections::BTreeMap;

/// Base-2 logarithm of the length in bases of a window, the smallest bin.
const WINDOW: u32 = 14;
/// Levels of bins below the largest bin in BAI, whose range limits the length of a reference.
const BAI_LEVELS: u32 = 5;
/// Number of levels that suffices for any reference of BAM.
const MOST_LEVELS: u32 = 6;
/// Length in bases of the longest reference that BAI supports.
const BAI_LONGEST: u64 = (1 << 29) - 1;
/// The amount that htslib adds to the longest reference.
const MARGIN: u64 = 256;
/// Minimum size of a bin in compressed file bytes: a smaller bin joins its parent.
const LEAST_BIN: u64 = 0x10000;

pub const BAI_EXTENSION: &str = ".bai";
pub const CSI_EXTENSION: &str = ".csi";

/// The numbering of bins, and the format of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexShape {
    levels: u32,
    is_csi: bool,
}

impl IndexShape {
    /// The shape for references of at most this number of bases.
    pub fn of(longest: u64) -> IndexShape {
        if longest <= BAI_LONGEST {
            return IndexShape { levels: BAI_LEVELS, is_csi: false };
        }
        let fits = |levels: &u32| longest + MARGIN <= 1 << (WINDOW + 3 * levels);
        IndexShape { levels: (BAI_LEVELS..MOST_LEVELS).find(fits).unwrap_or(MOST_LEVELS), is_csi: true }
    }

    /// Suffix that the index appends to the output's name.
    pub fn extension(self) -> &'static str {
        if self.is_csi { CSI_EXTENSION } else { BAI_EXTENSION }
    }

    /// The smallest bin that contains an interval.
    fn bin(self, start: u64, end: u64) -> u32 {
        let last = end - 1;
        let shift = |level: u32| WINDOW + 3 * (self.levels - level);
        let level = (0..=self.levels).rev().find(|&level| start >> shift(level) == last >> shift(level));
        level.map_or(0, |level| first_bin(level) + to_u32(start >> shift(level)))
    }

    /// The first window of a bin.
    fn first_window(self, bin: u32) -> usize {
        let level = level_of(bin);
        ((bin - first_bin(level)) as usize) << (3 * (self.levels - level))
    }

    /// Number of the pseudo-bin that stores the number of records.
    fn counts_bin(self) -> u32 {
        first_bin(self.levels + 1) + 1
    }
}

/// The first bin of a level, which has 8 times as many bins as the level before.
fn first_bin(level: u32) -> u32 {
    ((1 << (3 * level)) - 1) / 7
}

fn level_of(bin: u32) -> u32 {
    (0..).take_while(|&level| first_bin(level) <= bin).last().unwrap_or(0)
}

/// Start and end of a chunk in the file.
type Chunk = (u64, u64);

/// Builds the index as records are added.
pub struct IndexBuilder {
    shape: IndexShape,
    references: usize,
    /// The bytes of all references before the current one.
    bytes: Vec<u8>,
    /// Number of references in `bytes`.
    written: usize,
    current: Option<ReferenceIndex>,
    unplaced: u64,
}

/// The index of one reference.
struct ReferenceIndex {
    number: usize,
    bins: BTreeMap<u32, Vec<Chunk>>,
    /// For each window, the start of the first record that overlaps it; `None` if there is none.
    windows: Vec<Option<u64>>,
    /// Start of its first record.
    begin: u64,
    mapped: u64,
    unmapped: u64,
    /// The bin of the last records, and the start of the first of them.
    open: (u32, u64),
}

impl IndexBuilder {
    /// For a file with this number of references.
    pub fn new(shape: IndexShape, references: usize) -> IndexBuilder {
        IndexBuilder { shape, references, bytes: Vec::new(), written: 0, current: None, unplaced: 0 }
    }

    /// Adds the next record, which begins at `offset`.
    pub fn add(&mut self, place: &RecordPlace, offset: u64) {
        let Some(target) = place.target else {
            self.close(offset);
            self.unplaced += 1;
            return;
        };
        if self.current.as_ref().is_some_and(|current| current.number != target) {
            self.close(offset);
        }
        let bin = self.shape.bin(place.start, place.end);
        let current = self.current.get_or_insert_with(|| ReferenceIndex::new(target, (bin, offset)));
        current.add(place, bin, offset);
    }

    /// Completes the current reference, whose records end at `offset`.
    fn close(&mut self, offset: u64) {
        let Some(mut current) = self.current.take() else { return };
        current.end_chunk(offset);
        self.skip_to(current.number);
        current.push(self.shape, offset, &mut self.bytes);
        self.written += 1;
    }

    /// Writes references without records, up to index `target`.
    fn skip_to(&mut self, target: usize) {
        // An empty reference has no bins, and in BAI no windows.
        let empty = if self.shape.is_csi { 4 } else { 8 };
        self.bytes.resize(self.bytes.len() + empty * target.saturating_sub(self.written), 0);
        self.written = self.written.max(target);
    }

    /// The index file, given that the records end at `offset`.
    pub fn finish(mut self, offset: u64) -> Result<Vec<u8>> {
        self.close(offset);
        self.skip_to(self.references);
        let mut out = Vec::with_capacity(self.bytes.len() + 32);
        match self.shape.is_csi {
            true => {
                out.extend_from_slice(b"CSI\x01");
                // Window size, levels, and no auxiliary data.
                [WINDOW, self.shape.levels, 0].iter().for_each(|&number| push(&mut out, number));
            }
            false => out.extend_from_slice(b"BAI\x01"),
        }
        push(&mut out, to_u32(self.references));
        out.append(&mut self.bytes);
        push_long(&mut out, self.unplaced);
        match self.shape.is_csi {
            true => Ok([bgzf::pack(&out)?, bgzf::end_of_file()?].concat()),
            false => Ok(out),
        }
    }
}

impl ReferenceIndex {
    fn new(number: usize, open: (u32, u64)) -> ReferenceIndex {
        let (bins, windows) = (BTreeMap::new(), Vec::new());
        ReferenceIndex { number, bins, windows, begin: open.1, mapped: 0, unmapped: 0, open }
    }

    fn add(&mut self, place: &RecordPlace, bin: u32, offset: u64) {
        let [first, last] = [place.start, place.end - 1].map(|letter| (letter >> WINDOW) as usize);
        if self.windows.len() <= last {
            self.windows.resize(last + 1, None);
        }
        for window in &mut self.windows[first..=last] {
            window.get_or_insert(offset);
        }
        if bin != self.open.0 {
            self.end_chunk(offset);
            self.open = (bin, offset);
        }
        match place.is_mapped {
            true => self.mapped += 1,
            false => self.unmapped += 1,
        }
    }

    /// Ends the chunk of records of one bin.
    fn end_chunk(&mut self, offset: u64) {
        let (bin, begin) = self.open;
        self.bins.entry(bin).or_default().push((begin, offset));
    }

    /// Appends the bytes of the reference.
    fn push(mut self, shape: IndexShape, end: u64, out: &mut Vec<u8>) {
        let windows = filled(&self.windows);
        self.join_small(shape);
        push(out, to_u32(self.bins.len()) + 1);
        for (&bin, chunks) in &self.bins {
            let chunks = joined(chunks);
            push(out, bin);
            if shape.is_csi {
                push_long(out, windows.get(shape.first_window(bin)).copied().unwrap_or(0));
            }
            push(out, to_u32(chunks.len()));
            for (begin, end) in chunks {
                push_long(out, begin);
                push_long(out, end);
            }
        }
        push(out, shape.counts_bin());
        if shape.is_csi {
            push_long(out, 0);
        }
        push(out, 2);
        [self.begin, end, self.mapped, self.unmapped].into_iter().for_each(|number| push_long(out, number));
        if !shape.is_csi {
            push(out, to_u32(windows.len()));
            windows.into_iter().for_each(|offset| push_long(out, offset));
        }
    }

    /// Joins bins of few bytes with their parents if the parents have records of their own, starting with the smallest
    /// bins.
    fn join_small(&mut self, shape: IndexShape) {
        for level in (1..=shape.levels).rev() {
            let of_level: Vec<u32> =
                self.bins.range(first_bin(level)..first_bin(level + 1)).map(|(&bin, _)| bin).collect();
            for bin in of_level {
                let parent = (bin - 1) >> 3;
                if !self.bins.contains_key(&parent) {
                    continue;
                }
                let is_small = |chunks: &mut Vec<Chunk>| {
                    chunks.sort_unstable();
                    let (first, last) = (chunks.first(), chunks.last());
                    first.zip(last).is_some_and(|(first, last)| (last.1 >> 16) - (first.0 >> 16) < LEAST_BIN)
                };
                if !self.bins.get_mut(&bin).is_some_and(is_small) {
                    continue;
                }
                let chunks = self.bins.remove(&bin).unwrap_or_default();
                self.bins.entry(parent).or_default().extend(chunks);
            }
        }
        // A parent now has its own chunks and those of its children.
        self.bins.values_mut().for_each(|chunks| chunks.sort_unstable());
    }
}

/// Start of the records of each window; a window without records gets the value of the next window.
fn filled(windows: &[Option<u64>]) -> Vec<u64> {
    let mut next = 0;
    let mut filled: Vec<u64> = windows
        .iter()
        .rev()
        .map(|window| {
            next = window.unwrap_or(next);
            next
        })
        .collect();
    filled.reverse();
    filled
}

/// Joins chunks if the first ends in the block in which the next begins.
fn joined(chunks: &[Chunk]) -> Vec<Chunk> {
    let mut out: Vec<Chunk> = Vec::with_capacity(chunks.len());
    for &(begin, end) in chunks {
        match out.last_mut() {
            Some(last) if last.1 >> 16 >= begin >> 16 => last.1 = last.1.max(end),
            _ => out.push((begin, end)),
        }
    }
    out
}

fn push(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn push_long(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAI: IndexShape = IndexShape { levels: 5, is_csi: false };
    const CSI: IndexShape = IndexShape { levels: 6, is_csi: true };

    fn place(target: usize, start: u64, end: u64, is_mapped: bool) -> RecordPlace {
        RecordPlace { target: Some(target), start, end, is_mapped }
    }

    const NOWHERE: RecordPlace = RecordPlace { target: None, start: 0, end: 1, is_mapped: false };

    fn words(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn longs(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn long_references_take_csi() {
        assert_eq!((IndexShape::of(0), IndexShape::of((1 << 29) - 1)), (BAI, BAI));
        assert_eq!((IndexShape::of(1 << 29), IndexShape::of(u64::from(u32::MAX))), (CSI, CSI));
        assert_eq!((BAI.extension(), CSI.extension()), (".bai", ".csi"));
    }

    #[test]
    fn bins_are_those_of_the_specification() {
        assert_eq!((BAI.bin(0, 1), BAI.bin(0, 1 << 14), BAI.bin(1 << 14, (1 << 14) + 1)), (4681, 4681, 4682));
        assert_eq!((BAI.bin((1 << 14) - 1, (1 << 14) + 1), BAI.bin((1 << 26) - 1, (1 << 26) + 1)), (585, 0));
        assert_eq!((BAI.bin((1 << 29) - 1, 1 << 29), BAI.counts_bin()), (37_448, 37_450));
        assert_eq!((CSI.bin(0, 1), CSI.counts_bin()), (37_449, 299_594));
        assert_eq!((BAI.first_window(4682), BAI.first_window(586), BAI.first_window(0)), (1, 8, 0));
    }

    /// Four references, two of which have records, and one record without a position.
    #[test]
    fn bytes_of_bai() {
        let mut index = IndexBuilder::new(BAI, 4);
        // Blocks are far from each other, so that no bin joins another.
        let at = |block: u64, within: u64| (block * 0x20000) << 16 | within;
        index.add(&place(1, 5, 10, true), at(1, 0));
        index.add(&place(1, 5, 6, false), at(1, 50));
        index.add(&place(1, 16_380, 16_390, true), at(2, 0));
        index.add(&place(1, 49_152, 49_153, true), at(3, 0));
        index.add(&place(2, 0, 9, true), at(4, 7));
        index.add(&NOWHERE, at(5, 1));
        let expected = [
            b"BAI\x01".to_vec(),
            words(&[4, 0, 0]),
            // Four bins, the last of which has the counts.
            words(&[4, 585, 1]),
            longs(&[at(2, 0), at(3, 0)]),
            words(&[4681, 1]),
            longs(&[at(1, 0), at(2, 0)]),
            words(&[4684, 1]),
            longs(&[at(3, 0), at(4, 7)]),
            words(&[37_450, 2]),
            longs(&[at(1, 0), at(4, 7), 3, 1]),
            // A window without records has the value of the next window.
            words(&[4]),
            longs(&[at(1, 0), at(2, 0), at(3, 0), at(3, 0)]),
            words(&[2, 4681, 1]),
            longs(&[at(4, 7), at(5, 1)]),
            words(&[37_450, 2]),
            longs(&[at(4, 7), at(5, 1), 1, 0]),
            words(&[1]),
            longs(&[at(4, 7)]),
            words(&[0, 0]),
            longs(&[1]),
        ];
        assert!(index.finish(at(6, 0)).unwrap() == expected.concat());
    }

    #[test]
    fn small_bins_join_their_parents() {
        let mut index = IndexBuilder::new(BAI, 1);
        index.add(&place(0, 0, 5, true), 0);
        index.add(&place(0, 16_380, 16_390, true), 100);
        index.add(&place(0, 16_385, 16_390, true), 200);
        let bytes = index.finish(300).unwrap();
        let expected = [words(&[1, 2, 585, 1]), longs(&[0, 300]), words(&[37_450, 2])].concat();
        assert!(bytes[4..].starts_with(&expected));
    }

    #[test]
    fn csi_is_packed() {
        use std::io::Read;
        let mut index = IndexBuilder::new(CSI, 2);
        index.add(&place(1, 1 << 29, (1 << 29) + 4, true), 70 << 16);
        let packed = index.finish(80 << 16).unwrap();
        let mut bytes = Vec::new();
        noodles_bgzf::io::Reader::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let expected = [
            b"CSI\x01".to_vec(),
            words(&[14, 6, 0, 2, 0, 2, 37_449 + (1 << 15)]),
            longs(&[70 << 16]),
            words(&[1]),
            longs(&[70 << 16, 80 << 16]),
            words(&[299_594]),
            longs(&[0]),
            words(&[2]),
            longs(&[70 << 16, 80 << 16, 1, 0]),
            longs(&[0]),
        ];
        assert!(bytes == expected.concat());
    }

    #[test]
    fn no_references_and_no_records() {
        assert!(IndexBuilder::new(BAI, 0).finish(0).unwrap() == [&b"BAI\x01"[..], &[0; 12]].concat());
    }
}
