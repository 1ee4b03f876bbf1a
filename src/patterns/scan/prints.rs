//! Fingerprints of a text stored on the device (`shaders/prints.wgsl`). The positions of the residues that end a window
//! at a cut are appended to a buffer in any order and sorted here. If they don't fit, the buffer grows, or the work is
//! repeated in halves. The caller defines the fingerprints by tables.

pub mod shader;

use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::tasks::Printing;
use crate::engine::gpu::Card;
use crate::engine::gpu::layout::ResiduePacking;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{Launch, Readback, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::alphabet::CODES;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use bytemuck::bytes_of;
use rayon::prelude::*;
use shader::{PrintVariant, THREADS, UNIT};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wgpu::BufferUsages;

/// Number of threads that keeps a device busy.
const BUSY: usize = 1 << 19;
/// Minimum and maximum number of units per thread's chunk. A chunk is at least `WINDOWS` windows long.
const LEAST: usize = 8;
const MOST: usize = 64;
const WINDOWS: usize = 4;
/// Units per submission: a billion residues, far below any watchdog limit.
const SUBMISSION: usize = 1 << 25;
/// Cuts read back together with their count; further cuts need another read.
const FEW: usize = 1 << 14;
/// Capacity for cuts: initial and maximum.
const ROOM: usize = 1 << 16;
const MOST_ROOM: usize = 1 << 28;
/// Bytes before the first cut; they hold the count.
const COUNT: u64 = 8;

/// A fingerprint rule, as the kernels need it.
#[derive(Clone, Debug)]
pub struct PrintRule {
    /// Window length in residues; `None` for the gear hash, whose window is a unit.
    pub window: Option<usize>,
    /// A window ends at a cut if its fingerprint has these bits.
    pub mask: u32,
    /// By code or by the highest five bits: the value added when a code enters, the reduction of the highest five bits,
    /// and the value removed when a code leaves.
    pub tables: [[u32; CODES]; 3],
}

impl PrintRule {
    fn variant(&self, letters: ResiduePacking) -> PrintVariant {
        let is_value = (0..).zip(self.tables[0]).all(|(code, entry)| code == entry);
        // The codes of packed nucleotides are already their values.
        let looked_up = !is_value && letters == ResiduePacking::Codes;
        PrintVariant { letters, window: self.window.map(to_u32), looked_up }
    }

    fn letters(&self) -> usize {
        self.window.unwrap_or(UNIT)
    }
}

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug)]
pub struct PrintTuning {
    /// Units per thread's chunk; `None` chooses by the text length.
    pub chunk: Option<usize>,
    /// Units per submission.
    pub submission: usize,
    /// Capacity for cuts: initial and maximum.
    pub room: (usize, usize),
}

impl Default for PrintTuning {
    fn default() -> PrintTuning {
        PrintTuning { chunk: None, submission: SUBMISSION, room: (ROOM, MOST_ROOM) }
    }
}

/// A text on the device.
pub struct PrintText {
    buffer: wgpu::Buffer,
    letters: ResiduePacking,
    len: usize,
}

/// Finds cuts on a GPU.
pub struct PrintScan {
    card: Arc<Card>,
    tuning: PrintTuning,
    state: Mutex<PrintState>,
}

/// Device buffers other than texts.
struct PrintState {
    work: Grown,
    tables: Grown,
    found: Grown,
    stamps: Stamps,
    stopwatch: Stopwatch,
    /// Capacity for cuts.
    room: usize,
}

/// A text, and how to process it.
struct Print<'a> {
    text: &'a PrintText,
    rule: &'a PrintRule,
    kernel: &'a wgpu::ComputePipeline,
    chunk: usize,
}

impl PrintScan {
    pub fn new(card: Arc<Card>) -> PrintScan {
        let device = &card.runtime.device;
        let storage = |label, more| Grown::new(label, BufferUsages::STORAGE | BufferUsages::COPY_DST | more);
        let state = PrintState {
            work: storage("printing", BufferUsages::empty()),
            tables: storage("tables of fingerprints", BufferUsages::empty()),
            found: storage("cuts", BufferUsages::COPY_SRC),
            stamps: Stamps::new(device),
            stopwatch: Stopwatch::default(),
            room: 0,
        };
        PrintScan { card, tuning: PrintTuning::default(), state: Mutex::new(state) }
    }

    pub fn tuned(self, tuning: PrintTuning) -> PrintScan {
        PrintScan { tuning, ..self }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.state.lock().map_or(Duration::ZERO, |state| state.stopwatch.total())
    }

    /// Packs a text of codes and uploads it.
    pub fn load(&self, codes: &[u8], letters: ResiduePacking) -> Result<PrintText, EngineError> {
        let len = codes.len();
        if len > u32::MAX as usize - UNIT {
            let problem = "residues exceed the limit of the GPU";
            return Err(EngineError::Unsupported(format!("{len} {problem}")));
        }
        let runtime = &self.card.runtime;
        let words = len.div_ceil(UNIT) * UNIT * letters.bits() as usize / 32;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer = buffers::create(&runtime.device, "text to cut", usage, words as u64 * 4)?;
        runtime.upload(&buffer, 0..words, |words, packed| letters.pack_text(codes, words, packed))?;
        Ok(PrintText { buffer, letters, len })
    }

    /// The cuts of a text, ascending, each as the number of residues before it.
    pub fn cuts(&self, text: &PrintText, rule: &PrintRule) -> Result<Vec<u32>, EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let units = text.len.div_ceil(UNIT);
        let mut state =
            self.state.lock().map_err(|_| EngineError::Lost("a scan has failed before".to_string()))?;
        let kernel = compiled(&self.card, ScanKernel::Print(rule.variant(text.letters)))?;
        let print = Print { text, rule, kernel: &kernel, chunk: self.chunk(units, rule) };
        let tables = state.tables.with_room(&runtime.device, size_of_val(&rule.tables) as u64)?;
        runtime.device.queue.write_buffer(tables, 0, bytemuck::cast_slice(&rule.tables));
        state.room = state.room.max(self.tuning.room.0);
        let submission = self.tuning.submission.max(1);
        let mut portions: Vec<Range<usize>> =
            (0..units).step_by(submission).map(|first| first..units.min(first + submission)).collect();
        let mut cuts = Vec::new();
        while let Some(portion) = portions.pop() {
            match self.run(&mut state, &print, portion.clone())? {
                Ok((count, output)) => print.take(&output.as_ref()[2..2 + count], &mut cuts)?,
                Err(count) if count <= self.tuning.room.1 || portion.len() == 1 => {
                    state.room = count;
                    portions.push(portion);
                }
                Err(_) => {
                    let middle = portion.start + portion.len() / 2;
                    portions.extend([middle..portion.end, portion.start..middle]);
                }
            }
        }
        cuts.par_sort_unstable();
        match cuts.par_windows(2).any(|two| two[0] == two[1]) {
            true => Err(EngineError::Wrong("a cut that was found twice".to_string())),
            false => Ok(cuts),
        }
    }

    /// Units per thread's chunk.
    fn chunk(&self, units: usize, rule: &PrintRule) -> usize {
        let least = LEAST.max(WINDOWS * rule.letters().div_ceil(UNIT));
        let chosen = (units / BUSY).clamp(least, MOST.max(least));
        self.tuning.chunk.unwrap_or(chosen).max(1)
    }

    /// Runs a dispatch. Returns the number of cuts and, if there was room for all of them, two words followed by the
    /// cuts.
    fn run(
        &self,
        state: &mut PrintState,
        print: &Print,
        units: Range<usize>,
    ) -> Result<Result<(usize, Readback), usize>, EngineError> {
        let runtime = &self.card.runtime;
        let device = &runtime.device;
        let capacity = state.room;
        let threads = to_u32(units.len().div_ceil(print.chunk));
        let printing = Printing {
            letters: to_u32(print.text.len),
            first: to_u32(units.start),
            end: to_u32(units.end),
            chunk: to_u32(print.chunk),
            mask: print.rule.mask,
            capacity: to_u32(capacity),
        };
        let (bindings, found) = state.bind(device, print, &printing)?;
        let mut submission = Submission::new(device, state.stamps.clock(device)?);
        submission.clear(&found, COUNT);
        submission.launch(&Launch::new(print.kernel, &bindings, threads.div_ceil(THREADS)));
        let cuts =
            |count: usize| vec![Transfer { from: found.clone(), start: 0, bytes: COUNT + count as u64 * 4 }];
        let few = FEW.min(capacity);
        let (output, times) = runtime.wait_for(runtime.submit_for(submission, cuts(few))?)?;
        state.stopwatch.add(device.tick, times);
        let count = output.as_ref()[0] as usize;
        if count > capacity {
            return Ok(Err(count));
        }
        if count <= few {
            return Ok(Ok((count, output)));
        }
        drop(output);
        let rest = runtime.submit_for(Submission::new(device, None), cuts(count))?;
        Ok(Ok((count, runtime.wait_for(rest)?.0)))
    }
}

impl PrintState {
    /// Binds the buffers of a kernel, and sets its parameters for the next submission.
    fn bind(
        &mut self,
        device: &GpuDevice,
        print: &Print,
        printing: &Printing,
    ) -> Result<(wgpu::BindGroup, wgpu::Buffer), EngineError> {
        let work = self.work.with_room(device, size_of::<Printing>() as u64)?;
        device.queue.write_buffer(work, 0, bytes_of(printing));
        let tables = self.tables.with_room(device, 0)?;
        let found = self.found.with_room(device, COUNT + self.room as u64 * 4)?;
        Ok((bind(device, print.kernel, &[work, &print.text.buffer, tables, found])?, found.clone()))
    }
}

impl Print<'_> {
    /// Adds the cuts after the residues at `places`. Windows that begin before the text are skipped.
    fn take(&self, places: &[u32], cuts: &mut Vec<u32>) -> Result<(), EngineError> {
        let len = self.text.len;
        if let Some(place) = places.iter().find(|&&place| place as usize >= len) {
            return Err(EngineError::Wrong(format!("a cut behind letter {place} of {len}")));
        }
        let window = to_u32(self.rule.letters());
        cuts.extend(places.iter().map(|place| place + 1).filter(|&cut| cut >= window));
        Ok(())
    }
}
