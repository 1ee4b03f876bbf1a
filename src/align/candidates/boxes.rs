//! Boxes: rectangles of rows and columns around the exact runs that a query and a target share.
//!
//! The box of a run reaches [`REACH`] rows and columns beyond it on each side. Boxes of a query that share cells are
//! replaced by their bounding box, until none share cells. So a stretch of the query that resembles the target has one
//! box, regardless of its number of runs. The boxes do not depend on the order in which they are joined: each of them
//! is contained in some box of any family without common cells that contains all boxes of runs (docs/algorithm.md,
//! section 24).

use crate::terms::casts::to_u32;

/// Rows and columns beyond a run on each side that belong to its box.
pub const REACH: u32 = 500;
/// Rows beyond a run on each side that are near it.
pub const NEAR: u32 = 250;
/// Number of latest boxes that a new box is joined with immediately.
const RECENT: usize = 8;

/// Extends an interval by `by` positions on each side, within `0..len`.
fn wider((start, end): (u32, u32), by: u32, len: usize) -> (u32, u32) {
    (start.saturating_sub(by), end.saturating_add(by).min(to_u32(len)))
}

/// A maximal run of equal bases, which ends at a border, an unequal base or an ambiguous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExactRun {
    pub target: u32,
    /// First column of the target and first row of the query, from 0.
    pub start: u32,
    pub query_start: u32,
    pub len: u32,
}

impl ExactRun {
    /// Column of the target on the run's diagonal at the query's first row.
    pub fn diagonal(&self) -> i64 {
        i64::from(self.start) - i64::from(self.query_start)
    }
}

/// Which runs of a query on a large reference have a box. The runs of one orientation on one target whose diagonals
/// differ from that of a run by at most `apart` *support* it. A run has a box if they, with the run, have at least `bases`
/// bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSupport {
    /// Minimum length of a run, in bases.
    pub least: usize,
    pub bases: u64,
    pub apart: u32,
    /// Number of rows and columns beyond a run on each side that belong to its box.
    pub reach: u32,
}

impl RunSupport {
    /// The boxes of the supported runs of one orientation of a query of `rows` residues on one target of `columns`
    /// residues, joined. Sorts the runs by their diagonals.
    pub fn boxes(&self, runs: &mut [ExactRun], (rows, columns): (usize, usize)) -> Vec<RunBox> {
        runs.sort_unstable_by_key(|run| (run.diagonal(), run.start));
        let apart = i64::from(self.apart);
        let mut boxes = Boxes::default();
        let (mut first, mut behind, mut bases) = (0, 0, 0u64);
        for run in &*runs {
            while runs.get(behind).is_some_and(|other| other.diagonal() <= run.diagonal() + apart) {
                bases += u64::from(runs[behind].len);
                behind += 1;
            }
            while runs[first].diagonal() < run.diagonal() - apart {
                bases -= u64::from(runs[first].len);
                first += 1;
            }
            if bases >= self.bases {
                let own = RunBox::around(run, (rows, columns), self.reach);
                if !boxes.contains(&own) {
                    boxes.add(own);
                }
            }
        }
        boxes.closed()
    }
}

/// A rectangle of rows of a query in one orientation, and columns of a target; both half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBox {
    pub target: u32,
    pub rows: (u32, u32),
    pub columns: (u32, u32),
}

impl RunBox {
    /// The box of a run of a query of `rows` residues on a target of `columns` residues, with `reach` rows and columns
    /// beyond the run on each side.
    pub fn around(run: &ExactRun, (rows, columns): (usize, usize), reach: u32) -> RunBox {
        let around = |start, len| wider((start, start + run.len), reach, len);
        RunBox {
            target: run.target,
            rows: around(run.query_start, rows),
            columns: around(run.start, columns),
        }
    }

    /// All columns in the rows near a run of a query of `rows` residues.
    pub fn near(run: &ExactRun, rows: usize) -> RunBox {
        let own = (run.query_start, run.query_start + run.len);
        RunBox { target: run.target, rows: wider(own, NEAR, rows), columns: (0, u32::MAX) }
    }

    fn shares_cells(&self, other: &RunBox) -> bool {
        let share = |one: (u32, u32), other: (u32, u32)| one.0 < other.1 && other.0 < one.1;
        self.target == other.target && share(self.rows, other.rows) && share(self.columns, other.columns)
    }

    fn joined(&self, other: &RunBox) -> RunBox {
        let join = |one: (u32, u32), other: (u32, u32)| (one.0.min(other.0), one.1.max(other.1));
        RunBox {
            target: self.target,
            rows: join(self.rows, other.rows),
            columns: join(self.columns, other.columns),
        }
    }
}

/// Boxes of one query on one target or several. Some may still share cells.
#[derive(Clone, Debug, Default)]
pub struct Boxes(Vec<RunBox>);

impl Boxes {
    /// Adds a box, and joins it with the latest ones that it shares cells with. Returns the number of rows of the box
    /// that contains it.
    pub fn add(&mut self, mut new: RunBox) -> u32 {
        let recent = self.0.len().saturating_sub(RECENT);
        let mut at = self.0.len();
        while at > recent {
            at -= 1;
            if self.0[at].shares_cells(&new) {
                new = new.joined(&self.0.remove(at));
                at = self.0.len();
            }
        }
        self.0.push(new);
        new.rows.1 - new.rows.0
    }

    /// Boxes none of which share cells.
    pub fn of(boxes: impl Iterator<Item = RunBox>) -> Boxes {
        Boxes(boxes.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the latest boxes contains this one.
    pub fn contains(&self, new: &RunBox) -> bool {
        let contains = |one: (u32, u32), other: (u32, u32)| one.0 <= other.0 && other.1 <= one.1;
        self.0.iter().rev().take(RECENT).any(|own| {
            own.target == new.target && contains(own.rows, new.rows) && contains(own.columns, new.columns)
        })
    }

    pub fn append(&mut self, mut other: Boxes) {
        self.0.append(&mut other.0);
    }

    /// The boxes in the order of targets and columns, none of which share cells.
    pub fn closed(self) -> Vec<RunBox> {
        let mut boxes = self.0;
        loop {
            let before = boxes.len();
            boxes.sort_unstable_by_key(|own| (own.target, own.columns, own.rows));
            let mut done: Vec<RunBox> = Vec::new();
            // Boxes that may share columns with later boxes.
            let mut open: Vec<RunBox> = Vec::new();
            for mut own in boxes {
                let is_past = |other: &RunBox| other.target != own.target || other.columns.1 <= own.columns.0;
                done.extend(open.iter().filter(|other| is_past(other)));
                open.retain(|other| !is_past(other));
                while let Some(at) = open.iter().position(|other| other.shares_cells(&own)) {
                    own = own.joined(&open.swap_remove(at));
                }
                open.push(own);
            }
            done.append(&mut open);
            boxes = done;
            if boxes.len() == before {
                return boxes;
            }
        }
    }
}

/// Number of positions in the union of some intervals.
pub fn covered(mut intervals: Vec<(u32, u32)>) -> u32 {
    intervals.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (from, to) in intervals {
        sum += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;

    /// The closure by definition: joins any two boxes that share cells, in a different order.
    fn by_definition(mut boxes: Vec<RunBox>) -> Vec<RunBox> {
        'again: loop {
            for one in (0..boxes.len()).rev() {
                for other in 0..one {
                    if boxes[one].shares_cells(&boxes[other]) {
                        let joined = boxes[one].joined(&boxes[other]);
                        boxes.remove(one);
                        boxes[other] = joined;
                        continue 'again;
                    }
                }
            }
            boxes.sort_unstable_by_key(|own| (own.target, own.columns, own.rows));
            return boxes;
        }
    }

    #[test]
    fn boxes_are_joined_until_none_share_cells() {
        let mut numbers = Random::new(7);
        let mut below = |bound: u32| numbers.below(bound as usize) as u32;
        for round in 0..300 {
            let side = [30, 100, 400][round % 3];
            let mut boxes = Vec::new();
            for _ in 0..1 + below(60) {
                let (row, column) = (below(side), below(side));
                let (rows, columns) = ((row, row + 1 + below(25)), (column, column + 1 + below(25)));
                boxes.push(RunBox { target: below(2), rows, columns });
            }
            let mut own = Boxes::default();
            let mut later = Boxes::default();
            for (number, &new) in boxes.iter().enumerate() {
                let rows = if number % 3 == 0 { later.add(new) } else { own.add(new) };
                assert!(rows >= new.rows.1 - new.rows.0);
            }
            own.append(later);
            let mut closed = own.closed();
            closed.sort_unstable_by_key(|own| (own.target, own.columns, own.rows));
            assert_eq!(closed, by_definition(boxes), "round {round}");
        }
    }

    #[test]
    fn boxes_end_at_the_borders() {
        let run = |query_start, start, len| ExactRun { target: 3, start, query_start, len };
        let around = RunBox::around(&run(20, 600, 30), (400, 620), REACH);
        assert_eq!(around, RunBox { target: 3, rows: (0, 400), columns: (100, 620) });
        let inner = run(1000, 2000, 19);
        let around = RunBox::around(&inner, (9000, 9000), REACH);
        assert_eq!((around.rows, around.columns), ((500, 1519), (1500, 2519)));
        assert_eq!(RunBox::near(&inner, 1200).rows, (750, 1200));
    }

    #[test]
    fn covered_positions_count_once() {
        assert_eq!(covered(vec![]), 0);
        assert_eq!(covered(vec![(5, 9), (0, 3), (7, 12), (20, 21), (8, 9)]), 3 + 7 + 1);
    }
}
