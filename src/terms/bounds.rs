//! Limits of an alignment of a known score: the band of its path, and the longest stretch of target that it can cover.
//! The proofs are in docs/algorithm.md.

use crate::terms::alphabet::{Alphabet, BASES, CODES, is_base, without_end};
use crate::terms::casts::{to_i32, to_i64, to_u8, to_u32};
use crate::terms::scoring::{ComparedScores, GapPiece, Scoring, Substitution};

/// With at most this many deletions, a band is narrow enough not to be narrowed by examining each residue.
const NARROW: u32 = 64;

/// Maximum net deletions and net insertions of a path between any of its cells and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    pub deletions: u32,
    pub insertions: u32,
}

impl Band {
    /// Maximum number of gaps of a path for which [`band`] gave this band. Each gap costs at least its opening, and all
    /// gaps together cost less than one more deleted residue.
    pub fn most_gaps(&self, scoring: &Scoring) -> u32 {
        to_u32(self.most_lost(scoring) / scoring.gap_cost(1))
    }

    /// Maximum loss to gaps of a path for which [`band`] gave this band: less than that of one more deleted residue.
    fn most_lost(&self, scoring: &Scoring) -> i64 {
        scoring.gap_cost((self.deletions as usize).saturating_add(1)) - 1
    }
}

/// Maximum that the query residues `codes` can add to a score.
pub fn potential(codes: &[u8], scoring: &Scoring) -> i64 {
    potentials(codes, scoring).0
}

/// The sum of the maxima that each of `codes` can add to a score, and the smallest of these.
fn potentials(codes: &[u8], scoring: &Scoring) -> (i64, i64) {
    if let Some(ComparedScores { match_, .. }) = scoring.compared() {
        // All residues that can match, A, C, G and T, have the same score. The compiler vectorizes sums of bytes, 255
        // of which cannot overflow: ten times as fast as a count.
        let count = |codes: &[u8]| usize::from(codes.iter().map(|&code| u8::from(is_base(code))).sum::<u8>());
        let matching: usize = codes.chunks(255).map(count).sum();
        let all = matching == codes.len() && match_ > 0;
        let most = to_i64(matching) * i64::from(match_) + i64::from(scoring.bonuses(codes));
        return (most, if all { i64::from(match_) } else { 0 });
    }
    if let Some(profile) = &scoring.profile {
        // The residues are those of the first positions.
        let most = |row: &[i8; CODES]| i64::from(row.iter().fold(0, |most: i8, &score| most.max(score)));
        let each = profile.rows.iter().take(codes.len()).map(most);
        return each.fold((0, i64::MAX), |(sum, least), each| (sum + each, least.min(each)));
    }
    let mut counts = [0i64; 256];
    codes.iter().for_each(|&code| counts[usize::from(code)] += 1);
    let present = (0..=255).zip(counts).filter(|&(_, count)| count > 0);
    present.fold((0, i64::MAX), |(sum, least), (code, count)| {
        let each = i64::from(scoring.potential(code));
        (sum + count * each, least.min(each))
    })
}

/// The band of every alignment of score `score` that ends after the query residues `codes`: its gaps cost at most the
/// difference between the highest score of these residues and `score`.
pub fn band(codes: &[u8], score: i32, scoring: &Scoring) -> Band {
    if let Substitution::Equal { match_, .. } = scoring.substitution {
        // As if every residue were one that can match, which is true for nearly all.
        let each = i64::from(match_.max(0));
        let lost = to_i64(codes.len()) * each + i64::from(scoring.bonuses(codes)) - i64::from(score);
        let band = band_of(codes.len(), lost, each, scoring);
        if band.deletions <= NARROW {
            return band;
        }
    }
    narrowest_band(codes, score, scoring)
}

/// Like [`band`], but examines each residue.
fn narrowest_band(codes: &[u8], score: i32, scoring: &Scoring) -> Band {
    let (most, cheapest) = potentials(codes, scoring);
    band_of(codes.len(), most - i64::from(score), cheapest, scoring)
}

/// The part of `band` that holds a path which aligns all of the query residues `codes` with all of `cols` target
/// residues. If the path has more net deletions after a cell than in total, it has that number of additional insertions
/// before the cell, and each of them costs as well. [`band`] gave `band` for the path's score.
pub fn band_of_whole(codes: &[u8], cols: u32, band: Band, scoring: &Scoring) -> Band {
    let cheapest = potentials(codes, scoring).1;
    let lost = band.most_lost(scoring);
    let in_all = i64::from(cols) - to_i64(codes.len());
    // The longest deletion and the longest insertion, for each choice of the pieces that both gaps pay.
    let (mut deletions, mut insertions) = (i64::MIN, i64::MIN);
    let pieces = || scoring.gaps().pieces().map(|piece| [piece.open, piece.extend].map(i64::from));
    for ([open, extend], [other_open, other_extend]) in
        pieces().flat_map(|one| pieces().map(move |other| (one, other)))
    {
        let (rest, each) = (lost - open - other_open, extend + other_extend + cheapest);
        deletions = deletions.max((rest + (other_extend + cheapest) * in_all).div_euclid(each));
        insertions = insertions.max((rest - other_extend * in_all).div_euclid(each));
    }
    let within = |most: u32, len: i64| to_u32(len.clamp(0, most.into()));
    Band {
        deletions: within(band.deletions, deletions.max(in_all)),
        insertions: within(band.insertions, insertions.max(-in_all)),
    }
}

/// A lower bound of the score of an alignment that ends after the query residues `codes`, if [`band`] gave this band
/// for it.
pub fn least_score(codes: &[u8], band: Band, scoring: &Scoring) -> i64 {
    potential(codes, scoring) - band.most_lost(scoring)
}

/// The band of a path in `rows` query rows that loses at most `lost` to gaps. Each inserted residue loses at least
/// `cheapest` in addition to the cost of the gap.
fn band_of(rows: usize, lost: i64, cheapest: i64, scoring: &Scoring) -> Band {
    let longest = |more: i64| to_u32(scoring.gaps().longest(lost, more).min(i64::from(u32::MAX >> 2)));
    Band { deletions: longest(0), insertions: longest(cheapest).min(to_u32(rows)) }
}

/// Maximum number of target residues that an alignment of score at least `score` can cover with the query residues
/// `codes`. In modes that align the whole query, only the best alignment that ends in a column counts, and that one
/// scores no less than a gap of all residues.
pub fn longest_span(codes: &[u8], score: i32, scoring: &Scoring) -> u32 {
    let least = match scoring.mode.is_local() {
        true => score,
        false => to_i32((-scoring.gap_cost(codes.len())).clamp(score.into(), i64::from(i32::MAX))),
    };
    narrowest_band(codes, least, scoring).deletions.saturating_add(to_u32(codes.len()))
}

/// The classes of bases that seeds distinguish. Two bases of one class are equal to a seed: if a matrix scores a read's
/// T against a reference's C like a match, both are in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedAlphabet {
    /// The class of each base, represented by one of its bases.
    classes: [u8; BASES as usize],
    /// Minimum loss of an alignment by bases of two classes, compared with the best score of two residues.
    loss: i64,
    /// Minimum loss of an alignment by a pair of residues of which at least one is not a base.
    ambiguous: i64,
}

impl SeedAlphabet {
    /// The alphabet of a scoring. `None` for proteins, and if bases of different classes may lose nothing.
    ///
    /// Every base has a class of its own unless a matrix lets two bases lose less than the best score of two residues.
    /// Such bases are joined, the pair that loses least first, while two classes are left.
    pub fn of(scoring: &Scoring) -> Option<SeedAlphabet> {
        let mut classes = std::array::from_fn(to_u8);
        let best = i64::from(scoring.max_potential());
        let letters = to_u8(scoring.alphabet.letters().len());
        if scoring.alphabet != Alphabet::Dna {
            return None;
        }
        let pairs = |codes: u8| (0..codes).flat_map(move |q| (0..codes).map(move |t| (q, t)));
        let loss = |(q, t): (u8, u8)| best - i64::from(scoring.score(q, t));
        let ambiguous = pairs(letters).filter(|&(q, t)| !is_base(q) || !is_base(t)).map(loss).min()?;
        loop {
            let is_told_apart = |&(q, t): &(u8, u8)| classes[usize::from(q)] != classes[usize::from(t)];
            let (q, t) = pairs(BASES).filter(is_told_apart).max_by_key(|&(q, t)| scoring.score(q, t))?;
            let loss = loss((q, t));
            let count = (0..BASES).filter(|&base| classes[usize::from(base)] == base).count();
            if loss >= best || count <= 2 {
                return (loss > 0).then_some(SeedAlphabet { classes, loss, ambiguous });
            }
            let [q, t] = [q, t].map(|base| classes[usize::from(base)]);
            classes.iter_mut().filter(|class| **class == q.max(t)).for_each(|class| *class = q.min(t));
        }
    }

    /// Whether every base has a class of its own.
    pub fn is_whole(&self) -> bool {
        (0..BASES).all(|base| self.classes[usize::from(base)] == base)
    }

    /// Minimum loss of an alignment by bases of two classes, compared with the best score of two residues.
    pub fn loss(&self) -> i64 {
        self.loss
    }

    /// Number of classes, weighted: a base of a random sequence is in the class of another one once in this many times.
    pub fn size(&self) -> f64 {
        let pairs =
            self.classes.iter().flat_map(|one| self.classes.iter().filter(move |other| one == *other));
        f64::from(BASES * BASES) / pairs.count() as f64
    }

    /// Minimum loss of an alignment by a pair with a residue that is not a base, if that may be less than the loss by two
    /// bases of different classes.
    pub fn ambiguous_loss(&self) -> Option<i64> {
        (self.ambiguous < self.loss).then_some(self.ambiguous)
    }

    /// The class of a base. Other codes stay as they are.
    #[inline]
    pub fn class(&self, code: u8) -> u8 {
        if is_base(code) { self.classes[usize::from(without_end(code))] } else { code }
    }
}

/// Twice the minimum loss of an alignment by a seed of `seed` bases that it covers with more than `edits` edits, where
/// bases are distinguished as in [`SeedAlphabet`]. Pairs with a residue that is not a base don't count as edits:
/// [`twice_spoilt_cheaply`] bounds what they add. `None` if the proof does not hold for the scoring.
pub fn twice_to_spoil(seed: usize, edits: usize, scoring: &Scoring) -> Option<i64> {
    let [a, loss] = match scoring.substitution {
        Substitution::Equal { match_, mismatch, .. } => [match_, match_ + mismatch].map(i64::from),
        Substitution::Matrix(_) => [i64::from(scoring.max_potential()), SeedAlphabet::of(scoring)?.loss],
    };
    let gaps = scoring.gaps();
    let GapPiece { open, extend } = gaps.lower_bound();
    let [o, e] = [open, extend].map(i64::from);
    // An insertion that affects two seeds has at least two bases, and costs `across + k * e` or more.
    let across = gaps.cost(2) - 2 * e;
    // One more edit than the search finds.
    let (seed, more) = (i64::try_from(seed).ok()?, i64::try_from(edits).ok()? + 1);
    let is_proven = seed >= more && 2 * (a + e) * (seed - more) >= across;
    is_proven.then(|| (2 * more * loss).min(2 * (o + more * e)).min(across + 2 * more * (a + e)))
}

/// Twice the maximum by which a run of at most `run` residues that are not bases may undercut the loss `spoil` (in the
/// units of [`twice_to_spoil`]) at each of the seeds that it touches, where seeds have `seed` bases and a pair with such
/// a residue loses at least `ambiguous` ([`SeedAlphabet::ambiguous_loss`]). 0 if they lose as much as other edits.
pub fn twice_spoilt_cheaply(run: usize, (seed, spoil): (usize, i64), ambiguous: i64) -> i64 {
    let spared = |pairs: usize| {
        let touched = (pairs + 2 * seed - 2) / seed.max(1);
        spoil * to_i64(touched) - 2 * ambiguous * to_i64(pairs)
    };
    // Between the numbers of pairs from which a run can touch one more seed, the loss only grows.
    let last = run.saturating_sub(2) / seed.max(1) * seed + 2;
    let pairs = [1, 2, last].into_iter().filter(|&pairs| pairs <= run);
    pairs.map(spared).max().unwrap_or(0).max(0)
}

/// Twice the maximum by which a run of `run` target residues that are not bases may undercut the loss `spoil` (in the
/// units of [`twice_to_spoil`]) at each of the seeds that it touches, in an alignment that covers the whole run. 0 if
/// the alignment always loses as much as by other edits.
///
/// Let the alignment pair `c` residues of the run, and consume `m >= c` query bases between its first and its last
/// column. The bases touch `floor((m + 2 * seed - 2) / seed)` seeds, and the alignment loses
/// `c * pair + (m - c) * inserted + (run - c) * deleted`. Without such a base, the run is part of one deletion and
/// spares nothing.
pub fn twice_spoilt_by_whole_run(run: usize, (seed, spoil): (usize, i64), losses: RunLosses) -> i64 {
    if run == 0 {
        return 0;
    }
    let RunLosses { pair, inserted, deleted, .. } = losses;
    let seed = seed.max(1);
    let spared = |bases: usize, pairs: usize| {
        let touched = (bases + 2 * seed - 2) / seed;
        let [between, left] = [bases - pairs, run - pairs].map(to_i64);
        spoil * to_i64(touched) - 2 * (pair * to_i64(pairs) + inserted * between + deleted * left)
    };
    let mut most = 0;
    let mut take = |bases: usize| {
        // The loss is linear in the number of pairs. A run of one residue has no insertion inside it.
        if bases == 1 || run > 1 {
            most = most.max(spared(bases, bases.min(run)));
            if run > 1 {
                most = most.max(spared(bases, 0));
            }
        }
    };
    // Ends of the steps on which the number of touched seeds is constant. `spoil` is at most twice the loss of `seed`
    // inserted bases, so more bases than in the first step after `run` spare no more.
    let steps = |bases: usize| bases.saturating_sub(2) / seed * seed;
    let firsts = [1, 2, 2 + steps(run), 2 + steps(run) + seed];
    let lasts = [1 + seed, 1 + run.saturating_sub(1) / seed * seed, run];
    firsts.into_iter().chain(lasts).for_each(&mut take);
    most
}

/// Minimum losses of an alignment by residues that are not bases, and by gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLosses {
    /// A pair with a residue that is not a base.
    pub pair: i64,
    /// An inserted query base.
    pub inserted: i64,
    /// A deleted target base.
    pub deleted: i64,
    /// Whether no pair with a residue that is not a base raises a score, so that an alignment need not begin or end
    /// with one.
    pub is_inside: bool,
}

impl RunLosses {
    /// The losses under a scoring. `None` if a pair with a residue that is not a base loses as much as two bases of
    /// different classes, or if seeds prove nothing.
    pub fn of(scoring: &Scoring) -> Option<RunLosses> {
        let pair = SeedAlphabet::of(scoring)?.ambiguous_loss()?;
        let best = i64::from(scoring.max_potential());
        let deleted = i64::from(scoring.gaps().lower_bound().extend);
        Some(RunLosses { pair, inserted: best + deleted, deleted, is_inside: pair >= best })
    }

    /// Twice the maximum by which a target run of `run` residues lets an alignment lose less than the loss at the seeds
    /// that it touches.
    pub fn twice_spared(self, run: usize, seed: (usize, i64)) -> i64 {
        match self.is_inside {
            true => twice_spoilt_by_whole_run(run, seed, self),
            false => twice_spoilt_cheaply(run, seed, self.pair),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_of_ambiguous_residues_may_spare() {
        // 14 bases: 5 for each spoilt seed. A run of 1 touches one seed, a run of 2 to 15 touches two.
        let spoil = |scoring: &Scoring| (14, twice_to_spoil(14, 0, scoring).unwrap());
        let cheap = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let loss = |scoring: &Scoring| SeedAlphabet::of(scoring).unwrap().ambiguous;
        let spared = |run| twice_spoilt_cheaply(run, spoil(&cheap), loss(&cheap));
        assert_eq!([0, 1, 2, 3, 400].map(spared), [0, 6, 12, 12, 12]);
        // By definition: the maximum over all numbers of pairs and all positions of the first pair.
        for (ambiguous, seed) in [(0, 5), (1, 5), (2, 3), (4, 6), (9, 6)] {
            let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(ambiguous);
            let spoil = 10;
            for run in 0..40usize {
                let touched = |pairs: usize| {
                    (0..seed).map(|first| (first + pairs - 1) / seed - first / seed + 1).max().unwrap()
                };
                let spared = |pairs: usize| {
                    spoil * touched(pairs) as i64 - 2 * (1 + i64::from(ambiguous)) * pairs as i64
                };
                let most = (1..=run).map(spared).max().unwrap_or(0).max(0);
                assert_eq!(
                    twice_spoilt_cheaply(run, (seed, spoil), loss(&scoring)),
                    most,
                    "{ambiguous} {seed} {run}"
                );
            }
        }
        let strict = Scoring::dna(1, 4, 6, 1);
        assert_eq!(twice_spoilt_cheaply(9, spoil(&strict), loss(&strict)), 0);
    }

    /// A single edit never loses less at the seeds that it affects than [`twice_to_spoil`] says.
    #[test]
    fn no_gap_spoils_seeds_more_cheaply() {
        let one = |a, b, o, e| Scoring::dna(a, b, o, e);
        let two = |(a, b): (i32, i32), [o, p]: [i32; 2], [e, f]: [i32; 2]| {
            one(a, b, o, e).with_gap_piece(p, f).unwrap()
        };
        let ont = two((2, 4), [4, 24], [2, 1]);
        assert_eq!(twice_to_spoil(12, 0, &ont), Some(12), "as with 4/2 alone");
        assert_eq!(twice_to_spoil(12, 0, &one(2, 4, 4, 2)), Some(12));
        let others =
            [one(1, 4, 6, 1), one(5, 4, 1, 9), two((1, 9), [0, 3], [9, 1]), two((1, 4), [6, 26], [2, 1])];
        for scoring in others.into_iter().chain([ont]) {
            let (gaps, best) = (scoring.gaps(), i64::from(scoring.max_potential()));
            for (seed, edits) in [(3, 0), (8, 0), (12, 0), (12, 1), (20, 3)] {
                let Some(spoil) = twice_to_spoil(seed, edits, &scoring) else { continue };
                assert!(spoil <= 2 * gaps.cost(edits + 1), "one deletion, {scoring} {seed} {edits}");
                // Every position of an insertion among consecutive seeds.
                for (first, len) in (0..seed).flat_map(|first| (1..=5 * seed).map(move |len| (first, len))) {
                    let inserted = |number: usize| {
                        let (from, to) = (first.max(number * seed), (first + len).min((number + 1) * seed));
                        to.saturating_sub(from)
                    };
                    let spoilt = (0..7).filter(|&number| inserted(number) > edits).count();
                    let lost = 2 * (gaps.cost(len) + best * to_i64(len));
                    assert!(
                        spoil * to_i64(spoilt) <= lost,
                        "{len} bases at {first}, {scoring} {seed} {edits}"
                    );
                }
            }
        }
    }

    #[test]
    fn whole_runs_spare_less_the_longer_they_are() {
        let cheap = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let losses = RunLosses::of(&cheap).unwrap();
        assert_eq!(losses, RunLosses { pair: 2, inserted: 2, deleted: 1, is_inside: true });
        let seed = (14, twice_to_spoil(14, 0, &cheap).unwrap());
        // One N: 5 - 2. Two: 10 - 4. Each more is deleted.
        assert_eq!(
            [0, 1, 2, 3, 7, 8, 20, 300].map(|run| losses.twice_spared(run, seed)),
            [0, 6, 12, 10, 2, 0, 0, 0]
        );
        assert_eq!(RunLosses::of(&Scoring::dna(1, 4, 6, 1)), None);
        // By definition: the maximum over all numbers of pairs and bases, and all positions of the first base.
        let schemes = [(1, 4, 6, 1), (2, 4, 4, 2), (1, 1, 0, 2), (5, 4, 9, 1), (1, 2, 2, 1), (1, 9, 9, 4)];
        for (number, (a, b, o, e)) in schemes.into_iter().enumerate() {
            for ambiguous in [0, 1, 2, 3] {
                let scoring = Scoring::dna(a, b, o, e).with_ambiguous(ambiguous);
                let Some(losses) = RunLosses::of(&scoring) else { continue };
                for (seed, edits) in [(4, 0), (6, 0), (7, 1), (11, 3), (14, 0)] {
                    let Some(spoil) = twice_to_spoil(seed, edits, &scoring) else { continue };
                    for run in 0..40usize {
                        let touched = |bases: usize| {
                            let from = |first: usize| (first + bases - 1) / seed - first / seed + 1;
                            to_i64((0..seed).map(from).max().unwrap())
                        };
                        let spared = |bases: usize, pairs: usize| {
                            let lost = losses.pair * to_i64(pairs)
                                + losses.inserted * to_i64(bases - pairs)
                                + losses.deleted * to_i64(run - pairs);
                            spoil * touched(bases) - 2 * lost
                        };
                        let all = (1..=run + 3 * seed).flat_map(|bases| {
                            let pairs = 0..=bases.min(run);
                            pairs.map(move |pairs| (bases, pairs))
                        });
                        let all = all.filter(|&(bases, pairs)| run > 0 && (run > 1 || bases == pairs));
                        let most = all.map(|(bases, pairs)| spared(bases, pairs)).max().unwrap_or(0).max(0);
                        let found = twice_spoilt_by_whole_run(run, (seed, spoil), losses);
                        assert_eq!(found, most, "scheme {number}, {ambiguous}, {seed} {edits}, {run}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_band_by_hand() {
        // 150 matches at 1 less a score of 130 leave 20: one deletion of 6 + 14, or one insertion of
        // k with 6 + k + k <= 20.
        let scoring = Scoring::dna(1, 4, 6, 1);
        let codes = [0u8; 150];
        assert_eq!(band(&codes, 130, &scoring), Band { deletions: 14, insertions: 7 });
        assert_eq!(band(&codes, 144, &scoring), Band { deletions: 0, insertions: 0 });
        assert_eq!(band(&codes, 143, &scoring), Band { deletions: 1, insertions: 0 });
        for score in 1..=150 {
            for scoring in [Scoring::dna(1, 4, 6, 1), Scoring::dna(1, 4, 6, 3)] {
                let least = least_score(&codes, band(&codes, score, &scoring), &scoring);
                assert!(
                    least <= score.into() && (score > 141 || least > i64::from(score - 3)),
                    "{score} {least}"
                );
            }
        }
        assert_eq!(longest_span(&codes, 130, &scoring), 164);
        assert_eq!(band(&codes, 130, &scoring).most_gaps(&scoring), 2, "20 pay for two gaps of 7");
        assert_eq!(band(&codes, 129, &scoring).most_gaps(&scoring), 3);
        assert_eq!(band(&codes, 144, &scoring).most_gaps(&scoring), 0);
        let linear = Scoring::dna(1, 1, 0, 2);
        assert_eq!(band(&codes, 139, &linear), Band { deletions: 5, insertions: 3 });
        assert_eq!(band(&codes, 139, &linear).most_gaps(&linear), 5);
    }

    #[test]
    fn the_band_of_a_whole_pair_by_hand() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        let codes = [0u8; 150];
        let wide = band(&codes, 100, &scoring);
        assert_eq!(wide, Band { deletions: 44, insertions: 22 });
        let of_whole = |cols: u32| band_of_whole(&codes, cols, wide, &scoring);
        // Both gaps open for 12 of the 50, and k residues in each cost 3 k.
        assert_eq!(of_whole(150), Band { deletions: 12, insertions: 12 });
        // 10 more deletions than insertions: 6 + d + 6 + 2 (d - 10), and 6 + 2 k + 6 + k + 10.
        assert_eq!(of_whole(160), Band { deletions: 19, insertions: 9 });
        assert_eq!(of_whole(140), Band { deletions: 6, insertions: 16 });
        assert_eq!(of_whole(194), Band { deletions: 44, insertions: 0 });
        assert_eq!(of_whole(128), Band { deletions: 0, insertions: 22 });
        // No path of this score.
        assert_eq!(of_whole(250), Band { deletions: 44, insertions: 0 });
    }

    #[test]
    fn residues_that_match_nothing_are_seen_where_it_matters() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        let codes: Vec<u8> = (0..150).map(|k| if k < 100 { 14 } else { 0 }).collect();
        assert_eq!(band(&codes, 44, &scoring), Band::default());
        assert_eq!(band(&codes, 43, &scoring), Band { deletions: 1, insertions: 1 });
        // 9 of 159 that could not have matched.
        let codes: Vec<u8> = (0..159).map(|k| if k < 9 { 14 } else { 0 }).collect();
        assert_eq!(band(&codes, 130, &scoring), Band { deletions: 23, insertions: 11 });
    }
}
