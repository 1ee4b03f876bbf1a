//! Irregularities that a reader tolerates, reported once per kind: their number, and the first position.

use super::parse::Before;
use super::share::Extent;
use crate::terms::error::Place;

/// A kind of remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// FASTQ reads have `.` for a base that was not called.
    Dots,
    /// A reference has no residues.
    EmptyReference,
    /// A comment whose tags are copied also holds other text.
    NoTag,
}

/// Kinds of remarks, in the order of [`RecordRemarks`].
const KINDS: [Remark; 3] = [Remark::Dots, Remark::EmptyReference, Remark::NoTag];

/// Number of records with a remark, and the first of them.
#[derive(Clone, Debug, Default)]
pub struct RecordRemarks([RemarkCount; KINDS.len()]);

#[derive(Clone, Debug, Default)]
struct RemarkCount {
    records: u64,
    first: Option<Place>,
}

impl RecordRemarks {
    /// Counts a record. Its position is computed only for the first record of a kind.
    pub fn note(&mut self, remark: Remark, place: impl FnOnce() -> Place) {
        let noted = &mut self.0[remark as usize];
        noted.records += 1;
        noted.first.get_or_insert_with(place);
    }

    /// Adds the remarks of the next piece of an input, which follows `before`.
    pub fn add(&mut self, next: RecordRemarks, before: Before) {
        for (all, next) in self.0.iter_mut().zip(next.0) {
            all.records += next.records;
            all.first = all.first.take().or_else(|| next.first.map(|place| before.place(place)));
        }
    }

    /// One sentence per kind, with positions in the whole file.
    pub fn sentences(&self, extent: &Extent) -> Vec<String> {
        let sentence = |(kind, noted): (&Remark, &RemarkCount)| {
            let place = extent.place(noted.first.clone()?);
            Some(format!("{place}: {}", kind.sentence(noted.records)))
        };
        KINDS.iter().zip(&self.0).filter_map(sentence).collect()
    }
}

impl Remark {
    fn sentence(self, records: u64) -> String {
        let more = match records {
            1 => String::new(),
            _ => format!(" (the first of {records} such records)"),
        };
        match self {
            Remark::Dots => format!("'.' in FASTQ is read as N{more}"),
            Remark::NoTag => format!("the comment has a field that is not a SAM tag and is not copied{more}"),
            Remark::EmptyReference => format!("the record is empty and is skipped{more}"),
        }
    }
}
