//! Scorings by preset, and by the names of their parameters.

use super::aligner::{check_scoring, usage};
use crate::terms::alphabet::Alphabet;
use crate::terms::error::Result;
use crate::terms::options::{Preset, ScoringChoice};
use crate::terms::scoring::{AlignmentMode, Ambiguous, GapPiece, Matrix, Scoring, Substitution};

/// Sets the parameters of a [`Scoring`] by name.
///
/// Parameters that are not set keep the values with which the builder began. A built-in matrix brings the gap costs
/// that BLAST uses with it ([`Matrix::usual_gap_costs`]).
///
/// ```
/// use swalign::{Alphabet, Matrix, Scoring};
///
/// let scoring = Scoring::builder(Alphabet::Dna).match_score(2).mismatch(4).gap_open(4).gap_extend(2).build()?;
/// assert_eq!(scoring, Scoring::dna(2, 4, 4, 2));
/// let matrix = Matrix::named("BLOSUM45").expect("a built-in matrix");
/// let scoring = Scoring::builder(Alphabet::Protein).matrix(matrix).build()?;
/// assert_eq!((scoring.gap_open, scoring.gap_extend), (14, 2));
/// # Ok::<(), swalign::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct ScoringBuilder {
    base: Scoring,
    match_score: Option<i32>,
    mismatch: Option<i32>,
    ambiguous: Option<Ambiguous>,
    gap_open: Option<i32>,
    gap_extend: Option<i32>,
    further_gaps: Vec<GapPiece>,
    matrix: Option<Matrix>,
    mode: Option<AlignmentMode>,
    end_bonus: Option<i32>,
}

impl ScoringBuilder {
    /// Score of two equal bases, at least 1.
    pub fn match_score(self, score: i32) -> ScoringBuilder {
        ScoringBuilder { match_score: Some(score), ..self }
    }

    /// Penalty for two different bases, at least 0.
    pub fn mismatch(self, penalty: i32) -> ScoringBuilder {
        ScoringBuilder { mismatch: Some(penalty), ..self }
    }

    /// Penalty of a pair of which at least one residue is an ambiguous code, such as N. At least 0.
    pub fn ambiguous(self, penalty: i32) -> ScoringBuilder {
        ScoringBuilder { ambiguous: Some(Ambiguous::Penalty(penalty)), ..self }
    }

    /// Ambiguous codes match the codes that they have a base in common with ([`Scoring::with_iupac`]).
    pub fn iupac(self) -> ScoringBuilder {
        ScoringBuilder { ambiguous: Some(Ambiguous::Iupac), ..self }
    }

    /// Cost of opening a gap, in addition to that of its first residue. At least 0.
    pub fn gap_open(self, cost: i32) -> ScoringBuilder {
        ScoringBuilder { gap_open: Some(cost), ..self }
    }

    /// Cost of each residue of a gap, at least 1.
    pub fn gap_extend(self, cost: i32) -> ScoringBuilder {
        ScoringBuilder { gap_extend: Some(cost), ..self }
    }

    /// Adds a piece to the gap costs, as in [`Scoring::with_gap_piece`]: `open` is higher than that of the piece before,
    /// and `extend` is lower. Pieces that are added replace the further pieces of the scoring that the builder began with.
    pub fn gap_piece(mut self, open: i32, extend: i32) -> ScoringBuilder {
        self.further_gaps.push(GapPiece::new(open, extend));
        self
    }

    /// Scores residues by a matrix, instead of a match and a mismatch.
    pub fn matrix(self, matrix: Matrix) -> ScoringBuilder {
        ScoringBuilder { matrix: Some(matrix), ..self }
    }

    /// Bonus of an alignment for each end of the query that it reaches, as in [`Scoring::with_end_bonus`]. At least 0.
    pub fn end_bonus(self, bonus: i32) -> ScoringBuilder {
        ScoringBuilder { end_bonus: Some(bonus), ..self }
    }

    /// Which ends of the sequences an alignment may leave out.
    pub fn mode(self, mode: AlignmentMode) -> ScoringBuilder {
        ScoringBuilder { mode: Some(mode), ..self }
    }

    /// Returns the scoring.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if a parameter is out of its range, if a match, a mismatch or the score of ambiguous codes
    /// is set together with a matrix, or if the matrix is for another alphabet.
    pub fn build(self) -> Result<Scoring> {
        let ScoringBuilder {
            base,
            match_score,
            mismatch,
            ambiguous,
            gap_open,
            gap_extend,
            further_gaps,
            matrix,
            mode,
            end_bonus,
        } = self;
        let usual = matrix.as_ref().and_then(Matrix::usual_gap_costs);
        // The gap costs of a matrix replace all of those before.
        let keeps_further = further_gaps.is_empty() && usual.is_none();
        let (open, extend) = usual.unwrap_or((base.gap_open, base.gap_extend));
        let (open, extend) = (gap_open.unwrap_or(open), gap_extend.unwrap_or(extend));
        let has_numbers = match_score.or(mismatch).is_some() || ambiguous.is_some();
        let scoring = match (matrix, base.match_and_mismatch()) {
            (Some(_), _) | (None, None) if has_numbers => {
                let problem =
                    "a matrix excludes match_score, mismatch, ambiguous and iupac: set one or the others";
                return Err(usage(problem.into()));
            }
            (Some(matrix), _) => Scoring::matrix(base.alphabet, matrix, open, extend),
            (None, Some((own, other))) => {
                let mismatch = mismatch.unwrap_or(other);
                let scoring = Scoring::dna(match_score.unwrap_or(own), mismatch, open, extend);
                match ambiguous.or(base.ambiguous()) {
                    Some(Ambiguous::Iupac) => scoring.with_iupac(),
                    Some(Ambiguous::Penalty(penalty)) if ambiguous.is_some() => {
                        scoring.with_ambiguous(penalty)
                    }
                    // As dear as a mismatch, or cheaper.
                    Some(Ambiguous::Penalty(penalty)) if penalty != other => {
                        scoring.with_ambiguous(penalty.min(mismatch))
                    }
                    _ => scoring,
                }
            }
            (None, None) => Scoring { gap_open: open, gap_extend: extend, ..base.clone() },
        };
        let scoring = scoring.in_mode(mode.unwrap_or(base.mode));
        let scoring = scoring.with_end_bonus(end_bonus.unwrap_or(base.end_bonus));
        let scoring = match keeps_further {
            true => Scoring { further_gaps: base.further_gaps, ..scoring },
            false => further_gaps.into_iter().try_fold(
                Scoring { further_gaps: Default::default(), ..scoring },
                |scoring, GapPiece { open, extend }| scoring.with_gap_piece(open, extend),
            )?,
        };
        check_scoring(&scoring)?;
        Ok(scoring)
    }
}

impl Scoring {
    /// Names of the presets. For DNA: `short` (1/4/6/1, as bwa mem; [`Scoring::with_end_bonus`] adds its end bonus), `long`
    /// (2/4/4/2, as minimap2 without its second gap piece), `blastn` (2/3/5/2), `linear` (1/1/0/2), and, with the numbers of
    /// minimap2, `map-ont` and `map-pb` (2/4/4,24/2,1), `map-hifi` (1/4/6,26/2,1), `asm5` (1/19/39,81/3,1), `asm10`
    /// (1/9/16,41/2,1) and `asm20` (1/4/6,26/2,1). For proteins: `protein` (BLOSUM62 with 11/1). A pair with an ambiguous
    /// code costs as much as a mismatch in `blastn` and `linear`, and 1 in the others for DNA.
    pub const PRESETS: [&str; 11] = {
        let mut names = [""; 11];
        let mut at = 0;
        while at < names.len() {
            names[at] = Preset::ALL[at].0;
            at += 1;
        }
        names
    };

    /// The preset of this name, or `None` if there is none.
    ///
    /// ```
    /// use swalign::Scoring;
    ///
    /// assert_eq!(Scoring::preset("long"), Some(Scoring::dna(2, 4, 4, 2).with_ambiguous(1)));
    /// ```
    pub fn preset(name: &str) -> Option<Scoring> {
        let preset = Preset::named(name)?;
        let alphabet = if preset == Preset::Protein { Alphabet::Protein } else { Alphabet::Dna };
        ScoringChoice { preset: Some(preset), ..ScoringChoice::default() }.resolve(alphabet).ok()
    }

    /// A builder that begins with the default scoring of an alphabet: the numbers of the preset `short` for DNA, with the
    /// penalty of a mismatch for ambiguous codes, and the preset `protein` for proteins.
    pub fn builder(alphabet: Alphabet) -> ScoringBuilder {
        let choice = ScoringChoice::default();
        // The default of an alphabet needs no file, so it can be resolved.
        let base = choice.resolve(alphabet).unwrap_or_else(|_| Scoring::dna(1, 4, 6, 1));
        base.to_builder()
    }

    /// A builder that begins with this scoring.
    ///
    /// ```
    /// use swalign::Scoring;
    ///
    /// let long = Scoring::preset("long").expect("a preset");
    /// assert_eq!(long.to_builder().gap_open(6).build()?, Scoring::dna(2, 4, 6, 2).with_ambiguous(1));
    /// # Ok::<(), swalign::Error>(())
    /// ```
    pub fn to_builder(&self) -> ScoringBuilder {
        ScoringBuilder {
            base: self.clone(),
            match_score: None,
            mismatch: None,
            ambiguous: None,
            gap_open: None,
            gap_extend: None,
            further_gaps: Vec::new(),
            matrix: None,
            mode: None,
            end_bonus: None,
        }
    }

    /// The score of a match and the penalty of a mismatch, or `None` if the scoring has a matrix.
    pub fn match_and_mismatch(&self) -> Option<(i32, i32)> {
        match self.substitution {
            Substitution::Equal { match_, mismatch, .. } => Some((match_, mismatch)),
            Substitution::Matrix(_) => None,
        }
    }

    /// The score of pairs with an ambiguous code. `None` if a matrix has it.
    fn ambiguous(&self) -> Option<Ambiguous> {
        match self.substitution {
            Substitution::Equal { ambiguous, .. } => Some(ambiguous),
            Substitution::Matrix(_) => None,
        }
    }

    /// The penalty of a pair with an ambiguous code, or `None` if ambiguous codes match or if the scoring has a matrix.
    pub fn ambiguous_penalty(&self) -> Option<i32> {
        self.compared().map(|scores| scores.ambiguous)
    }

    /// Whether ambiguous codes match the codes that they have a base in common with.
    pub fn matches_iupac(&self) -> bool {
        self.ambiguous() == Some(Ambiguous::Iupac)
    }

    /// The score of two residues, or `None` if one of them is not in the alphabet.
    ///
    /// ```
    /// let blastn = swalign::Scoring::preset("blastn").expect("a preset");
    /// assert_eq!([blastn.of_letters(b'A', b'a'), blastn.of_letters(b'N', b'N')], [Some(2), Some(-3)]);
    /// ```
    pub fn of_letters(&self, query: u8, target: u8) -> Option<i32> {
        Some(self.score(self.alphabet.code(query)?, self.alphabet.code(target)?))
    }

    /// The matrix of the scoring, or `None` if it scores matches and mismatches.
    pub fn substitution_matrix(&self) -> Option<&crate::terms::scoring::Matrix> {
        match &self.substitution {
            Substitution::Equal { .. } => None,
            Substitution::Matrix(matrix) => Some(matrix),
        }
    }
}
