//! Layout of a BAM record (SAMv1 specification, 4.2). Offsets count from the first of the 4 bytes that hold the
//! record's size.

use std::ops::Range;

/// First bytes of a BAM file.
pub const MAGIC: &[u8; 4] = b"BAM\x01";
/// Bytes of the record's size, which does not count them.
pub const SIZE: usize = 4;
/// Offset of the reference's number.
pub const TARGET: usize = 4;
/// Offset of the 0-based position.
pub const START: usize = 8;
/// Offset of the length of the name, with its NUL.
pub const NAME_LEN: usize = 12;
/// Offset of the mapping quality.
pub const MAPQ: usize = 13;
/// Offset of the number of CIGAR operations.
pub const OPERATIONS: usize = 16;
/// Offset of the flags.
pub const FLAGS: usize = 18;
/// Offset of the number of bases.
pub const BASES: usize = 20;
/// Offset of the name.
pub const NAME: usize = 36;
/// Bases by their 4 bits. Any other base is N.
pub const BASE_CODES: &[u8; 16] = b"=ACMGRSVTWYHKDBN";
/// Every quality of a record without qualities.
pub const NO_QUALITY: u8 = 0xff;
/// Difference between a quality in SAM's text and one in BAM.
pub const QUALITY_OFFSET: u8 = b'!';

/// Offsets of a record's fields whose sizes vary.
#[derive(Clone, Copy, Debug)]
pub struct RecordFields {
    /// Number of bases.
    pub len: usize,
    /// Offset of the bases, two in each byte.
    pub bases: usize,
    /// Offset of the qualities.
    pub qualities: usize,
    /// Offset of the tags.
    pub tags: usize,
}

impl RecordFields {
    /// `None` if the fields do not fit in the record.
    pub fn of(record: &[u8]) -> Option<RecordFields> {
        let name = usize::from(*record.get(NAME_LEN)?);
        let operations = usize::from(u16::from_le_bytes(array(record, OPERATIONS)?));
        let len = u32::from_le_bytes(array(record, BASES)?) as usize;
        let bases = NAME + name + 4 * operations;
        let qualities = bases.checked_add(len.div_ceil(2))?;
        let tags = qualities.checked_add(len)?;
        (tags <= record.len()).then_some(RecordFields { len, bases, qualities, tags })
    }

    /// The bases in ASCII.
    pub fn bases(self, record: &[u8]) -> impl DoubleEndedIterator<Item = u8> + use<'_> {
        let packed = &record[self.bases..self.qualities];
        (0..self.len).map(move |at| BASE_CODES[usize::from(packed[at / 2] >> (4 * (1 - at % 2)) & 15)])
    }
}

/// A tag of a record.
#[derive(Clone, Debug)]
pub struct Tag {
    pub name: [u8; 2],
    /// Type of the value: one of `AcCsSiIfZHB`.
    pub kind: u8,
    /// Bytes of the whole tag, name and type included.
    pub range: Range<usize>,
}

impl Tag {
    /// The tag that begins at `start`.
    pub fn at(record: &[u8], start: usize) -> Option<Tag> {
        let [first, second, kind] = array(record, start)?;
        let value = start + 3;
        let len = match kind {
            b'A' => 1,
            b'Z' | b'H' => 1 + memchr::memchr(0, record.get(value..)?)?,
            b'B' => {
                let size = number_size(*record.get(value)?)?;
                let count = u32::from_le_bytes(array(record, value + 1)?) as usize;
                5 + size.checked_mul(count)?
            }
            kind => number_size(kind)?,
        };
        let end = value.checked_add(len).filter(|&end| end <= record.len())?;
        Some(Tag { name: [first, second], kind, range: start..end })
    }
}

/// Bytes of a number of this type.
pub fn number_size(kind: u8) -> Option<usize> {
    match kind {
        b'C' | b'c' => Some(1),
        b'S' | b's' => Some(2),
        b'I' | b'i' | b'f' => Some(4),
        _ => None,
    }
}

/// The integer of this type at the beginning of `bytes`.
pub fn integer(kind: u8, bytes: &[u8]) -> Option<i64> {
    match kind {
        b'C' => Some(u8::from_le_bytes(array(bytes, 0)?).into()),
        b'c' => Some(i8::from_le_bytes(array(bytes, 0)?).into()),
        b'S' => Some(u16::from_le_bytes(array(bytes, 0)?).into()),
        b's' => Some(i16::from_le_bytes(array(bytes, 0)?).into()),
        b'I' => Some(u32::from_le_bytes(array(bytes, 0)?).into()),
        b'i' => Some(i32::from_le_bytes(array(bytes, 0)?).into()),
        _ => None,
    }
}

/// The `N` bytes at this offset.
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
