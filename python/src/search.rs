//! Search for patterns in texts, with edits.

use crate::database::Database;
use crate::device::Device;
use crate::errors::exception;
use crate::jobs::{self, GivenUp};
use crate::letters::{Sequence, Source, counted, path, sequence};
use crate::stream::Stream;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::sync::Arc;
use swalign::{PrimerPairs, SearcherBuilder, Strand};

/// An occurrence of a pattern in a text, with its edits.
///
/// ``start`` and ``end`` are positions in the target, 0-based and half-open. On strand -1, the target contains the
/// reverse complement of the pattern. CIGARs are in the direction of the target.
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

impl PyMatch {
    fn new_of(found: &swalign::Match, (target_index, target_name): (usize, &str)) -> PyMatch {
        PyMatch {
            pattern_name: found.pattern_name().to_string(),
            target_name: target_name.to_string(),
            pattern_index: found.pattern(),
            target_index,
            start: found.range().start,
            end: found.range().end,
            strand: sign(found.strand()),
            edits: found.edits(),
            runs: found.cigar_extended().runs().map(|(len, op)| (len, op.letter())).collect(),
        }
    }
}

fn sign(strand: Strand) -> i8 {
    if strand == Strand::Reverse { -1 } else { 1 }
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

    /// Name of the pattern.
    #[getter]
    fn pattern_name(&self) -> &str {
        &self.pattern_name
    }

    /// Name of the target.
    #[getter]
    fn target_name(&self) -> &str {
        &self.target_name
    }

    /// Index of the pattern in the searcher, from 0.
    #[getter]
    fn pattern_index(&self) -> usize {
        self.pattern_index
    }

    /// Index of the target in the database or among the texts, from 0.
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

    /// 1 if the target contains the pattern as given, -1 if it contains the reverse complement.
    #[getter]
    fn strand(&self) -> i8 {
        self.strand
    }

    /// Number of edits.
    #[getter]
    fn edits(&self) -> usize {
        self.edits
    }

    /// CIGAR with = and X, as in the command's table. Same as ``cigar_extended``.
    #[getter]
    fn cigar(&self) -> String {
        self.cigar_extended()
    }

    /// CIGAR with M (match or mismatch), I (only in the pattern) and D (only in the target).
    #[getter]
    fn cigar_basic(&self) -> String {
        crate::hit::basic(&self.runs)
    }

    /// CIGAR with = (match), X (mismatch), I (only in the pattern) and D (only in the target).
    #[getter]
    fn cigar_extended(&self) -> String {
        self.runs.iter().map(|(len, op)| format!("{len}{op}")).collect()
    }

    /// ``cigar`` as a list of pairs of a length and an operation.
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

/// The part of a text between two primers that face each other, from the start of the primer on the forward strand
/// to the end of the primer on the reverse strand.
///
/// Positions are in the target, 0-based and half-open. The amplicon includes both primers.
#[pyclass(frozen, name = "Amplicon", module = "pyswalign", eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyAmplicon {
    target_name: String,
    target_index: usize,
    pair_name: Option<String>,
    start: usize,
    end: usize,
    strand: i8,
    forward: Primer,
    reverse: Primer,
}

/// A primer of an amplicon.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Primer {
    name: String,
    start: usize,
    end: usize,
    edits: usize,
}

impl Primer {
    fn new(site: swalign::PrimerSite<'_>) -> Primer {
        let (name, range) = (site.pattern_name().to_string(), site.range());
        Primer { name, start: range.start, end: range.end, edits: site.edits() }
    }
}

impl PyAmplicon {
    fn new_of(found: &swalign::Amplicon, (target_index, target_name): (usize, &str)) -> PyAmplicon {
        PyAmplicon {
            target_name: target_name.to_string(),
            target_index,
            pair_name: found.pair_name().map(str::to_string),
            start: found.range().start,
            end: found.range().end,
            strand: sign(found.strand()),
            forward: Primer::new(found.forward()),
            reverse: Primer::new(found.reverse()),
        }
    }
}

#[pymethods]
impl PyAmplicon {
    /// Name of the target.
    #[getter]
    fn target_name(&self) -> &str {
        &self.target_name
    }

    /// Index of the target in the database, from 0.
    #[getter]
    fn target_index(&self) -> usize {
        self.target_index
    }

    /// Name of the pair: the common part of the two names, or both names, separated by a comma, if ``pairs`` is a
    /// list. None with ``pairs="any"``.
    #[getter]
    fn pair_name(&self) -> Option<&str> {
        self.pair_name.as_deref()
    }

    /// Position of the first base of the amplicon in the target, from 0.
    #[getter]
    fn start(&self) -> usize {
        self.start
    }

    /// Position after the last base of the amplicon in the target.
    #[getter]
    fn end(&self) -> usize {
        self.end
    }

    /// 1 if the first primer of the pair is on the forward strand of the target, -1 if it is on the reverse strand.
    #[getter]
    fn strand(&self) -> i8 {
        self.strand
    }

    /// Name of the primer on the forward strand, which begins at ``start``.
    #[getter]
    fn forward_name(&self) -> &str {
        &self.forward.name
    }

    /// Position after the last base of the primer on the forward strand.
    #[getter]
    fn forward_end(&self) -> usize {
        self.forward.end
    }

    /// Number of edits of the primer on the forward strand.
    #[getter]
    fn forward_edits(&self) -> usize {
        self.forward.edits
    }

    /// Name of the primer on the reverse strand, which ends at ``end``.
    #[getter]
    fn reverse_name(&self) -> &str {
        &self.reverse.name
    }

    /// Position of the first base of the primer on the reverse strand.
    #[getter]
    fn reverse_start(&self) -> usize {
        self.reverse.start
    }

    /// Number of edits of the primer on the reverse strand.
    #[getter]
    fn reverse_edits(&self) -> usize {
        self.reverse.edits
    }

    fn __len__(&self) -> usize {
        self.end - self.start
    }

    fn __repr__(&self) -> String {
        let PyAmplicon { target_name, start, end, forward, reverse, .. } = self;
        let strand = if self.strand < 0 { '-' } else { '+' };
        format!("<Amplicon {target_name}:{start}-{end} {strand} {} {}>", forward.name, reverse.name)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import("pyswalign._native")?.getattr("_amplicon")?;
        let primer = |primer: &Primer| -> PickledPrimer {
            (primer.name.clone(), primer.start, primer.end, primer.edits)
        };
        let state: PickledAmplicon = (
            (self.target_name.clone(), self.target_index, self.pair_name.clone()),
            (self.start, self.end, self.strand),
            primer(&self.forward),
            primer(&self.reverse),
        );
        Ok((restore, (state,).into_pyobject(py)?))
    }
}

/// Name, start, end and edits of a primer in a pickle.
type PickledPrimer = (String, usize, usize, usize);
/// Pickled state of an amplicon.
type PickledAmplicon = ((String, usize, Option<String>), (usize, usize, i8), PickledPrimer, PickledPrimer);

/// Restores a pickled amplicon.
#[pyfunction]
pub fn _amplicon(state: PickledAmplicon) -> PyAmplicon {
    let ((target_name, target_index, pair_name), (start, end, strand), forward, reverse) = state;
    let primer = |(name, start, end, edits): PickledPrimer| Primer { name, start, end, edits };
    PyAmplicon {
        target_name,
        target_index,
        pair_name,
        start,
        end,
        strand,
        forward: primer(forward),
        reverse: primer(reverse),
    }
}

/// Settings of a search.
pub struct Settings<'a> {
    pub k: u32,
    pub rate: Option<f64>,
    pub indels: bool,
    /// Whether both strands are searched, and the only strand that is.
    pub strands: (bool, Option<i8>),
    pub circular: bool,
    pub every_end: bool,
    pub best: bool,
    pub first: bool,
    pub pam: Option<&'a str>,
    pub pam_side: u8,
    /// Maximum number of insertions, deletions, substitutions, and insertions and deletions together.
    pub limits: [Option<u32>; 4],
}

impl Settings<'_> {
    /// Returns the builder of a searcher for these patterns.
    pub fn builder(self, given: &Bound<'_, PyAny>) -> PyResult<SearcherBuilder> {
        let mut builder = swalign::Searcher::builder(patterns(given)?)
            .max_edits(self.k)
            .indels(self.indels)
            .both_strands(self.strands.0)
            .circular(self.circular)
            .every_end(self.every_end)
            .best(self.best)
            .first(self.first);
        if let Some(rate) = self.rate {
            if self.k > 0 {
                return Err(PyValueError::new_err("k and rate exclude each other: give one of them"));
            }
            if !(0.0..1.0).contains(&rate) {
                return Err(PyValueError::new_err(format!("rate={rate}: give at least 0 and below 1")));
            }
            builder = builder.edits_by_rate(rate);
        }
        builder = match self.strands.1 {
            None => builder,
            Some(1) => builder.strand(Strand::Forward),
            Some(-1) => builder.strand(Strand::Reverse),
            Some(strand) => {
                return Err(PyValueError::new_err(format!("strand={strand}: give 1, -1 or None")));
            }
        };
        let side = match self.pam_side {
            3 => swalign::PamSide::Three,
            5 => swalign::PamSide::Five,
            side => return Err(PyValueError::new_err(format!("pam_side={side}: give 3 or 5"))),
        };
        if let Some(pam) = self.pam {
            builder = builder.pam(pam, side);
        }
        let [insertions, deletions, substitutions, gaps] = self.limits;
        builder = insertions.into_iter().fold(builder, SearcherBuilder::max_insertions);
        builder = deletions.into_iter().fold(builder, SearcherBuilder::max_deletions);
        builder = substitutions.into_iter().fold(builder, SearcherBuilder::max_substitutions);
        Ok(gaps.into_iter().fold(builder, SearcherBuilder::max_gaps))
    }
}

/// Finds all occurrences of patterns in texts, with a limited number of edits.
///
/// Patterns are sequences of IUPAC codes (R matches A and G), with or without names, a mapping from names to
/// sequences, or the pathlib.Path of a FASTA or FASTQ file. A match has at most ``k`` edits, or at most ``rate``
/// times the length of its pattern, rounded down. An edit is a substitution, an insertion (a base only in the
/// pattern) or a deletion (a base only in the text). With ``indels=False``, a match has only substitutions.
/// ``max_insertions``, ``max_deletions``, ``max_substitutions`` and ``max_gaps`` (insertions and deletions together)
/// limit the edits of each kind.
///
/// An end position is a match if it has no edits, or if its number of edits is a local minimum. ``every_end``
/// reports every end position within the limits. ``best`` reports only the matches with the fewest edits in each
/// text, and ``first`` only the first match of each text. ``pam`` reports only matches next to this PAM, in IUPAC
/// codes, on the 3' side of the pattern, or on its 5' side with ``pam_side=5``. ``both_strands`` also searches the
/// reverse complements of the patterns, and ``strand=-1`` searches only these. With ``circular``, the last base of
/// each text is followed by its first: a match or amplicon across the origin ends after the length of its text.
///
/// Threads may share a searcher. ``device`` is as in Aligner, but "auto" selects the CPU if it is faster for these
/// patterns.
///
/// >>> from pyswalign import Searcher
/// >>> searcher = Searcher({"site": "GATTACA"}, k=1, device="cpu")
/// >>> [(m.pattern_name, m.start, m.end, m.strand, m.edits, m.cigar) for m in searcher.search("CCGATACACCTGTAATCCC")]
/// [('site', 2, 8, 1, 1, '2=1I4='), ('site', 10, 17, -1, 0, '7=')]
/// >>> Searcher("GATTACA", rate=0.15, first=True, device="cpu").search("CCGATACACCTGTAATCCC")
/// [<Match 0 0:2-8 + edits=1 2=1I4=>]
#[pyclass(frozen, name = "Searcher", module = "pyswalign")]
pub struct PySearcher {
    searcher: Arc<swalign::Searcher>,
    device: Device,
    patterns: usize,
    /// Number of bases of all patterns.
    letters: u64,
}

impl PySearcher {
    /// Number of cells of a search of a text of this length, on both strands.
    fn cells(&self, letters: usize) -> u64 {
        (letters as u64).saturating_mul(self.letters).saturating_mul(2)
    }
}

/// The matches in numbered texts.
fn of_texts(searcher: &swalign::Searcher, texts: &[(usize, Sequence)], stop: &GivenUp) -> Answers {
    let searcher = searcher.with_stop_flag(stop.flag());
    let found = searcher.search_all(texts.iter().map(|(_, text)| text));
    let shown = |((number, text), found): (&(usize, Sequence), swalign::Result<Vec<swalign::Match>>)| {
        let name = text.name.clone().unwrap_or_else(|| number.to_string());
        Ok(found?.iter().map(|one| PyMatch::new_of(one, (*number, &name))).collect())
    };
    texts.iter().zip(found).map(shown).collect()
}

/// The matches of each text.
type Answers = Vec<swalign::Result<Vec<PyMatch>>>;

#[pymethods]
impl PySearcher {
    #[new]
    #[pyo3(signature = (
        patterns, k=0, *, rate=None, indels=true, both_strands=true, strand=None, circular=false, every_end=false,
        best=false, first=false, pam=None, pam_side=3, max_insertions=None, max_deletions=None, max_substitutions=None,
        max_gaps=None, device="auto"
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn new(
        py: Python<'_>,
        patterns: &Bound<'_, PyAny>,
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
        device: &str,
    ) -> PyResult<PySearcher> {
        let limits = [max_insertions, max_deletions, max_substitutions, max_gaps];
        let strands = (both_strands, strand);
        let settings =
            Settings { k, rate, indels, strands, circular, every_end, best, first, pam, pam_side, limits };
        let device = Device::named(device);
        let builder = settings.builder(patterns)?.device(device.asked());
        let build = || jobs::run(py, u64::MAX, move |_| builder.build())?.map_err(exception);
        let searcher = device.open(py, build)?;
        let device = device.opened(searcher.device());
        let lengths = searcher.pattern_lengths();
        let (patterns, letters) = (lengths.len(), lengths.map(|len| len as u64).sum());
        Ok(PySearcher { searcher: Arc::new(searcher), device, patterns, letters })
    }

    /// Returns the matches in one text, sorted by start and end. A str is a sequence.
    fn search<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.device.check()?;
        let text = sequence(text)?;
        let (searcher, cells) = (Arc::clone(&self.searcher), self.cells(text.letters.len()));
        let found = jobs::run(py, cells, move |stop| of_texts(&searcher, &[(0, text)], stop))?;
        list(py, found.into_iter().next().unwrap_or_else(|| Ok(Vec::new())).map_err(exception)?)
    }

    /// Returns an iterator over the lists of matches of the texts, in the order of the texts.
    ///
    /// Texts are any iterable of sequences, a mapping from names to sequences, or the pathlib.Path of a FASTA or
    /// FASTQ file. The iterator reads at most 4,096 texts ahead. If a text is invalid, the iterator raises an error
    /// for it, and then continues with the next text. An error in the format of a file ends the iterator.
    fn search_batch(&self, texts: &Bound<'_, PyAny>) -> PyResult<MatchStream> {
        self.device.check()?;
        let texts = Source::of(texts, "the texts of search_batch")?;
        Ok(MatchStream {
            searcher: Arc::clone(&self.searcher),
            letters: self.letters,
            stream: Stream::new(texts),
        })
    }

    /// Returns the matches in all sequences of a database, sorted by target, start and end.
    fn search_database<'py>(
        &self,
        py: Python<'py>,
        database: &Bound<'py, Database>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.device.check()?;
        let (searcher, targets) = (Arc::clone(&self.searcher), database.get().targets.clone());
        let found = jobs::run(py, u64::MAX, move |stop| {
            searcher.with_stop_flag(stop.flag()).search_targets(&targets)
        })?;
        list_of_targets(py, &database.get().targets, found.map_err(exception)?)
    }

    /// Returns the amplicons in one text or in all sequences of a database, sorted by target, start and end.
    ///
    /// The two patterns of an amplicon are a pair. One matches on the forward strand. The other matches on the
    /// reverse strand, and starts and ends no earlier. An amplicon has ``min_length`` to ``max_length`` bases, both
    /// primers included. With ``pairs="names"``, the default, the names of a pair end in _LEFT and _RIGHT, _F and
    /// _R, or /1 and /2. With ``pairs="any"``, each pattern pairs with every pattern. ``pairs`` can also be a list
    /// of pairs of names. The searcher must search both strands, without ``best`` and ``first``.
    ///
    /// >>> from pyswalign import Searcher
    /// >>> searcher = Searcher({"16S_F": "GATTACA", "16S_R": "CCATGGC"}, device="cpu")
    /// >>> searcher.amplicons("TTGATTACAGGAGGAGCCATGGTT")
    /// [<Amplicon 0:2-22 + 16S_F 16S_R>]
    #[pyo3(signature = (text, pairs=None, *, min_length=1, max_length=4000))]
    fn amplicons<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        pairs: Option<&Bound<'py, PyAny>>,
        min_length: usize,
        max_length: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        self.device.check()?;
        let searcher = (*self.searcher).clone();
        let searcher = searcher.amplicons(&pairs_of(pairs)?, min_length..=max_length).map_err(exception)?;
        let mut found: Vec<PyAmplicon> = Vec::new();
        if let Ok(database) = text.cast::<Database>() {
            let targets = database.get().targets.clone();
            let all = jobs::run(py, u64::MAX, move |stop| {
                searcher.with_stop_flag(stop.flag()).search_targets(&targets)
            })?;
            for (target, all) in all.map_err(exception)?.into_iter().enumerate() {
                let name = database.get().targets.name(target).unwrap_or_default();
                found.extend(all.iter().map(|one| PyAmplicon::new_of(one, (target, name))));
            }
        } else {
            let text = sequence(text)?;
            let name = text.name.clone().unwrap_or_else(|| "0".to_string());
            let cells = self.cells(text.letters.len());
            let all = jobs::run(py, cells, move |stop| searcher.with_stop_flag(stop.flag()).search(&text))?;
            found.extend(all.map_err(exception)?.iter().map(|one| PyAmplicon::new_of(one, (0, &name))));
        }
        PyList::new(py, found.into_iter().map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Name of the device in use, such as "GPU NVIDIA H100" or "CPU (2 threads, avx512)".
    #[getter]
    fn device(&self) -> &str {
        self.searcher.device()
    }

    fn __repr__(&self) -> String {
        format!("<Searcher of {} on {}>", counted(self.patterns, ["pattern", "patterns"]), self.device())
    }
}

/// Parses the rule that pairs patterns: "names", "any", or a list.
fn pairs_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<PrimerPairs> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(PrimerPairs::Names) };
    if let Ok(name) = given.cast::<PyString>() {
        return match &*name.to_cow()? {
            "names" => Ok(PrimerPairs::Names),
            "any" => Ok(PrimerPairs::Any),
            name => Err(PyValueError::new_err(format!(
                "pairs='{name}': give 'names', 'any' or a list of pairs of names"
            ))),
        };
    }
    let listed: Vec<(String, String)> = given
        .extract()
        .map_err(|_: PyErr| PyTypeError::new_err("pairs: give 'names', 'any' or a list of pairs of names"))?;
    Ok(PrimerPairs::Listed(listed.into_iter().map(|(first, second)| [first, second]).collect()))
}

/// An iterator over the lists of matches of texts.
#[pyclass(name = "MatchIterator", module = "pyswalign")]
pub struct MatchStream {
    searcher: Arc<swalign::Searcher>,
    letters: u64,
    stream: Stream<Source, (usize, Sequence), Vec<PyMatch>>,
}

#[pymethods]
impl MatchStream {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let take = |texts: &mut Source, number: usize| {
            let text = texts.next(py)?;
            Some(text.map(|text| (text.letters.len(), (number, text))))
        };
        let (searcher, pattern_letters) = (&self.searcher, self.letters);
        let search = |texts: Arc<Vec<(usize, Sequence)>>, letters: usize| {
            let searcher = Arc::clone(searcher);
            let cells = (letters as u64).saturating_mul(pattern_letters).saturating_mul(2);
            Ok(jobs::run(py, cells, move |stop| of_texts(&searcher, &texts, stop)))
        };
        self.stream.next(take, |_| false, search)?.map(|found| list(py, found?)).transpose()
    }
}

/// Patterns with their names. A pattern without a name is named by its index. A single sequence is one pattern.
fn patterns(given: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<u8>)>> {
    let py = given.py();
    let is_one = crate::letters::is_plain(given) && path(given)?.is_none();
    let source = match is_one {
        true => Source::of(PyList::new(py, [given])?.as_any(), "patterns")?,
        false => Source::of(given, "patterns")?,
    };
    let all = source.all(py)?.into_iter().enumerate();
    Ok(all.map(|(place, one)| (one.name.unwrap_or_else(|| place.to_string()), one.letters)).collect())
}

/// Matches as a list.
fn list(py: Python<'_>, found: Vec<PyMatch>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, found.into_iter().map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?)
}

/// The matches of all targets as one list, in the order of the targets.
pub fn list_of_targets<'py>(
    py: Python<'py>,
    targets: &swalign::Targets,
    found: Vec<Vec<swalign::Match>>,
) -> PyResult<Bound<'py, PyList>> {
    let of_target = |(target, found): (usize, Vec<swalign::Match>)| {
        let name = targets.name(target).unwrap_or_default();
        found.iter().map(|one| PyMatch::new_of(one, (target, name))).collect::<Vec<_>>()
    };
    list(py, found.into_iter().enumerate().flat_map(of_target).collect())
}
