//! Paths of windows in the lanes of vectors: their bands are filled row by row, and each path is traced back from its
//! end.

use super::anchored::Values;
use super::cell::{DirectionCodes, Operands, cell};
use super::lanes::{
    Ambiguity, EndRow, Equality, Nothing, PieceCount, StepCosts, Substitutes, bonuses_side_by_side, compared,
    side_by_side,
};
use super::score::{Width, lanes_of};
use super::simd::{Kernel, Lane, Simd, Vectors};
use crate::engine::directions::{CellBits, cell_bits};
use crate::engine::paths::run_word;
use crate::engine::{Carried, CellSource, PathPosition, Window};
use crate::terms::batch::Batch;
use crate::terms::bounds::{Band, band_of_whole, least_score};
use crate::terms::casts::{low_u16, to_i32, to_u32, to_usize};
use crate::terms::error::EngineError;
use crate::terms::scoring::{ComparedScores, with_pieces};
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use std::ops::Range;
use std::slice::from_mut;

/// Traces up to one window for each lane. Adds the runs of each path to `words`, and returns the ranges of words of the
/// paths.
pub struct Trace<'a> {
    pub batch: &'a Batch,
    pub windows: &'a [Window],
    /// Indices into `windows`.
    pub group: &'a [u32],
    pub width: Width,
    pub words: &'a mut Vec<u32>,
    /// Memory for directions, shared by the groups of a thread: allocating it afresh takes longer than filling it.
    pub room: &'a mut Vec<CacheLine>,
}

/// Bytes with the alignment of all vectors.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

impl Kernel for Trace<'_> {
    type Output = Result<Vec<Range<u32>>, EngineError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        with_pieces!(self.batch.scoring.gaps(), PIECES => match self.width {
            Width::W8 => self.in_lanes::<i8, S, PIECES>(simd),
            _ => self.in_lanes::<i16, S, PIECES>(simd),
        })
    }
}

/// The band that holds the bands of all windows of a group, with their last cells aligned. Cell d of row i is in column
/// i + d of the group's targets.
#[derive(Clone, Copy, Debug, Default)]
pub struct BandShape {
    pub rows: u32,
    pub deletions: u32,
    insertions: u32,
}

impl BandShape {
    pub fn of(window: &Window) -> BandShape {
        let band = window.band;
        BandShape { rows: window.query_end, deletions: band.deletions, insertions: band.insertions }
    }

    /// The part of the window's band that holds its path.
    pub fn of_path(batch: &Batch, window: &Window) -> BandShape {
        let shape = BandShape::of(window);
        if !batch.scoring.mode.begins_in_corner() {
            return shape;
        }
        let query = &batch.query(window.query)[..window.query_end as usize];
        let Band { deletions, insertions } = band_of_whole(query, window.cols(), window.band, &batch.scoring);
        BandShape { deletions, insertions, ..shape }
    }

    pub fn with(self, other: BandShape) -> BandShape {
        BandShape {
            rows: self.rows.max(other.rows),
            deletions: self.deletions.max(other.deletions),
            insertions: self.insertions.max(other.insertions),
        }
    }

    pub fn cells(self) -> u64 {
        u64::from(self.rows) * self.width()
    }

    /// Cells of a row.
    pub fn width(self) -> u64 {
        u64::from(self.deletions) + u64::from(self.insertions) + 1
    }
}

impl<'a> Trace<'a> {
    #[inline(always)]
    fn in_lanes<T: Lane, S: Vectors<T>, const PIECES: usize>(
        self,
        simd: S,
    ) -> Result<Vec<Range<u32>>, EngineError> {
        let members = || self.group.iter().map(|&place| &self.windows[place as usize]);
        let shape = members()
            .map(|window| BandShape::of_path(self.batch, window))
            .fold(BandShape::default(), BandShape::with);
        let mode = self.batch.scoring.mode;
        let from_corner = mode.begins_in_corner();
        // If paths begin in the corner, the row above the first query row is stored as well.
        let rows = shape.rows as usize + usize::from(from_corner);
        let width = to_usize(shape.width().next_multiple_of(u64::from(T::BITS / cell_bits(PIECES))));
        let residues = |window: &'a Window| {
            let target = &self.batch.target(window.target)[window.start as usize..window.target_end as usize];
            [&self.batch.query(window.query)[..window.query_end as usize], target]
        };
        let compared = compared(&self.batch.scoring, members().flat_map(residues));
        // Next to an ambiguous residue of a target, an end gains its bonus. Outside the target, it does not.
        let tells_ambiguous = compared.is_some() && self.batch.scoring.end_bonus > 0;
        let nothing = Nothing::if_compared(compared).telling_ambiguous(tells_ambiguous);
        let firsts: Vec<usize> = members().map(|window| rows - window.query_end as usize).collect();
        let queries = || {
            members().map(|window| {
                let query = &self.batch.query(window.query)[..window.query_end as usize];
                (rows - query.len(), query)
            })
        };
        let bonuses = match compared {
            Some(_) => bonuses_side_by_side::<T, S>(rows, &self.batch.scoring, queries()),
            None => None,
        };
        let queries = side_by_side::<T, S>(rows, nothing.query, |code| nothing.query(code), queries());
        // After its last residue a target has as many columns as the band has insertions.
        let end = rows + shape.deletions as usize;
        let targets = members().map(|window| {
            // A whole query may begin anywhere in the band, so all of the band holds target residues.
            let start = match !mode.free_starts().query && !from_corner {
                true => window.target_end.saturating_sub(window.query_end + shape.deletions),
                false => window.start.max(window.target_end.saturating_sub(to_u32(end))),
            };
            let target = &self.batch.target(window.target)[start as usize..window.target_end as usize];
            (end - target.len(), target)
        });
        let targets =
            side_by_side::<T, S>(rows + width, nothing.target, |code| nothing.target(code), targets);
        let costs = StepCosts::new(&self.batch.scoring);
        let band = BandLetters { queries, bonuses: bonuses.as_deref(), targets, width };
        // The cell of each band in the row above its first row and in the column before the target.
        let origin = |(window, &first): (&Window, &usize)| {
            (end - window.cols() as usize)
                .checked_sub(first)
                .filter(|&cell| cell < width)
                .ok_or_else(left_band)
        };
        let origins = match from_corner {
            true => members().zip(&firsts).map(origin).collect::<Result<Vec<usize>, _>>()?,
            false => Vec::new(),
        };
        let borders = match mode {
            _ if mode.is_local() => Some(BandBorders::<_, PIECES>::local(simd, &costs)),
            _ if from_corner => BandBorders::corners::<T, S>(simd, &costs, rows, &firsts, &origins),
            _ => BandBorders::whole::<T, S>(simd, &costs, rows, &firsts),
        };
        let borders = borders.ok_or_else(too_narrow)?;
        let directions = match compared {
            Some(ComparedScores { match_, mismatch, ambiguous }) => {
                let substitutes = Equality::new(simd, match_, mismatch);
                let lanes = [&band.queries, &band.targets];
                if PieceCount::<PIECES>::ARE_MANY || bonuses.is_some() {
                    let substitutes = Ambiguity::new(simd, substitutes, ambiguous);
                    let (bonus, none) = (simd.splat(T::of(0)), simd.splat(T::of(nothing.target.into())));
                    let substitutes = EndRow { substitutes, bonus, none };
                    band.fill::<T, S, _, PIECES>(simd, costs, &borders, substitutes, self.room)
                } else if lanes.iter().any(|lanes| nothing.has_ambiguous::<T, S>(lanes)) {
                    let substitutes = Ambiguity::new(simd, substitutes, ambiguous);
                    band.fill::<T, S, _, PIECES>(simd, costs, &borders, substitutes, self.room)
                } else {
                    band.fill::<T, S, _, PIECES>(simd, costs, &borders, substitutes, self.room)
                }
            }
            None => {
                band.fill::<T, S, _, PIECES>(simd, costs, &borders, &self.batch.scoring.table(), self.room)
            }
        };
        let directions: &[T] = cast_slice(directions);
        let cells = BandCells::<T, PIECES> { directions, lanes: S::LANES, width };
        let places = firsts.iter().enumerate().map(|(lane, &first)| {
            let start = to_u32(self.words.len());
            let first = if mode.is_local() { 0 } else { first };
            let origin = origins.get(lane).copied();
            cells.trace_back(lane, first..rows, shape.deletions as usize, origin, self.words)?;
            Ok(start..to_u32(self.words.len()))
        });
        places.collect()
    }
}

fn too_narrow() -> EngineError {
    EngineError::Internal("a band was filled in lanes that are too narrow for it".to_string())
}

fn left_band() -> EngineError {
    EngineError::Wrong("a path leaves its band".to_string())
}

/// Whether 16-bit lanes hold the values of the best path of a window that begins with its query and its target, in a
/// group of at most `rows` rows.
pub fn holds_global(batch: &Batch, rows: u32, window: &Window) -> bool {
    let (scoring, query) = (&batch.scoring, batch.query(window.query));
    let ends_in_band = window.cols() <= window.query_end.saturating_add(window.band.deletions)
        && window.query_end <= window.cols().saturating_add(window.band.insertions);
    let values = Values::of::<i16>(&StepCosts::new(scoring), rows as usize + 1);
    let least = least_score(&query[..window.query_end as usize], window.band, scoring);
    window.start == 0 && ends_in_band && values.is_some_and(|values| least >= values.least_exact())
}

/// The start of a lane's band in global mode.
struct Corner {
    lane: usize,
    /// Its first row, and the cell above it from which all paths begin.
    row: usize,
    cell: usize,
}

impl Corner {
    /// Writes H and F of the row above the lane's first row: a gap from the corner on, and the minimum before it.
    fn enter<T: Lane, V: Pod, const PIECES: usize>(
        &self,
        above: &mut [Carried<V, PIECES>],
        costs: &StepCosts,
        values: &Values,
    ) {
        let set = |vector: &mut V, value: T| cast_slice_mut::<V, T>(from_mut(vector))[self.lane] = value;
        let pieces = costs.gaps.array::<PIECES>();
        for (at, Carried { h, gaps }) in above.iter_mut().enumerate() {
            let value: T = match at.checked_sub(self.cell) {
                None => T::of(to_i32(values.floor)),
                Some(0) => values.lane(0),
                Some(len) => values.lane(-costs.gaps.cost(len)),
            };
            set(h, value);
            gaps.iter_mut()
                .zip(pieces)
                .for_each(|(gap, piece)| set(gap, T::of(value.value() - piece.first())));
        }
    }
}

/// The values that enter a band, and the minimum of H in its rows.
struct BandBorders<V, const PIECES: usize> {
    /// The starts of the lanes' bands, sorted by row, and the lanes' values, if each band begins at a single cell.
    corners: Option<(Vec<Corner>, Values)>,
    /// H and the gaps above the first row.
    above: Carried<V, PIECES>,
    /// The gaps that enter from the left or the right.
    gaps: [V; PIECES],
    /// The minimum of H in each row; if this is empty, `floor` for all rows.
    floors: Vec<V>,
    floor: V,
}

impl<V: Copy, const PIECES: usize> BandBorders<V, PIECES> {
    #[inline(always)]
    fn local<T: Lane, S: Vectors<T, V = V>>(simd: S, costs: &StepCosts) -> BandBorders<V, PIECES> {
        let penalties = costs.penalties::<T, S, PIECES>(simd);
        let (h, gaps) = (penalties.floor, penalties.opened(simd, penalties.floor));
        BandBorders { corners: None, above: Carried { h, gaps }, gaps, floors: Vec::new(), floor: h }
    }

    /// Borders for whole queries and whole targets: `firsts` are the rows and `origins` the cells where lanes begin.
    #[inline(always)]
    fn corners<T: Lane, S: Vectors<T, V = V>>(
        simd: S,
        costs: &StepCosts,
        rows: usize,
        firsts: &[usize],
        origins: &[usize],
    ) -> Option<BandBorders<V, PIECES>> {
        let values = Values::of::<T>(costs, rows)?;
        let floor = simd.splat(T::of(to_i32(values.floor)));
        let gaps = costs.penalties::<T, S, PIECES>(simd).opened(simd, floor);
        let lanes = firsts.iter().zip(origins).enumerate();
        let mut corners: Vec<Corner> =
            lanes.map(|(lane, (&row, &cell))| Corner { lane, row, cell }).collect();
        corners.sort_by_key(|corner| corner.row);
        let corners = Some((corners, values));
        let above = Carried { h: floor, gaps };
        Some(BandBorders { corners, above, gaps, floors: Vec::new(), floor })
    }

    /// Borders for whole queries with first rows `firsts`: an alignment may begin anywhere above them, and nowhere
    /// below.
    #[inline(always)]
    fn whole<T: Lane, S: Vectors<T, V = V>>(
        simd: S,
        costs: &StepCosts,
        rows: usize,
        firsts: &[usize],
    ) -> Option<BandBorders<V, PIECES>> {
        let values = Values::of::<T>(costs, rows)?;
        let (zero, least) = (to_i32(values.zero), to_i32(values.floor));
        let (zeros, floor) = (simd.splat(T::of(zero)), simd.splat(T::of(least)));
        let penalties = costs.penalties::<T, S, PIECES>(simd);
        let lasts = firsts.iter().copied().max().unwrap_or(0);
        let of_row = |row: usize| {
            lanes_of::<T, S>(
                |lane| if firsts.get(lane).is_some_and(|&first| row < first) { zero } else { least },
            )
        };
        let floors = (0..rows).map(|row| if row < lasts { of_row(row) } else { floor }).collect();
        Some(BandBorders {
            corners: None,
            above: Carried { h: zeros, gaps: penalties.opened(simd, zeros) },
            gaps: penalties.opened(simd, floor),
            floors,
            floor,
        })
    }
}

/// Residues of a group's band.
struct BandLetters<'a, V> {
    /// One vector for each row.
    queries: Vec<V>,
    /// The end bonuses of each row.
    bonuses: Option<&'a [V]>,
    /// One vector for each column.
    targets: Vec<V>,
    width: usize,
}

impl<V: bytemuck::Pod> BandLetters<'_, V> {
    /// Fills the directions of the band row by row; each word of a lane holds consecutive cells. Cells outside the band
    /// count as the minimum of H, without a gap.
    #[inline(always)]
    fn fill<'r, T: Lane, S: Vectors<T, V = V>, U: Substitutes<T, S>, const PIECES: usize>(
        &self,
        simd: S,
        costs: StepCosts,
        borders: &BandBorders<V, PIECES>,
        substitutes: U,
        room: &'r mut Vec<CacheLine>,
    ) -> &'r [V] {
        let mut penalties = costs.penalties::<T, S, PIECES>(simd);
        let gaps = borders.gaps;
        let codes = DirectionCodes::new(simd);
        let cells = (T::BITS / cell_bits(PIECES)) as usize;
        // H(i-1,j-1) and F(i,j-1) of the cells of the row above.
        let mut above = vec![borders.above; self.width + 1];
        above[self.width].gaps = gaps;
        let count = self.queries.len() * self.width / cells;
        let lines = (count * size_of::<V>()).div_ceil(size_of::<CacheLine>());
        room.resize(lines.max(room.len()), CacheLine::zeroed());
        let directions: &mut [V] = &mut cast_slice_mut(room.as_mut_slice())[..count];
        let mut words = directions.iter_mut();
        let mut corners = borders.corners.iter().flat_map(|(corners, _)| corners).peekable();
        for (i, &query) in self.queries.iter().enumerate() {
            let targets = &self.targets[i..i + self.width];
            while let (Some(corner), Some((_, values))) =
                (corners.next_if(|corner| corner.row == i), &borders.corners)
            {
                corner.enter::<T, V, PIECES>(&mut above[..self.width], &costs, values);
            }
            let substitutes = match self.bonuses {
                Some(bonuses) => substitutes.with_bonus(bonuses[i]),
                None => substitutes,
            };
            penalties.floor = borders.floors.get(i).copied().unwrap_or(borders.floor);
            let mut e = gaps;
            for (at, targets) in targets.chunks_exact(cells).enumerate() {
                let above = &mut above[at * cells..(at + 1) * cells + 1];
                let mut bits = simd.splat(T::of(0));
                for (k, &target) in targets.iter().enumerate() {
                    // Invariant: e = E(i,j), f = F(i,j).
                    let f = above[k + 1].gaps;
                    let matched = simd.add(above[k].h, substitutes.score(simd, query, target));
                    let cell = cell(simd, &penalties, matched, e, f);
                    let operands = Operands { floor: penalties.floor, matched, e, f };
                    bits = codes.decide(simd, bits, &cell, &operands);
                    e = cell.e;
                    above[k] = Carried { h: cell.h, gaps: cell.f };
                }
                words.by_ref().take(1).for_each(|word| *word = bits);
            }
        }
        directions
    }
}

/// The directions of a group's band.
struct BandCells<'a, T, const PIECES: usize> {
    directions: &'a [T],
    lanes: usize,
    width: usize,
}

impl<T: Lane, const PIECES: usize> BandCells<'_, T, PIECES> {
    fn get(&self, lane: usize, row: usize, cell: usize) -> CellBits {
        let cells = (T::BITS / cell_bits(PIECES)) as usize;
        let word = (row * self.width + cell) / cells * self.lanes + lane;
        let shift = cell_bits(PIECES) * to_u32(cell % cells);
        low_u16(self.directions[word].unsigned() >> shift) & low_u16((1 << cell_bits(PIECES)) - 1)
    }

    /// Appends the runs of a lane's path to `words`, from `cell` of the last row up to at most the first row. If the
    /// path has an origin, it continues to that cell in the row above.
    fn trace_back(
        &self,
        lane: usize,
        rows: Range<usize>,
        mut cell: usize,
        origin: Option<usize>,
        words: &mut Vec<u32>,
    ) -> Result<(), EngineError> {
        let (mut last, mut len) = (CellSource::Diagonal, 0);
        // A cell of the band is as many columns after its row.
        let mut stand =
            PathPosition { rows: to_u32(rows.end), cols: to_u32(rows.end + cell), layer: last.into() };
        while stand.rows as usize > rows.start && cell < self.width {
            let next = stand.step(self.get(lane, stand.rows as usize - 1, cell));
            let source = next.layer.source;
            if source == CellSource::Stop {
                break;
            }
            (stand, cell) = (next, next.cols.wrapping_sub(next.rows) as usize);
            if source != last && len > 0 {
                words.push(run_word(len, last));
                len = 0;
            }
            (last, len) = (source, len + 1);
        }
        let left = match origin {
            Some(origin) if stand.rows as usize > rows.start || cell < origin => return Err(left_band()),
            Some(origin) => to_u32(cell - origin),
            None => 0,
        };
        if left > 0 {
            if last != CellSource::Deletion && len > 0 {
                words.push(run_word(len, last));
                len = 0;
            }
            (last, len) = (CellSource::Deletion, len + left);
        }
        // A path without steps is a zero word.
        words.push(if len > 0 { run_word(len, last) } else { 0 });
        match cell < self.width {
            true => Ok(()),
            false => Err(left_band()),
        }
    }
}
