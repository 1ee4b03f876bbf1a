//! The class `Hit`.

use crate::scoring::{alphabet, alphabet_name};
use crate::significance::Significance;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use swalign::{Alphabet, Scoring, Strand};

const GAP: u8 = b'-';

/// An alignment of a query with a target.
///
/// Positions are 0-based and half-open. On strand -1, the reverse complement of the query is aligned, but positions in
/// the query still refer to the query as given. CIGARs are in the direction of the target, as in SAM. ``print(hit)``
/// shows the alignment.
///
/// >>> import pyswalign
/// >>> hit = pyswalign.align("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA", preset="long")
/// >>> hit.score, hit.query_start, hit.query_end, hit.target_start, hit.target_end, hit.cigar
/// (36, 0, 22, 2, 26, '10M2D12M')
/// >>> print(hit)
/// Query: query (22 letters)
/// <BLANKLINE>
/// > target (28 letters)
/// Score 36 (34.5 bits), E-value 1.74e-08, strand +
/// Identities 22/24 (91.7 %), gaps 2/24 (8.3 %), query 100.0 % covered
/// <BLANKLINE>
/// Query   1 ACGTTGCATT--AGCCATGGATCC 22
///           ||||||||||  ||||||||||||
/// Target  3 ACGTTGCATTCAAGCCATGGATCC 26
#[pyclass(frozen, name = "Hit", module = "pyswalign")]
#[derive(Clone)]
pub struct PyHit {
    pub found: Found,
    significance: Likely,
}

/// Bit score and E-value: computed (`None` if the scoring has no E-values), or computed when they are first read.
#[derive(Clone)]
enum Likely {
    Reckoned(Option<(f64, f64)>),
    Open(Arc<Significance>),
}

/// An alignment and the residues that it aligns.
#[derive(Clone, PartialEq)]
pub struct Found {
    query_name: Option<String>,
    target_name: String,
    target_index: usize,
    /// Lengths of the whole query and the whole target.
    lengths: (usize, usize),
    score: i32,
    query: (usize, usize),
    target: (usize, usize),
    is_reverse: bool,
    /// CIGAR operations with their lengths.
    runs: Vec<(u32, u8)>,
    matches: usize,
    alphabet: Alphabet,
    /// Aligned residues of query and target, in the direction of the target.
    letters: (Box<[u8]>, Box<[u8]>),
    /// The middle row of a protein alignment, as in BLAST: the residue of an identity, `+` for a positive score.
    signs: Option<Box<[u8]>>,
}

/// The query and the target of a hit, and their scoring.
pub struct Of<'a> {
    pub query_name: Option<&'a str>,
    pub query: &'a [u8],
    pub target_name: &'a str,
    pub target_len: usize,
    /// Aligned residues of the target.
    pub target: Vec<u8>,
    pub scoring: &'a Scoring,
}

impl Found {
    pub fn new(hit: &swalign::Hit, of: Of<'_>) -> Found {
        let Of { query_name, query, target_name, target_len, target, scoring } = of;
        let alphabet = scoring.alphabet;
        let aligned = &query[hit.query_range()];
        let is_reverse = hit.strand() == Strand::Reverse;
        let mut letters: Box<[u8]> = match is_reverse {
            true => aligned.iter().rev().map(|&letter| complement(letter)).collect(),
            false => aligned.into(),
        };
        let mut target = target.into_boxed_slice();
        normalise(&mut letters, alphabet);
        normalise(&mut target, alphabet);
        let mut found = Found {
            query_name: query_name.map(str::to_string),
            target_name: target_name.to_string(),
            target_index: hit.target(),
            lengths: (query.len(), target_len),
            score: hit.score(),
            query: (hit.query_range().start, hit.query_range().end),
            target: (hit.target_range().start, hit.target_range().end),
            is_reverse,
            runs: hit.cigar().runs().map(|(len, op)| (len, op.letter() as u8)).collect(),
            matches: hit.matches(),
            alphabet,
            letters: (letters, target),
            signs: None,
        };
        if alphabet == Alphabet::Protein {
            let [query, target] = found.rows();
            let sign = |(&query, &target): (&u8, &u8)| match scoring.of_letters(query, target) {
                _ if query == target => query,
                Some(score) if score > 0 => b'+',
                _ => b' ',
            };
            found.signs = Some(query.iter().zip(&target).map(sign).collect());
        }
        found
    }

    /// The rows of query and target with gaps, in the direction of the target.
    fn rows(&self) -> [Vec<u8>; 2] {
        let (mut query, mut target) = (self.letters.0.iter(), self.letters.1.iter());
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for &(len, op) in &self.runs {
            for _ in 0..len {
                let next = |letters: &mut std::slice::Iter<'_, u8>, without: u8| match op == without {
                    true => GAP,
                    false => letters.next().copied().unwrap_or(GAP),
                };
                upper.push(next(&mut query, b'D'));
                lower.push(next(&mut target, b'I'));
            }
        }
        [upper, lower]
    }

    /// The row of the query, the middle row and the row of the target, in the direction of the query.
    fn shown(&self) -> [String; 3] {
        let [mut query, mut target] = self.rows();
        let is_equal = |(query, target): (&u8, &u8)| query == target && b"ACGT".contains(query);
        let mut signs: Vec<u8> = match &self.signs {
            Some(signs) => signs.to_vec(),
            None => query.iter().zip(&target).map(|pair| if is_equal(pair) { b'|' } else { b' ' }).collect(),
        };
        if self.is_reverse {
            for row in [&mut query, &mut target] {
                row.reverse();
                row.iter_mut().for_each(|letter| *letter = complement(*letter));
            }
            signs.reverse();
        }
        [query, signs, target].map(|row| row.into_iter().map(char::from).collect())
    }

    fn columns(&self) -> usize {
        self.runs.iter().map(|&(len, _)| len as usize).sum()
    }

    fn cigar(&self) -> String {
        self.runs.iter().map(|&(len, op)| format!("{len}{}", char::from(op))).collect()
    }

    /// CIGAR operations with their lengths, with = and X instead of M.
    fn extended(&self) -> Vec<(u32, char)> {
        let [query, target] = self.rows();
        let is_equal = |query: u8, target: u8| {
            query == target && (self.alphabet == Alphabet::Protein || b"ACGT".contains(&query))
        };
        let step = |(query, target): (&u8, &u8)| match (*query, *target) {
            (GAP, _) => 'D',
            (_, GAP) => 'I',
            (query, target) if is_equal(query, target) => '=',
            _ => 'X',
        };
        let steps: Vec<char> = query.iter().zip(&target).map(step).collect();
        steps.chunk_by(|a, b| a == b).map(|run| (run.len() as u32, run[0])).collect()
    }
}

/// The CIGAR with M instead of = and X.
pub fn basic(runs: &[(u32, char)]) -> String {
    let letter = |op: char| if matches!(op, '=' | 'X') { 'M' } else { op };
    let joined = runs.chunk_by(|a, b| letter(a.1) == letter(b.1));
    let shown =
        |run: &[(u32, char)]| format!("{}{}", run.iter().map(|(len, _)| len).sum::<u32>(), letter(run[0].1));
    joined.map(shown).collect()
}

/// Converts residues to the form that alignments show: upper case, and T for U in DNA.
fn normalise(letters: &mut [u8], alphabet: Alphabet) {
    letters.make_ascii_uppercase();
    if alphabet == Alphabet::Dna {
        letters.iter_mut().filter(|letter| **letter == b'U').for_each(|letter| *letter = b'T');
    }
}

/// The complement of an IUPAC code. Other characters are returned unchanged.
pub fn complement(letter: u8) -> u8 {
    const LETTERS: &[u8; 16] = b"ACGTRYSWKMBDHVNU";
    const OTHERS: &[u8; 16] = b"TGCAYRSWMKVHDBNA";
    let place = LETTERS.iter().position(|own| own.eq_ignore_ascii_case(&letter));
    place.map_or(letter, |place| OTHERS[place])
}

impl PyHit {
    pub fn new(found: Found, significance: &Arc<Significance>) -> PyHit {
        let is_local = significance.is_local();
        let significance =
            if is_local { Likely::Open(Arc::clone(significance)) } else { Likely::Reckoned(None) };
        PyHit { found, significance }
    }

    fn likely(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        match &self.significance {
            Likely::Reckoned(known) => Ok(*known),
            Likely::Open(significance) => significance.of(py, self.found.score, self.found.lengths),
        }
    }
}

/// Pickled state of a hit: names, positions, numbers and residues.
type State<'py> = (
    (Option<String>, String, usize),
    ((usize, usize), (usize, usize), (usize, usize), bool),
    (i32, usize, Vec<(u32, u8)>, &'static str),
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>),
    Option<(f64, f64)>,
);

#[pymethods]
impl PyHit {
    /// Score of the alignment.
    #[getter]
    fn score(&self) -> i32 {
        self.found.score
    }

    /// E-value: the number of alignments with at least this score that are expected by chance, in the whole database
    /// for an Aligner, or between the two sequences of a pair. None in modes other than local, and if the scoring
    /// has no E-values.
    #[getter]
    fn evalue(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.likely(py)?.map(|(_, evalue)| evalue))
    }

    /// Bit score; None if there is no E-value.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.likely(py)?.map(|(bits, _)| bits))
    }

    /// Name of the query; None if it has no name.
    #[getter]
    fn query_name(&self) -> Option<&str> {
        self.found.query_name.as_deref()
    }

    /// Name of the target.
    #[getter]
    fn target_name(&self) -> &str {
        &self.found.target_name
    }

    /// Index of the target in the database, from 0.
    #[getter]
    fn target_index(&self) -> usize {
        self.found.target_index
    }

    /// Position of the first aligned residue of the query, from 0.
    #[getter]
    fn query_start(&self) -> usize {
        self.found.query.0
    }

    /// Position after the last aligned residue of the query.
    #[getter]
    fn query_end(&self) -> usize {
        self.found.query.1
    }

    /// Number of residues of the query.
    #[getter]
    fn query_length(&self) -> usize {
        self.found.lengths.0
    }

    /// Position of the first aligned residue of the target, from 0.
    #[getter]
    fn target_start(&self) -> usize {
        self.found.target.0
    }

    /// Position after the last aligned residue of the target.
    #[getter]
    fn target_end(&self) -> usize {
        self.found.target.1
    }

    /// Number of residues of the target.
    #[getter]
    fn target_length(&self) -> usize {
        self.found.lengths.1
    }

    /// 1 if the query is aligned as given, -1 if its reverse complement is aligned.
    #[getter]
    fn strand(&self) -> i8 {
        if self.found.is_reverse { -1 } else { 1 }
    }

    /// CIGAR as in the command's SAM, without clipping. Same as ``cigar_basic``.
    #[getter]
    fn cigar(&self) -> String {
        self.found.cigar()
    }

    /// CIGAR with M (match or mismatch), I (only in the query) and D (only in the target).
    #[getter]
    fn cigar_basic(&self) -> String {
        self.found.cigar()
    }

    /// CIGAR with = (match), X (mismatch), I (only in the query) and D (only in the target).
    #[getter]
    fn cigar_extended(&self) -> String {
        self.found.extended().into_iter().map(|(len, op)| format!("{len}{op}")).collect()
    }

    /// ``cigar`` as a list of pairs of a length and an operation.
    #[getter]
    fn cigar_list(&self) -> Vec<(u32, char)> {
        self.found.runs.iter().map(|&(len, op)| (len, char::from(op))).collect()
    }

    /// Number of columns with equal residues. In DNA, ambiguous codes such as N never count as equal.
    #[getter]
    fn matches(&self) -> usize {
        self.found.matches
    }

    /// Number of columns that are not matches: mismatches, insertions and deletions.
    #[getter]
    fn edits(&self) -> usize {
        self.found.columns() - self.found.matches
    }

    /// Number of columns of the alignment, gaps included.
    #[getter]
    fn columns(&self) -> usize {
        self.found.columns()
    }

    /// ``matches`` divided by ``columns``, from 0 to 1.
    #[getter]
    fn identity(&self) -> f64 {
        self.found.matches as f64 / self.found.columns().max(1) as f64
    }

    /// "dna" or "protein".
    #[getter]
    fn alphabet(&self) -> &'static str {
        alphabet_name(self.found.alphabet)
    }

    /// The three rows of the alignment in the direction of the query: the query with gaps, the middle row (| for
    /// matches in DNA, residues and + in proteins), and the target with gaps.
    #[getter]
    fn aligned(&self) -> (String, String, String) {
        self.found.shown().into()
    }

    fn __repr__(&self) -> String {
        let Found { target_name, query, target, score, .. } = &self.found;
        let strand = if self.found.is_reverse { '-' } else { '+' };
        format!(
            "<Hit {}:{}-{} {target_name}:{}-{} {strand} score={score} {}>",
            self.query_name().unwrap_or("query"),
            query.0,
            query.1,
            target.0,
            target.1,
            self.found.cigar()
        )
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyswalign._text")?.getattr("text")?.call1((slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyswalign._text")?.getattr("html")?.call1((slf,))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyHit>().is_ok_and(|other| other.get().found == self.found)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let Found { query_name, target_name, score, query, target, is_reverse, .. } = &self.found;
        (query_name, target_name, score, query, target, is_reverse).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("pyswalign._native")?.getattr("_hit")?;
        let found = &self.found;
        let bytes = |letters: &[u8]| PyBytes::new(py, letters);
        let state: State<'py> = (
            (found.query_name.clone(), found.target_name.clone(), found.target_index),
            (found.lengths, found.query, found.target, found.is_reverse),
            (found.score, found.matches, found.runs.clone(), alphabet_name(found.alphabet)),
            (bytes(&found.letters.0), bytes(&found.letters.1), found.signs.as_deref().map(bytes)),
            self.likely(py)?,
        );
        Ok((restore, (state,).into_pyobject(py)?))
    }
}

/// The same state as [`State`], as read from a pickle.
type Pickled = (
    (Option<String>, String, usize),
    ((usize, usize), (usize, usize), (usize, usize), bool),
    (i32, usize, Vec<(u32, u8)>, String),
    (Vec<u8>, Vec<u8>, Option<Vec<u8>>),
    Option<(f64, f64)>,
);

/// Restores a pickled hit.
#[pyfunction]
pub fn _hit(state: Pickled) -> PyResult<PyHit> {
    let (
        (query_name, target_name, target_index),
        (lengths, query, target, is_reverse),
        numbers,
        letters,
        likely,
    ) = state;
    let (score, matches, runs, alphabet_name) = numbers;
    let found = Found {
        query_name,
        target_name,
        target_index,
        lengths,
        score,
        query,
        target,
        is_reverse,
        runs,
        matches,
        alphabet: alphabet(&alphabet_name)?,
        letters: (letters.0.into(), letters.1.into()),
        signs: letters.2.map(Into::into),
    };
    Ok(PyHit { found, significance: Likely::Reckoned(likely) })
}

/// The hits of a query as a list.
pub fn list<'py>(py: Python<'py>, hits: Vec<PyHit>) -> PyResult<Bound<'py, PyList>> {
    let hits: Vec<Py<PyHit>> = hits.into_iter().map(|hit| Py::new(py, hit)).collect::<PyResult<_>>()?;
    PyList::new(py, hits)
}
