//! Approximate search on a GPU. The packed text is uploaded and transposed into columns once for all patterns. A
//! kernel generated for each pattern length sweeps over it (`shaders/sliced.wgsl`).
//!
//! If there are many pattern lengths, they are rounded up: rows that match everything, put before a pattern, change
//! none of its ends.

mod append;
pub mod bases;
pub mod bitap;
pub mod diagonals;
pub mod dictionary;
mod kernels;
pub mod shader;
mod shape;
mod sweep;
mod tasks;

use crate::engine::gpu::Card;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{self, Launch, Submission};
use crate::patterns::sliced::packed::PackedText;
use crate::terms::casts::{to_i32, to_isize, to_u32};
use crate::terms::error::EngineError;
use append::RecordRoom;
use bytemuck::bytes_of;
use kernels::{ScanKernel, compiled};
use shader::{ALL, HEADER, MOST_GAPLESS, MOST_ROWS, STRIP_ROWS, ScanVariant, THREADS, is_iupac, slot_of};
use shape::{ChunkShape, PlaneCopy, WORD};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use sweep::{Sweeper, SweptPatterns, Transposed};
use tasks::Transposing;
use wgpu::BufferUsages;

/// Maximum pattern length in bases that a device accepts; it keeps a thread's sweep far below the watchdog limit.
pub const MOST_LETTERS: usize = 1024;
/// If there are at most this many pattern lengths, each has a kernel of its own. Otherwise all lengths are rounded up
/// to a multiple of [`ROUNDED`].
const LENGTHS: usize = 6;
const ROUNDED: u32 = 8;
/// Maximum number of bases of a text on the device.
const TEXT: usize = 1 << 30;

/// An end: index of the pattern, 0-based exclusive end in the text, and edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundEnd {
    pub pattern: u32,
    pub end: u32,
    pub edits: u32,
}

/// A pattern: its classes, coded as in the scanned text (one bit per base, one for other characters), and its maximum
/// number of edits.
#[derive(Clone, Copy, Debug)]
pub struct ClassPattern<'a> {
    pub classes: &'a [u8],
    pub allowed: u32,
    /// Whether insertions and deletions are edits.
    pub gaps: bool,
}

impl ClassPattern<'_> {
    /// Whether a device can search for this pattern.
    pub fn fits(&self) -> bool {
        let most = if self.gaps { MOST_LETTERS } else { MOST_GAPLESS as usize };
        (1..=most).contains(&self.classes.len()) && self.classes.iter().all(|&c| slot_of(c).is_some())
    }
}

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug)]
pub struct ScanTuning {
    /// Bases per chunk; `None` chooses by the text length and the number of patterns.
    pub chunk: Option<usize>,
    /// Number of threads that keeps a device busy.
    pub threads: usize,
    /// Capacity for ends: initial and maximum.
    pub ends: (usize, usize),
    /// Bases of a text on the device.
    pub text: usize,
    /// Maximum number of pattern lengths with kernels of their own.
    pub lengths: usize,
}

impl Default for ScanTuning {
    fn default() -> ScanTuning {
        ScanTuning { chunk: None, threads: 1 << 16, ends: (1 << 20, 1 << 25), text: TEXT, lengths: LENGTHS }
    }
}

/// Finds ends on a GPU.
pub struct Scanner {
    card: Arc<Card>,
    tuning: ScanTuning,
    state: Mutex<ScanState>,
}

/// Device buffers.
struct ScanState {
    packed: Grown,
    planes: Grown,
    sweeper: Sweeper,
}

/// The ends found so far.
struct FoundEnds {
    ends: Vec<FoundEnd>,
    most: usize,
}

impl FoundEnds {
    /// Whether the limit is exceeded, so that more ends are useless.
    fn are_too_many(&self) -> bool {
        self.ends.len() > self.most
    }
}

/// Patterns that one kernel sweeps.
struct PatternGroup {
    variant: ScanVariant,
    /// Indices of the patterns.
    patterns: Vec<u32>,
    records: Vec<u32>,
    /// Smallest possible end of each pattern: without gaps its length.
    least: Vec<u32>,
    /// Rows of a pattern, including padding.
    rows: u32,
}

impl Scanner {
    pub fn new(card: Arc<Card>) -> Scanner {
        let storage = |label, more| Grown::new(label, BufferUsages::STORAGE | more);
        let state = ScanState {
            packed: storage("packed text", BufferUsages::COPY_DST),
            planes: storage("planes", BufferUsages::empty()),
            sweeper: Sweeper::new(&card.runtime.device),
        };
        Scanner { card, tuning: ScanTuning::default(), state: Mutex::new(state) }
    }

    pub fn tuned(self, tuning: ScanTuning) -> Scanner {
        Scanner { tuning, ..self }
    }

    pub fn describe(&self) -> String {
        format!("GPU {}", self.card.name())
    }

    /// Time spent sweeping so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.state.lock().map_or(Duration::ZERO, |state| state.sweeper.kernel_time())
    }

    /// All ends of all patterns in the text, in any order. All patterns must fit ([`ClassPattern::fits`]). If there are
    /// more than `most` ends, the result is incomplete, but has more than `most` of them.
    pub fn scan(
        &self,
        text: &PackedText,
        patterns: &[ClassPattern],
        most: usize,
    ) -> Result<Vec<FoundEnd>, EngineError> {
        let mut found = FoundEnds { ends: Vec::new(), most };
        if text.is_empty() || patterns.is_empty() {
            return Ok(found.ends);
        }
        let groups = self.groups(patterns);
        let mut state =
            self.state.lock().map_err(|_| EngineError::Lost("a scan has failed before".to_string()))?;
        let limits = &self.card.runtime.device.limits;
        // Three bits per base, plus the overlap of chunks.
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let mut letters = self.tuning.text.min(usize::try_from(binding).unwrap_or(usize::MAX)).max(1);
        let mut first = 0;
        while first < text.len() && !found.are_too_many() {
            let own = first..text.len().min(first + letters);
            let len = found.ends.len();
            match self.scan_part(&mut state, text, own.clone(), &groups, &mut found) {
                Err(EngineError::OutOfMemory(_)) if own.len() > THREADS as usize * WORD => {
                    found.ends.truncate(len);
                    letters = own.len() / 2;
                }
                outcome => {
                    outcome?;
                    first = own.end;
                }
            }
        }
        Ok(found.ends)
    }

    /// The ends in a part of the text.
    fn scan_part(
        &self,
        state: &mut ScanState,
        text: &PackedText,
        own: Range<usize>,
        groups: &[PatternGroup],
        found: &mut FoundEnds,
    ) -> Result<(), EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let before = groups.iter().map(PatternGroup::before).max().unwrap_or(0);
        let patterns = groups.iter().map(|group| group.patterns.len()).sum();
        let shape = match self.tuning.chunk {
            Some(chunk) => ChunkShape::of_chunks(own.len(), chunk, before),
            None => ChunkShape::new(own.len(), patterns, before, self.tuning.threads),
        };
        self.load(state, text, own.clone(), &shape)?;
        let planes = state.planes.with_room(&runtime.device, 0)?.clone();
        for group in groups {
            if found.are_too_many() {
                break;
            }
            let records = group.records_for(&shape);
            let kernel = compiled(&self.card, ScanKernel::Sweep(group.variant))?;
            state.sweeper.sweep(
                runtime,
                &Transposed { planes: &planes, shape: &shape, letters: own.len() },
                &SweptPatterns {
                    variant: group.variant,
                    kernel: &kernel,
                    records: &records,
                    count: group.patterns.len(),
                },
                RecordRoom::from(self.tuning.ends),
                |place, end, edits| {
                    let pattern = group.patterns[place as usize];
                    let end = to_u32(own.start) + end;
                    if end >= group.least[place as usize] && !found.are_too_many() {
                        found.ends.push(FoundEnd { pattern, end, edits });
                    }
                },
            )?;
        }
        Ok(())
    }

    /// Uploads and transposes a part of a text.
    fn load(
        &self,
        state: &mut ScanState,
        text: &PackedText,
        own: Range<usize>,
        shape: &ChunkShape,
    ) -> Result<(), EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let device = &runtime.device;
        let plane_words = shape.plane_words();
        let words = plane_words * shader::PLANES as usize;
        let packed = state.packed.with_room(device, words as u64 * 4)?.clone();
        let from = to_isize(own.start) - to_isize(shape.before);
        let planes = PlaneCopy { text, own: 0..own.end, from, plane_words };
        runtime.upload(&packed, 0..words, |words, packed| planes.copy(words, packed))?;
        // Kernels read a block ahead.
        let columns = shape.columns() + 2 * WORD;
        let bytes = (columns * shape.words * shader::PLANES as usize) as u64 * 4;
        let planes = state.planes.with_room(device, bytes)?.clone();
        let transposing = Transposing {
            words: to_u32(shape.words),
            chunk: to_u32(shape.chunk / WORD),
            stride: to_u32(plane_words),
        };
        let kernel = compiled(&self.card, ScanKernel::Transpose)?;
        transpose(device, &kernel, &transposing, shape, [&packed, &planes])
    }

    /// Groups the patterns by the kernels that sweep them.
    fn groups(&self, patterns: &[ClassPattern]) -> Vec<PatternGroup> {
        let lengths: BTreeSet<usize> = patterns.iter().map(|pattern| pattern.classes.len()).collect();
        let many = lengths.len() > self.tuning.lengths;
        let rows_of = |len: usize| match to_u32(len) {
            rows if rows > MOST_ROWS => rows.next_multiple_of(STRIP_ROWS),
            rows if many => rows.next_multiple_of(ROUNDED),
            rows => rows,
        };
        let mut by_kernel: BTreeMap<(u32, bool, bool), Vec<u32>> = BTreeMap::new();
        for (place, pattern) in (0..).zip(patterns) {
            let iupac = pattern.classes.iter().any(|&class| slot_of(class).is_some_and(is_iupac));
            by_kernel.entry((rows_of(pattern.classes.len()), iupac, pattern.gaps)).or_default().push(place);
        }
        let group = |((rows, iupac, gaps), places): ((u32, bool, bool), Vec<u32>)| {
            let own = places.iter().map(|&place| &patterns[place as usize]);
            let variant =
                if gaps { ScanVariant::new(rows, iupac) } else { ScanVariant::gapless(rows, iupac) };
            let records = own.clone().flat_map(|pattern| record(pattern, rows)).collect();
            let least = own.map(|own| if own.gaps { 0 } else { to_u32(own.classes.len()) }).collect();
            PatternGroup { variant, patterns: places, records, least, rows }
        };
        by_kernel.into_iter().map(group).collect()
    }
}

/// Words in the record of a pattern of `rows` rows.
fn record_words(rows: u32) -> u32 {
    HEADER + rows.div_ceil(4)
}

/// The kernel's record of a pattern of `rows` rows. Its first word is the number of columns that the pattern needs
/// before a chunk; the caller replaces it by the first block.
fn record(pattern: &ClassPattern, rows: u32) -> Vec<u32> {
    let (len, allowed) = (to_u32(pattern.classes.len()), pattern.allowed);
    let slots: Vec<u32> = (len..rows)
        .map(|_| ALL)
        .chain(pattern.classes.iter().copied())
        .map(|class| slot_of(class).unwrap_or_default())
        .collect();
    let word = |slots: &[u32]| slots.iter().rev().fold(0, |word, &slot| word << 8 | slot);
    // The longest span of a hit without its last base, plus one base for each padding row.
    let span = if pattern.gaps { len + allowed } else { len };
    let before = span + (rows - len) - 1;
    // Without gaps, no row has a mismatch yet.
    let first = if pattern.gaps { to_i32(rows) } else { 0 };
    let number = (first - to_i32(allowed) - 1).cast_unsigned();
    let header = [before, number, allowed + 1, rows / STRIP_ROWS];
    header.into_iter().chain(slots.chunks(4).map(word)).collect()
}

impl PatternGroup {
    /// Columns that its patterns need before a chunk.
    fn before(&self) -> usize {
        let records = self.records.chunks(record_words(self.rows) as usize);
        records.map(|record| record[0]).max().unwrap_or(0) as usize
    }

    /// The records with the first blocks of columns for this shape.
    fn records_for(&self, shape: &ChunkShape) -> Vec<u32> {
        let mut records = self.records.clone();
        for record in records.chunks_mut(record_words(self.rows) as usize) {
            record[0] = (to_u32(shape.before) - record[0]) / self.variant.columns();
        }
        records
    }
}

/// Transposes a packed text on the device.
fn transpose(
    device: &GpuDevice,
    kernel: &wgpu::ComputePipeline,
    transposing: &Transposing,
    shape: &ChunkShape,
    [packed, planes]: [&wgpu::Buffer; 2],
) -> Result<(), EngineError> {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let work = buffers::create(device, "transposing", usage, size_of::<Transposing>() as u64)?;
    device.queue.write_buffer(&work, 0, bytes_of(transposing));
    let bindings = bind(device, kernel, &[&work, packed, planes])?;
    let groups = to_u32(shape.words).div_ceil(THREADS);
    let groups = [groups, to_u32(shape.columns() / WORD), shader::PLANES];
    let mut submission = Submission::new(device, None);
    submission.launch(&Launch::in_groups(kernel, &bindings, groups));
    submission.submit(device);
    device.check()
}

/// Binds whole buffers by their position.
fn bind(
    device: &GpuDevice,
    kernel: &wgpu::ComputePipeline,
    buffers: &[&wgpu::Buffer],
) -> Result<wgpu::BindGroup, EngineError> {
    run::bind(device, kernel, (0..).zip(buffers.iter().map(|buffer| buffer.as_entire_binding())))
}
