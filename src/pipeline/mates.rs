//! The insert size of a run's mates, before any of them is paired.
//!
//! It comes from the first pairs of the whole input, so a run of a part has the same as a run of all.

use super::device::Hardware;
use super::inputs::whole_mates;
use super::report::{Reporter, Stage, counted, warn};
use crate::alignment::Found;
use crate::batch::{Batch, Sequences};
use crate::candidates::filter::Filter;
use crate::candidates::{Layout, Meets};
use crate::error::{EngineError, Result};
use crate::hits::{self, Effort, Rules, Scope};
use crate::insert::{InsertSize, Orientation};
use crate::options::{Mode, Options};
use crate::pairing::{Pairing, inserts};
use crate::reader::Mates;
use crate::scoring::Scoring;
use std::sync::Arc;

/// Pairs that tell the insert size: so many, within about so many letters of both strands.
const PAIRS: usize = 20_000;
const LETTERS: usize = 1 << 26;
/// Pairs that are aligned at a time.
const BATCH: usize = 1 << 13;
/// Orientations of each read.
const STRANDS: u32 = 2;

/// What the mates of a run are aligned to.
pub struct PairingScope<'a> {
    pub options: &'a Options,
    pub targets: &'a Arc<Sequences>,
    pub scoring: &'a Arc<Scoring>,
    pub rules: Rules,
    pub filter: Option<&'a Filter>,
}

impl PairingScope<'_> {
    /// How the mates of the run are paired. Those that tell it stay the next ones of `mates`.
    pub fn pairing(
        &self,
        mates: &mut Mates,
        hardware: &Hardware,
        reporter: &dyn Reporter,
    ) -> Result<Pairing> {
        let insert = match self.options.insert {
            Some(insert) => insert,
            None => self.estimate(mates, hardware, reporter)?,
        };
        Ok(Pairing::new(insert, self.rules, self.scoring))
    }

    fn estimate(
        &self,
        mates: &mut Mates,
        hardware: &Hardware,
        reporter: &dyn Reporter,
    ) -> Result<InsertSize> {
        reporter.stage(Stage::of("estimating the insert size"));
        let mut whole;
        let mates = match self.options.part {
            Some(_) => {
                whole = whole_mates(self.options, self.scoring.alphabet)?;
                &mut whole
            }
            None => mates,
        };
        let (records, codes) = mates.ahead(PAIRS, LETTERS)?;
        let mut telling = Vec::new();
        let mut engine = hardware.engine(0);
        for first in (0..records.len()).step_by(2 * BATCH) {
            let last = records.len().min(first + 2 * BATCH);
            let strands = STRANDS as usize;
            let mut queries = Sequences::default();
            queries.append(codes, first * strands..last * strands);
            let mut found = self.find(&mut engine, &queries);
            if let Err(error) = &found
                && engine.fall_back(error)
            {
                found = self.find(&mut engine, &queries);
            }
            warn(reporter, engine.take_notice());
            telling.extend(inserts(self.targets, &found?));
        }
        let seen = [telling.len(), records.len() / 2].map(|count| counted(count as u64, ["pair", "pairs"]));
        Ok(told(&telling, seen, reporter))
    }

    fn find(
        &self,
        engine: &mut crate::engine::Guarded,
        queries: &Sequences,
    ) -> Result<Vec<Found>, EngineError> {
        debug_assert_eq!(self.options.mode, Mode::All);
        let batch = Batch {
            queries: Arc::new(queries.clone()),
            targets: Arc::clone(self.targets),
            scoring: Arc::clone(self.scoring),
        };
        let layout = Layout { strands: STRANDS, meets: Meets::All };
        let rules = Rules { max_hits: 1, ..self.rules };
        let scope = Scope { filter: self.filter, ..Scope::new(&batch, layout, rules) };
        hits::find(engine, &scope, &mut Effort::default())
    }
}

/// The insert size that pairs tell, and says what it is.
fn told(telling: &[(Orientation, u32)], [unique, seen]: [String; 2], reporter: &dyn Reporter) -> InsertSize {
    match InsertSize::estimate(telling) {
        Some(insert) => {
            reporter.note(&format!("insert size: {insert}, from {unique} of the first {seen}"));
            insert
        }
        None => {
            let insert = InsertSize::ASSUMED;
            reporter.note(&format!(
                "warning: {unique} of the first {seen} tell the insert size, too few for an estimate; {insert} is \
                 taken, give what it is with --insert"
            ));
            insert
        }
    }
}
