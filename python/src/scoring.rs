//! Scorings, and how callers say which one they want.

use crate::errors::exception;
use crate::letters::deprecated_path;
use crate::significance::Significance;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use swalign::{AlignmentMode, Alphabet, GapPiece, Matrix, PairAligner};

/// Scores of residues and costs of gaps.
///
/// A gap of k residues costs gap_open + k * gap_extend, both positive numbers: with gap_open=4 and gap_extend=2, a gap of one
/// residue costs 6, and a gap of two residues costs 8. Biopython and parasail have one cost for the first residue and another
/// cost for each further residue; ``from_biopython`` and ``from_parasail`` translate.
///
/// ``matrix`` is the name of a built-in matrix, the pathlib.Path of a file, or a name and the text of a matrix. A built-in
/// matrix has the gap costs of blastp by default, such as 14/2 for BLOSUM45. BLOSUM80 is the edition of blastp, in half bits;
/// BLOSUM80_3 is the edition of EMBOSS, Biopython and parasail, in thirds of bits.
///
/// With two numbers each, as in gap_open=(4, 24) and gap_extend=(2, 1), a gap costs the lower of two costs, as in minimap2.
///
/// Presets: "short" (1/4/6/1, as in bwa mem without its end bonus; the default for DNA), "long" (2/4/4/2, as in minimap2
/// without its second gap cost), "map-ont", "map-pb", "map-hifi", "asm5", "asm10" and "asm20" with the numbers of minimap2,
/// "blastn" (2/3/5/2), "linear" (1/1/0/2), "protein" (BLOSUM62 with 11/1; the default for proteins). If given, "short" and
/// the presets of minimap2 have a penalty of 1 for ambiguous codes. Modes: "local", "glocal" (the whole query), "global" (both whole), "overlap" (one end of each is free).
///
/// >>> from pyswalign import Scoring
/// >>> Scoring("long")
/// Scoring(match=2, mismatch=4, ambiguous=1, gap_open=4, gap_extend=2)
/// >>> Scoring("map-hifi").gap_open
/// (6, 26)
/// >>> Scoring(match=2, mode="global").gap_open
/// 6
/// >>> Scoring(matrix="BLOSUM50")
/// Scoring(matrix='BLOSUM50', gap_open=13, gap_extend=2)
#[pyclass(frozen, name = "Scoring", module = "pyswalign")]
pub struct PyScoring {
    pub chosen: Chosen,
}

/// A scoring, and what is made of it once.
#[derive(Clone)]
pub struct Chosen {
    pub scoring: Arc<swalign::Scoring>,
    /// The text of a matrix that is not built in.
    matrix_text: Option<Arc<str>>,
    /// What aligns pairs on one strand, on the CPU.
    pub pairs: Arc<PairAligner>,
    pub significance: Arc<Significance>,
}

impl Chosen {
    /// Checks the scoring.
    fn new(scoring: swalign::Scoring, matrix_text: Option<Arc<str>>) -> PyResult<Chosen> {
        let pairs = PairAligner::builder(scoring.clone()).build().map_err(exception)?;
        let scoring = Arc::new(scoring);
        let significance = Arc::new(Significance::of_pairs(&scoring));
        Ok(Chosen { scoring, matrix_text, pairs: Arc::new(pairs), significance })
    }

    /// The default for an alphabet.
    pub fn default(alphabet: Alphabet) -> PyResult<Chosen> {
        static DNA: OnceLock<Chosen> = OnceLock::new();
        static PROTEIN: OnceLock<Chosen> = OnceLock::new();
        let cell = match alphabet {
            Alphabet::Dna => &DNA,
            Alphabet::Protein => &PROTEIN,
        };
        match cell.get() {
            Some(chosen) => Ok(chosen.clone()),
            None => {
                let scoring = swalign::Scoring::builder(alphabet).build().map_err(exception)?;
                let chosen = Chosen::new(scoring, None)?;
                Ok(cell.get_or_init(|| chosen).clone())
            }
        }
    }
}

/// A scoring as callers say it, by keywords.
#[derive(Default)]
pub struct Choice {
    scoring: Option<Chosen>,
    preset: Option<String>,
    match_: Option<i32>,
    mismatch: Option<i32>,
    ambiguous: Option<i32>,
    iupac: bool,
    end_bonus: Option<i32>,
    gap_open: Option<PerPiece>,
    gap_extend: Option<PerPiece>,
    matrix: Option<MatrixChoice>,
    mode: Option<AlignmentMode>,
    alphabet: Option<Alphabet>,
}

/// A cost for each piece of the gap costs.
type PerPiece = Vec<i32>;

enum MatrixChoice {
    BuiltIn(Matrix),
    Text { name: String, text: Arc<str> },
}

impl Choice {
    /// Takes the keywords that `of` was called with, those of a scoring.
    pub fn of(call: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<Choice> {
        let mut choice = Choice::default();
        let Some(given) = given else { return Ok(choice) };
        for (key, value) in given {
            if value.is_none() {
                continue;
            }
            let key: String = key.extract()?;
            match &*key {
                "scoring" => choice.scoring = Some(value.cast::<PyScoring>()?.get().chosen.clone()),
                "preset" => choice.preset = Some(value.extract()?),
                "match" => choice.match_ = Some(number(&key, &value)?),
                "mismatch" => choice.mismatch = Some(number(&key, &value)?),
                "ambiguous" => choice.ambiguous = Some(number(&key, &value)?),
                "iupac" => choice.iupac = value.extract()?,
                "end_bonus" => choice.end_bonus = Some(number(&key, &value)?),
                "gap_open" => choice.gap_open = Some(per_piece(&key, &value)?),
                "gap_extend" => choice.gap_extend = Some(per_piece(&key, &value)?),
                "matrix" => choice.matrix = Some(matrix(&value)?),
                "mode" => choice.mode = Some(mode(&value.extract::<String>()?)?),
                "alphabet" => choice.alphabet = Some(alphabet(&value.extract::<String>()?)?),
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "{call}() got an unexpected keyword argument '{key}'"
                    )));
                }
            }
        }
        Ok(choice)
    }

    /// The alphabet that the numbers, the preset and the matrix are for.
    pub fn implied_alphabet(&self) -> Option<Alphabet> {
        let is_built_in = matches!(self.matrix, Some(MatrixChoice::BuiltIn(_)));
        match self.preset.as_deref() {
            Some("protein") => Some(Alphabet::Protein),
            _ if is_built_in => Some(Alphabet::Protein),
            Some(_) => Some(Alphabet::Dna),
            None => self.is_by_match().then_some(Alphabet::Dna),
        }
    }

    /// Whether a keyword is given that only scorings without a matrix have.
    fn is_by_match(&self) -> bool {
        self.match_.or(self.mismatch).or(self.ambiguous).is_some() || self.iupac
    }

    /// The alphabet, where it was said.
    pub fn alphabet(&self) -> Option<Alphabet> {
        self.alphabet.or(self.scoring.as_ref().map(|chosen| chosen.scoring.alphabet))
    }

    /// The scoring; `of_sequences` tells their alphabet if it was not said, and is told the one that other keywords imply.
    pub fn resolve(
        self,
        of_sequences: impl FnOnce(Option<Alphabet>) -> PyResult<Alphabet>,
    ) -> PyResult<Chosen> {
        let implied = self.implied_alphabet();
        let is_by_match = self.is_by_match();
        let Choice { scoring, preset, gap_open, gap_extend, matrix, mode, alphabet, .. } = self;
        let Choice { match_, mismatch, ambiguous, iupac, end_bonus, .. } = self;
        if let Some(chosen) = scoring {
            let others = is_by_match || gap_open.is_some() || gap_extend.is_some() || end_bonus.is_some();
            if others || preset.is_some() || matrix.is_some() || mode.is_some() {
                return refused(
                    "scoring excludes preset, match, mismatch, ambiguous, iupac, end_bonus, gap_open, gap_extend, matrix and mode",
                );
            }
            return Ok(chosen);
        }
        let alphabet = match alphabet {
            Some(alphabet) => alphabet,
            None => of_sequences(implied)?,
        };
        let has_numbers = is_by_match || gap_open.is_some() || gap_extend.is_some() || end_bonus.is_some();
        if preset.is_none() && matrix.is_none() && mode.is_none() && !has_numbers {
            return Chosen::default(alphabet);
        }
        let base = match preset.as_deref() {
            Some(name) => self::preset(name)?,
            None => swalign::Scoring::builder(alphabet).build().map_err(exception)?,
        };
        let usual = match &matrix {
            Some(MatrixChoice::BuiltIn(matrix)) => matrix.usual_gap_costs(),
            Some(MatrixChoice::Text { .. }) | None => None,
        };
        let [opens, extends] = match usual {
            Some((open, extend)) => [vec![open], vec![extend]],
            None => [
                pieces(&base).map(|piece| piece.open).collect(),
                pieces(&base).map(|piece| piece.extend).collect(),
            ],
        };
        let (opens, extends) = (gap_open.unwrap_or(opens), gap_extend.unwrap_or(extends));
        let (Some(&open), Some(&extend), true) =
            (opens.first(), extends.first(), opens.len() == extends.len())
        else {
            return refused(
                "gap_open and gap_extend must have the same number of values, one or two, such as gap_open=(4, 24) and \
                 gap_extend=(2, 1)",
            );
        };
        let (scoring, text) = match matrix {
            Some(_) if is_by_match => {
                return refused(
                    "matrix excludes match, mismatch, ambiguous and iupac; give one or the others",
                );
            }
            Some(MatrixChoice::BuiltIn(_)) if alphabet == Alphabet::Dna => {
                return refused(
                    "the built-in matrices score proteins, and the sequences are DNA; leave matrix out, or give \
                     alphabet='protein'",
                );
            }
            Some(MatrixChoice::BuiltIn(matrix)) => {
                (swalign::Scoring::matrix(alphabet, matrix, open, extend), None)
            }
            Some(MatrixChoice::Text { name, text }) => {
                let matrix = Matrix::from_text(&name, &text, alphabet).map_err(exception)?;
                (swalign::Scoring::matrix(alphabet, matrix, open, extend), Some(text))
            }
            None => match (base.match_and_mismatch(), base.substitution_matrix()) {
                (Some(_), _) if alphabet == Alphabet::Dna => {
                    if iupac && ambiguous.is_some() {
                        return refused("iupac excludes ambiguous; give one or the other");
                    }
                    let mut one_piece = base.clone();
                    one_piece.further_gaps = Default::default();
                    let mut builder = one_piece.to_builder().gap_open(open).gap_extend(extend);
                    if let Some(score) = match_ {
                        builder = builder.match_score(score);
                    }
                    if let Some(penalty) = mismatch {
                        builder = builder.mismatch(penalty);
                    }
                    if let Some(penalty) = ambiguous {
                        builder = builder.ambiguous(penalty);
                    }
                    if iupac {
                        builder = builder.iupac();
                    }
                    (builder.build().map_err(exception)?, None)
                }
                (None, Some(matrix)) if alphabet == Alphabet::Protein && !is_by_match => {
                    (swalign::Scoring::matrix(alphabet, matrix.clone(), open, extend), None)
                }
                _ if alphabet == Alphabet::Protein => {
                    return refused(
                        "proteins are scored by a matrix; give matrix or preset='protein', not match and mismatch, or \
                         alphabet='dna' if the sequences are DNA",
                    );
                }
                _ => {
                    return refused(
                        "preset 'protein' scores proteins, but the sequences are DNA; leave it out, or give \
                         alphabet='protein'",
                    );
                }
            },
        };
        let further = opens.into_iter().zip(extends).skip(1);
        let with_piece = |scoring: swalign::Scoring, (open, extend)| scoring.with_gap_piece(open, extend);
        let scoring = { further }.try_fold(scoring, with_piece).map_err(exception)?;
        let scoring = scoring.in_mode(mode.unwrap_or_default());
        let bonus = end_bonus.unwrap_or(0);
        if bonus != 0 && (alphabet == Alphabet::Protein || !scoring.mode.is_local()) {
            return refused("end_bonus is for DNA and mode='local'; leave it out");
        }
        Chosen::new(scoring.with_end_bonus(bonus), text)
    }
}

fn refused<T>(text: &str) -> PyResult<T> {
    Err(PyValueError::new_err(text.to_string()))
}

fn preset(name: &str) -> PyResult<swalign::Scoring> {
    swalign::Scoring::preset(name).ok_or_else(|| {
        let names = swalign::Scoring::PRESETS.join(", ");
        PyValueError::new_err(format!("no preset is called '{name}'; give one of {names}"))
    })
}

fn number(key: &str, value: &Bound<'_, PyAny>) -> PyResult<i32> {
    let number: i64 = value.extract()?;
    i32::try_from(number).map_err(|_| PyValueError::new_err(format!("{key} {number} is out of range")))
}

/// A number, or a tuple of two.
fn per_piece(key: &str, value: &Bound<'_, PyAny>) -> PyResult<PerPiece> {
    match value.cast::<PyTuple>() {
        Ok(costs) => costs.iter().map(|cost| number(key, &cost)).collect(),
        Err(_) => Ok(vec![number(key, value)?]),
    }
}

/// The pieces of the gap costs.
fn pieces(scoring: &swalign::Scoring) -> impl Iterator<Item = GapPiece> {
    let first = GapPiece::new(scoring.gap_open, scoring.gap_extend);
    std::iter::once(first).chain(scoring.further_gaps.into_iter().flatten())
}

fn mode(name: &str) -> PyResult<AlignmentMode> {
    let of_name = AlignmentMode::ALL.into_iter().find(|(mode, _)| mode.to_string() == name);
    of_name.map(|(mode, _)| mode).ok_or_else(|| {
        let names: Vec<String> = AlignmentMode::ALL.iter().map(|(mode, _)| mode.to_string()).collect();
        PyValueError::new_err(format!("no mode is called '{name}'; give one of {}", names.join(", ")))
    })
}

pub fn alphabet(name: &str) -> PyResult<Alphabet> {
    match name {
        "dna" => Ok(Alphabet::Dna),
        "protein" => Ok(Alphabet::Protein),
        _ => refused(&format!("alphabet '{name}': give 'dna' or 'protein'")),
    }
}

pub fn alphabet_name(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Dna => "dna",
        Alphabet::Protein => "protein",
    }
}

/// The name of a built-in matrix, the path of a file, or a name and a text. A str as a path is deprecated.
fn matrix(given: &Bound<'_, PyAny>) -> PyResult<MatrixChoice> {
    if let Ok(pair) = given.cast::<PyTuple>() {
        let (name, text): (String, String) = pair.extract()?;
        return Ok(MatrixChoice::Text { name, text: text.into() });
    }
    let path: PathBuf = given.extract()?;
    if let Some(matrix) = path.to_str().and_then(Matrix::named) {
        return Ok(MatrixChoice::BuiltIn(matrix));
    }
    if given.is_instance_of::<PyString>() && path.exists() {
        deprecated_path(given.py(), "pathlib.Path; a str is the name of a built-in matrix")?;
    }
    let text = std::fs::read_to_string(&path).map_err(|source| {
        let names: Vec<&str> = Matrix::names().collect();
        let text = format!(
            "{}: {source}; give the path of a matrix file, or one of {}",
            path.display(),
            names.join(", ")
        );
        PyErr::from(std::io::Error::new(source.kind(), text))
    })?;
    Ok(MatrixChoice::Text { name: path.display().to_string(), text: text.into() })
}

/// A cost, or a tuple of a cost for each piece.
fn costs<'py>(
    py: Python<'py>,
    scoring: &swalign::Scoring,
    cost: fn(GapPiece) -> i32,
) -> PyResult<Bound<'py, PyAny>> {
    let costs: Vec<i32> = pieces(scoring).map(cost).collect();
    match &costs[..] {
        [cost] => Ok(cost.into_pyobject(py)?.into_any()),
        costs => Ok(PyTuple::new(py, costs)?.into_any()),
    }
}

#[pymethods]
impl PyScoring {
    #[new]
    #[pyo3(signature = (preset=None, **choice))]
    fn new(preset: Option<&Bound<'_, PyAny>>, choice: Option<&Bound<'_, PyDict>>) -> PyResult<PyScoring> {
        let mut said = Choice::of("Scoring", choice)?;
        if let Some(preset) = preset {
            said.preset = Some(preset.extract()?);
        }
        Ok(PyScoring { chosen: said.resolve(|implied| Ok(implied.unwrap_or(Alphabet::Dna)))? })
    }

    /// Score of a match; None if a matrix has the scores.
    #[getter]
    fn r#match(&self) -> Option<i32> {
        self.chosen.scoring.match_and_mismatch().map(|(match_, _)| match_)
    }

    /// Cost of a mismatch, a positive number; None if a matrix has the scores.
    #[getter]
    fn mismatch(&self) -> Option<i32> {
        self.chosen.scoring.match_and_mismatch().map(|(_, mismatch)| mismatch)
    }

    /// Cost of a pair with N or another ambiguous code, a positive number; None if these codes match or a matrix has the
    /// scores.
    #[getter]
    fn ambiguous(&self) -> Option<i32> {
        self.chosen.scoring.ambiguous_penalty()
    }

    /// Whether ambiguous codes match the codes that they have a base in common with.
    #[getter]
    fn iupac(&self) -> bool {
        self.chosen.scoring.matches_iupac()
    }

    /// Bonus of an alignment for each end of the query that it reaches. It decides which alignment is the best one, but it is
    /// not part of the score.
    #[getter]
    fn end_bonus(&self) -> i32 {
        self.chosen.scoring.end_bonus
    }

    /// Cost of opening a gap, in addition to the cost of its first residue. A tuple if gaps have two costs.
    #[getter]
    fn gap_open<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scoring = &self.chosen.scoring;
        costs(py, scoring, |piece| piece.open)
    }

    /// Cost of each residue of a gap. A tuple if gaps have two costs.
    #[getter]
    fn gap_extend<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scoring = &self.chosen.scoring;
        costs(py, scoring, |piece| piece.extend)
    }

    /// Name of the matrix; None if match and mismatch have the scores.
    #[getter]
    fn matrix(&self) -> Option<&str> {
        self.chosen.scoring.substitution_matrix().map(|matrix| &*matrix.name)
    }

    /// The ends of the sequences that are free: "local", "glocal", "global" or "overlap".
    #[getter]
    fn mode(&self) -> String {
        self.chosen.scoring.mode.to_string()
    }

    /// "dna" or "protein".
    #[getter]
    fn alphabet(&self) -> &'static str {
        alphabet_name(self.chosen.scoring.alphabet)
    }

    /// The score of two residues.
    fn score(&self, query: &str, target: &str) -> PyResult<i32> {
        let alphabet = self.chosen.scoring.alphabet;
        let (&[query], &[target]) = (query.as_bytes(), target.as_bytes()) else {
            return refused(&format!("give one letter of {alphabet} each"));
        };
        let score = self.chosen.scoring.of_letters(query, target);
        score.ok_or_else(|| PyValueError::new_err(format!("give letters of {alphabet}")))
    }

    /// The cost of a gap of ``length`` residues.
    fn gap_cost(&self, length: usize) -> i64 {
        if length == 0 { 0 } else { self.chosen.scoring.gap_cost(length) }
    }

    fn __repr__(&self) -> String {
        let scoring = &self.chosen.scoring;
        let letters = match (scoring.match_and_mismatch(), scoring.substitution_matrix()) {
            (Some((match_, mismatch)), _) => match scoring.ambiguous_penalty() {
                None => format!("match={match_}, mismatch={mismatch}, iupac=True"),
                Some(penalty) if penalty == mismatch => format!("match={match_}, mismatch={mismatch}"),
                Some(penalty) => format!("match={match_}, mismatch={mismatch}, ambiguous={penalty}"),
            },
            (None, Some(matrix)) => format!("matrix='{}'", matrix.name),
            (None, None) => String::new(),
        };
        let mode = if scoring.mode.is_local() { String::new() } else { format!(", mode='{}'", scoring.mode) };
        let bonus = match scoring.end_bonus {
            0 => String::new(),
            bonus => format!(", end_bonus={bonus}"),
        };
        let listed = |cost: fn(GapPiece) -> i32| {
            let costs: Vec<String> = pieces(scoring).map(|piece| cost(piece).to_string()).collect();
            if costs.len() == 1 { costs.concat() } else { format!("({})", costs.join(", ")) }
        };
        let (opens, extends) = (listed(|piece| piece.open), listed(|piece| piece.extend));
        let gaps = format!("gap_open={opens}, gap_extend={extends}");
        format!("Scoring({letters}, {gaps}{bonus}{mode})")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyScoring>().is_ok_and(|other| *other.get().chosen.scoring == *self.chosen.scoring)
    }

    fn __hash__(&self) -> u64 {
        let scoring = &self.chosen.scoring;
        let of_letters = scoring.match_and_mismatch().unwrap_or_default();
        [of_letters.0, of_letters.1, scoring.gap_open, scoring.gap_extend]
            .iter()
            .fold(0, |hash: u64, &number| hash.wrapping_mul(1_000_003).wrapping_add(number as u64))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("pyswalign._native")?.getattr("_scoring")?;
        let matrix_text = &self.chosen.matrix_text;
        let keywords = PyDict::new(py);
        keywords.set_item("alphabet", self.alphabet())?;
        keywords.set_item("mode", self.mode())?;
        keywords.set_item("gap_open", self.gap_open(py)?)?;
        keywords.set_item("gap_extend", self.gap_extend(py)?)?;
        keywords.set_item("match", self.r#match())?;
        keywords.set_item("mismatch", self.mismatch())?;
        keywords.set_item("ambiguous", self.ambiguous())?;
        keywords.set_item("iupac", self.iupac())?;
        keywords.set_item("end_bonus", Some(self.end_bonus()).filter(|&bonus| bonus > 0))?;
        match (self.matrix(), matrix_text) {
            (Some(name), Some(text)) => keywords.set_item("matrix", (name, &**text))?,
            (name, _) => keywords.set_item("matrix", name)?,
        }
        Ok((restore, (keywords,).into_pyobject(py)?))
    }
}

/// Makes a pickled scoring anew.
#[pyfunction]
pub fn _scoring(keywords: &Bound<'_, PyDict>) -> PyResult<PyScoring> {
    PyScoring::new(None, Some(keywords))
}
