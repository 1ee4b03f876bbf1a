//! The file of a part of the references, from which a merge writes the output of the whole run.
//!
//! ```text
//! header    magic, version, the writer of the whole run, the rules by which a merge chooses hits
//! queries   each: its number of bytes in 8 bytes, then
//!           the record, the least score of a further hit, the score of the second hit, the tier
//!           hits: the alignment, its role in pairs of mates, the target's name, title and length, and the codes of
//!           the target's residues that it aligns
//! ```
//!
//! Only the first part has the residues, qualities and tags of queries; the other parts have their names. The header and
//! the queries consist of BGZF blocks, whose checksums detect damage. All parts of a run have the same header.

mod fields;
pub(super) mod stored;

use super::frame::damaged;
use super::list::RankedBy;
use super::targets::{HitTarget, HitTargets, StoredTarget, TargetLabel};
use super::{Writer, bgzf};
use crate::input::reader::FileRecord;
use crate::terms::alignment::{Alignment, InPart, QueryResult, Tier};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_u32;
use crate::terms::error::Result;
use crate::terms::insert::InsertSize;
use crate::terms::options::{HitLimits, IdentityDefinition, Share};
use noodles_bgzf::io::Reader;
use std::borrow::Cow;
use std::io::{self, BufReader, Read};
use stored::{Stored, put_list};

/// The first bytes of a part.
const MAGIC: &[u8] = b"swalign part\n";
/// Increased with each change of the format.
const VERSION: u32 = 1;

/// The header of a part.
pub struct PartHeader {
    /// The writer of the whole run. It has no targets.
    pub writer: Writer,
    pub selection: HitSelection,
}

/// How a merge chooses among the hits of all parts.
#[derive(Clone, Debug, PartialEq)]
pub struct HitSelection {
    /// Minimum score of a hit, and of a hit of the second tier.
    pub min_score: i32,
    pub anchored_score: i32,
    /// Minimum score of a further hit relative to the best score, in millionths.
    pub secondary_ppm: i64,
    pub limits: HitLimits,
    pub ranked: RankedBy,
    pub identity: IdentityDefinition,
    /// The insert size of mates; `None` for single reads.
    pub insert: Option<InsertSize>,
}

/// The reason why a header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    Damaged,
    /// It has another version of the format.
    Version,
}

/// A query and its hits in the references of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartQuery {
    /// Without residues, qualities and tags in all parts but the first.
    pub record: FileRecord,
    /// As in [`QueryResult`].
    pub threshold: i32,
    pub second: Option<i32>,
    pub tier: Tier,
    pub hits: Vec<PartHit>,
}

/// A hit in a part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartHit {
    /// Its target is the index among all references.
    pub alignment: Alignment,
    pub in_part: InPart,
    pub target: StoredTarget,
}

impl Writer {
    /// The writer of a part of the references, for the writer of the whole run.
    pub fn of_part(self, part: Share, selection: &HitSelection) -> Result<Writer> {
        let mut header = MAGIC.to_vec();
        VERSION.put(&mut header);
        self.put(&mut header);
        selection.put(&mut header);
        let header = vec![bgzf::pack(&header)?];
        Ok(Writer {
            in_blocks: true,
            sort: None,
            header,
            header_without_hits: None,
            part: Some(part),
            ..self
        })
    }
}

impl PartHeader {
    /// Reads a header from its blocks.
    pub fn read(blocks: &[u8]) -> Result<PartHeader, HeaderFault> {
        let mut header = Vec::new();
        Reader::new(blocks).read_to_end(&mut header).map_err(|_| HeaderFault::Damaged)?;
        PartHeader::parse(&header)
    }

    fn parse(header: &[u8]) -> Result<PartHeader, HeaderFault> {
        let mut bytes = header.strip_prefix(MAGIC).ok_or(HeaderFault::Damaged)?;
        if u32::take(&mut bytes).ok_or(HeaderFault::Damaged)? != VERSION {
            return Err(HeaderFault::Version);
        }
        let header = Writer::take(&mut bytes).zip(HitSelection::take(&mut bytes));
        let (writer, selection) = header.filter(|_| bytes.is_empty()).ok_or(HeaderFault::Damaged)?;
        Ok(PartHeader { writer, selection })
    }
}

/// Appends a query and its hits. `part` is the part of the references that has the targets.
pub(super) fn push(
    out: &mut Vec<u8>,
    part: Share,
    record: &FileRecord,
    found: &QueryResult,
    targets: &HitTargets,
) {
    let size = out.len();
    out.extend_from_slice(&[0; 8]);
    let record = match part.number {
        1 => Cow::Borrowed(record),
        _ => Cow::Owned(FileRecord {
            number: record.number,
            name: record.name.clone(),
            ..FileRecord::default()
        }),
    };
    record.put(out);
    let QueryResult { alignments, second, threshold, tier, in_part, .. } = found;
    threshold.put(out);
    second.put(out);
    tier.put(out);
    alignments.len().put(out);
    for (at, hit) in alignments.iter().enumerate() {
        let HitTarget { number, name, title, len, aligned } = targets.of(hit);
        Alignment { target: to_u32(number), ..hit.clone() }.put(out);
        // Only hits of mates have roles.
        in_part.get(at).unwrap_or(&InPart::Hit { beside: None }).put(out);
        put_list(name.as_bytes(), out);
        put_list(title.as_bytes(), out);
        len.put(out);
        put_list(aligned, out);
    }
    let bytes = (out.len() - size - 8) as u64;
    out[size..size + 8].copy_from_slice(&bytes.to_le_bytes());
}

/// Reads the queries of a part, each as its bytes.
pub struct PartReader<R: Read> {
    input: Reader<BufReader<R>>,
}

impl<R: Read> PartReader<R> {
    /// Reads from `bytes`, a part without its header and its end.
    pub fn new(bytes: R) -> PartReader<R> {
        PartReader { input: Reader::new(BufReader::new(bytes)) }
    }

    /// The bytes of the next query; `None` at the end.
    pub fn next_query(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut size = Vec::with_capacity(8);
        (&mut self.input).take(8).read_to_end(&mut size)?;
        if size.is_empty() {
            return Ok(None);
        }
        let size = u64::from_le_bytes(size.try_into().map_err(|_| damaged())?);
        let mut query = Vec::new();
        // The size may be damaged, so memory is allocated as bytes arrive.
        let read = (&mut self.input).take(size).read_to_end(&mut query)?;
        if read as u64 == size { Ok(Some(query)) } else { Err(damaged()) }
    }
}

impl PartQuery {
    /// Parses the bytes of a query. `None` if no run writes them.
    pub fn parse(mut bytes: &[u8], alphabet: Alphabet) -> Option<PartQuery> {
        let bytes = &mut bytes;
        let record = FileRecord::take(bytes)?;
        let (threshold, second, tier) = (i32::take(bytes)?, Stored::take(bytes)?, Tier::take(bytes)?);
        let count = usize::take(bytes)?;
        let hits = (0..count).map(|_| PartHit::take(bytes, alphabet)).collect::<Option<_>>()?;
        bytes.is_empty().then_some(PartQuery { record, threshold, second, tier, hits })
    }
}

impl PartHit {
    fn take(bytes: &mut &[u8], alphabet: Alphabet) -> Option<PartHit> {
        let (alignment, in_part) = (Alignment::take(bytes)?, InPart::take(bytes)?);
        let target = StoredTarget { label: TargetLabel::take(bytes)?, aligned: Vec::take(bytes)? };
        let span = alignment.target_end - alignment.target_start;
        let is_sound = alignment.target_end <= target.label.len
            && target.aligned.len() == span as usize
            && target.aligned.iter().all(|&code| usize::from(code) < alphabet.letters().len());
        is_sound.then_some(PartHit { alignment, in_part, target })
    }
}
