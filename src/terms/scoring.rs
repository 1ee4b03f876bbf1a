//! Scores of matches and mismatches, and penalties of gaps.
//!
//! A gap of length k costs `gap_open + k * gap_extend` (positive numbers): with gap_open 4 and
//! gap_extend 2, length 1 costs 6 and length 2 costs 8. With a second piece, it costs the lower of two such costs.

mod gaps;
mod mode;
mod positions;

pub(crate) use gaps::with_pieces;
pub use gaps::{FurtherPieces, GapPiece, Gaps, MOST_PIECES};
pub use mode::AlignmentMode;
#[doc(hidden)]
pub use positions::{PositionGaps, PositionScores};

use crate::terms::alignment::PathOp;
use crate::terms::alphabet::{Alphabet, CODES, SCORED, is_base, is_end, scored_code, without_end};
use crate::terms::casts::{const_u8, to_i8, to_i32, to_i64, to_u8};
use crate::terms::error::{Error, Place};
use std::fmt;
use std::sync::Arc;

/// The largest accepted penalty or match score: far above any in use, and small enough that no single step can overflow
/// an i32.
pub const MAX_PARAMETER: i32 = 1 << 20;
/// The largest match score or mismatch penalty of a table of scores.
pub const MOST_IN_TABLE: i32 = 127;
/// No score may exceed this, so that sums of a score and a few penalties stay inside an i32.
pub const MAX_SCORE: i64 = 1 << 29;

/// Substitution scores and gap costs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scoring {
    /// The alphabet of the sequences.
    pub alphabet: Alphabet,
    #[doc(hidden)]
    pub substitution: Substitution,
    /// Cost of opening a gap, in addition to the extension of its first residue. Not negative.
    pub gap_open: i32,
    /// Cost of each residue of a gap. At least 1.
    pub gap_extend: i32,
    /// Further pieces of the gap costs, each with a higher cost of opening and a lower cost of each residue than the piece
    /// before it. A gap costs the lowest of all pieces.
    pub further_gaps: FurtherPieces,
    /// Bonus of an alignment for each end of the query that it reaches. Not negative; 0 for proteins and in modes other
    /// than local. It decides which alignment is the best one, but it is not part of the reported score.
    pub end_bonus: i32,
    /// Which ends of the sequences are free.
    pub mode: AlignmentMode,
    /// Cost of a change of the frame inside a translated query: a base that is left out or read twice. `None` if paths stay in
    /// one frame. At least 1, and only in mode local with gap costs of one piece.
    #[doc(hidden)]
    pub frameshift: Option<i32>,
    /// Scores of the positions of the only query, in the place of the substitution scores of its residues. These are at least
    /// as high, so that they bound the score of an alignment. If the positions have gap costs, those of the scoring are at most
    /// as high.
    #[doc(hidden)]
    pub profile: Option<Arc<PositionScores>>,
}

/// How two residues score against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// `+match_` for two equal bases (A, C, G, T), `-mismatch` for two different bases, and a score of its own for a pair
    /// with an ambiguous code.
    Equal {
        match_: i32,
        mismatch: i32,
        ambiguous: Ambiguous,
    },
    Matrix(Box<Matrix>),
}

/// The score of a pair of DNA residues of which at least one is an ambiguous code, such as N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    /// Minus this penalty, whatever the codes, including N with N.
    Penalty(i32),
    /// That of a match if the codes have a base in common, that of a mismatch otherwise.
    Iupac,
}

/// Scores of DNA that a comparison of two codes decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedScores {
    pub match_: i32,
    pub mismatch: i32,
    pub ambiguous: i32,
}

/// A substitution matrix.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matrix {
    /// Name of the matrix.
    pub name: String,
    /// `scores[query code][target code]`; unused codes hold the lowest score.
    #[doc(hidden)]
    pub scores: [[i8; CODES]; CODES],
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix({})", self.name)
    }
}

/// A matrix that comes with the program.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    /// Cost of opening a gap, and of each of its residues, that BLAST uses with this matrix by default.
    gap_costs: (i32, i32),
}

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str, gap_costs: (i32, i32)) -> BuiltIn {
        BuiltIn { name, text, gap_costs }
    }
}

/// The built-in matrices: NCBI's classic 24-letter edition, and BLOSUM80 as in NCBI's toolkit, in half bits. The
/// classic BLOSUM80, in thirds of bits, is BLOSUM80_3; its gap costs are 3/2 of those of BLOSUM80, rounded up.
const MATRICES: [BuiltIn; 9] = [
    BuiltIn::new("BLOSUM45", include_str!("../../data/matrices/BLOSUM45"), (14, 2)),
    BuiltIn::new("BLOSUM50", include_str!("../../data/matrices/BLOSUM50"), (13, 2)),
    BuiltIn::new("BLOSUM62", include_str!("../../data/matrices/BLOSUM62"), (11, 1)),
    BuiltIn::new("BLOSUM80", include_str!("../../data/matrices/BLOSUM80"), (10, 1)),
    BuiltIn::new("BLOSUM80_3", include_str!("../../data/matrices/BLOSUM80_3"), (15, 2)),
    BuiltIn::new("BLOSUM90", include_str!("../../data/matrices/BLOSUM90"), (10, 1)),
    BuiltIn::new("PAM30", include_str!("../../data/matrices/PAM30"), (9, 1)),
    BuiltIn::new("PAM70", include_str!("../../data/matrices/PAM70"), (10, 1)),
    BuiltIn::new("PAM250", include_str!("../../data/matrices/PAM250"), (14, 2)),
];

impl Scoring {
    /// Match/mismatch scoring of DNA with affine gaps. All numbers are positive penalties or scores. N and other
    /// ambiguous codes cost a mismatch ([`Scoring::with_ambiguous`] changes that). [`Scoring::builder`] sets the numbers
    /// by their names.
    pub fn dna(match_: i32, mismatch: i32, gap_open: i32, gap_extend: i32) -> Scoring {
        let substitution = Substitution::Equal { match_, mismatch, ambiguous: Ambiguous::Penalty(mismatch) };
        Scoring::affine(Alphabet::Dna, substitution, gap_open, gap_extend)
    }

    /// Scoring of `alphabet` by a matrix with affine gaps.
    pub fn matrix(alphabet: Alphabet, matrix: Matrix, gap_open: i32, gap_extend: i32) -> Scoring {
        Scoring::affine(alphabet, Substitution::Matrix(Box::new(matrix)), gap_open, gap_extend)
    }

    fn affine(alphabet: Alphabet, substitution: Substitution, gap_open: i32, gap_extend: i32) -> Scoring {
        let mode = AlignmentMode::Local;
        let Gaps { further: further_gaps, .. } =
            Gaps::affine(GapPiece { open: gap_open, extend: gap_extend });
        Scoring {
            alphabet,
            substitution,
            gap_open,
            gap_extend,
            further_gaps,
            end_bonus: 0,
            mode,
            frameshift: None,
            profile: None,
        }
    }

    /// The same scoring with a further piece of the gap costs: a gap of length k costs the lower of its cost so far, such as
    /// `gap_open + k * gap_extend`, and `open + k * extend` (Gotoh 1990; minimap2, Li 2018). Long gaps then cost less.
    ///
    /// ```
    /// use swalign::Scoring;
    ///
    /// let minimap2 = Scoring::dna(2, 4, 4, 2).with_gap_piece(24, 1)?;
    /// assert_eq!([1, 20, 100].map(|len| minimap2.gap_cost(len)), [6, 44, 124]);
    /// # Ok::<(), swalign::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if a cost is out of its range, if `open` is not higher or `extend` not lower than that of the piece
    /// before, or if the costs have two pieces already.
    pub fn with_gap_piece(self, open: i32, extend: i32) -> Result<Scoring, Error> {
        let gaps = self.gaps().with_piece(GapPiece { open, extend });
        let gaps =
            gaps.ok_or_else(|| Error::Usage(format!("gap costs have at most {MOST_PIECES} pieces")))?;
        gaps.check().map_err(Error::Usage)?;
        Ok(self.with_gaps(gaps))
    }

    /// The same match/mismatch scoring with another penalty of a pair of residues of which at least one is an ambiguous
    /// code, such as N. A matrix scores these codes itself and stays as it is.
    ///
    /// ```
    /// use swalign::{Scoring, align_pair};
    ///
    /// let scoring = Scoring::dna(1, 4, 6, 1).with_ambiguous(1);
    /// let hit = align_pair("ACGTTGCANNNNACGGTTCA", "ACGTTGCATTTTACGGTTCA", &scoring)?.expect("a hit");
    /// assert_eq!((hit.score(), hit.cigar().to_string().as_str()), (12, "20M"));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn with_ambiguous(mut self, penalty: i32) -> Scoring {
        if let Substitution::Equal { ambiguous, .. } = &mut self.substitution {
            *ambiguous = Ambiguous::Penalty(penalty);
        }
        self
    }

    /// The same match/mismatch scoring in which an ambiguous code matches every code that it has a base in common with:
    /// R matches A, G and N. A matrix scores these codes itself and stays as it is.
    ///
    /// ```
    /// use swalign::{Scoring, align_pair};
    ///
    /// let scoring = Scoring::dna(1, 4, 6, 1).with_iupac();
    /// let hit = align_pair("GTGYCAGCMGCCGCGGTAA", "TTGTGCCAGCAGCCGCGGTAATT", &scoring)?.expect("a hit");
    /// assert_eq!((hit.score(), hit.cigar().to_string().as_str()), (19, "19M"));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn with_iupac(mut self) -> Scoring {
        if let Substitution::Equal { ambiguous, .. } = &mut self.substitution {
            *ambiguous = Ambiguous::Iupac;
        }
        self
    }

    /// The same scoring of DNA with an end bonus: among all local alignments, the best one is that of the highest score
    /// plus this bonus for each end of the query that it reaches. The reported score leaves the bonus out. A difference
    /// next to the end of a read then stays in the alignment, as in bwa (`-L`) and minimap2 (`--end-bonus`), instead of
    /// being clipped. Proteins, and modes other than local, have no end bonus.
    ///
    /// ```
    /// use swalign::{Scoring, align_pair};
    ///
    /// let align = |scoring: &Scoring| {
    ///     let hit = align_pair("ACGTTGCATTCAGA", "CCACGTTGCATTCACACC", scoring).unwrap().unwrap();
    ///     (hit.score(), hit.cigar().to_string())
    /// };
    /// let scoring = Scoring::dna(1, 4, 6, 1);
    /// assert_eq!(align(&scoring), (12, "12M".to_string()));
    /// assert_eq!(align(&scoring.with_end_bonus(5)), (9, "14M".to_string()));
    /// ```
    pub fn with_end_bonus(self, end_bonus: i32) -> Scoring {
        let counts = self.alphabet == Alphabet::Dna && self.mode.is_local();
        Scoring { end_bonus: if counts { end_bonus } else { 0 }, ..self }
    }

    /// The same scoring in another mode, which defines the ends of the sequences that an alignment may leave out.
    ///
    /// ```
    /// use swalign::{AlignmentMode, Scoring, align_pair};
    ///
    /// let scoring = Scoring::dna(1, 4, 6, 1).in_mode(AlignmentMode::Global);
    /// let hit = align_pair("ACGTTGCA", "ACGTTTGCAGG", &scoring)?.expect("both have letters");
    /// assert_eq!((hit.score(), hit.cigar().to_string().as_str()), (-7, "3M1D5M2D"));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn in_mode(self, mode: AlignmentMode) -> Scoring {
        let end_bonus = if mode.is_local() { self.end_bonus } else { 0 };
        Scoring { mode, end_bonus, ..self }
    }

    /// Cost of a gap of `len` residues.
    pub fn gap_cost(&self, len: usize) -> i64 {
        self.gaps().cost(len)
    }
}

/// Operations on codes, for engines.
#[doc(hidden)]
impl Scoring {
    /// The cost of a gap by its length.
    pub fn gaps(&self) -> Gaps {
        Gaps { first: GapPiece { open: self.gap_open, extend: self.gap_extend }, further: self.further_gaps }
    }

    /// The same scoring with other gap costs.
    pub fn with_gaps(self, Gaps { first, further: further_gaps }: Gaps) -> Scoring {
        Scoring { gap_open: first.open, gap_extend: first.extend, further_gaps, ..self }
    }

    /// `s(q, t)`, with the end bonus if `q` is an end.
    #[inline(always)]
    pub fn score(&self, q: u8, t: u8) -> i32 {
        match self.end_bonus {
            0 => self.substitution_score(q, t),
            _ => self.substitution_score(without_end(q), t) + self.bonus(q),
        }
    }

    /// Whether rows are not the residues of a query: they are codons of all frames, or positions of a profile. Such scorings have
    /// an own recurrence (`engine/rows.rs`).
    pub fn has_own_rows(&self) -> bool {
        self.frameshift.is_some() || self.profile.is_some()
    }

    /// Number of residues of a query with this number of rows: of a strand with all its codons, a third of the bases.
    pub fn residues(&self, rows: usize) -> usize {
        if self.frameshift.is_some() { rows / 3 } else { rows }
    }

    /// The score of a query's residue at a position, counted from 0.
    #[inline]
    pub fn position_score(&self, position: usize, q: u8, t: u8) -> i32 {
        match &self.profile {
            Some(profile) => {
                profile.rows.get(position).map_or(i32::from(i8::MIN), |row| i32::from(row[usize::from(t)]))
            }
            None => self.score(q, t),
        }
    }

    /// The scoring of a profile for a query of these residues. Its scores are the highest, and its gap costs the lowest, of the
    /// positions.
    pub fn with_profile(mut self, residues: &[u8], profile: Arc<PositionScores>) -> Scoring {
        if let Substitution::Matrix(matrix) = &mut self.substitution {
            let mut scores = [[i8::MIN; CODES]; CODES];
            for (&q, row) in residues.iter().zip(&profile.rows) {
                let most = &mut scores[usize::from(q)];
                most.iter_mut().zip(row).for_each(|(most, &score)| *most = score.max(*most));
            }
            matrix.scores = scores;
        }
        let gaps = profile.lowest_gap().map_or(self.gaps(), Gaps::affine);
        Scoring { profile: Some(profile), ..self }.with_gaps(gaps)
    }

    /// The profile, if its positions have gap costs.
    pub fn position_gaps(&self) -> Option<&PositionScores> {
        self.profile.as_deref().filter(|profile| !profile.gaps.is_empty())
    }

    /// Cost of a gap of `len` residues in a path that has `row` rows of the query before it.
    pub fn gap_cost_at(&self, op: PathOp, row: usize, len: usize) -> i64 {
        self.position_gaps().map_or_else(|| self.gap_cost(len), |profile| profile.gap_cost(op, row, len))
    }

    /// `s(q, t)` without an end bonus.
    #[inline]
    pub fn residue_score(&self, q: u8, t: u8) -> i32 {
        self.substitution_score(if self.end_bonus > 0 { without_end(q) } else { q }, t)
    }

    /// The end bonus of a query residue.
    #[inline]
    pub fn bonus(&self, q: u8) -> i32 {
        if self.end_bonus > 0 && is_end(q) { self.end_bonus } else { 0 }
    }

    /// The end bonuses of a query, or of a stretch of one.
    pub fn bonuses(&self, codes: &[u8]) -> i32 {
        let (first, last) = (codes.first(), codes.last().filter(|_| codes.len() > 1));
        first.into_iter().chain(last).map(|&code| self.bonus(code)).sum()
    }

    /// The score of two residues.
    #[inline(always)]
    fn substitution_score(&self, q: u8, t: u8) -> i32 {
        match &self.substitution {
            Substitution::Equal { match_, mismatch, ambiguous } => {
                match (is_base(q) && is_base(t), ambiguous) {
                    (true, _) if q == t => *match_,
                    (true, _) => -mismatch,
                    (false, Ambiguous::Penalty(penalty)) => -penalty,
                    (false, Ambiguous::Iupac) if base_set(q) & base_set(t) != 0 => *match_,
                    (false, Ambiguous::Iupac) => -mismatch,
                }
            }
            Substitution::Matrix(matrix) => i32::from(matrix.scores[q as usize][t as usize]),
        }
    }

    /// The scores of bases if comparing two codes gives their score. If not, a table of all codes does.
    pub fn compared(&self) -> Option<ComparedScores> {
        match self.substitution {
            Substitution::Equal { match_, mismatch, ambiguous: Ambiguous::Penalty(ambiguous) } => {
                Some(ComparedScores { match_, mismatch, ambiguous })
            }
            _ => None,
        }
    }

    /// The scores of all codes, `[query code][target code]`, limited to the range of `i8`. The code `CODES - 1`, which no
    /// residue has, scores lowest, and not above 0.
    pub fn table(&self) -> [[i8; CODES]; CODES] {
        let none = CODES - 1;
        let lowest = self.lowest().min(0);
        let score = |q: usize, t: usize| match q.max(t) == none {
            true => lowest,
            false => self.score(to_u8(q), to_u8(t)),
        };
        let clamped = |score: i32| to_i8(score.clamp(i8::MIN.into(), i8::MAX.into()));
        std::array::from_fn(|q| std::array::from_fn(|t| clamped(score(q, t))))
    }

    /// Sum of the scores of two stretches of equal length, residue by residue.
    pub fn score_all(&self, query: &[u8], target: &[u8]) -> i64 {
        if self.end_bonus == 0 {
            return self.score_inner(query, target);
        }
        // Only the first and the last residue can be ends.
        let len = query.len().min(target.len());
        let ends = [0, 1].into_iter().take(len).map(|at| at * (len - 1));
        let inner = 1..len.saturating_sub(1).max(1);
        ends.map(|at| i64::from(self.score(query[at], target[at]))).sum::<i64>()
            + self.score_inner(
                query.get(inner.clone()).unwrap_or_default(),
                target.get(inner).unwrap_or_default(),
            )
    }

    /// [`Scoring::score_all`] of stretches without ends.
    fn score_inner(&self, query: &[u8], target: &[u8]) -> i64 {
        match &self.substitution {
            &Substitution::Equal { match_, mismatch, ambiguous: Ambiguous::Penalty(ambiguous) } => {
                let matches = matches(query, target);
                let others = to_i64(query.len().min(target.len())) - matches;
                let unclear = if ambiguous == mismatch { 0 } else { ambiguous_pairs(query, target) };
                let [match_, mismatch, ambiguous] = [match_, mismatch, ambiguous].map(i64::from);
                matches * match_ - (others - unclear) * mismatch - unclear * ambiguous
            }
            Substitution::Equal { .. } | Substitution::Matrix(_) => {
                query.iter().zip(target).map(|(&q, &t)| i64::from(self.score(q, t))).sum()
            }
        }
    }

    /// Maximum that a query residue can add to a score: its best substitution score, at least 0, and its end bonus.
    pub fn potential(&self, q: u8) -> i32 {
        let bonus = self.bonus(q);
        let q = if self.end_bonus > 0 { without_end(q) } else { q };
        bonus + self.residue_potential(q)
    }

    /// Maximum that a target residue can add to a score, at least 0.
    pub fn most_against(&self, t: u8) -> i32 {
        (0..const_u8(CODES)).map(|q| self.residue_score(q, t)).fold(0, i32::max)
    }

    fn residue_potential(&self, q: u8) -> i32 {
        match &self.substitution {
            Substitution::Equal { match_, .. } => {
                if is_base(q) || self.compared().is_none() {
                    *match_
                } else {
                    0
                }
            }
            Substitution::Matrix(matrix) => {
                let row = &matrix.scores[q as usize][..self.alphabet.letters().len()];
                i32::from(row.iter().copied().max().unwrap_or(0).max(0))
            }
        }
    }

    /// The largest accepted end bonus. A table of scores holds the sum of the bonus and a score.
    pub(crate) fn most_end_bonus(&self) -> i32 {
        match self.compared() {
            Some(_) => MAX_PARAMETER,
            None => (MOST_IN_TABLE - self.max_potential()).max(0),
        }
    }

    /// Maximum that a step of the recurrence can add to a score: that of a residue, and the end bonus.
    pub fn max_step(&self) -> i32 {
        self.max_potential() + self.end_bonus
    }

    /// Upper bound of the score of any alignment of `rows` query residues, with the end bonuses.
    pub fn most_score(&self, rows: usize) -> i64 {
        let bonuses = to_i64(rows.min(2)) * i64::from(self.end_bonus);
        to_i64(rows).saturating_mul(self.max_potential().into()) + bonuses
    }

    /// Maximum that any residue can add to a score, without an end bonus.
    pub fn max_potential(&self) -> i32 {
        if let Substitution::Equal { match_, .. } = self.substitution {
            return match_.max(0);
        }
        (0..to_u8(self.alphabet.letters().len())).map(|code| self.residue_potential(code)).max().unwrap_or(0)
    }

    /// Whether neither a score nor a position of a query of `len` residues can overflow, even if no residue scores.
    pub fn fits(&self, len: usize) -> bool {
        let bonuses = 2 * i64::from(self.end_bonus);
        i64::try_from(len).is_ok_and(|len| {
            len.saturating_mul(i64::from(self.max_potential().max(1))) <= MAX_SCORE - bonuses
        })
    }

    /// Whether gaps of the length of these sequences, if the mode may need them, stay within the range of scores.
    pub fn fits_below(&self, query: usize, target: usize) -> bool {
        let target = if self.mode.begins_in_corner() { target } else { 0 };
        self.mode.is_local() || self.gap_cost(query).saturating_add(self.gap_cost(target)) <= MAX_SCORE
    }

    /// The lowest score of two residues.
    pub fn lowest(&self) -> i32 {
        match &self.substitution {
            Substitution::Equal { mismatch, ambiguous: Ambiguous::Penalty(penalty), .. } => {
                -mismatch.max(penalty)
            }
            Substitution::Equal { mismatch, .. } => -mismatch,
            Substitution::Matrix(matrix) => {
                matrix.scores.iter().flatten().copied().min().map_or(0, i32::from)
            }
        }
    }
}

/// Writes every number with its name, as in the header of the output.
impl fmt::Display for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "alphabet={} ", self.alphabet)?;
        match &self.substitution {
            Substitution::Equal { match_, mismatch, ambiguous } => {
                write!(f, "match={match_} mismatch={mismatch}")?;
                match ambiguous {
                    Ambiguous::Penalty(penalty) if penalty == mismatch => {}
                    Ambiguous::Penalty(penalty) => write!(f, " ambiguous={penalty}")?,
                    Ambiguous::Iupac => f.write_str(" iupac")?,
                }
            }
            Substitution::Matrix(matrix) => write!(f, "matrix={}", matrix.name)?,
        }
        write!(f, " {}", self.gaps())?;
        if self.end_bonus > 0 {
            write!(f, " end_bonus={}", self.end_bonus)?;
        }
        if let Some(frameshift) = self.frameshift {
            write!(f, " frameshift={frameshift}")?;
        }
        if self.mode.is_local() { Ok(()) } else { write!(f, " mode={}", self.mode) }
    }
}

impl Matrix {
    /// The names of the built-in matrices.
    ///
    /// BLOSUM80 is BLAST's edition, in half bits. BLOSUM80_3 is the edition of EMBOSS, Biopython and parasail, in
    /// thirds of bits.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MATRICES.iter().map(|built_in| built_in.name)
    }

    /// A built-in matrix by its name, in any case.
    pub fn named(name: &str) -> Option<Matrix> {
        let BuiltIn { name, text, .. } =
            MATRICES.iter().find(|known| known.name.eq_ignore_ascii_case(name))?;
        Matrix::parse(name, text, Alphabet::Protein).ok()
    }

    /// The gap costs that BLAST uses with a built-in matrix by default: that of opening a gap, and that of each of its
    /// residues. `None` for other matrices.
    ///
    /// ```
    /// use swalign::{Alphabet, Matrix, Scoring};
    ///
    /// let matrix = Matrix::named("BLOSUM45").expect("a built-in matrix");
    /// let (gap_open, gap_extend) = matrix.usual_gap_costs().expect("a built-in matrix has gap costs");
    /// assert_eq!((gap_open, gap_extend), (14, 2));
    /// let scoring = Scoring::matrix(Alphabet::Protein, matrix, gap_open, gap_extend);
    /// # let _ = scoring;
    /// ```
    pub fn usual_gap_costs(&self) -> Option<(i32, i32)> {
        let built_in = MATRICES.iter().find(|known| known.name == self.name)?;
        (Matrix::named(built_in.name)?.scores == self.scores).then_some(built_in.gap_costs)
    }

    /// Parses a matrix in NCBI's format, like the files `BLOSUM62` and `NUC.4.4`: `#` comments, a line with the
    /// residues of the columns (targets), then a line for each row (query residue) with its scores, integers from -127
    /// to 127. Residues of the alphabet that the matrix lacks (IUPAC codes, B, Z, X, *) score as its lowest entry. In
    /// proteins, U scores as C, O as K, and J as the mean of I and L, rounded up, unless the matrix has J.
    ///
    /// # Errors
    /// [`Error::Input`], with `name` for the file and the line, if the text is not a matrix in this format.
    pub fn from_text(name: &str, text: &str, alphabet: Alphabet) -> Result<Matrix, Error> {
        Matrix::parse(name, text, alphabet).map_err(|(line, problem)| {
            let place = Place { file: name.into(), record: None, line };
            Error::input(place, problem, "give a matrix of this alphabet in NCBI's format")
        })
    }

    /// Parses NCBI's format, as described in [`Matrix::from_text`]. The error is the 1-based line of the fault, if it
    /// has one, and the problem.
    #[doc(hidden)]
    pub fn parse(name: &str, text: &str, alphabet: Alphabet) -> Result<Matrix, (Option<u64>, String)> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(n, line)| (n as u64 + 1, line))
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (number, header) =
            lines.next().ok_or((None, "the line with the residues of the columns is missing".to_string()))?;
        let columns = header
            .split_whitespace()
            .map(single_letter)
            .collect::<Option<Vec<u8>>>()
            .ok_or((Some(number), "the line of columns must contain single characters".to_string()))?;
        if let Some(letter) = (1..columns.len()).find(|&at| columns[..at].contains(&columns[at])) {
            let problem = format!("column {} is duplicated", (columns[letter] as char).escape_default());
            return Err((Some(number), problem));
        }
        let mut cells: Vec<(u8, u8, i8)> = Vec::new();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let mut words = line.split_whitespace();
            let row = words
                .next()
                .and_then(single_letter)
                .ok_or((Some(number), "a row must begin with its residue".to_string()))?;
            let scores = words
                .map(|word| word.parse::<i8>().ok().filter(|&score| score > i8::MIN))
                .collect::<Option<Vec<i8>>>()
                .ok_or((Some(number), "scores must be integers from -127 to 127".to_string()))?;
            if scores.len() != columns.len() {
                let problem = format!(
                    "row {} has {} scores, but there are {} columns",
                    row as char,
                    scores.len(),
                    columns.len()
                );
                return Err((Some(number), problem));
            }
            if rows.contains(&row) {
                return Err((Some(number), format!("row {} is duplicated", (row as char).escape_default())));
            }
            rows.push(row);
            cells.extend(columns.iter().zip(scores).map(|(&column, score)| (row, column, score)));
        }
        let missing: Vec<String> = alphabet
            .required_letters()
            .iter()
            .filter(|letter| !rows.contains(letter) || !columns.contains(letter))
            .map(|&letter| (letter as char).to_string())
            .collect();
        if !missing.is_empty() {
            return Err((
                None,
                format!("{alphabet} residues without a row or column: {}", missing.join(" ")),
            ));
        }
        let lowest = cells.iter().map(|cell| cell.2).min().unwrap_or(-1);
        let mut scores = [[lowest; CODES]; CODES];
        // Rows of residues that the alphabet writes or scores as others (U as T, U as C) stay unused.
        let is_own = |code: &u8, letter| alphabet.letters()[usize::from(*code)] == letter && *code < SCORED;
        let own = |letter: u8| alphabet.code(letter).filter(|code| is_own(code, letter)).map(usize::from);
        for (row, column, score) in cells {
            if let (Some(row), Some(column)) = (own(row), own(column)) {
                scores[row][column] = score;
            }
        }
        if alphabet == Alphabet::Protein {
            let has_j = rows.contains(&b'J') && columns.contains(&b'J');
            fill_in(&mut scores, has_j);
        }
        Ok(Matrix { name: name.to_string(), scores })
    }
}

/// Fills in the scores of residues that protein matrices lack: U scores as C, O as K, and J, unless the matrix `has_j`,
/// as the mean of I and L, rounded up.
fn fill_in(scores: &mut [[i8; CODES]; CODES], has_j: bool) {
    const I: usize = 9;
    const L: usize = 10;
    const J: usize = 24;
    if !has_j {
        let mean = |scores: &[i8]| {
            let (sum, count) =
                (scores.iter().map(|&score| i32::from(score)).sum::<i32>(), to_i32(scores.len()));
            // The result is between -127 and 127.
            to_i8(-((-sum).div_euclid(count)))
        };
        scores[J][J] = mean(&[scores[I][I], scores[I][L], scores[L][I], scores[L][L]]);
        let given = *scores;
        for (score, (&i, &l)) in scores[J][..J].iter_mut().zip(given[I].iter().zip(&given[L])) {
            *score = mean(&[i, l]);
        }
        for (row, given) in scores[..J].iter_mut().zip(&given) {
            row[J] = mean(&[given[I], given[L]]);
        }
    }
    let given = *scores;
    let scored = |code: usize| usize::from(scored_code(to_u8(code)));
    for (q, row) in scores.iter_mut().enumerate() {
        for (t, score) in row.iter_mut().enumerate() {
            *score = given[scored(q)][scored(t)];
        }
    }
}

/// Number of positions with the same base in both.
fn matches(query: &[u8], target: &[u8]) -> i64 {
    /// Number of bases compared at once: a length that is known to the compiler.
    const LANES: usize = 16;
    let same = |(q, t): (&u8, &u8)| u8::from(q == t) & u8::from(*q < 4);
    let len = query.len().min(target.len());
    let (queries, last_of_query) = query[..len].as_chunks::<LANES>();
    let (targets, last_of_target) = target[..len].as_chunks::<LANES>();
    let count = |(q, t): (&[u8; LANES], &[u8; LANES])| i64::from(q.iter().zip(t).map(same).sum::<u8>());
    let first: i64 = queries.iter().zip(targets).map(count).sum();
    // The remaining bases are compared together with some bases before them, which don't count again.
    let counted = to_u8(LANES - last_of_query.len());
    if let (Some(q), Some(t)) = (query[..len].last_chunk::<LANES>(), target[..len].last_chunk::<LANES>()) {
        let last = (0u8..).zip(q.iter().zip(t)).map(|(place, both)| same(both) & u8::from(place >= counted));
        return first + i64::from(last.sum::<u8>());
    }
    first + i64::from(last_of_query.iter().zip(last_of_target).map(same).sum::<u8>())
}

/// The bases that a DNA code stands for, one bit each. None for codes beyond the alphabet.
const fn base_set(code: u8) -> u8 {
    // A, C, G, T, R, Y, S, W, K, M, B, D, H, V, N: the order of the alphabet.
    const SETS: [u8; 15] = [1, 2, 4, 8, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7, 15];
    if (code as usize) < SETS.len() { SETS[code as usize] } else { 0 }
}

/// Number of positions with an ambiguous code in either of two DNA sequences.
fn ambiguous_pairs(query: &[u8], target: &[u8]) -> i64 {
    // Sums of bytes, 255 of which cannot overflow, are vectorized.
    let count = |(query, target): (&[u8], &[u8])| {
        let is_unclear = |(&q, &t): (&u8, &u8)| u8::from(!is_base(q) | !is_base(t));
        i64::from(query.iter().zip(target).map(is_unclear).sum::<u8>())
    };
    query.chunks(255).zip(target.chunks(255)).map(count).sum()
}

fn single_letter(word: &str) -> Option<u8> {
    match word.as_bytes() {
        [letter] => Some(letter.to_ascii_uppercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(alphabet: Alphabet, letter: u8) -> u8 {
        alphabet.code(letter).unwrap()
    }

    #[test]
    fn stretches_score_as_their_residues_do() {
        let scoring = Scoring::dna(3, 5, 6, 1).with_ambiguous(2);
        let query: Vec<u8> = (0..70u32).map(|k| (k * k % 7 % 5) as u8).collect();
        let target: Vec<u8> = (0..70u32).map(|k| (k * k % 11 % 5) as u8).collect();
        for (start, end) in (0..70).flat_map(|start| (start..=70).map(move |end| (start, end))) {
            let (query, target) = (&query[start..end], &target[start..end]);
            let each = query.iter().zip(target).map(|(&q, &t)| i64::from(scoring.score(q, t)));
            assert_eq!(scoring.score_all(query, target), each.sum::<i64>(), "{start}..{end}");
        }
    }

    #[test]
    fn every_built_in_matrix_parses() {
        for name in Matrix::names() {
            assert!(Matrix::named(&name.to_lowercase()).is_some(), "{name}");
        }
        let scoring = Scoring::matrix(Alphabet::Protein, Matrix::named("BLOSUM62").unwrap(), 11, 1);
        let w = code(Alphabet::Protein, b'W');
        assert_eq!(scoring.score(w, w), 11);
        let of = |q: u8, t: u8| scoring.score(code(Alphabet::Protein, q), code(Alphabet::Protein, t));
        for letter in *b"ARNDCQEGHILKMFPSTWYVBZX*JUO" {
            assert_eq!([of(b'U', letter), of(letter, b'U')], [of(b'C', letter), of(letter, b'C')]);
            assert_eq!([of(b'O', letter), of(letter, b'O')], [of(b'K', letter), of(letter, b'K')]);
        }
        // I and L score 4 and 2 against I, 1 and 2 against M, -3 and -2 against W.
        assert_eq!([of(b'J', b'I'), of(b'M', b'J'), of(b'J', b'W'), of(b'J', b'J')], [3, 2, -2, 3]);
        assert_eq!([of(b'U', b'U'), of(b'U', b'X'), of(b'J', b'*')], [9, -2, -4]);
    }

    #[test]
    fn a_matrix_may_have_j_of_its_own() {
        let parsed = |own: &str| {
            let letters = format!("A R N D C Q E G H I L K M F P S T W Y V {own}");
            let rows = letters.split(' ').map(|row| {
                let scores = letters.split(' ').map(|column| match (row, column) {
                    ("J" | "U", "J" | "U") => "7",
                    ("J" | "U", _) => "5",
                    _ if row == column => "2",
                    _ => "-1",
                });
                format!("{row} {}\n", scores.collect::<Vec<_>>().join(" "))
            });
            let text = format!("{letters}\n{}", rows.collect::<String>());
            Matrix::parse("own", &text, Alphabet::Protein).unwrap()
        };
        let of = |own: &str, pairs: [&[u8; 2]; 6]| {
            let scoring = Scoring::matrix(Alphabet::Protein, parsed(own), 11, 1);
            pairs.map(|&[q, t]| scoring.score(code(Alphabet::Protein, q), code(Alphabet::Protein, t)))
        };
        assert_eq!(of("J", [b"JJ", b"JA", b"AJ", b"JI", b"UU", b"OK"]), [7, 5, -1, 5, 2, 2]);
        // A row of U is not used. A mean of 0.5 is 1, and J against B, which the matrix lacks, scores as its lowest
        // entry.
        assert_eq!(of("U", [b"UU", b"UC", b"UA", b"JI", b"JJ", b"JB"]), [2, 2, -1, 1, 1, -1]);
    }

    #[test]
    fn ambiguous_dna_matches_nothing() {
        let scoring = Scoring::dna(1, 4, 6, 1);
        let n = code(Alphabet::Dna, b'N');
        assert_eq!(scoring.score(n, n), -4);
        assert_eq!(scoring.potential(n), 0);
        assert_eq!(scoring.gap_cost(2), 8);
        let cheap = scoring.clone().with_ambiguous(1);
        assert_eq!(
            [(n, n), (n, 0), (0, 4), (0, 1), (0, 0)].map(|(q, t)| cheap.score(q, t)),
            [-1, -1, -1, -4, 1]
        );
        assert_eq!((cheap.lowest(), scoring.clone().with_ambiguous(7).lowest()), (-4, -7));
        let iupac = scoring.with_iupac();
        let of = |q: u8, t: u8| iupac.score(code(Alphabet::Dna, q), code(Alphabet::Dna, t));
        assert_eq!(
            [of(b'R', b'A'), of(b'C', b'R'), of(b'N', b'N'), of(b'R', b'Y'), of(b'K', b'D')],
            [1, -4, 1, -4, 1]
        );
        let sets: [(u8, &[u8]); 15] = [
            (b'A', b"A"),
            (b'C', b"C"),
            (b'G', b"G"),
            (b'T', b"T"),
            (b'R', b"AG"),
            (b'Y', b"CT"),
            (b'S', b"CG"),
            (b'W', b"AT"),
            (b'K', b"GT"),
            (b'M', b"AC"),
            (b'B', b"CGT"),
            (b'D', b"AGT"),
            (b'H', b"ACT"),
            (b'V', b"ACG"),
            (b'N', b"ACGT"),
        ];
        for (letter, set) in sets {
            for base in *b"ACGT" {
                assert_eq!(of(letter, base) == 1, set.contains(&base), "{letter} {base}");
            }
        }
        assert_eq!(iupac.to_string(), "alphabet=DNA match=1 mismatch=4 iupac gap_open=6 gap_extend=1");
        assert_eq!(cheap.to_string(), "alphabet=DNA match=1 mismatch=4 ambiguous=1 gap_open=6 gap_extend=1");
    }

    #[test]
    fn a_matrix_names_what_is_wrong() {
        let refuse = |text: &str| Matrix::parse("x", text, Alphabet::Dna).unwrap_err();
        assert_eq!(refuse("# only a comment\n").0, None);
        assert!(refuse("A C G\nA 1 0 0\nC 0 1 0\nG 0 0 1\n").1.ends_with("column: T"));
        assert_eq!(refuse("A C G T\nA 1 0 0\n").0, Some(2));
        assert_eq!(refuse("A C G T\nA 1 0 0 999\n").0, Some(2));
        assert_eq!(refuse("A C GG T\n").0, Some(1));
        assert_eq!(refuse("# x\nA A C G T\n"), (Some(2), "column A is duplicated".to_string()));
        let twice = refuse("A C G T\nA 1 0 0 0\nC 0 1 0 0\na 0 0 0 1\n");
        assert_eq!(twice, (Some(4), "row A is duplicated".to_string()));
    }

    #[test]
    fn long_queries_with_large_scores_do_not_fit() {
        assert!(Scoring::dna(2, 4, 4, 2).fits(100_000_000));
        assert!(!Scoring::dna(MAX_PARAMETER, 4, 4, 2).fits(1_000_000));
        // Even if no residue scores, positions have 32 bits.
        let matrix =
            Matrix::parse("x", "A C G T\nA 0 0 0 0\nC 0 0 0 0\nG 0 0 0 0\nT 0 0 0 0\n", Alphabet::Dna)
                .unwrap();
        let nothing = Scoring::matrix(Alphabet::Dna, matrix, 4, 2);
        assert!(nothing.fits(1 << 29) && !nothing.fits(1 << 32) && !nothing.fits(usize::MAX));
    }
}
