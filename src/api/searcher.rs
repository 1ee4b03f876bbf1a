//! Patterns in texts, with edits.

use super::answers::Answers;
use super::device::OpenedDevice;
use super::{Aligner, AmpliconSearcher, Cigar, Device, PrimerPairs, Targets, targets};
use crate::engine::cpu::simd::InstructionSet;
use crate::patterns::search::EndScan;
use crate::patterns::search::batch::{ActiveText, SearchedText, TextBatch};
use crate::patterns::search::circle::Circle;
use crate::patterns::search::driver::{Driver, HitReceiver, SearchState};
use crate::patterns::search::hits::{HitOptions, PatternHit};
use crate::patterns::search::pattern::SearchPattern;
use crate::patterns::search::plan::SearchWork;
use crate::terms::alignment::{Strand, Strands};
use crate::terms::alphabet::Alphabet;
use crate::terms::casts::whole_u32;
use crate::terms::error::{Error, Result};
use crate::terms::options::{HitChoice, MaxEdits, PamChoice, PamSide, Rate};
use std::iter::Fuse;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    hits: HitChoice,
    /// A rate that is refused.
    refused: Option<f64>,
    circular: bool,
    stop: Option<Arc<AtomicBool>>,
}

impl SearcherBuilder {
    /// The device; [`Device::Auto`] by default.
    pub fn device(self, device: Device) -> SearcherBuilder {
        SearcherBuilder { device, ..self }
    }

    fn with(mut self, set: impl FnOnce(&mut HitChoice)) -> SearcherBuilder {
        set(&mut self.hits);
        self
    }

    /// Maximum number of edits of a match: substitutions, insertions and deletions; 0 by default.
    pub fn max_edits(self, edits: u32) -> SearcherBuilder {
        self.with(|hits| hits.max_edits = MaxEdits::Number(edits))
    }

    /// Sets the maximum number of edits of each pattern to `rate` times its length, rounded down, instead of
    /// [`SearcherBuilder::max_edits`]. `rate` is at least 0 and below 1, and is rounded to six decimals.
    pub fn edits_by_rate(mut self, rate: f64) -> SearcherBuilder {
        let millionths = (rate * 1e6).round();
        self.refused = (!(0.0..1e6).contains(&millionths)).then_some(rate);
        self.with(|hits| hits.max_edits = MaxEdits::Rate(Rate { millionths: whole_u32(millionths) }))
    }

    /// Whether insertions and deletions are edits; true by default. Without them a match has the pattern's length
    /// (Hamming distance).
    pub fn indels(self, indels: bool) -> SearcherBuilder {
        self.with(|hits| hits.indels = indels)
    }

    /// Maximum number of insertions of a match: bases only in the pattern. By default the maximum number of edits.
    pub fn max_insertions(self, most: u32) -> SearcherBuilder {
        self.with(|hits| hits.kinds[0] = Some(most))
    }

    /// Maximum number of deletions of a match: bases only in the text. By default the maximum number of edits.
    pub fn max_deletions(self, most: u32) -> SearcherBuilder {
        self.with(|hits| hits.kinds[1] = Some(most))
    }

    /// Maximum number of substitutions of a match. By default the maximum number of edits.
    pub fn max_substitutions(self, most: u32) -> SearcherBuilder {
        self.with(|hits| hits.kinds[2] = Some(most))
    }

    /// Maximum number of insertions and deletions of a match in total. By default the maximum number of edits.
    pub fn max_gaps(self, most: u32) -> SearcherBuilder {
        self.with(|hits| hits.kinds[3] = Some(most))
    }

    /// Requires a PAM: 1 to 32 IUPAC codes that must match without edits next to a match, on this side of the pattern.
    /// The PAM is not part of the match.
    pub fn pam(self, letters: impl AsRef<[u8]>, side: PamSide) -> SearcherBuilder {
        self.with(|hits| hits.pam = Some(PamChoice { letters: letters.as_ref().to_vec(), side }))
    }

    /// Whether the reverse complements of the patterns are searched, too; true by default.
    pub fn both_strands(self, both: bool) -> SearcherBuilder {
        self.with(|hits| hits.strands = Strands::of(both))
    }

    /// Searches this strand of the texts only: the patterns as given, or only their reverse complements.
    pub fn strand(self, strand: Strand) -> SearcherBuilder {
        self.with(|hits| hits.strands = Strands::only(strand))
    }

    /// Whether every end with few enough edits is a match. By default, an end is a match if it has no edits, or if its
    /// number of edits is a local minimum. If adjacent ends have equal numbers, only the leftmost one is a match. A higher
    /// maximum of edits never loses a match.
    pub fn every_end(self, every: bool) -> SearcherBuilder {
        self.with(|hits| hits.every_end = every)
    }

    /// Whether only matches with the fewest edits in their text are reported; false by default.
    pub fn best(self, best: bool) -> SearcherBuilder {
        self.with(|hits| hits.best = best)
    }

    /// Whether only the first match of each text is reported; false by default. The rest of a text is not searched.
    /// With [`SearcherBuilder::best`], it is the first of the matches with the fewest edits.
    pub fn first(self, first: bool) -> SearcherBuilder {
        self.with(|hits| hits.first = first)
    }

    /// Whether texts are circular, such as plasmids: their last base is followed by their first; false by default. A
    /// match or amplicon across the origin ends after the length of its text. A match may be longer than its text, an
    /// amplicon may not.
    pub fn circular(self, circular: bool) -> SearcherBuilder {
        SearcherBuilder { circular, ..self }
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
        if let Some(rate) = self.refused {
            let text = format!("edits_by_rate({rate}): give a number of at least 0 and below 1");
            return Err(Error::Usage(text));
        }
        let patterns: Vec<SearchPattern> =
            self.patterns.iter().map(|(name, letters)| pattern(name, letters)).collect::<Result<_>>()?;
        let device = opened.map_or_else(|| self.device.choice(), OpenedDevice::choice);
        let (set, threads) = (InstructionSet::best(), rayon::current_num_threads());
        let work = SearchWork { device: &device, set, threads, letters: None };
        let mut driver = Driver::new(&patterns, &self.hits, &work)?;
        let own;
        let opened = match opened {
            _ if driver.plan.cpu.is_some() => {
                own = OpenedDevice::Cpu(set);
                &own
            }
            Some(opened) => opened,
            None => {
                own = OpenedDevice::open(&self.device)?;
                &own
            }
        };
        let (scan, device) = opened.scanner();
        if scan.is_on_device() {
            driver.without_sites();
        }
        let names = self.patterns.into_iter().map(|(name, _)| name).collect();
        let core = Core { names, driver, scan, device, circular: self.circular };
        Ok(Searcher { core: Arc::new(core), stop: self.stop })
    }
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
    circular: bool,
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
            hits: HitChoice::default(),
            refused: None,
            circular: false,
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
        targets.searched(|texts| self.search_codes(texts))
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

    /// The matches in texts, as codes.
    fn search_codes(&self, texts: &[&[u8]]) -> Result<Vec<Vec<Match>>> {
        let mut found = Matches { names: &self.core.names, matches: vec![Vec::new(); texts.len()] };
        self.give_codes(texts, &mut found)?;
        Ok(found.matches)
    }

    /// Hands the hits of texts, as codes, to a receiver.
    pub(super) fn give_codes<R>(&self, texts: &[&[u8]], receiver: &mut R) -> Result<()>
    where
        R: for<'t> HitReceiver<CodeText<'t>, Error = Error>,
    {
        let Core { driver, scan, circular, .. } = &*self.core;
        let letters = texts.iter().map(|codes| codes.len() as u64).sum();
        let (mut batch, mut state) =
            (TextBatch::default(), SearchState::new(Some(letters), self.stop.clone()));
        let mut search = |batch| {
            driver.search(&**scan, batch, &mut state, receiver)?;
            Ok::<bool, Error>(true)
        };
        for (place, &codes) in texts.iter().enumerate() {
            let circle = circular.then(|| Circle::unrolled(codes, &driver.wanted)).flatten();
            let text = ActiveText::new(CodeText { place, codes, circle });
            driver.lay(&text, &mut batch, |_| Ok(()), &mut search)?;
        }
        search(batch)?;
        Ok(())
    }
}

/// The next answer of an iterator over texts. If none is ready, the next texts are searched.
pub(super) fn next_answer<I, T: Default>(
    texts: &mut I,
    answers: &mut Answers<T>,
    search: impl FnOnce(&[&[u8]]) -> Result<Vec<T>>,
) -> Option<Result<T>>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    answers.next(|| {
        // The codes of the texts that are DNA, and for each text whether it is.
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
        (taken, search(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    })
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
    /// The unrolled codes if the text is circular.
    circle: Option<(Circle, Vec<u8>)>,
}

impl SearchedText for CodeText<'_> {
    fn codes(&self) -> &[u8] {
        self.circle.as_ref().map_or(self.codes, |(_, unrolled)| unrolled)
    }

    fn circle(&self) -> Option<Circle> {
        self.circle.as_ref().map(|(circle, _)| *circle)
    }
}

/// The matches of each text of a call.
struct Matches<'a> {
    names: &'a [Arc<str>],
    matches: Vec<Vec<Match>>,
}

impl HitReceiver<CodeText<'_>> for Matches<'_> {
    type Error = Error;

    fn hits(&mut self, text: &Arc<ActiveText<CodeText>>, hits: Vec<PatternHit>) -> Result<()> {
        let of_hit = |hit: PatternHit| Match { name: Arc::clone(&self.names[hit.pattern as usize]), hit };
        self.matches[text.place].extend(hits.into_iter().map(of_hit));
        Ok(())
    }

    fn end(&mut self, _: &Arc<ActiveText<CodeText>>, _: u64) -> Result<()> {
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

impl<I> Iterator for SearchAll<'_, I>
where
    I: Iterator,
    I::Item: AsRef<[u8]>,
{
    type Item = Result<Vec<Match>>;

    fn next(&mut self) -> Option<Self::Item> {
        next_answer(&mut self.texts, &mut self.answers, |texts| self.searcher.search_codes(texts))
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

    /// Range of the match in the text, 0-based and half-open. It may end after a circular text.
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
    use crate::terms::random::Random;

    /// A search for guides next to a PAM starts at the PAMs. It finds the same as a scan.
    #[test]
    fn sites_find_what_a_sweep_finds() {
        let text = Random::new(17).letters(200_000, b"ACGT");
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
            assert!(searcher.core.driver.plan.sites.is_some());
            let found = searcher.search(&text).unwrap();
            Arc::get_mut(&mut searcher.core).unwrap().driver.without_sites();
            assert_eq!(found, searcher.search(&text).unwrap());
            assert!(!found.is_empty());
        }
    }
}
