//! The fields of a BAM record that sorting and indexing need (SAMv1 specification, 4.2). Records are preceded by their
//! size.

use crate::output::writer::line::{REVERSE, UNMAPPED};
pub use crate::terms::bam::SIZE;
use crate::terms::bam::{FLAGS, NAME, NAME_LEN, OPERATIONS, START, TARGET, array};

/// Bitmap of the CIGAR operations that consume target bases: M, D, N, = and X.
const OF_TARGET: u32 = 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8;

/// The sort order of `samtools sort`: by reference, with unplaced records last; by start; forward before reverse.
/// Records with equal keys keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(u64);

impl SortKey {
    /// `None` if the bytes are no record. Target numbers and positions have 31 bits.
    pub fn of(record: &[u8]) -> Option<SortKey> {
        const UNPLACED: u64 = (1 << 31) - 1;
        let target = u64::try_from(number(record, TARGET)?).unwrap_or(UNPLACED);
        let start = u64::try_from(i64::from(number(record, START)?) + 1).ok()?;
        let reverse = flags(record)? & REVERSE != 0;
        Some(SortKey(target << 33 | start << 1 | u64::from(reverse)))
    }
}

/// The position of a record, as an index counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// `None` for a record without a position.
    pub target: Option<usize>,
    /// Half-open interval in the target; an unmapped record counts as one base.
    pub start: u64,
    pub end: u64,
    pub is_mapped: bool,
}

impl RecordPlace {
    /// `None` if the bytes are no record.
    pub fn of(record: &[u8]) -> Option<RecordPlace> {
        let target = usize::try_from(number(record, TARGET)?).ok();
        let start = u64::try_from(number(record, START)?).unwrap_or(0);
        let is_mapped = flags(record)? & UNMAPPED == 0;
        let span = if is_mapped { span(record)? } else { 0 };
        // A damaged CIGAR must not lead beyond valid positions.
        let end = (start + span.max(1)).min(1 << 31);
        Some(RecordPlace { target, start, end, is_mapped })
    }
}

/// The first record of `bytes`, with its size; `None` if they contain no complete record.
pub fn first(bytes: &[u8]) -> Option<&[u8]> {
    let size = u32::from_le_bytes(*bytes.first_chunk::<SIZE>()?);
    bytes.get(..SIZE.checked_add(size as usize)?)
}

/// Number of target bases that its CIGAR consumes.
fn span(record: &[u8]) -> Option<u64> {
    let operations = usize::from(u16::from_le_bytes(array(record, OPERATIONS)?));
    let begin = NAME + usize::from(*record.get(NAME_LEN)?);
    let cigar = record.get(begin..begin + 4 * operations)?;
    let lengths = cigar.as_chunks::<4>().0.iter().map(|&operation| {
        let operation = u32::from_le_bytes(operation);
        let consumes = OF_TARGET >> (operation & 15) & 1;
        u64::from(consumes) * u64::from(operation >> 4)
    });
    Some(lengths.sum())
}

fn flags(record: &[u8]) -> Option<u16> {
    array(record, FLAGS).map(u16::from_le_bytes)
}

fn number(record: &[u8], at: usize) -> Option<i32> {
    array(record, at).map(i32::from_le_bytes)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A record with these fields, followed by `filler` bytes in place of its bases.
    pub fn record(
        target: i32,
        start: i32,
        flags: u16,
        cigar: &[(u32, u8)],
        name: &str,
        filler: usize,
    ) -> Vec<u8> {
        let mut out = vec![0; SIZE];
        out.extend(target.to_le_bytes());
        out.extend(start.to_le_bytes());
        out.extend([name.len() as u8 + 1, 60, 0, 0]);
        out.extend((cigar.len() as u16).to_le_bytes());
        out.extend(flags.to_le_bytes());
        out.extend([0; 4]);
        out.extend((-1i32).to_le_bytes());
        out.extend((-1i32).to_le_bytes());
        out.extend([0; 4]);
        out.extend(name.as_bytes());
        out.push(0);
        for &(len, operation) in cigar {
            out.extend((len << 4 | u32::from(operation)).to_le_bytes());
        }
        // A tag, so that other programs also accept the record.
        if filler > 0 {
            out.extend(b"XXZ");
            out.extend((0..filler).map(|at| b'!' + (at * at % 89) as u8));
            out.push(0);
        }
        let size = (out.len() - SIZE) as u32;
        out[..SIZE].copy_from_slice(&size.to_le_bytes());
        out
    }

    #[test]
    fn the_order_is_that_of_samtools() {
        let all = [(0, -1, 0), (0, 0, 0), (0, 0, 16), (0, 5, 0), (0, 5, 16), (0, i32::MAX, 16), (1, 0, 4)];
        let all = [&all[..], &[(i32::MAX - 1, i32::MAX, 16), (-1, -1, 4)]].concat();
        let keys: Vec<_> = all
            .iter()
            .map(|&(target, start, flags)| SortKey::of(&record(target, start, flags, &[], "q", 0)).unwrap())
            .collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
    }

    #[test]
    fn places() {
        let place = |target, start, flags, cigar: &[(u32, u8)]| {
            RecordPlace::of(&record(target, start, flags, cigar, "name", 3)).unwrap()
        };
        // 2S 3M 4I 5D 6N 7= 8X
        let cigar = [(2, 4), (3, 0), (4, 1), (5, 2), (6, 3), (7, 7), (8, 8)];
        let mapped = RecordPlace { target: Some(2), start: 10, end: 39, is_mapped: true };
        assert_eq!(place(2, 10, 0, &cigar), mapped);
        let beside_its_mate = RecordPlace { target: Some(2), start: 10, end: 11, is_mapped: false };
        assert_eq!(place(2, 10, 4, &[]), beside_its_mate);
        let nowhere = RecordPlace { target: None, start: 0, end: 1, is_mapped: false };
        assert_eq!(place(-1, -1, 4, &[]), nowhere);
    }

    #[test]
    fn no_number_leads_out_of_a_record() {
        let whole = record(2, 10, 0, &[(3, 0), (5, 2)], "name", 0);
        for len in 0..whole.len() {
            assert!(first(&whole[..len]).is_none(), "{len}");
            let _ = (SortKey::of(&whole[..len]), RecordPlace::of(&whole[..len]));
        }
        assert_eq!(first(&[&whole[..], b"more"].concat()), Some(&whole[..]));
        assert_eq!(first(&[0xff; 40]), None);
    }
}
