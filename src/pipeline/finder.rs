//! Pieces of queries searched with edits in all targets, for the filter.

use crate::batch::Sequences;
use crate::candidates::scan::{Ends, PieceEnd, Scan};
use crate::error::EngineError;
use crate::search::pattern::{ANY, Class};
use crate::search::stream::{Seams, Stream};
use crate::search::{self, End, Rule};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Letters and pieces that a device scans in one go, and ends of them that are taken: where there are more, the cores do
/// the same in smaller steps.
const LETTERS: usize = 1 << 25;
const PIECES: usize = 1 << 12;
const ENDS: usize = 1 << 22;
/// Pieces that cores scan in one go at most, letters at least, and letters times pieces at most.
const FEW_PIECES: usize = 1 << 9;
const FEW_LETTERS: usize = 1 << 18;
const CELLS: usize = 1 << 27;
/// One of so many letters may be an end of a piece; one with more ends stands nearly everywhere.
const DENSE: usize = 64;

/// Scans the targets of a run.
pub struct Finder {
    targets: Arc<Sequences>,
    scan: Box<dyn search::Scan + Send>,
}

/// Pieces that are scanned for, and where their ends go.
struct Pieces<'a> {
    classes: &'a [Vec<Class>],
    rule: Rule,
    ends: &'a mut dyn Ends,
}

impl Pieces<'_> {
    /// Those of which ends are still asked for.
    fn wanted(&self) -> Vec<u32> {
        (0..self.classes.len() as u32).filter(|&piece| self.ends.wants(piece)).collect()
    }

    fn own(&self, some: &[u32]) -> Vec<Vec<Class>> {
        some.iter().map(|&piece| self.classes[piece as usize].clone()).collect()
    }

    /// Gives ends in a stream on, of pieces that have their places in `some`.
    fn give(&mut self, stream: &Stream, some: &[u32], patterns: &[Vec<Class>], found: &[End]) {
        let placed = stream.place(found, patterns, &self.rule).into_iter().map(|end| PieceEnd {
            piece: some[end.pattern as usize],
            target: end.text as u32,
            end: end.end as u32,
        });
        self.ends.take(&placed.collect::<Vec<_>>());
    }
}

impl Finder {
    pub fn new(targets: &Arc<Sequences>, scan: Box<dyn search::Scan + Send>) -> Finder {
        Finder { targets: Arc::clone(targets), scan }
    }

    /// Calls with streams of so many letters, one after the other, until that breaks off.
    fn for_each_stream<E>(
        &self,
        seams: &Seams,
        letters: usize,
        mut call: impl FnMut(&Stream) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let (mut target, mut after) = (0, 0);
        while target < self.targets.len() {
            let mut stream = Stream::default();
            while target < self.targets.len() && stream.codes.len() < letters {
                let codes = self.targets.get(target);
                let to = codes.len().min(after + letters - stream.codes.len());
                stream.push(seams, target, codes, after..to);
                (target, after) = if to == codes.len() { (target + 1, 0) } else { (target, to) };
            }
            if call(&stream)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Has a device scan for `some` of the pieces; `false` if it does not, or found so many ends that they were not
    /// taken.
    fn on_device(&self, pieces: &mut Pieces, stream: &Stream, some: &[u32]) -> Result<bool, EngineError> {
        let own = pieces.own(some);
        let Some(found) = self.scan.scan_at_most(&stream.codes, &own, &pieces.rule, ENDS)? else {
            return Ok(false);
        };
        pieces.give(stream, some, &own, &found);
        Ok(true)
    }

    /// Has the cores scan for `some` of the pieces, in steps that bound the ends.
    fn in_steps(&self, pieces: &mut Pieces, stream: &Stream, some: &[u32]) -> Result<(), EngineError> {
        let at_a_time = (CELLS / stream.codes.len().max(1)).clamp(1, FEW_PIECES);
        for some in some.chunks(at_a_time) {
            let own = pieces.own(some);
            let (found, dense) = self.scan.scan_sparse(&stream.codes, &own, &pieces.rule, DENSE)?;
            dense.into_iter().for_each(|piece| pieces.ends.too_many(some[piece as usize]));
            pieces.give(stream, some, &own, &found);
        }
        Ok(())
    }
}

impl Scan for Finder {
    fn scan(&self, pieces: &[&[u8]], edits: usize, ends: &mut dyn Ends) -> Result<(), EngineError> {
        let rule = Rule { max_edits: edits as u32, indels: edits > 0 };
        let class = |&code: &u8| if code < 4 { 1 << code } else { ANY };
        let classes: Vec<Vec<Class>> = pieces.iter().map(|codes| codes.iter().map(class).collect()).collect();
        let seams = Seams::new(pieces.iter().map(|piece| piece.len()), &rule);
        let mut pieces = Pieces { classes: &classes, rule, ends };
        let letters = match self.scan.is_device() {
            true => LETTERS,
            false => (CELLS / classes.len().clamp(1, FEW_PIECES)).clamp(FEW_LETTERS, LETTERS),
        };
        self.for_each_stream(&seams, letters, |stream| {
            let wanted = pieces.wanted();
            for some in wanted.chunks(PIECES) {
                if !self.on_device(&mut pieces, stream, some)? {
                    self.in_steps(&mut pieces, stream, some)?;
                }
            }
            Ok(if wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }
}
