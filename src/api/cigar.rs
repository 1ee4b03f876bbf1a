//! The path of a hit or a match.

use crate::terms::alignment::ColumnOp;
use crate::terms::error::{Error, Result};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;

/// One kind of step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// A residue of each, equal or not: `M`, in basic paths.
    Match,
    /// A residue of only the query or the pattern: `I`.
    Insertion,
    /// A residue of only the target or the text: `D`.
    Deletion,
    /// A residue of each, which match: `=`, in extended paths.
    Equal,
    /// A residue of each, which do not match: `X`, in extended paths.
    Replaced,
}

impl Op {
    const ALL: [Op; 5] = [Op::Match, Op::Insertion, Op::Deletion, Op::Equal, Op::Replaced];

    /// Its character in SAM.
    pub fn letter(self) -> char {
        match self {
            Op::Match => 'M',
            Op::Insertion => 'I',
            Op::Deletion => 'D',
            Op::Equal => '=',
            Op::Replaced => 'X',
        }
    }
}

/// A path: runs of steps in the order of the target or the text, without clips. It is shown as in SAM: `10M2D12M`.
///
/// A path has one of two dialects. A *basic* path has `M` for matches and mismatches. An *extended* path has `=` for
/// matches and `X` for mismatches. [`Hit`](crate::Hit) and [`Match`](crate::Match) have both, as `cigar_basic` and
/// `cigar_extended`.
///
/// ```
/// use swalign::Cigar;
///
/// let path: Cigar = "2=1I4=1X".parse()?;
/// assert_eq!(path.to_basic().to_string(), "2M1I5M");
/// assert!("2=0I".parse::<Cigar>().is_err());
/// # Ok::<(), swalign::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cigar(SmallVec<[(u32, Op); 7]>);

impl Cigar {
    /// Lengths and steps: no length is 0, and no two neighbors are of one kind.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (u32, Op)> + '_ {
        self.0.iter().copied()
    }

    /// The path in the basic dialect: `M` instead of `=` and `X`.
    pub fn to_basic(&self) -> Cigar {
        let mut basic = Cigar::default();
        for (len, op) in self.runs() {
            match op {
                Op::Match | Op::Equal | Op::Replaced => basic.push(len, Op::Match),
                Op::Insertion | Op::Deletion => basic.push(len, op),
            }
        }
        basic
    }

    /// Appends `len` steps. The path has at most as many steps as two sequences have residues.
    pub(super) fn push(&mut self, len: u32, op: Op) {
        let _ = self.try_push(len, op);
    }

    /// Appends `len` steps; `None` if that makes a run too long.
    fn try_push(&mut self, len: u32, op: Op) -> Option<()> {
        match self.0.last_mut() {
            _ if len == 0 => {}
            Some((last, same)) if *same == op => *last = last.checked_add(len)?,
            _ => self.0.push((len, op)),
        }
        Some(())
    }

    pub(super) fn of_search(runs: &[(u32, ColumnOp)]) -> Cigar {
        Cigar(runs.iter().map(|&(len, op)| (len, op.into())).collect())
    }
}

impl From<ColumnOp> for Op {
    fn from(op: ColumnOp) -> Op {
        match op {
            ColumnOp::Equal => Op::Equal,
            ColumnOp::Unequal => Op::Replaced,
            ColumnOp::Insertion => Op::Insertion,
            ColumnOp::Deletion => Op::Deletion,
        }
    }
}

impl FromStr for Cigar {
    type Err = Error;

    /// Reads a path of M, I, D, = and X. Adjacent runs of one kind are joined.
    fn from_str(text: &str) -> Result<Cigar> {
        let refused =
            || Error::Usage(format!("'{}' is not a CIGAR of M, I, D, = and X", text.escape_debug()));
        let (mut path, mut len) = (Cigar::default(), None::<u32>);
        for letter in text.chars() {
            if let Some(digit) = letter.to_digit(10) {
                let longer = len.unwrap_or(0).checked_mul(10).and_then(|len| len.checked_add(digit));
                len = Some(longer.ok_or_else(refused)?);
                continue;
            }
            let op = Op::ALL.into_iter().find(|op| op.letter() == letter).ok_or_else(refused)?;
            path.try_push(len.take().filter(|&len| len > 0).ok_or_else(refused)?, op).ok_or_else(refused)?;
        }
        if len.is_some() { Err(refused()) } else { Ok(path) }
    }
}

impl fmt::Display for Cigar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&(len, op)| write!(f, "{len}{}", op.letter()))
    }
}
