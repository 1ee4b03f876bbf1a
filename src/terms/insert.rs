//! The insert size of mates: the distance and orientation of the two ends of a fragment.
//!
//! All computations use integers, so that every machine decides alike. The formulas are in docs/algorithm.md, section
//! 16.

use crate::terms::alignment::{Alignment, Strand};
use crate::terms::casts::{to_i64, to_u32, to_usize};
use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;

/// Relative orientation of the mates of a pair on their reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orientation {
    /// Forward, then reverse: the 5' ends are at the outside. Illumina's paired ends.
    #[default]
    Fr,
    /// Reverse, then forward: the 5' ends are at the inside. Mate pairs.
    Rf,
    /// Both on one strand.
    Ff,
}

impl Orientation {
    const ALL: [Orientation; 3] = [Orientation::Fr, Orientation::Rf, Orientation::Ff];

    /// Its name in options and headers.
    pub fn name(self) -> &'static str {
        match self {
            Orientation::Fr => "fr",
            Orientation::Rf => "rf",
            Orientation::Ff => "ff",
        }
    }

    /// The orientation of that name.
    pub fn named(name: &str) -> Option<Orientation> {
        Orientation::ALL.into_iter().find(|orientation| orientation.name() == name)
    }
}

/// The distribution of the insert sizes of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsertSize {
    pub orientation: Orientation,
    /// Mean distance of the 5' ends in bases, from 1 to [`MOST_INSERT`].
    pub mean: u32,
    /// Standard deviation in bases, from 1 to [`MOST_INSERT`].
    pub deviation: u32,
}

/// The largest accepted mean and deviation.
pub const MOST_INSERT: u32 = 1_000_000;

/// Maximum distance of pairs from which the insert size is estimated; bwa's `max_ins`.
const FURTHEST: u32 = 10_000;
/// Minimum number of pairs for an estimate; bwa's `MIN_DIR_CNT`.
const FEWEST: usize = 10;
/// Minimum of the estimated deviation: read errors shift the ends of alignments by a few bases.
const LEAST_DEVIATION: u32 = 10;
/// Sizes further from the quartiles than this many interquartile ranges are outliers; bwa's `OUTLIER_BOUND`.
const OUTLIER_RANGES: i64 = 2;
/// Maximum distance of a proper pair from the mean, in deviations; bwa's `MAX_STDDEV`.
const DEVIATIONS: u32 = 4;

/// Number of steps of [`COSTS`] per deviation, and the denominator of the costs.
const STEPS: u64 = 16;
const ONE: i64 = 1024;
/// Cost of a size that is `k / STEPS` deviations from the mean, in matches of 1 / [`ONE`]: `-0.721 ln(2 erfc(k / STEPS
/// / sqrt 2))`, rounded (bwa's `mem_pair`; 0.721 is 1 / ln 4). It is the negative logarithm, to the base of 4, of the
/// probability of a size at least this far from the mean, less half a match.
const COSTS: [i64; 65] = [
    -512, -474, -434, -393, -349, -304, -256, -207, -155, -102, -46, 12, 72, 135, 200, 267, 336, 407, 481,
    557, 636, 717, 800, 886, 974, 1065, 1158, 1254, 1352, 1453, 1556, 1661, 1770, 1880, 1994, 2110, 2228,
    2349, 2473, 2599, 2728, 2860, 2994, 3131, 3270, 3413, 3557, 3705, 3855, 4008, 4163, 4322, 4482, 4646,
    4812, 4981, 5153, 5328, 5505, 5685, 5867, 6053, 6241, 6432, 6625,
];

impl InsertSize {
    /// The distribution that is assumed if there are too few pairs: it allows sizes of 1 to 1000, as minimap2 does for
    /// short reads.
    pub const ASSUMED: InsertSize = InsertSize { orientation: Orientation::Fr, mean: 400, deviation: 150 };

    /// The sizes of proper pairs.
    pub fn range(&self) -> RangeInclusive<u32> {
        let most = self.deviation.saturating_mul(DEVIATIONS);
        self.mean.saturating_sub(most).max(1)..=self.mean.saturating_add(most)
    }

    /// The insert size, if the mates are a proper pair of this distribution. If they are in both directions around a
    /// circular target, the size nearer to the mean. `circle` is the length of the target if it is circular.
    pub fn of(&self, one: &Alignment, other: &Alignment, circle: Option<u32>) -> Option<u32> {
        let proper = |&(orientation, size): &(Orientation, u32)| {
            orientation == self.orientation && self.range().contains(&size)
        };
        let sizes = inserts(one, other, circle).filter(proper).map(|(_, size)| size);
        sizes.min_by_key(|size| (size.abs_diff(self.mean), *size))
    }

    /// The score of a proper pair of this size. `sum` is the sum of the mates' scores, and `match_` the score of a
    /// match.
    pub fn pair_score(&self, sum: i64, size: u32, match_: i32) -> i64 {
        let off = u64::from(size.abs_diff(self.mean));
        let step = (off * STEPS / u64::from(self.deviation.max(1))).min(COSTS.len() as u64 - 1);
        (sum * ONE - COSTS[to_usize(step)] * i64::from(match_) + ONE / 2 - 1).div_euclid(ONE)
    }

    /// The strand of an alignment's mate, and the target columns that contain all of the mate in a proper pair. The
    /// mate spans at most `span` columns.
    pub fn mate_of(&self, alignment: &Alignment, span: u32) -> (Strand, RangeInclusive<i64>) {
        let (least, most) = (i64::from(*self.range().start()), i64::from(*self.range().end()));
        let (end, span) = (five_prime(alignment), i64::from(span));
        // Whether the mate's 5' end is after this one's, in target order, and the mate's strand.
        let forward = alignment.strand == Strand::Forward;
        match self.orientation {
            Orientation::Fr if forward => (Strand::Reverse, end..=end + most),
            Orientation::Fr => (Strand::Forward, end - most..=end),
            Orientation::Rf if forward => (Strand::Reverse, end - most - span..=end - least),
            Orientation::Rf => (Strand::Forward, end + least..=end + most + span),
            Orientation::Ff => (alignment.strand, end - most - span..=end + most + span),
        }
    }

    /// Estimates the distribution from the sizes of pairs. `None` if there are too few.
    pub fn estimate(sizes: &[(Orientation, u32)]) -> Option<InsertSize> {
        let of = |orientation| -> Vec<u32> {
            sizes.iter().filter(|(own, _)| *own == orientation).map(|(_, size)| *size).collect()
        };
        // Of equal numbers, the first orientation wins.
        let mut most = (Orientation::Fr, Vec::new());
        for orientation in Orientation::ALL {
            let sizes = of(orientation);
            if sizes.len() > most.1.len() {
                most = (orientation, sizes);
            }
        }
        let (orientation, mut sizes) = most;
        if sizes.len() < FEWEST {
            return None;
        }
        sizes.sort_unstable();
        let quartile = |quarters: usize| i64::from(sizes[sizes.len() * quarters / 4]);
        let range = OUTLIER_RANGES * (quartile(3) - quartile(1));
        let inside = quartile(1) - range..=quartile(3) + range;
        let kept: Vec<i64> =
            sizes.iter().map(|&size| i64::from(size)).filter(|size| inside.contains(size)).collect();
        let count = to_i64(kept.len());
        let mean = (kept.iter().sum::<i64>() + count / 2) / count;
        let variance = kept.iter().map(|size| (size - mean) * (size - mean)).sum::<i64>() / count;
        let deviation = to_u32(variance.unsigned_abs().isqrt()).max(LEAST_DEVIATION);
        Some(InsertSize { orientation, mean: to_u32(mean).max(1), deviation })
    }
}

/// The parameters of pair scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairScoring {
    pub insert: InsertSize,
    /// Score of a match.
    pub match_: i32,
}

impl PairScoring {
    /// The insert size and the score of two hits, if they are a proper pair.
    pub fn of(&self, one: &Alignment, other: &Alignment, circle: Option<u32>) -> Option<(u32, i64)> {
        let insert = self.insert.of(one, other, circle)?;
        let sum = i64::from(one.score) + i64::from(other.score);
        Some((insert, self.insert.pair_score(sum, insert, self.match_)))
    }

    /// For each reported hit of two mates, the index of the other mate's hit with which it forms a proper pair. The
    /// first hits are not considered. Each further hit has at most one partner: the pair with the highest score is
    /// chosen first, and of equal pairs the one whose hits come first.
    pub fn partners(
        &self,
        hits: [&[Alignment]; 2],
        circle_of: impl Fn(u32) -> Option<u32>,
    ) -> [Vec<Option<usize>>; 2] {
        let mut partners = hits.map(|hits| vec![None; hits.len()]);
        // Indices of the other mate's further hits by target and 5' end.
        let mut others: Vec<(u32, i64, usize)> = hits[1].iter().enumerate().skip(1).map(by_end).collect();
        others.sort_unstable();
        let most = i64::from(*self.insert.range().end());
        let mut pairs = Vec::new();
        for (first, one) in hits[0].iter().enumerate().skip(1) {
            let circle = circle_of(one.target);
            let end = five_prime(one);
            let (from, to) = match circle {
                Some(_) => (i64::MIN, i64::MAX),
                None => (end - most, end + most),
            };
            let begin = others.partition_point(|&(target, end, _)| (target, end) < (one.target, from));
            let near = others[begin..].iter();
            for &(.., second) in near.take_while(|&&(target, end, _)| (target, end) <= (one.target, to)) {
                if let Some((_, score)) = self.of(one, &hits[1][second], circle) {
                    pairs.push((Reverse(score), first, second));
                }
            }
        }
        pairs.sort_unstable();
        for (_, first, second) in pairs {
            if partners[0][first].is_none() && partners[1][second].is_none() {
                partners[0][first] = Some(second);
                partners[1][second] = Some(first);
            }
        }
        partners
    }
}

/// Target and 5' end of a hit, then its index.
fn by_end((index, hit): (usize, &Alignment)) -> (u32, i64, usize) {
    (hit.target, five_prime(hit), index)
}

impl Display for InsertSize {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "orientation={} mean={} deviation={}",
            self.orientation.name(),
            self.mean,
            self.deviation
        )
    }
}

/// The 5' end of an alignment in the direction of its read, as a boundary between residues: the start on the forward
/// strand, the end on the reverse strand.
pub fn five_prime(alignment: &Alignment) -> i64 {
    i64::from(match alignment.strand {
        Strand::Reverse => alignment.target_end,
        _ => alignment.target_start,
    })
}

/// The orientation of two mates on one target, and the distance of their 5' ends: one result on a linear target, and
/// one for each direction on a circular target. Empty for different targets, and for equal 5' ends on a linear target.
fn inserts(
    one: &Alignment,
    other: &Alignment,
    circle: Option<u32>,
) -> impl Iterator<Item = (Orientation, u32)> {
    let strands = (one.strand, other.strand);
    let lie = move |between: i64| {
        let orientation = match strands {
            (Strand::Forward, Strand::Reverse) if between > 0 => Orientation::Fr,
            (Strand::Reverse, Strand::Forward) if between < 0 => Orientation::Fr,
            (Strand::Forward, Strand::Reverse) | (Strand::Reverse, Strand::Forward) => Orientation::Rf,
            _ => Orientation::Ff,
        };
        (orientation, to_u32(between.unsigned_abs()))
    };
    let between = five_prime(other) - five_prime(one);
    let ways = match circle.map(|len| (i64::from(len), between.rem_euclid(i64::from(len)))) {
        _ if one.target != other.target => [None, None],
        None => [Some(between).filter(|&between| between != 0), None],
        Some((len, 0)) => [Some(len), Some(-len)],
        Some((len, on)) => [Some(on), Some(on - len)],
    };
    ways.into_iter().flatten().map(lie)
}

/// The orientation and distance of two mates, in the shorter direction on a circular target, if the distance is small
/// enough to estimate the library's insert size.
pub fn telling_insert(one: &Alignment, other: &Alignment, circle: Option<u32>) -> Option<(Orientation, u32)> {
    let nearest = inserts(one, other, circle).min_by_key(|&(orientation, size)| (size, orientation));
    nearest.filter(|(_, size)| *size <= FURTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;
    use smallvec::smallvec;

    fn at(strand: Strand, target_start: u32, target_end: u32) -> Alignment {
        let query_end = target_end - target_start;
        Alignment {
            strand,
            target: 0,
            score: 1,
            query_start: 0,
            query_end,
            target_start,
            target_end,
            cigar: smallvec![],
            shifts: Box::default(),
        }
    }

    use Strand::{Forward, Reverse};

    #[test]
    fn orientations_by_hand() {
        let insert = |one: &Alignment, other: &Alignment| inserts(one, other, None).next();
        let (left, right) = (at(Forward, 100, 200), at(Reverse, 300, 400));
        assert_eq!(insert(&left, &right), Some((Orientation::Fr, 300)));
        assert_eq!(insert(&right, &left), Some((Orientation::Fr, 300)));
        let (left, right) = (at(Reverse, 100, 200), at(Forward, 300, 400));
        assert_eq!(insert(&left, &right), Some((Orientation::Rf, 100)));
        assert_eq!(insert(&right, &left), Some((Orientation::Rf, 100)));
        assert_eq!(insert(&at(Forward, 100, 200), &at(Forward, 300, 400)), Some((Orientation::Ff, 200)));
        assert_eq!(insert(&at(Reverse, 100, 200), &at(Reverse, 300, 400)), Some((Orientation::Ff, 200)));
        // A fragment shorter than its reads: the mates extend beyond each other's 5' ends.
        assert_eq!(insert(&at(Forward, 100, 180), &at(Reverse, 90, 180)), Some((Orientation::Fr, 80)));
        assert_eq!(insert(&at(Forward, 100, 180), &at(Reverse, 20, 100)), None);
        assert_eq!(insert(&at(Forward, 1, 2), &Alignment { target: 1, ..at(Reverse, 5, 6) }), None);
    }

    #[test]
    fn mates_lie_both_ways_round_a_circle() {
        let ways = |one: &Alignment, other: &Alignment| inserts(one, other, Some(1000)).collect::<Vec<_>>();
        let (left, right) = (at(Forward, 900, 1000), at(Reverse, 150, 250));
        let expected = [(Orientation::Fr, 350), (Orientation::Rf, 650)];
        assert_eq!(ways(&left, &right), expected);
        let mut turned = ways(&right, &left);
        turned.reverse();
        assert_eq!(turned, expected);
        // An alignment across the origin ends in the second copy.
        assert_eq!(ways(&at(Forward, 950, 1050), &right)[0], (Orientation::Fr, 300));
        assert_eq!(ways(&at(Forward, 800, 900), &at(Reverse, 990, 1090))[0], (Orientation::Fr, 290));
        let same = [(Orientation::Fr, 1000), (Orientation::Rf, 1000)];
        assert_eq!(ways(&at(Forward, 100, 200), &at(Reverse, 10, 100)), same);
        let either = ways(&at(Forward, 100, 200), &at(Forward, 300, 400));
        assert_eq!(either, [(Orientation::Ff, 200), (Orientation::Ff, 800)]);
        assert_eq!(telling_insert(&left, &right, Some(1000)), Some((Orientation::Fr, 350)));
        assert_eq!(telling_insert(&left, &right, None), Some((Orientation::Rf, 650)));
        let insert = |mean| InsertSize { orientation: Orientation::Ff, mean, deviation: 300 };
        let [one, other] = [at(Forward, 100, 200), at(Forward, 300, 400)];
        assert_eq!([400, 700].map(|mean| insert(mean).of(&one, &other, Some(1000))), [Some(200), Some(800)]);
        let fr = InsertSize { orientation: Orientation::Fr, mean: 300, deviation: 50 };
        assert_eq!((fr.of(&left, &right, Some(1000)), fr.of(&left, &right, None)), (Some(350), None));
    }

    #[test]
    fn the_window_of_a_mate_holds_every_proper_pair() {
        for orientation in Orientation::ALL {
            for (mean, deviation) in [(400, 30), (50, 40), (10, 1)] {
                let insert = InsertSize { orientation, mean, deviation };
                let mut proper = 0;
                for strand in [Forward, Reverse] {
                    let one = at(strand, 1000, 1100);
                    for start in 1..2200 {
                        for strand in [Forward, Reverse] {
                            let mate = at(strand, start, start + 90);
                            if insert.of(&one, &mate, None).is_none() {
                                continue;
                            }
                            proper += 1;
                            let (expected, columns) = insert.mate_of(&one, 90);
                            assert_eq!(expected, strand, "{insert} {start}");
                            let inside = *columns.start() <= i64::from(start)
                                && i64::from(start) + 90 <= *columns.end();
                            // Mates that extend beyond each other's 5' ends are not a pair that a search near one of
                            // them finds.
                            let over = orientation == Orientation::Fr
                                && (five_prime(&mate) - five_prime(&one)).unsigned_abs() < 90;
                            assert!(inside || over, "{insert} {start} {columns:?}");
                        }
                    }
                }
                assert!(proper > 4, "{insert}");
            }
        }
    }

    #[test]
    fn costs_grow_with_the_distance_from_the_mean() {
        let insert = InsertSize { orientation: Orientation::Fr, mean: 300, deviation: 50 };
        assert_eq!(insert.pair_score(300, 300, 1), 300, "the mean costs nothing");
        // Three deviations: -0.721 ln(2 erfc(3 / sqrt 2)) = 3.77, and 0.499 are added before rounding down.
        assert_eq!(insert.pair_score(300, 450, 1), 296);
        assert_eq!(insert.pair_score(300, 150, 1), 296);
        assert_eq!(insert.pair_score(300, 500, 1), 294);
        assert_eq!(insert.pair_score(300, 500, 2), 287);
        let scores: Vec<i64> = (300..=500).map(|size| insert.pair_score(300, size, 2)).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b));
        assert_eq!(insert.range(), 100..=500);
        assert_eq!(InsertSize::ASSUMED.range(), 1..=1000);
    }

    /// Compares with all pairs, chosen greedily.
    #[test]
    fn partners_are_the_best_pairs_that_are_left() {
        let (mut paired, mut alone) = (0, 0);
        for seed in 0..300u64 {
            let mut numbers = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let mut below = |most: u64| numbers.below(most as usize) as u64;
            let orientation = Orientation::ALL[below(3) as usize];
            let insert = InsertSize { orientation, mean: 60, deviation: 10 };
            let scoring = PairScoring { insert, match_: 1 };
            let circle = |target: u32| (target == 1).then_some(200);
            let mut hits = || -> Vec<Alignment> {
                let count = below(9);
                let hit = |_| {
                    let start = below(200) as u32;
                    let strand = if below(2) == 0 { Forward } else { Reverse };
                    let (target, score) = (below(3) as u32, 20 + below(4) as i32);
                    Alignment { target, score, ..at(strand, start, start + 20) }
                };
                (0..count).map(hit).collect()
            };
            let (one, other) = (hits(), hits());
            let mut expected = [vec![None; one.len()], vec![None; other.len()]];
            loop {
                let mut best = None;
                for first in (1..one.len()).filter(|&first| expected[0][first].is_none()) {
                    for second in (1..other.len()).filter(|&second| expected[1][second].is_none()) {
                        let pair = scoring.of(&one[first], &other[second], circle(one[first].target));
                        let Some((_, score)) = pair else { continue };
                        if best.is_none_or(|(most, _)| score > most) {
                            best = Some((score, (first, second)));
                        }
                    }
                }
                let Some((_, (first, second))) = best else { break };
                expected[0][first] = Some(second);
                expected[1][second] = Some(first);
            }
            paired += expected[0].iter().flatten().count();
            alone += expected[0].iter().filter(|partner| partner.is_none()).count();
            assert_eq!(scoring.partners([&one, &other], circle), expected, "seed {seed}");
        }
        assert!(paired > 100 && alone > 100, "{paired} {alone}");
    }

    #[test]
    fn an_estimate_leaves_outliers_out() {
        let mut sizes: Vec<_> = (0..101).map(|k| (Orientation::Fr, 250 + k)).collect();
        sizes.push((Orientation::Fr, 9_999));
        sizes.extend([(Orientation::Rf, 40); 20]);
        let insert = InsertSize::estimate(&sizes);
        // Deviation of 101 consecutive numbers: sqrt((101^2 - 1) / 12) = 29.15.
        assert_eq!(insert, Some(InsertSize { orientation: Orientation::Fr, mean: 300, deviation: 29 }));
        assert_eq!(InsertSize::estimate(&sizes[..9]), None);
        let equal = InsertSize::estimate(&[(Orientation::Ff, 80); 10]);
        assert_eq!(equal, Some(InsertSize { orientation: Orientation::Ff, mean: 80, deviation: 10 }));
    }
}
