//! Alignments of queries with targets.

use super::answers::Answers;
use super::engines::DeviceEngines;
use super::{Device, Hit, Targets, targets};
use crate::align::candidates::filter::Filter;
use crate::align::candidates::{MOST_STRETCHES, Meets, PairLayout};
use crate::align::end_bonus::{self, ReportedScores};
use crate::align::hits::{self, Effort, Rules, SearchInput};
use crate::terms::alignment::Strands;
use crate::terms::alphabet::{Alphabet, reverse_complement_codes};
use crate::terms::batch::{Batch, STRETCH, Sequences};
use crate::terms::casts::{to_u32, whole_i64};
use crate::terms::error::{Error, Result};
use crate::terms::options::default_min_score;
use crate::terms::scoring::{Ambiguous, MAX_PARAMETER, MOST_IN_TABLE, Scoring, Substitution};
use std::iter::Fuse;
use std::sync::Arc;

/// Maximum number of queries and residues that [`Aligner::align_all`] aligns at once, unless a single query is longer.
/// [`MOST_STRETCHES`] is a further limit.
const QUERIES: usize = 4096;
const LETTERS: usize = 1 << 22;

/// Settings of an [`Aligner`]. The defaults are those of the command with `--anchor 0` and a minimum score of 20 matches, or
/// 60 with a matrix.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct AlignerBuilder {
    scoring: Scoring,
    device: Device,
    min_score: Option<i32>,
    secondary_ratio: f64,
    max_hits: usize,
    both_strands: bool,
    filter: bool,
}

impl AlignerBuilder {
    /// The device that computes; [`Device::Auto`] by default.
    pub fn device(self, device: Device) -> AlignerBuilder {
        AlignerBuilder { device, ..self }
    }

    /// Minimum score of a hit, at least 1 in local mode. By default 20 matches, or 60 with a matrix; in the other modes
    /// there is no minimum by default. A query that is too short to reach it has no hits.
    pub fn min_score(self, score: i32) -> AlignerBuilder {
        AlignerBuilder { min_score: Some(score), ..self }
    }

    /// Minimum ratio of the score of a further hit to the best score of the same query, 0 to 1; 0.8 by default.
    pub fn secondary_ratio(self, ratio: f64) -> AlignerBuilder {
        AlignerBuilder { secondary_ratio: ratio, ..self }
    }

    /// Maximum number of hits of a query, at least 1; 1 by default.
    pub fn max_hits(self, hits: usize) -> AlignerBuilder {
        AlignerBuilder { max_hits: hits, ..self }
    }

    /// Whether DNA queries are aligned both as given and as reverse complements; true by default.
    pub fn both_strands(self, both: bool) -> AlignerBuilder {
        AlignerBuilder { both_strands: both, ..self }
    }

    /// Whether a lossless filter selects the target regions to score; true by default. The hits are the same without
    /// it.
    pub fn filter(self, filter: bool) -> AlignerBuilder {
        AlignerBuilder { filter, ..self }
    }

    /// Creates the aligner for `targets`. Opens the device.
    ///
    /// # Errors
    /// [`Error::Usage`] if a setting is out of its range, or if the scoring is for another alphabet than that of the
    /// targets; [`Error::Engine`] if the device can't be opened.
    pub fn build(self, targets: &Targets) -> Result<Aligner> {
        let AlignerBuilder { scoring, device, min_score, secondary_ratio, max_hits, both_strands, filter } =
            self;
        check_scoring(&scoring)?;
        if scoring.alphabet != targets.alphabet() {
            return Err(usage(format!(
                "the scoring is for {}, but the targets are {}",
                scoring.alphabet,
                targets.alphabet()
            )));
        }
        let min_score = min_score.unwrap_or_else(|| default_min_score(&scoring));
        if min_score < 1 && scoring.mode.is_local() {
            return Err(usage(format!("min_score({min_score}): give at least 1")));
        }
        if max_hits < 1 {
            return Err(usage("max_hits(0): give at least 1".to_string()));
        }
        if !(0.0..=1.0).contains(&secondary_ratio) {
            return Err(usage(format!("secondary_ratio({secondary_ratio}): give 0 to 1")));
        }
        let secondary_ppm = whole_i64((secondary_ratio * 1e6).round());
        let rules = Rules { min_score, secondary_ppm, max_hits, ..Rules::BEST };
        let strands = Strands::of(both_strands && scoring.alphabet == Alphabet::Dna);
        let scoring = Arc::new(scoring);
        let engines = DeviceEngines::open(&device)?;
        let opened = &engines.opened;
        // The number of queries is unknown, so an index is built as soon as the queries so far would have repaid it.
        let sequences = &targets.sequences;
        let found = |scan| Filter::auto(sequences, &scoring, strands.count(), Box::new(scan), None);
        let filter = if filter && scoring.mode.is_local() { found(opened.finder(sequences)) } else { None };
        let filter = filter.map(|filter| match opened.diagonals(sequences, &scoring) {
            Some(device) => filter.with_device(device),
            None => filter,
        });
        let filter = filter.map(|filter| targets.with_index(filter.with_costs(opened.costs())));
        Ok(Aligner { targets: targets.clone(), scoring, rules, strands, filter, engines })
    }
}

/// Finds the best alignments of queries with [`Targets`].
///
/// It is `Send` and `Sync`: threads share one by reference, and concurrent calls use separate engines.
///
/// ```
/// use swalign::{Aligner, Device, Scoring, Targets};
///
/// let targets = Targets::from_dna([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")])?;
/// let aligner = Aligner::builder(Scoring::dna(2, 4, 4, 2)).device(Device::Cpu).min_score(20).build(&targets)?;
/// for hit in aligner.align(b"ACGTTGCATTAGCCATGGATCC")? {
///     assert_eq!(hit.target_name(), "chr1");
///     assert_eq!((hit.target_range(), hit.score()), (2..26, 36));
///     assert_eq!(hit.cigar().to_string(), "10M2D12M");
/// }
/// # Ok::<(), swalign::Error>(())
/// ```
pub struct Aligner {
    targets: Targets,
    pub(super) scoring: Arc<Scoring>,
    rules: Rules,
    pub(super) strands: Strands,
    filter: Option<Filter>,
    pub(super) engines: DeviceEngines,
}

impl Aligner {
    /// Settings for an aligner with this scoring.
    pub fn builder(scoring: Scoring) -> AlignerBuilder {
        AlignerBuilder {
            scoring,
            device: Device::default(),
            min_score: None,
            secondary_ratio: 0.8,
            max_hits: 1,
            both_strands: true,
            filter: true,
        }
    }

    /// The targets that queries are aligned with.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The device that computes, as `swalign` names it: `GPU NVIDIA H100`, `CPU (2 threads, avx512)`.
    pub fn device(&self) -> &str {
        &self.engines.device
    }

    /// The hits of one query, the best first: the alignment with the highest score over all targets and strands, then
    /// the best one that overlaps no earlier hit on the same target and strand, and so on. Empty if no alignment
    /// reaches the minimum score. An empty target or query has no hit, in any mode.
    ///
    /// # Errors
    /// [`Error::Usage`] if a byte is not in the alphabet, or if the query is so long that its score could overflow;
    /// [`Error::Engine`] if the device fails and there is no fallback.
    pub fn align(&self, query: impl AsRef<[u8]>) -> Result<Vec<Hit>> {
        self.align_all([query]).next().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The hits of each query, in the order of the queries. The iterator reads at most some thousand queries ahead, and
    /// fewer if there are very many targets, so the input may be endless. If a query is invalid, its answer is an
    /// error, and the iterator continues with the next query. If the device fails, that error is the last answer.
    pub fn align_all<I>(&self, queries: I) -> AlignAll<'_, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        AlignAll { aligner: self, queries: queries.into_iter().fuse(), answers: Answers::default() }
    }

    /// The hits of queries that can be aligned.
    fn batch(&self, queries: Sequences) -> Result<Vec<Vec<Hit>>> {
        let targets = Arc::clone(&self.targets.sequences);
        let batch = Batch { queries: Arc::new(queries), targets, scoring: Arc::clone(&self.scoring) };
        let batch = batch.with_ends();
        let layout = PairLayout { strands: self.strands, meets: Meets::All };
        let scope =
            SearchInput { filter: self.filter.as_ref(), ..SearchInput::new(&batch, layout, self.rules) };
        let mut found = self.engines.run(|engine| hits::find(engine, &scope, &mut Effort::default()))?;
        end_bonus::leave_out(&scope, ReportedScores::of(&scope), &mut found);
        self.targets.check()?;
        let hits = |(record, found): (usize, crate::terms::alignment::QueryResult)| {
            let hit = |alignment: crate::terms::alignment::Alignment| {
                let query = batch.query(layout.query(to_u32(record), alignment.strand));
                let target = alignment.target as usize;
                let name = self.targets.name(target).unwrap_or_default().to_string();
                let codes = self.targets.sequences.get(target);
                Hit::new(name, self.scoring.alphabet, alignment, (query, codes))
            };
            found.alignments.into_iter().map(hit).collect()
        };
        Ok(found.into_iter().enumerate().map(hits).collect())
    }

    /// Approximate number of target stretches against which a query of `len` residues is scored.
    fn stretches(&self, len: usize) -> u64 {
        let (targets, strands) = (&self.targets.sequences, u64::from(self.strands.count()));
        let filtered = self.filter.as_ref().and_then(|filter| filter.columns(len));
        let whole = || (targets.letters() as u64 * strands, targets.len() as u64);
        let (columns, met) = filtered.map_or_else(whole, |columns| (columns, 1));
        columns / u64::from(STRETCH) + met * strands
    }

    /// Adds a query in the orientations in which it is aligned.
    fn take(&self, letters: &[u8], queries: &mut Sequences) -> Result<()> {
        self.take_for(letters, &self.targets, queries)
    }

    /// Adds a query that is aligned with some targets.
    pub(super) fn take_for(&self, letters: &[u8], targets: &Targets, queries: &mut Sequences) -> Result<()> {
        let alphabet = self.scoring.alphabet;
        let longest = targets.sequences.iter().map(<[u8]>::len).max().unwrap_or(0);
        if !self.scoring.fits(letters.len()) || !self.scoring.fits_below(letters.len(), longest) {
            return Err(usage(format!("a query of {} residues is too long for this scoring", letters.len())));
        }
        let mut codes = Vec::with_capacity(letters.len());
        targets::encode(alphabet, letters, &mut codes).map_err(|text| usage(format!("query: {text}")))?;
        let reverse: Vec<u8> = match self.strands {
            Strands::Both => reverse_complement_codes(&codes).collect(),
            _ => Vec::new(),
        };
        queries.push(codes);
        if self.strands == Strands::Both {
            queries.push(reverse);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Aligner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Aligner { targets, scoring, rules, .. } = self;
        f.debug_struct("Aligner")
            .field("targets", targets)
            .field("scoring", scoring)
            .field("rules", rules)
            .finish()
    }
}

/// Iterator over the hits of queries; see [`Aligner::align_all`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are asked"]
pub struct AlignAll<'a, I> {
    aligner: &'a Aligner,
    queries: Fuse<I>,
    answers: Answers<Vec<Hit>>,
}

impl<I> Iterator for AlignAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    type Item = Result<Vec<Hit>>;

    fn next(&mut self) -> Option<Self::Item> {
        let AlignAll { aligner, queries: rest, answers } = self;
        answers.next(|| {
            let (mut queries, mut taken, mut stretches) = (Sequences::default(), Vec::new(), 0);
            while taken.len() < QUERIES && queries.codes().len() < LETTERS && stretches < MOST_STRETCHES {
                let Some(query) = rest.next() else { break };
                stretches += aligner.stretches(query.as_ref().len());
                taken.push(aligner.take(query.as_ref(), &mut queries).map(|()| true));
            }
            (taken, if queries.is_empty() { Ok(Vec::new()) } else { aligner.batch(queries) })
        })
    }
}

pub(super) fn check_scoring(scoring: &Scoring) -> Result<()> {
    let within = |name: &str, value: i32, least: i32| match (least..=MAX_PARAMETER).contains(&value) {
        true => Ok(()),
        false => Err(usage(format!("{name} {value} is out of range; give {least} to {MAX_PARAMETER}"))),
    };
    if let Substitution::Equal { match_, mismatch, ambiguous } = scoring.substitution {
        within("match", match_, 1)?;
        within("mismatch", mismatch, 0)?;
        match ambiguous {
            Ambiguous::Penalty(penalty) => within("ambiguous", penalty, 0)?,
            Ambiguous::Iupac if scoring.max_potential().max(-scoring.lowest()) > MOST_IN_TABLE => {
                return Err(usage(format!(
                    "with IUPAC codes, match and mismatch must be at most {MOST_IN_TABLE}"
                )));
            }
            Ambiguous::Iupac => {}
        }
    }
    within("end_bonus", scoring.end_bonus, 0)?;
    let most = scoring.most_end_bonus();
    if scoring.end_bonus > most {
        return Err(usage(format!(
            "end_bonus {} is out of range: with a matrix or IUPAC codes, the bonus and the highest score of two bases are \
             together at most {MOST_IN_TABLE}; give 0 to {most}",
            scoring.end_bonus
        )));
    }
    if let (Substitution::Matrix(matrix), Alphabet::Dna) = (&scoring.substitution, scoring.alphabet)
        && matrix.usual_gap_costs().is_some()
    {
        return Err(usage(format!("{} scores proteins, but the scoring is for DNA", matrix.name)));
    }
    scoring.gaps().check().map_err(usage)
}

pub(super) fn usage(text: String) -> Error {
    Error::Usage(text)
}
