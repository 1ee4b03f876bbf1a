//! Pairs: one query with one target each.

use super::aligner::{check_scoring, usage};
use super::answers::Answers;
use super::engines::DeviceEngines;
use super::{Device, Hit, targets};
use crate::align::backtrace::{self, WantedPath};
use crate::engine::Engine;
use crate::terms::alignment::{Alignment, Locus, Strand};
use crate::terms::alphabet::{Alphabet, reverse_complement_codes};
use crate::terms::batch::{Batch, Pair, Sequences};
use crate::terms::casts::to_u32;
use crate::terms::error::{EngineError, Result};
use crate::terms::options::ANY_SCORE;
use crate::terms::scoring::Scoring;
use std::iter::Fuse;
use std::sync::Arc;

/// Maximum number of pairs and of residues that [`PairAligner::align_all`] aligns at once, unless a single pair is
/// longer.
const PAIRS: usize = 4096;
const LETTERS: usize = 1 << 22;
/// Name of the targets of pairs.
const NAME: &str = "target";

/// Settings of a [`PairAligner`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct PairAlignerBuilder {
    scoring: Scoring,
    device: Device,
    min_score: Option<i32>,
    both_strands: bool,
}

impl PairAlignerBuilder {
    /// The device that computes; [`Device::Cpu`] by default.
    pub fn device(self, device: Device) -> PairAlignerBuilder {
        PairAlignerBuilder { device, ..self }
    }

    /// Minimum score of a hit, at least 1 in local mode; by default there is no other minimum.
    pub fn min_score(self, score: i32) -> PairAlignerBuilder {
        PairAlignerBuilder { min_score: Some(score), ..self }
    }

    /// Whether DNA queries are aligned both as given and as reverse complements; false by default.
    pub fn both_strands(self, both: bool) -> PairAlignerBuilder {
        PairAlignerBuilder { both_strands: both, ..self }
    }

    /// Creates the aligner. Opens the device.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if the scoring or the minimum score is out of its range; [`crate::Error::Engine`] if the
    /// device can't be opened.
    pub fn build(self) -> Result<PairAligner> {
        let PairAlignerBuilder { scoring, device, min_score, both_strands } = self;
        check_scoring(&scoring)?;
        let least = if scoring.mode.is_local() { 1 } else { ANY_SCORE };
        let min_score = min_score.unwrap_or(least);
        if min_score < least {
            return Err(usage(format!("min_score({min_score}): give at least 1")));
        }
        let strands = if both_strands && scoring.alphabet == Alphabet::Dna { 2 } else { 1 };
        Ok(PairAligner {
            scoring: Arc::new(scoring),
            min_score,
            strands,
            engines: DeviceEngines::open(&device)?,
        })
    }
}

/// Finds the best alignment of each of many pairs of a query and a target.
///
/// It is `Send` and `Sync`: threads share one by reference.
///
/// ```
/// use swalign::{PairAligner, Scoring};
///
/// let aligner = PairAligner::builder(Scoring::dna(2, 4, 4, 2)).build()?;
/// let pairs = [("ACGTTGCA", "TTACGTTGGCATT"), ("GATTACA", "CCC")];
/// let scores: Vec<_> = aligner.align_all(pairs).map(|hit| Ok(hit?.map(|hit| hit.score()))).collect::<Result<_, swalign::Error>>()?;
/// assert_eq!(scores, [Some(12), Some(2)]);
/// # Ok::<(), swalign::Error>(())
/// ```
pub struct PairAligner {
    scoring: Arc<Scoring>,
    min_score: i32,
    strands: u32,
    engines: DeviceEngines,
}

impl PairAligner {
    /// Settings for an aligner with this scoring.
    pub fn builder(scoring: Scoring) -> PairAlignerBuilder {
        PairAlignerBuilder { scoring, device: Device::Cpu, min_score: None, both_strands: false }
    }

    /// The device that computes, as `swalign` names it: `GPU NVIDIA H100`, `CPU (2 threads, avx512)`.
    pub fn device(&self) -> &str {
        &self.engines.device
    }

    /// The best alignment of a query with a target in the mode of the scoring. `None` if one of them is empty, or if no
    /// alignment reaches the minimum score: in local mode, if no two residues score more than 0.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] if a byte is not in the alphabet, or if a sequence is so long that its score could
    /// overflow; [`crate::Error::Engine`] if the device fails and there is no fallback.
    pub fn align(&self, query: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Result<Option<Hit>> {
        self.align_all([(query, target)]).next().unwrap_or(Ok(None))
    }

    /// The best alignment of each pair, in the order of the pairs. The iterator reads at most some thousand pairs
    /// ahead, so the input may be endless. If a pair is invalid, its answer is an error, and the iterator continues
    /// with the next pair. If the device fails, that error is the last answer.
    pub fn align_all<I, Q, T>(&self, pairs: I) -> AlignPairs<'_, I::IntoIter>
    where
        I: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        T: AsRef<[u8]>,
    {
        AlignPairs { aligner: self, pairs: pairs.into_iter().fuse(), answers: Answers::default() }
    }

    /// Adds a pair. Returns whether both sequences have residues.
    fn take(&self, query: &[u8], target: &[u8], batch: &mut PairBatch) -> Result<bool> {
        let alphabet = self.scoring.alphabet;
        let (longest, room) = (query.len().max(target.len()), i32::MAX as usize);
        if longest > room
            || !self.scoring.fits(query.len())
            || !self.scoring.fits_below(query.len(), target.len())
        {
            let (query, target) = (query.len(), target.len());
            return Err(usage(format!(
                "a query of {query} and a target of {target} residues are too long for this scoring"
            )));
        }
        let refused = |what: &str, text: String| usage(format!("{what}: {text}"));
        let encoded = |letters: &[u8], codes: &mut Vec<u8>| targets::encode(alphabet, letters, codes);
        let (mut codes, mut target_codes) =
            (Vec::with_capacity(query.len()), Vec::with_capacity(target.len()));
        encoded(query, &mut codes).map_err(|text| refused("query", text))?;
        encoded(target, &mut target_codes).map_err(|text| refused("target", text))?;
        if codes.is_empty() || target_codes.is_empty() {
            return Ok(false);
        }
        let reverse: Option<Vec<u8>> =
            (self.strands == 2).then(|| reverse_complement_codes(&codes).collect());
        batch.queries.push(codes);
        if let Some(reverse) = reverse {
            batch.queries.push(reverse);
        }
        batch.targets.push(target_codes);
        Ok(true)
    }

    /// The best alignment of each pair.
    fn batch(&self, PairBatch { queries, targets }: PairBatch) -> Result<Vec<Option<Hit>>> {
        let batch = Batch {
            queries: Arc::new(queries),
            targets: Arc::new(targets),
            scoring: Arc::clone(&self.scoring),
        };
        let batch = batch.with_ends();
        let found = self.engines.run(|engine| self.find(engine, &batch))?;
        let hit = |alignment: Alignment| {
            let (target, behind) = (alignment.target, u32::from(alignment.strand == Strand::Reverse));
            let query = batch.query(target * self.strands + behind);
            let one = Alignment { target: 0, ..alignment };
            Hit::new(NAME.to_string(), self.scoring.alphabet, one, (query, batch.target(target)))
        };
        Ok(found.into_iter().map(|alignment| alignment.map(hit)).collect())
    }

    fn find(&self, engine: &mut dyn Engine, batch: &Batch) -> Result<Vec<Option<Alignment>>, EngineError> {
        let count = to_u32(batch.targets.len());
        let strands = self.strands;
        let pair = |query: u32| {
            let target = query / strands;
            Pair { query, target, start: 0, own: 0, end: to_u32(batch.target(target).len()) }
        };
        let pairs: Vec<Pair> = (0..count * strands).map(pair).collect();
        let hits = engine.score(batch, &pairs)?;
        let strand =
            |query: u32| if query.is_multiple_of(strands) { Strand::Forward } else { Strand::Reverse };
        let locus = |&at: &usize| {
            let Pair { query, target, .. } = pairs[at];
            Locus { hit: hits[at], strand: strand(query), target }
        };
        let first_of = |target: usize| {
            let own = target * strands as usize..(target + 1) * strands as usize;
            own.min_by(|one, other| locus(one).order(&locus(other)))
        };
        let counts = |&at: &usize| !hits[at].is_none() && hits[at].score >= self.min_score;
        let best: Vec<Option<usize>> =
            (0..count as usize).map(|target| first_of(target).filter(counts)).collect();
        let wanted = |at: usize| {
            let Pair { query, target, start, .. } = pairs[at];
            let window = backtrace::window_of(batch, query, target, start, &hits[at]);
            WantedPath { window, strand: strand(query), score: hits[at].score }
        };
        let wanted: Vec<WantedPath> = best.iter().flatten().map(|&at| wanted(at)).collect();
        let mut alignments = backtrace::align(engine, batch, &wanted)?.into_iter();
        let own_score = |alignment: Alignment| {
            let len = to_u32(batch.query(alignment.target * strands).len());
            let score = alignment.score - alignment.bonus(len, batch.scoring.end_bonus);
            (score >= self.min_score).then_some(Alignment { score, ..alignment })
        };
        Ok(best.into_iter().map(|at| at.and_then(|_| alignments.next()).and_then(own_score)).collect())
    }
}

impl std::fmt::Debug for PairAligner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairAligner").field("scoring", &self.scoring).finish_non_exhaustive()
    }
}

/// Pairs as codes: each query in the orientations in which it is aligned, and its target.
#[derive(Default)]
struct PairBatch {
    queries: Sequences,
    targets: Sequences,
}

impl PairBatch {
    fn letters(&self) -> usize {
        self.queries.codes().len() + self.targets.codes().len()
    }
}

/// Iterator over the hits of pairs; see [`PairAligner::align_all`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are asked"]
pub struct AlignPairs<'a, I> {
    aligner: &'a PairAligner,
    pairs: Fuse<I>,
    answers: Answers<Option<Hit>>,
}

impl<I, Q, T> Iterator for AlignPairs<'_, I>
where
    I: Iterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
    T: AsRef<[u8]>,
{
    type Item = Result<Option<Hit>>;

    fn next(&mut self) -> Option<Self::Item> {
        let AlignPairs { aligner, pairs, answers } = self;
        answers.next(|| {
            let (mut batch, mut taken) = (PairBatch::default(), Vec::new());
            while taken.len() < PAIRS && batch.letters() < LETTERS {
                let Some((query, target)) = pairs.next() else { break };
                taken.push(aligner.take(query.as_ref(), target.as_ref(), &mut batch));
            }
            (taken, if batch.targets.is_empty() { Ok(Vec::new()) } else { aligner.batch(batch) })
        })
    }
}

/// The best alignment of one query with one target, both as given, in the mode of the scoring. `None` if one of them is
/// empty, and in local mode if no two residues score more than 0. Runs on the calling thread's CPU. For many pairs,
/// [`PairAligner::align_all`] is faster.
///
/// ```
/// use swalign::{Scoring, align_pair};
///
/// let hit = align_pair("ACGTTGCA", "TTACGTTGGCATT", &Scoring::dna(2, 4, 4, 2))?.expect("they share letters");
/// assert_eq!((hit.score(), hit.cigar().to_string().as_str()), (12, "6M"));
/// # Ok::<(), swalign::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Usage`] if the scoring is out of its range, a byte is not in its alphabet, or a sequence is too
/// long.
pub fn align_pair(
    query: impl AsRef<[u8]>,
    target: impl AsRef<[u8]>,
    scoring: &Scoring,
) -> Result<Option<Hit>> {
    PairAligner::builder(scoring.clone()).build()?.align(query, target)
}
