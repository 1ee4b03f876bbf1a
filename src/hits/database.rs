//! Scores against all short targets, where an engine has them sooner than the cells that they end in.

use super::search::RecordSearch;
use super::{Effort, Scope};
use crate::bounds::potential;
use crate::candidates::{Meets, MetTargets};
use crate::engine::{Asked, Engine};
use crate::error::EngineError;
use std::time::Instant;

/// Scores the short targets for searches that have scored nothing yet, if there are enough of them for the engine; the
/// answer is the targets that are left.
pub fn score_short_targets(
    engine: &mut dyn Engine,
    scope: &Scope,
    unscored: &mut [&mut RecordSearch],
    effort: &mut Effort,
) -> Result<MetTargets, EngineError> {
    let Scope { batch, layout, .. } = scope;
    let (all, enough) = (MetTargets::all(batch), engine.capabilities().database);
    let is_all = !matches!(layout.meets, Meets::Paired(_)) && !batch.targets.have_circles();
    let is_database = is_all && batch.scoring.mode.is_local();
    if unscored.is_empty() || !is_database || batch.targets.len() < enough {
        return Ok(all);
    }
    let long = MetTargets::long(batch);
    let (targets, letters) = long.left_out(batch);
    if targets < enough {
        return Ok(all);
    }
    let asked_by = |search: &&mut RecordSearch| {
        let (record, least) = (search.record, scope.rules_of(search.record).min_score);
        let first = layout.targets(record, batch.targets.len()).start;
        let asked = move |&strand| Asked { query: layout.query(record, strand), least, first };
        layout.orientations().iter().map(asked)
    };
    let can_score =
        |asked: &Asked| potential(batch.query(asked.query), &batch.scoring) >= i64::from(asked.least);
    let asked: Vec<Asked> = unscored.iter().flat_map(asked_by).filter(can_score).collect();
    effort.cells +=
        asked.iter().map(|asked| batch.query(asked.query).len() as u64).sum::<u64>() * letters as u64;
    let start = Instant::now();
    let scores = engine.score_database(batch, &asked)?;
    effort.scoring += start.elapsed();
    let mut scored = asked.iter().zip(scores).peekable();
    for search in unscored {
        let queries = layout.queries(search.record);
        while let Some((asked, scores)) = scored.next_if(|(asked, _)| queries.contains(&asked.query)) {
            search.take_scores(scope, asked.query, &scores)?;
        }
    }
    Ok(long)
}
