//! Common interface of the ways to find seeds.

use super::levels::Levels;
use super::{FilterAnswer, FilterRequest, PairLayout};
use crate::terms::batch::Batch;
use crate::terms::error::EngineError;

/// Quick look at the targets for a record. It never affects results: it only sets where a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickLook {
    /// Score of some ungapped alignment, the best that long seeds lead to. 0 if there is none, or if the search would
    /// cost too much.
    Alignment(i32),
    /// Estimate of the best alignment's score, rather too low than too high. 0 in the same cases.
    Estimate(i32),
}

/// A way of finding the positions of seeds in the targets. [`Levels::most`] limits its cost.
pub trait Seeds: Send + Sync {
    /// The levels that this way of finding seeds supports.
    fn levels(&self) -> &Levels;

    fn levels_mut(&mut self) -> &mut Levels;

    /// Takes a quick look at each of `records`.
    fn glance(&self, batch: &Batch, layout: &PairLayout, records: &[u32]) -> Vec<QuickLook>;

    /// Finds all regions that contain an alignment of at least the wanted score, each with the maximum score of an
    /// alignment in it, sorted by strand, target and position. Once the regions fill `room`, the other records are left
    /// for later. At least one record is processed.
    fn regions(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        wanted: &[FilterRequest],
        room: usize,
    ) -> Result<Vec<FilterAnswer>, EngineError>;
}
