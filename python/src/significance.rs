//! Bit scores and E-values. Their constants are computed when a hit's score in bits or E-value is first read.

use crate::errors::exception;
use crate::jobs;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};
use swalign::{Error, Scoring, Targets};

/// Cell count for work that is long enough to check for Ctrl-C.
const LONG: u64 = u64::MAX;

/// Statistics of the scores that occur by chance.
pub struct Significance {
    scoring: Arc<Scoring>,
    /// `None` for pairs, in which each query has one target.
    targets: Option<Targets>,
    known: OnceLock<Option<swalign::Significance>>,
}

impl Significance {
    pub fn of_pairs(scoring: &Arc<Scoring>) -> Significance {
        Significance { scoring: Arc::clone(scoring), targets: None, known: OnceLock::new() }
    }

    pub fn of_search(scoring: &Arc<Scoring>, targets: &Targets) -> Significance {
        let targets = Some(targets.clone());
        Significance { scoring: Arc::clone(scoring), targets, known: OnceLock::new() }
    }

    /// Whether the mode is local. Only local alignments have E-values.
    pub fn is_local(&self) -> bool {
        self.scoring.mode.is_local()
    }

    fn reckoned(&self) -> Result<Option<swalign::Significance>, Error> {
        match &self.targets {
            Some(targets) => swalign::Significance::of_search(&self.scoring, targets),
            None => swalign::Significance::of_pairs(&self.scoring),
        }
    }

    /// Bit score and E-value of a score, for a query and a target of these lengths in residues. `None` if the
    /// scoring has no E-values.
    pub fn of(
        self: &Arc<Self>,
        py: Python<'_>,
        score: i32,
        (query, target): (usize, usize),
    ) -> PyResult<Option<(f64, f64)>> {
        let known = match self.known.get() {
            Some(known) => *known,
            None => {
                let own = Arc::clone(self);
                let known = jobs::run(py, LONG, move |_| own.reckoned())?.map_err(exception)?;
                *self.known.get_or_init(|| known)
            }
        };
        Ok(known.map(|known| (known.bits(score), known.evalue(score, query, target))))
    }
}
