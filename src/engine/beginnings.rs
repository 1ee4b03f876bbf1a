//! The columns in which an alignment with a high enough score can begin (docs/algorithm.md, section 23).
//!
//! The first bases of the query are cut into words. An alignment that shares none of them with the target loses too much, so it
//! contains one of their occurrences, and its first cell is not far from the diagonal of that occurrence.

use super::potential::{PotentialBehind, Rolling};
use crate::terms::casts::{to_i32, to_i64, to_u32, to_usize};
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Additional bases of a word, so that it rarely occurs by chance.
const RARER: usize = 3;
/// Maximum length of a word in bases.
const LONGEST: usize = 15;
/// Number of words that are tried first. The next tries have an eighth more.
const FEWEST: usize = 8;
/// Maximum number of words.
const MOST: usize = 1 << 12;
/// Number of bits of the set that finds most words of the target absent.
const SET_BITS: u32 = 1 << 13;

/// The diagonals on which an alignment with a high enough score can begin.
pub struct Beginnings {
    /// Alignments that score less do not count.
    least: i32,
    /// Differences of column and row, from the lowest to the highest. `None` if alignments can begin anywhere.
    diagonals: Option<Range<i64>>,
}

impl Beginnings {
    /// The beginnings of alignments that score `least` or more.
    pub fn new(
        (query, target): (&[u8], &[u8]),
        scoring: &Scoring,
        potential: &PotentialBehind,
        least: i32,
    ) -> Beginnings {
        let len = (potential.letters() + RARER).min(LONGEST);
        let diagonals = word_count(query, scoring, potential, (len, least)).map(|count| {
            let words = QueryWords::new(query, len, count);
            let mut found: Option<Range<i64>> = None;
            words.occurrences_in(target, |row, col| {
                // An alignment that begins before the word and contains it has lost at most this much before it.
                let lost = to_i32(row) * scoring.max_potential()
                    + scoring.bonuses(query)
                    + potential.behind(row..row + 1)[0]
                    - least;
                if lost >= 0 {
                    let (diagonal, shift) =
                        (to_i64(col) - to_i64(row), scoring.gaps().longest(lost.into(), 0));
                    let (first, end) = (diagonal - shift, diagonal + shift + 1);
                    let Range { start, end: last } = found.take().unwrap_or(first..end);
                    found = Some(start.min(first)..last.max(end));
                }
            });
            found.unwrap_or(0..0)
        });
        Beginnings { least, diagonals }
    }

    /// Whether these are also the beginnings of alignments that score `least` or more.
    pub fn include(&self, least: i32) -> bool {
        least >= self.least
    }

    /// The columns in which alignments with their first row in `rows` can begin, of `cols` columns.
    pub fn cols(&self, rows: &Range<usize>, cols: usize) -> Range<usize> {
        let Some(diagonals) = &self.diagonals else { return 0..cols };
        if diagonals.is_empty() {
            return 0..0;
        }
        let clipped = |col: i64| to_usize(col.clamp(0, to_i64(cols)));
        clipped(to_i64(rows.start) + diagonals.start)..clipped(to_i64(rows.end) - 1 + diagonals.end)
    }
}

/// The number of words at the start of the query of which an alignment that scores `least` contains one unchanged, wherever
/// it begins. `None` if there is no such number.
fn word_count(
    query: &[u8],
    scoring: &Scoring,
    potential: &PotentialBehind,
    (len, least): (usize, i32),
) -> Option<usize> {
    let last_begin = potential.behind(0..query.len()).iter().rposition(|&most| most >= least).unwrap_or(0);
    let (each, spoil) = (i64::from(scoring.max_potential()), potential.twice_spoil());
    let least = 2 * i64::from(least - scoring.bonuses(query));
    let all_changed = |count: usize| {
        // Twice the maximum gain after the first bases of a word, if no word is unchanged from there on.
        let mut after = 2 * i64::from(potential.behind(count * len..count * len + 1)[0]);
        (0..count).rev().all(|word| {
            let inside = 2 * each * to_i64(len - 1);
            let begins_inside = inside + after;
            after = inside.max(2 * each * to_i64(len) - spoil + after);
            word * len > last_begin || begins_inside.max(after) < least
        })
    };
    let counts = std::iter::successors(Some(FEWEST), |count| Some(count + count / 8));
    counts
        .take_while(|&count| count <= MOST && count * len <= query.len())
        .find(|&count| count * len > last_begin && all_changed(count))
}

/// Consecutive words of a query, of at most 15 bases.
struct QueryWords {
    len: usize,
    /// Each word, two bits per base, and its first row, in ascending order.
    words: Vec<(u32, u32)>,
    set: Vec<u64>,
}

impl QueryWords {
    /// The first `count` words of `len` bases. Words with a code that is no base are left out.
    fn new(query: &[u8], len: usize, count: usize) -> QueryWords {
        let word = |(row, codes): (u32, &[u8])| {
            let mut word = Rolling::new(to_u32(len));
            let last = codes.iter().map(|&code| word.push(code)).last().flatten();
            Some((last?, row))
        };
        let rows = (0..).step_by(len);
        let mut words: Vec<(u32, u32)> =
            rows.zip(query[..count * len].chunks_exact(len)).filter_map(word).collect();
        words.sort_unstable();
        let mut set = vec![0; SET_BITS as usize / 64];
        for &(word, _) in &words {
            let bit = bit_of(word);
            set[bit / 64] |= 1 << (bit % 64);
        }
        QueryWords { len, words, set }
    }

    /// Calls `found` with the first row and the first column of each occurrence of a word.
    fn occurrences_in(&self, target: &[u8], mut found: impl FnMut(usize, usize)) {
        let mut rolling = Rolling::new(to_u32(self.len));
        for (end, &code) in (1..).zip(target) {
            let Some(word) = rolling.push(code) else { continue };
            let bit = bit_of(word);
            if self.set[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let first = self.words.partition_point(|&(other, _)| other < word);
            for &(_, row) in self.words[first..].iter().take_while(|&&(other, _)| other == word) {
                found(row as usize, end - self.len);
            }
        }
    }
}

/// The bit of a word in the set.
fn bit_of(word: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) / (u32::MAX / SET_BITS + 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Edges;
    use crate::engine::directions::{CellBits, CellSource, Layer};
    use crate::engine::recurrence::recurrence;
    use crate::terms::random::Random;

    /// Cells in which an alignment with at least this score begins, from the recurrence over the reversed sequences.
    fn begun(query: &[u8], target: &[u8], scoring: &Scoring, least: i32) -> Vec<(usize, usize)> {
        let reversed = |codes: &[u8]| codes.iter().rev().copied().collect::<Vec<u8>>();
        let mut found = Vec::new();
        let is_pair =
            |bits: CellBits| Layer::from(CellSource::Diagonal).next(bits).source == CellSource::Diagonal;
        recurrence(&reversed(query), &reversed(target), scoring, &Edges::default(), |row, heights, bits| {
            for (col, (&h, &bits)) in heights.iter().zip(bits).enumerate() {
                if h >= least && is_pair(bits) {
                    found.push((query.len() - 1 - row, target.len() - 1 - col));
                }
            }
        });
        found
    }

    #[test]
    fn all_alignments_begin_in_the_columns() {
        let mut random = Random::new(41);
        let (mut narrow, mut cells) = (0, 0);
        let scorings = [(2, 4, 4, 2), (1, 4, 6, 1), (5, 4, 8, 6)];
        for round in 0..60 {
            let (match_, mismatch, open, extend) = scorings[round % 3];
            let mut scoring = Scoring::dna(match_, mismatch, open, extend);
            if round % 2 == 0 {
                scoring = scoring.with_gap_piece(open + 20, extend - 1).unwrap_or(Scoring::dna(2, 4, 4, 2));
            }
            let len = 300 + random.below(500);
            let core = random.codes(len, 4);
            let edits = 2 + random.below(20);
            let mut query = random.like(&core, len, 4, edits);
            let mut target = [random.codes(100, 4), core.clone(), random.codes(100, 4)].concat();
            match round % 5 {
                0 => query = [random.codes(40, 4), query].concat(),
                1 => target.extend_from_slice(&core),
                2 => query[random.below(60)] = 14,
                3 => drop(query.drain(..10 + random.below(30))),
                _ => drop(query.splice(60..60, random.codes(30, 4))),
            }
            let potential = PotentialBehind::new(&query, &target, &scoring).expect("words of these lengths");
            let best = begun(&query, &target, &scoring, 1);
            assert!(!best.is_empty());
            for share in [4, 16, 64] {
                let least = potential.whole() - potential.whole() / share;
                let beginnings = Beginnings::new((&query, &target), &scoring, &potential, least);
                assert!(beginnings.include(least) && !beginnings.include(least - 1));
                for (row, col) in begun(&query, &target, &scoring, least) {
                    let cols = beginnings.cols(&(row..row + 1), target.len());
                    assert!(cols.contains(&col), "round {round}, {scoring}, {least}: {row}, {col}, {cols:?}");
                    assert!(beginnings.cols(&(row.saturating_sub(7)..row + 3), target.len()).contains(&col));
                    cells += 1;
                }
                narrow += usize::from(beginnings.cols(&(0..1), target.len()).len() < target.len() / 2);
            }
        }
        assert!(narrow > 50 && cells > 500, "{narrow} {cells}");
    }
}
