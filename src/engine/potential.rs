//! Bounds on the score that alignments of a pair can still gain after each row, from query words that are absent from
//! the target (docs/algorithm.md, section 23).

use crate::terms::alphabet::is_base;
use crate::terms::bounds::twice_to_spoil;
use crate::terms::casts::{to_i32, to_i64};
use crate::terms::scoring::{ComparedScores, Scoring};
use std::ops::Range;

/// A random word occurs in the target with a probability of about 4 to the power of minus this.
const RARE: u32 = 2;
/// Maximum word length in bases: one bit for each word takes 32 MiB.
const LONGEST: u32 = 14;

/// Maximum that local alignments can gain after each row.
#[derive(Clone, Debug)]
pub struct PotentialBehind {
    /// Indexed by the number of rows before.
    most: Vec<i32>,
    /// Maximum for alignments that begin after this number of rows or later.
    later: Vec<i32>,
    /// Number of query bases in absent words, and the length of each.
    absent: usize,
    letters: usize,
    /// Twice the minimum loss of score by an absent word.
    spoil: i64,
}

impl PotentialBehind {
    /// The bounds of a query against a target, both as codes. `None` if there is no bound: in modes other than local,
    /// for a matrix, and if words would have to be longer.
    pub fn new(query: &[u8], target: &[u8], scoring: &Scoring) -> Option<PotentialBehind> {
        let AbsentWords { letters, spoil, each, ends } = AbsentWords::of(query, target, scoring)?;
        // Twice the maximum after each row, computed from the last row up.
        let mut most = vec![0i32; query.len() + 1];
        let (mut next, mut through) = (query.len() + 1, 0);
        let mut words = ends.iter().rev().peekable();
        for row in (0..query.len()).rev() {
            // The first absent word that begins at this row or a later one.
            if let Some(&word) = words.next_if(|&&word| word - letters >= row) {
                next = word;
                through = (2 * each - spoil + i64::from(most[word])).max(0);
            }
            most[row] = to_i32(2 * each * to_i64(next - 1 - row) + through);
        }
        for (row, most) in most.iter_mut().enumerate() {
            *most = *most / 2 + scoring.bonuses(&query[row..]);
        }
        let mut later = most.clone();
        (0..query.len()).rev().for_each(|row| later[row] = later[row].max(later[row + 1]));
        Some(PotentialBehind { most, later, absent: ends.len() * letters, letters, spoil })
    }

    /// Maximum gain after the first `rows` rows, for each number in the range.
    pub fn behind(&self, rows: Range<usize>) -> &[i32] {
        &self.most[rows]
    }

    /// Maximum gain after each number of rows.
    pub fn all(&self) -> &[i32] {
        &self.most
    }

    /// Maximum score of an alignment whose first row comes after the first `rows` rows.
    pub fn from(&self, rows: usize) -> i32 {
        self.later[rows]
    }

    /// Minimum loss of an alignment by an absent word, rounded up.
    pub fn word(&self) -> i32 {
        to_i32(self.spoil).div_euclid(2) + 1
    }

    /// Length of an absent word, in bases.
    pub fn letters(&self) -> usize {
        self.letters
    }

    /// Twice the minimum loss of an alignment by a word of this length or more that it does not contain unchanged.
    pub fn twice_spoil(&self) -> i64 {
        self.spoil
    }

    /// Whether absent words cover less than half of the query. They cover nearly all of an unrelated query, and each
    /// lowers the bound by only one edit, so that little of the matrix could be skipped.
    pub fn is_alike(&self) -> bool {
        2 * self.absent < self.most.len()
    }

    /// Maximum score of an alignment.
    pub fn whole(&self) -> i32 {
        self.later[0]
    }
}

/// Maximum score of local alignments of a query and a target, both as codes: that of `PotentialBehind`, or slightly more
/// if there are end bonuses, in much less time. `None` if there is no bound.
pub fn most_by_words(query: &[u8], target: &[u8], scoring: &Scoring) -> Option<i32> {
    let AbsentWords { letters, spoil, each, ends } = AbsentWords::of(query, target, scoring)?;
    let (mut next, mut through, mut best) = (query.len() + 1, 0, 0);
    for end in ends.into_iter().rev() {
        let most = |row: usize| 2 * each * to_i64(next - 1 - row) + through;
        // Of all rows after the start of this word and up to that of the next one, the first allows most.
        best = best.max(most(end + 1 - letters));
        (through, next) = ((2 * each - spoil + most(end)).max(0), end);
    }
    best = best.max(2 * each * to_i64(next - 1) + through);
    Some(to_i32(best) / 2 + scoring.bonuses(query))
}

/// Words of a query that are absent from a target.
struct AbsentWords {
    /// Length of each word, in bases.
    letters: usize,
    /// Twice the minimum loss of score by an absent word, and the maximum gain by one base.
    spoil: i64,
    each: i64,
    /// The ends of the words, which do not overlap, in ascending order.
    ends: Vec<usize>,
}

impl AbsentWords {
    /// `None` in modes other than local, for a matrix, and if words would have to be longer.
    fn of(query: &[u8], target: &[u8], scoring: &Scoring) -> Option<AbsentWords> {
        let each = i64::from(scoring.max_potential());
        scoring.compared()?;
        let letters = (target.len().max(1).ilog2() / 2 + 1 + RARE).min(LONGEST);
        let spoil =
            twice_to_spoil(letters as usize, 0, scoring)?.min(twice_by_ambiguous(query, target, scoring));
        let fits = 2 * each * to_i64(query.len()) <= i64::from(i32::MAX);
        if !scoring.mode.is_local() || each == 0 || !fits {
            return None;
        }
        let ends = WordSet::of(target, letters).absent_from(query);
        Some(AbsentWords { letters: letters as usize, spoil, each, ends })
    }
}

/// Twice the minimum loss by a pair with an ambiguous residue, if there can be such a pair.
fn twice_by_ambiguous(query: &[u8], target: &[u8], scoring: &Scoring) -> i64 {
    match scoring.compared() {
        Some(ComparedScores { match_, mismatch, ambiguous })
            if ambiguous < mismatch && !query.iter().chain(target).all(|&code| is_base(code)) =>
        {
            2 * (i64::from(match_) + i64::from(ambiguous))
        }
        _ => i64::MAX,
    }
}

/// The words of `letters` bases that occur in a sequence, one bit for each possible word.
struct WordSet {
    letters: u32,
    bits: Vec<u64>,
}

impl WordSet {
    fn of(codes: &[u8], letters: u32) -> WordSet {
        let mut bits = vec![0; (1usize << (2 * letters)).div_ceil(64)];
        let mask = (1u32 << (2 * letters)) - 1;
        let next = |word: u32, code: &u8| (word << 2 | u32::from(code & 3)) & mask;
        for bases in codes.split(|&code| !is_base(code)) {
            let Some((first, rest)) = bases.split_at_checked(letters as usize - 1) else { continue };
            let mut word = first.iter().fold(0, next);
            for code in rest {
                word = next(word, code);
                bits[word as usize / 64] |= 1 << (word % 64);
            }
        }
        WordSet { letters, bits }
    }

    /// The ends of query words that are absent from the sequence. The words do not overlap, and the word that ends
    /// first is always chosen next.
    fn absent_from(&self, query: &[u8]) -> Vec<usize> {
        let mut ends = Vec::new();
        let (mut words, mut first) = (Rolling::new(self.letters), 0);
        for (place, &code) in query.iter().enumerate() {
            let word = words.push(code);
            let stands = |word: u32| self.bits[word as usize / 64] >> (word % 64) & 1 != 0;
            if place + 1 - first >= self.letters as usize && !word.is_some_and(stands) {
                ends.push(place + 1);
                first = place + 1;
            }
        }
        ends
    }
}

/// The word that ends at each base, two bits per base.
pub(super) struct Rolling {
    word: u32,
    mask: u32,
    letters: u32,
    /// Number of bases since the last code that is not a base.
    run: u32,
}

impl Rolling {
    pub fn new(letters: u32) -> Rolling {
        Rolling { word: 0, mask: (1 << (2 * letters)) - 1, letters, run: 0 }
    }

    #[inline(always)]
    pub fn push(&mut self, code: u8) -> Option<u32> {
        self.word = (self.word << 2 | u32::from(code & 3)) & self.mask;
        self.run = if is_base(code) { self.run + 1 } else { 0 };
        (self.run >= self.letters).then_some(self.word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::alphabet::Alphabet;
    use crate::terms::scoring::Matrix;

    fn behind(query: &[u8], target: &[u8], scoring: &Scoring) -> Vec<i32> {
        let potential = PotentialBehind::new(query, target, scoring).expect("words of these lengths");
        potential.behind(0..query.len() + 1).to_vec()
    }

    /// Maximum over all alignments whose first row is the first one.
    fn most(query: &[u8], target: &[u8], scoring: &Scoring) -> i32 {
        let (open, extend) = (scoring.gap_open, scoring.gap_extend);
        let none = i32::MIN / 2;
        let (mut above, mut gaps) = (vec![0; target.len() + 1], vec![none; target.len() + 1]);
        let mut best = 0;
        for &row in query {
            let mut diagonal = std::mem::replace(&mut above[0], none);
            let mut gap = none;
            for (col, &letter) in target.iter().enumerate() {
                gaps[col + 1] = (gaps[col + 1] - extend).max(above[col + 1] - open - extend);
                let h = (diagonal + scoring.score(row, letter)).max(gaps[col + 1]).max(gap);
                diagonal = std::mem::replace(&mut above[col + 1], h);
                gap = (gap - extend).max(h - open - extend);
                best = best.max(h);
            }
        }
        best
    }

    #[test]
    fn absent_words_by_hand() {
        let scoring = Scoring::dna(2, 4, 4, 2);
        // Words of 4 bases: for a target of 5, log4 rounds down to 1, plus 3.
        let target = [0, 1, 2, 3, 0];
        let words = WordSet::of(&target, 4);
        assert_eq!(words.absent_from(&target), []);
        assert_eq!(words.absent_from(&[0, 1, 2, 2, 0, 1, 2, 3, 0, 0, 0, 0, 0]), [4, 10]);
        assert_eq!(words.absent_from(&[0, 1, 14, 3, 0]), [4], "a letter that matches nothing");
        // An absent word loses 6, as a mismatch does.
        assert_eq!(behind(&[0, 1, 2, 2, 0, 1], &target, &scoring), [6, 10, 8, 6, 4, 2, 0]);
        assert_eq!(behind(&target, &target, &scoring), [10, 8, 6, 4, 2, 0]);
        let is_alike =
            |query: &[u8]| PotentialBehind::new(query, &target, &scoring).expect("words").is_alike();
        assert!(
            is_alike(&target)
                && !is_alike(&[3, 3, 3, 3, 2, 2, 2, 2])
                && is_alike(&[0, 1, 2, 3, 0, 1, 2, 3, 0])
        );
    }

    #[test]
    fn no_alignment_gains_more_behind_a_row() {
        let mut state = 7u64;
        let mut below = |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % bound
        };
        let mut less = 0;
        for round in 0..60 {
            let target: Vec<u8> = (0..30 + below(40)).map(|_| below(4) as u8).collect();
            let mut query = target.clone();
            for _ in 0..1 + round % 9 {
                let at = below(query.len() as u64) as usize;
                match below(4) {
                    0 => query[at] = below(5) as u8,
                    1 => drop(query.remove(at)),
                    2 => query.insert(at, below(4) as u8),
                    _ => drop(query.splice(at..at, (0..below(12)).map(|_| 1)).count()),
                }
            }
            for (match_, mismatch, open, extend) in [(2, 4, 4, 2), (1, 4, 6, 1), (1, 1, 0, 1), (3, 9, 1, 1)] {
                let scoring = Scoring::dna(match_, mismatch, open, extend);
                let behind = behind(&query, &target, &scoring);
                let whole = most(&query, &target, &scoring).max(0);
                let by_words = most_by_words(&query, &target, &scoring).expect("words of these lengths");
                let potential =
                    PotentialBehind::new(&query, &target, &scoring).expect("words of these lengths");
                assert!(whole <= by_words && by_words == potential.whole(), "{query:?} {target:?} {scoring}");
                let bonus = scoring.clone().with_end_bonus(5);
                let by_words = most_by_words(&query, &target, &bonus).expect("words of these lengths");
                assert!(by_words >= PotentialBehind::new(&query, &target, &bonus).unwrap().whole());
                for (row, &behind) in behind.iter().enumerate() {
                    assert!(
                        most(&query[row..], &target, &scoring) <= behind,
                        "{query:?} {target:?} {row} {scoring}"
                    );
                    less += usize::from(behind < (query.len() - row) as i32 * match_);
                }
            }
        }
        assert!(less > 1000, "{less}");
    }

    #[test]
    fn nothing_is_known_by_a_matrix_or_where_words_are_too_short() {
        let matrix = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").expect("built in"), 11, 1);
        assert!(PotentialBehind::new(&[0; 50], &[0; 50], &matrix).is_none());
        assert!(PotentialBehind::new(&[0; 50], &[0; 50], &Scoring::dna(1, 4, 60, 1)).is_none());
        assert!(PotentialBehind::new(&[0; 50], &[0; 50], &Scoring::dna(0, 4, 6, 1)).is_none());
    }
}
