//! Exact runs of a record, and the windows of alignments that contain one, found by a sampled index. Each run of enough
//! bases contains a k-mer of the index. The k-mers of a dense index are short and have too many positions.

use super::super::MOST_STRETCHES;
use super::super::PairLayout;
use super::super::boxes::ExactRun;
use super::super::diagonal_bound::MOST_GAPS;
use super::super::kmers::Places;
use super::super::runs::MOST_RUNS;
use super::super::windows::{CandidateRegion, join, push_regions};
use super::{ByIndex, DiagonalSearch, QueryBuffers};
use crate::terms::alignment::Strand;
use crate::terms::batch::Batch;
use crate::terms::bounds::longest_span;
use crate::terms::casts::to_i32;
use crate::terms::error::EngineError;
use rayon::prelude::*;

/// Maximum number of runs of a query that are listed for its boxes.
const MOST_LISTED: usize = 1 << 15;
/// Number of positions per k-mer of a query up to which they are examined one by one.
const MOST_PLACES: usize = 64;

/// Regions with all alignments of a record that score at least `least` and contain a run.
#[derive(Clone, Debug)]
pub struct AnchoredRegions {
    pub least: i32,
    pub regions: Vec<CandidateRegion>,
}

impl ByIndex {
    /// For each of `records`, the regions with all its alignments that score enough and contain a run of `anchor` equal
    /// bases: at least as much as the answer's score, which a quick look suggests. `None` if the index is not sampled, if no
    /// bound of a diagonal applies, or if finding the regions would cost too large a share of a full search.
    pub fn anchored(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        (records, anchor): (&[u32], usize),
        threshold: impl Fn(u32, i32) -> i32 + Sync,
    ) -> Result<Vec<Option<AnchoredRegions>>, EngineError> {
        if !self.has_runs(anchor) {
            return Ok(vec![None; records.len()]);
        }
        let least = |work: &mut QueryBuffers, &record: &u32| {
            (record, self.least_anchored((batch, layout), record, |best| threshold(record, best), work))
        };
        let all: Vec<(u32, Option<i32>)> =
            records.par_iter().map_init(QueryBuffers::default, least).collect();
        let on_host = |work: &mut QueryBuffers, (record, least): (u32, Option<i32>)| {
            self.anchored_on_host((batch, layout), (record, least?), work)
        };
        match self.device() {
            Some(device) => self.anchored_on_device(device, (batch, layout), &all, on_host),
            None => {
                let on_host = |work: &mut QueryBuffers, &record: &(u32, Option<i32>)| on_host(work, record);
                Ok(all.par_iter().map_init(QueryBuffers::default, on_host).collect())
            }
        }
    }

    /// The least score of an anchored alignment of a record that counts. `None` if no bound of a diagonal applies.
    fn least_anchored(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        record: u32,
        threshold: impl Fn(i32) -> i32,
        QueryBuffers { places: [found, _], pieces, .. }: &mut QueryBuffers,
    ) -> Option<i32> {
        let scoring = &*self.levels.field.scoring;
        let oriented = |strand: Strand| batch.query(layout.query(record, strand));
        let len = oriented(Strand::Forward).len();
        let gaps = |least: i32| {
            let span = |&strand: &Strand| longest_span(oriented(strand), least, scoring);
            layout.orientations().iter().map(span).max().unwrap_or(0) as usize - len
        };
        let suggested = threshold(self.first_alignment((batch, layout), record, (found, pieces)));
        lowest(suggested, to_i32(scoring.most_score(len)), |least| gaps(least) <= MOST_GAPS)
    }

    /// The regions of a record for this score.
    fn anchored_on_host(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        (record, least): (u32, i32),
        QueryBuffers { places, windows, diagonals, pieces, .. }: &mut QueryBuffers,
    ) -> Option<AnchoredRegions> {
        let ByIndex { targets, kmers, levels, .. } = self;
        let scoring = &*levels.field.scoring;
        let oriented = |strand: Strand| batch.query(layout.query(record, strand));
        let len = oriented(Strand::Forward).len();
        let mut cells = 0.0;
        let mut regions = Vec::new();
        for (&strand, found) in layout.orientations().iter().zip(places) {
            let (codes, query) = (self.seeds_of(oriented(strand)), layout.query(record, strand));
            let bound = self.bound((oriented(strand), &codes), least)?;
            let bounded = self.bounded_search((&codes, &bound), least, found, pieces);
            // Each run has a k-mer, and the bound tells which of the diagonals count.
            let (search, looked_up) =
                bounded.unwrap_or_else(|| (DiagonalSearch::Counted(1), kmers.look_up_all(&codes, found)));
            cells += self.cost(&search, looked_up);
            if cells > levels.field.most(len) {
                return None;
            }
            let span = longest_span(oriented(strand), least, scoring);
            windows.clear();
            self.push_bounded(
                &codes,
                (found, looked_up, &search),
                (&bound, least, span),
                (diagonals, windows),
            );
            cells += join(windows, u32::max) as f64 * len as f64;
            if cells > levels.field.most(len) || windows.len() as u64 > MOST_STRETCHES {
                return None;
            }
            push_regions(&mut regions, targets, (strand, query), (span, to_i32), windows);
        }
        Some(AnchoredRegions { least, regions })
    }

    /// The maximal runs of at least `least` equal bases of a query, in the order of targets and columns, like
    /// [`exact_runs`](super::super::runs::exact_runs). `None` inside if there are more than [`MOST_RUNS`]. `None` if the
    /// index is not sampled, so that looking up all k-mers of a query would take too long.
    pub fn exact_runs(
        &self,
        query: &[u8],
        least: usize,
        QueryBuffers { places: [found, _], .. }: &mut QueryBuffers,
    ) -> Option<Option<Vec<ExactRun>>> {
        if !self.has_runs(least) || !self.alphabet.is_whole() {
            return None;
        }
        self.kmers.look_up_all(&self.seeds_of(query), found);
        Some(self.runs_of_found(query, least, found, MOST_RUNS))
    }

    /// The maximal runs of at least `least` equal bases of a query that contain a k-mer of the index which begins in one of the
    /// wanted rows of the query, in the order of targets and columns. If all rows are wanted, all runs contain one. `None` if
    /// there are too many, or if the index does not find them.
    pub fn runs_in_rows(
        &self,
        query: &[u8],
        least: usize,
        wants: impl Fn(usize) -> bool,
        QueryBuffers { places: [found, _], .. }: &mut QueryBuffers,
    ) -> Option<Vec<ExactRun>> {
        let step = self.row_step(least)?;
        let rows = (0..query.len()).step_by(step).filter(|&row| wants(row));
        let looked_up = self.kmers.look_up_rows(&self.seeds_of(query), rows, found);
        let is_repeat = looked_up > MOST_PLACES * (query.len() / step + 1);
        if is_repeat { None } else { self.runs_of_found(query, least, found, MOST_LISTED) }
    }

    /// Rows of a query from one k-mer to the next such that each run of `least` bases contains a k-mer of the index. `None` if the
    /// index is not ready, or if its k-mers do not find all runs.
    pub fn row_step(&self, least: usize) -> Option<usize> {
        let kmers = &self.kmers;
        let finds_runs = kmers.least() <= least && kmers.are_ready() && self.alphabet.is_whole();
        let letters = kmers.letters() as usize;
        match kmers.step() {
            1 => (finds_runs && letters <= least).then(|| least + 1 - letters),
            // Only some k-mers of the targets are in the index.
            _ => finds_runs.then_some(1),
        }
    }

    /// The maximal runs at the positions of k-mers, in the order of targets and columns. `None` if there are more than `most`.
    fn runs_of_found(
        &self,
        query: &[u8],
        least: usize,
        found: &Places,
        most: usize,
    ) -> Option<Vec<ExactRun>> {
        let (mut runs, mut count) = (Vec::new(), 0);
        let is_complete = self.kmers.for_each_kmer(found, |row, place| {
            runs.extend(self.run_at(query, (row, place), runs.last(), least));
            // A run has several k-mers.
            if runs.len() > 2 * count + most {
                runs.sort_unstable();
                runs.dedup();
                count = runs.len();
            }
            count <= most
        });
        runs.sort_unstable();
        runs.dedup();
        (is_complete && runs.len() <= most).then_some(runs)
    }
}

/// The lowest score from `least` to `most` that `holds`, if all higher ones do too.
fn lowest(least: i32, most: i32, holds: impl Fn(i32) -> bool) -> Option<i32> {
    let (mut low, mut high) = (least, most);
    if low > high || !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}
