//! Scorings by name.

use crate::alphabet::Alphabet;
use crate::options::{Preset, ScoringChoice};
use crate::scoring::{Scoring, Substitution};

impl Scoring {
    /// The presets' names: `short` (1/4/6/1, bwa mem's without its clipping penalty), `long` (2/4/4/2, minimap2's without its
    /// second gap piece), `blastn` (2/3/5/2), `linear` (1/1/0/2) for DNA, and `protein` (BLOSUM62 with 11/1).
    pub const PRESETS: [&str; 5] = ["short", "long", "blastn", "linear", "protein"];

    /// The preset of this name; `None` where there is none.
    ///
    /// ```
    /// use swalign::Scoring;
    ///
    /// assert_eq!(Scoring::preset("long"), Some(Scoring::dna(2, 4, 4, 2)));
    /// ```
    pub fn preset(name: &str) -> Option<Scoring> {
        let preset = match name {
            "short" => Preset::Short,
            "long" => Preset::Long,
            "blastn" => Preset::Blastn,
            "linear" => Preset::Linear,
            "protein" => Preset::Protein,
            _ => return None,
        };
        let alphabet = if preset == Preset::Protein { Alphabet::Protein } else { Alphabet::Dna };
        ScoringChoice { preset: Some(preset), ..ScoringChoice::default() }.resolve(alphabet).ok()
    }

    /// The scores of a match and of a mismatch, the latter as a penalty; `None` where a matrix scores.
    pub fn match_and_mismatch(&self) -> Option<(i32, i32)> {
        match self.substitution {
            Substitution::Equal { match_, mismatch } => Some((match_, mismatch)),
            Substitution::Matrix(_) => None,
        }
    }

    /// The score of two letters; `None` where one of them is no letter of the alphabet.
    ///
    /// ```
    /// let blastn = swalign::Scoring::preset("blastn").expect("a preset");
    /// assert_eq!([blastn.of_letters(b'A', b'a'), blastn.of_letters(b'N', b'N')], [Some(2), Some(-3)]);
    /// ```
    pub fn of_letters(&self, query: u8, target: u8) -> Option<i32> {
        Some(self.score(self.alphabet.code(query)?, self.alphabet.code(target)?))
    }

    /// The matrix that scores; `None` where a match and a mismatch do.
    pub fn substitution_matrix(&self) -> Option<&crate::scoring::Matrix> {
        match &self.substitution {
            Substitution::Equal { .. } => None,
            Substitution::Matrix(matrix) => Some(matrix),
        }
    }
}
