//! Pieces of a query that are looked up by rare k-mers of a sampled index.

use super::diagonal_bound::{EditLoss, PieceCount};
use crate::terms::casts::{to_i32, to_i64};
use crate::terms::scoring::Scoring;
use std::ops::Range;

/// Lengths of the pieces of long queries, in bases. The next one is tried for queries with too many edits for the one
/// before.
pub const LONG_PIECES: [usize; 3] = [128, 64, 32];

/// One in this many pieces of a long query must be intact.
const HELD: usize = 8;

/// Pieces of equal length, one after the other, and the scores of alignments by their number of intact pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualPieces {
    /// Bases of a piece.
    pub len: usize,
    pub count: usize,
    /// Bases before the first piece.
    pub margin: usize,
    /// The maximum score of an alignment of the query, and its minimum loss for each damaged piece.
    perfect: i64,
    edit: i64,
}

impl EqualPieces {
    /// The pieces of `len` bases of a query of `query` bases only, if runs of residues that are not bases in the targets
    /// spare an alignment at most `spared`. `None` if the scoring has no such pieces.
    pub fn new(scoring: &Scoring, query: usize, len: usize, spared: i32) -> Option<EqualPieces> {
        let (edit, margin) = EditLoss::new(scoring)?.of_pieces(len)?;
        let count = query.checked_sub(2 * margin)? / len;
        let perfect = scoring.most_score(query) + i64::from(spared);
        let pieces = EqualPieces { len, count, margin, perfect, edit };
        (count > 0 && i64::from(pieces.least()) <= scoring.most_score(query)).then_some(pieces)
    }

    /// Maximum score of an alignment with this number of intact pieces.
    pub fn most_score(&self, intact: usize) -> i32 {
        to_i32((self.perfect - self.edit * to_i64(self.count - intact)).max(0))
    }

    /// Minimum number of intact pieces of a window. Few copies of a repeat have it.
    pub fn held(&self) -> usize {
        self.count.div_ceil(HELD)
    }

    /// The score from which each alignment has that number of intact pieces.
    pub fn least(&self) -> i32 {
        self.most_score(self.held() - 1) + 1
    }
}

/// A piece of a query, and the first of the k-mers by which it is looked up: one of them is in the index wherever the piece
/// occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub bases: Range<usize>,
    /// Start of that k-mer in the query.
    pub first: usize,
}

/// Buffers for the choice of pieces.
#[derive(Debug, Default)]
pub struct PieceBuffers {
    /// Positions of the k-mers by which a piece that begins at each base is looked up.
    places: Vec<u64>,
    /// For each number of pieces, and each end, the minimum number of positions of pieces before the end.
    least: Vec<u64>,
}

/// A number that no sum of positions reaches.
const NONE: u64 = 1 << 60;

/// Chooses pieces with the fewest positions, and returns that number. `counts` has the number of positions of the k-mer at
/// each base, pieces have at least `shortest` bases, and `step` of these k-mers are looked up for each. `None` if the
/// pieces do not fit.
pub fn rarest(
    counts: impl Iterator<Item = usize>,
    PieceCount { count, margin }: PieceCount,
    (shortest, step): (usize, usize),
    len: usize,
    PieceBuffers { places, least }: &mut PieceBuffers,
) -> Option<(u64, Vec<Piece>)> {
    let last = len.checked_sub(2 * margin)?.checked_sub(shortest)?;
    places.clear();
    places.extend(counts.skip(margin).map(|count| count as u64));
    // The sums of `step` numbers, one for each start.
    let starts = last + 1;
    if places.len() < starts + step - 1 {
        return None;
    }
    let mut sum: u64 = places[..step - 1].iter().sum();
    for start in 0..starts {
        sum += places[start + step - 1];
        let first = std::mem::replace(&mut places[start], sum);
        sum -= first;
    }
    let width = starts + shortest;
    least.clear();
    least.resize(width, 0);
    for number in 1..=count {
        let before = (number - 1) * width;
        least.resize((number + 1) * width, NONE);
        for end in shortest..width {
            let with = least[before + end - shortest] + places[end - shortest];
            least[before + width + end] = least[before + width + end - 1].min(with);
        }
    }
    let total = *least.last()?;
    if total >= NONE {
        return None;
    }
    let mut pieces = Vec::with_capacity(count);
    let mut end = width - 1;
    for number in (1..=count).rev() {
        let of_number = &least[number * width..];
        while end > shortest && of_number[end - 1] == of_number[end] {
            end -= 1;
        }
        pieces.push(end - shortest);
        end = end.checked_sub(shortest)?;
    }
    pieces.reverse();
    // The bases between two pieces belong to the second, and those after the last piece to that one.
    let mut before = 0;
    let mut chosen: Vec<Piece> = Vec::with_capacity(count);
    for start in pieces {
        let bases = before + margin..start + shortest + margin;
        chosen.push(Piece { bases, first: start + margin });
        before = start + shortest;
    }
    chosen.last_mut()?.bases.end = len - margin;
    Some((total, chosen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;

    /// The least sum of all choices, by trying them all.
    fn least_sum(
        counts: &[usize],
        from: usize,
        count: usize,
        (shortest, step, last): (usize, usize, usize),
    ) -> Option<u64> {
        if count == 0 {
            return Some(0);
        }
        (from..=last)
            .filter_map(|start| {
                let own: usize = counts.get(start..start + step)?.iter().sum();
                let rest = least_sum(counts, start + shortest, count - 1, (shortest, step, last))?;
                Some(own as u64 + rest)
            })
            .min()
    }

    #[test]
    fn the_rarest_pieces_have_the_least_sum_of_all() {
        let mut numbers = Random::new(5);
        let mut below = |bound: usize| numbers.below(bound);
        let mut buffers = PieceBuffers::default();
        let (mut fit, mut none) = (0, 0);
        for _ in 0..2000 {
            let (letters, step) = (2 + below(3), 1 + below(4));
            let shortest = letters + step - 1;
            let (len, margin, count) = (4 + below(30), below(3), 1 + below(4));
            let kmers = (len + 1).saturating_sub(letters);
            let counts: Vec<usize> = (0..kmers).map(|_| below(5) * below(100)).collect();
            let wanted = PieceCount { count, margin };
            let found = rarest(counts.iter().copied(), wanted, (shortest, step), len, &mut buffers);
            let expected = (len >= shortest + 2 * margin)
                .then(|| least_sum(&counts, margin, count, (shortest, step, len - margin - shortest)))
                .flatten();
            assert_eq!(
                found.as_ref().map(|(sum, _)| *sum),
                expected,
                "{counts:?} {wanted:?} {shortest} {step}"
            );
            let Some((sum, pieces)) = found else {
                none += 1;
                continue;
            };
            fit += 1;
            assert_eq!(pieces.len(), count);
            let of_piece = |piece: &Piece| counts[piece.first..piece.first + step].iter().sum::<usize>();
            assert_eq!(pieces.iter().map(of_piece).sum::<usize>() as u64, sum);
            assert_eq!((pieces[0].bases.start, pieces[count - 1].bases.end), (margin, len - margin));
            assert!(pieces.windows(2).all(|two| two[0].bases.end == two[1].bases.start));
            let holds =
                |piece: &Piece| piece.bases.start <= piece.first && piece.first + shortest <= piece.bases.end;
            assert!(pieces.iter().all(holds), "{pieces:?}");
        }
        assert!(fit > 500 && none > 100, "{fit} {none}");
    }
}
