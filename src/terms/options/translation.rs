//! Which sequences of a run are translated.

use crate::terms::alignment::Frames;
use crate::terms::alphabet::GeneticCode;

/// The translation of DNA to proteins before they are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    pub code: GeneticCode,
    /// Whether queries are translated, and whether targets are; at least one of them is.
    pub queries: bool,
    pub targets: bool,
    /// Frames of the queries. Without them, the strands of the run decide.
    pub frames: Option<Frames>,
}

impl Translation {
    /// The code by which queries are translated, if they are.
    pub fn of_queries(self) -> Option<GeneticCode> {
        self.queries.then_some(self.code)
    }

    /// The code by which targets are translated, if they are.
    pub fn of_targets(self) -> Option<GeneticCode> {
        self.targets.then_some(self.code)
    }
}
