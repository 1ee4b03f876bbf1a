//! Sorted parts of the queries, merged by coordinate. Among equal records, those of the earlier part come first, as in
//! a whole run, so that the bytes are the same. Memory contains one block of each part.

use super::SharedHeader;
use super::part::{AGAIN, MergePart, OpenPart, unread};
use super::{open_files, refused};
use crate::output::writer::Output;
use crate::output::writer::frame::references;
use crate::output::writer::sort::{IndexFile, RecordReader, SortKey, SortedRecords, write_sorted};
use crate::terms::error::Result;

/// The records of a part.
struct SortedPart<'a> {
    part: &'a MergePart<'a>,
    records: RecordReader,
}

impl SortedRecords for SortedPart<'_> {
    fn advance(&mut self) -> Result<Option<SortKey>> {
        self.records.advance().map_err(|error| unread(self.part.path, error))
    }

    fn record(&self) -> &[u8] {
        self.records.record()
    }
}

/// Joins the parts. Returns the number of their queries, and the index, which must be finished with the output.
pub(super) fn join(parts: &[MergePart], output: &mut Output) -> Result<(u64, Option<Output>)> {
    let mut header = SharedHeader::default();
    let mut sources: Vec<Box<dyn SortedRecords>> = Vec::with_capacity(parts.len());
    let mut tails = Vec::with_capacity(parts.len());
    let mut index = None;
    let at_once = open_files::at_once(parts.len());
    for (number, part) in parts.iter().enumerate() {
        let OpenPart { header: of_part, records, rest } = part.open_among(number < at_once)?;
        if tails.is_empty() {
            let damaged = || refused(part.path, "its header is damaged", AGAIN);
            let (count, longest) = references(&of_part).ok().flatten().ok_or_else(damaged)?;
            index = IndexFile::beside(output, count, longest)?;
        }
        header.take(of_part, part, output)?;
        sources.push(Box::new(SortedPart { part, records: RecordReader::of_blocks(records) }));
        tails.push((part, rest));
    }
    let index = write_sorted(sources, output, index)?;
    tails.into_iter().try_for_each(|(part, rest)| rest.check(part))?;
    Ok((parts.iter().map(|part| part.receipt.records).sum(), index))
}
