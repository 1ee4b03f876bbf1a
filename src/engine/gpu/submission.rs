//! Submissions: jobs of all engines of a device that it runs side by side.
//!
//! A device begins a submission when the one before is done, and a kernel leaves more and more of it idle towards its end.
//! Dispatches of one pass that don't wait for one another run side by side, where the device and its driver can do so.
//! So jobs that come while the device has enough to do wait for each other, and are submitted together.

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
/// Jobs that wait for each other have at most so many times the cells of a good submission: still far from what a
/// watchdog minds.
const MERGED: u64 = 3;
/// Bytes of the two time stamps of a submission.
pub const TIMES: u64 = 16;

/// How many cells make a good submission. All engines of a device learn it together, or each would begin with small
/// ones.
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

    /// Takes into account that the cells of so many jobs took so long. At most four times as many as one of them had are
    /// tried next: one quick job proves little. Nor does one prove that larger ones are slow, for which it was too small
    /// to fill the device; but of its kind, no more than four times what is wanted should come.
    pub fn learn(&self, (cells, jobs): (u64, u64), took: Duration) {
        if cells < LEAST_CELLS / 2 {
            return;
        }
        let fitting = (cells as f64 * SUBMISSION.as_secs_f64() / took.as_secs_f64().max(1e-4)) as u64;
        let next = |pace: u64| match fitting >= pace {
            true => pace.max(fitting.min(4 * cells / jobs.max(1))),
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
pub struct Transfer {
    pub from: wgpu::Buffer,
    pub start: u64,
    pub place: u64,
    pub bytes: u64,
}

/// What a job leaves for the host.
pub struct Departure {
    pub transfers: Vec<Transfer>,
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
    load: Arc<Load>,
}

/// What is in a submission.
#[derive(Default)]
pub struct Load {
    cells: AtomicU64,
    jobs: AtomicU64,
}

impl Load {
    /// Cells and jobs.
    pub fn size(&self) -> (u64, u64) {
        (self.cells.load(Relaxed), self.jobs.load(Relaxed))
    }
}

impl Submission {
    pub fn new(device: &Device, clock: Option<Clock>) -> Submission {
        let (encoder, pass) = open(device, clock.as_ref(), true);
        Submission { encoder, pass, clock, departures: Vec::new(), load: Arc::default() }
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

    /// A job is recorded whole. Who leads the submission is told what will be in it.
    pub fn depart(&mut self, departure: Departure) -> Option<Arc<Load>> {
        self.load.cells.fetch_add(departure.cells, Relaxed);
        let leads = self.load.jobs.fetch_add(1, Relaxed) == 0;
        self.departures.push(departure);
        leads.then(|| Arc::clone(&self.load))
    }

    fn finish(self) -> (wgpu::CommandBuffer, Vec<Expected>) {
        let Submission { mut encoder, pass, clock, mut departures, .. } = self;
        drop(pass);
        if let (Some(Clock { times, stamps }), Some(leader)) = (&clock, departures.first_mut()) {
            encoder.resolve_query_set(times, 0..2, stamps, 0);
            let place = leader.times_at;
            leader.transfers.push(Transfer { from: stamps.clone(), start: 0, place, bytes: TIMES });
        }
        for Departure { transfers, expected, .. } in &departures {
            for transfer in transfers {
                let to = expected.buffer();
                let Transfer { from, start, place, bytes } = transfer;
                encoder.copy_buffer_to_buffer(from, *start, to, *place, *bytes);
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
}

impl Submissions {
    /// Submits a job with others, soon. Who leads them is told what they are.
    pub fn join(
        &self,
        device: &Device,
        dispatches: &[Bound],
        departure: Departure,
        clock: Option<Clock>,
    ) -> Result<Option<Arc<Load>>, EngineError> {
        let most = MERGED * self.pace.cells();
        let mut waiting = self.waiting.lock().map_err(|_| failed())?;
        let full = waiting.take_if(|waiting| waiting.load.size().0 + departure.cells > most);
        let submission = waiting.get_or_insert_with(|| Submission::new(device, clock));
        dispatches.iter().for_each(|bound| submission.record(bound));
        let led = submission.depart(departure);
        drop(waiting);
        full.into_iter().for_each(|full| self.submit(device, full));
        self.go_on(device)?;
        Ok(led)
    }

    /// Submits what waits if the device has little to do. Who waits for an answer asks again and again.
    pub fn go_on(&self, device: &Device) -> Result<(), EngineError> {
        if self.under_way.load(Relaxed) < UNDER_WAY { self.flush(device) } else { Ok(()) }
    }

    /// Submits what waits.
    fn flush(&self, device: &Device) -> Result<(), EngineError> {
        let waiting = self.waiting.lock().map_err(|_| failed())?.take();
        waiting.into_iter().for_each(|submission| self.submit(device, submission));
        Ok(())
    }

    /// Submits a job that does not wait for others, behind those that have waited: it must not keep them waiting.
    pub fn submit_alone(&self, device: &Device, submission: Submission) -> Result<(), EngineError> {
        self.flush(device)?;
        self.submit(device, submission);
        Ok(())
    }

    fn submit(&self, device: &Device, submission: Submission) {
        self.under_way.fetch_add(1, Relaxed);
        let (commands, expected) = submission.finish();
        device.queue.submit([commands]);
        for (number, expected) in expected.into_iter().enumerate() {
            // All arrive together.
            let under_way = (number == 0).then(|| Arc::clone(&self.under_way));
            expected.ask(move || {
                under_way.iter().for_each(|under_way| {
                    under_way.fetch_sub(1, Relaxed);
                });
            });
        }
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
        pace.learn((FIRST_CELLS, 1), ms(1));
        assert_eq!(pace.cells(), 4 * FIRST_CELLS, "at most fourfold");
        // Others that began with as many know no better.
        pace.learn((FIRST_CELLS, 1), ms(1));
        assert_eq!(pace.cells(), 4 * FIRST_CELLS);
        pace.learn((4 * FIRST_CELLS, 1), ms(50));
        assert_eq!(pace.cells(), 8 * FIRST_CELLS);
        pace.learn((FIRST_CELLS, 1), ms(20));
        assert_eq!(pace.cells(), 8 * FIRST_CELLS, "a small one, quick enough");
        pace.learn((FIRST_CELLS / 4, 1), ms(20));
        assert_eq!(pace.cells(), 5 * FIRST_CELLS, "a smaller one: four times what would fit");
        pace.learn((8 * FIRST_CELLS, 1), ms(400));
        assert_eq!(pace.cells(), 2 * FIRST_CELLS, "too long");
        pace.learn((FIRST_CELLS / 4, 1), ms(50));
        assert_eq!(pace.cells(), FIRST_CELLS / 2, "long for so few");
        pace.learn((FIRST_CELLS, 1), ms(1_000_000));
        assert_eq!(pace.cells(), LEAST_CELLS);
        let pace_of_some = Pace::default();
        pace_of_some.learn((8 * FIRST_CELLS, 4), ms(1));
        assert_eq!(pace_of_some.cells(), 8 * FIRST_CELLS, "fourfold what one of them had");
        pace.learn((1 << 42, 1), ms(1));
        assert_eq!(pace.cells(), MOST_CELLS);
    }
}
