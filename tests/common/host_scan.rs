//! A stand-in for a device that examines positions of an index, by definition.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use swalign::align::candidates::by_index::{
    BoundedDiagonal, DiagonalScan, ScanScores, ScannedPiece, ScannedQuery,
};
use swalign::align::candidates::diagonal_bound::DiagonalBound;
use swalign::terms::batch::Sequences;
use swalign::terms::error::EngineError;
use swalign::terms::scoring::Scoring;

/// For each position where its piece occurs: the diagonal, and the bound that the host computes, whatever the score.
pub fn bounded_diagonals(
    codes: &[u8],
    places: &[u32],
    queries: &[ScannedQuery],
    (scoring, bonuses): (&Scoring, i32),
) -> Vec<BoundedDiagonal> {
    let mut all = Vec::new();
    for (number, query) in (0..).zip(queries) {
        let bound = DiagonalBound::new(&query.codes, query.gaps, bonuses, scoring).unwrap();
        let mut most = Vec::new();
        for ScannedPiece { bases, before, places: range } in &query.pieces {
            for &place in &places[range.clone()] {
                let Some(from) = (place as usize).checked_sub(*before) else { continue };
                if codes.get(from..from + bases.len()) != Some(&query.codes[bases.clone()]) {
                    continue;
                }
                let diagonal = from as i64 - bases.start as i64;
                bound.most_scores((codes, query.least), &[(diagonal, diagonal)], &mut most);
                all.push(BoundedDiagonal { query: number, diagonal, most: most[0] });
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
        ScanScores { bonuses, .. }: ScanScores,
    ) -> Result<Vec<BoundedDiagonal>, EngineError> {
        // Some calls fail, as those of a lost device do.
        if self.calls.fetch_add(1, Ordering::Relaxed) % 7 == 3 {
            return Err(EngineError::Lost("a test's device".to_string()));
        }
        let places = self.places.get().unwrap();
        let mut found = bounded_diagonals(targets.codes(), places, queries, (&self.scoring, bonuses));
        found.retain(|found| found.most >= queries[found.query as usize].least);
        // In any order.
        found.reverse();
        Ok(found)
    }

    fn limits(&self) -> (usize, usize) {
        (320, 40)
    }
}
