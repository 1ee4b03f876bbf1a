//! Records of a part of the references, read back to be joined with those of the other parts.
//!
//! A record stays as the part's run has written it, but for what depends on the hits among other references: a
//! primary record may get another score of the second hit and another mapping quality, or become a secondary
//! one, which has neither, and no letters.

mod bam;
mod text;

use crate::alignment::Strand;
use crate::options::Format;
use noodles_bgzf::io::Reader;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// A record as it was written.
pub struct Record {
    format: Format,
    /// Of BAM unpacked, with the size in front; else a line with its end.
    bytes: Vec<u8>,
    /// `None` for an unmapped query.
    pub aligned: Option<Aligned>,
}

/// What is told by the record of an aligned query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub score: i32,
    pub strand: Strand,
    pub secondary: bool,
    /// Score of the query's second hit.
    pub second: Option<i32>,
    /// The longer of what the query and the target have in the alignment.
    pub span: u32,
}

/// What a record is among those of all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Primary { second: Option<i32>, quality: u8 },
    Secondary,
}

/// The records of a part, in order.
pub struct Records {
    format: Format,
    input: Box<dyn BufRead + Send>,
    /// The first record of the next query.
    ahead: Option<Record>,
}

impl Records {
    /// The records in `bytes`, which are those of a file between its header and its end.
    pub fn new(format: Format, bytes: impl Read + Send + 'static) -> Records {
        let bytes = BufReader::new(bytes);
        let input: Box<dyn BufRead + Send> = match format {
            Format::Bam => Box::new(Reader::new(bytes)),
            Format::Sam | Format::Paf => Box::new(bytes),
        };
        Records { format, input, ahead: None }
    }

    /// The records of the next query, the secondary ones behind the other; none at the end.
    pub fn next_query(&mut self) -> io::Result<Vec<Record>> {
        let Some(first) = self.ahead.take().map_or_else(|| self.read(), |ahead| Ok(Some(ahead)))? else {
            return Ok(Vec::new());
        };
        if first.is_secondary() {
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

    fn read(&mut self) -> io::Result<Option<Record>> {
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
        let aligned = match self.format {
            Format::Bam => bam::aligned(&bytes),
            Format::Sam => text::SAM.aligned(&bytes),
            Format::Paf => text::PAF.aligned(&bytes),
        };
        Ok(Some(Record { format: self.format, aligned: aligned.ok_or_else(damaged)?, bytes }))
    }
}

impl Record {
    /// QNAME.
    pub fn name(&self) -> &[u8] {
        match self.format {
            Format::Bam => bam::name(&self.bytes),
            Format::Sam | Format::Paf => text::name(&self.bytes),
        }
    }

    fn is_secondary(&self) -> bool {
        self.aligned.is_some_and(|aligned| aligned.secondary)
    }

    /// Appends the record as it is among those of all parts. One without an alignment is the same there.
    pub fn push(&self, out: &mut Vec<u8>, standing: Standing) {
        match self.format {
            _ if self.aligned.is_none() => out.extend_from_slice(&self.bytes),
            Format::Bam => bam::push(&self.bytes, out, standing),
            Format::Sam => text::SAM.push(&self.bytes, out, standing),
            Format::Paf => text::PAF.push(&self.bytes, out, standing),
        }
    }
}

/// The longer of the stretches of query and target that the operations of a CIGAR, by length and letter, take.
fn span(operations: impl Iterator<Item = (u32, u8)>) -> Option<u32> {
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
    Some(query.max(target))
}

/// The error of a file that is not what a run has written.
pub fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a record is damaged; write this part again")
}
