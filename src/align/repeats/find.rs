//! Finds copies within the targets.

use super::{Copied, DistinctTargets, StretchPosition};
use crate::align::fingerprints::{self, CutRule};
use crate::terms::batch::Sequences;
use crate::terms::casts::{to_i64, to_u32};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Windows of 24 bases and chunks of 64 on average: short enough that a copy of the length of a read contains whole
/// chunks.
const RULE: CutRule = CutRule::new(24, 64);
/// A copy counts only if it saves at least this many times the columns of a lead, since the next stretch needs a lead
/// of its own.
const WORTH: u32 = 1;
/// One in this many chunks is sampled to estimate how much is distinct.
const SAMPLED: u64 = 8;
/// Bases whose chunks are sampled in one run.
const RUN: usize = 1 << 20;
/// Number of residues per comparison.
const COMPARED: usize = 64;

/// Finds the copies within DNA targets, for alignments that cover at most `span` target bases.
pub fn find(targets: &Sequences, span: u32) -> DistinctTargets {
    let cuts = fingerprints::cuts_of_all(targets, &RULE);
    let mut finder = RepeatFinder::new(targets, span);
    let mut matches = Vec::new();
    for (target, cuts) in cuts.iter().enumerate() {
        matches.clear();
        finder.match_target(target, cuts, &mut matches);
        finder.take(to_u32(target), &matches);
    }
    finder.done()
}

/// Share of distinct chunks' bases in all bases, estimated from a sample of the chunks. Chunks end at the end of a run.
pub fn share_of_distinct(targets: &Sequences) -> f64 {
    // Storing all cuts would need much memory, so they are kept for one run only.
    let of_run = |run: Range<usize>| {
        let codes = &targets.codes()[run.clone()];
        let cuts = fingerprints::cuts(codes, &RULE);
        let mut sums: Vec<SampledChunk> = Vec::new();
        let first = targets.holding(run.start);
        for target in (first..targets.len()).take_while(|&target| targets.start(target) < run.end) {
            let place = |place: usize| place.clamp(run.start, run.end) - run.start;
            let (start, end) = (place(targets.start(target)), place(targets.start(target + 1)));
            // A window that ends earlier begins in the previous target.
            let first = cuts.partition_point(|&cut| cut < start + RULE.window());
            let own: Vec<usize> =
                cuts[first..].iter().take_while(|&&cut| cut <= end).map(|cut| cut - start).collect();
            let chunks = fingerprints::chunks(end - start, &own);
            let of_chunk = |chunk: Range<usize>| {
                SampledChunk::of(checksum(&codes[start..end][chunk.clone()]), chunk.len())
            };
            sums.extend(chunks.filter_map(of_chunk));
        }
        sums
    };
    let mut sums: Vec<SampledChunk> = runs(targets).into_par_iter().flat_map_iter(of_run).collect();
    let letters = |sums: &[SampledChunk]| sums.iter().map(SampledChunk::letters).sum::<u64>();
    let all = letters(&sums);
    sums.par_sort_unstable();
    sums.dedup();
    if all == 0 { 1.0 } else { letters(&sums) as f64 / all as f64 }
}

/// A sampled chunk in 8 bytes: the high bits of its checksum, and its length in bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SampledChunk(u64);

impl SampledChunk {
    /// Returns `None` for most chunks.
    fn of(sum: u64, len: usize) -> Option<SampledChunk> {
        let letters = len.min(usize::from(u16::MAX)) as u64;
        sum.is_multiple_of(SAMPLED).then_some(SampledChunk(sum >> u16::BITS << u16::BITS | letters))
    }

    /// Length in bases, at most 65,535.
    fn letters(&self) -> u64 {
        self.0 & u64::from(u16::MAX)
    }
}

/// The bases of all targets in runs of [`RUN`] at most.
fn runs(targets: &Sequences) -> Vec<Range<usize>> {
    let all = targets.codes().len();
    (0..all).step_by(RUN).map(|start| start..all.min(start + RUN)).collect()
}

/// A checksum: equal sequences have equal sums.
fn checksum(codes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = codes.len() as u64;
    let mut take = |word: [u8; 8]| {
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(ODD);
        sum ^= sum >> 29;
    };
    let mut words = codes.chunks_exact(8);
    for word in &mut words {
        take(word.try_into().unwrap_or_default());
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    take(last);
    sum
}

/// A hasher for checksums, which are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = checksum(bytes);
    }

    fn write_u64(&mut self, sum: u64) {
        self.0 = sum;
    }
}

/// A match of `len` residues: at column `column` of a target, and at position `from` of the concatenated targets.
#[derive(Clone, Copy, Debug)]
struct RepeatMatch {
    column: usize,
    len: usize,
    from: usize,
    /// Whether both begin with a target.
    is_start: bool,
}

/// Columns of targets that a stretch represents, by their positions in the concatenated targets.
struct RepresentedColumns {
    start: usize,
    end: usize,
    stretch: u32,
    /// Column of the stretch that corresponds to the first of them.
    column: u32,
}

struct RepeatFinder<'a> {
    targets: &'a Sequences,
    span: u32,
    /// First positions of distinct chunks, by checksum.
    chunks: HashMap<u64, Range<usize>, BuildHasherDefault<AsItIs>>,
    /// In ascending order, without gaps.
    owned: Vec<RepresentedColumns>,
    stretches: Sequences,
    places: Vec<StretchPosition>,
    copies: Vec<Copied>,
}

impl<'a> RepeatFinder<'a> {
    fn new(targets: &'a Sequences, span: u32) -> RepeatFinder<'a> {
        RepeatFinder {
            targets,
            span,
            chunks: HashMap::default(),
            owned: Vec::new(),
            stretches: Sequences::default(),
            places: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Finds stretches of a target that occur earlier, each as long as possible, from left to right. Stores the chunks
    /// outside them.
    fn match_target(&mut self, target: usize, cuts: &[usize], matches: &mut Vec<RepeatMatch>) {
        let (codes, first) = (self.targets.get(target), self.targets.start(target));
        // End of the last match. The next match may begin up to one span before it.
        let mut end = 0;
        for chunk in fingerprints::chunks(codes.len(), cuts) {
            if chunk.end <= end {
                continue;
            }
            let letters = &codes[chunk.clone()];
            let own = first + chunk.start..first + chunk.end;
            let found = match self.chunks.get(&checksum(letters)) {
                Some(place) if self.targets.codes()[place.clone()] == *letters => place.start,
                Some(_) => continue,
                None => {
                    self.chunks.insert(checksum(letters), own);
                    continue;
                }
            };
            let least = end.saturating_sub(self.span as usize).min(chunk.start);
            let found = self.extended((first, codes), &chunk, found, least);
            if found.column + found.len > end {
                end = found.column + found.len;
                matches.push(found);
            }
        }
    }

    /// Extends the match of a chunk as far as possible, but not before column `least`. It ends before it would overlap
    /// its own source.
    fn extended(
        &self,
        (first, codes): (usize, &[u8]),
        chunk: &Range<usize>,
        found: usize,
        least: usize,
    ) -> RepeatMatch {
        let all = self.targets.codes();
        let source = self.targets.holding(found);
        let bounds = self.targets.start(source)..self.targets.start(source + 1);
        let before = common_end(&codes[least..chunk.start], &all[bounds.start..found]);
        let (column, from) = (chunk.start - before, found - before);
        let apart = first + column - from;
        // A longer extension would overlap its own source, so its residues are not compared: in tandem repeats, that
        // would be all residues for each match.
        let most = codes.len().min(column + apart).max(chunk.end);
        let behind = common_start(&codes[chunk.end..most], &all[found + chunk.len()..bounds.end]);
        let len = (chunk.end + behind - column).min(apart);
        RepeatMatch { column, len, from, is_start: column == 0 && from == bounds.start }
    }

    /// Stores the columns of a target with these matches as stretches and copies.
    fn take(&mut self, target: u32, matches: &[RepeatMatch]) {
        let len = self.targets.get(target as usize).len();
        let mut done = 0;
        for found in matches {
            let lead = if found.is_start { 0 } else { self.span as usize };
            let (start, end) = ((found.column + lead).max(done), found.column + found.len);
            let is_whole = start == 0 && end == len;
            if !is_whole && end < start + (WORTH * self.span) as usize {
                continue;
            }
            self.take_stretch(target, done..start);
            self.take_copies(target, start..end, found.from + (start - found.column));
            done = end;
        }
        self.take_stretch(target, done..len);
    }

    /// Stores columns of a target that are not copies.
    fn take_stretch(&mut self, target: u32, columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        let start = columns.start.saturating_sub(self.span as usize);
        let lead = to_u32(columns.start - start);
        let stretch = to_u32(self.places.len());
        self.stretches.push_with_lead(&self.targets.get(target as usize)[start..columns.end], lead);
        self.places.push(StretchPosition { target, offset: to_i64(start) });
        let first = self.targets.start(target as usize);
        let (start, end) = (first + columns.start, first + columns.end);
        self.owned.push(RepresentedColumns { start, end, stretch, column: lead });
    }

    /// Stores columns of a target that are copies of those from position `from` on. All of these are owned once the
    /// columns before them are.
    fn take_copies(&mut self, target: u32, columns: Range<usize>, mut from: usize) {
        let first = self.targets.start(target as usize);
        let mut start = columns.start;
        while start < columns.end {
            let own = self.owned.partition_point(|owned| owned.end <= from);
            let RepresentedColumns { start: here, end, stretch, column } = self.owned[own];
            let len = (columns.end - start).min(end - from);
            let column = column + to_u32(from - here);
            let place = StretchPosition { target, offset: to_i64(start) - i64::from(column) };
            self.copies.push(Copied { stretch, start: column, end: column + to_u32(len), place });
            self.owned.push(RepresentedColumns {
                start: first + start,
                end: first + start + len,
                stretch,
                column,
            });
            (start, from) = (start + len, from + len);
        }
    }

    fn done(self) -> DistinctTargets {
        DistinctTargets::new(self.stretches, self.places, self.copies, self.span)
    }
}

/// Number of equal residues at the start of two sequences.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(COMPARED).zip(other.chunks_exact(COMPARED));
    let whole = blocks.take_while(|(one, other)| one == other).count() * COMPARED;
    let letters = one[whole..].iter().zip(&other[whole..]);
    whole + letters.take_while(|(one, other)| one == other).count()
}

/// Number of equal residues at the end of two sequences.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below `most`, by a linear congruential generator.
    fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed;
        move |most| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        }
    }

    /// Targets with many copies of a few sequences: whole, cut at any position, mutated, and in tandem.
    fn collection(seed: u64) -> Sequences {
        let mut number = numbers(seed);
        let founders: Vec<Vec<u8>> =
            [2000, 500, 90].map(|len| (0..len).map(|_| number(4) as u8).collect()).into();
        let mut targets = Sequences::default();
        for _ in 0..30 {
            let founder = &founders[number(3)];
            let (start, end) = (number(founder.len()), number(founder.len() + 1));
            let mut codes = founder.clone();
            match number(6) {
                0 => codes.truncate(end),
                1 => drop(codes.drain(..start)),
                2 => codes[start] ^= 1,
                3 => codes.insert(start, 14),
                4 => codes = founder[..end.min(founder.len() / 9)].repeat(12),
                _ => {}
            }
            targets.push(codes);
        }
        targets
    }

    #[test]
    fn each_column_stands_once_with_the_letters_before_it() {
        let mut copied = 0;
        for (seed, span) in (0..12).flat_map(|seed| [1, 20, 64, 300].map(|span| (seed, span))) {
            let targets = collection(seed);
            let distinct = find(&targets, span);
            let mut met: Vec<Vec<u32>> = targets.iter().map(|codes| vec![0; codes.len()]).collect();
            let mut meet = |stretch: u32, columns: Range<u32>, place: StretchPosition| {
                let codes = distinct.stretches.get(stretch as usize);
                let target = targets.get(place.target as usize);
                for column in columns {
                    let there = place.there(column) as usize;
                    assert_eq!(place.here(there as u32), column);
                    met[place.target as usize][there] += 1;
                    // The residues up to and including the column, and the start of the target if there are fewer.
                    let own = &codes[(column as usize + 1).saturating_sub(span as usize)..=column as usize];
                    let other = &target[(there + 1).saturating_sub(span as usize)..=there];
                    assert_eq!(own, other, "seed {seed}, span {span}, {place:?}");
                }
            };
            for (stretch, codes) in (0..).zip(distinct.stretches.iter()) {
                let own = distinct.stretches.lead(stretch)..codes.len() as u32;
                meet(stretch, own.clone(), distinct.place(stretch));
                let (mut from, mut last) = (0, distinct.place(stretch).target);
                while let Some((number, copy)) = distinct.next_copy(stretch, &own, from) {
                    assert!(number >= from && copy.place.target >= last, "in the order of places");
                    meet(stretch, copy.columns(), copy.place);
                    (from, last) = (number + 1, copy.place.target);
                    copied += 1;
                }
            }
            assert!(met.iter().flatten().all(|&times| times == 1), "seed {seed}, span {span}");
        }
        assert!(copied > 500, "{copied}");
    }

    #[test]
    fn equal_sums_of_other_letters_are_no_copies() {
        let mut number = numbers(1);
        let codes: Vec<u8> = (0..4000).map(|_| number(4) as u8).collect();
        let targets: Sequences = [&codes[..2000], &codes[2000..]].into_iter().collect();
        let cuts = fingerprints::cuts_of_all(&targets, &RULE);
        let mut finder = RepeatFinder::new(&targets, 30);
        let mut matches = Vec::new();
        // Each chunk of the second target has the sum of one of the first.
        for (target, cuts) in cuts.iter().enumerate() {
            for chunk in fingerprints::chunks(2000, cuts) {
                let letters = &targets.get(target)[chunk];
                finder.chunks.entry(checksum(letters)).or_insert(0..letters.len());
            }
            finder.match_target(target, cuts, &mut matches);
            matches.retain(|found| {
                targets.codes()[found.from..][..found.len] != targets.get(target)[found.column..][..found.len]
            });
            assert!(matches.is_empty());
        }
    }

    /// A cut after each residue would need many times the memory of the sequence.
    #[test]
    fn letters_all_equal_have_few_cuts() {
        for code in [0, 1, 2, 3, 14] {
            let targets: Sequences = [&[code; 10_000][..]].into_iter().collect();
            assert!(fingerprints::cuts_of_all(&targets, &RULE)[0].is_empty(), "{code}");
        }
    }

    #[test]
    fn what_is_distinct_is_measured() {
        let mut number = numbers(2);
        let codes: Vec<u8> = (0..100_000).map(|_| number(4) as u8).collect();
        let once: Sequences = [&codes[..]].into_iter().collect();
        let often: Sequences = [&codes[..]; 8].into_iter().collect();
        assert!(share_of_distinct(&once) > 0.99);
        let share = share_of_distinct(&often);
        assert!((0.12..0.14).contains(&share), "{share}");
        // A sequence of several runs.
        let long: Sequences = [&codes.repeat(24)[..]].into_iter().collect();
        assert!(long.letters() > 2 * RUN);
        let share = share_of_distinct(&long);
        assert!((0.04..0.045).contains(&share), "{share}");
        assert_eq!(share_of_distinct(&Sequences::default()), 1.0);
    }

    #[test]
    fn letters_in_common() {
        let one: Vec<u8> = (0..200).map(|k| k % 7).collect();
        for differs in [0, 1, COMPARED - 1, COMPARED, COMPARED + 1, 2 * COMPARED, 199, 200] {
            let mut other = one.clone();
            other.iter_mut().skip(differs).take(1).for_each(|code| *code = 9);
            assert_eq!(common_start(&one, &other), differs);
            assert_eq!(common_end(&one, &other), if differs == 200 { 200 } else { 199 - differs });
        }
        assert_eq!((common_start(&one, &one[..70]), common_end(&one[..0], &one)), (70, 0));
    }
}
