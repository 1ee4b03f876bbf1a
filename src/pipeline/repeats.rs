//! Repeats among the references of a run. They are found once the first queries show how far alignments reach.

use super::device::Hardware;
use super::query_search::QuerySearch;
use super::report::counted;
use super::setup;
use crate::align::hits::{SearchInput, WithoutRepeats};
use crate::align::repeats;
use crate::terms::alphabet::Alphabet;
use crate::terms::batch::Sequences;
use crate::terms::error::Result;
use crate::terms::options::{Mode, Options};
use std::sync::{Arc, RwLock};

/// Minimum number of bases: shorter references are searched as fast as they are examined for repeats.
const LEAST_TARGETS: usize = 1 << 16;
/// Repeats are removed if at most this share of the bases is left.
const MOST_LEFT: f64 = 0.5;
/// If later queries need a longer span, repeats are found again for at least this many times the previous span.
const GROWTH: u32 = 2;
/// Spans are multiples of this number of bases.
const ROUNDED: u32 = 16;

/// The references' repeats.
pub(super) struct TakenOut {
    state: RwLock<RepeatState>,
    hardware: Hardware,
}

enum RepeatState {
    /// Repeats are not found yet. There may be an estimate that there are many.
    Unknown {
        are_many: bool,
    },
    Known(Arc<WithoutRepeats>),
    /// There are too few repeats, or the run's hits cannot be found with them.
    Off,
}

impl TakenOut {
    /// Repeats of the references of an alphabet, unless these have an index already.
    pub(super) fn new(
        options: &Options,
        (targets, alphabet): (&Sequences, Alphabet),
        has_index: bool,
        hardware: &Hardware,
    ) -> TakenOut {
        let is_for = options.dedup
            && options.mode == Mode::All
            && options.scoring.mode.is_local()
            && alphabet == Alphabet::Dna
            && !has_index
            && !targets.have_circles()
            && targets.codes().len() >= LEAST_TARGETS;
        let state = if is_for { RepeatState::Unknown { are_many: false } } else { RepeatState::Off };
        TakenOut { state: RwLock::new(state), hardware: hardware.clone() }
    }

    /// The references without repeats, if hits can be found with them. Finds the repeats now if necessary.
    pub(super) fn of(
        &self,
        search: &QuerySearch,
        scope: &SearchInput,
    ) -> Result<Option<Arc<WithoutRepeats>>> {
        let helps = |state: &RepeatState| !matches!(state, RepeatState::Off);
        if !scope.is_for_any_targets() || !self.state.read().is_ok_and(|state| helps(&state)) {
            return Ok(None);
        }
        let span = scope.span();
        let known = |state: &RepeatState| match state {
            RepeatState::Known(without) if without.distinct.span() >= span => Some(Arc::clone(without)),
            _ => None,
        };
        if let Some(without) = self.state.read().ok().and_then(|state| known(&state)) {
            return Ok(Some(without));
        }
        // Other threads wait here. They would find the same repeats.
        let Ok(mut state) = self.state.write() else { return Ok(None) };
        if let Some(without) = known(&state) {
            return Ok(Some(without));
        }
        let are_many = match &*state {
            RepeatState::Off => return Ok(None),
            RepeatState::Unknown { are_many } => *are_many,
            RepeatState::Known(_) => true,
        };
        let before = match &*state {
            RepeatState::Known(without) => without.distinct.span().saturating_mul(GROWTH),
            _ => 0,
        };
        *state = RepeatState::Off;
        let targets = &scope.batch.targets;
        targets.prove_all()?;
        if !are_many && repeats::share_of_distinct(targets) > MOST_LEFT {
            return Ok(None);
        }
        let span = span.max(before).next_multiple_of(ROUNDED);
        let distinct = repeats::find(targets, span);
        let (left, all) = (distinct.stretches.letters(), targets.letters());
        if left as f64 > MOST_LEFT * all as f64 {
            return Ok(None);
        }
        search.reporter.detail(&told(left, all, distinct.copies(), span));
        let stretches = (&distinct.stretches, search.scoring, search.strands.count());
        let filter = setup::filter(search.options, stretches, &self.hardware);
        let without = Arc::new(WithoutRepeats { distinct, filter });
        *state = RepeatState::Known(Arc::clone(&without));
        Ok(Some(without))
    }
}

fn told(left: usize, all: usize, copies: usize, span: u32) -> String {
    let copies = counted(copies as u64, ["stretch", "stretches"]);
    let share = 100.0 * left as f64 / all as f64;
    format!(
        "repeats: searching {left} of {all} bases of the references ({share:.1} %), with alignments of at most \
         {span} bases; {copies} are copies"
    )
}
