//! The indexed compact buffer: sequences stored contiguously, and the pairs to align among them.

use crate::terms::alphabet::{END, without_end};
use crate::terms::casts::to_u32;
use crate::terms::error::{EngineError, Error};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Number of codes on either side of a stretch that are checked with it, because engines load whole words.
const MARGIN: usize = 64;
/// Memory for residues grows by at least one in this many parts, so that they are seldom moved.
const GROWTH: usize = 16;

/// A file that contains codes. It may be damaged, and may be truncated while it is read.
pub trait CodeFile: Debug + Send + Sync {
    /// Checks that the codes at these positions are as they were written, and codes of the alphabet.
    fn prove(&self, places: Range<usize>) -> Result<(), EngineError>;

    /// Returns the fault of the file, as far as it is known.
    fn fault(&self) -> Option<Error>;
}

/// Sequences as codes (one byte per residue, see [`crate::terms::alphabet`]), stored contiguously.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    /// In memory, or in a mapped file.
    codes: Cow<'static, [u8]>,
    ends: Vec<usize>,
    /// Length of each circular sequence, by index. Such a sequence is stored twice, one copy after the other.
    circles: BTreeMap<usize, u32>,
    /// Number of codes in second copies.
    copied: usize,
    /// For each sequence, the number of columns that only warm up the recurrence; empty if no sequence has such
    /// columns.
    leads: Vec<u32>,
    /// The file from which the codes are mapped, if they are.
    file: Option<Arc<dyn CodeFile>>,
}

impl Sequences {
    /// Sequences whose codes are mapped from `file`. The ends ascend, and the last one is the number of codes.
    pub fn mapped(codes: &'static [u8], ends: Vec<usize>, file: Arc<dyn CodeFile>) -> Sequences {
        Sequences { codes: Cow::Borrowed(codes), ends, file: Some(file), ..Sequences::default() }
    }

    /// Sequences with these codes. The ends ascend, and the last one is the number of codes.
    pub fn of(codes: Vec<u8>, ends: Vec<usize>) -> Sequences {
        Sequences { codes: Cow::Owned(codes), ends, ..Sequences::default() }
    }

    /// Copies codes of a file to memory that can be changed.
    fn own(&mut self) -> &mut Vec<u8> {
        // The file must stay mapped until the codes are copied.
        let file = self.file.take();
        self.codes.to_mut();
        drop(file);
        self.codes.to_mut()
    }

    /// Reserves memory for `sequences` more sequences with `residues` residues in total.
    pub fn reserve(&mut self, sequences: usize, residues: usize) {
        self.ends.reserve_exact(sequences);
        self.own().reserve_exact(residues);
    }

    /// Removes sequences without residues. Must be called before any sequence has a lead or is circular.
    pub fn remove_empty(&mut self) {
        let mut before = 0;
        self.ends.retain(|&end| std::mem::replace(&mut before, end) < end);
    }

    /// The same sequences with other codes, in memory. The codes must have been checked.
    pub fn mapped_by(&self, map: impl Fn(u8) -> u8) -> Sequences {
        let mut mapped = self.clone();
        mapped.own().iter_mut().for_each(|code| *code = map(*code));
        mapped
    }

    /// Marks the first and the last residue of each DNA sequence as ends of a query.
    pub fn mark_ends(&mut self) {
        let mut start = 0;
        let ends = std::mem::take(&mut self.ends);
        let codes = self.own();
        for &end in &ends {
            if start < end {
                codes[start] |= END;
                codes[end - 1] |= END;
            }
            start = end;
        }
        self.ends = ends;
    }

    /// Removes all sequences, but keeps their memory for later sequences.
    pub fn clear(&mut self) {
        self.own().clear();
        self.ends.clear();
        self.leads.clear();
        self.circles.clear();
        self.copied = 0;
    }

    /// Appends one sequence of codes.
    pub fn push(&mut self, codes: impl IntoIterator<Item = u8>) {
        self.own().extend(codes);
        self.ends.push(self.codes.len());
    }

    /// Appends a sequence of codes. Alignments that end in its first `lead` columns don't count.
    pub fn push_with_lead(&mut self, codes: &[u8], lead: u32) {
        self.leads.resize(self.ends.len(), 0);
        self.leads.push(lead);
        self.push(codes.iter().copied());
    }

    /// Number of first columns of sequence `index` in which no alignment may end.
    pub fn lead(&self, index: u32) -> u32 {
        self.leads.get(index as usize).copied().unwrap_or(0)
    }

    /// Whether any sequence has such columns.
    pub fn have_leads(&self) -> bool {
        self.leads.iter().any(|&lead| lead > 0)
    }

    /// Appends the sequence that `write` appends to the codes. On an error, appends nothing.
    pub fn try_push<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let codes = self.own();
        let start = codes.len();
        let written = write(codes);
        match written {
            Ok(()) => self.ends.push(self.codes.len()),
            Err(_) => codes.truncate(start),
        }
        written
    }

    /// Appends the sequences of `other` with indices in `which`.
    pub fn append(&mut self, other: &Sequences, which: Range<usize>) {
        let (from, here) = (other.start(which.start), self.codes.len());
        self.own().extend_from_slice(&other.codes[from..other.start(which.end)]);
        self.ends.extend(other.ends[which].iter().map(|end| end - from + here));
    }

    /// Appends the sequences of all `parts`, on all threads. New memory must be mapped page by page, for which a single
    /// thread would need longer than all threads for the rest of reading.
    pub fn append_all(&mut self, parts: &[&Sequences]) {
        let parts: Vec<(&Sequences, bool)> = parts.iter().map(|&part| (part, false)).collect();
        self.join_all(&parts);
    }

    /// Reserves memory for `residues` more residues; `false` if there is not enough.
    pub fn has_room(&mut self, residues: usize) -> bool {
        let codes = self.own();
        let spare = codes.len() / GROWTH;
        codes.capacity() - codes.len() >= residues
            || codes.try_reserve_exact(residues.max(spare)).is_ok()
            || codes.try_reserve_exact(residues).is_ok()
    }

    /// Like `append_all`, but each marked part begins with the continuation of the last sequence before it.
    pub fn join_all(&mut self, parts: &[(&Sequences, bool)]) {
        let total: usize = parts.iter().map(|(part, _)| part.codes.len()).sum();
        let mut here = self.codes.len();
        let codes = self.own();
        codes.reserve(total);
        let mut spare = &mut codes.spare_capacity_mut()[..total];
        let mut copies = Vec::with_capacity(parts.len());
        for (part, _) in parts {
            let (room, rest) = spare.split_at_mut(part.codes.len());
            copies.push((room, &part.codes));
            spare = rest;
        }
        copies.into_par_iter().for_each(|(room, codes)| {
            // SAFETY: both have the same length, and initialized bytes are valid as bytes that may be uninitialized.
            room.copy_from_slice(unsafe { slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) });
        });
        // SAFETY: the rooms cover these `total` bytes, and each was written.
        unsafe { codes.set_len(codes.len() + total) };
        for (part, continues) in parts {
            if *continues && !part.is_empty() {
                self.ends.pop();
            }
            self.ends.extend(part.ends.iter().map(|end| end + here));
            here += part.codes.len();
        }
    }

    /// Makes the sequences at `places` circular: each is stored twice from now on, one copy after the other, so that
    /// alignments across its origin are contiguous. They have residues, and fewer than 2^30.
    pub fn close(&mut self, places: &BTreeSet<usize>) {
        let lengths: Vec<usize> = self.iter().map(<[u8]>::len).collect();
        let more: usize = places.iter().filter_map(|&place| lengths.get(place)).sum();
        let (mut from, mut to) = (self.codes.len(), self.codes.len() + more);
        self.own().reserve_exact(more);
        self.own().resize(to, 0);
        self.copied += more;
        // From the last sequence to the first, so that none is overwritten before it is copied.
        for (place, len) in lengths.into_iter().enumerate().rev() {
            if from == to {
                // Sequences before the first circular one do not move.
                break;
            }
            self.ends[place] = to;
            let is_circle = places.contains(&place);
            for _ in 0..if is_circle { 2 } else { 1 } {
                to -= len;
                self.own().copy_within(from - len..from, to);
            }
            from -= len;
            if is_circle {
                self.circles.insert(place, to_u32(len));
            }
        }
    }

    /// Checks the codes at these positions. Must be called before an engine reads them. Codes in memory are always
    /// valid.
    pub fn prove(&self, places: Range<usize>) -> Result<(), EngineError> {
        match &self.file {
            Some(file) => {
                let end = self.codes.len().min(places.end.saturating_add(MARGIN));
                file.prove(places.start.saturating_sub(MARGIN)..end)
            }
            None => Ok(()),
        }
    }

    /// Checks all codes.
    pub fn prove_all(&self) -> Result<(), EngineError> {
        self.prove(0..self.codes.len())
    }

    /// Returns the fault of the file from which the codes are mapped, as far as it is known.
    pub fn fault(&self) -> Option<Error> {
        self.file.as_ref()?.fault()
    }

    /// The length of sequence `index` if it is circular.
    pub fn circle(&self, index: u32) -> Option<u32> {
        self.circles.get(&(index as usize)).copied()
    }

    /// Whether any sequence is circular.
    pub fn have_circles(&self) -> bool {
        !self.circles.is_empty()
    }

    /// The codes of sequence `index`; of a circular sequence, those of its first copy.
    pub fn once(&self, index: u32) -> &[u8] {
        let codes = self.get(index as usize);
        self.circle(index).map_or(codes, |len| &codes[..len as usize])
    }

    /// Total number of residues, with each circular sequence counted once.
    pub fn letters(&self) -> usize {
        self.codes.len() - self.copied
    }

    /// Number of columns of sequence `index` in which an alignment can end that begins in the first copy and covers at
    /// most `span` columns.
    pub fn reach(&self, index: u32, span: u32) -> u32 {
        let len = to_u32(self.get(index as usize).len());
        self.circle(index).map_or(len, |circle| len.min((circle - 1).saturating_add(span)))
    }

    /// Maximum length of a short sequence. Short sequences, such as the targets of a database, are not cut.
    pub fn longest_short(&self) -> usize {
        (self.codes.len() / SIDE_BY_SIDE).clamp(SHORT[0], SHORT[1])
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Position in [`Sequences::codes`] at which sequence `index` begins.
    pub fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    /// Index of the sequence that contains position `place` of [`Sequences::codes`].
    pub fn holding(&self, place: usize) -> usize {
        self.ends.partition_point(|&end| end <= place)
    }

    /// The codes of sequence `index`.
    pub fn get(&self, index: usize) -> &[u8] {
        &self.codes[self.start(index)..self.ends[index]]
    }

    /// The codes of all sequences.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// All sequences in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<'a> FromIterator<&'a [u8]> for Sequences {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(sequences: I) -> Sequences {
        let mut all = Sequences::default();
        for codes in sequences {
            all.push(codes.iter().copied());
        }
        all
    }
}

/// Number of residues in a block of [`Holding`].
const BLOCK: usize = 1 << 9;

/// A table that maps positions in [`Sequences::codes`] to sequences. A search would take longer than the work for which
/// the sequence is needed.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    /// The sequence that contains the first residue of each block.
    firsts: Vec<u32>,
}

impl Holding {
    pub fn new(sequences: &Sequences) -> Holding {
        let mut first = 0;
        let of_block = |block: usize| {
            first += sequences.ends[first..].partition_point(|&end| end <= block * BLOCK);
            to_u32(first)
        };
        Holding { firsts: (0..sequences.codes.len().div_ceil(BLOCK)).map(of_block).collect() }
    }

    /// Like [`Sequences::holding`], for a position in the same sequences.
    pub fn of(&self, sequences: &Sequences, place: usize) -> usize {
        let block = place / BLOCK;
        let first = self.firsts[block] as usize;
        let last = self.firsts.get(block + 1).map_or(sequences.len() - 1, |&next| next as usize);
        first + sequences.ends[first..last].partition_point(|&end| end <= place)
    }
}

/// The input of an engine: queries in the orientation in which they are aligned, targets, and scoring.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Shared as well: a device keeps them from call to call.
    pub queries: Arc<Sequences>,
    /// Shared between batches, so that a device uploads them once.
    pub targets: Arc<Sequences>,
    pub scoring: Arc<Scoring>,
}

/// One score to find: the best alignment of a whole query with target residues `start..end` whose last column is in
/// `own..end`. Columns `start..own` only warm up the recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    pub query: u32,
    pub target: u32,
    pub start: u32,
    pub own: u32,
    pub end: u32,
}

/// Number of columns of a stretch, counted from the first column of the sweep. One sweep of the recurrence serves
/// several pairs if each owns one stretch and they begin at the same column.
pub const STRETCH: u32 = 1 << 11;

/// Targets of at most this many residues are never cut: each is one region of a search.
pub const UNCUT: u32 = 1 << 12;
/// Minimum ratio of the columns that a chunk of a target owns to its warm-up columns, unless an engine wants more
/// chunks.
pub const CHUNK_PER_WARM_UP: u32 = 8;
/// Minimum and maximum length of targets that are not cut, if many targets are searched.
const SHORT: [usize; 2] = [1 << 13, 1 << 15];
/// Minimum ratio of the residues of a database to those of an uncut target: about the number of targets that a device
/// processes concurrently.
const SIDE_BY_SIDE: usize = 1 << 14;

impl Pair {
    /// Number of target residues over which the recurrence runs.
    pub fn cols(&self) -> u32 {
        self.end - self.start
    }

    /// Whether a sweep for the pair `before` can continue for this one. If so, this pair owns the following columns,
    /// and each of the two pairs is inside one stretch.
    fn goes_on_from(&self, before: &Pair) -> bool {
        let same_sweep = (self.query, self.target, self.start) == (before.query, before.target, before.start);
        let lie_in_stretches =
            [before, self].iter().all(|pair| pair.own < pair.end && pair.end - pair.own <= STRETCH);
        same_sweep
            && self.own == before.end
            && (self.own - self.start).is_multiple_of(STRETCH)
            && lie_in_stretches
    }
}

/// Groups consecutive pairs that one sweep of the recurrence serves.
pub fn sweeps(pairs: &[Pair]) -> impl Iterator<Item = &[Pair]> {
    pairs.chunk_by(|before, pair| pair.goes_on_from(before))
}

/// All columns of a sweep, as one pair.
pub fn swept(sweep: &[Pair]) -> Pair {
    Pair { end: sweep[sweep.len() - 1].end, ..sweep[0] }
}

impl Batch {
    /// The same batch, with the ends of its queries marked if the scoring has an end bonus.
    pub fn with_ends(mut self) -> Batch {
        if self.scoring.end_bonus > 0 {
            Arc::make_mut(&mut self.queries).mark_ends();
        }
        self
    }

    pub fn query(&self, index: u32) -> &[u8] {
        self.queries.get(index as usize)
    }

    pub fn target(&self, index: u32) -> &[u8] {
        self.targets.get(index as usize)
    }

    /// The queries, in which ends are not marked.
    pub fn queries_without_ends(&self) -> Cow<'_, Sequences> {
        match self.scoring.end_bonus {
            0 => Cow::Borrowed(&*self.queries),
            _ => Cow::Owned(self.queries.mapped_by(without_end)),
        }
    }

    /// Checks stretches of targets before they are read ([`Sequences::prove`]).
    pub fn prove(&self, stretches: impl Iterator<Item = (u32, Range<u32>)>) -> Result<(), EngineError> {
        if self.targets.file.is_none() {
            return Ok(());
        }
        let mut stretches = stretches.map(|(target, columns)| {
            let start = self.targets.start(target as usize);
            start + columns.start as usize..start + columns.end as usize
        });
        stretches.try_for_each(|places| self.targets.prove(places))
    }

    /// Number of cells of the recurrence for `pair`.
    pub fn cells(&self, pair: &Pair) -> u64 {
        self.query(pair.query).len() as u64 * u64::from(pair.cols())
    }
}

/// The indices `0..keys.len()` sorted by descending key, with equal keys in their original order, by one counting sort
/// over `classes` buckets. Keys at or above `classes` share the first bucket.
pub fn counting_sort_descending(keys: &[u32], classes: u32) -> Vec<u32> {
    let bucket = |key: u32| (classes - 1 - key.min(classes - 1)) as usize;
    let mut place = vec![0u32; classes as usize + 1];
    for &key in keys {
        place[bucket(key) + 1] += 1;
    }
    for class in 0..classes as usize {
        place[class + 1] += place[class];
    }
    let mut order = vec![0u32; keys.len()];
    for (index, &key) in keys.iter().enumerate() {
        let next = &mut place[bucket(key)];
        order[*next as usize] = to_u32(index);
        *next += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_keep_their_borders() {
        let sequences: Sequences = [&[0u8, 1][..], &[], &[2]].into_iter().collect();
        assert_eq!(sequences.len(), 3);
        assert_eq!(sequences.iter().collect::<Vec<_>>(), [&[0u8, 1][..], &[], &[2]]);
    }

    #[test]
    fn blocks_tell_which_sequence_holds_a_place() {
        let lengths = [[0, 3, 0, 0, 1, BLOCK - 4], [0, 0, 2 * BLOCK + 7, 1, 1, 0], [1, 0, BLOCK, 5, 0, 0]];
        let codes = vec![1u8; 3 * BLOCK];
        let sequences: Sequences = lengths.iter().flatten().map(|&len| &codes[..len]).collect();
        let holding = Holding::new(&sequences);
        for place in 0..sequences.codes().len() {
            assert_eq!(holding.of(&sequences, place), sequences.holding(place), "{place}");
        }
    }

    #[test]
    fn sequences_are_appended_with_their_borders() {
        let sequences: Sequences = [&[0u8, 1][..], &[], &[2], &[3, 3]].into_iter().collect();
        for start in 0..=4 {
            for end in start..=4 {
                let mut all: Sequences = [&[7u8][..]].into_iter().collect();
                all.append(&sequences, start..end);
                let expected = [&[7u8][..]].into_iter().chain(sequences.iter().take(end).skip(start));
                assert!(all.iter().eq(expected), "{start}..{end}");
            }
        }
        let mut all: Sequences = [&[7u8][..]].into_iter().collect();
        all.append_all(&[&sequences, &Sequences::default(), &sequences]);
        let expected = [&[7u8][..]].into_iter().chain(sequences.iter()).chain(sequences.iter());
        assert!(all.iter().eq(expected));
        let mut all = sequences.clone();
        let refused = |codes: &mut Vec<u8>| {
            codes.push(9);
            Err("no")
        };
        assert_eq!(all.try_push(refused), Err("no"));
        assert!(all.iter().eq(sequences.iter()));
    }

    #[test]
    fn circles_stand_twice() {
        let lines: Sequences = [&[0u8, 1][..], &[2], &[], &[3, 0, 3]].into_iter().collect();
        for which in 0..16u32 {
            let places: BTreeSet<usize> =
                [0, 1, 3].into_iter().filter(|place| which >> place & 1 == 1).collect();
            let mut closed = lines.clone();
            closed.close(&places);
            assert_eq!((closed.letters(), closed.have_circles()), (6, !places.is_empty()));
            for (index, codes) in (0..).zip(lines.iter()) {
                let is_circle = places.contains(&(index as usize));
                assert_eq!(closed.get(index as usize), codes.repeat(if is_circle { 2 } else { 1 }));
                assert_eq!(closed.once(index), codes, "{places:?}");
                assert_eq!(closed.circle(index), is_circle.then_some(codes.len() as u32));
            }
        }
        let mut closed = lines;
        closed.close(&[3].into());
        let reach = |index| [0, 1, 2, 3, 4, u32::MAX].map(|span| closed.reach(index, span));
        assert_eq!((reach(0), reach(3)), ([2; 6], [2, 3, 4, 5, 6, 6]));
    }

    #[test]
    fn pairs_of_one_sweep_go_on_from_stretch_to_stretch() {
        let pair = |start, own, end| Pair { query: 0, target: 0, start, own, end };
        let first = pair(100, 350, 100 + STRETCH);
        let second = pair(100, 100 + STRETCH, 100 + 2 * STRETCH);
        let last = pair(100, 100 + 2 * STRETCH, 101 + 2 * STRETCH);
        let lengths = |pairs: &[Pair]| sweeps(pairs).map(<[Pair]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&[first, second, last, first, second]), [3, 2]);
        assert_eq!(lengths(&[second, last, last, second]), [2, 1, 1]);
        assert_eq!(lengths(&[first, Pair { query: 1, ..second }, Pair { target: 1, ..last }]), [1, 1, 1]);
        assert_eq!(lengths(&[first, Pair { start: 99, ..second }]), [1, 1], "another sweep");
        assert_eq!(lengths(&[first, pair(100, 101 + STRETCH, 200 + STRETCH)]), [1, 1], "a gap between");
        let inside = [pair(100, 100, 300), pair(100, 300, 400)];
        assert_eq!(lengths(&inside), [1, 1], "two in one stretch");
        let none = pair(100, 100, 100);
        assert_eq!(lengths(&[none, none, Pair { end: 101, ..none }]), [1, 1, 1], "nothing is owned");
        let longer = Pair { end: 101 + 2 * STRETCH, ..second };
        assert_eq!(lengths(&[first, longer, last]), [1, 1, 1], "one in two stretches");
        assert_eq!(swept(&[first, second, last]), pair(100, 350, 101 + 2 * STRETCH));
    }

    #[test]
    fn counting_sort_is_stable_and_descending() {
        assert_eq!(counting_sort_descending(&[3, 9, 3, 0, 7], 8), [1, 4, 0, 2, 3]);
        assert_eq!(counting_sort_descending(&[], 4), [] as [u32; 0]);
    }
}
