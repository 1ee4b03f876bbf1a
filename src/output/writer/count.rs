//! Counts the queries in lines of SAM or PAF. The lines come in pieces of any size.

use super::line::{SECONDARY, SUPPLEMENTARY};
use super::paf::SUPPLEMENTARY_LINE;
use crate::terms::options::Format;
use memchr::{memchr, memmem};

/// Counts the lines that are the first of a query.
pub struct QueryCount {
    is_secondary: fn(&[u8]) -> bool,
    /// The beginning of a line whose end has not arrived yet.
    begun: Vec<u8>,
    count: u64,
}

impl QueryCount {
    /// `None` for BAM, whose records would have to be decompressed.
    pub fn of(format: Format) -> Option<QueryCount> {
        let is_secondary = match format {
            Format::Sam => is_secondary_sam,
            Format::Paf => is_secondary_paf,
            Format::Bam => return None,
        };
        Some(QueryCount { is_secondary, begun: Vec::new(), count: 0 })
    }

    pub fn add(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr(b'\n', piece) {
            let (line, rest) = piece.split_at(end + 1);
            let secondary = match self.begun.is_empty() {
                true => (self.is_secondary)(line),
                false => {
                    self.begun.extend_from_slice(line);
                    (self.is_secondary)(&self.begun)
                }
            };
            self.begun.clear();
            self.count += u64::from(!secondary);
            piece = rest;
        }
        self.begun.extend_from_slice(piece);
    }

    /// The number of queries so far. A last line without its newline counts.
    pub fn count(&self) -> u64 {
        self.count + u64::from(!self.begun.is_empty())
    }
}

/// Whether a line of SAM is another record of the same query as the line before it.
fn is_secondary_sam(line: &[u8]) -> bool {
    let flags = line.split(|&letter| letter == b'\t').nth(1).and_then(|flags| str::from_utf8(flags).ok());
    let flags = flags.and_then(|flags| flags.parse::<u16>().ok());
    flags.is_some_and(|flags| flags & (SECONDARY | SUPPLEMENTARY) != 0)
}

/// Whether a line of PAF is another record of the same query as the line before it.
fn is_secondary_paf(line: &[u8]) -> bool {
    [&b"\ttp:A:S"[..], SUPPLEMENTARY_LINE].iter().any(|tag| memmem::find(line, tag).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size() {
        let sam = "a\t0\tr\na\t256\tr\nb\t4\t*\nc\t16\tr\nc\t272\tr\n";
        let paf = "a\t9\ttp:A:P\tcg:Z:9M\na\t9\ttp:A:S\nb\t9\t*\nc\t9\ttp:A:P\n";
        for (format, text) in [(Format::Sam, sam), (Format::Paf, paf)] {
            for size in 1..=text.len() {
                let mut queries = QueryCount::of(format).unwrap();
                text.as_bytes().chunks(size).for_each(|piece| queries.add(piece));
                assert_eq!(queries.count(), 3, "{format:?}, {size}");
                queries.add(b"d");
                assert_eq!(queries.count(), 4);
            }
        }
        assert!(QueryCount::of(Format::Bam).is_none());
    }
}
