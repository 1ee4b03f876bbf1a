//! Bounds for all pairs of long queries, from the scores of query prefixes.
//!
//! After the first rows of a query, an alignment gains no more than the remaining rows can add. So the best score of a
//! prefix anywhere in a pair, plus the maximum gain of the remaining rows, is a bound for the pair. If hits are
//! expected to score high, a prefix that is clearly shorter than the query bounds most pairs below that score, and
//! these need not be scored. docs/algorithm.md, section 15, has the proof.

use super::search::RecordSearch;
use super::{Effort, SearchInput, score};
use crate::engine::Engine;
use crate::terms::alignment::Strand;
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::bounds::potential;
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::error::EngineError;
use std::sync::Arc;

/// Minimum length of a query in residues: for shorter queries, one sweep scores several pairs.
const LEAST_LETTERS: usize = 1 << 9;
/// Minimum number of pairs of a query: the pair of the best hit is scored in any case.
const LEAST_PAIRS: usize = 16;
/// Margin of the expected prefix score over the guaranteed score, in matches: about twice the expected chance score.
const MATCHES: i64 = 64;
/// Maximum cost of all prefixes and of `SCORED` full pairs, in tenths of the cells of all pairs.
const MOST_TENTHS: u64 = 9;
const SCORED: u64 = 2;
/// One pair in `SAMPLED` shows whether prefixes help a query: if more than one in `MOST_KEPT` of them can contain an
/// expected hit, all pairs are scored at once.
const SAMPLED: usize = 8;
const MOST_KEPT: usize = 4;

/// A search whose pairs get bounds.
struct BoundedSearch<'a> {
    /// Index of the search.
    search: usize,
    pairs: &'a [Pair],
    expected: i64,
    /// Index of its first prefix among the queries; it has one prefix per orientation.
    first: u32,
    /// Maximum score that the rest of each orientation can add.
    rest: [i64; 2],
    bounds: Vec<i32>,
}

/// Returns bounds of the pairs of each search, none of which is scored yet. `None` for a search if scoring all its
/// pairs is expected to be as fast.
pub fn bounds(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (searches, pairs): (&[&mut RecordSearch], &[Vec<Pair>]),
    effort: &mut Effort,
) -> Result<Vec<Option<Vec<i32>>>, EngineError> {
    let mut prefixes = Sequences::default();
    let wanted = searches.iter().zip(pairs).enumerate();
    let mut asked: Vec<BoundedSearch> = wanted
        .filter_map(|(place, (search, pairs))| {
            BoundedSearch::new(scope, (place, search), pairs, &mut prefixes)
        })
        .collect();
    let mut bounds = vec![None; searches.len()];
    if asked.is_empty() {
        return Ok(bounds);
    }
    let batch = Batch { queries: Arc::new(prefixes), ..scope.batch.clone() };
    let is_sampled = |place: usize| place.is_multiple_of(SAMPLED);
    score_prefixes(engine, scope, &batch, (&mut asked, is_sampled), effort)?;
    asked.retain(BoundedSearch::pays);
    score_prefixes(engine, scope, &batch, (&mut asked, |place| !is_sampled(place)), effort)?;
    asked.into_iter().for_each(|asked| bounds[asked.search] = Some(asked.bounds));
    Ok(bounds)
}

/// Scores the prefixes against the pairs of each search whose indices are wanted.
fn score_prefixes(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    batch: &Batch,
    (asked, is_wanted): (&mut [BoundedSearch], impl Fn(usize) -> bool),
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let mut pairs: Vec<Pair> = Vec::new();
    for asked in &*asked {
        let wanted = asked.pairs.iter().enumerate().filter(|(place, _)| is_wanted(*place));
        pairs.extend(wanted.map(|(_, pair)| {
            let strand = scope.layout.strand(pair.query);
            let query = asked.first + scope.layout.strands.position(strand);
            Pair { query, own: pair.start, ..*pair }
        }));
    }
    let mut answers = pairs.iter().zip(score(engine, batch, &pairs, effort)?);
    for asked in asked {
        let wanted = asked.bounds.iter_mut().enumerate().filter(|(place, _)| is_wanted(*place));
        for ((_, bound), (pair, hit)) in wanted.zip(answers.by_ref()) {
            let (score, most) = (i64::from(hit.score), potential(batch.query(pair.query), &batch.scoring));
            if score < 0 || score > most {
                return Err(EngineError::Wrong(format!(
                    "{hit:?} for a prefix that can score {most} at most"
                )));
            }
            let rest = asked.rest[(pair.query - asked.first) as usize];
            *bound = to_i32((score + rest).min(i64::from(i32::MAX)));
        }
    }
    Ok(())
}

impl<'a> BoundedSearch<'a> {
    /// Prepares a search and its prefixes. Returns `None` if the prefixes would not be clearly shorter than the query.
    fn new(
        scope: &SearchInput,
        (place, search): (usize, &RecordSearch),
        pairs: &'a [Pair],
        prefixes: &mut Sequences,
    ) -> Option<BoundedSearch<'a>> {
        let SearchInput { batch, layout, .. } = scope;
        let scoring = &batch.scoring;
        let expected = i64::from(search.expected()?);
        let most = expected - MATCHES * i64::from(scoring.max_potential());
        let query = |strand: Strand| batch.query(layout.query(search.record, strand));
        let len = query(Strand::Forward).len();
        // Every pair becomes a region, so there must not be more than one portion of pairs.
        let suits = (LEAST_PAIRS..=scope.portion).contains(&pairs.len());
        if !scoring.mode.is_local() || len < LEAST_LETTERS || !suits {
            return None;
        }
        let mut rest = [0; 2];
        let mut ends = [len; 2];
        for &strand in layout.orientations() {
            // The longest rest that can add at most `most`, so that the prefix of an expected hit reaches the margin.
            let (mut end, mut sum) = (len, 0);
            for &code in query(strand).iter().rev() {
                let more = sum + i64::from(scoring.potential(code));
                if more > most {
                    break;
                }
                (end, sum) = (end - 1, more);
            }
            let position = layout.strands.position(strand) as usize;
            (ends[position], rest[position]) = (end, sum);
        }
        let strands = layout.orientations();
        let (letters, count) = (len as u64, pairs.len() as u64);
        let is_short = |&end: &usize| {
            let cells = end as u64 * count + letters * SCORED;
            cells * 10 <= letters * count * MOST_TENTHS
        };
        if !ends[..strands.len()].iter().all(is_short) {
            return None;
        }
        let first = to_u32(prefixes.len());
        for (&strand, &end) in strands.iter().zip(&ends) {
            prefixes.push(query(strand)[..end].iter().copied());
        }
        let bounds = vec![i32::MAX; pairs.len()];
        Some(BoundedSearch { search: place, pairs, expected, first, rest, bounds })
    }

    /// Whether only few of the sampled pairs can contain an expected hit.
    fn pays(&self) -> bool {
        let sampled = || self.bounds.iter().step_by(SAMPLED);
        let kept = sampled().filter(|&&bound| i64::from(bound) >= self.expected).count();
        kept * MOST_KEPT <= sampled().count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::RegionSource;
    use super::super::{Rules, SearchStart};
    use super::*;
    use crate::align::candidates::{ChunkLength, Meets, MetTargets, PairLayout};
    use crate::engine::cpu::Cpu;
    use crate::terms::alignment::Strands;
    use crate::terms::scoring::Scoring;

    const LEN: usize = 800;

    fn codes(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 62) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    /// Returns the bounds of a query whose hits are expected to score `expected`, and its scores.
    fn bounded(query: &[u8], target: &[u8], expected: i32) -> (Option<Vec<i32>>, Vec<i32>) {
        let reverse = crate::terms::alphabet::reverse_complement_codes(query).collect::<Vec<u8>>();
        let batch = Batch {
            queries: Arc::new([query, &reverse].into_iter().collect()),
            targets: Arc::new([target].into_iter().collect()),
            scoring: Arc::new(Scoring::dna(2, 4, 4, 2)),
        };
        let layout = PairLayout { strands: Strands::Both, meets: Meets::All };
        let scope = SearchInput::new(&batch, layout, Rules { min_score: 40, ..Rules::BEST });
        let start = SearchStart { expected: Some(expected), ..SearchStart::new(0, RegionSource::All) };
        let mut search = RecordSearch::new(&scope, start, Vec::new());
        let pairs = MetTargets::all(&batch).pairs(&batch, &layout, 0, 40, ChunkLength::SHORT);
        let met = std::slice::from_ref(&pairs);
        let bounds = bounds(&mut Cpu::new(), &scope, (&[&mut search], met), &mut Effort::default()).unwrap();
        let scores = Cpu::new().score(&batch, &pairs).unwrap();
        (bounds.into_iter().next().flatten(), scores.into_iter().map(|hit| hit.score).collect())
    }

    /// Hits in the prefix, after it, and across its end, on both strands.
    #[test]
    fn no_pair_scores_more_than_its_bound() {
        let mut target = codes(1, 400_000);
        let query = codes(2, LEN);
        let reverse = crate::terms::alphabet::reverse_complement_codes(&query).collect::<Vec<u8>>();
        for (place, piece) in [
            (30_000, &query[..300]),
            (90_000, &query[500..]),
            (200_000, &query[200..650]),
            (310_000, &reverse[350..]),
        ] {
            target[place..place + piece.len()].copy_from_slice(piece);
        }
        for expected in [700, 1000, 1500] {
            let (bounds, scores) = bounded(&query, &target, expected);
            let bounds = bounds.expect("prefixes pay");
            assert!(scores.iter().zip(&bounds).all(|(score, bound)| score <= bound));
            let kept = bounds.iter().filter(|&&bound| bound >= expected).count();
            assert!((1..=5).contains(&kept), "{kept} of {} at {expected}", bounds.len());
        }
    }

    #[test]
    fn nothing_is_bounded_where_that_would_not_pay() {
        let target = codes(1, 400_000);
        let query = codes(2, LEN);
        // A hit may be after the end of any prefix that is clearly shorter.
        assert_eq!(bounded(&query, &target, 300).0, None);
        assert_eq!(bounded(&query, &target[..30_000], 1000).0, None, "few pairs");
        assert_eq!(bounded(&query[..500], &target, 800).0, None, "a short query");
        // A repeat at the start of the prefix occurs in most pairs.
        let mut repeats = target;
        repeats.chunks_mut(8_000).for_each(|chunk| chunk[..200].copy_from_slice(&query[..200]));
        assert_eq!(bounded(&query, &repeats, 1000).0, None, "repeats");
    }
}
