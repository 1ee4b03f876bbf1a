//! Finds hits beside a PAM by starting from the PAM: patterns are compared only next to one.
//!
//! A *site* is an edge with the PAM beside it. A *guide* is a pattern read away from the PAM, so that both strands have
//! the same guides: on one of them the text is read backwards, and on the reverse strand its bases are complemented.
//! The edits of a guide at a site are the minimum over stretches that begin there, and do not depend on how the site
//! was found. So the anchors ([`super::anchors`]) equal those derived from a scan's ends.
//!
//! - `seeds` computes the words at a site with which a part of a guide may have few edits.
//! - `guides` chooses seeds by their cost, and compares a guide with a site.
//! - `look` processes a stretch, packed in either direction: sites, words, guides.
//!
//! If there are many sites, or if words lead to many guides, a sweep costs less. A stretch with too many of them, and
//! any pattern for which a sweep costs less from the start, is scanned by an [`EndScan`], whose ends give the anchors.

mod guides;
mod look;
mod seeds;

use super::anchors::Tried;
use super::hits::HitOptions;
use super::pam::Pam;
use super::pattern::{BaseClass, complement};
use super::room::EndCapacity;
use super::stream::{Seams, Stream, TextEnd};
use super::{EndScan, scan_some, sliced};
use crate::engine::cpu::simd::InstructionSet;
use crate::terms::alignment::{Strand, Strands};
use crate::terms::casts::whole_usize;
use crate::terms::error::EngineError;
use crate::terms::options::MOST_PAM_LETTERS;
use guides::{Guide, GuideGroup, Plan};
use look::{GuideAnchor, GuideLookup, LookupBuffers};
use rayon::prelude::*;
use std::mem;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bases that a thread processes per task.
const STRETCH: usize = 1 << 16;
/// Approximate nanoseconds on one core for converting a base to planes and finding sites, per strand.
const OF_LETTER: f64 = 0.15;
/// A stretch is swept as soon as looking at it has cost this share of a sweep.
const SHARE: f64 = 0.5;
/// Approximate number of threads that sweep as fast as a GPU.
const DEVICE_THREADS: f64 = 200.0;

/// A part of a text, whose own anchors are searched for: those at positions greater than the start of `own` and up to
/// its end.
pub struct TextPart<'a> {
    /// Index of the text.
    pub text: usize,
    /// DNA codes of the whole text.
    pub codes: &'a [u8],
    pub own: Range<usize>,
}

/// Index of a part, and an interval whose anchors belong to it.
type OwnRange = (usize, Range<usize>);

/// One strand of a search.
#[derive(Clone, Debug)]
pub struct StrandSide {
    /// Index among the orientations of a pattern.
    strand: u32,
    /// Number of orientations.
    strands: u32,
    /// Whether guides are compared from the site towards the start of the text.
    backwards: bool,
    /// All ones if bases are complemented.
    turned: u64,
    /// The PAM, read towards the site.
    pam: Vec<BaseClass>,
}

impl StrandSide {
    fn new(pam: &Pam, strand: Strand, strands: Strands) -> StrandSide {
        let mut classes = pam.classes(strand).to_vec();
        let backwards = pam.is_behind(strand);
        if backwards {
            classes.reverse();
        }
        let turned = if strand == Strand::Reverse { u64::MAX } else { 0 };
        let (strand, strands) = (strands.position(strand), strands.count());
        StrandSide { strand, strands, backwards, turned, pam: classes }
    }

    /// Positions at which sites of a part may occur in planes of `planes.1` bases. Unless the planes are reversed,
    /// their first base is at `planes.0` of a text of `letters` bases.
    fn places(&self, own: &Range<usize>, letters: usize, planes: (usize, usize)) -> Range<usize> {
        let pam = self.pam.len();
        match self.backwards {
            true => {
                let edges = own.start + 1..(own.end + 1).min((letters + 1).saturating_sub(pam));
                let behind = planes.0 + planes.1 + 1;
                if edges.is_empty() { 0..0 } else { behind - edges.end..behind - edges.start }
            }
            false => {
                let edges = own.start.max(pam)..own.end;
                if edges.is_empty() { 0..0 } else { edges.start - planes.0..edges.end - planes.0 }
            }
        }
    }

    /// Expected share of positions that are sites in a random text.
    fn share(&self) -> f64 {
        self.pam.iter().map(|class| f64::from((class & 15).count_ones()) / 4.0).product()
    }
}

/// Finds the anchors of patterns that have a PAM.
pub struct PamSites {
    set: InstructionSet,
    wanted: HitOptions,
    sides: Vec<StrandSide>,
    plans: Vec<Plan>,
    groups: OnceLock<Vec<GuideGroup>>,
    /// Patterns that are always swept.
    others: Vec<u32>,
    /// Number of bases swept so far instead.
    swept: AtomicU64,
    /// Bases that a thread processes per task.
    stretch: usize,
    /// Looking at a stretch may cost at most this share of a sweep.
    share: f64,
}

impl PamSites {
    /// For oriented patterns; `None` if a sweep costs less.
    pub fn new(set: InstructionSet, wanted: &HitOptions, patterns: &[Vec<BaseClass>]) -> Option<PamSites> {
        let mut sites = PamSites::within(set, wanted, patterns, (STRETCH, SHARE))?;
        let all = mem::take(&mut sites.plans).into_iter();
        let (plans, swept): (Vec<Plan>, Vec<Plan>) =
            all.partition(|plan| sites.of_looks(plan) < SHARE * sites.of_sweep(plan));
        let swept =
            swept.iter().flat_map(|plan| &plan.guides).flat_map(|guide| wanted.oriented(guide.number));
        let mut others: Vec<u32> = sites.others.iter().copied().chain(swept).collect();
        others.sort_unstable();
        let is_more = plans.iter().map(|plan| plan.guides.len()).sum::<usize>()
            * wanted.strands.count() as usize
            > others.len();
        is_more.then_some(PamSites { plans, others, ..sites })
    }

    /// For all patterns that can be searched for from a PAM, with stretches of `stretch` bases that may each cost the
    /// share `share` of a sweep; `None` if there are no such patterns or no PAM. For tests: with an infinite share,
    /// none of these patterns is ever swept.
    pub fn within(
        set: InstructionSet,
        wanted: &HitOptions,
        patterns: &[Vec<BaseClass>],
        (stretch, share): (usize, f64),
    ) -> Option<PamSites> {
        let pam = wanted.pam.as_ref()?;
        let orientations = wanted.strands.orientations().iter();
        let sides: Vec<StrandSide> =
            orientations.map(|&strand| StrandSide::new(pam, strand, wanted.strands)).collect();
        if sides[0].pam.len() > MOST_PAM_LETTERS {
            return None;
        }
        let guide = |(number, classes): (u32, &Vec<BaseClass>)| {
            let mut classes = classes.clone();
            if sides[0].backwards {
                classes.reverse();
            }
            // Guides are those of the forward strand.
            if wanted.strands == Strands::Minus {
                classes.iter_mut().for_each(|class| *class = complement(*class));
            }
            let edits = wanted.rule_of(classes.len()).max_edits as usize;
            Guide { number, classes, edits }
        };
        let guides = (0..).zip(patterns.iter().step_by(wanted.strands.count() as usize)).map(guide).collect();
        let (plans, others) = Plan::all(guides, wanted.rule.indels);
        let mut others: Vec<u32> = others.into_iter().flat_map(|number| wanted.oriented(number)).collect();
        others.sort_unstable();
        (!plans.is_empty()).then(|| PamSites {
            set,
            wanted: wanted.clone(),
            sides,
            plans,
            groups: OnceLock::new(),
            others,
            swept: AtomicU64::new(0),
            stretch,
            share,
        })
    }

    /// Number of bases before and after a part on which its anchors may depend.
    pub fn reach(&self) -> usize {
        self.wanted.before + 1 + self.sides[0].pam.len()
    }

    /// Approximate speedup over a sweep.
    pub fn gain(&self) -> f64 {
        let sum = |of: &dyn Fn(&Plan) -> f64| self.plans.iter().map(of).sum::<f64>();
        sum(&|plan| self.of_sweep(plan)) / sum(&|plan| self.of_looks(plan)).max(f64::MIN_POSITIVE)
    }

    /// Whether a GPU that sweeps is no faster than `threads` threads that look at sites.
    pub fn need_no_device(&self, threads: usize) -> bool {
        self.gain() * threads as f64 >= DEVICE_THREADS
    }

    /// Cost of looking at a base of a random text.
    fn of_looks(&self, plan: &Plan) -> f64 {
        self.sides.iter().map(|side| OF_LETTER + side.share() * plan.of_site).sum()
    }

    /// Cost of sweeping a base.
    fn of_sweep(&self, plan: &Plan) -> f64 {
        let rows: usize = plan.guides.iter().map(|guide| guide.classes.len()).sum();
        sliced::cost(self.set, rows * self.sides.len())
    }

    /// The anchors of all patterns in parts of texts, sorted by text, pattern and position. If `room` runs out, the
    /// result is incomplete. `scan` sweeps, and `patterns` are the oriented patterns. All texts have at least `letters`
    /// bases, those of later calls included.
    pub fn anchors(
        &self,
        scan: &dyn EndScan,
        patterns: &[Vec<BaseClass>],
        parts: &[TextPart],
        letters: u64,
        room: &EndCapacity,
    ) -> Result<Vec<TextEnd>, EngineError> {
        let mut anchors = Vec::new();
        let all: Vec<OwnRange> = parts.iter().map(|part| part.own.clone()).enumerate().collect();
        if self.are_made(parts, letters) {
            let kept = self
                .are_kept()
                .then(|| self.groups.get_or_init(|| self.plans.iter().map(GuideGroup::new).collect()));
            for (number, plan) in self.plans.iter().enumerate() {
                let fresh = kept.is_none().then(|| GuideGroup::new(plan));
                let Some(group) = fresh.as_ref().or_else(|| kept?.get(number)) else { continue };
                let (found, left) = self.look(plan, group, parts, room);
                for found in found {
                    let Some(part) = found.first().map(|first| &parts[first.text]) else { continue };
                    let text = part.text;
                    let found = self.wanted.within_limits(patterns, part.codes, found);
                    anchors.extend(found.into_iter().map(|anchor| TextEnd { text, ..anchor }));
                }
                anchors.extend(self.sweep(scan, (patterns, &self.of_plan(plan)), parts, &left, room)?);
            }
        } else {
            let own: Vec<u32> = self.plans.iter().flat_map(|plan| self.of_plan(plan)).collect();
            anchors.extend(self.sweep(scan, (patterns, &own), parts, &all, room)?);
        }
        anchors.extend(self.sweep(scan, (patterns, &self.others), parts, &all, room)?);
        anchors.par_sort_unstable();
        Ok(anchors)
    }

    /// Whether the tables exist, or building them pays for itself: in the bases that are known to come, or in those
    /// that were swept without tables.
    fn are_made(&self, parts: &[TextPart], all: u64) -> bool {
        if self.groups.get().is_some() || self.share.is_infinite() {
            return true;
        }
        let letters: u64 = parts.iter().map(|part| part.own.len() as u64).sum();
        let swept = self.swept.fetch_add(letters, Ordering::Relaxed);
        let letters = all.max(swept + letters) as f64;
        let spares = |plan: &Plan| letters * (self.of_sweep(plan) - self.of_looks(plan)).max(0.0);
        let (spared, made): (f64, f64) = self
            .plans
            .iter()
            .fold((0.0, 0.0), |(spared, made), plan| (spared + spares(plan), made + plan.of_tables()));
        spared > made
    }

    /// Whether the tables of all groups are kept for the next call.
    fn are_kept(&self) -> bool {
        self.plans.iter().map(|plan| plan.words).sum::<usize>() <= guides::MOST_KEPT
    }

    fn of_plan(&self, plan: &Plan) -> Vec<u32> {
        let mut own: Vec<u32> =
            plan.guides.iter().flat_map(|guide| self.wanted.oriented(guide.number)).collect();
        own.sort_unstable();
        own
    }

    /// The anchors of a group's guides in each stretch, with the number of the part as their text, and the ranges left
    /// for a sweep.
    fn look(
        &self,
        plan: &Plan,
        group: &GuideGroup,
        parts: &[TextPart],
        room: &EndCapacity,
    ) -> (Vec<Vec<TextEnd>>, Vec<OwnRange>) {
        let stretches: Vec<OwnRange> = parts
            .iter()
            .enumerate()
            .flat_map(|(number, part)| {
                let Range { start, end } = part.own;
                (start..end)
                    .step_by(self.stretch)
                    .map(move |from| (number, from..end.min(from + self.stretch)))
            })
            .collect();
        let of_sweep = self.of_sweep(plan);
        let look = |scratch: &mut LookupBuffers, (number, own): &OwnRange| {
            let part = &parts[*number];
            if room.is_over() {
                return (Vec::new(), None);
            }
            let most = self.share * of_sweep * own.len() as f64;
            let found = self.set.run(GuideLookup {
                group,
                sides: &self.sides,
                text: part.codes,
                own: own.clone(),
                scratch,
                most_sites: whole_usize(most / group.of_site),
                most_guides: whole_usize(most / guides::COMPARE),
            });
            let Some(found) = found else { return (Vec::new(), Some((*number, own.clone()))) };
            room.take(found.len());
            let anchor =
                |GuideAnchor { pattern, place, edits }| TextEnd { text: *number, pattern, end: place, edits };
            (found.into_iter().map(anchor).collect(), None)
        };
        let looked: Vec<_> = stretches.par_iter().map_init(LookupBuffers::default, look).collect();
        let (anchors, left): (Vec<Vec<TextEnd>>, Vec<Option<_>>) = looked.into_iter().unzip();
        (anchors, joined(left.into_iter().flatten()))
    }

    /// The anchors of some patterns in some ranges, derived from the ends of a sweep.
    fn sweep(
        &self,
        scan: &dyn EndScan,
        (patterns, some): (&[Vec<BaseClass>], &[u32]),
        parts: &[TextPart],
        left: &[OwnRange],
        room: &EndCapacity,
    ) -> Result<Vec<TextEnd>, EngineError> {
        let wanted = &self.wanted;
        let longest = left.iter().map(|(number, _)| parts[*number].codes.len()).max().unwrap_or(0);
        let fits = |&place: &u32| {
            let len = patterns[place as usize].len();
            wanted.rule_of(len).least_end(len) <= longest
        };
        let some: Vec<u32> = some.iter().copied().filter(fits).collect();
        if left.is_empty() || some.is_empty() {
            return Ok(Vec::new());
        }
        let seams = Seams::new(some.iter().map(|&place| patterns[place as usize].len()), &wanted.rule);
        let mut stream = Stream::default();
        for (place, (number, own)) in left.iter().enumerate() {
            let codes = parts[*number].codes;
            // Ends after a part may lead to starts in it.
            let to = codes.len().min(own.end + wanted.before + 1);
            stream.push(&seams, place, codes, own.start..to);
        }
        let mut ends = Vec::new();
        for (rule, some) in wanted.by_rule(patterns, Some(some.clone())) {
            let some = some.unwrap_or_default();
            ends.extend(scan_some(scan, &stream.codes, (patterns, &some), &rule, room)?);
        }
        let ends = stream.place(&ends, patterns, &wanted.rule);
        let of_parts: Vec<&[TextEnd]> = ends.chunk_by(|a, b| a.text == b.text).collect();
        let anchors = of_parts.par_iter().flat_map_iter(|ends| {
            let (number, own) = &left[ends[0].text];
            let part = &parts[*number];
            // Starts before the part belong to other parts.
            let mut tried: Tried = some.iter().map(|&pattern| (pattern, own.start)).collect();
            let anchors = wanted.anchors(patterns, part.codes, ends, &mut tried);
            let is_own = |anchor: &TextEnd| (own.start + 1..=own.end).contains(&anchor.end);
            anchors.into_iter().filter(is_own).map(|anchor| TextEnd { text: part.text, ..anchor })
        });
        Ok(anchors.collect())
    }
}

/// Joins adjacent ranges of the same part.
fn joined(ranges: impl Iterator<Item = OwnRange>) -> Vec<OwnRange> {
    let mut joined: Vec<OwnRange> = Vec::new();
    for (number, range) in ranges {
        match joined.last_mut() {
            Some((last, before)) if *last == number && before.end == range.start => before.end = range.end,
            _ => joined.push((number, range)),
        }
    }
    joined
}
