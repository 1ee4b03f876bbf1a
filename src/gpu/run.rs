//! The runtime of a device, for alignment, search and grep: submissions, transfers to the host, and timing. Only this
//! module submits.
//!
//! A [`Submission`] consists of dispatches in passes, the transfers to the host after them, and two time stamps. The
//! device begins a submission when the previous one is done, and toward its end a kernel leaves more and more of the
//! device idle. Independent dispatches of one pass run concurrently if the device and its driver support that. So jobs
//! that arrive while the device has enough work are collected, and submitted together ([`Runtime::join`]).

mod pace;
mod readback;
mod upload;

pub use pace::{CellRange, Pace};
pub use readback::{Arrival, Departure, Readback, Transfer};

use crate::gpu::buffers::Grown;
use crate::gpu::device::GpuDevice;
use crate::terms::casts::whole_u64;
use crate::terms::error::EngineError;
use readback::Pool;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use upload::Staging;
use wgpu::BufferUsages;

/// Maximum number of workgroups of one dimension of a dispatch.
pub const MAX_GROUPS: u32 = 65_535;

/// Cells of alignment in a submission.
const ALIGNMENT: CellRange = CellRange { first: 1 << 28, least: 1 << 26, most: 1 << 40, growth: 4 };
/// Number of submissions in flight from which jobs are collected: the device runs one, and the next begins without the
/// host.
const UNDER_WAY: usize = 2;
/// Collected jobs have at most this many times the cells of a good submission, which is still far below the limit of a
/// watchdog.
const MERGED: u64 = 3;
/// Bytes of the two time stamps of a submission.
const TIMES: u64 = 16;

/// A kernel, its bindings, and its workgroups.
pub struct Launch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

impl Launch {
    /// A launch in `groups` workgroups, or a few more if they do not fit in one dimension.
    pub fn new(pipeline: &wgpu::ComputePipeline, bindings: &wgpu::BindGroup, groups: u32) -> Launch {
        // As few rows as possible, because a workgroup without tasks also takes time to begin and end.
        let rows = groups.div_ceil(MAX_GROUPS).max(1);
        Launch::in_groups(pipeline, bindings, [groups.div_ceil(rows), rows, 1])
    }

    /// A launch of `layers` layers, each in `groups` workgroups or a few more. The first workgroups of all layers begin
    /// first.
    pub fn in_layers(
        pipeline: &wgpu::ComputePipeline,
        bindings: &wgpu::BindGroup,
        groups: u32,
        layers: u32,
    ) -> Launch {
        // As few rows as possible, because a workgroup without tasks also takes time to begin and end.
        let rows = groups.div_ceil(MAX_GROUPS).max(1);
        Launch::in_groups(pipeline, bindings, [layers, groups.div_ceil(rows), rows])
    }

    pub fn in_groups(
        pipeline: &wgpu::ComputePipeline,
        bindings: &wgpu::BindGroup,
        groups: [u32; 3],
    ) -> Launch {
        Launch { pipeline: pipeline.clone(), bindings: bindings.clone(), groups }
    }
}

/// Binds buffers to the numbers of a kernel's bindings.
pub fn bind<'a>(
    device: &GpuDevice,
    pipeline: &wgpu::ComputePipeline,
    resources: impl IntoIterator<Item = (u32, wgpu::BindingResource<'a>)>,
) -> Result<wgpu::BindGroup, EngineError> {
    let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
    let entries: Vec<wgpu::BindGroupEntry> = resources.into_iter().map(entry).collect();
    let layout = pipeline.get_bind_group_layout(0);
    device.guard("bind group", |gpu| {
        gpu.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
    })
}

/// The query set that takes the time stamps of a submission, and the buffer that receives them.
#[derive(Clone)]
pub struct Clock {
    times: wgpu::QuerySet,
    stamps: wgpu::Buffer,
}

/// Total time of submissions by the device's own clock, if it has one. Time that two submissions of a stopwatch share
/// counts once.
#[derive(Default)]
pub struct Stopwatch {
    total: Duration,
    last_tick: u64,
}

impl Stopwatch {
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Adds a submission by its stamps, in ticks of `tick` nanoseconds. Returns its time if the device has a clock.
    pub fn add(&mut self, tick: Option<f32>, [begin, end]: [u64; 2]) -> Option<Duration> {
        // A submission may be stamped as begun while the previous one still runs.
        let ticks = end.saturating_sub(begin.max(self.last_tick));
        self.last_tick = end.max(self.last_tick);
        let tick = tick.filter(|_| ticks > 0)?;
        let took = Duration::from_nanos(whole_u64(ticks as f64 * f64::from(tick)));
        self.total += took;
        Some(took)
    }
}

/// Takes the time stamps of a slot's submissions, of which at most one is in flight.
pub struct Stamps {
    times: Option<wgpu::QuerySet>,
    stamps: Grown,
}

impl Stamps {
    pub fn new(device: &GpuDevice) -> Stamps {
        let times = device.tick.map(|_| {
            let descriptor =
                wgpu::QuerySetDescriptor { label: Some("times"), ty: wgpu::QueryType::Timestamp, count: 2 };
            device.device.create_query_set(&descriptor)
        });
        Stamps { times, stamps: Grown::new("stamps", BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC) }
    }

    /// Returns the clock, if the device has one.
    pub fn clock(&mut self, device: &GpuDevice) -> Result<Option<Clock>, EngineError> {
        let Some(times) = &self.times else { return Ok(None) };
        let stamps = self.stamps.with_room(device, TIMES)?.clone();
        Ok(Some(Clock { times: times.clone(), stamps }))
    }
}

/// Work for the device, in the order in which it is recorded. Consecutive launches form one pass, and no pass begins
/// before the previous one is complete.
pub struct Submission {
    encoder: wgpu::CommandEncoder,
    pass: Option<wgpu::ComputePass<'static>>,
    /// Clock of the first job, the leader.
    clock: Option<Clock>,
    /// Whether a pass has stamped its beginning.
    begun: bool,
    departures: Vec<Departure>,
    load: Arc<SubmissionLoad>,
}

/// The load of a submission.
#[derive(Default)]
pub struct SubmissionLoad {
    cells: AtomicU64,
    jobs: AtomicU64,
}

impl SubmissionLoad {
    /// Number of cells and of jobs.
    pub fn size(&self) -> (u64, u64) {
        (self.cells.load(Relaxed), self.jobs.load(Relaxed))
    }
}

impl Submission {
    pub fn new(device: &GpuDevice, clock: Option<Clock>) -> Submission {
        let encoder = encoder(device);
        Submission { encoder, pass: None, clock, begun: false, departures: Vec::new(), load: Arc::default() }
    }

    /// The encoder for commands that are not launches. Ends the pass, if one is open.
    fn commands(&mut self) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        &mut self.encoder
    }

    /// Clears the first `bytes` of a buffer.
    pub fn clear(&mut self, buffer: &wgpu::Buffer, bytes: u64) {
        self.commands().clear_buffer(buffer, 0, Some(bytes));
    }

    /// Copies the first `bytes` of a buffer to position `place` of another.
    pub fn copy(&mut self, from: &wgpu::Buffer, to: &wgpu::Buffer, place: u64, bytes: u64) {
        self.commands().copy_buffer_to_buffer(from, 0, to, place, bytes);
    }

    pub fn launch(&mut self, launch: &Launch) {
        let Submission { encoder, pass, clock, begun, .. } = self;
        let pass = pass.get_or_insert_with(|| {
            // Each pass stamps its end, and the last stamp remains.
            let timestamp_writes = clock.as_ref().map(|clock| wgpu::ComputePassTimestampWrites {
                query_set: &clock.times,
                beginning_of_pass_write_index: (!*begun).then_some(0),
                end_of_pass_write_index: Some(1),
            });
            *begun = true;
            let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
            encoder.begin_compute_pass(&descriptor).forget_lifetime()
        });
        pass.set_pipeline(&launch.pipeline);
        pass.set_bind_group(0, &launch.bindings, &[]);
        let [x, y, z] = launch.groups;
        pass.dispatch_workgroups(x, y, z);
    }

    /// Submits the commands recorded so far, so that the device can begin; the rest follows.
    pub fn begin(&mut self, device: &GpuDevice) {
        self.pass = None;
        let begun = std::mem::replace(&mut self.encoder, encoder(device));
        device.queue.submit([begun.finish()]);
    }

    /// Ends the recording of a job. Returns the load of the submission if the job is its leader.
    pub fn depart(&mut self, departure: Departure, cells: u64) -> Option<Arc<SubmissionLoad>> {
        self.load.cells.fetch_add(cells, Relaxed);
        let leads = self.load.jobs.fetch_add(1, Relaxed) == 0;
        self.departures.push(departure);
        leads.then(|| Arc::clone(&self.load))
    }

    /// Submits it.
    pub fn submit(self, device: &GpuDevice) {
        self.submit_then(device, || ());
    }

    /// Submits it, and calls `then` when all departures have arrived, which they do together.
    fn submit_then(self, device: &GpuDevice, then: impl FnOnce() + Send + 'static) {
        let Submission { mut encoder, pass, clock, begun, departures, .. } = self;
        drop(pass);
        if let (Some(Clock { times, stamps }), Some(leader)) = (clock.filter(|_| begun), departures.first()) {
            encoder.resolve_query_set(&times, 0..2, &stamps, 0);
            leader.record_stamps(&mut encoder, &stamps);
        }
        departures.iter().for_each(|departure| departure.record(&mut encoder));
        device.queue.submit([encoder.finish()]);
        let mut then = Some(then);
        for departure in departures {
            let then = then.take();
            departure.ask(move || then.into_iter().for_each(|then| then()));
        }
    }
}

fn encoder(device: &GpuDevice) -> wgpu::CommandEncoder {
    device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

/// State that all work on one device shares.
pub struct Runtime {
    pub device: GpuDevice,
    /// The number of alignment cells that a submission should have.
    pub pace: Pace,
    staging: Staging,
    pool: Arc<Pool>,
    waiting: Mutex<Option<Submission>>,
    under_way: Arc<AtomicUsize>,
}

impl Runtime {
    pub fn new(device: GpuDevice) -> Runtime {
        Runtime {
            device,
            pace: Pace::new(ALIGNMENT),
            staging: Staging::default(),
            pool: Arc::default(),
            waiting: Mutex::new(None),
            under_way: Arc::default(),
        }
    }

    /// Writes the words at `words` of `buffer`. `make` computes the words of a range of indices, on several threads.
    /// Work that is submitted later sees them.
    pub fn upload(
        &self,
        buffer: &wgpu::Buffer,
        words: Range<usize>,
        make: impl Fn(Range<usize>, &mut [u32]) + Sync,
    ) -> Result<(), EngineError> {
        self.staging.upload(&self.device, buffer, words, make)
    }

    /// Clears the first `bytes` of a buffer before all work that is submitted later.
    pub fn clear(&self, buffer: &wgpu::Buffer, bytes: u64) {
        let mut submission = Submission::new(&self.device, None);
        submission.clear(buffer, bytes);
        submission.submit(&self.device);
    }

    /// Reserves consecutive host memory for `transfers`.
    pub fn expect(&self, transfers: Vec<Transfer>) -> Result<(Departure, Arrival), EngineError> {
        Departure::new(&self.device, &self.pool, transfers)
    }

    /// Submits work that no other work waits for, followed by `transfers` to the host.
    pub fn submit_for(
        &self,
        mut submission: Submission,
        transfers: Vec<Transfer>,
    ) -> Result<Arrival, EngineError> {
        let (departure, arrival) = self.expect(transfers)?;
        submission.depart(departure, 0);
        submission.submit(&self.device);
        Ok(arrival)
    }

    /// Submits a job soon, together with others. Returns the load of the submission if the job is its leader.
    pub fn join(
        &self,
        launches: &[Launch],
        departure: Departure,
        cells: u64,
        clock: Option<Clock>,
    ) -> Result<Option<Arc<SubmissionLoad>>, EngineError> {
        let most = MERGED * self.pace.cells();
        let mut waiting = self.waiting.lock().map_err(|_| failed())?;
        let full = waiting.take_if(|waiting| waiting.load.size().0 + cells > most);
        let submission = waiting.get_or_insert_with(|| Submission::new(&self.device, clock));
        launches.iter().for_each(|launch| submission.launch(launch));
        let led = submission.depart(departure, cells);
        drop(waiting);
        full.into_iter().for_each(|full| self.submit(full));
        self.go_on()?;
        Ok(led)
    }

    /// Submits a job without waiting for others. Collected jobs are submitted first, so that they do not wait for it.
    pub fn submit_alone(&self, submission: Submission) -> Result<(), EngineError> {
        self.flush()?;
        self.submit(submission);
        Ok(())
    }

    /// Waits for a job. Meanwhile submits collected jobs when the device has little to do.
    pub fn wait_for(&self, arrival: Arrival) -> Result<(Readback, [u64; 2]), EngineError> {
        arrival.arrive(&self.device, || self.go_on())
    }

    /// Whether the device is working on jobs.
    pub fn is_busy(&self) -> bool {
        self.under_way.load(Relaxed) > 0
    }

    /// Submits collected jobs if the device has little to do.
    fn go_on(&self) -> Result<(), EngineError> {
        if self.under_way.load(Relaxed) < UNDER_WAY { self.flush() } else { Ok(()) }
    }

    /// Submits collected jobs.
    fn flush(&self) -> Result<(), EngineError> {
        let waiting = self.waiting.lock().map_err(|_| failed())?.take();
        waiting.into_iter().for_each(|submission| self.submit(submission));
        Ok(())
    }

    fn submit(&self, submission: Submission) {
        self.under_way.fetch_add(1, Relaxed);
        let under_way = Arc::clone(&self.under_way);
        submission.submit_then(&self.device, move || {
            under_way.fetch_sub(1, Relaxed);
        });
    }
}

fn failed() -> EngineError {
    EngineError::Lost("submitting work failed".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_two_submissions_share_counts_once() {
        let ns = Duration::from_nanos;
        let mut stopwatch = Stopwatch::default();
        assert_eq!(stopwatch.add(Some(2.0), [100, 150]), Some(ns(100)));
        assert_eq!(stopwatch.add(Some(2.0), [140, 160]), Some(ns(20)));
        assert_eq!(stopwatch.add(Some(2.0), [155, 160]), None);
        assert_eq!(stopwatch.add(None, [0, 0]), None);
        assert_eq!(stopwatch.total(), ns(120));
    }
}
