//! Rules of searches by profiles.

/// Default maximum E-value of a hit that a profile is made of, as in PSI-BLAST.
pub const INCLUSION: f64 = 0.002;

/// What queries are, and how often they are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationRules {
    /// Whether queries are profiles. If not, they are sequences.
    pub are_profiles: bool,
    /// Number of searches. Each one after the first has a profile made of the hits of the search before.
    pub rounds: u32,
    /// Maximum E-value of these hits.
    pub inclusion: f64,
}

impl IterationRules {
    /// Whether any search has a profile. Then sequences are proteins.
    pub fn has_profiles(self) -> bool {
        self.are_profiles || self.rounds > 1
    }
}

impl Default for IterationRules {
    fn default() -> IterationRules {
        IterationRules { are_profiles: false, rounds: 1, inclusion: INCLUSION }
    }
}
