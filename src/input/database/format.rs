//! The header of a database file: the sections, their positions, and their checksums. All numbers are little-endian.

use crate::align::candidates::{IndexShape, MOST_IN_SEGMENT};
use crate::input::reader::DATABASE;
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::{to_i64, to_u32};
use std::mem::size_of;
use std::time::{Duration, SystemTime};

/// Version of the format, and that of databases whose index has several segments.
pub const VERSION: u32 = 1;
pub const SEGMENTED: u32 = 2;
/// Byte-order mark: in a file with reversed bytes, it reads as another number.
const ORDER: u32 = 0x0102_0304;
/// Bytes per block; each block has its own checksum.
pub const BLOCK: usize = 1 << 20;
/// Sections begin at multiples of this.
const ALIGNMENT: u64 = 64;
/// Bytes of the header's fields, and bytes per entry of its table.
const FIXED: usize = 92;
const ENTRY: usize = 16;
/// Bytes of the header's checksum, which is at its end.
const SUM: usize = size_of::<u32>();
/// The number of each alphabet in the header.
const ALPHABETS: [(u8, Alphabet); 2] = [(0, Alphabet::Dna), (1, Alphabet::Protein)];

/// The sections, in the order of the table and of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// For each name, the exclusive end of its bytes in `Names`; `TitleEnds` and `Ends` are the same for titles and for
    /// sequences.
    NameEnds,
    Names,
    TitleEnds,
    /// Whole header lines.
    Titles,
    Ends,
    /// One byte per residue.
    Codes,
    /// For each k-mer the end of its positions, and the positions; those of all segments of the index, one after the other.
    KmerEnds,
    KmerPlaces,
}

pub const SECTIONS: [Section; 8] = [
    Section::NameEnds,
    Section::Names,
    Section::TitleEnds,
    Section::Titles,
    Section::Ends,
    Section::Codes,
    Section::KmerEnds,
    Section::KmerPlaces,
];

/// Why bytes are no database that this version reads, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    pub problem: String,
    pub remedy: &'static str,
}

/// The remedy for damage.
pub const MAKE_AGAIN: &str = "copy it again, or rebuild it with `swalign index`";

impl FormatError {
    pub fn damage(problem: impl Into<String>) -> FormatError {
        FormatError { problem: problem.into(), remedy: MAKE_AGAIN }
    }
}

/// The file that a database was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name if it was in the folder of the database, otherwise its path.
    pub path: String,
    pub len: u64,
    /// Time of its last modification: seconds since 1970, and nanoseconds.
    pub time: (i64, u32),
    /// CRC-32 of its bytes.
    pub sum: u32,
}

impl SourceFile {
    /// A time in the form that is written.
    pub fn time_of(time: SystemTime) -> (i64, u32) {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (to_i64(since.as_secs()), since.subsec_nanos()),
            Err(before) => {
                let before: Duration = before.duration();
                (-to_i64(before.as_secs()), before.subsec_nanos())
            }
        }
    }
}

/// Offset and length of a section in bytes, and the CRC-32 of each of its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionEntry {
    pub offset: u64,
    pub len: u64,
    pub sums: Vec<u32>,
}

/// The decoded header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseHeader {
    pub alphabet: Alphabet,
    pub masks_lower_case: bool,
    /// The k of the k-mer index; 0 if there is none.
    pub kmer: u8,
    /// Distance of the positions whose k-mers the index has; 0 if it has those of all positions.
    pub step: u8,
    /// Bases per segment of the index if it has several segments; otherwise 0.
    pub segment: u64,
    pub targets: u64,
    pub letters: u64,
    /// `None` if the references came from a stream.
    pub source: Option<SourceFile>,
    /// Indexed by [`Section`].
    pub entries: [SectionEntry; SECTIONS.len()],
    /// Size of the whole file.
    pub bytes: u64,
}

impl DatabaseHeader {
    /// Number of bytes that [`DatabaseHeader::glance`] needs.
    pub const GLANCE: usize = 56;

    /// Alphabet and number of residues of a file that begins with these bytes, unverified; `None` if it is no database
    /// of these versions.
    pub fn glance(bytes: &[u8]) -> Option<(Alphabet, u64)> {
        let mut fields = Fields(bytes.strip_prefix(&DATABASE)?);
        let is_known = fields.u32()? == ORDER && [VERSION, SEGMENTED].contains(&fields.u32()?);
        let rest = Fields(bytes.get(36..DatabaseHeader::GLANCE)?);
        let (_, alphabet) = ALPHABETS.into_iter().find(|(number, _)| *number == rest.0[0])?;
        let letters = Fields(&rest.0[12..]).u64()?;
        is_known.then_some((alphabet, letters))
    }

    /// Assigns file offsets to the sections, given their lengths in bytes. Their checksums must be set already.
    pub fn place(mut self, lengths: [u64; SECTIONS.len()]) -> DatabaseHeader {
        let mut end = self.len() as u64;
        for (entry, len) in self.entries.iter_mut().zip(lengths) {
            let offset = end.next_multiple_of(ALIGNMENT);
            (entry.offset, entry.len, end) = (offset, len, offset + len);
        }
        self.bytes = end;
        self
    }

    pub fn entry(&self, section: Section) -> &SectionEntry {
        &self.entries[section as usize]
    }

    /// Length of the header in bytes.
    fn len(&self) -> usize {
        let sums: usize = self.entries.iter().map(|entry| entry.sums.len()).sum();
        let segment = if self.segment > 0 { size_of::<u64>() } else { 0 };
        FIXED + self.path().len() + SECTIONS.len() * ENTRY + sums * SUM + segment + SUM
    }

    fn version(&self) -> u32 {
        if self.segment > 0 { SEGMENTED } else { VERSION }
    }

    fn path(&self) -> &str {
        self.source.as_ref().map_or("", |source| &source.path)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        let alphabet = ALPHABETS.iter().find(|(_, alphabet)| *alphabet == self.alphabet);
        let nothing = SourceFile { path: String::new(), len: 0, time: (0, 0), sum: 0 };
        let source = self.source.as_ref().unwrap_or(&nothing);
        out.extend(DATABASE);
        out.extend(ORDER.to_le_bytes());
        out.extend(self.version().to_le_bytes());
        out.extend((self.len() as u64).to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(to_u32(BLOCK).to_le_bytes());
        out.extend([
            alphabet.map_or(0, |(number, _)| *number),
            self.masks_lower_case.into(),
            self.kmer,
            self.step,
        ]);
        out.extend(self.targets.to_le_bytes());
        out.extend(self.letters.to_le_bytes());
        out.extend(source.len.to_le_bytes());
        out.extend(source.time.0.to_le_bytes());
        out.extend(source.time.1.to_le_bytes());
        out.extend(source.sum.to_le_bytes());
        out.extend(to_u32(source.path.len()).to_le_bytes());
        out.extend((SECTIONS.len() as u64).to_le_bytes());
        out.extend(source.path.as_bytes());
        for entry in &self.entries {
            out.extend(entry.offset.to_le_bytes());
            out.extend(entry.len.to_le_bytes());
        }
        let sums = self.entries.iter().flat_map(|entry| &entry.sums);
        sums.for_each(|sum| out.extend(sum.to_le_bytes()));
        if self.segment > 0 {
            out.extend(self.segment.to_le_bytes());
        }
        let sum = crc32fast::hash(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads the header of a file with these bytes.
    pub fn read(bytes: &[u8]) -> Result<DatabaseHeader, FormatError> {
        let all = bytes;
        let mut fields = Fields(bytes);
        let cut = || FormatError::damage(format!("the file is truncated: it has {} bytes", all.len()));
        if fields.take(DATABASE.len()).ok_or_else(cut)? != DATABASE {
            return Err(FormatError {
                problem: "this is not a database of swalign, or its first bytes are damaged".to_string(),
                remedy: "give a database of `swalign index`, or FASTA",
            });
        }
        let (order, version) = (fields.u32().ok_or_else(cut)?, fields.u32().ok_or_else(cut)?);
        check_version(order, version)?;
        let len = fields.u64().ok_or_else(cut)?;
        let header = usize::try_from(len).ok().filter(|&len| len >= FIXED + SUM);
        let header =
            header.ok_or_else(|| FormatError::damage("the header is damaged: its length is invalid"))?;
        let header = all.get(..header).ok_or_else(cut)?;
        let (sound, sum) = header.split_at(header.len() - SUM);
        if crc32fast::hash(sound).to_le_bytes() != sum {
            return Err(FormatError::damage("the header is damaged: its checksum does not match"));
        }
        let wrong = || FormatError::damage("the header is damaged: it is inconsistent");
        let header =
            DatabaseHeader::of_fields(version, Fields(&sound[DATABASE.len() + 16..])).ok_or_else(wrong)?;
        match header.bytes.cmp(&(all.len() as u64)) {
            std::cmp::Ordering::Equal if header.is_sound(len) => Ok(header),
            std::cmp::Ordering::Equal => Err(wrong()),
            std::cmp::Ordering::Greater => {
                let problem =
                    format!("the file is truncated: it has {} of {} bytes", all.len(), header.bytes);
                Err(FormatError::damage(problem))
            }
            std::cmp::Ordering::Less => Err(FormatError::damage(format!(
                "the file has {} extra bytes at its end",
                all.len() as u64 - header.bytes
            ))),
        }
    }

    /// Decodes the fields after the header's length.
    fn of_fields(version: u32, mut fields: Fields) -> Option<DatabaseHeader> {
        let bytes = fields.u64()?;
        let has_blocks = fields.u32()? == to_u32(BLOCK);
        let &[alphabet, masks, kmer, step] = fields.take(4)? else { return None };
        let (_, alphabet) = ALPHABETS.into_iter().find(|(number, _)| *number == alphabet)?;
        let (targets, letters) = (fields.u64()?, fields.u64()?);
        let (len, time, nanos, sum) =
            (fields.u64()?, fields.u64()?.cast_signed(), fields.u32()?, fields.u32()?);
        let path = fields.u32()? as usize;
        let has_sections = fields.u64()? == SECTIONS.len() as u64;
        let path = String::from_utf8(fields.take(path)?.to_vec()).ok()?;
        if !has_blocks || !has_sections || masks > 1 || step == 1 || (step > 0 && kmer == 0) {
            return None;
        }
        let mut entries: [SectionEntry; SECTIONS.len()] = Default::default();
        for entry in &mut entries {
            (entry.offset, entry.len) = (fields.u64()?, fields.u64()?);
        }
        for entry in &mut entries {
            let blocks = usize::try_from(entry.len.div_ceil(BLOCK as u64)).ok()?;
            let sums = fields.take(blocks.checked_mul(SUM)?)?.chunks_exact(SUM);
            entry.sums = sums.filter_map(|sum| Some(u32::from_le_bytes(sum.try_into().ok()?))).collect();
        }
        let segment = if version == SEGMENTED { fields.u64()? } else { 0 };
        let source = (!path.is_empty()).then_some(SourceFile { path, len, time: (time, nanos), sum });
        let masks_lower_case = masks == 1;
        let header = DatabaseHeader {
            alphabet,
            masks_lower_case,
            kmer,
            step,
            segment,
            targets,
            letters,
            source,
            entries,
            bytes,
        };
        (fields.0.is_empty() && header.version() == version).then_some(header)
    }

    /// Bases per segment of the index.
    pub fn segment(&self) -> u64 {
        if self.segment > 0 { self.segment } else { self.letters }
    }

    /// The shape of the k-mer index; `None` if there is no index.
    pub fn shape(&self) -> Option<IndexShape> {
        let shape = IndexShape { letters: self.kmer.into(), step: self.step.max(1).into() };
        (self.kmer > 0).then_some(shape)
    }

    /// Whether the sections follow one another between a header of `len` bytes and the end of the file, with consistent
    /// lengths.
    fn is_sound(&self, len: u64) -> bool {
        let mut end = len;
        let in_order = self.entries.iter().all(|entry| {
            let begins = entry.offset.is_multiple_of(ALIGNMENT) && entry.offset >= end;
            let next = entry.offset.checked_add(entry.len).filter(|&next| begins && next <= self.bytes);
            end = next.unwrap_or(end);
            next.is_some()
        });
        let len = |section| self.entry(section).len;
        let of_targets = self.targets.checked_mul(size_of::<u64>() as u64);
        let per_target = [Section::NameEnds, Section::TitleEnds, Section::Ends];
        let kmers = if self.kmer == 0 { 0 } else { 4u64.checked_pow(self.kmer.into()).unwrap_or(u64::MAX) };
        let step = u64::from(self.step);
        let (kmers, are_segments) = match self.segment {
            0 => (Some(kmers), true),
            segment => {
                let is_possible = segment < self.letters && segment <= MOST_IN_SEGMENT as u64;
                let segments = self.letters.div_ceil(segment);
                (kmers.checked_mul(segments), is_possible && step > 0 && segment.is_multiple_of(step))
            }
        };
        in_order
            && per_target.into_iter().all(|section| Some(len(section)) == of_targets)
            && len(Section::Codes) == self.letters
            && are_segments
            && Some(len(Section::KmerEnds))
                == kmers.and_then(|kmers| kmers.checked_mul(size_of::<u32>() as u64))
            && len(Section::KmerPlaces).is_multiple_of(size_of::<u32>() as u64)
            && (self.kmer > 0 || len(Section::KmerPlaces) == 0)
    }
}

/// Returns an error for files of another version, or with reversed byte order.
fn check_version(order: u32, version: u32) -> Result<(), FormatError> {
    if order == ORDER.swap_bytes() {
        return Err(FormatError::damage("the file is big-endian, but databases are little-endian"));
    }
    if order != ORDER {
        return Err(FormatError::damage("the header is damaged: its byte order mark is invalid"));
    }
    if ![VERSION, SEGMENTED].contains(&version) {
        let problem = format!(
            "the database has version {version}, but this swalign reads versions {VERSION} and {SEGMENTED}"
        );
        let remedy = "rebuild it with this version of `swalign index`, or use the version that built it";
        return Err(FormatError { problem, remedy });
    }
    Ok(())
}

/// Reads consecutive numbers.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(size_of::<u32>())?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(size_of::<u64>())?.try_into().ok()?))
    }
}
