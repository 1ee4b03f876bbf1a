//! Reads FASTA and FASTQ, plain or gzip-compressed (bgzf included), and the reads of BAM, from a file or from stdin.
//!
//! The input is split into blocks of whole records (`blocks`). The pieces of a block are parsed in parallel on all
//! threads (`parse`), and the results come in file order: plain [`FileRecord`]s from a [`Reader`], checked and encoded
//! records from [`QueryReader`] and [`read_references`]. Memory holds two blocks regardless of the input's length: one
//! is parsed while the next is read. A block is at least as long as its longest record, except that references are read
//! in parts.

mod abundance;
mod bam;
mod bgzf;
mod blocks;
mod checks;
mod cut;
mod faults;
mod file_state;
mod gunzip;
mod lines;
mod mapped;
mod mate_texts;
mod mates;
mod meter;
mod name_pairs;
mod names;
mod parse;
mod queries;
mod reads;
mod references;
mod remarks;
mod sam_tags;
#[cfg(test)]
mod seams;
mod share;
mod source;
#[cfg(test)]
mod tests;
mod texts;

pub use abundance::with_abundance;
pub use checks::{
    HAS_GAPS, MAX_QUERY, MAX_QUERY_NAME, MAX_REFERENCES, MAYBE_PROTEIN, check_reference, sam_name,
};
pub use file_state::FileState;
pub use lines::{LineBlock, LineReader};
pub use mapped::{
    FIRST, LAST, MATE_REVERSE, MATE_UNMAPPED, MISSING, MappedFields, MappedRecords, PAIRED, PROPER,
    UNKNOWN_MAPQ,
};
pub use mate_texts::MateTexts;
pub use mates::{Mates, QuerySource};
pub use meter::Meter;
pub use name_pairs::{NamePair, read_name_pairs};
pub use names::first_repeated;
pub use queries::QueryReader;
pub use reads::{ReadBatch, Reads};
pub use references::{
    CodeSink, References, check_reference_names, read_reference_part, read_references, read_references_into,
    stretch_of_part, suggested_alphabet,
};
pub use share::{Extent, Slice};
pub use source::DATABASE;
pub use texts::{
    NO_QUALITIES, QUALITIES_REMEDY, Text, TextName, TextRules, Texts, check_distinct_names, read_lengths,
    read_patterns, slices,
};

use crate::terms::alphabet::Alphabet;
use crate::terms::error::{Error, Result};
use crate::terms::options::ReadRules;
use crate::terms::system::{File, metadata};
use blocks::{RecordBlock, RecordBlocks, Sizes};
use faults::{EMPTY, Origin, alignments, encoded, unopened, unread, whole};
use gunzip::{Gunzip, GzipTail};
use mapped::MappedStretch;
use parse::{Before, Raw, is_gap};
use rayon::prelude::*;
use remarks::RecordRemarks;
use share::ShareBytes;
use source::{FileText, PAF, Packing};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The residues wanted should fit within this multiple of their bytes, line ends and names included.
const LETTERS_WITHIN: usize = 4;

/// One record of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRecord {
    /// 1-based number among the records of the file, or of the part of it that is read.
    pub number: u64,
    /// The header up to its first whitespace.
    pub name: String,
    /// Residues in upper case, without line ends.
    pub sequence: Vec<u8>,
    /// Phred+33 characters, one per residue; `None` for FASTA.
    pub qualities: Option<Vec<u8>>,
    /// SAM tags of the header's comment, each preceded by a tab, if tags are kept, or the fields of [`MappedFields`].
    pub tags: Vec<u8>,
}

/// The records of one file, in order. An error ends the iteration.
pub struct Reader {
    origin: Arc<Origin>,
    blocks: RecordBlocks,
    /// Reading never waits for another thread, so a pool thread may read.
    steady: bool,
    rules: ReadRules,
    /// Whether the whole input has no records.
    is_empty: bool,
    is_bgzf: bool,
    /// The format of the alignments that the records come from.
    converted: Option<&'static str>,
    /// The @RG lines of a BAM file.
    read_groups: Vec<String>,
    /// The @PG lines of SAM and BAM, if the fields of records are kept.
    programs: Vec<String>,
    /// Tolerated irregularities in the records parsed so far.
    remarks: RecordRemarks,
    /// Blocks that were read but not yet parsed.
    ahead: VecDeque<RecordBlock>,
    /// Counts of the input, or of its part, before the blocks in `ahead`.
    before: Before,
    /// Position of that part in the file.
    extent: Arc<Extent>,
    /// State of the file when it was opened.
    state: FileState,
    /// Number of bytes read from the file, and up to the end of the last parsed block.
    meter: Meter,
    parsed: u64,
    finished: bool,
    peeked: Option<FileRecord>,
    /// Parsed records that are returned one by one, and the error after them.
    ready: VecDeque<FileRecord>,
    fault: Option<Error>,
}

/// The results of a block up to its first error.
struct Harvest<T> {
    /// One result per piece, with the counts of the input before it.
    pieces: Vec<(Before, T)>,
    fault: Option<Error>,
}

/// The part of a file that a reader covers.
#[derive(Clone, Copy)]
struct Part {
    /// Whether having no records is allowed; it is for a part of a file that has some elsewhere.
    may_be_empty: bool,
    /// Whether the part begins the file, so that its first bytes show the encoding.
    is_first: bool,
    /// The records whose fields are kept, if the file has alignments.
    fields: Option<MappedStretch>,
}

impl Part {
    const WHOLE: Part = Part { may_be_empty: false, is_first: true, fields: None };
}

impl Reader {
    /// Opens `path`, or stdin for `-`. Returns an error if the input is neither FASTA nor FASTQ.
    pub fn open(path: &Path) -> Result<Reader> {
        Reader::open_as(path, Part::WHOLE)
    }

    /// Opens a file of alignments. Each record has the fields of an alignment ([`MappedFields`]). PAF has no sequences.
    pub fn open_mapped(path: &Path, wanted: MappedRecords) -> Result<Reader> {
        Reader::open_mapped_as(path, Part { fields: Some(MappedStretch::all(wanted)), ..Part::WHOLE })
    }

    /// As [`Reader::open_mapped`], with a part of the primary records, which may be empty.
    pub fn open_mapped_part(path: &Path, stretch: (u64, u64)) -> Result<Reader> {
        let fields = Some(MappedStretch::of(MappedRecords::Primary, stretch));
        let reader = Reader::open_mapped_as(path, Part { fields, may_be_empty: true, ..Part::WHOLE })?;
        // The end of the file, which its last block marks, may be in another part.
        Ok(Reader { is_bgzf: false, ..reader })
    }

    fn open_mapped_as(path: &Path, part: Part) -> Result<Reader> {
        let reader = Reader::open_as(path, part)?;
        match reader.converted.is_some() {
            true => Ok(reader.with_rules(ReadRules { keeps_fields: true, ..ReadRules::default() })),
            false => {
                let remedy = "give the records of a mapper; CRAM can be converted with `samtools view -b`";
                Err(Error::input(whole(&reader.origin.path), "this is neither SAM, BAM nor PAF", remedy))
            }
        }
    }

    /// The whole text of a file or of standard input (`-`), plain or gzip.
    pub fn whole_text(path: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match path == Path::new("-") {
            true => io::stdin().read_to_end(&mut bytes),
            false => File::open(path).map_err(|source| unopened(path, source))?.read_to_end(&mut bytes),
        }
        .map_err(|source| unread(path, source))?;
        if !matches!(Packing::of(&bytes), Packing::Gzip | Packing::Bgzf) {
            return Ok(bytes);
        }
        let mut text = Vec::new();
        let packed = io::BufReader::new(&*bytes);
        let mut gunzip = Gunzip::new(packed, GzipTail::default());
        gunzip.read_to_end(&mut text).map_err(|source| unread(path, source))?;
        Ok(text)
    }

    /// Reads a text in the place of a file.
    pub fn of_text(path: &Path, text: Vec<u8>) -> Result<Reader> {
        let text = Box::new(io::Cursor::new(text));
        Reader::placed(path.to_path_buf(), text, Sizes::default(), Part::WHOLE)
    }

    fn open_as(path: &Path, part: Part) -> Result<Reader> {
        if path == Path::new("-") {
            let meter = Meter::default();
            let stdin = Box::new(meter.watch(io::stdin()));
            return Ok(Reader {
                meter,
                ..Reader::placed(PathBuf::from("<stdin>"), stdin, Sizes::default(), part)?
            });
        }
        let file = File::open(path).map_err(|source| unopened(path, source))?;
        let kind = file.metadata();
        if kind.as_ref().is_ok_and(|kind| kind.is_dir()) {
            let remedy = "give a FASTA or FASTQ file";
            return Err(Error::input(whole(path), "this is a directory", remedy));
        }
        let steady = kind.is_ok_and(|kind| kind.is_file());
        let (meter, state) = (Meter::default(), FileState::of(path, &file));
        let file = Box::new(meter.watch(file));
        let reader = Reader::placed(path.to_path_buf(), file, Sizes::default(), part)?;
        Ok(Reader { steady, meter, state, ..reader })
    }

    /// Opens the part of a file that `slice` selects, or all of it.
    pub fn open_part(path: &Path, slice: Option<Slice>, rules: ReadRules) -> Result<Reader> {
        let reader = match slice {
            None => Reader::open(path)?,
            Some(slice) => Reader::open_slice(path, slice)?,
        };
        Ok(reader.with_rules(rules))
    }

    /// Opens a file that can be read twice, as a part of the references requires.
    pub fn open_twice(path: &Path) -> Result<Reader> {
        size(path, "--ref-part")?;
        Reader::open(path)
    }

    /// Sets the rules of reading.
    pub fn with_rules(self, rules: ReadRules) -> Reader {
        Reader { rules, ..self }
    }

    fn open_slice(path: &Path, slice: Slice) -> Result<Reader> {
        let (stretch, extent) = ShareBytes::open(path, slice).map_err(|source| unread(path, source))?;
        // A file that is neither FASTA nor FASTQ is rejected as a whole.
        let may_be_empty = stretch.has_records();
        let part = Part { may_be_empty, is_first: extent.is_first(), fields: None };
        let meter = stretch.meter();
        let reader = Reader::placed(path.to_path_buf(), Box::new(stretch), Sizes::default(), part)?;
        if reader.converted.is_some() {
            let remedy = "convert it to FASTQ with `samtools fastq -T '*'`, and use --copy-comments";
            return Err(Error::input(whole(path), "BAM cannot be read in parts", remedy));
        }
        let state = extent.state().clone();
        Ok(Reader { steady: true, extent: Arc::new(extent), state, meter, ..reader })
    }

    #[cfg(test)]
    fn new(path: PathBuf, input: Box<dyn Read + Send>) -> Result<Reader> {
        Reader::sized(path, input, Sizes::default())
    }

    #[cfg(test)]
    fn sized(path: PathBuf, input: Box<dyn Read + Send>, sizes: Sizes) -> Result<Reader> {
        Reader::placed(path, input, sizes, Part::WHOLE)
    }

    /// A reader for a whole file, or for a part.
    fn placed(path: PathBuf, input: Box<dyn Read + Send>, sizes: Sizes, part: Part) -> Result<Reader> {
        let source = FileText::new(input, part).map_err(|source| unread(&path, source))?;
        let (packing, tail, lead) = (source.packing(), source.tail(), source.lead());
        let converted = source.converted();
        if let Some(encoding) = source.utf16().filter(|_| part.is_first) {
            return Err(encoded(&path, encoding));
        }
        match packing {
            Packing::Foreign(name, command) => {
                let remedy = format!("decompress it first, as in `{command} FILE | swalign - ...`");
                return Err(Error::input(
                    whole(&path),
                    format!("{name} compression is not supported"),
                    remedy,
                ));
            }
            Packing::Database => {
                let problem = "this is a database of `swalign index`, which can be used only as REFERENCE";
                return Err(Error::input(
                    whole(&path),
                    problem,
                    "give the FASTA file that it was built from",
                ));
            }
            Packing::Empty | Packing::Plain | Packing::Gzip | Packing::Bgzf => {}
        }
        if let Some(format) = lead.alignments {
            return Err(alignments(&path, format));
        }
        let has_none = lead.first.is_none();
        let (read_groups, programs) = (source.read_groups().to_vec(), source.programs().to_vec());
        let origin = Arc::new(Origin { path, tail });
        let blocks = match has_none {
            true => RecordBlocks::none(Arc::clone(&origin), source, sizes),
            false => RecordBlocks::new(Arc::clone(&origin), source, sizes)?,
        };
        Ok(Reader {
            origin,
            blocks,
            steady: false,
            rules: ReadRules::default(),
            is_empty: has_none && !part.may_be_empty,
            is_bgzf: packing == Packing::Bgzf,
            converted,
            read_groups,
            programs,
            remarks: RecordRemarks::default(),
            ahead: VecDeque::new(),
            before: Before { records: 0, lines: lead.lines },
            extent: Arc::default(),
            state: FileState::default(),
            meter: Meter::default(),
            parsed: 0,
            finished: has_none,
            peeked: None,
            ready: VecDeque::new(),
            fault: None,
        })
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        &self.origin.path
    }

    /// The @RG lines of a BAM file.
    pub fn read_groups(&self) -> &[String] {
        &self.read_groups
    }

    /// The @PG lines of SAM and BAM, if the fields of records are kept.
    pub fn programs(&self) -> &[String] {
        &self.programs
    }

    /// Whether the records come from PAF.
    pub fn is_paf(&self) -> bool {
        self.converted == Some(PAF)
    }

    /// Position in the file of the part that is read.
    pub fn extent(&self) -> Arc<Extent> {
        Arc::clone(&self.extent)
    }

    /// State of the file when it was opened.
    pub fn state(&self) -> &FileState {
        &self.state
    }

    /// The counter of bytes read.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// Corrects the position of an error that follows `before` in the part.
    fn shift(&self, before: Before, error: Error) -> Error {
        let error = self.extent.shift(before.shift(error));
        // Its lines are those of the converted text.
        if self.converted.is_some() { error.without_line() } else { error }
    }

    /// Returns the next record without consuming it.
    pub fn peek(&mut self) -> Result<Option<&FileRecord>> {
        if self.ready.is_empty()
            && let Some(fault) = self.fault.take()
        {
            return Err(fault);
        }
        if self.ready.is_empty() && self.peeked.is_none() {
            let (mut first, number) = (None, self.before.records + 1);
            self.look_ahead(|raw| {
                first = Some(FileRecord { number, ..FileRecord::new(&raw) });
                Ok(false)
            })?;
            self.peeked = first;
        }
        Ok(self.ready.front().or(self.peeked.as_ref()))
    }

    /// Whether the input is FASTQ. Consumes no records.
    pub fn is_fastq(&self) -> bool {
        self.blocks.is_fastq()
    }

    /// Number of upcoming records within `letters` residues, but at most `most`. Consumes no records.
    pub fn count_ahead(&mut self, most: usize, letters: usize) -> Result<usize> {
        let (mut count, mut taken) = (0, 0);
        self.look_ahead(|raw| {
            count += 1;
            taken += raw.written().len();
            Ok(count < most && taken < letters)
        })?;
        Ok(count)
    }

    /// Reads a block ahead, if there is one.
    fn begin(&mut self) {
        if self.ahead.is_empty() {
            let next = self.next_block();
            self.ahead.extend(next);
        }
    }

    /// Warnings for the user after the end of the input: no records; data after the gzip stream, which are ignored; a
    /// bgzf file without its empty last block, which may have been truncated between two blocks; and tolerated
    /// irregularities in records.
    pub fn warnings(&self) -> Vec<String> {
        let Origin { path, tail } = &*self.origin;
        let parts = self.extent.tail();
        let is_cut = self.is_bgzf && !tail.has_empty_member() || parts.is_cut();
        let text = match self.finished {
            true if tail.is_garbage() || parts.is_garbage() => {
                Some("data after the end of the gzip stream is ignored; check the file with `gzip -t`")
            }
            true if is_cut => Some(
                "the bgzf end marker is missing, so the file may be truncated; compare it with its source",
            ),
            _ => None,
        };
        let of_file = self.is_empty.then_some(EMPTY).into_iter().chain(text);
        let of_file = of_file.map(|text| format!("{}: {text}", path.display()));
        of_file.chain(self.remarks.sentences(&self.extent)).collect()
    }

    /// Passes the upcoming records to `take` until it returns `false`. Consumes no records.
    fn look_ahead(&mut self, mut take: impl FnMut(Raw) -> Result<bool>) -> Result<()> {
        let mut before = self.before;
        for index in 0.. {
            if index == self.ahead.len() {
                let Some(block) = self.next_block() else { break };
                self.ahead.push_back(block);
            }
            let block = &mut self.ahead[index];
            for piece in 0..block.len() {
                let reading = (&*self.origin, self.rules);
                let (read, outcome) = block.piece(piece).records(reading, &RefCell::default(), &mut take);
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

    /// The first residues as they are written: `wanted` of them if the input has that number. Consumes no records.
    fn letters_ahead(&mut self, wanted: usize) -> Result<Vec<u8>> {
        // Gaps belong to no alphabet, and have an error of their own.
        let take = |letters: &mut Vec<u8>, raw: Raw| {
            let own = raw.written();
            letters.extend(own.iter().filter(|letter| !is_gap(**letter)).take(wanted - letters.len()));
            Ok(letters.len() < wanted)
        };
        self.begin();
        let mut letters = Vec::new();
        // The start of a long record has the same first residues, and is parsed quickly.
        let start = self.ahead.front().and_then(|block| block.start(LETTERS_WITHIN * wanted));
        let reading = (&*self.origin, self.rules);
        if let Some(Ok(false)) =
            start.map(|start| start.records(reading, &RefCell::default(), |raw| take(&mut letters, raw)).1)
        {
            return Ok(letters);
        }
        letters.clear();
        self.look_ahead(|raw| take(&mut letters, raw))?;
        Ok(letters)
    }

    /// From now on, FASTA records longer than a piece come in parts.
    fn split_records(&mut self) {
        self.blocks.split_records();
    }

    /// Error for a bulk read after records were taken one by one.
    fn begun(&self) -> Error {
        let problem = "some of its records have been read already";
        Error::input(whole(self.path()), problem, "open the file again to read all of them")
    }

    /// Ends the reading at an error that precedes data already read.
    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_block(&mut self) -> Option<RecordBlock> {
        if self.finished { None } else { self.blocks.next() }
    }

    /// Applies `take` to the records of the next block, one result per piece. Meanwhile the block after it is read.
    fn harvest<T: Default + Send>(
        &mut self,
        take: impl Fn(&mut T, Raw) -> Result<()> + Sync,
    ) -> Option<Harvest<T>> {
        if !self.ready.is_empty() || self.fault.is_some() {
            // They were parsed as plain records, and cannot be used otherwise.
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
            return None;
        };
        // Taken before the next block is read.
        self.parsed = self.meter.bytes();
        let (reading, blocks) = ((&*self.origin, self.rules), &mut self.blocks);
        let parsed = if self.steady && self.ahead.is_empty() && !blocks.ended() {
            let (parsed, next) = rayon::join(|| parse_pieces(&block, reading, &take), || blocks.next());
            self.ahead.extend(next);
            parsed
        } else {
            parse_pieces(&block, reading, &take)
        };
        let mut harvest = Harvest { pieces: Vec::with_capacity(parsed.len()), fault: None };
        for (made, read, remarks, outcome) in parsed {
            harvest.pieces.push((self.before, made));
            self.remarks.add(remarks, self.before);
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

    /// The results of `take` for all records, in order.
    fn gather<T: Send>(&mut self, take: impl Fn(&mut Vec<T>, Raw) -> Result<()> + Sync) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while let Some(harvest) = self.harvest(&take) {
            all.extend(harvest.pieces.into_iter().flat_map(|(_, made)| made));
            harvest.fault.map_or(Ok(()), Err)?;
        }
        Ok(all)
    }
}

/// Length in residues of the first record of a file; `None` if it cannot be read. A long record is read in parts.
pub fn first_length(path: &Path) -> Option<u64> {
    let mut reader = Reader::open(path).ok()?;
    reader.split_records();
    let (mut first, mut letters) = (None, 0);
    while let Some(harvest) = reader.harvest(|lengths: &mut Vec<(bool, u64)>, raw| {
        lengths.push((raw.continues, raw.written().len() as u64));
        Ok(())
    }) {
        for (continues, len) in harvest.pieces.into_iter().flat_map(|(_, lengths)| lengths) {
            if first.is_some() && !continues {
                return first;
            }
            letters += len;
            first = Some(letters);
        }
        if harvest.fault.is_some() {
            break;
        }
    }
    first
}

/// Size in bytes of a file that can be read in parts, as the option `flag` requires.
fn size(path: &Path, flag: &str) -> Result<u64> {
    let metadata = metadata(path).map_err(|source| unopened(path, source));
    match (path == Path::new("-"), metadata) {
        (false, Ok(metadata)) if metadata.is_file() => Ok(metadata.len()),
        (false, Err(error)) => Err(error),
        (stdin, _) => {
            let name = if stdin { "stdin".into() } else { path.display().to_string() };
            let text = format!("{flag}: {name} cannot be read in parts; give a regular file");
            Err(Error::Usage(text))
        }
    }
}

/// For each piece, the result of `take`, the counts of the piece, tolerated irregularities, and how reading ended.
fn parse_pieces<T: Default + Send>(
    block: &RecordBlock,
    reading: (&Origin, ReadRules),
    take: &(impl Fn(&mut T, Raw) -> Result<()> + Sync),
) -> Vec<(T, Before, RecordRemarks, Result<bool>)> {
    let parse = |index| {
        let (mut made, remarks) = (T::default(), RefCell::default());
        let take = |raw: Raw| take(&mut made, raw).map(|()| true);
        let (read, outcome) = block.piece(index).records(reading, &remarks, take);
        (made, read, remarks.into_inner(), outcome)
    };
    match block.len() {
        // A small file should not wait for the thread pool.
        0 | 1 => (0..block.len()).map(parse).collect(),
        pieces => (0..pieces).into_par_iter().map(parse).collect(),
    }
}

impl Iterator for Reader {
    type Item = Result<FileRecord>;

    fn next(&mut self) -> Option<Result<FileRecord>> {
        self.peeked = None;
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(Ok(record));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            let harvest = self.harvest(|records: &mut Vec<FileRecord>, raw| {
                records.push(FileRecord::new(&raw));
                Ok(())
            })?;
            for (before, records) in harvest.pieces {
                let placed =
                    |record: FileRecord| FileRecord { number: before.records + record.number, ..record };
                self.ready.extend(records.into_iter().map(placed));
            }
            self.fault = harvest.fault;
        }
    }
}

impl FileRecord {
    fn new(raw: &Raw) -> FileRecord {
        FileRecord {
            number: raw.number,
            name: raw.name.to_string(),
            sequence: raw.letters(),
            qualities: raw.qualities(),
            tags: raw.tags(),
        }
    }

    /// Rewrites the residues in the form of `alphabet`: U becomes T in DNA.
    pub fn normalise(&mut self, alphabet: Alphabet) {
        if alphabet == Alphabet::Dna {
            for letter in &mut self.sequence {
                *letter = if *letter == b'U' { b'T' } else { *letter };
            }
        }
    }
}
