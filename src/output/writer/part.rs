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
/// Memory of a merge for sorting records, in bytes.
const SORT_MEMORY: usize = 256 << 20;

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
        // Parts may have different memory for sorting, but must have the same header.
        let whole = Writer { sort: self.sort.map(|_| SORT_MEMORY), ..self };
        whole.put(&mut header);
        selection.put(&mut header);
        let header = vec![bgzf::pack(&header)?];
        Ok(Writer {
            in_blocks: true,
            sort: None,
            header,
            header_without_hits: None,
            part: Some(part),
            ..whole
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
        let HitTarget { number, name, title, len, aligned, .. } = targets.of(hit);
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

    /// Whether all hits are within a query of `len` residues.
    pub fn fits(&self, len: usize) -> bool {
        self.hits.iter().all(|hit| hit.alignment.query_end as usize <= len)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::writer::targets::StoredTargets;
    use crate::output::writer::tests::{at, group, options, read, writer_of_mates};
    use crate::terms::alignment::{Mated, PathOp, Strand};
    use crate::terms::insert::Orientation;
    use crate::terms::options::{
        Column, CsForm, Format, HitFormat, Options, OutputFormat, Rank, RankedOptions,
    };
    use crate::terms::scoring::Scoring;
    use smallvec::smallvec;

    const INSERT: InsertSize = InsertSize { orientation: Orientation::Fr, mean: 40, deviation: 100 };

    /// The writer of a run of mates, with most options.
    fn writer(format: OutputFormat, scoring: Scoring) -> Writer {
        let options = Options {
            format,
            eqx: true,
            cs: Some(CsForm::Long),
            read_group: Some(group("@RG\tID:g 1")),
            ranked: RankedOptions {
                columns: Column::parse("std,qseq,sseq,qcovs,slen,btop").unwrap(),
                ..RankedOptions::default()
            },
            ..options()
        };
        let target = "ACGTTGCAAC".repeat(10);
        writer_of_mates(&options, scoring, &[("s", "ACGT"), ("t", &target)], Some(INSERT)).unwrap()
    }

    fn selection() -> HitSelection {
        HitSelection {
            min_score: 20,
            anchored_score: 30,
            secondary_ppm: 800_000,
            limits: HitLimits { identity: 97.5, keeps_ties: true, ..HitLimits::records(3) },
            ranked: RankedBy { rank: Rank::Identity, significance: None },
            identity: IdentityDefinition::Longer,
            insert: Some(INSERT),
        }
    }

    /// Two mates and their hits on the second target.
    fn mates() -> (Vec<FileRecord>, Vec<QueryResult>) {
        use PathOp::{Deletion, Insertion, Match};
        let hits = [
            vec![
                at(Strand::Forward, 2, 5, smallvec![(5, Match), (1, Insertion), (3, Match), (2, Deletion)]),
                at(Strand::Reverse, 0, 5, smallvec![(11, Match)]),
            ],
            vec![at(Strand::Reverse, 1, 30, smallvec![(4, Match), (1, Deletion), (6, Match)])],
        ];
        let found = hits.into_iter().enumerate().map(|(mate, mut alignments)| {
            alignments.iter_mut().for_each(|hit| hit.target = 1);
            QueryResult {
                in_part: vec![InPart::Hit { beside: Some(0) }, InPart::Rescued][..alignments.len()].to_vec(),
                alignments,
                second: [None, Some(26)][mate],
                threshold: 24,
                tier: [Tier::Proven, Tier::Anchored][mate],
                quality: Some(7),
                mated: Some(Mated { is_first: mate == 0, insert: None }),
                ..QueryResult::default()
            }
        });
        let reads = [read("q", "GCAACACGTTGCA", Some("IIIIIIIIIII#~")), read("q", "TTGCAACGTTGCA", None)];
        let tagged = |(number, read)| FileRecord { number, tags: b"\tBC:Z:A".to_vec(), ..read };
        ((3..).zip(reads).map(tagged).collect(), found.collect())
    }

    /// The bytes of each query in a part.
    fn queries(part: &Writer) -> Vec<Vec<u8>> {
        let (records, found) = mates();
        let bytes = bgzf::pack(&part.records(&records, &found).unwrap()).unwrap();
        let mut reader = PartReader::new(&bytes[..]);
        std::iter::from_fn(|| reader.next_query().unwrap()).collect()
    }

    /// The output of the mates with the hits of parsed queries.
    fn written(writer: &mut Writer, queries: &[PartQuery]) -> Result<Vec<u8>> {
        let mut targets = StoredTargets::default();
        let hits = queries.iter().flat_map(|query| &query.hits);
        hits.for_each(|hit| targets.add(&hit.alignment, hit.target.clone()));
        writer.set_targets(targets);
        let mut found = mates().1;
        for (found, query) in found.iter_mut().zip(queries) {
            found.alignments = query.hits.iter().map(|hit| hit.alignment.clone()).collect();
        }
        writer.records(&queries.iter().map(|query| query.record.clone()).collect::<Vec<_>>(), &found)
    }

    const PART: Share = Share { number: 1, of: 2 };
    const FORMATS: [OutputFormat; 6] = [
        OutputFormat::Records(Format::Sam),
        OutputFormat::Records(Format::Bam),
        OutputFormat::Records(Format::Paf),
        OutputFormat::Hits(HitFormat::Tab),
        OutputFormat::Hits(HitFormat::Json),
        OutputFormat::Hits(HitFormat::Text),
    ];

    /// The writer in a header and the hits of a part give the output of the whole.
    #[test]
    fn the_restored_writer_writes_the_same() {
        let blosum = crate::terms::scoring::Matrix::named("BLOSUM62").unwrap();
        for (format, scoring) in FORMATS
            .map(|format| (format, Scoring::dna(2, 4, 4, 2)))
            .into_iter()
            .chain([(FORMATS[3], Scoring::matrix(Alphabet::Protein, blosum, 11, 1))])
        {
            let alphabet = scoring.alphabet;
            let whole = writer(format, scoring.clone());
            let (records, found) = mates();
            let expected = whole.records(&records, &found).unwrap();
            let header = whole.header().to_vec();
            let part = whole.of_part(PART, &selection()).unwrap();
            let restored = PartHeader::read(&part.header().concat()).ok().unwrap();
            assert_eq!(restored.selection, selection());
            let mut restored = restored.writer;
            assert_eq!(restored.header(), header);
            let parsed: Vec<PartQuery> =
                queries(&part).iter().map(|query| PartQuery::parse(query, alphabet).unwrap()).collect();
            for ((query, record), found) in parsed.iter().zip(&records).zip(&found) {
                assert_eq!(query.record, *record);
                assert_eq!(
                    (query.threshold, query.second, query.tier),
                    (found.threshold, found.second, found.tier)
                );
                let in_part: Vec<InPart> = query.hits.iter().map(|hit| hit.in_part).collect();
                assert_eq!(in_part, found.in_part);
            }
            assert!(written(&mut restored, &parsed).unwrap() == expected, "{format:?}");
            // Other parts have the same header, and no residues of queries.
            let other = writer(format, scoring).of_part(Share { number: 2, ..PART }, &selection()).unwrap();
            assert_eq!(other.header(), part.header());
            let query = PartQuery::parse(&queries(&other)[0], alphabet).unwrap();
            assert!(query.record.name == "q" && query.record.sequence.is_empty());
            assert_eq!(query.hits, parsed[0].hits);
        }
    }

    /// A query whose bytes are truncated or changed is refused, or it is written without a panic.
    #[test]
    fn damaged_queries_are_refused_or_written() {
        for format in FORMATS {
            let part = writer(format, Scoring::dna(2, 4, 4, 2)).of_part(PART, &selection()).unwrap();
            let mut restored = PartHeader::read(&part.header().concat()).ok().unwrap().writer;
            let queries = queries(&part);
            let parse = |bytes: &[u8]| PartQuery::parse(bytes, Alphabet::Dna);
            let other = parse(&queries[1]).unwrap();
            for (at, value) in (0..queries[0].len()).flat_map(|at| (0..=255).map(move |value| (at, value))) {
                assert!(value > 0 || parse(&queries[0][..at]).is_none());
                let mut changed = queries[0].clone();
                changed[at] = value;
                let parsed = parse(&changed).filter(|query| query.fits(query.record.sequence.len()));
                if let Some(query) = parsed {
                    // An error is fine.
                    let _ = written(&mut restored, &[query, other.clone()]);
                }
            }
        }
    }

    /// Damage of blocks is detected by their checksums, and a truncated stream by the size of its last query.
    #[test]
    fn damaged_parts_are_refused() {
        let part = writer(FORMATS[0], Scoring::dna(2, 4, 4, 2)).of_part(PART, &selection()).unwrap();
        let (records, found) = mates();
        let bytes = part.records(&records, &found).unwrap();
        let read = |blocks: &[u8]| -> io::Result<usize> {
            let mut reader = PartReader::new(blocks);
            let mut count = 0;
            while reader.next_query()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        let first = 8 + queries(&part)[0].len();
        for len in 0..bytes.len() {
            let count = read(&bgzf::pack(&bytes[..len]).unwrap());
            assert_eq!(count.ok(), [(0, 0), (first, 1)].iter().find(|end| end.0 == len).map(|end| end.1));
        }
        let header = part.header().concat();
        assert!((0..header.len()).all(|len| PartHeader::read(&header[..len]).is_err()));
    }

    #[test]
    fn other_versions_are_refused() {
        let part = writer(FORMATS[0], Scoring::dna(2, 4, 4, 2)).of_part(PART, &selection()).unwrap();
        let mut header = Vec::new();
        Reader::new(&part.header().concat()[..]).read_to_end(&mut header).unwrap();
        assert!(PartHeader::parse(&header).is_ok());
        let fault = |header: &[u8]| PartHeader::parse(header).err();
        assert_eq!(fault(&[&header[..], b"more"].concat()), Some(HeaderFault::Damaged));
        header[MAGIC.len()] += 1;
        assert_eq!(fault(&header), Some(HeaderFault::Version));
        header[0] += 1;
        assert_eq!(fault(&header), Some(HeaderFault::Damaged));
    }
}
