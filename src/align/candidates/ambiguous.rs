//! Runs of residues that are not bases. They break seeds, and some scorings let them cost less than other edits
//! (docs/algorithm.md, section 15).

use crate::terms::alphabet::is_base;
use crate::terms::bounds::{twice_spoilt_cheaply, twice_to_spoil};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::Scoring;
use std::ops::Range;
use std::sync::OnceLock;

/// Number of bases that are checked at once.
const CHECKED: usize = 1 << 12;
/// Maximum number of runs whose positions are kept. With more, every second residue may be a run.
const MOST_RUNS: usize = 1 << 20;
/// Number of window lengths, each a power of two.
const WINDOWS: usize = 32;

/// The number of runs, and the length of the longest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AmbiguousRuns {
    pub count: u32,
    pub longest: u32,
}

impl AmbiguousRuns {
    /// The runs of a sequence.
    pub fn of(codes: &[u8]) -> AmbiguousRuns {
        let mut runs = AmbiguousRuns::default();
        for_each_run(codes, |run| {
            runs.count = runs.count.saturating_add(1);
            runs.longest = runs.longest.max(to_u32(run.len()));
            true
        });
        runs
    }

    /// Twice the maximum by which the runs let an alignment lose less than the loss at the seeds that they touch.
    fn twice_spared(self, seed: (usize, i64), loss: i64) -> i64 {
        i64::from(self.count).saturating_mul(twice_spoilt_cheaply(self.longest as usize, seed, loss))
    }
}

/// The length of a query, and its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryShape {
    pub len: usize,
    pub runs: AmbiguousRuns,
}

impl QueryShape {
    pub fn of(codes: &[u8]) -> QueryShape {
        QueryShape { len: codes.len(), runs: AmbiguousRuns::of(codes) }
    }
}

impl From<usize> for QueryShape {
    /// A query of bases only.
    fn from(len: usize) -> QueryShape {
        QueryShape { len, runs: AmbiguousRuns::default() }
    }
}

/// The runs of all targets, in the order of their positions, under a scoring that lets them cost little.
#[derive(Debug, Default)]
pub struct TargetRuns {
    /// Minimum loss of a pair with a residue that is not a base.
    loss: i64,
    runs: Vec<Range<usize>>,
    longest: u32,
    /// Whether there are too many runs to keep them.
    is_full: bool,
    /// Maximum number of runs in a window, by the binary logarithm of the window's length.
    most: [OnceLock<u32>; WINDOWS],
}

impl TargetRuns {
    /// The runs in concatenated targets, and the minimum loss of a pair with one of their residues.
    pub fn of(codes: &[u8], loss: i64) -> TargetRuns {
        let mut all = TargetRuns { loss, ..TargetRuns::default() };
        for_each_run(codes, |run| {
            all.longest = all.longest.max(to_u32(run.len().min(u32::MAX as usize)));
            all.is_full = all.runs.len() == MOST_RUNS;
            if !all.is_full {
                all.runs.push(run);
            }
            !all.is_full
        });
        if all.is_full {
            all.longest = u32::MAX;
        }
        all
    }

    /// Upper bound on the number of runs in a window of `columns` columns, and the longest run of all.
    fn in_window(&self, columns: usize) -> AmbiguousRuns {
        let log = to_usize(columns.max(1).next_power_of_two().ilog2()).min(WINDOWS - 1);
        let most = || {
            let columns = 1usize << log;
            if self.is_full {
                return to_u32(columns.min(u32::MAX as usize));
            }
            let mut first = 0;
            let count = |(place, run): (usize, &Range<usize>)| {
                while self.runs[first].end + columns <= run.start + 1 {
                    first += 1;
                }
                place + 1 - first
            };
            to_u32(self.runs.iter().enumerate().map(count).max().unwrap_or(0))
        };
        AmbiguousRuns { count: *self.most[log].get_or_init(most), longest: self.longest }
    }
}

/// Maximum by which runs in a query and in a window of `columns` target columns raise the score of an alignment above
/// the bound that the seed theorem gives for alignments without such runs.
pub fn allowance(
    query: QueryShape,
    (targets, columns): (&TargetRuns, usize),
    (seed, edits): (usize, usize),
    scoring: &Scoring,
) -> Option<i32> {
    let runs = [query.runs, targets.in_window(columns)];
    if runs.iter().all(|runs| runs.count == 0) {
        return Some(0);
    }
    let seed = (seed, twice_to_spoil(seed, edits, scoring)?);
    let twice = runs.iter().fold(0i64, |sum, runs| sum.saturating_add(runs.twice_spared(seed, targets.loss)));
    // No score is higher than that of a perfect alignment.
    let most = i64::from(scoring.max_potential()).saturating_mul(to_i64(query.len));
    Some(to_i32(((twice.saturating_add(1)) / 2).min(most)))
}

/// Calls `take` with each run until that returns false.
fn for_each_run(codes: &[u8], mut take: impl FnMut(Range<usize>) -> bool) {
    let mut open: Option<usize> = None;
    for (number, part) in codes.chunks(CHECKED).enumerate() {
        // Nearly all parts have only bases, which takes one comparison for each vector.
        let others = part.iter().fold(0, |others, &code| others | u8::from(!is_base(code)));
        if others == 0 && open.is_none() {
            continue;
        }
        for (place, &code) in (number * CHECKED..).zip(part) {
            match (is_base(code), open) {
                (false, None) => open = Some(place),
                (true, Some(first)) => {
                    open = None;
                    if !take(first..place) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
    if let Some(first) = open {
        take(first..codes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_across_parts() {
        let mut codes = vec![0u8; 3 * CHECKED + 5];
        for place in [0, 7, 8, CHECKED - 1, CHECKED, CHECKED + 1, 3 * CHECKED + 4] {
            codes[place] = 14;
        }
        let mut runs = Vec::new();
        for_each_run(&codes, |run| {
            runs.push(run);
            true
        });
        assert_eq!(runs, [0..1, 7..9, CHECKED - 1..CHECKED + 2, 3 * CHECKED + 4..3 * CHECKED + 5]);
        assert_eq!(AmbiguousRuns::of(&codes), AmbiguousRuns { count: 4, longest: 3 });
        assert_eq!(AmbiguousRuns::of(&[]), AmbiguousRuns::default());
    }

    #[test]
    fn windows_hold_the_runs_of_the_definition() {
        let codes: Vec<u8> = (0..3000u32).map(|k| if k * k % 101 < 7 { 14 } else { 1 }).collect();
        let targets = TargetRuns::of(&codes, 2);
        for log in [0, 1, 2, 5, 8, 11, 13] {
            let columns = 1usize << log;
            let held = |start: usize| {
                targets.runs.iter().filter(|run| run.start < start + columns && run.end > start).count()
            };
            let most = (0..codes.len()).map(held).max().unwrap();
            assert_eq!(targets.in_window(columns).count as usize, most, "{columns}");
        }
        assert_eq!(TargetRuns::of(&[0, 1, 2], 2).in_window(64), AmbiguousRuns::default());
    }

    #[test]
    fn an_allowance_by_hand() {
        let cheap = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let read = |count, longest| QueryShape { len: 150, runs: AmbiguousRuns { count, longest } };
        let mut codes = vec![0; 1000];
        codes[500] = 14;
        let (none, one) = (TargetRuns::of(&[], 2), TargetRuns::of(&codes, 2));
        let of = |query, targets| allowance(query, (targets, 300), (14, 0), &cheap);
        assert_eq!(of(read(0, 0), &none), Some(0));
        assert_eq!(of(read(1, 1), &none), Some(3));
        assert_eq!(of(read(2, 20), &one), Some(15));
        assert_eq!(of(read(100, 1), &one), Some(150));
        let dear = TargetRuns::of(&codes, 5);
        assert_eq!(allowance(read(9, 1), (&dear, 300), (14, 0), &cheap), Some(0));
    }
}
