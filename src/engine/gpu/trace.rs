//! Paths that the device walks by itself: those of narrow bands in one kernel.

use crate::batch::{Batch, counting_sort_descending};
use crate::engine::Window;
use crate::engine::directions::CELLS_PER_WORD;
use crate::engine::gpu::job::{Answer, Dispatch, Job};
use crate::engine::gpu::layout::{TASK_ALIGNMENT, THREADS, Task};
use crate::engine::gpu::shader::{TRACES, Trace, Variant};
use crate::engine::gpu::{Gpu, span};
use crate::engine::paths::Paths;
use crate::error::EngineError;
use crate::scoring::{Scoring, Substitution};
use rayon::prelude::*;
use std::ops::Range;

/// Direction words of a job, at most: 256 MiB, which never leave the device.
const JOB_WORDS: u64 = 1 << 26;
/// Rows of a window, at most: more take one thread too long.
const MOST_ROWS: u32 = 1 << 12;
/// Keys of the windows of a kind, which are sorted by their rows.
const KEYS_PER_KIND: u32 = MOST_ROWS + 1;
/// Windows that one thread takes in one go, at least.
const WINDOWS: usize = 1 << 10;
/// Windows of a job, at most.
const JOB_WINDOWS: usize = 1 << 18;

/// Bytes of the directions of a window that are walked over on the device, at most, and steps of its path.
const MOST_WALKED: u64 = 2 << 20;
const MOST_STEPS: u64 = 1 << 15;

/// The highest that values may stand, which rise by the cost of a gap's residue in every row and column.
const MOST_HEIGHT: u64 = 1 << 29;

/// The windows that can be traced, by the width of their bands.
struct Plan<'a> {
    batch: &'a Batch,
    windows: &'a [Window],
    /// Of each window.
    sizes: Vec<Size>,
    variant: Variant,
}

/// What a window takes.
#[derive(Clone, Copy)]
struct Size {
    /// What windows are sorted by: their kind, then their rows; 0 where they can't be traced.
    key: u32,
    /// Words of the path, at most.
    path: u32,
}

impl Size {
    fn of(window: &Window, scoring: &Scoring) -> Size {
        match kind(window, scoring) {
            None => Size { key: 0, path: 0 },
            Some(kind) => Size {
                key: (kind as u32 + 1) * KEYS_PER_KIND + window.query_end,
                path: path_words(window, scoring),
            },
        }
    }

    /// The kind of lanes that trace it.
    fn kind(&self) -> Option<usize> {
        (self.key / KEYS_PER_KIND).checked_sub(1).map(|kind| kind as usize)
    }

    /// Direction words.
    fn words(&self) -> u64 {
        let words = |kind: usize| u64::from(TRACES[kind].width() / CELLS_PER_WORD);
        self.kind().map_or(0, |kind| u64::from(self.key % KEYS_PER_KIND) * words(kind))
    }
}

/// Words of a window's path, at most: runs between and in gaps, and not more than there are steps.
pub fn path_words(window: &Window, scoring: &Scoring) -> u32 {
    let runs = (2 * window.band.most_gaps(scoring)).saturating_add(1);
    runs.min(window.query_end.saturating_add(window.band.deletions.min(window.cols())))
}

/// The kind of lanes that trace a window.
fn kind(window: &Window, scoring: &Scoring) -> Option<usize> {
    let width = u64::from(window.band.deletions) + u64::from(window.band.insertions) + 1;
    let height = (2 * u64::from(window.query_end) + width) * scoring.gap_extend as u64;
    let fits = (1..=MOST_ROWS).contains(&window.query_end)
        && window.target_end > window.start
        && height <= MOST_HEIGHT;
    let held = || TRACES.iter().position(|trace| u64::from(trace.width()) >= width);
    if fits { held() } else { None }
}

impl Plan<'_> {
    fn new<'a>(batch: &'a Batch, windows: &'a [Window], variant: Variant) -> Plan<'a> {
        let mut sizes = Vec::new();
        let size = |window| Size::of(window, &batch.scoring);
        windows.par_iter().with_min_len(WINDOWS).map(size).collect_into_vec(&mut sizes);
        Plan { batch, windows, sizes, variant }
    }

    /// The windows of a job, from `first` on.
    fn range(&self, first: usize) -> Option<Range<usize>> {
        let mut words = 0;
        let fits = |size: &&Size| {
            words += size.words();
            words <= JOB_WORDS
        };
        let count = self.sizes[first..].iter().take(JOB_WINDOWS).take_while(fits).count();
        (first < self.windows.len()).then(|| first..first + count.max(1))
    }

    fn task(&self, window: &Window, path: Range<u32>) -> Task {
        let cols = window.target_end - window.start;
        Task {
            query: self.batch.queries.start(window.query as usize) as u32,
            rows: window.query_end,
            target_: self.batch.targets.start(window.target as usize) as u32 + window.start,
            cols,
            own: path.end - path.start,
            result: path.start,
            band_first: cols as i32 - window.query_end as i32 - window.band.deletions as i32,
            stored: window.band.deletions,
            ..Task::default()
        }
    }

    /// A job for a range of windows, and where the path of each will lie: words, or none.
    fn job(&self, range: Range<usize>) -> (Job, Vec<Range<u32>>) {
        let (windows, sizes) = (&self.windows[range.clone()], &self.sizes[range]);
        let mut end = 0;
        let place = |size: &Size| {
            let first = end;
            end += size.path;
            first..end
        };
        let places: Vec<Range<u32>> = sizes.iter().map(place).collect();
        let mut job = Job { output: u64::from(end) * 4, ..Job::default() };
        let keys: Vec<u32> = sizes.iter().map(|size| size.key).collect();
        let order = counting_sort_descending(&keys, KEYS_PER_KIND * (TRACES.len() as u32 + 1));
        let padding = TRACES.len() * (THREADS as usize + 1) + TASK_ALIGNMENT;
        let mut tasks = Vec::with_capacity(order.len() + padding);
        // How many workgroups there are of each kind, which the kernel finds in front.
        tasks.resize(TRACES.len(), Task::default());
        let kind = |place: u32| sizes[place as usize].kind();
        for same in order.chunk_by(|a, b| kind(*a) == kind(*b)) {
            if let Some(kind) = kind(same[0]) {
                let trace = TRACES[kind];
                let groups = same.len().div_ceil(trace.windows());
                tasks[kind].rows = groups as u32;
                let end = tasks.len() + groups * trace.windows();
                tasks.par_extend(self.tasks(windows, &places, same, trace, &mut job.scratch));
                tasks.resize(end, Task::default());
            }
        }
        let groups: u32 = tasks[..TRACES.len()].iter().map(|head| head.rows).sum();
        if groups > 0 {
            job.push(Dispatch::new(self.variant, tasks).in_groups(groups));
        }
        (job, places)
    }

    /// The tasks of the windows at `order`, which one kind of lanes traces, the longest first; each workgroup with
    /// room for its directions.
    fn tasks<'t>(
        &'t self,
        windows: &'t [Window],
        places: &'t [Range<u32>],
        order: &'t [u32],
        trace: Trace,
        scratch: &mut u64,
    ) -> impl IndexedParallelIterator<Item = Task> + 't {
        let room = |group: &[u32]| {
            let first = *scratch;
            let longest = windows[group[0] as usize].query_end;
            *scratch += u64::from(longest) * u64::from(trace.words());
            first as u32
        };
        let groups: Vec<u32> = order.chunks(trace.windows()).map(room).collect();
        let task = move |(place, &window): (usize, &u32)| {
            let task = self.task(&windows[window as usize], places[window as usize].clone());
            Task { directions: groups[place / trace.windows()], ..task }
        };
        order.par_iter().enumerate().with_min_len(WINDOWS).map(task)
    }
}

impl Gpu {
    /// The paths of the windows whose bands are narrow enough, and of those whose directions have room on the device.
    pub(super) fn trace_windows(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let mut paths = Paths::none(windows.len());
        if windows.is_empty() {
            return Ok(paths);
        }
        if let Substitution::Equal { .. } = batch.scoring.substitution {
            paths = self.trace_narrow(batch, windows)?;
        }
        let fits = |&place: &u32| {
            let window = &windows[place as usize];
            let steps = u64::from(window.query_end) + u64::from(window.cols());
            let is_long = steps > MOST_STEPS || window.direction_bytes() > MOST_WALKED;
            let is_empty = window.query_end == 0 || window.cols() == 0;
            !is_long && !is_empty && paths.runs(place as usize).is_none()
        };
        let places: Vec<u32> = (0..windows.len() as u32).into_par_iter().filter(fits).collect();
        let wide: Vec<Window> = places.iter().map(|&place| windows[place as usize]).collect();
        self.fill_and_walk(batch, (&wide, &places), &mut paths)?;
        Ok(paths)
    }

    /// The paths of the windows whose bands are narrow.
    fn trace_narrow(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        let variant = Variant::tracing();
        let plan = Plan::new(batch, windows, variant);
        if plan.sizes.iter().all(|size| size.kind().is_none()) {
            return Ok(Paths::none(windows.len()));
        }
        let residues = span(batch, windows, |window| (window.target, window.start..window.target_end));
        let inputs = self.inputs(batch, residues)?;
        let mut done = 0;
        let next = |_| {
            let range = plan.range(done)?;
            done = range.end;
            Some(plan.job(range))
        };
        let mut paths = Paths::default();
        let take = |answer: Answer, places: Vec<Range<u32>>| paths.push(Box::new(answer.output), places);
        self.run_all(batch, &inputs, next, take)?;
        Ok(paths)
    }
}
