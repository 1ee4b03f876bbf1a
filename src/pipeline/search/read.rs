//! The reader's stage: reads all texts of all files into batches.

use super::SearchRun;
use super::circles::Circles;
use super::texts::{SearchText, TextSource};
use crate::input::reader::{TextName, TextRules};
use crate::patterns::search::batch::{ActiveText, TextBatch};
use crate::pipeline::report::warn;
use crate::terms::error::Result;
use crate::terms::options::SearchFormat;
use std::sync::PoisonError;

impl SearchRun<'_> {
    /// The reader's stage: all texts of all files, in batches. `send` returns whether more are wanted.
    pub(super) fn read(&self, mut send: impl FnMut(TextBatch<SearchText>) -> Result<bool>) -> Result<()> {
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
                    text.close(&self.driver.wanted)?;
                }
                text.bytes = [begin, end];
                begin = end;
                let text = ActiveText::new(text);
                let prove = |bases| text.prove(bases);
                if !self.driver.lay(&text, &mut batch, prove, &mut send)? {
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
        send(batch).map(drop)
    }

    /// Rules for reading the records of texts.
    fn text_rules(&self) -> TextRules {
        let name = match (self.options.mates(), self.options.full_names) {
            (Some(_), _) => TextName::Written,
            (None, true) => TextName::Full,
            (None, false) => TextName::Id,
        };
        let has_qualities = self.options.format == SearchFormat::Fastq;
        TextRules { name, has_qualities, reading: self.options.rules() }
    }
}
