//! Which hits of a query are reported, and in which order.

/// How many hits of a query are reported. A hit must be within all three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub max_hits: usize,
    /// Targets with a hit.
    pub max_targets: usize,
    /// Hits on one target.
    pub max_per_target: usize,
    /// Beyond the limits, hits that score as much as the last one are reported as well.
    pub keeps_ties: bool,
    /// Minimum identity of a hit, in percent.
    pub identity: f64,
    /// Minimum percentage of the query that a hit aligns.
    pub coverage: f64,
}

impl Limits {
    /// Default of the minimum coverage, in percent, for hits that are ranked by identity. Of alignments that may be any
    /// part of the query, the shortest have the highest identities.
    pub const FLOOR_OF_IDENTITY: f64 = 80.0;

    /// A limit on the number of hits only.
    pub fn records(max_hits: usize) -> Limits {
        let (max_targets, max_per_target) = (usize::MAX, usize::MAX);
        Limits { max_hits, max_targets, max_per_target, keeps_ties: false, identity: 0.0, coverage: 0.0 }
    }

    /// Those by which a part of the references has all hits that these let in of all references. Where targets are counted,
    /// hits on those that are none of the whole's may not take the room of others (docs/algorithm.md, section 6).
    pub fn of_ref_part(self) -> Limits {
        let counts_targets = self.max_targets < usize::MAX || self.max_per_target < usize::MAX;
        Limits { max_hits: if counts_targets { usize::MAX } else { self.max_hits }, ..self }
    }
}

/// Which of a read's equal best hits is reported first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// The one on the forward strand, then on the first reference, then at the first position.
    #[default]
    First,
    /// The one that a hash of the read's name chooses.
    Hash,
}

/// Where alignments to read are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// In columns.
    pub width: usize,
    pub colour: bool,
}

/// No terminal.
impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { width: 80, colour: false }
    }
}

/// What decides the order of a query's hits. Equal ones keep the order of their scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// The E-value of the score, as in BLAST, the lowest first.
    Score,
    /// The score itself, the highest first.
    #[default]
    Raw,
    /// The E-value corrected for the target's length, the lowest first.
    Evalue,
    Identity,
}

/// What is masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    #[default]
    None,
    /// Low-complexity stretches of queries and targets, softly: a hit must score enough without them, and is reported whole.
    Low,
    /// Low-complexity stretches of queries, which score as N, or X of proteins.
    Hard,
}

/// The five usual definitions of identity, numbered as vsearch has them (`--iddef`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentityDefinition {
    /// 0, CD-HIT's: relative to the length of the shorter sequence.
    Shorter,
    /// 1: of all columns of the alignment, gaps at its ends as well.
    Columns,
    /// 2: of all columns but, of a global alignment, gaps at its ends; BLAST's of a local alignment.
    #[default]
    Inner,
    /// 3, the Marine Biological Laboratory's: without mismatches and gaps, each gap counting once, of the longer sequence.
    Longer,
    /// 4: as 1.
    Blast,
}

impl IdentityDefinition {
    /// The definition of a number.
    pub fn numbered(number: u8) -> Option<IdentityDefinition> {
        use IdentityDefinition::{Blast, Columns, Inner, Longer, Shorter};
        [Shorter, Columns, Inner, Longer, Blast].get(usize::from(number)).copied()
    }
}
