//! Exact seed matches in the targets, found by an index of k-mers.

mod anchored;
mod intact;
mod on_device;
mod supported;

use super::diagonal_bound::{ADJACENT, DiagonalBound, EditLoss, MOST_BASES, MOST_GAPS};
use super::estimate::{Estimate, LONG};
use super::index::{self, IndexShape};
use super::kmers::{Kmers, Places, StoredIndex};
use super::levels::{Field, FilterCosts, LevelGuarantee, Levels, SeedKind};
use super::near_kmers::NearKmers;
use super::pieces::{Piece, PieceBuffers};
use super::seeds::{QuickLook, Seeds};
use super::tally::SeedTally;
use super::windows::{CandidateRegion, TargetWindow, join, push_along, push_regions, push_stretches};
use super::{FilterAnswer, FilterRequest, MOST_STRETCHES, PairLayout};
use crate::terms::alignment::Strand;
use crate::terms::alphabet::has_ends;
use crate::terms::batch::{Batch, Sequences};
use crate::terms::bounds::{SeedAlphabet, longest_span, potential};
use crate::terms::casts::{to_i32, to_i64, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Length of the seeds that lead to a first alignment, at most, in bases.
const GLANCE_SEED: usize = 20;
const GLANCE_SEEDS: usize = 4;
/// Maximum number of positions of a seed that are examined.
const GLANCE_PLACES: usize = 64;
/// Share of a query's maximum score above which the other strand need not be examined.
const GLANCE_ENOUGH: f64 = 0.8;
/// The same for further positions on a strand. A read of a repeat has many.
const GLANCE_GOOD: f64 = 0.9;
/// Number of positions up to which each intact piece of a query counts, and not only two of them together.
const FEW_PLACES: usize = 64;
/// Two pieces together may have this many times the positions of single ones.
const MORE_PLACES: usize = 4;
/// Maximum number of positions of a long query's k-mers in memory at once, and the length of a shorter stretch of the
/// targets, relative to the query and at least, in bases.
const LONG_PLACES: usize = 1 << 20;
const PER_QUERY: usize = 4;
const LONG_STRETCH: usize = 1 << 16;
/// In tandem repeats, scoring the columns of this many ranges of diagonals is faster than their bounds, which each take about
/// as long as scoring 60 columns of a short query.
const DENSE: usize = 8;
const DENSE_GAP: i64 = 32;
/// Share of a full search's cost that the first alignment may cost.
const GLANCE_SHARE: f64 = 0.05;

pub use super::diagonal_bound::RUN;
pub use anchored::AnchoredRegions;
pub use intact::IntactWindow;
pub use on_device::{BoundedDiagonal, DiagonalScan, ScanScores, ScannedPiece, ScannedQuery};

/// Numbers of positions that decide how the diagonals of a query's seeds are bounded. They never affect results.
#[derive(Clone, Copy, Debug)]
pub struct DiagonalLimits {
    /// Minimum number of positions from which each diagonal gets a bound before its window is scored.
    pub least_bounded: usize,
    /// Minimum number of positions from which a seed's bases outside its k-mer are not compared: sorting the diagonals of
    /// all positions is faster than reading the targets at each, and the bound compares these bases.
    pub least_unverified: usize,
    /// Maximum number of diagonals in memory at once, unless they come from a stretch of no more than `stretch` target
    /// bases.
    pub in_memory: usize,
    pub stretch: usize,
    /// A device takes the positions of the index once the host has examined one in this many of them.
    pub examined: usize,
    /// Number of windows that are searched first in addition to those of the needed hits, if a device finds more. Its bounds
    /// are nearly exact.
    pub spare: usize,
}

impl DiagonalLimits {
    fn stretches(&self) -> StretchLimits {
        StretchLimits { places: self.in_memory, shortest: self.stretch }
    }
}

/// Limits of a stretch of the targets whose positions are in memory together.
#[derive(Clone, Copy, Debug)]
struct StretchLimits {
    /// Maximum number of positions in a stretch of more than `shortest` bases.
    places: usize,
    shortest: usize,
}

/// Limits for a long query of `len` residues.
fn long_limits(len: usize) -> StretchLimits {
    StretchLimits { places: LONG_PLACES, shortest: LONG_STRETCH.max(PER_QUERY * len) }
}

/// Calls `call` with stretches of `all` target bases within the limits, in ascending order, until it returns `false`.
fn for_each_stretch(
    all: usize,
    StretchLimits { places, shortest }: StretchLimits,
    places_in: impl Fn(&Range<usize>) -> usize,
    mut call: impl FnMut(Range<usize>) -> bool,
) {
    let mut stretches: Vec<Range<usize>> = std::iter::once(0..all).collect();
    while let Some(stretch) = stretches.pop() {
        if places < usize::MAX && stretch.len() > shortest && places_in(&stretch) > places {
            let middle = stretch.start + stretch.len() / 2;
            stretches.extend([middle..stretch.end, stretch.start..middle]);
        } else if !call(stretch) {
            return;
        }
    }
}

impl Default for DiagonalLimits {
    fn default() -> DiagonalLimits {
        DiagonalLimits {
            least_bounded: 32,
            least_unverified: 1 << 12,
            in_memory: 1 << 20,
            stretch: 1 << 16,
            examined: 64,
            spare: 16,
        }
    }
}

/// Finds seeds with an index.
pub struct ByIndex {
    pub targets: Arc<Sequences>,
    /// The classes of bases in seeds and in k-mers of the index.
    alphabet: SeedAlphabet,
    pub kmers: Kmers,
    pub levels: Levels,
    /// `None` if the scoring has no bound for a diagonal.
    loss: Option<EditLoss>,
    pub limits: DiagonalLimits,
    /// `None` inside if there are too many.
    near: OnceLock<Option<NearKmers>>,
    /// Examines positions of a sampled index, if the run has such a device.
    device: Option<Box<dyn DiagonalScan>>,
    /// Number of positions that the host has examined.
    examined: AtomicUsize,
}

/// How the diagonals of a query's alignments are found.
enum DiagonalSearch {
    /// They have a seed of this length.
    Seeds(usize),
    /// Together with nearby diagonals, they have this number of k-mers.
    Counted(usize),
    /// Together with nearby diagonals, they have this number of intact pieces, 1 or 2, or they are near residues that are
    /// not bases.
    Pieces(Vec<Piece>, usize),
}

/// Buffers of one thread, kept from query to query.
#[derive(Default)]
pub struct QueryBuffers {
    /// Index ranges of the seeds, for each orientation.
    pub places: [Places; 2],
    pub windows: Vec<TargetWindow>,
    pub tally: SeedTally,
    diagonals: DiagonalBuffers,
    /// Diagonals of k-mers, and their rows.
    hits: Vec<(i64, u32)>,
    pieces: PieceBuffers,
}

/// Diagonals of seeds, and the maximum score of an alignment on each.
#[derive(Default)]
struct DiagonalBuffers {
    diagonals: Vec<i64>,
    /// Those with enough k-mers.
    counted: Vec<i64>,
    /// Those of intact pieces, with the piece.
    intact: Vec<(i64, u32)>,
    /// First and last of diagonals that share a bound.
    adjacent: Vec<(i64, i64)>,
    most: Vec<i32>,
}

impl ByIndex {
    /// Creates a finder for queries on `strands` strands. Returns `None` if the scoring has no seeds.
    pub fn new(targets: &Arc<Sequences>, scoring: &Arc<Scoring>, strands: u32) -> Option<ByIndex> {
        let shape = IndexShape::suited(targets.codes().len());
        ByIndex::of_shape(targets, scoring, strands, shape)
    }

    /// The same with an index of this shape.
    pub fn of_shape(
        targets: &Arc<Sequences>,
        scoring: &Arc<Scoring>,
        strands: u32,
        shape: IndexShape,
    ) -> Option<ByIndex> {
        let alphabet = SeedAlphabet::of(scoring)?;
        let kmers = match alphabet.is_whole() {
            true => Kmers::new(targets, shape),
            false => {
                // A damaged code would hide a seed.
                targets.prove_all().ok()?;
                Kmers::new(&Arc::new(targets.mapped_by(|code| alphabet.class(code))), shape)
            }
        };
        let field = Field {
            kmer: kmers.letters(),
            least_seed: kmers.least(),
            step: kmers.step(),
            ..Field::new(targets, scoring, strands)
        };
        let levels = Levels::new(SeedKind::Index, field);
        // Where most windows count, as in a set of near-identical targets, bounds only cost time.
        let limits = match kmers.step() {
            1 => DiagonalLimits { least_bounded: usize::MAX, ..DiagonalLimits::default() },
            _ => DiagonalLimits::default(),
        };
        let (near, device, examined) = (OnceLock::new(), None, AtomicUsize::new(0));
        Some(ByIndex {
            targets: Arc::clone(targets),
            alphabet,
            kmers,
            levels,
            loss: EditLoss::new(scoring),
            limits,
            near,
            device,
            examined,
        })
    }

    /// Examines positions with a device.
    pub fn set_device(&mut self, device: Box<dyn DiagonalScan>) {
        self.device = Some(device);
    }

    /// Takes an index from a file instead of making one, if its k-mers are those of the seeds.
    pub fn store(&mut self, stored: StoredIndex) {
        if self.alphabet.is_whole() {
            self.kmers.store(stored);
        }
    }

    /// The codes of a query whose seeds are looked up.
    pub(super) fn seeds_of<'a>(&self, query: &'a [u8]) -> Cow<'a, [u8]> {
        match self.alphabet.is_whole() && !has_ends(query) {
            true => Cow::Borrowed(query),
            false => query.iter().map(|&code| self.alphabet.class(code)).collect(),
        }
    }

    /// Best ungapped score of a query that begins at position `offset` of the concatenated targets, within `bounds`.
    fn ungapped(&self, query: &[u8], offset: i64, bounds: &Range<usize>, scoring: &Scoring) -> i32 {
        let from = to_usize((to_i64(bounds.start) - offset).max(0));
        let to = to_usize((to_i64(bounds.end) - offset).min(to_i64(query.len())));
        let target = &self.targets.codes()[to_usize(to_i64(from) + offset)..to_usize(to_i64(to) + offset)];
        let (mut score, mut best) = (0, 0);
        for (&q, &t) in query[from..to].iter().zip(target) {
            score = (score + scoring.score(q, t)).max(0);
            best = best.max(score);
        }
        best
    }

    /// Score of the best ungapped alignment that a few long seeds of a record lead to.
    fn first_alignment(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        record: u32,
        (found, buffers): (&mut Places, &mut PieceBuffers),
    ) -> i32 {
        let ByIndex { kmers, levels, .. } = self;
        let mut best = 0;
        for &strand in layout.orientations() {
            let query = batch.query(layout.query(record, strand));
            let most = potential(query, &levels.field.scoring) as f64;
            if f64::from(best) > GLANCE_ENOUGH * most {
                break;
            }
            let seeds = self.seeds_of(query);
            let (seed, places) = match kmers.step() {
                1 => {
                    let shortest = kmers.least().max(index::MOST_DENSE_LETTERS as usize);
                    let seed = (query.len() / GLANCE_SEEDS).clamp(shortest, GLANCE_SEED.max(shortest));
                    (seed, kmers.look_up(&seeds, seed, found))
                }
                _ => (kmers.least(), kmers.look_up_rarest(&seeds, GLANCE_SEEDS, found, buffers)),
            };
            let FilterCosts { place, compared, .. } = levels.field.costs;
            let places = places.min(GLANCE_SEEDS * GLANCE_PLACES);
            let cells = places as f64 * (place + compared * query.len() as f64);
            if cells > levels.field.whole(query.len()) * GLANCE_SHARE {
                continue;
            }
            let mut last = None;
            kmers.for_each_place((&seeds, seed), found, GLANCE_PLACES, |from, place, _, bounds| {
                let offset = to_i64(place) - to_i64(from);
                if last.replace(offset) != Some(offset) && f64::from(best) < GLANCE_GOOD * most {
                    best = best.max(self.ungapped(query, offset, bounds, &levels.field.scoring));
                }
            });
        }
        best
    }

    /// Estimates the score of a record's best alignment by counting its seeds. Returns 0 if there is no estimate, or if
    /// it would need too many positions, as in a sampled index.
    fn estimate(&self, (batch, layout): (&Batch, &PairLayout), record: u32, work: &mut QueryBuffers) -> i32 {
        let ByIndex { targets, kmers, levels, .. } = self;
        if kmers.step() > 1 {
            return 0;
        }
        let seed = kmers.letters() as usize;
        let of_strand = |strand: &Strand| {
            let query = batch.query(layout.query(record, *strand));
            let places = kmers.look_up(&self.seeds_of(query), seed, &mut work.places[0]) as f64;
            let FilterCosts { place, counted, .. } = levels.field.costs;
            let cells = (query.len() / seed) as f64 * place + 2.0 * places * counted;
            if cells > levels.field.whole(query.len()) * GLANCE_SHARE {
                return 0;
            }
            let estimate = Estimate { len: query.len(), seed, letters: targets.codes().len() };
            let listed = kmers.listed(&work.places[0], 0..query.len());
            estimate.score(listed, &mut work.tally, &levels.field.scoring)
        };
        layout.orientations().iter().map(of_strand).max().unwrap_or(0)
    }

    /// Finds the regions for one record from the positions of single seeds.
    fn look_up(
        &self,
        (batch, layout): (&Batch, &PairLayout),
        wanted: &FilterRequest,
        QueryBuffers { places, windows, diagonals, pieces, .. }: &mut QueryBuffers,
    ) -> FilterAnswer {
        let ByIndex { targets, kmers, levels, .. } = self;
        let &FilterRequest { record, level, least, spent, .. } = wanted;
        let oriented = |strand: Strand| batch.query(layout.query(record, strand));
        let len = oriented(Strand::Forward).len();
        let most = levels.most(len, wanted);
        let dense = levels.field.dense_stretches(len, &level);
        let strands = || layout.orientations().iter().copied();
        let bound = |codes: &[u8], seeds: &[u8]| self.bound((codes, seeds), least);
        let look_up = |(strand, found): (Strand, &mut Places)| {
            let codes = oriented(strand);
            let seeds = self.seeds_of(codes);
            let bounded = if kmers.step() > 1 { bound(codes, &seeds) } else { None };
            let bounded =
                bounded.and_then(|bound| self.bounded_search((&seeds, &bound), least, found, pieces));
            bounded.unwrap_or_else(|| {
                (DiagonalSearch::Seeds(level.seed), kmers.look_up(&seeds, level.seed, found))
            })
        };
        let looked_up: SmallVec<[(DiagonalSearch, usize); 2]> =
            strands().zip(&mut *places).map(look_up).collect();
        let seeding: f64 = looked_up.iter().map(|(search, places)| self.cost(search, *places)).sum();
        if self.device.is_some() {
            self.examined.fetch_add(looked_up.iter().map(|(_, places)| places).sum(), Ordering::Relaxed);
        }
        let mut cells = seeding;
        let mut regions: Vec<CandidateRegion> = Vec::new();
        for ((strand, found), (search, looked_up)) in strands().zip(places).zip(looked_up) {
            if cells > most {
                return FilterAnswer::Dear;
            }
            let codes = oriented(strand);
            let span = longest_span(codes, least, &levels.field.scoring);
            windows.clear();
            let query = (strand, layout.query(record, strand));
            let seeds = self.seeds_of(codes);
            let is_seeds = matches!(search, DiagonalSearch::Seeds(_));
            let is_bounded = !is_seeds || looked_up >= self.limits.least_bounded;
            let bound = if is_bounded { bound(codes, &seeds) } else { None };
            if let Some(bound) = &bound {
                let found = (&*found, looked_up, &search);
                self.push_bounded(&seeds, found, (bound, least, span), (diagonals, windows));
            } else {
                let seed = (&*seeds, level.seed);
                kmers.for_each_place(seed, found, usize::MAX, |from, place, target, bounds| {
                    let target = (&**targets, target);
                    let behind = place + level.seed - bounds.start;
                    windows.extend(TargetWindow::around(target, behind, (len, from + level.seed), span));
                });
            }
            push_stretches(windows, targets, &dense, span);
            // A window has the maximum score of an alignment, or a number of seeds.
            let hold = if bound.is_some() { u32::max } else { u32::saturating_add };
            cells += join(windows, hold) as f64 * len as f64;
            if windows.len() as u64 > MOST_STRETCHES {
                return FilterAnswer::Dear;
            }
            let most_score = |held: u32| if bound.is_some() { to_i32(held) } else { level.most_score(held) };
            push_regions(&mut regions, targets, query, (span, most_score), windows);
        }
        if cells > most {
            FilterAnswer::Dear
        } else {
            FilterAnswer::Regions { regions, held: least, spent: spent + seeding }
        }
    }

    /// The cheapest search that the bound allows, and the number of positions that it examines. `None` if the bound is no
    /// help in finding the diagonals.
    fn bounded_search(
        &self,
        (seeds, bound): (&[u8], &DiagonalBound),
        least: i32,
        found: &mut Places,
        buffers: &mut PieceBuffers,
    ) -> Option<(DiagonalSearch, usize)> {
        let kmers = &self.kmers;
        if kmers.step() == 1 || !bound.is_of_bases() {
            return None;
        }
        let wanted = |intact: usize| {
            let wanted = bound.pieces(least, kmers.least(), intact);
            wanted.filter(|_| self.near().is_some())
        };
        let held = self.least_kmers(bound, least);
        if held < 2 && wanted(1).is_none() {
            return None;
        }
        let all = kmers.look_up_all(seeds, found);
        let counted = (held > 1).then_some((DiagonalSearch::Counted(held), all));
        let mut rarest = |intact: usize| {
            let (places, pieces) = kmers.rarest(found, (wanted(intact)?, seeds.len()), buffers)?;
            Some((DiagonalSearch::Pieces(pieces, intact), to_usize(places)))
        };
        let one = rarest(1);
        // In repeats, single pieces occur in many copies.
        let is_frequent = |(_, places): &(DiagonalSearch, usize)| *places > FEW_PLACES;
        let two = if one.as_ref().is_some_and(is_frequent) { rarest(2) } else { None };
        let most = one.as_ref().map_or(0, |(_, places)| MORE_PLACES * places);
        let rarest = two.filter(|(_, places)| *places <= most).or(one);
        let cost = |(search, places): &(DiagonalSearch, usize)| self.cost(search, *places);
        counted.into_iter().chain(rarest).min_by(|one, other| cost(one).total_cmp(&cost(other)))
    }

    /// Cost of examining these positions, in cells.
    fn cost(&self, search: &DiagonalSearch, places: usize) -> f64 {
        let FilterCosts { place, sorted, .. } = self.levels.field.costs;
        let each = if matches!(search, DiagonalSearch::Counted(_)) { sorted } else { place };
        places as f64 * each
    }

    /// The k-mers near residues that are not bases. `None` if there are too many.
    fn near(&self) -> Option<&NearKmers> {
        let near = || {
            let runs = self.levels.field.runs.as_deref();
            NearKmers::new(&self.kmers, runs, MOST_BASES + MOST_GAPS)
        };
        self.near.get_or_init(near).as_ref()
    }

    /// Minimum number of the index's k-mers that an alignment of this score contains if it meets no residue other than
    /// bases. 1 if it need not be more.
    fn least_kmers(&self, bound: &DiagonalBound, least: i32) -> usize {
        let ByIndex { kmers, levels, .. } = self;
        let are_known = || levels.field.runs.as_ref().is_none_or(|runs| runs.are_known());
        if kmers.step() == 1 || !bound.is_of_bases() || !are_known() {
            return 1;
        }
        bound.least_kmers(least, (kmers.letters() as usize, kmers.step() as usize)).max(1)
    }

    /// Appends the windows along the diagonals that the search finds and on which an alignment of score `least` is
    /// possible. Works through the targets in stretches with few positions each, and joins windows meanwhile, so that
    /// memory stays bounded whatever the number of positions. Stops once there are more than [`MOST_STRETCHES`] windows.
    fn push_bounded(
        &self,
        query: &[u8],
        (found, looked_up, search): (&Places, usize, &DiagonalSearch),
        (bound, least, span): (&DiagonalBound, i32, u32),
        (buffers, windows): (&mut DiagonalBuffers, &mut Vec<TargetWindow>),
    ) {
        let ByIndex { targets, kmers, limits, .. } = self;
        let DiagonalBuffers { diagonals, counted, intact, adjacent, most } = buffers;
        let codes = kmers.codes();
        let places_in = |stretch: &Range<usize>| match search {
            DiagonalSearch::Pieces(pieces, _) => kmers.piece_places_in(pieces, found, stretch),
            _ => kmers.places_in(found, stretch),
        };
        // With all k-mers of the alignments that have some k-mer in the stretch.
        let with_all = |held: usize, stretch: &Range<usize>| {
            let around = if held > 1 { span as usize } else { 0 };
            stretch.start.saturating_sub(around)..stretch.end.saturating_add(around)
        };
        let is_verified = matches!(search, DiagonalSearch::Seeds(_)) && looked_up < limits.least_unverified;
        let is_whole = is_verified || looked_up <= limits.in_memory;
        let limits = if is_whole {
            StretchLimits { places: usize::MAX, ..limits.stretches() }
        } else {
            limits.stretches()
        };
        let mut joined = 0;
        for_each_stretch(codes.len(), limits, places_in, |stretch| {
            diagonals.clear();
            match search {
                &DiagonalSearch::Seeds(seed) if is_verified => {
                    kmers.for_each_place((query, seed), found, usize::MAX, |from, place, _, _| {
                        diagonals.push(to_i64(place) - to_i64(from));
                    });
                }
                DiagonalSearch::Seeds(_) => kmers.push_diagonals(found, &stretch, diagonals),
                &DiagonalSearch::Counted(held) => {
                    kmers.push_diagonals(found, &with_all(held, &stretch), diagonals);
                }
                &DiagonalSearch::Pieces(ref pieces, held) => {
                    intact.clear();
                    kmers.push_intact((query, pieces), found, &with_all(held, &stretch), intact);
                    push_held(intact, (span as usize - query.len(), held), diagonals);
                    if let Some(near) = self.near().filter(|_| stretch.start == 0) {
                        near.push_diagonals(kmers, found, diagonals);
                    }
                }
            }
            diagonals.sort_unstable();
            if let DiagonalSearch::Counted(held @ 2..) = *search {
                self.push_counted(diagonals, (query.len(), span, held), counted);
                std::mem::swap(diagonals, counted);
            }
            set_adjacent(diagonals, adjacent);
            let bases = (0, query.len(), query.len());
            let mut push = |range, most| push_along(windows, targets, range, bases, (span, most));
            take_dense(adjacent, |range| push(range, bound.perfect()));
            bound.most_scores((codes, least), adjacent, most);
            for (&range, &most) in adjacent.iter().zip(&*most).filter(|&(_, &most)| most >= least) {
                push(range, most);
            }
            if windows.len() > 2 * joined + self.limits.in_memory {
                join(windows, u32::max);
                joined = windows.len();
            }
            joined as u64 <= MOST_STRETCHES
        });
    }

    /// Replaces `counted` by those of the sorted `diagonals` that are `held` or more within the diagonals of an alignment,
    /// and those near residues that are not bases.
    fn push_counted(
        &self,
        diagonals: &[i64],
        (len, span, held): (usize, u32, usize),
        counted: &mut Vec<i64>,
    ) {
        counted.clear();
        let gaps = span as usize - len;
        let (mut first, mut pushed) = (0, 0);
        for (last, &diagonal) in diagonals.iter().enumerate() {
            while diagonal - diagonals[first] > to_i64(gaps) {
                first += 1;
            }
            if last + 1 - first >= held {
                counted.extend(&diagonals[first.max(pushed)..=last]);
                pushed = last + 1;
            }
        }
        if let Some(runs) = &self.levels.field.runs {
            let before = counted.len();
            runs.push_near(diagonals, (len, gaps), counted);
            if counted.len() > before {
                counted.sort_unstable();
            }
        }
    }
}

/// Replaces `adjacent` by ranges of the sorted `diagonals` that share a bound: a copy of a repeat with short gaps has several
/// diagonals.
fn set_adjacent(diagonals: &[i64], adjacent: &mut Vec<(i64, i64)>) {
    adjacent.clear();
    for &diagonal in diagonals {
        match adjacent.last_mut() {
            Some((first, last)) if diagonal - *first <= to_i64(ADJACENT) => *last = diagonal,
            _ => adjacent.push((diagonal, diagonal)),
        }
    }
}

/// Removes [`DENSE`] or more ranges of diagonals if each follows the one before within [`DENSE_GAP`] diagonals, and calls
/// `call` with their first and last diagonal.
fn take_dense(adjacent: &mut Vec<(i64, i64)>, mut call: impl FnMut((i64, i64))) {
    let (mut start, mut kept) = (0, 0);
    while start < adjacent.len() {
        let follows = |pair: &[(i64, i64)]| pair[1].0 - pair[0].1 <= DENSE_GAP;
        let end = start + 1 + adjacent[start..].windows(2).take_while(|pair| follows(pair)).count();
        if end - start >= DENSE {
            call((adjacent[start].0, adjacent[end - 1].1));
        } else {
            adjacent.copy_within(start..end, kept);
            kept += end - start;
        }
        start = end;
    }
    adjacent.truncate(kept);
}

/// Appends the diagonals of intact pieces, or, if `held` is more than 1, those with another piece at most `gaps` diagonals
/// away.
fn push_held(intact: &mut [(i64, u32)], (gaps, held): (usize, usize), diagonals: &mut Vec<i64>) {
    if held == 1 {
        diagonals.extend(intact.iter().map(|&(diagonal, _)| diagonal));
        return;
    }
    intact.sort_unstable();
    let near = |one: &(i64, u32), other: Option<&(i64, u32)>| {
        other.is_some_and(|other| one.0.abs_diff(other.0) <= gaps as u64)
    };
    // The nearest other piece of successive diagonals of one piece comes right before or right after them.
    let mut start = 0;
    for of_piece in intact.chunk_by(|one, next| one.1 == next.1) {
        let end = start + of_piece.len();
        let others = (start.checked_sub(1).map(|before| &intact[before]), intact.get(end));
        let kept = of_piece.iter().filter(|own| near(own, others.0) || near(own, others.1));
        diagonals.extend(kept.map(|&(diagonal, _)| diagonal));
        start = end;
    }
}

impl Seeds for ByIndex {
    fn levels(&self) -> &Levels {
        &self.levels
    }

    fn levels_mut(&mut self) -> &mut Levels {
        &mut self.levels
    }

    fn glance(&self, batch: &Batch, layout: &PairLayout, records: &[u32]) -> Vec<QuickLook> {
        let look = |work: &mut QueryBuffers, &record: &u32| {
            let query = batch.query(layout.query(record, Strand::Forward));
            match query.len() < LONG * self.kmers.letters() as usize {
                true => {
                    let buffers = (&mut work.places[0], &mut work.pieces);
                    QuickLook::Alignment(self.first_alignment((batch, layout), record, buffers))
                }
                false => QuickLook::Estimate(self.estimate((batch, layout), record, work)),
            }
        };
        records.par_iter().map_init(QueryBuffers::default, look).collect()
    }

    fn regions(
        &self,
        batch: &Batch,
        layout: &PairLayout,
        wanted: &[FilterRequest],
        room: usize,
    ) -> Result<Vec<FilterAnswer>, EngineError> {
        self.kmers.prepare();
        let on_host = |work: &mut QueryBuffers, wanted: &FilterRequest| match wanted.level.known {
            _ if !self.kmers.are_ready() => FilterAnswer::Dear,
            LevelGuarantee::Held(_) => self.look_up((batch, layout), wanted, work),
            LevelGuarantee::Counted(_) => self.count((batch, layout), wanted, work),
        };
        if let Some(device) = self.device() {
            return self.regions_on_device(device, (batch, layout), wanted, (room, &on_host));
        }
        let (taken, was_worth) = (AtomicUsize::new(0), self.is_device_worth());
        let open = |work: &mut QueryBuffers, wanted: &FilterRequest| {
            let is_full = taken.load(Ordering::Relaxed) >= room.max(1);
            if is_full || (!was_worth && self.is_device_worth()) {
                return FilterAnswer::Later;
            }
            let opened = on_host(work, wanted);
            if let FilterAnswer::Regions { regions, .. } = &opened {
                taken.fetch_add(regions.len(), Ordering::Relaxed);
            }
            opened
        };
        Ok(wanted.par_iter().map_init(QueryBuffers::default, open).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_diagonals_are_taken_together() {
        let every = |from: i64, step: i64, count: i64| {
            (0..count).map(move |k| (from + k * step, from + k * step + 7))
        };
        let least = DENSE as i64;
        let gap = DENSE_GAP + 7;
        // Dense, one too few, dense with the largest gaps, too far apart, dense.
        let all: Vec<(i64, i64)> = every(-50, 8, least)
            .chain(every(1000, 8, least - 1))
            .chain(every(2000, gap, least))
            .chain(every(5000, gap + 1, 2 * least))
            .chain(every(9000, 10, 3 * least))
            .collect();
        let (mut rest, mut taken) = (all.clone(), Vec::new());
        take_dense(&mut rest, |range| taken.push(range));
        let ends = |from: i64, step: i64, count: i64| (from, from + (count - 1) * step + 7);
        assert_eq!(taken, [ends(-50, 8, least), ends(2000, gap, least), ends(9000, 10, 3 * least)]);
        let expected: Vec<_> = every(1000, 8, least - 1).chain(every(5000, gap + 1, 2 * least)).collect();
        assert_eq!(rest, expected);
        let mut none = Vec::new();
        take_dense(&mut none, |_| unreachable!("no diagonals"));
    }
}
