//! Pairs: each query is aligned with its own target.

use crate::device::Device;
use crate::errors::exception;
use crate::hit::{Found, Of, PyHit};
use crate::jobs::{self, GivenUp};
use crate::letters::{Sequence, alphabet_of, certain_alphabet, refused_query, sequence, type_name};
use crate::scoring::{Choice, Chosen, PyScoring};
use crate::stream::Stream;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString, PyTuple};
use std::process;
use std::sync::{Arc, Mutex};
use swalign::{Alphabet, PairAligner};

/// Name of targets that are given without a name.
const TARGET: &str = "target";

/// A query and its target.
type Pair = (Sequence, Sequence);

/// A pair and its index in the iterator, from 0.
type NumberedPair = (usize, Pair);

/// The alphabet of the first pair whose target, or else whose query, is certainly DNA or certainly protein.
fn certain_alphabet_of<'a>(mut pairs: impl Iterator<Item = &'a Pair>) -> Option<Alphabet> {
    pairs.find_map(|(query, target)| {
        certain_alphabet(&target.letters).or_else(|| certain_alphabet(&query.letters))
    })
}

/// The alphabet of pairs. The first pair that is certainly DNA or certainly protein determines it. If there is no
/// such pair, `implied` determines it, and otherwise the residues of all pairs, with a warning.
fn alphabet_of_pairs<'a>(
    py: Python<'_>,
    pairs: impl Iterator<Item = &'a Pair> + Clone,
    implied: Option<Alphabet>,
) -> PyResult<Alphabet> {
    match certain_alphabet_of(pairs.clone()).or(implied) {
        Some(alphabet) => Ok(alphabet),
        None => {
            let letters = pairs.flat_map(|(query, target)| [&*query.letters, &*target.letters]);
            alphabet_of(py, "the sequences", letters, None)
        }
    }
}

/// The error message for a pair that contradicts the detected alphabet: the alphabet is protein, and a sequence of
/// the pair is DNA. The opposite case needs no check, because a protein contains residues that are invalid in DNA.
fn contradiction(alphabet: Alphabet, (query, target): &Pair) -> Option<String> {
    if alphabet != Alphabet::Protein {
        return None;
    }
    let is_dna = |sequence: &Sequence| certain_alphabet(&sequence.letters) == Some(Alphabet::Dna);
    match (refused_query(&query.letters), is_dna(target)) {
        (Some(text), _) => Some(text),
        (None, true) => Some(
            "the target is DNA, and the sequences are read as proteins: give alphabet='protein' if it is a protein"
                .to_string(),
        ),
        (None, false) => None,
    }
}

fn cells((query, target): &Pair) -> u64 {
    (query.letters.len() as u64).saturating_mul(target.letters.len() as u64)
}

fn shown(chosen: &Chosen, (query, target): &Pair, hit: &swalign::Hit) -> PyHit {
    let of = Of {
        query_name: query.name.as_deref(),
        query: &query.letters,
        target_name: target.name.as_deref().unwrap_or(TARGET),
        target_len: target.letters.len(),
        target: target.letters[hit.target_range()].to_vec(),
        scoring: &chosen.scoring,
    };
    PyHit::new(Found::new(hit, of), &chosen.significance)
}

/// Settings of a pair aligner, except its scoring.
#[derive(Clone, Copy)]
struct Settings {
    both_strands: bool,
    min_score: Option<i32>,
}

impl Settings {
    fn build(self, chosen: &Chosen, device: &Device) -> swalign::Result<PairAligner> {
        let mut builder = PairAligner::builder((*chosen.scoring).clone())
            .device(device.asked())
            .both_strands(self.both_strands);
        if let Some(score) = self.min_score {
            builder = builder.min_score(score);
        }
        builder.build()
    }
}

/// Returns the best alignment of a query with a target, or None if no alignment reaches ``min_score``. In local
/// mode, ``min_score`` is 1 by default; the other modes have no minimum, but an empty sequence has no alignment.
///
/// Both arguments are sequences: str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence, or
/// records of Biopython or pysam. The alphabet, DNA or protein, is detected from the residues, unless ``alphabet``
/// is given. If short sequences could be both, the scoring determines it, such as ``preset`` or ``matrix``. The
/// reverse complement of the query is aligned only if ``both_strands`` is True. The alignment runs on the CPU. For
/// many pairs, ``align_pairs`` is faster.
///
/// >>> import pyswalign
/// >>> pyswalign.align("ACGTTGCA", "TTACGTTGGCATT", match=2, mismatch=4, gap_open=4, gap_extend=2)
/// <Hit query:0-6 target:2-8 + score=12 6M>
/// >>> pyswalign.align("HEAGAWGHEE", "PAWHEAE").score
/// 17
/// >>> pyswalign.align("AAAA", "CCCC") is None
/// True
#[pyfunction]
#[pyo3(signature = (query, target, *, both_strands=false, min_score=None, **choice))]
pub fn align(
    py: Python<'_>,
    query: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    both_strands: bool,
    min_score: Option<i32>,
    choice: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<PyHit>> {
    let choice = Choice::of("align", choice)?;
    let pair = (sequence(query)?, sequence(target)?);
    let is_stated = choice.alphabet().is_some();
    let chosen = choice.resolve(|implied| alphabet_of_pairs(py, std::iter::once(&pair), implied))?;
    if let Some(text) = contradiction(chosen.scoring.alphabet, &pair).filter(|_| !is_stated) {
        return Err(PyValueError::new_err(text));
    }
    let settings = Settings { both_strands, min_score };
    let aligning = Aligning::new(chosen, settings, &Device::named("cpu")).map_err(exception)?;
    let cells = cells(&pair);
    let work = move |_: &GivenUp| -> swalign::Result<Option<PyHit>> {
        let hit = aligning.aligner().align(&pair.0, &pair.1)?;
        Ok(hit.map(|hit| shown(&aligning.chosen, &pair, &hit)))
    };
    jobs::run(py, cells, work)?.map_err(exception)
}

/// Returns an iterator over the best alignment of each pair of a query and a target, in the order of the pairs. The
/// iterator yields None for a pair without a hit.
///
/// Pairs are any iterable of two sequences each, which may be endless. The iterator reads at most 4,096 pairs ahead.
/// If a pair is invalid, the iterator raises an error for it, and then continues with the next pair. ``device`` is
/// as in Aligner. The first of the first 32 pairs that is certainly DNA or certainly protein determines the alphabet
/// of all pairs, unless ``alphabet``, ``preset`` or ``matrix`` determines it. A later pair that contradicts it is an
/// error.
///
/// >>> import pyswalign
/// >>> pairs = [("ACGTTGCA", "TTACGTTGGCATT"), ("GATTACA", "GATTTACA")]
/// >>> [hit.score for hit in pyswalign.align_pairs(pairs, preset="long", device="cpu")]
/// [12, 10]
#[pyfunction]
#[pyo3(signature = (pairs, *, device="auto", both_strands=false, min_score=None, **choice))]
pub fn align_pairs(
    py: Python<'_>,
    pairs: &Bound<'_, PyAny>,
    device: &str,
    both_strands: bool,
    min_score: Option<i32>,
    choice: Option<&Bound<'_, PyDict>>,
) -> PyResult<PairStream> {
    let choice = Choice::of("align_pairs", choice)?;
    let settings = Settings { both_strands, min_score };
    let (device, pairs) = (Device::named(device), pairs.try_iter()?.unbind());
    let is_stated = choice.alphabet().is_some();
    let implied = choice.alphabet().or(choice.implied_alphabet());
    let stream = Stream::new(pairs);
    let mut stream = PairStream { stream, device, settings, choice: Some(choice), aligning: None, is_stated };
    if let Some(alphabet) = implied {
        stream.begin(py, |_| Ok(alphabet))?;
    }
    Ok(stream)
}

/// A scoring and its aligner.
struct Aligning {
    chosen: Chosen,
    /// The aligner, if it is not that of the scoring, which aligns one strand on the CPU.
    own: Option<Arc<PairAligner>>,
}

/// The last aligner that opened a GPU, and the id of its process. It keeps the GPU open for the next aligner,
/// because opening a GPU takes tenths of a second. A forked process must not close it.
static ON_GPU: Mutex<Option<(u32, Arc<PairAligner>)>> = Mutex::new(None);

impl Aligning {
    fn new(chosen: Chosen, settings: Settings, device: &Device) -> swalign::Result<Aligning> {
        let is_plain = !settings.both_strands && settings.min_score.is_none() && device.is_cpu();
        let own = if is_plain { None } else { Some(Arc::new(settings.build(&chosen, device)?)) };
        if let Some(aligner) = own.as_ref().filter(|aligner| !aligner.device().starts_with("CPU")) {
            // If the lock is taken, the aligner is not kept. In a forked process, the thread that holds the lock may
            // not exist, so waiting could take forever.
            let kept = (process::id(), Arc::clone(aligner));
            let before = ON_GPU.try_lock().ok().and_then(|mut on_gpu| on_gpu.replace(kept));
            if let Some(foreign) = before.filter(|(process, _)| *process != process::id()) {
                std::mem::forget(foreign);
            }
        }
        Ok(Aligning { chosen, own })
    }

    fn aligner(&self) -> &PairAligner {
        self.own.as_deref().unwrap_or(&self.chosen.pairs)
    }

    /// The hits of pairs. A pair that contradicts the alphabet is an error, unless the alphabet `is_stated`.
    fn align(
        &self,
        pairs: &[NumberedPair],
        is_stated: bool,
        given_up: &GivenUp,
    ) -> Vec<swalign::Result<Option<PyHit>>> {
        let aligner = self.aligner();
        let of = pairs.iter().map(|(_, (query, target))| (query, target));
        let hits = aligner.align_all(of).take_while(|_| !given_up.is_true());
        let alphabet = self.chosen.scoring.alphabet;
        let one = |((number, pair), hit): (&NumberedPair, swalign::Result<Option<swalign::Hit>>)| {
            let hit = hit.map_err(|error| match error {
                swalign::Error::Usage(text) => swalign::Error::Usage(format!("pair {number}: {text}")),
                error => error,
            })?;
            match contradiction(alphabet, pair).filter(|_| !is_stated) {
                Some(text) => Err(swalign::Error::Usage(format!("pair {number}: {text}"))),
                None => Ok(hit.map(|hit| shown(&self.chosen, pair, &hit))),
            }
        };
        pairs.iter().zip(hits).map(one).collect()
    }
}

/// An iterator over the hits of pairs.
#[pyclass(name = "PairIterator", module = "pyswalign")]
pub struct PairStream {
    stream: Stream<Py<PyIterator>, NumberedPair, Option<PyHit>>,
    device: Device,
    settings: Settings,
    /// The keywords of the scoring, until the alphabet is known.
    choice: Option<Choice>,
    aligning: Option<Arc<Aligning>>,
    /// Whether the caller specified the alphabet.
    is_stated: bool,
}

impl PairStream {
    /// Returns the aligner. The first call creates it, with the alphabet of the first pairs if no keyword determines
    /// it.
    fn begin(
        &mut self,
        py: Python<'_>,
        alphabet: impl FnOnce(Option<Alphabet>) -> PyResult<Alphabet>,
    ) -> PyResult<Arc<Aligning>> {
        if let Some(choice) = self.choice.take() {
            let chosen = choice.resolve(alphabet)?;
            let new = || Aligning::new(chosen, self.settings, &self.device).map_err(exception);
            let aligning = self.device.open(py, new)?;
            let opened = aligning.aligner().device().to_string();
            self.device = self.device.clone().opened(&opened);
            self.aligning = Some(Arc::new(aligning));
        }
        self.device.check()?;
        self.aligning.clone().ok_or_else(|| PyValueError::new_err("the scoring of these pairs was refused"))
    }
}

/// Reads the next pair, whose index is `number`. Returns its length in residues and the numbered pair.
fn next(
    py: Python<'_>,
    pairs: &mut Py<PyIterator>,
    number: usize,
) -> Option<PyResult<(usize, NumberedPair)>> {
    let item = pairs.bind(py).clone().next()?;
    Some(item.and_then(|item| {
        let two = |item: &Bound<'_, PyAny>| -> PyResult<Pair> {
            Ok((sequence(&item.get_item(0)?)?, sequence(&item.get_item(1)?)?))
        };
        let is_text = item.cast::<PyString>().is_ok() || item.cast::<PyBytes>().is_ok();
        if is_text || !item.len().is_ok_and(|len| len == 2) {
            return Err(PyTypeError::new_err(format!(
                "a pair is a query and a target, as a tuple or list of two, not {}",
                type_name(&item)
            )));
        }
        let pair = two(&item)?;
        Ok((pair.0.letters.len() + pair.1.letters.len(), (number, pair)))
    }))
}

#[pymethods]
impl PairStream {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut stream =
            std::mem::replace(&mut self.stream, Stream::new(PyTuple::empty(py).try_iter()?.unbind()));
        // The first batch waits for a pair that determines the alphabet, or for 32 pairs. Without waiting, the
        // alphabet would depend on the speed of the iterator.
        let is_open = self.choice.is_some();
        let waits = |pairs: &[NumberedPair]| {
            is_open && certain_alphabet_of(pairs.iter().map(|(_, pair)| pair)).is_none()
        };
        let is_stated = self.is_stated;
        let align = |pairs: Arc<Vec<NumberedPair>>, _: usize| {
            let of_pairs = |implied| alphabet_of_pairs(py, pairs.iter().map(|(_, pair)| pair), implied);
            let aligning = self.begin(py, of_pairs)?;
            let cells = pairs.iter().map(|(_, pair)| cells(pair)).fold(0, u64::saturating_add);
            Ok(jobs::run(py, cells, move |given_up| aligning.align(&pairs, is_stated, given_up)))
        };
        let answer = stream.next(|pairs, number| next(py, pairs, number), waits, align);
        self.stream = stream;
        match answer? {
            None => Ok(None),
            Some(hit) => Ok(Some(match hit? {
                Some(hit) => Bound::new(py, hit)?.into_any(),
                None => py.None().into_bound(py),
            })),
        }
    }
}

/// Aligns one pair `count` times in a single call, for benchmarks/pairs.py.
#[pyfunction]
pub fn _align_again(
    py: Python<'_>,
    query: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    scoring: &PyScoring,
    count: usize,
) -> PyResult<()> {
    let pair = (sequence(query)?, sequence(target)?);
    let pairs = &scoring.chosen.pairs;
    py.detach(|| (0..count).try_for_each(|_| pairs.align(&pair.0, &pair.1).map(drop))).map_err(exception)
}
