//! The references of a run, all of them at once, or the letters of one part of them.
//!
//! Of `n` parts of references of `T` letters in all, part `i` (from 1) has the records whose middle `m`, counted
//! in letters from the first one's beginning, is where `floor(m * n / T) = i - 1`. So parts are stretches of
//! whole records in the order of the file, each record is in exactly one, and one may be empty. Of records of 10
//! and 90 letters and 2 parts, the first has the one with its middle at 5, and the second that at 55.

use super::Reader;
use super::checks::{check_named_reference, check_reference_name};
use super::faults::{shown, whole};
use super::names::first_repeated;
use super::parse::{Before, Raw};
use crate::alphabet::Alphabet;
use crate::batch::Sequences;
use crate::error::{Error, Place, Result};
use crate::options::Share;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// So many letters of the references decide on the alphabet.
const DETECTION_LETTERS: usize = 10_000;

/// The references of a run.
#[derive(Clone, Debug)]
pub struct References {
    /// Of all references, those of other parts too.
    pub names: Vec<String>,
    /// The whole header lines of all; empty where the reader keeps none.
    pub titles: Vec<String>,
    /// Letters of each of them; fewer than 2^31.
    pub lengths: Vec<u32>,
    /// Codes of `alphabet`; of a part its own references only.
    pub sequences: Sequences,
    /// Place of the first of them among all.
    pub first: usize,
    pub alphabet: Alphabet,
    /// Whether letters in lower case became N, or X of proteins.
    pub masks_lower_case: bool,
}

/// References of a piece. One whose letters are refused has a name and a line only.
#[derive(Default)]
struct Piece {
    names: Vec<String>,
    titles: Vec<String>,
    lines: Vec<u64>,
    lengths: Vec<u32>,
    /// Empty where only the lengths are wanted.
    sequences: Sequences,
}

/// What is kept of the letters of a record, which are checked in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Codes,
    Length,
}

/// Reads all references. Without `alphabet` their first letters decide on it.
pub fn read_references(reader: &mut Reader, alphabet: Option<Alphabet>) -> Result<References> {
    read(reader, alphabet, Keep::Codes)
}

/// Reads names and lengths of all references, and then again for the letters of those that are of the part
/// `share`: what is wrong with any of them is told by all parts.
pub fn read_reference_part(
    reader: &mut Reader,
    alphabet: Option<Alphabet>,
    share: Share,
) -> Result<References> {
    let mut references = read(reader, alphabet, Keep::Length)?;
    let own = stretch_of_part(&references.lengths, share);
    references.sequences = read_stretch(reader.path(), &references, own.clone())?;
    references.first = own.start;
    Ok(references)
}

fn read(reader: &mut Reader, alphabet: Option<Alphabet>, keep: Keep) -> Result<References> {
    let alphabet = alphabet.map_or_else(|| alphabet_of(reader), Ok)?;
    let (any_names, keeps_titles) = (reader.any_names, reader.keeps_titles);
    let masks = reader.masks_lower_case;
    let mut all = Piece::default();
    let mut fault = None;
    while let Some(harvest) = reader.harvest(|piece: &mut Piece, raw| {
        check_name(&raw, any_names)?;
        if keeps_titles {
            piece.titles.push(raw.header());
        }
        take(piece, raw, alphabet, (keep, masks))
    }) {
        let parts: Vec<&Sequences> = harvest.pieces.iter().map(|(_, piece)| &piece.sequences).collect();
        all.sequences.append_all(&parts);
        for (before, piece) in harvest.pieces {
            all.names.extend(piece.names);
            all.titles.extend(piece.titles);
            all.lengths.extend(piece.lengths);
            all.lines.extend(piece.lines.iter().map(|line| line + before.lines));
        }
        fault = harvest.fault;
    }
    // A name that repeats stands before what ended the reading.
    match repeated(reader, &all).or(fault) {
        Some(error) => Err(error),
        None => {
            let Piece { names, titles, lengths, sequences, .. } = all;
            Ok(References { names, titles, lengths, sequences, first: 0, alphabet, masks_lower_case: masks })
        }
    }
}

/// The remedy of a name that SAM forbids.
const SAM_NAMES: &str = "rename the reference, give --rename-references, which writes '_' for what SAM forbids, or write \
                         PAF (--format paf), which takes any name";

/// Refuses a name that SAM forbids, unless any will do.
fn check_name(raw: &Raw, any: bool) -> Result<()> {
    match check_reference_name(raw.name) {
        Err(problem) if !any => Err(raw.fault(problem, SAM_NAMES)),
        _ => Ok(()),
    }
}

/// Refuses the first name that SAM forbids among those of references of `file` that are known already.
pub fn check_reference_names(names: &[String], file: &Path) -> Result<()> {
    let is_refused = |name: &String| check_reference_name(name).is_err();
    let Some(at) = names.par_iter().position_first(is_refused) else { return Ok(()) };
    let record = Some((at as u64 + 1, shown(&names[at])));
    let place = Place { file: file.to_path_buf(), record, line: None };
    check_reference_name(&names[at]).map_err(|problem| Error::input(place, problem, SAM_NAMES))
}

/// `masks` says whether letters in lower case become N or X.
fn take(piece: &mut Piece, raw: Raw, alphabet: Alphabet, (keep, masks): (Keep, bool)) -> Result<()> {
    let mut letters = raw.written();
    if masks {
        alphabet.mask_lower_case(letters.to_mut());
    }
    check_named_reference(raw.name, letters.len()).map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
    piece.names.push(raw.name.to_string());
    piece.lines.push(raw.line);
    // Checked above to fit.
    piece.lengths.push(letters.len() as u32);
    let read = match keep {
        Keep::Codes => piece.sequences.try_push(|codes| alphabet.encode(&letters, codes)),
        Keep::Length => match letters.iter().position(|&letter| alphabet.code(letter).is_none()) {
            Some(at) => Err(at),
            None => Ok(()),
        },
    };
    read.map_err(|at| raw.foreign_letter(letters[at].to_ascii_uppercase(), at, alphabet))
}

/// The references of a part, among all of these lengths.
pub fn stretch_of_part(lengths: &[u32], share: Share) -> Range<usize> {
    let total: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let mut before = 0;
    // Twice the middle, and so twice the total, since a middle may lie between two letters.
    let owner = |&len: &u32| {
        let middle = 2 * before + u64::from(len);
        before += u64::from(len);
        (u128::from(middle) * u128::from(share.of) / u128::from(2 * total.max(1))) as u64 + 1
    };
    let owners: Vec<u64> = lengths.iter().map(owner).collect();
    let border = |number: u64| owners.partition_point(|&owner| owner < number);
    let number = u64::from(share.number);
    border(number)..border(number + 1)
}

/// The sequences of those `own` among all references, which were all read before.
fn read_stretch(path: &Path, all: &References, own: Range<usize>) -> Result<Sequences> {
    let mut sequences = Sequences::default();
    let lengths = &all.lengths[own.clone()];
    sequences.reserve(lengths.len(), lengths.iter().map(|&len| len as usize).sum());
    let mut reader = Reader::open(path)?;
    let masks = all.masks_lower_case;
    while sequences.len() < own.len() {
        let harvest = reader.harvest(|piece, raw| take(piece, raw, all.alphabet, (Keep::Codes, masks)));
        let Some(harvest) = harvest else { break };
        let of_part = |(before, piece): (_, Piece)| piece.within(before, &own);
        let parts: Vec<Sequences> = harvest.pieces.into_iter().filter_map(of_part).collect();
        sequences.append_all(&parts.iter().collect::<Vec<_>>());
        if let Some(fault) = harvest.fault {
            return Err(fault);
        }
    }
    let same = sequences.iter().map(<[u8]>::len).eq(lengths.iter().map(|&len| len as usize));
    match same {
        true => Ok(sequences),
        false => {
            let problem = "the file has changed while it was read";
            Err(Error::input(whole(path), problem, "run again when it is as it should be"))
        }
    }
}

impl Piece {
    /// The sequences of those `own` among all records; `None` where there are none.
    fn within(self, before: Before, own: &Range<usize>) -> Option<Sequences> {
        let first = before.records as usize;
        let within = |place: usize| place.clamp(first, first + self.sequences.len()) - first;
        let range = within(own.start)..within(own.end);
        if range.len() == self.sequences.len() {
            return Some(self.sequences);
        }
        let mut some = Sequences::default();
        (!range.is_empty()).then(|| {
            some.append(&self.sequences, range);
            some
        })
    }
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
pub fn alphabet_of(reader: &mut Reader) -> Result<Alphabet> {
    let letters = reader.letters_ahead(DETECTION_LETTERS)?;
    // Without a single letter any will do: the empty reference is the error then.
    Ok(Alphabet::detect(&letters).unwrap_or(Alphabet::Dna))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_of_one_part() {
        for lengths in
            [&[5][..], &[10, 90], &[90, 10], &[1; 7], &[3, 1, 4, 1, 5, 9, 2, 6], &[i32::MAX as u32; 3]]
        {
            for of in [1, 2, 3, 5, 40, u32::MAX] {
                let mut next = 0;
                for number in 1..=of.min(40) {
                    let own = stretch_of_part(lengths, Share { number, of });
                    assert_eq!(own.start, next, "{lengths:?}: {number}/{of}");
                    next = own.end;
                }
                assert!(next == lengths.len() || of > 40, "{lengths:?} in {of} parts");
            }
        }
        assert_eq!(stretch_of_part(&[10, 90], Share { number: 1, of: 2 }), 0..1);
        assert_eq!(stretch_of_part(&[90, 10], Share { number: 1, of: 2 }), 0..1);
        assert_eq!(stretch_of_part(&[2, 2, 2, 2], Share { number: 2, of: 4 }), 1..2);
    }
}
