//! Lists of parts of the references, joined query by query.
//!
//! Each part has all hits of each query among its own references that the limits admit, in order. They include all hits
//! that the limits admit among all references (docs/algorithm.md, section 6). The chosen hits are written like any
//! list.

use super::abreast::{Abreast, GroupBytes, PartQueries};
use super::mates;
use super::part::{MergePart, PartBytes, unread};
use crate::align::hits::Rules;
use crate::align::pairing::{HitInParts, MateInParts, Pairing};
use crate::output::writer::Output;
use crate::output::writer::frame;
use crate::output::writer::list::{
    ListStyle, PartHit, PartLists, PartQuery, QueryTold, ShownHit, by_target, covered_by_targets,
};
use crate::output::writer::receipt::{HitSelection, ListInReceipt};
use crate::output::writer::reread::damaged;
use crate::pipeline::{Reporter, ranking, remarks};
use crate::terms::alignment::{Alignment, InPart, QueryResult};
use crate::terms::error::Result;
use crate::terms::options::{HitFormat, HitLimits, PageOptions};
use std::io;

/// How hits are chosen and written.
struct ListChoice {
    limits: HitLimits,
    rules: Rules,
    pairing: Option<Pairing>,
    /// Whether ranking uses more than scores.
    is_ranked: bool,
    style: ListStyle,
}

/// Whether a part contains lists.
pub fn are_in(part: &MergePart) -> bool {
    part.is_of_references() && HitFormat::named(&part.receipt.task.format).is_some()
}

/// Joins parts that contain lists, and returns the number of queries.
pub fn join(parts: &[MergePart], output: &mut Output, reporter: &dyn Reporter) -> Result<u64> {
    let Some(first) = parts.first() else { return Ok(0) };
    let told = first.receipt.choice.as_ref().and_then(|choice| Some((choice, choice.list.as_ref()?)));
    let named = HitFormat::named(&first.receipt.task.format);
    let (Some((choice, list)), Some((format, packed))) = (told, named) else { return Ok(0) };
    let lists = |_: &MergePart, bytes: PartBytes| Ok(PartLists::new(list.alphabet, packed, bytes));
    let mut abreast: Abreast<PartLists> = Abreast::open(parts, lists)?;
    let mut has_hits = format != HitFormat::Tab;
    if has_hits {
        output.put(abreast.header())?;
    }
    let chosen = ListChoice::new(choice, list, format);
    let mates = if chosen.pairing.is_some() { 2 } else { 1 };
    let mut piece = GroupBytes::new(packed)?;
    let mut limited = 0;
    for _ in (0..first.receipt.records).step_by(mates) {
        let mut queries = Vec::with_capacity(mates);
        for _ in 0..mates {
            queries.push(abreast.next_query()?);
        }
        let query = &queries[0][0];
        piece.begin((query.name.as_bytes(), query.len), output)?;
        limited += chosen.push(queries, &mut piece.bytes).ok_or_else(|| unread(first.path, damaged()))?;
        if !has_hits && !piece.bytes.is_empty() {
            has_hits = true;
            output.put(abreast.header())?;
        }
    }
    if !has_hits {
        output.put(&frame::header_without_hits(&first.receipt.task.format, abreast.header())?)?;
    }
    abreast.end()?;
    piece.finish(output)?;
    if limited > 0 {
        reporter.note(&remarks::limited(limited, &chosen.limits));
    }
    Ok(first.receipt.records)
}

impl PartQueries for PartLists {
    type Query = PartQuery;

    fn next_query(&mut self) -> io::Result<Option<PartQuery>> {
        PartLists::next_query(self)
    }

    fn name(query: &PartQuery) -> &[u8] {
        query.name.as_bytes()
    }
}

impl ListChoice {
    fn new(choice: &HitSelection, list: &ListInReceipt, format: HitFormat) -> ListChoice {
        let &HitSelection { min_score, secondary_ppm, .. } = choice;
        let limits = choice.limits;
        let rules = Rules { min_score, secondary_ppm, ..ranking::rules(&limits) };
        // A part is a file, never a terminal.
        let style = ListStyle { format, columns: list.columns.clone(), page: PageOptions::default() };
        let is_ranked = ranking::is_needed(list.rank, &limits);
        ListChoice { limits, rules, pairing: mates::pairing(choice, rules), is_ranked, style }
    }

    /// Appends the list of a query, or of two mates, given part by part. Returns `None` if they cannot come from parts
    /// of one run. Otherwise returns the number of queries with hits on more targets than are reported.
    fn push(&self, mut queries: Vec<Vec<PartQuery>>, out: &mut Vec<u8>) -> Option<u64> {
        let targets = |parts: &[PartQuery]| {
            let threshold = threshold_of(parts);
            let hits = parts.iter().flat_map(|query| &query.hits);
            let hits = hits.map(|hit| &hit.alignment).filter(|alignment| alignment.score >= threshold);
            ranking::targets_of(hits.map(|alignment| alignment.target))
        };
        let exceeds = |before: usize, hits: &[PartHit]| {
            let reported = hits.iter().map(|hit| hit.alignment.target);
            u64::from(ranking::exceeds(&self.limits, before, reported))
        };
        let Some(pairing) = &self.pairing else {
            let mut parts = queries.pop()?;
            let before = targets(&parts);
            let hits = self.of_query(&mut parts);
            let limited = exceeds(before, &hits);
            self.push_list(&parts.first()?.told(), hits, out);
            return Some(limited);
        };
        let (other, one) = (queries.pop()?, queries.pop()?);
        let mut limited = 0;
        let found = pairing.join([in_parts(&one, &other)?, in_parts(&other, &one)?]);
        for (parts, found) in [one, other].into_iter().zip(found) {
            let told = parts.first()?.told();
            let hits = self.of_mate(&parts, found)?;
            limited += exceeds(targets(&parts), &hits);
            self.push_list(&told, hits, out);
        }
        Some(limited)
    }

    /// The hits of a query, in order.
    fn of_query(&self, parts: &mut [PartQuery]) -> Vec<PartHit> {
        let len = parts.first().map_or(0, |query| query.len);
        let threshold = threshold_of(parts);
        let hits = parts.iter_mut().flat_map(|query| std::mem::take(&mut query.hits));
        let mut hits: Vec<PartHit> = hits.filter(|hit| hit.alignment.score >= threshold).collect();
        hits.sort_by(|one, other| one.alignment.locus().order(&other.alignment.locus()));
        self.ranked(hits, len)
    }

    /// The reported hits of a mate, among the hits that were found together with the other mate's. `None` if a hit has
    /// no line.
    fn of_mate(&self, parts: &[PartQuery], mut found: QueryResult) -> Option<Vec<PartHit>> {
        ranking::limit(&self.rules, &mut found);
        // Equal alignments have equal lines.
        let lines = || parts.iter().flat_map(|query| &query.hits);
        let line_of = |alignment: &Alignment| lines().find(|hit| hit.alignment == *alignment).cloned();
        let hits = found.alignments.iter().map(line_of).collect::<Option<Vec<_>>>()?;
        let len = parts.first()?.len;
        Some(if self.is_ranked { self.ranked(hits, len) } else { hits })
    }

    /// The hits that the limits admit, sorted by rank.
    fn ranked(&self, mut hits: Vec<PartHit>, query_len: usize) -> Vec<PartHit> {
        hits.retain(|hit| {
            ranking::counts(&self.limits, hit.shown.identity.percent(), &hit.alignment, query_len)
        });
        let ranked = hits.into_iter().map(|hit| (hit.rank, hit)).collect();
        ranking::within(&self.limits, ranked, |hit: &PartHit| hit.alignment.target)
    }

    /// Appends the list of a query.
    fn push_list(&self, query: &QueryTold, hits: Vec<PartHit>, out: &mut Vec<u8>) {
        let hits = by_target(hits, |hit| hit.alignment.target);
        let all: Vec<&Alignment> = hits.iter().map(|hit| &hit.alignment).collect();
        let covered = covered_by_targets(&all, query.len);
        let shown = hits.into_iter().zip(covered);
        let shown = shown.map(|(hit, covered_by_target)| ShownHit { covered_by_target, ..hit.shown });
        self.style.push(out, query, &shown.collect::<Vec<_>>());
    }
}

/// Minimum score of a hit of a query; each part knows its own minimum.
fn threshold_of(parts: &[PartQuery]) -> i32 {
    parts.iter().map(|query| query.threshold).max().unwrap_or(i32::MIN)
}

/// The hits of a mate in the parts. A hit may refer to a hit of the other mate.
fn in_parts(own: &[PartQuery], other: &[PartQuery]) -> Option<MateInParts> {
    let mut mate = MateInParts::default();
    for (own, other) in own.iter().zip(other) {
        for PartHit { alignment, in_part, .. } in &own.hits {
            let beside = match in_part {
                InPart::Rescued => continue,
                InPart::Hit { beside: None } => None,
                InPart::Hit { beside: Some(place) } => {
                    Some(other.hits.get(*place as usize)?.alignment.clone())
                }
            };
            mate.hits.push(HitInParts { alignment: alignment.clone(), beside });
        }
    }
    Some(mate)
}
