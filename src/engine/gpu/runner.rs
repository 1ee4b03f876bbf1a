//! Runs jobs: manages their buffers on the device, and reads their results.
//!
//! Two jobs can be in flight: while the device runs one, the host prepares the next or reads the previous one.

use crate::engine::carry::{CARRY_BYTES, EdgeSlice, GAP_BYTES};
use crate::engine::gpu::bindings::{KernelBuffer, kernel_buffers};
use crate::engine::gpu::job::{Chain, Dispatch, Job};
use crate::engine::gpu::pipeline::Pipelines;
use crate::engine::gpu::resident::Resident;
use crate::engine::{Carry, Edge};
use crate::gpu::buffers::Grown;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{
    Arrival, Clock, Departure, Launch, Readback, Runtime, Stamps, Stopwatch, Submission, SubmissionLoad, bind,
};
use crate::terms::casts::to_usize;
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use crate::terms::system::Instant;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use wgpu::BufferUsages;

/// Maximum number of dispatches of one job in a submission: the device works on these while the next are recorded.
const MOST_DISPATCHES: usize = 64;

/// Maximum number of edge values that are written at once if some enter: 8 MiB.
const MOST_WRITTEN: u64 = 1 << 20;

/// The result of a job.
pub struct JobResult {
    pub output: Readback,
    /// Byte ranges of the edge values that it left, and of their gaps of further pieces.
    leaving: Vec<Range<usize>>,
    further_gaps: Vec<Range<usize>>,
}

impl JobResult {
    /// The edge values that it left, in order. They may be many, so they are read in place.
    pub fn leaving(&self) -> impl Iterator<Item = EdgeSlice<'_>> {
        let further = |place: usize| match self.further_gaps.get(place) {
            Some(range) => bytemuck::cast_slice(self.output.behind(range.clone())),
            None => &[],
        };
        let slice = move |(place, range): (usize, &Range<usize>)| EdgeSlice {
            carries: bytemuck::cast_slice(self.output.behind(range.clone())),
            further: further(place),
        };
        self.leaving.iter().enumerate().map(slice)
    }
}

/// A job in flight.
pub struct JobUnderWay {
    output: u64,
    leaving: Vec<Range<u64>>,
    further_pieces: usize,
    begun: Instant,
    /// `None` if there was nothing to do.
    arrival: Option<Arrival>,
    /// The load of the submission, if this job is the first of it.
    led: Option<Arc<SubmissionLoad>>,
}

/// The sequences and scores that tasks refer to, on the device.
pub struct JobInputs {
    pub queries: wgpu::Buffer,
    /// Held as long as work on them may be submitted. After that, their buffer may be reused.
    pub targets: Arc<Resident>,
    /// Present only with a matrix.
    pub scores: Option<wgpu::Buffer>,
    /// Present only for searches of a database.
    pub database: Option<DatabaseInputs>,
    /// The scoring of the kernels. If no residue is ambiguous, ambiguous residues cost a mismatch in it, so that kernels
    /// need not tell them apart.
    pub scoring: Scoring,
}

/// Additional inputs of the kernels for databases.
pub struct DatabaseInputs {
    /// The records of the targets.
    pub places: wgpu::Buffer,
    /// Buffer for the edges between strips.
    pub edges: wgpu::Buffer,
}

/// References that running a batch's jobs needs.
#[derive(Clone, Copy)]
pub struct Kit<'a> {
    pub runtime: &'a Runtime,
    pub pipelines: &'a Pipelines,
    pub inputs: &'a JobInputs,
}

/// The device's memory for a job, reused by later jobs.
struct JobMemory {
    tasks: Grown,
    edges: Grown,
    further_gaps: Grown,
    output: Grown,
    stamps: Stamps,
}

/// The buffers of one job.
struct JobBuffers {
    tasks: wgpu::Buffer,
    edges: wgpu::Buffer,
    further_gaps: wgpu::Buffer,
    output: wgpu::Buffer,
    scratch: wgpu::Buffer,
    chain: wgpu::Buffer,
}

/// Runs jobs of about the size that suits the device.
pub struct Runner {
    slots: [JobMemory; 2],
    scratch: Grown,
    chain: Grown,
    next: usize,
    /// Time of the submissions that this runner's jobs led.
    stopwatch: Stopwatch,
    last_finish: Instant,
}

impl JobMemory {
    fn new(device: &GpuDevice) -> JobMemory {
        use BufferUsages as Use;
        JobMemory {
            tasks: Grown::new("tasks", Use::STORAGE | Use::COPY_DST),
            edges: Grown::new("edges", Use::STORAGE | Use::COPY_DST | Use::COPY_SRC),
            further_gaps: Grown::new("gaps at edges", Use::STORAGE | Use::COPY_DST | Use::COPY_SRC),
            output: Grown::new("output", Use::STORAGE | Use::COPY_SRC),
            stamps: Stamps::new(device),
        }
    }
}

impl Runner {
    pub fn new(device: &GpuDevice) -> Runner {
        Runner {
            slots: [JobMemory::new(device), JobMemory::new(device)],
            // One is enough: of jobs that write to the same memory, none begins before the previous one is done.
            scratch: Grown::new("scratch", BufferUsages::STORAGE),
            chain: Grown::new("chain", BufferUsages::STORAGE | BufferUsages::COPY_DST),
            next: 0,
            stopwatch: Stopwatch::default(),
            last_finish: Instant::now(),
        }
    }

    /// Kernel time so far by the device's clock.
    pub fn kernel_time(&self) -> Duration {
        self.stopwatch.total()
    }

    /// Starts a job. At most one other job may be in flight, the previous one.
    pub fn begin(&mut self, kit: Kit, job: &Job) -> Result<JobUnderWay, EngineError> {
        let Kit { runtime, .. } = kit;
        let begun = Instant::now();
        let (output, leaving, further_pieces) = (job.output, job.leaving.clone(), job.further_pieces());
        if job.dispatches.is_empty() {
            let leaving = Vec::new();
            return Ok(JobUnderWay { output, leaving, further_pieces, begun, arrival: None, led: None });
        }
        let buffers = self.buffers(&runtime.device, job)?;
        let transfers = job.transfers(&buffers.output, &buffers.edges, &buffers.further_gaps);
        let (departure, arrival) = runtime.expect(transfers)?;
        let (firsts, words) = job.places();
        runtime.upload(&buffers.tasks, 0..words, |range, copied| job.copy_words(&firsts, range, copied))?;
        job.chain.iter().for_each(|chain| buffers.write_chain(runtime, chain));
        buffers.write_edges(runtime, job);
        let launch = |(number, dispatch): (usize, &Dispatch)| {
            let tasks = match dispatch.variant.is_chained() {
                true => 0..words,
                false => firsts[number]..firsts[number] + dispatch.tasks.len(),
            };
            buffers.launch(kit, dispatch, tasks)
        };
        let launches = job.dispatches.iter().enumerate().map(launch);
        let clock = self.slots[self.next].stamps.clock(&runtime.device)?;
        let most = 2 * runtime.pace.cells();
        let led = match fits_one_submission(job, most) {
            true => {
                let launches = launches.collect::<Result<Vec<Launch>, EngineError>>()?;
                runtime.join(&launches, departure, job.cells, clock)?
            }
            false => submit_in_parts(runtime, job, launches, departure, clock, most)?,
        };
        runtime.device.check()?;
        self.next = 1 - self.next;
        Ok(JobUnderWay { output, leaving, further_pieces, begun, arrival: Some(arrival), led })
    }

    /// The buffers of the next job, with room for it.
    fn buffers(&mut self, device: &GpuDevice, job: &Job) -> Result<JobBuffers, EngineError> {
        let slot = &mut self.slots[self.next];
        let (_, words) = job.places();
        let chain = job.chain.map_or(0, |chain| chain.bytes());
        let further_gaps = job.edges * job.further_pieces() as u64 * GAP_BYTES;
        Ok(JobBuffers {
            tasks: slot.tasks.with_room(device, words as u64 * 4)?.clone(),
            edges: slot.edges.with_room(device, job.edges * CARRY_BYTES)?.clone(),
            further_gaps: slot.further_gaps.with_room(device, further_gaps)?.clone(),
            output: slot.output.with_room(device, job.output)?.clone(),
            scratch: self.scratch.with_room(device, job.scratch * 4)?.clone(),
            chain: self.chain.with_room(device, chain)?.clone(),
        })
    }

    /// Waits for a job and reads its result.
    pub fn finish(&mut self, runtime: &Runtime, pending: JobUnderWay) -> Result<JobResult, EngineError> {
        let JobUnderWay { output: bytes, leaving, further_pieces, begun, arrival, led } = pending;
        let Some(arrival) = arrival else {
            let (leaving, further_gaps) = (Vec::new(), Vec::new());
            return Ok(JobResult { output: Readback::nothing(), leaving, further_gaps });
        };
        let (output, times) = runtime.wait_for(arrival)?;
        if let Some(load) = led {
            // Uses the device's clock if there is one, because other work may have run before the job.
            let kernel_time = self.stopwatch.add(runtime.device.tick, times);
            let now = Instant::now();
            let wall = now.duration_since(begun.max(self.last_finish));
            self.last_finish = now;
            let (cells, jobs) = load.size();
            runtime.pace.learn(cells, jobs, kernel_time.unwrap_or(wall));
        }
        let mut place = to_usize(bytes);
        let mut placed = |bytes: u64| -> Vec<Range<usize>> {
            let range = |range: &Range<u64>| {
                let first = place;
                place += to_usize((range.end - range.start) * bytes);
                first..place
            };
            leaving.iter().map(range).collect()
        };
        let carries = placed(CARRY_BYTES);
        let further_gaps = match further_pieces as u64 * GAP_BYTES {
            0 => Vec::new(),
            bytes => placed(bytes),
        };
        Ok(JobResult { output: output.cut(to_usize(bytes)), leaving: carries, further_gaps })
    }
}

impl JobBuffers {
    /// Writes the initial state of chained strips.
    fn write_chain(&self, runtime: &Runtime, chain: &Chain) {
        runtime.clear(&self.chain, chain.bytes());
        runtime.device.queue.write_buffer(&self.chain, 0, bytemuck::cast_slice(&chain.head()));
    }

    /// Writes the edge values that tiles read first.
    fn write_edges(&self, runtime: &Runtime, job: &Job) {
        let pieces = 1 + job.further_pieces();
        let blank = Carry { h: job.blank, gap: job.blank };
        if job.edges == 0 {
        } else if job.edges <= MOST_WRITTEN && !job.entering.is_empty() {
            // A single write, because each separate write has a fixed cost.
            let mut all = Edge::filled(blank, to_usize(job.edges), pieces);
            job.entering.iter().for_each(|(place, edge)| all.put(to_usize(*place), edge));
            self.write_edge(runtime, 0, &all);
        } else {
            if job.blank == 0 {
                runtime.clear(&self.edges, job.edges * CARRY_BYTES);
                if pieces > 1 {
                    runtime.clear(&self.further_gaps, job.edges * (pieces as u64 - 1) * GAP_BYTES);
                }
            } else {
                let part = Edge::filled(blank, to_usize(job.edges.min(MOST_WRITTEN)), pieces);
                for first in (0..job.edges).step_by(to_usize(MOST_WRITTEN)) {
                    let len = to_usize((job.edges - first).min(MOST_WRITTEN));
                    self.write_edge(runtime, first, &part.cut(0..len));
                }
            }
            job.entering.iter().for_each(|(place, edge)| self.write_edge(runtime, *place, edge));
        }
    }

    /// Writes edge values from position `first` on.
    fn write_edge(&self, runtime: &Runtime, first: u64, edge: &Edge) {
        let queue = &runtime.device.queue;
        queue.write_buffer(&self.edges, first * CARRY_BYTES, bytemuck::cast_slice(&edge.carries));
        if !edge.further.is_empty() {
            let each = (edge.further.len() / edge.len()) as u64 * GAP_BYTES;
            queue.write_buffer(&self.further_gaps, first * each, bytemuck::cast_slice(&edge.further));
        }
    }

    /// Creates a dispatch. `tasks` is the range of its tasks among the words of its job; its table follows them.
    fn launch(&self, kit: Kit, dispatch: &Dispatch, tasks: Range<usize>) -> Result<Launch, EngineError> {
        let Kit { runtime: Runtime { device, .. }, pipelines, inputs } = kit;
        let pipeline = pipelines.get(device, dispatch.variant, &inputs.scoring)?;
        let words = |words: Range<usize>| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.tasks,
                offset: words.start as u64 * 4,
                size: wgpu::BufferSize::new(words.len() as u64 * 4),
            })
        };
        let table = tasks.end..tasks.end + dispatch.table.len();
        let database = inputs.database.as_ref().filter(|_| dispatch.variant.is_of_database());
        let resource = |kernel_buffer: KernelBuffer| {
            let buffer = match (kernel_buffer, database) {
                (KernelBuffer::Tasks, _) => return Ok((kernel_buffer.binding(), words(tasks.clone()))),
                (KernelBuffer::Table, None) => return Ok((kernel_buffer.binding(), words(table.clone()))),
                (KernelBuffer::Table, Some(database)) => &database.places,
                (KernelBuffer::Edges, Some(database)) => &database.edges,
                (KernelBuffer::Edges, None) => &self.edges,
                (KernelBuffer::Queries, _) => &inputs.queries,
                (KernelBuffer::Targets, _) => &inputs.targets.buffer,
                (KernelBuffer::Scores, _) => inputs
                    .scores
                    .as_ref()
                    .ok_or_else(|| EngineError::Unsupported("a profile kernel needs a matrix".to_string()))?,
                (KernelBuffer::Output, _) if !dispatch.into_scratch => &self.output,
                (KernelBuffer::Output | KernelBuffer::Scratch, _) => &self.scratch,
                (KernelBuffer::Chain, _) => &self.chain,
                (KernelBuffer::FurtherGaps, _) => &self.further_gaps,
            };
            Ok((kernel_buffer.binding(), buffer.as_entire_binding()))
        };
        let resources =
            kernel_buffers(dispatch.variant).map(resource).collect::<Result<Vec<_>, EngineError>>()?;
        let bindings = bind(device, &pipeline, resources)?;
        Ok(match dispatch.variant.is_of_database() {
            true => Launch::in_layers(&pipeline, &bindings, dispatch.groups, dispatch.layers),
            false => Launch::new(&pipeline, &bindings, dispatch.groups),
        })
    }
}

/// Whether a job can share a submission with others. It cannot if it needs several submissions or is chained, because
/// the chain buffer was cleared for this job alone.
fn fits_one_submission(job: &Job, most: u64) -> bool {
    job.chain.is_none() && job.dispatches.len() <= MOST_DISPATCHES && job.cells <= most
}

/// Submits a job while its launches are created, whenever there are about `most` cells.
fn submit_in_parts(
    runtime: &Runtime,
    job: &Job,
    mut launches: impl Iterator<Item = Result<Launch, EngineError>>,
    departure: Departure,
    clock: Option<Clock>,
    most: u64,
) -> Result<Option<Arc<SubmissionLoad>>, EngineError> {
    let mut submission = Submission::new(&runtime.device, clock);
    let (mut recorded, mut dispatches) = (0, 0);
    for dispatch in &job.dispatches {
        let much = recorded > 0 && recorded + dispatch.cells > most;
        if much || dispatches == MOST_DISPATCHES {
            submission.begin(&runtime.device);
            (recorded, dispatches) = (0, 0);
        }
        (recorded, dispatches) = (recorded + dispatch.cells, dispatches + 1);
        launches.next().transpose()?.iter().for_each(|launch| submission.launch(launch));
    }
    let led = submission.depart(departure, job.cells);
    runtime.submit_alone(submission)?;
    Ok(led)
}
