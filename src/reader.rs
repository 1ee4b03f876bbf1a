//! FASTA and FASTQ in, plain or gzip (bgzf included), from a file or from stdin.
//!
//! The bytes come in blocks of whole records (`blocks`); a block's pieces are parsed side by side on
//! all threads (`parse`), and what is made of the records comes in the order of the file: plain
//! [`Record`]s from a [`Reader`], checked and encoded ones from [`Queries`] and [`read_references`].
//! Memory holds two blocks, one being parsed and one read ahead, however long the input is.

mod abundance;
mod bgzf;
mod blocks;
mod checks;
mod cut;
mod faults;
mod gunzip;
mod lines;
mod mates;
mod meter;
mod name_pairs;
mod names;
mod parse;
mod queries;
mod reads;
mod references;
#[cfg(test)]
mod seams;
mod share;
mod source;
#[cfg(test)]
mod tests;
mod texts;

pub use abundance::with_abundance;
pub use checks::{MAX_QUERY_NAME, MAYBE_PROTEIN, check_reference, sam_name};
pub use lines::{LineBlock, LineReader};
pub use mates::{Mates, QuerySource};
pub use meter::Meter;
pub use name_pairs::{NamePair, read_name_pairs};
pub use names::first_repeated;
pub use queries::Queries;
pub use reads::{ReadBatch, Reads};
pub use references::{
    References, alphabet_of, check_reference_names, read_reference_part, read_references, stretch_of_part,
};
pub use share::{Extent, Slice};
pub use source::DATABASE;
pub use texts::{Text, Texts, check_distinct_names, read_lengths, read_patterns, slices};

use crate::alphabet::Alphabet;
use crate::error::{Error, Result};
use crate::options::Share;
use blocks::{Block, Blocks, Sizes};
use faults::{Origin, encoded, no_records, unopened, unread, whole};
use parse::{Before, Raw};
use rayon::prelude::*;
use share::Stretch;
use source::{Packing, Source};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many times the bytes of the letters wanted should hold them, line ends and names included.
const LETTERS_WITHIN: usize = 4;

/// One sequence of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// 1-based place among the records of the file, or of the part of it that is read.
    pub number: u64,
    /// The header up to its first white space.
    pub name: String,
    /// Letters in upper case, without line ends.
    pub sequence: Vec<u8>,
    /// Phred+33 characters, as many as letters; `None` for FASTA.
    pub qualities: Option<Vec<u8>>,
}

/// The records of one file, in order. After an error there are no more.
pub struct Reader {
    origin: Arc<Origin>,
    blocks: Blocks,
    /// Reading waits for nobody, so that a thread of the pool may do it.
    steady: bool,
    /// Names may hold what SAM forbids.
    any_names: bool,
    /// Whether letters in lower case become N, or X of proteins.
    masks_lower_case: bool,
    /// Whether whole header lines of references are kept beside their names.
    keeps_titles: bool,
    /// Blocks read and not yet parsed.
    ahead: VecDeque<Block>,
    /// What the input, or the part of it, holds before them.
    before: Before,
    /// Where that part is.
    extent: Arc<Extent>,
    /// Bytes read of the file, and up to the end of the block that was parsed last.
    meter: Meter,
    parsed: u64,
    finished: bool,
    peeked: Option<Record>,
    /// Parsed records that are taken one by one, and the error behind them.
    ready: VecDeque<Record>,
    fault: Option<Error>,
}

/// What was made of a block up to its first error.
struct Harvest<T> {
    /// Piece by piece, with what the input holds before it.
    pieces: Vec<(Before, T)>,
    fault: Option<Error>,
}

/// What of a file a reader has.
#[derive(Clone, Copy)]
struct Part {
    /// A part of a file with records may have none.
    may_be_empty: bool,
    /// Whether the file begins with it: that tells its encoding.
    is_first: bool,
}

impl Reader {
    /// Opens `path`, or stdin for `-`. An input without records is an error here already.
    pub fn open(path: &Path) -> Result<Reader> {
        if path == Path::new("-") {
            let meter = Meter::default();
            let stdin = Box::new(meter.watch(io::stdin()));
            return Ok(Reader { meter, ..Reader::new(PathBuf::from("<stdin>"), stdin)? });
        }
        let file = File::open(path).map_err(|source| unopened(path, source))?;
        let kind = file.metadata().map(|metadata| metadata.file_type());
        if kind.as_ref().is_ok_and(|kind| kind.is_dir()) {
            let remedy = "give a FASTA or FASTQ file";
            return Err(Error::input(whole(path), "this is a directory", remedy));
        }
        let steady = kind.is_ok_and(|kind| kind.is_file());
        let meter = Meter::default();
        let file = Box::new(meter.watch(file));
        Ok(Reader { steady, meter, ..Reader::new(path.to_path_buf(), file)? })
    }

    /// Opens the part `share` of a file, cut between groups of records; without a part, all of it.
    pub fn open_share(path: &Path, share: Option<Share>) -> Result<Reader> {
        let Some(share) = share else { return Reader::open(path) };
        let slice = Slice { share, groups: true, before: 0, total: size(path, "--part")? };
        Reader::open_slice(path, slice)
    }

    /// Opens a file that can be read twice, as a part of the references is.
    pub fn open_twice(path: &Path) -> Result<Reader> {
        size(path, "--ref-part")?;
        Reader::open(path)
    }

    /// Whether names may hold what SAM forbids, instead of being refused for it.
    pub fn with_any_names(self, any_names: bool) -> Reader {
        Reader { any_names, ..self }
    }

    /// Whether letters in lower case become N, or X of proteins.
    pub fn with_mask(self, masks_lower_case: bool) -> Reader {
        Reader { masks_lower_case, ..self }
    }

    /// Whether the whole header lines of references are kept.
    pub fn with_titles(self, keeps_titles: bool) -> Reader {
        Reader { keeps_titles, ..self }
    }

    fn open_slice(path: &Path, slice: Slice) -> Result<Reader> {
        let (stretch, extent) = Stretch::open(path, slice).map_err(|source| unread(path, source))?;
        // What is no FASTA is refused as a whole.
        let part = Part { may_be_empty: stretch.has_records(), is_first: extent.is_first() };
        let meter = stretch.meter();
        let reader = Reader::placed(path.to_path_buf(), Box::new(stretch), Sizes::default(), part)?;
        Ok(Reader { steady: true, extent: Arc::new(extent), meter, ..reader })
    }

    fn new(path: PathBuf, input: Box<dyn Read + Send>) -> Result<Reader> {
        Reader::sized(path, input, Sizes::default())
    }

    fn sized(path: PathBuf, input: Box<dyn Read + Send>, sizes: Sizes) -> Result<Reader> {
        Reader::placed(path, input, sizes, Part { may_be_empty: false, is_first: true })
    }

    /// A reader of all of a file, or of a part.
    fn placed(path: PathBuf, input: Box<dyn Read + Send>, sizes: Sizes, part: Part) -> Result<Reader> {
        let source = Source::new(input).map_err(|source| unread(&path, source))?;
        let (packing, tail) = (source.packing(), source.tail());
        if let Some(encoding) = source.utf16().filter(|_| part.is_first) {
            return Err(encoded(&path, encoding));
        }
        match packing {
            Packing::Empty if !part.may_be_empty => return Err(no_records(&path)),
            Packing::Foreign(name, command) => {
                let remedy = format!("decompress it first, as in `{command} FILE | swalign - ...`");
                return Err(Error::input(whole(&path), format!("{name} compression is not read"), remedy));
            }
            Packing::Database => {
                let problem = "this is a database of `swalign index`, which stands as a file in the place of REFERENCE alone";
                return Err(Error::input(whole(&path), problem, "give the FASTA that it was made of"));
            }
            Packing::Empty | Packing::Plain | Packing::Gzip | Packing::Bgzf => {}
        }
        let origin = Arc::new(Origin { path, packing, tail });
        let blocks = match packing {
            Packing::Empty => Blocks::none(Arc::clone(&origin), source, sizes),
            _ => Blocks::new(Arc::clone(&origin), source, sizes)?,
        };
        Ok(Reader {
            origin,
            blocks,
            steady: false,
            any_names: false,
            masks_lower_case: false,
            keeps_titles: false,
            ahead: VecDeque::new(),
            before: Before::default(),
            extent: Arc::default(),
            meter: Meter::default(),
            parsed: 0,
            finished: packing == Packing::Empty,
            peeked: None,
            ready: VecDeque::new(),
            fault: None,
        })
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        &self.origin.path
    }

    /// Where in the file the part is that is read.
    pub fn extent(&self) -> Arc<Extent> {
        Arc::clone(&self.extent)
    }

    /// Counts the bytes that are read.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// An error behind so much of the part, in its true place.
    fn shift(&self, before: Before, error: Error) -> Error {
        self.extent.shift(before.shift(error))
    }

    /// The record that comes next, which stays the next one.
    pub fn peek(&mut self) -> Result<Option<&Record>> {
        if self.ready.is_empty()
            && let Some(fault) = self.fault.take()
        {
            return Err(fault);
        }
        if self.ready.is_empty() && self.peeked.is_none() {
            let (mut first, number) = (None, self.before.records + 1);
            self.look_ahead(|raw| {
                first = Some(Record { number, ..Record::new(&raw) });
                Ok(false)
            })?;
            self.peeked = first;
        }
        Ok(self.ready.front().or(self.peeked.as_ref()))
    }

    /// Whether the input is FASTQ. Its records stay the next ones.
    pub fn is_fastq(&mut self) -> bool {
        self.begin();
        self.ahead.front().is_some_and(Block::is_fastq)
    }

    /// How many of the next records there are within so many letters, at most `most`. They stay the next ones.
    pub fn count_ahead(&mut self, most: usize, letters: usize) -> Result<usize> {
        let (mut count, mut taken) = (0, 0);
        self.look_ahead(|raw| {
            count += 1;
            taken += raw.written().len();
            Ok(count < most && taken < letters)
        })?;
        Ok(count)
    }

    /// Has a block ahead, if there is one.
    fn begin(&mut self) {
        if self.ahead.is_empty() {
            let next = self.next_block();
            self.ahead.extend(next);
        }
    }

    /// What the user should hear once all is read, though it is no error: bytes behind gzip data are no part of
    /// them, and a bgzf file without the empty block at its end may have been cut short between two blocks.
    pub fn warning(&self) -> Option<String> {
        let Origin { path, packing, tail } = &*self.origin;
        if self.finished && (tail.is_garbage() || self.extent.tail().is_garbage()) {
            let text = "what stands behind the gzip data is left out; `gzip -t` tells the same";
            return Some(format!("{}: {text}", path.display()));
        }
        let cut = self.finished && *packing == Packing::Bgzf && !tail.has_empty_member();
        cut.then(|| {
            format!(
                "{}: the bgzf end marker is missing, so the file may have been cut short; \
                 compare it with its source",
                path.display()
            )
        })
    }

    /// Gives `take` the next records until it returns `false`. They stay the next ones.
    fn look_ahead(&mut self, mut take: impl FnMut(Raw) -> Result<bool>) -> Result<()> {
        let mut before = self.before;
        for index in 0.. {
            if index == self.ahead.len() {
                let Some(block) = self.next_block() else { break };
                self.ahead.push_back(block);
            }
            let block = &mut self.ahead[index];
            for piece in 0..block.len() {
                let (read, outcome) = block.piece(piece).records(&self.origin, &mut take);
                match outcome {
                    Ok(true) => before.add(read),
                    Ok(false) => return Ok(()),
                    Err(error) => {
                        self.finished = true;
                        return Err(self.shift(before, error));
                    }
                }
            }
            if let Some(fault) = block.take_fault() {
                self.finished = true;
                return Err(self.shift(before, fault));
            }
        }
        Ok(())
    }

    /// The first letters as they are written, so many where the input has them. They stay the next ones.
    fn letters_ahead(&mut self, wanted: usize) -> Result<Vec<u8>> {
        let take = |letters: &mut Vec<u8>, raw: Raw| {
            letters.extend(raw.written().iter().take(wanted - letters.len()));
            Ok(letters.len() < wanted)
        };
        self.begin();
        let mut letters = Vec::new();
        // The start of a long record has the same first letters, and is parsed in no time.
        let start = self.ahead.front().and_then(|block| block.start(LETTERS_WITHIN * wanted));
        if let Some(Ok(false)) =
            start.map(|start| start.records(&self.origin, |raw| take(&mut letters, raw)).1)
        {
            return Ok(letters);
        }
        letters.clear();
        self.look_ahead(|raw| take(&mut letters, raw))?;
        Ok(letters)
    }

    /// The error where some of the records were taken one by one, and the others are wanted otherwise.
    fn begun(&self) -> Error {
        let problem = "some of its records were taken already";
        Error::input(whole(self.path()), problem, "open the file again to read all of them")
    }

    /// Ends the reading at an error that stands before what was read.
    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_block(&mut self) -> Option<Block> {
        if self.finished { None } else { self.blocks.next() }
    }

    /// What `take` makes of the next block's records, piece by piece. Meanwhile the block after it is
    /// read.
    fn harvest<T: Default + Send>(
        &mut self,
        take: impl Fn(&mut T, Raw) -> Result<()> + Sync,
    ) -> Option<Harvest<T>> {
        if !self.ready.is_empty() || self.fault.is_some() {
            // They were parsed to be plain records, and nothing else can be made of them.
            let fault = self.fault.take().unwrap_or_else(|| self.begun());
            self.ready.clear();
            self.finish();
            return Some(Harvest { pieces: Vec::new(), fault: Some(fault) });
        }
        if self.finished {
            return None;
        }
        let Some(mut block) = self.ahead.pop_front().or_else(|| self.blocks.next()) else {
            self.finished = true;
            let fault = (self.before.records == 0).then(|| no_records(self.path()));
            return fault.map(|fault| Harvest { pieces: Vec::new(), fault: Some(fault) });
        };
        // Before the next block is read.
        self.parsed = self.meter.bytes();
        let (origin, blocks) = (&*self.origin, &mut self.blocks);
        let parsed = if self.steady && self.ahead.is_empty() && !blocks.ended() {
            let (parsed, next) = rayon::join(|| parse_pieces(&block, origin, &take), || blocks.next());
            self.ahead.extend(next);
            parsed
        } else {
            parse_pieces(&block, origin, &take)
        };
        let mut harvest = Harvest { pieces: Vec::with_capacity(parsed.len()), fault: None };
        for (made, read, outcome) in parsed {
            harvest.pieces.push((self.before, made));
            if let Err(error) = outcome {
                harvest.fault = Some(self.shift(self.before, error));
                break;
            }
            self.before.add(read);
        }
        harvest.fault = harvest.fault.or_else(|| Some(self.shift(self.before, block.take_fault()?)));
        self.finished = harvest.fault.is_some();
        self.blocks.recycle(block);
        Some(harvest)
    }
}

/// Bytes of a file that can be read in parts, as the option `flag` wants it.
fn size(path: &Path, flag: &str) -> Result<u64> {
    let metadata = std::fs::metadata(path).map_err(|source| unopened(path, source));
    match (path == Path::new("-"), metadata) {
        (false, Ok(metadata)) if metadata.is_file() => Ok(metadata.len()),
        (false, Err(error)) => Err(error),
        (stdin, _) => {
            let name = if stdin { "stdin".into() } else { path.display().to_string() };
            let text = format!("{flag}: {name} can't be read in parts; give a file, as it lies on a disk");
            Err(Error::Usage(text))
        }
    }
}

/// What `take` makes of each piece, how much it holds, and how its reading ended.
fn parse_pieces<T: Default + Send>(
    block: &Block,
    origin: &Origin,
    take: &(impl Fn(&mut T, Raw) -> Result<()> + Sync),
) -> Vec<(T, Before, Result<bool>)> {
    let parse = |index| {
        let mut made = T::default();
        let (read, outcome) = block.piece(index).records(origin, |raw| take(&mut made, raw).map(|()| true));
        (made, read, outcome)
    };
    match block.len() {
        // A small file should not wait for the pool.
        0 | 1 => (0..block.len()).map(parse).collect(),
        pieces => (0..pieces).into_par_iter().map(parse).collect(),
    }
}

impl Iterator for Reader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        self.peeked = None;
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(Ok(record));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            let harvest = self.harvest(|records: &mut Vec<Record>, raw| {
                records.push(Record::new(&raw));
                Ok(())
            })?;
            for (before, records) in harvest.pieces {
                let placed = |record: Record| Record { number: before.records + record.number, ..record };
                self.ready.extend(records.into_iter().map(placed));
            }
            self.fault = harvest.fault;
        }
    }
}

impl Record {
    fn new(raw: &Raw) -> Record {
        Record {
            number: raw.number,
            name: raw.name.to_string(),
            sequence: raw.letters(),
            qualities: raw.qualities(),
        }
    }

    /// Writes the letters as `alphabet` does: U becomes T in DNA.
    pub fn normalise(&mut self, alphabet: Alphabet) {
        if alphabet == Alphabet::Dna {
            for letter in &mut self.sequence {
                *letter = if *letter == b'U' { b'T' } else { *letter };
            }
        }
    }
}
