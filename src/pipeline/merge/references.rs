//! Parts of the references, joined query by query.
//!
//! Each part has the first hits of each query among its own references, in their order, at least those that are
//! among the first of all. So the hits of all are those of the parts, put into one order and cut where the best
//! of all says (docs/algorithm.md, section 6). Memory holds one query's records of each part, and the
//! output's of less than [`PIECE`] and one query.

use super::part::{AGAIN, Opened, Part, Rest, unread};
use super::{Header, refused};
use crate::error::Result;
use crate::hits::Rules;
use crate::options::Format;
use crate::writer::Output;
use crate::writer::bgzf::{Joint, RecordBytes};
use crate::writer::receipt::Choice;
use crate::writer::reread::{Record, Records, Standing, damaged};
use crate::writer::tags::quality_of;
use std::cmp::Reverse;

/// Bytes of records that are packed and written at once.
const PIECE: usize = 1 << 21;

/// A part and its records.
struct Source<'a> {
    part: &'a Part<'a>,
    records: Records,
    rest: Rest,
}

/// Records of one group on their way to the output.
struct Piece {
    /// Blocks begin with groups.
    in_blocks: bool,
    joint: Joint,
    bytes: Vec<u8>,
    /// The group begins with it.
    begins: bool,
    /// Name of its last query; of none at the beginning.
    last: Option<Vec<u8>>,
}

/// All parts must have chosen hits alike, among the same queries.
pub fn check(parts: &[Part]) -> Result<()> {
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
pub fn join(parts: &[Part], output: &mut Output) -> Result<u64> {
    let mut header = Header::default();
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        let Opened { header: of_part, records, rest } = part.open()?;
        header.take(of_part, part, output)?;
        let (format, in_blocks) = format_of(part)?;
        sources.push(Source { part, records: Records::new(format, in_blocks, records), rest });
    }
    let (Some(first), Some(choice)) = (parts.first(), parts.first().and_then(|part| part.receipt.choice))
    else {
        return Ok(0);
    };
    let mut piece = Piece::new(format_of(first)?.1)?;
    for before in 0..first.receipt.records {
        let query = next_query(&mut sources, before)?;
        piece.begin(&query[0][0], output)?;
        choose(&choice, &query, &mut piece.bytes).ok_or_else(|| unread(first.path, damaged()))?;
    }
    for source in &mut sources {
        source.end()?;
    }
    piece.flush(output)?;
    output.put(&piece.joint.finish()?)?;
    Ok(first.receipt.records)
}

/// The records of the query with this many before it, part by part.
fn next_query(sources: &mut [Source], before: u64) -> Result<Vec<Vec<Record>>> {
    let query: Vec<Vec<Record>> = sources.iter_mut().map(Source::next).collect::<Result<_>>()?;
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
fn choose(choice: &Choice, query: &[Vec<Record>], out: &mut Vec<u8>) -> Option<()> {
    let &Choice { min_score, secondary_ppm, max_hits, typical } = choice;
    let rules = Rules { min_score, secondary_ppm, max_hits };
    let aligned = |record| {
        let record: &Record = record;
        Some((record, record.aligned?))
    };
    let mut hits: Vec<_> = query.iter().flatten().filter_map(aligned).collect();
    // Those of one part are in their order. Of equal hits of two, the earlier part has the earlier reference.
    hits.sort_by_key(|(_, hit)| (Reverse(hit.score), hit.strand));
    let Some((primary, best)) = hits.first() else {
        query.first()?.first()?.push(out, Standing::Secondary);
        return Some(());
    };
    if best.secondary {
        return None;
    }
    let threshold = rules.threshold(best.score);
    // The second hit is in the best one's part, which may know no more of it than its score, or the best of
    // another part.
    let second = hits.get(1).map(|(_, hit)| hit.score).max(best.second).filter(|&score| score >= threshold);
    let quality = quality_of(&typical, best.span, best.score, (second, threshold));
    primary.push(out, Standing::Primary { second, quality });
    let others = hits[1..].iter().take_while(|(_, hit)| hit.score >= threshold).take(max_hits - 1);
    others.for_each(|(record, _)| record.push(out, Standing::Secondary));
    Some(())
}

impl Source<'_> {
    fn next(&mut self) -> Result<Vec<Record>> {
        let records = self.records.next_query().map_err(|error| unread(self.part.path, error))?;
        match records.is_empty() {
            false => Ok(records),
            true => Err(self.part.miscounted("fewer")),
        }
    }

    /// Behind the last query there must be nothing, and all must be what was written.
    fn end(&mut self) -> Result<()> {
        match self.records.next_query().map_err(|error| unread(self.part.path, error))?.is_empty() {
            true => self.rest.check(self.part),
            false => Err(self.part.miscounted("more")),
        }
    }
}

/// The format, and whether it is in blocks.
fn format_of(part: &Part) -> Result<(Format, bool)> {
    let format = part.format().map(|(format, packed)| (format, packed || format == Format::Bam));
    format.ok_or_else(|| {
        let problem = format!("its .swalign file names an unknown format, {}", part.receipt.task.format);
        refused(part.path, problem, AGAIN)
    })
}

impl Piece {
    fn new(in_blocks: bool) -> Result<Piece> {
        let joint = if in_blocks { Joint::of_blocks()? } else { Joint::of_text() };
        Ok(Piece { in_blocks, joint, bytes: Vec::new(), begins: true, last: None })
    }

    /// Takes the records of another query behind those that are there, which are written before if a group begins with
    /// `record`, its first one, or if there are many.
    fn begin(&mut self, record: &Record, output: &mut Output) -> Result<()> {
        let begins = self.in_blocks && self.last.as_ref().is_some_and(|last| record.begins_group(last));
        if begins || self.bytes.len() >= PIECE {
            self.flush(output)?;
            self.begins = begins;
        }
        self.last = Some(record.name().to_vec());
        Ok(())
    }

    /// Writes it, and begins the next.
    fn flush(&mut self, output: &mut Output) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let part = match self.in_blocks {
            true => RecordBytes::Piece { begins: self.begins, bytes },
            false => RecordBytes::Ready(bytes),
        };
        output.put(&self.joint.add(part)?)
    }
}
