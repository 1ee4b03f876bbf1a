//! Jobs: dispatches that share one upload of tasks and one download of output.
//!
//! Two jobs can be under way: while the device runs one, the host prepares the next or reads the one
//! before.

use crate::engine::gpu::buffers::Grown;
use crate::engine::gpu::device::Device;
use crate::engine::gpu::layout::{CHAIN_HEAD, ROW_KEYS, TASK_ALIGNMENT, Task};
use crate::engine::gpu::pipeline::{Pipelines, bindings};
use crate::engine::gpu::readback::{Arriving, Output, Pool};
use crate::engine::gpu::resident::Resident;
use crate::engine::gpu::shader::Variant;
use crate::engine::gpu::submission::{
    Bound, Clock, Departure, Load, Submission, Submissions, TIMES, Transfer,
};
use crate::engine::gpu::upload::Staging;
use crate::error::EngineError;
use crate::scoring::Scoring;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Dispatches of one job in a submission, at most: the device is at work on these while the next are recorded.
const MOST_DISPATCHES: usize = 64;

/// Edge values that are written at once where some enter: 8 MiB.
const MOST_WRITTEN: u64 = 1 << 20;

/// Edge values: `[H, F]` or `[H, E]`.
pub type EdgeValues = Vec<[i32; 2]>;

/// Tasks of one variant that run side by side.
#[derive(Debug)]
pub struct Dispatch {
    variant: Variant,
    tasks: Vec<Task>,
    /// Workgroups.
    groups: u32,
    cells: u64,
    /// Whether what it leaves is for later dispatches alone.
    into_scratch: bool,
}

impl Dispatch {
    /// A dispatch of `tasks`, padded with empty ones.
    pub fn new(variant: Variant, mut tasks: Vec<Task>) -> Dispatch {
        let cells = tasks.iter().map(|task| u64::from(task.rows) * u64::from(task.cols)).sum();
        tasks.resize(tasks.len().next_multiple_of(TASK_ALIGNMENT), Task::default());
        let groups = (tasks.len() as u32).div_ceil(variant.pairs());
        Dispatch { variant, tasks, groups, cells, into_scratch: false }
    }

    /// A dispatch of tasks that have no cells of their own.
    pub fn without_cells(variant: Variant, tasks: Vec<Task>) -> Dispatch {
        Dispatch { cells: 0, ..Dispatch::new(variant, tasks) }
    }

    /// The same dispatch, whose output stays on the device.
    pub fn into_scratch(self) -> Dispatch {
        Dispatch { into_scratch: true, ..self }
    }

    /// The same dispatch in so many workgroups, whose kernel finds the tasks of each by itself.
    pub fn in_groups(self, groups: u32) -> Dispatch {
        Dispatch { groups, ..self }
    }
}

/// Work for the device.
#[derive(Debug, Default)]
pub struct Job {
    pub dispatches: Vec<Dispatch>,
    pub cells: u64,
    /// Bytes of output.
    pub output: u64,
    /// Words that kernels of this job leave for themselves.
    pub scratch: u64,
    /// Where strips are chained; their dispatches share all tasks, which are taken in order.
    pub chain: Option<Chain>,
    /// Edge values in all; they start as zeros but for `entering`.
    pub edges: u64,
    /// Edge values that tiles find: where they lie, and what they are.
    pub entering: Vec<(u64, EdgeValues)>,
    /// Edge values to read back.
    pub leaving: Vec<Range<u64>>,
}

impl Job {
    /// Adds a dispatch. A later one sees what an earlier one wrote.
    pub fn push(&mut self, dispatch: Dispatch) {
        self.cells += dispatch.cells;
        self.dispatches.push(dispatch);
    }

    /// Adds chained strips, each behind those that it waits for, in dispatches of about so many cells.
    pub fn push_chain(&mut self, variant: Variant, strips: impl Iterator<Item = Task>, cells: u64) {
        let (mut tasks, mut planned) = (Vec::new(), 0);
        for task in strips {
            planned += u64::from(task.rows) * u64::from(task.cols);
            tasks.push(task);
            if planned >= cells {
                self.push(Dispatch::new(variant, std::mem::take(&mut tasks)));
                planned = 0;
            }
        }
        if !tasks.is_empty() {
            self.push(Dispatch::new(variant, tasks));
        }
    }

    /// Where each dispatch's tasks begin among all, and how many there are.
    fn places(&self) -> (Vec<usize>, usize) {
        let mut tasks = 0;
        let first = |dispatch: &Dispatch| {
            let first = tasks;
            tasks += dispatch.tasks.len();
            first
        };
        (self.dispatches.iter().map(first).collect(), tasks)
    }

    /// What goes to the host: the output, and behind it the edges that it is to leave.
    fn transfers(&self, output: &wgpu::Buffer, edges: &wgpu::Buffer) -> Vec<Transfer> {
        let mut transfers = vec![Transfer { from: output.clone(), start: 0, place: 0, bytes: self.output }];
        let mut place = self.output;
        // Those that lie one behind the other go together.
        for ranges in self.leaving.chunk_by(|a, b| a.end == b.start) {
            let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
            let bytes = (end - start) * 8;
            transfers.push(Transfer { from: edges.clone(), start: start * 8, place, bytes });
            place += bytes;
        }
        transfers.retain(|transfer| transfer.bytes > 0);
        transfers
    }

    /// Whether it can wait for others and go with them: not if it takes several submissions, nor if it is chained, since
    /// what the strips hand on was cleared for this job alone.
    fn fits_one_submission(&self, most: u64) -> bool {
        self.chain.is_none() && self.dispatches.len() <= MOST_DISPATCHES && self.cells <= most
    }

    /// Copies a range of the words of all tasks; `firsts` is where each dispatch's begin.
    fn copy_tasks(&self, firsts: &[usize], range: Range<usize>, copied: &mut [u32]) {
        const WORDS: usize = size_of::<Task>() / 4;
        let begun = firsts.partition_point(|first| first * WORDS <= range.start);
        let mut copied = &mut copied[..range.len()];
        let mut skipped = range.start - begun.checked_sub(1).map_or(0, |last| firsts[last] * WORDS);
        for dispatch in &self.dispatches[begun.saturating_sub(1)..] {
            let words: &[u32] = &bytemuck::cast_slice(&dispatch.tasks)[skipped..];
            let (here, behind) = copied.split_at_mut(words.len().min(copied.len()));
            here.copy_from_slice(&words[..here.len()]);
            (copied, skipped) = (behind, 0);
            if copied.is_empty() {
                break;
            }
        }
    }
}

/// What chained strips hand on.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// Columns of all grids side by side.
    pub cols: u32,
    /// Strips whose columns are kept at a time.
    slots: u32,
    /// How often a strip asks in vain.
    patience: u32,
    /// Columns from one vertical line to the next, and edge values from those of one to those of the next.
    lines: [u32; 2],
}

impl Chain {
    /// A chain of so many columns and at most so many strips one below the other.
    pub fn new(cols: u32, strips: u32, patience: u32) -> Chain {
        Chain { cols, slots: Chain::slots(strips), patience, lines: [0; 2] }
    }

    /// Slots for so many strips: what one holds when a dispatch begins has another mark than the strips that begin
    /// then, and one mark is that of nobody.
    pub fn slots(strips: u32) -> u32 {
        strips.div_ceil(ROW_KEYS - 2).max(2)
    }

    /// The same, whose strips leave edge values on vertical lines.
    pub fn with_lines(self, side: u32, apart: u32) -> Chain {
        Chain { lines: [side, apart], ..self }
    }

    fn bytes(&self) -> u64 {
        (u64::from(CHAIN_HEAD) + u64::from(self.cols) * u64::from(self.slots) * 2) * 4
    }

    /// The words in front.
    fn head(&self) -> [u32; CHAIN_HEAD as usize] {
        [0, self.patience, self.slots, self.cols, self.lines[0], self.lines[1]]
    }
}

/// What a job gave.
pub struct Answer {
    pub output: Output,
    /// Where the edge values lie that it was to leave, in bytes.
    leaving: Vec<Range<usize>>,
}

impl Answer {
    /// The edge values that it was to leave, in their order: they may be many, so they are read in place.
    pub fn leaving(&self) -> impl Iterator<Item = &[[i32; 2]]> {
        self.leaving.iter().map(|range| bytemuck::cast_slice(self.output.behind(range.clone())))
    }
}

/// A job under way.
pub struct Pending {
    output: u64,
    leaving: Vec<Range<u64>>,
    begun: Instant,
    /// `None` where there was nothing to do.
    arriving: Option<Arriving>,
    /// All jobs submitted together, where this is the first of them.
    led: Option<Arc<Load>>,
}

/// The sequences and scores that tasks refer to, on the device.
pub struct Inputs {
    pub queries: wgpu::Buffer,
    /// Held as long as work on them may be submitted: then their buffer may take others.
    pub targets: Arc<Resident>,
    /// Only with a matrix.
    pub scores: Option<wgpu::Buffer>,
}

struct Slot {
    tasks: Grown,
    edges: Grown,
    output: Grown,
    stamps: Grown,
    times: Option<wgpu::QuerySet>,
}

/// Runs jobs of about the size that suits the device.
pub struct Runner {
    slots: [Slot; 2],
    scratch: Grown,
    chain: Grown,
    staging: Staging,
    pool: Arc<Pool>,
    next: usize,
    submissions: Arc<Submissions>,
    /// Time by the device's own clock, where it has one, of the submissions that this one's jobs led.
    pub kernel_time: Duration,
    last_finish: Instant,
}

impl Slot {
    fn new(device: &Device) -> Slot {
        use wgpu::BufferUsages as Use;
        let times = device.tick.map(|_| {
            let descriptor =
                wgpu::QuerySetDescriptor { label: Some("times"), ty: wgpu::QueryType::Timestamp, count: 2 };
            device.device.create_query_set(&descriptor)
        });
        Slot {
            tasks: Grown::new("tasks", Use::STORAGE | Use::COPY_DST),
            edges: Grown::new("edges", Use::STORAGE | Use::COPY_DST | Use::COPY_SRC),
            output: Grown::new("output", Use::STORAGE | Use::COPY_SRC),
            stamps: Grown::new("stamps", Use::QUERY_RESOLVE | Use::COPY_SRC),
            times,
        }
    }
}

impl Runner {
    /// With what all engines of a device share.
    pub fn new(
        device: &Device,
        staging: Staging,
        (pool, submissions): (Arc<Pool>, Arc<Submissions>),
    ) -> Runner {
        Runner {
            slots: [Slot::new(device), Slot::new(device)],
            // One is enough: of jobs that write to the same memory none begins before the other is done.
            scratch: Grown::new("scratch", wgpu::BufferUsages::STORAGE),
            chain: Grown::new("chain", wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST),
            staging,
            pool,
            next: 0,
            submissions,
            kernel_time: Duration::ZERO,
            last_finish: Instant::now(),
        }
    }

    /// Cells that a job should have.
    pub fn cells(&self) -> u64 {
        self.submissions.pace.cells()
    }

    /// Starts a job. At most one other may be under way, the one begun before.
    pub fn begin(
        &mut self,
        device: &Device,
        pipelines: &Pipelines,
        inputs: &Inputs,
        scoring: &Scoring,
        job: &Job,
    ) -> Result<Pending, EngineError> {
        let begun = Instant::now();
        if job.dispatches.is_empty() {
            return Ok(Pending { output: 0, leaving: Vec::new(), begun, arriving: None, led: None });
        }
        let index = self.next;
        let slot = &mut self.slots[index];
        let edge_bytes: u64 = job.leaving.iter().map(|range| (range.end - range.start) * 8).sum();
        let (firsts, all_tasks) = job.places();
        let task_bytes = all_tasks * size_of::<Task>();
        let tasks = slot.tasks.with_room(device, task_bytes as u64)?;
        let edges = slot.edges.with_room(device, job.edges * 8)?;
        let output = slot.output.with_room(device, job.output)?;
        let scratch = self.scratch.with_room(device, job.scratch * 4)?;
        let chain = self.chain.with_room(device, job.chain.map_or(0, |chain| chain.bytes()))?;
        let times_at = (job.output + edge_bytes).next_multiple_of(256);
        let readback = self.pool.take(device, times_at + TIMES)?;
        let copy = |range, copied: &mut [u32]| job.copy_tasks(&firsts, range, copied);
        self.staging.upload(device, tasks, 0..task_bytes / 4, copy)?;

        if let Some(handed) = job.chain {
            clear(device, chain, handed.bytes());
            device.queue.write_buffer(chain, 0, bytemuck::cast_slice(&handed.head()));
        }
        if job.edges > 0 && job.edges <= MOST_WRITTEN && !job.entering.is_empty() {
            // In one go: each piece that is written by itself takes its time.
            let mut all = vec![[0; 2]; job.edges as usize];
            for (place, values) in &job.entering {
                all[*place as usize..][..values.len()].copy_from_slice(values);
            }
            device.queue.write_buffer(edges, 0, bytemuck::cast_slice(&all));
        } else if job.edges > 0 {
            clear(device, edges, job.edges * 8);
            for (place, values) in &job.entering {
                device.queue.write_buffer(edges, place * 8, bytemuck::cast_slice(values));
            }
        }
        let bound = |(number, dispatch): (usize, &Dispatch)| {
            let pipeline = pipelines.get(device, dispatch.variant, scoring)?;
            let bound = match dispatch.variant.chained {
                true => (dispatch, 0..all_tasks),
                false => (dispatch, firsts[number]..firsts[number] + dispatch.tasks.len()),
            };
            let bindings = bind(device, &pipeline, bound, inputs, [tasks, edges, output, scratch, chain])?;
            Ok(Bound { pipeline, bindings, groups: dispatch.groups })
        };
        let mut dispatches = job.dispatches.iter().enumerate().map(bound);
        let (expected, arriving) = Arriving::later(readback, times_at + TIMES);
        let transfers = job.transfers(output, edges);
        let departure = Departure { transfers, times_at, cells: job.cells, expected };
        let clock = match &slot.times {
            Some(times) => {
                let stamps = slot.stamps.with_room(device, TIMES)?.clone();
                Some(Clock { times: times.clone(), stamps })
            }
            None => None,
        };
        let most = 2 * self.submissions.pace.cells();
        let led = if job.fits_one_submission(most) {
            let dispatches = dispatches.collect::<Result<Vec<Bound>, EngineError>>()?;
            self.submissions.join(device, &dispatches, departure, clock)?
        } else {
            let mut submission = Submission::new(device, clock);
            let (mut recorded, mut submitted) = (0, 0);
            for (number, dispatch) in job.dispatches.iter().enumerate() {
                let much = recorded > 0 && recorded + dispatch.cells > most;
                if much || number - submitted == MOST_DISPATCHES {
                    submission.begin(device);
                    (recorded, submitted) = (0, number);
                }
                recorded += dispatch.cells;
                dispatches.next().transpose()?.iter().for_each(|bound| submission.record(bound));
            }
            let led = submission.depart(departure);
            self.submissions.submit_alone(device, submission)?;
            led
        };
        device.check()?;
        self.next = 1 - self.next;
        let (leaving, output) = (job.leaving.clone(), job.output);
        Ok(Pending { output, leaving, begun, arriving: Some(arriving), led })
    }

    /// Waits for a job and reads what it gave.
    pub fn finish(&mut self, device: &Device, pending: Pending) -> Result<Answer, EngineError> {
        let Some(arriving) = pending.arriving else {
            return Ok(Answer { output: Output::nothing(), leaving: Vec::new() });
        };
        let (view, readback) = arriving.arrive_while(device, || self.submissions.go_on(device))?;
        let edge_bytes: u64 = pending.leaving.iter().map(|range| (range.end - range.start) * 8).sum();
        let times_at = (pending.output + edge_bytes).next_multiple_of(256);
        let mut place = pending.output as usize;
        let placed = |range: &Range<u64>| {
            let first = place;
            place += (range.end - range.start) as usize * 8;
            first..place
        };
        let leaving = pending.leaving.iter().map(placed).collect();
        if let Some(load) = pending.led {
            let times: Vec<u64> = bytemuck::pod_collect_to_vec(&view[times_at as usize..]);
            // The device runs one submission behind the other.
            let ticks = times[1].saturating_sub(times[0]);
            let tick = device.tick.filter(|_| ticks > 0);
            let took = tick.map(|tick| Duration::from_nanos((ticks as f64 * f64::from(tick)) as u64));
            self.learn(load.size(), pending.begun, took);
        }
        let pool = Arc::clone(&self.pool);
        let output = Output::new(view, pending.output as usize, readback, pool);
        Ok(Answer { output, leaving })
    }

    /// Sizes the next submissions by what the last took: on the device, where its clock tells, since
    /// others may have been at work before it.
    fn learn(&mut self, size: (u64, u64), begun: Instant, kernel_time: Option<Duration>) {
        let now = Instant::now();
        let wall = now.duration_since(begun.max(self.last_finish));
        self.last_finish = now;
        self.kernel_time += kernel_time.unwrap_or_default();
        self.submissions.pace.learn(size, kernel_time.unwrap_or(wall));
    }
}

/// Has the first `bytes` of a buffer cleared before anything that is submitted later.
fn clear(device: &Device, buffer: &wgpu::Buffer, bytes: u64) {
    let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.clear_buffer(buffer, 0, Some(bytes));
    device.queue.submit([encoder.finish()]);
}

fn bind(
    device: &Device,
    pipeline: &wgpu::ComputePipeline,
    (dispatch, bound): (&Dispatch, Range<usize>),
    inputs: &Inputs,
    [tasks, edges, output, scratch, chain]: [&wgpu::Buffer; 5],
) -> Result<wgpu::BindGroup, EngineError> {
    let size = |tasks: usize| (tasks * size_of::<Task>()) as u64;
    let task_binding = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: tasks,
        offset: size(bound.start),
        size: wgpu::BufferSize::new(size(bound.len())),
    });
    let mut entries = Vec::new();
    for (binding, _) in bindings(dispatch.variant) {
        let resource = match (binding, &inputs.scores) {
            (0, _) => task_binding.clone(),
            (1, _) => inputs.queries.as_entire_binding(),
            (2, _) => inputs.targets.buffer.as_entire_binding(),
            (3, _) => edges.as_entire_binding(),
            (4, Some(scores)) => scores.as_entire_binding(),
            (4, None) => return Err(EngineError::Unsupported("a profile kernel needs a matrix".to_string())),
            (6, _) => scratch.as_entire_binding(),
            (5, _) if dispatch.into_scratch => scratch.as_entire_binding(),
            (7, _) => chain.as_entire_binding(),
            _ => output.as_entire_binding(),
        };
        entries.push(wgpu::BindGroupEntry { binding, resource });
    }
    let layout = pipeline.get_bind_group_layout(0);
    device.guard("bind group", |gpu| {
        gpu.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu::shader::{Kernel, Scores};

    /// Strips of one slot that can be there at a time, those left by the dispatch before among them, have marks
    /// of their own.
    #[test]
    fn strips_of_a_chain_can_be_told_apart() {
        for strips in (1..200).chain([781, 782, 1023, 2048]) {
            let slots = Chain::slots(strips);
            assert!(slots >= 2, "a strip must not overwrite what the next one reads");
            for first in [slots, strips.max(slots), 5 * strips + slots] {
                let seen: std::collections::HashSet<(u32, u32)> = (first - slots..first + strips)
                    .map(|strip| (strip % slots, strip / slots % (ROW_KEYS - 1)))
                    .collect();
                assert_eq!(seen.len() as u32, slots + strips, "{strips} strips from {first}");
            }
        }
    }

    #[test]
    fn tasks_are_copied_from_all_dispatches() {
        let variant = Variant::thin(Kernel::Score, Scores::Packed);
        let mut job = Job::default();
        let mut expected: Vec<Task> = Vec::new();
        for count in [0, 1, 64, 0, 65, 3] {
            let task = |place: u32| Task { query: place + 1, stored: count, ..Task::default() };
            let tasks: Vec<Task> = (0..count).map(task).collect();
            expected.extend(&tasks);
            expected.resize(expected.len().next_multiple_of(TASK_ALIGNMENT), Task::default());
            job.push(Dispatch::new(variant, tasks));
        }
        let (firsts, tasks) = job.places();
        assert_eq!((firsts.as_slice(), tasks), (&[0, 0, 64, 128, 128, 256][..], expected.len()));
        let expected: &[u32] = bytemuck::cast_slice(&expected);
        for len in [1, 12, 100, 1024, expected.len()] {
            for start in (0..expected.len()).step_by(len) {
                let range = start..expected.len().min(start + len);
                let mut copied = vec![7; range.len()];
                job.copy_tasks(&firsts, range.clone(), &mut copied);
                assert_eq!(copied, expected[range.clone()], "{range:?}");
            }
        }
        Job::default().copy_tasks(&[], 0..0, &mut []);
    }
}
