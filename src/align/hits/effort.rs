//! What finding hits takes, and what is to be said of it.

use std::time::Duration;

/// Work done and time spent on it.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Queries whose hits were searched.
    pub searched: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Time in finding the regions that are scored.
    pub filtering: Duration,
    /// Time in scoring calls.
    pub scoring: Duration,
    /// Time in filling directions and tracing paths back.
    pub backtrace: Duration,
    /// What is to be said of records.
    pub said: Vec<(u32, Remarks)>,
    /// Records of which the order of the strands chose hits, or may have.
    pub tied: Vec<u32>,
}

/// What is to be said of queries: how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remarks {
    /// Searched in full since no filter helped.
    pub whole: u64,
    /// With free intervals that were not searched for supplementary hits, since that would have cost too much.
    pub unsplit: u64,
    /// With a further hit, known and not reported, that scores too little beside their best.
    pub cut: u64,
    /// With hits, known or possible, on more targets than are reported.
    pub limited: u64,
    /// Too short to reach the least score.
    pub too_short: TooShort,
    /// Too short to reach the greatest E-value.
    pub too_unlikely: TooShort,
    /// So short that E-values alone decide.
    pub by_evalue: u64,
    /// Hits, and not queries, that masking leaves out.
    pub masked_hits: u64,
    /// With hits that cover too little of the query to be ranked by identity.
    pub uncovered: u64,
}

/// Queries that no alignment of all their residues lets in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TooShort {
    pub queries: u64,
    /// The lowest and the highest of their best possible scores.
    pub scores: Option<(i32, i32)>,
    /// The greatest E-value of these scores.
    pub evalue: f64,
}

impl TooShort {
    /// A query with this best possible score.
    pub fn of(score: i32, evalue: f64) -> TooShort {
        TooShort { queries: 1, scores: Some((score, score)), evalue }
    }

    /// Both, without their number.
    fn range(self, other: TooShort) -> TooShort {
        let scores = [self.scores, other.scores].into_iter().flatten();
        let scores = scores.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        TooShort { queries: 0, scores, evalue: self.evalue.max(other.evalue) }
    }
}

impl Remarks {
    const NONE: Remarks = Remarks {
        whole: 0,
        unsplit: 0,
        cut: 0,
        limited: 0,
        too_short: TooShort { queries: 0, scores: None, evalue: 0.0 },
        too_unlikely: TooShort { queries: 0, scores: None, evalue: 0.0 },
        by_evalue: 0,
        masked_hits: 0,
        uncovered: 0,
    };
    pub(super) const WHOLE: Remarks = Remarks { whole: 1, ..Remarks::NONE };
    pub const UNSPLIT: Remarks = Remarks { unsplit: 1, ..Remarks::NONE };
    pub(super) const CUT: Remarks = Remarks { cut: 1, ..Remarks::NONE };
    pub const LIMITED: Remarks = Remarks { limited: 1, ..Remarks::NONE };

    /// Both, with numbers of queries joined by `join`.
    fn with(self, other: Remarks, join: impl Fn(u64, u64) -> u64) -> Remarks {
        let short = |one: TooShort, other: TooShort| TooShort {
            queries: join(one.queries, other.queries),
            ..one.range(other)
        };
        Remarks {
            whole: join(self.whole, other.whole),
            unsplit: join(self.unsplit, other.unsplit),
            cut: join(self.cut, other.cut),
            limited: join(self.limited, other.limited),
            too_short: short(self.too_short, other.too_short),
            too_unlikely: short(self.too_unlikely, other.too_unlikely),
            by_evalue: join(self.by_evalue, other.by_evalue),
            masked_hits: join(self.masked_hits, other.masked_hits),
            uncovered: join(self.uncovered, other.uncovered),
        }
    }

    /// The remarks on one query, of which it may have each twice.
    fn joined_with(self, other: Remarks) -> Remarks {
        self.with(other, u64::max)
    }
}

impl std::ops::AddAssign for Remarks {
    fn add_assign(&mut self, other: Remarks) {
        *self = self.with(other, |one, other| one + other);
    }
}

impl Effort {
    /// What is to be said of all records. What was said of one twice, as of one that was searched again in full, counts once.
    pub fn remarks(&self) -> Remarks {
        let mut said = self.said.clone();
        join(&mut said);
        let mut all = Remarks::default();
        said.into_iter().for_each(|(_, remarks)| all += remarks);
        all
    }

    /// Says which records have hits on more targets than are reported.
    pub fn say_limited(&mut self, are_limited: &[bool]) {
        let limited = (0..).zip(are_limited).filter(|(_, is_limited)| **is_limited);
        self.said.extend(limited.map(|(record, _)| (record, Remarks::LIMITED)));
    }

    /// Says how many hits of each record masking leaves out.
    pub fn say_masked(&mut self, hits: impl IntoIterator<Item = u64>) {
        let masked = (0..).zip(hits).filter(|(_, hits)| *hits > 0);
        self.said.extend(
            masked.map(|(record, masked_hits)| (record, Remarks { masked_hits, ..Remarks::default() })),
        );
    }

    /// Says which records have hits that cover too little of the query.
    pub fn say_uncovered(&mut self, are_uncovered: impl IntoIterator<Item = bool>) {
        let uncovered = (0..).zip(are_uncovered).filter(|(_, is_uncovered)| *is_uncovered);
        self.said
            .extend(uncovered.map(|(record, _)| (record, Remarks { uncovered: 1, ..Remarks::default() })));
    }

    /// Takes the remarks on records, joined so that each record has one entry.
    pub fn take_said(&mut self) -> Vec<(u32, Remarks)> {
        let mut said = std::mem::take(&mut self.said);
        join(&mut said);
        said
    }

    /// Adds what other records took, of which nothing is to be said.
    pub fn add(&mut self, others: Effort) {
        self.searched += others.searched;
        self.cells += others.cells;
        self.filtering += others.filtering;
        self.scoring += others.scoring;
        self.backtrace += others.backtrace;
    }

    /// Adds what parts of records took, of which these are the records. What is said of several parts counts once.
    pub fn add_parts(&mut self, mut parts: Effort, record: impl Fn(u32) -> u32) {
        let said = std::mem::take(&mut parts.said);
        self.add(parts);
        self.said.extend(said.into_iter().map(|(part, remarks)| (record(part), remarks)));
        join(&mut self.said);
    }
}

/// Puts what is said in the order of its records, each of which stays once.
fn join(said: &mut Vec<(u32, Remarks)>) {
    said.sort_unstable_by_key(|&(record, _)| record);
    said.dedup_by(|(record, remarks), (kept, all)| {
        let is_same = record == kept;
        if is_same {
            *all = all.joined_with(*remarks);
        }
        is_same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_possible_scores_have_a_range() {
        let short = |score, evalue| Remarks { too_short: TooShort::of(score, evalue), ..Remarks::default() };
        let said = vec![(3, short(36, 2.0)), (1, short(22, 9.0)), (3, short(36, 2.0))];
        let all = Effort { said, ..Effort::default() }.remarks();
        assert_eq!(all.too_short, TooShort { queries: 2, scores: Some((22, 36)), evalue: 9.0 });
    }

    #[test]
    fn what_is_said_of_a_record_twice_counts_once() {
        let said = vec![(3, Remarks::CUT), (1, Remarks::CUT), (3, Remarks::WHOLE), (3, Remarks::CUT)];
        let effort = Effort { said, ..Effort::default() };
        assert_eq!(effort.remarks(), Remarks { whole: 1, cut: 2, ..Remarks::default() });
    }
}
