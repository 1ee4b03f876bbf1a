//! Reads the parts of the references in parallel, one query of all parts after another.

use super::part::{MergePart, OpenPart, PartBytes, PartTail, unread};
use super::{SharedHeader, open_files, refused};
use crate::output::writer::Output;
use crate::output::writer::bgzf::{BgzfJoiner, RecordBytes};
use crate::terms::error::Result;
use crate::terms::groups;
use std::io;

/// Bytes that are compressed and written together.
const PIECE: usize = 1 << 21;

/// Queries of a part.
pub trait PartQueries {
    type Query;

    /// The next query. `None` at the end.
    fn next_query(&mut self) -> io::Result<Option<Self::Query>>;

    fn name(query: &Self::Query) -> &[u8];
}

/// The parts of a run, in order.
pub struct Abreast<'a, Q> {
    sources: Vec<PartSource<'a, Q>>,
    /// Number of queries that were read.
    before: u64,
    header: Vec<u8>,
}

/// A part and its queries.
struct PartSource<'a, Q> {
    part: &'a MergePart<'a>,
    queries: Q,
    rest: PartTail,
}

impl<'a, Q: PartQueries> Abreast<'a, Q> {
    /// Opens the parts.
    pub fn open(
        parts: &'a [MergePart],
        queries: impl Fn(&MergePart, PartBytes) -> Result<Q>,
    ) -> Result<Abreast<'a, Q>> {
        let mut header = SharedHeader::default();
        let mut sources = Vec::with_capacity(parts.len());
        let at_once = open_files::at_once(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let OpenPart { header: of_part, records, rest } = part.open_among(index < at_once)?;
            header.first(of_part, part)?;
            sources.push(PartSource { part, queries: queries(part, records)?, rest });
        }
        Ok(Abreast { sources, before: 0, header: header.0.unwrap_or_default() })
    }

    /// The header that the parts share.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next query, with its hits in each part.
    pub fn next_query(&mut self) -> Result<Vec<Q::Query>> {
        let query: Vec<Q::Query> =
            self.sources.iter_mut().map(PartSource::next_query).collect::<Result<_>>()?;
        self.before += 1;
        for (pair, parts) in query.windows(2).zip(self.sources.windows(2)) {
            let ([one, other], [part, other_part]) =
                ([&pair[0], &pair[1]].map(Q::name), [&parts[0], &parts[1]]);
            if one != other {
                let [name, other_name] = [one, other].map(String::from_utf8_lossy);
                let problem = format!(
                    "its query {} is '{other_name}', but that of {} is '{name}'",
                    self.before,
                    part.part.path.display()
                );
                return Err(refused(other_part.part.path, problem, "write all parts with the same queries"));
            }
        }
        Ok(query)
    }

    /// Refuses parts that have more queries, or whose bytes differ from those that were written.
    pub fn end(self) -> Result<()> {
        self.sources.into_iter().try_for_each(|mut source| match source.read()? {
            None => source.rest.check(source.part),
            Some(_) => Err(source.part.miscounted("more")),
        })
    }
}

impl<Q: PartQueries> PartSource<'_, Q> {
    fn read(&mut self) -> Result<Option<Q::Query>> {
        self.queries.next_query().map_err(|error| unread(self.part.path, error))
    }

    fn next_query(&mut self) -> Result<Q::Query> {
        self.read()?.ok_or_else(|| self.part.miscounted("fewer"))
    }
}

/// Bytes to write: those of one group, or a piece of it.
pub struct GroupBytes {
    /// Blocks begin with groups.
    in_blocks: bool,
    joint: BgzfJoiner,
    pub bytes: Vec<u8>,
    /// Whether `bytes` begin a group.
    begins: bool,
    /// Name of the last query. `None` before the first one.
    last: Option<Vec<u8>>,
}

impl GroupBytes {
    pub fn new(in_blocks: bool) -> Result<GroupBytes> {
        let joint = if in_blocks { BgzfJoiner::of_blocks()? } else { BgzfJoiner::of_text() };
        Ok(GroupBytes { in_blocks, joint, bytes: Vec::new(), begins: true, last: None })
    }

    /// Prepares for the bytes of another query, which has `letters` residues. Writes the bytes before it first if a
    /// group begins with this query, or if they fill a piece.
    pub fn begin(&mut self, (name, letters): (&[u8], usize), output: &mut Output) -> Result<()> {
        let is_first = |last: &Vec<u8>| groups::begins(last, name, letters);
        let begins = self.in_blocks && self.last.as_ref().is_some_and(is_first);
        if begins || self.bytes.len() >= PIECE {
            self.flush(output)?;
            self.begins = begins;
        }
        self.last = Some(name.to_vec());
        Ok(())
    }

    /// Writes the piece, and begins the next one.
    fn flush(&mut self, output: &mut Output) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let part = match self.in_blocks {
            true => RecordBytes::Piece { begins: self.begins, bytes },
            false => RecordBytes::Ready(bytes),
        };
        output.put(&self.joint.add(part)?)
    }

    /// Writes the rest.
    pub fn finish(mut self, output: &mut Output) -> Result<()> {
        self.flush(output)?;
        output.put(&self.joint.finish()?)
    }
}
