//! Parts of the references, joined query by query.
//!
//! Each part has the best hits of each query among its own references, in their order. They hold all that are among the
//! best of all references. So the hits of the whole are those of the parts, sorted together, and cut by the best one's
//! score (docs/algorithm.md, section 6). Memory holds one query's records of each part, and of the output less than
//! [`PIECE`] and one query.

use super::mates;
use super::part::{AGAIN, MergePart, OpenPart, PartTail, unread};
use super::{Header, refused};
use crate::error::Result;
use crate::hits::Rules;
use crate::options::Format;
use crate::quality::{Typical, quality_of};
use crate::writer::Output;
use crate::writer::bgzf::{Joint, RecordBytes};
use crate::writer::receipt::Choice;
use crate::writer::reread::{PartRecord, PartRecords, Standing, damaged};
use std::cmp::Reverse;

/// Bytes of records that are packed and written at once.
const PIECE: usize = 1 << 21;

/// A part and its records.
struct PartReader<'a> {
    part: &'a MergePart<'a>,
    records: PartRecords,
    rest: PartTail,
}

/// Records on their way to the output: those of one group, or a piece of it.
struct GroupRecords {
    /// Blocks begin with groups.
    in_blocks: bool,
    joint: Joint,
    bytes: Vec<u8>,
    /// Whether the group begins with `bytes`.
    begins: bool,
    /// Name of the last query; `None` before the first.
    last: Option<Vec<u8>>,
}

/// Refuses parts that have chosen hits by other numbers, or among other queries.
pub fn check(parts: &[MergePart]) -> Result<()> {
    for pair in parts.windows(2) {
        let [first, second] = [&pair[0], &pair[1]];
        if first.receipt.choice != second.receipt.choice {
            let problem = format!("its hits were chosen otherwise than those of {}", first.path.display());
            return Err(refused(second.path, problem, "give the parts of one run"));
        }
        let [before, after] = [first, second].map(|part| part.receipt.records);
        if before != after {
            let problem = format!("it is of {after} queries, but {} of {before}", first.path.display());
            return Err(refused(second.path, problem, "the input has changed: write all parts again"));
        }
    }
    Ok(())
}

/// Joins the parts, and gives the number of queries.
pub fn join(parts: &[MergePart], output: &mut Output) -> Result<u64> {
    let mut header = Header::default();
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        let OpenPart { header: of_part, records, rest } = part.open()?;
        header.take(of_part, part, output)?;
        let (format, in_blocks) = format_of(part)?;
        sources.push(PartReader { part, records: PartRecords::new(format, in_blocks, records), rest });
    }
    let (Some(first), Some(choice)) = (parts.first(), parts.first().and_then(|part| part.receipt.choice))
    else {
        return Ok(0);
    };
    let Choice { min_score, secondary_ppm, max_hits, .. } = choice;
    let rules = Rules { min_score, secondary_ppm, max_hits, ..Rules::BEST };
    let pairing = mates::pairing(&choice, rules);
    let mut piece = GroupRecords::new(format_of(first)?.1)?;
    for before in (0..first.receipt.records).step_by(if pairing.is_some() { 2 } else { 1 }) {
        let query = next_query(&mut sources, before)?;
        piece.begin(&query[0][0], pairing.is_some(), output)?;
        let chosen = match &pairing {
            None => choose(&rules, &choice.typical, &query, &mut piece.bytes),
            Some(pairing) => {
                let mate = next_query(&mut sources, before + 1)?;
                mates::choose(pairing, [query, mate], &mut piece.bytes)
            }
        };
        chosen.ok_or_else(|| unread(first.path, damaged()))?;
    }
    for source in &mut sources {
        source.end()?;
    }
    piece.flush(output)?;
    output.put(&piece.joint.finish()?)?;
    Ok(first.receipt.records)
}

/// The records of the query with this many before it, part by part.
fn next_query(sources: &mut [PartReader], before: u64) -> Result<Vec<Vec<PartRecord>>> {
    let query: Vec<Vec<PartRecord>> = sources.iter_mut().map(PartReader::next).collect::<Result<_>>()?;
    for pair in query.iter().zip(sources.iter()).collect::<Vec<_>>().windows(2) {
        let [(one, part), (other, other_part)] = [pair[0], pair[1]];
        let [name, other_name] = [one, other].map(|records| records[0].name());
        if name != other_name {
            let [name, other_name] = [name, other_name].map(String::from_utf8_lossy);
            let problem = format!(
                "its query {} is '{other_name}', but that of {} is '{name}'",
                before + 1,
                part.part.path.display()
            );
            return Err(refused(other_part.part.path, problem, "write all parts with the same queries"));
        }
    }
    Ok(query)
}

/// Appends the records of a query that are its hits among all references; `None` where that can't be.
fn choose(rules: &Rules, typical: &Typical, query: &[Vec<PartRecord>], out: &mut Vec<u8>) -> Option<()> {
    let aligned = |record| {
        let record: &PartRecord = record;
        Some((record, record.aligned?))
    };
    let mut hits: Vec<_> = query.iter().flatten().filter_map(aligned).collect();
    // The sort is stable: hits of one part keep their order, and of equal hits of two parts the earlier part has the
    // earlier reference.
    hits.sort_by_key(|(_, hit)| (Reverse(hit.score), hit.strand));
    let Some((primary, best)) = hits.first() else {
        query.first()?.first()?.push(out, Standing::Secondary);
        return Some(());
    };
    if best.secondary {
        return None;
    }
    let threshold = rules.threshold(best.score);
    // The second hit is in the best one's part, which may know only its score, or it is the best of another part.
    let second = hits.get(1).map(|(_, hit)| hit.score).max(best.second).filter(|&score| score >= threshold);
    let quality = quality_of(typical, best.span, best.score, (second, threshold));
    primary.push(out, Standing::Primary { second, quality });
    let others = hits[1..].iter().take_while(|(_, hit)| hit.score >= threshold).take(rules.max_hits - 1);
    others.for_each(|(record, _)| record.push(out, Standing::Secondary));
    Some(())
}

impl PartReader<'_> {
    fn next(&mut self) -> Result<Vec<PartRecord>> {
        let records = self.records.next_query().map_err(|error| unread(self.part.path, error))?;
        match records.is_empty() {
            false => Ok(records),
            true => Err(self.part.miscounted("fewer")),
        }
    }

    /// Refuses a part with records behind the last query, or with other bytes than were written.
    fn end(&mut self) -> Result<()> {
        match self.records.next_query().map_err(|error| unread(self.part.path, error))?.is_empty() {
            true => self.rest.check(self.part),
            false => Err(self.part.miscounted("more")),
        }
    }
}

/// The format, and whether it is in blocks.
fn format_of(part: &MergePart) -> Result<(Format, bool)> {
    let format = part.format().map(|(format, packed)| (format, packed || format == Format::Bam));
    format.ok_or_else(|| {
        let problem = format!("its .swalign file names an unknown format, {}", part.receipt.task.format);
        refused(part.path, problem, AGAIN)
    })
}

impl GroupRecords {
    fn new(in_blocks: bool) -> Result<GroupRecords> {
        let joint = if in_blocks { Joint::of_blocks()? } else { Joint::of_text() };
        Ok(GroupRecords { in_blocks, joint, bytes: Vec::new(), begins: true, last: None })
    }

    /// Makes room for the records of another query, of which `record` is the first. The records before it are written
    /// first if a group begins with it, or if they are many.
    fn begin(&mut self, record: &PartRecord, is_mate: bool, output: &mut Output) -> Result<()> {
        let name = record.query_name(is_mate);
        let begins = self.in_blocks && self.last.as_ref().is_some_and(|last| record.begins_group(last, name));
        if begins || self.bytes.len() >= PIECE {
            self.flush(output)?;
            self.begins = begins;
        }
        self.last = Some(name.to_vec());
        Ok(())
    }

    /// Writes the piece, and begins the next.
    fn flush(&mut self, output: &mut Output) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let part = match self.in_blocks {
            true => RecordBytes::Piece { begins: self.begins, bytes },
            false => RecordBytes::Ready(bytes),
        };
        output.put(&self.joint.add(part)?)
    }
}
