//! Exact seed matches in the targets, located by a k-mer index.

use super::diagonal_bound::PieceCount;
use super::index::{self, IndexShape, KmerIndex, KmerPlaces, KmerRange};
use super::pieces::{self, Piece, PieceBuffers};
use crate::engine::cpu::simd::{InstructionSet, Kernel, Simd};
use crate::terms::alphabet::is_base;
use crate::terms::batch::{Holding, Sequences};
use crate::terms::casts::{to_i64, to_isize, to_u32, to_usize};
use crate::terms::system::{HAS_THREADS, Instant};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Positions whose codes are prefetched: at 3.1 billion bases, reading them takes most of the time of a comparison.
const AHEAD: usize = 16;
/// Positions of seeds that are read together, and the bases of each that are compared first.
const TOGETHER: usize = 64;
const LAST_BASES: usize = u64::BITS as usize / 8;

/// An index of the targets, made or read when it is first needed.
pub struct Kmers {
    targets: Arc<Sequences>,
    holding: Holding,
    shape: IndexShape,
    /// Bases per segment of an index that is built, if not those of [`IndexShape::segment`].
    segment: Option<usize>,
    /// `None` inside if the threads that build the index could not be started, or if the targets' file is damaged.
    index: OnceLock<Option<KmerIndex>>,
    /// Time that building the index took, if it was built.
    built_in: OnceLock<Duration>,
    stored: Option<StoredIndex>,
}

/// An index that is stored in a file.
#[derive(Clone)]
pub struct StoredIndex {
    pub shape: IndexShape,
    /// Verifies and returns the index, or `None` if it is damaged.
    pub load: Arc<dyn Fn() -> Option<KmerIndex> + Send + Sync>,
}

/// Index ranges of the k-mers of a query's seeds.
#[derive(Debug, Default)]
pub struct Places {
    kmers: Vec<(SeedKmer, (usize, u32))>,
    /// For each segment of the index, the range of each k-mer.
    places: Vec<(SeedKmer, KmerRange)>,
}

impl Places {
    /// Looks up the k-mers, and returns the number of their positions.
    fn look_up(&mut self, index: &KmerIndex) -> usize {
        let Places { kmers, places } = self;
        places.clear();
        for range in index.segments() {
            places.extend(kmers.iter().map(|&(at, kmer)| (at, range(kmer))));
        }
        places.iter().map(|(_, range)| range.len()).sum()
    }

    /// Calls `call` with the ranges of some of the k-mers, by their numbers, segment by segment.
    #[inline]
    fn for_rows(&self, rows: Range<usize>, mut call: impl FnMut(SeedKmer, KmerRange)) {
        let mut first = 0;
        while let Some(ranges) = self.places.get(first + rows.start..first + rows.end) {
            ranges.iter().for_each(|&(at, range)| call(at, range));
            first += self.kmers.len().max(1);
        }
    }
}

/// A k-mer by which a seed is looked up.
#[derive(Clone, Copy, Debug)]
struct SeedKmer {
    /// Start of the seed in the query.
    seed: usize,
    /// Bases of the seed before the k-mer, fewer than the step of the index.
    before: usize,
}

/// Calls `call` with the start of each stretch of the codes that equals the piece and begins `before` codes before one of
/// the positions.
struct EqualStretches<'a, F> {
    codes: &'a [u8],
    piece: &'a [u8],
    places: KmerPlaces<'a>,
    before: usize,
    call: F,
}

impl<F: FnMut(usize)> Kernel for EqualStretches<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let EqualStretches { codes, piece, places: KmerPlaces { start, places }, before, mut call } = self;
        let shift = to_isize(start) - to_isize(before);
        for (index, &place) in places.iter().enumerate() {
            if let Some(&ahead) = places.get(index + AHEAD) {
                let from = (ahead as usize).saturating_add_signed(shift);
                simd.prefetch(codes.get(from..).unwrap_or_default());
                simd.prefetch(codes.get(from + piece.len()..).unwrap_or_default());
            }
            let Some(from) = (place as usize).checked_add_signed(shift) else { continue };
            if codes.get(from..from + piece.len()) == Some(piece) {
                call(from);
            }
        }
    }
}

/// Callback for each position where a seed occurs: the start of the seed in the query and in the concatenated targets,
/// the target, and the target's range in the concatenated targets.
pub trait SeedCallback: FnMut(usize, usize, u32, &Range<usize>) {}

impl<F: FnMut(usize, usize, u32, &Range<usize>)> SeedCallback for F {}

impl Kmers {
    pub fn new(targets: &Arc<Sequences>, shape: IndexShape) -> Kmers {
        let (targets, holding) = (Arc::clone(targets), Holding::new(targets));
        let (segment, index, built_in) = (None, OnceLock::new(), OnceLock::new());
        Kmers { targets, holding, shape, segment, index, built_in, stored: None }
    }

    /// Builds an index in segments of about `bases` bases.
    pub fn set_segment(&mut self, bases: usize) {
        self.segment = Some(bases);
    }

    /// Uses an index from a file instead of building one, if it has the same shape.
    pub fn store(&mut self, stored: StoredIndex) {
        self.stored = Some(stored).filter(|stored| stored.shape == self.shape);
    }

    /// Whether the index comes from a file, which costs almost no time.
    pub fn are_stored(&self) -> bool {
        self.stored.is_some()
    }

    /// Length of the shortest seeds that can be looked up, in bases.
    pub fn least(&self) -> usize {
        self.shape.least_seed()
    }

    pub fn shape(&self) -> IndexShape {
        self.shape
    }

    /// Number of k-mers by which a seed is looked up.
    pub fn step(&self) -> u32 {
        self.shape.step
    }

    /// Length of the k-mers that seeds are looked up by, in bases. Shorter seeds are looked up as a whole.
    pub fn letters(&self) -> u32 {
        self.shape.letters
    }

    /// Whether the index was built, or building it failed.
    pub fn are_tried(&self) -> bool {
        self.index.get().is_some()
    }

    /// Time that building the index took. `None` if it was not built, but read from a file.
    pub fn built_in(&self) -> Option<Duration> {
        self.built_in.get().copied()
    }

    /// Whether the index is available.
    pub fn are_ready(&self) -> bool {
        matches!(self.index.get(), Some(Some(_)))
    }

    /// Builds or loads the index unless it is available. Codes that are mapped from a file are verified first: a
    /// damaged code would hide a seed.
    ///
    /// A thread that calls this while the index is built waits without stealing other work from its pool. So the index
    /// is built in a pool of its own: in the caller's pool, a thread could wait for work that is below it on its own
    /// stack.
    pub fn prepare(&self) {
        self.index.get_or_init(|| {
            let begun = Instant::now();
            let (targets, stored) = (Arc::clone(&self.targets), self.stored.clone());
            let (shape, segment) = (self.shape, self.segment);
            let make = move || match stored {
                _ if targets.prove_all().is_err() => None,
                Some(stored) => (stored.load)(),
                None => Some(KmerIndex::in_segments(&targets, shape, segment)),
            };
            let index = if HAS_THREADS { in_own_pool(make)? } else { make() };
            if index.is_some() && !self.are_stored() {
                let _ = self.built_in.set(begun.elapsed());
            }
            index
        });
    }

    /// Looks up the k-mers of a query's seeds, of at least [`Kmers::least`] bases, and returns the number of their
    /// positions in the index, which is at least the number of seed occurrences. Returns 0 if the index is not ready.
    ///
    /// In a sampled index, one k-mer of each occurrence of a seed is listed. It begins at a base of the seed whose number is
    /// less than the step, so a seed is looked up by as many k-mers as the step.
    pub fn look_up(&self, query: &[u8], seed: usize, found: &mut Places) -> usize {
        let Places { kmers, places } = found;
        kmers.clear();
        places.clear();
        let Some(Some(index)) = self.index.get() else { return 0 };
        // Separate loops let the processor overlap many memory accesses.
        let seeds = query.chunks_exact(seed).enumerate();
        kmers.extend(seeds.flat_map(|(k, codes)| {
            let of_seed = move |before: usize| Some((SeedKmer { seed: k * seed, before }, &codes[before..]));
            let kmer = |(at, codes): (SeedKmer, &[u8])| Some((at, index.kmer(codes)?));
            (0..self.shape.step as usize).filter_map(of_seed).filter_map(kmer)
        }));
        found.look_up(index)
    }

    /// Looks up the k-mer at each base of a query, and returns the number of their positions.
    pub fn look_up_all(&self, query: &[u8], found: &mut Places) -> usize {
        self.look_up_rows(query, 0..query.len(), found)
    }

    /// Looks up the k-mers that begin at some bases of a query, and returns the number of their positions.
    pub fn look_up_rows(&self, query: &[u8], rows: impl Iterator<Item = usize>, found: &mut Places) -> usize {
        let Places { kmers, places } = found;
        kmers.clear();
        places.clear();
        let Some(Some(index)) = self.index.get() else { return 0 };
        let letters = self.letters() as usize;
        kmers.extend(rows.filter_map(|seed| {
            Some((SeedKmer { seed, before: 0 }, index.kmer(query.get(seed..seed + letters)?)?))
        }));
        found.look_up(index)
    }

    /// Looks up as many seeds of [`Kmers::least`] bases as fit, but at most `most`, and returns the number of the positions
    /// of their k-mers: disjoint seeds with the fewest positions. Seeds that the index cannot have are left out.
    pub fn look_up_rarest(
        &self,
        query: &[u8],
        most: usize,
        found: &mut Places,
        buffers: &mut PieceBuffers,
    ) -> usize {
        let seed = self.least();
        self.look_up_all(query, found);
        let wanted = PieceCount { count: most.min(query.len() / seed), margin: 0 };
        match self.rarest(found, (wanted, query.len()), buffers) {
            Some((count, pieces)) => {
                let step = self.step() as usize;
                let mut places = Vec::new();
                for &Piece { first: seed, .. } in &pieces {
                    found.for_rows(seed..seed + step, |at, range| {
                        places.push((SeedKmer { seed, before: at.seed - seed }, range));
                    });
                }
                found.places = places;
                to_usize(count)
            }
            // Some residues are not bases.
            None => self.look_up(query, seed, found),
        }
    }

    /// After [`Kmers::look_up_all`]: chooses disjoint pieces of a query of `len` bases with the fewest positions, and returns
    /// that number. `None` if the pieces do not fit, or if the query has other residues than bases.
    pub fn rarest(
        &self,
        found: &Places,
        (wanted, len): (PieceCount, usize),
        buffers: &mut PieceBuffers,
    ) -> Option<(u64, Vec<Piece>)> {
        let rows = found.kmers.len();
        let is_whole = rows + self.letters() as usize == len + 1;
        let counts = (0..rows).map(|row| {
            let mut count = 0;
            found.for_rows(row..row + 1, |_, range| count += range.len());
            count
        });
        let shape = (self.least(), self.step() as usize);
        is_whole.then(|| pieces::rarest(counts, wanted, shape, len, buffers)).flatten()
    }

    /// After [`Kmers::rarest`]: appends the diagonals on which a piece of the query occurs, as far as its k-mer has a position
    /// in a stretch of the concatenated targets, and the first base of the piece.
    pub fn push_intact(
        &self,
        (query, pieces): (&[u8], &[Piece]),
        found: &Places,
        stretch: &Range<usize>,
        intact: &mut Vec<(i64, u32)>,
    ) {
        let codes = self.codes();
        self.for_each_place_of(pieces, found, stretch, |piece, row, places| {
            let Range { start, end } = piece.bases;
            let piece = &query[start..end];
            let begins = EqualStretches {
                codes,
                piece,
                places,
                before: row - start,
                call: |from| {
                    intact.push((to_i64(from) - to_i64(start), to_u32(start)));
                },
            };
            InstructionSet::best().run(begins);
        });
    }

    /// Number of positions of the pieces' k-mers in a stretch of the concatenated targets.
    pub fn piece_places_in(&self, pieces: &[Piece], found: &Places, stretch: &Range<usize>) -> usize {
        let mut count = 0;
        self.for_each_place_of(pieces, found, stretch, |_, _, kmer| count += kmer.places.len());
        count
    }

    /// Calls `call` with each piece, the start of each k-mer by which it is looked up, and the positions of the k-mer.
    fn for_each_place_of(
        &self,
        pieces: &[Piece],
        found: &Places,
        stretch: &Range<usize>,
        mut call: impl FnMut(&Piece, usize, KmerPlaces),
    ) {
        let Some(Some(index)) = self.index.get() else { return };
        for piece in pieces {
            let rows = piece.first..piece.first + self.step() as usize;
            found.for_rows(rows, |at, range| call(piece, at.seed, index.places(range).within(stretch)));
        }
    }

    /// After [`Kmers::rarest`]: calls `call` with each piece, the start of each k-mer by which it is looked up, and the range
    /// of the k-mer's positions in [`Kmers::all_places`].
    pub fn for_each_range(
        &self,
        pieces: &[Piece],
        found: &Places,
        mut call: impl FnMut(&Piece, usize, Range<usize>),
    ) {
        for piece in pieces {
            let rows = piece.first..piece.first + self.step() as usize;
            found.for_rows(rows, |at, range| call(piece, at.seed, range.positions()));
        }
    }

    /// After [`Kmers::look_up_all`]: calls `call` with the bases of each k-mer in the query, and the range of its positions in
    /// [`Kmers::all_places`].
    pub fn for_each_kmer_range(&self, found: &Places, mut call: impl FnMut(Range<usize>, Range<usize>)) {
        let letters = self.letters() as usize;
        let bases = |at: SeedKmer| at.seed..at.seed + letters;
        found.places.iter().for_each(|&(at, range)| call(bases(at), range.positions()));
    }

    /// The positions of all k-mers. `None` if the index is not ready, or if it has several segments.
    pub fn all_places(&self) -> Option<&[u32]> {
        self.index.get()?.as_ref()?.whole()
    }

    /// After [`Kmers::look_up_all`] for a query of bases only: number of positions of the k-mers that begin in `rows`, in
    /// all targets or in a stretch of them.
    pub fn listed_at(&self, found: &Places, rows: Range<usize>, stretch: Option<&Range<usize>>) -> usize {
        let Some(Some(index)) = self.index.get() else { return 0 };
        let mut count = 0;
        found.for_rows(rows, |_, range| {
            count += match stretch {
                None => range.len(),
                Some(stretch) => index.places(range).within(stretch).places.len(),
            };
        });
        count
    }

    /// The same: calls `call` with the start of each of these k-mers and its positions in a stretch of the targets.
    pub fn for_each_listed(
        &self,
        found: &Places,
        rows: Range<usize>,
        stretch: &Range<usize>,
        mut call: impl FnMut(usize, usize),
    ) {
        let Some(Some(index)) = self.index.get() else { return };
        found.for_rows(rows, |at, range| {
            index.places(range).within(stretch).iter().for_each(|place| call(at.seed, place));
        });
    }

    /// The k-mers that were looked up: the start of each in the query, and its number.
    pub fn looked_up<'a>(&self, found: &'a Places) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        found.kmers.iter().map(|&(at, (kmer, _))| (at.seed + at.before, kmer))
    }

    /// The index's k-mers that begin in a stretch of the concatenated targets, and their positions.
    pub fn in_stretch(&self, stretch: Range<usize>) -> Vec<(usize, usize)> {
        let (mut kmers, start) = (Vec::new(), stretch.start);
        index::for_each_kmer(&self.targets, self.shape, stretch, |kmer, offset| {
            kmers.push((kmer, start + offset as usize));
        });
        kmers
    }

    /// Returns the looked-up seeds that begin in `letters` of the query and are no longer than the index's k-mers, each
    /// with its start and all its positions. Some positions may be false: those where the end of a sequence truncates
    /// the k-mer. Not for sampled indexes, whose seeds are longer, and which may have several segments.
    pub fn listed<'a>(
        &'a self,
        found: &'a Places,
        letters: Range<usize>,
    ) -> impl Iterator<Item = (usize, &'a [u32])> + Clone + use<'a> {
        let index = self.index.get().and_then(Option::as_ref);
        let [first, behind] = [letters.start, letters.end]
            .map(|letter| found.places.partition_point(|&(at, _)| at.seed < letter));
        let places = move |range| index.map_or(&[][..], |index| index.places(range).places);
        found.places[first..behind.max(first)].iter().map(move |&(at, range)| (at.seed, places(range)))
    }

    /// The codes of the targets, as the k-mers of the index have them.
    pub fn codes(&self) -> &[u8] {
        self.targets.codes()
    }

    /// Number of positions of the looked-up k-mers in a stretch of the concatenated targets.
    pub fn places_in(&self, found: &Places, stretch: &Range<usize>) -> usize {
        self.listed_in(found, stretch).map(|(_, kmer)| kmer.places.len()).sum()
    }

    /// Appends the diagonals of the looked-up k-mers with a position in a stretch of the concatenated targets. A diagonal is the position there of the query's first base. The bases of a seed outside its k-mer may differ.
    pub fn push_diagonals(&self, found: &Places, stretch: &Range<usize>, diagonals: &mut Vec<i64>) {
        for (before, KmerPlaces { start, places }) in self.listed_in(found, stretch) {
            let first = to_i64(start) - to_i64(before);
            diagonals.extend(places.iter().map(|&place| first + i64::from(place)));
        }
    }

    /// Appends the diagonal of each looked-up k-mer with a position in a stretch of the concatenated targets, and the
    /// k-mer's start in the query.
    pub fn push_hits(&self, found: &Places, stretch: &Range<usize>, hits: &mut Vec<(i64, u32)>) {
        for (before, KmerPlaces { start, places }) in self.listed_in(found, stretch) {
            let first = to_i64(start) - to_i64(before);
            hits.extend(places.iter().map(|&place| (first + i64::from(place), to_u32(before))));
        }
    }

    /// Calls `call` with the start of each looked-up k-mer in the query and each of its positions, until it returns `false`.
    /// Returns whether it never did.
    pub fn for_each_kmer(&self, found: &Places, mut call: impl FnMut(usize, usize) -> bool) -> bool {
        let all = 0..self.codes().len();
        let mut listed = self.listed_in(found, &all);
        listed.all(|(before, places)| {
            // Positions in a damaged file may be any numbers.
            let mut places = places.iter().filter(|place| all.contains(place));
            places.all(|place| call(before, place))
        })
    }

    /// The start of each looked-up k-mer in the query, and its positions in a stretch of the concatenated targets.
    fn listed_in<'a>(
        &'a self,
        found: &'a Places,
        stretch: &'a Range<usize>,
    ) -> impl Iterator<Item = (usize, KmerPlaces<'a>)> {
        let index = self.index.get().and_then(Option::as_ref);
        found.places.iter().map(move |&(at, range)| {
            let places = index.map_or_else(KmerPlaces::default, |index| index.places(range));
            (at.seed + at.before, places.within(stretch))
        })
    }

    /// Calls `call` for each exact occurrence of a looked-up seed of the query, among the first `most` positions that
    /// each segment of the index has for each seed.
    pub fn for_each_place(
        &self,
        (query, seed): (&[u8], usize),
        found: &Places,
        most: usize,
        mut call: impl SeedCallback,
    ) {
        let Some(Some(index)) = self.index.get() else { return };
        let codes = self.targets.codes();
        let mut listed = found.places.iter().flat_map(|&(at, range)| {
            let places = index.places(range).iter().take(most);
            places.filter_map(move |place| Some((at.seed, place.checked_sub(at.before)?)))
        });
        let mut together: SmallVec<[(usize, usize); TOGETHER]> = SmallVec::new();
        loop {
            together.clear();
            together.extend(listed.by_ref().take(TOGETHER));
            if together.is_empty() {
                return;
            }
            keep_likely((query, codes), seed, &mut together);
            for &(start, place) in &together {
                let bases = &query[start..start + seed];
                // An ambiguous base matches nothing.
                if codes.get(place..place + seed) != Some(bases) || !bases.iter().all(|&code| is_base(code)) {
                    continue;
                }
                let target = self.holding.of(&self.targets, place);
                let bounds = self.targets.start(target)..self.targets.start(target + 1);
                // A seed must not cross the end of its target.
                if place + seed <= bounds.end {
                    call(start, place, to_u32(target), &bounds);
                }
            }
        }
    }
}

/// Drops most of the positions at which seeds of a query differ from the targets: those whose last bases differ. A loop without
/// branches lets the processor overlap the memory accesses.
fn keep_likely(
    (query, codes): (&[u8], &[u8]),
    seed: usize,
    places: &mut SmallVec<[(usize, usize); TOGETHER]>,
) {
    if seed < LAST_BASES {
        return;
    }
    let last = |codes: &[u8], start: usize| {
        let end = start + seed;
        codes.get(end - LAST_BASES..end).and_then(|bases| bases.try_into().ok()).map_or(0, u64::from_le_bytes)
    };
    let mut kept = 0;
    for read in 0..places.len() {
        let (start, place) = places[read];
        places[kept] = (start, place);
        kept += usize::from(last(query, start) == last(codes, place));
    }
    places.truncate(kept);
}

/// The result of `make` in a new pool, or `None` if the pool cannot start threads.
fn in_own_pool<T: Send + 'static>(make: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, made) = sync_channel(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build().ok()?;
    pool.spawn(move || {
        let _ = done.send(make());
    });
    made.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Every thread of the pool asks at the same time, and again from inside the loop of another.
    #[test]
    fn an_index_that_all_threads_of_a_pool_ask_for_is_made() {
        let codes: Vec<u8> =
            (0..200_000u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 30) as u8).collect();
        let targets: Arc<Sequences> = Arc::new([&codes[..]].into_iter().collect());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for _ in 0..20 {
            let kmers = Kmers::new(&targets, IndexShape { letters: 9, step: 1 });
            let found: Vec<usize> = pool.install(|| {
                let ask = |_| {
                    kmers.prepare();
                    kmers.look_up(&codes[..1000], 20, &mut Places::default())
                };
                (0..64).into_par_iter().map(ask).collect()
            });
            assert!(found.iter().all(|&count| count == found[0] && count >= 50));
        }
    }
}
