//! Submissions: jobs of all engines of a device that it runs side by side.
//!
//! A device begins a submission when the one before is done, and a kernel leaves more and more of it idle towards its end. Kernels
//! of one submission that share no buffer that one of them writes run side by side. So jobs that come while
//! the device has enough to do wait for each other, and are submitted together.

use crate::engine::gpu::device::Device;
use crate::engine::gpu::layout::MAX_GROUPS;
use crate::engine::gpu::readback::Expected;
use crate::error::EngineError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a submission should take: long enough to be worth its overhead, short enough for every
/// watchdog.
const SUBMISSION: Duration = Duration::from_millis(100);
/// Cells of a submission before any has been timed, at least and at most.
const FIRST_CELLS: u64 = 1 << 28;
const LEAST_CELLS: u64 = 1 << 26;
const MOST_CELLS: u64 = 1 << 40;
/// Submissions that are under way while others wait: the device runs one, and the next begins without the host.
const UNDER_WAY: usize = 2;
/// Jobs wait for others until together they have so many times the cells of a good submission: still far from what a
/// watchdog minds.
const MERGED: u64 = 3;
/// Bytes of the two time stamps of a submission.
pub const TIMES: u64 = 16;

/// How many cells make a good submission. All engines of a device learn it together, or each would begin with small ones.
pub struct Pace(AtomicU64);

impl Default for Pace {
    fn default() -> Pace {
        Pace(AtomicU64::new(FIRST_CELLS))
    }
}

impl Pace {
    pub fn cells(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Takes into account that so many cells took so long. At most four times as many are tried next: one quick job
    /// proves little. Nor does one prove that larger ones are slow, for which it was too small to fill the device; but
    /// of its kind, no more than four times what is wanted should come.
    pub fn learn(&self, cells: u64, took: Duration) {
        if cells < LEAST_CELLS / 2 {
            return;
        }
        let fitting = (cells as f64 * SUBMISSION.as_secs_f64() / took.as_secs_f64().max(1e-4)) as u64;
        let next = |pace: u64| match fitting >= pace {
            true => pace.max(fitting.min(4 * cells)),
            false if took >= SUBMISSION / 4 => fitting,
            false => pace.min(4 * fitting),
        };
        let learned = |pace: u64| Some(next(pace).clamp(LEAST_CELLS, MOST_CELLS));
        let _ = self.0.fetch_update(Relaxed, Relaxed, learned);
    }
}

/// A dispatch that can be recorded.
pub struct Bound {
    pub pipeline: Arc<wgpu::ComputePipeline>,
    pub bindings: wgpu::BindGroup,
    /// Workgroups.
    pub groups: u32,
}

/// Where the stamps of a submission are taken, and where they go.
#[derive(Clone)]
pub struct Clock {
    pub times: wgpu::QuerySet,
    pub stamps: wgpu::Buffer,
}

/// Bytes of a device buffer that go to a place of a readback buffer.
pub struct Copy {
    pub from: wgpu::Buffer,
    pub start: u64,
    pub place: u64,
    pub bytes: u64,
}

/// What a job leaves for the host.
pub struct Departure {
    pub copies: Vec<Copy>,
    /// Where the stamps go if the job leads its submission.
    pub times_at: u64,
    pub cells: u64,
    pub expected: Expected,
}

/// Jobs that are submitted together, all in one pass: nothing is begun before all of an earlier pass is done.
pub struct Submission {
    encoder: wgpu::CommandEncoder,
    pass: wgpu::ComputePass<'static>,
    /// That of the first job, the leader.
    clock: Option<Clock>,
    departures: Vec<Departure>,
    cells: Arc<AtomicU64>,
}

impl Submission {
    pub fn new(device: &Device, clock: Option<Clock>) -> Submission {
        let (encoder, pass) = open(device, clock.as_ref(), true);
        Submission { encoder, pass, clock, departures: Vec::new(), cells: Arc::default() }
    }

    pub fn record(&mut self, bound: &Bound) {
        self.pass.set_pipeline(&bound.pipeline);
        self.pass.set_bind_group(0, &bound.bindings, &[]);
        // As few as there can be: one without tasks takes its time to begin and end, too.
        let rows = bound.groups.div_ceil(MAX_GROUPS).max(1);
        self.pass.dispatch_workgroups(bound.groups.div_ceil(rows), rows, 1);
    }

    /// Has the device begin with what is recorded; the rest follows.
    pub fn begin(&mut self, device: &Device) {
        let (encoder, pass) = open(device, self.clock.as_ref(), false);
        drop(std::mem::replace(&mut self.pass, pass));
        device.queue.submit([std::mem::replace(&mut self.encoder, encoder).finish()]);
    }

    /// A job is recorded whole. The cells of the submission are told to who leads it.
    pub fn depart(&mut self, departure: Departure) -> Option<Arc<AtomicU64>> {
        self.cells.fetch_add(departure.cells, Relaxed);
        self.departures.push(departure);
        (self.departures.len() == 1).then(|| Arc::clone(&self.cells))
    }

    fn finish(self) -> (wgpu::CommandBuffer, Vec<Expected>) {
        let Submission { mut encoder, pass, clock, mut departures, .. } = self;
        drop(pass);
        if let (Some(Clock { times, stamps }), Some(leader)) = (&clock, departures.first_mut()) {
            encoder.resolve_query_set(times, 0..2, stamps, 0);
            let place = leader.times_at;
            leader.copies.push(Copy { from: stamps.clone(), start: 0, place, bytes: TIMES });
        }
        for Departure { copies, expected, .. } in &departures {
            for copy in copies {
                let to = expected.buffer();
                encoder.copy_buffer_to_buffer(&copy.from, copy.start, to, copy.place, copy.bytes);
            }
        }
        (encoder.finish(), departures.into_iter().map(|departure| departure.expected).collect())
    }
}

/// An encoder with a pass, the first of a submission or a later one. Each stamps its end, and the last stamp stays.
fn open(
    device: &Device,
    clock: Option<&Clock>,
    is_first: bool,
) -> (wgpu::CommandEncoder, wgpu::ComputePass<'static>) {
    let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let timestamp_writes = clock.map(|clock| wgpu::ComputePassTimestampWrites {
        query_set: &clock.times,
        beginning_of_pass_write_index: is_first.then_some(0),
        end_of_pass_write_index: Some(1),
    });
    let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
    let pass = encoder.begin_compute_pass(&descriptor).forget_lifetime();
    (encoder, pass)
}

/// What is submitted to one device.
#[derive(Default)]
pub struct Submissions {
    pub pace: Pace,
    waiting: Mutex<Option<Submission>>,
    under_way: Arc<AtomicUsize>,
    /// The device's clock at the end of the last kernel.
    last_tick: AtomicU64,
}

impl Submissions {
    /// Submits a job with others, soon. Who leads them is told their cells.
    pub fn join(
        &self,
        device: &Device,
        dispatches: &[Bound],
        departure: Departure,
        clock: Option<Clock>,
    ) -> Result<Option<Arc<AtomicU64>>, EngineError> {
        let mut waiting = self.waiting.lock().map_err(|_| failed())?;
        let submission = waiting.get_or_insert_with(|| Submission::new(device, clock));
        dispatches.iter().for_each(|bound| submission.record(bound));
        let led = submission.depart(departure);
        let much = submission.cells.load(Relaxed) >= MERGED * self.pace.cells();
        let full = waiting.take_if(|_| much);
        drop(waiting);
        match full {
            Some(full) => self.submit(device, full),
            None => self.go_on(device)?,
        }
        Ok(led)
    }

    /// Submits what waits if the device has little to do. Who waits for an answer asks again and again.
    pub fn go_on(&self, device: &Device) -> Result<(), EngineError> {
        if self.under_way.load(Relaxed) < UNDER_WAY { self.flush(device) } else { Ok(()) }
    }

    /// Submits what waits.
    pub fn flush(&self, device: &Device) -> Result<(), EngineError> {
        let waiting = self.waiting.lock().map_err(|_| failed())?.take();
        waiting.into_iter().for_each(|submission| self.submit(device, submission));
        Ok(())
    }

    /// Submits jobs at once.
    pub fn submit(&self, device: &Device, submission: Submission) {
        self.under_way.fetch_add(1, Relaxed);
        let (commands, expected) = submission.finish();
        device.queue.submit([commands]);
        let under_way = Arc::clone(&self.under_way);
        device.queue.on_submitted_work_done(move || {
            under_way.fetch_sub(1, Relaxed);
        });
        expected.into_iter().for_each(Expected::ask);
    }

    /// How long a submission with these two stamps took; `None` where they tell nothing.
    pub fn took(&self, device: &Device, [first, last]: [u64; 2]) -> Option<Duration> {
        let tick = device.tick.filter(|_| last > first)?;
        // It may be stamped as begun while the one before still runs.
        let begun = first.max(self.last_tick.fetch_max(last, Relaxed));
        Some(Duration::from_nanos((last.saturating_sub(begun) as f64 * f64::from(tick)) as u64))
    }
}

fn failed() -> EngineError {
    EngineError::Lost("submitting work failed".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_follows_what_jobs_took() {
        let pace = Pace::default();
        let ms = Duration::from_millis;
        pace.learn(FIRST_CELLS, ms(1));
        assert_eq!(pace.cells(), 4 * FIRST_CELLS, "at most fourfold");
        // Others that began with as many know no better.
        pace.learn(FIRST_CELLS, ms(1));
        assert_eq!(pace.cells(), 4 * FIRST_CELLS);
        pace.learn(4 * FIRST_CELLS, ms(50));
        assert_eq!(pace.cells(), 8 * FIRST_CELLS);
        pace.learn(FIRST_CELLS, ms(20));
        assert_eq!(pace.cells(), 8 * FIRST_CELLS, "a small one, quick enough");
        pace.learn(FIRST_CELLS / 4, ms(20));
        assert_eq!(pace.cells(), 5 * FIRST_CELLS, "a smaller one: four times what would fit");
        pace.learn(8 * FIRST_CELLS, ms(400));
        assert_eq!(pace.cells(), 2 * FIRST_CELLS, "too long");
        pace.learn(FIRST_CELLS / 4, ms(50));
        assert_eq!(pace.cells(), FIRST_CELLS / 2, "long for so few");
        pace.learn(FIRST_CELLS, ms(1_000_000));
        assert_eq!(pace.cells(), LEAST_CELLS);
        pace.learn(1 << 42, ms(1));
        assert_eq!(pace.cells(), MOST_CELLS);
    }
}
