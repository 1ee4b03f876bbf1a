//! The specification: the recurrence, cell by cell, and the traceback over all of its cells.

use super::align::{Aligned, runs, step_of};
use super::codes::TextCodes;
use super::pattern::matches;
use super::room::{EndCapacity, ThreadEnds};
use super::{EndScan, MatchRule, PatternEnd};
use crate::terms::alignment::ColumnOp;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;

/// Finds ends cell by cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainScan;

impl EndScan for PlainScan {
    fn scan_within(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        let mut ends = ThreadEnds::new(room);
        for (place, pattern) in (0..).zip(patterns) {
            let edits = match rule.indels {
                true => edit_distances(pattern, text),
                false => hamming_distances(pattern, text),
            };
            let within = (1..).zip(edits).filter_map(|(end, edits)| Some((end, edits?)));
            for (end, edits) in within.filter(|&(_, edits)| edits <= rule.max_edits) {
                ends.push(PatternEnd { pattern: place, end, edits });
            }
            if ends.are_too_many() {
                break;
            }
        }
        Ok(ends.finish())
    }
}

/// The path at an end, traced back from D(m,end): the diagonal before the deletion before the insertion.
pub fn align(pattern: &[u8], text: &[u8], end: usize) -> Aligned {
    let (rows, columns) = (pattern.len(), end);
    let mut d = vec![vec![0; columns + 1]; rows + 1];
    for i in 1..=rows {
        d[i][0] = i;
        for j in 1..=columns {
            let differs = usize::from(!matches(pattern[i - 1], text[j - 1]));
            d[i][j] = (d[i - 1][j - 1] + differs).min(d[i][j - 1] + 1).min(d[i - 1][j] + 1);
        }
    }
    let (mut i, mut j, mut steps) = (rows, columns, Vec::new());
    while i > 0 {
        let differs = j > 0 && !matches(pattern[i - 1], text[j - 1]);
        if j > 0 && d[i][j] == d[i - 1][j - 1] + usize::from(differs) {
            steps.push(step_of(pattern[i - 1], text[j - 1]));
            (i, j) = (i - 1, j - 1);
        } else if j > 0 && d[i][j] == d[i][j - 1] + 1 {
            steps.push(ColumnOp::Deletion);
            j -= 1;
        } else {
            steps.push(ColumnOp::Insertion);
            i -= 1;
        }
    }
    Aligned { start: j, path: runs(steps.into_iter().rev()) }
}

/// D(m,j) for each j from 1.
fn edit_distances(pattern: &[u8], text: &[u8]) -> Vec<Option<u32>> {
    // The previous column: D(0,j-1) .. D(m,j-1).
    let mut column: Vec<u32> = (0..=to_u32(pattern.len())).collect();
    let mut distances = Vec::with_capacity(text.len());
    for &letter in text {
        let mut diagonal = column[0];
        for i in 1..=pattern.len() {
            let differs = u32::from(!matches(pattern[i - 1], letter));
            let cell = (diagonal + differs).min(column[i] + 1).min(column[i - 1] + 1);
            diagonal = std::mem::replace(&mut column[i], cell);
        }
        distances.push(column.last().copied());
    }
    distances
}

/// Number of mismatches in the `m` bases before each end; `None` if fewer than `m` bases precede it.
fn hamming_distances(pattern: &[u8], text: &[u8]) -> Vec<Option<u32>> {
    let differ = |window: &[u8]| pattern.iter().zip(window).filter(|(p, t)| !matches(**p, **t)).count();
    let before = vec![None; text.len().min(pattern.len() - 1)];
    before.into_iter().chain(text.windows(pattern.len()).map(|window| Some(to_u32(differ(window))))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::search::pattern::SearchPattern;
    use crate::patterns::search::{NOTHING, OTHER};

    fn ends(pattern: &str, text: &[u8], max_edits: u32, indels: bool) -> Vec<(u32, u32)> {
        let classes = SearchPattern::new(String::new(), pattern.as_bytes()).unwrap().classes();
        let rule = MatchRule { max_edits, indels };
        PlainScan
            .scan(&TextCodes::of(text), &[classes], &rule)
            .unwrap()
            .iter()
            .map(|end| (end.end, end.edits))
            .collect()
    }

    #[test]
    fn by_hand() {
        // AACGTAA
        let text = [0, 0, 1, 2, 3, 0, 0];
        assert_eq!(ends("ACGT", &text, 0, true), [(5, 0)]);
        assert_eq!(ends("ACGT", &text, 1, true), [(4, 1), (5, 0), (6, 1)]);
        assert_eq!(ends("ACGT", &text, 1, false), [(5, 0)]);
        assert_eq!(ends("AGGT", &text, 1, false), [(5, 1)]);
        assert_eq!(ends("A", &text, 0, true), [(1, 0), (2, 0), (6, 0), (7, 0)]);
        assert_eq!(ends("A", &text, 1, true).len(), 7);
        assert_eq!(ends("AACGTAAC", &text, 0, true), []);
        assert_eq!(ends("AACGTAAC", &text, 1, true), [(7, 1)]);
        assert_eq!(ends("AACGTAAC", &text, 8, false), []);
        assert_eq!(ends("A", &[], 1, true), []);
    }

    #[test]
    fn letters_that_are_no_base() {
        let text = [0, OTHER, 2, NOTHING];
        assert_eq!(ends("ANG", &text, 0, true), [(3, 0)]);
        assert_eq!(ends("AVG", &text, 0, true), []);
        assert_eq!(ends("N", &text, 0, true), [(1, 0), (2, 0), (3, 0)]);
    }
}
