//! Which hits of a query are reported, and in which order.

use super::Column;

/// Limits on the reported hits of a query. A hit must meet all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitLimits {
    pub max_hits: usize,
    /// Maximum number of targets with a hit.
    pub max_targets: usize,
    /// Maximum number of hits on one target.
    pub max_per_target: usize,
    /// Number of consecutive targets that are the frames of one sequence, which counts as one target.
    pub frames: u32,
    /// Whether to report hits beyond the limits that score the same as the last hit.
    pub keeps_ties: bool,
    /// Minimum identity of a hit, in percent.
    pub identity: f64,
    /// Minimum percentage of the query that a hit aligns.
    pub coverage: f64,
}

/// Which hits are reported, in which order, and what a list shows of them.
#[derive(Clone, Debug, Default)]
pub struct RankedOptions {
    /// Maximum E-value of a hit; `None` sets no limit.
    pub evalue: Option<f64>,
    pub limits: HitLimits,
    pub tie_rule: TieRule,
    pub rank: Rank,
    /// Columns of the table.
    pub columns: Vec<Column>,
    /// Whether the table begins with comments that name its columns.
    pub table_header: bool,
    /// Stretches that are masked.
    pub mask: Mask,
    /// How identities are computed.
    pub identity: IdentityDefinition,
    /// Layout of alignments as text.
    pub page: PageOptions,
}

impl Default for HitLimits {
    fn default() -> HitLimits {
        HitLimits::records(1)
    }
}

impl HitLimits {
    /// Default of the minimum coverage, in percent, for hits that are ranked by identity. If alignments may cover any
    /// part of the query, the shortest alignments have the highest identities.
    pub const FLOOR_OF_IDENTITY: f64 = 80.0;

    /// Limits only the number of hits.
    pub fn records(max_hits: usize) -> HitLimits {
        let (max_targets, max_per_target) = (usize::MAX, usize::MAX);
        HitLimits {
            max_hits,
            max_targets,
            max_per_target,
            frames: 1,
            keeps_ties: false,
            identity: 0.0,
            coverage: 0.0,
        }
    }

    /// The limits for a part of the references, which keep all hits that these limits keep for all references. If
    /// targets are counted, the part has no limit on hits: targets that are not among the reported ones of the whole
    /// run must not displace others (docs/algorithm.md, section 6).
    pub fn of_ref_part(self) -> HitLimits {
        let counts_targets = self.max_targets < usize::MAX || self.max_per_target < usize::MAX;
        HitLimits { max_hits: if counts_targets { usize::MAX } else { self.max_hits }, ..self }
    }
}

/// Which of a read's best hits of equal score is reported first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// The hit on the forward strand, then on the first reference, then at the first position.
    #[default]
    First,
    /// The hit that a hash of the read's name selects.
    Hash,
}

/// Layout of alignments as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// Width in columns.
    pub width: usize,
    pub colour: bool,
}

/// The layout for an output that is not a terminal.
impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { width: 80, colour: false }
    }
}

/// The sort key of a query's hits. Hits with equal keys keep the order of their scores.
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

/// Stretches that are masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    #[default]
    None,
    /// Low-complexity stretches of queries and targets, softly: a hit must score enough without them, but is reported
    /// whole.
    Low,
    /// Low-complexity stretches of queries, which score as N, or X in proteins.
    Hard,
}

/// The five usual definitions of identity, numbered as in vsearch (`--iddef`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentityDefinition {
    /// 0, CD-HIT's: relative to the length of the shorter sequence.
    Shorter,
    /// 1: relative to all columns of the alignment, including gaps at its ends.
    Columns,
    /// 2: relative to all columns except, in a global alignment, gaps at its ends; BLAST's for a local alignment.
    #[default]
    Inner,
    /// 3, the Marine Biological Laboratory's: 1 - (mismatches + gaps) / (length of the longer sequence). Each gap
    /// counts once.
    Longer,
    /// 4: the same as 1.
    Blast,
}

impl IdentityDefinition {
    /// The definition with this number.
    pub fn numbered(number: u8) -> Option<IdentityDefinition> {
        use IdentityDefinition::{Blast, Columns, Inner, Longer, Shorter};
        [Shorter, Columns, Inner, Longer, Blast].get(usize::from(number)).copied()
    }
}
