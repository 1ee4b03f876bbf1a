//! Mates that begin with the primers of a pair: their parts, written into two files.

use super::SearchSummary;
use super::outputs::SearchOutputs;
use super::texts::SearchText;
use crate::output::writer::hits::put_text;
use crate::patterns::search::amplicons::{MateParts, MateSites, PatternPairs, parts};
use crate::patterns::search::batch::ActiveText;
use crate::patterns::search::hits::PatternHit;
use crate::terms::alignment::Strand;
use crate::terms::error::Result;
use crate::terms::options::SearchFormat;
use std::sync::Arc;

/// Finds the primers of mates, pair by pair.
pub struct MateTrimmer<'a> {
    pairs: &'a PatternPairs,
    format: SearchFormat,
    trims_primers: bool,
    /// Maximum number of bases before a primer.
    offset: usize,
    /// Sites of the current pair.
    sites: [MateSites; 2],
    /// The first mate of the current pair, if all its hits are known.
    first: Option<Arc<ActiveText<SearchText>>>,
}

impl<'a> MateTrimmer<'a> {
    pub fn new(
        pairs: &'a PatternPairs,
        (format, trims_primers): (SearchFormat, bool),
        offset: usize,
    ) -> MateTrimmer<'a> {
        MateTrimmer { pairs, format, trims_primers, offset, sites: Default::default(), first: None }
    }

    /// Adds a hit of the current mate. Hits come in the order of their starts.
    pub fn put(&mut self, hit: &PatternHit) {
        self.sites[usize::from(self.first.is_some())].put(hit, self.offset);
    }

    /// Ends a mate after all of its hits. Writes the pair after its second mate.
    pub fn end(
        &mut self,
        mate: &Arc<ActiveText<SearchText>>,
        outputs: &mut SearchOutputs,
        summary: &mut SearchSummary,
    ) -> Result<()> {
        let Some(first) = self.first.take() else {
            self.first = Some(Arc::clone(mate));
            return Ok(());
        };
        let mates: [&SearchText; 2] = [&first, mate];
        let [one, other] = &self.sites;
        let found = parts(self.pairs, [one, other], mates.map(|mate| mate.letter_count()));
        self.sites.iter_mut().for_each(MateSites::clear);
        match &found {
            Some(found) => {
                summary.amplicons = summary.amplicons.map(|pairs| pairs + 1);
                summary.found += 2;
                self.write(found, mates, outputs)
            }
            None => self.write_untrimmed(mates, outputs),
        }
    }

    /// Writes the parts of two mates. The mate with the first primer of the pair is written to the output.
    fn write(&self, found: &MateParts, mates: [&SearchText; 2], outputs: &mut SearchOutputs) -> Result<()> {
        let put = |mate: usize, out: &mut Vec<u8>| {
            let part = &found.parts[mate];
            let places = if self.trims_primers { &part.without_primers } else { &part.with_primers };
            put_text(out, self.format, mates[mate].shown(), places.clone());
        };
        let (first, second) = if found.strand == Strand::Forward { (0, 1) } else { (1, 0) };
        outputs.main.put(|out| put(first, out))?;
        outputs.mates.as_mut().map_or(Ok(()), |output| output.put(|out| put(second, out)))
    }

    /// Writes two mates without trimming.
    fn write_untrimmed(&self, mates: [&SearchText; 2], outputs: &mut SearchOutputs) -> Result<()> {
        for (mate, output) in mates.iter().zip([&mut outputs.untrimmed, &mut outputs.untrimmed_mates]) {
            let Some(output) = output else { continue };
            let places = 0..mate.letter_count();
            output.put(|out| put_text(out, self.format, mate.shown(), places))?;
        }
        Ok(())
    }
}
