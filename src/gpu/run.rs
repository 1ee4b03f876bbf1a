//! The runtime of a device, for alignment, search and grep: submissions, the way back to the host, and time. Only
//! this module submits.
//!
//! A [`Submission`] is dispatches in passes, what goes to the host behind them, and two time stamps. The device begins a
//! submission when the one before is done, and a kernel leaves more and more of the device idle towards its end.
//! Dispatches of one pass that don't wait for one another run side by side, where the device and its driver can do so.
//! So jobs that come while the device has enough to do wait for each other, and are submitted together
//! ([`Runtime::join`]).

mod pace;
mod readback;

pub use pace::{CellRange, Pace};
pub use readback::{Arrival, Departure, Readback, Transfer};

use crate::gpu::buffers::Grown;
use crate::gpu::device::Device;
use crate::gpu::upload::Staging;
use crate::terms::casts::whole_u64;
use crate::terms::error::EngineError;
use readback::Pool;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wgpu::BufferUsages;

/// Maximum number of workgroups of one dimension of a dispatch.
pub const MAX_GROUPS: u32 = 65_535;

/// Cells of alignment in a submission.
const ALIGNMENT: CellRange = CellRange { first: 1 << 28, least: 1 << 26, most: 1 << 40, growth: 4 };
/// Submissions that are under way while jobs wait: the device runs one, and the next begins without the host.
const UNDER_WAY: usize = 2;
/// Jobs that wait for each other have at most this many times the cells of a good submission: still far from what a
/// watchdog minds.
const MERGED: u64 = 3;
/// Bytes of the two time stamps of a submission.
const TIMES: u64 = 16;

/// A kernel, what it works on, and its workgroups.
pub struct Launch {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

impl Launch {
    /// A launch in `groups` workgroups, or a few more where one dimension does not hold them.
    pub fn new(pipeline: &wgpu::ComputePipeline, bindings: &wgpu::BindGroup, groups: u32) -> Launch {
        // As few rows as there can be: a workgroup without tasks takes its time to begin and end, too.
        let rows = groups.div_ceil(MAX_GROUPS).max(1);
        Launch::in_groups(pipeline, bindings, [groups.div_ceil(rows), rows, 1])
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
    device: &Device,
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

/// Where the stamps of a submission are taken, and where they go.
#[derive(Clone)]
pub struct Clock {
    times: wgpu::QuerySet,
    stamps: wgpu::Buffer,
}

/// Time by the device's own clock, where it has one, of submissions that don't run side by side with another of the
/// same stopwatch.
#[derive(Default)]
pub struct Stopwatch {
    total: Duration,
    last_tick: u64,
}

impl Stopwatch {
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Adds a submission by its stamps, in ticks of `tick` nanoseconds; what it took, where the device has a clock.
    pub fn add(&mut self, tick: Option<f32>, [begin, end]: [u64; 2]) -> Option<Duration> {
        // A submission may be stamped as begun while the one before still runs.
        let ticks = end.saturating_sub(begin.max(self.last_tick));
        self.last_tick = end.max(self.last_tick);
        let tick = tick.filter(|_| ticks > 0)?;
        let took = Duration::from_nanos(whole_u64(ticks as f64 * f64::from(tick)));
        self.total += took;
        Some(took)
    }
}

/// What stamps the submissions of a slot, of which one is under way at a time.
pub struct Stamps {
    times: Option<wgpu::QuerySet>,
    stamps: Grown,
}

impl Stamps {
    pub fn new(device: &Device) -> Stamps {
        let times = device.tick.map(|_| {
            let descriptor =
                wgpu::QuerySetDescriptor { label: Some("times"), ty: wgpu::QueryType::Timestamp, count: 2 };
            device.device.create_query_set(&descriptor)
        });
        Stamps { times, stamps: Grown::new("stamps", BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC) }
    }

    /// The clock, where the device has one.
    pub fn clock(&mut self, device: &Device) -> Result<Option<Clock>, EngineError> {
        let Some(times) = &self.times else { return Ok(None) };
        let stamps = self.stamps.with_room(device, TIMES)?.clone();
        Ok(Some(Clock { times: times.clone(), stamps }))
    }
}

/// Work for the device, in the order in which it is recorded. Launches without anything between them are one pass, and
/// nothing is begun before all of an earlier pass is done.
pub struct Submission {
    encoder: wgpu::CommandEncoder,
    pass: Option<wgpu::ComputePass<'static>>,
    /// That of the first job, the leader.
    clock: Option<Clock>,
    /// Whether a pass has stamped its beginning.
    begun: bool,
    departures: Vec<Departure>,
    load: Arc<SubmissionLoad>,
}

/// What is in a submission.
#[derive(Default)]
pub struct SubmissionLoad {
    cells: AtomicU64,
    jobs: AtomicU64,
}

impl SubmissionLoad {
    /// Cells and jobs.
    pub fn size(&self) -> (u64, u64) {
        (self.cells.load(Relaxed), self.jobs.load(Relaxed))
    }
}

impl Submission {
    pub fn new(device: &Device, clock: Option<Clock>) -> Submission {
        let encoder = encoder(device);
        Submission { encoder, pass: None, clock, begun: false, departures: Vec::new(), load: Arc::default() }
    }

    /// Where commands go that are not launches: behind the pass, if one is open.
    fn commands(&mut self) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        &mut self.encoder
    }

    /// Clears the first `bytes` of a buffer.
    pub fn clear(&mut self, buffer: &wgpu::Buffer, bytes: u64) {
        self.commands().clear_buffer(buffer, 0, Some(bytes));
    }

    /// Copies the first `bytes` of a buffer to a place of another.
    pub fn copy(&mut self, from: &wgpu::Buffer, (to, place): (&wgpu::Buffer, u64), bytes: u64) {
        self.commands().copy_buffer_to_buffer(from, 0, to, place, bytes);
    }

    pub fn launch(&mut self, launch: &Launch) {
        let Submission { encoder, pass, clock, begun, .. } = self;
        let pass = pass.get_or_insert_with(|| {
            // Each pass stamps its end, and the last stamp stays.
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

    /// Has the device begin with what is recorded; the rest follows.
    pub fn begin(&mut self, device: &Device) {
        self.pass = None;
        let begun = std::mem::replace(&mut self.encoder, encoder(device));
        device.queue.submit([begun.finish()]);
    }

    /// A job is recorded whole. The load is for the job that leads the submission: what will be in it.
    pub fn depart(&mut self, departure: Departure, cells: u64) -> Option<Arc<SubmissionLoad>> {
        self.load.cells.fetch_add(cells, Relaxed);
        let leads = self.load.jobs.fetch_add(1, Relaxed) == 0;
        self.departures.push(departure);
        leads.then(|| Arc::clone(&self.load))
    }

    /// Submits it.
    pub fn submit(self, device: &Device) {
        self.submit_then(device, || ());
    }

    /// Submits it; `then` is done when all departures have arrived, which they do together.
    fn submit_then(self, device: &Device, then: impl FnOnce() + Send + 'static) {
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

fn encoder(device: &Device) -> wgpu::CommandEncoder {
    device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

/// What all that work on one device share.
pub struct Runtime {
    pub device: Device,
    /// The cells of alignment that a submission should have.
    pub pace: Pace,
    staging: Staging,
    pool: Arc<Pool>,
    waiting: Mutex<Option<Submission>>,
    under_way: Arc<AtomicUsize>,
}

impl Runtime {
    pub fn new(device: Device) -> Runtime {
        Runtime {
            device,
            pace: Pace::new(ALIGNMENT),
            staging: Staging::default(),
            pool: Arc::default(),
            waiting: Mutex::new(None),
            under_way: Arc::default(),
        }
    }

    /// Writes the words at `words` of `buffer`; `make` makes the words of a range of places, on several threads at
    /// once. Work that is submitted later finds them there.
    pub fn upload(
        &self,
        buffer: &wgpu::Buffer,
        words: Range<usize>,
        make: impl Fn(Range<usize>, &mut [u32]) + Sync,
    ) -> Result<(), EngineError> {
        self.staging.upload(&self.device, buffer, words, make)
    }

    /// Clears the first `bytes` of a buffer before anything that is submitted later.
    pub fn clear(&self, buffer: &wgpu::Buffer, bytes: u64) {
        let mut submission = Submission::new(&self.device, None);
        submission.clear(buffer, bytes);
        submission.submit(&self.device);
    }

    /// Room on the host for `transfers`, one behind the other.
    pub fn expect(&self, transfers: Vec<Transfer>) -> Result<(Departure, Arrival), EngineError> {
        Departure::new(&self.device, &self.pool, transfers)
    }

    /// Submits work that no other waits for, and brings `transfers` to the host behind it.
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

    /// Submits a job with others, soon. The load is for the job that leads them: what will be in the submission.
    pub fn join(
        &self,
        launches: &[Launch],
        (departure, cells): (Departure, u64),
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

    /// Submits a job that does not wait for others. The jobs that wait go first: it must not keep them waiting.
    pub fn submit_alone(&self, submission: Submission) -> Result<(), EngineError> {
        self.flush()?;
        self.submit(submission);
        Ok(())
    }

    /// Waits for a job, and has what waits submitted when the device has little to do.
    pub fn wait_for(&self, arrival: Arrival) -> Result<(Readback, [u64; 2]), EngineError> {
        arrival.arrive(&self.device, || self.go_on())
    }

    /// Whether the device is at work on jobs.
    pub fn is_busy(&self) -> bool {
        self.under_way.load(Relaxed) > 0
    }

    /// Submits what waits if the device has little to do.
    fn go_on(&self) -> Result<(), EngineError> {
        if self.under_way.load(Relaxed) < UNDER_WAY { self.flush() } else { Ok(()) }
    }

    /// Submits what waits.
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
