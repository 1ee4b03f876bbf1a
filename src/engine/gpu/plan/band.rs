//! Windows with narrow bands, which one kernel fills and traces back.

use crate::engine::Window;
use crate::engine::directions::cells_per_word;
use crate::engine::gpu::job::{Dispatch, Job};
use crate::engine::gpu::layout::{TASK_ALIGNMENT, THREADS};
use crate::engine::gpu::plan::traceback::path_words;
use crate::engine::gpu::plan::{fitting, window_span};
use crate::engine::gpu::tasks::{BandGroups, BandTask};
use crate::engine::gpu::variant::{TRACES, TraceLanes, Variant};
use crate::terms::batch::{Batch, counting_sort_descending};
use crate::terms::bounds::{Band, band_of_whole};
use crate::terms::casts::{to_i32, to_u32, to_u64};
use crate::terms::scoring::{AlignmentMode, Scoring};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of direction words of a job: 256 MiB, which never leave the device.
const JOB_WORDS: u64 = 1 << 26;
/// Maximum number of rows of a window: with more, one thread takes too long.
const MOST_ROWS: u32 = 1 << 12;
/// Number of sort keys for the windows of one lane kind, which are sorted by rows.
const KEYS_PER_KIND: u32 = MOST_ROWS + 1;
/// Minimum number of windows per piece of parallel work.
const WINDOWS: usize = 1 << 10;
/// Maximum number of windows of a job.
const JOB_WINDOWS: u64 = 1 << 18;

/// Maximum offset that is added to values, which grows by the cost of a gap's residue in every row and column.
const MOST_HEIGHT: u64 = 1 << 29;

/// The windows that can be traced, by the width of their bands.
pub struct BandPlan<'a> {
    batch: &'a Batch,
    windows: &'a [Window],
    /// Size of each window.
    sizes: Vec<BandSize>,
}

/// Resources that a window needs.
#[derive(Clone, Copy)]
struct BandSize {
    /// Sort key of a window: its lane kind, then its rows; 0 if it can't be traced.
    key: u32,
    /// Maximum number of words of the path.
    path: u32,
    /// Cells of the band on the left of the last cell.
    deletions: u32,
}

impl BandSize {
    fn of(batch: &Batch, window: &Window) -> BandSize {
        let (scoring, mut band) = (&*batch.scoring, window.band);
        if scoring.mode.begins_in_corner() {
            let query = &batch.query(window.query)[..window.query_end as usize];
            band = band_of_whole(query, window.cols(), band, scoring);
        }
        match kind(window, band, scoring) {
            None => BandSize { key: 0, path: 0, deletions: 0 },
            Some(kind) => BandSize {
                key: (to_u32(kind) + 1) * KEYS_PER_KIND + window.query_end,
                path: path_words(window, scoring),
                deletions: band.deletions,
            },
        }
    }

    /// The kind of lanes that trace it.
    fn kind(&self) -> Option<usize> {
        (self.key / KEYS_PER_KIND).checked_sub(1).map(|kind| kind as usize)
    }

    /// Number of direction words.
    fn words(&self, pieces: usize) -> u64 {
        let words = |kind: usize| u64::from(TRACES[kind].width() / cells_per_word(pieces));
        self.kind().map_or(0, |kind| u64::from(self.key % KEYS_PER_KIND) * words(kind))
    }
}

/// The kind of lanes that trace a window whose path stays inside `band`.
fn kind(window: &Window, band: Band, scoring: &Scoring) -> Option<usize> {
    let width = u64::from(band.deletions) + u64::from(band.insertions) + 1;
    let height = (2 * u64::from(window.query_end) + width) * to_u64(scoring.gap_extend);
    let fits = (1..=MOST_ROWS).contains(&window.query_end)
        && window.target_end > window.start
        && height <= MOST_HEIGHT
        && holds_borders(window, band, scoring.mode);
    let held = || TRACES.iter().position(|trace| u64::from(trace.width()) >= width);
    if fits { held() } else { None }
}

/// Whether the kernel knows the borders that a window's band reaches.
fn holds_borders(window: &Window, band: Band, mode: AlignmentMode) -> bool {
    let (rows, cols) = (window.query_end, window.cols());
    // If the path begins in the corner, the band has it.
    let has_corner =
        || cols <= rows.saturating_add(band.deletions) && rows <= cols.saturating_add(band.insertions);
    // Inside a target, the border on the left is not free.
    let is_left_free = || window.start == 0 || cols >= rows.saturating_add(band.deletions);
    (!mode.begins_in_corner() || has_corner()) && (!mode.begins_at_either_start() || is_left_free())
}

impl BandPlan<'_> {
    pub fn new<'a>(batch: &'a Batch, windows: &'a [Window]) -> BandPlan<'a> {
        let mut sizes = Vec::new();
        let size = |window| BandSize::of(batch, window);
        windows.par_iter().with_min_len(WINDOWS).map(size).collect_into_vec(&mut sizes);
        BandPlan { batch, windows, sizes }
    }

    /// Whether none of the windows can be traced.
    pub fn is_empty(&self) -> bool {
        self.sizes.iter().all(|size| size.kind().is_none())
    }

    /// The windows of a job, from `first` on.
    pub fn range(&self, first: usize) -> Option<Range<usize>> {
        let rest = self.sizes.get(first..).filter(|rest| !rest.is_empty())?;
        let pieces = self.pieces();
        Some(first..first + fitting(rest, [JOB_WORDS, JOB_WINDOWS], |size| [size.words(pieces), 1]))
    }

    /// Number of pieces of the gap costs.
    fn pieces(&self) -> usize {
        self.batch.scoring.gaps().count()
    }

    fn task(&self, window: &Window, deletions: u32, path: Range<u32>) -> BandTask {
        BandTask {
            span: window_span(self.batch, window),
            path: path.start,
            path_words: path.end - path.start,
            directions: 0,
            first_col: to_i32(window.cols()) - to_i32(window.query_end) - to_i32(deletions),
            last: deletions,
        }
    }

    /// A job for a range of windows, and the word range of each path; empty if there is none.
    pub fn job(&self, range: Range<usize>) -> (Job, Vec<Range<u32>>) {
        let (windows, sizes) = (&self.windows[range.clone()], &self.sizes[range]);
        let mut end = 0;
        let place = |size: &BandSize| {
            let first = end;
            end += size.path;
            first..end
        };
        let places: Vec<Range<u32>> = sizes.iter().map(place).collect();
        let mut job = Job { output: u64::from(end) * 4, ..Job::default() };
        let keys: Vec<u32> = sizes.iter().map(|size| size.key).collect();
        let order = counting_sort_descending(&keys, KEYS_PER_KIND * (to_u32(TRACES.len()) + 1));
        let mut tasks = Vec::with_capacity(order.len() + TRACES.len() * THREADS as usize + TASK_ALIGNMENT);
        let mut kinds = vec![BandGroups::default(); TRACES.len()];
        let kind = |place: u32| sizes[place as usize].kind();
        for same in order.chunk_by(|a, b| kind(*a) == kind(*b)) {
            if let Some(kind) = kind(same[0]) {
                let trace = TRACES[kind];
                let groups = same.len().div_ceil(trace.windows());
                kinds[kind].groups = to_u32(groups);
                let end = tasks.len() + groups * trace.windows();
                tasks.par_extend(self.tasks(windows, sizes, &places, same, trace, &mut job.scratch));
                tasks.resize(end, BandTask::default());
            }
        }
        let groups: u32 = kinds.iter().map(|kind| kind.groups).sum();
        if groups > 0 {
            let trace = Variant::Trace { mode: self.batch.scoring.mode, pieces: self.pieces() };
            job.push(Dispatch::new(trace, tasks).with_table(kinds).in_groups(groups));
        }
        (job, places)
    }

    /// The tasks of the windows at `order`, which one lane kind traces, the longest first. Each workgroup gets room for
    /// its directions.
    fn tasks<'t>(
        &'t self,
        windows: &'t [Window],
        sizes: &'t [BandSize],
        places: &'t [Range<u32>],
        order: &'t [u32],
        trace: TraceLanes,
        scratch: &mut u64,
    ) -> impl IndexedParallelIterator<Item = BandTask> + 't {
        let words = trace.words(self.pieces());
        let room = |group: &[u32]| {
            let first = *scratch;
            let longest = windows[group[0] as usize].query_end;
            *scratch += u64::from(longest) * u64::from(words);
            to_u32(first)
        };
        let groups: Vec<u32> = order.chunks(trace.windows()).map(room).collect();
        let task = move |(place, &window): (usize, &u32)| {
            let deletions = sizes[window as usize].deletions;
            let task = self.task(&windows[window as usize], deletions, places[window as usize].clone());
            BandTask { directions: groups[place / trace.windows()], ..task }
        };
        order.par_iter().enumerate().with_min_len(WINDOWS).map(task)
    }
}
