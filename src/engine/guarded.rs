//! An engine that outlives its device's faults.

use crate::alignment::Hit;
use crate::batch::{Batch, Pair};
use crate::engine::{Block, Directions, EdgeRoom, Edges, Engine, Lattice, Leg, Paths, Stand, Window};
use crate::error::EngineError;
use std::sync::Arc;

/// What an engine is to do with some items.
type Work<'a, I, T> = &'a mut dyn FnMut(&mut dyn Engine, &[I]) -> Result<T, EngineError>;

/// Wraps an engine: work that does not fit its memory is halved and tried again; where a fallback is
/// given, it takes over when the device is lost or answers what can't be true.
pub struct Guarded {
    engine: Box<dyn Engine>,
    fallback: Option<Box<dyn FnOnce() -> Box<dyn Engine> + Send>>,
    notice: Option<String>,
}

impl Guarded {
    pub fn new(
        engine: Box<dyn Engine>,
        fallback: Option<Box<dyn FnOnce() -> Box<dyn Engine> + Send>>,
    ) -> Guarded {
        Guarded { engine, fallback, notice: None }
    }

    /// What the user should hear about a change of engine since the last call.
    pub fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Replaces the engine by the fallback, if there still is one and `error` calls for it.
    pub fn fall_back(&mut self, error: &EngineError) -> bool {
        let Some(fallback) = self.fallback.take() else {
            return false;
        };
        let lost = self.engine.describe();
        self.engine = fallback();
        self.notice = Some(format!("{lost}: {error}; going on with {}", self.engine.describe()));
        true
    }

    /// Runs `work` on the whole of `items`, or on halves where memory is short; `join` puts the
    /// answers of two neighbouring parts together.
    fn halving<I, T>(
        &mut self,
        items: &[I],
        work: Work<'_, I, T>,
        join: &dyn Fn(T, T) -> T,
    ) -> Result<T, EngineError> {
        match work(self.engine.as_mut(), items) {
            Err(EngineError::OutOfMemory(_)) if items.len() > 1 => {
                let (first, second) = items.split_at(items.len() / 2);
                let first = self.halving(first, work, join)?;
                Ok(join(first, self.halving(second, work, join)?))
            }
            Err(error) if self.fall_back(&error) => work(self.engine.as_mut(), items),
            answer => answer,
        }
    }
}

impl Engine for Guarded {
    fn describe(&self) -> String {
        self.engine.describe()
    }

    fn enough_sweeps(&self) -> u64 {
        self.engine.enough_sweeps()
    }

    fn more_last_sweeps(&self) -> u64 {
        self.engine.more_last_sweeps()
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
        self.halving(pairs, &mut |engine, pairs| engine.score(batch, pairs), &|mut first, second| {
            first.extend(second);
            first
        })
    }

    fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
        self.halving(windows, &mut |engine, windows| engine.fill(batch, windows), &|mut first, second| {
            first.append(second);
            first
        })
    }

    fn trace(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.halving(windows, &mut |engine, windows| engine.trace(batch, windows), &|mut first, second| {
            first.append(second);
            first
        })
    }

    fn traces_on_host(&self) -> bool {
        self.engine.traces_on_host()
    }

    fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
        self.halving(
            std::slice::from_ref(block),
            &mut |engine, blocks| engine.sweep(batch, &blocks[0], edges),
            &|first, _| first,
        )
    }

    fn fill_blocks(&mut self, batch: &Batch, blocks: &[(Block, Edges)]) -> Result<Directions, EngineError> {
        self.halving(blocks, &mut |engine, blocks| engine.fill_blocks(batch, blocks), &|mut first, second| {
            first.append(second);
            first
        })
    }

    fn sweep_lattices(
        &mut self,
        batch: &Batch,
        windows: &[Window],
        side: u32,
    ) -> Result<Vec<Lattice>, EngineError> {
        self.halving(
            windows,
            &mut |engine, windows| engine.sweep_lattices(batch, windows, side),
            &|mut first, second| {
                first.extend(second);
                first
            },
        )
    }

    fn walk_blocks(
        &mut self,
        batch: &Batch,
        blocks: &[(Block, Edges)],
        legs: &[Leg],
    ) -> Result<Option<(Vec<Stand>, Paths)>, EngineError> {
        match self.engine.walk_blocks(batch, blocks, legs) {
            // Then the host fills the blocks.
            Err(EngineError::OutOfMemory(_)) => Ok(None),
            Err(error) if self.fall_back(&error) => self.engine.walk_blocks(batch, blocks, legs),
            walked => walked,
        }
    }

    fn block_room(&self) -> (u32, u64) {
        self.engine.block_room()
    }

    fn edge_room(&self) -> Option<Arc<EdgeRoom>> {
        self.engine.edge_room()
    }

    fn sweep_lattice(
        &mut self,
        batch: &Batch,
        block: &Block,
        edges: &Edges,
        side: u32,
    ) -> Result<Lattice, EngineError> {
        self.halving(
            std::slice::from_ref(block),
            &mut |engine, blocks| engine.sweep_lattice(batch, &blocks[0], edges, side),
            &|first, _| first,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::plain::Plain;
    use crate::scoring::Scoring;
    use std::sync::Arc;

    /// Refuses more than `most` items at once; is lost at its `lost_at`-th call.
    struct Faulty {
        most: usize,
        lost_at: usize,
        calls: usize,
        plain: Plain,
    }

    impl Faulty {
        fn call(&mut self, items: usize) -> Result<&mut Plain, EngineError> {
            self.calls += 1;
            if self.calls >= self.lost_at {
                return Err(EngineError::Lost("unplugged".into()));
            }
            if items > self.most {
                return Err(EngineError::OutOfMemory("refused".into()));
            }
            Ok(&mut self.plain)
        }
    }

    impl Engine for Faulty {
        fn describe(&self) -> String {
            "faulty".into()
        }

        fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<Hit>, EngineError> {
            self.call(pairs.len())?.score(batch, pairs)
        }

        fn fill(&mut self, batch: &Batch, windows: &[Window]) -> Result<Directions, EngineError> {
            self.call(windows.len())?.fill(batch, windows)
        }

        fn sweep(&mut self, batch: &Batch, block: &Block, edges: &Edges) -> Result<Edges, EngineError> {
            self.call(1)?.sweep(batch, block, edges)
        }

        fn walk_blocks(
            &mut self,
            _: &Batch,
            _: &[(Block, Edges)],
            legs: &[Leg],
        ) -> Result<Option<(Vec<Stand>, Paths)>, EngineError> {
            self.call(legs.len())?;
            Ok(Some((legs.iter().map(|leg| leg.stand).collect(), Paths::none(legs.len()))))
        }

        fn fill_blocks(
            &mut self,
            batch: &Batch,
            blocks: &[(Block, Edges)],
        ) -> Result<Directions, EngineError> {
            self.call(blocks.len())?.fill_blocks(batch, blocks)
        }
    }

    fn batch() -> (Batch, Vec<Pair>, Vec<Window>) {
        let queries: Vec<Vec<u8>> =
            (0..9u8).map(|k| (0..20u32).map(|i| ((i * i + u32::from(k)) % 4) as u8).collect()).collect();
        let targets: Vec<Vec<u8>> =
            (0..9u8).map(|k| (0..30u32).map(|i| ((i * i + u32::from(k) + 1) % 4) as u8).collect()).collect();
        let batch = Batch {
            queries: Arc::new(queries.iter().map(Vec::as_slice).collect()),
            targets: Arc::new(targets.iter().map(Vec::as_slice).collect()),
            scoring: Arc::new(Scoring::dna(1, 4, 6, 1)),
        };
        let pairs: Vec<Pair> =
            (0..9).map(|k| Pair { query: k, target: k, start: 0, own: 0, end: 30 }).collect();
        let hits = Plain::new().score(&batch, &pairs).unwrap();
        let window =
            |(pair, hit): (&Pair, &Hit)| crate::backtrace::window_of(&batch, pair.query, pair.target, 0, hit);
        let windows = pairs.iter().zip(&hits).map(window).collect();
        (batch, pairs, windows)
    }

    fn cells(directions: &Directions, windows: &[Window]) -> Vec<Option<u8>> {
        let cell = |(index, window): (usize, &Window)| {
            directions.window(index).get(window.query_end - 1, window.target_end - window.start - 1)
        };
        windows.iter().enumerate().map(cell).collect()
    }

    #[test]
    fn halves_what_does_not_fit() {
        let (batch, pairs, windows) = batch();
        for most in [1, 2, 4, 8] {
            let faulty = Faulty { most, lost_at: usize::MAX, calls: 0, plain: Plain };
            let mut guarded = Guarded::new(Box::new(faulty), None);
            assert_eq!(guarded.score(&batch, &pairs), Plain.score(&batch, &pairs));
            let expected = Plain.fill(&batch, &windows).unwrap();
            let filled = guarded.fill(&batch, &windows).unwrap();
            assert_eq!(cells(&filled, &windows), cells(&expected, &windows));
            assert_eq!(guarded.take_notice(), None);
        }
        let mut guarded =
            Guarded::new(Box::new(Faulty { most: 0, lost_at: 99, calls: 0, plain: Plain }), None);
        assert!(
            matches!(guarded.score(&batch, &pairs), Err(EngineError::OutOfMemory(_))),
            "one pair must fit"
        );
    }

    #[test]
    fn a_lost_device_hands_over_where_it_may() {
        let (batch, pairs, _) = batch();
        let faulty = || Box::new(Faulty { most: 4, lost_at: 3, calls: 0, plain: Plain });
        let mut guarded = Guarded::new(faulty(), Some(Box::new(|| Box::new(Plain::new()))));
        assert_eq!(guarded.score(&batch, &pairs), Plain.score(&batch, &pairs));
        assert!(guarded.take_notice().unwrap().contains("unplugged"));
        let mut guarded = Guarded::new(faulty(), None);
        assert!(matches!(guarded.score(&batch, &pairs), Err(EngineError::Lost(_))));
    }

    /// The engine stays where only its memory is short, and then the blocks are filled by whoever can.
    #[test]
    fn walks_that_do_not_fit_are_left_to_the_host() {
        let (batch, ..) = batch();
        let stand = Stand { rows: 1, cols: 1, layer: crate::engine::Source::Diagonal };
        let legs = [Leg { stand, blocks: 0..0 }];
        let walked = |most: usize, lost_at: usize, falls_back: bool| {
            let faulty = Faulty { most, lost_at, calls: 0, plain: Plain::new() };
            let plain: Box<dyn FnOnce() -> Box<dyn Engine> + Send> = Box::new(|| Box::new(Plain::new()));
            let mut engine = Guarded::new(Box::new(faulty), falls_back.then_some(plain));
            let walked =
                engine.walk_blocks(&batch, &[], &legs).map(|walked| walked.map(|(stands, _)| stands));
            (walked, engine.take_notice().is_some())
        };
        assert_eq!(walked(1, 9, true), (Ok(Some(vec![stand])), false));
        assert_eq!(walked(0, 9, true), (Ok(None), false));
        assert_eq!(walked(1, 1, true), (Ok(None), true), "another engine has taken over");
        assert!(matches!(walked(1, 1, false), (Err(EngineError::Lost(_)), false)));
    }
}
