//! The queries of a run: checked against the run's alphabet, and encoded.

use super::checks::{check_named_query, check_query_name, is_protein};
use super::meter::Position;
use super::parse::{Before, Raw};
use super::{Extent, FileRecord, FileState, Reader};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::{Alphabet, protein_codes, reverse_complement_codes};
use crate::terms::batch::Sequences;
use crate::terms::casts::to_usize;
use crate::terms::error::{Error, Result};
use crate::terms::options::ReadRules;
use std::path::Path;
use std::sync::Arc;
use std::vec;

/// The queries of one file, in order. An error ends them.
pub struct QueryReader {
    reader: Reader,
    rules: QueryRules,
    /// Pieces not yet handed out, and the error after them.
    pieces: vec::IntoIter<(Before, QueryPiece)>,
    fault: Option<Error>,
    /// The rest of the current piece, and all of its codes.
    records: Vec<FileRecord>,
    codes: Sequences,
    position: Position,
}

/// The rules that a query must satisfy.
struct QueryRules {
    alphabet: Alphabet,
    /// No query so far was long enough to show that it is not DNA in a protein run.
    suspect: bool,
    strands: Strands,
    read: ReadRules,
    /// Whether queries without residues are skipped, as references without residues are.
    skips_empty: bool,
}

#[derive(Default)]
struct QueryPiece {
    records: Vec<FileRecord>,
    /// The codes of each record in its orientations.
    codes: Sequences,
    /// Buffer for the codes of the current record.
    code: Vec<u8>,
    /// Index of the first query that is long enough for the check, and the error if it is DNA in a protein run. The
    /// error counts only if no query in earlier pieces was long enough.
    told: Option<(usize, Option<Error>)>,
}

impl QueryReader {
    /// Queries to align to references of `alphabet`, with their codes on `strands`. `given` says that the user named
    /// the alphabet; queries that look like another alphabet are then accepted.
    pub fn new(reader: Reader, alphabet: Alphabet, given: bool, strands: Strands) -> QueryReader {
        // The first part of a file decides for the whole.
        let read = reader.rules;
        let is_open = !given && read.translation.is_none();
        let suspect = alphabet == Alphabet::Protein && is_open && reader.extent.is_first();
        QueryReader {
            reader,
            rules: QueryRules { alphabet, suspect, strands, read, skips_empty: false },
            pieces: Vec::new().into_iter(),
            fault: None,
            records: Vec::new(),
            codes: Sequences::default(),
            position: Position::default(),
        }
    }

    /// The same queries without those that have no residues. If queries and references share a file, such records are
    /// no references either.
    pub fn without_empty(mut self) -> QueryReader {
        self.rules.skips_empty = true;
        self
    }

    /// Position of the queries in the file.
    pub fn extent(&self) -> Arc<Extent> {
        self.reader.extent()
    }

    /// The next queries that are in memory; empty at the end. A query without residues is no error.
    pub fn at_hand(&mut self) -> Result<&[FileRecord]> {
        while self.records.is_empty() && self.next_piece()? {}
        Ok(&self.records)
    }

    /// Moves the first of these queries to `records`, and to `codes` the codes of each in its orientations.
    pub fn take(&mut self, count: usize, records: &mut Vec<FileRecord>, codes: &mut Sequences) {
        let strands = self.rules.strands();
        let first = self.codes.len() - self.records.len() * strands;
        codes.append(&self.codes, first..first + count * strands);
        let rest = self.records.split_off(count);
        self.position.give(letters(&self.records));
        records.append(&mut self.records);
        self.records = rest;
    }

    /// The next `count` queries, or all if there are fewer, and their codes.
    pub fn some(&mut self, count: usize) -> Result<(Vec<FileRecord>, Sequences)> {
        let (mut records, mut codes) = (Vec::new(), Sequences::default());
        while records.len() < count {
            let at_hand = self.at_hand()?.len();
            if at_hand == 0 {
                break;
            }
            self.take(at_hand.min(count - records.len()), &mut records, &mut codes);
        }
        Ok((records, codes))
    }

    /// Whether reading never waits for another thread, so that a pool thread may read.
    pub fn is_steady(&self) -> bool {
        self.reader.steady
    }

    /// Skips the next `count` queries, or all if there are fewer.
    pub fn skip(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let at_hand = self.at_hand()?.len();
            if at_hand == 0 {
                return Ok(());
            }
            let skipped = to_usize(count.min(at_hand as u64));
            self.take(skipped, &mut Vec::new(), &mut Sequences::default());
            count -= skipped as u64;
        }
        Ok(())
    }

    /// State of the file when it was opened.
    pub fn state(&self) -> &FileState {
        self.reader.state()
    }

    /// The @RG lines of a BAM file.
    pub fn read_groups(&self) -> &[String] {
        self.reader.read_groups()
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// Approximate number of bytes of the file, before decompression, that the queries taken so far occupy.
    pub fn bytes_taken(&self) -> u64 {
        self.position.bytes()
    }

    /// Number of bytes of the file, before decompression, read so far.
    pub fn bytes_read(&self) -> u64 {
        self.reader.meter.bytes()
    }

    /// See [`Reader::warnings`].
    pub fn warnings(&self) -> Vec<String> {
        self.reader.warnings()
    }

    /// Moves to the next piece, or reads more pieces; returns `false` at the end.
    fn next_piece(&mut self) -> Result<bool> {
        let Some((before, mut piece)) = self.pieces.next() else {
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let rules = &self.rules;
            let harvest = self.reader.harvest(|piece, raw| rules.take(piece, raw));
            let more = harvest.is_some();
            if let Some(harvest) = harvest {
                let all = harvest.pieces.iter().map(|(_, piece)| letters(&piece.records)).sum();
                self.position.go_on(self.reader.parsed, all);
                (self.pieces, self.fault) = (harvest.pieces.into_iter(), harvest.fault);
            }
            return Ok(more);
        };
        if let (true, Some((at, told))) = (self.rules.suspect, piece.told) {
            self.rules.suspect = false;
            if let Some(error) = told {
                // Reading ends here, so the pieces parsed after this one are discarded.
                piece.records.truncate(at);
                piece.codes = piece.codes.iter().take(at * self.rules.strands()).collect();
                self.pieces = Vec::new().into_iter();
                self.fault = Some(self.reader.shift(before, error));
                self.reader.finish();
            }
        }
        (self.records, self.codes) = (piece.records, piece.codes);
        self.records.iter_mut().for_each(|record| record.number += before.records);
        Ok(true)
    }
}

fn letters(records: &[FileRecord]) -> u64 {
    records.iter().map(|record| record.sequence.len() as u64).sum()
}

impl QueryRules {
    fn strands(&self) -> usize {
        self.strands.count() as usize
    }

    fn take(&self, piece: &mut QueryPiece, raw: Raw) -> Result<()> {
        let check = if self.read.any_names { check_named_query } else { check_query_name };
        check(raw.name).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        if self.read.sample.is_some_and(|sample| !sample.has(raw.name)) {
            return Ok(());
        }
        let mut record = FileRecord::new(&raw);
        if record.sequence.is_empty() && self.skips_empty {
            return Ok(());
        }
        let alphabet = self.alphabet_of_file();
        if self.read.masks_lower_case {
            record.sequence = raw.written().into_owned();
            alphabet.mask_lower_case(&mut record.sequence);
        }
        let letters = &record.sequence;
        if self.suspect
            && piece.told.is_none()
            && let Some(own) = Alphabet::detect_certain(letters)
        {
            let dna = own == Alphabet::Dna;
            let remedy = "translate the query, or set --alphabet dna or --alphabet protein";
            let error = dna.then(|| raw.fault("the query is DNA, but the references are protein", remedy));
            piece.told = Some((piece.records.len(), error));
        }
        piece.code.clear();
        if let Err(at) = alphabet.encode(letters, &mut piece.code) {
            return Err(self.refuse(&raw, letters, at));
        }
        for strand in self.strands.orientations() {
            match self.read.translation {
                Some(code) => piece.codes.push(protein_codes(&code.translate(&piece.code, *strand))),
                None if strand.is_reverse() => piece.codes.push(reverse_complement_codes(&piece.code)),
                None => piece.codes.push(piece.code.iter().copied()),
            }
        }
        record.normalise(alphabet);
        piece.records.push(record);
        Ok(())
    }

    /// The alphabet of the letters in the file.
    fn alphabet_of_file(&self) -> Alphabet {
        if self.read.translation.is_some() { Alphabet::Dna } else { self.alphabet }
    }

    /// The error for `letters`, whose first character outside the alphabet is at `at`.
    fn refuse(&self, raw: &Raw, letters: &[u8], at: usize) -> Error {
        if self.read.translation.is_some() && is_protein(letters) {
            return raw.fault("the query is protein, but --translate needs DNA", "leave --translate out");
        }
        if self.alphabet == Alphabet::Dna && is_protein(letters) {
            let remedy = "give protein references or DNA queries; if the references are protein but look like DNA, \
                          use --alphabet protein";
            return raw.fault("the query is protein, but the references are DNA", remedy);
        }
        raw.foreign_letter(letters[at], at, self.alphabet_of_file())
    }
}
