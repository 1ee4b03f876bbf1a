//! Batches of a few sequences, and an engine that counts its calls.

use super::codes;
use std::sync::Arc;
use swalign::align::backtrace::{self, WantedPath};
use swalign::engine::cpu::Cpu;
use swalign::engine::{Capabilities, Engine, Paths, Window};
use swalign::terms::alignment::{Alignment, HitEnd, Strand};
use swalign::terms::alphabet::{Alphabet, reverse_complement};
use swalign::terms::batch::{Batch, Pair, Sequences};
use swalign::terms::error::EngineError;
use swalign::terms::scoring::Scoring;

/// Lists of codes, in any form.
pub trait IntoSequences {
    fn into_sequences(self) -> Arc<Sequences>;
}

impl IntoSequences for Sequences {
    fn into_sequences(self) -> Arc<Sequences> {
        Arc::new(self)
    }
}

impl IntoSequences for Arc<Sequences> {
    fn into_sequences(self) -> Arc<Sequences> {
        self
    }
}

impl<T: AsRef<[u8]>> IntoSequences for &[T] {
    fn into_sequences(self) -> Arc<Sequences> {
        Arc::new(self.iter().map(AsRef::as_ref).collect())
    }
}

impl<T: AsRef<[u8]>> IntoSequences for &Vec<T> {
    fn into_sequences(self) -> Arc<Sequences> {
        self.as_slice().into_sequences()
    }
}

impl<T: AsRef<[u8]>, const N: usize> IntoSequences for [T; N] {
    fn into_sequences(self) -> Arc<Sequences> {
        self.as_slice().into_sequences()
    }
}

/// A batch of these codes.
pub fn of(queries: impl IntoSequences, targets: impl IntoSequences, scoring: Scoring) -> Batch {
    Batch { queries: queries.into_sequences(), targets: targets.into_sequences(), scoring: Arc::new(scoring) }
}

/// A query with a whole target.
pub fn whole(batch: &Batch, query: u32, target: u32) -> Pair {
    Pair { query, target, start: 0, own: 0, end: batch.target(target).len() as u32 }
}

/// Each query with the whole target of its number.
pub fn whole_pairs(batch: &Batch) -> Vec<Pair> {
    (0..batch.targets.len() as u32).map(|number| whole(batch, number, number)).collect()
}

/// The path of a hit of a pair.
pub fn wanted(batch: &Batch, pair: &Pair, hit: &HitEnd) -> WantedPath {
    let window = backtrace::window_of(batch, pair.query, pair.target, pair.start, hit);
    WantedPath { window, strand: Strand::Forward, score: hit.score }
}

/// The codes of DNA sequences.
pub fn encoded(sequences: &[Vec<u8>]) -> Sequences {
    let codes: Vec<Vec<u8>> = sequences.iter().map(|bases| codes(Alphabet::Dna, bases)).collect();
    codes.iter().map(Vec::as_slice).collect()
}

/// The codes of DNA sequences, each followed by its reverse complement.
pub fn both_strands(sequences: &[Vec<u8>]) -> Sequences {
    let both: Vec<Vec<u8>> =
        sequences.iter().flat_map(|bases| [bases.clone(), reverse_complement(bases)]).collect();
    encoded(&both)
}

/// The best alignment of a query and a target, if its score is positive.
pub fn best(query: &[u8], target: &[u8], scoring: &Scoring) -> Option<Alignment> {
    let batch = of([query], [target], scoring.clone());
    let pair = whole(&batch, 0, 0);
    let hit = Cpu::new().score(&batch, &[pair]).unwrap()[0];
    let wanted = wanted(&batch, &pair, &hit);
    (hit.score > 0).then(|| backtrace::align(&mut Cpu::new(), &batch, &[wanted]).unwrap().remove(0))
}

/// The reverse complement of DNA codes.
pub fn reversed(codes: &[u8]) -> Vec<u8> {
    codes.iter().rev().map(|&code| if code < 4 { 3 - code } else { code }).collect()
}

/// The CPU engine, with the number of its calls and of the pairs that it scored.
pub struct Counting {
    engine: Cpu,
    pub scored: usize,
    pub traced: usize,
    pub pairs: usize,
}

impl Counting {
    pub fn new() -> Counting {
        Counting { engine: Cpu::new(), scored: 0, traced: 0, pairs: 0 }
    }
}

impl Engine for Counting {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn score(&mut self, batch: &Batch, pairs: &[Pair]) -> Result<Vec<HitEnd>, EngineError> {
        self.scored += 1;
        self.pairs += pairs.len();
        self.engine.score(batch, pairs)
    }

    fn paths(&mut self, batch: &Batch, windows: &[Window]) -> Result<Paths, EngineError> {
        self.traced += 1;
        self.engine.paths(batch, windows)
    }
}
