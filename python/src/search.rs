//! Patterns in a database, with edits.

use crate::letters::{Source, path};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use swalign::{Strand, Targets};

/// An occurrence of a pattern in a sequence of the database.
///
/// ``start`` and ``end`` are 0-based and half-open, in the target. On strand -1 the target has the reverse complement of
/// the pattern. ``cigar`` has the direction of the target, with = and X.
#[pyclass(frozen, name = "Match", module = "pyswalign", eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyMatch {
    pattern_name: String,
    target_name: String,
    pattern_index: usize,
    target_index: usize,
    start: usize,
    end: usize,
    strand: i8,
    edits: usize,
    runs: Vec<(u32, char)>,
}

#[pymethods]
impl PyMatch {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "what a pickle holds")]
    fn new(
        pattern_name: String,
        target_name: String,
        pattern_index: usize,
        target_index: usize,
        start: usize,
        end: usize,
        strand: i8,
        edits: usize,
        cigar_list: Vec<(u32, char)>,
    ) -> PyMatch {
        let runs = cigar_list;
        PyMatch { pattern_name, target_name, pattern_index, target_index, start, end, strand, edits, runs }
    }

    /// The name of the pattern.
    #[getter]
    fn pattern_name(&self) -> &str {
        &self.pattern_name
    }

    /// The name of the target.
    #[getter]
    fn target_name(&self) -> &str {
        &self.target_name
    }

    /// Index of the pattern among the patterns of the search, from 0.
    #[getter]
    fn pattern_index(&self) -> usize {
        self.pattern_index
    }

    /// Index of the target in the database, from 0.
    #[getter]
    fn target_index(&self) -> usize {
        self.target_index
    }

    /// Position of the first base of the match in the target, from 0.
    #[getter]
    fn start(&self) -> usize {
        self.start
    }

    /// Position after the last base of the match in the target.
    #[getter]
    fn end(&self) -> usize {
        self.end
    }

    /// 1 if the target has the pattern as given, -1 if it has its reverse complement.
    #[getter]
    fn strand(&self) -> i8 {
        self.strand
    }

    /// The fewest edits of the pattern that end here.
    #[getter]
    fn edits(&self) -> usize {
        self.edits
    }

    /// The path in the direction of the target: = and X, I (pattern only) and D (target only).
    #[getter]
    fn cigar(&self) -> String {
        self.runs.iter().map(|(len, op)| format!("{len}{op}")).collect()
    }

    /// The same as a list of pairs of a length and an operation.
    #[getter]
    fn cigar_list(&self) -> Vec<(u32, char)> {
        self.runs.clone()
    }

    fn __repr__(&self) -> String {
        let PyMatch { pattern_name, target_name, start, end, edits, .. } = self;
        let strand = if self.strand < 0 { '-' } else { '+' };
        format!("<Match {pattern_name} {target_name}:{start}-{end} {strand} edits={edits} {}>", self.cigar())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let own = slf.get().clone();
        let state = (
            own.pattern_name,
            own.target_name,
            own.pattern_index,
            own.target_index,
            own.start,
            own.end,
            own.strand,
            own.edits,
            own.runs,
        );
        Ok((slf.get_type().into_any(), state.into_pyobject(slf.py())?))
    }
}

/// Patterns with their names, which are their places where they have none; one sequence alone is one pattern.
pub fn patterns(given: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<u8>)>> {
    let py = given.py();
    let is_one = crate::letters::is_plain(given) && path(given)?.is_none();
    let source = match is_one {
        true => Source::of(PyList::new(py, [given])?.as_any(), "patterns")?,
        false => Source::of(given, "patterns")?,
    };
    let all = source.all(py)?.into_iter().enumerate();
    Ok(all.map(|(place, one)| (one.name.unwrap_or_else(|| place.to_string()), one.letters)).collect())
}

/// The matches of all targets, one behind the other.
pub fn list<'py>(
    py: Python<'py>,
    targets: &Targets,
    found: Vec<Vec<swalign::Match>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (target, found) in found.into_iter().enumerate() {
        for one in found {
            let shown = PyMatch {
                pattern_name: one.pattern_name().to_string(),
                target_name: targets.name(target).unwrap_or_default().to_string(),
                pattern_index: one.pattern(),
                target_index: target,
                start: one.range().start,
                end: one.range().end,
                strand: if one.strand() == Strand::Reverse { -1 } else { 1 },
                edits: one.edits(),
                runs: one.cigar().runs().map(|(len, op)| (len, op.letter())).collect(),
            };
            list.append(Bound::new(py, shown)?)?;
        }
    }
    Ok(list)
}
