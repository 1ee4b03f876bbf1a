//! An upper bound on the score of an alignment, from the equal bases on the diagonals that it can visit.
//!
//! A query base is *covered* on a band of diagonals if, on one of them, it is one of [`RUN`] consecutive query bases that
//! all equal the target's. An alignment within the band that pairs an uncovered base with an equal one has an edit less
//! than `RUN` bases after it, unless the alignment ends there. So uncovered bases that are `RUN` or more bases apart stand
//! for different edits. docs/algorithm.md, section 15, has the theorem and its proof.
//!
//! Seeds that occur by chance, or in diverged copies of a repeat, are dropped by this bound without scoring a window.

use crate::engine::cpu::simd::{Bits, InstructionSet, Kernel, Simd};
use crate::terms::alphabet::BASES;
use crate::terms::bounds::SeedAlphabet;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::scoring::{GapPiece, Scoring};

/// Minimum number of equal bases in a row that cover a base: few enough for reads with errors, and enough that a run is
/// rare by chance on the diagonals of a band.
pub const RUN: usize = 6;
/// Bases of a word of a bit plane.
const WORD: usize = u64::BITS as usize;
/// Words of the longest query.
const WORDS: usize = 8;
/// Maximum length of a query.
pub const MOST_BASES: usize = WORDS * WORD;
/// Maximum number of diagonals on each side of the one that is crossed.
pub const MOST_GAPS: usize = WORD - 1;
/// Diagonals that are compared at once.
const LANES: usize = 8;
/// Diagonals whose targets are prefetched: at 3.1 billion bases, reading them takes longer than the bound.
const AHEAD: usize = 8;
const CACHE_LINE: usize = 64;
/// Maximum difference of adjacent diagonals that share a bound.
pub const ADJACENT: usize = LANES - 1;
/// Words of a stretch of targets that a query meets on all diagonals of a band, and one more, because words are read in
/// pairs.
const TARGET_WORDS: usize = WORDS + (2 * MOST_GAPS + ADJACENT).div_ceil(WORD) + 2;

/// The bases of a sequence, one bit of each in every plane. Residues that are not bases are in `any` alone.
struct Planes<const N: usize> {
    low: [u64; N],
    high: [u64; N],
    any: [u64; N],
}

/// What each edit of an alignment costs at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditLoss {
    /// Maximum score of a query base.
    match_: i32,
    /// Minimum loss of an alignment by each edit that an uncovered base stands for, or that damages a piece.
    edit: i32,
}

impl EditLoss {
    pub fn new(scoring: &Scoring) -> Option<EditLoss> {
        let match_ = scoring.max_potential();
        let GapPiece { open, extend } = scoring.gaps().lower_bound();
        let [open, extend, inserted] = [open, extend, extend + match_].map(i64::from);
        // An insertion of two bases stands for at most two edits, and of each `RUN` further bases for one more.
        let insertion = (open / 2 + inserted).min(inserted.saturating_mul(to_i64(RUN)));
        let edit = SeedAlphabet::of(scoring)?.loss().min(open + extend).min(insertion);
        Some(EditLoss { match_, edit: to_i32(edit.max(0)) })
    }

    /// Maximum score of a query base, and the minimum loss by an edit.
    pub fn numbers(self) -> (i32, i32) {
        (self.match_, self.edit)
    }

    /// The minimum loss by each damaged piece, and the number of bases at each end of a query that are in no piece, if
    /// pieces have `piece` bases or more. `None` if there are no such pieces.
    pub fn of_pieces(self, piece: usize) -> Option<(i64, usize)> {
        let [match_, edit] = [self.match_, self.edit].map(i64::from);
        let are_possible = edit > 0 && match_ > 0 && piece >= RUN && edit <= match_ * to_i64(piece);
        are_possible.then(|| (edit, to_usize((edit - 1) / match_)))
    }
}

/// How many pieces of a query are looked up, and how many of its first and of its last bases are in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceCount {
    pub count: usize,
    pub margin: usize,
}

/// Bounds for one query.
pub struct DiagonalBound {
    query: Planes<WORDS>,
    len: usize,
    /// Maximum number of diagonals between the crossed one and any other that an alignment visits.
    gaps: usize,
    loss: EditLoss,
    /// What end bonuses add to a score, at most.
    bonuses: i32,
}

impl DiagonalBound {
    /// Bounds for a query whose alignments visit at most `gaps` diagonals on each side of one that they cross. `None` if
    /// the query or the band is too long.
    pub fn new(query: &[u8], gaps: usize, bonuses: i32, loss: EditLoss) -> Option<DiagonalBound> {
        let len = query.len();
        if len > MOST_BASES || gaps > MOST_GAPS {
            return None;
        }
        Some(DiagonalBound {
            query: InstructionSet::best().run(QueryPlanes(query)),
            len,
            gaps,
            loss,
            bonuses,
        })
    }

    /// Minimum number of the index's k-mers that an alignment of score `least` contains, if the index has the k-mers at
    /// every `step`-th position of the targets and if all residues are bases (docs/algorithm.md, section 15).
    pub fn least_kmers(&self, least: i32, (kmer, step): (usize, usize)) -> usize {
        let EditLoss { match_, edit } = self.loss;
        let [match_, edit, bonuses, least] = [match_, edit, self.bonuses, least].map(i64::from);
        let len = to_i64(self.len);
        let slack = match_ * len + bonuses - least;
        let missed = to_i64(kmer + step) - 2;
        // The second condition is for runs of residues that are not bases, if they lose as much as two edits.
        if slack < 0 || edit <= 0 || 2 * edit > match_ * (missed + 2) {
            return 0;
        }
        // Bases that begin no k-mer in a run, and bases that no run has: if all losses are edits, or ends left out.
        let edits = slack / edit;
        let lost = edits * (missed + 1) + (slack - edits * edit) / match_;
        let held = len - missed - lost.max(slack / match_);
        let step = to_i64(step.max(1));
        to_usize((held.max(0) + step - 1) / step)
    }

    /// Disjoint pieces of the query such that an alignment of score `least` contains `held` intact ones of them, if all
    /// residues are bases: their minimum number, at any positions between the margins (docs/algorithm.md, section 15).
    /// Pieces have at least `piece` bases. `None` if there are no such pieces.
    pub fn pieces(&self, least: i32, piece: usize, held: usize) -> Option<PieceCount> {
        let (edit, margin) = self.loss.of_pieces(piece)?;
        let slack = i64::from(self.perfect()).checked_sub(least.into()).filter(|&slack| slack >= 0)?;
        let count = to_usize(slack / edit) + held;
        (count * piece + 2 * margin <= self.len).then_some(PieceCount { count, margin })
    }

    /// Maximum score of an alignment of the query.
    pub fn perfect(&self) -> i32 {
        to_i32(i64::from(self.loss.match_) * to_i64(self.len) + i64::from(self.bonuses))
    }

    /// Whether all residues of the query are bases.
    pub fn is_of_bases(&self) -> bool {
        self.query.any == [0; WORDS]
    }

    /// For each range of diagonals, the maximum score of an alignment that crosses one of them, or a score less than `least`
    /// that it can not exceed. A diagonal is the position in `targets` of the query's first base; positions before or after
    /// the targets match nothing. First and last diagonal of a range differ by at most [`ADJACENT`].
    pub fn most_scores(&self, (targets, least): (&[u8], i32), diagonals: &[(i64, i64)], most: &mut Vec<i32>) {
        most.clear();
        InstructionSet::best().run(Bounds { bound: self, targets, least, diagonals, most });
    }

    /// The maximum score if these query bases are uncovered, or a bound that is less than `least`.
    #[inline(always)]
    fn most_score(&self, uncovered: &[u64; WORDS], least: i32) -> i32 {
        let EditLoss { match_, edit } = self.loss;
        let [match_, edit, bonuses, least] = [match_, edit, self.bonuses, least].map(i64::from);
        let points = |bases: usize| to_i64(bases) * match_;
        // The alignment that ends before the next edit begins with the query or after an edit. `best` is that of all.
        let (mut best, mut from, mut lost) = (0, 0, 0);
        let mut place = 0;
        while let Some(edit_at) = next_bit(uncovered, place).filter(|&at| at + RUN <= self.len) {
            best = best.max(points(edit_at + RUN - 1 - from) - lost);
            lost += edit;
            // An alignment that begins after the edit may be better.
            if points(edit_at + 1 - from) <= lost {
                (from, lost) = (edit_at + 1, 0);
            }
            if best.max(points(self.len - from) - lost) + bonuses < least {
                break;
            }
            place = edit_at + RUN;
        }
        to_i32((best.max(points(self.len - from) - lost) + bonuses).min(i64::from(i32::MAX)))
    }
}

/// The first set bit at position `from` or later.
#[inline(always)]
fn next_bit(bits: &[u64; WORDS], from: usize) -> Option<usize> {
    let mut word = from / WORD;
    let mut rest = bits.get(word)? & (u64::MAX << (from % WORD));
    while rest == 0 {
        word += 1;
        rest = *bits.get(word)?;
    }
    Some(word * WORD + rest.trailing_zeros() as usize)
}

impl<const N: usize> Planes<N> {
    /// The planes of residues, the first one at bit `before`. Positions without a residue are 0 in all planes.
    #[inline(always)]
    fn of<S: Bits>(simd: S, codes: &[u8], before: usize) -> Planes<N> {
        let mut planes = Planes { low: [0; N], high: [0; N], any: [0; N] };
        let are_bases = codes.iter().fold(0, |all, &code| all | code) < BASES;
        let (mut word, shift) = (before / WORD, before % WORD);
        let mut put = |codes: &[u8; WORD]| {
            let (low, high) = (simd.bits_of::<0>(codes), simd.bits_of::<1>(codes));
            let bits = if are_bases {
                [low, high, 0]
            } else {
                let others = codes.map(|code| u8::from(code >= BASES));
                let any = simd.bits_of::<0>(&others);
                [low & !any, high & !any, any]
            };
            let Planes { low, high, any } = &mut planes;
            for (plane, bits) in [(low, bits[0]), (high, bits[1]), (any, bits[2])] {
                plane[word] |= bits << shift;
                if shift > 0 {
                    plane[word + 1] |= bits >> (WORD - shift);
                }
            }
            word += 1;
        };
        let (whole, rest) = codes.as_chunks();
        whole.iter().for_each(&mut put);
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            put(&last);
        }
        planes
    }
}

/// Planes of a query.
struct QueryPlanes<'a>(&'a [u8]);

impl Kernel for QueryPlanes<'_> {
    type Output = Planes<WORDS>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Planes<WORDS> {
        Planes::of(simd, self.0, 0)
    }
}

/// Bounds for many diagonals.
struct Bounds<'a> {
    bound: &'a DiagonalBound,
    targets: &'a [u8],
    least: i32,
    diagonals: &'a [(i64, i64)],
    most: &'a mut Vec<i32>,
}

impl Kernel for Bounds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Bounds { bound, targets, least, diagonals, most } = self;
        most.reserve(diagonals.len());
        for (index, &range) in diagonals.iter().enumerate() {
            if let Some(&(first, _)) = diagonals.get(index + AHEAD) {
                let from = to_usize((first - to_i64(bound.gaps)).max(0));
                for line in (0..bound.len + 2 * bound.gaps).step_by(CACHE_LINE) {
                    simd.prefetch(targets.get(from + line..).unwrap_or_default());
                }
            }
            most.push(bound.most_score(&uncovered(simd, bound, targets, range), least));
        }
    }
}

/// The query bases that no run covers on the band around adjacent diagonals.
#[inline(always)]
fn uncovered<S: Bits>(
    simd: S,
    bound: &DiagonalBound,
    targets: &[u8],
    (first, last): (i64, i64),
) -> [u64; WORDS] {
    let &DiagonalBound { ref query, len, gaps, .. } = bound;
    let apart = 2 * gaps + to_usize((last - first).clamp(0, to_i64(ADJACENT)));
    let first = first - to_i64(gaps);
    let inside = |place: i64| to_usize(place.clamp(0, to_i64(targets.len())));
    let (from, to) = (inside(first), inside(first + to_i64(len + apart)));
    let before = to_usize((to_i64(from) - first).clamp(0, to_i64(len + apart)));
    let columns = &targets[from..to.max(from)];
    let mut target: Planes<TARGET_WORDS> = Planes::of(simd, columns, before);
    let words = len.div_ceil(WORD);
    let is_whole = columns.len() == len + apart;
    let begun = if is_whole && target.any == [0; TARGET_WORDS] && query.any == [0; WORDS] {
        runs_begun::<true>(query, &target, (len, words, apart))
    } else {
        // A position before or after the targets equals no base: its bits are 1 in all planes.
        for word in 0..TARGET_WORDS {
            let until = |end: usize| first_bits(end.saturating_sub(word * WORD));
            let absent = !until(before + columns.len()) | until(before);
            target.any[word] |= absent;
            target.low[word] |= absent;
            target.high[word] |= absent;
        }
        runs_begun::<false>(query, &target, (len, words, apart))
    };
    let mut uncovered = [0; WORDS];
    let mut previous = 0u64;
    for word in 0..words {
        let starts = begun[word];
        let two = starts | starts << 1;
        let covered = two | two << 2 | two << 4;
        let carried = (1..RUN).fold(0, |all, by| all | previous >> (WORD - by));
        uncovered[word] = !(covered | carried);
        previous = starts;
    }
    uncovered
}

/// Where runs of equal bases begin on any diagonal of the band, whose first and last differ by `apart`. `BASES` says that all residues are bases.
#[inline(always)]
fn runs_begun<const BASES: bool>(
    query: &Planes<WORDS>,
    target: &Planes<TARGET_WORDS>,
    (len, words, apart): (usize, usize, usize),
) -> [u64; WORDS] {
    let mut begun = [[0u64; LANES]; WORDS];
    for band in (0..apart + 1).step_by(LANES) {
        let (ahead, shift) = (band / WORD, band % WORD);
        // The diagonals of the last lanes may lie beyond the band.
        let live: [u64; LANES] =
            std::array::from_fn(|lane| first_bits(if band + lane > apart { 0 } else { WORD }));
        let (mut next_equal, mut next_two) = ([0u64; LANES], [0u64; LANES]);
        for word in (0..words).rev() {
            let inside = first_bits(len - word * WORD);
            let (low, high, any) = (query.low[word], query.high[word], query.any[word]);
            let here = word + ahead;
            let (low_here, low_next) = (target.low[here], target.low[here + 1] << 1);
            let (high_here, high_next) = (target.high[here], target.high[here + 1] << 1);
            let (any_here, any_next) = (target.any[here], target.any[here + 1] << 1);
            let (mut equal, mut two) = ([0u64; LANES], [0u64; LANES]);
            for (lane, equal) in equal.iter_mut().enumerate() {
                let by = (shift + lane) as u64;
                let up = WORD as u64 - 1 - by;
                let own_low = low_here >> by | low_next << up;
                let own_high = high_here >> by | high_next << up;
                let mut same = !((low ^ own_low) | (high ^ own_high));
                if !BASES {
                    let own_any = any_here >> by | any_next << up;
                    same = (same | any | own_any) & !(own_any & own_low & own_high);
                }
                *equal = same & inside & live[lane];
            }
            for lane in 0..LANES {
                two[lane] = equal[lane] & (equal[lane] >> 1 | next_equal[lane] << 63);
                let four = two[lane] & (two[lane] >> 2 | next_two[lane] << 62);
                begun[word][lane] |= four & (two[lane] >> 4 | next_two[lane] << 60);
            }
            (next_equal, next_two) = (equal, two);
        }
    }
    begun.map(|lanes| lanes.iter().fold(0, |all, bits| all | bits))
}

/// The first `bits` bits, if there are as many.
#[inline(always)]
fn first_bits(bits: usize) -> u64 {
    if bits < WORD { (1 << bits) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::bounds::longest_span;
    use crate::terms::random::Random;

    fn bound_of(query: &[u8], gaps: usize, bonuses: i32, scoring: &Scoring) -> Option<DiagonalBound> {
        DiagonalBound::new(query, gaps, bonuses, EditLoss::new(scoring)?)
    }

    /// A copy with about one edit in `every` bases, and a few residues that are no bases.
    fn mutated(random: &mut Random, codes: &[u8], every: usize) -> Vec<u8> {
        let mut copy = Vec::new();
        for &code in codes {
            match random.below(4 * every) {
                0 | 1 => copy.push(random.below(4) as u8),
                2 => {}
                3 => copy.extend([code, random.below(4) as u8]),
                4 => copy.push(14),
                _ => copy.push(code),
            }
        }
        copy
    }

    /// For each diagonal, from `-query.len()` on, the best score of a local alignment with a pair on it: by definition,
    /// from all alignments that end with a pair and all that begin with one.
    fn best_on_diagonals(query: &[u8], target: &[u8], scoring: &Scoring) -> Vec<i32> {
        let ending = |query: &[u8], target: &[u8]| {
            // H and the best score of alignments that end with this pair; gaps of any length.
            let (rows, cols) = (query.len(), target.len());
            let mut h = vec![vec![0i32; cols + 1]; rows + 1];
            let mut paired = vec![vec![0i32; cols]; rows];
            for i in 0..rows {
                for j in 0..cols {
                    let pair = h[i][j] + scoring.score(query[i], target[j]);
                    paired[i][j] = pair;
                    let cost = |k: usize| scoring.gap_cost(k) as i32;
                    let above = (1..=i).map(|k| paired[i - k][j] - cost(k)).max().unwrap_or(0);
                    let left = (1..=j).map(|k| paired[i][j - k] - cost(k)).max().unwrap_or(0);
                    h[i + 1][j + 1] = pair.max(above).max(left).max(0);
                }
            }
            paired
        };
        let forward = ending(query, target);
        let reverse = |codes: &[u8]| codes.iter().rev().copied().collect::<Vec<u8>>();
        let backward = ending(&reverse(query), &reverse(target));
        let (rows, cols) = (query.len(), target.len());
        let mut best = vec![0; rows + cols];
        for i in 0..rows {
            for j in 0..cols {
                let pair = scoring.score(query[i], target[j]);
                let both = forward[i][j] + backward[rows - 1 - i][cols - 1 - j] - pair;
                let diagonal = &mut best[j + rows - i];
                *diagonal = both.max(*diagonal);
            }
        }
        best
    }

    #[test]
    fn no_alignment_scores_more_than_its_diagonals_allow() {
        let mut random = Random::new(7);
        let schemes = [(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 0, 1, 1), (2, 8, 12, 2)];
        let (mut close, mut dropped) = (0, 0);
        for round in 0..300 {
            let (a, b, o, e) = schemes[round % schemes.len()];
            let scoring = match round % 4 {
                0 => Scoring::dna(a, b, o, e).with_ambiguous(1),
                1 => {
                    Scoring::dna(a, b, o, e).with_gap_piece(o + 9, e - 1).unwrap_or(Scoring::dna(a, b, o, e))
                }
                _ => Scoring::dna(a, b, o, e),
            };
            let letters = [4, 4, 2][round % 3];
            let target = random.codes(40 + round % 30, letters);
            let len = 10 + random.below(40);
            let from = random.below(target.len() - len.min(target.len() - 1));
            let every = [3, 6, 10, 30][random.below(4)];
            let mut query = mutated(&mut random, &target[from..(from + len).min(target.len())], every);
            if random.below(3) == 0 {
                let at = random.below(query.len().max(1));
                query.rotate_left(at);
            }
            let bound = bound_of(&query, MOST_GAPS, 0, &scoring).unwrap();
            let diagonals: Vec<(i64, i64)> = (0..query.len() + target.len())
                .map(|k| k as i64 - query.len() as i64)
                .map(|diagonal| (diagonal, diagonal))
                .collect();
            let mut most = Vec::new();
            bound.most_scores((&target, 0), &diagonals, &mut most);
            let best = best_on_diagonals(&query, &target, &scoring);
            for ((diagonal, most), best) in diagonals.iter().map(|own| own.0).zip(&most).zip(best) {
                assert!(
                    *most >= best,
                    "diagonal {diagonal}: {best} of {most}, {scoring}, {query:?}, {target:?}"
                );
                close += usize::from(best > 10 && *most <= best + best / 4);
                dropped += usize::from(2 * i64::from(*most) < scoring.most_score(query.len()));
            }
        }
        assert!(close > 100 && dropped > 300, "{close}, {dropped}");
    }

    /// Queries at the seams of words, longer targets, narrow bands, and diagonals at the ends of the targets.
    #[test]
    fn bounds_are_those_of_their_definition() {
        let mut random = Random::new(11);
        let scoring = Scoring::dna(1, 4, 6, 1);
        for len in [1, 5, 6, 7, 63, 64, 65, 127, 128, 150, 191, 192, 200, 320, 511, 512] {
            let target = random.codes(700, 4);
            let at = random.below(target.len() - len);
            let mut query = mutated(&mut random, &target[at..at + len], 12);
            query.resize(len, 2);
            for gaps in [0, 1, 3, 4, 11, 29, 31, 32, 62, 63] {
                let bound = bound_of(&query, gaps, 3, &scoring).unwrap();
                let own = at as i64;
                let ends = [-(len as i64) - 70, -(len as i64), -1, 0, 700 - len as i64, 699, 700, 800];
                let diagonals: Vec<(i64, i64)> = (own - 9..own + 9)
                    .chain(ends)
                    .zip((0..8).cycle())
                    .map(|(at, more)| (at, at + more))
                    .collect();
                let mut most = Vec::new();
                bound.most_scores((&target, 0), &diagonals, &mut most);
                for (&(diagonal, last), &most) in diagonals.iter().zip(&most) {
                    let equal = |base: usize, diagonal: i64| {
                        let place = usize::try_from(diagonal + base as i64).ok();
                        let other = place.and_then(|place| target.get(place));
                        other.is_some_and(|&other| query[base] == other || query[base] > 3 || other > 3)
                    };
                    let mut covered = vec![false; len];
                    for other in diagonal - gaps as i64..=last + gaps as i64 {
                        for first in 0..(len + 1).saturating_sub(RUN) {
                            if (first..first + RUN).all(|base| equal(base, other)) {
                                covered[first..first + RUN].fill(true);
                            }
                        }
                    }
                    let mut edits = Vec::new();
                    for base in (0..len).filter(|&base| !covered[base]) {
                        if edits.last().is_none_or(|&last| base >= last + RUN) {
                            edits.push(base);
                        }
                    }
                    // Every interval.
                    let mut best = 0;
                    for from in 0..len {
                        for to in from + 1..=len {
                            let counted =
                                edits.iter().filter(|&&edit| edit >= from && edit + RUN <= to).count();
                            best = best.max((to - from) as i32 - 5 * counted as i32);
                        }
                    }
                    assert_eq!(most, best + 3, "{len} bases, {gaps} gaps, diagonal {diagonal}");
                }
            }
        }
        assert!(bound_of(&[0; 513], 0, 0, &scoring).is_none());
        assert!(bound_of(&[0; 5], 64, 0, &scoring).is_none());
        assert_eq!(longest_span(&[0; 150], 115, &scoring), 179, "the band of the last but one case");
    }

    /// Alignments that lose as much as they may, to mismatches at equal distances or at random, and to bases left out at their
    /// ends.
    #[test]
    fn alignments_contain_as_many_kmers_as_they_must() {
        let mut random = Random::new(13);
        let scoring = Scoring::dna(1, 4, 6, 1);
        let (mut fewest, mut least) = (0, 0);
        for (kmer, step) in [(14usize, 6usize), (12, 6), (6, 4), (8, 2), (7, 7)] {
            for len in [40, 75, 100, 150, 151, 250] {
                let bound = bound_of(&vec![0; len], 20, 0, &scoring).unwrap();
                for slack in 0..60.min(len) {
                    let needed = bound.least_kmers((len - slack) as i32, (kmer, step));
                    let mut seen = usize::MAX;
                    for round in 0..40 {
                        let edits = if round % 2 == 0 { slack / 5 } else { random.below(slack / 5 + 1) };
                        let left = slack - 5 * edits;
                        let (from, to) = (random.below(left + 1), len);
                        let to = to - (left - from);
                        let mut wrong = vec![false; len];
                        wrong[..from].fill(true);
                        wrong[to..].fill(true);
                        for edit in 1..=edits {
                            let at = match round % 4 {
                                0 | 1 => from + edit * (to - from) / (edits + 1),
                                _ => random.below(len),
                            };
                            wrong[at] = true;
                        }
                        for phase in 0..step {
                            let begins = |at: &usize| (at + phase).is_multiple_of(step);
                            let is_whole = |at: &usize| !wrong[*at..*at + kmer].contains(&true);
                            let kmers = (0..=len - kmer).filter(begins).filter(is_whole).count();
                            assert!(kmers >= needed, "{kmers} of {needed}: {kmer}, {step}, {len}, {slack}");
                            seen = seen.min(kmers);
                        }
                    }
                    fewest += seen;
                    least += needed;
                }
            }
        }
        assert!(least * 10 > fewest * 8, "the bound is close: {least} of {fewest}");
        let bound = bound_of(&[0; 150], 20, 0, &scoring).unwrap();
        assert_eq!(
            [150, 121, 120, 115, 200].map(|score| bound.least_kmers(score, (14, 6))),
            [22, 6, 3, 0, 0]
        );
    }
}
