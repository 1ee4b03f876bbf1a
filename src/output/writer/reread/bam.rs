//! Reads BAM records, field by field (SAMv1 specification, 4.2).

use super::mates::{MateHit, MateTold, PathTold, is_copied};
use super::{QueryInPart, RecordHit, RecordKind, RecordTold, damaged, span};
use crate::output::writer::bam::push_number;
use crate::output::writer::in_part;
use crate::output::writer::line::{BamOp, REVERSE, SECONDARY, UNMAPPED};
use crate::output::writer::tags::EditTags;
use crate::terms::alignment::Strand;
use crate::terms::bam::{
    BASES, FLAGS, NAME, NAME_LEN, NO_QUALITY, OPERATION_CODES, QUALITY, QUALITY_OFFSET, RecordFields, START,
    Tag, array,
};
use crate::terms::casts::to_u32;
use std::io::{self, BufRead, Read};

/// The fields of a record, and its tags.
struct RecordLayout {
    fields: RecordFields,
    tags: Vec<Tag>,
}

/// Reads a record with its size into `bytes`; leaves it empty at the end of the input.
pub fn read(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    if input.fill_buf()?.is_empty() {
        return Ok(());
    }
    let mut size = [0; 4];
    input.read_exact(&mut size)?;
    bytes.extend_from_slice(&size);
    let size = u32::from_le_bytes(size) as usize;
    // The size may be damaged, so memory is allocated as bytes arrive.
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

/// Length of its SEQ.
pub fn letters(record: &[u8]) -> usize {
    array(record, BASES).map_or(0, |len| u32::from_le_bytes(len) as usize)
}

/// Decodes a record; `None` if no run of a part writes such a record.
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
    let score = layout.tag(b"AS").and_then(|tag| number(tag, record))?;
    let (target, _) = in_part::parse(layout.tag(b"YM")?.text(record)?)?;
    let (secondary, span) = (flags & SECONDARY != 0, span(layout.operations(record)?)?);
    Some(RecordTold { aligned: Some(RecordHit { score, strand, secondary, target, span }), of_query })
}

/// Decodes a record of a mate.
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
            let score = number(layout.tag(b"AS")?, record)?;
            let alignment = path.alignment(strand, (target, start), score)?;
            let edits = u32::try_from(number(layout.tag(b"NM")?, record)?).ok()?;
            let cs = match layout.tag(b"cs") {
                Some(tag) => tag.text(record)?.to_vec(),
                None => Vec::new(),
            };
            let differences = EditTags { edits, md: layout.tag(b"MD")?.text(record)?.to_vec(), cs };
            Some(MateHit { cigar: path.cigar, differences, ..MateHit::of(alignment, in_part) })
        }
    };
    let fields = layout.fields;
    let qualities = &record[fields.qualities..fields.tags];
    let is_known = qualities.iter().any(|&quality| quality != NO_QUALITY);
    let qualities = if is_known { qualities } else { &[] };
    let base_qualities = match layout.tag(b"ms") {
        Some(tag) => Some(number(tag, record)?.into()),
        None => None,
    };
    let read_group = match layout.tag(b"RG") {
        Some(tag) => Some(tag.text(record)?.to_vec()),
        None => None,
    };
    Some(MateTold {
        letters: fields.bases(record).collect(),
        qualities: qualities
            .iter()
            .map(|quality| quality.checked_add(QUALITY_OFFSET))
            .collect::<Option<_>>()?,
        base_qualities,
        read_group,
        copied: layout
            .tags
            .iter()
            .filter(|tag| is_copied(&tag.name))
            .flat_map(|tag| &record[tag.range.clone()])
            .copied()
            .collect(),
        hit,
    })
}

/// Appends a record in its new standing. [`told`] must have accepted it.
pub fn push(record: &[u8], out: &mut Vec<u8>, standing: RecordKind) {
    let Some(layout) = RecordLayout::of(record) else { return };
    let start = out.len();
    match standing {
        RecordKind::Primary { second, quality } => {
            out.extend_from_slice(&record[..layout.tags_start(record)]);
            out[start + QUALITY] = quality;
            layout.push_tags(record, out, second);
        }
        RecordKind::Unmapped => {
            out.extend_from_slice(&record[..layout.tags_start(record)]);
            layout.push_tags(record, out, None);
        }
        RecordKind::Secondary => {
            out.extend_from_slice(&record[..layout.fields.bases]);
            demote(&mut out[start..], &layout);
            layout.push_tags(record, out, None);
        }
    }
    let size = to_u32(out.len() - start - 4);
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
}

/// Converts the fields before SEQ to those of a secondary record, which has no SEQ.
fn demote(record: &mut [u8], layout: &RecordLayout) {
    record[QUALITY] = 0;
    // SECONDARY is a bit of the second byte.
    record[FLAGS + 1] |= (SECONDARY >> 8) as u8;
    record[BASES..BASES + 4].fill(0);
    if layout.tag(b"CG").is_some() && layout.fields.cigar < layout.fields.bases {
        // The placeholder CIGAR clips all bases of SEQ, of which none are left.
        let clip = BamOp::Clip as u32;
        record[layout.fields.cigar..layout.fields.cigar + 4].copy_from_slice(&clip.to_le_bytes());
    }
}

/// The value of an integer tag, if it fits the type of records.
fn number(tag: &Tag, record: &[u8]) -> Option<i32> {
    i32::try_from(tag.number(record)?).ok()
}

impl RecordLayout {
    fn of(record: &[u8]) -> Option<RecordLayout> {
        let fields = RecordFields::of(record)?;
        let (mut at, mut tags) = (fields.tags, Vec::new());
        while at < record.len() {
            let tag = Tag::at(record, at)?;
            at = tag.range.end;
            tags.push(tag);
        }
        Some(RecordLayout { fields, tags })
    }

    /// The lengths and characters of the CIGAR's operations.
    fn operations<'a>(&self, record: &'a [u8]) -> Option<impl Iterator<Item = (u32, u8)> + use<'a>> {
        let cigar = match self.tag(b"CG") {
            // Name, type, type of the entries, number of entries.
            Some(tag) => record.get(tag.range.start + 8..tag.range.end)?,
            None => &record[self.fields.cigar..self.fields.bases],
        };
        Some(cigar.as_chunks::<4>().0.iter().map(|&operation| {
            let operation = u32::from_le_bytes(operation);
            (operation >> 4, OPERATION_CODES[operation as usize & 15])
        }))
    }

    fn tag(&self, name: &[u8; 2]) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.name == *name)
    }

    fn tags_start(&self, record: &[u8]) -> usize {
        self.tags.first().map_or(record.len(), |tag| tag.range.start)
    }

    /// Appends all tags except those of a part, and inserts `second`, the score of the second hit, after the record's
    /// score.
    fn push_tags(&self, record: &[u8], out: &mut Vec<u8>, second: Option<i32>) {
        for tag in self.tags.iter().filter(|tag| ![*b"XS", *b"YM", *b"YQ"].contains(&tag.name)) {
            out.extend_from_slice(&record[tag.range.clone()]);
            if let Some(second) = second.filter(|_| tag.name == *b"AS") {
                push_number(out, b"XS", i64::from(second));
            }
        }
    }
}
