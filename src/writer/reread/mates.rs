//! Records of mates in parts of the references: taken apart, and written as those of a run of all references.
//!
//! What a record tells of its own alignment stays (CIGAR, NM, MD, AS). What it tells of its mate comes of the hits that
//! are reported. SEQ and QUAL stand in the first record that a part has of a mate.

use super::{PartRecord, Standing, bam, text};
use crate::alignment::{Alignment, Cigar, Found, InPart, Mated, Op, Strand, push_run};
use crate::alphabet::reverse_complement;
use crate::options::Format;
use crate::writer::line::{AlignedLine, Kind, MateOf, MatePlace, OutputLine, Rank};
use crate::writer::tags::EditTags;
use crate::writer::{bam as bam_lines, sam as sam_lines};

/// A record of a mate, and what it tells.
pub struct MateRecord {
    record: PartRecord,
    told: MateTold,
}

/// What a record tells of a mate.
#[derive(Default)]
pub struct MateTold {
    /// SEQ and QUAL as they stand in the record; empty where there is none.
    pub letters: Vec<u8>,
    pub qualities: Vec<u8>,
    /// ms.
    pub base_qualities: Option<i64>,
    pub read_group: Option<Vec<u8>>,
    /// `None` for an unmapped mate.
    pub hit: Option<MateHit>,
}

/// An alignment of a mate.
pub struct MateHit {
    /// With the number of its target among all.
    pub alignment: Alignment,
    pub in_part: InPart,
    /// Of SAM, since BAM has the target's number and PAF's columns stay.
    pub target_name: String,
    pub cigar: Vec<(u32, Kind)>,
    pub differences: EditTags,
}

/// The path that a CIGAR tells.
pub struct PathTold {
    pub cigar: Vec<(u32, Kind)>,
    /// Letters of the query before it.
    query_start: u32,
    runs: Cigar,
    /// Letters of the query and of the target in it.
    lens: (u32, u32),
}

impl MateHit {
    pub fn of(alignment: Alignment, in_part: InPart) -> MateHit {
        let (target_name, cigar, differences) = Default::default();
        MateHit { alignment, in_part, target_name, cigar, differences }
    }
}

impl PathTold {
    /// `None` for a path that is none of a mate.
    pub fn new(operations: &[(u32, u8)]) -> Option<PathTold> {
        let mut path =
            PathTold { cigar: Vec::new(), query_start: 0, runs: Cigar::new(), lens: (0, 0) };
        for &(len, letter) in operations {
            let kind = Kind::of(letter)?;
            let (op, of_query, of_target) = match kind {
                Kind::Clip => (None, 0, 0),
                Kind::Match | Kind::Equal | Kind::Unequal => (Some(Op::Match), len, len),
                Kind::Insertion => (Some(Op::Insertion), len, 0),
                Kind::Deletion => (Some(Op::Deletion), 0, len),
                Kind::HardClip => return None,
            };
            path.lens = (path.lens.0.checked_add(of_query)?, path.lens.1.checked_add(of_target)?);
            match op {
                Some(op) => push_run(&mut path.runs, len, op),
                None if path.runs.is_empty() => path.query_start = path.query_start.checked_add(len)?,
                None => {}
            }
            path.cigar.push((len, kind));
        }
        Some(path)
    }

    /// The alignment along the path, from a place of a target on.
    pub fn alignment(&self, strand: Strand, (target, target_start): (u32, u32), score: i32) -> Option<Alignment> {
        let PathTold { query_start, lens, .. } = *self;
        let (query_end, target_end) = (query_start.checked_add(lens.0)?, target_start.checked_add(lens.1)?);
        let cigar = self.runs.clone();
        Some(Alignment { strand, target, score, query_start, query_end, target_start, target_end, cigar })
    }
}

impl PartRecord {
    /// Takes the record of a mate apart; `None` if it is none that a run writes.
    pub fn into_mate(self) -> Option<MateRecord> {
        let told = match self.format {
            Format::Bam => bam::mate(&self.bytes),
            Format::Sam => text::mate_sam(&self.bytes),
            Format::Paf => text::mate_paf(&self.bytes),
        };
        told.map(|told| MateRecord { record: self, told })
    }
}

impl MateRecord {
    /// The alignment, what it is in its part, and the score of the second hit that the record tells.
    pub fn hit(&self) -> Option<(&Alignment, InPart, Option<i32>)> {
        let hit = self.told.hit.as_ref()?;
        Some((&hit.alignment, hit.in_part, self.record.aligned.and_then(|aligned| aligned.second)))
    }

    /// SEQ as it was read.
    fn letters_as_read(&self) -> Vec<u8> {
        oriented(&self.told.letters, self.strand())
    }

    fn qualities_as_read(&self) -> Vec<u8> {
        let mut qualities = self.told.qualities.clone();
        if self.strand() == Strand::Reverse {
            qualities.reverse();
        }
        qualities
    }

    fn strand(&self) -> Strand {
        self.told.hit.as_ref().map_or(Strand::Forward, |hit| hit.alignment.strand)
    }
}

/// A mate with the alignments of it that are reported, in their order.
struct Mate<'a> {
    /// Of all parts, the first one's first record first.
    first: &'a MateRecord,
    hits: Vec<(&'a MateRecord, &'a MateHit)>,
    second: Option<i32>,
    mated: Mated,
}

impl<'a> Mate<'a> {
    /// `None` where an alignment is of no record.
    fn new(records: &'a [MateRecord], found: &Found) -> Option<Mate<'a>> {
        // Equal alignments have equal records.
        let record_of = |alignment: &Alignment| {
            let with_hit = records.iter().filter_map(|record| Some((record, record.told.hit.as_ref()?)));
            with_hit.into_iter().find(|(_, hit)| hit.alignment == *alignment)
        };
        let hits = found.alignments.iter().map(record_of).collect::<Option<_>>()?;
        Some(Mate { first: records.first()?, hits, second: found.second, mated: found.mated? })
    }

    fn place(&self) -> Option<MatePlace<'a>> {
        let (_, hit) = self.hits.first()?;
        Some(MatePlace {
            target_number: hit.alignment.target as usize,
            target_name: &hit.target_name,
            alignment: &hit.alignment,
            quality: self.mated.quality,
            cigar: hit.cigar.clone(),
        })
    }

    /// Appends the lines of PAF, whose columns stay.
    fn push_paf(&self, out: &mut Vec<u8>) {
        let Mate { first, hits, second, mated } = self;
        for (rank, (record, _)) in hits.iter().enumerate() {
            let standing = match rank {
                0 => Standing::Primary { second: *second, quality: mated.quality },
                _ => Standing::Secondary,
            };
            record.record.push(out, standing);
        }
        if hits.is_empty() {
            text::push_unaligned_paf(&first.record.bytes, out);
        }
    }

    /// Appends the records of SAM or BAM. `None` where one can't be.
    fn push(&self, out: &mut Vec<u8>, place_of_mate: Option<&MatePlace>) -> Option<()> {
        let Mated { is_first, is_proper, quality } = self.mated;
        let MateTold { base_qualities, read_group, .. } = &self.first.told;
        let name = str::from_utf8(self.first.record.name()).ok()?;
        let read_group = read_group.as_deref().map(str::from_utf8).transpose().ok()?;
        let mate = MateOf { is_first, is_proper, place: place_of_mate, base_qualities: *base_qualities };
        let (letters, qualities) = (self.first.letters_as_read(), self.first.qualities_as_read());
        let mut push = |letters: &[u8], aligned| {
            let line = OutputLine { name, letters, qualities: &qualities, aligned, mate: Some(mate) };
            match self.first.record.format {
                Format::Bam => return bam_lines::push(out, &line, read_group).ok(),
                Format::Sam | Format::Paf => sam_lines::push(out, &line, read_group),
            }
            Some(())
        };
        if self.hits.is_empty() {
            return push(&letters, None);
        }
        for (number, (_, hit)) in self.hits.iter().enumerate() {
            let (rank, quality, second) = match number {
                0 => (Rank::Primary, quality, self.second),
                _ => (Rank::Secondary, 0, None),
            };
            let MateHit { alignment, target_name, cigar, differences, .. } = hit;
            let aligned = AlignedLine {
                alignment,
                rank,
                quality,
                second,
                target_number: alignment.target as usize,
                target_name,
                target: &[],
                cigar,
                differences,
                others: &[],
                in_part: &[],
            };
            match rank {
                Rank::Primary => push(&oriented(&letters, alignment.strand), Some(aligned))?,
                _ => push(&[], Some(aligned))?,
            }
        }
        Some(())
    }
}

/// The letters of a query in the orientation of a strand, or back.
fn oriented(letters: &[u8], strand: Strand) -> Vec<u8> {
    match strand {
        Strand::Forward => letters.to_vec(),
        Strand::Reverse => reverse_complement(letters),
    }
}

/// Appends the records of two mates, from those that all parts have of each, with the hits that are reported. `None`
/// where these are not of such records.
pub fn push_mates(records: [&[MateRecord]; 2], found: &[Found; 2], out: &mut Vec<u8>) -> Option<()> {
    let [one, other] = [Mate::new(records[0], &found[0])?, Mate::new(records[1], &found[1])?];
    for (own, mate) in [(&one, &other), (&other, &one)] {
        match own.first.record.format {
            Format::Paf => own.push_paf(out),
            Format::Sam | Format::Bam => own.push(out, mate.place().as_ref())?,
        }
    }
    Some(())
}
