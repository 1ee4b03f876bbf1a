//! Approximate search in bytes, line by line, on a GPU (`shaders/bitap.wgsl`). The text is uploaded unchanged, and one
//! bit comes back for each byte: whether some pattern ends there. So the size of the answer is known in advance.
//!
//! The text is cut into one chunk per thread. A thread starts far enough before its chunk to see every match that ends
//! in the chunk. It starts as if at the beginning of a line, and ignores the ends it finds before its chunk.

mod ends;
pub mod shader;
mod wanted;

use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::tasks::Seeking;
use crate::engine::gpu::Card;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::MAX_GROUPS;
use crate::gpu::run::{Arrival, Launch, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::casts::{to_u32, to_usize};
use crate::terms::error::EngineError;
use bytemuck::bytes_of;
use ends::FoundPart;
pub use ends::TextEnds;
pub use shader::BitapVariant;
use shader::{THREADS, UNIT};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
pub use wanted::BytePattern;
use wgpu::BufferUsages;

/// Maximum number of text bytes per upload.
const PART: usize = 32 << 20;
/// Number of threads that keeps a device busy.
const BUSY: usize = 1 << 17;
/// A chunk is at least this many times its overlap.
const OVERLAP: usize = 4;
/// Maximum number of units per chunk, unless the overlap requires more.
const LONGEST: usize = 1 << 8;
/// Approximate number of words that a submission computes: tens of milliseconds on a small GPU, far below any watchdog
/// limit.
const SUBMISSION: u64 = 4_000_000_000;
/// Bytes of pattern tables per buffer.
const TABLES: u64 = 64 << 20;
/// Four bytes that pad the text; no pattern ends in them.
const NEWLINES: u32 = u32::from_ne_bytes([b'\n'; 4]);

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug)]
pub struct BitapTuning {
    /// Bytes per chunk; `None` chooses by the text length.
    pub chunk: Option<usize>,
    /// Bytes of text per upload.
    pub part: usize,
    /// Approximate number of words that a submission computes.
    pub submission: u64,
}

impl Default for BitapTuning {
    fn default() -> BitapTuning {
        BitapTuning { chunk: None, part: PART, submission: SUBMISSION }
    }
}

/// Finds the ends of patterns.
pub struct Bitap {
    card: Arc<Card>,
    tuning: BitapTuning,
    groups: Vec<TableGroup>,
    /// Units before a chunk.
    before: usize,
    /// Buffers for texts that are currently not in use.
    slots: Mutex<Vec<TextSlot>>,
    stopwatch: Mutex<Stopwatch>,
}

/// Patterns that one kernel searches for.
struct TableGroup {
    variant: BitapVariant,
    kernel: wgpu::ComputePipeline,
    tables: wgpu::Buffer,
    patterns: u32,
}

/// The device's buffers for a text.
struct TextSlot {
    work: Grown,
    text: Grown,
    ends: Grown,
    stamps: Stamps,
}

/// A text whose first part is under way.
pub struct Pending {
    part: Option<PartUnderWay>,
    /// Bytes per part.
    most: usize,
}

/// A part of a text under way.
struct PartUnderWay {
    own: Range<usize>,
    /// Units before it.
    lead: usize,
    slot: TextSlot,
    arrival: Arrival,
}

impl Bitap {
    /// All patterns in `wanted` must fit ([`BytePattern::fits`]).
    pub fn new(card: Arc<Card>, wanted: &[BytePattern]) -> Result<Bitap, EngineError> {
        let mut by_kernel: BTreeMap<BitapVariant, Vec<&BytePattern>> = BTreeMap::new();
        for pattern in wanted {
            let variant = pattern.variant().ok_or_else(|| {
                EngineError::Unsupported(
                    "the GPU does not support patterns of this length or with this number of edits"
                        .to_string(),
                )
            })?;
            by_kernel.entry(variant).or_default().push(pattern);
        }
        let mut groups = Vec::new();
        for (variant, patterns) in by_kernel {
            let most = TABLES / (u64::from(variant.table_words()) * 4);
            for patterns in patterns.chunks(to_usize(most)) {
                groups.push(TableGroup::new(&card, variant, patterns)?);
            }
        }
        let before = wanted.iter().map(BytePattern::before).max().unwrap_or(0).div_ceil(UNIT);
        Ok(Bitap {
            card,
            tuning: BitapTuning::default(),
            groups,
            before,
            slots: Mutex::default(),
            stopwatch: Mutex::default(),
        })
    }

    pub fn tuned(self, tuning: BitapTuning) -> Bitap {
        Bitap { tuning, ..self }
    }

    pub fn describe(&self) -> String {
        format!("GPU {}", self.card.name())
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.stopwatch.lock().map_or(Duration::ZERO, |stopwatch| stopwatch.total())
    }

    /// Begins the search of a text. Several searches may be under way; they finish in the order in which they began.
    pub fn begin(&self, text: &[u8]) -> Result<Pending, EngineError> {
        let limits = &self.card.runtime.device.limits;
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        // Half of the limit leaves room for the units before the part.
        let most = self.tuning.part.min(usize::try_from(binding / 2).unwrap_or(usize::MAX));
        let mut pending = Pending { part: None, most: (most / UNIT).max(1) * UNIT };
        if !text.is_empty() && !self.groups.is_empty() {
            pending.part = Some(self.begin_part(text, 0, &mut pending.most)?);
        }
        Ok(pending)
    }

    /// Waits for the search of `text`, which must be the text given to `begin`, and completes it.
    pub fn finish(&self, text: &[u8], pending: Pending) -> Result<TextEnds, EngineError> {
        let Pending { mut part, mut most } = pending;
        let mut ends = TextEnds::default();
        while let Some(begun) = part.take() {
            let done = begun.own.end;
            ends.parts.push(self.finish_part(begun)?);
            if done < text.len() {
                part = Some(self.begin_part(text, done, &mut most)?);
            }
        }
        Ok(ends)
    }

    /// Begins the part of a text at `first`, with `most` bytes, or fewer if memory is short.
    fn begin_part(&self, text: &[u8], first: usize, most: &mut usize) -> Result<PartUnderWay, EngineError> {
        loop {
            let own = first..text.len().min(first + *most);
            match self.submit(text, own) {
                Err(EngineError::OutOfMemory(_)) if *most > UNIT => *most = (*most / UNIT / 2).max(1) * UNIT,
                outcome => return outcome,
            }
        }
    }

    fn submit(&self, text: &[u8], own: Range<usize>) -> Result<PartUnderWay, EngineError> {
        let runtime = &self.card.runtime;
        let device = &runtime.device;
        let free = self.slots.lock().ok().and_then(|mut free| free.pop());
        let mut slot = free.unwrap_or_else(|| TextSlot::new(device));
        let lead = self.before.min(own.start / UNIT);
        let sent = &text[own.start - lead * UNIT..own.end];
        let units = sent.len().div_ceil(UNIT);
        let buffer = slot.text.with_room(device, (units * UNIT + 16) as u64)?;
        runtime.upload(buffer, 0..units * UNIT / 4, |words, packed| pack(sent, words, packed))?;
        let bytes = units as u64 * 4;
        let ends = slot.ends.with_room(device, bytes)?.clone();
        let (departure, arrival) = runtime.expect(vec![Transfer { from: ends, start: 0, bytes }])?;
        let mut submission = self.record(&mut slot, units)?;
        submission.depart(departure, 0);
        submission.submit(device);
        device.check()?;
        Ok(PartUnderWay { own, lead, slot, arrival })
    }

    /// Records all kernels for a text of `units` units, and returns the last submission. The device has begun with the
    /// earlier submissions.
    fn record(&self, slot: &mut TextSlot, units: usize) -> Result<Submission, EngineError> {
        let device = &self.card.runtime.device;
        let chunk = self.chunk(units);
        let threads = to_u32(units.div_ceil(chunk));
        let mut submission = Submission::new(device, slot.stamps.clock(device)?);
        submission.clear(slot.ends.with_room(device, 0)?, units as u64 * 4);
        let steps = self.groups.iter().flat_map(|group| group.steps(units, self.tuning.submission));
        for (number, (group, patterns)) in steps.enumerate() {
            if number > 0 {
                submission.begin(device);
            }
            let seeking = Seeking {
                units: to_u32(units),
                chunk: to_u32(chunk),
                before: to_u32(self.before),
                pattern: patterns.start,
                patterns: patterns.end,
            };
            let bindings = slot.bind(device, group, &seeking)?;
            submission.launch(&Launch::new(&group.kernel, &bindings, threads.div_ceil(THREADS)));
        }
        Ok(submission)
    }

    /// Units per chunk.
    fn chunk(&self, units: usize) -> usize {
        let least = OVERLAP * self.before.max(1);
        let wanted = match self.tuning.chunk {
            Some(bytes) => bytes.div_ceil(UNIT).max(1),
            None => (units / BUSY).clamp(least, least.max(LONGEST)),
        };
        wanted.max(units.div_ceil(MAX_GROUPS as usize * THREADS as usize))
    }

    /// Waits for a part.
    fn finish_part(&self, part: PartUnderWay) -> Result<FoundPart, EngineError> {
        let PartUnderWay { own, lead, slot, arrival } = part;
        let Card { runtime, .. } = self.card.as_ref();
        let (words, times) = runtime.wait_for(arrival)?;
        if let Ok(mut stopwatch) = self.stopwatch.lock() {
            stopwatch.add(runtime.device.tick, times);
        }
        if let Ok(mut free) = self.slots.lock() {
            free.push(slot);
        }
        let found = FoundPart { own, lead, words };
        match found.reaches_over_the_end() {
            true => Err(EngineError::Wrong("an end behind the text".to_string())),
            false => Ok(found),
        }
    }
}

impl TableGroup {
    fn new(card: &Card, variant: BitapVariant, patterns: &[&BytePattern]) -> Result<TableGroup, EngineError> {
        let Card { runtime, .. } = card;
        let device = &runtime.device;
        let kernel = compiled(card, ScanKernel::Bitap(variant))?;
        let mut table = Vec::with_capacity(patterns.len() * variant.table_words() as usize);
        patterns.iter().for_each(|pattern| pattern.put_table(variant.words as usize, &mut table));
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let tables = buffers::create(device, "tables of patterns", usage, table.len() as u64 * 4)?;
        runtime.upload(&tables, 0..table.len(), |words, packed| packed.copy_from_slice(&table[words]))?;
        Ok(TableGroup { variant, kernel, tables, patterns: to_u32(patterns.len()) })
    }

    /// Divides the patterns into submissions for a text of `units` units, so that each computes about `submission`
    /// words.
    fn steps(&self, units: usize, submission: u64) -> impl Iterator<Item = (&TableGroup, Range<u32>)> {
        let cells = (units * UNIT) as u64 * self.variant.cells();
        let most = to_u32((submission / cells.max(1)).clamp(1, u64::from(self.patterns)));
        let step = move |first: u32| (self, first..self.patterns.min(first.saturating_add(most)));
        (0..self.patterns).step_by(most as usize).map(step)
    }
}

impl TextSlot {
    fn new(device: &GpuDevice) -> TextSlot {
        let storage = |label, more| Grown::new(label, BufferUsages::STORAGE | more);
        TextSlot {
            work: storage("seeking", BufferUsages::COPY_DST),
            text: storage("text", BufferUsages::COPY_DST),
            ends: storage("ends", BufferUsages::COPY_DST | BufferUsages::COPY_SRC),
            stamps: Stamps::new(device),
        }
    }

    /// Binds the buffers of a kernel, and sets its parameters for the next submission.
    fn bind(
        &mut self,
        device: &GpuDevice,
        group: &TableGroup,
        seeking: &Seeking,
    ) -> Result<wgpu::BindGroup, EngineError> {
        let work = self.work.with_room(device, size_of::<Seeking>() as u64)?;
        device.queue.write_buffer(work, 0, bytes_of(seeking));
        let (text, ends) = (self.text.with_room(device, 0)?, self.ends.with_room(device, 0)?);
        bind(device, &group.kernel, &[work, text, &group.tables, ends])
    }
}

/// Packs the words `words` of a text's bytes, with newlines after its end.
fn pack(text: &[u8], words: Range<usize>, packed: &mut [u32]) {
    let bytes = &text[text.len().min(words.start * 4)..text.len().min(words.end * 4)];
    let (whole, last) = bytes.as_chunks::<4>();
    packed.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
    packed[whole.len()..].fill(NEWLINES);
    if !last.is_empty() {
        let mut bytes = NEWLINES.to_ne_bytes();
        bytes[..last.len()].copy_from_slice(last);
        packed[whole.len()] = u32::from_le_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newlines_stand_behind_a_text() {
        for len in [0, 1, 3, 4, 5, 31, 32, 33] {
            let text: Vec<u8> = (0..len).map(|k| b'a' + k).collect();
            for words in [0..16, 1..2, 7..10] {
                let mut packed = vec![7; words.len()];
                pack(&text, words.clone(), &mut packed);
                let bytes: Vec<u8> = packed.iter().flat_map(|word| word.to_le_bytes()).collect();
                let expected = |place| text.get(place).copied().unwrap_or(b'\n');
                let expected: Vec<u8> = (words.start * 4..words.end * 4).map(expected).collect();
                assert_eq!(bytes, expected, "{len} {words:?}");
            }
        }
    }
}
