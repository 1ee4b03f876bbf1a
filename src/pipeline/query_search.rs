//! The search for hits of single queries, before mates are paired: its targets, its filter and its rules.

use super::device::Crew;
use super::ranking::Ranking;
use super::repeats::TakenOut;
use super::report::Reporter;
use super::significance::Least;
use crate::align::candidates::filter::Filter;
use crate::align::candidates::{MOST_STRETCHES, Meets, PairLayout};
use crate::align::complexity;
use crate::align::hits::{Detail, LeastScores, Ranks, Repeats, Rules, SearchInput, Tiers};
use crate::align::pairing::MOST_CANDIDATES;
use crate::terms::alignment::{Strand, Strands};
use crate::terms::alphabet::{Alphabet, reverse_complement_codes};
use crate::terms::batch::{Batch, STRETCH, Sequences};
use crate::terms::error::Result;
use crate::terms::options::{Mask, Mode, Options};
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use std::sync::Arc;

/// Maximum number of queries of a batch: with twice as many, a GPU is hardly faster.
const MOST_QUERIES: usize = 1 << 15;
/// The same with a sampled index: finding windows in large references takes the threads of a worker longer than scoring them
/// takes a GPU, so all workers should have queries.
const MOST_SAMPLED: usize = 1 << 10;
/// Maximum number of residues of all workers' batches. It bounds the memory, as the number of queries does.
const ALL_RESIDUES: usize = 1 << 27;

/// Maximum number of hits of the queries that a worker searches together, if a query may have very many. It bounds the memory:
/// a hit takes about 500 bytes, with its record.
pub(super) const MOST_HITS: usize = if cfg!(test) { 1 << 6 } else { 1 << 17 };

/// Targets, filter and rules of a search for queries.
#[derive(Clone, Copy)]
pub(super) struct QuerySearch<'a> {
    pub options: &'a Options,
    pub reporter: &'a dyn Reporter,
    pub targets: &'a Arc<Sequences>,
    pub scoring: &'a Arc<Scoring>,
    pub rules: Rules,
    pub least: &'a Least,
    /// Residues of the shortest target of all.
    pub shortest_target: usize,
    pub tiers: Option<&'a Tiers>,
    /// Set if ranks decide how many hits are searched.
    pub ranking: Option<&'a Ranking>,
    pub strands: Strands,
    pub filter: Option<&'a Filter>,
    pub repeats: &'a TakenOut,
}

/// Work of a batch, or the limits of a batch.
#[derive(Default)]
pub(super) struct Load {
    pub queries: usize,
    /// Minimum number of queries, or of cells: with fewer of both, the limit on cells does not apply.
    pub least_queries: usize,
    pub least_cells: u64,
    /// Residues of the queries, in all orientations.
    pub residues: usize,
    pub cells: u64,
    pub stretches: u64,
}

impl Load {
    pub fn reaches(&self, enough: &Load) -> bool {
        self.queries >= enough.queries
            || self.residues >= enough.residues
            || (self.cells >= enough.cells
                && (self.queries >= enough.least_queries || self.cells >= enough.least_cells))
            || self.stretches >= enough.stretches
    }
}

impl QuerySearch<'_> {
    /// Calls `search` with the scope of a batch, and with its unmasked queries. `portion` as in [`SearchInput`].
    pub fn in_scope<T>(
        &self,
        queries: Sequences,
        (meets, portion): (Meets, usize),
        search: impl FnOnce(&SearchInput, &Sequences) -> Result<T>,
    ) -> Result<T> {
        let written = Arc::new(queries);
        let queries = match self.options.ranked.mask {
            Mask::Hard => Arc::new(hidden(&written, self.scoring.alphabet, self.strands)),
            Mask::None | Mask::Low => Arc::clone(&written),
        };
        let batch = &Batch { queries, targets: Arc::clone(self.targets), scoring: Arc::clone(self.scoring) };
        let batch = &batch.clone().with_ends();
        let layout = PairLayout { strands: self.strands, meets };
        let least = self.least.of(batch, layout, self.shortest_target);
        let least = least.as_ref().map(|least| least as &dyn LeastScores);
        let ranks = self.ranking.map(|ranking| ranking.of(batch, &written, layout));
        let ranks = ranks.as_ref().map(|ranks| ranks as &dyn Ranks);
        let detail = if self.options.needs_paths() { Detail::Path } else { Detail::Score };
        let (filter, tiers) = (self.filter, self.tiers);
        let scope = SearchInput {
            most_hits: self.most_hits(),
            least,
            tiers,
            ranks,
            filter,
            portion,
            detail,
            ..SearchInput::new(batch, layout, self.rules)
        };
        let without = self.repeats.of(self, &scope)?;
        let repeats = without.as_deref().map_or(Repeats::Kept, Repeats::Known);
        search(&SearchInput { repeats, ..scope }, &written)
    }

    /// Maximum number of hits of the queries that a worker searches together.
    pub fn most_hits(&self) -> usize {
        if self.rules.most() > MOST_CANDIDATES { MOST_HITS } else { usize::MAX }
    }

    /// Limits of a batch of one of the workers, which should have about `cells` cells.
    pub fn enough(&self, crew: &Crew, cells: u64) -> Load {
        let workers = crew.workers;
        let is_sampled = self.filter.is_some_and(Filter::is_sampled);
        let most = if is_sampled { MOST_SAMPLED } else { MOST_QUERIES };
        let (queries, cells) = match self.options.batch {
            Some(queries) => (queries, u64::MAX),
            None => (most.min(crew.queries / workers), cells),
        };
        let columns = self.targets.letters() as u64 * u64::from(self.strands.count());
        let (least_queries, least_cells) = match self.options.mode {
            Mode::All => crew.side_by_side(columns, self.targets.len()),
            Mode::Pairs | Mode::Triangle => (1, u64::MAX),
        };
        // Each query of a profile has a search of its own.
        let queries = if self.options.iterations.has_profiles() { 1 } else { queries };
        // With a sampled index, many batches wait for a slow one.
        let under_way = if is_sampled { crew.batches() } else { workers };
        let (residues, stretches) = (ALL_RESIDUES / under_way, MOST_STRETCHES / workers as u64);
        Load { queries, least_queries, least_cells, residues, cells, stretches }
    }

    /// Adds a query of `len` residues that is aligned with targets of `target_residues` residues.
    pub fn add(&self, load: &mut Load, len: usize, target_residues: u64) {
        let is_boxed = self.tiers.is_some_and(|tiers| tiers.is_large && tiers.is_long(len));
        // A long query on a large reference is scored in boxes, and usually one of them is as long as the query.
        let filtered = match is_boxed {
            true => Some(len as u64),
            false => self.filter.and_then(|filter| filter.columns(len)),
        };
        let columns = filtered.unwrap_or(target_residues * u64::from(self.strands.count()));
        // Each target is at least one stretch. A filter leaves few of them.
        let targets = match self.options.mode {
            Mode::All | Mode::Triangle if filtered.is_none() => self.targets.len() as u64,
            _ => 1,
        };
        load.queries += 1;
        load.residues += len * self.strands.count() as usize;
        load.cells += len as u64 * columns;
        load.stretches += columns / u64::from(STRETCH) + targets * u64::from(self.strands.count());
    }
}

/// Queries with their low-complexity stretches masked. All orientations of a query are masked at the stretches of the
/// query as read.
fn hidden(queries: &Sequences, alphabet: Alphabet, strands: Strands) -> Sequences {
    let each = strands.count() as usize;
    let of_record = |record: usize| {
        let first = queries.get(record * each);
        let mut forward: Vec<u8> = match strands.has(Strand::Forward) {
            true => first.to_vec(),
            false => reverse_complement_codes(first).collect(),
        };
        complexity::hide(alphabet, &mut forward);
        let oriented = move |strand: &Strand| match strand {
            Strand::Reverse => reverse_complement_codes(&forward).collect(),
            _ => forward.clone(),
        };
        strands.orientations().iter().map(oriented).collect()
    };
    let all: Vec<Vec<Vec<u8>>> = (0..queries.len() / each).into_par_iter().map(of_record).collect();
    all.iter().flatten().map(Vec::as_slice).collect()
}
