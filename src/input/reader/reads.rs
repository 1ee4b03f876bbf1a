//! Records of which only names, residues and qualities are kept, many per allocation.

use super::abundance::abundance;
use super::checks::check_named_query;
use super::faults::whole;
use super::parse::Raw;
use super::references::alphabet_ahead;
use super::{Before, Meter, Reader};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::to_u8;
use crate::terms::error::{Error, Result};
use crate::terms::options::ReadRules;
use std::ops::Range;
use std::path::Path;

/// The most frequent characters, which a fast path accepts without a table lookup.
const BASES: [u8; 4] = *b"ACGT";
/// Mask that makes an ASCII letter upper case.
const UPPER: u8 = !0x20;

/// The records of one file, in order, in one alphabet. An error ends them.
pub struct Reads {
    reader: Reader,
    alphabet: Alphabet,
    with_qualities: bool,
    with_abundances: bool,
    /// Residues in their canonical form: upper case, and T for U in DNA; 0 for characters outside the alphabet.
    letters: Box<[u8; 256]>,
}

/// Some records, stored back to back.
#[derive(Debug, Default)]
pub struct ReadBatch {
    /// Number of records in the file before them.
    pub before: u64,
    names: Vec<u8>,
    letters: Vec<u8>,
    /// One per residue, or empty.
    qualities: Vec<u8>,
    /// Number of reads that each record stands for, if names give it.
    abundances: Vec<u64>,
    /// Ends of each record's name and residues.
    ends: Vec<(usize, usize)>,
}

impl Reads {
    /// Opens a file, or stdin for `-`. Without `alphabet`, the first residues determine it; `if_open` is the alphabet
    /// if they are ambiguous.
    pub fn open(
        path: &Path,
        (alphabet, if_open): (Option<Alphabet>, Option<Alphabet>),
        rules: ReadRules,
    ) -> Result<Reads> {
        let mut reader = Reader::open(path)?.with_rules(rules);
        let alphabet = match alphabet {
            Some(alphabet) => alphabet,
            None => {
                let suggested = alphabet_ahead(&mut reader)?;
                if_open.filter(|_| !suggested.is_certain).unwrap_or(suggested.alphabet)
            }
        };
        let letters = Box::new(std::array::from_fn(|byte| {
            let letter = to_u8(byte).to_ascii_uppercase();
            match (alphabet, alphabet.code(letter)) {
                (_, None) => 0,
                (Alphabet::Dna, Some(_)) if letter == b'U' => b'T',
                (_, Some(_)) => letter,
            }
        }));
        Ok(Reads { reader, alphabet, with_qualities: false, with_abundances: false, letters })
    }

    /// Sets whether batches have the qualities of FASTQ.
    pub fn with_qualities(self, with_qualities: bool) -> Reads {
        Reads { with_qualities, ..self }
    }

    /// Sets whether names give the number of reads that a record stands for.
    pub fn with_abundances(self, with_abundances: bool) -> Reads {
        Reads { with_abundances, ..self }
    }

    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    pub fn is_fastq(&mut self) -> bool {
        self.reader.is_fastq()
    }

    /// Whether the file has no records.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty
    }

    /// An error of the file as a whole.
    pub fn fault(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(whole(self.reader.path()), problem, remedy)
    }

    /// The counter of bytes read.
    pub fn meter(&self) -> Meter {
        self.reader.meter()
    }

    /// See [`Reader::warnings`].
    pub fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }

    /// The next records up to the first error, and that error; `None` at the end.
    pub fn next_batches(&mut self) -> Option<(Vec<ReadBatch>, Option<Error>)> {
        let Reads { alphabet, with_qualities, with_abundances, letters, .. } = self;
        let take = |batch: &mut ReadBatch, raw: Raw| {
            check_named_query(raw.name).map_err(|(_, remedy)| raw.fault("the record has no name", remedy))?;
            batch.take_letters(&raw, *alphabet, letters)?;
            if *with_qualities {
                batch.qualities.extend_from_slice(raw.quality_line());
            }
            if *with_abundances {
                let abundance = abundance(raw.name.as_bytes());
                batch.abundances.push(abundance.map_err(|(problem, remedy)| raw.fault(problem, remedy))?);
            }
            batch.names.extend_from_slice(raw.name.as_bytes());
            batch.ends.push((batch.names.len(), batch.letters.len()));
            Ok(())
        };
        let harvest = self.reader.harvest(take)?;
        let placed = |(before, batch): (Before, ReadBatch)| ReadBatch { before: before.records, ..batch };
        Some((harvest.pieces.into_iter().map(placed).collect(), harvest.fault))
    }
}

impl ReadBatch {
    fn take_letters(&mut self, raw: &Raw, alphabet: Alphabet, table: &[u8; 256]) -> Result<()> {
        let written = raw.written();
        let begin = self.letters.len();
        self.letters.extend(written.iter().map(|letter| letter & UPPER));
        // Reads usually consist of bases alone. The loop has no early exit, so that it vectorizes.
        let is_base = |letter: u8| BASES.iter().fold(false, |is, &base| is | (letter == base));
        if !self.letters[begin..].iter().fold(true, |are, &letter| are & is_base(letter)) {
            self.letters.truncate(begin);
            self.letters.extend(written.iter().map(|&letter| table[usize::from(letter)]));
            if let Some(at) = memchr::memchr(0, &self.letters[begin..]) {
                return Err(raw.foreign_letter(written[at], at, alphabet));
            }
        }
        Ok(())
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of a record, which is UTF-8.
    pub fn name(&self, record: usize) -> &[u8] {
        let begin = record.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.names[begin..self.ends[record].0]
    }

    pub fn letters(&self, record: usize) -> &[u8] {
        &self.letters[self.place(record)]
    }

    pub fn letters_mut(&mut self, record: usize) -> &mut [u8] {
        let place = self.place(record);
        &mut self.letters[place]
    }

    /// Number of reads that a record stands for.
    pub fn abundance(&self, record: usize) -> u64 {
        self.abundances.get(record).copied().unwrap_or(1)
    }

    /// Phred+33 characters, if they were requested.
    pub fn qualities(&self, record: usize) -> &[u8] {
        self.qualities.get(self.place(record)).unwrap_or_default()
    }

    fn place(&self, record: usize) -> Range<usize> {
        let begin = record.checked_sub(1).map_or(0, |before| self.ends[before].1);
        begin..self.ends[record].1
    }
}
