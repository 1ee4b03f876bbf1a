//! Records of BAM, field by field (SAMv1 specification, 4.2).

use super::mates::{MateHit, MateTold, PathTold};
use super::{QueryInPart, RecordHit, RecordTold, Standing, damaged, span};
use crate::alignment::Strand;
use crate::writer::bam::{LETTERS as LETTERS_BY_CODE, NO_QUALITY, OFFSET, push_number};
use crate::writer::in_part;
use crate::writer::line::{Kind, REVERSE, SECONDARY, UNMAPPED};
use crate::writer::tags::EditTags;
use std::io::{self, BufRead, Read};
use std::ops::Range;

/// Where fields of a fixed place begin, the record's size in front counted.
const START: usize = 8;
const NAME_LEN: usize = 12;
const QUALITY: usize = 13;
const OPERATIONS: usize = 16;
const FLAGS: usize = 18;
const LETTERS: usize = 20;
const NAME: usize = 36;

/// Where the fields of a record begin.
struct RecordLayout {
    cigar: usize,
    letters: usize,
    tags: Vec<Tag>,
}

/// A tag, its kind, and where it stands, its name included.
struct Tag {
    name: [u8; 2],
    kind: u8,
    range: Range<usize>,
}

/// Reads a record with its size into `bytes`; none at the end of the input.
pub fn read(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    if input.fill_buf()?.is_empty() {
        return Ok(());
    }
    let mut size = [0; 4];
    input.read_exact(&mut size)?;
    bytes.extend_from_slice(&size);
    let size = u32::from_le_bytes(size) as usize;
    // The size may be damaged, so memory is taken as bytes come.
    match input.take(size as u64).read_to_end(bytes)? {
        read if read == size => Ok(()),
        _ => Err(damaged()),
    }
}

/// QNAME.
pub fn name(record: &[u8]) -> &[u8] {
    let len = record.get(NAME_LEN).map_or(0, |&len| usize::from(len));
    record.get(NAME..(NAME + len).saturating_sub(1)).unwrap_or_default()
}

/// Number of the letters that stand in it.
pub fn letters(record: &[u8]) -> usize {
    array(record, LETTERS).map_or(0, |len| u32::from_le_bytes(len) as usize)
}

/// What a record tells; `None` for one that a run of a part doesn't write.
pub fn told(record: &[u8]) -> Option<RecordTold> {
    let layout = RecordLayout::of(record)?;
    let flags = u16::from_le_bytes(array(record, FLAGS)?);
    let of_query = match layout.tag(b"YQ") {
        Some(tag) => Some(QueryInPart::parse(tag.text(record)?)?),
        None => None,
    };
    if flags & UNMAPPED != 0 {
        return Some(RecordTold { aligned: None, of_query });
    }
    let strand = if flags & REVERSE != 0 { Strand::Reverse } else { Strand::Forward };
    let score = layout.tag(b"AS").and_then(|tag| tag.number(record))?;
    let (target, _) = in_part::parse(layout.tag(b"YM")?.text(record)?)?;
    let (secondary, span) = (flags & SECONDARY != 0, span(layout.operations(record)?)?);
    Some(RecordTold { aligned: Some(RecordHit { score, strand, secondary, target, span }), of_query })
}

/// What a record tells of a mate.
pub fn mate(record: &[u8]) -> Option<MateTold> {
    let layout = RecordLayout::of(record)?;
    let flags = u16::from_le_bytes(array(record, FLAGS)?);
    let strand = if flags & REVERSE != 0 { Strand::Reverse } else { Strand::Forward };
    let hit = match flags & UNMAPPED != 0 {
        true => None,
        false => {
            let (target, in_part) = in_part::parse(layout.tag(b"YM")?.text(record)?)?;
            let start = u32::try_from(i32::from_le_bytes(array(record, START)?)).ok()?;
            let path = PathTold::new(&layout.operations(record)?.collect::<Vec<_>>())?;
            let score = layout.tag(b"AS")?.number(record)?;
            let alignment = path.alignment(strand, (target, start), score)?;
            let edits = u32::try_from(layout.tag(b"NM")?.number(record)?).ok()?;
            let differences = EditTags { edits, md: layout.tag(b"MD")?.text(record)?.to_vec() };
            Some(MateHit { cigar: path.cigar, differences, ..MateHit::of(alignment, in_part) })
        }
    };
    let len = letters(record);
    let packed = record.get(layout.letters..)?;
    let (packed, qualities) = (packed.get(..len.div_ceil(2))?, packed.get(len.div_ceil(2)..)?.get(..len)?);
    let both = packed.iter().flat_map(|&pair| [pair >> 4, pair & 15]).take(len);
    let is_known = qualities.iter().any(|&quality| quality != NO_QUALITY);
    let qualities = if is_known { qualities } else { &[] };
    let base_qualities = match layout.tag(b"ms") {
        Some(tag) => Some(tag.number(record)?.into()),
        None => None,
    };
    let read_group = match layout.tag(b"RG") {
        Some(tag) => Some(tag.text(record)?.to_vec()),
        None => None,
    };
    Some(MateTold {
        letters: both.map(|code| LETTERS_BY_CODE[usize::from(code)]).collect(),
        qualities: qualities.iter().map(|quality| quality.checked_add(OFFSET)).collect::<Option<_>>()?,
        base_qualities,
        read_group,
        hit,
    })
}

/// Appends a record in its new standing. [`told`] has found it sound.
pub fn push(record: &[u8], out: &mut Vec<u8>, standing: Standing) {
    let Some(layout) = RecordLayout::of(record) else { return };
    let start = out.len();
    match standing {
        Standing::Primary { second, quality } => {
            out.extend_from_slice(&record[..layout.tags_start(record)]);
            out[start + QUALITY] = quality;
            layout.push_tags(record, out, second);
        }
        Standing::Unmapped => {
            out.extend_from_slice(&record[..layout.tags_start(record)]);
            layout.push_tags(record, out, None);
        }
        Standing::Secondary => {
            out.extend_from_slice(&record[..layout.letters]);
            demote(&mut out[start..], &layout);
            layout.push_tags(record, out, None);
        }
    }
    let size = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
}

/// Makes what stands before the letters that of a secondary record, which has none.
fn demote(record: &mut [u8], layout: &RecordLayout) {
    record[QUALITY] = 0;
    // SECONDARY is a bit of the second byte.
    record[FLAGS + 1] |= (SECONDARY >> 8) as u8;
    record[LETTERS..LETTERS + 4].fill(0);
    if layout.tag(b"CG").is_some() && layout.cigar < layout.letters {
        // What stands for the CIGAR says that all letters are clipped.
        let clip = Kind::Clip as u32;
        record[layout.cigar..layout.cigar + 4].copy_from_slice(&clip.to_le_bytes());
    }
}

impl RecordLayout {
    fn of(record: &[u8]) -> Option<RecordLayout> {
        let name = usize::from(*record.get(NAME_LEN)?);
        let operations = usize::from(u16::from_le_bytes(array(record, OPERATIONS)?));
        let len = u32::from_le_bytes(array(record, LETTERS)?) as usize;
        let cigar = NAME + name;
        let letters = cigar + 4 * operations;
        let mut at = letters.checked_add(len.div_ceil(2))?.checked_add(len)?;
        if at > record.len() {
            return None;
        }
        let mut tags = Vec::new();
        while at < record.len() {
            let tag = Tag::at(record, at)?;
            at = tag.range.end;
            tags.push(tag);
        }
        Some(RecordLayout { cigar, letters, tags })
    }

    /// The operations of the CIGAR by length and letter.
    fn operations<'a>(&self, record: &'a [u8]) -> Option<impl Iterator<Item = (u32, u8)> + use<'a>> {
        let cigar = match self.tag(b"CG") {
            // Name, kind, kind of the entries, their number.
            Some(tag) => record.get(tag.range.start + 8..tag.range.end)?,
            None => &record[self.cigar..self.letters],
        };
        Some(cigar.as_chunks::<4>().0.iter().map(|&operation| {
            let operation = u32::from_le_bytes(operation);
            (operation >> 4, b"MIDNSHP=X???????"[operation as usize & 15])
        }))
    }

    fn tag(&self, name: &[u8; 2]) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.name == *name)
    }

    fn tags_start(&self, record: &[u8]) -> usize {
        self.tags.first().map_or(record.len(), |tag| tag.range.start)
    }

    /// Appends all tags but those of a part, with this score of the second hit behind that of the record.
    fn push_tags(&self, record: &[u8], out: &mut Vec<u8>, second: Option<i32>) {
        for tag in self.tags.iter().filter(|tag| ![*b"XS", *b"YM", *b"YQ"].contains(&tag.name)) {
            out.extend_from_slice(&record[tag.range.clone()]);
            if let Some(second) = second.filter(|_| tag.name == *b"AS") {
                push_number(out, b"XS", i64::from(second));
            }
        }
    }
}

impl Tag {
    /// The tag that begins at `start`.
    fn at(record: &[u8], start: usize) -> Option<Tag> {
        let [first, second, kind] = array(record, start)?;
        let value = start + 3;
        let len = match kind {
            b'A' => 1,
            b'Z' => 1 + record.get(value..)?.iter().position(|&byte| byte == 0)?,
            b'B' => {
                let size = size_of_number(*record.get(value)?)?;
                let count = u32::from_le_bytes(array(record, value + 1)?) as usize;
                5 + size.checked_mul(count)?
            }
            kind => size_of_number(kind)?,
        };
        let end = value.checked_add(len).filter(|&end| end <= record.len())?;
        Some(Tag { name: [first, second], kind, range: start..end })
    }

    /// The text of a tag of text.
    fn text<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        let text = record.get(self.range.start + 3..self.range.end.checked_sub(1)?);
        text.filter(|_| self.kind == b'Z')
    }

    fn number(&self, record: &[u8]) -> Option<i32> {
        let at = self.range.start + 3;
        match self.kind {
            b'C' => Some(u8::from_le_bytes(array(record, at)?).into()),
            b'c' => Some(i8::from_le_bytes(array(record, at)?).into()),
            b'S' => Some(u16::from_le_bytes(array(record, at)?).into()),
            b's' => Some(i16::from_le_bytes(array(record, at)?).into()),
            b'I' => u32::from_le_bytes(array(record, at)?).try_into().ok(),
            b'i' => Some(i32::from_le_bytes(array(record, at)?)),
            _ => None,
        }
    }
}

/// Bytes of a number of this kind.
fn size_of_number(kind: u8) -> Option<usize> {
    match kind {
        b'C' | b'c' => Some(1),
        b'S' | b's' => Some(2),
        b'I' | b'i' | b'f' => Some(4),
        _ => None,
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
