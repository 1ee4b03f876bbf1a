//! Long queries on large references: alignments with few edits are near intact pieces of the query, which an index finds
//! without its positions in repeats.

use super::{AnchoredRegion, AnchoredResult, AnchoredSearch, Effort, Rules, SearchInput, Tiers, finish};
use crate::align::candidates::by_index::IntactWindow;
use crate::align::candidates::pieces::{EqualPieces, LONG_PIECES};
use crate::engine::Engine;
use crate::terms::alignment::Strand;
use crate::terms::batch::Pair;
use crate::terms::error::EngineError;
use crate::terms::system::Instant;

/// Number of records whose windows are listed together.
const RECORDS: usize = 1 << 8;
/// Maximum number of columns of a record's windows per base, unless the pieces are the shortest. A record in a simple repeat
/// has more, and only the windows of its shortest pieces are scored.
const MOST_COLUMNS: u64 = 32;

/// Long records, by their next step.
#[derive(Default)]
pub struct LongRecords {
    /// Those with hits of the proven score or more.
    pub found: Vec<AnchoredSearch>,
    /// Those without such hits, and those that their boxes prove.
    pub without: Vec<u32>,
    /// Those that must be searched in full, because there is no index.
    pub whole: Vec<u32>,
}

/// Finds the hits of some records that score [`Tiers::proven_long`] or more.
pub fn search(
    engine: &mut dyn Engine,
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    effort: &mut Effort,
) -> Result<LongRecords, EngineError> {
    let mut all = LongRecords::default();
    let query = |record: u32| scope.batch.query(scope.layout.query(record, Strand::Forward));
    let are_enough = |&record: &u32| tiers.proven_by_pieces(query(record)).is_some();
    let (mut left, without): (Vec<u32>, Vec<u32>) = records.iter().partition(|&record| are_enough(record));
    all.without = without;
    for (number, piece) in LONG_PIECES.into_iter().enumerate() {
        let asked = std::mem::take(&mut left);
        for some in asked.chunks(RECORDS) {
            let begun = Instant::now();
            let mut opened = open(scope, tiers, some, piece);
            effort.filtering += begun.elapsed();
            let is_last = number + 1 == LONG_PIECES.len();
            let is_too_large = |search: &AnchoredSearch| {
                let columns = search.regions.iter().map(|region| u64::from(region.pair.cols())).sum::<u64>();
                !is_last && columns > MOST_COLUMNS * query(search.record).len() as u64
            };
            opened.iter_mut().for_each(|own| *own = own.take().filter(|(search, _)| !is_too_large(search)));
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
                match is_whole {
                    true => all.found.push(search),
                    // Boxes have all hits of a lower score that they prove.
                    false if is_last => all.without.push(search.record),
                    false => left.push(search.record),
                }
            }
        }
    }
    // Without an index, boxes are enough if they prove as much.
    let needs_pieces =
        |&record: &u32| tiers.proven_by_pieces(query(record)) == tiers.proven_long(query(record));
    let (whole, without): (Vec<u32>, Vec<u32>) = left.into_iter().partition(needs_pieces);
    all.without.extend(without);
    all.without.sort_unstable();
    all.whole = whole;
    Ok(all)
}

/// A query with its pieces, and its windows if an index has found them.
type OpenedQuery = ((u32, EqualPieces), Option<Vec<IntactWindow>>);

/// The search of each record in its windows, and the score from which they have all alignments. `None` without an index.
fn open(
    scope: &SearchInput,
    tiers: &Tiers,
    records: &[u32],
    piece: usize,
) -> Vec<Option<(AnchoredSearch, i32)>> {
    let SearchInput { batch, layout, filter, .. } = scope;
    let Some(filter) = filter else { return records.iter().map(|_| None).collect() };
    let pieces = |query: u32| {
        let len = batch.query(query).len();
        Some((query, EqualPieces::new(&batch.scoring, len, piece, tiers.spared(len)?)?))
    };
    let queries: Option<Vec<_>> =
        records.iter().flat_map(|&record| layout.queries(record)).map(pieces).collect();
    let Some(queries) = queries else { return records.iter().map(|_| None).collect() };
    let windows = filter.intact_windows(batch, &queries);
    let orientations = layout.orientations();
    let of_record = |(&record, strands): (&u32, &[OpenedQuery])| {
        let (mut least, mut min_score, mut regions) = (0, tiers.least, Vec::new());
        for ((&(query, pieces), windows), &strand) in
            strands.iter().map(|(asked, own)| (asked, own)).zip(orientations)
        {
            least = least.max(pieces.least());
            min_score = min_score.max(tiers.proven_long(batch.query(query))?);
            let region = |window: &IntactWindow| {
                let (start, end) = window.columns;
                let pair = Pair { query, target: window.target, start, own: start, end };
                AnchoredRegion { strand, pair, row: 0, answer: AnchoredResult::Unknown(window.most) }
            };
            regions.extend(windows.as_ref()?.iter().map(region));
        }
        let rules = Rules { min_score, ..scope.rules_of(record) };
        Some((AnchoredSearch::new(record, regions, rules).one_by_one(), least))
    };
    let all: Vec<OpenedQuery> = queries.into_iter().zip(windows).collect();
    records.iter().zip(all.chunks(orientations.len())).map(of_record).collect()
}
