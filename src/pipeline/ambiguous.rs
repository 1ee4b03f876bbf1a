//! Runs of ambiguous codes in all references, which raise proven scores.

use crate::align::candidates::ambiguous::{RunCollector, TargetRuns};
use crate::input::reader::CodeSink;
use crate::terms::alphabet::Alphabet;
use crate::terms::error::Result;
use crate::terms::options::Options;

/// Collects the runs of all references while the residues of one part are read.
pub struct RunSink(RunCollector);

impl RunSink {
    /// `None` if the minimum scores of the run do not depend on ambiguous codes.
    pub fn new(options: &Options, alphabet: Alphabet) -> Option<RunSink> {
        // A later step reports the errors of the scoring.
        let scoring = options.has_tiers().then(|| options.scoring.resolve(alphabet).ok())??;
        Some(RunSink(RunCollector::new(&scoring)?))
    }

    /// The runs of all codes.
    pub fn finish(self) -> TargetRuns {
        self.0.finish()
    }
}

impl CodeSink for RunSink {
    fn kept(&self) -> usize {
        0
    }

    fn put(&mut self, codes: &[u8]) -> Result<()> {
        self.0.take(codes);
        Ok(())
    }
}
