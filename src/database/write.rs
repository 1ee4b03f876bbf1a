//! References written as a database.

use super::blocks::sums;
use super::format::{Header, SECTIONS, Section, SourceFile};
use crate::candidates::Index;
use crate::casts::{to_u8, to_usize};
use crate::error::Result;
use crate::reader::References;
use std::borrow::Cow;
use std::iter::repeat_n;

/// Gives `put` the bytes of a database of all `references`, with their titles. The same references, index and source make
/// the same bytes.
pub fn write(
    put: &mut dyn FnMut(&[u8]) -> Result<()>,
    references: &References,
    index: Option<&Index>,
    source: Option<SourceFile>,
) -> Result<()> {
    let sections = SECTIONS.map(|section| bytes(section, references, index));
    let header = Header {
        alphabet: references.alphabet,
        masks_lower_case: references.masks_lower_case,
        kmer: index.map_or(0, |index| to_u8(index.tables().0)),
        targets: references.names.len() as u64,
        letters: references.sequences.codes().len() as u64,
        source,
        entries: Default::default(),
        bytes: 0,
    };
    let mut header = header;
    for (entry, bytes) in header.entries.iter_mut().zip(&sections) {
        entry.sums = sums(bytes);
    }
    let header = header.place(sections.each_ref().map(|bytes| bytes.len() as u64));
    let fields = header.to_bytes();
    put(&fields)?;
    let mut written = fields.len() as u64;
    for (entry, bytes) in header.entries.iter().zip(&sections) {
        put(&repeat_n(0, to_usize(entry.offset - written)).collect::<Vec<u8>>())?;
        put(bytes)?;
        written = entry.offset + entry.len;
    }
    Ok(())
}

/// The bytes of a section.
fn bytes<'a>(section: Section, references: &'a References, index: Option<&'a Index>) -> Cow<'a, [u8]> {
    let References { names, titles, sequences, .. } = references;
    let (_, kmer_ends, places) = index.map_or((0, &[][..], &[][..]), Index::tables);
    match section {
        Section::NameEnds => ends(names.iter().map(String::len)),
        Section::Names => names.concat().into_bytes().into(),
        Section::TitleEnds => ends(titles.iter().map(String::len)),
        Section::Titles => titles.concat().into_bytes().into(),
        Section::Ends => ends(sequences.iter().map(<[u8]>::len)),
        Section::Codes => sequences.codes().into(),
        Section::KmerEnds => numbers(kmer_ends),
        Section::KmerPlaces => numbers(places),
    }
}

/// Where things of these lengths end.
fn ends(lengths: impl Iterator<Item = usize>) -> Cow<'static, [u8]> {
    let ends = lengths.scan(0u64, |end, len| {
        *end += len as u64;
        Some(*end)
    });
    ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>().into()
}

fn numbers(numbers: &[u32]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => bytemuck::cast_slice(numbers).into(),
        false => numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>().into(),
    }
}
