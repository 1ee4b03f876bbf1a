//! Long queries on large references with few edits: all alignments that count are near intact pieces of the query, which an
//! index finds without its positions in repeats.

use super::{AnchoredRegion, AnchoredResult, AnchoredSearch, Effort, Rules, SearchInput, Tiers, finish};
use crate::align::candidates::by_index::{IntactWindow, IntactWindows};
use crate::engine::Engine;
use crate::terms::batch::Pair;
use crate::terms::error::EngineError;
use std::time::Instant;

/// Lengths of pieces, in bases. The next one is tried for queries with too many edits for the one before.
const PIECES: [usize; 3] = [128, 64, 32];
/// Number of records whose windows are listed together.
const RECORDS: usize = 1 << 8;

/// The searches of the records whose hits are proven by their pieces, and the other records. The hits of the former are
/// those in the boxes of their runs.
pub fn search(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    effort: &mut Effort,
) -> Result<(Vec<AnchoredSearch>, Vec<u32>), EngineError> {
    let (mut found, mut left) = (Vec::new(), records.to_vec());
    for piece in PIECES {
        let asked = std::mem::take(&mut left);
        for some in asked.chunks(RECORDS) {
            let begun = Instant::now();
            let opened = open(scope, tiers, some, piece);
            effort.filtering += begun.elapsed();
            let (mut searches, mut least_scores) = (Vec::new(), Vec::new());
            for (&record, opened) in some.iter().zip(opened) {
                match opened {
                    Some((search, least)) => {
                        searches.push(search);
                        least_scores.push(least);
                    }
                    None => left.push(record),
                }
            }
            finish(engine, scope, (tiers, false), &mut searches, effort)?;
            for (search, least) in searches.into_iter().zip(least_scores) {
                // All hits from the threshold on are in the windows.
                let is_whole = !search.found.alignments.is_empty() && search.found.threshold >= least;
                if is_whole { found.push(search) } else { left.push(search.record) }
            }
        }
    }
    left.sort_unstable();
    Ok((found, left))
}

/// The search of each record in its windows, and the score from which they have all alignments. `None` if that is more
/// than the record's hits need.
fn open(
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    piece: usize,
) -> Vec<Option<(AnchoredSearch, i32)>> {
    let SearchInput { batch, layout, filter, .. } = scope;
    let Some(filter) = filter else { return records.iter().map(|_| None).collect() };
    let queries: Vec<u32> = records.iter().flat_map(|&record| layout.queries(record)).collect();
    let windows = filter.intact_windows(batch, &queries, (piece, |len| tiers.spared(len)));
    let orientations = layout.orientations();
    let of_record = |(&record, windows): (&u32, &[Option<_>])| {
        let (mut least, mut min_score, mut regions) = (0, tiers.least, Vec::new());
        for ((query, windows), &strand) in layout.queries(record).zip(windows).zip(orientations) {
            let windows: &IntactWindows = windows.as_ref()?;
            least = least.max(windows.least);
            min_score = min_score.max(tiers.proven_in_boxes(batch.query(query))?);
            let region = |window: &IntactWindow| {
                let (start, end) = window.columns;
                let pair = Pair { query, target: window.target, start, own: start, end };
                AnchoredRegion { strand, pair, row: 0, answer: AnchoredResult::Unknown(window.most) }
            };
            regions.extend(windows.windows.iter().map(region));
        }
        let rules = Rules { min_score, ..scope.rules_of(record) };
        Some((AnchoredSearch::new(record, regions, rules).one_by_one(), least))
    };
    records.iter().zip(windows.chunks(orientations.len())).map(of_record).collect()
}
