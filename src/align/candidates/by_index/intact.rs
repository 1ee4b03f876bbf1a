//! The windows of a long query around its intact pieces.
//!
//! A long query is cut into pieces of equal length. An alignment of a high score damages few of them, so it is near many
//! intact ones (docs/algorithm.md, section 15). Each piece is looked up by its rarest k-mers, so repeats cost little.

use super::super::pieces::EqualPieces;
use super::{ByIndex, QueryBuffers, for_each_stretch, long_limits};
use crate::terms::alphabet::is_base;
use crate::terms::batch::Sequences;
use crate::terms::bounds::longest_span;
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::ops::Range;

/// Columns of a target, and the maximum score of an alignment there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntactWindow {
    pub target: u32,
    pub columns: (u32, u32),
    pub most: i32,
}

impl ByIndex {
    /// The windows around the intact pieces of a query, in the order of targets and columns. They contain all alignments
    /// that score [`EqualPieces::least`] or more. `None` if the index does not find all pieces.
    pub fn intact_windows(
        &self,
        query: &[u8],
        pieces: EqualPieces,
        QueryBuffers { places: [found, _], hits: intact, .. }: &mut QueryBuffers,
    ) -> Option<Vec<IntactWindow>> {
        let ByIndex { targets, kmers, levels, .. } = self;
        let EqualPieces { len: piece, count, margin, .. } = pieces;
        let (len, step) = (query.len(), kmers.step() as usize);
        let seeds = self.seeds_of(query);
        if !self.has_runs(piece) || !seeds.iter().all(|&code| is_base(code)) {
            return None;
        }
        kmers.look_up_all(&seeds, found);
        // The first of the rarest k-mers of each piece.
        let rarest = |number: usize| {
            let start = margin + number * piece;
            let rows = start..start + piece + 1 - kmers.least();
            Some((start, rows.min_by_key(|&row| kmers.listed_at(found, row..row + step, None))?))
        };
        let rarest: Vec<(usize, usize)> = (0..count).filter_map(rarest).collect();
        let places_in = |stretch: &Range<usize>| -> usize {
            let of_piece = |&(_, first)| kmers.listed_at(found, first..first + step, Some(stretch));
            rarest.iter().map(of_piece).sum()
        };
        // Diagonals of an alignment differ by at most this.
        let gaps = longest_span(query, pieces.least(), &levels.field.scoring) as usize - len;
        let all = targets.codes().len();
        let mut windows: Vec<IntactWindow> = Vec::new();
        for_each_stretch(all, long_limits(len), places_in, |stretch| {
            // With all pieces of the alignments that have some piece in the stretch.
            let around = len + gaps;
            let wider = stretch.start.saturating_sub(around)..stretch.end.saturating_add(around).min(all);
            // The diagonal of each intact piece in the concatenated targets, and its first base.
            intact.clear();
            for &(start, first) in &rarest {
                let own = &seeds[start..start + piece];
                kmers.for_each_listed(found, first..first + step, &wider, |row, place| {
                    let from = place.checked_sub(row - start);
                    let from = from.filter(|&from| kmers.codes().get(from..from + piece) == Some(own));
                    intact.extend(from.map(|from| (to_i64(from) - to_i64(start), to_u32(start))));
                });
            }
            intact.sort_unstable();
            for of_window in intact.chunk_by(|one, next| next.0 - one.0 <= to_i64(gaps)) {
                let (first, last) = (of_window[0].0, of_window[of_window.len() - 1].0);
                let ends = (first - to_i64(gaps), last + to_i64(around));
                let mut starts: Vec<u32> = of_window.iter().map(|&(_, start)| start).collect();
                starts.sort_unstable();
                starts.dedup();
                if starts.len() >= pieces.held() {
                    push_windows(targets, ends, pieces.most_score(starts.len()), &mut windows);
                }
            }
            join(&mut windows);
            true
        });
        Some(windows)
    }
}

/// Appends the windows between two positions of the concatenated targets, one on each target.
fn push_windows(targets: &Sequences, ends: (i64, i64), most: i32, windows: &mut Vec<IntactWindow>) {
    let inside = |place: i64| to_usize(place.clamp(0, to_i64(targets.codes().len())));
    let (from, to) = (inside(ends.0), inside(ends.1));
    let mut target = targets.holding(from);
    while target < targets.len() && targets.start(target) < to {
        let (start, end) = (targets.start(target), targets.start(target + 1));
        let columns = [from, to].map(|place| to_u32(place.clamp(start, end) - start));
        if columns[0] < columns[1] {
            windows.push(IntactWindow { target: to_u32(target), columns: columns.into(), most });
        }
        target += 1;
    }
}

/// Sorts windows, and joins those that share columns.
fn join(windows: &mut Vec<IntactWindow>) {
    windows.sort_unstable_by_key(|window| (window.target, window.columns));
    windows.dedup_by(|next, last| {
        let are_joined = next.target == last.target && next.columns.0 < last.columns.1;
        if are_joined {
            last.columns.1 = last.columns.1.max(next.columns.1);
            last.most = last.most.max(next.most);
        }
        are_joined
    });
}
