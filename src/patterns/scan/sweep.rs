//! Dispatches the kernel that sweeps patterns over a transposed text, and reads back the ends.

use super::bind;
use super::shader::{EDIT_BITS, GROUP, ScanVariant, THREADS};
use super::shape::ChunkShape;
use super::tasks::Sweeping;
use crate::gpu::buffers::Grown;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::MAX_GROUPS;
use crate::gpu::run::{CellRange, Launch, Pace, Readback, Runtime, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use bytemuck::bytes_of;
use std::ops::Range;
use std::time::{Duration, Instant};
use wgpu::BufferUsages;

/// Cells per submission: bases times rows.
const CELLS: CellRange =
    CellRange { first: 34_000_000_000, least: 1_000_000_000, most: 100_000_000_000_000, growth: 16 };
/// Ends read back together with their count; further ends need another read.
const FEW: usize = 1 << 14;
/// Growth factor of the capacity when ends don't fit.
const MORE_ROOM: usize = 8;
/// Maximum number of threads per dispatch: the count of ends may exceed the capacity by this much.
const THREADS_AT_ONCE: u64 = 1 << 28;
/// Bytes per end, and bytes before the first end, which hold the count.
const END: u64 = 8;
const COUNT: u64 = 8;
/// Maximum number of bytes between two strips of rows.
const EDGES: u64 = 1 << 29;
/// Mask of the edits of an end.
const EDITS: u32 = (1 << EDIT_BITS) - 1;

/// Sweeps patterns.
pub struct Sweeper {
    work: Grown,
    records: Grown,
    found: Grown,
    edges: Grown,
    stamps: Stamps,
    stopwatch: Stopwatch,
    pace: Pace,
    /// Current capacity for ends.
    room: usize,
}

/// A text that the device has transposed.
pub struct Transposed<'a> {
    pub planes: &'a wgpu::Buffer,
    pub shape: &'a ChunkShape,
    pub letters: usize,
}

/// Patterns of one kernel, and their records.
pub struct SweptPatterns<'a> {
    pub variant: ScanVariant,
    pub kernel: &'a wgpu::ComputePipeline,
    pub records: &'a [u32],
    pub count: usize,
}

/// Patterns and text words that one dispatch sweeps.
#[derive(Clone, Debug)]
struct Portion {
    patterns: Range<u32>,
    words: Range<u32>,
}

impl Portion {
    /// Splits the portion in two; `None` if it has only one workgroup.
    fn halves(self) -> Option<[Portion; 2]> {
        if self.patterns.len() > 1 {
            return Some(self.split_patterns(|count| count / 2));
        }
        let half = to_u32(self.words.len()).div_ceil(2).next_multiple_of(THREADS);
        (half < to_u32(self.words.len())).then(|| self.split_words(half))
    }

    fn split_patterns(self, count: impl Fn(u32) -> u32) -> [Portion; 2] {
        let middle = self.patterns.start + count(to_u32(self.patterns.len()));
        let Portion { patterns, words } = self;
        let first = Portion { patterns: patterns.start..middle, words: words.clone() };
        [first, Portion { patterns: middle..patterns.end, words }]
    }

    fn split_words(self, count: u32) -> [Portion; 2] {
        let middle = self.words.start + count;
        let Portion { patterns, words } = self;
        let first = Portion { patterns: patterns.clone(), words: words.start..middle };
        [first, Portion { patterns, words: middle..words.end }]
    }

    /// Number of threads, each of which sweeps one word for one pattern.
    fn threads(&self) -> u64 {
        self.words.len() as u64 * self.patterns.len() as u64
    }

    /// Splits off a portion of about `cells` cells for one dispatch, and returns it and the rest.
    fn cut(self, sweep: &PatternSweep, cells: u64) -> (Portion, Option<Portion>) {
        let most = (cells / sweep.cells_per_thread()).min(THREADS_AT_ONCE);
        let most = EDGES.checked_div(sweep.edge()).map_or(most, |edges| most.min(edges));
        let patterns = to_u32((most / self.words.len() as u64).clamp(1, u64::from(MAX_GROUPS)));
        if patterns < to_u32(self.patterns.len()) {
            let [now, later] = self.split_patterns(|_| patterns);
            return (now, Some(later));
        }
        let words = (to_u32(most) / THREADS * THREADS).clamp(THREADS, MAX_GROUPS * THREADS);
        if self.patterns.len() == 1 && words < to_u32(self.words.len()) {
            let [now, later] = self.split_words(words);
            return (now, Some(later));
        }
        (self, None)
    }
}

/// Patterns to sweep over a text.
struct PatternSweep<'a> {
    text: &'a Transposed<'a>,
    patterns: &'a SweptPatterns<'a>,
    /// The patterns' records on the device.
    records: wgpu::Buffer,
}

impl PatternSweep<'_> {
    fn columns(&self) -> u32 {
        to_u32(self.text.shape.columns())
    }

    fn cells_per_thread(&self) -> u64 {
        let SweptPatterns { variant, records, .. } = self.patterns;
        let rows = if variant.strips { records[3] * variant.rows } else { variant.rows };
        u64::from(self.columns()) * 32 * u64::from(rows)
    }

    /// Bytes between strips per thread.
    fn edge(&self) -> u64 {
        let bytes = u64::from(self.columns().next_multiple_of(GROUP)) * 8;
        if self.patterns.variant.strips { bytes } else { 0 }
    }

    /// The kernel's parameters, with capacity for `capacity` ends.
    fn sweeping(&self, now: &Portion, capacity: usize) -> Sweeping {
        let (shape, patterns) = (self.text.shape, self.patterns);
        Sweeping {
            words: to_u32(shape.words),
            first: now.words.start,
            end: now.words.end,
            pattern: now.patterns.start,
            record: to_u32(patterns.records.len() / patterns.count),
            before: to_u32(shape.before),
            blocks: self.columns().div_ceil(patterns.variant.columns()),
            chunk: to_u32(shape.chunk),
            letters: to_u32(self.text.letters),
            capacity: to_u32(capacity),
        }
    }

    /// Passes the pattern's index, the end and the edits of each end in a portion to `take`.
    fn take(
        &self,
        now: &Portion,
        ends: &[u32],
        take: &mut impl FnMut(u32, u32, u32),
    ) -> Result<(), EngineError> {
        let letters = self.text.letters;
        for &[end, rest] in ends.as_chunks().0 {
            let pattern = rest >> EDIT_BITS;
            if pattern >= to_u32(now.patterns.len()) || !(1..=letters).contains(&(end as usize)) {
                return Err(EngineError::Wrong(format!("an end at {end} of a text of {letters} letters")));
            }
            take(now.patterns.start + pattern, end, rest & EDITS);
        }
        Ok(())
    }
}

/// Buffers shared by the dispatches of a sweep until the capacity changes.
struct SweepBuffers {
    group: wgpu::BindGroup,
    work: wgpu::Buffer,
    found: wgpu::Buffer,
    /// Capacity for ends.
    capacity: usize,
}

impl Sweeper {
    pub fn new(device: &GpuDevice) -> Sweeper {
        let grown = |label, usage| Grown::new(label, usage | BufferUsages::COPY_DST);
        Sweeper {
            work: grown("sweep", BufferUsages::STORAGE),
            records: grown("patterns", BufferUsages::STORAGE),
            found: grown("ends", BufferUsages::STORAGE | BufferUsages::COPY_SRC),
            edges: grown("edges of strips", BufferUsages::STORAGE),
            stamps: Stamps::new(device),
            stopwatch: Stopwatch::default(),
            pace: Pace::new(CELLS),
            room: 0,
        }
    }

    /// Time spent in kernels so far.
    pub fn kernel_time(&self) -> Duration {
        self.stopwatch.total()
    }

    /// Sweeps patterns over a text, and passes the pattern's index, the end and the edits of each end to `take`. `room`
    /// is the initial capacity for ends, and `most` about the maximum.
    pub fn sweep(
        &mut self,
        runtime: &Runtime,
        text: &Transposed,
        patterns: &SweptPatterns,
        (room, most): (usize, usize),
        mut take: impl FnMut(u32, u32, u32),
    ) -> Result<(), EngineError> {
        let device = &runtime.device;
        let records = self.records.with_room(device, patterns.records.len() as u64 * 4)?.clone();
        device.queue.write_buffer(&records, 0, bytemuck::cast_slice(patterns.records));
        let sweep = PatternSweep { text, patterns, records };
        self.room = self.room.max(room);
        let mut buffers = self.bind(device, &sweep)?;
        let all = Portion { patterns: 0..to_u32(patterns.count), words: 0..to_u32(text.shape.words) };
        let mut portions = vec![all];
        while let Some(portion) = portions.pop() {
            let (now, later) = portion.cut(&sweep, self.pace.cells());
            portions.extend(later);
            if sweep.edge() > 0 {
                self.edges.with_room(device, sweep.edge() * now.threads())?;
                buffers = self.bind(device, &sweep)?;
            }
            match self.run(runtime, &sweep, &now, &buffers)? {
                Some((found, output)) => {
                    sweep.take(&now, &output.as_ref()[2..2 + 2 * found], &mut take)?;
                }
                None => {
                    let again = self.with_more_room(device, &sweep, now, (&mut buffers, most))?;
                    portions.extend(again);
                }
            }
        }
        Ok(())
    }

    /// The portions to sweep instead of one whose ends did not fit: the same portion with more room, or its halves.
    fn with_more_room(
        &mut self,
        device: &GpuDevice,
        sweep: &PatternSweep,
        now: Portion,
        (buffers, most): (&mut SweepBuffers, usize),
    ) -> Result<Vec<Portion>, EngineError> {
        // The count stops soon after the capacity, so the true number of ends is unknown.
        let (halves, capacity) = (now.clone().halves(), buffers.capacity);
        if capacity < most || halves.is_none() {
            self.room = capacity * MORE_ROOM;
            match self.bind(device, sweep) {
                Err(EngineError::OutOfMemory(_)) if halves.is_some() => {
                    self.room = capacity;
                    *buffers = self.bind(device, sweep)?;
                }
                more => {
                    *buffers = more?;
                    return Ok(vec![now]);
                }
            }
        }
        Ok(halves.into_iter().flatten().collect())
    }

    /// Binds the buffers of a kernel.
    fn bind(&mut self, device: &GpuDevice, sweep: &PatternSweep) -> Result<SweepBuffers, EngineError> {
        let work = self.work.with_room(device, size_of::<Sweeping>() as u64)?.clone();
        let found = self.found.with_room(device, COUNT + self.room.max(FEW) as u64 * END)?.clone();
        let mut buffers = vec![&work, sweep.text.planes, &sweep.records, &found];
        if sweep.patterns.variant.strips {
            buffers.push(self.edges.with_room(device, 0)?);
        }
        let group = bind(device, sweep.patterns.kernel, &buffers)?;
        Ok(SweepBuffers { group, work, found, capacity: self.room })
    }

    /// Runs a dispatch. Returns the number of ends and, if there was room for all of them, two words followed by the
    /// ends.
    fn run(
        &mut self,
        runtime: &Runtime,
        sweep: &PatternSweep,
        now: &Portion,
        buffers: &SweepBuffers,
    ) -> Result<Option<(usize, Readback)>, EngineError> {
        let (begun, device) = (Instant::now(), &runtime.device);
        device.queue.write_buffer(&buffers.work, 0, bytes_of(&sweep.sweeping(now, buffers.capacity)));
        let mut submission = Submission::new(device, self.stamps.clock(device)?);
        submission.clear(&buffers.found, COUNT);
        let groups = [to_u32(now.words.len()).div_ceil(THREADS), to_u32(now.patterns.len()), 1];
        submission.launch(&Launch::in_groups(sweep.patterns.kernel, &buffers.group, groups));
        let ends = |count: usize| {
            vec![Transfer { from: buffers.found.clone(), start: 0, bytes: COUNT + count as u64 * END }]
        };
        let (output, times) = runtime.wait_for(runtime.submit_for(submission, ends(FEW))?)?;
        let took = self.stopwatch.add(device.tick, times).unwrap_or_else(|| begun.elapsed());
        self.pace.learn((sweep.cells_per_thread() * now.threads(), 1), took);
        let found = output.as_ref()[0] as usize;
        if found > buffers.capacity {
            return Ok(None);
        }
        if found <= FEW {
            return Ok(Some((found, output)));
        }
        drop(output);
        let (output, _) =
            runtime.wait_for(runtime.submit_for(Submission::new(device, None), ends(found))?)?;
        Ok(Some((found, output)))
    }
}
