//! Stretches of targets around places where seeds of a query stand.

use super::levels::Level;
use super::{CHUNK, chunks};
use crate::alignment::Strand;
use crate::batch::{Pair, Sequences};

/// A stretch of a target to be scored, and the most that an alignment in it can score.
pub type Region = (Strand, Pair, i32);

/// Columns of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    target: u32,
    start: u32,
    end: u32,
    /// Places of seeds that it was made for.
    seeds: u32,
}

impl Window {
    /// All that an alignment can reach which covers `span` letters of the target at most, and of which a seed
    /// that ends behind the first `to` of the query's `len` letters ends at `end`. `None` if none of those alignments
    /// counts: on a circle if none begins in the first copy.
    pub fn around(
        (targets, target): (&Sequences, u32),
        end: usize,
        (len, to): (usize, usize),
        span: u32,
    ) -> Option<Window> {
        let gaps = span as usize - len;
        let start = end.saturating_sub(to + gaps);
        let end = (end + len - to + gaps).min(targets.reach(target, span) as usize);
        let is_image = targets.circle(target).is_some_and(|circle| start >= circle as usize);
        let counts = !is_image && end > targets.lead(target) as usize;
        counts.then_some(Window { target, start: start as u32, end: end as u32, seeds: 1 })
    }
}

/// Sorts windows, and joins those that share columns; gives the number of columns.
pub fn join(windows: &mut Vec<Window>) -> u64 {
    windows.sort_unstable();
    windows.dedup_by(|next, window| {
        let is_joined = next.target == window.target && next.start < window.end;
        if is_joined {
            window.end = window.end.max(next.end);
            window.seeds = window.seeds.saturating_add(next.seeds);
        }
        is_joined
    });
    windows.iter().map(|window| u64::from(window.end - window.start)).sum()
}

/// Appends the regions of a query's windows, which are joined.
pub fn push_regions(
    regions: &mut Vec<Region>,
    targets: &Sequences,
    (strand, query): (Strand, u32),
    (level, span): (&Level, u32),
    windows: &[Window],
) {
    for &Window { target, start, end, seeds } in windows {
        let most = level.scores.most_score(seeds as usize);
        let lead = targets.lead(target);
        let pairs = chunks(end - start, span, CHUNK).map(|(from, own, to)| {
            let own = (start + own).max(lead);
            Pair { query, target, start: start + from, own, end: start + to }
        });
        let counts = pairs.filter(|pair| pair.own < pair.end);
        regions.extend(counts.map(|pair| (strand, pair, most)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_share_columns_are_joined() {
        let window = |target, start, end| Window { target, start, end, seeds: 1 };
        let mut windows = vec![
            window(1, 5, 9),
            window(0, 20, 30),
            window(0, 5, 10),
            window(0, 10, 12),
            window(0, 28, 29),
            window(0, 6, 8),
        ];
        assert_eq!(join(&mut windows), 5 + 2 + 10 + 4);
        let seeds = |window, seeds| Window { seeds, ..window };
        let expected =
            [seeds(window(0, 5, 10), 2), window(0, 10, 12), seeds(window(0, 20, 30), 2), window(1, 5, 9)];
        assert_eq!(windows, expected);
        assert_eq!(join(&mut windows), 21, "again");
        assert_eq!(windows, expected);
    }
}
