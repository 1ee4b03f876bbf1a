//! The writer's stage, which also searches: it writes hits as lines, in the order of the texts.

use super::counts::PatternCounts;
use super::mates::MateTrimmer;
use super::outputs::SearchOutputs;
use super::texts::SearchText;
use super::{SearchRun, SearchSummary};
use crate::output::writer::hits::{AmpliconLines, HitLines, put_text};
use crate::patterns::search::EndScan;
use crate::patterns::search::amplicons::{AmpliconSpan, Joiner};
use crate::patterns::search::batch::{ActiveText, SearchedText, TextBatch};
use crate::patterns::search::driver::{HitReceiver, SearchState};
use crate::patterns::search::hits::PatternHit;
use crate::pipeline::Reporter;
use crate::pipeline::report::warn;
use crate::terms::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// State of joining hits into amplicons.
struct AmpliconJoin<'a> {
    joiner: Joiner<'a>,
    lines: AmpliconLines<'a>,
}

/// Receiver of hits.
struct HitSink<'a> {
    lines: HitLines<'a>,
    /// Joins hits, if amplicons are requested.
    joined: Option<AmpliconJoin<'a>>,
    /// Trims mates, if the texts are mates.
    mates: Option<MateTrimmer<'a>>,
    /// Whether texts without a hit are written, instead of hits.
    invert: bool,
    /// Bytes of the texts searched so far.
    searched: &'a AtomicU64,
    reporter: &'a dyn Reporter,
    outputs: &'a mut SearchOutputs,
    counts: &'a mut Option<PatternCounts>,
    summary: &'a mut SearchSummary,
}

impl SearchRun<'_> {
    /// The writer's stage, which is given batches. It also searches, because one scan already uses all threads.
    pub(super) fn write(
        &self,
        scan: &dyn EndScan,
        give: impl FnOnce(&mut dyn FnMut(TextBatch<SearchText>) -> Result<()>) -> Result<()>,
        (outputs, counts): (&mut SearchOutputs, &mut Option<PatternCounts>),
        summary: &mut SearchSummary,
    ) -> Result<()> {
        let lines = HitLines::new(self.options.format, self.style(), &self.patterns);
        outputs.main.put(|out| out.extend_from_slice(self.first_line().as_bytes()))?;
        let (joined, mates, invert) = (self.joined(), self.mates(), self.options.invert);
        let (searched, reporter) = (&*self.searched, self.reporter);
        let mut sink = HitSink { lines, joined, mates, invert, searched, reporter, outputs, counts, summary };
        let mut state = SearchState::new(self.letters, None);
        give(&mut |batch| {
            self.driver.search(scan, batch, &mut state, &mut sink)?;
            sink.outputs.flush()?;
            self.reporter.progress(sink.summary.texts);
            Ok(())
        })?;
        sink.outputs.flush()
    }

    /// Creates the joiner of hits, if requested.
    fn joined(&self) -> Option<AmpliconJoin<'_>> {
        let (choice, pairs) = (self.options.amplicons.as_ref()?, self.pairs.as_ref()?);
        let (least, most) = choice.lengths;
        let lines = AmpliconLines::new((self.options.format, choice.trims_primers), pairs, &self.patterns);
        Some(AmpliconJoin { joiner: Joiner::new(pairs, least..=most), lines })
    }

    /// Creates the trimmer of mates, if the texts are mates.
    fn mates(&self) -> Option<MateTrimmer<'_>> {
        let (choice, pairs) = (self.options.amplicons.as_ref()?, self.pairs.as_ref()?);
        let style = (self.options.format, choice.trims_primers);
        Some(MateTrimmer::new(pairs, style, choice.mates.as_ref()?.offset))
    }
}

impl HitReceiver<SearchText> for HitSink<'_> {
    type Error = Error;

    fn scanned(&mut self, letters: u64) {
        self.summary.scanned += letters;
    }

    fn notice(&mut self, notice: Option<String>) {
        warn(self.reporter, notice);
    }

    fn check(&mut self, texts: &[&Arc<ActiveText<SearchText>>]) -> Result<()> {
        let mut files = texts.chunk_by(|a, b| a.shares_file(b));
        files.find_map(|texts| texts[0].fault()).map_or(Ok(()), Err)
    }

    fn reached(&mut self, active: &Arc<ActiveText<SearchText>>, letters: usize) {
        self.searched.store(active.place(letters), Ordering::Relaxed);
    }

    fn hits(&mut self, active: &Arc<ActiveText<SearchText>>, hits: Vec<PatternHit>) -> Result<()> {
        let place = active.shown();
        self.summary.hits += hits.len() as u64;
        if let Some(counts) = self.counts {
            counts.add(self.summary.texts + 1, &hits);
        }
        if self.invert {
            return Ok(());
        }
        if let Some(mates) = &mut self.mates {
            hits.iter().for_each(|hit| mates.put(hit));
            return Ok(());
        }
        if let Some(AmpliconJoin { joiner, lines }) = &mut self.joined {
            joiner.set_circle(active.circle().map(|circle| circle.len));
            let mut give =
                |amplicon: &AmpliconSpan| self.outputs.main.put(|out| lines.amplicon(out, place, amplicon));
            return hits.iter().try_for_each(|hit| joiner.put(hit, &mut give));
        }
        hits.iter().try_for_each(|hit| self.outputs.main.put(|out| self.lines.hit(out, place, hit)))
    }

    fn end(&mut self, active: &Arc<ActiveText<SearchText>>, hits: u64) -> Result<()> {
        let place = active.shown();
        self.summary.texts += 1;
        self.summary.letters += active.letter_count() as u64;
        if let Some(mates) = &mut self.mates {
            return mates.end(active, self.outputs, self.summary);
        }
        let mut found = hits;
        let output = &mut self.outputs.main;
        if let Some(AmpliconJoin { joiner, lines }) = &mut self.joined {
            found = joiner.finish(&mut |amplicon: &AmpliconSpan| {
                output.put(|out| lines.amplicon(out, place, amplicon))
            })?;
            output.put(|out| lines.text(out, place, found))?;
            self.summary.amplicons = self.summary.amplicons.map(|sum| sum + found);
            self.untrimmed(active, found)?;
        } else {
            output.put(|out| self.lines.text(out, place, found, self.invert))?;
        }
        self.summary.found += u64::from(found > 0);
        Ok(())
    }
}

impl HitSink<'_> {
    /// Writes a text without an amplicon, if requested.
    fn untrimmed(&mut self, active: &SearchText, amplicons: u64) -> Result<()> {
        let Some(output) = self.outputs.untrimmed.as_mut().filter(|_| amplicons == 0) else { return Ok(()) };
        let places = 0..active.letter_count();
        output.put(|out| put_text(out, self.lines.format(), active.shown(), places))
    }
}
