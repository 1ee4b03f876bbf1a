//! Finds one part of a file's records without reading the file before it.
//!
//! A file of `B` bytes, as stored on disk, is divided into `n` parts. Part `i` holds the records between the cuts of
//! the bytes `ceil((i - 1) * B / n)` and `ceil(i * B / n)`. The cut of byte 0 is the beginning of the file, and that of
//! byte `B` its end. The cut of any other byte is found from the next byte at which reading can begin: in a plain file
//! that byte itself, in bgzf the first byte of the next block, in gzip the first byte identified by the next
//! [step](feed) of the file. Among the records that begin after that byte (not at it), the first is skipped, because a
//! reader that begins here does not know the name of the record before it. The cut is the first later record that
//! begins a group ([`crate::terms::groups`]), or the end of the file if there is none. If records form no groups, the
//! first record itself is the cut.
//!
//! So a cut depends only on the file and the byte. The two parts next to it find it independently, and the parts are
//! consecutive stretches of the file. A plain or bgzf file is read from near the part's beginning. A gzip file can only
//! be read from its beginning, so it is decompressed up to the part. Reading stops at most one group after the end of a
//! part.

use crate::terms::casts::{to_u64, to_usize};

mod feed;
mod starts;
#[cfg(test)]
mod tests;

use super::cut::newlines;
use super::faults::{unread, whole};
use super::file_state::FileState;
use super::gunzip::GzipTail;
use super::meter::Meter;
use super::parse::Before;
use super::source::is_blank;
use crate::terms::error::{Error, Place, Result};
use crate::terms::groups;
use crate::terms::options::Share;
use crate::terms::system::File;
use feed::ShareFeed;
use memchr::memmem;
use needletail::parser::Format;
use starts::{RecordStart, next_start};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Lines per FASTQ record.
const FASTQ_LINES: u64 = 4;

/// A part of a file, or of one file among several that count as one.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub(super) share: Share,
    /// Whether groups of records stay together.
    pub(super) groups: bool,
    /// Whether gap characters of FASTA are removed.
    pub(super) removes_gaps: bool,
    /// Total bytes of the files before this one, and of all files.
    pub(super) before: u64,
    pub(super) total: u64,
}

impl Slice {
    /// The same part, cut between groups of records.
    pub fn of_groups(self, removes_gaps: bool) -> Slice {
        Slice { groups: true, removes_gaps, ..self }
    }

    /// The bytes of this file, which has `size` bytes, from which the cuts at the part's beginning and end are searched
    /// for.
    pub fn borders(&self, size: u64) -> [u64; 2] {
        let Share { number, of } = self.share;
        [number - 1, number].map(|parts| {
            let byte = to_u64((u128::from(parts) * u128::from(self.total)).div_ceil(u128::from(of)));
            byte.saturating_sub(self.before).min(size)
        })
    }
}

/// The decompressed bytes of a part's records.
pub struct ShareBytes {
    feed: ShareFeed,
    format: Option<Format>,
    groups: bool,
    removes_gaps: bool,
    /// The bytes from which the cuts are searched for, and the size of the file.
    borders: [u64; 2],
    size: u64,
    /// State of the file when it was opened.
    state: FileState,
    /// The searches for the cuts at the part's beginning and end, once bytes were read at which reading can begin.
    begin: Option<CutSearch>,
    end: Option<CutSearch>,
    /// Decompressed bytes, and the offset of the first of them in the feed's output.
    bytes: Vec<u8>,
    at: u64,
    /// Bytes before this offset were read or precede the part.
    from: u64,
    /// Whether the feed has ended, or nothing more is needed from it.
    ended: bool,
    /// The end of the part, for its [`Extent`].
    end_place: Arc<OnceLock<u64>>,
    meter: Meter,
}

impl ShareBytes {
    /// Finds the part's first record.
    pub fn open(path: &Path, slice: Slice) -> io::Result<(ShareBytes, Extent)> {
        let mut stretch = ShareBytes::from_the_start(path, slice)?;
        let [begin, _] = stretch.borders;
        if begin > 0 && !stretch.ended {
            stretch.feed.jump(begin)?;
        }
        stretch.find_begin(path)
    }

    /// A stretch of a file before anything was read.
    fn from_the_start(path: &Path, slice: Slice) -> io::Result<ShareBytes> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let state = FileState::of(path, &file);
        let mut borders = slice.borders(size);
        let (feed, lead) = ShareFeed::open(file, borders)?;
        let format = match lead.first {
            _ if lead.alignments.is_some() => None,
            Some(b'>') => Some(Format::Fasta),
            Some(b'@') => Some(Format::Fastq),
            _ => None,
        };
        if format.is_none() {
            // Every part gets the whole file, so that its reader reports the error.
            borders = [0, size];
        }
        Ok(ShareBytes {
            feed,
            format,
            groups: slice.groups,
            removes_gaps: slice.removes_gaps,
            borders,
            size,
            state,
            begin: None,
            end: None,
            bytes: Vec::new(),
            at: 0,
            from: 0,
            ended: borders[0] == size || borders[1] == 0,
            end_place: Arc::default(),
            meter: Meter::default(),
        })
    }

    fn find_begin(mut self, path: &Path) -> io::Result<(ShareBytes, Extent)> {
        while !self.begin.as_ref().is_some_and(|begin| begin.found) && self.more()? {}
        let [border, _] = self.borders;
        let extent = Extent {
            path: path.to_path_buf(),
            state: self.state.clone(),
            format: self.format,
            border,
            behind: self.begin.as_ref().map_or(0, |begin| begin.at - begin.from),
            begin: self.place(&self.begin, border),
            end: Arc::clone(&self.end_place),
            tail: self.feed.tail(),
            counted: OnceLock::new(),
        };
        Ok((self, extent))
    }

    /// Whether the file is FASTA or FASTQ.
    pub fn has_records(&self) -> bool {
        self.format.is_some()
    }

    /// The counter of bytes read from the part, before decompression.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// A number that identifies a cut: in a plain file its byte; otherwise the compressed offset at which the search
    /// began plus the number of decompressed bytes from there.
    fn place(&self, search: &Option<CutSearch>, border: u64) -> u64 {
        match search {
            // Empty blocks may precede the first bytes.
            _ if border == 0 => 0,
            Some(search) => search.place + (search.at - search.from),
            None => self.size,
        }
    }

    /// Offset after the bytes in memory.
    fn there(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// Reads more bytes and continues the search for the cuts; returns `false` at the end.
    fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let needed = self.end.as_ref().map_or(self.from, |end| end.at.min(self.from));
        self.bytes.drain(..to_usize(needed - self.at));
        self.at = needed;
        // An incomplete record is parsed again when the buffer has doubled.
        let enough = 2 * self.bytes.len();
        while !self.ended && self.bytes.len() <= enough {
            let from = self.there();
            self.ended = !self.feed.next(&mut self.bytes)?;
            self.meter.set(self.feed.at().saturating_sub(self.borders[0]));
            for (border, search) in self.borders.into_iter().zip([&mut self.begin, &mut self.end]) {
                if search.is_none() && !self.ended && self.feed.at() >= border {
                    *search = Some(CutSearch::new(from, self.feed.at(), border));
                }
            }
        }
        if let Some(format) = self.format {
            for search in
                [&mut self.begin, &mut self.end].into_iter().flatten().filter(|search| !search.found)
            {
                let bytes = &self.bytes[to_usize(search.at - self.at)..];
                search.look(bytes, (format, self.removes_gaps), self.groups, self.ended);
            }
        }
        self.from = self.begin.as_ref().map_or(self.there(), |begin| begin.at.max(self.from));
        Ok(true)
    }
}

impl Read for ShareBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let to = self.end.as_ref().map_or(self.there(), |end| end.at);
            if self.from < to {
                let own = to_usize(self.from - self.at)..to_usize(to - self.at);
                let read = (&self.bytes[own]).read(buffer)?;
                self.from += read as u64;
                return Ok(read);
            }
            if self.end.as_ref().is_some_and(|end| end.found) || !self.more()? {
                let place = self.place(&self.end, self.borders[1]);
                self.end_place.get_or_init(|| place);
                self.meter.set(self.borders[1] - self.borders[0]);
                return Ok(0);
            }
        }
    }
}

/// The search for a cut.
struct CutSearch {
    /// Start of the search: offset in the decompressed bytes, and offset in the file.
    from: u64,
    place: u64,
    /// Bytes before this offset precede the cut; the cut itself once it is found.
    at: u64,
    found: bool,
    /// Name of the last record that was skipped.
    last: Option<Vec<u8>>,
}

impl CutSearch {
    fn new(from: u64, place: u64, border: u64) -> CutSearch {
        CutSearch { from, place, at: from, found: border == 0, last: None }
    }

    /// Searches `bytes`, which begin at the current offset, and which are all remaining bytes if `at_end`.
    fn look(&mut self, mut bytes: &[u8], (format, removes_gaps): (Format, bool), groups: bool, at_end: bool) {
        loop {
            let RecordStart { at, name, letters, open } =
                match next_start(format, bytes, at_end, removes_gaps) {
                    Ok(start) => start,
                    Err(passed) => {
                        self.at += if at_end { bytes.len() } else { passed } as u64;
                        self.found = at_end;
                        return;
                    }
                };
            let begins = |last: &Vec<u8>| groups::begins(last, name, letters);
            let undecided = |last: &Vec<u8>| open && !groups::are_mates(last, name);
            if !groups || self.last.as_ref().is_some_and(begins) {
                self.at += at as u64;
                self.found = true;
                return;
            }
            if self.last.as_ref().is_some_and(undecided) {
                // Resumes at the newline before the record.
                self.at += at as u64 - 1;
                return;
            }
            self.last = Some(name.to_vec());
            self.at += at as u64;
            bytes = &bytes[at..];
        }
    }
}

/// Position of a part in its file. The default is a whole file, which nothing precedes.
#[derive(Default)]
pub struct Extent {
    path: PathBuf,
    /// State of the file when it was opened.
    state: FileState,
    format: Option<Format>,
    /// The byte from which its beginning was searched for, and the number of decompressed bytes from there to the
    /// beginning.
    border: u64,
    behind: u64,
    /// Numbers that identify the cuts; that of the end is known once everything is read.
    begin: u64,
    end: Arc<OnceLock<u64>>,
    tail: GzipTail,
    counted: OnceLock<Option<Before>>,
}

impl Extent {
    /// Whether it begins the file.
    pub fn is_first(&self) -> bool {
        self.border == 0
    }

    /// Whether it begins after the first `bytes` compressed bytes of the file.
    pub fn begins_behind(&self, bytes: u64) -> bool {
        self.border > bytes
    }

    /// Numbers that identify the cuts at its beginning and end.
    pub fn places(&self) -> (u64, u64) {
        (self.begin, self.end.get().copied().unwrap_or(self.begin))
    }

    /// Observations at the end of gzip data.
    pub(super) fn tail(&self) -> &GzipTail {
        &self.tail
    }

    /// Corrects the position of an error in the part.
    pub fn shift(&self, error: Error) -> Error {
        match error {
            Error::Input { place, problem, remedy } => Error::input(self.place(place), problem, remedy),
            other => other,
        }
    }

    /// Converts a position in the part to the position in the file. If the file before the part cannot be counted, the
    /// result is the file alone.
    pub fn place(&self, place: Place) -> Place {
        let is_elsewhere = place.file != self.path || place.record.is_none() && place.line.is_none();
        if self.is_first() || is_elsewhere {
            return place;
        }
        match self.counted.get_or_init(|| self.count().ok()) {
            Some(before) => before.place(place),
            None => whole(&place.file),
        }
    }

    /// State of the file when it was opened.
    pub fn state(&self) -> &FileState {
        &self.state
    }

    /// Reads the file before the part, and counts its records and lines. A file that has changed is an error.
    pub fn count(&self) -> Result<Before> {
        if self.is_first() {
            return Ok(Before::default());
        }
        let file = File::open(&self.path).map_err(|source| unread(&self.path, source))?;
        self.state.check_same(&FileState::of(&self.path, &file))?;
        self.count_in(file).map_err(|source| unread(&self.path, source))
    }

    fn count_in(&self, file: File) -> io::Result<Before> {
        let mut before = Before::default();
        let (mut feed, lead) = ShareFeed::open(file, [self.border; 2])?;
        // The first record has no line end before it. All cuts come after it.
        before.records = u64::from(lead.lines == 0);
        let (mut piece, mut line_begins, mut left) = (Vec::new(), false, None);
        // Lines up to the last line with text. Empty lines may follow the last FASTQ record.
        let mut lines = 0;
        while left != Some(0) && feed.next(&mut piece)? {
            if feed.at() >= self.border {
                let left = left.get_or_insert(self.behind);
                piece.truncate(to_usize((*left).min(piece.len() as u64)));
                *left -= piece.len() as u64;
            }
            if let Some(last) = piece.iter().rposition(|&byte| !is_blank(byte)) {
                lines = before.lines + newlines(&piece[..last]) as u64 + 1;
            }
            before.lines += newlines(&piece) as u64;
            before.records += memmem::find_iter(&piece, b"\n>").count() as u64;
            before.records += u64::from(line_begins && piece.first() == Some(&b'>'));
            line_begins = piece.last().map_or(line_begins, |&last| last == b'\n');
            piece.clear();
        }
        if self.format == Some(Format::Fastq) {
            before.records = u64::saturating_sub(lines, lead.lines).div_ceil(FASTQ_LINES);
        }
        Ok(before)
    }
}
