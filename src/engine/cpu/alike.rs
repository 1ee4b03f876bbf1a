//! Long pairs that are similar from end to end. For most of their cells a bound proves that no alignment with the best
//! score passes through them (docs/algorithm.md, section 23).

use super::Cpu;
use super::score::Width;
use super::simd::InstructionSet;
use super::strip::{PrunedSweep, PrunedTrace, Rectangle};
use super::trace::BandShape;
use crate::engine::potential::PotentialBehind;
use crate::engine::{Block, Paths, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::has_ends;
use crate::terms::batch::{Batch, Pair, sweeps};
use crate::terms::bounds::least_score;
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::error::EngineError;
use rayon::prelude::*;

/// Minimum number of rows and columns for which this is tried.
const SIDE: usize = 2048;
/// The same if the score that counts is known.
const SHORT_SIDE: usize = 256;
/// Maximum number of columns of such a sweep, which a thread computes alone. It keeps up to 16 bytes for each.
const MOST_COLUMNS: usize = 1 << 22;
/// Inverse of the fraction of cells that may be computed, if the same thread would otherwise compute all cells.
pub const SHARE: u64 = 3;
/// Inverse of the share of a query's rows in which alignments with a known score may begin, so that the reversed sequences are
/// not considered.
const FEW_BEGINNINGS: usize = 16;
/// Time of a step of a strip, in vectors of a whole sweep's cells.
const STEP: u64 = 2;
/// Maximum number of sweeps of a query. Queries with more are pieces of one long search, which are rarely similar.
const MOST_PAIRS: usize = 4;
/// Approximate number of direction words that are kept at once.
const KEPT: usize = 1 << 20;
/// Cells of a first sweep between two fronts; and the number of columns of fronts that are kept, 8 bytes each.
const BETWEEN_FRONTS: u64 = 1 << 26;
const FRONT_COLUMNS: usize = 1 << 22;

impl Cpu {
    /// The hits of the pairs that are alone in their sweep and similar, if at most one in `share` of their cells must
    /// be computed. Only pairs with at least `cols` columns are tried, and none if `share` is [`u64::MAX`].
    pub fn score_alike(&self, batch: &Batch, pairs: &[Pair], cols: usize, share: u64) -> Vec<Option<HitEnd>> {
        let is_long = |pair: &Pair| pair.cols() as usize >= cols.max(SIDE);
        if share == u64::MAX || !pairs.iter().any(is_long) {
            return vec![None; pairs.len()];
        }
        let sweeps: Vec<&[Pair]> = sweeps(pairs).collect();
        let share = share.saturating_mul(threads_each(pairs.iter().filter(|pair| is_long(pair)).count()));
        let score = |sweep: &&[Pair]| match sweep {
            [pair] if is_long(pair) => vec![score_alike(self.set, batch, pair, share)],
            _ => vec![None; sweep.len()],
        };
        let of_query = |sweeps: &[&[Pair]]| match sweeps.len() <= MOST_PAIRS {
            true => sweeps.iter().flat_map(score).collect(),
            false => vec![None; sweeps.iter().map(|sweep| sweep.len()).sum()],
        };
        let queries: Vec<&[&[Pair]]> = sweeps.chunk_by(|one, next| one[0].query == next[0].query).collect();
        queries.par_iter().flat_map_iter(|sweeps| of_query(sweeps)).collect()
    }

    /// The paths of the long windows for which at most one in `share` of all cells must be computed, and hardly more
    /// than their bands have. The other windows get none.
    pub fn trace_alike(&self, batch: &Batch, windows: &[Window], share: u64) -> Result<Paths, EngineError> {
        let mut paths = Paths::none(windows.len());
        let is_long = |&place: &u32| {
            let window = &windows[place as usize];
            share < u64::MAX && window.query_end.min(window.cols()) as usize >= SIDE
        };
        let long: Vec<u32> = (0..to_u32(windows.len())).filter(is_long).collect();
        let share = share.saturating_mul(threads_each(long.len()));
        let trace =
            |&place: &u32| Ok((place, trace_alike(self.set, batch, &windows[place as usize], share)?));
        let traced = long.par_iter().map(trace).collect::<Result<Vec<_>, EngineError>>()?;
        let (places, runs): (Vec<u32>, Vec<Vec<u32>>) =
            traced.into_iter().filter_map(|(place, runs)| Some((place, runs?))).unzip();
        paths.put_all(&places, Paths::of(runs));
        Ok(paths)
    }
}

/// Threads available to each of `count` pairs. They would share a pair if all its cells were computed; here one thread
/// computes a pair alone.
fn threads_each(count: usize) -> u64 {
    (rayon::current_num_threads() / count.max(1)).max(1) as u64
}

/// Number of vectors of cells of a whole sweep.
fn vectors(set: InstructionSet, rows: usize, cols: usize) -> u64 {
    rows.div_ceil(set.lanes(Width::W16.bytes())) as u64 * cols as u64
}

/// The hit of a similar pair, if at most one in `share` of its cells must be computed.
pub fn score_alike(set: InstructionSet, batch: &Batch, pair: &Pair, share: u64) -> Option<HitEnd> {
    let scoring = &batch.scoring;
    let query = batch.query(pair.query);
    let target = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
    let shorter = query.len().min(target.len());
    if shorter < SIDE {
        return None;
    }
    let potential = PotentialBehind::new(query, target, scoring).filter(PotentialBehind::is_alike)?;
    let most = vectors(set, query.len(), target.len()) / (STEP * share);
    let rectangle = Rectangle { query, target, scoring };
    let own = (pair.own - pair.start) as usize;
    let (potential, least) = (&potential, None);
    let hit = set.run(PrunedSweep { rectangle, own, potential, least, most })?;
    Some(HitEnd { target_end: hit.target_end + pair.start, ..hit })
}

/// The hit of a pair, if it scores at least `least`, or else a hit that scores less. Takes much less time than the score if
/// few cells allow `least`, and is `None` if many do, and for short pairs and very long targets.
pub fn score_at_least(set: InstructionSet, batch: &Batch, pair: &Pair, least: i32) -> Option<HitEnd> {
    let scoring = &batch.scoring;
    let query = batch.query(pair.query);
    let target = &batch.target(pair.target)[pair.start as usize..pair.end as usize];
    if query.len().min(target.len()) < SHORT_SIDE || target.len() > MOST_COLUMNS {
        return None;
    }
    let potential = &PotentialBehind::new(query, target, scoring)?;
    if potential.whole() < least {
        return Some(HitEnd::default());
    }
    let most = vectors(set, query.len(), target.len()) / (2 * STEP);
    let (rectangle, own) = (Rectangle { query, target, scoring }, (pair.own - pair.start) as usize);
    let first_rows = rows_of_beginnings(potential, least);
    if first_rows * FEW_BEGINNINGS > query.len() && !has_ends(query) {
        // If the query begins with residues that are unlike the target, alignments begin in fewer rows of the reversed
        // sequences.
        let [query, target] = [query, target].map(|codes| codes.iter().rev().copied().collect::<Vec<u8>>());
        let (query, target) = (&*query, &*target);
        let potential = &PotentialBehind::new(query, target, scoring)?;
        if rows_of_beginnings(potential, least) < first_rows {
            let rectangle = Rectangle { query, target, scoring };
            let hit = set.run(PrunedSweep { rectangle, own: 0, potential, least: Some(least), most })?;
            // The first best cell is not known.
            return (hit.score < least).then(HitEnd::default);
        }
    }
    let hit = set.run(PrunedSweep { rectangle, own, potential, least: Some(least), most })?;
    Some(if hit.is_none() { hit } else { HitEnd { target_end: hit.target_end + pair.start, ..hit } })
}

/// Number of rows in which an alignment that scores `least` can begin.
fn rows_of_beginnings(potential: &PotentialBehind, least: i32) -> usize {
    potential.all().iter().filter(|&&most| most >= least).count()
}

/// The runs of the path of a window, if at most one in `share` of its cells must be computed.
fn trace_alike(
    set: InstructionSet,
    batch: &Batch,
    window: &Window,
    share: u64,
) -> Result<Option<Vec<u32>>, EngineError> {
    let (query, target) = Block::whole(window).codes(batch);
    let scoring = &batch.scoring;
    let Some(potential) = PotentialBehind::new(query, target, scoring).filter(PotentialBehind::is_alike)
    else {
        return Ok(None);
    };
    let score = least_score(query, window.band, scoring);
    if score <= 0 {
        return Ok(None);
    }
    let (rectangle, score, potential) = (Rectangle { query, target, scoring }, to_i32(score), &potential);
    let cells = u64::from(window.query_end) * u64::from(window.cols());
    let most = BandShape::of(window).cells().min(cells / share);
    let trace = PrunedTrace {
        rectangle,
        window,
        score,
        potential,
        most,
        kept: KEPT,
        between: BETWEEN_FRONTS,
        front_columns: FRONT_COLUMNS,
    };
    Ok(set.run(trace)?.map(|path| path.into_runs(scoring.mode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Edges;
    use crate::engine::cpu::strip::RectangleSweep;
    use crate::terms::batch::Sequences;
    use crate::terms::random::Random;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    /// Partial copies with other residues before and after them, for scores around the best one.
    #[test]
    fn quick_scores_are_those_of_whole_sweeps() {
        let mut random = Random::new(23);
        let (mut below, mut found, mut all) = (0, 0, 0);
        for round in 0..24 {
            let mut codes = |len: usize| (0..len).map(|_| random.below(4) as u8).collect::<Vec<u8>>();
            let (before, after) = ([0, 150, 300][round % 3], [0, 250][round / 3 % 2]);
            let copy = codes(600);
            let mut query = [codes(before), copy.clone(), codes(after)].concat();
            for at in (7..query.len()).step_by(41) {
                query[at] = (query[at] + 1) % 4;
            }
            if round % 4 == 1 {
                query.remove(before + 100);
            }
            let target = [codes(400), copy, codes(900)].concat();
            let sequences = [&query, &target].map(|codes| [&**codes].into_iter().collect::<Sequences>());
            let [queries, targets] = sequences.map(Arc::new);
            let two_pieces = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1).unwrap();
            for scoring in [Scoring::dna(2, 4, 4, 2), two_pieces] {
                let (queries, targets) = (Arc::clone(&queries), Arc::clone(&targets));
                let batch = Batch { queries, targets, scoring: Arc::new(scoring) };
                let own = [0, 1100][round % 2];
                let pair = Pair { query: 0, target: 0, start: 30, own: 30 + own, end: to_u32(target.len()) };
                let rectangle = Rectangle { query: &query, target: &target[30..], scoring: &batch.scoring };
                for set in InstructionSet::available() {
                    let edges = Edges::default();
                    let best = set.run(RectangleSweep { rectangle, edges: &edges, own: own as usize }).1;
                    let best = HitEnd { target_end: best.target_end + 30, ..best };
                    for least in
                        [best.score - 200, best.score, best.score + 1, best.score + 90, best.score + 300]
                    {
                        all += 1;
                        match score_at_least(set, &batch, &pair, least) {
                            Some(hit) if least <= best.score => {
                                found += 1;
                                assert_eq!(hit, best, "round {round}, {least}, {set}");
                            }
                            Some(hit) => {
                                below += 1;
                                assert!(hit.score < least, "round {round}, {least}, {set}");
                            }
                            None => {}
                        }
                    }
                }
            }
        }
        assert!(below > 100 && found > 20, "{below} below and {found} found of {all}");
    }
}
