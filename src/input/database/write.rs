//! Writes references as a database.

use super::blocks::{BlockSums, sums};
use super::format::{BLOCK, DatabaseHeader, SECTIONS, Section, SourceFile};
use crate::align::candidates::KmerIndex;
use crate::input::reader::References;
use crate::terms::casts::{to_u8, to_usize};
use crate::terms::error::{Error, Result};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::iter::repeat_n;
use std::path::Path;

/// Codes stored in a separate file.
pub struct StoredCodes<'a> {
    pub file: &'a Path,
    pub sums: &'a BlockSums,
}

impl StoredCodes<'_> {
    /// Passes all codes to `put`, block by block.
    fn read(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let failed = |source| Error::io(self.file, source);
        let mut file = File::open(self.file).map_err(failed)?.take(self.sums.bytes());
        let mut block = Vec::with_capacity(BLOCK);
        let mut left = self.sums.bytes();
        while left > 0 {
            block.clear();
            let read = (&mut file).take(BLOCK as u64).read_to_end(&mut block).map_err(failed)?;
            if read == 0 {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            put(&block)?;
            left -= read as u64;
        }
        Ok(())
    }
}

/// Passes the bytes of a database of all `references`, with their titles, to `put`. The codes are those of the
/// references, or `stored` if the references have none. The same references, index and source produce the same bytes.
pub fn write(
    put: &mut dyn FnMut(&[u8]) -> Result<()>,
    references: &References,
    stored: Option<&StoredCodes>,
    index: Option<&KmerIndex>,
    source: Option<SourceFile>,
) -> Result<()> {
    let sections = SECTIONS.map(|section| bytes(section, references, index));
    let mut lengths = sections.each_ref().map(|bytes| bytes.len() as u64);
    let codes = Section::Codes as usize;
    lengths[codes] += stored.map_or(0, |stored| stored.sums.bytes());
    let shape = index.map(KmerIndex::shape);
    let header = DatabaseHeader {
        alphabet: references.alphabet,
        masks_lower_case: references.masks_lower_case,
        kmer: shape.map_or(0, |shape| to_u8(shape.letters)),
        step: shape.map_or(0, |shape| to_u8(if shape.step == 1 { 0 } else { shape.step })),
        targets: references.names.len() as u64,
        letters: lengths[codes],
        source,
        entries: Default::default(),
        bytes: 0,
    };
    let mut header = header;
    for (entry, bytes) in header.entries.iter_mut().zip(&sections) {
        entry.sums = sums(bytes);
    }
    if let Some(stored) = stored {
        header.entries[codes].sums = stored.sums.finish();
    }
    let header = header.place(lengths);
    let fields = header.to_bytes();
    put(&fields)?;
    let mut written = fields.len() as u64;
    for (section, (entry, bytes)) in header.entries.iter().zip(&sections).enumerate() {
        put(&repeat_n(0, to_usize(entry.offset - written)).collect::<Vec<u8>>())?;
        put(bytes)?;
        if let Some(stored) = stored.filter(|_| section == codes) {
            stored.read(put)?;
        }
        written = entry.offset + entry.len;
    }
    Ok(())
}

/// The bytes of a section.
fn bytes<'a>(section: Section, references: &'a References, index: Option<&'a KmerIndex>) -> Cow<'a, [u8]> {
    let References { names, titles, lengths, sequences, .. } = references;
    let [kmer_ends, places] = index.map_or([&[][..]; 2], KmerIndex::tables);
    match section {
        Section::NameEnds => ends(names.iter().map(String::len)),
        Section::Names => names.concat().into_bytes().into(),
        Section::TitleEnds => ends(titles.iter().map(String::len)),
        Section::Titles => titles.concat().into_bytes().into(),
        Section::Ends => ends(lengths.iter().map(|&len| len as usize)),
        Section::Codes => sequences.codes().into(),
        Section::KmerEnds => numbers(kmer_ends),
        Section::KmerPlaces => numbers(places),
    }
}

/// Exclusive ends of items with these lengths.
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
