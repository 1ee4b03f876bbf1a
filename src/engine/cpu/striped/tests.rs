//! Striped sweeps against the specification: the edges that they leave, and the best cell.

use super::{StripedSweep, WindowSize};
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::cpu::strip::Rectangle;
use crate::engine::recurrence::recurrence;
use crate::engine::{Edge, Edges};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::Alphabet;
use crate::terms::random::Random;
use crate::terms::scoring::{AlignmentMode, Matrix, Scoring};

fn scorings() -> Vec<Scoring> {
    let blosum = |open, extend| {
        let matrix = Matrix::named("BLOSUM62").expect("built in");
        Scoring::matrix(Alphabet::Protein, matrix, open, extend)
    };
    let mut positive = Matrix::named("BLOSUM62").expect("built in");
    positive.scores.iter_mut().flatten().for_each(|score| *score += 5);
    vec![
        Scoring::dna(2, 4, 4, 2),
        Scoring::dna(1, 4, 6, 1),
        Scoring::dna(1, 1, 0, 2),
        Scoring::dna(1, 0, 1, 1),
        Scoring::dna(20, 30, 10, 5),
        Scoring::dna(40, 50, 30, 4),
        blosum(11, 1),
        blosum(0, 8),
        Scoring::matrix(Alphabet::Protein, positive, 11, 1),
        Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).expect("two pieces"),
        Scoring::dna(5, 4, 0, 9).with_gap_piece(3, 1).expect("two pieces"),
        blosum(0, 8).with_gap_piece(9, 2).expect("two pieces"),
    ]
}

/// The edges that enter a rectangle at `from`, from the rows above and the columns before it.
fn entering(query: &[u8], target: &[u8], scoring: &Scoring, [row, col]: [usize; 2]) -> Edges {
    let border = Edges::at_borders(scoring, query.len(), target.len(), 0);
    let cut = |line: &Edge, from: usize| line.cut(from..line.len());
    let h = |line: &Edge, place: usize| place.checked_sub(1).and_then(|place| line.h(place)).unwrap_or(0);
    let above = match row {
        0 => border.horizontal.clone(),
        _ => recurrence(&query[..row], target, scoring, &border, |_, _, _| {}).horizontal,
    };
    let vertical = cut(&border.vertical, row);
    if col == 0 {
        return Edges { corner: h(&border.vertical, row), horizontal: above, vertical };
    }
    let left = Edges { corner: h(&border.vertical, row), horizontal: above.cut(0..col), vertical };
    let left = recurrence(&query[row..], &target[..col], scoring, &left, |_, _, _| {});
    Edges { corner: h(&above, col), horizontal: cut(&above, col), vertical: left.vertical }
}

/// Compares sweeps of the rectangle at `from` with the specification, in windows of maximum size and of `size`.
fn agrees(query: &[u8], target: &[u8], scoring: &Scoring, from: [usize; 2], own: usize, size: [usize; 2]) {
    let edges = entering(query, target, scoring, from);
    let (query, target) = (&query[from[0]..], &target[from[1]..]);
    let mut best = HitEnd::default();
    let expected = recurrence(query, target, scoring, &edges, |i, heights, _| {
        for (j, &score) in heights.iter().enumerate().skip(own) {
            let hit = HitEnd { score, query_end: i as u32 + 1, target_end: j as u32 + 1 };
            if score > 0 && hit.order(&best).is_lt() {
                best = hit;
            }
        }
    });
    for set in InstructionSet::available() {
        let Some(largest) = WindowSize::of(scoring, set.lanes(2)) else { panic!("no window for {scoring}") };
        let smaller =
            WindowSize { rows: largest.rows.min(size[0]), cols: largest.cols.min(size[1]), ..largest };
        for size in [largest, smaller] {
            let rectangle = Rectangle { query, target, scoring };
            let (left, hit) = set.run(StripedSweep { rectangle, edges: &edges, own, size });
            let case = || {
                let (rows, cols) = (query.len(), target.len());
                format!(
                    "{rows} x {cols} from {from:?}, own {own}, {scoring}, {:?}, {set}, {size:?}",
                    scoring.mode
                )
            };
            assert_eq!(hit, best, "{}", case());
            let same = |found: &Edge, expected: &Edge| {
                assert_eq!(found.len(), expected.len(), "{}", case());
                let other = (0..found.len()).find(|&at| found.get::<2>(at) != expected.get::<2>(at));
                let values = |at| (at, found.get::<2>(at), expected.get::<2>(at));
                assert_eq!(other.map(values), None, "{}", case());
            };
            same(&left.vertical, &expected.vertical);
            same(&left.horizontal, &expected.horizontal);
        }
    }
}

#[test]
fn sweeps_agree_at_every_seam() {
    let rows = [
        1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 512, 513, 1024, 1025, 2047,
        2049, 2113,
    ];
    let cols = [1, 2, 3, 40, 150];
    let mut random = Random::new(3);
    for (number, scoring) in scorings().iter().enumerate() {
        let letters = [4, 2, 5, 4, 4, 4, 24, 20, 24, 4, 2, 20][number];
        for (place, rows) in rows.into_iter().enumerate() {
            let cols = cols[(place + number) % cols.len()];
            let from = [[0, 0], [0, 30], [20, 0], [25, 35]][random.below(4)];
            let target = random.codes(cols + from[1], letters);
            let edits = [1, 10, 100][random.below(3)];
            let query = random.like(&target, rows + from[0], letters, edits);
            let own = if random.below(3) == 0 { random.below(cols) } else { 0 };
            let size = [64 << random.below(4), 1 + random.below(cols)];
            agrees(&query, &target, scoring, from, own, size);
        }
    }
}

#[test]
fn sweeps_of_other_modes_agree() {
    let mut random = Random::new(4);
    for (number, mut scoring) in scorings().into_iter().enumerate() {
        for mode in [AlignmentMode::Glocal, AlignmentMode::Global, AlignmentMode::Overlap] {
            scoring.mode = mode;
            let letters = if [6, 7, 8, 11].contains(&number) { 20 } else { 4 };
            let from = [[0, 0], [0, 100], [90, 0], [120, 50]][random.below(4)];
            let (rows, cols) = (100 + random.below(700), 1 + random.below(500));
            let target = random.codes(cols + from[1], letters);
            let query = random.like(&target, rows + from[0], letters, 20);
            agrees(&query, &target, &scoring, from, usize::MAX, [128, 1 + random.below(cols)]);
        }
    }
}

/// Scores that leave the range of 8 bits and cross that of 16 bits several times, with gaps of all lengths from the
/// path to the corners.
#[test]
fn sweeps_agree_where_scores_outgrow_lanes() {
    let mut random = Random::new(5);
    let high = Scoring::dna(20, 30, 10, 5);
    let two = high.clone().with_gap_piece(60, 1).expect("two pieces");
    let matrix = scorings().swap_remove(6);
    for (scoring, letters, side) in [(high, 4, 3600), (two, 4, 3600), (matrix, 20, 1500)] {
        let target = random.codes(side, letters);
        let query = random.like(&target, side, letters, 40);
        agrees(&query, &target, &scoring, [0, 0], 0, [256, 300]);
    }
}

/// If neighboring cells may differ by more than 16-bit lanes hold, there is no room for a window.
#[test]
fn windows_have_room_for_what_scores_allow() {
    for lanes in [8, 16, 32] {
        for scoring in scorings() {
            let size = WindowSize::of(&scoring, lanes).expect("a window");
            let costs = super::StepCosts::new(&scoring);
            let (rows, cols) = (size.rows as i32, size.cols as i32);
            assert_eq!(size.spread, (rows + cols + 2) * (costs.best + costs.gaps.first.first()), "{scoring}");
            assert!(size.spread + (cols + 1) * costs.best <= size.values.most, "{scoring}");
        }
        for scoring in [Scoring::dna(1000, 30_000, 20_000, 900), Scoring::dna(1, 4, 70_000, 1)] {
            assert_eq!(WindowSize::of(&scoring, lanes), None, "{scoring}");
        }
    }
}
