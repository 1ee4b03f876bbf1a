//! The references of a run, all of them at once.

use super::Reader;
use super::checks::check_reference;
use super::faults::shown;
use super::names::first_repeated;
use super::parse::Raw;
use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};

/// So many letters of the references decide on the alphabet.
const DETECTION_LETTERS: usize = 10_000;

/// All references of a run.
#[derive(Clone, Debug)]
pub struct References {
    pub names: Vec<String>,
    /// Codes of `alphabet`.
    pub sequences: Sequences,
    pub alphabet: Alphabet,
}

/// References of a piece. One whose letters are refused has a name and a line only.
#[derive(Default)]
struct Piece {
    names: Vec<String>,
    lines: Vec<u64>,
    sequences: Sequences,
}

/// Reads all references. Without `alphabet` their first letters decide on it.
pub fn read_references(reader: &mut Reader, alphabet: Option<Alphabet>) -> Result<References> {
    let alphabet = alphabet.map_or_else(|| detect(reader), Ok)?;
    let mut all = Piece::default();
    let mut fault = None;
    while let Some(harvest) = reader.harvest(|piece, raw| take(piece, raw, alphabet)) {
        let parts: Vec<&Sequences> = harvest.pieces.iter().map(|(_, piece)| &piece.sequences).collect();
        all.sequences.append_all(&parts);
        for (before, piece) in harvest.pieces {
            all.names.extend(piece.names);
            all.lines.extend(piece.lines.iter().map(|line| line + before.lines));
        }
        fault = harvest.fault;
    }
    // A name that repeats stands before what ended the reading.
    match repeated(reader, &all).or(fault) {
        Some(error) => Err(error),
        None => Ok(References { names: all.names, sequences: all.sequences, alphabet }),
    }
}

fn take(piece: &mut Piece, raw: Raw, alphabet: Alphabet) -> Result<()> {
    let letters = raw.written();
    check_reference(raw.name, letters.len()).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
    piece.names.push(raw.name.to_string());
    piece.lines.push(raw.line);
    piece
        .sequences
        .try_push(|codes| alphabet.encode(&letters, codes))
        .map_err(|at| raw.foreign_letter(letters[at].to_ascii_uppercase(), at, alphabet))
}

/// The error of a name that an earlier record has.
fn repeated(reader: &Reader, references: &Piece) -> Option<Error> {
    let (earlier, later) = first_repeated(&references.names)?;
    let place = Place {
        file: reader.path().to_path_buf(),
        record: Some((later as u64 + 1, shown(&references.names[later]))),
        line: Some(references.lines[later]),
    };
    let problem = format!("record {} has the same name up to the first space", earlier + 1);
    Some(Error::input(place, problem, "give every reference a name of its own"))
}

/// The alphabet of the first letters.
fn detect(reader: &mut Reader) -> Result<Alphabet> {
    let letters = reader.letters_ahead(DETECTION_LETTERS)?;
    // Without a single letter any will do: the empty reference is the error then.
    Ok(Alphabet::detect(&letters).unwrap_or(Alphabet::Dna))
}
