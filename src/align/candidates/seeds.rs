//! What a way of finding seeds has in common with the others.

use super::levels::Levels;
use super::{Layout, Opened, Wanted};
use crate::terms::batch::Batch;
use crate::terms::error::EngineError;

/// What a glance at the targets shows of a record. No answer rests on it: it says where a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The score of some alignment without gaps, the best that long seeds lead to. 0 if there is none, or too much would have
    /// to be looked at.
    Alignment(i32),
    /// About what the best alignment scores, rather less than more; 0 likewise.
    Estimate(i32),
}

/// A way of finding the places of seeds in the targets. What it may cost is bounded by [`Levels::most`].
pub trait Seeds: Send + Sync {
    /// The levels that its seeds are for.
    fn levels(&self) -> &Levels;

    fn levels_mut(&mut self) -> &mut Levels;

    /// What is seen of each of `records` records at a glance.
    fn glance(&self, batch: &Batch, layout: &Layout, records: &[u32]) -> Vec<Seen>;

    /// What is wanted, opened: all regions that hold an alignment of at least the wanted score, each with the most that
    /// one in it can score, in the order strand, target, place. Once there are as many regions as there is `room` for, the
    /// other records are left for later; one record at least is opened.
    fn regions(
        &self,
        batch: &Batch,
        layout: &Layout,
        wanted: &[Wanted],
        room: usize,
    ) -> Result<Vec<Opened>, EngineError>;
}
