//! From the runs of a path to its alignment, whose score is recomputed.

use super::WantedPath;
use crate::engine::FramedRun;
use crate::terms::alignment::{Alignment, CODON, FrameShift, PathOp, PathRuns, push_run};
use crate::terms::batch::Batch;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;

/// Builds the alignment whose path has these runs, listed from its end. Recomputes the score from the sequences and
/// returns an error if it differs from the hit's score.
#[inline]
pub fn rescored(
    runs: impl Iterator<Item = (u32, PathOp)>,
    batch: &Batch,
    wanted: &WantedPath,
) -> Result<Alignment, EngineError> {
    let window = &wanted.window;
    let (query, target) = (batch.query(window.query), batch.target(window.target));
    let (mut row, mut col) = (window.query_end as usize, window.target_end as usize);
    let mut score = 0;
    let mut cigar = PathRuns::new();
    for (len, op) in runs {
        let (behind_row, behind_col) = (row, col);
        let back =
            |end: usize, first: u32| end.checked_sub(len as usize).filter(|&start| start >= first as usize);
        let outside = || EngineError::Wrong("a path leaves its window".to_string());
        if op != PathOp::Deletion {
            row = back(row, 0).ok_or_else(outside)?;
        }
        if op != PathOp::Insertion {
            col = back(col, window.start).ok_or_else(outside)?;
        }
        score += match op {
            PathOp::Match => batch.scoring.score_all(&query[row..behind_row], &target[col..behind_col]),
            PathOp::Insertion | PathOp::Deletion => -batch.scoring.gap_cost(len as usize),
        };
        push_run(&mut cigar, len, op);
    }
    if !batch.scoring.mode.may_begin(row, col) {
        return Err(EngineError::Wrong("a path begins where none may".to_string()));
    }
    if score != i64::from(wanted.score) {
        let problem = format!("a path of score {score} was found for a hit of score {}", wanted.score);
        return Err(EngineError::Wrong(problem));
    }
    cigar.reverse();
    Ok(Alignment {
        strand: wanted.strand,
        target: window.target,
        score: wanted.score,
        query_start: to_u32(row),
        query_end: window.query_end,
        target_start: to_u32(col),
        target_end: window.target_end,
        cigar,
        shifts: Box::default(),
    })
}

/// Like [`rescored`], for codons of all frames or positions of a profile.
pub fn rescored_by_rows(
    runs: impl Iterator<Item = FramedRun>,
    batch: &Batch,
    wanted: &WantedPath,
) -> Result<Alignment, EngineError> {
    let (window, scoring) = (&wanted.window, &*batch.scoring);
    let cost = scoring.frameshift.unwrap_or(0);
    let step = if scoring.frameshift.is_some() { CODON } else { 1 };
    let (query, target) = (batch.query(window.query), batch.target(window.target));
    let outside = || EngineError::Wrong("a path leaves its window".to_string());
    let (mut row, mut col) = (window.query_end, window.target_end);
    // Residues of the query behind each change of the frame.
    let (mut residues, mut shifts) = (0, Vec::new());
    let (mut score, mut cigar) = (0, PathRuns::new());
    for run in runs {
        let (len, op) = match run {
            FramedRun::Run(len, op) => (len, op),
            FramedRun::Forward | FramedRun::Back => {
                let is_forward = run == FramedRun::Forward;
                row = if is_forward { row.checked_sub(1).ok_or_else(outside)? } else { row + 1 };
                shifts.push(FrameShift { after: residues, is_forward });
                score -= i64::from(cost);
                continue;
            }
        };
        for _ in 0..len {
            let last = row.checked_sub(1).ok_or_else(outside)? as usize;
            let &residue = query.get(last).ok_or_else(outside)?;
            if op != PathOp::Deletion {
                row = row.checked_sub(step).ok_or_else(outside)?;
                residues += 1;
            }
            if op != PathOp::Insertion {
                col = col.checked_sub(1).filter(|&col| col >= window.start).ok_or_else(outside)?;
            }
            if op == PathOp::Match {
                score += i64::from(scoring.position_score(last, residue, target[col as usize]));
            }
        }
        if op != PathOp::Match {
            score -= scoring.gap_cost_at(op, row as usize, len as usize);
        }
        push_run(&mut cigar, len, op);
    }
    if score != i64::from(wanted.score) {
        let problem = format!("a path of score {score} was found for a hit of score {}", wanted.score);
        return Err(EngineError::Wrong(problem));
    }
    cigar.reverse();
    let before = |shift: FrameShift| FrameShift { after: residues - shift.after, ..shift };
    Ok(Alignment {
        strand: wanted.strand,
        target: window.target,
        score: wanted.score,
        query_start: row,
        query_end: window.query_end,
        target_start: col,
        target_end: window.target_end,
        cigar,
        shifts: shifts.into_iter().rev().map(before).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Window;
    use crate::terms::alignment::Strand;
    use crate::terms::bounds::Band;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    #[test]
    fn runs_that_can_not_be_the_path_are_errors() {
        let batch = Batch {
            queries: Arc::new([&[0u8, 1, 2, 3, 0][..]].into_iter().collect()),
            targets: Arc::new([&[3u8, 0, 1, 2, 2, 3, 0][..]].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(4, 4, 2, 1)),
        };
        let band = Band { deletions: 9, insertions: 9 };
        let window = Window { query: 0, target: 0, start: 1, query_end: 5, target_end: 7, band, score: 0 };
        let found = |score, runs: &[(u32, PathOp)]| {
            rescored(runs.iter().copied(), &batch, &WantedPath { window, strand: Strand::Forward, score })
        };
        let runs = [(2, PathOp::Match), (1, PathOp::Deletion), (3, PathOp::Match)];
        let alignment = found(17, &runs).unwrap();
        assert_eq!((alignment.query_start, alignment.target_start), (0, 1));
        assert_eq!(&alignment.cigar[..], [(3, PathOp::Match), (1, PathOp::Deletion), (2, PathOp::Match)]);
        let wrong = |score, runs: &[(u32, PathOp)]| matches!(found(score, runs), Err(EngineError::Wrong(_)));
        assert!(wrong(18, &runs) && wrong(16, &runs) && wrong(17, &runs[..2]) && wrong(17, &[]));
        assert!(
            wrong(17, &[(2, PathOp::Match), (1, PathOp::Deletion), (4, PathOp::Match)]),
            "before the query"
        );
        assert!(wrong(17, &[(7, PathOp::Deletion)]) && wrong(17, &[(u32::MAX, PathOp::Insertion)]));
    }
}
