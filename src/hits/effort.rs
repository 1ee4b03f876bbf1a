//! What finding hits takes, and what is to be said of it.

use std::time::Duration;

/// Work done and time spent on it.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Cells of the recurrence that were scored.
    pub cells: u64,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Searched in full since no filter helped.
    pub whole: u64,
    /// With free intervals that were not searched for supplementary hits, since that would have cost too much.
    pub unsplit: u64,
    /// With a further hit, known and not reported, that scores too little beside their best.
    pub cut: u64,
}

impl Remarks {
    pub(super) const WHOLE: Remarks = Remarks { whole: 1, unsplit: 0, cut: 0 };
    pub const UNSPLIT: Remarks = Remarks { whole: 0, unsplit: 1, cut: 0 };
    pub(super) const CUT: Remarks = Remarks { whole: 0, unsplit: 0, cut: 1 };

    /// What is to be said of one query of which both are said.
    fn joined_with(self, other: Remarks) -> Remarks {
        Remarks {
            whole: self.whole.max(other.whole),
            unsplit: self.unsplit.max(other.unsplit),
            cut: self.cut.max(other.cut),
        }
    }
}

impl std::ops::AddAssign for Remarks {
    fn add_assign(&mut self, other: Remarks) {
        self.whole += other.whole;
        self.unsplit += other.unsplit;
        self.cut += other.cut;
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

    /// Adds what other records took, of which nothing is to be said.
    pub fn add(&mut self, others: Effort) {
        self.cells += others.cells;
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
    fn what_is_said_of_a_record_twice_counts_once() {
        let said = vec![(3, Remarks::CUT), (1, Remarks::CUT), (3, Remarks::WHOLE), (3, Remarks::CUT)];
        let effort = Effort { said, ..Effort::default() };
        assert_eq!(effort.remarks(), Remarks { whole: 1, unsplit: 0, cut: 2 });
    }
}
