//! Split reads: further alignments of what the primary hit leaves of a query.
//!
//! The letters that a query's primary hit does not take are its free intervals. The best local alignment of a free
//! interval, over all targets and strands, is a supplementary hit if it scores enough. What it leaves of its interval is
//! searched in the same way. So each is the optimum of its interval, and no two take one letter of the query. A query of
//! many pieces is searched many times over, so there is a bound. docs/algorithm.md, section 17, has the definition.

use crate::alignment::{Alignment, Found, Strand, Supplementary};
use crate::alphabet::reverse_complement_codes;
use crate::batch::{Batch, Sequences};
use crate::bounds::potential;
use crate::candidates::{Layout, Meets};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::hits::{self, Effort, Remarks, Rules, Scope};
use crate::quality;
use std::sync::Arc;

/// Letters of free intervals that are searched of a query within the bound, for each letter that it has.
pub const SEARCHED_AGAIN: u64 = 4;

/// How queries are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Least score of a supplementary hit.
    pub least: i32,
    /// Whether the search of a query ends before it has searched more than [`SEARCHED_AGAIN`] times its letters.
    pub is_bounded: bool,
}

/// Letters of a record that no hit takes, by their places in the query as it was read.
#[derive(Clone, Copy)]
struct Interval {
    record: u32,
    start: u32,
    end: u32,
}

/// Finds the supplementary hits of all records.
pub fn supplement(
    engine: &mut dyn Engine,
    scope: &Scope,
    splitting: Splitting,
    found: &mut [Found],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let least = splitting.least;
    let mut searched = vec![0; found.len()];
    let mut intervals: Vec<Interval> = Vec::new();
    for (record, found) in (0..).zip(found.iter()) {
        if let Some(primary) = found.alignments.first() {
            let end = codes(scope, record).len() as u32;
            intervals.extend(left(Interval { record, start: 0, end }, primary, end));
        }
    }
    loop {
        intervals.retain(|interval| {
            let codes = &codes(scope, interval.record)[interval.start as usize..interval.end as usize];
            potential(codes, &scope.batch.scoring) >= i64::from(least)
        });
        if splitting.is_bounded {
            intervals = within_bound(scope, intervals, &mut searched, effort);
        }
        if intervals.is_empty() {
            break;
        }
        let hits = search(engine, scope, least, &intervals, effort)?;
        let mut next = Vec::new();
        for (interval, hit) in intervals.into_iter().zip(hits) {
            let quality = quality::of_first(&scope.batch.scoring, &hit);
            let Found { mut alignments, second, .. } = hit;
            let Some(mut alignment) = alignments.drain(..).next() else { continue };
            let len = codes(scope, interval.record).len() as u32;
            let before = match alignment.strand {
                Strand::Forward => interval.start,
                Strand::Reverse => len - interval.end,
            };
            alignment.query_start += before;
            alignment.query_end += before;
            next.extend(left(interval, &alignment, len));
            found[interval.record as usize].supplementary.push(Supplementary {
                alignment,
                second,
                quality,
                is_piece_of_first: false,
            });
        }
        intervals = next;
    }
    for (record, found) in (0..).zip(found.iter_mut()) {
        if found.supplementary.len() > 1 {
            found.sort_supplementary(codes(scope, record).len() as u32);
        }
    }
    Ok(())
}

/// The intervals of a round without those of records that would be searched beyond the bound. `searched` has the letters
/// that were searched of each record, and gets those of the round.
fn within_bound(
    scope: &Scope,
    intervals: Vec<Interval>,
    searched: &mut [u64],
    effort: &mut Effort,
) -> Vec<Interval> {
    let mut within = Vec::with_capacity(intervals.len());
    // The intervals of a record stand side by side.
    for of_record in intervals.chunk_by(|one, other| one.record == other.record) {
        let record = of_record[0].record;
        let letters: u64 = of_record.iter().map(|interval| u64::from(interval.end - interval.start)).sum();
        let sum = searched[record as usize] + letters;
        if sum <= SEARCHED_AGAIN * codes(scope, record).len() as u64 {
            searched[record as usize] = sum;
            within.extend_from_slice(of_record);
        } else {
            effort.said.push((record, Remarks::UNSPLIT));
        }
    }
    within
}

/// The codes of a record as it was read.
fn codes<'a>(scope: &Scope<'a>, record: u32) -> &'a [u8] {
    scope.batch.query(scope.layout.query(record, Strand::Forward))
}

/// The best hit of each interval by itself.
fn search(
    engine: &mut dyn Engine,
    scope: &Scope,
    least: i32,
    intervals: &[Interval],
    effort: &mut Effort,
) -> Result<Vec<Found>, EngineError> {
    let mut queries = Sequences::default();
    for interval in intervals {
        let codes = &codes(scope, interval.record)[interval.start as usize..interval.end as usize];
        queries.push(codes.iter().copied());
        if scope.layout.strands > 1 {
            queries.push(reverse_complement_codes(codes));
        }
    }
    let batch = Batch {
        queries: Arc::new(queries),
        targets: Arc::clone(&scope.batch.targets),
        scoring: Arc::clone(&scope.batch.scoring),
    };
    let layout = Layout { strands: scope.layout.strands, meets: Meets::All };
    let rules = Rules { min_score: least, max_hits: 1, candidates: None, ..scope.rules };
    let mut own = Effort::default();
    let scope = Scope { batch: &batch, layout, rules, least: None, ranks: None, ..*scope };
    let found = hits::find(engine, &scope, &mut own)?;
    effort.add_parts(own, |interval| intervals[interval as usize].record);
    Ok(found)
}

/// What an alignment of a query of `len` letters leaves of an interval.
fn left(interval: Interval, alignment: &Alignment, len: u32) -> [Interval; 2] {
    let (start, end) = alignment.letters_taken(len);
    [Interval { end: start, ..interval }, Interval { start: end, ..interval }]
}
