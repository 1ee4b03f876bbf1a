//! The writer's stage, which scans as well: ends become hits, and hits lines, in the order of the texts.

use super::batch::{ActiveText, Remainder, TextBatch};
use super::counts::Counts;
use super::mates::MateTrimmer;
use super::outputs::SearchOutputs;
use super::{SearchRun, SearchSummary};
use crate::error::Result;
use crate::pipeline::report::warn;
use crate::search::amplicons::{Amplicon, Joiner};
use crate::search::hits::{self, Gatherer, Hit};
use crate::search::room::Room;
use crate::search::sites::TextPart;
use crate::search::stream::TextEnd;
use crate::search::{Scan, scan_some};
use crate::writer::hits::{AmpliconLines, HitLines, put_text};
use rayon::prelude::*;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

/// Ends of a scan, at most, but for the smallest portions.
const ENDS: usize = 1 << 20;
/// Letters of the smallest portion, unless hits are longer.
const LEAST_PORTION: usize = 1 << 8;

/// What was found in the part of a text that ends at `to`.
struct Gathered<'a> {
    active: &'a Arc<ActiveText>,
    to: usize,
    hits: Vec<Hit>,
    gatherer: Gatherer,
}

/// The ends in a part of a text.
struct TextEnds<'a> {
    active: &'a Arc<ActiveText>,
    to: usize,
    ends: &'a [TextEnd],
}

/// Where hits become amplicons.
struct Joined<'a> {
    joiner: Joiner<'a>,
    lines: AmpliconLines<'a>,
}

/// Where the hits go.
struct HitSink<'a> {
    lines: HitLines<'a>,
    /// What joins hits, where amplicons are asked for.
    joined: Option<Joined<'a>>,
    /// What trims mates, if the texts are mates.
    mates: Option<MateTrimmer<'a>>,
    /// The hits of the text that goes on in the next part.
    carried: Gatherer,
    outputs: &'a mut SearchOutputs,
    counts: &'a mut Option<Counts>,
    summary: &'a mut SearchSummary,
}

impl SearchRun<'_> {
    /// The writer's stage. It scans as well, since a scan uses all threads by itself.
    pub(super) fn write(
        &self,
        scan: &dyn Scan,
        batches: Receiver<Result<TextBatch>>,
        (outputs, counts): (&mut SearchOutputs, &mut Option<Counts>),
        summary: &mut SearchSummary,
    ) -> Result<()> {
        let lines = HitLines::new(self.options.format, self.style(), &self.patterns);
        outputs.main.put(|out| out.extend_from_slice(self.first_line().as_bytes()))?;
        let (joined, mates, carried) = (self.joined(), self.mates(), Gatherer::default());
        let mut sink = HitSink { lines, joined, mates, carried, outputs, counts, summary };
        let least = self.layout.seams.before().max(LEAST_PORTION);
        // Letters of a portion: all of a batch, until one has too many ends.
        let mut most = usize::MAX;
        for batch in batches {
            let mut rest = Remainder::of(batch?);
            while let Some(portion) = rest.next(&self.layout, most) {
                let letters = portion.letters();
                let room = if letters <= least { Room::unlimited() } else { Room::of(ENDS) };
                let ends = if portion.is_done() { Vec::new() } else { self.scan(scan, &portion, &room)? };
                warn(self.reporter, scan.take_notice());
                if room.is_over() {
                    most = (letters / 2).max(least);
                    rest.put_back(portion);
                    continue;
                }
                if ends.len() < ENDS / 4 && letters > most / 2 {
                    most = most.saturating_mul(2);
                }
                sink.summary.scanned += if portion.is_done() { 0 } else { letters as u64 };
                self.put(&portion, &ends, &mut sink)?;
            }
            sink.outputs.flush()?;
            self.reporter.progress(sink.summary.texts);
        }
        sink.outputs.flush()
    }

    /// What joins hits.
    fn joined(&self) -> Option<Joined<'_>> {
        let (choice, pairs) = (self.options.amplicons.as_ref()?, self.pairs.as_ref()?);
        let (least, most) = choice.lengths;
        let lines = AmpliconLines::new((self.options.format, choice.trims_primers), pairs, &self.patterns);
        Some(Joined { joiner: Joiner::new(pairs, least..=most), lines })
    }

    /// What trims mates.
    fn mates(&self) -> Option<MateTrimmer<'_>> {
        let (choice, pairs) = (self.options.amplicons.as_ref()?, self.pairs.as_ref()?);
        let style = (self.options.format, choice.trims_primers);
        Some(MateTrimmer::new(pairs, style, choice.mates.as_ref()?.offset))
    }

    /// The ends in all texts of a portion, or the anchors where these are found from their PAMs.
    fn scan(&self, scan: &dyn Scan, portion: &TextBatch, room: &Room) -> Result<Vec<TextEnd>> {
        if let Some(sites) = &self.sites {
            let parts = portion.stream.stretches.iter().zip(&portion.texts).map(|(stretch, active)| {
                TextPart { text: stretch.text, codes: active.text.codes(), own: stretch.after..stretch.to }
            });
            return Ok(sites.anchors(scan, &self.oriented, &parts.collect::<Vec<_>>(), room)?);
        }
        let (rule, mut placed) = (&self.wanted.rule, Vec::new());
        let rounds = self.needs.rounds(portion, &self.layout.seams);
        let one = rounds.len() == 1;
        for round in rounds {
            let codes = &round.stream.codes;
            let mut ends = Vec::new();
            for (rule, some) in self.wanted.by_rule(&self.oriented, round.patterns) {
                let found = match &some {
                    None => scan.scan_within(codes, &self.oriented, &rule, room)?,
                    Some(some) => scan_some(scan, codes, (&self.oriented, some), &rule, room)?,
                };
                if room.is_over() {
                    return Ok(Vec::new());
                }
                ends.push(found);
            }
            let ends = if ends.len() == 1 { ends.remove(0) } else { ends.concat() };
            let ends = round.stream.place(&ends, &self.oriented, rule);
            if one {
                return Ok(ends);
            }
            placed.extend(ends);
        }
        placed.par_sort_unstable();
        Ok(placed)
    }

    /// Writes the hits of a portion, some texts at a time: their hits are held in memory.
    fn put(&self, portion: &TextBatch, ends: &[TextEnd], sink: &mut HitSink) -> Result<()> {
        let mut rest = ends;
        let (mut parts, mut weight) = (Vec::new(), 0);
        for (stretch, active) in portion.stream.stretches.iter().zip(&portion.texts) {
            let (own, others) = rest.split_at(rest.partition_point(|end| end.text <= stretch.text));
            rest = others;
            weight += hits::weight(&self.oriented, own);
            parts.push(TextEnds { active, to: stretch.to, ends: own });
            if weight >= hits::PORTION {
                self.put_parts(mem::take(&mut parts), sink)?;
                weight = 0;
            }
        }
        self.put_parts(parts, sink)
    }

    /// Writes the hits of parts of texts. Hits of the first one may have been found in the portion before.
    fn put_parts(&self, parts: Vec<TextEnds>, sink: &mut HitSink) -> Result<()> {
        let mut first = Some(mem::take(&mut sink.carried));
        let gatherers: Vec<Gatherer> = parts.iter().map(|_| first.take().unwrap_or_default()).collect();
        // Without a part here, the text goes on in the next portion.
        sink.carried = first.unwrap_or_default();
        let (wanted, patterns) = (&self.wanted, &self.oriented);
        let gathered: Vec<Gathered> = parts
            .into_par_iter()
            .zip(gatherers)
            .map(|(TextEnds { active, to, ends }, mut gatherer)| {
                gatherer.set_circle(active.text.circle());
                match self.sites {
                    Some(_) => gatherer.put_anchors(wanted, active.text.codes(), ends, to),
                    None => gatherer.put(wanted, patterns, active.text.codes(), ends, to),
                }
                let hits = gatherer.next(wanted, patterns, active.text.codes())?;
                Ok(Gathered { active, to, hits, gatherer })
            })
            .collect::<Result<_>>()?;
        let mut files = gathered.chunk_by(|a, b| a.active.text.shares_file(&b.active.text));
        if let Some(fault) = files.find_map(|parts| parts[0].active.text.fault()) {
            return Err(fault);
        }
        for Gathered { active, to, mut hits, mut gatherer } in gathered {
            while !hits.is_empty() {
                sink.hits(active, &hits, self.options.invert)?;
                hits = gatherer.next(wanted, patterns, active.text.codes())?;
            }
            if gatherer.is_done(wanted) {
                active.set_done();
            }
            self.searched.store(active.place(to), Ordering::Relaxed);
            if to == active.text.codes().len() {
                sink.text(active, &gatherer, self.options.invert)?;
            } else {
                sink.carried = gatherer;
            }
        }
        Ok(())
    }
}

impl HitSink<'_> {
    fn hits(&mut self, active: &Arc<ActiveText>, hits: &[Hit], invert: bool) -> Result<()> {
        let place = active.text.shown();
        self.summary.hits += hits.len() as u64;
        if let Some(counts) = self.counts {
            counts.add(self.summary.texts + 1, hits);
        }
        if invert {
            return Ok(());
        }
        if let Some(mates) = &mut self.mates {
            hits.iter().for_each(|hit| mates.put(hit));
            return Ok(());
        }
        if let Some(Joined { joiner, lines }) = &mut self.joined {
            joiner.set_circle(active.text.circle().map(|circle| circle.len));
            let mut give =
                |amplicon: &Amplicon| self.outputs.main.put(|out| lines.amplicon(out, place, amplicon));
            return hits.iter().try_for_each(|hit| joiner.put(hit, &mut give));
        }
        hits.iter().try_for_each(|hit| self.outputs.main.put(|out| self.lines.hit(out, place, hit)))
    }

    /// A text after all of its hits.
    fn text(&mut self, active: &Arc<ActiveText>, gatherer: &Gatherer, invert: bool) -> Result<()> {
        let place = active.text.shown();
        self.summary.texts += 1;
        self.summary.letters += active.text.letter_count() as u64;
        if let Some(mates) = &mut self.mates {
            return mates.end(active, self.outputs, self.summary);
        }
        let mut found = gatherer.given();
        let output = &mut self.outputs.main;
        if let Some(Joined { joiner, lines }) = &mut self.joined {
            joiner
                .finish(&mut |amplicon: &Amplicon| output.put(|out| lines.amplicon(out, place, amplicon)))?;
            found = joiner.given();
            joiner.clear();
            output.put(|out| lines.text(out, place, found))?;
            self.summary.amplicons = self.summary.amplicons.map(|sum| sum + found);
            self.untrimmed(active, found)?;
        } else {
            output.put(|out| self.lines.text(out, place, found, invert))?;
        }
        self.summary.found += u64::from(found > 0);
        Ok(())
    }

    /// Writes a text without an amplicon, if these are asked for.
    fn untrimmed(&mut self, active: &ActiveText, amplicons: u64) -> Result<()> {
        let Some(output) = self.outputs.untrimmed.as_mut().filter(|_| amplicons == 0) else { return Ok(()) };
        let places = 0..active.text.letter_count();
        output.put(|out| put_text(out, self.lines.format(), active.text.shown(), places))
    }
}
