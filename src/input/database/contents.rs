//! Decodes the bytes of a database. The parts that every run needs are verified at once, residues and k-mers on first
//! use.

use super::blocks::SectionBlocks;
use super::format::{BLOCK, DatabaseHeader, FormatError, SECTIONS, Section};
use crate::align::candidates::{KmerIndex, KmerSegment};
use crate::input::reader::MAX_REFERENCES;
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::{to_u8, to_usize};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum length of a reference in residues, as in SAM.
const MOST_LETTERS: usize = i32::MAX as usize;

/// A database in memory.
#[derive(Debug)]
pub struct Contents<'a> {
    header: DatabaseHeader,
    /// Indexed by [`Section`].
    sections: [SectionBlocks<'a>; SECTIONS.len()],
    letter_ends: Vec<usize>,
}

impl<'a> Contents<'a> {
    /// Reads everything except residues, k-mers, names and titles.
    pub fn read(bytes: &'a [u8]) -> Result<Contents<'a>, FormatError> {
        let header = DatabaseHeader::read(bytes)?;
        let sections = SECTIONS.map(|section| {
            let entry = header.entry(section);
            // The header guarantees that the section is inside the file.
            let own = &bytes[to_usize(entry.offset)..to_usize(entry.offset + entry.len)];
            SectionBlocks::new(own, &entry.sums)
        });
        let mut contents = Contents { header, sections, letter_ends: Vec::new() };
        contents.letter_ends = contents.ends(Section::Ends, contents.header.letters)?;
        let starts = [0].iter().chain(&contents.letter_ends);
        let has_length = |(start, end): (&usize, &usize)| (1..=MOST_LETTERS).contains(&(end - start));
        match starts.zip(&contents.letter_ends).all(has_length) {
            true if contents.letter_ends.len() <= MAX_REFERENCES => Ok(contents),
            true => Err(FormatError {
                problem: format!("the database has more than {MAX_REFERENCES} references"),
                remedy: "split the references",
            }),
            false => Err(FormatError::damage("a reference is empty or too long")),
        }
    }

    pub fn alphabet(&self) -> Alphabet {
        self.header.alphabet
    }

    pub fn header(&self) -> &DatabaseHeader {
        &self.header
    }

    /// Exclusive end of each reference in the concatenated residues.
    pub fn letter_ends(&self) -> &[usize] {
        &self.letter_ends
    }

    /// Names: the first word of each header line.
    pub fn names(&self) -> Result<Vec<String>, FormatError> {
        let is_name = |byte: &u8| !byte.is_ascii_whitespace();
        let names = self.texts(Section::NameEnds, Section::Names, is_name)?;
        match names.par_iter().all(|name| !name.is_empty()) {
            true => Ok(names),
            false => Err(FormatError::damage("a reference has no name")),
        }
    }

    /// Titles: the whole header lines.
    pub fn titles(&self) -> Result<Vec<String>, FormatError> {
        self.texts(Section::TitleEnds, Section::Titles, |byte| !b"\n\r\t".contains(byte))
    }

    /// Codes of all residues. Codes that were not verified may have any value.
    pub fn codes(&self) -> &'a [u8] {
        self.section(Section::Codes).bytes()
    }

    /// Verifies codes: their blocks match their checksums and contain only codes of the alphabet.
    pub fn prove_codes(&self, places: Range<usize>) -> Result<(), FormatError> {
        let letters = to_u8(self.header.alphabet.letters().len());
        // Without an early exit, so that the loop vectorizes.
        let are_codes = |codes: &[u8]| codes.iter().fold(0, |most, &code| most.max(code)) < letters;
        let damaged = |block| FormatError::damage(format!("block {block} of the sequences is damaged"));
        self.section(Section::Codes).prove(places, are_codes).map_err(damaged)
    }

    /// The segments of the k-mer index, verified; `None` if there is no index.
    fn segments(&self) -> Result<Option<Vec<KmerSegment<'a>>>, FormatError> {
        let Some(shape) = self.header.shape() else { return Ok(None) };
        let tables = [numbers(self.prove(Section::KmerEnds)?), numbers(self.prove(Section::KmerPlaces)?)];
        let segment = to_usize(self.header.segment());
        let segments = KmerSegment::of_tables((shape, segment), tables, self.codes().len());
        let wrong = || FormatError::damage("the k-mer index is inconsistent");
        segments.map(Some).ok_or_else(wrong)
    }

    /// Verifies everything that a run may read.
    pub fn prove_all(&self) -> Result<(), FormatError> {
        self.prove_codes(0..self.codes().len())?;
        self.segments()?;
        self.titles()?;
        self.names().map(drop)
    }

    /// Verifies a whole section.
    fn prove(&self, section: Section) -> Result<&'a [u8], FormatError> {
        let blocks = self.section(section);
        let damaged = |block| {
            FormatError::damage(format!("block {block} of section {} is damaged", section as usize + 1))
        };
        blocks.prove(0..blocks.bytes().len(), |_| true).map_err(damaged)?;
        Ok(blocks.bytes())
    }

    fn section(&self, section: Section) -> &SectionBlocks<'a> {
        &self.sections[section as usize]
    }

    /// The exclusive ends of items with a total length of `total`.
    fn ends(&self, section: Section, total: u64) -> Result<Vec<usize>, FormatError> {
        let bytes = self.prove(section)?;
        let wrong =
            || FormatError::damage(format!("section {} does not match the header", section as usize + 1));
        let end = |bytes: &[u8]| usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok();
        let ends: Option<Vec<usize>> = bytes.par_chunks(size_of::<u64>()).map(end).collect();
        let ends = ends.ok_or_else(wrong)?;
        let ascend = ends.par_windows(2).all(|two| two[0] <= two[1]);
        let last = ends.last().map_or(0, |&last| last as u64);
        if ascend && last == total { Ok(ends) } else { Err(wrong()) }
    }

    /// Texts whose bytes must all satisfy `takes`.
    fn texts(
        &self,
        ends: Section,
        texts: Section,
        takes: impl Fn(&u8) -> bool + Sync,
    ) -> Result<Vec<String>, FormatError> {
        let ends = self.ends(ends, self.header.entry(texts).len)?;
        let bytes = self.prove(texts)?;
        let wrong = || FormatError::damage("a name or header line is not a line of UTF-8");
        // Without an early exit, so that the loop vectorizes.
        let are_taken = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & takes(byte));
        let all = str::from_utf8(bytes)
            .ok()
            .filter(|_| bytes.par_chunks(BLOCK).all(are_taken))
            .ok_or_else(wrong)?;
        let text = |place: usize| {
            let start = if place == 0 { 0 } else { ends[place - 1] };
            all.get(start..ends[place]).map(str::to_string)
        };
        let texts: Option<Vec<String>> = (0..ends.len()).into_par_iter().map(text).collect();
        texts.ok_or_else(wrong)
    }
}

impl Contents<'static> {
    /// The k-mer index, verified; `None` if there is none.
    pub fn index(&self) -> Result<Option<KmerIndex>, FormatError> {
        let segments = self.header.shape().zip(self.segments()?);
        let segment = to_usize(self.header.segment());
        Ok(segments.map(|(shape, segments)| KmerIndex::of_segments(shape, segment, segments)))
    }
}

/// Four-byte numbers, borrowed if alignment and byte order allow it, otherwise copied.
fn numbers(bytes: &[u8]) -> Cow<'_, [u32]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(numbers) if cfg!(target_endian = "little") => Cow::Borrowed(numbers),
        _ => {
            let number = |four: &[u8]| four.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte));
            Cow::Owned(bytes.par_chunks_exact(size_of::<u32>()).map(number).collect())
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
