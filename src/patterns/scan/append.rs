//! Scans whose kernels append records to a list on the device, in any order. If the records of a dispatch do not fit, the
//! list grows, or the dispatch is repeated in halves.

use crate::gpu::buffers::Grown;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch, Pace, Readback, Runtime, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::system::Instant;
use bytemuck::{NoUninit, bytes_of};
use std::ops::Range;
use std::time::Duration;
use wgpu::BufferUsages;

/// Bytes before the first record. They hold the number of records.
const COUNT: u64 = 8;
/// Records that are read together with their number. More records need another read.
const FEW: usize = 1 << 14;
/// Growth factor of the list if records do not fit.
const MORE_ROOM: usize = 8;

/// A kernel that appends records to a list.
pub trait AppendingKernel {
    /// The work of one or several dispatches.
    type Portion: Clone;
    type Parameters: NoUninit;
    /// Number of words of a record.
    const WORDS: usize;

    /// Splits off a portion of about `cells` cells for one dispatch, and returns it and the rest.
    fn cut(&self, portion: Self::Portion, cells: u64) -> (Self::Portion, Option<Self::Portion>);
    /// Splits a portion in two; `None` if that is not possible.
    fn halves(&self, portion: Self::Portion) -> Option<[Self::Portion; 2]>;
    /// The size of a portion, by which submissions learn their length. A portion of size 0 is skipped.
    fn cells(&self, portion: &Self::Portion) -> u64;
    /// The parameters of a dispatch that may append `capacity` records.
    fn parameters(&self, portion: &Self::Portion, capacity: u32) -> Self::Parameters;
    /// Binds the buffers of a dispatch: its parameters, the list, and the kernel's own buffers.
    fn launch(
        &mut self,
        device: &GpuDevice,
        portion: &Self::Portion,
        lists: ListBuffers,
    ) -> Result<Launch, EngineError>;
    /// Takes the records of a portion. Returns whether to continue.
    fn take(&mut self, portion: &Self::Portion, records: &[u32]) -> Result<bool, EngineError>;
}

/// The buffers that all appending kernels have.
#[derive(Clone, Copy)]
pub struct ListBuffers<'a> {
    pub parameters: &'a wgpu::Buffer,
    pub list: &'a wgpu::Buffer,
}

/// Capacity for records: at the beginning, and about the maximum.
#[derive(Clone, Copy, Debug)]
pub struct RecordRoom {
    pub first: usize,
    pub most: usize,
}

impl From<(usize, usize)> for RecordRoom {
    fn from((first, most): (usize, usize)) -> RecordRoom {
        RecordRoom { first, most }
    }
}

/// Splits the units of a text in two.
pub fn halves_of(units: Range<usize>) -> Option<[Range<usize>; 2]> {
    let middle = units.start + units.len() / 2;
    (units.len() > 1).then_some([middle..units.end, units.start..middle])
}

/// Runs appending kernels.
pub struct Appender {
    parameters: Grown,
    list: Grown,
    stamps: Stamps,
    stopwatch: Stopwatch,
    pace: Pace,
    /// Current capacity for records.
    capacity: usize,
}

/// Records that fitted.
struct AppendedRecords {
    output: Readback,
    words: usize,
}

impl AppendedRecords {
    fn words(&self) -> &[u32] {
        &self.output.as_ref()[2..2 + self.words]
    }
}

impl Appender {
    pub fn new(device: &GpuDevice, cells: CellRange) -> Appender {
        let storage =
            |label, usage| Grown::new(label, usage | BufferUsages::STORAGE | BufferUsages::COPY_DST);
        Appender {
            parameters: storage("parameters of a scan", BufferUsages::empty()),
            list: storage("records of a scan", BufferUsages::COPY_SRC),
            stamps: Stamps::new(device),
            stopwatch: Stopwatch::default(),
            pace: Pace::new(cells),
            capacity: 0,
        }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.stopwatch.total()
    }

    /// Runs a kernel over all portions of `all`.
    pub fn run<K: AppendingKernel>(
        &mut self,
        runtime: &Runtime,
        kernel: &mut K,
        all: K::Portion,
        room: RecordRoom,
    ) -> Result<(), EngineError> {
        self.capacity = self.capacity.max(room.first);
        let mut portions = vec![all];
        while let Some(portion) = portions.pop() {
            let (now, later) = kernel.cut(portion, self.pace.cells());
            portions.extend(later);
            if kernel.cells(&now) == 0 {
                continue;
            }
            match self.dispatch(runtime, kernel, &now)? {
                Ok(records) => {
                    if !kernel.take(&now, records.words())? {
                        break;
                    }
                }
                Err(count) => portions.extend(self.again(&runtime.device, kernel, now, count, room.most)?),
            }
        }
        Ok(())
    }

    /// The portions to run instead of one whose `count` records or more did not fit: the same with a longer list, or its
    /// halves.
    fn again<K: AppendingKernel>(
        &mut self,
        device: &GpuDevice,
        kernel: &K,
        now: K::Portion,
        count: usize,
        most: usize,
    ) -> Result<Vec<K::Portion>, EngineError> {
        let halves = kernel.halves(now.clone());
        let limit = if halves.is_some() { most } else { usize::MAX };
        if self.capacity < limit {
            let capacity = count.max(self.capacity.saturating_mul(MORE_ROOM)).min(limit);
            match self.list.with_room(device, list_bytes::<K>(capacity)) {
                Err(EngineError::OutOfMemory(_)) if halves.is_some() => {}
                Err(problem) => return Err(problem),
                Ok(_) => {
                    self.capacity = capacity;
                    return Ok(vec![now]);
                }
            }
        }
        Ok(halves.into_iter().flatten().collect())
    }

    /// Runs a dispatch. Returns its records, or their number if they did not fit. Kernels may stop to count soon after the
    /// capacity, so there may be more.
    fn dispatch<K: AppendingKernel>(
        &mut self,
        runtime: &Runtime,
        kernel: &mut K,
        now: &K::Portion,
    ) -> Result<Result<AppendedRecords, usize>, EngineError> {
        let (begun, device) = (Instant::now(), &runtime.device);
        let parameters = self.parameters.with_room(device, size_of::<K::Parameters>() as u64)?;
        let record = kernel.parameters(now, to_u32(self.capacity));
        device.queue.write_buffer(parameters, 0, bytes_of(&record));
        let list = self.list.with_room(device, list_bytes::<K>(self.capacity))?;
        let launch = kernel.launch(device, now, ListBuffers { parameters, list })?;
        let mut submission = Submission::new(device, self.stamps.clock(device)?);
        submission.clear(list, COUNT);
        submission.launch(&launch);
        let read = |count: usize| {
            vec![Transfer { from: list.clone(), start: 0, bytes: COUNT + record_bytes::<K>(count) }]
        };
        let (output, times) = runtime.wait_for(runtime.submit_for(submission, read(FEW))?)?;
        let took = self.stopwatch.add(device.tick, times).unwrap_or_else(|| begun.elapsed());
        self.pace.learn(kernel.cells(now), 1, took);
        let count = output.as_ref()[0] as usize;
        if count > self.capacity {
            return Ok(Err(count));
        }
        let words = count * K::WORDS;
        if count <= FEW {
            return Ok(Ok(AppendedRecords { output, words }));
        }
        drop(output);
        let rest = runtime.submit_for(Submission::new(device, None), read(count))?;
        Ok(Ok(AppendedRecords { output: runtime.wait_for(rest)?.0, words }))
    }
}

fn record_bytes<K: AppendingKernel>(count: usize) -> u64 {
    (count * K::WORDS) as u64 * 4
}

/// Bytes of a list for `capacity` records.
fn list_bytes<K: AppendingKernel>(capacity: usize) -> u64 {
    COUNT + record_bytes::<K>(capacity.max(FEW))
}
