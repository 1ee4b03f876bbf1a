//! Targets that do not fit the device: the parts that the work reads are uploaded piece by piece.
//!
//! Work on a batch is split so that the target stretches of each piece fit. Each piece is a batch of its own, with
//! these stretches as its targets. Scores and paths depend on nothing else, so the answers are those of the whole
//! batch. The available room follows from the device's limits and from the allocations that it has refused so far.

use crate::engine::gpu::layout::ResiduePacking;
use crate::engine::gpu::plan::none;
use crate::engine::gpu::{Card, Cols, Gpu, scoring_of};
use crate::engine::{DatabaseQuery, Paths, TargetScore, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, Sequences, sweeps, swept};
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Maximum number of bytes of a piece. It takes some hundredths of a second to send, and each worker has one.
const PIECE_BYTES: u64 = 64 << 20;
/// Maximum number of residues of a piece: kernels count them in 32 bits, with some to spare.
const PIECE_RESIDUES: u64 = 1 << 31;

/// Bytes that targets may take on a device.
pub struct TargetRoom(AtomicU64);

impl TargetRoom {
    pub fn new(bytes: u64) -> TargetRoom {
        TargetRoom(AtomicU64::new(bytes))
    }

    /// Records that an allocation of `bytes` bytes was refused.
    pub fn refused(&self, bytes: u64) {
        self.0.fetch_min(bytes / 2, Relaxed);
    }

    /// Whether targets of `residues` residues may be on the device together.
    fn holds(&self, letters: ResiduePacking, residues: usize) -> bool {
        u32::try_from(residues).is_ok() && letters.words(residues) as u64 * 4 <= self.0.load(Relaxed)
    }

    /// Maximum number of residues of a piece, unless a single item of work has more.
    fn of_piece(&self, letters: ResiduePacking) -> u64 {
        let words = (self.0.load(Relaxed).min(PIECE_BYTES) / 4).saturating_sub(1);
        (words * u64::from(32 / letters.bits())).min(PIECE_RESIDUES)
    }
}

/// Stretches of targets, as targets of their own.
struct TargetPiece {
    targets: Arc<Sequences>,
    /// The origins of the targets, sorted by target and column; they do not overlap.
    origins: Vec<(u32, Cols)>,
}

impl TargetPiece {
    fn new(targets: &Sequences, mut stretches: Vec<(u32, Cols)>) -> TargetPiece {
        stretches.sort_unstable_by_key(|(target, cols)| (*target, cols.start));
        let mut origins: Vec<(u32, Cols)> = Vec::new();
        for (target, cols) in stretches {
            match origins.last_mut() {
                Some((before, joined)) if *before == target && cols.start <= joined.end => {
                    joined.end = joined.end.max(cols.end);
                }
                _ => origins.push((target, cols)),
            }
        }
        let residues = origins.iter().map(|(_, cols)| cols.len()).sum();
        let mut gathered = Sequences::default();
        gathered.reserve(origins.len(), residues);
        for (target, cols) in &origins {
            let codes = &targets.get(*target as usize)[cols.start as usize..cols.end as usize];
            gathered.push(codes.iter().copied());
        }
        TargetPiece { targets: Arc::new(gathered), origins }
    }

    /// The batch's queries with the piece's targets.
    fn batch(&self, batch: &Batch) -> Batch {
        Batch { targets: Arc::clone(&self.targets), ..batch.clone() }
    }

    /// The piece's target that contains a column of an original target, and the number of columns before it there.
    fn place(&self, target: u32, col: u32) -> (u32, u32) {
        let behind = self.origins.partition_point(|(other, cols)| (*other, cols.start) <= (target, col));
        let place = behind.saturating_sub(1);
        (to_u32(place), self.origins[place].1.start)
    }

    fn pair(&self, pair: &Pair) -> (Pair, u32) {
        let (target, before) = self.place(pair.target, pair.start);
        let [start, own, end] = [pair.start, pair.own, pair.end].map(|col| col - before);
        (Pair { target, start, own, end, ..*pair }, before)
    }

    fn window(&self, window: &Window) -> Window {
        let (target, before) = self.place(window.target, window.start);
        Window { target, start: window.start - before, target_end: window.target_end - before, ..*window }
    }
}

impl Card {
    /// Whether all targets of a batch may be on the device.
    pub fn holds(&self, targets: &Sequences, letters: ResiduePacking) -> bool {
        self.room.holds(letters, targets.codes().len())
    }
}

/// Processes `count` items in runs whose target stretches have at most `room` residues. `residues` returns the residues
/// that an item adds to the items before it in the run; its second argument marks the first item, which adds all of its
/// own. A run has at least one item. If memory is refused and the room has shrunk, the run is repeated with fewer
/// items.
fn in_pieces(
    room: impl Fn() -> u64,
    count: usize,
    mut residues: impl FnMut(usize, bool) -> u64,
    mut work: impl FnMut(Range<usize>) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut done = 0;
    while done < count {
        let most = room();
        let (mut taken, mut end) = (residues(done, true), done + 1);
        while end < count {
            taken += residues(end, false);
            if taken > most {
                break;
            }
            end += 1;
        }
        match work(done..end) {
            Err(EngineError::OutOfMemory(_)) if end - done > 1 && room() < most => {}
            answer => {
                answer?;
                done = end;
            }
        }
    }
    Ok(())
}

impl Gpu {
    /// The result of work on a batch with all its targets on the device, or `None` if they do not fit.
    pub(super) fn whole<T>(
        &mut self,
        batch: &Batch,
        work: impl FnOnce(&mut Gpu) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        let letters = scoring_of(batch).letters();
        if !self.card.holds(&batch.targets, letters) {
            return Ok(None);
        }
        match work(self) {
            Err(EngineError::OutOfMemory(_)) if !self.card.holds(&batch.targets, letters) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Scores pairs piece by piece, in the order of their targets. Pairs of one sweep stay together.
    pub(super) fn score_in_pieces(
        &mut self,
        batch: &Batch,
        pairs: &[Pair],
    ) -> Result<Vec<HitEnd>, EngineError> {
        let mut from = 0;
        let ranges = sweeps(pairs).map(|sweep| {
            from += sweep.len();
            from - sweep.len()..from
        });
        let mut ranges: Vec<Range<usize>> = ranges.collect();
        let all = |range: &Range<usize>| swept(&pairs[range.clone()]);
        ranges.sort_by_key(|range| (all(range).target, all(range).start));
        let mut before = (0, 0);
        let residues = |place: usize, is_first: bool| {
            let Pair { target, start, end, .. } = all(&ranges[place]);
            let known = if !is_first && before.0 == target { start.max(before.1) } else { start };
            before = (target, end.max(known));
            u64::from(end.saturating_sub(known))
        };
        let mut hits = vec![none(batch.scoring.mode); pairs.len()];
        let (card, letters) = (Arc::clone(&self.card), scoring_of(batch).letters());
        in_pieces(
            || card.room.of_piece(letters),
            ranges.len(),
            residues,
            |run| {
                let mut own = ranges[run].to_vec();
                // In the original order, pairs of one query are adjacent.
                own.sort_unstable_by_key(|range| range.start);
                let stretch = |range: &Range<usize>| (all(range).target, all(range).start..all(range).end);
                let piece = TargetPiece::new(&batch.targets, own.iter().map(stretch).collect());
                let places: Vec<usize> = own.into_iter().flatten().collect();
                let (local, before): (Vec<Pair>, Vec<u32>) =
                    places.iter().map(|&place| piece.pair(&pairs[place])).unzip();
                let scored = self.score_pairs(&piece.batch(batch), &local)?;
                for ((place, before), hit) in places.into_iter().zip(before).zip(scored) {
                    let target_end = if hit.is_none() { hit.target_end } else { hit.target_end + before };
                    hits[place] = HitEnd { target_end, ..hit };
                }
                Ok(())
            },
        )?;
        Ok(hits)
    }

    /// Finds the paths of windows by `find`, piece by piece.
    pub(super) fn paths_in_pieces(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        find: impl Fn(&mut Gpu, &Batch, &[Window]) -> Result<Paths, EngineError>,
    ) -> Result<Paths, EngineError> {
        let mut paths = Paths::default();
        let residues = |place: usize, _| u64::from(windows[place].cols());
        let (card, letters) = (Arc::clone(&self.card), scoring_of(batch).letters());
        in_pieces(
            || card.room.of_piece(letters),
            windows.len(),
            residues,
            |run| {
                let stretch = |window: &Window| (window.target, window.start..window.target_end);
                let piece =
                    TargetPiece::new(&batch.targets, windows[run.clone()].iter().map(stretch).collect());
                let local: Vec<Window> = windows[run].iter().map(|window| piece.window(window)).collect();
                let found = find(self, &piece.batch(batch), &local)?;
                paths = Paths::joined(std::mem::take(&mut paths), found);
                Ok(())
            },
        )?;
        Ok(paths)
    }

    /// Scores `asked` against all short targets, piece by piece.
    pub(super) fn score_targets_in_pieces(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        let longest = batch.targets.longest_short();
        let len = |target: u32| batch.target(target).len();
        let is_short = |&target: &u32| (1..=longest).contains(&len(target));
        let targets: Vec<u32> = (0..to_u32(batch.targets.len())).filter(is_short).collect();
        let mut scores = vec![Vec::new(); asked.len()];
        let (card, letters) = (Arc::clone(&self.card), scoring_of(batch).letters());
        let residues = |place: usize, _| len(targets[place]) as u64;
        in_pieces(
            || card.room.of_piece(letters),
            targets.len(),
            residues,
            |run| {
                let own = &targets[run];
                let piece = TargetPiece::new(
                    &batch.targets,
                    own.iter().map(|&target| (target, 0..to_u32(len(target)))).collect(),
                );
                let local = |asked: &DatabaseQuery| {
                    let first = to_u32(own.partition_point(|&target| target < asked.first));
                    DatabaseQuery { first, ..*asked }
                };
                let asked: Vec<DatabaseQuery> = asked.iter().map(local).collect();
                let scored = self.score_targets(&piece.batch(batch), &asked, longest)?;
                for (all, scored) in scores.iter_mut().zip(scored) {
                    let whole =
                        |scored: TargetScore| TargetScore { target: own[scored.target as usize], ..scored };
                    all.extend(scored.into_iter().map(whole));
                }
                Ok(())
            },
        )?;
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(lens: &[usize]) -> Sequences {
        let mut all = Sequences::default();
        let mut next = 0u8;
        for &len in lens {
            all.push((0..len).map(|_| {
                next = (next + 1) % 4;
                next
            }));
        }
        all
    }

    /// The piece contains each column of each stretch, with the same residue.
    #[test]
    fn stretches_lie_in_their_piece() {
        let targets = sequences(&[10, 0, 7, 30]);
        let stretches: [(u32, Cols); 7] =
            [(3, 20..30), (0, 2..5), (3, 0..4), (0, 5..9), (3, 3..8), (3, 22..24), (1, 0..0)];
        let piece = TargetPiece::new(&targets, stretches.to_vec());
        let expected = [(0u32, 2..9), (1, 0..0), (3, 0..8), (3, 20..30)];
        assert_eq!(piece.origins, expected);
        assert_eq!(piece.targets.codes().len(), 25);
        for (target, cols) in stretches {
            let (place, before) = piece.place(target, cols.start);
            let letters = &piece.targets.get(place as usize)[(cols.start - before) as usize..];
            let expected = &targets.get(target as usize)[cols.start as usize..cols.end as usize];
            assert_eq!(&letters[..cols.len()], expected, "{target} {cols:?}");
        }
    }

    /// Whatever fits at first, all items are processed once, in order. An item that is refused alone is an error.
    #[test]
    fn what_is_refused_is_done_again_with_fewer() {
        for (begins_with, fits) in [(1000, 1000), (1000, 90), (1000, 31), (40, 500), (1, 1000)] {
            let room = TargetRoom::new(begins_with * 4 + 4);
            let of_piece = || room.of_piece(ResiduePacking::Codes) / 4;
            let sizes: Vec<u64> = (0..50).map(|k| 1 + k * 7 % 30).collect();
            let (mut done, mut refused) = (Vec::new(), 0);
            let work = |run: Range<usize>| {
                let residues: u64 = sizes[run.clone()].iter().sum();
                if residues > fits {
                    refused += 1;
                    room.refused(residues * 4);
                    return Err(EngineError::OutOfMemory("targets".to_string()));
                }
                assert!(residues <= of_piece() || run.len() == 1);
                done.extend(run);
                Ok(())
            };
            in_pieces(of_piece, sizes.len(), |place, _| sizes[place], work).unwrap();
            assert_eq!(done, (0..50).collect::<Vec<_>>());
            assert_eq!(refused > 0, begins_with > fits, "{fits}");
        }
        let none = |_| Err(EngineError::OutOfMemory("targets".to_string()));
        assert!(in_pieces(|| 10, 3, |_, _| 1, none).is_err());
    }

    #[test]
    fn what_is_refused_makes_pieces_smaller() {
        let room = TargetRoom::new(1000);
        // 249 words of 8 bases, and one more that kernels read.
        assert!(
            room.holds(ResiduePacking::Nucleotides, 1992) && !room.holds(ResiduePacking::Nucleotides, 1993)
        );
        assert_eq!(
            (room.of_piece(ResiduePacking::Nucleotides), room.of_piece(ResiduePacking::Codes)),
            (1992, 996)
        );
        room.refused(1000);
        assert_eq!(room.of_piece(ResiduePacking::Codes), 496);
        room.refused(5000);
        assert_eq!(room.of_piece(ResiduePacking::Codes), 496);
        room.refused(1);
        assert_eq!(room.of_piece(ResiduePacking::Codes), 0);
        let large = TargetRoom::new(u64::MAX);
        assert!(
            !large.holds(ResiduePacking::Codes, 1 << 32)
                && large.of_piece(ResiduePacking::Codes) < PIECE_RESIDUES
        );
    }
}
