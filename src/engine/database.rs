//! Queries against a database: the scores that count, without the cells in which the hits end.

use crate::engine::Engine;
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;

/// Approximate number of pairs per call of an engine that scores only pairs; this bounds the memory.
pub const PAIRS: usize = 1 << 16;

/// A query that is scored against the short targets ([`crate::terms::batch::Sequences::longest_short`]), and the lowest
/// score that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseQuery {
    pub query: u32,
    /// At least 1.
    pub least: i32,
    /// Targets before this one don't count.
    pub first: u32,
}

impl DatabaseQuery {
    /// The query's pair with a whole target.
    pub fn pair(&self, batch: &Batch, target: u32) -> Pair {
        Pair { query: self.query, target, start: 0, own: 0, end: to_u32(batch.target(target).len()) }
    }
}

/// A target, and the best score of a query against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetScore {
    pub target: u32,
    pub score: i32,
}

/// The answer of an engine that scores only pairs ([`Engine::score_database`]).
pub fn by_pairs<E: Engine + ?Sized>(
    engine: &mut E,
    batch: &Batch,
    asked: &[DatabaseQuery],
) -> Result<Vec<Vec<TargetScore>>, EngineError> {
    let longest = batch.targets.longest_short();
    let is_short = |&target: &u32| batch.target(target).len() <= longest;
    let targets: Vec<u32> = (0..to_u32(batch.targets.len())).filter(is_short).collect();
    let mut all = vec![Vec::new(); asked.len()];
    let of_query = |(place, asked): (usize, &DatabaseQuery)| {
        let first = targets.partition_point(|&target| target < asked.first);
        targets[first..].iter().map(move |&target| (place, target))
    };
    let mut left = asked.iter().enumerate().flat_map(of_query).peekable();
    while left.peek().is_some() {
        // Pairs of several queries keep all threads busy.
        let some: Vec<(usize, u32)> = left.by_ref().take(PAIRS).collect();
        let pairs: Vec<Pair> = some.iter().map(|&(place, target)| asked[place].pair(batch, target)).collect();
        for ((place, target), HitEnd { score, .. }) in some.into_iter().zip(engine.score(batch, &pairs)?) {
            if score >= asked[place].least {
                all[place].push(TargetScore { target, score });
            }
        }
    }
    Ok(all)
}
