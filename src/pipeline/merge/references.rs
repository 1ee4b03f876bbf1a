//! Parts of the references, joined query by query.
//!
//! Each part has the hits of each query among its own references that the limits admit, in order. They include all hits
//! that the limits admit among all references. So the hits of the whole are the hits of the parts, sorted together, cut
//! by the best hit's score, and limited again (docs/algorithm.md, section 6). The writer of the whole run writes them.
//! Memory contains a few megabytes of queries with their hits, and one query of each part.

use super::part::{AGAIN, MergePart, OTHER_VERSION, OpenPart, PartBytes, PartTail, unread};
use super::{SharedHeader, no_part, open_files, refused};
use crate::align::end_bonus::{ReportedScores, leave_out_of_queries};
use crate::align::hits::Rules;
use crate::align::pairing::{HitInParts, MateInParts, Pairing};
use crate::input::reader::FileRecord;
use crate::output::writer::frame::damaged;
use crate::output::writer::part::{HeaderFault, HitSelection, PartHeader, PartHit, PartQuery, PartReader};
use crate::output::writer::sink::RecordSink;
use crate::output::writer::targets::{HitTarget, StoredTargets};
use crate::output::writer::{Output, Writer};
use crate::pipeline::ranking::{self, RankKey, Ranking};
use crate::pipeline::remarks;
use crate::pipeline::report::{QUERIES, Reporter, counted};
use crate::terms::alignment::{Alignment, InPart, QueryResult, Strand, Tier};
use crate::terms::alphabet::reverse_complement;
use crate::terms::casts::to_u32;
use crate::terms::error::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;

/// Bytes of the queries that are joined at once, in all parts together.
const BATCH_BYTES: usize = 1 << 22;

/// Refuses parts of different queries.
pub fn check(parts: &[MergePart]) -> Result<()> {
    for pair in parts.windows(2) {
        let [first, second] = [&pair[0], &pair[1]];
        let [before, after] = [first, second].map(|part| part.receipt.records);
        if before != after {
            let problem =
                format!("it is of {}, but {} of {before}", counted(after, QUERIES), first.path.display());
            return Err(refused(second.path, problem, "the input has changed: write all parts again"));
        }
    }
    Ok(())
}

/// Joins the parts. Returns the number of their queries, and the index of sorted records, which must be finished with the
/// output.
pub fn join(
    parts: &[MergePart],
    output: &mut Output,
    reporter: &dyn Reporter,
) -> Result<(u64, Option<Output>)> {
    let (mut sources, PartHeader { writer, selection }) = open(parts)?;
    let limits = selection.limits;
    writer.check(output)?;
    let mut merged = MergedRun::new(writer, selection);
    let mut sink = merged.writer.sink(output)?;
    loop {
        let batch = merged.read(&mut sources)?;
        if batch.is_empty() {
            break;
        }
        merged.write(&sources, &batch, (&mut sink, output))?;
    }
    if !merged.has_begun {
        merged.begin(false, output)?;
    }
    sources.into_iter().try_for_each(|source| source.end(merged.queries))?;
    let index = sink.finish(output)?;
    merged.writer.finish(output, merged.queries)?;
    if merged.limited > 0 {
        reporter.note(&remarks::limited(merged.limited, &limits));
    }
    Ok((merged.queries, index))
}

/// A part, and its queries that are not read yet.
struct Source<'a> {
    part: &'a MergePart<'a>,
    queries: PartReader<PartBytes>,
    rest: PartTail,
}

/// The bytes of a query in each part.
type QueryBytes = Vec<Vec<u8>>;

/// Opens the parts, and reads the header that they share.
fn open<'a>(parts: &'a [MergePart]) -> Result<(Vec<Source<'a>>, PartHeader)> {
    let mut header = SharedHeader::default();
    let mut shared = None;
    let mut sources = Vec::with_capacity(parts.len());
    let at_once = open_files::at_once(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let OpenPart { header: of_part, records, rest } = part.open_among(index < at_once)?;
        if let Some(header) = header.first(of_part, part)? {
            shared = Some(PartHeader::read(header).map_err(|fault| unread_header(part, fault))?);
        }
        sources.push(Source { part, queries: PartReader::new(records), rest });
    }
    Ok((sources, shared.ok_or_else(no_part)?))
}

fn unread_header(part: &MergePart, fault: HeaderFault) -> Error {
    match fault {
        HeaderFault::Damaged => {
            refused(part.path, "its header is damaged, or does not match its receipt", AGAIN)
        }
        HeaderFault::Version => {
            refused(part.path, "it was written by another version of swalign", OTHER_VERSION)
        }
    }
}

impl Source<'_> {
    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        self.queries.next_query().map_err(|error| unread(self.part.path, error))
    }

    fn next_query(&mut self) -> Result<Vec<u8>> {
        self.read()?.ok_or_else(|| self.part.miscounted("fewer"))
    }

    fn damaged(&self) -> Error {
        unread(self.part.path, damaged())
    }

    /// Refuses a part that has more queries, or whose bytes differ from those that were written.
    fn end(mut self, queries: u64) -> Result<()> {
        match self.read()? {
            None if queries == self.part.receipt.records => self.rest.check(self.part),
            _ => Err(self.part.miscounted("more")),
        }
    }
}

/// The run that the parts are of. It takes their hits instead of searching.
struct MergedRun {
    writer: Writer,
    ranking: Ranking,
    /// `None` for single reads.
    pairing: Option<Pairing>,
    reported: ReportedScores,
    /// Number of queries that were read.
    queries: u64,
    /// Name of the last query that was written.
    before: Option<String>,
    /// Whether the header is written.
    has_begun: bool,
    /// Number of queries with hits on more targets than are reported.
    limited: u64,
}

/// A query of all parts.
struct JoinedQuery {
    record: FileRecord,
    found: QueryResult,
    /// The hits of all parts, with their targets.
    hits: Vec<PartHit>,
}

impl MergedRun {
    fn new(writer: Writer, selection: HitSelection) -> MergedRun {
        let HitSelection { min_score, anchored_score: anchored, secondary_ppm, .. } = selection;
        let rules = Rules { min_score, secondary_ppm, ..ranking::rules(&selection.limits) };
        let pairing = selection.insert.map(|insert| Pairing::new(insert, rules, writer.scoring()));
        let rescued = pairing.map(|pairing| pairing.rescued);
        MergedRun {
            writer,
            ranking: Ranking::of_parts(selection),
            pairing,
            reported: ReportedScores { min_score, anchored, supplementary: 0, rescued },
            queries: 0,
            before: None,
            has_begun: false,
            limited: 0,
        }
    }

    /// Queries of a unit, whose hits are chosen together.
    fn unit(&self) -> usize {
        if self.pairing.is_some() { 2 } else { 1 }
    }

    /// Reads some of the queries; none at the end.
    fn read(&mut self, sources: &mut [Source]) -> Result<Vec<QueryBytes>> {
        let records = sources.first().map_or(0, |source| source.part.receipt.records);
        let mut batch = Vec::new();
        let mut bytes = 0;
        while self.queries < records && bytes < BATCH_BYTES {
            for _ in 0..self.unit() {
                let query = sources.iter_mut().map(Source::next_query).collect::<Result<QueryBytes>>()?;
                bytes += query.iter().map(Vec::len).sum::<usize>();
                batch.push(query);
                self.queries += 1;
            }
        }
        Ok(batch)
    }

    /// Writes the last queries that were read.
    fn write(
        &mut self,
        sources: &[Source],
        batch: &[QueryBytes],
        (sink, output): (&mut RecordSink, &mut Output),
    ) -> Result<()> {
        let first = self.queries - batch.len() as u64;
        let units = batch.par_chunks(self.unit()).enumerate();
        let joined = units.map(|(unit, queries)| {
            let number = first + 1 + (unit * self.unit()) as u64;
            self.joined(sources, number, queries)
        });
        // Collected as results, so that the error of the first query is reported.
        let joined: Vec<Result<Vec<JoinedQuery>>> = joined.collect();
        let mut targets = StoredTargets::default();
        let (mut records, mut found) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for unit in joined {
            for JoinedQuery { record, found: of_query, hits } in unit? {
                records.push(record);
                found.push(of_query);
                hits.into_iter().for_each(|hit| targets.add(&hit.alignment, hit.target));
            }
        }
        self.writer.set_targets(targets);
        self.limited += self.select(&records, &mut found);
        let bytes = self.writer.parts((first, self.before.as_deref()), &records, &found)?;
        let has_hits = found.iter().any(|found| !found.alignments.is_empty());
        if !self.has_begun && (has_hits || self.writer.header_without_hits().is_none()) {
            self.begin(has_hits, output)?;
        }
        self.before = records.pop().map(|record| record.name);
        bytes.into_iter().try_for_each(|bytes| sink.add(bytes, output))
    }

    /// Writes the header, which may depend on whether any query has a hit.
    fn begin(&mut self, has_hits: bool, output: &mut Output) -> Result<()> {
        self.has_begun = true;
        self.writer.header_for(has_hits).iter().try_for_each(|part| output.put(part))
    }

    /// A query, or two mates, with the hits of all parts that count by their scores. `number` is that of the first
    /// query, from 1.
    fn joined(&self, sources: &[Source], number: u64, queries: &[QueryBytes]) -> Result<Vec<JoinedQuery>> {
        let parsed = (number..).zip(queries).map(|(number, query)| self.parsed(sources, number, query));
        let queries = parsed.collect::<Result<Vec<Vec<PartQuery>>>>()?;
        let found = self.found(&queries).ok_or_else(|| sources[0].damaged())?;
        let joined = queries.into_iter().zip(found).map(|(mut parts, found)| {
            let record = std::mem::take(&mut parts[0].record);
            JoinedQuery { record, found, hits: parts.into_iter().flat_map(|part| part.hits).collect() }
        });
        Ok(joined.collect())
    }

    /// A query of each part. All parts must have the same query, and only the first one has its residues.
    fn parsed(&self, sources: &[Source], number: u64, query: &QueryBytes) -> Result<Vec<PartQuery>> {
        let first = sources[0].part;
        let mut parts: Vec<PartQuery> = Vec::with_capacity(sources.len());
        for (source, bytes) in sources.iter().zip(query) {
            let part = PartQuery::parse(bytes, self.writer.scoring().alphabet);
            let part = part.ok_or_else(|| source.damaged())?;
            let FileRecord { name, sequence, .. } = &parts.first().unwrap_or(&part).record;
            if part.record.name != *name {
                let (other, path) = (&part.record.name, first.path.display());
                let problem = format!("its query {number} is '{other}', but that of {path} is '{name}'");
                return Err(refused(source.part.path, problem, "write all parts with the same queries"));
            }
            if !part.fits(sequence.len()) {
                return Err(source.damaged());
            }
            parts.push(part);
        }
        Ok(parts)
    }

    /// The hits of a query, or of two mates, in all parts. `None` if they cannot come from parts of one run.
    fn found(&self, queries: &[Vec<PartQuery>]) -> Option<Vec<QueryResult>> {
        match (&self.pairing, queries) {
            (Some(pairing), [one, other]) => {
                let lens = [one, other].map(|parts| to_u32(parts[0].record.sequence.len()));
                let mates = [in_parts(one, Some(other))?, in_parts(other, Some(one))?];
                Some(pairing.join(mates, lens).into())
            }
            (None, [query]) => Some(vec![best(in_parts(query, None)?)]),
            _ => None,
        }
    }

    /// Keeps the hits that are reported, with their reported scores. Returns the number of queries with hits on more
    /// targets.
    fn select(&self, records: &[FileRecord], found: &mut [QueryResult]) -> u64 {
        let mut are_limited = vec![false; found.len()];
        let is_ranked = self.ranking.is_needed();
        if let Some(pairing) = &self.pairing {
            for (is_limited, found) in are_limited.iter_mut().zip(found.iter_mut()) {
                *is_limited = ranking::limit(&pairing.rules, found);
            }
        }
        if is_ranked || self.pairing.is_none() {
            let key = |query: usize, hit: &Alignment| match is_ranked {
                true => self.key(&records[query], hit),
                false => RankKey::Counts(f64::from(hit.score)),
            };
            let left_out = self.ranking.choose_by(key, found, self.writer.chooses_as_records());
            for (is_limited, left_out) in are_limited.iter_mut().zip(left_out) {
                *is_limited |= left_out.limited;
            }
        }
        let end_bonus = self.writer.scoring().end_bonus;
        leave_out_of_queries(end_bonus, self.reported, found, |query| records[query].sequence.len());
        // Parts of the references have no circular targets.
        self.pairing.iter().for_each(|pairing| pairing.confirm(&|_| None, found));
        are_limited.into_iter().map(u64::from).sum()
    }

    fn key(&self, record: &FileRecord, hit: &Alignment) -> RankKey {
        let scoring = self.writer.scoring();
        let letters = match hit.strand {
            Strand::Reverse => Cow::Owned(reverse_complement(&record.sequence)),
            _ => Cow::Borrowed(&record.sequence),
        };
        let code = |&letter: &u8| scoring.alphabet.code(letter).unwrap_or_default();
        let query: Vec<u8> = letters.iter().map(code).collect();
        let HitTarget { aligned, len, .. } = self.writer.targets().of(hit);
        self.ranking.unmasked_key(scoring, &query, hit, aligned, len as usize)
    }
}

/// The hits of a query in the parts, given the query and, for mates, the other mate. A hit may refer to a hit of the other
/// mate. Hits of the second tier count if no part has a hit of the first tier.
fn in_parts(own: &[PartQuery], other: Option<&[PartQuery]>) -> Option<MateInParts> {
    let has = |tier: &Tier| own.iter().any(|part| part.tier == *tier);
    let tier = [Tier::Proven, Tier::Anchored].into_iter().find(has).unwrap_or_default();
    let mut found = MateInParts { tier, threshold: i32::MIN, ..MateInParts::default() };
    for (at, part) in own.iter().enumerate().filter(|(_, part)| part.tier == tier) {
        found.threshold = found.threshold.max(part.threshold);
        found.second = found.second.max(part.second);
        for PartHit { alignment, in_part, .. } in &part.hits {
            let beside = match in_part {
                InPart::Rescued => continue,
                InPart::Hit { beside: None } => None,
                InPart::Hit { beside: Some(place) } => {
                    Some(other?[at].hits.get(*place as usize)?.alignment.clone())
                }
            };
            found.hits.push(HitInParts { alignment: alignment.clone(), beside });
        }
    }
    Some(found)
}

/// The hits of a single query that score enough among all parts, in order.
fn best(MateInParts { hits, second, threshold, tier }: MateInParts) -> QueryResult {
    let hits = hits.into_iter().map(|hit| hit.alignment);
    let mut alignments: Vec<Alignment> = hits.filter(|hit| hit.score >= threshold).collect();
    alignments.sort_by(|one, other| one.locus().order(&other.locus()));
    // A part states the second-best score, or it is that of one of the hits.
    let second = second.max(alignments.get(1).map(|hit| hit.score)).filter(|&score| score >= threshold);
    QueryResult { alignments, second, threshold, tier, ..QueryResult::default() }
}
