//! Makes the lines of queries and their hits.

use super::{AlignedLine, BamOp, LineRank, MateOf, MatePlace, OutputLine, RecordRefusal};
use crate::align::quality;
use crate::input::reader::{FileRecord, MAX_QUERY_NAME};
use crate::output::writer::tags::{EditTags, Residues, push_number, sam_letter};
use crate::output::writer::targets::HitTargets;
use crate::terms::alignment::{Alignment, Mated, PathOp, QueryResult, Strand, Tier};
use crate::terms::alphabet::reverse_complement;
use crate::terms::casts::{to_i64, to_u32};
use crate::terms::error::{Error, Place, Result};
use crate::terms::insert::PairScoring;
use crate::terms::options::CsForm;
use crate::terms::scoring::Scoring;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

const REMEDY: &str =
    "give it a name of 1 to 254 printable ASCII characters without '@', and qualities from '!' to '~'";

/// Makes the lines of a run. It has no state between calls, so several threads may each make a part.
pub struct LineMaker {
    pub targets: HitTargets,
    pub scoring: Arc<Scoring>,
    pub residues: Residues,
    /// Writes `=` and `X` instead of `M`.
    pub eqx: bool,
    /// Form of the tag cs, if it is written.
    pub cs: Option<CsForm>,
    /// Supplementary lines contain only the aligned residues.
    pub hard_clips: bool,
    /// Accepts query names that SAM forbids.
    pub any_names: bool,
    /// Lines may begin and end with deletions, which SAM cannot hold.
    pub shows_end_gaps: bool,
    /// Scoring by which pairs of secondary hits are found; `None` unless the queries are mates with chosen pairs.
    pub pairs: Option<PairScoring>,
    /// Files of the queries, for error messages: one, or those of the first and the second mates.
    pub queries: [PathBuf; 2],
}

/// Buffers that are reused from line to line.
#[derive(Default)]
struct Buffers {
    cigar: Vec<(u32, BamOp)>,
    differences: EditTags,
    others: Vec<u8>,
}

impl LineMaker {
    /// Calls `push` with all lines of the given queries and their hits, in order.
    pub fn for_each(
        &self,
        queries: &[FileRecord],
        found: &[QueryResult],
        mut push: impl FnMut(&OutputLine) -> Result<(), RecordRefusal>,
    ) -> Result<()> {
        let within: Vec<QueryResult>;
        let found = match self.shows_end_gaps {
            true => found,
            false => {
                within = found.iter().map(without_end_gaps).collect();
                &within
            }
        };
        let mut buffers = Buffers::default();
        let mut of_query = |record: &FileRecord,
                            found: &QueryResult,
                            mate: Option<MateOf>,
                            further: &[Option<MatePlace>]| {
            self.of_query(&mut buffers, (record, found), (mate, further), &mut push)
                .map_err(|refused| self.refused(record, found, refused))
        };
        let mut records = queries.iter().zip(found);
        while let Some((record, found)) = records.next() {
            if found.mated.is_none() {
                of_query(record, found, None, &[])?;
                continue;
            }
            let Some((other, found_of_other)) = records.next() else { break };
            let pair = [(record, found), (other, found_of_other)];
            let places = pair.map(|(record, found)| {
                let first = found.alignments.first();
                first.map(|hit| self.place_of(record, hit, quality::of_first(&self.scoring, found)))
            });
            let hits = pair.map(|(_, found)| &found.alignments[..]);
            let circle_of = |target| self.targets.circle(target);
            let partners = self.pairs.map(|pairs| pairs.partners(hits, circle_of)).unwrap_or_default();
            for (number, mate) in [(0, 1), (1, 0)] {
                let (record, found) = pair[number];
                let mated = found.mated.unwrap_or(Mated { is_first: number == 0, insert: None });
                let (is_first, is_proper) = (mated.is_first, mated.is_proper());
                let base_qualities = base_qualities(pair[mate].0);
                let [place, own] = [mate, number].map(|read| places[read].as_ref());
                let of_mate = MateOf { is_first, is_proper, place, own, base_qualities };
                let partner = |hit: usize| self.place_of(pair[mate].0, &hits[mate][hit], 0);
                let further: Vec<Option<MatePlace>> =
                    partners[number].iter().map(|hit| hit.map(partner)).collect();
                of_query(record, found, Some(of_mate), &further)?;
            }
        }
        Ok(())
    }

    /// The position of a hit, for the line of its mate.
    fn place_of<'a>(&'a self, record: &FileRecord, alignment: &'a Alignment, quality: u8) -> MatePlace<'a> {
        let mut cigar = Vec::new();
        let target = self.targets.of(alignment);
        self.find_cigar(&mut cigar, &oriented(record, alignment.strand), target.aligned, alignment);
        MatePlace { target, alignment, quality, cigar }
    }

    /// The error for a record that the format cannot hold.
    fn refused(&self, record: &FileRecord, found: &QueryResult, refused: RecordRefusal) -> Error {
        let is_second = found.mated.is_some_and(|mated| !mated.is_first);
        let place = Place {
            file: self.queries[usize::from(is_second)].clone(),
            record: Some((record.number, record.name.clone())),
            line: None,
        };
        let RecordRefusal { format, problem, remedy } = refused;
        Error::input(place, format!("{format} cannot store this record ({problem})"), remedy)
    }

    fn of_query(
        &self,
        buffers: &mut Buffers,
        (record, found): (&FileRecord, &QueryResult),
        (mate, partners): (Option<MateOf>, &[Option<MatePlace>]),
        push: &mut impl FnMut(&OutputLine) -> Result<(), RecordRefusal>,
    ) -> Result<(), RecordRefusal> {
        let name = if self.any_names { &record.name } else { checked_name(&record.name)? };
        let qualities = checked_qualities(record)?;
        let copied = &record.tags;
        let Buffers { cigar, differences, others } = buffers;
        if found.alignments.is_empty() {
            let letters = &record.sequence;
            return push(&OutputLine { name, letters, qualities, aligned: None, mate, copied });
        }
        let split = self.split(record, found);
        let (primary, further) = found.alignments.split_at(1);
        let supplementary = found
            .supplementary
            .iter()
            .map(|hit| (&hit.alignment, LineRank::Supplementary, hit.second, hit.tier));
        let primary = primary.iter().map(|hit| (hit, LineRank::Primary, found.second, found.tier));
        let further = further.iter().map(|hit| (hit, LineRank::Secondary, None, found.tier));
        let before_further = found.supplementary.len();
        for (at, (alignment, rank, second, tier)) in primary.chain(supplementary).chain(further).enumerate() {
            let letters = oriented(record, alignment.strand);
            let target = self.targets.of(alignment);
            self.find_cigar(cigar, &letters, target.aligned, alignment);
            differences.find(&self.residues, self.cs, (&letters, target.aligned), alignment);
            others.clear();
            let elements = split.iter().enumerate().filter(|(own, _)| *own != at && at < split.len());
            elements.for_each(|(_, element)| others.extend_from_slice(element));
            let partner = (rank == LineRank::Secondary).then(|| partners.get(at - before_further)).flatten();
            let mate = mate.map(|mate| mate.of_line(rank, partner.and_then(Option::as_ref)));
            let aligned = AlignedLine {
                alignment,
                rank,
                quality: self.quality(found, at, rank),
                second,
                is_anchored: tier == Tier::Anchored,
                target,
                cigar,
                differences,
                others,
            };
            let aligned = Some(aligned);
            let whole = OutputLine { name, letters: &letters, qualities, aligned, mate, copied };
            match rank == LineRank::Supplementary && self.hard_clips {
                true => push(&whole.hard_clipped(&mut Vec::new()))?,
                false => push(&whole)?,
            }
        }
        Ok(())
    }

    /// The SA elements of the primary line and of each supplementary line; empty if there are no supplementary lines.
    fn split(&self, record: &FileRecord, found: &QueryResult) -> Vec<Vec<u8>> {
        if found.supplementary.is_empty() {
            return Vec::new();
        }
        let (mut cigar, mut differences) = (Vec::new(), EditTags::default());
        let supplementary = found.supplementary.iter().map(|hit| (&hit.alignment, LineRank::Supplementary));
        let all = found.alignments.iter().take(1).map(|hit| (hit, LineRank::Primary)).chain(supplementary);
        let element = |(at, (alignment, rank)): (usize, (&Alignment, LineRank))| {
            let letters = oriented(record, alignment.strand);
            let target = self.targets.of(alignment);
            self.find_cigar(&mut cigar, &letters, target.aligned, alignment);
            differences.find(&self.residues, None, (&letters, target.aligned), alignment);
            let mut text = target.name.as_bytes().to_vec();
            text.push(b',');
            push_number(&mut text, alignment.target_start + 1);
            text.extend_from_slice(if alignment.strand == Strand::Forward { b",+," } else { b",-," });
            for &(len, kind) in &cigar {
                push_number(&mut text, len);
                text.push(kind.letter());
            }
            text.push(b',');
            push_number(&mut text, self.quality(found, at, rank));
            text.push(b',');
            push_number(&mut text, to_i64(differences.counts.edits()));
            text.push(b';');
            text
        };
        all.enumerate().map(element).collect()
    }

    /// MAPQ of the line with this index among those of its query.
    fn quality(&self, found: &QueryResult, at: usize, rank: LineRank) -> u8 {
        match rank {
            LineRank::Primary => quality::of_first(&self.scoring, found),
            LineRank::Supplementary => found.supplementary[at - 1].quality,
            LineRank::Secondary => 0,
        }
    }

    /// Computes the path with soft clips, and with `=` and `X` if requested. `query` is in the aligned orientation, and
    /// `target` has the aligned codes.
    fn find_cigar(&self, cigar: &mut Vec<(u32, BamOp)>, query: &[u8], target: &[u8], alignment: &Alignment) {
        cigar.clear();
        push_op(cigar, alignment.query_start, BamOp::Clip);
        if self.eqx {
            let equal = |letter, code| self.residues.equal(letter, code);
            alignment.for_each_piece((query, target), equal, |piece| {
                push_op(cigar, to_u32(piece.columns()), BamOp::from(piece.op));
            });
        } else {
            alignment.cigar.iter().for_each(|&(len, op)| push_op(cigar, len, BamOp::from(op)));
        }
        push_op(cigar, to_u32(query.len()) - alignment.query_end, BamOp::Clip);
    }
}

/// Appends a CIGAR operation, unless its length is 0. Joins adjacent operations of one kind.
fn push_op(cigar: &mut Vec<(u32, BamOp)>, len: u32, kind: BamOp) {
    match cigar.last_mut() {
        _ if len == 0 => {}
        Some((last, same)) if *same == kind => *last += len,
        _ => cigar.push((len, kind)),
    }
}

/// QNAME; a nameless record is `*`.
fn checked_name(name: &str) -> Result<&str, RecordRefusal> {
    let letters = name.bytes().all(|letter| letter.is_ascii_graphic() && letter != b'@');
    match name {
        "" => Ok("*"),
        _ if !letters || name.len() > MAX_QUERY_NAME || name == "*" => Err(invalid()),
        _ => Ok(name),
    }
}

/// The qualities of a record, after checking that its residues are valid in SEQ and its qualities in QUAL.
fn checked_qualities(record: &FileRecord) -> Result<&[u8], RecordRefusal> {
    let query = &record.sequence;
    let qualities = record.qualities.as_deref().unwrap_or_default();
    // Folds vectorize, whereas `all` stops early.
    let lettered = query.iter().fold(true, |all, &letter| all & is_letter(sam_letter(letter)));
    let graphic = qualities.iter().fold(true, |all, quality| all & quality.is_ascii_graphic());
    if !lettered {
        return Err(invalid());
    }
    if !qualities.is_empty() && qualities.len() != query.len() {
        let (expected, got) = (query.len(), qualities.len());
        let problem = format!("sequence-quality scores length mismatch: expected {expected}, got {got}");
        return Err(RecordRefusal { problem, ..invalid() });
    }
    match graphic {
        true => Ok(qualities),
        false => Err(invalid()),
    }
}

/// Whether SAM allows a character in SEQ.
fn is_letter(letter: u8) -> bool {
    letter.is_ascii_alphabetic() | (letter == b'=') | (letter == b'.')
}

fn invalid() -> RecordRefusal {
    RecordRefusal { format: "SAM", problem: "invalid input parameter".to_string(), remedy: REMEDY }
}

/// Hits without deletions at their ends. A hit that consumes no residue of its target gets the position of the residue
/// before it. The mapping quality is the same with and without these deletions ([`Alignment::span`]).
fn without_end_gaps(found: &QueryResult) -> QueryResult {
    let mut found = found.clone();
    for hit in &mut found.alignments {
        if let Some(&(len, PathOp::Deletion)) = hit.cigar.first() {
            hit.cigar.remove(0);
            hit.target_start += len;
        }
        if let Some(&(len, PathOp::Deletion)) = hit.cigar.last() {
            hit.cigar.pop();
            hit.target_end -= len;
        }
        if hit.target_start == hit.target_end {
            hit.target_start = hit.target_start.saturating_sub(1);
            hit.target_end = hit.target_start;
        }
    }
    found
}

/// Minimum base quality that counts in [`MateOf::base_qualities`]; samtools' `MD_MIN_QUALITY`.
const LEAST_QUALITY: u8 = 15;
/// The character of a base quality of 0.
const OFFSET: u8 = b'!';

fn base_qualities(record: &FileRecord) -> Option<i64> {
    let qualities = record.qualities.as_ref()?.iter().map(|quality| quality.saturating_sub(OFFSET));
    Some(qualities.filter(|&quality| quality >= LEAST_QUALITY).map(i64::from).sum())
}

/// The query's residues in the orientation of an alignment.
fn oriented(record: &FileRecord, strand: Strand) -> Cow<'_, [u8]> {
    match strand {
        Strand::Reverse => Cow::Owned(reverse_complement(&record.sequence)),
        _ => Cow::Borrowed(&record.sequence),
    }
}
