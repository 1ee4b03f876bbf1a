//! Diagonals on which an alignment can reach its least score, found on GPUs (`shaders/diagonals.wgsl`). The bases of the
//! targets are those that the engine's kernels score.

pub mod shader;

use super::append::{Appender, AppendingKernel, ListBuffers, RecordRoom, halves_of};
use super::bind;
use super::kernels::{ScanKernel, compiled};
use super::tasks::Bounding;
use crate::align::candidates::by_index::{BoundedDiagonal, DiagonalScan, RUN, ScanScores, ScannedQuery};
use crate::engine::gpu::Card;
use crate::engine::gpu::layout::ResiduePacking;
use crate::engine::gpu::resident::Resident;
use crate::gpu::buffers::{self, Grown};
use crate::gpu::device::GpuDevice;
use crate::gpu::run::{CellRange, Launch};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_i64, to_u32};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use shader::{BoundVariant, CHUNK, HEADER, MOST_MORE, MOST_WORDS, PAD, UNIT, WORD};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use wgpu::BufferUsages;

/// Positions per submission.
const PLACES: CellRange = CellRange { first: 1 << 22, least: 1 << 16, most: 1 << 27, growth: 8 };
/// Capacity for diagonals: initial and maximum.
const ROOM: usize = 1 << 20;
const MOST_ROOM: usize = 1 << 24;
/// Calls of a card under way: while the device works for one, the host prepares another and reads a third.
const CALLS: usize = 3;
/// Bases before the end of the range of 32 bits. Diagonals are stored with [`PAD`].
const SPARE: u32 = 1 << 12;

/// Sizes chosen for speed; tests set them to reach all boundaries.
#[derive(Clone, Copy, Debug)]
pub struct DiagonalTuning {
    /// Positions per submission; `None` adapts to the measured time.
    pub submission: Option<usize>,
    /// Capacity for diagonals: initial and maximum.
    pub room: (usize, usize),
}

impl Default for DiagonalTuning {
    fn default() -> DiagonalTuning {
        DiagonalTuning { submission: None, room: (ROOM, MOST_ROOM) }
    }
}

/// Examines positions of an index on GPUs.
pub struct CardDiagonals {
    cards: Vec<IndexedCard>,
    /// Card of the next call.
    next: AtomicUsize,
    tuning: DiagonalTuning,
}

/// A card and the index's positions on it.
struct IndexedCard {
    card: Arc<Card>,
    /// `None` inside if the card has no room for the positions or has failed.
    places: OnceLock<Option<wgpu::Buffer>>,
    has_failed: AtomicBool,
    calls: [Mutex<CallBuffers>; CALLS],
}

/// The buffers of a call.
struct CallBuffers {
    tasks: Grown,
    queries: Grown,
    appender: Appender,
}

/// Queries and their tasks as the kernel reads them.
#[derive(Debug, Default)]
struct PackedQueries {
    tasks: Vec<u32>,
    /// Where the first tasks of units begin.
    units_at: usize,
    positions: usize,
    queries: Vec<u32>,
}

/// A call, and the diagonals found so far.
struct BoundCall<'a> {
    kernel: &'a wgpu::ComputePipeline,
    targets: &'a wgpu::Buffer,
    letters: u32,
    places: &'a wgpu::Buffer,
    tasks: &'a wgpu::Buffer,
    queries: &'a wgpu::Buffer,
    packed: &'a PackedQueries,
    scores: ScanScores,
    submission: Option<usize>,
    count: usize,
    found: Vec<BoundedDiagonal>,
}

impl CardDiagonals {
    /// A scan on these cards, if they keep the targets as bases under this scoring.
    pub fn suited(
        cards: &[Arc<Card>],
        targets: &Sequences,
        scoring: &Scoring,
    ) -> Option<Box<dyn DiagonalScan>> {
        let keep = cards.iter().all(|card| card.keeps_bases(targets, scoring));
        keep.then(|| Box::new(CardDiagonals::new(cards)) as Box<dyn DiagonalScan>)
    }

    pub fn new(cards: &[Arc<Card>]) -> CardDiagonals {
        let indexed = |card: &Arc<Card>| IndexedCard {
            places: OnceLock::new(),
            has_failed: AtomicBool::new(false),
            calls: std::array::from_fn(|_| Mutex::new(CallBuffers::new(&card.runtime.device))),
            card: Arc::clone(card),
        };
        let cards = cards.iter().map(indexed).collect();
        CardDiagonals { cards, next: AtomicUsize::new(0), tuning: DiagonalTuning::default() }
    }

    pub fn tuned(self, tuning: DiagonalTuning) -> CardDiagonals {
        CardDiagonals { tuning, ..self }
    }

    fn scan_on(
        &self,
        (indexed, places): (&IndexedCard, &wgpu::Buffer),
        targets: &Arc<Sequences>,
        queries: &[ScannedQuery],
        scores: ScanScores,
    ) -> Result<Vec<BoundedDiagonal>, EngineError> {
        let card = &indexed.card;
        let variant = variant_of(queries);
        let packed = PackedQueries::new(variant, queries);
        if packed.positions == 0 {
            return Ok(Vec::new());
        }
        let kernel = compiled(card, ScanKernel::Diagonals(variant))?;
        let letters = targets.codes().len();
        let resident: Arc<Resident> = card.targets(targets, ResiduePacking::Nucleotides, 0..letters)?;
        let free = indexed.calls.iter().find_map(|call| call.try_lock().ok());
        let mut buffers = match free {
            Some(free) => free,
            None => indexed.calls[0].lock().map_err(|_| lost())?,
        };
        let CallBuffers { tasks, queries, appender } = &mut *buffers;
        let device = &card.runtime.device;
        let tasks = sent(device, tasks, &packed.tasks)?;
        let queries = sent(device, queries, &packed.queries)?;
        let mut call = BoundCall {
            kernel: &kernel,
            targets: &resident.buffer,
            letters: to_u32(letters),
            places,
            tasks,
            queries,
            packed: &packed,
            scores,
            submission: self.tuning.submission,
            count: packed.queries.len() / variant.record(),
            found: Vec::new(),
        };
        let units = packed.positions.div_ceil(UNIT as usize);
        appender.run(&card.runtime, &mut call, 0..units, RecordRoom::from(self.tuning.room))?;
        Ok(call.found)
    }
}

impl CallBuffers {
    fn new(device: &GpuDevice) -> CallBuffers {
        let storage = |label| Grown::new(label, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        CallBuffers {
            tasks: storage("pieces of queries"),
            queries: storage("queries with pieces"),
            appender: Appender::new(device, PLACES),
        }
    }
}

fn lost() -> EngineError {
    EngineError::Lost("a scan has failed before".to_string())
}

/// Writes words to a buffer.
fn sent<'a>(
    device: &GpuDevice,
    buffer: &'a mut Grown,
    words: &[u32],
) -> Result<&'a wgpu::Buffer, EngineError> {
    let buffer = buffer.with_room(device, size_of_val(words) as u64)?;
    device.queue.write_buffer(buffer, 0, bytemuck::cast_slice(words));
    Ok(buffer)
}

/// Number of diagonals of a band, as the kernel scores them.
pub fn band_of(gaps: usize) -> usize {
    (2 * gaps + 1).next_multiple_of(CHUNK as usize)
}

/// The kernel for these queries.
fn variant_of(queries: &[ScannedQuery]) -> BoundVariant {
    let most = |words: &dyn Fn(&ScannedQuery) -> usize| {
        to_u32(queries.iter().map(words).max().unwrap_or(0).div_ceil(WORD as usize).max(1))
    };
    let (words, more) = (most(&|query| query.codes.len()), most(&|query| band_of(query.gaps)));
    BoundVariant { words, more, run: to_u32(RUN) }
}

impl PackedQueries {
    fn new(variant: BoundVariant, queries: &[ScannedQuery]) -> PackedQueries {
        let mut packed = PackedQueries::default();
        for (number, query) in queries.iter().enumerate() {
            let record = packed.queries.len();
            let header = [number, query.codes.len(), query.gaps].map(to_u32);
            packed.queries.extend(header);
            packed.queries.push(query.least.cast_unsigned());
            packed.queries.resize(record + variant.record(), 0);
            let (planes, bases) = packed.queries[record + HEADER..].split_at_mut(2 * variant.words as usize);
            let (low, high) = planes.split_at_mut(variant.words as usize);
            for (at, &code) in query.codes.iter().enumerate() {
                let (word, bit) = (at / WORD as usize, at % WORD as usize);
                low[word] |= u32::from(code & 1) << bit;
                high[word] |= u32::from(code >> 1 & 1) << bit;
                bases[at / 8] |= u32::from(code) << (at % 8 * 4);
            }
            for piece in query.pieces.iter().filter(|piece| !piece.places.is_empty()) {
                let span = to_u32(piece.bases.start) | to_u32(piece.bases.len()) << 16;
                let numbers = [packed.positions, piece.places.start, record].map(to_u32);
                packed.tasks.extend(numbers);
                packed.tasks.extend([span, to_u32(piece.before)]);
                packed.positions += piece.places.len();
            }
        }
        let (tasks, _) = packed.tasks.as_chunks::<{ shader::TASK }>();
        let units = packed.positions.div_ceil(UNIT as usize);
        let mut firsts = Vec::with_capacity(units + 1);
        let mut task = 0;
        for unit in 0..=units {
            let begin = unit * UNIT as usize;
            while task + 1 < tasks.len() && tasks[task + 1][0] as usize <= begin {
                task += 1;
            }
            firsts.push(to_u32(task));
        }
        packed.units_at = packed.tasks.len();
        packed.tasks.extend(firsts);
        packed
    }
}

impl DiagonalScan for CardDiagonals {
    fn prepare(&self, targets: &Arc<Sequences>, places: &[u32]) -> bool {
        let is_ready = |indexed: &IndexedCard| {
            let has_places = indexed.places.get_or_init(|| indexed.send(places).ok()).is_some();
            has_places && !indexed.has_failed.load(Ordering::Relaxed)
        };
        let letters = u32::try_from(targets.codes().len());
        letters.is_ok_and(|letters| letters < u32::MAX - SPARE) && self.cards.iter().all(is_ready)
    }

    fn scan(
        &self,
        targets: &Arc<Sequences>,
        queries: &[ScannedQuery],
        scores: ScanScores,
    ) -> Result<Vec<BoundedDiagonal>, EngineError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.cards.len().max(1);
        let indexed = self.cards.get(number).ok_or_else(lost)?;
        let places = indexed.places.get().and_then(Option::as_ref).ok_or_else(lost)?;
        let found = self.scan_on((indexed, places), targets, queries, scores);
        if found.is_err() {
            indexed.has_failed.store(true, Ordering::Relaxed);
        }
        found
    }

    fn limits(&self) -> (usize, usize) {
        ((MOST_WORDS * WORD) as usize, (MOST_MORE * WORD - 1) as usize / 2)
    }
}

impl IndexedCard {
    fn send(&self, places: &[u32]) -> Result<wgpu::Buffer, EngineError> {
        let runtime = &self.card.runtime;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer =
            buffers::create(&runtime.device, "positions of k-mers", usage, size_of_val(places) as u64)?;
        runtime.upload(&buffer, 0..places.len(), |words, sent| sent.copy_from_slice(&places[words]))?;
        Ok(buffer)
    }
}

impl AppendingKernel for BoundCall<'_> {
    type Portion = Range<usize>;
    type Parameters = Bounding;
    const WORDS: usize = 3;

    fn cut(&self, units: Range<usize>, places: u64) -> (Range<usize>, Option<Range<usize>>) {
        let places = self.submission.unwrap_or(usize::try_from(places).unwrap_or(usize::MAX));
        let end = units.end.min(units.start + (places / UNIT as usize).max(1));
        (units.start..end, (end < units.end).then_some(end..units.end))
    }

    fn halves(&self, units: Range<usize>) -> Option<[Range<usize>; 2]> {
        halves_of(units)
    }

    fn cells(&self, units: &Range<usize>) -> u64 {
        units.len() as u64 * u64::from(UNIT)
    }

    fn parameters(&self, units: &Range<usize>, capacity: u32) -> Bounding {
        let ScanScores { match_, mismatch, edit, open, extend, end_bonus } = self.scores;
        Bounding {
            letters: self.letters,
            positions: to_u32(self.packed.positions),
            units_at: to_u32(self.packed.units_at),
            first_unit: to_u32(units.start),
            end_unit: to_u32(units.end),
            match_score: match_,
            mismatch_score: mismatch,
            edit,
            open,
            extend,
            end_bonus,
            capacity,
        }
    }

    fn launch(
        &mut self,
        device: &GpuDevice,
        units: &Range<usize>,
        ListBuffers { parameters, list }: ListBuffers,
    ) -> Result<Launch, EngineError> {
        let buffers = [parameters, self.targets, self.places, self.tasks, self.queries, list];
        let bindings = bind(device, self.kernel, &buffers)?;
        Ok(Launch::new(self.kernel, &bindings, to_u32(units.len())))
    }

    fn take(&mut self, _: &Range<usize>, found: &[u32]) -> Result<bool, EngineError> {
        for &[query, diagonal, most] in found.as_chunks().0 {
            if query as usize >= self.count {
                return Err(EngineError::Wrong(format!("a diagonal of query {query} of {}", self.count)));
            }
            let diagonal = i64::from(diagonal) - i64::from(PAD);
            if diagonal >= to_i64(self.letters as usize) {
                return Err(EngineError::Wrong(format!("diagonal {diagonal} of {} letters", self.letters)));
            }
            self.found.push(BoundedDiagonal { query, diagonal, most: most.cast_signed() });
        }
        Ok(true)
    }
}
