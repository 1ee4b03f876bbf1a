//! The number of cells of a good submission, learned from the times of recent ones.

use crate::terms::casts::whole_u64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Target time of a submission: long enough to be worth its overhead, short enough for every watchdog.
const SUBMISSION: Duration = Duration::from_millis(100);

/// Limits of the cells of submissions, for one kind of work.
#[derive(Clone, Copy, Debug)]
pub struct CellRange {
    /// Cells before any submission has been timed.
    pub first: u64,
    pub least: u64,
    pub most: u64,
    /// A submission has at most this many times the cells of a timed job, because one fast job proves little.
    pub growth: u64,
}

/// The number of cells that a submission should have. Threads that submit the same kind of work share it; otherwise
/// each would begin with small submissions.
#[derive(Debug)]
pub struct Pace {
    cells: AtomicU64,
    range: CellRange,
}

impl Pace {
    pub fn new(range: CellRange) -> Pace {
        Pace { cells: AtomicU64::new(range.first), range }
    }

    pub fn cells(&self) -> u64 {
        self.cells.load(Relaxed)
    }

    /// Learns from the time of a submission with this number of cells and jobs.
    ///
    /// A slow submission that took less than a quarter of the target time proves little about larger submissions,
    /// because it did not fill the device. It only limits the pace to four times the cells that would fit the target
    /// time.
    pub fn learn(&self, cells: u64, jobs: u64, took: Duration) {
        let CellRange { least, most, growth, .. } = self.range;
        if cells < least / 2 {
            return;
        }
        let fitting = whole_u64(cells as f64 * SUBMISSION.as_secs_f64() / took.as_secs_f64().max(1e-4));
        let next = |pace: u64| match fitting >= pace {
            true => pace.max(fitting.min(growth * cells / jobs.max(1))),
            false if took >= SUBMISSION / 4 => fitting,
            false => pace.min(4 * fitting),
        };
        let learned = |pace: u64| Some(next(pace).clamp(least, most));
        let _ = self.cells.fetch_update(Relaxed, Relaxed, learned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_follows_what_jobs_took() {
        const FIRST: u64 = 1 << 28;
        const RANGE: CellRange = CellRange { first: FIRST, least: FIRST / 4, most: 1 << 40, growth: 4 };
        let pace = Pace::new(RANGE);
        let ms = Duration::from_millis;
        pace.learn(FIRST, 1, ms(1));
        assert_eq!(pace.cells(), 4 * FIRST, "at most fourfold");
        // Others that began with the same number learn nothing new.
        pace.learn(FIRST, 1, ms(1));
        assert_eq!(pace.cells(), 4 * FIRST);
        pace.learn(4 * FIRST, 1, ms(50));
        assert_eq!(pace.cells(), 8 * FIRST);
        pace.learn(FIRST, 1, ms(20));
        assert_eq!(pace.cells(), 8 * FIRST, "a small one, quick enough");
        pace.learn(FIRST / 4, 1, ms(20));
        assert_eq!(pace.cells(), 5 * FIRST, "a smaller one: four times what would fit");
        pace.learn(8 * FIRST, 1, ms(400));
        assert_eq!(pace.cells(), 2 * FIRST, "too long");
        pace.learn(FIRST / 4, 1, ms(50));
        assert_eq!(pace.cells(), FIRST / 2, "long for few cells");
        pace.learn(FIRST, 1, ms(1_000_000));
        assert_eq!(pace.cells(), RANGE.least);
        let pace_of_some = Pace::new(RANGE);
        pace_of_some.learn(8 * FIRST, 4, ms(1));
        assert_eq!(pace_of_some.cells(), 8 * FIRST, "fourfold what one of them had");
        pace.learn(1 << 42, 1, ms(1));
        assert_eq!(pace.cells(), RANGE.most);
    }
}
