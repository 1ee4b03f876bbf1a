//! Splits hits across the origin of a circular target.
//!
//! A hit across the origin is found as one alignment, since [`crate::terms::batch::Sequences::close`] appends a second
//! copy of a circular target's residues. No output format has a path across the origin, so the hit is written as its
//! pieces before and after the origin. See docs/algorithm.md, section 18, for the definition.

use crate::align::candidates::PairLayout;
use crate::align::quality;
use crate::terms::alignment::{
    Alignment, PathOp, PathRun, PathRuns, QueryResult, Strand, Supplementary, push_run,
};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::mem;

/// Cuts the hits of all records that cross an origin.
pub fn cut(batch: &Batch, layout: PairLayout, found: &mut [QueryResult]) {
    if batch.targets.have_circles() {
        let cut = |(record, found): (usize, &mut QueryResult)| {
            OriginCut { batch, layout, record: to_u32(record) }.all(found)
        };
        found.par_iter_mut().enumerate().for_each(cut);
    }
}

/// The part of a path on one side of the origin, from a match to a match.
#[derive(Default)]
struct OriginPiece {
    query: (u32, u32),
    target: (u32, u32),
    cigar: PathRuns,
}

impl OriginPiece {
    /// Appends `len` matched columns at this query and target position, after `gaps`. A piece never begins with gaps,
    /// so gaps before its first match are dropped.
    fn go_on(&mut self, (query, target): (u32, u32), len: u32, gaps: &mut PathRuns) {
        if self.cigar.is_empty() {
            (self.query.0, self.target.0) = (query, target);
            gaps.clear();
        }
        gaps.drain(..).for_each(|(len, op)| push_run(&mut self.cigar, len, op));
        push_run(&mut self.cigar, len, PathOp::Match);
        (self.query.1, self.target.1) = (query + len, target + len);
    }
}

/// Context for cutting the hits of a record.
struct OriginCut<'a> {
    batch: &'a Batch,
    layout: PairLayout,
    record: u32,
}

impl OriginCut<'_> {
    fn all(&self, found: &mut QueryResult) {
        let supplementary = found.supplementary.iter().map(|hit| &hit.alignment);
        if !found.alignments.iter().chain(supplementary).any(|hit| self.is_across(hit)) {
            return;
        }
        let quality = quality::of_first(&self.batch.scoring, found);
        let mut hits = mem::take(&mut found.alignments).into_iter().map(|hit| self.pieces(hit));
        let mut first = hits.next().unwrap_or_default();
        // The piece with the highest score of its own is the primary hit. Among equal ones, the first piece is.
        first.sort_by_cached_key(|piece| Reverse(self.own_score(piece)));
        let mut first = first.into_iter();
        found.alignments.extend(first.next());
        found.alignments.extend(hits.flatten());
        found.quality = Some(quality);
        let QueryResult { second, tier, .. } = *found;
        let others = first.map(|alignment| Supplementary {
            alignment,
            second,
            quality,
            tier,
            is_piece_of_first: true,
        });
        let mut supplementary: Vec<Supplementary> = others.collect();
        for hit in mem::take(&mut found.supplementary) {
            let pieces = self.pieces(hit.alignment).into_iter();
            supplementary.extend(pieces.map(|alignment| Supplementary { alignment, ..hit }));
        }
        found.supplementary = supplementary;
        found.sort_supplementary(to_u32(
            self.batch.query(self.layout.query(self.record, Strand::Forward)).len(),
        ));
    }

    fn is_across(&self, hit: &Alignment) -> bool {
        self.batch.targets.circle(hit.target).is_some_and(|circle| hit.target_end > circle)
    }

    /// The pieces of a hit before and after the origin, or the whole hit if it does not cross the origin. Each piece
    /// keeps the score of the whole hit, as well as its second score and mapping quality.
    fn pieces(&self, hit: Alignment) -> Vec<Alignment> {
        let circle = self.batch.targets.circle(hit.target);
        let hit = hit.in_first_copy(circle);
        let Some(circle) = circle.filter(|&circle| hit.target_end > circle) else { return vec![hit] };
        let (mut before, mut behind, mut gaps) =
            (OriginPiece::default(), OriginPiece::default(), PathRuns::new());
        for run in hit.runs() {
            if run.op != PathOp::Match {
                gaps.push((run.len, run.op));
                continue;
            }
            let (query, target) = (to_u32(run.query.start), to_u32(run.target.start));
            let there = run.len.min(circle.saturating_sub(target));
            for (at, len, piece) in [(0, there, &mut before), (there, run.len - there, &mut behind)] {
                if len > 0 {
                    piece.go_on((query + at, target + at), len, &mut gaps);
                }
            }
        }
        // A column of the second copy is the same column of the first copy.
        behind.target = (behind.target.0.saturating_sub(circle), behind.target.1.saturating_sub(circle));
        let pieces = [before, behind].into_iter().filter(|piece| !piece.cigar.is_empty());
        let aligned = |OriginPiece { query, target, cigar }| Alignment {
            query_start: query.0,
            query_end: query.1,
            target_start: target.0,
            target_end: target.1,
            cigar,
            ..hit.clone()
        };
        pieces.map(aligned).collect()
    }

    /// Score of a piece alone.
    fn own_score(&self, piece: &Alignment) -> i64 {
        score(self.batch, self.batch.query(self.layout.query(self.record, piece.strand)), piece)
    }
}

/// Score of a path, computed from the sequences.
fn score(batch: &Batch, query: &[u8], alignment: &Alignment) -> i64 {
    let target = batch.target(alignment.target);
    let of_run = |PathRun { op, len, query: rows, target: columns }| match op {
        PathOp::Match => batch.scoring.score_all(&query[rows], &target[columns]),
        PathOp::Insertion | PathOp::Deletion => -batch.scoring.gap_cost(len as usize),
    };
    alignment.runs().map(of_run).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alignment::Tier;
    use crate::terms::batch::Sequences;
    use crate::terms::scoring::Scoring;
    use smallvec::smallvec;
    use std::sync::Arc;

    /// A circular target of 6 bases, ACGTTC, and a query with a gap on both sides at the origin:
    ///
    /// ```text
    /// circle  TTCA--CGT
    /// query   TT--GGCGT
    /// ```
    #[test]
    fn gaps_at_the_origin_are_in_no_piece() {
        let mut targets: Sequences = [&[0u8, 1, 2, 3, 3, 1][..]].into_iter().collect();
        targets.close(&[0].into());
        let batch = Batch {
            queries: Arc::new([&[3u8, 3, 2, 2, 1, 2, 3][..]].into_iter().collect()),
            targets: Arc::new(targets),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let aligned = |score, query: (u32, u32), target: (u32, u32), cigar| Alignment {
            strand: Strand::Forward,
            target: 0,
            score,
            query_start: query.0,
            query_end: query.1,
            target_start: target.0,
            target_end: target.1,
            cigar,
            shifts: Box::default(),
        };
        let path =
            smallvec![(2, PathOp::Match), (2, PathOp::Deletion), (2, PathOp::Insertion), (3, PathOp::Match)];
        let hit = aligned(-11, (0, 7), (3, 10), path);
        let found = QueryResult {
            alignments: vec![hit.clone(), hit],
            second: Some(7),
            quality: Some(9),
            ..QueryResult::default()
        };
        let mut cut = [found];
        super::cut(
            &batch,
            PairLayout {
                strands: crate::terms::alignment::Strands::Plus,
                meets: crate::align::candidates::Meets::All,
            },
            &mut cut,
        );
        let before = aligned(-11, (0, 2), (3, 5), smallvec![(2, PathOp::Match)]);
        let behind = aligned(-11, (4, 7), (1, 4), smallvec![(3, PathOp::Match)]);
        // The piece with the higher score of its own (3, not 2) is the primary one; further hits keep the order of
        // their pieces. All have the score of the hit.
        assert_eq!(cut[0].alignments, [behind.clone(), before.clone(), behind]);
        let other = Supplementary {
            alignment: before,
            second: Some(7),
            quality: 9,
            tier: Tier::Single,
            is_piece_of_first: true,
        };
        assert_eq!((&cut[0].supplementary[..], cut[0].quality), (&[other][..], Some(9)));
    }
}
