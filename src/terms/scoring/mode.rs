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

/// Which sequences may have residues outside an alignment on one side, at no cost.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeEnds {
    pub query: bool,
    pub target: bool,
}

/// Properties that engines and searches use. All follow from the free ends before and after an alignment.
#[doc(hidden)]
impl AlignmentMode {
    /// Which sequences may have residues before an alignment. In modes other than local, at most one has any.
    pub fn free_starts(self) -> FreeEnds {
        match self {
            AlignmentMode::Local | AlignmentMode::Overlap => FreeEnds { query: true, target: true },
            AlignmentMode::Glocal => FreeEnds { query: false, target: true },
            AlignmentMode::Global => FreeEnds { query: false, target: false },
        }
    }

    /// Which sequences may have residues after an alignment. In modes other than local, at most one has any.
    pub fn free_ends(self) -> FreeEnds {
        self.free_starts()
    }

    /// Whether every alignment begins at the start of both sequences.
    pub fn begins_in_corner(self) -> bool {
        self.free_starts() == FreeEnds { query: false, target: false }
    }

    /// Whether an alignment may begin inside the query, if it begins at the start of the target. The cells before the
    /// first column of a window then depend on whether the target begins there.
    pub fn begins_at_either_start(self) -> bool {
        !self.is_local() && self.free_starts().query
    }

    /// Whether an alignment may end inside the query, if it ends at the end of the target.
    pub fn ends_at_either_end(self) -> bool {
        !self.is_local() && self.free_ends().query
    }

    /// Whether gaps alone are no alignment, although they may have the best score.
    pub fn needs_aligned_residues(self) -> bool {
        self.begins_at_either_start() || self.ends_at_either_end()
    }

    /// Whether a part of a target may have other alignments than the whole. If so, targets are never cut, and have at
    /// most one alignment with a query.
    pub fn needs_whole_targets(self) -> bool {
        let is_held = !self.free_starts().target || !self.free_ends().target;
        is_held || self.needs_aligned_residues()
    }

    /// Whether alignments cover the whole query.
    pub fn takes_whole_queries(self) -> bool {
        !self.free_starts().query && !self.free_ends().query
    }

    /// Whether alignments cover the whole target.
    pub fn takes_whole_targets(self) -> bool {
        !self.free_starts().target && !self.free_ends().target
    }

    /// Whether an alignment may begin after `query` query residues and `target` target residues.
    pub fn may_begin(self, query: usize, target: usize) -> bool {
        self.may_leave_out(self.free_starts(), query, target)
    }

    /// Whether an alignment may end before the last `query` query residues and `target` target residues.
    pub fn may_end(self, query: usize, target: usize) -> bool {
        self.may_leave_out(self.free_ends(), query, target)
    }

    fn may_leave_out(self, free: FreeEnds, query: usize, target: usize) -> bool {
        let is_one = query == 0 || target == 0;
        (query == 0 || free.query) && (target == 0 || free.target) && (self.is_local() || is_one)
    }
}

impl fmt::Display for AlignmentMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = AlignmentMode::ALL.iter().find(|(mode, _)| mode == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}
