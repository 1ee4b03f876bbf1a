//! Scores of the recurrence over rows ([`crate::engine::rows`]): targets in the lanes of vectors, against one query.

use super::Cpu;
use super::lanes::{MatrixRows, Nothing, rows_of_tables, side_by_side};
use super::simd::{InstructionSet, Kernel, Simd, Stripes, Vectors};
use crate::engine::rows::{self, ABOVE, STEP};
use crate::terms::alignment::HitEnd;
use crate::terms::alphabet::CODES;
use crate::terms::batch::{Batch, Pair};
use crate::terms::casts::{to_i32, to_u32};
use crate::terms::scoring::{GapPiece, PositionScores, Scoring};
use bytemuck::{cast_slice, cast_slice_mut};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::slice::{from_mut, from_ref};

/// A lane.
type Word = i16;
/// Rows that are swept over all columns before the next rows, so that their cells stay in a cache.
const ROWS: usize = 1 << 10;
/// The highest penalty in a lane: a sum of two of them does not overflow.
const MOST_PENALTY: i32 = 1 << 13;

/// What all groups of a call share.
struct RowScoring {
    tables: MatrixRows,
    /// Codes from this one on have no table of their own.
    letters: usize,
    first: Word,
    extend: Word,
    shift: Word,
    /// Costs of the gaps that leave each position, if these have costs of their own.
    positions: Vec<PositionCosts>,
    /// Scores up to this one are exact.
    most: i32,
}

/// Costs of the deletion and the insertion that leave a position: those of the first and of each further residue.
#[derive(Clone, Copy)]
struct PositionCosts {
    first: [Word; 2],
    extend: [Word; 2],
}

impl RowScoring {
    /// Returns `None` if a score or a penalty is too large for a lane.
    fn new(scoring: &Scoring) -> Option<RowScoring> {
        let fits = scoring.lowest() >= i8::MIN.into() && scoring.max_step() <= i8::MAX.into();
        let penalty = |cost: i32| Word::try_from(cost).ok().filter(|_| cost <= MOST_PENALTY);
        let gap = scoring.gaps().first;
        let costs = |[deletion, insertion]: [GapPiece; 2]| {
            let first = [penalty(deletion.first())?, penalty(insertion.first())?];
            Some(PositionCosts { first, extend: [penalty(deletion.extend)?, penalty(insertion.extend)?] })
        };
        let positions: Option<Vec<PositionCosts>> =
            scoring.position_gaps().map_or(Some(Vec::new()), |profile| {
                (0..profile.rows.len()).map(|position| costs(profile.gaps_after(position))).collect()
            });
        fits.then_some(RowScoring {
            tables: scoring.table(),
            letters: rows_of_tables(scoring),
            first: penalty(gap.first())?,
            extend: penalty(gap.extend)?,
            shift: penalty(scoring.frameshift.unwrap_or(0))?,
            positions: positions?,
            most: i32::from(Word::MAX) - scoring.max_step(),
        })
    }
}

/// One query against some targets, at most one for each lane. The result has a hit for each target, or `None` if the lane is
/// too narrow.
struct RowGroup<'a> {
    scoring: &'a RowScoring,
    query: &'a [u8],
    /// The scores of the query's positions, if it is a profile. If not, its rows are codons.
    profile: Option<&'a PositionScores>,
    targets: &'a [&'a [u8]],
}

/// What enters the rows below a strip in a column: H of its last rows, and F of the next rows.
#[derive(Clone, Copy)]
struct Below<V> {
    h: [V; ABOVE],
    f: [V; STEP],
}

impl Kernel for RowGroup<'_> {
    type Output = Vec<Option<HitEnd>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Option<HitEnd>> {
        match self.profile {
            Some(_) if !self.scoring.positions.is_empty() => self.in_lanes::<S, true, true>(simd),
            Some(_) => self.in_lanes::<S, true, false>(simd),
            None => self.in_lanes::<S, false, false>(simd),
        }
    }
}

impl RowGroup<'_> {
    #[inline(always)]
    fn in_lanes<S: Stripes<Word>, const PROFILE: bool, const OWN_GAPS: bool>(
        &self,
        simd: S,
    ) -> Vec<Option<HitEnd>> {
        let RowScoring { ref tables, letters, first, extend, shift, positions: ref costs, most } =
            *self.scoring;
        let positions = self.profile.map_or(&[][..], |profile| &profile.rows);
        let splat = |value: Word| Vectors::<Word>::splat(simd, value);
        let [zero, first, extend, shift] = [0, first, extend, shift].map(splat);
        let opened = simd.sub(zero, first);
        let cols = self.targets.iter().map(|target| target.len()).max().unwrap_or(0);
        let nothing = Nothing::IN_TABLES;
        let targets = self.targets.iter().map(|target| (0, *target));
        let columns: Vec<S::V> =
            side_by_side::<Word, S>(cols, nothing.target, |code| nothing.target(code), targets);
        let mut best = vec![Some(HitEnd::default()); self.targets.len()];
        let mut edge = vec![Below { h: [zero; ABOVE], f: [opened; STEP] }; cols];
        let (mut h, mut e) = (Vec::new(), Vec::new());
        let mut profile = [zero; CODES];
        for (strip, rows) in self.query.chunks(ROWS).enumerate() {
            h.clear();
            h.resize(rows.len(), zero);
            e.clear();
            e.resize(rows.len(), opened);
            // An equal score of an earlier strip is better only if its column is.
            let mut top = known_tops::<S>(simd, zero, &best);
            let mut corner = [zero; ABOVE];
            for ((col, &codes), below) in (1..).zip(&columns).zip(&mut edge) {
                if !PROFILE {
                    fill_profile(simd, &mut profile, tables, (letters, codes));
                }
                let positions = positions.get(strip * ROWS..).unwrap_or_default();
                let costs = costs.get(strip * ROWS..).unwrap_or_default();
                let Below { h: entering, mut f } = *below;
                // H of the last column in the 4 rows above.
                let mut above = std::mem::replace(&mut corner, entering);
                let mut highest = zero;
                for (row, ((h, e), &code)) in h.iter_mut().zip(&mut e).zip(rows).enumerate() {
                    let scores = match PROFILE {
                        true => simd.lookup(&positions[row], codes),
                        false => profile[usize::from(code) % CODES],
                    };
                    let before = match PROFILE {
                        true => above[ABOVE - 1],
                        false => simd.max(above[1], simd.sub(simd.max(above[0], above[2]), shift)),
                    };
                    let matched = simd.add(before, scores);
                    let cell = simd.max(simd.max(matched, zero), simd.max(*e, f[0]));
                    let ([first_e, first_f], [extend_e, extend_f]) = match OWN_GAPS {
                        true => {
                            // `map` would call a function here, which takes four times as long.
                            let PositionCosts { first: [e, f], extend: [longer_e, longer_f] } = costs[row];
                            ([splat(e), splat(f)], [splat(longer_e), splat(longer_f)])
                        }
                        false => ([first; 2], [extend; 2]),
                    };
                    *e = simd.max(simd.sub(*e, extend_e), simd.sub(cell, first_e));
                    let leaving = simd.max(simd.sub(f[0], extend_f), simd.sub(cell, first_f));
                    f = if PROFILE { [leaving; STEP] } else { [f[1], f[2], leaving] };
                    above = [above[1], above[2], above[3], *h];
                    *h = cell;
                    highest = simd.max(highest, cell);
                }
                *below = Below { h: last_rows(&h, zero), f };
                if simd.any_lane(simd.gt(highest, top)) {
                    let found = TopCells { cells: cast_slice(&h), first_row: strip * ROWS, col, most };
                    found.take::<S>((&highest, &top), &mut best);
                    top = simd.max(top, highest);
                }
            }
        }
        best
    }
}

/// Looks up the scores of each code against a column.
#[inline(always)]
fn fill_profile<S: Vectors<Word>>(
    simd: S,
    profile: &mut [S::V; CODES],
    tables: &MatrixRows,
    (letters, codes): (usize, S::V),
) {
    for (scores, table) in profile.iter_mut().zip(tables).take(letters) {
        *scores = simd.lookup(table, codes);
    }
    // Codes without a table score lowest.
    let none = simd.lookup(&tables[CODES - 1], codes);
    profile[letters..].fill(none);
}

/// One less than the best score of each lane so far, at least 0.
#[inline(always)]
fn known_tops<S: Vectors<Word>>(simd: S, zero: S::V, best: &[Option<HitEnd>]) -> S::V {
    let mut tops = simd.max(zero, zero);
    let lanes: &mut [Word] = cast_slice_mut(from_mut(&mut tops));
    for (lane, best) in lanes.iter_mut().zip(best) {
        *lane = best.map_or(Word::MAX, |best| Word::try_from(best.score - 1).unwrap_or(Word::MAX).max(0));
    }
    tops
}

/// H of the last rows of a strip. A strip of fewer rows has none below it.
#[inline(always)]
fn last_rows<V: Copy>(strip: &[V], otherwise: V) -> [V; ABOVE] {
    strip.last_chunk().copied().unwrap_or([otherwise; ABOVE])
}

/// A column of a strip, with H of each row and lane, in which a lane is higher than in all columns before.
struct TopCells<'a> {
    cells: &'a [Word],
    first_row: usize,
    col: u32,
    most: i32,
}

impl TopCells<'_> {
    /// Updates the best hits of the lanes that are higher than before.
    #[inline(always)]
    fn take<S: Vectors<Word>>(self, (highest, top): (&S::V, &S::V), best: &mut [Option<HitEnd>]) {
        let lanes =
            cast_slice::<S::V, Word>(from_ref(highest)).iter().zip(cast_slice::<S::V, Word>(from_ref(top)));
        for ((lane, (&highest, &top)), best) in lanes.enumerate().zip(best) {
            let Some(known) = best.filter(|_| highest > top) else { continue };
            let score = to_i32(highest);
            if score > self.most {
                *best = None;
                continue;
            }
            // An equal score of an earlier strip is better unless its column is later.
            if score < known.score || (score == known.score && self.col >= known.target_end) {
                continue;
            }
            let row = self.cells.chunks_exact(S::LANES).position(|cells| cells[lane] == highest).unwrap_or(0);
            let query_end = to_u32(self.first_row + row + 1);
            *best = Some(HitEnd { score, query_end, target_end: self.col });
        }
    }
}

impl Cpu {
    /// The first best end of each pair under a scoring that has its own rows.
    pub(super) fn score_rows(&self, batch: &Batch, pairs: &[Pair]) -> Vec<HitEnd> {
        let Some(scoring) = RowScoring::new(&batch.scoring) else { return rows::all_best(batch, pairs) };
        // Only pairs in which each column counts are scored in lanes.
        let in_lanes = |pair: &Pair| pair.own <= pair.start && pair.start < pair.end;
        let mut places: Vec<u32> =
            (0..).zip(pairs).filter(|(_, pair)| in_lanes(pair)).map(|(place, _)| place).collect();
        places.sort_by_key(|&place| {
            let pair = &pairs[place as usize];
            (pair.query, Reverse(pair.cols()))
        });
        let lanes = lanes(self.set);
        let mut groups: Vec<&[u32]> = places
            .chunk_by(|&a, &b| pairs[a as usize].query == pairs[b as usize].query)
            .flat_map(|of_query| of_query.chunks(lanes))
            .collect();
        // Threads begin with the groups that take longest.
        groups.sort_by_key(|group| {
            let longest = &pairs[group[0] as usize];
            Reverse(batch.query(longest.query).len() as u64 * u64::from(longest.cols()))
        });
        let scored = groups.par_iter().with_max_len(1).map(|group| {
            let of = |place: &u32| pairs[*place as usize];
            let target = |pair: Pair| &batch.target(pair.target)[pair.start as usize..pair.end as usize];
            let targets: Vec<&[u8]> = group.iter().map(of).map(target).collect();
            let query = batch.query(of(&group[0]).query);
            self.set.run(RowGroup {
                scoring: &scoring,
                query,
                profile: batch.scoring.profile.as_deref(),
                targets: &targets,
            })
        });
        let scored: Vec<Vec<Option<HitEnd>>> = scored.collect();
        let mut hits = vec![None; pairs.len()];
        for (&place, hit) in groups.into_iter().flatten().zip(scored.into_iter().flatten()) {
            let start = pairs[place as usize].start;
            let placed = |hit: HitEnd| match hit.score {
                0 => hit,
                _ => HitEnd { target_end: hit.target_end + start, ..hit },
            };
            hits[place as usize] = hit.map(placed);
        }
        let score = |(pair, hit): (&Pair, Option<HitEnd>)| hit.unwrap_or_else(|| rows::best(batch, pair));
        pairs.par_iter().zip(hits).map(score).collect()
    }
}

fn lanes(set: InstructionSet) -> usize {
    set.lanes(size_of::<Word>())
}
