//! The references of a run: all of them, or the residues of one part of them.
//!
//! References with `T` residues in total are divided into `n` parts. Part `i` (from 1) has the records whose middle
//! `m`, counted in residues from the start of the first record, satisfies `floor(m * n / T) = i - 1`. So each part is a
//! contiguous range of whole records, each record is in exactly one part, and a part may be empty. For records of 10
//! and 90 residues and 2 parts, the first part has the record with its middle at 5, and the second part the record with
//! its middle at 55.

use super::Reader;
use super::checks::{check_named_reference, check_reference_count, check_reference_name};
use super::faults::{NO_ROOM, alignments, shown, whole};
use super::names::first_repeated;
use super::parse::{Before, Raw, foreign_letter};
use super::remarks::Remark;
use super::source::BAM;
use crate::terms::alignment::{Frames, Strands};
use crate::terms::alphabet::{Alphabet, GeneticCode, NO_CODON, Suggested, protein_codes};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u32, to_u64, to_usize};
use crate::terms::error::{Error, Place, Result};
use crate::terms::memory::may_fail;
use crate::terms::options::{ReadRules, Share};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Number of residues of the references that decide on the alphabet.
const DETECTION_LETTERS: usize = 10_000;

/// The references of a run.
#[derive(Clone, Debug)]
pub struct References {
    /// Names of all references, including those of other parts.
    pub names: Vec<String>,
    /// Whole header lines of all references; empty if the reader does not keep them.
    pub titles: Vec<String>,
    /// Length of each reference in residues; less than 2^31.
    pub lengths: Vec<u32>,
    /// Codes of `alphabet`. For a part, only its own references.
    pub sequences: Sequences,
    /// Index of the first of `sequences` among all references.
    pub first: usize,
    pub alphabet: Alphabet,
    /// Whether lower-case residues became N, or X in proteins.
    pub masks_lower_case: bool,
    /// 0-based indices of the records of the file that have no residues and are not references.
    pub left_out: Vec<u64>,
    /// Lengths of the references in bases if `sequences` are their six frames. Names, titles and lengths are then those of the
    /// frames.
    pub bases: Vec<u32>,
}

impl References {
    /// The six frames of each reference, which are proteins. All references must be here.
    ///
    /// # Errors
    /// If the references are proteins.
    pub fn translated(self, code: GeneticCode, path: &Path) -> Result<References> {
        if self.alphabet == Alphabet::Protein {
            let text =
                format!("{}: the references are protein; --translate target needs DNA", path.display());
            return Err(Error::Usage(text));
        }
        let frames = Strands::Frames(Frames::ALL).orientations();
        self.sequences.prove_all()?;
        let translated: Vec<Sequences> = (0..self.sequences.len())
            .into_par_iter()
            .map(|place| {
                let mut own = Sequences::default();
                let codes = self.sequences.get(place);
                for &frame in frames {
                    let protein = code.translate(codes, frame);
                    // A frame without a codon has a residue that aligns with nothing.
                    own.push(protein_codes(if protein.is_empty() { &[NO_CODON] } else { &protein }));
                }
                own
            })
            .collect();
        let mut sequences = Sequences::default();
        sequences.append_all(&translated.iter().collect::<Vec<_>>());
        drop(translated);
        let lengths = sequences.iter().map(|codes| to_u32(codes.len())).collect();
        let each = |texts: Vec<String>| -> Vec<String> {
            texts.into_iter().flat_map(|text| vec![text; frames.len()]).collect()
        };
        let (names, titles) = (each(self.names), each(self.titles));
        Ok(References {
            names,
            titles,
            lengths,
            sequences,
            alphabet: Alphabet::Protein,
            bases: self.lengths,
            ..self
        })
    }
}

/// References of a piece. A reference with invalid residues has only a name and a line.
#[derive(Default)]
struct ReferencePiece {
    /// Whether the first length and the first sequence continue the last reference of the previous piece.
    continues: bool,
    /// The first character of the continuation that is outside the alphabet, and its position there.
    foreign: Option<(u8, usize)>,
    names: Vec<String>,
    titles: Vec<String>,
    lines: Vec<u64>,
    lengths: Vec<u32>,
    left_out: Vec<u64>,
    /// Empty if only the lengths are wanted.
    sequences: Sequences,
}

/// The part of a record's residues that is kept. They are checked in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Codes,
    Length,
}

/// Receives the codes of references in file order.
pub trait CodeSink {
    /// Number of codes that the reader keeps in memory before it hands them over.
    fn kept(&self) -> usize;

    fn put(&mut self, codes: &[u8]) -> Result<()>;
}

/// Reads all references. Without `alphabet`, [`suggested_alphabet`] determines it.
pub fn read_references(reader: &mut Reader, alphabet: Option<Alphabet>) -> Result<References> {
    read(reader, alphabet, Keep::Codes, None)
}

/// Reads all references as [`read_references`] does. If they have more than [`CodeSink::kept`] residues, `sink`
/// receives all codes, and the returned sequences are empty.
pub fn read_references_into(
    reader: &mut Reader,
    alphabet: Alphabet,
    sink: &mut dyn CodeSink,
) -> Result<References> {
    read(reader, Some(alphabet), Keep::Codes, Some(sink))
}

/// Reads names and lengths of all references, and then, in a second pass, the residues of the references in the part
/// `share`. All parts report the errors of all references. If there is a sink, it receives the codes of all references.
pub fn read_reference_part(
    reader: &mut Reader,
    alphabet: Option<Alphabet>,
    share: Share,
    sink: Option<&mut dyn CodeSink>,
) -> Result<References> {
    let keep = if sink.is_some() { Keep::Codes } else { Keep::Length };
    let mut references = read(reader, alphabet, keep, sink)?;
    let own = stretch_of_part(&references.lengths, share);
    let mut again = Reader::open(reader.path())?.with_rules(reader.rules);
    reader.state().check_same(again.state())?;
    references.sequences = read_stretch(&mut again, &references, own.clone())?;
    references.first = own.start;
    Ok(references)
}

fn read(
    reader: &mut Reader,
    alphabet: Option<Alphabet>,
    keep: Keep,
    mut sink: Option<&mut dyn CodeSink>,
) -> Result<References> {
    if reader.converted.is_some() {
        return Err(alignments(reader.path(), BAM));
    }
    reader.split_records();
    let alphabet = match alphabet {
        Some(alphabet) => alphabet,
        None => suggested_alphabet(reader)?.alphabet,
    };
    let rules = reader.rules;
    let mut all = ReferencePiece::default();
    let mut fault = None;
    let mut spills = false;
    while let Some(harvest) = reader.harvest(|piece: &mut ReferencePiece, raw| {
        if !raw.continues {
            check_name(&raw, rules.any_names)?;
            if rules.keeps_titles {
                piece.titles.push(raw.header());
            }
        }
        take(piece, raw, alphabet, (keep, rules))
    }) {
        let parts: Vec<_> =
            harvest.pieces.iter().map(|(_, piece)| (&piece.sequences, piece.continues)).collect();
        let letters = parts.iter().map(|(part, _)| part.codes().len()).sum();
        let has_room = may_fail(|| all.sequences.has_room(letters));
        if has_room {
            all.sequences.join_all(&parts);
        }
        fault = harvest.fault;
        for (before, piece) in harvest.pieces {
            if let Err(earlier) = all.join(before, piece, (reader.path(), alphabet)) {
                fault = Some(earlier);
                break;
            }
        }
        fault = fault.map(|fault| all.name_last(fault));
        if !has_room {
            let read = all.lengths.iter().map(|&len| u64::from(len)).sum::<u64>();
            let problem = format!("out of memory after {read} residues of the references");
            fault = Some(Error::input(all.last_place(reader.path()), problem, NO_ROOM));
        }
        if let (Some(sink), None) = (&mut sink, &fault) {
            let codes = all.sequences.codes();
            spills |= codes.len() > sink.kept();
            if spills {
                fault = sink.put(codes).err();
                all.sequences.clear();
            }
        }
        if fault.is_some() {
            reader.finish();
            break;
        }
    }
    if spills {
        // Their memory is no longer needed.
        all.sequences = Sequences::default();
    }
    all.leave_out_empty(reader);
    // A repeated name precedes the fault that ended the reading.
    let repeated = if rules.any_names { None } else { repeated(reader, &all) };
    match repeated.or(fault) {
        Some(error) => Err(error),
        None => {
            let ReferencePiece { names, titles, lengths, sequences, left_out, .. } = all;
            let masks_lower_case = rules.masks_lower_case;
            Ok(References {
                names,
                titles,
                lengths,
                sequences,
                first: 0,
                alphabet,
                masks_lower_case,
                left_out,
                bases: Vec::new(),
            })
        }
    }
}

/// The remedy of a name that SAM forbids.
const SAM_NAMES: &str = "rename the reference, use --rename-references to replace such characters with '_', or \
                         write PAF (--format paf), which accepts any name";

/// Returns an error for a name that SAM forbids, unless any name is allowed.
fn check_name(raw: &Raw, any: bool) -> Result<()> {
    match check_reference_name(raw.name) {
        Err(problem) if !any => Err(raw.fault(problem, SAM_NAMES)),
        _ => Ok(()),
    }
}

/// Returns an error for the first name that SAM forbids among the names of references of `file`.
pub fn check_reference_names(names: &[String], file: &Path) -> Result<()> {
    let is_refused = |name: &String| check_reference_name(name).is_err();
    let Some(at) = names.par_iter().position_first(is_refused) else { return Ok(()) };
    let record = Some((at as u64 + 1, shown(&names[at])));
    let place = Place { file: file.to_path_buf(), record, line: None };
    check_reference_name(&names[at]).map_err(|problem| Error::input(place, problem, SAM_NAMES))
}

/// Adds a reference, or a part of one.
fn take(
    piece: &mut ReferencePiece,
    raw: Raw,
    alphabet: Alphabet,
    (keep, rules): (Keep, ReadRules),
) -> Result<()> {
    let mut letters = raw.written();
    if rules.masks_lower_case {
        alphabet.mask_lower_case(letters.to_mut());
    }
    match raw.continues {
        true => piece.continues = true,
        false => {
            // A reference without residues is left out after all references are read.
            let checked = check_named_reference(raw.name, letters.len().max(1));
            checked.map_err(|(problem, remedy)| raw.fault(problem, remedy))?;
            piece.names.push(raw.name.to_string());
            piece.lines.push(raw.line);
        }
    }
    let read = match keep {
        Keep::Codes => piece.sequences.try_push(|codes| alphabet.encode(&letters, codes)),
        Keep::Length => match letters.iter().position(|&letter| alphabet.code(letter).is_none()) {
            Some(at) => Err(at),
            None => Ok(()),
        },
    };
    let refused = |at: usize| {
        let letter = letters[at].to_ascii_uppercase();
        piece.foreign = (raw.continues && raw.mixed(letter).is_none()).then_some((letter, at));
        raw.foreign_letter(letter, at, alphabet)
    };
    read.map_err(refused)?;
    // Fits: the length of a whole record was checked above, and a part of a record is shorter than a block.
    piece.lengths.push(to_u32(letters.len()));
    Ok(())
}

/// The references of a part, given the lengths of all references.
pub fn stretch_of_part(lengths: &[u32], share: Share) -> Range<usize> {
    let total: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let mut before = 0;
    // Twice the middle and twice the total, since a middle may be between two residues.
    let owner = |&len: &u32| {
        let middle = 2 * before + u64::from(len);
        before += u64::from(len);
        to_u64(u128::from(middle) * u128::from(share.of) / u128::from(2 * total.max(1))) + 1
    };
    let owners: Vec<u64> = lengths.iter().map(owner).collect();
    let border = |number: u64| owners.partition_point(|&owner| owner < number);
    let number = u64::from(share.number);
    border(number)..border(number + 1)
}

/// The sequences of the references `own`; all references must have been read before.
pub(super) fn read_stretch(reader: &mut Reader, all: &References, own: Range<usize>) -> Result<Sequences> {
    let mut sequences = Sequences::default();
    let lengths = &all.lengths[own.clone()];
    sequences.reserve(lengths.len(), lengths.iter().map(|&len| len as usize).sum());
    reader.split_records();
    let rules = reader.rules;
    let records = records_of(&all.left_out, own.clone());
    // The last reference is complete when the next one begins.
    while !own.is_empty() && reader.before.records <= records.end as u64 {
        let harvest = reader.harvest(|piece, raw| take(piece, raw, all.alphabet, (Keep::Codes, rules)));
        let Some(harvest) = harvest else { break };
        let of_part = |(before, piece): (_, ReferencePiece)| piece.within(before, &records);
        let parts: Vec<_> = harvest.pieces.into_iter().filter_map(of_part).collect();
        sequences.join_all(&parts.iter().map(|(part, continues)| (part, *continues)).collect::<Vec<_>>());
        if let Some(fault) = harvest.fault {
            return Err(fault);
        }
    }
    reader.state().check_unchanged()?;
    sequences.remove_empty();
    let same = sequences.iter().map(<[u8]>::len).eq(lengths.iter().map(|&len| len as usize));
    match same {
        true => Ok(sequences),
        false => {
            let problem = "the file changed while it was read";
            Err(Error::input(whole(reader.path()), problem, "run again when the file is complete"))
        }
    }
}

impl ReferencePiece {
    /// Appends everything of a piece except its sequences. The error is about a reference that began in an earlier
    /// piece.
    fn join(
        &mut self,
        before: Before,
        piece: ReferencePiece,
        (path, alphabet): (&Path, Alphabet),
    ) -> Result<()> {
        let mut lengths = piece.lengths.into_iter();
        let last = self.lengths.last_mut().filter(|_| piece.continues);
        if let Some((letter, at)) = piece.foreign {
            let begun = last.map_or(0, |&mut len| len as usize);
            let (problem, remedy) = foreign_letter(letter, begun + at, alphabet, false);
            return Err(Error::input(self.last_place(path), problem, remedy));
        }
        if let Some(last) = last {
            let len = *last as usize + lengths.next().unwrap_or(0) as usize;
            let name = self.names.last().map_or("", String::as_str);
            if let Err((problem, remedy)) = check_named_reference(name, len.max(1)) {
                return Err(Error::input(self.last_place(path), problem, remedy));
            }
            *last = to_u32(len);
        }
        self.names.extend(piece.names);
        self.titles.extend(piece.titles);
        self.lengths.extend(lengths);
        self.lines.extend(piece.lines.iter().map(|line| line + before.lines));
        check_reference_count(self.names.len())
            .map_err(|(problem, remedy)| Error::input(whole(path), problem, remedy))
    }

    /// Removes references without residues, and adds a remark for each.
    fn leave_out_empty(&mut self, reader: &mut Reader) {
        for place in 0..self.names.len() {
            if self.lengths.get(place) == Some(&0) {
                let record = Some((place as u64 + 1, shown(&self.names[place])));
                let line = Some(self.lines[place]);
                let file = reader.path().to_path_buf();
                reader.remarks.note(Remark::EmptyReference, || Place { file, record, line });
                self.left_out.push(place as u64);
            }
        }
        if !self.left_out.is_empty() {
            let left_out = &self.left_out;
            leave_out(&mut self.names, left_out);
            leave_out(&mut self.titles, left_out);
            leave_out(&mut self.lines, left_out);
            leave_out(&mut self.lengths, left_out);
            self.sequences.remove_empty();
        }
    }

    /// The 1-based number of the record that holds the reference with this index.
    fn record(&self, place: usize) -> usize {
        records_of(&self.left_out, place..place + 1).end
    }

    /// The position of the last reference, for errors.
    fn last_place(&self, file: &Path) -> Place {
        let record = self.names.last().map(|name| (self.names.len() as u64, shown(name)));
        Place { file: file.to_path_buf(), record, line: self.lines.last().copied() }
    }

    /// Adds the name of the last reference to an error, since its continuations lack the name.
    fn name_last(&self, error: Error) -> Error {
        match error {
            Error::Input { mut place, problem, remedy } => {
                let last = self.last_place(&place.file).record;
                let is_last = place.record.as_ref().map(|(number, _)| number)
                    == last.as_ref().map(|(number, _)| number);
                place.record = if is_last { last } else { place.record };
                Error::input(place, problem, remedy)
            }
            other => other,
        }
    }

    /// The sequences that are in `own` among all records, and whether the first of them continues an earlier one;
    /// `None` if there are none.
    fn within(self, before: Before, own: &Range<usize>) -> Option<(Sequences, bool)> {
        let first = to_usize(before.records) - usize::from(self.continues);
        let within = |place: usize| place.clamp(first, first + self.sequences.len()) - first;
        let range = within(own.start)..within(own.end);
        if range.len() == self.sequences.len() {
            return Some((self.sequences, self.continues));
        }
        let mut some = Sequences::default();
        (!range.is_empty()).then(|| {
            let continues = self.continues && range.start == 0;
            some.append(&self.sequences, range);
            (some, continues)
        })
    }
}

/// Removes the elements at these indices.
fn leave_out<T>(all: &mut Vec<T>, places: &[u64]) {
    let mut place = 0..;
    all.retain(|_| place.next().is_none_or(|place| places.binary_search(&place).is_err()));
}

/// The range of 0-based records that contains some references, including skipped records between them.
fn records_of(left_out: &[u64], references: Range<usize>) -> Range<usize> {
    let record = |reference: usize| {
        let before = |record: usize, &left_out: &u64| record + usize::from(left_out <= record as u64);
        left_out.iter().fold(reference, before)
    };
    let start = record(references.start);
    start..references.end.checked_sub(1).map_or(start, |last| record(last) + 1).max(start)
}

/// The error for a name that repeats that of an earlier record.
fn repeated(reader: &Reader, references: &ReferencePiece) -> Option<Error> {
    let (earlier, later) = first_repeated(&references.names)?;
    let place = Place {
        file: reader.path().to_path_buf(),
        record: Some((references.record(later) as u64, shown(&references.names[later]))),
        line: Some(references.lines[later]),
    };
    let problem = format!("record {} has the same name up to the first space", references.record(earlier));
    let remedy = "give every reference a unique name, or use a format without reference header (--format paf, tab, \
                  json or text)";
    Some(Error::input(place, problem, remedy))
}

/// The alphabet of a file of references, which [`read_references`] reads next.
pub fn suggested_alphabet(reader: &mut Reader) -> Result<Suggested> {
    reader.split_records();
    alphabet_ahead(reader)
}

/// The alphabet of a file: DNA for FASTQ; for FASTA, the alphabet that the first residues suggest.
pub fn alphabet_ahead(reader: &mut Reader) -> Result<Suggested> {
    let dna = Suggested { alphabet: Alphabet::Dna, is_certain: true };
    if reader.is_fastq() {
        return Ok(dna);
    }
    let letters = reader.letters_ahead(DETECTION_LETTERS)?;
    // Without any residues, every alphabet will do: the empty reference is then the error.
    Ok(Alphabet::suggested(&letters).unwrap_or(dna))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first pass reads the file that was opened, and the second pass another file with the same lengths.
    #[test]
    fn a_file_that_is_replaced_between_the_passes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.fa");
        let share = Share { number: 2, of: 2 };
        for is_replaced in [false, true] {
            std::fs::write(&path, ">a\nACGT\n>b\nGGCC\n").unwrap();
            let mut reader = Reader::open_twice(&path).unwrap();
            if is_replaced {
                let other = folder.path().join("new.fa");
                std::fs::write(&other, ">a\nACGT\n>c\nGGCA\n").unwrap();
                std::fs::rename(other, &path).unwrap();
            }
            let read = read_reference_part(&mut reader, Some(Alphabet::Dna), share, None);
            match read {
                Ok(references) => assert!(!is_replaced && references.first == 1),
                Err(error) => {
                    assert!(is_replaced && error.to_string().contains("r.fa: the file changed"), "{error}");
                }
            }
        }
    }

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
