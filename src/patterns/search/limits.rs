//! Hits with separate limits on insertions, deletions and substitutions.
//!
//! The edits of an end are the minimum within all limits. Among the paths with that number of edits, the first one in
//! the order of [`super::align`] is shown: a traceback from the end prefers the diagonal, then the deletion, then the
//! insertion. A hit has at least one base of the text.
//!
//! The search runs backwards and depth-first in this order, with one more edit in each round, so that the first path
//! found is the right one. The state of the search is the number of rows left and the insertions and deletions so far.
//! If a state failed with `s` substitutions so far, it also fails with more.

use super::align::{Aligned, runs, step_of};
use crate::terms::alignment::ColumnOp;
use crate::terms::options::EditLimits;

/// Edits so far.
#[derive(Clone, Copy, Default)]
struct Spent {
    insertions: u32,
    deletions: u32,
    substitutions: u32,
}

/// The best path at `end` within the limits and `most` edits, and its number of edits. It is known that no path has
/// fewer than `least` edits.
pub fn align(
    pattern: &[u8],
    text: &[u8],
    end: usize,
    (least, most): (u32, u32),
    limits: &EditLimits,
) -> Option<(u32, Aligned)> {
    (least..=most).find_map(|edits| {
        let round = Round { pattern, text, end, edits, limits };
        round.first_path().map(|found| (edits, found))
    })
}

/// A search with exactly `edits` edits.
struct Round<'a> {
    pattern: &'a [u8],
    text: &'a [u8],
    end: usize,
    edits: u32,
    limits: &'a EditLimits,
}

impl Round<'_> {
    fn first_path(&self) -> Option<Aligned> {
        let (insertions, deletions) =
            (self.limits.insertions.min(self.edits) as usize, self.limits.deletions.min(self.edits) as usize);
        let place = |rows: usize, spent: &Spent| {
            (rows * (insertions + 1) + spent.insertions as usize) * (deletions + 1) + spent.deletions as usize
        };
        // For each state, the minimum number of substitutions with which it failed.
        let mut failed = vec![u32::MAX; (self.pattern.len() + 1) * (insertions + 1) * (deletions + 1)];
        let (mut rows, mut spent, mut steps) = (self.pattern.len(), Spent::default(), Vec::new());
        // For each state on the current path, the next direction to try.
        let mut next = vec![0];
        loop {
            let column = self.column(rows, &spent)?;
            if rows == 0 && column < self.end {
                return Some(Aligned { start: column, path: runs(steps.into_iter().rev()) });
            }
            let way = next.pop()?;
            if way == 3 {
                let cell = &mut failed[place(rows, &spent)];
                *cell = spent.substitutions.min(*cell);
                rows += undo(steps.pop()?, &mut spent);
                continue;
            }
            next.push(way + 1);
            let Some((step, after)) = self.step(way, rows, column, &spent) else { continue };
            let rows_after = rows - usize::from(step != ColumnOp::Deletion);
            if after.substitutions < failed[place(rows_after, &after)] {
                (rows, spent) = (rows_after, after);
                steps.push(step);
                next.push(0);
            }
        }
    }

    /// Number of text bases before the current cell.
    fn column(&self, rows: usize, spent: &Spent) -> Option<usize> {
        (self.end + spent.insertions as usize)
            .checked_sub(self.pattern.len() - rows + spent.deletions as usize)
    }

    /// The step in this direction and the edits after it, if they are within all limits.
    fn step(&self, way: u32, rows: usize, column: usize, spent: &Spent) -> Option<(ColumnOp, Spent)> {
        if rows == 0 || (way < 2 && column == 0) {
            return None;
        }
        let mut after = *spent;
        let step = match way {
            0 => step_of(self.pattern[rows - 1], self.text[column - 1]),
            1 => ColumnOp::Deletion,
            _ => ColumnOp::Insertion,
        };
        match step {
            ColumnOp::Equal => {}
            ColumnOp::Unequal => after.substitutions += 1,
            ColumnOp::Insertion => after.insertions += 1,
            ColumnOp::Deletion => after.deletions += 1,
        }
        let within = after.insertions <= self.limits.insertions
            && after.deletions <= self.limits.deletions
            && after.substitutions <= self.limits.substitutions
            && after.insertions + after.deletions <= self.limits.gaps
            && after.insertions + after.deletions + after.substitutions <= self.edits;
        within.then_some((step, after))
    }
}

/// Undoes a step, and returns the number of rows that it consumed.
fn undo(step: ColumnOp, spent: &mut Spent) -> usize {
    match step {
        ColumnOp::Equal => {}
        ColumnOp::Unequal => spent.substitutions -= 1,
        ColumnOp::Insertion => spent.insertions -= 1,
        ColumnOp::Deletion => spent.deletions -= 1,
    }
    usize::from(step != ColumnOp::Deletion)
}
