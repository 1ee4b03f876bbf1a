//! Cost of finding hits, and remarks about the queries.

use std::time::Duration;

/// Work done and time spent on it.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Queries whose hits were searched.
    pub searched: u64,
    /// Cells of the recurrence that were scored.
    pub cells: u64,
    /// Time spent on finding the regions to score.
    pub filtering: Duration,
    /// Time spent in scoring calls.
    pub scoring: Duration,
    /// Time spent on filling direction matrices and on traceback.
    pub backtrace: Duration,
    /// Remarks about records.
    pub said: Vec<(u32, QueryRemarks)>,
    /// Records for which the order of the strands chose among hits, or may have.
    pub tied: Vec<u32>,
}

/// Remarks about queries: number of queries per remark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryRemarks {
    /// Searched in full because no filter helped.
    pub whole: u64,
    /// With free intervals that were not searched for supplementary hits because of the cost.
    pub unsplit: u64,
    /// With a further known hit that is not reported because its score is too low compared to the best hit.
    pub cut: u64,
    /// With known or possible hits on more targets than are reported.
    pub limited: u64,
    /// Too short to reach the minimum score.
    pub too_short: TooShort,
    /// Too short to reach the maximum E-value.
    pub too_unlikely: TooShort,
    /// So short that only E-values decide.
    pub by_evalue: u64,
    /// Number of hits (not queries) that masking removes.
    pub masked_hits: u64,
    /// With hits that cover too little of the query to be ranked by identity.
    pub uncovered: u64,
}

/// Queries whose perfect alignment would not count.
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

    /// Combines score ranges and E-values of both, but not the numbers of queries.
    fn range(self, other: TooShort) -> TooShort {
        let scores = [self.scores, other.scores].into_iter().flatten();
        let scores = scores.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        TooShort { queries: 0, scores, evalue: self.evalue.max(other.evalue) }
    }
}

impl QueryRemarks {
    const NONE: QueryRemarks = QueryRemarks {
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
    pub(super) const WHOLE: QueryRemarks = QueryRemarks { whole: 1, ..QueryRemarks::NONE };
    pub const UNSPLIT: QueryRemarks = QueryRemarks { unsplit: 1, ..QueryRemarks::NONE };
    pub(super) const CUT: QueryRemarks = QueryRemarks { cut: 1, ..QueryRemarks::NONE };
    pub const LIMITED: QueryRemarks = QueryRemarks { limited: 1, ..QueryRemarks::NONE };

    /// Combines both, and the numbers of queries with `join`.
    fn with(self, other: QueryRemarks, join: impl Fn(u64, u64) -> u64) -> QueryRemarks {
        let short = |one: TooShort, other: TooShort| TooShort {
            queries: join(one.queries, other.queries),
            ..one.range(other)
        };
        QueryRemarks {
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

    /// Combines the remarks on one query, which may contain each remark twice.
    fn joined_with(self, other: QueryRemarks) -> QueryRemarks {
        self.with(other, u64::max)
    }
}

impl std::ops::AddAssign for QueryRemarks {
    fn add_assign(&mut self, other: QueryRemarks) {
        *self = self.with(other, |one, other| one + other);
    }
}

impl Effort {
    /// Total of the remarks on all records. A remark that was made twice on one record counts once, for example if the
    /// record was searched again in full.
    pub fn remarks(&self) -> QueryRemarks {
        let mut said = self.said.clone();
        join(&mut said);
        let mut all = QueryRemarks::default();
        said.into_iter().for_each(|(_, remarks)| all += remarks);
        all
    }

    /// Notes the records that have hits on more targets than are reported.
    pub fn say_limited(&mut self, are_limited: &[bool]) {
        let limited = (0..).zip(are_limited).filter(|(_, is_limited)| **is_limited);
        self.said.extend(limited.map(|(record, _)| (record, QueryRemarks::LIMITED)));
    }

    /// Notes how many hits of each record masking removes.
    pub fn say_masked(&mut self, hits: impl IntoIterator<Item = u64>) {
        let masked = (0..).zip(hits).filter(|(_, hits)| *hits > 0);
        self.said.extend(
            masked.map(|(record, masked_hits)| {
                (record, QueryRemarks { masked_hits, ..QueryRemarks::default() })
            }),
        );
    }

    /// Notes the records with hits that cover too little of the query.
    pub fn say_uncovered(&mut self, are_uncovered: impl IntoIterator<Item = bool>) {
        let uncovered = (0..).zip(are_uncovered).filter(|(_, is_uncovered)| *is_uncovered);
        self.said.extend(
            uncovered.map(|(record, _)| (record, QueryRemarks { uncovered: 1, ..QueryRemarks::default() })),
        );
    }

    /// Takes the remarks on records, joined so that each record has one entry.
    pub fn take_said(&mut self) -> Vec<(u32, QueryRemarks)> {
        let mut said = std::mem::take(&mut self.said);
        join(&mut said);
        said
    }

    /// Adds the cost of other records, without their remarks.
    pub fn add(&mut self, others: Effort) {
        self.searched += others.searched;
        self.cells += others.cells;
        self.filtering += others.filtering;
        self.scoring += others.scoring;
        self.backtrace += others.backtrace;
    }

    /// Adds the cost of parts of records; `record` maps a part to its record. A remark on several parts of a record
    /// counts once.
    pub fn add_parts(&mut self, mut parts: Effort, record: impl Fn(u32) -> u32) {
        let said = std::mem::take(&mut parts.said);
        self.add(parts);
        self.said.extend(said.into_iter().map(|(part, remarks)| (record(part), remarks)));
        join(&mut self.said);
    }
}

/// Sorts remarks by record and merges the remarks on the same record.
fn join(said: &mut Vec<(u32, QueryRemarks)>) {
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
        let short = |score, evalue| QueryRemarks {
            too_short: TooShort::of(score, evalue),
            ..QueryRemarks::default()
        };
        let said = vec![(3, short(36, 2.0)), (1, short(22, 9.0)), (3, short(36, 2.0))];
        let all = Effort { said, ..Effort::default() }.remarks();
        assert_eq!(all.too_short, TooShort { queries: 2, scores: Some((22, 36)), evalue: 9.0 });
    }

    #[test]
    fn what_is_said_of_a_record_twice_counts_once() {
        let said = vec![
            (3, QueryRemarks::CUT),
            (1, QueryRemarks::CUT),
            (3, QueryRemarks::WHOLE),
            (3, QueryRemarks::CUT),
        ];
        let effort = Effort { said, ..Effort::default() };
        assert_eq!(effort.remarks(), QueryRemarks { whole: 1, cut: 2, ..QueryRemarks::default() });
    }
}
