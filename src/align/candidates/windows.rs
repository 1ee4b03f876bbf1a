//! Windows: stretches of targets around seeds of a query.

use super::{ChunkLength, chunks};
use crate::terms::alignment::Strand;
use crate::terms::batch::{Pair, Sequences};
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::ops::Range;

/// A stretch of a target to be scored, and the maximum score of an alignment in it.
pub type CandidateRegion = (Strand, Pair, i32);

/// [`TargetWindow::held`] of windows in which an alignment may have any score: more seeds than a query has, and a
/// maximum score.
const ANY: u32 = i32::MAX as u32;

/// Columns of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetWindow {
    target: u32,
    start: u32,
    end: u32,
    /// Number of seed positions that the window was made for, or the maximum score of an alignment in it.
    held: u32,
}

impl TargetWindow {
    /// The window that contains every alignment which covers at most `span` target bases and contains a seed that ends
    /// after the first `to` of the query's `len` bases and at target position `end`. `None` if none of these alignments
    /// counts, for example because none begins in the first copy of a circular target.
    pub fn around(
        (targets, target): (&Sequences, u32),
        end: usize,
        (len, to): (usize, usize),
        span: u32,
    ) -> Option<TargetWindow> {
        let gaps = span as usize - len;
        let start = end.saturating_sub(to + gaps);
        let end = (end + len - to + gaps).min(targets.reach(target, span) as usize);
        let is_image = targets.circle(target).is_some_and(|circle| start >= circle as usize);
        let counts = !is_image && end > targets.lead(target) as usize;
        counts.then(|| TargetWindow { target, start: to_u32(start), end: to_u32(end), held: 1 })
    }

    /// The window that contains every alignment which covers at most `span` target bases and contains bases of a query
    /// of `len` bases on diagonals that begin in the target from `first` to `last`. An alignment in it scores at most
    /// `most`. `None` as for [`Self::around`].
    pub fn along(
        (targets, target): (&Sequences, u32),
        (first, last): (i64, i64),
        len: usize,
        (span, most): (u32, i32),
    ) -> Option<TargetWindow> {
        let gaps = i64::from(span) - to_i64(len);
        let start = to_usize((first - gaps).max(0));
        let end = to_usize((last + to_i64(len) + gaps).clamp(0, i64::from(targets.reach(target, span))));
        let is_image = targets.circle(target).is_some_and(|circle| start >= circle as usize);
        let counts = !is_image && end > start.max(targets.lead(target) as usize);
        counts.then(|| TargetWindow {
            target,
            start: to_u32(start),
            end: to_u32(end),
            held: to_u32(most.max(0)),
        })
    }
}

/// Appends a window for each target in which bases `from..to` of a query of `len` bases may be aligned on the diagonals
/// from `first` to `last`, as positions in the concatenated targets ([`TargetWindow::along`]).
pub fn push_along(
    windows: &mut Vec<TargetWindow>,
    targets: &Sequences,
    (first, last): (i64, i64),
    (from, to, len): (usize, usize, usize),
    (span, most): (u32, i32),
) {
    let behind = to_usize((last + to_i64(to)).clamp(0, to_i64(targets.codes().len())));
    let mut place = to_usize((first + to_i64(from)).max(0));
    while place < behind {
        let target = targets.holding(place);
        let start = to_i64(targets.start(target));
        let target = (targets, to_u32(target));
        windows.extend(TargetWindow::along(target, (first - start, last - start), len, (span, most)));
        place = targets.start(target.1 as usize + 1);
    }
}

/// Appends the windows of some stretches of the concatenated targets. An alignment there may have any score.
pub fn push_stretches(
    windows: &mut Vec<TargetWindow>,
    targets: &Sequences,
    places: &[Range<usize>],
    span: u32,
) {
    for place in places {
        let (mut from, last) = (place.start, place.end.min(targets.codes().len()));
        while from < last {
            let target = targets.holding(from);
            let [start, next] = [target, target + 1].map(|target| targets.start(target));
            let target = to_u32(target);
            let end = (last.min(next) - start).min(targets.reach(target, span) as usize);
            let is_image = targets.circle(target).is_some_and(|circle| from - start >= circle as usize);
            if !is_image && end > (from - start).max(targets.lead(target) as usize) {
                windows.push(TargetWindow {
                    target,
                    start: to_u32(from - start),
                    end: to_u32(end),
                    held: ANY,
                });
            }
            from = next;
        }
    }
}

/// Sorts windows and joins those that share columns, combining their `held` values. Returns the number of columns.
pub fn join(windows: &mut Vec<TargetWindow>, hold: impl Fn(u32, u32) -> u32) -> u64 {
    windows.sort_unstable();
    windows.dedup_by(|next, window| {
        let is_joined = next.target == window.target && next.start < window.end;
        if is_joined {
            window.end = window.end.max(next.end);
            window.held = hold(window.held, next.held);
        }
        is_joined
    });
    windows.iter().map(|window| u64::from(window.end - window.start)).sum()
}

/// Appends the regions of a query's joined windows. `most` maps a window's `held` value to the maximum score of an
/// alignment in it.
pub fn push_regions(
    regions: &mut Vec<CandidateRegion>,
    targets: &Sequences,
    (strand, query): (Strand, u32),
    (span, most): (u32, impl Fn(u32) -> i32),
    windows: &[TargetWindow],
) {
    for &TargetWindow { target, start, end, held } in windows {
        let most = most(held);
        let lead = targets.lead(target);
        let pairs = chunks(end - start, span, ChunkLength::SHORT).map(|(from, own, to)| {
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
        let window = |target, start, end| TargetWindow { target, start, end, held: 1 };
        let mut windows = vec![
            window(1, 5, 9),
            window(0, 20, 30),
            window(0, 5, 10),
            window(0, 10, 12),
            window(0, 28, 29),
            window(0, 6, 8),
        ];
        assert_eq!(join(&mut windows, u32::saturating_add), 5 + 2 + 10 + 4);
        let seeds = |window, held| TargetWindow { held, ..window };
        let expected =
            [seeds(window(0, 5, 10), 2), window(0, 10, 12), seeds(window(0, 20, 30), 2), window(1, 5, 9)];
        assert_eq!(windows, expected);
        assert_eq!(join(&mut windows, u32::saturating_add), 21, "again");
        assert_eq!(windows, expected);
    }
}
