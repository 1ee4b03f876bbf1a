//! The hits of a query by definition: the best alignment over all targets and strands, then the best alignment whose
//! target interval does not overlap earlier hits on its target and strand, and so on.
//!
//! The oracle follows the definition literally. The plain engine aligns whole targets, the interval of each alignment
//! is cut out, and the search continues in the remaining pieces.

use super::golden::check_path;
use std::cmp::Reverse;
use swalign::align::backtrace::{self, WantedPath};
use swalign::align::candidates::PairLayout;
use swalign::engine::pathfinding::filled_paths;
use swalign::engine::plain::Plain;
use swalign::engine::{Engine, Window};
use swalign::terms::alignment::{Alignment, HitEnd, Strand};
use swalign::terms::batch::{Batch, Pair};

/// Maximum number of hits of the oracle, one more than any test case requests.
pub const MOST: usize = 6;

/// A remaining piece of a target on one strand, with its best hit.
struct Piece {
    strand: Strand,
    pair: Pair,
    best: HitEnd,
}

impl Piece {
    fn new(batch: &Batch, strand: Strand, (query, target): (u32, u32), (start, end): (u32, u32)) -> Piece {
        let pair = Pair { query, target, start, own: start, end };
        let best = Plain::new().score(batch, &[pair]).unwrap()[0];
        Piece { strand, pair, best }
    }

    /// The best alignment in the piece, from the directions of its whole matrix.
    fn alignment(&self, batch: &Batch) -> Alignment {
        let Pair { query, target, start, .. } = self.pair;
        let HitEnd { query_end, target_end, score } = self.best;
        let band = Default::default(); // The specification has none.
        let window = Window { query, target, start, query_end, target_end, band, score: 0 };
        let wanted = WantedPath { window, strand: self.strand, score };
        let paths = filled_paths(&mut Plain::new(), batch, &[window]).unwrap();
        let alignment = backtrace::alignments(batch, &[wanted], &paths).unwrap().remove(0);
        if batch.scoring.mode.is_local() {
            check_path(&alignment, batch.query(query), batch.target(target), &batch.scoring).unwrap();
        }
        alignment
    }

    /// The remaining pieces after the columns `start..end` of a target on a strand are cut out.
    fn without(self, batch: &Batch, (strand, target): (Strand, u32), [start, end]: [i64; 2]) -> Vec<Piece> {
        let own = [self.pair.start, self.pair.end].map(i64::from);
        if (self.strand, self.pair.target) != (strand, target) || end <= own[0] || own[1] <= start {
            return vec![self];
        }
        // A whole target has only one alignment, even if that alignment contains no residues of the target.
        if batch.scoring.mode.needs_whole_targets() {
            return Vec::new();
        }
        let sides = (self.pair.query, self.pair.target);
        let left = [[own[0], start], [end, own[1]]].into_iter().filter(|[start, end]| start < end);
        left.map(|ends| Piece::new(batch, strand, sides, (ends[0] as u32, ends[1] as u32))).collect()
    }
}

/// The first [`MOST`] hits of a record, and the threshold.
pub fn oracle(
    batch: &Batch,
    layout: &PairLayout,
    record: u32,
    min_score: i32,
    ppm: i64,
) -> (Vec<Alignment>, i32) {
    first_hits(batch, layout, record, (min_score, ppm), MOST)
}

/// The first hits of a record, at most `most`, down to the threshold, and the threshold. A hit on a circle also cuts
/// out its images.
pub fn first_hits(
    batch: &Batch,
    layout: &PairLayout,
    record: u32,
    (min_score, ppm): (i32, i64),
    most: usize,
) -> (Vec<Alignment>, i32) {
    let targets: Vec<u32> = layout.targets(record, batch.targets.len()).collect();
    let mut pieces = Vec::new();
    for &strand in layout.orientations() {
        for &target in &targets {
            let sides = (layout.query(record, strand), target);
            pieces.push(Piece::new(batch, strand, sides, (0, batch.target(target).len() as u32)));
        }
    }
    let (mut hits, mut threshold) = (Vec::<Alignment>::new(), min_score);
    while hits.len() < most {
        let order = |piece: &Piece| {
            let HitEnd { score, target_end, query_end } = piece.best;
            (Reverse(score), piece.strand, piece.pair.target, target_end, query_end)
        };
        let Some(first) = (0..pieces.len()).min_by_key(|&index| order(&pieces[index])) else { break };
        let best = pieces[first].best.score;
        if hits.is_empty() {
            threshold = match ppm {
                0 => min_score,
                _ if best <= 0 => min_score.max(best),
                _ => min_score.max(((i64::from(best) * ppm) as u64).div_ceil(1_000_000) as i32),
            };
        }
        if best < threshold {
            break;
        }
        let alignment = pieces[first].alignment(batch);
        let circle = batch.targets.circle(alignment.target);
        assert!(circle.is_none_or(|len| alignment.target_start < len), "an image: {alignment:?}");
        let turns = circle.map_or(vec![0], |len| vec![-i64::from(len), 0, i64::from(len)]);
        if alignment.target_start == alignment.target_end {
            // An alignment without target residues would be found again.
            let same =
                |piece: &Piece| (piece.strand, piece.pair.target) == (alignment.strand, alignment.target);
            pieces.retain(|piece| !same(piece));
        }
        for turn in turns {
            let taken = [alignment.target_start, alignment.target_end].map(|end| i64::from(end) + turn);
            let left = |piece: Piece| piece.without(batch, (alignment.strand, alignment.target), taken);
            pieces = pieces.into_iter().flat_map(left).collect();
        }
        hits.push(alignment);
    }
    (hits, threshold)
}
