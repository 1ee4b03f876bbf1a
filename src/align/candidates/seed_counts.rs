//! Number of seeds of a query segment that an alignment contains on nearby diagonals. See docs/algorithm.md, section
//! 15, for the theorem and its proof.
//!
//! A query is cut into consecutive seeds, and these into segments of about as many seeds each. At least one segment
//! loses no more than its share of the whole alignment's loss, so the alignment contains its share of that segment's
//! seeds. If these are on diagonals far from each other, the gaps between them have lost much of that share, so the
//! alignment contains more of the segment's seeds.

use crate::terms::bounds::twice_to_spoil;
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::scoring::{GapPiece, Gaps, Scoring};
use std::ops::Range;

/// Guarantee about the alignments of a query that reach some score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedCounts {
    /// Bases per seed, complete seeds of the query, and segments that these seeds are grouped into.
    seed: usize,
    seeds: usize,
    segments: usize,
    /// Twice the score of a perfect alignment, plus twice the reduction of losses at the seeds of an alignment's two
    /// ends.
    most: i64,
    /// Twice the maximum loss of all seeds together.
    lost: i64,
    /// Twice the minimum loss at a seed that the alignment does not contain.
    spoil: i64,
    /// Gain of a match.
    match_: i64,
    gaps: Gaps,
    /// The narrow band is the band of all gaps, divided by two this many times.
    narrowed: u32,
    /// Twice the loss by which the gaps of a segment may exceed its share, if there are runs of residues that are not bases.
    moved: Option<i64>,
}

/// Number of seeds on diagonals that differ by at most `band`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandCount {
    pub band: usize,
    pub held: usize,
}

/// Ratios of the value of a unit of loss to that of a unit of excess in [`SeedCounts::twice_excess`], in eighths. Each of them
/// gives a bound.
const EIGHTHS: [i32; 6] = [0, 2, 4, 8, 16, 32];
/// Limits below which [`SeedCounts::twice_excess`] fits 64 bits: with 128 bits it took a sixth of the time of long reads.
const MOST_COST: i64 = 1 << 15;
const MOST_LOSS: i64 = 1 << 36;
const MOST_APART: usize = 1 << 20;

/// Defines the computation of [`SeedCounts::twice_excess`] in integers of one width.
macro_rules! excess {
    ($name:ident: $width:ty) => {
        fn $name(&self, share: i64, apart: usize) -> Option<i64> {
            let [spoil, match_, apart, seed, share] =
                [self.spoil, self.match_, to_i64(apart), to_i64(self.seed), share].map(<$width>::from);
            // Sixteen times the minimum excess, plus `weight` eighths of the loss, of gaps of `apart` residues in all. The
            // quotients are monotonic between the lengths that are tried, so that the minimum is at one of them.
            let of_all = |weight: $width| {
                let of_piece = |piece: GapPiece| {
                    let [o, e] = [piece.open, piece.extend].map(<$width>::from);
                    let loss = |len: $width, each: $width, touched: $width| {
                        2 * (8 + weight) * (o + len * each) - 8 * spoil * touched
                    };
                    let inserted = e + match_;
                    // A quotient of `apart` by itself, or by 1, needs no division.
                    let deletions = [apart * loss(1, e, 1), loss(apart, e, 1)];
                    let insertions = [
                        apart * loss(1, inserted, 1),
                        (apart * loss(2, inserted, 2)).div_euclid(2),
                        (apart * loss(seed + 1, inserted, 2)).div_euclid(seed + 1),
                        (apart * (2 * (8 + weight) * inserted * seed - 8 * spoil)).div_euclid(seed),
                    ];
                    deletions.into_iter().chain(insertions).min()
                };
                self.gaps.pieces().filter_map(of_piece).min().unwrap_or(0)
            };
            let bound = |&weight: &i32| {
                let weight = <$width>::from(weight);
                (of_all(weight) - weight * share).div_euclid(8)
            };
            i64::try_from(EIGHTHS.iter().map(bound).max().unwrap_or(0).max(0)).ok()
        }
    };
}

impl SeedCounts {
    /// Guarantee about the alignments of a query of `len` bases that score at least `least`, with seeds of `seed` bases
    /// in `segments` segments. `None` if the proof does not apply to the scoring, or if no alignment is guaranteed to
    /// contain a seed.
    pub fn new(
        len: usize,
        (seed, segments): (usize, usize),
        least: i32,
        scoring: &Scoring,
    ) -> Option<SeedCounts> {
        let spoil = twice_to_spoil(seed, 0, scoring).filter(|_| scoring.fits(len))?;
        let match_ = i64::from(scoring.max_potential());
        let seeds = len / seed;
        let spoil = spoil.min(2 * match_ * i64::try_from(seed).ok()?);
        // A seed that the alignment does not cover loses all of its bases, but a seed at either end perhaps only one.
        let ends = 2 * (spoil - 2 * match_).max(0);
        let most = 2 * match_ * i64::try_from(len).ok()? + ends;
        let lost = most - 2 * i64::from(least);
        let gaps = scoring.gaps();
        let counts =
            SeedCounts { seed, seeds, segments, most, lost, spoil, match_, gaps, narrowed: 0, moved: None };
        let is_sure = gaps.pieces().all(|piece| piece.extend > 0)
            && (1..=seeds).contains(&segments)
            && (0..spoil * to_i64(seeds)).contains(&lost);
        is_sure.then_some(counts)
    }

    /// The same guarantee for sequences with runs of residues that are not bases. `cheap` is twice the maximum by which
    /// such a run undercuts the loss at the seeds that it touches ([`crate::terms::bounds::twice_spoilt_cheaply`]).
    pub fn with_runs(self, cheap: i64) -> SeedCounts {
        // A run may cross each of the two borders of the segment.
        SeedCounts { moved: Some(2 * cheap), narrowed: 0, ..self }
    }

    /// The same guarantee with a narrow band of a half, a quarter and so on of the widest one. `None` if runs of residues that
    /// are not bases rule it out.
    pub fn narrowed(self, times: u32) -> Option<SeedCounts> {
        (times == 0 || self.moved.is_none()).then_some(SeedCounts { narrowed: times, ..self })
    }

    /// How often the widest band is halved for the narrow one.
    pub fn narrowing(&self) -> u32 {
        self.narrowed
    }

    /// Bases per seed.
    pub fn seed(&self) -> usize {
        self.seed
    }

    /// The seeds of each segment.
    pub fn segments(&self) -> impl Iterator<Item = Range<usize>> {
        let SeedCounts { seeds, segments, .. } = *self;
        let border = move |segment: usize| to_usize(seeds as u64 * segment as u64 / segments as u64);
        (0..segments).map(move |segment| border(segment)..border(segment + 1))
    }

    /// Twice the share of all losses that belongs to a segment of `seeds` seeds, rounded down.
    fn share(&self, seeds: usize) -> i64 {
        self.lost * to_i64(seeds) / to_i64(self.seeds)
    }

    /// Minimum number of seeds that a segment of `seeds` seeds contains if it has no more than its share of the losses.
    fn least_held(&self, seeds: usize) -> usize {
        seeds - to_usize(self.share(seeds) / self.spoil)
    }

    /// Maximum distance between the diagonals of two of these seeds.
    fn widest(&self, seeds: usize) -> usize {
        let share = self.share(seeds).saturating_add(self.moved.unwrap_or(0));
        to_usize(self.gaps.longest(share / 2, 0))
    }

    /// The seeds that a segment of `seeds` seeds contains if it has no more than its share of the losses: those on the
    /// diagonals of a narrow band, or more of them in a wide band.
    pub fn bands(&self, seeds: usize) -> (BandCount, Option<BandCount>) {
        let (held, widest) = (self.least_held(seeds), self.widest(seeds));
        let band = widest >> self.narrowed;
        let wide = || {
            let left = self.share(seeds) - self.twice_excess(self.share(seeds), band + 1)?;
            (left >= 0).then(|| BandCount { band: widest, held: seeds - to_usize(left / self.spoil) })
        };
        (BandCount { band, held }, if band < widest { wide() } else { None })
    }

    /// Twice the minimum loss of a segment at gaps, beyond `spoil` for each seed that they touch, if the diagonals of two of
    /// its seeds differ by `apart` or more and it loses at most half of `share` in all. `None` if that is impossible.
    fn twice_excess(&self, share: i64, apart: usize) -> Option<i64> {
        let costs = self.gaps.pieces().flat_map(|piece| [piece.open, piece.extend]).map(i64::from);
        let most_cost = costs.chain([self.match_]).fold(0, i64::max);
        let is_small =
            most_cost < MOST_COST && self.spoil.max(share) < MOST_LOSS && apart.max(self.seed) < MOST_APART;
        let excess =
            if is_small { self.excess_of_small(share, apart) } else { self.excess_of_any(share, apart) };
        excess.filter(|&excess| excess <= share)
    }

    excess!(excess_of_small: i64);
    excess!(excess_of_any: i128);

    /// Maximum score of an alignment that contains at most `held` seeds of a segment of `seeds` seeds which has no more
    /// than its share of the losses.
    pub fn most_score(&self, seeds: usize, held: usize) -> i32 {
        let spoilt = to_i64(seeds.saturating_sub(held));
        let lost = (self.spoil * spoilt * to_i64(self.seeds) + to_i64(seeds) - 1) / to_i64(seeds);
        to_i32((self.most - lost) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::random::Random;

    #[test]
    fn counts_by_hand() {
        // A perfect alignment scores 2000, one of 1600 lacks 400. A seed that is not held costs 6, but perhaps 2 at
        // either end: 408 / 6 are 68 of 100 seeds.
        let scoring = Scoring::dna(2, 4, 4, 2);
        let counts = SeedCounts::new(1000, (10, 1), 1600, &scoring).unwrap();
        assert_eq!(counts.segments().next(), Some(0..100));
        assert_eq!(counts.bands(100), (BandCount { band: 202, held: 32 }, None));
        assert_eq!([0, 32, 99, 100].map(|held| counts.most_score(100, held)), [1408, 1600, 2002, 2008]);
        // One of the four segments loses 102 or less: 17 seeds.
        let counts = SeedCounts::new(1000, (10, 4), 1600, &scoring).unwrap();
        assert_eq!(counts.segments().last(), Some(75..100));
        assert_eq!(counts.bands(25), (BandCount { band: 49, held: 8 }, None));
        assert_eq!(counts.most_score(25, 8), 1600);
        // Segments of 33, 33 and 34.
        let counts = SeedCounts::new(1009, (10, 3), 1618, &scoring).unwrap();
        assert_eq!(counts.segments().map(|seeds| seeds.len()).collect::<Vec<_>>(), [33, 33, 34]);
        // If all seeds may be spoilt, none is guaranteed: 608 / 6 are 101.
        assert_eq!(SeedCounts::new(1000, (10, 1), 1400, &scoring), None);
        assert!(SeedCounts::new(1000, (10, 1), 1409, &scoring).is_some());
    }

    /// The minimum excess by trying all gaps: the length of those of one kind, and what they lose.
    fn least_excess(counts: &SeedCounts, apart: usize, most: i64) -> Option<i64> {
        let SeedCounts { seed, spoil, match_, gaps, .. } = *counts;
        let deletion = |len: usize| (2 * gaps.cost(len), spoil);
        let insertion = |len: usize| {
            (2 * (gaps.cost(len) + match_ * to_i64(len)), spoil * to_i64((len + 2 * seed - 2) / seed))
        };
        let kinds: [&dyn Fn(usize) -> (i64, i64); 2] = [&deletion, &insertion];
        let least = |gap: &dyn Fn(usize) -> (i64, i64)| {
            // By the length still to reach and the loss so far.
            let mut least = vec![vec![None::<i64>; to_usize(most) + 1]; apart + 1];
            least[apart][0] = Some(0);
            for left in (1..=apart).rev() {
                for lost in 0..=to_usize(most) {
                    let Some(excess) = least[left][lost] else { continue };
                    for len in 1..=apart + 2 * seed {
                        let (loss, touched) = gap(len);
                        let (left, lost) = (left.saturating_sub(len), lost + to_usize(loss));
                        if lost <= to_usize(most) {
                            let found = excess + loss - touched;
                            let best = &mut least[left][lost];
                            *best = Some(best.map_or(found, |best| best.min(found)));
                        }
                    }
                }
            }
            least[0].iter().flatten().min().copied()
        };
        kinds.into_iter().filter_map(least).min()
    }

    #[test]
    fn distant_diagonals_lose_at_gaps() {
        let two =
            |a, b, [o, p]: [i32; 2], [e, f]: [i32; 2]| Scoring::dna(a, b, o, e).with_gap_piece(p, f).unwrap();
        let one = [Scoring::dna(2, 4, 4, 2), Scoring::dna(1, 4, 6, 1), Scoring::dna(1, 1, 0, 2)];
        let two = [two(2, 4, [4, 24], [2, 1]), two(1, 4, [6, 26], [2, 1]), two(1, 9, [0, 7], [4, 1])];
        let (mut tight, mut all) = (0, 0);
        for scoring in one.iter().chain(&two) {
            for seed in [4, 7, 12] {
                let Some(counts) = SeedCounts::new(1000, (seed, 1), 990, scoring) else { continue };
                for (apart, share) in [(1, 30), (5, 60), (12, 90), (12, 200), (30, 110), (30, 160), (45, 260)]
                {
                    let found = counts.twice_excess(share, apart);
                    match (found, least_excess(&counts, apart, share)) {
                        (Some(found), Some(least)) => {
                            assert!(found <= least, "{scoring} {seed} {apart} {share}: {found} {least}");
                            (tight, all) = (tight + i32::from(found > 0), all + i32::from(least > 0));
                        }
                        (None, least) => assert_eq!(least, None, "{scoring} {seed} {apart} {share}"),
                        (Some(_), None) => {}
                    }
                }
            }
        }
        assert!(2 * tight > all && all > 20, "{tight} of {all}");
    }

    #[test]
    fn both_widths_have_the_same_excess() {
        let mut random = Random::new(5);
        let mut below = |bits: usize| {
            let some = 1 << random.below(bits);
            1 + random.below(some)
        };
        for _ in 0..20_000 {
            let scoring =
                Scoring::dna(1 + below(8) as i32, below(14) as i32, below(14) as i32, below(14) as i32);
            let Some(counts) = SeedCounts::new(1000, (below(7), 1), 990, &scoring) else { continue };
            let counts = SeedCounts { spoil: below(36) as i64, ..counts };
            let (share, apart) = (below(36) as i64, below(20));
            let any = counts.excess_of_any(share, apart);
            assert_eq!(counts.excess_of_small(share, apart), any, "{counts:?} {share} {apart}");
        }
    }

    #[test]
    fn wide_bands_hold_more() {
        let scoring = Scoring::dna(2, 4, 4, 2);
        let counts = SeedCounts::new(5000, (7, 7), 6500, &scoring).unwrap();
        let (band, None) = counts.bands(102) else { panic!("a single band") };
        let halved = counts.narrowed(1).unwrap();
        let (narrow, Some(wide)) = halved.bands(102) else { panic!("two bands") };
        assert_eq!((narrow.band, narrow.held, wide.band), (band.band / 2, band.held, band.band));
        assert!(wide.held > band.held + 10 && wide.held <= 102, "{wide:?}");
        // Runs of residues that are not bases widen the band, and rule out a second one.
        let with_runs = counts.with_runs(12);
        assert_eq!(with_runs.bands(102), (BandCount { band: band.band + 6, ..band }, None));
        assert_eq!((with_runs.narrowed(1), with_runs.narrowed(0)), (None, Some(with_runs)));
    }

    #[test]
    fn what_scores_enough_is_not_ruled_out() {
        for (a, b, o, e) in
            [(1, 4, 6, 1), (2, 4, 4, 2), (2, 3, 5, 2), (1, 1, 0, 2), (5, 4, 9, 1), (5, 0, 0, 1)]
        {
            let scoring = Scoring::dna(a, b, o, e);
            for (len, seed, segments) in
                [(1000, 8, 1), (1000, 11, 7), (150, 10, 15), (151, 10, 4), (64, 9, 3)]
            {
                let perfect = a * len as i32;
                for least in 1..=perfect {
                    let Some(counts) = SeedCounts::new(len, (seed, segments), least, &scoring) else {
                        continue;
                    };
                    for seeds in counts.segments().map(|seeds| seeds.len()) {
                        let held = counts.bands(seeds).0.held;
                        assert!((1..=seeds).contains(&held));
                        assert!(counts.most_score(seeds, held) >= least, "{counts:?}, {seeds} seeds");
                        assert!(counts.most_score(seeds, held - 1) < least, "{counts:?}, {seeds} seeds");
                    }
                }
            }
        }
    }
}
