//! The maximum score of an alignment that contains an intact piece of the query.
//!
//! The alignment is extended from both ends of the piece. For each loss in ascending order, and for each diagonal, only the
//! farthest base that is reached counts (Ukkonen 1985, doi:10.1016/S0019-9958(85)80046-2; for gap costs Marco-Sola et al.
//! 2021, doi:10.1093/bioinformatics/btaa777). docs/algorithm.md, section 15, has the theorem and its proof.

use super::diagonal_bound::EditLoss;
use crate::terms::bounds::SeedAlphabet;
use crate::terms::casts::{to_i32, to_i64, to_u16, to_usize};
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Maximum loss of an alignment that counts, compared with the maximum score of its query.
pub const MOST_LOSS: usize = 63;
/// Maximum number of diagonals that an extension visits.
const DIAGONALS: usize = u128::BITS as usize;
/// Bases that are compared at once.
const WORD: usize = 8;

/// What alignments lose, compared with the maximum score of their query, as bounds count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionLosses {
    /// By each query base outside the alignment, by each end outside it, and by a pair of two classes.
    pub left_out: usize,
    pub end: usize,
    pub pair: usize,
    /// By a deletion or an insertion of 1, 2, and more bases, as far as alignments that count have them.
    pub deletions: Vec<usize>,
    pub insertions: Vec<usize>,
    /// The maximum loss of an alignment that counts.
    pub most: usize,
}

impl ExtensionLosses {
    /// The losses of alignments of a query of `len` bases that lose at most `most`. `None` if extensions would not end soon, or
    /// if the scoring has no such bound.
    pub fn new(scoring: &Scoring, most: i64) -> Option<ExtensionLosses> {
        let (match_, _) = EditLoss::new(scoring)?.numbers();
        let most = usize::try_from(most).ok().filter(|&most| most <= MOST_LOSS)?;
        let positive = |loss: i64| usize::try_from(loss).ok().filter(|&loss| loss > 0);
        let pair = positive(SeedAlphabet::of(scoring)?.loss())?;
        let left_out = positive(match_.into())?;
        let gaps = |with: usize| {
            let loss = |len: usize| to_usize(scoring.gap_cost(len)) + with * len;
            (1..=DIAGONALS).map(loss).take_while(|&loss| loss <= most).collect::<Vec<usize>>()
        };
        positive(scoring.gap_cost(1))?;
        let (deletions, insertions) = (gaps(0), gaps(left_out));
        let end = to_usize(i64::from(scoring.end_bonus));
        let losses = ExtensionLosses { left_out, end, pair, deletions, insertions, most };
        (losses.diagonals() <= DIAGONALS).then_some(losses)
    }

    /// Number of diagonals that an extension may visit.
    pub fn diagonals(&self) -> usize {
        self.deletions.len() + self.insertions.len() + 1
    }
}

/// The farthest bases that extensions reach.
pub struct Farthest {
    /// For each loss the diagonals that an extension enters, and the number of query bases before.
    entered: [u128; MOST_LOSS + 1],
    bases: [[u16; DIAGONALS]; MOST_LOSS + 1],
    /// For each diagonal, one more than the number of query bases that extensions with less loss reach. 0 if there are none.
    reached: [u16; DIAGONALS],
}

impl Default for Farthest {
    fn default() -> Farthest {
        Farthest {
            entered: [0; MOST_LOSS + 1],
            bases: [[0; DIAGONALS]; MOST_LOSS + 1],
            reached: [0; DIAGONALS],
        }
    }
}

impl Farthest {
    fn enter(&mut self, loss: usize, diagonal: usize, bases: usize) {
        let bit = 1 << diagonal;
        let own = &mut self.bases[loss][diagonal];
        let is_first = self.entered[loss] & bit == 0;
        *own = if is_first { to_u16(bases) } else { to_u16(bases).max(*own) };
        self.entered[loss] |= bit;
    }
}

/// Bounds for one query of bases only.
pub struct ExtensionBound<'a> {
    query: &'a [u8],
    perfect: i32,
    losses: ExtensionLosses,
}

impl ExtensionBound<'_> {
    /// Bounds for alignments of score `least` or more. `perfect` is the maximum score of an alignment of the query.
    pub fn new<'a>(
        query: &'a [u8],
        (perfect, least): (i32, i32),
        scoring: &Scoring,
    ) -> Option<ExtensionBound<'a>> {
        let losses = ExtensionLosses::new(scoring, i64::from(perfect) - i64::from(least))?;
        u16::try_from(query.len() + 1).ok()?;
        Some(ExtensionBound { query, perfect, losses })
    }

    pub fn query(&self) -> &[u8] {
        self.query
    }

    /// The maximum score of an alignment that pairs the bases `piece` of the query with equal ones on a diagonal: the position
    /// in `targets` of the query's first base. `None` if that is less than the least score that counts. All codes are those
    /// of bases; positions outside the targets match nothing.
    pub fn most_score(
        &self,
        targets: &[u8],
        diagonal: i64,
        piece: &Range<usize>,
        farthest: &mut Farthest,
    ) -> Option<i32> {
        let query = self.query;
        // The targets before and behind a position that an extension has reached.
        let place = |bases: usize, apart: i64| {
            let place = diagonal + to_i64(bases) + apart;
            to_usize(place.clamp(0, to_i64(targets.len())))
        };
        let before = |bases: usize, apart: i64| {
            let bases = piece.start - bases;
            equal_behind(&query[..bases], &targets[..place(bases, -apart)])
        };
        let after = |bases: usize, apart: i64| {
            let bases = piece.end + bases;
            equal_ahead(&query[bases..], &targets[place(bases, apart)..])
        };
        let most = self.losses.most;
        let left = self.least_loss(piece.start, most, farthest, before)?;
        let right = self.least_loss(query.len() - piece.end, most - left, farthest, after)?;
        Some(self.perfect - to_i32(to_i64(left + right)))
    }

    /// The minimum loss of an extension over the next `len` query bases, if it is at most `most`. `equal` is the number of equal
    /// bases from a query base on, and on a diagonal that has so many target bases more before it.
    fn least_loss(
        &self,
        len: usize,
        most: usize,
        farthest: &mut Farthest,
        equal: impl Fn(usize, i64) -> usize,
    ) -> Option<usize> {
        let ExtensionLosses { left_out, end, pair, deletions, insertions, .. } = &self.losses;
        farthest.entered[..=most].fill(0);
        farthest.reached[..self.losses.diagonals()].fill(0);
        let middle = insertions.len();
        farthest.enter(0, middle, 0);
        let mut least = most + 1;
        for loss in 0..=most {
            if loss >= least {
                break;
            }
            let mut entered = farthest.entered[loss];
            while entered != 0 {
                let diagonal = entered.trailing_zeros() as usize;
                entered &= entered - 1;
                let from = usize::from(farthest.bases[loss][diagonal]);
                if from < usize::from(farthest.reached[diagonal]) {
                    continue;
                }
                let bases = from + equal(from, to_i64(diagonal) - to_i64(middle));
                farthest.reached[diagonal] = to_u16(bases + 1);
                let rest = len - bases;
                if rest == 0 {
                    return Some(loss);
                }
                least = least.min(loss + left_out * rest + end);
                if loss + pair < least {
                    farthest.enter(loss + pair, diagonal, bases + 1);
                }
                for (at, &deletion) in deletions.iter().enumerate() {
                    let further = diagonal + at + 1;
                    if loss + deletion >= least || further >= self.losses.diagonals() {
                        break;
                    }
                    farthest.enter(loss + deletion, further, bases);
                }
                for (at, &insertion) in insertions.iter().enumerate() {
                    if loss + insertion >= least || at >= diagonal || at >= rest {
                        break;
                    }
                    farthest.enter(loss + insertion, diagonal - at - 1, bases + at + 1);
                }
            }
        }
        (least <= most).then_some(least)
    }
}

/// Number of first bases that are equal.
fn equal_ahead(query: &[u8], targets: &[u8]) -> usize {
    let (words, others) = (query.as_chunks::<WORD>().0, targets.as_chunks::<WORD>().0);
    let mut equal = 0;
    for (&word, &other) in words.iter().zip(others) {
        let differ = u64::from_le_bytes(word) ^ u64::from_le_bytes(other);
        if differ != 0 {
            return equal + differ.trailing_zeros() as usize / WORD;
        }
        equal += WORD;
    }
    let rest = query[equal..].iter().zip(&targets[equal..]);
    equal + rest.take_while(|(base, other)| base == other).count()
}

/// Number of last bases that are equal.
fn equal_behind(query: &[u8], targets: &[u8]) -> usize {
    let (words, others) = (query.as_rchunks::<WORD>().1, targets.as_rchunks::<WORD>().1);
    let mut equal = 0;
    for (&word, &other) in words.iter().rev().zip(others.iter().rev()) {
        let differ = u64::from_le_bytes(word) ^ u64::from_le_bytes(other);
        if differ != 0 {
            return equal + differ.leading_zeros() as usize / WORD;
        }
        equal += WORD;
    }
    let rest = query[..query.len() - equal].iter().rev().zip(targets[..targets.len() - equal].iter().rev());
    equal + rest.take_while(|(base, other)| base == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;

    /// A copy with about one edit in `every` bases.
    fn mutated(random: &mut Random, codes: &[u8], every: usize) -> Vec<u8> {
        let mut copy = Vec::new();
        for &code in codes {
            match random.below(4 * every) {
                0 | 1 => copy.push(random.below(4) as u8),
                2 => {}
                3 => copy.extend([code, random.below(4) as u8]),
                _ => copy.push(code),
            }
        }
        copy
    }

    /// The best scores of alignments that end with each pair, by the definition: gaps of any length.
    fn ending_with(query: &[u8], target: &[u8], scoring: &Scoring) -> Vec<Vec<i32>> {
        let (rows, cols) = (query.len(), target.len());
        let mut paired = vec![vec![0i32; cols]; rows];
        for i in 0..rows {
            for j in 0..cols {
                let begins = if i == 0 { scoring.end_bonus } else { 0 };
                let mut before = begins.max(0);
                if i > 0 && j > 0 {
                    let cost = |k: usize| scoring.gap_cost(k) as i32;
                    before = before.max(paired[i - 1][j - 1]);
                    for k in 1..i {
                        before = before.max(paired[i - 1 - k][j - 1] - cost(k));
                    }
                    for k in 1..j {
                        before = before.max(paired[i - 1][j - 1 - k] - cost(k));
                    }
                    // A deletion beside an insertion.
                    for k in 1..i {
                        for l in 1..j {
                            before = before.max(paired[i - 1 - k][j - 1 - l] - cost(k) - cost(l));
                        }
                    }
                }
                paired[i][j] = before + scoring.score(query[i], target[j]);
            }
        }
        paired
    }

    #[test]
    fn bounds_are_the_best_scores_with_an_intact_piece() {
        let mut random = Random::new(5);
        let schemes = [(1, 4, 6, 1, 5), (2, 4, 4, 2, 0), (1, 1, 0, 2, 0), (5, 4, 9, 1, 3), (1, 3, 1, 1, 1)];
        let (mut reached, mut dropped, mut below) = (0, 0, 0);
        for round in 0..600 {
            let (a, b, o, e, bonus) = schemes[round % schemes.len()];
            let scoring = Scoring::dna(a, b, o, e).with_end_bonus(bonus);
            let scoring = match round % 3 {
                0 => scoring.clone().with_gap_piece(o + 9, e - 1).unwrap_or(scoring),
                _ => scoring,
            };
            let target = random.codes(60, [4, 2][round % 2]);
            let len = 16 + random.below(20);
            let from = random.below(target.len() - len);
            let every = [4, 8, 20][random.below(3)];
            let query = mutated(&mut random, &target[from..from + len], every);
            let perfect = scoring.most_score(query.len()) as i32;
            let most = [0, 1, 5, 17, 24, 40, MOST_LOSS][random.below(7)];
            let Some(bound) = ExtensionBound::new(&query, (perfect, perfect - most as i32), &scoring) else {
                continue;
            };
            let forward = ending_with(&query, &target, &scoring);
            let reverse = |codes: &[u8]| codes.iter().rev().copied().collect::<Vec<u8>>();
            let backward = ending_with(&reverse(&query), &reverse(&target), &scoring);
            let mut farthest = Farthest::default();
            let piece_len = 3 + random.below(6);
            for piece in
                (0..(query.len() + 1).saturating_sub(piece_len)).map(|start| start..start + piece_len)
            {
                for at in (0..=target.len() - piece_len)
                    .filter(|&at| query[piece.clone()] == target[at..at + piece_len])
                {
                    let within = piece_len as i32 * a;
                    let best = forward[piece.start][at] + within - 2 * a
                        + backward[query.len() - piece.end][target.len() - at - piece_len];
                    let diagonal = at as i64 - piece.start as i64;
                    let found = bound.most_score(&target, diagonal, &piece, &mut farthest);
                    let expected = Some(best).filter(|best| best + most as i32 >= perfect);
                    assert_eq!(
                        found, expected,
                        "{scoring}, {best} of {perfect}, {query:?}, {target:?}, {piece:?}"
                    );
                    reached += usize::from(found.is_some_and(|found| found < perfect));
                    dropped += usize::from(found.is_none());
                    below += usize::from(found.is_some() && best < perfect - 10);
                }
            }
        }
        assert!(reached > 300 && dropped > 1000 && below > 100, "{reached}, {dropped}, {below}");
    }

    #[test]
    fn bases_are_compared_up_to_the_ends() {
        let mut random = Random::new(3);
        for len in 0..30 {
            for differ in 0..=len {
                let query = random.codes(len, 4);
                let mut ahead = query.clone();
                let mut behind = query.clone();
                if differ < len {
                    ahead[differ] ^= 1;
                    behind[len - 1 - differ] ^= 1;
                }
                for more in [0, 1, 7, 8, 9] {
                    let after = [&ahead[..], &random.codes(more, 4)].concat();
                    assert_eq!(equal_ahead(&query, &after), differ);
                    assert_eq!(equal_ahead(&after, &query), differ);
                    let before = [&random.codes(more, 4)[..], &behind].concat();
                    assert_eq!(equal_behind(&query, &before), differ);
                    assert_eq!(equal_behind(&before, &query), differ);
                }
            }
        }
    }

    #[test]
    fn losses_that_extensions_can_not_count_give_no_bound() {
        let dna = Scoring::dna(1, 4, 6, 1);
        let losses = ExtensionLosses::new(&dna, 24).unwrap();
        assert_eq!((losses.deletions.len(), losses.insertions.len(), losses.pair), (18, 9, 5));
        assert!(ExtensionLosses::new(&dna, MOST_LOSS as i64 + 1).is_none());
        assert!(ExtensionLosses::new(&dna, -1).is_none());
        assert!(ExtensionLosses::new(&Scoring::dna(0, 4, 6, 1), 24).is_none());
        // Gaps of many bases.
        assert!(ExtensionLosses::new(&Scoring::dna(1, 4, 0, 1), MOST_LOSS as i64).is_some());
    }
}
