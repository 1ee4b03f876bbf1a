//! Looks up words of a dictionary in a text stored on the device (`shaders/words.wgsl`). The size of the answer is
//! known in advance: a bit or a number for each line, or a bit for each byte. The device also finds the starts of
//! lines, once per text (`shaders/line_starts.wgsl`).

pub mod shader;
pub mod table;

use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::tasks::{Matching, Tiling};
use crate::engine::gpu::Card;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch, Pace, Readback, Stamps, Stopwatch, Submission, Transfer};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use crate::terms::options::{OccurrenceRule, WordPosition};
use crate::terms::system::Instant;
use bytemuck::bytes_of;
use rayon::prelude::*;
use shader::{LINES, LookupRequest, MOST_LETTERS, THREADS, TILE, UNIT, WordVariant};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
pub use table::WordList;
use table::WordTable;
use wgpu::BufferUsages;

pub use shader::NONE;

/// Lines or units per submission.
const PLACES: CellRange = CellRange { first: 1 << 22, least: 1 << 12, most: 1 << 26, growth: 16 };
/// Lines per submission if numbers come back: 64 MiB.
const MOST_NUMBERS: usize = 1 << 24;
/// Numbers that a thread copies per task.
const COPIED: usize = 1 << 16;
/// A text is padded to a multiple of `PADDED` words, followed by `AHEAD` zero words, since kernels read ahead.
const PADDED: usize = 16;
const AHEAD: usize = 16;

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordTuning {
    /// Lines or units per submission; `None` adapts to the measured time.
    pub submission: Option<usize>,
}

/// A text on the device.
pub struct WordText {
    buffer: wgpu::Buffer,
    bytes: usize,
    lines: usize,
    /// Starts of lines, if they were requested.
    starts: Option<wgpu::Buffer>,
}

impl WordText {
    /// Number of its lines; 0 if they were not requested.
    pub fn lines(&self) -> usize {
        self.lines
    }
}

/// Looks words up on a GPU.
pub struct WordScan {
    card: Arc<Card>,
    rule: OccurrenceRule,
    tuning: WordTuning,
    table: WordTable,
    slots: wgpu::Buffer,
    lists: wgpu::Buffer,
    longest: usize,
    pace: Pace,
    state: Mutex<WordState>,
}

/// Device buffers other than texts and words.
struct WordState {
    work: Grown,
    found: Grown,
    stamps: Stamps,
    stopwatch: Stopwatch,
}

impl WordScan {
    /// If the rule ignores case, the words are in lower case.
    pub fn new(card: Arc<Card>, words: WordList, rule: OccurrenceRule) -> Result<WordScan, EngineError> {
        let mut table = WordTable::new(words)?;
        if table.has_empty && rule.place == WordPosition::Anywhere {
            let problem = "the GPU does not support the empty word within lines";
            return Err(EngineError::Unsupported(problem.to_string()));
        }
        let runtime = &card.runtime;
        let device = &runtime.device;
        let send = |label, words: &[u32]| {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
            let buffer = buffers::create(device, label, usage, words.len() as u64 * 4)?;
            runtime.upload(&buffer, 0..words.len(), |own, made| made.copy_from_slice(&words[own]))?;
            Ok::<_, EngineError>(buffer)
        };
        let slots = send("words", bytemuck::cast_slice(&table.slots))?;
        let lists = send("lists of words", &table.lists)?;
        table.release();
        let longest = words.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0) as usize;
        let storage = |label, more| Grown::new(label, BufferUsages::STORAGE | more);
        let state = WordState {
            work: storage("matching", BufferUsages::COPY_DST),
            found: storage("words found", BufferUsages::COPY_SRC),
            stamps: Stamps::new(device),
            stopwatch: Stopwatch::default(),
        };
        let (tuning, pace, state) = (WordTuning::default(), Pace::new(PLACES), Mutex::new(state));
        Ok(WordScan { card, rule, tuning, table, slots, lists, longest, pace, state })
    }

    pub fn tuned(self, tuning: WordTuning) -> WordScan {
        WordScan { tuning, ..self }
    }

    pub fn describe(&self) -> String {
        format!("GPU {}", self.card.name())
    }

    /// Device memory of the words, in bytes.
    pub fn bytes(&self) -> u64 {
        self.slots.size() + self.lists.size()
    }

    /// Time spent in kernels so far by the device's clock; zero if it has none.
    pub fn kernel_time(&self) -> Duration {
        self.state.lock().map_or(Duration::ZERO, |state| state.stopwatch.total())
    }

    fn state(&self) -> Result<MutexGuard<'_, WordState>, EngineError> {
        self.state.lock().map_err(|_| EngineError::Lost("a scan has failed before".to_string()))
    }

    /// Uploads a text. If words count only at the start of a line, also finds its lines.
    pub fn load(&self, text: &[u8]) -> Result<WordText, EngineError> {
        if text.len() > u32::MAX as usize - TILE {
            let problem = "bytes exceed the limit of the GPU";
            return Err(EngineError::Unsupported(format!("{} {problem}", text.len())));
        }
        let runtime = &self.card.runtime;
        let padded = text.len().div_ceil(4 * PADDED) * PADDED;
        let words = padded + AHEAD;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer = buffers::create(&runtime.device, "text of lines", usage, words as u64 * 4)?;
        runtime.upload(&buffer, 0..words, |words, made| {
            let letters = text.get(words.start * 4..text.len().min(words.end * 4)).unwrap_or_default();
            let made: &mut [u8] = bytemuck::cast_slice_mut(made);
            made[..letters.len()].copy_from_slice(letters);
            made[letters.len()..].fill(0);
        })?;
        let text_on_device = WordText { buffer, bytes: text.len(), lines: 0, starts: None };
        if self.rule.place == WordPosition::Anywhere || text.is_empty() {
            return Ok(text_on_device);
        }
        let is_open = !text.ends_with(b"\n");
        self.find_lines(text_on_device, to_u32(padded / 4), is_open)
    }

    /// Finds the starts of lines. `is_open` says that the last line has no newline.
    fn find_lines(&self, text: WordText, vectors: u32, is_open: bool) -> Result<WordText, EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let device = &runtime.device;
        let mut state = self.state()?;
        let count = text.bytes.div_ceil(TILE);
        let both = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let tiles = buffers::create(device, "newlines of tiles", both, count as u64 * 4)?;
        let tiling = |lines: usize| Tiling { vectors, tiles: to_u32(count), lines: to_u32(lines) };
        let kernel = compiled(&self.card, ScanKernel::LineStarts { places: false })?;
        let work = state.tell(device, bytes_of(&tiling(0)))?;
        let bindings = bind(device, &kernel, &[&work, &text.buffer, &tiles])?;
        let launch = Launch::new(&kernel, &bindings, to_u32(count));
        let transfer = Transfer { from: tiles.clone(), start: 0, bytes: count as u64 * 4 };
        let counts = state.run(&self.card, launch, vec![transfer])?;
        let mut newlines = 0usize;
        let mut before = Vec::with_capacity(count);
        for &own in counts.as_ref() {
            before.push(to_u32(newlines));
            newlines += own as usize;
        }
        drop(counts);
        if newlines > text.bytes {
            return Err(EngineError::Wrong(format!("{newlines} newlines in {} bytes", text.bytes)));
        }
        let lines = newlines + usize::from(is_open);
        let starts = buffers::create(device, "lines", both, (lines as u64 + 1) * 4)?;
        runtime.upload(&tiles, 0..count, |own, made| made.copy_from_slice(&before[own]))?;
        if is_open {
            device.queue.write_buffer(&starts, lines as u64 * 4, bytes_of(&(to_u32(text.bytes) + 1)));
        }
        let kernel = compiled(&self.card, ScanKernel::LineStarts { places: true })?;
        let work = state.tell(device, bytes_of(&tiling(newlines)))?;
        let bindings = bind(device, &kernel, &[&work, &text.buffer, &tiles, &starts])?;
        state.run(&self.card, Launch::new(&kernel, &bindings, to_u32(count)), Vec::new())?;
        Ok(WordText { lines, starts: Some(starts), ..text })
    }

    /// One bit for each line that begins with a word or equals one, or for each byte at which a word begins, starting
    /// at the lowest bit of the first word.
    pub fn bits(&self, text: &WordText) -> Result<Vec<u32>, EngineError> {
        match self.rule.place {
            WordPosition::Anywhere => self.scan(text, LookupRequest::Places),
            WordPosition::Start => self.scan(text, LookupRequest::Start { numbers: false }),
            WordPosition::Line => self.scan(text, LookupRequest::Line { numbers: false }),
        }
    }

    /// For each line, the longest word that it begins with, or the word that it equals, or [`NONE`]. If words are
    /// equal, the first is reported. Returns an error for [`WordPosition::Anywhere`].
    pub fn numbers(&self, text: &WordText) -> Result<Vec<u32>, EngineError> {
        match self.rule.place {
            WordPosition::Anywhere => Err(EngineError::Unsupported(
                "the GPU names only words that are a line or the start of a line".to_string(),
            )),
            WordPosition::Start => self.scan(text, LookupRequest::Start { numbers: true }),
            WordPosition::Line => self.scan(text, LookupRequest::Line { numbers: true }),
        }
    }

    fn scan(&self, text: &WordText, wanted: LookupRequest) -> Result<Vec<u32>, EngineError> {
        // Each element of the answer covers `each` lines or units.
        let (places, each) = match wanted {
            LookupRequest::Places => (text.bytes.div_ceil(UNIT), 1),
            _ if wanted.numbers() => (text.lines, 1),
            _ => (text.lines, u32::BITS as usize),
        };
        let mut found = vec![0; places.div_ceil(each)];
        let mut state = self.state()?;
        let mut first = 0;
        while first < places {
            let paced =
                self.tuning.submission.unwrap_or(usize::try_from(self.pace.cells()).unwrap_or(usize::MAX));
            let most = if wanted.numbers() { paced.min(MOST_NUMBERS) } else { paced };
            let end = places.min(first + most.next_multiple_of(each));
            let begun = Instant::now();
            let before = state.stopwatch.total();
            let portion = self.run(&mut state, text, wanted, first..end, each)?;
            let kernel = state.stopwatch.total().saturating_sub(before);
            let took = if kernel.is_zero() { begun.elapsed() } else { kernel };
            self.pace.learn((end - first) as u64, 1, took);
            let own = &mut found[first / each..end.div_ceil(each)];
            let copies = own.par_chunks_mut(COPIED).zip(portion.as_ref().par_chunks(COPIED));
            copies.for_each(|(to, from)| to.copy_from_slice(from));
            first = end;
        }
        Ok(found)
    }

    /// Runs a dispatch over a range of lines or units.
    fn run(
        &self,
        state: &mut WordState,
        text: &WordText,
        wanted: LookupRequest,
        places: Range<usize>,
        each: usize,
    ) -> Result<Readback, EngineError> {
        let Card { runtime, .. } = self.card.as_ref();
        let device = &runtime.device;
        let OccurrenceRule { any_case, whole_words, .. } = self.rule;
        let kernel = compiled(&self.card, ScanKernel::Words(WordVariant { wanted, any_case, whole_words }))?;
        let bytes = places.len().div_ceil(each) as u64 * 4;
        let threads = match wanted {
            LookupRequest::Places => THREADS,
            _ => THREADS * LINES,
        };
        let groups = to_u32(places.len().div_ceil(threads as usize));
        let work = state.tell(device, bytes_of(&self.matching(text, places)))?;
        let found = state.found.with_room(device, bytes)?.clone();
        let mut buffers = vec![&work, &text.buffer, &self.slots, &self.lists, &found];
        buffers.extend(text.starts.iter().filter(|_| wanted != LookupRequest::Places));
        let launch = Launch::new(&kernel, &bind(device, &kernel, &buffers)?, groups);
        state.run(&self.card, launch, vec![Transfer { from: found.clone(), start: 0, bytes }])
    }

    fn matching(&self, text: &WordText, places: Range<usize>) -> Matching {
        debug_assert!(self.longest <= MOST_LETTERS);
        let masks = 1 << (u32::BITS - self.table.mask_shift);
        Matching {
            bytes: to_u32(text.bytes),
            first: to_u32(places.start),
            end: to_u32(places.end),
            buckets: self.table.buckets - 1,
            probes: self.table.probes,
            key: self.table.key,
            mask_shift: self.table.mask_shift,
            lengths_at: masks,
            long_lengths: self.table.long_lengths,
            letters_at: masks + self.table.long_lengths,
            longest: to_u32(self.longest),
        }
    }
}

impl WordState {
    /// Sets the parameters of the next submission.
    fn tell(&mut self, device: &GpuDevice, record: &[u8]) -> Result<wgpu::Buffer, EngineError> {
        let work = self.work.with_room(device, size_of::<Matching>() as u64)?;
        device.queue.write_buffer(work, 0, record);
        Ok(work.clone())
    }

    /// Runs a launch, and waits for its output.
    fn run(
        &mut self,
        card: &Card,
        launch: Launch,
        transfers: Vec<Transfer>,
    ) -> Result<Readback, EngineError> {
        let device = &card.runtime.device;
        let mut submission = Submission::new(device, self.stamps.clock(device)?);
        submission.launch(&launch);
        let (output, times) = card.runtime.wait_for(card.runtime.submit_for(submission, transfers)?)?;
        self.stopwatch.add(device.tick, times);
        Ok(output)
    }
}
