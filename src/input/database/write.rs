//! Writes references as a database.

use super::blocks::{BlockSums, sums};
use super::format::{BLOCK, DatabaseHeader, SECTIONS, Section, SourceFile};
use crate::align::candidates::{IndexShape, KmerIndex};
use crate::input::reader::References;
use crate::terms::casts::{to_u8, to_usize};
use crate::terms::error::{Error, Result};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::iter::repeat_n;
use std::ops::Range;
use std::path::Path;

/// Bytes of a section that are stored in a separate file.
#[derive(Clone, Copy)]
pub struct StoredSection<'a> {
    pub file: &'a Path,
    pub sums: &'a BlockSums,
}

/// The k-mer index of a database that is written.
#[derive(Clone, Copy)]
pub enum WrittenIndex<'a> {
    InMemory(&'a KmerIndex),
    /// With the bases per segment, and the two tables.
    InFiles(IndexShape, usize, [StoredSection<'a>; 2]),
}

/// The bytes of a section.
enum SectionBytes<'a> {
    InMemory(Cow<'a, [u8]>),
    InFile(StoredSection<'a>),
}

impl SectionBytes<'_> {
    fn len(&self) -> u64 {
        match self {
            SectionBytes::InMemory(bytes) => bytes.len() as u64,
            SectionBytes::InFile(stored) => stored.sums.bytes(),
        }
    }

    /// Checksums of the blocks.
    fn sums(&self) -> Vec<u32> {
        match self {
            SectionBytes::InMemory(bytes) => sums(bytes),
            SectionBytes::InFile(stored) => stored.sums.finish(),
        }
    }

    fn put(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            SectionBytes::InMemory(bytes) => put(bytes),
            SectionBytes::InFile(stored) => stored.read(put),
        }
    }
}

impl StoredSection<'_> {
    /// The bytes at these positions.
    pub fn bytes(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let read = || {
            let mut file = File::open(self.file)?;
            file.seek(SeekFrom::Start(range.start as u64))?;
            let mut bytes = vec![0; range.len()];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|source| Error::io(self.file, source))
    }

    /// Passes all bytes to `put`, block by block.
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
    stored: Option<StoredSection>,
    index: Option<WrittenIndex>,
    source: Option<SourceFile>,
) -> Result<()> {
    let sections = SECTIONS.map(|section| bytes(section, references, (stored, index)));
    let lengths = sections.each_ref().map(SectionBytes::len);
    let letters = lengths[Section::Codes as usize];
    let (shape, segment) = match index {
        None => (None, 0),
        Some(WrittenIndex::InMemory(index)) => (Some(index.shape()), index.segment()),
        Some(WrittenIndex::InFiles(shape, segment, _)) => (Some(shape), segment),
    };
    let mut header = DatabaseHeader {
        alphabet: references.alphabet,
        masks_lower_case: references.masks_lower_case,
        kmer: shape.map_or(0, |shape| to_u8(shape.letters)),
        step: shape.map_or(0, |shape| to_u8(if shape.step == 1 { 0 } else { shape.step })),
        segment: if (segment as u64) < letters { segment as u64 } else { 0 },
        targets: references.names.len() as u64,
        letters,
        source,
        entries: Default::default(),
        bytes: 0,
    };
    for (entry, bytes) in header.entries.iter_mut().zip(&sections) {
        entry.sums = bytes.sums();
    }
    let header = header.place(lengths);
    let fields = header.to_bytes();
    put(&fields)?;
    let mut written = fields.len() as u64;
    for (entry, bytes) in header.entries.iter().zip(&sections) {
        put(&repeat_n(0, to_usize(entry.offset - written)).collect::<Vec<u8>>())?;
        bytes.put(put)?;
        written = entry.offset + entry.len;
    }
    Ok(())
}

/// The bytes of a section.
fn bytes<'a>(
    section: Section,
    references: &'a References,
    (stored, index): (Option<StoredSection<'a>>, Option<WrittenIndex<'a>>),
) -> SectionBytes<'a> {
    let References { names, titles, lengths, sequences, .. } = references;
    let table = |which: usize| match index {
        None => SectionBytes::InMemory(Cow::default()),
        Some(WrittenIndex::InMemory(index)) => {
            SectionBytes::InMemory(numbers(index.tables().map(|tables| tables[which]).collect()))
        }
        Some(WrittenIndex::InFiles(.., tables)) => SectionBytes::InFile(tables[which]),
    };
    let bytes = match section {
        Section::NameEnds => ends(names.iter().map(String::len)),
        Section::Names => names.concat().into_bytes().into(),
        Section::TitleEnds => ends(titles.iter().map(String::len)),
        Section::Titles => titles.concat().into_bytes().into(),
        Section::Ends => ends(lengths.iter().map(|&len| len as usize)),
        Section::Codes => match stored {
            Some(stored) => return SectionBytes::InFile(stored),
            None => sequences.codes().into(),
        },
        Section::KmerEnds => return table(0),
        Section::KmerPlaces => return table(1),
    };
    SectionBytes::InMemory(bytes)
}

/// Exclusive ends of items with these lengths.
fn ends(lengths: impl Iterator<Item = usize>) -> Cow<'static, [u8]> {
    let ends = lengths.scan(0u64, |end, len| {
        *end += len as u64;
        Some(*end)
    });
    ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>().into()
}

/// The bytes of tables, one after the other.
pub fn numbers(tables: Vec<&[u32]>) -> Cow<'_, [u8]> {
    match tables[..] {
        [table] if cfg!(target_endian = "little") => bytemuck::cast_slice(table).into(),
        _ => tables.concat().into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>().into(),
    }
}
