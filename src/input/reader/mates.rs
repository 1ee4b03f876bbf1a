//! Joins mates into pairs, from two files or from one interleaved file.

use super::names::pair_name;
use super::{Extent, FileRecord, FileState, QueryReader};
use crate::terms::batch::Sequences;
use crate::terms::error::{Error, Place, Result};
use rayon::prelude::*;
use std::mem;
use std::path::Path;
use std::sync::Arc;

/// The queries of a run.
pub enum QuerySource {
    Single(Box<QueryReader>),
    Mates(Box<Mates>),
}

/// Paired reads: the two records of a pair are adjacent and have the same name.
pub struct Mates {
    first: QueryReader,
    /// `None` if the mates alternate in one file.
    second: Option<QueryReader>,
    /// The input, or its part, ends with the first file, so the second may continue.
    ends_early: bool,
    /// Pairs already read, and their codes.
    records: Vec<FileRecord>,
    codes: Sequences,
    /// Number of records at the start of `records` that were taken.
    taken: usize,
    /// Pairs per read.
    count: usize,
}

/// Records, and the codes of each.
type Encoded = (Vec<FileRecord>, Sequences);

/// Maximum number of pairs per read, and the intended number of residues per file.
const PAIRS: usize = 1 << 13;
const LETTERS: usize = 1 << 24;
/// Pairs of the first read, before their length is known.
const FIRST_PAIRS: usize = 256;
/// Pairs that a thread joins per task.
const PIECE: usize = 1 << 10;

impl QuerySource {
    /// The next queries that are in memory; empty at the end. Mates always come in pairs.
    pub fn at_hand(&mut self) -> Result<&[FileRecord]> {
        match self {
            QuerySource::Single(queries) => queries.at_hand(),
            QuerySource::Mates(mates) => mates.at_hand(),
        }
    }

    /// Moves the first of these queries to `records`, and their codes to `codes`, as [`QueryReader::take`] does.
    pub fn take(&mut self, count: usize, records: &mut Vec<FileRecord>, codes: &mut Sequences) {
        match self {
            QuerySource::Single(queries) => queries.take(count, records, codes),
            QuerySource::Mates(mates) => mates.take(count, records, codes),
        }
    }

    /// The mates, if the queries are paired.
    pub fn mates(&mut self) -> Option<&mut Mates> {
        match self {
            QuerySource::Single(_) => None,
            QuerySource::Mates(mates) => Some(mates),
        }
    }

    /// Position of the queries in the file; of two files, in the first.
    pub fn extent(&self) -> Arc<Extent> {
        self.main().extent()
    }

    /// States of the files when they were opened.
    pub fn states(&self) -> Vec<FileState> {
        match self {
            QuerySource::Single(queries) => vec![queries.state().clone()],
            QuerySource::Mates(mates) => mates.states(),
        }
    }

    /// The path of the first file as errors show it.
    pub fn path(&self) -> &Path {
        self.main().path()
    }

    /// The path of the file with the second mates.
    pub fn mate_path(&self) -> &Path {
        match self {
            QuerySource::Mates(mates) => mates.second.as_ref().map_or(self.path(), QueryReader::path),
            QuerySource::Single(_) => self.path(),
        }
    }

    /// Approximate number of bytes of the first file that the queries taken so far occupy.
    pub fn bytes_taken(&self) -> u64 {
        self.main().bytes_taken()
    }

    /// Warnings after the end of the input ([`super::Reader::warnings`]).
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let second = match self {
            QuerySource::Mates(mates) => mates.second.as_ref(),
            QuerySource::Single(_) => None,
        };
        self.main().warnings().into_iter().chain(second.map(QueryReader::warnings).into_iter().flatten())
    }

    /// The @RG lines of a BAM file.
    pub fn read_groups(&self) -> &[String] {
        self.main().read_groups()
    }

    fn main(&self) -> &QueryReader {
        match self {
            QuerySource::Single(queries) => queries,
            QuerySource::Mates(mates) => &mates.first,
        }
    }
}

impl Mates {
    /// Mates that alternate in one input.
    pub fn interleaved(queries: QueryReader) -> Mates {
        Mates::new(queries, None, false)
    }

    /// Mates in two inputs. `first` may be a part of its file. Then `second` is the whole other file, and `is_last`
    /// says whether it must end with the part.
    pub fn beside(first: QueryReader, mut second: QueryReader, is_last: bool) -> Result<Mates> {
        let extent = first.extent();
        let before = extent.count()?;
        second.skip(before.records)?;
        Ok(Mates::new(first, Some(second), !is_last))
    }

    fn new(first: QueryReader, second: Option<QueryReader>, ends_early: bool) -> Mates {
        let (records, codes) = Default::default();
        Mates { first, second, ends_early, records, codes, taken: 0, count: FIRST_PAIRS }
    }

    /// The first `pairs` pairs, or the pairs within about `letters` residues, and their codes. Consumes no pairs.
    pub fn ahead(&mut self, pairs: usize, letters: usize) -> Result<(&[FileRecord], &Sequences)> {
        while self.records.len() < 2 * pairs && self.codes.codes().len() < letters && self.more()? {}
        let count = self.records.len().min(2 * pairs);
        Ok((&self.records[..count], &self.codes))
    }

    /// Number of reads before this part in the whole input. `None` if `whole`, a reader of the same input, has not read
    /// up to this part, so that the two share no reads.
    pub fn reads_before(&self, whole: &Mates) -> Result<Option<u64>> {
        let extent = self.first.extent();
        if extent.begins_behind(whole.first.bytes_read()) {
            return Ok(None);
        }
        let records = extent.count()?.records;
        Ok(Some(if self.second.is_some() { 2 * records } else { records }))
    }

    /// States of the files when they were opened.
    fn states(&self) -> Vec<FileState> {
        [Some(&self.first), self.second.as_ref()].into_iter().flatten().map(|of| of.state().clone()).collect()
    }

    /// Returns an error if the files of the same mates, opened again, have changed.
    pub fn check_same_files(&self, again: &Mates) -> Result<()> {
        self.states().iter().zip(again.states()).try_for_each(|(first, again)| first.check_same(&again))
    }

    fn at_hand(&mut self) -> Result<&[FileRecord]> {
        if self.taken == self.records.len() {
            self.records.clear();
            self.codes = Sequences::default();
            self.taken = 0;
            while self.records.is_empty() && self.more()? {}
        }
        Ok(&self.records[self.taken..])
    }

    fn take(&mut self, count: usize, records: &mut Vec<FileRecord>, codes: &mut Sequences) {
        let strands = self.codes.len() / self.records.len().max(1);
        let (from, to) = (self.taken, self.taken + count);
        codes.append(&self.codes, from * strands..to * strands);
        records.extend(self.records[from..to].iter_mut().map(|record| mem::replace(record, empty())));
        self.taken = to;
    }

    /// Reads more pairs; returns `false` at the end.
    fn more(&mut self) -> Result<bool> {
        let Mates { first, second, count, .. } = self;
        let Some(second) = second else { return self.more_alternating() };
        let wanted = *count;
        // Reading from a pipe may block a thread, which must not be one of the pool.
        let (ones, others) = match first.is_steady() && second.is_steady() {
            true => rayon::join(|| first.some(wanted), || second.some(wanted)),
            false => (first.some(wanted), second.some(wanted)),
        };
        let (mut ones, mut others) = (ones?, others?);
        if self.ends_early {
            others.0.truncate(ones.0.len());
        }
        let paths = [first.path(), second.path()];
        let counts = (ones.0.len(), others.0.len());
        if counts.0 != counts.1 {
            // Errors of complete pairs are reported first, because they precede the end.
            ones.0.iter_mut().zip(&mut others.0).try_for_each(|(one, other)| join(one, other, paths))?;
            return Err(match counts.0 > counts.1 {
                true => alone(paths, &ones.0[counts.1]),
                false => alone([paths[1], paths[0]], &others.0[counts.0]),
            });
        }
        if ones.0.is_empty() {
            return Ok(false);
        }
        let letters = (ones.1.codes().len() / ones.0.len()).max(1);
        self.count = (LETTERS / letters).clamp(1, PAIRS);
        let joined = beside(ones, others, paths)?;
        self.codes.append_all(&joined.iter().map(|(_, codes)| codes).collect::<Vec<_>>());
        self.records.extend(joined.into_iter().flat_map(|(records, _)| records));
        Ok(true)
    }

    fn more_alternating(&mut self) -> Result<bool> {
        let Mates { first, records, codes, .. } = self;
        let begun = records.len();
        // A piece of the file may end between two mates.
        loop {
            let count = first.at_hand()?.len();
            if count == 0 {
                break;
            }
            first.take(count, records, codes);
            if records.len().is_multiple_of(2) {
                break;
            }
        }
        let (pairs, rest) = records[begun..].as_chunks_mut::<2>();
        let path = first.path();
        if let [last] = rest {
            let place = of_record(path, last);
            let problem = "the last record has no mate";
            return Err(Error::input(
                place,
                problem,
                "add its mate or remove it; the mates of each pair must follow each other",
            ));
        }
        pairs.iter_mut().try_for_each(|[one, other]| join(one, other, [path; 2]))?;
        Ok(records.len() > begun)
    }
}

/// Gives both mates the name of the pair; records of different pairs are an error.
fn join(one: &mut FileRecord, other: &mut FileRecord, paths: [&Path; 2]) -> Result<()> {
    let Some(name) = pair_name(&one.name, &other.name) else {
        let order = "in the same order, or give one file of alternating mates with --interleaved";
        let places = [of_record(paths[0], one), of_record(paths[1], other)];
        return Err(if paths[0] == paths[1] { apart(places) } else { unlike(places, order) });
    };
    let len = name.len();
    one.name.truncate(len);
    other.name.truncate(len);
    Ok(())
}

/// Interleaves the mates of two files, in pieces on all threads.
fn beside(ones: Encoded, others: Encoded, paths: [&Path; 2]) -> Result<Vec<Encoded>> {
    let ((mut ones, own), (mut others, codes)) = (ones, others);
    let strands = own.len() / ones.len().max(1);
    let piece = |(number, (ones, others)): (usize, (&mut [FileRecord], &mut [FileRecord]))| {
        let (mut records, mut joined) = (Vec::with_capacity(2 * ones.len()), Sequences::default());
        let first = number * PIECE;
        joined.reserve(2 * ones.len() * strands, 0);
        for (place, (one, other)) in (first..).zip(ones.iter_mut().zip(others)) {
            join(one, other, paths)?;
            records.extend([one, other].map(|record| mem::replace(record, empty())));
            for codes in [&own, &codes] {
                joined.append(codes, place * strands..(place + 1) * strands);
            }
        }
        Ok((records, joined))
    };
    ones.par_chunks_mut(PIECE).zip(others.par_chunks_mut(PIECE)).enumerate().map(piece).collect()
}

fn empty() -> FileRecord {
    FileRecord { number: 0, name: String::new(), sequence: Vec::new(), qualities: None, tags: Vec::new() }
}

/// The error for a record of the first file beyond the end of the second.
fn alone([path, other]: [&Path; 2], record: &FileRecord) -> Error {
    without_mate(of_record(path, record), other)
}

/// The error for two records that should be mates, with the order that the records should be in.
pub(super) fn unlike([place, mate]: [Place; 2], order: &str) -> Error {
    let problem = format!("its mate by position is {mate}, which has another name");
    let remedy = format!(
        "give two files with records {order}; names may end in /1 and /2, .1 and .2, _1 and _2, or :1 and :2"
    );
    Error::input(place, problem, remedy)
}

/// The error for two successive records of one file that are not mates.
fn apart([place, mate]: [Place; 2]) -> Error {
    let problem = format!("the next record is {mate}, which is not its mate");
    let remedy = "put mates one after the other, as `samtools collate` does for BAM; names may end in /1 and /2, .1 and .2, \
                  _1 and _2, or :1 and :2";
    Error::input(place, problem, remedy)
}

/// The error for a record beyond the end of the file of its mates.
pub(super) fn without_mate(place: Place, mates: &Path) -> Error {
    let problem = format!("it has no mate: {} has fewer records", mates.display());
    Error::input(place, problem, "give two files with the same number of records in the same order")
}

fn of_record(path: &Path, record: &FileRecord) -> Place {
    Place { file: path.to_path_buf(), record: Some((record.number, record.name.clone())), line: None }
}
