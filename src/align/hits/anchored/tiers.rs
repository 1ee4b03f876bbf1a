//! Minimum scores down to which a query's hits are proven: definition of both tiers.

use super::supported::{self, ProvenByBoxes};
use crate::align::candidates::IndexShape;
use crate::align::candidates::ambiguous::{AmbiguousRuns, QueryShape, TargetRuns, allowance, columns_of};
use crate::align::candidates::boxes::RunSupport;
use crate::align::candidates::seed_scores::SeedScores;
use crate::align::quality::{QualityScores, Typical};
use crate::align::significance::Ungapped;
use crate::terms::alignment::Tier;
use crate::terms::bounds::{RunLosses, twice_to_spoil};
use crate::terms::casts::{to_i32, to_u32, whole_i32};
use crate::terms::scoring::{GapPiece, Scoring};

/// Queries of this many bases or more are long: their tier depends on the targets that support them.
pub const LONG: usize = 400;
/// Maximum number of cells of the chance windows of a query on the level that proves its minimum score.
const PROVEN_CELLS: f64 = (1u64 << 17) as f64;
/// Maximum number of cells of a full search that proves all scores.
const FULL_CELLS: f64 = (1u64 << 23) as f64;
/// Lengths of the seeds that prove a score, in bases.
const SEEDS: std::ops::RangeInclusive<usize> = 6..=32;
/// Maximum expected number of chance hits of a query at the proven minimum score.
const BY_CHANCE: f64 = 0.001;

/// Minimum scores of the two tiers, by the length of the query and its runs of ambiguous codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Bases of an exact run; 0 if there is no second tier.
    pub anchor: u32,
    /// Score that an exact run reaches with its ungapped extensions on a target that long queries are searched on.
    pub run_score: i32,
    /// Minimum score of the second tier and of long queries.
    pub least: i32,
    /// Minimum score of the first tier for queries of bases only, by the length of the query.
    proven: Vec<i32>,
    /// What raises these scores for other queries. `None` if nothing does.
    raised: Option<Raised>,
    /// Queries of this many bases or more are long.
    long: usize,
    /// Whether no target supports a long query, so that all are searched in their boxes.
    pub is_boxed: bool,
    /// Whether the references are so large that long queries are searched in the boxes of their supported runs alone.
    pub is_large: bool,
    /// What these boxes prove.
    by_boxes: Option<ProvenByBoxes>,
    /// The scores of typical pairs, and the end bonuses of a query, if further hits on large references must lower the
    /// mapping quality.
    of_quality: Option<(Typical, i32)>,
}

/// The references, as far as minimum scores depend on them.
#[derive(Clone, Copy, Debug)]
pub struct SearchSpace<'a> {
    /// Residues of all references, on each strand.
    pub columns: u64,
    /// Runs of residues that are not bases in all references, if ambiguous codes cost less than other edits.
    pub runs: Option<&'a TargetRuns>,
    /// The k-mers of an index of all references.
    pub shape: IndexShape,
}

impl Tiers {
    /// Tiers for queries against all references. No hit scores less than `floor`, and none of the second tier less than
    /// `run_score`.
    pub fn new(scoring: &Scoring, space: SearchSpace, floor: i32, (anchor, run_score): (u32, i32)) -> Tiers {
        let SearchSpace { columns, runs, shape } = space;
        let chance = Chance::new(scoring);
        // A query gets a full search if that takes few cells.
        let is_small = |len: usize| len as f64 * columns as f64 <= FULL_CELLS;
        let by_seeds: Vec<Option<BySeeds>> = (0..LONG)
            .map(|len| if is_small(len) { None } else { BySeeds::new(scoring, space, len) })
            .collect();
        let proven = |(len, seeds): (usize, &Option<BySeeds>)| match is_small(len) {
            true => floor,
            false => seeds.map_or(0, |seeds| seeds.least).max(floor).max(chance.least_score(columns, len)),
        };
        let proven = by_seeds.iter().enumerate().map(proven).collect();
        let long = if anchor > 0 && !is_small(LONG) { LONG } else { usize::MAX };
        let raised = RunLosses::of(scoring).map(|losses| Raised { loss: losses.pair, by_seeds });
        let is_large = anchor > 0 && shape.step > 1;
        let prove = || ProvenByBoxes::new(scoring, anchor as usize, runs);
        let by_boxes = if is_large { prove() } else { None };
        let least = run_score.max(floor);
        let (is_boxed, of_quality) = (false, None);
        Tiers { anchor, run_score, least, proven, raised, long, is_boxed, is_large, by_boxes, of_quality }
    }

    /// Tiers with these minimum scores of the first tier, by length. No query is long.
    pub fn of_lengths(anchor: u32, least: i32, proven: Vec<i32>) -> Tiers {
        let long = usize::MAX;
        let (raised, is_boxed, is_large, by_boxes, of_quality) = (None, false, false, None, None);
        let run_score = least;
        Tiers { anchor, run_score, least, proven, raised, long, is_boxed, is_large, by_boxes, of_quality }
    }

    /// The same tiers, in which queries of `long` bases or more are long.
    pub fn with_long(self, long: usize) -> Tiers {
        Tiers { long, ..self }
    }

    /// The same tiers, in which no target supports a long query.
    pub fn boxed(self) -> Tiers {
        Tiers { is_boxed: true, ..self }
    }

    /// The same tiers, for references that count as large.
    pub fn large(self, scoring: &Scoring) -> Tiers {
        let by_boxes = ProvenByBoxes::new(scoring, self.anchor as usize, None);
        Tiers { is_large: true, by_boxes, ..self }
    }

    /// The same tiers. On large references, a further hit must lower the mapping quality.
    pub fn with_quality(self, scoring: &Scoring) -> Tiers {
        let of_quality = (Typical::of(scoring), scoring.end_bonus.saturating_mul(2));
        Tiers { of_quality: self.is_large.then_some(of_quality), ..self }
    }

    /// Which further hits of a query of `len` bases count, besides the limit on their share of the best score.
    pub fn quality_scores(&self, len: usize) -> Option<QualityScores> {
        let (typical, bonuses) = self.of_quality?;
        Some(QualityScores { typical, len: to_u32(len.max(1)), bonuses, tier: Tier::Proven })
    }

    /// Whether a further hit must lower the mapping quality.
    pub fn has_quality(&self) -> bool {
        self.of_quality.is_some()
    }

    /// Which runs of a query of `len` bases have a box on large references.
    pub fn support(&self, len: usize) -> RunSupport {
        supported::support(len, self.anchor as usize)
    }

    /// The score from which the hits of a long query on large references are proven: by its pieces, or in the boxes of its
    /// supported runs. `None` if none are.
    pub fn proven_long(&self, query: &[u8]) -> Option<i32> {
        let in_boxes = self.by_boxes.as_ref()?.least_score(query);
        in_boxes.into_iter().chain(self.proven_by_pieces(query)).min()
    }

    /// The same by its pieces.
    pub fn proven_by_pieces(&self, query: &[u8]) -> Option<i32> {
        self.by_boxes.as_ref()?.least_by_pieces(query)
    }

    /// Maximum by which runs of residues that are not bases in the references raise the score of an alignment of a long query of
    /// `len` bases on large references. `None` without a bound.
    pub fn spared(&self, len: usize) -> Option<i32> {
        self.by_boxes.as_ref()?.spared(len)
    }

    /// Minimum score down to which the hits of a query are proven. `None` for long queries.
    pub fn proven(&self, query: &[u8]) -> Option<i32> {
        let len = query.len();
        if self.is_long(len) {
            return None;
        }
        let of_bases = self.proven.get(len).or(self.proven.last()).copied().unwrap_or(self.least);
        let raised = || self.raised.as_ref()?.least_score(query);
        Some(raised().map_or(of_bases, |raised| raised.max(of_bases)))
    }

    /// Whether a query of `len` bases is long.
    pub fn is_long(&self, len: usize) -> bool {
        len >= self.long
    }

    /// Whether any query can be long.
    pub fn has_long(&self) -> bool {
        self.long < usize::MAX
    }

    /// Whether queries with ambiguous codes have higher minimum scores than others.
    pub fn has_raised(&self) -> bool {
        self.raised.as_ref().is_some_and(|raised| raised.by_seeds.iter().any(Option::is_some))
    }

    /// Minimum score of a query in its first search.
    pub fn least_score(&self, query: &[u8]) -> i32 {
        self.proven(query).unwrap_or(self.least)
    }

    /// The lowest and the highest of the first tier's minimum scores, for queries of bases only.
    pub fn range(&self) -> (i32, i32) {
        let [lowest, highest] = [self.proven.iter().min(), self.proven.iter().max()];
        (lowest.copied().unwrap_or(self.least), highest.copied().unwrap_or(self.least))
    }
}

/// The lowest score that seeds of one length prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BySeeds {
    /// Length of the seeds, and their loss ([`twice_to_spoil`]).
    seed: (usize, i64),
    /// The score for queries of bases only.
    least: i32,
}

impl BySeeds {
    /// The lowest score that seeds prove for a query of `len` bases within [`PROVEN_CELLS`]. Runs of ambiguous codes in
    /// the targets raise it, and so do end bonuses. `None` if no seeds do.
    fn new(scoring: &Scoring, space: SearchSpace, len: usize) -> Option<BySeeds> {
        let SearchSpace { columns, runs, shape, .. } = space;
        // A sampled index finds no shorter seeds.
        let shortest = shape.least_seed().max(*SEEDS.start());
        let columns = columns as f64;
        let perfect = scoring.max_potential() * to_i32(len);
        let least = |seed: usize| {
            // An alignment without an intact seed scores no more.
            let most = SeedScores::new(len, seed, 0, scoring)?.most_score(0);
            let slack = |piece: GapPiece| f64::from((perfect - most - piece.open).max(0));
            let longest = |piece: GapPiece| 2.0 * slack(piece) / f64::from(piece.extend.max(1));
            let window = len as f64 + scoring.gaps().pieces().map(longest).fold(0.0, f64::max);
            let by_chance = (len / seed) as f64 * columns / 4f64.powi(to_i32(seed));
            (by_chance * window * len as f64 <= PROVEN_CELLS).then_some((seed, most + 1))
        };
        let (seed, least) = (shortest..=*SEEDS.end()).find_map(least)?;
        let raised = runs.map_or(Some(0), |runs| {
            let columns = columns_of(len, least, scoring);
            allowance(len.into(), (runs, columns), (seed, 0), scoring)
        });
        let seed = (seed, twice_to_spoil(seed, 0, scoring)?);
        let raised = raised?.saturating_add(2 * scoring.end_bonus);
        Some(BySeeds { seed, least: least.saturating_add(raised) })
    }
}

/// The minimum scores of queries with ambiguous codes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Raised {
    /// Minimum loss of a pair with an ambiguous code.
    loss: i64,
    /// The seeds that prove scores, by the length of the query.
    by_seeds: Vec<Option<BySeeds>>,
}

impl Raised {
    /// The score that seeds prove for a query with ambiguous codes. `None` for other queries, and if no seeds do.
    fn least_score(&self, query: &[u8]) -> Option<i32> {
        let BySeeds { seed, least } = (*self.by_seeds.get(query.len()).or(self.by_seeds.last())?)?;
        let QueryShape { runs, .. } = QueryShape::of(query);
        let twice = runs.twice_spared(seed, self.loss);
        (runs != AmbiguousRuns::default()).then(|| least.saturating_add(to_i32(twice / 2 + twice % 2)))
    }
}

/// Scores that alignments of random bases reach (Karlin and Altschul 1990), without gaps.
struct Chance {
    /// `None` if the expected score of two bases is not negative.
    lambda: Option<f64>,
}

impl Chance {
    fn new(scoring: &Scoring) -> Chance {
        Chance { lambda: Ungapped::new(scoring).map(|ungapped| ungapped.lambda) }
    }

    /// The lowest score that random alignments of a query of `len` bases are expected to reach no more than
    /// [`BY_CHANCE`] times. K is assumed to be 1, its upper bound.
    fn least_score(&self, columns: u64, len: usize) -> i32 {
        let Some(lambda) = self.lambda else { return 0 };
        let places = len.max(1) as f64 * columns.max(1) as f64;
        whole_i32(((places / BY_CHANCE).ln() / lambda).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::casts::to_usize;

    /// Both strands of references with an index of the usual shape.
    fn space(columns: u64, runs: Option<&TargetRuns>) -> SearchSpace<'_> {
        SearchSpace { columns, runs, shape: IndexShape::suited(to_usize(columns / 2)) }
    }

    #[test]
    fn least_scores_of_reads() {
        let tiers = |columns| Tiers::new(&Scoring::dna(1, 4, 6, 1), space(columns, None), 20, (19, 30));
        let bases = |len: usize| vec![0u8; len];
        // Both strands of a plasmid, of SARS-CoV-2, of E. coli and of a gigabase.
        let at = |columns: u64, len| tiers(columns).proven(&bases(len));
        for (columns, expected) in [
            (3_000, [Some(20), Some(20), Some(20)]),
            (2 * 29_903, [Some(20), Some(20), Some(84)]),
            (2 * 4_641_652, [Some(20), Some(35), Some(100)]),
            (500_000_000, [Some(24), Some(45), Some(115)]),
        ] {
            assert_eq!([24, 50, 150].map(|len| at(columns, len)), expected, "{columns} columns");
        }
        assert_eq!((at(100, 5000), at(2_000_000, 400), at(2_000_000, 5000)), (Some(20), None, None));
        let without = Tiers::new(&Scoring::dna(1, 4, 6, 1), space(2_000_000, None), 20, (0, 30));
        assert!(without.proven(&bases(5000)).is_some());
        // Doubling the scores doubles the minimum scores, or doubles them minus one.
        let doubled = Tiers::new(&Scoring::dna(2, 8, 12, 2), space(9_283_304, None), 40, (19, 60));
        let single = tiers(9_283_304);
        for len in 0..LONG {
            let (two, one) = (doubled.proven(&bases(len)).unwrap(), single.proven(&bases(len)).unwrap());
            assert!((2 * one - 1..=2 * one).contains(&two), "{len}: {two}, {one}");
        }
    }

    /// Their index has several segments, which change no score.
    #[test]
    fn pieces_prove_scores_of_references_of_any_size() {
        let query = vec![0u8; 15_000];
        let scoring = Scoring::dna(1, 4, 6, 2).with_gap_piece(26, 1).unwrap();
        for columns in [1 << 29, 1 << 34] {
            let tiers = Tiers::new(&scoring, space(columns, None), 20, (19, 30));
            let proven = (tiers.proven_long(&query), tiers.proven_by_pieces(&query));
            assert_eq!(proven, (Some(12_951), Some(12_951)), "{columns} columns");
        }
    }

    #[test]
    fn runs_of_n_raise_scores() {
        let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
        let columns = 2 * 4_641_652;
        let tiers = |codes: &[u8]| {
            let runs = TargetRuns::of(codes, &scoring).unwrap();
            Tiers::new(&scoring, space(columns, Some(&runs)), 20, (19, 30))
        };
        let plain = Tiers::new(&Scoring::dna(1, 4, 6, 1), space(columns, None), 20, (19, 30));
        // Reads of 150 with these runs: 3 for each N, and 6 for each longer run.
        let read = |every: usize, run: usize, count: usize| {
            let mut read = vec![0u8; 150];
            (0..count).for_each(|place| read[5 + every * place..][..run].fill(14));
            read
        };
        let of = |tiers: &Tiers, read: &[u8]| tiers.proven(read).unwrap();
        let clean = tiers(&[0; 1000]);
        assert!(clean.has_raised() && !plain.has_raised());
        for len in 0..LONG {
            assert_eq!(clean.proven(&vec![0; len]), plain.proven(&vec![0; len]));
        }
        assert_eq!(of(&plain, &read(7, 1, 20)), 100);
        assert_eq!(
            [read(7, 1, 0), read(7, 1, 1), read(7, 1, 20), read(30, 12, 2)].map(|read| of(&clean, &read)),
            [100, 103, 160, 112]
        );
        // The minimum score of a short query is that of chance, unless codes raise that of its seeds.
        assert_eq!([0, 1].map(|run| of(&clean, &read(7, run, 1)[..24])), [20, 22]);
        // Three isolated codes in a window of targets, and a long run. A stretch with many isolated codes is searched
        // for every query.
        let mut codes = vec![0u8; 5000];
        codes[1000..1400].fill(14);
        assert_eq!(of(&tiers(&codes), &read(7, 1, 0)), 100);
        [2000, 2100, 2190, 3000].into_iter().for_each(|place| codes[place] = 14);
        assert_eq!([0, 2].map(|count| of(&tiers(&codes), &read(7, 1, count))), [109, 115]);
        (4000..4500).step_by(10).for_each(|place| codes[place] = 14);
        assert_eq!([0, 2].map(|count| of(&tiers(&codes), &read(7, 1, count))), [110, 116]);
    }

    #[test]
    fn chance_is_rare() {
        let chance = Chance::new(&Scoring::dna(1, 4, 6, 1));
        // ln(150 * 1e7 / 0.001) / 1.383
        assert_eq!(chance.least_score(10_000_000, 150), 21);
        assert_eq!(Chance::new(&Scoring::dna(3, 1, 1, 1)).least_score(10_000_000, 150), 0);
    }
}
