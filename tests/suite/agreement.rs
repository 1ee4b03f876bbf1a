//! Comparison of an engine's results with those of the specification.

use crate::common::batches;
use std::any::{Any, type_name};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex};
use swalign::align::backtrace::{self, WantedPath};
use swalign::engine::pathfinding::{filled_paths, paths_in_groups};
use swalign::engine::plain::Plain;
use swalign::engine::{Engine, Paths, Primitives, Window};
use swalign::terms::alignment::{Alignment, HitEnd, PathRuns};
use swalign::terms::batch::{Batch, Pair};
use swalign::terms::error::EngineError;

/// Answers of the specification, by a hash of the question and the batch.
type Answers = HashMap<u64, Box<dyn Any + Send>>;

/// An answer of the specification, computed once: tests ask for it again on each instruction set. `question` has all that
/// the answer depends on besides the batch.
pub fn specified<T: Any + Clone + Send>(
    batch: &Batch,
    question: impl Debug,
    answer: impl FnOnce() -> T,
) -> T {
    static KNOWN: LazyLock<Mutex<Answers>> = LazyLock::new(Mutex::default);
    let mut hasher = DefaultHasher::new();
    format!("{} {question:?} {:?}", type_name::<T>(), batch.scoring).hash(&mut hasher);
    (0..batch.queries.len() as u32).for_each(|query| batch.query(query).hash(&mut hasher));
    (0..batch.targets.len() as u32).for_each(|target| batch.target(target).hash(&mut hasher));
    let key = hasher.finish();
    if let Some(known) = KNOWN.lock().unwrap().get(&key) {
        return known.downcast_ref::<T>().expect("the type is a part of the key").clone();
    }
    let answer = answer();
    KNOWN.lock().unwrap().insert(key, Box::new(answer.clone()));
    answer
}

/// Scores of the specification.
pub fn plain_scores(batch: &Batch, pairs: &[Pair]) -> Vec<HitEnd> {
    specified(batch, pairs, || Plain::new().score(batch, pairs).unwrap())
}

/// Scores of `engine` and of `plain`, compared.
pub fn scores_agree(engine: &mut dyn Primitives, batch: &Batch, pairs: &[Pair], case: &str) -> Vec<HitEnd> {
    let expected = plain_scores(batch, pairs);
    let hits = engine.score(batch, pairs).unwrap();
    assert_eq!(hits.len(), expected.len(), "{case}");
    for ((pair, hit), expected) in pairs.iter().zip(&hits).zip(&expected) {
        let rows = batch.query(pair.query).len();
        assert_eq!(hit, expected, "{case}: {rows} query residues, {pair:?}, {:?}", batch.scoring);
    }
    expected
}

pub fn wanted(batch: &Batch, pairs: &[Pair], hits: &[HitEnd]) -> Vec<WantedPath> {
    let with_score = pairs.iter().zip(hits).filter(|(_, hit)| hit.score > 0);
    with_score.map(|(pair, hit)| batches::wanted(batch, pair, hit)).collect()
}

/// The paths of the specification: the whole matrix from the pair's start, without a band.
pub fn plain_paths(batch: &Batch, pairs: &[Pair], hits: &[HitEnd]) -> Vec<Alignment> {
    let mut whole = wanted(batch, pairs, hits);
    let starts = pairs.iter().zip(hits).filter(|(_, hit)| hit.score > 0).map(|(pair, _)| pair.start);
    for (wanted, start) in whole.iter_mut().zip(starts) {
        wanted.window.start = start;
    }
    specified(batch, &whole, || {
        along(batch, &whole, paths_in_groups(&mut Plain::new(), batch, &windows(&whole)))
    })
}

pub fn windows(wanted: &[WantedPath]) -> Vec<Window> {
    wanted.iter().map(|wanted| wanted.window).collect()
}

/// The alignments along `paths`.
pub fn along(batch: &Batch, wanted: &[WantedPath], paths: Result<Paths, EngineError>) -> Vec<Alignment> {
    backtrace::alignments(batch, wanted, &paths.unwrap()).unwrap()
}

/// Paths of `engine` inside the proven band and those of `plain` without one, compared.
pub fn paths_agree(engine: &mut dyn Primitives, batch: &Batch, pairs: &[Pair], hits: &[HitEnd], case: &str) {
    let expected = plain_paths(batch, pairs, hits);
    let wanted = wanted(batch, pairs, hits);
    for (way, found) in [
        ("as it is best", backtrace::align(engine, batch, &wanted).unwrap()),
        ("filled", along(batch, &wanted, filled_paths(engine, batch, &windows(&wanted)))),
        ("all", along(batch, &wanted, engine.paths(batch, &windows(&wanted)))),
    ] {
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{case}, {way}: {:?}", batch.scoring);
        }
        assert_eq!(found.len(), expected.len(), "{case}");
    }
    // Those without gaps too, which an engine may not be asked for.
    let paths = engine.trace(batch, &windows(&wanted)).unwrap();
    for (index, expected) in expected.iter().enumerate() {
        if let Some(runs) = paths.runs(index) {
            let mut cigar: PathRuns = runs.collect();
            cigar.reverse();
            assert_eq!(cigar, expected.cigar, "{case}, traced: {:?}", batch.scoring);
        }
    }
}
