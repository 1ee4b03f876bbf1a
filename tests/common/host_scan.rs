//! A stand-in for a device that examines positions of an index, by definition.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use swalign::align::candidates::by_index::{
    BoundedDiagonal, DiagonalScan, ScanScores, ScannedPiece, ScannedQuery,
};
use swalign::align::candidates::diagonal_bound::{DiagonalBound, EditLoss};
use swalign::patterns::scan::diagonals::band_of;
use swalign::terms::batch::Sequences;
use swalign::terms::error::EngineError;
use swalign::terms::scoring::Scoring;

/// Best score of a query's local alignments on `band` diagonals from `first` on. Residues that are not bases, and positions
/// outside the targets, count as equal.
fn best_in_band(query: &[u8], codes: &[u8], (first, band): (i64, usize), scores: &ScanScores) -> i32 {
    let &ScanScores { match_, mismatch, open, extend, end_bonus, .. } = scores;
    // Best scores of alignments that end in the row above on each diagonal, and of those that end there with an insertion.
    let (mut h, mut insertions) = (vec![0; band], vec![i32::MIN / 2; band + 1]);
    let mut best = 0;
    for (row, &base) in query.iter().enumerate() {
        let at_end = row == 0 || row + 1 == query.len();
        let mut deletion = i32::MIN / 2;
        for k in 0..band {
            let other = usize::try_from(first + (row + k) as i64).ok().and_then(|at| codes.get(at));
            let is_equal = other.is_none_or(|&other| other >= 4 || other == base);
            let pair = if is_equal { match_ } else { mismatch } + if at_end { end_bonus } else { 0 };
            // A later diagonal of the row above comes before an insertion, and an earlier one of this row before a deletion.
            insertions[k] = (insertions[k + 1] - extend).max(h.get(k + 1).map_or(i32::MIN / 2, |h| h - open));
            h[k] = (h[k] + pair).max(deletion).max(insertions[k]).max(0);
            deletion = (deletion - extend).max(h[k] - open);
            best = best.max(h[k]);
        }
    }
    best
}

/// For each position where its piece occurs: the diagonal, and the bound that a device computes, whatever the score.
pub fn bounded_diagonals(
    codes: &[u8],
    places: &[u32],
    queries: &[ScannedQuery],
    scoring: &Scoring,
) -> Vec<BoundedDiagonal> {
    let scores = ScanScores::new(scoring).unwrap();
    let loss = EditLoss::new(scoring).unwrap();
    let mut all = Vec::new();
    for (number, query) in (0..).zip(queries) {
        let bound = DiagonalBound::new(&query.codes, query.gaps, 2 * scoring.end_bonus, loss).unwrap();
        let mut most = Vec::new();
        for ScannedPiece { bases, before, places: range } in &query.pieces {
            for &place in &places[range.clone()] {
                let Some(from) = (place as usize).checked_sub(*before) else { continue };
                if codes.get(from..from + bases.len()) != Some(&query.codes[bases.clone()]) {
                    continue;
                }
                let diagonal = from as i64 - bases.start as i64;
                bound.most_scores((codes, query.least), &[(diagonal, diagonal)], &mut most);
                let mut most = most[0];
                if most >= query.least {
                    let band = (diagonal - query.gaps as i64, band_of(query.gaps));
                    most = best_in_band(&query.codes, codes, band, &scores);
                }
                all.push(BoundedDiagonal { query: number, diagonal, most });
            }
        }
    }
    all
}

/// The host as a device.
pub struct HostScan {
    scoring: Arc<Scoring>,
    places: OnceLock<Vec<u32>>,
    calls: Arc<AtomicUsize>,
}

impl HostScan {
    /// A device that counts its calls.
    pub fn new(scoring: &Arc<Scoring>, calls: &Arc<AtomicUsize>) -> HostScan {
        HostScan { scoring: Arc::clone(scoring), places: OnceLock::new(), calls: Arc::clone(calls) }
    }
}

impl DiagonalScan for HostScan {
    fn prepare(&self, _: &Arc<Sequences>, places: &[u32]) -> bool {
        self.places.get_or_init(|| places.to_vec());
        true
    }

    fn scan(
        &self,
        targets: &Arc<Sequences>,
        queries: &[ScannedQuery],
        _: ScanScores,
    ) -> Result<Vec<BoundedDiagonal>, EngineError> {
        // Some calls fail, as those of a lost device do.
        if self.calls.fetch_add(1, Ordering::Relaxed) % 7 == 3 {
            return Err(EngineError::Lost("a test's device".to_string()));
        }
        let places = self.places.get().unwrap();
        let mut found = bounded_diagonals(targets.codes(), places, queries, &self.scoring);
        found.retain(|found| found.most >= queries[found.query as usize].least);
        // A device may return bounds that are too high.
        found.iter_mut().for_each(|found| found.most += found.diagonal.rem_euclid(3) as i32 * 5);
        // In any order.
        found.reverse();
        Ok(found)
    }

    fn limits(&self) -> (usize, usize) {
        (320, 40)
    }
}
