//! The queries of a run: checked, in the letters of the run's alphabet, and encoded.

use super::checks::{check_query_name, is_protein};
use super::parse::{Before, Raw};
use super::{Reader, Record};
use crate::alphabet::{Alphabet, reverse_complement_codes};
use crate::error::{Error, Result};
use std::path::Path;
use std::vec;

/// A query with fewer letters says nothing about its alphabet: `GATTACA` is a peptide as well.
const TELLING_LETTERS: usize = 20;

/// The queries of one file, in order. After an error there are no more.
pub struct Queries {
    reader: Reader,
    rules: Rules,
    /// Pieces that wait, and the error behind them.
    pieces: vec::IntoIter<(Before, Piece)>,
    fault: Option<Error>,
    /// What is left of the piece in hand, whose codes at `at` are those of the next record.
    records: vec::IntoIter<Record>,
    codes: Codes,
    at: usize,
    read: u64,
}

/// A query and its codes.
pub struct Query<'a> {
    pub record: Record,
    pub codes: &'a [u8],
    /// The codes of the reverse complement, where both strands are asked for.
    pub reverse: Option<&'a [u8]>,
}

/// What a query is held against.
struct Rules {
    alphabet: Alphabet,
    /// No query so far was long enough to tell that it is not DNA among proteins.
    suspect: bool,
    both_strands: bool,
}

/// Codes of queries one behind the other.
#[derive(Default)]
struct Codes {
    forward: Vec<u8>,
    /// Empty, or each query's reverse complement where its codes are in `forward`.
    reverse: Vec<u8>,
}

#[derive(Default)]
struct Piece {
    records: Vec<Record>,
    codes: Codes,
    /// The place of the first query long enough to tell, and the error where it tells DNA among
    /// proteins: one only if no query of the pieces before was long enough.
    told: Option<(usize, Option<Error>)>,
}

impl Queries {
    /// Queries to align to references of `alphabet`, with their reverse complements for
    /// `both_strands`; `given` says that the user named the alphabet, and then queries that look
    /// otherwise are taken at the user's word.
    pub fn new(reader: Reader, alphabet: Alphabet, given: bool, both_strands: bool) -> Queries {
        Queries {
            reader,
            rules: Rules { alphabet, suspect: alphabet == Alphabet::Protein && !given, both_strands },
            pieces: Vec::new().into_iter(),
            fault: None,
            records: Vec::new().into_iter(),
            codes: Codes::default(),
            at: 0,
            read: 0,
        }
    }

    /// The next query. One without letters is no error.
    pub fn next_query(&mut self) -> Option<Result<Query<'_>>> {
        while self.records.len() == 0 {
            if let Err(error) = self.next_piece()? {
                return Some(Err(error));
            }
        }
        let record = self.records.next()?;
        self.read += 1;
        let codes = self.at..self.at + record.sequence.len();
        self.at = codes.end;
        Some(Ok(Query {
            record: Record { number: self.read, ..record },
            codes: &self.codes.forward[codes.clone()],
            reverse: self.rules.both_strands.then(|| &self.codes.reverse[codes]),
        }))
    }

    /// The path as errors show it.
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// See [`Reader::warning`].
    pub fn warning(&self) -> Option<String> {
        self.reader.warning()
    }

    /// Takes the next piece in hand; `None` when there are no more.
    fn next_piece(&mut self) -> Option<Result<()>> {
        let Some((before, mut piece)) = self.pieces.next() else {
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            let rules = &self.rules;
            let harvest = self.reader.harvest(|piece, raw| rules.take(piece, raw))?;
            self.pieces = harvest.pieces.into_iter();
            self.fault = harvest.fault;
            return Some(Ok(()));
        };
        if let (true, Some((at, told))) = (self.rules.suspect, piece.told) {
            self.rules.suspect = false;
            if let Some(error) = told {
                // The end, for all that follows it was parsed in vain.
                piece.records.truncate(at);
                self.pieces = Vec::new().into_iter();
                self.fault = Some(before.shift(error));
                self.reader.finish();
            }
        }
        (self.records, self.codes, self.at) = (piece.records.into_iter(), piece.codes, 0);
        Some(Ok(()))
    }
}

impl Rules {
    fn take(&self, piece: &mut Piece, raw: Raw) -> Result<()> {
        check_query_name(raw.name).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
        let mut record = Record::new(&raw);
        let letters = &record.sequence;
        if self.suspect && piece.told.is_none() && letters.len() >= TELLING_LETTERS {
            let dna = Alphabet::detect(letters) == Some(Alphabet::Dna);
            let remedy = "translate the query, or set --alphabet dna or --alphabet protein";
            let error = dna.then(|| raw.fault("DNA query against protein reference", remedy));
            piece.told = Some((piece.records.len(), error));
        }
        let start = piece.codes.forward.len();
        if let Err(at) = self.alphabet.encode(letters, &mut piece.codes.forward) {
            return Err(self.refuse(&raw, letters, at));
        }
        if self.both_strands {
            piece.codes.reverse.extend(reverse_complement_codes(&piece.codes.forward[start..]));
        }
        record.normalise(self.alphabet);
        piece.records.push(record);
        Ok(())
    }

    /// Why `letters` are refused, whose first one outside the alphabet is the one at `at`.
    fn refuse(&self, raw: &Raw, letters: &[u8], at: usize) -> Error {
        if self.alphabet == Alphabet::Dna && is_protein(letters) {
            let remedy = "give a protein reference, or DNA queries; \
                          --alphabet protein where the reference is protein but looks like DNA";
            return raw.fault("protein query against DNA reference", remedy);
        }
        raw.foreign_letter(letters[at], at, self.alphabet)
    }
}
