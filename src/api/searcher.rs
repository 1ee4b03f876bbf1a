//! Patterns in texts, with edits.

use super::answers::Answers;
use super::device::Opened;
use super::{Aligner, Cigar, Device, Targets, targets};
use crate::alignment::Strand;
use crate::alphabet::Alphabet;
use crate::error::{EngineError, Error, Result};
use crate::options::MOST_PAM_LETTERS;
use crate::search::hits::{Gatherer, Hit, Wanted};
use crate::search::limits::{Limits, MOST_LIMITED};
use crate::search::pam::{Pam, PamSide};
use crate::search::pattern::Pattern;
use crate::search::room::Room;
use crate::search::sites::{Sites, TextPart};
use crate::search::stream::{Seams, Stream, TextEnd};
use crate::search::{Rule, Scan};
use rayon::prelude::*;
use std::iter::Fuse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Letters and texts that [`Searcher::search_all`] searches at a time, but for a text that is longer.
const LETTERS: usize = 1 << 24;
const TEXTS: usize = 1 << 14;
/// Ends of one scan, at most, unless it has no more letters than [`LEAST_LETTERS`] or than a match can have.
const ENDS: usize = 1 << 20;
const LEAST_LETTERS: usize = 1 << 8;

/// Settings of a [`Searcher`]. Defaults are those of `swalign search`.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct SearcherBuilder {
    patterns: Vec<(Arc<str>, Vec<u8>)>,
    device: Device,
    max_edits: u32,
    indels: bool,
    /// Most insertions, deletions, substitutions, and insertions and deletions together.
    limits: [Option<u32>; 4],
    pam: Option<(Vec<u8>, PamSide)>,
    both_strands: bool,
    every_end: bool,
    best: bool,
    stop: Option<Arc<AtomicBool>>,
}

impl SearcherBuilder {
    /// What computes; [`Device::Auto`] by default.
    pub fn device(self, device: Device) -> SearcherBuilder {
        SearcherBuilder { device, ..self }
    }

    /// Most edits of a match: letters replaced, inserted or deleted; 0 by default.
    pub fn max_edits(self, edits: u32) -> SearcherBuilder {
        SearcherBuilder { max_edits: edits, ..self }
    }

    /// Whether insertions and deletions are edits; true by default. Without them a match has the pattern's length
    /// (Hamming distance).
    pub fn indels(self, indels: bool) -> SearcherBuilder {
        SearcherBuilder { indels, ..self }
    }

    /// Most insertions of a match: letters of the pattern that the text lacks. By default as many as edits.
    pub fn max_insertions(mut self, most: u32) -> SearcherBuilder {
        self.limits[0] = Some(most);
        self
    }

    /// Most deletions of a match: letters of the text that the pattern lacks. By default as many as edits.
    pub fn max_deletions(mut self, most: u32) -> SearcherBuilder {
        self.limits[1] = Some(most);
        self
    }

    /// Most replaced letters of a match. By default as many as edits.
    pub fn max_substitutions(mut self, most: u32) -> SearcherBuilder {
        self.limits[2] = Some(most);
        self
    }

    /// Most insertions and deletions of a match together. By default as many as edits.
    pub fn max_gaps(mut self, most: u32) -> SearcherBuilder {
        self.limits[3] = Some(most);
        self
    }

    /// A PAM: IUPAC letters, 1 to 32, that must stand beside a match at this side of the pattern, without edits. They are
    /// no part of the match.
    pub fn pam(self, letters: impl AsRef<[u8]>, side: PamSide) -> SearcherBuilder {
        SearcherBuilder { pam: Some((letters.as_ref().to_vec(), side)), ..self }
    }

    /// Whether the patterns' reverse complements are searched too; true by default.
    pub fn both_strands(self, both: bool) -> SearcherBuilder {
        SearcherBuilder { both_strands: both, ..self }
    }

    /// Whether each end within the edits is a match. By default an end is a match if it has no edits, or if its edits are a
    /// local minimum; of adjacent ends with the same edits the leftmost is. More edits never lose a match.
    pub fn every_end(self, every: bool) -> SearcherBuilder {
        SearcherBuilder { every_end: every, ..self }
    }

    /// Whether only matches with the fewest edits in their text are given; false by default.
    pub fn best(self, best: bool) -> SearcherBuilder {
        SearcherBuilder { best, ..self }
    }

    /// A flag that ends searches: soon after it is set, they return [`EngineError::Stopped`]. Another thread sets it when the
    /// answer is no longer wanted.
    pub fn stop_flag(self, flag: Arc<AtomicBool>) -> SearcherBuilder {
        SearcherBuilder { stop: Some(flag), ..self }
    }

    /// The searcher for the patterns. Opens the device.
    ///
    /// # Errors
    /// [`Error::Usage`] if a pattern has no letters or one that is no IUPAC code, or if a kind of edits is limited for more
    /// than 32 edits, as the work would grow with their cube, or if the PAM is none; [`Error::Engine`] if the device can't be opened.
    pub fn build(self) -> Result<Searcher> {
        self.build_on(None)
    }

    /// The searcher for the patterns on the device of an aligner, which is open already.
    ///
    /// # Errors
    /// As [`SearcherBuilder::build`].
    pub fn build_beside(self, aligner: &Aligner) -> Result<Searcher> {
        self.build_on(Some(&aligner.engines.opened))
    }

    fn build_on(self, opened: Option<&Opened>) -> Result<Searcher> {
        let limits = Limits::of_kinds(self.max_edits, self.indels, self.limits);
        if limits.is_some() && self.max_edits > MOST_LIMITED {
            return Err(Error::Usage(format!(
                "max_edits({}) with a limit of one kind of edits: give at most {MOST_LIMITED}",
                self.max_edits
            )));
        }
        let pam = self.pam.as_ref().map(|(letters, side)| pam(letters, *side)).transpose()?;
        let patterns: Vec<Pattern> =
            self.patterns.iter().map(|(name, letters)| pattern(name, letters)).collect::<Result<_>>()?;
        let oriented: Vec<Vec<u8>> = match self.both_strands {
            true => {
                patterns.iter().flat_map(|pattern| [pattern.classes(), pattern.reverse_classes()]).collect()
            }
            false => patterns.iter().map(Pattern::classes).collect(),
        };
        let rule = Rule { max_edits: self.max_edits, indels: self.indels };
        let seams = Seams::new(oriented.iter().map(Vec::len), &rule);
        let wanted = Wanted {
            rule,
            rate: None,
            limits,
            pam,
            every_end: self.every_end,
            best: self.best,
            first: false,
            strands: if self.both_strands { 2 } else { 1 },
            before: 0,
        }
        .reaching(oriented.iter().map(Vec::len));
        let own;
        let opened = match opened {
            Some(opened) => opened,
            None => {
                own = Opened::for_search(&self.device, &oriented, &wanted)?;
                &own
            }
        };
        let sites = opened.sites(&wanted, &oriented);
        let (scan, device) = opened.scanner();
        let names = self.patterns.into_iter().map(|(name, _)| name).collect();
        Ok(Searcher { names, oriented, wanted, seams, sites, scan, device, stop: self.stop })
    }
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

fn pattern(name: &str, letters: &[u8]) -> Result<Pattern> {
    let refused = |text: String| Error::Usage(format!("pattern '{name}': {text}"));
    if letters.is_empty() {
        return Err(refused("it is empty".to_string()));
    }
    Pattern::new(String::new(), letters).map_err(|place| {
        refused(format!(
            "'{}' at position {place} is not an IUPAC code of DNA",
            letters[place].escape_ascii()
        ))
    })
}

/// Finds every place where a text matches one of some patterns with few edits.
///
/// Letters of patterns are IUPAC codes: R matches A and G, N matches all. A letter of a text that is not A, C, G, T or U
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
pub struct Searcher {
    names: Vec<Arc<str>>,
    /// The classes of each pattern, with both strands behind them those of its reverse complement.
    oriented: Vec<Vec<u8>>,
    wanted: Wanted,
    seams: Seams,
    /// What finds matches from their PAMs, if that costs less than a scan.
    sites: Option<Sites>,
    scan: Box<dyn Scan + Send>,
    device: String,
    stop: Option<Arc<AtomicBool>>,
}

impl Searcher {
    /// Settings for a search of these patterns, as names and letters. Names may be any, and need not differ.
    pub fn builder<N: AsRef<str>, L: AsRef<[u8]>>(
        patterns: impl IntoIterator<Item = (N, L)>,
    ) -> SearcherBuilder {
        let own = |(name, letters): (N, L)| (Arc::from(name.as_ref()), letters.as_ref().to_vec());
        SearcherBuilder {
            patterns: patterns.into_iter().map(own).collect(),
            device: Device::default(),
            max_edits: 0,
            indels: true,
            limits: [None; 4],
            pam: None,
            both_strands: true,
            every_end: false,
            best: false,
            stop: None,
        }
    }

    /// What computes, as `swalign` says it: `GPU NVIDIA H100`, `CPU (avx512)`.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The matches of one text, by start, end, pattern and strand.
    ///
    /// # Errors
    /// [`Error::Usage`] if a byte is no letter of DNA; [`Error::Engine`] if the device fails and no other may go on.
    pub fn search(&self, text: impl AsRef<[u8]>) -> Result<Vec<Match>> {
        self.search_all([text]).next().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The matches of each text, in the order of the texts. Texts are taken as matches are asked for, some thousands at a
    /// time, so the input may be endless. An error is that of one text, and the next
    /// ones go on. If the device fails, that error is the last answer.
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
    /// [`Error::Usage`] if they are proteins; [`Error::Engine`] if the device fails and no other may go on.
    pub fn search_targets(&self, targets: &Targets) -> Result<Vec<Vec<Match>>> {
        if targets.alphabet() != Alphabet::Dna {
            return Err(Error::Usage(
                "patterns are searched in DNA, but the targets are protein".to_string(),
            ));
        }
        targets.sequences.prove_all()?;
        let texts: Vec<&[u8]> = targets.sequences.iter().collect();
        let found = self.batch(&texts)?;
        targets.check()?;
        Ok(found)
    }

    /// The matches of texts that are codes.
    fn batch(&self, texts: &[&[u8]]) -> Result<Vec<Vec<Match>>> {
        let mut found = vec![Found::default(); texts.len()];
        let (mut portion, mut room) = (Vec::new(), LETTERS);
        for (text, codes) in texts.iter().enumerate() {
            let mut from = 0;
            loop {
                let to = codes.len().min(from + room);
                portion.push(Part { text, own: from..to });
                (room, from) = (room - (to - from), to);
                if room == 0 {
                    self.scan(texts, std::mem::take(&mut portion), &mut found)?;
                    room = LETTERS;
                }
                if from == codes.len() {
                    break;
                }
            }
        }
        self.scan(texts, portion, &mut found)?;
        let shown = |found: Found| found.hits.into_iter().map(|hit| self.shown(hit)).collect();
        Ok(found.into_iter().map(shown).collect())
    }

    /// Scans parts of different texts; where they have too many ends, one half of them after the other.
    fn scan(&self, texts: &[&[u8]], parts: Vec<Part>, found: &mut [Found]) -> Result<(), EngineError> {
        let letters: usize = parts.iter().map(|part| part.own.len()).sum();
        let can_halve = letters > LEAST_LETTERS.max(self.seams.before());
        let room = if can_halve { Room::of(ENDS) } else { Room::unlimited() }.until(self.stop.clone());
        let ends = self.ends(texts, &parts, &room)?;
        if room.is_stopped() {
            return Err(EngineError::Stopped);
        }
        if room.is_over() {
            drop(ends);
            let (front, behind) = halves(parts, letters / 2);
            self.scan(texts, front, found)?;
            return self.scan(texts, behind, found);
        }
        self.gather(texts, &parts, &ends, found)
    }

    /// The ends in parts of different texts, or the anchors if these are found from their PAMs.
    fn ends(&self, texts: &[&[u8]], parts: &[Part], room: &Room) -> Result<Vec<TextEnd>, EngineError> {
        if let Some(sites) = &self.sites {
            let parts = parts.iter().map(|part| TextPart {
                text: part.text,
                codes: texts[part.text],
                own: part.own.clone(),
            });
            return sites.anchors(&*self.scan, &self.oriented, &parts.collect::<Vec<_>>(), room);
        }
        let mut stream = Stream::default();
        for part in parts {
            stream.push(&self.seams, part.text, texts[part.text], part.own.clone());
        }
        let rule = &self.wanted.rule;
        let ends = self.scan.scan_within(&stream.codes, &self.oriented, rule, room)?;
        Ok(stream.place(&ends, &self.oriented, rule))
    }

    /// Adds the matches of parts whose ends are known, by text.
    fn gather(
        &self,
        texts: &[&[u8]],
        parts: &[Part],
        ends: &[TextEnd],
        found: &mut [Found],
    ) -> Result<(), EngineError> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
        let own = &mut found[first.text..=last.text];
        own.par_iter_mut().zip(parts).try_for_each(|(found, part)| {
            let from = ends.partition_point(|end| end.text < part.text);
            let to = ends.partition_point(|end| end.text <= part.text);
            let (text, ends, to) = (texts[part.text], &ends[from..to], part.own.end);
            let (wanted, patterns) = (&self.wanted, &self.oriented);
            match self.sites {
                Some(_) => found.gatherer.put_anchors(wanted, text, ends, to),
                None => found.gatherer.put(wanted, patterns, text, ends, to),
            }
            found.hits.extend(found.gatherer.rest(wanted, patterns, text)?);
            Ok(())
        })
    }

    fn shown(&self, hit: Hit) -> Match {
        let pattern = hit.pattern as usize;
        Match { name: Arc::clone(&self.names[pattern]), hit }
    }
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Searcher { names, wanted, device, .. } = self;
        f.debug_struct("Searcher")
            .field("patterns", &names.len())
            .field("wanted", wanted)
            .field("device", device)
            .finish()
    }
}

/// A part of a text that is scanned.
struct Part {
    text: usize,
    own: Range<usize>,
}

/// What was found in a text so far.
#[derive(Clone, Default)]
struct Found {
    gatherer: Gatherer,
    hits: Vec<Hit>,
}

/// The parts before and behind `middle`, in letters; the part that it lies in is cut.
fn halves(parts: Vec<Part>, middle: usize) -> (Vec<Part>, Vec<Part>) {
    let (mut front, mut behind, mut room) = (Vec::new(), Vec::new(), middle);
    for Part { text, own } in parts {
        let cut = own.end.min(own.start + room);
        room -= cut - own.start;
        // A text without letters is in the front half, or where no room is left behind it.
        if cut > own.start || (own.is_empty() && behind.is_empty()) {
            front.push(Part { text, own: own.start..cut });
        }
        if cut < own.end || (own.is_empty() && !behind.is_empty()) {
            behind.push(Part { text, own: cut..own.end });
        }
    }
    (front, behind)
}

/// The matches of texts one after the other; see [`Searcher::search_all`].
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
        let (mut texts, mut taken, mut letters) = (Vec::new(), Vec::new(), 0);
        while taken.len() < TEXTS && letters < LETTERS {
            let Some(text) = self.texts.next() else { break };
            let mut codes = Vec::new();
            match targets::encode(Alphabet::Dna, text.as_ref(), &mut codes) {
                Ok(()) => {
                    letters += codes.len();
                    texts.push(codes);
                    taken.push(Ok(true));
                }
                Err(problem) => taken.push(Err(Error::Usage(format!("text: {problem}")))),
            }
        }
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let found = if texts.is_empty() { Ok(Vec::new()) } else { self.searcher.batch(&texts) };
        self.answers.add(taken, found);
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

/// A place where a text matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    name: Arc<str>,
    hit: Hit,
}

impl Match {
    /// Place of the pattern among those that are searched, from 0.
    pub fn pattern(&self) -> usize {
        self.hit.pattern as usize
    }

    /// The pattern's name.
    pub fn pattern_name(&self) -> &str {
        &self.name
    }

    /// Letters of the text in the match, from 0, the end exclusive.
    pub fn range(&self) -> Range<usize> {
        self.hit.start..self.hit.end
    }

    /// Whether the text has the pattern as it was given or its reverse complement.
    pub fn strand(&self) -> Strand {
        self.hit.strand
    }

    /// The fewest edits with which the pattern ends there.
    pub fn edits(&self) -> usize {
        self.hit.edits as usize
    }

    /// The path in the text's order, with `=` and `X`.
    pub fn cigar(&self) -> Cigar {
        Cigar::of_search(&self.hit.path)
    }
}
