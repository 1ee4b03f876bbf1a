//! Statistical significance of scores.

use super::Targets;
use super::aligner::check_scoring;
use crate::align::fitted::constants;
use crate::align::significance::{SearchSpace, Space};
use crate::terms::error::Result;
use crate::terms::scoring::Scoring;

pub use crate::align::significance::Significance;

impl Significance {
    /// Statistics for queries that are each aligned with all of these targets.
    ///
    /// The constants are published ones if there are any. If not, they are fitted to the scores of random sequences,
    /// which takes some tenths of a second. A scoring and its multiples have the same E-values. `None` if scores of
    /// random sequences grow with the length and not with its logarithm, so that there are no E-values, and in modes
    /// other than local. Higher gap costs or mismatch penalties help.
    ///
    /// ```
    /// use swalign::{Scoring, Significance, Targets};
    ///
    /// let targets = Targets::from_dna([("one", "ACGT".repeat(250))])?;
    /// let scoring = Scoring::preset("blastn").expect("a preset");
    /// let significance = Significance::of_search(&scoring, &targets)?.expect("it has constants");
    /// assert!(significance.evalue(100, 100, 1000) < 1e-10 && significance.bits(100) > 80.0);
    /// # Ok::<(), swalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if the scoring is out of its range.
    pub fn of_search(scoring: &Scoring, targets: &Targets) -> Result<Option<Significance>> {
        let sequences = &targets.sequences;
        let space = SearchSpace { letters: sequences.letters() as u64, targets: sequences.len() as u64 };
        Significance::of(scoring, Space::Search(space))
    }

    /// Statistics for queries that are each aligned with one target.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if the scoring is out of its range.
    pub fn of_pairs(scoring: &Scoring) -> Result<Option<Significance>> {
        Significance::of(scoring, Space::Pair)
    }

    fn of(scoring: &Scoring, space: Space) -> Result<Option<Significance>> {
        check_scoring(scoring)?;
        if !scoring.mode.is_local() {
            return Ok(None);
        }
        Ok(constants(scoring)?.map(|constants| Significance::new(constants, space)))
    }
}
