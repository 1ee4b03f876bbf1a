//! The files that a search writes.

use crate::output::writer::Output;
use crate::output::writer::packed::TextOutput;
use crate::terms::error::Result;
use crate::terms::options::SearchOptions;
use crate::terms::options::is_packed;
use std::path::Path;

/// The main output, and additional files of records.
pub struct SearchOutputs {
    pub main: TextOutput,
    /// Texts without an amplicon.
    pub untrimmed: Option<TextOutput>,
    /// Second mates.
    pub mates: Option<TextOutput>,
    /// Second mates of pairs that do not begin with a pair of primers.
    pub untrimmed_mates: Option<TextOutput>,
}

impl SearchOutputs {
    /// Opens the files in addition to `output`.
    pub fn open(options: &SearchOptions, output: Output) -> Result<SearchOutputs> {
        let main = TextOutput::new(output, options.output.as_deref().is_some_and(is_packed))?;
        let side = |path: Option<&Path>| path.map(side).transpose();
        let mates = options.mates();
        Ok(SearchOutputs {
            main,
            untrimmed: side(options.amplicons.as_ref().and_then(|choice| choice.untrimmed.as_deref()))?,
            mates: side(mates.map(|mates| &*mates.output))?,
            untrimmed_mates: side(mates.and_then(|mates| mates.untrimmed.as_deref()))?,
        })
    }

    /// Writes the buffered output.
    pub fn flush(&mut self) -> Result<()> {
        self.main.write()
    }

    /// Ends all files. Returns the output and the additional files, which still must be finished.
    pub fn end(self) -> Result<(Output, Vec<Output>)> {
        let sides = [self.untrimmed, self.mates, self.untrimmed_mates];
        let sides = sides.into_iter().flatten().map(TextOutput::end).collect::<Result<_>>()?;
        Ok((self.main.end()?, sides))
    }
}

fn side(path: &Path) -> Result<TextOutput> {
    TextOutput::new(Output::create_side(path)?, is_packed(path))
}
