//! Patterns in texts, with edits.

use super::answers::Answers;
use super::device::OpenedDevice;
use super::{Aligner, AmpliconSearcher, Cigar, Device, PrimerPairs, Targets, targets};
use crate::patterns::search::batch::{BatchRules, TextBatch, TextHandle};
use crate::patterns::search::driver::{Driver, HitReceiver, SearchState, oriented};
use crate::patterns::search::hits::{HitOptions, PatternHit};
use crate::patterns::search::pam::{Pam, PamSide};
use crate::patterns::search::pattern::SearchPattern;
use crate::patterns::search::rates::Rate;
use crate::patterns::search::{EndScan, MatchRule};
use crate::terms::alignment::{Strand, Strands};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::whole_u32;
use crate::terms::error::{Error, Result};
use crate::terms::options::MOST_PAM_LETTERS;
use crate::terms::options::{EditLimits, MOST_LIMITED};
use std::iter::Fuse;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of bases that are searched at once.
const LETTERS: usize = 1 << 24;
/// Maximum number of texts that [`Searcher::search_all`] takes at once.
const TEXTS: usize = 1 << 14;

/// Settings of a [`Searcher`]. Defaults are those of `swalign search`.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct SearcherBuilder {
    patterns: Vec<(Arc<str>, Vec<u8>)>,
    device: Device,
    max_edits: u32,
    /// Edits for each base of a pattern, instead of `max_edits`.
    rate: Option<f64>,
    indels: bool,
    /// Maximum numbers of insertions, of deletions, of substitutions, and of insertions and deletions together.
    limits: [Option<u32>; 4],
    pam: Option<(Vec<u8>, PamSide)>,
    both_strands: bool,
    every_end: bool,
    best: bool,
    first: bool,
    stop: Option<Arc<AtomicBool>>,
}

impl SearcherBuilder {
    /// The device; [`Device::Auto`] by default.
    pub fn device(self, device: Device) -> SearcherBuilder {
        SearcherBuilder { device, ..self }
    }

    /// Maximum number of edits of a match: substitutions, insertions and deletions; 0 by default.
    pub fn max_edits(self, edits: u32) -> SearcherBuilder {
        SearcherBuilder { max_edits: edits, ..self }
    }

    /// Sets the maximum number of edits of each pattern to `rate` times its length, rounded down, instead of
    /// [`SearcherBuilder::max_edits`]. `rate` is at least 0 and below 1, and is rounded to six decimals.
    pub fn edits_by_rate(self, rate: f64) -> SearcherBuilder {
        SearcherBuilder { rate: Some(rate), ..self }
    }

    /// Whether insertions and deletions are edits; true by default. Without them a match has the pattern's length
    /// (Hamming distance).
    pub fn indels(self, indels: bool) -> SearcherBuilder {
        SearcherBuilder { indels, ..self }
    }

    /// Maximum number of insertions of a match: bases only in the pattern. By default the maximum number of edits.
    pub fn max_insertions(mut self, most: u32) -> SearcherBuilder {
        self.limits[0] = Some(most);
        self
    }

    /// Maximum number of deletions of a match: bases only in the text. By default the maximum number of edits.
    pub fn max_deletions(mut self, most: u32) -> SearcherBuilder {
        self.limits[1] = Some(most);
        self
    }

    /// Maximum number of substitutions of a match. By default the maximum number of edits.
    pub fn max_substitutions(mut self, most: u32) -> SearcherBuilder {
        self.limits[2] = Some(most);
        self
    }

    /// Maximum number of insertions and deletions of a match in total. By default the maximum number of edits.
    pub fn max_gaps(mut self, most: u32) -> SearcherBuilder {
        self.limits[3] = Some(most);
        self
    }

    /// Requires a PAM: 1 to 32 IUPAC codes that must match without edits next to a match, on this side of the pattern.
    /// The PAM is not part of the match.
    pub fn pam(self, letters: impl AsRef<[u8]>, side: PamSide) -> SearcherBuilder {
        SearcherBuilder { pam: Some((letters.as_ref().to_vec(), side)), ..self }
    }

    /// Whether the reverse complements of the patterns are searched, too; true by default.
    pub fn both_strands(self, both: bool) -> SearcherBuilder {
        SearcherBuilder { both_strands: both, ..self }
    }

    /// Whether every end with few enough edits is a match. By default, an end is a match if it has no edits, or if its
    /// number of edits is a local minimum; of adjacent ends with equal numbers, only the leftmost is a match. A higher
    /// maximum of edits never loses a match.
    pub fn every_end(self, every: bool) -> SearcherBuilder {
        SearcherBuilder { every_end: every, ..self }
    }

    /// Whether only matches with the fewest edits in their text are reported; false by default.
    pub fn best(self, best: bool) -> SearcherBuilder {
        SearcherBuilder { best, ..self }
    }

    /// Whether only the first match of each text is reported; false by default. The rest of a text is not searched.
    /// With [`SearcherBuilder::best`], it is the first of the matches with the fewest edits.
    pub fn first(self, first: bool) -> SearcherBuilder {
        SearcherBuilder { first, ..self }
    }

    /// A flag that ends searches. Soon after it is set, they return [`crate::EngineError::Stopped`]. Another thread
    /// sets it when the answer is no longer wanted.
    pub fn stop_flag(self, flag: Arc<AtomicBool>) -> SearcherBuilder {
        SearcherBuilder { stop: Some(flag), ..self }
    }

    /// The searcher for the patterns. Opens the device.
    ///
    /// # Errors
    /// [`Error::Usage`] if a pattern is empty or contains a character that is not an IUPAC code, if the PAM is invalid,
    /// if the rate is out of its range, or if a kind of edits is limited and a pattern may have more than 32 edits,
    /// because the work would grow with their cube. [`Error::Engine`] if the device can't be opened.
    pub fn build(self) -> Result<Searcher> {
        self.build_on(None)
    }

    /// The searcher for the patterns on the device of an aligner, which is open already. If that is a GPU of
    /// [`Device::Auto`], and the CPU is faster for these patterns, the searcher is on the CPU.
    ///
    /// # Errors
    /// As [`SearcherBuilder::build`].
    pub fn build_beside(self, aligner: &Aligner) -> Result<Searcher> {
        self.build_on(Some(&aligner.engines.opened))
    }

    fn build_on(self, opened: Option<&OpenedDevice>) -> Result<Searcher> {
        let patterns: Vec<SearchPattern> =
            self.patterns.iter().map(|(name, letters)| pattern(name, letters)).collect::<Result<_>>()?;
        let longest = patterns.iter().map(|pattern| pattern.letters.len()).max().unwrap_or(0);
        let oriented = oriented(&patterns, Strands::of(self.both_strands));
        let wanted = self.wanted(longest)?.reaching(oriented.iter().map(Vec::len));
        let own;
        let opened = match opened {
            Some(opened) => match opened.cpu_for_search(&oriented, &wanted) {
                Some(cpu) => {
                    own = cpu;
                    &own
                }
                None => opened,
            },
            None => {
                own = OpenedDevice::for_search(&self.device, &oriented, &wanted)?;
                &own
            }
        };
        let sites = opened.sites(&wanted, &oriented);
        let (scan, device) = opened.scanner();
        let names = self.patterns.into_iter().map(|(name, _)| name).collect();
        let driver = Driver::new(oriented, wanted, sites);
        Ok(Searcher { core: Arc::new(Core { names, driver, scan, device }), stop: self.stop })
    }

    /// The settings of the search, if the longest pattern has `longest` bases.
    fn wanted(&self, longest: usize) -> Result<HitOptions> {
        let rate = self.rate.map(rate).transpose()?;
        let max_edits = rate.map_or(self.max_edits, |rate| rate.edits_of(longest));
        // The edits that a rate allows depend on the pattern.
        let most = if rate.is_some() { u32::MAX } else { max_edits };
        let limits = EditLimits::of_kinds(most, self.indels, self.limits);
        if limits.is_some() && max_edits > MOST_LIMITED {
            let asked = match self.rate {
                Some(rate) => format!("edits_by_rate({rate}), which allows {max_edits} edits,"),
                None => format!("max_edits({max_edits})"),
            };
            return Err(Error::Usage(format!(
                "{asked} with a limit of one kind of edits: give at most {MOST_LIMITED}"
            )));
        }
        Ok(HitOptions {
            rule: MatchRule { max_edits, indels: self.indels },
            rate,
            limits,
            pam: self.pam.as_ref().map(|(letters, side)| pam(letters, *side)).transpose()?,
            every_end: self.every_end,
            best: self.best,
            first: self.first,
            strands: Strands::of(self.both_strands),
            before: 0,
        })
    }
}

fn rate(rate: f64) -> Result<Rate> {
    let millionths = (rate * 1e6).round();
    if (0.0..1e6).contains(&millionths) {
        return Ok(Rate { millionths: whole_u32(millionths) });
    }
    Err(Error::Usage(format!("edits_by_rate({rate}): give a number of at least 0 and below 1")))
}

fn pam(letters: &[u8], side: PamSide) -> Result<Pam> {
    let refused = |text: String| Error::Usage(format!("PAM: {text}"));
    if !(1..=MOST_PAM_LETTERS).contains(&letters.len()) {
        return Err(refused(format!("it has {} letters; give 1 to {MOST_PAM_LETTERS}", letters.len())));
    }
    Pam::new(letters, side).map_err(|place| {
        refused(format!(
            "'{}' at position {place} is not an IUPAC code of DNA",
            letters[place].escape_ascii()
        ))
    })
}

fn pattern(name: &str, letters: &[u8]) -> Result<SearchPattern> {
    let refused = |text: String| Error::Usage(format!("pattern '{name}': {text}"));
    if letters.is_empty() {
        return Err(refused("it is empty".to_string()));
    }
    SearchPattern::new(String::new(), letters).map_err(|place| {
        refused(format!(
            "'{}' at position {place} is not an IUPAC code of DNA",
            letters[place].escape_ascii()
        ))
    })
}

/// Finds every position where a text matches a pattern with few edits.
///
/// Patterns consist of IUPAC codes: R matches A and G, N matches all. A character of a text other than A, C, G, T and U
/// matches only N. Threads share a searcher by reference: it is `Send` and `Sync`.
///
/// ```
/// use swalign::{Device, Searcher};
///
/// let searcher = Searcher::builder([("site", "GATTACA")]).device(Device::Cpu).max_edits(1).build()?;
/// for found in searcher.search("CCGATACACCTGTAATCCC")? {
///     println!("{} {:?} {:?} {} {}", found.pattern_name(), found.range(), found.strand(), found.edits(), found.cigar());
/// }
/// # let found = searcher.search("CCGATACACCTGTAATCCC")?;
/// # let shown: Vec<_> = found.iter().map(|one| (one.range(), one.edits(), one.cigar().to_string())).collect();
/// # assert_eq!(shown, [(2..8, 1, "2=1I4=".to_string()), (10..17, 0, "7=".to_string())]);
/// # Ok::<(), swalign::Error>(())
/// ```
///
/// Copies share patterns and device.
#[derive(Clone)]
pub struct Searcher {
    pub(super) core: Arc<Core>,
    stop: Option<Arc<AtomicBool>>,
}

/// State that copies of a searcher share.
pub(super) struct Core {
    pub names: Vec<Arc<str>>,
    pub driver: Driver,
    scan: Box<dyn EndScan + Send>,
    device: String,
}

impl Searcher {
    /// Settings for a search of these patterns, as names and sequences. Any names are allowed, including equal ones.
    pub fn builder<N: AsRef<str>, L: AsRef<[u8]>>(
        patterns: impl IntoIterator<Item = (N, L)>,
    ) -> SearcherBuilder {
        let own = |(name, letters): (N, L)| (Arc::from(name.as_ref()), letters.as_ref().to_vec());
        SearcherBuilder {
            patterns: patterns.into_iter().map(own).collect(),
            device: Device::default(),
            max_edits: 0,
            rate: None,
            indels: true,
            limits: [None; 4],
            pam: None,
            both_strands: true,
            every_end: false,
            best: false,
            first: false,
            stop: None,
        }
    }

    /// The device that computes, as `swalign` names it: `GPU NVIDIA H100`, `CPU (2 threads, avx512)`.
    pub fn device(&self) -> &str {
        &self.core.device
    }

    /// A copy of the searcher whose searches end soon after this flag is set, with [`crate::EngineError::Stopped`]. The
    /// flag of [`SearcherBuilder::stop_flag`] no longer ends them.
    pub fn with_stop_flag(&self, flag: Arc<AtomicBool>) -> Searcher {
        Searcher { core: Arc::clone(&self.core), stop: Some(flag) }
    }

    /// The number of bases of each pattern.
    pub fn pattern_lengths(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        let HitOptions { strands, .. } = self.core.driver.wanted;
        self.core.driver.oriented.iter().step_by(strands.count() as usize).map(Vec::len)
    }

    /// The matches of one text, by start, end, pattern and strand.
    ///
    /// # Errors
    /// [`Error::Usage`] if a byte is not a DNA character; [`Error::Engine`] if the device fails and there is no
    /// fallback.
    pub fn search(&self, text: impl AsRef<[u8]>) -> Result<Vec<Match>> {
        self.search_all([text]).next().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The matches of each text, in the order of the texts. The iterator reads at most some thousand texts ahead, so
    /// the input may be endless. If a text is invalid, its answer is an error, and the iterator continues with the next
    /// text. If the device fails, that error is the last answer.
    pub fn search_all<I>(&self, texts: I) -> SearchAll<'_, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        SearchAll { searcher: self, texts: texts.into_iter().fuse(), answers: Answers::default() }
    }

    /// The matches of each of these targets, in their order.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are proteins; [`Error::Engine`] if the device fails and there is no fallback.
    pub fn search_targets(&self, targets: &Targets) -> Result<Vec<Vec<Match>>> {
        let mut found = Matches::new(&self.core.names, targets.len());
        self.search_all_targets(targets, &mut found)?;
        Ok(found.matches)
    }

    /// A searcher for amplicons, which joins two matches that face each other if their patterns are a pair. `lengths`
    /// is the range of their lengths in bases, both primers included.
    ///
    /// # Errors
    /// [`Error::Usage`] if the names do not define the pairs, if a listed name is not that of a pattern, if the
    /// searcher has only one strand, or if it omits matches ([`SearcherBuilder::best`], [`SearcherBuilder::first`]).
    pub fn amplicons(self, pairs: &PrimerPairs, lengths: RangeInclusive<usize>) -> Result<AmpliconSearcher> {
        AmpliconSearcher::new(self, pairs, lengths)
    }

    /// Hands the hits of all targets to a receiver.
    pub(super) fn search_all_targets<R>(&self, targets: &Targets, receiver: &mut R) -> Result<()>
    where
        R: for<'t> HitReceiver<&'t CodeText<'t>, Error = Error>,
    {
        if targets.alphabet() != Alphabet::Dna {
            return Err(Error::Usage(
                "patterns are searched in DNA, but the targets are protein".to_string(),
            ));
        }
        targets.sequences.prove_all()?;
        self.search_codes(targets.sequences.iter(), receiver)?;
        targets.check()
    }

    /// Hands the hits of texts, as codes, to a receiver.
    pub(super) fn search_codes<'c, R>(
        &self,
        texts: impl Iterator<Item = &'c [u8]>,
        receiver: &mut R,
    ) -> Result<()>
    where
        R: for<'t> HitReceiver<&'t CodeText<'t>, Error = Error>,
    {
        let text = |(place, codes)| CodeText { place, codes, is_done: AtomicBool::new(false) };
        let texts: Vec<CodeText> = texts.enumerate().map(text).collect();
        let Core { driver, scan, .. } = &*self.core;
        let rules = BatchRules { letters: LETTERS, first: driver.wanted.first };
        let (mut batch, mut state) = (TextBatch::default(), SearchState::until(self.stop.clone()));
        let mut search = |batch| {
            driver.search(&**scan, batch, &mut state, receiver)?;
            Ok::<bool, Error>(true)
        };
        for text in &texts {
            rules.lay(&driver.layout, &text, &mut batch, |_| Ok(()), &mut search)?;
        }
        search(batch)?;
        Ok(())
    }

    /// Reads the next texts of an iterator: the codes of those that are DNA, and for each text whether it is.
    pub(super) fn take<I>(texts: &mut I) -> (Vec<Vec<u8>>, Vec<Result<bool>>)
    where
        I: Iterator,
        I::Item: AsRef<[u8]>,
    {
        let (mut all, mut taken, mut letters) = (Vec::new(), Vec::new(), 0);
        while taken.len() < TEXTS && letters < LETTERS {
            let Some(text) = texts.next() else { break };
            let mut codes = Vec::new();
            match targets::encode(Alphabet::Dna, text.as_ref(), &mut codes) {
                Ok(()) => {
                    letters += codes.len();
                    all.push(codes);
                    taken.push(Ok(true));
                }
                Err(problem) => taken.push(Err(Error::Usage(format!("text: {problem}")))),
            }
        }
        (all, taken)
    }
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Core { names, driver, device, .. } = &*self.core;
        f.debug_struct("Searcher")
            .field("patterns", &names.len())
            .field("wanted", &driver.wanted)
            .field("device", device)
            .finish()
    }
}

/// A text of a call, as codes.
pub struct CodeText<'a> {
    /// Number of the text among those of the call, from 0.
    pub place: usize,
    codes: &'a [u8],
    is_done: AtomicBool,
}

impl TextHandle for &CodeText<'_> {
    fn codes(&self) -> &[u8] {
        self.codes
    }

    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    fn set_done(&self) {
        self.is_done.store(true, Ordering::Relaxed);
    }
}

/// The matches of each text of a call.
struct Matches<'a> {
    names: &'a [Arc<str>],
    matches: Vec<Vec<Match>>,
}

impl<'a> Matches<'a> {
    fn new(names: &'a [Arc<str>], texts: usize) -> Matches<'a> {
        Matches { names, matches: vec![Vec::new(); texts] }
    }
}

impl<'t> HitReceiver<&'t CodeText<'t>> for Matches<'_> {
    type Error = Error;

    fn hits(&mut self, text: &&'t CodeText<'t>, hits: Vec<PatternHit>) -> Result<()> {
        let of_hit = |hit: PatternHit| Match { name: Arc::clone(&self.names[hit.pattern as usize]), hit };
        self.matches[text.place].extend(hits.into_iter().map(of_hit));
        Ok(())
    }

    fn end(&mut self, _: &&'t CodeText<'t>, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Iterator over the matches of texts; see [`Searcher::search_all`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are asked"]
pub struct SearchAll<'a, I> {
    searcher: &'a Searcher,
    texts: Fuse<I>,
    answers: Answers<Vec<Match>>,
}

impl<I> SearchAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    /// Searches the next texts.
    fn fill(&mut self) {
        let (texts, taken) = Searcher::take(&mut self.texts);
        let mut found = Matches::new(&self.searcher.core.names, texts.len());
        let done = self.searcher.search_codes(texts.iter().map(Vec::as_slice), &mut found);
        self.answers.add(taken, done.map(|()| found.matches));
    }
}

impl<I> Iterator for SearchAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    type Item = Result<Vec<Match>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.answers.are_needed() {
            self.fill();
        }
        self.answers.next()
    }
}

/// A position where a text matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    name: Arc<str>,
    hit: PatternHit,
}

impl Match {
    /// Number of the pattern among those that are searched, from 0.
    pub fn pattern(&self) -> usize {
        self.hit.pattern as usize
    }

    /// The pattern's name.
    pub fn pattern_name(&self) -> &str {
        &self.name
    }

    /// Range of the match in the text, 0-based and half-open.
    pub fn range(&self) -> Range<usize> {
        self.hit.start..self.hit.end
    }

    /// Whether the text contains the pattern as given or its reverse complement.
    pub fn strand(&self) -> Strand {
        self.hit.strand
    }

    /// The fewest edits with which the pattern ends there.
    pub fn edits(&self) -> usize {
        self.hit.edits as usize
    }

    /// The path in the text's order, in the dialect of the command's table: the same as [`Match::cigar_extended`].
    pub fn cigar(&self) -> Cigar {
        self.cigar_extended()
    }

    /// The path with `M` for matches and mismatches.
    pub fn cigar_basic(&self) -> Cigar {
        self.cigar_extended().to_basic()
    }

    /// The path with `=` and `X`. `=` is a base that the IUPAC code of the pattern matches.
    pub fn cigar_extended(&self) -> Cigar {
        Cigar::of_search(&self.hit.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bases of a linear congruential generator.
    fn letters(len: usize) -> Vec<u8> {
        let mut state = 17u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b"ACGT"[(state >> 62) as usize]
        };
        (0..len).map(|_| next()).collect()
    }

    /// A search for guides next to a PAM starts at the PAMs. It finds the same as a scan.
    #[test]
    fn sites_find_what_a_sweep_finds() {
        let text = letters(200_000);
        let guides = || (0..300).map(|number| (number.to_string(), &text[number * 600..number * 600 + 20]));
        let asks: [fn(SearcherBuilder) -> SearcherBuilder; 4] = [
            |builder| builder.max_edits(3),
            |builder| builder.edits_by_rate(0.15).max_gaps(1),
            |builder| builder.max_edits(3).first(true),
            |builder| builder.max_edits(3).best(true).both_strands(false),
        ];
        for ask in asks {
            let builder = Searcher::builder(guides()).device(Device::Cpu).pam("NGG", PamSide::Three);
            let mut searcher = ask(builder).build().unwrap();
            assert!(searcher.core.driver.sites().is_some());
            let found = searcher.search(&text).unwrap();
            Arc::get_mut(&mut searcher.core).unwrap().driver.without_sites();
            assert_eq!(found, searcher.search(&text).unwrap());
            assert!(!found.is_empty());
        }
    }
}
