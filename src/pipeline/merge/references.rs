//! Parts of the references, joined query by query.
//!
//! Each part has the hits of each query among its own references that the limits admit, in order. They include all hits
//! that the limits admit among all references. So the hits of the whole are the hits of the parts, sorted together, cut
//! by the best hit's score, and limited again (docs/algorithm.md, section 6). Memory contains one query's records of
//! each part, and a few megabytes and one query of the output.

use super::abreast::{Abreast, GroupBytes, PartQueries};
use super::mates;
use super::part::{AGAIN, MergePart, unread};
use super::refused;
use crate::align::hits::Rules;
use crate::align::quality::{Typical, of_tier, quality_of};
use crate::output::writer::Output;
use crate::output::writer::receipt::HitSelection;
use crate::output::writer::reread::{PartRecord, PartRecords, QueryInPart, RecordHit, RecordKind, damaged};
use crate::pipeline::ranking;
use crate::pipeline::report::{QUERIES, counted};
use crate::terms::alignment::Tier;
use crate::terms::error::Result;
use crate::terms::options::{Format, HitLimits};
use std::cmp::Reverse;
use std::io;

/// Refuses parts that chose hits with different parameters, or among different queries.
pub fn check(parts: &[MergePart]) -> Result<()> {
    for pair in parts.windows(2) {
        let [first, second] = [&pair[0], &pair[1]];
        if first.receipt.choice != second.receipt.choice {
            let problem =
                format!("its hits were selected with other limits than those of {}", first.path.display());
            return Err(refused(second.path, problem, "give the parts of one run"));
        }
        let [before, after] = [first, second].map(|part| part.receipt.records);
        if before != after {
            let problem =
                format!("it is of {}, but {} of {before}", counted(after, QUERIES), first.path.display());
            return Err(refused(second.path, problem, "the input has changed: write all parts again"));
        }
    }
    Ok(())
}

/// Joins parts that contain records, and returns the number of queries.
pub fn join(parts: &[MergePart], output: &mut Output) -> Result<u64> {
    let records = |part: &MergePart, bytes| {
        let (format, in_blocks) = format_of(part)?;
        Ok(PartRecords::new(format, in_blocks, bytes))
    };
    let mut abreast: Abreast<PartRecords> = Abreast::open(parts, records)?;
    output.put(abreast.header())?;
    let Some((first, choice)) = parts.first().and_then(|part| Some((part, part.receipt.choice.as_ref()?)))
    else {
        return Ok(0);
    };
    let &HitSelection { min_score, secondary_ppm, ref limits, .. } = choice;
    let rules = Rules { min_score, secondary_ppm, ..ranking::rules(limits) };
    let pairing = mates::pairing(choice, rules);
    let mut piece = GroupBytes::new(format_of(first)?.1)?;
    for _ in (0..first.receipt.records).step_by(if pairing.is_some() { 2 } else { 1 }) {
        let query = abreast.next_query()?;
        let record = &query[0][0];
        piece.begin((record.query_name(pairing.is_some()), record.letters()), output)?;
        let chosen = match &pairing {
            None => choose(limits, &choice.typical, &query, &mut piece.bytes),
            Some(pairing) => {
                let mate = abreast.next_query()?;
                mates::choose(pairing, [query, mate], &mut piece.bytes)
            }
        };
        chosen.ok_or_else(|| unread(first.path, damaged()))?;
    }
    abreast.end()?;
    piece.finish(output)?;
    Ok(first.receipt.records)
}

impl PartQueries for PartRecords {
    /// Records of a query, the primary one first.
    type Query = Vec<PartRecord>;

    fn next_query(&mut self) -> io::Result<Option<Vec<PartRecord>>> {
        let records = PartRecords::next_query(self)?;
        Ok((!records.is_empty()).then_some(records))
    }

    fn name(query: &Vec<PartRecord>) -> &[u8] {
        query[0].name()
    }
}

/// Appends the records of a query that are its hits among all references. `None` if the records are inconsistent.
fn choose(limits: &HitLimits, typical: &Typical, query: &[Vec<PartRecord>], out: &mut Vec<u8>) -> Option<()> {
    let of_part = |records: &Vec<PartRecord>| Some(records.first()?.of_query?.tier);
    let tier = tier_of(query.iter().filter_map(of_part));
    let counts = |records: &&Vec<PartRecord>| of_part(records) == Some(tier);
    let told = query.iter().filter(counts).filter_map(|records| records.first()?.of_query);
    let told: Vec<QueryInPart> = told.collect();
    let threshold = told.iter().map(|told| told.threshold).max()?;
    let records = query.iter().filter(counts).flatten();
    let aligned = records.clone().filter_map(|record| Some((record, record.aligned?)));
    let mut hits: Vec<(&PartRecord, RecordHit)> = aligned.filter(|(_, hit)| hit.score >= threshold).collect();
    // The sort is stable: hits of one part keep their order, and among equal hits of two parts, the earlier part has
    // the earlier reference.
    hits.sort_by_key(|(_, hit)| (Reverse(hit.score), hit.strand));
    let Some(&(primary, best)) = hits.first() else {
        // The part with the best hit reports none, since no limit admits it.
        records.clone().find(|record| record.aligned.is_none())?.push(out, RecordKind::Unmapped);
        return Some(());
    };
    if best.secondary {
        return None;
    }
    // The second-best score is stated by a part, or it is that of one of the records.
    let second =
        told.iter().filter_map(|told| told.second).chain(hits.get(1).map(|(_, hit)| hit.score)).max();
    let second = second.filter(|&score| score >= threshold);
    let quality = of_tier(quality_of(typical, best.span, best.score, (second, threshold)), tier);
    primary.push(out, RecordKind::Primary { second, quality });
    let ranked = hits.into_iter().map(|hit| (f64::from(hit.1.score), hit)).collect();
    let kept = ranking::within(limits, ranked, |(_, hit)| hit.target);
    kept.into_iter().skip(1).for_each(|(record, _)| record.push(out, RecordKind::Secondary));
    Some(())
}

/// Tier of a query among all parts, each of which states its own tier even without reported hits. Hits of the second
/// tier count if no part has a hit of the first tier.
pub fn tier_of(parts: impl Iterator<Item = Tier> + Clone) -> Tier {
    let has = |tier: &Tier| parts.clone().any(|own| own == *tier);
    [Tier::Proven, Tier::Anchored].into_iter().find(has).unwrap_or_default()
}

/// The format, and whether the output consists of BGZF blocks.
fn format_of(part: &MergePart) -> Result<(Format, bool)> {
    let format = part.format().map(|(format, packed)| (format, packed || format == Format::Bam));
    format.ok_or_else(|| {
        let problem = format!("its .swalign file names an unknown format, {}", part.receipt.task.format);
        refused(part.path, problem, AGAIN)
    })
}
