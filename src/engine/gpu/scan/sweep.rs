//! Dispatches of the kernel that sweeps patterns over a turned text, and the ends that come back.

use super::bind;
use super::shader::{EDIT_BITS, GROUP, THREADS, Variant};
use super::shape::Shape;
use crate::engine::gpu::buffers::Grown;
use crate::engine::gpu::device::Device;
use crate::engine::gpu::layout::{MAX_GROUPS, Sweeping};
use crate::engine::gpu::readback::{Arriving, Output, Pool};
use crate::error::EngineError;
use bytemuck::bytes_of;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wgpu::BufferUsages;

/// How long a submission should take.
const SUBMISSION: Duration = Duration::from_millis(100);
/// Cells of a submission before any has been timed, at least and at most: letters times rows.
const FIRST_CELLS: f64 = 3.4e10;
const LEAST_CELLS: f64 = 1e9;
const MOST_CELLS: f64 = 1e14;
/// A submission is at most so many times as large as one that was timed.
const GROWTH: f64 = 16.0;
/// Ends that come back with their number; more are fetched.
const FEW: usize = 1 << 14;
/// What the room for ends grows by when they don't fit.
const MORE_ROOM: usize = 8;
/// Threads of a dispatch, at most: the count of ends may run so far over.
const THREADS_AT_ONCE: f64 = 268_435_456.0;
/// Bytes of an end, and those in front of the first: their number.
const END: u64 = 8;
const COUNT: u64 = 8;
/// Bytes of two timestamps.
const TIMES: u64 = 16;
/// Bytes between two strips of rows, at most.
const EDGES: u64 = 1 << 29;
/// The bits of an end's edits.
const EDITS: u32 = (1 << EDIT_BITS) - 1;

/// Sweeps patterns.
pub struct Sweeper {
    work: Grown,
    records: Grown,
    found: Grown,
    edges: Grown,
    stamps: Grown,
    times: Option<wgpu::QuerySet>,
    pool: Arc<Pool>,
    cells: f64,
    /// Ends that there is room for.
    room: usize,
    /// Time in kernels so far.
    pub kernel_time: Duration,
}

/// A text that the device has turned.
pub struct Turned<'a> {
    pub planes: &'a wgpu::Buffer,
    pub shape: &'a Shape,
    pub letters: usize,
}

/// Patterns of one kernel, and what it is told of them.
pub struct Patterns<'a> {
    pub variant: Variant,
    pub kernel: &'a wgpu::ComputePipeline,
    pub records: &'a [u32],
    pub count: usize,
}

/// What one dispatch sweeps.
#[derive(Clone, Debug)]
struct Piece {
    patterns: Range<u32>,
    words: Range<u32>,
}

impl Piece {
    /// Two halves; `None` where there is but one workgroup.
    fn halves(self) -> Option<[Piece; 2]> {
        if self.patterns.len() > 1 {
            return Some(self.split_patterns(|count| count / 2));
        }
        let half = (self.words.len() as u32).div_ceil(2).next_multiple_of(THREADS);
        (half < self.words.len() as u32).then(|| self.split_words(half))
    }

    fn split_patterns(self, count: impl Fn(u32) -> u32) -> [Piece; 2] {
        let middle = self.patterns.start + count(self.patterns.len() as u32);
        let Piece { patterns, words } = self;
        let first = Piece { patterns: patterns.start..middle, words: words.clone() };
        [first, Piece { patterns: middle..patterns.end, words }]
    }

    fn split_words(self, count: u32) -> [Piece; 2] {
        let middle = self.words.start + count;
        let Piece { patterns, words } = self;
        let first = Piece { patterns: patterns.clone(), words: words.start..middle };
        [first, Piece { patterns, words: middle..words.end }]
    }
}

/// What all dispatches of a group of patterns have in common.
struct Bound {
    group: wgpu::BindGroup,
    work: wgpu::Buffer,
    found: wgpu::Buffer,
    capacity: usize,
}

impl Sweeper {
    pub fn new(device: &Device) -> Sweeper {
        let grown = |label, usage| Grown::new(label, usage | BufferUsages::COPY_DST);
        let times = device.tick.map(|_| {
            device.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        });
        Sweeper {
            work: grown("sweep", BufferUsages::STORAGE),
            records: grown("patterns", BufferUsages::STORAGE),
            found: grown("ends", BufferUsages::STORAGE | BufferUsages::COPY_SRC),
            edges: grown("edges of strips", BufferUsages::STORAGE),
            stamps: grown("timestamps", BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            times,
            pool: Arc::default(),
            cells: FIRST_CELLS,
            room: 0,
            kernel_time: Duration::ZERO,
        }
    }

    /// Sweeps patterns over a text; gives the place of the pattern, the end and the edits of each end to
    /// `take`. There is room for `room` ends at first, and for about `most` at most.
    pub fn sweep(
        &mut self,
        device: &Device,
        text: &Turned,
        patterns: &Patterns,
        (room, most): (usize, usize),
        mut take: impl FnMut(u32, u32, u32),
    ) -> Result<(), EngineError> {
        let &Turned { planes, shape, letters } = text;
        let &Patterns { variant, kernel, records, count } = patterns;
        let record = records.len() / count;
        let rows = if variant.strips { records[3] * variant.rows } else { variant.rows };
        let word_cells = (shape.columns() * 32) as f64 * f64::from(rows);
        let columns = shape.columns() as u32;
        let blocks = columns.div_ceil(variant.columns());
        // Bytes between strips, for each word and pattern.
        let edge = if variant.strips { u64::from(columns.next_multiple_of(GROUP)) * 8 } else { 0 };
        let buffer = self.records.with_room(device, records.len() as u64 * 4)?.clone();
        device.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(records));
        self.room = self.room.max(room);
        let mut bound = self.bind(device, kernel, [planes, &buffer], variant.strips)?;
        let mut pieces = vec![Piece { patterns: 0..count as u32, words: 0..shape.words as u32 }];
        while let Some(piece) = pieces.pop() {
            let (now, later) = self.cut(piece, word_cells, edge);
            pieces.extend(later);
            if edge > 0 {
                self.edges.with_room(device, edge * (now.words.len() * now.patterns.len()) as u64)?;
                bound = self.bind(device, kernel, [planes, &buffer], variant.strips)?;
            }
            let sweeping = Sweeping {
                words: shape.words as u32,
                first: now.words.start,
                end: now.words.end,
                pattern: now.patterns.start,
                record: record as u32,
                before: shape.before as u32,
                blocks,
                chunk: shape.chunk as u32,
                letters: letters as u32,
                capacity: bound.capacity as u32,
            };
            let cells = word_cells * (now.words.len() * now.patterns.len()) as f64;
            let (found, output) =
                self.run(device, kernel, &bound, (&sweeping, now.patterns.len() as u32), cells)?;
            if found > bound.capacity {
                drop(output);
                // The count ends a little above the capacity: how many there are is not known.
                let halves = now.clone().halves();
                if bound.capacity < most || halves.is_none() {
                    self.room = bound.capacity * MORE_ROOM;
                    match (self.bind(device, kernel, [planes, &buffer], variant.strips), &halves) {
                        (Err(EngineError::OutOfMemory(_)), Some(_)) => self.room = bound.capacity,
                        (more, _) => {
                            bound = more?;
                            pieces.push(now);
                            continue;
                        }
                    }
                    bound = self.bind(device, kernel, [planes, &buffer], variant.strips)?;
                }
                pieces.extend(halves.into_iter().flatten());
                continue;
            }
            let ends: &[[u32; 2]] = bytemuck::cast_slice(&output.as_ref()[2..2 + 2 * found]);
            for &[end, rest] in ends {
                let pattern = rest >> EDIT_BITS;
                if pattern >= now.patterns.len() as u32 || !(1..=letters).contains(&(end as usize)) {
                    return Err(EngineError::Wrong(format!(
                        "an end at {end} of a text of {letters} letters"
                    )));
                }
                take(now.patterns.start + pattern, end, rest & EDITS);
            }
        }
        Ok(())
    }

    /// What of a piece is done in one go, and the rest.
    fn cut(&self, piece: Piece, word_cells: f64, edge: u64) -> (Piece, Option<Piece>) {
        let words = piece.words.len() as f64;
        let most = (self.cells / word_cells).min(EDGES as f64 / edge as f64).min(THREADS_AT_ONCE);
        let patterns = ((most / words) as u32).clamp(1, MAX_GROUPS);
        if patterns < piece.patterns.len() as u32 {
            let [now, later] = piece.split_patterns(|_| patterns);
            return (now, Some(later));
        }
        let words = (most as u32 / THREADS * THREADS).clamp(THREADS, MAX_GROUPS * THREADS);
        if piece.patterns.len() == 1 && words < piece.words.len() as u32 {
            let [now, later] = piece.split_words(words);
            return (now, Some(later));
        }
        (piece, None)
    }

    /// Binds the buffers of a kernel.
    fn bind(
        &mut self,
        device: &Device,
        kernel: &wgpu::ComputePipeline,
        [planes, records]: [&wgpu::Buffer; 2],
        strips: bool,
    ) -> Result<Bound, EngineError> {
        let work = self.work.with_room(device, size_of::<Sweeping>() as u64)?.clone();
        let found = self.found.with_room(device, COUNT + self.room.max(FEW) as u64 * END)?.clone();
        let mut buffers = vec![&work, planes, records, &found];
        if strips {
            buffers.push(self.edges.with_room(device, 0)?);
        }
        let group = bind(device, kernel, &buffers)?;
        Ok(Bound { group, work, found, capacity: self.room })
    }

    /// Runs a dispatch; gives the number of ends, and the ends where there was room for all of them, behind
    /// two words.
    fn run(
        &mut self,
        device: &Device,
        kernel: &wgpu::ComputePipeline,
        bound: &Bound,
        (sweeping, patterns): (&Sweeping, u32),
        cells: f64,
    ) -> Result<(usize, Output), EngineError> {
        let begun = Instant::now();
        device.queue.write_buffer(&bound.work, 0, bytes_of(sweeping));
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.clear_buffer(&bound.found, 0, Some(COUNT));
        let timestamp_writes = self.times.as_ref().map(|times| wgpu::ComputePassTimestampWrites {
            query_set: times,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        pass.set_pipeline(kernel);
        pass.set_bind_group(0, &bound.group, &[]);
        pass.dispatch_workgroups((sweeping.end - sweeping.first).div_ceil(THREADS), patterns, 1);
        drop(pass);
        let bytes = COUNT + FEW as u64 * END;
        let readback = self.pool.take(device, bytes + TIMES)?;
        encoder.copy_buffer_to_buffer(&bound.found, 0, &readback, 0, bytes);
        if let Some(times) = &self.times {
            let stamps = self.stamps.with_room(device, TIMES)?;
            encoder.resolve_query_set(times, 0..2, stamps, 0);
            encoder.copy_buffer_to_buffer(stamps, 0, &readback, bytes, TIMES);
        }
        let output = self.read(device, encoder, readback, bytes + TIMES)?;
        let times: &[u64] = bytemuck::cast_slice(&output.as_ref()[(bytes / 4) as usize..]);
        let mut took = begun.elapsed();
        if let Some(tick) = device.tick {
            let ticks = times[1].saturating_sub(times[0]);
            took = Duration::from_nanos((ticks as f64 * f64::from(tick)) as u64);
            self.kernel_time += took;
        }
        self.learn(cells, took);
        let found = output.as_ref()[0] as usize;
        if found <= FEW || found > bound.capacity {
            return Ok((found, output));
        }
        drop(output);
        let bytes = COUNT + found as u64 * END;
        let readback = self.pool.take(device, bytes)?;
        let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&bound.found, 0, &readback, 0, bytes);
        Ok((found, self.read(device, encoder, readback, bytes)?))
    }

    /// Submits, waits, and gives the first `bytes` of `readback`.
    fn read(
        &self,
        device: &Device,
        encoder: wgpu::CommandEncoder,
        readback: wgpu::Buffer,
        bytes: u64,
    ) -> Result<Output, EngineError> {
        device.queue.submit([encoder.finish()]);
        let (view, readback) = Arriving::new(readback, bytes).arrive(device)?;
        Ok(Output::new(view, bytes as usize, readback, Arc::clone(&self.pool)))
    }

    /// Sizes the next submissions by what the last took.
    fn learn(&mut self, cells: f64, took: Duration) {
        let wanted = cells / took.as_secs_f64().max(1e-5) * SUBMISSION.as_secs_f64();
        if wanted < self.cells || cells > self.cells / 2.0 {
            self.cells = wanted.min(GROWTH * self.cells).clamp(LEAST_CELLS, MOST_CELLS);
        }
    }
}
