//! Strips of only those cells through which an alignment with a high enough score can pass (docs/algorithm.md, section 23).
//!
//! Query words that are absent from the target bound how much an alignment can still score after each row. Each strip is
//! swept only in columns that receive a value from which the threshold can be reached, or in which an alignment that reaches
//! it can begin.

mod path;
mod score;

pub use path::PrunedTrace;
pub use score::PrunedSweep;

use super::{CellSink, Rectangle, RowAbove, StopRule, Strips, SweptExtent, lanes_of};
use crate::engine::Edges;
use crate::engine::carry::IMPOSSIBLE;
use crate::engine::cpu::simd::Rows;
use crate::engine::potential::PotentialBehind;
use crate::terms::casts::{to_i32, to_usize};
use std::ops::Range;

/// Strips of the cells that count. Other cells get the values of the matrix border from above.
struct PrunedStrips<'a, S: Rows, const PIECES: usize> {
    simd: S,
    strips: Strips<'a, S, PIECES>,
    potential: &'a PotentialBehind,
    /// Cells count if an alignment through them can score this much.
    threshold: i32,
    /// Columns with values from above that count.
    live: Range<usize>,
}

impl<'a, S: Rows, const PIECES: usize> PrunedStrips<'a, S, PIECES> {
    #[inline(always)]
    fn new(
        simd: S,
        rectangle: Rectangle<'a>,
        edges: &'a Edges,
        potential: &'a PotentialBehind,
        threshold: i32,
    ) -> PrunedStrips<'a, S, PIECES> {
        let strips = Strips::new(simd, rectangle, edges);
        PrunedStrips { simd, strips, potential, threshold, live: 0..0 }
    }

    /// Whether an alignment that reaches the threshold can begin in one of these rows.
    fn begins_in(&self, rows: &Range<usize>) -> bool {
        self.potential.behind(rows.clone()).iter().any(|&most| most >= self.threshold)
    }

    /// Number of rows of the strip that starts at row `first`.
    fn rows(&self, first: usize) -> usize {
        S::LANES.min(self.strips.given.rectangle.query.len() - first)
    }

    /// The columns in which cells of the strip from row `first` on may count. Alignments begin in the columns `begins`. All columns
    /// are in `band`.
    fn cols(&self, first: usize, begins: &Range<usize>, band: Range<usize>) -> Range<usize> {
        let (starts, ends) = match (self.live.is_empty(), begins.is_empty()) {
            (true, true) => return 0..0,
            (true, false) => (begins.start, begins.end),
            (false, true) => (self.live.start, self.live.end),
            (false, false) => (self.live.start.min(begins.start), self.live.end.max(begins.end)),
        };
        let Rectangle { query, scoring, .. } = self.strips.given.rectangle;
        let (rows, gaps) = (self.rows(first), scoring.gaps());
        // The cell above may score as much as a gap that opens there. Deletions reach as far as the threshold can still be
        // attained.
        let highest = |f: &RowAbove| f[self.live.clone()].iter().copied().max().unwrap_or(IMPOSSIBLE);
        let above = self.strips.above_f.iter().zip(gaps.pieces());
        let above = above.map(|(f, piece)| highest(f) + piece.first()).max().unwrap_or(IMPOSSIBLE);
        let above = if begins.is_empty() { above } else { above.max(0) };
        let behind = self.potential.behind(first..first + rows + 1).iter().copied().max().unwrap_or(0);
        let most = above + to_i32(rows) * scoring.max_potential() + behind;
        let most = most + scoring.bonuses(&query[first..first + rows]);
        let reach = to_usize((most - self.threshold).max(0) / gaps.lower_bound().extend);
        starts.max(band.start)..ends.saturating_add(rows + reach).min(band.end)
    }

    /// Sweeps the strip from row `first` on over `cols`, and passes the cells to `sink`. Stops where no cell counts any more.
    /// Returns the swept columns, the number of steps, and the sink.
    #[inline(always)]
    fn sweep<K: CellSink<S, PIECES>>(
        &mut self,
        first: usize,
        begins: &Range<usize>,
        cols: Range<usize>,
        sink: K,
    ) -> (Range<usize>, usize, K) {
        self.close(self.live.start..self.live.end.min(cols.start));
        self.close(self.live.start.max(cols.end)..self.live.end);
        if cols.is_empty() {
            self.live = 0..0;
            return (cols, 0, sink);
        }
        let rows = self.rows(first);
        let least_after =
            |row: usize| self.threshold - self.potential.behind(first + row + 1..first + row + 2)[0];
        let after_begins = if begins.is_empty() { 0 } else { begins.end + S::LANES };
        let rule = StopRule {
            first_step: after_begins.max(self.live.end + 1).saturating_sub(cols.start),
            deletion: lanes_of::<S>(|lane| if lane < rows { least_after(lane) - 1 } else { i32::MAX }),
            // What leaves the last row is judged after the strip.
            insertion: lanes_of::<S>(|lane| if lane + 1 < rows { least_after(lane) - 1 } else { i32::MAX }),
        };
        let (SweptExtent { cols: done, steps }, sink) =
            self.strips.strip_until(first, cols.clone(), Some(&rule), sink);
        let swept = cols.start..cols.start + done;
        self.close(swept.end..self.live.end.max(swept.end));
        (swept, steps, sink)
    }

    /// The most that an alignment can score through a cell that leaves the strip in these columns, which ends after `rows` rows.
    fn attainable(&self, cols: Range<usize>, rows: usize) -> i32 {
        let gaps = self.strips.given.rectangle.scoring.gaps();
        let highest = |f: &RowAbove| f[cols.clone()].iter().copied().max().unwrap_or(IMPOSSIBLE);
        let below = self.strips.above_f.iter().zip(gaps.pieces());
        let below = below.map(|(f, piece)| highest(f) + piece.first()).max().unwrap_or(IMPOSSIBLE);
        below + self.potential.behind(rows..rows + 1)[0]
    }

    /// Closes those columns from which the threshold is out of reach after the first `rows` rows.
    fn keep(&mut self, cols: Range<usize>, rows: usize) {
        let least = self.threshold - self.potential.behind(rows..rows + 1)[0];
        let gaps = self.strips.given.rectangle.scoring.gaps();
        let mut live = cols.end..cols.start;
        for (below, piece) in self.strips.above_f.iter().zip(gaps.pieces()) {
            // The cell above may score as much as a gap that opens there. An extended gap has already paid for that.
            let least = least - piece.first();
            let below = &below[cols.clone()];
            if let Some(first) = below.iter().position(|&f| f >= least) {
                let last = below.iter().rposition(|&f| f >= least).unwrap_or(first);
                live = live.start.min(cols.start + first)..live.end.max(cols.start + last + 1);
            }
        }
        self.live = if live.start < live.end { live } else { cols.end..cols.end };
        self.close(cols.start..self.live.start);
        self.close(self.live.end..cols.end);
    }

    /// Resets the values from above in these columns, so that they no longer count.
    fn close(&mut self, cols: Range<usize>) {
        let cols = cols.start..cols.end.max(cols.start);
        self.strips.above_h[cols.clone()].fill(0);
        self.strips.above_f.iter_mut().for_each(|f| f[cols.clone()].fill(IMPOSSIBLE));
    }

    /// Resets all values from above.
    fn restart(&mut self) {
        self.close(self.live.clone());
        self.live = 0..0;
    }
}
