//! Scores against all short targets, for engines that find scores faster than end cells.

use super::search::RecordSearch;
use super::{Effort, ROOM_PER_PORTION, SearchInput};
use crate::align::candidates::{Meets, MetTargets};
use crate::engine::{DatabaseQuery, Engine};
use crate::terms::batch::Batch;
use crate::terms::bounds::potential;
use crate::terms::error::EngineError;
use crate::terms::scoring::{AlignmentMode, Scoring};
use crate::terms::system::Instant;
use std::borrow::Cow;
use std::sync::Arc;

/// Bounds are computed first if there are at least this many targets per needed target.
const BOUNDED_PER_WANTED: usize = 128;

/// Scores the short targets for searches that have scored nothing yet, if there are enough of them for the engine.
/// Returns the remaining targets.
pub fn score_short_targets(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    unscored: &mut [&mut RecordSearch],
    effort: &mut Effort,
) -> Result<MetTargets, EngineError> {
    let SearchInput { batch, layout, .. } = scope;
    let (all, enough) = (MetTargets::all(batch), engine.capabilities().database);
    let is_all = !matches!(layout.meets, Meets::Paired(_)) && !batch.targets.have_circles();
    if unscored.is_empty() || !is_all || batch.targets.have_leads() || batch.targets.len() < enough {
        return Ok(all);
    }
    let is_local = batch.scoring.mode.is_local();
    let long = MetTargets::long(batch);
    let (targets, letters) = long.left_out(batch);
    if targets < enough || !(is_local || bounds_pay(scope, unscored.len(), targets)) {
        return Ok(all);
    }
    // No alignment of any mode scores more than the best local one.
    let scored = match is_local {
        true => Cow::Borrowed(*batch),
        false => Cow::Owned(in_local_mode(batch)),
    };
    let asked_by = |search: &&mut RecordSearch| {
        let (record, least) = (search.record, scope.rules_of(search.record).min_score);
        let first = layout.targets(record, batch.targets.len()).start;
        let least = least.max(1);
        let asked = move |&strand| DatabaseQuery { query: layout.query(record, strand), least, first };
        layout.orientations().iter().map(asked)
    };
    let can_score =
        |asked: &DatabaseQuery| potential(batch.query(asked.query), &batch.scoring) >= i64::from(asked.least);
    // In other modes, an alignment may count at any score.
    let counts = |asked: &DatabaseQuery| !is_local || can_score(asked);
    let asked: Vec<DatabaseQuery> = unscored.iter().flat_map(asked_by).filter(counts).collect();
    effort.cells +=
        asked.iter().map(|asked| batch.query(asked.query).len() as u64).sum::<u64>() * letters as u64;
    let start = Instant::now();
    let scores = engine.score_database(&scored, &asked)?;
    effort.scoring += start.elapsed();
    let mut scored = asked.iter().zip(scores).peekable();
    for search in unscored {
        let queries = layout.queries(search.record);
        while let Some((asked, mut scores)) = scored.next_if(|(asked, _)| queries.contains(&asked.query)) {
            if is_local {
                search.take_scores(scope, asked.query, &scores)?;
            } else {
                scores.sort_unstable();
                search.take_bounds(scope, asked.query, &scores, asked.least - 1);
            }
        }
    }
    Ok(long)
}

/// Whether bounds of all scores pay in modes other than local: only few scores are needed, so most pairs need none, and
/// the bounds use little memory.
fn bounds_pay(scope: &SearchInput, records: usize, targets: usize) -> bool {
    let SearchInput { batch, layout, rules, ranks, .. } = scope;
    let mode = batch.scoring.mode;
    let covers_queries_alone = mode.takes_whole_queries() && !mode.takes_whole_targets();
    let wanted = ranks.map_or(rules.max_hits.min(rules.max_targets), |ranks| ranks.places());
    let held = records.saturating_mul(layout.strands.count() as usize).saturating_mul(targets);
    covers_queries_alone
        && wanted < targets / BOUNDED_PER_WANTED
        && held <= scope.portion.saturating_mul(ROOM_PER_PORTION)
}

fn in_local_mode(batch: &Batch) -> Batch {
    let scoring = Scoring { mode: AlignmentMode::Local, ..(*batch.scoring).clone() };
    Batch { scoring: Arc::new(scoring), ..batch.clone() }
}
