//! Fingerprints of a text stored on the device (`shaders/prints.wgsl`). The positions of the residues that end a window
//! at a cut are appended to a list in any order and sorted here. The caller defines the fingerprints by tables.

pub mod shader;

use super::append::{Appender, AppendingKernel, ListBuffers, RecordRoom, halves_of};
use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::tasks::Printing;
use crate::engine::gpu::Card;
use crate::engine::gpu::layout::ResiduePacking;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch};
use crate::terms::alphabet::CODES;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
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
/// Units per submission as a pace that stays as it is.
const UNITS: CellRange =
    CellRange { first: SUBMISSION as u64, least: SUBMISSION as u64, most: SUBMISSION as u64, growth: 1 };
/// Capacity for cuts: initial and maximum.
const ROOM: usize = 1 << 16;
const MOST_ROOM: usize = 1 << 28;

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
    tables: Grown,
    appender: Appender,
}

/// A text, and how to process it.
struct Print<'a> {
    text: &'a PrintText,
    rule: &'a PrintRule,
    kernel: &'a wgpu::ComputePipeline,
    tables: &'a wgpu::Buffer,
    /// Units per thread's chunk, and per submission.
    chunk: usize,
    submission: usize,
    cuts: &'a mut Vec<u32>,
}

impl PrintScan {
    pub fn new(card: Arc<Card>) -> PrintScan {
        let device = &card.runtime.device;
        let tables = Grown::new("tables of fingerprints", BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let state = PrintState { tables, appender: Appender::new(device, UNITS) };
        PrintScan { card, tuning: PrintTuning::default(), state: Mutex::new(state) }
    }

    pub fn tuned(self, tuning: PrintTuning) -> PrintScan {
        PrintScan { tuning, ..self }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.state.lock().map_or(Duration::ZERO, |state| state.appender.kernel_time())
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
        let PrintState { tables, appender } = &mut *state;
        let kernel = compiled(&self.card, ScanKernel::Print(rule.variant(text.letters)))?;
        let tables = tables.with_room(&runtime.device, size_of_val(&rule.tables) as u64)?;
        runtime.device.queue.write_buffer(tables, 0, bytemuck::cast_slice(&rule.tables));
        let mut cuts = Vec::new();
        let mut print = Print {
            text,
            rule,
            kernel: &kernel,
            tables,
            chunk: self.chunk(units, rule),
            submission: self.tuning.submission.max(1),
            cuts: &mut cuts,
        };
        appender.run(runtime, &mut print, 0..units, RecordRoom::from(self.tuning.room))?;
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
}

impl AppendingKernel for Print<'_> {
    type Portion = Range<usize>;
    type Parameters = Printing;
    const WORDS: usize = 1;

    fn cut(&self, units: Range<usize>, _: u64) -> (Range<usize>, Option<Range<usize>>) {
        let end = units.end.min(units.start + self.submission);
        (units.start..end, (end < units.end).then_some(end..units.end))
    }

    fn halves(&self, units: Range<usize>) -> Option<[Range<usize>; 2]> {
        halves_of(units)
    }

    fn cells(&self, units: &Range<usize>) -> u64 {
        units.len() as u64
    }

    fn parameters(&self, units: &Range<usize>, capacity: u32) -> Printing {
        Printing {
            letters: to_u32(self.text.len),
            first: to_u32(units.start),
            end: to_u32(units.end),
            chunk: to_u32(self.chunk),
            mask: self.rule.mask,
            capacity,
        }
    }

    fn launch(
        &mut self,
        device: &GpuDevice,
        units: &Range<usize>,
        ListBuffers { parameters, list }: ListBuffers,
    ) -> Result<Launch, EngineError> {
        let threads = to_u32(units.len().div_ceil(self.chunk));
        let bindings = bind(device, self.kernel, &[parameters, &self.text.buffer, self.tables, list])?;
        Ok(Launch::new(self.kernel, &bindings, threads.div_ceil(THREADS)))
    }

    /// Adds the cuts after the residues at `places`. Windows that begin before the text are skipped.
    fn take(&mut self, _: &Range<usize>, places: &[u32]) -> Result<bool, EngineError> {
        let len = self.text.len;
        if let Some(place) = places.iter().find(|&&place| place as usize >= len) {
            return Err(EngineError::Wrong(format!("a cut behind letter {place} of {len}")));
        }
        let window = to_u32(self.rule.letters());
        self.cuts.extend(places.iter().map(|place| place + 1).filter(|&cut| cut >= window));
        Ok(true)
    }
}
