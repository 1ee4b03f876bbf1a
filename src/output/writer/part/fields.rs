//! The fields of the types in a part's file, in their order.

use super::HitSelection;
use super::stored::{Stored, put_list, stored_enum, stored_struct};
use crate::align::significance::{FiniteSize, Karlin, SearchSpace, Significance, Space};
use crate::input::reader::FileRecord;
use crate::output::writer::line::LineMaker;
use crate::output::writer::list::{ListMaker, RankedBy};
use crate::output::writer::panel::{PanelMaker, PanelTotals};
use crate::output::writer::tags::Residues;
use crate::output::writer::targets::{HitTargets, StoredTargets, TargetLabel};
use crate::output::writer::{Maker, RecordMaker, ReferenceSizes, Writer};
use crate::terms::alignment::{Alignment, InPart, PathOp, PathRuns, Strand, Tier};
use crate::terms::alphabet::{Alphabet, GeneticCode};
use crate::terms::insert::{InsertSize, Orientation, PairScoring};
use crate::terms::options::{
    Column, CsForm, Format, HitFormat, HitLimits, IdentityDefinition, PageOptions, PanelFormat, Rank, Share,
};
use crate::terms::scoring::{
    AlignmentMode, Ambiguous, GapPiece, Matrix, PositionGaps, PositionScores, Scoring, Substitution,
};

stored_struct!(Writer { in_blocks, sort, header, header_without_hits, sizes, maker, part });
stored_struct!(ReferenceSizes { count, longest });
stored_enum!(Maker { 0 Records { 0: records }, 1 Lists { 0: lists }, 2 Panel { 0: panel } });
stored_struct!(RecordMaker { format, lines, read_group });
stored_struct!(LineMaker {
    targets,
    scoring,
    residues,
    eqx,
    cs,
    hard_clips,
    any_names,
    shows_end_gaps,
    pairs,
    queries,
});
stored_struct!(ListMaker {
    targets,
    scoring,
    ranked,
    translation,
    format,
    columns,
    page,
    has_header,
    identity,
    tells_masked,
});
stored_struct!(PanelMaker { format, targets, scoring, names, lengths, command_line, totals });
stored_struct!(RankedBy { rank, significance });
stored_struct!(Residues { codes, letters });
stored_struct!(HitSelection { min_score, anchored_score, secondary_ppm, limits, ranked, identity, insert });

stored_enum!(Format { 0 Sam, 1 Bam, 2 Paf });
stored_enum!(PanelFormat { 0 Counts, 1 Matrix });
stored_enum!(HitFormat { 0 Tab, 1 Json, 2 Text, 3 A3m, 4 Stockholm });
stored_enum!(CsForm { 0 Short, 1 Long });
stored_enum!(Rank { 0 Score, 1 Raw, 2 Evalue, 3 Identity });
stored_enum!(IdentityDefinition { 0 Shorter, 1 Columns, 2 Inner, 3 Longer, 4 Blast });
stored_struct!(PageOptions { width, colour });
stored_struct!(HitLimits { max_hits, max_targets, max_per_target, frames, keeps_ties, identity, coverage });
stored_struct!(Share { number, of });

stored_struct!(InsertSize { orientation, mean, deviation });
stored_enum!(Orientation { 0 Fr, 1 Rf, 2 Ff });
stored_struct!(PairScoring { insert, match_ });

stored_struct!(Scoring {
    alphabet,
    substitution,
    gap_open,
    gap_extend,
    further_gaps,
    end_bonus,
    mode,
    frameshift,
    profile
});
stored_struct!(PositionScores { rows, gaps });
stored_struct!(PositionGaps { after, skipped });
stored_enum!(Alphabet { 0 Dna, 1 Protein });
stored_enum!(AlignmentMode { 0 Local, 1 Glocal, 2 Global, 3 Overlap });
stored_struct!(GapPiece { open, extend });
stored_enum!(Substitution {
    0 Equal { match_: match_, mismatch: mismatch, ambiguous: ambiguous },
    1 Matrix { 0: matrix },
});
stored_enum!(Ambiguous { 0 Penalty { 0: penalty }, 1 Iupac });
stored_struct!(Matrix { name, scores });

stored_struct!(Significance { karlin, is_fitted, space });
stored_struct!(Karlin { unit, lambda, k, alpha, beta, rounds_down, finite_size });
stored_struct!(FiniteSize { mean, variance, covariance });
stored_enum!(Space {
    0 Pair,
    1 Search { 0: space },
    2 Triangle { 0: space },
    3 Corrected { targets: targets },
});
stored_struct!(SearchSpace { letters, targets });

stored_struct!(FileRecord { number, name, sequence, qualities, tags });
stored_enum!(Tier { 0 Single, 1 Proven, 2 Anchored });
stored_enum!(Strand {
    0 Forward,
    1 Reverse,
    2 Plus1,
    3 Plus2,
    4 Plus3,
    5 Minus1,
    6 Minus2,
    7 Minus3,
    8 PlusCodons,
    9 MinusCodons,
});
stored_enum!(PathOp { 0 Match, 1 Insertion, 2 Deletion });
stored_enum!(InPart { 0 Hit { beside: beside }, 1 Rescued });
stored_struct!(TargetLabel { name, title, len });

/// A column of a table, by its name.
impl Stored for Column {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self.name().as_bytes(), out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Column> {
        Column::parse(&String::take(bytes)?).ok()?.first().copied()
    }
}

/// The targets that hits of a part need are stored with the hits.
impl Stored for GeneticCode {
    fn put(&self, out: &mut Vec<u8>) {
        self.number.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<GeneticCode> {
        GeneticCode::numbered(u8::take(bytes)?)
    }
}

/// A part has no totals. They begin in the merge.
impl Stored for PanelTotals {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut &[u8]) -> Option<PanelTotals> {
        Some(PanelTotals::default())
    }
}

impl Stored for HitTargets {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut &[u8]) -> Option<HitTargets> {
        Some(HitTargets::Stored(StoredTargets::default()))
    }
}

impl Stored for PathRuns {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self, out);
    }

    fn take(bytes: &mut &[u8]) -> Option<PathRuns> {
        Vec::take(bytes).map(PathRuns::from_vec)
    }
}

/// An alignment without its ends, which follow from its path.
impl Stored for Alignment {
    fn put(&self, out: &mut Vec<u8>) {
        let Alignment {
            strand,
            target,
            score,
            query_start,
            query_end: _,
            target_start,
            target_end: _,
            cigar,
            shifts: _,
        } = self;
        strand.put(out);
        target.put(out);
        score.put(out);
        query_start.put(out);
        target_start.put(out);
        cigar.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Alignment> {
        let (strand, target, score) = (Strand::take(bytes)?, u32::take(bytes)?, i32::take(bytes)?);
        // Runs with translated queries have no parts of the references.
        if strand.is_translated() {
            return None;
        }
        let (query_start, target_start) = (u32::take(bytes)?, u32::take(bytes)?);
        let cigar = PathRuns::take(bytes)?;
        let (mut query_end, mut target_end) = (query_start, target_start);
        for &(len, op) in &cigar {
            let (rows, columns) = op.consumed(len);
            (query_end, target_end) = (query_end.checked_add(rows)?, target_end.checked_add(columns)?);
        }
        Some(Alignment {
            strand,
            target,
            score,
            query_start,
            query_end,
            target_start,
            target_end,
            cigar,
            shifts: Box::default(),
        })
    }
}
