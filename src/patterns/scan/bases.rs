//! Exact search for many patterns of bases in a text stored on the device (`shaders/base_words.wgsl`). The caller
//! supplies the words of the patterns. Ends are appended to a buffer in any order. If they don't fit, the buffer grows,
//! or the work is repeated in halves.

pub mod shader;

use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::shape::PackPlanes;
use super::tasks::Looking;
use crate::engine::cpu::simd::InstructionSet;
use crate::engine::gpu::Card;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch, Pace, Readback, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use bytemuck::bytes_of;
use shader::{BaseVariant, FIRST, PLACES, THREADS};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wgpu::BufferUsages;

/// Bases per submission.
const LETTERS: CellRange = CellRange { first: 1 << 24, least: 1 << 14, most: 1 << 30, growth: 16 };
/// Maximum number of entries that a submission may read if every position has the longest list. Without this limit, a
/// repeated word in the text would keep a device busy past the watchdog.
const MOST_ENTRIES: usize = 1 << 30;
/// Ends read back together with their count; further ends need another read.
const FEW: usize = 1 << 14;
/// Capacity for ends: initial and maximum.
const ROOM: usize = 1 << 20;
const MOST_ROOM: usize = 1 << 26;
/// Bytes before the first end, and bytes per end.
const COUNT: u64 = 8;
const END: u64 = 8;
/// Minimum number of bits per word, unless the bitmap reaches its maximum size of 8 MiB, which fits in a GPU's cache.
const BITS_OF_WORD: usize = 64;
const FEWEST_BITS: u32 = 12;
const MOST_BITS: u32 = 26;
/// Maximum number of hash bits that index the starts of entries.
const STARTS_BITS: u32 = 24;
/// Words of a plane are a multiple of `PLANE_WORDS`. `AHEAD` words of padding follow the text, since kernels read
/// ahead.
const PLANE_WORDS: usize = 1 << 10;
const AHEAD: usize = 64;

/// A word of a pattern: the low bits of its bases, and above them the high bits.
#[derive(Clone, Copy, Debug)]
pub struct BaseWord {
    pub word: u32,
    pub pattern: u32,
    /// Bases of the pattern before the word.
    pub before: u32,
}

/// Words of one length. For each occurrence of a pattern, one of its words begins at a multiple of `step` in the text.
#[derive(Clone, Debug)]
pub struct BaseWords {
    pub letters: usize,
    pub step: usize,
    pub words: Vec<BaseWord>,
}

/// An end: index of the pattern, and 0-based exclusive end in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaseEnd {
    pub pattern: u32,
    pub end: u32,
}

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug)]
pub struct BaseTuning {
    /// Bases per submission; `None` adapts to the measured time.
    pub submission: Option<usize>,
    /// Capacity for ends: initial and maximum.
    pub room: (usize, usize),
}

impl Default for BaseTuning {
    fn default() -> BaseTuning {
        BaseTuning { submission: None, room: (ROOM, MOST_ROOM) }
    }
}

/// A text on the device.
pub struct BaseText {
    planes: wgpu::Buffer,
    stride: usize,
    letters: usize,
}

/// Patterns on the device.
pub struct BasePatterns {
    tables: Vec<BaseTable>,
    /// Length of each pattern in bases.
    lengths: Vec<u32>,
}

/// Words of one length on the device.
struct BaseTable {
    variant: BaseVariant,
    bits: wgpu::Buffer,
    bits_shift: u32,
    index: wgpu::Buffer,
    starts_shift: u32,
    entries_at: u32,
    patterns_at: u32,
    /// Number of entries of the longest list.
    longest: usize,
}

/// Looks words up on a GPU.
pub struct BaseScan {
    card: Arc<Card>,
    tuning: BaseTuning,
    pace: Pace,
    state: Mutex<BaseState>,
}

/// Device buffers other than texts and patterns.
struct BaseState {
    work: Grown,
    found: Grown,
    stamps: Stamps,
    stopwatch: Stopwatch,
    /// Capacity for ends.
    room: usize,
}

/// Counting-sorted entries, followed by the bases of all patterns.
struct BaseIndex {
    bits: Vec<u32>,
    bits_shift: u32,
    words: Vec<u32>,
    starts_shift: u32,
    entries_at: usize,
    patterns_at: usize,
    longest: usize,
}

impl BaseIndex {
    fn new(words: &[BaseWord], patterns: &[Vec<u8>]) -> BaseIndex {
        let wanted = |each: usize| (words.len() * each).max(1).next_power_of_two().ilog2();
        let bits_shift = u32::BITS - wanted(BITS_OF_WORD).clamp(FEWEST_BITS, MOST_BITS);
        let starts_shift = u32::BITS - wanted(2).clamp(1, STARTS_BITS);
        let hash = |word: &BaseWord| word.word.wrapping_mul(FIRST);
        let mut bits = vec![0; 1 << (u32::BITS - bits_shift - 5)];
        let buckets = 1 << (u32::BITS - starts_shift);
        let mut all = vec![0; buckets + 1];
        for word in words {
            let bit = hash(word) >> bits_shift;
            bits[bit as usize / 32] |= 1 << (bit % 32);
            all[(hash(word) >> starts_shift) as usize + 1] += 1;
        }
        let longest = all.iter().copied().max().unwrap_or(0) as usize;
        for bucket in 0..buckets {
            all[bucket + 1] += all[bucket];
        }
        let mut next = all.clone();
        let entries_at = all.len();
        all.resize(entries_at + words.len() * 3, 0);
        for word in words {
            let place = &mut next[(hash(word) >> starts_shift) as usize];
            let entry = [hash(word), word.pattern, word.before];
            all[entries_at + *place as usize * 3..][..3].copy_from_slice(&entry);
            *place += 1;
        }
        let patterns_at = all.len();
        let mut letters_at = patterns_at + patterns.len() * 2;
        for pattern in patterns {
            all.extend([to_u32(pattern.len()), to_u32(letters_at)]);
            letters_at += pattern.len().div_ceil(32) * 5;
        }
        for part in patterns.iter().flat_map(|pattern| pattern.chunks(32)) {
            let mut words = [0u32; 5];
            for (at, &class) in part.iter().enumerate() {
                words
                    .iter_mut()
                    .enumerate()
                    .for_each(|(bit, word)| *word |= u32::from(class >> bit & 1) << at);
            }
            all.extend(words);
        }
        BaseIndex { bits, bits_shift, words: all, starts_shift, entries_at, patterns_at, longest }
    }
}

impl BaseScan {
    pub fn new(card: Arc<Card>) -> BaseScan {
        let device = &card.runtime.device;
        let storage = |label, more| Grown::new(label, BufferUsages::STORAGE | BufferUsages::COPY_DST | more);
        let state = BaseState {
            work: storage("looking", BufferUsages::empty()),
            found: storage("ends of patterns", BufferUsages::COPY_SRC),
            stamps: Stamps::new(device),
            stopwatch: Stopwatch::default(),
            room: 0,
        };
        let (tuning, pace) = (BaseTuning::default(), Pace::new(LETTERS));
        BaseScan { card, tuning, pace, state: Mutex::new(state) }
    }

    pub fn tuned(self, tuning: BaseTuning) -> BaseScan {
        BaseScan { tuning, ..self }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.state.lock().map_or(Duration::ZERO, |state| state.stopwatch.total())
    }

    fn send(&self, label: &'static str, words: &[u32]) -> Result<wgpu::Buffer, EngineError> {
        let runtime = &self.card.runtime;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer = buffers::create(&runtime.device, label, usage, words.len() as u64 * 4)?;
        runtime.upload(&buffer, 0..words.len(), |own, made| made.copy_from_slice(&words[own]))?;
        Ok(buffer)
    }

    /// Uploads patterns and the words that find them. Patterns are classes as in `search`: one bit per base, and one
    /// for other characters.
    pub fn patterns(&self, patterns: &[Vec<u8>], words: &[BaseWords]) -> Result<BasePatterns, EngineError> {
        let table = |own: &BaseWords| {
            let BaseIndex { bits, bits_shift, words, starts_shift, entries_at, patterns_at, longest } =
                BaseIndex::new(&own.words, patterns);
            if words.len() > u32::MAX as usize {
                return Err(EngineError::OutOfMemory("words of patterns".to_string()));
            }
            Ok(BaseTable {
                variant: BaseVariant { letters: to_u32(own.letters), step: to_u32(own.step) },
                bits: self.send("bits of words", &bits)?,
                bits_shift,
                index: self.send("words of patterns", &words)?,
                starts_shift,
                entries_at: to_u32(entries_at),
                patterns_at: to_u32(patterns_at),
                longest,
            })
        };
        let tables = words.iter().map(table).collect::<Result<_, _>>()?;
        Ok(BasePatterns { tables, lengths: patterns.iter().map(|pattern| to_u32(pattern.len())).collect() })
    }

    /// Uploads a text of codes: 0 to 3 for bases, and other codes.
    pub fn load(&self, codes: &[u8]) -> Result<BaseText, EngineError> {
        let letters = codes.len();
        if letters > u32::MAX as usize / 2 {
            let problem = "bases exceed the limit of the GPU";
            return Err(EngineError::Unsupported(format!("{letters} {problem}")));
        }
        let stride = (letters.div_ceil(32) + AHEAD).next_multiple_of(PLANE_WORDS);
        let runtime = &self.card.runtime;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let planes = buffers::create(&runtime.device, "planes of a text", usage, stride as u64 * 12)?;
        let set = InstructionSet::best();
        runtime.upload(&planes, 0..stride * 3, |words, packed| {
            set.run(PackPlanes { text: codes, from: 0, plane_words: stride, words, packed });
        })?;
        Ok(BaseText { planes, stride, letters })
    }

    /// All ends, sorted by pattern and end; if there are more than `most`, more than `most` of them.
    pub fn ends(
        &self,
        text: &BaseText,
        patterns: &BasePatterns,
        most: usize,
    ) -> Result<Vec<BaseEnd>, EngineError> {
        let mut ends = Vec::new();
        let mut state =
            self.state.lock().map_err(|_| EngineError::Lost("a scan has failed before".to_string()))?;
        state.room = state.room.max(self.tuning.room.0);
        for table in &patterns.tables {
            self.look(&mut state, (text, table), &patterns.lengths, (&mut ends, most))?;
        }
        rayon::slice::ParallelSliceMut::par_sort_unstable(ends.as_mut_slice());
        match ends.windows(2).any(|two| two[0] == two[1]) {
            true => Err(EngineError::Wrong("an end that was found twice".to_string())),
            false => Ok(ends),
        }
    }

    /// Looks up the words of one length.
    fn look(
        &self,
        state: &mut BaseState,
        (text, table): (&BaseText, &BaseTable),
        lengths: &[u32],
        (ends, most): (&mut Vec<BaseEnd>, usize),
    ) -> Result<(), EngineError> {
        let of_unit = PLACES * table.variant.step as usize;
        let units = text.letters.div_ceil(of_unit);
        let most_units = (MOST_ENTRIES / PLACES / table.longest.max(1)).max(1);
        let (mut first, mut longest) = (0, most_units);
        while first < units && ends.len() <= most {
            let letters =
                self.tuning.submission.unwrap_or(usize::try_from(self.pace.cells()).unwrap_or(usize::MAX));
            let end = units.min(first + (letters / of_unit).clamp(1, longest));
            let (begun, before) = (Instant::now(), state.stopwatch.total());
            let outcome = self.run(state, text, table, first..end)?;
            let kernel = state.stopwatch.total().saturating_sub(before);
            let took = if kernel.is_zero() { begun.elapsed() } else { kernel };
            self.pace.learn((((end - first) * of_unit) as u64, 1), took);
            match outcome {
                Ok((count, output)) => {
                    let found = output.as_ref()[2..].as_chunks::<2>().0;
                    for &[pattern, end] in &found[..count] {
                        let len = lengths.get(pattern as usize).copied().unwrap_or(u32::MAX);
                        if end < len || end as usize > text.letters {
                            let text = format!("pattern {pattern} at {end} of {} letters", text.letters);
                            return Err(EngineError::Wrong(text));
                        }
                        ends.push(BaseEnd { pattern, end });
                    }
                    (first, longest) = (end, most_units);
                }
                Err(count) if count <= self.tuning.room.1 || end - first == 1 => state.room = count,
                Err(_) => longest = (end - first) / 2,
            }
        }
        Ok(())
    }

    /// Runs a dispatch. Returns the number of ends and, if there was room for all of them, two words followed by the
    /// ends.
    fn run(
        &self,
        state: &mut BaseState,
        text: &BaseText,
        table: &BaseTable,
        units: Range<usize>,
    ) -> Result<Result<(usize, Readback), usize>, EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let device = &runtime.device;
        let kernel = compiled(&self.card, ScanKernel::Bases(table.variant))?;
        let capacity = state.room;
        let looking = Looking {
            letters: to_u32(text.letters),
            stride: to_u32(text.stride),
            first: to_u32(units.start),
            end: to_u32(units.end),
            bits_shift: table.bits_shift,
            starts_shift: table.starts_shift,
            entries_at: table.entries_at,
            patterns_at: table.patterns_at,
            capacity: to_u32(capacity),
        };
        let (work, found) = state.buffers(device, bytes_of(&looking))?;
        let bindings = bind(device, &kernel, &[&work, &text.planes, &table.bits, &table.index, &found])?;
        let mut submission = Submission::new(device, state.stamps.clock(device)?);
        submission.clear(&found, COUNT);
        submission.launch(&Launch::new(&kernel, &bindings, to_u32(units.len()).div_ceil(THREADS)));
        let ends = |count: usize| {
            vec![Transfer { from: found.clone(), start: 0, bytes: COUNT + count as u64 * END }]
        };
        let few = FEW.min(capacity);
        let (output, times) = runtime.wait_for(runtime.submit_for(submission, ends(few))?)?;
        state.stopwatch.add(device.tick, times);
        let count = output.as_ref()[0] as usize;
        if count > capacity {
            return Ok(Err(count));
        }
        if count <= few {
            return Ok(Ok((count, output)));
        }
        drop(output);
        let rest = runtime.submit_for(Submission::new(device, None), ends(count))?;
        Ok(Ok((count, runtime.wait_for(rest)?.0)))
    }
}

impl BaseState {
    /// Sets the parameters of the next submission, and provides its buffers.
    fn buffers(
        &mut self,
        device: &GpuDevice,
        record: &[u8],
    ) -> Result<(wgpu::Buffer, wgpu::Buffer), EngineError> {
        let work = self.work.with_room(device, record.len() as u64)?;
        device.queue.write_buffer(work, 0, record);
        let found = self.found.with_room(device, COUNT + self.room as u64 * END)?;
        Ok((work.clone(), found.clone()))
    }
}
