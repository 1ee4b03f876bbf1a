//! Alignments at the edge of their band: one gap as long as the band of their score allows.

use super::agreement::{plain_paths, plain_scores, wanted};
use super::inputs::one_pair;
use crate::common::random::Random;
use swalign::align::backtrace::{self, WantedPath};
use swalign::engine::Primitives;
use swalign::engine::pathfinding::filled_paths;
use swalign::terms::alignment::{Alignment, HitEnd, PathOp};
use swalign::terms::alphabet::Alphabet;
use swalign::terms::batch::Batch;
use swalign::terms::error::EngineError;
use swalign::terms::scoring::{Matrix, Scoring};

/// Lengths of gaps: at the seams of words, lanes and tiles. In the first scoring a deletion of 10, 21, 42 or 85 makes the
/// widest band that one kind of a GPU's lanes traces.
const GAPS: [u32; 20] = [1, 2, 7, 8, 9, 10, 11, 21, 22, 31, 32, 33, 42, 43, 63, 64, 65, 85, 86, 200];

/// A pair whose best alignment is known: all of the query but an insertion, or all of the target but a
/// deletion, matches letter for letter.
pub struct Edge {
    batch: Batch,
    wanted: WantedPath,
    /// The path of the specification, which has no band.
    expected: Alignment,
    gap: (u32, PathOp),
    name: String,
}

fn scorings() -> Vec<Scoring> {
    let blosum = Matrix::named("BLOSUM62").unwrap();
    vec![
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(2, 4, 4, 2),
        Scoring::dna(1, 1, 0, 2),
        Scoring::dna(3, 5, 0, 5),
        Scoring::matrix(Alphabet::Protein, blosum, 11, 1),
    ]
}

/// The score of `code` with itself: for the codes used here, its highest score.
fn own(scoring: &Scoring, code: u8) -> i32 {
    scoring.score(code, code)
}

/// Every gap near the start, in the middle and near the end of its alignment.
pub fn edges() -> Vec<Edge> {
    edges_under(&scorings())
}

/// The same under gap costs of two pieces, some gaps with the first and some with the second as the cheaper one.
pub fn two_piece_edges() -> Vec<Edge> {
    let minimap2 = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap();
    edges_under(&[minimap2, Scoring::dna(3, 9, 1, 5).with_gap_piece(9, 2).unwrap()])
}

fn edges_under(scorings: &[Scoring]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (number, scoring) in scorings.iter().enumerate() {
        for op in [PathOp::Deletion, PathOp::Insertion] {
            for gap in GAPS {
                for (place, more) in [("start", (0, 90)), ("end", (90, 0)), ("middle", (0, 0))] {
                    let name = format!("scoring {number}, {op:?} of {gap} near the {place}");
                    edges.push(edge(scoring, (gap, op), more, name));
                }
            }
        }
    }
    edges
}

/// Two matching flanks with a gap between them. Their scores pay for the gap with `more` residues to spare. Sequences
/// are drawn until no other alignment scores as much.
fn edge(scoring: &Scoring, gap: (u32, PathOp), more: (usize, usize), name: String) -> Edge {
    let letters = scoring.alphabet.required_letters().len() as u8;
    // Inserted residues with a higher score than this would lower the bound, and the band would have room to spare.
    let least = (0..letters).map(|code| own(scoring, code)).min().unwrap();
    let cheap: Vec<u8> = (0..letters).filter(|&code| own(scoring, code) == least).collect();
    let cost = scoring.gap_cost(gap.0 as usize) as i32;
    let worth = |codes: &[u8]| codes.iter().map(|&code| own(scoring, code)).sum::<i32>();
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut flank = |more: usize| {
            let mut codes = random.codes(more, letters);
            while worth(&codes[more..]) <= cost {
                codes.extend(random.codes(1, letters));
            }
            codes
        };
        let (mut left, right) = (flank(more.0), flank(more.1));
        left.reverse();
        let extra: Vec<u8> = (0..gap.0).map(|_| random.pick(&cheap)).collect();
        let (with, without) = ([&left[..], &extra, &right].concat(), [&left[..], &right].concat());
        let (query, target) = if gap.1 == PathOp::Insertion { (with, without) } else { (without, with) };
        let score = worth(&left) + worth(&right) - cost;
        let end = target.len() as u32;
        let (batch, pair) = one_pair(&query, &target, scoring);
        let pairs = [pair];
        let hits = plain_scores(&batch, &pairs);
        if hits == [(HitEnd { score, query_end: query.len() as u32, target_end: end })] {
            let wanted = wanted(&batch, &pairs, &hits)[0];
            let expected = plain_paths(&batch, &pairs, &hits).remove(0);
            // Linear gaps may part, at no cost.
            if (expected.query_start, expected.target_start) == (0, 0) {
                return Edge { batch, wanted, expected, gap, name };
            }
        }
    }
    panic!("{name}: no sequences were found")
}

impl Edge {
    fn align(&self, engine: &mut dyn Primitives, wanted: &WantedPath) -> Result<Alignment, EngineError> {
        let paths = filled_paths(engine, &self.batch, &[wanted.window])?;
        Ok(backtrace::alignments(&self.batch, std::slice::from_ref(wanted), &paths)?.remove(0))
    }

    /// The band is as wide as the gap, and inside it the engine finds the path that there is without.
    pub fn agrees(&self, engine: &mut dyn Primitives) {
        let (band, (gap, op)) = (self.wanted.window.band, self.gap);
        let side = if op == PathOp::Deletion { band.deletions } else { band.insertions };
        assert_eq!(side, gap, "{}: the band", self.name);
        assert_eq!(self.align(engine, &self.wanted).as_ref(), Ok(&self.expected), "{}", self.name);
        let best = backtrace::align(engine, &self.batch, std::slice::from_ref(&self.wanted));
        assert_eq!(best.as_deref(), Ok(std::slice::from_ref(&self.expected)), "{}", self.name);
    }

    /// Checks that the path reaches the border of the band, and that it begins in the window's first column.
    pub fn is_tight(&self) {
        let window = &self.wanted.window;
        let (mut net, mut deletions, mut insertions) = (0, 0, 0);
        for &(len, op) in self.expected.cigar.iter().rev() {
            net += match op {
                PathOp::Deletion => i64::from(len),
                PathOp::Insertion => -i64::from(len),
                _ => 0,
            };
            (deletions, insertions) = (deletions.max(net), insertions.max(-net));
        }
        let (strays, side) = match self.gap.1 {
            PathOp::Deletion => (deletions, window.band.deletions),
            _ => (insertions, window.band.insertions),
        };
        assert_eq!(strays, i64::from(side), "{}: the band", self.name);
        assert_eq!(window.start, self.expected.target_start, "{}: the window", self.name);
    }
}
