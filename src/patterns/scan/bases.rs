//! Exact search for many patterns of bases in a text stored on the device (`shaders/base_words.wgsl`). The caller
//! supplies the words of the patterns.

pub mod shader;

use super::append::{Appender, AppendingKernel, ListBuffers, RecordRoom, halves_of};
use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::shape::PlaneCopy;
use super::tasks::Looking;
use crate::engine::gpu::Card;
use crate::gpu::buffers;
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch};
use crate::patterns::sliced::packed::PackedText;
use crate::patterns::tables::{BucketTable, HashBits};
use crate::terms::casts::{low_u32, to_isize, to_u32};
use crate::terms::error::EngineError;
use shader::{BaseVariant, FIRST, PLACES, THREADS};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wgpu::BufferUsages;

/// Bases per submission.
const LETTERS: CellRange = CellRange { first: 1 << 24, least: 1 << 14, most: 1 << 30, growth: 16 };
/// Maximum number of entries that a submission may read if every position has the longest list. Without this limit, a
/// repeated word in the text would keep a device busy past the watchdog.
const MOST_ENTRIES: usize = 1 << 30;
/// Capacity for ends: initial and maximum.
const ROOM: usize = 1 << 20;
const MOST_ROOM: usize = 1 << 26;
/// Minimum number of bits per word, unless the bitmap reaches its maximum size of 8 MiB, which fits in a GPU's cache.
const BITS_OF_WORD: usize = 64;
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
    appender: Mutex<Appender>,
}

/// Looks the words of one length up in a text.
struct WordLookups<'a> {
    text: &'a BaseText,
    table: &'a BaseTable,
    kernel: &'a wgpu::ComputePipeline,
    lengths: &'a [u32],
    /// Bases per submission, if they do not follow the time.
    submission: Option<usize>,
    ends: &'a mut Vec<BaseEnd>,
    /// The scan ends when there are more ends.
    most: usize,
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
        let hash = |word: &BaseWord| word.word.wrapping_mul(FIRST);
        let mut bits = HashBits::with_room(words.len(), BITS_OF_WORD, MOST_BITS);
        words.iter().for_each(|word| bits.insert(hash(word)));
        let buckets = (words.len() * 2).max(1).next_power_of_two().ilog2().clamp(1, STARTS_BITS);
        let starts_shift = u32::BITS - buckets;
        let table = BucketTable::new(1 << buckets, |call| {
            words.iter().for_each(|word| {
                let hash = hash(word);
                call((hash >> starts_shift) as usize, [hash, word.pattern, word.before]);
            });
        });
        let longest = (0..1 << buckets).map(|bucket| table.range(bucket).len()).max().unwrap_or(0);
        let bits_shift = bits.shift;
        let bits = bits.bits.iter().flat_map(|&bits| [low_u32(bits), low_u32(bits >> 32)]).collect();
        let BucketTable { starts: mut all, entries } = table;
        let entries_at = all.len();
        all.extend(entries.as_flattened());
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
        let appender = Mutex::new(Appender::new(&card.runtime.device, LETTERS));
        BaseScan { card, tuning: BaseTuning::default(), appender }
    }

    pub fn tuned(self, tuning: BaseTuning) -> BaseScan {
        BaseScan { tuning, ..self }
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.appender.lock().map_or(Duration::ZERO, |appender| appender.kernel_time())
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

    /// Uploads a part of a text.
    pub fn load(&self, text: &PackedText, own: Range<usize>) -> Result<BaseText, EngineError> {
        let letters = own.len();
        if letters > u32::MAX as usize / 2 {
            let problem = "bases exceed the limit of the GPU";
            return Err(EngineError::Unsupported(format!("{letters} {problem}")));
        }
        let stride = (letters.div_ceil(32) + AHEAD).next_multiple_of(PLANE_WORDS);
        let runtime = &self.card.runtime;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let planes = buffers::create(&runtime.device, "planes of a text", usage, stride as u64 * 12)?;
        let copy = PlaneCopy { text, from: to_isize(own.start), own, plane_words: stride };
        runtime.upload(&planes, 0..stride * 3, |words, packed| copy.copy(words, packed))?;
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
        let mut appender =
            self.appender.lock().map_err(|_| EngineError::Lost("a scan has failed before".to_string()))?;
        for table in &patterns.tables {
            if ends.len() > most {
                break;
            }
            let kernel = compiled(&self.card, ScanKernel::Bases(table.variant))?;
            let mut lookups = WordLookups {
                text,
                table,
                kernel: &kernel,
                lengths: &patterns.lengths,
                submission: self.tuning.submission,
                ends: &mut ends,
                most,
            };
            let (all, room) = (0..lookups.units(), RecordRoom::from(self.tuning.room));
            appender.run(&self.card.runtime, &mut lookups, all, room)?;
        }
        rayon::slice::ParallelSliceMut::par_sort_unstable(ends.as_mut_slice());
        match ends.windows(2).any(|two| two[0] == two[1]) {
            true => Err(EngineError::Wrong("an end that was found twice".to_string())),
            false => Ok(ends),
        }
    }
}

impl WordLookups<'_> {
    /// Bases of a unit of work.
    fn unit(&self) -> usize {
        PLACES * self.table.variant.step as usize
    }

    fn units(&self) -> usize {
        self.text.letters.div_ceil(self.unit())
    }
}

impl AppendingKernel for WordLookups<'_> {
    type Portion = Range<usize>;
    type Parameters = Looking;
    const WORDS: usize = 2;

    fn cut(&self, units: Range<usize>, letters: u64) -> (Range<usize>, Option<Range<usize>>) {
        let most = (MOST_ENTRIES / PLACES / self.table.longest.max(1)).max(1);
        let letters = self.submission.unwrap_or(usize::try_from(letters).unwrap_or(usize::MAX));
        let end = units.end.min(units.start + (letters / self.unit()).clamp(1, most));
        (units.start..end, (end < units.end).then_some(end..units.end))
    }

    fn halves(&self, units: Range<usize>) -> Option<[Range<usize>; 2]> {
        halves_of(units)
    }

    fn cells(&self, units: &Range<usize>) -> u64 {
        (units.len() * self.unit()) as u64
    }

    fn parameters(&self, units: &Range<usize>, capacity: u32) -> Looking {
        let BaseTable { bits_shift, starts_shift, entries_at, patterns_at, .. } = *self.table;
        Looking {
            letters: to_u32(self.text.letters),
            stride: to_u32(self.text.stride),
            first: to_u32(units.start),
            end: to_u32(units.end),
            bits_shift,
            starts_shift,
            entries_at,
            patterns_at,
            capacity,
        }
    }

    fn launch(
        &mut self,
        device: &GpuDevice,
        units: &Range<usize>,
        ListBuffers { parameters, list }: ListBuffers,
    ) -> Result<Launch, EngineError> {
        let BaseTable { bits, index, .. } = self.table;
        let bindings = bind(device, self.kernel, &[parameters, &self.text.planes, bits, index, list])?;
        Ok(Launch::new(self.kernel, &bindings, to_u32(units.len()).div_ceil(THREADS)))
    }

    fn take(&mut self, _: &Range<usize>, ends: &[u32]) -> Result<bool, EngineError> {
        for &[pattern, end] in ends.as_chunks().0 {
            let len = self.lengths.get(pattern as usize).copied().unwrap_or(u32::MAX);
            if end < len || end as usize > self.text.letters {
                let text = format!("pattern {pattern} at {end} of {} letters", self.text.letters);
                return Err(EngineError::Wrong(text));
            }
            self.ends.push(BaseEnd { pattern, end });
        }
        Ok(self.ends.len() <= self.most)
    }
}
