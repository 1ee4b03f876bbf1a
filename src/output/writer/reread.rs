//! Reads the records of a part of the references, to join them with those of the other parts.
//!
//! A record stays as the part's run wrote it, except for fields that depend on hits in other references. A primary
//! record may get another score of the second hit and another mapping quality. Or it becomes a secondary record, which
//! has neither of these, and no bases. Records of mates also depend on each other, and are written anew: see
//! [`MateRecord`].

mod bam;
mod count;
mod mates;
mod text;

pub use super::in_part::QueryInPart;
pub use count::QueryCount;
pub use mates::{MateRecord, push_mates};

use crate::terms::alignment::{Strand, deletions_at_ends};
use crate::terms::options::Format;
use noodles_bgzf::io::Reader;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// A record as it was written.
pub struct PartRecord {
    format: Format,
    /// Uncompressed: for BAM preceded by the size, otherwise a line with its newline.
    bytes: Vec<u8>,
    /// `None` for an unmapped query.
    pub aligned: Option<RecordHit>,
    /// Only in the first record of a query.
    pub of_query: Option<QueryInPart>,
}

/// The decoded fields of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTold {
    /// `None` for an unmapped query.
    pub aligned: Option<RecordHit>,
    pub of_query: Option<QueryInPart>,
}

/// The hit of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHit {
    pub score: i32,
    pub strand: Strand,
    pub secondary: bool,
    /// The target's index among all references.
    pub target: u32,
    /// Length of the alignment in the query or in the target, whichever is longer.
    pub span: u32,
}

/// The kind of a record among the records of all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Primary {
        second: Option<i32>,
        quality: u8,
    },
    Secondary,
    /// Unchanged, except that data only for merging are removed.
    Unmapped,
}

/// The records of a part, in order.
pub struct PartRecords {
    format: Format,
    input: Box<dyn BufRead + Send>,
    /// The first record of the next query.
    ahead: Option<PartRecord>,
}

impl PartRecords {
    /// The records in `bytes`, a file without its header and its end.
    pub fn new(format: Format, in_blocks: bool, bytes: impl Read + Send + 'static) -> PartRecords {
        let bytes = BufReader::new(bytes);
        let input: Box<dyn BufRead + Send> =
            if in_blocks { Box::new(Reader::new(bytes)) } else { Box::new(bytes) };
        PartRecords { format, input, ahead: None }
    }

    /// The records of the next query, the primary record first; empty at the end.
    pub fn next_query(&mut self) -> io::Result<Vec<PartRecord>> {
        let Some(first) = self.ahead.take().map_or_else(|| self.read(), |ahead| Ok(Some(ahead)))? else {
            return Ok(Vec::new());
        };
        if first.is_secondary() || first.of_query.is_none() {
            return Err(damaged());
        }
        let mut records = vec![first];
        self.ahead = loop {
            match self.read()? {
                Some(record) if record.is_secondary() => records.push(record),
                next => break next,
            }
        };
        Ok(records)
    }

    fn read(&mut self) -> io::Result<Option<PartRecord>> {
        let mut bytes = Vec::new();
        match self.format {
            Format::Bam => bam::read(&mut self.input, &mut bytes)?,
            Format::Sam | Format::Paf => {
                self.input.read_until(b'\n', &mut bytes)?;
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let told = match self.format {
            Format::Bam => bam::told(&bytes),
            Format::Sam => text::SAM.told(&bytes),
            Format::Paf => text::PAF.told(&bytes),
        };
        let RecordTold { aligned, of_query } = told.ok_or_else(damaged)?;
        Ok(Some(PartRecord { format: self.format, aligned, of_query, bytes }))
    }
}

impl PartRecord {
    /// QNAME.
    pub fn name(&self) -> &[u8] {
        match self.format {
            Format::Bam => bam::name(&self.bytes),
            Format::Sam | Format::Paf => text::name(&self.bytes),
        }
    }

    /// The original name of its query.
    pub fn query_name(&self, is_mate: bool) -> &[u8] {
        match (self.format, self.name()) {
            (Format::Paf, [name @ .., b'/', _]) if is_mate => name,
            (Format::Sam | Format::Bam, b"*") => b"",
            (_, name) => name,
        }
    }

    /// Length of its query, which the query's first record gives.
    pub fn letters(&self) -> usize {
        match self.format {
            Format::Bam => bam::letters(&self.bytes),
            Format::Sam => text::SAM.letters(&self.bytes),
            Format::Paf => text::PAF.letters(&self.bytes),
        }
    }

    fn is_secondary(&self) -> bool {
        self.aligned.is_some_and(|aligned| aligned.secondary)
    }

    /// Appends the record in its new standing, which is ignored for an unmapped record.
    pub fn push(&self, out: &mut Vec<u8>, standing: RecordKind) {
        let standing = if self.aligned.is_some() { standing } else { RecordKind::Unmapped };
        match self.format {
            Format::Bam => bam::push(&self.bytes, out, standing),
            Format::Sam => text::SAM.push(&self.bytes, out, standing),
            Format::Paf => text::PAF.push(&self.bytes, out, standing),
        }
    }
}

/// Like [`crate::terms::alignment::Alignment::span`], from the lengths and characters of a CIGAR's operations.
fn span(operations: impl IntoIterator<Item = (u32, u8)>) -> Option<u32> {
    let operations: Vec<(u32, u8)> = operations.into_iter().collect();
    let at_ends = deletions_at_ends(operations.iter().map(|&(len, letter)| (len, letter == b'D')));
    let (mut query, mut target) = (0u32, 0u32);
    for (len, letter) in operations {
        let (of_query, of_target) = match letter {
            b'M' | b'=' | b'X' => (len, len),
            b'I' => (len, 0),
            b'D' => (0, len),
            b'S' => (0, 0),
            _ => return None,
        };
        query = query.checked_add(of_query)?;
        target = target.checked_add(of_target)?;
    }
    Some(query.max(target - at_ends))
}

/// The error for a file that no run can have written.
pub fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "not what a run writes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::quality::mapping_quality;
    use crate::output::writer::tests::{at, group, options, read, writer};
    use crate::output::writer::{Writer, bgzf};
    use crate::terms::alignment::Tier;
    use crate::terms::alignment::{Alignment, PathOp, PathRuns, QueryResult};
    use crate::terms::options::{CsForm, Options, Share};
    use crate::terms::scoring::Scoring;
    use smallvec::smallvec;
    use std::io::Cursor;
    use std::slice;

    const THRESHOLD: i32 = 24;

    /// Bytes of the records of these hits of one query.
    fn bytes(
        writer: &Writer,
        query: &crate::input::reader::FileRecord,
        hits: &[&Alignment],
        second: Option<i32>,
    ) -> Vec<u8> {
        let alignments = hits.iter().map(|&hit| hit.clone()).collect();
        let found = QueryResult { alignments, second, threshold: THRESHOLD, ..QueryResult::default() };
        writer.records(slice::from_ref(query), slice::from_ref(&found)).unwrap()
    }

    fn records(format: Format, bytes: Vec<u8>) -> PartRecords {
        let in_blocks = format == Format::Bam;
        let bytes = if in_blocks { bgzf::pack(&bytes).unwrap() } else { bytes };
        PartRecords::new(format, in_blocks, Cursor::new(bytes))
    }

    /// Paths that consume 4 bases of the query, and one of 65,537 operations, which consumes 32,769.
    fn cigars() -> Vec<PathRuns> {
        let mut long: PathRuns =
            (0..32_768).flat_map(|_| [(1, PathOp::Match), (1, PathOp::Deletion)]).collect();
        long.push((1, PathOp::Match));
        let gaps =
            smallvec![(1, PathOp::Match), (3, PathOp::Insertion), (2, PathOp::Deletion), (2, PathOp::Match)];
        vec![smallvec![(4, PathOp::Match)], gaps, long]
    }

    /// A changed record equals the one that the writer makes for the same hit in its new standing.
    #[test]
    fn changed_records_are_those_of_the_writer() {
        let scoring = Scoring::dna(2, 4, 4, 2);
        let target = "ACGTTGCAAC".repeat(7000);
        for format in [Format::Sam, Format::Bam, Format::Paf] {
            for (number, cigar) in cigars().into_iter().enumerate() {
                let (strand, group, eqx, cs) = match number {
                    0 => (Strand::Forward, Some(group("@RG\tID:g 1")), true, None),
                    1 => (Strand::Reverse, None, false, Some(CsForm::Long)),
                    _ => (Strand::Reverse, None, false, Some(CsForm::Short)),
                };
                let options = Options {
                    format: crate::terms::options::OutputFormat::Records(format),
                    read_group: group,
                    eqx,
                    cs,
                    ..options()
                };
                let whole = writer(&options, scoring.clone(), &[("t", &target)]).unwrap();
                let share = Some(Share { number: 1, of: 2 });
                let options = Options { ref_part: share, ..options };
                let part = writer(&options, scoring.clone(), &[("t", &target)]).unwrap();
                let hit = at(strand, 2, 5, cigar);
                let letters = "ACGTA".repeat(hit.query_end as usize / 5 + 1);
                let qualities = (number > 0).then(|| "I".repeat(letters.len()));
                let query = read("q", &letters, qualities.as_deref());
                for second in [None, Some(26)] {
                    let mut all = records(format, bytes(&part, &query, &[&hit], second));
                    let record = all.next_query().unwrap().remove(0);
                    assert_eq!(record.name(), b"q");
                    let span = (hit.query_end - hit.query_start).max(hit.target_end - hit.target_start);
                    let told = RecordHit { score: 30, strand, secondary: false, target: 0, span };
                    assert_eq!(record.aligned, Some(told));
                    assert_eq!(
                        record.of_query,
                        Some(QueryInPart { threshold: THRESHOLD, second, tier: Tier::Single })
                    );
                    for second in [None, Some(25), Some(30)] {
                        let quality = mapping_quality(&scoring, &hit, second, THRESHOLD);
                        let mut out = Vec::new();
                        record.push(&mut out, RecordKind::Primary { second, quality });
                        assert!(
                            out == bytes(&whole, &query, &[&hit], second),
                            "{format:?} {number} {second:?}"
                        );
                    }
                    let better = at(Strand::Forward, 0, 0, smallvec![(4, PathOp::Match)]);
                    let before = bytes(&whole, &query, &[&better], None).len();
                    let expected = bytes(&whole, &query, &[&better, &hit], None).split_off(before);
                    let mut out = Vec::new();
                    record.push(&mut out, RecordKind::Secondary);
                    assert!(out == expected, "{format:?} {number} secondary");
                    // A secondary record stays secondary.
                    let both = bytes(&part, &query, &[&better, &hit], None);
                    let both = records(format, both).next_query().unwrap();
                    let mut out = Vec::new();
                    both[1].push(&mut out, RecordKind::Secondary);
                    assert!(out == expected && both[1].is_secondary(), "{format:?} {number} as it was");
                    assert!(all.next_query().unwrap().is_empty());
                }
            }
        }
    }

    /// A query without reported hits keeps its own fields.
    #[test]
    fn unmapped_records_are_those_of_the_writer() {
        let target = "ACGTTGCAAC".repeat(10);
        for format in [Format::Sam, Format::Bam, Format::Paf] {
            let options =
                Options { format: crate::terms::options::OutputFormat::Records(format), ..options() };
            let part = Options { ref_part: Some(Share { number: 1, of: 2 }), ..options.clone() };
            let [whole, part] = [options, part]
                .map(|options| writer(&options, Scoring::dna(2, 4, 4, 2), &[("t", &target)]).unwrap());
            let query = read("q", "ACGT", Some("IIII"));
            for second in [None, Some(26)] {
                let mut all = records(format, bytes(&part, &query, &[], second));
                let record = all.next_query().unwrap().remove(0);
                assert_eq!((record.name(), record.aligned), (&b"q"[..], None));
                assert_eq!(
                    record.of_query,
                    Some(QueryInPart { threshold: THRESHOLD, second, tier: Tier::Single })
                );
                for standing in [RecordKind::Secondary, RecordKind::Unmapped] {
                    let mut out = Vec::new();
                    record.push(&mut out, standing);
                    assert!(out == bytes(&whole, &query, &[], None), "{format:?}");
                }
                assert!(all.next_query().unwrap().is_empty());
            }
        }
    }

    /// Reading a truncated part is an error or ends early, and nothing worse.
    #[test]
    fn what_is_cut_short_is_no_record() {
        let target = "ACGTTGCAAC".repeat(10);
        for format in [Format::Sam, Format::Bam] {
            let share = Some(Share { number: 1, of: 2 });
            let format_of_output = crate::terms::options::OutputFormat::Records(format);
            let options = Options { format: format_of_output, ref_part: share, ..options() };
            let writer = writer(&options, Scoring::dna(2, 4, 4, 2), &[("t", &target)]).unwrap();
            let hit = at(Strand::Forward, 0, 0, smallvec![(4, PathOp::Match)]);
            let whole = bytes(&writer, &read("q", "ACGT", None), &[&hit, &hit], Some(26));
            let first = bytes(&writer, &read("q", "ACGT", None), &[&hit], Some(26)).len();
            for len in 1..whole.len() {
                let read = records(format, whole[..len].to_vec()).next_query();
                assert_eq!(read.is_err(), len != first, "{format:?}, {len} of {first}");
            }
            // No run writes a file that begins with a secondary record.
            assert!(records(format, whole[first..].to_vec()).next_query().is_err());
            // No number in a record causes an access outside it.
            for at in 0..first {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut changed = whole.clone();
                    changed[at] = value;
                    if let Ok(query) = records(format, changed).next_query() {
                        let mut out = Vec::new();
                        query.iter().for_each(|record| {
                            record.name();
                            record.push(&mut out, RecordKind::Secondary);
                            record.push(&mut out, RecordKind::Primary { second: Some(1), quality: 1 });
                        });
                    }
                }
            }
        }
    }
}
