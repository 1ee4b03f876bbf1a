//! Queries against a database.

use crate::database::Database;
use crate::device::Device;
use crate::errors::exception;
use crate::hit::{Found, Of, PyHit, list};
use crate::jobs::{self, GivenUp};
use crate::letters::{Sequence, Source, counted, refused_query, sequence};
use crate::scoring::{Choice, Chosen, PyScoring};
use crate::search::{Settings, list_of_targets};
use crate::significance::Significance;
use crate::stream::Stream;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList};
use std::sync::Arc;
use swalign::{Alphabet, Targets};

/// Maximum number of scores in a score matrix.
const MOST_VALUES: usize = 1 << 33;

/// Finds the best alignments of queries with the sequences of a database.
///
/// The score of each hit is the true optimum. Hits do not depend on the device or the number of threads. Threads may
/// share an aligner, and it releases the GIL while it works. ``database`` is a Database, or any argument that
/// Database accepts. ``device`` is "auto" (the best GPU, or the CPU if there is no GPU or it fails), "cpu", "gpu",
/// or one GPU as in "gpu:0". The scoring is a ``preset`` and parameters that override it (``match``, ``mismatch``,
/// ``ambiguous``, ``iupac``, ``end_bonus``, ``gap_open``, ``gap_extend``, ``matrix``, ``mode``), or a ``scoring``. A
/// hit scores at least ``min_score`` (by default 20 matches, or 60 with a matrix; any score in modes other than
/// local), and at least ``secondary_ratio`` times the best score of its query. ``filter=False`` disables the
/// lossless filter: the hits stay the same, only the time changes.
///
/// >>> from pyswalign import Aligner, Database
/// >>> aligner = Aligner(Database([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")]), preset="long", min_score=20, device="cpu")
/// >>> [hit] = aligner.align("ACGTTGCATTAGCCATGGATCC")
/// >>> hit
/// <Hit query:0-22 chr1:2-26 + score=36 10M2D12M>
/// >>> queries = [("r1", "ACGTTGCATTAGCC"), ("r2", "GGATCCATGGCT")]
/// >>> [[(hit.query_name, hit.strand, hit.score) for hit in hits] for hits in aligner.align_batch(queries)]
/// [[('r1', 1, 20)], [('r2', -1, 24)]]
#[pyclass(frozen, name = "Aligner", module = "pyswalign")]
pub struct PyAligner {
    shared: Arc<Shared>,
    database: Py<Database>,
    chosen: Chosen,
}

/// Data that all jobs of an aligner share.
pub struct Shared {
    aligner: swalign::Aligner,
    targets: Targets,
    /// Number of residues of all targets.
    letters: u64,
    scoring: Arc<swalign::Scoring>,
    significance: Arc<Significance>,
    device: Device,
    /// Whether the caller specified the alphabet.
    is_stated: bool,
}

impl Shared {
    /// Number of cells of a full search with queries of this total length, on both strands.
    fn cells(&self, letters: usize) -> u64 {
        (letters as u64).saturating_mul(self.letters).saturating_mul(2)
    }

    /// The error message for a DNA query against protein targets, unless the caller specified the alphabet.
    fn refused(&self, query: &Sequence) -> Option<String> {
        let is_open = self.scoring.alphabet == Alphabet::Protein && !self.is_stated;
        if is_open { refused_query(&query.letters) } else { None }
    }

    /// The hits of some queries.
    fn align(&self, queries: &[Sequence], given_up: &GivenUp) -> Vec<swalign::Result<Vec<PyHit>>> {
        let of_query = |(query, hits): (&Sequence, swalign::Result<Vec<swalign::Hit>>)| {
            Ok(hits?.iter().map(|hit| self.shown(query, hit)).collect())
        };
        let hits = self.aligner.align_all(queries).take_while(|_| !given_up.is_true());
        queries.iter().zip(hits).map(of_query).collect()
    }

    fn shown(&self, query: &Sequence, hit: &swalign::Hit) -> PyHit {
        let target = self.targets.letters(hit.target(), hit.target_range()).unwrap_or_default();
        let of = Of {
            query_name: query.name.as_deref(),
            query: &query.letters,
            target_name: hit.target_name(),
            target_len: self.targets.length(hit.target()).unwrap_or_default(),
            target,
            scoring: &self.scoring,
        };
        PyHit::new(Found::new(hit, of), &self.significance)
    }
}

/// Settings of an aligner, except its scoring.
struct AlignerSettings {
    device: Device,
    min_score: Option<i32>,
    max_hits: usize,
    secondary_ratio: f64,
    both_strands: bool,
    filter: bool,
}

impl AlignerSettings {
    fn build(self, scoring: swalign::Scoring, targets: &Targets) -> swalign::Result<swalign::Aligner> {
        let mut builder = swalign::Aligner::builder(scoring)
            .device(self.device.asked())
            .max_hits(self.max_hits)
            .secondary_ratio(self.secondary_ratio)
            .both_strands(self.both_strands)
            .filter(self.filter);
        if let Some(score) = self.min_score {
            builder = builder.min_score(score);
        }
        builder.build(targets)
    }
}

#[pymethods]
impl PyAligner {
    #[new]
    #[pyo3(signature = (database, *, device="auto", min_score=None, max_hits=1, secondary_ratio=0.8, both_strands=true, filter=true, **choice))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn new(
        py: Python<'_>,
        database: &Bound<'_, PyAny>,
        device: &str,
        min_score: Option<i32>,
        max_hits: usize,
        secondary_ratio: f64,
        both_strands: bool,
        filter: bool,
        choice: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyAligner> {
        let choice = Choice::of("Aligner", choice)?;
        let database = match database.cast::<Database>() {
            Ok(database) => database.clone().unbind(),
            Err(_) => Py::new(py, Database::of(database, choice.alphabet(), choice.implied_alphabet())?)?,
        };
        let targets = database.get().targets.clone();
        let is_stated = choice.alphabet().is_some() || database.get().is_stated;
        let chosen = choice.resolve(|_| Ok(targets.alphabet()))?;
        let device = Device::named(device);
        let settings = AlignerSettings {
            device: device.clone(),
            min_score,
            max_hits,
            secondary_ratio,
            both_strands,
            filter,
        };
        let (scoring, own) = ((*chosen.scoring).clone(), targets.clone());
        let build = || jobs::run(py, u64::MAX, move |_| settings.build(scoring, &own))?.map_err(exception);
        let aligner = device.open(py, build)?;
        let device = device.opened(aligner.device());
        let letters = (0..targets.len()).filter_map(|place| targets.length(place)).sum::<usize>() as u64;
        let scoring = Arc::clone(&chosen.scoring);
        let significance = Arc::new(Significance::of_search(&scoring, &targets));
        let shared = Shared { aligner, targets, letters, scoring, significance, device, is_stated };
        Ok(PyAligner { shared: Arc::new(shared), database, chosen })
    }

    /// Returns at most ``max_hits`` hits of one query, best first. A str is a sequence.
    ///
    /// The first hit is the alignment with the highest score over all targets and strands. Each further hit is the
    /// best alignment that overlaps no earlier hit on the same target and strand. The list is empty if no alignment
    /// reaches ``min_score``.
    fn align<'py>(&self, py: Python<'py>, query: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.shared.device.check()?;
        let query = sequence(query)?;
        if let Some(text) = self.shared.refused(&query) {
            return Err(PyValueError::new_err(text));
        }
        let shared = Arc::clone(&self.shared);
        let cells = shared.cells(query.letters.len());
        let found = jobs::run(py, cells, move |given_up| shared.align(&[query], given_up))?;
        list(py, found.into_iter().next().unwrap_or_else(|| Ok(Vec::new())).map_err(exception)?)
    }

    /// Returns an iterator over the lists of hits of the queries, in the order of the queries.
    ///
    /// Queries are any iterable of sequences, a mapping from names to sequences, or the pathlib.Path of a FASTA or
    /// FASTQ file. The iterator reads at most 4,096 queries ahead. If a query is invalid, the iterator raises an
    /// error for it, and then continues with the next query. An error in the format of a file ends the iterator.
    fn align_batch(&self, queries: &Bound<'_, PyAny>) -> PyResult<HitStream> {
        self.shared.device.check()?;
        let queries = Source::of(queries, "the queries of align_batch")?;
        Ok(HitStream { shared: Arc::clone(&self.shared), stream: Stream::new(queries) })
    }

    /// Returns the best score of each query against each target as a NumPy array of int32, with one row per query
    /// and one column per target.
    ///
    /// The targets are the sequences of the database, unless ``targets`` is given. In local mode, the score is 0 if
    /// no alignment has a positive score.
    #[pyo3(signature = (queries, targets=None))]
    fn score_matrix<'py>(
        &self,
        py: Python<'py>,
        queries: &Bound<'py, PyAny>,
        targets: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.device.check()?;
        let numpy = py.import("numpy")?;
        let targets = match targets {
            None => self.shared.targets.clone(),
            Some(given) => match given.cast::<Database>() {
                Ok(database) => database.get().targets.clone(),
                Err(_) => Database::of(given, Some(self.shared.scoring.alphabet), None)?.targets,
            },
        };
        let queries = match queries.cast::<Database>() {
            Ok(database) => all_of(&database.get().targets),
            Err(_) => Source::of(queries, "the queries of score_matrix")?.all(py)?,
        };
        let refused =
            queries.iter().enumerate().find_map(|(row, query)| Some((row, self.shared.refused(query)?)));
        if let Some((row, text)) = refused {
            return Err(PyValueError::new_err(format!("query {row}: {text}")));
        }
        let (rows, columns) = (queries.len(), targets.len());
        let too_large =
            || PyMemoryError::new_err(format!("no room for a matrix of {rows} x {columns} scores"));
        if rows.checked_mul(columns).is_none_or(|values| values > MOST_VALUES) {
            return Err(too_large());
        }
        let shared = Arc::clone(&self.shared);
        let scores = jobs::run(py, u64::MAX, move |given_up| scores(&shared, &queries, &targets, given_up))?;
        let scores = match scores {
            Scores::Bytes(scores) => scores,
            Scores::TooLarge => return Err(too_large()),
            Scores::Refused(row, error) => {
                let error = exception(error);
                // Notes exist since Python 3.11. Older versions raise the error without the note.
                let _ = error.value(py).call_method1("add_note", (format!("query {row} of score_matrix"),));
                return Err(error);
            }
        };
        let options = PyDict::new(py);
        options.set_item("dtype", "int32")?;
        if scores.is_empty() {
            return numpy.call_method("zeros", ((rows, columns),), Some(&options));
        }
        let values = numpy.call_method("frombuffer", (PyByteArray::new(py, &scores),), Some(&options))?;
        values.call_method1("reshape", (rows, columns))
    }

    /// Finds all occurrences of patterns in the sequences of the database. Returns a list of Match, sorted by
    /// target, start and end.
    ///
    /// The parameters are those of a Searcher, except ``device``. A Searcher also searches texts outside a database.
    ///
    /// >>> from pyswalign import Aligner
    /// >>> aligner = Aligner([("t", "CCGATACACCTGTAATCCC")], device="cpu")
    /// >>> [(m.pattern_name, m.start, m.end, m.strand, m.edits, m.cigar) for m in aligner.search({"site": "GATTACA"}, k=1)]
    /// [('site', 2, 8, 1, 1, '2=1I4='), ('site', 10, 17, -1, 0, '7=')]
    #[pyo3(signature = (
        patterns, k=0, *, rate=None, indels=true, both_strands=true, strand=None, circular=false, every_end=false,
        best=false, first=false, pam=None, pam_side=3, max_insertions=None, max_deletions=None, max_substitutions=None,
        max_gaps=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        patterns: &Bound<'py, PyAny>,
        k: u32,
        rate: Option<f64>,
        indels: bool,
        both_strands: bool,
        strand: Option<i8>,
        circular: bool,
        every_end: bool,
        best: bool,
        first: bool,
        pam: Option<&str>,
        pam_side: u8,
        max_insertions: Option<u32>,
        max_deletions: Option<u32>,
        max_substitutions: Option<u32>,
        max_gaps: Option<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.shared.device.check()?;
        let limits = [max_insertions, max_deletions, max_substitutions, max_gaps];
        let strands = (both_strands, strand);
        let settings =
            Settings { k, rate, indels, strands, circular, every_end, best, first, pam, pam_side, limits };
        let builder = settings.builder(patterns)?;
        let shared = Arc::clone(&self.shared);
        let search = move |given_up: &GivenUp| {
            let searcher = builder.stop_flag(given_up.flag()).build_beside(&shared.aligner)?;
            searcher.search_targets(&shared.targets)
        };
        let found = jobs::run(py, u64::MAX, search)?.map_err(exception)?;
        list_of_targets(py, &self.shared.targets, found)
    }

    /// The database.
    #[getter]
    fn database(&self, py: Python<'_>) -> Py<Database> {
        self.database.clone_ref(py)
    }

    /// The scoring.
    #[getter]
    fn scoring(&self) -> PyScoring {
        PyScoring { chosen: self.chosen.clone() }
    }

    /// Name of the device in use, such as "GPU NVIDIA H100" or "CPU (2 threads, avx512)".
    #[getter]
    fn device(&self) -> &str {
        self.shared.aligner.device()
    }

    fn __repr__(&self) -> String {
        let targets = counted(self.shared.targets.len(), ["target", "targets"]);
        format!("<Aligner of {targets} on {}>", self.device())
    }
}

fn all_of(targets: &Targets) -> Vec<Sequence> {
    let sequence = |place: usize| Sequence {
        name: targets.name(place).map(str::to_string),
        letters: targets.length(place).and_then(|len| targets.letters(place, 0..len)).unwrap_or_default(),
    };
    (0..targets.len()).map(sequence).collect()
}

/// Result of a score matrix.
enum Scores {
    /// The scores as native-endian bytes, row by row.
    Bytes(Vec<u8>),
    TooLarge,
    /// The first query that cannot be aligned, and the error.
    Refused(usize, swalign::Error),
}

fn scores(shared: &Shared, queries: &[Sequence], targets: &Targets, given_up: &GivenUp) -> Scores {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(queries.len() * targets.len() * size_of::<i32>()).is_err() {
        return Scores::TooLarge;
    }
    for (row, scores) in shared.aligner.score_all(queries, targets).enumerate() {
        match scores {
            Ok(scores) => bytes.extend(scores.into_iter().flat_map(i32::to_ne_bytes)),
            Err(error) => return Scores::Refused(row, error),
        }
        if given_up.is_true() {
            break;
        }
    }
    Scores::Bytes(bytes)
}

/// An iterator over the lists of hits of queries.
#[pyclass(name = "HitIterator", module = "pyswalign")]
pub struct HitStream {
    shared: Arc<Shared>,
    stream: Stream<Source, Sequence, Vec<PyHit>>,
}

#[pymethods]
impl HitStream {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let shared = Arc::clone(&self.shared);
        let take = |queries: &mut Source, number: usize| {
            let query = queries.next(py)?;
            Some(query.and_then(|query| match shared.refused(&query) {
                Some(text) => Err(PyValueError::new_err(format!("query {number}: {text}"))),
                None => Ok((query.letters.len(), query)),
            }))
        };
        let align = |queries: Arc<Vec<Sequence>>, letters: usize| {
            let (cells, shared) = (shared.cells(letters), Arc::clone(&shared));
            Ok(jobs::run(py, cells, move |given_up| shared.align(&queries, given_up)))
        };
        self.stream.next(take, |_| false, align)?.map(|hits| list(py, hits?)).transpose()
    }
}
