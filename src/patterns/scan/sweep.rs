//! Dispatches the kernel that sweeps patterns over a transposed text, and reads back the ends.

use super::append::{Appender, AppendingKernel, ListBuffers, RecordRoom};
use super::bind;
use super::shader::{EDIT_BITS, GROUP, ScanVariant, THREADS};
use super::shape::ChunkShape;
use super::tasks::Sweeping;
use crate::gpu::buffers::Grown;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch, MAX_GROUPS, Runtime};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::time::Duration;
use wgpu::BufferUsages;

/// Cells per submission: bases times rows.
const CELLS: CellRange =
    CellRange { first: 34_000_000_000, least: 1_000_000_000, most: 100_000_000_000_000, growth: 16 };
/// Maximum number of threads per dispatch: the count of ends may exceed the capacity by this much.
const THREADS_AT_ONCE: u64 = 1 << 28;
/// Maximum number of bytes between two strips of rows.
const EDGES: u64 = 1 << 29;
/// Mask of the edits of an end.
const EDITS: u32 = (1 << EDIT_BITS) - 1;

/// Sweeps patterns.
pub struct Sweeper {
    records: Grown,
    edges: Grown,
    appender: Appender,
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
}

/// Patterns to sweep over a text. The pattern's index, the end and the edits of each end are passed to `take`.
struct PatternSweep<'a, F> {
    text: &'a Transposed<'a>,
    patterns: &'a SweptPatterns<'a>,
    /// The patterns' records on the device.
    records: &'a wgpu::Buffer,
    edges: &'a mut Grown,
    take: F,
}

impl<F> PatternSweep<'_, F> {
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
}

impl<F: FnMut(u32, u32, u32)> AppendingKernel for PatternSweep<'_, F> {
    type Portion = Portion;
    type Parameters = Sweeping;
    const WORDS: usize = 2;

    fn cut(&self, portion: Portion, cells: u64) -> (Portion, Option<Portion>) {
        let most = (cells / self.cells_per_thread()).min(THREADS_AT_ONCE);
        let most = EDGES.checked_div(self.edge()).map_or(most, |edges| most.min(edges));
        let patterns = to_u32((most / portion.words.len() as u64).clamp(1, u64::from(MAX_GROUPS)));
        if patterns < to_u32(portion.patterns.len()) {
            let [now, later] = portion.split_patterns(|_| patterns);
            return (now, Some(later));
        }
        let words = (to_u32(most) / THREADS * THREADS).clamp(THREADS, MAX_GROUPS * THREADS);
        if portion.patterns.len() == 1 && words < to_u32(portion.words.len()) {
            let [now, later] = portion.split_words(words);
            return (now, Some(later));
        }
        (portion, None)
    }

    fn halves(&self, portion: Portion) -> Option<[Portion; 2]> {
        portion.halves()
    }

    fn cells(&self, portion: &Portion) -> u64 {
        self.cells_per_thread() * portion.threads()
    }

    fn parameters(&self, now: &Portion, capacity: u32) -> Sweeping {
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
            capacity,
        }
    }

    fn launch(
        &mut self,
        device: &GpuDevice,
        now: &Portion,
        ListBuffers { parameters, list }: ListBuffers,
    ) -> Result<Launch, EngineError> {
        let (edge, kernel) = (self.edge(), self.patterns.kernel);
        let mut buffers = vec![parameters, self.text.planes, self.records, list];
        if edge > 0 {
            buffers.push(self.edges.with_room(device, edge * now.threads())?);
        }
        let groups = [to_u32(now.words.len()).div_ceil(THREADS), to_u32(now.patterns.len()), 1];
        Ok(Launch::in_groups(kernel, &bind(device, kernel, &buffers)?, groups))
    }

    fn take(&mut self, now: &Portion, ends: &[u32]) -> Result<bool, EngineError> {
        let letters = self.text.letters;
        for &[end, rest] in ends.as_chunks().0 {
            let pattern = rest >> EDIT_BITS;
            if pattern >= to_u32(now.patterns.len()) || !(1..=letters).contains(&(end as usize)) {
                return Err(EngineError::Wrong(format!("an end at {end} of a text of {letters} letters")));
            }
            (self.take)(now.patterns.start + pattern, end, rest & EDITS);
        }
        Ok(true)
    }
}

impl Sweeper {
    pub fn new(device: &GpuDevice) -> Sweeper {
        let storage = |label| Grown::new(label, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let appender = Appender::new(device, CELLS);
        Sweeper { records: storage("patterns"), edges: storage("edges of strips"), appender }
    }

    /// Time spent in kernels so far.
    pub fn kernel_time(&self) -> Duration {
        self.appender.kernel_time()
    }

    /// Sweeps patterns over a text, and passes the pattern's index, the end and the edits of each end to `take`.
    pub fn sweep(
        &mut self,
        runtime: &Runtime,
        text: &Transposed,
        patterns: &SweptPatterns,
        room: RecordRoom,
        take: impl FnMut(u32, u32, u32),
    ) -> Result<(), EngineError> {
        let device = &runtime.device;
        let records = self.records.with_room(device, patterns.records.len() as u64 * 4)?;
        device.queue.write_buffer(records, 0, bytemuck::cast_slice(patterns.records));
        let all = Portion { patterns: 0..to_u32(patterns.count), words: 0..to_u32(text.shape.words) };
        let mut sweep = PatternSweep { text, patterns, records, edges: &mut self.edges, take };
        self.appender.run(runtime, &mut sweep, all, room)
    }
}
