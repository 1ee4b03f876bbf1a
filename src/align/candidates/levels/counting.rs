//! Levels that count seeds: chooses seed length and number of seeds per segment by expected cost.

use super::{Field, FilterCosts, Level, LevelGuarantee, SeedKind};
use crate::align::candidates::ambiguous::QueryShape;
use crate::align::candidates::seed_counts::{BandCount, SeedCounts};
use crate::align::candidates::tally::DiagonalBins;
use crate::terms::casts::to_i32;
use std::ops::RangeInclusive;

/// How often the widest band is halved for a narrow one.
const NARROWED: RangeInclusive<u32> = 0..=3;
/// Approximate numbers of seeds per segment. The longest segment still fits a count.
const SEGMENTS: [usize; 15] = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096, 1 << 15];
/// Factor by which chance seed matches are assumed to exceed those in random bases.
const SKEW: f64 = 2.0;

/// The level with the lowest expected cost for a query, for all alignments of at least `least`, with seeds of at most
/// `most` bases. `None` if no level pays.
pub fn level(field: &Field, (query, least): (QueryShape, i32), most: usize) -> Option<Level> {
    let len = query.len;
    let levels = (field.least_seed..=most.min(len)).flat_map(|seed| {
        let seeds = len / seed;
        let sizes = SEGMENTS.into_iter().take_while(move |&size| size < 2 * seeds);
        sizes.flat_map(move |size| with(field, (query, least), (seed, (seeds / size).max(1)), NARROWED))
    });
    levels.min_by(|a, b| a.cells(len).total_cmp(&b.cells(len)))
}

/// The level with the seeds, the number of segments and the narrow band of another query's level. `None` if it does not
/// guarantee anything, or does not pay.
pub fn with_shape_of(field: &Field, (query, least): (QueryShape, i32), other: &Level) -> Option<Level> {
    let LevelGuarantee::Counted(counts) = &other.known else { return None };
    let shape = (counts.seed(), counts.segments().count().min(query.len / counts.seed()));
    with(field, (query, least), shape, counts.narrowing()..=counts.narrowing()).next()
}

/// The levels with seeds of `seed` bases in `segments` segments, by how often the widest band is halved for the narrow one.
fn with(
    field: &Field,
    (query, least): (QueryShape, i32),
    (seed, segments): (usize, usize),
    narrowed: RangeInclusive<u32>,
) -> impl Iterator<Item = Level> {
    let counts = || {
        let allowance =
            field.allowance((query, least.saturating_sub(field.bonuses(query.len))), (seed, 0))?;
        let least = least.saturating_sub(allowance);
        let counts = SeedCounts::new(query.len, (seed, segments), least, &field.scoring)?;
        Some((field.with_runs(query, counts), allowance))
    };
    let of = move |(counts, allowance): (SeedCounts, i32)| {
        let counts = narrowed.clone().filter_map(move |times| counts.narrowed(times));
        counts.filter_map(move |counts| counted(field, (query, least), (counts, allowance)))
    };
    counts().into_iter().flat_map(of)
}

/// The level that counts seeds like this. `None` if it does not pay.
fn counted(
    field: &Field,
    (query, least): (QueryShape, i32),
    (counts, allowance): (SeedCounts, i32),
) -> Option<Level> {
    let (len, seed) = (query.len, counts.seed());
    let (seeds, segments) = (len / seed, counts.segments().count());
    let (narrow, wide) = counts.bands(seeds / segments);
    let bins = DiagonalBins::new(len, field.letters, narrow.band);
    let density = SKEW / field.alphabet.powi(to_i32(seed));
    let strands = f64::from(field.strands);
    let all_bins = (bins.count() * segments) as f64 * strands;
    let (mut by_chance, mut of_hot) = (0.0, 0.0f64);
    for BandCount { band, held } in [narrow].into_iter().chain(wide) {
        let sides = bins.side_by_side(band);
        let bands = field.columns() / (sides * bins.width()) as f64 * segments as f64;
        let in_bin = (seeds / segments) as f64 * bins.width() as f64 * density;
        by_chance += bands * most_likely(in_bin * sides as f64, held as f64);
        of_hot = of_hot.max(all_bins * most_likely(in_bin, f64::from(bins.share(sides, held))));
    }
    // Adjacent bins form one window, which is no longer than the targets.
    let columns = (1.0 + by_chance) * field.window(len, least).min(field.letters as f64);
    let FilterCosts { place, counted, bin, hot, .. } = field.costs;
    let looked_up = seeds as f64 * strands * place;
    let places = seeds as f64 * field.columns() * density;
    let seeding =
        looked_up + places * counted + of_hot.min(places) * hot + (all_bins * bin).min(places * counted);
    let known = LevelGuarantee::Counted(counts);
    let kind = SeedKind::Index;
    let level = Level { kind, seed, edits: 0, least, allowance, known, by_chance, columns, seeding };
    // For a long query, counts show whether it occurs at all, so a window may be a whole strand.
    (level.cells(len) <= field.most(len)).then_some(level)
}

/// Upper bound on the probability of `needed` or more independent events when `expected` are expected (Chernoff 1952).
fn most_likely(expected: f64, needed: f64) -> f64 {
    if needed <= expected { 1.0 } else { (needed - expected - needed * (needed / expected).ln()).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::batch::Sequences;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    #[test]
    fn unlikely_counts_are_bounded() {
        assert_eq!(most_likely(3.0, 2.0), 1.0);
        // P(X >= 10) for a mean of 3 is 0.0011.
        assert!((0.0011..0.007).contains(&most_likely(3.0, 10.0)));
        assert!(most_likely(3.5, 36.0) < 1e-20);
    }

    #[test]
    fn long_reads_have_levels_and_short_seeds_reach_further() {
        let targets: Sequences = [&vec![0u8; 5_000_000][..]].into_iter().collect();
        let scoring = Arc::new(Scoring::dna(2, 4, 4, 2));
        let field = Field { kmer: 12, least_seed: 6, ..Field::new(&targets, &scoring, 2) };
        let at = |share: i32| level(&field, (5000.into(), 100 * share), 12);
        let [quick, low] = [at(80), at(68)].map(Option::unwrap);
        assert!(quick.seed > low.seed && quick.cells(5000) < low.cells(5000));
        assert!(low.by_chance < 1.0 && low.cells(5000) * 50.0 < field.whole(5000), "{low:?}");
        assert_eq!(at(40), None, "all seeds may be spoilt");
        let whole = level(&field, (5_000_000.into(), 9_900_000), 12).expect("a strand is half of all");
        assert!(whole.columns <= 5_000_100.0, "{whole:?}");
        let forward = Field { strands: 1, ..field.clone() };
        assert_eq!(level(&forward, (5_000_000.into(), 9_900_000), 12), None, "that is all there is");
        assert_eq!(level(&field, (5000.into(), 6800), low.seed - 1).unwrap().seed, low.seed - 1);
    }
}
