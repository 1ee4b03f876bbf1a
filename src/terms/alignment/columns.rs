//! The path of an alignment beside its residues: its runs, the kinds of its columns, and their numbers.
//!
//! [`Alignment::for_each_piece`] is the only walk over columns. CIGAR, NM, MD, cs, identities, lists, drawings and
//! statistics are made from its pieces.

use super::{Alignment, PathOp};
use crate::terms::alphabet::{Alphabet, complement};
use std::ops::{AddAssign, Range};

/// A gap in aligned residues.
pub const GAP: u8 = b'-';

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnOp {
    /// A residue of each, and they match.
    Equal,
    /// A residue of each, and they do not match.
    Unequal,
    /// A residue of the query or pattern alone.
    Insertion,
    /// A residue of the target or text alone.
    Deletion,
}

/// A run of a path, with the intervals of the query and of the target that it consumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRun {
    pub op: PathOp,
    pub len: u32,
    pub query: Range<usize>,
    pub target: Range<usize>,
}

/// A run of equal columns, one unequal column, or a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPiece<'a> {
    pub op: ColumnOp,
    /// Position of its first residue in the query.
    pub at: usize,
    /// The residues of each side; empty in a gap.
    pub query: &'a [u8],
    pub target: &'a [u8],
}

/// Numbers of columns by their kind, and of gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnCounts {
    pub matches: u64,
    pub mismatches: u64,
    /// Number of insertions, and of inserted query residues.
    pub insertions: u64,
    pub inserted: u64,
    /// Number of deletions, and of deleted target residues.
    pub deletions: u64,
    pub deleted: u64,
}

/// A column as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnShown {
    /// Residues, or [`GAP`].
    pub query: u8,
    pub target: u8,
    pub op: ColumnOp,
    /// Whether its residues differ and have a positive score.
    pub is_positive: bool,
}

impl PathOp {
    /// Numbers of query and target residues in a run of `len` steps.
    #[inline]
    pub fn consumed(self, len: u32) -> (u32, u32) {
        match self {
            PathOp::Match => (len, len),
            PathOp::Insertion => (len, 0),
            PathOp::Deletion => (0, len),
        }
    }
}

impl ColumnOp {
    /// The operation's character in a CIGAR.
    pub fn letter(self) -> u8 {
        b"=XID"[self as usize]
    }
}

/// A CIGAR of runs.
pub fn cigar_text(runs: impl IntoIterator<Item = (u32, ColumnOp)>) -> String {
    runs.into_iter().map(|(len, op)| format!("{len}{}", char::from(op.letter()))).collect()
}

impl Alignment {
    /// The runs of its path. Intervals are those of the whole query in the aligned orientation and of the whole target.
    #[inline]
    pub fn runs(&self) -> impl Iterator<Item = PathRun> + '_ {
        let (mut i, mut j) = (self.query_start as usize, self.target_start as usize);
        self.cigar.iter().map(move |&(len, op)| {
            let (rows, columns) = op.consumed(len);
            let (first_row, first_column) = (i, j);
            (i, j) = (i + rows as usize, j + columns as usize);
            PathRun { op, len, query: first_row..i, target: first_column..j }
        })
    }

    /// Calls `take` with the pieces of the alignment in the order of the target. `query` is the whole query in the
    /// aligned orientation, `aligned` has the aligned residues of the target, and `equal` compares a residue of each.
    #[inline]
    pub fn for_each_piece<'a>(
        &self,
        (query, aligned): (&'a [u8], &'a [u8]),
        equal: impl Fn(u8, u8) -> bool,
        mut take: impl FnMut(PathPiece<'a>),
    ) {
        let first = self.target_start as usize;
        for run in self.runs() {
            let target = &aligned[run.target.start - first..run.target.end - first];
            let (at, query) = (run.query.start, &query[run.query]);
            match run.op {
                PathOp::Insertion => take(PathPiece { op: ColumnOp::Insertion, at, query, target }),
                PathOp::Deletion => take(PathPiece { op: ColumnOp::Deletion, at, query, target }),
                PathOp::Match => {
                    let mut piece = |op, columns: Range<usize>| {
                        let (query, target) = (&query[columns.clone()], &target[columns.clone()]);
                        take(PathPiece { op, at: at + columns.start, query, target });
                    };
                    let mut passed = 0;
                    for (column, (&one, &other)) in query.iter().zip(target).enumerate() {
                        if !equal(one, other) {
                            if column > passed {
                                piece(ColumnOp::Equal, passed..column);
                            }
                            piece(ColumnOp::Unequal, column..column + 1);
                            passed = column + 1;
                        }
                    }
                    if query.len() > passed {
                        piece(ColumnOp::Equal, passed..query.len());
                    }
                }
            }
        }
    }
}

impl PathPiece<'_> {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.query.len().max(self.target.len())
    }

    /// Its columns as text. `letters` is the whole query, and the target has codes.
    pub fn shown(&self, alphabet: Alphabet, letters: &[u8]) -> impl Iterator<Item = ColumnShown> {
        let PathPiece { op, at, query, target } = *self;
        (0..self.columns()).map(move |column| ColumnShown {
            query: if query.is_empty() { GAP } else { letters[at + column] },
            target: target.get(column).map_or(GAP, |&code| alphabet.letters()[usize::from(code)]),
            op,
            is_positive: false,
        })
    }
}

impl ColumnShown {
    /// Complements both residues.
    pub fn complement(&mut self) {
        for letter in [&mut self.query, &mut self.target] {
            // The complement of a gap is a gap.
            *letter = complement(*letter);
        }
    }
}

impl ColumnCounts {
    /// Counts a piece.
    #[inline]
    pub fn add(&mut self, piece: &PathPiece) {
        let len = piece.columns() as u64;
        match piece.op {
            ColumnOp::Equal => self.matches += len,
            ColumnOp::Unequal => self.mismatches += len,
            ColumnOp::Insertion => {
                (self.insertions, self.inserted) = (self.insertions + 1, self.inserted + len)
            }
            ColumnOp::Deletion => (self.deletions, self.deleted) = (self.deletions + 1, self.deleted + len),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> u64 {
        self.matches + self.edits()
    }

    /// Number of columns that are not equal: NM.
    pub fn edits(&self) -> u64 {
        self.mismatches + self.gapped()
    }

    /// Number of columns with a gap.
    pub fn gapped(&self) -> u64 {
        self.inserted + self.deleted
    }

    /// Number of gaps.
    pub fn gaps(&self) -> u64 {
        self.insertions + self.deletions
    }
}

impl AddAssign for ColumnCounts {
    fn add_assign(&mut self, other: ColumnCounts) {
        self.matches += other.matches;
        self.mismatches += other.mismatches;
        self.insertions += other.insertions;
        self.inserted += other.inserted;
        self.deletions += other.deletions;
        self.deleted += other.deleted;
    }
}
