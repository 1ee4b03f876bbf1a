//! Which ends of two sequences an alignment may leave out.

use std::fmt;

/// Which ends of the query and of the target an alignment may leave out at no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlignmentMode {
    /// All four: the best alignment of any part of the query with any part of the target (Smith and Waterman 1981). Its
    /// score is above 0.
    #[default]
    Local,
    /// Those of the target: the whole query with any part of the target (semi-global or fitting alignment).
    Glocal,
    /// None: the whole query with the whole target (Needleman and Wunsch 1970).
    Global,
    /// One end of either sequence on each side: the end of one sequence overlaps the beginning of the other, or one
    /// sequence contains the other. At least one residue is aligned with a residue.
    Overlap,
}

impl AlignmentMode {
    /// All modes, with their names.
    pub const ALL: [(AlignmentMode, &'static str); 4] = [
        (AlignmentMode::Local, "local"),
        (AlignmentMode::Glocal, "glocal"),
        (AlignmentMode::Global, "global"),
        (AlignmentMode::Overlap, "overlap"),
    ];

    /// Whether all ends are free.
    pub fn is_local(self) -> bool {
        self == AlignmentMode::Local
    }
}

/// Properties that engines and searches use.
#[doc(hidden)]
impl AlignmentMode {
    /// Whether a part of a target may have other alignments than the whole. If so, targets are never cut, and have at
    /// most one alignment with a query.
    pub fn needs_whole_targets(self) -> bool {
        matches!(self, AlignmentMode::Global | AlignmentMode::Overlap)
    }

    /// Whether alignments cover the whole query.
    pub fn takes_whole_queries(self) -> bool {
        matches!(self, AlignmentMode::Glocal | AlignmentMode::Global)
    }

    /// Whether an alignment may begin after `query` query residues and `target` target residues.
    pub fn may_begin(self, query: usize, target: usize) -> bool {
        match self {
            AlignmentMode::Local => true,
            AlignmentMode::Glocal => query == 0,
            AlignmentMode::Global => query == 0 && target == 0,
            AlignmentMode::Overlap => query == 0 || target == 0,
        }
    }

    /// Whether an alignment may end before the last `query` query residues and `target` target residues.
    pub fn may_end(self, query: usize, target: usize) -> bool {
        self.may_begin(query, target)
    }
}

impl fmt::Display for AlignmentMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = AlignmentMode::ALL.iter().find(|(mode, _)| mode == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}
