//! The windows of a long query around its intact pieces.
//!
//! A long query is cut into pieces of equal length. An alignment of a high score damages few of them, so it is near many
//! intact ones (docs/algorithm.md, section 15). Each piece is looked up by its rarest k-mers, so repeats cost little.

use super::super::diagonal_bound::EditLoss;
use super::{ByIndex, QueryBuffers};
use crate::terms::alphabet::is_base;
use crate::terms::bounds::longest_span;
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};

/// Maximum number of intact pieces of a query in the targets.
const MOST_INTACT: usize = 1 << 20;

/// Columns of a target, and the maximum score of an alignment there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntactWindow {
    pub target: u32,
    pub columns: (u32, u32),
    pub most: i32,
}

/// The windows that contain all alignments of a query that score `least` or more, in the order of targets and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntactWindows {
    pub least: i32,
    pub windows: Vec<IntactWindow>,
}

impl ByIndex {
    /// The windows around the intact pieces of a query, if it is cut into pieces of `piece` bases, and if runs of residues
    /// that are not bases in the targets spare an alignment at most `spared`. `None` if the index or the scoring does not
    /// allow it, or if there are too many.
    pub fn intact_windows(
        &self,
        query: &[u8],
        (piece, spared): (usize, i32),
        QueryBuffers { places: [found, _], .. }: &mut QueryBuffers,
    ) -> Option<IntactWindows> {
        let ByIndex { targets, kmers, levels, .. } = self;
        let (scoring, len, step) = (&*levels.field.scoring, query.len(), kmers.step() as usize);
        let seeds = self.seeds_of(query);
        if !self.has_runs(piece) || !seeds.iter().all(|&code| is_base(code)) {
            return None;
        }
        let (edit, margin) = EditLoss::new(scoring)?.of_pieces(piece)?;
        let count = len.checked_sub(2 * margin)? / piece;
        let perfect = scoring.most_score(len) + i64::from(spared);
        // An alignment that scores more than this has an intact piece.
        let most = perfect - edit * to_i64(count);
        let least = to_i32(most.max(0) + 1);
        if count == 0 || i64::from(least) > scoring.most_score(len) {
            return None;
        }
        kmers.look_up_all(&seeds, found);
        // The diagonal of each intact piece in the concatenated targets, and its number.
        let mut intact: Vec<(i64, u32)> = Vec::new();
        for number in 0..count {
            let start = margin + number * piece;
            let rows = start..start + piece + 1 - kmers.least();
            let first = rows.min_by_key(|&row| kmers.listed_at(found, row..row + step))?;
            let own = &seeds[start..start + piece];
            kmers.for_each_listed(found, first..first + step, |row, place| {
                let from = (place as usize).checked_sub(row - start);
                let from = from.filter(|&from| kmers.codes().get(from..from + piece) == Some(own));
                intact.extend(from.map(|from| (to_i64(from) - to_i64(start), to_u32(number))));
            });
            if intact.len() > MOST_INTACT {
                return None;
            }
        }
        intact.sort_unstable();
        // Diagonals of an alignment differ by at most this.
        let gaps = to_i64(longest_span(query, least, scoring) as usize - len);
        let mut windows: Vec<IntactWindow> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        for of_window in intact.chunk_by(|one, next| next.0 - one.0 <= gaps) {
            numbers.clear();
            numbers.extend(of_window.iter().map(|&(_, number)| number));
            numbers.sort_unstable();
            numbers.dedup();
            let damaged = count - numbers.len();
            let most = to_i32(perfect - edit * to_i64(damaged));
            let (first, last) =
                (of_window[0].0 - gaps, of_window[of_window.len() - 1].0 + to_i64(len) + gaps);
            // The pieces may be on more than one target.
            let [from, to] =
                [first, last].map(|place| to_usize(place.clamp(0, to_i64(targets.codes().len()))));
            let mut target = targets.holding(from);
            while target < targets.len() && targets.start(target) < to {
                let (start, end) = (targets.start(target), targets.start(target + 1));
                if start < end {
                    let columns = [from, to].map(|place| to_u32(place.clamp(start, end) - start));
                    windows.push(IntactWindow { target: to_u32(target), columns: columns.into(), most });
                }
                target += 1;
            }
        }
        windows.sort_unstable_by_key(|window| (window.target, window.columns));
        windows.dedup_by(|next, last| {
            let are_joined = next.target == last.target && next.columns.0 < last.columns.1;
            if are_joined {
                last.columns.1 = last.columns.1.max(next.columns.1);
                last.most = last.most.max(next.most);
            }
            are_joined
        });
        Some(IntactWindows { least, windows })
    }
}
