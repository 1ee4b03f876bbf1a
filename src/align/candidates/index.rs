//! Index of the positions of the k-mers of one length in the targets: of all k-mers, or, in large targets, of those at
//! every few positions. Positions have 32 bits, so larger targets are indexed in several segments.

use crate::terms::alphabet::is_base;
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_u16, to_u32};
use crate::terms::options::SampledKmers;
use rayon::prelude::*;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Bits per base.
const LETTER_BITS: u32 = 2;
/// Maximum k-mer length of a sampled index, in bases: an index has a table entry for each possible k-mer.
const MOST_LETTERS: u32 = 14;
/// Maximum k-mer length of an index of all k-mers, in bases.
pub const MOST_DENSE_LETTERS: u32 = 12;
/// Maximum number of bases of targets whose k-mers are all in their index.
pub const MOST_DENSE: usize = 1 << 27;
/// Maximum number of bases of a segment, whose positions fit in 32 bits.
pub const MOST_IN_SEGMENT: usize = u32::MAX as usize;
/// Distance of the positions of a sampled index, in bases.
const STEP: u32 = 6;
/// Minimum k-mer length in bases: shorter k-mers occur everywhere.
pub const LEAST_LETTERS: u32 = 6;
/// Positions per chunk. The k-mers of one chunk are distributed to buckets together, which bounds the temporary memory.
const CHUNK: usize = 1 << 20;
/// Bases per piece. One thread distributes the k-mers of a piece, whose offsets must fit in 16 bits.
const PIECE: usize = 1 << 16;
/// Leading bits of a k-mer that select its bucket, at least: few enough that one thread can write to all buckets from
/// its cache, and enough that the k-mers of one bucket fit in the cache too.
const BUCKET_BITS: u32 = 8;
/// Bits of a k-mer after those that select its bucket, at most.
const REST_BITS: u32 = u16::BITS;

/// Which k-mers an index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexShape {
    /// Length of the k-mers, in bases.
    pub letters: u32,
    /// Distance of their positions: the index has the k-mers that begin at multiples of it.
    pub step: u32,
}

impl From<SampledKmers> for IndexShape {
    fn from(SampledKmers { letters, step }: SampledKmers) -> IndexShape {
        IndexShape { letters, step }
    }
}

impl IndexShape {
    /// The shape for targets of `bases` bases. With the dense one, there are about as many k-mers as positions. With the
    /// sampled one, the index has at most 1.2 bytes for each base.
    pub fn suited(bases: usize) -> IndexShape {
        let log = bases.max(1).ilog2();
        match bases <= MOST_DENSE {
            true => IndexShape { letters: (log / 2 + 1).clamp(LEAST_LETTERS, MOST_DENSE_LETTERS), step: 1 },
            false => IndexShape::sampled(bases),
        }
    }

    /// The shape for a part of `part` bases of targets of `bases` bases, sampled if that for all targets is.
    pub fn of_part(bases: usize, part: usize) -> IndexShape {
        if bases <= MOST_DENSE { IndexShape::suited(part) } else { IndexShape::sampled(part) }
    }

    fn sampled(bases: usize) -> IndexShape {
        let letters = (bases.max(1).ilog2().saturating_sub(3) / 2).clamp(MOST_DENSE_LETTERS, MOST_LETTERS);
        IndexShape { letters, step: STEP }
    }

    /// Whether an index can have this shape.
    pub fn is_valid(self) -> bool {
        let most = if self.step == 1 { MOST_DENSE_LETTERS } else { MOST_LETTERS };
        self.step > 0 && (LEAST_LETTERS..=most).contains(&self.letters)
    }

    /// Length of the shortest seeds all of whose positions the index finds, in bases.
    pub fn least_seed(self) -> usize {
        let sampled = (self.letters + self.step - 1) as usize;
        if self.step == 1 { LEAST_LETTERS as usize } else { sampled }
    }

    /// Bases per segment of an index of `bases` bases: `asked`, or as many as there are if they fit, or so many that segments
    /// have about equal lengths. A multiple of the step if there are several segments. An index of all k-mers has only one
    /// segment, because the end of a segment would truncate k-mers.
    pub fn segment(self, bases: usize, asked: Option<usize>) -> usize {
        let step = self.step as usize;
        let most = MOST_IN_SEGMENT / step * step;
        match asked.filter(|_| step > 1) {
            Some(asked) => asked.clamp(1, most).next_multiple_of(step),
            None if bases <= MOST_IN_SEGMENT => bases.max(1),
            None => bases.div_ceil(bases.div_ceil(most)).next_multiple_of(step),
        }
    }

    /// Number of possible k-mers.
    pub fn kmers(self) -> usize {
        1 << (LETTER_BITS * self.letters)
    }

    /// Leading bits of a k-mer that select its bucket.
    fn bucket_bits(self) -> u32 {
        BUCKET_BITS.max((LETTER_BITS * self.letters).saturating_sub(REST_BITS))
    }
}

/// The positions of k-mers in [`Sequences::codes`], in segments.
///
/// In an index of all k-mers, a k-mer that is truncated by the end of a sequence or by an ambiguous base is listed too,
/// padded with A's, if at least `LEAST_LETTERS` of its bases are present. So the positions of a shorter k-mer are those of
/// all k-mers that begin with it, contiguous in the index, and one index serves k-mers of every length.
///
/// A sampled index has the k-mers at multiples of its step. Each stretch of [`IndexShape::least_seed`] bases begins with
/// such a k-mer after less than a step, and is found by it. It may have several segments. Each k-mer is in the segment in
/// which it begins, wherever it ends.
#[derive(Debug)]
pub struct KmerIndex {
    shape: IndexShape,
    /// Bases per segment.
    segment: usize,
    segments: Vec<KmerSegment<'static>>,
    /// Owner of borrowed tables.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

/// The k-mers that begin in a stretch of the concatenated targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmerSegment<'a> {
    /// Position of the first base of the stretch.
    start: usize,
    /// For each k-mer, the end of its positions in `places`.
    ends: Cow<'a, [u32]>,
    /// Positions in the stretch, sorted by k-mer, those of one k-mer in ascending order.
    places: Cow<'a, [u32]>,
}

/// Range of the positions of a k-mer in a segment of an index.
#[derive(Clone, Copy, Debug)]
pub struct KmerRange {
    segment: u32,
    start: u32,
    end: u32,
}

impl KmerRange {
    /// Number of positions.
    pub fn len(self) -> usize {
        self.positions().len()
    }

    /// The range in the positions of its segment.
    pub fn positions(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Ascending positions of a k-mer in a segment that begins at position `start`.
#[derive(Clone, Copy, Debug, Default)]
pub struct KmerPlaces<'a> {
    pub start: usize,
    pub places: &'a [u32],
}

impl<'a> KmerPlaces<'a> {
    /// The positions in the concatenated targets.
    pub fn iter(self) -> impl Iterator<Item = usize> + use<'a> {
        self.places.iter().map(move |&place| self.start + place as usize)
    }

    /// Those in a stretch of the concatenated targets.
    pub fn within(self, stretch: &Range<usize>) -> KmerPlaces<'a> {
        let ends = [stretch.start, stretch.end].map(|end| end.saturating_sub(self.start));
        let ends = ends.map(|end| self.places.partition_point(|&place| (place as usize) < end));
        // Positions in a damaged file may be in any order.
        KmerPlaces { places: self.places.get(ends[0]..ends[1]).unwrap_or_default(), ..self }
    }
}

impl KmerIndex {
    /// An index of tables that [`KmerSegment::of_tables`] has verified, read from a file.
    pub fn of_segments(shape: IndexShape, segment: usize, segments: Vec<KmerSegment<'static>>) -> KmerIndex {
        KmerIndex { shape, segment, segments, _owner: None }
    }

    /// The same index, which keeps the owner of its tables.
    pub fn owned_by(self, owner: Arc<dyn Any + Send + Sync>) -> KmerIndex {
        KmerIndex { _owner: Some(owner), ..self }
    }

    pub fn shape(&self) -> IndexShape {
        self.shape
    }

    /// Bases per segment. The last segment may have fewer.
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// The tables of each segment, for writing to a file: the end of each k-mer's positions, and the positions.
    pub fn tables(&self) -> impl Iterator<Item = [&[u32]; 2]> {
        self.segments.iter().map(|segment| [&*segment.ends, &segment.places])
    }

    /// All positions of the index if it has only one segment.
    pub fn whole(&self) -> Option<&[u32]> {
        match &self.segments[..] {
            [segment] => Some(&segment.places),
            _ => None,
        }
    }

    /// Builds an index of this shape.
    pub fn new(targets: &Sequences, shape: IndexShape) -> KmerIndex {
        KmerIndex::in_segments(targets, shape, None)
    }

    /// The same with segments of `asked` bases ([`IndexShape::segment`]).
    pub fn in_segments(targets: &Sequences, shape: IndexShape, asked: Option<usize>) -> KmerIndex {
        KmerIndex::by_stretches(targets, shape, asked, sizes(shape))
    }

    /// The same, with chunks of `chunk` bases and pieces of `piece` bases.
    fn by_stretches(
        targets: &Sequences,
        shape: IndexShape,
        asked: Option<usize>,
        [chunk, piece]: [usize; 2],
    ) -> KmerIndex {
        let all = targets.codes().len();
        let segment = shape.segment(all, asked);
        let of_stretch = |stretch| KmerSegment::by_stretches(targets, shape, stretch, [chunk, piece]);
        let segments = stretches(0..all, segment).into_iter().map(of_stretch).collect();
        KmerIndex { shape, segment, segments, _owner: None }
    }

    /// The k-mer that `codes` begin with, and its length: the index's k-mer length, or less if `codes` is shorter.
    /// `None` if `codes` is too short, or if one of the bases is ambiguous.
    pub fn kmer(&self, codes: &[u8]) -> Option<(usize, u32)> {
        let IndexShape { letters: own, step } = self.shape;
        let letters = own.min(to_u32(codes.len()));
        let base = |kmer, &code: &u8| is_base(code).then(|| kmer << LETTER_BITS | usize::from(code));
        let kmer = codes[..letters as usize].iter().try_fold(0, base)?;
        (letters >= if step == 1 { LEAST_LETTERS } else { own }).then_some((kmer, letters))
    }

    /// For each segment, the function that returns the range of the positions of a k-mer of a given length. The range
    /// contains all positions of the k-mer, and those of truncated k-mers that look like it after padding.
    pub fn segments(&self) -> impl Iterator<Item = impl Fn((usize, u32)) -> KmerRange> {
        (0..).zip(&self.segments).map(move |(number, segment)| {
            move |(kmer, letters): (usize, u32)| {
                let shift = LETTER_BITS * (self.shape.letters - letters);
                let (first, behind) = (kmer << shift, (kmer + 1) << shift);
                let start = if first == 0 { 0 } else { segment.ends[first - 1] };
                KmerRange { segment: number, start, end: segment.ends[behind - 1] }
            }
        })
    }

    /// The positions in a range. Empty if the index file was truncated meanwhile so that the range is invalid.
    pub fn places(&self, range: KmerRange) -> KmerPlaces<'_> {
        let KmerSegment { start, places, .. } = &self.segments[range.segment as usize];
        KmerPlaces { start: *start, places: places.get(range.positions()).unwrap_or_default() }
    }
}

impl<'a> KmerSegment<'a> {
    /// The segments whose tables follow one another in `ends` and in `places`, for targets of `all` bases. `None` if the
    /// tables can not belong to an index of this shape.
    pub fn of_tables(
        (shape, segment): (IndexShape, usize),
        [ends, places]: [Cow<'a, [u32]>; 2],
        all: usize,
    ) -> Option<Vec<KmerSegment<'a>>> {
        let kmers = shape.is_valid().then(|| shape.kmers())?;
        let mut before = 0;
        let mut segments = Vec::new();
        for (number, stretch) in stretches(0..all, segment.max(1)).into_iter().enumerate() {
            let own = part(&ends, number * kmers..(number + 1) * kmers)?;
            let behind = before + *own.last()? as usize;
            let segment =
                KmerSegment { start: stretch.start, ends: own, places: part(&places, before..behind)? };
            let ascend = || segment.ends.par_windows(2).all(|two| two[0] <= two[1]);
            let are_within = || segment.places.par_iter().all(|&place| (place as usize) < stretch.len());
            if !ascend() || !are_within() {
                return None;
            }
            segments.push(segment);
            before = behind;
        }
        let are_all = ends.len() == kmers * segments.len() && places.len() == before;
        are_all.then_some(segments)
    }

    /// Indexes the k-mers that begin in a stretch of the concatenated targets. It has fewer than 2^32 bases and begins at a
    /// multiple of the step.
    pub fn new(targets: &Sequences, shape: IndexShape, stretch: Range<usize>) -> KmerSegment<'static> {
        KmerSegment::by_stretches(targets, shape, stretch, sizes(shape))
    }

    /// The same, with chunks of `chunk` bases and pieces of `piece` bases.
    ///
    /// This is a radix sort: k-mers and their positions are distributed to buckets by the leading bits of the k-mer,
    /// and each bucket is sorted separately, so that no step leaves the cache.
    fn by_stretches(
        targets: &Sequences,
        shape: IndexShape,
        stretch: Range<usize>,
        [chunk, piece]: [usize; 2],
    ) -> KmerSegment<'static> {
        let start = stretch.start;
        let deal = |chunk: &Range<usize>| deal(targets, shape, start, stretches(chunk.clone(), piece));
        let mut ends = vec![0u32; shape.kmers()];
        let of_bucket = ends.len() >> shape.bucket_bits();
        let chunks = stretches(stretch, chunk);
        for chunk in &chunks {
            let pieces = deal(chunk);
            let count = |(bucket, counts): (usize, &mut [u32])| {
                let kmers = pieces.iter().flat_map(|piece: &KmerPiece| piece.bucket(bucket));
                kmers.for_each(|(kmer, _)| counts[kmer] += 1);
            };
            ends.par_chunks_mut(of_bucket).enumerate().for_each(count);
        }
        let sum = |counts: &[u32]| counts.iter().map(|&count| count as usize).sum::<usize>();
        let counts: Vec<usize> = ends.par_chunks(of_bucket).map(sum).collect();
        let mut places = vec![0u32; counts.iter().sum()];
        let (mut rest, mut before) = (&mut places[..], 0);
        let mut buckets = Vec::with_capacity(counts.len());
        for (count, ends) in counts.into_iter().zip(ends.chunks_mut(of_bucket)) {
            let (own, behind) = rest.split_at_mut(count);
            buckets.push(Bucket { before, ends, places: own });
            (rest, before) = (behind, before + to_u32(count));
        }
        buckets.par_iter_mut().for_each(Bucket::begin);
        for chunk in &chunks {
            let pieces = deal(chunk);
            buckets.par_iter_mut().enumerate().for_each(|(number, bucket)| bucket.fill(number, &pieces));
        }
        buckets.par_iter_mut().for_each(Bucket::end);
        KmerSegment { start, ends: Cow::Owned(ends), places: Cow::Owned(places) }
    }

    /// The tables, for writing to a file: the end of each k-mer's positions, and the positions.
    pub fn tables(&self) -> [&[u32]; 2] {
        [&self.ends, &self.places]
    }
}

/// Bases of a chunk and of a piece.
fn sizes(shape: IndexShape) -> [usize; 2] {
    [CHUNK * shape.step as usize, PIECE]
}

/// A part of a table.
fn part<'a>(table: &Cow<'a, [u32]>, range: Range<usize>) -> Option<Cow<'a, [u32]>> {
    match table {
        Cow::Borrowed(table) => Some(Cow::Borrowed(table.get(range)?)),
        Cow::Owned(table) => Some(Cow::Owned(table.get(range)?.to_vec())),
    }
}

/// K-mers of a stretch of the targets with their positions, sorted by bucket.
struct KmerPiece {
    /// Position of the first base of the stretch in its segment.
    start: u32,
    /// Where the k-mers of each bucket end.
    ends: Vec<u32>,
    /// The bits of each k-mer after those that select its bucket, and the k-mer's offset from `start`.
    kmers: Vec<(u16, u16)>,
}

// The offsets fit in 16 bits, as the rests of k-mers do.
const _: () = assert!(PIECE <= 1 << 16 && REST_BITS == 16);

impl KmerPiece {
    /// The k-mers of a bucket by their index in it, each with its position, in ascending order of position.
    fn bucket(&self, bucket: usize) -> impl Iterator<Item = (usize, u32)> {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        let kmers = &self.kmers[start as usize..self.ends[bucket] as usize];
        kmers.iter().map(|&(kmer, place)| (usize::from(kmer), self.start + u32::from(place)))
    }
}

/// Cuts a range into stretches of `letters` bases.
fn stretches(range: Range<usize>, letters: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(letters).map(|start| start..end.min(start + letters)).collect()
}

/// Collects the k-mers that begin in each of these stretches of a segment that begins at position `first`.
fn deal(
    targets: &Sequences,
    shape: IndexShape,
    first: usize,
    stretches: Vec<Range<usize>>,
) -> Vec<KmerPiece> {
    let shift = LETTER_BITS * shape.letters - shape.bucket_bits();
    let piece = |stretch: Range<usize>| {
        let start = to_u32(stretch.start - first);
        let mut found = Vec::with_capacity(stretch.len() / shape.step as usize + 1);
        let mut next = vec![0u32; 1 << shape.bucket_bits()];
        for_each_kmer(targets, shape, stretch, |kmer, offset| {
            next[kmer >> shift] += 1;
            found.push((to_u32(kmer), offset));
        });
        let mut sum = 0;
        for next in &mut next {
            let count = std::mem::replace(next, sum);
            sum += count;
        }
        // Until all k-mers are distributed, an end is the index of the next k-mer of its bucket.
        let mut kmers = vec![(0u16, 0u16); found.len()];
        let mask = (1u32 << shift) - 1;
        for (kmer, offset) in found {
            let next = &mut next[kmer as usize >> shift];
            kmers[*next as usize] = (to_u16(kmer & mask), to_u16(offset));
            *next += 1;
        }
        KmerPiece { start, ends: next, kmers }
    };
    stretches.into_par_iter().map(piece).collect()
}

/// The k-mers of a bucket: the number of occurrences of each, and memory for their positions.
struct Bucket<'a> {
    /// Number of positions of all k-mers in earlier buckets.
    before: u32,
    ends: &'a mut [u32],
    places: &'a mut [u32],
}

impl Bucket<'_> {
    /// Turns the counts into the index of the first position of each k-mer.
    fn begin(&mut self) {
        let mut next = 0;
        for end in self.ends.iter_mut() {
            let count = std::mem::replace(end, next);
            next += count;
        }
    }

    /// Stores positions. An end is the index of the next position of its k-mer.
    fn fill(&mut self, bucket: usize, pieces: &[KmerPiece]) {
        for (kmer, place) in pieces.iter().flat_map(|piece| piece.bucket(bucket)) {
            let next = &mut self.ends[kmer];
            self.places[*next as usize] = place;
            *next += 1;
        }
    }

    /// Turns the ends in this bucket into ends in the positions of all buckets.
    fn end(&mut self) {
        self.ends.iter_mut().for_each(|end| *end += self.before);
    }
}

/// Calls `call` with each k-mer of an index that begins at one of the positions `of`, fewer than 2^31 positions,
/// and the number of positions before it, in ascending order.
pub fn for_each_kmer(
    targets: &Sequences,
    shape: IndexShape,
    of: Range<usize>,
    mut call: impl FnMut(usize, u32),
) {
    let IndexShape { letters, step } = shape;
    let mask = shape.kmers() - 1;
    let (all, phase) = (to_u32(of.len()), to_u32(of.start % step as usize));
    // Later k-mers belong to another stretch, whether they are complete or look truncated here.
    let mut call = |kmer, offset: u32| {
        if offset < all && (step == 1 || (offset + phase).is_multiple_of(step)) {
            call(kmer, offset);
        }
    };
    let mut index = targets.holding(of.start);
    while index < targets.len() && targets.start(index) < of.end {
        let start = targets.start(index).max(of.start);
        let end = targets.start(index + 1).min(of.end + letters as usize - 1);
        // The current k-mer and its number of bases so far.
        let (mut kmer, mut known) = (0usize, 0);
        for (offset, &code) in (to_u32(start - of.start)..).zip(&targets.codes()[start..end]) {
            if is_base(code) {
                kmer = (kmer << LETTER_BITS | usize::from(code)) & mask;
                known += 1;
                if known >= letters {
                    call(kmer, offset + 1 - letters);
                }
            } else {
                if step == 1 {
                    cut_short(kmer, known, offset, letters, &mut call);
                }
                known = 0;
            }
        }
        if step == 1 {
            cut_short(kmer, known, to_u32(end - of.start), letters, &mut call);
        }
        index += 1;
    }
}

/// Calls `call` with the k-mers that are truncated at `end`, where `known` bases precede it, the last of them
/// in `kmer`.
fn cut_short(kmer: usize, known: u32, end: u32, letters: u32, call: &mut impl FnMut(usize, u32)) {
    for there in (LEAST_LETTERS..letters).rev().filter(|&there| there <= known) {
        let own = kmer & ((1 << (LETTER_BITS * there)) - 1);
        call(own << (LETTER_BITS * (letters - there)), end - there);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All positions of a k-mer, segment by segment.
    fn places(index: &KmerIndex, kmer: (usize, u32)) -> Vec<usize> {
        index.segments().flat_map(|range| index.places(range(kmer)).iter()).collect()
    }

    fn count(index: &KmerIndex) -> usize {
        index.tables().map(|[_, places]| places.len()).sum()
    }

    #[test]
    fn each_kmer_is_at_its_places() {
        let mut state = 1u32;
        let mut letter = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % most) as u8
        };
        let lengths = [0, 1, 5, 6, 7, 8, 9, 300, 40];
        let sequences: Vec<Vec<u8>> =
            lengths.iter().map(|&len| (0..len).map(|_| letter(40).saturating_sub(35)).collect()).collect();
        let targets: Sequences = sequences.iter().map(Vec::as_slice).collect();
        // Stretches of all sizes: shorter than a k-mer, and longer than all bases.
        let sizes = [[1, 1], [20, 7], [64, 64], [100, 8], [1000, 9], [CHUNK, PIECE]];
        for (letters, sizes) in
            [6, 7, 9, 12].into_iter().flat_map(|letters| sizes.map(|sizes| (letters, sizes)))
        {
            let index = KmerIndex::by_stretches(&targets, IndexShape { letters, step: 1 }, Some(50), sizes);
            for shorter in LEAST_LETTERS..=letters {
                let whole = |codes: &[u8]| codes.iter().all(|&code| is_base(code));
                for (own, target) in targets.iter().enumerate() {
                    let start = targets.start(own);
                    for (at, codes) in target.windows(shorter as usize).enumerate() {
                        let kmer = index.kmer(codes);
                        assert_eq!(kmer.is_some(), whole(codes), "{letters} letters, {codes:?}");
                        let Some(kmer) = kmer else { continue };
                        let places = places(&index, kmer);
                        let found = places.iter().filter(|&&place| place == start + at).count();
                        assert_eq!(found, 1, "{letters} letters, {codes:?} at {at} of {own}");
                        assert!(shorter < letters || places.is_sorted());
                    }
                }
            }
            let runs = sequences.iter().flat_map(|codes| codes.split(|&code| !is_base(code)));
            let listed: usize = runs.map(|run| (run.len() + 1).saturating_sub(LEAST_LETTERS as usize)).sum();
            assert_eq!((count(&index), index.segments().count()), (listed, 1), "{letters} letters");
        }
    }

    #[test]
    fn a_sampled_index_has_the_kmers_at_multiples_of_its_step() {
        let mut state = 5u32;
        let mut letter = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % most) as u8
        };
        let sequences: Vec<Vec<u8>> = [0, 1, 7, 13, 400, 9, 1000]
            .iter()
            .map(|&len| (0..len).map(|_| letter(40).saturating_sub(35)).collect())
            .collect();
        let targets: Sequences = sequences.iter().map(Vec::as_slice).collect();
        let all = targets.codes().len();
        for (letters, step) in [(6, 2), (7, 3), (9, 6), (13, 6)] {
            for (sizes, asked) in [
                ([1, 1], Some(all / 3)),
                ([20, 7], Some(64)),
                ([64, 64], None),
                ([64, 50], Some(1)),
                ([1000, 9], Some(all - 1)),
                ([CHUNK, PIECE], Some(all)),
            ] {
                let shape = IndexShape { letters, step };
                if letters > 7 && (sizes[0] < 64 || asked == Some(1)) {
                    continue;
                }
                let index = KmerIndex::by_stretches(&targets, shape, asked, sizes);
                let case = format!("{shape:?} {asked:?}");
                let segments = asked.map_or(1, |asked| all.div_ceil(asked.next_multiple_of(step as usize)));
                assert_eq!((index.segments().count(), index.whole().is_some()), (segments, segments == 1));
                let mut listed = 0;
                for (own, target) in targets.iter().enumerate() {
                    let start = targets.start(own);
                    for (at, codes) in target.windows(letters as usize).enumerate() {
                        let is_whole = codes.iter().all(|&code| is_base(code));
                        let kmer = index.kmer(codes);
                        assert_eq!(kmer.is_some(), is_whole, "{case} {codes:?}");
                        let Some(kmer) = kmer else { continue };
                        let places = places(&index, kmer);
                        let is_listed = places.contains(&(start + at));
                        assert_eq!(is_listed, (start + at).is_multiple_of(step as usize), "{case} {codes:?}");
                        assert!(places.is_sorted());
                        listed += usize::from(is_listed);
                    }
                }
                assert_eq!(listed, count(&index), "{case}");
                let tables = [0, 1].map(|which| {
                    let tables: Vec<&[u32]> = index.tables().map(|tables| tables[which]).collect();
                    Cow::Owned(tables.concat())
                });
                let read = KmerSegment::of_tables((shape, index.segment()), tables, all);
                assert_eq!(read.as_ref(), Some(&index.segments), "{case}");
                let shorter = vec![0; letters as usize - 1];
                assert_eq!(index.kmer(&shorter), None, "no seed is shorter");
            }
        }
    }

    #[test]
    fn shapes_by_the_size_of_the_targets() {
        // A part of large targets has a sampled index, in which seeds are no longer than in that of all.
        for part in [1, 1000, 100_000_000, 3_100_000_000] {
            let shape = IndexShape::of_part(3_100_000_000, part);
            assert!(shape.step > 1 && shape.is_valid() && shape.least_seed() <= 19, "{shape:?}");
            assert_eq!(IndexShape::of_part(100_000_000, part.min(100_000_000)).step, 1);
        }
        assert_eq!(IndexShape::of_part(3_100_000_000, 3_100_000_000), IndexShape::suited(3_100_000_000));
        let of = |bases| IndexShape::suited(bases);
        assert_eq!(of(MOST_DENSE), IndexShape { letters: 12, step: 1 });
        assert_eq!(of(MOST_DENSE + 1), IndexShape { letters: 12, step: 6 });
        assert_eq!(of(3_100_000_000), IndexShape { letters: 14, step: 6 });
        assert_eq!((of(1 << 20).least_seed(), of(3_100_000_000).least_seed()), (6, 19));
        let sizes = [MOST_DENSE + 1, MOST_IN_SEGMENT, MOST_IN_SEGMENT + 1, 17_000_000_000];
        for bases in (28..40).map(|log| 1usize << log).chain(sizes) {
            let shape = of(bases);
            assert!(shape.is_valid());
            let segment = shape.segment(bases, None);
            let segments = bases.div_ceil(segment);
            assert!(bases <= MOST_IN_SEGMENT || segment.is_multiple_of(shape.step as usize));
            assert!(
                segment <= MOST_IN_SEGMENT && segments == bases.div_ceil(MOST_IN_SEGMENT),
                "{bases} bases"
            );
            let bytes = 4 * (segments * shape.kmers() + bases / shape.step as usize);
            assert!(bytes as f64 <= 1.2 * bases as f64, "{bases} bases: {bytes} bytes");
        }
    }

    #[test]
    fn kmers_that_are_none() {
        let targets: Sequences = [&[0u8, 1, 2, 3, 0, 1, 2, 3][..]].into_iter().collect();
        let index = KmerIndex::new(&targets, IndexShape { letters: 7, step: 1 });
        assert_eq!(index.kmer(&[0, 1, 2, 3, 0]), None, "too short");
        assert_eq!(index.kmer(&[0, 1, 2, 3, 0, 9]), None);
        assert_eq!(index.kmer(&[0, 0, 0, 0, 0, 3, 2, 9]), Some((14, 7)), "only its own letters count");
        assert!(places(&index, (14, 7)).is_empty());
    }
}
