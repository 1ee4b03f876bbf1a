//! The reader's stage: all texts of all files, laid into batches.

use super::SearchRun;
use super::batch::{ActiveText, TextBatch};
use super::circles::Circles;
use super::texts::TextSource;
use crate::error::Result;
use crate::options::SearchFormat;
use crate::pipeline::report::warn;
use crate::reader::{TextName, TextRules};
use std::mem;
use std::ops::Range;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError};

/// Texts of a batch, at most.
const TEXTS: usize = 1 << 17;
/// Letters of a text that are scanned first where only its first hit is asked for. Each further part has twice as many
/// letters. So at most these and twice the letters before the end of the hit are scanned, unless it is not known yet
/// to be the first.
pub const FIRST_LETTERS: usize = 1 << 18;

impl SearchRun<'_> {
    /// The reader's stage: all texts of all files, in batches.
    pub(super) fn read(&self, batches: &SyncSender<Result<TextBatch>>) -> Result<()> {
        let mut batch = TextBatch::default();
        let mut circles = Circles::new(&self.options.circular);
        let mut before = 0;
        for (index, path) in self.options.texts.iter().enumerate() {
            let slice = self.slices.as_ref().map(|slices| slices[index]);
            let mut texts = match self.options.mates() {
                Some(mates) => TextSource::open_mates([path, &mates.file], self.text_rules())?,
                None => TextSource::open(path, slice, self.text_rules())?,
            };
            let state = texts.state();
            if let Some(first_pass) = self.first_pass.get(index) {
                first_pass.check_same(&state)?;
            }
            self.stretches.lock().unwrap_or_else(PoisonError::into_inner).push(texts.searched());
            let mut begin = before;
            while let Some(text) = texts.next() {
                let end = before + texts.bytes_given();
                let mut text = text?;
                if circles.have(&text.name) {
                    text.close(&self.wanted)?;
                }
                let active = Arc::new(ActiveText::new(text, [begin, end]));
                begin = end;
                if !self.cut(&active, &mut batch, batches)? {
                    return Ok(());
                }
            }
            before = begin;
            if slice.is_some() || !self.first_pass.is_empty() {
                state.check_unchanged()?;
            }
            warn(self.reporter, texts.warnings());
        }
        if self.options.part.is_none() {
            circles.check(&self.options.texts)?;
        }
        let _ = batches.send(Ok(batch));
        Ok(())
    }

    /// What is kept of the records of texts.
    fn text_rules(&self) -> TextRules {
        let name = match (self.options.mates(), self.options.full_names) {
            (Some(_), _) => TextName::Written,
            (None, true) => TextName::Full,
            (None, false) => TextName::Id,
        };
        let has_qualities = self.options.format == SearchFormat::Fastq;
        TextRules { name, has_qualities, reading: self.options.rules() }
    }

    /// Lays a text into the batch, and what does not fit into further ones; `false` where the writer has stopped.
    fn cut(
        &self,
        active: &Arc<ActiveText>,
        batch: &mut TextBatch,
        batches: &SyncSender<Result<TextBatch>>,
    ) -> Result<bool> {
        let codes = active.text.codes();
        let mut after = 0;
        let mut most = if self.wanted.first { FIRST_LETTERS } else { usize::MAX };
        // Whether the text is done is known only after a scan. So its parts are batches of their own.
        let mut send = false;
        loop {
            let full = batch.laid >= self.enough || batch.texts.len() >= TEXTS;
            if (full || send) && batches.send(Ok(mem::take(batch))).is_err() {
                return Ok(false);
            }
            let room = (self.enough - batch.laid).min(most);
            // A text that is done needs no further scan.
            let to = if active.is_done() { codes.len() } else { codes.len().min(after + room) };
            let from = if active.is_done() { to } else { after };
            self.prove(active, from..to)?;
            batch.push(&self.layout, active, from..to);
            after = to;
            if after == codes.len() {
                return Ok(!send || batches.send(Ok(mem::take(batch))).is_ok());
            }
            send = self.wanted.first;
            most = most.saturating_mul(2);
        }
    }

    /// Proves what the search of a part of a text reads.
    fn prove(&self, active: &ActiveText, own: Range<usize>) -> Result<()> {
        let (before, behind) = match &self.sites {
            Some(sites) => (sites.reach(), sites.reach()),
            None => (self.layout.seams.before(), 0),
        };
        let letters = active.text.codes().len();
        active.text.prove(own.start.saturating_sub(before)..letters.min(own.end + behind))
    }
}
