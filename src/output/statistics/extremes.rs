//! Drawings of the best and the worst alignments.

use super::paths::equality;
use crate::terms::alignment::{Alignment, ColumnCounts, ColumnOp, Strand};
use crate::terms::alphabet::Alphabet;
use std::cmp::Ordering;
use std::ops::AddAssign;

/// Alignments of each kind.
const KEPT: usize = 5;
/// Number of columns drawn, from the start of an alignment.
const COLUMNS: usize = 600;
/// Characters of a query's name that are kept.
const NAME: usize = 200;

/// The worst and the best primary alignments by identity. If identities are equal, earlier queries win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extremes {
    /// The worst alignment first.
    pub worst: Vec<Extreme>,
    /// The best alignment first.
    pub best: Vec<Extreme>,
}

/// An alignment of [`Extremes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extreme {
    pub matches: u64,
    pub columns: u64,
    /// 0-based index of the query in the run.
    pub place: u64,
    pub drawing: Drawing,
}

/// An alignment as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    pub name: String,
    /// Index of its target in the run.
    pub target: u32,
    pub strand: Strand,
    pub score: i32,
    /// Length of the query, and the interval of the alignment in the query as it was read (0-based, half-open).
    pub query_letters: u64,
    pub query: (u64, u64),
    pub reference: (u64, u64),
    /// The residues of each side in the reference's orientation, with `-` in gaps; only the first columns.
    pub query_row: String,
    pub reference_row: String,
    /// `|` between equal residues, `.` between others.
    pub marks: String,
}

impl Extremes {
    /// Keeps an alignment if it is one of the worst or the best.
    pub fn add(&mut self, counts: &ColumnCounts, place: u64, draw: impl Fn() -> Drawing) {
        let (matches, columns) = (counts.matches, counts.columns());
        let belongs = |kept: &[Extreme], order: ExtremeOrder| {
            kept.len() < KEPT
                || kept.last().is_some_and(|last| order((matches, columns, place), last.key()).is_lt())
        };
        for (kept, order) in self.both() {
            if belongs(kept, order) {
                insert(kept, order, Extreme { matches, columns, place, drawing: draw() });
            }
        }
    }

    fn both(&mut self) -> [(&mut Vec<Extreme>, ExtremeOrder); 2] {
        [(&mut self.worst, worse), (&mut self.best, better)]
    }
}

impl AddAssign for Extremes {
    fn add_assign(&mut self, other: Extremes) {
        for ((kept, order), more) in self.both().into_iter().zip([other.worst, other.best]) {
            more.into_iter().for_each(|extreme| insert(kept, order, extreme));
        }
    }
}

impl Extreme {
    fn key(&self) -> ExtremeKey {
        (self.matches, self.columns, self.place)
    }
}

/// Matches, columns and index of the query.
type ExtremeKey = (u64, u64, u64);
type ExtremeOrder = fn(ExtremeKey, ExtremeKey) -> Ordering;

fn worse(one: ExtremeKey, other: ExtremeKey) -> Ordering {
    by_identity(one, other).then(one.2.cmp(&other.2))
}

fn better(one: ExtremeKey, other: ExtremeKey) -> Ordering {
    by_identity(other, one).then(one.2.cmp(&other.2))
}

fn by_identity(one: ExtremeKey, other: ExtremeKey) -> Ordering {
    (u128::from(one.0) * u128::from(other.1)).cmp(&(u128::from(other.0) * u128::from(one.1)))
}

fn insert(kept: &mut Vec<Extreme>, order: ExtremeOrder, extreme: Extreme) {
    let at = kept.partition_point(|other| order(other.key(), extreme.key()).is_lt());
    kept.insert(at, extreme);
    kept.truncate(KEPT);
}

impl Drawing {
    /// Draws an alignment. `letters` is the query in the aligned orientation, `target` has codes.
    pub fn of(
        alphabet: Alphabet,
        (name, letters): (&str, &[u8]),
        target: &[u8],
        alignment: &Alignment,
    ) -> Drawing {
        let len = letters.len() as u64;
        let (start, end) = (u64::from(alignment.query_start), u64::from(alignment.query_end));
        let query = match alignment.strand {
            Strand::Reverse => (len - end, len - start),
            _ => (start, end),
        };
        let mut drawing = Drawing {
            name: name.chars().take(NAME).collect(),
            target: alignment.target,
            strand: alignment.strand,
            score: alignment.score,
            query_letters: len,
            query,
            reference: (u64::from(alignment.target_start), u64::from(alignment.target_end)),
            query_row: String::new(),
            reference_row: String::new(),
            marks: String::new(),
        };
        let mut columns = Vec::new();
        let sides = (letters, alignment.aligned_residues(target));
        alignment.for_each_piece(sides, equality(alphabet), |piece| {
            columns.extend(piece.shown(alphabet, letters))
        });
        for column in &columns[..columns.len().min(COLUMNS)] {
            drawing.query_row.push(char::from(column.query));
            drawing.marks.push(match column.op {
                ColumnOp::Equal => '|',
                ColumnOp::Unequal => '.',
                ColumnOp::Insertion | ColumnOp::Deletion => ' ',
            });
            drawing.reference_row.push(char::from(column.target));
        }
        drawing
    }
}
