//! The progress line: stage, progress and remaining time of a run. A timer draws it.

use crate::pipeline::{Stage, counted};
use crate::terms::casts::to_u64;
use indicatif::{FormattedDuration, HumanBytes, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);
/// The time left is shown when a stage has lasted this long, and this percentage of its bytes is done.
const EARLIEST: Duration = Duration::from_secs(2);
const LEAST_PERCENT: u64 = 1;
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// A line at the bottom of a terminal, from the first stage on.
pub struct Bar {
    line: ProgressBar,
    state: Arc<Mutex<BarState>>,
}

/// A stage under way.
struct BarState {
    stage: Stage,
    begun: Instant,
    /// Number of queries, texts and so on that are done.
    count: u64,
    /// The bytes that were done when the end was last estimated, and that estimate.
    estimated: (u64, Option<Instant>),
}

impl Bar {
    pub fn new() -> Bar {
        let state = Arc::new(Mutex::new(BarState::new(Stage::default(), Instant::now())));
        let shown = Arc::clone(&state);
        let write = move |line: &ProgressState, text: &mut dyn Write| {
            // A terminal's line has no error to tell.
            let _ = text.write_str(&lock(&shown).text(line.elapsed(), Instant::now()));
        };
        let line = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {run}") {
            line.set_style(style.with_key("run", write));
        }
        Bar { line, state }
    }

    pub fn begin(&self, stage: Stage) {
        *lock(&self.state) = BarState::new(stage, Instant::now());
        self.line.enable_steady_tick(TICK);
    }

    pub fn count(&self, count: u64) {
        lock(&self.state).count = count;
    }

    /// Has `print` write to the terminal, above the line.
    pub fn above(&self, print: impl FnOnce()) {
        self.line.suspend(print);
    }

    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}

/// The state, also after a panic of another thread: it is never half changed.
fn lock(state: &Mutex<BarState>) -> MutexGuard<'_, BarState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BarState {
    fn new(stage: Stage, begun: Instant) -> BarState {
        BarState { stage, begun, count: 0, estimated: (0, None) }
    }

    /// The line, in a run that has lasted for `elapsed`.
    fn text(&mut self, elapsed: Duration, now: Instant) -> String {
        let mut parts = Vec::new();
        parts.extend(self.stage.counted.map(|noun| self.counted(noun)));
        let bytes = self.stage.bytes.as_ref().map(|bytes| bytes.load(Ordering::Relaxed));
        match (bytes, self.stage.size.filter(|&size| size > 0)) {
            (Some(bytes), Some(size)) => {
                let bytes = bytes.min(size);
                let percent = percent(bytes, size);
                parts.push(format!("{} of {} ({percent} %)", HumanBytes(bytes), HumanBytes(size)));
                parts.push(FormattedDuration(elapsed).to_string());
                parts.extend(self.left(bytes, size, now).map(|left| format!("{} left", rounded(left))));
            }
            (bytes, _) => {
                parts.extend(bytes.filter(|&bytes| bytes > 0).map(|bytes| HumanBytes(bytes).to_string()));
                parts.push(FormattedDuration(elapsed).to_string());
                let total = self.stage.total.filter(|&total| total > 0);
                let left = total.and_then(|total| self.left(self.count.min(total), total, now));
                parts.extend(left.map(|left| format!("{} left", rounded(left))));
            }
        }
        format!("{}: {}", self.stage.doing, parts.join(", "))
    }

    /// `3 queries`, or `3 of 10 pairs (30 %)`.
    fn counted(&self, noun: [&str; 2]) -> String {
        match self.stage.total.filter(|&total| total > 0) {
            None => counted(self.count, noun),
            Some(total) => {
                let count = self.count.min(total);
                format!("{count} of {} ({} %)", counted(total, noun), percent(count, total))
            }
        }
    }

    /// The time left, if the bytes to come take as long as those done. It is estimated when more bytes are done, and runs
    /// down in between.
    fn left(&mut self, bytes: u64, size: u64, now: Instant) -> Option<Duration> {
        let lasted = now.duration_since(self.begun);
        if lasted < EARLIEST || percent(bytes, size) < LEAST_PERCENT {
            return None;
        }
        if self.estimated.0 != bytes {
            let all = lasted.as_secs_f64() * size as f64 / bytes as f64;
            let all = Duration::try_from_secs_f64(all).ok();
            self.estimated = (bytes, all.and_then(|all| self.begun.checked_add(all)));
        }
        self.estimated.1?.checked_duration_since(now)
    }
}

fn percent(bytes: u64, size: u64) -> u64 {
    to_u64(u128::from(bytes) * 100 / u128::from(size))
}

/// An estimate, rounded so that it hardly changes from one frame to the next.
fn rounded(left: Duration) -> String {
    match left.as_secs() {
        seconds @ ..MINUTE => format!("about {} s", seconds / 10 * 10 + 10),
        seconds @ MINUTE..HOUR => format!("about {} min", seconds.div_ceil(MINUTE)),
        seconds => format!("about {:.1} h", seconds as f64 / HOUR as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    const MIB: u64 = 1 << 20;

    fn aligning(done: u64, size: Option<u64>) -> Stage {
        let bytes = Some(Arc::new(AtomicU64::new(done)));
        Stage { doing: "aligning", counted: Some(["query", "queries"]), bytes, size, total: None }
    }

    #[test]
    fn the_line_says_how_far_it_is() {
        let begun = Instant::now();
        let text = |stage: Stage, seconds| {
            let lasted = Duration::from_secs(seconds);
            BarState::new(stage, begun).text(lasted + Duration::from_secs(5), begun + lasted)
        };
        assert_eq!(
            text(Stage { doing: "opening the GPU", ..Stage::default() }, 0),
            "opening the GPU: 00:00:05"
        );
        assert_eq!(text(aligning(3 * MIB, None), 0), "aligning: 0 queries, 3.00 MiB, 00:00:05");
        let known = text(aligning(MIB, Some(4 * MIB)), 60);
        assert_eq!(known, "aligning: 0 queries, 1.00 MiB of 4.00 MiB (25 %), 00:01:05, about 3 min left");
        let early = text(aligning(MIB, Some(4 * MIB)), 1);
        assert_eq!(early, "aligning: 0 queries, 1.00 MiB of 4.00 MiB (25 %), 00:00:06");
        assert!(text(aligning(0, Some(MIB)), 60).ends_with("0 B of 1.00 MiB (0 %), 00:01:05"));
        assert!(text(aligning(2 * MIB, Some(MIB)), 60).contains("1.00 MiB of 1.00 MiB (100 %)"));
        assert!(!text(aligning(0, Some(0)), 60).contains('%'), "an empty part");
    }

    #[test]
    fn counts_have_a_total() {
        let begun = Instant::now();
        let counted = Some(["pair", "pairs"]);
        let stage = Stage { doing: "estimating", counted, total: Some(200), ..Stage::default() };
        let mut state = BarState::new(stage, begun);
        let minute = Duration::from_secs(60);
        assert_eq!(state.text(minute, begun + minute), "estimating: 0 of 200 pairs (0 %), 00:01:00");
        state.count = 50;
        let text = state.text(minute, begun + minute);
        assert_eq!(text, "estimating: 50 of 200 pairs (25 %), 00:01:00, about 3 min left");
    }

    #[test]
    fn one_query_is_one() {
        let mut state = BarState::new(aligning(0, None), Instant::now());
        state.count = 1;
        assert_eq!(state.text(Duration::ZERO, state.begun), "aligning: 1 query, 00:00:00");
    }

    /// While nothing more is done, the time left only runs down.
    #[test]
    fn the_time_left_does_not_flicker() {
        let begun = Instant::now();
        let mut state = BarState::new(aligning(1000, Some(2000)), begun);
        let mut left = |seconds| state.left(1000, 2000, begun + Duration::from_secs(seconds));
        assert_eq!(left(20), Some(Duration::from_secs(20)));
        assert_eq!(left(25), Some(Duration::from_secs(15)));
        assert_eq!(left(41), None, "overdue: nothing is known");
        let mut left = |bytes, seconds| state.left(bytes, 2000, begun + Duration::from_secs(seconds));
        assert_eq!(left(1500, 60), Some(Duration::from_secs(20)));
    }

    #[test]
    fn times_left_are_rounded() {
        for (seconds, expected) in
            [(0, "about 10 s"), (59, "about 60 s"), (61, "about 2 min"), (5400, "about 1.5 h")]
        {
            assert_eq!(rounded(Duration::from_secs(seconds)), expected);
        }
    }
}
