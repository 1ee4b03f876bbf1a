//! The search that the command and the library share: batches of texts become hits, in the order of the texts.
//!
//! Nearly every position may be an end. So a batch with too many ends is scanned in portions, and its hits are aligned
//! and handed out in portions: memory stays bounded.

use super::batch::{ActiveText, Remainder, SearchedText, TextBatch, TextLayout};
use super::hits::{self, Gatherer, HitOptions, PatternHit};
use super::needs::Needs;
use super::pattern::SearchPattern;
use super::plan::{SearchPlan, SearchWork};
use super::room::EndCapacity;
use super::sites::TextPart;
use super::stream::{Seams, TextEnd};
use super::{EndScan, scan_some};
use crate::terms::alignment::{Strand, Strands};
use crate::terms::error::{EngineError, Error};
use crate::terms::options::HitChoice;
use rayon::prelude::*;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Maximum number of ends of a scan, except for the smallest portions.
const ENDS: usize = 1 << 20;
/// Bases of the smallest portion, unless hits are longer.
const LEAST_PORTION: usize = 1 << 8;

fn oriented(patterns: &[SearchPattern], strands: Strands) -> Vec<Vec<u8>> {
    let of_strand = |pattern: &SearchPattern, strand: &Strand| match strand {
        Strand::Reverse => pattern.reverse_classes(),
        _ => pattern.classes(),
    };
    let all = |pattern| strands.orientations().iter().map(move |strand| of_strand(pattern, strand));
    patterns.iter().flat_map(all).collect()
}

/// Takes the hits of texts that are of type `T`.
pub trait HitReceiver<T> {
    type Error: From<EngineError>;

    /// Takes note of a scan of this number of bases.
    fn scanned(&mut self, _bases: u64) {}

    /// Takes what the user should hear of the scans.
    fn notice(&mut self, _notice: Option<String>) {}

    /// Refuses hits of these texts, for example because their file is damaged. No hit of them was handed out yet.
    fn check(&mut self, _texts: &[&Arc<ActiveText<T>>]) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Takes the next hits of a text.
    fn hits(&mut self, text: &Arc<ActiveText<T>>, hits: Vec<PatternHit>) -> Result<(), Self::Error>;

    /// Takes note that the first `_bases` bases of a text are searched.
    fn reached(&mut self, _text: &Arc<ActiveText<T>>, _bases: usize) {}

    /// Ends a text, which had `hits` hits.
    fn end(&mut self, text: &Arc<ActiveText<T>>, hits: u64) -> Result<(), Self::Error>;
}

/// Searches patterns in batches of texts.
pub struct Driver {
    /// The classes of each pattern in its orientations.
    pub oriented: Vec<Vec<u8>>,
    pub wanted: HitOptions,
    pub plan: SearchPlan,
    layout: TextLayout,
    needs: Needs,
}

/// State of a search between two batches.
pub struct SearchState {
    /// Bases of all texts, or 0 if unknown.
    letters: u64,
    /// Maximum number of bases of a portion: all of a batch, until one has too many ends.
    most: usize,
    /// The hits of the text that continues in the next portion.
    carried: Gatherer,
    /// Ends the search soon after it is set.
    stop: Option<Arc<AtomicBool>>,
}

impl SearchState {
    /// State of a search in texts of `letters` bases, if known, that ends soon after this flag is set.
    pub fn new(letters: Option<u64>, stop: Option<Arc<AtomicBool>>) -> SearchState {
        SearchState { letters: letters.unwrap_or(0), most: usize::MAX, carried: Gatherer::default(), stop }
    }
}

/// The ends in a part of a text, which ends at `to`.
struct PartEnds<'a, T> {
    text: &'a Arc<ActiveText<T>>,
    to: usize,
    ends: &'a [TextEnd],
}

/// The first hits in a part of a text, and the source of further hits.
struct TextHits<'a, T> {
    text: &'a Arc<ActiveText<T>>,
    to: usize,
    hits: Vec<PatternHit>,
    gatherer: Gatherer,
}

impl Driver {
    /// The driver of a search.
    ///
    /// # Errors
    /// Those of [`HitOptions::new`].
    pub fn new(patterns: &[SearchPattern], choice: &HitChoice, work: &SearchWork) -> Result<Driver, Error> {
        let wanted = HitOptions::new(choice, patterns.iter().map(|pattern| pattern.letters.len()))?;
        let oriented = oriented(patterns, wanted.strands);
        let plan = SearchPlan::new(work, &wanted, &oriented);
        let seams = Seams::new(oriented.iter().map(Vec::len), &wanted.rule);
        let needs = Needs::new(&oriented, &wanted.rule);
        let layout = TextLayout { seams, scanned: plan.sites.is_none() };
        Ok(Driver { oriented, wanted, plan, layout, needs })
    }

    /// Leaves all texts to the scan.
    pub fn without_sites(&mut self) {
        (self.plan.sites, self.layout.scanned) = (None, true);
    }

    /// Lays a text into a batch; see [`super::batch::BatchRules::lay`]. `before` is called with the range of bases
    /// that the search of a part of the text reads.
    pub fn lay<T: SearchedText, E>(
        &self,
        text: &Arc<ActiveText<T>>,
        batch: &mut TextBatch<T>,
        before: impl Fn(Range<usize>) -> Result<(), E>,
        send: impl FnMut(TextBatch<T>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let letters = text.codes().len();
        let before = |part| before(self.read_range(part, letters));
        self.plan.batches.lay(&self.layout, text, batch, before, send)
    }

    /// The bases that the search of a part of a text of `len` bases reads.
    fn read_range(&self, part: Range<usize>, len: usize) -> Range<usize> {
        let (before, after) = match &self.plan.sites {
            Some(sites) => (sites.reach(), sites.reach()),
            None => (self.layout.seams.before(), 0),
        };
        part.start.saturating_sub(before)..len.min(part.end + after)
    }

    /// Searches a batch. The batches of a search share `state`.
    ///
    /// # Errors
    /// Those of the scan and of the receiver, and [`EngineError::Stopped`] if the flag is set.
    pub fn search<T: SearchedText, R: HitReceiver<T>>(
        &self,
        scan: &dyn EndScan,
        batch: TextBatch<T>,
        state: &mut SearchState,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let least = self.layout.seams.before().max(LEAST_PORTION);
        let mut rest = Remainder::of(batch);
        while let Some(portion) = rest.next(&self.layout, state.most) {
            let (letters, is_done) = (portion.letters(), portion.is_done());
            let room = if letters <= least { EndCapacity::unlimited() } else { EndCapacity::of(ENDS) };
            let room = room.until(state.stop.clone());
            let ends = if is_done { Vec::new() } else { self.ends(scan, &portion, state.letters, &room)? };
            receiver.notice(scan.take_notice());
            if room.is_stopped() {
                return Err(EngineError::Stopped.into());
            }
            if room.is_over() {
                state.most = (letters / 2).max(least);
                rest.put_back(portion);
                continue;
            }
            if ends.len() < ENDS / 4 && letters > state.most / 2 {
                state.most = state.most.saturating_mul(2);
            }
            receiver.scanned(if is_done { 0 } else { letters as u64 });
            self.hand_out(&portion, &ends, state, receiver)?;
        }
        Ok(())
    }

    /// The ends in all texts of a portion, or the anchors if these are found from their PAMs.
    fn ends<T: SearchedText>(
        &self,
        scan: &dyn EndScan,
        portion: &TextBatch<T>,
        letters: u64,
        room: &EndCapacity,
    ) -> Result<Vec<TextEnd>, EngineError> {
        if let Some(sites) = &self.plan.sites {
            let parts = portion.stream.stretches.iter().zip(&portion.texts).map(|(stretch, text)| TextPart {
                text: stretch.text,
                codes: text.codes(),
                own: stretch.after..stretch.to,
            });
            return sites.anchors(scan, &self.oriented, &parts.collect::<Vec<_>>(), letters, room);
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

    /// Hands out the hits of a portion, a few texts per round, because the hits of a round are held in memory.
    fn hand_out<T: SearchedText, R: HitReceiver<T>>(
        &self,
        portion: &TextBatch<T>,
        ends: &[TextEnd],
        state: &mut SearchState,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let mut rest = ends;
        let (mut parts, mut weight) = (Vec::new(), 0);
        for (stretch, text) in portion.stream.stretches.iter().zip(&portion.texts) {
            let (own, others) = rest.split_at(rest.partition_point(|end| end.text <= stretch.text));
            rest = others;
            weight += hits::weight(&self.oriented, own);
            parts.push(PartEnds { text, to: stretch.to, ends: own });
            if weight >= hits::PORTION {
                self.hand_out_parts(mem::take(&mut parts), state, receiver)?;
                weight = 0;
            }
        }
        self.hand_out_parts(parts, state, receiver)
    }

    /// Hands out the hits of parts of texts. Hits of the first part may have been found in the portion before.
    fn hand_out_parts<T: SearchedText, R: HitReceiver<T>>(
        &self,
        parts: Vec<PartEnds<T>>,
        state: &mut SearchState,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let mut first = Some(mem::take(&mut state.carried));
        let gatherers: Vec<Gatherer> = parts.iter().map(|_| first.take().unwrap_or_default()).collect();
        // Without a part here, the text continues in the next portion.
        state.carried = first.unwrap_or_default();
        let (wanted, patterns) = (&self.wanted, &self.oriented);
        let gathered: Vec<TextHits<T>> = parts
            .into_par_iter()
            .zip(gatherers)
            .map(|(PartEnds { text, to, ends }, mut gatherer)| {
                gatherer.set_circle(text.circle());
                match self.plan.sites {
                    Some(_) => gatherer.put_anchors(wanted, text.codes(), ends, to),
                    None => gatherer.put(wanted, patterns, text.codes(), ends, to),
                }
                let hits = gatherer.next(wanted, patterns, text.codes())?;
                Ok(TextHits { text, to, hits, gatherer })
            })
            .collect::<Result<_, EngineError>>()?;
        receiver.check(&gathered.iter().map(|part| part.text).collect::<Vec<_>>())?;
        for TextHits { text, to, mut hits, mut gatherer } in gathered {
            while !hits.is_empty() {
                receiver.hits(text, hits)?;
                hits = gatherer.next(wanted, patterns, text.codes())?;
            }
            if gatherer.is_done(wanted) {
                text.set_done();
            }
            receiver.reached(text, to);
            if to == text.codes().len() {
                receiver.end(text, gatherer.given())?;
            } else {
                state.carried = gatherer;
            }
        }
        Ok(())
    }
}
