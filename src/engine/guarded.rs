//! An engine that survives faults of its device.

use crate::engine::database::by_pairs;
use crate::engine::{Capabilities, DatabaseQuery, Engine, Paths, TargetScore, Window};
use crate::terms::alignment::HitEnd;
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::error::EngineError;
use crate::terms::scoring::Scoring;

/// Work of an engine on some items.
type EngineWork<'a, I, T> = &'a mut dyn FnMut(&mut dyn Engine, &[I]) -> Result<T, EngineError>;

/// Wraps an engine. Work that does not fit its memory is halved and tried again. A fallback, if there is one, takes
/// over when the device is lost or gives an impossible answer. Codes of a file are checked before the engine reads
/// them: all work of a run passes through here, and names the target columns that it reads.
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

    /// Message for the user about a change of engine since the last call.
    pub fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Replaces the engine by the fallback, if one is left and `error` calls for it.
    pub fn fall_back(&mut self, error: &EngineError) -> bool {
        if matches!(error, EngineError::Unreadable(_) | EngineError::TooManyHits) {
            return false;
        }
        let Some(fallback) = self.fallback.take() else {
            return false;
        };
        let lost = self.engine.capabilities().name;
        self.engine = fallback();
        self.notice = Some(format!("{lost}: {error}; continuing with {}", self.engine.capabilities().name));
        true
    }

    /// Runs `work` on all `items`, or on halves if memory is short. `join` concatenates the answers of two neighboring
    /// parts.
    fn halving<I, T>(
        &mut self,
        items: &[I],
        work: EngineWork<'_, I, T>,
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
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        batch.prove(pairs.iter().map(|pair| (pair.target, pair.start..pair.end)))?;
        let mut score = |engine: &mut dyn Engine, pairs: &[Pair]| {
            one_each(pairs.len(), engine.score(batch, pairs)?, Vec::len)
        };
        self.halving(pairs, &mut score, &joined)
    }

    fn quick_scores(
        &mut self,
        batch: &Batch,
        pairs: &[(Pair, i32)],
    ) -> Result<Vec<Option<HitEnd>>, EngineError> {
        batch.prove(pairs.iter().map(|(pair, _)| (pair.target, pair.start..pair.end)))?;
        let mut score = |engine: &mut dyn Engine, pairs: &[(Pair, i32)]| {
            one_each(pairs.len(), engine.quick_scores(batch, pairs)?, Vec::len)
        };
        self.halving(pairs, &mut score, &joined)
    }

    /// If memory is short, pairs are scored instead, because these can be halved.
    fn score_database(
        &mut self,
        batch: &Batch,
        asked: &[DatabaseQuery],
    ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
        batch.targets.prove_all()?;
        let score =
            |engine: &mut dyn Engine| one_each(asked.len(), engine.score_database(batch, asked)?, Vec::len);
        match score(self.engine.as_mut()) {
            Err(EngineError::OutOfMemory(_)) => by_pairs(self, batch, asked),
            Err(error) if self.fall_back(&error) => score(self.engine.as_mut()),
            answer => answer,
        }
    }

    fn keeps(&self, targets: &Sequences, scoring: &Scoring) -> bool {
        self.engine.keeps(targets, scoring)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        prove(batch, windows)?;
        let mut find = |engine: &mut dyn Engine, windows: &[Window]| {
            one_each(windows.len(), engine.paths(batch, windows)?, Paths::count)
        };
        self.halving(windows, &mut find, &Paths::joined)
    }

    fn quick_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        prove(batch, windows)?;
        let mut find = |engine: &mut dyn Engine, windows: &[Window]| {
            one_each(windows.len(), engine.quick_paths(batch, windows)?, Paths::count)
        };
        self.halving(windows, &mut find, &Paths::joined)
    }
}

fn joined<T>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
    first.extend(second);
    first
}

/// Returns an engine's answers, if there is one for each of `count` items.
fn one_each<T>(count: usize, answers: T, len: impl Fn(&T) -> usize) -> Result<T, EngineError> {
    match len(&answers) {
        given if given == count => Ok(answers),
        given => Err(EngineError::Wrong(format!("{given} answers to {count} questions"))),
    }
}

/// Checks the codes of windows.
fn prove(batch: &Batch, windows: &[Window]) -> Result<(), EngineError> {
    batch.prove(windows.iter().map(|window| (window.target, window.start..window.target_end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::plain::Plain;
    use crate::terms::alignment::PathOp;
    use crate::terms::scoring::Scoring;
    use std::sync::Arc;

    /// Refuses more than `most` items at once, and is lost at its `lost_at`-th call.
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
        fn capabilities(&self) -> Capabilities {
            Capabilities { has_quick_paths: true, ..Capabilities::named("faulty") }
        }

        fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
            self.call(pairs.len())?.score(batch, pairs)
        }

        fn score_database(
            &mut self,
            batch: &Batch,
            asked: &[DatabaseQuery],
        ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
            self.call(asked.len())?.score_database(batch, asked)
        }

        fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
            self.call(windows.len())?.paths(batch, windows)
        }

        fn quick_paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
            self.call(windows.len())?.paths(batch, windows)
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
        let window = |(pair, hit): (&Pair, &HitEnd)| {
            crate::align::backtrace::window_of(&batch, pair.query, pair.target, 0, hit)
        };
        let windows = pairs.iter().zip(&hits).map(window).collect();
        (batch, pairs, windows)
    }

    fn runs(paths: &Paths) -> Vec<Vec<(u32, PathOp)>> {
        (0..9).map(|window| paths.runs(window).unwrap().collect()).collect()
    }

    /// Gives one answer too few to each call.
    struct Short(Plain);

    impl Engine for Short {
        fn capabilities(&self) -> Capabilities {
            Capabilities::named("short")
        }

        fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
            self.0.score(batch, &pairs[1..])
        }

        fn score_database(
            &mut self,
            batch: &Batch,
            asked: &[DatabaseQuery],
        ) -> Result<Vec<Vec<TargetScore>>, EngineError> {
            self.0.score_database(batch, &asked[1..])
        }

        fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
            self.0.paths(batch, &windows[1..])
        }
    }

    #[test]
    fn missing_answers_are_errors() {
        let (batch, pairs, windows) = batch();
        let asked = [DatabaseQuery { query: 2, least: 3, first: 0 }];
        let mut guarded = Guarded::new(Box::new(Short(Plain)), None);
        assert!(matches!(guarded.score(&batch, &pairs), Err(EngineError::Wrong(_))));
        assert!(matches!(guarded.score_database(&batch, &asked), Err(EngineError::Wrong(_))));
        assert!(matches!(guarded.paths(&batch, &windows), Err(EngineError::Wrong(_))));
        let mut guarded = Guarded::new(Box::new(Short(Plain)), Some(Box::new(|| Box::new(Plain::new()))));
        assert_eq!(guarded.score(&batch, &pairs), Plain.score(&batch, &pairs));
        assert!(guarded.take_notice().is_some());
    }

    #[test]
    fn halves_what_does_not_fit() {
        let (batch, pairs, windows) = batch();
        for most in [1, 2, 4, 8] {
            let faulty = Faulty { most, lost_at: usize::MAX, calls: 0, plain: Plain };
            let mut guarded = Guarded::new(Box::new(faulty), None);
            assert_eq!(guarded.score(&batch, &pairs), Plain.score(&batch, &pairs));
            let asked: Vec<DatabaseQuery> =
                (0..9).map(|query| DatabaseQuery { query, least: 1 + query as i32, first: query }).collect();
            assert_eq!(guarded.score_database(&batch, &asked), Plain.score_database(&batch, &asked));
            let expected = runs(&Plain.paths(&batch, &windows).unwrap());
            assert_eq!(runs(&guarded.paths(&batch, &windows).unwrap()), expected);
            assert_eq!(runs(&guarded.quick_paths(&batch, &windows).unwrap()), expected);
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
        let faulty = || Box::new(Faulty { most: 4, lost_at: 1, calls: 0, plain: Plain });
        let asked = [DatabaseQuery { query: 2, least: 3, first: 0 }];
        let mut guarded = Guarded::new(faulty(), Some(Box::new(|| Box::new(Plain::new()))));
        assert_eq!(guarded.score_database(&batch, &asked), Plain.score_database(&batch, &asked));
        assert!(guarded.take_notice().unwrap().contains("unplugged"));
        let mut guarded = Guarded::new(faulty(), None);
        assert!(matches!(guarded.score_database(&batch, &asked), Err(EngineError::Lost(_))));
    }
}
