//! Cache of earlier queries' hits, for equal queries.

use crate::align::dedup::DistinctSequences;
pub(super) use crate::align::dedup::queries::{Grouped, Unit, UnitMatch};
use crate::align::hits::QueryRemarks;
use crate::terms::alignment::{Alignment, QueryResult, Strand};
use crate::terms::batch::Sequences;
use smallvec::SmallVec;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Approximate limit of memory for queries and hits, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// After this many queries the cache is cleared and disabled, unless one in [`ONE_IN`] of them equals another.
const TRIED: u64 = 20_000;
const ONE_IN: u64 = 10;
/// If the cache is off, queries are grouped if at most this share of them is distinct. Otherwise copying the distinct
/// queries takes longer than it saves.
const MOST_DISTINCT: f64 = 0.9;
/// If the cache is off and the last examined batch had nothing to group, one batch in this many is examined.
const LOOKED_AT: u64 = 8;

/// Result for a unit of queries: a query, or two mates.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitResult {
    pub found: SmallVec<[QueryResult; 1]>,
    pub remarks: QueryRemarks,
    /// Whether the order of the strands chose among hits, or may have.
    pub is_tied: bool,
}

impl UnitResult {
    /// The answer for the reverse complement of a query, if the order of the strands chose nothing: the scores and
    /// paths of a query on a strand are those of its reverse complement on the opposite strand.
    fn mirrored(&self) -> Option<UnitResult> {
        if self.is_tied {
            return None;
        }
        let mut mirrored = self.clone();
        for alignment in mirrored.found.iter_mut().flat_map(|found| &mut found.alignments) {
            alignment.strand = match alignment.strand {
                Strand::Reverse => Strand::Forward,
                _ => Strand::Reverse,
            };
        }
        Some(mirrored)
    }

    fn hits(&self) -> usize {
        self.found.iter().map(|found| found.alignments.len()).sum()
    }

    fn bytes(&self) -> usize {
        size_of::<UnitResult>() + self.hits() * size_of::<Alignment>()
    }
}

/// A batch's queries, except those that equal others.
pub(super) struct Unanswered {
    pub grouped: Grouped,
    /// The known answers, in the order of their units.
    answers: Vec<UnitResult>,
}

impl Unanswered {
    /// The queries that must be aligned after all, since they cannot use the answer of their reverse complement.
    pub fn left(&mut self, queries: &Sequences, unit: Unit, new: &[UnitResult]) -> Sequences {
        self.grouped.take_apart(queries, unit, |group| !new[group as usize].is_tied)
    }

    /// Number of hits of all units of the batch.
    pub fn hits(&self, new: &[UnitResult]) -> usize {
        let of_group = |group: &UnitMatch| match *group {
            UnitMatch::Of(group) | UnitMatch::Mirrored(group) => new[group as usize].hits(),
            UnitMatch::Known => 0,
        };
        let known: usize = self.answers.iter().map(UnitResult::hits).sum();
        known + self.grouped.groups.iter().map(of_group).sum::<usize>()
    }
}

/// Queries with their hits. A query's hits do not depend on its batch, so the cache changes no answer.
#[derive(Default)]
pub(super) struct Remembered {
    memory: RwLock<Memory>,
    /// Number of batches to skip before the next one is examined, if the cache is off.
    passed: AtomicU64,
}

#[derive(Default)]
struct Memory {
    queries: DistinctSequences,
    answers: Vec<UnitResult>,
    bytes: usize,
    seen: u64,
    repeated: u64,
    is_off: bool,
}

impl Remembered {
    /// The queries of a batch that must be aligned. `None` if all must be.
    pub fn unanswered(&self, queries: &Sequences, unit: Unit) -> Option<Unanswered> {
        let memory = self.memory.read().ok()?;
        if memory.is_off && self.passes() {
            return None;
        }
        let mut answers = Vec::new();
        let is_known = |letters: &[u8], strand| {
            let known = memory.queries.find(letters).map(|number| &memory.answers[number]);
            let answer = match strand {
                Strand::Reverse => known.and_then(UnitResult::mirrored),
                _ => known.cloned(),
            };
            let is_known = answer.is_some();
            answers.extend(answer);
            is_known
        };
        let most = if memory.is_off { MOST_DISTINCT } else { 1.0 };
        let grouped = Grouped::of(queries, unit, most, is_known);
        if memory.is_off && grouped.is_none() {
            self.passed.store(LOOKED_AT - 1, Ordering::Relaxed);
        }
        Some(Unanswered { grouped: grouped?, answers })
    }

    /// Whether a batch is skipped.
    fn passes(&self) -> bool {
        let one_less = |passed: u64| passed.checked_sub(1);
        self.passed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// The answers of all units of a batch, from the answers of the aligned units, which are stored.
    pub fn answered(&self, unanswered: Unanswered, new: Vec<UnitResult>) -> Vec<UnitResult> {
        let Unanswered { grouped, answers } = unanswered;
        let mut known = answers.into_iter();
        let answer = |group: &UnitMatch| match *group {
            UnitMatch::Of(group) => new[group as usize].clone(),
            UnitMatch::Mirrored(group) => new[group as usize].mirrored().unwrap_or_default(),
            UnitMatch::Known => known.next().unwrap_or_default(),
        };
        let all: Vec<UnitResult> = grouped.groups.iter().map(answer).collect();
        if let Ok(mut memory) = self.memory.write() {
            memory.learn(&grouped, new);
        }
        all
    }
}

impl Memory {
    fn learn(&mut self, grouped: &Grouped, new: Vec<UnitResult>) {
        if self.is_off {
            return;
        }
        self.seen += grouped.groups.len() as u64;
        self.repeated += (grouped.groups.len() - new.len()) as u64;
        if self.seen >= TRIED && self.repeated < self.seen / ONE_IN {
            *self = Memory { is_off: true, ..Memory::default() };
            return;
        }
        for (number, answer) in new.into_iter().enumerate() {
            if self.bytes > MOST_BYTES {
                return;
            }
            let unit = grouped.units.get(number);
            self.bytes += unit.len() + answer.bytes();
            // Another batch may have stored it meanwhile.
            if self.queries.insert(unit).is_new {
                self.answers.push(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(score: i32) -> UnitResult {
        let found = QueryResult { second: Some(score), ..QueryResult::default() };
        UnitResult { found: SmallVec::from_iter([found]), ..UnitResult::default() }
    }

    /// Aligns the necessary queries, with the first residue as score, and returns their number.
    fn run(remembered: &Remembered, queries: &[Vec<u8>]) -> usize {
        let sequences: Sequences = queries.iter().map(Vec::as_slice).collect();
        let Some(unanswered) =
            remembered.unanswered(&sequences, Unit { each: 1, strands: 1, mirrors: false })
        else {
            return queries.len();
        };
        let new: Vec<UnitResult> =
            unanswered.grouped.queries.iter().map(|codes| answer(codes[0].into())).collect();
        let aligned = new.len();
        let all = remembered.answered(unanswered, new);
        assert_eq!(all.len(), queries.len());
        for (query, answer) in queries.iter().zip(&all) {
            assert_eq!(answer.found[0].second, Some(query[0].into()));
        }
        aligned
    }

    #[test]
    fn equal_queries_have_the_answer_of_the_first() {
        let remembered = Remembered::default();
        let queries = [3u8, 1, 3, 2, 1, 3].map(|code| vec![code, 9]);
        assert_eq!(run(&remembered, &queries), 3);
        assert_eq!(run(&remembered, &queries), 0, "all are known from the batch before");
        assert_eq!(run(&remembered, &[vec![4, 9], vec![3], vec![3, 9]]), 2);
    }

    #[test]
    fn queries_that_differ_are_forgotten() {
        let remembered = Remembered::default();
        let distinct =
            |from: u32| -> Vec<Vec<u8>> { (from..from + 10_000).map(|k| k.to_le_bytes().to_vec()).collect() };
        let is_off = || remembered.memory.read().unwrap().is_off;
        let batches = [0, 10_000, 20_000].into_iter().take_while(|_| !is_off());
        batches.for_each(|from| assert_eq!(run(&remembered, &distinct(from)), 10_000));
        assert!(is_off());
        assert_eq!(run(&remembered, &vec![vec![7]; 50]), 1, "those of a batch are still grouped");
        assert_eq!(run(&remembered, &distinct(0)), 10_000);
        for _ in 1..LOOKED_AT {
            assert_eq!(run(&remembered, &vec![vec![7]; 50]), 50, "the batch before had nothing to group");
        }
        assert_eq!(run(&remembered, &vec![vec![7]; 50]), 1, "one batch in some is looked at");
        assert_eq!(
            run(&remembered, &vec![vec![7]; 50]),
            1,
            "and the next ones, while there is something to group"
        );
    }
}
