//! A record of the output, independent of its format.
//!
//! Mates are adjacent, and each line gives the position of the other mate. A query has one primary line and secondary
//! lines for further hits, or an unmapped line if it has no hits. Anything that SAM cannot hold is an error in all
//! formats, except that PAF accepts any name. The BAM module checks BAM's additional limits.

mod maker;

use super::tags::EditTags;
use super::targets::HitTarget;
use crate::terms::alignment::{Alignment, ColumnOp, PathOp, Strand};
use crate::terms::insert::five_prime;

pub use maker::LineMaker;

/// Bits of SAM's FLAG (SAMv1 specification, 1.4).
const PAIRED: u16 = 1;
const PROPER: u16 = 2;
pub(super) const UNMAPPED: u16 = 4;
const MATE_UNMAPPED: u16 = 8;
pub(super) const REVERSE: u16 = 16;
const MATE_REVERSE: u16 = 32;
const FIRST: u16 = 64;
const LAST: u16 = 128;
pub(super) const SECONDARY: u16 = 256;
pub(super) const SUPPLEMENTARY: u16 = 2048;

/// A checked line.
pub struct OutputLine<'a> {
    /// `*` for a nameless query.
    pub name: &'a str,
    /// The query's residues in the orientation of the alignment.
    pub letters: &'a [u8],
    /// In the order of the read; empty if there are no qualities.
    pub qualities: &'a [u8],
    /// `None` for an unmapped query.
    pub aligned: Option<AlignedLine<'a>>,
    /// The fields about the query's mate; `None` for single reads.
    pub mate: Option<MateOf<'a>>,
    /// Tags that are copied from the query's header line, each preceded by a tab.
    pub copied: &'a [u8],
}

/// The fields of a line about the other read of its pair.
#[derive(Clone, Copy)]
pub struct MateOf<'a> {
    /// Whether the line's own read is the first of the pair.
    pub is_first: bool,
    /// Whether the line and the mate's line that it points to are a proper pair.
    pub is_proper: bool,
    /// `None` if the mate is unmapped.
    pub place: Option<&'a MatePlace<'a>>,
    /// Position of the primary line of the read itself, which an unmapped mate shares; `None` if the read is unmapped.
    pub own: Option<&'a MatePlace<'a>>,
    /// Sum of the mate's base qualities above a threshold, which `samtools markdup` compares; `None` if it has no
    /// qualities.
    pub base_qualities: Option<i64>,
}

/// Position of a mate: of its primary line or, for a pair of secondary hits, of its secondary line.
pub struct MatePlace<'a> {
    pub target: HitTarget<'a>,
    pub alignment: &'a Alignment,
    pub quality: u8,
    pub cigar: Vec<(u32, BamOp)>,
}

/// The alignment of the query of a line.
pub struct AlignedLine<'a> {
    pub alignment: &'a Alignment,
    pub rank: LineRank,
    pub quality: u8,
    /// Score of the second hit of the query, or of its part; `None` for secondary lines.
    pub second: Option<i32>,
    /// Whether the hit is of the second tier.
    pub is_anchored: bool,
    pub target: HitTarget<'a>,
    /// The path with soft clips at its ends, which consumes the whole query. Adjacent operations differ in kind, and
    /// none is empty.
    pub cigar: &'a [(u32, BamOp)],
    pub differences: &'a EditTags,
    /// SA: the other lines of a split query; empty if there are none.
    pub others: &'a [u8],
}

/// The kind of a line among the lines of its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRank {
    Primary,
    /// A hit of the rest of the query that an earlier hit leaves.
    Supplementary,
    /// A further hit of the query.
    Secondary,
}

/// The operations of a CIGAR, numbered as in BAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BamOp {
    Match = 0,
    Insertion = 1,
    Deletion = 2,
    Clip = 4,
    HardClip = 5,
    Equal = 7,
    Unequal = 8,
}

/// The reason why a format cannot hold a record, and the remedy.
pub struct RecordRefusal {
    pub format: &'static str,
    pub problem: String,
    pub remedy: &'static str,
}

impl OutputLine<'_> {
    pub fn flags(&self) -> u16 {
        let own = match &self.aligned {
            None => UNMAPPED,
            Some(AlignedLine { alignment, rank, .. }) => {
                let strand = if alignment.strand == Strand::Reverse { REVERSE } else { 0 };
                let rank = match rank {
                    LineRank::Primary => 0,
                    LineRank::Supplementary => SUPPLEMENTARY,
                    LineRank::Secondary => SECONDARY,
                };
                strand | rank
            }
        };
        own | self.mate.as_ref().map_or(0, |mate| mate.flags())
    }

    /// Values for RNAME and POS; an unmapped read has its mate's.
    pub fn place(&self) -> Option<(usize, &str, u32)> {
        match (&self.aligned, self.mate.as_ref().and_then(|mate| mate.place)) {
            (Some(AlignedLine { target, alignment, .. }), _) => {
                Some((target.number, target.name, alignment.target_start))
            }
            (None, Some(mate)) => Some((mate.target.number, mate.target.name, mate.alignment.target_start)),
            (None, None) => None,
        }
    }

    /// Values for RNEXT and PNEXT; an unmapped mate has those of the read's own primary line.
    pub fn mate_place(&self) -> Option<(usize, &str, u32)> {
        let mate = self.mate.as_ref()?;
        let place = mate.place.or(mate.own)?;
        Some((place.target.number, place.target.name, place.alignment.target_start))
    }

    /// TLEN: from this read's 5' end to its mate's 5' end; 0 if they are on different targets.
    pub fn template_length(&self) -> i64 {
        match (&self.aligned, self.mate.as_ref().and_then(|mate| mate.place)) {
            (Some(own), Some(mate)) if own.target.number == mate.target.number => {
                five_prime(mate.alignment) - five_prime(own.alignment)
            }
            _ => 0,
        }
    }

    pub fn is_secondary(&self) -> bool {
        self.aligned.as_ref().is_some_and(|aligned| aligned.rank == LineRank::Secondary)
    }

    /// Whether this is the primary line of its query; an unmapped line counts as primary.
    pub fn is_primary(&self) -> bool {
        self.aligned.as_ref().is_none_or(|aligned| aligned.rank == LineRank::Primary)
    }

    /// The line with hard clips instead of soft clips, and only the residues between them.
    fn hard_clipped<'b>(&'b self, buffer: &'b mut Vec<(u32, BamOp)>) -> OutputLine<'b> {
        let OutputLine { name, letters, qualities, ref aligned, mate, copied } = *self;
        let Some(aligned) = aligned else {
            return OutputLine { name, letters, qualities, aligned: None, mate, copied };
        };
        let hard =
            |&(len, kind): &(u32, BamOp)| (len, if kind == BamOp::Clip { BamOp::HardClip } else { kind });
        *buffer = aligned.cigar.iter().map(hard).collect();
        let (start, end) = (aligned.alignment.query_start as usize, aligned.alignment.query_end as usize);
        let len = letters.len();
        let as_read = if self.is_reverse() { len - end..len - start } else { start..end };
        OutputLine {
            name,
            letters: &letters[start..end],
            qualities: qualities.get(as_read).unwrap_or_default(),
            aligned: Some(AlignedLine { cigar: buffer, ..*aligned }),
            mate,
            copied,
        }
    }

    pub fn is_reverse(&self) -> bool {
        self.aligned.as_ref().is_some_and(|aligned| aligned.alignment.strand == Strand::Reverse)
    }
}

impl<'a> MateOf<'a> {
    /// The mate fields for a line of this rank. The primary line points to the mate's primary line. A secondary hit
    /// points to its partner, if it has one; otherwise it points to the mate's primary line, and is no proper pair with
    /// it.
    pub fn of_line<'b>(self, rank: LineRank, partner: Option<&'b MatePlace<'b>>) -> MateOf<'b>
    where
        'a: 'b,
    {
        match partner {
            Some(_) => MateOf { place: partner, is_proper: true, ..self },
            None => MateOf { is_proper: self.is_proper && rank == LineRank::Primary, ..self },
        }
    }

    /// The FLAG bits that these fields set.
    fn flags(&self) -> u16 {
        let mate = match self.place {
            None => MATE_UNMAPPED,
            Some(place) if place.alignment.strand == Strand::Reverse => MATE_REVERSE,
            Some(_) => 0,
        };
        let proper = if self.is_proper { PROPER } else { 0 };
        PAIRED | proper | mate | if self.is_first { FIRST } else { LAST }
    }
}

impl From<PathOp> for BamOp {
    fn from(op: PathOp) -> BamOp {
        match op {
            PathOp::Match => BamOp::Match,
            PathOp::Insertion => BamOp::Insertion,
            PathOp::Deletion => BamOp::Deletion,
        }
    }
}

impl From<ColumnOp> for BamOp {
    fn from(op: ColumnOp) -> BamOp {
        match op {
            ColumnOp::Equal => BamOp::Equal,
            ColumnOp::Unequal => BamOp::Unequal,
            ColumnOp::Insertion => BamOp::Insertion,
            ColumnOp::Deletion => BamOp::Deletion,
        }
    }
}

impl BamOp {
    pub fn letter(self) -> u8 {
        b"MIDNSHP=X"[self as usize]
    }
}
