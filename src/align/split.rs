//! Split reads: further alignments of the parts of a query outside its primary hit.
//!
//! The residues of a query outside its primary hit are its free intervals. The best local alignment of a free interval,
//! over all targets and strands, is a supplementary hit if it scores enough. The rest of its interval is searched in
//! the same way. So each hit is the optimum of its interval, and no two hits share a residue of the query. Splitting a
//! query into many pieces searches it many times, so the work is bounded. docs/algorithm.md, section 17, has the
//! definition.

mod drop;

use crate::align::candidates::{Meets, PairLayout};
use crate::align::hits::{self, Effort, QueryRemarks, Rules, SearchInput, Tiers};
use crate::align::quality;
use crate::engine::Engine;
use crate::terms::alignment::{Alignment, QueryResult, Strand, Supplementary, Tier};
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::potential;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::sync::Arc;

/// Maximum number of residues that are searched again within the bound, per residue of the query.
pub const SEARCHED_AGAIN: u64 = 4;

/// How queries are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Minimum score of a supplementary hit.
    pub least: i32,
    /// Whether the search of a query ends before it has searched more than [`SEARCHED_AGAIN`] times its residues.
    pub is_bounded: bool,
    /// A path is cut where its running score falls by more than this. 0 disables cutting.
    pub drop: i32,
}

/// Residues of a record outside its hits, by their positions in the query as it was read.
#[derive(Clone, Copy)]
struct Interval {
    record: u32,
    start: u32,
    end: u32,
    /// Whether the interval is the best part of a path whose score falls too far.
    is_part: bool,
}

/// Finds the supplementary hits of all records. `tiers` are the tiers of intervals.
pub fn supplement(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (splitting, tiers): (Splitting, Option<&Tiers>),
    found: &mut [QueryResult],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let least = splitting.least;
    let mut searched = vec![0; found.len()];
    cut_primaries(engine, scope, splitting, found, effort)?;
    let mut intervals: Vec<Interval> = Vec::new();
    for (record, found) in (0..).zip(found.iter()) {
        if let Some(primary) = found.alignments.first() {
            let end = to_u32(codes(scope, record).len());
            intervals.extend(left(Interval { record, start: 0, end, is_part: false }, primary, end));
        }
    }
    loop {
        intervals.retain(|&interval| most_score(scope, interval) >= i64::from(least));
        if splitting.is_bounded {
            intervals = within_bound(scope, intervals, &mut searched, effort);
        }
        if intervals.is_empty() {
            break;
        }
        let hits = search_by_tier(engine, scope, (least, tiers), (&intervals, found), effort)?;
        let mut next = Vec::new();
        for (interval, hit) in intervals.into_iter().zip(hits) {
            let len = to_u32(codes(scope, interval.record).len());
            let quality = quality_of_first(scope, &hit, (interval, len));
            let QueryResult { mut alignments, second, tier, .. } = hit;
            let Some(alignment) = alignments.drain(..).next() else { continue };
            let mut alignment = in_record(interval, alignment, len);
            if let Some(part) = cut(scope, splitting, interval.record, &alignment) {
                let (start, end) = part.letters_taken(len);
                if tier == Tier::Anchored && is_boxed(scope, found, interval.record) {
                    alignment = part;
                } else if end - start < interval.end - interval.start {
                    // Searching the part makes it the optimum of its interval, with a mapping quality of its own.
                    let [before, behind] = left(interval, &part, len);
                    next.extend([before, Interval { start, end, is_part: true, ..interval }, behind]);
                    continue;
                }
            }
            next.extend(left(interval, &alignment, len));
            found[interval.record as usize].supplementary.push(Supplementary {
                alignment,
                second,
                quality,
                tier,
                is_piece_of_first: false,
            });
        }
        intervals = next;
    }
    for (record, found) in (0..).zip(found.iter_mut()) {
        if found.supplementary.len() > 1 {
            found.sort_supplementary(to_u32(codes(scope, record).len()));
        }
    }
    Ok(())
}

/// Mapping quality of the best hit of an interval of a query of `len` residues.
fn quality_of_first(scope: &SearchInput, found: &QueryResult, (interval, len): (Interval, u32)) -> u8 {
    let scoring = &scope.batch.scoring;
    let bonus = |first: &Alignment| in_record(interval, first.clone(), len).bonus(len, scoring.end_bonus);
    quality::of_first_less(scoring, found, found.alignments.first().map_or(0, bonus))
}

/// The best part of a record's alignment, if its running score falls too far.
fn cut(scope: &SearchInput, splitting: Splitting, record: u32, alignment: &Alignment) -> Option<Alignment> {
    if splitting.drop == 0 {
        return None;
    }
    let query = scope.batch.query(scope.layout.query(record, alignment.strand));
    let target = scope.batch.target(alignment.target);
    drop::best_part(alignment, (query, target), &scope.batch.scoring, splitting.drop)
}

/// Whether a record is a long query that is searched in its boxes alone.
fn is_boxed(scope: &SearchInput, found: &[QueryResult], record: u32) -> bool {
    let is_in_boxes = |tiers: &Tiers| tiers.is_large || found[record as usize].tier == Tier::Anchored;
    let is_long = |tiers: &Tiers| tiers.is_long(codes(scope, record).len());
    scope.tiers.is_some_and(|tiers| is_long(tiers) && is_in_boxes(tiers))
}

/// Converts an alignment of an interval to one of its record, which has `len` residues.
fn in_record(interval: Interval, mut alignment: Alignment, len: u32) -> Alignment {
    let before = match alignment.strand {
        Strand::Reverse => len - interval.end,
        _ => interval.start,
    };
    alignment.query_start += before;
    alignment.query_end += before;
    alignment
}

/// Cuts first hits whose running score falls too far. The interval of the best part is searched again, and its best hit
/// replaces all hits of the query: their scores counted the columns that were cut. A long query without a target that
/// supports it keeps the part itself, since only its boxes were searched.
fn cut_primaries(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    splitting: Splitting,
    found: &mut [QueryResult],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let part = |(record, found): (usize, &QueryResult)| {
        let (record, whole) = (to_u32(record), found.alignments.first()?);
        Some((record, cut(scope, splitting, record, whole)?))
    };
    let parts: Vec<(u32, Alignment)> = found.par_iter().enumerate().filter_map(part).collect();
    let mut intervals = Vec::new();
    for (record, part) in parts {
        if is_boxed(scope, found, record) {
            let own = &mut found[record as usize];
            (own.alignments, own.quality) = (vec![part], None);
            let end = to_u32(codes(scope, record).len());
            let whole = Interval { record, start: 0, end, is_part: false };
            own.quality = Some(quality_of_first(scope, own, (whole, end)));
        } else {
            let (start, end) = part.letters_taken(to_u32(codes(scope, record).len()));
            intervals.push(Interval { record, start, end, is_part: true });
        }
    }
    if intervals.is_empty() {
        return Ok(());
    }
    // The part has an alignment that scores enough, with or without a run.
    let hits = search(engine, scope, (scope.rules.min_score, None), &intervals, effort)?;
    for (interval, hit) in intervals.into_iter().zip(hits) {
        let len = to_u32(codes(scope, interval.record).len());
        let quality = quality_of_first(scope, &hit, (interval, len));
        let Some(alignment) = hit.alignments.into_iter().next() else { continue };
        let found = &mut found[interval.record as usize];
        found.alignments = vec![in_record(interval, alignment, len)];
        (found.second, found.threshold, found.quality) = (hit.second, hit.threshold, Some(quality));
    }
    Ok(())
}

/// The intervals of a round, except those of records that would exceed the bound. `searched` counts the residues that
/// were searched of each record, this round included.
fn within_bound(
    scope: &SearchInput,
    intervals: Vec<Interval>,
    searched: &mut [u64],
    effort: &mut Effort,
) -> Vec<Interval> {
    let mut within = Vec::with_capacity(intervals.len());
    // The intervals of a record are adjacent.
    for of_record in intervals.chunk_by(|one, other| one.record == other.record) {
        let record = of_record[0].record;
        let letters: u64 = of_record.iter().map(|interval| u64::from(interval.end - interval.start)).sum();
        let sum = searched[record as usize] + letters;
        if sum <= SEARCHED_AGAIN * codes(scope, record).len() as u64 {
            searched[record as usize] = sum;
            within.extend_from_slice(of_record);
        } else {
            effort.said.push((record, QueryRemarks::UNSPLIT));
        }
    }
    within
}

/// The codes of a record as it was read.
fn codes<'a>(scope: &SearchInput<'a>, record: u32) -> &'a [u8] {
    scope.batch.query(scope.layout.query(record, Strand::Forward))
}

/// The codes of an interval in one orientation of its record.
fn oriented<'a>(scope: &SearchInput<'a>, interval: Interval, strand: Strand) -> &'a [u8] {
    let query = scope.batch.query(scope.layout.query(interval.record, strand));
    let (start, end) = (interval.start as usize, interval.end as usize);
    match strand {
        Strand::Reverse => &query[query.len() - end..query.len() - start],
        _ => &query[start..end],
    }
}

/// Upper bound of the scores of an interval on all strands. The strands differ under a matrix that is not symmetric
/// under complement.
fn most_score(scope: &SearchInput, interval: Interval) -> i64 {
    let on = |&strand: &Strand| potential(oriented(scope, interval, strand), &scope.batch.scoring);
    scope.layout.orientations().iter().map(on).max().unwrap_or(0)
}

/// The best hit of each interval. The rest of a long query that no target supports is searched in its boxes alone, and
/// the best part of a path in one tier.
fn search_by_tier(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (least, tiers): (i32, Option<&Tiers>),
    (intervals, found): (&[Interval], &[QueryResult]),
    effort: &mut Effort,
) -> Result<Vec<QueryResult>, EngineError> {
    let boxed = tiers.map(|tiers| tiers.clone().boxed());
    // Number of each interval's tiers among these.
    let all = [None, tiers, boxed.as_ref()];
    let kind = |own: &Interval| match own {
        own if is_boxed(scope, found, own.record) => 2,
        own => usize::from(!own.is_part && tiers.is_some()),
    };
    let mut hits: Vec<Option<QueryResult>> = vec![None; intervals.len()];
    for (number, tiers) in all.into_iter().enumerate() {
        let at: Vec<usize> = (0..intervals.len()).filter(|&at| kind(&intervals[at]) == number).collect();
        if !at.is_empty() {
            let own: Vec<Interval> = at.iter().map(|&at| intervals[at]).collect();
            let own = search(engine, scope, (least, tiers), &own, effort)?;
            at.into_iter().zip(own).for_each(|(at, own)| hits[at] = Some(own));
        }
    }
    Ok(hits.into_iter().flatten().collect())
}

/// The best hit of each interval.
fn search(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (least, tiers): (i32, Option<&Tiers>),
    intervals: &[Interval],
    effort: &mut Effort,
) -> Result<Vec<QueryResult>, EngineError> {
    let mut queries = Sequences::default();
    for &interval in intervals {
        for &strand in scope.layout.orientations() {
            queries.push(oriented(scope, interval, strand).iter().copied());
        }
    }
    let batch = Batch {
        queries: Arc::new(queries),
        targets: Arc::clone(&scope.batch.targets),
        scoring: Arc::clone(&scope.batch.scoring),
    };
    let layout = PairLayout { strands: scope.layout.strands, meets: Meets::All };
    let rules = Rules { min_score: least, max_hits: 1, candidates: None, ..scope.rules };
    let mut own = Effort::default();
    let scope = SearchInput {
        batch: &batch,
        layout,
        rules,
        least: None,
        tiers,
        supporting: None,
        ranks: None,
        ..*scope
    };
    let found = hits::find(engine, &scope, &mut own)?;
    effort.add_parts(own, |interval| intervals[interval as usize].record);
    Ok(found)
}

/// The two sides of an interval that an alignment of a query of `len` residues leaves.
fn left(interval: Interval, alignment: &Alignment, len: u32) -> [Interval; 2] {
    let (start, end) = alignment.letters_taken(len);
    let interval = Interval { is_part: false, ..interval };
    [Interval { end: start, ..interval }, Interval { start: end, ..interval }]
}
