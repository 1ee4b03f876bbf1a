//! Mate rescue: a mate without a hit near its mate's hit is searched in the window that the insert size predicts.
//!
//! A part of the references cannot know which of its hits pairs are chosen from, so it searches the windows of all
//! hits. The rules for window hits are shared by both cases: [`MateHits`], [`in_order`] and [`is_apart`].

use super::{CircleOf, Pairing};
use crate::align::backtrace::{self, WantedPath};
use crate::align::hits::{Effort, SearchInput};
use crate::engine::Engine;
use crate::terms::alignment::{Alignment, HitEnd, InPart, Locus, QueryResult, Strand};
use crate::terms::batch::{Pair, Sequences};
use crate::terms::casts::{to_i64, to_u32};
use crate::terms::error::EngineError;
use crate::terms::system::Instant;
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// The hits of a mate, near which the other mate may be, and the conditions for hits there.
pub struct MateHits<'a> {
    pairing: &'a Pairing,
    /// The hits that pairs are chosen from, of the mate and of the other mate.
    pub hits: &'a [Alignment],
    others: &'a [Alignment],
    circle_of: CircleOf<'a>,
    /// Score of both best hits alone.
    alone: i64,
}

/// A window for one of the mates of a pair.
#[derive(Clone, Copy)]
struct Rescue {
    /// The record that is searched.
    record: u32,
    /// Index of the hit that the window belongs to, among the other mate's hits.
    beside: u32,
    strand: Strand,
    pair: Pair,
    /// Minimum score that counts.
    least: i32,
}

/// Which windows are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchedWindows {
    /// Windows of hits that have no hit of the other mate nearby.
    Needed,
    All,
}

impl<'a> MateHits<'a> {
    /// Conditions for the given hits of a mate and of the other mate.
    pub fn new(
        pairing: &'a Pairing,
        circle_of: CircleOf<'a>,
        [own, other]: [&'a [Alignment]; 2],
    ) -> MateHits<'a> {
        let [hits, others] = [own, other].map(|hits| pairing.among(hits));
        let best = |hits: &[Alignment]| hits.first().map_or(0, |hit| i64::from(hit.score));
        let alone = best(hits) + best(others) - i64::from(pairing.unpaired);
        MateHits { pairing, hits, others, circle_of, alone }
    }

    /// Whether no hit of the other mate forms a proper pair with this hit.
    pub fn is_alone(&self, hit: &Alignment) -> bool {
        let circle = (self.circle_of)(hit.target);
        !self.others.iter().any(|other| self.pairing.insert.of(hit, other, circle).is_some())
    }

    /// Minimum score that counts in the window of a hit: a pair that is no better than the best hits alone is never
    /// chosen.
    pub fn least(&self, hit: &Alignment) -> i64 {
        let least = self.alone - i64::from(hit.score) - i64::from(self.pairing.scores.match_) + 1;
        least.max(i64::from(self.pairing.rescued))
    }
}

/// Sorts window hits by record and hit order. Keeps the first of those with the same end.
pub fn in_order<T>(found: &mut Vec<T>, end: impl Fn(&T) -> (u32, Locus)) {
    found.sort_by(|one, other| {
        let ((record, locus), (other_record, other_locus)) = (end(one), end(other));
        record.cmp(&other_record).then_with(|| locus.order(&other_locus))
    });
    found.dedup_by(|later, first| end(later) == end(first));
}

/// Whether a window hit overlaps neither a hit of its own mate nor an earlier window hit. `circle` is the length of its
/// target if it is circular.
pub fn is_apart(alignment: &Alignment, circle: Option<u32>, [hits, before]: [&[Alignment]; 2]) -> bool {
    !hits.iter().chain(before).any(|hit| hit.overlaps(alignment, circle))
}

/// Alignments of the mates of each pair in the windows of their mates' hits, best first. None overlaps a hit of its own
/// mate.
pub fn rescue(
    pairing: &Pairing,
    engine: &mut dyn Engine,
    scope: &SearchInput,
    found: &[QueryResult],
    effort: &mut Effort,
) -> Result<Vec<[Vec<Alignment>; 2]>, EngineError> {
    let mut counting = search(pairing, engine, scope, (found, SearchedWindows::Needed), effort)?;
    in_order(&mut counting, |(rescue, hit)| {
        (rescue.record, Locus { hit: *hit, strand: rescue.strand, target: rescue.pair.target })
    });
    let targets = &scope.batch.targets;
    let records = counting.iter().map(|(rescue, _)| rescue.record);
    let mut aligned: Vec<(u32, Alignment)> = records.zip(align(engine, scope, &counting, effort)?).collect();
    if targets.have_circles() {
        // Windows may be one turn apart.
        in_order(&mut aligned, |(record, alignment)| (*record, alignment.locus()));
    }
    let mut rescued: Vec<[Vec<Alignment>; 2]> = (0..found.len() / 2).map(|_| Default::default()).collect();
    for (record, alignment) in aligned {
        let record = record as usize;
        let own = &mut rescued[record / 2][record % 2];
        let hits = pairing.among(&found[record].alignments);
        if is_apart(&alignment, targets.circle(alignment.target), [hits, own]) {
            own.push(alignment);
        }
    }
    Ok(rescued)
}

/// Adds to the hits of mates the best alignment of each window that may count, and returns which one it is.
pub fn rescue_all(
    pairing: &Pairing,
    engine: &mut dyn Engine,
    scope: &SearchInput,
    found: &mut [QueryResult],
    effort: &mut Effort,
) -> Result<(), EngineError> {
    let counting = search(pairing, engine, scope, (found, SearchedWindows::All), effort)?;
    let aligned = align(engine, scope, &counting, effort)?;
    for found in found.iter_mut() {
        found.in_part = vec![InPart::Hit { beside: None }; found.alignments.len()];
    }
    for ((rescue, _), alignment) in counting.iter().zip(aligned) {
        let record = rescue.record as usize;
        let QueryResult { alignments, in_part, .. } = &mut found[record];
        let place = alignments.iter().position(|own| *own == alignment).unwrap_or_else(|| {
            alignments.push(alignment);
            in_part.push(InPart::Rescued);
            alignments.len() - 1
        });
        found[record ^ 1].in_part[rescue.beside as usize] = InPart::Hit { beside: Some(to_u32(place)) };
    }
    Ok(())
}

/// The best end in each window that contains a hit that counts.
fn search(
    pairing: &Pairing,
    engine: &mut dyn Engine,
    scope: &SearchInput,
    (found, searched): (&[QueryResult], SearchedWindows),
    effort: &mut Effort,
) -> Result<Vec<(Rescue, HitEnd)>, EngineError> {
    let circle_of = |target| scope.batch.targets.circle(target);
    let windows = |(pair, found): (usize, &[QueryResult])| -> Vec<Rescue> {
        let mates = [(0, 1), (1, 0)].into_iter();
        let windows = |(own, other): (usize, usize)| {
            let hits = [own, other].map(|mate| &*found[mate].alignments);
            let beside = MateHits::new(pairing, &circle_of, hits);
            windows_of(&beside, scope, to_u32(pair) * 2 + to_u32(other), searched)
        };
        mates.flat_map(windows).collect()
    };
    let rescues = found.par_chunks_exact(2).enumerate().flat_map_iter(windows).collect::<Vec<_>>();
    let mut hits = Vec::with_capacity(rescues.len());
    for portion in rescues.chunks(scope.portion.max(1)) {
        let pairs: Vec<Pair> = portion.iter().map(|rescue| rescue.pair).collect();
        effort.cells += pairs.iter().map(|pair| scope.batch.cells(pair)).sum::<u64>();
        let start = Instant::now();
        hits.extend(engine.score(scope.batch, &pairs)?);
        effort.scoring += start.elapsed();
    }
    let mut counting = Vec::new();
    for (rescue, hit) in rescues.into_iter().zip(hits) {
        let Pair { query, own, end, .. } = rescue.pair;
        let inside = hit.target_end > own
            && hit.target_end <= end
            && hit.query_end >= 1
            && hit.query_end as usize <= scope.batch.query(query).len();
        if hit.score < 0 || (hit.score > 0 && !inside) {
            return Err(EngineError::Wrong(format!("{hit:?} for {:?}", rescue.pair)));
        }
        if hit.score >= rescue.least {
            counting.push((rescue, hit));
        }
    }
    Ok(counting)
}

/// The windows for a record near the hits of its mate.
fn windows_of(beside: &MateHits, scope: &SearchInput, record: u32, searched: SearchedWindows) -> Vec<Rescue> {
    if beside.hits.is_empty() {
        return Vec::new();
    }
    let Pairing { insert, rescued, .. } = beside.pairing;
    let span = scope.span_of(record, *rescued);
    let window = |(place, hit): (usize, &Alignment)| {
        let (strand, columns) = insert.mate_of(hit, span);
        let (start, end) = within(&scope.batch.targets, hit.target, columns);
        let least = beside.least(hit);
        let pair =
            Pair { query: scope.layout.query(record, strand), target: hit.target, start, own: start, end };
        let is_empty = scope.batch.query(pair.query).is_empty();
        let least = i32::try_from(least).ok().filter(|_| start < end && !is_empty)?;
        Some(Rescue { record, beside: to_u32(place), strand, pair, least })
    };
    let is_searched = |hit: &Alignment| searched == SearchedWindows::All || beside.is_alone(hit);
    let hits = beside.hits.iter().enumerate();
    hits.filter(|(_, hit)| is_searched(hit)).filter_map(window).collect()
}

/// Clips columns to a target. On a circular target, they begin in the first copy. If the window is at least as long as
/// the circle, it is the whole circle.
fn within(targets: &Sequences, target: u32, columns: RangeInclusive<i64>) -> (u32, u32) {
    let (start, end) = columns.into_inner();
    let len = to_i64(targets.get(target as usize).len());
    let (start, end) = match targets.circle(target).map(i64::from) {
        Some(circle) if end - start >= circle => (0, len),
        Some(circle) => (start.rem_euclid(circle), start.rem_euclid(circle) + (end - start)),
        None => (start, end),
    };
    (to_u32(start.clamp(0, len)), to_u32(end.clamp(0, len)))
}

/// The alignments that end at the given cells. Those on a circular target begin in its first copy.
fn align(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    counting: &[(Rescue, HitEnd)],
    effort: &mut Effort,
) -> Result<Vec<Alignment>, EngineError> {
    if counting.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = |(Rescue { strand, pair, .. }, hit): &(Rescue, HitEnd)| {
        let window = backtrace::window_of(scope.batch, pair.query, pair.target, pair.start, hit);
        WantedPath { window, strand: *strand, score: hit.score }
    };
    let wanted: Vec<WantedPath> = counting.iter().map(wanted).collect();
    let start = Instant::now();
    let alignments = backtrace::align(engine, scope.batch, &wanted)?;
    effort.backtrace += start.elapsed();
    let in_first_copy = |alignment: Alignment| {
        let circle = scope.batch.targets.circle(alignment.target);
        alignment.in_first_copy(circle)
    };
    Ok(alignments.into_iter().map(in_first_copy).collect())
}
