//! Merges sorted records of several sources.

use super::record::{self, SIZE, SortKey};
use crate::output::writer::frame::damaged;
use crate::terms::error::Result;
use noodles_bgzf::io::Reader;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, BufRead, BufReader, Read};

/// A source of sorted records.
pub trait SortedRecords: Send {
    /// Advances to the next record, initially to the first, and returns its sort key; `None` at the end.
    fn advance(&mut self) -> Result<Option<SortKey>>;
    /// The current record, preceded by its size.
    fn record(&self) -> &[u8];
}

/// A merge of sorted sources. Records with equal keys come in the order of the sources.
pub struct Merge<'a> {
    sources: Vec<Box<dyn SortedRecords + 'a>>,
    /// The current record of each source that has not ended, and the source's index.
    next: BinaryHeap<Reverse<(SortKey, usize)>>,
}

impl<'a> Merge<'a> {
    pub fn new(mut sources: Vec<Box<dyn SortedRecords + 'a>>) -> Result<Merge<'a>> {
        let mut next = BinaryHeap::with_capacity(sources.len());
        for (number, source) in sources.iter_mut().enumerate() {
            next.extend(source.advance()?.map(|key| Reverse((key, number))));
        }
        Ok(Merge { sources, next })
    }

    /// The first of all remaining records.
    pub fn record(&self) -> Option<&[u8]> {
        self.next.peek().map(|Reverse((_, source))| self.sources[*source].record())
    }

    /// Advances past that record.
    pub fn advance(&mut self) -> Result<()> {
        let Some(mut first) = self.next.peek_mut() else { return Ok(()) };
        match self.sources[first.0.1].advance()? {
            Some(key) => first.0.0 = key,
            None => drop(PeekMut::pop(first)),
        }
        Ok(())
    }
}

/// Sorted records read from a file.
pub struct RecordReader {
    input: Box<dyn BufRead + Send>,
    record: Vec<u8>,
    last: Option<SortKey>,
}

impl RecordReader {
    /// Reads records from bgzf blocks.
    pub fn of_blocks(blocks: impl Read + Send + 'static) -> RecordReader {
        RecordReader::new(Reader::new(BufReader::new(blocks)))
    }

    fn new(input: impl BufRead + Send + 'static) -> RecordReader {
        RecordReader { input: Box::new(input), record: Vec::new(), last: None }
    }

    /// Like [`SortedRecords::advance`]. An invalid record, or one out of order, is an error.
    pub fn advance(&mut self) -> io::Result<Option<SortKey>> {
        self.record.clear();
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut size = [0; SIZE];
        self.input.read_exact(&mut size)?;
        self.record.extend_from_slice(&size);
        let size = u64::from(u32::from_le_bytes(size));
        // The size may be damaged, so memory is allocated as bytes arrive.
        (&mut self.input).take(size).read_to_end(&mut self.record)?;
        let key = record::first(&self.record).and_then(SortKey::of).ok_or_else(damaged)?;
        if self.last.replace(key).is_some_and(|last| last > key) {
            return Err(damaged());
        }
        Ok(Some(key))
    }

    pub fn record(&self) -> &[u8] {
        &self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::writer::sort::record::tests::record;
    use crate::terms::error::Error;

    struct Source(RecordReader);

    impl SortedRecords for Source {
        fn advance(&mut self) -> Result<Option<SortKey>> {
            self.0.advance().map_err(|error| Error::io("source", error))
        }

        fn record(&self) -> &[u8] {
            self.0.record()
        }
    }

    fn source(records: &[(i32, i32, &str)]) -> Box<dyn SortedRecords> {
        let all: Vec<u8> = records
            .iter()
            .flat_map(|&(target, start, name)| record(target, start, 0, &[], name, 1))
            .collect();
        Box::new(Source(RecordReader::new(std::io::Cursor::new(all))))
    }

    #[test]
    fn equal_records_come_in_the_order_of_their_sources() {
        let first = source(&[(0, 5, "a"), (0, 5, "b"), (1, 0, "c"), (-1, -1, "d")]);
        let second = source(&[]);
        let third = source(&[(0, 4, "e"), (0, 5, "f"), (1, 0, "g"), (-1, -1, "h")]);
        let mut merge = Merge::new(vec![first, second, third]).unwrap();
        let mut names = String::new();
        while let Some(record) = merge.record() {
            names.push(char::from(record[36]));
            merge.advance().unwrap();
        }
        assert_eq!(names, "eabfcgdh");
        merge.advance().unwrap();
        assert!(merge.record().is_none());
    }

    #[test]
    fn what_is_not_sorted_or_cut_short_is_an_error() {
        let mut wrong = source(&[(0, 5, "a"), (0, 4, "b")]);
        assert!(wrong.advance().is_ok() && wrong.advance().is_err());
        let whole = record(0, 5, 0, &[], "a", 1);
        for len in 1..whole.len() {
            assert!(
                RecordReader::new(std::io::Cursor::new(whole[..len].to_vec())).advance().is_err(),
                "{len}"
            );
        }
    }
}
