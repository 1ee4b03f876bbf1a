//! The lanes of a run: files of reads, each with its mates and its read group. Lanes are aligned one after another.
//!
//! For `--part`, the first files of all lanes count as one file. Each lane begins a new group of records, in a whole
//! run and in a part, so the concatenated parts equal the output of the whole run.

use super::estimate;
use crate::input::reader::{Extent, Mates, QueryReader, QuerySource, Reader, Slice, slices};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Result};
use crate::terms::options::{MatesChoice, Mode, Options, ReadRules, SequencingLane, Translation, try_open};
use std::path::{Path, PathBuf};

/// The lanes of a run that are still to be aligned.
pub struct SequencingLanes {
    lanes: Vec<SequencingLane>,
    /// Section of each lane that belongs to the part, if the run is a part.
    parts: Option<Vec<LanePart>>,
    rules: LaneRules,
    /// The next lane, and its reader if it is open.
    next: usize,
    opened: Option<Reader>,
    /// Bytes of the part in the earlier lanes, as far as they are known.
    bytes: u64,
    /// Sums of the byte offsets at which the part begins and ends in the finished lanes.
    stretch: (u64, u64),
}

/// Section of a lane that belongs to a part.
#[derive(Clone, Copy, Debug)]
pub struct LanePart {
    slice: Slice,
    /// Bytes of the lane's first file.
    size: u64,
}

/// A lane, opened.
pub struct OpenLane {
    pub lane: SequencingLane,
    pub queries: QuerySource,
    /// Bytes of the part in the earlier lanes, as far as they are known.
    pub bytes_before: u64,
    pub part: Option<LanePart>,
}

/// Rules for reading all lanes.
#[derive(Clone, Copy)]
struct LaneRules {
    read: ReadRules,
    alphabet: Alphabet,
    /// Whether the user specified the alphabet.
    is_given: bool,
    strands: Strands,
}

/// Rules for reading queries.
fn query_rules(options: &Options) -> ReadRules {
    ReadRules {
        any_names: options.takes_any_name(),
        masks_lower_case: options.masks_lower_case,
        keeps_titles: false,
        removes_gaps: options.removes_gaps,
        keeps_tags: options.copies_comments,
        has_read_group: options.read_group.is_some(),
        keeps_fields: options.queries_are_records(),
        translation: options.translation.and_then(Translation::of_queries),
        sample: options.audit.as_ref().and_then(|audit| audit.sampled),
    }
}

/// Opens the reads of the first lane, and computes the section of each lane that belongs to the part. Refuses a file of
/// a later lane that cannot be opened. `opened` are the reads, if they are open.
pub fn open_first(options: &Options, opened: Option<Reader>) -> Result<(Reader, Option<Vec<LanePart>>)> {
    let lanes = options.lanes();
    let later = lanes.iter().skip(1).flat_map(SequencingLane::files);
    for path in later.filter(|path| *path != Path::new("-")) {
        try_open(path).map_err(|source| Error::io(path, source))?;
    }
    let files: Vec<PathBuf> = lanes.into_iter().map(|lane| lane.reads).collect();
    let parts = |share| -> Result<Vec<LanePart>> {
        let slices = slices(&files, share)?;
        let slices = slices
            .into_iter()
            .map(|(slice, size)| LanePart { slice: slice.of_groups(options.removes_gaps), size });
        Ok(slices.collect())
    };
    let parts = options.part.map(parts).transpose()?;
    let slice = parts.as_ref().map(|parts| parts[0].slice);
    let rules = query_rules(options);
    let reads = match opened {
        Some(opened) => opened.with_rules(rules),
        None => Reader::open_part(&options.query, slice, rules)?,
    };
    Ok((reads, parts))
}

impl SequencingLanes {
    /// Creates the lanes of a run from the result of [`open_first`].
    pub fn new(
        options: &Options,
        (opened, parts): (Reader, Option<Vec<LanePart>>),
        (alphabet, strands): (Alphabet, Strands),
    ) -> SequencingLanes {
        let is_given = options.alphabet.is_some();
        let rules = LaneRules { read: query_rules(options), alphabet, is_given, strands };
        SequencingLanes {
            lanes: options.lanes(),
            parts,
            rules,
            next: 0,
            opened: Some(opened),
            bytes: 0,
            stretch: (0, 0),
        }
    }

    /// Opens the next lane. `None` if there are no more. If there are several lanes, skips those outside the part.
    pub fn next(&mut self, mode: Mode) -> Result<Option<OpenLane>> {
        while let Some(lane) = self.lanes.get(self.next).cloned() {
            let part = self.parts.as_ref().map(|parts| parts[self.next]);
            let opened = self.opened.take();
            self.next += 1;
            if let Some(place) = part.and_then(|part| part.passed()).filter(|_| self.lanes.len() > 1) {
                self.add((place, place));
                continue;
            }
            let reads = match opened {
                Some(reads) => reads,
                None => Reader::open_part(&lane.reads, part.map(|part| part.slice), self.rules.read)?,
            };
            let queries = self.rules.source(mode, &lane, (reads, part))?;
            let bytes_before = self.bytes;
            self.bytes += match part {
                Some(part) => part.bytes(),
                None => estimate::bytes(&lane.reads, None).unwrap_or(0),
            };
            return Ok(Some(OpenLane { lane, queries, bytes_before, part }));
        }
        Ok(None)
    }

    /// Records where the part begins and ends in a lane that was read completely.
    pub fn end(&mut self, extent: &Extent, part: Option<LanePart>) {
        let (begin, end) = extent.places();
        match part {
            // The next lane begins where this lane ends, however the end was found.
            Some(part) if part.is_last() => self.add((begin, part.size)),
            _ => self.add((begin, end)),
        }
    }

    fn add(&mut self, (begin, end): (u64, u64)) {
        self.stretch = (self.stretch.0 + begin, self.stretch.1 + end);
    }

    /// Sums of the byte offsets at which the part begins and ends in all lanes, once they are finished.
    pub fn stretch(&self) -> (u64, u64) {
        self.stretch
    }
}

impl LanePart {
    /// Approximate byte offsets in the lane's file at which the part begins and ends.
    fn borders(&self) -> [u64; 2] {
        self.slice.borders(self.size)
    }

    fn bytes(&self) -> u64 {
        let [begin, end] = self.borders();
        end - begin
    }

    /// Byte offset in the lane's file at which a part without any of its records begins and ends.
    fn passed(&self) -> Option<u64> {
        match self.borders() {
            [_, 0] => Some(0),
            [begin, _] if begin == self.size => Some(self.size),
            _ => None,
        }
    }

    /// Whether the part contains the end of the lane.
    fn is_last(&self) -> bool {
        self.borders()[1] == self.size
    }
}

impl LaneRules {
    fn queries(&self, reader: Reader) -> QueryReader {
        QueryReader::new(reader, self.alphabet, self.is_given, self.strands)
    }

    /// The queries of a lane.
    fn source(
        &self,
        mode: Mode,
        lane: &SequencingLane,
        (reads, part): (Reader, Option<LanePart>),
    ) -> Result<QuerySource> {
        let queries = self.queries(reads);
        Ok(match &lane.mates {
            // Queries and references are the same records.
            MatesChoice::None if mode == Mode::Triangle => {
                QuerySource::Single(Box::new(queries.without_empty()))
            }
            MatesChoice::None => QuerySource::Single(Box::new(queries)),
            MatesChoice::Interleaved => QuerySource::Mates(Box::new(Mates::interleaved(queries))),
            MatesChoice::File(path) => {
                let others = Reader::open(path)?.with_rules(self.read);
                let is_last = part.is_none_or(|part| part.is_last());
                QuerySource::Mates(Box::new(Mates::beside(queries, self.queries(others), is_last)?))
            }
        })
    }
}

/// Reopens the mates of a whole lane, for runs of a part.
pub fn whole_mates(options: &Options, lane: &SequencingLane, alphabet: Alphabet) -> Result<Mates> {
    let is_given = options.alphabet.is_some();
    let rules = LaneRules { read: query_rules(options), alphabet, is_given, strands: Strands::Both };
    let open =
        |path| -> Result<QueryReader> { Ok(rules.queries(Reader::open(path)?.with_rules(rules.read))) };
    match lane.mate_file() {
        Some(path) => Mates::beside(open(&lane.reads)?, open(path)?, true),
        None => Ok(Mates::interleaved(open(&lane.reads)?)),
    }
}
