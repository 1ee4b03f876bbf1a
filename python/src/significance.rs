//! Bit scores and E-values, reckoned when they are first asked for.

use crate::errors::exception;
use crate::jobs;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};
use swalign::{Error, Scoring, Targets};

/// Work that takes long enough to look for Ctrl-C beside it.
const LONG: u64 = u64::MAX;

/// What tells how likely scores are by chance.
pub struct Significance {
    scoring: Arc<Scoring>,
    /// `None` where each query meets one target.
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

    /// Whether scores have E-values at all.
    pub fn is_local(&self) -> bool {
        self.scoring.mode.is_local()
    }

    fn reckoned(&self) -> Result<Option<swalign::Significance>, Error> {
        match &self.targets {
            Some(targets) => swalign::Significance::of_search(&self.scoring, targets),
            None => swalign::Significance::of_pairs(&self.scoring),
        }
    }

    /// Bit score and E-value of a score, of a query and a target of so many letters; `None` where there are none.
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
