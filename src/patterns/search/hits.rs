//! Chooses the ends to report, and turns them into hits.
//!
//! An end of a pattern on one strand is reported if its edits are a local minimum: neither the end before it nor the
//! one after it has fewer. A position that is no end counts as one with infinitely many edits. Of adjacent ends with
//! the same edits only the leftmost is reported, unless they have no edits: then all of them are. With
//! [`HitOptions::every_end`] every end is reported.
//!
//! A hit is an end with the path of [`super::align`]. Hits of a text are ordered by start, end, pattern, and strand.
//! With a PAM, the same rule holds for anchors ([`super::anchors`]). Anchors at starts are read backwards, so the
//! rightmost of adjacent ones with the same edits is reported.
//!
//! All engines share [`Gatherer::put_anchors`]. It receives the ends of a pattern in ascending order, so for each
//! pattern it only has to remember the current run of adjacent ends with the same edits. Therefore the edges of chunks,
//! portions and parts of a text do not matter.
//!
//! A long text comes in parts. At the end of each part the gatherer returns all hits that are final. It keeps a run
//! that the next part may continue, and the hits that a later hit may precede. An end needs a few bytes and a path
//! many, so hits are aligned in the order of their ends, portion by portion, and only when they can be returned.

use super::MatchRule;
use super::align::{self, PatternCells, PatternPath};
use super::anchors::Tried;
use super::circle::Circle;
use super::pam::Pam;
use super::stream::TextEnd;
use crate::terms::alignment::{Strand, Strands};
use crate::terms::error::EngineError;
use crate::terms::options::{EditLimits, Rate};
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::mem;

/// Hits that a thread aligns per task if patterns are short.
const RUN: usize = 64;
/// Total length in bases of the patterns of the hits that are aligned before any of them is reported. It bounds the
/// memory of paths.
pub const PORTION: usize = 1 << 22;
/// Weight of a hit in addition to the length of its pattern.
const OF_HIT: usize = 32;

/// An occurrence of a pattern. The order of the fields is the order of hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternHit {
    /// 0-based, half-open interval in the text.
    pub start: usize,
    pub end: usize,
    /// Index of the pattern.
    pub pattern: u32,
    pub strand: Strand,
    pub edits: u32,
    /// In text order, regardless of the strand.
    pub path: PatternPath,
}

/// Sort key of the hits of a text.
type HitOrder = (usize, usize, u32, Strand);

impl PatternHit {
    fn order(&self) -> HitOrder {
        (self.start, self.end, self.pattern, self.strand)
    }
}

/// Options for the hits of a text.
#[derive(Clone, Debug)]
pub struct HitOptions {
    /// With a rate, the rule of the longest pattern.
    pub rule: MatchRule,
    /// Maximum number of edits as a function of pattern length.
    pub rate: Option<Rate>,
    pub limits: Option<EditLimits>,
    pub pam: Option<Pam>,
    /// Reports every end, and not only local minima of the edits.
    pub every_end: bool,
    /// Reports only hits with the minimum number of edits in the text.
    pub best: bool,
    /// Only the first hit of a text.
    pub first: bool,
    /// Orientations of each pattern, which have adjacent indices.
    pub strands: Strands,
    /// Number of bases before its last one that a hit may span.
    pub before: usize,
}

/// The hits of one text, part by part: [`Gatherer::put`] adds the ends of a part, and [`Gatherer::next`] returns the
/// hits, portion by portion.
#[derive(Clone, Debug, Default)]
pub struct Gatherer {
    /// How the text is unrolled if it is a circle. Codes, ends and positions here are those of the unrolled text.
    circle: Option<Circle>,
    /// The right parts of runs across the origin that may be local minima, by pattern, each with the end that it would
    /// report.
    wrapped: BTreeMap<u32, usize>,
    /// Hits across the origin, which begin at the end of the circle.
    across: BTreeMap<HitOrder, PatternHit>,
    /// The starts already tried, if PAMs precede hits.
    tried: Tried,
    /// Runs that the next part may continue, by pattern.
    open: BTreeMap<u32, EndRun>,
    /// Minimum number of edits of an end so far, if [`HitOptions::best`] is set.
    fewest: Option<u32>,
    /// Ends whose hits must wait for others that are not known yet.
    pending: Vec<ReportedEnd>,
    /// Ends whose hits come next, in reverse order.
    ready: Vec<ReportedEnd>,
    /// Hits that cannot be reported yet.
    waiting: Vec<PatternHit>,
    /// No further end before this position will be chosen.
    until: usize,
    /// Number of hits reported.
    given: u64,
}

/// An end to report: an anchor.
#[derive(Clone, Copy, Debug)]
struct ReportedEnd {
    end: usize,
    pattern: u32,
    edits: u32,
}

/// Adjacent ends of a pattern with the same edits, up to the last known one.
#[derive(Clone, Copy, Debug)]
struct EndRun {
    first: usize,
    last: usize,
    /// The end that is reported if the run is a local minimum.
    end: usize,
    edits: u32,
    /// Whether the end before the run has more edits or is missing, and no end of the run was reported yet.
    may_be_minimum: bool,
}

impl EndRun {
    /// The run of the next end of a pattern, and the end that is reported if `before` is a local minimum and ends here.
    fn next(before: Option<EndRun>, found: &TextEnd, rightmost: bool) -> (EndRun, Option<EndRun>) {
        let adjacent = before.filter(|run| run.last + 1 == found.end);
        let change = adjacent.map(|run| found.edits.cmp(&run.edits));
        let &TextEnd { end, edits, .. } = found;
        match adjacent {
            Some(run) if run.edits == edits && edits > 0 => {
                let chosen = if rightmost { end } else { run.end };
                (EndRun { last: end, end: chosen, ..run }, None)
            }
            _ => {
                let may_be_minimum = change != Some(Ordering::Greater);
                let ended = before.filter(|run| run.may_be_minimum && change != Some(Ordering::Less));
                (EndRun { first: end, last: end, end, edits, may_be_minimum }, ended)
            }
        }
    }

    /// The end of a local minimum that is reported. If the run crosses the origin of a circle, its right part comes
    /// first and is kept in `wrapped` until its left part comes.
    fn chosen(
        &self,
        pattern: u32,
        rightmost: bool,
        circle: Option<Circle>,
        wrapped: &mut BTreeMap<u32, usize>,
    ) -> Option<ReportedEnd> {
        let chosen = |end| Some(ReportedEnd { pattern, end, edits: self.edits });
        let Some(circle) = circle else { return chosen(self.end) };
        let is_right_part = self.first <= circle.before && self.last > circle.before;
        let is_left_part = self.first <= circle.last() && self.last > circle.last();
        match (is_left_part, is_right_part) {
            _ if self.edits == 0 => chosen(self.end).filter(|chosen| circle.owns(chosen.end)),
            // All ends of the circle have the same edits.
            (true, true) => chosen(circle.last()),
            (false, true) => {
                wrapped.insert(pattern, self.end);
                None
            }
            (true, false) => {
                wrapped.remove(&pattern).and_then(|end| chosen(if rightmost { end } else { self.end }))
            }
            (false, false) => chosen(self.end).filter(|chosen| circle.owns(chosen.end)),
        }
    }
}

impl Gatherer {
    /// Sets how a circular text is unrolled, before its first part comes. Its hits have positions on the circle.
    pub fn set_circle(&mut self, circle: Option<Circle>) {
        self.circle = circle;
    }

    /// Number of hits returned so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Whether no further hit will be returned.
    pub fn is_done(&self, wanted: &HitOptions) -> bool {
        wanted.first && self.given > 0
    }

    /// Adds the ends of a part of a text, sorted by pattern and end. The part ends before `to`; the last part ends with
    /// the text. The hits of the part before must have been taken.
    pub fn put(
        &mut self,
        wanted: &HitOptions,
        patterns: &[Vec<u8>],
        text: &[u8],
        ends: &[TextEnd],
        to: usize,
    ) {
        if self.is_done(wanted) {
            return;
        }
        let asks = wanted.limits.is_some() || wanted.pam.is_some();
        let anchors = asks.then(|| wanted.anchors(patterns, text, ends, &mut self.tried));
        self.put_anchors(wanted, text, anchors.as_deref().unwrap_or(ends), to);
    }

    /// Adds the anchors of a part ([`super::sites`]) at positions up to `to`. All parts of a text must use either
    /// [`Gatherer::put`] or this function.
    pub fn put_anchors(&mut self, wanted: &HitOptions, text: &[u8], ends: &[TextEnd], to: usize) {
        if self.is_done(wanted) {
            return;
        }
        let whole = to == text.len();
        let known: Vec<TextEnd>;
        let ends = match self.circle {
            None => ends,
            Some(circle) => {
                known = ends.iter().filter(|end| circle.knows(end.end)).copied().collect();
                &known
            }
        };
        if wanted.every_end {
            let is_own = |end: &&TextEnd| self.circle.is_none_or(|circle| circle.owns(end.end));
            self.pending.extend(ends.iter().filter(is_own).map(ReportedEnd::of));
        } else {
            let until = if whole { usize::MAX } else { to };
            self.choose(wanted, ends, until);
        }
        if wanted.best {
            let fewest = self.pending.iter().map(|end| end.edits).chain(self.fewest).min();
            self.pending.retain(|end| Some(end.edits) == fewest);
            self.fewest = fewest;
        }
        self.until = if whole {
            usize::MAX
        } else if wanted.best && self.fewest != Some(0) {
            0
        } else {
            let may_be_chosen = |run: &&EndRun| run.may_be_minimum && !wanted.best;
            let open = self.open.values().filter(may_be_chosen).map(|run| run.end);
            let is_reported = |&(&pattern, _): &(&u32, &usize)| wanted.anchors_at_starts(pattern);
            let open = open.chain(self.wrapped.iter().filter(is_reported).map(|(_, &end)| end));
            // With PAMs before hits, a later end may lead to an earlier start.
            let next = if wanted.pam.is_some() { (to + 1).saturating_sub(wanted.before) } else { to + 1 };
            open.min().unwrap_or(next).min(next)
        };
        let (ready, pending): (Vec<ReportedEnd>, Vec<ReportedEnd>) =
            mem::take(&mut self.pending).into_iter().partition(|end| end.end < self.until);
        self.pending = pending;
        self.ready.extend(ready);
        self.ready.par_sort_unstable_by_key(|end| Reverse((end.end, end.pattern)));
    }

    /// The next hits of the text, in order; empty if no more are final before the next part.
    pub fn next(
        &mut self,
        wanted: &HitOptions,
        patterns: &[Vec<u8>],
        text: &[u8],
    ) -> Result<Vec<PatternHit>, EngineError> {
        loop {
            if self.is_done(wanted) {
                return Ok(Vec::new());
            }
            let ends = self.portion(patterns);
            self.waiting.extend(wanted.hits(patterns, text, &ends)?);
            self.waiting.par_sort_unstable_by_key(PatternHit::order);
            // The next hit ends there or later.
            let earliest = self.ready.last().map_or(self.until, |next| next.end.min(self.until));
            let can_come =
                |hit: &&PatternHit| earliest < usize::MAX && hit.start + wanted.before + 1 >= earliest;
            let sure = self.waiting.iter().take_while(|hit| !can_come(hit)).count();
            let rest = self.waiting.split_off(sure);
            let mut out = mem::replace(&mut self.waiting, rest);
            if let Some(circle) = self.circle {
                out = self.placed(circle, out, earliest == usize::MAX);
            }
            if wanted.first {
                out.truncate(1);
            }
            self.given += out.len() as u64;
            if ends.is_empty() || !out.is_empty() {
                return Ok(out);
            }
        }
    }

    /// Converts the next hits to positions on the circle, in order. Hits across the origin are found first, and are
    /// returned in the order of their starts.
    fn placed(&mut self, circle: Circle, hits: Vec<PatternHit>, are_last: bool) -> Vec<PatternHit> {
        let mut placed = Vec::with_capacity(hits.len());
        for hit in hits {
            let is_across = hit.start < circle.before;
            let hit = circle.place(hit);
            if is_across {
                self.across.insert(hit.order(), hit);
                continue;
            }
            while let Some(first) = self.across.first_entry().filter(|first| *first.key() < hit.order()) {
                placed.push(first.remove());
            }
            placed.push(hit);
        }
        if are_last {
            placed.extend(mem::take(&mut self.across).into_values());
        }
        placed
    }

    /// The ends that are aligned next.
    fn portion(&mut self, patterns: &[Vec<u8>]) -> Vec<ReportedEnd> {
        let mut weight = 0;
        let fits = |end: &&ReportedEnd| {
            let fits = weight < PORTION;
            weight += OF_HIT + patterns[end.pattern as usize].len();
            fits
        };
        let count = self.ready.iter().rev().take_while(fits).count();
        self.ready.split_off(self.ready.len() - count)
    }

    /// Chooses the local minima that are known. Ends up to `to` are known; if the text is complete, all of its ends
    /// are.
    fn choose(&mut self, wanted: &HitOptions, ends: &[TextEnd], to: usize) {
        let Gatherer { circle, wrapped, open: kept, pending: chosen, .. } = self;
        let circle = *circle;
        let mut before = mem::take(kept);
        for ends in ends.chunk_by(|a, b| a.pattern == b.pattern) {
            let pattern = ends[0].pattern;
            let rightmost = wanted.anchors_at_starts(pattern);
            let mut open = before.remove(&pattern);
            for found in ends {
                let (mut run, ended) = EndRun::next(open, found, rightmost);
                chosen.extend(ended.and_then(|run| run.chosen(pattern, rightmost, circle, wrapped)));
                if run.edits == 0 {
                    chosen.extend(run.chosen(pattern, rightmost, circle, wrapped));
                    run.may_be_minimum = false;
                }
                open = Some(run);
            }
            before.extend(open.map(|run| (pattern, run)));
        }
        for (pattern, run) in before {
            // An end may lead to a start that precedes it by the length of a hit.
            let rightmost = wanted.anchors_at_starts(pattern);
            let ahead = if rightmost { wanted.before } else { 0 };
            if run.last + ahead >= to {
                kept.insert(pattern, run);
            } else if run.may_be_minimum {
                chosen.extend(run.chosen(pattern, rightmost, circle, wrapped));
            }
        }
    }
}

impl ReportedEnd {
    fn of(end: &TextEnd) -> ReportedEnd {
        ReportedEnd { end: end.end, pattern: end.pattern, edits: end.edits }
    }
}

impl HitOptions {
    /// The hits of these ends, in their order.
    fn hits(
        &self,
        patterns: &[Vec<u8>],
        text: &[u8],
        ends: &[ReportedEnd],
    ) -> Result<Vec<PatternHit>, EngineError> {
        let letters: usize = ends.iter().map(|end| OF_HIT + patterns[end.pattern as usize].len()).sum();
        let run = (RUN * RUN * ends.len() / letters.max(1)).clamp(1, RUN);
        let hit = |cells: &mut PatternCells, end: &ReportedEnd| self.hit(cells, patterns, text, end);
        ends.par_iter().with_min_len(run).map_init(PatternCells::default, hit).collect()
    }

    /// Index of the hit's pattern, without its orientation.
    fn hit(
        &self,
        cells: &mut PatternCells,
        patterns: &[Vec<u8>],
        text: &[u8],
        end: &ReportedEnd,
    ) -> Result<PatternHit, EngineError> {
        let classes = &patterns[end.pattern as usize];
        let anchor = (end.end, end.edits);
        let found = self.aligned(cells, (end.pattern, classes), text, anchor);
        let Some((place, path)) = found.filter(|(_, path)| align::edits(path) == end.edits) else {
            let text = format!("there is no hit with {} edits at {}", end.edits, end.end);
            return Err(EngineError::Wrong(text));
        };
        let (pattern, strand) = (end.pattern / self.strands.count(), self.strand(end.pattern));
        Ok(PatternHit { start: place.start, end: place.end, pattern, strand, edits: end.edits, path })
    }
}

/// Weight of the ends when hits are made of them in portions of about [`PORTION`].
pub fn weight(patterns: &[Vec<u8>], ends: &[TextEnd]) -> usize {
    ends.iter().map(|end| OF_HIT + patterns[end.pattern as usize].len()).sum()
}
