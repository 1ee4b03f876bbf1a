//! Bit-sliced scans: the text is cut into as many chunks as a vector has bits, and each bit operation computes the same
//! cell of every chunk.
//!
//! `tile` converts a stretch of text to such vectors, once for all patterns; `sweep` runs the recurrence over them.
//! Chunks overlap by the longest span of a hit less one base, so that every end is found once, with its true edits.

mod hamming;
mod sweep;
mod tile;

use super::codes::TextCodes;
use super::room::EndCapacity;
use super::{EndScan, MatchRule, PatternEnd};
use crate::engine::cpu::simd::InstructionSet;
use crate::patterns::sliced::chunks::TextDivision;
use crate::terms::casts::to_u32;
use crate::terms::error::EngineError;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use sweep::TileSweep;
use tile::{PlaneTile, TileFill};

/// Patterns that a thread sweeps over a tile per task.
const RUN: usize = 16;

/// Approximate nanoseconds of a thread for a cell (a base times a row), per byte of its vectors: 16 Gbp/s for a pattern
/// of 20 bases with 64 bytes.
const OF_CELL: f64 = 0.2;

/// Approximate nanoseconds in which a thread sweeps patterns of `rows` bases in total over a base.
pub fn cost(set: InstructionSet, rows: usize) -> f64 {
    rows as f64 * OF_CELL / set.lanes(1) as f64
}

/// Finds ends with the vectors of an instruction set, on all threads.
#[derive(Debug)]
pub struct SlicedScan {
    set: InstructionSet,
    /// Bases per chunk without its overlap; `None` chooses by the text length.
    chunk: Option<usize>,
    /// Tiles to reuse: fresh memory costs as much as writing to it.
    spare: Mutex<Vec<PlaneTile>>,
}

impl SlicedScan {
    pub fn on(set: InstructionSet) -> SlicedScan {
        SlicedScan { set, chunk: None, spare: Mutex::default() }
    }

    /// Sets the chunk length, to test chunk boundaries.
    pub fn with_chunks(set: InstructionSet, chunk: usize) -> SlicedScan {
        SlicedScan { chunk: Some(chunk), ..SlicedScan::on(set) }
    }

    /// The ends in the tile that begins at `first`.
    fn tile(
        &self,
        shape: &TextDivision,
        (text, first): (&TextCodes, usize),
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Vec<PatternEnd> {
        if room.is_over() {
            return Vec::new();
        }
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tile = spare().pop().unwrap_or_default();
        self.set.run(TileFill {
            tile: &mut tile,
            shape,
            text: text.planes(),
            first,
            classes: classes(patterns),
        });
        let sweep = |(run, patterns): (usize, &[Vec<u8>])| {
            let first = to_u32(run * RUN);
            self.set.run(TileSweep { tile: &tile, shape, patterns, first, rule, room })
        };
        let ends = patterns.par_chunks(RUN).enumerate().flat_map_iter(sweep).collect();
        spare().push(tile);
        ends
    }
}

impl EndScan for SlicedScan {
    fn scan_within(
        &self,
        text: &TextCodes,
        patterns: &[Vec<u8>],
        rule: &MatchRule,
        room: &EndCapacity,
    ) -> Result<Vec<PatternEnd>, EngineError> {
        let before = patterns.iter().map(|pattern| rule.span_of(pattern.len()) - 1).max().unwrap_or(0);
        // No chunk needs more bases before it than the text has.
        let before = before.min(text.len());
        let shape = TextDivision::new(self.set.lanes(1) * 8, before, text.len(), self.chunk);
        let firsts: Vec<usize> = (0..text.len()).step_by(shape.letters()).collect();
        let tile = |&first: &usize| self.tile(&shape, (text, first), patterns, rule, room);
        let mut ends: Vec<PatternEnd> = firsts.par_iter().flat_map(tile).collect();
        ends.par_sort_unstable();
        Ok(ends)
    }
}

/// The classes that occur, as a set of bits.
fn classes(patterns: &[Vec<u8>]) -> u32 {
    patterns.iter().flatten().fold(0, |set, &class| set | 1 << class)
}
