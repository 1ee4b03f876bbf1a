//! Pieces of queries searched with edits in all targets, for the filter.

use crate::batch::Sequences;
use crate::candidates::filter::{PieceEnd, Scan};
use crate::error::EngineError;
use crate::search::pattern::{ANY, Class};
use crate::search::stream::{Seams, Stream};
use crate::search::{self, Rule};
use std::sync::Arc;

/// Letters that are scanned in one go, and pieces: what bounds the memory of the ends.
const LETTERS: usize = 1 << 25;
const PIECES: usize = 1 << 12;

/// Scans the targets of a run.
pub struct Finder {
    targets: Arc<Sequences>,
    scan: Box<dyn search::Scan + Send>,
}

impl Finder {
    pub fn new(targets: &Arc<Sequences>, scan: Box<dyn search::Scan + Send>) -> Finder {
        Finder { targets: Arc::clone(targets), scan }
    }

    /// The ends in a stream for some of the pieces, whose first has the place `first` among all.
    fn scan(
        &self,
        stream: &Stream,
        pieces: &[Vec<Class>],
        first: usize,
        rule: &Rule,
        ends: &mut Vec<PieceEnd>,
    ) -> Result<(), EngineError> {
        let found = self.scan.scan(&stream.codes, pieces, rule)?;
        ends.extend(stream.place(&found, pieces, rule).into_iter().map(|end| PieceEnd {
            piece: first as u32 + end.pattern,
            target: end.text as u32,
            end: end.end as u32,
        }));
        Ok(())
    }
}

impl Scan for Finder {
    fn ends(&self, pieces: &[&[u8]], edits: usize) -> Result<Vec<PieceEnd>, EngineError> {
        let rule = Rule { max_edits: edits as u32, indels: edits > 0 };
        let class = |&code: &u8| if code < 4 { 1 << code } else { ANY };
        let classes: Vec<Vec<Class>> = pieces.iter().map(|codes| codes.iter().map(class).collect()).collect();
        let seams = Seams::new(pieces.iter().map(|piece| piece.len()), &rule);
        let mut ends = Vec::new();
        let (mut target, mut after) = (0, 0);
        while target < self.targets.len() {
            let mut stream = Stream::default();
            while target < self.targets.len() && stream.codes.len() < LETTERS {
                let codes = self.targets.get(target);
                let to = codes.len().min(after + LETTERS - stream.codes.len());
                stream.push(&seams, target, codes, after..to);
                (target, after) = if to == codes.len() { (target + 1, 0) } else { (target, to) };
            }
            for (number, some) in classes.chunks(PIECES).enumerate() {
                self.scan(&stream, some, number * PIECES, &rule, &mut ends)?;
            }
        }
        Ok(ends)
    }
}
